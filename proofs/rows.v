(* Bounds on the factor at single budgets, checked by computation in whole numbers. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import linear lattice chain.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Delimit Scope Z_scope with coqZ.

(* A row: at q = A / B, with noise of mean absolute value at most X / (2 Y), the factor is at most f / 1000.
   This follows either from the chain, or from one user's bound s_k, or from s_k and a chain of two
   users. *)
Definition chain_row (f X Y A B : Z) : bool :=
  (250 * ((A + B) * (A + B) * Y + X * (A * A - B * B)) <=? f * Y * A * B)%coqZ.
Definition one_row (f X Y num den : Z) : bool := (500 * X * den <=? f * Y * num)%coqZ.
Definition mixed_row (f X Y A B num den : Z) : bool :=
  ((Y <=? X) && (X <=? 2 * Y) &&
   (500 * (2 * Y - X) * den * A * B + 250 * (X - Y) * (3 * A - B) * (A + B) * num
    <=? f * Y * num * A * B))%coqZ.

(* V and W stand for u_k d^k and u_(k + 1) d^(k + 1), D for d^k, and s_k is num / den; k grows until s_k is
   at least 1 / (k + 1). *)
Fixpoint search (fuel : nat) (f X Y A B k V W D : Z) : bool :=
  let d := (A - B)%coqZ in
  let num := (W - d * V + D * d)%coqZ in
  let den := (2 * (W + k * (D * d)))%coqZ in
  match fuel with
  | O => false
  | S fuel =>
      if (den <=? (k + 1) * num)%coqZ then
        (0 <? num)%coqZ && (k * num <=? den)%coqZ && (one_row f X Y num den || mixed_row f X Y A B num den)
      else search fuel f X Y A B (k + 1) W (2 * A * W - d * d * V) (D * d)
  end.
Definition row (f X Y A B : Z) : bool :=
  if chain_row f X Y A B then true else search 30 f X Y A B 0 1 (2 * A) 1.

Section Sound.
Variable R : realFieldType.
Notation "$ z" := (@of_Z R z) (at level 2, format "$ z").

Lemma toB a b : $(a - b)%coqZ = $a - $b.
Proof. by rewrite -Z.add_opp_r of_ZD of_ZN. Qed.
Lemma to_gt0 z : (0 <? z)%coqZ -> 0 < $z.
Proof. by case: z => [|p|p] // _; exact: of_pos. Qed.
Lemma to_le a b : (a <=? b)%coqZ -> $a <= $b.
Proof. by move/Z.leb_le; exact: of_Z_le. Qed.
Lemma to1 : $1 = 1. Proof. by []. Qed.
Lemma to_small : ($2 = 2) * ($3 = 3) * ($250 = 250) * ($500 = 500).
Proof. by []. Qed.

Variables f X Y A B : Z.
Hypothesis Y0 : 0 < $Y.
Hypothesis B0 : 0 < $B.
Hypothesis AB : $B < $A.
Hypothesis X0 : 0 <= $X.
Let q : R := $A / $B.
Let x : R := $X / $Y.
Let F : R := $f / 1000.
Let d : R := $A - $B.
Let d0 : 0 < d. Proof. by rewrite subr_gt0. Qed.
Let A0 : 0 < $A. Proof. exact: lt_trans AB. Qed.

(* What a row claims, in the field. *)
Definition row_claim : Prop :=
  (1 + cosh_log q) / 2 + x / 2 * sinh_log q <= F \/
  exists k, [/\ k%:R * s q k <= 1, 1 <= k.+1%:R * s q k & 0 < s q k] /\
    (x / 2 <= F * s q k \/
     1 <= x <= 2 /\ ((2 - x) / s q k + (x - 1) * (1 + cosh_log q + 2 * sinh_log q)) / 2 <= F).

Lemma chain_row_sound : chain_row f X Y A B -> (1 + cosh_log q) / 2 + x / 2 * sinh_log q <= F.
Proof.
move/to_le; rewrite !(of_ZM, of_ZD, toB) !to_small => h.
have P : 0 < 1000 * $Y * $A * $B by rewrite !mulr_gt0 ?ltr0n.
rewrite -(ler_pmul2l P).
have -> : 1000 * $Y * $A * $B * F = $f * $Y * $A * $B by rewrite /F; linear.
apply: le_trans h; rewrite le_eqVlt; apply/orP; left; apply/eqP.
by rewrite /q /x /cosh_log /sinh_log; field; rewrite !gt_eqF.
Qed.

Lemma to_nat k : $(Z.of_nat k) = k%:R.
Proof. by case: k => // k; rewrite /= SuccNat2Pos.id_succ. Qed.

Let q1 : 1 < q. Proof. by rewrite /q ltr_pdivl_mulr // mul1r. Qed.

Lemma u_next k : d * u q k.+2 = 2 * $A * u q k.+1 - d * u q k.
Proof.
have := u_step q1 k; have -> : q - 1 = d / $B by rewrite /q /d; field; rewrite gt_eqF.
rewrite /q; move: (u _ k) (u _ k.+1) (u _ k.+2) => a b c e.
have : $B * (d / $B * c) = $B * (2 * ($A / $B) * b - d / $B * a) by rewrite e.
have -> : $B * (d / $B * c) = d * c by field; rewrite gt_eqF.
by move=> ->; field; rewrite gt_eqF.
Qed.

(* By induction on the fuel. V and W are u_k and u_(k+1) times powers of d, which make them integers,
   so num / den is s_k. While (k + 1) s_k < 1, the next k is tried; then the integers that `search`
   compares are both sides of the claim times a positive number. *)
Lemma search_sound fuel k V W D :
  $V = u q k * d ^+ k -> $W = u q k.+1 * d ^+ k.+1 -> $D = d ^+ k ->
  search fuel f X Y A B (Z.of_nat k) V W D -> row_claim.
Proof.
elim: fuel k V W D => // fuel IH k V W D hV hW hD; cbn [search].
set num := (W - _ + _)%coqZ; set den := (2 * _)%coqZ.
have P : 0 < d ^+ k.+1 by rewrite exprn_gt0.
have numE : $num = d ^+ k.+1 * (u q k.+1 - u q k + 1).
  by rewrite /num of_ZD toB !of_ZM toB hV hW hD -/d exprS; ring.
have denE : $den = d ^+ k.+1 * (2 * (u q k.+1 + k%:R)).
  by rewrite /den of_ZM of_ZD !of_ZM toB to_nat hW hD -/d exprS -[$2]/(2%:R); ring.
have den0 : 0 < $den.
  have [h _] := u_grows q1 k.+1; have := ler0n R k => h'.
  by rewrite denE pmulr_rgt0 //; linear.
have sE : $num = s q k * $den.
  rewrite numE denE; have := s_equation q1 k => h.
  have -> : s q k * (d ^+ k.+1 * (2 * (u q k.+1 + k%:R))) = d ^+ k.+1 * (2 * s q k * (u q k.+1 + k%:R)) by ring.
  by rewrite h.
clearbody num den; case: ifP => [/to_le le1 | _]; last first.
  have -> : (Z.of_nat k + 1)%coqZ = Z.of_nat k.+1 by rewrite Nat2Z.inj_succ -Z.add_1_r.
  apply: IH => //; last by rewrite of_ZM toB hD exprS mulrC.
  rewrite toB !of_ZM toB hV hW -/d -[$2]/(2%:R) !exprS.
  have := u_next k => h; have : d ^+ k * d * (d * u q k.+2) = d ^+ k * d * (2 * $A * u q k.+1 - d * u q k) by rewrite h.
  by move=> h'; linear.
move=> /andP [/andP [/to_gt0 num0 /to_le le2] good]; right; exists k.
rewrite !of_ZM !of_ZD to_nat to1 sE in le1 le2 num0.
have s0 : 0 < s q k by rewrite pmulr_lgt0 in num0.
split; first split=> //.
- by rewrite -(ler_pmul2r den0) mul1r -mulrA.
- by rewrite -(ler_pmul2r den0) mul1r -mulrA -addn1 natrD.
have XE : $X = x * $Y by rewrite /x mulfVK ?gt_eqF.
case/orP: good => [/to_le|/andP [/andP [/to_le xY /to_le x2] /to_le]].
  rewrite !of_ZM to_small sE XE => h; left.
  have P' : 0 < 1000 * $Y * $den by rewrite !mulr_gt0 ?ltr0n.
  by rewrite -(ler_pmul2l P') /F; linear.
rewrite !(of_ZM, of_ZD, toB) !to_small sE -/d => h; right; rewrite of_ZM to_small in x2.
split; first by rewrite /x ler_pdivl_mulr // ler_pdivr_mulr // mul1r xY.
have P' : 0 < 1000 * $Y * s q k * $den * $A * $B.
  by do 5 (apply: mulr_gt0 => //); rewrite ltr0n.
rewrite -(ler_pmul2l P').
have -> : 1000 * $Y * s q k * $den * $A * $B * F = $f * $Y * (s q k * $den) * $A * $B by rewrite /F; linear.
apply: le_trans h; rewrite le_eqVlt; apply/orP; left; apply/eqP.
move: (s q k) s0 => t t0.
by rewrite /q /x /cosh_log /sinh_log; field; rewrite !gt_eqF.
Qed.

Theorem row_sound : row f X Y A B -> row_claim.
Proof.
rewrite /row; case: ifP => [/chain_row_sound h _|_]; first by left.
apply: (search_sound (k := 0)) => //; rewrite ?expr0 ?mulr1 //.
rewrite of_ZM to_small expr1 /u /=.
have -> : q - 1 = d / $B by rewrite /q /d; field; rewrite gt_eqF.
by rewrite /q; field; rewrite !gt_eqF.
Qed.

End Sound.
