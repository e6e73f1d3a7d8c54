(* Users in parts, each released by a mechanism of its own: the same privacy, and the errors add up. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear chain composition.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Parts.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).

(* begin def-split *)
(* A part B of the users.  A mechanism depends on B alone if its means are the same wherever the samples of
   B are. *)
Definition agree (B : pred 'I_L) (x x' : dataset R m) : Prop := forall l, B l -> forall j, x l j = x' l j.
Definition depends_on (B : pred 'I_L) (T : Type) (H : (T -> R) -> Prop) (E : dataset R m -> (T -> R) -> R) : Prop :=
  forall x x' h, in_range U x -> in_range U x' -> agree B x x' -> H h -> E x h = E x' h.
(* Two mechanisms with independent randomness: the mean over pairs of outputs. *)
Definition side_by_side (T T' : Type) (P : dataset R m -> (T -> R) -> R) (Q : dataset R m -> (T' -> R) -> R) :
  dataset R m -> (T * T' -> R) -> R := in_turn P (fun=> Q).
Definition space_side_by_side (T T' : Type) (H : (T -> R) -> Prop) (H' : (T' -> R) -> Prop)
  (Q : dataset R m -> (T' -> R) -> R) : (T * T' -> R) -> Prop := space_in_turn U H (fun=> H') (fun=> Q).

(* Number of samples and mean of a part; both parts together; and that the mean distance from the mean of B
   is at most r. *)
Definition size_of (B : pred 'I_L) : R := (\sum_(l | B l) m l)%:R.
Definition mean_of (B : pred 'I_L) (x : dataset R m) : R := (\sum_(l | B l) \sum_j x l j) / size_of B.
Definition either (B B' : pred 'I_L) : pred 'I_L := fun l => B l || B' l.
Definition risk_of_part_at_most (B : pred 'I_L) (E : dataset R m -> (R -> R) -> R) (r : R) : Prop :=
  forall x, in_range U x -> E x (fun y => `|mean_of B x - y|) <= r.
(* If the samples of B are mirrored, so is the law of the output. *)
Definition is_mirrored (B : pred 'I_L) (H : (R -> R) -> Prop) (E : dataset R m -> (R -> R) -> R) : Prop :=
  forall x x' h, in_range U x -> in_range U x' -> (forall l, B l -> forall j, x' l j = U - x l j) -> H h ->
    H (fun y => h (U - y)) /\ E x' h = E x (fun y => h (U - y)).
(* end def-split *)

Lemma mean_same (T : Type) (H : (T -> R) -> Prop) E (h h' : T -> R) :
  is_space H -> is_mean H E -> H h -> (forall y, h y = h' y) -> H h' /\ E h = E h'.
Proof.
move=> [ext _ _] [_ _ mono] Hh e; have Hh' := ext _ _ Hh e; split=> //.
by apply: le_anti; rewrite !mono // => y; rewrite e.
Qed.

Lemma mean_scale (T : Type) (H : (T -> R) -> Prop) E (h : T -> R) s :
  is_space H -> is_mean H E -> H h -> H (fun y => s * h y) /\ E (fun y => s * h y) = s * E h.
Proof.
move=> sH mE Hh; have [ext _ linH] := sH; have [_ lin _] := mE.
have H0 := linH (-1) _ _ Hh Hh; have [H1 e1] := mean_same sH mE (linH s _ _ Hh H0)
  (fun y => (ltac:(linear) : s * h y + (-1 * h y + h y) = s * h y)).
by split=> //; rewrite -e1 lin // lin //; linear.
Qed.

Section Two.
Variables (B B' : pred 'I_L).
Hypothesis apart : forall l, B l -> B' l = false.

Section Any.
Variables (T T' : Type) (H : (T -> R) -> Prop) (H' : (T' -> R) -> Prop).
Variables (P : dataset R m -> (T -> R) -> R) (Q : dataset R m -> (T' -> R) -> R).

(* begin thm-split *)
(* (1) Two parts without a common user: if the release of each is q-private, so are both together.  They
   depend on these users alone; so a third part may follow, and any number. *)
Theorem split_private (q : R) : 0 <= q -> depends_on B H P -> depends_on B' H' Q ->
  is_mechanism U H P -> is_mechanism U H' Q -> is_private U H q P -> is_private U H' q Q ->
  let space := space_side_by_side H H' Q in
  let E := side_by_side P Q in
  [/\ is_mechanism U space E, is_private U space q E & depends_on (either B B') space E].
(* end thm-split *)
Proof.
move=> q0 onB onB' mechP mechQ privP privQ space E.
have [mech _] := composition q0 mechP privP (fun _ : T => mechQ) (fun _ : T => privQ).
have [sP mP] := mechP; have [sQ mQ] := mechQ; split=> //.
  move=> x x' xr xr' [l xx'] h [Hi Ho] h0; rewrite /E /side_by_side /in_turn.
  case Bl : (B l); last first.
    have agreeB : agree B x x' by move=> l' Bl' j; apply: xx'; apply: contraTneq Bl' => ->; rewrite Bl.
    have [Hq Eq] := mean_scale q sP (mP x xr) (Ho x' xr').
    rewrite -(onB x x' _ xr xr' agreeB (Ho x' xr')) -Eq; have [_ _ mono] := mP x xr; apply: mono => // [|y].
      exact: Ho.
    by apply: privQ => //; exists l.
  have agreeB' : agree B' x x'.
    by move=> l' Bl' j; apply: xx'; apply: contraTneq Bl' => ->; rewrite apart.
  have e y : Q x (fun t => h (y, t)) = Q x' (fun t => h (y, t)) by apply: onB' => //; exact: Hi.
  have [_ ->] := mean_same sP (mP x xr) (Ho x xr) e.
  apply: privP => //; [by exists l | exact: Ho | move=> y]; have [one _ mono] := mQ x' xr'.
  have [H0 E0] := mean_scale 0 sQ (mQ x' xr') (Hi y); rewrite -[0](mul0r (Q x' (fun t => h (y, t)))) -E0.
  by apply: mono => // t; rewrite mul0r.
move=> x x' h xr xr' xx' [Hi Ho]; rewrite /E /side_by_side /in_turn.
have e y : Q x (fun t => h (y, t)) = Q x' (fun t => h (y, t)).
  by apply: onB' => // l Bl j; apply: xx'; rewrite /either Bl orbT.
have [He ->] := mean_same sP (mP x xr) (Ho x xr) e.
by apply: onB => // l Bl j; apply: xx'; rewrite /either Bl.
Qed.
End Any.

Hypothesis some : 0 < size_of B.
Hypothesis some' : 0 < size_of B'.
Variables (H H' : (R -> R) -> Prop) (P Q : dataset R m -> (R -> R) -> R).

Let sizes : size_of (either B B') = size_of B + size_of B'.
Proof.
rewrite /size_of -natrD; congr _%:R; rewrite (bigID B) /=; congr (_ + _)%N; apply: eq_bigl => l; rewrite /either.
  by case: (B l); rewrite ?andbT ?andbF.
by case Bl : (B l); [rewrite andbF apart | rewrite andbT].
Qed.

Let w : R := size_of B / size_of (either B B').
Let w' : R := size_of B' / size_of (either B B').
Let w0 : 0 < w. Proof. by rewrite divr_gt0 // sizes addr_gt0. Qed.
Let w0' : 0 < w'. Proof. by rewrite divr_gt0 // sizes addr_gt0. Qed.

Let norm_w X : w * `|X| = `|w * X|. Proof. by rewrite normrM (gtr0_norm w0). Qed.
Let norm_w' X : w' * `|X| = `|w' * X|. Proof. by rewrite normrM (gtr0_norm w0'). Qed.

Let mean_either x : mean_of (either B B') x = w * mean_of B x + w' * mean_of B' x.
Proof.
have -> : mean_of (either B B') x = (\sum_(l | B l) \sum_j x l j + \sum_(l | B' l) \sum_j x l j) / size_of (either B B').
  rewrite /mean_of (bigID B) /=; congr ((_ + _) / _); apply: eq_bigl => l; rewrite /either.
    by case: (B l); rewrite ?andbT ?andbF.
  by case Bl : (B l); [rewrite andbF apart | rewrite andbT].
have n0 : 0 < size_of (either B B') by rewrite sizes addr_gt0.
rewrite /w /w' /mean_of; move: (size_of _) (size_of B) (size_of B') n0 some some' => n n1 n2 h h1 h2.
by field; rewrite !gt_eqF.
Qed.

(* begin thm-split-guarantee *)
(* (2) and (3): the weighted sum of the two outputs, for the mean of both parts.  Its risk is at most the
   weighted sum of the risks and, if both mechanisms are mirrored, at least each of the two terms. *)
Definition first_weight : R := size_of B / size_of (either B B').
Definition second_weight : R := size_of B' / size_of (either B B').
Theorem split_guarantee : is_class H -> is_class H' -> is_mechanism U H P -> is_mechanism U H' Q ->
  depends_on B H P -> depends_on B' H' Q ->
  let distance a t := `|a - (first_weight * t.1 + second_weight * t.2)| in
  (forall a, space_side_by_side H H' Q (distance a)) ->
  (forall r r', risk_of_part_at_most B P r -> risk_of_part_at_most B' Q r' -> forall x, in_range U x ->
     side_by_side P Q x (distance (mean_of (either B B') x)) <= first_weight * r + second_weight * r')
  /\ (is_mirrored B H P -> is_mirrored B' H' Q ->
      forall r, (forall x, in_range U x -> side_by_side P Q x (distance (mean_of (either B B') x)) <= r) ->
        forall x, in_range U x -> first_weight * P x (fun y => `|mean_of B x - y|) <= r
          /\ second_weight * Q x (fun y => `|mean_of B' x - y|) <= r).
(* end thm-split-guarantee *)
Proof.
(* (2) is the triangle inequality.  (3): take a dataset, and the one with the samples of the other part
   mirrored.  The errors of the two parts add up with either sign, so on average the error is at least that
   of one part. *)
move=> [sP cP] [sQ cQ] [_ mP] [_ mQ] onB onB' distance sd; rewrite /first_weight /second_weight -/w -/w'.
have splitd x t : distance (mean_of (either B B') x) t
    = `|w * (mean_of B x - t.1) + w' * (mean_of B' x - t.2)|.
  by rewrite /distance mean_either -/w -/w'; congr `|_|; rewrite /first_weight /second_weight -/w -/w'; ring.
have linH (S : (R -> R) -> Prop) s h h' : is_space S -> S h -> S h' -> S (fun y => s * h y + h' y).
  by move=> [_ _ lin]; exact: lin.
split=> [r r' riskP riskQ x xr|mirP mirQ r risk x xr].
  have [oneP linP monoP] := mP x xr; have [oneQ linQ monoQ] := mQ x xr; have [Hi Ho] := sd (mean_of (either B B') x).
  have [_ one _] := sP; have [_ one' _] := sQ.
  have inner y : Q x (fun t => distance (mean_of (either B B') x) (y, t)) <= w * `|mean_of B x - y| + w' * r'.
    have [Hc Ec] := mean_scale (w * `|mean_of B x - y|) sQ (mQ x xr) one'.
    have Hl := linH _ w' _ _ sQ (cQ (mean_of B' x)) Hc.
    apply: (@le_trans _ _ (Q x (fun t => w' * `|mean_of B' x - t| + w * `|mean_of B x - y| * 1))).
      apply: monoQ => // t; rewrite splitd /= mulr1 addrC; apply: le_trans (ler_norm_add _ _) _.
      by rewrite norm_w norm_w'.
    rewrite linQ // Ec oneQ mulr1 addrC; apply: ler_add => //; rewrite ler_pmul2l //; exact: riskQ.
  have [Hc Ec] := mean_scale (w' * r') sP (mP x xr) one.
  have Hl := linH _ w _ _ sP (cP (mean_of B x)) Hc.
  apply: (@le_trans _ _ (P x (fun y => w * `|mean_of B x - y| + w' * r' * 1))).
    by apply: monoP => // [|y]; [exact: Ho | rewrite mulr1; exact: inner].
  by rewrite linP // Ec oneP mulr1; apply: ler_add => //; rewrite ler_pmul2l //; exact: riskP.
pose flip (C : pred 'I_L) : dataset R m := fun l j => if C l then U - x l j else x l j.
have flip_range C : in_range U (flip C).
  by move=> l j; rewrite /flip; have := xr l j; case: ifP => _; linear.
have flip_mean (C : pred 'I_L) : 0 < size_of C -> mean_of C (flip C) = U - mean_of C x.
  move=> s0; apply: (mulIf (lt0r_neq0 s0)); rewrite mulrBl /mean_of !divfK ?gt_eqF //.
  rewrite /size_of natr_sum mulr_sumr -sumrB; apply: eq_bigr => l Cl.
  rewrite (eq_bigr (fun j => U - x l j)) => [|j _]; last by rewrite /flip Cl.
  by rewrite sumrB sumr_const card_ord mulr_natr.
have other (C C' : pred 'I_L) : (forall l, C l -> C' l = false) -> agree C x (flip C') /\ mean_of C (flip C') = mean_of C x.
  move=> out; have same : agree C x (flip C') by move=> l Cl j; rewrite /flip out.
  by split=> //; congr (_ / _); apply: eq_bigr => l Cl; apply: eq_bigr => j _; rewrite same.
have apart' l : B' l -> B l = false by move=> Bl; apply/negP => /apart; rewrite Bl.
have [agB meanB] := other B B' apart; have [agB' meanB'] := other B' B apart'.
have twice (X Y : R) : 2 * `|X| <= `|X + Y| + `|X - Y|.
  have := ler_norm_add (X + Y) (X - Y); have -> : X + Y + (X - Y) = 2 * X by linear.
  by rewrite normrM ger0_norm ?ler0n.
have [Hi Ho] := sd (mean_of (either B B') x); have [oneP linP monoP] := mP x xr; have [oneQ linQ monoQ] := mQ x xr.
split.
  (* the second part mirrored *)
  pose z := flip B'; have zr : in_range U z := flip_range B'; have [Hi' Ho'] := sd (mean_of (either B B') z).
  have at_z y t : distance (mean_of (either B B') z) (y, U - t) = `|w * (mean_of B x - y) - w' * (mean_of B' x - t)|.
    by rewrite splitd meanB flip_mean //=; congr `|_|; ring.
  have mir y : H' (fun t => distance (mean_of (either B B') z) (y, U - t))
      /\ Q z (fun t => distance (mean_of (either B B') z) (y, t)) = Q x (fun t => distance (mean_of (either B B') z) (y, U - t)).
    by apply: mirQ => // l Bl j; rewrite /z /flip Bl.
  have sum_y y : 2 * (w * `|mean_of B x - y|) <= 1 * Q x (fun t => distance (mean_of (either B B') x) (y, t))
      + Q z (fun t => distance (mean_of (either B B') z) (y, t)).
    have [Hm ->] := mir y; have [_ one' _] := sQ.
    have [Hc Ec] := mean_scale (2 * (w * `|mean_of B x - y|)) sQ (mQ x xr) one'.
    rewrite oneQ [RHS]mulr1 in Ec; rewrite -[leLHS]Ec -linQ //.
    apply: (monoQ _ _ Hc (linH H' 1 _ _ sQ (Hi y) Hm)) => t.
    by rewrite mulr1 mul1r splitd at_z /= norm_w; exact: twice.
  have zE : side_by_side P Q z (distance (mean_of (either B B') z))
      = P x (fun y => Q z (fun t => distance (mean_of (either B B') z) (y, t))).
    by rewrite /side_by_side /in_turn; apply/esym; apply: onB => //; exact: Ho'.
  have [Hc Ec] := mean_scale (2 * w) sP (mP x xr) (cP (mean_of B x)).
  have : 2 * w * P x (fun y => `|mean_of B x - y|) <= 1 * side_by_side P Q x (distance (mean_of (either B B') x))
      + side_by_side P Q z (distance (mean_of (either B B') z)).
    rewrite zE -Ec /side_by_side /in_turn -linP; [| exact: Ho | exact: Ho'].
    apply: (monoP _ _ Hc (linH H 1 _ _ sP (Ho x xr) (Ho' z zr))) => y.
    by rewrite -mulrA; exact: sum_y.
  by have := risk x xr; have := risk z zr; linear.
(* the first part mirrored *)
pose z := flip B; have zr : in_range U z := flip_range B; have [Hi' Ho'] := sd (mean_of (either B B') z).
have at_z y t : distance (mean_of (either B B') z) (U - y, t) = `|w' * (mean_of B' x - t) - w * (mean_of B x - y)|.
  by rewrite splitd meanB' flip_mean //=; congr `|_|; ring.
have zQ y : Q z (fun t => distance (mean_of (either B B') z) (y, t)) = Q x (fun t => distance (mean_of (either B B') z) (y, t)).
  by apply/esym; apply: onB'.
have [Hz Ez] : H (fun y => Q z (fun t => distance (mean_of (either B B') z) (U - y, t)))
    /\ side_by_side P Q z (distance (mean_of (either B B') z))
      = P x (fun y => Q z (fun t => distance (mean_of (either B B') z) (U - y, t))).
  have := mirP x z (fun y => Q z (fun t => distance (mean_of (either B B') z) (y, t))) xr zr _ (Ho' z zr).
  by apply=> l Bl j; rewrite /z /flip Bl.
have [_ oneH _] := sP.
have : 2 * (w' * Q x (fun t => `|mean_of B' x - t|)) <= 1 * side_by_side P Q x (distance (mean_of (either B B') x))
    + side_by_side P Q z (distance (mean_of (either B B') z)).
  rewrite Ez /side_by_side /in_turn -linP //; last exact: Ho.
  have [Hc Ec] := mean_scale (2 * (w' * Q x (fun t => `|mean_of B' x - t|))) sP (mP x xr) oneH.
  rewrite oneP [RHS]mulr1 in Ec; rewrite -[leLHS]Ec.
  apply: (monoP _ _ Hc (linH H 1 _ _ sP (Ho x xr) Hz)) => y.
  rewrite mulr1 zQ; have [Hd Ed] := mean_scale (2 * w') sQ (mQ x xr) (cQ (mean_of B' x)).
  rewrite mulrA -[leLHS]Ed -linQ; [| exact: Hi | exact: Hi'].
  apply: (monoQ _ _ Hd (linH H' 1 _ _ sQ (Hi y) (Hi' (U - y)))) => t.
  by rewrite mul1r splitd at_z /= -mulrA norm_w' [w * _ + _]addrC; exact: twice.
by have := risk x xr; have := risk z zr; linear.
Qed.
End Two.
End Parts.
