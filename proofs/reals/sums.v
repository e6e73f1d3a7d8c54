(* Over the reals there is a sum of all functions that have one, and every event has a probability under
   geometric noise. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From UserDP Require Import linear geometric.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin prp-safe-release *)
(* There is a sum of all functions that have one. *)
Theorem sum_exists (R : realType) : exists (H : (int -> R) -> Prop) (J : (int -> R) -> R), is_sum H J.
(* end prp-safe-release *)
Proof.
pose J (h : int -> R) : R := xget 0 (is_sum_of h : set R).
have of_ h : (exists v, is_sum_of h v) -> is_sum_of h (J h) by move=> has; exact: (xgetPex 0 has).
exists (fun h => exists v, is_sum_of h v), J => h v; split=> [[has <-]|hv]; first exact: of_.
have has : exists w, is_sum_of h w by exists v.
by split=> //; apply: le_anti; rewrite (sum_le (of_ h has) hv) // (sum_le hv (of_ h has)).
Qed.

(* begin thm-table-sums *)
(* A function with values in [0, K] has a mean under geometric noise.  So the means in thm-table exist: each
   event has a probability, and the published number a mean distance. *)
Theorem bounded_means_exist (R : realType) (r : R) (n : int) (f : int -> R) (K : R) :
  0 < r < 1 -> (forall z, 0 <= f z <= K) -> exists v, is_sum_of (fun z => f z * geometric r n z) v.
(* end thm-table-sums *)
Proof.
move=> r01 fK; pose h z := f z * geometric r n z; rewrite -/h; have r0 : 0 < r by case/andP: r01.
have h0 z : 0 <= h z by rewrite mulr_ge0 ?geometric_ge0 //; case/andP: (fK z).
have K0 : 0 <= K by case/andP: (fK 0) => a b; exact: le_trans b.
have top_of s : uniq s -> \sum_(z <- s) h z <= K.
  move=> us; have [N sN] := in_some_window n s.
  apply: le_trans (sum_within h0 us (uniq_window n N) sN) _.
  apply: (@le_trans _ _ (K * \sum_(z <- window n N) geometric r n z)).
    rewrite mulr_sumr; apply: ler_sum => z _; apply: ler_wpmul2r; first exact: geometric_ge0.
    by case/andP: (fK z).
  rewrite ler_pimulr // sum_window // ler_subl_addr ler_addl.
  by rewrite divr_ge0 ?mulr_ge0 ?exprn_ge0 ?addr_ge0 ?ler0n ?ler01 ?ltW.
pose S : set R := fun t => exists2 s, uniq s & \sum_(z <- s) h z = t.
have top : has_sup S.
  split; first by exists 0, [::]; rewrite // big_nil.
  by exists K => _ [s us <-]; exact: top_of.
exists (sup S) => e e0; have [_ [t ut <-] near] := sup_adherent e0 top.
have [N tN] := in_some_window 0 t; exists N => s us full.
have st : {subset t <= s} by move=> z /tN; rewrite mem_window subr0; exact: full.
have lo := sum_within h0 ut us st; have hi : \sum_(z <- s) h z <= sup S by apply: sup_upper_bound => //; exists s.
rewrite ler_norml; move: (\sum_(_ <- t) _) (\sum_(_ <- s) _) (sup S) near lo hi => a b c near lo hi.
by apply/andP; split; linear.
Qed.

(* begin prp-safe-release-chances *)
(* Each event has a probability. *)
Theorem chances_exist (R : realType) (r : R) (n : int) (A : int -> bool) : 0 < r < 1 ->
  exists p, is_sum_of (fun z => if A z then geometric r n z else 0) p.
(* end prp-safe-release-chances *)
Proof.
move=> r01; have [|p hp] := @bounded_means_exist _ r n (fun z => if A z then 1 else 0) 1 r01.
  by move=> z; case: ifP; rewrite ?ler01 ?lexx.
exists p => e e0; have [N near] := hp e e0; exists N => s us full; move: (near s us full).
by congr (`|_ - _| <= _); apply: eq_bigr => z _; case: ifP; rewrite ?mul1r ?mul0r.
Qed.
