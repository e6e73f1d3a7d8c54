"""How tables are written, and what goes with them; and that mechanisms can be told apart."""

import io

import matplotlib.pyplot as plt
import pandas as pd
import pytest
import seaborn as sns
from matplotlib.colors import to_hex
from plotting import LOOKS, seaborn_looks
from provenance import write_table

import userdp as ud

FRAME = pd.DataFrame({"mechanism": ["a", "b"], "error": [2.0, 3.0], "share": [-0.0, 1 / 3]})


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


def test_six_digits_are_written_no_negative_zero_and_an_index_if_it_has_a_name(data):
    write_table(FRAME, "t-1", made_by=ud.akmv)
    assert (data / "t-1.csv").read_text() == "mechanism,error,share\na,2,0\nb,3,0.333333\n"
    write_table(FRAME[["error"]], "t", made_by=ud.akmv, index="n")
    assert (data / "t.csv").read_text() == "n,error\n0,2\n1,3\n"


@pytest.mark.parametrize(
    ("value", "reference", "written"),
    [
        *((-8.4e-17, -4.6, 0), (0.9e-12, 1, 0), (1.1e-12, 1, 1.1e-12), (1e-9, 0, 1e-9)),
        (5e-22, 1e-20, 5e-22),  # small, but not beside what it is relative to
    ],
)
def test_noise_is_what_is_small_beside_its_reference(data, value, reference, written):
    frame = pd.DataFrame({"mean": [reference], "standard_error": [value]})
    for noise in ("mean", reference, [reference]):
        write_table(frame, "t", made_by=ud.akmv, noise={"standard_error": noise})
        assert pd.read_csv(data / "t.csv").standard_error[0] == written
    assert frame.standard_error[0] == value
    write_table(frame.rename(columns={"standard_error": "density"}), "t", made_by=ud.akmv)
    assert pd.read_csv(data / "t.csv").density[0] == value


NO_MAKERS = "must hold functions or classes"


NO_COLUMNS = r"`noise` must name columns, got \['x'\]"
UNFIT = {
    "a path for a name": ("`name` must be small letters", {"name": "../t"}),
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
    "a maker's name": (NO_MAKERS, {"made_by": "akmv"}),
    "a number for a maker": (NO_MAKERS, {"made_by": 3}),
    "a lambda for a maker": (NO_MAKERS, {"made_by": lambda x: x}),
    "nothing for a maker": (NO_MAKERS, {"made_by": [None]}),
    "noise of no column": (NO_COLUMNS, {"noise": {"x": "error"}}),
    "noise beside no column": (NO_COLUMNS, {"noise": {"error": "x"}}),
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


@pytest.mark.parametrize(("words", "changed"), UNFIT.values(), ids=UNFIT)
def test_what_does_not_fit_is_refused(words, changed, data):
    with pytest.raises(TypeError if words == NO_MAKERS else ValueError, match=words):
        write_table(**({"frame": FRAME, "name": "t", "made_by": ud.akmv} | changed))
    assert not data.exists()


def test_no_two_mechanisms_look_alike():
    """The guarantee of one has its colour; in grey, too, marker and line tell them apart."""
    looks = [look for name, look in LOOKS.items() if name != "guarantee"]
    assert len({to_hex(look["color"]) for look in looks}) == len(looks)
    for what in ("marker", "linestyle"):
        assert len({str(look[what]) for look in LOOKS.values()}) == len(LOOKS)


def pixels(draw):
    figure, ax = plt.subplots()
    draw(ax)
    ax.set_axis_off()
    picture = io.BytesIO()
    figure.savefig(picture, format="raw")
    plt.close(figure)
    return picture.getvalue()


@pytest.mark.parametrize("name", [name for name in LOOKS if name != "guarantee"])
def test_seaborn_draws_a_mechanism_as_its_look_says(name):
    """Pixel by pixel, but for the edge that seaborn gives to markers."""
    line = pd.DataFrame({"x": [1, 2, 4], "y": [3, 1, 2], "mechanism": name})
    own = {**LOOKS[name], "markeredgecolor": "w", "markeredgewidth": 0.75}
    common = {"hue": "mechanism", "style": "mechanism", "errorbar": None, "legend": False}
    common |= seaborn_looks()
    by_hand = pixels(lambda ax: ax.plot(line.x, line.y, **own))
    by_seaborn = pixels(lambda ax: sns.lineplot(line, x="x", y="y", ax=ax, **common))
    assert by_seaborn == by_hand
