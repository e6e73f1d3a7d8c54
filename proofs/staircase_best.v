(* No noise that hides a shift by a unit is smaller on average than the staircase. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear chain exponential line staircase_law.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin def-hidden-shifts *)
(* E is the mean under the law of Z, of functions in a set that a shift does not leave, nor what makes a
   function 0 beyond some point.  A shift by d, of a unit at most, changes means of functions from 0 on,
   and so the chances of events, by the factor q at most. *)
Definition has_parts (R : realFieldType) (H : (R -> R) -> Prop) : Prop :=
  (forall a f, H f -> H (fun z => if z < a then f z else 0)) /\ (forall d f, H f -> H (fun z => f (z + d))).
Definition hides_shifts (R : realFieldType) (H : (R -> R) -> Prop) (E : (R -> R) -> R) (q : R) : Prop :=
  forall d f, `|d| <= 1 -> H f -> (forall z, 0 <= f z) -> E (fun z => f (z + d)) <= q * E f.
(* end def-hidden-shifts *)

Section Side.
Variables (R : realFieldType) (H : (R -> R) -> Prop) (E : (R -> R) -> R) (h : R).
Hypothesis archi : forall x : R, exists n : nat, x <= n%:R.
Hypothesis cH : is_class H.
Hypothesis mE : is_mean H E.
Hypothesis parts : has_parts H.
Hypothesis h1 : 1 < h.
Hypothesis hides : hides_shifts H E (h ^+ 2).

Let sH : is_space H. Proof. by case: cH. Qed.
Let h0 : 0 < h. Proof. exact: h_gt0. Qed.

Lemma law_ext f f' : H f -> (forall z, f z = f' z) -> H f' /\ E f' = E f.
Proof.
have [ext _ _] := sH; have [_ _ mono] := mE => Hf e; have Hf' := ext _ _ Hf e; split=> //.
by apply: le_anti; rewrite !mono // => z; rewrite e.
Qed.

Lemma law_add f f' : H f -> H f' -> H (fun z => f z + f' z) /\ E (fun z => f z + f' z) = E f + E f'.
Proof.
move=> Hf Hf'; have [_ _ clin] := sH; have [_ lin _] := mE; have Hs := clin 1 _ _ Hf Hf'.
have [|Ha ->] := law_ext Hs (f' := fun z => f z + f' z); first by move=> z; rewrite mul1r.
by split=> //; rewrite lin // mul1r.
Qed.

Lemma law_scale a f : H f -> H (fun z => a * f z) /\ E (fun z => a * f z) = a * E f.
Proof. by move=> Hf; split; [exact: space_scale | exact: (mean_scale a sH mE)]. Qed.

(* f from a on and up to b, without b. *)
Definition inside (a b : R) (f : R -> R) (z : R) : R := if a <= z < b then f z else 0.

Lemma inside_has a b f : H f -> H (inside a b f).
Proof.
move=> Hf; have [cut _] := parts; have [Hs _] := law_scale (-1) (cut a _ (cut b _ Hf)).
have [Ha _] := law_add (cut b _ Hf) Hs; have [] // := law_ext Ha (f' := inside a b f) => z.
by rewrite /inside leNgt; case: (ltP z a) => za /=; case: (ltP z b) => zb; ring.
Qed.

Lemma from_has a f : H f -> H (fun z => if a <= z then f z else 0).
Proof.
move=> Hf; have [cut _] := parts; have [Hs _] := law_scale (-1) (cut a _ Hf).
have [Ha _] := law_add Hf Hs; have [] // := law_ext Ha (f' := fun z => if a <= z then f z else 0) => z.
by rewrite leNgt; case: (ltP z a) => za /=; ring.
Qed.

Lemma one_has : H (fun=> 1). Proof. by case: sH. Qed.

Lemma id_has : H (fun z => z).
Proof.
have [_ dist] := cH; have [cut _] := parts; have Hd := dist 0.
have [Hs _] := law_scale (-2) (cut 0 _ Hd); have [Ha _] := law_add Hd Hs.
have [] // := law_ext Ha (f' := fun z => z) => z; rewrite sub0r normrN.
by case: (ltrP z 0) => z0; [rewrite ltr0_norm // | rewrite ger0_norm //]; ring.
Qed.

Lemma shifted_has c : H (fun z => z - c).
Proof. by have [_ shift] := parts; exact: (shift (- c) (fun z => z) id_has). Qed.

Notation g := (gamma h).
Definition chance (a b : R) : R := E (inside a b (fun=> 1)).

Lemma chance_ge0 a b : 0 <= chance a b.
Proof. by apply: (mean_ge0 sH mE); [exact/inside_has/one_has | move=> z; rewrite /inside; case: ifP]. Qed.

Lemma chance_shift a b a' b' : b - a = b' - a' -> `|a' - a| <= 1 -> chance a b <= h ^+ 2 * chance a' b'.
Proof.
move=> ab near; have H1 := inside_has a' b' one_has; have [_ shift] := parts.
have [|Hf Ef] := law_ext (shift (a' - a) _ H1) (f' := inside a b (fun=> 1)).
  move=> z; rewrite /inside; have -> : b' = b + (a' - a) by move: ab; linear.
  by rewrite ltr_add2r -{1}(subrK a a') addrC ler_add2r.
rewrite /chance Ef; apply: hides => // z; rewrite /inside; case: ifP => //.
Qed.

(* Steps above a falling line, and below a growing one. *)
Lemma steps_above (d : R) N z : 0 < d ->
  inside 0 (N%:R * d) (fun z => g - z) z <= \sum_(i < N) (g - i%:R * d) * inside (i%:R * d) (i.+1%:R * d) (fun=> 1) z.
Proof.
move=> d0; elim: N => [|N IH].
  by rewrite big_ord0 /inside mul0r; case: ifP => // /andP [z0 /(le_lt_trans z0)]; rewrite ltxx.
rewrite big_ord_recr /=; apply: le_trans (ler_add IH (lexx _)); rewrite /inside.
have up : N%:R * d <= N.+1%:R * d by rewrite ler_pmul2r // ler_nat.
have N0 : 0 <= N%:R * d by rewrite mulr_ge0 ?ler0n ?ltW.
case: (leP 0 z) => z0 /=; last by rewrite leNgt (lt_le_trans z0 N0) /= mulr0 addr0.
case: (ltP z (N%:R * d)) => zN /=; first by rewrite (lt_le_trans zN up) leNgt zN /= mulr0 addr0.
rewrite zN /= add0r; case: ifP => _; last by rewrite mulr0.
by rewrite mulr1 ler_add2l ler_opp2.
Qed.

Lemma steps_below (d : R) N z : 0 < d ->
  \sum_(i < N) (i%:R * d) * inside (g + i%:R * d) (g + i.+1%:R * d) (fun=> 1) z <= inside g (g + N%:R * d) (fun z => z - g) z.
Proof.
move=> d0; elim: N => [|N IH].
  by rewrite big_ord0 /inside mul0r addr0; case: ifP => // /andP [z0 /(le_lt_trans z0)]; rewrite ltxx.
rewrite big_ord_recr /=; apply: le_trans (ler_add IH (lexx _)) _; rewrite /inside.
have up : g + N%:R * d <= g + N.+1%:R * d by rewrite ler_add2l ler_pmul2r // ler_nat.
have N0 : g <= g + N%:R * d by rewrite ler_addl mulr_ge0 ?ler0n ?ltW.
case: (leP g z) => z0 /=; last by rewrite leNgt (lt_le_trans z0 N0) /= mulr0 addr0.
case: (ltP z (g + N%:R * d)) => zN /=; first by rewrite (lt_le_trans zN up) leNgt zN /= mulr0 addr0.
rewrite zN /= add0r; case: ifP => _; last by rewrite mulr0.
by rewrite mulr1 ler_subr_addl.
Qed.
End Side.
