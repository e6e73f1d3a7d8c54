(* Samples from (0, U], as the paper has them: maxima become suprema, and nothing else changes. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts lemma frontier akmv.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section OpenDomain.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R).
Notation N := (N R m).

(* begin def-open *)
(* Samples are positive. v is the supremum of F on P. p is a pair of neighbours with samples in (0, U]. *)
Definition in_open_range (x : dataset R m) : Prop := forall l j, 0 < x l j <= U.
Definition is_sup (T : Type) (P : T -> Prop) (F : T -> R) (v : R) : Prop :=
  (forall t, P t -> F t <= v) /\ (forall w, w < v -> exists2 t, P t & w < F t).
Definition are_neighbours (p : dataset R m * dataset R m) : Prop :=
  [/\ in_open_range p.1, in_open_range p.2 & neighbours p.1 p.2].
(* end def-open *)

Hypothesis U0 : 0 < U.
Hypothesis Npos : (0 < \sum_l m l)%N.

Let N0 : 0 < N. Proof. by rewrite ltr0n. Qed.

(* Samples below d are raised to d. *)
Unset Implicit Arguments.
Let raised (d : R) (x : dataset R m) : dataset R m := fun l j => Num.max (x l j) d.
Set Implicit Arguments.

Lemma raised_range d x : 0 < d <= U -> in_range U x -> in_open_range (raised d x).
Proof.
by move=> /andP [d0 dU] xr l j; have := xr l j; rewrite /raised; move: (x l j) => u /andP [u0 uU]; minmax; linear.
Qed.

Let moves : Type := forall l : 'I_L, 'I_(m l) -> R -> R.

(* For functions that do not decrease and are 1-Lipschitz, raising the samples to d changes the mean of the
   function values by at most d. *)
Lemma raised_near (h : moves) d x : 0 <= d ->
  (forall l j u w, u <= w -> h l j u <= h l j w <= h l j u + (w - u)) -> in_range U x ->
  `|(\sum_l \sum_j h l j (raised d x l j)) / N - (\sum_l \sum_j h l j (x l j)) / N| <= d.
Proof.
move=> d0 near xr; rewrite -mulrBl normrM [`|N^-1|]gtr0_norm ?invr_gt0 // ler_pdivr_mulr //.
rewrite -sumrB; apply: le_trans (ler_norm_sum _ _ _) _.
rewrite /definitions.N natr_sum mulr_sumr; apply: ler_sum => l _.
rewrite -sumrB; apply: le_trans (ler_norm_sum _ _ _) _.
rewrite mulr_natr -[m l in leRHS]card_ord -sumr_const; apply: ler_sum => j _.
have x0 : 0 <= x l j by case/andP: (xr l j).
have up : x l j <= raised d x l j by rewrite /raised le_maxr lexx.
have := near l j _ _ up; rewrite /raised; move: (x l j) x0 => u u0 {up}.
by move: (h l j _) (h l j u) => p q; rewrite ler_norml; minmax; linear.
Qed.

(* begin thm-optimum-open *)
(* For a clipped mean, the worst-case bias and the sensitivity on (0, U], as suprema, equal the maxima on
   [0, U].  And every estimator on (0, U] with bias at most beta and sensitivity at most delta there has
   beta + delta / eps >= E_OPT. *)
Theorem open_domain :
  (forall (a b : dataset R m) (beta delta : R), is_clipping U a b ->
     is_worst_case_bias U (clipped_mean a b) beta -> is_sensitivity U (clipped_mean a b) delta ->
     is_sup in_open_range (fun x => `|mean x - clipped_mean a b x|) beta
     /\ is_sup are_neighbours (fun p => `|clipped_mean a b p.1 - clipped_mean a b p.2|) delta)
  /\ (forall (g : estimator R m) (eps beta delta : R), 0 < eps ->
     (forall x, in_open_range x -> `|mean x - g x| <= beta) ->
     (forall p, are_neighbours p -> `|g p.1 - g p.2| <= delta) ->
     E_OPT m U eps <= beta + delta / eps).
(* end thm-optimum-open *)
Proof.
(* For a clipping, samples below d are raised to d, which changes every mean by at most d.  For any
   estimator, samples in [0, U - d], where frontier.v gives a bound, are shifted by d.  Then d tends to
   0. *)
have inside x : in_open_range x -> in_range U x by move=> xr l j; have /andP [/ltW -> ->] := xr l j.
split=> [a b beta delta cl [[x xr xE] bias] [[y [y' [yr yr' yy yE]]] sens]|g eps beta delta e0 bias sens].
  have near d z : 0 <= d -> in_range U z ->
      `|clipped_mean a b (raised d z) - clipped_mean a b z| <= d /\ `|mean (raised d z) - mean z| <= d.
    move=> d0 zr; split; last by apply: (@raised_near (fun _ _ u => u)) => // l j u w uw; apply/andP; split; linear.
    apply: (@raised_near (fun l j => clip (a l j) (b l j))) => // l j u w uw.
    have [_ ab _] := cl l j; rewrite /clip; move: (a l j) (b l j) ab => p q pq.
    by apply/andP; split; minmax; linear.
  have small w v : w < v -> exists2 d, 0 < d <= U & w < v - 2 * d.
    move=> wv; exists (Num.min U ((v - w) / 3%:R)); last by minmax; linear.
    by rewrite lt_minr U0 le_minl lexx divr_gt0 ?ltr0n ?subr_gt0.
  split; [split=> [z zr|w wv] | split=> [[z z'] [zr zr' zz]|w wv]].
  - by apply: bias; exact: inside.
  - have [d dU wd] := small _ _ wv; exists (raised d x); first exact: raised_range.
    have d0 : 0 <= d by case/andP: dU => /ltW.
    have [n1 n2] := near d x d0 xr; move: wd; rewrite -xE.
    have := ler_norm_add (mean (raised d x) - clipped_mean a b (raised d x))
      ((mean x - mean (raised d x)) + (clipped_mean a b (raised d x) - clipped_mean a b x)).
    have := ler_norm_add (mean x - mean (raised d x)) (clipped_mean a b (raised d x) - clipped_mean a b x).
    rewrite [`|mean x - _|]distrC.
    have -> : mean (raised d x) - clipped_mean a b (raised d x)
        + (mean x - mean (raised d x) + (clipped_mean a b (raised d x) - clipped_mean a b x))
      = mean x - clipped_mean a b x by ring.
    by move=> h1 h2 h3; linear.
  - by apply: sens => //; exact: inside.
  have [d dU wd] := small _ _ wv; exists (raised d y, raised d y').
    split; [exact: raised_range | exact: raised_range | case: yy => l same].
    by exists l => l' ll' j; rewrite /= /raised same.
  have d0 : 0 <= d by case/andP: dU => /ltW.
  have [n1 _] := near d y d0 yr; have [n2 _] := near d y' d0 yr'; move: wd; rewrite -yE /=.
  move: (clipped_mean a b y) (clipped_mean a b y') (clipped_mean a b (raised d y)) (clipped_mean a b (raised d y')) n1 n2.
  move=> p p' r r' n1 n2; have := ler_norm_add (p - r + (r - r')) (r' - p').
  have := ler_norm_add (p - r) (r - r'); rewrite [`|p - r|]distrC.
  have -> : p - r + (r - r') + (r' - p') = p - p' by ring.
  by move=> h1 h2 h3; linear.
have top : in_open_range (fun l j => U) by move=> l j; rewrite U0 lexx.
have delta0 : 0 <= delta.
  have [l _] := first_count Npos; apply: le_trans (sens (fun _ _ => U, fun _ _ => U) _); first by rewrite subrr normr0.
  by split=> //; exists l.
pose S := N * delta; have S0 : 0 <= S by rewrite mulr_ge0 // ltW.
have SE : delta = S / N by rewrite /S mulrC mulKf ?gt_eqF.
pose F (V : R) := (\sum_l Num.max (V * (m l)%:R - S) 0) / (2 * N).
have le_F d : 0 < d < U -> F U - d / 2 <= beta.
  move=> /andP [d0 dU]; pose up (x : dataset R m) : dataset R m := fun l j => x l j + d.
  have up_range x : in_range (U - d) x -> in_open_range (up x).
    by move=> xr l j; have := xr l j; rewrite /up; move: (x l j) => u /andP [u0 u1]; apply/andP; split; linear.
  have up_mean x : mean (up x) = mean x + d.
    rewrite /mean /up; have -> : \sum_l \sum_j (x l j + d) = \sum_l \sum_j x l j + d * N.
      rewrite /definitions.N natr_sum mulr_sumr -big_split; apply: eq_bigr => l _.
      by rewrite big_split sumr_const card_ord mulr_natr.
    by rewrite mulrDl mulfK ?gt_eqF.
  have Ud : 0 <= U - d by rewrite subr_ge0 ltW.
  have [|x xr le_x] := @frontier R L m (U - d) (fun x => g (up x) - d) S Ud Npos.
    move=> x y xr yr [l xy]; rewrite -SE; have -> : g (up x) - d - (g (up y) - d) = g (up x) - g (up y) by ring.
    apply: (sens (up x, up y)); split; try exact: up_range.
    by exists l => l' ll' j; rewrite /= /up xy.
  have := bias _ (up_range x xr); rewrite up_mean.
  have -> : mean x + d - g (up x) = mean x - (g (up x) - d) by ring.
  move=> /(le_trans le_x); apply: le_trans; rewrite -/(F (U - d)).
  rewrite /F ler_subl_addr -ler_subl_addl -mulrBl ler_pdivr_mulr ?mulr_gt0 ?ltr0n //.
  have -> : d / 2 * (2 * N) = d * N by field.
  rewrite /definitions.N natr_sum mulr_sumr -sumrB; apply: ler_sum => l _.
  by have := ler0n R (m l); move: (m l)%:R => k k0; have := mulr_ge0 (ltW d0) k0; minmax; linear.
have F_beta : F U <= beta.
  rewrite leNgt; apply/negP => lt_beta; pose d := Num.min (U / 2) (F U - beta).
  have dU : 0 < d < U by rewrite /d; minmax; linear.
  have := le_F d dU; have : d <= F U - beta by rewrite /d le_minl lexx orbT.
  by move: (F U) (d) lt_beta dU => f e lt_beta /andP [e1 e2]; linear.
apply: le_trans (E_OPT_le U0 Npos e0 S0) _; rewrite /phi.
have -> : ((\sum_l Num.max (U * (m l)%:R - S) 0) / 2 + S / eps) / N = F U + delta / eps.
  by rewrite /F SE; field; rewrite !gt_eqF.
by rewrite ler_add2r.
Qed.
End OpenDomain.
