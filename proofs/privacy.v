(* The private quantile. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint ring zify.
From UserDP Require Import definitions linear counts frontier.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* The private quantile.  The range [0, V] of thresholds is cut at the sums; between two cuts the density of
   eq-quantile is constant.  The integral of a function of the threshold that is constant there is a sum
   over the cells; finer cuts change nothing, so that two neighbours can be compared on the cells of
   both. *)
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

(* If the rank is at least L, the number of sums that reach t is never above it, so weights do not fall as
   sums grow. *)
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
(* The constant of the private quantile: if the sum of one user is replaced, the density of the threshold
   falls by at most the factor q ^ 2 = exp (- 2 eta), at every t; for ranks from L on, by at most q = exp (-
   eta). *)
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

End Quantile.

(* The budget cannot be smaller: two neighbours that need all of it.  Some users have a tiny sum d, and the
   largest user goes from 0 to V, or one user from d to 0. *)
Section Tight.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R) (rank : nat) (q : R).
Notation V := (v m U 1).
Notation density := (density V rank q).

(* begin thm-quantile-tight *)
(* Some pair of neighbours, with samples in [0, U], has densities of which one is less than z times the
   other, on an interval. *)
Definition moves_below (z : R) : Prop := exists (x x' : dataset R m) (d : R),
  [/\ in_range U x, in_range U x', neighbours x x', 0 < d < V
    & forall t, 0 < t <= d -> density (sums x') t < z * density (sums x) t].
(* end thm-quantile-tight *)

Hypothesis q01 : 0 < q <= 1.
Hypothesis U0 : 0 < U.
Hypothesis m0 : forall l, (0 < m l)%N.

(* Sums that users can have are those of a dataset: let each user's samples be equal. *)
Lemma moves_sums (z d : R) (s s' : 'I_L -> R) (l0 : 'I_L) : (forall l, 0 <= s l <= U * (m l)%:R) ->
  (forall l, 0 <= s' l <= U * (m l)%:R) -> (forall l, l != l0 -> s l = s' l) -> 0 < d < V ->
  (forall t, 0 < t <= d -> density s' t < z * density s t) -> moves_below z.
Proof.
move=> r r' same dV less; pose x (s : 'I_L -> R) : dataset R m := fun l _ => s l / (m l)%:R.
have mR l : 0 < (m l)%:R :> R by rewrite ltr0n.
have xr f : (forall l, 0 <= f l <= U * (m l)%:R) -> in_range U (x f).
  by move=> fr l j; rewrite /x ler_pdivr_mulr // divr_ge0 ?(ltW (mR l)) //; case/andP: (fr l).
have sumsE f l : sums (x f) l = f l.
  by rewrite /sums sumr_const card_ord -(mulr_natr (f l / _)) divfK // gt_eqF.
have densityE f t : density (sums (x f)) t = density f t.
  have weightE u : weight rank q (sums (x f)) u = weight rank q f u.
    by rewrite /weight (_ : reach (sums (x f)) u = reach f u) //; apply: eq_card => l; rewrite !inE sumsE.
  rewrite /privacy.density weightE; congr (_ / _); rewrite /cuts (eq_map (sumsE f)).
  by elim: (sort _ _) (0) => //= b c IH a; rewrite IH weightE.
exists (x s), (x s'), d; split; [exact: xr | exact: xr | | by [] |].
  by exists l0 => l ll0 j; rewrite /x same.
by move=> t td; rewrite !densityE; exact: less.
Qed.

(* A sum that every user can have, and as small as is needed. *)
Lemma small_sum (a b : R) : 0 < V -> 0 < a -> 0 < b ->
  exists2 d, 0 < d < V & d <= U /\ b * d <= a * (V - d).
Proof.
move=> V0 a0 b0; have ab : 0 < a + b by rewrite addr_gt0.
pose D := a / (a + b) * V; have D0 : 0 < D by rewrite mulr_gt0 ?divr_gt0.
have DV : D < V by rewrite gtr_pmull // ltr_pdivr_mulr // mul1r ltr_addl.
have DE : a * (V - D) = b * D by rewrite /D; field; rewrite gt_eqF.
exists (Num.min D U); first by rewrite lt_minr D0 U0 lt_minl DV.
split; first by rewrite le_minl lexx orbT.
have le_D : Num.min D U <= D by rewrite le_minl lexx.
apply: le_trans (ler_wpmul2l (ltW b0) le_D) _; rewrite -DE.
by apply: ler_wpmul2l; [exact: ltW | rewrite ler_add2l ler_opp2].
Qed.

(* begin thm-quantile-tight *)
(* For ranks below L the constant is 2 eta, from L on eta: no smaller constant is enough. *)
Theorem quantile_tight :
  ((0 < rank < L)%N -> forall z, q ^+ 2 < z -> moves_below z)
  /\ ((0 < L <= rank)%N -> forall z, q < z -> moves_below z).
(* end thm-quantile-tight *)
Proof.
(* Below rank L: before, as many users as the rank have d, all others 0; then the largest has V.  From L on:
   before, one user has d; then none.  What d has to be is small_sum, the densities are density_two. *)
case/andP: (q01) => q0 q1; have capV l : U * (m l)%:R <= V.
  by apply: ler_wpmul2l; [exact: ltW | rewrite ler_nat le_first_count].
have capU l : U <= U * (m l)%:R by rewrite ler_pmulr // ler1n.
have positive (l : 'I_L) : 0 < V by apply: lt_le_trans U0 (le_trans (capU l) (capV l)).
have low d l : 0 < d -> d <= U -> 0 <= d <= U * (m l)%:R.
  by move=> d0 dU; rewrite (ltW d0) (le_trans dU).
have zero l : 0 <= 0 <= U * (m l)%:R by rewrite lexx mulr_ge0 ?ler0n ?(ltW U0).
split=> [/andP [r0 rL]|/andP [L0 Lr]] z qz.
  have [|l0 l0E] := first_count (m := m).
    by rewrite (bigD1 (Ordinal rL)) //= addn_gt0 m0.
  have V0 := positive l0; have topV : U * (m l0)%:R = V by rewrite l0E.
  pose A := [set l in take rank (enum [set~ l0])].
  have [cardA l0A] : #|A| = rank /\ l0 \notin A.
    split; last by rewrite inE; apply/negP => /mem_take; rewrite mem_enum !inE eqxx.
    rewrite cardsE (card_uniqP _) ?take_uniq ?enum_uniq // size_takel //.
    by rewrite -cardE cardsC1 card_ord -ltnS (ltn_predK rL).
  pose kappa := (z - q ^+ 2) * q ^+ rank.-1.
  have k0 : 0 < kappa by rewrite mulr_gt0 ?exprn_gt0 ?subr_gt0.
  have [d /andP [d0 dV] [dU dE]] := small_sum V0 k0 q0.
  pose s (l : 'I_L) := if l \in A then d else 0.
  pose s' (l : 'I_L) := if l \in A then d else if l == l0 then V else 0.
  have sv l : s l \in [:: 0; d; V] by rewrite /s; case: ifP; rewrite !inE eqxx ?orbT.
  have sv' l : s' l \in [:: 0; d; V] by rewrite /s'; do 2?case: ifP => _; rewrite !inE eqxx ?orbT.
  have [c1 c2] : reach s d = rank /\ reach s V = 0%N.
    split; first by rewrite -cardA; apply: eq_card => l; rewrite inE /s; case: ifP; rewrite ?lexx // leNgt d0.
    by apply: eq_card0 => l; rewrite !inE /s; case: ifP; rewrite leNgt ?dV ?V0.
  have [c1' c2'] : reach s' d = rank.+1 /\ reach s' V = 1%N.
    split.
      have -> : rank.+1 = #|l0 |: A| by rewrite cardsU1 l0A cardA.
      apply: eq_card => l; rewrite !inE /s' inE.
      by case: ifP => lA; rewrite ?lexx ?orbT // orbF; case: eqP => _; rewrite ?(ltW dV) // leNgt d0.
    apply: etrans (card1 l0); apply: eq_card => l; rewrite !inE /s'.
    case: (eqVneq l l0) => [->|_]; first by rewrite (negbTE l0A) lexx.
    by case: ifP => _; rewrite leNgt ?dV ?V0.
  apply: (@moves_sums z d s s' l0); rewrite ?d0 //.
  - by move=> l; rewrite /s; case: ifP => _; [exact: low | exact: zero].
  - move=> l; rewrite /s'; case: ifP => _; [exact: low | case: eqP => [->|_]; last exact: zero].
    by rewrite topV lexx ltW.
  - by move=> l /negbTE ll0; rewrite /s /s' ll0.
  have e1 : weight rank q s d = 1 by rewrite /weight c1 (_ : (_ + _)%N = 0%N) //; clear -r0; lia.
  have e2 : weight rank q s V = q * q ^+ rank.-1 by rewrite /weight c2 -exprS (_ : (_ + _)%N = rank.-1.+1) //; clear -r0; lia.
  have e3 : weight rank q s' d = q by rewrite /weight c1' (_ : (_ + _)%N = 1%N) ?expr1 //; clear -r0; lia.
  have e4 : weight rank q s' V = q ^+ rank.-1 by rewrite /weight c2' (_ : (_ + _)%N = rank.-1) //; clear -r0; lia.
  move=> t td; rewrite !(density_two _ _ _ _ td) ?d0 // e1 e2 e3 e4 mulr1 mul1r.
  have p0 : 0 < q ^+ rank.-1 by exact: exprn_gt0.
  have Vd : 0 < V - d by rewrite subr_gt0.
  have z0 : 0 < z by apply: lt_trans qz; exact: exprn_gt0.
  rewrite /kappa expr2 in dE; move: (q ^+ rank.-1) (d) p0 Vd d0 dE => p y p0 Vy y0 yE.
  have w1 := mulr_gt0 Vy p0; have w2 := mulr_gt0 w1 q0; have w3 := mulr_gt0 y0 q0; have w4 := mulr_gt0 z0 w3.
  rewrite ltr_pdivr_mulr; last by linear.
  by rewrite mulrAC ltr_pdivl_mulr; linear.
pose l0 : 'I_L := Ordinal L0; have V0 := positive l0.
have zq : 0 < z - q by rewrite subr_gt0.
have [d /andP [d0 dV] [dU dE]] := small_sum V0 zq ltr01; rewrite mul1r in dE.
pose s (l : 'I_L) := if l == l0 then d else 0.
have sv l : s l \in [:: 0; d; V] by rewrite /s; case: ifP; rewrite !inE eqxx ?orbT.
have [c1 c2] : reach s d = 1%N /\ reach s V = 0%N.
  split; first by rewrite -(card1 l0); apply: eq_card => l; rewrite !inE /s; case: ifP; rewrite ?lexx // leNgt d0.
  by apply: eq_card0 => l; rewrite !inE /s; case: ifP; rewrite leNgt ?dV ?V0.
have [c1' c2'] : reach (L := L) (fun=> 0) d = 0%N /\ reach (L := L) (fun=> 0) V = 0%N.
  by split; apply: eq_card0 => l; rewrite !inE leNgt ?d0 ?V0.
apply: (@moves_sums z d s (fun=> 0) l0); rewrite ?d0 //.
- by move=> l; rewrite /s; case: ifP => _; [exact: low | exact: zero].
- by move=> l; exact: zero.
- by move=> l /negbTE ll0; rewrite /s ll0.
move=> t td; rewrite !(density_two _ _ _ _ td) ?d0 // => [|l]; last by rewrite !inE eqxx.
have r1 : (0 < rank)%N by apply: leq_trans Lr.
have e1 : weight rank q s d = q ^+ rank.-1 by rewrite /weight c1 (_ : (_ + _)%N = rank.-1) //; clear -r1; lia.
have e2 : weight rank q s V = q * q ^+ rank.-1 by rewrite /weight c2 -exprS (_ : (_ + _)%N = rank.-1.+1) //; clear -r1; lia.
have e3 u : reach (L := L) (fun=> 0) u = 0%N -> weight (L := L) rank q (fun=> 0) u = q * q ^+ rank.-1.
  by move=> c0; rewrite /weight c0 -exprS (_ : (_ + _)%N = rank.-1.+1) //; clear -r1; lia.
rewrite e1 e2 !e3 //.
have p0 : 0 < q ^+ rank.-1 by exact: exprn_gt0.
have Vd : 0 < V - d by rewrite subr_gt0.
have z0 : 0 < z by apply: lt_trans qz.
move: (q ^+ rank.-1) (d) V V0 p0 Vd d0 dE => p y W W0 p0 Vy y0 yE.
have -> : y * (q * p) + (W - y) * (q * p) = q * p * W by ring.
have qp := mulr_gt0 q0 p0; have w1 := mulr_gt0 Vy qp; have w2 := mulr_gt0 y0 p0.
have w5 : 0 < y * p + (W - y) * (q * p) by rewrite addr_gt0.
rewrite ltr_pdivr_mulr ?mulr_gt0 // mulrA mulrAC ltr_pdivl_mulr //.
have w6 : q * p * p * y <= q * p * p * ((z - q) * (W - y)).
  by apply: ler_wpmul2l; rewrite ?mulr_ge0 ?(ltW q0) ?(ltW p0).
have w7 := mulr_gt0 z0 (mulr_gt0 y0 (mulr_gt0 (mulr_gt0 q0 p0) p0)).
by clear -w6 w7; linear.
Qed.

End Tight.
