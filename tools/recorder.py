"""Record the data of a chapter's figures, in the chapter's own kernel, while its cells run.

`start` makes matplotlib record every figure just before it is rendered, without changing it; `take`
returns the records, as JSON, for `tools/pictures.py` to compare with the book's tables.
"""

import json
from functools import wraps

import numpy as np
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.collections import LineCollection, PatchCollection, PathCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle, StepPatch

FIGURES = []


def start():
    """Record each figure from now on, just before it is rendered."""
    draw = FigureCanvasBase.print_figure

    @wraps(draw)
    def record_and_draw(canvas, *args, **kwargs):
        FIGURES.append(describe(canvas.figure))
        return draw(canvas, *args, **kwargs)

    FigureCanvasBase.print_figure = record_and_draw


def take():
    """Return the figures recorded since the last call, as JSON."""
    records = json.dumps(FIGURES)
    FIGURES.clear()
    return records


def describe(figure):
    """Return what a figure contains: the entries of its legends, and the contents of each axes."""
    legends = [*figure.legends, *filter(None, (ax.get_legend() for ax in figure.axes))]
    return {
        "legend": [entry for legend in legends for entry in legend_entries(legend)],
        "xlabel": figure.get_supxlabel(),
        "ylabel": figure.get_supylabel(),
        "axes": [describe_axes(ax) for ax in figure.axes if ax.get_visible()],
    }


def legend_entries(legend):
    """Return each label in a legend with the look of its handle."""
    texts = [text.get_text() for text in legend.get_texts()]
    return [
        {"label": text, "look": look(handle)}
        for text, handle in zip(texts, legend.legend_handles, strict=True)
    ]


def describe_axes(ax):
    """Return the texts of an axes, and the data of everything drawn in its data coordinates."""
    return {
        "title": " ".join(filter(None, map(ax.get_title, ("left", "center", "right")))),
        "xlabel": ax.get_xlabel(),
        "ylabel": ax.get_ylabel(),
        "ticks": {
            "x": ticks(ax.xaxis),
            "y": ticks(ax.yaxis),
        },
        "texts": [
            {"label": text.get_text(), "color": to_hex(text.get_color())} for text in ax.texts
        ],
        "curves": [*in_containers(ax), *outside_containers(ax)],
    }


def ticks(axis):
    """Return the tick labels of an axis by their places; none if it has no labels."""
    names = [label.get_text() for label in axis.get_ticklabels()]
    return dict(zip(numbers(axis.get_ticklocs()), names, strict=True)) if any(names) else {}


def in_containers(ax):
    """Yield bars, and points with error bars."""
    for container in ax.containers:
        label = str(container.get_label())
        if isinstance(container, BarContainer):
            yield bars(container, label)
        elif isinstance(container, ErrorbarContainer):
            yield from error_bars(container, label)


def bars(container, label):
    """Return the ends of bars, along their axis."""
    boxes = [bar.get_bbox() for bar in container.patches]
    upright = container.orientation == "vertical"
    ends = [(box.y0, box.y1) if upright else (box.x0, box.x1) for box in boxes]
    places = [(box.x0 + box.x1) / 2 if upright else (box.y0 + box.y1) / 2 for box in boxes]
    low, high = np.reshape(ends, (-1, 2)).T
    along, across = ("y", "x") if upright else ("x", "y")
    fills = [look(bar) for bar in container.patches]
    return {
        "kind": "bars",
        "label": label,
        "look": fills[0] if fills else {},
        across: numbers(places),
        along: numbers(high),
        f"{along}_low": numbers(low),
    }


def error_bars(container, label):
    """Yield points with the ends of their error bars."""
    line, _, collections = container.lines
    for collection in collections:
        segments = np.array(collection.get_segments()).reshape(-1, 2, 2)
        upright = np.array_equal(segments[:, 0, 0], segments[:, 1, 0])
        along, across = ("y", "x") if upright else ("x", "y")
        axis = "xy".index(along)
        low, high = segments[:, :, axis].T
        centre = (low + high) / 2
        if line is not None:
            centre = line.get_ydata() if upright else line.get_xdata()
        yield {
            "kind": "error bars",
            "label": label,
            "look": look(line if line is not None else collection),
            across: numbers(segments[:, 0, 1 - axis]),
            along: numbers(centre),
            f"{along}_low": numbers(low),
            f"{along}_high": numbers(high),
        }


def outside_containers(ax):
    """Yield everything drawn in data coordinates that is not in a container."""
    contained = {id(part) for container in ax.containers for part in container.get_children()}
    for artist in [*ax.lines, *ax.collections, *ax.patches]:
        if id(artist) in contained or not artist.get_visible():
            continue
        record = {"label": str(artist.get_label()), "look": look(artist)}
        for data in [*parts(artist, ax)] or [{"kind": "nothing", "x": [], "y": []}]:
            yield record | data


def parts(artist, ax):
    """Yield the data of a line, a band, points, segments, a histogram or a patch."""
    if isinstance(artist, Line2D):
        # A line across the whole axes is not in data coordinates.
        x, y = artist.get_data()
        if artist.get_transform() == ax.transData:
            yield {"kind": "line", "x": numbers(x), "y": numbers(y), "fill": fill(artist)}
        elif artist.get_transform() == ax.get_yaxis_transform("grid"):
            yield {"kind": "level", "x": [0.0], "y": numbers(y)[:1]}
    elif isinstance(artist, PathCollection):
        x, y = np.reshape(artist.get_offsets(), (-1, 2)).T
        yield {"kind": "points", "x": numbers(x), "y": numbers(y)}
    elif isinstance(artist, LineCollection):
        segments = np.array(artist.get_segments()).reshape(-1, 2, 2)
        yield {"kind": "segments", **ends(segments)}
    elif isinstance(artist, PolyCollection):
        for path in artist.get_paths():
            yield {"kind": "band", **band(path.vertices)}
    elif isinstance(artist, StepPatch):
        values, edges, baseline = artist.get_data()
        heights = values - (0 if baseline is None else baseline)
        yield {"kind": "histogram", "x": numbers(edges[:-1]), "y": numbers(heights)}
    elif isinstance(artist, PatchCollection):
        boxes = [path.get_extents() for path in artist.get_paths()]
        x_low, x_high = ([getattr(box, end) for box in boxes] for end in ("x0", "x1"))
        y = [(box.y0 + box.y1) / 2 for box in boxes]
        yield {"kind": "boxes", "x": numbers(x_high), "x_low": numbers(x_low), "y": numbers(y)}
    elif not isinstance(artist, Rectangle):
        yield {"kind": type(artist).__name__, "x": [], "y": []}


def ends(segments):
    """Return the ends of vertical or horizontal segments."""
    if np.array_equal(segments[:, 0, 0], segments[:, 1, 0]):
        (low, high), place, along, across = segments[:, :, 1].T, segments[:, 0, 0], "y", "x"
    else:
        (low, high), place, along, across = segments[:, :, 0].T, segments[:, 0, 1], "x", "y"
    return {across: numbers(place), along: numbers(high), f"{along}_low": numbers(low)}


def band(vertices):
    """Return the edges of a band of `fill_between`; its path returns along the second edge."""
    n = (len(vertices) - 3) // 2
    outward, back = vertices[1 : n + 1], vertices[n + 2 : 2 * n + 2][::-1]
    low, high = np.minimum(outward[:, 1], back[:, 1]), np.maximum(outward[:, 1], back[:, 1])
    return {"x": numbers(outward[:, 0]), "y": numbers(high), "y_low": numbers(low)}


def look(artist):
    """Return the features that distinguish a curve: its colour and, for a line, its style."""
    if isinstance(artist, Line2D):
        dashes = artist.get_linestyle() if len(np.atleast_1d(artist.get_xdata())) != 1 else ""
        return {
            "color": to_hex(artist.get_color()),
            "style": f"{dashes} {artist.get_marker()} {artist.get_linewidth():g}",
        }
    colors = [get() for get in (artist.get_facecolor, artist.get_edgecolor)]
    colors = [color for color in map(np.atleast_2d, colors) if color.size and color[0][3:].any()]
    return {"color": to_hex(colors[0][0]) if colors else ""}


def fill(line):
    """Return the face colour of a line's markers if it differs from the line's colour."""
    inside, around = to_hex(line.get_markerfacecolor()), to_hex(line.get_color())
    return inside if inside != around else ""


def numbers(values):
    """Return numbers for JSON, with None for those that are not finite."""
    values = np.atleast_1d(np.asarray(np.ma.filled(np.ma.asarray(values, float), np.nan)))
    return [float(value) if np.isfinite(value) else None for value in values]
