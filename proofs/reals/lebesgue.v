(* Lebesgue's integral is a line integral, so that what is proved of line integrals holds for it. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop mathcomp_extra.
From mathcomp.analysis Require Import signed reals ereal topology normedtype derive realfun sequences exp.
From mathcomp.analysis Require Import esum measure lebesgue_measure numfun lebesgue_integral.
From UserDP Require Import definitions linear exponential densities line.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Lebesgue.
Variable R : realType.

(* begin def-lebesgue *)
(* Lebesgue's measure and integral. *)
Definition length_measure : {measure set (measurableTypeR R) -> \bar R} :=
  [the measure _ _ of @lebesgue_measure R].
Definition summable (h : R -> R) : Prop := length_measure.-integrable setT (EFin \o (h : measurableTypeR R -> R)).
Definition lebesgue (h : R -> R) : R := fine (\int[length_measure]_y (h y)%:E)%E.
(* end def-lebesgue *)
Notation mu := length_measure.

Lemma summableE h : summable h -> (\int[mu]_y (h y)%:E = (lebesgue h)%:E)%E.
Proof. by move=> Hh; rewrite /lebesgue fineK //; exact: integral_fune_fin_num Hh. Qed.

Lemma summable_linear s h h' : summable h -> summable h' ->
  summable (fun y => s * h y + h' y) /\ lebesgue (fun y => s * h y + h' y) = s * lebesgue h + lebesgue h'.
Proof.
move=> Hh Hh'; have Hs : summable (fun y => s * h y + h' y).
  have := integrableD measurableT (integrablerM measurableT s Hh) Hh'.
  by apply: eq_integrable => // y _; rewrite /= EFinD EFinM.
split=> //; apply: EFin_inj; rewrite -summableE //.
transitivity (\int[mu]_y (s%:E * (h y)%:E + (h' y)%:E))%E.
  by apply: eq_integral => y _; rewrite EFinD EFinM.
rewrite integralD //; last exact: (integrablerM measurableT s Hh).
by rewrite (integralM measurableT Hh) (summableE Hh) (summableE Hh').
Qed.

Lemma lebesgue_is_integral : is_integral summable lebesgue.
Proof.
split.
- by move=> h h' Hh e; rewrite (_ : h' = h) //; apply: funext => y; rewrite e.
- by move=> s h h' Hh Hh'; exact: summable_linear.
move=> h h' Hh Hh' hh; have [Hd Jd] := summable_linear (-1) Hh Hh'.
have : 0 <= lebesgue (fun y => -1 * h y + h' y).
  by apply: fine_ge0; apply: integral_ge0 => y _; rewrite lee_fin mulN1r addrC subr_ge0.
by rewrite Jd mulN1r addrC subr_ge0.
Qed.

(* Measurable sets of finite length. *)
Lemma summable_indic (A : set (measurableTypeR R)) l : measurable A -> mu A = l%:E ->
  summable (\1_A : R -> R) /\ lebesgue (\1_A : R -> R) = l.
Proof.
move=> mA lA; have Hm : measurable_fun setT (EFin \o (\1_A : measurableTypeR R -> R)).
  by apply/EFin_measurable_fun; rewrite (_ : \1_A = mindic R mA).
have I1 : (\int[mu]_y ((\1_A y)%:E : \bar R) = l%:E)%E by rewrite integral_indic // setIT.
split; last by rewrite /lebesgue I1.
split=> //; rewrite (eq_integral (fun y => ((\1_A y : R)%:E))) ?I1 ?ltry //.
by move=> y _; rewrite /= ger0_norm.
Qed.

Lemma summable_parts (A : set (measurableTypeR R)) h : measurable A -> summable h ->
  summable (fun y => if y \in A then h y else 0).
Proof.
move=> mA Hh; have := integrableS measurableT mA (@subsetT _ A) Hh.
move/(integrable_mkcond _ mA); apply: eq_integrable => // y _.
by rewrite /patch /=; case: ifP.
Qed.

Lemma summable_growing a b h : (forall x y, a <= x -> x <= y -> y <= b -> h x <= h y) ->
  summable (between a b h).
Proof.
move=> grows; pose A : set (measurableTypeR R) := `]a, b]%classic; have mA : measurable A by exact: measurable_itv.
have inA y : (y \in A) = (a < y <= b).
  by apply/idP/idP; [move/set_mem; rewrite /A /= in_itv | move=> h1; apply/mem_set; rewrite /A /= in_itv].
have mh : measurable_fun A (h : measurableTypeR R -> R).
  move=> mA'; apply: (measurability (RGenOInfty.measurableE R)) => //.
  move=> /= _ [_ [x ->] <-]; apply: is_interval_measurable => u w [Au hu] [Aw hw] z /andP [uz zw].
  move: Au hu Aw hw; rewrite /A /= !in_itv /= !andbT => /andP [au ub] xu /andP [aw wb] xw.
  split; first by rewrite (lt_le_trans au uz) (le_trans zw wb).
  apply: lt_le_trans xu _; apply: grows => //; first exact: ltW.
  exact: le_trans zw wb.
have [l lA] : exists l, mu A = l%:E.
  exists (fine (mu A)); rewrite fineK // /mu /= lebesgue_measure_itv hlength_itv /=.
  by case: ifP.
have [H1 _] := summable_indic mA lA; have [H2 _] := summable_linear (`|h a| + `|h b| - 1) H1 H1.
have mb : measurable_fun setT (EFin \o (between a b h : measurableTypeR R -> R)).
  have := (measurable_restrict _ mA measurableT (@subsetT _ A)).1 ((EFin_measurable_fun A h).2 mh).
  by congr measurable_fun; apply: funext => y; rewrite /patch /= inA /between; case: ifP.
apply: (le_integrable measurableT mb _ H2) => y _; rewrite /= lee_fin /between -inA indicE.
case: (boolP (y \in A)) => yA; last by rewrite normr0.
have {yA}/andP [ay yb] : a < y <= b by rewrite -inA.
have lo := grows a y (lexx a) (ltW ay) yb; have hi := grows y b (ltW ay) yb (lexx b).
rewrite mulr1 subrK [leRHS]ger0_norm ?addr_ge0 // ler_norml.
have := ler_norm (h b); have := ler_norm (- h a); rewrite normrN.
have := normr_ge0 (h a); have := normr_ge0 (h b); move: (`|h a|) (`|h b|) lo hi => u w lo hi p q r s.
by apply/andP; split; linear.
Qed.

(* An interval, whatever a function is at its ends. *)
Lemma summable_length a b (f : R -> R) : a <= b -> (forall y, a < y < b -> f y = 1) ->
  (forall y, (y < a) || (b < y) -> f y = 0) -> summable f /\ lebesgue f = b - a.
Proof.
move=> ab one zero; have [_ lin _] := lebesgue_is_integral.
have m1 c : measurable ([set c] : set (measurableTypeR R)) by exact: measurable_set1.
have [Ha Ia] := summable_indic (m1 a) (lebesgue_measure_set1 a).
have [Hb Ib] := summable_indic (m1 b) (lebesgue_measure_set1 b).
have lA : mu (`]a, b[%classic : set (measurableTypeR R)) = (b - a)%:E.
  rewrite /mu /= lebesgue_measure_itv hlength_itv /= lte_fin; case: ltgtP ab => // -> _.
  by rewrite subrr.
have [Hi Ii] := summable_indic (measurable_itv `]a, b[) lA.
have [H1 I1] := lin (f a) _ _ Ha Hi; pose e := if a == b then 0 else f b.
have [H2 I2] := lin e _ _ Hb H1.
rewrite (_ : f = fun y => e * \1_[set b] y + (f a * \1_[set a] y + \1_`]a, b[%classic y)).
  by split=> //; rewrite I2 I1 Ia Ib Ii !mulr0 !add0r.
have in1 (c z : R) : (z \in [set c]) = (z == c).
  by apply/idP/eqP => [/set_mem //|->]; exact/mem_set.
apply: funext => y; rewrite !indicE !in1 /e.
have -> : (y \in (`]a, b[%classic : set R)) = (a < y < b).
  by apply/idP/idP; [move/set_mem; rewrite /= in_itv | move=> h1; apply/mem_set; rewrite /= in_itv].
have [ya|ya|->] := ltgtP y a.
- by rewrite zero ?ya // (lt_eqF (lt_le_trans ya ab)) /= !mulr0 !addr0.
- have [yb|yb|yb] := ltgtP y b; rewrite ?mulr0 ?mulr1 ?add0r ?addr0 /=.
  + by rewrite one ?ya.
  + by rewrite zero // yb orbT.
  by rewrite -yb (lt_eqF ya) ?mulr1 ?addr0.
by case: eqP => [->|_] /=; rewrite ?mul0r ?mulr0 ?mulr1 ?add0r ?addr0.
Qed.

(* If the integrals between -n and n are at most c, so is that over the line: the functions grow to h. *)
Lemma summable_union h c : (forall y, 0 <= h y) ->
  (forall n : nat, summable (between (- n%:R) n%:R h) /\ lebesgue (between (- n%:R) n%:R h) <= c) ->
  summable h /\ lebesgue h <= c.
Proof.
move=> h0 bounded; pose g (n : nat) (y : measurableTypeR R) : \bar R := (between (- n%:R) n%:R h y)%:E.
have mg n : measurable_fun setT (g n) by case: (bounded n) => -[].
have g0 n y : setT y -> (0 <= g n y)%E by move=> _; rewrite lee_fin /between; case: ifP.
have grows y : setT y -> nondecreasing_seq (g ^~ y).
  move=> _ n n' nn; rewrite lee_fin /between; case: ifP => [/andP [ny yn]|_]; last by case: ifP.
  have nR : n%:R <= n'%:R :> R by rewrite ler_nat.
  by rewrite (le_lt_trans _ ny) ?ler_opp2 // (le_trans yn nR).
have lims (y : measurableTypeR R) : g ^~ y --> (h y)%:E.
  apply: cvg_near_cst; exists (Num.bound `|(y : R)|) => // n /= yn; rewrite /g /between ifT //.
  have : `|(y : R)| < n%:R by apply: lt_le_trans (archi_boundP (normr_ge0 _)) _; rewrite ler_nat.
  by rewrite ltr_norml => /andP [-> /ltW ->].
have mh : measurable_fun setT (fun y : measurableTypeR R => (h y)%:E).
  by apply: (@emeasurable_fun_cvg _ _ R setT g) => // y _; exact: lims.
have le_c : (\int[mu]_y (h y)%:E <= c%:E)%E.
  have -> : (\int[mu]_y (h y)%:E = \int[mu]_y (lim (g ^~ y)))%E.
    by apply: eq_integral => y _; apply/esym/cvg_lim; [exact: ereal_hausdorff | exact: lims].
  rewrite (monotone_convergence mu measurableT mg g0 grows); apply: lime_le.
    apply: ereal_nondecreasing_is_cvg => n n' nn; apply: ge0_le_integral => //.
      by move=> y _; exact: g0.
      by move=> y _; exact: g0.
    by move=> y _; exact: grows.
  by apply: nearW => n; rewrite /g summableE ?lee_fin; case: (bounded n).
have sh : summable h.
  split=> //; apply: le_lt_trans (ltry c); apply: le_trans le_c.
  have -> : (\int[mu]_y `|(EFin \o (h : measurableTypeR R -> R)) y| = \int[mu]_y (h y)%:E)%E.
    by apply: eq_integral => y _; rewrite /= ger0_norm.
  exact: lexx.
by split=> //; rewrite -lee_fin -summableE.
Qed.

(* begin lebesgue *)
(* Lebesgue's integral has all that is asked of an integral over the line. *)
Theorem lebesgue_is_line_integral : is_line_integral summable lebesgue.
(* end lebesgue *)
Proof.
split=> [x|].
  exists (Num.bound `|x|); apply: le_trans (ler_norm x) _; apply/ltW/archi_boundP; exact: normr_ge0.
split; [exact: lebesgue_is_integral | exact: summable_length | | exact: summable_growing | exact: summable_union].
move=> a h Hh; have := summable_parts (measurable_itv `]-oo, a]) Hh; congr summable; apply: funext => y.
congr (if _ then _ else _).
by apply/idP/idP; [move/set_mem; rewrite /= in_itv | move=> h1; apply/mem_set; rewrite /= in_itv].
Qed.

End Lebesgue.
