(* Results of userdp, as fractions, checked by computation: if a check accepts a case, what the case claims
   is a theorem. tools/bridge.py draws the cases and calls userdp. *)
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
(* A user's list of samples that is too short is continued with its last entry. *)
Definition of_sample (s : seq (seq Q)) (l j : nat) : R :=
  let own := nth [::] s l in $(nth (last 0%Q own) own j).
(* end def-bridge *)

Definition at_user (s : seq Q) (l : nat) : Q := nth 0%Q s l.
Definition size_of (counts : seq BinNums.N) (l : nat) : Q := inject_Z (Z.of_N (nth 0%num counts l)).
Definition whole (n : nat) : Q := inject_Z (Z.of_nat n).
Definition max x y : Q := if Qle_bool x y then y else x.
Definition min x y : Q := if Qle_bool x y then x else y.
Definition less x y : bool := ~~ Qle_bool y x.
(* Only sums of fractions with different denominators are reduced, because reducing takes most of the
   time. *)
Definition plus x y : Q :=
  if Z.eqb (Qnum x) 0 then y
  else if Pos.eqb (Qden x) (Qden y) then (Qnum x + Qnum y # Qden x)%Q else Qred (x + y).
Definition add_all (s : seq Q) : Q := foldr plus 0%Q s.
Definition sum (n : nat) (f : nat -> Q) : Q := add_all [seq f i | i <- iota 0 n].
Definition every (n : nat) (p : nat -> bool) : bool := all p (iota 0 n).
(* |y - x| <= bound *)
Definition is_near (bound y x : Q) : bool := Qle_bool (y - x) bound && Qle_bool (x - y) bound.

(* The first entries of a list, and x once it has ended: in long lists this is faster than `nth`. *)
Fixpoint entries (T : Type) (x : T) (n : nat) (s : seq T) : seq T :=
  if n is n'.+1 then head x s :: entries x n' (behead s) else [::].
Definition sizes_of (n : nat) (counts : seq BinNums.N) : seq Q :=
  [seq inject_Z (Z.of_N m) | m <- entries 0%num n counts].

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

Lemma to_plus x y : $(plus x y) = $x + $y :> R.
Proof.
rewrite /plus; case: Z.eqb_spec => [x0|_]; first by rewrite [$x]of_QE x0 mul0r add0r.
case: Pos.eqb_spec => [e|_]; last by rewrite toR toD.
by rewrite !of_QE /= of_ZD mulrDl e.
Qed.

Lemma to_sum n f : $(sum n f) = \sum_(l < n) $(f l) :> R.
Proof.
rewrite -(big_mkord xpredT (fun l => $(f l) : R)) /sum /index_iota subn0.
by elim: (iota 0 n) => [|i s IH]; rewrite ?big_nil // big_cons -IH -to_plus.
Qed.

Lemma to_within b y x : is_near b y x -> `|$y - $x| <= $b :> R.
Proof.
by rewrite /is_near -!to_le !toS => /andP [yx xy]; rewrite ler_norml ler_oppl opprB xy.
Qed.

Lemma to_every n p : every n p -> forall l : 'I_n, p l.
Proof. by move=> /allP h l; apply: h; rewrite mem_iota ltn_ord. Qed.

Lemma entriesE (T : Type) (x : T) n s : entries x n s = [seq nth x s i | i <- iota 0 n].
Proof.
elim: n s => // n IH s /=; rewrite IH nth0 (iotaDl 1 0 n) -map_comp; congr (_ :: _).
by apply: eq_map => i; exact: nth_behead.
Qed.

Lemma sizes_ofE n counts : sizes_of n counts = [seq size_of counts l | l <- iota 0 n].
Proof. by rewrite /sizes_of entriesE -map_comp. Qed.

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
(* k is x rounded up, or a whole number from which x differs by at most this tolerance times k. *)
Definition is_rank_of (R : realFieldType) (tolerance : R) (k : nat) (x : R) : Prop :=
  `|k%:R - x| <= tolerance * k%:R \/ is_ceil k x /\ forall n : nat, tolerance * n%:R < `|n%:R - x|.
(* The tolerance is 0 unless eps is a float, which may differ slightly from the number that is meant. *)
Record rank_case := Rank { rank_eps : Q; rank_tolerance : Q; rank_k : BinNums.N }.
Definition rank_claim (R : realFieldType) (c : rank_case) : Prop :=
  is_rank_of $(rank_tolerance c) (N.to_nat (rank_k c)) (2 / $(rank_eps c) : R).
(* end bridge-rank *)

Definition is_rank (eps : Q) (k : nat) : bool :=
  [&& less 0 eps, less ((whole k - 1) * eps) 2 & Qle_bool 2 (whole k * eps)].
Definition is_rank_within (tolerance eps : Q) (n : nat) : bool :=
  let k := whole n in
  [&& Qle_bool 0 tolerance, Qle_bool tolerance 1, less 0 eps
    & is_near (tolerance * (k * eps)) (k * eps) 2 || [&& is_rank eps n,
        less (tolerance * (k * eps)) (k * eps - 2)
        & less (tolerance * ((k - 1) * eps)) (2 - (k - 1) * eps)]]%Q.
Definition rank_ok (c : rank_case) : bool :=
  is_rank_within (rank_tolerance c) (rank_eps c) (N.to_nat (rank_k c)).

Lemma is_rank_sound (R : realFieldType) eps k : is_rank eps k -> 0 < $eps :> R /\ is_ceil k (2 / $eps : R).
Proof.
move=> /and3P [/(to_lt R) e0 /(to_lt R) k1]; rewrite -(to_le R); rewrite !computed in e0 k1 * => k2.
by split=> //; split; [rewrite ltr_pdivl_mulr | rewrite ler_pdivr_mulr].
Qed.

Lemma is_rank_within_sound (R : realFieldType) tolerance eps k : is_rank_within tolerance eps k ->
  0 < $eps :> R /\ is_rank_of $tolerance k (2 / $eps : R).
Proof.
case/and4P; rewrite -!(to_le R) => s0 s1 /(to_lt R) e0; rewrite !zero one in s0 s1 e0 *.
set x : R := 2 / $eps; have xe : x * $eps = 2 by rewrite divfK ?gt_eqF.
case/orP => [/(to_within R)|/and3P [/(is_rank_sound R) [_ kc] /(to_lt R) above /(to_lt R) below]].
  rewrite !computed -xe -mulrBl normrM (gtr0_norm e0) mulrA ler_pmul2r // => h.
  by split=> //; left.
rewrite !computed -xe -?mulrBl !mulrA !ltr_pmul2r // in above below.
split=> //; right; split=> // n; case: (ltnP n k) => nk.
  have le : n%:R <= k%:R - 1 :> R by rewrite ler_subr_addr -[1]/(1%:R) -natrD ler_nat addn1.
  rewrite distrC; apply: lt_le_trans (ler_norm _).
  apply: le_lt_trans (ler_wpmul2l s0 le) _; apply: lt_le_trans below _.
  by rewrite ler_add2l ler_oppr opprK.
have le : k%:R <= n%:R :> R by rewrite ler_nat.
apply: lt_le_trans (ler_norm _); rewrite ltr_subr_addl -ltr_subr_addr -[X in X - _]mul1r -mulrBl.
apply: lt_le_trans (ler_wpmul2l _ le); last by rewrite subr_ge0.
by rewrite mulrBl mul1r ltr_subr_addr addrC -ltr_subr_addr.
Qed.

(* begin bridge-rank-sound *)
Theorem rank_sound R c : rank_ok c -> rank_claim R c.
(* end bridge-rank-sound *)
Proof. by move=> /(is_rank_within_sound R) []. Qed.

(* With the tolerance 0, k is x rounded up. *)
(* begin bridge-rank-exact *)
Theorem exact_rank (R : realFieldType) (k : nat) (x : R) : is_rank_of 0 k x -> is_ceil k x.
(* end bridge-rank-exact *)
Proof.
case=> [|[]//]; rewrite mul0r normr_le0 subr_eq0 => /eqP <-; split=> //.
by rewrite ltr_subl_addr ltr_addl.
Qed.
End Rank.

(* Bias, sensitivity and error of a clipped mean. *)
Section Clippings.
(* begin bridge-clipping *)
(* Intervals, one list per user, and the results that are claimed for them. *)
Record clipping_case := Clipping { clipping_counts : seq BinNums.N; clipping_U : Q; clipping_eps : Q;
  ends_low : seq (seq Q); ends_high : seq (seq Q);
  claimed_bias : Q; claimed_printed : Q; claimed_sensitivity : Q; claimed_error : Q }.
Definition clipping_claim (R : realFieldType) (c : clipping_case) : Prop :=
  let U : R := $(clipping_U c) in
  let a : dataset R (users (counts := clipping_counts c)) := fun l j => of_sample R (ends_low c) l j in
  let b : dataset R (users (counts := clipping_counts c)) := fun l j => of_sample R (ends_high c) l j in
  [/\ is_clipping U a b,
      is_worst_case_bias U (clipped_mean a b) $(claimed_bias c),
      printed_bias U a b = $(claimed_printed c),
      is_sensitivity U (clipped_mean a b) $(claimed_sensitivity c)
    & is_worst_case_error U $(clipping_eps c) (clipped_mean a b) $(claimed_error c)].
(* end bridge-clipping *)

(* Sums over a user's samples, whose intervals are often all the same. *)
Definition same_interval (a b : seq Q) : bool := (size a <= 1)%N && (size b <= 1)%N.
Definition end_of (s : seq Q) (j : nat) : Q := nth (last 0%Q s) s j.
Definition of_samples (m : BinNums.N) (a b : seq Q) (f : Q -> Q -> Q) : Q :=
  if same_interval a b then (inject_Z (Z.of_N m) * f (end_of a 0) (end_of b 0))%Q
  else sum (N.to_nat m) (fun j => f (end_of a j) (end_of b j)).
Definition all_samples (m : BinNums.N) (a b : seq Q) (p : Q -> Q -> bool) : bool :=
  every (if same_interval a b then 1%N else N.to_nat m) (fun j => p (end_of a j) (end_of b j)).

Lemma same_intervalE a b j : same_interval a b -> end_of a j = end_of a 0 /\ end_of b j = end_of b 0.
Proof.
suff one s : (size s <= 1)%N -> end_of s j = end_of s 0 by case/andP => /one -> /one ->.
by case: s => [|x []] //; case: j => // -[].
Qed.

Lemma to_samples (R : realFieldType) counts l a b f : $(of_samples (nth 0%num counts l) a b f)
  = \sum_(j < count counts l) $(f (end_of a j) (end_of b j)) :> R.
Proof.
rewrite /of_samples; case: ifP => [one|_]; last exact: to_sum.
under eq_bigr => j _ do have [-> ->] := same_intervalE j one.
by rewrite sumr_const card_ord -mulr_natl toM (to_size R counts l).
Qed.

Lemma to_all_samples m a b p : all_samples m a b p ->
  forall j : 'I_(N.to_nat m), p (end_of a j) (end_of b j).
Proof.
rewrite /all_samples; case: ifP => [one h j|_]; last exact: to_every.
by have [-> ->] := same_intervalE j one; exact: (to_every h ord0).
Qed.

Variable c : clipping_case.
Let counts := clipping_counts c.
Let U := clipping_U c.
Let of_users : seq (BinNums.N * (seq Q * seq Q)) := let of_all := entries [::] (size counts) in
  zip (entries 0%num (size counts) counts) (zip (of_all (ends_low c)) (of_all (ends_high c))).
Let for_each (f : Q -> Q -> Q) : seq Q := [seq of_samples r.1 r.2.1 r.2.2 f | r <- of_users].
Let over (f : Q -> Q -> Q) : Q := add_all (for_each f).

Definition clipping_ok : bool :=
  let Nn := total counts in let W := (claimed_sensitivity c * Nn)%Q in
  let widths := for_each (fun a b => b - a)%Q in
  [&& less 0 Nn, less 0 (clipping_eps c),
      all (fun r => all_samples r.1 r.2.1 r.2.2
        (fun a b => [&& Qle_bool 0 a, Qle_bool a b & Qle_bool b U])) of_users,
      all (Qle_bool ^~ W) widths, has (Qeq_bool ^~ W) widths,
      Qeq_bool (claimed_bias c * Nn) (max (over (fun a _ => a)) (over (fun _ b => U - b)))%Q,
      Qeq_bool (claimed_printed c * Nn) (over (fun a b => max a (U - b)))%Q
    & Qeq_bool (claimed_error c) (claimed_bias c + claimed_sensitivity c / clipping_eps c)%Q].
End Clippings.

Lemma to_over (R : realFieldType) counts (s : nat -> BinNums.N * (seq Q * seq Q)) f :
  (forall l, (s l).1 = nth 0%num counts l) ->
  $(add_all [seq of_samples r.1 r.2.1 r.2.2 f | r <- [seq s l | l <- iota 0 (size counts)]])
  = \sum_(l < size counts) \sum_(j < count counts l)
      $(f (end_of (s l).2.1 j) (end_of (s l).2.2 j)) :> R.
Proof.
move=> e; rewrite -map_comp -/(sum _ _) to_sum; apply: eq_bigr => l _.
by rewrite /= e to_samples.
Qed.

(* begin bridge-clipping-sound *)
Theorem clipping_sound R c : clipping_ok c -> clipping_claim R c.
(* end bridge-clipping-sound *)
Proof.
case: c => counts U eps low high bias printed sens error; rewrite /clipping_ok /clipping_claim /=.
set a : dataset R _ := fun l j => of_sample _ low _ _; set b : dataset R _ := fun l j => of_sample _ high _ _.
rewrite !entriesE !zip_map; set s := fun l => (nth 0%num counts l, _).
have s1 l : (s l).1 = nth 0%num counts l by [].
case/and5P => N0 /(to_lt R) e0 inside largest /and4P [attained biasE printedE /(to_eq R) errorE].
have := @some_sample counts R N0; rewrite -(ltr0n R) -/(N R _) -(to_total counts R) => {}N0.
have quotient x y : Qeq_bool (x * total counts) y -> $x = $y / N R (users (counts := counts)).
  by move=> /(to_eq R); rewrite toM -to_total => <-; rewrite mulfK ?gt_eqF.
have cl : is_clipping $U a b.
  move=> l j; rewrite all_map in inside; have := to_all_samples (to_every inside l) j.
  by rewrite -!(to_le R) => /and3P [].
have widthE l : width a b l = $(of_samples (s l).1 (s l).2.1 (s l).2.2 (fun a b => b - a)%Q).
  by rewrite to_samples; apply: eq_bigr => j _; rewrite toS.
have lw : is_largest_width a b $(sens * total counts)%Q.
  rewrite -map_comp all_map in largest; rewrite -map_comp has_map in attained.
  split=> [|l _]; last by rewrite widthE to_le; exact: (to_every largest).
  have [l lL /(to_eq R) e] := hasP attained; move: lL; rewrite mem_iota => /= lL.
  by exists (Ordinal lL); rewrite ?widthE.
have [beta delta _] := thm_lemma $eps cl lw.
have biasR : $bias = Num.max (\sum_l \sum_j a l j) (\sum_l \sum_j ($U - b l j)) / N R (users (counts := counts)).
  rewrite (quotient _ _ biasE) to_max !(to_over _ _ s1); congr (Num.max _ _ / _).
  by apply: eq_bigr => l _; apply: eq_bigr => j _; rewrite toS.
have sensR : $sens = $(sens * total counts)%Q / N R (users (counts := counts)).
  by rewrite toM -to_total mulfK ?gt_eqF.
rewrite -biasR in beta; rewrite -sensR in delta; split=> //; last first.
  by exists $bias, $sens; split=> //; rewrite errorE !computed.
rewrite (quotient _ _ printedE) /printed_bias (to_over _ _ s1); congr (_ / _).
by apply: eq_bigr => l _; apply: eq_bigr => j _; rewrite to_max toS.
Qed.

(* Results in doubles for the same intervals. *)
(* begin bridge-rounded *)
Definition rounded_tolerance : Q := 1 # 2^48.
Record rounded_case := Rounded { in_fractions : clipping_case; rounded_bias : Q;
  rounded_printed : Q; rounded_sensitivity : Q; rounded_error : Q }.
Definition rounded_claim (R : realFieldType) (c : rounded_case) : Prop :=
  let x := in_fractions c in let near y x : Prop := `|$y - $x| <= $rounded_tolerance * $x :> R in
  clipping_claim R x /\
  [/\ near (rounded_bias c) (claimed_bias x), near (rounded_printed c) (claimed_printed x),
      near (rounded_sensitivity c) (claimed_sensitivity x) & near (rounded_error c) (claimed_error x)].
(* end bridge-rounded *)

Definition rounded_ok (c : rounded_case) : bool :=
  let x := in_fractions c in let near y x := is_near (rounded_tolerance * x) y x in
  clipping_ok x &&
  [&& near (rounded_bias c) (claimed_bias x), near (rounded_printed c) (claimed_printed x),
      near (rounded_sensitivity c) (claimed_sensitivity x) & near (rounded_error c) (claimed_error x)].

(* begin bridge-rounded-sound *)
Theorem rounded_sound R c : rounded_ok c -> rounded_claim R c.
(* end bridge-rounded-sound *)
Proof.
case/andP => /(clipping_sound R) ok /and4P [b p d e]; split=> //.
by split; rewrite -toM; exact: to_within.
Qed.

(* The best clipping. *)
Section Optimal.
(* begin bridge-optimal *)
(* The rank, the threshold, the intervals, one per user, and the smallest worst-case error. *)
Record optimal_case := Optimal { optimal_counts : seq BinNums.N; optimal_U : Q; optimal_eps : Q;
  claimed_rank : BinNums.N; claimed_threshold : Q; claimed_low : seq Q; claimed_high : seq Q; claimed_optimum : Q }.
Definition optimal_claim (R : realFieldType) (c : optimal_case) : Prop :=
  let m := users (counts := optimal_counts c) in
  let U : R := $(optimal_U c) in let eps : R := $(optimal_eps c) in let T : R := $(claimed_threshold c) in
  let a : dataset R m := fun l _ => of_user R (claimed_low c) l in
  let b : dataset R m := fun l _ => of_user R (claimed_high c) l in
  [/\ is_ceil (N.to_nat (claimed_rank c)) (2 / eps) /\ T = v m U (N.to_nat (claimed_rank c)),
      forall l j, a l j = sym_lo U T j /\ b l j = sym_hi U T j,
      is_worst_case_error U eps (clipped_mean (sym_lo U T) (@sym_hi R _ m U T)) $(claimed_optimum c),
      is_worst_case_error U eps (clipped_mean a b) $(claimed_optimum c)
    & forall (g : estimator R m) beta delta, (forall x, in_range U x -> `|mean x - g x| <= beta) ->
        sensitivity_at_most U g delta -> $(claimed_optimum c) <= beta + delta / eps].
(* end bridge-optimal *)

(* The number of samples of each user, and both ends of the interval. *)
Definition users_ends (counts : seq BinNums.N) (low high : seq Q) : seq (Q * (Q * Q)) :=
  let L := size counts in zip (sizes_of L counts) (zip (entries 0%Q L low) (entries 0%Q L high)).

Lemma all_rows counts low high p : all p (users_ends counts low high) ->
  forall l : 'I_(size counts), p (size_of counts l, (at_user low l, at_user high l)).
Proof.
rewrite /users_ends sizes_ofE !entriesE !zip_map all_map => h l.
exact: (to_every h).
Qed.

Definition optimal_ok (c : optimal_case) : bool :=
  let counts := optimal_counts c in let L := size counts in
  let U := optimal_U c in let eps := optimal_eps c in let T := claimed_threshold c in
  let middle m := ((U * m - T) / (2 * m))%Q in let end_ m := ((U * m + T) / (2 * m))%Q in
  [&& Qle_bool 0 U, less 0 (total counts), is_rank eps (N.to_nat (claimed_rank c)),
      Qeq_bool T (U * size_of (in_order counts) (N.to_nat (claimed_rank c)).-1)%Q,
      all (fun r => Qeq_bool r.2.1 (max (middle r.1) 0)
                 && Qeq_bool r.2.2 (min (end_ r.1) U)) (users_ends counts (claimed_low c) (claimed_high c))
    & Qeq_bool (claimed_optimum c * total counts)
        (add_all [seq max ((U * m - T) / 2) 0 | m <- sizes_of L counts] + T / eps)%Q].

Lemma same_error (R : realFieldType) L (m : 'I_L -> nat) (U eps e : R) (g h : estimator R m) :
  (forall x, g x = h x) -> is_worst_case_error U eps g e -> is_worst_case_error U eps h e.
Proof.
move=> gh [beta [delta [[[x xr bx] b] [[y [z [yr zr yz dz]]] d] e']]]; exists beta, delta; split=> //.
  by split=> [|t tr]; [exists x; rewrite -?gh | rewrite -gh; exact: b].
by split=> [|t u tr ur tu]; [exists y, z; split; rewrite -?gh | rewrite -!gh; exact: d].
Qed.

(* begin bridge-optimal-sound *)
Theorem optimal_sound R c : optimal_ok c -> optimal_claim R c.
(* end bridge-optimal-sound *)
Proof.
case: c => counts U eps k T low high E; rewrite /optimal_ok /optimal_claim /=.
case/and5P; rewrite -(to_le R) => U0 N0 kc /(to_eq R) TE /andP [ends /(to_eq R) EE].
have [e0 {}kc] := is_rank_sound R kc; have Npos := @some_sample counts R N0.
set m := users (counts := counts) in Npos *; set a : dataset R m := fun l _ => _; set b : dataset R m := fun l _ => _.
have {}TE : $T = v m $U (N.to_nat k) :> R by rewrite TE toM to_size /v nth_in_order.
have same (l : 'I_(size counts)) (j : 'I_(m l)) : a l j = sym_lo $U $T j /\ b l j = sym_hi $U $T j.
  have /andP [/(to_eq R) /= lo /(to_eq R) /= hi] := all_rows ends l.
  by rewrite /a /b /of_user lo hi !computed.
have [[best EO least] _] := thm_optimum U0 Npos e0 kc; rewrite -TE in best EO.
have N1 : 0 < N R m by rewrite ltr0n.
have {}EO : E_OPT m $U $eps = $E :> R.
  rewrite EO; apply: (mulIf (lt0r_neq0 N1)); rewrite mulfVK ?gt_eqF // -to_total -toM EE.
  rewrite sizes_ofE -map_comp -/(sum _ _) !computed; congr (_ + _).
  by apply: eq_bigr => l _; rewrite !computed.
rewrite EO in best least; split=> //; apply: same_error best => x.
by congr (_ / _); apply: eq_bigr => l _; apply: eq_bigr => j _; have [-> ->] := same l j.
Qed.

(* The same in doubles. *)
(* begin bridge-floats *)
(* The exact values of the numbers that userdp was given, at least one of them a double; and its
   results, which may be rounded. *)
Definition ulp : Q := 1 # 2^52.
Record floats_case := Floats { floats_counts : seq BinNums.N; floats_U : Q; floats_eps : Q;
  floats_tolerance : Q; floats_rank : BinNums.N; floats_threshold : Q; floats_low : seq Q;
  floats_high : seq Q; floats_optimum : Q }.
Definition floats_claim (R : realFieldType) (c : floats_case) : Prop :=
  let m := users (counts := floats_counts c) in let k := N.to_nat (floats_rank c) in
  let U : R := $(floats_U c) in let eps : R := $(floats_eps c) in let u : R := $ulp in
  let T := v m U k in let E := E_OPT m U eps in
  [/\ is_rank_of $(floats_tolerance c) k (2 / eps),
      `|$(floats_threshold c) - T| <= u * T,
      forall l (j : 'I_(m l)), `|of_user R (floats_low c) l - sym_lo U T j| <= u * U
        /\ `|of_user R (floats_high c) l - sym_hi U T j| <= u * U
    & `|$(floats_optimum c) - E| <= u * E].
(* end bridge-floats *)

(* H (x), the sum of the x largest counts, for counts in descending order. *)
Fixpoint most (x : Q) (s : seq BinNums.N) : Q :=
  if s is m :: s' then (min 1 (max 0 x) * inject_Z (Z.of_N m) + most (x - 1) s')%Q else 0%Q.

Definition floats_ok (c : floats_case) : bool :=
  let counts := floats_counts c in let L := size counts in
  let U := floats_U c in let eps := floats_eps c in
  let T := (U * size_of (in_order counts) (N.to_nat (floats_rank c)).-1)%Q in
  let E := (U / (2 * total counts) * most (2 / eps) (in_order counts))%Q in
  let middle m := ((U * m - T) / (2 * m))%Q in let end_ m := ((U * m + T) / (2 * m))%Q in
  [&& is_rank_within (floats_tolerance c) eps (N.to_nat (floats_rank c)),
      is_near (ulp * T) (floats_threshold c) T,
      all (fun r => is_near (ulp * U) r.2.1 (max (middle r.1) 0)
                 && is_near (ulp * U) r.2.2 (min (end_ r.1) U))
        (users_ends counts (floats_low c) (floats_high c)),
      less 0 (total counts)
    & is_near (ulp * E) (floats_optimum c) E].

Lemma to_most (R : realFieldType) x s : $(most x s) =
  \sum_(i < size s) Num.min 1 (Num.max 0 ($x - i%:R)) * (count s i)%:R :> R.
Proof.
elim: s x => [|m s IH] x /=; first by rewrite big_ord0.
rewrite toD big_ord_recl IH !computed subr0 -[inject_Z _]/(size_of [:: m] 0) to_size; congr (_ + _).
by apply: eq_bigr => i _; rewrite -[X in _ - X - _]/(1%:R) -addrA -opprD -natrD.
Qed.

(* begin bridge-floats-sound *)
Theorem floats_sound R c : floats_ok c -> floats_claim R c.
(* end bridge-floats-sound *)
Proof.
case: c => counts U eps tolerance k T low high E; rewrite /floats_ok /floats_claim /=.
case/and5P => /(is_rank_within_sound R) [e0 kc] /(to_within R) TE ends N0 /(to_within R) EE.
set T' := (U * size_of _ _)%Q in TE ends; set E' := (_ * most _ _)%Q in EE.
have T'E : $T' = v (users (counts := counts)) $U (N.to_nat k) :> R.
  by rewrite toM to_size /v nth_in_order.
have E'E : $E' = E_OPT (users (counts := counts)) $U $eps :> R.
  rewrite toM to_div toM to_total to_most /E_OPT /sum_of_largest size_sort; congr (_ / _ * _).
  by apply: eq_bigr => i _; rewrite to_div two nth_in_order.
move: T' E' T'E E'E TE EE ends => T' E' T'E E'E; rewrite !toM T'E E'E => TE EE ends; split=> // l j.
have /andP [/(to_within R) /= lo /(to_within R) /= hi] := all_rows ends l.
by rewrite !computed T'E in lo hi; split.
Qed.
End Optimal.

(* Multipliers. *)
Section Multipliers.
(* begin bridge-multipliers *)
(* A point of the linear program with multipliers, and the claimed amounts by which the conditions fail. *)
Record multipliers_case := Multipliers { program_counts : seq BinNums.N; program_U : Q; program_eps : Q;
  claimed_alpha : seq Q; claimed_width : Q; claimed_lambda : seq Q; claimed_mu : seq Q; claimed_lambdaS : Q;
  claimed_residuals : seq Q }.
Definition satisfies (R : realFieldType) (c : multipliers_case) : Prop :=
  let m := users (counts := program_counts c) in
  let alpha (l : 'I_(size (program_counts c))) := of_user R (claimed_alpha c) l in
  feasible m $(program_U c) alpha $(claimed_width c)
  /\ KKT m $(program_U c) $(program_eps c) alpha $(claimed_width c) (fun l => of_user R (claimed_lambda c) l)
       (fun l => of_user R (claimed_mu c) l) $(claimed_lambdaS c).
(* For the point of Theorem III.1: all conditions hold, and it is a minimiser. *)
Definition multipliers_claim (R : realFieldType) (c : multipliers_case) : Prop :=
  satisfies R c /\ minimiser (users (counts := program_counts c)) $(program_U c) $(program_eps c)
    (fun l => of_user R (claimed_alpha c) l) $(claimed_width c).
(* For any point: all claimed amounts are 0 if and only if all conditions hold. *)
Definition residuals_claim (R : realFieldType) (c : multipliers_case) : Prop :=
  all (fun r => $r == 0 :> R) (claimed_residuals c) <-> satisfies R c.
(* end bridge-multipliers *)

Definition satisfied (c : multipliers_case) : bool :=
  let counts := program_counts c in let L := size counts in
  let U := program_U c in let S := claimed_width c in
  let of_users := entries 0%Q L in let lambda := of_users (claimed_lambda c) in
  let users := zip (zip (sizes_of L counts) (of_users (claimed_alpha c)))
    (zip lambda (of_users (claimed_mu c))) in
  [&& Qle_bool 0 S, Qle_bool 0 (claimed_lambdaS c),
      Qeq_bool (claimed_lambdaS c + add_all lambda) (1 / program_eps c)%Q,
      Qeq_bool (claimed_lambdaS c * S) 0
    & all (fun l => let: ((m, alpha), (lambda, mu)) := l in
        let excess := (U * m - 2 * alpha - S)%Q in
        [&& Qle_bool excess 0, Qle_bool 0 alpha, Qle_bool 0 lambda, Qle_bool 0 mu
        & [&& Qeq_bool lambda ((1 - mu) / 2), Qeq_bool (lambda * excess) 0
            & Qeq_bool (mu * alpha) 0]]) users].
Definition multipliers_ok (c : multipliers_case) : bool := satisfied c.
Definition residuals_ok (c : multipliers_case) : bool :=
  all (fun r => Qeq_bool r 0) (claimed_residuals c) == satisfied c.

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
rewrite sizes_ofE !entriesE !zip_map all_map -/(sum _ _) -/(every _ _) /=.
rewrite -!(to_le R) !(eq_to R) !computed; split.
  case/and5P => S0 lS0 /eqP sum_lam /eqP sS /every_in good.
  have {}good l := good l; rewrite -?(to_le R) in good.
  have all_of (l : 'I_(size counts)) : [/\ $U * (count counts l)%:R - 2 * $(at_user alpha l) <= $S :> R,
      0 <= $(at_user alpha l) :> R, 0 <= $(at_user lambda l) :> R, 0 <= $(at_user mu l) :> R
    & [/\ $(at_user lambda l) = (1 - $(at_user mu l)) / 2 :> R,
          $(at_user lambda l) * ($U * (count counts l)%:R - 2 * $(at_user alpha l) - $S) = 0 :> R
        & $(at_user mu l) * $(at_user alpha l) = 0 :> R]].
    have := good l => /=; rewrite -!(to_le R) !(eq_to R) !computed.
    by case/and5P => ? ? ? ? /and3P [/eqP ? /eqP ? /eqP ?]; split=> //; rewrite -subr_le0.
  split; split=> //; try by [move=> l; case: (all_of l) | split=> // l; case: (all_of l)].
    by move=> l; case: (all_of l) => ? ? ? ? [].
  by split=> // l; case: (all_of l) => ? ? ? ? [].
case=> [[f1 f2 S0] [[l0 mu0 lS0] sum_lam lam_mu [sS s1 s2]]].
apply/and5P; split=> //; try exact/eqP.
apply/every_in => l /=; rewrite -!(to_le R) !(eq_to R) !computed.
apply/and5P; split; [by rewrite subr_le0; exact: f1 | exact: f2 | exact: l0 | exact: mu0 |].
by apply/and3P; split; apply/eqP; [exact: lam_mu | exact: s1 | exact: s2].
Qed.

(* begin bridge-multipliers-sound *)
Theorem multipliers_sound R c : multipliers_ok c -> multipliers_claim R c.
(* end bridge-multipliers-sound *)
Proof. by move=> /(satisfiedP R) good; split=> //; case: good => feas kkt; exact: thm_kkt feas kkt. Qed.

(* begin bridge-residuals-sound *)
Theorem residuals_sound R c : residuals_ok c -> residuals_claim R c.
(* end bridge-residuals-sound *)
Proof.
rewrite /residuals_ok (eq_all (eq_to R ^~ _)) => /eqP e; rewrite /residuals_claim.
by rewrite -satisfiedP -e.
Qed.
End Multipliers.

(* Bounds on exp (- x) for x = n / d, by squaring one on exp (- x / 2^h) h times, in whole numbers of which
   2^bits stand for 1. *)
Section Bounds.
Local Open Scope coqZ.
Definition unit : Z := 2 ^ 104.
Definition product (bits a b : Z) : Z := Z.shiftr (a * b) bits.
Definition low_square (bits a : Z) : Z := product bits a a.
Definition high_square (a : Z) : Z := product 104 a a + 1.
(* Bounds on the powers of a number, from a bound on the number. *)
Definition low_step (a b : Z) : Z := product 104 b a.
Definition high_step (a b : Z) : Z := product 104 b a + 1.
Definition low_power (a : Z) (n : nat) : Z := iter n (low_step a) unit.
Definition high_power (a : Z) (n : nat) : Z := iter n (high_step a) unit.
Definition low_exp (bits : Z) (h : nat) (n d : Z) : Z :=
  let D := d * 2 ^ Z.of_nat h in iter h (low_square bits) (2 ^ bits * (D - n) / D).
Definition high_exp (n d : Z) : Z := iter 50 high_square (unit * (d * 2 ^ 50) / (d * 2 ^ 50 + n) + 1).
End Bounds.

Lemma productE bits a b : Z.le 0 bits -> product bits a b = (a * b / 2 ^ bits)%coqZ.
Proof. exact: Z.shiftr_div_pow2. Qed.

Lemma product_unit a b : product 104 a b = (a * b / unit)%coqZ.
Proof. exact: productE. Qed.

Section Exponential.
Variables (R : realFieldType) (exp : R -> R).
Hypothesis is_exp : is_exponential exp.
Notation "! z" := (@of_Z R z) (at level 2, format "! z").

Lemma quotient_low (a b : Z) : Z.lt 0 b -> !(a / b)%coqZ <= !a / !b.
Proof.
move=> b0; have B0 : 0 < !b by case: b b0 => // p _; exact: of_pos.
by rewrite ler_pdivl_mulr // -of_ZM; apply: of_Z_le; have := Z.mul_div_le a b b0; lia.
Qed.

Lemma quotient_high (a b : Z) : Z.lt 0 b -> !a / !b <= !(a / b + 1)%coqZ.
Proof.
move=> b0; have B0 : 0 < !b by case: b b0 => // p _; exact: of_pos.
by rewrite ler_pdivr_mulr // -of_ZM; apply: of_Z_le; have := Z.mul_succ_div_gt a b b0; lia.
Qed.

Lemma exp_square x : exp (- (2 * x)) = exp (- x) * exp (- x).
Proof. by rewrite -(exp_split is_exp) -opprD mulr_natl mulr2n. Qed.

Lemma unit0 : 0 < !unit. Proof. exact: of_pos. Qed.

Lemma low_iter bits i (a : Z) x : Z.le 0 bits -> Z.le 0 a -> !a / !(2 ^ bits)%coqZ <= exp (- x) ->
  Z.le 0 (iter i (low_square bits) a) /\
  !(iter i (low_square bits) a) / !(2 ^ bits)%coqZ <= exp (- (2 ^+ i * x)).
Proof.
move=> bits0 a0 le_a; have u0 := Z.pow_pos_nonneg 2 bits (erefl _) bits0.
elim: i => [|i [IH0 IH]]; first by rewrite expr0 mul1r.
rewrite iterS /low_square productE //; move: (iter i _ a) IH0 IH => b b0 le_b; split.
  by apply: Z.div_pos => //; apply: Z.mul_nonneg_nonneg.
have U0 : 0 <= !(2 ^ bits)%coqZ by apply: of_Z_ge0; exact: Z.lt_le_incl.
have B0 : 0 <= !b / !(2 ^ bits)%coqZ by apply: divr_ge0 => //; exact: of_Z_ge0.
rewrite exprS -mulrA exp_square; apply: le_trans (ler_pmul B0 B0 le_b le_b).
rewrite mulrACA mulrA; apply: ler_wpmul2r; first by rewrite invr_ge0.
by rewrite -of_ZM; exact: quotient_low.
Qed.

Lemma high_iter i (a : Z) x : Z.le 0 a -> exp (- x) <= !a / !unit ->
  Z.le 0 (iter i high_square a) /\ exp (- (2 ^+ i * x)) <= !(iter i high_square a) / !unit.
Proof.
move=> a0 le_a; elim: i => [|i [IH0 IH]]; first by rewrite expr0 mul1r.
rewrite iterS /high_square product_unit; move: (iter i _ a) IH0 IH => b b0 le_b; split.
  by apply: Z.add_nonneg_nonneg => //; apply: Z.div_pos => //; apply: Z.mul_nonneg_nonneg.
have e0 : 0 <= exp (- (2 ^+ i * x)) by apply/ltW/(exp_gt0 is_exp).
rewrite exprS -mulrA exp_square; apply: le_trans (ler_pmul e0 e0 le_b le_b) _.
rewrite mulrACA mulrA; apply: ler_wpmul2r; first by rewrite invr_ge0 ltW ?unit0.
by rewrite -of_ZM; exact: quotient_high.
Qed.

Lemma to_power i : !(2 ^ Z.of_nat i)%coqZ = 2 ^+ i.
Proof.
elim: i => // i IH; rewrite exprS -IH Nat2Z.inj_succ Z.pow_succ_r ?of_ZM //.
exact: Nat2Z.is_nonneg.
Qed.

Lemma exp_low bits h (n d : Z) : Z.le 0 bits -> Z.lt 0 d -> Z.le n (d * 2 ^ Z.of_nat h) ->
  Z.le 0 (low_exp bits h n d) /\ !(low_exp bits h n d) / !(2 ^ bits)%coqZ <= exp (- (!n / !d)).
Proof.
move=> bits0 d0; rewrite /low_exp; have h0 := Z.pow_pos_nonneg 2 (Z.of_nat h) (erefl _) (Nat2Z.is_nonneg h).
have := Z.mul_pos_pos d _ d0 h0; set D := (d * 2 ^ Z.of_nat h)%coqZ => D0 nD.
have u0 := Z.pow_pos_nonneg 2 bits (erefl _) bits0.
have pos z : Z.lt 0 z -> 0 < !z by case: z => // p _; exact: of_pos.
have -> : !n / !d = 2 ^+ h * (!n / !D).
  rewrite /D of_ZM (to_power h); field.
  by rewrite expf_neq0 ?pnatr_eq0 // gt_eqF ?pos.
apply: low_iter => //; first by apply: Z.div_pos => //; apply: Z.mul_nonneg_nonneg; lia.
apply: (@le_trans _ _ (1 - !n / !D)); last exact: exp_ge.
rewrite ler_pdivr_mulr ?pos //; apply: le_trans (quotient_low _ D0) _.
by rewrite of_ZM toB -mulrA mulrC mulrBl divff // gt_eqF ?pos.
Qed.

Lemma exp_between (n d : Z) : Z.lt 0 n -> Z.lt 0 d -> Z.le n (d * 2 ^ 50) ->
  !(low_exp 104 50 n d) / !unit <= exp (- (!n / !d)) <= !(high_exp n d) / !unit.
Proof.
move=> n0 d0 nd; have [|_ ->] := @exp_low 104%coqZ 50 n d _ d0 nd; first by [].
move: nd; rewrite /high_exp; have := @Z.mul_pos_pos d (2 ^ 50) d0; set D := (d * 2 ^ 50)%coqZ.
move=> /(_ (erefl _)) D0 nD; have u0 := unit0.
have pos z : Z.lt 0 z -> 0 < !z by case: z => // p _; exact: of_pos.
have Dn0 : Z.lt 0 (D + n) by lia.
have -> : !n / !d = 2 ^+ 50 * (!n / !D).
  rewrite /D of_ZM (to_power 50); field.
  by rewrite gt_eqF ?pos // expf_neq0 // pnatr_eq0.
have [y0 Dy] : 0 < !n / !D /\ !D != 0 by split; [rewrite divr_gt0 ?pos | rewrite gt_eqF ?pos].
have [||_ //] := high_iter 50 (a := (unit * D / (D + n) + 1)%coqZ) (x := !n / !D).
  by apply: Z.add_nonneg_nonneg => //; apply: Z.div_pos => //; apply: Z.mul_nonneg_nonneg => //; lia.
rewrite ler_pdivl_mulr // -(ler_pmul2r (_ : 0 < 1 + !n / !D)); last by rewrite addr_gt0 ?ltr01.
have := exp_le is_exp (- (!n / !D)); rewrite opprK => h.
rewrite mulrAC; apply: le_trans (ler_wpmul2r (ltW u0) h) _; rewrite mul1r.
have := quotient_high (unit * D) Dn0; rewrite ler_pdivr_mulr ?pos // of_ZM of_ZD => h2.
rewrite -(ler_pmul2r (pos _ D0)); apply: le_trans h2 _.
have e : (1 + !n / !D) * !D = !D + !n by rewrite mulrDl mul1r divfK.
by rewrite -[leRHS]mulrA e of_ZD.
Qed.
End Exponential.

Local Opaque low_exp high_exp unit.

Lemma power_between (R : realFieldType) (a b : Z) (x : R) n : Z.le 0 a -> Z.le 0 b ->
  of_Z R a / of_Z R unit <= x -> x <= of_Z R b / of_Z R unit ->
  [/\ Z.le 0 (low_power a n), Z.le 0 (high_power b n), of_Z R (low_power a n) / of_Z R unit <= x ^+ n
    & x ^+ n <= of_Z R (high_power b n) / of_Z R unit].
Proof.
move=> a0 b0 ax xb; have u0 := unit0 R; have i0 : 0 <= (of_Z R unit)^-1 by rewrite invr_ge0 ltW.
have x0 : 0 <= x by apply: le_trans ax; rewrite divr_ge0 ?of_Z_ge0 // ltW.
elim: n => [|n [l0 h0 le_l le_h]]; first by rewrite expr0 divff ?gt_eqF.
rewrite /low_power /high_power !iterS -/(low_power a n) -/(high_power b n) exprSr.
rewrite /low_step /high_step !product_unit.
move: (low_power a n) (high_power b n) (x ^+ n) (exprn_ge0 n x0) l0 h0 le_l le_h => l h y y0 l0 h0 le_l le_h.
have la0 : Z.le 0 (l * a) by exact: Z.mul_nonneg_nonneg.
have hb0 : Z.le 0 (h * b) by exact: Z.mul_nonneg_nonneg.
have nonneg z : Z.le 0 z -> 0 <= of_Z R z / of_Z R unit by move=> z0; rewrite mulr_ge0 ?of_Z_ge0.
split; [exact: Z.div_pos | by apply: Z.add_nonneg_nonneg; [exact: Z.div_pos |] | |].
  apply: le_trans (ler_pmul (nonneg _ l0) (nonneg _ a0) le_l ax).
  by rewrite mulrACA mulrA -of_ZM; apply: ler_wpmul2r i0 _ _ _; exact: quotient_low.
apply: le_trans (ler_pmul y0 x0 le_h xb) _.
by rewrite mulrACA mulrA -of_ZM; apply: ler_wpmul2r i0 _ _ _; exact: quotient_high.
Qed.

(* AKMV's error on a dataset. *)
Section Akmv.
(* begin bridge-akmv *)
(* Users' sums, and a double that is claimed to be AKMV's error.  It is, up to a relative error of 10^-11
   for rounding.  `exp` is any exponential function. *)
Definition rounding : Q := 1 # 100000000000.
Record akmv_case := Akmv { akmv_counts : seq BinNums.N; akmv_U : Q; akmv_eps : Q;
  akmv_tolerance : Q; akmv_sums : seq Q; akmv_rank : BinNums.N; claimed_akmv : Q }.
Definition akmv_claim (R : realFieldType) (c : akmv_case) : Prop :=
  let m := users (counts := akmv_counts c) in
  let U : R := $(akmv_U c) in let eps : R := $(akmv_eps c) in let y : R := $(claimed_akmv c) in
  let s (l : 'I_(size (akmv_counts c))) := of_user R (akmv_sums c) l in
  let k := N.to_nat (akmv_rank c) in
  [/\ is_rank_of $(akmv_tolerance c) k (2 / eps), forall l, 0 <= s l <= U * (m l)%:R
    & forall exp : R -> R, is_exponential exp ->
        let error := akmv_error m s (v m U 1) eps (exp (- (eps / 4))) k in
        y * (1 - $rounding) <= error <= y * (1 + $rounding)].
(* end bridge-akmv *)

Variable c : akmv_case.
Let counts := akmv_counts c.
Let L := size counts.
Let s := at_user (akmv_sums c).
Let eps := akmv_eps c.
Let k := N.to_nat (akmv_rank c).
Let top : Q := akmv_U c * size_of (in_order counts) 0.
Let ordered : seq Q := top :: sort (fun x y => Qle_bool y x) [seq s l | l <- iota 0 L].
Let end_ (n : nat) : Q := nth 0%Q ordered n.
(* The weight of a cell, times `unit`, from powers that are given in whole numbers of which `unit` stand for
   1. *)
Let weight (power : nat -> Z) (n : nat) : Q :=
  ((end_ n - end_ n.+1) * inject_Z (power (n - k + (k - n))%nat))%Q.
Let user_sums : seq Q := entries 0%Q L (akmv_sums c).
Let at_ (t : Q) : Q := ((add_all [seq max (x - t) 0 | x <- user_sums] + 2 / eps * t) / total counts)%Q.
Let middle (n : nat) : Q := ((at_ (end_ n.+1) + at_ (end_ n)) / 2)%Q.
Definition weights (power : nat -> Z) : Q := sum L.+1 (weight power).
Definition middles : seq Q := [seq middle n | n <- iota 0 L.+1].
Definition weighed (ms : seq Q) (power : nat -> Z) : Q :=
  sum L.+1 (fun n => weight power n * nth 0 ms n)%Q.

(* Powers are computed once, each from the one before. *)
Definition powers (step : Z -> Z) : nat -> Z :=
  let s := traject step unit (L + k).+1 in fun n => nth Z0 s n.

Lemma nth_powers step n : (n <= L)%N ->
  powers step (n - k + (k - n)) = iter (n - k + (k - n)) step unit.
Proof.
move=> nL; have small : (n - k + (k - n) < (L + k).+1)%N.
  by rewrite ltnS leq_add ?leq_subr //; exact: leq_trans (leq_subr k n) nL.
by rewrite /powers (set_nth_default unit) ?size_traject ?nth_traject.
Qed.

Lemma weights_powers step : weights (powers step) = weights (fun n => iter n step unit).
Proof.
congr add_all; apply/eq_in_map => n; rewrite mem_iota ltnS => /= nL; by rewrite /weight nth_powers.
Qed.

Lemma weighed_powers ms step : weighed ms (powers step) = weighed ms (fun n => iter n step unit).
Proof.
congr add_all; apply/eq_in_map => n; rewrite mem_iota ltnS => /= nL; by rewrite /weight nth_powers.
Qed.

(* Bounds on exp (- (eps / 4)). *)
Definition quarter : Z := Zpos (4 * Qden eps).
Definition low_q : Z := low_exp 104 50 (Qnum eps) quarter.
Definition high_q : Z := high_exp (Qnum eps) quarter.

Definition akmv_ok : bool :=
  let q := low_q in let q' := high_q in
  let low := powers (low_step q) in let high := powers (high_step q') in let y := claimed_akmv c in
  let weighed := weighed middles in
  [&& less 0 (total counts), less 0 (akmv_U c), is_rank_within (akmv_tolerance c) eps k,
      Z.leb (Qnum eps) (quarter * 2 ^ 50), Z.leb 0 q && Z.leb 0 q',
      every L (fun l => Qle_bool 0 (s l) && Qle_bool (s l) (akmv_U c * size_of counts l)),
      less 0 (weights low),
      Qle_bool 0 y, Qle_bool (y * (1 - rounding) * weights high) (weighed low)
    & Qle_bool (weighed high) (y * (1 + rounding) * weights low)]%Q.

Section Sound.
Variable R : realFieldType.
Let m := users (counts := counts).
Let sR (l : 'I_L) : R := $(s l).

Lemma top_is : $top = v m $(akmv_U c) 1 :> R.
Proof. by rewrite toM to_size /v nth_in_order. Qed.

Lemma nth_sum_is n : nth_sum sR (v m $(akmv_U c) 1) n = $(end_ n).
Proof.
have mono : {mono @of_Q R : x y / Qle_bool y x >-> x >= y} by move=> x y; rewrite -(to_le R).
have e : [seq sR l | l <- enum 'I_L] = [seq $x : R | x <- [seq s l | l <- iota 0 L]].
  by rewrite -map_comp (map_comp (fun l => $(s l) : R) val) val_enum_ord.
rewrite /nth_sum e -(map_sort mono) -top_is /end_ /ordered -map_cons.
case: (ltnP n (size (top :: sort (fun x y => Qle_bool y x) [seq s l | l <- iota 0 L]))) => h.
  by rewrite (nth_map 0%Q).
by rewrite !nth_default ?size_map.
Qed.

Lemma weight_is power n : $(weight power n) =
  (cell_hi sR (v m $(akmv_U c) 1) n - cell_lo sR (v m $(akmv_U c) 1) n)
  * of_Z R (power (n - k + (k - n))%N) :> R.
Proof. by rewrite toM toS /cell_hi /cell_lo !nth_sum_is [X in _ * X = _]of_QE /= divr1. Qed.

Lemma at_is t : $(at_ t) = error_at m sR $eps $t :> R.
Proof.
rewrite /at_ /user_sums entriesE -map_comp -/(sum _ _) /error_at to_div to_total !computed.
congr ((_ + _) / _).
by apply: eq_bigr => l _; rewrite !computed.
Qed.

Lemma middle_is n :
  $(middle n) = cell_mean sR (v m $(akmv_U c) 1) (error_at m sR $eps) n :> R.
Proof. by rewrite /middle to_div toD !at_is /cell_mean /cell_lo /cell_hi !nth_sum_is. Qed.

End Sound.
End Akmv.

(* A weighted mean of nonnegative numbers, where each weight lies between two given ones. *)
Lemma mean_between (R : realFieldType) n (w low high f : 'I_n -> R) (y z : R) :
  (forall i, 0 <= low i <= w i) -> (forall i, w i <= high i) -> (forall i, 0 <= f i) ->
  0 < \sum_i low i -> 0 <= y ->
  y * (\sum_i high i) <= \sum_i low i * f i -> \sum_i high i * f i <= z * (\sum_i low i) ->
  y <= \sum_i w i / (\sum_j w j) * f i <= z.
Proof.
move=> lw wh f0 l0 y0 le_y le_z.
have W0 : 0 < \sum_i w i by apply: lt_le_trans l0 _; apply: ler_sum => i _; case/andP: (lw i).
have -> : \sum_i w i / (\sum_j w j) * f i = (\sum_i w i * f i) / \sum_i w i.
  by rewrite mulr_suml; apply: eq_bigr => i _; rewrite mulrAC.
have w0 i : 0 <= w i by case/andP: (lw i) => /le_trans h /h.
have z0 : 0 <= z.
  rewrite -(pmulr_lge0 _ l0); apply: le_trans le_z; apply: sumr_ge0 => i _.
  by rewrite mulr_ge0 // (le_trans (w0 i)).
rewrite ler_pdivl_mulr // ler_pdivr_mulr //; apply/andP; split.
  apply: (@le_trans _ _ (y * \sum_i high i)); first by apply: ler_wpmul2l => //; apply: ler_sum => i _.
  by apply: le_trans le_y _; apply: ler_sum => i _; apply: ler_wpmul2r => //; case/andP: (lw i).
apply: (@le_trans _ _ (\sum_i high i * f i)); first by apply: ler_sum => i _; apply: ler_wpmul2r.
by apply: le_trans le_z _; apply: ler_wpmul2l => //; apply: ler_sum => i _; case/andP: (lw i).
Qed.



(* begin bridge-akmv-sound *)
Theorem akmv_sound R c : akmv_ok c -> akmv_claim R c.
(* end bridge-akmv-sound *)
Proof.
(* The error is a weighted mean over the cells of nonnegative numbers.  Powers of exp (- eps / 4) are
   enclosed by whole numbers, so each weight lies between two that are computed, and so does the mean. *)
rewrite /akmv_ok /akmv_claim /= !weights_powers !weighed_powers.
set low := fun n => iter n (low_step _) unit; set high := fun n => iter n (high_step _) unit.
set counts := akmv_counts c; set eps := akmv_eps c; set y := claimed_akmv c; set k := N.to_nat _.
set m := users (counts := counts).
case/and5P => N0 /(to_lt R) U0 /(is_rank_within_sound R) [e0 kc] small.
case/and5P => /andP [/Z.leb_le q0 /Z.leb_le q0'] range /(to_lt R) W0 y0 /andP [le_y le_z].
move: y0 le_y le_z; rewrite -!(to_le R) !toM toS toD => y0 le_y le_z.
have Npos := @some_sample counts R N0; rewrite !zero in U0 W0.
pose s (l : 'I_(size counts)) : R := $(at_user (akmv_sums c) l).
have s_range l : 0 <= s l <= $(akmv_U c) * (m l)%:R.
  by have := to_every range l; rewrite -!(to_le R) toM to_size.
split=> // exp is_exp.
pose V : R := v m $(akmv_U c) 1.
have below l : 0 <= s l <= V.
  have /andP [s0 sU] := s_range l; rewrite s0 /V /v; apply: le_trans sU _.
  by apply: ler_wpmul2l; rewrite ?(ltW U0) // ler_nat le_first_count.
have V0 : 0 < V.
  rewrite mulr_gt0 // ltr0n /=; have [l l_first] := first_count Npos; rewrite -l_first.
  rewrite lt0n; apply/eqP => z; move: Npos; rewrite big1 // => i _; apply/eqP.
  by rewrite -leqn0 -z l_first le_first_count.
have n0 : Z.lt 0 (Qnum eps).
  move: e0; rewrite of_QE ltr_pdivl_mulr ?of_pos // mul0r; case: (Qnum eps) => //= [|p].
    by rewrite ltxx.
  by rewrite oppr_gt0 ltrn0.
have [q_le q_ge] : of_Z R (low_q c) / of_Z R unit <= exp (- ($eps / 4))
    /\ exp (- ($eps / 4)) <= of_Z R (high_q c) / of_Z R unit.
  have /(_ (quarter c) (erefl _)) := exp_between is_exp n0.
  have -> : @of_Z R (Qnum eps) / of_Z R (quarter c) = $eps / 4.
    by rewrite of_QE -mulrA -invfM -[4 in RHS]/(of_Z R 4) -of_ZM Z.mul_comm.
  by move=> /(_ (proj1 (Z.leb_le _ _) small)) /andP [].
move: (exp _) q_le q_ge => x q_le q_ge; have u0 := unit0 R.
have between n : [/\ Z.le 0 (low n), Z.le 0 (high n), of_Z R (low n) / of_Z R unit <= x ^+ n
    & x ^+ n <= of_Z R (high n) / of_Z R unit] := power_between n q0 q0' q_le q_ge.
clearbody low high.
pose w power t := (cell_hi s V t - cell_lo s V t) * (of_Z R (power (t - k + (k - t))%N) / of_Z R unit).
have grid (t : 'I_(size counts).+1) : (t <= size counts)%N by rewrite -ltnS.
have wide (t : 'I_(size counts).+1) : 0 <= cell_hi s V t - cell_lo s V t.
  by rewrite subr_ge0; apply: cell_le.
have Wsum power : $(weights c power) = (\sum_(t < (size counts).+1) w power t) * of_Z R unit :> R.
  rewrite to_sum mulr_suml; apply: eq_bigr => t _.
  by rewrite weight_is /w -mulrA mulfVK // gt_eqF.
have Fsum power : $(weighed c (middles c) power)
    = (\sum_(t < (size counts).+1) w power t * cell_mean s V (error_at m s $eps) t) * of_Z R unit :> R.
  rewrite to_sum mulr_suml; apply: eq_bigr => t _.
  rewrite toM weight_is (nth_map 0%N) ?size_iota // nth_iota // middle_is /w.
  move: (cell_mean _ _ _ _) (of_Z R (power _)) (_ - _) => f p d.
  move: (of_Z R unit) u0 => u u0.
  by rewrite [RHS]mulrAC -[d * (p / u) * u]mulrA mulfVK ?gt_eqF.
apply: (mean_between (low := w low) (high := w high)).
- move=> t; have [l0 _ le_l _] := between (t - k + (k - t))%N.
  apply/andP; split; last exact: ler_wpmul2l (wide t) _ _ le_l.
  by apply: mulr_ge0 (wide t) _; apply: divr_ge0 (ltW u0); exact: of_Z_ge0.
- move=> t; have [_ _ _ le_h] := between (t - k + (k - t))%N.
  exact: ler_wpmul2l (wide t) _ _ le_h.
- move=> t; have lo := cell_lo_ge0 below V0 (grid t); have le := cell_le below V0 (grid t).
  have e_ge0 u : 0 <= u -> 0 <= error_at m s $eps u.
    move=> u_ge0; rewrite divr_ge0 ?ler0n // addr_ge0 //; last by rewrite mulr_ge0 ?divr_ge0 ?ler0n // ltW.
    by apply: sumr_ge0 => l _; rewrite le_maxr lexx orbT.
  by rewrite divr_ge0 ?ler0n // addr_ge0 // e_ge0 // (le_trans lo).
- by move: W0; rewrite Wsum (pmulr_lgt0 _ u0).
- have -> : 1 - $rounding = $(1 - rounding)%Q :> R by rewrite toS.
  apply: mulr_ge0; [exact: y0 | rewrite -(zero R) to_le; exact: isT].
- by move: le_y; rewrite Wsum Fsum mulrA (ler_pmul2r u0).
by move: le_z; rewrite Wsum Fsum mulrA (ler_pmul2r u0).
Qed.

(* Many cases at once: the numbers of those that a check refuses; if there are none, all claims hold. *)
Definition refused (T : Type) (ok : T -> bool) (cases : seq T) : seq nat :=
  [seq i.1 | i <- zip (iota 0 (size cases)) cases & ~~ ok i.2].

Lemma none_refused (T : Type) (ok : T -> bool) (says : T -> Prop) (cases : seq T) :
  (forall c, ok c -> says c) -> all ok cases -> List.Forall says cases.
Proof. by move=> sound; elim: cases => //= c s IH /andP [/sound h /IH]; constructor. Qed.
