"""From records to a release: data are read once and checked, and OpenDP draws the noise.

In the order of the data, so that each module imports later ones only:

- what a user calls: `_planning`, before a release; `_mean`, `_protected` and `_vectors`, which read
  once, decide from public numbers, have each total drawn once, and return one result
- `_sources` chooses the kind of source; `_files`, `_tables` of Ibis, `_relations` of DuckDB and
  `_frames`, with the base `_source`, check and read it
- a tally, one row a user: `_engines`, with `_backends`; in memory, `_tally`; users are found by
  `_plans` and `_columns`
- `_rows`: which of them count, and which are refused
- one draw, by OpenDP: `_noise`
- one result, which may be published: `_results`, with `_intervals`; and its words: `_wording`
- everywhere, values are whole numbers (`_grid`), and no message quotes data (`_quiet`)
"""

from userdp.release._mean import as_measurement, private_mean, release_mean
from userdp.release._noise import discrete_gaussian, discrete_laplace
from userdp.release._planning import (
    Advice,
    Forecast,
    Plan,
    ProtectedTally,
    plan,
    protected_tally,
    user_counts,
)
from userdp.release._protected import ProtectedCountsMean, private_mean_protected_counts
from userdp.release._results import Clip, Part, PrivateMean, Release
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
