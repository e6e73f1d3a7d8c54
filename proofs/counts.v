(* The counts in order, and the sum of the largest ones, H of the book. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Counts.
Variables (L : nat) (m : 'I_L -> nat).
Notation c := (nth_count m).
Let sorted_counts := sort geq [seq m l | l <- enum 'I_L].

Lemma size_sorted_counts : size sorted_counts = L.
Proof. by rewrite size_sort size_map size_enum_ord. Qed.

Lemma geq_total : total geq. Proof. by move=> x y; apply: leq_total. Qed.
Lemma geq_trans : transitive geq.
Proof. by move=> y x z /= xy yz; apply: leq_trans yz xy. Qed.

Lemma nth_count_beyond i : (L <= i)%N -> c i = 0%N.
Proof. by move=> Li; apply: nth_default; rewrite size_sorted_counts. Qed.

Lemma nth_count_mono i j : (i <= j)%N -> (c j <= c i)%N.
Proof.
move=> ij; case: (ltnP j L) => jL; last by rewrite (nth_count_beyond jL).
have:= sorted_leq_nth geq_trans leqnn 0%N (sort_sorted geq_total [seq m l | l <- enum 'I_L]).
by apply=> //; rewrite inE size_sorted_counts // (leq_ltn_trans ij).
Qed.

Lemma sum_over_sorted (R : realFieldType) (g : nat -> R) :
  \sum_l g (m l) = \sum_(i < L) g (c i).
Proof.
have -> : \sum_l g (m l) = \sum_(k <- [seq m l | l <- enum 'I_L]) g k.
  by rewrite big_map big_enum.
have p : perm_eq [seq m l | l <- enum 'I_L] sorted_counts by rewrite perm_sym perm_sort.
by rewrite (perm_big _ p) (big_nth 0%N) big_mkord size_sorted_counts.
Qed.

Lemma first_count : (0 < \sum_l m l)%N -> exists l, m l = c 0.
Proof.
move=> Npos; have : c 0 \in [seq m l | l <- enum 'I_L].
  rewrite -(mem_sort geq) mem_nth // size_sort size_map size_enum_ord.
  case: (posnP L) => // L0; move: Npos; rewrite big1 // => l.
  by have := ltn_ord l; rewrite [X in (_ < X)%N]L0.
by case/mapP => l _ ->; exists l.
Qed.

Lemma le_first_count l : (m l <= c 0)%N.
Proof.
have : m l \in sort geq [seq m l | l <- enum 'I_L] by rewrite mem_sort map_f ?mem_enum.
by case/(nthP 0%N) => i _ <-; exact: nth_count_mono (leq0n i).
Qed.
End Counts.

Section SumOfLargest.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).
Notation N := (N R m).
Notation c := (nth_count m).

(* The part of the i-th largest count, i = 0, 1, ..., that the sum of the x largest contains. *)
Definition weight (x : R) (i : nat) : R := Num.min 1 (Num.max 0 (x - i%:R)).

Lemma weight_sum x n : 0 <= x -> \sum_(i < n) weight x i = Num.min n%:R x.
Proof.
move=> x0; elim: n => [|n IH]; first by rewrite big_ord0 min_l.
rewrite big_ord_recr /= IH /weight -(addn1 n) natrD.
case: (leP x n%:R) => xn.
  rewrite max_l ?subr_le0 // min_r ?ler01 // addr0 min_r //.
  by rewrite (le_trans xn) // ler_addl ler01.
rewrite max_r ?subr_ge0 ?ltW //.
case: (leP 1 (x - n%:R)) => h.
  by rewrite min_l // addrC -ler_subr_addr.
by rewrite min_r; [ring | rewrite addrC -ler_subl_addr ltW].
Qed.

Lemma weight_ge0 x i : 0 <= weight x i.
Proof. by rewrite le_minr ler01 le_maxr lexx. Qed.

Lemma weight_le1 x i : weight x i <= 1.
Proof. by rewrite le_minl lexx. Qed.

Lemma sum_largest_split S x : 0 <= x ->
  U * sum_of_largest m x = \sum_(i < L) weight x i * (U * (c i)%:R - S) + S * Num.min L%:R x.
Proof.
move=> x0; rewrite -(weight_sum L x0) /sum_of_largest !mulr_sumr -big_split /=.
by apply: eq_bigr => i _; rewrite -/(weight x i); ring.
Qed.

Lemma sum_largest_all (x : R) : L%:R <= x -> sum_of_largest m x = N.
Proof.
move=> Lx; rewrite /sum_of_largest /definitions.N natr_sum (sum_over_sorted m (fun k => k%:R)).
apply: eq_bigr => i _; rewrite -[RHS]mul1r; congr (_ * _).
have : i.+1%:R <= L%:R :> R by rewrite ler_nat.
by rewrite -addn1 natrD => iL; minmax; linear.
Qed.

Lemma sum_largest_first (x : R) : 0 <= x -> x <= 1 -> sum_of_largest m x = x * (c 0)%:R.
Proof.
move=> x0 x1; rewrite /sum_of_largest; case: (posnP L) => [L0|L0].
  rewrite nth_count_beyond ?L0 // mulr0 big1 // => i; have := ltn_ord i.
  by rewrite [X in (_ < X)%N]L0.
rewrite (bigD1 (Ordinal L0)) //= big1 ?addr0 => [|i /negbTE].
  by congr (_ * _); minmax; linear.
rewrite -val_eqE /= => i0.
have : 1 <= i%:R :> R by rewrite ler1n lt0n i0.
by move=> i1; rewrite (_ : Num.min _ _ = 0) ?mul0r //; minmax; linear.
Qed.

Lemma weight_mono (x y : R) i : x <= y -> weight x i <= weight y i.
Proof. by rewrite /weight => xy; minmax; linear. Qed.

Lemma sum_largest_mono (x y : R) : x <= y -> sum_of_largest m x <= sum_of_largest m y.
Proof.
move=> xy; apply: ler_sum => i _; apply: ler_wpmul2r; rewrite ?ler0n //.
exact: weight_mono.
Qed.

Lemma count_pos i : (forall l, 0 < m l)%N -> (i < L)%N -> (0 < c i)%N.
Proof.
move=> m0 iL; have : c i \in [seq m l | l <- enum 'I_L].
  by rewrite -(mem_sort geq) mem_nth // size_sort size_map size_enum_ord.
by case/mapP => l _ ->.
Qed.

Lemma sum_largest_grows (x y : R) : (forall l, 0 < m l)%N -> 0 <= x -> x <= y -> y <= L%:R -> y - x <= sum_of_largest m y - sum_of_largest m x.
Proof.
move=> m0 x0 xy yL; have wx := weight_sum L x0; have wy := weight_sum L (le_trans x0 xy).
rewrite !min_r ?(le_trans xy) // in wx wy; rewrite -[y in leLHS]wy -[x in leLHS]wx -!sumrB.
apply: ler_sum => i _.
rewrite -mulrBl -[leLHS]mulr1; apply: ler_wpmul2l; first by rewrite subr_ge0 weight_mono.
by rewrite ler1n count_pos.
Qed.

Lemma sum_largest_whole j : (j <= L)%N -> sum_of_largest m (j%:R : R) = \sum_(0 <= i < j) (c i)%:R.
Proof.
move=> jL; rewrite /sum_of_largest -(big_mkord xpredT (fun i => weight (j%:R : R) i * (c i)%:R)).
rewrite (big_cat_nat _ (n := j)) //= [X in _ + X]big_nat_cond [X in _ + X]big1 ?addr0; last first.
  move=> i /andP [/andP [ji _] _]; rewrite (_ : weight _ _ = 0) ?mul0r // /weight.
  by have : j%:R <= i%:R :> R; [rewrite ler_nat | move=> h; minmax; linear].
apply: eq_big_nat => i /andP [_ ij]; rewrite (_ : weight _ _ = 1) ?mul1r // /weight.
have : i.+1%:R <= j%:R :> R by rewrite ler_nat.
by rewrite -addn1 natrD => h; minmax; linear.
Qed.

Hypothesis U0 : 0 <= U.

(* Weak duality: the closed form is a lower bound at every S ... *)
Lemma sum_largest_le S x : 0 <= x -> 0 <= S ->
  U * sum_of_largest m x <= \sum_l Num.max (U * (m l)%:R - S) 0 + x * S.
Proof.
move=> x0 S0; rewrite (sum_largest_split S x0) (sum_over_sorted m (fun k => Num.max (U * k%:R - S) 0)).
apply: ler_add; last first.
  by rewrite mulrC; apply: ler_wpmul2r; rewrite // le_minl lexx orbT.
apply: ler_sum => i _; case: (leP (U * (c i)%:R - S) 0) => h.
  by rewrite mulr_ge0_le0 ?weight_ge0.
by rewrite -[leRHS]mul1r; apply: ler_wpmul2r; rewrite ?weight_le1 // ltW.
Qed.

(* ... and is attained at the k-th largest value. *)
Lemma sum_largest_eq k x : 0 < x -> is_ceil k x ->
  let T := U * (c k.-1)%:R in
  U * sum_of_largest m x = \sum_l Num.max (U * (m l)%:R - T) 0 + x * T.
Proof.
move=> x0 [kx xk] T; have k0 : (0 < k)%N by rewrite -(ltr0n R) (lt_le_trans x0).
have kE : k%:R - 1 = k.-1%:R :> R by rewrite -[in LHS](prednK k0) -addn1 natrD addrK.
rewrite (sum_largest_split T (ltW x0)) (sum_over_sorted m (fun j => Num.max (U * j%:R - T) 0)).
congr (_ + _); last first.
  case: (leP L%:R x) => Lx; last by rewrite mulrC.
  case: (ltnP k.-1 L) => kL; last by rewrite /T nth_count_beyond // mulr0 mulr0 mul0r.
  have : x <= L%:R by rewrite (le_trans xk) // ler_nat -(prednK k0).
  by move=> xL; rewrite (@le_anti _ _ L%:R x) ?Lx // mulrC.
apply: eq_bigr => i _; case: (ltngtP i k.-1) => ik.
- have ci : T <= U * (c i)%:R.
    by apply: ler_wpmul2l; rewrite // ler_nat nth_count_mono // ltnW.
  rewrite max_l ?subr_ge0 // /weight min_l ?mul1r // le_maxr; apply/orP; right.
  rewrite ler_subr_addr (le_trans _ (ltW kx)) // kE -(natrD _ 1) ler_nat add1n.
  exact: ik.
- have ci : U * (c i)%:R <= T.
    by apply: ler_wpmul2l; rewrite // ler_nat nth_count_mono // ltnW.
  rewrite max_r ?subr_le0 // /weight max_l ?min_r ?mul0r // subr_le0.
  by rewrite (le_trans xk) // ler_nat -(prednK k0).
by rewrite ik subrr mulr0 max_l.
Qed.

End SumOfLargest.
