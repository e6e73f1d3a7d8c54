(* A table has few different numbers of records per user. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum zify.
From UserDP Require Import linear.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin prp-few-numbers-definition *)
(* The positive numbers of records that some user has, each once. *)
Definition different_counts L (m : 'I_L -> nat) : seq nat :=
  undup [seq c <- [seq m l | l <- enum 'I_L] | (0 < c)%N].
(* end prp-few-numbers-definition *)

Lemma sum_undup (s : seq nat) : (\sum_(c <- undup s) c <= \sum_(c <- s) c)%N.
Proof.
elim: s => //= c s IH; rewrite big_cons; case: ifP => _; last by rewrite big_cons leq_add2l.
exact: leq_trans IH (leq_addl _ _).
Qed.

(* k different positive numbers add up to at least 1 + 2 + ... + k. *)
Lemma sum_different (k : nat) (s : seq nat) : uniq s -> all (leq 1) s -> size s = k ->
  (k * k.+1 <= 2 * \sum_(c <- s) c)%N.
Proof.
elim: k s => // k IH s us pos sk.
have [M in_s kM] : exists2 c, c \in s & (k < c)%N.
  apply/hasP; apply: contraT => /hasPn small; have sub : {subset s <= iota 1 k}.
    by move=> c cs; rewrite mem_iota add1n ltnS (allP pos c cs) leqNgt small.
  by have := uniq_leq_size us sub; rewrite size_iota sk ltnn.
have rest : all (leq 1) (rem M s) by apply/allP => c /mem_rem /(allP pos).
have sr : size (rem M s) = k by rewrite size_rem // sk.
have := IH (rem M s) (rem_uniq M us) rest sr.
have e : (k.+1 * k.+2 = k * k.+1 + 2 * k.+1)%N by rewrite -mulnDl addn2 mulnC.
rewrite (perm_big _ (perm_to_rem in_s)) big_cons e mulnDr [(2 * M + _)%N]addnC => h.
by apply: leq_add h _; rewrite leq_mul2l.
Qed.

Lemma few_counts L (m : 'I_L -> nat) :
  (size (different_counts m) * (size (different_counts m)).+1 <= 2 * (\sum_l m l))%N.
Proof.
have pos : all (leq 1) (different_counts m).
  by apply/allP => c; rewrite mem_undup mem_filter => /andP [].
apply: leq_trans (sum_different (undup_uniq _) pos erefl) _.
rewrite leq_mul2l /=; apply: leq_trans (sum_undup _) _.
by rewrite big_filter big_map big_mkcond big_enum /=; apply: leq_sum => l _; case: ifP.
Qed.

(* begin prp-few-numbers *)
(* With N records there are at most (sqrt (8 N + 1) - 1) / 2 different numbers, which is below sqrt (2 N): r
   and r' are any numbers with these squares.  So if a release moves six numbers for each of them, at most
   six more, and at most two totals, these are at most 6 (1 + sqrt (2 N)) + 2 numbers. *)
Theorem few_numbers (R : realFieldType) L (m : 'I_L -> nat) (r r' : R) :
  let N := (\sum_l m l)%N in let k := size (different_counts m) in
  (0 < N)%N -> 0 <= r -> r ^+ 2 = 8 * N%:R + 1 -> 0 <= r' -> r' ^+ 2 = 2 * N%:R ->
  [/\ k%:R <= (r - 1) / 2, (r - 1) / 2 < r'
    & forall rows totals : nat, (rows <= k + 1)%N -> (totals <= 2)%N ->
        (6 * rows + totals)%:R <= 6 * (1 + r') + 2].
(* end prp-few-numbers *)
Proof.
move=> N k N0 r0; rewrite !expr2 => rN r'0 r'N; have NR : 1 <= N%:R :> R by rewrite ler1n.
have kN : k%:R * (k%:R + 1) <= 2 * N%:R :> R.
  by have := few_counts m; rewrite -(ler_nat R) !natrM -addn1 natrD.
have k0 := ler0n R k.
have root : k%:R <= (r - 1) / 2.
  rewrite leNgt; apply/negP => low; have : 0 < (2 * k%:R + 1 - r) * (2 * k%:R + 1 + r).
    by apply: mulr_gt0; linear.
  by linear.
have gap : (r - 1) / 2 < r'.
  rewrite ltNge; apply/negP => low; have : 0 <= (r - (2 * r' + 1)) * (r + 2 * r' + 1).
    by apply: mulr_ge0; linear.
  have r'1 : 0 < r'.
    rewrite ltNge; apply/negP => z; have e : r' = 0 by apply: le_anti; rewrite z.
    by suff : 1 <= 0 :> R; [rewrite ler10 | move: r'N; rewrite e mulr0; linear].
  by linear.
split=> // rows totals rk t2.
have rkR : rows%:R <= k%:R + 1 :> R by rewrite -(natrD _ k 1) ler_nat.
have t2R : totals%:R <= 2 :> R by rewrite ler_nat.
by rewrite natrD (natrM _ 6 rows); linear.
Qed.

(* begin prp-few-numbers *)
(* Some table of k (k + 1) / 2 records has k different numbers: users with 1, 2, ..., k records. *)
Theorem few_numbers_attained k : exists m : 'I_k -> nat,
  [/\ forall l, (0 < m l)%N, (2 * (\sum_l m l) = k * k.+1)%N & size (different_counts m) = k].
(* end prp-few-numbers *)
Proof.
exists (fun l => l.+1); split=> //.
  elim: k => [|k IH]; first by rewrite big_ord0.
  by rewrite big_ord_recr /= mulnDr IH -mulnDl addn2 mulnC.
have e : [seq l.+1 | l : 'I_k <- enum 'I_k] = iota 1 k.
  by rewrite (map_comp succn (@nat_of_ord k)) val_enum_ord -(iotaDl 1 0).
rewrite /different_counts e.
have -> : [seq c <- iota 1 k | (0 < c)%N] = iota 1 k.
  by apply/all_filterP/allP => c; rewrite mem_iota => /andP [].
by rewrite undup_id ?iota_uniq // size_iota.
Qed.
