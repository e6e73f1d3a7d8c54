(* Geometric noise of scale s: the mean distance between a number and another one with noise. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint ring zify.
From UserDP Require Import definitions linear exponential felt geometric.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Windows.
Variable R : realFieldType.

Lemma window_sub c (n n' : nat) : (n <= n')%N -> {subset window c n <= window c n'}.
Proof. by move=> nn z; rewrite !mem_window => zn; exact: leq_trans zn nn. Qed.

(* A bound on the sums over windows bounds the sum. *)
Lemma sum_bounded (h : int -> R) c v b : is_sum_of h v -> (forall n, \sum_(z <- window c n) h z <= b) -> v <= b.
Proof.
move=> hv le; rewrite leNgt; apply/negP => lt; pose e := (v - b) / 2.
have e0 : 0 < e by rewrite divr_gt0 ?subr_gt0 ?ltr0n.
have [n near] := hv e e0; have [k sub] := in_some_window c (window 0 n).
have := near _ (uniq_window c k) _; rewrite /e ler_norml => /(_ _) /andP [z zn|lo _].
  by apply: sub; rewrite mem_window subr0.
by move: (le k) lo lt; move: (\sum_(_ <- _) _) => S; linear.
Qed.

(* A window, mirrored at its centre. *)
Lemma window_mirror c n (f : int -> R) : \sum_(z <- window c n) f (z - c) = \sum_(z <- window c n) f (c - z).
Proof.
elim: n => [|n IH]; first by rewrite !big_seq1 subrr.
rewrite /= !big_cons IH; have E k : (c + k - c = k) * (c - k - c = - k) * (c - (c + k) = - k) * (c - (c - k) = k).
  by do !split; ring.
by rewrite !E addrCA.
Qed.
End Windows.

Section Distance.
Variables (R : realFieldType) (r : R).
Hypothesis r01 : 0 < r < 1.

Let r0 : 0 < r. Proof. by case/andP: r01. Qed.
Let plus : 1 + r != 0. Proof. by rewrite gt_eqF // addr_gt0 ?ltr01. Qed.
Let minus : 1 - r != 0. Proof. by rewrite subr_eq0 gt_eqF //; case/andP: r01. Qed.

Definition distance_in (c : int) (d : R) (n : nat) : R :=
  \sum_(z <- window c n) `|d + (z - c)%:~R| * geometric r c z.

Lemma distance_next c (i n : nat) : distance_in c i%:R n.+1
  = distance_in c i%:R n + 2 * (maxn i n.+1)%:R * ((1 - r) / (1 + r)) * r ^+ n.+1.
Proof.
rewrite /distance_in /= !big_cons /geometric.
have -> : c + Posz n.+1 - c = Posz n.+1 by ring.
have -> : c - Posz n.+1 - c = - Posz n.+1 by ring.
rewrite absz_nat abszN absz_nat; set S := \sum_(_ <- _) _; set q := _ * r ^+ _.
have -> : `|i%:R + (Posz n.+1)%:~R| = i%:R + n.+1%:R :> R.
  by rewrite -pmulrn ger0_norm // addr_ge0 ?ler0n.
have -> : `|i%:R + (- Posz n.+1)%:~R| = (maxn i n.+1)%:R + (maxn i n.+1)%:R - (i%:R + n.+1%:R) :> R.
  rewrite rmorphN /= -pmulrn; case: (leqP i n.+1) => h.
    by rewrite ler0_norm ?subr_le0 ?ler_nat //; ring.
  by rewrite ger0_norm ?subr_ge0 ?ler_nat ?(ltnW h) //; ring.
by rewrite -mulrA -/q; ring.
Qed.

(* Noise of at most i does not change the distance i on average; larger noise adds to it. *)
Lemma distance_small c (i n : nat) : (n <= i)%N ->
  distance_in c i%:R n = i%:R * (1 - 2 * r ^+ n.+1 / (1 + r)).
Proof.
elim: n => [|n IH] ni.
  rewrite /distance_in big_seq1 subrr addr0 /geometric subrr expr0 expr1 normr_nat.
  by congr (_ * _); field.
rewrite distance_next IH ?(ltnW ni) // (maxn_idPl ni) [r ^+ n.+2]exprS.
by move: (r ^+ n.+1) => p; field.
Qed.

Lemma distance_large c (i j : nat) : distance_in c i%:R (i + j)
  = i%:R + 2 * r ^+ i.+1 / ((1 - r) * (1 + r))
    - 2 * r ^+ (i + j).+1 / (1 + r) * ((i + j)%:R + 1 / (1 - r)).
Proof.
elim: j => [|j IH].
  by rewrite addn0 distance_small //; move: (r ^+ i.+1) => p; field; rewrite minus plus.
rewrite addnS distance_next IH (maxn_idPr _) ?(leqW (leq_addr _ _)) // [r ^+ (i + j).+2]exprS.
have -> : (i + j).+1%:R = (i + j)%:R + 1 :> R by rewrite -[(i + j).+1]addn1 natrD.
by move: (r ^+ i.+1) (r ^+ (i + j).+1) (i + j)%:R => p p' k; field; rewrite minus plus.
Qed.

Lemma distance_whole c (i n : nat) :
  distance_in c i%:R n <= i%:R + 2 * r ^+ i.+1 / ((1 - r) * (1 + r)).
Proof.
have [r_ge0 r_lt1] := andP r01.
apply: (@le_trans _ _ (distance_in c i%:R (i + n))).
  apply: sum_within; rewrite ?uniq_window //; last by apply: window_sub; exact: leq_addl.
  by move=> z; rewrite mulr_ge0 ?normr_ge0 ?geometric_ge0.
rewrite distance_large ler_subl_addr ler_addl mulr_ge0 ?divr_ge0 ?mulr_ge0 ?exprn_ge0 ?ler0n ?(ltW r_ge0) //.
- by rewrite addr_ge0 ?ler01 ?ltW.
by rewrite addr_ge0 ?ler0n // divr_ge0 ?ler01 // subr_ge0 ltW.
Qed.

Lemma distance_any c (d : R) (i n : nat) : i%:R <= d -> distance_in c d n <= distance_in c i%:R n + (d - i%:R).
Proof.
move=> id; have mass : \sum_(z <- window c n) geometric r c z <= 1.
  rewrite sum_window // ler_subl_addr ler_addl divr_ge0 ?mulr_ge0 ?exprn_ge0 ?addr_ge0 ?ler0n ?ler01 ?(ltW r0) //.
have -> : distance_in c i%:R n + (d - i%:R) = distance_in c i%:R n + (d - i%:R) * 1 by rewrite mulr1.
apply: (@le_trans _ _ (distance_in c i%:R n + (d - i%:R) * \sum_(z <- window c n) geometric r c z)); last first.
  by rewrite ler_add2l; apply: ler_wpmul2l mass; rewrite subr_ge0.
rewrite mulr_sumr -big_split /=; apply: ler_sum => z _; rewrite -mulrDl; apply: ler_wpmul2r; first exact: geometric_ge0.
have := ler_norm_add (i%:R + (z - c)%:~R) (d - i%:R); rewrite (ger0_norm (_ : 0 <= d - i%:R)) ?subr_ge0 // => h.
by have -> : d + (z - c)%:~R = i%:R + (z - c)%:~R + (d - i%:R) by ring.
Qed.

Lemma distance_abs c (d : R) n : distance_in c d n = distance_in c `|d| n.
Proof.
case: (ger0P d) => // d0; pose g (k : int) := (1 - r) / (1 + r) * r ^+ absz k.
rewrite /distance_in.
rewrite (window_mirror c n (fun k => `|d + k%:~R| * g k)).
apply: eq_bigr => z _; have -> : c - z = - (z - c) by ring.
rewrite /g abszN; congr (_ * _).
by rewrite mulrNz distrC addrC.
Qed.
End Distance.

Section Scale.
Variables (R : realFieldType) (exp : R -> R).
Hypothesis archi : forall x : R, exists n : nat, x <= n%:R.
Hypothesis is_exp : is_exponential exp.

(* The mean absolute value of the noise is at most s, because 2 x <= exp x - exp (- x).  The difference of
   the two sides at x is at least - x^2, and at least twice that at x / 2; so it is at least - x^2 / 2^n for
   every n. *)
Lemma twice_below x : 0 <= x -> 2 * x <= exp x - exp (- x).
Proof.
move=> x0; pose D y := exp y - exp (- y) - 2 * y.
have inv y : exp y * exp (- y) = 1 by rewrite -(exp_split is_exp) subrr (exp0 is_exp).
have base y : 0 <= y -> - y ^+ 2 <= D y.
  move=> y0; have E := exp_ge is_exp y; have F := exp_gt0 is_exp (- y).
  have F1 : exp (- y) * (1 + y) <= 1 by rewrite mulrC; have := ler_wpmul2r (ltW F) E; rewrite inv.
  have F2 : exp (- y) <= 1 - y + y ^+ 2.
    have p : 0 < 1 + y by linear.
    rewrite -(ler_pmul2r p); apply: le_trans F1 _; have -> : (1 - y + y ^+ 2) * (1 + y) = 1 + y ^+ 3 by ring.
    by rewrite ler_addl exprn_ge0.
  by rewrite /D; move: (exp y) (exp (- y)) (y ^+ 2) E F2 => a b q; linear.
have twice y : 0 <= y -> 2 * D (y / 2) <= D y.
  move=> y0; have := exp_ge is_exp (y / 2); have := exp_ge is_exp (- (y / 2)); have := exp_mono is_exp (_ : - (y / 2) <= y / 2).
  have -> : D y = exp (y / 2) ^+ 2 - exp (- (y / 2)) ^+ 2 - 2 * y.
    by rewrite /D !expr2 -!(exp_split is_exp); congr (exp _ - exp _ - _); linear.
  rewrite /D; move: (exp (y / 2)) (exp (- (y / 2))) => a b ab b1 a1.
  have : 0 <= (a - b) * (a + b - 2) by rewrite mulr_ge0 ?subr_ge0 ?ab //; linear.
  by rewrite !expr2; linear.
have near n y : 0 <= y -> - y ^+ 2 <= D y * 2 ^+ n.
  elim: n y => [|n IH] y y0; first by rewrite expr0 mulr1; exact: base.
  have y2 : 0 <= y / 2 by rewrite divr_ge0 ?ler0n.
  have := IH _ y2; have := ler_wpmul2r (_ : 0 <= 2 ^+ n * 2) (twice y y0).
  rewrite mulr_ge0 ?exprn_ge0 ?ler0n // => /(_ isT); rewrite [2 ^+ n.+1]exprSr !expr2.
  by move: (2 ^+ n) (D y) (D (y / 2)) => p d d'; linear.
rewrite -subr_ge0 -/(D x) leNgt; apply/negP => lt; have d0 : 0 < - D x by rewrite oppr_gt0.
have [n] := archi (x ^+ 2 / - D x); rewrite ler_pdivr_mulr // => small.
have := near n x x0; rewrite -ler_opp2 opprK -mulNr mulrC => big.
have := le_trans big small; rewrite ler_pmul2r // -natrX ler_nat leqNgt.
by rewrite ltn_expl.
Qed.

Lemma size_below s r : 0 < s -> r = exp (- (1 / s)) -> 2 * r / ((1 - r) * (1 + r)) <= s.
Proof.
move=> s0 rE; have /andP [r0 r1] := rate_range is_exp s0.
have x0 : 0 <= 1 / s by rewrite divr_ge0 ?ler01 // ltW.
rewrite -rE in r0 r1; have := twice_below x0; rewrite -rE; have : exp (1 / s) * r = 1.
  by rewrite rE -(exp_split is_exp) subrr (exp0 is_exp).
move: (exp (1 / s)) => q qr le; have m0 : 0 < 1 - r by rewrite subr_gt0.
have p0 : 0 < 1 + r by rewrite addr_gt0 ?ltr01.
rewrite ler_pdivr_mulr ?mulr_gt0 //; have := ler_wpmul2l (ltW s0) (ler_wpmul2r (ltW r0) le).
have -> : s * (2 * (1 / s) * r) = 2 * r by field; rewrite gt_eqF.
by rewrite mulrBl qr; linear.
Qed.

Lemma power_of_rate (s : R) n : exp (- (1 / s)) ^+ n = exp (- (n%:R / s)).
Proof.
elim: n => [|k IH]; first by rewrite mul0r oppr0 (exp0 is_exp).
by rewrite exprS IH -(exp_split is_exp) -opprD -mulrDl -mulrS.
Qed.

(* The whole part of d. *)
Lemma whole_part (d : R) : 0 <= d -> exists i : nat, i%:R <= d < i%:R + 1.
Proof.
move=> d0; have [n] := archi d; elim: n => [|n IH] dn.
  by exists 0%N; rewrite d0 add0r (le_lt_trans dn) ?ltr01.
case: (leP d n%:R) => h; first exact: IH.
move: dn; rewrite le_eqVlt => /orP [/eqP ->|dn]; last by exists n; rewrite (ltW h) /= -[1]/(1%:R) -natrD addn1.
by exists n.+1; rewrite lexx ltr_addl ltr01.
Qed.

(* With geometric noise Z of scale s, the mean of |d + Z|, or of anything that is no larger, is at most 1
   more than with Laplace noise. *)
Lemma geometric_abs_error (s d v : R) (c : int) (f : int -> R) : 0 < s -> (forall z, f z <= `|d + (z - c)%:~R|) ->
  is_sum_of (fun z => f z * geometric (exp (- (1 / s))) c z) v -> v <= mean_abs_error exp s `|d| + 1.
Proof.
move=> s0 fd hv; have r01 := rate_range is_exp s0; set r := exp _ in hv r01.
apply: (sum_bounded hv (c := c)) => n {hv}; apply: (@le_trans _ _ (distance_in r c d n)).
  by apply: ler_sum => z _; apply: ler_wpmul2r; [exact: geometric_ge0 | exact: fd].
rewrite distance_abs // {fd}.
have := normr_ge0 d; move: `|d| => {}d d0; have [i /andP [id di]] := whole_part d0.
apply: le_trans (distance_any r01 c n id) _; apply: le_trans (ler_add (distance_whole r01 c i n) (lexx _)) _.
have i0 : 0 <= i%:R :> R by exact: ler0n.
have /andP [+ _] := mean_abs_error_grows is_exp s0 i0 id.
have -> : mean_abs_error exp s i%:R = i%:R + s * r ^+ i.
  by rewrite /mean_abs_error /r power_of_rate.
have : r ^+ i * (2 * r / ((1 - r) * (1 + r))) <= r ^+ i * s.
  by apply: ler_wpmul2l; [rewrite exprn_ge0 // ltW; case/andP: r01 | exact: size_below].
have -> : r ^+ i * (2 * r / ((1 - r) * (1 + r))) = 2 * r ^+ i.+1 / ((1 - r) * (1 + r)) by rewrite exprS; ring.
by move: (_ / _) (r ^+ i) (mean_abs_error _ _ _) di => q p g; linear.
Qed.
End Scale.
