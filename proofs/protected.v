(* A mean whose counts are protected, too: a noisy sum, divided by a noisy sum of weights. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear chain exponential densities line noise lemma shipped.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Protected.
Variables (R : realFieldType) (L : nat) (U c r eps : R) (cap : nat) (exp : R -> R).

(* begin def-protected *)
(* Lists of samples, of any length: a user who takes no part has none.  Neighbours differ in one list. *)
Definition lists : Type := 'I_L -> seq R.
Definition differ_at (l : 'I_L) (x x' : lists) : Prop := forall l', l' != l -> x l' = x' l'.

(* A user's weight, the average of the samples (0 if there are none), and what the user contributes. *)
Definition counted (x : lists) (l : 'I_L) : nat := minn (size (x l)) cap.
Definition average (x : lists) (l : 'I_L) : R := (\sum_(z <- x l) z) / (size (x l))%:R.
Definition contribution (x : lists) (l : 'I_L) : R :=
  (counted x l)%:R * clip (- r) r (average x l - c).
Definition sum_of (x : lists) : R := \sum_l contribution x l.
Definition weight_of (x : lists) : R := (\sum_l counted x l)%:R.

(* The densities of the noisy sum and of the noisy weight; what is computed from the two. *)
Definition noisy_sum (x : lists) : R -> R := laplace exp (2 * r * cap%:R / eps) (sum_of x).
Definition noisy_weight (x : lists) : R -> R := laplace exp (2 * cap%:R / eps) (weight_of x).
Definition quotient (y n : R) : R := clip 0 U (c + y / Num.max n 1).

(* All three are released: the mean of h, for functions h of three numbers of which there are means. *)
Definition given_sum (J : (R -> R) -> R) (x : lists) (h : R * R * R -> R) (y : R) : R :=
  J (fun n => h (y, n, quotient y n) * noisy_weight x n).
Definition protected (J : (R -> R) -> R) (x : lists) (h : R * R * R -> R) : R :=
  J (fun y => given_sum J x h y * noisy_sum x y).
Definition protected_space (H : (R -> R) -> Prop) (J : (R -> R) -> R) (h : R * R * R -> R) : Prop :=
  (forall x y, H (fun n => h (y, n, quotient y n) * noisy_weight x n))
  /\ forall x, H (fun y => given_sum J x h y * noisy_sum x y).
(* end def-protected *)

Hypothesis is_exp : is_exponential exp.
Hypothesis r0 : 0 < r.
Hypothesis cap0 : (0 < cap)%N.
Hypothesis eps0 : 0 < eps.

Let K0 : 0 < cap%:R :> R. Proof. by rewrite ltr0n. Qed.
Let sy : R := 2 * r * cap%:R / eps.
Let sn : R := 2 * cap%:R / eps.
Let sy0 : 0 < sy. Proof. by rewrite divr_gt0 // !mulr_gt0 ?ltr0n. Qed.
Let sn0 : 0 < sn. Proof. by rewrite divr_gt0 // !mulr_gt0 ?ltr0n. Qed.

Lemma laplace_ge0 scale centre y : 0 < scale -> 0 <= laplace exp scale centre y.
Proof. by move=> s0; rewrite divr_ge0 ?mulr_ge0 ?ler0n ?(ltW s0) // ltW // exp_gt0. Qed.

(* Where the centre moves by d, a Laplace density changes by the factor exp (d / scale) at most. *)
Lemma laplace_moves scale a a' y : 0 < scale ->
  laplace exp scale a y <= exp (`|a - a'| / scale) * laplace exp scale a' y.
Proof.
move=> s0; rewrite /laplace mulrA; apply: ler_wpmul2r.
  by rewrite invr_ge0 mulr_ge0 ?ler0n ?ltW.
rewrite -exp_split //; apply: exp_mono => //; rewrite -!mulNr -mulrDl; apply: ler_wpmul2r.
  by rewrite invr_ge0 ltW.
by have := ler_norm_add (y - a) (a - a'); rewrite addrA subrK => h; linear.
Qed.

Lemma contribution_size x l : `|contribution x l| <= r * (counted x l)%:R.
Proof.
rewrite normrM [`|_%:R|]ger0_norm ?ler0n // mulrC; apply: ler_wpmul2r; first exact: ler0n.
have := r0; rewrite ler_norml /clip => h; minmax; linear.
Qed.

Lemma shares (p q d k e : R) : 0 < k -> 0 < e ->
  e / (2 * k) * (p + q) + d / (2 * k / e) = e * ((p + q + d) / 2) / k.
Proof. by move=> k0 e0; field; rewrite !gt_eqF. Qed.

(* What one user does to the sum and to the weight together. *)
Lemma moved x x' l : differ_at l x x' ->
  `|sum_of x - sum_of x'| / sy + `|weight_of x - weight_of x'| / sn
  <= eps * (maxn (counted x l) (counted x' l))%:R / cap%:R.
Proof.
move=> xx'; have same l' : l' != l -> counted x l' = counted x' l' /\ contribution x l' = contribution x' l'.
  by move=> ll'; rewrite /contribution /counted /average xx'.
have -> : sum_of x - sum_of x' = contribution x l - contribution x' l.
  rewrite /sum_of -sumrB (bigD1 l) //= big1 ?addr0 // => l' /same [_ ->]; exact: subrr.
have -> : weight_of x - weight_of x' = (counted x l)%:R - (counted x' l)%:R.
  rewrite /weight_of !natr_sum -sumrB (bigD1 l) //= big1 ?addr0 // => l' /same [-> _]; exact: subrr.
have h : `|contribution x l - contribution x' l| <= r * ((counted x l)%:R + (counted x' l)%:R).
  rewrite mulrDr; apply: le_trans (ler_norm_sub _ _) _.
  by apply: ler_add; exact: contribution_size.
have {h} h : `|contribution x l - contribution x' l| / sy <= eps / (2 * cap%:R) * ((counted x l)%:R + (counted x' l)%:R).
  rewrite ler_pdivr_mulr //; apply: le_trans h _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by rewrite /sy; field; rewrite !gt_eqF.
apply: le_trans (ler_add h (lexx _)) _; move: (counted x l) (counted x' l) => p q.
have -> : (maxn p q)%:R = (p%:R + q%:R + `|p%:R - q%:R|) / 2 :> R.
  case: (leqP p q) => [|/ltnW] le; have le' := le; rewrite -(ler_nat R) in le'.
    by rewrite ler0_norm; linear.
  by rewrite ger0_norm; linear.
by rewrite /sn shares.
Qed.

Variables (H : (R -> R) -> Prop) (J : (R -> R) -> R).
Hypothesis HJ : is_line_integral H J.

Let scaled a h : H h -> H (fun t => a * h t) /\ J (fun t => a * h t) = a * J h.
Proof. exact: line_scale HJ a h. Qed.
Let both a h h' : H h -> H h' -> H (fun t => a * h t + h' t) /\ J (fun t => a * h t + h' t) = a * J h + J h'.
Proof. by have [_ lin _] := line_integral HJ; exact: lin. Qed.
Let mono h h' : H h -> H h' -> (forall t, h t <= h' t) -> J h <= J h'.
Proof. exact: (line_le HJ). Qed.
Let same h h' : H h -> (forall t, h t = h' t) -> H h' /\ J h' = J h.
Proof. exact: (line_ext HJ). Qed.
Let lap scale centre : 0 < scale -> H (laplace exp scale centre) /\ J (laplace exp scale centre) = 1.
Proof. exact: (laplace_mass is_exp HJ). Qed.

Lemma private_in_section :
  [/\ is_space (protected_space H J), forall x, is_mean (protected_space H J) (protected J x)
    & forall l x x' h, differ_at l x x' -> protected_space H J h -> (forall t, 0 <= h t) ->
        let spent := eps * (maxn (counted x l) (counted x' l))%:R / cap%:R in
        protected J x h <= exp spent * protected J x' h /\ spent <= eps
        /\ protected J x h <= exp eps * protected J x' h].
Proof.
(* A release is a pair: the weights with noise, and then the sum with noise, each as private as its share
   of the budget; a user with fewer records than the cap moves both by less. *)
have w_ge0 x n : 0 <= noisy_weight x n by exact: laplace_ge0.
have s_ge0 x y : 0 <= noisy_sum x y by exact: laplace_ge0.
have Hn x : H (noisy_weight x) /\ J (noisy_weight x) = 1 by exact: lap.
have Hy x : H (noisy_sum x) /\ J (noisy_sum x) = 1 by exact: lap.
have one x y : given_sum J x (fun=> 1) y = 1.
  by have [h1 e1] := Hn x; rewrite -[RHS]e1; apply: (same h1 _).2 => t; rewrite /= mul1r.
have lin s h h' : protected_space H J h -> protected_space H J h' ->
    protected_space H J (fun t => s * h t + h' t)
    /\ forall x, protected J x (fun t => s * h t + h' t) = s * protected J x h + protected J x h'.
  move=> [Hh1 Hh2] [Hh1' Hh2']; pose k t := s * h t + h' t.
  have inner x y : H (fun n => k (y, n, quotient y n) * noisy_weight x n)
      /\ given_sum J x k y = s * given_sum J x h y + given_sum J x h' y.
    by have [b1 <-] := both s (Hh1 x y) (Hh1' x y); apply: same b1 _ => t; rewrite /k /=; ring.
  have outer x : H (fun y => given_sum J x k y * noisy_sum x y)
      /\ protected J x k = s * protected J x h + protected J x h'.
    have [b1 <-] := both s (Hh2 x) (Hh2' x); apply: same b1 _ => y.
    by have [_ ->] := inner x y; ring.
  by split=> [|x]; [split=> [x y|x]; [case: (inner x y) | case: (outer x)] | case: (outer x)].
split.
- split.
  + move=> h h' [Hh1 Hh2] e; have inner x y : H (fun n => h' (y, n, quotient y n) * noisy_weight x n)
        /\ given_sum J x h' y = given_sum J x h y.
      by apply: same (Hh1 x y) _ => t; rewrite e.
    split=> [x y|x]; first by case: (inner x y).
    by apply: (same (Hh2 x) _).1 => y; case: (inner x y) => _ ->.
  + split=> [x y|x]; first by have [h1 _] := Hn x; apply: (same h1 _).1 => t; rewrite /= mul1r.
    by have [h1 _] := Hy x; apply: (same h1 _).1 => y; rewrite /= one mul1r.
  + by move=> s h h' Hh Hh'; have [] := lin s h h' Hh Hh'.
- move=> x; split.
  + by have [h1 e1] := Hy x; rewrite -[RHS]e1; apply: (same h1 _).2 => y; rewrite /= one mul1r.
  + by move=> s h h' Hh Hh'; have [_ ->] := lin s h h' Hh Hh'.
  + move=> h h' [Hh1 Hh2] [Hh1' Hh2'] hh'; apply: mono => // y; apply: ler_wpmul2r => //.
    by apply: mono => // n; exact: ler_wpmul2r.
move=> l x x' h xx' [Hh1 Hh2] h0 spent.
pose u := exp (`|weight_of x - weight_of x'| / sn); pose v := exp (`|sum_of x - sum_of x'| / sy).
have pos z y : 0 <= given_sum J z h y.
  have [h1 h2] := scaled 0 (Hh1 z y); rewrite -[0](mul0r (given_sum J z h y)) -h2.
  by apply: mono => // n; rewrite mul0r mulr_ge0.
have inner y : given_sum J x h y <= u * given_sum J x' h y.
  have [h1 <-] := scaled u (Hh1 x' y); apply: mono => // n; rewrite [leRHS]mulrCA.
  by apply: ler_wpmul2l => //; exact: laplace_moves.
have u0 : 0 <= u by rewrite ltW // exp_gt0.
have step : protected J x h <= u * v * protected J x' h.
  have [h1 <-] := scaled (u * v) (Hh2 x'); apply: mono => // y.
  apply: (@le_trans _ _ (u * given_sum J x' h y * (v * noisy_sum x' y))).
    by apply: ler_pmul => //; exact: laplace_moves.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
have p0 : 0 <= protected J x' h.
  have [h1 h2] := scaled 0 (Hh2 x'); rewrite -[0](mul0r (protected J x' h)) -h2.
  by apply: mono => // y; rewrite mul0r mulr_ge0.
have uv : u * v <= exp spent by rewrite -exp_split //; apply: exp_mono => //; rewrite addrC; exact: moved.
have spent_le : spent <= eps.
  rewrite /spent ler_pdivr_mulr // ler_pmul2l // ler_nat geq_max.
  by rewrite /counted !geq_minr.
have first : protected J x h <= exp spent * protected J x' h by apply: le_trans step _; exact: ler_wpmul2r.
split=> //; split=> //; apply: le_trans first _; apply: ler_wpmul2r => //; exact: exp_mono.
Qed.

(* begin def-protected-error *)
(* What is estimated: the mean, with weights of at most cap per user; and the bias by clipping. *)
Definition weighed_mean (x : lists) : R := (\sum_l (counted x l)%:R * average x l) / weight_of x.
Definition clipping_bias (x : lists) : R :=
  (\sum_l (contribution x l - (counted x l)%:R * (average x l - c))) / weight_of x.
(* end def-protected-error *)

Lemma average_range (x : lists) l : 0 <= U -> (forall z, z \in x l -> 0 <= z <= U) -> 0 <= average x l <= U.
Proof.
move=> U0 xr; have sums : 0 <= \sum_(z <- x l) z <= U * (size (x l))%:R.
  elim: (x l) xr => [|z s IH] xr; first by rewrite big_nil mulr0 lexx.
  have zr := xr z (mem_head z s); have {}IH := IH (fun t ts => xr t (@mem_behead _ (z :: s) t ts)).
  by rewrite big_cons /= -addn1 natrD; linear.
rewrite /average; case: (posnP (size (x l))) => [->|n0]; first by rewrite invr0 mulr0 lexx.
have n0' : 0 < (size (x l))%:R :> R by rewrite ltr0n.
by case/andP: sums => s0 s1; rewrite divr_ge0 ?(ltW n0') //= ler_pdivr_mulr.
Qed.

(* How far the quotient is off: by the noises, or, where the noise of the weight is large, by U at most. *)
Lemma quotient_off (n g delta y z : R) : 0 < n -> 0 <= g <= U -> 0 < delta < 1 -> 1 <= (1 - delta) * n ->
  `|quotient y z - g|
  <= (`|g - c| / (n * (1 - delta))) * `|z - n| + (U * (if z < (1 - delta) * n then 1 else 0)
      + `|y - n * (g - c)| / (n * (1 - delta))).
Proof.
move=> n0 gU /andP [d0 d1] dn; have U0 : 0 <= U by linear.
have D0 : 0 < n * (1 - delta) by rewrite mulr_gt0 // subr_gt0.
have i0 : 0 <= (n * (1 - delta))^-1 by rewrite invr_ge0 ltW.
have [near far] := projection_no_further (c + y / Num.max z 1) gU; rewrite -/(quotient y z) in near far.
case: ltP => h.
  rewrite mulr1; apply: le_trans far _; rewrite addrCA; apply: ler_paddr => //.
  by apply: addr_ge0; rewrite ?mulr_ge0 ?normr_ge0.
rewrite mulr0 add0r; apply: le_trans near _; rewrite max_l; last exact: le_trans h.
have z0 : 0 < z by apply: lt_le_trans (le_trans dn h).
have -> : c + y / z - g = ((y - n * (g - c)) - (g - c) * (z - n)) / z by field; rewrite gt_eqF.
rewrite normrM [`|z^-1|]ger0_norm ?invr_ge0 ?(ltW z0) //.
apply: (@le_trans _ _ ((`|y - n * (g - c)| + `|g - c| * `|z - n|) / z)).
  by apply: ler_wpmul2r; rewrite ?invr_ge0 ?(ltW z0) // -normrM; exact: ler_norm_sub.
apply: (@le_trans _ _ ((`|y - n * (g - c)| + `|g - c| * `|z - n|) / (n * (1 - delta)))).
  apply: ler_wpmul2l; first by rewrite addr_ge0 ?mulr_ge0 ?normr_ge0.
  by rewrite lef_pinv ?posrE // mulrC.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

Lemma error_terms (n b gc delta e1 e2 : R) : 0 < n -> 0 < 1 - delta -> let s := 2 * cap%:R / (n * eps) in
  [/\ sy = n * (r * s), sn = n * s, 0 < s
    & (n * b + n * (r * s) * e1) / (n * (1 - delta)) + (gc / (n * (1 - delta)) * (n * s) + U * (e2 / 2))
      = (b + r * s * e1 + gc * s) / (1 - delta) + U / 2 * e2].
Proof.
move=> n0 d0 s; rewrite /sy /sn /s; split; try by field; rewrite !gt_eqF.
by rewrite divr_gt0 ?mulr_gt0 ?ltr0n.
Qed.

Lemma error_in_section (x : lists) (delta : R) : 0 <= c <= U ->
  (forall l z, z \in x l -> 0 <= z <= U) -> (0 < \sum_l counted x l)%N ->
  0 < delta < 1 -> 1 <= (1 - delta) * weight_of x ->
  let g := weighed_mean x in
  let b := `|clipping_bias x| in
  let s := 2 * cap%:R / (weight_of x * eps) in
  ((forall l, (size (x l) <= cap)%N) -> g = (\sum_l \sum_(z <- x l) z) / (\sum_l size (x l))%:R)
  /\ (protected_space H J (fun t => `|t.2 - g|) ->
        protected J x (fun t => `|t.2 - g|)
        <= (b + r * s * exp (- (b / (r * s))) + `|g - c| * s) / (1 - delta) + U / 2 * exp (- (delta / s))).
Proof.
(* quotient_off at each pair of noises; then means, first over the noise of the weight. *)
move=> cU xr n1 dr dn g b s; have U0 : 0 <= U by linear.
have [d0 d1] := andP dr; have d1' : 0 < 1 - delta by linear.
pose n := weight_of x; have n0 : 0 < n by rewrite ltr0n.
have av l : 0 <= average x l <= U by apply: average_range => // z; exact: xr.
have gE : n * g = \sum_l (counted x l)%:R * average x l by rewrite mulrC /g /weighed_mean divfK ?gt_eqF.
have gU : 0 <= g <= U.
  apply/andP; split; first rewrite -(pmulr_rge0 _ n0) gE.
    by apply: sumr_ge0 => l _; rewrite mulr_ge0 ?ler0n //; case/andP: (av l).
  rewrite -(ler_pmul2l n0) gE /n /weight_of natr_sum mulr_suml; apply: ler_sum => l _.
  by apply: ler_wpmul2l; [exact: ler0n | case/andP: (av l)].
split=> [small|[Hi Ho]].
  have cE l : counted x l = size (x l) by apply/minn_idPl; exact: small.
  rewrite /g /weighed_mean /weight_of (eq_bigr _ (fun l _ => cE l)); congr (_ / _); apply: eq_bigr => l _.
  rewrite cE /average mulrC; case: (posnP (size (x l))) => [/size0nil ->|p]; first by rewrite !(big_nil, mul0r, mulr0).
  by rewrite divfK // pnatr_eq0 -lt0n.
have bE : sum_of x - n * (g - c) = n * clipping_bias x.
  rewrite [RHS]mulrC /clipping_bias divfK ?gt_eqF // sumrB mulrBr gE /n /weight_of natr_sum mulr_suml -sumrB.
  by congr (_ - _); apply: eq_bigr => l _; ring.
pose D := (n * (1 - delta)); pose e2 := exp (- (delta / s)); pose e1 := exp (- (b / (r * s))).
have [syE snE s0 <-] := error_terms b `|g - c| e1 e2 n0 d1'; rewrite -/s in syE snE s0.
have Cn := distance_any n n is_exp HJ sn0; have Cy := distance_any (sum_of x) (n * (g - c)) is_exp HJ sy0.
have below : (1 - delta) * n <= n by rewrite ler_pimull ?(ltW n0) //; linear.
have [Ht Jt] := laplace_tail is_exp HJ sn0 below.
have {}Jt : J (fun z => (if z < (1 - delta) * n then 1 else 0) * noisy_weight x z) = e2 / 2.
  rewrite Jt /e2; congr (exp (- _) / _); rewrite snE; field; rewrite !gt_eqF //.
have [Hd Jd] := Cn; rewrite subrr normr0 mul0r oppr0 (exp0 is_exp) add0r mulr1 in Jd.
have [Hw Jw] := lap n sn0; rewrite -[laplace _ _ _]/(noisy_weight x) in Hw Jw.
have [Hs Js] := lap (sum_of x) sy0; rewrite -[laplace _ _ _]/(noisy_sum x) in Hs Js.
pose C := `|g - c| / D * sn + U * (e2 / 2).
have inner y : given_sum J x (fun t => `|t.2 - g|) y <= `|y - n * (g - c)| / D + C.
  have [H1 J1] := scaled (`|y - n * (g - c)| / D) Hw.
  have [H2 J2] := both U Ht H1; have [H3 J3] := both (`|g - c| / D) Hd H2.
  have <- : J (fun z => `|g - c| / D * (`|z - n| * laplace exp sn n z) + (U * ((if z < (1 - delta) * n then 1 else 0)
      * laplace exp sn n z) + `|y - n * (g - c)| / D * noisy_weight x z)) = `|y - n * (g - c)| / D + C.
    by rewrite J3 J2 J1 Jw Jt Jd /C; ring.
  apply: mono => // z; have := quotient_off y z n0 gU dr dn; rewrite -/n -/D => off.
  apply: le_trans (ler_wpmul2r (laplace_ge0 n z sn0) off) _.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /noisy_weight -/n -/sn; ring.
have [Hf Jf] := Cy; have [H1 J1] := scaled C Hs; have [H2 J2] := both D^-1 Hf H1.
rewrite bE normrM (ger0_norm (ltW n0)) -/b in Jf.
have -> : (n * b + n * (r * s) * e1) / (n * (1 - delta)) + (`|g - c| / (n * (1 - delta)) * (n * s) + U * (e2 / 2))
    = J (fun y => D^-1 * (`|y - n * (g - c)| * laplace exp sy (sum_of x) y) + C * noisy_sum x y).
  rewrite J2 Jf J1 Js /C mulr1 [D^-1 * _]mulrC -/D -snE -syE; congr ((_ + sy * _) / _ + _).
  rewrite /e1; congr (exp (- _)); rewrite syE; field; rewrite !gt_eqF //.
apply: mono => // y; apply: le_trans (ler_wpmul2r (laplace_ge0 (sum_of x) y sy0) (inner y)) _.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /noisy_sum -/sy; ring.
Qed.
End Protected.

Section Statements.
Variables (R : realFieldType) (L : nat) (U c r eps : R) (cap : nat) (exp : R -> R).
Variables (H : (R -> R) -> Prop) (J : (R -> R) -> R).
Notation E := (@protected R L U c r eps cap exp J).
Notation space := (@protected_space R L U c r eps cap exp H J).

(* begin prp-protected-counts *)
(* (1) The two noises have laws; however many samples one user has before and after, the released numbers
   are (eps n / cap)-DP, for the larger weight n of the two, and so eps-DP. *)
Theorem protected_private : is_exponential exp -> is_line_integral H J -> 0 < r -> (0 < cap)%N -> 0 < eps ->
  [/\ is_space space, forall x, is_mean space (E x)
    & forall (l : 'I_L) x x' h, differ_at l x x' -> space h -> (forall t, 0 <= h t) ->
        let spent := eps * (maxn (counted cap x l) (counted cap x' l))%:R / cap%:R in
        E x h <= exp spent * E x' h /\ spent <= eps /\ E x h <= exp eps * E x' h].
(* end prp-protected-counts *)
Proof. by move=> is_exp HJ r0 cap0 eps0; exact: private_in_section. Qed.

(* begin prp-protected-counts-error *)
(* (2) The mean error, if there is one.  What is estimated is the mean itself if no count exceeds the cap. *)
Theorem protected_error (x : lists R L) (delta : R) : is_exponential exp -> is_line_integral H J ->
  0 < r -> (0 < cap)%N -> 0 < eps ->
  0 <= c <= U -> (forall l z, z \in x l -> 0 <= z <= U) -> (0 < \sum_l counted cap x l)%N ->
  0 < delta < 1 -> 1 <= (1 - delta) * weight_of cap x ->
  let g := weighed_mean cap x in
  let b := `|clipping_bias c r cap x| in
  let s := 2 * cap%:R / (weight_of cap x * eps) in
  ((forall l, (size (x l) <= cap)%N) -> g = (\sum_l \sum_(z <- x l) z) / (\sum_l size (x l))%:R)
  /\ (space (fun t => `|t.2 - g|) ->
        E x (fun t => `|t.2 - g|)
        <= (b + r * s * exp (- (b / (r * s))) + `|g - c| * s) / (1 - delta) + U / 2 * exp (- (delta / s))).
(* end prp-protected-counts-error *)
Proof. by move=> is_exp HJ r0 cap0 eps0; exact: error_in_section. Qed.
End Statements.
