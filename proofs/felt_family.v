(* Symmetric intervals are best for the mean absolute and the mean square error, too, among all estimators that
   are published with Laplace noise. *)
(* Here are defined: mean_over_release, the mean of a function of a release with Laplace noise; h_absolute,
   the weight of bias against noise for the mean absolute error, and its slope. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts frontier exponential composition densities line noise optimum open_domain unbiased felt stationary.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Squares.
Variables (R : realFieldType) (exp : R -> R).
Hypothesis is_exp : is_exponential exp.

Section Line.
Variables (H : (R -> R) -> Prop) (J : (R -> R) -> R).
Hypothesis HJ : is_line_integral H J.
Notation decay := (decay exp).

Lemma square_part (s c b : R) : 0 < s -> c <= b -> H (between c b (fun y => (y - c) ^+ 2 * decay s c y)).
Proof.
move=> s0 cb; have [He _] := decay_beyond is_exp HJ c s0.
have [|He' _] := line_ext HJ (between_part HJ c b He) (h' := between c b (decay s c)).
  by move=> y; rewrite /between /beyond; case: ifP => // /andP [-> _].
have [Hs _] := line_scale HJ ((b - c) ^+ 2) He'.
have Hf : H (between c b (fun y => ((b - c) ^+ 2 - (y - c) ^+ 2) * decay s c y)).
  apply: (falls_between HJ) => x y cx xy yb; apply: ler_pmul.
  - by rewrite subr_ge0 ler_sqr ?nnegrE ?subr_ge0 // ?ler_add2r // (le_trans cx).
  - exact/ltW/decay_gt0.
  - by rewrite ler_add2l ler_opp2 ler_sqr ?nnegrE ?subr_ge0 ?ler_add2r // (le_trans cx).
  exact: exp_falls.
have [Hm _] := line_scale HJ (-1) Hf; have [Ha _] := line_add HJ Hs Hm.
have [] // := line_ext HJ Ha (h' := between c b (fun y => (y - c) ^+ 2 * decay s c y)) => y.
by rewrite /between; case: ifP => _; ring.
Qed.

Let shift_rate (x s w a : R) : 0 < s -> 0 < w -> 0 < a -> - (x / (s * w / a)) = - (x / s) + x / (s * w) * (w - a).
Proof. by move=> s0 w0 a0; field; rewrite !gt_eqF. Qed.

(* Bounds on the squared distance times the decay, by second differences of decays of slightly different
   scales. *)
Lemma square_between (s c : R) (n : nat) (y : R) : 0 < s -> (0 < n)%N -> c <= y ->
  let k : R := n%:R + 2 in let d (a : R) : R := decay (s * k / a) c y in
  (s * k) ^+ 2 * (decay s c y + (- (2) * d (k + 1) + d (k + 2))) <= (y - c) ^+ 2 * decay s c y
  /\ (y - c) ^+ 2 * decay s c y <= (s * k) ^+ 2 * (decay s c y + (- (2) * d (k - 1) + d (k - 2))).
Proof.
move=> s0 n0 cy k d; have n1 : 0 < n%:R :> R by rewrite ltr0n.
have k2 : 0 < k - 2 by rewrite /k addrK.
have [k0 k1] : 0 < k /\ 0 < k - 1 by split; linear.
pose u := (y - c) / (s * k); have u0 : 0 <= u by rewrite divr_ge0 ?subr_ge0 ?mulr_ge0 // ltW.
have dE (a : R) : 0 < a -> d a = decay s c y * exp (u * (k - a)).
  by move=> a0; rewrite /d /noise.decay -(exp_split is_exp); congr (exp _); exact: shift_rate.
have twice v : exp (v + v) = exp v ^+ 2 by rewrite (exp_split is_exp) expr2.
rewrite !dE; [|by linear..].
have -> : u * (k - (k + 1)) = - u by ring.
have -> : u * (k - (k + 2)) = - u + - u by ring.
have -> : u * (k - (k - 1)) = u by ring.
have -> : u * (k - (k - 2)) = u + u by ring.
rewrite !twice; have -> : y - c = s * k * u by rewrite /u mulrC divfK // mulf_neq0 // gt_eqF.
have p := decay_gt0 is_exp s c y; have lo := exp_ge is_exp (- u); have hi := exp_ge is_exp u.
have a0 : 0 < (s * k) ^+ 2 * decay s c y by rewrite mulr_gt0 ?exprn_gt0 ?mulr_gt0.
have lt1 : exp (- u) <= 1 by rewrite -(exp0 is_exp); apply: (exp_mono is_exp); rewrite oppr_le0.
move: (exp (- u)) (exp u) lo hi lt1 => f g lo hi lt1.
have -> : (s * k) ^+ 2 * (decay s c y + (- (2) * (decay s c y * f) + decay s c y * f ^+ 2))
  = (s * k) ^+ 2 * decay s c y * (1 - f) ^+ 2 by ring.
have -> : (s * k) ^+ 2 * (decay s c y + (- (2) * (decay s c y * g) + decay s c y * g ^+ 2))
  = (s * k) ^+ 2 * decay s c y * (g - 1) ^+ 2 by ring.
have -> : (s * k * u) ^+ 2 * decay s c y = (s * k) ^+ 2 * decay s c y * u ^+ 2 by ring.
by rewrite !ler_pmul2l // !ler_sqr ?nnegrE //; try split; linear.
Qed.

Lemma square_beyond (s c : R) : 0 < s ->
  H (beyond c (fun y => (y - c) ^+ 2 * decay s c y))
  /\ J (beyond c (fun y => (y - c) ^+ 2 * decay s c y)) = 2 * s ^+ 3.
Proof.
(* The squared distance from c, weighted by the decay, is squeezed between second differences of
   decays with three scales near s. Each has a known integral, and both tend to the same number. *)
move=> s0; set f := beyond c _.
(* what the bounds integrate to *)
have mix k a b : 0 < a -> 0 < b -> let g := beyond c (fun y => k * (decay s c y + (- (2) * decay a c y + decay b c y))) in
    H g /\ J g = k * (s - 2 * a + b).
  move=> a0 b0 g; have [Hs Js] := decay_beyond is_exp HJ c s0.
  have [Ha Ja] := decay_beyond is_exp HJ c a0; have [Hb Jb] := decay_beyond is_exp HJ c b0.
  have [Hm Jm] := beyond_scale HJ (- (2)) Ha; have [Hn Jn] := beyond_add HJ Hm Hb; have [Ho Jo] := beyond_add HJ Hs Hn.
  have [Hk Jk] := beyond_scale HJ k Ho; split=> //; rewrite Jk Jo Jn Jm Js Ja Jb; ring.
pose k n : R := n%:R + 2; have n1 n : (0 < n)%N -> 0 < n%:R :> R by rewrite ltr0n.
have rate0 n a : (0 < n)%N -> 0 < a -> 0 < s * k n / a.
  by move=> n0 a0; rewrite divr_gt0 // mulr_gt0 // addr_gt0 ?n1.
have low n : (0 < n)%N -> 0 < k n - 2 /\ 0 < k n - 1 by move=> /n1; rewrite /k => p; split; linear.
have Hf : H f.
  have [l2 l1] := low 1%N isT; have [Hk _] := mix ((s * k 1%N) ^+ 2) _ _ (rate0 1%N _ isT l1) (rate0 1%N _ isT l2).
  apply: (beyond_bounded HJ _ Hk) => [y cy|b cb]; last exact: square_part.
  rewrite (proj2 (square_between (n := 1%N) s0 isT (ltW cy))) andbT.
  by rewrite mulr_ge0 ?sqr_ge0 // ltW // decay_gt0.
split=> //; set t := 2 * s ^+ 3; have t0 : 0 < t by rewrite mulr_gt0 ?ltr0n ?exprn_gt0.
have bounds n : (0 < n)%N -> t * k n ^+ 2 <= J f * ((k n + 1) * (k n + 2)) /\ J f * (n%:R * (n%:R + 1)) <= t * k n ^+ 2.
  move=> n0; have [l2 l1] := low n n0; have k0 : 0 < k n by linear.
  have [u1 u2] : 0 < k n + 1 /\ 0 < k n + 2 by split; linear.
  have [Hl Jl] := mix ((s * k n) ^+ 2) _ _ (rate0 n _ n0 u1) (rate0 n _ n0 u2).
  have [Hu Ju] := mix ((s * k n) ^+ 2) _ _ (rate0 n _ n0 l1) (rate0 n _ n0 l2).
  have := beyond_le HJ Hl Hf (fun y cy => proj1 (square_between s0 n0 (ltW cy))).
  have := beyond_le HJ Hf Hu (fun y cy => proj2 (square_between s0 n0 (ltW cy))); rewrite Jl Ju.
  have -> : n%:R * (n%:R + 1) = (k n - 2) * (k n - 1) by rewrite /k; ring.
  move: (k n) k0 u1 u2 l1 l2 => w w0 u1 u2 l1 l2.
  have -> : (s * w) ^+ 2 * (s - 2 * (s * w / (w - 1)) + s * w / (w - 2)) = t * w ^+ 2 / ((w - 2) * (w - 1)).
    by rewrite /t; field; rewrite !gt_eqF.
  have -> : (s * w) ^+ 2 * (s - 2 * (s * w / (w + 1)) + s * w / (w + 2)) = t * w ^+ 2 / ((w + 1) * (w + 2)).
    by rewrite /t; field; rewrite !gt_eqF.
  by rewrite ler_pdivl_mulr ?ler_pdivr_mulr ?mulr_gt0.
case: (leP t (J f)) => jf; apply/eqP; rewrite -subr_eq0; first apply/eqP.
  apply: (small_zero (proj1 HJ) (c := 4%:R * t)); rewrite ?subr_ge0 // => -[|n]; first by rewrite mulr0 mulr_ge0 ?ler0n ?ltW.
  have [_] := bounds n.+1 isT; rewrite /k; have := n1 n.+1 isT; move: n.+1%:R (J f) jf => w j jt w0.
  have w1 : 0 < w + 1 by linear.
  move=> le; rewrite -(ler_pmul2r w1); move: le; have := mulr_ge0 (ltW w0) (ltW t0); rewrite !expr2; linear.
rewrite -oppr_eq0 opprB; apply/eqP.
apply: (small_zero (proj1 HJ) (c := 5%:R * t)); rewrite ?subr_ge0 ?(ltW jf) // => -[|n]; first by rewrite mulr0 mulr_ge0 ?ler0n ?ltW.
have [le _] := bounds n.+1 isT; move: le; have := n1 n.+1 isT; have : n.+1%:R + 2 = k n.+1 by [].
move: n.+1%:R (k n.+1) (J f) jf => w z j jt wz w0 le; have [z0 z2] : 0 < z /\ 1 <= z by split; linear.
have le_z : (t - j) * w <= (t - j) * z by apply: ler_wpmul2l; linear.
apply: le_trans le_z _; rewrite -(ler_pmul2r z0).
have := ler_wpmul2l (_ : 0 <= t - j) z2; have := ler_wpmul2l (ltW t0) z2.
have : 0 <= (t - j) * (3%:R * z + 2) by apply: mulr_ge0; linear.
move: le; rewrite expr2; linear.
Qed.

End Line.

Section Sides.
Variables (H : (R -> R) -> Prop) (J : (R -> R) -> R).
Hypothesis HJ : is_line_integral H J.

(* The mean square distance from a. *)
Lemma laplace_square (s c a : R) : 0 < s ->
  H (fun y => (a - y) ^+ 2 * laplace exp s c y)
  /\ J (fun y => (a - y) ^+ 2 * laplace exp s c y) = (a - c) ^+ 2 + 2 * s ^+ 2.
Proof.
move=> s0; have HM := mirror HJ.
have [HR JR] := square_beyond HJ c s0; have [Hr Jr] := line_scale HJ (2 * s)^-1 HR.
have [HL JL] := square_beyond HM (- c) s0; have [Hl Jl] := line_scale HJ (2 * s)^-1 HL.
have [Hs Js] := line_add HJ Hr Hl.
have [|Hc Jc] := line_but_one HJ (a := c) (h' := fun y => (y - c) ^+ 2 * laplace exp s c y) Hs.
  move=> y; rewrite neq_lt /mirrored /beyond !ltr_opp2 => /orP [] yc; rewrite yc [_ < _]ltNge (ltW yc) /=.
    by rewrite laplace_left //; move: (decay _ _ _ _) ((2 * s)^-1) => d w; ring.
  by rewrite laplace_right //; move: (decay _ _ _ _) ((2 * s)^-1) => d w; ring.
have [Hm Jm] := laplace_mass is_exp HJ c s0; have [Hy Jy] := laplace_centre is_exp HJ s0 c.
have [Hm' Jm'] := line_scale HJ (a ^+ 2 - c ^+ 2) Hm; have [Hy' Jy'] := line_scale HJ (2 * (c - a)) Hy.
have [Ha Ja] := line_add HJ Hm' Hy'; have [Hb Jb] := line_add HJ Hc Ha.
have [|Hf ->] := line_ext HJ Hb (h' := fun y => (a - y) ^+ 2 * laplace exp s c y); first by move=> y; ring.
by split=> //; rewrite Jb Ja Jc Js Jr Jl JR JL Jm' Jy' Jm Jy; field; rewrite gt_eqF.
Qed.
End Sides.
End Squares.

(* begin def-felt-family *)
(* The mean of h Y, where Y is c with Laplace noise of scale s, or c itself if s is 0. *)
Definition mean_over_release (R : realFieldType) (exp : R -> R) (J : (R -> R) -> R) (s c : R) (h : R -> R) : R :=
  if s == 0 then h c else J (fun y => h y * laplace exp s c y).
(* The h of the book for the mean absolute error, and its slope: x is the ratio of bias to width. *)
Definition h_absolute (R : realFieldType) (exp : R -> R) (eps x : R) : R := x + exp (- (eps * x)) / eps.
Definition h_absolute_slope (R : realFieldType) (exp : R -> R) (eps x : R) : R := 1 - exp (- (eps * x)).
(* end def-felt-family *)

Section Released.
Variables (R : realFieldType) (exp : R -> R) (H : (R -> R) -> Prop) (J : (R -> R) -> R).
Hypothesis is_exp : is_exponential exp.
Hypothesis HJ : is_line_integral H J.

Lemma mean_abs_error_zero (d : R) : mean_abs_error exp 0 d = d.
Proof. by rewrite /mean_abs_error mul0r addr0. Qed.

Lemma mean_abs_error_mono (s s' d d' : R) : 0 <= d -> d <= d' -> 0 <= s -> s <= s' -> mean_abs_error exp s d <= mean_abs_error exp s' d'.
Proof.
move=> d0 dd; rewrite le_eqVlt => /orP [/eqP <-|s0] ss.
  rewrite mean_abs_error_zero; apply: le_trans dd _; rewrite /mean_abs_error ler_addl mulr_ge0 //.
  exact/ltW/(exp_gt0 is_exp).
apply: le_trans (proj1 (andP (mean_abs_error_grows is_exp s0 d0 dd))) _; rewrite /mean_abs_error ler_add2l.
have p := exp_gt0 is_exp (- (d' / s)); apply: ler_pmul; rewrite ?(ltW s0) ?(ltW p) //.
apply: (exp_mono is_exp); rewrite ler_opp2; apply: ler_wpmul2l; first exact: le_trans dd.
by rewrite lef_pinv ?posrE // (lt_le_trans s0).
Qed.

Lemma absolute_is (s c a : R) : 0 <= s -> mean_over_release exp J s c (fun y => `|a - y|) = mean_abs_error exp s `|a - c|.
Proof.
rewrite /mean_over_release le_eqVlt => /orP [/eqP <-|s0]; first by rewrite eqxx mean_abs_error_zero.
have [Hh Jh] := distance_any c a is_exp HJ s0; rewrite gt_eqF // distrC -[RHS]Jh.
by have [|_ ->] := line_ext HJ Hh (h' := fun y => `|a - y| * laplace exp s c y); first by move=> y; rewrite distrC.
Qed.

Lemma square_is (s c a : R) : 0 <= s -> mean_over_release exp J s c (fun y => (a - y) ^+ 2) = `|a - c| ^+ 2 + 2 * s ^+ 2.
Proof.
rewrite /mean_over_release real_normK ?num_real // le_eqVlt => /orP [/eqP <-|s0].
  by rewrite eqxx expr0n mulr0 addr0.
by have [_ ->] := laplace_square is_exp HJ c a s0; rewrite gt_eqF.
Qed.
End Released.

(* begin prp-felt-family *)
(* g is released with Laplace noise of scale delta / eps.  The mean absolute and the mean square error
   exist.  The symmetric intervals of total width S have J_1 (S) / N and J_2 (S) ^ 2 / N ^ 2 as their
   largest ones.  For every estimator there is a width S such that, on some dataset, both of its errors are
   at least these. *)
Theorem felt_family (R : realFieldType) (exp : R -> R) L (m : 'I_L -> nat) (U eps : R)
    (H : (R -> R) -> Prop) (J : (R -> R) -> R) :
  is_exponential exp -> is_line_integral H J -> 0 <= U -> (0 < \sum_l m l)%N -> 0 < eps ->
  let absolute (g : estimator R m) (delta : R) (x : dataset R m) :=
    mean_over_release exp J (delta / eps) (g x) (fun y => `|mean x - y|) in
  let square (g : estimator R m) (delta : R) (x : dataset R m) :=
    mean_over_release exp J (delta / eps) (g x) (fun y => (mean x - y) ^+ 2) in
  let J1 S := weighed_error m U (h_absolute exp eps) S in
  let J2_squared S := excess m U S ^+ 2 + 2 * S ^+ 2 / eps ^+ 2 in
  [/\ forall (g : estimator R m) (delta : R) (x : dataset R m), 0 < delta ->
        H (fun y => `|mean x - y| * laplace exp (delta / eps) (g x) y)
        /\ H (fun y => (mean x - y) ^+ 2 * laplace exp (delta / eps) (g x) y),
      forall S, 0 <= S <= v m U 1 -> let g := clipped_mean (sym_lo U S) (@sym_hi R L m U S) in
        [/\ is_sensitivity U g (S / N R m),
            is_max (in_range U) (absolute g (S / N R m)) (J1 S / N R m)
          & is_max (in_range U) (square g (S / N R m)) (J2_squared S / N R m ^+ 2)]
    & forall (g : estimator R m) (delta : R), 0 <= delta -> sensitivity_at_most U g delta ->
        exists2 S, 0 <= S <= v m U 1 & exists2 x, in_range U x &
          J1 S / N R m <= absolute g delta x /\ J2_squared S / N R m ^+ 2 <= square g delta x].
(* end prp-felt-family *)
Proof.
(* The mean losses depend on an estimator only through bias and scale, and increase with both. The
   symmetric intervals have the least bias at each sensitivity, and attain these losses. *)
move=> is_exp HJ U0 Npos e0 absolute square J1 J2; have N0 : 0 < N R m by rewrite ltr0n.
have scale0 (d : R) : 0 <= d -> 0 <= d / eps by move=> d0; rewrite divr_ge0 // ltW.
have absE g d x : 0 <= d -> absolute g d x = mean_abs_error exp (d / eps) `|mean x - g x|.
  by move=> d0; rewrite /absolute (absolute_is is_exp HJ) ?scale0.
have squareE g d x : 0 <= d -> square g d x = `|mean x - g x| ^+ 2 + 2 * (d / eps) ^+ 2.
  by move=> d0; rewrite /square (square_is is_exp HJ) ?scale0.
have excess0 S : 0 <= excess m U S.
  by rewrite divr_ge0 ?ler0n // sumr_ge0 // => l _; rewrite le_maxr lexx orbT.
(* in the measures of the theorem *)
have J1E S : 0 <= S -> J1 S / N R m = mean_abs_error exp (S / N R m / eps) (excess m U S / N R m).
  rewrite le_eqVlt /J1 /weighed_error => /orP [/eqP <-|S0]; first by rewrite eqxx !mul0r mean_abs_error_zero.
  rewrite gt_eqF // /h_absolute /mean_abs_error.
  have -> : excess m U S / N R m / (S / N R m / eps) = eps * (excess m U S / S).
    by move: (excess m U S) (N R m) N0 => b n n0; field; rewrite !gt_eqF.
  by move: (exp _) => f; move: (excess m U S) (N R m) N0 => b n n0; field; rewrite !gt_eqF.
have J2E S : J2 S / N R m ^+ 2 = (excess m U S / N R m) ^+ 2 + 2 * (S / N R m / eps) ^+ 2.
  by rewrite /J2; move: (excess m U S) (N R m) N0 => b n n0; field; rewrite !gt_eqF.
have betaE S : (\sum_l Num.max (U * (m l)%:R / N R m - S / N R m) 0) / 2 = excess m U S / N R m.
  rewrite /excess [RHS]mulrAC; congr (_ / _); rewrite mulr_suml; apply: eq_bigr => l _.
  by rewrite maxr_pmull ?invr_ge0 ?ltW // mul0r mulrBl.
have bound S : 0 <= S -> 0 <= S / N R m by move=> S0; rewrite divr_ge0 // ltW.
split=> [g d x d0|S /andP [S0 Stop] g|g delta d0 sens].
- have s0 : 0 < d / eps by exact: divr_gt0.
  have [Hh _] := distance_any (g x) (mean x) is_exp HJ s0; have [Hs _] := laplace_square is_exp HJ (g x) (mean x) s0.
  by split=> //; have [] // := line_ext HJ Hh (h' := fun y => `|mean x - y| * laplace exp (d / eps) (g x) y) => y; rewrite distrC.
- have [_ attained _] := thm_frontier U0 Npos (bound S S0); have [|] := attained.
    by apply: ler_wpmul2r; rewrite // invr_ge0 ltW.
  rewrite [N R m * _]mulrC divfK ?gt_eqF // betaE -/g => -[[x xr xE] most] sensE; split=> //.
    rewrite J1E //; split=> [|y yr]; first by exists x; rewrite // absE ?bound // xE.
    by rewrite absE ?bound //; apply: (mean_abs_error_mono is_exp); rewrite ?scale0 ?bound // most.
  rewrite J2E; split=> [|y yr]; first by exists x; rewrite // squareE ?bound // xE.
  rewrite squareE ?bound // ler_add2r ler_sqr ?nnegrE ?most //; exact: bound.
pose S := Num.min (N R m * delta) (v m U 1); have V0 : 0 <= v m U 1 by rewrite mulr_ge0 ?ler0n.
have S0 : 0 <= S by rewrite le_minr V0 mulr_ge0 // ltW.
have Sd : S / N R m <= delta by rewrite ler_pdivr_mulr // mulrC le_minl lexx.
exists S; first by rewrite S0 le_minl lexx orbT.
have [x xr far] : exists2 x, in_range U x & excess m U S / N R m <= `|mean x - g x|.
  rewrite -betaE; case: (leP delta (v m U 1 / N R m)) => h.
    have [/(_ g sens) [x xr le] _ _] := thm_frontier U0 Npos d0; exists x => //.
    by rewrite /S min_l ?[N R m * _]mulrC ?mulfK ?gt_eqF // -ler_pdivl_mulr.
  exists (fun _ _ => 0) => [l j|]; first by rewrite lexx U0.
  have [_ _ no_bias] := thm_frontier U0 Npos (bound _ V0); have [z _ _] := no_bias (lexx _).
  by rewrite /S min_r ?z // mulrC -ler_pdivr_mulr // ltW.
exists x => //; have Se : S / N R m / eps <= delta / eps by apply: ler_wpmul2r; rewrite // invr_ge0 ltW.
rewrite absE // squareE // J1E // J2E; split.
  by apply: (mean_abs_error_mono is_exp); rewrite ?scale0 ?bound.
apply: ler_add; first by rewrite ler_sqr ?nnegrE ?bound.
by apply: ler_wpmul2l; rewrite ?ler0n // ler_sqr ?nnegrE ?scale0 ?bound.
Qed.
