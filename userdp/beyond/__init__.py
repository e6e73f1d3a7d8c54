"""Beyond the paper: other noise laws, measures of error and statistics, and lower bounds.

Everything here is built on `userdp`. A function that shares its name with one of the paper's, such
as `threshold`, generalises it: for the paper's objective and a privacy budget, the values are the
same.
"""

# To linters and type checkers, `import x as x` means that x is exported.
from userdp.beyond.errors import centred_clipping as centred_clipping
from userdp.beyond.errors import optimal_clipping as optimal_clipping
from userdp.beyond.errors import optimal_error as optimal_error
from userdp.beyond.errors import projected_error as projected_error
from userdp.beyond.errors import symmetric_error as symmetric_error
from userdp.beyond.errors import threshold as threshold
from userdp.beyond.errors import worst_case_error as worst_case_error
from userdp.beyond.floor import FloorCertificate as FloorCertificate
from userdp.beyond.floor import minimax_certificate as minimax_certificate
from userdp.beyond.frontier import minimax_lower_bound as minimax_lower_bound
from userdp.beyond.frontier import optimality_factor as optimality_factor
from userdp.beyond.means import error_of_divided_budget as error_of_divided_budget
from userdp.beyond.means import error_of_several_means as error_of_several_means
from userdp.beyond.means import influence as influence
from userdp.beyond.means import influence_threshold as influence_threshold
from userdp.beyond.means import modulus_of_several_means as modulus_of_several_means
from userdp.beyond.means import opt_several_means as opt_several_means
from userdp.beyond.mechanisms import clipped_mean as clipped_mean
from userdp.beyond.mechanisms import clipped_mean_error as clipped_mean_error
from userdp.beyond.mechanisms import opt_worst_case as opt_worst_case
from userdp.beyond.mechanisms import opt_worst_case_mean_error as opt_worst_case_mean_error
from userdp.beyond.mechanisms import weighted_mean as weighted_mean
from userdp.beyond.mechanisms import weighted_mean_error as weighted_mean_error
from userdp.beyond.mechanisms import weighted_worst_case_error as weighted_worst_case_error
from userdp.beyond.noise import GaussianNoise as GaussianNoise
from userdp.beyond.noise import LaplaceNoise as LaplaceNoise
from userdp.beyond.noise import StaircaseNoise as StaircaseNoise
from userdp.beyond.remap import laplace_remap as laplace_remap
from userdp.beyond.split import best_split as best_split
from userdp.beyond.statistics import Modulus as Modulus
from userdp.beyond.statistics import factor_of_every_statistic as factor_of_every_statistic
from userdp.beyond.statistics import modulus_of_mean as modulus_of_mean
from userdp.beyond.statistics import modulus_of_protected_mean as modulus_of_protected_mean
from userdp.beyond.statistics import modulus_of_variance as modulus_of_variance
from userdp.beyond.statistics import modulus_of_weighted_mean as modulus_of_weighted_mean
from userdp.beyond.thresholds import PrivateThreshold as PrivateThreshold
from userdp.beyond.tradeoff import error_tradeoff as error_tradeoff
from userdp.beyond.variance import capped_variance as capped_variance
from userdp.beyond.variance import opt_variance as opt_variance
from userdp.beyond.variance import variance_cap as variance_cap
from userdp.beyond.vectors import ball_error as ball_error
from userdp.beyond.vectors import ball_mean_error as ball_mean_error
from userdp.beyond.vectors import ball_threshold as ball_threshold
from userdp.beyond.vectors import clip_to_ball as clip_to_ball
from userdp.beyond.vectors import mean_in_ball as mean_in_ball

__all__ = sorted(
    name
    for name, item in vars().items()
    if getattr(item, "__module__", "").startswith("userdp.beyond.")
)
