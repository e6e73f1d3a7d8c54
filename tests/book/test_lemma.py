"""The enumeration of the page on Lemma III.1 enumerates: it knows nothing of clipping."""

from fractions import Fraction

import numpy as np
from page_functions import functions_of

import userdp as ud

PAGE = functions_of("lemma", Fraction=Fraction)


def test_enumeration_tries_more_than_the_ends_and_every_neighbour():
    """An estimator largest in the middle, whose change by one user depends on the others."""

    def hill(data):
        return (2 - np.abs(data - 2)).prod(axis=-1)

    assert PAGE.enumerate_worst(hill, [1], 4) == (4, 2)
    assert PAGE.enumerate_worst(hill, [1, 1], 4) == (4, 2)
    assert PAGE.enumerate_worst(hill, [2], 4) == (4, 2)
    first = PAGE.enumerate_worst(lambda data: data[..., 0], [1, 2], 4)
    assert first == (Fraction(8, 3), Fraction(4, 3))


def test_the_mean_of_the_kept_samples_is_no_clipped_mean():
    """One sample moves a clipped mean by a share of 1/N at most, and the mean of n kept by 1/n."""
    for counts, kept in (([2], 1), ([2, 1], 2)):
        one = ud.Contributions(np.ones(sum(counts), dtype=int), Fraction(1))  # a user a sample
        most = max(
            ud.sensitivity(one, ud.Clipping([Fraction(a)] * one.total, [Fraction(b)] * one.total))
            for a, b in ((0, 0), (0, 1), (1, 1))
        )
        assert most == Fraction(1, one.total) < Fraction(1, kept)
