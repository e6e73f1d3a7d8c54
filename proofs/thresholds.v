(* The thresholds of AKMV are a part of the line, and an integral over the line is one over them. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear densities line.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Thresholds.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).
Variables (H : (R -> R) -> Prop) (J : (R -> R) -> R).

(* begin def-thresholds *)
(* V is the largest sum that a user can have.  A threshold lies above 0 and not above V.  Functions of
   thresholds are integrated over the line, as 0 elsewhere. *)
Definition V : R := v m U 1.
Definition threshold : Type := {t : R | 0 < t <= V}.
Definition extended (h : threshold -> R) (y : R) : R := if insub y is Some t then h t else 0.
Definition thresholds_have (h : threshold -> R) : Prop := H (extended h).
Definition over_thresholds (h : threshold -> R) : R := J (extended h).
(* end def-thresholds *)

Hypothesis HJ : is_line_integral H J.

Lemma thresholds_integral : is_integral thresholds_have over_thresholds.
Proof.
have [ext lin mono] := line_integral HJ; split=> [h h' Hh e|s h h' Hh Hh'|h h' Hh Hh' hh].
- by apply: ext Hh _ => y; rewrite /extended; case: insubP.
- have [Hs <-] := lin s _ _ Hh Hh'; apply: (line_ext HJ Hs) => y.
  by rewrite /extended; case: insubP => // _; rewrite mulr0 addr0.
by apply: mono => // y; rewrite /extended; case: insubP.
Qed.

(* Intervals of thresholds are intervals of the line. *)
Lemma thresholds_between a b (h : R -> R) i : 0 <= a -> b <= V -> H (between a b h) /\ J (between a b h) = i ->
  let f (t : threshold) := if a < sval t <= b then h (sval t) else 0 in thresholds_have f /\ over_thresholds f = i.
Proof.
move=> a0 bV [Hh <-] f; apply: (line_ext HJ Hh) => y; rewrite /extended /between; case: insubP => [t _ <-|] //.
by case: ifP => // /andP [ay yb] /negP []; rewrite (le_lt_trans a0 ay) (le_trans yb bV).
Qed.

Lemma thresholds_length a b : 0 <= a <= b -> b <= V ->
  let f (t : threshold) := if a < sval t <= b then 1 else 0 in thresholds_have f /\ over_thresholds f = b - a.
Proof. by move=> /andP [a0 ab] bV; apply: (thresholds_between (h := fun=> 1)) => //; exact: (between_one HJ). Qed.

(* The integral of a linear function. *)
Lemma thresholds_line a b : 0 <= a <= b -> b <= V ->
  let f (t : threshold) := if a < sval t <= b then sval t else 0 in
  thresholds_have f /\ over_thresholds f = (b ^+ 2 - a ^+ 2) / 2.
Proof.
move=> /andP [a0 ab] bV; apply: (thresholds_between (h := id)) => //.
have [//|x y ax xy yb|Hh Jh] := growing_integral HJ (h := id) (G := fun y => y ^+ 2 / 2) ab.
  by have := mulr_ge0 (_ : 0 <= y - x) (_ : 0 <= y - x); rewrite subr_ge0 !expr2 => /(_ xy xy) sq; apply/andP; split; linear.
by split=> //; rewrite Jh mulrBl.
Qed.
End Thresholds.
