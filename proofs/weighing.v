(* Weighing users by capped counts beats dropping samples, in bias, at the same sensitivity. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts lemma frontier.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Weighing.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R) (k : nat).
Notation N := (N R m).

(* begin def-weighing *)
(* Dropping keeps min (m l, k) samples of user l, whichever; weighing takes each user's average with
   the weight min (m l, k).  Both divide by N_k, the sum of these. *)
Definition w (l : 'I_L) : nat := minn (m l) k.
Definition N_k : R := (\sum_l w l)%:R.
Definition dropping (kept : forall l, {set 'I_(m l)}) : estimator R m :=
  fun x => (\sum_l \sum_(j in kept l) x l j) / N_k.
Definition weighing : estimator R m :=
  fun x => (\sum_l (w l)%:R * ((\sum_j x l j) / (m l)%:R)) / N_k.
Definition T_k : R := U * k%:R * N / N_k.
(* end def-weighing *)

Hypothesis U0 : 0 < U.
Hypothesis m0 : forall l, (0 < m l)%N.
Hypothesis k_le : (0 < k <= nth_count m 0)%N.
Hypothesis Npos : (0 < \sum_l m l)%N.
Variable kept : forall l, {set 'I_(m l)}.
Hypothesis size_kept : forall l, #|kept l| = w l.

Let N0 : 0 < N. Proof. by rewrite ltr0n. Qed.

Lemma w_pos l : 0 < (w l)%:R :> R.
Proof. by rewrite ltr0n leq_min m0; case/andP: k_le. Qed.

Lemma Nk_pos : 0 < N_k.
Proof.
have [l _] := first_count Npos; rewrite /N_k natr_sum (bigD1 l) //= ltr_paddr ?w_pos //.
by apply: sumr_ge0 => l' _; rewrite ler0n.
Qed.

Lemma Nk_le : N_k <= N.
Proof. by rewrite ler_nat; apply: leq_sum => l _; exact: geq_minl. Qed.

Let heaviest : exists2 l, m l = nth_count m 0 & w l = k.
Proof.
have [l lE] := first_count Npos; exists l => //; rewrite /w lE; apply/minn_idPr.
by case/andP: k_le.
Qed.

Lemma average_range (x : dataset R m) l : in_range U x -> 0 <= (\sum_j x l j) / (m l)%:R <= U.
Proof.
move=> xr; have mR : 0 < (m l)%:R :> R by rewrite ltr0n.
rewrite divr_ge0 ?(ltW mR) ?sumr_ge0 //= => [|j _]; last by case/andP: (xr l j).
rewrite ler_pdivr_mulr // mulr_natr -[m l in leRHS]card_ord -sumr_const.
by apply: ler_sum => j _; case/andP: (xr l j).
Qed.

Lemma norm_div (X : R) : `|X / N_k| = `|X| / N_k.
Proof. by rewrite normrM [`|N_k^-1|]ger0_norm // invr_ge0 ltW ?Nk_pos. Qed.

Lemma sensitivity_weighing : is_sensitivity U weighing (T_k / N).
Proof.
have -> : T_k / N = U * k%:R / N_k by rewrite /T_k mulrAC mulfK // gt_eqF.
have Nk := Nk_pos; have diff (x y : dataset R m) l : (forall l', l' != l -> forall j, x l' j = y l' j) ->
    weighing x - weighing y = (w l)%:R * ((\sum_j x l j) / (m l)%:R - (\sum_j y l j) / (m l)%:R) / N_k.
  move=> xy; rewrite /weighing -[LHS]mulrBl; congr (_ / _); rewrite -[LHS]sumrB (bigD1 l) //= [X in _ + X]big1 ?addr0 ?mulrBr //.
  move=> l' ll'; rewrite (eq_bigr (y l')) ?subrr // => j _; exact: xy.
split; last first.
  move=> x y xr yr [l xy]; rewrite (diff _ _ _ xy) norm_div; apply: ler_wpmul2r; first by rewrite invr_ge0 ltW.
  rewrite normrM ger0_norm ?ler0n // mulrC.
  have wk : (w l)%:R <= k%:R :> R by rewrite ler_nat geq_minr.
  apply: ler_pmul; rewrite ?normr_ge0 ?ler0n //.
  by have := average_range l xr; have := average_range l yr => h1 h2; rewrite ler_norml; linear.
have [l lE wE] := heaviest.
exists (fun l' _ => if l' == l then U else 0), (fun _ _ => 0); split.
- by move=> l' j; case: ifP => _; rewrite lexx (ltW U0).
- by move=> l' j; rewrite lexx (ltW U0).
- by exists l => l' /negbTE ->.
rewrite (diff _ _ l) => [|l' /negbTE -> //]; rewrite eqxx norm_div; congr (_ / _).
rewrite sumr_const card_ord [\sum_(j < m l) 0]big1 // mul0r subr0 -[U *+ _]mulr_natr mulfK; last first.
  by rewrite pnatr_eq0 -lt0n.
by rewrite wE mulrC ger0_norm // mulr_ge0 ?ler0n // ltW.
Qed.

Lemma kept_range (x : dataset R m) l : in_range U x ->
  0 <= \sum_(j in kept l) x l j <= U * (w l)%:R.
Proof.
move=> xr; rewrite sumr_ge0 => [|j _]; last by case/andP: (xr l j).
rewrite mulr_natr -size_kept -sumr_const; apply: ler_sum => j _; by case/andP: (xr l j).
Qed.

Lemma sensitivity_dropping : is_sensitivity U (dropping kept) (T_k / N).
Proof.
have -> : T_k / N = U * k%:R / N_k by rewrite /T_k mulrAC mulfK // gt_eqF.
have Nk := Nk_pos; have diff (x y : dataset R m) l : (forall l', l' != l -> forall j, x l' j = y l' j) ->
    dropping kept x - dropping kept y = (\sum_(j in kept l) x l j - \sum_(j in kept l) y l j) / N_k.
  move=> xy; rewrite /dropping -[LHS]mulrBl; congr (_ / _); rewrite -[LHS]sumrB (bigD1 l) //= [X in _ + X]big1 ?addr0 //.
  move=> l' ll'; rewrite (eq_bigr (y l')) ?subrr // => j _; exact: xy.
split; last first.
  move=> x y xr yr [l xy]; rewrite (diff _ _ _ xy) norm_div; apply: ler_wpmul2r; first by rewrite invr_ge0 ltW.
  have wk : (w l)%:R <= k%:R :> R by rewrite ler_nat geq_minr.
  have := ler_wpmul2l (ltW U0) wk; have := kept_range l xr; have := kept_range l yr => h1 h2 h3.
  by rewrite ler_norml; linear.
have [l lE wE] := heaviest.
exists (fun l' _ => if l' == l then U else 0), (fun _ _ => 0); split.
- by move=> l' j; case: ifP => _; rewrite lexx (ltW U0).
- by move=> l' j; rewrite lexx (ltW U0).
- by exists l => l' /negbTE ->.
rewrite (diff _ _ l) => [|l' /negbTE -> //]; rewrite eqxx norm_div; congr (_ / _).
rewrite sumr_const size_kept [\sum_(j in kept l) 0]big1 // subr0 wE -[U *+ _]mulr_natr.
by rewrite ger0_norm // mulr_ge0 ?ler0n // ltW.
Qed.

(* What weighing lacks in the weight of user l's average. *)
Let a (l : 'I_L) : R := (m l)%:R / N - (w l)%:R / N_k.

Lemma a_sum : \sum_l a l = 0.
Proof.
rewrite sumrB -!mulr_suml -!natr_sum -[(\sum_l m l)%:R]/N -[(\sum_l w l)%:R]/N_k.
by rewrite !divff ?subrr // gt_eqF ?Nk_pos.
Qed.

Lemma a_positive l : U * Num.max (a l) 0 = Num.max (U * (m l)%:R - T_k) 0 / N.
Proof.
have Nk := Nk_pos; have le_N := Nk_le; rewrite maxr_pmulr ?(ltW U0) // maxr_pmull ?invr_ge0 ?(ltW N0) //.
rewrite mulr0 mul0r; case: (leqP (m l) k) => mk; last first.
  congr (Num.max _ _); rewrite /a /T_k /w (minn_idPr (ltnW mk)).
  by field; rewrite !gt_eqF.
have mk' : (m l)%:R <= k%:R :> R by rewrite ler_nat.
have inv : N^-1 <= N_k^-1 by rewrite ler_pinv ?inE ?unitfE ?gt_eqF ?Nk ?N0.
rewrite !max_r // /a /w ?(minn_idPl mk).
  rewrite pmulr_lle0 ?invr_gt0 // subr_le0 /T_k -mulrA -mulrA ler_pmul2l //.
  have : 1 <= N / N_k by rewrite ler_pdivl_mulr // mul1r.
  by move=> h; apply: le_trans mk' _; rewrite -[leLHS]mulr1 ler_wpmul2l ?ler0n.
rewrite mulrC pmulr_lle0 // subr_le0; apply: ler_wpmul2l => //; exact: ler0n.
Qed.

Lemma bias_weighing :
  is_worst_case_bias U weighing ((\sum_l Num.max (U * (m l)%:R - T_k) 0) / N).
Proof.
have Nk := Nk_pos; pose avg (x : dataset R m) l := (\sum_j x l j) / (m l)%:R.
have diff (x : dataset R m) : mean x - weighing x = \sum_l a l * avg x l.
  rewrite /mean /weighing !mulr_suml -sumrB; apply: eq_bigr => l _.
  rewrite /a mulrBl /avg; congr (_ - _); last by rewrite mulrAC.
  have mR : 0 < (m l)%:R :> R by rewrite ltr0n.
  by move: (\sum_j _) => X; field; rewrite !gt_eqF.
have -> : (\sum_l Num.max (U * (m l)%:R - T_k) 0) / N = \sum_l U * Num.max (a l) 0.
  by rewrite mulr_suml; apply: eq_bigr => l _; rewrite a_positive.
have neg : \sum_l U * Num.max (a l) 0 = \sum_l U * Num.max (- a l) 0.
  rewrite -!mulr_sumr; congr (_ * _); apply/eqP; rewrite -subr_eq0; apply/eqP.
  by rewrite -sumrB -[RHS]a_sum; apply: eq_bigr => l _; minmax; linear.
split; last first.
  move=> x xr; rewrite diff ler_norml; apply/andP; split; [rewrite neg -sumrN|];
    apply: ler_sum => l _; have /andP [h1 h2] := average_range l xr; rewrite -/(avg x l) in h1 h2.
    case: (leP 0 (a l)) => a0; first by have := mulr_ge0 a0 h1 => h; minmax; linear.
    have := ler_wnmul2l (ltW a0) h2 => h; minmax; linear.
  case: (leP 0 (a l)) => a0; first by have := ler_wpmul2l a0 h2 => h; minmax; linear.
  have := ler_wnmul2l (ltW a0) h1 => h; minmax; linear.
exists (fun l _ => if 0 <= a l then U else 0).
  by move=> l j; case: ifP => _; rewrite lexx (ltW U0).
rewrite diff ger0_norm.
  apply: eq_bigr => l _; rewrite /avg; case: (leP 0 (a l)) => a0; last first.
    by rewrite big1 // mul0r !mulr0.
  by rewrite sumr_const card_ord -[U *+ _]mulr_natr mulfK ?pnatr_eq0 -?lt0n // mulrC.
apply: sumr_ge0 => l _; rewrite /avg; case: (leP 0 (a l)) => a0; last by rewrite big1 // mul0r mulr0.
by rewrite mulr_ge0 // divr_ge0 ?ler0n // sumr_ge0 // => j _; exact: ltW.
Qed.

Lemma bias_dropping : is_worst_case_bias U (dropping kept) (U * (N - N_k) / N).
Proof.
(* The difference is what is lost, weighted by 1 / N, less what is held, weighted by 1 / N_k - 1 / N.  Both
   can be as large, all lost samples at U and all held ones at 0 or the other way round. *)
have Nk := Nk_pos; have le_N := Nk_le.
have inv : N^-1 <= N_k^-1 by rewrite ler_pinv ?inE ?unitfE ?gt_eqF ?Nk ?N0.
pose lost (x : dataset R m) := \sum_l \sum_(j | j \notin kept l) x l j.
pose held (x : dataset R m) := \sum_l \sum_(j in kept l) x l j.
have diff x : mean x - dropping kept x = lost x / N - held x * (N_k^-1 - N^-1).
  have -> : mean x = (held x + lost x) / N.
    rewrite /mean -big_split /=; congr (_ / _); apply: eq_bigr => l _.
    by rewrite (bigID (fun j => j \in kept l)).
  by rewrite /dropping -/(held x); ring.
have lost_range x : in_range U x -> 0 <= lost x <= U * (N - N_k).
  move=> xr; apply/andP; split.
    by apply: sumr_ge0 => l _; apply: sumr_ge0 => j _; case/andP: (xr l j).
  have -> : U * (N - N_k) = \sum_l \sum_(j | j \notin kept l) U.
    rewrite mulrBr /definitions.N /N_k !natr_sum !mulr_sumr -sumrB; apply: eq_bigr => l _.
    have : \sum_(j < m l) U = \sum_(j in kept l) U + \sum_(j | j \notin kept l) U.
      by rewrite (bigID (fun j => j \in kept l)).
    rewrite !sumr_const card_ord size_kept -![U *+ _]mulr_natr => e.
    by move: e; set X := _ *+ _ => e; linear.
  by apply: ler_sum => l _; apply: ler_sum => j _; case/andP: (xr l j).
have held_range x : in_range U x -> 0 <= held x <= U * N_k.
  move=> xr; apply/andP; split.
    by apply: sumr_ge0 => l _; case/andP: (kept_range l xr).
  by rewrite /N_k natr_sum mulr_sumr; apply: ler_sum => l _; case/andP: (kept_range l xr).
have ratio : U * N_k * (N_k^-1 - N^-1) = U * (N - N_k) / N by field; rewrite !gt_eqF.
split; last first.
  move=> x xr; have /andP [l1 l2] := lost_range x xr; have /andP [h1 h2] := held_range x xr.
  have inv0 : 0 <= N_k^-1 - N^-1 by rewrite subr_ge0.
  have Ni : 0 <= N^-1 by rewrite invr_ge0 ltW.
  have e1 := ler_wpmul2r inv0 h2; have e2 := ler_wpmul2r Ni l2; rewrite ratio in e1.
  have e3 := mulr_ge0 l1 Ni; have e4 := mulr_ge0 h1 inv0.
  by rewrite diff ler_norml; linear.
exists (fun l j => if j \in kept l then 0 else U).
  by move=> l j; case: ifP => _; rewrite lexx (ltW U0).
rewrite diff; have -> : held (fun l j => if j \in kept l then 0 else U) = 0.
  by rewrite /held big1 // => l _; rewrite big1 // => j ->.
rewrite mul0r subr0 /lost.
rewrite (eq_bigr (fun l => U * (m l)%:R - U * (w l)%:R)) => [|l _]; last first.
  rewrite (eq_bigr (fun _ => U)) => [|j /negbTE -> //].
  have : \sum_(j < m l) U = \sum_(j in kept l) U + \sum_(j | j \notin kept l) U.
    by rewrite (bigID (fun j => j \in kept l)).
  rewrite [in LHS]sumr_const card_ord [X in _ = X + _]sumr_const size_kept -![U *+ _]mulr_natr => e.
  by linear.
rewrite sumrB -!mulr_sumr -!natr_sum -[(\sum_l m l)%:R]/N -[(\sum_l w l)%:R]/N_k -mulrBr.
by rewrite ger0_norm // divr_ge0 ?(ltW N0) // mulr_ge0 ?(ltW U0) // subr_ge0.
Qed.

(* begin thm-weighing *)
(* Dropping all but k samples of a user, and weighing by capped counts, have one sensitivity, T_k / N;
   the worst-case bias of weighing is smaller if anything is dropped. *)
Theorem thm_weighing :
  let b_w := (\sum_l Num.max (U * (m l)%:R - T_k) 0) / N in
  let b_d := U * (N - N_k) / N in
  [/\ is_sensitivity U weighing (T_k / N), is_sensitivity U (dropping kept) (T_k / N),
      is_worst_case_bias U weighing b_w, is_worst_case_bias U (dropping kept) b_d
    & (k < nth_count m 0)%N -> b_w < b_d].
(* end thm-weighing *)
Proof.
move=> b_w b_d; split; [exact: sensitivity_weighing | exact: sensitivity_dropping
  | exact: bias_weighing | exact: bias_dropping |] => k_lt.
have Nk := Nk_pos; have le_N := Nk_le.
have tk l : U * (w l)%:R <= U * (m l)%:R by apply: ler_wpmul2l; rewrite ?(ltW U0) // ler_nat geq_minl.
have [l0 lE wE] := heaviest.
have lt_N : N_k < N.
  rewrite ltr_nat (bigD1 l0) //= [X in (_ < X)%N](bigD1 l0) //= -addSn leq_add //.
    by rewrite wE lE.
  by apply: leq_sum => l _; exact: geq_minl.
have Tk : U * k%:R < T_k.
  have k0 : 0 < k%:R :> R by rewrite ltr0n; case/andP: k_le.
  by rewrite /T_k -mulrA ltr_pmulr ?mulr_gt0 // ltr_pdivl_mulr // mul1r.
rewrite /b_w /b_d ltr_pmul2r ?invr_gt0 //.
have -> : U * (N - N_k) = \sum_l (U * (m l)%:R - U * (w l)%:R).
  by rewrite sumrB -!mulr_sumr -!natr_sum -mulrBr.
rewrite (bigD1 l0) //= [ltRHS](bigD1 l0) //=; apply: ltr_le_add.
  have : U * k%:R < U * (nth_count m 0)%:R by rewrite ltr_pmul2l // ltr_nat.
  by rewrite wE lE => h; minmax; linear.
apply: ler_sum => l _; have := tk l => h1.
have h2 : U * (w l)%:R <= U * k%:R by rewrite ler_pmul2l // ler_nat geq_minr.
by minmax; linear.
Qed.

(* begin thm-weighing-average *)
(* If lots decide which samples are kept, each sample of user l with the probability w l / m l, dropping is
   weighing on average over the lots; so at every value z of the noise the error of weighing is no larger
   than the mean error of dropping, nor is its square. *)
Definition by_lot (O : finType) (P : O -> R) (drawn : O -> forall l, {set 'I_(m l)}) : Prop :=
  [/\ forall o, 0 <= P o, \sum_o P o = 1
    & forall l j, \sum_(o | j \in drawn o l) P o = (w l)%:R / (m l)%:R].
Theorem weighing_on_average (O : finType) (P : O -> R) (drawn : O -> forall l, {set 'I_(m l)})
    (x : dataset R m) (z : R) : by_lot P drawn ->
  `|weighing x - mean x + z| <= \sum_o P o * `|dropping (drawn o) x - mean x + z|
  /\ (weighing x - mean x + z) ^+ 2 <= \sum_o P o * (dropping (drawn o) x - mean x + z) ^+ 2.
(* end thm-weighing-average *)
Proof.
move=> [P0 P1 chance]; have average : \sum_o P o * dropping (drawn o) x = weighing x.
  rewrite (eq_bigr (fun o => (\sum_l \sum_(j in drawn o l) P o * x l j) / N_k)) => [|o _]; last first.
    by rewrite mulrA mulr_sumr; congr (_ / _); apply: eq_bigr => l _; rewrite mulr_sumr.
  rewrite -mulr_suml exchange_big; congr (_ / _); apply: eq_bigr => l _ /=.
  rewrite (eq_bigr (fun o => \sum_j if j \in drawn o l then P o * x l j else 0)) => [|o _]; last first.
    by rewrite big_mkcond.
  rewrite exchange_big /= mulrCA mulr_suml; apply: eq_bigr => j _.
  by rewrite -big_mkcond -mulr_suml chance mulrC.
have mean_error : \sum_o P o * (dropping (drawn o) x - mean x + z) = weighing x - mean x + z.
  rewrite (eq_bigr (fun o => P o * dropping (drawn o) x + P o * (z - mean x))) => [|o _]; last by ring.
  by rewrite big_split /= average -mulr_suml P1; ring.
split.
  rewrite -[X in `|X|]mean_error; apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => o _.
  by rewrite normrM ger0_norm.
set mu := weighing x - mean x + z in mean_error *.
have : 0 <= \sum_o P o * (dropping (drawn o) x - mean x + z - mu) ^+ 2.
  by apply: sumr_ge0 => o _; rewrite mulr_ge0 ?sqr_ge0.
rewrite (eq_bigr (fun o => P o * (dropping (drawn o) x - mean x + z) ^+ 2
    + (P o * (dropping (drawn o) x - mean x + z) * - (2 * mu) + P o * mu ^+ 2))) => [|o _]; last by ring.
rewrite !big_split /= -!mulr_suml mean_error P1 => h.
by rewrite -subr_ge0; move: h; rewrite mul1r expr2 => h; linear.
Qed.

(* begin thm-weighing-best *)
(* No estimator of this sensitivity that is exact where all samples are 0, or where all are U, has a smaller
   worst-case bias than weighing, attained or not. *)
Theorem weighing_best (g : estimator R m) (beta : R) : sensitivity_at_most U g (T_k / N) ->
  (forall x, (forall l j, x l j = 0) -> g x = mean x)
    \/ (forall x, (forall l j, x l j = U) -> g x = mean x) ->
  (forall x, in_range U x -> `|mean x - g x| <= beta) ->
  (\sum_l Num.max (U * (m l)%:R - T_k) 0) / N <= beta.
(* end thm-weighing-best *)
Proof.
move=> sens right bias; have [x xr] := right_at_zero (ltW U0) Npos sens right.
move=> h; apply: le_trans (bias x xr); apply: le_trans h.
rewrite mulr_suml; apply: ler_sum => l _.
by rewrite maxr_pmull ?invr_ge0 ?(ltW N0) // mul0r mulrBl.
Qed.

End Weighing.
