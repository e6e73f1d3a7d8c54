(* The best ratios of bias to width, for the mean absolute and the mean square error with Laplace noise. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts exponential stationary felt_family.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Distance.
Variables (R : realFieldType) (exp : R -> R) (eps : R).

Lemma exp_grows (x y : R) : is_exponential exp -> x < y -> exp x < exp y.
Proof.
move=> is_exp xy; have -> : y = x + (y - x) by ring.
rewrite (exp_split is_exp) ltr_pmulr ?(exp_gt0 is_exp) //; apply: (exp_gt1 is_exp); rewrite subr_gt0 //.
Qed.

(* begin thm-lambert *)
(* (1) The mean absolute error: h has a slope, and x is stationary if and only if r = eps x > 0 and w (exp r
   - 1) = 1 + r, for w = n eps / 2.  Then - (1 + r + w) is the only number up to -1 which times its
   exponential is - w exp (- 1 - w): the lower branch of Lambert's function there. *)
Theorem distance_ratios : is_exponential exp -> 0 < eps ->
  has_slope (h_absolute exp eps) (h_absolute_slope exp eps)
  /\ forall (n : nat) (r : R), let w := n%:R * eps / 2 in let u := - (1 + r + w) in
    [/\ is_stationary (h_absolute exp eps) (h_absolute_slope exp eps) n (r / eps)
          <-> 0 < r /\ w * (exp r - 1) = 1 + r,
        0 < r -> w * (exp r - 1) = 1 + r -> u <= -1 /\ u * exp u = - (w * exp (- 1 - w))
      & forall u', u <= -1 -> u' <= -1 -> u' * exp u' = u * exp u -> u' = u].
(* end thm-lambert *)
Proof.
(* Differences of exponentials are bounded from both sides by exp x >= 1 + x, which gives the slope
   and its strict growth; the equation for the ratio then has one solution at most. *)
move=> is_exp e0; split.
  rewrite /h_absolute /h_absolute_slope; split=> [x y x0 y0|x y x0 xy|||x x0].
  - have -> : - (eps * y) = - (eps * x) + - (eps * (y - x)) by ring.
    rewrite (exp_split is_exp); have := exp_ge is_exp (- (eps * (y - x))); have p := exp_gt0 is_exp (- (eps * x)).
    move: (exp (- (eps * x))) (exp (- (eps * (y - x)))) p => f g p lo; rewrite -subr_ge0.
    have -> : y + f * g / eps - (x + f / eps + (1 - f) * (y - x)) = f / eps * (g - (1 - eps * (y - x))).
      by field; rewrite gt_eqF.
    by rewrite mulr_ge0 ?divr_ge0 ?subr_ge0 ?(ltW p) // ltW.
  - by rewrite ltr_add2l ltr_opp2; apply: exp_grows; rewrite // ltr_opp2 ltr_pmul2l.
  - by rewrite mulr0 oppr0 (exp0 is_exp) subrr.
  - by rewrite mulr0 oppr0 (exp0 is_exp) add0r divr_gt0 ?ltr01.
  by rewrite ltr_subl_addr ltr_addl; exact: (exp_gt0 is_exp).
move=> n r w u; have back : exp (- r) * exp r = 1 by rewrite -(exp_split is_exp) addNr (exp0 is_exp).
split.
- rewrite /is_stationary /h_absolute /h_absolute_slope [eps * _]mulrC divfK ?gt_eqF //.
  rewrite ltr_pdivl_mulr // mul0r; have p := exp_gt0 is_exp r; have q := exp_gt0 is_exp (- r).
  move: (exp r) (exp (- r)) back p q => g f fg p q; split=> -[r0 e]; split=> //.
    have : (r / eps + f / eps) * (eps * g) = (r / eps + n%:R / 2) * (1 - f) * (eps * g) by rewrite e.
    have -> : (r / eps + f / eps) * (eps * g) = r * g + f * g by field; rewrite gt_eqF.
    have -> : (r / eps + n%:R / 2) * (1 - f) * (eps * g) = (r + w) * (g - f * g) by rewrite /w; field; rewrite gt_eqF.
    by rewrite fg; move: (w) => b; linear.
  apply: (mulIf (lt0r_neq0 (mulr_gt0 e0 p))).
  have -> : (r / eps + f / eps) * (eps * g) = r * g + f * g by field; rewrite gt_eqF.
  have -> : (r / eps + n%:R / 2) * (1 - f) * (eps * g) = (r + w) * (g - f * g) by rewrite /w; field; rewrite gt_eqF.
  by rewrite fg; move: e; move: (w) => b; linear.
- move=> r0 e; have w0 : 0 <= w by rewrite !mulr_ge0 ?ler0n ?invr_ge0 ?ler0n // ltW.
  split; first by rewrite /u; move: (w) w0 => b b0; linear.
  have -> : exp u = exp (- 1 - w) * exp (- r) by rewrite -(exp_split is_exp) /u; congr exp; ring.
  have -> : u = - (w * exp r) by move: e; rewrite /u; move: (w) (exp r) => b g; linear.
  by rewrite mulNr mulrACA [exp r * _]mulrC back mulr1.
(* what lies farther down falls faster than its exponential grows *)
have apart (a d : R) : a <= -1 -> 0 < d -> a * exp a < (a - d) * exp (a - d).
  move=> a1 d0; have p := exp_gt0 is_exp (a - d); have -> : exp a = exp (a - d) * exp d.
    by rewrite -(exp_split is_exp) subrK.
  rewrite mulrCA [X in _ < X]mulrC ltr_pmul2l //; apply: (@le_lt_trans _ _ (a * (1 + d / 2) ^+ 2)).
    rewrite ler_nmul2l ?(le_lt_trans a1) ?oppr_lt0 ?ltr01 //.
    have -> : exp d = exp (d / 2) ^+ 2 by rewrite expr2 -(exp_split is_exp); congr exp; linear.
    have d2 : 0 <= 1 + d / 2 by linear.
    by rewrite ler_sqr ?nnegrE ?(exp_ge is_exp) // ltW // (exp_gt0 is_exp).
  have := ler_wpmul2r (ltW d0) a1; have := ler_wpmul2r (ltW (mulr_gt0 d0 d0)) a1; have := mulr_gt0 d0 d0.
  by rewrite !expr2; linear.
move=> u' u1 u1' e; case: (ltgtP u' u) => // h.
  by have := apart u (u - u') u1; rewrite subr_gt0 subKr e ltxx => /(_ h).
by have := apart u' (u' - u) u1'; rewrite subr_gt0 subKr e ltxx => /(_ h).
Qed.
End Distance.

Section Square.
Variables (R : realFieldType) (h : R -> R) (eps : R).

(* begin thm-lambert-square *)
(* (2) The mean square error: h x is the root of x ^ 2 + 2 / eps ^ 2, and x = 4 / (n eps ^ 2) is stationary,
   so the widths are those of the book.  Then weighed_error is J_2. *)
Theorem square_ratios L (m : 'I_L -> nat) (U : R) : 0 < eps ->
  (forall x, 0 <= x -> 0 <= h x /\ h x ^+ 2 = x ^+ 2 + 2 / eps ^+ 2) ->
  [/\ has_slope h (fun x => x / h x),
      forall n, (0 < n)%N -> is_stationary h (fun x => x / h x) n (4%:R / (n%:R * eps ^+ 2)),
      forall n, (0 < n)%N -> width_of m U n (4%:R / (n%:R * eps ^+ 2))
        = n%:R * U * sum_of_largest m n%:R / (n%:R ^+ 2 + 8%:R / eps ^+ 2)
    & forall S, 0 <= S -> 0 <= weighed_error m U h S
        /\ weighed_error m U h S ^+ 2 = excess m U S ^+ 2 + 2 * S ^+ 2 / eps ^+ 2].
(* end thm-lambert-square *)
Proof.
move=> e0 root; have ne := lt0r_neq0 e0; have a0 : 0 < 2 / eps ^+ 2 by rewrite divr_gt0 ?ltr0n ?exprn_gt0.
have pos x : 0 <= x -> 0 < h x.
  move=> x0; have [h0 hE] := root x x0; rewrite lt_neqAle h0 andbT; apply/eqP => z.
  have : 0 < x ^+ 2 + 2 / eps ^+ 2 by rewrite ltr_paddl ?sqr_ge0.
  by rewrite -hE -z expr0n ltxx.
have sq x (x0 : 0 <= x) := proj2 (root x x0).
split.
- have [a aE] : {a | a = 2 / eps ^+ 2} by exists (2 / eps ^+ 2).
  rewrite -aE in a0 sq; split=> [x y x0 y0|x y x0 xy|||x x0].
  + have [px py] := (pos x x0, pos y y0).
    have -> : h x + x / h x * (y - x) = (a + x * y) / h x.
      apply: (mulIf (lt0r_neq0 px)); rewrite divfK ?gt_eqF //.
      rewrite mulrDl -expr2 sq // mulrAC divfK ?gt_eqF //; ring.
    rewrite ler_pdivr_mulr // -ler_sqr ?nnegrE ?mulr_ge0 ?addr_ge0 ?mulr_ge0 ?(ltW a0) ?(ltW px) ?(ltW py) //.
    rewrite exprMn !sq // -subr_ge0.
    suff -> : (y ^+ 2 + a) * (x ^+ 2 + a) - (a + x * y) ^+ 2 = a * (x - y) ^+ 2 by rewrite mulr_ge0 ?sqr_ge0 ?(ltW a0).
    by ring.
  + have y0 : 0 < y := le_lt_trans x0 xy; have [px py] := (pos x x0, pos y (ltW y0)).
    rewrite ltr_pdivr_mulr // mulrAC ltr_pdivl_mulr //.
    rewrite -ltr_sqr ?nnegrE ?mulr_ge0 ?(ltW y0) ?(ltW px) ?(ltW py) // !exprMn !sq ?(ltW y0) //.
    by rewrite !mulrDr [y ^+ 2 * _]mulrC ltr_add2l ltr_pmul2r // ltr_sqr ?nnegrE // ltW.
  + by rewrite mul0r.
  + exact: pos.
  by rewrite ltr_pdivr_mulr ?pos // mul1r -ltr_sqr ?nnegrE ?(ltW (pos _ x0)) // sq // ltr_addl.
- move=> n n0; have nR : 0 < n%:R :> R by rewrite ltr0n.
  set x := 4%:R / _; have x0 : 0 < x by rewrite divr_gt0 ?ltr0n ?mulr_gt0 ?exprn_gt0.
  split=> //; apply: (mulIf (lt0r_neq0 (pos x (ltW x0)))).
  rewrite -expr2 sq ?(ltW x0) // mulrA divfK ?gt_eqF ?pos ?(ltW x0) // /x; field; rewrite ne gt_eqF //.
- move=> n n0; have nR : 0 < n%:R :> R by rewrite ltr0n.
  have q0 : 0 < n%:R ^+ 2 + 8%:R / eps ^+ 2 by rewrite addr_gt0 ?divr_gt0 ?exprn_gt0 ?ltr0n.
  rewrite /width_of; have -> : n%:R + 2 * (4%:R / (n%:R * eps ^+ 2)) = (n%:R ^+ 2 + 8%:R / eps ^+ 2) / n%:R by field; rewrite ne gt_eqF.
  move: (sum_of_largest m _) (_ + _) q0 => a q q0; field; rewrite !gt_eqF //.
move=> S S0; have excess0 T : 0 <= excess m U T.
  by rewrite divr_ge0 ?ler0n // sumr_ge0 // => l _; rewrite le_maxr lexx orbT.
rewrite /weighed_error; move: S0; rewrite le_eqVlt => /orP [/eqP <-|S0].
  by rewrite eqxx expr0n mulr0 mul0r addr0.
have x0 : 0 <= excess m U S / S by rewrite divr_ge0 // ltW.
rewrite gt_eqF // exprMn sq //; split; first by rewrite mulr_ge0 ?(ltW S0) ?(ltW (pos _ x0)).
by move: (excess m U S) => b; field; rewrite ne gt_eqF.
Qed.
End Square.
