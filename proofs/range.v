(* Samples between lo and hi, in place of 0 and U: the same problem, moved by lo. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts chain composition optimum.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Range.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (lo hi : R).
Notation N := (N R m).
Notation U := (hi - lo).

(* begin def-range *)
(* All samples in [lo, hi]; a added to all of them. *)
Definition within (x : dataset R m) : Prop := forall l j, lo <= x l j <= hi.
Definition shifted (a : R) (x : dataset R m) : dataset R m := fun l j => x l j + a.

(* What is_mechanism, is_private, is_worst_case_bias and is_sensitivity say, for these data. *)
Definition is_mechanism_within (T : Type) (H : (T -> R) -> Prop) (E : dataset R m -> (T -> R) -> R) : Prop :=
  is_space H /\ forall x, within x -> is_mean H (E x).
Definition is_private_within (T : Type) (H : (T -> R) -> Prop) (q : R) (E : dataset R m -> (T -> R) -> R) : Prop :=
  forall x x', within x -> within x' -> neighbours x x' ->
  forall h, H h -> (forall y, 0 <= h y) -> E x h <= q * E x' h.
Definition is_bias_within (g : estimator R m) (beta : R) : Prop :=
  is_max within (fun x => `|mean x - g x|) beta.
Definition sensitivity_at_most_within (g : estimator R m) (delta : R) : Prop :=
  forall x y, within x -> within y -> neighbours x y -> `|g x - g y| <= delta.
Definition is_sensitivity_within (g : estimator R m) (delta : R) : Prop :=
  (exists x y, [/\ within x, within y, neighbours x y & `|g x - g y| = delta])
  /\ sensitivity_at_most_within g delta.

(* The mechanism a + M (x - a), for a mechanism M. *)
Definition moved (a : R) (E : dataset R m -> (R -> R) -> R) : dataset R m -> (R -> R) -> R :=
  fun x h => E (shifted (- a) x) (fun y => h (a + y)).
Definition moved_space (a : R) (H : (R -> R) -> Prop) (h : R -> R) : Prop := H (fun y => h (a + y)).
(* end def-range *)

Lemma shifted_range x : within x -> in_range U (shifted (- lo) x).
Proof. by move=> xr l j; have := xr l j; rewrite /shifted; linear. Qed.

Lemma range_shifted x : in_range U x -> within (shifted lo x).
Proof. by move=> xr l j; have := xr l j; rewrite /shifted; linear. Qed.

Lemma shifted_neighbours a x x' : neighbours x x' -> neighbours (shifted a x) (shifted a x').
Proof. by move=> [l xx']; exists l => l' ll' j; rewrite /shifted xx'. Qed.

Hypothesis Npos : (0 < \sum_l m l)%N.

Let N0 : 0 < N. Proof. by rewrite ltr0n. Qed.

(* Sums over all samples, each moved by a. *)
Let moved_sum a (f g : dataset R m) : (forall l j, f l j = g l j + a) ->
  (\sum_l \sum_j f l j) / N = (\sum_l \sum_j g l j) / N + a.
Proof.
move=> fg; have -> : \sum_l \sum_j f l j = \sum_l \sum_j g l j + a * N.
  rewrite /definitions.N natr_sum mulr_sumr -big_split /=; apply: eq_bigr => l _.
  rewrite mulr_natr -[m l in X in _ = _ + X]card_ord -sumr_const -big_split /=.
  by apply: eq_bigr => j _; exact: fg.
by rewrite mulrDl mulfK ?gt_eqF.
Qed.

Let mean_of a (x z : dataset R m) : (forall l j, x l j = z l j + a) -> mean x = mean z + a.
Proof. exact: moved_sum. Qed.

Lemma mean_shifted a x : mean (shifted a x) = mean x + a.
Proof. exact: moved_sum. Qed.

Section Moves.
Variables (H : (R -> R) -> Prop) (E : dataset R m -> (R -> R) -> R).

Let space_moved a : is_space H -> is_space (moved_space a H).
Proof.
move=> [ext one lin]; split=> [h h' Hh e||s h h' Hh Hh'] //; last exact: (lin s (fun y => h (a + y))).
by apply: ext Hh _ => y; exact: e.
Qed.

Let mean_moved a x : is_mean H (E (shifted (- a) x)) -> is_mean (moved_space a H) (moved a E x).
Proof.
move=> [one lin mono]; split=> // [s h h' Hh Hh'|h h' Hh Hh' hh'].
  exact: (lin s (fun y => h (a + y)) (fun y => h' (a + y))).
by apply: mono.
Qed.

(* begin prp-range *)
(* A mechanism for [0, U] makes one for [lo, hi], as private, with the same mean of every loss that depends
   on the distance from the mean. *)
Theorem range_mechanism (q : R) : is_mechanism U H E -> is_private U H q E ->
  [/\ is_mechanism_within (moved_space lo H) (moved lo E),
      is_private_within (moved_space lo H) q (moved lo E)
    & forall x (loss : R -> R), within x -> let z := shifted (- lo) x in
        in_range U z /\ (moved_space lo H (fun y => loss (y - mean x)) ->
          moved lo E x (fun y => loss (y - mean x)) = E z (fun y => loss (y - mean z)))].
(* end prp-range *)
Proof.
move=> [sH mE] priv; split.
- by split=> [|x xr]; [exact: space_moved | apply: mean_moved; apply: mE; exact: shifted_range].
- move=> x x' xr xr' xx h Hh h0; apply: priv => //; try exact: shifted_range.
  exact: shifted_neighbours.
move=> x loss xr z; have zr : in_range U z by exact: shifted_range.
split=> // Hl; have [ext _ _] := sH; have [_ _ mono] := mE z zr.
have same y : loss (lo + y - mean x) = loss (y - mean z).
  by congr loss; rewrite mean_shifted; linear.
have Hz : H (fun y => loss (y - mean z)) by apply: ext Hl _ => y; exact: same.
by rewrite /moved; apply: le_anti; rewrite !mono // => y; rewrite same.
Qed.

(* begin prp-range-every *)
(* Every mechanism for [lo, hi] arises in this way, if it depends on the samples alone (functions that are
   equal everywhere are one dataset). *)
Theorem range_every (q : R) :
  (forall (x x' : dataset R m) h, (forall l j, x l j = x' l j) -> E x h = E x' h) ->
  is_mechanism_within H E -> is_private_within H q E ->
  [/\ is_mechanism U (moved_space (- lo) H) (moved (- lo) E), is_private U (moved_space (- lo) H) q (moved (- lo) E)
    & forall x h, within x -> H h ->
        moved_space lo (moved_space (- lo) H) h /\ moved lo (moved (- lo) E) x h = E x h].
(* end prp-range-every *)
Proof.
move=> same_data [sH mE] priv; have back x : in_range U x -> within (shifted (- - lo) x).
  by rewrite opprK; exact: range_shifted.
split.
- by split=> [|x xr]; [exact: space_moved | apply: mean_moved; apply: mE; exact: back].
- move=> x x' xr xr' xx h Hh h0; apply: priv => //; try exact: back.
  exact: shifted_neighbours.
move=> x h xr Hh; have [ext _ _] := sH; have [_ _ mono] := mE x xr.
have e y : h y = h (lo + (- lo + y)) by congr h; linear.
have Hh' : H (fun y => h (lo + (- lo + y))) by apply: ext Hh _.
split=> //; rewrite /moved (same_data _ x) => [|l j]; last by rewrite /shifted; linear.
by apply: le_anti; rewrite !mono // => y; rewrite -e.
Qed.
End Moves.

Lemma clip_shifted a b t : clip (a + lo) (b + lo) (t + lo) = clip a b t + lo.
Proof. by rewrite /clip; minmax; linear. Qed.

Let clipped_shifted (a b x z : dataset R m) : (forall l j, x l j = z l j + lo) ->
  clipped_mean (shifted lo a) (shifted lo b) x = clipped_mean a b z + lo.
Proof. by move=> xz; apply: moved_sum => l j; rewrite xz /shifted clip_shifted. Qed.

(* begin prp-range-optimum *)
(* The best intervals are centred at the middle of [lo, hi]; their worst-case error is the optimum for
   U = hi - lo, and no estimator for [lo, hi] has less. *)
Theorem range_optimum (eps : R) (k : nat) : lo <= hi -> 0 < eps -> is_ceil k (2 / eps) ->
  let T := v m U k in
  let a := shifted lo (@sym_lo R L m U T) in
  let b := shifted lo (@sym_hi R L m U T) in
  let E := (hi - lo) / (2 * N) * sum_of_largest m (2 / eps) in
  [/\ forall l j, (a l j + b l j) / 2 = (lo + hi) / 2,
      exists beta delta, [/\ is_bias_within (clipped_mean a b) beta,
        is_sensitivity_within (clipped_mean a b) delta & E = beta + delta / eps]
    & forall (g : estimator R m) beta delta, (forall x, within x -> `|mean x - g x| <= beta) ->
        sensitivity_at_most_within g delta -> E <= beta + delta / eps].
(* end prp-range-optimum *)
Proof.
move=> lh eps0 kc T a b E; have U0 : 0 <= U by linear.
have T0 : 0 <= T by rewrite mulr_ge0 ?ler0n.
have [[[beta [delta [bias sens e]]] _ least] _] := thm_optimum U0 Npos eps0 kc; rewrite -/T in bias sens.
split.
- move=> l j; rewrite /a /b /shifted /sym_lo /sym_hi.
  have mR : 0 < (m l)%:R :> R by rewrite ltr0n (leq_ltn_trans _ (ltn_ord j)).
  have -> : (U * (m l)%:R + T) / (2 * (m l)%:R) = U - (U * (m l)%:R - T) / (2 * (m l)%:R).
    by field; rewrite gt_eqF.
  by move: (_ / (2 * _)) => t; minmax; linear.
- exists beta, delta; split=> //.
    have gap x z : (forall l j, x l j = z l j + lo) ->
        `|mean x - clipped_mean a b x| = `|mean z - clipped_mean (sym_lo U T) (sym_hi U T) z|.
      by move=> xz; rewrite (clipped_shifted _ _ xz) (mean_of xz); congr `|_|; linear.
    have [[x xr <-] most] := bias; split; first by exists (shifted lo x); [exact: range_shifted | exact: gap].
    move=> x' xr'; rewrite (gap _ (shifted (- lo) x')) => [|l j]; last by rewrite /shifted; linear.
    exact/most/shifted_range.
  have gap x z x' z' : (forall l j, x l j = z l j + lo) -> (forall l j, x' l j = z' l j + lo) ->
      `|clipped_mean a b x - clipped_mean a b x'|
      = `|clipped_mean (sym_lo U T) (sym_hi U T) z - clipped_mean (sym_lo U T) (sym_hi U T) z'|.
    by move=> xz xz'; rewrite (clipped_shifted _ _ xz) (clipped_shifted _ _ xz'); congr `|_|; linear.
  have [[x [y [xr yr xy <-]]] most] := sens; split.
    exists (shifted lo x), (shifted lo y); split; try exact: range_shifted; last exact: gap.
    exact: shifted_neighbours.
  move=> x' y' xr' yr' xy'; rewrite (gap _ (shifted (- lo) x') _ (shifted (- lo) y')) => [|l j|l j];
    try by rewrite /shifted; linear.
  by apply: most; [exact: shifted_range | exact: shifted_range | exact: shifted_neighbours].
move=> g b' d' hb hd; apply: (least (fun x => g (shifted lo x) - lo)) => [x xr|x y xr yr xy].
  have := hb _ (range_shifted xr); rewrite mean_shifted.
  by rewrite (_ : mean x + lo - g _ = mean x - (g (shifted lo x) - lo)) //; linear.
rewrite (_ : _ - _ = g (shifted lo x) - g (shifted lo y)); last by linear.
by apply: hd; [exact: range_shifted | exact: range_shifted | exact: shifted_neighbours].
Qed.
End Range.
