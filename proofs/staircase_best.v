(* No noise that hides shifts by at most 1 has a smaller mean absolute value than staircase noise. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear chain exponential line staircase_law.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin def-hidden-shifts *)
(* E is the mean under the law of Z, for functions in a set that is closed under shifts, and under setting a
   function to 0 below a point, with or without the point.  A shift by d with |d| <= 1 changes the means of
   nonnegative functions, and so the probabilities of events, by at most the factor q. *)
Definition has_parts (R : realFieldType) (H : (R -> R) -> Prop) : Prop :=
  [/\ forall a f, H f -> H (fun z => if z < a then f z else 0),
      forall a f, H f -> H (fun z => if z <= a then f z else 0)
    & forall d f, H f -> H (fun z => f (z + d))].
Definition hides_shifts (R : realFieldType) (H : (R -> R) -> Prop) (E : (R -> R) -> R) (q : R) : Prop :=
  forall d f, `|d| <= 1 -> H f -> (forall z, 0 <= f z) -> E (fun z => f (z + d)) <= q * E f.
(* end def-hidden-shifts *)

Section Side.
Variables (R : realFieldType) (H : (R -> R) -> Prop) (E : (R -> R) -> R) (h : R).
Hypothesis archi : forall x : R, exists n : nat, x <= n%:R.
Hypothesis cH : is_class H.
Hypothesis mE : is_mean H E.
Hypothesis parts : has_parts H.
Hypothesis h1 : 1 < h.
Hypothesis hides : hides_shifts H E (h ^+ 2).

Let sH : is_space H. Proof. by case: cH. Qed.
Let h0 : 0 < h. Proof. exact: h_gt0. Qed.

Lemma law_ext f f' : H f -> (forall z, f z = f' z) -> H f' /\ E f' = E f.
Proof.
have [ext _ _] := sH; have [_ _ mono] := mE => Hf e; have Hf' := ext _ _ Hf e; split=> //.
by apply: le_anti; rewrite !mono // => z; rewrite e.
Qed.

Lemma law_add f f' : H f -> H f' -> H (fun z => f z + f' z) /\ E (fun z => f z + f' z) = E f + E f'.
Proof.
move=> Hf Hf'; have [_ _ clin] := sH; have [_ lin _] := mE; have Hs := clin 1 _ _ Hf Hf'.
have [|Ha ->] := law_ext Hs (f' := fun z => f z + f' z); first by move=> z; rewrite mul1r.
by split=> //; rewrite lin // mul1r.
Qed.

Lemma law_scale a f : H f -> H (fun z => a * f z) /\ E (fun z => a * f z) = a * E f.
Proof. by move=> Hf; split; [exact: space_scale | exact: (mean_scale a sH mE)]. Qed.

(* f from a on and up to b, without b. *)
Definition inside (a b : R) (f : R -> R) (z : R) : R := if a <= z < b then f z else 0.

Lemma inside_has a b f : H f -> H (inside a b f).
Proof.
move=> Hf; have [cut _ _] := parts; have [Hs _] := law_scale (-1) (cut a _ (cut b _ Hf)).
have [Ha _] := law_add (cut b _ Hf) Hs; have [] // := law_ext Ha (f' := inside a b f) => z.
by rewrite /inside leNgt; case: (ltP z a) => za /=; case: (ltP z b) => zb; ring.
Qed.

Lemma from_has a f : H f -> H (fun z => if a <= z then f z else 0).
Proof.
move=> Hf; have [cut _ _] := parts; have [Hs _] := law_scale (-1) (cut a _ Hf).
have [Ha _] := law_add Hf Hs; have [] // := law_ext Ha (f' := fun z => if a <= z then f z else 0) => z.
by rewrite leNgt; case: (ltP z a) => za /=; ring.
Qed.

Lemma one_has : H (fun=> 1). Proof. by case: sH. Qed.

Lemma id_has : H (fun z => z).
Proof.
have [_ dist] := cH; have [cut _ _] := parts; have Hd := dist 0.
have [Hs _] := law_scale (- 2%:R) (cut 0 _ Hd); have [Ha _] := law_add Hd Hs.
have [] // := law_ext Ha (f' := fun z => z) => z; rewrite sub0r normrN.
by case: (ltrP z 0) => z0; [rewrite ltr0_norm // | rewrite ger0_norm //]; ring.
Qed.

Lemma shifted_has c : H (fun z => z - c).
Proof. by have [_ _ shift] := parts; exact: (shift (- c) (fun z => z) id_has). Qed.

Notation g := (gamma h).
Definition chance (a b : R) : R := E (inside a b (fun=> 1)).

Lemma chance_ge0 a b : 0 <= chance a b.
Proof. by apply: (mean_ge0 sH mE); [exact/inside_has/one_has | move=> z; rewrite /inside; case: ifP; rewrite ?ler01]. Qed.

Lemma chance_shift a b a' b' : b - a = b' - a' -> `|a' - a| <= 1 -> chance a b <= h ^+ 2 * chance a' b'.
Proof.
move=> ab near; have H1 := inside_has a' b' one_has; have [_ _ shift] := parts.
have [|Hf Ef] := law_ext (shift (a' - a) _ H1) (f' := inside a b (fun=> 1)).
  move=> z; rewrite /inside; have -> : b' = b + (a' - a) by move: ab; linear.
  by rewrite ltr_add2r -{1}(subrK a a') addrC ler_add2r.
by rewrite /chance Ef; apply: hides => // z; rewrite /inside; case: ifP; rewrite ?ler01.
Qed.

(* Steps above a falling line, and below a growing one. *)
Lemma steps_above (d : R) N z : 0 < d ->
  inside 0 (N%:R * d) (fun z => g - z) z <= \sum_(i < N) (g - i%:R * d) * inside (i%:R * d) (i.+1%:R * d) (fun=> 1) z.
Proof.
move=> d0; elim: N => [|N IH].
  by rewrite big_ord0 /inside mul0r; case: ifP => // /andP [z0 /(le_lt_trans z0)]; rewrite ltxx.
rewrite big_ord_recr /=; apply: le_trans (ler_add IH (lexx _)); rewrite /inside.
have up : N%:R * d <= N.+1%:R * d by rewrite ler_pmul2r // ler_nat.
have N0 : 0 <= N%:R * d by rewrite mulr_ge0 ?ler0n ?ltW.
case: (leP 0 z) => z0 /=; last by rewrite (lt_geF (lt_le_trans z0 N0)) /= mulr0 addr0.
case: (ltP z (N%:R * d)) => zN /=; first by rewrite (lt_le_trans zN up) /= mulr0 addr0.
rewrite /= add0r; case: ifP => _; last by rewrite mulr0.
by rewrite mulr1 ler_add2l ler_opp2.
Qed.

Lemma steps_below (d : R) N z : 0 < d ->
  \sum_(i < N) (i%:R * d) * inside (g + i%:R * d) (g + i.+1%:R * d) (fun=> 1) z <= inside g (g + N%:R * d) (fun z => z - g) z.
Proof.
move=> d0; elim: N => [|N IH].
  by rewrite big_ord0 /inside mul0r addr0; case: ifP => // /andP [z0 /(le_lt_trans z0)]; rewrite ltxx.
rewrite big_ord_recr /=; apply: le_trans (ler_add IH (lexx _)) _; rewrite /inside.
have up : g + N%:R * d <= g + N.+1%:R * d by rewrite ler_add2l ler_pmul2r // ler_nat.
have N0 : g <= g + N%:R * d by rewrite ler_addl mulr_ge0 ?ler0n ?ltW.
case: (leP g z) => z0 /=; last by rewrite (lt_geF (lt_le_trans z0 N0)) /= mulr0 addr0.
case: (ltP z (g + N%:R * d)) => zN /=; first by rewrite (lt_le_trans zN up) /= mulr0 addr0.
rewrite /= add0r; case: ifP => _; last by rewrite mulr0.
by rewrite mulr1 ler_subr_addl.
Qed.

Lemma gauss n : \sum_(i < n) i%:R = n%:R * (n%:R - 1) / 2 :> R.
Proof.
elim: n => [|n IH]; first by rewrite big_ord0 !mul0r.
by rewrite big_ord_recr /= IH -[n.+1]addn1 natrD; linear.
Qed.

(* Below the first edge the law is at most q times as likely as between it and 1, step by step. *)
Lemma before_edge n : (0 < n)%N ->
  E (inside 0 g (fun z => g - z)) * ((h * n%:R - 1) * (h * n%:R - 2))
  <= h ^+ 2 * (n%:R * (n%:R + 1)) * E (inside g 1 (fun z => z - g)).
Proof.
(* the n steps up to the first edge, and as many of their width as fit between it and 1 *)
move=> n0; have nR : 0 < n%:R :> R by rewrite ltr0n.
have n1 : 1 <= n%:R :> R by rewrite ler1n.
have hp := h_plus h1; have g0 : 0 < g by rewrite /gamma divr_gt0 ?ltr01.
have gE : h * g = 1 - g by rewrite /gamma; field; rewrite gt_eqF.
pose d := g / n%:R; have d0 : 0 < d by rewrite divr_gt0.
have nd : n%:R * d = g by rewrite /d mulrC divfK // gt_eqF.
have [k [k_le k_gt]] : exists k : nat, k%:R <= h * n%:R /\ h * n%:R < k.+1%:R.
  have some : exists k : nat, h * n%:R < k.+1%:R.
    have [K le] := archi (h * n%:R); exists K; apply: le_lt_trans le _; by rewrite ltr_nat.
  case: (ex_minnP some) => k lt least; exists k; split=> //; rewrite leNgt; apply/negP => gt.
  case: k lt least gt => [|k] lt least gt; first by move: gt; rewrite ltNge mulr_ge0 ?(ltW h0) ?(ltW nR).
  by have := least k gt; rewrite ltnn.
have kd : g + k%:R * d <= 1.
  have : k%:R * d <= h * n%:R * d by rewrite ler_pmul2r.
  by rewrite -mulrA nd gE; linear.
pose P (i : nat) := chance (i%:R * d) (i.+1%:R * d).
pose Q (j : nat) := chance (g + j%:R * d) (g + j.+1%:R * d).
have PQ i j : (i < n)%N -> (j < k)%N -> P i <= h ^+ 2 * Q j.
  move=> i_n j_k; apply: chance_shift; first by ring.
  have iR : i%:R + 1 <= n%:R :> R by move: i_n; rewrite -(ler_nat R) -[i.+1]addn1 natrD.
  have jR : j%:R + 1 <= k%:R :> R by move: j_k; rewrite -(ler_nat R) -[j.+1]addn1 natrD.
  have iR' := ler_wpmul2r (ltW d0) iR; have jR' := ler_wpmul2r (ltW d0) jR.
  have i0 : 0 <= i%:R * d by rewrite mulr_ge0 ?ler0n ?ltW.
  have j0 : 0 <= j%:R * d by rewrite mulr_ge0 ?ler0n ?ltW.
  rewrite ler_norml; move: iR' jR'; rewrite nd !mulrDl mul1r => iR' jR'.
  clear -kd d0 g0 i0 j0 iR' jR'; move: (gamma h) (d) kd d0 g0 i0 j0 iR' jR' => e f.
  by move: (i%:R * f) (j%:R * f) (k%:R * f) => a b c; intros; apply/andP; split; linear.
pose X := \sum_(i < n) (n%:R - i%:R) * P i; pose Y := \sum_(j < k) j%:R * Q j.
have Hone a b : H (inside a b (fun=> 1)) by exact/inside_has/one_has.
have Hleft a b : H (inside a b (fun z => g - z)).
  have [Hs _] := law_scale (-1) (shifted_has g); apply: inside_has.
  by have [] := law_ext Hs (f' := fun z => g - z) => [z|]; [ring | ].
have [_ _ mono] := mE.
have left_ : E (inside 0 g (fun z => g - z)) <= d * X.
  have [Hs Es] := mean_sum (fun i : 'I_n => g - i%:R * d) sH mE (fun i : 'I_n => Hone (i%:R * d) (i.+1%:R * d)).
  have -> : d * X = \sum_(i < n) (g - i%:R * d) * P i.
    by rewrite /X mulr_sumr; apply: eq_bigr => i _; rewrite -nd; ring.
  rewrite -Es; apply: mono => // z; rewrite -{1}nd; exact: steps_above.
have right_ : d * Y <= E (inside g 1 (fun z => z - g)).
  have [Hs Es] := mean_sum (fun j : 'I_k => j%:R * d) sH mE (fun j : 'I_k => Hone (g + j%:R * d) (g + j.+1%:R * d)).
  have -> : d * Y = \sum_(j < k) (j%:R * d) * Q j.
    by rewrite /Y mulr_sumr; apply: eq_bigr => j _; ring.
  rewrite -Es; apply: mono => // [|z]; first exact/inside_has/shifted_has.
  apply: le_trans (steps_below k z d0) _; rewrite /inside; case: ifP => [/andP [gz zk]|_].
    by rewrite gz (lt_le_trans zk kd).
  by case: ifP => // /andP [gz _]; rewrite subr_ge0.
pose A : R := \sum_(i < n) (n%:R - i%:R); pose B : R := \sum_(j < k) j%:R.
have AE : A = n%:R * (n%:R + 1) / 2.
  rewrite /A big_split /= sumr_const card_ord sumrN gauss -[X in X + _]mulr_natr.
  by move: (n%:R : R) => u; field.
have BXY : B * X <= h ^+ 2 * (Y * A).
  rewrite /B /X /Y /A !big_distrlr /= mulr_sumr; apply: ler_sum => j _; rewrite mulr_sumr; apply: ler_sum => i _.
  have w0 : 0 <= j%:R * (n%:R - i%:R) :> R by rewrite mulr_ge0 ?ler0n // subr_ge0 ler_nat ltnW.
  have := ler_wpmul2l w0 (PQ i j (ltn_ord i) (ltn_ord j)).
  have -> : h ^+ 2 * (j%:R * Q j * (n%:R - i%:R)) = j%:R * (n%:R - i%:R) * (h ^+ 2 * Q j) by ring.
  by rewrite mulrA.
set Lf := E (inside 0 g _) in left_ *; set Rt := E (inside g 1 _) in right_ *.
have Lf0 : 0 <= Lf.
  apply: (mean_ge0 sH mE) => // z; rewrite /inside; case: ifP => // /andP [_ zg]; rewrite subr_ge0; exact: ltW.
have A0 : 0 <= A by rewrite AE !mulr_ge0 ?addr_ge0 ?invr_ge0 ?ler0n ?ler01.
have B0 : 0 <= B by apply: sumr_ge0 => j _; exact: ler0n.
have main : B * Lf <= h ^+ 2 * (Rt * A).
  apply: le_trans (ler_wpmul2l B0 left_) _; rewrite mulrCA; apply: le_trans (ler_wpmul2l (ltW d0) BXY) _.
  have -> : d * (h ^+ 2 * (Y * A)) = h ^+ 2 * (d * Y * A) by ring.
  by apply: ler_wpmul2l; [rewrite exprn_ge0 // ltW | exact: ler_wpmul2r].
case: (leP (h * n%:R) 2) => big.
  have hn1 : 1 <= h * n%:R by apply: le_trans n1 _; rewrite ler_pmull // ltW.
  apply: (@le_trans _ _ 0); last first.
    apply: mulr_ge0; first by rewrite !mulr_ge0 ?exprn_ge0 ?addr_ge0 ?ler01 ?ltW.
    by apply: (mean_ge0 sH mE); [exact/inside_has/shifted_has | move=> z; rewrite /inside; case: ifP => // /andP [gz _]; rewrite subr_ge0].
  by rewrite mulr_ge0_le0 // mulr_ge0_le0 ?subr_ge0 ?subr_le0.
have BE : (h * n%:R - 1) * (h * n%:R - 2) <= 2 * B.
  have -> : 2 * B = k%:R * (k%:R - 1) by rewrite /B gauss; linear.
  have kR : h * n%:R - 1 <= k%:R by move: k_gt; rewrite -[k.+1]addn1 natrD; linear.
  by apply: ler_pmul => //; linear.
apply: (@le_trans _ _ (2 * (B * Lf))); first by rewrite mulrC mulrA; exact: ler_wpmul2r.
have -> : h ^+ 2 * (n%:R * (n%:R + 1)) * Rt = 2 * (h ^+ 2 * (Rt * A)) by rewrite AE; field.
by rewrite ler_pmul2l ?ltr0n.
Qed.

Lemma middle_ge0 : 0 <= E (inside 0 1 (fun z => z - g)).
Proof.
have hp := h_plus h1; have g0 : 0 < g by rewrite /gamma divr_gt0 ?ltr01.
have g1 : g <= 1 by have /andP [] := gamma01 h1.
have Hr a b : H (inside a b (fun z => z - g)) by exact/inside_has/shifted_has.
have Hl : H (inside 0 g (fun z => g - z)).
  have [Hs _] := law_scale (-1) (shifted_has g); apply: inside_has.
  by have [] := law_ext Hs (f' := fun z => g - z) => [z|]; [ring | ].
have [Hs Es] := law_scale (-1) Hl; have [Ha Ea] := law_add (Hr g 1) Hs.
have [|Hf ->] := law_ext Ha (f' := inside 0 1 (fun z => z - g)).
  move=> z; rewrite /inside; case: (leP g z) => gz /=.
    by rewrite (le_trans (ltW g0) gz) andbF /= mulr0 addr0.
  by rewrite (lt_le_trans gz g1) add0r; case: ifP => _; ring.
rewrite Ea Es mulN1r; set Rt := E _; set Lf := E _; rewrite subr_ge0 leNgt; apply/negP => lt.
have Rt0 : 0 <= Rt.
  by apply: (mean_ge0 sH mE) => // z; rewrite /inside; case: ifP => // /andP [gz _]; rewrite subr_ge0.
have gap : 0 <= Lf - Rt by rewrite subr_ge0 ltW.
have zero : Lf - Rt = 0.
  apply: (small_zero archi (c := (h ^+ 2 + 3%:R * h) * Rt)) => // k; pose n := k.+3.
  have nR : 0 < n%:R :> R by rewrite ltr0n.
  have le := @before_edge n isT; rewrite -/Lf -/Rt in le.
  have nE : n%:R = k%:R + 3%:R :> R by rewrite /n -addn3 natrD.
  have k0 := ler0n R k.
  have big : n%:R * k%:R <= (h * n%:R - 1) * (h * n%:R - 2) :> R.
    apply: (@le_trans _ _ ((n%:R - 1) * (n%:R - 2))); first by rewrite nE; linear.
    have hn : n%:R <= h * n%:R :> R by rewrite ler_pmull // ltW.
    by apply: ler_pmul; rewrite ?ler_add2r //; rewrite nE; linear.
  rewrite -(ler_pmul2r nR); apply: (@le_trans _ _ ((Lf - Rt) * ((h * n%:R - 1) * (h * n%:R - 2)))).
    by rewrite -mulrA; apply: ler_wpmul2l => //; rewrite mulrC.
  have hn0 : 0 <= h * n%:R by rewrite mulr_ge0 // ltW.
  have -> : (Lf - Rt) * ((h * n%:R - 1) * (h * n%:R - 2)) = Lf * ((h * n%:R - 1) * (h * n%:R - 2))
    - Rt * ((h * n%:R - 1) * (h * n%:R - 2)) by ring.
  have -> : (h ^+ 2 + 3%:R * h) * Rt * n%:R = h ^+ 2 * (n%:R * (n%:R + 1)) * Rt
    - Rt * ((h * n%:R - 1) * (h * n%:R - 2)) + 2 * Rt by ring.
  by move: le; move: (_ * Rt) (Rt * _) (Lf * _) => u v u'; linear.
by move: lt; rewrite -subr_gt0 zero ltxx.
Qed.

(* From 0 on, the mean distance is at least that of the staircase. *)
Lemma side_ge0 : 0 <= E (fun z => if 0 <= z then z - 1 / (2 * sinh_log h) else 0).
Proof.
have hp := h_plus h1; have sq := square_minus h1; have g1 : g <= 1 by have /andP [] := gamma01 h1.
have Hg := shifted_has g; have H1 := from_has 1 Hg; have H0 := from_has 0 Hg.
have Hin := inside_has 0 1 Hg.
have far : E (fun z => if 0 <= z then z + 1 - g else 0) <= h ^+ 2 * E (fun z => if 1 <= z then z - g else 0).
  have [_ _ shift] := parts; have [|_ ->] := law_ext (shift 1 _ H1) (f' := fun z => if 0 <= z then z + 1 - g else 0).
    by move=> z; rewrite -ler_subl_addr subrr.
  apply: hides => //; first by rewrite normr1.
  by move=> z; case: ifP => // z1; rewrite subr_ge0 (le_trans g1).
have [Ha Ea] := law_add Hin H1; have [|_ E0] := law_ext Ha (f' := fun z => if 0 <= z then z - g else 0).
  move=> z; rewrite /inside; case: (leP 1 z) => z1; last by rewrite andbT addr0.
  by rewrite andbF add0r (le_trans ler01 z1).
have Hup : H (fun z => if 0 <= z then z + 1 - g else 0).
  apply: from_has; have [_ _ shift] := parts; have [] // := law_ext (shift 1 _ Hg) (f' := fun z => z + 1 - g).
have [Hb Eb] := law_scale (- h ^- 2) Hup; have [Hc Ec] := law_add H0 Hb.
have b0 : 0 < 1 - h ^- 2 by rewrite subr_gt0 invf_lt1 ?exprn_gt0 // exprn_egt1.
have [Hd Ed] := law_scale (1 - h ^- 2)^-1 Hc.
have [|_ ->] := law_ext Hd (f' := fun z => if 0 <= z then z - 1 / (2 * sinh_log h) else 0).
  have bE : 1 - h ^- 2 = (h ^+ 2 - 1) / h ^+ 2 by field; rewrite gt_eqF.
  move=> z; case: ifP => _; last by rewrite mulr0 addr0 mulr0.
  by rewrite bE sinhE // /gamma; field; rewrite !gt_eqF.
rewrite Ed mulr_ge0 ?invr_ge0 ?(ltW b0) // Ec Eb E0 Ea mulNr subr_ge0.
move: far; rewrite -(ler_pdivr_mull _ _ (exprn_gt0 2 h0)) => /le_trans; apply.
by rewrite ler_addr middle_ge0.
Qed.
End Side.

(* begin thm-staircase-best *)
(* No noise has a smaller mean absolute value: h stands for exp (eps / 2), so that h ^ 2 is exp eps. *)
Theorem staircase_best (R : realFieldType) (H : (R -> R) -> Prop) (E : (R -> R) -> R) (h : R) :
  (forall x : R, exists n : nat, x <= n%:R) -> is_class H -> is_mean H E -> has_parts H ->
  1 < h -> hides_shifts H E (h ^+ 2) -> 1 / (2 * sinh_log h) <= E (fun z => `|z|).
(* end thm-staircase-best *)
Proof.
(* On one side of zero the mean of z - w is not negative (side_ge0). The other side is that of - Z, whose
   law hides shifts as well; both together have the mass 1. *)
move=> archi cH mE parts h1 hides; have [[ext H1 clin] dist] := cH; have [E1 lin mono] := mE.
have [below upto shift] := parts; set w := 1 / (2 * sinh_log h).
have w0 : 0 <= w.
  rewrite /w sinhE // divr_ge0 ?ler01 // mulr_ge0 ?ler0n // divr_ge0 ?ltW ?square_minus //.
  by rewrite mulr_gt0 ?ltr0n ?h_gt0.
pose H' f := H (mirrored f); pose E' f := E (mirrored f).
have cH' : is_class H'.
  split; first split=> [f f' Hf e||s f f' Hf Hf']; [|exact: H1 | exact: (clin s (mirrored f) (mirrored f'))|].
    by apply: ext Hf _ => z; exact: e.
  by move=> a; apply: ext (dist (- a)) _ => z; rewrite /mirrored opprK -normrN opprB opprK addrC.
have mE' : is_mean H' E'.
  split=> [|s f f' Hf Hf'|f f' Hf Hf' ff]; [exact: E1 | exact: (lin s (mirrored f) (mirrored f')) |].
  by apply: mono => // z; exact: ff.
have minus f a : H f -> H (fun z => f z + -1 * (if z < a then f z else 0)).
  by move=> Hf; have := clin (-1) _ _ (below a f Hf) Hf; move/ext; apply=> z; rewrite addrC.
have minus' f a : H f -> H (fun z => f z + -1 * (if z <= a then f z else 0)).
  by move=> Hf; have := clin (-1) _ _ (upto a f Hf) Hf; move/ext; apply=> z; rewrite addrC.
have parts' : has_parts H'.
  split=> [a f Hf|a f Hf|d f Hf].
  - apply: ext (minus' _ (- a) Hf) _ => z; rewrite /mirrored ltr_oppl ltNge; case: (z <= - a) => /=; ring.
  - apply: ext (minus _ (- a) Hf) _ => z; rewrite /mirrored ler_oppl leNgt; case: (z < - a) => /=; ring.
  by apply: ext (shift (- d) _ Hf) _ => z; rewrite /mirrored opprD opprK.
have hides' : hides_shifts H' E' (h ^+ 2).
  move=> d f d1 Hf f0; have := hides (- d) (mirrored f); rewrite normrN => /(_ d1 Hf (fun z => f0 _)).
  apply: le_trans; apply: mono => [||z]; last by rewrite /mirrored opprD opprK.
    by have [_ _] := parts'; apply.
  exact: shift.
have R0 := side_ge0 archi cH mE parts h1 hides; have L0 := side_ge0 archi cH' mE' parts' h1 hides'.
have Hw : H (fun z => z - w) by exact: (shifted_has cH mE parts w).
have Hw' : H' (fun z => z - w) by exact: (shifted_has cH' mE' parts' w).
have Hr := from_has cH mE parts 0 Hw; have Hl := from_has cH' mE' parts' 0 Hw'.
have Hd : H (fun z => `|z|) by apply: ext (dist 0) _ => z; rewrite sub0r normrN.
have H1w : H (fun=> w * 1) := space_scale w (proj1 cH) H1.
have Hc : H (fun z => -1 * (w * 1) + `|z|) := clin (-1) _ _ H1w Hd.
have [Hs Es] := law_add cH mE Hr Hl.
have le : E (fun z => (if 0 <= z then z - w else 0) + mirrored (fun z => if 0 <= z then z - w else 0) z)
    <= E (fun z => -1 * (w * 1) + `|z|).
  apply: mono => // z; rewrite /mirrored oppr_ge0; case: (ltrgtP z 0) => z0.
  - by rewrite ltr0_norm //; linear.
  - by rewrite gtr0_norm //; linear.
  by rewrite z0 oppr0 normr0; linear.
have := le_trans (addr_ge0 R0 L0) (_ : _ <= E (fun z => -1 * (w * 1) + `|z|)); rewrite -Es => /(_ le).
by rewrite lin // (mean_scale w (proj1 cH) mE H1) E1; linear.
Qed.
