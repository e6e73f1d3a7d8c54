"""One interval around any centre for all users, and the code that `experiments` offers to copy."""

import re
import sqlite3
from contextlib import closing
from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import budgets, collections, datasets, several, shares

import userdp as ud
from tools.ext.contents import page
from userdp import beyond

relative_widths = st.fractions(0, Fraction(5, 2), max_denominator=12)


@st.composite
def problems(draw, max_samples):
    """Users, a centre in [0, U], ends included, and a total width."""
    users = draw(collections(max_samples=max_samples))
    return users, draw(shares) * users.upper, draw(relative_widths) * users.upper * users.max_count


def one_line(sums, users, centre, total_width):
    centred = sums - centre * users.counts
    return centre + centred.clip(-total_width / 2, total_width / 2).sum() / users.total


@given(problem=problems(max_samples=24), data=st.data())
def test_both_forms_of_the_clipped_mean_agree(problem, data):
    users, centre, S = problem
    clipping, m = beyond.centred_clipping(users, S, centre), users.counts
    averages = np.array(data.draw(several(shares, users.n_users))) * users.upper
    expected = (m * averages.clip(clipping.lower, clipping.upper)).sum() / users.total
    assert one_line(m * averages, users, centre, S) == expected
    assert (clipping.lower == np.maximum(centre - S / (2 * m), 0)).all()
    assert (clipping.upper == np.minimum(centre + S / (2 * m), users.upper)).all()


@given(problem=problems(max_samples=24), data=st.data(), seed=st.integers(0, 99))
def test_the_library_releases_the_same_value(problem, data, seed):
    users, centre, S = problem
    eps, sums = data.draw(budgets()), data.draw(datasets(users))
    users_as_floats = ud.Contributions(users.counts, float(users.upper))
    released = beyond.clipped_mean(
        sums, users_as_floats, float(S), eps, centre=float(centre), rng=seed
    )
    change = ud.sensitivity(users, beyond.centred_clipping(users, S, centre))
    noise = np.random.default_rng(seed).laplace(scale=float(change / eps))
    expected = one_line(sums, users, float(centre), float(S)) + noise
    assert released == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(problem=problems(max_samples=5))
def test_sensitivity_and_bias_agree_with_their_definitions(problem):
    users, centre, S = problem
    U, m, largest_count, N = users.upper, users.counts.tolist(), users.max_count, users.total
    arguments = m, U, beyond.centred_clipping(users, S, centre)
    sensitivity = (
        min(S / 2, centre * largest_count) + min(S / 2, (U - centre) * largest_count)
    ) / N
    assert sensitivity == oracle.largest_change(*arguments) <= S / N
    assert sensitivity == ud.sensitivity(users, arguments[2])
    assert (sensitivity == S / N) == (2 * largest_count * min(centre, U - centre) >= S)
    below, above = (sum(max(d * count - S / 2, 0) for count in m) for d in (centre, U - centre))
    assert max(below, above) / N == oracle.largest_bias(*arguments)
    assert max(below, above) / N == ud.worst_case_bias(users, arguments[2])


def code_to_copy(language):
    """The only code that the page offers to copy in this language."""
    text = "\n".join(c.source for c in page("experiments").cells if c.cell_type == "markdown")
    (code,) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return code


@pytest.mark.parametrize("eps", [0.01, 0.25, 0.8, 2, 5])
def test_numpy_code_of_the_page_is_the_optimal_mechanism(eps):
    exec(code_to_copy("python"), scope := {})
    rng = np.random.default_rng(1)
    for seed in range(20):
        counts = rng.integers(1, 20, size=rng.integers(1, 30))
        user = rng.permutation(np.repeat(np.arange(counts.size), counts))
        samples, users = 65 * rng.beta(0.3, 0.3, size=user.size), ud.Contributions(counts, 65)
        arguments = samples, user, counts, 65, eps, np.random.default_rng(seed)
        expected = ud.opt_worst_case(np.bincount(user, samples), users, eps, rng=seed)
        released = scope["demonstration_mean"](*arguments)
        assert released == pytest.approx(expected, rel=1e-9, abs=1e-8)


@pytest.mark.parametrize("kind", [float, int], ids=["decimals", "whole numbers"])
def test_sql_code_of_the_page_computes_the_clipped_mean_without_noise(kind):
    """No division is an integer division, and a null adds nothing to its user's centred sum."""
    rng = np.random.default_rng(2)
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE trips (vehicle, speed)")
        for _ in range(20):
            counts = rng.integers(1, 20, size=9)
            user = np.repeat(np.arange(9), counts)
            samples = rng.uniform(0, 65, user.size).astype(kind)
            c, T, N = kind(32), int(rng.integers(1, 400)), user.size
            rows = [*zip(user.tolist(), samples.tolist(), strict=True), (3, None)]
            database.execute("DELETE FROM trips")
            database.executemany("INSERT INTO trips VALUES (?, ?)", rows)
            public = {"c": c, "T": T, "N": N}
            (mean,) = database.execute(code_to_copy("sql"), public).fetchone()
            sums = np.bincount(user, samples)
            expected = one_line(sums, ud.Contributions(counts, 65), c, T)
            assert mean == pytest.approx(expected, abs=1e-9)
