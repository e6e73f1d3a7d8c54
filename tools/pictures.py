"""Compare the data of a figure with the tables that its page offers for it.

`recorder.py` records the figures while a chapter runs. Each curve, bar, band and group of points
must be in a table that the page offers below the figure: in the rows and columns that its label
names, and in the unit of the axis. A label names a column by the column's name, or by a text in
curved quotation marks in its description in `datapackage.json`; it names rows by a text in them, or
as in "ε = 0.5". The title of the axes may also name rows. A curve without a label has the name of a
curve of its colour.

A table with the column `rank` has two rows, of different ranks, for a budget at which a threshold
may jump. A line must go from one rank to the next only there, so that a jump is vertical or a gap.

Lines across the whole axes are not compared unless their label names rows or columns; neither are
one or two unnamed points, which mark a place.
"""

import re
from collections import defaultdict
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd

from .execute import look_the_same
from .ext import recorded

ROUNDING = 5.1e-6
"""Tables have six significant digits."""
MAX_MARKS = 2
"""Up to this number of points without a name are marks, which are not compared."""
FEWEST_POINTS = 5
"""A curve with more points than its table must pass through at least this many stored ones."""
BOX_TOLERANCE = 0.006
"""Tolerance for the share below the end of a box, from a table of hundredths."""
KEYS = {"eps", "rank", "seed", "trials"}
"""Columns that identify a row."""
GREEK = {"ε": "eps", "δ": "delta", "ρ": "rho"}  # noqa: RUF001
DATA = {"x", "x_low", "x_high", "y", "y_low", "y_high"}
BLACK = "#000000"
UNNAMED = re.compile(r"_(?:child|container|nolegend_)?\d*|None|")


# --- Names ----------------------------------------------------------------------------------------


def words(text):
    """Return the words and numbers of a name, spelled as in column names."""
    text = re.sub(r"['\u2019]s\b", "", str(text).lower())
    for letter, name in GREEK.items():
        text = text.replace(letter, name)
    return re.findall(r"\d+(?:\.\d+)?|[^\W\d_]+", text)


def contains(text, name):
    """Whether a text contains a name, as whole words."""
    return f" {' '.join(words(name))} " in f" {' '.join(words(text))} " and bool(words(name))


def longest_names(text, names):
    """Return the keys of the longest names that a text contains."""
    lengths = [(len(words(name)), key) for key, name in names if contains(text, name)]
    return list(dict.fromkeys(key for length, key in lengths if length == max(lengths)[0]))


def unit(text):
    """Return the unit in brackets at the end of an axis label; "1" if there is none."""
    brackets = re.findall(r"\(([^():]*)\)", text)
    last = brackets[-1].partition(";")[0] if brackets else "no unit"
    return "1" if last == "no unit" else last


# --- Tables ---------------------------------------------------------------------------------------


@dataclass
class Table:
    """A table, with the description and the unit of each column."""

    name: str
    frame: pd.DataFrame
    about: dict

    @classmethod
    def stored(cls, name):
        """Read a table of the book."""
        about = {f["name"]: (f["description"], f.get("unit", "")) for f in recorded.fields(name)}
        return cls(name, pd.read_csv(recorded.DATA / f"{name}.csv"), about)

    def __post_init__(self):
        self.numeric = [name for name in self.frame if self.about[name][1]]
        self.measured = [name for name in self.numeric if name not in KEYS]
        self.texts = [name for name in self.frame if not self.about[name][1]]

    def columns_named(self, text):
        """Return the columns that a text names."""
        quoted = [
            (c, name) for c in self.numeric for name in re.findall("“(.+?)”", self.about[c][0])
        ]
        by_name = [(c, c) for c in self.measured]
        return longest_names(text, [*by_name, *quoted]) or [
            c for c, _ in by_name if contains(c, text)
        ]

    def names_only_rows(self, text):
        """Whether the name of a row contains that of a column, as "OPT-worst-case" does."""
        values = {value for column in self.texts for value in self.frame[column].dropna()}
        rows = longest_names(text, zip(values, values, strict=True))
        columns = self.columns_named(text)
        return any(contains(row, column) and row != column for row in rows for column in columns)

    def conditions(self, text):
        """Return the rows that a text names, by the column with the text or the number."""
        conditions = {}
        for column in self.texts:
            values = self.frame[column].dropna().unique()
            if named := longest_names(text, zip(values, values, strict=True)):
                conditions[column] = self.frame[column].isin(named)
        for column in self.numeric:
            number = re.search(rf"\b{re.escape(column)} (\d+(?:\.\d+)?)\b", " ".join(words(text)))
            if number:
                tolerance = 0.501 * 10.0 ** -len(number[1].partition(".")[2])
                conditions[column] = (self.frame[column] - float(number[1])).abs() <= tolerance
        return {column: rows for column, rows in conditions.items() if rows.any()}

    def rows(self, texts, beside):
        """Return the rows that texts name, or that the texts beside the curve name unanimously."""
        conditions = {}
        for text in texts:
            conditions = self.conditions(text) | conditions
        others = [self.conditions(text) for text in beside]
        for column in {column for other in others for column in other} - {*conditions}:
            candidates = [other[column] for other in others if column in other]
            if all(rows.equals(candidates[0]) for rows in candidates):
                conditions[column] = candidates[0]
        return self.frame[np.logical_and.reduce([[True] * len(self.frame), *conditions.values()])]

    def standard_error_column(self, column):
        """Return the name of the column with the standard errors of a column, or None."""
        start = f"Standard error of `{column}`"
        return next((c for c in self.numeric if self.about[c][0].startswith(start)), None)

    def units(self, column):
        """Return the units of a column; rows may have different ones."""
        return {part.partition(" for ")[0].strip() for part in self.about[column][1].split(";")}


# --- What is drawn --------------------------------------------------------------------------------


def is_named(curve):
    """Whether a curve has a name from its cell; matplotlib's own begin with an underscore."""
    return not UNNAMED.fullmatch(curve["label"])


def merged(curves):
    """Yield curves; single points and bars with the same name, or the same fill, are merged."""
    groups = defaultdict(list)
    for i, curve in enumerate(curves):
        single = len(curve["x"]) == 1 and curve["kind"] in ("line", "bars")
        appearance = curve.get("fill"), curve["look"]["color"]
        name = curve["label"] if is_named(curve) else appearance
        groups[(curve["kind"], name) if single else i].append(curve)
    for group in groups.values():
        data = {key: [x for curve in group for x in curve[key]] for key in DATA & group[0].keys()}
        marks = {} if is_named(group[0]) or len(group) == 1 else {"kind": "marks"}
        yield group[0] | data | marks


def is_compared(curve):
    """Whether a curve has data and is not just a mark or a handle for the legend."""
    if curve["kind"] == "bars" and curve["x"] in (curve.get("x_low"), []):
        return False
    if curve["kind"] in ("line", "marks", "level") and not is_named(curve):
        return len(curve["x"]) > MAX_MARKS
    return bool(curve["y"])


def names_of(curve, axes, figure):
    """Return the possible names of a curve: its own, or those of similar curves."""
    if is_named(curve):
        return [curve["label"].lstrip("_")]
    color = curve["look"]["color"]
    similar = [other for other in axes["curves"] if other["look"]["color"] == color]
    of_all_axes = [other for ax in figure["axes"] for other in ax["curves"]]
    similar += [other for other in of_all_axes if other["look"] == curve["look"]]
    names = [other["label"].lstrip("_") for other in similar if is_named(other)]
    names += [text["label"] for text in axes["texts"] if text["color"] == color != BLACK]
    return list(dict.fromkeys(names))


def axis_name(which, axes, figure):
    """Return the label of an axis; if axes share it, only one of them may have the label."""
    key = f"{which}label"
    return next(filter(None, [axes[key], figure[key], *(ax[key] for ax in figure["axes"])]), "")


def ticks_of(which, axes, figure):
    """Return the tick labels of an axis, by their positions, if they are names."""
    for ax in [axes, *figure["axes"]]:
        ticks = {float(position): name for position, name in ax["ticks"][which].items() if name}
        if any(is_name(name, position) for position, name in ticks.items()):
            return ticks
    return {}


def is_name(text, position):
    """Whether a tick label is a name, or a number that differs from its position."""
    try:
        return float(text.replace("\N{MINUS SIGN}", "-")) != round(position, 9)
    except ValueError:
        return not re.match(r"\$.*\$$|.*%$", text)


class Drawn:
    """A curve as it is drawn, with the texts around it."""

    def __init__(self, curve, axes, figure):
        self.kind, self.label, self.named = curve["kind"], curve["label"], is_named(curve)
        is_level = "y_low" not in curve and bool(ticks_of("y", axes, figure))
        is_horizontal = "x_low" in curve or is_level
        self.along, self.across = ("x", "y") if is_horizontal else ("y", "x")
        self.style = curve["look"].get("style", "")
        self.names = names_of(curve, axes, figure)
        self.axis = {which: axis_name(which, axes, figure) for which in "xy"}
        self.title, self.texts = axes["title"], [text["label"] for text in axes["texts"]]
        self.ticks = ticks_of(self.across, axes, figure)
        self.rows = ticks_of(self.along, axes, figure)
        self.unitless = self.kind == "histogram" and not axes["ticks"][self.along]
        edges = [key for end in ("", "_low", "_high") if (key := self.along + end) in curve]
        data = np.array([curve[key] for key in (self.across, *edges)], float)
        is_finite = np.isfinite(data).all(axis=0)
        self.positions, *self.edges = data[:, is_finite]
        self.next_to = np.diff(np.flatnonzero(is_finite)) == 1
        """Whether a line joins each point to the next one, without a gap between them."""

    def columns(self, table, name):
        """Return the columns that may hold a curve with this name; none if it names no column."""
        columns = [] if table.names_only_rows(name) else table.columns_named(name)
        if columns and not self.named:
            # A curve with the colour of "Laplace" may be "Laplace, projected".
            return [
                column for column in table.measured if any(contains(column, x) for x in columns)
            ]
        if not columns and table.conditions(name):
            return table.columns_named(self.title) or table.measured
        return columns

    def searches(self, tables):
        """Yield the searches for the curve, by each of its names."""
        for table in tables:
            named = [
                (name, columns) for name in self.names if (columns := self.columns(table, name))
            ]
            if not named and not self.named:
                named = [("", table.measured)]
            for name, columns in named:
                yield Search(self, table, table.rows([name, self.title], self.texts), columns, name)

    def find(self, tables):
        """Return the searches that find the curve, with the units."""
        matches = [(search, match) for search in self.searches(tables) for match in search.find()]
        if not matches and self.kind == "bars" and len(self.edges) == 2:
            # For stacked bars, the stored number is the length.
            self.edges = [self.edges[0] - self.edges[1]]
            return self.find(tables)
        if not matches and self.kind == "marks" and len(self.positions) > 1:
            per_mark = [self.mark(i).find(tables) for i in range(len(self.positions))]
            return [match for group in per_mark for match in group] if all(per_mark) else []
        return matches

    def is_joined(self):
        """Whether a line joins its points."""
        return self.kind in ("line", "band") and not self.style.startswith(("None", " "))

    def is_barcode(self):
        """Whether these are equal strokes in a row with a name."""
        strokes = self.kind == "segments" and not any(np.ptp(edge) for edge in self.edges)
        return strokes and self.row() in self.rows

    def row(self):
        """Return the position of the row of strokes."""
        return round(float(np.mean(self.edges)), 9)

    def mark(self, i):
        """Return one of several marks."""
        mark = copy(self)
        mark.positions, mark.edges = self.positions[[i]], [edge[[i]] for edge in self.edges]
        return mark

    def __str__(self):
        what = {"bars": "set of bars", "error bars": "set of points", "marks": "set of marks"}
        what = what.get(self.kind, self.kind)
        if self.named:
            return f"the {what} labelled {self.label.removeprefix('_')!r}"
        return f"the {what} without a label, of {len(self.positions)} points,"


# --- Searching ------------------------------------------------------------------------------------


def close(drawn, stored, slack=ROUNDING):
    """Return a matrix: whether each number drawn equals each number stored, up to rounding."""
    drawn, stored = np.asarray(drawn, float)[:, None], np.asarray(stored, float)[None]
    tiny = 1e-9 * np.nanmax(np.abs(stored), initial=0)
    return np.abs(drawn - stored) <= slack * np.abs(stored) + tiny


def are_among(drawn, stored, tolerance):
    """Whether each number drawn is among the stored ones, up to rounding."""
    is_finite = np.isfinite(stored)
    order = np.argsort(stored[is_finite])
    stored, tolerance = (
        stored[is_finite][order],
        tolerance[is_finite][order] + 1e-9 * np.abs(stored[is_finite]).max(initial=0),
    )
    if not len(stored):
        return False
    index = np.searchsorted(stored, drawn)
    neighbours = [np.clip(index + step, 0, len(stored) - 1) for step in (-1, 0)]
    return bool(
        np.logical_or(*(np.abs(drawn - stored[i]) <= tolerance[i] for i in neighbours)).all()
    )


class Search:
    """A search for a curve in some rows and columns of a table."""

    def __init__(self, drawn, table, frame, columns, name):
        self.drawn, self.table, self.frame, self.columns = drawn, table, frame, columns
        self.name = name
        groups = frame.groupby(table.texts, dropna=False).ngroup() if table.texts else None
        # The points of a line are in one group of rows; bars and single points may be in several.
        grouped = groups is not None and drawn.is_joined()
        codes = groups.to_numpy() if grouped else np.zeros(len(frame), int)
        self.groups = [codes == code for code in np.unique(codes)]
        self.position_columns = list(self.all_position_columns())

    def all_position_columns(self):
        """Yield the columns that hold the positions of all points, with the matching rows."""
        for column in self.table.numeric:
            stored = self.frame[column].to_numpy()
            if are_among(self.drawn.positions, stored, ROUNDING * np.abs(stored)):
                yield column, partial(close, self.drawn.positions, stored)
        if self.drawn.kind == "level":
            yield None, partial(np.ones, (1, len(self.frame)), bool)
        for rows in self.in_order():
            yield None, partial(np.equal, rows[:, None], np.arange(len(self.frame)))

    def in_order(self):
        """Yield the rows of the points if these are in the order of the rows, or the reverse."""
        positions, n = self.drawn.positions, len(self.frame)
        ticks = sorted(self.drawn.ticks)
        if len(ticks) == n and {*np.round(positions)} <= {*ticks}:
            rank = np.searchsorted(ticks, np.round(positions))
            yield from filter(self.ticks_agree, (rank, n - 1 - rank))
        elif len(positions) == n and np.allclose(np.diff(np.sort(positions)), 1):
            rank = np.argsort(np.argsort(positions, kind="stable"))
            yield from (rank, n - 1 - rank)

    def ticks_agree(self, rows):
        """Whether the tick labels are names of the rows, or numbers in them."""
        for position, row in zip(self.drawn.positions, rows, strict=True):
            name, row = self.drawn.ticks.get(round(position), ""), self.frame.iloc[row]
            texts = row[self.table.texts]
            if texts.size and re.search(r"[^\W\d]", name):
                if not any(contains(name, text) or contains(text, name) for text in texts):
                    return False
            elif (number := re.match(r"\d+", name)) and float(number[0]) not in [*row]:
                return False
        return True

    def expressions(self, column, end):
        """Yield what may be drawn of a column: itself, or its ratio to one that the axis names.

        A name may contain "twice". An end of a band or bar may be two standard errors away.
        """
        frame, units = self.frame, self.table.units(column)
        values = frame[column] * (2 if "twice" in words(self.name) else 1)
        below = self.table.columns_named(self.drawn.axis[self.drawn.along].partition(" / ")[2])
        yield values, ROUNDING * values.abs(), units
        for other in below:
            ratio = values / frame[other]
            yield ratio, 2 * ROUNDING * ratio.abs(), {"1"}
        if end and (error := self.table.standard_error_column(column)):
            for factor in (-2, 2):
                tolerance = ROUNDING * (values.abs() + 2 * frame[error])
                yield values + factor * frame[error], tolerance, units

    def matches(self, edge, column, end):
        """Yield the units of an edge of the curve and its column of positions, for each match."""
        for stored, tolerance, units in self.expressions(column, end):
            if stored.isna().all():
                continue
            tolerance = tolerance.to_numpy() + 1e-9 * stored.abs().max()
            stored = stored.to_numpy()
            edge = edge * np.nanmax(stored) / edge.max() if self.drawn.unitless else edge
            if self.position_columns and are_among(edge, stored, tolerance):
                same = np.abs(edge[:, None] - stored) <= tolerance
                for position_column, matching_rows in self.position_columns:
                    both = same & matching_rows()
                    if any(both[:, group].any(axis=1).all() for group in self.groups):
                        yield units, position_column

    def slopes(self):
        """Return the positions from which the line slopes to another rank; none if it is correct.

        Where one rank ends and the next begins, both have a row. So two joined points must have a
        rank in common, or the same position.
        """
        if "rank" not in self.frame or not self.drawn.is_joined():
            return []
        slopes, (edge, *_) = [], self.drawn.edges
        ranks = self.frame["rank"].to_numpy()
        moves = ~close(self.drawn.positions[:-1], self.drawn.positions[1:]).diagonal()
        for column in self.columns:
            for stored, tolerance, _ in self.expressions(column, False):
                same = np.abs(edge[:, None] - stored.to_numpy()) <= tolerance.to_numpy()
                for position_column, matching_rows in self.position_columns:
                    rows = same & matching_rows()
                    if position_column in (None, "rank") or not rows.any(axis=1).all():
                        continue
                    possible = [{*ranks[row]} for row in rows]
                    rank_changes = np.array([a.isdisjoint(b) for a, b in pairwise(possible)])
                    slopes.append(
                        self.drawn.positions[:-1][rank_changes & moves & self.drawn.next_to]
                    )
        return min(slopes, key=len, default=[])

    def matches_of_denser(self, edge, column, end):
        """Yield matches of a curve with more points than the table, or several rows per point."""
        for stored, _, units in self.expressions(column, end):
            for position_column in self.table.numeric:
                if position_column != column and self.is_denser(
                    edge, stored.to_numpy(), position_column
                ):
                    yield units, position_column
                if position_column in dict(self.position_columns) and self.is_summary_of_rows(
                    edge, stored, position_column
                ):
                    yield units, position_column

    def is_summary_of_rows(self, edge, stored, position_column):
        """Whether the curve is the median, minimum or maximum of the rows at each position."""
        rows = stored.groupby(self.frame[position_column])
        if rows.size().min() < FEWEST_POINTS or rows.ngroups != len(edge):
            return False
        tolerance = 2 * ROUNDING
        return any(
            np.allclose(edge[np.argsort(self.drawn.positions)], summary, tolerance)
            for summary in (rows.median(), rows.min(), rows.max())
        )

    def is_denser(self, edge, stored, position_column):
        """Whether the curve has more points than the table, and passes through the stored ones."""
        x = self.frame[position_column].to_numpy()
        for group in self.groups:
            rows = group & np.isfinite(x) & np.isfinite(stored)
            if FEWEST_POINTS <= rows.sum() < len(edge) and self.passes_through(
                edge, x[rows], stored[rows]
            ):
                return True
        return False

    def passes_through(self, edge, x, y):
        """Whether the curve passes through stored points: each is between two of the curve's."""
        order = np.argsort(self.drawn.positions, kind="stable")
        line, edge = self.drawn.positions[order], edge[order]
        slack = ROUNDING * np.abs(x)
        first = np.searchsorted(line, x - slack) - 1
        last = np.searchsorted(line, x + slack, "right")
        neighbours = [edge[max(i, 0) : j + 1] for i, j in zip(first, last, strict=True)]
        if not all(values.size for values in neighbours):
            return False
        low, high = np.array([(values.min(), values.max()) for values in neighbours]).T
        slack = ROUNDING * np.abs(y) + 1e-9
        return bool(((low - slack <= y) & (y <= high + slack)).all())

    def find(self):
        """Return the units and columns of all matches; none if an edge of the curve has none."""
        units = []
        for i, edge in enumerate(self.drawn.edges):
            marks = not self.drawn.named and self.position_columns
            if np.ptp(edge) == 0 and len(edge) > 1 and (i or marks):
                continue  # the constant base of bars or bands, or the line that marks are on
            columns = dict.fromkeys([*self.columns, *(self.table.measured if i else [])])
            end = len(self.drawn.edges) > 1
            matches = [match for c in columns for match in self.matches(edge, c, end)]
            matches = matches or [
                match for c in columns for match in self.matches_of_denser(edge, c, end)
            ]
            if not matches:
                return []
            units += matches
        return units or [(None, None)]

    def difference(self):
        """Describe the first difference from the column that the curve should equal."""
        column, edge = self.columns[0], self.drawn.edges[0]
        (values, *_), *_ = self.expressions(column, False)
        message = f"is not in column {column!r} of data/{self.table.name}.csv"
        for position_column, matching_rows in self.position_columns:
            for i, rows in enumerate(matching_rows()):
                stored = values.to_numpy()[rows]
                if not close(edge[i : i + 1], stored, 2 * ROUNDING).any():
                    where = (
                        f"{position_column} = {self.drawn.positions[i]:.6g}"
                        if position_column
                        else f"point {i + 1}"
                    )
                    numbers = f"{edge[i]:.6g} drawn, {stored[0]:.6g} stored"
                    return f"{message} (first difference at {where}: {numbers})"
        return f"{message} (nor are its {self.drawn.across}, from {self.drawn.positions[0]:.6g} on)"


# --- Faults ---------------------------------------------------------------------------------------


def faults(figure, tables):
    """Yield a sentence for each curve that is not in the tables, and for each wrong name.

    Parameters
    ----------
    figure : dict
        As `recorder.describe` returns it.
    tables : list of Table
        The tables that the page offers below the figure.
    """
    for axes in figure["axes"]:
        for curve in filter(is_compared, merged(axes["curves"])):
            yield from faults_of_curve(Drawn(curve, axes, figure), tables)
        for text in axes["texts"]:
            yield from faults_of_name(text["label"], text["color"], axes["curves"])
    curves = [curve for axes in figure["axes"] for curve in axes["curves"]]
    for entry in figure["legend"]:
        yield from faults_of_entry(entry, curves)


def faults_of_curve(drawn, tables):
    """Yield the faults of a curve."""
    if drawn.kind == "boxes":
        yield from faults_of_boxes(drawn, tables)
        return
    if drawn.is_barcode():
        yield from faults_of_barcode(drawn, tables)
        return
    searches = list(drawn.searches(tables))
    if not searches and drawn.kind == "level":
        return
    if not searches:
        stored_in = ", ".join(f"data/{table.name}.csv" for table in tables)
        yield f"{drawn} names no column and no row of {stored_in or 'any table'}"
        return
    matches = drawn.find(tables)
    if not matches:
        yield f"{drawn} {searches[0].difference()}"
        return
    slopes = min((search.slopes() for search, _ in matches), key=len)
    if len(slopes):
        yield f"{drawn} slopes from {drawn.across} = {slopes[0]:.6g} to another rank"
    mismatches = []
    for search, (units, position_column) in matches:
        units_of_axes = [(drawn.along, units)] if units else []
        if position_column:
            units_of_axes.append((drawn.across, search.table.units(position_column)))
        mismatches.append(
            [(axis, units) for axis, units in units_of_axes if not fits(drawn.axis[axis], units)]
        )
    if all(mismatches):
        axis, units = min(mismatches, key=len)[0]
        stored_in = " or ".join(sorted(units))
        yield f"{drawn} is stored in {stored_in}, and its axis is {drawn.axis[axis]!r}"


def faults_of_boxes(drawn, tables):
    """Yield the faults of a box plot, whose ends must be quantiles at 1/2, 1/4, and so on."""
    levels = 0.5 ** np.arange(1, 11)
    levels = np.r_[levels, 1 - levels]
    for table in tables:
        if "share" not in table.numeric:
            continue
        rows = table.rows([drawn.ticks.get(round(drawn.positions[0]), ""), drawn.title], [])
        ends = np.ravel(drawn.edges)
        ends = ends[(rows.error.min() < ends) & (ends < rows.error.max())]
        shares = np.interp(ends, rows.error, rows.share)
        if ends.size and (np.abs(shares[:, None] - levels).min(axis=1) < BOX_TOLERANCE).all():
            return
    yield f"{drawn} does not end at quantiles of any table"


def faults_of_barcode(drawn, tables):
    """Yield the faults of strokes, which must be where the column that the row names is 1."""
    name = drawn.rows[drawn.row()]
    for table in tables:
        for column in table.columns_named(name):
            rows = table.frame[table.frame[column] == 1]
            if any(
                np.array_equal(np.sort(rows[x]), np.sort(drawn.positions)) for x in table.numeric
            ):
                return
    yield f"the strokes of {name!r} are not where its column is 1"


def fits(axis, units):
    """Whether the label of an axis has one of these units; an axis without a label fits any."""
    return not axis or unit(axis) in units or (" / U" in axis and "U" in units)


def faults_of_name(name, color, curves):
    """Yield the faults of a name beside a curve, which must be black or have the curve's colour."""
    named = filter(is_named, curves)
    colors = {curve["look"]["color"] for curve in named if curve["label"].lstrip("_") == name}
    if colors and color not in {*colors, BLACK}:
        yield f"the name {name!r} is {color}, and its curve is {' or '.join(sorted(colors))}"


def faults_of_entry(entry, curves):
    """Yield the faults of a legend entry, whose handle must look like the curve with its label."""
    looks = [curve["look"] for curve in curves if curve["label"] == entry["label"]]
    if not looks:
        yield f"nothing drawn has the legend's name {entry['label']!r}"
    elif not any(look_alike(entry["look"], look) for look in looks):
        yield f"what is named {entry['label']!r} does not look like its sample in the legend"


def look_alike(first, second):
    """Whether two looks have the same colour, and the same style if both have one."""
    return all(first[key] == second[key] for key in first.keys() & second.keys())


def differing(stored, fresh):
    """Return the positions, counted from 1, of the pictures that look different."""
    pairs = enumerate(zip(stored, fresh, strict=True), 1)
    return [number for number, (first, second) in pairs if not look_the_same(first, second)]


def offered(cells, number):
    """Return the tables that a page offers after a cell with a figure, before the next figure."""
    names = []
    for cell in cells[number + 1 :]:
        if any("image/png" in output.get("data", {}) for output in cell.get("outputs", [])):
            break
        if cell.cell_type == "markdown":
            names += re.findall(r"\]\(data/([^)]+)\.csv\)", cell.source)
    return list(dict.fromkeys(names))
