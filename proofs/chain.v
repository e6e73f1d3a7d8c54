(* What a chain of users costs: a lower bound for every private mechanism. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts frontier.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Mechanism.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).

(* begin mechanism *)
(* A mechanism draws an output Y in T for each dataset x.  All that is used of it are means: E x h is
   the mean of h Y.  They need be known only for functions h in a set H (it does not depend on how a
   function is written) that is closed under sums and multiples, and has the constants; where Y is a
   number, also the distances from points.  Means are linear and monotone, and that of 1 is 1.  So any
   law is covered, discrete or not; if Y is a number, any with a finite mean distance. *)
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
(* cosh eps and sinh eps, for q = exp eps. *)
Definition cosh (q : R) : R := (q + q^-1) / 2.
Definition sinh (q : R) : R := (q - q^-1) / 2.
(* end mechanism *)

(* The function 0 has the mean 0, so that means of functions from 0 on are from 0 on. *)
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

Lemma minimax_ge0 q : 0 <= U -> minimax_risk_at_least q 0.
Proof.
move=> U0 H E r [sH Habs] mE _ risk; have xr : @in_range R L m U (fun _ _ => 0).
  by move=> l j; apply/andP; split; [exact: lexx | exact: U0].
by apply: le_trans (risk _ xr); apply: (mean_ge0 sH (mE _ xr)).
Qed.

(* More privacy, no smaller risk. *)
Lemma more_private q Q b : q <= Q -> minimax_risk_at_least Q b -> minimax_risk_at_least q b.
Proof.
move=> qQ bound H E r cH mE priv; apply: (bound H E r cH mE) => x x' xr xr' xx h Hh h0.
apply: le_trans (priv x x' xr xr' xx h Hh h0) _; apply: ler_wpmul2r => //.
by case: cH => sH _; apply: (mean_ge0 sH (mE _ xr')).
Qed.

(* What is at most F times each r that no bound exceeds. *)
Lemma within_factor q e F : 0 < F ->
  (forall r, (forall b, minimax_risk_at_least q b -> b <= r) -> e <= F * r) ->
  minimax_risk_at_least q (e / F).
Proof.
move=> F0 h H E r cH mE priv risk; rewrite ler_pdivr_mulr // mulrC; apply: h => b bound.
exact: bound cH mE priv risk.
Qed.
End Mechanism.


(* Sequences that fall by a factor of q at most from one place to the next. *)
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

(* At each place of the chain, before and after step i, means of one function that is worth mm in all
   before and after: the prior weighs what is on either side at least as much as is needed. *)
Lemma one_step (w : nat -> R) (i : nat) (mm : R) : (i < n)%N ->
  (forall j, (j < n)%N -> w j <= q * w j.+1 /\ w j.+1 <= q * w j) ->
  (forall j, (j < n)%N -> mm - w j <= q * (mm - w j.+1) /\ mm - w j.+1 <= q * (mm - w j)) ->
  2 * c * mm <= \sum_(0 <= j < n.+1) prior j * (if (i < j)%N then w j else mm - w j).
Proof.
move=> iN w1 w2; rewrite (big_cat_nat _ (n := i.+1)) //=; last by rewrite ltnS ltnW.
have n0 : (0 < n)%N by apply: leq_ltn_trans iN.
have before : c * ((mm - w i) + (mm - w i.+1))
    <= \sum_(0 <= j < i.+1) prior j * (if (i < j)%N then w j else mm - w j).
  have [_ s2] := w2 i iN.
  have := up_to (w := fun j => mm - w j) (i := i) (fun j ji => proj2 (w2 j (ltn_trans ji iN))).
  rewrite (@eq_big_nat _ _ _ _ _ _ (fun j => prior j * (if (i < j)%N then w j else mm - w j))); last first.
    move=> j /andP [_ ji]; rewrite ltnNge -ltnS ji /= /prior; congr (_ * _).
    by rewrite [j == n]ltn_eqF ?orbF // (leq_ltn_trans _ iN) // -ltnS.
  apply: le_trans; rewrite weight_by_parts -mulrA; apply: ler_wpmul2l.
    by rewrite divr_ge0 ?(ltW q_pos) ?(ltW q2_gap).
  by rewrite mulrDl mul1r ler_add2l.
have after : c * (w i + w i.+1)
    <= \sum_(i.+1 <= j < n.+1) prior j * (if (i < j)%N then w j else mm - w j).
  have [s1 _] := w1 i iN.
  apply: le_trans (_ : end_weight * w i.+1 <= _).
    rewrite weight_by_parts -mulrA; apply: ler_wpmul2l.
      by rewrite divr_ge0 ?(ltW q_pos) ?(ltW q2_gap).
    by rewrite addrC mulrDl mul1r ler_add2l.
  have := down_from (w := w) (d := (n - i.+1)%N) (i := i.+1); rewrite subnKC // => down.
  apply: le_trans (down _) _ => [j /andP [_ jn]|]; first by case: (w1 j jn).
  rewrite le_eqVlt; apply/orP; left; apply/eqP/eq_big_nat => j /andP [ij _].
  by rewrite ij /prior [j == 0%N]gtn_eqF // (leq_ltn_trans _ ij).
by have := ler_add before after => h; linear.
Qed.

End Numbers.

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
Definition step_mean (j : nat) : R := U * M m (j%:R : R) / N.

Lemma M_whole j : (j <= L)%N -> M m (j%:R : R) = \sum_(0 <= i < j) (c i)%:R.
Proof.
move=> jL; rewrite /M -(big_mkord xpredT (fun i => weight (j%:R : R) i * (c i)%:R)).
rewrite (big_cat_nat _ (n := j)) //= [X in _ + X]big_nat_cond [X in _ + X]big1 ?addr0; last first.
  move=> i /andP [/andP [ji _] _]; rewrite (_ : weight _ _ = 0) ?mul0r // /weight.
  by have : j%:R <= i%:R :> R; [rewrite ler_nat | move=> h; minmax; linear].
apply: eq_big_nat => i /andP [_ ij]; rewrite (_ : weight _ _ = 1) ?mul1r // /weight.
have : i.+1%:R <= j%:R :> R by rewrite ler_nat.
by rewrite -addn1 natrD => h; minmax; linear.
Qed.

Let D (j : nat) : dataset R m := on U (take j users).

Lemma mean_chain j : (j <= L)%N -> mean (D j) = step_mean j.
Proof.
move=> jL; rewrite /D mean_on /step_mean; congr (_ / _).
rewrite -big_uniq ?take_uniq ?users_uniq //= -mulr_sumr; congr (_ * _).
rewrite M_whole // -(big_map m xpredT (fun k => k%:R)) map_take users_counts.
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
(* Every private mechanism, whatever it does, has on some dataset a mean distance from the mean of
   at least U / N M n / (1 + cosh eps + n sinh eps), for n = 1, ..., L. *)
Theorem thm_chain n : (0 < n <= L)%N ->
  minimax_risk_at_least m U q (U / N * (M m (n%:R : R) / (1 + cosh q + n%:R * sinh q))).
(* end thm-chain *)
Proof.
(* In D j the first j users have all samples at U.  Y's distances from the means of D 0, ..., D n are cut
   at these means: for each cut, privacy and the prior give one_step, and over all cuts the sums telescope. *)
move=> /andP [n0 nL] H E r cH mE priv risk; have N0 : 0 < N by rewrite ltr0n.
have [[ext H1 Hlin] Habs] := cH.
have Dr j : in_range U (D j) by exact: on_in_range.
pose F := step_mean; have FD j : (j <= n)%N -> mean (D j) = F j.
  by move=> jn; apply: mean_chain; exact: leq_trans nL.
have mE' j := mE _ (Dr j).
have E1 j : E (D j) (fun=> 1) = 1 by case: (mE' j).
have Elin j s h h' : H h -> H h' -> E (D j) (fun y => s * h y + h' y) = s * E (D j) h + E (D j) h'.
  by case: (mE' j) => _ lin _; exact: lin.
have Emono j h h' : H h -> H h' -> (forall y, h y <= h' y) -> E (D j) h <= E (D j) h'.
  by case: (mE' j) => _ _ mono; exact: mono.
have Eext j h h' : H h -> H h' -> (forall y, h y = h' y) -> E (D j) h = E (D j) h'.
  by move=> Hh Hh' hh; apply: le_anti; rewrite !Emono // => y; rewrite hh.
(* what lies between two means, seen from an output y *)
pose u a b (y : R) := (`|b - y| - `|a - y| + (b - a)) / 2.
have Hu a b : H (u a b).
  have Hc := Hlin (b - a - 1) _ _ H1 H1.
  apply: (ext _ _ (Hlin (1 / 2) _ _ (Hlin (-1) _ _ (Habs a) (Hlin 1 _ _ (Habs b) Hc)) (Hlin (-1) _ _ H1 H1))) => y.
  by rewrite /u; linear.
have Eu j a b : E (D j) (u a b) = (E (D j) (fun y => `|b - y|) - E (D j) (fun y => `|a - y|) + (b - a)) / 2.
  have Hc := Hlin (b - a - 1) _ _ H1 H1; have H0 := Hlin (-1) _ _ H1 H1.
  have H2 := Hlin 1 _ _ (Habs b) Hc; have H3 := Hlin (-1) _ _ (Habs a) H2.
  rewrite (Eext j (u a b) (fun y => 1 / 2 * (-1 * `|a - y| + (1 * `|b - y| + ((b - a - 1) * 1 + 1))) + (-1 * 1 + 1))).
  - by rewrite !Elin // !E1; linear.
  - exact: Hu.
  - exact: Hlin.
  - by move=> y; rewrite /u; linear.
have u0 a b y : a <= b -> 0 <= u a b y.
  move=> ab; rewrite /u.
  have : `|a - y| <= `|b - y| + (b - a).
    rewrite -[b - a]ger0_norm ?subr_ge0 // distrC [`|b - y|]distrC.
    by rewrite (le_trans _ (ler_norm_add _ _)) // addrA subrK.
  by linear.
have gap i : 0 <= F i.+1 - F i.
  rewrite subr_ge0; apply: ler_wpmul2r; first by rewrite invr_ge0 ltW.
  by apply: ler_wpmul2l => //; apply: M_mono; rewrite ler_nat.
pose w i j := E (D j) (u (F i) (F i.+1)).
have wc i j : F i.+1 - F i - w i j = E (D j) (fun y => (- 1) * u (F i) (F i.+1) y + ((F i.+1 - F i - 1) * 1 + 1)).
  by rewrite !Elin // ?E1; [rewrite /w; linear | exact: Hlin].
have wv i y : (- 1) * u (F i) (F i.+1) y + ((F i.+1 - F i - 1) * 1 + 1) = u (- F i.+1) (- F i) (- y).
  by rewrite /u ![`|- _ - - y|]distrC !opprK ![- y + _]addrC; linear.
have nb j : (j < n)%N -> neighbours (D j) (D j.+1) by move=> jn; exact/chain_neighbours/(leq_trans jn).
have nb' j : (j < n)%N -> neighbours (D j.+1) (D j).
  by move=> /nb [l h]; exists l => l' ll' i; rewrite h.
have step i : (i < n)%N -> 2 * (q / (q ^+ 2 - 1)) * (F i.+1 - F i)
    <= \sum_(0 <= j < n.+1) prior q n j * (if (i < j)%N then w i j else F i.+1 - F i - w i j).
  move=> iN; apply: one_step => // j jn.
    by split; apply: priv => //; [exact: nb | move=> y; apply: u0; rewrite -subr_ge0
      | exact: nb' | move=> y; apply: u0; rewrite -subr_ge0].
  rewrite !wc; have Hv : H (fun y => (- 1) * u (F i) (F i.+1) y + ((F i.+1 - F i - 1) * 1 + 1)).
    by apply: (Hlin) => //; exact: Hlin.
  by split; apply: priv => //; [exact: nb | move=> y; rewrite wv; apply: u0; rewrite ler_opp2 -subr_ge0
      | exact: nb' | move=> y; rewrite wv; apply: u0; rewrite ler_opp2 -subr_ge0].
have one j : (j <= n)%N -> \sum_(0 <= i < n) (if (i < j)%N then w i j else F i.+1 - F i - w i j) <= r.
  move=> jn; rewrite (big_cat_nat _ (n := j)) //=.
  rewrite (@eq_big_nat _ _ _ 0 j _ (fun i => w i j)) => [|i /andP [_ ij]]; last by rewrite ij.
  rewrite (@eq_big_nat _ _ _ j n _ (fun i => F i.+1 - F i - w i j)) => [|i /andP [ji _]]; last first.
    by rewrite ltnNge ji.
  pose A i := E (D j) (fun y => `|F i - y|).
  have wA i : w i j = (A i.+1 - A i + (F i.+1 - F i)) / 2 by rewrite /w Eu.
  have tele (G : nat -> R) a b : (a <= b)%N -> \sum_(a <= i < b) (G i.+1 - G i) = G b - G a.
    by move=> ab; rewrite telescope_sumr.
  rewrite (@eq_big_nat _ _ _ 0 j _ (fun i => (A i.+1 + F i.+1) / 2 - (A i + F i) / 2)); last first.
    by move=> i _; rewrite wA; linear.
  rewrite (@eq_big_nat _ _ _ j n _ (fun i => (F i.+1 - A i.+1) / 2 - (F i - A i) / 2)); last first.
    by move=> i _; rewrite wA; linear.
  rewrite (tele (fun i => (A i + F i) / 2)) // (tele (fun i => (F i - A i) / 2)) //.
  have far : F n - F 0%N <= A 0%N + A n.
    have Hc := Hlin (F n - F 0%N - 1) _ _ H1 H1.
    have Hd := Hlin 1 _ _ (Habs (F 0%N)) (Habs (F n)).
    have := Emono j _ _ Hc Hd.
    rewrite (Elin j _ _ _ H1 H1) (Elin j _ _ _ (Habs _) (Habs _)) E1 mulr1 subrK mul1r; apply.
    move=> y /=; rewrite mul1r; have t := ler_norm (F n - F 0%N).
    have := ler_norm_add (F n - y) (y - F 0%N); rewrite addrA subrK [`|y - _|]distrC => t'.
    by linear.
  have := risk _ (Dr j); rewrite FD // -/(A j) => rj.
  by linear.
have total : \sum_(0 <= i < n) 2 * (q / (q ^+ 2 - 1)) * (F i.+1 - F i) <= r * \sum_(0 <= j < n.+1) prior q n j.
  rewrite mulr_sumr; apply: (@le_trans _ _ (\sum_(0 <= j < n.+1) prior q n j *
    \sum_(0 <= i < n) (if (i < j)%N then w i j else F i.+1 - F i - w i j))).
    rewrite (eq_bigr _ (fun j _ => mulr_sumr _ _ _ _)) exchange_big_nat /= !big_nat.
    by apply: ler_sum => i /andP [_ iN]; exact: step.
  rewrite !big_nat; apply: ler_sum => j /andP [_ jn]; rewrite mulrC; apply: ler_wpmul2r.
    rewrite /prior; case: ifP => _; rewrite ?ler01 // divr_ge0 ?subr_ge0 ?(ltW q1) //.
    exact: ltW (q_pos q1).
  exact: one.
have F0 : F 0%N = 0 by rewrite /F /step_mean M_whole // big_nil mulr0 mul0r.
rewrite -mulr_sumr telescope_sumr // F0 subr0 prior_total // in total.
have g := q_gap q1; have p := q_pos q1; have g2 := q2_gap q1.
have nR : 1 <= n%:R :> R by rewrite ler1n.
have den : 0 < 1 + cosh q + n%:R * sinh q.
  rewrite /cosh /sinh; have qi : 0 < q^-1 by rewrite invr_gt0.
  have qi1 : q^-1 < 1 by rewrite invf_lt1.
  have := mulr_ge0 (ler0n R n) (_ : 0 <= q - q^-1) => h.
  have : 0 <= n%:R * (q - q^-1) by apply: h; linear.
  by linear.
have -> : U / N * (M m (n%:R : R) / (1 + cosh q + n%:R * sinh q)) = F n / (1 + cosh q + n%:R * sinh q).
  by rewrite /F /step_mean; field; rewrite !gt_eqF.
rewrite ler_pdivr_mulr //.
have := ler_wpmul2l (ltW (_ : 0 < (q ^+ 2 - 1) / (2 * q))) total.
have -> : (q ^+ 2 - 1) / (2 * q) * (2 * (q / (q ^+ 2 - 1)) * F n) = F n by field; rewrite !gt_eqF.
have -> : (q ^+ 2 - 1) / (2 * q) * (r * (n%:R - 1 + 2 * (q / (q - 1)))) = r * (1 + cosh q + n%:R * sinh q).
  by rewrite /cosh /sinh; field; rewrite !gt_eqF.
by apply; rewrite divr_gt0 // mulr_gt0 ?ltr0n.
Qed.

End Chain.
