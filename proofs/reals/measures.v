(* The reals: mechanisms are probability measures, private in every event, and exp is exp. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop mathcomp_extra.
From mathcomp.analysis Require Import signed reals ereal topology normedtype derive realfun sequences exp.
From mathcomp.analysis Require Import esum measure lebesgue_measure numfun lebesgue_integral.
From UserDP Require Import definitions linear exponential chain.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Measures.
Variables (R : realType) (L : nat) (m : 'I_L -> nat) (U : R).

(* begin def-reals *)
(* A mechanism draws its output, for the dataset x, from the probability measure mu x.  Private means
   private in every event, as in Definition II.1.  The risk is the largest mean distance. *)
Definition are_laws d (T : measurableType d) (mu : dataset R m -> {measure set T -> \bar R}) : Prop :=
  forall x, in_range U x -> mu x setT = 1%E.
Definition private_in_events d (T : measurableType d) (eps : R)
    (mu : dataset R m -> {measure set T -> \bar R}) : Prop :=
  forall x x', in_range U x -> in_range U x' -> neighbours x x' ->
  forall A, measurable A -> (mu x A <= (expR eps)%:E * mu x' A)%E.
Definition real_risk_at_most (mu : dataset R m -> {measure set (measurableTypeR R) -> \bar R}) (r : R) : Prop :=
  forall x, in_range U x -> (\int[mu x]_y `|mean x - y|%:E <= r%:E)%E.
(* No private mechanism has a risk below b. *)
Definition real_minimax_risk_at_least (eps b : R) : Prop :=
  forall mu r, are_laws mu -> private_in_events eps mu -> real_risk_at_most mu r -> b <= r.
(* end def-reals *)

(* m1 is at most q times m2 on events, so for nonnegative simple functions, too, and integrals are suprema
   of theirs. *)
Lemma events_bound_means d (T : measurableType d) (m1 m2 : {measure set T -> \bar R}) (q : {nonneg R})
    (h : T -> \bar R) : measurable_fun setT h -> (forall y, 0 <= h y)%E ->
  (forall A, measurable A -> m1 A <= q%:num%:E * m2 A)%E ->
  (\int[m1]_y h y <= q%:num%:E * \int[m2]_y h y)%E.
Proof.
move=> mh h0 le12; rewrite -(ge0_integral_mscale m2 measurableT q mh) //.
rewrite !ge0_integralTE //; apply: ub_ereal_sup => _ [g gh <-].
apply: (@le_trans _ _ (sintegral (mscale q m2) g)); last by apply: ereal_sup_ub; exists g.
rewrite !sintegralE; apply: lee_fsum => [|r [x _ gx]]; first exact: fimfunP.
have r0 : 0 <= r by rewrite -gx; exact: fun_ge0.
by apply: lee_pmul => //; exact: le12.
Qed.

(* begin def-privacy-reals *)
(* A mechanism is private in every event if and only if it is private in the mean of every nonnegative
   function. *)
Theorem private_in_means d (T : measurableType d) (eps : R)
    (mu : dataset R m -> {measure set T -> \bar R}) :
  private_in_events eps mu <->
  forall x x', in_range U x -> in_range U x' -> neighbours x x' ->
  forall h : T -> \bar R, measurable_fun setT h -> (forall y, 0 <= h y)%E ->
  (\int[mu x]_y h y <= (expR eps)%:E * \int[mu x']_y h y)%E.
(* end def-privacy-reals *)
Proof.
split=> [priv x x' xr xr' xx h mh h0|means x x' xr xr' xx A mA].
  exact: (@events_bound_means _ _ _ _ (NngNum (ltW (expR_gt0 eps)))) (priv x x' xr xr' xx).
have := means x x' xr xr' xx (EFin \o \1_A); rewrite !integral_indic // !setIT; apply.
  by apply/EFin_measurable_fun; rewrite (_ : \1_A = mindic R mA).
by move=> y; rewrite /= lee_fin indicE; case: (y \in A).
Qed.

Lemma real_exponential : is_exponential (@expR R).
Proof.
split=> [|x]; first exact: expRD.
case: (leP 0 x) => x0; first exact: expR_ge1Dx.
have [|c /andP [_ c0] e] := @MVT R (@expR R) (@expR R) x 0 x0 (fun y _ => is_derive_expR y).
  by apply/continuous_subspaceT => y; exact: continuous_expR.
have c1 : expR c <= 1 by rewrite -expR0 ler_expR ltW.
have : expR c * - x <= 1 * - x by apply: ler_wpmul2r => //; rewrite oppr_ge0 ltW.
move: e; rewrite expR0 sub0r; move: (expR x) (expR c * - x) => a b e h.
by linear.
Qed.

(* The functions that are integrable under all laws have means, and the bounds need no others. *)
Section Means.
Variable mu : dataset R m -> {measure set (measurableTypeR R) -> \bar R}.
Hypothesis laws : are_laws mu.
Variable r : R.
Hypothesis risk : real_risk_at_most mu r.

Definition integrable_everywhere (h : R -> R) : Prop :=
  forall x, in_range U x -> (mu x).-integrable setT (EFin \o (h : measurableTypeR R -> R)).
Definition real_mean (x : dataset R m) (h : R -> R) : R := fine (\int[mu x]_y (h y)%:E)%E.

Lemma distance_measurable a : measurable_fun setT (fun y : measurableTypeR R => `|a - y|%:E).
Proof.
apply/EFin_measurable_fun; apply: measurable_fun_comp; first exact: measurable_fun_normr.
by apply: measurable_funB; [exact: measurable_fun_cst | exact: measurable_fun_id].
Qed.

Lemma linear_integrable s h h' : integrable_everywhere h -> integrable_everywhere h' ->
  integrable_everywhere (fun y => s * h y + h' y).
Proof.
move=> Hh Hh' x xr; have := integrableD measurableT (integrablerM measurableT s (Hh x xr)) (Hh' x xr).
by apply: eq_integrable => // y _; rewrite /= EFinD EFinM.
Qed.

Lemma constant_integrable c : integrable_everywhere (fun=> c).
Proof.
move=> x xr; rewrite (_ : EFin \o _ = cst c%:E) //; split; first exact: measurable_fun_cst.
by rewrite /= integral_cst // laws // mule1 ltry.
Qed.

Lemma distance_integrable a : integrable_everywhere (fun y => `|a - y|).
Proof.
have centre x : in_range U x -> (mu x).-integrable setT (fun y : measurableTypeR R => `|mean x - y|%:E).
  move=> xr; split; first exact: distance_measurable.
  apply: le_lt_trans (le_trans _ (risk xr)) (ltry _).
  have -> : (fun y : measurableTypeR R => `|(`|mean x - y|%:E)|)%E = (fun y => `|mean x - (y : R)|%:E) by
    apply: funext => y; rewrite /= normr_id.
  exact: lexx.
move=> x xr; have Hd := integrableD measurableT (constant_integrable `|a - mean x| xr) (centre x xr).
refine (le_integrable measurableT (distance_measurable a) _ Hd) => y _.
by rewrite /= lee_fin normr_id [leRHS]ger0_norm ?addr_ge0 // (le_trans _ (ler_norm_add _ _)) // addrA subrK.
Qed.

Lemma is_class_integrable : is_class integrable_everywhere.
Proof.
split; last exact: distance_integrable.
split=> [h h' Hh e||s h h']; [|exact: constant_integrable | exact: linear_integrable].
by rewrite (_ : h' = h) //; apply: funext => y; rewrite e.
Qed.

Lemma real_meanE x h : in_range U x -> integrable_everywhere h ->
  (\int[mu x]_y (h y)%:E = (real_mean x h)%:E)%E.
Proof. by move=> xr Hh; rewrite /real_mean fineK //; exact: integral_fune_fin_num (Hh x xr). Qed.

Lemma is_mean_real x : in_range U x -> is_mean integrable_everywhere (real_mean x).
Proof.
move=> xr; have lin s h h' : integrable_everywhere h -> integrable_everywhere h' ->
    real_mean x (fun y => s * h y + h' y) = s * real_mean x h + real_mean x h'.
  move=> Hh Hh'; apply: EFin_inj; rewrite -real_meanE //; last exact: linear_integrable.
  transitivity (\int[mu x]_y (s%:E * (h y)%:E + (h' y)%:E))%E.
    by apply: eq_integral => y _; rewrite EFinD EFinM.
  rewrite integralD //; [|exact: (integrablerM measurableT s (Hh x xr))|exact: (Hh' x xr)].
  by rewrite (integralM measurableT (Hh x xr)) (@real_meanE x h) // (@real_meanE x h').
split=> [||h h' Hh Hh' hh']; [|exact: lin|].
  by apply: EFin_inj; rewrite -real_meanE ?integral_cst ?laws ?mule1 //; exact: constant_integrable.
have : 0 <= real_mean x (fun y => -1 * h y + h' y).
  by apply: fine_ge0; apply: integral_ge0 => y _; rewrite lee_fin mulN1r addrC subr_ge0.
by rewrite lin // mulN1r addrC subr_ge0.
Qed.

Lemma is_private_real eps : private_in_events eps mu ->
  is_private U integrable_everywhere (expR eps) real_mean.
Proof.
move=> /private_in_means priv x x' xr xr' xx h Hh h0.
have := priv x x' xr xr' xx (EFin \o h) (Hh x xr).1.
by rewrite /= !real_meanE // -EFinM lee_fin; apply => y; rewrite lee_fin.
Qed.

Lemma risk_real : risk_at_most U real_mean r.
Proof. by move=> x xr; rewrite -lee_fin -real_meanE ?risk //; exact: distance_integrable. Qed.
End Means.

(* begin for-reals *)
(* So a lower bound for mechanisms given by means is one for mechanisms given by measures. *)
Theorem bounds_hold_for_measures (eps b : R) :
  minimax_risk_at_least m U (expR eps) b -> real_minimax_risk_at_least eps b.
(* end for-reals *)
Proof.
move=> bound mu r laws priv risk.
apply: (bound (integrable_everywhere mu) (real_mean mu) r).
- exact: (@is_class_integrable mu laws r risk).
- exact: (@is_mean_real mu laws).
- exact: is_private_real.
- exact: (@risk_real mu laws r risk).
Qed.

End Measures.
