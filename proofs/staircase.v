(* With staircase noise the factor is below 2.42 at every budget. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear lattice lattice_falls chain chain_factor rows factor envelope.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Numbers.
Variable R : realFieldType.
Notation "$ z" := (@of_Z R z) (at level 2, format "$ z").

Lemma stairs_size (h : R) : 1 < h -> 1 / sinh_log h = 2 * h / (h ^+ 2 - 1).
Proof. by move=> h1; rewrite /sinh_log; field; rewrite !gt_eqF ?q2_gap ?q_pos. Qed.

Lemma stairs_ratio (a d : R) : 0 < d < a ->
  2 * (a / d) / ((a / d) ^+ 2 - 1) = 2 * a * d / (a * a - d * d).
Proof.
move=> /andP [d0 da]; have a0 := lt_trans d0 da.
have gap : 0 < a * a - d * d by rewrite subr_gt0 ltr_pmul // ltW.
by field; rewrite !gt_eqF.
Qed.

(* The mean absolute value of the noise falls as the budget grows. *)
Lemma stairs_fall (g h : R) : 1 < g -> g <= h -> 1 / sinh_log h <= 2 * g / (g ^+ 2 - 1).
Proof.
move=> g1 gh; have h1 : 1 < h by exact: lt_le_trans gh.
rewrite stairs_size // ler_pdivr_mulr ?q2_gap // mulrAC ler_pdivl_mulr ?q2_gap //.
have hg := mulr_gt0 (q_pos h1) (q_pos g1).
have : 0 <= (h - g) * (h * g + 1) by rewrite mulr_ge0 //; linear.
by rewrite !expr2; linear.
Qed.

(* Small budgets: the chain. *)
Lemma chain_small (h : R) : 1 < h -> h <= 8 / 5 -> (1 + cosh_log (h ^+ 2)) / 2 + cosh_log h <= 2419 / 1000.
Proof.
move=> h1 h8; have h0 := q_pos h1; have i1 := q_inv_lt1 h1; have i0 : 0 < h^-1 by rewrite invr_gt0.
rewrite /cosh_log -exprVn; have e : h * h^-1 = 1 by rewrite divff // gt_eqF.
have a : h + h^-1 <= 89 / 40.
  have : 0 <= (8 / 5 - h) * (1 - 5 / 8 * h^-1) by rewrite mulr_ge0 ?subr_ge0 //; linear.
  by move: (h^-1) e => g e; linear.
have sq : (h + h^-1) * (h + h^-1) <= 89 / 40 * (89 / 40) by rewrite ler_pmul //; linear.
by rewrite !expr2; move: (h^-1) e a sq => g e a sq; linear.
Qed.

(* Large budgets: some k of at most 15 / 7 h + 2 is admissible. *)
Lemma admissible_large (h : R) : 12 <= h -> (exists K : nat, h <= K%:R) ->
  exists2 n : nat, 1 / n.+2%:R <= s (h ^+ 2) n.+1 /\ (0 < n)%N & h * n.+2%:R <= 2419 / 1000 * (h ^+ 2 - 1).
Proof.
move=> h12 [K hK]; have h0 : 0 < h by linear.
have some : exists n, 15 * h <= 7 * n%:R by exists (3 * K)%N; rewrite natrM; linear.
case: (ex_minnP some) => n enough least; have n1 : (0 < n)%N by rewrite -(ltr0n R); linear.
exists n; [split=> // | rewrite -addn2 natrD expr2].
  have q1 : 1 < h ^+ 2 by apply: exprn_egt1 => //; linear.
  have w0 : 0 < h^-1 by rewrite invr_gt0.
  have e : h * h^-1 = 1 by rewrite divff ?gt_eqF.
  have S : n.+1%:R = n%:R + 1 :> R by rewrite -addn1 natrD.
  apply: (@admissible_from _ _ q1 (1 + 7 / 5 * h^-1)) => //; first by linear.
    have e1 : h * h * h^-1 = h by rewrite -mulrA e mulr1.
    have e2 : h * h * (h^-1 * h^-1) = 1 by rewrite mulrA e1 e.
    have w2 : 0 < h^-1 * h^-1 by rewrite mulr_gt0.
    by rewrite expr2; move: (h^-1) w0 w2 e e1 e2 => w w0 w2 e e1 e2; linear.
  have : 0 <= (7 * n%:R - 15 * h) * h^-1 by rewrite mulr_ge0 ?subr_ge0 // ltW.
  by rewrite S; move: (h^-1) e => w e; linear.
have small : 7 * n%:R <= 15 * h + 7.
  case: n n1 {enough} least => // n _ least; rewrite leNgt; apply/negP => big.
  have S : n.+1%:R = n%:R + 1 :> R by rewrite -addn1 natrD.
  have /least : 15 * h <= 7 * n%:R by rewrite S in big; linear.
  by rewrite ltnn.
have : 0 <= h * (15 * h + 7 - 7 * n%:R) by rewrite mulr_ge0 ?subr_ge0 // ltW.
have : 0 <= (h - 12) * h by rewrite mulr_ge0 ?subr_ge0 // ltW.
by linear.
Qed.

(* In between, intervals of h: `stair` checks [j / D, (j + 1) / D], `stairs` those from a / 10 to b / 10 in
   steps of 1 / (10 k). *)
Definition stair (D j : Z) : bool := row 2419 (2 * j * D) (j * j - D * D) ((j + 1) * (j + 1)) (D * D).
Definition stairs (k a b : nat) : bool :=
  all (fun j => stair (Z.of_nat (10 * k)) (Z.of_nat j)) (iota (a * k) (b * k - a * k)).

Lemma fine_stairs : stairs 40 16 25.
Proof. by vm_compute. Qed.

Lemma coarse_stairs : stairs 1 25 120.
Proof. by vm_compute. Qed.

End Numbers.

(* Suppose that a j is at most r times every H_bound, and that x = i + t.  Two uses: a j = U / N H (j), with
   r a risk; and a j = C_j, with r = 1. *)
Section Stairs.
Variables (R : realFieldType) (h r t : R) (a : nat -> R) (i : nat).
Notation "$ z" := (@of_Z R z) (at level 2, format "$ z").
Hypothesis h1 : 1 < h.
Hypothesis bounded : exists K : nat, h <= K%:R.
Hypothesis r0 : 0 <= r.
Hypothesis t01 : 0 <= t <= 1.
Hypothesis x_it : i%:R + t = 1 / sinh_log h.
Hypothesis below : forall j n b, (0 < n)%N -> is_larger_bound (h ^+ 2) n b -> a j <= H_bound j n b * r.
Let between : R := ((1 - t) * a i + t * a i.+1) / 2.

Let q1 : 1 < h ^+ 2. Proof. exact: exprn_egt1. Qed.
Let bounded2 : exists K : nat, h ^+ 2 <= K%:R. Proof. exact: power_bounded. Qed.

Lemma on_stairs (k l n : nat) : (0 < k)%N -> (10 < l < n)%N -> stairs k l n ->
  l%:R / 10 < h <= n%:R / 10 -> between <= 2419 / 1000 * r.
Proof.
move=> k0 /andP [l10 ln] good /andP [lh hn]; set D := (10 * k)%N in good *.
have kR : 0 < k%:R :> R by rewrite ltr0n.
have finer d : d%:R / 10 = (d * k)%:R / D%:R :> R by rewrite !natrM; field; rewrite gt_eqF.
rewrite !finer in lh hn; have [j j_n /andP [jh hj]] := on_grid (lt_trans ltr01 h1) hn.
have D0 : (0 < D)%N by rewrite muln_gt0.
have Dl : (D < l * k)%N by rewrite ltn_mul2r k0.
have dR : 0 < D%:R :> R by rewrite ltr0n.
have lj : (l * k <= j)%N.
  by rewrite -ltnS -(ltr_nat R) -(@ltr_pmul2r _ D%:R^-1) ?invr_gt0 //; exact: lt_le_trans hj.
have := allP good j; rewrite mem_iota lj subnKC ?leq_mul2r ?(ltnW ln) ?orbT // j_n => /(_ isT) j_row.
have Dj : 1 < j%:R / D%:R :> R by rewrite ltr_pdivl_mulr // mul1r ltr_nat (leq_trans Dl).
have Z_j : $(Z.of_nat j) = j%:R := to_nat R j; have Z_D : $(Z.of_nat D) = D%:R := to_nat R D.
have -> : 2419 = $2419 by [].
apply: (row_bounds q1 r0 t01 _ _ _ _ _ _ j_row).
- rewrite toB !of_ZM Z_j Z_D subr_gt0; apply: ltr_pmul; rewrite ?ler0n // ltr_nat; exact: leq_trans Dl lj.
- by rewrite of_ZM Z_D mulr_gt0.
- by rewrite x_it toB !of_ZM Z_j Z_D to_small -stairs_ratio ?dR ?ltr_nat ?(leq_trans Dl) ?stairs_fall.
- rewrite !of_ZM of_ZD Z_j Z_D to1; apply: (@le_trans _ _ ((j.+1%:R / D%:R) ^+ 2)).
    by apply: ler_pmul; rewrite // ltW // q_pos.
  by rewrite expr2 -addn1 natrD mulrACA -invfM.
- by move=> Q j' n'; exact: below_chains.
by move=> Q j' n'; exact: below_lattices.
Qed.

Lemma stairs_bound : between <= 2419 / 1000 * r.
Proof.
have s0 := sinh_gt0 h1; have h0 := q_pos h1; have g := q2_gap h1.
case: (leP h (8 / 5)) => [small|h16].
  apply: (@between_chain _ _ (1 / sinh_log h) _ _ _ _ q1) => // [|j n n0|]; first by rewrite x_it lexx.
    exact: (below_chains q1 r0 bounded2 below j (lexx (h ^+ 2)) n0).
  have -> : 1 / sinh_log h / 2 * sinh_log (h ^+ 2) = cosh_log h; last exact: chain_small.
  by rewrite /cosh_log /sinh_log; field; rewrite !gt_eqF.
case: (leP h (5 / 2)) => [small|h25].
  by apply: (on_stairs _ _ fine_stairs) => //; linear.
case: (leP h 12) => [small|/ltW large].
  by apply: (on_stairs _ _ coarse_stairs) => //; linear.
have [n [admissible n1] hn] := admissible_large large bounded.
have b0 : 0 < 1 / n.+2%:R :> R by rewrite divr_gt0 ?ltr01 ?ltr0n.
have [c hc] := lattice_risk_exists q1 bounded2.
have cn := lattice_risk_admissible hc (ltac:(by []) : (2 <= n.+1)%N) admissible.
apply: (@between_one_user _ _ (1 / sinh_log h) _ _ _ _ q1 r0 t01 _ (1 / n.+2%:R)) => //; first by rewrite x_it.
  by move=> j; exact: (below_one r0 below j hc b0 cn).
have nR : 0 < n.+2%:R :> R by rewrite ltr0n.
have -> : 1 / sinh_log h / 2 = h / (h ^+ 2 - 1) by rewrite stairs_size //; field; rewrite gt_eqF.
by rewrite ler_pdivr_mulr // mul1r mulrAC ler_pdivl_mulr.
Qed.

End Stairs.

(* begin thm-factor-stairs *)
(* Statement 3, staircase noise: F < 2.42.  The mean absolute value of the noise at sensitivity 1 is 1 / (2
   sinh (eps / 2)), so x is 1 / sinh (eps / 2). h = exp (eps / 2) is any number above 1; some whole number
   is at least h, as always among the reals. *)
Theorem thm_factor_stairs (R : realFieldType) (h F : R) :
  1 < h -> (exists K : nat, h <= K%:R) -> is_factor (h ^+ 2) (1 / sinh_log h) F -> F < 242 / 100.
(* end thm-factor-stairs *)
Proof.
move=> h1 K [i [t [C [C' [/andP [t0 t1] x_it [_ leC] [_ leC'] ->]]]]].
pose a j := if j == i then C else if j == i.+1 then C' else 0.
have t01 : 0 <= t <= 1 by rewrite t0 ltW.
have q1 : 1 < h ^+ 2 by exact: exprn_egt1.
have := stairs_bound h1 K (@ler01 R) t01 (esym x_it) (a := a).
rewrite /a eqxx eqn_leq ltnn andFb eqxx mulr1 => bound.
apply: (@le_lt_trans _ _ (2419 / 1000)); last by linear.
apply: bound => j n b n0 hb; rewrite mulr1; case: eqP => [->|_]; first exact: leC.
case: eqP => [->|_]; first exact: leC'.
have b0 := larger_bound_gt0 q1 hb; rewrite /H_bound; case: eqP => // _.
by rewrite divr_ge0 ?(ltW b0) // le_maxr ler01.
Qed.

(* begin thm-factor-stairs-one-user *)
(* Statement 2, staircase noise: x <= 1 if and only if h >= 1 + sqrt 2. *)
Theorem stairs_one_user (R : realFieldType) (h : R) : 1 < h -> (1 / sinh_log h <= 1 <-> 2 <= (h - 1) ^+ 2).
(* end thm-factor-stairs-one-user *)
Proof.
move=> h1; have g := q2_gap h1; rewrite stairs_size // ler_pdivr_mulr // !expr2.
by split=> e; linear.
Qed.

(* begin thm-factor-staircase *)
(* So the smallest worst-case error is at most 2.42 times the minimax risk. *)
Theorem thm_factor_staircase (R : realFieldType) L (m : 'I_L -> nat) (U h : R) :
  0 < U -> 1 < h -> (exists K : nat, h <= K%:R) -> (0 < \sum_l m l)%N ->
  minimax_risk_at_least m U (h ^+ 2) (optimal_error m U (1 / sinh_log h) / (242 / 100)).
(* end thm-factor-staircase *)
Proof.
move=> U0 h1 K Npos; have s0 := sinh_gt0 h1; have g := q2_gap h1.
have q1 : 1 < h ^+ 2 by exact: exprn_egt1.
apply: within_factor => [|r risk]; first by rewrite divr_gt0 ?ltr0n.
have r0 := risk_ge0 U0 risk; apply: (@le_trans _ _ (2419 / 1000 * r)); last first.
  by apply: ler_wpmul2r => //; linear.
case: (leP h (8 / 5)) => [small|h16].
  have e0 : 0 < 2 * sinh_log h by rewrite mulr_gt0 ?ltr0n.
  have -> : optimal_error m U (1 / sinh_log h) = E_OPT m U (2 * sinh_log h).
    by rewrite /optimal_error /E_OPT; congr (_ * sum_of_largest m _); field; rewrite gt_eqF.
  have := risk _ (cor_chain (ltW U0) q1 Npos e0).
  rewrite ler_pdivr_mulr ?(K_gt0 q1) // [r * _]mulrC => /le_trans; apply; apply: ler_wpmul2r => //.
  have -> : sinh_log (h ^+ 2) / (2 * sinh_log h) = cosh_log h; last exact: chain_small.
  by have h0 := q_pos h1; rewrite /cosh_log /sinh_log; field; rewrite !gt_eqF.
have [i [t [/andP [t0 t1] x_it]]] : exists i t, 0 <= t < 1 /\ 1 / sinh_log h = i%:R + t.
  apply: floor_exists; first exact/ltW/divr_gt0/s0/ltr01.
  exists 3%N; rewrite stairs_size // ler_pdivr_mulr // expr2.
  have : 0 <= (h - 8 / 5) * h by rewrite mulr_ge0 ?subr_ge0 ?ltW // q_pos.
  by linear.
have t01 : 0 <= t <= 1 by rewrite t0 ltW.
rewrite x_it optimal_error_between //.
apply: (stairs_bound (a := fun j => U / N R m * sum_of_largest m (j%:R : R)) h1 K r0 t01 (esym x_it)).
by move=> j n b n0 hb; exact: (H_bound_holds U0 q1 Npos risk j n0 (larger_bound_holds q1 n0 hb)).
Qed.
