(* The book's factor F: at each whole number i the minimum C_i over all group sizes n, and linear between
   whole numbers; here halved, as in thm-factor. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear lattice lattice_falls chain minimax factor.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin def-envelope *)
(* b is b_n (eps) of thm-minimax, C is C_i of thm-factor, and F is the factor of thm-factor for noise with
   mean absolute value x / 2 at sensitivity 1. *)
Definition is_larger_bound (R : realFieldType) (q : R) (n : nat) (b : R) : Prop :=
  exists2 c, is_lattice_risk (q ^+ n) c & b = Num.max (1 / (1 + cosh_log q + n%:R * sinh_log q)) c.
Definition is_least_H_bound (R : realFieldType) (q : R) (i : nat) (C : R) : Prop :=
  (exists n b, [/\ (0 < n)%N, is_larger_bound q n b & C = H_bound i n b])
  /\ forall n b, (0 < n)%N -> is_larger_bound q n b -> C <= H_bound i n b.
Definition is_factor (R : realFieldType) (q x F : R) : Prop :=
  exists i t C C', [/\ 0 <= t < 1, x = i%:R + t, is_least_H_bound q i C, is_least_H_bound q i.+1 C'
    & F = ((1 - t) * C + t * C') / 2].
(* end def-envelope *)

Section Envelope.
Variables (R : realFieldType) (q : R).
Hypothesis q1 : 1 < q.

Lemma larger_bound_chain n b : is_larger_bound q n b -> 1 / (1 + cosh_log q + n%:R * sinh_log q) <= b.
Proof. by case=> c _ ->; rewrite le_maxr lexx. Qed.

Lemma larger_bound_gt0 n b : is_larger_bound q n b -> 0 < b.
Proof. by move=> /larger_bound_chain; apply: lt_le_trans; exact: divr_gt0 ltr01 (chain_gt0 n q1). Qed.

(* The larger of the chain's bound and the lattice's is a lower bound for n users. *)
Lemma larger_bound_holds n b : (0 < n)%N -> is_larger_bound q n b -> is_group_bound q n b.
Proof.
move=> n0 hb; split; first exact: larger_bound_gt0 hb.
case: hb => c hc ->; rewrite maxEle; case: ifP => _; [right | by left].
by apply: lattice_risk_holds hc; rewrite exprn_egt1 // -lt0n.
Qed.

Lemma power_bounded n : (exists K : nat, q <= K%:R) -> exists K : nat, q ^+ n <= K%:R.
Proof.
case=> K qK; exists (K ^ n)%N; rewrite natrX; apply: ler_expn2r => //; rewrite ?nnegrE ?ler0n //.
exact/ltW/q_pos.
Qed.

Lemma larger_bound_exists n : (0 < n)%N -> (exists K : nat, q <= K%:R) -> exists b, is_larger_bound q n b.
Proof.
move=> n0 /(power_bounded n) /lattice_risk_exists; rewrite exprn_egt1 -?lt0n // => /(_ n0) [c hc].
by exists (Num.max (1 / (1 + cosh_log q + n%:R * sinh_log q)) c), c.
Qed.

Lemma larger_bound_unique n b b' : is_larger_bound q n b -> is_larger_bound q n b' -> b = b'.
Proof. by case=> c hc -> [c' hc' ->]; rewrite (lattice_risk_unique hc hc'). Qed.

(* A larger lower bound b gives a smaller H_bound. *)
Lemma H_bound_falls i n (b b' : R) : 0 < b -> b <= b' -> H_bound i n b' <= H_bound i n b.
Proof.
move=> b0 bb; rewrite /H_bound; case: eqP => // _; have b0' : 0 < b' by exact: lt_le_trans bb.
by apply: ler_wpmul2l; rewrite ?le_maxr ?ler01 // lef_pinv ?posrE.
Qed.

(* If a j is at most r times every H_bound at this budget, it is so with the bounds of chains and lattices
   at larger budgets. *)
Section Below.
Variables (r : R) (a : nat -> R).
Hypothesis r0 : 0 <= r.
Hypothesis bounded : exists K : nat, q <= K%:R.
Hypothesis below : forall j n b, (0 < n)%N -> is_larger_bound q n b -> a j <= H_bound j n b * r.

Lemma below_chains Q j n : q <= Q -> (0 < n)%N -> a j <= H_bound j n (1 / (1 + cosh_log Q + n%:R * sinh_log Q)) * r.
Proof.
move=> qQ n0; have [b hb] := larger_bound_exists n0 bounded; apply: le_trans (below j n0 hb) _.
have Q1 := lt_le_trans q1 qQ; apply: ler_wpmul2r => //; apply: H_bound_falls.
  exact: divr_gt0 ltr01 (chain_gt0 n Q1).
apply: le_trans (larger_bound_chain hb); rewrite !div1r lef_pinv ?posrE ?chain_gt0 //.
have q0 := q_pos q1; have Q0 := q_pos Q1.
have falls : Q^-1 <= q^-1 by rewrite lef_pinv ?posrE.
have rises : q + q^-1 <= Q + Q^-1.
  have i1 := q_inv_lt1 q1; have j1 := q_inv_lt1 Q1; have i0 : 0 < q^-1 by rewrite invr_gt0.
  have e : q * q^-1 = 1 by rewrite divff ?gt_eqF.
  have e' : Q * Q^-1 = 1 by rewrite divff ?gt_eqF.
  have : 0 <= (Q - q) * (1 - q^-1 * Q^-1).
    rewrite mulr_ge0 ?subr_ge0 //; apply: (@le_trans _ _ (q^-1 * 1)); last by rewrite mulr1 ltW.
    by apply: ler_wpmul2l; exact: ltW.
  have -> : (Q - q) * (1 - q^-1 * Q^-1) = Q - q - (Q * Q^-1) * q^-1 + (q * q^-1) * Q^-1 by ring.
  by rewrite e e'; linear.
apply: ler_add; first by rewrite /cosh_log; move: rises; linear.
by apply: ler_wpmul2l; rewrite ?ler0n // /sinh_log; linear.
Qed.

Lemma below_one b z j : is_lattice_risk q b -> 0 < z -> z <= b -> a j <= H_bound j 1 z * r.
Proof.
move=> hb z0 zb; set c := Num.max (1 / (1 + cosh_log q + 1%:R * sinh_log q)) b.
have hc : is_larger_bound q 1 c by exists b; rewrite ?expr1.
apply: le_trans (below j (ltn0Sn 0) hc) _; apply: ler_wpmul2r => //; apply: H_bound_falls => //.
by rewrite le_maxr zb orbT.
Qed.

Lemma below_lattices Q j k : q <= Q -> k%:R * s Q k <= 1 -> 1 <= k.+1%:R * s Q k -> 0 < s Q k ->
  a j <= H_bound j 1 (s Q k) * r.
Proof.
move=> qQ small large s0; have [b hb] := lattice_risk_exists q1 bounded.
exact: below_one hb s0 (lattice_risk_falls q1 qQ hb small large).
Qed.

End Below.

(* b_n tends to 0 as n grows. *)
Lemma larger_bound_small z : (forall x : R, exists K : nat, x <= K%:R) -> 0 < z ->
  exists N, forall n b, (N <= n)%N -> is_larger_bound q n b -> b <= z.
Proof.
move=> archi z0; have g := q_gap q1; have s0 := sinh_gt0 q1.
have [K hK] := archi z^-1; have [N1 h1] := archi (z * sinh_log q)^-1; have [N2 h2] := archi (4 ^+ K.+2 / (q - 1)).
exists (maxn N1 N2).+1 => n b; rewrite gtn_max => /andP [n1 n2] [c hc ->].
have n0 : (0 < n)%N by exact: leq_ltn_trans n1.
have nR : 0 < n%:R :> R by rewrite ltr0n.
rewrite le_maxl; apply/andP; split.
  have C0 := chain_gt0 n q1; rewrite ler_pdivr_mulr // -ler_pdivr_mull // mulr1.
  have : (z * sinh_log q)^-1 <= n%:R by apply: le_trans h1 _; rewrite ler_nat ltnW.
  rewrite invfM ler_pdivr_mulr // => h.
  have q0 := q_pos q1; have i0 : 0 < q^-1 by rewrite invr_gt0.
  by rewrite /cosh_log; linear.
have Q1 : 1 < q ^+ n by rewrite exprn_egt1 // -lt0n.
have big : 4 ^+ K.+2 <= q ^+ n - 1.
  have bernoulli k : 1 + k%:R * (q - 1) <= q ^+ k.
    elim: k => [|k IH]; first by rewrite expr0 mul0r addr0.
    have : 0 <= (q - 1) * (q ^+ k - 1 - k%:R * (q - 1)) by rewrite mulr_ge0 ?(ltW g) //; linear.
    have : 0 <= k%:R * ((q - 1) * (q - 1)) by rewrite !mulr_ge0 ?ler0n ?(ltW g).
    by rewrite exprS -addn1 natrD; linear.
  have : 4 ^+ K.+2 / (q - 1) <= n%:R by apply: le_trans h2 _; rewrite ler_nat ltnW.
  by rewrite ler_pdivr_mulr //; have := bernoulli n; linear.
apply: le_trans (lattice_risk_small Q1 hc big) _.
rewrite ler_pdivr_mulr ?ltr0n // -ler_pdivr_mull // mulr1 -addn1 natrD; apply: le_trans hK _.
by rewrite ler_addl ler01.
Qed.

Lemma least_H_bound_upto i N : (exists K : nat, q <= K%:R) -> exists n b, [/\ (0 < n)%N, is_larger_bound q n b
  & forall n' b', (0 < n' <= N.+1)%N -> is_larger_bound q n' b' -> H_bound i n b <= H_bound i n' b'].
Proof.
move=> bounded; elim: N => [|N [n [b [n0 hb least]]]].
  have [b hb] := larger_bound_exists (ltn0Sn 0) bounded; exists 1%N, b; split=> // n' b'.
  by rewrite andbC -eqn_leq => /eqP e; rewrite e => hb'; rewrite (larger_bound_unique hb hb').
have [b2 hb2] := larger_bound_exists (ltn0Sn N.+1) bounded.
have step n' b' : (0 < n' <= N.+2)%N -> is_larger_bound q n' b' ->
    H_bound i n b <= H_bound i n' b' \/ H_bound i n' b' = H_bound i N.+2 b2.
  move=> /andP [n0']; rewrite leq_eqVlt => /orP [/eqP -> hb'|nN hb']; last by left; apply: least; rewrite ?n0'.
  by right; rewrite (larger_bound_unique hb2 hb').
case: (leP (H_bound i n b) (H_bound i N.+2 b2)) => [le|/ltW le].
  by exists n, b; split=> // n' b' h /(step n' b' h) [//|->].
by exists N.+2, b2; split=> // n' b' h /(step n' b' h) [|->] //; exact: le_trans.
Qed.

(* A least H_bound exists: for n above some number it is at least that for n = 1, so only finitely many n
   matter. *)
Lemma least_H_bound_exists i : (forall x : R, exists K : nat, x <= K%:R) -> exists C, is_least_H_bound q i C.
Proof.
move=> archi; have bounded := archi q; have [b1 hb1] := larger_bound_exists (ltn0Sn 0) bounded.
have b1_gt0 := larger_bound_gt0 hb1.
have [N far] : exists N, forall n b, (N < n)%N -> is_larger_bound q n b -> H_bound i 1 b1 <= H_bound i n b.
  case: i => [|i]; first by exists 0%N => n b _ _; rewrite /H_bound.
  have [|N small] := @larger_bound_small (b1 / i.+1%:R) archi; first by rewrite divr_gt0 ?ltr0n.
  exists N => n b nN hb; have b0 := larger_bound_gt0 hb; have := small n b (ltnW nN) hb.
  rewrite /H_bound /= divr1 max_r ?ler1n // ler_pdivl_mulr ?ltr0n // => h.
  apply: (@le_trans _ _ (1 / b)); last by apply: ler_wpmul2r; rewrite ?invr_ge0 ?(ltW b0) // le_maxr lexx.
  by rewrite ler_pdivr_mulr // mulrAC ler_pdivl_mulr // mul1r mulrC.
have [n [b [n0 hb least]]] := least_H_bound_upto i N bounded.
exists (H_bound i n b); split; first by exists n, b.
move=> n' b' n0' hb'; case: (leqP n' N.+1) => nN; first by apply: least; rewrite ?n0'.
apply: le_trans (far n' b' (ltnW nN) hb'); exact: least.
Qed.

End Envelope.

(* begin thm-factor-envelope *)
(* Statement 1: the smallest worst-case error, with noise of mean absolute value x / 2 at sensitivity 1, is
   at most F times the minimax risk. *)
Theorem thm_factor_envelope (R : realFieldType) L (m : 'I_L -> nat) (U q x F : R) :
  0 < U -> 1 < q -> (0 < \sum_l m l)%N -> is_factor q x F ->
  minimax_risk_at_least m U q (optimal_error m U x / F).
(* end thm-factor-envelope *)
Proof.
move=> U0 q1 Npos [i [t [C [C' [/andP [t0 t1] -> [[n [b [n0 hb ->]]] _] [[n' [b' [n0' hb' ->]]] _] ->]]]]].
apply: thm_factor_any_n => //; first by rewrite t0 ltW.
  exact: larger_bound_holds.
exact: larger_bound_holds.
Qed.

(* begin thm-factor-exists *)
(* For each x >= 0 there is such an F, if every number is at most some whole number, as among the reals. *)
Theorem thm_factor_exists (R : realFieldType) (q x : R) : 1 < q -> 0 <= x ->
  (forall y : R, exists K : nat, y <= K%:R) -> exists F, is_factor q x F.
(* end thm-factor-exists *)
Proof.
move=> q1 x0 archi; have [i [t [t01 ->]]] := floor_exists x0 (archi x).
have [C hC] := least_H_bound_exists q1 i archi; have [C' hC'] := least_H_bound_exists q1 i.+1 archi.
by exists (((1 - t) * C + t * C') / 2), i, t, C, C'.
Qed.
