(* The mechanism in one line: centred sums, clipped to one interval for all users. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts lemma.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section OneLine.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U c S : R).
Notation N := (N R m).

(* begin def-one-line *)
(* The sum of user l; g in its two forms, as projected averages and in one line. *)
Definition user_sum (x : dataset R m) (l : 'I_L) : R := \sum_j x l j.
Definition projected_averages : estimator R m := fun x =>
  \sum_l (m l)%:R / N * clip (Num.max (c - S / (2 * (m l)%:R)) 0) (Num.min (c + S / (2 * (m l)%:R)) U)
                             (user_sum x l / (m l)%:R).
Definition one_line : estimator R m := fun x =>
  c + (\sum_l clip (- (S / 2)) (S / 2) (user_sum x l - c * (m l)%:R)) / N.
(* end def-one-line *)

Hypothesis Npos : (0 < \sum_l m l)%N.
Hypothesis cU : 0 <= c <= U.
Hypothesis S0 : 0 <= S.

Let N0 : 0 < N. Proof. by rewrite ltr0n. Qed.
Let K (y : R) : R := clip (- (S / 2)) (S / 2) y.

Lemma sum_range (x : dataset R m) l : in_range U x -> 0 <= user_sum x l <= U * (m l)%:R.
Proof.
move=> xr; rewrite sumr_ge0 => [|j _]; last by case/andP: (xr l j).
have -> : U * (m l)%:R = \sum_(j < m l) U by rewrite sumr_const card_ord mulr_natr.
by apply: ler_sum => j _; case/andP: (xr l j).
Qed.

Lemma same_estimator (x : dataset R m) : in_range U x -> projected_averages x = one_line x.
Proof.
move=> xr; have -> : one_line x = (\sum_l (c * (m l)%:R + K (user_sum x l - c * (m l)%:R))) / N.
  rewrite big_split /= -mulr_sumr -natr_sum mulrDl -[(\sum_l m l)%:R]/N mulfK ?gt_eqF //.
rewrite /projected_averages mulr_suml; apply: eq_bigr => l _; rewrite mulrAC; congr (_ / _).
case: (posnP (m l)) => [m0|m0].
  rewrite m0 mul0r mulr0 add0r subr0 /user_sum big1 => [|j _].
    by rewrite /K /clip; minmax; linear.
  by have := ltn_ord j; rewrite [X in (_ < X)%N]m0.
have mR : 0 < (m l)%:R :> R by rewrite ltr0n.
have := sum_range l xr; set a := user_sum x l / (m l)%:R.
have -> : user_sum x l = (m l)%:R * a by rewrite /a mulrC mulfVK ?gt_eqF.
set t := S / (2 * (m l)%:R); have SE : S / 2 = (m l)%:R * t by rewrite /t; field; rewrite gt_eqF.
have t0 : 0 <= t by rewrite /t divr_ge0 // mulr_ge0 ?ler0n.
rewrite [U * _]mulrC (pmulr_rge0 _ mR) (ler_pmul2l mR) => /andP [a0 aU].
have -> : clip (Num.max (c - t) 0) (Num.min (c + t) U) a = c + clip (- t) t (a - c).
  by rewrite /clip; minmax; linear.
rewrite /K SE /clip [c * _]mulrC -mulrBr -mulrN -!maxr_pmulr -?minr_pmulr ?(ltW mR) //.
by rewrite mulrDr.
Qed.

Let low l : R := Num.min (S / 2) (c * (m l)%:R).
Let high l : R := Num.min (S / 2) ((U - c) * (m l)%:R).

Lemma K_range (x : dataset R m) l : in_range U x ->
  - low l <= K (user_sum x l - c * (m l)%:R) <= high l.
Proof.
move=> xr; have := sum_range l xr; have mR := ler0n R (m l).
have := mulr_ge0 (proj1 (andP cU)) mR; case/andP: cU => c0 cU'.
have : 0 <= (U - c) * (m l)%:R by rewrite mulr_ge0 // subr_ge0.
by rewrite /low /high /K /clip => h1 h2 h3; minmax; linear.
Qed.

(* The two extreme datasets of a user: all samples at 0, and all at U. *)
Lemma all_at z l : user_sum ((fun _ _ => z) : dataset R m) l = z * (m l)%:R.
Proof. by rewrite /user_sum sumr_const card_ord mulr_natr. Qed.

Lemma K_low l : K (0 * (m l)%:R - c * (m l)%:R) = - low l.
Proof.
have := mulr_ge0 (proj1 (andP cU)) (ler0n R (m l)).
by rewrite /low /K /clip mul0r sub0r => h1; minmax; linear.
Qed.

Lemma K_high l : K (U * (m l)%:R - c * (m l)%:R) = high l.
Proof.
case/andP: cU => c0 cU'; have : 0 <= (U - c) * (m l)%:R by rewrite mulr_ge0 ?ler0n // subr_ge0.
by rewrite /high /K /clip -mulrBl => h1; minmax; linear.
Qed.

Let m_star : R := (nth_count m 0)%:R.
Let delta : R := (Num.min (S / 2) (c * m_star) + Num.min (S / 2) ((U - c) * m_star)) / N.

Lemma sensitivity_one_line : is_sensitivity U one_line delta.
Proof.
have U0 : 0 <= U by case/andP: cU => h1 h2; linear.
have [l0 l0E] := first_count Npos.
have top l : low l + high l <= N * delta.
  rewrite /delta mulrCA divff ?gt_eqF // mulr1 /low /high /m_star.
  have le_m : (m l)%:R <= (nth_count m 0)%:R :> R by rewrite ler_nat le_first_count.
  case/andP: cU => c0 cU'; have h1 := ler_wpmul2l c0 le_m.
  have h2 : (U - c) * (m l)%:R <= (U - c) * (nth_count m 0)%:R by rewrite ler_wpmul2l // subr_ge0.
  by apply: ler_add; minmax; linear.
have diff (x y : dataset R m) l : (forall l', l' != l -> forall j, x l' j = y l' j) ->
    one_line x - one_line y
    = (K (user_sum x l - c * (m l)%:R) - K (user_sum y l - c * (m l)%:R)) / N.
  move=> xy; rewrite /one_line opprD addrACA subrr add0r -mulrBl; congr (_ / _).
  rewrite -sumrB (bigD1 l) //= big1 ?addr0 // => l' ll'.
  rewrite (_ : user_sum x l' = user_sum y l') ?subrr //.
  by apply: eq_bigr => j _; rewrite xy.
split; last first.
  move=> x y xr yr [l xy]; rewrite (diff _ _ _ xy) normrM [`|N^-1|]ger0_norm ?invr_ge0 ?(ltW N0) //.
  rewrite ler_pdivr_mulr //; have t := top l.
  have := K_range l xr; have := K_range l yr => h1 h2.
  by rewrite ler_norml; linear.
exists (fun l _ => if l == l0 then U else 0), (fun _ _ => 0); split.
- by move=> l j; case: ifP => _; rewrite lexx U0.
- by move=> l j; rewrite lexx U0.
- by exists l0 => l /negbTE ->.
rewrite (diff _ _ l0) => [|l /negbTE -> //].
have -> : user_sum (fun l _ => if l == l0 then U else 0) l0 = U * (m l0)%:R.
  by rewrite /user_sum eqxx sumr_const card_ord mulr_natr.
rewrite all_at K_low K_high normrM [`|N^-1|]ger0_norm ?invr_ge0 ?(ltW N0) //; congr (_ / _).
rewrite opprK /low /high l0E addrC ger0_norm //.
case/andP: cU => c0 cU'; have := mulr_ge0 c0 (ler0n R (nth_count m 0)) => h1.
have : 0 <= (U - c) * (nth_count m 0)%:R by rewrite mulr_ge0 ?ler0n // subr_ge0.
by move=> h2; minmax; linear.
Qed.

Lemma bias_one_line :
  let A := \sum_l Num.max (c * (m l)%:R - S / 2) 0 in
  let B := \sum_l Num.max ((U - c) * (m l)%:R - S / 2) 0 in
  is_worst_case_bias U one_line (Num.max A B / N).
Proof.
move=> A B; have U0 : 0 <= U by case/andP: cU => h1 h2; linear.
have diff (x : dataset R m) : mean x - one_line x
    = (\sum_l (user_sum x l - c * (m l)%:R - K (user_sum x l - c * (m l)%:R))) / N.
  rewrite !sumrB -mulr_sumr -natr_sum -[(\sum_l m l)%:R]/N /one_line /mean.
  rewrite -[\sum_l \sum_j x l j]/(\sum_l user_sum x l).
  rewrite -[\sum_l clip _ _ _]/(\sum_l K (user_sum x l - c * (m l)%:R)).
  by move: (\sum_l user_sum x l) (\sum_l K _) => s t; field; rewrite gt_eqF.
have A0 : 0 <= A by apply: sumr_ge0 => l _; rewrite le_maxr lexx orbT.
have B0 : 0 <= B by apply: sumr_ge0 => l _; rewrite le_maxr lexx orbT.
have norm_N (X : R) : `|X / N| = `|X| / N.
  by rewrite normrM [`|N^-1|]ger0_norm // invr_ge0 ltW.
have at0 : `|mean ((fun _ _ => 0) : dataset R m) - one_line (fun _ _ => 0)| = A / N.
  rewrite diff norm_N; congr (_ / _); rewrite -normrN -sumrN -[RHS]ger0_norm //; congr `|_|.
  apply: eq_bigr => l _; rewrite all_at K_low /low mul0r sub0r.
  by minmax; linear.
have atU : `|mean ((fun _ _ => U) : dataset R m) - one_line (fun _ _ => U)| = B / N.
  rewrite diff norm_N; congr (_ / _); rewrite -[RHS]ger0_norm //; congr `|_|.
  apply: eq_bigr => l _; rewrite all_at K_high /high -mulrBl.
  by minmax; linear.
split; last first.
  move=> x xr; rewrite diff norm_N; apply: ler_wpmul2r; first by rewrite invr_ge0 ltW.
  apply: norm_le_max; rewrite -?sumrN; apply: ler_sum => l _.
    by have := sum_range l xr; rewrite /K /clip => h1; minmax; linear.
  by have := sum_range l xr; rewrite /K /clip mulrBl => h1; minmax; linear.
case: (leP A B) => AB.
  by exists (fun _ _ => U) => // l j; rewrite lexx U0.
by exists (fun _ _ => 0) => // l j; rewrite lexx U0.
Qed.

(* begin thm-one-line *)
(* One interval for all users, around any centre c: the two forms are the same estimator.  Its sensitivity
   is at most S / N, with equality if and only if S <= 2 m* min (c, U - c).  Its worst-case bias is max (A,
   B) / N. *)
Theorem thm_one_line :
  let Delta := (Num.min (S / 2) (c * m_star) + Num.min (S / 2) ((U - c) * m_star)) / N in
  let A := \sum_l Num.max (c * (m l)%:R - S / 2) 0 in
  let B := \sum_l Num.max ((U - c) * (m l)%:R - S / 2) 0 in
  [/\ forall x, in_range U x -> projected_averages x = one_line x,
      is_sensitivity U one_line Delta,
      Delta <= S / N /\ (Delta = S / N <-> S <= 2 * m_star * Num.min c (U - c))
    & is_worst_case_bias U one_line (Num.max A B / N)].
(* end thm-one-line *)
Proof.
move=> Delta A B; split; [exact: same_estimator | exact: sensitivity_one_line | | exact: bias_one_line].
have ms : 0 <= m_star by rewrite ler0n.
rewrite /Delta; split; first by apply: ler_wpmul2r; [rewrite invr_ge0 ltW | minmax; linear].
have -> : 2 * m_star * Num.min c (U - c) = 2 * Num.min (c * m_star) ((U - c) * m_star).
  by rewrite -mulrA [m_star * _]mulrC minr_pmull.
by split=> [/(mulIf (invr_neq0 (lt0r_neq0 N0)))|] h; [minmax; linear | congr (_ / _); minmax; linear].
Qed.

End OneLine.
