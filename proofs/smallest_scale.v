(* No smaller scale of Laplace noise is private. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear chain exponential composition densities line noise.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Half.
Variables (R : realFieldType) (exp : R -> R) (H : (R -> R) -> Prop) (J : (R -> R) -> R).
Hypothesis is_exp : is_exponential exp.
Hypothesis HJ : is_line_integral H J.

Lemma beyond_part c h : H h -> H (beyond c h).
Proof.
move=> Hh; have [_ [_ _ parts _ _]] := HJ; have [Hs _] := line_scale HJ (-1) (parts c h Hh).
have [Ht _] := line_add HJ Hh Hs; have [] // := line_ext HJ Ht (h' := beyond c h) => y.
by rewrite /beyond ltNge; case: ifP => _ /=; linear.
Qed.

(* Beyond the centre c, the law around a lower one c' is less likely by exp (- (c - c') / s). *)
Lemma half_of_lower s c c' : 0 < s -> c' <= c ->
  J (beyond c (laplace exp s c')) = exp (- ((c - c') / s)) * (1 / 2).
Proof.
move=> s0 cc; have [Hr <-] := half_right is_exp HJ c s0; have [_ <-] := beyond_scale HJ (exp (- ((c - c') / s))) Hr.
have [Hl _] := laplace_mass is_exp HJ c' s0.
apply: (proj2 (line_ext HJ _ _)) => [|y]; first by have [] := beyond_scale HJ (exp (- ((c - c') / s))) Hr.
rewrite /beyond; case: ifP => // cy; rewrite !laplace_right ?(le_lt_trans cc) // (decay_from is_exp c' c y s0).
by rewrite mulrCA.
Qed.
End Half.

Lemma exp_reflects (R : realFieldType) (exp : R -> R) x y : is_exponential exp -> exp x <= exp y -> x <= y.
Proof.
move=> is_exp; apply: contraLR; rewrite -!ltNge => yx; have -> : x = y + (x - y) by ring.
rewrite (exp_split is_exp) ltr_pmulr ?(exp_gt0 is_exp) //; apply: (exp_gt1 is_exp); rewrite subr_gt0 //.
Qed.

(* If c' <= c, the event beyond c tells the laws around c and around c' apart. *)
Lemma told_apart (R : realFieldType) (exp : R -> R) H J (s eps c c' : R) :
  is_exponential exp -> is_line_integral H J -> 0 < s -> c' <= c ->
  J (beyond c (laplace exp s c)) <= exp eps * J (beyond c (laplace exp s c')) -> c - c' <= eps * s.
Proof.
move=> is_exp HJ s0 cc; rewrite (half_of_lower is_exp HJ s0 cc).
have [_ ->] := half_right is_exp HJ c s0; rewrite mulrA -[X in X <= _]mul1r ler_pmul2r; last by linear.
rewrite -(exp_split is_exp) -(exp0 is_exp) => /(exp_reflects is_exp).
by rewrite subr_ge0 ler_pdivr_mulr.
Qed.

(* begin thm-laplace-tight *)
(* Theorem II.1, last sentence: if g with Laplace noise of scale s is private in every event (h is 0 or 1),
   its sensitivity is at most eps s, so that s is at least the sensitivity divided by eps.  And g without
   noise (the scale 0) is private only if no user changes it. *)
Theorem no_smaller_scale (R : realFieldType) (exp : R -> R) L (m : 'I_L -> nat) (U eps : R)
    (g : estimator R m) (H : (R -> R) -> Prop) (J : (R -> R) -> R) :
  is_exponential exp -> is_line_integral H J ->
  (forall s, 0 < s -> let density x := laplace exp s (g x) in
     (forall x x', in_range U x -> in_range U x' -> neighbours x x' ->
        forall h, drawn U H density h -> (forall y, h y = 0 \/ h y = 1) ->
        draw J density x h <= exp eps * draw J density x' h) -> sensitivity_at_most U g (eps * s))
  /\ ((forall x x', in_range U x -> in_range U x' -> neighbours x x' ->
        forall h, (forall y, h y = 0 \/ h y = 1) -> h (g x) <= exp eps * h (g x')) -> sensitivity_at_most U g 0).
(* end thm-laplace-tight *)
Proof.
move=> is_exp HJ; split=> [s s0 density priv x x' xr xr' xx|priv x x' xr xr' xx]; last first.
  have := priv x x' xr xr' xx (fun y => if y == g x then 1 else 0); rewrite eqxx; case: eqP => [->|_].
    by rewrite subrr normr0.
  by rewrite mulr0 ler10 => /(_ (fun y => ltac:(by case: ifP; [right | left]))).
have mass z : H (density z) by have [] := laplace_mass is_exp HJ (g z) s0.
case: (leP (g x') (g x)) => gg.
  rewrite ger0_norm ?subr_ge0 //; apply: (told_apart is_exp HJ s0 gg).
  pose h y : R := if g x < y then 1 else 0; have e z y : beyond (g x) (density z) y = h y * density z y.
    by rewrite /beyond /h; case: ifP; rewrite ?mul1r ?mul0r.
  have Hh z : H (beyond (g x) (density z)) by exact: (beyond_part HJ).
  have [_ <-] := line_ext HJ (Hh x) (e x); have [_ <-] := line_ext HJ (Hh x') (e x').
  apply: (priv x x' xr xr' xx h) => [z zr|y]; first by have [] := line_ext HJ (Hh z) (e z).
  by rewrite /h; case: ifP; [right | left].
have HM := mirror HJ; rewrite ler0_norm ?subr_le0 ?(ltW gg) //.
have -> : - (g x - g x') = - g x - - g x' by ring.
apply: (told_apart is_exp HM s0); first by rewrite ler_opp2 ltW.
pose h y : R := if y < g x then 1 else 0.
have e z y : mirrored (beyond (- g x) (laplace exp s (- g z))) y = h y * density z y.
  rewrite /mirrored /beyond /h ltr_opp2; case: ifP => _; rewrite ?mul1r ?mul0r //.
  by rewrite /density /laplace -opprD normrN.
have Hh z : H (mirrored (beyond (- g x) (laplace exp s (- g z)))).
  by apply: (beyond_part HM); have [] := laplace_mass is_exp HM (- g z) s0.
have [_ <-] := line_ext HJ (Hh x) (e x); have [_ <-] := line_ext HJ (Hh x') (e x').
apply: (priv x x' xr xr' xx h) => [z zr|y]; first by have [] := line_ext HJ (Hh z) (e z).
by rewrite /h; case: ifP; [right | left].
Qed.
