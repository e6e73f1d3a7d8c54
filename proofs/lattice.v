(* A lower bound for one user: a prior on two lattices. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear chain.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Functions on the line between nodes t 0 < ... < t n: hat k is 1 at t k and 0 at all other nodes. *)
Section Hats.
Variables (R : realFieldType) (t : nat -> R) (n : nat).
Hypothesis grows : forall k, (k < n)%N -> t k < t k.+1.

(* From 0 below t k' to 1 above the next node. *)
Definition ramp (k : nat) (y : R) : R :=
  if k is k'.+1 then
    if (k' < n)%N then (t k - t k' + `|t k' - y| - `|t k - y|) / (2 * (t k - t k')) else 0
  else 1.
Definition hat (k : nat) (y : R) : R := ramp k y - ramp k.+1 y.

Lemma hat_ge0 k y : 0 <= hat k y.
Proof.
rewrite /hat subr_ge0 [ramp k.+1 _]/=; case: ltnP => kn; last first.
  case: k kn => [|k] _ /=; first exact: ler01.
  case: ltnP => // kn; have g := grows kn; rewrite divr_ge0 ?mulr_ge0 ?ler0n ?subr_ge0 ?(ltW g) //.
  by case: (ger0P (t k - y)) => h; case: (ger0P (t k.+1 - y)) => h'; linear.
have g := grows kn; have d0 : 0 < 2 * (t k.+1 - t k) by linear.
rewrite ler_pdivr_mulr //; case: k kn g d0 => [|k] kn g d0.
  by rewrite /= mul1r; case: (ger0P (t 0%N - y)) => h; case: (ger0P (t 1%N - y)) => h'; linear.
rewrite /= (ltnW kn); have g' := grows (ltnW kn); have d1 : 0 < 2 * (t k.+1 - t k) by linear.
case: (ltP y (t k.+1)) => yt.
  rewrite [`|t k.+1 - y|]gtr0_norm ?subr_gt0 // [`|t k.+2 - y|]gtr0_norm ?subr_gt0 ?(lt_trans yt) //.
  apply: (@le_trans _ _ 0); first by linear.
  rewrite mulr_ge0 ?(ltW d0) // divr_ge0 ?(ltW d1) //.
  by case: (ger0P (t k - y)) => h; linear.
rewrite ![`|_ - y|]distrC [`|y - t k.+1|]ger0_norm ?subr_ge0 // [`|y - t k|]ger0_norm ?subr_ge0 ?(le_trans (ltW g')) //.
have -> : (t k.+1 - t k + (y - t k) - (y - t k.+1)) / (2 * (t k.+1 - t k)) = 1.
  by field; rewrite gt_eqF // subr_gt0.
by case: (ger0P (y - t k.+2)) => h; linear.
Qed.

Lemma hats_one y : \sum_(k < n.+1) hat k y = 1.
Proof.
rewrite -(big_mkord xpredT (fun k => hat k y)) (eq_bigr (fun k => - (ramp k.+1 y - ramp k y))) => [|k _]; last first.
  by rewrite opprB.
by rewrite sumrN telescope_sumr // /= ltnn sub0r opprK.
Qed.

Lemma by_steps (r g : nat -> R) k : \sum_(i < k.+1) (r i - r i.+1) * g i
  = r 0%N * g 0%N + \sum_(0 <= i < k) r i.+1 * (g i.+1 - g i) - r k.+1 * g k.
Proof.
elim: k => [|k IH]; first by rewrite big_ord_recl big_ord0 big_geq //=; linear.
by rewrite big_ord_recr IH big_nat_recr //=; linear.
Qed.

(* The distance from a node, interpolated between the nodes, is at most the distance itself. *)
Lemma hats_distance j y : (j <= n)%N -> \sum_(k < n.+1) hat k y * `|t j - t k| <= `|t j - y|.
Proof.
move=> jn; have mono a b : (a <= b <= n)%N -> t a <= t b.
  move=> /andP []; elim: b => [|b IH]; first by rewrite leqn0 => /eqP ->.
  rewrite leq_eqVlt => /orP [/eqP -> //|ab] bn; apply: le_trans (IH ab (ltnW bn)) _.
  exact/ltW/grows.
pose G k : R := (t k - `|t k - y|) / 2.
have slope k : (k < n)%N -> ramp k.+1 y * (t k.+1 - t k) = G k.+1 - G k.
  move=> kn; rewrite /= kn /G; have g : t k.+1 - t k != 0 by rewrite gt_eqF // subr_gt0 grows.
  by move: (`|t k - y|) (`|t k.+1 - y|) => u v; field.
rewrite (by_steps (ramp^~ y) (fun k => `|t j - t k|)) [ramp n.+1 y]/= ltnn mul0r subr0 mul1r.
rewrite (big_cat_nat _ (n := j)) //.
rewrite (@eq_big_nat _ _ _ 0 j _ (fun k => - (G k.+1 - G k))) => [|k /andP [_ kj]]; last first.
  have [h h'] : t k <= t j /\ t k.+1 <= t j by split; apply: mono; rewrite jn ?kj ?(ltnW kj).
  by rewrite -slope ?(leq_trans kj) // !ger0_norm ?subr_ge0 // -mulrN; congr (_ * _); ring.
rewrite (@eq_big_nat _ _ _ j n _ (fun k => G k.+1 - G k)) => [|k /andP [jk kn]]; last first.
  have [h h'] : t j <= t k /\ t j <= t k.+1 by split; apply: mono; rewrite ?jk ?(ltnW kn) ?leqW.
  by rewrite -slope // ![`|t j - _|]distrC !ger0_norm ?subr_ge0 //; congr (_ * _); ring.
rewrite /= sumrN !telescope_sumr // ger0_norm ?subr_ge0 ?mono // /G.
have h1 := ler_norm (t n - y); have h2 := ler_norm (y - t 0%N).
by rewrite distrC in h2; linear.
Qed.
(* Y, spread over the nodes by its means of the hats: it does not get farther from any node on average. *)
Lemma spread H E : is_class H -> is_mean H E ->
  [/\ forall k, H (hat k), forall k, 0 <= E (hat k), \sum_(k < n.+1) E (hat k) = 1
    & forall j, (j <= n)%N -> \sum_(k < n.+1) `|t j - t k| * E (hat k) <= E (fun y => `|t j - y|)].
Proof.
move=> [sH Habs] mE; have [ext H1 lin] := sH; have [E1 _ mono] := mE.
have Hramp k : H (ramp k).
  case: k => [|k]; first exact: H1.
  rewrite /ramp; case: ltnP => kn; last by apply: ext (space_scale 0 sH H1) _ => y; rewrite mul0r.
  apply: ext (lin (1 / (2 * (t k.+1 - t k))) _ _ (lin (-1) _ _ (Habs (t k.+1))
    (lin 1 _ _ (Habs (t k)) (space_scale (t k.+1 - t k) sH H1))) (space_scale 0 sH H1)) _ => y /=.
  by move: (`|t k - y|) (`|t k.+1 - y|) (2 * _) => a b d; linear.
have Hhat k : H (hat k) by apply: ext (lin (-1) _ _ (Hramp k.+1) (Hramp k)) _ => y; rewrite /hat; linear.
split=> // [k||j jn]; first by apply: (mean_ge0 sH) => // y; exact: hat_ge0.
  have [Hs Es] := mean_sum (fun k : 'I_n.+1 => 1) sH mE (fun k => Hhat k).
  rewrite -[RHS]E1 -[LHS](eq_bigr _ (fun k _ => mul1r _)) -Es.
  have e y : \sum_(k < n.+1) 1 * hat k y = 1 by rewrite (eq_bigr _ (fun k _ => mul1r _)) hats_one.
  by apply: le_anti; rewrite !mono // => y; rewrite e.
have [Hd <-] := mean_sum (fun k : 'I_n.+1 => `|t j - t k|) sH mE (fun k => Hhat k).
apply: mono => // y; apply: le_trans (hats_distance y jn).
by apply: ler_sum => k _; rewrite mulrC.
Qed.
End Hats.

(* The values of a function, in order. *)
Lemma nodes (R : realFieldType) (K : finType) (theta : K -> R) : K -> exists n t,
  [/\ forall k, (k < n)%N -> t k < t k.+1, forall k, (k < n.+1)%N -> exists i, t k = theta i
    & forall i, exists2 j, (j <= n)%N & t j = theta i].
Proof.
move=> i0; pose s := sort <=%O (undup (codom theta)).
have mem i : theta i \in s by rewrite mem_sort mem_undup codom_f.
have sz : size s = (size s).-1.+1 by rewrite prednK //; case: (s) (mem i0).
exists (size s).-1, (nth 0 s); split=> [k kn|k|i].
- have up : sorted <%O s by rewrite sort_lt_sorted undup_uniq.
  have kn' : (k.+1 < size s)%N by rewrite sz.
  exact: (sorted_ltn_nth lt_trans 0 up k k.+1 (ltnW kn') kn' (ltnSn k)).
- by rewrite -sz => /(mem_nth 0); rewrite mem_sort mem_undup => /codomP.
by exists (index (theta i) s); [rewrite -ltnS -sz index_mem | rewrite nth_index].
Qed.

Section OneUser.
Variable R : realFieldType.

(* begin def-one-user *)
(* One user with one sample in [0, 1]: no private mechanism has a risk below b.  q stands for exp eps. *)
Definition one_user_risk_at_least (q b : R) : Prop := minimax_risk_at_least (fun _ : 'I_1 => 1%N) 1 q b.

(* The Chebyshev polynomials u_0, u_1, ... at c = q / (q - 1), of which chebyshev_pair has u_n and u_(n +
   1), and s_n, equation (eq-lattice). *)
Fixpoint chebyshev_pair (c : R) (n : nat) : R * R :=
  match n with O => (1, 2 * c) | S n => let (a, b) := chebyshev_pair c n in (b, 2 * c * b - a) end.
Definition u (q : R) (n : nat) : R := (chebyshev_pair (q / (q - 1)) n).1.
Definition s (q : R) (n : nat) : R := (u q n.+1 - u q n + 1) / (2 * (u q n.+1 + n%:R)).
(* end def-one-user *)

Variable q : R.
Hypothesis q1 : 1 < q.

Let psi (t : R) : R := Num.min t (q * t).
Notation one_sample := (dataset R (fun _ : 'I_1 => 1%N)).

Lemma mean_one (x : one_sample) : mean x = x ord0 ord0.
Proof.
have e1 : (\sum_(l < 1) 1 = 1)%N by rewrite big_ord_recl big_ord0.
by rewrite /mean /N e1 divr1 big_ord_recl big_ord0 addr0 big_ord_recl big_ord0 addr0.
Qed.

(* begin lem-prior *)
(* One user: no private mechanism has a risk below r if some prior on sample values theta has the last of
   these properties. *)
Theorem lem_prior (K : finType) (theta weight : K -> R) (r : R) :
  (forall i, 0 <= theta i <= 1) -> (forall i, 0 <= weight i) -> 0 < \sum_i weight i ->
  (forall y, 0 <= y <= 1 ->
     0 <= \sum_i weight i * Num.min (`|theta i - y| - r) (q * (`|theta i - y| - r))) ->
  one_user_risk_at_least q r.
(* end lem-prior *)
Proof.
(* Hats spread Y over the values of theta, which brings it no farther from any of them.  Let p be the least
   probability of a value under all datasets: each has between p and q p, so the property of the prior
   bounds the sum. *)
move=> th01 w0 W0 cert H E R0 [sH Habs] mE priv risk.
have i0 : K.
  case: (pickP (@predT K)) => [i _ //|none]; move: W0; rewrite big1 ?ltxx // => i _.
  by have := none i.
have q0 : 0 < q by exact: lt_trans ltr01 q1.
pose D i : one_sample := fun _ _ => theta i.
have Dr i : in_range 1 (D i) by move=> l j; exact: th01.
have DD i k : neighbours (D i) (D k) by exists ord0 => l; rewrite ord1 eqxx.
have mD i : is_mean H (E (D i)) by exact: mE.
have [n [t [grows t_theta at_node]]] := nodes theta i0.
have t01 k : (k < n.+1)%N -> 0 <= t k <= 1 by move=> /t_theta [i ->].
pose p i (k : 'I_n.+1) := E (D i) (hat t n k).
have out i := spread grows (conj sH Habs) (mD i).
have p0 i k : 0 <= p i k by have [_ h _ _] := out i; exact: h.
have ratio i j k : p i k <= q * p j k.
  by apply: priv => // [|y]; [have [h _ _ _] := out i | exact: hat_ge0].
have pos k : 0 <= \sum_i weight i * p i k * (`|theta i - t k| - r).
  case: (arg_minP (P := predT) (i0 := i0) (fun i => p i k)) => // z _ kmin.
  apply: (@le_trans _ _ (p z k * \sum_i weight i * psi (`|theta i - t k| - r))).
    by rewrite mulr_ge0 // cert // t01.
  rewrite mulr_sumr; apply: ler_sum => i _; rewrite mulrCA -mulrA; apply: ler_wpmul2l => //.
  set d := _ - r; have le_p := kmin i isT; rewrite /psi; case: (leP 0 d) => d0.
    apply: (@le_trans _ _ (p z k * d)); last by rewrite ler_wpmul2r.
    by rewrite ler_wpmul2l // le_minl lexx.
  apply: (@le_trans _ _ (p z k * (q * d))); first by rewrite ler_wpmul2l // le_minl lexx orbT.
  by rewrite mulrA [_ * q]mulrC; apply: ler_wnmul2r; rewrite ?(ltW d0).
have : 0 <= \sum_(k < n.+1) \sum_i weight i * p i k * (`|theta i - t k| - r) by exact: sumr_ge0.
rewrite exchange_big /=.
have le_i i : \sum_(k < n.+1) weight i * p i k * (`|theta i - t k| - r) <= weight i * (R0 - r).
  have [j jn tj] := at_node i; have [_ _ one near] := out i.
  have -> : \sum_(k < n.+1) weight i * p i k * (`|theta i - t k| - r)
      = weight i * (\sum_(k < n.+1) `|theta i - t k| * p i k - r).
    have {2}-> : r = \sum_k p i k * r by rewrite -mulr_suml one mul1r.
    by rewrite -sumrB mulr_sumr; apply: eq_bigr => k _; ring.
  apply: ler_wpmul2l => //; rewrite ler_add2r; apply: le_trans (risk _ (Dr i)).
  by rewrite mean_one; have := near j jn; rewrite tj.
move/le_trans => /(_ _ (ler_sum _ (fun i _ => le_i i))); rewrite -mulr_suml.
by rewrite pmulr_rge0 // subr_ge0.
Qed.

Lemma u0 : u q 0 = 1. Proof. by []. Qed.
Lemma u1 : (q - 1) * u q 1 = 2 * q.
Proof. by rewrite /u /=; field; rewrite gt_eqF // subr_gt0. Qed.

Lemma u_step n : (q - 1) * u q n.+2 = 2 * q * u q n.+1 - (q - 1) * u q n.
Proof.
rewrite /u /=; case: (chebyshev_pair _ n) => a b /=.
by field; rewrite gt_eqF // subr_gt0.
Qed.

(* Summation by parts along one lattice. *)
Lemma by_parts (a : nat -> R) n :
  \sum_(i < n.+1) u q (n - i) * (2 * q * a i.+1 - (q - 1) * (a i + a i.+2))
  = (q - 1) * (u q n.+1 * a 1%N - u q n * a 0%N - a n.+2).
Proof.
elim: n a => [|n IH] a.
  rewrite big_ord_recl big_ord0 addr0 subn0 u0; have h : (q - 1) * u q 1 * a 1%N = 2 * q * a 1%N by rewrite u1.
  by linear.
rewrite big_ord_recl subn0 /=.
rewrite (eq_bigr (fun i : 'I_n.+1 => u q (n - i) * (2 * q * a i.+2 - (q - 1) * (a i.+1 + a i.+3)))) => [|i _]; last first.
  by rewrite /bump /= add1n subSS.
rewrite (IH (fun i => a i.+1)).
have h : (q - 1) * u q n.+2 * a 1%N = (2 * q * u q n.+1 - (q - 1) * u q n) * a 1%N by rewrite u_step.
by linear.
Qed.

Lemma sum_u (n : nat) : (\sum_(i < n.+1) u q (n - i)) * 2 = (q - 1) * (u q n.+1 - u q n - 1).
Proof.
have := by_parts (fun=> 1) n; rewrite !mulr1 => <-; rewrite mulr_suml.
by apply: eq_bigr => i _; linear.
Qed.

Lemma u_grows n : 1 <= u q n /\ u q n <= u q n.+1.
Proof.
elim: n => [|n [h1 h2]].
  by split=> //; have := u1 => h; rewrite u0; have g : 0 < q - 1; [rewrite subr_gt0 | rewrite -(ler_pmul2l g); linear].
split; first exact: le_trans h2.
have g : 0 < q - 1 by rewrite subr_gt0.
have q0 : 0 < q by exact: lt_trans ltr01 q1.
rewrite -(ler_pmul2l g) u_step.
have := ler_wpmul2l (ltW g) h2 => h3.
have : 0 <= u q n.+1 by linear.
by linear.
Qed.

(* psi of a distance less r, written with distances only. *)
Lemma psi_by_distances (x r : R) : 0 <= r ->
  2 * psi (`|x| - r) = 2 * q * `|x| - (q - 1) * (`|x - r| + `|x + r|) - 2 * r.
Proof.
move=> r0; have q0 : 0 < q by exact: lt_trans ltr01 q1.
have g : 0 < q - 1 by rewrite subr_gt0.
have sides : `|x - r| + `|x + r| = 2 * Num.max `|x| r.
  by case: (ger0P x) => x0; case: (ger0P (x - r)) => a; case: (ger0P (x + r)) => b; minmax; linear.
have prod : (q - 1) * (`|x| - r) <= 0 <-> `|x| <= r by rewrite pmulr_rle0 // subr_le0.
rewrite /psi sides; case: (leP `|x| r) => xr.
  have {}prod := proj2 prod xr; by minmax; linear.
have {}prod : 0 < (q - 1) * (`|x| - r) by rewrite mulr_gt0 // subr_gt0.
by minmax; linear.
Qed.

(* Along one lattice, from 0 in steps of r, the weights make the sum linear in y. *)
Lemma lattice_line n (r y : R) : 0 <= r -> 0 <= y -> y <= n.+1%:R * r ->
  \sum_(i < n.+1) u q (n - i) * (2 * psi (`|i%:R * r - y| - r))
  = (q - 1) * (u q n.+1 * y - u q n * (y + r) - (n.+1%:R * r - y))
    - r * ((q - 1) * (u q n.+1 - u q n - 1)).
Proof.
move=> r0 y0 yn; pose a i : R := `|i%:R * r - r - y|.
have Sr i : i.+1%:R * r = i%:R * r + r :> R by rewrite -addn1 natrD mulrDl mul1r.
rewrite (eq_bigr (fun i : 'I_n.+1 => u q (n - i) * (2 * q * a i.+1 - (q - 1) * (a i + a i.+2))
    - 2 * r * u q (n - i))) => [|i _]; last first.
  rewrite psi_by_distances // /a !Sr.
  have -> : i%:R * r + r - r - y = i%:R * r - y by ring.
  have -> : i%:R * r - r - y = i%:R * r - y - r by ring.
  have -> : i%:R * r + r + r - r - y = i%:R * r - y + r by ring.
  by linear.
rewrite sumrB by_parts -mulr_sumr -sum_u.
have -> : a 1%N = y by rewrite /a Sr mul0r add0r subrr sub0r normrN ger0_norm.
have -> : a 0%N = y + r.
  by rewrite /a mul0r add0r -opprD normrN ger0_norm ?addr_ge0 // addrC.
have -> : a n.+2 = n.+1%:R * r - y by rewrite /a Sr addrK ger0_norm // subr_ge0.
by linear.
Qed.

Lemma s_equation n : 2 * s q n * (u q n.+1 + n%:R) = u q n.+1 - u q n + 1.
Proof.
have [h1 _] := u_grows n.+1; have h2 := ler0n R n.
have d0 : 0 < u q n.+1 + n%:R by linear.
rewrite /s; move: (_ + n%:R) d0 => d d0; move: (_ - u q n + 1) => x.
by field; rewrite gt_eqF.
Qed.

(* For every n with 1 / (n + 1) <= s_n <= 1 / n, no private mechanism has a risk below s_n. *)
Lemma lattice_bound n : n%:R * s q n <= 1 -> 1 <= n.+1%:R * s q n ->
  one_user_risk_at_least q (s q n).
Proof.
move=> sn sn1; set r := s q n in sn sn1 *.
have r0 : 0 <= r.
  have [h1 h2] := u_grows n; have [h3 _] := u_grows n.+1; have h4 := ler0n R n.
  by rewrite /r /s divr_ge0 ?mulr_ge0 ?ler0n //; linear.
have ir (i : 'I_n.+1) : 0 <= i%:R * r <= 1.
  rewrite mulr_ge0 ?ler0n //= (le_trans _ sn) //; apply: ler_wpmul2r => //.
  by rewrite ler_nat -ltnS.
pose theta (t : bool * 'I_n.+1) : R := if t.1 then t.2%:R * r else 1 - t.2%:R * r.
apply: (@lem_prior _ theta (fun t => u q (n - t.2))).
- by case=> [[] i]; have /andP [h1 h2] := ir i; rewrite /theta /=; linear.
- by move=> t; have [h _] := u_grows (n - t.2); apply: le_trans h.
- rewrite (bigD1 (true, ord0)) //= ltr_paddr ?sumr_ge0 //.
    by move=> t _; have [h _] := u_grows (n - t.2); apply: le_trans h.
  by have [h _] := u_grows (n - 0); apply: lt_le_trans h.
move=> y /andP [y0 y1]; rewrite -(pmulr_rge0 _ (ltr0n R 2)).
rewrite (_ : 2%:R * _ = \sum_(i < n.+1) u q (n - i) * (2 * psi (`|i%:R * r - y| - r))
  + \sum_(i < n.+1) u q (n - i) * (2 * psi (`|i%:R * r - (1 - y)| - r))); last first.
  rewrite mulr_sumr -(pair_big xpredT xpredT (fun t (i : 'I_n.+1) => 2 * (u q (n - i) *
    psi (`|theta (t, i) - y| - r)))) /= big_bool /theta /=; congr (_ + _).
    by apply: eq_bigr => i _; exact: mulrCA.
  apply: eq_bigr => i _; have -> : 1 - i%:R * r - y = - (i%:R * r - (1 - y)) by ring.
  by rewrite normrN; exact: mulrCA.
rewrite !lattice_line ?subr_ge0 //; [|by linear|by linear].
have := s_equation n; rewrite -/r => h.
have h' : (q - 1) * (2 * r * (u q n.+1 + n%:R)) = (q - 1) * (u q n.+1 - u q n + 1) by rewrite h.
have S : n.+1%:R = n%:R + 1 :> R by rewrite -addn1 natrD.
by rewrite S; linear.
Qed.

Lemma u_ge2 n : 2 <= u q n.+1.
Proof.
elim: n => [|n IH]; last by have [_] := u_grows n.+1; exact: le_trans.
have g : 0 < q - 1 by rewrite subr_gt0.
by rewrite -(ler_pmul2l g) u1; linear.
Qed.

(* u_n u_(n + 2) = (u_(n + 1) - 1) (u_(n + 1) + 1). *)
Lemma u_square n : u q n * u q n.+2 = (u q n.+1 - 1) * (u q n.+1 + 1).
Proof.
have g : q - 1 != 0 by rewrite gt_eqF // subr_gt0.
apply: (mulfI g); elim: n => [|n IH].
  have h : (q - 1) * u q 1 * u q 1 = 2 * q * u q 1 by rewrite u1.
  by rewrite u0 mul1r u_step u0; linear.
have h1 : (q - 1) * u q n.+3 * u q n.+1 = (2 * q * u q n.+2 - (q - 1) * u q n.+1) * u q n.+1.
  by rewrite u_step.
have h2 : (q - 1) * u q n.+2 * u q n.+2 = (2 * q * u q n.+1 - (q - 1) * u q n) * u q n.+2.
  by rewrite u_step.
by linear.
Qed.

(* s_n <= 1 / n at the smallest n >= 2 with s_n >= 1 / (n + 1). *)
Lemma lattice_range n : (2 <= n)%N -> (forall k, (2 <= k < n)%N -> s q k < 1 / k.+1%:R) ->
  n%:R * s q n <= 1.
Proof.
move=> n2 least.
have [h1 h1'] := u_grows n; have [h2 h2'] := u_grows n.+1.
have den k : 0 < 2 * (u q k.+1 + k%:R).
  by have [h _] := u_grows k.+1; have := ler0n R k => h'; linear.
rewrite /s mulrA ler_pdivr_mulr // mul1r.
case: n n2 least h1 h1' h2 h2' => [|[|n]] // _ least h1 h1' h2 h2'.
case: n least h1 h1' h2 h2' => [|n] least h1 h1' h2 h2'; first by linear.
have := least n.+2; rewrite ltnSn => /(_ isT).
rewrite /s ltr_pdivr_mulr // mulrAC ltr_pdivl_mulr ?ltr0n // mul1r.
have sq := u_square n.+2; set k : R := n.+2%:R.
have -> : n.+3%:R = k + 1 :> R by rewrite -addn1 natrD.
have k2 : 2 <= k by rewrite ler_nat.
set a := u q n.+2 in h1 h1' h2 h2' sq *; set b := u q n.+3 in h1 h1' h2 h2' sq *.
set d := u q n.+4 in h1 h1' h2 h2' sq *.
move=> low; have b2 : 2 <= b := u_ge2 n.+2.
have prod : (b - 1) * ((k - 1) * d - (k + 1) * (b + 1)) = d * ((k - 1) * (b - 1) - (k + 1) * a).
  by have : (k + 1) * (a * d) = (k + 1) * ((b - 1) * (b + 1)); [rewrite sq | move=> e; linear].
have neg : d * ((k - 1) * (b - 1) - (k + 1) * a) < 0.
  by rewrite pmulr_rlt0; linear.
by rewrite -prod pmulr_rlt0 in neg; linear.
Qed.

(* begin thm-lattice *)
(* Let n >= 2 be the smallest number with s_n >= 1 / (n + 1).  Then for one user with one sample no private
   mechanism has a risk below s_n. *)
Theorem thm_lattice n : (2 <= n)%N -> 1 / n.+1%:R <= s q n ->
  (forall k, (2 <= k < n)%N -> s q k < 1 / k.+1%:R) ->
  one_user_risk_at_least q (s q n).
(* end thm-lattice *)
Proof.
move=> n2 sn least; apply: lattice_bound; last by rewrite mulrC -ler_pdivr_mulr ?ltr0n.
exact: lattice_range.
Qed.

Lemma u_convex n : n.+1%:R <= u q n /\ u q n + 1 <= u q n.+1.
Proof.
have g : 0 < q - 1 by rewrite subr_gt0.
elim: n => [|n [h1 h2]].
  by split=> //; rewrite -(ler_pmul2l g) u1 u0; linear.
split; first by rewrite -addn1 natrD; linear.
rewrite -(ler_pmul2l g) u_step; have := ler_wpmul2l (ltW g) h2 => h3.
by have h4 := ler0n R n.+1; linear.
Qed.

(* begin thm-lattice-exists *)
(* Such an n exists if some whole number is at least 3 / 2 (q - 1), as always among the reals. *)
Theorem lattice_exists : (exists K : nat, 3 * (q - 1) <= 2 * K%:R) ->
  exists2 n, (2 <= n)%N & 1 / n.+1%:R <= s q n.
(* end thm-lattice-exists *)
Proof.
case=> K hK; have g : 0 < q - 1 by rewrite subr_gt0.
exists K.+2 => //; have [h3 _] := u_convex K.+2; have [_ h2] := u_grows K.+1.
have [h5 _] := u_grows K.+3; have k0 := ler0n R K.
have -> : s q K.+2 = (u q K.+3 - u q K.+2 + 1) / (2 * (u q K.+3 + K.+2%:R)) by [].
have step : (q - 1) * u q K.+3 = 2 * q * u q K.+2 - (q - 1) * u q K.+1 := u_step K.+1.
have e2 := ler_wpmul2l (ltW g) h2.
move: (u q K.+2) (u q K.+3) (u q K.+1) h2 h3 h5 step e2 => a b z h2 h3 h5 step e2.
have n3 : K.+3%:R = K%:R + 3 :> R by rewrite -addn3 natrD.
have n2 : K.+2%:R = K%:R + 2 :> R by rewrite -addn2 natrD.
rewrite n2 n3 in h3 *; have den : 0 < 2 * (b + (K%:R + 2)) by linear.
rewrite ler_pdivr_mulr; last by linear.
rewrite mulrAC ler_pdivl_mulr // mul1r.
have e4 : 0 <= (K%:R + 1) * ((q - 1) * b - (q + 1) * a) by apply: mulr_ge0; linear.
have e5 : 0 <= (2 * K%:R - 3 * (q - 1)) * a by apply: mulr_ge0; linear.
have e6 : 0 <= (q - 1) * (a - (K%:R + 3)) by apply: mulr_ge0; linear.
by rewrite -(ler_pmul2l g); linear.
Qed.

End OneUser.
