(* The paper's measure of error, bias plus mean absolute value of the noise, against the mean absolute
   error: by how much it is larger. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear lemma exponential composition densities line noise open_domain shipped.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Felt.
Variables (R : realFieldType) (exp : R -> R) (s : R).
Hypothesis is_exp : is_exponential exp.
Hypothesis s0 : 0 < s.

(* begin thm-l1 *)
(* The mean of |d + Z| for d >= 0 and Laplace noise Z of scale s: the mean absolute error at the bias d. *)
Definition mean_abs_error (d : R) : R := d + s * exp (- (d / s)).
(* end thm-l1 *)

(* It grows with d, but no faster than d. *)
Lemma mean_abs_error_grows d d' : 0 <= d -> d <= d' -> mean_abs_error d <= mean_abs_error d' <= mean_abs_error d + (d' - d).
Proof.
move=> d0 dd; have := exp_slope is_exp 0 s0 dd; rewrite !subr0 => /andP [lo hi].
have p := exp_gt0 is_exp (- (d' / s)); have one : exp (- (d / s)) <= 1.
  by rewrite -(exp0 is_exp); apply: (exp_mono is_exp); rewrite oppr_le0 divr_ge0 // ltW.
have u := mulr_ge0 (ltW p) (_ : 0 <= d' - d); rewrite subr_ge0 in u; move/(_ dd): u => u.
have w : 0 <= (1 - exp (- (d / s))) * (d' - d) by rewrite mulr_ge0 ?subr_ge0.
rewrite /mean_abs_error; move: (s * _) (s * _) (exp _ * _) u lo w hi => v v' t t0 lo w hi.
by apply/andP; split; linear.
Qed.
End Felt.

(* begin thm-l1 *)
(* The largest mean absolute error of an estimator with the worst-case bias beta, attained or not, and noise
   of scale s; and how much larger the paper's measure beta + s can be. *)
Theorem thm_l1 (R : realFieldType) (exp : R -> R) L (m : 'I_L -> nat) (U : R) (g : estimator R m)
    (beta s : R) (H : (R -> R) -> Prop) (J : (R -> R) -> R) :
  is_exponential exp -> is_line_integral H J -> 0 <= U -> 0 < s ->
  is_sup (in_range U) (fun x => `|mean x - g x|) beta ->
  let E1 := beta + s * exp (- (beta / s)) in
  [/\ forall x, H (fun y => `|mean x - y| * laplace exp s (g x) y),
      is_sup (in_range U) (fun x => J (fun y => `|mean x - y| * laplace exp s (g x) y)) E1,
      E1 <= beta + s
    & forall r, 0 < r -> exp r = r + 2 -> beta + s <= (r + 2) / (r + 1) * E1].
(* end thm-l1 *)
Proof.
move=> is_exp HJ U0 s0 [most near] E1; pose d x := `|mean x - g x|.
have meanE x : H (fun y => `|mean x - y| * laplace exp s (g x) y)
    /\ J (fun y => `|mean x - y| * laplace exp s (g x) y) = mean_abs_error exp s (d x).
  have [Hh Jh] := distance_any (g x) (mean x) is_exp HJ s0.
  have [|Hh' ->] := line_ext HJ Hh (h' := fun y => `|mean x - y| * laplace exp s (g x) y).
    by move=> y; rewrite distrC.
  by split=> //; rewrite Jh /d distrC.
have d0 x : 0 <= d x by exact: normr_ge0.
have b0 : 0 <= beta.
  by apply: le_trans (d0 (fun _ _ => 0)) (most _ _) => l j; rewrite lexx.
split=> [x|||r r0 rE]; first by have [] := meanE x.
- split=> [x xr|w wE]; first by rewrite (proj2 (meanE x)); have [] := andP (mean_abs_error_grows is_exp s0 (d0 x) (most x xr)).
  have [|x xr wx] := near (beta - (E1 - w)); first by linear.
  exists x; rewrite ?(proj2 (meanE x)) //; have /andP [_] := mean_abs_error_grows is_exp s0 (d0 x) (most x xr).
  rewrite -[mean_abs_error exp s beta]/E1 -/(d x); move: wx; rewrite -/(d x); clear -wE; move: E1 wE (mean_abs_error _ _ _) => e wE f.
  by linear.
- rewrite /E1 ler_add2l ler_pimulr ?(ltW s0) // -(exp0 is_exp); apply: (exp_mono is_exp).
  by rewrite oppr_le0 divr_ge0 // ltW.
rewrite mulrAC ler_pdivl_mulr ?addr_gt0 //; pose u := beta / s.
have bE : beta = s * u by rewrite /u mulrC divfK // gt_eqF.
have /(ler_wpmul2l (ltW s0)) : 1 + (r - u) <= (r + 2) * exp (- u).
  by rewrite -rE -(exp_split is_exp); exact: (exp_ge is_exp).
rewrite /E1 -/u {1 2}bE; move: (exp _) => f; linear.
Qed.

(* begin thm-l1-equal *)
(* Both inequalities are equalities for some estimators, for every eps, with one user with one sample. *)
Theorem l1_equalities (R : realFieldType) (exp : R -> R) (U eps r : R) :
  is_exponential exp -> 0 < U -> 0 < eps -> 0 < r -> exp r = r + 2 ->
  let m (l : 'I_1) := 1%N in
  let error (c : R) := exists (g : estimator R m) beta delta,
    [/\ is_worst_case_bias U g beta, is_sensitivity U g delta, 0 < delta
      & let s := delta / eps in beta + s = c * (beta + s * exp (- (beta / s)))] in
  error 1 /\ error ((r + 2) / (r + 1)).
(* end thm-l1-equal *)
Proof.
move=> is_exp U0 e0 r0 rE m error; have Npos : (0 < \sum_l m l)%N by rewrite big_ord_recl.
have N1 : N R m = 1 by rewrite /N big_ord_recl big_ord0.
pose clipping w : dataset R m := fun _ _ => (U - w) / 2; pose high w : dataset R m := fun _ _ => (U + w) / 2.
have interval w : 0 < w <= U -> exists g : estimator R m,
    is_worst_case_bias U g ((U - w) / 2) /\ is_sensitivity U g w.
  move=> /andP [w0 wU]; have cl : is_clipping U (clipping w) (high w).
    by move=> l j; rewrite /clipping /high; split; linear.
  have width_w l : width (clipping w) (high w) l = w.
    by rewrite /width big_ord_recl big_ord0 addr0 /clipping /high; linear.
  have lw : is_largest_width (clipping w) (high w) w.
    by split=> [|l _]; [exists ord0 | rewrite width_w].
  have [bias sens _] := thm_lemma 1 cl lw; exists (clipped_mean (clipping w) (high w)).
  move: bias sens; rewrite N1 !divr1 !big_ord_recl !big_ord0 /clipping /high /= !addr0.
  have -> : U - (U + w) / 2 = (U - w) / 2 by linear.
  by rewrite maxxx.
split.
  have [|g [b d]] := interval U; first by rewrite U0 lexx.
  exists g, 0, U; rewrite subrr mul0r in b; split=> //=.
  by rewrite mul0r oppr0 (exp0 is_exp) mulr1 mul1r.
pose w := U * eps / (eps + 2 * r); have q0 : 0 < eps + 2 * r by rewrite addr_gt0 // mulr_gt0 ?ltr0n.
have w0 : 0 < w by rewrite divr_gt0 // mulr_gt0.
have [|g [b d]] := interval w.
  rewrite w0 ler_pdivr_mulr // ler_pmul2l //.
  by rewrite ler_addl mulr_ge0 ?ler0n ?ltW.
exists g, ((U - w) / 2), w; split=> //=.
have -> : (U - w) / 2 = r * (w / eps) by rewrite /w; field; rewrite !gt_eqF.
have s0 : 0 < w / eps by exact: divr_gt0.
rewrite mulfK ?gt_eqF //; have -> : exp (- r) = (r + 2)^-1.
  apply: (@mulfI _ (r + 2)); first by rewrite gt_eqF // addr_gt0 ?ltr0n ?ltr01.
  by rewrite -{1}rE -(exp_split is_exp) subrr (exp0 is_exp) divff // gt_eqF // addr_gt0 ?ltr0n.
by move: (w / eps) => t; field; rewrite !gt_eqF // addr_gt0 ?ltr0n ?ltr01.
Qed.
