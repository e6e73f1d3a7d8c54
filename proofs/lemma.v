(* Lemma III.1, repaired: bias, sensitivity and error of a clipped mean. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Lemma.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).
Implicit Types (a b x y : dataset R m) (lo hi t : R).

Lemma N_ge0 : 0 <= N R m. Proof. exact: ler0n. Qed.

Lemma clip_ge lo hi t : lo <= hi -> lo <= clip lo hi t.
Proof. by move=> h; rewrite /clip le_minr le_maxr lexx orbT. Qed.

Lemma clip_le lo hi t : clip lo hi t <= hi.
Proof. by rewrite /clip le_minl lexx orbT. Qed.

Lemma clip_low lo hi : 0 <= lo -> lo <= hi -> clip lo hi 0 = lo.
Proof. by move=> h0 h; rewrite /clip max_r // min_l. Qed.

Lemma clip_high lo hi : lo <= hi -> hi <= U -> clip lo hi U = hi.
Proof.
by move=> h hU; rewrite /clip max_l ?(le_trans h) // min_r.
Qed.

(* The change t - clip t lies between - lo and U - hi. *)
Lemma change_ge lo hi t : 0 <= lo -> 0 <= t -> - lo <= t - clip lo hi t.
Proof.
move=> h0 ht; rewrite ler_subr_addr addrC ler_subl_addr /clip le_minl le_maxl.
by rewrite ler_addl h0 ler_addr ht.
Qed.

Lemma change_le lo hi t : hi <= U -> t <= U -> t - clip lo hi t <= U - hi.
Proof.
move=> hU ht; rewrite ler_subl_addr -ler_subl_addl /clip le_minr le_maxr.
by rewrite opprB ger_addl subr_le0 hU /= addrCA ger_addl subr_le0.
Qed.

Lemma mean_sub_clipped a b x :
  mean x - clipped_mean a b x =
  (\sum_l \sum_j (x l j - clip (a l j) (b l j) (x l j))) / N R m.
Proof.
rewrite /mean /clipped_mean -mulrBl -sumrB; congr (_ / _).
by apply: eq_bigr => l _; rewrite sumrB.
Qed.

Lemma norm_le_max (A B v : R) : - A <= v -> v <= B -> `|v| <= Num.max A B.
Proof.
move=> hA hB; rewrite ler_norml; apply/andP; split; last by rewrite le_maxr hB orbT.
by rewrite ler_oppl le_maxr ler_oppl hA.
Qed.

Theorem bias_of_clipped_mean a b : is_clipping U a b ->
  is_worst_case_bias U (clipped_mean a b)
    (Num.max (\sum_l \sum_j a l j) (\sum_l \sum_j (U - b l j)) / N R m).
Proof.
move=> cl; set A := \sum_l _; set B := \sum_l _.
have U0 l (j : 'I_(m l)) : 0 <= U by case: (cl l j) => h1 h2 h3; rewrite (le_trans h1) ?(le_trans h2).
have A0 : 0 <= A by apply: sumr_ge0 => l _; apply: sumr_ge0 => j _; case: (cl l j).
have B0 : 0 <= B.
  by apply: sumr_ge0 => l _; apply: sumr_ge0 => j _; rewrite subr_ge0; case: (cl l j).
split; last first.
  move=> x xr; rewrite mean_sub_clipped normrM [`|_^-1|]ger0_norm ?invr_ge0 ?N_ge0 //.
  apply: ler_wpmul2r; rewrite ?invr_ge0 ?N_ge0 //; apply: norm_le_max.
    rewrite -sumrN; apply: ler_sum => l _; rewrite -sumrN; apply: ler_sum => j _.
    by case: (cl l j) => h1 h2 h3; case/andP: (xr l j) => x0 xU; apply: change_ge.
  apply: ler_sum => l _; apply: ler_sum => j _.
  by case: (cl l j) => h1 h2 h3; case/andP: (xr l j) => x0 xU; apply: change_le.
case: (leP A B) => AB.
  exists (fun _ _ => U) => [l j|]; first by rewrite lexx (U0 l j).
  rewrite mean_sub_clipped normrM [`|_^-1|]ger0_norm ?invr_ge0 ?N_ge0 //; congr (_ / _).
  rewrite -[RHS](ger0_norm B0); congr `|_|; apply: eq_bigr => l _; apply: eq_bigr => j _.
  by case: (cl l j) => h1 h2 h3; rewrite clip_high.
exists (fun _ _ => 0) => [l j|]; first by rewrite lexx (U0 l j).
rewrite mean_sub_clipped normrM [`|_^-1|]ger0_norm ?invr_ge0 ?N_ge0 //; congr (_ / _).
rewrite -[RHS](ger0_norm A0) -normrN -sumrN; congr `|_|; apply: eq_bigr => l _.
rewrite -sumrN; apply: eq_bigr => j _.
by case: (cl l j) => h1 h2 h3; rewrite clip_low // sub0r opprK.
Qed.

(* Only the sum over the one user that differs is left. *)
Lemma clipped_sub a b x y l0 : (forall l, l != l0 -> forall j, x l j = y l j) ->
  clipped_mean a b x - clipped_mean a b y =
  (\sum_j clip (a l0 j) (b l0 j) (x l0 j) - \sum_j clip (a l0 j) (b l0 j) (y l0 j)) / N R m.
Proof.
move=> xy; rewrite /clipped_mean -mulrBl; congr (_ / _).
rewrite -[LHS]sumrB (bigD1 l0) //= [X in _ + X = _]big1 ?addr0 // => l ll0.
by apply/eqP; rewrite subr_eq0; apply/eqP; apply: eq_bigr => j _; rewrite xy.
Qed.

Theorem sensitivity_of_clipped_mean a b w : is_clipping U a b -> is_largest_width a b w ->
  is_sensitivity U (clipped_mean a b) (w / N R m).
Proof.
move=> cl [[l0 _ wl0] wmax].
have U0 l (j : 'I_(m l)) : 0 <= U by case: (cl l j) => h1 h2 h3; rewrite (le_trans h1) ?(le_trans h2).
split; last first.
  move=> x y xr yr [l xy]; rewrite (clipped_sub _ _ xy) normrM.
  rewrite [`|_^-1|]ger0_norm ?invr_ge0 ?N_ge0 //.
  apply: ler_wpmul2r; rewrite ?invr_ge0 ?N_ge0 //; apply: le_trans (wmax l I).
  rewrite -sumrB; apply: (le_trans (ler_norm_sum _ _ _)); apply: ler_sum => j _.
  case: (cl l j) => h1 h2 h3; rewrite ler_norml; apply/andP; split.
    by rewrite opprB ler_sub ?clip_ge ?clip_le.
  by rewrite ler_sub ?clip_ge ?clip_le.
exists (fun l _ => if l == l0 then U else 0), (fun _ _ => 0).
split.
- by move=> l j; case: ifP => _; rewrite lexx (U0 l j).
- by move=> l j; rewrite lexx (U0 l j).
- by exists l0 => l /negbTE ->.
rewrite (@clipped_sub _ _ _ _ l0) => [|l /negbTE -> //].
rewrite normrM [`|_^-1|]ger0_norm ?invr_ge0 ?N_ge0 //; congr (_ / _).
rewrite -sumrB -wl0 eqxx -[RHS]ger0_norm; last first.
  by apply: sumr_ge0 => j _; rewrite subr_ge0; case: (cl l0 j).
by congr `|_|; apply: eq_bigr => j _; case: (cl l0 j) => h1 h2 h3; rewrite clip_low // clip_high.
Qed.

(* begin thm-lemma *)
(* Lemma III.1, repaired: worst-case bias, sensitivity and worst-case error of a clipped mean are
   max (A, B) / N, the largest total width / N, and their sum with the second divided by eps. *)
Theorem thm_lemma a b W eps : is_clipping U a b -> is_largest_width a b W ->
  let A := \sum_l \sum_j a l j in
  let B := \sum_l \sum_j (U - b l j) in
  [/\ is_worst_case_bias U (clipped_mean a b) (Num.max A B / N R m),
      is_sensitivity U (clipped_mean a b) (W / N R m)
    & is_worst_case_error U eps (clipped_mean a b) (Num.max A B / N R m + W / (eps * N R m))].
(* end thm-lemma *)
Proof.
move=> cl lw; split; first exact: bias_of_clipped_mean cl.
  exact: sensitivity_of_clipped_mean cl lw.
eexists; eexists; split; [exact: bias_of_clipped_mean cl | exact: sensitivity_of_clipped_mean cl lw |].
by rewrite invfM mulrA [W / eps / _]mulrAC.
Qed.

(* begin thm-printed *)
(* When the printed value is right: it lies between the true one and twice that, and is the true one
   exactly if the differences of a and U - b all have one sign. *)
Theorem thm_printed a b : (0 < \sum_l m l)%N -> is_clipping U a b ->
  let true_bias := Num.max (\sum_l \sum_j a l j) (\sum_l \sum_j (U - b l j)) / N R m in
  (true_bias <= printed_bias U a b <= 2 * true_bias)
  /\ (printed_bias U a b = true_bias <->
        (forall l j, U - b l j <= a l j) \/ (forall l j, a l j <= U - b l j)).
(* end thm-printed *)
Proof.
move=> Npos cl; rewrite /printed_bias; have N0 : 0 < N R m by rewrite ltr0n.
set A := \sum_l \sum_j a l j; set B := \sum_l \sum_j (U - b l j).
set P := \sum_l \sum_j Num.max (a l j) (U - b l j).
have le_P (f : dataset R m) : (forall l j, f l j <= Num.max (a l j) (U - b l j)) ->
    (\sum_l \sum_j f l j <= P)
    /\ (\sum_l \sum_j f l j = P -> forall l j, f l j = Num.max (a l j) (U - b l j)).
  move=> f_le; have D0 l : 0 <= \sum_j (Num.max (a l j) (U - b l j) - f l j).
    by apply: sumr_ge0 => j _; rewrite subr_ge0.
  have DE : \sum_l \sum_j (Num.max (a l j) (U - b l j) - f l j) = P - \sum_l \sum_j f l j.
    by rewrite -sumrB; apply: eq_bigr => l _; rewrite sumrB.
  split; first by rewrite -subr_ge0 -DE sumr_ge0.
  move=> fP l j; apply/eqP; rewrite eq_sym -subr_eq0; move/eqP: DE; rewrite fP subrr.
  rewrite psumr_eq0 // => /allP /(_ l); rewrite mem_index_enum => /(_ isT) /=.
  rewrite psumr_eq0 => [|j' _]; last by rewrite subr_ge0.
  by move=> /allP /(_ j); rewrite mem_index_enum => /(_ isT).
have [|AP AE] := le_P a _; first by move=> l j; rewrite le_maxr lexx.
have [|BP BE] := le_P (fun l j => U - b l j) _; first by move=> l j; rewrite le_maxr lexx orbT.
rewrite -/A -/B in AP AE BP BE.
have PAB : P <= A + B.
  rewrite -big_split /=; apply: ler_sum => l _; rewrite -big_split /=; apply: ler_sum => j _.
  by case: (cl l j) => h1 h2 h3; minmax; linear.
split.
  by rewrite mulrA !ler_pmul2r ?invr_gt0 //; minmax; linear.
split=> [/(mulIf (lt0r_neq0 _)) PE|].
  have {}PE : P = Num.max A B by apply: PE; rewrite invr_gt0.
  case: (leP A B) PE => AB PE.
    by right=> l j; rewrite (BE (esym PE)) le_maxr lexx.
  by left=> l j; rewrite [leRHS](AE (esym PE)) le_maxr lexx orbT.
move=> sign; congr (_ / _); case: sign => sign.
  have PA : P = A by apply: eq_bigr => l _; apply: eq_bigr => j _; apply/max_idPl.
  by minmax; linear.
have PB : P = B by apply: eq_bigr => l _; apply: eq_bigr => j _; apply/max_idPr.
by minmax; linear.
Qed.

End Lemma.
