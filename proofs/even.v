(* A simple prior for one user: points evenly spread over [0, 1], all equally likely. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import linear counts lattice.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Even.
Variable R : realFieldType.

Lemma spread_grows (n : nat) : n%:R * (n%:R + 2) <= 2 * \sum_(i < n.+1) `|n%:R - 2 * i%:R| :> R.
Proof.
have S k : k.+1%:R = k%:R + 1 :> R by rewrite -addn1 natrD.
elim: n {-2}n (leqnn n) => [|b IH] n nb.
  by move: nb; rewrite leqn0 => /eqP ->; rewrite mul0r mulr_ge0 ?ler0n ?sumr_ge0.
case: n nb => [|[|n]] nb; first by rewrite mul0r mulr_ge0 ?ler0n ?sumr_ge0.
  rewrite !big_ord_recl big_ord0 /= mulr0 subr0 normr1.
  by rewrite /bump leqnn addn0 (_ : 1 - 2 * _ = - 1) ?normrN1 /= ?mulr1; linear.
rewrite big_ord_recr big_ord_recl /= mulr0 subr0.
rewrite (eq_bigr (fun i : 'I_n.+1 => `|n%:R - 2 * i%:R|)) => [|i _]; last first.
  by rewrite /bump /= add1n !S; congr `|_|; linear.
have := IH n (ltac:(by rewrite ltnS in nb; exact: leq_trans nb)) => h.
have n0 := ler0n R n; have S2 : n.+2%:R = n%:R + 2 :> R by rewrite !S; linear.
rewrite (_ : `|n.+2%:R| = n%:R + 2); last by rewrite S2 ger0_norm; linear.
rewrite (_ : `|n.+2%:R - _| = n%:R + 2); last by rewrite S2 distrC ger0_norm; linear.
by rewrite S2; linear.
Qed.

(* The middle is nearest to all of them together. *)
Lemma spread_least (n : nat) (z : R) :
  \sum_(i < n.+1) `|n%:R - 2 * i%:R| <= 2 * (\sum_(i < n.+1) `|i%:R - z|).
Proof.
have -> : 2 * (\sum_(i < n.+1) `|i%:R - z|) = \sum_(i < n.+1) (`|(n - i)%:R - z| + `|i%:R - z|).
  rewrite big_split /= [X in X + _](reindex_inj rev_ord_inj) /= mulr_natl mulr2n; congr (_ + _).
  by apply: eq_bigr => i _; rewrite subSS subKn // -ltnS.
apply: ler_sum => i _; rewrite natrB; last by rewrite -ltnS.
have -> : n%:R - 2 * i%:R = n%:R - i%:R - z - (i%:R - z) by linear.
exact: ler_norm_sub.
Qed.

(* Around y there is one point's worth of points that are nearer than one step. *)
Lemma near_sum (n : nat) (y : R) : 0 <= y <= n%:R -> \sum_(i < n.+1) Num.max 0 (1 - `|i%:R - y|) = 1.
Proof.
move=> /andP [y0 yn]; have S : n.+1%:R = n%:R + 1 :> R by rewrite -addn1 natrD.
rewrite (eq_bigr (fun i : 'I_n.+1 => weight (y + 1) i - weight y i)) => [|i _]; last first.
  by rewrite /weight; case: (ger0P (i%:R - y)) => h; minmax; linear.
have y1 : 0 <= y + 1 by linear.
by rewrite sumrB !weight_sum // S; minmax; linear.
Qed.

(* With n steps, no private mechanism has a risk below one step if q <= n (n - 2) / 4. *)
Lemma even_prior (q : R) (n : nat) : 1 < q -> (0 < n)%N -> 4 * q <= n%:R * (n%:R - 2) ->
  one_user_risk_at_least q (1 / n%:R).
Proof.
move=> q1 n0 qn; have nR : 0 < n%:R :> R by rewrite ltr0n.
have q0 : 0 < q by exact: lt_trans ltr01 q1.
apply: (@lem_prior _ q q1 _ (fun i : 'I_n.+1 => i%:R / n%:R) (fun=> 1)).
- move=> i; rewrite divr_ge0 ?ler0n //= ler_pdivr_mulr // mul1r ler_nat -ltnS; exact: ltn_ord.
- by move=> i; exact: ler01.
- by rewrite sumr_const card_ord ltr0n.
move=> y /andP [y0 y1]; set z := n%:R * y.
have z0n : 0 <= z <= n%:R by rewrite /z mulr_ge0 ?(ltW nR) //= ler_pimulr // ltW.
rewrite -(pmulr_rge0 _ nR) mulr_sumr.
have term (i : nat) : `|i%:R - z| - 1 - (q - 1) * Num.max 0 (1 - `|i%:R - z|)
    <= n%:R * (1 * Num.min (`|i%:R / n%:R - y| - 1 / n%:R) (q * (`|i%:R / n%:R - y| - 1 / n%:R))).
  have -> : `|i%:R / n%:R - y| = `|i%:R - z| / n%:R.
    have -> : i%:R / n%:R - y = (i%:R - z) / n%:R by rewrite /z; field; rewrite gt_eqF.
    by rewrite normf_div (ger0_norm (ltW nR)).
  rewrite mul1r minr_pmulr ?(ltW nR) // [n%:R * (q * _)]mulrCA.
  have -> : n%:R * (`|i%:R - z| / n%:R - 1 / n%:R) = `|i%:R - z| - 1 by field; rewrite gt_eqF.
  have g : 0 <= q - 1 by linear.
  move: `|_| => t; case: (leP t 1) => h.
    have : 0 <= (q - 1) * (1 - t) by rewrite mulr_ge0 // subr_ge0.
    by minmax; linear.
  have : 0 <= (q - 1) * (t - 1) by rewrite mulr_ge0 // subr_ge0 ltW.
  by minmax; linear.
apply: (@le_trans _ _ (\sum_(i < n.+1) (`|i%:R - z| - 1 - (q - 1) * Num.max 0 (1 - `|i%:R - z|)))); last first.
  by apply: ler_sum => i _; exact: term.
rewrite sumrB -mulr_sumr near_sum // sumrB sumr_const card_ord.
rewrite (_ : 1 *+ n.+1 = n%:R + 1 :> R); last by rewrite -[1 *+ _]/(n.+1%:R) -addn1 natrD.
by have := spread_least n z; have := spread_grows n; linear.
Qed.

End Even.
