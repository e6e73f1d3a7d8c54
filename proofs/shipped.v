(* Any function with Laplace noise is private; the optimum for noise of any law; and whatever is computed
   from a release is as private as the release. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts lemma frontier chain exponential composition densities line noise optimum.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin thm-laplace *)
(* Theorem II.1: any g of sensitivity at most D, published with Laplace noise of scale D / eps. *)
Theorem thm_laplace (R : realFieldType) (exp : R -> R) L (m : 'I_L -> nat) (U D eps : R)
    (g : estimator R m) (H : (R -> R) -> Prop) (J : (R -> R) -> R) :
  is_exponential exp -> is_line_integral H J -> 0 < D -> 0 < eps -> sensitivity_at_most U g D ->
  let density x := laplace exp (D / eps) (g x) in
  is_mechanism U (drawn U H density) (draw J density)
  /\ is_private U (drawn U H density) (exp eps) (draw J density).
(* end thm-laplace *)
Proof.
move=> is_exp HJ D0 e0 sens density; have s0 : 0 < D / eps by exact: divr_gt0.
have HI := line_integral HJ.
have b0 : 0 <= (2 * (D / eps))^-1 by rewrite invr_ge0 mulr_ge0 ?ler0n ?(ltW s0).
split; first apply: (density_mechanism HI) => x xr.
  have [Hl Jl] := laplace_mass is_exp HJ (g x) s0; split=> // y.
  by apply: mulr_ge0 => //; exact/ltW/(exp_gt0 is_exp).
apply: (density_private HI) => x x' y xr xr' xx; rewrite /density /laplace [leRHS]mulrA.
apply: ler_wpmul2r => //; rewrite -exp_split //; apply: (exp_mono is_exp).
have : `|g x - g x'| <= eps * (D / eps) by rewrite mulrC divfK ?gt_eqF //; exact: sens.
move: (D / eps) s0 {b0 density} => b b0 near.
rewrite -(ler_pmul2r b0) mulrDl !mulNr !mulfVK ?gt_eqF //.
by have := ler_norm_add (y - g x) (g x - g x'); rewrite addrA subrK => far; linear.
Qed.

Section Mean.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).
Hypothesis U0 : 0 <= U.
Hypothesis Npos : (0 < \sum_l m l)%N.

(* begin prop-mean-sensitivity *)
(* The sensitivity of the mean is U m* / N, where m* is the largest count. *)
Theorem mean_sensitivity : is_sensitivity U (@mean R L m) (v m U 1 / N R m).
(* end prop-mean-sensitivity *)
Proof.
pose a : dataset R m := fun _ _ => 0; pose b : dataset R m := fun _ _ => U.
have cl : is_clipping U a b by move=> l j; rewrite /a /b !lexx U0.
have widthE l : width a b l = U * (m l)%:R.
  by rewrite /width /a /b sumr_const card_ord subr0 mulr_natr.
have lw : is_largest_width a b (v m U 1).
  have [l e] := first_count Npos; split=> [|l' _]; first by exists l; rewrite // widthE e.
  by rewrite widthE; apply: ler_wpmul2l => //; rewrite ler_nat le_first_count.
have [[x [y [xr yr xy d]]] most] := sensitivity_of_clipped_mean cl lw.
have same z : in_range U z -> clipped_mean a b z = mean z.
  move=> zr; congr (_ / _); apply: eq_bigr => l _; apply: eq_bigr => j _.
  by have /andP [z0 zU] := zr l j; rewrite /clip /a /b max_l // min_l.
by split=> [|z t zr tr zt]; [exists x, y; split | ]; rewrite -?same //; exact: most.
Qed.
End Mean.

Section Afterwards.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).

(* begin def-afterwards *)
(* What is computed from an output without the data: of Y, the output f Y. *)
Definition afterwards (T T' : Type) (f : T -> T') (E : dataset R m -> (T -> R) -> R) :
  dataset R m -> (T' -> R) -> R := fun x h => E x (fun y => h (f y)).
Definition space_afterwards (T T' : Type) (f : T -> T') (H : (T -> R) -> Prop) (h : T' -> R) : Prop :=
  H (fun y => h (f y)).
(* The nearest number in [0, U]. *)
Definition project (y : R) : R := clip 0 U y.
(* end def-afterwards *)

(* begin prp-projection *)
(* Whatever is computed from a release is as private as the release itself, for instance its projection. *)
Theorem private_afterwards (T T' : Type) (f : T -> T') H q (E : dataset R m -> (T -> R) -> R) :
  is_mechanism U H E -> is_private U H q E ->
  is_mechanism U (space_afterwards f H) (afterwards f E)
  /\ is_private U (space_afterwards f H) q (afterwards f E).
(* end prp-projection *)
Proof.
move=> [[ext H1 lin] mE] priv; split; last by move=> x x' xr xr' xx h Hh h0; exact: priv.
split=> [|x xr]; first split=> // [h h' Hh e|s h h' Hh Hh'].
- by apply: ext Hh _ => y; exact: e.
- exact: (lin s (fun y => h (f y)) (fun y => h' (f y))).
have [E1 Elin mono] := mE x xr; split=> // [s h h' Hh Hh'|h h' Hh Hh' hh].
  exact: (Elin s (fun y => h (f y)) (fun y => h' (f y))).
by apply: mono.
Qed.

(* begin prp-projection-error *)
(* The projection is nowhere further from the mean f than the release y, nor further than U.  So if f is in
   a symmetric interval around y, it is in the one of the same length around the projection. *)
Theorem projection_no_further (f y : R) : 0 <= f <= U ->
  `|project y - f| <= `|y - f| /\ `|project y - f| <= U.
(* end prp-projection-error *)
Proof.
move=> /andP [f0 fU]; rewrite /project /clip; case: (ger0P (y - f)) => h; rewrite !ler_norml.
  by split; minmax; linear.
by split; minmax; linear.
Qed.
End Afterwards.

Section Noise.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).
Hypothesis U0 : 0 <= U.
Hypothesis Npos : (0 < \sum_l m l)%N.

(* begin thm-any-noise *)
(* Noise of any law, scaled to the sensitivity, with the mean absolute value w at sensitivity 1.  The error
   is then beta + w delta. *)
Definition is_error_with (w : R) (g : estimator R m) (e : R) : Prop :=
  exists beta delta, [/\ is_worst_case_bias U g beta, is_sensitivity U g delta & e = beta + w * delta].
Definition phi_with (w S : R) : R := ((\sum_l Num.max (U * (m l)%:R - S) 0) / 2 + S * w) / N R m.
Theorem any_noise (w : R) (k : nat) : 0 < w -> is_ceil k (2 * w) ->
  let T := v m U k in let E := U / (2 * N R m) * sum_of_largest m (2 * w) in
  [/\ is_error_with w (clipped_mean (sym_lo U T) (@sym_hi R L m U T)) E,
      forall (g : estimator R m) beta delta, (forall x, in_range U x -> `|mean x - g x| <= beta) ->
        sensitivity_at_most U g delta -> E <= beta + w * delta
    & forall S, 0 <= S -> (forall S', 0 <= S' -> phi_with w S <= phi_with w S') <->
        if (2 * w == k%:R) && (k <= L)%N then v m U k.+1 <= S <= v m U k else S == v m U k].
(* end thm-any-noise *)
Proof.
move=> w0 kc T E; have e0 : 0 < w^-1 by rewrite invr_gt0.
have x : 2 / w^-1 = 2 * w by rewrite invrK.
have kc' : is_ceil k (2 / w^-1) by rewrite x.
have [[[beta [delta [b d e]]] _ least] _] := thm_optimum U0 Npos e0 kc'; have [_ widths] := thm_main U0 Npos e0 kc'.
rewrite x in widths; split.
- by exists beta, delta; split=> //; move: e; rewrite /E_OPT x invrK [delta * w]mulrC.
- by move=> g b' d' hb hd; have := least g b' d' hb hd; rewrite /E_OPT x invrK [d' * w]mulrC.
move=> S S0; rewrite -(widths S S0); split=> h S' S'0; have := h S' S'0.
  by rewrite /phi_with /phi invrK.
by rewrite /phi_with /phi invrK.
Qed.

(* begin cor-class-b *)
(* Class B is no restriction: for any measure of error Phi that grows with bias and with sensitivity, some
   symmetric clipping is as good as any estimator, whether or not its bias beta and its sensitivity delta
   are attained. *)
Theorem class_b (Phi : R -> R -> R) (g : estimator R m) (beta delta : R) :
  (forall b b' d d', b <= b' -> d <= d' -> Phi b d <= Phi b' d') -> 0 <= delta ->
  (forall x, in_range U x -> `|mean x - g x| <= beta) -> sensitivity_at_most U g delta ->
  exists S b d, let f := clipped_mean (sym_lo U S) (@sym_hi R L m U S) in
    [/\ S = Num.min (N R m * delta) (v m U 1), is_worst_case_bias U f b, is_sensitivity U f d
      & Phi b d <= Phi beta delta].
(* end cor-class-b *)
Proof.
move=> mono d0 bias sens; have N0 : 0 < N R m by rewrite ltr0n.
pose D := Num.min delta (v m U 1 / N R m).
have V0 : 0 <= v m U 1 / N R m by rewrite divr_ge0 ?mulr_ge0 ?ler0n.
have D0 : 0 <= D by rewrite le_minr d0.
have SE : Num.min (N R m * delta) (v m U 1) = N R m * D.
  by rewrite /D minr_pmulr ?ler0n // [_ * (v m U 1 / _)]mulrC divfK ?gt_eqF.
have [_ attained _] := thm_frontier U0 Npos D0; have [|b d] := attained; first by rewrite /D le_minl lexx orbT.
exists (N R m * D), ((\sum_l Num.max (U * (m l)%:R / N R m - D) 0) / 2), D; split=> //.
apply: mono; last by rewrite /D le_minl lexx.
case: (leP delta (v m U 1 / N R m)) => h.
  have [/(_ g sens) [x xr le] _ _] := thm_frontier U0 Npos d0.
  by rewrite /D min_l //; exact: le_trans le (bias x xr).
rewrite /D min_r ?(ltW h) //.
have [_ _ no_bias] := thm_frontier U0 Npos V0; have [-> _ _] := no_bias (lexx _).
have in0 : @in_range R L m U (fun _ _ => 0) by move=> l j; rewrite lexx U0.
exact: le_trans (normr_ge0 _) (bias _ in0).
Qed.
End Noise.
