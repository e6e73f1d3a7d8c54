(* A floor for any collection: multipliers of a linear program over finitely many datasets prove that no
   private mechanism has a risk below what they say. *)
From mathcomp Require Import all_ssreflect all_fingroup ssralg ssrnum ring.
From UserDP Require Import definitions linear chain lattice.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Finitely many laws.  Q c d bounds how much more probable an output is under c than under d, and the load
   c d is the multiplier of this bound; priced adds them up. *)
Section Prices.
Variables (R : realFieldType) (K : finType) (f weight mu : K -> R) (Q : K -> K -> R) (load : K -> K -> R -> R).

Lemma sum_le0 (I : finType) (F : I -> R) : (forall i, F i <= 0) -> \sum_i F i <= 0.
Proof. by move=> F0; rewrite -oppr_ge0 -sumrN sumr_ge0 // => i _; rewrite oppr_ge0. Qed.

Lemma priced H (P : K -> (R -> R) -> R) (r : R) : is_class H -> (forall c, is_mean H (P c)) ->
  (forall c d h, H h -> (forall y, 0 <= h y) -> P c h <= Q c d * P d h) ->
  (forall c, P c (fun y => `|f c - y|) <= r) ->
  (forall c, 0 <= weight c) -> (forall c d e, 0 <= load c d (f e)) ->
  (forall c e, mu c <= weight c * `|f c - f e| + \sum_d load c d (f e) - \sum_d Q d c * load d c (f e)) ->
  \sum_c mu c <= r * \sum_c weight c.
Proof.
move=> cH mP priv risk w0 load0 least.
have [c0 _|none] := pickP (@predT K); last first.
  by rewrite !big_pred0 ?mulr0 // => c; have := none c.
have [n [t [grows t_f at_node]]] := nodes f c0.
pose p c (k : 'I_n.+1) := P c (hat t n k).
have out c := spread grows cH (mP c).
have p0 c k : 0 <= p c k by have [_ h _ _] := out c; exact: h.
pose over c (k : 'I_n.+1) : R := \sum_d (p c k * load c d (t k) - Q d c * p c k * load d c (t k)).
have cost c : mu c <= weight c * r + \sum_k over c k.
  have [j jn tj] := at_node c; have [_ _ one near] := out c.
  have -> : mu c = \sum_k p c k * mu c by rewrite -mulr_suml one mul1r.
  apply: (@le_trans _ _ (\sum_(k < n.+1) (weight c * (`|t j - t k| * p c k) + over c k))).
    apply: ler_sum => k _; have [e te] := t_f k (ltn_ord k).
    have -> : weight c * (`|t j - t k| * p c k) + over c k
      = p c k * (weight c * `|f c - f e| + \sum_d load c d (f e) - \sum_d Q d c * load d c (f e)).
      have -> : over c k = p c k * (\sum_d load c d (f e)) - p c k * (\sum_d Q d c * load d c (f e)).
        rewrite /over sumrB te !mulr_sumr; congr (_ - _); apply: eq_bigr => d _; ring.
      by rewrite tj te; move: (\sum_d _) (\sum_d _) (`|_|) => a b x; ring.
    exact: ler_wpmul2l.
  rewrite big_split -mulr_sumr /=; apply: ler_add => //; apply: ler_wpmul2l => //.
  by apply: le_trans (near j jn) _; rewrite tj.
have limits : \sum_c \sum_k over c k <= 0.
  rewrite exchange_big; apply: sum_le0 => k /=; rewrite /over.
  rewrite (eq_bigr _ (fun c _ => sumrB _ _ _ _)) sumrB [X in _ - X]exchange_big -sumrB.
  apply: sum_le0 => c; rewrite -sumrB; apply: sum_le0 => d; rewrite -mulrBl.
  have [e te] := t_f k (ltn_ord k); rewrite te; apply: mulr_le0_ge0 => //; rewrite subr_le0.
  by apply: priv => [|y]; [have [h _ _ _] := out c | exact: hat_ge0].
apply: le_trans (ler_sum _ (fun c _ => cost c)) _; rewrite big_split /= -mulr_suml mulrC.
by rewrite ger_addl.
Qed.
End Prices.

(* Blocks in groups, each block at a level, in two arrangements a and a'. *)
Section Matching.
Variables (G V B : finType) (group : B -> G).

(* begin def-blocks *)
(* How many blocks of group g stand at level v, if block b stands at level a b. *)
Definition standing (a : B -> V) (g : G) (v : V) : nat := #|[pred b | (group b == g) && (a b == v)]|.
(* end def-blocks *)

Definition renames (s : {perm B}) : bool := [forall b, group (s b) == group b].

Variables a a' : B -> V.
Definition agreeing (s : {perm B}) (g : G) (v : V) : nat :=
  #|[pred b | [&& group b == g, a b == v & a' (s b) == v]]|.

(* The blocks of each group may be renamed so that at each level as many blocks agree as possible. *)
Lemma matching : exists2 s, renames s & forall g v, (minn (standing a g v) (standing a' g v) <= agreeing s g v)%N.
Proof.
(* Take a renaming by which the most blocks agree.  If at some level one more could, exchange two names. *)
have k1 : renames 1 by apply/forallP => b; rewrite perm1.
case: (arg_maxnP (fun s : {perm B} => #|[pred b | a b == a' (s b)]|) k1) => s ks most.
exists s => // g v; rewrite leqNgt; apply/negP; rewrite leq_min => /andP [few few'].
have [b /and3P [/eqP gb /eqP ab nb]] : exists b, [&& group b == g, a b == v & a' (s b) != v].
  apply/existsP; apply: contraLR few => /existsPn none; rewrite -leqNgt subset_leq_card //.
  by apply/subsetP => b; have := none b; rewrite !inE; case: (group b == g); case: (a b == v); rewrite //= negbK.
have [b' /and3P [/eqP gb' nb' /eqP ab']] : exists b, [&& group b == g, a b != v & a' (s b) == v].
  apply/existsP; apply: contraLR few' => /existsPn none; rewrite -leqNgt /standing.
  have -> : #|[pred b | (group b == g) && (a' b == v)]| = #|[pred b | (group b == g) && (a' (s b) == v)]|.
    rewrite -!sum1_card (reindex_inj (@perm_inj _ s)); apply: eq_bigl => x; rewrite !inE.
    by rewrite (eqP (forallP ks x)).
  apply: subset_leq_card; apply/subsetP => x; have := none x; rewrite !inE.
  by case: (group x == g); case: (a x == v); case: (a' (s x) == v).
have ks' : renames (tperm b b' * s)%g.
  apply/forallP => x; rewrite permM (eqP (forallP ks _)).
  by case: tpermP => [->|->|]; rewrite ?gb ?gb'.
have := most _ ks'; rewrite /= leqNgt => /negP; apply; apply: proper_card; apply/properP; split; last first.
  by exists b; rewrite !inE ?permM ?tpermL ab ?ab' // eq_sym.
apply/subsetP => x; rewrite !inE permM; case: tpermP => [->|->|//]; first by rewrite ab eq_sym (negbTE nb).
by rewrite ab' (negbTE nb').
Qed.
End Matching.

(* The mixture of finitely many laws with equal weights. *)
Lemma mixture (R : realFieldType) (H : (R -> R) -> Prop) (I : finType) (A : pred I) (E : I -> (R -> R) -> R) :
  (0 < #|A|)%N -> (forall i, A i -> is_mean H (E i)) ->
  is_mean H (fun h => (\sum_(i | A i) E i h) / #|A|%:R).
Proof.
move=> A0 mE; have n0 : 0 < #|A|%:R :> R by rewrite ltr0n.
have inv0 : 0 <= #|A|%:R^-1 :> R by rewrite invr_ge0 ler0n.
split=> [|z h h' Hh Hh'|h h' Hh Hh' hh].
- rewrite (eq_bigr (fun=> 1)) => [|i /mE [] //].
  by rewrite sumr_const divff // gt_eqF.
- rewrite (eq_bigr (fun i => z * E i h + E i h')) => [|i /mE [_ lin _]]; last exact: lin.
  by rewrite big_split -mulr_sumr /= mulrDl mulrA.
by apply: ler_wpmul2r => //; apply: ler_sum => i /mE [_ _ mono]; exact: mono.
Qed.

Section Certificate.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U q : R).
Notation N := (N R m).

Hypothesis U0 : 0 <= U.
Hypothesis q1 : 1 < q.

(* begin def-certificate *)
(* Users are in blocks, or in none: user l in the block b if block l = Some b.  Block b belongs to the group
   `group b`, whose blocks have k (group b) users each, and can stand at levels v, at which the samples of
   the block, all the same number, add up to level (group b) v.  In dataset c, block b stands at the level
   stands c b.  `standing` counts them. *)
Variables (G V B K : finType) (group : B -> G) (block : 'I_L -> option B) (k : G -> nat).
Variables (level : G -> V -> R) (stands : K -> B -> V).
Definition blocks (g : G) : nat := #|[pred b | group b == g]|.
Definition samples_in (b : B) : nat := \sum_(l | block l == Some b) m l.
Definition mean_of (c : K) : R := (\sum_g \sum_v (standing group (stands c) g v)%:R * level g v) / N.
(* How many users tell c and d apart, if the blocks of a group may be renamed: equation (eq-apart). *)
Definition apart (c d : K) : nat :=
  \sum_g k g * (blocks g - \sum_v minn (standing group (stands c) g v) (standing group (stands d) g v)).
(* end def-certificate *)

(* A dataset in which all samples of user l are F l; and how the blocks stand, renamed. *)
Let flat (F : {ffun 'I_L -> R}) : dataset R m := fun l _ => F l.
Let placed (a : B -> V) (s : {perm B}) : {ffun 'I_L -> R} := [ffun l =>
  if block l is Some b then level (group b) (a (s b)) / (samples_in b)%:R else 0].

Definition fits : Prop := (forall b, #|[pred l | block l == Some b]| = k (group b))
  /\ forall b v, 0 <= level (group b) v <= U * (samples_in b)%:R.

Lemma placed_range a s : fits -> renames group s -> in_range U (flat (placed a s)).
Proof.
move=> [_ reached] ks l j; rewrite /flat ffunE; case: (block l) => [b|]; last by rewrite lexx.
have /andP [low high] := reached b (a (s b)).
rewrite divr_ge0 ?ler0n //=; case: (posnP (samples_in b)) => [->|n0]; first by rewrite invr0 mulr0.
by rewrite ler_pdivr_mulr ?ltr0n.
Qed.

Lemma placed_mean a s : fits -> renames group s ->
  mean (flat (placed a s)) = (\sum_g \sum_v (standing group a g v)%:R * level g v) / N.
Proof.
move=> [_ reached] ks; congr (_ / _).
transitivity (\sum_b level (group (s b)) (a (s b))).
  rewrite (eq_bigr (fun l => \sum_(b | block l == Some b) (m l)%:R * (level (group b) (a (s b)) / (samples_in b)%:R))).
    rewrite (exchange_big_dep xpredT) //=; apply: eq_bigr => b _.
    rewrite -mulr_suml -natr_sum -/(samples_in b) (eqP (forallP ks b)).
    case: (posnP (samples_in b)) => [e|n0]; last by rewrite mulrC divfK // pnatr_eq0 -lt0n.
    by have := reached b (a (s b)); rewrite e mulr0 mul0r => /le_anti.
  move=> l _; rewrite /flat ffunE sumr_const card_ord -[LHS]mulr_natl; case: (block l) => [b|].
    by rewrite (eq_bigl (pred1 b)) ?big_pred1_eq // => b'; rewrite eq_sym.
  by rewrite mulr0 big_pred0.
rewrite -(reindex_inj (@perm_inj _ s) (P := xpredT) (F := fun b => level (group b) (a b))).
rewrite (partition_big group xpredT) //=; apply: eq_bigr => g _.
rewrite (partition_big a xpredT) //=; apply: eq_bigr => v _.
rewrite (eq_bigr (fun=> level g v)) => [|b /andP [/eqP -> /eqP -> //]].
by rewrite sumr_const mulr_natl.
Qed.

Lemma one_by_one H (E : dataset R m -> (R -> R) -> R) F F' (users : seq 'I_L) h :
  is_private U H q E -> in_range U (flat F) -> in_range U (flat F') -> H h -> (forall y, 0 <= h y) ->
  (forall l, l \notin users -> F l = F' l) -> E (flat F) h <= q ^+ size users * E (flat F') h.
Proof.
move=> priv Fr Fr' Hh h0; elim: users F Fr => [|l users IH] F Fr same.
  by have -> : F = F'; [apply/ffunP => l; exact: same | rewrite mul1r].
pose F1 := [ffun l' => if l' == l then F' l' else F l'].
have F1r : in_range U (flat F1) by move=> l' j; rewrite /flat ffunE; case: ifP => _; [exact: Fr' | exact: Fr].
apply: le_trans (priv _ _ Fr F1r _ h Hh h0) _; first by exists l => l' ne j; rewrite /flat ffunE (negbTE ne).
rewrite exprS -mulrA; apply: ler_wpmul2l; first exact/ltW/(lt_trans ltr01).
apply: IH => // l' out; rewrite ffunE; case: eqP => [-> //|/eqP ne].
by apply: same; rewrite in_cons (negbTE ne).
Qed.

(* The users whose blocks stand at other levels, if the blocks of one group agree as far as they can. *)
Lemma users_apart c d s s' : fits -> renames group s ->
  (forall g v, (minn (standing group (stands c) g v) (standing group (stands d) g v)
                <= agreeing group (stands c) (stands d) s' g v)%N) ->
  (#|[pred l | if block l is Some b then stands c (s b) != stands d (s' (s b)) else false]| <= apart c d)%N.
Proof.
move=> [sizes _] ks agree; rewrite -sum1_card.
apply: (@leq_trans (\sum_b k (group b) * (stands c b != stands d (s' b)))); last first.
  rewrite (partition_big group xpredT) //= /apart; apply: leq_sum => g _.
  rewrite (eq_bigr (fun b => k g * (stands c b != stands d (s' b)))%N) => [|b /eqP -> //].
  rewrite -big_distrr /= leq_mul2l; apply/orP; right; rewrite leq_subRL; last first.
    rewrite /blocks -sum1_card (partition_big (stands c) xpredT) //=; apply: leq_sum => v _.
    by apply: leq_trans (geq_minl _ _) _; rewrite /standing -sum1_card.
  rewrite /blocks -sum1_card.
  apply: (@leq_trans (\sum_(b | group b == g) ((stands c b == stands d (s' b)) + (stands c b != stands d (s' b))))%N).
    rewrite big_split leq_add2r /= (partition_big (stands c) xpredT) //=; apply: leq_sum => v _.
    apply: leq_trans (agree g v) _; rewrite /agreeing -sum1_card big_mkcond [X in (_ <= X)%N]big_mkcond /=.
    apply: leq_sum => b _; rewrite !inE; case: (group b == g) => //=.
    by case: eqP => //= ->; rewrite eq_sym; case: eqP.
  by apply: leq_sum => b _; case: (stands c b == _).
rewrite (reindex_inj (@perm_inj _ s)) /= big_mkcond /=.
rewrite (eq_bigr (fun l => \sum_(b | block l == Some b) (stands c (s b) != stands d (s' (s b))))%N); last first.
  move=> l _; rewrite inE; case: (block l) => [b|]; last by rewrite big_pred0.
  by rewrite (eq_bigl (pred1 b)) ?big_pred1_eq // => b'; rewrite eq_sym.
rewrite (exchange_big_dep xpredT) //=; apply: leq_sum => b _.
by rewrite sum_nat_const (eqP (forallP ks b)) -sizes.
Qed.

(* begin thm-certificate *)
(* For all weights, loads at the means of the datasets, and factors Q: if mu c is at most the cost of
   dataset c at every mean, no private mechanism has a risk below (sum of mu) / (sum of the weights). *)
Theorem thm_certificate (weight mu : K -> R) (load : K -> K -> R -> R) (Q : K -> K -> R) :
  (forall b, #|[pred l | block l == Some b]| = k (group b)) ->
  (forall b v, 0 <= level (group b) v <= U * (samples_in b)%:R) ->
  (forall c, 0 <= weight c) -> 0 < \sum_c weight c -> (forall c d e, 0 <= load c d (mean_of e)) ->
  (forall c d, q ^+ apart c d <= Q c d) ->
  (forall c e, mu c <= weight c * `|mean_of c - mean_of e|
     + \sum_d load c d (mean_of e) - \sum_d Q d c * load d c (mean_of e)) ->
  minimax_risk_at_least m U q ((\sum_c mu c) / \sum_c weight c).
(* end thm-certificate *)
Proof.
(* Rename the blocks of each group at random, all orders alike: then the law for c is at most the factor of
   the users that tell c and d apart times the law for d, and `priced` adds up. *)
move=> sizes reached w0 W0 load0 Qq least H E r [sH Habs] mE priv risk; have ok : fits by split.
pose P c h := (\sum_(s | renames group s) E (flat (placed (stands c) s)) h) / #|renames group|%:R.
have some : (0 < #|renames group|)%N by apply/card_gt0P; exists 1%g; apply/forallP => b; rewrite perm1.
have mD c s : renames group s -> is_mean H (E (flat (placed (stands c) s))).
  by move=> ks; apply: mE; exact: placed_range.
rewrite ler_pdivr_mulr //; apply: (priced (H := H) (P := P) (f := mean_of) (Q := Q) (load := load)) => //.
- by move=> c; apply: mixture => // s; exact: mD.
- move=> c d h Hh h0; have [s' ks' agree] := matching group (stands c) (stands d).
  rewrite /P mulrA; apply: ler_wpmul2r; first by rewrite invr_ge0 ler0n.
  rewrite [X in _ <= _ * X](reindex_inj (mulIg s')) mulr_sumr /= [leRHS](eq_bigl (renames group)) => [|s].
    apply: ler_sum => s ks.
    have ks2 : renames group (s * s')%g by apply/forallP => b; rewrite permM (eqP (forallP ks' _)) (forallP ks).
    pose others := [pred l | if block l is Some b then stands c (s b) != stands d (s' (s b)) else false].
    apply: le_trans (one_by_one (users := enum others) priv _ (placed_range _ ok ks2) Hh h0 _) _.
    + exact: placed_range.
    + move=> l; rewrite mem_enum inE !ffunE; case: (block l) => [b|//]; rewrite permM.
      by rewrite negbK => /eqP ->.
    apply: ler_wpmul2r; first by apply: (mean_ge0 sH (mD _ _ ks2)).
    apply: le_trans (Qq c d); apply: ler_weexpn2l; first exact: ltW.
    by rewrite -cardE; exact: users_apart.
  apply/forallP/forallP => [ks b|ks b]; last by rewrite permM (eqP (forallP ks' _)).
  by have := ks b; rewrite permM (eqP (forallP ks' _)).
move=> c; rewrite /P ler_pdivr_mulr ?ltr0n // mulr_natr -sumr_const; apply: ler_sum => s ks.
by have := risk _ (placed_range (stands c) ok ks); rewrite placed_mean.
Qed.
End Certificate.
