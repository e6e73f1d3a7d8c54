(* The private quantile. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint ring zify.
From UserDP Require Import linear.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* The private quantile.  The range [0, V] of thresholds is cut at the sums; between two cuts the
   density of eq-quantile is constant.  What a function of the threshold that is constant there
   integrates to is a sum over the cells; finer cuts change nothing, so that two neighbours can be
   compared on the cells of both. *)
Section Quantile.
Variables (R : realFieldType) (L : nat) (V : R) (rank : nat) (q : R).

(* begin def-quantile *)
(* How many of the sums reach t, the weight of t, and the cuts; q stands for exp (- eta). *)
Definition reach (sums : 'I_L -> R) (t : R) : nat := #|[pred l | t <= sums l]|.
Definition weight (sums : 'I_L -> R) (t : R) : R :=
  q ^+ ((reach sums t - rank) + (rank - reach sums t))%N.
(* The integral from a of a function constant between cuts: on (b', b] it has its value at b. *)
Fixpoint integral (g : R -> R) (a : R) (cuts : seq R) : R :=
  if cuts is b :: cuts' then (b - a) * g b + integral g b cuts' else 0.
Definition cuts (sums : 'I_L -> R) : seq R := sort <=%O (V :: [seq sums l | l <- enum 'I_L]).
Definition density (sums : 'I_L -> R) (t : R) : R :=
  weight sums t / integral (weight sums) 0 (cuts sums).
(* end def-quantile *)

(* Cutting once more, where the function is constant around the new cut. *)
Fixpoint insert (x : R) (s : seq R) : seq R :=
  if s is b :: s' then if x <= b then x :: s else b :: insert x s' else [:: x].

(* Constant on each (b', b] of the cuts, beginning at a. *)
Fixpoint constant (g : R -> R) (a : R) (s : seq R) : Prop :=
  if s is b :: s' then (forall t, a < t -> t <= b -> g t = g b) /\ constant g b s' else True.

Lemma insert_integral g x a s : a <= x -> (exists2 b, b \in s & x <= b) -> constant g a s ->
  integral g a (insert x s) = integral g a s /\ constant g a (insert x s).
Proof.
elim: s a => [|b s IH] a ax [b' b's xb']; first by rewrite in_nil in b's.
move=> /= [gb gs].
case: (leP x b) => xb /=.
  split; last first.
    split=> [t at_ tx|]; last by split=> // t xt; apply: gb; exact: le_lt_trans xt.
    by rewrite (gb t) ?(gb x) ?(lt_le_trans at_ tx) ?(le_trans tx xb).
  move: ax; rewrite le_eqVlt => /orP [/eqP <-|ax]; first by rewrite subrr mul0r add0r.
  by rewrite (gb x) // addrA -mulrDl; congr (_ * _ + _); ring.
have bs : b' \in s by move: b's; rewrite in_cons => /orP [/eqP bb|//]; move: xb; rewrite -bb ltNge xb'.
have [-> h] := IH b (ltW xb) (ex_intro2 _ _ b' bs xb') gs.
by [].
Qed.

Lemma constant_weight (sums : 'I_L -> R) a (s : seq R) : path <=%O a s ->
  (forall l, a < sums l -> sums l \in s) -> constant (weight sums) a s.
Proof.
elim: s a => [|b s IH] a //= /andP [ab bs] all_in; split; last first.
  apply: IH => // l bl; have := all_in l (le_lt_trans ab bl).
  by rewrite in_cons => /orP [/eqP e|//]; rewrite e ltxx in bl.
move=> t at_ tb; rewrite /weight (_ : reach sums t = reach sums b) //.
apply: eq_card => l; rewrite !inE; apply/idP/idP; last exact: le_trans.
move=> tl; have := all_in l (lt_le_trans at_ tl); rewrite in_cons => /orP [/eqP -> //|ls].
by move: bs; rewrite (path_sortedE le_trans) => /andP [/allP /(_ _ ls)].
Qed.

Lemma insert_sorted x a s : a <= x -> path <=%O a s -> path <=%O a (insert x s).
Proof.
elim: s a => [|b s IH] a ax /=; first by rewrite ax.
move=> /andP [ab bs]; case: (leP x b) => xb /=; first by rewrite ax xb bs.
by rewrite ab IH // ltW.
Qed.

Lemma insert_perm x s : perm_eq (insert x s) (x :: s).
Proof.
elim: s => //= b s IH; case: ifP => // _; rewrite (perm_trans (_ : perm_eq _ (b :: x :: s))) ?perm_cons //.
by rewrite (perm_catCA [:: b] [:: x] s).
Qed.

Definition refine (xs s : seq R) : seq R := foldr insert s xs.

Lemma refine_integral g xs s : constant g 0 s -> path <=%O 0 s -> V \in s ->
  (forall x, x \in xs -> 0 <= x <= V) ->
  [/\ integral g 0 (refine xs s) = integral g 0 s, constant g 0 (refine xs s),
      path <=%O 0 (refine xs s) & perm_eq (refine xs s) (xs ++ s)].
Proof.
move=> cs ps Vs; elim: xs => [|x xs IH] range //=.
have [|i c p e] := IH; first by move=> y ys; apply: range; rewrite in_cons ys orbT.
have /andP [x0 xV] : 0 <= x <= V by apply: range; rewrite mem_head.
have Vr : V \in refine xs s by rewrite (perm_mem e) mem_cat Vs orbT.
have [i' c'] := insert_integral x0 (ex_intro2 _ _ V Vr xV) c.
split; [by rewrite i' | exact: c' | exact: insert_sorted |].
by rewrite (perm_trans (insert_perm _ _)) // perm_cons.
Qed.

Lemma cuts_ok (s : 'I_L -> R) : (forall l, 0 <= s l <= V) -> 0 <= V ->
  [/\ constant (weight s) 0 (cuts s), path <=%O 0 (cuts s) & V \in cuts s].
Proof.
move=> range V0; have mem x : (x \in cuts s) = (x \in V :: [seq s l | l <- enum 'I_L]).
  by rewrite mem_sort.
have p : path <=%O 0 (cuts s).
  rewrite (path_sortedE le_trans) (sort_sorted le_total) andbT; apply/allP => x.
  rewrite mem in_cons => /orP [/eqP -> //|/mapP [l _ ->]]; by case/andP: (range l).
split=> //; last by rewrite mem mem_head.
by apply: constant_weight => // l _; rewrite mem in_cons map_f ?mem_enum ?orbT.
Qed.

Lemma reach_moves (s s' : 'I_L -> R) l0 t : (forall l, l != l0 -> s l = s' l) ->
  (reach s t <= reach s' t + 1)%N.
Proof.
move=> same; rewrite /reach (cardD1 l0) [X in (_ <= X + _)%N](cardD1 l0) !inE.
have -> : #|[predD1 [pred l | t <= s l] & l0]| = #|[predD1 [pred l | t <= s' l] & l0]|.
  by apply: eq_card => l; rewrite !inE; case: eqP => //= /eqP ll0; rewrite same.
by rewrite addnAC leq_add2r; case: (t <= s l0); case: (t <= s' l0).
Qed.

Hypothesis q01 : 0 < q <= 1.

Lemma weight_moves (s s' : 'I_L -> R) l0 t : (forall l, l != l0 -> s l = s' l) ->
  q * weight s t <= weight s' t.
Proof.
case/andP: q01 => q0 q1 same; rewrite /weight -exprS; apply: ler_wiexpn2l; rewrite ?(ltW q0) //.
have h1 := reach_moves t same.
have h2 : (reach s' t <= reach s t + 1)%N by apply: (@reach_moves _ _ l0) => l ll0; rewrite same.
by lia.
Qed.

Lemma weight_pos s t : 0 < weight s t.
Proof. by case/andP: q01 => q0 _; exact: exprn_gt0. Qed.

Lemma integral_le (g g' : R -> R) a s : path <=%O a s -> (forall t, g t <= g' t) ->
  integral g a s <= integral g' a s.
Proof.
elim: s a => [|b s IH] a //= /andP [ab bs] gg; apply: ler_add; last exact: IH.
by apply: ler_wpmul2l; rewrite ?subr_ge0.
Qed.

Lemma integral_mul z (g : R -> R) a s : integral (fun t => z * g t) a s = z * integral g a s.
Proof. by elim: s a => [|b s IH] a /=; rewrite ?mulr0 // IH mulrDr mulrCA. Qed.

Lemma integral_ge0 (g : R -> R) a s : path <=%O a s -> (forall t, 0 <= g t) -> 0 <= integral g a s.
Proof.
elim: s a => [|b s IH] a //= /andP [ab bs] g0; apply: addr_ge0; last exact: IH.
by rewrite mulr_ge0 // subr_ge0.
Qed.

Lemma integral_gt0 (g : R -> R) a s x : path <=%O a s -> (forall t, 0 < g t) -> x \in s -> a < x ->
  0 < integral g a s.
Proof.
elim: s a => [|b s IH] a //= /andP [ab bs] g0; rewrite in_cons => xs ax.
have rest : 0 <= integral g b s by apply: integral_ge0 => // t; exact: ltW.
move: ab; rewrite le_eqVlt => /orP [/eqP e|ab].
  rewrite -e subrr mul0r add0r e; apply: (IH) => //; last by rewrite -e.
  by move: xs => /orP [/eqP xb|//]; move: ax; rewrite xb -e ltxx.
by rewrite ltr_paddr // mulr_gt0 ?subr_gt0.
Qed.

(* Ranks from the number of users on: the count of sums is never beyond, and weights move one way. *)
Lemma weight_grows (s s' : 'I_L -> R) t : (L <= rank)%N -> (forall l, s l <= s' l) ->
  weight s t <= weight s' t.
Proof.
case/andP: q01 => q0 q1 Lr ss; rewrite /weight; apply: ler_wiexpn2l; rewrite ?(ltW q0) //.
have h1 : (reach s t <= reach s' t)%N.
  by apply: subset_leq_card; apply/subsetP => l; rewrite !inE => /le_trans; apply.
have h2 : (reach s' t <= L)%N by rewrite -[X in (_ <= X)%N]card_ord max_card.
by lia.
Qed.

(* begin thm-quantile *)
(* The constant of the private quantile: where the sum of one user is replaced, the density of the
   threshold changes by the factor q ^ 2 = exp (- 2 eta) at least, at every t; for ranks from L on, by
   q = exp (- eta). *)
Theorem thm_quantile (s s' : 'I_L -> R) (l0 : 'I_L) (t : R) : 0 < V ->
  (forall l, 0 <= s l <= V) -> (forall l, 0 <= s' l <= V) -> (forall l, l != l0 -> s l = s' l) ->
  q ^+ 2 * density s t <= density s' t
  /\ ((L <= rank)%N -> q * density s t <= density s' t).
(* end thm-quantile *)
Proof.
move=> V0 r r' same; have [c p Vc] := cuts_ok r (ltW V0); have [c' p' Vc'] := cuts_ok r' (ltW V0).
have inV (f : 'I_L -> R) x : (forall l, 0 <= f l <= V) -> x \in cuts f -> 0 <= x <= V.
  by move=> rf; rewrite mem_sort in_cons => /orP [/eqP ->|/mapP [l _ ->] //]; rewrite (ltW V0) lexx.
have [i1 _ s1 e1] := refine_integral c p Vc (fun x h => inV s' x r' h).
have [i2 _ s2 e2] := refine_integral c' p' Vc' (fun x h => inV s x r h).
have common : refine (cuts s') (cuts s) = refine (cuts s) (cuts s').
  apply: (sorted_eq le_trans le_anti); rewrite ?(path_sorted s1) ?(path_sorted s2) //.
  by rewrite (perm_trans e1) // perm_sym (perm_trans e2) // perm_catC.
case/andP: (q01) => q0 q1; rewrite /density -i1 -i2 -common.
set cs := refine _ _ in s1 *.
have Vr : V \in cs by rewrite (perm_mem e1) mem_cat Vc orbT.
have I0 : 0 < integral (weight s) 0 cs by apply: integral_gt0 Vr V0 => // u; exact: weight_pos.
have I0' : 0 < integral (weight s') 0 cs by apply: integral_gt0 Vr V0 => // u; exact: weight_pos.
have same' l : l != l0 -> s' l = s l by move=> ll0; rewrite same.
have le_I : q * integral (weight s') 0 cs <= integral (weight s) 0 cs.
  by rewrite -integral_mul; apply: integral_le => // u; exact: weight_moves same'.
have le_w := weight_moves t same; have w0 := weight_pos s t.
(* factors a of the weight and b of the integral make a * b of the density *)
have quotient a b : 0 <= a -> 0 <= b -> a * weight s t <= weight s' t ->
    b * integral (weight s') 0 cs <= integral (weight s) 0 cs ->
    a * b * (weight s t / integral (weight s) 0 cs) <= weight s' t / integral (weight s') 0 cs.
  move=> a0 b0 ha hb; rewrite ler_pdivl_mulr // mulrA mulrAC ler_pdivr_mulr //.
  have -> : a * b * weight s t * integral (weight s') 0 cs
      = (a * weight s t) * (b * integral (weight s') 0 cs) by ring.
  by apply: ler_pmul => //; rewrite mulr_ge0 // ltW.
split=> [|Lr]; first by rewrite expr2; apply: quotient; rewrite ?(ltW q0).
case: (leP (s l0) (s' l0)) => ss.
  have up l : s l <= s' l by case: (eqVneq l l0) => [-> //|/same ->].
  rewrite -[X in X * _]mul1r; apply: quotient; rewrite ?ler01 ?mul1r ?(ltW q0) //.
  exact: weight_grows.
have down l : s' l <= s l by case: (eqVneq l l0) => [->|/same ->] //; exact: ltW.
rewrite -[X in X * _]mulr1; apply: quotient; rewrite ?ler01 ?mul1r ?(ltW q0) //.
by apply: integral_le => // u; exact: weight_grows.
Qed.

(* Any cuts at all sums will do. *)
Lemma integral_cuts (s : 'I_L -> R) (cs : seq R) : 0 <= V -> (forall l, 0 <= s l <= V) ->
  path <=%O 0 cs -> V \in cs -> (forall l, 0 < s l -> s l \in cs) -> (forall x, x \in cs -> 0 <= x <= V) ->
  integral (weight s) 0 (cuts s) = integral (weight s) 0 cs.
Proof.
move=> V0 r p' Vc' at_sums r'; have [c p Vc] := cuts_ok r V0; have c' := constant_weight p' at_sums.
have inV x : x \in cuts s -> 0 <= x <= V.
  by rewrite mem_sort in_cons => /orP [/eqP ->|/mapP [l _ ->] //]; rewrite V0 lexx.
have [i1 _ s1 e1] := refine_integral c p Vc r'; have [i2 _ s2 e2] := refine_integral c' p' Vc' inV.
rewrite -i1 -i2; congr (integral _ _ _).
apply: (sorted_eq le_trans le_anti); rewrite ?(path_sorted s1) ?(path_sorted s2) //.
by rewrite (perm_trans e1) // perm_sym (perm_trans e2) // perm_catC.
Qed.

(* The sums of some users are at d > 0, one is perhaps at V, and the others at 0. *)
Lemma density_two (s : 'I_L -> R) (d t : R) : 0 < d < V -> (forall l, s l \in [:: 0; d; V]) -> 0 < t <= d ->
  density s t = weight s d / (d * weight s d + (V - d) * weight s V).
Proof.
move=> /andP [d0 dV] values /andP [t0 td]; have V0 := lt_trans d0 dV.
have r l : 0 <= s l <= V.
  by have := values l; rewrite !inE => /or3P [] /eqP ->; rewrite ?lexx ?(ltW V0) ?(ltW d0) ?(ltW dV).
rewrite /density (@integral_cuts _ [:: d; V]) ?(ltW V0) //.
- rewrite /= subr0 addr0 /weight (_ : reach s t = reach s d) //.
  apply: eq_card => l; rewrite !inE; have := values l; rewrite !inE => /or3P [] /eqP ->.
  + by rewrite !leNgt t0 d0.
  + by rewrite td lexx.
  + by rewrite (le_trans td) ?(ltW dV).
- by rewrite /= (ltW d0) (ltW dV).
- by rewrite !inE eqxx orbT.
- move=> l s0; have := values l; rewrite !inE => /or3P [] /eqP e; rewrite e ?eqxx ?orbT //.
  by move: s0; rewrite e ltxx.
- by move=> x; rewrite !inE => /orP [] /eqP ->; rewrite ?lexx ?(ltW V0) ?(ltW d0) ?(ltW dV).
Qed.

(* begin thm-quantile-tight *)
(* Some pair of neighbours has densities of which one is less than z times the other, on an interval. *)
Definition moves_below (z : R) : Prop := exists (s s' : 'I_L -> R) (l0 : 'I_L) (d : R),
  [/\ forall l, 0 <= s l <= V, forall l, 0 <= s' l <= V, forall l, l != l0 -> s l = s' l,
      0 < d < V & forall t, 0 < t <= d -> density s' t < z * density s t].
Theorem quantile_tight : 0 < V ->
  ((0 < rank < L)%N -> forall z, q ^+ 2 < z -> moves_below z)
  /\ ((0 < L <= rank)%N -> forall z, q < z -> moves_below z).
(* end thm-quantile-tight *)
Proof.
move=> V0; case/andP: q01 => q0 q1; split=> [/andP [r0 rL]|/andP [L0 Lr]] z qz.
  pose kappa := (z - q ^+ 2) * q ^+ rank.-1; pose d := kappa / (kappa + q) * V.
  have k0 : 0 < kappa by rewrite mulr_gt0 ?exprn_gt0 ?subr_gt0.
  have kq : 0 < kappa + q by rewrite addr_gt0.
  have d0 : 0 < d by rewrite mulr_gt0 ?divr_gt0.
  have dV : d < V by rewrite gtr_pmull // ltr_pdivr_mulr // mul1r ltr_addl.
  have dE : kappa * (V - d) = q * d by rewrite /d; field; rewrite gt_eqF.
  pose s (l : 'I_L) := if (l < rank)%N then d else 0.
  pose s' (l : 'I_L) := if (l < rank)%N then d else if (l == rank :> nat) then V else 0.
  have sv l : s l \in [:: 0; d; V] by rewrite /s; case: ifP; rewrite !inE eqxx ?orbT.
  have sv' l : s' l \in [:: 0; d; V] by rewrite /s'; do 2?case: ifP => _; rewrite !inE eqxx ?orbT.
  have in_range f : (forall l : 'I_L, f l \in [:: 0; d; V]) -> forall l, 0 <= f l <= V.
    by move=> fv l; have := fv l; rewrite !inE => /or3P [] /eqP ->; rewrite ?lexx ?(ltW V0) ?(ltW d0) ?(ltW dV).
  have count n : (n <= L)%N -> #|[pred l : 'I_L | (l < n)%N]| = n.
    by move=> nL; rewrite -sum1_card (eq_bigl (fun l : 'I_L => (l < n)%N)) // (big_ord_narrow nL) sum1_card card_ord.
  have [c1 c2] : reach s d = rank /\ reach s V = 0%N.
    split; first by rewrite -[RHS]count ?(ltnW rL) //; apply: eq_card => l; rewrite !inE /s; case: ifP; rewrite ?lexx // leNgt d0.
    by apply: eq_card0 => l; rewrite !inE /s; case: ifP; rewrite leNgt ?dV ?V0.
  have [c1' c2'] : reach s' d = rank.+1 /\ reach s' V = 1%N.
    split.
      rewrite -[RHS]count //; apply: eq_card => l; rewrite !inE /s' ltnS.
      by case: (ltngtP l rank) => _; rewrite ?lexx ?(ltW dV) // leNgt d0.
    rewrite -(card1 (Ordinal rL)); apply: eq_card => l; rewrite !inE /s' -val_eqE /=.
    by case: (ltngtP l rank) => _; rewrite ?lexx // leNgt ?dV ?V0.
  exists s, s', (Ordinal rL), d; split; rewrite ?d0 //; try exact: in_range.
    by move=> l; rewrite -val_eqE /s /s' /= => /negbTE ->.
  have e1 : weight s d = 1 by rewrite /weight c1 (_ : (_ + _)%N = 0%N) //; clear -r0; lia.
  have e2 : weight s V = q * q ^+ rank.-1 by rewrite /weight c2 -exprS (_ : (_ + _)%N = rank.-1.+1) //; clear -r0; lia.
  have e3 : weight s' d = q by rewrite /weight c1' (_ : (_ + _)%N = 1%N) ?expr1 //; clear -r0; lia.
  have e4 : weight s' V = q ^+ rank.-1 by rewrite /weight c2' (_ : (_ + _)%N = rank.-1) //; clear -r0; lia.
  move=> t td; rewrite !(density_two _ _ td) ?d0 // e1 e2 e3 e4 mulr1 mul1r.
  have dE' : (z - q ^+ 2) * q ^+ rank.-1 * (V - d) = q * d := dE.
  have p0 : 0 < q ^+ rank.-1 by exact: exprn_gt0.
  have Vd : 0 < V - d by rewrite subr_gt0.
  have z0 : 0 < z by apply: lt_trans qz; exact: exprn_gt0.
  rewrite expr2 in dE'; move: (q ^+ rank.-1) (d) p0 Vd d0 dE' => p y p0 Vy y0 yE.
  have w1 := mulr_gt0 Vy p0; have w2 := mulr_gt0 w1 q0; have w3 := mulr_gt0 y0 q0; have w4 := mulr_gt0 z0 w3.
  rewrite ltr_pdivr_mulr; last by linear.
  by rewrite mulrAC ltr_pdivl_mulr; linear.
pose d := (z - q) / (z - q + 1) * V.
have zq : 0 < z - q by rewrite subr_gt0.
have zq1 : 0 < z - q + 1 by rewrite addr_gt0 ?ltr01.
have d0 : 0 < d by rewrite mulr_gt0 ?divr_gt0.
have dV : d < V by rewrite gtr_pmull // ltr_pdivr_mulr // mul1r ltr_addl ltr01.
have dE : (z - q) * (V - d) = d by rewrite /d; field; rewrite gt_eqF.
pose l0 : 'I_L := Ordinal L0; pose s (l : 'I_L) := if l == l0 then d else 0.
have sv l : s l \in [:: 0; d; V] by rewrite /s; case: ifP; rewrite !inE eqxx ?orbT.
have [c1 c2] : reach s d = 1%N /\ reach s V = 0%N.
  split; first by rewrite -(card1 l0); apply: eq_card => l; rewrite !inE /s; case: ifP; rewrite ?lexx // leNgt d0.
  by apply: eq_card0 => l; rewrite !inE /s; case: ifP; rewrite leNgt ?dV ?V0.
have [c1' c2'] : reach (fun=> 0) d = 0%N /\ reach (fun=> 0) V = 0%N.
  by split; apply: eq_card0 => l; rewrite !inE leNgt ?d0 ?V0.
exists s, (fun=> 0), l0, d; split; rewrite ?d0 //.
- by move=> l; rewrite /s; case: ifP; rewrite ?lexx ?(ltW V0) ?(ltW d0) ?(ltW dV).
- by move=> l; rewrite lexx (ltW V0).
- by move=> l /negbTE ll0; rewrite /s ll0.
move=> t td; rewrite !(density_two _ _ td) ?d0 // => [|l]; last by rewrite !inE eqxx.
have r1 : (0 < rank)%N by apply: leq_trans Lr.
have e1 : weight s d = q ^+ rank.-1 by rewrite /weight c1 (_ : (_ + _)%N = rank.-1) //; clear -r1; lia.
have e2 : weight s V = q * q ^+ rank.-1 by rewrite /weight c2 -exprS (_ : (_ + _)%N = rank.-1.+1) //; clear -r1; lia.
have e3 u : reach (fun=> 0) u = 0%N -> weight (fun=> 0) u = q * q ^+ rank.-1.
  by move=> c0; rewrite /weight c0 -exprS (_ : (_ + _)%N = rank.-1.+1) //; clear -r1; lia.
rewrite e1 e2 !e3 //; have dE' : (z - q) * (V - d) = d := dE.
have p0 : 0 < q ^+ rank.-1 by exact: exprn_gt0.
have Vd : 0 < V - d by rewrite subr_gt0.
have z0 : 0 < z by apply: lt_trans qz.
move: (q ^+ rank.-1) (d) p0 Vd d0 dE' => p y p0 Vy y0 yE.
have -> : y * (q * p) + (V - y) * (q * p) = q * p * V by ring.
have qp := mulr_gt0 q0 p0; have w1 := mulr_gt0 Vy qp; have w2 := mulr_gt0 y0 p0.
have w5 : 0 < y * p + (V - y) * (q * p) by rewrite addr_gt0.
rewrite ltr_pdivr_mulr ?mulr_gt0 // mulrA mulrAC ltr_pdivl_mulr //.
have w6 : q * p * p * y = q * p * p * ((z - q) * (V - y)) by rewrite yE.
have w7 := mulr_gt0 z0 (mulr_gt0 y0 (mulr_gt0 (mulr_gt0 q0 p0) p0)).
by clear -w6 w7; linear.
Qed.

End Quantile.
