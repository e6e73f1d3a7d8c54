"""The style of the book's figures, with a colour, marker and line style per mechanism."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from scipy.optimize import isotonic_regression

if TYPE_CHECKING:
    from userdp.model import Contributions, Epsilon

_PALETTE = sns.color_palette("colorblind")

LOOKS: dict[str, dict[str, Any]] = {
    "OPT-worst-case": {"color": _PALETTE[0], "marker": "o", "linestyle": "-"},
    "AKMV": {"color": _PALETTE[3], "marker": "s", "linestyle": (0, (3.7, 1.6))},
    "Laplace": {"color": _PALETTE[7], "marker": "^", "linestyle": (0, (1, 1.65))},
    # Not a mechanism, but the largest error that OPT-worst-case can have.
    "guarantee": {
        "color": _PALETTE[0],
        "marker": "",
        "linestyle": (0, (6, 1.5, 1, 1.5)),
    },
    # The best clippings for the mean absolute error, and other noise distributions.
    "l1 optimum": {"color": _PALETTE[2], "marker": "P", "linestyle": (0, (5, 1))},
    "l1 optimum, staircase": {
        "color": "#6f4fa0",
        "marker": "X",
        "linestyle": (0, (1, 1)),
    },
    "l1 release": {"color": "#00579c", "marker": "D", "linestyle": (0, (7, 1, 1, 1))},
    "Gaussian": {
        "color": "#8a5a2b",
        "marker": "*",
        "linestyle": (0, (4, 1, 1, 1, 1, 1)),
    },
    # A centre and a narrower width chosen from a prior; protected counts.
    "prior": {"color": "#00707a", "marker": "H", "linestyle": (0, (6, 1))},
    "counts protected": {"color": "k", "marker": "8", "linestyle": (0, (1, 2))},
    # Alternatives: weights min(m, k), k samples per user, sums capped at a public T, means of
    # means.
    "weights": {"color": "#b87600", "marker": "<", "linestyle": (0, (3, 1, 1, 1))},
    "dropping": {"color": "#2f97d3", "marker": ">", "linestyle": (0, (2, 1))},
    "cap": {"color": _PALETTE[4], "marker": "d", "linestyle": (0, (8, 2, 2, 2))},
    "mean of users": {
        "color": "#7f7f00",
        "marker": "p",
        "linestyle": (0, (4, 1, 1, 1)),
    },
}
"""A mechanism keeps its colour, marker and line style on every page."""

SECOND = _PALETTE[5]
"""The colour of a second collection or budget, if a figure has two curves of one mechanism."""

JUST_BELOW = Fraction(1, 10**8)
"""The distance below 2/k at which the left side of a jump is computed."""


def use_book_style() -> None:
    """Use the book's style for all following figures."""
    plt.style.use(Path(__file__).with_name("book.mplstyle"))


def with_jumps(eps: Iterable[float], users: Contributions) -> list[Epsilon]:
    """Add both sides of each jump to a grid of budgets, for the line of an exact error.

    At ε = 2/k the rank ⌈2/ε⌉ falls from k + 1 to k, and a threshold may jump. A line through a
    plain grid would join the two sides by a slope, as if there were a trend.

    Parameters
    ----------
    eps : iterable of float
        Privacy budgets, in any order.
    users : Contributions
        Ranks above the number of users are ignored.

    Returns
    -------
    list of float or Fraction
        In ascending order, the given budgets and, within their range, each 2/k and 2/k - 1e-8.
    """
    grid = [float(budget) for budget in eps]
    ranks = range(1, users.n_users + 1)
    jumps = [Fraction(2, k) for k in ranks if min(grid) <= 2 / k <= max(grid)]
    below = [budget - JUST_BELOW for budget in jumps if float(budget) > min(grid)]
    budgets = {float(budget): budget for budget in [*grid, *jumps, *below]}
    return [budgets[value] for value in sorted(budgets)]


def draw_error(
    ax: Axes,
    eps: npt.ArrayLike,
    error: npt.ArrayLike,
    mechanism: str,
    label: str | None = None,
    **changes: Any,
) -> None:
    """Draw an exact error against eps, as the mechanism's line.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw.
    eps, error : array_like of float, shape (n,)
        Privacy budgets, and errors in the unit of the samples. If they contain both sides of a
        jump, as in `with_jumps`, the line is vertical there.
    mechanism : str
        A key of `LOOKS`.
    label : str, optional
        Entry in the legend; by default, the mechanism's name.
    **changes
        Changes to the mechanism's look, such as `lw`.
    """
    look = LOOKS[mechanism] | {"marker": ""} | changes
    ax.plot(np.asarray(eps), np.asarray(error), label=label or mechanism, **look)


def draw_points(
    ax: Axes,
    eps: npt.ArrayLike,
    error: npt.ArrayLike,
    standard_error: npt.ArrayLike,
    mechanism: str,
    **changes: Any,
) -> None:
    """Draw simulated errors as the mechanism's markers, with bars of two standard errors.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw.
    eps, error, standard_error : array_like of float, shape (n,)
        Privacy budgets, mean errors and their standard errors.
    mechanism : str
        A key of `LOOKS`; the points are not in the legend, which has the line.
    **changes
        Changes to the mechanism's look, such as `ms`, or another `label`.
    """
    defaults = {"linestyle": "", "capsize": 2.5, "label": f"_{mechanism}"}
    look = LOOKS[mechanism] | defaults | changes
    bars = 2 * np.asarray(standard_error)
    ax.errorbar(np.asarray(eps), np.asarray(error), bars, **look)


def label_lines(ax: Axes) -> None:
    """Name each curve at its right end, in its colour, instead of a legend.

    Parameters
    ----------
    ax : matplotlib Axes
        With its final curves, scales and limits; curves without a label get no name.

    Notes
    -----
    Names that would overlap are moved apart by the smallest shifts in least squares.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    lines = [
        line for line in ax.get_lines() if not str(line.get_label()).startswith("_")
    ]
    ends = [
        ax.transData.transform((0, np.asarray(line.get_ydata())[-1]))[1]
        for line in lines
    ]
    gap = 1.15 * plt.rcParams["legend.fontsize"] * figure.dpi / 72
    # Lines that end at the same point, up to rounding, are named in drawing order.
    order = np.argsort(np.round(ends, 3), kind="stable")
    offsets = gap * np.arange(len(ends))
    places = isotonic_regression(np.asarray(ends)[order] - offsets).x + offsets
    for i, y in zip(order, places, strict=True):
        height = ax.transAxes.inverted().transform((0, y))[1]
        look = {"color": lines[i].get_color(), "size": plt.rcParams["legend.fontsize"]}
        ax.text(
            1.02,
            height,
            lines[i].get_label(),
            transform=ax.transAxes,
            va="center",
            **look,
        )


def label_budgets(ax: Axes) -> None:
    """Make the x-axis logarithmic with plain numbers, and label it as eps."""
    plain_log_axis(ax.xaxis)
    ax.set_xlabel("privacy budget ε (no unit; smaller is more private)")


def label_ranks(ax: Axes) -> None:
    """Make both axes logarithmic, and label them as numbers of samples against ranks."""
    label_ratios(ax, "x", "rank of the user (1: most samples)")
    label_ratios(ax, "y", "samples of the user")


def label_errors(ax: Axes, what: str = "error of the mean") -> None:
    """Make the y-axis logarithmic with plain numbers, and label it with the kind of error."""
    label_ratios(ax, "y", f"{what} (km/h)")


def label_ratios(ax: Axes, which: str, name: str) -> None:
    """Make the axis "x" or "y" logarithmic with plain numbers, and label it."""
    ax.set(**{f"{which}label": name})
    plain_log_axis({"x": ax.xaxis, "y": ax.yaxis}[which])


def plain_log_axis(axis: Axis) -> None:
    """Make an axis logarithmic, and label 1, 2 and 5 of every decade without exponents.

    A horizontal axis of more than two decades has space for 1 and 3 only.
    """
    axes = axis.axes
    digits: tuple[float, ...] = (1.0, 2.0, 5.0)
    if axis is axes.xaxis:
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        if high > 150 * low:
            digits = (1.0, 3.0)
    else:
        axes.set_yscale("log")
    axis.set_major_locator(LogLocator(subs=digits))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
