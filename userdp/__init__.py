"""User-level differentially private means with a certificate of their worst-case error.

The companion module to Rameshwar and Tandon, "Bounding User Contributions in the Worst-Case for
User-Level Differentially Private Mean Estimation". Drawing and audits live apart, in
`userdp.plotting` and `userdp.audit`: importing `userdp` loads numpy and `scipy.special` only.
"""

from userdp.akmv import (
    Cells,
    akmv,
    akmv_error,
    akmv_mean_error,
    capped_mean_error,
    private_quantile,
    quantile_cells,
    quantile_log_density,
    simulate_akmv_error,
)
from userdp.ball import clip_to_ball, mean_in_ball
from userdp.experiments import error_sweep, mean_error_sweep
from userdp.frontier import minimax_lower_bound, optimality_factor, smallest_bias
from userdp.kkt import Solution, kkt_certificate, optimal_solution, printed_solution, solve_lp
from userdp.mechanisms import (
    clipped_mean,
    clipped_mean_error,
    laplace,
    laplace_mean_error,
    opt_worst_case,
    opt_worst_case_mean_error,
    weighted_mean,
    weighted_mean_error,
    weighted_worst_case_error,
)
from userdp.model import (
    Clipping,
    Contributions,
    extreme_collection,
    geometric_collection,
    rank,
    read_eps,
)
from userdp.noise import LaplaceNoise, StaircaseNoise, noisy_error
from userdp.practice import (
    plan,
    private_mean,
    private_mean_protected_counts,
    release_mean,
    user_counts,
)
from userdp.samplers import beta_sums, correlated_sums, gaussian_sums, uniform_sums
from userdp.tradeoff import tradeoff
from userdp.worstcase import (
    centred_clipping,
    optimal_clipping,
    optimal_error,
    printed_bias,
    sensitivity,
    sum_of_largest,
    symmetric_error,
    threshold,
    worst_case_bias,
    worst_case_error,
)

__version__ = "0.1.0"

__all__ = [
    "Cells",
    "Clipping",
    "Contributions",
    "LaplaceNoise",
    "Solution",
    "StaircaseNoise",
    "akmv",
    "akmv_error",
    "akmv_mean_error",
    "beta_sums",
    "capped_mean_error",
    "centred_clipping",
    "clip_to_ball",
    "clipped_mean",
    "clipped_mean_error",
    "correlated_sums",
    "error_sweep",
    "extreme_collection",
    "gaussian_sums",
    "geometric_collection",
    "kkt_certificate",
    "laplace",
    "laplace_mean_error",
    "mean_error_sweep",
    "mean_in_ball",
    "minimax_lower_bound",
    "noisy_error",
    "opt_worst_case",
    "opt_worst_case_mean_error",
    "optimal_clipping",
    "optimal_error",
    "optimal_solution",
    "optimality_factor",
    "plan",
    "printed_bias",
    "printed_solution",
    "private_mean",
    "private_mean_protected_counts",
    "private_quantile",
    "quantile_cells",
    "quantile_log_density",
    "rank",
    "read_eps",
    "release_mean",
    "sensitivity",
    "simulate_akmv_error",
    "smallest_bias",
    "solve_lp",
    "sum_of_largest",
    "symmetric_error",
    "threshold",
    "tradeoff",
    "uniform_sums",
    "user_counts",
    "weighted_mean",
    "weighted_mean_error",
    "weighted_worst_case_error",
    "worst_case_bias",
    "worst_case_error",
]
