(* The smallest examples of the page of errata, in exact arithmetic, from the definitions. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts lemma kkt.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Examples.
Variable R : realFieldType.

(* One user with two samples, or with one; two users with two samples and one. *)
(* begin def-examples *)
Definition one_user (n : nat) (l : 'I_1) : nat := n.
Definition m21 (l : 'I_2) : nat := (if l == ord0 then 2 else 1)%N.
(* (12) as printed: each user's bias divided by 2 m_l, and the minimum T or least count in the noise. *)
Definition printed_12 (L : nat) (m : 'I_L -> nat) (least : nat) (eps T : R) : R :=
  (\sum_l Num.max (((m l)%:R - T) / (2 * (m l)%:R)) 0 + Num.min T least%:R / eps) / N R m.
(* end def-examples *)

Lemma sorted1 n : sort geq [seq one_user n l | l <- enum 'I_1] = [:: n].
Proof.
have -> : enum 'I_1 = [:: ord0] by apply: (inj_map val_inj); rewrite val_enum_ord.
by [].
Qed.

Lemma sorted21 : sort geq [seq m21 l | l <- enum 'I_2] = [:: 2; 1]%N.
Proof.
have -> : enum 'I_2 = [:: ord0; ord_max] by apply: (inj_map val_inj); rewrite val_enum_ord.
by [].
Qed.

Lemma N1 n : N R (one_user n) = n%:R. Proof. by rewrite /N big_ord_recl big_ord0 addn0. Qed.
Lemma N21 : N R m21 = 3%:R. Proof. by rewrite /N !big_ord_recl big_ord0. Qed.

(* Lemma III.1: one user with two samples, intervals {1} and {0}, U = 1.  Printed 1, true 1/2. *)
(* begin err-lemma *)
Theorem err_lemma :
  let a : dataset R (one_user 2) := fun l j => if j == ord0 then 1 else 0 in
  printed_bias 1 a a = 1 /\ is_worst_case_bias 1 (clipped_mean a a) (1 / 2).
(* end err-lemma *)
Proof.
move=> a; have cl : is_clipping 1 a a by move=> l j; rewrite /a; case: ifP; rewrite !lexx ler01.
split; first by rewrite /printed_bias N1 !big_ord_recl !big_ord0 /a /=; minmax; linear.
have := bias_of_clipped_mean cl; rewrite N1 !big_ord_recl !big_ord0 /a /=.
by rewrite (_ : Num.max _ _ / _ = 1 / 2) //; minmax; linear.
Qed.

(* The remark after it: one sample, sent to U = 1.  With the sample at U there is no bias; the worst
   dataset is the other one. *)
(* begin err-worst *)
Theorem err_worst :
  let a : dataset R (one_user 1) := fun _ _ => 1 in
  `|mean a - clipped_mean a a a| = 0 /\ is_worst_case_bias 1 (clipped_mean a a) 1.
(* end err-worst *)
Proof.
move=> a; have cl : is_clipping 1 a a by move=> l j; rewrite /a !lexx ler01.
split; first by rewrite mean_sub_clipped N1 !big_ord_recl !big_ord0 /a /clip /= maxxx minxx subrr !addr0 mul0r normr0.
have := bias_of_clipped_mean cl; rewrite N1 !big_ord_recl !big_ord0 /a /=.
by rewrite divr1 (_ : Num.max _ _ = 1) //; minmax; linear.
Qed.

(* The multipliers: one user, one sample, eps = 2.  With the printed ones slackness fails. *)
(* begin err-multipliers-example *)
Theorem err_multipliers_example :
  v (one_user 1) 1 1 = 1 :> R
  /\ forall mu lambdaS, ~ KKT (one_user 1) 1 2 (best_alpha (one_user 1) 1 1) (1 : R)
       (printed_lambda (one_user 1) 1 1) mu lambdaS.
(* end err-multipliers-example *)
Proof.
have vE : v (one_user 1) 1 1 = 1 :> R by rewrite /v /nth_count sorted1 /= mulr1.
have e0 : 0 < 2 :> R by rewrite ltr0n.
have kc : is_ceil 1 (2 / 2 : R) by rewrite /is_ceil divff ?pnatr_eq0 // subrr ltr01.
split=> // mu lambdaS; have := @printed_multipliers_fail R 1 (one_user 1) 1 2 e0 ltr01 1 kc.
by rewrite vE; apply; exact: ltr01.
Qed.

(* (12): counts (2), eps = 1, where T = 0: printed 1/4, true 1/2; counts (2, 1), eps = 2, where T = 2:
   printed 1/6, true 1/3. *)
(* begin err-twelve *)
Theorem err_twelve :
  [/\ v (one_user 2) 1 2 = 0 :> R, E_OPT (one_user 2) 1 1 = 1 / 2 :> R
    & printed_12 (one_user 2) 2 1 0 = 1 / 4%:R :> R]
  /\ [/\ v m21 1 1 = 2 :> R, E_OPT m21 1 2 = 1 / 3 :> R & printed_12 m21 1 2 2 = 1 / 6 :> R].
(* end err-twelve *)
Proof.
split; split.
- by rewrite /v /nth_count sorted1 mulr0.
- rewrite /E_OPT M_all ?N1; first by field.
  by rewrite divr1 ler_nat.
- rewrite /printed_12 N1 !big_ord_recl big_ord0 /one_user divr1.
  have i4 : (2 * 2)^-1 = 4%:R^-1 :> R by rewrite -natrM.
  by rewrite i4 subr0; minmax; linear.
- by rewrite /v /nth_count sorted21 /= mul1r.
- by rewrite /E_OPT N21 divff ?pnatr_eq0 // M_first ?lexx ?ler01 // /nth_count sorted21 /=; field.
- rewrite /printed_12 N21 !big_ord_recl big_ord0 /m21 /=.
  have i4 : (2 * 2)^-1 = 4%:R^-1 :> R by rewrite -natrM.
  by rewrite i4 mulr1; minmax; linear.
Qed.

(* The proof of Lemma III.2, first gap: its step turns [4/5, 9/10] into [4/5, 1/5], U = 1. *)
(* begin err-symmetric *)
Theorem err_symmetric : let a : R := 4 / 5%:R in let b : R := 9%:R / 10%:R in
  [/\ 0 <= a, a <= b, b <= 1 & b - (a + b - 1) < a].
(* end err-symmetric *)
Proof. by move=> a b; rewrite /a /b; split; linear. Qed.

(* E_OPT never rises with eps, but its noise term can: counts (2, 1), eps = 19/10 and 2. *)
(* begin err-monotone *)
Theorem err_monotone :
  [/\ is_ceil 2 (2 / (19%:R / 10%:R) : R), is_ceil 1 (2 / 2 : R)
    & v m21 1 2 / (19%:R / 10%:R) / N R m21 < v m21 1 1 / 2 / N R m21].
(* end err-monotone *)
Proof.
have e : 2 / (19%:R / 10%:R) = 20%:R / 19%:R :> R by rewrite invf_div mulrA -natrM.
rewrite e divff ?pnatr_eq0 // /is_ceil N21 /v /nth_count sorted21 /= !mul1r invf_div.
by split; [split | split |]; linear.
Qed.

End Examples.
