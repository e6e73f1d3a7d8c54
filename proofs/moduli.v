(* The modulus of the mean, and a lower bound on that of the variance: how far n users together can move
   them. *)
(* Here are defined: ranged and same_but_one (datasets in the range, and neighbours among them), ranged_mean
   and ranged_variance (the statistics). *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts frontier modulus chain.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Moduli.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).
Notation N := (N R m).
Notation c := (nth_count m).

(* begin def-ranged *)
(* The datasets with samples in [0, U], and which of them are neighbours. *)
Definition ranged : Type := {x : dataset R m | in_range U x}.
Definition same_but_one (D D' : ranged) : Prop := neighbours (sval D) (sval D').
Definition ranged_mean (D : ranged) : R := mean (sval D).
Definition ranged_variance (D : ranged) : R :=
  (\sum_l \sum_j (sval D l j - mean (sval D)) ^+ 2) / N.
(* end def-ranged *)

Hypothesis U0 : 0 <= U.
Hypothesis Npos : (0 < \sum_l m l)%N.

(* After n steps, all but at most n users have the same samples. *)
Lemma apart_after n (D D' : ranged) : within_steps same_but_one n D D' ->
  exists2 s : seq 'I_L, (size s <= n)%N & forall l, l \notin s -> forall j, sval D l j = sval D' l j.
Proof.
elim: n D' => [|n IH] D' /=; first by move=> ->; exists [::].
case=> C /IH [s sn same] [<-|[l other]]; first by exists s => //; exact: leqW.
exists (l :: s) => // k; rewrite in_cons negb_or => /andP [kl ks] j.
by rewrite same // other.
Qed.

Lemma largest_counts (s : seq 'I_L) n : uniq s -> (size s <= n)%N ->
  \sum_(l <- s) U * (m l)%:R <= U * sum_of_largest m (n%:R : R).
Proof.
move=> us sn; case: (posnP n) => [n0|n0].
  have -> : s = [::] by apply: size0nil; apply/eqP; rewrite -leqn0 -n0.
  rewrite big_nil; apply: mulr_ge0 => //; apply: sumr_ge0 => i _.
  by apply: mulr_ge0; [exact: (weight_ge0 (n%:R : R) i) | exact: ler0n].
have kc : is_ceil n (n%:R : R) by split; rewrite ?lexx // ltr_subl_addr ltr_addl ltr01.
have x0 : 0 < n%:R :> R by rewrite ltr0n.
have -> := sum_largest_eq m U0 x0 kc; set T := U * _; have T0 : 0 <= T by rewrite mulr_ge0 ?ler0n.
apply: (@le_trans _ _ (\sum_(l <- s) (Num.max (U * (m l)%:R - T) 0 + T))).
  by apply: ler_sum => l _; minmax; linear.
rewrite big_split /=; apply: ler_add.
  rewrite big_uniq //= [leRHS](bigID (mem s)) /= ler_addl.
  by apply: sumr_ge0 => l _; rewrite le_maxr lexx orbT.
rewrite big_const_seq count_predT iter_addr_0 -[T *+ _]mulr_natl.
by apply: ler_wpmul2r; rewrite // ler_nat.
Qed.

(* One user more adds the next count. *)
Lemma sum_largest_next n : sum_of_largest m (n.+1%:R : R) = sum_of_largest m (n%:R : R) + (c n)%:R.
Proof.
case: (ltnP n L) => nL; first by rewrite !sum_largest_whole ?(ltnW nL) // big_nat_recr.
by rewrite !sum_largest_all ?ler_nat ?(leqW nL) // nth_count_beyond // addr0.
Qed.

(* The dataset in which the first j users have all samples at U. *)
Definition first_at_U (j : nat) : ranged := exist _ (on U (take j (users m))) (on_in_range _ U0).

Lemma first_users j i : (j <= L)%N -> (j <= i)%N ->
  within_steps same_but_one i (first_at_U j) (first_at_U 0).
Proof.
elim: i j => [|i IH] [|j] //= jL ji; first by exists (first_at_U 0); [exact: IH | left].
apply: one_more_step (IH j (ltnW jL) ji).
by have [l h] := chain_neighbours m U jL; exists l => l' ll' i'; rewrite /= h.
Qed.

(* begin cor-modulus-mean thm-chain *)
(* The mean's modulus is U H n / N, with H n the sum of the n largest counts, and each further user adds at
   most what the one before adds. *)
Theorem modulus_of_mean : let omega (n : nat) := U * sum_of_largest m (n%:R : R) / N in
  is_modulus same_but_one ranged_mean omega /\ forall n, omega n.+2 - omega n.+1 <= omega n.+1 - omega n.
(* end cor-modulus-mean thm-chain *)
Proof.
move=> omega; have N0 : 0 < N by rewrite ltr0n.
have Ni : 0 <= N^-1 by rewrite invr_ge0 ltW.
split=> [n|n].
  split=> [[x xr] [y yr] /apart_after [s sn /= same]|v bound].
    rewrite /ranged_mean /= /mean -mulrBl; apply: ler_wpmul2r => //.
    have us := undup_uniq s; have sn' := leq_trans (size_undup s) sn.
    apply: le_trans (largest_counts us sn'); rewrite -sumrB [leRHS]big_uniq //=.
    rewrite [leRHS]big_mkcond /=; apply: ler_sum => l _; case: ifP; rewrite mem_undup => ls.
      rewrite -/(sums x l) -/(sums y l); have := sums_le l xr; have := sums_ge0 l yr.
      by linear.
    have -> : \sum_j x l j = \sum_j y l j by apply: eq_bigr => j _; apply: same; rewrite ls.
    by rewrite subrr.
  have kL : (minn n L <= L)%N by rewrite geq_minr.
  have -> : omega n = step_mean m U (minn n L).
    rewrite /omega /step_mean; case: (leqP n L) => // Ln.
    by rewrite !sum_largest_all // ler_nat // ltnW.
  have := bound _ _ (first_users kL (geq_minl n L)).
  rewrite /ranged_mean /= !mean_chain // {2}/step_mean sum_largest_whole // big_geq // mulr0 mul0r subr0.
  by [].
rewrite /omega -!mulrBl; apply: ler_wpmul2r => //; rewrite -!mulrBr; apply: ler_wpmul2l => //.
have less : (c n.+1)%:R <= (c n)%:R :> R by rewrite ler_nat nth_count_mono.
by have := sum_largest_next n.+1; have := sum_largest_next n; linear.
Qed.

(* The variance where the samples of the users in s are U, and all others 0. *)
Lemma variance_on (s : seq 'I_L) (x : dataset R m) : x = on U s ->
  (\sum_l \sum_j (x l j - mean x) ^+ 2) / N = mean x * (U - mean x).
Proof.
move=> xs; have N0 : 0 < N by rewrite ltr0n.
have square l j : (x l j - mean x) ^+ 2 = (U - 2 * mean x) * x l j + mean x ^+ 2.
  by rewrite xs /on; case: ifP => _; ring.
have total : \sum_l \sum_j x l j = mean x * N by rewrite /mean divfK ?gt_eqF.
have -> : \sum_l \sum_j (x l j - mean x) ^+ 2 = (U - 2 * mean x) * (mean x * N) + mean x ^+ 2 * N.
  rewrite -total mulr_sumr /definitions.N natr_sum mulr_sumr -big_split /=.
  apply: eq_bigr => l _; rewrite (eq_bigr _ (fun j _ => square l j)) big_split /= -mulr_sumr.
  by rewrite sumr_const card_ord mulr_natr.
by field; rewrite gt_eqF.
Qed.

(* begin thm-variance *)
(* n users together can move the variance by U^2 p (1 - p) at least, with p the largest share of the samples
   that n users have: so its modulus is no smaller. *)
Theorem variance_moves (omega : nat -> R) (n : nat) : is_modulus same_but_one ranged_variance omega ->
  (n <= L)%N -> U ^+ 2 * (sum_of_largest m (n%:R : R) / N * (1 - sum_of_largest m (n%:R : R) / N)) <= omega n.
(* end thm-variance *)
Proof.
move=> mod nL; have := (mod n).1 _ _ (first_users nL (leqnn n)).
rewrite /ranged_variance /= !(variance_on erefl) !mean_chain //.
have -> : step_mean m U 0 = 0 by rewrite /step_mean sum_largest_whole // big_geq // mulr0 mul0r.
rewrite mul0r subr0 /step_mean -[U * _ / N]mulrA; move: (sum_of_largest m _ / N) => p.
by apply: le_trans; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.
End Moduli.
