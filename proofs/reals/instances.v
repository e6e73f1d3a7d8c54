(* What the sections assume can hold: three users with 4, 2 and 1 samples in [0, 65], eps = 4/5. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From mathcomp.analysis Require Import reals.
From UserDP Require Import definitions reals.bounds.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Instances.
Variable R : realType.
Definition m (l : 'I_3) : nat := (nth 0 [:: 4; 2; 1] l)%N.
Definition U : R := 65%:R.
Definition eps : R := 4%:R / 5%:R.

Lemma U0 : 0 < U. Proof. by rewrite ltr0n. Qed.
Lemma eps0 : 0 < eps. Proof. by rewrite divr_gt0 ?ltr0n. Qed.
Lemma Npos : (0 < \sum_l m l)%N. Proof. by rewrite !big_ord_recl big_ord0. Qed.

Definition certificate_for_reals := @UserDP.reals.bounds.certificate_for_reals R 3 m U eps U0 eps0.
Definition chain_for_reals := @UserDP.reals.bounds.chain_for_reals R 3 m U eps U0 eps0 Npos.
Definition factor_K_for_reals := @UserDP.reals.bounds.factor_K_for_reals R 3 m U eps U0 eps0 Npos.
Definition lattice_for_reals := @UserDP.reals.bounds.lattice_for_reals R 3 m U eps U0 eps0 Npos.
Definition factors_for_reals := @UserDP.reals.bounds.factors_for_reals R 3 m U eps U0 eps0 Npos.
Definition factor_F_for_reals := @UserDP.reals.bounds.factor_F_for_reals R 3 m U eps U0 eps0 Npos.
Definition prior_for_reals := @UserDP.reals.bounds.prior_for_reals R eps eps0.
Definition one_user_for_reals := @UserDP.reals.bounds.one_user_for_reals R eps eps0.
End Instances.
