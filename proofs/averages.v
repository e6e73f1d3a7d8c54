(* Clipping each user's average, in place of each sample, and one interval for all users' sums. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts lemma.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin thm-one-line *)
(* A user has n > 0 samples with the sum s.  Clipping their average to the symmetric interval of total width
   T is clipping the centred sum to one interval, the same for all users. *)
Theorem one_interval (R : realFieldType) (U T s : R) (n : nat) :
  (0 < n)%N -> 0 <= T -> 0 <= s <= U * n%:R ->
  let a := (U - Num.min U (T / n%:R)) / 2 in
  n%:R * clip a (U - a) (s / n%:R) = U * n%:R / 2 + clip (- (T / 2)) (T / 2) (s - U * n%:R / 2).
(* end thm-one-line *)
Proof.
move=> n0 T0 /andP [s0 sU] a; have k0 : 0 < n%:R :> R by rewrite ltr0n.
pose t := T / n%:R; pose x := s / n%:R.
have TE : T = n%:R * t by rewrite mulrC divfK ?gt_eqF.
have sE : s = n%:R * x by rewrite mulrC divfK ?gt_eqF.
have t0 : 0 <= t by rewrite divr_ge0 // ltW.
have x0 : 0 <= x by rewrite divr_ge0 // ltW.
have xU : x <= U by rewrite ler_pdivr_mulr.
have same : clip a (U - a) x = U / 2 + clip (- (t / 2)) (t / 2) (x - U / 2).
  by rewrite /clip /a -/t; minmax; linear.
have -> : clip (- (T / 2)) (T / 2) (s - U * n%:R / 2) = n%:R * clip (- (t / 2)) (t / 2) (x - U / 2).
  by rewrite /clip minr_pmulr ?maxr_pmulr ?ler0n // TE sE; congr (Num.min (Num.max _ _) _); ring.
by rewrite -/x same; ring.
Qed.

Section Averages.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R) (a b : 'I_L -> R).
Notation N := (N R m).

(* begin prp-averaging *)
(* One interval [a l, b l] per user l: `own` clips each sample to it, `averaged` the average of the samples,
   which then has the weight m l. *)
Definition own (f : 'I_L -> R) : dataset R m := fun l _ => f l.
Definition averaged : estimator R m :=
  fun x => (\sum_l (m l)%:R * clip (a l) (b l) ((\sum_j x l j) / (m l)%:R)) / N.
(* end prp-averaging *)

(* The dataset in which each user's samples are their average. *)
Definition levelled (x : dataset R m) : dataset R m := fun l _ => (\sum_j x l j) / (m l)%:R.

Lemma total_levelled x l : \sum_j @levelled x l j = \sum_(j < m l) x l j.
Proof.
rewrite /levelled sumr_const card_ord -[LHS]mulr_natr; case: (posnP (m l)) => [m0|m0]; last by rewrite divfK // pnatr_eq0 -lt0n.
have e : (m l)%:R = 0 :> R by rewrite m0.
by rewrite e mulr0 big1 // => j _; have := ltn_ord j; rewrite [X in (_ < X)%N]m0.
Qed.

Lemma averaged_is x : averaged x = clipped_mean (own a) (own b) (levelled x).
Proof. by congr (_ / _); apply: eq_bigr => l _; rewrite /own /levelled sumr_const card_ord -[RHS]mulr_natl. Qed.

Lemma mean_levelled x : mean (levelled x) = mean x.
Proof. by congr (_ / _); apply: eq_bigr => l _; exact: total_levelled. Qed.

Lemma levelled_range x : in_range U x -> in_range U (levelled x).
Proof.
move=> xr l j; have m0 : 0 < (m l)%:R :> R by rewrite ltr0n (leq_ltn_trans _ (ltn_ord j)).
apply/andP; split.
  by apply: divr_ge0 (ltW m0); apply: sumr_ge0 => i _; case/andP: (xr l i).
rewrite ler_pdivr_mulr //; apply: (@le_trans _ _ (\sum_(i < m l) U)).
  by apply: ler_sum => i _; case/andP: (xr l i).
by rewrite sumr_const card_ord mulr_natr.
Qed.

(* If all samples of a user are equal, each is the average already. *)
Lemma levelled_flat (f : 'I_L -> R) l (j : 'I_(m l)) : @levelled (own f) l j = f l.
Proof.
rewrite /levelled /own sumr_const card_ord -[X in X / _]mulr_natr mulfK // pnatr_eq0.
by rewrite -lt0n (leq_ltn_trans _ (ltn_ord j)).
Qed.

Lemma averaged_flat (f : 'I_L -> R) : averaged (own f) = clipped_mean (own a) (own b) (own f).
Proof. by rewrite averaged_is; congr (_ / _); apply: eq_bigr => l _; apply: eq_bigr => j _; rewrite levelled_flat. Qed.

(* begin prp-averaging-theorem *)
(* Clipping averages and clipping samples have the same worst-case bias and the same sensitivity. *)
Theorem averaging (W : R) : is_clipping U (own a) (own b) -> is_largest_width (own a) (own b) W ->
  let A := \sum_l \sum_(j < m l) a l in
  let B := \sum_l \sum_(j < m l) (U - b l) in
  [/\ is_worst_case_bias U (clipped_mean (own a) (own b)) (Num.max A B / N)
      /\ is_sensitivity U (clipped_mean (own a) (own b)) (W / N)
    & is_worst_case_bias U averaged (Num.max A B / N) /\ is_sensitivity U averaged (W / N)].
(* end prp-averaging-theorem *)
Proof.
move=> cl lw A B; have [bias sens _] := thm_lemma 1 cl lw; split=> //; split.
  have [_ most] := bias; split=> [|x xr]; last first.
    by rewrite -mean_levelled averaged_is; apply: most; exact: levelled_range.
  have U0 l (j : 'I_(m l)) : 0 <= U by case: (cl l j) => h1 h2 h3; rewrite (le_trans h1) ?(le_trans h2).
  have AB0 : 0 <= A /\ 0 <= B.
    by split; apply: sumr_ge0 => l _; apply: sumr_ge0 => j _; case: (cl l j); rewrite ?subr_ge0.
  have size (f : 'I_L -> R) : `|mean (own f) - averaged (own f)|
      = `|\sum_l \sum_(j < m l) (f l - clip (a l) (b l) (f l))| / N.
    by rewrite averaged_flat mean_sub_clipped normrM [`|N^-1|]ger0_norm ?invr_ge0 ?ler0n.
  case: (leP A B) => AB.
    exists (own (fun=> U)) => [l j|]; first by rewrite lexx (U0 l j).
    rewrite size -[B in RHS](ger0_norm AB0.2); congr (`|_| / _); apply: eq_bigr => l _; apply: eq_bigr => j _.
    by case: (cl l j) => h1 h2 h3; rewrite clip_high.
  exists (own (fun=> 0)) => [l j|]; first by rewrite lexx (U0 l j).
  rewrite size -[A in RHS](ger0_norm AB0.1) -normrN; congr (`|_| / _); rewrite -sumrN; apply: eq_bigr => l _.
  by rewrite -sumrN; apply: eq_bigr => j _; case: (cl l j) => h1 h2 h3; rewrite clip_low // sub0r opprK.
have [_ most] := sens; split=> [|x y xr yr [l same]]; last first.
  rewrite !averaged_is; apply: most; try exact: levelled_range.
  by exists l => l' ll' j; congr (_ / _); apply: eq_bigr => i _; exact: same.
have [[l0 _ wl0] _] := lw; have U0 l (j : 'I_(m l)) : 0 <= U.
  by case: (cl l j) => h1 h2 h3; rewrite (le_trans h1) ?(le_trans h2).
pose top l : R := if l == l0 then U else 0.
exists (own top), (own (fun=> 0)); split.
- by move=> l j; rewrite /own /top; case: ifP => _; rewrite lexx (U0 l j).
- by move=> l j; rewrite lexx (U0 l j).
- by exists l0 => l ll0 j; rewrite /own /top (negbTE ll0).
rewrite !averaged_flat (@clipped_sub _ _ _ _ _ _ _ l0) => [|l ll0 j]; last by rewrite /own /top (negbTE ll0).
rewrite normrM [`|_^-1|]ger0_norm ?invr_ge0 ?ler0n // -sumrB -wl0 /own /top eqxx; congr (_ / _).
rewrite -[RHS]ger0_norm; last by apply: sumr_ge0 => j _; rewrite subr_ge0; case: (cl l0 j).
by congr `|_|; apply: eq_bigr => j _; case: (cl l0 j) => h1 h2 h3; rewrite clip_low // clip_high.
Qed.
End Averages.
