(* Sums of doubles on a grid: exact in any order, so that replacing one number changes them by at most a
   width. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint ring zify.
From UserDP Require Import definitions linear.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section GridSum.
Variables (R : realFieldType) (L : nat).

(* begin def-grid-sum *)
(* The finite doubles; an addition that is right where the exact sum of two doubles is a double; and a
   rounding of numbers to multiples of h: to the nearest one, or else upwards or downwards. *)
Definition is_double (x : R) : Prop := exists n e : int,
  [/\ `|n| < 2 ^+ 53, - Posz 1074 <= e <= Posz 971 & x = n%:~R * 2 ^ e].
Definition is_addition (add : R -> R -> R) : Prop :=
  forall x y, is_double x -> is_double y -> is_double (x + y) -> add x y = x + y.
Definition is_rounding_to (h : R) (near : R -> R) : Prop :=
  forall x, `|near x - x| < h /\ exists k : int, near x = k%:~R * h.
(* How numbers are added up: in which order, and with which brackets, beginning with 0 or not. *)
Inductive adding : Type := Nothing | Number of 'I_L | Sum of adding & adding.
Fixpoint added (t : adding) : seq 'I_L :=
  match t with Nothing => [::] | Number l => [:: l] | Sum s t => added s ++ added t end.
Fixpoint computed_sum (add : R -> R -> R) (y : 'I_L -> R) (t : adding) : R :=
  match t with
  | Nothing => 0
  | Number l => y l
  | Sum s t => add (computed_sum add y s) (computed_sum add y t)
  end.
(* Each number once. *)
Definition adds_all (t : adding) : Prop := perm_eq (added t) (enum 'I_L).
(* end def-grid-sum *)

(* The exponent p is a variable, because Coq would compute a power of numerals. *)
Lemma whole_below (A h : R) (K : int) (n p : nat) : 0 < h -> K%:~R * h <= A ->
  n%:R * A < 2 ^+ p * h -> n%:Z * K < 2 ^+ p.
Proof.
move=> h0 KA l; have two : (2 ^+ p : int)%:~R = 2 ^+ p :> R by rewrite rmorphX.
rewrite -(ltr_int R) -(ltr_pmul2r h0) two rmorphM /= -pmulrn.
by apply: le_lt_trans l; rewrite -mulrA ler_wpmul2l ?ler0n.
Qed.

Lemma double_multiple (n e : int) : `|n| < 2 ^+ 53 -> - Posz 1074 <= e <= Posz 971 ->
  is_double (n%:~R * 2 ^ e).
Proof. by move=> n53 e1; exists n, e. Qed.

(* begin lem-grid-sum-ends *)
Variables (a b : R) (e low high : int).
Definition spacing : R := 2 ^ e.
Hypothesis ab : a <= 0 <= b.
Hypothesis e_range : - Posz 1074 <= e <= Posz 971.
Hypothesis large : (maxn L 2)%:R * Num.max (- a) b < 2 ^+ 53 * spacing.
(* low is a / h rounded upwards, high is b / h rounded downwards; h is the spacing. *)
Hypothesis low_is : low%:~R - 1 < a / spacing <= low%:~R.
Hypothesis high_is : high%:~R <= b / spacing < high%:~R + 1.
(* end lem-grid-sum-ends *)

Let h : R := spacing.
Let h0 : 0 < h. Proof. by rewrite exprz_gt0 ?ltr0n. Qed.

Let ends : [/\ a <= low%:~R * h, high%:~R * h <= b, low <= 0 & 0 <= high].
Proof.
case/andP: ab => a0 b0; case/andP: low_is => l1 l2; case/andP: high_is => h1 h2; split.
- by rewrite -ler_pdivr_mulr.
- by rewrite -ler_pdivl_mulr.
- rewrite -ltz_addr1 -subr_lt0 -(ltrz0 R).
  have -> : (low - (0 + 1))%:~R = low%:~R - 1 :> R by rewrite add0r rmorphB.
  by apply: lt_le_trans l1 _; rewrite mulr_le0_ge0 // invr_ge0 ltW.
- rewrite -ltz_addr1 -(ltr0z R) rmorphD /=; apply: le_lt_trans h2; exact: divr_ge0 (ltW h0).
Qed.

(* The larger of the two ends in absolute value, in steps. *)
Let K : int := Num.max (- low) high.
Let K0 : 0 <= K. Proof. by rewrite /K; case: ends => _ _ l0 g0; lia. Qed.
Let one_in n : low <= n <= high -> `|n| <= K. Proof. by rewrite /K; lia. Qed.
Let width_in : `|high - low| <= 2 * K. Proof. by rewrite /K; case: ends => _ _ l0 g0; lia. Qed.
Let two_moved n n' : low <= n <= high -> low <= n' <= high -> `|n - n'| <= high - low.
Proof. by lia. Qed.
Let K_small : (maxn L 2)%:Z * K < 2 ^+ 53.
Proof.
apply: (whole_below h0 _ large); have [h1 h2 _ _] := ends; rewrite /K.
case: (leP (- low) high) => _; first by rewrite le_maxr h2 orbT.
by rewrite le_maxr rmorphN mulNr ler_opp2 h1.
Qed.

Let moved_multiple near x : is_rounding_to h near ->
  exists2 k : int, near (clip (low%:~R * h) (high%:~R * h) x) = k%:~R * h & low <= k <= high.
Proof.
move=> rounding; have [_ _ l0 g0] := ends.
have ordered : low%:~R * h <= high%:~R * h.
  by rewrite ler_pmul2r // ler_int (le_trans l0).
set y := clip _ _ x; have yl : low%:~R * h <= y by rewrite /y /clip le_minr ordered le_maxr lexx orbT.
have yh : y <= high%:~R * h by rewrite /y /clip le_minl lexx orbT.
have [close [k kE]] := rounding y; exists k => //; move: close; rewrite kE ltr_norml => /andP [c1 c2].
by apply/andP; split; rewrite -ltz_addr1 -(ltr_int R) -(ltr_pmul2r h0) rmorphD /= mulrDl mul1r; linear.
Qed.

Let fits n (j : nat) : (j <= maxn L 2)%N -> `|n| <= j%:Z * K -> is_double (n%:~R * h).
Proof.
move=> jL nj; apply: double_multiple => //; apply: le_lt_trans K_small; apply: le_trans nj _.
by apply: ler_wpmul2r.
Qed.

Let computed_whole add (k : 'I_L -> int) t : is_addition add -> (forall l, low <= k l <= high) ->
  (size (added t) <= maxn L 2)%N ->
  computed_sum add (fun l => (k l)%:~R * h) t = (\sum_(l <- added t) k l)%:~R * h
  /\ `|\sum_(l <- added t) k l| <= (size (added t))%:Z * K.
Proof.
move=> exact_add k_in; elim: t => [|l|s IHs t IHt] /=; first by rewrite big_nil !mul0r normr0.
  by move=> _; rewrite big_seq1 mul1r; split=> //; exact: one_in.
rewrite size_cat big_cat /= => le_L.
have le_s := leq_trans (leq_addr _ _) le_L; have le_t := leq_trans (leq_addl _ _) le_L.
have [es bs] := IHs le_s; have [et bt] := IHt le_t.
have bst : `|\sum_(l <- added s) k l + \sum_(l <- added t) k l| <= (size (added s) + size (added t))%:Z * K.
  by rewrite PoszD mulrDl; apply: le_trans (ler_norm_add _ _) _; exact: ler_add.
split=> //; rewrite es et exact_add -?mulrDl -?rmorphD //; [exact: fits bs | exact: fits bt | exact: fits bst].
Qed.

(* begin lem-grid-sum *)
(* Numbers are clipped to [low h, high h], rounded to multiples of h, and added up.  The computed sum is
   their sum, however it is added; replacing one number changes it by at most w, which is at most b - a, and
   is a difference of doubles that is computed exactly, too. *)
Theorem grid_sum (add : R -> R -> R) (near : R -> R) : is_addition add -> is_rounding_to spacing near ->
  let w := (high - low)%:~R * spacing in
  let y (x : 'I_L -> R) l := near (clip (low%:~R * spacing) (high%:~R * spacing) (x l)) in
  [/\ forall x t, adds_all t -> computed_sum add (y x) t = \sum_l y x l,
      forall x x' l0 t t', (forall l, l != l0 -> x l = x' l) -> adds_all t -> adds_all t' ->
        `|computed_sum add (y x) t - computed_sum add (y x') t'| <= w,
      w <= b - a
    & [/\ is_double (low%:~R * spacing), is_double (high%:~R * spacing)
        & add (high%:~R * spacing) (- (low%:~R * spacing)) = w]].
(* end lem-grid-sum *)
Proof.
(* All numbers are whole multiples of h, of at most K steps: all partial sums are, of less than 2^53. *)
rewrite -/h => exact_add rounding w y; have [a_low high_b l0 g0] := ends.
have steps x : exists2 k : 'I_L -> int, forall l, y x l = (k l)%:~R * h & forall l, low <= k l <= high.
  have each l : exists k, [&& y x l == k%:~R * h, low <= k & k <= high].
    by have [k kE k_in] := moved_multiple (x l) rounding; exists k; rewrite k_in andbT; apply/eqP.
  by exists (fun l => xchoose (each l)) => l; case/and3P: (xchooseP (each l)) => /eqP ? ? ?; rewrite ?andbT //; apply/andP.
have same (f g : 'I_L -> R) t : (forall l, f l = g l) -> computed_sum add f t = computed_sum add g t.
  by move=> fg; elim: t => [|l|s IHs t IHt] //=; rewrite IHs IHt.
have total x t : adds_all t -> computed_sum add (y x) t = \sum_l y x l.
  move=> all; have [k yk k_in] := steps x; rewrite (same _ _ t yk).
  have [|-> _] := computed_whole exact_add k_in (t := t).
    by rewrite (perm_size all) size_enum_ord leq_maxl.
  rewrite (perm_big _ all) big_enum /= rmorph_sum mulr_suml; apply: eq_bigr => l _.
  by rewrite yk.
have double n : `|n| <= 2 * K -> is_double (n%:~R * h).
  by apply: (@fits n 2); exact: leq_maxr.
have K2 : K <= 2 * K by rewrite ler_pemull.
have double1 n : low <= n <= high -> is_double (n%:~R * h).
  by move=> n_in; apply: double; exact: le_trans (one_in n_in) K2.
have double_low : is_double (low%:~R * h) by apply: double1; rewrite lexx (le_trans l0).
have double_high : is_double (high%:~R * h) by apply: double1; rewrite lexx (le_trans l0).
have double_w : is_double w by exact: double.
have w_is : high%:~R * h - low%:~R * h = w by rewrite /w rmorphB mulrBl.
split=> //; last 2 first.
- by rewrite -w_is; linear.
- split=> //; rewrite exact_add ?w_is // -mulNr -rmorphN; apply: double; rewrite normrN.
  by apply: le_trans K2; apply: one_in; rewrite lexx (le_trans l0).
move=> x x' l1 t t' xx' all all'; rewrite !total // -sumrB (bigD1 l1) //= big1 ?addr0.
  have [k yk k_in] := steps x; have [k' yk' k_in'] := steps x'.
  rewrite yk yk' -mulrBl normrM (ger0_norm (ltW h0)) ler_pmul2r // -rmorphB /= -intr_norm ler_int.
  exact: two_moved.
by move=> l ll1; rewrite /y xx' ?subrr.
Qed.
End GridSum.
