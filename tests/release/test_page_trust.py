"""The attack of the page on trust."""

import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from page_functions import BOOK, functions_of

import userdp as ud
from userdp import audit

PEOPLE = ud.Contributions([1] * 5, 1)
ANSWERS = {"nobody": np.zeros(5), "one person": np.eye(5)[0]}
PAGE = functions_of("trust", audit=audit, log=np.vectorize(math.log), people=PEOPLE)


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize(("mechanism", "least"), [(ud.laplace, 0.7), (ud.opt_worst_case, 0.3)])
def test_most_outputs_of_the_demonstrations_are_impossible_on_the_neighbour(mechanism, least, name):
    outputs = mechanism(np.broadcast_to(ANSWERS[name], (20_000, 5)), PEOPLE, 1, rng=20)
    (other,) = [sums for n, sums in ANSWERS.items() if n != name]
    assert PAGE.possible(outputs, mechanism, ANSWERS[name]).mean() > 0.999
    assert 1 - PAGE.possible(outputs, mechanism, other).mean() > least


def test_the_counts_of_mutants_fit_the_list_of_survivors():
    counts = pd.read_csv(BOOK / "data" / "mutants.csv", index_col="module")
    groups = yaml.safe_load((Path(__file__).parents[1] / "survivors.yml").read_text("utf-8"))
    listed = Counter()
    for group in groups:
        assert group["why"]
        for place, n in group["in"].items():
            listed[re.match(r"(?:(?:beyond|release)\.)?\w+", place)[0]] += n
    assert listed == counts.survived[counts.survived > 0].to_dict()
    assert (counts.killed + counts.survived == counts.mutants).all()
    assert counts.killed.sum() >= 0.98 * counts.mutants.sum()
