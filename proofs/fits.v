(* Total and noise fit 64 bits: steps that are coarse enough, and how rarely the total with noise does not
   fit. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint ring zify.
From UserDP Require Import definitions linear counts exponential felt levels geometric discrete.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Steps.
Variables (R : realFieldType) (L b : nat) (m : 'I_L -> nat) (c : R).

(* begin prp-fits-definitions *)
(* Steps of 2^s levels, of b bits, are coarse enough for noise of scale c at sensitivity 1; m_star is the
   largest count. *)
Definition coarse_enough (s : nat) : bool :=
  let m_star := nth_count m 0 in
  ((\sum_l m l)%:Z * 2 ^+ b < 2 ^+ (61 + s)) && (c * (m_star%:R * 2 ^+ b / 2 ^+ s + 1) <= 2 ^+ 56).
(* end prp-fits-definitions *)

Lemma first_le_all : (nth_count m 0 <= \sum_l m l)%N.
Proof.
have -> : (\sum_l m l = sumn (sort geq [seq m l | l <- enum 'I_L]))%N.
  by rewrite sumnE (perm_big _ (permEl (perm_sort _ _))) big_map big_enum.
by rewrite /nth_count; case: (sort _ _) => //= a s; exact: leq_addr.
Qed.

Lemma power_pos k : 0 < 2 ^+ k :> R.
Proof. by rewrite exprn_gt0 ?ltr0n. Qed.

Lemma power_lt i j : (i < j)%N -> 2 ^+ i < 2 ^+ j :> int.
Proof. by move=> ij; rewrite ltr_eexpn2l. Qed.

Lemma coarse_at i j s : (b <= j)%N -> (\sum_l m l)%:Z <= 2 ^+ i -> 0 < c <= 2 ^+ 40 ->
  (i + j = 15 + s)%N -> coarse_enough s.
Proof.
move=> bj few /andP [c0 c40] ij; rewrite /coarse_enough; apply/andP; split.
  apply: (@le_lt_trans _ _ (2 ^+ (i + j))); last by apply: power_lt; rewrite ij ltn_add2r.
  by rewrite exprD; apply: (ler_pmul _ (ltW (power_gt0 b)) few (power_le bj)); exact: le0z_nat.
have few' : (nth_count m 0)%:R <= 2 ^+ i :> R.
  have -> : 2 ^+ i = (2 ^+ i : int)%:~R :> R by rewrite rmorphX.
  by rewrite pmulrn ler_int; apply: le_trans few; rewrite lez_nat first_le_all.
have bits : 2 ^+ b <= 2 ^+ j :> R by rewrite ler_weexpn2l ?ler1n.
apply: (@le_trans _ _ (2 ^+ 40 * (2 ^+ 15 + 1))).
  apply: ler_pmul => //; rewrite ?(ltW c0) //.
    by rewrite addr_ge0 ?ler01 // divr_ge0 ?mulr_ge0 ?ler0n ?(ltW (power_pos _)).
  rewrite ler_add2r ler_pdivr_mulr ?power_pos // -exprD -ij exprD.
  by apply: ler_pmul; rewrite ?ler0n ?(ltW (power_pos _)).
have -> : 2 ^+ 56 = 2 ^+ 40 * (2 * 2 ^+ 15) :> R by rewrite -exprS -exprD.
rewrite ler_pmul2l ?power_pos //; have : 1 <= 2 ^+ 15 :> R by rewrite exprn_ege1 // ler1n.
by move: (2 ^+ 15) => x; linear.
Qed.

(* begin prp-fits-steps *)
(* (1) There is a smallest such s, and it is at most 78. *)
Theorem steps_exist : (b <= 40)%N -> (\sum_l m l)%:Z <= 2 ^+ 53 -> 0 < c <= 2 ^+ 40 ->
  exists s : nat, [/\ (s <= 78)%N, coarse_enough s & forall s', coarse_enough s' -> (s <= s')%N].
(* end prp-fits-steps *)
Proof.
move=> b40 few cs; have ok := coarse_at (i := 53) (j := 40) (s := 78) b40 few cs erefl.
have [s s_ok least] := ex_minnP (ex_intro (fun s => coarse_enough s) _ ok).
by exists s; split=> //; exact: least.
Qed.

Lemma rounded_le s (n : int) : (rounded s n)%:~R <= n%:~R / 2 ^+ s + 1 / 2 :> R.
Proof.
have /andP [+ _] := rounded_of s n; have P0 := power_pos s.
rewrite -(ler_int R) !(rmorphD, rmorphM, rmorphX) /= => h.
have -> : n%:~R / 2 ^+ s + 1 / 2 = (2 * n%:~R + 2 ^+ s) / (2 * 2 ^+ s) :> R by field; rewrite gt_eqF.
by rewrite ler_pdivl_mulr // mulr_gt0 ?ltr0n.
Qed.

(* begin prp-fits-total *)
(* (2) The total is at most 2^62 in absolute value, and the scale of the noise at most 2^56.  The ends lie
   no further out than the sums of users with m_star records, in steps. *)
Theorem total_and_scale_fit (s : nat) (level : forall l, 'I_(m l) -> int) (o low high : int) :
  0 <= c -> coarse_enough s -> (forall l j, 0 <= level l j <= 2 ^+ b) -> 0 <= o <= 2 ^+ b ->
  let m_star := (nth_count m 0)%:Z in
  - rounded s (m_star * o) <= low <= 0 -> 0 <= high <= rounded s (m_star * (2 ^+ b - o)) ->
  `|total s low high (levels_of level o)| <= 2 ^+ 62 /\ c * (high - low)%:~R <= 2 ^+ 56.
(* end prp-fits-total *)
Proof.
move=> c0 /andP [small scale] levels_ok o_ok k /andP [l1 l2] /andP [h1 h2]; split.
  apply: le_trans (ler_norm_sum _ _ _) _; apply: (sum_clipped levels_ok o_ok) (ltW small).
  by rewrite l2 h1.
apply: le_trans scale; apply: ler_wpmul2l => //.
have := rounded_le s (k * o); have := rounded_le s (k * (2 ^+ b - o)).
have : high%:~R <= (rounded s (k * (2 ^+ b - o)))%:~R :> R by rewrite ler_int.
have : (- rounded s (k * o))%:~R <= low%:~R :> R by rewrite ler_int.
rewrite mulrNz [(high - low)%:~R]rmorphB; have -> : (k * (2 ^+ b - o))%:~R = (nth_count m 0)%:R * 2 ^+ b - (k * o)%:~R :> R.
  by rewrite !(rmorphM, rmorphB, rmorphX) /= -pmulrn mulrBr.
rewrite mulrBl; move: ((k * o)%:~R / 2 ^+ s) (_ * 2 ^+ b / 2 ^+ s) => x y.
by rewrite /=; linear.
Qed.
End Steps.

Section Tail.
Variables (R : realFieldType) (r : R) (n : int) (k : nat) (out : pred int).
Hypothesis r01 : 0 < r < 1.
Hypothesis far : forall z, out z -> ~~ (- Posz k.+1 <= z - n < Posz k.+1).

(* The probability of [n - k - 1, n + k] is 1 - r ^ (k + 1). *)
Lemma inside_sum : \sum_(z <- (n - Posz k.+1 :: window n k)) geometric r n z = 1 - r ^+ k.+1.
Proof.
have [r0 _] := andP r01; rewrite big_cons sum_window // /geometric.
have -> : n - Posz k.+1 - n = - Posz k.+1 by ring.
rewrite abszN absz_nat; move: (r ^+ k.+1) => p; field.
by rewrite gt_eqF // addr_gt0 ?ltr01.
Qed.

Lemma outside_sum v : is_sum_of (fun z => if out z then geometric r n z else 0) v -> v <= r ^+ k.+1.
Proof.
move=> hv; have g0 z : 0 <= geometric r n z by exact: geometric_ge0.
apply: (sum_bounded hv (c := n)) => j; pose s := n - Posz k.+1 :: window n k.
have us : uniq s by rewrite /= uniq_window mem_window andbT; lia.
pose w := window n (j + k.+1); have sw : {subset s <= w}.
  by move=> z; rewrite inE !mem_window => /orP [/eqP ->|]; lia.
pose h z := if out z then geometric r n z else 0; have h0 z : 0 <= h z by rewrite /h; case: ifP.
apply: (@le_trans _ _ (\sum_(z <- w) h z)).
  by apply: (sum_within h0); rewrite ?uniq_window //; apply: window_sub; exact: leq_addr.
have p : perm_eq s [seq z <- w | z \in s].
  apply: uniq_perm; rewrite ?filter_uniq ?uniq_window // => z; rewrite mem_filter.
  by case zs: (z \in s) => //=; rewrite sw.
have all1 : \sum_(z <- w) geometric r n z <= 1.
  rewrite sum_window; last by case/andP: r01.
  have [r0 _] := andP r01; rewrite ler_subl_addr ler_addl divr_ge0 ?mulr_ge0 ?exprn_ge0 ?addr_ge0 ?ler0n ?ler01 ?ltW //.
rewrite (bigID (fun z => z \in s)) /= big1 ?add0r => [|z zs]; last first.
  rewrite /h; case: ifP => // oz; case/negP: (far oz); move: zs.
  by rewrite inE mem_window => /orP [/eqP ->|]; lia.
apply: (@le_trans _ _ (\sum_(z <- w | z \notin s) geometric r n z)).
  by apply: ler_sum => z _; rewrite /h; case: ifP.
move: all1; rewrite (bigID (fun z => z \in s)) /= -[X in X + _ <= _]big_filter -(perm_big _ p) inside_sum.
by move: (\sum_(_ <- _ | _) _) => x; linear.
Qed.
End Tail.

(* The same for a total of i bits and a scale of j bits. *)
Lemma beyond_bits (R : realFieldType) (exp : R -> R) (i j d : nat) (n : int) (s v : R) (out : pred int) :
  is_exponential exp -> `|n| <= 2 ^+ i -> 0 < s <= 2 ^+ j -> (d + j = i)%N ->
  (forall z, out z -> ~~ (- 2 ^+ i.+1 <= z < 2 ^+ i.+1)) ->
  is_sum_of (fun z => if out z then geometric (exp (- (1 / s))) n z else 0) v -> v <= exp (- 2 ^+ d).
Proof.
move=> is_exp n_small /andP [s0 sj] dj outside hv; have r01 := rate_range is_exp s0.
have [k kE] : exists k : nat, Posz k.+1 = 2 ^+ i.
  by exists (absz (2 ^+ i : int)).-1; have := power_gt0 i; move: (2 ^+ i) => x; lia.
have far z : out z -> ~~ (- Posz k.+1 <= z - n < Posz k.+1).
  by move/outside; apply: contra; rewrite kE exprS; move: (2 ^+ i) n_small => x; lia.
apply: le_trans (outside_sum r01 far hv) _; rewrite power_of_rate //; apply: (exp_mono is_exp).
rewrite ler_opp2 ler_pdivl_mulr //.
have -> : k.+1%:R = 2 ^+ d * 2 ^+ j :> R by rewrite -exprD dj pmulrn kE rmorphX.
by rewrite ler_pmul2l // exprn_gt0 ?ltr0n.
Qed.

(* begin prp-fits *)
(* (3) The total with its noise does not fit 64 bits with a probability of at most 1 / exp 64. *)
Theorem rarely_beyond (R : realFieldType) (exp : R -> R) (n : int) (s v : R) :
  is_exponential exp -> `|n| <= 2 ^+ 62 -> 0 < s <= 2 ^+ 56 ->
  is_sum_of (fun z => if ~~ fits z then geometric (exp (- (1 / s))) n z else 0) v -> v <= 1 / exp 64%:R.
(* end prp-fits *)
Proof.
move=> is_exp n62 s56 hv; have -> : 64%:R = 2 ^+ 6 :> R by rewrite -natrX.
have p := exp_gt0 is_exp (2 ^+ 6); have -> : 1 / exp (2 ^+ 6) = exp (- 2 ^+ 6).
  apply: (mulIf (lt0r_neq0 p)); rewrite divfK ?gt_eqF // -(exp_split is_exp) addNr; exact/esym/(exp0 is_exp).
have far z : ~~ fits z -> ~~ (- 2 ^+ 62.+1 <= z < 2 ^+ 62.+1); first by rewrite /fits; apply.
apply: beyond_bits is_exp n62 s56 (erefl : (6 + 56 = 62)%N) far hv.
Qed.
