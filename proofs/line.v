(* Integrals over the line, without limits: what is assumed of them; the integral of a function that falls
   or grows; and integrals beyond a point. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear exponential densities.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin def-line *)
(* h between a and b, and 0 elsewhere. *)
Definition between (R : realFieldType) (a b : R) (h : R -> R) : R -> R := fun y => if a < y <= b then h y else 0.
(* Every number is at most some whole one.  J is linear and monotone; it gives an interval its length,
   whatever a function is at the ends; a function that has an integral has one up to a; one that grows has
   one between a and b; and a nonnegative one whose integrals between -n and n are all at most c has one,
   which is at most c.  Lebesgue's integral is such (reals/lebesgue.v). *)
Definition is_line_integral (R : realFieldType) (H : (R -> R) -> Prop) (J : (R -> R) -> R) : Prop :=
  (forall x : R, exists n : nat, x <= n%:R) /\
  [/\ is_integral H J,
      forall a b f, a <= b -> (forall y, a < y < b -> f y = 1) -> (forall y, (y < a) || (b < y) -> f y = 0) ->
        H f /\ J f = b - a,
      forall a h, H h -> H (fun y => if y <= a then h y else 0),
      forall a b h, (forall x y, a <= x -> x <= y -> y <= b -> h x <= h y) -> H (between a b h)
    & forall h c, (forall y, 0 <= h y) ->
        (forall n : nat, H (between (- n%:R) n%:R h) /\ J (between (- n%:R) n%:R h) <= c) -> H h /\ J h <= c].
(* end def-line *)

(* A nonnegative number of which all multiples are at most c is 0. *)
Lemma small_zero (R : realFieldType) (x c : R) : (forall x : R, exists n : nat, x <= n%:R) ->
  0 <= x -> (forall n : nat, x * n%:R <= c) -> x = 0.
Proof.
move=> archi x0 small; apply/eqP; rewrite eq_le x0 andbT leNgt; apply/negP => xp.
have [n] := archi (c / x + 1); rewrite -(ler_pmul2l xp) mulrDr mulr1 [x * (c / x)]mulrC divfK ?gt_eqF //.
by have := small n; linear.
Qed.

Section Line.
Variables (R : realFieldType) (H : (R -> R) -> Prop) (J : (R -> R) -> R).
Hypothesis HJ : is_line_integral H J.

Lemma line_integral : is_integral H J.
Proof. by case: HJ => _ []. Qed.

Lemma line_ext h h' : H h -> (forall y, h y = h' y) -> H h' /\ J h' = J h.
Proof.
move=> Hh e; split; last exact/esym/(integral_ext line_integral Hh e).
by case: line_integral => ext _ _; exact: ext Hh e.
Qed.

Lemma line_scale a h : H h -> H (fun y => a * h y) /\ J (fun y => a * h y) = a * J h.
Proof. exact: (integral_scale line_integral). Qed.

Lemma line_add h h' : H h -> H h' -> H (fun y => h y + h' y) /\ J (fun y => h y + h' y) = J h + J h'.
Proof.
move=> Hh Hh'; have [_ lin _] := line_integral; have [Hs Js] := lin 1 _ _ Hh Hh'.
have [|Hs' Js'] := line_ext Hs (h' := fun y => h y + h' y); first by move=> y; rewrite mul1r.
by rewrite Js' Js mul1r.
Qed.

Lemma line_le h h' : H h -> H h' -> (forall y, h y <= h' y) -> J h <= J h'.
Proof. by case: line_integral => _ _ mono; exact: mono. Qed.

(* A single point does not change an integral. *)
Lemma line_point a f : (forall y, y != a -> f y = 0) -> H f /\ J f = 0.
Proof.
case: HJ => _ [_ lengths _ _ _] f0; rewrite -[0](subrr a); apply: lengths => // y.
  by move=> /andP [ay ya]; move: (lt_trans ay ya); rewrite ltxx.
by move=> ya; apply: f0; rewrite neq_lt.
Qed.

Lemma line_zero : H (fun=> 0) /\ J (fun=> 0) = 0.
Proof. by apply: (@line_point 0). Qed.

Lemma line_ge0 h : H h -> (forall y, 0 <= h y) -> 0 <= J h.
Proof. by move=> Hh h0; have [H0 <-] := line_zero; apply: line_le. Qed.

(* Functions that differ at one point only have the same integral. *)
Lemma line_but_one a h h' : H h -> (forall y, y != a -> h y = h' y) -> H h' /\ J h' = J h.
Proof.
move=> Hh e; have [|Hp Jp] := @line_point a (fun y => h' y - h y).
  by move=> y ya; rewrite e ?subrr.
have [Hs Js] := line_add Hh Hp; have [|Hh' ->] := line_ext Hs (h' := h'); first by move=> y; rewrite addrC subrK.
by rewrite Js Jp addr0.
Qed.

Lemma line_but_two a b h h' : H h -> (forall y, y != a -> y != b -> h y = h' y) -> H h' /\ J h' = J h.
Proof.
move=> Hh e; have [|Hm <-] := @line_but_one a h (fun y => if y == a then h' y else h y) Hh.
  by move=> y /negbTE ->.
by apply: (@line_but_one b) => // y yb; case: eqP => // /eqP ya; rewrite e.
Qed.

Lemma between_part a b h : H h -> H (between a b h).
Proof.
move=> Hh; have [_ [_ _ parts _ _]] := HJ; case: (leP a b) => ab; last first.
  have [H0 _] := line_zero; have [] // := line_ext H0 (h' := between a b h).
  by move=> y; rewrite /between; case: ifP => // /andP [ay yb]; move: (lt_le_trans ay yb); rewrite ltNge (ltW ab).
have [Hs _] := line_scale (-1) (parts a h Hh); have [Ht _] := line_add (parts b h Hh) Hs.
have [] // := line_ext Ht (h' := between a b h) => y; rewrite /between.
case: (leP y a) => ya /=; first by rewrite (le_trans ya ab); linear.
by case: ifP => _; linear.
Qed.

Lemma between_split a b c h : a <= c -> c <= b -> H (between a b h) ->
  [/\ H (between a c h), H (between c b h) & J (between a b h) = J (between a c h) + J (between c b h)].
Proof.
move=> ac cb Hh; have narrow a' b' : a <= a' -> b' <= b -> H (between a' b' h).
  move=> aa bb; have [] // := line_ext (between_part a' b' Hh) (h' := between a' b' h) => y.
  rewrite /between; case: ifP => // /andP [ay yb].
  by rewrite (le_lt_trans aa ay) (le_trans yb bb).
have Hl := narrow a c (lexx a) cb; have Hr := narrow c b ac (lexx b); split=> //.
have [Hs <-] := line_add Hl Hr; apply: (proj2 (line_ext Hs _)) => y; rewrite /between.
case: (leP y c) => yc /=; first by rewrite andbT (le_trans yc cb) andbT addr0.
by rewrite andbF add0r (le_lt_trans ac yc).
Qed.

Lemma between_join a b c h : a <= c -> c <= b -> H (between a c h) -> H (between c b h) ->
  H (between a b h) /\ J (between a b h) = J (between a c h) + J (between c b h).
Proof.
move=> ac cb Hl Hr; have [Hs <-] := line_add Hl Hr; apply: (line_ext Hs) => y; rewrite /between.
case: (leP y c) => yc /=; first by rewrite andbT (le_trans yc cb) andbT addr0.
by rewrite andbF add0r (le_lt_trans ac yc).
Qed.

Lemma between_one a b : a <= b -> H (between a b (fun=> 1)) /\ J (between a b (fun=> 1)) = b - a.
Proof.
case: HJ => _ [_ lengths _ _ _] ab; apply: lengths => // y; rewrite /between.
  by move=> /andP [-> /ltW ->].
by case/orP=> [ya|yb]; [rewrite ltNge (ltW ya) | rewrite [y <= b]leNgt yb andbF].
Qed.

Lemma between_bounds a b h lo hi : a <= b -> H (between a b h) -> (forall y, a < y -> y <= b -> lo <= h y <= hi) ->
  lo * (b - a) <= J (between a b h) <= hi * (b - a).
Proof.
move=> ab Hh bounds; have [H1 J1] := between_one ab.
have [Hl Jl] := line_scale lo H1; have [Hu Ju] := line_scale hi H1.
rewrite -J1 -Jl -Ju; apply/andP; split; apply: line_le => // y; rewrite /between.
  by case: ifP => [/andP [ay yb]|_]; [rewrite mulr1; case/andP: (bounds y ay yb) | rewrite mulr0].
by case: ifP => [/andP [ay yb]|_]; [rewrite mulr1; case/andP: (bounds y ay yb) | rewrite mulr0].
Qed.

Let archi : forall x : R, exists n : nat, x <= n%:R. Proof. by case: HJ. Qed.

Lemma falls_between a b h : (forall x y, a <= x -> x <= y -> y <= b -> h y <= h x) -> H (between a b h).
Proof.
move=> falls; have [_ [_ _ _ mono _]] := HJ.
have Hm : H (between a b (fun y => - h y)) by apply: mono => x y ax xy yb; rewrite ler_opp2 falls.
have [Hs _] := line_scale (-1) Hm; have [] // := line_ext Hs (h' := between a b h) => y.
by rewrite /between; case: ifP => _; [rewrite mulN1r opprK | rewrite mulr0].
Qed.

(* Halving the intervals halves the bound on the error of the sum for a falling function. *)
Lemma falling_near n a b h G : a <= b -> (forall x y, a <= x -> x <= y -> y <= b -> h y <= h x) ->
  (forall x y, a <= x -> x <= y -> y <= b -> h y * (y - x) <= G y - G x <= h x * (y - x)) ->
  `|J (between a b h) - (G b - G a)| * 2 ^+ n <= (h a - h b) * (b - a).
Proof.
elim: n a b => [|n IH] a b ab falls slope.
  have Hh := falls_between falls.
  have /andP [lo hi] := between_bounds (lo := h b) (hi := h a) ab Hh (fun y ay yb =>
    introT andP (conj (falls y b (ltW ay) yb (lexx b)) (falls a y (lexx a) (ltW ay) yb))).
  have /andP [lo' hi'] := slope a b (lexx a) ab (lexx b).
  rewrite expr0 mulr1 ler_norml; move: (J _) (G b - G a) lo hi lo' hi' => i g lo hi lo' hi'.
  by apply/andP; split; linear.
pose c := (a + b) / 2.
have ac : a <= c by rewrite /c; linear.
have cb : c <= b by rewrite /c; linear.
have [Hl Hr ->] := between_split ac cb (falls_between falls).
have left_ := IH a c ac (fun x y ax xy yc => falls x y ax xy (le_trans yc cb))
  (fun x y ax xy yc => slope x y ax xy (le_trans yc cb)).
have right_ := IH c b cb (fun x y cx => falls x y (le_trans ac cx)) (fun x y cx => slope x y (le_trans ac cx)).
have -> : J (between a c h) + J (between c b h) - (G b - G a)
    = (J (between a c h) - (G c - G a)) + (J (between c b h) - (G b - G c)) by ring.
have eh : c - a = (b - a) / 2 by rewrite /c; linear.
have eh' : b - c = (b - a) / 2 by rewrite /c; linear.
rewrite eh in left_; rewrite eh' in right_.
have tri := ler_norm_add (J (between a c h) - (G c - G a)) (J (between c b h) - (G b - G c)).
have p0 : 0 <= 2 ^+ n :> R by rewrite exprn_ge0 ?ler0n.
have := ler_wpmul2r p0 tri; rewrite exprS mulrDl; clear -left_ right_.
move: (`|_ + _|) (`|_|) (`|_|) (2 ^+ n) left_ right_ => s u v p.
by linear.
Qed.

(* A falling function integrates to what G gains, if the slope of G is h. *)
Lemma falling_integral a b h G : a <= b -> (forall x y, a <= x -> x <= y -> y <= b -> h y <= h x) ->
  (forall x y, a <= x -> x <= y -> y <= b -> h y * (y - x) <= G y - G x <= h x * (y - x)) ->
  H (between a b h) /\ J (between a b h) = G b - G a.
Proof.
move=> ab falls slope; split; first exact: falls_between.
apply/eqP; rewrite -subr_eq0 -normr_eq0; apply/eqP.
apply: (small_zero (c := (h a - h b) * (b - a))) => // n.
apply: le_trans (falling_near n ab falls slope); apply: ler_wpmul2l => //.
by rewrite -natrX ler_nat ltnW // ltn_expl.
Qed.

Lemma growing_integral a b h G : a <= b -> (forall x y, a <= x -> x <= y -> y <= b -> h x <= h y) ->
  (forall x y, a <= x -> x <= y -> y <= b -> h x * (y - x) <= G y - G x <= h y * (y - x)) ->
  H (between a b h) /\ J (between a b h) = G b - G a.
Proof.
move=> ab grows slope.
have [x y ax xy yb|x y ax xy yb|Hm Jm] := @falling_integral a b (fun y => - h y) (fun y => - G y) ab.
- by rewrite ler_opp2 grows.
- have /andP [lo hi] := slope x y ax xy yb; rewrite !mulNr.
  by move: (_ * _) (_ * _) lo hi => u w lo hi; apply/andP; split; linear.
have [Hs Js] := line_scale (-1) Hm; have [|Hh Jh] := line_ext Hs (h' := between a b h).
  by move=> y; rewrite /between; case: ifP => _; [rewrite mulN1r opprK | rewrite mulr0].
by split=> //; rewrite Jh Js Jm; ring.
Qed.

(* h beyond a, and 0 before. *)
Definition beyond (a : R) (h : R -> R) : R -> R := fun y => if a < y then h y else 0.

Lemma beyond_integral a h c : (forall y, a < y -> 0 <= h y) ->
  (forall b, a <= b -> H (between a b h) /\ J (between a b h) <= c) ->
  (forall d, d < c -> exists2 b, a <= b & d <= J (between a b h)) ->
  H (beyond a h) /\ J (beyond a h) = c.
Proof.
move=> h0 below near; have [_ [_ _ _ _ unions]] := HJ.
have c0 y : 0 <= beyond a h y by rewrite /beyond; case: ifP => // /h0.
have part b : a <= b -> forall y, between a b h y <= beyond a h y.
  by move=> ab y; rewrite /between /beyond; case: ifP => [/andP [-> _] //|_]; exact: c0.
have [n|Hh Jc] := unions (beyond a h) c c0.
  pose b := Num.max a n%:R; have ab : a <= b by rewrite le_maxr lexx.
  have [Hb Jb] := below b ab; have Hn := between_part (- n%:R) n%:R Hb.
  have [|Hh Jh] := line_ext Hn (h' := between (- n%:R) n%:R (beyond a h)).
    move=> y; rewrite /between /beyond; case: ifP => // /andP [_ yn].
    by rewrite (le_trans yn) ?andbT // le_maxr lexx orbT.
  split=> //; rewrite Jh; apply: le_trans Jb; apply: line_le => // y.
  rewrite /between; case: ifP => // _; case: ifP => // /andP [ay _]; exact: h0.
split=> //; apply: le_anti; rewrite Jc /= leNgt; apply/negP => lt.
have [d /andP [d1 d2]] : exists d, J (beyond a h) < d < c.
  by exists ((J (beyond a h) + c) / 2); move: (J _) lt => j lt; apply/andP; split; linear.
have [b ab] := near d d2; have [Hb _] := below b ab.
have := line_le Hb Hh (part b ab); move: (J (between a b h)) (J (beyond a h)) d1 => i j d1 ij di.
by move: (le_lt_trans (le_trans di ij) d1); rewrite ltxx.
Qed.

(* An exponential that falls. *)
Variable exp : R -> R.
Hypothesis is_exp : is_exponential exp.

Lemma exp_slope s c x y : 0 < s -> x <= y ->
  exp (- ((y - c) / s)) * (y - x) <= s * exp (- ((x - c) / s)) - s * exp (- ((y - c) / s)) <= exp (- ((x - c) / s)) * (y - x).
Proof.
move=> s0 xy; pose d := (y - x) / s; have -> : y - x = s * d by rewrite /d mulrC divfK // gt_eqF.
have -> : - ((x - c) / s) = - ((y - c) / s) + d by rewrite /d; field; rewrite gt_eqF.
set u := - ((y - c) / s); rewrite (exp_split is_exp); have p := exp_gt0 is_exp u.
have lo := exp_ge is_exp d; have hi := exp_le is_exp d; move: (exp d) lo hi => D lo hi.
have -> : s * (exp u * D) - s * exp u = (s * exp u) * (D - 1) by ring.
have -> : exp u * (s * d) = (s * exp u) * d by ring.
have -> : exp u * D * (s * d) = (s * exp u) * (D * d) by ring.
by rewrite !ler_pmul2l ?mulr_gt0 //; apply/andP; split; linear.
Qed.

Lemma exp_falls s c x y : 0 < s -> x <= y -> exp (- ((y - c) / s)) <= exp (- ((x - c) / s)).
Proof.
move=> s0 xy; apply: (exp_mono is_exp); rewrite ler_opp2; apply: ler_wpmul2r; first by rewrite invr_ge0 ltW.
by rewrite ler_add2r.
Qed.

Lemma exp_vanish e : 0 < e -> exists n : nat, exp (- n%:R) <= e.
Proof.
move=> e0; have [n ne] := archi e^-1; exists n.
have p := exp_gt0 is_exp (- n%:R); have := exp_split is_exp n%:R (- n%:R); rewrite subrr (exp0 is_exp).
have := exp_ge is_exp n%:R; move: (exp n%:R) (exp _) p => g f p ge one.
have : e^-1 * f <= 1 by rewrite one; apply: ler_wpmul2r; [exact: ltW | linear].
by rewrite ler_pdivr_mull // mulr1.
Qed.

Lemma exp_beyond s c : 0 < s ->
  H (beyond c (fun y => exp (- ((y - c) / s)))) /\ J (beyond c (fun y => exp (- ((y - c) / s)))) = s.
Proof.
move=> s0; have part b : c <= b -> H (between c b (fun y => exp (- ((y - c) / s))))
    /\ J (between c b (fun y => exp (- ((y - c) / s)))) = s - s * exp (- ((b - c) / s)).
  move=> cb; have [x y _ xy _|x y _ xy _|Hh ->] := @falling_integral c b (fun y => exp (- ((y - c) / s)))
    (fun y => - (s * exp (- ((y - c) / s)))) cb.
  - exact: exp_falls.
  - have := exp_slope c s0 xy; move: (s * _) (s * _) => u v /andP [h1 h2].
    by apply/andP; split; linear.
  by split=> //; rewrite subrr mul0r oppr0 (exp0 is_exp); ring.
apply: beyond_integral => [y _|b cb|d ds]; first exact/ltW/(exp_gt0 is_exp).
  have [Hb ->] := part b cb; split=> //; have := mulr_gt0 s0 (exp_gt0 is_exp (- ((b - c) / s))).
  by move: (s * _) => t; linear.
have [|n small] := @exp_vanish ((s - d) / s); first by rewrite divr_gt0 ?subr_gt0.
have cb : c <= c + s * n%:R by rewrite ler_addl mulr_ge0 ?ler0n ?ltW.
exists (c + s * n%:R) => //; have [_ ->] := part _ cb.
have -> : (c + s * n%:R - c) / s = n%:R by field; rewrite gt_eqF.
by move: small; rewrite ler_pdivl_mulr // mulrC; move: (s * _) => t; linear.
Qed.

End Line.

(* The line seen from the other side. *)
Section Mirror.
Variables (R : realFieldType) (H : (R -> R) -> Prop) (J : (R -> R) -> R).
Hypothesis HJ : is_line_integral H J.

Definition mirrored (h : R -> R) : R -> R := fun y => h (- y).

(* Mirrored, an interval contains its other end. *)
Lemma between_mirrored a b h y : y != - a -> y != - b ->
  mirrored (between a b h) y = between (- b) (- a) (mirrored h) y.
Proof.
move=> ya yb; rewrite /mirrored /between ltr_oppr ler_oppl andbC.
by rewrite [- b <= y]le_eqVlt [y < - a]lt_neqAle eq_sym (negbTE yb) ya.
Qed.

Lemma mirror : is_line_integral (fun h => H (mirrored h)) (fun h => J (mirrored h)).
Proof.
have [archi [[ext lin mono] lengths parts grow unions]] := HJ; split; first by []; split.
- split=> [h h' Hh e|s h h' Hh Hh'|h h' Hh Hh' e].
  + by apply: ext Hh _ => y; exact: e.
  + exact: (lin s (mirrored h) (mirrored h')).
  + by apply: mono => // y; exact: e.
- move=> a b f ab one zero; have -> : b - a = - a - - b by ring.
  apply: lengths => [|y|y]; rewrite ?ler_opp2 // /mirrored => h; [apply: one | apply: zero].
    by rewrite ltr_oppr ltr_oppl andbC.
  by rewrite [- y < a]ltr_oppl [b < - y]ltr_oppr orbC.
- move=> a h Hh; have [Hs _] := line_scale HJ (-1) (parts (- a) _ Hh); have [Ht _] := line_add HJ Hh Hs.
  have [] // := line_but_one HJ (a := - a) (h' := mirrored (fun y => if y <= a then h y else 0)) Ht => y ya.
  rewrite /mirrored ler_oppl; move: ya; rewrite neq_lt => /orP [] ya.
    by rewrite (ltW ya) leNgt ya /=; linear.
  by rewrite (ltW ya) leNgt ya /=; linear.
- move=> a b h grows; have Hf : H (between (- b) (- a) (mirrored h)).
    apply: (falls_between HJ) => x y bx xy ya; apply: grows; rewrite ?ler_opp2 //.
      by rewrite ler_oppr.
    by rewrite ler_oppl.
  by have [] // := line_but_two HJ Hf (fun y yb ya => esym (@between_mirrored a b h y ya yb)).
move=> h c h0 bounded; apply: unions => [y|n]; first exact: h0.
have [Hn Jn] := bounded n; have [|Hm Jm] := line_but_two HJ (a := - - n%:R) (b := - n%:R)
  (h' := between (- n%:R) n%:R (mirrored h)) Hn.
  by move=> y y1 y2; rewrite between_mirrored // opprK.
by rewrite Jm.
Qed.
End Mirror.
