(* Answers of userdp, in fractions, checked by computation: what a check accepts is a theorem.  The
   cases are drawn, and answered, by tools/bridge.py. *)
From Coq Require Import NArith QArith Lia.
From Coq.micromega Require Import OrderedRing RingMicromega EnvRing.
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From UserDP Require Import definitions linear counts lemma optimum kkt akmv chain exponential rows.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Delimit Scope Q_scope with Q.
Delimit Scope N_scope with num.

Notation fraction := (@of_Q _).
Notation "$ x" := (@of_Q _ x) (at level 2, format "$ x").

(* Numbers that are given as lists, of counts or fractions, and what is computed from them. *)
Section Numbers.
Variable R : realFieldType.
Implicit Types x y : Q.

(* begin def-bridge *)
(* counts l = m l, from a list; `$x` is the fraction x as a member of the field. *)
Definition count (counts : seq BinNums.N) (l : nat) : nat := N.to_nat (nth 0%num counts l).
Definition users (counts : seq BinNums.N) : 'I_(size counts) -> nat := fun l => count counts l.
Definition of_user (s : seq Q) (l : nat) : R := $(nth 0%Q s l).
(* A user's list of samples that ends early goes on with its last entry. *)
Definition of_sample (s : seq (seq Q)) (l j : nat) : R :=
  let own := nth [::] s l in $(nth (last 0%Q own) own j).
(* end def-bridge *)

Definition at_user (s : seq Q) (l : nat) : Q := nth 0%Q s l.
Definition at_sample (s : seq (seq Q)) (l j : nat) : Q :=
  let own := nth [::] s l in nth (last 0%Q own) own j.
Definition size_of (counts : seq BinNums.N) (l : nat) : Q := inject_Z (Z.of_N (nth 0%num counts l)).
Definition whole (n : nat) : Q := inject_Z (Z.of_nat n).
Definition max x y : Q := if Qle_bool x y then y else x.
Definition min x y : Q := if Qle_bool x y then x else y.
Definition less x y : bool := ~~ Qle_bool y x.
Definition sum (n : nat) (f : nat -> Q) : Q := foldr (fun i s => Qred (f i + s)) 0%Q (iota 0 n).
Definition every (n : nat) (p : nat -> bool) : bool := all p (iota 0 n).

Lemma toD x y : $(x + y)%Q = $x + $y :> R. Proof. exact: (Ring_theory.morph_add (ratios R)). Qed.
Lemma toM x y : $(x * y)%Q = $x * $y :> R. Proof. exact: (Ring_theory.morph_mul (ratios R)). Qed.
Lemma toS x y : $(x - y)%Q = $x - $y :> R. Proof. exact: (Ring_theory.morph_sub (ratios R)). Qed.
Lemma toN x : $(- x)%Q = - $x :> R. Proof. exact: (Ring_theory.morph_opp (ratios R)). Qed.
Lemma to_eq x y : Qeq_bool x y -> $x = $y :> R. Proof. exact: (Ring_theory.morph_eq (ratios R)). Qed.
Lemma toR x : $(Qred x) = $x :> R. Proof. exact/to_eq/Qeq_bool_iff/Qred_correct. Qed.

Lemma toV x : $(/ x)%Q = $x^-1 :> R.
Proof.
rewrite !of_QE invfM invrK; case: x => [[|p|p] d] /=; first by rewrite !mul0r invr0 mul0r.
  by rewrite mulrC.
by rewrite invrN !mulNr mulrC.
Qed.

Lemma to_div x y : $(x / y)%Q = $x / $y :> R. Proof. by rewrite /Qdiv toM toV. Qed.

Lemma to_le x y : ($x <= $y :> R) = Qle_bool x y.
Proof.
apply/idP/idP; last by move=> h; exact: (SORcleb_morph (additional R)).
apply: contraTT => h; have {h} yx : Qle_bool y x && ~~ Qeq_bool x y.
  have : ~ (x <= y)%Q by move=> /Qle_bool_iff; apply/negP.
  move=> /Qnot_le_lt lt; apply/andP; split; first exact/Qle_bool_iff/Qlt_le_weak.
  by apply/negP => /Qeq_bool_iff e; apply: (Qlt_not_eq y x) => //; symmetry.
case/andP: yx => le ne; rewrite -ltNge lt_neqAle (SORcleb_morph (additional R) _ _ le) andbT.
apply/eqP => /esym; apply: (SORcneqb_morph (additional R)); exact: negbTE.
Qed.

Lemma to_lt x y : less x y -> $x < $y :> R.
Proof. by rewrite /less -to_le -ltNge. Qed.

Lemma to_max x y : $(max x y) = Num.max $x $y :> R.
Proof. by rewrite /max -to_le; case: (leP $x ($y : R)). Qed.

Lemma to_min x y : $(min x y) = Num.min $x $y :> R.
Proof. by rewrite /min -to_le; case: (leP $x ($y : R)). Qed.

Lemma to_whole n : $(whole n) = n%:R :> R.
Proof. by rewrite /whole of_QE /= divr1 to_nat. Qed.

Lemma to_size counts l : $(size_of counts l) = (count counts l)%:R :> R.
Proof. by rewrite /size_of of_QE /= divr1 /count; case: nth => //= p; rewrite positive_N_nat. Qed.

Lemma to_sum n f : $(sum n f) = \sum_(l < n) $(f l) :> R.
Proof.
rewrite -(big_mkord xpredT (fun l => $(f l) : R)) /sum /index_iota subn0.
elim: (iota 0 n) => [|i s IH]; first by rewrite big_nil.
by rewrite big_cons -IH -toD; exact: toR.
Qed.

Lemma to_every n p : every n p -> forall l : 'I_n, p l.
Proof. by move=> /allP h l; apply: h; rewrite mem_iota ltn_ord. Qed.

Lemma two : $2%Q = 2 :> R. Proof. by []. Qed.
Lemma one : $1%Q = 1 :> R. Proof. by []. Qed.
Lemma zero : $0%Q = 0 :> R. Proof. by []. Qed.
Definition computed := (toR, to_div, to_max, to_min, to_whole, to_size, to_sum, toD, toM, toS, toN, two, one, zero).
End Numbers.

(* The counts in order. *)
Section Order.
Variable counts : seq BinNums.N.

Definition in_order : seq BinNums.N := sort (fun a b => N.leb b a) counts.
Definition total : Q := sum (size counts) (size_of counts).

Lemma sizes : [seq users (counts := counts) l | l <- enum 'I_(size counts)] = [seq N.to_nat c | c <- counts].
Proof.
rewrite (map_comp (fun i => count counts i) val) val_enum_ord.
rewrite (map_comp N.to_nat (fun i => nth 0%num counts i)); congr map.
by rewrite map_nth_iota0 ?take_size.
Qed.

Lemma to_natK : {mono N.to_nat : a b / N.leb b a >-> geq a b}.
Proof.
move=> a b; apply/idP/idP => [/ssrnat.leP h|/N.leb_le h]; first by apply/N.leb_le; lia.
by apply/ssrnat.leP; lia.
Qed.

Lemma nth_in_order i : nth_count (users (counts := counts)) i = count in_order i.
Proof.
rewrite /nth_count sizes -(map_sort to_natK) /count -/in_order.
case: (ltnP i (size in_order)) => h; first by rewrite (nth_map 0%num).
by rewrite !nth_default ?size_map.
Qed.

Lemma to_total (R : realFieldType) : $total = N R (users (counts := counts)).
Proof. by rewrite /N natr_sum to_sum; apply: eq_bigr => l _; rewrite to_size. Qed.

Lemma some_sample (R : realFieldType) : less 0 total -> (0 < \sum_l users (counts := counts) l)%N.
Proof. by move=> /(to_lt R); rewrite to_total ltr0n. Qed.
End Order.

(* The rank. *)
Section Rank.
(* begin bridge-rank *)
Record rank_case := Rank { rank_eps : Q; rank_k : BinNums.N }.
Definition rank_says (R : realFieldType) (c : rank_case) : Prop :=
  is_ceil (N.to_nat (rank_k c)) (2 / $(rank_eps c) : R).
(* end bridge-rank *)

Definition is_rank (eps : Q) (k : nat) : bool :=
  [&& less 0 eps, less ((whole k - 1) * eps) 2 & Qle_bool 2 (whole k * eps)].
Definition rank_ok (c : rank_case) : bool := is_rank (rank_eps c) (N.to_nat (rank_k c)).

Lemma is_rank_sound (R : realFieldType) eps k : is_rank eps k -> 0 < $eps :> R /\ is_ceil k (2 / $eps : R).
Proof.
move=> /and3P [/(to_lt R) e0 /(to_lt R) k1]; rewrite -(to_le R); rewrite !computed in e0 k1 * => k2.
by split=> //; split; [rewrite ltr_pdivl_mulr | rewrite ler_pdivr_mulr].
Qed.

(* begin bridge-rank-sound *)
Theorem rank_sound R c : rank_ok c -> rank_says R c.
(* end bridge-rank-sound *)
Proof. by move=> /(is_rank_sound R) []. Qed.
End Rank.

(* Bias, sensitivity and error of a clipped mean. *)
Section Clippings.
(* begin bridge-clipping *)
(* Intervals, one list a user; and what is said of them. *)
Record clipping_case := Clipping { clipping_counts : seq BinNums.N; clipping_U : Q; clipping_eps : Q;
  ends_low : seq (seq Q); ends_high : seq (seq Q);
  said_bias : Q; said_printed : Q; said_sensitivity : Q; said_error : Q }.
Definition clipping_says (R : realFieldType) (c : clipping_case) : Prop :=
  let U : R := $(clipping_U c) in
  let a : dataset R (users (counts := clipping_counts c)) := fun l j => of_sample R (ends_low c) l j in
  let b : dataset R (users (counts := clipping_counts c)) := fun l j => of_sample R (ends_high c) l j in
  [/\ is_clipping U a b,
      is_worst_case_bias U (clipped_mean a b) $(said_bias c),
      printed_bias U a b = $(said_printed c),
      is_sensitivity U (clipped_mean a b) $(said_sensitivity c)
    & is_worst_case_error U $(clipping_eps c) (clipped_mean a b) $(said_error c)].
(* end bridge-clipping *)

Variable c : clipping_case.
Let counts := clipping_counts c.
Let L := size counts.
Let U := clipping_U c.
Let low := at_sample (ends_low c).
Let high := at_sample (ends_high c).
Let over (f : nat -> nat -> Q) : Q := sum L (fun l => sum (count counts l) (f l)).
Let width_of (l : nat) : Q := sum (count counts l) (fun j => high l j - low l j)%Q.

Definition clipping_ok : bool :=
  let Nn := total counts in let W := (said_sensitivity c * Nn)%Q in
  [&& less 0 Nn, less 0 (clipping_eps c),
      every L (fun l => every (count counts l) (fun j =>
        [&& Qle_bool 0 (low l j), Qle_bool (low l j) (high l j) & Qle_bool (high l j) U])),
      every L (fun l => Qle_bool (width_of l) W), has (fun l => Qeq_bool (width_of l) W) (iota 0 L),
      Qeq_bool (said_bias c * Nn) (max (over low) (over (fun l j => U - high l j)))%Q,
      Qeq_bool (said_printed c * Nn) (over (fun l j => max (low l j) (U - high l j)))%Q
    & Qeq_bool (said_error c) (said_bias c + said_sensitivity c / clipping_eps c)%Q].
End Clippings.

Lemma to_over (R : realFieldType) counts (f : nat -> nat -> Q) :
  $(sum (size counts) (fun l => sum (count counts l) (f l)))
  = \sum_(l < size counts) \sum_(j < count counts l) $(f l j) :> R.
Proof. by rewrite to_sum; apply: eq_bigr => l _; rewrite to_sum. Qed.

(* begin bridge-clipping-sound *)
Theorem clipping_sound R c : clipping_ok c -> clipping_says R c.
(* end bridge-clipping-sound *)
Proof.
case: c => counts U eps low high bias printed sens error; rewrite /clipping_ok /clipping_says /=.
set a : dataset R _ := fun l j => of_sample _ low _ _; set b : dataset R _ := fun l j => of_sample _ high _ _.
case/and5P => N0 /(to_lt R) e0 inside largest /and4P [attained biasE printedE /(to_eq R) errorE].
have := @some_sample counts R N0; rewrite -(ltr0n R) -/(N R _) -(to_total counts R) => {}N0.
have quotient x y : Qeq_bool (x * total counts) y -> $x = $y / N R (users (counts := counts)).
  by move=> /(to_eq R); rewrite toM -to_total => <-; rewrite mulfK ?gt_eqF.
have cl : is_clipping $U a b.
  move=> l j; have := to_every (to_every inside l) j; rewrite -!(to_le R) => /and3P [].
  by rewrite computed.
have widthE l : width a b l = $(sum (count counts l) (fun j => at_sample high l j - at_sample low l j)%Q).
  by rewrite to_sum; apply: eq_bigr => j _; rewrite toS.
have lw : is_largest_width a b $(sens * total counts)%Q.
  split=> [|l _]; last by rewrite widthE to_le; exact: (to_every largest).
  have [l lL /(to_eq R) e] := hasP attained; move: lL; rewrite mem_iota => /= lL.
  by exists (Ordinal lL); rewrite ?widthE.
have [beta delta _] := thm_lemma $eps cl lw.
have biasR : $bias = Num.max (\sum_l \sum_j a l j) (\sum_l \sum_j ($U - b l j)) / N R (users (counts := counts)).
  rewrite (quotient _ _ biasE) to_max !to_over; congr (Num.max _ _ / _).
  by apply: eq_bigr => l _; apply: eq_bigr => j _; rewrite toS.
have sensR : $sens = $(sens * total counts)%Q / N R (users (counts := counts)).
  by rewrite toM -to_total mulfK ?gt_eqF.
rewrite -biasR in beta; rewrite -sensR in delta; split=> //; last first.
  by exists $bias, $sens; split=> //; rewrite errorE !computed.
rewrite (quotient _ _ printedE) /printed_bias to_over; congr (_ / _).
by apply: eq_bigr => l _; apply: eq_bigr => j _; rewrite to_max toS.
Qed.

(* The best clipping. *)
Section Optimal.
(* begin bridge-optimal *)
(* The rank, the threshold, the intervals, one a user, and the smallest worst-case error. *)
Record optimal_case := Optimal { optimal_counts : seq BinNums.N; optimal_U : Q; optimal_eps : Q;
  said_rank : BinNums.N; said_threshold : Q; said_low : seq Q; said_high : seq Q; said_optimum : Q }.
Definition optimal_says (R : realFieldType) (c : optimal_case) : Prop :=
  let m := users (counts := optimal_counts c) in
  let U : R := $(optimal_U c) in let eps : R := $(optimal_eps c) in let T : R := $(said_threshold c) in
  let a : dataset R m := fun l _ => of_user R (said_low c) l in
  let b : dataset R m := fun l _ => of_user R (said_high c) l in
  [/\ is_ceil (N.to_nat (said_rank c)) (2 / eps) /\ T = v m U (N.to_nat (said_rank c)),
      forall l j, a l j = sym_lo U T j /\ b l j = sym_hi U T j,
      is_worst_case_error U eps (clipped_mean (sym_lo U T) (@sym_hi R _ m U T)) $(said_optimum c),
      is_worst_case_error U eps (clipped_mean a b) $(said_optimum c)
    & forall (g : estimator R m) beta delta, (forall x, in_range U x -> `|mean x - g x| <= beta) ->
        sensitivity_at_most U g delta -> $(said_optimum c) <= beta + delta / eps].
(* end bridge-optimal *)

Definition optimal_ok (c : optimal_case) : bool :=
  let counts := optimal_counts c in let L := size counts in
  let U := optimal_U c in let eps := optimal_eps c in let T := said_threshold c in
  let middle l := ((U * size_of counts l - T) / (2 * size_of counts l))%Q in
  let end_ l := ((U * size_of counts l + T) / (2 * size_of counts l))%Q in
  [&& Qle_bool 0 U, less 0 (total counts), is_rank eps (N.to_nat (said_rank c)),
      Qeq_bool T (U * size_of (in_order counts) (N.to_nat (said_rank c)).-1)%Q,
      every L (fun l => Qeq_bool (at_user (said_low c) l) (max (middle l) 0)
                     && Qeq_bool (at_user (said_high c) l) (min (end_ l) U))
    & Qeq_bool (said_optimum c * total counts)
        (sum L (fun l => max ((U * size_of counts l - T) / 2) 0) + T / eps)%Q].

Lemma same_error (R : realFieldType) L (m : 'I_L -> nat) (U eps e : R) (g h : estimator R m) :
  (forall x, g x = h x) -> is_worst_case_error U eps g e -> is_worst_case_error U eps h e.
Proof.
move=> gh [beta [delta [[[x xr bx] b] [[y [z [yr zr yz dz]]] d] e']]]; exists beta, delta; split=> //.
  by split=> [|t tr]; [exists x; rewrite -?gh | rewrite -gh; exact: b].
by split=> [|t u tr ur tu]; [exists y, z; split; rewrite -?gh | rewrite -!gh; exact: d].
Qed.

(* begin bridge-optimal-sound *)
Theorem optimal_sound R c : optimal_ok c -> optimal_says R c.
(* end bridge-optimal-sound *)
Proof.
case: c => counts U eps k T low high E; rewrite /optimal_ok /optimal_says /=.
case/and5P; rewrite -(to_le R) => U0 N0 kc /(to_eq R) TE /andP [ends /(to_eq R) EE].
have [e0 {}kc] := is_rank_sound R kc; have Npos := @some_sample counts R N0.
set m := users (counts := counts) in Npos *; set a : dataset R m := fun l _ => _; set b : dataset R m := fun l _ => _.
have {}TE : $T = v m $U (N.to_nat k) :> R by rewrite TE toM to_size /v nth_in_order.
have same (l : 'I_(size counts)) (j : 'I_(m l)) : a l j = sym_lo $U $T j /\ b l j = sym_hi $U $T j.
  have /andP [/(to_eq R) lo /(to_eq R) hi] := to_every ends l.
  by rewrite /a /b /of_user lo hi !computed.
have [[best EO least] _] := thm_optimum U0 Npos e0 kc; rewrite -TE in best EO.
have N1 : 0 < N R m by rewrite ltr0n.
have {}EO : E_OPT m $U $eps = $E :> R.
  rewrite EO; apply: (mulIf (lt0r_neq0 N1)); rewrite mulfVK ?gt_eqF // -to_total -toM EE !computed.
  by congr (_ + _); apply: eq_bigr => l _; rewrite !computed.
rewrite EO in best least; split=> //; apply: same_error best => x.
by congr (_ / _); apply: eq_bigr => l _; apply: eq_bigr => j _; have [-> ->] := same l j.
Qed.
End Optimal.

(* Multipliers. *)
Section Multipliers.
(* begin bridge-multipliers *)
(* A point of the linear program with multipliers, and by how much each condition is said to fail. *)
Record multipliers_case := Multipliers { program_counts : seq BinNums.N; program_U : Q; program_eps : Q;
  said_alpha : seq Q; said_width : Q; said_lambda : seq Q; said_mu : seq Q; said_lambdaS : Q;
  said_residuals : seq Q }.
Definition satisfies (R : realFieldType) (c : multipliers_case) : Prop :=
  let m := users (counts := program_counts c) in
  let alpha (l : 'I_(size (program_counts c))) := of_user R (said_alpha c) l in
  feasible m $(program_U c) alpha $(said_width c)
  /\ KKT m $(program_U c) $(program_eps c) alpha $(said_width c) (fun l => of_user R (said_lambda c) l)
       (fun l => of_user R (said_mu c) l) $(said_lambdaS c).
(* Of the point of Theorem III.1: all is satisfied, and it is a minimiser. *)
Definition multipliers_says (R : realFieldType) (c : multipliers_case) : Prop :=
  satisfies R c /\ minimiser (users (counts := program_counts c)) $(program_U c) $(program_eps c)
    (fun l => of_user R (said_alpha c) l) $(said_width c).
(* Of any point: no condition is said to fail exactly if all are satisfied. *)
Definition residuals_says (R : realFieldType) (c : multipliers_case) : Prop :=
  all (fun r => $r == 0 :> R) (said_residuals c) <-> satisfies R c.
(* end bridge-multipliers *)

Definition satisfied (c : multipliers_case) : bool :=
  let counts := program_counts c in let L := size counts in
  let U := program_U c in let S := said_width c in
  let alpha := at_user (said_alpha c) in let lambda := at_user (said_lambda c) in
  let mu := at_user (said_mu c) in
  let excess l := (U * size_of counts l - 2 * alpha l - S)%Q in
  [&& Qle_bool 0 S, Qle_bool 0 (said_lambdaS c),
      Qeq_bool (said_lambdaS c + sum L lambda) (1 / program_eps c)%Q,
      Qeq_bool (said_lambdaS c * S) 0
    & every L (fun l => [&& Qle_bool (excess l) 0, Qle_bool 0 (alpha l), Qle_bool 0 (lambda l),
        Qle_bool 0 (mu l) & [&& Qeq_bool (lambda l) ((1 - mu l) / 2),
        Qeq_bool (lambda l * excess l) 0 & Qeq_bool (mu l * alpha l) 0]])].
Definition multipliers_ok (c : multipliers_case) : bool := satisfied c.
Definition residuals_ok (c : multipliers_case) : bool :=
  all (fun r => Qeq_bool r 0) (said_residuals c) == satisfied c.

Lemma eq_to (R : realFieldType) x y : Qeq_bool x y = ($x == $y :> R).
Proof.
apply/idP/eqP => [|e]; first exact: to_eq.
by apply: contraT => /negbTE ne; have := SORcneqb_morph (additional R) _ _ ne; rewrite e.
Qed.

Lemma every_in n p : every n p <-> forall l : 'I_n, p l.
Proof.
split=> [|h]; first exact: to_every.
by apply/allP => l; rewrite mem_iota => /= ln; exact: (h (Ordinal ln)).
Qed.

Lemma satisfiedP R c : satisfied c <-> satisfies R c.
Proof.
rewrite /satisfied /satisfies /feasible /KKT; case: c => counts U eps alpha S lambda mu lambdaS res /=.
rewrite -!(to_le R) !(eq_to R) !computed; split.
  case/and5P => S0 lS0 /eqP sum_lam /eqP sS /every_in good.
  have {}good l := good l; rewrite -?(to_le R) in good.
  have all_of (l : 'I_(size counts)) : [/\ $U * (count counts l)%:R - 2 * $(at_user alpha l) <= $S :> R,
      0 <= $(at_user alpha l) :> R, 0 <= $(at_user lambda l) :> R, 0 <= $(at_user mu l) :> R
    & [/\ $(at_user lambda l) = (1 - $(at_user mu l)) / 2 :> R,
          $(at_user lambda l) * ($U * (count counts l)%:R - 2 * $(at_user alpha l) - $S) = 0 :> R
        & $(at_user mu l) * $(at_user alpha l) = 0 :> R]].
    have := good l; rewrite -!(to_le R) !(eq_to R) !computed.
    by case/and5P => ? ? ? ? /and3P [/eqP ? /eqP ? /eqP ?]; split=> //; rewrite -subr_le0.
  split; split=> //; try by [move=> l; case: (all_of l) | split=> // l; case: (all_of l)].
    by move=> l; case: (all_of l) => ? ? ? ? [].
  by split=> // l; case: (all_of l) => ? ? ? ? [].
case=> [[f1 f2 S0] [[l0 mu0 lS0] sum_lam lam_mu [sS s1 s2]]].
apply/and5P; split=> //; try exact/eqP.
apply/every_in => l; rewrite -!(to_le R) !(eq_to R) !computed.
apply/and5P; split; [by rewrite subr_le0; exact: f1 | exact: f2 | exact: l0 | exact: mu0 |].
by apply/and3P; split; apply/eqP; [exact: lam_mu | exact: s1 | exact: s2].
Qed.

(* begin bridge-multipliers-sound *)
Theorem multipliers_sound R c : multipliers_ok c -> multipliers_says R c.
(* end bridge-multipliers-sound *)
Proof. by move=> /(satisfiedP R) good; split=> //; case: good => feas kkt; exact: thm_kkt feas kkt. Qed.

(* begin bridge-residuals-sound *)
Theorem residuals_sound R c : residuals_ok c -> residuals_says R c.
(* end bridge-residuals-sound *)
Proof.
rewrite /residuals_ok (eq_all (eq_to R ^~ _)) => /eqP e; rewrite /residuals_says.
by rewrite -satisfiedP -e.
Qed.
End Multipliers.

(* Many cases at once: which of them a check refuses, and what it means that it refuses none. *)
Definition refused (T : Type) (ok : T -> bool) (cases : seq T) : seq nat :=
  [seq i.1 | i <- zip (iota 0 (size cases)) cases & ~~ ok i.2].

Lemma none_refused (T : Type) (ok : T -> bool) (says : T -> Prop) (cases : seq T) :
  (forall c, ok c -> says c) -> all ok cases -> List.Forall says cases.
Proof. by move=> sound; elim: cases => //= c s IH /andP [/sound h /IH]; constructor. Qed.
