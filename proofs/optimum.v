(* Lemma III.2, Theorem III.1 with all minimising widths, all minimisers, the closed form of (12). *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts lemma frontier.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Optimum.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).
Notation N := (N R m).
Notation c := (nth_count m).
Hypothesis U0 : 0 <= U.

(* The symmetric intervals. *)
Lemma sym_hiE S l (j : 'I_(m l)) : U - sym_hi U S j = sym_lo U S j.
Proof.
have m0 : (0 < m l)%N by apply: leq_ltn_trans (ltn_ord j).
rewrite /sym_hi /sym_lo.
have -> : (U * (m l)%:R - S) / (2 * (m l)%:R) = U - (U * (m l)%:R + S) / (2 * (m l)%:R).
  by field; rewrite !pnatr_eq0 -lt0n m0.
set q := (_ / _); case: (leP q U) => qU.
  by rewrite max_l // subr_ge0.
by rewrite subrr max_r // subr_le0 ltW.
Qed.

Lemma sym_lo_sum S l : 0 <= S ->
  \sum_(j < m l) sym_lo U S j = Num.max (U * (m l)%:R - S) 0 / 2.
Proof.
move=> S0; rewrite /sym_lo sumr_const card_ord -[LHS]mulr_natr.
case: (posnP (m l)) => [->|m0]; first by rewrite !mulr0 sub0r [in RHS]max_r ?oppr_le0 // mul0r.
have mR : 0 < (m l)%:R :> R by rewrite ltr0n.
rewrite [LHS]maxr_pmull ?ltW // [RHS]maxr_pmull ?invr_ge0 ?ler0n // !mul0r; congr (Num.max _ 0).
by field; rewrite gt_eqF.
Qed.

(* begin thm-main-class *)
(* The symmetric intervals of any total width are in the class of Theorem III.1. *)
Theorem symmetric_is_clipping (S : R) : 0 <= S ->
  is_clipping U (sym_lo U S) (@sym_hi R L m U S).
(* end thm-main-class *)
Proof.
move=> S0 l j; have m0 : (0 < m l)%N by apply: leq_ltn_trans (ltn_ord j).
have mR : 0 < (m l)%:R :> R by rewrite ltr0n.
split; first by rewrite /sym_lo le_maxr lexx orbT.
  rewrite -subr_ge0.
  have -> : sym_hi U S j - sym_lo U S j = U - 2 * sym_lo U S j.
    by rewrite -(sym_hiE S j); ring.
  rewrite subr_ge0 /sym_lo maxr_pmulr ?ler0n // le_maxl mulr0 U0 andbT.
  have -> : 2 * ((U * (m l)%:R - S) / (2 * (m l)%:R)) = U - S / (m l)%:R.
    by field; rewrite gt_eqF.
  by rewrite ger_addl oppr_le0 divr_ge0 // ltW.
by rewrite /sym_hi le_minl lexx orbT.
Qed.

Lemma sym_width S l : 0 <= S ->
  width (sym_lo U S) (@sym_hi R L m U S) l = U * (m l)%:R - Num.max (U * (m l)%:R - S) 0.
Proof.
move=> S0; rewrite /width.
have -> : \sum_(j < m l) (sym_hi U S j - sym_lo U S j) = \sum_(j < m l) (U - 2 * sym_lo U S j).
  by apply: eq_bigr => j _; rewrite -(sym_hiE S j); ring.
rewrite sumrB -mulr_sumr sym_lo_sum // sumr_const card_ord mulr_natr; congr (_ - _).
by field.
Qed.

Lemma sym_width_le S l : 0 <= S -> width (sym_lo U S) (@sym_hi R L m U S) l <= S.
Proof.
move=> S0; rewrite sym_width // ler_subl_addr -ler_subl_addl.
by rewrite le_maxr lexx.
Qed.

Lemma nothing_clipped S (x : dataset R m) : (forall l, U * (m l)%:R <= S) -> in_range U x ->
  clipped_mean (sym_lo U S) (@sym_hi R L m U S) x = mean x.
Proof.
move=> wide xr; rewrite /clipped_mean; congr (_ / _); apply: eq_bigr => l _; apply: eq_bigr => j _.
have m0 : (0 < m l)%N by apply: leq_ltn_trans (ltn_ord j).
have lo : sym_lo U S j = 0.
  rewrite /sym_lo max_r // pmulr_lle0 ?invr_gt0 ?mulr_gt0 ?ltr0n // subr_le0; exact: wide.
have hi : sym_hi U S j = U by rewrite -[RHS]subr0 -lo -sym_hiE subKr.
by have /andP [x0 xU] := xr l j; rewrite lo hi /clip max_l // min_l.
Qed.

(* Every clipping has a largest width, hence a worst-case error. *)
Lemma largest_width_exists a b : (0 < \sum_l m l)%N ->
  exists w, @is_largest_width R L m a b w.
Proof.
move=> N0; have [l0 _] : exists l0 : 'I_L, true.
  case: (posnP L) => [L0|L0]; last by exists (Ordinal L0).
  by move: N0; rewrite big1 // => l; have:= ltn_ord l; rewrite [in X in (_ < X)%N]L0.
case: (arg_maxP (P := predT) (i0 := l0) (width a b)) => // l _ lmax.
by exists (width a b l); split=> [|l' _]; [exists l | exact: lmax].
Qed.

(* The error of an estimator is one number, if it has one at all. *)
Lemma bias_unique (g : estimator R m) b b' :
  is_worst_case_bias U g b -> is_worst_case_bias U g b' -> b = b'.
Proof.
move=> [[x xr <-] le_b] [[y yr <-] le_b']; apply: le_anti.
by rewrite (le_b' _ xr) (le_b _ yr).
Qed.

Lemma sensitivity_unique (g : estimator R m) d d' :
  is_sensitivity U g d -> is_sensitivity U g d' -> d = d'.
Proof.
move=> [[x [x' [xr xr' xx <-]]] le_d] [[y [y' [yr yr' yy <-]]] le_d']; apply: le_anti.
by rewrite (le_d' _ _ xr xr' xx) (le_d _ _ yr yr' yy).
Qed.

Lemma error_unique eps (g : estimator R m) e e' :
  is_worst_case_error U eps g e -> is_worst_case_error U eps g e' -> e = e'.
Proof.
move=> [b [d [hb hd ->]]] [b' [d' [hb' hd' ->]]].
by rewrite (bias_unique hb hb') (sensitivity_unique hd hd').
Qed.

(* The frontier of frontier.v is attained, at every S. *)
Theorem frontier_attained S : 0 <= S ->
  is_worst_case_bias U (clipped_mean (sym_lo U S) (@sym_hi R L m U S))
    ((\sum_l Num.max (U * (m l)%:R - S) 0) / (2 * N))
  /\ sensitivity_at_most U (clipped_mean (sym_lo U S) (@sym_hi R L m U S)) (S / N).
Proof.
move=> S0; have cl := symmetric_is_clipping S0; split.
  have := bias_of_clipped_mean cl.
  have -> : \sum_l \sum_(j < m l) (U - sym_hi U S j) = \sum_l \sum_(j < m l) sym_lo U S j.
    by apply: eq_bigr => l _; apply: eq_bigr => j _; rewrite sym_hiE.
  rewrite maxxx (eq_bigr (fun l => Num.max (U * (m l)%:R - S) 0 / 2)) => [|l _]; last first.
    exact: sym_lo_sum.
  by rewrite -mulr_suml -mulrA -invfM.
case: (posnP (\sum_l m l)) => [Z|Npos].
  by move=> x y _ _ _; rewrite /clipped_mean /definitions.N -mulrBl Z invr0 !mulr0 normr0.
have [w wmax] := largest_width_exists (sym_lo U S) (@sym_hi R L m U S) Npos.
have [_ sens] := sensitivity_of_clipped_mean cl wmax.
move=> x y xr yr xy; apply: le_trans (sens x y xr yr xy) _.
apply: ler_wpmul2r; first by rewrite invr_ge0 ler0n.
by case: wmax => [[l _ <-] _]; apply: sym_width_le.
Qed.

Hypothesis Npos : (0 < \sum_l m l)%N.
Let N0 : 0 < N. Proof. by rewrite ltr0n. Qed.

(* phi at S, times 2 N. *)
Lemma phi_bracket eps S : eps != 0 ->
  2 * N * phi m U eps S = \sum_l Num.max (U * (m l)%:R - S) 0 + 2 / eps * S.
Proof. by move=> e0; rewrite /phi; set X := \sum_l _; field; rewrite e0 gt_eqF. Qed.

Lemma E_OPT_bracket eps : 2 * N * E_OPT m U eps = U * sum_of_largest m (2 / eps).
Proof. by rewrite /E_OPT; field; rewrite gt_eqF. Qed.

Lemma by_bracket x y : 2 * N * x <= 2 * N * y -> x <= y.
Proof. by rewrite ler_pmul2l // mulr_gt0 // ltr0n. Qed.

(* A user's total width is at most U m_l, and the sums of both biases add up to what the widths leave. *)
Lemma width_le a b l : is_clipping U a b -> @width R L m a b l <= U * (m l)%:R.
Proof.
move=> cl; have -> : U * (m l)%:R = \sum_(j < m l) U by rewrite sumr_const card_ord mulr_natr.
by apply: ler_sum => j _; case: (cl l j) => h1 h2 h3; linear.
Qed.

Lemma sum_ends a b :
  \sum_l \sum_j a l j + \sum_l \sum_j (U - b l j) = \sum_l (U * (m l)%:R - @width R L m a b l).
Proof.
rewrite -big_split /=; apply: eq_bigr => l _; rewrite -big_split /width /=.
have -> : U * (m l)%:R = \sum_(j < m l) U by rewrite sumr_const card_ord mulr_natr.
by rewrite -sumrB; apply: eq_bigr => j _; ring.
Qed.

(* begin lem-symmetric *)
(* Lemma III.2, repaired: centring all intervals of a clipping, at their widths, does not increase the
   error. *)
Theorem lem_symmetric eps (a b : dataset R m) (e : R) :
  is_clipping U a b -> is_worst_case_error U eps (clipped_mean a b) e ->
  exists a' b' e',
    [/\ is_clipping U a' b', forall l j, b' l j - a' l j = b l j - a l j,
        forall l j, a' l j + b' l j = U,
        is_worst_case_error U eps (clipped_mean a' b') e' & e' <= e].
(* end lem-symmetric *)
Proof.
move=> cl err; have [W lw] := largest_width_exists a b Npos.
pose a' : dataset R m := fun l j => (U - (b l j - a l j)) / 2.
pose b' : dataset R m := fun l j => (U + (b l j - a l j)) / 2.
have width' l j : b' l j - a' l j = b l j - a l j by rewrite /a' /b'; linear.
have cl' : is_clipping U a' b'.
  by move=> l j; case: (cl l j) => h1 h2 h3; rewrite /a' /b'; split; linear.
have lw' : is_largest_width a' b' W.
  have same l : width a' b' l = width a b l by apply: eq_bigr => j _; rewrite width'.
  by case: lw => [[l _ <-] wmax]; split; [exists l | move=> l' _; rewrite same; exact: wmax].
have [_ _ err'] := thm_lemma eps cl' lw'; have [_ _ err2] := thm_lemma eps cl lw.
rewrite (error_unique err err2); exists a', b'; eexists.
split; [exact: cl' | exact: width' | by move=> l j; rewrite /a' /b'; linear | exact: err' |].
rewrite ler_add2r; apply: ler_wpmul2r; first by rewrite invr_ge0 ltW.
set A := \sum_l \sum_j a l j; set B := \sum_l \sum_j (U - b l j).
have -> : \sum_l \sum_j (U - b' l j) = \sum_l \sum_j a' l j.
  by apply: eq_bigr => l _; apply: eq_bigr => j _; rewrite /a' /b'; linear.
rewrite maxxx; have -> : \sum_l \sum_j a' l j = (A + B) / 2.
  rewrite -big_split /= mulr_suml; apply: eq_bigr => l _; rewrite -big_split /= mulr_suml.
  by apply: eq_bigr => j _; rewrite /a'; linear.
by minmax; linear.
Qed.

Lemma phi_le_clipping (a b : dataset R m) S e eps : 0 < eps -> is_clipping U a b -> is_largest_width a b S ->
  is_worst_case_error U eps (clipped_mean a b) e -> phi m U eps S <= e.
Proof.
move=> eps0 cl lw err; have [_ _ err'] := thm_lemma eps cl lw.
rewrite (error_unique err err') {e err err'}; apply: by_bracket.
rewrite phi_bracket ?gt_eqF //; set A := \sum_l \sum_j a l j; set B := \sum_l \sum_j (U - b l j).
have -> : 2 * N * (Num.max A B / N + S / (eps * N)) = 2 * Num.max A B + 2 / eps * S.
  by field; rewrite !gt_eqF.
rewrite ler_add2r; apply: (@le_trans _ _ (A + B)); last by minmax; linear.
rewrite sum_ends; apply: ler_sum => l _; have := width_le l cl.
by case: lw => _ /(_ l I) => h1 h2; minmax; linear.
Qed.

Lemma sym_error eps S : 0 < eps -> 0 <= S -> exists2 e,
  is_worst_case_error U eps (clipped_mean (sym_lo U S) (@sym_hi R L m U S)) e & e <= phi m U eps S.
Proof.
move=> eps0 S0; have cl := symmetric_is_clipping S0.
have [W lw] := largest_width_exists (sym_lo U S) (@sym_hi R L m U S) Npos.
have [bias sens _] := thm_lemma eps cl lw; have [bias' _] := frontier_attained S0.
exists (\sum_l Num.max (U * (m l)%:R - S) 0 / (2 * N) + W / N / eps).
  by rewrite -mulr_suml; eexists; eexists; split; [exact: bias' | exact: sens |].
apply: by_bracket; rewrite phi_bracket ?gt_eqF // -mulr_suml; set X := \sum_l _.
have -> : 2 * N * (X / (2 * N) + W / N / eps) = X + 2 / eps * W by field; rewrite !gt_eqF.
rewrite ler_add2l ler_wpmul2l ?divr_ge0 ?ler0n ?(ltW eps0) //.
by case: lw => [[l _ <-] _]; apply: sym_width_le.
Qed.

(* begin lem-reduction *)
(* Reduction to one width: no clipping of largest total width S has an error below phi S, and the
   symmetric one attains it. *)
Theorem lem_reduction (eps S : R) : 0 < eps ->
  (forall (a b : dataset R m) e, is_clipping U a b -> is_largest_width a b S ->
     is_worst_case_error U eps (clipped_mean a b) e -> phi m U eps S <= e)
  /\ (0 <= S <= v m U 1 ->
        is_worst_case_error U eps (clipped_mean (sym_lo U S) (@sym_hi R L m U S)) (phi m U eps S)).
(* end lem-reduction *)
Proof.
move=> eps0; split; first by move=> a b e; exact: phi_le_clipping.
case/andP => S0 Sv; have [e err le_e] := sym_error eps0 S0.
suff ge_e : phi m U eps S <= e by rewrite (@le_anti _ _ (phi m U eps S) e) // ge_e le_e.
have cl := symmetric_is_clipping S0.
apply: (phi_le_clipping eps0 cl _ err); split; last by move=> l _; exact: sym_width_le.
have [l cE] : exists l, m l = c 0.
  have : c 0 \in [seq m l | l <- enum 'I_L].
    rewrite -(mem_sort geq) mem_nth // size_sort size_map size_enum_ord.
    by case: (posnP L) => // L0; move: Npos; rewrite big1 // => l; have := ltn_ord l; rewrite [X in (_ < X)%N]L0.
  by case/mapP => l _ ->; exists l.
exists l => //; rewrite sym_width // cE -/(v m U 1); rewrite /v /= in Sv *.
by minmax; linear.
Qed.

(* phi S exceeds E_OPT by a sum of terms, none of them negative. *)
Lemma phi_excess eps S : 0 < eps -> 0 <= S ->
  2 * N * (phi m U eps S - E_OPT m U eps) =
  \sum_(i < L) (Num.max (U * (c i)%:R - S) 0 - weight (2 / eps) i * (U * (c i)%:R - S))
  + S * (2 / eps - Num.min L%:R (2 / eps)).
Proof.
move=> eps0 S0; rewrite mulrBr phi_bracket ?gt_eqF // E_OPT_bracket.
rewrite (sum_largest_split m U S) ?divr_ge0 ?ler0n ?(ltW eps0) //.
rewrite (sum_over_sorted m (fun k => Num.max (U * k%:R - S) 0)) sumrB; linear.
Qed.

Lemma excess_term x S i : 0 <= Num.max (U * (c i)%:R - S) 0 - weight x i * (U * (c i)%:R - S).
Proof.
have := weight_ge0 x i; have := weight_le1 x i; set w := weight x i; set d := _ - S => w1 w0.
case: (leP d 0) => d0; first by rewrite subr_ge0 mulr_ge0_le0.
by rewrite subr_ge0 -[leRHS]mul1r; apply: ler_wpmul2r; rewrite // ltW.
Qed.

Lemma E_OPT_le_phi eps S : 0 < eps -> 0 <= S -> E_OPT m U eps <= phi m U eps S.
Proof.
move=> eps0 S0; rewrite -subr_ge0; have P : 0 < 2 * N by rewrite mulr_gt0 // ltr0n.
rewrite -(pmulr_rge0 _ P) phi_excess // addr_ge0 ?sumr_ge0 // => [i _|]; first exact: excess_term.
by rewrite mulr_ge0 // subr_ge0 le_minl lexx orbT.
Qed.

Lemma phi_at_T eps k : 0 < eps -> is_ceil k (2 / eps) -> phi m U eps (v m U k) = E_OPT m U eps.
Proof.
move=> eps0 kc; have P : 2 * N != 0 by rewrite mulf_neq0 ?pnatr_eq0 // gt_eqF.
apply: (mulfI P); rewrite phi_bracket ?gt_eqF // E_OPT_bracket (sum_largest_eq m U0 _ kc) //.
by rewrite divr_gt0 // ltr0n.
Qed.

Lemma is_ceil_pos k (x : R) : 0 < x -> is_ceil k x -> (0 < k)%N.
Proof. by move=> x0 [_ xk]; rewrite -(ltr0n R) (lt_le_trans x0). Qed.

Lemma minimisers eps k S : 0 < eps -> is_ceil k (2 / eps) -> 0 <= S ->
  (phi m U eps S <= E_OPT m U eps <->
   if (2 / eps == k%:R) && (k <= L)%N then v m U k.+1 <= S <= v m U k else S == v m U k).
Proof.
(* phi S - E_OPT is a sum of nonnegative terms (phi_excess): S is a minimiser if and only if each is 0. *)
move=> eps0 kc S0; have x0 : 0 < 2 / eps by rewrite divr_gt0 ?ltr0n.
have k0 := is_ceil_pos x0 kc; move: kc => [kx xk].
have kE : k%:R - 1 = k.-1%:R :> R by rewrite -[in LHS](prednK k0) -addn1 natrD addrK.
set x := 2 / eps in x0 kx xk *; rewrite kE in kx.
have P : 0 < 2 * N by rewrite mulr_gt0 // ltr0n.
have hi i : (i < k.-1)%N -> weight x i = 1.
  move=> ik; rewrite /weight; have : i.+1%:R <= k.-1%:R :> R by rewrite ler_nat.
  by rewrite -addn1 natrD => ik'; minmax; linear.
have lo i : (k <= i)%N -> weight x i = 0.
  move=> ki; rewrite /weight; have : k%:R <= i%:R :> R by rewrite ler_nat.
  by move=> ki'; minmax; linear.
have at_k : weight x k.-1 = x - k.-1%:R by rewrite /weight; minmax; linear.
have last : 0 <= S * (x - Num.min L%:R x).
  by rewrite mulr_ge0 // subr_ge0 le_minl lexx orbT.
have -> : (phi m U eps S <= E_OPT m U eps) =
  ((\sum_(i < L) (Num.max (U * (c i)%:R - S) 0 - weight x i * (U * (c i)%:R - S)) == 0)
  && (S * (x - Num.min L%:R x) == 0)).
  rewrite -subr_le0 -(pmulr_rle0 _ P) phi_excess // -/x.
  rewrite -paddr_eq0 //; last by apply: sumr_ge0 => i _; exact: excess_term.
  by rewrite eq_le addr_ge0 ?andbT //; apply: sumr_ge0 => i _; exact: excess_term.
rewrite psumr_eq0 => [|i _]; last exact: excess_term.
case: (leqP k L) => kL; last first.
  (* 2 / eps is larger than the number of users *)
  have Lk : (L <= k.-1)%N by rewrite -ltnS prednK.
  have Lx : L%:R < x by rewrite (le_lt_trans _ kx) // ler_nat.
  rewrite andbF /v nth_count_beyond // mulr0 min_l ?(ltW Lx) // mulf_eq0.
  rewrite subr_eq0 [x == _]gt_eqF // orbF; split=> [/andP [_ /eqP ->] //|/eqP ->].
  rewrite eqxx andbT; apply/allP => i _; rewrite hi ?(leq_trans (ltn_ord i)) // mul1r subr0.
  by rewrite max_l ?subrr ?eqxx ?mulr_ge0 ?ler0n.
have xL : x <= L%:R by rewrite (le_trans xk) // ler_nat.
rewrite min_r // subrr mulr0 eqxx andbT andbT.
have kL' : (k.-1 < L)%N by rewrite prednK.
have mono i j : (i <= j)%N -> U * (c j)%:R <= U * (c i)%:R.
  by move=> ij; apply: ler_wpmul2l; rewrite // ler_nat nth_count_mono.
split.
  move/allP => zero.
  have z i : (i < L)%N -> Num.max (U * (c i)%:R - S) 0 = weight x i * (U * (c i)%:R - S).
    move=> iL; have := zero (Ordinal iL); rewrite mem_index_enum => /(_ isT) /=.
    by rewrite subr_eq0 => /eqP.
  have zk := z _ kL'; rewrite at_k in zk.
  case: eqP => xE.
    rewrite /v /=; apply/andP; split.
      case: (ltnP k L) => kL2; last by rewrite nth_count_beyond // mulr0.
      by have := z _ kL2; rewrite lo // mul0r => h; minmax; linear.
    by rewrite xE -kE in zk; minmax; linear.
  rewrite /v; have x1 : x - k.-1%:R < 1.
    by have xk' : x < k%:R; [rewrite lt_neqAle xk andbT; apply/eqP | linear].
  apply/eqP; set d := _ - S in zk; suff d0 : d = 0 by rewrite -[S]addr0 -d0 /d addrC subrK.
  set w := x - _ in zk x1 *; have w0 : 0 < w by rewrite /w subr_gt0.
  case: (leP d 0) zk => d0 zk.
    by apply/eqP; have /eqP := esym zk; rewrite mulf_eq0 gt_eqF.
  have : (1 - w) * d == 0 by rewrite mulrBl mul1r -zk subrr.
  by rewrite mulf_eq0 subr_eq0 gt_eqF //= => /eqP.
move=> HS; apply/allP => i _; rewrite subr_eq0; apply/eqP.
have [Slo Shi Sk] : [/\ U * (c k)%:R <= S, S <= U * (c k.-1)%:R
    & x = k%:R \/ S = U * (c k.-1)%:R].
  case: eqP HS => xE; first by case/andP => h1 h2; split=> //; left.
  by move/eqP ->; split; rewrite ?mono ?leq_pred //; right.
case: (ltngtP i k.-1) => ik.
- by rewrite hi // mul1r; have := mono i k.-1 (ltnW ik) => h; minmax; linear.
- have ki : (k <= i)%N by rewrite -(prednK k0).
  by rewrite lo // mul0r; have := mono k i ki => h; minmax; linear.
- rewrite ik at_k; case: Sk => [->|->]; last by rewrite subrr mulr0 maxxx.
  have -> : k%:R - k.-1%:R = 1 :> R by linear.
  by rewrite mul1r; minmax; linear.
Qed.

(* begin thm-frontier *)
(* The frontier: an estimator of sensitivity at most Delta has a bias of at least beta_star Delta on some
   dataset, and the symmetric intervals of total width N Delta attain this, up to Delta = U m* / N; from
   there on beta_star is 0, which the mean attains. *)
Theorem thm_frontier (Delta : R) : 0 <= Delta ->
  let beta_star := (\sum_l Num.max (U * (m l)%:R / N - Delta) 0) / 2 in
  let S := N * Delta in
  [/\ forall g : estimator R m, sensitivity_at_most U g Delta ->
        exists2 x, in_range U x & beta_star <= `|mean x - g x|,
      Delta <= v m U 1 / N ->
        is_worst_case_bias U (clipped_mean (sym_lo U S) (@sym_hi R L m U S)) beta_star
        /\ is_sensitivity U (clipped_mean (sym_lo U S) (@sym_hi R L m U S)) Delta
    & v m U 1 / N <= Delta ->
        [/\ beta_star = 0, is_worst_case_bias U (@mean R L m) 0 & sensitivity_at_most U (@mean R L m) Delta]].
(* end thm-frontier *)
Proof.
move=> D0 beta S; have S0 : 0 <= S by rewrite mulr_ge0 // ltW.
have SD : Delta = S / N by rewrite /S mulrAC divff ?mul1r // gt_eqF.
have betaE : beta = (\sum_l Num.max (U * (m l)%:R - S) 0) / (2 * N).
  rewrite /beta invfM [2^-1 * _]mulrC mulrA; congr (_ / _); rewrite mulr_suml; apply: eq_bigr => l _.
  by rewrite maxr_pmull ?invr_ge0 ?(ltW N0) // mul0r mulrBl -SD.
split=> [g sens|le_v|v_le].
- by rewrite betaE; apply: (frontier U0 Npos); rewrite -SD.
- have [bias _] := frontier_attained S0; rewrite betaE; split=> //.
  have [l lE] := first_count Npos; rewrite SD.
  apply: (sensitivity_of_clipped_mean (symmetric_is_clipping S0)); split; last by move=> l' _; exact: sym_width_le.
  exists l => //; rewrite sym_width // lE.
  have : S <= U * (c 0)%:R by move: le_v; rewrite /v SD ler_pmul2r ?invr_gt0.
  by move=> h; minmax; linear.
- have wide l : U * (m l)%:R <= S.
    apply: le_trans (_ : U * (c 0)%:R <= _); first by apply: ler_wpmul2l; rewrite // ler_nat le_first_count.
    by move: v_le; rewrite /v SD ler_pmul2r ?invr_gt0.
  split; first by rewrite betaE big1 ?mul0r // => l _; rewrite max_r // subr_le0.
    split=> [|x _]; last by rewrite subrr normr0.
    by exists (fun _ _ => 0) => [l j|]; rewrite ?lexx // subrr normr0.
  have [_ sens] := frontier_attained S0; rewrite SD => x y xr yr; have := sens x y xr yr.
  by rewrite !nothing_clipped.
Qed.

(* begin thm-main *)
(* Theorem III.1 with all minimising widths: the symmetric intervals of total width v k, where
   k = ceil (2 / eps), are the best clipping; and the widths that minimise phi are v k alone, or all
   of [v (k + 1), v k] if 2 / eps is the whole number k <= L. *)
Theorem thm_main (eps : R) (k : nat) : 0 < eps -> is_ceil k (2 / eps) ->
  let T := v m U k in
  (exists2 e, is_worst_case_error U eps (clipped_mean (sym_lo U T) (@sym_hi R L m U T)) e
     & forall (a b : dataset R m) e', is_clipping U a b ->
         is_worst_case_error U eps (clipped_mean a b) e' -> e <= e')
  /\ (forall S, 0 <= S ->
        (forall S', 0 <= S' -> phi m U eps S <= phi m U eps S') <->
        if (2 / eps == k%:R) && (k <= L)%N then v m U k.+1 <= S <= v m U k else S == v m U k).
(* end thm-main *)
Proof.
move=> eps0 kc T; have T0 : 0 <= T by rewrite mulr_ge0 // ler0n.
have min_T : phi m U eps T = E_OPT m U eps := phi_at_T eps0 kc.
split.
  have [e err le_e] := sym_error eps0 T0; exists e => // a b e' cl err'.
  have [S lw] := largest_width_exists a b Npos.
  apply: le_trans le_e _; apply: le_trans (phi_le_clipping eps0 cl lw err').
  rewrite min_T; apply: E_OPT_le_phi => //.
  by case: lw => [[l _ <-] _]; apply: sumr_ge0 => j _; case: (cl l j) => h1 h2 h3; linear.
move=> S S0; rewrite -(minimisers eps0 kc S0); split=> [/(_ T T0)|le_S S' S0'].
  by rewrite min_T.
exact: le_trans le_S (E_OPT_le_phi eps0 S0').
Qed.

(* begin prp-all-minimisers *)
(* Which clippings are best: those whose largest total width S minimises phi, in which every user has
   all the width that S allows, and in which A = B. *)
Theorem prp_all_minimisers (eps : R) (k : nat) (a b : dataset R m) (S e : R) :
  0 < eps -> is_ceil k (2 / eps) -> is_clipping U a b -> is_largest_width a b S ->
  is_worst_case_error U eps (clipped_mean a b) e ->
  (forall (a' b' : dataset R m) e', is_clipping U a' b' ->
     is_worst_case_error U eps (clipped_mean a' b') e' -> e <= e') <->
  [/\ forall S', 0 <= S' -> phi m U eps S <= phi m U eps S',
      forall l, width a b l = Num.min S (U * (m l)%:R)
    & \sum_l \sum_j a l j = \sum_l \sum_j (U - b l j)].
(* end prp-all-minimisers *)
Proof.
(* A clipping's error exceeds phi by terms for what its users lack in width and for half of |A - B|: it is
   E_OPT if and only if these are 0 and S minimises phi. *)
move=> eps0 kc cl lw err; have [_ _ err'] := thm_lemma eps cl lw.
rewrite (error_unique err err') {e err err'}.
set A := \sum_l \sum_j a l j; set B := \sum_l \sum_j (U - b l j).
set e := Num.max A B / N + S / (eps * N).
have S0 : 0 <= S by case: lw => [[l _ <-] _]; apply: sumr_ge0 => j _; case: (cl l j) => h1 h2 h3; linear.
pose X := \sum_l Num.max (U * (m l)%:R - S) 0.
have gap l : 0 <= U * (m l)%:R - width a b l - Num.max (U * (m l)%:R - S) 0.
  by have := width_le l cl; case: lw => _ /(_ l I) => h1 h2; minmax; linear.
have gapE : \sum_l (U * (m l)%:R - width a b l - Num.max (U * (m l)%:R - S) 0) = A + B - X.
  by rewrite sumrB -sum_ends.
have eE : 2 * N * e = 2 * Num.max A B + 2 / eps * S by rewrite /e; field; rewrite !gt_eqF.
have phiE : 2 * N * phi m U eps S = X + 2 / eps * S by rewrite phi_bracket ?gt_eqF.
have T0 : 0 <= v m U k by rewrite mulr_ge0 // ler0n.
have -> : (forall (a' b' : dataset R m) e', is_clipping U a' b' ->
      is_worst_case_error U eps (clipped_mean a' b') e' -> e <= e') <-> e <= E_OPT m U eps.
  split=> [best|le_e a' b' e' cl' err].
    have [e' err le_e'] := sym_error eps0 T0; rewrite (phi_at_T eps0 kc) in le_e'.
    exact: le_trans (best _ _ _ (symmetric_is_clipping T0) err) le_e'.
  have [S' lw'] := largest_width_exists a' b' Npos.
  apply: le_trans le_e _; apply: le_trans (phi_le_clipping eps0 cl' lw' err).
  apply: E_OPT_le_phi => //; case: lw' => [[l _ <-] _]; apply: sumr_ge0 => j _.
  by case: (cl' l j) => h1 h2 h3; linear.
have P : 0 < 2 * N by rewrite mulr_gt0 // ltr0n.
split=> [le_e|[S_min Wl AB]]; last first.
  apply: le_trans (_ : phi m U eps S <= _); last by rewrite -(phi_at_T eps0 kc) S_min.
  apply: by_bracket; rewrite eE phiE ler_add2r -AB maxxx.
  have := gapE; rewrite big1 => [|l _]; first by rewrite -AB => h; linear.
  by rewrite Wl; minmax; linear.
have low := E_OPT_le_phi eps0 S0; have up : 2 * N * e <= 2 * N * phi m U eps S.
  by rewrite ler_pmul2l // (le_trans le_e).
rewrite eE phiE ler_add2r in up.
have gap_sum : \sum_l (U * (m l)%:R - width a b l - Num.max (U * (m l)%:R - S) 0) = 0.
  apply: le_anti; rewrite gapE [X in _ && X]subr_ge0; apply/andP; split; first by minmax; linear.
  by rewrite -subr_ge0 -gapE sumr_ge0.
split.
- move=> S' S0'; apply: (le_trans _ (E_OPT_le_phi eps0 S0')).
  apply: le_trans le_e; apply: by_bracket; rewrite eE phiE ler_add2r.
  by rewrite gapE in gap_sum; minmax; linear.
- move=> l; move/eqP: gap_sum; rewrite psumr_eq0 // => /allP /(_ l).
  by rewrite mem_index_enum => /(_ isT) /= /eqP => h; minmax; linear.
- by rewrite gapE in gap_sum; minmax; linear.
Qed.

(* begin prp-all-minimisers-printed *)
(* With the bias as printed: the same widths, and every single interval is centred in [0, U]. *)
Theorem printed_minimisers (eps : R) (k : nat) (a b : dataset R m) (S : R) :
  0 < eps -> is_ceil k (2 / eps) -> is_clipping U a b -> is_largest_width a b S ->
  (forall (a' b' : dataset R m) S', is_clipping U a' b' -> is_largest_width a' b' S' ->
     printed_bias U a b + S / (eps * N) <= printed_bias U a' b' + S' / (eps * N)) <->
  [/\ forall S', 0 <= S' -> phi m U eps S <= phi m U eps S',
      forall l, width a b l = Num.min S (U * (m l)%:R)
    & forall l j, a l j + b l j = U].
(* end prp-all-minimisers-printed *)
Proof.
(* The printed bias is at least the true one, and equal to it if every interval is centred.  So both errors
   have the smallest value E_OPT, and a minimiser of the printed error minimises the true one, with
   equality. *)
move=> eps0 kc cl lw; have [_ _ err] := thm_lemma eps cl lw.
have all := prp_all_minimisers eps0 kc cl lw err.
have [/andP [true_le _] sign] := thm_printed Npos cl.
split=> [best|[S_min Wl mid]]; last first.
  have AB : \sum_l \sum_j a l j = \sum_l \sum_j (U - b l j).
    by apply: eq_bigr => l _; apply: eq_bigr => j _; rewrite -(mid l j) addrK.
  have -> : printed_bias U a b = Num.max (\sum_l \sum_j a l j) (\sum_l \sum_j (U - b l j)) / N.
    by apply/sign; left=> l j; rewrite -(mid l j) addrK.
  move=> a' b' S' cl' lw'; have [_ _ err'] := thm_lemma eps cl' lw'.
  apply: le_trans (proj2 all (And3 S_min Wl AB) _ _ _ cl' err') _; rewrite ler_add2r.
  by have [/andP []] := thm_printed Npos cl'.
have T0 : 0 <= v m U k by rewrite mulr_ge0 // ler0n.
have clT := symmetric_is_clipping T0.
have [ST lwT] := largest_width_exists (sym_lo U (v m U k)) (@sym_hi R L m U (v m U k)) Npos.
have [[eT errT bestT] _] := thm_main eps0 kc; have [_ _ errT'] := thm_lemma eps clT lwT.
have le_eT : printed_bias U a b + S / (eps * N) <= eT.
  apply: le_trans (best _ _ _ clT lwT) _; rewrite (error_unique errT errT') ler_add2r.
  have [_ sym_sign] := thm_printed Npos clT; rewrite (proj2 sym_sign) //.
  by left=> l j; rewrite sym_hiE.
have [S_min Wl AB] : [/\ forall S', 0 <= S' -> phi m U eps S <= phi m U eps S',
    forall l, width a b l = Num.min S (U * (m l)%:R) & \sum_l \sum_j a l j = \sum_l \sum_j (U - b l j)].
  apply/all => a' b' e' cl' err'; apply: le_trans (bestT _ _ _ cl' err'); apply: le_trans le_eT.
  by rewrite ler_add2r.
split=> // l j.
have : printed_bias U a b <= Num.max (\sum_l \sum_j a l j) (\sum_l \sum_j (U - b l j)) / N.
  by have := le_trans le_eT (bestT _ _ _ cl err); rewrite ler_add2r.
rewrite ler_pmul2r ?invr_gt0 // -AB maxxx => P_le.
pose d l j := Num.max (a l j) (U - b l j) - (a l j + (U - b l j)) / 2.
have d0 l' j' : 0 <= d l' j' by rewrite /d; minmax; linear.
have split_P : \sum_l \sum_j Num.max (a l j) (U - b l j)
    = \sum_l \sum_j d l j + (\sum_l \sum_j a l j) / 2 + (\sum_l \sum_j (U - b l j)) / 2.
  rewrite !mulr_suml -!big_split; apply: eq_bigr => l' _ /=.
  rewrite !mulr_suml -!big_split; apply: eq_bigr => j' _ /=; rewrite /d.
  by move: (Num.max _ _) => M; linear.
have sums0 l' : 0 <= \sum_j d l' j by apply: sumr_ge0 => j' _; exact: d0.
have : \sum_l \sum_j d l j == 0.
  rewrite eq_le; apply/andP; split; last by apply: sumr_ge0 => l' _; exact: sums0.
  by move: P_le; rewrite split_P -AB => h; linear.
rewrite psumr_eq0 => [/allP /(_ l)|l' _]; last exact: sums0.
rewrite mem_index_enum => /(_ isT) /=; rewrite psumr_eq0 => [/allP /(_ j)|j' _]; last exact: d0.
by rewrite mem_index_enum => /(_ isT) /= /eqP; rewrite /d => h; minmax; linear.
Qed.

(* begin thm-optimum cor-modulus-mean *)
(* (12), repaired, in closed form: the error of the best clipping is phi at v k and is U / (2 N) H (2 /
   eps).  No estimator at all has a smaller one, whether or not its bias beta and its sensitivity delta are
   attained.  It is U / 2 for eps <= 2 / L, falls strictly from there on, and is U m* / (N eps) for eps >=
   2, where nothing is clipped. *)
Theorem thm_optimum (eps : R) (k : nat) : 0 < eps -> is_ceil k (2 / eps) ->
  let T := v m U k in
  [/\ is_worst_case_error U eps (clipped_mean (sym_lo U T) (@sym_hi R L m U T)) (E_OPT m U eps),
      E_OPT m U eps = (\sum_l Num.max ((U * (m l)%:R - T) / 2) 0 + T / eps) / N
    & forall (g : estimator R m) beta delta, (forall x, in_range U x -> `|mean x - g x| <= beta) ->
        sensitivity_at_most U g delta -> E_OPT m U eps <= beta + delta / eps]
  /\ [/\ L%:R <= 2 / eps -> E_OPT m U eps = U / 2,
         0 < U -> (forall l, 0 < m l)%N ->
           forall eps', eps < eps' -> 2 / eps <= L%:R -> E_OPT m U eps' < E_OPT m U eps
       & 2 <= eps -> E_OPT m U eps = v m U 1 / (N * eps) /\ forall x, in_range U x ->
           clipped_mean (sym_lo U T) (@sym_hi R L m U T) x = mean x].
(* end thm-optimum cor-modulus-mean *)
Proof.
move=> eps0 kc T; have T0 : 0 <= T by rewrite mulr_ge0 // ler0n.
have min_T : phi m U eps T = E_OPT m U eps := phi_at_T eps0 kc.
have [l0 l0E] := first_count Npos.
have E_le (g : estimator R m) beta delta : (forall x, in_range U x -> `|mean x - g x| <= beta) ->
    sensitivity_at_most U g delta -> E_OPT m U eps <= beta + delta / eps.
  move=> bias sens; pose zeros : dataset R m := fun _ _ => 0.
  have zeros_in : in_range U zeros by move=> l j; rewrite lexx U0.
  have d0 : 0 <= delta by have := sens _ _ zeros_in zeros_in; rewrite subrr normr0; apply; exists l0.
  have sens' : sensitivity_at_most U g (N * delta / N) by rewrite mulrAC divff ?gt_eqF // mul1r.
  have [z zr hz] := frontier U0 Npos sens'.
  apply: le_trans (E_OPT_le_phi eps0 (mulr_ge0 (ltW N0) d0)) _; apply: by_bracket.
  rewrite phi_bracket ?gt_eqF //; set X := \sum_l _ in hz *.
  have {}hz : X / (2 * N) <= beta by apply: le_trans hz (bias _ zr).
  have P : 0 < 2 * N by rewrite mulr_gt0 // ltr0n.
  rewrite ler_pdivr_mulr // in hz.
  have -> : 2 * N * (beta + delta / eps) = beta * (2 * N) + 2 / eps * (N * delta).
    by field; rewrite gt_eqF.
  by rewrite ler_add2r.
split; split=> //.
- have [e err le_e] := sym_error eps0 T0; rewrite min_T in le_e.
  suff ge_e : E_OPT m U eps <= e by rewrite (@le_anti _ _ (E_OPT m U eps) e) // ge_e.
  by case: err => beta [delta [[_ bias] [_ sens] ->]]; apply: E_le bias sens.
- rewrite -min_T /phi mulr_suml; congr ((_ + _) / _); apply: eq_bigr => l _; minmax; linear.
- move=> Lx; rewrite /E_OPT sum_largest_all //; by field; rewrite gt_eqF.
- move=> Upos m0 eps' lt_eps le_L; have eps0' := lt_trans eps0 lt_eps; rewrite /E_OPT ltr_pmul2l ?divr_gt0 ?mulr_gt0 ?ltr0n //.
  have lt_x : 2 / eps' < 2 / eps by rewrite ltr_pmul2l ?ltr0n // ltf_pinv ?posrE.
  rewrite -subr_gt0; apply: lt_le_trans (sum_largest_grows m0 _ (ltW lt_x) le_L); first by rewrite subr_gt0.
  by rewrite divr_ge0 ?ler0n // ltW.
- move=> eps2; have le1 : 2 / eps <= 1 by rewrite ler_pdivr_mulr // mul1r.
  split; first by rewrite /E_OPT sum_largest_first ?divr_ge0 ?ler0n ?(ltW eps0) // /v /=; field; rewrite !gt_eqF.
  move=> x; apply: nothing_clipped => // l; apply: ler_wpmul2l; rewrite // ler_nat /T.
  suff -> : k = 1%N by exact: le_first_count.
  have x0 : 0 < 2 / eps by rewrite divr_gt0 ?ltr0n.
  have k0 := is_ceil_pos x0 kc; case: kc => k_lt _.
  have : k%:R < 2 :> R by linear.
  by rewrite ltr_nat; case: (k) k0 => [|[|]].
Qed.

End Optimum.
