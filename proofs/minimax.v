(* From one user to many: a group of users is one user with a larger budget. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts frontier lattice chain.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Minimax.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U q : R).
Notation N := (N R m).

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

(* begin lem-one-user *)
(* If no private mechanism for one user has a risk below b at n times the budget, none for the collection
   has a risk below U / N H (n) b. *)
Theorem lem_one_user (n : nat) (b : R) : (0 < n <= L)%N -> one_user_risk_at_least (q ^+ n) b ->
  minimax_risk_at_least m U q (U / N * (sum_of_largest m (n%:R : R) * b)).
(* end lem-one-user *)
Proof.
(* Let all samples of the first n users be y U, for one user's sample y: the mean is then a y.  To replace y
   takes one step per user, so the factor q ^ n, and Y / a is a mechanism for one user. *)
move=> /andP [n0 nL] one H E r [sH Habs] mE priv risk; have N0 : 0 < N by rewrite ltr0n.
have q0 : 0 < q := q_pos q1; have [ext H1 lin] := sH.
pose a : R := step_mean m U n.
pose D y := mixed n 0 y y.
have meanD y : mean (D y) = y * a.
  rewrite /a -(mean_chain m U nL) /= /mean mulrA; congr (_ / _); rewrite mulr_sumr; apply: eq_bigr => l _.
  rewrite mulr_sumr; apply: eq_bigr => j _; rewrite /D /mixed take0 in_nil /on.
  by case: ifP => _; rewrite ?mulr0 // mulrC.
have Dr y : 0 <= y <= 1 -> in_range U (D y) by move=> h; exact: mixed_range.
have step y z j h : 0 <= y <= 1 -> 0 <= z <= 1 -> H h -> (forall t, 0 <= h t) -> (j <= n)%N ->
    E (D y) h <= q ^+ j * E (mixed n j y z) h.
  move=> hy hz Hh h0; elim: j => [|j IH] jn.
    rewrite expr0 mul1r; have -> : E (D y) h = E (mixed n 0 y z) h; last by [].
    by congr (E _ h); rewrite /D /mixed take0.
  apply: le_trans (IH (ltnW jn)) _; rewrite exprSr -mulrA; apply: ler_wpmul2l.
    by rewrite exprn_ge0 // ltW.
  apply: priv => //; [exact: mixed_range | exact: mixed_range |].
  have l0 : 'I_L := Ordinal (leq_trans jn nL); exists (nth l0 (users m) j) => l' ll' i.
  rewrite /mixed (take_nth l0) ?size_users ?(leq_trans jn) // mem_rcons in_cons.
  by rewrite (negbTE ll').
have last y z h : 0 <= y <= 1 -> 0 <= z <= 1 -> H h -> (forall t, 0 <= h t) ->
    E (D y) h <= q ^+ n * E (D z) h.
  move=> hy hz Hh h0; have nn := prednK n0.
  apply: le_trans (step y z n.-1 h hy hz Hh h0 (leq_pred n)) _.
  rewrite -[in leRHS]nn exprSr -mulrA; apply: ler_wpmul2l; first by apply: exprn_ge0; exact: ltW.
  apply: priv => //; [exact: mixed_range | exact: Dr |].
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
- have -> : U / N * (sum_of_largest m (n%:R : R) * b) = b * a by rewrite /a /step_mean; field; rewrite gt_eqF.
  rewrite -ler_pdivl_mulr //.
  have far c y : `|c - y / a| = a^-1 * `|a * c - y|.
    rewrite -{2}[a]gtr0_norm // -normfV -normrM mulrBr mulKf ?gt_eqF // [y / a]mulrC.
    by congr (`| _ - _ |).
  have xr (x : dataset R (fun _ : 'I_1 => 1%N)) : in_range 1 x -> in_range U (D (x ord0 ord0)).
    by move=> h; exact/Dr/h.
  (* one user in the place of n: read y / a for y *)
  apply: (one (fun h => H (fun y => h (y / a))) (fun x h => E (D (x ord0 ord0)) (fun y => h (y / a)))).
  + split; last by move=> c; apply: ext (space_scale a^-1 sH (Habs (a * c))) _ => y; rewrite far.
    by split=> [h h' Hh e|//|z h h' Hh Hh']; [apply: ext Hh _ => y; rewrite e | exact: lin].
  + move=> x /xr /mE [E1 Elin mono]; split=> // [z h h' Hh Hh'|h h' Hh Hh' hh]; first exact: Elin.
    by apply: mono => // y; exact: hh.
  + by move=> x x' h1 h2 _ h Hh h0; apply: last; rewrite ?h1 ?h2.
  move=> x h; rewrite mean_one ler_pdivl_mulr // mulrC; apply: le_trans (risk _ (xr x h)).
  rewrite meanD -(mean_scale a sH (mE _ (xr x h))); last first.
    by apply: ext (space_scale a^-1 sH (Habs (a * x ord0 ord0))) _ => y; rewrite far.
  have [_ _ mono] := mE _ (xr x h); apply: mono => // [|y].
    by apply: ext (Habs (a * x ord0 ord0)) _ => y; rewrite far mulVKf ?gt_eqF.
  by rewrite far mulVKf ?gt_eqF // [a * _]mulrC.
- have -> : U / N * (sum_of_largest m (n%:R : R) * b) = a * b by rewrite /a /step_mean; field; rewrite gt_eqF.
  have O1 : in_range U (D 0) by apply: Dr; rewrite lexx ler01.
  by rewrite a0 mul0r; apply: le_trans (risk _ O1); apply: (mean_ge0 sH) => //; exact: mE.
Qed.

(* begin thm-minimax *)
(* No private mechanism has a risk below either bound, for n = 1, ..., L. *)
Theorem thm_minimax (n : nat) : (0 < n <= L)%N ->
  minimax_risk_at_least m U q (U / N * (sum_of_largest m (n%:R : R) / (1 + cosh_log q + n%:R * sinh_log q)))
  /\ forall k, (2 <= k)%N -> 1 / k.+1%:R <= s (q ^+ n) k ->
       (forall j, (2 <= j < k)%N -> s (q ^+ n) j < 1 / j.+1%:R) ->
       minimax_risk_at_least m U q (U / N * (sum_of_largest m (n%:R : R) * s (q ^+ n) k)).
(* end thm-minimax *)
Proof.
move=> nL; split; first exact: (thm_chain (ltW U0) q1 Npos).
move=> k k2 sk least; apply: lem_one_user => //; apply: thm_lattice => //.
by rewrite exprn_egt1 // -lt0n; case/andP: nL.
Qed.

End Minimax.
