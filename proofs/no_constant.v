(* With Laplace noise no constant factor holds for every budget: other mechanisms are better by any
   factor. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts optimum lattice chain exponential.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Some private mechanism with a finite mean error has a risk of r at most.  q stands for exp eps. *)
(* begin thm-factor-possible *)
Definition risk_possible (R : realFieldType) L (m : 'I_L -> nat) (U q r : R) : Prop :=
  exists H E, [/\ is_class H, forall x : dataset R m, in_range U x -> is_mean H (E x),
    is_private U H q E & risk_at_most U E r].
(* Noise Z with the mean absolute value z that hides shifts by at most 1: noise h is the mean of h Z, for h
   in H. *)
Definition is_noise (R : realFieldType) (H : (R -> R) -> Prop) (q z : R)
    (noise : (R -> R) -> R) : Prop :=
  [/\ is_class H /\ forall a b h, H h -> H (fun y => h (a + b * y)), is_mean H noise,
    forall a h, `|a| <= 1 -> H h -> (forall y, 0 <= h y) -> noise h <= q * noise (fun y => h (a + y))
    & noise (fun y => `|y|) = z].
(* end thm-factor-possible *)

(* Randomised response: the point of the grid 0, 1 / K, ..., 1 nearest to x with the probability
   q / (q + K), each other one with 1 / (q + K). *)
Section Response.
Variables (R : realFieldType) (q : R) (K : nat).
Hypothesis q1 : 1 <= q.
Hypothesis K0 : (0 < K)%N.

Definition point (k : 'I_K.+1) : R := k%:R / K%:R.
Definition near (x : R) : 'I_K.+1 := [arg min_(k < ord0) `|x - point k|]%O.
Definition response (x : R) (h : R -> R) : R :=
  ((q - 1) * h (point (near x)) + \sum_k h (point k)) / (q + K%:R).

Let KR : 0 < K%:R :> R. Proof. by rewrite ltr0n. Qed.
Let qK : 0 < q + K%:R. Proof. by have := KR; linear. Qed.
Let q0 : 0 <= q - 1. Proof. by rewrite subr_ge0. Qed.

Lemma near_close x : 0 <= x <= 1 -> `|x - point (near x)| <= 1 / K%:R.
Proof.
move=> /andP [x0 x1].
have below n : x <= n%:R / K%:R -> (n <= K)%N -> exists k, `|x - point k| <= 1 / K%:R.
  elim: n => [|n IH] xn nK.
    exists ord0; have -> : x = 0 by apply: le_anti; rewrite x0 -[X in _ <= X](mul0r K%:R^-1) xn.
    by rewrite /point mul0r subrr normr0 divr_ge0 ?ler01 // ltW.
  case: (leP x (n%:R / K%:R)) => h; first exact: IH h (ltnW nK).
  exists (inord n); rewrite /point inordK; last exact: ltnW.
  rewrite ger0_norm ?subr_ge0; last exact: ltW.
  by rewrite ler_subl_addr -mulrDl -(natrD _ 1).
have [|k hk] := below K _ (leqnn K); first by rewrite divff ?gt_eqF.
by rewrite /near; case: arg_minP => // i _ /(_ k isT) /le_trans; apply.
Qed.

Lemma response_mean x : is_mean (fun=> True) (response x).
Proof.
split=> [|a h h' _ _|h h' _ _ le_h].
- rewrite /response mulr1 sumr_const card_ord -addn1 natrD.
  have -> : q - 1 + (K%:R + 1) = q + K%:R by ring.
  by rewrite divff // gt_eqF.
- rewrite /response big_split /= -mulr_sumr; set p := point _.
  by move: (\sum_i h _) (\sum_i h' _) (h p) (h' p) => A B y y'; field; rewrite gt_eqF.
- rewrite /response ler_pmul2r ?invr_gt0 //; apply: ler_add; first exact: ler_wpmul2l.
  by apply: ler_sum => k _.
Qed.

Lemma response_private x x' h : (forall y, 0 <= h y) -> response x h <= q * response x' h.
Proof.
move=> h0; rewrite /response mulrA ler_pmul2r ?invr_gt0 //.
have : h (point (near x)) <= \sum_k h (point k).
  by rewrite (bigD1 (near x)) //= ler_addl sumr_ge0.
move=> /(ler_wpmul2l q0); have := mulr_ge0 q0 (h0 (point (near x'))) => hx'.
have := mulr_ge0 (le_trans ler01 q1) hx'; by linear.
Qed.

Lemma response_risk x : 0 <= x <= 1 -> K%:R ^+ 2 <= q -> response x (fun y => `|x - y|) <= 2 / K%:R.
Proof.
move=> x01 Kq; rewrite /response ler_pdivr_mulr //.
have far k : `|x - point k| <= 1.
  have /andP [x0 x1] := x01; have p0 : 0 <= point k by rewrite divr_ge0 ?ler0n.
  have p1 : point k <= 1 by rewrite ler_pdivr_mulr // mul1r ler_nat -ltnS.
  by rewrite ler_norml; linear.
have : \sum_k `|x - point k| <= K%:R + 1.
  apply: le_trans (ler_sum _ (fun k _ => far k)) _.
  by rewrite sumr_const card_ord -addn1 natrD.
have := ler_wpmul2l q0 (near_close x01).
rewrite -(mulrC K%:R^-1) mulr1 in Kq *.
have -> : 2 * K%:R^-1 * (q + K%:R) = 2 * (q / K%:R) + 2 by field; rewrite gt_eqF.
have : K%:R <= q / K%:R by rewrite ler_pdivl_mulr // -expr2.
have -> : (q - 1) * K%:R^-1 = q / K%:R - K%:R^-1 by ring.
have : 0 < K%:R^-1 :> R by rewrite invr_gt0.
have : 1 <= K%:R :> R by rewrite ler1n.
by move: (q / K%:R) (K%:R^-1) => t u; linear.
Qed.
End Response.

(* Statement 3, Laplace noise: no factor C holds for every budget, not even for one user with one sample in
   [0, 1].  Some whole number is at least C, as always among the reals. *)
(* begin thm-factor-no-constant *)
Theorem thm_factor_no_constant (R : realFieldType) (exp : R -> R) (C : R) :
  is_exponential exp -> (exists n : nat, C <= n%:R) ->
  let m := fun _ : 'I_1 => 1%N in
  exists eps r, [/\ 2 <= eps, risk_possible m 1 (exp eps) r & C * r < E_OPT m 1 eps].
(* end thm-factor-no-constant *)
Proof.
move=> is_exp [n Cn] m; pose k := (8 * n.+1)%N; pose K := (k.+1 ^ 2)%N.
have k8 : 8 <= k%:R :> R by rewrite ler_nat leq_pmulr.
have K0 : (0 < K)%N by rewrite expn_gt0.
have KE : K%:R = (k%:R + 1) * (k%:R + 1) :> R by rewrite /K natrX -addn1 natrD expr2.
have eps2 : 2 <= 4 * k%:R :> R by linear.
have Kq : K%:R ^+ 2 <= exp (4 * k%:R).
  have -> : exp (4 * k%:R) = (exp k%:R * exp k%:R) ^+ 2.
    by rewrite expr2 -!(exp_split is_exp); congr exp; linear.
  have ek : k%:R + 1 <= exp k%:R by rewrite addrC; exact: exp_ge.
  have k1 : 0 <= k%:R + 1 :> R by linear.
  have e0 := le_trans k1 ek; apply: ler_expn2r; rewrite ?nnegrE; [exact: ler0n | exact: mulr_ge0 |].
  by rewrite KE ler_pmul.
have q1 : 1 <= exp (4 * k%:R) by apply/ltW/(exp_gt1 is_exp); linear.
have one (x : dataset R m) : in_range 1 x -> 0 <= mean x <= 1 by move=> h; rewrite mean_one.
exists (4 * k%:R), (2 / K%:R); split=> //.
  exists (fun=> True), (fun x => response (exp (4 * k%:R)) K (mean x)); split=> //.
  - by move=> x _; exact: response_mean.
  - by move=> x x' _ _ _ h _ h0; exact: response_private.
  - by move=> x /one x01; exact: response_risk.
have -> : E_OPT m 1 (4 * k%:R) = 1 / (4 * k%:R) :> R.
  have e1 : (\sum_l m l = 1)%N by rewrite big_ord_recl big_ord0.
  have [l c1] := first_count (m := m) (ltac:(by rewrite e1)).
  rewrite /E_OPT /N e1.
  have k0 : 0 < 4 * k%:R :> R by linear.
  rewrite sum_largest_first; [|by rewrite divr_ge0 ?ler0n ?ltW|by rewrite ler_pdivr_mulr // mul1r].
  by rewrite (_ : nth_count m 0 = 1%N) ?mulr1; [field; rewrite gt_eqF //; linear | rewrite -c1].
have k0 : 0 < 4 * k%:R :> R by linear.
have KR : 0 < K%:R :> R by rewrite ltr0n.
rewrite mulrA ltr_pdivr_mulr // mulrAC ltr_pdivl_mulr // mul1r KE.
have kE : k%:R = 8 * (n%:R + 1) :> R by rewrite /k natrM -[n.+1]addn1 natrD.
have : C * k%:R <= n%:R * k%:R by rewrite ler_wpmul2r ?ler0n.
have kk : k%:R * k%:R = k%:R * (8 * (n%:R + 1)) :> R by rewrite -kE.
by linear.
Qed.

(* For every collection, E_OPT is 2 sinh (eps / 2) / eps times the risk r of another private mechanism: the
   mean plus staircase noise, whose mean absolute value is 1 / (2 sinh (eps / 2)), scaled to the mean's
   sensitivity. h = exp (eps / 2). *)
(* begin thm-factor-laplace *)
Theorem thm_factor_laplace (R : realFieldType) L (m : 'I_L -> nat) (U eps h : R) H noise :
  0 < U -> (0 < \sum_l m l)%N -> 2 <= eps -> 1 < h -> is_noise H (h ^+ 2) (1 / (2 * sinh_log h)) noise ->
  exists2 r, risk_possible m U (h ^+ 2) r & E_OPT m U eps = 2 * sinh_log h / eps * r.
(* end thm-factor-laplace *)
Proof.
(* One user changes the mean by at most D, so D times the noise hides it; the mean absolute value of that is
   the mechanism's risk. *)
move=> U0 Npos eps2 h1 [[cH subst] mN priv size]; have [sH Habs] := cH.
have N0 : 0 < N R m by rewrite ltr0n.
have c0 : 0 < (nth_count m 0)%:R :> R.
  rewrite ltr0n lt0n; apply/eqP => z; move: Npos; rewrite big1 // => l _.
  by apply/eqP; rewrite -leqn0 -z le_first_count.
pose D : R := U * (nth_count m 0)%:R / N R m; have D0 : 0 < D by rewrite divr_gt0 ?mulr_gt0.
pose E (x : dataset R m) f := noise (fun z => f (mean x + D * z)).
have near (x x' : dataset R m) : in_range U x -> in_range U x' -> neighbours x x' -> `|mean x - mean x'| <= D.
  move=> xr xr' xx; have S0 : 0 <= U * (nth_count m 0)%:R by rewrite mulr_ge0 ?ler0n ?ltW.
  have [_ /(_ x x' xr xr' xx)] := frontier_attained m (ltW U0) S0.
  have wide l : U * (m l)%:R <= U * (nth_count m 0)%:R.
    by apply: ler_wpmul2l; [exact: ltW | rewrite ler_nat le_first_count].
  by rewrite !nothing_clipped.
exists (D / (2 * sinh_log h)).
  exists H, E; split=> //.
  - move=> x _; have [E1 lin mono] := mN; split=> // [a f f' Hf Hf'|f f' Hf Hf' ff'].
      by apply: lin; exact: subst.
    by apply: mono => //; exact: subst.
  - move=> x x' xr xr' xx f Hf f0; rewrite /E.
    pose a := (mean x' - mean x) / D.
    have a1 : `|a| <= 1.
      by rewrite normrM normfV (gtr0_norm D0) ler_pdivr_mulr // mul1r distrC near.
    apply: le_trans (priv a _ a1 (subst _ _ _ Hf) (fun _ => f0 _)) _.
    rewrite le_eqVlt; apply/orP; left; apply/eqP; congr (_ * _).
    have [_ _ mono] := mN; have e z : f (mean x + D * (a + z)) = f (mean x' + D * z).
      by congr f; rewrite /a; field; rewrite gt_eqF.
    have Hg := subst (mean x') D f Hf; have [ext _ _] := sH.
    have Hg' := ext _ _ Hg (fun z => esym (e z)).
    by apply: le_anti; apply/andP; split; apply: mono => // z; rewrite e.
  move=> x _; rewrite /E -[D / _]mulr1 mulrAC -mulrA -[1 / _ in leRHS]size.
  have e z : `|mean x - (mean x + D * z)| = D * `|z|.
    by rewrite opprD addrA subrr add0r normrN normrM (gtr0_norm D0).
  have Hz : H (fun y => `|y|).
    by have [ext _ _] := sH; apply: ext (Habs 0) _ => y; rewrite sub0r normrN.
  rewrite -(mean_scale _ sH mN Hz); have [_ _ mono] := mN.
  apply: mono => [||z]; [|exact: space_scale|by rewrite e].
  by have [ext _ _] := sH; apply: ext (space_scale D sH Hz) _ => z; rewrite e.
have eps0 : 0 < eps by linear.
have s0 : 0 < sinh_log h by have := q_inv_lt1 h1; rewrite /sinh_log; linear.
rewrite /E_OPT sum_largest_first; last first.
- by rewrite ler_pdivr_mulr // mul1r.
- by rewrite divr_ge0 ?ler0n ?ltW.
by rewrite /D; field; rewrite !gt_eqF.
Qed.
