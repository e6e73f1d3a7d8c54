"""The page for your own table: the releases it shows, its recipes, and what it says of them."""

import dataclasses
import json
import re
import textwrap
from pathlib import Path

import jsonschema
import nbformat
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_functions import BOOK, functions_of

import userdp as ud
from userdp import beyond, release

PAGE = functions_of("decide", pd=pd)
CELLS = {cell.id: cell.source for cell in nbformat.read(BOOK / "decide.ipynb", 4).cells}


def shown(kind, mechanism="release"):
    return (BOOK / "data" / f"decide-{mechanism}{kind}").read_text("utf-8")


@pytest.fixture
def trips():
    rng = np.random.default_rng([20250301, 1])
    return PAGE.drive(PAGE.count_trips(rng), rng)


def test_the_shown_release_comes_from_the_call_on_the_page(trips, tmp_path, monkeypatch):
    """Its noise has no seed, so compare everything except the mean and its consequences."""
    monkeypatch.chdir(tmp_path)
    trips.to_parquet("trips.parquet")
    scope = {}
    exec(CELLS["release"], scope)
    public = json.loads(shown(".json"))
    jsonschema.validate(public, release.json_schema())
    same = dataclasses.replace(scope["result"], mean=public["mean"])
    assert public == same.public()
    assert shown(".txt").splitlines() == repr(same).splitlines()
    sentence = same.public_sentence("km/h", users="vehicles", records="trips")
    assert shown("-sentence.txt").strip() == sentence
    assert abs(public["mean"] - trips.speed.mean()) < 20 * same.noise_scale
    assert same.mean != scope["result"].mean, "noise without a seed"


def test_the_shown_protected_release_comes_from_the_call_on_the_page(trips, tmp_path, monkeypatch):
    """Compare everything except the two noisy totals and their consequences."""
    monkeypatch.chdir(tmp_path)
    trips.to_parquet("trips.parquet")
    scope = {"release": release}
    exec(CELLS["secret"], scope)
    public = json.loads(shown(".json", "protected"))
    jsonschema.validate(public, release.json_schema())
    drawn = {name: public[name] for name in ("mean", "noisy_sum", "noisy_weight")}
    same = dataclasses.replace(scope["protected"], **drawn)
    error = same.worst_case_error_at(same.weight_interval()[0])
    same = dataclasses.replace(same, worst_case_error=error)
    assert public == same.public()
    assert shown(".txt", "protected").splitlines() == repr(same).splitlines()
    assert same.mean == pytest.approx(32.5 + same.noisy_sum / same.noisy_weight)
    weights = trips.groupby("vehicle").size().clip(upper=same.cap)
    average = np.average(trips.groupby("vehicle").speed.mean(), weights=weights)
    low, high = same.interval(1 - 1e-9)
    assert low < average < high
    assert abs(same.noisy_weight - weights.sum()) < 20 * same.weight_scale


@pytest.mark.parametrize(
    ("mechanism", "cell"), [("release", "printed"), ("protected", "secret-printed")]
)
def test_each_line_of_a_shown_release_is_explained(mechanism, cell):
    names = [line.split("  ")[0] for line in shown(".txt", mechanism).splitlines()]
    positions = [CELLS[cell].index(f"**{name}**\n: ") for name in names]
    assert positions == sorted(positions), "in another order than it prints"
    assert len(positions) == CELLS[cell].count("\n: "), "lines that are not printed"


def test_the_lines_that_average_agree_for_pandas_polars_and_ibis():
    """The line for pandas runs on the page; the two in the text run here."""
    polars, ibis = pytest.importorskip("polars"), pytest.importorskip("ibis")
    (of_polars,) = re.findall(r"`(df\.group_by.*?)`", CELLS["heavy-text"])
    (of_ibis,) = re.findall(r"`(table\.group_by.*?)`", CELLS["heavy-text"])
    records = polars.DataFrame({"who": ["a", "b", "a", "c"], "value": [1.0, None, 4.0, 2.0]})
    in_duckdb = ibis.memtable(records.to_arrow())
    each_of_polars = eval(of_polars, {"df": records, "pl": polars}).rows()
    each_of_ibis = eval(of_ibis, {"table": in_duckdb}).to_pyarrow().to_pylist()
    assert sorted(each_of_polars) == [("a", 2.5), ("b", None), ("c", 2.0)]
    assert sorted(tuple(row.values()) for row in each_of_ibis) == sorted(each_of_polars)


def test_the_code_follows_the_rules_of_cleaning_on_the_page(tmp_path):
    """The rules on codes, on empty ids, and on rows that may be left out."""
    rows = pd.DataFrame({"who": ["999", "", "b"], "value": [999.0, 2.0, 3.0]})
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    read = pd.read_csv(path, na_values={"value": [999]})
    assert read.who.notna().sum() == 2
    assert read.value.notna().sum() == 2
    about = {"lower": 0, "upper": 6}
    in_a_file = release.protected_tally("who", "value", data=path, **about)
    in_a_frame = release.protected_tally("who", "value", data=rows, **about)
    assert (in_a_file.users, in_a_file.without_user, in_a_file.outside) == (2, 1, 1)
    assert (in_a_frame.users, in_a_frame.without_user, in_a_frame.outside) == (3, 0, 1)
    how = {"missing": "drop", "outside": "drop", "data": path, **about}
    with pytest.warns(UserWarning, match="not stated"):
        assert release.private_mean("who", "value", budget=1, **how).eps is None
    assert release.private_mean_protected_counts("who", "value", **how, eps=1, cap=1).eps == 1


@pytest.mark.parametrize(
    "ids", [["007", "7", "07", "7.0", "NA", "null"], ["007", "7", "07", "7.0"]]
)
def test_ids_that_look_alike_stay_different_with_the_line_of_the_page(ids, tmp_path, monkeypatch):
    """Even if all are digits; empty ids are missing, and codes are missing values."""
    monkeypatch.chdir(tmp_path)
    values = ["1", "999", "999.0", "-1", "", "2.5"]
    lines = [f"{vehicle},{value}" for vehicle, value in zip(ids, values, strict=False)]
    Path("dirty.csv").write_text("\n".join(["vehicle,speed", *lines, ",3"]))
    scope = {"pd": pd, "release": release, "rows": {"lower": 0, "upper": 65}}
    exec(CELLS["codes"], scope)
    assert scope["table"].vehicle.tolist()[:-1] == ids
    assert scope["table"].speed.isna().tolist()[:4] == [False, True, True, True]
    assert release.user_counts("vehicle", data=scope["table"][:-1]).tolist() == [1] * len(ids)
    assert (scope["found"].users, scope["found"].without_user) == (len(ids), 1)


def test_a_group_without_rows_is_released_if_counts_are_protected():
    no_rows = pd.DataFrame({"who": np.array([], int), "value": np.array([], float)})
    how = {"lower": 0, "upper": 6, "data": no_rows}
    assert release.private_mean_protected_counts("who", "value", **how, eps=1, cap=2).eps == 1
    with pytest.raises(ValueError, match="there is none"):
        release.private_mean("who", "value", budget=1, **how)


def test_a_database_is_read_and_not_written(tmp_path, monkeypatch, capsys):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("ibis")
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("energy.db") as database:
        database.execute("CREATE TABLE readings (meter BIGINT, kw DOUBLE)")
        database.execute("INSERT INTO readings VALUES (1, 2.5), (1, 3.5), (7, 9), (200, 20)")
    before = Path("energy.db").read_bytes()
    scope = {"release": release}
    exec(CELLS["database"], scope)
    assert capsys.readouterr().out == "3 records of 2 users\n"
    connection = scope["stored"].get_backend()
    with pytest.raises(duckdb.Error, match="read-only"):
        connection.raw_sql("DELETE FROM readings")
    connection.disconnect()
    assert Path("energy.db").read_bytes() == before


some_users = st.lists(st.integers(1, 5), min_size=1, max_size=6)


@given(some_users, st.floats(0.05, 1), st.floats(-1.3, 1))
def test_halving_the_budget_at_most_doubles_the_guarantee_with_laplace_noise(counts, share, log):
    """With the same clipping, a distance from the truth at most doubles if the noise doubles."""
    users, eps = ud.Contributions(counts, 1.0), 10.0**log
    S = share * users.max_count
    whole, half = (beyond.projected_error(users, S, budget) for budget in (eps, eps / 2))
    assert half <= 2 * whole * (1 + 1e-9)


def test_the_releases_of_a_year_spend_at_most_the_total(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scope = {"np": np, "pd": pd, "release": release, "textwrap": textwrap, "Path": Path}
    exec(CELLS["many-files"], scope | {"trips_seed": 1})
    exec(CELLS["many"], scope)
    files = sorted(tmp_path.glob("*.json"))
    assert scope["spent"] == release.account(files, delta=1e-6)
    assert scope["spent"].n_releases == len(files) == 9
    year = release.account([*files[:3] * 52], delta=1e-6, allow_duplicates=True)
    assert year.n_releases == scope["share"].n_releases == 156
    assert 0.999 < year.eps <= 1
    assert "at most eps = 1 with" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("eps", [4, 6])
def test_halving_the_budget_can_more_than_double_the_guarantee_with_staircase_noise(eps):
    users = ud.Contributions([1], 1.0)
    ratio = 2 * np.cosh(eps / 4)  # of the mean absolute values of the noise
    optimal = [
        beyond.optimal_error(users, beyond.StaircaseNoise(budget)) for budget in (eps / 2, eps)
    ]
    assert optimal[0] / optimal[1] == pytest.approx(ratio)
    projected = [
        beyond.projected_error(users, 1.0, beyond.StaircaseNoise(budget))
        for budget in (eps / 2, eps)
    ]
    assert projected[0] > 2.3 * projected[1]


@pytest.mark.parametrize(
    ("counts", "eps", "share"),
    [([4, 2, 1], 0.25, 0.9), ([4, 2, 1], 1, 0.95), ([1] * 8, 0.1, 0.86), ([1] * 20, 0.05, 0.86)],
)
def test_the_l1_width_is_best_without_projection_but_not_with_it(counts, eps, share):
    users = ud.Contributions(counts, 1.0)
    S, widths = beyond.threshold(users, eps, "l1"), np.linspace(0.005, 1, 200) * max(counts)
    before = [
        beyond.worst_case_error(users, beyond.centred_clipping(users, width), eps, "l1")
        for width in (S, *widths)
    ]
    assert before[0] <= min(before) * (1 + 1e-12)
    after = [beyond.projected_error(users, width, eps) for width in (S, *widths)]
    released = beyond.best_split(users, eps).error
    assert released * 0.999 < min(after) < share * after[0]
    assert released < share * after[0]


def test_the_recipe_for_groups_whose_counts_are_secret_runs_as_it_stands(tmp_path, monkeypatch):
    (recipe,) = re.findall(r"```python\n(.*?)```", CELLS["account-text"], re.S)
    monkeypatch.chdir(tmp_path)
    wards = ["north", "south", "west"]  # the last one is empty
    rng = np.random.default_rng(3)
    visits = pd.DataFrame({"patient": rng.integers(50, size=200)})
    visits["ward"] = rng.choice(wards[:2], 200)
    visits["minutes"] = rng.uniform(0, 240, 200)
    visits.loc[0, "minutes"] = np.nan
    exec(recipe, {"release": release, "Path": Path, "wards": wards, "visits": visits})
    spent = release.account([tmp_path / f"{ward}.json" for ward in wards], allow_duplicates=True)
    assert 1 - 1e-9 <= spent.eps <= 1
