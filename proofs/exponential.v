(* What an exponential function is, without limits. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import linear.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Exponential.
Variable R : realFieldType.

(* begin def-exponential *)
(* It turns sums into products, and its graph lies nowhere below the line 1 + x.  On the reals
   there is no other such function than exp. *)
Definition is_exponential (exp : R -> R) : Prop :=
  (forall x y, exp (x + y) = exp x * exp y) /\ (forall x, 1 + x <= exp x).
(* end def-exponential *)

Variable exp : R -> R.
Hypothesis is_exp : is_exponential exp.

Lemma exp_split x y : exp (x + y) = exp x * exp y.
Proof. by case: is_exp. Qed.

Lemma exp_ge x : 1 + x <= exp x.
Proof. by case: is_exp. Qed.

Lemma exp0 : exp 0 = 1.
Proof.
have h := exp_ge 0; have p : 0 < exp 0 by linear.
by apply: (mulfI (lt0r_neq0 p)); rewrite -exp_split addr0 mulr1.
Qed.

Lemma exp_gt0 x : 0 < exp x.
Proof.
have ne : exp x != 0.
  apply/eqP => z; have := exp_split x (- x); rewrite subrr exp0 z mul0r => /eqP.
  by rewrite oner_eq0.
have two : 1 / 2 + 1 / 2 = 1 :> R by linear.
have -> : x = x / 2 + x / 2 by linear.
rewrite exp_split -expr2 exprn_even_gt0 //=; apply: contra ne => /eqP z.
by have -> : x = x / 2 + x / 2; [linear | rewrite exp_split z mul0r].
Qed.

Lemma exp_gt1 x : 0 < x -> 1 < exp x.
Proof. by have := exp_ge x; linear. Qed.

(* An upper bound: exp x <= 1 / (1 - x) for x < 1. *)
Lemma exp_le x : exp x * (1 - x) <= 1.
Proof.
rewrite -[leRHS]exp0 -(subrr x) exp_split; apply: ler_wpmul2l; first exact/ltW/exp_gt0.
exact: exp_ge.
Qed.

Lemma exp_mono x y : x <= y -> exp x <= exp y.
Proof.
move=> xy; have -> : y = x + (y - x) by linear.
rewrite exp_split ler_pmulr ?exp_gt0 //; have := exp_ge (y - x); linear.
Qed.

End Exponential.
