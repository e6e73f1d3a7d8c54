(* With staircase noise one number bounds the factor at every budget. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear lattice chain within minimax rows factor even.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Numbers.
Variable R : realFieldType.
Notation "$ z" := (@of_Z R z) (at level 2, format "$ z").

Lemma stairs_size (h : R) : 1 < h -> 1 / sinh h = 2 * h / (h ^+ 2 - 1).
Proof. by move=> h1; rewrite /sinh; field; rewrite !gt_eqF ?q2_gap ?q_pos. Qed.

Lemma stairs_ratio (a d : R) : 0 < d < a ->
  2 * (a / d) / ((a / d) ^+ 2 - 1) = 2 * a * d / (a * a - d * d).
Proof.
move=> /andP [d0 da]; have a0 := lt_trans d0 da.
have gap : 0 < a * a - d * d by rewrite subr_gt0 ltr_pmul // ltW.
by field; rewrite !gt_eqF.
Qed.

(* The noise falls with the budget. *)
Lemma stairs_fall (g h : R) : 1 < g -> g <= h -> 1 / sinh h <= 2 * g / (g ^+ 2 - 1).
Proof.
move=> g1 gh; have h1 : 1 < h by exact: lt_le_trans gh.
rewrite stairs_size // ler_pdivr_mulr ?q2_gap // mulrAC ler_pdivl_mulr ?q2_gap //.
have hg := mulr_gt0 (q_pos h1) (q_pos g1).
have : 0 <= (h - g) * (h * g + 1) by rewrite mulr_ge0 //; linear.
by rewrite !expr2; linear.
Qed.

(* Small budgets: the chain. *)
Lemma chain_small (h : R) : 1 < h -> h <= 8 / 5 -> (1 + cosh (h ^+ 2)) / 2 + cosh h <= 242 / 100.
Proof.
move=> h1 h8; have h0 := q_pos h1; have i1 := q_inv_lt1 h1; have i0 : 0 < h^-1 by rewrite invr_gt0.
rewrite /cosh -exprVn; have e : h * h^-1 = 1 by rewrite divff // gt_eqF.
have a : h + h^-1 <= 89 / 40.
  have : 0 <= (8 / 5 - h) * (1 - 5 / 8 * h^-1) by rewrite mulr_ge0 ?subr_ge0 //; linear.
  by move: (h^-1) e => g e; linear.
have sq : (h + h^-1) * (h + h^-1) <= 89 / 40 * (89 / 40) by rewrite ler_pmul //; linear.
by rewrite !expr2; move: (h^-1) e a sq => g e a sq; linear.
Qed.

(* Large ones: the simple prior, with the least n that serves. *)
Lemma even_large (h : R) : 6 <= h -> (exists K : nat, h <= K%:R) ->
  exists2 n : nat, (0 < n)%N /\ 4 * h ^+ 2 <= n%:R * (n%:R - 2) & h * n%:R <= 242 / 100 * (h ^+ 2 - 1).
Proof.
move=> h6 [K hK]; rewrite expr2.
pose enough (n : nat) := 4 * (h * h) <= n%:R * (n%:R - 2).
have some : exists n, (0 < n)%N && enough n.
  exists (2 * K + 2)%N; rewrite {1}addn2 /= /enough natrD natrM.
  have : 0 <= (K%:R - h) * (K%:R + h) by rewrite mulr_ge0 //; linear.
  by linear.
case: (ex_minnP some) => n /andP [n0 good] least; exists n => //.
case: n n0 good least => // n _ good least; have S : n.+1%:R = n%:R + 1 :> R by rewrite -addn1 natrD.
rewrite S; case: (leP n%:R (2 * h + 25 / 24)) => [small|big].
  have : 0 <= h * (2 * h + 25 / 24 - n%:R) by rewrite mulr_ge0 ?subr_ge0 //; linear.
  have : 0 <= (h - 6) * h by rewrite mulr_ge0 ?subr_ge0 //; linear.
  by linear.
have /least : (0 < n)%N && enough n; last by rewrite ltnn.
have n0 : (0 < n)%N by rewrite -(ltr0n R); linear.
rewrite n0 /enough /=.
have : 0 <= (n%:R - (2 * h + 25 / 24)) * (n%:R + 2 * h - 2) by rewrite mulr_ge0 //; linear.
by linear.
Qed.

(* In between, pieces: from a / 10 to b / 10, in steps of 1 / (10 k), at h from j / D to (j + 1) / D. *)
Definition stair (D j : Z) : bool := row 242 (2 * j * D) (j * j - D * D) ((j + 1) * (j + 1)) (D * D).
Definition stairs (k a b : nat) : bool :=
  all (fun j => stair (Z.of_nat (10 * k)) (Z.of_nat j)) (iota (a * k) (b * k - a * k)).

Lemma fine_stairs : stairs 40 16 25.
Proof. by vm_compute. Qed.

Lemma coarse_stairs : stairs 2 25 60.
Proof. by vm_compute. Qed.

End Numbers.

Section Stairs.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U h : R).
Notation "$ z" := (@of_Z R z) (at level 2, format "$ z").
Hypothesis U0 : 0 < U.
Hypothesis h1 : 1 < h.
Hypothesis Npos : (0 < \sum_l m l)%N.
Variable r : R.
Hypothesis risk : forall b, minimax_risk_at_least m U (h ^+ 2) b -> b <= r.

Let q1 : 1 < h ^+ 2. Proof. exact: exprn_egt1. Qed.
Let x0 : 0 < 1 / sinh h. Proof. exact: divr_gt0 ltr01 (sinh_gt0 h1). Qed.

Lemma on_stairs (k a b : nat) : (0 < k)%N -> (10 < a < b)%N -> stairs k a b ->
  a%:R / 10 < h <= b%:R / 10 -> best_error m U (1 / sinh h) <= 242 / 100 * r.
Proof.
move=> k0 /andP [a10 ab] good /andP [ah hb]; set D := (10 * k)%N in good *.
have kR : 0 < k%:R :> R by rewrite ltr0n.
have finer n : n%:R / 10 = (n * k)%:R / D%:R :> R by rewrite !natrM; field; rewrite gt_eqF.
rewrite !finer in ah hb; have [i i_n /andP [ih hi]] := on_grid (lt_trans ltr01 h1) hb.
have D0 : (0 < D)%N by rewrite muln_gt0.
have Da : (D < a * k)%N by rewrite ltn_mul2r k0.
have dR : 0 < D%:R :> R by rewrite ltr0n.
have ai : (a * k <= i)%N.
  by rewrite -ltnS -(ltr_nat R) -(@ltr_pmul2r _ D%:R^-1) ?invr_gt0 //; exact: lt_le_trans hi.
have := allP good i; rewrite mem_iota ai subnKC ?leq_mul2r ?(ltnW ab) ?orbT // i_n => /(_ isT) i_row.
have Di : 1 < i%:R / D%:R :> R by rewrite ltr_pdivl_mulr // mul1r ltr_nat (leq_trans Da).
have Z_i : $(Z.of_nat i) = i%:R := to_nat R i; have Z_D : $(Z.of_nat D) = D%:R := to_nat R D.
apply: (row_holds U0 q1 Npos risk _ _ _ _ i_row).
- rewrite toB !of_ZM Z_i Z_D subr_gt0; apply: ltr_pmul; rewrite ?ler0n // ltr_nat; exact: leq_trans Da ai.
- by rewrite of_ZM Z_D mulr_gt0.
- by rewrite x0 toB !of_ZM Z_i Z_D to_small -stairs_ratio ?dR ?ltr_nat ?(leq_trans Da) ?stairs_fall.
- rewrite !of_ZM of_ZD Z_i Z_D to1; apply: (@le_trans _ _ ((i.+1%:R / D%:R) ^+ 2)).
    by apply: ler_pmul; rewrite // ltW // q_pos.
  by rewrite expr2 -addn1 natrD mulrACA -invfM.
Qed.

End Stairs.

(* begin thm-factor-staircase *)
(* Statement 3, staircase noise: its mean size at sensitivity 1 is 1 / (2 sinh (eps / 2)), so x is
   1 / sinh (eps / 2).  h = exp (eps / 2) is any number above 1; some whole number is as large, as among
   the reals. *)
Theorem thm_factor_staircase (R : realFieldType) L (m : 'I_L -> nat) (U h : R) :
  0 < U -> 1 < h -> (exists K : nat, h <= K%:R) -> (0 < \sum_l m l)%N ->
  minimax_risk_at_least m U (h ^+ 2) (best_error m U (1 / sinh h) / (242 / 100)).
(* end thm-factor-staircase *)
Proof.
move=> U0 h1 K Npos; have s0 := sinh_gt0 h1; have h0 := q_pos h1; have g := q2_gap h1.
have q1 : 1 < h ^+ 2 by exact: exprn_egt1.
apply: within_factor => [|r risk]; first by rewrite divr_gt0 ?ltr0n.
have r0 := risk_ge0 U0 risk.
case: (leP h (8 / 5)) => [small|h16].
  have e0 : 0 < 2 * sinh h by rewrite mulr_gt0 ?ltr0n.
  have -> : best_error m U (1 / sinh h) = E_OPT m U (2 * sinh h).
    by rewrite /best_error /E_OPT; congr (_ * M m _); field; rewrite gt_eqF.
  have := risk _ (cor_chain (ltW U0) q1 Npos e0).
  rewrite ler_pdivr_mulr ?(K_gt0 q1) // [r * _]mulrC => /le_trans; apply; apply: ler_wpmul2r => //.
  have -> : sinh (h ^+ 2) / (2 * sinh h) = cosh h; last exact: chain_small.
  by rewrite /cosh /sinh; field; rewrite !gt_eqF.
case: (leP h (5 / 2)) => [small|h25].
  by apply: (on_stairs U0 h1 Npos risk _ _ fine_stairs) => //; linear.
case: (leP h 6) => [small|/ltW large].
  by apply: (on_stairs U0 h1 Npos risk _ _ coarse_stairs) => //; linear.
have [n [n0 good] hn] := even_large large K.
have nR : 0 < n%:R :> R by rewrite ltr0n.
apply: (one_user_factor U0 q1 Npos risk _ _ (even_prior q1 n0 good)).
- exact: divr_gt0 ltr01 s0.
- exact: divr_gt0 ltr01 nR.
rewrite stairs_size // mulrAC ler_pdivr_mulr // [1 / _]mul1r [leRHS]mulrAC ler_pdivl_mulr //.
by linear.
Qed.
