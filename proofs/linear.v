(* A tactic, [linear]: what follows from the hypotheses by linear arithmetic over an ordered field.
   Coq's own solver finds the combination and its checker is proved right here for any such field;
   nothing needs to be trusted, as the kernel sees a proof.  [minmax] splits maxima and minima. *)
From Coq Require Import QArith.
From Coq.micromega Require Import Refl OrderedRing RingMicromega QMicromega EnvRing Tauto Lqa VarMap.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint ring.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Sound.
Variable R : realFieldType.

Let sub (x y : R) := x - y.
Let le (x y : R) : Prop := x <= y.
Let lt (x y : R) : Prop := x < y.

Lemma ordered : @SOR R 0 1 +%R *%R sub -%R eq le lt.
Proof.
split; rewrite /le /lt.
- exact: RelationClasses.eq_equivalence.
- by move=> ? ? -> ? ? ->.
- by move=> ? ? -> ? ? ->.
- by move=> ? ? ->.
- by move=> ? ? -> ? ? ->.
- by move=> ? ? -> ? ? ->.
- split=> //; [exact: add0r | exact: addrC | exact: addrA | exact: mul1r | exact: mulrC
             | exact: mulrA | exact: mulrDl | exact: subrr].
- by [].
- by move=> x y xy yx; apply/eqP; rewrite eq_le xy yx.
- by move=> x y z; apply: le_trans.
- by move=> x y; rewrite lt_neqAle; split=> [/andP [/eqP] | [-> /eqP ->]].
- by move=> x y; case: ltgtP => h; [left | right; right | right; left].
- by move=> x y z; rewrite ler_add2l.
- exact: mulr_gt0.
- by move/eqP; rewrite eq_sym oner_eq0.
Qed.

(* begin def-fractions *)
(* Whole and rational numbers, as members of R. *)
Definition of_Z (z : Z) : R :=
  match z with Z0 => 0 | Zpos p => (Pos.to_nat p)%:R | Zneg p => - (Pos.to_nat p)%:R end.
(* Three cases, so that 2 and 1/2 are what they are written as. *)
Definition of_Q (x : Q) : R :=
  match Qnum x, Qden x with
  | n, xH => of_Z n
  | Zpos xH, d => (of_Z (Zpos d))^-1
  | n, d => of_Z n / of_Z (Zpos d)
  end.
(* end def-fractions *)

Lemma of_pos p : 0 < of_Z (Zpos p).
Proof. by rewrite /= ltr0n; apply/ssrnat.ltP/Pos2Nat.is_pos. Qed.

Lemma of_QE x : of_Q x = of_Z (Qnum x) / of_Z (Zpos (Qden x)).
Proof. by case: x => [[|[p|p|]|p] [r|r|]]; rewrite /of_Q /= ?mulr1n ?divr1 ?mul1r. Qed.

Lemma of_ZB p r : of_Z (Z.pos_sub p r) = of_Z (Zpos p) - of_Z (Zpos r).
Proof.
case: (Pos.compare_spec p r) => [->|pr|rp].
- by rewrite Z.pos_sub_diag subrr.
- by rewrite Z.pos_sub_lt //= Pos2Nat.inj_sub // natrB ?opprB //; apply/ssrnat.leP/Nat.lt_le_incl/Pos2Nat.inj_lt.
- by rewrite Z.pos_sub_gt //= Pos2Nat.inj_sub // natrB //; apply/ssrnat.leP/Nat.lt_le_incl/Pos2Nat.inj_lt.
Qed.

Lemma of_ZD x y : of_Z (x + y) = of_Z x + of_Z y.
Proof.
case: x y => [|p|p] [|r|r]; rewrite ?add0r ?addr0 ?Z.add_0_r //.
- by rewrite /= Pos2Nat.inj_add natrD.
- by rewrite -[Z.add _ _]/(Z.pos_sub p r) of_ZB.
- by rewrite -[Z.add _ _]/(Z.pos_sub r p) of_ZB /= addrC.
- by rewrite /= Pos2Nat.inj_add natrD opprD.
Qed.

Lemma of_ZM x y : of_Z (x * y) = of_Z x * of_Z y.
Proof.
by case: x y => [|p|p] [|r|r]; rewrite /= ?mul0r ?mulr0 ?Pos2Nat.inj_mul ?natrM ?mulrN ?mulNr ?opprK.
Qed.

Lemma of_ZN x : of_Z (- x) = - of_Z x.
Proof. by case: x => [|p|p] /=; rewrite ?oppr0 ?opprK. Qed.

Lemma of_Z_ge0 x : Z.le 0 x -> 0 <= of_Z x.
Proof. by case: x => [|p|p] //= _; rewrite ?ler0n. Qed.

Lemma of_Z_le x y : Z.le x y -> of_Z x <= of_Z y.
Proof. by move=> xy; rewrite -subr_ge0 -of_ZN -of_ZD; apply/of_Z_ge0/Z.le_0_sub. Qed.

Lemma of_Z_inj x y : of_Z x = of_Z y -> x = y.
Proof.
move=> xy; case: (Z.lt_total x y) => [|[//|]] /Z.lt_0_sub; set d := Z.sub _ _ => d0;
  have := of_pos (Z.to_pos d); rewrite Z2Pos.id // /d of_ZD of_ZN xy subrr ltxx //.
Qed.

Lemma ratios : ring_morph 0 1 +%R *%R sub -%R eq 0%Q 1%Q Qplus Qmult Qminus Qopp Qeq_bool of_Q.
Proof.
have D p : of_Z (Zpos p) != 0 by rewrite gt_eqF // of_pos.
have A x y : of_Q (x + y) = of_Q x + of_Q y.
  rewrite !of_QE -[Qnum (x + y)]/(Z.add (Z.mul (Qnum x) (Zpos (Qden y)))
    (Z.mul (Qnum y) (Zpos (Qden x)))) -[Zpos (Qden (x + y))]/(Z.mul (Zpos (Qden x)) (Zpos (Qden y))).
  by rewrite of_ZD !of_ZM; field; rewrite !D.
have N x : of_Q (- x) = - of_Q x by rewrite !of_QE of_ZN mulNr.
split=> //.
- by move=> x y; rewrite [Qminus _ _]/(Qplus _ _) A N.
- move=> x y; rewrite !of_QE -[Qnum (x * y)]/(Z.mul (Qnum x) (Qnum y))
    -[Zpos (Qden (x * y))]/(Z.mul (Zpos (Qden x)) (Zpos (Qden y))).
  by rewrite !of_ZM; field; rewrite !D.
- move=> x y /Qeq_bool_iff xy; apply/eqP; rewrite !of_QE eqr_div ?D //.
  by rewrite -!of_ZM; apply/eqP; congr of_Z.
Qed.

Lemma additional :
  SORaddon 0 1 +%R *%R sub -%R eq le 0%Q 1%Q Qplus Qmult Qminus Qopp Qeq_bool Qle_bool
    of_Q id (pow_N 1 *%R).
Proof.
have D p : of_Z (Zpos p) != 0 by rewrite gt_eqF // of_pos.
split; first exact: ratios.
- by split.
- move=> x y /Qeq_bool_neq xy /eqP; rewrite !of_QE eqr_div ?D // -!of_ZM => /eqP /of_Z_inj h.
  by apply: xy; rewrite /Qeq h.
- move=> x y /Qle_bool_iff xy; rewrite /le !of_QE ler_pdivr_mulr ?of_pos // mulrAC.
  by rewrite ler_pdivl_mulr ?of_pos // -!of_ZM of_Z_le.
Qed.

(* What a formula of the solver says. *)
Fixpoint value (env : PolEnv R) (e : PExpr Q) : R :=
  match e with
  | PEc c => of_Q c
  | PEX j => env j
  | PEadd a b => value env a + value env b
  | PEsub a b => value env a - value env b
  | PEmul a b => value env a * value env b
  | PEopp a => - value env a
  | PEpow a n => pow_N 1 *%R (value env a) n
  end.

Definition holds (env : PolEnv R) (k : kind) (f : Formula Q) : rtyp k :=
  let (l, o, r) := f in let x := value env l in let y := value env r in
  match k with
  | isProp => match o with
              | OpEq => x = y | OpNEq => x <> y
              | OpLe => x <= y | OpGe => y <= x | OpLt => x < y | OpGt => y < x
              end
  | isBool => match o with
              | OpEq => x == y | OpNEq => x != y
              | OpLe => x <= y | OpGe => y <= x | OpLt => x < y | OpGt => y < x
              end
  end.

Let holds' := eval_formula +%R *%R sub -%R eq le lt of_Q id (pow_N 1 *%R).

Lemma value_is env e : value env e = eval_pexpr +%R *%R sub -%R of_Q id (pow_N 1 *%R) env e.
Proof. by elim: e => //= [a -> b ->|a -> b ->|a -> b ->|a ->|a -> n]. Qed.

Lemma holds_is env k f : hold k (holds env k f) <-> holds' env f.
Proof.
rewrite /holds' /eval_formula; case: f => l o r; rewrite /holds !value_is.
by case: k; case: o => //=; split=> /eqP.
Qed.

Theorem solver_sound f w : QTautoChecker f w = true ->
  forall env, eval_bf (fun k => holds env k) f.
Proof.
pose says := eval_nformula 0 +%R *%R eq le lt of_Q.
rewrite /QTautoChecker; apply: (tauto_checker_sound _ _ _ _ says).
- exact (fun env d => eval_nformula_dec ordered of_Q env d).
- move=> [p o] h env; exact: (check_inconsistent_sound ordered additional p o h env).
- move=> t t' u tu env et et'; exact: (nformula_plus_nformula_correct ordered additional env t t').
- move=> env k t tg h; apply/holds_is.
  exact: (proj1 (cnf_normalise_correct ordered additional env t tg) h).
- move=> env k t tg h; apply/hold_eNOT => /holds_is.
  exact: (proj1 (cnf_negate_correct ordered additional env t tg) h).
- move=> t w' h env; rewrite (make_impl_map (says env)) //.
  exact: (checker_nf_sound ordered additional) h env.
Qed.

End Sound.

(* Terms and formulas of the solver, written down from the goal. *)
Ltac head e := lazymatch e with ?f _ => head f | _ => e end.
(* The same up to conversion, as one number may be written over several structures. *)
Ltac same x y :=
  match goal with
  | _ => let _ := match goal with _ => constr_eq x y end in true
  | _ => let hx := head x in let hy := head y in
         let _ := match goal with _ => constr_eq hx hy; unify x y end in true
  | _ => false
  end.
Ltac found x l :=
  lazymatch l with
  | nil => false
  | cons ?y ?t => let b := same x y in lazymatch b with true => true | false => found x t end
  end.
Ltac place x l :=
  lazymatch l with
  | cons ?y ?t =>
      let b := same x y in
      lazymatch b with
      | true => constr:(1%positive)
      | false => let p := place x t in eval compute in (Pos.succ p)
      end
  end.
Ltac atom x l := let b := found x l in lazymatch b with true => l | false => constr:(x :: l) end.
Ltac whole n := lazymatch n with O => true | S ?k => whole k | _ => false end.
Ltac numeral c :=
  lazymatch c with
  | GRing.natmul (GRing.one _) ?n => whole n
  | intmul (GRing.one _) (Posz ?n) => whole n
  | _ => false
  end.
Ltac numeral_value c :=
  lazymatch c with
  | GRing.natmul _ ?n => constr:(n)
  | intmul _ (Posz ?n) => constr:(n)
  end.

Ltac atoms e l :=
  lazymatch e with
  | GRing.zero _ => l
  | GRing.one _ => l
  | GRing.add ?a ?b => let l := atoms a l in atoms b l
  | GRing.mul ?a ?b => let l := atoms a l in atoms b l
  | GRing.opp ?a => atoms a l
  | GRing.inv ?c => let w := numeral c in lazymatch w with true => l | false => atom e l end
  | _ => let w := numeral e in lazymatch w with true => l | false => atom e l end
  end.

Ltac term e l :=
  let leaf := fun _ => let p := place e l in constr:(PEX (C := Q) p) in
  lazymatch e with
  | GRing.zero _ => constr:(PEc 0%Q)
  | GRing.one _ => constr:(PEc 1%Q)
  | GRing.add ?a ?b => let a := term a l in let b := term b l in constr:(PEadd a b)
  | GRing.mul ?a ?b => let a := term a l in let b := term b l in constr:(PEmul a b)
  | GRing.opp ?a => let a := term a l in constr:(PEopp a)
  | GRing.inv ?c =>
      let w := numeral c in
      lazymatch w with
      | true => let n := numeral_value c in
                let q := eval vm_compute in (Qmake 1 (Pos.of_nat n)) in constr:(PEc q)
      | false => leaf tt
      end
  | _ =>
      let w := numeral e in
      lazymatch w with
      | true => let n := numeral_value e in
                let q := eval vm_compute in (Qmake (Z.of_nat n) 1) in constr:(PEc q)
      | false => leaf tt
      end
  end.


(* The hypotheses that are comparisons, as a list; what is no comparison stops the walk. *)
Ltac formula_atoms f l :=
  lazymatch f with
  | is_true (Order.le ?a ?b) => let l := atoms a l in atoms b l
  | is_true (Order.lt ?a ?b) => let l := atoms a l in atoms b l
  | ?a = ?b => let l := atoms a l in atoms b l
  end.
Ltac formula f l :=
  lazymatch f with
  | is_true (Order.le ?a ?b) => let a := term a l in let b := term b l in constr:(Build_Formula a OpLe b)
  | is_true (Order.lt ?a ?b) => let a := term a l in let b := term b l in constr:(Build_Formula a OpLt b)
  | ?a = ?b => let a := term a l in let b := term b l in constr:(Build_Formula a OpEq b)
  end.
Ltac goal_atoms g l :=
  lazymatch g with
  | ?f -> ?h => let l := formula_atoms f l in goal_atoms h l
  | False => l
  end.
Ltac goal_formula g l :=
  lazymatch g with
  | ?f -> ?h => let f := formula f l in let h := goal_formula h l in
                constr:(@IMPL (Formula Q) eKind unit unit isProp (@A (Formula Q) eKind unit unit isProp f tt) None h)
  | False => constr:(@FF (Formula Q) eKind unit unit isProp)
  end.

(* A finite list of values as the solver's environment. *)
Fixpoint environment (R : Type) (d : R) (l : seq R) (p : positive) : R :=
  match l with
  | [::] => d
  | x :: t => match p with xH => x | _ => environment d t (Pos.pred p) end
  end.

Ltac solve_linear R :=
  lazymatch goal with
  | |- ?g =>
    let l := goal_atoms g (@nil R) in
    let f := goal_formula g l in
    let w := fresh "w" in let p := fresh "p" in
    wlra_Q w f;
    pose (p := erefl true <: QTautoChecker f w = true);
    exact (solver_sound p (environment (GRing.zero _) l))
  end.

(* The hypotheses go into the goal: those that compare members of R. *)
Ltac gather R :=
  repeat match goal with
  | H : is_true (?a && ?b) |- _ =>
      let h := fresh in let h' := fresh in move/andP: (H) => [h h']; clear H
  | H : is_true (@eq_op ?S ?a ?b) |- _ => unify (Equality.sort S) R; move/eqP: H
  | H : is_true (@Order.le _ ?P ?a ?b) |- _ => unify (Order.POrder.sort P) R; revert H
  | H : is_true (@Order.lt _ ?P ?a ?b) |- _ => unify (Order.POrder.sort P) R; revert H
  | H : @eq ?S ?a ?b |- _ => unify S R; revert H
  end.

Ltac linear :=
  intros;
  lazymatch goal with
  | |- is_true (@Order.le _ ?P _ _) =>
      let R := eval simpl in (Order.POrder.sort P) in
      rewrite leNgt; apply/negP; intro; gather R; solve_linear R
  | |- is_true (@Order.lt _ ?P _ _) =>
      let R := eval simpl in (Order.POrder.sort P) in
      rewrite ltNge; apply/negP; intro; gather R; solve_linear R
  | |- is_true (_ && _) => apply/andP; split; linear
  | |- _ = _ :> ?R => apply: le_anti; apply/andP; split; linear
  | |- is_true (_ == _) => apply/eqP; linear
  | H : is_true (@Order.lt _ ?P _ _) |- False =>
      let R := eval simpl in (Order.POrder.sort P) in gather R; solve_linear R
  end.

(* Split on the order of what a maximum or minimum is taken of, also in the hypotheses. *)
Ltac minmax :=
  repeat match goal with
  | H : is_true ?f |- _ => lazymatch f with context [Order.max _ _] => revert H end
  | H : is_true ?f |- _ => lazymatch f with context [Order.min _ _] => revert H end
  | H : _ = _ |- _ => lazymatch type of H with context [Order.max _ _] => revert H end
  | H : _ = _ |- _ => lazymatch type of H with context [Order.min _ _] => revert H end
  end;
  repeat match goal with
  | |- context [Order.max ?a ?b] => case: (leP a b)
  | |- context [Order.min ?a ?b] => case: (leP a b)
  end; intros.
