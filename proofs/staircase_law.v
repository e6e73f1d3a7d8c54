(* The staircase law: its mass, its privacy, its mean absolute value and its mean square, and that no other
   first edge gives a smaller mean absolute value. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring zify.
From UserDP Require Import definitions linear chain exponential composition densities line geometric.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin def-staircase *)
(* j z is how many of the edges c, 1 + c, 2 + c, ... are at most |z|: those before the j z-th. *)
Definition counts_edges (R : realFieldType) (c : R) (j : R -> nat) : Prop :=
  forall z i, (i%:R + c <= `|z|) = (i < j z)%N.
(* The law of centre + scale Z, where Z has the staircase law; h stands for exp (eps / 2), so that
   h ^- 2 is exp (- eps), and gamma is 1 / (1 + h). *)
Definition gamma (R : realFieldType) (h : R) : R := 1 / (1 + h).
Definition staircase (R : realFieldType) (h : R) (j : R -> nat) (scale centre y : R) : R :=
  sinh_log h * (h ^- 2) ^+ j ((y - centre) / scale) / scale.
(* The same with the first edge at c, scaled to the mass 1. *)
Definition staircase_from (R : realFieldType) (c h : R) (j : R -> nat) (z : R) : R :=
  (1 - h ^- 2) / (2 * (c + (1 - c) * h ^- 2)) * (h ^- 2) ^+ j z.
(* end def-staircase *)

Section Sums.
Variable R : realFieldType.
Variable r : R.
Hypothesis r01 : 0 < r < 1.

Let r0 : 0 < r. Proof. by case/andP: r01. Qed.
Let r1 : 0 < 1 - r. Proof. by case/andP: r01; rewrite subr_gt0. Qed.
Let ne : 1 - r != 0. Proof. by rewrite gt_eqF. Qed.

(* Sums of powers, and what remains of them. *)
Lemma sum0 n : \sum_(i < n) r ^+ i = 1 / (1 - r) - r ^+ n * (1 / (1 - r)).
Proof.
elim: n => [|n IH]; first by rewrite big_ord0 expr0; field.
by rewrite big_ord_recr /= IH [r ^+ n.+1]exprS; move: (r ^+ n) => p; field.
Qed.

Lemma sum1 n : \sum_(i < n) i%:R * r ^+ i = r / (1 - r) ^+ 2 - r ^+ n * (n%:R / (1 - r) + r / (1 - r) ^+ 2).
Proof.
elim: n => [|n IH]; first by rewrite big_ord0 expr0; field.
by rewrite big_ord_recr /= IH [r ^+ n.+1]exprS -[n.+1]addn1 natrD; move: (r ^+ n) => p; field.
Qed.

Lemma sum2 n : \sum_(i < n) i%:R ^+ 2 * r ^+ i
  = r * (1 + r) / (1 - r) ^+ 3 - r ^+ n * (n%:R ^+ 2 / (1 - r) + 2 * n%:R * r / (1 - r) ^+ 2 + r * (1 + r) / (1 - r) ^+ 3).
Proof.
elim: n => [|n IH]; first by rewrite big_ord0 expr0; field.
by rewrite big_ord_recr /= IH [r ^+ n.+1]exprS -[n.+1]addn1 natrD; move: (r ^+ n) => p; field.
Qed.
End Sums.

Section Vanish.
Variables (R : realFieldType) (h : R).
Hypothesis archi : forall x : R, exists n : nat, x <= n%:R.
Hypothesis h1 : 1 < h.

Let h0 : 0 < h. Proof. exact: lt_trans ltr01 h1. Qed.

Lemma square_below n : n%:R * (n%:R - 1) * (h - 1) ^+ 2 / 2 + n%:R * (h - 1) + 1 <= h ^+ n.
Proof.
elim: n => [|n IH]; first by rewrite expr0 !mul0r !add0r.
have d0 : 0 < h - 1 by rewrite subr_gt0.
have := ler_wpmul2l (ltW h0) IH; rewrite -exprS -[n.+1]addn1 natrD; apply: le_trans.
have n0 := ler0n R n; have cube : 0 <= n%:R * (n%:R - 1) * (h - 1) ^+ 3.
  rewrite mulr_ge0 ?exprn_ge0 ?(ltW d0) //; case: (n) => [|k]; first by rewrite mul0r.
  by rewrite mulr_ge0 ?ler0n // subr_ge0 ler1n.
move: (n%:R) n0 cube => k k0; rewrite !exprS !expr0 !mulr1; set d := h - 1; have -> : h = 1 + d by rewrite /d; ring.
by linear.
Qed.

(* n h ^ - n is as small as is asked for. *)
Lemma linear_vanishes e : 0 < e -> exists2 n : nat, (0 < n)%N & n%:R * h^-1 ^+ n <= e.
Proof.
move=> e0; have d0 : 0 < h - 1 by rewrite subr_gt0.
have d2 : 0 < (h - 1) ^+ 2 by rewrite exprn_gt0.
have [n big] := archi (2 / (e * (h - 1) ^+ 2)); exists n.+1 => //.
rewrite exprVn ler_pdivr_mulr ?exprn_gt0 //; have := square_below n.+1.
have n0 : 0 < n.+1%:R :> R by rewrite ltr0n.
move/(ler_wpmul2l (ltW e0)); apply: le_trans.
move: big; rewrite ler_pdivr_mulr ?mulr_gt0 // -[n.+1]addn1 natrD addrK; have := ler0n R n.
move: (n%:R) (h - 1) d0 ((h - 1) ^+ 2) d2 => k d d0 d2 d20 k0 big.
have u : 0 <= (k + 1) * (k * (e * d2) - 2) by rewrite mulr_ge0 ?subr_ge0 // addr_ge0 ?ler01.
have w : 0 <= e * ((k + 1) * d) by rewrite mulr_ge0 ?(ltW e0) // mulr_ge0 ?(ltW d0) // addr_ge0 ?ler01.
by linear.
Qed.

(* So is what remains of the sums. *)
Lemma rest_vanishes a b c e : 0 < e -> 0 <= a -> 0 <= b -> 0 <= c ->
  exists n : nat, (h ^- 2) ^+ n * (a * n%:R ^+ 2 + b * n%:R + c) <= e.
Proof.
move=> e0 a0 b0 c0; pose s := a + b + c; have s1 : 0 < s + 1 by rewrite ltr_paddl ?ltr01 // !addr_ge0.
pose d := Num.min 1 (e / (s + 1)); have d0 : 0 < d by rewrite lt_minr ltr01 divr_gt0.
have [n n0 small] := linear_vanishes d0; exists n.
have nR : 1 <= n%:R :> R by rewrite ler1n.
set x := n%:R * h^-1 ^+ n in small; set p := h^-1 ^+ n in x small.
have p0 : 0 <= p by rewrite exprn_ge0 // invr_ge0 ltW.
have -> : (h ^- 2) ^+ n = p ^+ 2 by rewrite /p -exprVn -!exprM mulnC.
have x0 : 0 <= x by rewrite mulr_ge0 // (le_trans _ nR) ?ler01.
have px : p <= x by rewrite /x ler_pemull.
have x1 : x <= 1 by apply: le_trans small _; rewrite le_minl lexx.
have xe : x * (s + 1) <= e.
  by rewrite -ler_pdivl_mulr //; apply: le_trans small _; rewrite le_minl lexx orbT.
have x2 : x ^+ 2 <= x by rewrite expr2 ler_pimulr.
have -> : p ^+ 2 * (a * n%:R ^+ 2 + b * n%:R + c) = a * x ^+ 2 + b * (p * x) + c * p ^+ 2.
  by rewrite /x; ring.
have px2 : p * x <= x ^+ 2 by rewrite expr2 ler_wpmul2r.
have p2 : p ^+ 2 <= x ^+ 2 by rewrite ler_pexpn2r.
apply: le_trans xe; rewrite mulrDr mulr1; apply: (@le_trans _ _ (s * x ^+ 2)).
  rewrite /s !mulrDl; apply: ler_add; first apply: ler_add => //; exact: ler_wpmul2l.
have s0 : 0 <= s by rewrite !addr_ge0.
by rewrite [x * s]mulrC; have := ler_wpmul2l s0 x2; move: (s * _) => q; linear.
Qed.
End Vanish.

(* A power's slope. *)
Lemma power_slope (R : realFieldType) (k : nat) (u w : R) : 0 <= u -> u <= w ->
  u ^+ k * (w - u) <= (w ^+ k.+1 - u ^+ k.+1) / k.+1%:R <= w ^+ k * (w - u).
Proof.
move=> u0 uw; have w0 := le_trans u0 uw; have k0 : 0 < k.+1%:R :> R by rewrite ltr0n.
have d0 : 0 <= w - u by rewrite subr_ge0.
rewrite ler_pdivl_mulr // ler_pdivr_mulr // subrXX.
have term (i : 'I_k.+1) : u ^+ k <= w ^+ (k.+1.-1 - i) * u ^+ i <= w ^+ k.
  have e : k = (k.+1.-1 - i + i)%N by rewrite /= subnK // -ltnS.
  rewrite [X in u ^+ X]e [X in _ <= w ^+ X]e !exprD; apply/andP; split.
    by apply: ler_wpmul2r; [exact: exprn_ge0 | apply: ler_expn2r].
  by apply: ler_wpmul2l; [exact: exprn_ge0 | apply: ler_expn2r].
have -> : u ^+ k * (w - u) * k.+1%:R = (w - u) * \sum_(i < k.+1) u ^+ k.
  by rewrite sumr_const card_ord -mulr_natr; ring.
have -> : w ^+ k * (w - u) * k.+1%:R = (w - u) * \sum_(i < k.+1) w ^+ k.
  by rewrite sumr_const card_ord -mulr_natr; ring.
by apply/andP; split; apply: ler_wpmul2l => //; apply: ler_sum => i _; case/andP: (term i).
Qed.

(* One side of the law, times a power of the distance from the centre. *)
Section Side.
Variables (R : realFieldType) (H : (R -> R) -> Prop) (J : (R -> R) -> R).
Hypothesis HJ : is_line_integral H J.
Let archi : forall x : R, exists n : nat, x <= n%:R. Proof. by case: HJ. Qed.
Variables (c h : R) (j : R -> nat) (D c0 : R).
Hypothesis c01 : 0 <= c <= 1.
Hypothesis h1 : 1 < h.
Hypothesis edges : counts_edges c j.
Hypothesis D0 : 0 < D.
Notation r := (h ^- 2).

Let r01 : 0 < r < 1.
Proof.
have h0 : 0 < h by exact: lt_trans ltr01 h1.
by rewrite invr_gt0 exprn_gt0 //= invf_lt1 ?exprn_gt0 // exprn_egt1.
Qed.

Lemma count_first (i : nat) z : i%:R < z -> z < i%:R + c -> j z = i.
Proof.
move=> low zc; have z0 : 0 <= z by apply: le_trans (ltW low).
have e := edges z; rewrite ger0_norm // in e; apply/eqP; rewrite eqn_leq; apply/andP; split.
  by rewrite leqNgt -e -ltNge.
case: i low zc => // i low zc; rewrite -e; apply: le_trans (ltW low); rewrite -[i.+1]addn1 natrD ler_add2l.
by case/andP: c01.
Qed.

Lemma count_second (i : nat) z : i%:R + c < z -> z < i.+1%:R -> j z = i.+1.
Proof.
case/andP: (c01) => c_ge0 _ low zc; have z0 : 0 <= z by apply: le_trans (ltW low); rewrite addr_ge0 ?ler0n.
have e := edges z; rewrite ger0_norm // in e; apply/eqP; rewrite eqn_leq -e (ltW low) andbT.
by rewrite leqNgt -e -ltNge; apply: lt_le_trans zc _; rewrite ler_addl.
Qed.

Let f (k : nat) (y : R) := ((y - c0) / D) ^+ k * r ^+ j ((y - c0) / D).

Lemma cell (k e : nat) x x' : 0 <= x -> x <= x' -> (forall z, x < z -> z < x' -> j z = e) ->
  H (between (c0 + D * x) (c0 + D * x') (f k))
  /\ J (between (c0 + D * x) (c0 + D * x') (f k)) = D * (r ^+ e * ((x' ^+ k.+1 - x ^+ k.+1) / k.+1%:R)).
Proof.
move=> x0 xx count; have Dn0 : D != 0 by rewrite gt_eqF.
have ab : c0 + D * x <= c0 + D * x' by rewrite ler_add2l ler_pmul2l.
pose g y := ((y - c0) / D) ^+ k; pose G y := D * (((y - c0) / D) ^+ k.+1 / k.+1%:R).
have at_ u : (c0 + D * u - c0) / D = u by field.
have ge0 y : c0 + D * x <= y -> 0 <= (y - c0) / D.
  by move=> xy; rewrite divr_ge0 ?(ltW D0) // subr_ge0; apply: le_trans xy; rewrite ler_addl mulr_ge0 // ltW.
have le u w : u <= w -> (u - c0) / D <= (w - c0) / D by move=> uw; rewrite ler_pmul2r ?invr_gt0 // ler_add2r.
have [u w au uw _|u w au uw _|Hg Jg] := growing_integral HJ (h := g) (G := G) ab.
- by apply: ler_expn2r; rewrite ?nnegrE ?ge0 ?le // (le_trans au).
- have := power_slope k (ge0 u au) (le u w uw) => /andP [lo hi].
  have e1 : w - u = D * ((w - c0) / D - (u - c0) / D) by field.
  rewrite /g /G -mulrBr -mulrBl e1; apply/andP; split.
    by rewrite mulrCA ler_pmul2l.
  by rewrite [leRHS]mulrCA ler_pmul2l.
have [Hs Js] := line_scale HJ (r ^+ e) Hg.
have [|Hf ->] := line_but_one HJ (a := c0 + D * x') (h' := between (c0 + D * x) (c0 + D * x') (f k)) Hs.
  move=> y ne; rewrite /between; case: ifP => [/andP [lo hi]|_]; last by rewrite mulr0.
  rewrite /f (count ((y - c0) / D)); first exact: mulrC.
    by rewrite ltr_pdivl_mulr // ltr_subr_addl mulrC.
  by rewrite ltr_pdivr_mulr // ltr_subl_addl mulrC lt_neqAle ne hi.
split=> //; rewrite Js Jg /G !at_.
by move: (x' ^+ k.+1) (x ^+ k.+1) (k.+1%:R^-1) (r ^+ e) => X' X K p; ring.
Qed.

Definition cells (k n : nat) : R := \sum_(i < n)
  (r ^+ i * (((i%:R + c) ^+ k.+1 - i%:R ^+ k.+1) / k.+1%:R)
   + r ^+ i.+1 * ((i.+1%:R ^+ k.+1 - (i%:R + c) ^+ k.+1) / k.+1%:R)).

Lemma upto k n : H (between c0 (c0 + D * n%:R) (f k)) /\ J (between c0 (c0 + D * n%:R) (f k)) = D * cells k n.
Proof.
case/andP: (c01) => c_ge0 c_le1; elim: n => [|n [Hn Jn]].
  have none z : 0 < z -> z < 0 -> j z = 0%N by move=> lo hi; move: (lt_trans lo hi); rewrite ltxx.
  have [Hc Jc] := cell k (lexx 0) (lexx 0) none; rewrite mulr0 addr0 in Hc Jc.
  by rewrite mulr0 addr0; split=> //; rewrite Jc /cells big_ord0 subrr mul0r !mulr0.
have n0 := ler0n R n; have nc : n%:R <= n%:R + c by rewrite ler_addl.
have cn : n%:R + c <= n.+1%:R by rewrite -[n.+1]addn1 natrD ler_add2l.
have [H1 J1] := cell k n0 nc (@count_first n).
have [H2 J2] := cell k (le_trans n0 nc) cn (@count_second n).
have up u w : u <= w -> c0 + D * u <= c0 + D * w by move=> uw; rewrite ler_add2l ler_pmul2l.
have [H3 J3] := between_join HJ (up _ _ nc) (up _ _ cn) H1 H2.
have start : c0 <= c0 + D * n%:R by rewrite ler_addl mulr_ge0 // ltW.
have [H4 J4] := between_join HJ start (up _ _ (le_trans nc cn)) Hn H3.
by split=> //; rewrite J4 Jn J3 J1 J2 /cells big_ord_recr /= !mulrDr.
Qed.

Lemma side k M a b e : 0 <= a -> 0 <= b -> 0 <= e ->
  (forall n, cells k n = M - r ^+ n * (a * n%:R ^+ 2 + b * n%:R + e)) ->
  H (beyond c0 (f k)) /\ J (beyond c0 (f k)) = D * M.
Proof.
move=> a0 b0 e0 sums; have f0 y : c0 < y -> 0 <= f k y.
  move=> cy; rewrite mulr_ge0 ?exprn_ge0 ?divr_ge0 ?subr_ge0 ?(ltW cy) ?(ltW D0) //.
  by case/andP: r01 => /ltW.
apply: (beyond_integral HJ) => // [b' cb|d dM].
  have [n big] := archi ((b' - c0) / D); have [Hn Jn] := upto k n.
  have bn : b' <= c0 + D * n%:R by rewrite -ler_subl_addl mulrC -ler_pdivr_mulr.
  have [Hb Hb' Js] := between_split HJ cb bn Hn; split=> //.
  have rest : 0 <= J (between b' (c0 + D * n%:R) (f k)).
    apply: (line_ge0 HJ) => // y; rewrite /between; case: ifP => // /andP [by_ _].
    exact: f0 (le_lt_trans cb by_).
  have : J (between c0 (c0 + D * n%:R) (f k)) <= D * M.
    rewrite Jn ler_pmul2l // sums ler_subl_addr ler_addl mulr_ge0 ?exprn_ge0 //; first by case/andP: r01 => /ltW.
    by rewrite !addr_ge0 ?mulr_ge0 ?exprn_ge0 ?ler0n.
  by rewrite Js; apply: le_trans; rewrite ler_addl.
have [|n small] := rest_vanishes archi h1 (e := M - d / D) _ a0 b0 e0.
  by rewrite subr_gt0 ltr_pdivr_mulr // mulrC.
exists (c0 + D * n%:R); first by rewrite ler_addl mulr_ge0 ?ler0n ?ltW.
have [_ ->] := upto k n; rewrite sums -ler_pdivr_mull // mulrC; move: small.
by move: (_ ^+ n * _) (d / D) => x y; linear.
Qed.
End Side.

(* Both sides. *)
Section Both.
Variables (R : realFieldType) (H : (R -> R) -> Prop) (J : (R -> R) -> R).
Hypothesis HJ : is_line_integral H J.
Variables (c h : R) (j : R -> nat) (D c0 : R).
Hypothesis c01 : 0 <= c <= 1.
Hypothesis h1 : 1 < h.
Hypothesis edges : counts_edges c j.
Hypothesis D0 : 0 < D.
Notation r := (h ^- 2).

Let r01 : 0 < r < 1.
Proof.
have h0 : 0 < h by exact: lt_trans ltr01 h1.
by rewrite invr_gt0 exprn_gt0 //= invf_lt1 ?exprn_gt0 // exprn_egt1.
Qed.

Lemma count_even z : j (- z) = j z.
Proof.
apply/eqP; rewrite eqn_leq; apply/andP; split; rewrite leqNgt.
  by rewrite -[X in ~~ X](edges (- z)) normrN edges ltnn.
by rewrite -[X in ~~ X](edges z) -[`|z|]normrN edges ltnn.
Qed.

Lemma both k M a b e : 0 <= a -> 0 <= b -> 0 <= e ->
  (forall n, cells c h k n = M - r ^+ n * (a * n%:R ^+ 2 + b * n%:R + e)) ->
  let f y := `|y - c0| ^+ k * r ^+ j ((y - c0) / D) in
  H f /\ J f = 2 * D ^+ k.+1 * M.
Proof.
move=> a0 b0 e0 sums f; have Dk : D ^+ k != 0 by rewrite expf_neq0 // gt_eqF.
have [Hr Jr] := side HJ c0 c01 h1 edges D0 a0 b0 e0 sums.
have [Hl Jl] := side (mirror HJ) (- c0) c01 h1 edges D0 a0 b0 e0 sums.
have [Ha Ja] := line_add HJ Hr Hl; have [Hs Js] := line_scale HJ (D ^+ k) Ha.
have [|Hf ->] := line_but_one HJ (a := c0) (h' := f) Hs; last first.
  by split=> //; rewrite Js Ja Jr Jl exprS; ring.
move=> y; rewrite neq_lt /mirrored /beyond /f ltr_opp2 => /orP [] yc; rewrite yc ltNge (ltW yc) /= ?addr0 ?add0r.
  have -> : (- y - - c0) / D = - ((y - c0) / D) by rewrite -mulNr; congr (_ / _); ring.
  rewrite count_even mulrA -exprMn ler0_norm ?subr_le0 ?(ltW yc) //.
  by congr (_ ^+ _ * _); rewrite mulrN mulrC divfK // gt_eqF.
rewrite mulrA -exprMn ger0_norm ?subr_ge0 ?(ltW yc) //.
by congr (_ ^+ _ * _); rewrite mulrC divfK // gt_eqF.
Qed.

(* Integrals over [0, 1], with the weight 1 up to the first edge c and r beyond it: of 1, 2 z and 3 z ^
   2. *)
Let t := c + (1 - c) * r.
Let u := c ^+ 2 + r * (1 - c ^+ 2).
Let w := c ^+ 3 + r * (1 - c ^+ 3).

Lemma weights : [/\ 0 < t, 0 <= u & 0 <= w].
Proof.
have [[c_ge0 c_le1] [r0 r1]] := (andP c01, andP r01).
have pw k : 0 <= c ^+ k <= 1 by rewrite exprn_ge0 // exprn_ile1.
have pos k : 0 <= c ^+ k + r * (1 - c ^+ k).
  by have /andP [p0 p1] := pw k; rewrite addr_ge0 // mulr_ge0 ?subr_ge0 // ltW.
split; rewrite ?pos // /t; have := mulr_ge0 c_ge0 (ltW r0); have := r0; have := r1; move: (r) => r'.
case: (ltP 0 c) => cp; last by have -> : c = 0 by [apply: le_anti; rewrite cp c_ge0]; linear.
by move=> r1' r0' _; rewrite ltr_paddr // mulr_ge0 ?subr_ge0 // ltW.
Qed.

Lemma mass : let f y := r ^+ j ((y - c0) / D) in H f /\ J f = 2 * D * (t / (1 - r)).
Proof.
move=> f; have [t0 u0 w0] := weights; have /andP [r0 r1] := r01; have g : 0 < 1 - r by rewrite subr_gt0.
have e0 : 0 <= t / (1 - r) by rewrite divr_ge0 // ltW.
have [n|Hf Jf] := @both 0 (t / (1 - r)) 0 0 (t / (1 - r)) (lexx 0) (lexx 0) e0.
  rewrite /cells /t; move: (r) g => r' g; elim: n => [|n IH]; first by rewrite big_ord0; ring.
  by rewrite big_ord_recr /= IH [r' ^+ n.+1]exprS -[n.+1]addn1 natrD; move: (r' ^+ n) (n%:R) => p k; field; rewrite gt_eqF.
have [|Hf' ->] := line_ext HJ Hf (h' := f); first by move=> y; rewrite expr0 mul1r.
by rewrite Jf expr1.
Qed.

Lemma mean_size : let f y := `|y - c0| * r ^+ j ((y - c0) / D) in
  H f /\ J f = 2 * D ^+ 2 * (t * r / (1 - r) ^+ 2 + u / (2 * (1 - r))).
Proof.
move=> f; have [t0 u0 w0] := weights; have /andP [r0 r1] := r01; have g : 0 < 1 - r by rewrite subr_gt0.
have b0 : 0 <= t / (1 - r) by rewrite divr_ge0 // ltW.
have e0 : 0 <= t * r / (1 - r) ^+ 2 + u / (2 * (1 - r)).
  by apply: addr_ge0; apply: divr_ge0 => //; rewrite ?mulr_ge0 ?exprn_ge0 ?ler0n ?ltW.
have [n|Hf Jf] := @both 1 (t * r / (1 - r) ^+ 2 + u / (2 * (1 - r))) 0 _ _ (lexx 0) b0 e0.
  rewrite /cells /t /u; move: (r) g => r' g; elim: n => [|n IH]; first by rewrite big_ord0; ring.
  rewrite big_ord_recr /= IH [r' ^+ n.+1]exprS -[n.+1]addn1 natrD; move: (r' ^+ n) (n%:R) => p k.
  by field; rewrite gt_eqF.
have [|Hf' ->] := line_ext HJ Hf (h' := f); first by move=> y; rewrite expr1.
by rewrite Jf.
Qed.

Lemma mean_square : let f y := (y - c0) ^+ 2 * r ^+ j ((y - c0) / D) in
  H f /\ J f = 2 * D ^+ 3 * (t * (r * (1 + r) / (1 - r) ^+ 3) + u * (r / (1 - r) ^+ 2) + w / (3%:R * (1 - r))).
Proof.
move=> f; have [t0 u0 w0] := weights; have /andP [r0 r1] := r01; have g : 0 < 1 - r by rewrite subr_gt0.
have a0 : 0 <= t / (1 - r) by rewrite divr_ge0 // ltW.
have b0 : 0 <= 2 * t * r / (1 - r) ^+ 2 + u / (1 - r).
  by apply: addr_ge0; apply: divr_ge0 => //; rewrite ?mulr_ge0 ?exprn_ge0 ?ler0n ?ltW.
have e0 : 0 <= t * (r * (1 + r) / (1 - r) ^+ 3) + u * (r / (1 - r) ^+ 2) + w / (3%:R * (1 - r)).
  have s0 : 0 <= r * (1 + r) / (1 - r) ^+ 3.
    by apply: divr_ge0; [rewrite mulr_ge0 ?addr_ge0 ?ler01 ?(ltW r0) | rewrite exprn_ge0 // ltW].
  have s1 : 0 <= r / (1 - r) ^+ 2 by apply: divr_ge0; rewrite ?exprn_ge0 ?ltW.
  have s2 : 0 <= w / (3%:R * (1 - r)) by apply: divr_ge0 => //; rewrite mulr_ge0 ?ler0n ?ltW.
  by apply: addr_ge0 s2; apply: addr_ge0; apply: mulr_ge0 => //; exact: ltW.
have [n|Hf Jf] := @both 2 (t * (r * (1 + r) / (1 - r) ^+ 3) + u * (r / (1 - r) ^+ 2) + w / (3%:R * (1 - r))) _ _ _ a0 b0 e0.
  rewrite /cells /t /u /w; move: (r) g => r' g; elim: n => [|n IH]; first by rewrite big_ord0 expr0; ring.
  rewrite big_ord_recr /= IH [r' ^+ n.+1]exprS -[n.+1]addn1 natrD; move: (r' ^+ n) (n%:R) => p k.
  by field; rewrite gt_eqF.
have [|Hf' ->] := line_ext HJ Hf (h' := f); first by move=> y; rewrite real_normK ?num_real.
by rewrite Jf.
Qed.
End Both.

Section Numbers.
Variables (R : realFieldType) (h : R).
Hypothesis h1 : 1 < h.

Lemma h_gt0 : 0 < h. Proof. exact: lt_trans ltr01 h1. Qed.
Lemma h_minus : 0 < h - 1. Proof. by rewrite subr_gt0. Qed.
Lemma h_plus : 0 < 1 + h. Proof. by rewrite addr_gt0 ?ltr01 ?h_gt0. Qed.
Lemma square_minus : 0 < h ^+ 2 - 1. Proof. by rewrite subr_gt0 exprn_egt1. Qed.

Lemma gamma01 : 0 <= gamma h <= 1.
Proof. by rewrite /gamma divr_ge0 ?ler01 ?(ltW h_plus) // ler_pdivr_mulr ?h_plus // mul1r ler_addl ltW ?h_gt0. Qed.

Lemma gamma_weight : gamma h + (1 - gamma h) * h ^- 2 = h^-1.
Proof. by rewrite /gamma; field; rewrite !gt_eqF ?h_gt0 ?h_plus. Qed.

Lemma sinhE : sinh_log h = (h ^+ 2 - 1) / (2 * h).
Proof. by rewrite /sinh_log; field; rewrite gt_eqF ?h_gt0. Qed.
End Numbers.

(* begin thm-staircase *)
(* The density is nonnegative and has the mass 1; statements 2 and 3: its mean absolute value and its mean
   square, with G = 1 / (exp eps - 1).  All of them for the law of centre + scale Z, so those of Z at the
   scale 1 and the centre 0. *)
Theorem staircase_moments (R : realFieldType) (h : R) (j : R -> nat) (scale centre : R)
    (H : (R -> R) -> Prop) (J : (R -> R) -> R) :
  is_line_integral H J -> 1 < h -> counts_edges (gamma h) j -> 0 < scale ->
  let p := staircase h j scale centre in
  let G := 1 / (h ^+ 2 - 1) in
  [/\ forall y, 0 <= p y,
      H p /\ J p = 1,
      H (fun y => `|y - centre| * p y) /\ J (fun y => `|y - centre| * p y) = scale * (1 / (2 * sinh_log h))
    & H (fun y => (y - centre) ^+ 2 * p y) /\ J (fun y => (y - centre) ^+ 2 * p y)
        = scale ^+ 2 * (G * (1 + 2 * G + 2 * gamma h) + gamma h * (1 + 2 * gamma h) / 3%:R)].
(* end thm-staircase *)
Proof.
move=> HJ h1 edges s0 p G; have g01 := gamma01 h1; have h0 := h_gt0 h1; have sq := square_minus h1.
have hp := h_plus h1; pose k := sinh_log h / scale.
have pE y : p y = k * (h ^- 2) ^+ j ((y - centre) / scale) by rewrite /p /staircase /k mulrAC.
have law f v : H (fun y => f y * (h ^- 2) ^+ j ((y - centre) / scale))
    /\ J (fun y => f y * (h ^- 2) ^+ j ((y - centre) / scale)) = v ->
    H (fun y => f y * p y) /\ J (fun y => f y * p y) = k * v.
  move=> [Hf Jf]; have [Hs <-] : H (fun y => k * (f y * (h ^- 2) ^+ j ((y - centre) / scale)))
      /\ J (fun y => k * (f y * (h ^- 2) ^+ j ((y - centre) / scale))) = k * v.
    by have [Hs Js] := line_scale HJ k Hf; rewrite Js Jf.
  by apply: (line_ext HJ Hs) => y; rewrite pE mulrCA.
have hE : 1 - h ^- 2 = (h ^+ 2 - 1) / h ^+ 2 by field; rewrite gt_eqF.
have q0 : h ^+ 2 - 1 != 0 by rewrite gt_eqF.
have [Hm Jm] := mass HJ centre g01 h1 edges s0.
split.
- move=> y; rewrite pE mulr_ge0 // ?exprn_ge0 ?invr_ge0 ?exprn_ge0 ?(ltW h0) //.
  by rewrite /k sinhE // !divr_ge0 ?mulr_ge0 ?ler0n ?ltW.
- have [|Hp Jp] := law (fun=> 1) (2 * scale * (h^-1 / (1 - h ^- 2))).
    have [|Hm' ->] := line_ext HJ Hm (h' := fun y => 1 * (h ^- 2) ^+ j ((y - centre) / scale)).
      by move=> y; rewrite mul1r.
    by split=> //; rewrite Jm gamma_weight.
  have [|Hp' ->] := line_ext HJ Hp (h' := p); first by move=> y; rewrite mul1r.
  by split=> //; rewrite Jp /k sinhE // hE; field; rewrite q0 !gt_eqF.
- have [Hp ->] := law (fun y => `|y - centre|) _ (mean_size HJ centre g01 h1 edges s0).
  by split=> //; rewrite gamma_weight // /k sinhE // hE /gamma; field; rewrite q0 !gt_eqF //.
have [Hp ->] := law (fun y => (y - centre) ^+ 2) _ (mean_square HJ centre g01 h1 edges s0).
by split=> //; rewrite gamma_weight // /k sinhE // hE /G /gamma; field; rewrite q0 !gt_eqF //.
Qed.

(* A shift by at most the scale crosses at most one edge. *)
Lemma one_edge (R : realFieldType) (c : R) (j : R -> nat) (z z' : R) :
  counts_edges c j -> `|z - z'| <= 1 -> (j z' <= (j z).+1)%N.
Proof.
move=> edges near; rewrite leqNgt; apply/negP; rewrite -(edges z') -[X in X%:R]addn1 natrD => far.
have tri : `|z'| <= `|z| + `|z - z'|.
  have := ler_norm_add z (z' - z); rewrite [`|z' - z|]distrC.
  by have -> : z + (z' - z) = z' by ring.
have := edges z (j z); rewrite ltnn => /negP; apply.
by move: (`|z|) (`|z'|) (`|_|) near tri far => a b d; linear.
Qed.

Lemma staircase_ratio (R : realFieldType) (c h : R) (j : R -> nat) (scale a a' y : R) :
  1 < h -> counts_edges c j -> 0 < scale -> `|a - a'| <= scale ->
  staircase h j scale a y <= h ^+ 2 * staircase h j scale a' y.
Proof.
move=> h1 edges s0 near; have h0 := h_gt0 h1; have r0 : 0 < h ^- 2 by rewrite invr_gt0 exprn_gt0.
have r1 : h ^- 2 <= 1 by rewrite invf_le1 ?exprn_gt0 // exprn_ege1 // ltW.
have k0 : 0 <= sinh_log h / scale by rewrite sinhE // !divr_ge0 ?mulr_ge0 ?ler0n ?ltW ?square_minus.
have -> : staircase h j scale a y = sinh_log h / scale * (h ^- 2) ^+ j ((y - a) / scale).
  by rewrite /staircase mulrAC.
have -> : h ^+ 2 * staircase h j scale a' y = sinh_log h / scale * (h ^+ 2 * (h ^- 2) ^+ j ((y - a') / scale)).
  by rewrite /staircase; move: ((h ^- 2) ^+ _) => p; ring.
apply: ler_wpmul2l => //; have le1 : (j ((y - a') / scale) <= (j ((y - a) / scale)).+1)%N.
  apply: (one_edge edges); rewrite -mulrBl normrM [`|scale^-1|]gtr0_norm ?invr_gt0 // ler_pdivr_mulr // mul1r.
  by have -> : y - a - (y - a') = - (a - a') by [ring]; rewrite normrN.
have := ler_wiexpn2l (ltW r0) r1 le1; rewrite -(ler_pmul2l (exprn_gt0 2 h0)) [(h ^- 2) ^+ (j _).+1]exprS mulrA.
by rewrite divff ?mul1r // gt_eqF // exprn_gt0.
Qed.

(* begin thm-staircase *)
(* Statement 1: g of sensitivity at most D is private with the noise D Z; and without noise, if no user
   changes g. *)
Theorem staircase_private (R : realFieldType) (h : R) (j : R -> nat) L (m : 'I_L -> nat) (U D : R)
    (g : estimator R m) (H : (R -> R) -> Prop) (J : (R -> R) -> R) :
  is_line_integral H J -> 1 < h -> counts_edges (gamma h) j -> sensitivity_at_most U g D ->
  (0 < D -> let density x := staircase h j D (g x) in
     is_mechanism U (drawn U H density) (draw J density)
     /\ is_private U (drawn U H density) (h ^+ 2) (draw J density))
  /\ (D = 0 -> is_private U (fun=> True) (h ^+ 2) (fun x f => f (g x))).
(* end thm-staircase *)
Proof.
move=> HJ h1 edges sens; split=> [D0 density|D0 x x' xr xr' xx f _ f0]; last first.
  have := sens x x' xr xr' xx; rewrite D0 normr_le0 subr_eq0 => /eqP ->.
  by rewrite ler_pemull // exprn_ege1 // ltW.
have HI := line_integral HJ; split.
  apply: (density_mechanism HI) => x xr.
  by have [pos [Hp Jp] _ _] := staircase_moments (g x) HJ h1 edges D0.
apply: (density_private HI) => x x' y xr xr' xx.
by apply: (staircase_ratio _ h1 edges D0); exact: sens.
Qed.

(* begin thm-staircase *)
(* Statement 2: the mean absolute value is below that of Laplace noise. *)
Theorem staircase_smaller (R : realFieldType) (exp : R -> R) (eps : R) :
  (forall x : R, exists n : nat, x <= n%:R) -> is_exponential exp -> 0 < eps ->
  1 / (2 * sinh_log (exp (eps / 2))) < 1 / eps.
(* end thm-staircase *)
Proof.
(* sinh v is at least v - v ^ 2 / 2, and at least twice sinh (v / 2), so at least v; then cosh is above 1. *)
move=> archi is_exp e0; have half v : exp v = exp (v / 2) ^+ 2.
  by rewrite expr2 -(exp_split is_exp); congr exp; linear.
have double v : sinh_log (exp v) = 2 * sinh_log (exp (v / 2)) * cosh_log (exp (v / 2)).
  by rewrite [exp v]half /sinh_log /cosh_log; field; rewrite gt_eqF // exp_gt0.
have cosh_gt1 v : 0 < v -> 1 < cosh_log (exp v).
  move=> v0; have E1 := exp_gt1 is_exp v0; have E0 := exp_gt0 is_exp v; rewrite /cosh_log ltr_pdivl_mulr ?ltr0n //.
  have -> : exp v + (exp v)^-1 = 2 + (exp v - 1) ^+ 2 / exp v by field; rewrite gt_eqF.
  by rewrite mul1r ltr_addl divr_gt0 // exprn_gt0 // subr_gt0.
have sinh_pos v : 0 < v -> 0 < sinh_log (exp v) by move=> v0; rewrite sinhE ?(exp_gt1 is_exp) // divr_gt0 ?mulr_gt0 ?ltr0n ?square_minus ?(exp_gt1 is_exp) ?(exp_gt0 is_exp).
have near n v : 0 < v -> (v - sinh_log (exp v)) * (2 ^+ n * 2) <= v ^+ 2.
  elim: n v => [|n IH] v v0.
    have E1 := exp_ge is_exp v; have E0 := exp_gt0 is_exp v; have i0 : 0 < (exp v)^-1 by rewrite invr_gt0.
    have iE : (exp v)^-1 <= 1 - v + v ^+ 2.
      rewrite -(ler_pmul2r E0) mulVf ?gt_eqF //; apply: (@le_trans _ _ ((1 - v + v ^+ 2) * (1 + v))).
        have -> : (1 - v + v ^+ 2) * (1 + v) = 1 + v ^+ 3 by ring.
        by rewrite ler_addl exprn_ge0 // ltW.
      apply: ler_wpmul2l => //; have := sqr_ge0 (v - 1 / 2); rewrite !expr2; linear.
    by rewrite /sinh_log expr0 mul1r; move: (v ^+ 2) (exp v) (_^-1) E1 iE => s e i; linear.
  have v2 : 0 < v / 2 by rewrite divr_gt0 ?ltr0n.
  rewrite [2 ^+ n.+1]exprS -mulrA; have := IH _ v2; have p0 : 0 < 2 ^+ n * 2 :> R by rewrite mulr_gt0 ?exprn_gt0 ?ltr0n.
  have more : 2 * sinh_log (exp (v / 2)) <= sinh_log (exp v).
    rewrite [leRHS]double ler_pmulr; first by exact/ltW/cosh_gt1.
    by rewrite mulr_gt0 ?ltr0n // sinh_pos.
  have := ler_wpmul2r (ltW p0) more; rewrite !expr2.
  by move: (2 ^+ n * 2) (sinh_log (exp v)) (sinh_log (exp (v / 2))) => p s s'; linear.
have above v : 0 < v -> v <= sinh_log (exp v).
  move=> v0; rewrite leNgt; apply/negP => lt; have d0 : 0 < v - sinh_log (exp v) by rewrite subr_gt0.
  suff z : v - sinh_log (exp v) = 0 by move: d0; rewrite z ltxx.
  apply: (small_zero archi (c := v ^+ 2)) (ltW d0) _ => n; apply: le_trans (near n v v0); rewrite ler_pmul2l //.
  by rewrite -natrX -natrM ler_nat; apply: leq_trans (ltnW (ltn_expl n (isT : (1 < 2)%N))) _; rewrite leq_pmulr.
have e2 : 0 < eps / 2 by rewrite divr_gt0 ?ltr0n.
have e4 : 0 < eps / 2 / 2 by rewrite divr_gt0 ?ltr0n.
have strict : eps < 2 * sinh_log (exp (eps / 2)).
  rewrite double; have := above _ e4; have := cosh_gt1 _ e4; have := sinh_pos _ e4.
  move: (sinh_log _) (cosh_log _) => s c s0 c1 se; have : 0 < s * (c - 1) by rewrite mulr_gt0 ?subr_gt0.
  by linear.
by rewrite ltr_pdivr_mulr ?(lt_trans e0) // mulrAC mul1r ltr_pdivl_mulr // mul1r.
Qed.

(* begin thm-staircase *)
(* Statement 4: with the first edge anywhere in [0, 1], and the others a unit apart, the mean absolute value
   is no smaller. *)
Theorem staircase_first_edge (R : realFieldType) (c h : R) (j : R -> nat)
    (H : (R -> R) -> Prop) (J : (R -> R) -> R) :
  is_line_integral H J -> 1 < h -> 0 <= c <= 1 -> counts_edges c j ->
  let p := staircase_from c h j in
  [/\ H p /\ J p = 1, H (fun z => `|z| * p z) & 1 / (2 * sinh_log h) <= J (fun z => `|z| * p z)].
(* end thm-staircase *)
Proof.
move=> HJ h1 c01 edges p; have h0 := h_gt0 h1; have sq := square_minus h1.
have [t0 _ _] := weights c01 h1 ltr01; set t := c + (1 - c) * h ^- 2 in t0.
have [Hm Jm] := mass HJ 0 c01 h1 edges ltr01; have [Hs Js] := mean_size HJ 0 c01 h1 edges ltr01.
have same z : (z - 0) / 1 = z by rewrite subr0 divr1.
have hE : 1 - h ^- 2 = (h ^+ 2 - 1) / h ^+ 2 by field; rewrite gt_eqF.
pose k := (1 - h ^- 2) / (2 * t); have [Hk Jk] := line_scale HJ k Hm; have [Hl Jl] := line_scale HJ k Hs.
have [|Hp Jp] := line_ext HJ Hk (h' := p); first by move=> z; rewrite same.
have [|Hz Jz] := line_ext HJ Hl (h' := fun z => `|z| * p z); first by move=> z; rewrite same subr0 mulrCA.
split=> //; first split=> //.
  by rewrite Jp Jk Jm -/t /k hE; field; rewrite !gt_eqF.
rewrite Jz Jl Js -/t /k sinhE //; pose u := c ^+ 2 + h ^- 2 * (1 - c ^+ 2).
have -> : (1 - h ^- 2) / (2 * t) * (2 * 1 ^+ 2 * (t * h ^- 2 / (1 - h ^- 2) ^+ 2 + u / (2 * (1 - h ^- 2))))
    = 1 / (h ^+ 2 - 1) + u / (2 * t) by rewrite hE; field; rewrite !gt_eqF.
have -> : 1 / (2 * ((h ^+ 2 - 1) / (2 * h))) = 1 / (h ^+ 2 - 1) + 1 / (1 + h).
  by field; rewrite !gt_eqF ?h_plus.
rewrite ler_add2l ler_pdivr_mulr ?h_plus // mulrAC ler_pdivl_mulr ?mulr_gt0 ?ltr0n // mul1r.
have -> : u * (1 + h) = 2 * t + (h - 1) / h ^+ 2 * ((1 + h) * c - 1) ^+ 2.
  by rewrite /u /t; field; rewrite gt_eqF.
by rewrite ler_addl mulr_ge0 ?sqr_ge0 // divr_ge0 ?exprn_ge0 ?(ltW h0) // ltW // h_minus.
Qed.

(* begin thm-staircase *)
(* For every first edge there is a function j that counts the edges. *)
Theorem edges_can_be_counted (R : realFieldType) (c : R) :
  (forall x : R, exists n : nat, x <= n%:R) -> 0 <= c -> exists j, counts_edges c j.
(* end thm-staircase *)
Proof.
move=> archi c_ge0; have beyond_ (z : R) : exists n : nat, `|z| < n%:R + c.
  have [n zn] := archi `|z|; exists n.+1; apply: le_lt_trans zn _.
  by rewrite -[n.+1]addn1 natrD -addrA ltr_addl ltr_paddr ?ltr01.
exists (fun z => ex_minn (beyond_ z)) => z i; case: ex_minnP => n zn least.
apply/idP/idP => [low|]; first by rewrite -(ltr_nat R) -(ltr_add2r c); exact: le_lt_trans zn.
by apply: contraTT; rewrite -ltNge -leqNgt => /least.
Qed.
