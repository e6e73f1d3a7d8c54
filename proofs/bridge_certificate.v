(* Floors that userdp certifies, checked by computation: what the check accepts bounds the risk of every
   private mechanism.  The certificates are written down by tools/bridge.py. *)
From Coq Require Import NArith QArith Lia.
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear chain exponential rows certificate bridge.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Delimit Scope N_scope with num.
Delimit Scope Z_scope with coqZ.

(* begin bridge-certificate *)
(* A collection and its floor, then the certificate in whole numbers: the block of each of the first users;
   the group of each block; for each group, how many users one of its blocks has, and at which levels it can
   stand, in units of U / unit; for each dataset, the level of each block, and the weight of the dataset;
   for some numbers of users d, an upper bound on exp (d eps), in units of 2^-60; and for pairs of datasets,
   the loads at some means. *)
Record certificate_case := Certificate { floor_counts : seq BinNums.N; floor_U : Q; floor_eps : Q;
  claimed_floor : Q;
  floor_blocks : seq BinNums.N; floor_groups : seq BinNums.N; floor_sizes : seq BinNums.N;
  floor_unit : BinNums.N; floor_levels : seq (seq BinNums.N); floor_stands : seq (seq BinNums.N);
  floor_weights : seq BinNums.N; floor_factors : seq (BinNums.N * BinNums.N);
  floor_load_unit : BinNums.N;
  floor_loads : seq (BinNums.N * BinNums.N * seq (BinNums.N * BinNums.N)) }.
Definition certificate_claim (R : realFieldType) (c : certificate_case) : Prop :=
  forall exp : R -> R, is_exponential exp ->
  minimax_risk_at_least (users (counts := floor_counts c)) $(floor_U c) (exp $(floor_eps c)) $(claimed_floor c).
(* end bridge-certificate *)

(* Sums of whole numbers in lists. *)
Definition add_up (s : seq Z) : Z := foldr Z.add Z0 s.
Definition fixed : Z := (2 ^ 60)%coqZ.

Section Check.
Variable c : certificate_case.
Let counts := floor_counts c.
Let nG := size (floor_sizes c).
Let nV := foldr maxn 0%N [seq size s | s <- floor_levels c].
Let nB := size (floor_groups c).
Let nK := size (floor_stands c).
Let nU := size (floor_blocks c).

Definition in_group (b : nat) : nat := N.to_nat (nth 0%num (floor_groups c) b).
Definition in_block (l : nat) : nat := N.to_nat (nth (N.of_nat nB) (floor_blocks c) l).
Definition size_in (g : nat) : nat := N.to_nat (nth 0%num (floor_sizes c) g).
Definition level_of (g v : nat) : BinNums.N := nth 0%num (nth [::] (floor_levels c) g) v.
Definition level_in (d : seq BinNums.N) (b : nat) : nat := N.to_nat (nth 0%num d b).
Definition samples_of (b : nat) : BinNums.N :=
  foldr N.add 0%num [seq nth 0%num counts l | l <- iota 0 nU & in_block l == b].

(* How many blocks of each group stand at each level. *)
Definition table_of (d : seq BinNums.N) : seq (seq nat) :=
  [seq [seq seq.count (fun b => (in_group b == g) && (level_in d b == v)) (iota 0 nB) | v <- iota 0 nV.+1]
    | g <- iota 0 nG.+1].
Definition look (t : seq (seq nat)) (g v : nat) : nat := nth 0%N (nth [::] t g) v.
Definition blocks_of : seq nat := [seq seq.count (fun b => in_group b == g) (iota 0 nB) | g <- iota 0 nG.+1].
Definition apart_in (n : seq nat) (t t' : seq (seq nat)) : nat :=
  sumn [seq (size_in g * (nth 0 n g - sumn [seq minn (look t g v) (look t' g v) | v <- iota 0 nV.+1]))%N
    | g <- iota 0 nG.+1].
Definition mean_in (t : seq (seq nat)) : Z :=
  add_up [seq add_up [seq (Z.of_nat (look t g v) * Z.of_N (level_of g v))%coqZ | v <- iota 0 nV.+1]
    | g <- iota 0 nG.+1].
Definition factor_of (a : nat) : option BinNums.N :=
  if [seq f.2 | f <- floor_factors c & N.to_nat f.1 == a] is f :: _ then Some f else None.

(* with_factors: the loads with their factors. paid: the loads of dataset i, which add to its cost; owed:
   those of other datasets on i, times their factors, which reduce it. cost: the cost at one mean; least:
   the smallest one over the means. *)
Definition row := (BinNums.N * BinNums.N * seq (BinNums.N * BinNums.N))%type.
Definition with_factors (n : seq nat) (ts : seq (seq (seq nat))) : seq (row * option BinNums.N) :=
  [seq (r, factor_of (apart_in n (nth [::] ts (N.to_nat r.1.1)) (nth [::] ts (N.to_nat r.1.2))))
    | r <- floor_loads c].
Definition paid (rows : seq (row * option BinNums.N)) (i : nat) : seq (Z * Z) :=
  flatten [seq [seq (Z.of_N e.1, Z.of_N e.2 * fixed)%coqZ | e <- r.1.2] | r <- rows & N.eqb r.1.1.1 (N.of_nat i)].
Definition owed (rows : seq (row * option BinNums.N)) (i : nat) : seq (Z * Z) :=
  flatten [seq [seq (Z.of_N e.1, Z.of_N e.2 * Z.of_N (odflt 0%num r.2))%coqZ | e <- r.1.2]
    | r <- rows & N.eqb r.1.1.2 (N.of_nat i)].
Definition at_mean (es : seq (Z * Z)) (y : Z) : Z := add_up [seq e.2 | e <- es & Z.eqb e.1 y].
Definition cost (weight y y' : Z) (es es' : seq (Z * Z)) : Z :=
  (weight * Z.abs (y - y') * fixed + Z.of_N (floor_load_unit c) * (at_mean es y' - at_mean es' y'))%coqZ.
Definition least (weight y : Z) (es es' : seq (Z * Z)) (ys : seq Z) : Z :=
  foldr Z.min (cost weight y y es es') [seq cost weight y y' es es' | y' <- ys].

Definition distinct (s : seq Z) : seq Z := foldr (fun y s => if has (Z.eqb y) s then s else y :: s) [::] s.

Definition weight_of (i : nat) : Z := Z.of_N (nth 0%num (floor_weights c) i).
Definition all_weights : Z := add_up [seq weight_of i | i <- iota 0 nK].
Definition tables : seq (seq (seq nat)) := [seq table_of d | d <- floor_stands c].
Definition all_least : Z :=
  let ts := tables in let means := [seq mean_in t | t <- ts] in
  let rows := with_factors blocks_of ts in let ys := distinct means in
  add_up [seq least (weight_of i) (nth Z0 means i) (paid rows i) (owed rows i) ys | i <- iota 0 nK].

Definition blocks_ok : bool := all (fun b =>
  [&& (in_group b < nG.+1)%N, seq.count (fun l => in_block l == b) (iota 0 nU) == size_in (in_group b)
    & all (fun v => N.leb (level_of (in_group b) v) (floor_unit c * samples_of b)) (iota 0 nV.+1)]) (iota 0 nB).
Definition stands_ok : bool := all (fun d => all (fun b => (level_in d b < nV.+1)%N) (iota 0 nB)) (floor_stands c).
Definition rows_ok : bool := all (fun r => [&& (N.to_nat r.1.1.1 < nK)%N, (N.to_nat r.1.1.2 < nK)%N & r.2 != None])
  (with_factors blocks_of tables).
Definition factors_ok : bool := all (fun f =>
  let d := Zpos (Qden (floor_eps c)) in let x := (Z.of_N f.1 * Qnum (floor_eps c))%coqZ in
  Z.leb x (d * 2 ^ 100) && Z.leb (2 ^ 220 * fixed) (Z.of_N f.2 * low_exp 220 100 x d)) (floor_factors c).
Definition certificate_ok : bool :=
  [&& less 0 (floor_U c), less 0 (total counts), less 0 (floor_eps c), (nU <= size counts)%N
    & [&& N.ltb 0 (floor_unit c), Z.ltb 0 all_weights, blocks_ok, stands_ok
    & [&& rows_ok, factors_ok & Qeq_bool (claimed_floor c *
        (inject_Z all_weights * inject_Z (Z.of_N (floor_unit c)) * inject_Z fixed) * total counts)
      (floor_U c * inject_Z all_least)]]].
End Check.

(* Numbers in lists, as members of the field. *)
Section Lists.
Variable R : realFieldType.
Notation "! z" := (@of_Z R z) (at level 2, format "! z").

Lemma to_N (n : BinNums.N) : !(Z.of_N n) = (N.to_nat n)%:R.
Proof. by case: n => //= p; rewrite positive_N_nat. Qed.

Lemma fixed0 : 0 < !fixed. Proof. exact: of_pos. Qed.

Lemma to_abs (z : Z) : !(Z.abs z) = `|!z|.
Proof. by case: z => [|p|p] /=; rewrite ?normr0 ?normrN ?ger0_norm ?ler0n. Qed.

Lemma to_add_up (s : seq Z) : !(add_up s) = \sum_(z <- s) !z.
Proof. by elim: s => [|z s IH]; rewrite ?big_nil // big_cons -IH -of_ZD. Qed.
End Lists.

Local Opaque fixed.

Lemma count_ord n (P : nat -> bool) : #|[pred i : 'I_n | P i]| = seq.count P (iota 0 n).
Proof.
by rewrite -sum1_card -(big_mkord P (fun=> 1%N)) /index_iota subn0 sum1_count.
Qed.

Lemma sum_ord n (F : nat -> nat) : (\sum_(i < n) F i = sumn [seq F i | i <- iota 0 n])%N.
Proof. by rewrite sumnE big_map -(big_mkord xpredT F) /index_iota subn0. Qed.

Lemma sum_ord_in (R : realFieldType) n (F : nat -> R) : \sum_(i < n) F i = \sum_(i <- iota 0 n) F i.
Proof. by rewrite -(big_mkord xpredT F) /index_iota subn0. Qed.

Lemma in_field (R : realFieldType) (w d p l o a b : R) : o != 0 ->
  w * (p * d) + p * l * a - p * l / o * b = p / o * (w * d * o + l * (o * a - b)).
Proof. by move=> o0; field. Qed.

Lemma distinct_has z s : has (Z.eqb z) s -> has (Z.eqb z) (distinct s).
Proof.
elim: s => //= y s IH /orP [/Z.eqb_spec ->|/IH h]; last by case: ifP => //= _; rewrite h orbT.
by case: ifP => //= _; rewrite Z.eqb_refl.
Qed.

Lemma least_le c w y es es' ys z : has (Z.eqb z) ys -> Z.le (least c w y es es' ys) (cost c w y z es es').
Proof.
rewrite /least; elim: ys => //= y' ys IH /orP [/Z.eqb_spec ->|/IH h]; first exact: Z.le_min_l.
exact: Z.le_trans (Z.le_min_r _ _) h.
Qed.

Section Sound.
Variables (R : realFieldType) (c : certificate_case).
Let counts := floor_counts c.
Let nG := size (floor_sizes c).
Let nV := foldr maxn 0%N [seq size s | s <- floor_levels c].
Let nB := size (floor_groups c).
Let nK := size (floor_stands c).
Let nU := size (floor_blocks c).
Let n := blocks_of c.
Let ts := tables c.
Let rows := with_factors c n ts.
Let weight := weight_of c.
Let ys := distinct [seq mean_in c t | t <- ts].
Let unit : R := (N.to_nat (floor_unit c))%:R.
Let U : R := $(floor_U c).
Let m := users (counts := counts).
Let lu : R := (N.to_nat (floor_load_unit c))%:R.
Let one : R := of_Z R fixed.
Let pace : R := U / (unit * N R m).

Let group (b : 'I_nB) : 'I_nG.+1 := inord (in_group c b).
Let block (l : 'I_(size counts)) : option 'I_nB := insub (in_block c l).
Let level (g : 'I_nG.+1) (v : 'I_nV.+1) : R := U * (N.to_nat (level_of c g v))%:R / unit.
Let stands (d : 'I_nK) (b : 'I_nB) : 'I_nV.+1 := inord (level_in (nth [::] (floor_stands c) d) b).
Let table (d : nat) := nth [::] ts d.

Hypothesis groups_ok : forall b : 'I_nB, (in_group c b < nG.+1)%N.
Hypothesis stands_ok : forall (d : 'I_nK) (b : 'I_nB), (level_in (nth [::] (floor_stands c) d) b < nV.+1)%N.
Hypothesis users_ok : (nU <= size counts)%N.
Hypothesis U0 : 0 < U.
Hypothesis unit0 : 0 < unit.
Hypothesis N0 : 0 < N R m.

Let lookE (d : 'I_nK) (g : 'I_nG.+1) (v : 'I_nV.+1) : standing group (stands d) g v = look (table d) g v.
Proof.
have -> : standing group (stands d) g v
    = #|[pred b : 'I_nB | (in_group c b == g) && (level_in (nth [::] (floor_stands c) d) b == v)]|.
  by apply: eq_card => b; rewrite !inE -!val_eqE /= !inordK.
rewrite (count_ord nB (fun b => (in_group c b == g) && (level_in (nth [::] (floor_stands c) d) b == v))).
rewrite /table /ts (nth_map [::]) // /look /table_of.
by rewrite (nth_map 0%N) ?size_iota // (nth_map 0%N) ?size_iota // !nth_iota.
Qed.

Let meanE (d : 'I_nK) : mean_of m group level stands d = pace * of_Z R (mean_in c (table d)).
Proof.
rewrite /mean_of /mean_in to_add_up big_map.
rewrite -(sum_ord_in nG.+1 (fun g => of_Z R (add_up [seq (Z.of_nat (look (table d) g v) * Z.of_N (level_of c g v))%coqZ | v <- iota 0 nV.+1]))).
rewrite mulr_suml mulr_sumr; apply: eq_bigr => g _; rewrite to_add_up big_map.
rewrite -(sum_ord_in nV.+1 (fun v => of_Z R (Z.of_nat (look (table d) g v) * Z.of_N (level_of c g v))%coqZ)).
rewrite mulr_suml mulr_sumr; apply: eq_bigr => v _; rewrite of_ZM to_N to_nat lookE /level /pace.
by field; rewrite !gt_eqF.
Qed.

Let apartE (d e : 'I_nK) : apart group (size_in c) stands d e = apart_in c n (table d) (table e).
Proof.
rewrite /apart /apart_in -sum_ord; apply: eq_bigr => g _; congr (_ * (_ - _))%N.
  have -> : blocks group g = #|[pred b : 'I_nB | in_group c b == g]|.
    by apply: eq_card => b; rewrite !inE -val_eqE /= inordK.
  by rewrite (count_ord nB (fun b => in_group c b == g)) /n (nth_map 0%N) ?size_iota // nth_iota.
by rewrite -sum_ord; apply: eq_bigr => v _; rewrite !lookE.
Qed.

(* Only the first nU users have blocks. *)
Let in_blocks (F : nat -> nat) (b : 'I_nB) :
  (\sum_(l | block l == Some b) F l = sumn [seq F l | l <- iota 0 nU & in_block c l == b])%N.
Proof.
have e (l : 'I_(size counts)) : (block l == Some b) = (in_block c l == b).
  rewrite /block; case: insubP => [b' _ <-|]; first by [].
  move=> out; apply/esym/negbTE; apply: contra out => /eqP ->; exact: ltn_ord.
rewrite (eq_bigl _ _ e) -(big_mkord (fun l => in_block c l == b)) /index_iota subn0.
rewrite -(subnKC users_ok) iotaD big_cat /= [X in (_ + X)%N]big1_seq ?addn0.
  by rewrite sumnE big_map big_filter.
move=> l /andP [/eqP out]; rewrite mem_iota /= add0n => /andP [le _].
by move: out; rewrite /in_block nth_default // Nat2N.id => eb; have := ltn_ord b; rewrite -eb ltnn.
Qed.

Let samplesE (b : 'I_nB) : samples_in m block b = N.to_nat (samples_of c b).
Proof.
rewrite /samples_in (in_blocks (fun l => count counts l)) /samples_of; elim: [seq _ <- _ | _] => //= l s ->.
by rewrite N2Nat.inj_add.
Qed.

(* The loads as members of the field: `part` is what one row gives at a mean y, `load` the sum over the rows
   of two datasets. *)
Let part (r : row) (y : R) : R :=
  \sum_(e <- r.2) if pace * (N.to_nat e.1)%:R == y then pace * lu * (N.to_nat e.2)%:R else 0.
Let load (d e : 'I_nK) (y : R) : R :=
  \sum_(r <- floor_loads c | (N.to_nat r.1.1 == d) && (N.to_nat r.1.2 == e)) part r y.
Let factor (d e : nat) : option BinNums.N := factor_of c (apart_in c n (table d) (table e)).
Let Q (q : R) (d e : 'I_nK) : R :=
  if factor d e is Some f then (N.to_nat f)%:R / one else q ^+ apart group (size_in c) stands d e.

Hypothesis rows_ok : forall r, r \in floor_loads c ->
  [&& (N.to_nat r.1.1 < nK)%N, (N.to_nat r.1.2 < nK)%N & factor (N.to_nat r.1.1) (N.to_nat r.1.2) != None].

Let one0 : 0 < one. Proof. exact: fixed0. Qed.
Let pace0 : 0 < pace. Proof. by rewrite divr_gt0 ?mulr_gt0. Qed.

Let partE (r : row) (z : Z) : part r (pace * of_Z R z) =
  pace * lu * \sum_(e <- r.2 | Z.eqb (Z.of_N e.1) z) (N.to_nat e.2)%:R.
Proof.
rewrite mulr_sumr [RHS]big_mkcond; apply: eq_bigr => e _.
rewrite (inj_eq (mulfI (lt0r_neq0 pace0))) -to_N.
by case: eqP => [/of_Z_inj ->|ne]; [rewrite Z.eqb_refl | case: Z.eqb_spec => // h; rewrite h in ne].
Qed.

Let paidE (i : nat) (z : Z) : of_Z R (at_mean (paid rows i) z) =
  one * \sum_(r <- floor_loads c | N.to_nat r.1.1 == i) \sum_(e <- r.2 | Z.eqb (Z.of_N e.1) z) (N.to_nat e.2)%:R.
Proof.
rewrite /at_mean to_add_up big_map big_filter /paid big_flatten big_map big_filter /rows /with_factors big_map.
rewrite mulr_sumr; apply: eq_big => [r|r _].
  by apply/N.eqb_spec/eqP => [->|<-]; rewrite ?Nat2N.id ?N2Nat.id.
by rewrite big_map mulr_sumr; apply: eq_bigr => e _; rewrite of_ZM to_N mulrC.
Qed.

Let owedE (i : nat) (z : Z) : of_Z R (at_mean (owed rows i) z) =
  \sum_(r <- floor_loads c | N.to_nat r.1.2 == i) (N.to_nat (odflt 0%num (factor (N.to_nat r.1.1) (N.to_nat r.1.2))))%:R
    * \sum_(e <- r.2 | Z.eqb (Z.of_N e.1) z) (N.to_nat e.2)%:R.
Proof.
rewrite /at_mean to_add_up big_map big_filter /owed big_flatten big_map big_filter /rows /with_factors big_map.
apply: eq_big => [r|r _].
  by apply/N.eqb_spec/eqP => [->|<-]; rewrite ?Nat2N.id ?N2Nat.id.
by rewrite big_map mulr_sumr; apply: eq_bigr => e _; rewrite of_ZM !to_N mulrC.
Qed.

Let paid_all (d : 'I_nK) y : \sum_e load d e y = \sum_(r <- floor_loads c | N.to_nat r.1.1 == d) part r y.
Proof.
rewrite (exchange_big_dep (fun r => N.to_nat r.1.1 == d)) /=; last by move=> e r _ /andP [].
rewrite big_seq_cond [RHS]big_seq_cond; apply: eq_bigr => r /andP [/rows_ok /and3P [_ lt _] /eqP ->].
by rewrite (big_pred1 (Ordinal lt)) // => e; rewrite eqxx /= eq_sym.
Qed.

Let owed_all q (d : 'I_nK) y : \sum_e Q q e d * load e d y =
  \sum_(r <- floor_loads c | N.to_nat r.1.2 == d)
    (N.to_nat (odflt 0%num (factor (N.to_nat r.1.1) (N.to_nat r.1.2))))%:R / one * part r y.
Proof.
rewrite (eq_bigr (fun e : 'I_nK => \sum_(r <- floor_loads c | (N.to_nat r.1.1 == e) && (N.to_nat r.1.2 == d)) Q q e d * part r y)); last first.
  by move=> e _; rewrite mulr_sumr.
rewrite (exchange_big_dep (fun r => N.to_nat r.1.2 == d)) /=; last by move=> e r _ /andP [].
rewrite big_seq_cond [RHS]big_seq_cond; apply: eq_bigr => r /andP [/rows_ok /and3P [lt _ some] /eqP e].
rewrite (big_pred1 (Ordinal lt)) => [|e']; last by rewrite e eqxx andbT eq_sym.
by rewrite /Q /= -e; case: (factor _ _) some.
Qed.

Let own_cost (d : nat) := cost c (weight d) (mean_in c (table d)).
Let own_least (d : nat) := least c (weight d) (mean_in c (table d)) (paid rows d) (owed rows d) ys.

Let costE q (d : 'I_nK) (z : Z) (y := pace * of_Z R z) :
  of_Z R (weight d) * `|mean_of m group level stands d - y| + \sum_e load d e y - \sum_e Q q e d * load e d y
  = pace / one * of_Z R (own_cost d z (paid rows d) (owed rows d)).
Proof.
rewrite paid_all owed_all meanE /y -mulrBr normrM (gtr0_norm pace0).
rewrite (eq_bigr _ (fun r _ => partE r z)) -mulr_sumr.
rewrite [X in _ - X](eq_bigr (fun r : row => pace * lu / one * ((N.to_nat (odflt 0%num (factor (N.to_nat r.1.1) (N.to_nat r.1.2))))%:R
    * \sum_(e <- r.2 | Z.eqb (Z.of_N e.1) z) (N.to_nat e.2)%:R))) => [|r _]; last by rewrite partE; ring.
rewrite -mulr_sumr -owedE /own_cost /cost of_ZD [of_Z R (_ * fixed)%coqZ]of_ZM.
rewrite [of_Z R (weight d * _)%coqZ]of_ZM [of_Z R (Z.of_N _ * _)%coqZ]of_ZM toB paidE to_abs toB to_N -/one -/lu.
by apply: in_field; exact: lt0r_neq0.
Qed.

Let mean_known (d : 'I_nK) : has (Z.eqb (mean_in c (table d))) ys.
Proof.
have dK : (d < size ts)%N by rewrite size_map.
apply: distinct_has; apply/(has_nthP Z0); exists (val d); first by rewrite size_map.
by rewrite (nth_map [::]) // Z.eqb_refl.
Qed.

Hypothesis sizes_ok : forall b : 'I_nB, seq.count (fun l => in_block c l == b) (iota 0 nU) = size_in c (in_group c b).
Hypothesis levels_ok : forall (b : 'I_nB) (v : 'I_nV.+1),
  N.leb (level_of c (in_group c b) v) (floor_unit c * samples_of c b).
Hypothesis weights_ok : 0 < of_Z R (all_weights c).

Lemma floor_holds (q : R) : 1 < q ->
  (forall d f, factor_of c d = Some f -> q ^+ d <= (N.to_nat f)%:R / one) ->
  minimax_risk_at_least m U q
    (pace / one * of_Z R (all_least c) / of_Z R (all_weights c)).
Proof.
move=> q1 factors_ok; have -> : all_least c = add_up [seq own_least d | d <- iota 0 nK].
  congr add_up; apply/eq_in_map => d; rewrite mem_iota => dK.
  by rewrite /own_least (nth_map [::]) // size_map.
have -> : of_Z R (all_weights c) = \sum_(d < nK) of_Z R (weight d).
  by rewrite /all_weights to_add_up big_map -(sum_ord_in nK (fun d => of_Z R (weight d))).
rewrite to_add_up big_map -(sum_ord_in nK (fun d => of_Z R (own_least d))) mulr_sumr.
apply: (thm_certificate (group := group) (block := block) (k := size_in c) (level := level) (stands := stands)
  (load := load) (Q := Q q) (ltW U0) q1).
- move=> b; rewrite /group /= inordK // -sizes_ok -sum1_card.
  rewrite (in_blocks (fun=> 1%N)) -sum1_count sumnE big_map big_filter.
  by [].
- move=> b v; rewrite /level /group samplesE inordK //.
  rewrite divr_ge0 ?mulr_ge0 ?ler0n ?(ltW U0) ?(ltW unit0) //= ler_pdivr_mulr // -mulrA.
  apply: ler_wpmul2l; first exact: ltW.
  rewrite -natrM ler_nat; have /N.leb_le := levels_ok b v; rewrite mulnC => h.
  by apply/ssrnat.leP; rewrite -multE -N2Nat.inj_mul; lia.
- by move=> d; rewrite /weight to_N ler0n.
- move: weights_ok; rewrite /all_weights to_add_up big_map -(sum_ord_in nK (fun d => of_Z R (weight d))).
  by [].
- move=> d e e'; apply: sumr_ge0 => r _; apply: sumr_ge0 => x _; case: ifP => _ //.
  by apply: mulr_ge0; [apply: mulr_ge0; [exact: ltW | exact: ler0n] | exact: ler0n].
- move=> d e; rewrite /Q; case E: (factor d e) => [f|//]; rewrite apartE; exact: factors_ok.
move=> d e; have := costE q d (mean_in c (table e)).
rewrite -meanE => ->; apply: ler_wpmul2l; first by apply/ltW/divr_gt0.
by apply: of_Z_le; exact: least_le.
Qed.
End Sound.

Lemma in_field' (R : realFieldType) (s w u o n U l : R) : w != 0 -> u != 0 -> o != 0 -> n != 0 ->
  s * (w * u * o) * n = U * l -> s = U / (u * n) / o * l / w.
Proof.
move=> w0 u0 o0 n0 e; have -> : s = s * (w * u * o) * n / (w * u * o * n) by field; rewrite n0 w0 u0 o0.
by rewrite e; field; rewrite ?n0 ?w0 ?u0 ?o0.
Qed.

Lemma exp_times (R : realFieldType) (exp : R -> R) n x : is_exponential exp -> exp x ^+ n = exp (n%:R * x).
Proof.
move=> is_exp; elim: n => [|n IH]; first by rewrite mul0r (exp0 is_exp).
by rewrite exprS IH -(exp_split is_exp) mulrS mulrDl mul1r.
Qed.

Lemma factor_large (R : realFieldType) (exp : R -> R) (eps : Q) (a f : BinNums.N) (x := (Z.of_N a * Qnum eps)%coqZ) :
  is_exponential exp -> Z.le x (Zpos (Qden eps) * 2 ^ 100) ->
  Z.le (2 ^ 220 * fixed) (Z.of_N f * low_exp 220 100 x (Zpos (Qden eps))) ->
  exp $eps ^+ N.to_nat a <= (N.to_nat f)%:R / of_Z R fixed.
Proof.
move=> is_exp small; have [//|//||_ low] := @exp_low R exp is_exp 220%coqZ 100 x (Zpos (Qden eps)); first exact: small.
have u0 : Z.lt 0 (2 ^ 220) by [].
move: (2 ^ 220)%coqZ (low_exp _ _ _ _) u0 low => u l u0 low large.
have U0 : 0 < of_Z R u by move: u0; case: (u) => // p _; exact: of_pos.
rewrite ler_pdivr_mulr // in low; rewrite ler_pdivl_mulr ?fixed0 //.
have := of_Z_le R large; rewrite [in X in X -> _]of_ZM [of_Z R (Z.of_N f * _)%coqZ]of_ZM to_N => {}large.
rewrite exp_times // of_QE; have -> : (N.to_nat a)%:R * (of_Z R (Qnum eps) / of_Z R (Zpos (Qden eps))) = of_Z R x / of_Z R (Zpos (Qden eps)).
  by rewrite mulrA /x of_ZM to_N.
move: (of_Z R x / _) low => y low; have e0 := exp_gt0 is_exp (- y).
rewrite -(ler_pmul2r e0) mulrAC -(exp_split is_exp) subrr (exp0 is_exp) mul1r.
rewrite -(ler_pmul2l U0); apply: le_trans large _.
by rewrite mulrCA; apply: ler_wpmul2l; [exact: ler0n | rewrite mulrC].
Qed.

(* begin bridge-certificate-sound *)
Theorem certificate_sound R c : certificate_ok c -> certificate_claim R c.
(* end bridge-certificate-sound *)
Proof.
move=> ok exp is_exp; case/and5P: ok => /(to_lt R) U0 some_samples /(to_lt R) e0 users_ok.
case/and5P => unit_ok /(to_gt0 R) weights_ok /allP blocks_ok stands_ok /and3P [rows_ok factors_ok /(to_eq R) claim].
rewrite zero in U0 e0; have := @some_sample (floor_counts c) R some_samples.
rewrite -(ltr0n R) -/(N R _) => N0.
have unit0 : 0 < (N.to_nat (floor_unit c))%:R :> R.
  by rewrite ltr0n; move: unit_ok => /N.ltb_lt h; apply/ssrnat.ltP; lia.
have block_ok (b : 'I_(size (floor_groups c))) := blocks_ok b (ltac:(by rewrite mem_iota ltn_ord)).
have q1 : 1 < exp $(floor_eps c) by exact: exp_gt1.
have known d f : factor_of c d = Some f -> exp $(floor_eps c) ^+ d <= (N.to_nat f)%:R / of_Z R fixed.
  rewrite /factor_of; case E : [seq _ | _ <- _ & _] => [//|f' s] [<-] {f}.
  have : f' \in [seq f.2 | f <- floor_factors c & N.to_nat f.1 == d] by rewrite E mem_head.
  case/mapP => -[a f]; rewrite mem_filter /= => /andP [/eqP ad /(allP factors_ok) /= large] ->.
  by move: large => /andP [/Z.leb_le small /Z.leb_le large]; rewrite -ad; exact: factor_large.
have inject z : $(inject_Z z) = of_Z R z by rewrite of_QE /= divr1.
move: claim; rewrite !toM !inject to_total to_N => claim.
rewrite (in_field' _ _ _ _ claim) ?gt_eqF ?fixed0 //; apply: floor_holds => //.
- by move=> b; case/and3P: (block_ok b).
- move=> d b; have /allP := allP stands_ok _ (mem_nth [::] (ltn_ord d)); apply.
  by rewrite mem_iota ltn_ord.
- by move=> r rc; have := allP rows_ok _ (map_f _ rc).
- by move=> b; case/and3P: (block_ok b) => _ /eqP.
by move=> b v; case/and3P: (block_ok b) => _ _ /allP; apply; rewrite mem_iota ltn_ord.
Qed.
