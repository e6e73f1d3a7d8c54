"""Several means of the same users, one budget: columns, groups, or both; one scan, one result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, get_args

from userdp import _checks as check
from userdp.beyond.noise import GaussianNoise, LaplaceNoise
from userdp.model import Epsilon, read_eps
from userdp.release._budgets import compose
from userdp.release._grid import Grid, origin_of, read_grid
from userdp.release._grouped import GroupRules, GroupSurvey, GroupTally
from userdp.release._joint import draw_jointly, joint_totals
from userdp.release._mean import draw
from userdp.release._means_results import GroupMean, MeansForecast, MeansPlan, PrivateMeans
from userdp.release._noise import load_opendp, read_law, warn_if_large
from userdp.release._planning import _budgets
from userdp.release._quiet import discreet
from userdp.release._rows import refuse_rows
from userdp.release._sources import Data, read_groups
from userdp.release._strategies import Cell, Component, MeansRequest, Strategy, decide_means
from userdp.release._wording import COUNTS_PUBLIC, NOTHING, check_text

MAX_GROUPS = 1000
MAX_MEANS = 10_000


@discreet
def private_means(
    user: str,
    values: Mapping[str, tuple[float, float]],
    *,
    data: Data,
    budget: Epsilon,
    group: str | None = None,
    groups: Sequence[str | int] | None = None,
    strategy: Strategy = "best",
    centre: Mapping[str, float] | None = None,
    outside: Literal["refuse", "clamp"] = "refuse",
    missing: Literal["refuse", "centre"] = "refuse",
    of: str = "",
) -> PrivateMeans:
    """Release the means of several columns, or of several groups of records, with one budget.

    The release of all means together is user-level eps-DP under replacement of all values of one
    user, in all columns and groups. Each user's number of records in each group, the bounds and the
    list of groups are public. The table is read once. If the numbers of records must stay secret,
    as for patients, call `private_mean_protected_counts` for each group instead, each with its part
    of the budget.

    There are two strategies to spend the budget. "joint" bounds the influence of each user on all
    means together by one threshold and adds Laplace noise of one scale, relative to the range of
    each column (thm-several-means of the book). "divided" clips and releases each mean separately,
    with eps divided by the largest number of means in which one user takes part. Groups that share
    no user, directly or through others (the public counts tell which), need not divide the budget:
    each gets all of it.

    Parameters
    ----------
    user : str
        The name of the column of users, as in `private_mean`.
    values : mapping of str to two floats
        The names of the columns of values, each with its public bounds, in its unit.
    data : path or list of paths, Ibis table or frame
        The table, as in `private_mean`; also a mapping of names to arrays.
    budget : float, Fraction, Decimal or str
        eps, the privacy budget of all means together (dimensionless, public), at least 2^-40.
    group : str, optional
        The name of a column of groups, text or whole numbers. Without it there is one group.
    groups : sequence of str or int, optional
        The public list of groups, in the order of the result. Every row must be in one of them; a
        group without rows is in the result, too.
    strategy : {"best", "joint", "divided"}, optional
        How the budget is spent. "best" takes the strategy that guarantees the smaller error, summed
        over the means and relative to their ranges, for each component of groups that share users.
    centre : mapping of str to float, optional
        Public guesses of the means of some columns, by their names, in their units; by default the
        middle of the bounds. Clipping changes values near the centre least. The guaranteed errors
        are larger than with the middle, because the worst dataset is at the farther bound
        (prp-centre of the book).
    outside : {"refuse", "clamp"}, optional
        What to do with values beyond the bounds, as in `private_mean`.
    missing : {"refuse", "centre"}, optional
        What to do with rows without a value. "centre" counts them as the centre of their column.
    of : str, optional
        What the table holds, such as "visits in week 12" (public); used by `public_sentence` and
        `public_json`.

    Returns
    -------
    PrivateMeans
        Each mean is projected onto the interval between its bounds and has a guarantee of its own.

    Raises
    ------
    FileNotFoundError, ImportError
        As `private_mean`.
    TypeError, ValueError
        If a user is missing; if a value is missing or beyond the bounds, unless `missing` or
        `outside` allows it; if a row's group is not in the list; if an engine fails, in which case
        nothing is released or spent; if an argument is invalid.

    See Also
    --------
    plan_means : the errors of both strategies, before anything is released.
    divide_budget, account : for repeated releases.
    private_mean_protected_counts : if the numbers of records are to be protected, too.

    Examples
    --------
    >>> table = {"bus": [*"aaaaabbbbb"], "day": ["Mo"] * 4 + ["Tu"] * 5 + ["Mo"]}
    >>> table["speed"] = [30.0, 40.0, 50.0, 40.0, 20.0, 30.0, 35.0, 45.0, 30.0, 60.0]
    >>> by_day = {"group": "day", "groups": ["Mo", "Tu", "We"], "data": table}
    >>> result = private_means("bus", {"speed": (0, 65)}, **by_day, budget=8)
    >>> [(mean.group, mean.n_records, mean.strategy) for mean in result.means]
    [('Mo', 5, 'joint'), ('Tu', 5, 'joint'), ('We', 0, 'empty')]
    """
    request = _read_request(values, group, groups, centre)
    law = _read_law("budget", budget)
    check.one_of("strategy", strategy, get_args(Strategy))
    check.one_of("outside", outside, ("refuse", "clamp"))
    check.one_of("missing", missing, ("refuse", "centre"))
    check_text("of", of)
    warn_if_large("budget", law)
    dp = load_opendp()
    with read_groups(user, request.columns, group, data, request.rules) as tally:
        survey = tally.survey()
        _check_survey(survey, outside, missing)
        components = decide_means(dp, tally, survey.groups, request, law, strategy)
        totals = [_totals(tally, component, request) for component in components]
    drawn = [
        _draw(dp, component, of_component, request)
        for component, of_component in zip(components, totals, strict=True)
    ]
    means = {cell: mean for by_cell, _ in drawn for cell, mean in by_cell.items()}
    spent = max(cost for _, cost in drawn)
    in_order = [(i, j) for i in range(len(request.columns)) for j in range(len(request.groups))]
    return PrivateMeans.of_means(
        tuple(means[cell] for cell in in_order),
        eps=spent,
        privacy_unit=COUNTS_PUBLIC if spent else NOTHING,
        of=of,
        group=group,
        centre=request.centres,
        outside=outside,
        missing=missing,
    )


@discreet
def plan_means(
    user: str,
    values: Mapping[str, tuple[float, float]],
    *,
    data: Data,
    eps: Epsilon | Iterable[Epsilon],
    group: str | None = None,
    groups: Sequence[str | int] | None = None,
    centre: Mapping[str, float] | None = None,
) -> MeansPlan:
    """Return the errors that `private_means` guarantees with each strategy; nothing is spent.

    It uses public information only: each user's number of records in each group, the bounds and
    the list of groups. No value is read.

    Parameters
    ----------
    user : str
        The name of the column of users.
    values : mapping of str to two floats
        The names of the columns of values, each with its public bounds, in its unit.
    data : path or list of paths, Ibis table or frame
        The table; its columns of values need not exist.
    eps : float, Fraction, Decimal or str, or several
        Privacy budgets (dimensionless, public), each for all means together.
    group : str, optional
        The name of a column of groups, text or whole numbers.
    groups : sequence of str or int, optional
        The public list of groups; the rows of the plan are in this order.
    centre : mapping of str to float, optional
        Public guesses of the means of some columns, as in `private_means`.

    Returns
    -------
    MeansPlan

    Raises
    ------
    FileNotFoundError, ImportError, TypeError, ValueError
        As `private_means`.

    Examples
    --------
    >>> table = {"bus": [*"aaaaabbbbb"], "day": ["Mo"] * 4 + ["Tu"] * 5 + ["Mo"]}
    >>> by_day = {"group": "day", "groups": ["Mo", "Tu"], "data": table}
    >>> for row in plan_means("bus", {"speed": (0, 65)}, **by_day, eps=8).rows:
    ...     print(row.group, round(row.joint, 2), round(row.divided, 2))
    Mo 7.98 10.41
    Tu 7.98 10.41
    """
    request = _read_request(values, group, groups, centre)
    laws = [_read_law("eps", budget) for budget in _budgets(eps)]
    if not laws:
        raise ValueError("`eps` must hold at least one budget, got none.")
    dp = load_opendp()
    with read_groups(user, (), group, data, GroupRules((), request.groups)) as tally:
        survey = tally.survey()
        _check_survey(survey, "clamp", "centre")
        rows = [
            row
            for law in laws
            for component in decide_means(dp, tally, survey.groups, request, law, "best")
            for row in _forecasts(component, request, law)
        ]
    order = {name: i for i, name in enumerate(request.groups)}
    columns = {name: i for i, name in enumerate(request.columns)}
    rows.sort(key=lambda row: (row.eps, columns[row.column], order[row.group]))
    return MeansPlan(rows=tuple(rows), group=group)


# Arguments


def _read_request(values: Any, group: Any, groups: Any, centre: Any) -> MeansRequest:
    if not isinstance(values, Mapping) or not values:
        check.refuse_kind("values", "a mapping of columns to their bounds (lower, upper)", values)
    grids = []
    for bounds in values.values():
        if not isinstance(bounds, tuple | list) or len(bounds) != 2:
            raise TypeError(
                "`values` must map each column to two bounds (lower, upper), got an entry "
                f"{check.kind_of(bounds)}."
            )
        grids.append(read_grid(*bounds))
    if (group is None) != (groups is None):
        got = "group" if groups is None else "groups"
        raise ValueError(
            f"`group` and `groups` must be given together or not at all, got only `{got}`."
        )
    names = ("",) if groups is None else _read_groups(groups)
    if len(names) * len(grids) > MAX_MEANS:
        got = f"{len(grids):,} * {len(names):,} (columns times groups)"
        check.refuse("values", f"define at most {MAX_MEANS:,} means in all groups", got)
    return MeansRequest(
        tuple(values), tuple(grids), group, names, _read_centres(values, grids, centre)
    )


def _read_centres(values: Any, grids: list[Grid], centre: Any) -> tuple[int | None, ...]:
    """Return the level of each column's centre; None for columns without one."""
    if centre is None:
        return (None,) * len(grids)
    if not isinstance(centre, Mapping):
        check.refuse_kind("centre", "a mapping of columns to public guesses of their means", centre)
    if not {*centre} <= {*values}:
        check.refuse("centre", "name only columns of `values`", "another name")
    return tuple(
        origin_of(grid, centre[name]) if centre.get(name) is not None else None
        for name, grid in zip(values, grids, strict=True)
    )


def _read_groups(groups: Any) -> tuple[str, ...]:
    """Return the public list of groups as text."""
    if isinstance(groups, str | bytes | Mapping) or not isinstance(groups, Iterable):
        check.refuse_kind("groups", "a list of text or whole numbers", groups)
    names: dict[str, None] = {}
    for index, name in enumerate(groups):
        if not isinstance(name, str):
            name = str(check.number("groups", name, Integral, "text or whole numbers"))
        if name in names:
            check.refuse(
                "groups", "name each group once", f"groups[{index}], which is listed before"
            )
        names[name] = None
        if index >= MAX_GROUPS:
            check.refuse("groups", f"have at most {MAX_GROUPS:,} entries", "more")
    if not names:
        check.refuse("groups", "name at least one group", "none")
    return tuple(names)


def _read_law(name: str, budget: Epsilon) -> LaplaceNoise:
    if isinstance(budget, GaussianNoise):
        rule = (
            "an eps, because several means get Laplace noise (after `divide_budget`, pass the "
            "`eps` of its result)"
        )
        check.refuse_kind(name, rule, budget)
    law = read_law(read_eps(budget, name))
    assert isinstance(law, LaplaceNoise)
    return law


def _check_survey(survey: GroupSurvey, outside: Any, missing: Any) -> None:
    """Raise if there are invalid rows. Their number may be protected; the message omits it."""
    refuse_rows(survey.faults, outside, missing)
    if survey.unlisted:
        raise ValueError(
            "`groups` must list the group of each row: some rows have no group, or one that is "
            "not listed. Extend the list, or remove these rows; groups are public."
        )
    if not any(of_group.sizes for of_group in survey.groups):
        raise ValueError("`user` must have at least one valid row: there is none.")


# Draws: one for all means of a component, or separate ones for each mean


def _totals(tally: GroupTally, component: Component, request: MeansRequest) -> Any:
    """Return the totals to which noise is added."""
    if component.joint is not None:
        return joint_totals(tally, component.joint, request.grids)
    totals = {}
    for (i, j), parts in component.parts.items():
        cell_tally = tally.cell(i, j)
        totals[i, j] = [cell_tally.clipped_total(part.window, part.among) for part in parts]
    return totals


def _draw(
    dp: Any, component: Component, totals: Any, request: MeansRequest
) -> tuple[dict[Cell, GroupMean], float]:
    """Add noise to the totals of a component; return its means, and what they spend together."""
    if not component.n_shares:
        return {cell: _empty_group_mean(cell, request) for cell in component.guarantees}, 0.0
    if component.joint is not None:
        noisy = draw_jointly(component.joint, totals, request.grids)
        means = {
            cell: _group_mean(mean, component, cell, request, "joint", noisy.spent)
            for cell, mean in noisy.means.items()
        }
        return means, noisy.spent
    releases = {
        cell: draw(totals[cell], parts, "refuse", "refuse")
        for cell, parts in component.parts.items()
    }
    strategy = _name_of_strategy(component)
    means = {
        cell: _group_mean(release.mean, component, cell, request, strategy, release.eps)
        for cell, release in releases.items()
    }
    largest_cost = max(release.eps or 0.0 for release in releases.values())
    spent = compose(dp, "eps", [largest_cost] * component.n_shares) if largest_cost else 0.0
    return means, spent


def _group_mean(
    mean: float,
    component: Component,
    cell: Cell,
    request: MeansRequest,
    strategy: str,
    spent: float | None,
) -> GroupMean:
    """Return the entry of a mean, with its guarantees."""
    i, j = cell
    names = ("joint", "divided") if strategy == "joint" else ("divided", "joint")
    guarantee, other = (component.guarantees[cell].get(name) for name in names)
    assert guarantee is not None
    users = component.users[j]
    return GroupMean(
        column=request.columns[i],
        group=request.groups[j],
        mean=mean,
        lower=request.grids[i].lower,
        upper=request.grids[i].upper,
        n_users=users.n_users,
        n_records=users.total,
        strategy=strategy,
        eps=spent or 0.0,
        worst_case_error=guarantee.error,
        other_error=None if other is None else other.error,
        worst_case_bias=guarantee.bias,
        noise_scale=guarantee.noise_scale,
        rounding=guarantee.rounding,
    )


def _empty_group_mean(cell: Cell, request: MeansRequest) -> GroupMean:
    """Return the entry of a group without records: it has no mean. That it is empty is public."""
    i, j = cell
    grid = request.grids[i]
    return GroupMean(
        column=request.columns[i],
        group=request.groups[j],
        mean=None,
        lower=grid.lower,
        upper=grid.upper,
        n_users=0,
        n_records=0,
        strategy="empty",
        eps=0.0,
        worst_case_error=None,
        other_error=None,
        worst_case_bias=0.0,
        noise_scale=0.0,
        rounding=0.0,
    )


def _name_of_strategy(component: Component) -> str:
    """Return how the means of a component are released."""
    if component.joint is not None:
        return "joint"
    return {0: "empty", 1: "disjoint"}.get(component.n_shares, "divided")


def _forecasts(
    component: Component, request: MeansRequest, law: LaplaceNoise
) -> Iterator[MeansForecast]:
    """Return the guarantees for each mean of a component."""
    for (i, j), guarantees in component.guarantees.items():
        errors = {name: guarantee.error for name, guarantee in guarantees.items()}
        divided = errors.get("divided")
        n_users, n_records = 0, 0
        if component.n_shares:
            n_users, n_records = component.users[j].n_users, component.users[j].total
        yield MeansForecast(
            eps=float(law.privacy_cost),
            column=request.columns[i],
            group=request.groups[j],
            n_users=n_users,
            n_records=n_records,
            joint=errors.get("joint", divided),
            divided=divided,
            constant=request.grids[i].width / 2,
            best=_name_of_strategy(component),
        )
