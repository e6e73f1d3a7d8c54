(* The chances of geometric noise sum to 1, and the chances of events, as sums, are private. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint ring zify.
From UserDP Require Import definitions linear exponential shipped.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* begin def-sum *)
(* The sum of h over all whole numbers is v: finite sums come as near to v as is asked for, in whatever
   order, from those on that have all numbers up to some n. *)
Definition is_sum_of (R : realFieldType) (h : int -> R) (v : R) : Prop :=
  forall e, 0 < e -> exists n : nat, forall s : seq int, uniq s -> (forall z, (absz z <= n)%N -> z \in s) ->
    `|\sum_(z <- s) h z - v| <= e.
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

(* All numbers up to n. *)
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

(* Powers of what is below 1. *)
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

Lemma sum_scale (h : int -> R) v a : 0 < a -> is_sum_of h v -> is_sum_of (fun z => a * h z) (a * v).
Proof.
move=> a0 hv e e0; have [|n near] := hv (e / a); first exact: divr_gt0.
exists n => s us full; have := near s us full.
by rewrite -mulr_sumr -mulrBr normrM (gtr0_norm a0) ler_pdivl_mulr // mulrC.
Qed.
End Sums.

(* begin prp-safe-release-sum *)
(* The chances sum to 1. *)
Theorem geometric_sum (R : realFieldType) (r : R) (c : int) : (forall x : R, exists n : nat, x <= n%:R) ->
  0 < r < 1 -> is_sum_of (geometric r c) 1.
(* end prp-safe-release-sum *)
Proof.
move=> archi r01 e e0; have /andP [r0 r1] := r01; have [n small] := powers_vanish archi r01 e0.
have pos z : 0 <= geometric r c z.
  rewrite /geometric mulr_ge0 ?exprn_ge0 ?divr_ge0 ?(ltW r0) //; first by rewrite subr_ge0 ltW.
  by rewrite addr_ge0 ?ler01 ?ltW.
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

(* begin prp-safe-release-events *)
(* The chance of an event A about F (total + Z) is the sum of the chances of the whole numbers there: it is
   private. *)
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
apply: (sum_le hp (sum_scale (exp_gt0 is_exp eps) hp')) => z; rewrite /chance.
case: ifP => _; last by rewrite mulr0.
by apply: (geometric_ratio z is_exp s0 ws e0); exact: moves.
Qed.
