(* One private mechanism after another. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear chain.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Composition.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).

(* begin def-composition *)
(* First P draws t; then Q t, which may use t and the dataset, draws t'.  The mean of a function of the pair
   (t, t') is a mean of means, for all functions of which both exist. *)
Definition is_mechanism (T : Type) (H : (T -> R) -> Prop) (E : dataset R m -> (T -> R) -> R) : Prop :=
  is_space H /\ forall x, in_range U x -> is_mean H (E x).

Variables T T' : Type.
Definition in_turn (P : dataset R m -> (T -> R) -> R) (Q : T -> dataset R m -> (T' -> R) -> R) :
  dataset R m -> (T * T' -> R) -> R := fun x h => P x (fun t => Q t x (fun t' => h (t, t'))).
Definition space_in_turn (H : (T -> R) -> Prop) (H' : T -> (T' -> R) -> Prop)
    (Q : T -> dataset R m -> (T' -> R) -> R) (h : T * T' -> R) : Prop :=
  (forall t, H' t (fun t' => h (t, t')))
  /\ forall x, in_range U x -> H (fun t => Q t x (fun t' => h (t, t'))).
(* end def-composition *)

(* begin prop-akmv-private-composition *)
(* Budgets add: the factors q multiply.  Outputs may be of any type. *)
Theorem composition (H : (T -> R) -> Prop) (H' : T -> (T' -> R) -> Prop) (q q' : R)
    (P : dataset R m -> (T -> R) -> R) (Q : T -> dataset R m -> (T' -> R) -> R) : 0 <= q ->
  is_mechanism H P -> is_private U H q P ->
  (forall t, is_mechanism (H' t) (Q t)) -> (forall t, is_private U (H' t) q' (Q t)) ->
  is_mechanism (space_in_turn H H' Q) (in_turn P Q)
  /\ is_private U (space_in_turn H H' Q) (q * q') (in_turn P Q).
(* end prop-akmv-private-composition *)
Proof.
(* Between neighbours, Q's means of a nonnegative function grow by at most the factor q', and P's means of
   those by at most q.  The rest says that a mean of means is a mean. *)
move=> q0 [sH mP] privP mechQ privQ; have [ext H1 lin] := sH.
have sQ t : is_space (H' t) by case: (mechQ t).
have mQ t x : in_range U x -> is_mean (H' t) (Q t x) by move=> xr; case: (mechQ t) => _; apply.
have Q1 x t : in_range U x -> Q t x (fun=> 1) = 1 by move=> /(mQ t) [].
have Qlin x t s h h' : in_range U x -> H' t h -> H' t h' ->
    Q t x (fun y => s * h y + h' y) = s * Q t x h + Q t x h'.
  by move=> /(mQ t) [_ l _]; exact: l.
have Plin x s h h' : in_range U x -> H h -> H h' ->
    P x (fun y => s * h y + h' y) = s * P x h + P x h'.
  by move=> /mP [_ l _]; exact: l.
have Pmono x h h' : in_range U x -> H h -> H h' -> (forall y, h y <= h' y) -> P x h <= P x h'.
  by move=> /mP [_ _ mono]; exact: mono.
have Pext x h h' : in_range U x -> H h -> H h' -> (forall y, h y = h' y) -> P x h = P x h'.
  by move=> xr Hh Hh' e; apply: le_anti; rewrite !Pmono // => y; rewrite e.
split; last first.
  move=> x x' xr xr' xx h [Hh HP] h0.
  have low t : Q t x (fun t' => h (t, t')) <= q' * Q t x' (fun t' => h (t, t')).
    exact: privQ (Hh t) (fun t' => h0 (t, t')).
  apply: le_trans (privP _ _ xr xr' xx _ (HP x xr) _) _ => [t|].
    exact: (mean_ge0 (sQ t) (mQ t x xr) (Hh t)).
  rewrite -mulrA; apply: ler_wpmul2l => //; have Hx' := HP x' xr'.
  rewrite -(mean_scale _ sH (mP x' xr') Hx').
  by apply: Pmono => //; [exact: HP | exact: space_scale].
split=> [|x xr]; last split.
- split=> [h h' [Hh HP] e||s h h' [Hh HP] [Hh' HP']].
  + have Hh'' t : H' t (fun t' => h' (t, t')) by case: (sQ t) => ext' _ _; exact: ext' (Hh t) _.
    split=> // x xr; apply: ext (HP x xr) _ => t; have [_ _ mono] := mQ t x xr.
    by apply: le_anti; rewrite !mono // => t'; rewrite e.
  + split=> [t|x xr]; first by case: (sQ t).
    by apply: ext H1 _ => t; rewrite Q1.
  split=> [t|x xr]; first by case: (sQ t) => _ _; apply.
  apply: ext (lin s _ _ (HP x xr) (HP' x xr)) _ => t.
  by rewrite (Qlin x t s (fun t' => h (t, t'))).
- rewrite /in_turn; have [P1 _ _] := mP x xr; rewrite -[RHS]P1.
  apply: Pext => // [|t]; last exact: Q1.
  by apply: ext H1 _ => t; rewrite Q1.
- move=> s h h' [Hh HP] [Hh' HP']; rewrite /in_turn -Plin //; try exact: HP; try exact: HP'.
  have e t : Q t x (fun t' => s * h (t, t') + h' (t, t'))
      = s * Q t x (fun t' => h (t, t')) + Q t x (fun t' => h' (t, t')).
    by rewrite (Qlin x t s (fun t' => h (t, t'))).
  have Hl := lin s _ _ (HP x xr) (HP' x xr).
  by apply: Pext => //; apply: ext Hl _ => t; rewrite e.
move=> h h' [Hh HP] [Hh' HP'] hh; apply: Pmono; [by [] | exact: HP | exact: HP' |] => t.
by have [_ _ mono] := mQ t x xr; apply: mono => // t'.
Qed.
End Composition.
