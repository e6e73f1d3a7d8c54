(* The lower bounds for the reals: mechanisms are probability measures, private in every event. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.analysis Require Import reals sequences exp.
From UserDP Require Import definitions linear exponential certificate chain chain_factor lattice minimax factor envelope staircase reals.measures.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Bounds.
Variables (R : realType) (L : nat) (m : 'I_L -> nat) (U eps : R).
Hypothesis U0 : 0 < U.
Hypothesis eps0 : 0 < eps.
Hypothesis Npos : (0 < \sum_l m l)%N.
Notation q := (expR eps).

Let q1 : 1 < q. Proof. by rewrite expR_gt1. Qed.
Let U_ge0 : 0 <= U. Proof. exact: ltW. Qed.

(* begin thm-chain thm-minimax *)
(* The chain of users. *)
Theorem chain_for_reals n : (0 < n <= L)%N ->
  real_minimax_risk_at_least m U eps
    (U / N R m * (sum_of_largest m (n%:R : R) / (1 + cosh_log q + n%:R * sinh_log q))).
(* end thm-chain thm-minimax *)
Proof. by move=> nL; apply/bounds_hold_for_measures/thm_chain. Qed.

(* begin cor-chain *)
(* So the error of the optimal strategy is at most K (eps) times the minimax risk. *)
Theorem factor_K_for_reals :
  real_minimax_risk_at_least m U eps (E_OPT m U eps / ((1 + cosh_log q) / 2 + sinh_log q / eps)).
(* end cor-chain *)
Proof. exact/bounds_hold_for_measures/cor_chain. Qed.

(* begin thm-minimax *)
(* A group of n users is one user with n times the budget, whose bound is that of the lattice. *)
Theorem lattice_for_reals n k : (0 < n <= L)%N -> (2 <= k)%N -> 1 / k.+1%:R <= s (expR (n%:R * eps)) k ->
  (forall j, (2 <= j < k)%N -> s (expR (n%:R * eps)) j < 1 / j.+1%:R) ->
  real_minimax_risk_at_least m U eps (U / N R m * (sum_of_largest m (n%:R : R) * s (expR (n%:R * eps)) k)).
(* end thm-minimax *)
Proof.
rewrite expRMm => nL k2 sk least; apply/bounds_hold_for_measures.
by have [_] := thm_minimax U0 q1 Npos nL; apply.
Qed.

(* begin thm-certificate *)
(* A certificate: for all weights, loads and factors Q, the costs mu bound the risk from below. *)
Theorem certificate_for_reals (G V B K : finType) (group : B -> G) (block : 'I_L -> option B) (k : G -> nat)
    (level : G -> V -> R) (stands : K -> B -> V)
    (weight mu : K -> R) (load : K -> K -> R -> R) (Q : K -> K -> R) :
  let f := mean_of m group level stands in
  (forall b, #|[pred l | block l == Some b]| = k (group b)) ->
  (forall b v, 0 <= level (group b) v <= U * (samples_in m block b)%:R) ->
  (forall c, 0 <= weight c) -> 0 < \sum_c weight c -> (forall c d e, 0 <= load c d (f e)) ->
  (forall c d, expR ((apart group k stands c d)%:R * eps) <= Q c d) ->
  (forall c e, mu c <= weight c * `|f c - f e| + \sum_d load c d (f e) - \sum_d Q d c * load d c (f e)) ->
  real_minimax_risk_at_least m U eps ((\sum_c mu c) / \sum_c weight c).
(* end thm-certificate *)
Proof.
move=> f sizes reached w0 W0 load0 Qq least; apply/bounds_hold_for_measures.
by apply: (thm_certificate U_ge0 q1 sizes reached w0 W0 load0) least => c d; rewrite -expRMm.
Qed.

(* begin thm-factor-reals *)
(* The factors of the strategy, with Laplace noise up to the budget 7/2, and with staircase noise, whose
   mean absolute value at sensitivity 1 is 1 / (2 sinh (eps / 2)), at every budget. *)
Theorem factors_for_reals :
  [/\ eps <= 1 -> real_minimax_risk_at_least m U eps (E_OPT m U eps / (245 / 100)),
      eps <= 5 / 2 -> real_minimax_risk_at_least m U eps (E_OPT m U eps / (261 / 100)),
      eps <= 3 -> real_minimax_risk_at_least m U eps (E_OPT m U eps / (267 / 100)),
      eps <= 7 / 2 -> real_minimax_risk_at_least m U eps (E_OPT m U eps / (291 / 100))
    & real_minimax_risk_at_least m U eps
        (optimal_error m U (1 / sinh_log (expR (eps / 2))) / (242 / 100))].
(* end thm-factor-reals *)
Proof.
have [e1 e2 e3 e4] := thm_factor_numbers (real_exponential R) U0 eps0 Npos.
split=> [/e1|/e2|/e3|/e4|]; try exact: bounds_hold_for_measures.
apply/bounds_hold_for_measures; have -> : expR eps = expR (eps / 2) ^+ 2.
  by rewrite expr2 -expRD; congr expR; linear.
apply: thm_factor_staircase => //; first by rewrite expR_gt1 divr_gt0 ?ltr0n.
by exists (Num.bound (expR (eps / 2))); apply/ltW/archi_boundP/ltW/expR_gt0.
Qed.

(* begin thm-factor-reals *)
(* With staircase noise the factor F exists, is below 2.42, and the error is at most F times the minimax
   risk. *)
Theorem factor_F_for_reals : let x : R := 1 / sinh_log (expR (eps / 2)) in
  exists F, [/\ is_factor q x F, F < 242 / 100 & real_minimax_risk_at_least m U eps (optimal_error m U x / F)].
(* end thm-factor-reals *)
Proof.
have h1 : 1 < expR (eps / 2) by rewrite expR_gt1 divr_gt0 ?ltr0n.
have archi (y : R) : exists K : nat, y <= K%:R.
  exists (Num.bound `|y|); apply: le_trans (ler_norm y) _; exact/ltW/archi_boundP/normr_ge0.
have qE : q = expR (eps / 2) ^+ 2 by rewrite expr2 -expRD; congr expR; linear.
have [F hF] := thm_factor_exists q1 (ltW (divr_gt0 ltr01 (sinh_gt0 h1))) archi.
exists F; split=> //; first by apply: (thm_factor_stairs h1 (archi _)); rewrite -qE.
exact/bounds_hold_for_measures/thm_factor_envelope.
Qed.
End Bounds.

Section OneUser.
Variables (R : realType) (eps : R).
Hypothesis eps0 : 0 < eps.
Notation q := (expR eps).
Let q1 : 1 < q. Proof. by rewrite expR_gt1. Qed.

(* begin lem-prior *)
(* One user with one sample in [0, 1]: the lower bound that a prior gives. *)
Theorem prior_for_reals (K : finType) (theta weight : K -> R) (r : R) :
  (forall i, 0 <= theta i <= 1) -> (forall i, 0 <= weight i) -> 0 < \sum_i weight i ->
  (forall y, 0 <= y <= 1 ->
     0 <= \sum_i weight i * Num.min (`|theta i - y| - r) (q * (`|theta i - y| - r))) ->
  real_minimax_risk_at_least (fun _ : 'I_1 => 1%N) 1 eps r.
(* end lem-prior *)
Proof. by move=> t01 w0 W0 cert; apply/bounds_hold_for_measures/(lem_prior q1 t01 w0 W0). Qed.

(* begin thm-lattice *)
(* The lower bound of the lattice, and that there is such an n. *)
Theorem one_user_for_reals :
  (forall n, (1 < n)%N -> 1 / n.+1%:R <= s q n -> (forall k, (1 < k < n)%N -> s q k < 1 / k.+1%:R) ->
     real_minimax_risk_at_least (fun _ : 'I_1 => 1%N) 1 eps (s q n))
  /\ exists2 n, (1 < n)%N & 1 / n.+1%:R <= s q n.
(* end thm-lattice *)
Proof.
split=> [n n1 sn least|]; first by apply/bounds_hold_for_measures/(thm_lattice q1).
apply: (lattice_exists q1); have g : 0 <= 3 * (q - 1) by rewrite mulr_ge0 ?ler0n ?subr_ge0 ?ltW.
have K := ltW (archi_boundP g); exists (Num.bound (3 * (q - 1))); apply: le_trans K _.
by rewrite ler_pemull ?ler0n ?ler1n.
Qed.
End OneUser.
