(* The setting of the book, over any ordered field R: the rationals, the reals, ... *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Setting.

Variable R : realFieldType.
Variable L : nat.                (* the users are l = 0, ..., L - 1 *)
Variable m : 'I_L -> nat.        (* user l has m l samples *)
Variable U : R.                  (* samples lie in [0, U] *)

(* begin def-setting *)
(* x l j is sample j of user l.  N is the number of samples, as an element of R. *)
Definition dataset := forall l : 'I_L, 'I_(m l) -> R.
Definition N : R := (\sum_l m l)%:R.
Definition in_range (x : dataset) := forall l j, 0 <= x l j <= U.

(* Two datasets are neighbours if they differ in the samples of at most one user. *)
Definition neighbours (x y : dataset) :=
  exists l, forall l', l' != l -> forall j, x l' j = y l' j.

Definition estimator := dataset -> R.
Definition mean : estimator := fun x => (\sum_l \sum_j x l j) / N.

(* v is the largest value of F on P. *)
Definition is_max (T : Type) (P : T -> Prop) (F : T -> R) (v : R) :=
  (exists2 t, P t & F t = v) /\ (forall t, P t -> F t <= v).

Definition is_worst_case_bias (g : estimator) (beta : R) :=
  is_max in_range (fun x => `|mean x - g x|) beta.

Definition sensitivity_at_most (g : estimator) (delta : R) :=
  forall x y, in_range x -> in_range y -> neighbours x y -> `|g x - g y| <= delta.

Definition is_sensitivity (g : estimator) (delta : R) :=
  (exists x y, [/\ in_range x, in_range y, neighbours x y & `|g x - g y| = delta])
  /\ sensitivity_at_most g delta.

(* Worst-case bias plus the mean absolute value of Laplace noise of scale sensitivity / eps. *)
Definition is_worst_case_error (eps : R) (g : estimator) (e : R) :=
  exists beta delta,
    [/\ is_worst_case_bias g beta, is_sensitivity g delta & e = beta + delta / eps].

(* A clipping: sample j of user l is moved to the nearest point of [a l j, b l j]. *)
Definition is_clipping (a b : dataset) :=
  forall l j, [/\ 0 <= a l j, a l j <= b l j & b l j <= U].
Definition clip (lo hi t : R) := Num.min (Num.max t lo) hi.
Definition clipped_mean (a b : dataset) : estimator :=
  fun x => (\sum_l \sum_j clip (a l j) (b l j) (x l j)) / N.

(* What the paper prints for the bias of a clipped mean, in (5). *)
Definition printed_bias (a b : dataset) : R := (\sum_l \sum_j Num.max (a l j) (U - b l j)) / N.

(* The total width of user l's intervals. w is the largest total width of any user. *)
Definition width (a b : dataset) (l : 'I_L) : R := \sum_j (b l j - a l j).
Definition is_largest_width (a b : dataset) (w : R) := is_max (fun _ => True) (width a b) w.

(* The symmetric intervals of total width min (S, U m_l) for user l, equation (eq-intervals). *)
Definition sym_lo (S : R) : dataset :=
  fun l _ => Num.max ((U * (m l)%:R - S) / (2 * (m l)%:R)) 0.
Definition sym_hi (S : R) : dataset :=
  fun l _ => Num.min ((U * (m l)%:R + S) / (2 * (m l)%:R)) U.

(* The error of these intervals, equation (eq-phi), for S at most the largest U m_l; above it, an upper
   bound. *)
Definition phi (eps S : R) : R := ((\sum_l Num.max (U * (m l)%:R - S) 0) / 2 + S / eps) / N.

(* The counts, largest first: nth_count 0 is the largest.  From L on they are 0. *)
Definition nth_count (i : nat) : nat := nth 0%N (sort geq [seq m l | l <- enum 'I_L]) i.

(* The i-th largest of the values U m_l, i = 1, 2, ..., and 0 for i > L. *)
Definition v (i : nat) : R := U * (nth_count i.-1)%:R.

(* H (x) of the book: the sum of the x largest counts, linear in x between whole numbers. *)
Definition sum_of_largest (x : R) : R :=
  \sum_(i < L) Num.min 1 (Num.max 0 (x - i%:R)) * (nth_count i)%:R.

(* The smallest worst-case error, in closed form: equation (eq-optimum). *)
Definition E_OPT (eps : R) : R := U / (2 * N) * sum_of_largest (2 / eps).

(* k = ceil x, without a function ceil, which not every ordered field has. *)
Definition is_ceil (k : nat) (x : R) := (k%:R - 1 < x) /\ (x <= k%:R).
(* end def-setting *)

End Setting.
