"""PipelineDP on its local backend; Beam and Spark give the same results."""

import pipeline_dp as pdp


def aggregate(users, values, eps, **settings):
    """Release one aggregate of all rows."""
    budget = pdp.NaiveBudgetAccountant(total_epsilon=eps, total_delta=0)
    columns = pdp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: "all",
        value_extractor=lambda row: row[1],
    )
    rows = list(zip(users.tolist(), values.tolist(), strict=True))
    result = pdp.DPEngine(budget, pdp.LocalBackend()).aggregate(
        rows,
        pdp.AggregateParams(max_partitions_contributed=1, **settings),
        columns,
        public_partitions=["all"],
    )
    budget.compute_budgets()
    return next(iter(result))[1]


def bounded_sum(users, values, total_width, eps):
    """Release the sum of clipped user sums; eps/2, because one is replaced, not added."""
    return aggregate(
        users,
        values,
        eps / 2,
        metrics=[pdp.Metrics.SUM],
        min_sum_per_partition=-total_width / 2,
        max_sum_per_partition=total_width / 2,
        max_contributions_per_partition=1,  # required, but drops nothing
    ).sum


def mean(users, values, upper, k, eps):
    """Release the mean of at most k rows per user: noisy sum over noisy count, half of eps each."""
    return aggregate(
        users,
        values,
        eps,
        metrics=[pdp.Metrics.MEAN],
        min_value=0,
        max_value=upper,
        max_contributions_per_partition=k,
    ).mean


def sum_of_few(users, values, upper, k, eps):
    """Release the sum of at most k rows per user."""
    return aggregate(
        users,
        values,
        eps,
        metrics=[pdp.Metrics.SUM],
        min_value=0,
        max_value=upper,
        max_contributions_per_partition=k,
    ).sum


def capped_sum(users, values, cap, eps):
    """Release the sum of user sums, each capped; for sums from 0, replacing costs eps."""
    return aggregate(
        users,
        values,
        eps,
        metrics=[pdp.Metrics.SUM],
        min_sum_per_partition=0,
        max_sum_per_partition=cap,
        max_contributions_per_partition=1,
    ).sum
