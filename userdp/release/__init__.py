"""From records to a release: data are read once and checked, and OpenDP draws the noise.

The modules are listed so that each imports only later ones:

- accounts of many releases: `_account`, which reads `_documents`
- several means: `_means`, with one of the `_strategies`; `_joint` is the strategy with a single
  draw; `_budgets` adds and divides budgets
- a single mean: `_planning`, before a release; `_mean`, `_protected` and `_vectors`, each of which
  reads the data once, decides from public numbers, adds noise to each total once, and returns a
  result
- sources: `_sources` chooses the kind; `_files` (`_text` inspects their text), `_tables` of Ibis,
  `_relations` of DuckDB and `_frames`, with the base class `_source`, check and read the data
- the tally, one row per user, or per user and group: in an engine, `_grouped_engines` and
  `_engines`, with `_backends`; in memory, `_grouped` and `_tally`; `_plans` and `_columns` inspect
  what a query or a column holds
- rows: `_rows` decides which count and which are refused
- noise: `_noise`, where OpenDP draws
- results, which may be published: `_means_results` with `_means_wording`, or `_results`; with
  `_intervals` and `_wording`
- used throughout: values are whole numbers (`_grid`), and no message quotes data (`_quiet`)
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
