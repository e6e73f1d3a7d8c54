(* The largest mean error of a release that is projected to the range. *)
(* Here are defined: mean_excess of a law; projected_error on a dataset; users_above, the number of users
   who can be clipped; and of j clipped users at the upper end bias_of, off_middle and error_of, the numbers
   d, tau and E of the book. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring zify.
From UserDP Require Import definitions linear counts lemma frontier chain one_line losses shipped.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin def-projected *)
(* E is the mean under the law of Z. mean_excess: the mean of the excess of Z over x. projected_error: the
   mean distance from f of the release t + delta Z, projected to [0, U]. *)
Definition mean_excess (R : realFieldType) (E : (R -> R) -> R) (x : R) : R := E (fun z => Num.max (z - x) 0).
Definition projected_error (R : realFieldType) (E : (R -> R) -> R) (U delta t f : R) : R :=
  E (fun z => `|project U (t + delta * z) - f|).
(* end def-projected *)

Section Law.
Variables (R : realFieldType) (H : (R -> R) -> Prop) (E : (R -> R) -> R).
Hypothesis sH : is_space H.
Hypothesis mE : is_mean H E.
Hypothesis symmetric : is_symmetric H E.
Hypothesis finite : forall x, H (fun z => Num.max (z - x) 0).

Lemma mean_eq h h' : H h -> (forall z, h z = h' z) -> H h' /\ E h' = E h.
Proof.
have [eq _ _] := sH; have [_ _ mono] := mE => Hf e; have Hf' := eq _ _ Hf e; split=> //.
by apply: le_anti; rewrite !mono // => z; rewrite e.
Qed.

Lemma mean_add h h' : H h -> H h' -> H (fun z => h z + h' z) /\ E (fun z => h z + h' z) = E h + E h'.
Proof.
have [_ _ clin] := sH; have [_ lin _] := mE => Hh Hh'.
have [|Hs ->] := mean_eq (clin 1 _ _ Hh Hh') (h' := fun z => h z + h' z); first by move=> z; rewrite mul1r.
by split=> //; rewrite lin // mul1r.
Qed.

Lemma mean_times a h : H h -> H (fun z => a * h z) /\ E (fun z => a * h z) = a * E h.
Proof. by move=> Hh; split; [exact: space_scale | exact: (mean_scale a sH mE Hh)]. Qed.

Lemma mean_const a : H (fun=> a) /\ E (fun=> a) = a.
Proof.
have [_ H1 _] := sH; have [E1 _ _] := mE; have [Ha Ea] := mean_times a H1.
by have [|Hc ->] := mean_eq Ha (h' := fun=> a); [move=> z; rewrite mulr1 | rewrite Ea E1 mulr1].
Qed.

Lemma hinge a b : 0 < b -> H (fun z => Num.max (a + b * z) 0)
  /\ E (fun z => Num.max (a + b * z) 0) = b * mean_excess E (- a / b).
Proof.
move=> b0; have [Hs Es] := mean_times b (finite (- a / b)).
have [|Hf ->] := mean_eq Hs (h' := fun z => Num.max (a + b * z) 0); last by rewrite Es.
move=> z; rewrite maxr_pmulr ?ltW // mulr0; congr (Num.max _ 0); field; exact: lt0r_neq0.
Qed.

Lemma hinge_mirrored a b : 0 < b -> H (fun z => Num.max (a - b * z) 0)
  /\ E (fun z => Num.max (a - b * z) 0) = b * mean_excess E (- a / b).
Proof.
move=> b0; have [Hs Es] := hinge a b0; have [Hm Em] := symmetric Hs.
have [|Hf ->] := mean_eq Hm (h' := fun z => Num.max (a - b * z) 0); first by move=> z; rewrite mulrN.
by rewrite Em Es.
Qed.

Lemma hinge_in a b : H (fun z => Num.max (a + b * z) 0).
Proof.
case: (ltrgtP b 0) => [b0|b0|->].
- have nb : 0 < - b by rewrite oppr_gt0.
  by have [Hs _] := hinge_mirrored a nb; have [] // := mean_eq Hs (h' := fun z => Num.max (a + b * z) 0) => z; rewrite mulNr opprK.
- by have [] := hinge a b0.
by have [Hc _] := mean_const (Num.max a 0); have [] // := mean_eq Hc (h' := fun z => Num.max (a + 0 * z) 0) => z; rewrite mul0r addr0.
Qed.

(* Distances, and what projection saves: w is measured from the middle of the range. *)
Definition saved (U w : R) : R := Num.max (w - U / 2) 0 + Num.max (- w - U / 2) 0.

Lemma distance_in a b : H (fun z => `|a + b * z|).
Proof.
have [Hs _] := mean_add (hinge_in a b) (hinge_in (- a) (- b)).
have [] // := mean_eq Hs (h' := fun z => `|a + b * z|) => z.
by rewrite mulNr -opprD; move: (a + b * z) => y; case: (ger0P y) => h; minmax; linear.
Qed.

Lemma saved_in U a b : H (fun z => saved U (a + b * z)).
Proof.
have [Hs _] := mean_add (hinge_in (a - U / 2) b) (hinge_in (- a - U / 2) (- b)).
have [] // := mean_eq Hs (h' := fun z => saved U (a + b * z)) => z.
by rewrite /saved; congr (Num.max _ 0 + Num.max _ 0); ring.
Qed.

Lemma hinge_convex (x y t : R) : 0 <= t <= 1 ->
  Num.max (t * x + (1 - t) * y) 0 <= t * Num.max x 0 + (1 - t) * Num.max y 0.
Proof.
move=> /andP [t0 t1]; have t1' : 0 <= 1 - t by rewrite subr_ge0.
rewrite le_maxl; apply/andP; split.
  by apply: ler_add; apply: ler_wpmul2l; rewrite // le_maxr lexx.
by apply: addr_ge0; apply: mulr_ge0; rewrite // le_maxr lexx orbT.
Qed.

Lemma saved_convex U : is_convex (saved U).
Proof.
move=> x y t t01; rewrite /saved; have h1 := hinge_convex (x - U / 2) (y - U / 2) t01.
have h2 := hinge_convex (- x - U / 2) (- y - U / 2) t01.
have e1 : t * x + (1 - t) * y - U / 2 = t * (x - U / 2) + (1 - t) * (y - U / 2) by ring.
have e2 : - (t * x + (1 - t) * y) - U / 2 = t * (- x - U / 2) + (1 - t) * (- y - U / 2) by ring.
by rewrite e1 e2; apply: le_trans (ler_add h1 h2) _; rewrite !mulrDr addrACA.
Qed.

Lemma norm_convex : is_convex (fun x : R => `|x|).
Proof.
move=> x y t /andP [t0 t1]; apply: le_trans (ler_norm_add _ _) _; rewrite !normrM (ger0_norm t0).
by rewrite [`|1 - t|]ger0_norm ?subr_ge0.
Qed.

(* The error at a shift d and a distance w from the middle: it grows with d, and falls with w. *)
Definition err (U delta d w : R) : R := mean_loss E (fun x => `|x|) d delta - mean_loss E (saved U) w delta.

Lemma err_moves U delta d d' w w' : 0 <= delta -> `|d| <= `|d'| -> `|w'| <= `|w| ->
  err U delta d w <= err U delta d' w'.
Proof.
move=> b0 dd ww; apply: ler_sub.
  by apply: (mean_loss_grows sH mE symmetric) => //; [move=> x; rewrite normrN | exact: norm_convex | exact: distance_in].
apply: (mean_loss_grows sH mE symmetric) => //; [move=> x | exact: saved_convex | exact: saved_in].
by rewrite /saved opprK addrC.
Qed.

Lemma projected_is U delta t f : 0 <= f <= U ->
  H (fun z => `|project U (t + delta * z) - f|)
  /\ projected_error E U delta t f = err U delta (t - f) (t - U / 2).
Proof.
move=> /andP [f0 fU]; have [Hd Ed] := mean_times (-1) (saved_in U (t - U / 2) delta).
have [Hs Es] := mean_add (distance_in (t - f) delta) Hd.
have [|Hp Ep] := mean_eq Hs (h' := fun z => `|project U (t + delta * z) - f|); last first.
  by split; rewrite // /projected_error Ep Es Ed mulN1r.
move=> z; have -> : t - f + delta * z = (t + delta * z) - f by ring.
have -> : t - U / 2 + delta * z = (t + delta * z) - U / 2 by ring.
move: (t + delta * z) => y; rewrite /project /clip /saved.
by case: (ger0P (y - f)) => h; case: ger0P; minmax; linear.
Qed.

Lemma distance_is d b : 0 < b -> mean_loss E (fun x => `|x|) d b = d + 2 * b * mean_excess E (d / b).
Proof.
move=> b0; have [_ H1 _] := sH.
(* the mean of Z is 0, as - Z has the same law *)
have [Hp Ep] := hinge 0 ltr01; have [Hn En] := hinge_mirrored 0 ltr01.
have [Hm Em] := mean_times (-1) Hn; have [Hz Ez] := mean_add Hp Hm.
have [Hb Eb] := mean_times b Hz; have [Hd Ed] := mean_const d; have [Hl El] := mean_add Hd Hb.
have [Hh Eh] := hinge_mirrored (- d) b0; have [Ht Et] := mean_times 2 Hh; have [Hs Es] := mean_add Hl Ht.
rewrite /mean_loss; have [|_ ->] := mean_eq Hs (h' := fun z => `|d + b * z|).
  move=> z; have -> : b * (Num.max (0 + 1 * z) 0 + -1 * Num.max (0 - 1 * z) 0) = b * z.
    by congr (b * _); minmax; linear.
  have -> : - d - b * z = - (d + b * z) by ring.
  by move: (d + b * z) => y; case: (ger0P y) => h; minmax; linear.
by rewrite Es El Ed Eb Ez Em Ep En Et Eh opprK mulN1r subrr mulr0 addr0 mulrA.
Qed.

Lemma saved_is U w b : 0 < b ->
  mean_loss E (saved U) w b = b * mean_excess E ((U / 2 - w) / b) + b * mean_excess E ((U / 2 + w) / b).
Proof.
move=> b0; have [Hp Ep] := hinge (w - U / 2) b0; have [Hn En] := hinge_mirrored (- w - U / 2) b0.
have [Hs Es] := mean_add Hp Hn; rewrite /mean_loss; have [|_ ->] := mean_eq Hs (h' := fun z => saved U (w + b * z)).
  by move=> z; rewrite /saved; congr (Num.max _ 0 + Num.max _ 0); ring.
by rewrite Es Ep En; congr (_ * mean_excess E (_ / _) + _ * mean_excess E (_ / _)); ring.
Qed.
End Law.

(* begin thm-projected *)
(* (1) What projection saves, on any dataset: f is the mean, and t the clipped one. *)
Theorem projected_saves (R : realFieldType) (H : (R -> R) -> Prop) (E : (R -> R) -> R) (U delta t f : R) :
  is_space H -> is_mean H E -> is_symmetric H E -> (forall x, H (fun z => Num.max (z - x) 0)) ->
  0 < delta -> 0 <= f <= U ->
  [/\ H (fun z => `|project U (t + delta * z) - f|), H (fun z => `|t + delta * z - f|)
    & projected_error E U delta t f = E (fun z => `|t + delta * z - f|)
        - delta * mean_excess E (t / delta) - delta * mean_excess E ((U - t) / delta)].
(* end thm-projected *)
Proof.
move=> sH mE sym finite b0 fU; have [Hp ->] := projected_is sH mE sym finite delta t fU.
have Hd := distance_in sH mE sym finite (t - f) delta.
have [|Ht Et] := mean_eq sH mE Hd (h' := fun z => `|t + delta * z - f|).
  by move=> z; congr `|_|; ring.
split=> //; rewrite /err /mean_loss Et -[E (fun z => saved _ _)]/(mean_loss E (saved U) (t - U / 2) delta).
rewrite (saved_is sH mE sym finite) //.
have -> : U / 2 - (t - U / 2) = U - t by linear.
have -> : U / 2 + (t - U / 2) = t by linear.
by rewrite opprD addrA addrAC.
Qed.

Section Worst.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U S : R).
Notation N := (N R m).
Notation c := (nth_count m).
Notation v := (v m U).

(* begin def-projected *)
(* n, the number of users who can be clipped to the width S, and for j of them d, tau and E of the book. *)
Definition users_above : nat := #|[pred l | S < U * (m l)%:R]|.
Definition bias_of (j : nat) : R := (\sum_(1 <= i < j.+1) (v i - S)) / (2 * N).
Definition off_middle (j : nat) : R :=
  Num.max (j%:R * S - (users_above - j)%:R * S - \sum_(users_above.+1 <= i < L.+1) v i) 0 / (2 * N).
Definition error_of (E : (R -> R) -> R) (j : nat) : R := let delta := S / N in let d := bias_of j in
  d + 2 * delta * mean_excess E (d / delta) - delta * mean_excess E ((U / 2 - off_middle j) / delta)
  - delta * mean_excess E ((U / 2 + off_middle j) / delta).
(* end def-projected *)

Hypothesis U0 : 0 < U.
Hypothesis Npos : (0 < \sum_l m l)%N.
Hypothesis S0 : 0 < S.
Notation n := users_above.
Let N0 : 0 < N. Proof. by rewrite ltr0n. Qed.
Let is_above (l : 'I_L) : bool := S < U * (m l)%:R.
Let low (l : 'I_L) : R := Num.min S (U * (m l)%:R).

(* The users above S are the first n of the sorted ones. *)
Let before i : (S < U * (c i)%:R) = (i < n)%N.
Proof.
have ex : exists i, ~~ (S < U * (c i)%:R) by exists L; rewrite nth_count_beyond // mulr0 -leNgt ltW.
case: (ex_minnP ex) => q not_q least.
have below i' : (S < U * (c i')%:R) = (i' < q)%N.
  case: (ltnP i' q) => iq; first by apply: contraTT iq => /least; rewrite -leqNgt.
  apply/negbTE; rewrite -leNgt; apply: le_trans (_ : _ <= U * (c q)%:R) _; last by rewrite leNgt.
  by rewrite ler_pmul2l // ler_nat nth_count_mono.
have qL : (q <= L)%N by apply: least; rewrite nth_count_beyond // mulr0 -leNgt ltW.
suff -> : n = q by [].
apply/eqP; rewrite -(eqr_nat R); apply/eqP; rewrite /users_above -sum1_card natr_sum big_mkcond /=.
have -> : \sum_l (if S < U * (m l)%:R then 1 else 0) = \sum_(i < L) (if S < U * (c i)%:R then 1 else 0) :> R.
  exact: (sum_over_sorted m (fun k => if S < U * k%:R then 1 else 0)).
rewrite (eq_bigr (fun i : 'I_L => if (i < q)%N then 1 else 0)) => [|i' _]; last by rewrite below.
rewrite -(big_mkord xpredT (fun i => if (i < q)%N then 1 else 0)) (big_cat_nat _ (n := q)) //=.
rewrite [X in _ + X]big_nat_cond [X in _ + X]big1 ?addr0 => [|i' /andP [/andP [qi _] _]]; last by rewrite ltnNge qi.
by rewrite (eq_big_nat _ _ (F2 := fun=> 1)) => [|i' /andP [_ ->] //]; rewrite sumr_const_nat subn0.
Qed.

Let n_le : (n <= L)%N.
Proof. by rewrite leqNgt -before nth_count_beyond // mulr0 -leNgt ltW. Qed.

(* The largest total width of the users outside A, to set against those of A at the upper end. *)
Let others (A : pred 'I_L) : (forall l, A l -> is_above l) ->
  \sum_(l | ~~ A l) low l = (n - #|A|)%:R * S + \sum_(n.+1 <= i < L.+1) v i.
Proof.
move=> sub; rewrite (bigID is_above) /=; congr (_ + _).
  rewrite (eq_bigr (fun=> S)) => [|l /andP [_ up]]; last by rewrite /low min_l // ltW.
  rewrite sumr_const mulr_natl; congr (_ *+ _); rewrite /users_above -(cardID A [pred l | S < U * (m l)%:R]).
  have -> : #|[predI [pred l | S < U * (m l)%:R] & A]| = #|A|.
    by apply: eq_card => l; rewrite !inE andbC; apply: andb_idr; exact: sub.
  by rewrite addKn; apply: eq_card => l; rewrite !inE.
rewrite (eq_bigl (fun l => ~~ is_above l)) => [|l]; last first.
  by rewrite andbC; apply: andb_idr; apply: contra; exact: sub.
rewrite (eq_bigr (fun l => U * (m l)%:R)) => [|l up]; last by rewrite /low min_r // leNgt.
rewrite big_mkcond /= (sum_over_sorted m (fun k => if ~~ (S < U * k%:R) then U * k%:R else 0)).
rewrite -(big_mkord xpredT (fun i => if ~~ (S < U * (c i)%:R) then U * (c i)%:R else 0)) (big_cat_nat _ (n := n)) //=.
rewrite big_nat_cond big1 ?add0r => [|i /andP [/andP [_ iN] _]]; last by rewrite before iN.
rewrite big_add1 /=; apply: eq_big_nat => i /andP [ni _].
by rewrite before ltnNge ni.
Qed.

(* No j users exceed S by more in total than the j heaviest. *)
Let top_sum (A : pred 'I_L) : \sum_(l | A l) (U * (m l)%:R - S) <= \sum_(1 <= i < #|A|.+1) (v i - S).
Proof.
have jL : (#|A| <= L)%N by rewrite -[X in (_ <= X)%N]card_ord max_card.
rewrite !sumrB !big_add1 /= sumr_const sumr_const_nat subn0 ler_add2r.
have -> : \sum_(0 <= i < #|A|) v i.+1 = U * sum_of_largest m #|A|%:R by rewrite sum_largest_whole // mulr_sumr.
have [j jE] : {j | #|A| = j} by exists #|A|.
rewrite jE in jL *; case: j jE jL => [|j] jE jL.
  by rewrite sum_largest_whole // big_geq // mulr0 big_pred0 // => l; exact: (card0_eq jE l).
have kc : is_ceil j.+1 (j.+1%:R : R) by split; rewrite ?lexx // ltr_subl_addr ltr_addl ltr01.
rewrite (sum_largest_eq m (ltW U0) (ltr0Sn R j) kc); set T := U * _.
apply: (@le_trans _ _ (\sum_(l | A l) (Num.max (U * (m l)%:R - T) 0 + T))).
  by apply: ler_sum => l _; rewrite -ler_subl_addr le_maxr lexx.
rewrite big_split /= sumr_const jE mulr_natl ler_add2r [leRHS](bigID A) /= ler_addl.
by apply: sumr_ge0 => l _; rewrite le_maxr lexx orbT.
Qed.

(* Sums from the middle, y, and what clipping leaves of them. *)
Let K (y : R) : R := clip (- (S / 2)) (S / 2) y.
Let two_N : 0 < 2 * N. Proof. by rewrite mulr_gt0 ?ltr0n. Qed.
Let ends (y : 'I_L -> R) := forall l, `|y l| <= U * (m l)%:R / 2.

Let rest_ge0 (A : pred 'I_L) : 0 <= \sum_(l | ~~ A l) low l.
Proof. by apply: sumr_ge0 => l _; rewrite le_minr mulr_ge0 ?ler0n ?(ltW U0) ?ltW. Qed.

(* Clipped users at the upper end keep the clipped mean away from the middle. *)
Let pushed (A : pred 'I_L) (y : 'I_L -> R) : ends y -> (forall l, A l -> S / 2 < y l) ->
  (forall l, A l -> is_above l) /\ off_middle #|A| * N <= `|\sum_l K (y l)|.
Proof.
move=> r up; have sub l : A l -> is_above l.
  move=> /up h; have := le_trans (ler_norm _) (r l); rewrite /is_above; move: (U * _) (y l) h => u z; linear.
split=> //; rewrite /off_middle invfM mulrA divfK ?gt_eqF // ler_pdivr_mulr ?ltr0n // le_maxl.
rewrite mulr_ge0 ?normr_ge0 ?ler0n // andbT -addrA -opprD -others //.
suff : #|A|%:R * S - \sum_(l | ~~ A l) low l <= (\sum_l K (y l)) * 2.
  by move=> h; apply: le_trans h _; apply: ler_wpmul2r; rewrite ?ler0n // ler_norm.
rewrite [\sum_l K (y l)](bigID A) /= mulrDl; apply: ler_add.
  rewrite (eq_bigr (fun=> S / 2)) => [|l Al]; last by have := up l Al; rewrite /K /clip; move: (y l) => z; minmax => //; linear.
  by rewrite sumr_const -[S / 2 *+ _]mulr_natl -[leRHS]mulrA divfK ?pnatr_eq0.
rewrite mulr_suml -sumrN; apply: ler_sum => l _; have := r l; rewrite ler_norml /low /K /clip.
by move: (U * _) (y l) => u z /andP [z0 z1]; minmax => //; linear.
Qed.

(* If the bias is not negative, it is at most that of some number j of users at the upper end. *)
Let bounded (y : 'I_L -> R) : ends y -> 0 <= \sum_l (y l - K (y l)) ->
  exists2 j, (j <= n)%N & \sum_l (y l - K (y l)) <= bias_of j * N /\ off_middle j * N <= `|\sum_l K (y l)|.
Proof.
move=> r _; pose A : pred 'I_L := fun l => S / 2 < y l; have [sub off] := pushed (A := A) r (fun l h => h).
exists #|A|; first by apply: subset_leq_card; apply/subsetP => l; rewrite inE => /sub.
split=> //; rewrite /bias_of invfM mulrA divfK ?gt_eqF // ler_pdivl_mulr ?ltr0n //.
apply: le_trans (top_sum A); rewrite mulr_suml [leLHS](bigID A) /= -[leRHS]addr0; apply: ler_add.
  apply: ler_sum => l Al; have := le_trans (ler_norm _) (r l); rewrite /K /clip; move: Al; rewrite /A.
  by move: (U * _) (y l) => u z; minmax => //; linear.
rewrite -oppr_ge0 -sumrN; apply: sumr_ge0 => l; rewrite /A -leNgt /K /clip; move: (y l) => z; minmax => //; linear.
Qed.

(* The same for a bias of either sign. *)
Let bounded_any (y : 'I_L -> R) : ends y ->
  exists2 j, (j <= n)%N & `|\sum_l (y l - K (y l))| <= bias_of j * N /\ off_middle j * N <= `|\sum_l K (y l)|.
Proof.
move=> r; case: (ger0P (\sum_l (y l - K (y l)))) => h; first exact: bounded.
have odd z : K (- z) = - K z by rewrite /K /clip; minmax => //; linear.
have r' : ends (fun l => - y l) by move=> l; rewrite normrN.
have e : \sum_l (- y l - K (- y l)) = - \sum_l (y l - K (y l)).
  by rewrite -sumrN; apply: eq_bigr => l _; rewrite odd; ring.
have [|j jn [b off]] := bounded r'; first by rewrite e oppr_ge0 ltW.
exists j; rewrite // -e; split=> //; move: off; rewrite (eq_bigr (fun l => - K (y l))) => [|l _]; last exact: odd.
by rewrite sumrN normrN.
Qed.

(* The heaviest users first. *)
Let sorted_users := sort (relpre m geq) (enum 'I_L).
Let nth_user l0 i : (i < L)%N -> m (nth l0 sorted_users i) = c i.
Proof.
move=> iL; have size_users : size sorted_users = L by rewrite size_sort size_enum_ord.
by rewrite -(nth_map l0 0%N m) ?size_users // -sort_map.
Qed.

Let heaviest j : (j <= n)%N -> exists s : seq 'I_L,
  [/\ uniq s, size s = j, forall l l', l \in s -> l' \notin s -> (m l' <= m l)%N, forall l, l \in s -> is_above l
    & \sum_(l | l \in s) (U * (m l)%:R - S) = \sum_(1 <= i < j.+1) (v i - S)].
Proof.
move=> jn; have jL := leq_trans jn n_le; have size_users : size sorted_users = L by rewrite size_sort size_enum_ord.
have uniq_users : uniq sorted_users by rewrite sort_uniq enum_uniq.
have place l : (index l sorted_users < L)%N /\ nth l sorted_users (index l sorted_users) = l.
  have ls : l \in sorted_users by rewrite mem_sort mem_enum.
  by rewrite -[X in (_ < X)%N]size_users index_mem ls nth_index.
have count l : m l = c (index l sorted_users).
  by have [iL e] := place l; rewrite -(nth_user l iL) e.
have taken l : (l \in take j sorted_users) = (index l sorted_users < j)%N.
  by rewrite in_take // mem_sort mem_enum.
exists (take j sorted_users); split; rewrite ?take_uniq ?size_takel ?size_users //.
- by move=> l l'; rewrite !taken -leqNgt !count => ij ji; apply: nth_count_mono; exact: leq_trans (ltnW ij) ji.
- by move=> l; rewrite taken /is_above count before => ij; exact: leq_trans jn.
rewrite -big_uniq ?take_uniq //= big_add1 /=.
case: (posnP L) => [L0|L0].
  have j0 : j = 0%N by apply/eqP; rewrite -leqn0 -[X in (_ <= X)%N]L0.
  by rewrite j0 take0 big_nil big_geq.
rewrite (big_nth (Ordinal L0)) size_takel ?size_users //; apply: eq_big_nat => i /andP [_ ij].
by rewrite nth_take // nth_user // (leq_trans ij).
Qed.

(* A dataset on which j of the heaviest users are at the upper end, and all others bring the clipped mean as
   close to the middle as they can, without being clipped: each in the same proportion th. *)
Let attained (j : nat) : (j <= n)%N -> exists (x : dataset R m) (s : seq 'I_L),
  [/\ in_range U x, [/\ uniq s, size s = j & forall l l', l \in s -> l' \notin s -> (m l' <= m l)%N],
      forall l, if l \in s then is_above l /\ forall i, x l i = U
                else `|user_sum x l - U / 2 * (m l)%:R| <= S / 2,
      mean x - one_line (U / 2) S x = bias_of j & `|one_line (U / 2) S x - U / 2| = off_middle j].
Proof.
(* user_sum, less the middle, is sumE; what clipping leaves of it KE; so the clipped mean is off by midE. *)
move=> /heaviest [s [us ss heavy up total]]; pose A : pred 'I_L := fun l => l \in s.
have cardA : #|A| = j by rewrite -ss; apply/card_uniqP.
pose C := \sum_(l | ~~ A l) low l; have C0 : 0 <= C := rest_ge0 A.
have CE := others (A := A) up; rewrite cardA -/C in CE.
have [th [th0 th1 thE]] : exists th, [/\ 0 <= th, th <= 1 & Num.max (j%:R * S - C) 0 = j%:R * S - th * C].
  have jS : 0 <= j%:R * S by rewrite mulr_ge0 ?ler0n ?ltW.
  case: (leP C (j%:R * S)) => h; first by exists 1; rewrite ler01 lexx mul1r max_l // subr_ge0.
  have Cp : 0 < C := le_lt_trans jS h; exists (j%:R * S / C); split; first by rewrite divr_ge0.
    by rewrite ler_pdivr_mulr // mul1r ltW.
  by rewrite divfK ?gt_eqF // subrr max_r // subr_le0 ltW.
pose x : dataset R m := fun l _ => if A l then U else U / 2 - th * (low l / 2) / (m l)%:R.
have low0 l : 0 <= low l by rewrite le_minr mulr_ge0 ?ler0n ?(ltW U0) ?ltW.
have lowU l : low l <= U * (m l)%:R by rewrite le_minl lexx orbT.
have lowS l : low l <= S by rewrite le_minl lexx.
have sumE l : user_sum x l - U / 2 * (m l)%:R = if A l then U * (m l)%:R / 2 else - (th * (low l / 2)).
  rewrite /user_sum /x sumr_const card_ord -[_ *+ m l]mulr_natl; case: ifP => _; first by field.
  case: (posnP (m l)) => [m0|m0]; last by field; rewrite pnatr_eq0 -lt0n m0.
  have -> : low l = 0 by apply: le_anti; rewrite low0 andbT (le_trans (lowU l)) // m0 mulr0.
  by rewrite m0; ring.
have th_low l : 0 <= th * (low l / 2) <= low l / 2.
  have l2 : 0 <= low l / 2 by rewrite divr_ge0 ?ler0n.
  by rewrite mulr_ge0 //= ler_pimull.
have KE l : K (user_sum x l - U / 2 * (m l)%:R) = if A l then S / 2 else - (th * (low l / 2)).
  rewrite sumE /K /clip; have := th_low l; have := lowS l; case: ifP => [Al|_].
    by have := up l Al; rewrite /is_above; move: (U * _) (low l) (th * _) => u w a; minmax => //; linear.
  by move: (low l) (th * _) => w a; minmax => //; linear.
have midE : one_line (U / 2) S x - U / 2 = off_middle j.
  rewrite /one_line addrAC subrr add0r /off_middle -addrA -opprD -CE thE.
  rewrite (eq_bigr (fun l => if A l then S / 2 else - (th * (low l / 2)))) => [|l _]; last exact: KE.
  rewrite (bigID A) /= (eq_bigr (fun=> S / 2)) => [|l ->] //.
  rewrite [X in _ + X](eq_bigr (fun l => - (th / 2) * low l)) => [|l /negbTE ->]; last by rewrite /=; field.
  rewrite sumr_const cardA -mulr_sumr -/C -[S / 2 *+ j]mulr_natl; field; exact: lt0r_neq0.
exists x, s; split=> //.
- move=> l i; rewrite /x; case: ifP => _; first by rewrite (ltW U0) lexx.
  have m0 : (0 < m l)%N by apply: leq_ltn_trans (ltn_ord i).
  have mR : 0 < (m l)%:R :> R by rewrite ltr0n.
  have [a0 a1] := andP (th_low l); have b : th * (low l / 2) / (m l)%:R <= U / 2.
    by rewrite ler_pdivr_mulr //; apply: le_trans a1 _; have := lowU l; rewrite mulrAC; linear.
  have b0 : 0 <= th * (low l / 2) / (m l)%:R by rewrite divr_ge0 // ltW.
  by move: (th * _ / _) b b0 => a b b0; apply/andP; split; linear.
- move=> l; case: ifPn => [ls|/negbTE ls]; first by split=> [|i]; [exact: up | rewrite /x /A ls].
  rewrite sumE /A ls normrN; have [a0 a1] := andP (th_low l).
  by rewrite ger0_norm // (le_trans a1) // ler_pmul2r ?invr_gt0 ?ltr0n.
- have -> : mean x = U / 2 + (\sum_l (user_sum x l - U / 2 * (m l)%:R)) / N.
    rewrite sumrB -mulr_sumr -natr_sum -[(\sum_l m l)%:R]/N /mean -[\sum_l \sum_j x l j]/(\sum_l user_sum x l).
    by move: (\sum_l _) => w; field; exact: lt0r_neq0.
  rewrite /one_line opprD addrACA subrr add0r -mulrBl -sumrB /bias_of -total invfM mulrA; congr (_ / _).
  rewrite mulr_suml [RHS]big_mkcond /=; apply: eq_bigr => l _; rewrite -/(K _) KE sumE /A; case: ifP => _.
    by field.
  by rewrite subrr.
by rewrite midE ger0_norm // /off_middle divr_ge0 ?(ltW two_N) // le_maxr lexx orbT.
Qed.

Section Law.
Variables (H : (R -> R) -> Prop) (E : (R -> R) -> R).

(* begin thm-projected *)
(* (2) Each user's sum is clipped around the middle, as by the mechanism in one line.  The largest error is the
   largest of n + 1 numbers; each of them is the error of a dataset on which all samples of the j heaviest users
   are U, no other user is clipped, and the clipped mean is as close to the middle as it then can be. *)
Theorem projected_worst : is_space H -> is_mean H E -> is_symmetric H E ->
  (forall x, H (fun z => Num.max (z - x) 0)) ->
  let t := one_line (U / 2) S in
  let error (x : dataset R m) := projected_error E U (S / N) (t x) (mean x) in
  (exists j, [/\ (j <= n)%N, is_max (in_range U) error (error_of E j)
                & forall i, (i <= n)%N -> error_of E i <= error_of E j])
  /\ (forall j, (j <= n)%N -> exists (x : dataset R m) (s : seq 'I_L),
        [/\ in_range U x, [/\ uniq s, size s = j & forall l l', l \in s -> l' \notin s -> (m l' <= m l)%N],
            forall l, if l \in s then forall i, x l i = U
                      else `|user_sum x l - U / 2 * (m l)%:R| <= S / 2,
            forall x', in_range U x' -> (forall l i, l \in s -> x' l i = U) -> `|t x - U / 2| <= `|t x' - U / 2|
          & error x = error_of E j]).
(* end thm-projected *)
Proof.
(* The error grows with the bias and falls with the distance of the clipped mean from the middle (err_moves).
   For some j, every dataset has no larger bias than j users at the upper end, and is no closer to the middle
   (bounded_any); there is a dataset with both (attained). *)
move=> sH mE sym finite t error; have delta0 : 0 < S / N by exact: divr_gt0.
have bias0 j : (j <= n)%N -> 0 <= bias_of j.
  move=> jn; rewrite /bias_of divr_ge0 ?(ltW two_N) // big_nat_cond; apply: sumr_ge0 => i /andP [/andP [i1 ij] _].
  by rewrite subr_ge0 ltW // before; lia.
have off0 j : 0 <= off_middle j by rewrite divr_ge0 ?(ltW two_N) // le_maxr lexx orbT.
have errE j : (j <= n)%N -> err E U (S / N) (bias_of j) (off_middle j) = error_of E j.
  move=> jn; rewrite /err (distance_is sH mE sym finite) // (saved_is sH mE sym finite) //.
  by rewrite /error_of opprD addrA.
have mean_in (x : dataset R m) : in_range U x -> 0 <= mean x <= U.
  move=> xr; have in_sum : 0 <= \sum_l (U * (m l)%:R - user_sum x l).
    by apply: sumr_ge0 => l _; rewrite subr_ge0; case/andP: (sum_range l xr).
  rewrite sumrB -mulr_sumr -natr_sum subr_ge0 -[(\sum_l m l)%:R]/N in in_sum.
  rewrite /mean -[\sum_l \sum_j x l j]/(\sum_l user_sum x l) ler_pdivr_mulr // in_sum andbT.
  by apply: divr_ge0; rewrite ?(ltW N0) // sumr_ge0 // => l _; case/andP: (sum_range l xr).
have errorE (x : dataset R m) : in_range U x -> error x = err E U (S / N) (t x - mean x) (t x - U / 2).
  by move=> xr; rewrite /error; have [_ ->] := projected_is sH mE sym finite (S / N) (t x) (mean_in x xr).
have moves := err_moves sH mE sym finite U (ltW delta0).
pose y (x : dataset R m) l := user_sum x l - U / 2 * (m l)%:R.
have yr (x : dataset R m) : in_range U x -> ends (y x).
  move=> xr l; rewrite ler_norml /y; have := sum_range l xr; move: (user_sum x l) (m l)%:R => u w; linear.
have tE (x : dataset R m) : t x - U / 2 = (\sum_l K (y x l)) / N by rewrite /t /one_line addrAC subrr add0r.
have dE (x : dataset R m) : t x - mean x = - ((\sum_l (y x l - K (y x l))) / N).
  have -> : mean x = U / 2 + (\sum_l y x l) / N.
    rewrite sumrB -mulr_sumr -natr_sum -[(\sum_l m l)%:R]/N /mean -[\sum_l \sum_j x l j]/(\sum_l user_sum x l).
    by move: (\sum_l _) => w; field; exact: lt0r_neq0.
  by rewrite /t /one_line -/(K _) sumrB mulrBl; move: (\sum_l K _) (\sum_l y x l) => a b; ring.
have at_dataset j (x : dataset R m) : (j <= n)%N -> in_range U x -> mean x - t x = bias_of j ->
    `|t x - U / 2| = off_middle j -> error x = error_of E j.
  move=> jn xr b off; rewrite errorE // -errE //; apply: le_anti; apply/andP; split; apply: moves.
  - by rewrite -normrN opprB b.
  - by rewrite off ger0_norm.
  - by rewrite -[leRHS]normrN opprB b.
  by rewrite off ger0_norm.
split; last first.
  move=> j jn; have [x [s [xr [us ss heavy] xU b off]]] := attained jn; exists x, s; split=> //; [| | exact: at_dataset].
    by move=> l; have := xU l; case: ifP => // _ [].
  move=> x' x'r x'U; rewrite off; have cardA : #|[pred l | l \in s]| = j by rewrite -ss; apply/card_uniqP.
  have up l : l \in s -> is_above l by move=> ls; have := xU l; rewrite ls => - [].
  have [|_] := pushed (A := [pred l | l \in s]) (yr x' x'r).
    move=> l ls; have := up l ls; rewrite /is_above /y /user_sum (eq_bigr (fun=> U)) => [|i _]; last exact: x'U.
    by rewrite sumr_const card_ord -[U *+ _]mulr_natr; linear.
  by rewrite cardA tE normrM [`|N^-1|]ger0_norm ?invr_ge0 ?(ltW N0) // ler_pdivl_mulr.
have [j jn most] : exists2 j, (j <= n)%N & forall i, (i <= n)%N -> error_of E i <= error_of E j.
  have [j _ most] := arg_maxP (P := predT) (i0 := ord0) (fun i : 'I_n.+1 => error_of E i) isT.
  by exists j => [|i iN]; [rewrite -ltnS | exact: (most (Ordinal (iN : (i < n.+1)%N)) isT)].
exists j; split=> //; split=> [|x xr].
  by have [x [s [xr _ _ b off]]] := attained jn; exists x; last exact: at_dataset.
have [i iN [b off]] := bounded_any (yr x xr); apply: le_trans (most i iN); rewrite errorE // -errE //; apply: moves.
  by rewrite dE normrN normrM [`|N^-1|]ger0_norm ?invr_ge0 ?(ltW N0) // [leRHS]ger0_norm ?bias0 // ler_pdivr_mulr.
by rewrite [leLHS]ger0_norm ?off0 // tE normrM [`|N^-1|]ger0_norm ?invr_ge0 ?(ltW N0) // ler_pdivl_mulr.
Qed.
End Law.
End Worst.
