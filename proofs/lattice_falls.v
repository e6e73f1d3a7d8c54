(* The bound for one user falls as the budget grows, whatever the number of points in its lattices. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import linear lattice.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin def-lattice-risk *)
(* b is s (eps) of thm-lattice: s_n for the smallest n >= 2 with s_n >= 1 / (n + 1). *)
Definition is_lattice_risk (R : realFieldType) (q b : R) : Prop :=
  exists n, [/\ (2 <= n)%N, 1 / n.+1%:R <= s q n, forall k, (2 <= k < n)%N -> s q k < 1 / k.+1%:R & b = s q n].
(* end def-lattice-risk *)

Section OneBudget.
Variables (R : realFieldType) (q : R).
Hypothesis q1 : 1 < q.

Let g : 0 < q - 1. Proof. by rewrite subr_gt0. Qed.

Lemma den_gt0 k : 0 < 2 * (u q k.+1 + k%:R).
Proof. by have [h _] := u_grows q1 k.+1; have := ler0n R k => h'; linear. Qed.

(* k is admissible if s_k >= 1 / (k + 1): here without fractions. *)
Lemma admissibleE k : (1 <= k.+1%:R * s q k) = (2 * (u q k.+1 + k%:R) <= k.+1%:R * (u q k.+1 - u q k + 1)).
Proof. by rewrite /s mulrA ler_pdivl_mulr ?den_gt0 // mul1r. Qed.

Lemma lattice_risk_gt0 b : is_lattice_risk q b -> 0 < b.
Proof. by case=> n [_ h _ ->]; apply: lt_le_trans h; rewrite divr_gt0 ?ltr01 ?ltr0n. Qed.

Lemma lattice_risk_holds b : is_lattice_risk q b -> one_user_risk_at_least q b.
Proof. by case=> n [n2 sn least ->]; exact: thm_lattice. Qed.

Lemma lattice_risk_exists : (exists K : nat, q <= K%:R) -> exists b, is_lattice_risk q b.
Proof.
case=> K hK; pose good n := (2 <= n)%N && (1 / n.+1%:R <= s q n).
have some : exists n, good n.
  have [|n n2 h] := lattice_exists q1; last by exists n; rewrite /good n2.
  by exists (2 * K)%N; rewrite natrM; linear.
case: (ex_minnP some) => n /andP [n2 h] least; exists (s q n), n; split=> // k /andP [k2 kn].
rewrite ltNge; apply/negP => hk; have := least k; rewrite /good k2 hk => /(_ isT).
by rewrite leqNgt kn.
Qed.

Lemma lattice_risk_unique b b' : is_lattice_risk q b -> is_lattice_risk q b' -> b = b'.
Proof.
case=> n [n2 sn least ->] [n' [n2' sn' least' ->]]; case: (ltngtP n n') => [h|h|-> //].
  by have := least' n; rewrite n2 h => /(_ isT); rewrite ltNge sn.
by have := least n'; rewrite n2' h => /(_ isT); rewrite ltNge sn'.
Qed.

(* If k is admissible, the bound is at least 1 / (k + 1). *)
Lemma lattice_risk_admissible b k : is_lattice_risk q b -> (2 <= k)%N -> 1 / k.+1%:R <= s q k -> 1 / k.+1%:R <= b.
Proof.
case=> n [n2 sn least ->] k2 hk; case: (leqP n k) => [nk|kn].
  by apply: le_trans sn; rewrite !div1r lef_pinv ?posrE ?ltr0n // ler_nat.
by have := least k; rewrite k2 kn => /(_ isT); rewrite ltNge hk.
Qed.

(* u_0, u_1, ... grow at least geometrically, by any factor z with z + 1 / z <= 2 c. *)
Lemma u_geometric z n : 1 <= z -> (q - 1) * (z * z + 1) <= 2 * q * z -> z * u q n <= u q n.+1.
Proof.
move=> z1 hz; have z0 : 0 < z by exact: lt_le_trans z1.
elim: n => [|n IH].
  by rewrite u0 mulr1 -(ler_pmul2l g) u1 // -(ler_pmul2r z0); move: g; linear.
have [un _] := u_grows q1 n.+1; rewrite -(ler_pmul2l g) -(ler_pmul2l z0) u_step //.
have e1 := ler_wpmul2l (ltW g) IH.
have e2 : 0 <= (2 * q * z - (q - 1) * (z * z + 1)) * u q n.+1.
  by rewrite mulr_ge0 ?subr_ge0 //; exact: le_trans un.
by linear.
Qed.

Lemma admissible_from z k : 1 <= z -> (q - 1) * (z * z + 1) <= 2 * q * z -> (2 <= k)%N ->
  3 <= (k%:R - 1) * (z - 1) -> 1 / k.+1%:R <= s q k.
Proof.
move=> z1 hz k2 hk; have grow := u_geometric k z1 hz; have [far _] := u_convex q1 k.
have kR : 2 <= k%:R :> R by rewrite ler_nat.
have S : k.+1%:R = k%:R + 1 :> R by rewrite -addn1 natrD.
rewrite ler_pdivr_mulr ?ltr0n // mulrC admissibleE S; rewrite S in far.
have e1 : 0 <= (k%:R - 1) * (u q k.+1 - z * u q k) by rewrite mulr_ge0 ?subr_ge0 //; linear.
have e2 : 0 <= ((k%:R - 1) * (z - 1) - 3) * u q k by rewrite mulr_ge0 ?subr_ge0 //; linear.
by linear.
Qed.

(* At a large budget no small number is admissible, so the bound is small. *)
Lemma lattice_risk_small b K : is_lattice_risk q b -> 4 ^+ K.+2 <= q - 1 -> b <= 1 / K.+1%:R.
Proof.
move=> hb big; have bounds n : u q n <= 4 ^+ n /\ 2 * (\sum_(j < n) u q j) <= 4 ^+ n.
  have q4 : 2 * q <= 4 * (q - 1).
    have : 4 ^+ 1 <= 4 ^+ K.+2 :> R by rewrite ler_eexpn2l ?ltr1n.
    by rewrite expr1; linear.
  elim: n => [|n [IH1 IH2]]; first by rewrite u0 expr0 big_ord0 mulr0 ler01; split.
  split; last by rewrite big_ord_recr /= exprS mulrDr; have := exprn_ge0 n (ler0n R 4); linear.
  rewrite -(ler_pmul2l g) exprS; case: n IH1 {IH2} => [|n] IH1; first by rewrite u1 // expr0; linear.
  have [un _] := u_grows q1 n; have [un1 _] := u_grows q1 n.+1.
  rewrite u_step //.
  have e1 : 0 <= (q - 1) * u q n by rewrite mulr_ge0 ?(ltW g) // (le_trans ler01).
  have e2 : 0 <= (4 * (q - 1) - 2 * q) * u q n.+1.
    by rewrite mulr_ge0 ?subr_ge0 // (le_trans ler01).
  have e3 : 0 <= (q - 1) * (4 ^+ n.+1 - u q n.+1) by rewrite mulr_ge0 ?(ltW g) // subr_ge0.
  by linear.
have step n : (q - 1) * (u q n.+1 - u q n) = q - 1 + 2 * (\sum_(j < n.+1) u q j).
  elim: n => [|n IH]; first by rewrite big_ord_recl big_ord0 u0 mulrBr u1 //; linear.
  by rewrite big_ord_recr /= !mulrBr u_step // mulrDr; move: IH; rewrite mulrBr; linear.
case: hb => n [n2 sn least ->].
have nK : (K.+1 <= n)%N.
  rewrite leqNgt; apply/negP => nK; move: sn; rewrite ler_pdivr_mulr ?ltr0n // mulrC admissibleE.
  rewrite leNgt => /negP; apply.
  have [_ sum] := bounds n.+1; have [far _] := u_convex q1 n.
  have small : 4 ^+ n.+1 <= q - 1.
    by apply: le_trans big; rewrite ler_weexpn2l ?ler1n // ltnS ltnW // ltnS ltnW.
  have d : u q n.+1 - u q n <= 2 by rewrite -(ler_pmul2l g) step; linear.
  have nR : 2 <= n%:R :> R by rewrite ler_nat.
  have S : n.+1%:R = n%:R + 1 :> R by rewrite -addn1 natrD.
  rewrite S in far *.
  have e : 0 <= (n%:R - 1) * (2 - (u q n.+1 - u q n)) by rewrite mulr_ge0 ?subr_ge0 //; linear.
  by linear.
have nR : 0 < n%:R :> R by rewrite ltr0n; apply: leq_trans n2.
have := lattice_range q1 n2 least; rewrite mulrC -ler_pdivl_mulr // => /le_trans; apply.
by rewrite !div1r lef_pinv ?posrE ?nR ?ltr0n // ler_nat.
Qed.

End OneBudget.

Section Falls.
Variables (R : realFieldType) (q Q : R).
Hypothesis q1 : 1 < q.
Hypothesis qQ : q <= Q.

Let Q1 : 1 < Q. Proof. exact: lt_le_trans qQ. Qed.
Let g : 0 < q - 1. Proof. by rewrite subr_gt0. Qed.
Let G : 0 < Q - 1. Proof. by rewrite subr_gt0. Qed.

Lemma u_ratio n : u Q n.+1 * u q n <= u q n.+1 * u Q n.
Proof.
rewrite -(ler_pmul2l g) -(ler_pmul2l G).
elim: n => [|n IH].
  have e1 : (q - 1) * ((Q - 1) * u Q 1) = (q - 1) * (2 * Q) by rewrite u1.
  have e2 : (Q - 1) * ((q - 1) * u q 1) = (Q - 1) * (2 * q) by rewrite u1.
  by rewrite !u0 !mulr1; linear.
have [a _] := u_grows q1 n.+1; have [b _] := u_grows Q1 n.+1.
have e1 : (Q - 1) * ((q - 1) * (u Q n.+2 * u q n.+1)) = (q - 1) * u q n.+1 * (2 * Q * u Q n.+1 - (Q - 1) * u Q n).
  by rewrite -u_step //; ring.
have e2 : (Q - 1) * ((q - 1) * (u q n.+2 * u Q n.+1)) = (Q - 1) * u Q n.+1 * (2 * q * u q n.+1 - (q - 1) * u q n).
  by rewrite -u_step //; ring.
rewrite e1 e2; have : 0 <= (Q - q) * (u q n.+1 * u Q n.+1).
  by rewrite mulr_ge0 ?subr_ge0 // mulr_ge0 // (le_trans ler01).
by linear.
Qed.

Lemma u_falls n : u Q n <= u q n.
Proof.
elim: n => [|n IH]; first by rewrite !u0.
have [b _] := u_grows Q1 n; have b0 : 0 < u Q n by exact: lt_le_trans b.
have [d _] := u_grows Q1 n.+1; rewrite -(ler_pmul2r b0); apply: le_trans (u_ratio n).
by apply: ler_wpmul2l => //; exact: le_trans d.
Qed.

Lemma s_falls k : 1 <= 2 * k%:R * s Q k -> s Q k <= s q k.
Proof.
move=> enough; have e := s_equation Q1 k; have r := u_ratio k; have f := u_falls k.
have [a _] := u_grows Q1 k; have [b _] := u_grows Q1 k.+1; have [c _] := u_grows q1 k.+1.
have k0 := ler0n R k; have a0 : 0 < u Q k by exact: lt_le_trans a.
rewrite [leRHS]/s ler_pdivl_mulr ?den_gt0 //; move: (s Q k) enough e => z enough e.
move: (u Q k) (u Q k.+1) (u q k) (u q k.+1) e r f a b c a0 => V V' v v' e r f a b c a0.
have pos : 0 <= 1 - 2 * z.
  by rewrite -(@pmulr_lge0 _ V') ; [linear | exact: lt_le_trans b].
have e1 : 0 <= (1 - 2 * z) * (v' * V - V' * v) by rewrite mulr_ge0 // subr_ge0.
have e2 : 0 <= (2 * k%:R * z - 1) * (v - V) by rewrite mulr_ge0 // subr_ge0.
have e3 : (2 * z * (V' + k%:R)) * v = (V' - V + 1) * v by rewrite e.
by rewrite -(ler_pmul2l a0); linear.
Qed.

(* The bound at the smaller budget is at least s_k at the larger one, if s_k is between 1 / (k + 1) and 1 /
   k. *)
Lemma lattice_risk_falls b k : is_lattice_risk q b -> k%:R * s Q k <= 1 -> 1 <= k.+1%:R * s Q k -> s Q k <= b.
Proof.
case=> n [n2 sn least ->] small large; have S : k.+1%:R = k%:R + 1 :> R by rewrite -addn1 natrD.
have k2 : (2 <= k)%N.
  rewrite leqNgt; apply/negP => k1; move: large; rewrite admissibleE // leNgt => /negP; apply.
  have [v1 v2] := u_grows Q1 k; case: k k1 {small S} v1 v2 => [|[]] // _ v1 v2.
    by rewrite u0 mul1r; linear.
  have e2 : (Q - 1) * u Q 2 = 2 * Q * u Q 1 - (Q - 1) * u Q 0 by rewrite u_step.
  have e1 := u1 Q1; have v := u_ge2 Q1 0; rewrite u0 in e2 v1.
  by rewrite -(ltr_pmul2l G); linear.
have kR : 0 < k%:R :> R by rewrite ltr0n; exact: leq_trans k2.
have s0 : 0 < s Q k by rewrite -(@pmulr_rgt0 _ k.+1%:R) ?ltr0n //; exact: lt_le_trans large.
have mono : s Q k <= s q k.
  apply: s_falls; apply: le_trans large _; rewrite S; apply: ler_wpmul2r; first exact: ltW.
  by have : 1 <= k%:R :> R; [rewrite ler1n; exact: leq_trans k2 | linear].
have served : 1 / k.+1%:R <= s q k.
  by rewrite ler_pdivr_mulr ?ltr0n // mulrC; apply: le_trans large _; rewrite ler_pmul2l ?ltr0n.
case: (ltngtP n k) => [nk|kn|-> //]; last first.
  by have := least k; rewrite k2 kn => /(_ isT); rewrite ltNge served.
apply: le_trans sn; apply: (@le_trans _ _ (1 / k%:R)); first by rewrite ler_pdivl_mulr // mulrC.
by rewrite !div1r lef_pinv ?posrE ?kR ?ltr0n // ler_nat.
Qed.

End Falls.
