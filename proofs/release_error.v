(* The error of thm-akmv-exact is that of the mechanism that release.v proves private. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts frontier chain exponential akmv privacy composition densities line noise thresholds release.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* The density of the threshold is constant in a cell, and its integral there is the cell's probability. *)
Section Cells.
Variables (R : realFieldType) (L : nat) (s : 'I_L -> R) (V : R).
Hypothesis range : forall l, 0 <= s l <= V.
Hypothesis V0 : 0 < V.

Lemma reach_in_cell n t : (n <= L)%N -> cell_lo s V n < t <= cell_hi s V n -> reach s t = n.
Proof.
move=> nL /andP [lo hi]; apply/eqP; rewrite -(eqr_nat R); apply/eqP.
have -> : (reach s t)%:R = \sum_l (t <= s l)%R%:R :> R.
  by rewrite -natr_sum /reach -sum1_card big_mkcond; congr (_%:R).
rewrite (sum_in_order s V (fun u => (t <= u)%R%:R)).
rewrite (eq_bigr (fun i : 'I_L => (i < n)%:R)) => [|i _]; last first.
  congr (_%:R); case: (ltnP i n) => ni; congr nat_of_bool.
    by apply: (le_trans hi); apply: (nth_sum_mono range V0); rewrite ni leqW.
  apply: lt_geF; apply: le_lt_trans lo; apply: (nth_sum_mono range V0).
  by rewrite !ltnS ni ltnW.
rewrite -natr_sum; congr (_%:R); rewrite (eq_bigr (fun i : 'I_L => if (i < n)%N then 1%N else 0%N)).
  by rewrite -big_mkcond (big_ord_narrow nL) sum1_card card_ord.
by move=> i _; case: ifP.
Qed.

Lemma integral_rev (g : R -> R) (u : seq R) :
  integral g 0 (rev u) = \sum_(i < size u) (nth 0 u i - nth 0 u i.+1) * g (nth 0 u i).
Proof.
have rconsE b w a : integral g a (rcons w b) = integral g a w + (b - last a w) * g b.
  by elim: w a => [|c w IH] a /=; [rewrite addr0 add0r | rewrite IH addrA].
elim: u => [|x u IH]; first by rewrite big_ord0.
rewrite rev_cons rconsE big_ord_recl IH addrC /=; congr ((_ - _) * _ + _).
by case: (u) => //= y w; rewrite rev_cons last_rcons.
Qed.

Lemma total_weight q k : integral (weight k q s) 0 (cuts V s) = \sum_(n < L.+1) cell_weight s V q k n.
Proof.
pose u := V :: sort >=%O [seq s l | l <- enum 'I_L].
have sorted_u : sorted >=%O u.
  rewrite /= (path_sortedE ge_trans) (sort_sorted ge_total) andbT; apply/allP => t.
  by rewrite mem_sort => /mapP [l _ ->]; case/andP: (range l).
have -> : cuts V s = rev u.
  apply: (sorted_eq le_trans le_anti); first exact: sort_sorted le_total _.
    by rewrite rev_sorted.
  by rewrite /cuts perm_sort perm_sym perm_rev perm_cons perm_sort.
rewrite integral_rev (_ : size u = L.+1); last by rewrite /= size_sorted.
apply: eq_bigr => n _; have nL : (n <= L)%N by rewrite -ltnS.
rewrite -[nth 0 u n]/(cell_hi s V n) -[nth 0 u n.+1]/(cell_lo s V n) /cell_weight.
have := cell_le range V0 nL; rewrite le_eqVlt => /orP [/eqP ->|w]; first by rewrite subrr !mul0r.
by rewrite /weight (reach_in_cell nL) // w lexx.
Qed.

(* begin thm-akmv-exact-density *)
(* The density of the private quantile (privacy.v) in a cell, times its width. *)
Theorem density_in_cell (q : R) (k n : nat) (t : R) : (n <= L)%N -> cell_lo s V n < t <= cell_hi s V n ->
  density V k q s t * (cell_hi s V n - cell_lo s V n) = cell_prob s V q k n.
(* end thm-akmv-exact-density *)
Proof.
move=> nL tn; rewrite /density total_weight /cell_prob mulrAC; congr (_ / _).
by rewrite /weight (reach_in_cell nL tn) mulrC.
Qed.

(* Each threshold lies in one cell. *)
Lemma one_cell t : 0 < t <= V -> \sum_(n < L.+1) (if cell_lo s V n < t <= cell_hi s V n then 1 else 0) = 1 :> R.
Proof.
move=> /andP [t0 tV]; pose below n : R := if t <= nth_sum s V n then 1 else 0.
transitivity (\sum_(0 <= n < L.+1) (below n - below n.+1)).
  rewrite big_mkord; apply: eq_bigr => n _; rewrite /below -/(cell_hi s V n) -/(cell_lo s V n).
  have nL : (n <= L)%N by rewrite -ltnS.
  have lh := cell_le range V0 nL; rewrite ltNge.
  case: (leP t (cell_lo s V n)) => lo; last by case: (leP t (cell_hi s V n)) => _; rewrite subr0.
  by rewrite (le_trans lo lh) subrr.
rewrite (eq_bigr (fun n => - (below n.+1 - below n))) => [|n _]; last by rewrite opprB.
rewrite sumrN telescope_sumr // /below nth_sum_last /nth_sum /= tV leNgt t0.
by rewrite sub0r opprK.
Qed.
End Cells.

Section Error.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R) (exp : R -> R).
Notation N := (N R m).
Notation T := (threshold m U).
Notation V := (V m U).
Variables (H' : (R -> R) -> Prop) (J : (R -> R) -> R).
Notation H := (thresholds_have (m := m) (U := U) H').
Notation I := (over_thresholds (m := m) (U := U) J).
Hypothesis is_exp : is_exponential exp.
Hypothesis U0 : 0 < U.
Hypothesis Npos : (0 < \sum_l m l)%N.
Hypothesis HJ : is_line_integral H' J.

Let HI : is_integral H I. Proof. exact: thresholds_integral. Qed.

Lemma integral_sum n (h : 'I_n -> T -> R) h0 : H h0 -> (forall i, H (h i)) ->
  H (fun t => \sum_i h i t) /\ I (fun t => \sum_i h i t) = \sum_i I (h i).
Proof.
have [ext lin _] := HI => Hh0; elim: n h => [|n IH] h Hh.
  have [H0 I0] := integral_scale HI 0 Hh0.
  have e t : 0 * h0 t = \sum_(i < 0) h i t by rewrite mul0r big_ord0.
  by split; [exact: ext H0 e | rewrite -(integral_ext HI H0 e) I0 mul0r big_ord0].
have [Hr Ir] := IH (fun i => h (lift ord0 i)) (fun i => Hh _).
have [Hs Is] := lin 1 _ _ (Hh ord0) Hr.
have e t : 1 * h ord0 t + \sum_i h (lift ord0 i) t = \sum_i h i t by rewrite big_ord_recl mul1r.
by split; [exact: ext Hs e | rewrite -(integral_ext HI Hs e) Is Ir mul1r big_ord_recl].
Qed.

(* The mean of the error over the threshold: cell by cell, the error is linear in it. *)
Lemma error_mean eps eps' k x : in_range U x ->
  let f (t : T) := error_at m (sums x) eps (sval t) * threshold_density exp eps' k x t in
  H f /\ I f = akmv_error m (sums x) V eps (exp (- (eps' / 2))) k.
Proof.
move=> xr f; have range := sums_range U0 xr; have V0 := V_gt0 U0 Npos.
set q := exp _; set s := sums x in f range *.
pose lo (n : 'I_L.+1) := cell_lo s V n; pose hi (n : 'I_L.+1) := cell_hi s V n.
have nL (n : 'I_L.+1) : (n <= L)%N by rewrite -ltnS.
have lh n : lo n <= hi n := cell_le range V0 (nL n).
have lo0 n : 0 <= lo n := cell_lo_ge0 range V0 (nL n).
have hiV n : hi n <= V by apply: (nth_sum_mono range V0 (i := 0)); rewrite leqW.
have lh0 n : 0 <= lo n <= hi n by rewrite lo0 lh.
pose A (n : 'I_L.+1) := \sum_(i < n) nth_sum s V i.+1; pose B (n : 'I_L.+1) := 2 / eps - n%:R.
pose c (n : 'I_L.+1) := cell_prob s V q k n / (hi n - lo n) / N.
pose h n (t : T) := c n * A n * (if lo n < sval t <= hi n then 1 else 0)
  + c n * B n * (if lo n < sval t <= hi n then sval t else 0).
have [ext lin _] := HI.
have Hh n : H (h n) /\ I (h n) = c n * A n * (hi n - lo n) + c n * B n * ((hi n ^+ 2 - lo n ^+ 2) / 2).
  have [Hi Ii] := thresholds_length HJ (lh0 n) (hiV n); have [Hl Il] := thresholds_line HJ (lh0 n) (hiV n).
  have [Hb Ib] := integral_scale HI (c n * B n) Hl; have [Hs Is] := lin (c n * A n) _ _ Hi Hb.
  by split=> //; rewrite Is Ii Ib Il.
have [Hi0 _] := thresholds_length HJ (lh0 ord0) (hiV ord0).
have [Hs Is] := integral_sum Hi0 (fun n => proj1 (Hh n)).
have e t : \sum_n h n t = f t.
  have tV : 0 < sval t <= V := svalP t.
  rewrite -[RHS]mulr1 -(one_cell range V0 tV) mulr_sumr; apply: eq_bigr => n _; rewrite /h -/(lo n) -/(hi n).
  case: ifP => tn; last by rewrite !mulr0 addr0.
  have /andP [l_t t_h] := tn; have w : hi n - lo n != 0 by rewrite gt_eqF // subr_gt0 (lt_le_trans l_t).
  rewrite /f (error_in_cell m range V0 eps (nL n)) ?(ltW l_t) //.
  have := density_in_cell range V0 q k (nL n) tn; rewrite -/(lo n) -/(hi n) /threshold_density -/s -/q /c -/(A n) -/(B n).
  by move=> <-; rewrite mulfK // !mulr1; move: (density _ _ _ _ _) (N^-1) => d i; ring.
split; first exact: ext Hs e.
rewrite -(integral_ext HI Hs e) Is /akmv_error; apply: eq_bigr => n _.
rewrite (proj2 (Hh n)) (cell_mean_error m range V0 eps (nL n)) -/(A n) -/(B n) /cell_mid -/(lo n) -/(hi n) /c.
have [w|w] := eqVneq (hi n - lo n) 0.
  by rewrite w /cell_prob /cell_weight -/(lo n) -/(hi n) w !mul0r addr0.
by move: (cell_prob _ _ _ _ _) (N^-1) (A n) (B n) (hi n) (lo n) w => p i a b y z w; field.
Qed.
End Error.

(* begin thm-akmv-exact-release *)
(* For the release of prop_akmv_private, the mean of what capping removes plus the absolute value of the
   noise is akmv_error.  The mean absolute error, if it exists, is at most that. *)
Theorem error_of_release (R : realFieldType) (exp : R -> R) L (m : 'I_L -> nat) (U : R)
    (H : (R -> R) -> Prop) (J : (R -> R) -> R) (eps' eps'' : R) (k : nat) (x : dataset R m) :
  is_exponential exp -> is_line_integral H J -> 0 < U -> (0 < \sum_l m l)%N -> 0 <= eps' -> 0 < eps'' -> in_range U x ->
  let space := akmv_space m U exp H J eps' eps'' k in
  let E := akmv m U exp J eps' eps'' k x in
  let error := akmv_error m (sums x) (V m U) (2 * eps'') (exp (- (eps' / 2))) k in
  E (fun p => (mean x - capped_mean (sval p.1) x) + `|capped_mean (sval p.1) x - p.2|) = error
  /\ (space (fun p => `|mean x - p.2|) -> E (fun p => `|mean x - p.2|) <= error).
(* end thm-akmv-exact-release *)
Proof.
move=> is_exp HJ U0 Npos e_ge0 e0 xr space E error; have HI := @thresholds_integral _ _ m U _ _ HJ.
have N0 : 0 < N R m by rewrite ltr0n.
have [Hf If] := error_mean exp U0 Npos HJ (2 * eps'') eps' k xr.
have HL := line_integral HJ; have [ext' lin' mono'] := HL; have [_ _ mono] := HI.
have b0 (t : threshold m U) : 0 < sval t / (eps'' * N R m).
  by have /andP [t0 _] := svalP t; rewrite divr_gt0 // mulr_gt0.
pose lost (t : threshold m U) := mean x - capped_mean (sval t) x.
have lost0 t : 0 <= lost t.
  rewrite /lost capped_lost divr_ge0 ?(ltW N0) // sumr_ge0 // => l _.
  by rewrite le_maxr lexx orbT.
(* at each threshold *)
have inner t : H (fun y => (lost t + `|capped_mean (sval t) x - y|) * noisy_density exp eps'' t x y)
    /\ J (fun y => (lost t + `|capped_mean (sval t) x - y|) * noisy_density exp eps'' t x y)
       = error_at m (sums x) (2 * eps'') (sval t).
  have [Hl Jl] := laplace_mass is_exp HJ (capped_mean (sval t) x) (b0 t).
  have [Hs Js] := laplace_size (capped_mean (sval t) x) is_exp HJ (b0 t).
  have [Ht Jt] := lin' (lost t) _ _ Hl Hs.
  have e y : lost t * laplace exp (sval t / (eps'' * N R m)) (capped_mean (sval t) x) y
      + `|capped_mean (sval t) x - y| * laplace exp (sval t / (eps'' * N R m)) (capped_mean (sval t) x) y
    = (lost t + `|capped_mean (sval t) x - y|) * noisy_density exp eps'' t x y.
    by rewrite /noisy_density [RHS]mulrDl.
  split; first exact: ext' Ht e.
  rewrite -(integral_ext HL Ht e) Jt Jl Js mulr1 /lost capped_lost /error_at mulrDl; congr (_ + _).
  by have := N0; move: (sval t) (N R m) => u n n0; field; rewrite !gt_eqF.
have E1 : E (fun p => (mean x - capped_mean (sval p.1) x) + `|capped_mean (sval p.1) x - p.2|) = error.
  rewrite -[RHS]If /E /akmv /in_turn /draw; apply/esym/(integral_ext HI Hf) => t.
  by rewrite (proj2 (inner t)).
split=> // [[Hy /(_ x xr) Ht]]; rewrite -[leRHS]If /E /akmv /in_turn /draw; apply: mono; [exact: Ht | exact: Hf | move=> t].
apply: ler_wpmul2r; last rewrite -(proj2 (inner t)).
  by have [d0 _ _] := threshold_law is_exp U0 Npos HJ k e_ge0 xr.
apply: mono'; [exact: (Hy t x xr) | exact: (proj1 (inner t)) | move=> y].
apply: ler_wpmul2r.
  by apply: divr_ge0; [exact/ltW/(exp_gt0 is_exp) | rewrite mulr_ge0 ?ler0n ?(ltW (b0 t))].
by have := ler_norm_add (lost t) (capped_mean (sval t) x - y); rewrite (ger0_norm (lost0 t)) /lost addrA subrK.
Qed.
