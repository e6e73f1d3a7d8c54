(* Staircase noise for the reals: private in every measurable event. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop mathcomp_extra.
From mathcomp.analysis Require Import signed reals ereal topology normedtype derive realfun sequences exp.
From mathcomp.analysis Require Import esum measure lebesgue_measure numfun lebesgue_integral.
From UserDP Require Import definitions linear chain exponential composition densities line staircase_law reals.measures reals.lebesgue reals.laplace.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

(* begin thm-staircase-events *)
(* With Lebesgue's integral, on neighbours each measurable event has nearly the same chance. *)
Theorem staircase_for_reals (R : realType) (h : R) (j : R -> nat) L (m : 'I_L -> nat) (U D : R)
    (g : estimator R m) : 1 < h -> counts_edges (gamma h) j -> 0 < D -> sensitivity_at_most U g D ->
  forall x x', in_range U x -> in_range U x' -> neighbours x x' -> forall A, measurable A ->
  (chance (staircase h j D (g x)) A <= (h ^+ 2)%:E * chance (staircase h j D (g x')) A)%E.
(* end thm-staircase-events *)
Proof.
move=> h1 edges D0 sens x x' xr xr' xx A mA; have HJ := lebesgue_is_line_integral R.
have mass c : summable (staircase h j D c) by have [_ []] := staircase_moments c HJ h1 edges D0.
have [Hc Jc] := chance_is mA (mass (g x)); have [Hc' Jc'] := chance_is mA (mass (g x')).
rewrite Jc Jc' -EFinM lee_fin; have [/(_ D0) [_ priv] _] := staircase_private HJ h1 edges sens.
apply: (priv x x' xr xr' xx (\1_A : R -> R)) => [z zr|y]; last by rewrite indicE ler0n.
by have [] := chance_is mA (mass (g z)).
Qed.
