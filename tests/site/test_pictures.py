"""The checker of pictures finds each kind of fault in a small figure, and none in a correct one."""

import base64
import io
import json
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from tools import pictures, recorder
from tools.ext.contents import BOOK, page, pages

EPS = np.geomspace(0.1, 2, 8)
ABOUT = {
    "collection": ("The users", ""),
    "eps": ("The budget", "1"),
    "opt": ("Error of clipping, “the optimum”", "km/h"),
    "opt_se": ("Standard error of `opt`", "km/h"),
    "Laplace": ("Error of Laplace", "km/h"),
}


def table():
    """Return two errors for two collections, written with six digits and read again."""
    parts = [
        {"collection": name, "eps": EPS, "opt": k / EPS**0.5, "opt_se": EPS / 9, "Laplace": k / EPS}
        for name, k in (("geometric", 10), ("extreme", 7))
    ]
    text = pd.concat(map(pd.DataFrame, parts)).to_csv(index=False, float_format="%.6g")
    return pictures.Table("errors", pd.read_csv(io.StringIO(text)), ABOUT)


def draw(change):
    """Draw two panels, each with two curves and a band; `change` may modify them."""
    parts = [("geometric", 10 / EPS**0.5, 10 / EPS), ("extreme", 7 / EPS**0.5, 7 / EPS)]
    fig, axes = plt.subplots(2, 1)
    for ax, (name, opt, laplace) in zip(axes, parts, strict=True):
        ax.plot(EPS, opt, label="the optimum")
        ax.plot(EPS, laplace, label="Laplace")
        ax.fill_between(EPS, opt - 2 * EPS / 9, opt + 2 * EPS / 9, color="C0", alpha=0.3)
        ax.set(title=f"{name} collection", xlabel="budget (no unit)", ylabel="error (km/h)")
        ax.legend()
        ax.axhline(3)
    change(*axes)
    return fig


def faults_after(change, make_table=table):
    fig = draw(change)
    try:
        return list(pictures.faults(json.loads(json.dumps(recorder.describe(fig))), [make_table()]))
    finally:
        plt.close(fig)


def swap_curves(ax, _):
    first, second, *_ = ax.lines
    data = first.get_ydata()
    first.set_ydata(second.get_ydata())
    second.set_ydata(data)


def swap_panels(ax, other):
    ax.set_title("extreme collection")
    other.set_title("geometric collection")


def swap_names(ax, _):
    ax.legend(["Laplace", "the optimum"])


def swap_labels(ax, _):
    ax.lines[0].set_label("Laplace")
    ax.lines[1].set_label("the optimum")
    ax.legend()


def other_unit(ax, _):
    for line in ax.lines[:2]:
        line.set_ydata(line.get_ydata() / 3.6)
    ax.set_ylabel("error (m/s)")


def other_unit_of_x(ax, _):
    for line in ax.lines[:2]:
        line.set_xdata(100 * line.get_xdata())


def other_point(ax, _):
    line = ax.lines[1]
    line.set_ydata(np.r_[line.get_ydata()[:-1], 5.01])


def other_edge(ax, _):
    ax.collections[0].remove()
    opt = 10 / EPS**0.5
    ax.fill_between(EPS, opt - 2 * EPS / 9, opt + 3 * EPS / 9, color="C0", alpha=0.3)


def not_twice(ax, _):
    ax.plot(EPS, 20.1 / EPS**0.5, label="twice the optimum")


def nameless(ax, _):
    ax.plot(EPS, EPS, color="k")


def named_beside(ax, _):
    ax.text(1, 20, "Laplace", color="C0")


FAULTS = {
    swap_curves: "the line labelled 'the optimum' is not in column 'opt' of data/errors.csv "
    "(first difference at eps = 0.1: 100 drawn, 31.6228 stored)",
    swap_panels: "the line labelled 'the optimum' is not in column 'opt'",
    swap_names: "what is named 'Laplace' does not look like its sample in the legend",
    swap_labels: "the line labelled 'Laplace' is not in column 'Laplace'",
    other_unit: "the line labelled 'the optimum' is not in column 'opt'",
    other_unit_of_x: "the line labelled 'the optimum' is not in column 'opt'",
    other_point: "the line labelled 'Laplace' is not in column 'Laplace' of data/errors.csv "
    "(first difference at eps = 2: 5.01 drawn, 5 stored)",
    other_edge: "the band without a label, of 8 points, is not in column 'opt'",
    not_twice: "the line labelled 'twice the optimum' is not in column 'opt' of data/errors.csv "
    "(first difference at eps = 0.1: 63.5618 drawn, 63.2456 stored)",
    nameless: "the line without a label, of 8 points, is not in column",
    named_beside: "the name 'Laplace' is #1f77b4, and its curve is #ff7f0e",
}


def test_a_correct_figure_has_no_fault():
    assert faults_after(lambda *_: None) == []


@pytest.mark.parametrize("change", FAULTS)
def test_a_fault_is_described_in_a_sentence(change):
    assert faults_after(change)[0].startswith(FAULTS[change])


def test_the_unit_of_an_axis_must_be_that_of_the_column():
    def rename(*axes):
        for ax in axes:
            ax.set_ylabel("error (m/s)")

    expected = "the line labelled 'the optimum' is stored in km/h, and its axis is 'error (m/s)'"
    assert faults_after(rename)[0] == expected


def test_a_label_without_a_column_or_row_is_a_fault():
    (sentence, *_) = faults_after(lambda ax, _: ax.lines[0].set_label("the best"))
    assert sentence == "the line labelled 'the best' names no column and no row of data/errors.csv"


def test_a_ratio_is_relative_to_the_column_that_the_axis_names():
    def divide(*axes, by="Laplace"):
        for ax in axes:
            ax.collections[0].remove()
            laplace = ax.lines[1].get_ydata()
            for line in ax.lines[:2]:
                line.set_ydata(line.get_ydata() / laplace)
            ax.set_ylabel(f"error / {by}'s (no unit)")

    assert faults_after(divide) == []
    assert (
        "is not in column 'opt'" in faults_after(lambda *axes: divide(*axes, by="the optimum"))[0]
    )


@pytest.mark.parametrize(("level", "is_correct"), [(7.4, False), (7, True)], ids=["off", "stored"])
def test_a_horizontal_line_labelled_by_a_row_must_be_at_a_value_of_that_row(level, is_correct):
    extended = table()
    extended.frame.loc[len(extended.frame)] = ["extreme", 1, 7, 0.1, 7]
    sentences = faults_after(lambda _, ax: ax.axhline(level, label="extreme"), lambda: extended)
    assert (sentences == []) == is_correct


@pytest.fixture
def bars():
    """A table and axes for three bars, one per method, named at the ticks."""
    frame = pd.DataFrame({"method": ["one", "two", "three"], "error": [3.0, 1.0, 2.0]})
    fig, ax = plt.subplots()
    yield pictures.Table("bars", frame, {"method": ("", ""), "error": ("", "km/h")}), ax
    plt.close(fig)


@pytest.mark.parametrize(
    ("names", "lengths", "is_correct"),
    [
        (["one", "two", "three"], [3, 1, 2], True),
        (["three", "two", "one"], [2, 1, 3], True),
        (["one", "two", "three"], [3, 1, 2.01], False),
        (["one", "three", "two"], [3, 1, 2], False),
        (["three", "two", "one"], [3, 1, 2], False),
    ],
    ids=["as stored", "from below", "another length", "names swapped", "names reversed"],
)
def test_bars_must_have_the_names_of_their_rows(bars, names, lengths, is_correct):
    stored, ax = bars
    ax.barh(range(3), lengths, label="error")
    ax.set_yticks(range(3), names)
    ax.set_xlabel("error (km/h)")
    sentences = list(pictures.faults(recorder.describe(ax.figure), [stored]))
    assert (sentences == []) == is_correct


@pytest.mark.parametrize("swapped", [False, True], ids=["as stored", "swapped"])
def test_strokes_must_be_where_the_column_of_their_row_is_1(swapped):
    frame = pd.DataFrame({"n": [0, 1, 2, 3], "nobody": [1, 0, 0, 1], "one person": [0, 1, 1, 1]})
    stored = pictures.Table("codes", frame, dict.fromkeys(frame, ("", "1")))
    fig, ax = plt.subplots()
    for row, name in enumerate(["nobody", "one person"]):
        ax.vlines(frame.n[frame[name] == 1], -row - 0.4, -row + 0.4)
    ax.set_yticks([0, -1], ["one person", "nobody"] if swapped else ["nobody", "one person"])
    sentences = list(pictures.faults(recorder.describe(fig), [stored]))
    plt.close(fig)
    faults = [
        f"the strokes of {x!r} are not where its column is 1" for x in ("one person", "nobody")
    ]
    assert sentences == faults * swapped


def test_a_label_may_name_a_row_if_the_title_names_the_column():
    """In addition, points that no line joins may come from rows of several settings."""
    frame = pd.DataFrame({"rule": ["OPT-worst-case", "other"], "setting": ["a", "b"]})
    frame = pd.concat([frame, frame.assign(setting="c")], ignore_index=True)
    frame = frame.assign(eps=[1, 1, 2, 2], worst_case=[1.0, 2, 3, 4], average=[5.0, 6, 7, 8])
    about = {name: ("", "" if name in ("rule", "setting") else "1") for name in frame}
    fig, ax = plt.subplots()
    ax.set_title("average")
    ax.plot([1, 2], [5, 7], "o", label="OPT-worst-case")
    stored = [pictures.Table("rules", frame, about)]
    assert list(pictures.faults(recorder.describe(fig), stored)) == []
    ax.lines[0].set_linestyle("-")
    assert len(list(pictures.faults(recorder.describe(fig), stored))) == 1
    plt.close(fig)


BOTH_SIDES = [1.0, 1.5, 2.0, 2.0, 3.0], [4.0, 3.0, 2.0, 5.0, 4.0]
JUMPS = {
    "upright": (*BOTH_SIDES, True),
    "a gap": ([1.0, 1.5, 2.0, np.nan, 2.0, 3.0], [4.0, 3.0, 2.0, np.nan, 5.0, 4.0], True),
    "one side": ([1.0, 1.5, 2.0, 3.0], [4.0, 3.0, 5.0, 4.0], False),
    "neither side": ([1.0, 1.5, 3.0], [4.0, 3.0, 4.0], False),
    "from the wrong side": ([1.0, 1.5, 2.0, 2.0, 3.0], [4.0, 3.0, 5.0, 2.0, 4.0], False),
}


@pytest.mark.parametrize(("eps", "error", "is_correct"), JUMPS.values(), ids=JUMPS)
def test_a_jump_must_be_vertical_or_a_gap(eps, error, is_correct):
    """Points without a line may be on one side only."""
    budgets, errors = BOTH_SIDES
    frame = pd.DataFrame({"eps": budgets, "rank": [2, 2, 2, 1, 1], "error": errors})
    about = {"eps": ("", "1"), "rank": ("", "1"), "error": ("", "km/h")}
    fig, ax = plt.subplots()
    ax.plot(eps, error, label="error")
    ax.plot(eps, error, "o", label="error")
    ax.set(xlabel="budget (no unit)", ylabel="error (km/h)")
    figure = json.loads(json.dumps(recorder.describe(fig)))
    plt.close(fig)
    fault = ["the line labelled 'error' slopes from x = 1.5 to another rank"]
    faults = list(pictures.faults(figure, [pictures.Table("jumps", frame, about)]))
    assert faults == fault * (not is_correct)


def picture(color):
    fig = draw(lambda ax, _: ax.lines[0].set_color(color))
    file = io.BytesIO()
    fig.savefig(file, format="png", dpi=60)
    plt.close(fig)
    return {"image/png": base64.b64encode(file.getvalue()).decode()}


def test_a_changed_colour_is_found_by_comparing_pictures():
    first = picture("C0")
    assert pictures.differing([first, first], [first, picture("C2")]) == [2]
    assert pictures.differing([first], [picture("C0")]) == []


def test_figures_are_recorded_when_they_are_drawn(monkeypatch):
    canvas = recorder.FigureCanvasBase
    monkeypatch.setattr(canvas, "print_figure", canvas.print_figure)
    recorder.start()
    picture("C0")
    (figure,) = json.loads(recorder.take())
    assert [ax["title"] for ax in figure["axes"]] == ["geometric collection", "extreme collection"]
    assert json.loads(recorder.take()) == []


def test_a_figure_is_compared_with_the_tables_up_to_the_next_figure():
    text = "[One (CSV)](data/one.csv), [two](data/two.csv)"
    prose = SimpleNamespace(cell_type="markdown", source=text)
    image = SimpleNamespace(cell_type="code", get=lambda *_: [{"data": {"image/png": ""}}])
    prose.get = lambda *_: []
    assert pictures.offered([image, prose, image, prose], 0) == ["one", "two"]
    assert pictures.offered([image, image, prose], 0) == []


def test_every_picture_of_the_book_is_in_a_chapter_that_is_executed():
    """In addition, it offers a table, with which it can be compared."""
    n_pictures = 0
    for name in pages():
        for number, cell in enumerate(page(name).cells):
            if any("image/png" in output.get("data", {}) for output in cell.get("outputs", [])):
                assert (BOOK / f"{name}.ipynb").exists()
                assert pictures.offered(page(name).cells, number), name
                n_pictures += 1
    assert n_pictures > 40
