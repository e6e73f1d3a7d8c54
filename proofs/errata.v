(* The smallest examples of the page of errata, in exact arithmetic, from the definitions. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts frontier lemma optimum kkt chain exponential akmv densities line noise thresholds release release_error.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Examples.
Variable R : realFieldType.

(* begin def-examples *)
(* One user with two samples, or with one; two users with one sample each, with two and one, or with
   four and one; three users with 3, 1 and 1. *)
Definition one_user (n : nat) (l : 'I_1) : nat := n.
Definition m11 (l : 'I_2) : nat := 1%N.
Definition m21 (l : 'I_2) : nat := (if l == ord0 then 2 else 1)%N.
Definition m41 (l : 'I_2) : nat := (if l == ord0 then 4 else 1)%N.
Definition m311 (l : 'I_3) : nat := (if l == ord0 then 3 else 1)%N.
(* (12) as printed: each user's bias divided by 2 m_l, and the smaller of T and the least count in the
   noise. *)
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

(* begin err-lemma lem-printed *)
(* Lemma III.1: one user with two samples, intervals {1} and {0}, U = 1.  Printed 1, true 1/2. *)
Theorem err_lemma :
  let a : dataset R (one_user 2) := fun l j => if j == ord0 then 1 else 0 in
  printed_bias 1 a a = 1 /\ is_worst_case_bias 1 (clipped_mean a a) (1 / 2).
(* end err-lemma lem-printed *)
Proof.
move=> a; have cl : is_clipping 1 a a by move=> l j; rewrite /a; case: ifP; rewrite !lexx ler01.
split; first by rewrite /printed_bias N1 !big_ord_recl !big_ord0 /a /=; minmax; linear.
have := bias_of_clipped_mean cl; rewrite N1 !big_ord_recl !big_ord0 /a /=.
by rewrite (_ : Num.max _ _ / _ = 1 / 2) //; minmax; linear.
Qed.

(* begin err-worst *)
(* The remark after it: one sample, clipped to {1}, with U = 1.  With the sample at U there is no bias; the
   worst dataset has the sample at 0. *)
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

(* begin err-multipliers-example *)
(* The multipliers: one user, one sample, eps = 2.  With the printed lambda the conditions fail, whatever
   the other multipliers are. *)
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

(* begin err-twelve *)
(* (12): counts (2), eps = 1, where T = 0: printed 1/4, true 1/2; counts (2, 1), eps = 2, where T = 2:
   printed 1/6, true 1/3. *)
Theorem err_twelve :
  [/\ v (one_user 2) 1 2 = 0 :> R, E_OPT (one_user 2) 1 1 = 1 / 2 :> R
    & printed_12 (one_user 2) 2 1 0 = 1 / 4%:R :> R]
  /\ [/\ v m21 1 1 = 2 :> R, E_OPT m21 1 2 = 1 / 3 :> R & printed_12 m21 1 2 2 = 1 / 6 :> R].
(* end err-twelve *)
Proof.
split; split.
- by rewrite /v /nth_count sorted1 mulr0.
- rewrite /E_OPT sum_largest_all ?N1; first by field.
  by rewrite divr1 ler_nat.
- rewrite /printed_12 N1 !big_ord_recl big_ord0 /one_user divr1.
  have i4 : (2 * 2)^-1 = 4%:R^-1 :> R by rewrite -natrM.
  by rewrite i4 subr0; minmax; linear.
- by rewrite /v /nth_count sorted21 /= mul1r.
- by rewrite /E_OPT N21 divff ?pnatr_eq0 // sum_largest_first ?lexx ?ler01 // /nth_count sorted21 /=; field.
- rewrite /printed_12 N21 !big_ord_recl big_ord0 /m21 /=.
  have i4 : (2 * 2)^-1 = 4%:R^-1 :> R by rewrite -natrM.
  by rewrite i4 mulr1; minmax; linear.
Qed.

(* begin err-symmetric *)
(* The proof of Lemma III.2, first gap: its step turns [4/5, 9/10] into [4/5, 1/5], U = 1. *)
Theorem err_symmetric : let a : R := 4 / 5%:R in let b : R := 9%:R / 10%:R in
  [/\ 0 <= a, a <= b, b <= 1 & b - (a + b - 1) < a].
(* end err-symmetric *)
Proof. by move=> a b; rewrite /a /b; split; linear. Qed.

(* begin err-symmetric-noise *)
(* Second gap: two users with one sample each, and [1/4, 1].  The step turns the first interval into
   [1/4, 3/4]; neither the printed bias nor the largest width falls. *)
Theorem err_symmetric_noise :
  let a : dataset R m11 := fun _ _ => 1 / 4%:R in
  let b : dataset R m11 := fun _ _ => 1 in
  let b' : dataset R m11 := fun l j => if l == ord0 then b l j - (a l j + b l j - 1) else b l j in
  [/\ printed_bias 1 a b = 1 / 4%:R, printed_bias 1 a b' = 1 / 4%:R,
      is_largest_width a b (3%:R / 4%:R) & is_largest_width a b' (3%:R / 4%:R)].
(* end err-symmetric-noise *)
Proof.
move=> a b b'.
have N11 : N R m11 = 2 by rewrite /N !big_ord_recl big_ord0.
have width_b l : width a b l = 3%:R / 4%:R by rewrite /width big_ord_recl big_ord0 /a /b; linear.
have width_b' l : width a b' l <= 3%:R / 4%:R.
  by rewrite /width big_ord_recl big_ord0 /b' /a /b; case: ifP => _; linear.
split.
- by rewrite /printed_bias N11 !big_ord_recl !big_ord0 /a /b; minmax; linear.
- by rewrite /printed_bias N11 !big_ord_recl !big_ord0 /b' /a /b /=; minmax; linear.
- by split=> [|l _]; [exists ord0 | rewrite width_b].
- split=> // ; exists ord_max => //.
  by rewrite /width big_ord_recl big_ord0 /b' /a /b /=; linear.
Qed.

(* begin err-symmetric-instead *)
(* Instead: the width of an interval bounds its bias from below, wherever it lies. *)
Theorem err_symmetric_instead (U a b : R) :
  (U - (b - a)) / 2 <= Num.max a (U - b) /\ (Num.max a (U - b) = (U - (b - a)) / 2 <-> a + b = U).
(* end err-symmetric-instead *)
Proof. by split; [minmax; linear | split=> h; minmax; linear]. Qed.

(* begin err-monotone *)
(* E_OPT never rises with eps, but its noise term can: counts (2, 1), eps = 19/10 and 2. *)
Theorem err_monotone :
  [/\ is_ceil 2 (2 / (19%:R / 10%:R) : R), is_ceil 1 (2 / 2 : R)
    & v m21 1 2 / (19%:R / 10%:R) / N R m21 < v m21 1 1 / 2 / N R m21].
(* end err-monotone *)
Proof.
have e : 2 / (19%:R / 10%:R) = 20%:R / 19%:R :> R by rewrite invf_div mulrA -natrM.
rewrite e divff ?pnatr_eq0 // /is_ceil N21 /v /nth_count sorted21 /= !mul1r invf_div.
by split; [split | split |]; linear.
Qed.

Lemma enum1 : enum 'I_1 = [:: ord0].
Proof. by apply: (inj_map val_inj); rewrite val_enum_ord. Qed.

Lemma enum2 : enum 'I_2 = [:: ord0; ord_max].
Proof. by apply: (inj_map val_inj); rewrite val_enum_ord. Qed.

Lemma enum3 : enum 'I_3 = [:: ord0; lift ord0 ord0; ord_max].
Proof. by apply: (inj_map val_inj); rewrite val_enum_ord. Qed.

Lemma N41 : N R m41 = 5%:R. Proof. by rewrite /N !big_ord_recl big_ord0. Qed.
Lemma N311 : N R m311 = 5%:R. Proof. by rewrite /N !big_ord_recl big_ord0. Qed.

(* AKMV's error, from the bound and the sums in order: t 0 = V, t 1, ... *)
Lemma akmv_in_order (L : nat) (m : 'I_L -> nat) (s : 'I_L -> R) (u : seq R) (V eps q : R) (k : nat) :
  [seq s l | l <- enum 'I_L] = u -> sorted >=%O u ->
  let t i := nth 0 (V :: u) i in
  let w n := (t n - t n.+1) * q ^+ (n - k + (k - n)) in
  akmv_error m s V eps q k
  = (\sum_(0 <= n < L.+1) w n * ((error_at m s eps (t n.+1) + error_at m s eps (t n)) / 2))
    / \sum_(0 <= n < L.+1) w n.
Proof.
move=> su sorted_u t w; have tE i : nth_sum s V i = t i.
  by rewrite /nth_sum su (sorted_sort ge_trans).
rewrite !big_mkord mulr_suml; apply: eq_bigr => n _.
rewrite /cell_prob mulrAC /cell_mean /cell_weight /cell_lo /cell_hi !tE; congr (_ / _).
by apply: eq_bigr => i _; rewrite !tE.
Qed.

Lemma sum2 (F : nat -> R) : \sum_(0 <= n < 2) F n = F 0%N + F 1%N.
Proof. by rewrite !big_nat_recr //= big_geq // add0r. Qed.
Lemma sum3 (F : nat -> R) : \sum_(0 <= n < 3) F n = F 0%N + F 1%N + F 2%N.
Proof. by rewrite big_nat_recr //= sum2. Qed.
Lemma sum4 (F : nat -> R) : \sum_(0 <= n < 4) F n = F 0%N + F 1%N + F 2%N + F 3%N.
Proof. by rewrite big_nat_recr //= sum3. Qed.

(* begin err-akmv-worst *)
(* All samples at U is not AKMV's worst dataset: counts (4, 1), U = 1, eps = 1/10, rank 20.  With the
   light user's sample at 0 the error is larger.  q is exp (- 1/40), of which only 1 + x <= exp x is used. *)
Theorem err_akmv_worst (q : R) : 0 < q -> (1 + 1 / 40%:R) * q <= 1 ->
  let eps := 1 / 10%:R in
  let light_at_0 (l : 'I_2) : R := if l == ord0 then 4%:R else 0 in
  [/\ is_ceil 20 (2 / eps : R), akmv_error m41 light_at_0 4%:R eps q 20 = 42%:R / 5%:R
    & akmv_error m41 (all_U m41 1) 4%:R eps q 20 < 42%:R / 5%:R].
(* end err-akmv-worst *)
Proof.
move=> q0 q1 eps s; have e : 2 / eps = 20%:R by rewrite /eps invf_div divr1 -natrM.
have z : 0 < q ^+ 18 by exact: exprn_gt0.
have z1 : q ^+ (1 - 20 + (20 - 1)) = q * q ^+ 18 by rewrite -exprS.
have z2 : q ^+ (2 - 20 + (20 - 2)) = q ^+ 18 by [].
have err t u : error_at m41 u eps t = (Num.max (u ord0 - t) 0 + Num.max (u ord_max - t) 0 + 20%:R * t) / 5%:R.
  by rewrite /error_at N41 e !big_ord_recl big_ord0 addr0 (_ : lift _ _ = ord_max) //; apply: val_inj.
split; first by rewrite e /is_ceil; clear; split; linear.
- have o : [seq s l | l <- enum 'I_2] = [:: 4%:R; 0] by rewrite enum2.
  have so : sorted >=%O [:: 4%:R; 0 : R] by rewrite /= ler0n.
  rewrite (akmv_in_order _ _ _ _ _ o so) !sum3 /nth z1 z2.
  have -> : error_at m41 s eps 4%:R = 16%:R by rewrite err /s /=; clear; minmax; linear.
  have -> : error_at m41 s eps 0 = 4%:R / 5%:R by rewrite err /s /=; clear; minmax; linear.
  have W : 0 < q * q ^+ 18 by rewrite mulr_gt0.
  apply: (canLR (mulfK _)); rewrite ?gt_eqF //; clear -W; linear.
- have [a0 a1] : all_U m41 1 ord0 = 4%:R :> R /\ all_U m41 1 ord_max = 1 :> R by rewrite /all_U !mul1r.
  have o : [seq all_U m41 1 l | l <- enum 'I_2] = [:: 4%:R; 1 : R] by rewrite enum2 /= a0 a1.
  have so : sorted >=%O [:: 4%:R; 1 : R] by rewrite /= ler1n.
  rewrite (akmv_in_order _ _ _ _ _ o so) !sum3 /nth z1 z2.
  have -> : error_at m41 (all_U m41 1) eps 4%:R = 16%:R by rewrite err a0 a1; clear; minmax; linear.
  have -> : error_at m41 (all_U m41 1) eps 1 = 23%:R / 5%:R by rewrite err a0 a1; clear; minmax; linear.
  have -> : error_at m41 (all_U m41 1) eps 0 = 1 by rewrite err a0 a1; clear; minmax; linear.
  have W : 0 < q * q ^+ 18 by rewrite mulr_gt0.
  have h := ler_wpmul2r (ltW z) q1; set Z := q ^+ 18 in z W h *; rewrite subrr !mul0r !add0r.
  by rewrite ltr_pdivr_mulr; clear -W z h; linear.
Qed.

(* begin err-akmv-monotone *)
(* AKMV's error is not monotone: counts (3, 1, 1), U = 1, all samples at U.  From eps = 99/100, rank 3,
   to eps = 1, rank 2, it grows.  q is exp (- 99/400), of which only 1 + x <= exp x is used; q' is
   exp (- 1/4), of which nothing is. *)
Theorem err_akmv_monotone (q q' : R) : 0 < q -> (1 + 99%:R / 400%:R) * q <= 1 -> 0 < q' ->
  let eps := 99%:R / 100%:R in
  [/\ is_ceil 3 (2 / eps : R), is_ceil 2 (2 / 1 : R)
    & akmv_error m311 (all_U m311 1) 3%:R eps q 3 < akmv_error m311 (all_U m311 1) 3%:R 1 q' 2].
(* end err-akmv-monotone *)
Proof.
move=> q0 q1 q'0 eps; have e : 2 / eps = 200%:R / 99%:R by rewrite /eps invf_div mulrA -natrM.
split; [by rewrite e /is_ceil; clear; split; linear | by rewrite divr1 /is_ceil; clear; split; linear |].
have [a0 a1 a2] : [/\ all_U m311 1 ord0 = 3%:R :> R, all_U m311 1 (lift ord0 ord0) = 1 :> R
    & all_U m311 1 ord_max = 1 :> R] by rewrite /all_U !mul1r.
have o : [seq all_U m311 1 l | l <- enum 'I_3] = [:: 3%:R; 1; 1 : R] by rewrite enum3 /= a0 a1 a2.
have so : sorted >=%O [:: 3%:R; 1; 1 : R] by rewrite /= lexx ler1n.
have err (eps' t : R) : error_at m311 (all_U m311 1) eps' t
    = (Num.max (3%:R - t) 0 + 2 * Num.max (1 - t) 0 + 2 / eps' * t) / 5%:R.
  rewrite /error_at N311 !big_ord_recl big_ord0 addr0 a0 a1 (_ : lift _ (lift _ _) = ord_max).
    by rewrite a2; clear; linear.
  exact: val_inj.
have z1 : q ^+ (1 - 3 + (3 - 1)) = q ^+ 2 by [].
have z3 : q ^+ (3 - 3 + (3 - 3)) = 1 by [].
have y1 : q' ^+ (1 - 2 + (2 - 1)) = q' by [].
rewrite !(akmv_in_order _ _ _ _ _ o so) !sum4 /nth !subrr !mul0r !add0r !addr0 z1 z3 !y1.
have -> : error_at m311 (all_U m311 1) eps 3%:R = 40%:R / 33%:R by rewrite err e; clear; minmax; linear.
have -> : error_at m311 (all_U m311 1) eps 1 = 398%:R / 495%:R by rewrite err e; clear; minmax; linear.
have -> : error_at m311 (all_U m311 1) eps 0 = 1 by rewrite err; clear; minmax; linear.
have -> : error_at m311 (all_U m311 1) (1 : R) 3%:R = 6%:R / 5%:R by rewrite err divr1; clear; minmax; linear.
have -> : error_at m311 (all_U m311 1) (1 : R) 1 = 4%:R / 5%:R by rewrite err divr1; clear; minmax; linear.
have -> : error_at m311 (all_U m311 1) (1 : R) 0 = 1 by rewrite err; clear; minmax; linear.
have Q : (1 + 99%:R / 400%:R) ^+ 2 * q ^+ 2 <= 1.
  by rewrite -exprMn expr_le1 ?mulr_ge0 // ltW // addr_gt0 ?ltr01 // divr_gt0 ?ltr0n.
have Q0 : 0 < q ^+ 2 by exact: exprn_gt0.
rewrite expr2 in Q; set Z := q ^+ 2 in Q Q0 *.
rewrite [ltRHS](_ : _ = 29%:R / 30%:R); last first.
  by apply: (canLR (mulfK _)); [rewrite gt_eqF //|]; clear -q'0; linear.
by rewrite ltr_pdivr_mulr; clear -Q Q0; linear.
Qed.

(* begin err-uniformly *)
(* "Uniformly better": one user, one sample of 1/10, U = 1, eps = 10.  The optimal strategy clips
   nothing, its error is its noise, 1/10, and AKMV's is smaller.  q is exp (- 5/2), of which only
   1 + x <= exp x is used.  And from eps = 2 on the optimal strategy always clips nothing. *)
Theorem err_uniformly (q : R) : 0 < q -> (1 + 5%:R / 2) * q <= 1 ->
  let tenth (l : 'I_1) : R := 1 / 10%:R in
  [/\ is_ceil 1 (2 / 10%:R : R), v (one_user 1) 1 1 / 10%:R / N R (one_user 1) = 1 / 10%:R
    & akmv_error (one_user 1) tenth 1 10%:R q 1 < 1 / 10%:R]
  /\ forall (L : nat) (m : 'I_L -> nat) (U eps : R), 0 <= U -> 2 <= eps ->
       is_ceil 1 (2 / eps) /\ forall x, in_range U x ->
         clipped_mean (sym_lo U (v m U 1)) (@sym_hi R L m U (v m U 1)) x = mean x.
(* end err-uniformly *)
Proof.
move=> q0 q1 s; split; last first.
  move=> L m U eps U0 eps2; have eps0 : 0 < eps by apply: lt_le_trans eps2; rewrite ltr0n.
  split; first by rewrite /is_ceil subrr divr_gt0 ?ltr0n // ler_pdivr_mulr // mul1r.
  by move=> x; apply: nothing_clipped => // l; apply: ler_wpmul2l; rewrite // ler_nat le_first_count.
split; first by rewrite /is_ceil; clear; split; linear.
  by rewrite N1 /v /nth_count sorted1 /= mulr1 divr1.
have o : [seq s l | l <- enum 'I_1] = [:: 1 / 10%:R] by rewrite enum1.
rewrite (akmv_in_order _ _ _ _ _ o isT) !sum2 /nth.
have err t : error_at (one_user 1) s 10%:R t = Num.max (1 / 10%:R - t) 0 + t / 5%:R.
  by rewrite /error_at N1 !big_ord_recl big_ord0 addr0 divr1 /s; congr (_ + _); linear.
have -> : error_at (one_user 1) s 10%:R (1 / 10%:R) = 1 / 50%:R by rewrite err; clear; minmax; linear.
have -> : error_at (one_user 1) s 10%:R 1 = 1 / 5%:R by rewrite err; clear; minmax; linear.
have -> : error_at (one_user 1) s 10%:R 0 = 1 / 10%:R by rewrite err; clear; minmax; linear.
have z0 : q ^+ (0 - 1 + (1 - 0)) = q by [].
have z1 : q ^+ (1 - 1 + (1 - 1)) = 1 by [].
rewrite z0 z1; clear -q0 q1.
by rewrite ltr_pdivr_mulr; linear.
Qed.

(* begin prp-akmv-can-win err-uniformly *)
(* The same for the mean absolute error of the mechanism of prop_akmv_private: at eps = 10, of which half is
   for the threshold, the optimal strategy with Laplace noise has the mean absolute error 1/10, and that of
   AKMV, if it exists, is smaller. *)
Theorem prp_akmv_can_win (exp : R -> R) (H : (R -> R) -> Prop) (J : (R -> R) -> R) :
  is_exponential exp -> is_line_integral H J ->
  let x : dataset R (one_user 1) := fun _ _ => 1 / 10%:R in
  let T := v (one_user 1) 1 1 in
  let f := clipped_mean (sym_lo 1 T) (sym_hi 1 T) x in
  akmv_space (one_user 1) 1 exp H J 5%:R 5%:R 1 (fun p => `|mean x - p.2|) ->
  [/\ is_ceil 1 (2 / 10%:R : R),
      J (fun y => `|mean x - y| * laplace exp (T / 10%:R / N R (one_user 1)) f y) = 1 / 10%:R
    & akmv (one_user 1) 1 exp J 5%:R 5%:R 1 x (fun p => `|mean x - p.2|) < 1 / 10%:R].
(* end prp-akmv-can-win err-uniformly *)
Proof.
move=> is_exp HJ x T f drawn.
have [x0 x1] : 0 <= 1 / 10%:R :> R /\ 1 / 10%:R <= 1 :> R by split; linear.
have xr : in_range 1 x by move=> l j; rewrite /x x0 x1.
pose q := exp (- (5%:R / 2)); have q0 : 0 < q := exp_gt0 is_exp _.
have q1 : (1 + 5%:R / 2) * q <= 1.
  rewrite -[leRHS](exp0 is_exp) -(subrr (5%:R / 2)) (exp_split is_exp).
  by apply: (@ler_wpmul2r _ q); [exact: ltW | exact: exp_ge is_exp (5%:R / 2)].
have [[ceil _ less] nothing] := err_uniformly q0 q1.
have [//|_ /(_ x xr) same] := nothing _ (one_user 1) 1 10%:R ler01; first by rewrite ler_nat.
have TE : T = 1 by rewrite /T /v /nth_count sorted1 /= mulr1.
split=> //.
  have b0 : 0 < T / 10%:R / N R (one_user 1) by rewrite N1 TE divr1 divr_gt0 ?ltr01 ?ltr0n.
  by have [_] := laplace_size f is_exp HJ b0; rewrite /f same N1 TE divr1.
have U0 : 0 < 1 :> R by exact: ltr01.
have Npos : (0 < \sum_(l < 1) one_user 1 l)%N by rewrite big_ord_recl big_ord0.
have e0 : 0 <= 5%:R :> R by exact: ler0n.
have e5 : 0 < 5%:R :> R by rewrite ltr0n.
have [_ /(_ drawn)] := error_of_release 1 is_exp HJ U0 Npos e0 e5 xr.
move=> /le_lt_trans; apply; apply: le_lt_trans less; rewrite le_eqVlt; apply/orP; left; apply/eqP.
have -> : 2 * 5%:R = 10%:R :> R by rewrite -natrM.
have -> : V (one_user 1) 1 = 1 := TE.
have sumsE l : sums x l = 1 / 10%:R by rewrite /sums sumr_const card_ord.
have nthE i : nth_sum (sums x) 1 i = nth_sum (fun _ : 'I_1 => 1 / 10%:R) 1 i.
  by rewrite /nth_sum; congr (nth _ (_ :: sort _ _) _); exact: (eq_map sumsE).
have errorE t : error_at (one_user 1) (sums x) 10%:R t = error_at (one_user 1) (fun=> 1 / 10%:R) 10%:R t.
  by rewrite /error_at; congr ((_ + _) / _); apply: eq_bigr => l _; rewrite sumsE.
apply: eq_bigr => n _; rewrite /cell_prob /cell_mean /cell_weight /cell_lo /cell_hi !errorE !nthE.
by congr (_ / _ * _); apply: eq_bigr => i _; rewrite !nthE.
Qed.

End Examples.
