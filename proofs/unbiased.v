(* A release with Laplace noise, beyond all reachable values replaced by its mean there: unbiased, bounded,
   and with no larger mean error. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear exponential densities line noise.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin def-unbiased *)
(* What is published in place of y: values lie in [p, r], the noise has the scale b. *)
Definition replace_tails (R : realFieldType) (p r b y : R) : R := if y < p then p - b else if r < y then r + b else y.
(* phi is nowhere below some line through each point of its graph: over the reals, every convex function is
   so. *)
Definition is_supported (R : realFieldType) (phi : R -> R) : Prop :=
  forall a, exists k, forall x, phi a + k * (x - a) <= phi x.
(* end def-unbiased *)

Section Tails.
Variables (R : realFieldType) (exp : R -> R) (H : (R -> R) -> Prop) (J : (R -> R) -> R) (b : R).
Hypothesis is_exp : is_exponential exp.
Hypothesis b0 : 0 < b.

(* Beyond r, the mean distance from r is b, for every centre t <= r. *)
Lemma tail_right t r : is_line_integral H J -> t <= r ->
  H (beyond r (fun y => (y - (r + b)) * laplace exp b t y))
  /\ J (beyond r (fun y => (y - (r + b)) * laplace exp b t y)) = 0.
Proof.
move=> HJ tr; have [Hm Jm] := decay_beyond is_exp HJ r b0; have [Hs Js] := size_beyond is_exp HJ r b0.
have [Hb Jb] := beyond_scale HJ (- b) Hm; have [Ha Ja] := beyond_add HJ Hs Hb.
pose k := (2 * b)^-1 * exp (- ((r - t) / b)); have [Hk Jk] := line_scale HJ k Ha.
have [|Hh ->] := line_ext HJ Hk (h' := beyond r (fun y => (y - (r + b)) * laplace exp b t y)).
  move=> y; rewrite /beyond; case: ifP => ry; last by rewrite mulr0.
  rewrite laplace_right ?(le_lt_trans tr) // (decay_from is_exp t r y b0) /k.
  by move: (exp _) (decay _ _ _ _) => e d; ring.
by split=> //; rewrite Jk Ja Jb Js Jm; ring.
Qed.
End Tails.

Section Both.
Variables (R : realFieldType) (exp : R -> R) (H : (R -> R) -> Prop) (J : (R -> R) -> R) (b : R).
Hypothesis is_exp : is_exponential exp.
Hypothesis HJ : is_line_integral H J.
Hypothesis b0 : 0 < b.

Lemma tail_left t p : p <= t -> let f y := if y < p then (y - (p - b)) * laplace exp b t y else 0 in
  H f /\ J f = 0.
Proof.
move=> pt f; have [|Ht Jt] := tail_right is_exp b0 (t := - t) (r := - p) (mirror HJ).
  by rewrite ler_opp2.
have [Hs Js] := line_scale HJ (-1) Ht; have [|Hf ->] := line_ext HJ Hs (h' := f).
  move=> y; rewrite /f /mirrored /beyond ltr_opp2; case: ifP => _; last by rewrite mulr0.
  have -> : laplace exp b (- t) (- y) = laplace exp b t y by rewrite /laplace -opprD normrN.
  by ring.
by split=> //; rewrite Js Jt mulr0.
Qed.

(* Up to r, and from p on. *)
Lemma up_to c h : H h -> H (fun y => if y < c then h y else 0).
Proof.
move=> Hh; have [_ [_ _ parts _ _]] := HJ; have [] // := line_but_one HJ (a := c) (h' := fun y => if y < c then h y else 0) (parts c h Hh).
by move=> y yc; rewrite le_eqVlt (negbTE yc).
Qed.

Lemma from_on c h : H h -> H (fun y => if c < y then h y else 0).
Proof.
move=> Hh; have [_ [_ _ parts _ _]] := HJ; have [Hs _] := line_scale HJ (-1) (parts c h Hh).
have [Ht _] := line_add HJ Hh Hs; have [] // := line_ext HJ Ht (h' := fun y => if c < y then h y else 0) => y.
by rewrite ltNge; case: ifP => _ /=; linear.
Qed.

Lemma laplace_centre t : H (fun y => y * laplace exp b t y) /\ J (fun y => y * laplace exp b t y) = t.
Proof.
(* both tails from t on: what lies beyond is t + b on average, and t - b *)
have [Hr Jr] := tail_right is_exp b0 HJ (lexx t); have [Hl Jl] := tail_left (lexx t).
have [Hhr Jhr] := half_right is_exp HJ t b0; have [Hhl Jhl] := half_left is_exp HJ t b0.
have [Hr' Jr'] := line_scale HJ (t + b) Hhr; have [Hl' Jl'] := line_scale HJ (t - b) Hhl.
have [H1 J1] := line_add HJ Hr Hr'; have [H2 J2] := line_add HJ Hl Hl'; have [H3 J3] := line_add HJ H1 H2.
have [|Hf ->] := line_but_one HJ (a := t) (h' := fun y => y * laplace exp b t y) H3; last first.
  by split=> //; rewrite J3 J1 J2 Jr Jl Jr' Jl' Jhr Jhl; linear.
move=> y; rewrite neq_lt /beyond => /orP [] yt; rewrite yt ltNge (ltW yt) /=; ring.
Qed.

Variables (p r t : R).
Hypothesis pt : p <= t.
Hypothesis tr : t <= r.
Notation g := (replace_tails p r b).

Lemma replace_tails_has phi : H (fun y => phi y * laplace exp b t y) -> H (fun y => phi (g y) * laplace exp b t y).
Proof.
move=> Hp; have [Hl _] := laplace_mass is_exp HJ t b0; have pr := le_trans pt tr.
have [H1 _] := line_scale HJ (phi (p - b)) (up_to p Hl); have [H2 _] := line_scale HJ (phi (r + b)) (from_on r Hl).
have [Hu _] := line_scale HJ (-1) (up_to p Hp); have [Ho _] := line_scale HJ (-1) (from_on r Hp).
have [H3 _] := line_add HJ H1 H2; have [H4 _] := line_add HJ Hu Ho; have [H5 _] := line_add HJ H3 H4.
have [H6 _] := line_add HJ Hp H5; have [] // := line_ext HJ H6 (h' := fun y => phi (g y) * laplace exp b t y) => y.
rewrite /replace_tails; case: (ltP y p) => yp.
  by rewrite (lt_gtF (lt_le_trans yp pr)); ring.
by case: (ltP r y) => _; ring.
Qed.

Lemma replace_tails_le phi : is_supported phi -> H (fun y => phi y * laplace exp b t y) ->
  J (fun y => phi (g y) * laplace exp b t y) <= J (fun y => phi y * laplace exp b t y).
Proof.
move=> lines Hp; have Hg := replace_tails_has Hp; have pr := le_trans pt tr.
have [kl low] := lines (p - b); have [kr high] := lines (r + b).
have [Hl Jl] := tail_left pt; have [Hr Jr] := tail_right is_exp b0 HJ tr.
have [Hl' Jl'] := line_scale HJ kl Hl; have [Hr' Jr'] := line_scale HJ kr Hr.
have [Hs Js] := line_add HJ Hl' Hr'; have [Ha Ja] := line_add HJ Hg Hs.
have -> : J (fun y => phi (g y) * laplace exp b t y) = J (fun y => phi (g y) * laplace exp b t y
    + (kl * (if y < p then (y - (p - b)) * laplace exp b t y else 0)
       + kr * beyond r (fun y => (y - (r + b)) * laplace exp b t y) y)).
  by rewrite Ja Js Jl' Jr' Jl Jr !mulr0 !addr0.
apply: (line_le HJ) => // y; have l0 : 0 <= laplace exp b t y.
  by rewrite /laplace divr_ge0 ?mulr_ge0 ?ler0n ?(ltW b0) // ltW // exp_gt0.
rewrite /replace_tails /beyond; case: (ltP y p) => yp.
  rewrite (lt_gtF (lt_le_trans yp pr)) mulr0 addr0 mulrA -mulrDl.
  exact: ler_wpmul2r.
case: (ltP r y) => ry; last by rewrite !mulr0 !addr0.
by rewrite mulr0 add0r mulrA -mulrDl; exact: ler_wpmul2r.
Qed.
End Both.

(* begin thm-unbiased *)
(* Statement 1, for the clipped mean t of any dataset: the values published are in [p - b, r + b], their
   mean is t, and no mean error, of a convex function phi of the distance from any number c, grows. *)
Theorem unbiased (R : realFieldType) (exp : R -> R) (H : (R -> R) -> Prop) (J : (R -> R) -> R) (b p r t : R) :
  is_exponential exp -> is_line_integral H J -> 0 < b -> p <= t <= r ->
  let g := replace_tails p r b in
  [/\ forall y, p - b <= g y <= r + b,
      H (fun y => g y * laplace exp b t y) /\ J (fun y => g y * laplace exp b t y) = t
    & forall phi c, is_supported phi -> H (fun y => phi (y - c) * laplace exp b t y) ->
        H (fun y => phi (g y - c) * laplace exp b t y)
        /\ J (fun y => phi (g y - c) * laplace exp b t y) <= J (fun y => phi (y - c) * laplace exp b t y)].
(* end thm-unbiased *)
Proof.
move=> is_exp HJ b0 /andP [pt tr] g; have pr := le_trans pt tr.
have [Hc Jc] := laplace_centre is_exp HJ b0 t.
split=> [y||phi c lines Hp].
- rewrite /g /replace_tails; case: (ltP y p) => yp; first by apply/andP; split; linear.
  by case: (ltP r y) => ry; apply/andP; split; linear.
- split; first exact: (replace_tails_has is_exp HJ b0 pt tr (phi := id)).
  have up : is_supported (id : R -> R) by move=> a; exists 1 => x; rewrite mul1r addrC subrK.
  have down : is_supported (fun x : R => - x) by move=> a; exists (-1) => x; rewrite mulN1r; linear.
  have minus (f : R -> R) y : -1 * (f y * laplace exp b t y) = - f y * laplace exp b t y by ring.
  have [Hs Js] := line_scale HJ (-1) Hc; have [Hn E1] := line_ext HJ Hs (minus id).
  have le1 := replace_tails_le is_exp HJ b0 pt tr up Hc.
  have le2 := replace_tails_le is_exp HJ b0 pt tr down Hn.
  have Hg := replace_tails_has is_exp HJ b0 pt tr (phi := id) Hc.
  have [Hs' Js'] := line_scale HJ (-1) Hg; have [_ E2] := line_ext HJ Hs' (minus g).
  move: le1 le2; rewrite E1 Js E2 Js' Jc !mulN1r ler_opp2 => le1 le2.
  by apply: le_anti; rewrite le1 le2.
have shift : is_supported (fun y => phi (y - c)).
  by move=> a; have [k line] := lines (a - c); exists k => x; have := line (x - c); have -> : x - c - (a - c) = x - a by ring.
split; first exact: (replace_tails_has is_exp HJ b0 pt tr (phi := fun y => phi (y - c))).
exact: (replace_tails_le is_exp HJ b0 pt tr shift Hp).
Qed.
