(* From the table to the number: records with ids become levels, one row per user, a total of clipped sums
   in whole numbers, and with geometric noise the number that is published. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint ring zify.
From UserDP Require Import definitions linear exponential felt levels geometric discrete.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin def-table *)
(* A table is a sequence of records: the id of a user, and a value.  Each user has one row. *)
Definition record_ids (V : Type) (I : eqType) (t : seq (I * V)) : seq I := [seq r.1 | r <- t].
Definition table_users (V : Type) (I : eqType) (t : seq (I * V)) : seq I := undup (record_ids t).
(* What is public: the users' numbers of records, the largest first. *)
Definition public_counts (V : Type) (I : eqType) (t : seq (I * V)) : seq nat :=
  sort geq [seq count_mem u (record_ids t) | u <- table_users t].
(* Neighbours have each id equally often and, but for the records of one user, the same records: in
   whatever order. *)
Definition differ_in_one_user (V : eqType) (I : eqType) (t t' : seq (I * V)) : Prop :=
  perm_eq (record_ids t) (record_ids t')
  /\ exists u, perm_eq [seq r <- t | r.1 != u] [seq r <- t' | r.1 != u].

(* What a release decides from the counts: the level of the centre, steps of 2^s levels, where sums are
   clipped, the scale of the noise, both in steps, and what is published for a total with noise. *)
Record plan (R : realFieldType) (T : Type) : Type :=
  Plan { origin : int; step_bits : nat; lowest : int; highest : int; noise_scale : R; publish : int -> T }.

(* A user's row: the sum of the levels, each less the origin. *)
Definition user_row (V : Type) (I : eqType) (level : V -> int) (o : int) (t : seq (I * V)) (u : I) : int :=
  \sum_(r <- t | r.1 == u) (level r.2 - o).
(* Rows are rounded to steps, clipped, and added up. *)
Definition table_total (V : Type) (I : eqType) (R : realFieldType) (T : Type) (level : V -> int)
    (P : plan R T) (t : seq (I * V)) : int :=
  \sum_(u <- table_users t)
    clip_whole (lowest P) (highest P) (rounded (step_bits P) (user_row level (origin P) t u)).
(* The total with noise is z with this probability. *)
Definition noisy_chance (V : Type) (I : eqType) (R : realFieldType) (T : Type) (exp : R -> R)
    (level : V -> int) (P : plan R T) (t : seq (I * V)) (z : int) : R :=
  geometric (exp (- (1 / noise_scale P))) (table_total level P t) z.
(* What is published is in A with the probability p. *)
Definition is_chance_of (V : Type) (I : eqType) (R : realFieldType) (T : Type) (exp : R -> R)
    (level : V -> int) (P : plan R T) (t : seq (I * V)) (A : T -> bool) (p : R) : Prop :=
  is_sum_of (fun z => if A (publish P z) then noisy_chance exp level P t z else 0) p.
(* The noise is enough for the largest change of the total by one user. *)
Definition plan_has_noise (R : realFieldType) (T : Type) (eps : R) (P : plan R T) : Prop :=
  [/\ lowest P <= highest P, 0 < noise_scale P & (highest P - lowest P)%:~R / eps <= noise_scale P].
(* end def-table *)

Section Table.
Variables (V : eqType) (I : eqType) (level : V -> int).
Implicit Types t : seq (I * V).

Lemma filter_ids t u : record_ids [seq r <- t | r.1 == u] = [seq i <- record_ids t | i == u].
Proof. by rewrite /record_ids filter_map. Qed.

Lemma same_counts t t' : perm_eq (record_ids t) (record_ids t') ->
  perm_eq (table_users t) (table_users t') /\ public_counts t = public_counts t'.
Proof.
move=> same; have users : perm_eq (table_users t) (table_users t').
  by apply: uniq_perm; rewrite ?undup_uniq // => u; rewrite !mem_undup (perm_mem same).
split=> //; apply/perm_sortP; [by move=> ? ?; exact: leq_total | by move=> ? ? ?; exact: (rev_trans leq_trans)
  | by move=> m n /anti_leq | ].
have -> : [seq count_mem u (record_ids t) | u <- table_users t]
        = [seq count_mem u (record_ids t') | u <- table_users t].
  by apply: eq_map => u; exact: (permP same).
exact: perm_map.
Qed.

(* The rows of all other users are the same. *)
Lemma row_same o t t' u v : perm_eq [seq r <- t | r.1 != u] [seq r <- t' | r.1 != u] -> v != u ->
  user_row level o t v = user_row level o t' v.
Proof.
move=> same vu; rewrite /user_row.
have E (s : seq (I * V)) : \sum_(r <- s | r.1 == v) (level r.2 - o)
    = \sum_(r <- [seq r <- s | r.1 != u] | r.1 == v) (level r.2 - o).
  rewrite big_filter_cond; apply: eq_bigl => r.
  by case: (eqVneq r.1 v) => [->|]; rewrite ?vu ?andbF.
by rewrite E [RHS]E; exact: perm_big.
Qed.

Lemma total_moves (R : realFieldType) (T : Type) (P : plan R T) t t' : differ_in_one_user t t' ->
  lowest P <= highest P ->
  `|table_total level P t - table_total level P t'| <= highest P - lowest P.
Proof.
move=> [same [u rows]] ends; have [users _] := same_counts same.
pose f (s : seq (I * V)) v := clip_whole (lowest P) (highest P) (rounded (step_bits P) (user_row level (origin P) s v)).
rewrite /table_total -[\sum_(v <- table_users t) _]/(\sum_(v <- table_users t) f t v).
rewrite -[\sum_(v <- table_users t') _]/(\sum_(v <- table_users t') f t' v) -(perm_big _ users) -sumrB.
have range s v : lowest P <= f s v <= highest P by rewrite /f /clip_whole; move: (rounded _ _) => q; lia.
have [ut|ut] := boolP (u \in table_users t); last first.
  rewrite big_seq big1 ?normr0 ?subr_ge0 // => v vt; rewrite /f (row_same _ rows) ?subrr //.
  by apply: contraNneq ut => <-.
rewrite (bigD1_seq u) ?undup_uniq //= big1 ?addr0 => [|v vu]; last by rewrite /f (row_same _ rows vu) subrr.
by have := range t u; have := range t' u; move: (f t u) (f t' u) => a c; lia.
Qed.
End Table.

(* begin thm-table-private *)
(* Whatever levels are, whatever is decided from the counts and whatever is published: between neighbours
   the probability of each event grows by at most the factor exp eps. *)
Theorem table_private (R : realFieldType) (exp : R -> R) (I V : eqType) (T : Type) (eps : R)
    (level : V -> int) (decide : seq nat -> plan R T) (t t' : seq (I * V)) :
  is_exponential exp -> 0 < eps -> plan_has_noise eps (decide (public_counts t)) ->
  differ_in_one_user t t' -> forall (A : T -> bool) (p p' : R),
  is_chance_of exp level (decide (public_counts t)) t A p ->
  is_chance_of exp level (decide (public_counts t')) t' A p' -> p <= exp eps * p'.
(* end thm-table-private *)
Proof.
move=> is_exp e0 [ends s0 ws] near A p p'; have [_ <-] := same_counts (proj1 near).
move: (decide _) ends s0 ws => P ends s0 ws hp hp'; have moves := total_moves level near ends.
apply: (sum_le hp (sum_scale (exp eps) hp')) => z; case: ifP => _; last by rewrite mulr0.
have w0 : 0 <= highest P - lowest P by rewrite subr_ge0.
apply: (geometric_ratio (w := absz (highest P - lowest P)) z is_exp s0 _ e0).
  by rewrite pmulrn gez0_abs.
by move: moves; lia.
Qed.

(* Tables with values in a field. *)
Section Numbers.
Variables (R : realFieldType) (I : eqType).

(* begin thm-table-definitions *)
Definition table_mean (t : seq (I * R)) : R := (\sum_(r <- t) r.2) / (size t)%:R.
Definition table_in_range (lo up : R) (t : seq (I * R)) : Prop := forall r, r \in t -> lo <= r.2 <= up.
(* With levels h apart: a step of the total, as a part of the mean, and the number that has the noisy total
   z. *)
Definition mean_step (h : R) (T : Type) (P : plan R T) (counts : seq nat) : R :=
  2 ^+ step_bits P * h / (sumn counts)%:R.
Definition number_at (lo h : R) (T : Type) (P : plan R T) (counts : seq nat) (z : int) : R :=
  lo + h * (origin P)%:~R + mean_step h P counts * z%:~R.
(* The largest bias of clipping, with all values at one end of the range or all at the other. *)
Definition largest_bias (lo up h : R) (T : Type) (P : plan R T) (counts : seq nat) : R :=
  let centre := lo + h * (origin P)%:~R in
  let to_end (e : int) : R := 2 ^+ step_bits P * h * e%:~R in
  Num.max (\sum_(c <- counts) Num.max (c%:R * (centre - lo) + to_end (lowest P)) 0)
          (\sum_(c <- counts) Num.max (c%:R * (up - centre) - to_end (highest P)) 0) / (sumn counts)%:R.
(* A bound on the error from whole numbers: levels, rows in steps, and noise in steps. *)
Definition whole_cost (level_off h : R) (T : Type) (P : plan R T) (counts : seq nat) : R :=
  level_off + (if (0 < step_bits P)%N then 2 ^+ step_bits P / 2 * h * (size counts)%:R / (sumn counts)%:R else 0)
  + mean_step h P counts.
(* A plan for levels of b bits: total and noise fit, and what is published is a number moved into the
   range. *)
Definition is_plan (eps lo up h : R) (b : nat) (counts : seq nat) (P : plan R R) : Prop :=
  [/\ plan_has_noise eps P, lowest P <= 0 <= highest P, 0 <= origin P <= 2 ^+ b,
      (sumn counts)%:Z * 2 ^+ b <= 2 ^+ (61 + step_bits P)
    & forall z, publish P z = clip lo up (number_at lo h P counts z)].
(* end thm-table-definitions *)

(* Sums over users, and over their numbers of records. *)
Lemma sum_by_user (A : zmodType) (t : seq (I * R)) (f : I * R -> A) :
  \sum_(u <- table_users t) \sum_(r <- t | r.1 == u) f r = \sum_(r <- t) f r.
Proof.
rewrite (exchange_big_dep predT) //= big_seq [RHS]big_seq; apply: eq_bigr => r rt.
have ut : r.1 \in table_users t by rewrite mem_undup; exact: map_f.
rewrite (eq_bigl (pred1 r.1)) => [|u]; last exact: eq_sym.
by rewrite -big_filter filter_pred1_uniq ?undup_uniq // big_seq1.
Qed.

Lemma sum_by_count (A : zmodType) (t : seq (I * R)) (f : nat -> A) :
  \sum_(c <- public_counts t) f c = \sum_(u <- table_users t) f (count_mem u (record_ids t)).
Proof. by rewrite (perm_big _ (permEl (perm_sort _ _))) big_map. Qed.

Lemma count_of (t : seq (I * R)) u : count_mem u (record_ids t) = size [seq r <- t | r.1 == u].
Proof. by rewrite size_filter /record_ids count_map. Qed.

Lemma sum_counts (t : seq (I * R)) : sumn (public_counts t) = size t.
Proof.
apply/eqP; rewrite -eqz_nat; apply/eqP.
have -> : (sumn (public_counts t))%:Z = \sum_(c <- public_counts t) c%:Z.
  by elim: (public_counts t) => [|c s IH]; rewrite ?big_nil // big_cons -IH.
rewrite sum_by_count (eq_bigr (fun u => \sum_(r <- t | r.1 == u) 1)) => [|u _].
  by rewrite sum_by_user big_const_seq count_predT iter_addr_0 natz.
by rewrite big_const_seq iter_addr_0 natz count_map.
Qed.

(* A table as a dataset of the book: users in some order, and each user's values. *)
Section Dataset.
Variable t : seq (I * R).
Definition user_of (l : 'I_(size (table_users t))) : I := tnth (in_tuple (table_users t)) l.
Definition values_of (l : 'I_(size (table_users t))) : seq (I * R) := [seq r <- t | r.1 == user_of l].
Definition as_dataset : dataset R (fun l => size (values_of l)) := fun l j => (tnth (in_tuple (values_of l)) j).2.

Lemma over_users (A : zmodType) (f : I -> A) : \sum_(u <- table_users t) f u = \sum_l f (user_of l).
Proof. exact: big_tnth. Qed.

Lemma over_values (A : zmodType) (f : R -> A) l :
  \sum_(r <- t | r.1 == user_of l) f r.2 = \sum_j f (as_dataset (l := l) j).
Proof. by rewrite -big_filter big_tnth. Qed.

Lemma in_values l j : exists2 r, r \in t & r.2 = as_dataset (l := l) j.
Proof.
by exists (tnth (in_tuple (values_of l)) j) => //; have := mem_tnth j (in_tuple (values_of l)); rewrite mem_filter => /andP [].
Qed.

Lemma dataset_size : (\sum_l size (values_of l))%N = size t.
Proof.
rewrite -sum_counts; have -> : sumn (public_counts t) = (\sum_(c <- public_counts t) c)%N.
  by elim: (public_counts t) => [|c s IH]; rewrite ?big_nil // big_cons -IH.
rewrite (perm_big _ (permEl (perm_sort _ _))) big_map [RHS]big_tnth.
by apply: eq_bigr => l _; rewrite count_of.
Qed.

Lemma as_total (T : Type) (level : R -> int) (P : plan R T) : table_total level P t
  = total (step_bits P) (lowest P) (highest P) (levels_of (fun l j => level (as_dataset (l := l) j)) (origin P)).
Proof.
rewrite /table_total over_users; apply: eq_bigr => l _; congr (clip_whole _ _ (rounded _ _)).
by rewrite /user_row (over_values (fun v => level v - origin P)).
Qed.
End Dataset.
End Numbers.

(* By how much clipping changes a sum; and that clipping to a range moves no number away from one in it. *)
Lemma clip_moves (R : realFieldType) (A B a b s : R) : A <= B -> - a <= s <= b ->
  - Num.max (b - B) 0 <= clip A B s - s <= Num.max (a + A) 0.
Proof. by move=> AB /andP [h1 h2]; rewrite /clip; minmax; apply/andP; split; linear. Qed.

Lemma clip_nearer (R : realFieldType) (lo up f y : R) : lo <= f <= up -> `|clip lo up y - f| <= `|y - f|.
Proof.
move=> /andP [f0 f1]; rewrite /clip; case: (ger0P (y - f)) => h; rewrite ler_norml.
  by minmax; linear.
by minmax; linear.
Qed.

Section Error.
Variables (R : realFieldType) (I : eqType) (exp : R -> R) (p b : nat) (fl : R -> R) (lo up : R).
Variables (level : R -> int) (P : plan R R) (t : seq (I * R)).
Hypothesis archi : forall x : R, exists n : nat, x <= n%:R.
Hypothesis is_exp : is_exponential exp.
Hypothesis rounds : is_rounding p fl.
Hypothesis bp : (b + 13 <= p)%N.
Hypothesis wide : 0 < fl (up - lo).
Hypothesis levels : forall v, lo <= v <= up -> is_level b fl lo up v (level v).
Hypothesis inside : table_in_range lo up t.
Hypothesis some : (0 < size t)%N.
Hypothesis ends : lowest P <= highest P.

Let h : R := step b fl lo up.
Let h0 : 0 < h. Proof. by rewrite divr_gt0 // exprn_gt0 ?ltr0n. Qed.
Let N0 : 0 < (size t)%:R :> R. Proof. by rewrite ltr0n. Qed.
Notation counts := (public_counts t).
Notation centre := (lo + h * (origin P)%:~R).
Notation low := (2 ^+ step_bits P * h * (lowest P)%:~R).
Notation high := (2 ^+ step_bits P * h * (highest P)%:~R).

Let low_high : low <= high.
Proof. by rewrite ler_pmul2l ?ler_int // mulr_gt0 // exprn_gt0 ?ltr0n. Qed.

(* Clipping changes the mean by at most the largest bias. *)
Let clipped_off : `|(\sum_(u <- table_users t) clip low high (\sum_(r <- t | r.1 == u) (r.2 - centre)))
    / (size t)%:R - (table_mean t - centre)| <= largest_bias lo up h P counts.
Proof.
have -> : table_mean t - centre = (\sum_(u <- table_users t) \sum_(r <- t | r.1 == u) (r.2 - centre)) / (size t)%:R.
  rewrite (sum_by_user t (fun r => r.2 - centre)) sumrB big_const_seq count_predT iter_addr_0 -[centre *+ _]mulr_natr.
  by rewrite /table_mean mulrBl mulfK ?gt_eqF.
rewrite -mulrBl normrM [`|_^-1|]gtr0_norm ?invr_gt0 // /largest_bias sum_counts ler_pmul2r ?invr_gt0 //.
rewrite -sumrB !sum_by_count.
have each u : - Num.max ((count_mem u (record_ids t))%:R * (up - centre) - high) 0
    <= clip low high (\sum_(r <- t | r.1 == u) (r.2 - centre)) - \sum_(r <- t | r.1 == u) (r.2 - centre)
    <= Num.max ((count_mem u (record_ids t))%:R * (centre - lo) + low) 0.
  have sum_const (c : R) : (count_mem u (record_ids t))%:R * c = \sum_(r <- t | r.1 == u) c.
    by rewrite big_const_seq iter_addr_0 mulr_natl count_map.
  apply: clip_moves => //; rewrite -mulrN !sum_const; apply/andP; split; rewrite big_seq_cond [leRHS]big_seq_cond.
    by apply: ler_sum => r /andP [rt _]; have /andP [l _] := inside rt; linear.
  by apply: ler_sum => r /andP [rt _]; have /andP [_ l] := inside rt; linear.
rewrite ler_norml; apply/andP; split.
  rewrite ler_oppl -sumrN; apply: (@le_trans _ _ (\sum_(u <- table_users t) Num.max ((count_mem u (record_ids t))%:R * (up - centre) - high) 0)).
    by apply: ler_sum => u _; rewrite ler_oppl; have /andP [] := each u.
  by rewrite le_maxr lexx orbT.
apply: (@le_trans _ _ (\sum_(u <- table_users t) Num.max ((count_mem u (record_ids t))%:R * (centre - lo) + low) 0)).
  by apply: ler_sum => u _; have /andP [] := each u.
by rewrite le_maxr lexx.
Qed.

(* The number for the total itself, without noise. *)
Lemma number_off : `|number_at lo h P counts (table_total level P t) - table_mean t|
  <= largest_bias lo up h P counts + (whole_cost (level_error_bound b fl lo up) h P counts - mean_step h P counts).
Proof.
pose x := as_dataset (t := t); pose lev l j := level (x l j).
have Npos : (0 < \sum_l size (values_of (t := t) l))%N by rewrite dataset_size.
have NE : N R (fun l => size (values_of (t := t) l)) = (size t)%:R by rewrite /N dataset_size.
have size_counts : size counts = size (table_users t) by rewrite size_sort size_map.
have ok l j : lo <= x l j <= up /\ is_level b fl lo up (x l j) (lev l j).
  have [r rt rE] := in_values j; have := inside rt; rewrite rE => inr; split=> //; exact: levels.
have := @grid_error _ _ _ _ rounds bp _ _ lo up x lev (origin P) _ _ (step_bits P) h Npos wide (erefl _) ends ok.
have -> : total (step_bits P) (lowest P) (highest P) (levels_of lev (origin P)) = table_total level P t by rewrite as_total.
rewrite NE.
have -> : \sum_l clip low high (\sum_j (x l j - centre))
    = \sum_(u <- table_users t) clip low high (\sum_(r <- t | r.1 == u) (r.2 - centre)).
  by rewrite over_users; apply: eq_bigr => l _; rewrite (over_values (fun v => v - centre)).
have := clipped_off; set c := (X in `|X - _|) => bias.
set y := (X in `|X - c|) => grid.
have -> : number_at lo h P counts (table_total level P t) = centre + y.
  by rewrite /number_at /mean_step sum_counts; congr (_ + _); rewrite [LHS]mulrAC.
rewrite /whole_cost size_counts sum_counts addrK.
have -> : centre + y - table_mean t = (y - c) + (c - (table_mean t - centre)) by ring.
by apply: le_trans (ler_norm_add _ _) _; rewrite addrC; exact: ler_add.
Qed.

Hypothesis s0 : 0 < noise_scale P.

(* With noise: the mean of the distance, or of anything that is no larger. *)
Lemma number_error v (f : int -> R) : (forall z, f z <= `|number_at lo h P counts z - table_mean t|) ->
  is_sum_of (fun z => f z * noisy_chance exp level P t z) v ->
  v <= mean_abs_error exp (noise_scale P * mean_step h P counts) (largest_bias lo up h P counts)
       + whole_cost (level_error_bound b fl lo up) h P counts.
Proof.
move=> f_le hv; set T0 := table_total level P t in hv; set k := mean_step h P counts.
have k0 : 0 < k by rewrite /k /mean_step sum_counts divr_gt0 // mulr_gt0 // exprn_gt0 ?ltr0n.
pose a := number_at lo h P counts T0 - table_mean t.
have hv' : is_sum_of (fun z => k^-1 * f z * geometric (exp (- (1 / noise_scale P))) T0 z) (k^-1 * v).
  move=> e e0; have [n' near'] := sum_scale k^-1 hv e0; exists n' => s us full; move: (near' s us full).
  by congr (`|_ - _| <= _); apply: eq_bigr => z _; rewrite /noisy_chance mulrA.
have f_le' z : k^-1 * f z <= `|a / k + (z - T0)%:~R|.
  rewrite -(ler_pmul2l k0) mulrA mulfV ?gt_eqF // mul1r; apply: le_trans (f_le z) _.
  rewrite -[X in _ <= X * _](gtr0_norm k0) -normrM mulrDr [k * (a / k)]mulrC divfK ?gt_eqF //.
  by rewrite /a /number_at -/k rmorphB /= le_eqVlt; apply/orP; left; apply/eqP; congr `|_|; ring.
have := geometric_abs_error archi is_exp s0 f_le' hv'; rewrite mulrC ler_pdivr_mulr // => le_v; apply: le_trans le_v _.
have -> : (mean_abs_error exp (noise_scale P) `|a / k| + 1) * k = mean_abs_error exp (noise_scale P * k) `|a| + k.
  rewrite /mean_abs_error normrM [`|k^-1|]gtr0_norm ?invr_gt0 // mulrDl mul1r mulrDl divfK ?gt_eqF //.
  congr (_ + _ + _); rewrite [LHS]mulrAC; congr (_ * exp (- _)).
  by move: `|a| (noise_scale P) s0 => x s s_gt0; field; rewrite !gt_eqF.
have sk : 0 < noise_scale P * k by exact: mulr_gt0.
have := number_off; rewrite -/T0 -/a -/k => a_le.
have B0 : 0 <= largest_bias lo up h P counts.
  rewrite /largest_bias sum_counts divr_ge0 ?(ltW N0) // le_maxr; apply/orP; left.
  by apply: sumr_ge0 => c _; rewrite le_maxr lexx orbT.
have cost : k <= whole_cost (level_error_bound b fl lo up) h P counts.
  rewrite /whole_cost -/k ler_addr addr_ge0 //.
    have h0' := ltW h0; rewrite /level_error_bound -/h mulr_ge0 // addr_ge0 ?divr_ge0 ?exprn_ge0 ?ler01 ?ler0n //.
  case: ifP => // _; rewrite divr_ge0 ?ler0n // mulr_ge0 ?ler0n // mulr_ge0 ?(ltW h0) //.
  by rewrite divr_ge0 ?exprn_ge0 ?ler0n.
move: (largest_bias _ _ _ _ _) (whole_cost _ _ _ _) B0 a_le cost => B W B0 a_le cost.
case: (leP `|a| B) => aB.
  have /andP [le _] := mean_abs_error_grows is_exp sk (normr_ge0 a) aB; exact: ler_add.
have /andP [_ le] := mean_abs_error_grows is_exp sk B0 (ltW aB).
by move: (mean_abs_error _ _ _) (mean_abs_error _ _ _) le => x y le; linear.
Qed.

Hypothesis b_origin : 0 <= origin P <= 2 ^+ b.
Hypothesis around : lowest P <= 0 <= highest P.
Hypothesis small : (sumn counts)%:Z * 2 ^+ b <= 2 ^+ (61 + step_bits P).

Lemma total_fits : `|table_total level P t| <= 2 ^+ 62.
Proof.
rewrite as_total; apply: le_trans (ler_norm_sum _ _ _) _; apply: (@sum_clipped b) => //.
  move=> l j; have [r rt rE] := in_values j; have := inside rt; rewrite rE => inr.
  by have [] := grid_level rounds bp inr wide (levels inr).
by rewrite dataset_size -sum_counts.
Qed.
End Error.

(* begin thm-table *)
(* From the table to the number.  Values become levels, by operations that round; the plan is decided from
   the counts; the total is clipped, gets noise, and is moved into the range.  Then (1) what is published is
   eps-DP, in events; (2) the total fits 64 bits; (3) its mean distance from the mean of the values is at
   most this, which is public. *)
Theorem from_table_to_number (R : realFieldType) (exp : R -> R) (I : eqType) (p b : nat) (fl : R -> R)
    (lo up eps : R) (level : R -> int) (decide : seq nat -> plan R R) (t : seq (I * R)) :
  (forall x : R, exists n : nat, x <= n%:R) -> is_exponential exp -> 0 < eps ->
  is_rounding p fl -> (b + 13 <= p)%N -> 0 < fl (up - lo) ->
  (forall v, lo <= v <= up -> is_level b fl lo up v (level v)) ->
  (0 < size t)%N -> table_in_range lo up t ->
  let h := step b fl lo up in let counts := public_counts t in let P := decide counts in
  is_plan eps lo up h b counts P ->
  [/\ forall t', differ_in_one_user t t' -> forall (A : R -> bool) (c c' : R),
        is_chance_of exp level P t A c ->
        is_chance_of exp level (decide (public_counts t')) t' A c' -> c <= exp eps * c',
      `|table_total level P t| <= 2 ^+ 62
    & forall v, is_sum_of (fun z => `|publish P z - table_mean t| * noisy_chance exp level P t z) v ->
        v <= mean_abs_error exp (noise_scale P * mean_step h P counts) (largest_bias lo up h P counts)
             + whole_cost (level_error_bound b fl lo up) h P counts].
(* end thm-table *)
Proof.
move=> archi is_exp e0 rounding bp wide levels some range h counts P [noise around o_ok small publishes].
have [ends s0 _] := noise; split=> [t' near A c c'||v hv].
- exact: (table_private is_exp e0 noise near).
- exact: (total_fits rounding bp wide levels range o_ok around small).
apply: (number_error archi is_exp rounding bp wide levels range some ends s0 _ hv) => z.
rewrite publishes; apply: clip_nearer; have N0 : 0 < (size t)%:R :> R by rewrite ltr0n.
have sum_const (x : R) : x * (size t)%:R = \sum_(r <- t) x by rewrite big_const_seq count_predT iter_addr_0 mulr_natr.
rewrite /table_mean ler_pdivl_mulr // ler_pdivr_mulr // !sum_const; apply/andP; split; rewrite big_seq [leRHS]big_seq.
  by apply: ler_sum => r rt; have /andP [] := range r rt.
by apply: ler_sum => r rt; have /andP [] := range r rt.
Qed.
