(* The whole release of AKMV is private: a threshold, then a mean of sums capped at it, with noise. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts frontier chain exponential privacy composition densities line noise thresholds.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Release.
Variables (R : realFieldType) (L : nat) (m : 'I_L -> nat) (U : R) (exp : R -> R).
Notation N := (N R m).
Notation V := (V m U).
Notation threshold := (threshold m U).

(* begin prop-akmv-private-definitions *)
(* The threshold t has the density of the private quantile of rank k with eta = eps' / 2.  The output y is
   the mean of the sums, each capped at t, with Laplace noise of scale t / (eps'' N). *)
Definition threshold_density (eps' : R) (k : nat) (x : dataset R m) (t : threshold) : R :=
  density V k (exp (- (eps' / 2))) (sums x) (sval t).
Definition noisy_density (eps'' : R) (t : threshold) (x : dataset R m) (y : R) : R :=
  laplace exp (sval t / (eps'' * N)) (capped_mean (sval t) x) y.

(* The pair of threshold and output; J is an integral over the line. *)
Definition akmv (J : (R -> R) -> R) (eps' eps'' : R) (k : nat) : dataset R m -> (threshold * R -> R) -> R :=
  in_turn (draw (over_thresholds J) (threshold_density eps' k)) (fun t => draw J (noisy_density eps'' t)).
Definition akmv_space (H : (R -> R) -> Prop) (J : (R -> R) -> R) (eps' eps'' : R) (k : nat) :
  (threshold * R -> R) -> Prop :=
  space_in_turn U (drawn U (thresholds_have H) (threshold_density eps' k))
    (fun t => drawn U H (noisy_density eps'' t)) (fun t => draw J (noisy_density eps'' t)).
(* end prop-akmv-private-definitions *)

Hypothesis is_exp : is_exponential exp.
Hypothesis U0 : 0 < U.
Hypothesis Npos : (0 < \sum_l m l)%N.

Variables (H : (R -> R) -> Prop) (J : (R -> R) -> R).
Hypothesis HJ : is_line_integral H J.
Notation HT := (thresholds_have (m := m) (U := U) H).
Notation I := (over_thresholds (m := m) (U := U) J).

Let N0 : 0 < N. Proof. by rewrite ltr0n. Qed.
Let HI : is_integral HT I. Proof. exact: thresholds_integral. Qed.

Lemma V_gt0 : 0 < V.
Proof.
rewrite mulr_gt0 // ltr0n lt0n; apply/negP => /eqP c0; move: Npos; rewrite big1 // => l _.
by apply/eqP; rewrite -leqn0 -c0; exact: le_first_count.
Qed.

Lemma sums_range (x : dataset R m) : in_range U x -> forall l, 0 <= sums x l <= V.
Proof.
move=> xr l; rewrite (sums_ge0 l xr) (le_trans (sums_le l xr)) //.
by rewrite ler_pmul2l // ler_nat le_first_count.
Qed.

(* A function that is constant between cuts has the integral of privacy.v. *)
Lemma steps (g : R -> R) a s : 0 <= a ->
  path <=%O a s -> last a s = V -> constant g a s ->
  let f := fun t : threshold => if a < sval t then g (sval t) else 0 in
  HT f /\ I f = integral g a s.
Proof.
have [ext lin mono] := HI; have len := @thresholds_length _ _ m U _ _ HJ.
elim: s a => [|b s IH] a a0 /=.
  move=> _ aV _; have [||H0 I0] := len a a; [by rewrite a0 lexx | by rewrite aV |].
  have e (t : threshold) : (if a < sval t <= a then 1 else 0) = (if a < sval t then g (sval t) else 0).
    by have /andP [_ tV] := svalP t; rewrite aV ltNge tV.
  split; first exact: ext H0 e.
  by rewrite -(integral_ext HI H0 e) I0 subrr.
move=> /andP [ab bs] lastV [gb gs]; have b0 := le_trans a0 ab.
have bV : b <= V.
  by rewrite -lastV; elim: (s) (b) bs => //= c s' IH' b' /andP [bc cs]; apply: le_trans bc (IH' _ cs).
have [Hr Ir] := IH b b0 bs lastV gs.
have [|//|Hc Ic] := len a b; first by rewrite a0.
have [Hl Il] := lin (g b) _ _ Hc Hr.
have e (t : threshold) : g b * (if a < sval t <= b then 1 else 0)
    + (if b < sval t then g (sval t) else 0) = if a < sval t then g (sval t) else 0.
  case: (leP (sval t) b) => tb; case: (ltP a (sval t)) => at_ /=; rewrite ?mulr1 ?mulr0 ?addr0 ?add0r //.
    by rewrite (gb _ at_ tb).
  by move: (lt_le_trans tb at_); rewrite ltNge ab.
split; first exact: ext Hl e.
by rewrite -(integral_ext HI Hl e) Il Ic Ir mulrC.
Qed.

Lemma q_range eps' : 0 <= eps' -> 0 < exp (- (eps' / 2)) <= 1.
Proof.
move=> e0; rewrite exp_gt0 //= -[leRHS](exp0 is_exp); apply: (exp_mono is_exp).
by rewrite oppr_le0 divr_ge0 ?ler0n.
Qed.

Lemma threshold_law eps' k x : 0 <= eps' -> in_range U x ->
  [/\ forall t, 0 <= threshold_density eps' k x t, HT (threshold_density eps' k x)
    & I (threshold_density eps' k x) = 1].
Proof.
move=> e0 xr; have range := sums_range xr; have q01 := q_range e0.
have [c p Vc] := cuts_ok k (exp (- (eps' / 2))) range (ltW V_gt0).
set w := weight k _ (sums x) in c; set cs := cuts V (sums x) in c p Vc.
have w0 t : 0 < w t by exact: weight_pos.
have I0 : 0 < integral w 0 cs by apply: integral_gt0 Vc V_gt0.
have lastV : last 0 cs = V.
  apply: le_anti; apply/andP; split.
    have : last 0 cs \in 0 :: cs by exact: mem_last.
    rewrite in_cons => /orP [/eqP ->|]; first exact/ltW/V_gt0.
    by rewrite mem_sort in_cons => /orP [/eqP -> //|/mapP [l _ ->]]; case/andP: (range l).
  move: p Vc; elim: (cs) (0) => //= b s IH a /andP [ab bs].
  rewrite in_cons => /orP [/eqP ->|Vs]; last exact: IH bs Vs.
  elim: (s) (b) bs => //= c' s' IH' b' /andP [bc cs']; apply: le_trans bc _; exact: IH'.
have [Hw Iw] := steps (lexx 0) p lastV c.
have e (t : threshold) : (if 0 < sval t then w (sval t) else 0) = w (sval t).
  by have /andP [-> _] := svalP t.
have [ext _ _] := HI; have {}Iw : I (fun t => w (sval t)) = integral w 0 cs.
  by rewrite -(integral_ext HI Hw e).
have {}Hw : HT (fun t => w (sval t)) by exact: ext Hw e.
have [Hd Id] := integral_scale HI (integral w 0 cs)^-1 Hw.
have ed (t : threshold) : (integral w 0 cs)^-1 * w (sval t) = threshold_density eps' k x t by exact: mulrC.
split=> [t||]; [by rewrite -ed mulr_ge0 ?invr_ge0 ?ltW | exact: ext Hd ed |].
by rewrite -(integral_ext HI Hd ed) Id Iw mulVf ?gt_eqF.
Qed.

Lemma threshold_ratio eps' k x x' t : 0 <= eps' -> in_range U x -> in_range U x' -> neighbours x x' ->
  threshold_density eps' k x t <= exp eps' * threshold_density eps' k x' t
  /\ ((L <= k)%N -> threshold_density eps' k x t <= exp (eps' / 2) * threshold_density eps' k x' t).
Proof.
move=> e0 xr xr' [l same].
have [l0 sums_same] : exists l0, forall l', l' != l0 -> sums x l' = sums x' l'.
  by exists l => l' ll'; apply: eq_bigr => j _; exact: same.
have [two one] := thm_quantile k (q_range e0) (sval t) V_gt0 (sums_range xr) (sums_range xr') sums_same.
have inv (a b z : R) : exp (- z) * a <= b -> a <= exp z * b.
  move=> /(ler_wpmul2l (ltW (exp_gt0 is_exp z))); rewrite mulrA -exp_split // subrr exp0 //.
  by rewrite mul1r.
split=> [|Lk]; apply: inv; last exact: one.
by have -> : - eps' = - (eps' / 2) + - (eps' / 2); [linear | rewrite exp_split // -expr2].
Qed.

Lemma laplace_ratio eps'' t (x x' : dataset R m) y : 0 < eps'' -> in_range U x -> in_range U x' -> neighbours x x' ->
  noisy_density eps'' t x y <= exp eps'' * noisy_density eps'' t x' y.
Proof.
move=> e0 xr xr' xx; have /andP [t0 _] := svalP t; have b0 : 0 < sval t / (eps'' * N).
  by rewrite divr_gt0 // mulr_gt0.
rewrite /noisy_density /laplace [leRHS]mulrA; apply: ler_wpmul2r.
  by rewrite invr_ge0 mulr_ge0 ?ler0n ?(ltW b0).
rewrite -exp_split //; apply: (exp_mono is_exp).
have eb : eps'' * (sval t / (eps'' * N)) = sval t / N by field; rewrite !gt_eqF.
have := capped_moves (ltW t0) xr xr' xx; rewrite -{}eb; move: (sval t / _) b0 => b b0.
move: (capped_mean _ x) (capped_mean _ x') => c c' near.
rewrite -(ler_pmul2r b0) mulrDl !mulNr !mulfVK ?gt_eqF //.
by have := ler_norm_add (y - c) (c - c'); rewrite addrA subrK => far; linear.
Qed.
End Release.
Arguments akmv {R L} m U exp J.
Arguments akmv_space {R L} m U exp H J.

(* begin prop-akmv-private *)
(* Steps 1 to 3: publishing both threshold and mean is (eps' + eps'')-DP, and so is publishing the mean
   alone (functions of y alone are among those of the pair); from rank L on, half of eps' is unused. *)
Theorem prop_akmv_private (R : realFieldType) (exp : R -> R) L (m : 'I_L -> nat) (U : R)
    (H : (R -> R) -> Prop) (J : (R -> R) -> R) (eps' eps'' : R) (k : nat) :
  is_exponential exp -> is_line_integral H J -> 0 < U -> (0 < \sum_l m l)%N -> 0 <= eps' -> 0 < eps'' ->
  let space := akmv_space m U exp H J eps' eps'' k in
  let E := akmv m U exp J eps' eps'' k in
  [/\ is_mechanism U space E, is_private U space (exp (eps' + eps'')) E
    & (L <= k)%N -> is_private U space (exp (eps' / 2 + eps'')) E].
(* end prop-akmv-private *)
Proof.
move=> is_exp HJ U0 Npos e0 e1 space E; have N0 : 0 < N R m by rewrite ltr0n.
have HI := @thresholds_integral _ _ m U _ _ HJ; have HJ' := line_integral HJ.
have mT := density_mechanism HI (fun x xr => threshold_law is_exp U0 Npos HJ k e0 xr).
have mY (t : threshold m U) : is_mechanism U (drawn U H (noisy_density exp eps'' t)) (draw J (noisy_density exp eps'' t)).
  apply: (density_mechanism HJ') => x xr; have /andP [t0 _] := svalP t.
  have b0 : 0 < sval t / (eps'' * N R m) by rewrite divr_gt0 // mulr_gt0.
  have [Hl Jl] := laplace_mass is_exp HJ (capped_mean (sval t) x) b0; split=> // y.
  by apply: divr_ge0; [exact/ltW/(exp_gt0 is_exp) | rewrite mulr_ge0 ?ler0n ?(ltW b0)].
have pY (t : threshold m U) : is_private U (drawn U H (noisy_density exp eps'' t)) (exp eps'') (draw J (noisy_density exp eps'' t)).
  by apply: (density_private HJ') => x x' y xr xr' xx; exact: (laplace_ratio is_exp U0 Npos).
have whole z : is_private U (drawn U (thresholds_have (m := m) (U := U) H) (threshold_density exp eps' k)) (exp z)
      (draw (over_thresholds J) (threshold_density exp eps' k)) ->
    is_mechanism U space E /\ is_private U space (exp (z + eps'')) E.
  move=> pT; rewrite exp_split //; apply: composition => //; exact/ltW/(exp_gt0 is_exp).
have [|mech priv] := whole eps'; last split=> // Lk; last have [] // := whole (eps' / 2).
  by apply: (density_private HI) => x x' t xr xr' xx; have [] := threshold_ratio is_exp U0 Npos k t e0 xr xr' xx.
apply: (density_private HI) => x x' t xr xr' xx.
by have [_] := threshold_ratio is_exp U0 Npos k t e0 xr xr' xx; apply.
Qed.

(* begin prop-akmv-private-sensitivity *)
(* What the noise of the mean covers: the sensitivity of the mean of sums capped at T, equation (15). *)
Theorem capped_mean_sensitivity (R : realFieldType) L (m : 'I_L -> nat) (U T : R) :
  0 <= U -> (0 < \sum_l m l)%N -> 0 <= T <= V m U -> is_sensitivity U (capped_mean (m := m) T) (T / N R m).
(* end prop-akmv-private-sensitivity *)
Proof.
move=> U0 Npos /andP [T0 TV]; have [l0 l0E] := first_count Npos.
split; last by move=> x y xr yr; exact: capped_moves.
pose x (u : R) : dataset R m := fun l _ => if l == l0 then u else 0.
have xr u : 0 <= u <= U -> in_range U (x u) by move=> uU l j; rewrite /x; case: eqP => // _; rewrite lexx U0.
have sumsE u l : sums (x u) l = if l == l0 then u * (m l)%:R else 0.
  by rewrite /sums /x sumr_const card_ord; case: eqP => _; rewrite ?mul0rn ?mulr_natr.
have capped u : capped_mean T (x u) = Num.min (u * (m l0)%:R) T / N R m.
  rewrite /capped_mean (bigD1 l0) //= big1 => [|l ll0]; last by rewrite sumsE (negbTE ll0) min_l.
  by rewrite sumsE eqxx addr0.
exists (x U), (x 0); split.
- by apply: xr; rewrite U0 lexx.
- by apply: xr; rewrite U0 lexx.
- by exists l0 => l /negbTE ll0 j; rewrite /x ll0.
rewrite !capped mul0r (min_l T0) mul0r subr0 min_r; last by rewrite l0E.
by rewrite ger0_norm // divr_ge0 ?ler0n.
Qed.
