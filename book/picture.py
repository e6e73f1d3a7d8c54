"""The static picture of the running example, for print and without scripts.

`draw` draws the layer of a page. It computes the numbers with `userdp`, as a table whose rows it
draws and returns. The interactive picture has the same examples, in `_scripts/live/example.js`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes

import userdp as ud

UPPER = 65.0  # km/h
SPEEDS = [[31.0, 28.5, 40.0, 33.5], [52.0, 47.0], [18.0]]
SUMS = np.array([sum(samples) for samples in SPEEDS])
BUSES = ud.Contributions([len(samples) for samples in SPEEDS], upper=UPPER)
MEAN = SUMS.sum() / BUSES.total
SEED, AKMV_SEED = 20250201, 20250206
"""Seeds of the releases that the pages `setup` and `akmv` print."""

SAMPLES, BIAS, NOISE, INK = "#02704f", "#d55e00", "#0173b2", "black"
"""Each colour has one meaning in the picture; noise is also hatched."""
LIGHT_LINE = {"color": "0.75", "lw": 1, "zorder": 0}
RELEASE_LIMITS = (-UPPER, 2 * UPPER)


def many_buses() -> list[npt.NDArray[np.float64]]:
    """Return the speeds of 127 buses, random and rounded, as in the interactive picture."""
    users = ud.geometric_collection(M=6, upper=UPPER)
    speeds = np.random.default_rng(AKMV_SEED).uniform(0, UPPER, users.total)
    return np.split(speeds.round(1), np.cumsum(users.counts)[:-1])


# --- Numbers --------------------------------------------------------------------------------------


def rows(
    part: str,
    start: npt.ArrayLike,
    end: npt.ArrayLike = np.nan,
    row: npt.ArrayLike = np.nan,
    height: npt.ArrayLike = np.nan,
) -> pd.DataFrame:
    """Return rows of the table for a part of the picture."""
    columns = {"row": row, "from": start, "to": end, "height": height}
    size = max(np.size(values) for values in columns.values())
    arrays = {
        name: np.broadcast_to(np.asarray(values, float), size)
        for name, values in columns.items()
    }
    return pd.DataFrame({"part": part, **arrays})


def shifted_clipping(width: float, share: float = 0.5) -> ud.Clipping:
    """Return intervals of a total width, with a share of the removed range below them."""
    widths = np.minimum(UPPER, width / BUSES.counts)
    low = share * (UPPER - widths)
    return ud.Clipping(low, low + widths)


def samples(clipping: ud.Clipping | None) -> Iterable[pd.DataFrame]:
    """Yield the speeds and, if they are clipped, the intervals and the clipped speeds."""
    lanes = np.arange(BUSES.n_users, 0, -1)
    lane = np.repeat(lanes, BUSES.counts)
    speeds = np.concatenate(SPEEDS)
    yield rows("speeds", speeds, row=lane)
    if clipping:
        ends = np.array([clipping.lower, clipping.upper]).repeat(BUSES.counts, axis=1)
        yield rows("intervals", clipping.lower, clipping.upper, lanes)
        yield rows("clipped speeds", speeds.clip(*ends), row=lane)


def clipped_mean(clipping: ud.Clipping) -> float:
    """Return the mean of the speeds after clipping."""
    bounds = zip(SPEEDS, clipping.lower, clipping.upper, strict=True)
    return (
        float(sum(np.clip(x, low, high).sum() for x, low, high in bounds)) / BUSES.total
    )


def bars(errors: dict[str, tuple[float, float]]) -> Iterable[pd.DataFrame]:
    """Yield bias and noise of each name, in lanes from top to bottom."""
    lane = np.arange(len(errors), 0, -1)
    bias, noise = np.array(list(errors.values())).T
    yield rows("bias", 0 * bias, bias, lane)
    has_noise = noise > 0
    yield rows("noise", bias[has_noise], (bias + noise)[has_noise], lane[has_noise])


def bias_and_noise(width: float, eps: float) -> tuple[float, float]:
    """Return bias and mean absolute noise of the centred intervals of a total width."""
    noise = width / BUSES.total / eps
    return float(ud.symmetric_error(BUSES, width, eps)) - noise, noise


def compared_errors(eps: float) -> dict[str, tuple[float, float]]:
    """Return bias and noise without clipping, with the best clipping, and of the constant U/2."""
    widths = {
        "no clipping": UPPER * BUSES.max_count,
        "best clipping": ud.threshold(BUSES, eps),
    }
    errors = {name: bias_and_noise(float(width), eps) for name, width in widths.items()}
    return errors | {"always U/2": (UPPER / 2, 0.0)}


def releases_and_density(
    name: str, centre: float, scale: float
) -> Iterable[pd.DataFrame]:
    """Yield five releases, with the noise of the page `setup`, and their density."""
    rng = np.random.default_rng(SEED)
    noise = np.array([rng.laplace(scale=scale) for _ in range(5)])
    yield rows(f"releases, {name}", centre + noise, height=0.0)
    x = np.union1d(np.linspace(*RELEASE_LIMITS, 157), centre)
    yield rows(f"law, {name}", x, height=np.exp(-abs(x - centre) / scale) / (2 * scale))


def plain_releases(eps: float) -> Iterable[pd.DataFrame]:
    """Yield the releases without clipping, which the page `setup` prints."""
    yield from releases_and_density("no clipping", MEAN, ud.sensitivity(BUSES) / eps)


def best_releases(eps: float) -> Iterable[pd.DataFrame]:
    """Yield releases with the best clipping, from the same noise draws."""
    best = ud.optimal_clipping(BUSES, eps)
    scale = ud.sensitivity(BUSES, best) / eps
    yield from releases_and_density("best clipping", clipped_mean(best), scale)


def error_curve(eps: float) -> Iterable[pd.DataFrame]:
    """Yield the error and its bias, against the total width."""
    S = np.union1d(np.linspace(0, 280, 57), BUSES.largest_sums)
    error = np.array([ud.symmetric_error(BUSES, x, eps) for x in S])
    yield rows("error φ", S, height=error)
    yield rows("bias alone", S, height=error - S / BUSES.total / eps)


def prices(eps: float) -> Iterable[pd.DataFrame]:
    """Yield the cost and the gain of one unit of width at the best width."""
    sums, T = BUSES.largest_sums, ud.threshold(BUSES, eps)
    yield rows("unit of noise", 0, 1 / eps, row=3)
    for lane, clipped in ((2, sum(sums > T)), (1, sum(sums >= T))):
        starts = np.arange(clipped) / 2
        yield rows("unit of bias", starts, starts + 0.5, row=lane)


def capped(eps: float) -> Iterable[pd.DataFrame]:
    """Yield the sums and their ranges, the density of AKMV's cap, and releases."""
    lanes = np.arange(BUSES.n_users, 0, -1)
    yield rows("largest sums", 0, BUSES.largest_sums, lanes)
    yield rows("sums", SUMS, row=lanes)
    law = ud.quantile_cells(SUMS, BUSES, ud.rank(eps), eps / 2)
    yield rows(
        "density of the cap",
        law.lower,
        law.upper,
        height=law.probability / (law.upper - law.lower),
    )
    rng = np.random.default_rng(AKMV_SEED)
    releases = [
        ud.akmv(SUMS, BUSES, eps, rng=rng),
        *ud.akmv(np.tile(SUMS, (5, 1)), BUSES, eps, rng=rng),
    ]
    yield rows("releases, AKMV", np.hstack(releases), height=0.0)


def drawn_cap(eps: float) -> float:
    """Return the cap of the release that the page `akmv` works through."""
    return float(ud.private_quantile(SUMS, BUSES, ud.rank(eps), eps / 2, rng=AKMV_SEED))


def ranges_of_mean() -> Iterable[pd.DataFrame]:
    """Yield the range of the mean if all samples of a bus, or its first one, are replaced."""
    lanes, N = np.arange(BUSES.n_users, 0, -1), BUSES.total
    yield rows(
        "all its samples",
        MEAN - SUMS / N,
        MEAN + (BUSES.largest_sums - SUMS) / N,
        lanes,
    )
    first = np.array([samples[0] for samples in SPEEDS])
    yield rows("its first sample", MEAN - first / N, MEAN + (UPPER - first) / N, lanes)


# --- Drawing --------------------------------------------------------------------------------------


class Part:
    """Draws parts of a table into axes, labelled with the names of the parts."""

    def __init__(self, ax: Axes, table: pd.DataFrame):
        self.ax, self.table = ax, table

    def get(self, part: str) -> pd.DataFrame:
        """Return the rows of a part."""
        return self.table[self.table.part == part]

    def points(self, part: str, marker: str = "o", **look: object) -> None:
        """Draw points in their lanes."""
        rows = self.get(part)
        self.ax.plot(rows["from"], rows.row, marker, ls="", label=f"_{part}", **look)

    def lines(self, part: str, **look: object) -> None:
        """Draw horizontal lines in their lanes."""
        rows = self.get(part)
        self.ax.hlines(rows.row, rows["from"], rows.to, label=f"_{part}", **look)

    def bars(self, part: str, color: str, hatched: bool = False) -> None:
        """Draw bars in their lanes."""
        rows = self.get(part)
        look = {"color": color, "edgecolor": "white", "lw": 1}
        if hatched:
            look = {
                "facecolor": "#d7e6f2",
                "edgecolor": color,
                "hatch": "....",
                "lw": 1,
            }
        width = rows.to - rows["from"]
        self.ax.barh(
            rows.row, width, left=rows["from"], height=0.6, label=f"_{part}", **look
        )

    def lanes(
        self, names: Iterable[str], axis: str, limits: tuple[float, float]
    ) -> None:
        """Name the lanes and the axis."""
        names = list(names)
        self.ax.set_yticks(np.arange(len(names), 0, -1), names)
        self.ax.tick_params(axis="y", length=0)
        self.ax.set(xlabel=axis, xlim=limits, ylim=(0.4, len(names) + 0.6))
        self.ax.grid(False, axis="y")


def bus_names() -> list[str]:
    """Return the names of the three lanes."""
    return [f"bus {i}" for i in range(1, BUSES.n_users + 1)]


def show_samples(part: Part, clipping: ud.Clipping | None = None) -> None:
    """Draw the speeds, and their intervals if they are clipped."""
    part.ax.axvline(MEAN, color=INK, ls=":", lw=1.6)
    part.ax.text(MEAN, 3.7, f" mean {MEAN:.2f}", va="bottom")
    if clipping:
        clipped = clipped_mean(clipping)
        part.ax.axvline(clipped, color=INK, lw=1.2)
        part.ax.text(clipped, 3.7, f"clipped {clipped:.2f} ", va="bottom", ha="right")
        part.lines("intervals", color=SAMPLES, lw=15, alpha=0.2)
        part.points("speeds", color=SAMPLES, fillstyle="none", ms=8, lw=0)
        part.points("clipped speeds", color=SAMPLES, ms=8)
    else:
        part.points("speeds", color=SAMPLES, ms=8)
    part.lanes(bus_names(), "speed (km/h)", (-1, UPPER + 1))


def show_ranges_of_mean(part: Part) -> None:
    """Draw how far each bus can move the mean, by all its samples and by one."""
    part.ax.axvline(MEAN, color=INK, ls=":", lw=1.6)
    part.lines("all its samples", color=NOISE, lw=11, alpha=0.35)
    part.lines("its first sample", color=INK, lw=1.4)
    part.lanes(
        [f"{name} alone" for name in bus_names()], "mean (km/h)", (-1, UPPER + 1)
    )


def show_bars(part: Part, errors: dict[str, tuple[float, float]], axis: str) -> None:
    """Draw bias and noise as stacked bars, with their sums."""
    part.bars("bias", BIAS)
    part.bars("noise", NOISE, hatched=True)
    for lane, (bias, noise) in zip(
        range(len(errors), 0, -1), errors.values(), strict=True
    ):
        end = min(bias + noise, 62) + 1
        has_both = bias > 0 and noise > 0
        words = f"{bias:.1f} + {noise:.1f}" if has_both else f"{bias + noise:.1f}"
        part.ax.text(end, lane, words, va="center")
    part.lanes(errors, axis, (-1, UPPER + 1))


def show_releases(part: Part, name: str, with_density: bool = True) -> None:
    """Draw releases with their density; those beyond the axis as numbers at its end."""
    ax, values = part.ax, part.get(f"releases, {name}")
    if with_density:
        law = part.get(f"law, {name}")
        look = {"facecolor": "#d7e6f2", "edgecolor": NOISE, "hatch": "....", "lw": 0}
        ax.fill_between(law["from"], law.height, label=f"_law, {name}", **look)
        ax.plot(law["from"], law.height, color=NOISE, lw=1.3, label=f"_law, {name}")
        ax.set_ylim(-0.1 * law.height.max(), 1.05 * law.height.max())
    else:
        ax.set_ylim(-0.1, 1)
    ax.plot(
        values["from"],
        values.height,
        "o",
        color=INK,
        ms=7,
        label=f"_releases, {name}",
        clip_on=True,
    )
    ax.axvline(MEAN, color=INK, ls=":", lw=1.6)
    for value in values["from"][values["from"] < RELEASE_LIMITS[0]]:
        ax.text(
            RELEASE_LIMITS[0] + 1,
            0.3 * ax.get_ylim()[1],
            f"◂ {value:.0f}".replace("-", "−"),
            va="center",
        )
    ax.set(yticks=[], xlim=RELEASE_LIMITS, xticks=[-65, 0, 65, 130])
    ax.text(0.99, 0.93, name, transform=ax.transAxes, ha="right", va="top")
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("published (km/h)" if ax.get_subplotspec().is_last_row() else "")


def show_curve(part: Part, eps: float) -> None:
    """Draw the error and its bias against the width, and the best width."""
    error, bias = part.get("error φ"), part.get("bias alone")
    ax, T = part.ax, float(ud.threshold(BUSES, eps))
    ax.fill_between(
        bias["from"], bias.height, color=BIAS, alpha=0.75, lw=0, label="_bias alone"
    )
    ax.plot(error["from"], error.height, color=INK, label="_error φ")
    ax.axhline(UPPER / 2, color="0.4", ls="--", lw=1)
    ax.plot(T, ud.optimal_error(BUSES, eps), "o", color=INK, ms=9)
    ax.text(25, 6, "bias", color="white")
    ax.text(150, 12, "noise", color=NOISE)
    ax.text(278, 31.5, "always U/2", ha="right", va="top")
    ax.set(xlabel="total width S (km/h)", xlim=(0, 280), ylim=(0, 50))
    ax.text(4, 49, "error φ (km/h)", va="top")
    ax.set_xticks([0, 65, 130, 195, 260])


def show_prices(part: Part, eps: float) -> None:
    """Draw the cost and the gain of a unit of width."""
    part.bars("unit of noise", NOISE, hatched=True)
    part.bars("unit of bias", BIAS)
    part.ax.axvline(1 / eps, color=INK, ls="--", lw=1)
    names = ["noise:\n1/ε", "bias: wider\ngains", "bias: narrower\nloses"]
    part.lanes(names, "slope of N φ (no unit)", (0, 1.6))


def show_sums(part: Part, cap: float) -> None:
    """Draw the sums, and the cap."""
    part.lines("largest sums", **LIGHT_LINE)
    part.points("sums", color=SAMPLES, ms=8)
    part.ax.axvline(cap, color=NOISE, lw=2)
    part.ax.axvspan(cap, 260, color=BIAS, alpha=0.12, lw=0)
    part.ax.text(cap, 3.7, f" cap {cap:.2f}", va="bottom")
    part.lanes(bus_names(), "", (0, 260))
    part.ax.set_xticks([0, 65, 130, 195, 260])


def show_law(part: Part, cap: float) -> None:
    """Draw the density of the cap."""
    law = part.get("density of the cap")[::-1]
    edges = [*law["from"], law.to.iloc[-1]]
    look = {"facecolor": "#d7e6f2", "edgecolor": NOISE, "hatch": "....", "fill": True}
    part.ax.stairs(law.height, edges, label="_density of the cap", **look)
    part.ax.axvline(cap, color=NOISE, lw=2)
    part.ax.set(xlabel="sum of a bus (km/h)", xlim=(0, 260), yticks=[])
    part.ax.set_xticks([0, 65, 130, 195, 260])
    part.ax.spines["left"].set_visible(False)


ERROR = "bias and mean absolute noise, worst case (km/h)"


def offset_errors(clipping: ud.Clipping, eps: float) -> dict[str, tuple[float, float]]:
    """Return how much clipping can raise and lower the mean, and the error."""
    raised = float(BUSES.counts @ clipping.lower) / BUSES.total
    lowered = float(BUSES.counts @ (UPPER - clipping.upper)) / BUSES.total
    bias, noise = (
        ud.worst_case_bias(BUSES, clipping),
        ud.sensitivity(BUSES, clipping) / eps,
    )
    return {
        "raised": (raised, 0.0),
        "lowered": (lowered, 0.0),
        "error": (float(bias), noise),
    }


Axis = tuple[float, Callable[[Part], None]]


def layer_of(page: str, eps: float) -> tuple[list[pd.DataFrame], list[Axis]]:
    """Return the tables of a layer, and its axes, each as its height and drawing function."""
    best, errors = ud.optimal_clipping(BUSES, eps), compared_errors(eps)
    clipped: Axis = (1.5, lambda part: show_samples(part, best))
    compared: Axis = (1.3, lambda part: show_bars(part, errors, ERROR))
    curve: Axis = (1.6, lambda part: show_curve(part, eps))
    plain: Axis = (0.8, lambda part: show_releases(part, "no clipping"))
    after: Axis = (0.8, lambda part: show_releases(part, "best clipping"))
    tables = [*samples(best), *bars(errors)]
    releases = [*plain_releases(eps), *best_releases(eps)]
    if page == "setup":
        axes = [(1.4, show_samples), (1.3, show_ranges_of_mean), (1.0, plain[1])]
        return [*samples(None), *ranges_of_mean(), *plain_releases(eps)], axes
    if page == "lemma":
        off_centre = shifted_clipping(float(ud.threshold(BUSES, eps)), share=0.2)
        offset = offset_errors(off_centre, eps)
        return [*samples(off_centre), *bars(offset)], [
            (1.5, lambda part: show_samples(part, off_centre)),
            (1.4, lambda part: show_bars(part, offset, ERROR)),
        ]
    if page == "akmv":
        cap = drawn_cap(eps)
        return [*capped(eps), *best_releases(eps)], [
            (1.3, lambda part: show_sums(part, cap)),
            (0.7, lambda part: show_law(part, cap)),
            (0.6, lambda part: show_releases(part, "AKMV", with_density=False)),
            after,
        ]
    if page == "kkt":
        axes = [curve, (1.4, lambda part: show_prices(part, eps))]
        return [*error_curve(eps), *prices(eps)], axes
    if page == "optimum":
        axes = [clipped, compared, curve, plain, after]
        return [*tables, *error_curve(eps), *releases], axes
    return [*tables, *releases], [clipped, compared, plain, after]


def draw(page: str, eps: float = 0.8) -> pd.DataFrame:
    """Draw the layer of a page, and return its numbers.

    Parameters
    ----------
    page : str
        "index", "setup", "lemma", "optimum", "kkt" or "akmv".
    eps : float
        Privacy budget.

    Returns
    -------
    pandas.DataFrame
        One row per mark: its part of the picture, its lane, its start and end, and the height of
        points on a curve.
    """
    tables, axes = layer_of(page, eps)
    table = pd.concat(tables, ignore_index=True).dropna(axis="columns", how="all")
    heights = [height for height, _ in axes]
    size = (5.6, 1.15 * sum(heights) + 0.35 * len(axes))
    _, grid = plt.subplots(len(axes), 1, figsize=size, height_ratios=heights)
    for ax, (_, show) in zip(grid, axes, strict=True):
        show(Part(ax, table))
    return table
