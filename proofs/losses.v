(* Mean losses of a release with noise grow with its bias and its sensitivity, so that class B is no
   restriction for them either. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts frontier chain optimum.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin cor-class-b-losses *)
(* E is the mean under the law of Z, which is that of - Z, too; the loss h is even and convex, and every h
   (a + b Z) has a mean. mean_loss d b is the mean loss of an estimator with the bias d on a dataset, and
   noise b Z. *)
Definition is_convex (R : realFieldType) (h : R -> R) : Prop :=
  forall x y t, 0 <= t <= 1 -> h (t * x + (1 - t) * y) <= t * h x + (1 - t) * h y.
Definition is_even (R : realFieldType) (h : R -> R) : Prop := forall x, h (- x) = h x.
Definition is_symmetric (R : realFieldType) (H : (R -> R) -> Prop) (E : (R -> R) -> R) : Prop :=
  forall h, H h -> H (fun z => h (- z)) /\ E (fun z => h (- z)) = E h.
Definition mean_loss (R : realFieldType) (E : (R -> R) -> R) (h : R -> R) (d b : R) : R := E (fun z => h (d + b * z)).
(* end cor-class-b-losses *)

(* An even and convex function does not fall from 0 on. *)
Lemma even_convex_grows (R : realFieldType) (h : R -> R) x y :
  is_even h -> is_convex h -> 0 <= x -> x <= y -> h x <= h y.
Proof.
move=> even convex x0 xy; have := le_trans x0 xy; rewrite le_eqVlt => /orP [/eqP y0|y0].
  by have -> : x = y by apply: le_anti; rewrite xy -y0 x0.
pose t := (x + y) / (2 * y); have y2 : 0 < 2 * y by rewrite mulr_gt0 ?ltr0n.
have t01 : 0 <= t <= 1.
  apply/andP; split; first by rewrite divr_ge0 ?addr_ge0 ?(ltW y2) ?(ltW y0).
  by rewrite ler_pdivr_mulr //; linear.
have := convex y (- y) t t01; rewrite even.
have -> : t * y + (1 - t) * - y = x by rewrite /t; field; rewrite gt_eqF.
by have -> : t * h y + (1 - t) * h y = h y by ring.
Qed.

Section Losses.
Variables (R : realFieldType) (H : (R -> R) -> Prop) (E : (R -> R) -> R) (h : R -> R).
Hypothesis sH : is_space H.
Hypothesis mE : is_mean H E.
Hypothesis symmetric : is_symmetric H E.
Hypothesis even : is_even h.
Hypothesis convex : is_convex h.
Hypothesis finite : forall a b, H (fun z => h (a + b * z)).

Let ext f f' : H f -> (forall z, f z = f' z) -> E f = E f'.
Proof.
have [eq _ _] := sH; have [_ _ mono] := mE => Hf e; have Hf' := eq _ _ Hf e.
by apply: le_anti; rewrite !mono // => z; rewrite e.
Qed.

Lemma mean_loss_mirrored d b : mean_loss E h d (- b) = mean_loss E h d b.
Proof.
rewrite /mean_loss; have [Hm <-] := symmetric (finite d b); apply: ext => [|z]; last by rewrite mulNr mulrN.
exact: finite.
Qed.

Lemma mean_loss_even_shift b : is_even (fun d => mean_loss E h d b).
Proof.
move=> d; rewrite -[RHS]mean_loss_mirrored; apply: ext => [|z]; first exact: finite.
by rewrite -even; congr h; ring.
Qed.

Lemma mix (t d d' b b' : R) : 0 <= t <= 1 ->
  mean_loss E h (t * d + (1 - t) * d') (t * b + (1 - t) * b') <= t * mean_loss E h d b + (1 - t) * mean_loss E h d' b'.
Proof.
move=> t01; have [_ lin mono] := mE; have [_ _ clin] := sH.
have Hs := space_scale (1 - t) sH (finite d' b'); have Hm := clin t _ _ (finite d b) Hs.
rewrite /mean_loss -(mean_scale (1 - t) sH mE (finite d' b')) -lin //.
apply: mono => [||z]; [exact: finite | exact: Hm |].
have -> : t * d + (1 - t) * d' + (t * b + (1 - t) * b') * z = t * (d + b * z) + (1 - t) * (d' + b' * z) by ring.
exact: convex.
Qed.
End Losses.

(* begin cor-class-b-losses *)
(* The mean loss does not fall if the absolute value of the bias or the scale of the noise grows. *)
Theorem mean_loss_grows (R : realFieldType) (H : (R -> R) -> Prop) (E : (R -> R) -> R) (h : R -> R) :
  is_space H -> is_mean H E -> is_symmetric H E -> is_even h -> is_convex h ->
  (forall a b, H (fun z => h (a + b * z))) ->
  forall d d' b b', `|d| <= `|d'| -> 0 <= b -> b <= b' -> mean_loss E h d b <= mean_loss E h d' b'.
(* end cor-class-b-losses *)
Proof.
move=> sH mE sym even convex finite d d' b b' dd b0 bb.
have size c e : mean_loss E h `|c| e = mean_loss E h c e.
  have ev := mean_loss_even_shift sH mE sym even finite e.
  by case: (ger0P c) => // _; exact: ev.
rewrite -[leLHS]size -[leRHS]size; apply: (@le_trans _ _ (mean_loss E h `|d'| b)).
  apply: (even_convex_grows (h := fun d => mean_loss E h d b)) => // [|x y t t01].
    exact: (mean_loss_even_shift sH mE sym even finite).
  by have := mix sH mE convex finite x y b b t01; rewrite (_ : t * b + (1 - t) * b = b) //; ring.
apply: (even_convex_grows (h := fun b => mean_loss E h `|d'| b)) => // [x|x y t t01].
  exact: (mean_loss_mirrored sH mE sym finite).
have := mix sH mE convex finite `|d'| `|d'| x y t01.
by rewrite (_ : t * `|d'| + (1 - t) * `|d'| = `|d'|) //; ring.
Qed.

Section ClassB.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).
Hypothesis U0 : 0 <= U.
Hypothesis Npos : (0 < \sum_l m l)%N.

(* begin cor-class-b-losses *)
(* So for every estimator g, published with the noise delta Z, there is a dataset on which its mean loss is
   at least that of the symmetric clipping, with the clipping's own sensitivity d in place of delta, on
   every dataset.  So the largest mean loss of the clipping is no larger. *)
Theorem class_b_losses (H : (R -> R) -> Prop) (E : (R -> R) -> R) (h : R -> R) (g : estimator R m) (delta : R) :
  is_space H -> is_mean H E -> is_symmetric H E -> is_even h -> is_convex h ->
  (forall a b, H (fun z => h (a + b * z))) -> 0 <= delta -> sensitivity_at_most U g delta ->
  let S := Num.min (N R m * delta) (v m U 1) in
  let f := clipped_mean (sym_lo U S) (@sym_hi R L m U S) in
  exists2 d, is_sensitivity U f d
    & exists2 x', in_range U x' & forall x, in_range U x ->
        mean_loss E h (f x - mean x) d <= mean_loss E h (g x' - mean x') delta.
(* end cor-class-b-losses *)
Proof.
move=> sH mE sym even convex finite d0 sens S f; have N0 : 0 < N R m by rewrite ltr0n.
pose D := Num.min delta (v m U 1 / N R m).
have V0 : 0 <= v m U 1 / N R m by rewrite divr_ge0 ?mulr_ge0 ?ler0n.
have D0 : 0 <= D by rewrite le_minr d0.
have SE : S = N R m * D.
  by rewrite /S /D minr_pmulr ?ler0n // [_ * (v m U 1 / _)]mulrC divfK ?gt_eqF.
have [_ attained _] := thm_frontier U0 Npos D0; have [|[_ most] sensD] := attained.
  by rewrite /D le_minl lexx orbT.
rewrite -SE -/f in most sensD; exists D => //.
have [x' x'r le] : exists2 x', in_range U x' &
    (\sum_l Num.max (U * (m l)%:R / N R m - D) 0) / 2 <= `|mean x' - g x'|.
  case: (leP delta (v m U 1 / N R m)) => h'.
    by have [/(_ g sens) [x xr le] _ _] := thm_frontier U0 Npos d0; exists x => //; rewrite /D min_l.
  have [_ _ no_bias] := thm_frontier U0 Npos V0; have [z _ _] := no_bias (lexx _).
  exists (fun _ _ => 0) => [l j|]; first by rewrite lexx U0.
  by rewrite /D min_r ?(ltW h') // z.
exists x' => // x xr; apply: (mean_loss_grows sH mE sym even convex finite) => //.
  by rewrite distrC [leRHS]distrC; exact: le_trans (most x xr) le.
by rewrite /D le_minl lexx.
Qed.
End ClassB.
