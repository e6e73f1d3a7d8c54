"""The machine-checked proofs: a statement that is changed wrongly has no proof."""

import re
import subprocess

import pytest
from proving import PROOFS, compiled, with_coq

pytestmark = with_coq

# Wrong changes: the file, and the text with «right→wrong», whose proof must then fail.
SPOILT = {
    "the lemma as printed": ("lemma", "b) «(Num.max A B / N R m)→(printed_bias U a b)»,"),
    "rank k + 1": ("optimum", "let T := v m U «k→k.+1» in\n  (exists2"),
    "the multipliers as printed": (
        "kkt",
        "T «(repaired_lambda T) (fun l => 1 - 2 * repaired_lambda→"
        "(printed_lambda T) (fun l => 1 - 2 * printed_lambda» T l)\n"
        "       (repaired_lambdaS T).\n(* end",
    ),
    "half of what capped sums cost": ("frontier", "- Delta) «0→0 / 2»)]"),
    "factor 3 for AKMV": ("akmv", "«2→3» * E_OPT m U eps <= akmv_error"),
    "half of the smallest bias": (
        "modulus",
        "bias_at_most g b -> forall n, (omega n - n%:R * Delta) / «2→1» <= b)",
    ),
    "the majorant farther to the right": ("modulus", "let E := h («2→3» * w) / 2 in"),
    "a path with one step less": (
        "chain",
        "q (omega n / (1 + cosh_log q + «n→n.-1»%:R * sinh_log q))",
    ),
    "half of the factor for every statistic": (
        "chain",
        "((1 + cosh_log q) / «2→4» + w * sinh_log q))",
    ),
    "half of the modulus of the mean": (
        "moduli",
        "U * sum_of_largest m (n%:R : R) / «N→(2 * N)» in",
    ),
    "K with a third": ("chain_factor", "cosh_log q) / «2→3» + sinh_log q / eps)).\n(* end"),
    "one number of the certificate": ("lattice", "- u q n + «1→2») / (2 *"),
    "all blocks agree": (
        "certificate",
        "\\sum_v «minn→maxn» (standing group (stands c) g v)",
    ),
    "half of the factor of a limit": (
        "certificate",
        "(forall c d, «q ^+ apart c d→q ^+ apart c d / 2» <=",
    ),
    "one digit of the factor": ("factor", "then 2610 else if j <? 1200 then «2670→2660» else"),
    "a digit of F": ("staircase", "(1 / sinh_log h) F -> F < «242→241» / 100."),
    "the smaller of two bounds": ("envelope", "is_lattice_risk (q ^+ n) c & b = Num.«max→min» ("),
    "a lattice with one point more": ("lattice_falls", "(2 <= n)%N, 1 / «n.+1→n.+2»%:R <= s q n"),
    "twice the gain of the staircase": (
        "no_constant",
        "E_OPT m U eps = «2→4» * sinh_log h / eps * r",
    ),
    "n users for one less": ("minimax", "one_user_risk_at_least (q ^+ «n→n.-1») b"),
    "43 bits in a double": ("levels", "(b + «13→10» <= p)%N"),
    "totals of 64 bits": ("levels", "`|sum| <= 2 ^+ («61→63» + s) ->"),
    "eta for 2 eta": ("privacy", "q ^+ «2→1» * density s t <="),
    "half of eps' at every rank": ("release", "& («L→0» <= k)%N ->"),
    "sums above what users can have": ("privacy", "«in_range U→in_range (U / 2)» x, in_range U x'"),
    "half of the error of the release": (
        "release_error",
        "(«2→4» * eps'') (exp (- (eps' / 2))) k in",
    ),
    "half of the budget, for measures": ("reals/measures", "(mu x A <= (expR «eps→(eps / 2)»)%:E"),
    "the chain, for twice as many": (
        "reals/bounds",
        "cosh_log q + n%:R * «sinh_log q→cosh_log q»))).\n(* end",
    ),
    "3 eta is tight": ("privacy", "forall z, q ^+ «2→3» < z ->"),
    "half of the noise of Theorem II.1": ("shipped", "laplace exp (D / «eps→(2 * eps)») (g x) in"),
    "half of the geometric noise": (
        "geometric",
        "is_sum H J ->\n  0 < s -> w%:R / «eps→(2 * eps)» <= s ->",
    ),
    "w for 2 w": ("shipped", "in let E := U / (2 * N R m) * sum_of_largest m («2 * w→w») in"),
    "half of the mean's sensitivity": ("shipped", "(@mean R L m) (v m U 1 / «N R m→(2 * N R m)»)."),
    "further by projection": ("shipped", "<= `|y - f| /\\ `|project y - f| <= «U→U / 2»."),
    "half of what averages cost": (
        "averages",
        "is_worst_case_bias U averaged (Num.max A B / «N→(2 * N)») /\\",
    ),
    "half of the staircase's size": (
        "staircase_law",
        "J (fun y => `|y - centre| * p y) = scale * (1 / («2→4» * sinh_log h))",
    ),
    "a first edge anywhere": ("staircase_law", "1 < h -> «0 <= c <= 1→0 <= c» -> counts_edges"),
    "noise of twice the least size": (
        "staircase_best",
        "hides_shifts H E (h ^+ 2) -> «1→2» / (2 * sinh_log h) <= E",
    ),
    "a scale that is larger than needed": (
        "smallest_scale",
        "-> sensitivity_at_most U g (eps * «s→(s / 2)»))",
    ),
    "rho with a smaller part": ("felt", "(r + 2) / (r + «1→2») * E1]."),
    "half of the noise in the mean absolute error": (
        "felt_family",
        "exp (- (eps * x)) / «eps→(2 * eps)».\nDefinition h_absolute_slope",
    ),
    "half of the noise in the mean square error": (
        "felt_family",
        "excess m U S ^+ 2 + «2→1» * S ^+ 2 / eps ^+ 2 in\n",
    ),
    "a narrower width than the ratio's": ("stationary", "/ (n%:R + «2→4» * x).\nDefinition best"),
    "an error that is concave": ("stationary", "J (t * S + (1 - t) * S') «<=→>=» t * J S"),
    "a wider width for squares": ("ratios", "(n%:R ^+ 2 + «8→4»%:R / eps ^+ 2)\n    & forall S"),
    "Lambert's function elsewhere": ("ratios", "u * exp u = - (w * exp (- 1 «-→+» w))"),
    "a ratio that may be missing": ("reals/widths", "(expR r - 1) = «1 + r→r - 1».\n(* end"),
    "half of what projection saves": (
        "projected",
        "- delta * mean_excess E (t / delta) - delta «*→/ 2 *» mean_excess E ((U - t)",
    ),
    "others that cannot pull back": (
        "projected",
        "Num.max (j%:R * S «- (users_above - j)%:R * S→» - \\sum_(users_above.+1",
    ),
    "twice the bias after projection": ("projected", "(v i - S)) / «(2 * N)→N»."),
    "noise that makes losses small": ("losses", "«`|d| <= `|d'|→`|d'| <= `|d|» -> 0 <= b -> b <="),
    "chances that sum to 2": ("geometric", "is_sum_of (geometric r c) «1→2»."),
    "a total without clipping": (
        "table",
        "\n    «clip_whole (lowest P) (highest P) (→(»rounded (step_bits P) "
        "(user_row level (origin P) t u)).\n(* The total",
    ),
    "noise for the upper end alone": (
        "table",
        "«(highest P - lowest P)→(highest P)»%:~R / eps <= noise",
    ),
    "counts that differ": (
        "table",
        "«perm_eq (record_ids t) (record_ids t')→True»\n  /\\ exists u",
    ),
    "half of the bias of clipping": (
        "table",
        "to_end (highest P)) 0) / «(sumn counts)%:R→(2 * (sumn counts)%:R)».",
    ),
    "a rarer overflow": ("fits", "v <= 1 / exp «64→65»%:R."),
    "a mean twice as far": ("unbiased", "if y < p then p - «b→2 * b» else"),
    "half of the staircase's budget, for events": ("reals/events", "<= («h ^+ 2→h»)%:E * chance"),
    "half of the threshold's budget, for events": (
        "reals/events",
        "private («eps'→eps' / 2» + eps'')\n    &",
    ),
    "half of AKMV's noise, for events": (
        "reals/events",
        "(t / («eps''→(2 * eps'')» * N R m)) (capped_mean t x)).\n(* 1",
    ),
    "half of what a capped sum can move": (
        "release",
        "is_sensitivity U (capped_mean (m := m) T) (T / «N R m→(2 * N R m)»).\n",
    ),
    "half of what a user spends, for events": (
        "reals/events",
        "[/\\ (chances x A <= (expR «spent→(spent / 2)»)%:E",
    ),
    "a mean drawn for another threshold": ("reals/pairs", "chance (e «t→(t + 1)%R») [set y |"),
    "half of the noise, for events": ("reals/laplace", "g D -> private («D→(D / 2)» / eps)"),
    "half of the grid's sums in a double": (
        "grid_sum",
        "(maxn L «2→1»)%:R * Num.max (- a) b < 2 ^+ 53 * spacing.",
    ),
    "half of what dropping costs": (
        "strategies",
        "(dropping k kept) (U * (N - N_k R m k) / «N→(2 * N)»)",
    ),
    "weights without a cap": ("protected", ": nat := «minn (size (x l)) cap→size (x l)»."),
    "half of the tail of the noise": ("protected", "+ U / «2→4» * exp (- (delta / s))).\n(* end"),
    "half of the noise around a centre": ("centre", "= centred_sensitivity c / «eps→(2 * eps)»)."),
    "half of each length": ("line", "H f /\\ J f = «b - a→(b - a) / 2»,"),
    "half of what a centre costs": (
        "centre",
        "<= guarantee (U / 2) + «kappa→kappa / 2» * `|c - U / 2| /\\ kappa <= 1.",
    ),
    "half of the optimum in a range": (
        "range",
        "let E := (hi - lo) / («2→4» * N) * sum_of_largest m (2 / eps) in",
    ),
    "half of what two parts guarantee": (
        "parts",
        "<= first_weight * r + second_weight «* r'→* r' / 2»)\n  /\\ (is_mirrored",
    ),
    "another chance in the table of six cells": ("six_cells", "[:: 88; «49→48»; 8; 5; 8; 7; 12]"),
    "an interval of twice the width": ("averages", "U * n%:R / 2 + clip (- «(T / 2)→T») (T / 2)"),
    "bias for sensitivity": (
        "bridge",
        "is_sensitivity U (clipped_mean a b) $(claimed_«sensitivity→bias» c)",
    ),
    "no look at the rank": (
        "bridge",
        "total counts), «is_rank eps (N.to_nat (claimed_rank c))→less 0 eps»,",
    ),
    "no look at upper ends": (
        "bridge",
        "\n                 «&& Qeq_bool r.2.2 (min (end_ r.1) U)→»)",
    ),
    "no look at mu": ("bridge", "«Qle_bool 0 mu→true»\n        & [&& Qeq_bool lambda"),
    "no look at the rank of a float": (
        "bridge",
        "[&& «is_rank_within (floats_tolerance c) eps (N.to_nat (floats_rank c))→less 0 eps»,",
    ),
    "no look at the error in floats": (
        "bridge",
        "less 0 (total counts)\n    & «is_near (ulp * E) (floats_optimum c) E→true»].",
    ),
    "half of the share of a rank": (
        "bridge",
        "`|k%:R - x| <= tolerance * «k%:R→(k%:R / 2)» \\/ is_ceil",
    ),
    "no look at factors": ("bridge_certificate", "[&& rows_ok, «factors_ok→true» & Qeq_bool"),
    "exp (- eps / 2) for AKMV": ("bridge", "(v m U 1) eps (exp (- (eps / «4→2»))) k in"),
}


@pytest.fixture(scope="module")
def built():
    """The folder of the unchanged, checked proofs."""
    return compiled()


@pytest.mark.parametrize("change", SPOILT)
def test_a_spoilt_statement_has_no_proof(change, built, tmp_path):
    name, marked = SPOILT[change]
    right, wrong = (re.sub("«(.*)→(.*)»", rf"\{side}", marked, flags=re.S) for side in (1, 2))
    source = (PROOFS / f"{name}.v").read_text(encoding="utf-8")
    assert source.count(right) == 1
    first = source[: source.index(right)].count("\n") + 1  # the changed line
    file = tmp_path / f"{name.replace('/', '_')}.v"
    file.write_text(source.replace(right, wrong), encoding="utf-8")
    command = ["coqc", "-q", "-noglob", "-w", "none", "-Q", built, "UserDP"]
    run = subprocess.run(
        [*command, "-o", file.with_suffix(".vo"), file], capture_output=True, text=True
    )
    assert run.returncode != 0
    lines = [line for line in run.stderr.splitlines() if line.startswith(f'File "{file}", line ')]
    assert "Error:" in run.stderr
    assert int(lines[-1].split("line ")[1].split(",")[0]) > first
