(* Two outputs, of which the second has a law that knows the first: the chances of measurable events. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop mathcomp_extra.
From mathcomp.analysis Require Import signed reals ereal topology normedtype derive realfun sequences exp.
From mathcomp.analysis Require Import esum measure lebesgue_measure numfun lebesgue_integral.
From UserDP Require Import definitions linear exponential densities line noise reals.measures reals.lebesgue reals.laplace.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Pairs.
Variable R : realType.

(* begin def-pair-chance *)
(* The chance that the pair (t, y) is in A, where t has the density d and y, given t, the density e t: the
   integral, over all t, of d t times the chance of those y that make (t, y) a member of A. *)
Definition pair_chance (d : R -> R) (e : R -> R -> R) (A : set (measurableTypeR R * measurableTypeR R)) :
  \bar R :=
  (\int[length_measure R]_t ((d t)%:E * chance (e t) [set y | A (t, y)]))%E.
(* The chances p are those of a probability measure. *)
Definition is_probability (disp : measure_display) (T : measurableType disp) (p : set T -> \bar R) : Prop :=
  exists2 law : {measure set T -> \bar R}, law setT = 1%E & forall A, measurable A -> p A = law A.
(* end def-pair-chance *)

Notation mu := (length_measure R).
Notation line := (measurableTypeR R).

(* What is integrable and from 0 on is the density of a measure. *)
Lemma density_measure (disp : measure_display) (T : measurableType disp) (nu : {measure set T -> \bar R})
    (f : T -> \bar R) : nu.-integrable setT f -> (forall p, 0 <= f p)%E ->
  exists law : {measure set T -> \bar R}, forall A, law A = (\int[nu]_(p in A) f p)%E.
Proof.
move=> Hf f0; pose law (A : set T) := (\int[nu]_(p in A) f p)%E.
have law0 : law set0 = 0%E by exact: integral_set0.
have law_ge0 A : (0 <= law A)%E by apply: integral_ge0 => p _; exact: f0.
have adds : semi_sigma_additive law.
  move=> F mF tF mU; rewrite /law ge0_integral_bigcup //; last exact: integrableS Hf.
  by apply: is_cvg_nneseries => n _; exact: law_ge0.
have add2 : semi_additive law by exact: semi_sigma_additive_is_additive.
pose additive := isAdditiveMeasure.Axioms_ _ _ law law_ge0 add2.
by exists (Measure.Pack (Measure.Class (isMeasure0.Axioms_ _ law additive adds))).
Qed.

Lemma length_sigma_finite : sigma_finite setT mu.
Proof.
exists (fun n : nat => `](- n%:R), n%:R]%classic : set (measurableTypeR R)).
  apply/esym; rewrite -subTset => y _; exists (Num.bound `|(y : R)|) => //=; rewrite in_itv /=.
  by have := archi_boundP (normr_ge0 (y : R)); rewrite ltr_norml => /andP [-> /ltW ->].
move=> n; split; first exact: measurable_itv.
by rewrite /mu /= lebesgue_measure_itv hlength_itv /=; case: ifP; rewrite ltry.
Qed.

(* What is computed from measurable functions is measurable. *)
Lemma measurable_min (disp : measure_display) (T : measurableType disp) (f g : T -> R) :
  measurable_fun setT f -> measurable_fun setT g -> measurable_fun setT (fun p => Num.min (f p) (g p)).
Proof.
move=> mf mg; have := measurable_funN (measurable_fun_max (measurable_funN mf) (measurable_funN mg)).
by congr measurable_fun; apply: funext => p; rewrite /= oppr_max !opprK.
Qed.

(* 1 / 0 is 0: so the inverse is continuous but for one point. *)
Lemma measurable_inverse (disp : measure_display) (T : measurableType disp) (f : T -> R) :
  measurable_fun setT f -> measurable_fun setT (fun p => (f p)^-1).
Proof.
apply: (@measurable_fun_comp _ _ _ _ _ _ (@GRing.inv R)).
have m0 : measurable [set 0 : R] by exact: measurable_set1.
rewrite -(setvU [set 0]); apply/(measurable_funU _ (measurableC m0) m0); split.
  apply: open_continuous_measurable_fun => [|x /set_mem x0].
    by rewrite (_ : ~` [set 0] = [set x | x != 0]); [exact: open_neq | apply/seteqP; split=> x /eqP].
  by apply: inv_continuous; apply/eqP.
apply: (measurable_fun_ext (fun=> 0 : R)) => [x /set_mem ->|]; first by rewrite /= invr0.
exact: measurable_fun_cst.
Qed.

Lemma measurable_size (disp : measure_display) (T : measurableType disp) (f : T -> R) :
  measurable_fun setT f -> measurable_fun setT (fun p => `|f p|).
Proof. by apply: (@measurable_fun_comp _ _ _ _ _ _ (fun z : R => `|z|)); exact: measurable_fun_normr. Qed.

Lemma measurable_laplace (disp : measure_display) (T : measurableType disp) (s c f : T -> R) :
  measurable_fun setT s -> measurable_fun setT c -> measurable_fun setT f ->
  measurable_fun setT (fun p => laplace (@expR R) (s p) (c p) (f p)).
Proof.
move=> ms mc mf; apply: measurable_funM; last by apply: measurable_inverse; exact: measurable_funrM.
apply: (@measurable_fun_comp _ _ _ _ _ _ (@expR R)).
  by apply: continuous_measurable_fun; exact: continuous_expR.
apply: measurable_funN; apply: measurable_funM; last exact: measurable_inverse.
by apply: measurable_size; exact: measurable_funB.
Qed.

Lemma measurable_first : measurable_fun setT (fun p : line * line => p.1 : R).
Proof. by have [] := (prod_measurable_funP (@id (line * line))).1 (@measurable_fun_id _ _ _). Qed.

Lemma measurable_second : measurable_fun setT (fun p : line * line => p.2 : R).
Proof. by have [] := (prod_measurable_funP (@id (line * line))).1 (@measurable_fun_id _ _ _). Qed.

Lemma measurable_part (A : set (line * line)) t : measurable A -> measurable [set y | A (t, y)].
Proof.
move=> mA; have := measurable_xsection R t mA; congr measurable.
by apply/seteqP; split=> y; rewrite /xsection /= inE.
Qed.

Lemma measurable_second_in (B : set line) : measurable B -> measurable [set p : line * line | B p.2].
Proof.
move=> mB; have := measurableM (@measurableT _ line) mB; congr measurable.
by apply/seteqP; split=> p // [].
Qed.

(* Where d is not 0, e is a density.  Means under it of a bounded function of the pair are measurable in
   t, by Tonelli's theorem, and bounded, so that they have a mean. *)
Lemma pair_mean_is (d : R -> R) (e : R -> R -> R) (h : line * line -> R) (K : R) :
  summable d -> (forall t, 0 <= d t) -> measurable_fun setT (fun p : line * line => e p.1 p.2) ->
  (forall t, d t != 0 -> [/\ forall y, 0 <= e t y, summable (e t) & lebesgue (e t) = 1]) ->
  measurable_fun setT h -> (forall p, 0 <= h p <= K) ->
  let part t := lebesgue (fun y => h (t, y) * e t y) in
  (forall t, d t != 0 -> summable (fun y => h (t, y) * e t y)) /\ summable (fun t => part t * d t).
Proof.
move=> Hd d0 me law mh hK part; pose f (p : line * line) := `|h p * e p.1 p.2|.
have h0 p : 0 <= h p by case/andP: (hK p).
have K0 : 0 <= K by case/andP: (hK (0, 0)) => h1; exact: le_trans h1.
have me' : measurable_fun setT (fun p : line * line => h p * e p.1 p.2) by exact: measurable_funM.
have mf : measurable_fun setT (EFin \o f) by apply/EFin_measurable_fun; exact: measurable_size.
pose G (t : line) := (\int[mu]_y (f (t, y))%:E)%E.
have mG : measurable_fun setT G.
  apply: (measurable_fun_fubini_tonelli_F length_sigma_finite (EFin \o f) mf) => p.
  by rewrite lee_fin normr_ge0.
have Hp t : d t != 0 -> summable (fun y => h (t, y) * e t y).
  move=> /law [e0 He _]; have [HK _] := integral_scale (lebesgue_is_integral R) K He.
  apply: (le_integrable measurableT _ _ HK) => [|y _].
    by apply/EFin_measurable_fun; exact: (measurable_fun_prod1 t me').
  have /andP [_ hy] := hK (t, y); rewrite /= lee_fin !ger0_norm ?mulr_ge0 //; exact: ler_wpmul2r.
have partE t : d t != 0 -> fine (G t) = part t.
  move=> dt; have [e0 _ _] := law t dt; rewrite -[RHS]/(fine (part t)%:E) -summableE; last exact: Hp.
  by congr fine; apply: eq_integral => y _; rewrite /f ger0_norm // mulr_ge0.
have part_le t : d t != 0 -> 0 <= part t <= K.
  move=> dt; have [e0 He e1] := law t dt; have [_ _ mono] := lebesgue_is_integral R; apply/andP; split.
    by apply: fine_ge0; apply: integral_ge0 => y _; rewrite lee_fin mulr_ge0.
  have [HK JK] := integral_scale (lebesgue_is_integral R) K He; rewrite -[leRHS]mulr1 -e1 -JK.
  by apply: mono => [||y]; [exact: Hp | by [] | apply: ler_wpmul2r => //; case/andP: (hK (t, y))].
split=> //; have [HK _] := integral_scale (lebesgue_is_integral R) K Hd.
apply: (le_integrable measurableT _ _ HK) => [|t _].
  have md : measurable_fun setT (d : line -> R) by apply/EFin_measurable_fun; case: Hd.
  have := measurable_funM (measurable_fun_comp (measurable_fun_fine measurableT) mG) md.
  move/EFin_measurable_fun; congr measurable_fun; apply: funext => t /=.
  by case: (eqVneq (d t) 0) => [->|/partE -> //]; rewrite !mulr0.
rewrite /= lee_fin !normrM; case: (eqVneq (d t) 0) => [->|dt]; first by rewrite normr0 !mulr0.
by have /andP [p0 p1] := part_le t dt; rewrite !(ger0_norm p0, ger0_norm K0) ler_wpmul2r.
Qed.

(* Of the function that is 1 on A and 0 elsewhere this is the chance of A. *)
Lemma pair_chance_is (d : R -> R) (e : R -> R -> R) (A : set (line * line)) : measurable A ->
  summable d -> (forall t, 0 <= d t) -> measurable_fun setT (fun p : line * line => e p.1 p.2) ->
  (forall t, d t != 0 -> [/\ forall y, 0 <= e t y, summable (e t) & lebesgue (e t) = 1]) ->
  let part t := lebesgue (fun y => \1_A (t, y) * e t y) in
  summable (fun t => part t * d t) /\ pair_chance d e A = (lebesgue (fun t => part t * d t))%:E.
Proof.
move=> mA Hd d0 me law part.
have mI : measurable_fun setT (\1_A : line * line -> R) by exact: measurable_fun_indic.
have [p|_ Hs] := pair_mean_is (K := 1) Hd d0 me law mI.
  by rewrite indicE; case: (p \in A); rewrite ?lexx ?ler01.
split=> //; rewrite -summableE //; apply: eq_integral => t _.
case: (eqVneq (d t) 0) => [->|/law [_ He _]]; first by rewrite mul0e mulr0.
by have [_ ->] := chance_is (measurable_part t mA) He; rewrite -EFinM mulrC.
Qed.

(* The chances of pairs are a measure: with the density d t * e t y. *)
Lemma pair_chance_law (d : R -> R) (e : R -> R -> R) :
  summable d -> (forall t, 0 <= d t) -> measurable_fun setT (fun p : line * line => e p.1 p.2) ->
  (forall t, d t != 0 -> [/\ forall y, 0 <= e t y, summable (e t) & lebesgue (e t) = 1]) ->
  exists law : {measure set (line * line)%type -> \bar R},
    forall A, measurable A -> pair_chance d e A = law A.
Proof.
move=> Hd d0 me law; pose f (p : line * line) := d p.1 * `|e p.1 p.2|.
pose nu := [the measure _ _ of product_measure1 mu length_sigma_finite].
have f0 p : 0 <= f p by rewrite mulr_ge0.
have md : measurable_fun setT (d : line -> R) by apply/EFin_measurable_fun; case: Hd.
have mf : measurable_fun setT f.
  apply: measurable_funM; last exact: measurable_size.
  exact: (measurable_fun_comp md measurable_first).
have fE A : measurable A -> (\int[nu]_(p in A) (f p)%:E = pair_chance d e A)%E.
  move=> mA; rewrite integral_mkcond (eq_integral (fun p => (\1_A p * f p)%:E)); last first.
    by move=> p _; rewrite /patch indicE; case: (p \in A); rewrite ?mul1r ?mul0r.
  rewrite fubini_tonelli1; last first.
  - by move=> p; rewrite lee_fin mulr_ge0 // indicE ler0n.
  - by apply/EFin_measurable_fun; apply: measurable_funM => //; exact: measurable_fun_indic.
  apply: eq_integral => t _; rewrite /fubini_F.
  case: (eqVneq (d t) 0) => [dt|dt].
    rewrite dt mul0e (eq_integral (cst 0%E)) ?integral0 // => y _.
    by rewrite /f dt mul0r mulr0.
  have [e0 He _] := law t dt; have [Hp Jp] := chance_is (measurable_part t mA) He.
  have [Hs Js] := integral_scale (lebesgue_is_integral R) (d t) Hp.
  rewrite Jp -EFinM -Js -summableE //; apply: eq_integral => y _.
  by rewrite /f /= ger0_norm //; congr (_%:E); rewrite mulrCA.
have [|p|pairs pairsE] := @density_measure _ _ nu (EFin \o f).
- split; first exact/EFin_measurable_fun.
  rewrite (eq_integral (EFin \o f)) => [|p _]; last by rewrite /= ger0_norm.
  rewrite (fE setT measurableT); have [_ ->] := pair_chance_is measurableT Hd d0 me law; exact: ltry.
- by rewrite lee_fin.
by exists pairs => A mA; rewrite pairsE fE.
Qed.

End Pairs.
