(* What a section assumes can hold: each theorem that stands under hypotheses, for three users with
   4, 2 and 1 samples in [0, 65] and eps = 4/5, over the rationals, with the hypotheses proved. *)
From mathcomp Require Import all_ssreflect all_algebra ring zify.
From UserDP Require Import akmv centre certificate chain chain_factor counts definitions grid_sum kkt lattice levels linear losses minimax moduli one_line open_domain optimum parts privacy projected range release_error shipped six_cells stationary strategies weighing.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Notation R := rat_realFieldType.
Definition m (l : 'I_3) : nat := (nth 0 [:: 4; 2; 1] l)%N.
Definition U : R := 65%:R.
Definition eps : R := 4%:R / 5%:R.

Lemma U0 : 0 < U. Proof. by rewrite ltr0n. Qed.
Lemma U_ge0 : 0 <= U. Proof. exact: ltW U0. Qed.
Lemma m0 l : (0 < m l)%N. Proof. by case: l => [[|[|[|]]]]. Qed.
Lemma Npos : (0 < \sum_l m l)%N. Proof. by rewrite !big_ord_recl big_ord0. Qed.

(* akmv: sums of 4, 2 and 1 in [0, 4]. *)
Definition s (l : 'I_3) : R := (m l)%:R.
Lemma range l : 0 <= s l <= 4%:R.
Proof. by rewrite ler0n ler_nat; case: l => [[|[|[|]]]]. Qed.
Lemma V0 : 0 < 4%:R :> R. Proof. by rewrite ltr0n. Qed.
Definition thm_akmv_exact := @UserDP.akmv.thm_akmv_exact R 3 m s 4%:R range V0.
Definition density_in_cell := @UserDP.release_error.density_in_cell R 3 s 4%:R range V0.
Definition twice_at_threshold := @UserDP.akmv.twice_at_threshold R 3 m U U0 Npos.
Definition twice_however_drawn := @UserDP.akmv.twice_however_drawn R 3 m U U0 Npos.
Definition akmv_at_least_twice := @UserDP.akmv.akmv_at_least_twice R 3 m U U0 Npos.

(* chain, lattice, minimax, chain_factor: q = 2. *)
Definition q : R := 2%:R.
Lemma q1 : 1 < q. Proof. by rewrite ltr1n. Qed.
Definition thm_certificate := @UserDP.certificate.thm_certificate R 3 m U q U_ge0 q1.
Definition modulus_of_mean := @UserDP.moduli.modulus_of_mean R 3 m U U_ge0 Npos.
Definition variance_moves := @UserDP.moduli.variance_moves R 3 m U U_ge0 Npos.
Definition thm_chain := @UserDP.chain.thm_chain R 3 m U q U_ge0 q1 Npos.
Definition lem_prior := @UserDP.lattice.lem_prior R q q1.
Definition thm_lattice := @UserDP.lattice.thm_lattice R q q1.
Definition lattice_exists := @UserDP.lattice.lattice_exists R q q1.
Definition lem_one_user := @UserDP.minimax.lem_one_user R 3 m U q U0 q1 Npos.
Definition thm_minimax := @UserDP.minimax.thm_minimax R 3 m U q U0 q1 Npos.
Definition cor_chain := @UserDP.chain_factor.cor_chain R 3 m U q U_ge0 q1 Npos.
Definition cor_chain_staircase := @UserDP.chain_factor.cor_chain_staircase R 3 m U q U_ge0 q1 Npos.
Definition cor_chain_equal := @UserDP.chain_factor.cor_chain_equal R 3 m U q U_ge0 q1 Npos.

(* grid_sum: from -5/2 to 5/2 in steps of 1. *)
Definition half_five : R := 5%:R / 2%:R.
Lemma ends_around : - half_five <= 0 <= half_five.
Proof. by rewrite /half_five; apply/andP; split; linear. Qed.
Lemma step_range : - Posz 1074 <= 0 <= Posz 971. Proof. by []. Qed.
Lemma spacing_is : grid_sum.spacing R 0 = 1. Proof. by []. Qed.
Lemma sum_small p : (3 <= p)%N ->
  (maxn 3 2)%:R * Num.max (- - half_five) half_five < 2 ^+ p * grid_sum.spacing R 0.
Proof.
move=> p3; rewrite spacing_is mulr1 opprK maxxx; apply: (@lt_le_trans _ _ (2 ^+ 3)).
  have -> : 2 ^+ 3 = 8%:R :> R by rewrite -natrX.
  by rewrite /half_five /maxn /=; linear.
by rewrite ler_weexpn2l ?ler1n.
Qed.
Lemma three : (3 <= 53)%N. Proof. by []. Qed.
Lemma two_steps : - 2%:R - 1 < - half_five / 1 <= - 2%:R /\ 2%:R <= half_five / 1 < 2%:R + 1.
Proof. by rewrite !divr1 /half_five; split; linear. Qed.
Lemma low_in_steps : (- Posz 2)%:~R - 1 < - half_five / grid_sum.spacing R 0 <= (- Posz 2)%:~R.
Proof. by case: two_steps. Qed.
Lemma high_in_steps : (Posz 2)%:~R <= half_five / grid_sum.spacing R 0 < (Posz 2)%:~R + 1.
Proof. by case: two_steps. Qed.
Definition grid_sum := @UserDP.grid_sum.grid_sum R 3 (- half_five) half_five 0 (- Posz 2) (Posz 2)
  ends_around step_range (sum_small three) low_in_steps high_in_steps.

(* kkt: 2 / eps = 5/2, so k = 3. *)
Lemma eps0 : 0 < eps. Proof. by rewrite divr_gt0 ?ltr0n. Qed.
Lemma kc : is_ceil 3 (2 / eps).
Proof.
have -> : 2 / eps = 5%:R / 2%:R by rewrite /eps; field.
by split; linear.
Qed.
Definition thm_multipliers := @UserDP.kkt.thm_multipliers R 3 m U eps eps0 U0 m0 3 kc.
Definition share_at_T := @UserDP.kkt.share_at_T R 3 m U eps eps0 U0 3 kc.
Definition only_multipliers := @UserDP.kkt.only_multipliers R 3 m U eps eps0 U0 m0 3 kc.
Definition other_minimisers := @UserDP.kkt.other_minimisers R 3 m U eps eps0 U0 m0 3 kc.
Definition printed_multipliers_fail := @UserDP.kkt.printed_multipliers_fail R 3 m U eps eps0 U0 3 kc.
Definition thm_dual := @UserDP.kkt.thm_dual R 3 m U eps eps0 U0 m0 3 kc.

(* levels: 53 bits, levels of 40, and arithmetic that is exact. *)
Lemma rounding : levels.is_rounding 53 (fun z : R => z).
Proof.
move=> z; rewrite subrr normr0; apply: divr_ge0; first exact: normr_ge0.
by apply: exprn_ge0; exact: ler0n.
Qed.
Lemma bp : (40 + 13 <= 53)%N. Proof. by []. Qed.
Definition grid_level := @UserDP.levels.grid_level R 53 40 (fun z => z) rounding bp.
Definition grid_error := @UserDP.levels.grid_error R 53 40 (fun z => z) rounding bp.
(* An engine whose integers start again from below where 64 bits end. *)
Definition wrap (n : int) : int := ((n + 2 ^+ 63) %% 2 ^+ 64)%Z - 2 ^+ 63.
Lemma wrap_exact n : levels.fits n -> wrap n = n.
Proof. by rewrite /levels.fits /wrap; lia. Qed.
Definition right (n : int) (k : nat) : int := (n %/ 2 ^+ k)%Z.
Definition last_bits (n : int) (k : nat) : int := (n %% 2 ^+ k)%Z.
Definition clipped (n low high : int) : int := levels.clip_whole low high n.
Lemma exact : levels.is_exact_in_64_bits (fun n => n) (fun i j => wrap (i + j))
  (fun i j => wrap (i - j)) (fun i j => wrap (i * j)) right last_bits clipped.
Proof. by split=> // i j _ _; exact: wrap_exact. Qed.
Definition grid_halves := @UserDP.levels.grid_halves _ _ _ _ _ _ _ _ exact.

(* Every value has the highest level, 2^40, the centre is the middle, and steps are 2^30 levels. *)
Definition level (l : 'I_3) (j : 'I_(m l)) : int := 2 ^+ 40.
Definition all_kept (l : 'I_3) (j : 'I_(m l)) : bool := true.
Lemma b40 : (40 <= 40)%N. Proof. by []. Qed.
Lemma s80 : (30 <= 80)%N. Proof. by []. Qed.
Lemma levels_ok l j : 0 <= @level l j <= 2 ^+ 40. Proof. by rewrite /level; lia. Qed.
Lemma o_ok : 0 <= (2 ^+ 39 : int) <= 2 ^+ 40. Proof. by lia. Qed.
Lemma ends_ok : - Posz 5 <= 0 <= Posz 5. Proof. by []. Qed.
Lemma low_fits : levels.fits (- Posz 5). Proof. by rewrite /levels.fits; lia. Qed.
Lemma high_fits : levels.fits (Posz 5). Proof. by rewrite /levels.fits; lia. Qed.
Lemma users_small l : (m l)%:Z <= 2 ^+ 42.
Proof. by have : (m l <= 4)%N; [case: l => [[|[|[|]]]] | lia]. Qed.
Lemma all_small : (\sum_l m l)%:Z * 2 ^+ 40 <= 2 ^+ (61 + 30).
Proof.
have -> : (\sum_l m l = 7)%N by rewrite !big_ord_recl big_ord0.
by lia.
Qed.
Lemma left_out l j : ~~ @all_kept l j -> @level l j = 2 ^+ 39. Proof. by case/negP. Qed.
Definition grid_total := @UserDP.levels.grid_total _ _ _ _ _ _ _ _ exact 40 3 30 m level all_kept (2 ^+ 39)
  (- Posz 5) (Posz 5) b40 s80 levels_ok o_ok ends_ok low_fits high_fits users_small all_small left_out.

(* one_line: the centre U / 2, the total width 100. *)
Lemma cU : 0 <= U / 2 <= U.
Proof. by have u := U_ge0; apply/andP; split; linear. Qed.
Lemma S0 : 0 <= 100%:R :> R. Proof. exact: ler0n. Qed.
Definition thm_one_line := @UserDP.one_line.thm_one_line R 3 m U (U / 2) 100%:R Npos cU S0.

Definition lem_symmetric := @UserDP.optimum.lem_symmetric R 3 m U U_ge0 Npos.
Definition lem_reduction := @UserDP.optimum.lem_reduction R 3 m U U_ge0 Npos.
Definition thm_frontier := @UserDP.optimum.thm_frontier R 3 m U U_ge0 Npos.
Definition symmetric_is_clipping := @UserDP.optimum.symmetric_is_clipping R 3 m U U_ge0.
Definition thm_main := @UserDP.optimum.thm_main R 3 m U U_ge0 Npos.
Definition prp_all_minimisers := @UserDP.optimum.prp_all_minimisers R 3 m U U_ge0 Npos.
Definition printed_minimisers := @UserDP.optimum.printed_minimisers R 3 m U U_ge0 Npos.
Definition thm_optimum := @UserDP.optimum.thm_optimum R 3 m U U_ge0 Npos.

Definition open_domain := @UserDP.open_domain.open_domain R 3 m U U0 Npos.

(* privacy: the rank 3, and 1 / 2 for exp (- eta). *)
Definition half : R := 1 / 2%:R.
Lemma q01 : 0 < half <= 1. Proof. by rewrite /half; apply/andP; split; linear. Qed.
Definition thm_quantile := @UserDP.privacy.thm_quantile R 3 U 3 half q01.
Definition quantile_tight := @UserDP.privacy.quantile_tight R 3 m U 3 half q01 U0 m0.

(* weighing: two samples of each user are kept, the first, or the one that there is. *)
Lemma k_le : (0 < 2 <= nth_count m 0)%N.
Proof. by apply: leq_trans (le_first_count m ord0). Qed.
Definition kept (l : 'I_3) : {set 'I_(m l)} := [set j : 'I_(m l) | (j < 2)%N].
Lemma size_kept l : #|kept l| = weighing.w m 2 l.
Proof.
rewrite /kept cardsE -sum1_card /weighing.w.
by case: l => [[|[|[|]]]] //= l3; rewrite big_mkcond !big_ord_recl big_ord0.
Qed.
Definition thm_weighing := @UserDP.weighing.thm_weighing R 3 m U 2 U0 m0 k_le Npos kept size_kept.
Definition weighing_on_average := @UserDP.weighing.weighing_on_average R 3 m U 2 U0 k_le Npos.
Definition weighing_best := @UserDP.weighing.weighing_best R 3 m U 2 U0 Npos.

Definition mean_sensitivity := @UserDP.shipped.mean_sensitivity R 3 m U U_ge0 Npos.
Definition any_noise := @UserDP.shipped.any_noise R 3 m U U_ge0 Npos.
Definition class_b := @UserDP.shipped.class_b R 3 m U U_ge0 Npos.
Definition class_b_losses := @UserDP.losses.class_b_losses R 3 m U U_ge0 Npos.

Definition strategy_drop := @UserDP.strategies.strategy_drop R 3 m U U0 m0 Npos.
Definition strategy_cap := @UserDP.strategies.strategy_cap R 3 m U U0 Npos.
Definition strategy_winsorise := @UserDP.strategies.strategy_winsorise R 3 m U U0 Npos.
Definition strategy_shrink := @UserDP.strategies.strategy_shrink R 3 m U U0 Npos.

Definition centre_guarantee := @UserDP.centre.centre_guarantee R 3 m U 100%:R eps Npos S0.
Definition centre_middle := @UserDP.centre.centre_middle R 3 m U 100%:R eps U0 Npos S0 eps0.
Definition centre_off := @UserDP.centre.centre_off R 3 m U 100%:R eps U0 Npos S0 eps0.
Definition centre_dataset := @UserDP.centre.centre_dataset R 3 m U 100%:R eps Npos S0 eps0.
Definition range_mechanism := @UserDP.range.range_mechanism R 3 m (- U) U Npos.
Definition range_every := @UserDP.range.range_every R 3 m (- U) U Npos.
Definition range_optimum := @UserDP.range.range_optimum R 3 m (- U) U Npos.

(* parts: the first user, and the others. *)
Definition first_user : pred 'I_3 := fun l => l == ord0.
Definition others : pred 'I_3 := fun l => l != ord0.
Lemma apart l : first_user l -> others l = false. Proof. by rewrite /first_user /others => ->. Qed.
Lemma some_first : 0 < parts.size_of R m first_user.
Proof. by rewrite /parts.size_of ltr0n (bigD1 ord0). Qed.
Lemma some_others : 0 < parts.size_of R m others.
Proof. by rewrite /parts.size_of ltr0n (bigD1 (lift ord0 ord0)). Qed.
Definition split_private := @UserDP.parts.split_private R 3 m U first_user others apart.
Definition split_guarantee := @UserDP.parts.split_guarantee R 3 m U first_user others apart some_first some_others.
Definition six_cells_private := @UserDP.six_cells.six_cells_private R 3 m first_user some_first.

(* stationary: the weight x + 1 / (1 + x) of a ratio x, which has the slope 1 - 1 / (1 + x) ^ 2. *)
Definition weight_of_ratio (x : R) : R := x + (1 + x)^-1.
Definition slope_of_weight (x : R) : R := 1 - (1 + x) ^- 2.
Lemma slope : stationary.has_slope weight_of_ratio slope_of_weight.
Proof.
have pos (x : R) : 0 <= x -> 0 < 1 + x by move=> x0; linear.
rewrite /weight_of_ratio /slope_of_weight; split=> [x y /pos a0 /pos b0|x y x0 xy|||x /pos a0].
- have [a aE] : {a | a = 1 + x} by exists (1 + x).
  have [b bE] : {b | b = 1 + y} by exists (1 + y).
  have [-> ->] : x = a - 1 /\ y = b - 1 by rewrite aE bE; split; ring.
  rewrite ![1 + (_ - 1)]addrC !subrK -subr_ge0; move: a0 b0; rewrite -aE -bE => a0 b0.
  have -> : b - 1 + b^-1 - (a - 1 + a^-1 + (1 - a ^- 2) * (b - 1 - (a - 1))) = (a - b) ^+ 2 / (a ^+ 2 * b).
    by field; rewrite !gt_eqF.
  by rewrite divr_ge0 ?sqr_ge0 // mulr_ge0 ?sqr_ge0 // ltW.
- have [a0 b0] : 0 < 1 + x /\ 0 < 1 + y by split; linear.
  rewrite ltr_add2l ltr_opp2 ltf_pinv ?posrE ?exprn_gt0 // ltr_sqr ?nnegrE ?(ltW a0) ?(ltW b0) //.
  by rewrite ltr_add2l.
- by rewrite addr0 expr1n invr1 subrr.
- by rewrite addr0 invr1 add0r ltr01.
by rewrite ltr_subl_addr ltr_addl invr_gt0 exprn_gt0.
Qed.
Definition weighed_convex := @UserDP.stationary.weighed_convex R 3 m U _ _ U0 Npos slope.
Definition best_in_piece := @UserDP.stationary.best_in_piece R 3 m U _ _ U0 Npos slope.
Definition best_of_all := @UserDP.stationary.best_of_all R 3 m U _ _ U0 Npos slope.

(* projected: the total width 100. *)
Lemma S_pos : 0 < 100%:R :> R. Proof. by rewrite ltr0n. Qed.
Definition projected_worst := @UserDP.projected.projected_worst R 3 m U 100%:R U0 Npos S_pos.
