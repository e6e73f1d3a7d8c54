(* Sums of whole numbers: the same on every engine, and how much one user can change them. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint intdiv ring zify.
From UserDP Require Import definitions linear.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma power_gt0 k : 0 < 2 ^+ k :> int.
Proof. by rewrite exprn_gt0. Qed.

Lemma power_le i j : (i <= j)%N -> 2 ^+ i <= 2 ^+ j :> int.
Proof. by move=> ij; rewrite ler_weexpn2l. Qed.

Lemma quotient_is (x d q : int) : 0 < d -> q * d <= x < (q + 1) * d -> (x %/ d)%Z = q.
Proof.
move=> d0 /andP [low high]; apply: le_anti.
by rewrite lez_divRL // low andbT -ltz_addr1 ltz_divLR.
Qed.

Lemma quotient_of (x d : int) : 0 < d -> (x %/ d)%Z * d <= x < ((x %/ d)%Z + 1) * d.
Proof. by move=> d0; rewrite -lez_divRL // lexx /= -ltz_divLR // ltz_addr1. Qed.

(* A release starts from a sum of whole numbers; (3) is how much one user can change it. *)
Section Whole.
Variables (L s : nat) (low high : int).
(* begin prp-grid-clipping *)
(* A whole number in steps of 2^s: the floor of n / 2^s + 1/2.  (%/ rounds downwards.) *)
Definition rounded (n : int) : int := ((2 * n + 2 ^+ s) %/ (2 * 2 ^+ s))%Z.
Definition clip_whole (n : int) : int := Num.min (Num.max n low) high.
Definition total (sums : 'I_L -> int) : int := \sum_l clip_whole (rounded (sums l)).
(* end prp-grid-clipping *)

Lemma step_gt0 : 0 < 2 * 2 ^+ s :> int.
Proof. by rewrite mulr_gt0 ?power_gt0. Qed.

Lemma rounded_is (n q : int) :
  q * (2 * 2 ^+ s) <= 2 * n + 2 ^+ s < (q + 1) * (2 * 2 ^+ s) -> rounded n = q.
Proof. exact: quotient_is step_gt0. Qed.

Lemma rounded_of (n : int) :
  rounded n * (2 * 2 ^+ s) <= 2 * n + 2 ^+ s < (rounded n + 1) * (2 * 2 ^+ s).
Proof. exact: quotient_of step_gt0. Qed.

Lemma rounded_whole (q : int) : rounded (q * 2 ^+ s) = q.
Proof. by apply: rounded_is; have := power_gt0 s; move: (2 ^+ s) => P; clear; lia. Qed.

(* Rounding gives 0 below a half, and from there on at most twice the number. *)
Lemma rounded_size (n : int) : `|rounded n| * 2 ^+ s <= 2 * `|n|.
Proof.
have := rounded_of n; have := power_gt0 s; move: (2 ^+ s) (rounded n) => P q P0.
case: (ltrgt0P q) => [q0|q0|->]; last by clear; lia.
- by have : P <= q * P; [rewrite ler_pmull // -gtz0_ge1 | clear; lia].
- by have : P <= - q * P; [rewrite ler_pmull // -gtz0_ge1 oppr_gt0 | clear; lia].
Qed.

(* begin prp-grid *)
(* (3) Each user's whole number is rounded to steps and clipped to [low, high]: replacing one user changes
   the total by at most high - low, and no smaller bound holds. *)
Theorem prp_grid : low <= high ->
  (forall x y l, (forall l', l' != l -> x l' = y l') -> `|total x - total y| <= high - low)
  /\ forall l : 'I_L, exists x y,
       (forall l', l' != l -> x l' = y l') /\ `|total x - total y| = high - low.
(* end prp-grid *)
Proof.
move=> lh.
have diff x y l : (forall l', l' != l -> x l' = y l') ->
    total x - total y = clip_whole (rounded (x l)) - clip_whole (rounded (y l)).
  by move=> same; rewrite /total -sumrB (bigD1 l) //= big1 ?addr0 // => l' ll'; rewrite same ?subrr.
split=> [x y l same|l]; first by rewrite (diff _ _ _ same) /clip_whole ler_norml; lia.
exists (fun l' => (if l' == l then high else low) * 2 ^+ s), (fun=> low * 2 ^+ s).
have same l' : l' != l -> (if l' == l then high else low) * 2 ^+ s = low * 2 ^+ s.
  by move/negbTE ->.
by split=> //; rewrite (diff _ _ _ same) eqxx !rounded_whole /clip_whole; lia.
Qed.
End Whole.

Section Levels.
Variables (R : realFieldType) (p b : nat) (fl : R -> R).

(* begin prp-grid-definitions *)
(* Rounding to a float of p binary digits, 53 for doubles, without overflow or underflow, has a relative
   error of at most 2^-p. *)
Definition is_rounding : Prop := forall z, `|fl z - z| <= `|z| / 2 ^+ p.
Definition is_floor (n : int) (y : R) : Prop := n%:~R <= y < n%:~R + 1.
(* n is the level of v in [lo, up], step the distance of two levels, and level_error_bound bounds how far
   the value at a level is from v. *)
Definition is_level (lo up v : R) (n : int) : Prop :=
  is_floor n (fl (fl (fl (v - lo) * fl (2 ^+ b / fl (up - lo))) + 1 / 2)).
Definition step (lo up : R) : R := fl (up - lo) / 2 ^+ b.
Definition level_error_bound (lo up : R) : R := step lo up * (1 / 2 + 1 / 2 ^+ 10).
Hypothesis rounding : is_rounding.
Hypothesis bp : (b + 13 <= p)%N. (* for doubles, b <= 40 *)
(* end prp-grid-definitions *)

(* begin prp-grid-level *)
(* (1) A level is a whole number from 0 to 2^b, and the value at it close to v. *)
Theorem grid_level (lo up v : R) (n : int) : lo <= v <= up -> 0 < fl (up - lo) -> is_level lo up v n ->
  0 <= n <= 2 ^+ b /\ `|lo + step lo up * n%:~R - v| <= level_error_bound lo up.
(* end prp-grid-level *)
Proof.
(* Each operation has a relative error of at most u = 2^-p; as b + 13 <= p, all of them together are less
   than e = 2^-10 of a level. *)
have near := rounding; rewrite /is_level /level_error_bound /step.
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

(* begin prp-grid-user *)
(* The sum of a user's levels, each less o. *)
Definition levels_of L (m : 'I_L -> nat) (level : forall l, 'I_(m l) -> int) (o : int) (l : 'I_L) : int :=
  \sum_j (level l j - o).
(* end prp-grid-user *)

(* begin prp-grid-error *)
(* (4) The error that levels cause: that of one level in the mean and, if sums are rounded, half a step per
   user. *)
Theorem grid_error L (m : 'I_L -> nat) (lo up : R) (x : dataset R m)
    (level : forall l, 'I_(m l) -> int) (o low high : int) (s : nat) (h : R) :
  (0 < \sum_l m l)%N -> 0 < fl (up - lo) -> h = step lo up -> low <= high ->
  (forall l j, lo <= x l j <= up /\ is_level lo up (x l j) (level l j)) ->
  `|2 ^+ s * h * (total s low high (levels_of level o))%:~R / N R m
    - (\sum_l clip (2 ^+ s * h * low%:~R) (2 ^+ s * h * high%:~R)
                   (\sum_j (x l j - (lo + h * o%:~R)))) / N R m|
  <= level_error_bound lo up + (if (0 < s)%N then 2 ^+ s / 2 * h * L%:R / N R m else 0).
(* end prp-grid-error *)
Proof.
(* A user's sum differs by the errors of m l levels and by rounding; clipping moves no two numbers further
   apart. *)
move=> Npos W0 hE lh ok; have N0 : 0 < N R m by rewrite ltr0n.
have h0 : 0 < h by rewrite hE divr_gt0 // exprn_gt0 ?ltr0n.
have P0 : 0 < 2 ^+ s :> R by rewrite exprn_gt0 ?ltr0n.
have H0 : 0 < 2 ^+ s * h by exact: mulr_gt0.
pose half : R := if (0 < s)%N then 2 ^+ s / 2 * h else 0.
have -> : (if (0 < s)%N then 2 ^+ s / 2 * h * L%:R / N R m else 0) = L%:R * half / N R m.
  by rewrite /half; case: (0 < s)%N; [congr (_ / _); ring | rewrite mulr0 mul0r].
(* rounding changes a sum by at most half a step, and not at all if steps are levels *)
have near_whole (S : int) : `|2 ^+ s * h * (rounded s S)%:~R - h * S%:~R| <= half.
  rewrite /half; have [s0|s0] := posnP s.
    have -> : rounded s S = S by apply: rounded_is; rewrite s0 expr0; clear; lia.
    by rewrite s0 expr0 mul1r subrr normr0.
  have /andP [] := rounded_of s S; rewrite -(ler_int R) -(ltr_int R).
  rewrite !(rmorphD, rmorphM, rmorphX, rmorph1) /= -[1 + 1]/2; move: (2 ^+ s) (rounded s S)%:~R (S%:~R) P0 {H0} => P q z P0.
  move=> low_q high_q; have -> : P * h * q - h * z = h * (P * q - z) by ring.
  rewrite normrM gtr0_norm // mulrC ler_pmul2r // ler_norml.
  by linear.
rewrite -mulrBl normrM [`|(N R m)^-1|]gtr0_norm ?invr_gt0 // ler_pdivr_mulr //.
rewrite mulrDl mulfVK ?gt_eqF //.
rewrite /total rmorph_sum mulr_sumr -sumrB; apply: le_trans (ler_norm_sum _ _ _) _.
have -> : level_error_bound lo up * N R m + L%:R * half = \sum_(l < L) ((m l)%:R * level_error_bound lo up + half).
  by rewrite big_split /= sumr_const card_ord -[half *+ L]mulr_natl -mulr_suml -natr_sum [_ * N R m]mulrC.
apply: ler_sum => l _.
set S := levels_of level o l; set t := \sum_j _.
have near : `|h * S%:~R - t| <= (m l)%:R * level_error_bound lo up.
  have -> : (m l)%:R * level_error_bound lo up = \sum_(j < m l) level_error_bound lo up by rewrite sumr_const card_ord mulr_natl.
  rewrite /S /t /levels_of rmorph_sum mulr_sumr -sumrB; apply: le_trans (ler_norm_sum _ _ _) _.
  apply: ler_sum => j _; have [range lev] := ok l j; have [_] := grid_level range W0 lev.
  by rewrite rmorphB /= -hE; congr (`|_| <= _); ring.
pose z (k : int) : R := 2 ^+ s * h * k%:~R.
have {}near : `|z (rounded s S) - t| <= (m l)%:R * level_error_bound lo up + half.
  have := near_whole S; rewrite -/(z _); move: near; rewrite !ler_norml => /andP [? ?] /andP [? ?].
  by linear.
apply: le_trans near.
have mono i j : i <= j -> z i <= z j by move=> ij; rewrite ler_pmul2l // ler_int.
have zmax i j : z (Num.max i j) = Num.max (z i) (z j).
  by case: (leP i j) => ij; [rewrite max_r ?mono | rewrite max_l ?mono // ltW].
have zmin i j : z (Num.min i j) = Num.min (z i) (z j).
  by case: (leP i j) => ij; [rewrite min_l ?mono | rewrite min_r ?mono // ltW].
rewrite -[_ * (clip_whole low high _)%:~R]/(z _) -[_ * low%:~R]/(z low) -[_ * high%:~R]/(z high).
rewrite /clip_whole zmin zmax /clip.
move: (z (rounded s S)) (z low) (z high) (mono _ _ lh) => q A B AB; rewrite ler_norml.
by minmax; case: (ger0P (q - t)) => d; linear.
Qed.
End Levels.

(* begin prp-grid-same *)
(* (2) The level of a value is unique, so engines that round alike compute the same. *)
Theorem grid_same_level (R : realFieldType) (b : nat) (fl : R -> R) (lo up v : R) (n n' : int) :
  is_level b fl lo up v n -> is_level b fl lo up v n' -> n = n'.
(* end prp-grid-same *)
Proof. exact: floor_unique. Qed.

Lemma rounded_is_floor (R : realFieldType) (s : nat) (n : int) :
  is_floor (rounded s n) (n%:~R / 2 ^+ s + 1 / 2 : R).
Proof.
have P0 : 0 < 2 ^+ s :> R by rewrite exprn_gt0 ?ltr0n.
have := rounded_of s n; rewrite -(ler_int R) -(ltr_int R) /is_floor.
rewrite !(rmorphD, rmorphM, rmorphX, rmorph1) /= -[1 + 1]/2.
have -> : n%:~R / 2 ^+ s + 1 / 2 = (2 * n%:~R + 2 ^+ s) / (2 * 2 ^+ s) :> R.
  by field; rewrite gt_eqF.
by rewrite ler_pdivl_mulr ?ltr_pdivr_mulr // mulr_gt0 ?ltr0n.
Qed.

(* The last shift: by more than 20 bits, where the lower half does not matter, and by at most 20. *)
Lemma shift_upper (a r : int) (k : nat) : 0 <= r < 2 ^+ 20 ->
  ((a + 2 ^+ k) %/ 2 ^+ k.+1)%Z = rounded (k + 21) (2 ^+ 20 * a + r).
Proof.
move=> r_ok; apply/esym/rounded_is; have := quotient_of (a + 2 ^+ k) (power_gt0 k.+1).
have -> : 2 ^+ (k + 21) = 2 ^+ k * 2 ^+ 21 :> int by rewrite exprD.
rewrite exprS; move: (2 ^+ k) (_ %/ _)%Z (power_gt0 k) => K q K0 /andP [q1 q2].
by apply/andP; split; clear -r_ok q1 q2 K0; lia.
Qed.

Lemma shift_both (a r : int) (s : nat) : (s <= 20)%N -> 0 <= r < 2 ^+ 20 ->
  a * 2 ^+ (20 - s) + ((r + (2 ^+ s %/ 2)%Z) %/ 2 ^+ s)%Z = rounded s (2 ^+ 20 * a + r).
Proof.
move=> s20 r_ok; apply/esym/rounded_is.
have -> : 2 ^+ 20 = 2 ^+ (20 - s) * 2 ^+ s :> int by rewrite -exprD subnK.
have := quotient_of (r + (2 ^+ s %/ 2)%Z) (power_gt0 s).
have half : 2 * (2 ^+ s %/ 2)%Z <= 2 ^+ s <= 2 * (2 ^+ s %/ 2)%Z + 1.
  by move: (2 ^+ s : int) => P; clear; lia.
move: (_ %/ 2 ^+ s)%Z half; move: (2 ^+ s %/ 2)%Z (2 ^+ s) (2 ^+ (20 - s)) => d P K q.
move=> /andP [d1 d2] /andP [q1 q2].
by apply/andP; split; clear -d1 d2 q1 q2; lia.
Qed.

(* (2) What an engine of 64 bits computes: integers that are exact wherever the result fits. *)
Section Engine.
(* begin prp-grid-engine *)
(* An engine's number for n is inj n.  It adds, subtracts, multiplies, shifts right, keeps the last k
   bits, and clips, all exactly where what goes in and what comes out fits 64 bits. *)
Variables (A : Type) (inj : int -> A) (plus minus times : A -> A -> A).
Variables (right last_bits : A -> nat -> A) (clipped : A -> A -> A -> A).
Definition fits (n : int) : bool := - 2 ^+ 63 <= n < 2 ^+ 63.
Definition is_exact_in_64_bits : Prop :=
  [/\ forall i j, fits i -> fits j -> fits (i + j) -> plus (inj i) (inj j) = inj (i + j),
      forall i j, fits i -> fits j -> fits (i - j) -> minus (inj i) (inj j) = inj (i - j),
      forall i j, fits i -> fits j -> fits (i * j) -> times (inj i) (inj j) = inj (i * j),
      forall i k, fits i -> (k < 63)%N -> right (inj i) k = inj (i %/ 2 ^+ k)%Z
        /\ last_bits (inj i) k = inj (i %% 2 ^+ k)%Z
    & forall i low high, fits i -> fits low -> fits high ->
        clipped (inj i) (inj low) (inj high) = inj (clip_whole low high i)].
Hypothesis exact : is_exact_in_64_bits.

(* Adding some things up, in some order and in some parts. *)
Inductive parts (T : Type) : Type := Leaf of T | Plus of parts T & parts T.
Fixpoint leaves (T : Type) (t : parts T) : seq T :=
  match t with Leaf x => [:: x] | Plus t t' => leaves t ++ leaves t' end.
Fixpoint computed (T : Type) (f : T -> A) (t : parts T) : A :=
  match t with Leaf x => f x | Plus t t' => plus (computed f t) (computed f t') end.

(* in_steps of the release: the sums of both halves of n levels, less o, in steps of 2^s. *)
Definition in_steps (o : int) (s : nat) (high low n : A) : A :=
  let high := minus high (times n (inj (o %/ 2 ^+ 20)%Z)) in
  let low := minus low (times n (inj (o %% 2 ^+ 20)%Z)) in
  let high := plus high (right low 20) in
  let low := last_bits low 20 in
  if (20 < s)%N then right (plus high (inj (2 ^+ (s - 21)))) (s - 20)
  else plus (times high (inj (2 ^+ (20 - s)))) (right (plus low (inj (2 ^+ s %/ 2)%Z)) s).
(* end prp-grid-engine *)

Lemma times_within (x y a c : int) : 0 <= x <= a -> 0 <= y <= c -> 0 <= x * y <= a * c.
Proof. by move=> /andP [x0 xa] /andP [y0 yc]; rewrite mulr_ge0 //= ler_pmul. Qed.

Lemma computed_exactly (T : eqType) (f : T -> int) (t : parts T) :
  \sum_(x <- leaves t) `|f x| < 2 ^+ 63 ->
  computed (fun x => inj (f x)) t = inj (\sum_(x <- leaves t) f x).
Proof.
have [add _ _ _ _] := exact.
have fit (x : seq T) : \sum_(i <- x) `|f i| < 2 ^+ 63 -> fits (\sum_(i <- x) f i).
  have := ler_norm_sum x f xpredT; rewrite /fits.
  by move: (\sum_(i <- x) `|f i|) (\sum_(i <- x) f i) => a c; clear; lia.
elim: t => [x|t IH t' IH'] /=; first by rewrite !big_seq1.
rewrite !big_cat /= => small.
have part : \sum_(x <- leaves t) `|f x| < 2 ^+ 63.
  by apply: le_lt_trans small; rewrite ler_addl sumr_ge0.
have part' : \sum_(x <- leaves t') `|f x| < 2 ^+ 63.
  by apply: le_lt_trans small; rewrite ler_addr sumr_ge0.
rewrite IH // IH' // add ?fit //.
by rewrite -big_cat; apply: fit; rewrite big_cat.
Qed.

(* begin prp-grid-halves *)
(* Halves of 20 bits recombine exactly: if high and low stand for a sum of n levels, then what is left
   after taking o away n times is rounded once, to the nearest step.  As an engine is exact only where
   numbers fit 64 bits, each number on the way does; and rounding is what the floor of n / 2^s + 1/2
   is in any ordered field. *)
Theorem grid_halves (o sum high low : int) (n s : nat) :
  0 <= o <= 2 ^+ 40 -> n%:Z <= 2 ^+ 42 -> (s <= 80)%N ->
  0 <= high <= 2 ^+ 62 -> 0 <= low <= 2 ^+ 62 -> 2 ^+ 20 * high + low = sum + n%:Z * o ->
  `|sum| <= 2 ^+ (61 + s) ->
  in_steps o s (inj high) (inj low) (inj n%:Z) = inj (rounded s sum)
  /\ forall R : realFieldType, is_floor (rounded s sum) (sum%:~R / 2 ^+ s + 1 / 2 : R).
(* end prp-grid-halves *)
Proof.
(* The halves of o are taken away, and low is carried into high, so that its rest has 20 bits: then by
   `shift_upper` and `shift_both`.  The engine is exact at each step, as the result is bounded. *)
have [add sub mul shift _] := exact.
move=> o_ok n_ok s80 high_ok low_ok same small; split; last by move=> R; exact: (rounded_is_floor R s sum).
have n0 : 0 <= n%:Z <= 2 ^+ 42 by rewrite n_ok.
rewrite /in_steps; move: (n%:Z) n0 same {n_ok} => k k_ok same.
have oE := divz_eq o (2 ^+ 20); have ol0 := modz_ge0 o (lt0r_neq0 (power_gt0 20)).
have olH := ltz_pmod o (power_gt0 20).
move: (o %/ 2 ^+ 20)%Z (o %% 2 ^+ 20)%Z oE ol0 olH => oh ol oE ol0 olH.
have oh_ok : 0 <= oh <= 2 ^+ 20 by clear -o_ok oE ol0 olH; lia.
have ol_ok : 0 <= ol <= 2 ^+ 20 by clear -ol0 olH; lia.
have koh := times_within k_ok oh_ok; have kol := times_within k_ok ol_ok.
rewrite {}oE in same.
have {}same : 2 ^+ 20 * (high - k * oh) + (low - k * ol) = sum by clear -same; lia.
rewrite !mul ?sub; [ | by rewrite /fits; clear -koh kol k_ok high_ok low_ok oh_ok ol_ok; lia ..].
have [-> ->] : right (inj (low - k * ol)) 20 = inj ((low - k * ol) %/ 2 ^+ 20)%Z
    /\ last_bits (inj (low - k * ol)) 20 = inj ((low - k * ol) %% 2 ^+ 20)%Z.
  by apply: shift; [rewrite /fits; clear -kol low_ok; lia | ].
have lowE := divz_eq (low - k * ol) (2 ^+ 20).
have r0 := modz_ge0 (low - k * ol) (lt0r_neq0 (power_gt0 20)).
have rH := ltz_pmod (low - k * ol) (power_gt0 20).
move: ((low - k * ol) %/ 2 ^+ 20)%Z ((low - k * ol) %% 2 ^+ 20)%Z lowE r0 rH => c r lowE r0 rH.
have c_ok : - 2 ^+ 42 <= c <= 2 ^+ 42 by clear -lowE r0 rH kol low_ok; lia.
rewrite add; [ | by rewrite /fits; clear -c_ok koh high_ok; lia ..].
have a_ok : - 2 ^+ 62 - 2 ^+ 42 <= high - k * oh + c <= 2 ^+ 62 + 2 ^+ 42.
  by clear -c_ok koh high_ok; lia.
have {same lowE c_ok} sumE : sum = 2 ^+ 20 * (high - k * oh + c) + r by clear -same lowE; lia.
move: (high - k * oh + c) a_ok sumE => a a_ok sumE.
have r_ok : 0 <= r < 2 ^+ 20 by rewrite r0.
rewrite sumE; rewrite sumE in small; case: (ltnP 20 s) => s20.
  have [i ik sE] : exists2 i, (i <= 59)%N & s = (i + 21)%N by exists (s - 21)%N; clear -s20 s80; lia.
  have Ki := power_le ik; have K0 := power_gt0 i; have -> : (s - 20 = i.+1)%N by clear -sE; lia.
  rewrite {}sE addnK -(shift_upper _ _ r_ok).
  rewrite add; [ | by rewrite /fits; clear -a_ok Ki K0; lia ..].
  by apply: (proj1 (shift _ _ _ _)); [rewrite /fits; clear -a_ok Ki K0; lia | clear -ik; lia].
rewrite -(shift_both _ s20 r_ok); have P0 := power_gt0 s; have Ps := power_le s20.
have K0 := power_gt0 (20 - s); have Ks : 2 ^+ (20 - s) <= 2 ^+ 20 :> int by exact/power_le/leq_subr.
have aP : a * 2 ^+ (20 - s) * 2 ^+ s = a * 2 ^+ 20 by rewrite -mulrA -exprD subnK.
rewrite exprD in small; move: (2 ^+ (20 - s)) K0 Ks aP => K K0 Ks aP.
move PE: (2 ^+ s) P0 Ps aP small => P P0 Ps aP small.
have aK : - 2 ^+ 62 <= a * K <= 2 ^+ 62.
  by rewrite -(ler_pmul2r P0) -[X in _ && X](ler_pmul2r P0) aP; clear -P0 small r_ok; lia.
have d_ok : 0 <= (P %/ 2)%Z <= 2 ^+ 19 by clear -P0 Ps; lia.
move: (P %/ 2)%Z d_ok => d d_ok.
have v_ok : 0 <= ((r + d) %/ P)%Z <= 2 ^+ 21.
  by have := lez_div (r + d) P; rewrite (divz_ge0 _ P0); move: ((r + d) %/ P)%Z => v; clear -d_ok r_ok; lia.
rewrite mul; [ | by rewrite /fits; clear -a_ok aK K0 Ks; lia ..].
rewrite (add r d); [ | by rewrite /fits; clear -d_ok r_ok; lia ..].
have [-> _] : right (inj (r + d)) s = inj ((r + d) %/ P)%Z /\ True.
  split; last by []; rewrite -PE; apply: (proj1 (shift _ _ _ _)).
    by rewrite /fits; clear -d_ok r_ok; lia.
  by clear -s20; lia.
by rewrite add; [ | rewrite /fits; clear -aK v_ok; lia ..].
Qed.

Section Total.
Variables (b L s : nat) (m : 'I_L -> nat) (level : forall l, 'I_(m l) -> int).
Variables (kept : forall l, pred 'I_(m l)) (o low high : int).
Hypothesis b40 : (b <= 40)%N.
Hypothesis s80 : (s <= 80)%N.
Hypothesis levels_ok : forall l j, 0 <= @level l j <= 2 ^+ b.
Hypothesis o_ok : 0 <= o <= 2 ^+ b.
Hypothesis ends_ok : low <= 0 <= high.
Hypothesis low_fits : fits low.
Hypothesis high_fits : fits high.
Hypothesis users_small : forall l, (m l)%:Z <= 2 ^+ 42.
Hypothesis all_small : (\sum_l m l)%:Z * 2 ^+ b <= 2 ^+ (61 + s).
Hypothesis left_out : forall l j, ~~ @kept l j -> @level l j = o.

Lemma sum_within n (k : pred 'I_n) (f : 'I_n -> int) (c : int) :
  (forall j, 0 <= f j <= c) -> 0 <= \sum_(j | k j) f j <= n%:Z * c.
Proof.
move=> f_ok; rewrite sumr_ge0 => [|j _]; last by have /andP [] := f_ok j.
apply: (@le_trans _ _ (\sum_(j < n) f j)).
  by rewrite big_mkcond; apply: ler_sum => j _; have /andP [] := f_ok j; case: (k j).
apply: (@le_trans _ _ (\sum_(j < n) c)); first by apply: ler_sum => j _; have /andP [] := f_ok j.
by rewrite sumr_const card_ord -mulr_natl natz.
Qed.

Lemma half_sum l (f : 'I_(m l) -> int) : (forall j, 0 <= f j <= 2 ^+ 20) ->
  0 <= \sum_(j | kept j) f j <= 2 ^+ 62
  /\ forall t, perm_eq (leaves t) (enum (@kept l)) ->
     computed (fun j => inj (f j)) t = inj (\sum_(j | kept j) f j).
Proof.
move=> f_ok; have small : 0 <= \sum_(j | kept j) f j <= 2 ^+ 62.
  have := sum_within (@kept l) f_ok; have := users_small l.
  by move: (m l)%:Z (\sum_(j | kept j) f j) => k S; clear; lia.
split=> // t same; rewrite computed_exactly.
  by congr inj; rewrite (perm_big _ same) /= big_enum.
rewrite (perm_big _ same) /= big_enum /= (eq_bigr f) => [|j _].
  by move: (\sum_(j | kept j) f j) small => S; clear; lia.
by rewrite ger0_norm //; have /andP [] := f_ok j.
Qed.

Lemma size_of l : `|levels_of level o l| <= (m l)%:Z * 2 ^+ b.
Proof.
apply: le_trans (ler_norm_sum _ _ _) _.
apply: (@le_trans _ _ (\sum_(j < m l) 2 ^+ b)); last by rewrite sumr_const card_ord -mulr_natl natz.
apply: ler_sum => j _; have := levels_ok j; have := o_ok; move: (2 ^+ b) (@level l j) => P k.
by clear; lia.
Qed.

Lemma sizes : \sum_l `|levels_of level o l| <= 2 ^+ (61 + s).
Proof.
apply: le_trans all_small; rewrite -natz natr_sum mulr_suml; apply: ler_sum => l _; rewrite natz.
exact: size_of.
Qed.

Lemma size_clipped l : `|clip_whole low high (rounded s (levels_of level o l))|
  <= `|rounded s (levels_of level o l)|.
Proof. by have := ends_ok; rewrite /clip_whole; clear; lia. Qed.

Lemma sum_clipped :
  \sum_l `|clip_whole low high (rounded s (levels_of level o l))| <= 2 ^+ 62.
Proof.
apply: le_trans (ler_sum _ (fun l _ => size_clipped l)) _.
rewrite -(ler_pmul2r (power_gt0 s)) mulr_suml.
apply: le_trans (ler_sum _ (fun l _ => rounded_size s (levels_of level o l))) _.
by rewrite -mulr_sumr; have := sizes; rewrite exprD; move: (\sum_l _) (2 ^+ s) => S P; clear; lia.
Qed.

Lemma kept_levels l :
  \sum_(j | @kept l j) level j = levels_of level o l + #|@kept l|%:Z * o.
Proof.
have -> : levels_of level o l = \sum_(j | @kept l j) (level j - o).
  by rewrite [RHS]big_mkcond; apply: eq_bigr => j _; case: ifPn => // /left_out ->; rewrite subrr.
by rewrite sumrB sumr_const -mulr_natl natz subrK.
Qed.

(* begin prp-grid-total *)
(* (2) A user's levels are added up in halves, in whatever order and parts, and records whose level is o
   may be left out; or the halves come from a wider sum.  Then sums in steps, clipped, are added up over
   users in whatever order and parts.  The engine computes the total, exactly, and so each number on the
   way fits 64 bits. *)
Definition are_halves (high low sum : int) : Prop :=
  [/\ 0 <= high <= 2 ^+ 62, 0 <= low <= 2 ^+ 62 & 2 ^+ 20 * high + low = sum].
Theorem grid_total :
  [/\ forall l t t', perm_eq (leaves t) (enum (@kept l)) -> perm_eq (leaves t') (enum (@kept l)) ->
        exists hi lo, [/\ are_halves hi lo (\sum_(j | kept j) @level l j),
          computed (fun j => inj (@level l j %/ 2 ^+ 20)%Z) t = inj hi
          & computed (fun j => inj (@level l j %% 2 ^+ 20)%Z) t' = inj lo],
      forall hi lo : 'I_L -> int,
        (forall l, are_halves (hi l) (lo l) (\sum_(j | kept j) @level l j)) ->
        forall t, perm_eq (leaves t) (enum 'I_L) ->
        computed (fun l => clipped (in_steps o s (inj (hi l)) (inj (lo l)) (inj #|@kept l|%:Z))
                                   (inj low) (inj high)) t
        = inj (total s low high (levels_of level o))
    & `|total s low high (levels_of level o)| <= 2 ^+ 62].
(* end prp-grid-total *)
Proof.
(* The sums of absolute values bound each part of a sum, in whatever order: halves by 2^62, clipped sums
   by 2^62, too, as rounding at most doubles a number and all of them are at most 2^(61 + s) levels. *)
have small : 2 ^+ b <= 2 ^+ 40 :> int by exact: power_le.
have few l : #|@kept l|%:Z <= 2 ^+ 42.
  apply: le_trans (users_small l); rewrite lez_nat.
  by apply: leq_trans (max_card _) _; rewrite card_ord.
split=> [l t t' same same'|hi lo ok t same|]; last first.
- by apply: le_trans sum_clipped; exact: ler_norm_sum.
- have [_ _ _ _ cut] := exact.
  have E l : clipped (in_steps o s (inj (hi l)) (inj (lo l)) (inj #|@kept l|%:Z)) (inj low) (inj high)
      = inj (clip_whole low high (rounded s (levels_of level o l))).
    have [hi_ok lo_ok both] := ok l; rewrite kept_levels in both.
    have size : `|levels_of level o l| <= 2 ^+ (61 + s).
      apply: le_trans sizes; rewrite (bigD1 l) //= ler_addl; exact: sumr_ge0.
    have o40 : 0 <= o <= 2 ^+ 40 by move: (2 ^+ b) o_ok small => P; clear; lia.
    have [-> _] := grid_halves o40 (few l) s80 hi_ok lo_ok both size.
    apply: cut => //; have := rounded_size s (levels_of level o l); move: size; rewrite /fits exprD.
    have := power_gt0 s.
    move: (levels_of level o l) (rounded s _) (2 ^+ s) => S q P P0 S_ok qP.
    have : `|q| <= 2 ^+ 62 by rewrite -(ler_pmul2r P0); move: qP S_ok; move: (`|q|) => a; clear; lia.
    by clear; lia.
  have -> : computed (fun l => clipped (in_steps o s (inj (hi l)) (inj (lo l)) (inj #|@kept l|%:Z))
      (inj low) (inj high)) t
    = computed (fun l => inj (clip_whole low high (rounded s (levels_of level o l)))) t.
    by elim: t {same} => [l|t IH t' IH'] /=; rewrite ?E // IH IH'.
  rewrite computed_exactly; first by rewrite /total (perm_big _ same) /= big_enum.
  rewrite (perm_big _ same) /= big_enum /=; apply: le_lt_trans sum_clipped _.
  by clear; lia.
have upper j : 0 <= (@level l j %/ 2 ^+ 20)%Z <= 2 ^+ 20.
  have := levels_ok j; have := small; move: (2 ^+ b) (@level l j) => P n; clear; lia.
have lower j : 0 <= (@level l j %% 2 ^+ 20)%Z <= 2 ^+ 20 by move: (@level l j) => n; clear; lia.
have [hi_ok hi_sum] := half_sum upper; have [lo_ok lo_sum] := half_sum lower.
eexists; eexists; split; [split; [exact: hi_ok | exact: lo_ok | ] | exact: hi_sum | exact: lo_sum].
rewrite mulr_sumr -big_split /=; apply: eq_bigr => j _.
by rewrite mulrC -divz_eq.
Qed.
End Total.
End Engine.
