(* The linear program (8), its dual, and the multipliers: printed ones and repaired ones. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section LinearProgram.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U eps : R).

(* begin def-program *)
(* The cost h of (8), which point (alpha, S) is feasible, and which is a minimiser. *)
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

(* Weak duality: every filling of the knapsack is a lower bound on the cost. *)
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

(* begin thm-kkt *)
(* The conditions suffice: a feasible point with multipliers is a minimiser. *)
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

(* begin thm-multipliers *)
(* The repaired multipliers satisfy all conditions at the point of Theorem III.1. *)
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

(* The multiplier of the users at T > 0. *)
Let r : R := (1 / eps - above T / 2) / at_T T.

Lemma repaired_lambdaE l : 0 < T ->
  repaired_lambda T l = if T < U * (m l)%:R then 1 / 2 else if U * (m l)%:R == T then r else 0.
Proof. by move=> T0; rewrite /repaired_lambda gt_eqF. Qed.

Lemma share_pos : 0 < T -> 0 < r.
Proof.
move=> T0; have [r1 r2 r3] := room T0; rewrite divr_gt0 // subr_gt0.
by rewrite (_ : 1 / eps = 2 / eps / 2) ?ltr_pmul2r ?invr_gt0 ?ltr0n //; field; rewrite gt_eqF.
Qed.

Lemma share_half : 0 < T -> (r < 1 / 2) = (2 / eps < above T + at_T T).
Proof.
move=> T0; have [r1 r2 r3] := room T0; rewrite /r ltr_pdivr_mulr //.
rewrite (_ : 1 / eps = 2 / eps / 2); last by field; rewrite gt_eqF.
by apply/idP/idP => h; linear.
Qed.

(* begin thm-multipliers-share *)
(* If T > 0, the repaired multiplier of the users at T is positive and at most 1/2. *)
Theorem share_at_T : 0 < T -> 0 < (1 / eps - above T / 2) / at_T T <= 1 / 2.
(* end thm-multipliers-share *)
Proof.
move=> T0; have [r1 r2 r3] := room T0; rewrite share_pos //= ler_pdivr_mulr //.
by rewrite (_ : 1 / eps = 2 / eps / 2); [linear | field; rewrite gt_eqF].
Qed.

(* All multipliers of the point are determined but those of the users at T. *)
Lemma forced lambda mu lambdaS l : 0 < T -> KKT (best_alpha T) T lambda mu lambdaS ->
  [/\ 0 <= lambda l, lambda l <= 1 / 2, lambdaS = 0
    & U * (m l)%:R != T -> lambda l = repaired_lambda T l].
Proof.
move=> T0 [[l0 mu0 lS0] sum_lam lam_mu [sS s1 s2]]; have := lam_mu l; have := mu0 l => h1 h2.
split; [exact: l0 | by linear | by move/eqP: sS; rewrite mulf_eq0 (gt_eqF T0) orbF => /eqP |].
move=> lT; rewrite repaired_lambdaE // (negbTE lT); case: ltP => lT'.
  have := s2 l; rewrite /best_alpha max_l ?divr_ge0 ?ler0n ?subr_ge0 ?(ltW lT') // => /eqP.
  rewrite mulf_eq0 [X in _ || X]gt_eqF ?orbF ?divr_gt0 ?ltr0n ?subr_gt0 // => /eqP e.
  by linear.
have {}lT : U * (m l)%:R < T by rewrite lt_neqAle lT.
have := s1 l; rewrite /best_alpha max_r ?mulr0 ?subr0; last by linear.
by move/eqP; rewrite mulf_eq0 [X in _ || X]lt_eqF ?orbF ?subr_lt0 // => /eqP.
Qed.

(* begin thm-multipliers-only *)
(* The repaired multipliers are the only ones of this point, unless at least two users are at T > 0 and 2 /
   eps is less than the number of users at or above T. *)
Theorem only_multipliers :
  (forall lambda mu lambdaS, KKT (best_alpha T) T lambda mu lambdaS ->
     [/\ forall l, lambda l = repaired_lambda T l, forall l, mu l = 1 - 2 * repaired_lambda T l
       & lambdaS = repaired_lambdaS T])
  <-> ~ [/\ 0 < T, 2 <= at_T T & 2 / eps < above T + at_T T].
(* end thm-multipliers-only *)
Proof.
(* If users tie at T > 0 and their multiplier is below 1/2, a little of lambda can go from one of them to
   another.  Otherwise the conditions determine every multiplier. *)
have [_ [[l0 mu0 lS0] sum_lam lam_mu [sS s1 s2]]] := thm_multipliers.
split=> [only [T0 two less]|not_tied lambda mu lambdaS kkt].
  have r0 := share_pos T0; have r1 : r < 1 / 2 by rewrite share_half.
  have : (1 < #|[pred l | (U * (m l)%:R == T)%R]|)%N by rewrite -(ltr_nat R) (lt_le_trans _ two) // ltr1n.
  case/card_gt1P => l1 [l2]; rewrite !inE => -[/eqP e1 /eqP e2 l12].
  pose d := Num.min r (1 / 2 - r); have [d0 dr dr'] : [/\ 0 < d, d <= r & d <= 1 / 2 - r].
    by rewrite /d; split; minmax; linear.
  pose g l : R := (if l == l1 then d else 0) - (if l == l2 then d else 0).
  have atT l : g l != 0 -> U * (m l)%:R = T.
    by rewrite /g; case: (l =P l1) => [->|_] //; case: (l =P l2) => [->|_] //; rewrite subrr eqxx.
  have lamE l : U * (m l)%:R = T -> repaired_lambda T l = r.
    by move=> e; rewrite repaired_lambdaE // e ltxx eqxx.
  have g_le l : - d <= g l <= d by rewrite /g; case: ifP => _; case: ifP => _; linear.
  have sum_g : \sum_l g l = 0.
    by rewrite sumrB -!big_mkcond !big_pred1_eq subrr.
  have rg l : 0 <= repaired_lambda T l + g l <= 1 / 2.
    case: (eqVneq (g l) 0) => [->|/atT/lamE ->]; last by have := g_le l => h1; linear.
    by rewrite addr0; have := l0 l; have := mu0 l => h1 h2; linear.
  have [h _ _] : [/\ forall l, repaired_lambda T l + g l = repaired_lambda T l,
      forall l, 1 - 2 * (repaired_lambda T l + g l) = 1 - 2 * repaired_lambda T l
      & repaired_lambdaS T = repaired_lambdaS T].
    apply: only; split.
    - by split=> // l; have := rg l => h; linear.
    - by rewrite big_split /= sum_g addr0.
    - by move=> l; linear.
    - split=> // l; have := s1 l; have := s2 l; rewrite /best_alpha; case: (eqVneq (g l) 0) => [->|/atT ->] h1 h2.
      + by rewrite addr0.
      + by rewrite subrr mul0r maxxx mulr0 subr0 subrr mulr0.
      + by rewrite addr0.
      + by rewrite subrr mul0r maxxx mulr0.
  have := h l1; rewrite /g eqxx (negbTE l12) => e; by linear.
have [l0' mu0' lS0'] : [/\ forall l, 0 <= lambda l, forall l, 0 <= mu l & 0 <= lambdaS] by case: kkt => [[]].
have [sum_lam' lam_mu'] : lambdaS + \sum_l lambda l = 1 / eps /\ forall l, lambda l = (1 - mu l) / 2 by case: kkt.
suff [same sameS] : (forall l, lambda l = repaired_lambda T l) /\ lambdaS = repaired_lambdaS T.
  by split=> // l; rewrite -same; have := lam_mu' l => h; linear.
have T_ge := T_ge0; case: (eqVneq T 0) => [T0|T_neq].
  have same l : lambda l = repaired_lambda T l.
    case: kkt => _ _ _ [_ _ /(_ l)]; have Um : 0 < U * (m l)%:R by rewrite mulr_gt0 ?ltr0n.
    rewrite T0 /best_alpha /repaired_lambda eqxx subr0 max_l ?divr_ge0 ?ler0n ?(ltW Um) // => /eqP.
    rewrite mulf_eq0 [X in _ || X]gt_eqF ?orbF ?divr_gt0 ?ltr0n // => /eqP e.
    by have := lam_mu' l => h; linear.
  split=> //; have := sum_lam'; rewrite (eq_bigr (repaired_lambda T)) // => e.
  by linear.
have T0 : 0 < T by rewrite lt_neqAle eq_sym T_neq.
have sameS : lambdaS = repaired_lambdaS T.
  rewrite /repaired_lambdaS (negbTE T_neq).
  by case: kkt => _ _ _ [/eqP + _ _]; rewrite mulf_eq0 (negbTE T_neq) orbF => /eqP.
split=> //; have sums : \sum_l (repaired_lambda T l - lambda l) = 0.
  by rewrite sumrB; linear.
move=> l; case: (eqVneq (U * (m l)%:R) T) => [lT|]; last by case: (forced l T0 kkt).
case: (ltP r (1 / 2)) => rh.
  (* one user is at T *)
  have one : at_T T < 2.
    rewrite ltNge; apply/negP => two; apply: not_tied; split=> //; by rewrite -share_half.
  have alone l' : l' != l -> U * (m l')%:R != T.
    move=> ll'; apply/eqP => lT'; move: one; rewrite /at_T ltr_nat ltnNge; move/negP; apply.
    by apply/card_gt1P; exists l', l; rewrite !inE lT lT' !eqxx.
  move: sums; rewrite (bigD1 l) //= big1 ?addr0 => [|l' /alone lT'].
    by move=> e; linear.
  by case: (forced l' T0 kkt) => _ _ _ ->; rewrite ?subrr.
(* all users at T are full *)
have full l' : 0 <= repaired_lambda T l' - lambda l'.
  have [_ h _ e] := forced l' T0 kkt; case: (eqVneq (U * (m l')%:R) T) => [lT'|/e ->]; last by rewrite subrr.
  by rewrite repaired_lambdaE // lT' ltxx eqxx; linear.
move/eqP: sums; rewrite psumr_eq0 // => /allP /(_ l); rewrite mem_index_enum => /(_ isT) /=.
by rewrite subr_eq0 => /eqP.
Qed.

Lemma not_more k' : (0 < k')%N -> v m U k'.+1 < v m U k' -> above (v m U k') + at_T (v m U k') <= k'%:R.
Proof.
move=> k'0 gap; rewrite /above /at_T !indicator -big_split /=.
rewrite (eq_bigr (fun l => if v m U k' <= U * (m l)%:R then 1 else 0 : R)); last first.
  by move=> l _; rewrite ?inE; case: (ltgtP (v m U k') (U * (m l)%:R)); rewrite ?addr0 ?add0r.
rewrite (sum_over_sorted m (fun j => if v m U k' <= U * j%:R then 1 else 0)).
apply: (@le_trans _ _ (\sum_(i < L) weight k'%:R i)); last first.
  by rewrite weight_sum ?ler0n // le_minl lexx orbT.
apply: ler_sum => i _; case: (ltnP i k') => ik.
  rewrite /weight; have : i.+1%:R <= k'%:R :> R by rewrite ler_nat.
  by rewrite -addn1 natrD => ik'; case: ifP => _; minmax; linear.
rewrite ifF ?weight_ge0 //; apply/negbTE; rewrite -ltNge; apply: le_lt_trans gap.
by apply: ler_wpmul2l; rewrite ?(ltW U0) // ler_nat nth_count_mono.
Qed.

(* begin thm-multipliers-others *)
(* The same multipliers belong to every other minimiser, S in [v (k + 1), v k] if 2 / eps = k <= L. *)
Theorem other_minimisers (S : R) : 2 / eps = k%:R -> (k <= L)%N -> v m U k.+1 <= S <= v m U k ->
  feasible (best_alpha S) S
  /\ KKT (best_alpha S) S (repaired_lambda T) (fun l => 1 - 2 * repaired_lambda T l)
       (repaired_lambdaS T).
(* end thm-multipliers-others *)
Proof.
move=> xk kL /andP [vS ST]; rewrite -/T in ST.
have S0 : 0 <= S by apply: le_trans vS; rewrite mulr_ge0 ?ler0n ?(ltW U0).
have T0 : 0 < T by rewrite mulr_gt0 // ltr0n count_pos // prednK.
split; first by split=> [l|l|] //; rewrite /best_alpha; minmax; linear.
have [_ [signs sum_lam lam_mu [sS s1 s2]]] := thm_multipliers.
have half l : U * (m l)%:R = T -> S < T -> repaired_lambda T l = 1 / 2.
  move=> lT lt; have le_k : above T + at_T T <= k%:R by apply: not_more => //; exact: le_lt_trans lt.
  have : ~~ (r < 1 / 2) by rewrite share_half // -leNgt xk.
  rewrite -leNgt => h; have [[l0 mu0 _] _ _ _] := proj2 thm_multipliers.
  by have := mu0 l; rewrite repaired_lambdaE // lT ltxx eqxx => h2; linear.
have below l : U * (m l)%:R < T -> U * (m l)%:R <= S.
  move=> lt; apply: le_trans vS; apply: ler_wpmul2l; rewrite ?(ltW U0) // ler_nat.
  have : m l \in sort geq [seq m l | l <- enum 'I_L] by rewrite mem_sort map_f ?mem_enum.
  case/(nthP 0%N) => i iL ci; rewrite -ci; apply: (nth_count_mono m) => /=.
  rewrite leqNgt; apply/negP => ik; move: lt; rewrite ltNge; move/negP; apply.
  apply: ler_wpmul2l; rewrite ?(ltW U0) // ler_nat -ci; apply: (nth_count_mono m).
  by rewrite -ltnS prednK.
have flat l : S <= U * (m l)%:R -> U * (m l)%:R - 2 * best_alpha S l - S = 0.
  by move=> h; rewrite /best_alpha max_l; linear.
have none l : U * (m l)%:R <= S -> best_alpha S l = 0.
  by move=> h; rewrite /best_alpha max_r //; linear.
have zero (x : R) : x = 1 / 2 -> 1 - 2 * x = 0 by move=> ->; linear.
split=> //; split=> [|l|l].
- by rewrite /repaired_lambdaS gt_eqF // mul0r.
- case: (ltgtP (U * (m l)%:R) T) => lT.
  + by rewrite repaired_lambdaE // ltNge (ltW lT) (lt_eqF lT) mul0r.
  + by rewrite flat ?mulr0 // (le_trans ST) // ltW.
  + by rewrite flat ?mulr0 // lT.
- case: (ltgtP (U * (m l)%:R) T) => lT.
  + by rewrite none ?mulr0 //; exact: below.
  + by rewrite zero ?mul0r // repaired_lambdaE // lT.
  + case: (ltP S T) => lt; first by rewrite zero ?mul0r // half.
    by rewrite none ?mulr0 // lT.
Qed.

(* begin err-multipliers *)
(* The printed multipliers fail whenever T > 0, whatever the others are. *)
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

(* begin thm-dual *)
(* The dual of (8) is a fractional knapsack: every filling bounds the cost of every feasible point from
   below, the best filling is worth U / 2 H (2 / eps), which is N E_OPT, and some point has this cost. *)
Theorem thm_dual :
  let filling lambda := (forall l, 0 <= lambda l <= 1 / 2) /\ \sum_l lambda l <= 1 / eps in
  let worth lambda := \sum_l lambda l * (U * (m l)%:R) in
  [/\ forall lambda alpha S, filling lambda -> feasible alpha S -> worth lambda <= h alpha S,
      exists2 lambda, filling lambda & worth lambda = U / 2 * sum_of_largest m (2 / eps),
      forall lambda, filling lambda -> worth lambda <= U / 2 * sum_of_largest m (2 / eps),
      exists alpha S, feasible alpha S /\ h alpha S = U / 2 * sum_of_largest m (2 / eps)
    & U / 2 * sum_of_largest m (2 / eps) = N R m * E_OPT m U eps].
(* end thm-dual *)
Proof.
move=> filling worth; have [feas kkt] := thm_multipliers.
have value : h (best_alpha T) T = U / 2 * sum_of_largest m (2 / eps).
  have := sum_largest_eq m (ltW U0) x0 kc; rewrite /= -/(v m U k) -/T => e.
  have -> : U / 2 * sum_of_largest m (2 / eps) = U * sum_of_largest m (2 / eps) / 2 by linear.
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
- by exists (best_alpha T), T.
case: (posnP (\sum_l m l)) => N0; last by rewrite /E_OPT; field; rewrite pnatr_eq0 -lt0n.
rewrite /sum_of_largest /N N0 mul0r big1 ?mulr0 // => i _; have := m0 i.
by move/eqP: N0; rewrite sum_nat_eq0 => /forallP /(_ i) /eqP ->.
Qed.

End LinearProgram.
