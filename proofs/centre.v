(* Clipping around a public centre, off the middle: what it guarantees, and what it costs. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts lemma one_line optimum exponential densities line noise.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Clipping moves z by at most the amount by which |z| exceeds K. *)
Lemma clip_off (R : realFieldType) (K z : R) : 0 <= K -> `|z - clip (- K) K z| <= Num.max (`|z| - K) 0.
Proof. by move=> K0; rewrite /clip; case: (ger0P z) => h; rewrite ler_norml; minmax; linear. Qed.

Section Centre.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U S eps : R).
Notation N := (N R m).
Notation m_star := (nth_count m 0).

(* begin def-centre *)
(* Worst-case bias, sensitivity and worst-case error of one_line U c S, the clipping around c. *)
Definition centred_bias (c : R) : R :=
  Num.max (\sum_l Num.max ((m l)%:R * c - S / 2) 0) (\sum_l Num.max ((m l)%:R * (U - c) - S / 2) 0) / N.
Definition centred_sensitivity (c : R) : R :=
  (Num.min (S / 2) (c * m_star%:R) + Num.min (S / 2) ((U - c) * m_star%:R)) / N.
Definition guarantee (c : R) : R := centred_bias c + centred_sensitivity c / eps.
(* The share of the samples that belongs to users with U m_l > S / 2. *)
Definition kappa : R := (\sum_(l | S / 2 < U * (m l)%:R) m l)%:R / N.
(* end def-centre *)

Hypothesis U0 : 0 < U.
Hypothesis Npos : (0 < \sum_l m l)%N.
Hypothesis S0 : 0 <= S.
Hypothesis eps0 : 0 < eps.

Let N0 : 0 < N. Proof. by rewrite ltr0n. Qed.
Let inv_N : 0 <= N^-1. Proof. by rewrite invr_ge0 ltW. Qed.
Let A (c : R) : R := \sum_l Num.max ((m l)%:R * c - S / 2) 0.

Let A_grows c c' : c <= c' -> A c <= A c'.
Proof.
move=> cc'; apply: ler_sum => l _.
by have : (m l)%:R * c <= (m l)%:R * c'; [rewrite ler_wpmul2l ?ler0n | move=> h; minmax; linear].
Qed.

Let bias_is c : centred_bias c = Num.max (A c) (A (U - c)) / N. Proof. by []. Qed.
Let middle : U - U / 2 = U / 2. Proof. by linear. Qed.
Let bias_middle : centred_bias (U / 2) = A (U / 2) / N.
Proof. by rewrite bias_is middle maxxx. Qed.

(* begin prp-centre-guarantee *)
(* (1) Worst-case bias, sensitivity and worst-case error of clipping around c. *)
Theorem centre_guarantee (c : R) : 0 <= c <= U ->
  [/\ is_worst_case_bias U (@one_line R L m c S) (centred_bias c),
      is_sensitivity U (@one_line R L m c S) (centred_sensitivity c)
    & is_worst_case_error U eps (@one_line R L m c S) (guarantee c)].
(* end prp-centre-guarantee *)
Proof.
move=> cU; have [_ sens _ bias] := thm_one_line Npos cU S0.
have {}bias : is_worst_case_bias U (@one_line R L m c S) (centred_bias c).
  have e z : \sum_l Num.max (z * (m l)%:R - S / 2) 0 = A z by apply: eq_bigr => l _; rewrite mulrC.
  by move: bias; rewrite /= !e bias_is.
by split=> //; exists (centred_bias c), (centred_sensitivity c).
Qed.

Let sens_middle : centred_sensitivity (U / 2) = Num.min S (U * m_star%:R) / N.
Proof.
rewrite /centred_sensitivity middle; congr (_ / _).
by have : U / 2 * m_star%:R = U * m_star%:R / 2; [ring | move=> ->; minmax; linear].
Qed.

Let sens_le c : 0 <= c <= U -> centred_sensitivity c <= centred_sensitivity (U / 2).
Proof.
move=> _; rewrite sens_middle; apply: ler_wpmul2r => //; rewrite mulrBl.
by minmax; linear.
Qed.

Let bias_ge c : centred_bias (U / 2) <= centred_bias c.
Proof.
rewrite bias_middle bias_is; apply: ler_wpmul2r => //; rewrite le_maxr.
case: (leP (U / 2) c) => h; apply/orP; [left | right]; apply: A_grows; linear.
Qed.

(* phi is convex, so it falls up to a width that minimises it. *)
Let phi_convex S1 S2 T : S1 <= S2 <= T ->
  (T - S1) * phi m U eps S2 <= (T - S2) * phi m U eps S1 + (S2 - S1) * phi m U eps T.
Proof.
case/andP => s12 s2T; rewrite /phi !mulrA -mulrDl; apply: ler_wpmul2r => //.
rewrite !mulrDr addrACA; apply: ler_add; last first.
  by rewrite !mulrA -mulrDl; apply: ler_wpmul2r; [rewrite invr_ge0 ltW | linear].
rewrite !mulrA -mulrDl; apply: ler_wpmul2r; first by rewrite invr_ge0 ler0n.
rewrite !mulr_sumr -big_split /=; apply: ler_sum => l _; set u := U * _.
have h1 : 0 <= T - S1 by linear.
have h2 : 0 <= T - S2 by linear.
have h3 : 0 <= S2 - S1 by linear.
rewrite !maxr_pmulr ?mulr0 // le_maxl; apply/andP; split; last first.
  by apply: addr_ge0; rewrite le_maxr lexx orbT.
apply: (@le_trans _ _ ((T - S2) * (u - S1) + (S2 - S1) * (u - T))); first by linear.
by apply: ler_add; rewrite le_maxr lexx.
Qed.

Let phi_falls k S1 S2 : is_ceil k (2 / eps) -> 0 <= S1 -> S1 <= S2 -> S2 <= v m U k ->
  phi m U eps S2 <= phi m U eps S1.
Proof.
move=> kc s1 s12 s2T; set T := v m U k; have [_ widths] := thm_main (ltW U0) Npos eps0 kc.
have least : phi m U eps T <= phi m U eps S1.
  apply: (proj2 (widths T _)) => //; first by rewrite /T mulr_ge0 ?ler0n ?ltW.
  case: ifP => _; last exact: eqxx.
  by rewrite lexx andbT /T /v ler_pmul2l // ler_nat; apply: nth_count_mono; exact: leq_pred.
have := @phi_convex S1 S2 T; rewrite s12 s2T => /(_ isT) h.
have : (T - S1) * phi m U eps S2 <= (T - S1) * phi m U eps S1.
  apply: le_trans h _; have := ler_wpmul2l (_ : 0 <= S2 - S1) least; rewrite subr_ge0 => /(_ s12) h; linear.
case: (ltrgtP S1 T) => c12 h'.
- by rewrite ler_pmul2l ?subr_gt0 in h'.
- by move: (le_trans s12 s2T); rewrite leNgt c12.
- by have -> : S2 = S1; [apply: le_anti; rewrite s12 andbT c12 | ].
Qed.

(* begin prp-centre-middle *)
(* (2) The middle has the smallest bias and the largest sensitivity; and up to T the best guarantee. *)
Theorem centre_middle (c : R) (k : nat) : 0 <= c <= U -> is_ceil k (2 / eps) ->
  [/\ centred_bias (U / 2) <= centred_bias c, centred_sensitivity c <= centred_sensitivity (U / 2)
    & S <= v m U k -> guarantee (U / 2) <= guarantee c].
(* end prp-centre-middle *)
Proof.
move=> cU kc; split; [exact: bias_ge | exact: sens_le |] => ST.
have [[_ most] sens _] := centre_guarantee cU; set D := centred_sensitivity c in sens *.
have D0 : 0 <= D by have [[x [y [_ _ _ <-]]] _] := sens; exact: normr_ge0.
have [frontier _ _] := thm_frontier (ltW U0) Npos D0; have [x xr far] := frontier _ (proj2 sens).
have le_top : v m U k <= v m U 1.
  by rewrite /v ler_pmul2l // ler_nat; apply: nth_count_mono.
have atS : guarantee (U / 2) = phi m U eps S.
  rewrite /guarantee bias_middle sens_middle min_l ?(le_trans ST) //.
  rewrite /phi mulrAC -mulrDl; congr ((_ + _) / _); rewrite mulr_suml; apply: eq_bigr => l _.
  by rewrite maxr_pmull ?invr_ge0 ?ler0n // mul0r; congr (Num.max _ 0); linear.
have ND : N * D <= S.
  have := sens_le cU; rewrite sens_middle -/D ler_pdivl_mulr // mulrC => h.
  by apply: le_trans h _; rewrite le_minl lexx.
rewrite atS; apply: le_trans (phi_falls kc _ ND ST) _; first by rewrite mulr_ge0 // ltW.
rewrite /guarantee -/D /phi mulrDl; apply: ler_add; last first.
  by rewrite mulrAC [N * D]mulrC mulfK ?gt_eqF.
apply: le_trans (most x xr); apply: le_trans far; rewrite mulrAC mulr_suml; apply: ler_wpmul2r.
  by rewrite invr_ge0 ler0n.
apply: ler_sum => l _; rewrite maxr_pmull // mul0r mulrBl [N * D]mulrC mulfK ?gt_eqF //.
Qed.

(* begin prp-centre-off *)
(* (3) A centre off the middle costs at most kappa times its distance from the middle, where kappa <= 1. *)
Theorem centre_off (c : R) : 0 <= c <= U ->
  guarantee c <= guarantee (U / 2) + kappa * `|c - U / 2| /\ kappa <= 1.
(* end prp-centre-off *)
Proof.
move=> cU; split; last first.
  rewrite /kappa ler_pdivr_mulr // mul1r ler_nat [leqRHS](bigID (fun l => S / 2 < U * (m l)%:R)) /=.
  exact: leq_addr.
rewrite /guarantee addrAC; apply: ler_add; last first.
  by apply: ler_wpmul2r; [rewrite invr_ge0 ltW | exact: sens_le].
rewrite bias_middle bias_is /kappa [_ / N * _]mulrAC -mulrDl; apply: ler_wpmul2r => //.
have off z : 0 <= z <= U -> `|z - U / 2| = `|c - U / 2| ->
    A z <= A (U / 2) + (\sum_(l | S / 2 < U * (m l)%:R) m l)%:R * `|c - U / 2|.
  move=> /andP [z0 zU] <-; rewrite natr_sum mulr_suml [X in _ <= _ + X]big_mkcond /= -big_split /=.
  apply: ler_sum => l _; have p := ler0n R (m l).
  have h1 : (m l)%:R * z <= U * (m l)%:R by rewrite mulrC ler_wpmul2r.
  have h2 : (m l)%:R * (z - U / 2) <= (m l)%:R * `|z - U / 2| by apply: ler_wpmul2l => //; exact: ler_norm.
  have h3 : 0 <= (m l)%:R * `|z - U / 2| by rewrite mulr_ge0.
  case: ltP => h; first by minmax; linear.
  by rewrite addr0; minmax; linear.
have mirror : `|U - c - U / 2| = `|c - U / 2| by rewrite -normrN; congr `|_|; linear.
have cU' : 0 <= U - c <= U by case/andP: cU => c0 c1; apply/andP; split; linear.
by rewrite le_maxl (off c) // (off (U - c)).
Qed.

(* begin prp-centre-dataset *)
(* (4) On one dataset the bias is at most this.  If every user's average is within S / (2 m_l) of the
   centre, there is no bias, and the mean absolute error is that of the noise. *)
Theorem centre_dataset (c : R) (x : dataset R m) : 0 <= c <= U -> in_range U x ->
  `|mean x - one_line c S x| <= (\sum_l Num.max (`|user_sum x l - c * (m l)%:R| - S / 2) 0) / N
  /\ ((forall l, (0 < m l)%N -> `|user_sum x l / (m l)%:R - c| <= S / (2 * (m l)%:R)) ->
        one_line c S x = mean x
        /\ forall exp H J, is_exponential exp -> is_line_integral H J -> 0 < centred_sensitivity c ->
             J (fun y => `|mean x - y| * laplace exp (centred_sensitivity c / eps) (one_line c S x) y)
             = centred_sensitivity c / eps).
(* end prp-centre-dataset *)
Proof.
move=> cU xr.
have diff : mean x - one_line c S x = (\sum_l (user_sum x l - c * (m l)%:R
    - clip (- (S / 2)) (S / 2) (user_sum x l - c * (m l)%:R))) / N.
  rewrite !sumrB -mulr_sumr -natr_sum -[(\sum_l m l)%:R]/N /one_line /mean.
  rewrite -[\sum_l \sum_j x l j]/(\sum_l user_sum x l).
  by move: (\sum_l user_sum x l) (\sum_l clip _ _ _) => s t; field; rewrite gt_eqF.
have bound : `|mean x - one_line c S x| <= (\sum_l Num.max (`|user_sum x l - c * (m l)%:R| - S / 2) 0) / N.
  rewrite diff normrM [`|N^-1|]ger0_norm //; apply: ler_wpmul2r => //; apply: le_trans (ler_norm_sum _ _ _) _.
  by apply: ler_sum => l _; apply: clip_off; rewrite divr_ge0 ?ler0n.
split=> // near; have e : one_line c S x = mean x.
  apply/esym/eqP; rewrite -subr_eq0 -normr_le0; apply: le_trans bound _.
  rewrite big1 ?mul0r // => l _; apply: max_r; rewrite subr_le0.
  case: (posnP (m l)) => [m0|m0].
    rewrite m0 mulr0 subr0 /user_sum big1 ?normr0 ?divr_ge0 ?ler0n // => j _.
    by have := ltn_ord j; rewrite [X in (_ < X)%N]m0.
  have mR : 0 < (m l)%:R :> R by rewrite ltr0n.
  have -> : user_sum x l - c * (m l)%:R = (user_sum x l / (m l)%:R - c) * (m l)%:R by field; rewrite gt_eqF.
  rewrite normrM [`|_%:R|]ger0_norm ?(ltW mR) // -ler_pdivl_mulr //.
  by apply: le_trans (near l m0) _; rewrite invfM mulrA.
split=> // exp H J is_exp HJ D0; rewrite e.
by have [_ ->] := laplace_size (mean x) is_exp HJ (divr_gt0 D0 eps0).
Qed.
End Centre.
