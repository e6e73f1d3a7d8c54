(* For the reals: staircase noise, AKMV and the release with protected counts are private in every
   measurable event. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop mathcomp_extra.
From mathcomp.analysis Require Import signed reals ereal topology normedtype derive realfun sequences exp.
From mathcomp.analysis Require Import esum measure lebesgue_measure numfun lebesgue_integral.
From UserDP Require Import definitions linear frontier chain exponential composition densities line noise thresholds staircase_law release protected reals.measures reals.lebesgue reals.laplace reals.pairs.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

(* begin thm-staircase-events *)
(* With Lebesgue's integral, on neighbours each measurable event has nearly the same chance. *)
Theorem staircase_for_reals (R : realType) (h : R) (j : R -> nat) L (m : 'I_L -> nat) (U D : R)
    (g : estimator R m) : 1 < h -> counts_edges (gamma h) j -> 0 < D -> sensitivity_at_most U g D ->
  forall x x', in_range U x -> in_range U x' -> neighbours x x' -> forall A, measurable A ->
  (chance (staircase h j D (g x)) A <= (h ^+ 2)%:E * chance (staircase h j D (g x')) A)%E.
(* end thm-staircase-events *)
Proof.
move=> h1 edges D0 sens x x' xr xr' xx A mA; have HJ := lebesgue_is_line_integral R.
have mass c : summable (staircase h j D c) by have [_ []] := staircase_moments c HJ h1 edges D0.
have [Hc Jc] := chance_is mA (mass (g x)); have [Hc' Jc'] := chance_is mA (mass (g x')).
rewrite Jc Jc' -EFinM lee_fin; have [/(_ D0) [_ priv] _] := staircase_private HJ h1 edges sens.
apply: (priv x x' xr xr' xx (\1_A : R -> R)) => [z zr|y]; last by rewrite indicE ler0n.
by have [] := chance_is mA (mass (g z)).
Qed.

Section Amin.
Variables (R : realType) (L : nat) (m : 'I_L -> nat) (U eps' eps'' : R) (k : nat).

(* begin prop-akmv-private-events *)
(* The chance that the pair of threshold and published mean is in A: the threshold has its density in
   (0, V], and the mean, given the threshold t, Laplace's around the mean of the sums, each capped at t. *)
Definition akmv_chance (x : dataset R m) : set (measurableTypeR R * measurableTypeR R) -> \bar R :=
  pair_chance (extended (threshold_density (U := U) (@expR R) eps' k x))
    (fun t => laplace (@expR R) (t / (eps'' * N R m)) (capped_mean t x)).
(* 1 for pairs in A, 0 for others. *)
Definition akmv_in (A : set (measurableTypeR R * measurableTypeR R)) (p : threshold m U * R) : R :=
  \1_A (sval p.1, p.2).
(* end prop-akmv-private-events *)

Hypothesis U0 : 0 < U.
Hypothesis Npos : (0 < \sum_l m l)%N.
Hypothesis e0 : 0 <= eps'.
Hypothesis e1 : 0 < eps''.

Let HJ := lebesgue_is_line_integral R.
Let ex := real_exponential R.
Notation line := (measurableTypeR R).
Notation d x := (extended (threshold_density (U := U) (@expR R) eps' k x)).
Notation e x := (fun t => laplace (@expR R) (t / (eps'' * N R m)) (capped_mean t x)).

Lemma capped_measurable (x : dataset R m) : measurable_fun setT (fun p : line * line => capped_mean p.1 x).
Proof.
apply: measurable_funM; last exact: measurable_fun_cst.
elim: (index_enum _) => [|l s IH].
  rewrite (_ : (fun p => _) = cst 0); first exact: measurable_fun_cst.
  by apply: funext => p; rewrite big_nil.
pose rest (p : line * line) := \sum_(i <- s) Num.min (sums x i) p.1.
rewrite (_ : (fun p => _) = (fun p => Num.min (sums x l) p.1) \+ rest).
  by apply: measurable_funD => //; apply: measurable_min; [exact: measurable_fun_cst | exact: measurable_first].
by apply: funext => p; rewrite big_cons.
Qed.

Lemma akmv_mass (x : dataset R m) t : 0 < t ->
  [/\ forall y, 0 <= e x t y, summable (e x t) & lebesgue (e x t) = 1].
Proof.
move=> t0; have b0 : 0 < t / (eps'' * N R m) by rewrite divr_gt0 // mulr_gt0 // ltr0n.
have [H1 J1] := laplace_mass ex HJ (capped_mean t x) b0; split=> // y.
by rewrite /laplace divr_ge0 ?(ltW (expR_gt0 _)) // mulr_ge0 ?ler0n ?(ltW b0).
Qed.

(* What pairs.v asks of densities, for the threshold of one dataset and the mean of another. *)
Lemma akmv_densities (x x' : dataset R m) : in_range U x' ->
  [/\ summable (d x'), forall t, 0 <= d x' t, measurable_fun setT (fun p : line * line => e x p.1 p.2)
    & forall t, d x' t != 0 -> [/\ forall y, 0 <= e x t y, summable (e x t) & lebesgue (e x t) = 1]].
Proof.
move=> xr; have [d0 Hd _] := threshold_law ex U0 Npos HJ k e0 xr; split=> // [t||t].
- by rewrite /extended; case: insubP.
- apply: measurable_laplace; [|exact: capped_measurable | exact: measurable_second].
  by apply: measurable_funM; [exact: measurable_first | exact: measurable_fun_cst].
rewrite /extended; case: insubP => [s /andP [t0 _] _ _|_]; [exact: akmv_mass | by rewrite eqxx].
Qed.

Lemma akmv_law (x : dataset R m) : in_range U x ->
  exists law : {measure set (line * line)%type -> \bar R},
    forall A, measurable A -> akmv_chance x A = law A.
Proof. by move=> xr; have [Hd d0 me law] := akmv_densities x xr; exact: pair_chance_law. Qed.

Lemma akmv_chance_is (x x' : dataset R m) A : in_range U x' -> measurable A ->
  let part t := lebesgue (fun y => \1_A (t, y) * e x t y) in
  summable (fun t => part t * d x' t) /\ pair_chance (d x') (e x) A = (lebesgue (fun t => part t * d x' t))%:E.
Proof. by move=> xr mA; have [Hd d0 me law] := akmv_densities x xr; exact: pair_chance_is. Qed.

Lemma akmv_chance_mean (x : dataset R m) (A : set (line * line)) :
  in_range U x -> measurable A ->
  akmv_space m U (@expR R) (@summable R) (@lebesgue R) eps' eps'' k (akmv_in A)
  /\ akmv_chance x A = (akmv m U (@expR R) (@lebesgue R) eps' eps'' k x (akmv_in A))%:E.
Proof.
move=> xr mA.
have same z z' y : lebesgue (fun y' => \1_A (y, y') * e z y y') * d z' y
    = extended (fun t => lebesgue (fun y' => akmv_in A (t, y') * noisy_density (@expR R) eps'' t z y')
        * threshold_density (U := U) (@expR R) eps' k z' t) y.
  by rewrite /extended /akmv_in; case: insubP => [t _ <-|_]; rewrite ?mulr0.
split; last first.
  rewrite /akmv_chance; have [_ ->] := akmv_chance_is x xr mA; congr (lebesgue _)%:E.
  by apply: funext => y; exact: same.
split=> [t z zr|z zr z' zr'].
  have /andP [t0 _] := svalP t; have [_ He _] := akmv_mass z t0.
  by have [] := chance_is (measurable_part (sval t) mA) He.
have [Hs _] := akmv_chance_is z zr' mA; move: Hs; congr summable; apply: funext => y; exact: same.
Qed.
End Amin.

(* begin prop-akmv-private-events *)
(* With Lebesgue's integral and exp itself: the chances are those of a probability measure; that of an event
   is the mean of its indicator; and on neighbours each measurable event has nearly the same chance: of the
   pair of threshold and mean, and so of the mean alone. *)
Theorem akmv_for_reals (R : realType) L (m : 'I_L -> nat) (U eps' eps'' : R) (k : nat) :
  0 < U -> (0 < \sum_l m l)%N -> 0 <= eps' -> 0 < eps'' ->
  let chances := akmv_chance U eps' eps'' k in
  let private eps := forall x x' : dataset R m, in_range U x -> in_range U x' -> neighbours x x' ->
    (forall A : set (measurableTypeR R * measurableTypeR R), measurable A ->
       (chances x A <= (expR eps)%:E * chances x' A)%E)
    /\ forall B : set (measurableTypeR R), measurable B -> let A := [set p | B p.2] in
         (chances x A <= (expR eps)%:E * chances x' A)%E in
  [/\ forall x, in_range U x -> is_probability (chances x),
      forall x, in_range U x -> forall A : set (measurableTypeR R * measurableTypeR R), measurable A ->
        akmv_space m U (@expR R) (@summable R) (@lebesgue R) eps' eps'' k (akmv_in A)
        /\ chances x A = (akmv m U (@expR R) (@lebesgue R) eps' eps'' k x (akmv_in A))%:E,
      private (eps' + eps'')
    & (L <= k)%N -> private (eps' / 2 + eps'')].
(* end prop-akmv-private-events *)
Proof.
move=> U0 Npos e0 e1 chances private; have ex := real_exponential R; have HJ := lebesgue_is_line_integral R.
have is_mean_of x A xr mA := @akmv_chance_mean R L m U eps' eps'' k U0 Npos e0 e1 x A xr mA.
have [[_ mech] whole half] := prop_akmv_private k ex HJ U0 Npos e0 e1.
have events eps : is_private U (akmv_space m U (@expR R) (@summable R) (@lebesgue R) eps' eps'' k) (expR eps)
    (akmv m U (@expR R) (@lebesgue R) eps' eps'' k) -> private eps.
  move=> priv x x' xr xr' xx; suff le_A A : measurable A -> (chances x A <= (expR eps)%:E * chances x' A)%E.
    by split=> // B mB; apply: le_A; exact: measurable_second_in.
  move=> mA; have [HA Jx] := is_mean_of x A xr mA; have [_ Jx'] := is_mean_of x' A xr' mA.
  rewrite /chances Jx Jx' -EFinM lee_fin; apply: (priv x x' xr xr' xx) => // p; by rewrite /akmv_in indicE ler0n.
split; [|by move=> x xr A; exact: is_mean_of | exact: events | by move=> /half; exact: events].
move=> x xr; have [law lawE] := akmv_law k U0 Npos e0 e1 xr; exists law => //; rewrite -lawE //.
have [_ J1] := is_mean_of x setT xr measurableT; have [one _ _] := mech x xr.
rewrite -/(akmv_chance _ _ _ _ _ _) J1 -[1%E]/(1%:E) -one; congr (akmv _ _ _ _ _ _ _ _ _)%:E.
by apply: funext => p; rewrite /akmv_in indicE in_setT.
Qed.

Section Protected.
Variables (R : realType) (L : nat) (U c r eps : R) (cap : nat).

(* begin prp-protected-counts-events *)
(* The chance that the noisy sum y, the noisy weight n and what is computed from the two make a triple in A:
   y has its density, and n its own, whatever y is. *)
Definition protected_chance (x : lists R L)
    (A : set (measurableTypeR R * measurableTypeR R * measurableTypeR R)) : \bar R :=
  pair_chance (noisy_sum c r eps cap (@expR R) x) (fun=> noisy_weight eps cap (@expR R) x)
    [set p | A (p.1, p.2, quotient U c p.1 p.2)].
(* end prp-protected-counts-events *)

Hypothesis r0 : 0 < r.
Hypothesis cap0 : (0 < cap)%N.
Hypothesis eps0 : 0 < eps.

Let HJ := lebesgue_is_line_integral R.
Let ex := real_exponential R.
Notation line := (measurableTypeR R).
Notation d := (noisy_sum c r eps cap (@expR R)).
Notation e := (noisy_weight eps cap (@expR R)).

Lemma quotient_computed : measurable_fun setT (fun p : line * line => quotient U c p.1 p.2).
Proof.
apply: measurable_min; last exact: measurable_fun_cst.
apply: measurable_fun_max; last exact: measurable_fun_cst.
apply: measurable_funD; first exact: measurable_fun_cst.
apply: measurable_funM; first exact: measurable_first.
apply: measurable_inverse; apply: measurable_fun_max; last exact: measurable_fun_cst.
exact: measurable_second.
Qed.

Lemma quotient_measurable : measurable_fun setT (fun p : line * line => (p, quotient U c p.1 p.2 : line)).
Proof. by apply/prod_measurable_funP; split; [exact: measurable_fun_id | exact: quotient_computed]. Qed.

Lemma quotient_in (A : set (line * line * line)) : measurable A ->
  measurable [set p : line * line | A (p.1, p.2, quotient U c p.1 p.2)].
Proof.
move=> mA; have := quotient_measurable measurableT mA; rewrite setTI.
congr measurable; apply: funext => -[y n]; exact: erefl.
Qed.

Lemma protected_densities (x x' : lists R L) :
  [/\ summable (d x'), forall y, 0 <= d x' y, measurable_fun setT (fun p : line * line => e x p.2)
    & [/\ forall n, 0 <= e x n, summable (e x) & lebesgue (e x) = 1]].
Proof.
have K0 : 0 < cap%:R :> R by rewrite ltr0n.
have sy0 : 0 < 2 * r * cap%:R / eps by rewrite divr_gt0 // !mulr_gt0 ?ltr0n.
have sn0 : 0 < 2 * cap%:R / eps by rewrite divr_gt0 // mulr_gt0 ?ltr0n.
have [Hd _] := laplace_mass ex HJ (sum_of c r cap x') sy0.
have [He Je] := laplace_mass ex HJ (weight_of cap x) sn0.
split=> // [y||]; first exact: laplace_ge0.
  by apply: measurable_laplace; [exact: measurable_fun_cst | exact: measurable_fun_cst | exact: measurable_second].
by split=> // n; exact: laplace_ge0.
Qed.

(* Quotients are bounded, and so is how far they are from a number. *)
Lemma protected_distance (g : R) :
  protected_space L U c r eps cap (@expR R) (@summable R) (@lebesgue R) (fun t => `|t.2 - g|).
Proof.
have mh : measurable_fun setT (fun p : line * line => `|quotient U c p.1 p.2 - g|).
  by apply: measurable_size; apply: measurable_funB; [exact: quotient_computed | exact: measurable_fun_cst].
have hK (p : line * line) : 0 <= `|quotient U c p.1 p.2 - g| <= `|U| + `|g|.
  rewrite normr_ge0; apply: le_trans (ler_norm_sub _ _) _; rewrite ler_add2r /quotient.
  move: (c + _) => z; rewrite ler_norml /clip; case: (leP 0 U) => U0.
    by rewrite (ger0_norm U0); minmax; linear.
  by rewrite (ltr0_norm U0); minmax; linear.
have means (z : lists R L) : (forall y, d z y != 0 -> summable (fun n => `|quotient U c y n - g| * e z n))
    /\ summable (fun y => lebesgue (fun n => `|quotient U c y n - g| * e z n) * d z y).
  by have [Hd d0 me law] := protected_densities z z; exact: (pair_mean_is Hd d0 me (fun _ _ => law) mh hK).
split=> [z y|z]; have [Hn Hy] := means z; last exact: Hy.
by apply: Hn; rewrite gt_eqF // divr_gt0 ?expR_gt0 // mulr_gt0 // ?divr_gt0 ?mulr_gt0 ?ltr0n.
Qed.

Lemma protected_law (x : lists R L) :
  exists law : {measure set (line * line * line)%type -> \bar R},
    forall A, measurable A -> protected_chance x A = law A.
Proof.
have [Hd d0 me law] := protected_densities x x.
have [pairs pairsE] := pair_chance_law (e := fun=> e x) Hd d0 me (fun _ _ => law).
exists [the measure _ _ of pushforward pairs quotient_measurable] => A mA.
rewrite /protected_chance pairsE; last exact: quotient_in.
by congr (pairs _); apply: funext => -[y n]; exact: erefl.
Qed.

Lemma protected_chance_mean (x : lists R L) (A : set (line * line * line)) :
  measurable A ->
  protected_space L U c r eps cap (@expR R) (@summable R) (@lebesgue R) (\1_A : R * R * R -> R)
  /\ protected_chance x A = (protected U c r eps cap (@expR R) (@lebesgue R) x (\1_A : R * R * R -> R))%:E.
Proof.
move=> mA; have mB := quotient_in mA.
have is_mean_of (z : lists R L) := pair_chance_is (d := d z) (e := fun=> e z) mB.
split; last first.
  by have [Hd d0 me law] := protected_densities x x; case: (is_mean_of x Hd d0 me (fun _ _ => law)).
split=> [z y|z]; have [Hd d0 me law] := protected_densities z z.
  by have [_ He _] := law; case: (chance_is (measurable_part y mB) He).
by case: (is_mean_of z Hd d0 me (fun _ _ => law)).
Qed.
End Protected.

(* begin prp-protected-counts-events *)
(* (1) With Lebesgue's integral and exp itself: the chances are those of a probability measure; that of an
   event is the mean of its indicator; where two datasets differ in the samples of one user, each measurable
   event has nearly the same chance: of noisy sum, noisy weight and quotient together.  (2) The quotient's
   distance from any number has a mean. *)
Theorem protected_for_reals (R : realType) L (U c r eps : R) (cap : nat) : 0 < r -> (0 < cap)%N -> 0 < eps ->
  let chances := @protected_chance R L U c r eps cap in
  [/\ forall x, is_probability (chances x),
      forall x (A : set (measurableTypeR R * measurableTypeR R * measurableTypeR R)), measurable A ->
        protected_space L U c r eps cap (@expR R) (@summable R) (@lebesgue R) (\1_A : R * R * R -> R)
        /\ chances x A = (protected U c r eps cap (@expR R) (@lebesgue R) x (\1_A : R * R * R -> R))%:E,
      forall (l : 'I_L) x x', differ_at l x x' ->
        forall A : set (measurableTypeR R * measurableTypeR R * measurableTypeR R), measurable A ->
        let spent := eps * (maxn (counted cap x l) (counted cap x' l))%:R / cap%:R in
        [/\ (chances x A <= (expR spent)%:E * chances x' A)%E, spent <= eps
          & (chances x A <= (expR eps)%:E * chances x' A)%E]
    & forall g, protected_space L U c r eps cap (@expR R) (@summable R) (@lebesgue R) (fun t => `|t.2 - g|)].
(* end prp-protected-counts-events *)
Proof.
move=> r0 cap0 e0 chances; have ex := real_exponential R; have HJ := lebesgue_is_line_integral R.
have is_mean_of x A mA := @protected_chance_mean R L U c r eps cap r0 cap0 e0 x A mA.
have [_ mean priv] := protected_private L U c ex HJ r0 cap0 e0.
split=> [x|x A|l x x' xx A mA spent|g]; last exact: protected_distance; last 1 first.
- have [HA Jx] := is_mean_of x A mA; have [_ Jx'] := is_mean_of x' A mA.
  have [|p1 [p2 p3]] := priv l x x' _ xx HA; first by move=> t; rewrite indicE ler0n.
  by rewrite /chances Jx Jx' -!EFinM !lee_fin.
- have [law lawE] := protected_law U c r0 cap0 e0 x; exists law => //; rewrite -lawE //.
  have [_ J1] := is_mean_of x setT measurableT; have [one _ _] := mean x.
  rewrite J1 -[1%E]/(1%:E) -one; congr (protected _ _ _ _ _ _ _ _ _)%:E.
  by apply: funext => p; rewrite indicE in_setT.
exact: is_mean_of.
Qed.
