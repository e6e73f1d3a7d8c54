"""How tables are written, with their records; and that mechanisms can be told apart."""

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from matplotlib.colors import to_hex, to_rgb
from plotting import LOOKS
from provenance import write_table

import userdp as ud
from tools.ext.tables import TABLE, tidy_table

FRAME = pd.DataFrame({"mechanism": ["a", "b"], "error": [2.0, 3.0], "share": [-0.0, 1 / 3]})


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


def test_tables_have_six_digits_no_negative_zero_and_an_index_if_named(data):
    write_table(FRAME, "t-1", made_by=ud.akmv)
    assert (data / "t-1.csv").read_text() == "mechanism,error,share\na,2,0\nb,3,0.333333\n"
    write_table(FRAME[["error"]], "t", made_by=ud.akmv, index="n")
    assert (data / "t.csv").read_text() == "n,error\n0,2\n1,3\n"


@pytest.mark.parametrize(
    ("value", "reference", "written"),
    [
        *((-8.4e-17, -4.6, 0), (0.9e-12, 1, 0), (1.1e-12, 1, 1.1e-12), (1e-9, 0, 1e-9)),
        (5e-22, 1e-20, 5e-22),  # small, but not relative to its reference
    ],
)
def test_rounding_noise_is_set_to_zero_relative_to_its_reference(data, value, reference, written):
    frame = pd.DataFrame({"mean": [reference], "standard_error": [value]})
    for noise in ("mean", reference, [reference]):
        write_table(frame, "t", made_by=ud.akmv, noise={"standard_error": noise})
        assert pd.read_csv(data / "t.csv").standard_error[0] == written
    assert frame.standard_error[0] == value
    write_table(frame.rename(columns={"standard_error": "density"}), "t", made_by=ud.akmv)
    assert pd.read_csv(data / "t.csv").density[0] == value


NOT_MAKERS = "must hold functions or classes"


NOT_COLUMNS = r"`noise` must name columns, got \['x'\]"
INVALID = {
    "a path for a name": ("`name` must be lower-case letters", {"name": "../t"}),
    "trials without a seed": (
        "`seed` must be given with trials, got trials=10",
        {"trials": 10},
    ),
    "a seed below 0": ("`seed` must be positive whole", {"seed": -1}),
    "half a trial": ("`trials` must be positive whole", {"seed": 1, "trials": 0.5}),
    "no makers": ("at least one function", {"made_by": []}),
    "no makers of columns": ("must name columns, or curves", {"made_by": {}}),
    "a maker of no column": (
        r"must name columns, or curves in a column, got \['A'",
        {"made_by": {"A": ud.akmv}},
    ),
    "a maker's name": (NOT_MAKERS, {"made_by": "akmv"}),
    "a number for a maker": (NOT_MAKERS, {"made_by": 3}),
    "a lambda for a maker": (NOT_MAKERS, {"made_by": lambda x: x}),
    "nothing for a maker": (NOT_MAKERS, {"made_by": [None]}),
    "noise of no column": (NOT_COLUMNS, {"noise": {"x": "error"}}),
    "noise beside no column": (NOT_COLUMNS, {"noise": {"error": "x"}}),
    "noise beside nothing": (
        r"`noise` must say what \['a_se'\] are relative to",
        {"frame": FRAME.assign(a_se=1)},
    ),
    "another seed": (
        r"`seed` must be what the column holds, \[3\]",
        {"frame": FRAME.assign(seed=3)},
    ),
    "other trials": (
        "`trials` must be what",
        {"frame": FRAME.assign(trials=[0, 3]), "seed": 1, "trials": 4},
    ),
}


@pytest.mark.parametrize(("message", "changed"), INVALID.values(), ids=INVALID)
def test_invalid_arguments_are_refused(message, changed, data):
    with pytest.raises(TypeError if message == NOT_MAKERS else ValueError, match=message):
        write_table(**({"frame": FRAME, "name": "t", "made_by": ud.akmv} | changed))
    assert not data.exists()


def test_no_two_mechanisms_look_alike():
    """A guarantee has the colour of its mechanism; markers and lines differ even in grey."""
    looks = [look for name, look in LOOKS.items() if name != "guarantee"]
    assert len({to_hex(look["color"]) for look in looks}) == len(looks)
    for key in ("marker", "linestyle"):
        assert len({str(look[key]) for look in LOOKS.values()}) == len(LOOKS)


@pytest.mark.parametrize("name", LOOKS)
def test_each_line_has_enough_contrast_to_white(name):
    """WCAG 2.1 requires a contrast of 3 to 1 for graphics."""
    linear = [
        x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4
        for x in to_rgb(LOOKS[name]["color"])
    ]
    assert 1.05 / (np.dot([0.2126, 0.7152, 0.0722], linear) + 0.05) >= 3


def on_a_page(frame):
    return BeautifulSoup(TABLE.sub(tidy_table, frame.to_html(border=1)), "html.parser")


def test_on_a_page_tables_have_no_row_numbers_but_keep_a_named_index():
    frame = pd.DataFrame({"eps": [0.1, 0.5], "air_time": [3, 4], "kind": ["a", "b"]})
    page = on_a_page(frame)
    assert [head.text for head in page.select("thead th")] == ["ε", "air time", "kind"]
    assert [cell.text for cell in page.tbody.tr.find_all()] == ["0.1", "3", "a"]
    assert [cell.text for cell in page.select(".words")] == ["kind", "a", "b"]
    assert len(on_a_page(frame.set_index("air_time")).tbody.tr.find_all()) == 3
    assert on_a_page(frame.set_axis([7, 9])).tbody.th.text == "7", "they do not count the rows"
    assert on_a_page(frame.rename_axis("bus")).tbody.th.text == "0"


def test_on_a_page_names_of_functions_are_kept_and_index_levels_are_repeated():
    table = pd.DataFrame({"error": [1.5, 2.5]}, index=["opt_worst_case, bound", "duality_gap"])
    heads = [head.text for head in on_a_page(table).select("tbody th")]
    assert heads == ["opt_worst_case, bound", "duality gap"]
    symbols = on_a_page(table.rename(columns={"error": "λ_S · S < 1"})).select("thead th")
    assert symbols[1].decode_contents() == "λ<sub>S</sub> · S &lt; 1"
    levels = FRAME.assign(row=[0, 1]).set_index(["mechanism", "row"])
    assert [head.text for head in on_a_page(levels).select("tbody th")] == ["a", "0", "b", "1"]
