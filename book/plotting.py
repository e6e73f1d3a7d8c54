"""The look of the book's figures: one style, and a colour, marker and dash per mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from scipy.optimize import isotonic_regression

_PALETTE = sns.color_palette("colorblind")

LOOKS: dict[str, dict[str, Any]] = {
    "OPT-worst-case": {"color": _PALETTE[0], "marker": "o", "linestyle": "-"},
    "AKMV": {"color": _PALETTE[3], "marker": "s", "linestyle": (0, (3.7, 1.6))},
    "Laplace": {"color": _PALETTE[7], "marker": "^", "linestyle": (0, (1, 1.65))},
    # Not a mechanism: the largest error that OPT-worst-case can have.
    "guarantee": {
        "color": _PALETTE[0],
        "marker": "",
        "linestyle": (0, (6, 1.5, 1, 1.5)),
    },
    # The best clippings for the mean absolute error, and other laws of noise.
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
    # A centre and a narrower width that a prior chooses; counts that are protected, too.
    "prior": {"color": "#00707a", "marker": "H", "linestyle": (0, (6, 1))},
    "counts protected": {"color": "k", "marker": "8", "linestyle": (0, (1, 2))},
    # The rivals: weights min(m, k), k samples of each, sums capped at a public T, means of means.
    "weights": {"color": _PALETTE[1], "marker": "<", "linestyle": (0, (3, 1, 1, 1))},
    "dropping": {"color": _PALETTE[9], "marker": ">", "linestyle": (0, (2, 1))},
    "cap": {"color": _PALETTE[4], "marker": "d", "linestyle": (0, (8, 2, 2, 2))},
    "mean of users": {
        "color": "#7f7f00",
        "marker": "p",
        "linestyle": (0, (4, 1, 1, 1)),
    },
}
"""A mechanism keeps its colour, marker and line style on every page."""


def use_book_style() -> None:
    """Draw all figures from here on in the book's style."""
    plt.style.use(Path(__file__).with_name("book.mplstyle"))


def seaborn_looks() -> dict[str, dict[str, Any]]:
    """Return `LOOKS` as seaborn wants it, for a `hue` and a `style` that name the mechanism.

    Returns
    -------
    dict
        With a `palette`, `markers` and `dashes` by the name of the mechanism, as
        `seaborn.lineplot` takes them.
    """
    # Without the guarantee: seaborn wants a marker for each.
    looks = {name: look for name, look in LOOKS.items() if look["marker"]}
    lines = {name: look["linestyle"] for name, look in looks.items()}
    return {
        "palette": {name: look["color"] for name, look in looks.items()},
        "markers": {name: look["marker"] for name, look in looks.items()},
        # A line is "-" or an offset and the dashes; seaborn knows no offset.
        "dashes": {
            name: "" if line == "-" else line[1] for name, line in lines.items()
        },
    }


def draw_error(
    ax: Axes,
    eps: npt.ArrayLike,
    error: npt.ArrayLike,
    mechanism: str,
    label: str | None = None,
) -> None:
    """Draw an error that is known exactly against eps, as the mechanism's line.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw.
    eps, error : array_like of float, shape (n,)
        Privacy budgets, and errors in the unit of the samples.
    mechanism : str
        A key of `LOOKS`.
    label : str, optional
        Entry in the legend; the mechanism's name without it.
    """
    look = {**LOOKS[mechanism], "marker": ""}
    ax.plot(np.asarray(eps), np.asarray(error), label=label or mechanism, **look)


def label_lines(ax: Axes) -> None:
    """Name each curve at its right end, in its colour, instead of a legend.

    Parameters
    ----------
    ax : matplotlib Axes
        With its curves, scales and limits as they will be; curves without a label get none.

    Notes
    -----
    Names that would overlap are moved apart, by as little as it takes in least squares.
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
    # Lines that end at the same point, but for the last digit, are named in the order of drawing.
    order = np.argsort(np.round(ends, 3), kind="stable")
    apart = gap * np.arange(len(ends))
    places = isotonic_regression(np.asarray(ends)[order] - apart).x + apart
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
    """Give an axes a logarithmic eps axis with plain numbers, and name it."""
    plain_log_axis(ax.xaxis)
    ax.set_xlabel("privacy budget ε (no unit; smaller is more private)")


def label_ranks(ax: Axes) -> None:
    """Give an axes logarithmic scales for numbers of samples against ranks, and name them."""
    label_ratios(ax, "x", "rank of the user (1: most samples)")
    label_ratios(ax, "y", "samples of the user")


def label_errors(ax: Axes, what: str = "error of the mean") -> None:
    """Give an axes a logarithmic error axis with plain numbers, and say which error it shows."""
    label_ratios(ax, "y", f"{what} (km/h)")


def label_ratios(ax: Axes, which: str, name: str) -> None:
    """Make the axis "x" or "y" logarithmic with plain numbers, and name it."""
    ax.set(**{f"{which}label": name})
    plain_log_axis({"x": ax.xaxis, "y": ax.yaxis}[which])


def plain_log_axis(axis: Axis) -> None:
    """Make an axis logarithmic, and label 1, 2 and 5 of every decade as they are read aloud.

    On a horizontal axis of more than two decades there is room for 1 and 3 only.
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
