(* Sums of whole numbers: the same on every engine, and private. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint ring zify.
From UserDP Require Import definitions linear.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* What is released starts from a sum of whole numbers; (3) is what one user can do to it. *)
Section Whole.
Variables (L : nat) (low high : int).
(* begin prp-grid-clipping *)
Definition clip_whole (n : int) : int := Num.min (Num.max n low) high.
Definition total (levels : 'I_L -> int) : int := \sum_l clip_whole (levels l).
(* end prp-grid-clipping *)

(* begin prp-grid *)
(* Each user's whole number is clipped to [low, high]: replacing one user moves the total by at most
   high - low, and no smaller number will do. *)
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

Section Levels.
Variables (R : realFieldType) (p b : nat) (fl : R -> R).

(* begin prp-grid-definitions *)
(* Rounding to a float of p binary digits, 53 for doubles, where nothing over- or underflows, changes a
   number by the share 2^-p of it at most, and no whole number below 2^p. *)
Definition is_rounding : Prop :=
  (forall z, `|fl z - z| <= `|z| / 2 ^+ p) /\ forall n : int, `|n| < 2 ^+ p -> fl n%:~R = n%:~R.
Definition is_floor (n : int) (y : R) : Prop := n%:~R <= y < n%:~R + 1.
(* n is the level of v in [lo, up], and step the distance of two levels. *)
Definition is_level (lo up v : R) (n : int) : Prop :=
  is_floor n (fl (fl (fl (v - lo) * fl (2 ^+ b / fl (up - lo))) + 1 / 2)).
Definition step (lo up : R) : R := fl (up - lo) / 2 ^+ b.
Definition off (lo up : R) : R := step lo up * (1 / 2 + 1 / 2 ^+ 10).
Hypothesis rounding : is_rounding.
Hypothesis bp : (b + 13 <= p)%N. (* for doubles, b <= 40 *)
(* end prp-grid-definitions *)

(* begin prp-grid-level *)
(* (1) A level is a whole number from 0 to 2^b, and the value at it close to v. *)
Theorem grid_level (lo up v : R) (n : int) : lo <= v <= up -> 0 < fl (up - lo) -> is_level lo up v n ->
  0 <= n <= 2 ^+ b /\ `|lo + step lo up * n%:~R - v| <= off lo up.
(* end prp-grid-level *)
Proof.
have [near _] := rounding; rewrite /is_level /off /step.
pose u : R := (2 ^+ p)^-1; pose e : R := (2 ^+ 10)^-1; pose P : R := 2 ^+ b.
have two k : 0 < 2 ^+ k :> R by rewrite exprn_gt0 ?ltr0n.
have e0 : 0 < e by rewrite invr_gt0.
have e4 : e <= 1 / 4.
  have h : 2 ^+ 2 <= 2 ^+ 10 :> R by rewrite ler_weexpn2l ?ler1n.
  have -> : 1 / 4 = (2 ^+ 2)^-1 :> R by rewrite -natrX div1r.
  by rewrite lef_pinv ?posrE.
have P1 : 1 <= P by rewrite exprn_ege1 ?ler1n.
have u0 : 0 < u by rewrite invr_gt0.
have Pu : 8 * (P * u) <= e.
  have <- : 2 ^+ 3 = 8 :> R by rewrite -natrX.
  rewrite /u /P /e mulrA -exprD ler_pdivr_mulr // mulrC ler_pdivl_mulr //.
  by rewrite -exprD ler_weexpn2l ?ler1n // addnAC addnC.
have u8 : 8 * u <= e by have := ler_wpmul2r (ltW u0) P1; linear.
have {}near z : 0 <= z -> z * (1 - u) <= fl z <= z * (1 + u).
  by move=> z0; have := near z; rewrite (ger0_norm z0) -/u ler_norml; linear.
rewrite -/P -[1 / 2 ^+ 10]/(1 * e) [1 * e]mul1r => /andP [v_lo v_up] W0.
set W := fl (up - lo) in W0 *.
have range0 : 0 <= up - lo by linear.
have /andP [_ Wle] := near _ range0; have /andP [Wge _] := near _ range0; rewrite -/W in Wle Wge.
have d0 : 0 <= v - lo by linear.
pose x := P / W * (v - lo).
have PW : 0 < P / W by rewrite divr_gt0 // (lt_le_trans ltr01).
have x0 : 0 <= x by rewrite mulr_ge0 // ltW.
have xP : x * (1 - u) <= P.
  have -> : x * (1 - u) = P / W * ((v - lo) * (1 - u)) by rewrite /x; ring.
  have {2}-> : P = P / W * W by rewrite mulfVK ?gt_eqF.
  rewrite ler_pmul2l //; apply: le_trans Wge; apply: ler_wpmul2r; linear.
have /andP [a1 a2] := near _ d0; have /andP [c1 c2] := near _ (ltW PW).
set a := fl (v - lo) in a1 a2 *; set c := fl (P / W) in c1 c2 *.
have u1 : 0 <= 1 - u by linear.
have a0 : 0 <= a by apply: le_trans a1; exact: mulr_ge0.
have c0 : 0 <= c by apply: le_trans c1; rewrite mulr_ge0 // ltW.
have up_ac : a * c <= x * ((1 + u) * (1 + u)).
  apply: (@le_trans _ _ ((v - lo) * (1 + u) * (P / W * (1 + u)))); first exact: ler_pmul.
  by rewrite /x le_eqVlt; apply/orP; left; apply/eqP; ring.
have lo_ac : x * ((1 - u) * (1 - u)) <= a * c.
  apply: (@le_trans _ _ ((v - lo) * (1 - u) * (P / W * (1 - u)))).
    by rewrite /x le_eqVlt; apply/orP; left; apply/eqP; ring.
  by apply: ler_pmul => //; rewrite mulr_ge0 // ltW.
have /andP [p1 p2] := near _ (mulr_ge0 a0 c0); set r := fl (a * c) in p1 p2 *.
have r0 : 0 <= r + 1 / 2.
  by have := mulr_ge0 (mulr_ge0 a0 c0) u1; linear.
have /andP [y1 y2] := near _ r0; set y := fl (r + 1 / 2) in y1 y2 *.
(* all in terms of z = x u, at most e / 7 *)
have xu0 := mulr_ge0 x0 (ltW u0).
have z7 : 7 * (x * u) <= e.
  have h1 := ler_wpmul2r (ltW u0) xP.
  have h2 : 0 <= (x * u) * (1 / 8 - u) by apply: mulr_ge0 => //; linear.
  by linear.
have u18 : u <= 1 / 8 by linear.
have xuu : x * u * u <= x * u * (1 / 8) by exact: ler_wpmul2l.
have xuu0 : 0 <= x * u * u by rewrite mulr_ge0 // ltW.
have xuuu : x * u * u * u <= x * u * u * (1 / 8) by exact: ler_wpmul2l.
have xuuu0 : 0 <= x * u * u * u by rewrite mulr_ge0 // ltW.
have r_up : r <= x * (1 + 4 * u).
  have v1 : 0 <= 1 + u by linear.
  have := le_trans p2 (ler_wpmul2r v1 up_ac) => h.
  by linear.
have r_lo : x * (1 - 3 * u) <= r.
  have := le_trans (ler_wpmul2r u1 lo_ac) p1 => h.
  by linear.
have ru : r * u <= x * u * (1 + 4 * u) by have := ler_wpmul2r (ltW u0) r_up; linear.
have y_up : y <= x + 1 / 2 + e by linear.
have y_lo : x + 1 / 2 - e <= y by linear.
move=> /andP [ny yn]; have hx : W / P * x = v - lo.
  by rewrite /x; field; rewrite !gt_eqF // (lt_le_trans ltr01).
split.
  have low : (-1)%:~R < n%:~R :> R by have := mulr_ge0 r0 u1; rewrite mulrN1z; linear.
  have high : n%:~R < (2 ^+ b + 1)%:~R :> R.
    have -> : (2 ^+ b + 1)%:~R = P + 1 by rewrite intrD rmorphX.
    by linear.
  move: low high; rewrite !ltr_int => low; rewrite ltz_addr1 => ->; rewrite andbT.
  by clear -low; lia.
have -> : lo + W / P * n%:~R - v = W / P * (n%:~R - x) by rewrite mulrBr hx; ring.
have WP : 0 < W / P by rewrite divr_gt0 // (lt_le_trans ltr01).
rewrite normrM gtr0_norm // ler_pmul2l // ler_norml.
by linear.
Qed.

Lemma floor_unique (y : R) (n n' : int) : is_floor n y -> is_floor n' y -> n = n'.
Proof.
have le_of (k k' : int) : is_floor k y -> is_floor k' y -> k <= k'.
  move=> /andP [ky _] /andP [_ yk']; have := le_lt_trans ky yk'.
  by rewrite -[1]/(1%:~R) -intrD ltr_int ltz_addr1.
by move=> h h'; apply: le_anti; rewrite !le_of.
Qed.

(* begin prp-grid-sums *)
(* A sum of whole numbers, added in some order and in some parts; what a machine computes, whose number
   for n is inj n; and that it adds exactly whenever the sum is below B. *)
Inductive parts : Type := Leaf of int | Plus of parts & parts.
Fixpoint leaves (t : parts) : seq int :=
  match t with Leaf n => [:: n] | Plus t t' => leaves t ++ leaves t' end.
Fixpoint computed (A : Type) (inj : int -> A) (plus : A -> A -> A) (t : parts) : A :=
  match t with Leaf n => inj n | Plus t t' => plus (computed inj plus t) (computed inj plus t') end.
Definition exact_below (A : Type) (inj : int -> A) (plus : A -> A -> A) (B : int) : Prop :=
  forall i j, `|i + j| < B -> plus (inj i) (inj j) = inj (i + j).
(* end prp-grid-sums *)

Lemma computed_exactly (A : Type) (inj : int -> A) plus B t : exact_below inj plus B ->
  \sum_(i <- leaves t) `|i| < B -> computed inj plus t = inj (\sum_(i <- leaves t) i).
Proof.
move=> ex; elim: t => [n|t IH t' IH'] /=; first by rewrite !big_seq1.
rewrite !big_cat /= => small; rewrite IH ?IH' ?ex //.
- apply: le_lt_trans small; apply: le_trans (ler_norm_add _ _) _.
  by apply: ler_add; exact: ler_norm_sum.
- by apply: le_lt_trans small; rewrite ler_addr sumr_ge0.
- by apply: le_lt_trans small; rewrite ler_addl sumr_ge0.
Qed.

Section Total.
Variables (L : nat) (m : 'I_L -> nat) (level : forall l, 'I_(m l) -> int) (o low high : int) (c : nat).
(* begin prp-grid-user *)
(* A user's levels, each less o, add up to this. *)
Definition levels_of (l : 'I_L) : int := \sum_j (@level l j - o).
(* end prp-grid-user *)
Hypothesis levels_ok : forall l j, 0 <= @level l j <= 2 ^+ b.
Hypothesis o_ok : 0 <= o <= 2 ^+ b.
Hypothesis ends_ok : low <= 0 <= high.
Hypothesis users_small : forall l, (m l * 2 ^ b < 2 ^ p)%N.
Hypothesis all_small : ((\sum_l m l) * 2 ^ b < 2 ^ c)%N.

Lemma below_power n k : (n * 2 ^ b < 2 ^ k)%N -> n%:Z * 2 ^+ b < 2 ^+ k.
Proof.
have power i : 2 ^+ i = (2 ^ i)%N%:Z by rewrite -[RHS]natz natrX.
by rewrite !power -PoszM ltz_nat.
Qed.

Lemma size_of l : \sum_j `|@level l j - o| <= (m l)%:Z * 2 ^+ b.
Proof.
apply: (@le_trans _ _ (\sum_(j < m l) 2 ^+ b)); last by rewrite sumr_const card_ord -mulr_natl natz.
apply: ler_sum => j _; have := levels_ok j; have := o_ok; move: (2 ^+ b) (@level l j) => P k.
by clear; lia.
Qed.

Lemma size_clipped : \sum_l `|clip_whole low high (levels_of l)| <= (\sum_l m l)%:Z * 2 ^+ b.
Proof.
rewrite -natz natr_sum mulr_suml; apply: ler_sum => l _; rewrite natz.
apply: le_trans (size_of l); apply: (@le_trans _ _ `|levels_of l|); last exact: ler_norm_sum.
by have := ends_ok; rewrite /clip_whole; clear; lia.
Qed.

Lemma user_total_exact l t : perm_eq (leaves t) [seq @level l j - o | j <- enum 'I_(m l)] ->
  computed intr (fun x y : R => fl (x + y)) t = (levels_of l)%:~R.
Proof.
move=> e; have [_ whole] := rounding.
rewrite (@computed_exactly _ _ _ (2 ^+ p)) => [|i j ij|].
- by rewrite (perm_big _ e) /= big_map big_enum.
- by rewrite -intrD whole.
by rewrite (perm_big _ e) /= big_map big_enum /=; exact: le_lt_trans (size_of l) (below_power (users_small l)).
Qed.

Lemma total_exact A (inj : int -> A) plus t : exact_below inj plus (2 ^+ c) ->
  perm_eq (leaves t) [seq clip_whole low high (levels_of l) | l <- enum 'I_L] ->
  computed inj plus t = inj (total low high levels_of).
Proof.
move=> ex e; rewrite (computed_exactly ex) (perm_big _ e) /= big_map big_enum //=.
exact: le_lt_trans size_clipped (below_power all_small).
Qed.
End Total.

(* begin prp-grid-error *)
(* (4) What the levels cost: the mean is as good as one level. *)
Theorem grid_error L (m : 'I_L -> nat) (lo up : R) (x : dataset R m)
    (level : forall l, 'I_(m l) -> int) (o low high : int) (h : R) :
  (0 < \sum_l m l)%N -> 0 < fl (up - lo) -> h = step lo up -> low <= high ->
  (forall l j, lo <= x l j <= up /\ is_level lo up (x l j) (level l j)) ->
  `|h * (total low high (levels_of level o))%:~R / N R m
    - (\sum_l clip (h * low%:~R) (h * high%:~R) (\sum_j (x l j - (lo + h * o%:~R)))) / N R m|
  <= off lo up.
(* end prp-grid-error *)
Proof.
move=> Npos W0 hE lh ok; have N0 : 0 < N R m by rewrite ltr0n.
have h0 : 0 < h by rewrite hE divr_gt0 // exprn_gt0 ?ltr0n.
rewrite -mulrBl normrM [`|(N R m)^-1|]gtr0_norm ?invr_gt0 // ler_pdivr_mulr //.
rewrite /total rmorph_sum mulr_sumr -sumrB; apply: le_trans (ler_norm_sum _ _ _) _.
rewrite [leRHS]mulrC /N natr_sum mulr_suml; apply: ler_sum => l _.
set S := levels_of level o l; set t := \sum_j _.
have near : `|h * S%:~R - t| <= (m l)%:R * off lo up.
  have -> : (m l)%:R * off lo up = \sum_(j < m l) off lo up by rewrite sumr_const card_ord mulr_natl.
  rewrite /S /t /levels_of rmorph_sum mulr_sumr -sumrB; apply: le_trans (ler_norm_sum _ _ _) _.
  apply: ler_sum => j _; have [range lev] := ok l j; have [_] := grid_level range W0 lev.
  by rewrite rmorphB /= -hE; congr (`|_| <= _); ring.
apply: le_trans near.
pose z (k : int) : R := h * k%:~R.
have mono i j : i <= j -> z i <= z j by move=> ij; rewrite ler_pmul2l // ler_int.
have zmax i j : z (Num.max i j) = Num.max (z i) (z j).
  by case: (leP i j) => ij; [rewrite max_r ?mono | rewrite max_l ?mono // ltW].
have zmin i j : z (Num.min i j) = Num.min (z i) (z j).
  by case: (leP i j) => ij; [rewrite min_l ?mono | rewrite min_r ?mono // ltW].
rewrite -[h * (clip_whole low high S)%:~R]/(z _) -[h * low%:~R]/(z low) -[h * high%:~R]/(z high).
rewrite -[h * S%:~R]/(z S) /clip_whole zmin zmax /clip.
move: (z S) (z low) (z high) (mono _ _ lh) => s A B AB; rewrite ler_norml.
by minmax; case: (ger0P (s - t)) => d; linear.
Qed.
End Levels.

(* begin prp-grid-total *)
(* (2) A level is one number, so engines that round alike have the same; a user's sum of them, added up in
   floats, and the sum of these, clipped, in any adder exact below 2^c (62 for integers of 64 bits), are
   exact in whatever order and parts they are added. *)
Theorem grid_total (R : realFieldType) (p b c : nat) (fl : R -> R) L (m : 'I_L -> nat)
    (level : forall l, 'I_(m l) -> int) (o low high : int) : is_rounding p fl ->
  (forall l j, 0 <= level l j <= 2 ^+ b) -> 0 <= o <= 2 ^+ b -> low <= 0 <= high ->
  (forall l, (m l * 2 ^ b < 2 ^ p)%N) -> ((\sum_l m l) * 2 ^ b < 2 ^ c)%N ->
  [/\ forall lo up v n n', is_level b fl lo up v n -> is_level b fl lo up v n' -> n = n',
      forall l t, perm_eq (leaves t) [seq level l j - o | j <- enum 'I_(m l)] ->
        computed intr (fun x y => fl (x + y)) t = (levels_of level o l)%:~R
    & forall A (inj : int -> A) plus t, exact_below inj plus (2 ^+ c) ->
        perm_eq (leaves t) [seq clip_whole low high (levels_of level o l) | l <- enum 'I_L] ->
        computed inj plus t = inj (total low high (levels_of level o))].
(* end prp-grid-total *)
Proof.
move=> rounding ok o_ok ends users all; split=> [lo up v n n'|l t|A inj plus t].
- exact: floor_unique.
- exact: (user_total_exact rounding ok o_ok users).
exact: (total_exact ok o_ok ends all).
Qed.
