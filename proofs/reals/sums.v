(* There is a sum over all whole numbers, so that what is proved of one holds for it. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From UserDP Require Import geometric.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin prp-safe-release *)
(* Of the functions that have a sum, it is the sum. *)
Theorem sum_exists (R : realType) : exists (H : (int -> R) -> Prop) (J : (int -> R) -> R), is_sum H J.
(* end prp-safe-release *)
Proof.
pose J (h : int -> R) : R := xget 0 (is_sum_of h : set R).
have of_ h : (exists v, is_sum_of h v) -> is_sum_of h (J h) by move=> has; exact: (xgetPex 0 has).
exists (fun h => exists v, is_sum_of h v), J => h v; split=> [[has <-]|hv]; first exact: of_.
have has : exists w, is_sum_of h w by exists v.
by split=> //; apply: le_anti; rewrite (sum_le (of_ h has) hv) // (sum_le hv (of_ h has)).
Qed.
