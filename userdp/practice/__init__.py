"""From records to a release: data are read once and checked, and OpenDP draws the noise.

What is public alone decides how (`_grid`, `_planning`, the first half of `_release`); `_ingest`
reads whatever has columns into `_arrays` or `_queries`; `_noise` is the one place where OpenDP's
answer enters; `_result` holds only what may be published.
"""

from userdp.practice._measurement import as_measurement
from userdp.practice._noise import discrete_gaussian, discrete_laplace
from userdp.practice._planning import Advice, Forecast, Plan, plan
from userdp.practice._protected import ProtectedCountsMean, private_mean_protected_counts
from userdp.practice._release import ProtectedTally, private_mean, protected_tally, user_counts
from userdp.practice._result import Clip, PrivateMean, json_schema
from userdp.practice._sums import Release, release_mean
from userdp.practice._vectors import ReleaseInBall, release_mean_in_ball

__all__ = [
    "Advice",
    "Clip",
    "Forecast",
    "Plan",
    "PrivateMean",
    "ProtectedCountsMean",
    "ProtectedTally",
    "Release",
    "ReleaseInBall",
    "as_measurement",
    "discrete_gaussian",
    "discrete_laplace",
    "json_schema",
    "plan",
    "private_mean",
    "private_mean_protected_counts",
    "protected_tally",
    "release_mean",
    "release_mean_in_ball",
    "user_counts",
]
