(* Mechanisms that are given by densities, for any integral that is linear and monotone, and when they are
   private. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear chain composition.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Densities.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R) (T : Type).

(* begin def-densities *)
(* I h is the integral of h over T, for functions h in a set H that is closed under sums and multiples:
   Riemann's, Lebesgue's, or any other that is linear and monotone.  d x is a density for each x. *)
Definition is_integral (H : (T -> R) -> Prop) (I : (T -> R) -> R) : Prop :=
  [/\ forall h h', H h -> (forall t, h t = h' t) -> H h',
      forall s h h', H h -> H h' ->
        H (fun t => s * h t + h' t) /\ I (fun t => s * h t + h' t) = s * I h + I h'
    & forall h h', H h -> H h' -> (forall t, h t <= h' t) -> I h <= I h'].
Definition draw (I : (T -> R) -> R) (d : dataset R m -> T -> R) : dataset R m -> (T -> R) -> R :=
  fun x h => I (fun t => h t * d x t).
Definition drawn (H : (T -> R) -> Prop) (d : dataset R m -> T -> R) (h : T -> R) : Prop :=
  forall x, in_range U x -> H (fun t => h t * d x t).
(* end def-densities *)

Variables (H : (T -> R) -> Prop) (I : (T -> R) -> R) (d : dataset R m -> T -> R).
Hypothesis HI : is_integral H I.

Lemma integral_ext h h' : H h -> (forall t, h t = h' t) -> I h = I h'.
Proof.
have [ext _ mono] := HI => Hh e; have Hh' := ext _ _ Hh e.
by apply: le_anti; rewrite !mono // => t; rewrite e.
Qed.

Lemma integral_scale a h : H h -> H (fun t => a * h t) /\ I (fun t => a * h t) = a * I h.
Proof.
have [ext lin _] := HI => Hh; have [H0 I0] := lin (-1) _ _ Hh Hh.
have [Ha Ia] := lin a _ _ Hh H0; have e t : a * h t + (-1 * h t + h t) = a * h t by linear.
split; first exact: ext Ha e.
by rewrite -(integral_ext Ha e) Ia I0; linear.
Qed.

Lemma density_mechanism :
  (forall x, in_range U x -> [/\ forall t, 0 <= d x t, H (d x) & I (d x) = 1]) ->
  is_mechanism U (drawn H d) (draw I d).
Proof.
move=> law; have [ext lin mono] := HI; split=> [|x xr]; last have [d0 Hd Id] := law x xr; split.
- by move=> h h' Hh e x xr; apply: ext (Hh x xr) _ => t; rewrite e.
- by move=> x xr; have [_ Hd _] := law x xr; apply: ext Hd _ => t; rewrite mul1r.
- move=> s h h' Hh Hh' x xr; have [Hl _] := lin s _ _ (Hh x xr) (Hh' x xr).
  by apply: ext Hl _ => t; ring.
- by rewrite -[RHS]Id; apply/esym/integral_ext => // t; rewrite mul1r.
- move=> s h h' Hh Hh'; have [Hl <-] := lin s _ _ (Hh x xr) (Hh' x xr).
  by apply/esym/integral_ext => // t; ring.
by move=> h h' Hh Hh' hh; apply: mono; [exact: Hh | exact: Hh' | move=> t; apply: ler_wpmul2r].
Qed.

Lemma density_private q :
  (forall x x' t, in_range U x -> in_range U x' -> neighbours x x' -> d x t <= q * d x' t) ->
  is_private U (drawn H d) q (draw I d).
Proof.
move=> ratio x x' xr xr' xx h Hh h0; have [_ _ mono] := HI.
have [Hq <-] := integral_scale q (Hh x' xr'); apply: mono; [exact: Hh | exact: Hq | move=> t].
by rewrite mulrCA; apply: ler_wpmul2l => //; exact: ratio.
Qed.
End Densities.
