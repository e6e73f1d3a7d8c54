(* thm-factor: for given noise, a factor F that depends on eps only and bounds (smallest worst-case error) /
   (minimax risk) for every collection. *)
From Coq Require Import ZArith Lia.
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts lattice chain chain_factor minimax rows exponential grid.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Ratio.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat).
Notation c := (nth_count m).

(* H (x) / x <= H (n) / n for x >= n >= 1, where H is sum_of_largest. *)
Lemma sum_largest_ratio_falls (n : nat) (x : R) : (0 < n)%N -> n%:R <= x -> n%:R * sum_of_largest m x <= x * sum_of_largest m (n%:R : R).
Proof.
move=> n0 nx; have nR := ler0n R n; have x0 : 0 <= x := le_trans nR nx.
have := sum_largest_split m 1 (c n.-1)%:R x0; have := sum_largest_split m 1 (c n.-1)%:R nR.
rewrite !mul1r => -> ->; set S := (c n.-1)%:R.
have S0 : 0 <= S := ler0n R _.
pose T (y : R) := \sum_(i < L) weight y i * (1 * (c i)%:R - S).
rewrite -/(T x) -/(T _); have eN : n.-1.+1 = n := prednK n0.
have T_le : T x <= T n%:R.
  apply: ler_sum => i _; rewrite mul1r; case: (ltnP i n) => ni.
    have w : 1 <= n%:R - i%:R :> R.
      by rewrite ler_subr_addr -(natrD _ 1) ler_nat.
    by rewrite le_eqVlt; apply/orP; left; apply/eqP; congr (_ * _); rewrite /weight; minmax; linear.
  have cS : (c i)%:R - S <= 0 by rewrite subr_le0 ler_nat nth_count_mono // (leq_trans (leq_pred n)).
  by apply: ler_wnmul2r => //; exact: weight_mono.
have T0 : 0 <= T n%:R.
  apply: sumr_ge0 => i _; rewrite mul1r; case: (ltnP i n) => ni.
    by rewrite mulr_ge0 ?weight_ge0 // subr_ge0 ler_nat nth_count_mono // -ltnS eN.
  have w : n%:R <= i%:R :> R by rewrite ler_nat.
  by rewrite (_ : weight _ _ = 0) ?mul0r // /weight; minmax; linear.
apply: (@le_trans _ _ (n%:R * (T n%:R + S * Num.min L%:R x))).
  by rewrite ler_wpmul2l // ler_add2r.
have minx : n%:R * Num.min L%:R x <= x * Num.min L%:R n%:R.
  have LR := ler0n R L; have := ler_wpmul2l LR nx => h.
  rewrite !minElt; case: ltP => h1; case: ltP => h2; try linear.
  by rewrite mulrC; apply: ler_wpmul2r => //; exact: ltW.
have := ler_wpmul2r T0 nx; have := ler_wpmul2l S0 minx => h1 h2.
by linear.
Qed.

Lemma sum_largest_at0 : sum_of_largest m (0 : R) = 0.
Proof. by rewrite sum_largest_first ?lexx ?ler01 // mul0r. Qed.

Lemma sum_largest_scaled (i n : nat) : (0 < n)%N -> sum_of_largest m (i%:R : R) <= Num.max 1 (i%:R / n%:R) * sum_of_largest m (n%:R : R).
Proof.
move=> n0; have M0 : 0 <= sum_of_largest m (n%:R : R) by rewrite -sum_largest_at0 sum_largest_mono ?ler0n.
have nR : 0 < n%:R :> R by rewrite ltr0n.
case: (leqP i n) => ni.
  apply: (@le_trans _ _ (sum_of_largest m (n%:R : R))); first by rewrite sum_largest_mono // ler_nat.
  by rewrite -[leLHS]mul1r; apply: ler_wpmul2r => //; rewrite le_maxr lexx.
apply: (@le_trans _ _ (i%:R / n%:R * sum_of_largest m (n%:R : R))).
  by rewrite mulrAC ler_pdivl_mulr // [leLHS]mulrC; apply: sum_largest_ratio_falls => //; rewrite ler_nat ltnW.
by apply: ler_wpmul2r => //; rewrite le_maxr lexx orbT.
Qed.

End Ratio.

(* begin thm-factor-definitions *)
(* optimal_error: the smallest worst-case error with noise of mean absolute value x / 2 at sensitivity 1, so
   that E_OPT eps = optimal_error (2 / eps).  is_group_bound: b is a lower bound that n users give, so that
   the minimax risk r is at least U / N H (n) b: the chain's, or one for one user at budget n eps.
   H_bound: the upper bound max {1, i / n} / b on U H (i) / (N r) that follows from it, and 0 for i = 0; C_i
   is its minimum over n. *)
Definition optimal_error (R : realFieldType) L (m : 'I_L -> nat) (U x : R) : R := U / (2 * N R m) * sum_of_largest m x.
Definition is_group_bound (R : realFieldType) (q : R) (n : nat) (b : R) : Prop :=
  0 < b /\ (b = 1 / (1 + cosh_log q + n%:R * sinh_log q) \/ one_user_risk_at_least (q ^+ n) b).
Definition H_bound (R : realFieldType) (i n : nat) (b : R) : R :=
  if i == 0%N then 0 else Num.max 1 (i%:R / n%:R) / b.
(* end thm-factor-definitions *)

Lemma K_gt0 (R : realFieldType) (q eps : R) : 1 < q -> 0 < eps -> 0 < (1 + cosh_log q) / 2 + sinh_log q / eps.
Proof.
move=> q1 eps0; have p0 := q_pos q1; have qi : 0 < q^-1 by rewrite invr_gt0.
by have := divr_gt0 (sinh_gt0 q1) eps0; rewrite /cosh_log; linear.
Qed.

Section Bounds.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U q : R).
Notation N := (N R m).
Hypothesis U0 : 0 < U.
Hypothesis q1 : 1 < q.
Hypothesis Npos : (0 < \sum_l m l)%N.

(* r is at least every lower bound on the risk of private mechanisms, as the minimax risk is. *)
Variable r : R.
Hypothesis bounds_le_r : forall b, minimax_risk_at_least m U q b -> b <= r.

Let N0 : 0 < N. Proof. by rewrite ltr0n. Qed.
Let UN : 0 < U / N. Proof. exact: divr_gt0. Qed.

Let L0 : (0 < L)%N.
Proof.
case: (posnP L) => // Z; move: Npos; rewrite big1 // => l.
by have := ltn_ord l; rewrite [X in (_ < X)%N]Z.
Qed.

(* This holds for every n, also beyond the number of users. *)
Lemma bound_holds n b : (0 < n)%N -> is_group_bound q n b -> U / N * (sum_of_largest m (n%:R : R) * b) <= r.
Proof.
move=> n0 [b0 hb]; have M0 k : 0 <= sum_of_largest m (k%:R : R) by rewrite -(sum_largest_at0 R m) sum_largest_mono ?ler0n.
case: (leqP n L) => nL.
  have nn : (0 < n <= L)%N by rewrite n0.
  case: hb => [->|one]; apply: bounds_le_r; last exact: lem_one_user.
  by rewrite mul1r; exact: (thm_chain (ltW U0) q1 Npos).
have LL : (0 < L <= L)%N by rewrite L0 leqnn.
have nLR : L%:R <= n%:R :> R by rewrite ler_nat ltnW.
have -> : sum_of_largest m (n%:R : R) = sum_of_largest m (L%:R : R) by rewrite !sum_largest_all.
case: hb => [->|one].
  apply: le_trans (bounds_le_r (thm_chain (ltW U0) q1 Npos LL)).
  apply: ler_wpmul2l; first exact: ltW; apply: ler_wpmul2l => //.
  rewrite mul1r lef_pinv ?posrE ?chain_gt0 // ler_add2l; apply: ler_wpmul2r => //.
  exact/ltW/sinh_gt0/q1.
apply: bounds_le_r; apply: (lem_one_user U0 q1 Npos LL); apply: more_private one.
by apply: ler_weexpn2l; rewrite ?(ltW q1) // ltnW.
Qed.

Lemma H_bound_holds i n b : (0 < n)%N -> is_group_bound q n b -> U / N * sum_of_largest m (i%:R : R) <= H_bound i n b * r.
Proof.
move=> n0 hb; rewrite /H_bound; case: eqP => [->|_]; first by rewrite sum_largest_at0 mulr0 mul0r.
have [b0 _] := hb; rewrite [leRHS]mulrAC ler_pdivl_mulr //.
apply: (@le_trans _ _ (Num.max 1 (i%:R / n%:R) * (U / N * (sum_of_largest m (n%:R : R) * b)))).
  have := ler_wpmul2l (ltW (mulr_gt0 UN b0)) (sum_largest_scaled R m i n0) => h.
  by linear.
by apply: ler_wpmul2l; [rewrite le_maxr ler01 | exact: bound_holds].
Qed.

Lemma risk_ge0 : 0 <= r.
Proof. exact/bounds_le_r/minimax_ge0/ltW. Qed.

Lemma optimal_error_between i t : 0 <= t <= 1 ->
  optimal_error m U (i%:R + t) = ((1 - t) * (U / N * sum_of_largest m (i%:R : R)) + t * (U / N * sum_of_largest m (i.+1%:R : R))) / 2.
Proof.
clear UN U0 q1 bounds_le_r; move=> /andP [t0 t1]; have iS : i.+1%:R = i%:R + 1 :> R by rewrite -addn1 natrD.
rewrite /optimal_error (sum_largest_between m (i := i)); last by rewrite iS; linear.
by rewrite iS; field; rewrite gt_eqF.
Qed.

Lemma interpolated_H_bounds (i n n' : nat) t b b' :
  0 <= t <= 1 -> (0 < n)%N -> is_group_bound q n b -> (0 < n')%N -> is_group_bound q n' b' ->
  optimal_error m U (i%:R + t) <= ((1 - t) * H_bound i n b + t * H_bound i.+1 n' b') / 2 * r.
Proof.
move=> t01 n0 hb n0' hb'; rewrite optimal_error_between //; have /andP [t0 t1] := t01.
have t1' : 0 <= 1 - t by rewrite subr_ge0.
have := ler_wpmul2l t1' (H_bound_holds i n0 hb); have := ler_wpmul2l t0 (H_bound_holds i.+1 n0' hb') => k k'.
by linear.
Qed.

End Bounds.

(* begin thm-factor-every *)
(* Statement 1 of thm-factor, for any n and n' in place of the minimisers in C_i and C_(i + 1). *)
Theorem thm_factor_any_n (R : realFieldType) L (m : 'I_L -> nat) (U q t b b' : R) (i n n' : nat) :
  0 < U -> 1 < q -> (0 < \sum_l m l)%N ->
  0 <= t <= 1 -> (0 < n)%N -> is_group_bound q n b -> (0 < n')%N -> is_group_bound q n' b' ->
  minimax_risk_at_least m U q
    (optimal_error m U (i%:R + t) / (((1 - t) * H_bound i n b + t * H_bound i.+1 n' b') / 2)).
(* end thm-factor-every *)
Proof.
move=> U0 q1 Npos t01 n0 hb n0' hb'; set F := _ / 2.
have H_bound_ge0 j k c : is_group_bound q k c -> 0 <= H_bound j k c.
  by case=> c0 _; rewrite /H_bound; case: eqP => // _; rewrite divr_ge0 ?(ltW c0) // le_maxr ler01.
have : 0 <= F.
  have /andP [t0 t1] := t01; rewrite divr_ge0 ?ler0n // addr_ge0 // mulr_ge0 ?subr_ge0 ?(H_bound_ge0 _ _ _ hb) //.
  exact: H_bound_ge0 hb'.
rewrite le_eqVlt => /orP [/eqP <-|F0]; first by rewrite invr0 mulr0; exact: minimax_ge0 (ltW U0).
by apply: within_factor => // r risk; exact: (interpolated_H_bounds U0 q1 Npos risk).
Qed.

(* begin thm-factor-one-user *)
(* Statement 2: let 0 < x <= 1.  The error is at most F times the minimax risk for every collection if and
   only if it is so for one user with one sample, that is, if and only if F >= x / (2 R_1).  By thm_lattice,
   x / (2 s) is such an F. *)
Theorem thm_factor_one_user (R : realFieldType) (q x F : R) : 1 < q -> 0 < x <= 1 -> 0 < F ->
  (forall L (m : 'I_L -> nat) (U : R), 0 < U -> (0 < \sum_l m l)%N ->
     minimax_risk_at_least m U q (optimal_error m U x / F))
  <-> one_user_risk_at_least q (x / (2 * F)).
(* end thm-factor-one-user *)
Proof.
move=> q1 /andP [x0 x1] F0; split=> [every|one L m U U0 Npos].
  pose m (l : 'I_1) := 1%N.
  have e1 : (\sum_l m l = 1)%N by rewrite big_ord_recl big_ord0.
  have E1 : optimal_error m 1 x = x / 2.
    rewrite /optimal_error /N e1 mulr1 sum_largest_first ?(ltW x0) //.
    have -> : nth_count m 0 = 1%N; last by linear.
    by have [l <-] := first_count (m := m) (ltac:(by rewrite e1)).
  have -> : x / (2 * F) = optimal_error m 1 x / F by rewrite E1; field; rewrite gt_eqF.
  by apply: (every 1%N m 1); rewrite ?e1 ?ltr01.
apply: within_factor => // r risk; have N0 : 0 < N R m by rewrite ltr0n.
have b0 : 0 < x / (2 * F) by rewrite divr_gt0 // mulr_gt0 ?ltr0n.
have hb : is_group_bound q 1 (x / (2 * F)) by split=> //; right; rewrite expr1.
have := bound_holds U0 q1 Npos risk (ltn0Sn 0) hb => /(ler_wpmul2l (ltW F0)).
apply: le_trans; rewrite /optimal_error !sum_largest_first ?ler01 ?lexx ?(ltW x0) //.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; field; rewrite !gt_eqF.
Qed.

(* Suppose that a j <= r max {1, j / n} / b for every bound b.  Then a row of rows.v bounds ((1 - t) a_i + t
   a_(i + 1)) / 2 by r f / 1000, if i + t <= z.  Two uses: a j = U / N H (j), with r a risk; and a j = C_j,
   with r = 1. *)
Section Row.
Variables (R : realFieldType) (q z r t : R) (a : nat -> R) (i : nat).
Hypothesis q1 : 1 < q.
Hypothesis r0 : 0 <= r.
Hypothesis t01 : 0 <= t <= 1.
Hypothesis xz : i%:R + t <= z.
Hypothesis chains : forall j n, (0 < n)%N -> a j <= H_bound j n (1 / (1 + cosh_log q + n%:R * sinh_log q)) * r.
Let between : R := ((1 - t) * a i + t * a i.+1) / 2.

Let t0 : 0 <= t. Proof. by case/andP: t01. Qed.
Let t1 : 0 <= 1 - t. Proof. by case/andP: t01 => _; rewrite subr_ge0. Qed.
Let iS : i.+1%:R = i%:R + 1 :> R. Proof. by rewrite -addn1 natrD. Qed.

Lemma at_chain j : a j <= (1 + cosh_log q + j%:R * sinh_log q) * r.
Proof.
have C0 := chain_gt0 j q1; case: j C0 => [|j] C0.
  by apply: le_trans (chains 0 (ltn0Sn 0)) _; rewrite /H_bound /= mul0r mulr_ge0 // ltW.
by have := chains j.+1 (ltn0Sn j); rewrite /H_bound /= divff ?pnatr_eq0 // maxxx !div1r invrK.
Qed.

Lemma between_chain F : (1 + cosh_log q) / 2 + z / 2 * sinh_log q <= F -> between <= F * r.
Proof.
move=> hF; have e := ler_wpmul2r r0 hF; rewrite /between.
have e1 := ler_wpmul2l t1 (at_chain i); have e2 := ler_wpmul2l t0 (at_chain i.+1); rewrite iS in e2.
have : 0 <= (z - (i%:R + t)) * (sinh_log q * r) by rewrite mulr_ge0 ?subr_ge0 // mulr_ge0 // ltW // sinh_gt0.
by linear.
Qed.

Section OneUser.
Variable b : R.
Hypothesis b0 : 0 < b.
Hypothesis one : forall j, a j <= H_bound j 1 b * r.

Lemma at_one j : a j <= j%:R / b * r.
Proof.
apply: le_trans (one j) _; apply: ler_wpmul2r => //; rewrite /H_bound; case: j => [|j]; first by rewrite /= mul0r lexx.
by rewrite /= divr1 max_r // ler1n.
Qed.

Lemma between_one_user F : z / 2 <= F * b -> between <= F * r.
Proof.
rewrite -ler_pdivr_mulr // => hF; have e := ler_wpmul2r r0 hF; rewrite /between.
have e1 := ler_wpmul2l t1 (at_one i); have e2 := ler_wpmul2l t0 (at_one i.+1); rewrite iS in e2.
have : 0 <= (z - (i%:R + t)) * (b^-1 * r) by rewrite mulr_ge0 ?subr_ge0 // mulr_ge0 // ltW // invr_gt0.
by move: e e1 e2; move: (b^-1) => w; linear.
Qed.

Lemma between_mixed F : 1 <= z <= 2 -> ((2 - z) / b + (z - 1) * (1 + cosh_log q + 2 * sinh_log q)) / 2 <= F -> between <= F * r.
Proof.
move=> /andP [z1 z2] hF; apply: le_trans (ler_wpmul2r r0 hF).
have a0 := at_one 0; have a1 := at_one 1; have a2 := at_chain 2; have C0 := chain_gt0 2 q1.
have a1' : a 1%N <= (1 + cosh_log q + 2 * sinh_log q) * r.
  have half : 2^-1 <= 1 :> R by rewrite invf_le1 ?ltr0n // ler1n.
  by have := chains 1 (ltn0Sn 1); rewrite /H_bound /= !div1r invrK max_l // mul1r.
rewrite mul0r mul0r in a0; rewrite mulr1n mul1r in a1; have w0 : 0 <= b^-1 by rewrite invr_ge0 ltW.
move: (b^-1) (1 + cosh_log q + 2 * sinh_log q) w0 C0 a1 a1' a2 => w C w0 C0 a1 a1' a2.
have z1' : 0 <= z - 1 by linear.
have z2' : 0 <= 2 - z by linear.
have e1 := ler_wpmul2l z2' a1; have e2 := ler_wpmul2l z1' a1'.
rewrite /between; case: (i) iS xz => [|[|[|j]]] S i_z.
- have e3 := ler_wpmul2l t1 a0; have : a 1%N <= ((2 - z) * w + (z - 1) * C) * r by linear.
  move=> /(ler_wpmul2l t0) e4; have : 0 <= (1 - t) * (((2 - z) * w + (z - 1) * C) * r).
    by rewrite mulr_ge0 // mulr_ge0 // addr_ge0 // mulr_ge0 // ltW.
  by linear.
- have := ler_wpmul2l t0 a2 => e3; have : 0 <= (z - (1%:R + t)) * (C * r - a 1%N).
    by rewrite mulr_ge0 // subr_ge0.
  by linear.
- have tz : t = 0 by apply: le_anti; rewrite t0 andbT; linear.
  have e3 : z = 2 by apply: le_anti; rewrite z2 /=; linear.
  by rewrite tz e3; linear.
have : 0 <= j%:R :> R := ler0n R j; move: i_z; rewrite -addn3 natrD; linear.
Qed.

End OneUser.
End Row.

Lemma row_bounds (R : realFieldType) (q r t : R) (a : nat -> R) (i : nat) (f X Y A B : Z) :
  1 < q -> 0 <= r -> 0 <= t <= 1 -> 0 < of_Z R Y -> 0 < of_Z R B ->
  i%:R + t <= of_Z R X / of_Z R Y -> q <= of_Z R A / of_Z R B ->
  (forall Q j n, q <= Q -> (0 < n)%N -> a j <= H_bound j n (1 / (1 + cosh_log Q + n%:R * sinh_log Q)) * r) ->
  (forall Q j k, q <= Q -> k%:R * s Q k <= 1 -> 1 <= k.+1%:R * s Q k -> 0 < s Q k ->
     a j <= H_bound j 1 (s Q k) * r) ->
  row f X Y A B -> ((1 - t) * a i + t * a i.+1) / 2 <= of_Z R f / 1000 * r.
Proof.
move=> q1 r0 t01 Y0 B0 xX qQ chains one; have /andP [t0 _] := t01.
have Q1 : 1 < of_Z R A / of_Z R B by exact: lt_le_trans qQ.
have AB : of_Z R B < of_Z R A by move: Q1; rewrite ltr_pdivl_mulr // mul1r.
have X0 : 0 <= of_Z R X / of_Z R Y by apply: le_trans xX; rewrite addr_ge0 ?ler0n.
have X0' : 0 <= of_Z R X by move: X0; rewrite pmulr_lge0 ?invr_gt0.
move=> /(row_sound Y0 B0 AB X0') [le_F|[k [[k1 k2 s0] [le_F|[z12 le_F]]]]].
- exact: (between_chain Q1 r0 t01 xX (fun j n => chains _ j n qQ)).
- exact: (between_one_user Q1 r0 t01 xX s0 (fun j => one _ j k qQ k1 k2 s0)).
exact: (between_mixed Q1 r0 t01 xX (fun j n => chains _ j n qQ) s0 (fun j => one _ j k qQ k1 k2 s0)).
Qed.

Lemma floor_exists (R : realFieldType) (x : R) : 0 <= x -> (exists K : nat, x <= K%:R) ->
  exists i t, 0 <= t < 1 /\ x = i%:R + t.
Proof.
move=> x0 [K]; elim: K => [|K IH] xK.
  by exists 0%N, 0; rewrite lexx ltr01 addr0; split=> //; apply: le_anti; rewrite xK x0.
case: (ltP x K%:R) => h; first exact/IH/ltW.
move: xK; rewrite -addn1 natrD le_eqVlt => /orP [/eqP ->|xK].
  by exists K.+1, 0; rewrite lexx ltr01 addr0 -[K.+1]addn1 natrD; split.
by exists K, (x - K%:R); split; [apply/andP; split; linear | linear].
Qed.

Lemma row_holds (R : realFieldType) L (m : 'I_L -> nat) (U q r x : R) (f X Y A B : Z) :
  0 < U -> 1 < q -> (0 < \sum_l m l)%N -> (forall b, minimax_risk_at_least m U q b -> b <= r) ->
  0 < of_Z R Y -> 0 < of_Z R B -> 0 < x <= of_Z R X / of_Z R Y -> q <= of_Z R A / of_Z R B ->
  row f X Y A B -> optimal_error m U x <= of_Z R f / 1000 * r.
Proof.
move=> U0 q1 Npos risk Y0 B0 /andP [x0 xX] qQ good; have r0 := risk_ge0 U0 risk.
have Y1 : 1 <= of_Z R Y.
  by case: Y Y0 {xX good} => [|p|p]; rewrite /= ?ltxx ?oppr_gt0 ?ltr0n ?ler1n // ltNge ler0n.
have [i [t [/andP [t0 t1] e]]] : exists i t, 0 <= t < 1 /\ x = i%:R + t.
  apply: floor_exists; first exact: ltW.
  exists (Z.to_nat X); apply: le_trans xX _; rewrite ler_pdivr_mulr //.
  case: X {good} => [|p|p]; rewrite /= ?mul0r //; last by rewrite oppr_le0 ler0n.
  by rewrite ler_pmulr // (of_pos R p).
rewrite e in xX *; have t01 : 0 <= t <= 1 by rewrite t0 ltW.
pose a j : R := U / N R m * sum_of_largest m (j%:R : R).
rewrite optimal_error_between //; apply: (row_bounds (a := a) q1 r0 t01 Y0 B0 xX qQ _ _ good).
- move=> Q j n qQ' n0; have Q1 := lt_le_trans q1 qQ'.
  apply: (H_bound_holds U0 Q1 Npos (fun b bound => risk b (more_private qQ' bound)) j n0).
  by split; [exact: divr_gt0 ltr01 (chain_gt0 n Q1) | by left].
move=> Q j k qQ' k1 k2 s0; have Q1 := lt_le_trans q1 qQ'.
apply: (H_bound_holds U0 Q1 Npos (fun b bound => risk b (more_private qQ' bound)) j (ltn0Sn 0)).
by split=> //; right; rewrite expr1; exact: lattice_bound.
Qed.

Section Numbers.
Variables (R : realFieldType) (exp : R -> R).
Hypothesis is_exp : is_exponential exp.

(* The claimed bound on the factor for eps in [j / 400, (j + 1) / 400], in thousandths. piece_passes:
   whether the row of interval j holds; a / 10^18 bounds exp at its end.  The first 133 intervals need no
   row. *)
Definition factor_bound (j : Z) : Z :=
  (if j <? 400 then 2450 else if j <? 1000 then 2610 else if j <? 1200 then 2670 else 2910)%Z.
Definition piece_passes (j a : Z) : bool :=
  if (j <? 133)%Z then true else row (factor_bound j) 800 j (a / 10 ^ 14 + 1) (10 ^ 4).

Lemma pieces_hold : run 1400 (small 20 400) piece_passes 0 whole.
Proof. by vm_compute. Qed.

Lemma on_grid (n : nat) (d x : R) : 0 < x -> x <= n%:R / d ->
  exists2 i, (i < n)%N & i%:R / d <= x <= i.+1%:R / d.
Proof.
move=> x0; elim: n => [|n IH] xn; first by move: xn; rewrite mul0r leNgt x0.
case: (leP x (n%:R / d)) => h; first by have [i iN hi] := IH h; exists i => //; exact: ltnW.
by exists n => //; rewrite xn ltW.
Qed.

Lemma coarser (a : Z) : of_Z R a / of_Z R whole <= of_Z R (a / 10 ^ 14 + 1)%Z / of_Z R (10 ^ 4)%Z.
Proof.
have d := @div_up R a (10 ^ 14)%Z (erefl _).
have -> : whole = (10 ^ 14 * 10 ^ 4)%Z by [].
have p : 0 < of_Z R (10 ^ 14)%Z by exact: of_pos.
have p4 : 0 < of_Z R (10 ^ 4)%Z by exact: of_pos.
rewrite of_ZM; move: (of_Z R (10 ^ 14)%Z) (of_Z R (10 ^ 4)%Z) p p4 (of_Z R (a / 10 ^ 14 + 1)%Z) d => P P4 p p4 S d.
rewrite invfM mulrA; apply: ler_wpmul2r; first by rewrite invr_ge0 ltW.
by rewrite ler_pdivr_mulr // mulrC.
Qed.

End Numbers.

(* begin thm-factor-numbers *)
(* With Laplace noise the factor is at most 2.45 for eps <= 1, 2.61 for eps <= 5/2, 2.67 for eps <= 3 and
   2.91 for eps <= 7/2.  Proof: E_OPT and the minimax risk both fall as eps grows.  So on each of 1400
   intervals of length 1/400, E_OPT at the left end is compared with a lower bound on the risk at the right
   end. *)
Theorem thm_factor_numbers (R : realFieldType) (exp : R -> R) L (m : 'I_L -> nat) (U eps : R) :
  is_exponential exp -> 0 < U -> 0 < eps -> (0 < \sum_l m l)%N ->
  [/\ eps <= 1 -> minimax_risk_at_least m U (exp eps) (E_OPT m U eps / (245 / 100)),
      eps <= 5 / 2 -> minimax_risk_at_least m U (exp eps) (E_OPT m U eps / (261 / 100)),
      eps <= 3 -> minimax_risk_at_least m U (exp eps) (E_OPT m U eps / (267 / 100))
    & eps <= 7 / 2 -> minimax_risk_at_least m U (exp eps) (E_OPT m U eps / (291 / 100))].
(* end thm-factor-numbers *)
Proof.
(* Up to eps = 133/400 the chain is enough.  Beyond it, exp is bounded at the right end of each interval
   (run_sound), and the row of the interval, which is computed, holds there. *)
move=> is_exp U0 eps0 Npos; have q1 := exp_gt1 is_exp eps0.
suff all r : (forall b, minimax_risk_at_least m U (exp eps) b -> b <= r) ->
    [/\ eps <= 1 -> E_OPT m U eps <= 245 / 100 * r, eps <= 5 / 2 -> E_OPT m U eps <= 261 / 100 * r,
      eps <= 3 -> E_OPT m U eps <= 267 / 100 * r & eps <= 7 / 2 -> E_OPT m U eps <= 291 / 100 * r].
  by split=> e; (apply: within_factor => [|r /all [h1 h2 h3 h4]]; first by rewrite divr_gt0 ?ltr0n); auto.
move=> risk; have r0 := risk_ge0 U0 risk.
have small_eps : eps <= 133 / 400 -> E_OPT m U eps <= 245 / 100 * r.
  move=> e; have := risk _ (cor_chain (ltW U0) q1 Npos eps0).
  rewrite ler_pdivr_mulr ?(K_gt0 q1) // [r * _]mulrC => /le_trans; apply; apply: ler_wpmul2r => //.
  have := exp_le is_exp eps; move: (exp eps) q1 => q q1 h.
  have p0 := q_pos q1; have qi := q_inv_lt1 q1.
  have q32 : q <= 3 / 2.
    by have : 0 <= q * (133 / 400 - eps); [rewrite mulr_ge0 ?subr_ge0 // ltW | linear].
  have s_le : sinh_log q / eps <= (q + 1) / 2.
    rewrite ler_pdivr_mulr // (_ : sinh_log q = (q - 1) * (q + 1) / 2 / q); last first.
      by rewrite /sinh_log; field; rewrite gt_eqF.
    rewrite ler_pdivr_mulr //.
    have : 0 <= (q + 1) * (1 - q * (1 - eps)) by rewrite mulr_ge0 ?subr_ge0 //; linear.
    by linear.
  by move: s_le; rewrite /cosh_log; move: (sinh_log q / eps) => t t_le; linear.
have errorE : E_OPT m U eps = optimal_error m U (2 / eps) by [].
have at_piece i : (i < 1400)%N -> i%:R / 400 <= eps <= i.+1%:R / 400 ->
    E_OPT m U eps <= of_Z R (factor_bound (Z.of_nat i)) / 1000 * r.
  move=> iN /andP [ei ie].
  have start : below exp (0%:R / 400) whole.
    rewrite /below mul0r (exp0 is_exp) divff // gt_eqF //; exact: whole_gt0.
  have step := @below_small R exp is_exp 20 400 (erefl _).
  have {}step : below exp (1 / 400) (small 20 400) by [].
  have [b eb] := run_sound is_exp step start pieces_hold iN.
  rewrite add0n /piece_passes in eb *; case: ifP => [/Z.ltb_lt i133 _|/Z.ltb_ge i133 good].
    have -> : factor_bound (Z.of_nat i) = 2450%Z by rewrite /factor_bound (proj2 (Z.ltb_lt _ 400)) //; exact: Z.lt_trans i133 _.
    rewrite (_ : of_Z R 2450 / 1000 = 245 / 100); last by rewrite -[of_Z R 2450]/(2450%:R); field.
    apply: small_eps; apply: le_trans ie _; rewrite ler_pmul2r ?invr_gt0 ?ltr0n //.
    by rewrite ler_nat; clear -i133; apply/ssrnat.leP; lia.
  have i1 : (0 < i)%N by clear -i133; apply/ssrnat.ltP; lia.
  rewrite errorE; apply: (row_holds U0 q1 Npos risk _ _ _ _ good).
  - by rewrite (to_nat R i) ltr0n.
  - exact: (@to_gt0 R (10 ^ 4)%Z (erefl _)).
  - have i0 : 0 < i%:R :> R by rewrite ltr0n.
    have e8 : of_Z R 800 = 2 * 400 by rewrite -natrM -[(2 * 400)%N]/800%N.
    rewrite ler_pdivr_mulr ?ltr0n // in ei.
    apply/andP; split; first by rewrite divr_gt0 ?ltr0n.
    by rewrite e8 (to_nat R i) ler_pdivr_mulr // mulrAC ler_pdivl_mulr //; linear.
  apply: le_trans (exp_mono is_exp ie) _; apply: le_trans eb _; exact: coarser.
have upto (k : nat) (f : Z) : (k <= 7)%N -> all (fun i => factor_bound (Z.of_nat i) <=? f)%Z (iota 0 (200 * k)) ->
    eps <= k%:R / 2 -> E_OPT m U eps <= of_Z R f / 1000 * r.
  move=> k7 /allP le_f; have -> : k%:R / 2 = (200 * k)%:R / (200 * 2) :> R by rewrite natrM; field.
  rewrite -[200 * 2]natrM => /(on_grid eps0) [i ik hi].
  apply: le_trans (at_piece i _ hi) _; first by apply: leq_trans ik _; rewrite (leq_mul2l 200 k 7).
  do 2 (apply: ler_wpmul2r => //); rewrite ?invr_ge0 ?ler0n //.
  by apply/of_Z_le/Z.leb_le/le_f; rewrite mem_iota.
have in_hundredths (f : nat) : of_Z R (Z.of_nat (10 * f)) / 1000 = f%:R / 100 by rewrite to_nat natrM; field.
split=> e; [rewrite -(in_hundredths 245%N) | rewrite -(in_hundredths 261%N) | rewrite -(in_hundredths 267%N)
  | rewrite -(in_hundredths 291%N)];
  [apply: (upto 2%N) | apply: (upto 5%N) | apply: (upto 6%N) | apply: (upto 7%N)];
  by [vm_compute | linear].
Qed.
