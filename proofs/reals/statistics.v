(* For the reals: a bounded statistic has a modulus, and at each sensitivity an estimator of the smallest
   bias. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import classical_sets.
From mathcomp.analysis Require Import reals.
From UserDP Require Import linear modulus.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Bounded.
Variables (R : realType) (X : Type) (adjacent : X -> X -> Prop) (f : X -> R).

Lemma sup_is (P : R -> Prop) : (exists r, P r) -> (exists b, forall r, P r -> r <= b) ->
  (forall r, P r -> r <= sup P) /\ (forall v, (forall r, P r -> r <= v) -> sup P <= v).
Proof.
move=> some [b bound]; split=> [r Pr|v Pv]; last exact: sup_le_ub.
by apply: sup_ub => //; exists b.
Qed.

(* begin thm-modulus-bias thm-modulus-error *)
(* A bounded statistic, if there is a dataset, has a modulus omega.  It is constant from L on if whatever
   can be reached can be reached in L steps, and then its concave majorant exists.  At each sensitivity
   Delta there is a smallest bias beta, and an estimator that attains it. *)
Theorem bounded_statistic (D0 : X) (B : R) : (forall D, `|f D| <= B) ->
  (forall D D', adjacent D D' -> adjacent D' D) ->
  exists2 omega, is_modulus adjacent f omega &
    (forall L, (forall n D D', within_steps adjacent n D D' -> within_steps adjacent L D D') ->
       (forall n, omega n <= omega L) /\ exists h, is_concave_majorant omega h)
    /\ forall Delta, 0 <= Delta -> exists beta,
       [/\ forall n, (omega n - n%:R * Delta) / 2 <= beta,
           forall g b, sensitivity_between_at_most adjacent g Delta -> bias_at_most f g b -> beta <= b
         & exists2 F, is_extension adjacent f Delta F &
             sensitivity_between_at_most adjacent (fun D => F D + beta) Delta /\ bias_at_most f (fun D => F D + beta) beta].
(* end thm-modulus-bias thm-modulus-error *)
Proof.
move=> bounded sym; have fB D : - B <= f D <= B by rewrite -ler_norml.
pose apart n r := exists D D', within_steps adjacent n D D' /\ r = f D - f D'.
have zero n : within_steps adjacent n D0 D0 by elim: n => [//|n IH]; exists D0 => //; left.
have apart_sup n : (forall r, apart n r -> r <= sup (apart n))
    /\ (forall v, (forall r, apart n r -> r <= v) -> sup (apart n) <= v).
  apply: sup_is; first by exists (f D0 - f D0), D0, D0.
  by exists (2 * B) => r [D [D' [_ ->]]]; have := fB D; have := fB D'; linear.
pose omega n := sup (apart n).
have mod : is_modulus adjacent f omega.
  move=> n; have [ub least] := apart_sup n.
  by split=> [D D' DD'|v bound]; [apply: ub; exists D, D' | apply: least => r [D [D' [DD' ->]]]; exact: bound].
have omegaB n : omega n <= 2 * B.
  by apply: (mod n).2 => D D' _; have := fB D; have := fB D'; linear.
exists omega => //; split=> [L all|Delta D0'].
  have top n : omega n <= omega L by apply: (mod n).2 => D D' /all; exact: (mod L).1.
  split=> //; apply: (majorant_exists mod top) => x; exists (Num.bound `|x|).
  by apply: le_trans (ler_norm x) _; exact/ltW/archi_boundP/normr_ge0.
pose half r := exists n, r = (omega n - n%:R * Delta) / 2.
have [ub least] : (forall r, half r -> r <= sup half) /\ (forall v, (forall r, half r -> r <= v) -> sup half <= v).
  apply: sup_is; first by exists ((omega 0%N - 0%:R * Delta) / 2), 0%N.
  by exists B => r [n ->]; have := omegaB n; have := mulr_ge0 (ler0n R n) D0'; linear.
have [low up] := smallest_bias mod D0'.
have over n : (omega n - n%:R * Delta) / 2 <= sup half by apply: ub; exists n.
exists (sup half); split=> // [g b sens bias|].
  by apply: least => r [n ->]; exact: low sens bias n.
pose below D r := exists n D', within_steps adjacent n D D' /\ r = - (f D' + n%:R * Delta).
suff ext : is_extension adjacent f Delta (fun D => - sup (below D)).
  by exists (fun D => - sup (below D)) => //; exact: up.
move=> D; have [ub' least'] : (forall r, below D r -> r <= sup (below D))
    /\ (forall v, (forall r, below D r -> r <= v) -> sup (below D) <= v).
  apply: sup_is; first by exists (- (f D + 0%:R * Delta)), 0%N, D.
  by exists B => r [n [D' [_ ->]]]; have := fB D'; have := mulr_ge0 (ler0n R n) D0'; linear.
split=> [n D' DD'|v bound].
  by rewrite ler_oppl; apply: ub'; exists n, D'.
by rewrite ler_oppr; apply: least' => r [n [D' [DD' ->]]]; rewrite ler_opp2; exact: bound.
Qed.
End Bounded.
