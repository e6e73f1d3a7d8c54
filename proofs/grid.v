(* Upper bounds on exp at 1/400, 2/400, ..., computed in whole numbers. *)
From Coq Require Import ZArith Lia.
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import linear exponential rows.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Delimit Scope Z_scope with coqZ.

(* a stands for a / 10^18; products are rounded up. *)
Definition whole : Z := (10 ^ 18)%Z.
Definition up (a b : Z) : Z := (a * b / whole + 1)%Z.

(* An upper bound on exp (1 / z): exp (1 / z) <= 1 / (1 - 1 / z), with z doubled n times, and the bound
   squared n times. *)
Fixpoint small (n : nat) (z : Z) : Z :=
  match n with
  | O => (whole * z / (z - 1) + 1)%Z
  | S n => let a := small n (2 * z)%Z in up a a
  end.

(* Starting with a >= exp (j / 400): test each interval of budgets with the bound at its right end. *)
Fixpoint run (fuel : nat) (step : Z) (test : Z -> Z -> bool) (j a : Z) : bool :=
  match fuel with
  | O => true
  | S fuel => let b := up a step in test j b && run fuel step test (j + 1)%Z b
  end.

Section Sound.
Variables (R : realFieldType) (exp : R -> R).
Hypothesis is_exp : is_exponential exp.
Notation "$ z" := (@of_Z R z) (at level 2, format "$ z").
Definition below (x : R) (a : Z) : Prop := exp x <= $a / $whole.

Lemma whole_gt0 : 0 < $whole. Proof. exact: of_pos. Qed.

(* Rounding up. *)
Lemma div_up (a b : Z) : (0 < b)%Z -> $a <= $b * $(a / b + 1)%Z.
Proof.
move=> b0; rewrite -of_ZM; apply: of_Z_le; rewrite Z.add_1_r.
exact/Z.lt_le_incl/Z.mul_succ_div_gt.
Qed.

Lemma below_up x y a b : below x a -> below y b -> below (x + y) (up a b).
Proof.
rewrite /below (exp_split is_exp) => xa yb.
have w := whole_gt0; have d := @div_up (a * b)%Z whole (erefl _); rewrite of_ZM -/(up a b) in d.
have xy : exp x * exp y <= $a / $whole * ($b / $whole).
  by apply: ler_pmul => //; exact/ltW/(exp_gt0 is_exp).
move: ($whole) ($a) ($b) ($(up a b)) w d xy => W A B C w d xy; apply: le_trans xy _.
have -> : A / W * (B / W) = A * B / W / W by field; rewrite gt_eqF.
apply: ler_wpmul2r; first by rewrite invr_ge0 ltW.
by rewrite ler_pdivr_mulr // [leRHS]mulrC.
Qed.

Lemma below_small n z : (1 < z)%Z -> below (1 / $z) (small n z).
Proof.
elim: n z => [|n IH] z z1; cbn [small]; have z0 : 0 < $z by apply/to_gt0/Z.ltb_lt; exact: Z.lt_trans z1.
  have z1' : 0 < $z - 1.
    rewrite -[1]/($1) -toB; apply/to_gt0/Z.ltb_lt; exact/Z.lt_0_sub.
  have := exp_le is_exp (1 / $z); have w := whole_gt0.
  have -> : 1 - 1 / $z = ($z - 1) / $z by field; rewrite gt_eqF.
  have d := @div_up (whole * z)%Z (z - 1)%Z (proj2 (Z.lt_0_sub _ _) z1).
  rewrite of_ZM toB to1 in d; rewrite /below; move: d w.
  move: ($whole) ($(whole * z / (z - 1) + 1)%Z) => W S d w; move: (exp _) => e h.
  rewrite mulrA ler_pdivr_mulr // mul1r in h.
  rewrite ler_pdivl_mulr // -(ler_pmul2l z1'); apply: le_trans d.
  by have := ler_wpmul2r (ltW w) h => h'; linear.
have half : 1 / $z = 1 / $(2 * z)%Z + 1 / $(2 * z)%Z.
  by rewrite of_ZM -[$2]/(2%:R); field; rewrite gt_eqF.
rewrite half; apply: below_up; apply: IH; lia.
Qed.

Lemma run_sound fuel step test k a : below (1 / 400) step -> below (k%:R / 400) a ->
  run fuel step test (Z.of_nat k) a ->
  forall i, (i < fuel)%N -> exists2 b, below ((k + i).+1%:R / 400) b & test (Z.of_nat (k + i)) b.
Proof.
move=> bs; elim: fuel k a => // fuel IH k a ba; cbn [run] => /andP [t next].
have next_b : below (k.+1%:R / 400) (up a step).
  by have -> : k.+1%:R / 400 = k%:R / 400 + 1 / 400 :> R; [rewrite -addn1 natrD mulrDl | exact: below_up].
case=> [_|i i_fuel]; first by rewrite addn0; exists (up a step).
rewrite addnS -addSn; apply: IH next_b _ _ i_fuel.
by rewrite Nat2Z.inj_succ -Z.add_1_r.
Qed.

End Sound.
