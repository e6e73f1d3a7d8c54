(* cor-chain: the error of the optimal clipping is at most (1 + cosh eps) / 2 + sinh eps / eps times the
   minimax risk, for every collection. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts chain exponential.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section ChainFactor.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U q : R).
Notation N := (N R m).
Hypothesis U0 : 0 <= U.
Hypothesis q1 : 1 < q.
Hypothesis Npos : (0 < \sum_l m l)%N.

(* sum_of_largest is linear between consecutive whole numbers. *)
Lemma sum_largest_between (i : nat) (x : R) : i%:R <= x <= i.+1%:R ->
  sum_of_largest m x = (i.+1%:R - x) * sum_of_largest m (i%:R : R) + (x - i%:R) * sum_of_largest m (i.+1%:R : R).
Proof.
clear U0 q1 Npos; move=> /andP [ix xi]; have iS : i.+1%:R = i%:R + 1 :> R by rewrite -addn1 natrD.
have wk (k j : nat) : weight (k%:R : R) j = if (j < k)%N then 1 else 0.
  rewrite /weight; case: ltnP => jk; last by have h : k%:R <= j%:R :> R; [rewrite ler_nat | minmax; linear].
  have h : j.+1%:R <= k%:R :> R by rewrite ler_nat.
  by rewrite -addn1 natrD in h; minmax; linear.
have wi (j : nat) : weight x j
    = (i.+1%:R - x) * weight (i%:R : R) j + (x - i%:R) * weight (i.+1%:R : R) j.
  rewrite !wk /weight iS; case: (ltngtP j i) => ji.
  - rewrite ltnS (ltnW ji); have h : j.+1%:R <= i%:R :> R by rewrite ler_nat.
    by rewrite -addn1 natrD in h; minmax; linear.
  - rewrite ltnS leqNgt ji /=; have h : i.+1%:R <= j%:R :> R by rewrite ler_nat.
    by minmax; linear.
  - by rewrite ji ltnSn; minmax; linear.
rewrite /sum_of_largest !mulr_sumr -big_split /=; apply: eq_bigr => j _.
by rewrite -[Num.min 1 (Num.max 0 (x - _))]/(weight x j) wi /weight; linear.
Qed.

(* So a line that does not fall, and is above it at the whole numbers 0, ..., L, is above it everywhere from
   0 on. *)
Lemma sum_largest_below_line (A B x : R) : 0 <= B -> 0 <= x ->
  (forall n, (n <= L)%N -> sum_of_largest m (n%:R : R) <= A + n%:R * B) -> sum_of_largest m x <= A + x * B.
Proof.
move=> B0 x0 le_AB; case: (leP L%:R x) => Lx.
  rewrite (sum_largest_all m Lx) -(sum_largest_all m (lexx L%:R)); apply: le_trans (le_AB L (leqnn L)) _.
  by rewrite ler_add2l; apply: ler_wpmul2r.
have [i iL /andP [ix xi]] : exists2 i, (i < L)%N & i%:R <= x < i.+1%:R.
  elim: (L) Lx => [|n IH] Lx; first by move: (le_lt_trans x0 Lx); rewrite ltxx.
  case: (leP n%:R x) => nx; first by exists n; rewrite ?ltnSn // nx Lx.
  by case: (IH nx) => i iN h; exists i => //; exact: ltnW.
rewrite (sum_largest_between (i := i)); last by rewrite ix ltW.
have h1 : (i.+1%:R - x) * sum_of_largest m (i%:R : R) <= (i.+1%:R - x) * (A + i%:R * B).
  by apply: ler_wpmul2l; [rewrite subr_ge0 ltW | exact: le_AB (ltnW iL)].
have h2 : (x - i%:R) * sum_of_largest m (i.+1%:R : R) <= (x - i%:R) * (A + i.+1%:R * B).
  by apply: ler_wpmul2l; [rewrite subr_ge0 | exact: le_AB].
by apply: le_trans (ler_add h1 h2) _; rewrite -addn1 natrD; linear.
Qed.

(* begin cor-chain *)
(* With q = exp eps: no private mechanism has a risk below E_OPT / K (eps), where K (eps) = (1 + cosh eps) /
   2 + sinh eps / eps.  So the error of the optimal strategy is at most K (eps) times the minimax risk, for
   every collection. *)
Theorem cor_chain (eps : R) : 0 < eps ->
  minimax_risk_at_least m U q (E_OPT m U eps / ((1 + cosh_log q) / 2 + sinh_log q / eps)).
(* end cor-chain *)
Proof.
move=> eps0 H E r cH mE priv risk; have N0 : 0 < N by rewrite ltr0n.
have p := q_pos q1; have qi : 0 < q^-1 by rewrite invr_gt0.
have qi1 : q^-1 < 1 by rewrite invf_lt1.
have sinh0 : 0 < sinh_log q by rewrite /sinh_log; linear.
have cosh0 : 0 < cosh_log q by rewrite /cosh_log; linear.
have den n : 0 < 1 + cosh_log q + n%:R * sinh_log q.
  by have := mulr_ge0 (ler0n R n) (ltW sinh0) => h; linear.
have bound n : (0 < n <= L)%N -> U / N * sum_of_largest m (n%:R : R) <= r * (1 + cosh_log q + n%:R * sinh_log q).
  move=> nL; have := thm_chain U0 q1 Npos nL cH mE priv risk.
  by rewrite mulrA ler_pdivr_mulr.
have L0 : (0 < L)%N.
  case: (posnP L) => // Z; move: Npos; rewrite big1 // => l.
  by have := ltn_ord l; rewrite [X in (_ < X)%N]Z.
have UN : 0 <= U / N by rewrite divr_ge0 // ltW.
have r0 : 0 <= r.
  have b1 := bound 1%N L0; rewrite -(pmulr_lge0 _ (den 1%N)); apply: le_trans b1.
  by rewrite mulr_ge0 // sumr_ge0 // => i _; rewrite mulr_ge0 ?ler0n // weight_ge0.
have K0 : 0 < (1 + cosh_log q) / 2 + sinh_log q / eps.
  by have := divr_gt0 sinh0 eps0 => h; linear.
rewrite ler_pdivr_mulr //; case: (ltgtP U 0) U0 => // [Upos _|->]; last first.
  by rewrite /E_OPT !mul0r mulr_ge0 // ltW.
have UNpos : 0 < U / N by rewrite divr_gt0.
have line : sum_of_largest m (2 / eps) <= r / (U / N) * (1 + cosh_log q) + 2 / eps * (r / (U / N) * sinh_log q).
  apply: sum_largest_below_line => [||n nL]; rewrite ?divr_ge0 ?ler0n ?(ltW eps0) //.
    by rewrite mulr_ge0 ?(ltW sinh0) // divr_ge0.
  have -> : r / (U / N) * (1 + cosh_log q) + n%:R * (r / (U / N) * sinh_log q)
      = r * (1 + cosh_log q + n%:R * sinh_log q) / (U / N) by field; rewrite !gt_eqF.
  rewrite ler_pdivl_mulr // mulrC; case: (posnP n) => [->|n0]; last by apply: bound; rewrite n0.
  by rewrite (sum_largest_whole R m (leq0n L)) big_geq // mulr0 mulr_ge0 // ltW // den.
have -> : E_OPT m U eps = U / N * sum_of_largest m (2 / eps) / 2 by rewrite /E_OPT; field; rewrite gt_eqF.
have := ler_wpmul2l UN line.
have -> : U / N * (r / (U / N) * (1 + cosh_log q) + 2 / eps * (r / (U / N) * sinh_log q))
    = 2 * (r * ((1 + cosh_log q) / 2 + sinh_log q / eps)) by field; rewrite !gt_eqF.
by move=> h; linear.
Qed.

(* begin cor-chain-staircase *)
(* thm-optimum uses only the mean absolute value of the noise.  If it is w at sensitivity 1, the smallest
   worst-case error is E_OPT (1 / w), as for Laplace noise of budget 1 / w.  For staircase noise, w = 1 / (2
   sinh (eps / 2)). h is exp (eps / 2). *)
Theorem cor_chain_staircase (h : R) : 1 < h -> q = h ^+ 2 ->
  minimax_risk_at_least m U q (E_OPT m U (2 * sinh_log h) / ((1 + cosh_log q) / 2 + cosh_log h)).
(* end cor-chain-staircase *)
Proof.
move=> h1 qh; have h0 : 0 < h by exact: lt_trans ltr01 h1.
have h2 : 0 < h ^+ 2 - 1 by rewrite subr_gt0 exprn_egt1.
have w : 0 < 2 * sinh_log h.
  have -> : 2 * sinh_log h = (h ^+ 2 - 1) / h by rewrite /sinh_log; field; rewrite gt_eqF.
  exact: divr_gt0.
have -> : cosh_log h = sinh_log q / (2 * sinh_log h).
  by rewrite qh /cosh_log /sinh_log; field; rewrite !gt_eqF ?exprn_gt0.
exact: cor_chain.
Qed.

(* begin cor-chain-equal *)
(* All counts are equal, and L >= 2 / eps; coth (eps / 2) = (q + 1) / (q - 1). *)
Theorem cor_chain_equal (eps : R) (k : nat) : 0 < eps -> (forall l, m l = k) -> 2 / eps <= L%:R ->
  minimax_risk_at_least m U q
    (E_OPT m U eps / (sinh_log q / eps * (1 + (q + 1) / (q - 1) / L%:R))).
(* end cor-chain-equal *)
Proof.
move=> eps0 mk le_L; have x0 : 0 < 2 / eps by rewrite divr_gt0 ?ltr0n.
have LR : 0 < L%:R :> R by exact: lt_le_trans le_L.
have L0 : (0 < L)%N by rewrite -(ltr0n R).
have NE : N = L%:R * k%:R.
  by rewrite /definitions.N (eq_bigr _ (fun l _ => mk l)) sum_nat_const card_ord natrM.
have N0 : 0 < N by rewrite ltr0n.
have k0 : 0 < k%:R :> R by move: N0; rewrite NE pmulr_rgt0.
have ME : sum_of_largest m (2 / eps) = 2 / eps * k%:R.
  rewrite /sum_of_largest; have ck i : (i < L)%N -> nth_count m i = k.
    move=> iL; have : nth_count m i \in [seq m l | l <- enum 'I_L].
      by rewrite -(mem_sort geq) mem_nth // size_sorted_counts.
    by case/mapP => l _ ->; exact: mk.
  rewrite (eq_bigr (fun i : 'I_L => weight (2 / eps) i * k%:R)) => [|i _]; last by rewrite ck.
  by rewrite -mulr_suml weight_sum ?ltW // min_r.
have LL : (0 < L <= L)%N by rewrite L0 leqnn.
have := thm_chain U0 q1 Npos LL; rewrite sum_largest_all // NE.
have p := q_pos q1; have g := q_gap q1; have g2 := q2_gap q1.
have s0 : 0 < 1 + cosh_log q + L%:R * sinh_log q.
  have := q_inv_lt1 q1; rewrite /cosh_log /sinh_log => qi; have qi0 : 0 < q^-1 by rewrite invr_gt0.
  have : 0 < L%:R * (q - q^-1) by rewrite mulr_gt0 //; linear.
  by linear.
suff -> : E_OPT m U eps / (sinh_log q / eps * (1 + (q + 1) / (q - 1) / L%:R))
    = U / (L%:R * k%:R) * (L%:R * k%:R / (1 + cosh_log q + L%:R * sinh_log q)) by [].
have cs : sinh_log q * (q + 1) / (q - 1) = 1 + cosh_log q by rewrite /sinh_log /cosh_log; field; rewrite !gt_eqF.
have den : 1 + cosh_log q + L%:R * sinh_log q = L%:R * (sinh_log q * (1 + (q + 1) / (q - 1) / L%:R)).
  by rewrite -cs; field; rewrite !gt_eqF.
rewrite /E_OPT ME NE den; rewrite den pmulr_rgt0 // in s0.
rewrite [sinh_log q / eps * _]mulrAC; move: (sinh_log q * _) s0 => d d0.
by field; rewrite !gt_eqF.
Qed.

End ChainFactor.

(* begin cor-chain-limit *)
(* The factor of cor-chain-equal is at most 1 + tau if eps <= tau / 4 and L eps >= 4 / tau.  So it tends to
   1 as eps tends to 0 and L eps to infinity: the strategy is asymptotically minimax. *)
Theorem cor_chain_limit (R : realFieldType) (exp : R -> R) (L k : nat) (U eps tau : R) :
  is_exponential exp -> 0 <= U -> (0 < k)%N -> 0 < tau <= 1 -> 0 < eps <= tau / 4 ->
  4 / tau <= L%:R * eps ->
  minimax_risk_at_least (fun _ : 'I_L => k) U (exp eps)
    (E_OPT (fun _ : 'I_L => k) U eps / (1 + tau)).
(* end cor-chain-limit *)
Proof.
(* The factor of cor_chain_equal is sinh eps / eps times 1 + coth (eps / 2) / L; each is bounded with
   1 + eps <= exp eps <= 1 / (1 - eps). *)
move=> is_exp U0 k0 /andP [d0 d1] /andP [e0 ed] dL.
have q1 := exp_gt1 is_exp e0; set q := exp eps in q1 *.
have L0 : (0 < L)%N.
  rewrite lt0n; apply/eqP => z; move: dL; rewrite z mul0r leNgt => /negP; apply.
  by rewrite divr_gt0 ?ltr0n.
have Npos : (0 < \sum_(l < L) k)%N by rewrite sum_nat_const card_ord muln_gt0 L0.
have LR : 0 < L%:R :> R by rewrite ltr0n.
have le_L : 2 / eps <= L%:R.
  rewrite ler_pdivr_mulr //; apply: le_trans dL; rewrite ler_pdivl_mulr //; linear.
have := cor_chain_equal U0 q1 Npos e0 (fun=> erefl k) le_L.
set F := _ * (1 + _); move=> bound H E r cH mE priv risk.
have p := q_pos q1; have g := q_gap q1; have := exp_le is_exp eps; rewrite -/q => le_q.
have ge_q := exp_ge is_exp eps; rewrite -/q in ge_q.
(* sinh eps <= eps (q + 1) / 2 *)
have s_le : sinh_log q <= eps * ((q + 1) / 2).
  have -> : sinh_log q = (q - 1) * (q + 1) / 2 / q by rewrite /sinh_log; field; rewrite gt_eqF.
  rewrite ler_pdivr_mulr //; have : 0 <= (q + 1) * (1 - q * (1 - eps)) by rewrite mulr_ge0 ?subr_ge0 //; linear.
  by linear.
have q_le : q <= 1 + tau / 3.
  have t : 0 <= q * (tau / 4 - eps) by rewrite mulr_ge0 ?subr_ge0 // ltW.
  have dd : tau * tau <= tau by rewrite ler_pimull // ltW.
  rewrite leNgt; apply/negP => h.
  have : 0 < (q - (1 + tau / 3)) * (1 - tau / 4) by rewrite mulr_gt0 //; linear.
  by linear.
have LE : 0 < L%:R * eps by rewrite mulr_gt0.
have coth_le : (q + 1) / (q - 1) / L%:R <= 7 * tau / 12.
  rewrite -mulrA -invfM ler_pdivr_mulr ?mulr_gt0 //.
  have h4 : 4 <= tau * (L%:R * eps) by rewrite mulrC -ler_pdivr_mulr.
  have : 0 <= tau * (L%:R * (q - 1 - eps)).
    by rewrite !mulr_ge0 ?ler0n ?(ltW d0) //; linear.
  by linear.
have sinh_le : sinh_log q / eps <= 1 + tau / 6 by rewrite ler_pdivr_mulr //; apply: (le_trans s_le); rewrite mulrC ler_pmul2r //; linear.
have sinh0 : 0 < sinh_log q.
  have := q_inv_lt1 q1; rewrite /sinh_log; linear.
have x0 : 0 <= (q + 1) / (q - 1) / L%:R by rewrite !divr_ge0 ?ler0n //; linear.
have F0 : 0 < F by apply: mulr_gt0; [exact: divr_gt0 | linear].
have F1 : F <= 1 + tau.
  apply: (@le_trans _ _ ((1 + tau / 6) * (1 + 7 * tau / 12))).
    by apply: ler_pmul => //; [exact/ltW/divr_gt0 | linear | linear].
  have dd : tau * tau <= tau by rewrite ler_pimull // ltW.
  by linear.
apply: le_trans (bound H E r cH mE priv risk).
apply: ler_wpmul2l; last by rewrite lef_pinv ?posrE //; linear.
rewrite /E_OPT mulr_ge0 ?divr_ge0 ?mulr_ge0 ?ler0n // sumr_ge0 // => i _.
by rewrite mulr_ge0 ?ler0n // weight_ge0.
Qed.
