(* Laplace noise: its mass, its tails, its mean absolute value, and the mean distance between a number and
   another one with noise. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear exponential densities line.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin def-laplace *)
(* The density of Laplace noise around a centre. *)
Definition laplace (R : realFieldType) (exp : R -> R) (scale centre y : R) : R :=
  exp (- (`|y - centre| / scale)) / (2 * scale).
(* end def-laplace *)

Section Beyond.
Variables (R : realFieldType) (exp : R -> R) (H : (R -> R) -> Prop) (J : (R -> R) -> R).
Hypothesis is_exp : is_exponential exp.
Hypothesis HJ : is_line_integral H J.

(* A function that falls from c on, by the factor exp (- 1) in each s. *)
Definition decay (s c y : R) : R := exp (- ((y - c) / s)).

Lemma decay_gt0 s c y : 0 < decay s c y. Proof. exact: (exp_gt0 is_exp). Qed.

Lemma decay_beyond s c : 0 < s -> H (beyond c (decay s c)) /\ J (beyond c (decay s c)) = s.
Proof. exact: (exp_beyond HJ is_exp). Qed.

Lemma decay_from s c c' y : 0 < s -> decay s c y = exp (- ((c' - c) / s)) * decay s c' y.
Proof. by move=> s0; rewrite /decay -(exp_split is_exp); congr (exp _); field; rewrite gt_eqF. Qed.

Lemma beyond_scale a c h : H (beyond c h) -> H (beyond c (fun y => a * h y)) /\ J (beyond c (fun y => a * h y)) = a * J (beyond c h).
Proof.
move=> Hh; have [Hs <-] := line_scale HJ a Hh; apply: (line_ext HJ Hs) => y.
by rewrite /beyond; case: ifP => _; rewrite ?mulr0.
Qed.

Lemma beyond_add c h h' : H (beyond c h) -> H (beyond c h') ->
  H (beyond c (fun y => h y + h' y)) /\ J (beyond c (fun y => h y + h' y)) = J (beyond c h) + J (beyond c h').
Proof.
move=> Hh Hh'; have [Hs <-] := line_add HJ Hh Hh'; apply: (line_ext HJ Hs) => y.
by rewrite /beyond; case: ifP => _; rewrite ?addr0.
Qed.

Lemma beyond_le c h h' : H (beyond c h) -> H (beyond c h') -> (forall y, c < y -> h y <= h' y) ->
  J (beyond c h) <= J (beyond c h').
Proof. by move=> Hh Hh' le; apply: (line_le HJ) => // y; rewrite /beyond; case: ifP => // /le. Qed.

(* h is bounded by k, and has integrals up to every b. *)
Lemma beyond_bounded c h k : (forall y, c < y -> 0 <= h y <= k y) -> H (beyond c k) ->
  (forall b, c <= b -> H (between c b h)) -> H (beyond c h).
Proof.
move=> hk Hk part; have [_ [_ _ _ _ unions]] := HJ.
have h0 y : 0 <= beyond c h y by rewrite /beyond; case: ifP => // /hk /andP [].
have [n|//] := unions _ (J (beyond c k)) h0.
pose b := Num.max c n%:R; have cb : c <= b by rewrite le_maxr lexx.
have Hb := between_part HJ (- n%:R) n%:R (part b cb).
have [|Hn Jn] := line_ext HJ Hb (h' := between (- n%:R) n%:R (beyond c h)).
  move=> y; rewrite /between /beyond; case: ifP => // /andP [_ yn].
  by rewrite (le_trans yn) ?andbT // le_maxr lexx orbT.
split=> //; apply: (line_le HJ) => // y; rewrite /between /beyond.
by case: ifP => _; case: ifP => // /hk /andP [p q] //; exact: le_trans q.
Qed.

Lemma size_part s c b : 0 < s -> c <= b -> H (between c b (fun y => (y - c) * decay s c y)).
Proof.
move=> s0 cb; have [He _] := decay_beyond c s0.
have [He' _] := line_ext HJ (between_part HJ c b He) (h' := between c b (decay s c))
  (fun y => ltac:(by rewrite /between /beyond; case: ifP => // /andP [-> _])).
have [Hs _] := line_scale HJ (b - c) He'.
have Hf : H (between c b (fun y => (b - y) * decay s c y)).
  apply: (falls_between HJ) => x y cx xy yb; apply: ler_pmul; rewrite ?subr_ge0 ?ler_add2l ?ler_opp2 //.
    exact/ltW/decay_gt0.
  exact: exp_falls.
have [Hm _] := line_scale HJ (-1) Hf; have [Ha _] := line_add HJ Hs Hm.
have [] // := line_ext HJ Ha (h' := between c b (fun y => (y - c) * decay s c y)) => y.
by rewrite /between; case: ifP => _; ring.
Qed.

(* Bounds on the distance times the decay, by differences of decays that are slightly faster and slightly
   slower. *)
Lemma size_between s c (n : nat) (y : R) : 0 < s -> (0 < n)%N ->
  s * n.+1%:R * (decay s c y - decay (s * n.+1%:R / n.+2%:R) c y) <= (y - c) * decay s c y
  <= s * n.+1%:R * (decay (s * n.+1%:R / n%:R) c y - decay s c y).
Proof.
move=> s0 n0; set u := (y - c) / s; pose h : R := n.+1%:R^-1.
have n1 : 0 < n.+1%:R :> R by rewrite ltr0n.
have nR : 0 < n%:R :> R by rewrite ltr0n.
have e1 : decay (s * n.+1%:R / n.+2%:R) c y = decay s c y * exp (- (u * h)).
  rewrite /decay -(exp_split is_exp) /u /h; congr (exp _).
  have -> : n.+2%:R = n.+1%:R + 1 :> R by rewrite -[n.+2]addn1 natrD.
  by move: n.+1%:R n1 => k k0; field; rewrite !gt_eqF // addr_gt0 ?ltr01.
have e2 : decay (s * n.+1%:R / n%:R) c y = decay s c y * exp (u * h).
  rewrite /decay -(exp_split is_exp) /u /h; congr (exp _).
  have -> : n.+1%:R = n%:R + 1 :> R by rewrite -[n.+1]addn1 natrD.
  by move: n%:R nR => k k0; field; rewrite !gt_eqF // addr_gt0 ?ltr01.
have -> : y - c = s * n.+1%:R * (u * h) by rewrite /u /h; move: n.+1%:R n1 => k k0; field; rewrite !gt_eqF.
rewrite e1 e2; have p := decay_gt0 s c y; have lo := exp_ge is_exp (- (u * h)); have hi := exp_ge is_exp (u * h).
have a0 : 0 < s * n.+1%:R * decay s c y by rewrite mulr_gt0 // mulr_gt0.
move: (exp (- (u * h))) (exp (u * h)) lo hi => f g lo hi.
have -> : s * n.+1%:R * (decay s c y - decay s c y * f) = s * n.+1%:R * decay s c y * (1 - f) by ring.
have -> : s * n.+1%:R * (decay s c y * g - decay s c y) = s * n.+1%:R * decay s c y * (g - 1) by ring.
have -> : s * n.+1%:R * (u * h) * decay s c y = s * n.+1%:R * decay s c y * (u * h) by ring.
by rewrite !ler_pmul2l //; apply/andP; split; linear.
Qed.

Lemma size_beyond s c : 0 < s ->
  H (beyond c (fun y => (y - c) * decay s c y)) /\ J (beyond c (fun y => (y - c) * decay s c y)) = s ^+ 2.
Proof.
move=> s0; set f := beyond c _; pose rate k k' := s * k.+1%:R / k'%:R.
have r0 k k' : (0 < k')%N -> 0 < rate k k' by move=> h; rewrite divr_gt0 ?mulr_gt0 ?ltr0n.
(* what the bounds integrate to *)
have diff a b k : 0 < a -> 0 < b -> let g := beyond c (fun y => k * (decay a c y - decay b c y)) in
    H g /\ J g = k * (a - b).
  move=> a0 b0 g; have [Ha Ja] := decay_beyond c a0; have [Hb Jb] := decay_beyond c b0.
  have [Hm Jm] := beyond_scale (-1) Hb; have [Hs Js] := beyond_add Ha Hm.
  have [Hk Jk] := beyond_scale k Hs.
  have [|Hg ->] := line_ext HJ Hk (h' := g).
    by move=> y; rewrite /g /beyond mulN1r.
  by split=> //; rewrite Jk Js Jm Ja Jb mulN1r.
have Hf : H f.
  have [Hk _] := diff (rate 1%N 1%N) s (s * 2%:R) (r0 1%N 1%N isT) s0.
  apply: (beyond_bounded _ Hk) => [y cy|b cb]; last exact: size_part.
  rewrite (proj2 (andP (size_between c y s0 (n := 1%N) isT))) andbT.
  by rewrite mulr_ge0 ?subr_ge0 ?(ltW cy) // ltW // decay_gt0.
split=> //; have bounds n : (0 < n)%N -> s ^+ 2 * n.+1%:R <= J f * n.+2%:R /\ J f * n%:R <= s ^+ 2 * n.+1%:R.
  move=> n0; have [Hl Jl] := diff s (rate n n.+2) (s * n.+1%:R) s0 (r0 n n.+2 isT).
  have [Hu Ju] := diff (rate n n) s (s * n.+1%:R) (r0 n n n0) s0.
  have := beyond_le Hl Hf (fun y _ => proj1 (andP (size_between c y s0 n0))).
  have := beyond_le Hf Hu (fun y _ => proj2 (andP (size_between c y s0 n0))); rewrite Jl Ju.
  have nR : 0 < n%:R :> R by rewrite ltr0n.
  have S : n.+1%:R = n%:R + 1 :> R by rewrite -[n.+1]addn1 natrD.
  have S2 : n.+2%:R = n%:R + 2%:R :> R by rewrite -[n.+2]addn2 natrD.
  have -> : s * n.+1%:R * (rate n n - s) = s ^+ 2 * n.+1%:R / n%:R.
    by rewrite /rate S; move: n%:R nR => k k0; field; rewrite gt_eqF.
  have -> : s * n.+1%:R * (s - rate n n.+2) = s ^+ 2 * n.+1%:R / n.+2%:R.
    by rewrite /rate S S2; move: n%:R nR => k k0; field; rewrite gt_eqF // addr_gt0 ?ltr0n ?ltr01.
  by rewrite ler_pdivl_mulr // ler_pdivr_mulr ?ltr0n // mulrC [J f * _ <= _]mulrC.
have S n : n.+1%:R = n%:R + 1 :> R by rewrite -[n.+1]addn1 natrD.
case: (leP (s ^+ 2) (J f)) => jf; apply/eqP; rewrite -subr_eq0; first apply/eqP.
  apply: (small_zero (proj1 HJ) (c := s ^+ 2)); rewrite ?subr_ge0 // => n.
  have [_] := bounds n.+1 isT; rewrite !S; move: (J f) (s ^+ 2) jf => j t jt; have := ler0n R n.
  by linear.
rewrite -oppr_eq0 opprB; apply/eqP; apply: (small_zero (proj1 HJ) (c := s ^+ 2)); rewrite ?subr_ge0 ?(ltW jf) // => n.
have [h _] := bounds n.+1 isT; move: h; rewrite !S; move: (J f) (s ^+ 2) jf => j t jt; have := ler0n R n.
by linear.
Qed.

(* The density to the right of the centre, and below to the left of it. *)
Lemma laplace_right s c y : c < y -> laplace exp s c y = (2 * s)^-1 * decay s c y.
Proof. by move=> cy; rewrite /laplace ger0_norm ?subr_ge0 ?ltW // mulrC. Qed.

End Beyond.

Section Sides.
Variables (R : realFieldType) (exp : R -> R) (H : (R -> R) -> Prop) (J : (R -> R) -> R).
Hypothesis is_exp : is_exponential exp.
Hypothesis HJ : is_line_integral H J.
Notation decay := (decay exp).

Lemma laplace_left s c y : y < c -> laplace exp s c y = (2 * s)^-1 * decay s (- c) (- y).
Proof.
move=> yc; rewrite /laplace ler0_norm ?subr_le0 ?ltW // mulrC /noise.decay.
by congr (_ * exp (- (_ / _))); ring.
Qed.

Let HM := mirror HJ.

(* Half of the mass on each side. *)
Lemma half_right s c : 0 < s -> H (beyond c (laplace exp s c)) /\ J (beyond c (laplace exp s c)) = 1 / 2.
Proof.
move=> s0; have [He Je] := decay_beyond is_exp HJ c s0; have [Hs Js] := beyond_scale HJ (2 * s)^-1 He.
have [|Hl ->] := line_ext HJ Hs (h' := beyond c (laplace exp s c)).
  by move=> y; rewrite /beyond; case: ifP => // cy; rewrite laplace_right.
by split=> //; rewrite Js Je; field; rewrite gt_eqF.
Qed.

Lemma half_left s c : 0 < s -> let f y := if y < c then laplace exp s c y else 0 in H f /\ J f = 1 / 2.
Proof.
move=> s0 f; have [He Je] := decay_beyond is_exp HM (- c) s0; have [Hs Js] := beyond_scale HM (2 * s)^-1 He.
have [|Hl ->] := line_ext HJ Hs (h' := f).
  by move=> y; rewrite /f /mirrored /beyond ltr_opp2; case: ifP => // yc; rewrite laplace_left.
by split=> //; rewrite Js Je; field; rewrite gt_eqF.
Qed.

Lemma laplace_mass s c : 0 < s -> H (laplace exp s c) /\ J (laplace exp s c) = 1.
Proof.
move=> s0; have [Hr Jr] := half_right c s0; have [Hl Jl] := half_left c s0; have [Ha Ja] := line_add HJ Hr Hl.
have [|Hf ->] := line_but_one HJ (a := c) (h' := laplace exp s c) Ha.
  by move=> y; rewrite /beyond neq_lt => /orP [] yc; rewrite yc ltNge (ltW yc) /= ?addr0 ?add0r.
by split=> //; rewrite Ja Jr Jl; linear.
Qed.

(* The mass below a. *)
Lemma laplace_tail s c a : 0 < s -> a <= c -> let f y := (if y < a then 1 else 0) * laplace exp s c y in
  H f /\ J f = exp (- ((c - a) / s)) / 2.
Proof.
move=> s0 ac f; have [Hl Jl] := half_left a s0; have [Hs Js] := line_scale HJ (exp (- ((c - a) / s))) Hl.
have [|Hf ->] := line_ext HJ Hs (h' := f); last by split=> //; rewrite Js Jl mulrA mulr1.
move=> y; rewrite /f; case: ifP => ya; last by rewrite mulr0 mul0r.
rewrite mul1r !laplace_left ?(lt_le_trans ya) // (decay_from is_exp (- c) (- a) (- y) s0) mulrCA.
by congr (_ * (exp (- (_ / _)) * _)); ring.
Qed.

Lemma distance_below s c a : 0 < s -> a <= c ->
  H (fun y => `|y - a| * laplace exp s c y)
  /\ J (fun y => `|y - a| * laplace exp s c y) = (c - a) + s * exp (- ((c - a) / s)).
Proof.
move=> s0 ac; pose d := c - a; have d0 : 0 <= d by rewrite subr_ge0.
have [HR0 JR0] := decay_beyond is_exp HJ c s0; have [HR1 JR1] := size_beyond is_exp HJ c s0.
have [HL0 JL0] := decay_beyond is_exp HM (- c) s0; have [HL1 JL1] := size_beyond is_exp HM (- c) s0.
have [HF JF] := size_beyond is_exp HM (- a) s0.
have [Hr0 Jr0] := beyond_scale HJ d HR0; have [Hr Jr] := beyond_add HJ HR1 Hr0.
have [Hl0 Jl0] := beyond_scale HM d HL0; have [Hl1 Jl1] := beyond_scale HM (-1) HL1.
have [Hl Jl] := beyond_add HM Hl0 Hl1.
have [Hf Jf] := beyond_scale HM (2 * exp (- (d / s))) HF.
have [Hs Js] := line_add HJ (proj1 (line_add HJ Hr Hl)) Hf; have [_ Js'] := line_add HJ Hr Hl.
have [Ht Jt] := line_scale HJ (2 * s)^-1 Hs.
have [|Hg ->] := line_but_one HJ (a := c) (h' := fun y => `|y - a| * laplace exp s c y) Ht; last first.
  split=> //; rewrite Jt Js Js' Jr Jr0 JR0 JR1 Jl Jl0 Jl1 JL0 JL1 Jf JF.
  by rewrite -/d; field; rewrite gt_eqF.
move=> y yc; rewrite /mirrored /beyond !ltr_opp2; move: yc; rewrite neq_lt => /orP [] yc.
  rewrite yc ltNge (ltW yc) /= laplace_left //; case: (ltP y a) => ya.
    rewrite [`|_|]ler0_norm ?subr_le0 ?(ltW ya) // (decay_from is_exp (- c) (- a) (- y) s0).
    have -> : - a - - c = d by rewrite /d; ring.
    by rewrite /d; move: (exp _) (decay _ _ _) => f g; field; rewrite gt_eqF.
  rewrite [`|_|]ger0_norm ?subr_ge0 // /d; move: (decay _ _ _) => g; by field; rewrite gt_eqF.
have ya : a < y := le_lt_trans ac yc.
rewrite yc [y < c]ltNge (ltW yc) [y < a]ltNge (ltW ya) /= laplace_right // ger0_norm ?subr_ge0 ?(ltW ya) // /d.
by move: (decay _ _ _) => g; field; rewrite gt_eqF.
Qed.
End Sides.

Lemma distance_any (R : realFieldType) (exp : R -> R) H J (s c a : R) :
  is_exponential exp -> is_line_integral H J -> 0 < s ->
  H (fun y => `|y - a| * laplace exp s c y)
  /\ J (fun y => `|y - a| * laplace exp s c y) = `|c - a| + s * exp (- (`|c - a| / s)).
Proof.
move=> is_exp HJ s0; case: (leP a c) => ac.
  by rewrite ger0_norm ?subr_ge0 //; exact: distance_below.
have [Hm Jm] := distance_below is_exp (mirror HJ) s0 (c := - c) (a := - a) (ltac:(by rewrite ler_opp2 ltW)).
have e y : mirrored (fun y => `|y - - a| * laplace exp s (- c) y) y = `|y - a| * laplace exp s c y.
  by rewrite /mirrored /laplace -!opprD !normrN.
have [Hg ->] := line_ext HJ Hm e; split=> //; rewrite Jm ler0_norm ?subr_le0 ?(ltW ac) //.
by have -> : - c - - a = - (c - a) by ring.
Qed.

(* The mean absolute value of the noise is its scale. *)
Lemma laplace_size (R : realFieldType) (exp : R -> R) H J (s c : R) :
  is_exponential exp -> is_line_integral H J -> 0 < s ->
  H (fun y => `|c - y| * laplace exp s c y) /\ J (fun y => `|c - y| * laplace exp s c y) = s.
Proof.
move=> is_exp HJ s0; have [Hg Jg] := distance_any c c is_exp HJ s0.
have [|Hf ->] := line_ext HJ Hg (h' := fun y => `|c - y| * laplace exp s c y); first by move=> y; rewrite distrC.
by split=> //; rewrite Jg subrr normr0 mul0r oppr0 (exp0 is_exp) add0r mulr1.
Qed.

(* begin lem-noisy-error *)
(* Z has the Laplace law of scale s around 0: the mean of |d + Z|, and what it lies between. *)
Theorem noisy_error (R : realFieldType) (exp : R -> R) (H : (R -> R) -> Prop) (J : (R -> R) -> R) (s d : R) :
  is_exponential exp -> is_line_integral H J -> 0 < s ->
  let f z := `|d + z| * laplace exp s 0 z in
  [/\ H f, J f = `|d| + s * exp (- (`|d| / s)) & s <= J f <= `|d| + s].
(* end lem-noisy-error *)
Proof.
move=> is_exp HJ s0 f; have [Hg Jg] := distance_any 0 (- d) is_exp HJ s0.
have [|Hf Jf] := line_ext HJ Hg (h' := f); first by move=> y; rewrite opprK addrC.
rewrite Jg opprK add0r in Jf; split=> //; rewrite Jf; move: (normr_ge0 d) => d0; pose u := `|d| / s.
have -> : `|d| = s * u by rewrite /u mulrC divfK // gt_eqF.
have -> : s * u / s = u by field; rewrite gt_eqF.
have u0 : 0 <= u by rewrite divr_ge0 // ltW.
have lo : 1 - u <= exp (- u) by exact: (exp_ge is_exp).
have hi : exp (- u) <= 1 by rewrite -(exp0 is_exp); apply: (exp_mono is_exp); rewrite oppr_le0.
have := ler_wpmul2l (ltW s0) lo; have := ler_wpmul2l (ltW s0) hi; rewrite mulrBr mulr1.
by move: (s * u) (s * exp _) => v w; linear.
Qed.
