(* The width that minimises an error that weighs bias against noise by their ratio: it follows from one
   stationary ratio. *)
(* Here are defined: excess, N times the bias of symmetric intervals; weighed_error, the error of a width;
   has_slope, what is assumed of the weight; is_stationary, the best ratio while n users are clipped;
   width_of and best_width, the width that it gives, and the best one while n users are clipped. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring zify.
From UserDP Require Import definitions linear counts.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin def-stationary *)
(* h is nowhere below the line of slope k x through any of its points; k grows from 0 on and stays below
   1. *)
Definition has_slope (R : realFieldType) (h k : R -> R) : Prop :=
  [/\ forall x y, 0 <= x -> 0 <= y -> h x + k x * (y - x) <= h y,
      forall x y, 0 <= x -> x < y -> k x < k y, k 0 = 0, 0 < h 0 & forall x, 0 <= x -> k x < 1].
(* The ratio of bias to width that is best while n users are clipped. *)
Definition is_stationary (R : realFieldType) (h k : R -> R) (n : nat) (x : R) : Prop :=
  0 < x /\ h x = (x + n%:R / 2) * k x.
(* end def-stationary *)

Section Widths.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).

(* begin def-stationary *)
(* B (S) and J (S) of the book: N times the bias of the symmetric intervals of total width S, and an error that
   weighs it. *)
Definition excess (S : R) : R := (\sum_l Num.max (U * (m l)%:R - S) 0) / 2.
Definition weighed_error (h : R -> R) (S : R) : R := if S == 0 then excess 0 else S * h (excess S / S).
(* S_n, and the nearest width to it in [v (n + 1), v n]. *)
Definition width_of (n : nat) (x : R) : R := U * sum_of_largest m n%:R / (n%:R + 2 * x).
Definition best_width (n : nat) (x : R) : R := clip (v m U n.+1) (v m U n) (width_of n x).
(* end def-stationary *)
End Widths.

Section Slope.
Variables (R : realFieldType) (h k : R -> R).
Hypothesis slope : has_slope h k.

(* h touches such a line at one point only: between two points, slopes have grown. *)
Lemma above_line x y : 0 <= x -> 0 <= y -> y != x -> h x + k x * (y - x) < h y.
Proof.
have [line grows _ _ _] := slope => x0 y0 yx; pose z := (x + y) / 2.
have z0 : 0 <= z by rewrite /z; linear.
apply: lt_le_trans (line z y z0 y0); have := line x z x0 z0.
have half : y - z = z - x /\ y - x = 2 * (z - x) by rewrite /z; split; linear.
have [-> e] := half; rewrite e mulrCA; suff : k x * (z - x) < k z * (z - x).
  by move: (k x * _) (k z * _) => a b; linear.
move: yx; rewrite neq_lt => /orP [] far.
  have n0 : z - x < 0 by clear -e far; move: (z - x) e => w e; linear.
  by rewrite ltr_nmul2r //; apply: grows => //; rewrite /z; linear.
have p0 : 0 < z - x by clear -e far; move: (z - x) e => w e; linear.
by rewrite ltr_pmul2r //; apply: grows => //; rewrite /z; linear.
Qed.

Lemma slope_ge0 x : 0 <= x -> 0 <= k x.
Proof.
have [_ grows k0 _ _] := slope; rewrite le_eqVlt => /orP [/eqP <-|x0]; first by rewrite k0.
by apply: ltW; rewrite -k0; exact: grows.
Qed.

(* What the slope of the error is, at a ratio x. *)
Definition error_slope (n : nat) (x : R) : R := h x - (x + n%:R / 2) * k x.

Lemma error_slope_falls n x y : (0 < n)%N -> 0 <= x -> x < y -> error_slope n y < error_slope n x.
Proof.
have [line grows _ _ _] := slope => n0 x0 xy; have n1 : 0 < n%:R :> R by rewrite ltr0n.
have := line y x (le_trans x0 (ltW xy)) x0; have : 0 < x + n%:R / 2 by linear.
move/(ltr_pmul2l)=> e; have := grows x y x0 xy; rewrite -e /error_slope.
by move: (k x) (k y) => a b; linear.
Qed.
End Slope.

Section Best.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R) (h k : R -> R).
Hypothesis U0 : 0 < U.
Hypothesis Npos : (0 < \sum_l m l)%N.
Hypothesis slope : has_slope h k.
Notation c := (nth_count m).
Notation B := (excess m U).
Notation J := (weighed_error m U h).
Notation v := (v m U).
Notation A n := (U * sum_of_largest m n%:R).

Let excess_ge0 S : 0 <= B S.
Proof. by rewrite divr_ge0 ?ler0n // sumr_ge0 // => l _; rewrite le_maxr lexx orbT. Qed.

Let excess_falls S S' : S <= S' -> B S' <= B S.
Proof.
move=> le; apply: ler_wpmul2r; first by rewrite invr_ge0 ler0n.
by apply: ler_sum => l _; minmax; linear.
Qed.

(* B is at least each of these lines, and equal to the n-th one while n users are clipped. *)
Let excess_ge n S : 0 <= S -> (A n - n%:R * S) / 2 <= B S.
Proof.
move=> S0; have := sum_largest_le m U (ler0n R n) S0; rewrite /excess; move: (sum_of_largest _ _) (\sum_l _) => a b.
by move=> le; linear.
Qed.

Let excess_is n S : (0 < n <= L)%N -> v n.+1 <= S <= v n -> B S = (A n - n%:R * S) / 2.
Proof.
move=> /andP [n0 nL] /andP [lo hi]; rewrite /excess; congr (_ / _).
rewrite (sum_largest_split m U S (ler0n R n)) min_r ?ler_nat // [S * _]mulrC addrK.
rewrite (sum_over_sorted m (fun k => Num.max (U * k%:R - S) 0)); apply: eq_bigr => i _; rewrite /weight.
case: (ltnP i n) => ini.
  have : U * (c n.-1)%:R <= U * (c i)%:R by rewrite ler_pmul2l // ler_nat nth_count_mono //; lia.
  have : i.+1%:R <= n%:R :> R by rewrite ler_nat.
  rewrite -[i.+1]addn1 natrD => ni ci; rewrite (_ : Num.min _ _ = 1) ?mul1r; last by minmax; linear.
  by rewrite max_l // subr_ge0 (le_trans hi).
have : U * (c i)%:R <= U * (c n)%:R by rewrite ler_pmul2l // ler_nat nth_count_mono.
have : n%:R <= i%:R :> R by rewrite ler_nat.
move=> ni ci; rewrite (_ : Num.min _ _ = 0) ?mul0r; last by minmax; linear.
by rewrite max_r // subr_le0 (le_trans ci).
Qed.

Let top_gt0 : 0 < v 1.
Proof.
rewrite mulr_gt0 // ltr0n lt0n; apply: contraL Npos => /eqP z; rewrite -eqn0Ngt big1 // => l _.
by apply/eqP; rewrite -leqn0 -z; exact: le_first_count.
Qed.

Let A_gt0 n : (0 < n)%N -> 0 < A n.
Proof.
move=> n0; apply: lt_le_trans top_gt0 _; rewrite /definitions.v /= ler_pmul2l //.
by rewrite -[(c 0)%:R]mul1r -sum_largest_first ?ler01 //; apply: sum_largest_mono; rewrite ler1n.
Qed.

Let L_gt0 : (0 < L)%N.
Proof.
rewrite lt0n; apply/eqP => z; have := top_gt0; rewrite /definitions.v /= nth_count_beyond ?z //.
by rewrite mulr0 ltxx.
Qed.

(* At every width some number n of users is clipped. *)
Let in_piece S : 0 <= S <= v 1 -> exists n, (0 < n <= L)%N /\ v n.+1 <= S <= v n.
Proof.
move=> /andP [S0 Stop]; have ex : exists n, v n.+2 <= S.
  by exists L; rewrite /definitions.v /= nth_count_beyond ?mulr0.
case: (ex_minnP ex) => n low least; exists n.+1; split.
  have := least L.-1; rewrite /definitions.v /= prednK // nth_count_beyond ?mulr0 // => /(_ S0).
  by have := L_gt0; lia.
rewrite low /=; case: n low least => [//|n] _ least; rewrite leNgt; apply/negP => h'.
by have := least n (ltW h'); rewrite ltnn.
Qed.

(* The error lies above a line through each point of its graph, and touches it at that point only. *)
Let tangent n S S' : (0 < n <= L)%N -> v n.+1 <= S <= v n -> 0 < S -> 0 <= S' <= v 1 -> S' != S ->
  J S + error_slope h k n (B S / S) * (S' - S) < J S'.
Proof.
move=> nL piece S0 /andP [S'0 S'top] ne; have [line grows k0 h0 k1] := slope.
have n0 : (0 < n)%N by case/andP: nL.
set x := B S / S; have x0 : 0 <= x by rewrite divr_ge0 // ltW.
have BS : B S = S * x by rewrite mulrC divfK ?gt_eqF.
have AE : A n / 2 = S * x + S * (n%:R / 2).
  by move: BS; rewrite (excess_is nL piece); move: (A n) => a; linear.
have JS : J S = S * h x by rewrite /weighed_error gt_eqF.
have lineE : J S + error_slope h k n x * (S' - S) = S' * h x + k x * (A n / 2 - n%:R / 2 * S' - S' * x).
  by rewrite JS AE /error_slope; move: (h x) (k x) (x) n%:R => a b y w; field.
rewrite lineE; have kx := slope_ge0 slope x0.
move: S'0; rewrite le_eqVlt => /orP [/eqP z|S'0].
  rewrite -z /weighed_error eqxx !mul0r mulr0 !subr0 add0r; apply: lt_le_trans (excess_ge n (lexx 0)).
  by rewrite mulr0 subr0 gtr_pmull ?k1 // divr_gt0 ?A_gt0 ?ltr0n.
set x' := B S' / S'; have x'0 : 0 <= x' by rewrite divr_ge0 // ltW.
have BS' : B S' = S' * x' by rewrite mulrC divfK ?gt_eqF.
have -> : J S' = S' * h x' by rewrite /weighed_error gt_eqF.
have le : A n / 2 - n%:R / 2 * S' <= S' * x'.
  by rewrite -BS'; apply: le_trans (excess_ge n (ltW S'0)); rewrite mulrBl [n%:R * _ / _]mulrAC.
apply: (@le_lt_trans _ _ (S' * (h x + k x * (x' - x)))).
  rewrite [S' * (_ + _)]mulrDr ler_add2l [S' * (k x * _)]mulrCA; apply: ler_wpmul2l => //; rewrite mulrBr.
  by rewrite ler_add2r.
rewrite ltr_pmul2l //; apply: (above_line slope) => //; apply/eqP => xx.
(* with the same ratio S' would be the larger width, and have as much bias: only 0, which it has not *)
have n2 : 0 < x + n%:R / 2 by rewrite ltr_paddl // divr_gt0 ?ltr0n.
have SS' : S < S'.
  have : A n / 2 <= S' * x + S' * (n%:R / 2) by rewrite -ler_subl_addr [S' * (_ / _)]mulrC -xx.
  by rewrite AE -!mulrDr ler_pmul2r // lt_neqAle eq_sym ne.
have : 0 < B S.
  apply: lt_le_trans (excess_ge 1 (ltW S0)); rewrite divr_gt0 ?ltr0n // mul1r sum_largest_first ?ler01 // mul1r subr_gt0.
  exact: lt_le_trans SS' S'top.
rewrite BS (pmulr_rgt0 _ S0) => xp; have := excess_falls (ltW SS').
by rewrite BS BS' xx ler_pmul2r // leNgt SS'.
Qed.

Let tangent_le n S S' : (0 < n <= L)%N -> v n.+1 <= S <= v n -> 0 < S -> 0 <= S' <= v 1 ->
  J S + error_slope h k n (B S / S) * (S' - S) <= J S'.
Proof.
move=> nL piece S0 r; case: (eqVneq S' S) => [->|ne]; first by rewrite subrr mulr0 addr0.
exact/ltW/tangent.
Qed.

(* begin thm-stationary *)
(* (1) The error is strictly convex, so at most one width minimises it. *)
Theorem weighed_convex (S S' t : R) : 0 <= S <= v 1 -> 0 <= S' <= v 1 -> 0 <= t <= 1 ->
  J (t * S + (1 - t) * S') <= t * J S + (1 - t) * J S'
  /\ (0 < t < 1 -> S != S' -> J (t * S + (1 - t) * S') < t * J S + (1 - t) * J S').
(* end thm-stationary *)
Proof.
move=> rS rS' /andP [t0 t1]; set T := t * S + (1 - t) * S'.
have t1' : 0 <= 1 - t by rewrite subr_ge0.
have [[S0 Stop] [S'0 S'top]] := (andP rS, andP rS').
have [p1 p2] : 0 <= t * S /\ 0 <= (1 - t) * S' by split; exact: mulr_ge0.
have [T0|T0] : T = 0 \/ 0 < T.
  by have : 0 <= T := addr_ge0 p1 p2; rewrite le_eqVlt => /orP [/eqP <-|]; [left | right].
  have [z1 z2] : t * S = 0 /\ (1 - t) * S' = 0 by move: T0 p1 p2; rewrite /T; move: (t * S) ((1 - t) * S') => a b e a0 b0; split; linear.
  have same a u : a * u = 0 -> a * J u = a * J 0.
    by move=> /eqP; rewrite mulf_eq0 => /orP [/eqP ->|/eqP ->] //; rewrite !mul0r.
  rewrite T0 (same _ _ z1) (same _ _ z2) -mulrDl addrC subrK mul1r; split=> // /andP [tp tq] /eqP [].
  have /eqP := z1; have /eqP := z2; rewrite !mulf_eq0 (gt_eqF tp) subr_eq0 [1 == t]gt_eqF //=.
  by move=> /eqP -> /eqP ->.
have Ttop : T <= v 1.
  have := ler_wpmul2l t0 Stop; have := ler_wpmul2l t1' S'top; rewrite /T [(1 - t) * v 1]mulrBl mul1r.
  by move: (t * S) ((1 - t) * S') (t * v 1) => a b d; linear.
have [|n [nL piece]] := in_piece (S := T); first by rewrite ltW.
have level a : t * (a * (S - T)) + (1 - t) * (a * (S' - T)) = 0 by rewrite /T; ring.
have := tangent_le nL piece T0 rS'; have := tangent_le nL piece T0 rS; have := tangent nL piece T0 rS.
move: (error_slope _ _ _ _) => a far le le'; have := level a; move: le le' far.
move: (a * (S - T)) (a * (S' - T)) => u w le le' far e.
have sum : t * (J T + u) + (1 - t) * (J T + w) = J T by rewrite -[RHS]addr0 -e; ring.
split=> [|/andP [tp tq] ne]; first by rewrite -[leLHS]sum; apply: ler_add; apply: ler_wpmul2l.
rewrite -[ltLHS]sum; apply: ltr_le_add; last exact: ler_wpmul2l.
rewrite ltr_pmul2l //; apply: far; rewrite -subr_eq0 (_ : S - T = (1 - t) * (S - S')); last by rewrite /T; ring.
by rewrite mulf_neq0 ?subr_eq0 // gt_eqF.
Qed.

(* begin thm-stationary *)
(* (2) At most one ratio is stationary.  While n users are clipped, the width that it gives, or the nearer
   end if it is outside, has a smaller error than every other. *)
Theorem best_in_piece (n : nat) (x : R) : (0 < n <= L)%N -> is_stationary h k n x ->
  (forall y, is_stationary h k n y -> y = x)
  /\ (forall S, v n.+1 <= S <= v n -> S != best_width m U n x -> J (best_width m U n x) < J S).
(* end thm-stationary *)
Proof.
move=> nL [x0 xE]; have n0 : (0 < n)%N by case/andP: nL.
have zero y : 0 < y /\ h y = (y + n%:R / 2) * k y -> error_slope h k n y = 0.
  by move=> [_ e]; rewrite /error_slope e subrr.
split=> [y yE|S /andP [Slo Shi]].
  have [y0 _] := yE; case: (ltgtP y x) => // lt.
    by have := error_slope_falls slope n0 (ltW y0) lt; rewrite !zero // ltxx.
  by have := error_slope_falls slope n0 (ltW x0) lt; rewrite !zero // ltxx.
have ends : v n.+1 <= v n := le_trans Slo Shi.
have q0 : 0 < n%:R + 2 * x by rewrite addr_gt0 ?mulr_gt0 ?ltr0n.
have w0 : 0 < width_of m U n x by rewrite divr_gt0 ?A_gt0.
have vtop : v n <= v 1 by rewrite ler_pmul2l // ler_nat; apply: nth_count_mono.
have v0 i : 0 <= v i by rewrite mulr_ge0 ?ler0n ?ltW.
set T := best_width m U n x => ne; have piece : v n.+1 <= T <= v n.
  by rewrite /T /best_width /clip; move: (width_of _ _ _ _) => w; minmax; linear.
have T0 : 0 < T.
  rewrite lt_neqAle (le_trans (v0 n.+1)) ?andbT; last by case/andP: piece.
  apply/eqP => z; case/eqP: ne; apply: le_anti; move: z w0; rewrite /T /best_width /clip.
  have := v0 n.+1; move: (width_of _ _ _ _) => w; minmax; linear.
have rS : 0 <= S <= v 1 by rewrite (le_trans (v0 n.+1) Slo) (le_trans Shi).
apply: le_lt_trans (tangent nL piece T0 rS ne); rewrite ler_addl.
set y := B T / T; have y0 : 0 <= y by rewrite divr_ge0 // ltW.
have yE : T * (n%:R + 2 * y) = width_of m U n x * (n%:R + 2 * x).
  by rewrite /width_of divfK ?gt_eqF // /y (excess_is nL piece); move: (A n) => a; field; rewrite gt_eqF.
have slope_at : error_slope h k n x = 0 by exact: zero.
have two : 0 < 2 :> R by rewrite ltr0n.
case: (ltgtP (width_of m U n x) T) => wT.
- have TE : T = v n.+1 by move: wT; rewrite /T /best_width /clip; minmax; linear.
  have yx : y < x.
    by rewrite -(ltr_pmul2l two) -(ltr_add2l n%:R) -(ltr_pmul2l T0) yE ltr_pmul2r.
  have := error_slope_falls slope n0 y0 yx; rewrite slope_at => /ltW g0.
  by apply: mulr_ge0; rewrite // subr_ge0 TE.
- have TE : T = v n by move: wT; rewrite /T /best_width /clip; minmax; linear.
  have yx : x < y.
    by rewrite -(ltr_pmul2l two) -(ltr_add2l n%:R) -(ltr_pmul2l T0) yE ltr_pmul2r.
  have := error_slope_falls slope n0 (ltW x0) yx; rewrite slope_at => /ltW g0.
  by apply: mulr_le0; rewrite // subr_le0 TE.
have -> : y = x.
  by apply: (mulfI (lt0r_neq0 two)); apply: (addrI n%:R); apply: (mulfI (lt0r_neq0 T0)); rewrite yE wT.
by rewrite slope_at mul0r.
Qed.

(* begin thm-stationary *)
(* (3) One of these widths is better than every other width. *)
Theorem best_of_all (x : nat -> R) : (forall n, (0 < n <= L)%N -> is_stationary h k n (x n)) ->
  exists2 n, (0 < n <= L)%N & let T := best_width m U n (x n) in
    0 <= T <= v 1 /\ forall S, 0 <= S <= v 1 -> S != T -> J T < J S.
(* end thm-stationary *)
Proof.
move=> stat; pose T n := best_width m U n (x n).
have vmono n n' : (n <= n')%N -> v n' <= v n.
  by move=> nn; rewrite ler_pmul2l // ler_nat; apply: nth_count_mono; lia.
have T_in n : (0 < n <= L)%N -> 0 <= T n <= v 1.
  move=> /andP [n0 _]; have := vmono _ _ (leqnSn n); have := vmono _ _ n0.
  have : 0 <= v n.+1 by rewrite mulr_ge0 ?ler0n ?ltW.
  rewrite /T /best_width /clip; move: (width_of _ _ _ _) (v n.+1) (v n) (v 1) => w a b d.
  by clear => *; minmax; apply/andP; split; linear.
have last : (L.-1 < L)%N by rewrite prednK.
have [i _ least] := arg_minP (P := predT) (i0 := Ordinal last) (fun i : 'I_L => J (T i.+1)) isT.
have iL : (0 < i.+1 <= L)%N by rewrite ltn_ord.
exists i.+1 => //; split; first exact: T_in.
rewrite -/(T i.+1); set T' := T i.+1.
have le S : 0 <= S <= v 1 -> J T' <= J S.
  move=> /in_piece [n [nL piece]]; have [n0 nL'] := andP nL.
  have n1 : (n.-1 < L)%N by rewrite prednK.
  have := least (Ordinal n1) isT; rewrite /= prednK // => h1.
  apply: le_trans h1 _; case: (eqVneq S (T n)) => [->//|ne].
  by have [_ best] := best_in_piece nL (stat n nL); exact/ltW/best.
move=> S rS ne; have rT : 0 <= T' <= v 1 := T_in _ iL.
have half : 0 <= (1 / 2 : R) <= 1 by apply/andP; split; linear.
have half' : 0 < (1 / 2 : R) < 1 by apply/andP; split; linear.
have [_ /(_ half' ne)] := weighed_convex rS rT half.
have /le : 0 <= 1 / 2 * S + (1 - 1 / 2) * T' <= v 1.
  by case/andP: rS; case/andP: rT => a0 a1 b0 b1; apply/andP; split; linear.
by move: (J T') (J S) (J _) => a b d; linear.
Qed.
End Best.
