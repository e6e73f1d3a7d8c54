"""The paper: worst-case optimal clipping for user-level differentially private means.

This package accompanies Rameshwar and Tandon, "Bounding User Contributions in the Worst-Case for
User-Level Differentially Private Mean Estimation", Sections II to IV. `userdp.beyond` contains what
the book adds, `userdp.release` the releases that may be published, and `userdp.audit` audits of the
mechanisms; none of them is imported here.
"""

# To linters and type checkers, `import x as x` means that x is exported.
from userdp.akmv import akmv as akmv
from userdp.akmv import akmv_error as akmv_error
from userdp.akmv import akmv_mean_error as akmv_mean_error
from userdp.akmv import capped_mean_error as capped_mean_error
from userdp.akmv import private_quantile as private_quantile
from userdp.akmv import quantile_cells as quantile_cells
from userdp.akmv import quantile_log_density as quantile_log_density
from userdp.akmv import simulate_akmv_error as simulate_akmv_error
from userdp.experiments import error_sweep as error_sweep
from userdp.experiments import mean_error_sweep as mean_error_sweep
from userdp.kkt import kkt_certificate as kkt_certificate
from userdp.kkt import optimal_solution as optimal_solution
from userdp.kkt import printed_solution as printed_solution
from userdp.kkt import solve_lp as solve_lp
from userdp.mechanisms import laplace as laplace
from userdp.mechanisms import laplace_mean_error as laplace_mean_error
from userdp.mechanisms import opt_worst_case as opt_worst_case
from userdp.mechanisms import opt_worst_case_mean_error as opt_worst_case_mean_error
from userdp.model import Clipping as Clipping
from userdp.model import Contributions as Contributions
from userdp.model import extreme_collection as extreme_collection
from userdp.model import geometric_collection as geometric_collection
from userdp.model import rank as rank
from userdp.noise import noise_scale as noise_scale
from userdp.noise import noisy_error as noisy_error
from userdp.samplers import beta_sums as beta_sums
from userdp.samplers import correlated_sums as correlated_sums
from userdp.samplers import gaussian_sums as gaussian_sums
from userdp.samplers import uniform_sums as uniform_sums
from userdp.worstcase import optimal_clipping as optimal_clipping
from userdp.worstcase import optimal_error as optimal_error
from userdp.worstcase import printed_bias as printed_bias
from userdp.worstcase import sensitivity as sensitivity
from userdp.worstcase import sum_of_largest as sum_of_largest
from userdp.worstcase import symmetric_error as symmetric_error
from userdp.worstcase import threshold as threshold
from userdp.worstcase import worst_case_bias as worst_case_bias
from userdp.worstcase import worst_case_error as worst_case_error

__version__ = "0.1.0"

__all__ = sorted(
    name for name, item in vars().items() if getattr(item, "__module__", "").startswith("userdp.")
)
