"""From records to a release: data are read once and checked, and OpenDP draws the noise.

In the order of the data, so that each module imports later ones only:

- over all releases: `_account`, which reads `_documents`
- several means: `_means`, by one of the `_strategies`; `_joint` is the one of a single draw; and
  `_budgets`, which adds and divides
- what a user calls for one: `_planning`, before a release; `_mean`, `_protected` and `_vectors`,
  which read once, decide from public numbers, have each total drawn once, and return one result
- `_sources` chooses the kind of source; `_files`, whose text `_text` looks at, `_tables` of Ibis,
  `_relations` of DuckDB and `_frames`, with the base `_source`, check and read it
- a tally, one row per user, or per user and group: in an engine, `_grouped_engines` and `_engines`,
  with `_backends`; in memory, `_grouped` and `_tally`; users are found by `_plans` and `_columns`
- `_rows`: which of them count, and which are refused
- one draw, by OpenDP: `_noise`
- one result, which may be published: `_means_results` with `_means_wording`, or `_results`; with
  `_intervals` and `_wording`
- everywhere, values are whole numbers (`_grid`), and no message quotes data (`_quiet`)
"""

from userdp.release._account import Account, account
from userdp.release._budgets import DividedBudget, divide_budget
from userdp.release._mean import as_measurement, private_mean, release_mean
from userdp.release._means import plan_means, private_means
from userdp.release._means_results import GroupMean, MeansForecast, MeansPlan, PrivateMeans
from userdp.release._noise import discrete_gaussian, discrete_laplace
from userdp.release._planning import (
    Advice,
    CappedForecast,
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
    "Account",
    "Advice",
    "CappedForecast",
    "Clip",
    "DividedBudget",
    "Forecast",
    "GroupMean",
    "MeansForecast",
    "MeansPlan",
    "Part",
    "Plan",
    "PrivateMean",
    "PrivateMeans",
    "ProtectedCountsMean",
    "ProtectedTally",
    "Release",
    "ReleaseInBall",
    "account",
    "as_measurement",
    "discrete_gaussian",
    "discrete_laplace",
    "divide_budget",
    "json_schema",
    "plan",
    "plan_means",
    "private_mean",
    "private_mean_protected_counts",
    "private_means",
    "protected_tally",
    "release_mean",
    "release_mean_in_ball",
    "user_counts",
]
