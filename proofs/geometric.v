(* Whole-number totals with geometric noise: the probabilities of the noise sum to 1, and a release is
   private, in means and in events. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint ring zify.
From UserDP Require Import definitions linear chain exponential composition densities shipped.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin def-sum *)
(* The sum of h over all whole numbers is v: for each e > 0 there is an n such that every finite sum, in any
   order, over numbers among which are all up to n in absolute value, is within e of v. *)
Definition is_sum_of (R : realFieldType) (h : int -> R) (v : R) : Prop :=
  forall e, 0 < e -> exists n : nat, forall s : seq int, uniq s -> (forall z, (absz z <= n)%N -> z \in s) ->
    `|\sum_(z <- s) h z - v| <= e.
(* J h is the sum of h, for the functions in H, which are those that have one. *)
Definition is_sum (R : realFieldType) (H : (int -> R) -> Prop) (J : (int -> R) -> R) : Prop :=
  forall h v, H h /\ J h = v <-> is_sum_of h v.
(* Geometric noise: z has the probability (1 - r) / (1 + r) r ^ |z - n| around the whole number n. *)
Definition geometric (R : realFieldType) (r : R) (n z : int) : R := (1 - r) / (1 + r) * r ^+ absz (z - n).
(* end def-sum *)

Section Sums.
Variable R : realFieldType.

Lemma sum_within (h : int -> R) (s t : seq int) : (forall z, 0 <= h z) -> uniq s -> uniq t ->
  {subset s <= t} -> \sum_(z <- s) h z <= \sum_(z <- t) h z.
Proof.
move=> h0 us ut st; rewrite [leRHS](bigID (fun z => z \in s)) /=.
have p : perm_eq s [seq z <- t | z \in s].
  apply: uniq_perm; rewrite ?filter_uniq // => z; rewrite mem_filter.
  by case zs: (z \in s) => //=; rewrite st.
by rewrite -[X in X + _]big_filter -(perm_big _ p) ler_addl sumr_ge0.
Qed.

(* The whole numbers at most n from c. *)
Fixpoint window (c : int) (n : nat) : seq int :=
  if n is k.+1 then c + Posz k.+1 :: c - Posz k.+1 :: window c k else [:: c].

Lemma mem_window c n z : (z \in window c n) = (absz (z - c) <= n)%N.
Proof.
elim: n => [|n IH]; first by rewrite /= inE; apply/eqP/idP => [->|]; lia.
rewrite /= !inE IH; apply/or3P/idP => [[/eqP ->|/eqP ->|]|h]; [lia | lia | lia |].
have : z = c + Posz n.+1 \/ z = c - Posz n.+1 \/ (absz (z - c) <= n)%N by lia.
by case=> [->|[->|->]]; [constructor 1; exact/eqP | constructor 2; exact/eqP | constructor 3].
Qed.

Lemma uniq_window c n : uniq (window c n).
Proof.
elim: n => //= n IH; rewrite IH andbT inE !mem_window negb_or -!ltnNge.
by apply/andP; split; [apply/andP; split; [apply/eqP; lia | lia] | lia].
Qed.

Lemma in_some_window c (s : seq int) : exists n, {subset s <= window c n}.
Proof.
elim: s => [|z s [n IH]]; first by exists 0%N.
exists (maxn n (absz (z - c))) => y; rewrite inE mem_window => /orP [/eqP ->|/IH]; first exact: leq_maxr.
by rewrite mem_window => h; apply: leq_trans h (leq_maxl _ _).
Qed.

Lemma sum_window (r : R) c n : 0 < r ->
  \sum_(z <- window c n) geometric r c z = 1 - 2 * r ^+ n.+1 / (1 + r).
Proof.
move=> r0; have r1 : 1 + r != 0 by rewrite gt_eqF // addr_gt0 ?ltr01.
elim: n => [|n IH].
  by rewrite big_seq1 /geometric subrr expr0 expr1; field.
rewrite /= !big_cons IH /geometric (_ : absz _ = n.+1); last by lia.
rewrite (_ : absz _ = n.+1); last by lia.
by rewrite [r ^+ n.+2]exprS; move: (r ^+ _) => p; field.
Qed.

Lemma geometric_ge0 (r : R) n z : 0 < r < 1 -> 0 <= geometric r n z.
Proof.
move=> /andP [r0 r1]; rewrite /geometric mulr_ge0 ?exprn_ge0 ?divr_ge0 ?(ltW r0) //; first by rewrite subr_ge0 ltW.
by rewrite addr_ge0 ?ler01 ?ltW.
Qed.

(* Powers of a number between 0 and 1 tend to 0. *)
Lemma powers_vanish (r e : R) : (forall x : R, exists n : nat, x <= n%:R) -> 0 < r < 1 -> 0 < e ->
  exists n : nat, r ^+ n <= e.
Proof.
move=> archi /andP [r0 r1] e0; have [n] := archi (r / (e * (1 - r))).
have g : 0 < 1 - r by rewrite subr_gt0.
rewrite ler_pdivr_mulr ?mulr_gt0 // => big; exists n.
have bernoulli : r ^+ n * (r + n%:R * (1 - r)) <= r.
  elim: (n) => [|k IH]; first by rewrite expr0 mul0r mul1r addr0.
  have p1 : r ^+ k <= 1 by apply: exprn_ile1; exact: ltW.
  have u : r ^+ k * (1 - r) <= 1 * (1 - r) by rewrite ler_pmul2r.
  have -> : r ^+ k.+1 * (r + k.+1%:R * (1 - r)) = r * (r ^+ k * (r + k%:R * (1 - r)) + r ^+ k * (1 - r)).
    by rewrite exprS -[k.+1]addn1 natrD; ring.
  by rewrite ger_pmulr //; move: (r ^+ k * (1 - r)) (r ^+ k * _) u IH => a b; linear.
have d0 : 0 < r + n%:R * (1 - r) by rewrite ltr_paddr // mulr_ge0 ?ler0n // ltW.
rewrite -(ler_pmul2r d0); apply: le_trans bernoulli _.
by have := mulr_gt0 e0 r0; move: big; linear.
Qed.

Lemma sum_le (h h' : int -> R) v v' : is_sum_of h v -> is_sum_of h' v' -> (forall z, h z <= h' z) -> v <= v'.
Proof.
move=> hv hv' le; rewrite leNgt; apply/negP => lt; pose e := (v - v') / 3%:R.
have e0 : 0 < e by rewrite divr_gt0 ?subr_gt0 ?ltr0n.
have [n near] := hv e e0; have [n' near'] := hv' e e0; pose s := window 0 (maxn n n').
have has k : (k <= maxn n n')%N -> forall z, (absz z <= k)%N -> z \in s.
  by move=> h1 z zk; rewrite mem_window subr0 (leq_trans zk).
have := near s (uniq_window _ _) (has n (leq_maxl _ _)); have := near' s (uniq_window _ _) (has n' (leq_maxr _ _)).
have := ler_sum s (fun z (_ : true) => le z); move: lt e0; rewrite /e !ler_norml.
by move: (\sum_(_ <- s) h _) (\sum_(_ <- s) h' _) => a b lt e0 ab /andP [h1 h2] /andP [h3 h4]; linear.
Qed.

Lemma sum_linear s (h h' : int -> R) v v' : is_sum_of h v -> is_sum_of h' v' ->
  is_sum_of (fun z => s * h z + h' z) (s * v + v').
Proof.
move=> hv hv' e e0; pose d := e / (`|s| + 1); have p : 0 < `|s| + 1 by rewrite ltr_paddl ?normr_ge0.
have d0 : 0 < d by rewrite divr_gt0.
have [n near] := hv d d0; have [n' near'] := hv' d d0; exists (maxn n n') => t ut full.
have := near t ut (fun z zn => full z (leq_trans zn (leq_maxl _ _))).
have := near' t ut (fun z zn => full z (leq_trans zn (leq_maxr _ _))).
rewrite big_split /= -mulr_sumr; move: (\sum_(_ <- t) h _) (\sum_(_ <- t) h' _) => a b bv av.
have -> : s * a + b - (s * v + v') = s * (a - v) + (b - v') by ring.
apply: le_trans (ler_norm_add _ _) _; rewrite normrM.
have -> : e = `|s| * d + d by rewrite -[X in _ + X]mul1r -mulrDl mulrC divfK // gt_eqF.
by apply: ler_add => //; exact: ler_wpmul2l.
Qed.

Lemma sum_zero : is_sum_of (fun=> 0 : R) 0.
Proof. by move=> e e0; exists 0%N => s _ _; rewrite big1 // subrr normr0 ltW. Qed.

Lemma sum_scale (h : int -> R) v a : is_sum_of h v -> is_sum_of (fun z => a * h z) (a * v).
Proof.
move=> hv e e0; have [n near] := sum_linear a hv sum_zero e0; exists n => s us full.
have := near s us full; rewrite addr0 (eq_bigr (fun z => a * h z)) // => z _; exact: addr0.
Qed.

Lemma sum_integral (H : (int -> R) -> Prop) (J : (int -> R) -> R) : is_sum H J -> is_integral H J.
Proof.
move=> sums; have of_ h : H h -> is_sum_of h (J h) by move=> Hh; apply/sums.
split=> [h h' Hh e|s h h' Hh Hh'|h h' Hh Hh' le]; last exact: sum_le (of_ h Hh) (of_ h' Hh') le.
  have [] // : H h' /\ J h' = J h; apply/sums => d d0; have [n near] := of_ h Hh d d0.
  by exists n => t ut full; rewrite -(eq_bigr _ (fun z _ => e z)); exact: near.
by apply/sums; exact: sum_linear (of_ h Hh) (of_ h' Hh').
Qed.
End Sums.

Section Ratio.
Variables (R : realFieldType) (exp : R -> R).

(* exp (- 1 / s) lies between 0 and 1; and probabilities change by at most the factor exp eps if the centre
   moves by at most w. *)
Lemma rate_range (s : R) : is_exponential exp -> 0 < s -> 0 < exp (- (1 / s)) < 1.
Proof.
move=> is_exp s0; have is0 : 0 < 1 / s by rewrite divr_gt0 ?ltr01.
rewrite (exp_gt0 is_exp) /=.
have := exp_gt1 is_exp is0; have := exp_split is_exp (1 / s) (- (1 / s)); rewrite subrr (exp0 is_exp) => e g.
by rewrite -(ltr_pmul2l (exp_gt0 is_exp (1 / s))) -e mulr1.
Qed.

Lemma geometric_ratio (s eps : R) (w : nat) (n n' z : int) :
  is_exponential exp -> 0 < s -> w%:R / eps <= s -> 0 < eps -> (absz (n - n') <= w)%N ->
  geometric (exp (- (1 / s))) n z <= exp eps * geometric (exp (- (1 / s))) n' z.
Proof.
move=> is_exp s0 ws e0 moves; have /andP [r0 r1] := rate_range is_exp s0.
have rw : exp (- eps) <= exp (- (1 / s)) ^+ w.
  have -> : exp (- (1 / s)) ^+ w = exp (- (w%:R / s)).
    elim: (w) => [|k IH]; first by rewrite expr0 mul0r oppr0 (exp0 is_exp).
    by rewrite exprS IH -(exp_split is_exp) -opprD -mulrDl -mulrS.
  by apply: (exp_mono is_exp); rewrite ler_opp2 ler_pdivr_mulr // mulrC -ler_pdivr_mulr.
move: (exp (- (1 / s))) r0 r1 rw => r r0 r1 rw.
have c0 : 0 <= (1 - r) / (1 + r) by apply: divr_ge0; linear.
rewrite /geometric mulrCA; apply: ler_wpmul2l => //; set a := absz _; set b := absz _.
have near : (b <= a + w)%N by rewrite /a /b; lia.
have up : r ^+ (a + w) <= r ^+ b by apply: ler_wiexpn2l; rewrite ?(ltW r0) ?(ltW r1).
apply: (@le_trans _ _ (exp eps * r ^+ (a + w))); last by apply: ler_wpmul2l up; exact/ltW/exp_gt0.
rewrite exprD mulrCA ler_pmulr ?exprn_gt0 //; apply: le_trans (ler_wpmul2l (ltW (exp_gt0 is_exp eps)) rw).
by rewrite -(exp_split is_exp) subrr (exp0 is_exp).
Qed.
End Ratio.

(* begin prp-safe-release-sum *)
(* The probabilities sum to 1. *)
Theorem geometric_sum (R : realFieldType) (r : R) (c : int) : (forall x : R, exists n : nat, x <= n%:R) ->
  0 < r < 1 -> is_sum_of (geometric r c) 1.
(* end prp-safe-release-sum *)
Proof.
move=> archi r01 e e0; have /andP [r0 r1] := r01; have [n small] := powers_vanish archi r01 e0.
have pos z : 0 <= geometric r c z by exact: geometric_ge0.
exists (absz c + n)%N => s us full; have [N sN] := in_some_window c s.
have hi := sum_within pos us (uniq_window c N) sN.
have lo : \sum_(z <- window c n) geometric r c z <= \sum_(z <- s) geometric r c z.
  apply: (sum_within pos (uniq_window c n) us) => z; rewrite mem_window => zn; apply: full; lia.
rewrite !sum_window // in hi lo; move: (\sum_(z <- s) _) hi lo => t hi lo.
have q0 k : 0 <= 2 * r ^+ k.+1 / (1 + r).
  by rewrite divr_ge0 ?mulr_ge0 ?exprn_ge0 ?addr_ge0 ?ler0n ?ler01 ?(ltW r0).
have qe : 2 * r ^+ n.+1 / (1 + r) <= e.
  rewrite ler_pdivr_mulr ?addr_gt0 ?ltr01 // exprS.
  have p0 : 0 <= r ^+ n by rewrite exprn_ge0 // ltW.
  have h1 : (1 - r) * r ^+ n >= 0 by rewrite mulr_ge0 // subr_ge0 ltW.
  have h2 : r * r ^+ n <= r * e by rewrite ler_pmul2l.
  by move: (r ^+ n) small p0 h1 h2 => p; linear.
by have := q0 N; rewrite ler_norml => qN; apply/andP; split; linear.
Qed.

(* begin prp-safe-release *)
(* A whole-number total that one user changes by at most w, with geometric noise of r = exp (- 1 / s), s >=
   w / eps, is private, and so is whatever is computed from it without the data. *)
Theorem safe_release (R : realFieldType) (exp : R -> R) L (m : 'I_L -> nat) (U : R) (T : Type) (F : int -> T)
    (total : dataset R m -> int) (w : nat) (s eps : R) (H : (int -> R) -> Prop) (J : (int -> R) -> R) :
  (forall x : R, exists n : nat, x <= n%:R) -> is_exponential exp -> is_sum H J ->
  0 < s -> w%:R / eps <= s -> 0 < eps ->
  (forall x y, in_range U x -> in_range U y -> neighbours x y -> (absz (total x - total y) <= w)%N) ->
  let law x := geometric (exp (- (1 / s))) (total x) in
  is_mechanism U (space_afterwards F (drawn U H law)) (afterwards F (draw J law))
  /\ is_private U (space_afterwards F (drawn U H law)) (exp eps) (afterwards F (draw J law)).
(* end prp-safe-release *)
Proof.
move=> archi is_exp sums s0 ws e0 moves law; have r01 := rate_range is_exp s0; have HI := sum_integral sums.
apply: private_afterwards.
  apply: (density_mechanism HI) => x xr; have [Hg Jg] : H (law x) /\ J (law x) = 1 by apply/sums; exact: geometric_sum.
  by split=> // z; exact: geometric_ge0.
apply: (density_private HI) => x x' z xr xr' xx; apply: (geometric_ratio z is_exp s0 ws e0); exact: moves.
Qed.

(* begin prp-safe-release-events *)
(* The same in events: the probability that F (total + Z) is in A is the sum of the probabilities of the
   whole numbers z with F z in A. *)
Theorem safe_events (R : realFieldType) (exp : R -> R) L (m : 'I_L -> nat) (U : R) (T : Type) (F : int -> T)
    (total : dataset R m -> int) (w : nat) (s eps : R) :
  is_exponential exp -> 0 < s -> w%:R / eps <= s -> 0 < eps ->
  (forall x y, in_range U x -> in_range U y -> neighbours x y -> (absz (total x - total y) <= w)%N) ->
  forall x x', in_range U x -> in_range U x' -> neighbours x x' -> forall (A : T -> bool) p p',
    let chance x z := if A (F z) then geometric (exp (- (1 / s))) (total x) z else 0 in
    is_sum_of (chance x) p -> is_sum_of (chance x') p' -> p <= exp eps * p'.
(* end prp-safe-release-events *)
Proof.
move=> is_exp s0 ws e0 moves x x' xr xr' xx A p p' chance hp hp'.
apply: (sum_le hp (sum_scale (exp eps) hp')) => z; rewrite /chance.
case: ifP => _; last by rewrite mulr0.
by apply: (geometric_ratio z is_exp s0 ws e0); exact: moves.
Qed.
