(* Among the reals, the stationary ratios exist. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval ring.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop mathcomp_extra.
From mathcomp.analysis Require Import signed reals ereal topology normedtype derive realfun sequences exp.
From mathcomp.analysis Require Import esum measure lebesgue_measure numfun lebesgue_integral.
From UserDP Require Import definitions linear exponential stationary felt_family ratios reals.measures.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

(* begin thm-stationary *)
(* h has the slope k, continuous and growing from 0 on below 1, and h x - x k x falls below every positive
   number: then has_slope h k holds, and for every n there is a stationary ratio. *)
Theorem ratios_exist (R : realType) (h k : R -> R) :
  (forall x, 0 < x -> is_derive x 1 h (k x)) ->
  {within `[0, +oo[, continuous h} -> {within `[0, +oo[, continuous k} ->
  (forall x y, 0 <= x -> x < y -> k x < k y) -> k 0 = 0 -> (forall x, 0 <= x -> k x < 1) -> 0 < h 0 ->
  (forall e, 0 < e -> exists2 x, 0 <= x & h x - x * k x < e) ->
  has_slope h k /\ forall n, (0 < n)%N -> exists x, is_stationary h k n x.
(* end thm-stationary *)
Proof.
(* The difference of the two sides of the equation is continuous, positive at 0, and not positive
   far out; so it has a zero in between. *)
move=> der ch ck grows k0 k1 h0 near.
have sub (a b : R) : 0 <= a -> `[a, b] `<=` `[0, +oo[.
  by move=> a0 x; rewrite /= !in_itv /= andbT => /andP [ax _]; exact: le_trans ax.
have mono x y : 0 <= x -> x <= y -> k x <= k y.
  by move=> x0; rewrite le_eqVlt => /orP [/eqP -> //|xy]; exact/ltW/grows.
(* between x and y the slope is that at some point *)
have mean x y : 0 <= x -> x <= y -> exists2 z, x <= z <= y & h y - h x = k z * (y - x).
  move=> x0; rewrite le_eqVlt => /orP [/eqP <-|xy].
    by exists x; rewrite ?lexx // !subrr mulr0.
  have [||z zI e] := @MVT R h k x y xy.
  - by move=> z; rewrite in_itv /= => /andP [xz _]; apply: der; exact: le_lt_trans xz.
  - exact: continuous_subspaceW (sub x y x0) ch.
  by exists z => //; move: zI; rewrite in_itv /= => /andP [/ltW -> /ltW ->].
have slope : has_slope h k.
  split=> // x y x0 y0; case: (leP x y) => xy.
    have [z /andP [xz _]] := mean x y x0 xy; have := ler_wpmul2r (_ : 0 <= y - x) (mono x z x0 xz).
    by rewrite subr_ge0 => /(_ xy); move: (k x * _) (k z * _) => a b; linear.
  have [z /andP [yz zx]] := mean y x y0 (ltW xy).
  have := ler_wpmul2r (_ : 0 <= x - y) (mono z x (le_trans y0 yz) zx); rewrite subr_ge0 => /(_ (ltW xy)).
  by rewrite -[y - x]opprB mulrN; move: (k x * _) (k z * _) => a b; linear.
split=> // n n0; have n2 : 0 < n%:R / 2 :> R by rewrite divr_gt0 ?ltr0n.
have k1' : 0 < k 1 by rewrite -k0; apply: grows.
have [x x0 small] := near _ (mulr_gt0 n2 k1'); pose X := Num.max x 1.
have [X1 xX] : 1 <= X /\ x <= X by rewrite /X !le_maxr !lexx orbT.
have X0 : 0 <= X := le_trans ler01 X1.
pose g y := h y - (y + n%:R / 2) * k y; have gX : g X <= 0.
  have [line _ _ _ _] := slope; have := line X x X0 x0; have := ler_wpmul2l x0 (mono x X x0 xX).
  have := ler_wpmul2l (ltW n2) (mono 1 X ler01 X1); move: small; rewrite /g.
  by move: (n%:R / 2) (k 1) (k X) (k x) (h X) (h x) => a b c d e f; linear.
have cg : {within `[0, X], continuous g}.
  have [ch' ck'] := (continuous_subspaceW (sub 0 X (lexx 0)) ch, continuous_subspaceW (sub 0 X (lexx 0)) ck).
  have ci : {within `[0, X], continuous (fun y : R => y + n%:R / 2)}.
    by apply: continuous_subspaceT => y; apply: (@continuousD _ _ _ id (fun=> n%:R / 2)); [exact: cvg_id | exact: cst_continuous].
  move=> y; have cm := @continuousM R (subspace_topologicalType `[0, X]) _ _ y (ci y) (ck' y).
  exact: (continuousB (ch' y) cm).
have [|y yI yE] := @IVT R g 0 X 0 X0 cg.
  rewrite le_minl le_maxr gX orbT /= /g k0 mulr0 subr0 (ltW h0) //.
have y0 : 0 <= y by move: yI; rewrite in_itv /= => /andP [].
exists y; split; last by move: yE; rewrite /g => /eqP; rewrite subr_eq0 => /eqP.
rewrite lt_neqAle y0 andbT; apply/eqP => z; move: yE; rewrite -z /g k0 mulr0 subr0 => e.
by move: h0; rewrite e ltxx.
Qed.

(* begin thm-lambert-reals *)
(* The stationary ratio for the mean absolute error exists. *)
Theorem distance_ratio_exists (R : realType) (w : R) : 0 < w ->
  exists r : R, 0 < r /\ w * (expR r - 1) = 1 + r.
(* end thm-lambert-reals *)
Proof.
move=> w0; have ex := real_exponential R; pose f (y : R) := w * (expR y - 1) - y; pose b := 4%:R / w.
have b0 : 0 < b by rewrite divr_gt0 ?ltr0n.
have wb : w * b = 4%:R by rewrite mulrC divfK ?gt_eqF.
have cf : {within `[0, b], continuous f}.
  apply: continuous_subspaceT => y; apply: (@continuousB _ _ _ (fun y => w * (expR y - 1)) id); last exact: cvg_id.
  apply: (@continuousM _ _ (fun=> w) (fun y => expR y - 1)); first exact: cst_continuous.
  by apply: (@continuousB _ _ _ _ (fun=> 1)); [exact: continuous_expR | exact: cst_continuous].
have f0 : f 0 = 0 by rewrite /f expR0 subrr mulr0 subr0.
have fb : 1 <= f b.
  have half : (1 + b / 2) ^+ 2 <= expR b.
    have -> : expR b = expR (b / 2) ^+ 2 by rewrite expr2 -expRD; congr expR; linear.
    have b2 : 0 <= 1 + b / 2 by linear.
    by rewrite ler_sqr ?nnegrE ?(exp_ge ex) // ltW // expR_gt0.
  have := ler_wpmul2l (ltW w0) half.
  have -> : w * (1 + b / 2) ^+ 2 = w + w * b + w * b * b / 4%:R by field.
  by rewrite /f wb; move: (expR b) => e; linear.
have [||r rI rE] := @IVT R f 0 b 1 _ cf; first exact: ltW.
  by rewrite f0 le_minl le_maxr fb orbT ler01.
have r0 : 0 <= r by move: rI; rewrite in_itv /= => /andP [].
exists r; split; last by move: rE; rewrite /f; move: (w * _) => a; linear.
by rewrite lt_neqAle r0 andbT; apply/eqP => z; move: rE (oner_neq0 R); rewrite -z f0 => <-; rewrite eqxx.
Qed.
