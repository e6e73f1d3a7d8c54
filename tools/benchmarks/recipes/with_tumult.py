"""Tumult Analytics on Spark: tables with an ID column, and a constraint on the rows of each ID.

Planning a query takes seconds even for few rows, so one query processes many datasets, as groups.
Each ID is in one group only, and each group gets the same noise as a separate query.
"""

import os
import sys

import numpy as np
import pandas as pd

os.environ["PYSPARK_PYTHON"] = sys.executable

from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    KeySet,
    MaxRowsPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.execution.arrow.pyspark.enabled", "true")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.driver.memory", "3g")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")


def evaluate(groups, users, values, k, eps, aggregate):
    """Release one aggregate of each group, of at most k rows per user."""
    names = [f"{group} {user}" for group, user in zip(groups, users, strict=True)]
    table = pd.DataFrame({"group": groups, "user": names, "value": values})
    session = Session.from_dataframe(
        privacy_budget=PureDPBudget(eps),
        source_id="rows",
        dataframe=spark.createDataFrame(table),
        protected_change=AddRowsWithID("user"),
    )
    keys = KeySet.from_dict({"group": sorted(set(groups.tolist()))})
    query = QueryBuilder("rows").enforce(MaxRowsPerID(k)).groupby(keys)
    result = session.evaluate(aggregate(query), PureDPBudget(eps)).toPandas()
    return result.sort_values("group")["release"].tolist()


def mean(groups, users, values, upper, k, eps):
    """Release the mean of at most k rows per user: noisy sum over noisy count, half of eps each."""
    return evaluate(
        groups, users, values, k, eps, lambda q: q.average("value", 0.0, upper, name="release")
    )


def sum_of_few(groups, users, values, upper, k, eps):
    """Release the sum of at most k rows per user."""
    return evaluate(
        groups, users, values, k, eps, lambda q: q.sum("value", 0.0, upper, name="release")
    )


def bounded_sum(groups, users, values, total_width, eps):
    """Release the sum of clipped user sums; eps/2, because one is replaced, not added."""
    size, half = int(users.max()) + 1, total_width / 2
    keys, index = np.unique(groups * size + users, return_inverse=True)
    sums = np.bincount(index, weights=values)  # one row per user
    return evaluate(
        keys // size,
        keys % size,
        sums,
        1,
        eps / 2,
        lambda q: q.sum("value", -half, half, name="release"),
    )
