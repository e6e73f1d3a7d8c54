(* Every statistic: how far n users together can move it, the smallest bias of an estimator of low
   sensitivity, and the smallest error of all estimators.  Datasets are of any type X, and any relation
   says which are neighbours; for users' data that may be replaced, steps_of_users counts the steps. *)
(* Here are defined: within_steps and is_modulus (how far), is_concave, is_majorant, is_concave_majorant and
   touches (the majorant and its lines), sensitivity_between_at_most and bias_at_most (of an estimator),
   is_extension (an estimator that attains the smallest bias), users_data and differing. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import linear.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Statistic.
Variables (R : realFieldType) (X : Type) (adjacent : X -> X -> Prop) (f : X -> R).

(* begin def-modulus *)
(* n steps at most lead from D to D', each to a neighbour. *)
Fixpoint within_steps (n : nat) (D D' : X) : Prop :=
  if n is k.+1 then exists2 C, within_steps k D C & C = D' \/ adjacent C D' else D = D'.
(* The modulus of continuity: omega n is the supremum of f D - f D' over such D and D'. *)
Definition is_modulus (omega : nat -> R) : Prop := forall n,
  (forall D D', within_steps n D D' -> f D - f D' <= omega n)
  /\ (forall v, (forall D D', within_steps n D D' -> f D - f D' <= v) -> omega n <= v).
(* Its concave majorant: the smallest function that is concave from 0 on and nowhere below. *)
Definition is_concave (h : R -> R) : Prop := forall x y t, 0 <= x -> 0 <= y -> 0 <= t <= 1 ->
  t * h x + (1 - t) * h y <= h (t * x + (1 - t) * y).
Definition is_majorant (omega : nat -> R) (h : R -> R) : Prop :=
  is_concave h /\ forall n, omega n <= h n%:R.
Definition is_concave_majorant (omega : nat -> R) (h : R -> R) : Prop :=
  is_majorant omega h /\ forall h', is_majorant omega h' -> forall x, 0 <= x -> h x <= h' x.
(* end def-modulus *)

(* begin def-estimators *)
(* An estimator g of f: its sensitivity is at most Delta, its worst-case bias at most b. *)
Definition sensitivity_between_at_most (g : X -> R) (Delta : R) : Prop :=
  forall D D', adjacent D D' -> `|g D - g D'| <= Delta.
Definition bias_at_most (g : X -> R) (b : R) : Prop := forall D, `|f D - g D| <= b.
(* F D is the infimum of f D' + n Delta over all n and all D' within n steps of D. *)
Definition is_extension (Delta : R) (F : X -> R) : Prop := forall D,
  (forall n D', within_steps n D D' -> F D <= f D' + n%:R * Delta)
  /\ (forall v, (forall n D', within_steps n D D' -> v <= f D' + n%:R * Delta) -> v <= F D).
(* The line of slope Delta through h x is nowhere below h. *)
Definition touches (h : R -> R) (x Delta : R) : Prop :=
  forall y, 0 <= y -> h y <= h x + Delta * (y - x).
(* end def-estimators *)

Lemma one_more_step n D C D' : adjacent D C -> within_steps n C D' -> within_steps n.+1 D D'.
Proof.
move=> DC; elim: n D' => [|n IH] D' /=; first by move=> <-; exists D => //; right.
by case=> B CB BD'; exists B => //; exact: IH.
Qed.

Lemma moves_in_steps (g : X -> R) Delta n D D' : 0 <= Delta -> sensitivity_between_at_most g Delta ->
  within_steps n D D' -> g D - g D' <= n%:R * Delta.
Proof.
move=> D0 sens; elim: n D' => [|n IH] D' /=; first by move=> ->; rewrite subrr mul0r.
case=> C /IH DC CD'; rewrite -addn1 natrD mulrDl mul1r.
have : g C - g D' <= Delta by case: CD' => [->|/sens]; [rewrite subrr | exact/le_trans/ler_norm].
by linear.
Qed.

(* begin thm-modulus-bias *)
(* The smallest bias at the sensitivity Delta is half of the supremum of omega n - n Delta.  With every b
   that is no smaller, F + b has this sensitivity, and a bias of at most b. *)
Theorem smallest_bias (omega : nat -> R) (Delta : R) : is_modulus omega -> 0 <= Delta ->
  (forall g b, sensitivity_between_at_most g Delta -> bias_at_most g b -> forall n, (omega n - n%:R * Delta) / 2 <= b)
  /\ ((forall D D', adjacent D D' -> adjacent D' D) -> forall F b, is_extension Delta F ->
      (forall n, (omega n - n%:R * Delta) / 2 <= b) ->
      sensitivity_between_at_most (fun D => F D + b) Delta /\ bias_at_most (fun D => F D + b) b).
(* end thm-modulus-bias *)
Proof.
move=> mod D0; split=> [g b sens bias n|sym F b ext low].
  suff : omega n <= 2 * b + n%:R * Delta by linear.
  apply: (mod n).2 => D D' DD'; have := moves_in_steps D0 sens DD'.
  by have := bias D; have := bias D'; rewrite !ler_norml; linear.
have lip D D' : adjacent D D' -> F D - F D' <= Delta.
  move=> DD'; suff : F D - Delta <= F D' by linear.
  apply: (ext D').2 => n C D'C; have := (ext D).1 _ _ (one_more_step DD' D'C).
  by rewrite -addn1 natrD mulrDl mul1r; linear.
split=> [D D' DD'|D].
  by have := lip _ _ DD'; have := lip _ _ (sym _ _ DD'); rewrite ler_norml; linear.
have up : F D <= f D by have := (ext D).1 0%N D erefl; rewrite mul0r addr0.
have down : f D - 2 * b <= F D.
  by apply: (ext D).2 => n D' /(mod n).1; have := low n; linear.
by rewrite ler_norml; linear.
Qed.

(* A line is concave. *)
Lemma line_concave (a s : R) : is_concave (fun y => a + s * y).
Proof. by move=> x y t _ _ _; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring. Qed.

Lemma chord (h : R -> R) (i j x : R) : is_concave h -> 0 <= i -> i <= x -> x < j ->
  (j - x) * h i + (x - i) * h j <= (j - i) * h x.
Proof.
move=> conc i0 ix xj; have ji : 0 < j - i by linear.
have j0 : 0 <= j by linear.
have t01 : 0 <= (j - x) / (j - i) <= 1.
  by apply/andP; split; [apply: divr_ge0; linear | rewrite ler_pdivr_mulr //; linear].
have := ler_wpmul2l (ltW ji) (conc i j _ i0 j0 t01).
have -> : (j - x) / (j - i) * i + (1 - (j - x) / (j - i)) * j = x by field; rewrite gt_eqF.
suff -> : (j - i) * ((j - x) / (j - i) * h i + (1 - (j - x) / (j - i)) * h j)
    = (j - x) * h i + (x - i) * h j by [].
by field; rewrite gt_eqF.
Qed.

Section Moduli.
Variable omega : nat -> R.
Hypothesis mod : is_modulus omega.

Lemma modulus_mono i j : (i <= j)%N -> omega i <= omega j.
Proof.
move/subnK <-; elim: (j - i)%N => [|k IH]; first exact: lexx.
apply: le_trans IH _; apply: (mod _).2 => D D' DD'.
by apply: (mod _).1; rewrite addSn /=; exists D' => //; left.
Qed.
End Moduli.

(* The line above omega that is lowest at x: its slope is the largest of those from (x, t) to the points to
   the right of x. *)
Lemma lowest_line (omega : nat -> R) (t x : R) (K : nat) : 0 <= x -> x < K%:R ->
  (forall i j, (j <= K)%N -> i%:R <= x -> x < j%:R ->
    (j%:R - x) * omega i + (x - i%:R) * omega j <= (j%:R - i%:R) * t) ->
  (forall n, omega n <= omega K) -> t <= omega K ->
  exists2 s, 0 <= s & forall n, omega n <= t + s * (n%:R - x).
Proof.
move=> x0 xK chords top low.
pose slope (j : 'I_K.+1) := (omega j - t) / (j%:R - x).
case: (@arg_maxP _ R _ (ord_max : 'I_K.+1) (fun j => x < j%:R) slope xK) => j xj best.
have jx : 0 < j%:R - x :> R by rewrite subr_gt0.
have gapK : 0 < K%:R - x by rewrite subr_gt0.
have s0 : 0 <= slope j.
  by apply: le_trans (best ord_max xK); rewrite divr_ge0 ?subr_ge0 // ltW.
have steep i : (i <= K)%N -> x < i%:R -> omega i - t <= slope j * (i%:R - x).
  by move=> iK xi; rewrite -ler_pdivr_mulr ?subr_gt0 //; exact: (best (Ordinal (iK : (i < K.+1)%N))).
have through : slope j * (j%:R - x) = omega j - t by rewrite /slope divfK // gt_eqF.
move: (slope j) s0 steep through => s s0 steep through.
exists s => // n; case: (leP n%:R x) => nx.
  have line := chords n j (ltn_ord j) nx xj; rewrite -(ler_pmul2l jx).
  have -> : (j%:R - x) * (t + s * (n%:R - x)) = (j%:R - x) * t + (omega j - t) * (n%:R - x).
    by rewrite -through; ring.
  by linear.
case: (leqP n K) => nK; first by have := steep n nK nx; linear.
have up := steep K (leqnn K) xK; have := top n.
have : s * (K%:R - x) <= s * (n%:R - x) by apply: ler_wpmul2l; rewrite // ler_add2r ler_nat ltnW.
by linear.
Qed.

(* begin thm-modulus-error *)
(* Half of the concave majorant at 2 w is the smallest value of bias plus w times sensitivity.  The
   sensitivities of the estimators that attain it are the slopes of the lines that touch the majorant
   there. *)
Theorem smallest_error (omega : nat -> R) (h : R -> R) (w : R) :
  is_modulus omega -> is_concave_majorant omega h -> 0 <= w ->
  let E := h (2 * w) / 2 in
  [/\ forall Delta g b, 0 <= Delta -> sensitivity_between_at_most g Delta -> bias_at_most g b -> E <= b + w * Delta,
      forall L K : nat, (forall n, omega n <= omega L) -> 2 * w <= K%:R ->
        exists2 Delta, 0 <= Delta & touches h (2 * w) Delta,
      (forall D D', adjacent D D' -> adjacent D' D) ->
        forall Delta F, 0 <= Delta -> touches h (2 * w) Delta -> is_extension Delta F ->
        let b := E - w * Delta in
        sensitivity_between_at_most (fun D => F D + b) Delta /\ bias_at_most (fun D => F D + b) b
    & forall Delta g b, 0 <= Delta -> sensitivity_between_at_most g Delta -> bias_at_most g b ->
        b + w * Delta <= E -> touches h (2 * w) Delta].
(* end thm-modulus-error *)
Proof.
move=> mod [[conc above] least] w0 E; have x0 : 0 <= 2 * w by linear.
(* an estimator is a line above omega *)
have line Delta g b : 0 <= Delta -> sensitivity_between_at_most g Delta -> bias_at_most g b ->
    forall y, 0 <= y -> h y <= 2 * b + Delta * y.
  move=> D0 sens bias; apply: least; split=> [|n]; first exact: line_concave.
  by have := (smallest_bias mod D0).1 g b sens bias n; linear.
split=> [Delta g b D0 sens bias|L K top wK|sym Delta F D0 touch ext b|Delta g b D0 sens bias few y y0].
- by have := line Delta g b D0 sens bias _ x0; rewrite /E; linear.
- have bounded y : 0 <= y -> h y <= omega L.
    have := least (fun y => omega L + 0 * y); rewrite /= => /(_ _ y) h'.
    move=> y0; have := h' (conj (line_concave _ _) _) y0; rewrite mul0r addr0; apply=> n.
    by rewrite mul0r addr0.
  pose K' := (maxn L K).+1.
  have LK' : (L <= K')%N by rewrite leqW // leq_maxl.
  have [||||s s0 up] := @lowest_line omega (h (2 * w)) (2 * w) K' x0.
  + by apply: le_lt_trans wK _; rewrite ltr_nat ltnS leq_maxr.
  + move=> i j _ ix xj; apply: le_trans (chord conc (ler0n _ _) ix xj).
    by apply: ler_add; apply: ler_wpmul2l => //; rewrite subr_ge0 // ltW.
  + by move=> n; exact: le_trans (top n) (modulus_mono mod LK').
  + exact: le_trans (bounded _ x0) (modulus_mono mod LK').
  exists s => // y y0.
  have := least (fun y => h (2 * w) - s * (2 * w) + s * y) (conj (line_concave _ _) _) y y0.
  have -> : h (2 * w) - s * (2 * w) + s * y = h (2 * w) + s * (y - 2 * w) by ring.
  by apply=> n; have := up n; linear.
- apply: ((smallest_bias mod D0).2 sym F b ext) => n.
  by have := touch n%:R (ler0n _ _); have := above n; rewrite /b /E; linear.
by have := line Delta g b D0 sens bias y y0; rewrite /E in few; linear.
Qed.

(* begin thm-modulus-error-majorant *)
(* If omega is constant from some n on, and every number is at most some whole one, the concave majorant
   exists. *)
Theorem majorant_exists (omega : nat -> R) (L : nat) : is_modulus omega ->
  (forall n, omega n <= omega L) -> (forall x : R, exists K : nat, x <= K%:R) ->
  exists h, is_concave_majorant omega h.
(* end thm-modulus-error-majorant *)
Proof.
(* Left of L its value is that of the highest chord at the point; a line through this value lies above all
   of omega. *)
move=> mod top archi; pose height x (i j : nat) := ((j%:R - x) * omega i + (x - i%:R) * omega j) / (j%:R - i%:R).
pose over (x : R) (p : 'I_L.+1 * 'I_L.+1) := (p.1%:R <= x) && (x < p.2%:R).
pose best (x : R) : 'I_L.+1 * 'I_L.+1 := [arg max_(p > (ord0, ord_max) | over x p) height x p.1 p.2]%O.
pose h (x : R) := if x < L%:R then height x (best x).1 (best x).2 else omega L.
have heightE x i j : i%:R <= x -> x < j%:R ->
    (j%:R - x) * omega i + (x - i%:R) * omega j = (j%:R - i%:R) * height x i j.
  by move=> ix xj; rewrite /height [RHS]mulrC divfK // gt_eqF //; linear.
have chosen x : 0 <= x -> x < L%:R -> over x (best x) /\
    forall i j : nat, (j <= L)%N -> i%:R <= x -> x < j%:R -> height x i j <= h x.
  move=> x0 xL; rewrite /h xL /best; case: arg_maxP => [|p op max]; first by rewrite /over x0.
  split=> // i j jL ix xj; have iL : (i < L.+1)%N.
    by rewrite ltnS ltnW // (leq_trans _ jL) // -(ltr_nat R); exact: le_lt_trans xj.
  by apply: (max (Ordinal iL, Ordinal (jL : (j < L.+1)%N))); rewrite /over ix.
have under a s y : 0 <= s -> (forall n, omega n <= a + s * n%:R) -> 0 <= y -> h y <= a + s * y.
  move=> s0 up y0; case: (ltP y L%:R) => yL; last first.
    rewrite /h ltNge yL /=; apply: le_trans (up L) _.
    by rewrite ler_add2l; exact: ler_wpmul2l.
  have [/andP [ix xj] _] := chosen y y0 yL; rewrite /h yL; move: (best y) ix xj => [i j] /= ix xj.
  have ji : 0 < j%:R - i%:R :> R by linear.
  rewrite -(ler_pmul2l ji) -heightE //; have yi : 0 <= y - i%:R by linear.
  have jy : 0 <= j%:R - y by linear.
  by have := ler_wpmul2l jy (up i); have := ler_wpmul2l yi (up j); linear.
have bounded y : 0 <= y -> h y <= omega L.
  by have := @under (omega L) 0 y (lexx 0); rewrite mul0r addr0; apply=> n; rewrite mul0r addr0.
exists h; split=> [|h' [conc above] x x0]; last first.
  case: (ltP x L%:R) => xL.
    have [/andP [ix xj] _] := chosen x x0 xL; rewrite /h xL; move: (best x) ix xj => [i j] /= ix xj.
    have ji : 0 < j%:R - i%:R :> R by linear.
    rewrite -(ler_pmul2l ji) -heightE //; apply: le_trans (chord conc (ler0n _ _) ix xj).
    by apply: ler_add; apply: ler_wpmul2l => //; rewrite subr_ge0 // ltW.
  rewrite /h ltNge xL /=; have [K xK] := archi x.
  have xj : x < K.+1%:R by apply: le_lt_trans xK _; rewrite ltr_nat.
  have ji : 0 < K.+1%:R - L%:R :> R by linear.
  have Lj : (L <= K.+1)%N by rewrite -(ler_nat R); linear.
  rewrite -(ler_pmul2l ji); apply: le_trans (chord conc (ler0n _ _) xL xj).
  have hL := above L; have hj := le_trans (modulus_mono mod Lj) (above K.+1).
  have xi : 0 <= x - L%:R by linear.
  have jx : 0 <= K.+1%:R - x by linear.
  by have := ler_wpmul2l jx hL; have := ler_wpmul2l xi hj; linear.
split=> [x y t x0 y0 /andP [t0 t1]|n]; last first.
  case: (ltnP n L) => nL; last by rewrite /h ltr_nat ltnNge nL /=.
  have nLR : n%:R < L%:R :> R by rewrite ltr_nat.
  have ji : 0 < L%:R - n%:R :> R by rewrite subr_gt0.
  have [_ max] := chosen n%:R (ler0n _ _) nLR.
  apply: le_trans (max n L (leqnn L) (lexx _) nLR).
  by rewrite -(ler_pmul2l ji) -heightE // subrr mul0r addr0.
have t1' : 0 <= 1 - t by linear.
pose z := t * x + (1 - t) * y; rewrite -/z.
have z0 : 0 <= z by rewrite addr_ge0 // mulr_ge0.
case: (ltP z L%:R) => zL; last first.
  rewrite {3}/h ltNge zL /=; have := ler_wpmul2l t0 (bounded x x0).
  by have := ler_wpmul2l t1' (bounded y y0); linear.
have [_ max] := chosen z z0 zL.
have [|s s0 up] := @lowest_line omega (h z) z L z0 zL _ top (bounded z z0).
  move=> i j jL ibound zj; rewrite heightE //; apply: ler_wpmul2l; last exact: max.
  by linear.
have line u : 0 <= u -> h u <= h z - s * z + s * u.
  by apply: under => // n; have := up n; linear.
have := ler_wpmul2l t0 (line x x0); have := ler_wpmul2l t1' (line y y0) => hy hx.
apply: le_trans (ler_add hx hy) _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
by rewrite /z; ring.
Qed.
End Statistic.

Section Users.
Variable L : nat.

(* begin def-users *)
(* Each user has data of some type; d D D' is the number of users whose data differ. *)
Definition users_data (T : 'I_L -> eqType) : Type := {dffun forall l, T l}.
Definition differing (T : 'I_L -> eqType) (D D' : users_data T) : nat := #|[pred l | D l != D' l]|.
(* end def-users *)

(* begin thm-modulus-bias-users *)
(* If neighbours differ in the data of at most one user, at most n steps lead from one dataset to another if
   and only if at most n users' data differ. *)
Theorem steps_of_users (T : 'I_L -> eqType) (n : nat) (D D' : users_data T) :
  within_steps (fun C C' : users_data T => (differing C C' <= 1)%N) n D D' <-> (differing D D' <= n)%N.
(* end thm-modulus-bias-users *)
Proof.
have same (C : users_data T) : differing C C = 0%N.
  by apply: eq_card0 => l; rewrite inE eqxx.
elim: n D' => [|n IH] D' /=.
  split=> [->|]; first by rewrite same.
  rewrite leqn0 => /eqP /card0_eq eq; apply/ffunP => l; apply/eqP.
  by have := eq l; rewrite inE => /negbFE.
split=> [[C /IH DC CD']|].
  have {}CD' : (differing C D' <= 1)%N by case: CD' => // <-; rewrite same.
  apply: (@leq_trans (differing D C + differing C D')); last by rewrite -addn1 leq_add.
  rewrite /differing -[in leqRHS]cardUI; apply: leq_trans (leq_addr _ _).
  apply/subset_leq_card/subsetP => l; rewrite !inE.
  by case: (D l =P C l) => // ->.
case: (pickP [pred l | D l != D' l]) => [l /= ll|eq _]; last first.
  exists D; first by apply/IH; rewrite same.
  by left; apply/ffunP => l; apply/eqP; exact/negbFE/eq.
pose C : users_data T := [ffun k => if k == l then D k else D' k].
move=> le; exists C; last first.
  right; apply: (@leq_trans #|pred1 l|); last by rewrite card1.
  by apply/subset_leq_card/subsetP => k; rewrite !inE ffunE; case: (k =P l) => // _; rewrite eqxx.
apply/IH; move: le; rewrite /differing (cardD1 l) inE ll add1n ltnS; apply: leq_trans.
apply/subset_leq_card/subsetP => k; rewrite !inE ffunE.
by case: (k =P l) => //=; rewrite eqxx.
Qed.
End Users.
