(* From one user to many: a group of users is one user with a larger budget. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts frontier lattice chain within.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Minimax.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U q : R).
Notation N := (N R m).

(* A mechanism on datasets, with finitely many outputs: p x o is the probability of the output o,
   which stands for the number out o, on the dataset x. *)
(* begin def-finite *)
Definition finite_private (O : finType) (p : dataset R m -> O -> R) : Prop :=
  (forall x, in_range U x -> (forall o, 0 <= p x o) /\ \sum_o p x o = 1)
  /\ forall x x' o, in_range U x -> in_range U x' -> neighbours x x' -> p x o <= q * p x' o.
Definition finite_risk_at_most (O : finType) (p : dataset R m -> O -> R) (out : O -> R) (r : R) : Prop :=
  forall x, in_range U x -> \sum_o p x o * `|mean x - out o| <= r.
(* end def-finite *)

Hypothesis U0 : 0 < U.
Hypothesis q1 : 1 < q.
Hypothesis Npos : (0 < \sum_l m l)%N.

(* The first j users have their samples at U z, the others of the first n at U y, the rest at 0. *)
Let mixed (n j : nat) (y z : R) : dataset R m :=
  fun l _ => if l \in take j (users m) then U * z else if l \in take n (users m) then U * y else 0.

Lemma mixed_range n j y z : 0 <= y <= 1 -> 0 <= z <= 1 -> in_range U (mixed n j y z).
Proof.
move=> /andP [y0 y1] /andP [z0 z1] l i; rewrite /mixed.
have h y' : 0 <= y' -> y' <= 1 -> 0 <= U * y' <= U.
  by move=> a b; rewrite mulr_ge0 ?(ltW U0) //= ler_pimulr ?(ltW U0).
by do 2 (case: ifP => _; first exact: h); rewrite lexx ltW.
Qed.

(* Any private mechanism has at least the share U / N M n of one user's risk at n times the budget. *)
(* begin lem-one-user *)
Theorem lem_one_user (n : nat) (b : R) : (0 < n <= L)%N -> one_user_risk_at_least (q ^+ n) b ->
  forall (O : finType) (p : dataset R m -> O -> R) (out : O -> R) (r : R),
    finite_private p -> finite_risk_at_most p out r -> U / N * (M m (n%:R : R) * b) <= r.
(* end lem-one-user *)
Proof.
move=> /andP [n0 nL] one O p out r [law priv] risk; have N0 : 0 < N by rewrite ltr0n.
have q0 : 0 < q := q_pos q1.
pose a : R := step_mean m U n.
pose D y := mixed n 0 y y.
have meanD y : mean (D y) = y * a.
  rewrite /a -(mean_chain m (ltW U0) q1 nL) /= /mean mulrA; congr (_ / _); rewrite mulr_sumr; apply: eq_bigr => l _.
  rewrite mulr_sumr; apply: eq_bigr => j _; rewrite /D /mixed take0 in_nil /on.
  by case: ifP => _; rewrite ?mulr0 // mulrC.
have Dr y : 0 <= y <= 1 -> in_range U (D y) by move=> h; exact: mixed_range.
have step y z j o : 0 <= y <= 1 -> 0 <= z <= 1 -> (j <= n)%N -> p (D y) o <= q ^+ j * p (mixed n j y z) o.
  move=> hy hz; elim: j => [|j IH] jn.
    rewrite expr0 mul1r; have -> : p (D y) o = p (mixed n 0 y z) o; last by [].
    by congr (p _ o); rewrite /D /mixed take0.
  apply: le_trans (IH (ltnW jn)) _; rewrite exprSr -mulrA; apply: ler_wpmul2l.
    by rewrite exprn_ge0 // ltW.
  apply: priv; [exact: mixed_range | exact: mixed_range |].
  have l0 : 'I_L := Ordinal (leq_trans jn nL); exists (nth l0 (users m) j) => l' ll' i.
  rewrite /mixed (take_nth l0) ?size_users ?(leq_trans jn) // mem_rcons in_cons.
  by rewrite (negbTE ll').
have last y z : 0 <= y <= 1 -> 0 <= z <= 1 -> forall o, p (D y) o <= q ^+ n * p (D z) o.
  move=> hy hz o; have nn := prednK n0.
  apply: le_trans (step y z n.-1 o hy hz (leq_pred n)) _.
  rewrite -[in leRHS]nn exprSr -mulrA; apply: ler_wpmul2l; first by apply: exprn_ge0; exact: ltW.
  apply: priv; [exact: mixed_range | exact: Dr |].
  have n1 : (n.-1 < L)%N by rewrite nn.
  exists (nth (Ordinal n1) (users m) n.-1) => l' ll' i; rewrite /D /mixed take0 in_nil.
  have -> : (l' \in take n (users m)) = (l' \in take n.-1 (users m)); last by case: (l' \in take n.-1 _).
  by rewrite -[in LHS]nn (take_nth (Ordinal n1)) ?size_users // mem_rcons in_cons (negbTE ll').
case: (ltgtP a 0) => [a_neg|a_pos|a0].
- have : 0 <= a.
    rewrite /a /step_mean; apply: divr_ge0; last exact: ltW.
    apply: mulr_ge0; [exact: ltW | apply: sumr_ge0 => i _].
    by apply: mulr_ge0; [exact: weight_ge0 | exact: ler0n].
  by rewrite leNgt a_neg.
- have -> : U / N * (M m (n%:R : R) * b) = b * a by rewrite /a /step_mean; field; rewrite gt_eqF.
  rewrite -ler_pdivl_mulr //.
  apply: (one O (fun y => p (D y)) (fun o => out o / a)) => [y hy|y hy].
    have [p0 p1] := law _ (Dr y hy); split=> // z o hz; exact: last.
  rewrite ler_pdivl_mulr //; apply: le_trans (risk _ (Dr y hy)); rewrite meanD mulr_suml.
  apply: ler_sum => o _; rewrite -mulrA; apply: ler_wpmul2l; first by case: (law _ (Dr y hy)).
  rewrite -{2}[a]ger0_norm ?(ltW a_pos) // -normrM mulrBl mulfVK ?gt_eqF //.
- have -> : U / N * (M m (n%:R : R) * b) = a * b by rewrite /a /step_mean; field; rewrite gt_eqF.
  have O1 : in_range U (D 0) by apply: Dr; rewrite lexx ler01.
  rewrite a0 mul0r; apply: le_trans (risk _ O1); apply: sumr_ge0 => o _.
  by rewrite mulr_ge0 //; case: (law _ O1).
Qed.

(* Mechanisms with finitely many outputs are among those of thm-chain: means are finite sums. *)
Lemma finite_chain (b : R) : minimax_risk_at_least m U q b ->
  forall (O : finType) (p : dataset R m -> O -> R) (out : O -> R) (r : R),
    finite_private p -> finite_risk_at_most p out r -> b <= r.
Proof.
move=> chain O p out r [law priv] risk.
apply: (chain (fun=> True) (fun x h => \sum_o p x o * h (out o))) => // [x xr|x x' xr xr' xx h _ h0].
- have [p0 p1] := law x xr; split=> [|s h h' _ _|h h' _ _ hh].
  + by rewrite -[RHS]p1; apply: eq_bigr => o _; rewrite mulr1.
  + by rewrite mulr_sumr -big_split; apply: eq_bigr => o _; rewrite mulrDr mulrCA.
  + by apply: ler_sum => o _; apply: ler_wpmul2l.
- rewrite mulr_sumr; apply: ler_sum => o _; rewrite mulrA; apply: ler_wpmul2r => //.
  exact: priv.
Qed.

(* What no mechanism can beat: both bounds together, for each n. *)
(* begin thm-minimax *)
Theorem thm_minimax (n : nat) (O : finType) (p : dataset R m -> O -> R) (out : O -> R) (r : R) :
  (0 < n <= L)%N -> finite_private p -> finite_risk_at_most p out r ->
  U / N * (M m (n%:R : R) / (1 + cosh q + n%:R * sinh q)) <= r
  /\ forall k, (2 <= k)%N -> 1 / k.+1%:R <= s (q ^+ n) k ->
       (forall j, (2 <= j < k)%N -> s (q ^+ n) j < 1 / j.+1%:R) ->
       U / N * (M m (n%:R : R) * s (q ^+ n) k) <= r.
(* end thm-minimax *)
Proof.
move=> nL priv risk; split.
  exact: (finite_chain (thm_chain (ltW U0) q1 Npos nL) priv risk).
move=> k k2 sk least; apply: (lem_one_user nL _ priv risk); apply: thm_lattice => //.
by rewrite exprn_egt1 // -lt0n; case/andP: nL.
Qed.

(* The factor K for mechanisms with finitely many outputs. *)
(* begin cor-chain-finite *)
Theorem cor_chain_finite (eps : R) (O : finType) (p : dataset R m -> O -> R) (out : O -> R) (r : R) :
  0 < eps -> finite_private p -> finite_risk_at_most p out r ->
  E_OPT m U eps <= ((1 + cosh q) / 2 + sinh q / eps) * r.
(* end cor-chain-finite *)
Proof.
move=> eps0 priv risk; have := finite_chain (cor_chain (ltW U0) q1 Npos eps0) priv risk.
rewrite ler_pdivr_mulr ?[r * _]mulrC //.
have p0 := q_pos q1; have qi : 0 < q^-1 by rewrite invr_gt0.
have qi1 : q^-1 < 1 by rewrite invf_lt1.
have s0 : 0 < sinh q / eps by rewrite divr_gt0 // /sinh; linear.
by move: s0; rewrite /cosh; linear.
Qed.

End Minimax.
