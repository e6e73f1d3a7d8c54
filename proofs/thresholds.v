(* An integral over the line is one over the thresholds of the rival, which lie in a part of it. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear exponential release release_error line noise.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Thresholds.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).
Variables (H : (R -> R) -> Prop) (J : (R -> R) -> R).
Notation V := (V m U).

(* begin def-thresholds *)
(* A function of thresholds, and 0 elsewhere. *)
Definition extended (h : threshold m U -> R) (y : R) : R :=
  if insub y is Some t then h t else 0.
Definition thresholds_have (h : threshold m U -> R) : Prop := H (extended h).
Definition over_thresholds (h : threshold m U -> R) : R := J (extended h).
(* end def-thresholds *)

Hypothesis HJ : is_line_integral H J.

Lemma extended_between a b (h : R -> R) y : 0 <= a -> b <= V ->
  extended (fun t => if a < sval t <= b then h (sval t) else 0) y = between a b h y.
Proof.
move=> a0 bV; rewrite /extended /between; case: insubP => [t _ ->|] //=.
by case: ifP => // /andP [ay yb] /negP []; rewrite (le_lt_trans a0 ay) (le_trans yb bV).
Qed.
End Thresholds.

(* begin prop-akmv-private-integrals *)
(* So all that is asked of integrals for the release of the rival is what an integral over the line has. *)
Theorem line_serves_release (R : realFieldType) (exp : R -> R) L (m : 'I_L -> nat) (U : R)
    (H : (R -> R) -> Prop) (J : (R -> R) -> R) :
  (forall x : R, exists n : nat, x <= n%:R) -> is_exponential exp -> is_line_integral H J ->
  let HT := thresholds_have (m := m) (U := U) H in let I := over_thresholds (m := m) (U := U) J in
  [/\ is_integral HT I, has_lengths HT I, has_lines HT & [/\ is_integral H J, has_laplace exp H J & has_laplace_sizes exp H J]].
(* end prop-akmv-private-integrals *)
Proof.
move=> archi is_exp HJ HT I; have [[ext lin mono] _ _ _ _] := HJ; have [lap sizes] := line_has_laplace archi is_exp HJ.
have HI := line_integral HJ; split=> //.
- split=> [h h' Hh e|s h h' Hh Hh'|h h' Hh Hh' hh].
  + by apply: ext Hh _ => y; rewrite /extended; case: insubP.
  + have [Hs Js] := lin s _ _ Hh Hh'; have e y : s * extended h y + extended h' y = extended (fun t => s * h t + h' t) y.
      by rewrite /extended; case: insubP => // _; rewrite mulr0 addr0.
    by have [Hs' Js'] := line_ext HJ Hs e; split=> //; rewrite /I /over_thresholds Js' Js.
  by apply: mono => // y; rewrite /extended; case: insubP.
- move=> a b /andP [a0 ab] bV inside; have [H1 J1] := between_one HJ ab.
  have e y : between a b (fun=> 1) y = extended inside y by rewrite -(@extended_between _ _ m U a b (fun=> 1)).
  by have [H2 J2] := line_ext HJ H1 e; split=> //; rewrite /I /over_thresholds J2.
move=> a b /andP [a0 ab] bV; have Hg : H (between a b id) by case: HJ => _ _ _ grows _; exact: grows.
have e y : between a b id y = extended (m := m) (U := U) (fun t => if a < sval t <= b then sval t else 0) y.
  by rewrite -(@extended_between _ _ m U a b id).
by have [] := line_ext HJ Hg e.
Qed.
