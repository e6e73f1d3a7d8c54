(* The table of six cells: a private mechanism for the mean of one part of the users, and its risk. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear chain exponential composition parts.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* A comparison of whole numbers, for any power. *)
Lemma power_le (a b c d : Z) (n : nat) (R : realFieldType) (A B C D : R) :
  Z.leb (a * Z.pow b (Z.of_nat n)) (c * Z.pow d (Z.of_nat n)) ->
  of_Z R a = A -> of_Z R b = B -> of_Z R c = C -> of_Z R d = D -> 0 < B -> 0 < C ->
  A / C <= (D / B) ^+ n.
Proof.
have whole z k : of_Z R (Z.pow z (Z.of_nat k)) = of_Z R z ^+ k.
  elim: k => [|k IH]; first by rewrite expr0.
  by rewrite Nat2Z.inj_succ Z.pow_succ_r ?of_ZM ?IH ?exprS //; exact: Nat2Z.is_nonneg.
move=> /Z.leb_le /(of_Z_le R); rewrite !of_ZM !whole => h <- bE <- <- B0 C0; rewrite bE in h.
have p : 0 < B ^+ n by rewrite exprn_gt0.
rewrite expr_div_n ler_pdivl_mulr // mulrAC ler_pdivr_mulr // [leRHS]mulrC; exact: h.
Qed.

Section SixCells.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (B : pred 'I_L).

(* begin def-six-cells *)
(* The probabilities of the outputs 0, 1/6, ..., 1, in units of 1 / 177, for each of six cells of [0, 1]. *)
Definition rows : seq (seq nat) :=
  [:: [:: 88; 49; 8; 5; 8; 7; 12]; [:: 39; 49; 57; 5; 8; 7; 12]; [:: 12; 19; 57; 35; 35; 7; 12];
      [:: 12; 7; 35; 35; 57; 19; 12]; [:: 12; 7; 8; 5; 57; 49; 39]; [:: 12; 7; 8; 5; 8; 49; 88]]%N.
Definition chance (i k : nat) : R := (nth 0%N (nth [::] rows i) k)%:R / 177%:R.
(* The cell of a number: how many of 1/6, ..., 5/6 it reaches. *)
Definition cell (z : R) : nat := (\sum_(k < 5) (k.+1%:R / 6%:R <= z)%R)%N.
(* The mean of h over the outputs, for the mean of the users in B. *)
Definition six_cells (x : dataset R m) (h : R -> R) : R :=
  \sum_(k < 7) chance (cell (mean_of B x)) k * h (k%:R / 6%:R).
(* end def-six-cells *)

Let dist (i k : nat) : nat := ((i - k) + (k - i))%N.
Let check (i : nat) : bool :=
  let row := nth [::] rows i in
  [&& sumn row == 177%N,
      all (fun j => all (fun k => 3 * nth 0%N row k <= 22 * nth 0%N (nth [::] rows j) k)%N (iota 0 7)) (iota 0 6),
      (sumn [seq nth 0%N row k * dist i k | k <- iota 0 7] <= 219)%N
    & (sumn [seq nth 0%N row k * dist i.+1 k | k <- iota 0 7] <= 219)%N].
Let checked i : (i < 6)%N -> check i. Proof. by case: i => [|[|[|[|[|[|]]]]]]. Qed.

Let sum_seven (f : nat -> nat) : sumn [seq f k | k <- iota 0 7] = (\sum_(k < 7) f k)%N.
Proof. by rewrite sumnE big_map -[iota 0 7]/(index_iota 0 7) big_mkord. Qed.

Let size_row i : (i < 6)%N -> nth [::] rows i = [seq nth 0%N (nth [::] rows i) k | k <- iota 0 7].
Proof. by case: i => [|[|[|[|[|[|]]]]]]. Qed.

Let cell_lt z : (cell z < 6)%N.
Proof.
rewrite ltnS /cell -[5%N in leqRHS]card_ord -sum1_card; apply: leq_sum => k _; exact: leq_b1.
Qed.

Let six0 : 0 < 6%:R :> R. Proof. by rewrite ltr0n. Qed.

Let mixed (p a b t s : R) : p * (((1 - t) * a + t * b) * s) = ((1 - t) * (p * a) + t * (p * b)) * s.
Proof. by ring. Qed.

Let below (t s s' : R) : s <= 219%:R / 177%:R -> s' <= 219%:R / 177%:R -> 0 <= t -> t <= 1 ->
  (1 - t) * s + t * s' <= 73%:R / 354%:R * 6%:R.
Proof.
move=> e1 e2 t0 t1; have r0 : 0 <= 1 - t by linear.
have := ler_wpmul2l t0 e2; have := ler_wpmul2l r0 e1 => h1 h2; linear.
Qed.

(* A number is in its cell. *)
Let cell_is z : 0 <= z <= 1 -> (cell z)%:R <= 6%:R * z <= (cell z)%:R + 1.
Proof.
move=> /andP [z0 z1]; have b k : bump 0 k = k.+1 by [].
rewrite /cell !big_ord_recl big_ord0 /= !b.
have r k : (k%:R / 6%:R <= z) = (k%:R <= 6%:R * z) by rewrite ler_pdivr_mulr // mulrC.
rewrite !r; have : 0 <= 6%:R * z by rewrite mulr_ge0.
have : 6%:R * z <= 6%:R by rewrite ler_pimulr.
move: (6%:R * z) => t t6 t0.
repeat match goal with |- context [nat_of_bool (?a <= t)] => case: (leP a t) => ? end.
all: by rewrite !natrD /=; linear.
Qed.

Let chance_ge0 i k : 0 <= chance i k. Proof. by rewrite divr_ge0 ?ler0n. Qed.

Let chances i : (i < 6)%N -> \sum_(k < 7) chance i k = 1.
Proof.
move=> i6; have /and4P [/eqP s _ _ _] := checked i6; rewrite (size_row i6) sum_seven in s.
by rewrite -mulr_suml -natr_sum s divff // pnatr_eq0.
Qed.

Let private_rows i j (k : 'I_7) : (i < 6)%N -> (j < 6)%N -> chance i k <= 22%:R / 3%:R * chance j k.
Proof.
move=> i6 j6; have /and4P [_ /allP /(_ j) a _ _] := checked i6.
have /allP /(_ k) := a (ltac:(by rewrite mem_iota)); rewrite mem_iota ltn_ord => /(_ isT).
rewrite -(ler_nat R) !natrM /chance => h; rewrite mulrA; apply: ler_wpmul2r; first by rewrite invr_ge0 ler0n.
by linear.
Qed.

Let ends i : (i < 6)%N ->
  \sum_(k < 7) chance i k * (dist i k)%:R <= 219%:R / 177%:R
  /\ \sum_(k < 7) chance i k * (dist i.+1 k)%:R <= 219%:R / 177%:R.
Proof.
move=> i6; have /and4P [_ _ e1 e2] := checked i6; rewrite sum_seven in e1; rewrite sum_seven in e2.
have sum f : (\sum_(k < 7) nth 0%N (nth [::] rows i) k * f k <= 219)%N ->
    \sum_(k < 7) chance i k * (f k)%:R <= 219%:R / 177%:R.
  rewrite -(ler_nat R) natr_sum => h; rewrite ler_pdivl_mulr ?ltr0n // mulr_suml; apply: le_trans h.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP/eq_bigr => k _; rewrite natrM mulrAC divfK // pnatr_eq0.
by split; exact: sum.
Qed.

(* Between two whole numbers the distance from a third is linear. *)
Let between (i k : nat) (t : R) : 0 <= t <= 1 ->
  `|i%:R + t - k%:R| = (1 - t) * (dist i k)%:R + t * (dist i.+1 k)%:R.
Proof.
move=> /andP [t0 t1]; rewrite /dist !natrD; case: (leqP k i) => ki.
  have ki' : k%:R <= i%:R :> R by rewrite ler_nat.
  rewrite (eqP (ki : (k - i)%N == 0%N)) (eqP (leqW ki : (k - i.+1)%N == 0%N)) natrB // natrB ?leqW // -addn1 natrD.
  by rewrite ger0_norm; linear.
have ki' : i.+1%:R <= k%:R :> R by rewrite ler_nat.
rewrite -addn1 natrD in ki'.
rewrite (eqP (ltnW ki : (i - k)%N == 0%N)) (eqP (ki : (i.+1 - k)%N == 0%N))
  (natrB _ (ltnW ki)) (natrB _ ki) -addn1 natrD.
by rewrite ler0_norm; linear.
Qed.

Hypothesis some : 0 < size_of R m B.

Let mean_in (x : dataset R m) : in_range 1 x -> 0 <= mean_of B x <= 1.
Proof.
move=> xr; rewrite /mean_of; apply/andP; split.
  by apply: divr_ge0 (ltW some); apply: sumr_ge0 => l _; apply: sumr_ge0 => j _; case/andP: (xr l j).
rewrite ler_pdivr_mulr // mul1r /size_of natr_sum; apply: ler_sum => l _.
rewrite -[m l in leRHS]card_ord -sumr_const; apply: ler_sum => j _; by case/andP: (xr l j).
Qed.

(* begin prp-no-width-table *)
(* It is private with the factor 22/3, which is at most exp 2, and its risk is at most 73/354, where samples
   are in [0, 1]. *)
Theorem six_cells_private (exp : R -> R) : is_exponential exp ->
  let all := fun=> True in
  [/\ is_mechanism 1 all six_cells, is_private 1 all (22%:R / 3%:R) six_cells, 22%:R / 3%:R <= exp 2,
      depends_on 1 B all six_cells & risk_of_part_at_most 1 B six_cells (73%:R / 354%:R)].
(* end prp-no-width-table *)
Proof.
move=> is_exp all; split.
- split=> [|x xr]; first by split.
  split=> [|s h h' _ _|h h' _ _ hh'].
  + by rewrite /six_cells -[RHS](chances (cell_lt (mean_of B x))); apply: eq_bigr => k _; rewrite mulr1.
  + by rewrite /six_cells mulr_sumr -big_split; apply: eq_bigr => k _ /=; ring.
  + by apply: ler_sum => k _; apply: ler_wpmul2l.
- move=> x x' xr xr' _ h _ h0; rewrite /six_cells mulr_sumr; apply: ler_sum => k _; rewrite mulrA.
  by apply: ler_wpmul2r => //; exact: private_rows.
- have power n : exp (n%:R * (1 / 256%:R)) = exp (1 / 256%:R) ^+ n.
    elim: n => [|n IH]; first by rewrite mul0r (exp0 is_exp) expr0.
    by rewrite exprSr -IH -(exp_split is_exp); congr exp; rewrite -[n.+1]addn1 natrD; linear.
  have -> : 2 = 512%:R * (1 / 256%:R) :> R by linear.
  rewrite power; apply: (@le_trans _ _ ((257%:R / 256%:R) ^+ 512)); last first.
    have h := exp_ge is_exp (1 / 256%:R); apply: ler_expn2r; rewrite ?nnegrE ?divr_ge0 ?ler0n ?(ltW (exp_gt0 is_exp _)) //.
    by apply: le_trans h; linear.
  have c : Z.leb (22 * Z.pow 256 (Z.of_nat 512)) (3 * Z.pow 257 (Z.of_nat 512)) by vm_compute.
  have pos k : 0 < k.+1%:R :> R by rewrite ltr0n.
  exact: (power_le c (erefl _) (erefl _) (erefl _) (erefl _) (pos 255%N) (pos 2%N)).
- move=> x x' h _ _ xx' _; rewrite /six_cells (_ : mean_of B x = mean_of B x') //.
  by congr (_ / _); apply: eq_bigr => l Bl; apply: eq_bigr => j _; exact: xx'.
move=> x xr; have := cell_is (mean_in xr); rewrite /six_cells; move: (cell_lt (mean_of B x)).
move: (mean_of B x) (cell (mean_of B x)) => z i i6 in_cell.
have [e1 e2] := ends i6; pose t := 6%:R * z - i%:R.
have t01 : 0 <= t <= 1 by rewrite /t; linear.
have -> : \sum_(k < 7) chance i k * `|z - k%:R / 6%:R|
    = ((1 - t) * (\sum_(k < 7) chance i k * (dist i k)%:R) + t * (\sum_(k < 7) chance i k * (dist i.+1 k)%:R)) / 6%:R.
  rewrite !mulr_sumr -big_split mulr_suml; apply: eq_bigr => k _ /=.
  have -> : z - k%:R / 6%:R = (i%:R + t - k%:R) / 6%:R by rewrite /t; linear.
  by rewrite normrM (between i k t01) [`|_^-1|]ger0_norm ?invr_ge0 ?ler0n //; exact: mixed.
move: (\sum_(k < 7) _) (\sum_(k < 7) _) e1 e2 => s s' e1 e2; case/andP: t01 => t0 t1.
by rewrite ler_pdivr_mulr //; exact: below.
Qed.
End SixCells.
