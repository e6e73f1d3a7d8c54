"""Tumult Analytics: the sum of clipped user sums; eps/2, because a sum is replaced, not added."""

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession
from tmlt.analytics import AddRowsWithID, MaxRowsPerID, PureDPBudget, QueryBuilder, Session


def bounded_sum(users, values, total_width, eps):
    """Release the sum; `users` are numbered from 0, in an array as long as that of the values."""
    sums = np.bincount(users, weights=values)  # one row per user
    table = pd.DataFrame({"user": np.arange(sums.size), "value": sums})
    budget = PureDPBudget(eps / 2)
    session = Session.from_dataframe(
        privacy_budget=budget,
        source_id="rows",
        dataframe=SparkSession.builder.getOrCreate().createDataFrame(table),
        protected_change=AddRowsWithID("user"),
    )
    one_each = QueryBuilder("rows").enforce(MaxRowsPerID(1))
    query = one_each.sum("value", -total_width / 2, total_width / 2, name="sum")
    return session.evaluate(query, budget).toPandas()["sum"].item()
