(* Privacy: the quantile, composition, and sums of whole numbers. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint ring zify.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Composition.
Variable R : realFieldType.

(* A mechanism with finitely many outputs on datasets in D: p x o is the probability of o at x.
   near x y says that x and y are neighbours; q stands for exp eps. *)
(* begin def-private *)
Definition is_law (O : finType) (p : O -> R) : Prop := (forall o, 0 <= p o) /\ \sum_o p o = 1.
Definition is_private (D : Type) (near : D -> D -> Prop) (O : finType) (q : R) (p : D -> O -> R) : Prop :=
  (forall x, is_law (p x)) /\ forall x y o, near x y -> p x o <= q * p y o.
(* First p, then r, which sees the output of p. *)
Definition in_turn (D : Type) (O O' : finType) (p : D -> O -> R) (r : O -> D -> O' -> R) :
  D -> O * O' -> R := fun x t => p x t.1 * r t.1 x t.2.
(* end def-private *)

(* One after the other, two private mechanisms are private; their budgets add, the q multiply. *)
(* begin composition *)
Theorem composition (D : Type) (near : D -> D -> Prop) (O O' : finType) (q q' : R)
    (p : D -> O -> R) (r : O -> D -> O' -> R) : 0 <= q -> 0 <= q' ->
  is_private near q p -> (forall o, is_private near q' (r o)) ->
  is_private near (q * q') (in_turn p r).
(* end composition *)
Proof.
move=> q0 q0' [lawp pp] priv; split=> [x|x y [o o'] xy].
  split=> [[o o']|].
    by apply: mulr_ge0; [case: (lawp x) | case: (priv o) => [lr _]; case: (lr x)].
  rewrite -(pair_big xpredT xpredT (fun o o' => p x o * r o x o')) /=.
  have [_ <-] := lawp x; apply: eq_bigr => o _; rewrite -mulr_sumr.
  by case: (priv o) => [lr _]; case: (lr x) => [_ ->]; rewrite mulr1.
rewrite /in_turn /= mulrACA; have [lr rr] := priv o.
apply: ler_pmul; [by case: (lawp x) | by case: (lr x) | exact: pp | exact: rr].
Qed.

(* An event: the sum over any set of outputs changes by the factor q at most, as Definition II.1 says. *)
(* begin events *)
Theorem private_events (D : Type) (near : D -> D -> Prop) (O : finType) (q : R) (p : D -> O -> R) :
  is_private near q p ->
  forall x y (E : {set O}), near x y -> \sum_(o in E) p x o <= q * \sum_(o in E) p y o.
(* end events *)
Proof. by move=> [_ pp] x y E xy; rewrite mulr_sumr; apply: ler_sum => o _; exact: pp. Qed.
End Composition.

(* What is released starts from a sum of whole numbers. *)
Section Whole.
Variables (L : nat) (low high : int).
(* begin def-whole *)
Definition clip_whole (n : int) : int := Num.min (Num.max n low) high.
Definition total (levels : 'I_L -> int) : int := \sum_l clip_whole (levels l).
(* end def-whole *)

(* Each user's whole number is clipped to [low, high]: replacing one user moves the total by at most
   high - low, and no smaller number will do. *)
(* begin prp-grid *)
Theorem prp_grid : low <= high ->
  (forall x y l, (forall l', l' != l -> x l' = y l') -> `|total x - total y| <= high - low)
  /\ forall l : 'I_L, exists x y,
       (forall l', l' != l -> x l' = y l') /\ `|total x - total y| = high - low.
(* end prp-grid *)
Proof.
move=> lh.
have diff x y l : (forall l', l' != l -> x l' = y l') ->
    total x - total y = clip_whole (x l) - clip_whole (y l).
  by move=> same; rewrite /total -sumrB (bigD1 l) //= big1 ?addr0 // => l' ll'; rewrite same ?subrr.
split=> [x y l same|l]; first by rewrite (diff _ _ _ same) /clip_whole ler_norml; lia.
exists (fun l' => if l' == l then high else low), (fun=> low).
have same l' : l' != l -> (if l' == l then high else low) = low by move/negbTE ->.
by split=> //; rewrite (diff _ _ _ same) eqxx /clip_whole; lia.
Qed.
End Whole.

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
elim: s a => [|b s IH] a ax [b' b's xb'] //= [gb gs]; first by [].
case: (leP x b) => xb /=.
  split; last by split=> [t at_ tx|]; [rewrite (gb t) ?(gb x) ?(lt_le_trans at_) ?(le_trans tx) |
    split=> // t xt tb; apply: gb => //; exact: le_lt_trans xt].
  move: ax; rewrite le_eqVlt => /orP [/eqP <-|ax]; first by rewrite subrr mul0r add0r.
  by rewrite (gb x) // addrA -mulrDl; congr (_ * _ + _); ring.
have bs : b' \in s by move: b's; rewrite in_cons => /orP [/eqP bb|//]; move: xb; rewrite -bb ltNge xb'.
have [-> h] := IH b (ltW xb) (ex_intro2 _ _ b' bs xb') gs.
by [].
Qed.

End Quantile.
