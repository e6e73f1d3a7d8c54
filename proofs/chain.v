(* A chain of datasets gives a lower bound on the risk of every private mechanism, for every statistic, and
   for the mean. *)
(* Here are defined: mechanisms by their means (is_space, is_class, is_mean), is_private, risk_at_most and
   minimax_risk_at_least for the mean, is_private_between and minimax_risk_between_at_least for every
   statistic. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts frontier modulus.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Mechanism.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).

(* begin mechanism *)
(* A mechanism draws an output Y in T for each dataset x.  Only means are used: E x h is the mean of h Y.
   They need be known only for functions h in a set H (it does not depend on how a function is written) that
   is closed under sums and multiples, and has the constants; where Y is a number, also the distances from
   points.  Means are linear and monotone, and that of 1 is 1.  So any law is covered, discrete or not; if Y
   is a number, any with a finite mean distance. *)
Definition is_space (T : Type) (H : (T -> R) -> Prop) : Prop :=
  [/\ forall h h', H h -> (forall y, h y = h' y) -> H h', H (fun=> 1)
    & forall s h h', H h -> H h' -> H (fun y => s * h y + h' y)].
Definition is_class (H : (R -> R) -> Prop) : Prop := is_space H /\ forall a, H (fun y => `|a - y|).
Definition is_mean (T : Type) (H : (T -> R) -> Prop) (E : (T -> R) -> R) : Prop :=
  [/\ E (fun=> 1) = 1, forall s h h', H h -> H h' -> E (fun y => s * h y + h' y) = s * E h + E h'
    & forall h h', H h -> H h' -> (forall y, h y <= h' y) -> E h <= E h'].
(* q stands for exp eps.  An event is a function h with the values 0 and 1. *)
Definition is_private (T : Type) (H : (T -> R) -> Prop) (q : R)
    (E : dataset R m -> (T -> R) -> R) : Prop :=
  forall x x', in_range U x -> in_range U x' -> neighbours x x' ->
  forall h, H h -> (forall y, 0 <= h y) -> E x h <= q * E x' h.
Definition risk_at_most (E : dataset R m -> (R -> R) -> R) (r : R) : Prop :=
  forall x, in_range U x -> E x (fun y => `|mean x - y|) <= r.
(* No private mechanism has a risk below b. *)
Definition minimax_risk_at_least (q b : R) : Prop :=
  forall H E r, is_class H -> (forall x, in_range U x -> is_mean H (E x)) -> is_private H q E ->
  risk_at_most E r -> b <= r.
(* cosh (log q) and sinh (log q), so cosh eps and sinh eps for q = exp eps. *)
Definition cosh_log (q : R) : R := (q + q^-1) / 2.
Definition sinh_log (q : R) : R := (q - q^-1) / 2.
(* end mechanism *)

(* The function 0 has the mean 0, so means of nonnegative functions are nonnegative. *)
Lemma space_scale (T : Type) (H : (T -> R) -> Prop) a h : is_space H -> H h -> H (fun y => a * h y).
Proof.
case=> ext H1 lin Hh; apply: (ext (fun y => a * h y + (-1 * 1 + 1))); last by move=> y; linear.
by apply: (lin) => //; exact: lin.
Qed.

Lemma mean_scale (T : Type) (H : (T -> R) -> Prop) E a h : is_space H -> is_mean H E -> H h ->
  E (fun y => a * h y) = a * E h.
Proof.
move=> sH [E1 lin mono] Hh; have [ext H1 clin] := sH; have Ha := space_scale a sH Hh.
have H0 : H (fun=> -1 * 1 + 1) by exact: clin.
have E0 : E (fun=> -1 * 1 + 1) = 0 by rewrite lin // E1; linear.
rewrite -[RHS]addr0 -E0 -lin //; have Hc := clin a _ _ Hh H0.
by apply: le_anti; apply/andP; split; apply: mono => // y; linear.
Qed.

Lemma mean_ge0 (T : Type) (H : (T -> R) -> Prop) E h : is_space H -> is_mean H E -> H h ->
  (forall y, 0 <= h y) -> 0 <= E h.
Proof.
move=> sH mE Hh h0; have [_ _ mono] := mE; rewrite -(mul0r (E h)) -(mean_scale _ sH mE Hh).
by apply: mono => // [|y]; [exact: space_scale | rewrite mul0r].
Qed.

Lemma mean_sum (T : Type) (H : (T -> R) -> Prop) E n (a : 'I_n -> R) (h : 'I_n -> T -> R) :
  is_space H -> is_mean H E -> (forall k, H (h k)) ->
  H (fun y => \sum_k a k * h k y) /\ E (fun y => \sum_k a k * h k y) = \sum_k a k * E (h k).
Proof.
move=> sH mE Hh; have [ext H1 clin] := sH; have [_ lin mono] := mE.
have eq f g : H f -> (forall y, f y = g y) -> H g /\ E g = E f.
  move=> Hf e; have Hg := ext _ _ Hf e; split=> //.
  by apply: le_anti; rewrite !mono // => y; rewrite e.
elim: n a h Hh => [|n IH] a h Hh.
  have [|H0 e] := eq _ (fun y => \sum_(k < 0) a k * h k y) (space_scale 0 sH H1).
    by move=> y; rewrite big_ord0 mul0r.
  by split=> //; rewrite e (mean_scale 0 sH mE H1) big_ord0 mul0r.
have [Hr Er] := IH (fun k => a (lift ord0 k)) (fun k => h (lift ord0 k)) (fun k => Hh _).
have [|Hs e] := eq _ (fun y => \sum_k a k * h k y) (clin (a ord0) _ _ (Hh ord0) Hr).
  by move=> y; rewrite big_ord_recl.
by split=> //; rewrite e lin // Er big_ord_recl.
Qed.

(* Sums of two distances and a number. *)
Lemma class_distances (H : (R -> R) -> Prop) (s t a b c : R) : is_class H ->
  H (fun y => a * `|s - y| + (b * `|t - y| + c)) /\
  forall E, is_mean H E -> E (fun y => a * `|s - y| + (b * `|t - y| + c))
    = a * E (fun y => `|s - y|) + (b * E (fun y => `|t - y|) + c).
Proof.
move=> [[ext H1 lin] dist]; have Hc : H (fun=> c).
  by apply: ext (lin (c - 1) _ _ H1 H1) _ => y; linear.
have Ht := lin b _ _ (dist t) Hc; split=> [|E [E1 Elin mono]]; first exact: lin.
rewrite !Elin //; congr (_ + (_ + _)); transitivity (E (fun=> (c - 1) * 1 + 1)).
  by apply: le_anti; apply/andP; split; apply: mono => //; try exact: lin; move=> y; linear.
by rewrite Elin // E1; linear.
Qed.

Lemma minimax_ge0 q : 0 <= U -> minimax_risk_at_least q 0.
Proof.
move=> U0 H E r [sH Habs] mE _ risk; have xr : @in_range R L m U (fun _ _ => 0).
  by move=> l j; apply/andP; split; [exact: lexx | exact: U0].
by apply: le_trans (risk _ xr); apply: (mean_ge0 sH (mE _ xr)).
Qed.

(* A lower bound at a larger budget is one at a smaller budget, too. *)
Lemma more_private q Q b : q <= Q -> minimax_risk_at_least Q b -> minimax_risk_at_least q b.
Proof.
move=> qQ bound H E r cH mE priv; apply: (bound H E r cH mE) => x x' xr xr' xx h Hh h0.
apply: le_trans (priv x x' xr xr' xx h Hh h0) _; apply: ler_wpmul2r => //.
by case: cH => sH _; apply: (mean_ge0 sH (mE _ xr')).
Qed.

(* If e <= F r for every r that is at least all lower bounds, e / F is a lower bound. *)
Lemma within_factor q e F : 0 < F ->
  (forall r, (forall b, minimax_risk_at_least q b -> b <= r) -> e <= F * r) ->
  minimax_risk_at_least q (e / F).
Proof.
move=> F0 h H E r cH mE priv risk; rewrite ler_pdivr_mulr // mulrC; apply: h => b bound.
exact: bound cH mE priv risk.
Qed.
End Mechanism.


(* Sequences that fall by at most the factor q from one place to the next. *)
Section Numbers.
Variables (R : realFieldType) (q : R).
Hypothesis q1 : 1 < q.

Let end_weight : R := q / (q - 1).
Let c : R := q / (q ^+ 2 - 1).

Lemma q_pos : 0 < q. Proof. exact: lt_trans ltr01 q1. Qed.
Lemma q_inv_lt1 : q^-1 < 1. Proof. by rewrite invf_lt1 ?q_pos. Qed.
Lemma q_gap : 0 < q - 1. Proof. by rewrite subr_gt0. Qed.
Lemma q2_gap : 0 < q ^+ 2 - 1.
Proof. by rewrite subr_gt0 exprn_egt1. Qed.

Lemma weight_by_parts : end_weight = c * (1 + q).
Proof.
have g := q_gap; have p := q_pos; have p1 : 0 < 1 + q by linear.
rewrite /end_weight /c (_ : q ^+ 2 - 1 = (q - 1) * (1 + q)); last by ring.
by rewrite invfM mulrA mulrVK ?unitfE ?gt_eqF.
Qed.

(* The sum of all places up to i, the first one weighted more; and from i on, the last one. *)
Lemma falls_or_grows (x y : R) : x <= q * y -> end_weight * x <= x + end_weight * y.
Proof.
move=> xy; have g := q_gap.
have : 0 <= (q * y - x) / (q - 1) by rewrite divr_ge0 ?subr_ge0 // ltW.
suff -> : (q * y - x) / (q - 1) = x + end_weight * y - end_weight * x by rewrite subr_ge0.
by rewrite /end_weight; field; rewrite gt_eqF.
Qed.

Lemma up_to (w : nat -> R) i :
  (forall j, (j < i)%N -> w j.+1 <= q * w j) ->
  end_weight * w i <= \sum_(0 <= j < i.+1) (if j == 0%N then end_weight else 1) * w j.
Proof.
elim: i => [|i IH] step; first by rewrite big_nat1 eqxx.
rewrite big_nat_recr //= mul1r; have := IH (fun j ji => step j (ltnW ji)).
by have := falls_or_grows (step i (ltnSn i)) => h1 h2; linear.
Qed.

Lemma down_from (w : nat -> R) d i :
  (forall j, (i <= j < i + d)%N -> w j <= q * w j.+1) ->
  end_weight * w i <= \sum_(i <= j < (i + d).+1) (if j == (i + d)%N then end_weight else 1) * w j.
Proof.
elim: d i => [|d IH] i step; first by rewrite addn0 big_nat1 eqxx.
rewrite big_ltn ?ltnS ?leq_addr // ifF ?mul1r; last by rewrite ltn_eqF // -addSnnS leq_addr.
have := IH i.+1; rewrite addSnnS => /(_ _) h.
have {}h := h (fun j ji => step j (ltac:(by case/andP: ji => h1 h2; rewrite (ltnW h1)))).
have := falls_or_grows (step i (ltac:(by rewrite leqnn -addSnnS leq_addr))) => h1.
by linear.
Qed.

Variable n : nat.
Definition prior (j : nat) : R := if (j == 0%N) || (j == n) then end_weight else 1.

Lemma prior_total : (0 < n)%N -> \sum_(0 <= j < n.+1) prior j = n%:R - 1 + 2 * end_weight.
Proof.
move=> n0; have [k nk] : exists k, n = k.+1 by exists n.-1; rewrite prednK.
have ends : prior 0 = end_weight /\ prior k.+1 = end_weight by rewrite /prior nk !eqxx orbT.
rewrite nk big_nat_recr // big_nat_recl //= (proj1 ends) (proj2 ends).
rewrite (@eq_big_nat _ _ _ _ _ _ (fun=> 1)) => [|j /andP [_ jk]]; last first.
  by rewrite /prior nk /= eqSS ltn_eqF.
rewrite big_const_nat subn0 iter_addr_0 -addn1 natrD.
by rewrite -[1 *+ k]/(k%:R); linear.
Qed.

(* w j is the mass on one side of a level, of mm in all; the wrong side at place j has the mass w j if s j,
   else mm - w j.  If the wrong sides of the two ends differ, the prior gives the wrong sides at least the
   mass 2 c mm. *)
Lemma one_level (w : nat -> R) (s : nat -> bool) (mm : R) : (0 < n)%N -> 0 <= mm ->
  (forall j, (j < n)%N -> w j <= q * w j.+1 /\ w j.+1 <= q * w j) ->
  (forall j, (j < n)%N -> mm - w j <= q * (mm - w j.+1) /\ mm - w j.+1 <= q * (mm - w j)) ->
  s 0%N = true -> s n = false ->
  2 * c * mm <= \sum_(0 <= j < n.+1) prior j * (if s j then w j else mm - w j).
Proof.
(* mu, the smaller of w and mm - w, falls by at most the factor q.  So it is enough to find two places in
   the middle where it is large, or one end whose wrong side is more than half. *)
move=> n0 m0 w1 w2 s0 sn; have p := q_pos; have g2 := q2_gap; have g := q_gap.
pose mu j := Num.min (w j) (mm - w j); pose e j := if s j then w j else mm - w j.
have mu_e j : mu j <= e j by rewrite /mu /e; case: (s j); minmax; linear.
have fall j : (j < n)%N -> mu j <= q * mu j.+1 /\ mu j.+1 <= q * mu j.
  move=> jn; have [] := w1 j jn; have [] := w2 j jn; rewrite /mu !minr_pmulr ?(ltW p) //.
  by move: (q * w j) (q * w j.+1) (q * (mm - w j)) (q * (mm - w j.+1)) => *; split; minmax; linear.
have prior0 j : 0 <= prior j.
  by rewrite /prior; case: ifP => _; rewrite ?ler01 // divr_ge0 ?ltW.
have before i : (i < n)%N -> end_weight * mu i <= \sum_(0 <= j < i.+1) prior j * e j.
  move=> iN; apply: le_trans (up_to (fun j ji => (fall j (ltn_trans ji iN)).2)) _.
  rewrite !big_nat; apply: ler_sum => j /andP [_ ji].
  rewrite (_ : (if _ then _ else _) = prior j); first exact: ler_wpmul2l.
  by rewrite /prior [j == n]ltn_eqF ?orbF //; exact: leq_trans iN.
have after i : (i < n)%N -> end_weight * mu i.+1 <= \sum_(i.+1 <= j < n.+1) prior j * e j.
  move=> iN; have := down_from (w := mu) (d := (n - i.+1)%N) (i := i.+1); rewrite subnKC // => down.
  apply: le_trans (down _) _ => [j /andP [_ jn]|]; first by case: (fall j jn).
  rewrite !big_nat; apply: ler_sum => j /andP [ij _].
  rewrite (_ : (if _ then _ else _) = prior j); first exact: ler_wpmul2l.
  by rewrite /prior [j == 0%N]gtn_eqF //; exact: leq_trans ij.
have enough (x y S1 S2 : R) : 2 * mm <= (1 + q) * (x + y) ->
    end_weight * x <= S1 -> end_weight * y <= S2 -> 2 * c * mm <= S1 + S2.
  rewrite weight_by_parts => xy hx hy; apply: le_trans (ler_add hx hy).
  have c0 : 0 <= c by rewrite divr_ge0 ?ltW.
  by have := ler_wpmul2l c0 xy; linear.
have low j : w j <= mm / 2 -> mu j = w j by move=> h; rewrite /mu min_l //; linear.
have high j : mm / 2 <= w j -> mu j = mm - w j by move=> h; rewrite /mu min_r //; linear.
have middle i : (i < n)%N -> w i <= mm / 2 <= w i.+1 \/ w i.+1 <= mm / 2 <= w i ->
    2 * c * mm <= \sum_(0 <= j < n.+1) prior j * e j.
  move=> iN cross; rewrite (big_cat_nat _ (n := i.+1)) //=; last by rewrite ltnS ltnW.
  apply: enough (before i iN) (after i iN).
  have [w1i w1i'] := w1 i iN; have [w2i w2i'] := w2 i iN.
  by case: cross => /andP [h h']; rewrite (low _ h) (high _ h'); linear.
have half (x y : R) : mm / 2 <= x -> mm - x <= q * y -> 2 * mm <= (1 + q) * (x + y).
  move=> hx hy; rewrite -(ler_pmul2l p); have q10 : 0 <= 1 + q by linear.
  have := ler_wpmul2l q10 hy; have := ler_wpmul2l (ltW g2) hx.
  have := mulr_ge0 (mulr_ge0 (ltW g) (ltW g)) m0; rewrite expr2.
  by linear.
have ends : prior 0 = end_weight /\ prior n = end_weight by rewrite /prior !eqxx ?orbT.
case: (leP (w 0%N) (mm / 2)) => h0; last first.
  case: (leP (w 1%N) (mm / 2)) => h1; first by apply: (middle 0%N) => //; right; rewrite h1 ltW.
  have [near _] := w2 0%N n0; rewrite big_ltn // ends.1 s0.
  by apply: enough (lexx _) (after 0%N n0); apply: half; [exact: ltW | rewrite (high 1%N) // ltW].
have [k nk] : exists k, n = k.+1 by exists n.-1; rewrite prednK.
have kn : (k < n)%N by rewrite nk.
case: (leP (w n) (mm / 2)) => hn.
  case: (leP (w k) (mm / 2)) => hk; last by apply: (middle k) => //; right; rewrite -nk hn ltW.
  have [_ near] := w1 k kn; rewrite big_nat_recr //= ends.2 sn [_ + end_weight * _]addrC.
  have := before k kn; rewrite -nk => b; apply: enough (lexx _) b; apply: half; first by linear.
  by rewrite low // -nk in near *; linear.
have crossing j : (j <= n)%N -> mm / 2 < w j -> exists2 i, (i < n)%N & w i <= mm / 2 < w i.+1.
  elim: j => [|j IH] jn hj; first by rewrite ltNge h0 in hj.
  case: (leP (w j) (mm / 2)) => h; first by exists j => //; rewrite h.
  exact: IH (ltnW jn) h.
have [i iN /andP [h h']] := crossing n (leqnn n) hn.
by apply: (middle i) => //; left; rewrite h ltW.
Qed.

End Numbers.

Lemma sinh_gt0 (R : realFieldType) (q : R) : 1 < q -> 0 < sinh_log q.
Proof. by move=> q1; have := q_inv_lt1 q1; rewrite /sinh_log; linear. Qed.

Lemma chain_gt0 (R : realFieldType) (q : R) n : 1 < q -> 0 < 1 + cosh_log q + n%:R * sinh_log q.
Proof.
move=> q1; have p0 := q_pos q1; have qi : 0 < q^-1 by rewrite invr_gt0.
by have := mulr_ge0 (ler0n R n) (ltW (sinh_gt0 q1)); rewrite /cosh_log; linear.
Qed.

(* Every statistic f, and every relation of neighbours. *)
Section EveryStatistic.
Variables (R : realFieldType) (X : Type) (adjacent : X -> X -> Prop) (f : X -> R).

(* begin def-every-mechanism *)
(* For datasets of type X: that a mechanism is private, and that no private mechanism has a risk below b. *)
Definition is_private_between (H : (R -> R) -> Prop) (q : R) (E : X -> (R -> R) -> R) : Prop :=
  forall D D', adjacent D D' -> forall h, H h -> (forall y, 0 <= h y) -> E D h <= q * E D' h.
Definition minimax_risk_between_at_least (q b : R) : Prop :=
  forall H E r, is_class H -> (forall D, is_mean H (E D)) -> is_private_between H q E ->
  (forall D, E D (fun y => `|f D - y|) <= r) -> b <= r.
(* end def-every-mechanism *)

Variable q : R.

Lemma path_of n D D' : within_steps adjacent n D D' ->
  exists p : nat -> X, [/\ p 0%N = D, p n = D' & forall j, (j < n)%N -> p j = p j.+1 \/ adjacent (p j) (p j.+1)].
Proof.
elim: n D' => [|n IH] D' /=; first by move=> ->; exists (fun=> D').
case=> C /IH [p [p0 pn step]] CD'; exists (fun j => if j == n.+1 then D' else p j).
rewrite eqxx; split=> // j; rewrite ltnS leq_eqVlt eqSS => /orP [/eqP ->|jn].
  by rewrite eqxx ltn_eqF // pn.
by rewrite !ltn_eqF ?(leqW jn) //; exact: step.
Qed.

Lemma chain_of_datasets n D D' : 1 < q -> (forall C C', adjacent C C' -> adjacent C' C) -> (0 < n)%N ->
  within_steps adjacent n D D' -> minimax_risk_between_at_least q ((f D - f D') / (1 + cosh_log q + n%:R * sinh_log q)).
Proof.
(* Between two levels a < b that no value on the path separates, the mean part of [a, b] on either side of
   the output plays the role of a mass: one_level.  What is lost between levels adds up: gain_add. *)
move=> q1 sym n0 /path_of [p [p0 pn step]] H E r cH mE priv risk.
have [sH dist] := cH; pose F j := f (p j); pose A j (t : R) := E (p j) (fun y => `|t - y|).
pose side j s t := (A j s - A j t + `|s - t|) / 2.
have sideE j s t : side j s t = E (p j) (fun y => 1 / 2 * `|s - y| + (- (1 / 2) * `|t - y| + `|s - t| / 2)).
  by have [_ ->] := class_distances s t (1 / 2) (- (1 / 2)) (`|s - t| / 2) cH; rewrite // /side /A; linear.
have side_pos (s t y : R) : 0 <= 1 / 2 * `|s - y| + (- (1 / 2) * `|t - y| + `|s - t| / 2).
  by have := ler_dist_add s t y; rewrite [`|t - s|]distrC; linear.
have side_priv j s t : (j < n)%N -> side j s t <= q * side j.+1 s t /\ side j.+1 s t <= q * side j s t.
  move=> jn; rewrite !sideE.
  have [Hs _] := class_distances s t (1 / 2) (- (1 / 2)) (`|s - t| / 2) cH.
  have := mean_ge0 sH (mE (p j)) Hs (side_pos s t).
  case: (step j jn) => [<-|jj] pos; last by split; apply: priv => //; exact: sym.
  by split; rewrite ler_pemull // ltW.
have far j s t : s - t <= A j s + A j t.
  have [Hs Es] := class_distances s t 1 1 (t - s) cH; have := mean_ge0 sH (mE (p j)) Hs.
  rewrite Es // -!/(A _ _) => pos; suff : 0 <= 1 * A j s + (1 * A j t + (t - s)) by linear.
  apply: pos => y; have := ler_dist_add y s t; rewrite [`|y - t|]distrC.
  by have := ler_norm (s - t); linear.
have near j s t : A j s <= A j t + `|s - t|.
  have [Hs Es] := class_distances t s 1 (- 1) `|s - t| cH; have := mean_ge0 sH (mE (p j)) Hs.
  rewrite Es // -!/(A _ _) => pos; suff : 0 <= 1 * A j t + (- 1 * A j s + `|s - t|) by linear.
  by apply: pos => y; have := ler_dist_add t s y; linear.
(* what j loses between a and b *)
pose loss a b j := A j (clip a b (F j)) - (A j a + A j b - (b - a)) / 2.
pose gain a b := \sum_(0 <= j < n.+1) prior q n j * loss a b j.
have gain_add a b d : a <= b -> b <= d -> gain a d = gain a b + gain b d.
  move=> ab bd; rewrite -big_split /=; apply: eq_bigr => j _; rewrite -mulrDr; congr (_ * _).
  rewrite /loss; case: (leP (F j) b) => h.
    have -> : clip a d (F j) = clip a b (F j) by rewrite /clip; minmax; linear.
    have -> : clip b d (F j) = b by rewrite /clip; minmax; linear.
    by linear.
  have -> : clip a d (F j) = clip b d (F j) by rewrite /clip; minmax; linear.
  have -> : clip a b (F j) = b by rewrite /clip; minmax; linear.
  by linear.
have gains k a b : F n <= a -> a <= b -> b <= F 0%N ->
    (forall j, (k <= j <= n)%N -> ~~ (a < F j < b)) -> 2 * (q / (q ^+ 2 - 1)) * (b - a) <= gain a b.
  elim: k a b => [|k IH] a b na ab b0 apart; last first.
    case: (boolP (a < F k < b)) => [/andP [ak kb]|out]; last first.
      by apply: IH => // j /andP []; rewrite leq_eqVlt => /orP [/eqP <- //|kj jn]; apply: apart; rewrite kj.
    rewrite (gain_add _ _ _ (ltW ak) (ltW kb)).
    have left := IH a (F k) na (ltW ak) (le_trans (ltW kb) b0).
    have right := IH (F k) b (le_trans na (ltW ak)) (ltW kb) b0.
    suff [l r'] : 2 * (q / (q ^+ 2 - 1)) * (F k - a) <= gain a (F k)
      /\ 2 * (q / (q ^+ 2 - 1)) * (b - F k) <= gain (F k) b by linear.
    split; [apply: left | apply: right] => j /andP []; rewrite leq_eqVlt => /orP [/eqP <-|kj] jn;
      rewrite ?ltxx ?andbF //; apply: contra (apart j _); rewrite ?kj // => /andP [h h'].
      by rewrite h (lt_trans h').
    by rewrite h' (lt_trans ak).
  case: (ltgtP a b) ab => // [ab _|<- _]; last first.
    rewrite subrr mulr0 /gain big1 // => j _; rewrite /loss.
    have -> : clip a a (F j) = a by rewrite /clip min_r // le_maxr lexx orbT.
    by rewrite (_ : A j a - _ = 0) ?mulr0 //; linear.
  have w_to j s t : side j t s = `|t - s| - side j s t by rewrite /side [`|t - s|]distrC; linear.
  have size_ab : `|b - a| = b - a by rewrite ger0_norm // subr_ge0 ltW.
  have size_ba : `|a - b| = b - a by rewrite distrC.
  have mm0 : 0 <= b - a by rewrite subr_ge0 ltW.
  have sn : (b <= F n) = false by apply/negbTE; rewrite -ltNge; apply: le_lt_trans na ab.
  have := @one_level R q q1 n (fun j => side j b a) (fun j => b <= F j) _ n0 mm0
    (fun j => side_priv j b a) _ b0 sn.
  move=> /(_ _) level; apply: le_trans (level _) _ => [j jn|].
    by have := side_priv j a b jn; rewrite !(w_to _ b a) size_ba.
  rewrite /gain !big_nat; apply: ler_sum => j /andP [_ jn].
  rewrite le_eqVlt; apply/orP; left; apply/eqP; congr (_ * _); rewrite /loss /side size_ab.
  have := apart j (ltac:(by rewrite leq0n -ltnS)); rewrite negb_and -!leNgt.
  case: (leP b (F j)) => h aj.
    have -> : clip a b (F j) = b by rewrite /clip; minmax; linear.
    by linear.
  rewrite orbF in aj; have -> : clip a b (F j) = a by rewrite /clip; minmax; linear.
  by linear.
have g := q_gap q1; have pq := q_pos q1; have g2 := q2_gap q1; have den := chain_gt0 n q1.
have r0 : 0 <= r by apply: le_trans (risk D); exact: mean_ge0 (mE D) (dist _) _.
rewrite ler_pdivr_mulr //; case: (leP (F n) (F 0%N)) => ends; last first.
  rewrite -p0 -pn -/(F 0%N) -/(F n); apply: (@le_trans _ _ 0); first by rewrite subr_le0 ltW.
  by rewrite mulr_ge0 // ltW.
have total : gain (F n) (F 0%N) <= r * (n%:R - 1 + 2 * (q / (q - 1))).
  rewrite -(prior_total q1 n0) mulr_sumr /gain !big_nat; apply: ler_sum => j /andP [_ jn].
  rewrite mulrC; apply: ler_wpmul2r.
    by rewrite /prior; case: ifP => _; rewrite ?ler01 // divr_ge0 // ltW.
  apply: le_trans (risk (p j)); rewrite -/(F j) -/(A j _) /loss.
  have := far j (F 0%N) (F n); case: (leP (F j) (F n)) => jn0.
    have -> : clip (F n) (F 0%N) (F j) = F n by rewrite /clip; minmax; linear.
    have := near j (F n) (F j); rewrite ger0_norm ?subr_ge0 //; have := far j (F 0%N) (F j).
    by linear.
  case: (leP (F j) (F 0%N)) => j0.
    have -> : clip (F n) (F 0%N) (F j) = F j by rewrite /clip; minmax; linear.
    by linear.
  have -> : clip (F n) (F 0%N) (F j) = F 0%N by rewrite /clip; minmax; linear.
  have := near j (F 0%N) (F j); rewrite distrC gtr0_norm ?subr_gt0 //; have := far j (F j) (F n).
  by linear.
have least : 2 * (q / (q ^+ 2 - 1)) * (F 0%N - F n) <= gain (F n) (F 0%N).
  by apply: (gains n.+1) => // j /andP [nj jn]; move: (leq_trans nj jn); rewrite ltnn.
have scale : 0 < (q ^+ 2 - 1) / (2 * q) by rewrite divr_gt0 // mulr_gt0 ?ltr0n.
have := ler_wpmul2l (ltW scale) (le_trans least total); rewrite /F p0 pn.
have -> : (q ^+ 2 - 1) / (2 * q) * (2 * (q / (q ^+ 2 - 1)) * (f D - f D')) = f D - f D'.
  by field; rewrite !gt_eqF.
suff -> : (q ^+ 2 - 1) / (2 * q) * (r * (n%:R - 1 + 2 * (q / (q - 1)))) = r * (1 + cosh_log q + n%:R * sinh_log q) by [].
by rewrite /cosh_log /sinh_log; field; rewrite !gt_eqF.
Qed.

(* begin thm-chain *)
(* With q = exp eps: no private mechanism estimates the statistic f with a risk below omega n / (1 + cosh
   eps + n sinh eps), for n = 1, 2, ... *)
Theorem every_statistic (omega : nat -> R) (n : nat) : 1 < q ->
  (forall D D', adjacent D D' -> adjacent D' D) -> is_modulus adjacent f omega -> (0 < n)%N ->
  minimax_risk_between_at_least q (omega n / (1 + cosh_log q + n%:R * sinh_log q)).
(* end thm-chain *)
Proof.
move=> q1 sym mod n0 H E r cH mE priv risk; rewrite ler_pdivr_mulr ?chain_gt0 //.
apply: (mod n).2 => D D' DD'; rewrite -ler_pdivr_mulr ?chain_gt0 //.
exact: chain_of_datasets q1 sym n0 DD' H E r cH mE priv risk.
Qed.

(* begin thm-every-factor *)
(* So the smallest worst-case error of all estimators, with noise of mean absolute value w at sensitivity 1,
   is at most (1 + cosh eps) / 2 + w sinh eps times the minimax risk; this is K (eps) if w = 1 / eps. *)
Theorem every_statistic_within (omega : nat -> R) (h : R -> R) (w : R) : 1 < q ->
  (forall D D', adjacent D D' -> adjacent D' D) -> is_modulus adjacent f omega ->
  is_concave_majorant omega h -> 0 <= w ->
  minimax_risk_between_at_least q (h (2 * w) / 2 / ((1 + cosh_log q) / 2 + w * sinh_log q)).
(* end thm-every-factor *)
Proof.
move=> q1 sym mod [_ least] w0 H E r cH mE priv risk.
have s0 := sinh_gt0 q1; have ws := mulr_ge0 w0 (ltW s0); have ch := chain_gt0 0 q1.
rewrite mul0r addr0 in ch; rewrite ler_pdivr_mulr; last by linear.
have : h (2 * w) <= (1 + cosh_log q) * r + sinh_log q * r * (2 * w); last by linear.
apply: (least (fun y => (1 + cosh_log q) * r + sinh_log q * r * y)); [split=> [|n] | by linear].
  exact: line_concave.
case: (posnP n) => [->|n0].
  apply: (mod 0%N).2 => D D' <-; rewrite subrr mulr0 addr0; apply: mulr_ge0 (ltW ch) _.
  by case: cH => sH dist; apply: le_trans (risk D); exact: mean_ge0 (mE D) (dist _) _.
have := every_statistic q1 sym mod n0 cH mE priv risk; rewrite ler_pdivr_mulr ?chain_gt0 //.
by linear.
Qed.
End EveryStatistic.

Section Chain.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U q : R).
Notation N := (N R m).
Notation c := (nth_count m).
Hypothesis U0 : 0 <= U.
Hypothesis q1 : 1 < q.
Hypothesis Npos : (0 < \sum_l m l)%N.

(* The users, those with the most samples first. *)
Definition users : seq 'I_L := sort (fun l l' => m l' <= m l)%N (enum 'I_L).

Lemma size_users : size users = L. Proof. by rewrite size_sort size_enum_ord. Qed.

Lemma users_uniq : uniq users. Proof. by rewrite sort_uniq enum_uniq. Qed.

Lemma users_counts : [seq m l | l <- users] = sort geq [seq m l | l <- enum 'I_L].
Proof. by rewrite sort_map. Qed.

(* The mean of the dataset in which the first j users have all samples at U. *)
Definition step_mean (j : nat) : R := U * sum_of_largest m (j%:R : R) / N.

Let D (j : nat) : dataset R m := on U (take j users).

Lemma mean_chain j : (j <= L)%N -> mean (D j) = step_mean j.
Proof.
move=> jL; rewrite /D mean_on /step_mean; congr (_ / _).
rewrite -big_uniq ?take_uniq ?users_uniq //= -mulr_sumr; congr (_ * _).
rewrite sum_largest_whole // -(big_map m xpredT (fun k => k%:R)) map_take users_counts.
rewrite (big_nth 0%N) size_takel ?size_sorted_counts //.
by apply: eq_big_nat => i /andP [_ ij]; rewrite nth_take.
Qed.

Lemma chain_neighbours j : (j < L)%N -> neighbours (D j) (D j.+1).
Proof.
move=> jL; have l0 : 'I_L by exact: Ordinal jL.
exists (nth l0 users j) => l' ll' i; rewrite /D /on (take_nth l0) ?size_users //.
by rewrite mem_rcons in_cons (negbTE ll').
Qed.

(* begin thm-chain *)
(* With q = exp eps: no private mechanism has a risk below U / N H (n) / (1 + cosh eps + n sinh eps), for n
   = 1, ..., L. *)
Theorem thm_chain n : (0 < n <= L)%N ->
  minimax_risk_at_least m U q (U / N * (sum_of_largest m (n%:R : R) / (1 + cosh_log q + n%:R * sinh_log q))).
(* end thm-chain *)
Proof.
(* In D j the first j users have all samples at U.  The type of datasets is that of those in the range. *)
move=> /andP [n0 nL] H E r cH mE priv risk; have N0 : 0 < N by rewrite ltr0n.
pose X := {x : dataset R m | in_range U x}.
pose near (x x' : X) := neighbours (sval x) (sval x').
have sym x x' : near x x' -> near x' x by case=> l h; exists l => l' ll' i; rewrite h.
pose p j : X := exist _ (D j) (on_in_range _ U0).
have path j : (j <= L)%N -> within_steps near j (p j) (p 0%N).
  elim: j => [//|j IH] jL; apply: one_more_step (IH (ltnW jL)).
  by apply: (sym (p j)); exact: chain_neighbours.
have := chain_of_datasets (f := fun x : X => mean (sval x)) q1 sym n0 (path n nL) cH.
move=> /(_ (fun x => E (sval x)) r) bound.
have -> : U / N * (sum_of_largest m (n%:R : R) / (1 + cosh_log q + n%:R * sinh_log q))
    = (mean (sval (p n)) - mean (sval (p 0%N))) / (1 + cosh_log q + n%:R * sinh_log q).
  have M0 : sum_of_largest m (0%:R : R) = 0 by rewrite sum_largest_whole // big_geq.
  by rewrite /= !mean_chain // /step_mean M0 mulr0 mul0r subr0 !mulrA [U / N * _]mulrAC.
by apply: bound => [[x xr]|[x xr] [x' xr'] xx h|[x xr]]; [exact: mE | exact: priv | exact: risk].
Qed.

End Chain.
