"""From records to a release: data are read once and checked, and OpenDP draws the noise.

The way: data of a kind that is chosen once (`_sources`) and checked (`_source`): arrays and frames
(`_frames`), relations of DuckDB (`_relations`), Ibis tables (`_tables`) or files (`_files`) -> one
scan -> a tally, one row a user, in memory (`_columns`, `_tally`) or in an engine (`_engines`,
`_backends`, `_plans`) -> decisions from public numbers (`_mean`) -> a clipped total -> one draw
(`_noise`) -> one result (`_results`, `_intervals`), and its words (`_wording`). On the way, values
become levels (`_grid`), rows may be refused (`_rows`), and no message quotes data (`_quiet`). Two
relatives: protected counts (`_protected`) and vectors (`_vectors`). Before all that: `_planning`.
"""

from userdp.release._mean import as_measurement, private_mean, release_mean
from userdp.release._noise import discrete_gaussian, discrete_laplace
from userdp.release._planning import Advice, Forecast, Plan, plan
from userdp.release._protected import ProtectedCountsMean, private_mean_protected_counts
from userdp.release._results import Clip, Part, PrivateMean, Release
from userdp.release._rows import ProtectedTally, protected_tally, user_counts
from userdp.release._vectors import ReleaseInBall, release_mean_in_ball
from userdp.release._wording import json_schema

__all__ = [
    "Advice",
    "Clip",
    "Forecast",
    "Part",
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
