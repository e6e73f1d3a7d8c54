(* The linear program (8), its dual, and the multipliers: printed ones and repaired ones. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Program.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U eps : R).

(* The cost h of (8), which point (alpha, S) is feasible, and which is a minimiser. *)
(* begin def-program *)
Definition h (alpha : 'I_L -> R) (S : R) : R := \sum_l alpha l + S / eps.
Definition feasible (alpha : 'I_L -> R) (S : R) : Prop :=
  [/\ forall l, U * (m l)%:R - 2 * alpha l <= S, forall l, 0 <= alpha l & 0 <= S].
Definition minimiser (alpha : 'I_L -> R) (S : R) : Prop :=
  feasible alpha S /\ forall alpha' S', feasible alpha' S' -> h alpha S <= h alpha' S'.

(* The conditions of Karush, Kuhn and Tucker: signs, (9) and (10), and (11). *)
Definition KKT (alpha : 'I_L -> R) (S : R) (lambda mu : 'I_L -> R) (lambdaS : R) : Prop :=
  [/\ [/\ forall l, 0 <= lambda l, forall l, 0 <= mu l & 0 <= lambdaS],
      lambdaS + \sum_l lambda l = 1 / eps,
      forall l, lambda l = (1 - mu l) / 2
    & [/\ lambdaS * S = 0, forall l, lambda l * (U * (m l)%:R - 2 * alpha l - S) = 0
        & forall l, mu l * alpha l = 0]].

(* The point of Theorem III.1 for a total width T. *)
Definition best_alpha (T : R) (l : 'I_L) : R := Num.max ((U * (m l)%:R - T) / 2) 0.
(* The multipliers as printed, and as repaired. *)
Definition printed_lambda (T : R) (l : 'I_L) : R := if 0 < best_alpha T l then 1 / 2 else 0.
Definition above (T : R) : R := #|[pred l | T < U * (m l)%:R]|%:R.
Definition at_T (T : R) : R := #|[pred l | U * (m l)%:R == T]|%:R.
Definition repaired_lambda (T : R) (l : 'I_L) : R :=
  if T == 0 then 1 / 2 else if T < U * (m l)%:R then 1 / 2
  else if U * (m l)%:R == T then (1 / eps - above T / 2) / at_T T else 0.
Definition repaired_lambdaS (T : R) : R := if T == 0 then 1 / eps - L%:R / 2 else 0.
(* end def-program *)

(* Weak duality: every filling of the knapsack is a lower bound of the cost. *)
Lemma weak_duality (lambda alpha : 'I_L -> R) (S : R) :
  (forall l, 0 <= lambda l <= 1 / 2) -> \sum_l lambda l <= 1 / eps -> feasible alpha S ->
  \sum_l lambda l * (U * (m l)%:R) <= h alpha S.
Proof.
move=> lam sum_lam [f1 f2 S0].
apply: (@le_trans _ _ (\sum_l alpha l + S * \sum_l lambda l)).
  rewrite mulr_sumr -big_split /=; apply: ler_sum => l _.
  have /andP [l0 l1] := lam l.
  have h1 : lambda l * (U * (m l)%:R) <= lambda l * (2 * alpha l + S).
    by apply: ler_wpmul2l => //; have := f1 l => h1; linear.
  have h2 : lambda l * alpha l <= 1 / 2 * alpha l by apply: ler_wpmul2r.
  by linear.
rewrite /h ler_add2l; have := ler_wpmul2l S0 sum_lam.
by rewrite mulrA mulr1.
Qed.

(* The conditions suffice: a feasible point with multipliers is a minimiser. *)
(* begin thm-kkt *)
Theorem thm_kkt (alpha : 'I_L -> R) (S : R) (lambda mu : 'I_L -> R) (lambdaS : R) :
  feasible alpha S -> KKT alpha S lambda mu lambdaS -> minimiser alpha S.
(* end thm-kkt *)
Proof.
move=> feas [[l0 mu0 lS0] sum_lam lam_mu [sS s1 s2]]; split=> // alpha' S' feas'.
have lam l : 0 <= lambda l <= 1 / 2.
  by have := l0 l; have := mu0 l; have := lam_mu l => e1 e2 e3; linear.
have le_eps : \sum_l lambda l <= 1 / eps by linear.
apply: le_trans (weak_duality lam le_eps feas').
suff -> : \sum_l lambda l * (U * (m l)%:R) = h alpha S by [].
have -> : h alpha S = \sum_l (alpha l + S * lambda l) + lambdaS * S.
  rewrite /h big_split /= -mulr_sumr -addrA; congr (_ + _).
  by have := congr1 (fun x => S * x) sum_lam; rewrite mulrDr => e; linear.
rewrite sS addr0; apply: eq_bigr => l _.
have := s1 l; have := s2 l; have := congr1 (fun x => x * alpha l) (lam_mu l) => e1 e2 e3.
by linear.
Qed.

Hypothesis eps0 : 0 < eps.
Hypothesis U0 : 0 < U.
Hypothesis m0 : forall l, (0 < m l)%N.
Notation c := (nth_count m).

(* How many users are above, and at or above, the k-th largest value. *)
Lemma indicator (P : pred 'I_L) : #|P|%:R = \sum_l (if P l then 1 else 0) :> R.
Proof. by rewrite -big_mkcond sumr_const. Qed.

Lemma count_above k : (0 < k)%N -> above (v m U k) <= k.-1%:R.
Proof.
move=> k0; rewrite /above indicator /=.
rewrite (eq_bigr (fun l => if v m U k < U * (m l)%:R then 1 else 0 : R)) => [|l _]; last by rewrite ?inE.
rewrite (sum_over_sorted m (fun j => if v m U k < U * j%:R then 1 else 0)).
apply: (@le_trans _ _ (\sum_(i < L) weight k.-1%:R i)); last first.
  by rewrite weight_sum ?ler0n // le_minl lexx orbT.
apply: ler_sum => i _; case: (ltnP i k.-1) => ik.
  rewrite /weight; have : i.+1%:R <= k.-1%:R :> R by rewrite ler_nat.
  by rewrite -addn1 natrD => ik'; case: ifP => _; minmax; linear.
rewrite ifF ?weight_ge0 //; apply/negbTE; rewrite -leNgt /v.
by apply: ler_wpmul2l; rewrite ?(ltW U0) // ler_nat nth_count_mono.
Qed.

Lemma count_from k : (0 < k <= L)%N -> k%:R <= above (v m U k) + at_T (v m U k).
Proof.
move=> /andP [k0 kL]; rewrite /above /at_T !indicator -big_split /=.
rewrite (eq_bigr (fun l => if v m U k <= U * (m l)%:R then 1 else 0 : R)); last first.
  by move=> l _; rewrite ?inE; case: (ltgtP (v m U k) (U * (m l)%:R)); rewrite ?addr0 ?add0r.
rewrite (sum_over_sorted m (fun j => if v m U k <= U * j%:R then 1 else 0)).
have -> : k%:R = \sum_(i < L) weight (k%:R : R) i.
  by rewrite weight_sum ?ler0n // min_r // ler_nat.
apply: ler_sum => i _; case: (ltnP i k) => ik; last first.
  have : k%:R <= i%:R :> R by rewrite ler_nat.
  by rewrite /weight => ik'; case: ifP => _; minmax; linear.
rewrite ifT ?weight_le1 // /v; apply: ler_wpmul2l; rewrite ?(ltW U0) // ler_nat nth_count_mono //.
by rewrite -ltnS prednK.
Qed.

Variable k : nat.
Hypothesis kc : is_ceil k (2 / eps).
Let T := v m U k.

Let x0 : 0 < 2 / eps. Proof. by rewrite divr_gt0 ?ltr0n. Qed.
Let k0 : (0 < k)%N.
Proof. by case: kc => _ xk; rewrite -(ltr0n R) (lt_le_trans x0). Qed.
Let kE : k%:R = k.-1%:R + 1 :> R. Proof. by rewrite -[in LHS](prednK k0) -addn1 natrD. Qed.

Lemma T_ge0 : 0 <= T. Proof. by rewrite mulr_ge0 ?ler0n // ltW. Qed.

Lemma T_pos : 0 < T -> (k <= L)%N.
Proof.
move=> T0; rewrite -(prednK k0); case: ltnP => // kL; move: T0.
by rewrite /T /v nth_count_beyond // mulr0 ltxx.
Qed.

Lemma T_zero : T = 0 -> L%:R < 2 / eps.
Proof.
move/eqP; rewrite /T /v mulf_eq0 gt_eqF //= pnatr_eq0 => /eqP c0.
case: kc => kx _; apply: le_lt_trans kx; rewrite kE addrK ler_nat.
by case: leqP => // kL; have := count_pos m0 kL; rewrite c0.
Qed.

Lemma best_feasible : feasible (best_alpha T) T.
Proof.
split=> [l|l|]; rewrite ?T_ge0 // /best_alpha; last by rewrite le_maxr lexx orbT.
by minmax; linear.
Qed.

Lemma room : 0 < T -> [/\ above T < 2 / eps, 2 / eps <= above T + at_T T & 0 < at_T T].
Proof.
move=> T0; have k1 := count_above k0; case: kc => kx xk.
have k2 : k%:R <= above T + at_T T by apply: count_from; rewrite k0 T_pos.
rewrite -/T in k1; have xE := kE.
by split; linear.
Qed.

(* The repaired multipliers satisfy all conditions at the point of Theorem III.1. *)
(* begin thm-multipliers *)
Theorem thm_multipliers :
  feasible (best_alpha T) T
  /\ KKT (best_alpha T) T (repaired_lambda T) (fun l => 1 - 2 * repaired_lambda T l)
       (repaired_lambdaS T).
(* end thm-multipliers *)
Proof.
split; first exact: best_feasible.
have half : 1 / eps = 2 / eps / 2 by field; rewrite gt_eqF.
have lam l : 0 <= repaired_lambda T l <= 1 / 2.
  rewrite /repaired_lambda; case: eqP => [T0|/eqP T0]; first by linear.
  have T_gt0 : 0 < T by rewrite lt_neqAle eq_sym T0 T_ge0.
  have [r1 r2 r3] := room T_gt0; case: ltP => _; first by linear.
  case: ifP => _; last by linear.
  by rewrite divr_ge0 ?(ltW r3) ?ler_pdivr_mulr //= half; linear.
have zero : T = 0 -> KKT (best_alpha T) T (repaired_lambda T) (fun l => 1 - 2 * repaired_lambda T l)
       (repaired_lambdaS T).
  move=> T0; have Lx := T_zero T0; rewrite /repaired_lambda /repaired_lambdaS T0 eqxx.
  split; [split=> [l|l|] | | |split=> [|l|l]]; rewrite ?half; try by linear.
  - rewrite (_ : \sum_(l < L) (1 / 2) = L%:R / 2 :> R); first by linear.
    by rewrite sumr_const card_ord -mulr_natr mul1r mulrC.
  - have : 0 <= U * (m l)%:R by rewrite mulr_ge0 ?ler0n // ltW.
    by rewrite /best_alpha => h0; minmax; linear.
case: (eqVneq T 0) => [//|T0].
have T_gt0 : 0 < T by rewrite lt_neqAle eq_sym T0 T_ge0.
have [r1 r2 r3] := room T_gt0.
rewrite /repaired_lambdaS (negbTE T0); split.
- by split=> [l|l|] //; have := lam l => h0; linear.
- rewrite add0r; pose r := (1 / eps - above T / 2) / at_T T.
  have rE : 1 / eps = above T * (1 / 2) + at_T T * r by rewrite /r; field; rewrite !gt_eqF.
  have lamE l : repaired_lambda T l = if T < U * (m l)%:R then 1 / 2 else if U * (m l)%:R == T then r else 0.
    by rewrite /repaired_lambda (negbTE T0).
  clearbody r; rewrite rE /above /at_T !indicator !mulr_suml -big_split /=; apply: eq_bigr => l _.
  by rewrite lamE ?inE; case: (ltgtP T (U * (m l)%:R)); rewrite ?mul1r ?mul0r ?addr0 ?add0r.
- by move=> l; linear.
- split=> [|l|l]; first by rewrite mul0r.
  + rewrite /repaired_lambda (negbTE T0) /best_alpha; case: ltP => h1.
      by rewrite (_ : _ - T = 0) ?mulr0 //; minmax; linear.
    by case: eqP => h2; rewrite ?mul0r // h2 subrr mul0r max_l // mulr0 subr0 subrr mulr0.
  + rewrite /repaired_lambda (negbTE T0) /best_alpha; case: ltP => h1; first by linear.
    by rewrite max_r ?mulr0 //; linear.
Qed.

(* The printed multipliers fail whenever T > 0: no choice of the others mends them. *)
(* begin err-multipliers *)
Theorem printed_multipliers_fail : 0 < T ->
  forall mu lambdaS, ~ KKT (best_alpha T) T (printed_lambda T) mu lambdaS.
(* end err-multipliers *)
Proof.
move=> T0 mu lambdaS [_ sum_lam _ [slack _ _]]; have [r1 _ _] := room T0.
have half : 1 / eps = 2 / eps / 2 by field; rewrite gt_eqF.
have sumE : \sum_l printed_lambda T l = above T / 2.
  rewrite /above indicator mulr_suml; apply: eq_bigr => l _.
  rewrite /printed_lambda /best_alpha ?inE lt_maxr ltxx orbF pmulr_lgt0 ?invr_gt0 ?ltr0n // subr_gt0.
  by case: ifP; rewrite ?mul0r.
move/eqP: slack; rewrite mulf_eq0 [T == 0]gt_eqF // orbF => /eqP lS.
by rewrite lS sumE half in sum_lam; linear.
Qed.

(* The dual of (8) is a fractional knapsack: every filling bounds the cost of every feasible point,
   and the best filling is worth U / 2 M (2 / eps). *)
(* begin thm-dual *)
Theorem thm_dual :
  let filling lambda := (forall l, 0 <= lambda l <= 1 / 2) /\ \sum_l lambda l <= 1 / eps in
  let worth lambda := \sum_l lambda l * (U * (m l)%:R) in
  [/\ forall lambda alpha S, filling lambda -> feasible alpha S -> worth lambda <= h alpha S,
      exists2 lambda, filling lambda & worth lambda = U / 2 * M m (2 / eps)
    & forall lambda, filling lambda -> worth lambda <= U / 2 * M m (2 / eps)].
(* end thm-dual *)
Proof.
move=> filling worth; have [feas kkt] := thm_multipliers.
have value : h (best_alpha T) T = U / 2 * M m (2 / eps).
  have := M_eq m (ltW U0) x0 kc; rewrite /= -/(v m U k) -/T => e.
  have -> : U / 2 * M m (2 / eps) = U * M m (2 / eps) / 2 by linear.
  rewrite e mulrDl; congr (_ + _); last by field; rewrite gt_eqF.
  by rewrite mulr_suml; apply: eq_bigr => l _; rewrite /best_alpha; minmax; linear.
split.
- by move=> lambda alpha S [f1 f2]; exact: weak_duality.
- case: kkt => [[l0 mu0 lS0] sum_lam lam_mu [sS s1 s2]].
  exists (repaired_lambda T).
    by split=> [l|]; [have := l0 l; have := mu0 l => e1 e2; linear | linear].
  rewrite -value /worth.
  have -> : h (best_alpha T) T = \sum_l (best_alpha T l + T * repaired_lambda T l)
      + repaired_lambdaS T * T.
    rewrite /h big_split /= -mulr_sumr -addrA; congr (_ + _).
    by have := congr1 (fun x => T * x) sum_lam; rewrite mulrDr => e; linear.
  rewrite sS addr0; apply: eq_bigr => l _.
  have := s1 l; have := s2 l => e1 e2.
  by linear.
- by move=> lambda [f1 f2]; rewrite -value; apply: weak_duality => //; exact: best_feasible.
Qed.

End Program.
