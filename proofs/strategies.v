(* What people do instead of clipping around the middle: drop, cap, winsorise and shrink, exactly. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts lemma frontier weighing shipped.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Strategies.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).
Notation N := (N R m).
Notation m_star := (nth_count m 0).

(* begin def-strategies *)
(* All samples projected to one interval [a, b]; the mean, moved towards the middle. *)
Definition winsorised (a b : R) : estimator R m := clipped_mean (fun _ _ => a) (fun _ _ => b).
Definition shrunk (lambda : R) : estimator R m := fun x => U / 2 + lambda * (mean x - U / 2).
(* end def-strategies *)

Hypothesis U0 : 0 < U.
Hypothesis m0 : forall l, (0 < m l)%N.
Hypothesis Npos : (0 < \sum_l m l)%N.

Let N0 : 0 < N. Proof. by rewrite ltr0n. Qed.
Let inv_N : 0 <= N^-1. Proof. by rewrite invr_ge0 ltW. Qed.

(* begin prp-strategies-drop *)
(* Drop all but min (m l, k) samples of each user, whichever, and take the mean of those kept. *)
Theorem strategy_drop (k : nat) (kept : forall l, {set 'I_(m l)}) :
  (0 < k)%N -> (forall l, #|kept l| = w m k l) ->
  is_worst_case_bias U (dropping k kept) (U * (N - N_k R m k) / N)
  /\ is_sensitivity U (dropping k kept) (U * (minn m_star k)%:R / N_k R m k).
(* end prp-strategies-drop *)
Proof.
pose j := minn m_star k => k0 size_kept; have [l0 l0E] := first_count Npos.
have wE l : w m j l = w m k l by rewrite /w /j minnA (minn_idPl (le_first_count m l)).
have NE : N_k R m j = N_k R m k by rewrite /N_k (eq_bigr _ (fun l _ => wE l)).
have j_ok : (0 < j <= m_star)%N by rewrite geq_minl andbT leq_min k0 -l0E m0.
have sizes l : #|kept l| = w m j l by rewrite wE.
have [_ sens _ bias _] := thm_weighing U0 m0 j_ok Npos sizes.
have Nk := Nk_pos R m0 j_ok Npos.
move: sens bias; rewrite /dropping /T_k NE => sens bias; split=> //.
suff -> : U * j%:R / N_k R m k = U * j%:R * N / N_k R m k / N by [].
by field; rewrite -{1}NE !gt_eqF.
Qed.

(* begin prp-strategies-cap *)
(* Cap each user's sum at T. *)
Theorem strategy_cap (T : R) : 0 <= T ->
  is_worst_case_bias U (@capped_mean R L m T) ((\sum_l Num.max (U * (m l)%:R - T) 0) / N)
  /\ is_sensitivity U (@capped_mean R L m T) (Num.min T (U * m_star%:R) / N).
(* end prp-strategies-cap *)
Proof.
move=> T0; have [_ _ bias] := capped_sums_attain (ltW U0) Npos (divr_ge0 T0 (ltW N0)).
split.
  move: bias; rewrite [N * _]mulrC divfK ?gt_eqF //.
  suff -> : \sum_l Num.max (U * (m l)%:R / N - T / N) 0 = (\sum_l Num.max (U * (m l)%:R - T) 0) / N by [].
  by rewrite mulr_suml; apply: eq_bigr => l _; rewrite maxr_pmull // mul0r mulrBl.
have diff (x y : dataset R m) l : (forall l', l' != l -> forall j, x l' j = y l' j) ->
    capped_mean T x - capped_mean T y = (Num.min (sums x l) T - Num.min (sums y l) T) / N.
  move=> xy; rewrite /capped_mean -mulrBl; congr (_ / _); rewrite -sumrB (bigD1 l) //= big1 ?addr0 //.
  move=> l' ll'; rewrite (_ : sums x l' = sums y l') ?subrr //.
  by apply: eq_bigr => j _; exact: xy.
have size (X : R) : `|X / N| = `|X| / N by rewrite normrM [`|N^-1|]ger0_norm.
have [l0 l0E] := first_count Npos; split.
  exists (fun l _ => if l == l0 then U else 0), (fun _ _ => 0); split.
  - by move=> l j; case: ifP => _; rewrite lexx (ltW U0).
  - by move=> l j; rewrite lexx (ltW U0).
  - by exists l0 => l /negbTE ->.
  rewrite (diff _ _ l0) => [|l /negbTE -> //]; rewrite size; congr (_ / _).
  rewrite /sums eqxx sumr_const card_ord big1 // -[U *+ _]mulr_natr l0E.
  have : 0 <= U * m_star%:R by rewrite mulr_ge0 ?ler0n ?ltW.
  by move=> top; rewrite (min_l T0) subr0 ger0_norm 1?minC //; minmax; linear.
move=> x y xr yr [l xy]; rewrite (diff _ _ _ xy) size; apply: ler_wpmul2r => //.
have top : U * (m l)%:R <= U * m_star%:R by rewrite ler_pmul2l // ler_nat le_first_count.
have := sums_ge0 l xr; have := sums_le l xr; have := sums_ge0 l yr; have := sums_le l yr.
by move: (sums x l) (sums y l) => s t s1 s2 s3 s4; rewrite ler_norml; minmax; linear.
Qed.

(* begin prp-strategies-winsorise *)
(* Project all samples to one interval: for its width b - a, the bias is least if a + b = U. *)
Theorem strategy_winsorise (a b : R) : 0 <= a -> a <= b -> b <= U ->
  [/\ is_worst_case_bias U (winsorised a b) (Num.max a (U - b)),
      is_sensitivity U (winsorised a b) ((b - a) * m_star%:R / N)
    & (U - (b - a)) / 2 <= Num.max a (U - b)
      /\ (Num.max a (U - b) = (U - (b - a)) / 2 <-> a + b = U)].
(* end prp-strategies-winsorise *)
Proof.
move=> a0 ab bU; pose A : dataset R m := fun _ _ => a; pose B : dataset R m := fun _ _ => b.
have cl : is_clipping U A B by [].
have widthE l : width A B l = (b - a) * (m l)%:R by rewrite /width /A /B sumr_const card_ord mulr_natr.
have lw : is_largest_width A B ((b - a) * m_star%:R).
  have [l lE] := first_count Npos; split=> [|l' _]; first by exists l; rewrite // widthE lE.
  by rewrite widthE ler_wpmul2l ?subr_ge0 // ler_nat le_first_count.
have [bias sens _] := thm_lemma 1 cl lw; split=> //.
  have all z : \sum_l \sum_(j < m l) z = z * N.
    by rewrite /definitions.N natr_sum mulr_sumr; apply: eq_bigr => l _; rewrite sumr_const card_ord mulr_natr.
  by move: bias; rewrite /A /B /= (all a) (all (U - b)) -maxr_pmull ?(ltW N0) // mulfK ?gt_eqF.
by split; [minmax; linear | split; minmax; linear].
Qed.

(* begin prp-strategies-shrink *)
(* Shrink the mean towards the middle: bias and sensitivity are those of winsorising to the interval of
   width lambda U in the middle. *)
Theorem strategy_shrink (lambda : R) : 0 <= lambda <= 1 ->
  let beta := (1 - lambda) * U / 2 in
  let delta := lambda * U * m_star%:R / N in
  let symmetric := winsorised ((U - lambda * U) / 2) ((U + lambda * U) / 2) in
  [/\ is_worst_case_bias U (shrunk lambda) beta, is_sensitivity U (shrunk lambda) delta
    & is_worst_case_bias U symmetric beta /\ is_sensitivity U symmetric delta].
(* end prp-strategies-shrink *)
Proof.
case/andP => l0 l1 beta delta symmetric.
have lU : lambda * U <= U by rewrite ler_pimull // ltW.
have lU0 : 0 <= lambda * U by rewrite mulr_ge0 // ltW.
have [a0 ab bU] : [/\ 0 <= (U - lambda * U) / 2, (U - lambda * U) / 2 <= (U + lambda * U) / 2
  & (U + lambda * U) / 2 <= U].
  by split; linear.
have [bias sens _] := strategy_winsorise a0 ab bU.
have betaE : Num.max ((U - lambda * U) / 2) (U - (U + lambda * U) / 2) = beta by rewrite /beta; minmax; linear.
have deltaE : ((U + lambda * U) / 2 - (U - lambda * U) / 2) * m_star%:R / N = delta.
  by rewrite /delta; congr (_ * _ / _); linear.
rewrite betaE deltaE in bias sens; split=> //.
  have flat z : mean ((fun _ _ => z) : dataset R m) = z.
    rewrite /mean (eq_bigr (fun l => z * (m l)%:R)) => [|l _]; last by rewrite sumr_const card_ord mulr_natr.
    by rewrite -mulr_sumr -natr_sum mulfK // gt_eqF.
  have gap x : mean x - shrunk lambda x = (1 - lambda) * (mean x - U / 2) by rewrite /shrunk; ring.
  have r0 : 0 <= 1 - lambda by linear.
  split=> [|x xr].
    exists (fun _ _ => U) => [l j|]; first by rewrite lexx ltW.
    rewrite gap flat /beta normrM ger0_norm // -mulrA; congr (_ * _).
    by rewrite ger0_norm; linear.
  rewrite gap normrM ger0_norm // /beta -mulrA; apply: ler_wpmul2l => //.
  have [m0' mU] : 0 <= mean x /\ mean x <= U.
    split; first by apply: divr_ge0 (ltW N0); apply: sumr_ge0 => l _; apply: sumr_ge0 => j _; case/andP: (xr l j).
    rewrite -[U in leRHS](flat U) /mean; apply: ler_wpmul2r => //.
    by apply: ler_sum => l _; apply: ler_sum => j _; case/andP: (xr l j).
  by rewrite ler_norml; linear.
have [[x [y [xr yr xy d]]] most] := @mean_sensitivity R L m U (ltW U0) Npos.
have gap z t : `|shrunk lambda z - shrunk lambda t| = lambda * `|mean z - mean t|.
  by rewrite -[lambda in RHS](ger0_norm l0) -normrM; congr `|_|; rewrite /shrunk; ring.
have deltaE' : delta = lambda * (v m U 1 / N) by rewrite /delta /v /=; ring.
split; first by exists x, y; split=> //; rewrite gap d.
by move=> z t zr tr zt; rewrite gap deltaE'; apply: ler_wpmul2l => //; exact: most.
Qed.
End Strategies.
