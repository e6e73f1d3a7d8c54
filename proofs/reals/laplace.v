(* The Laplace mechanism for the reals: with Lebesgue's integral, exp itself, and events that are measurable. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop mathcomp_extra.
From mathcomp.analysis Require Import signed reals ereal topology normedtype derive realfun sequences exp.
From mathcomp.analysis Require Import esum measure lebesgue_measure numfun lebesgue_integral.
From UserDP Require Import definitions linear chain exponential composition densities line noise shipped smallest_scale reals.measures reals.lebesgue.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Events.
Variable R : realType.

(* begin def-chance *)
(* The probability of the event A, under the density d. *)
Definition chance (d : R -> R) (A : set (measurableTypeR R)) : \bar R :=
  (\int[length_measure R]_(y in A) (d y)%:E)%E.
(* end def-chance *)

Lemma chance_is (A : set (measurableTypeR R)) d : measurable A -> summable d ->
  summable (fun y => \1_A y * d y) /\ chance d A = (lebesgue (fun y => \1_A y * d y))%:E.
Proof.
move=> mA Hd; have e : (fun y => if y \in A then d y else 0) = (fun y => \1_A y * d y).
  by apply: funext => y; rewrite indicE; case: (y \in A); rewrite ?mul1r ?mul0r.
have := summable_parts mA Hd; rewrite e => Hs; split=> //.
rewrite -summableE // /chance integral_mkcond; apply: eq_integral => y _.
by rewrite /patch indicE; case: ifP => _ /=; rewrite ?mul1r ?mul0r.
Qed.
End Events.

(* begin thm-laplace *)
(* Theorem II.1: the noise has the mass 1; the mechanism is private in every event; and if it is private
   with noise of scale s, the sensitivity is at most eps s. *)
Theorem laplace_for_reals (R : realType) L (m : 'I_L -> nat) (U eps : R) (g : estimator R m) : 0 < eps ->
  let chances s x := chance (laplace (@expR R) s (g x)) in
  let private s := forall x x', in_range U x -> in_range U x' -> neighbours x x' ->
    forall A, measurable A -> (chances s x A <= (expR eps)%:E * chances s x' A)%E in
  [/\ forall s x, 0 < s -> chances s x setT = 1%E,
      forall D, 0 < D -> sensitivity_at_most U g D -> private (D / eps)
    & forall s, 0 < s -> private s -> sensitivity_at_most U g (eps * s)].
(* end thm-laplace *)
Proof.
move=> e0 chances private; have HJ := lebesgue_is_line_integral R; have ex := real_exponential R.
have mass s c (s0 : 0 < s) := laplace_mass ex HJ c s0.
split=> [s x s0|D D0 sens x x' xr xr' xx A mA|s s0 priv].
- have [Hl Jl] := mass s (g x) s0; have [Hc Jc] := chance_is measurableT Hl.
  rewrite /chances Jc -[1%E]/(1%:E) -Jl; congr (lebesgue _)%:E; apply: funext => y; by rewrite indicE in_setT mul1r.
- have s0 : 0 < D / eps by exact: divr_gt0.
  have [Hx _] := mass _ (g x) s0; have [Hx' _] := mass _ (g x') s0.
  have [Hc Jc] := chance_is mA Hx; have [Hc' Jc'] := chance_is mA Hx'; rewrite /chances Jc Jc' -EFinM lee_fin.
  have [_ priv] := thm_laplace ex HJ D0 e0 sens; apply: (priv x x' xr xr' xx (\1_A : R -> R)) => [z zr|y].
    by have [Hz _] := mass _ (g z) s0; have [] := chance_is mA Hz.
  by rewrite indicE ler0n.
have [tight _] := no_smaller_scale (L := L) (m := m) U eps g ex HJ; apply: (tight s s0) => x x' xr xr' xx h Hh h01.
pose A : set (measurableTypeR R) := [set y | 0 < h y * laplace (@expR R) s (g x) y].
have pos y : 0 < laplace (@expR R) s (g x) y by rewrite /laplace divr_gt0 ?mulr_gt0 ?ltr0n ?expR_gt0.
have inA y : (\1_A y : R) = h y.
  rewrite indicE; case: (h01 y) => hy; rewrite hy.
    by rewrite memNset // /A /= hy mul0r ltxx.
  by rewrite mem_set // /A /= hy mul1r.
have mA : measurable A.
  have [mh _] := Hh x xr; have := emeasurable_fun_o_infty measurableT mh 0%E; rewrite setTI.
  by congr measurable; apply: funext => y; rewrite /A /= lte_fin.
have [Hx _] := mass s (g x) s0; have [Hx' _] := mass s (g x') s0.
have [_ Jc] := chance_is mA Hx; have [_ Jc'] := chance_is mA Hx'.
have := priv x x' xr xr' xx A mA; rewrite /chances Jc Jc' -EFinM lee_fin /draw.
by rewrite (_ : (\1_A : R -> R) = h) //; apply: funext => y; exact: inA.
Qed.

(* begin thm-l1-reals *)
(* The number r of thm-l1, from which follows by how much the paper's measure can overstate the error,
   exists. *)
Theorem l1_root (R : realType) : exists r : R, 0 < r /\ expR r = r + 2.
(* end thm-l1-reals *)
Proof.
pose f (y : R) := expR y - y; have ex := real_exponential R.
have cf : {within `[0, 2], continuous f}.
  by apply: continuous_subspaceT => y; apply: continuousB; [exact: continuous_expR | exact: cvg_id].
have f0 : f 0 = 1 by rewrite /f expR0 subr0.
have f2 : 2 <= f 2.
  have E2 : expR 2 = expR 1 * expR 1 :> R by rewrite -expRD; congr expR; rewrite -[2]/(2%:R) natrD.
  have E1 : 2 <= expR 1 :> R by have := exp_ge ex 1; rewrite -[2]/(2%:R) (natrD _ 1 1).
  have : 2 * 2 <= expR 1 * expR 1 :> R by apply: ler_pmul.
  by rewrite /f E2; move: (expR 1 * expR 1) => e; linear.
have [||r rI rE] := @IVT R f 0 2 2 _ cf; first exact: ler0n.
  rewrite f0 le_minl le_maxr f2 orbT andbT; apply/orP; left; linear.
have r0 : 0 <= r by move: rI; rewrite in_itv /= => /andP [].
have rE' : expR r = r + 2 by move: rE; rewrite /f; move: (expR r) => e h; linear.
exists r; split=> //; rewrite lt_neqAle r0 andbT; apply/eqP => z.
have : 1 < 2 :> R by rewrite ltr1n.
by rewrite -rE -z f0 ltxx.
Qed.
