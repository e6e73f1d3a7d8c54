"""The enumeration on the page on Lemma III.1 works for any estimator, not only clipped means."""

from fractions import Fraction

import numpy as np
from page_functions import functions_of

PAGE = functions_of("lemma", Fraction=Fraction)


def test_enumeration_includes_inner_values_and_every_neighbour():
    """An estimator with its maximum in the middle; what one user changes depends on the others."""

    def hill(data):
        return (2 - np.abs(data - 2)).prod(axis=-1)

    assert PAGE.enumerate_worst(hill, [1], 4) == (4, 2)
    assert PAGE.enumerate_worst(hill, [1, 1], 4) == (4, 2)
    assert PAGE.enumerate_worst(hill, [2], 4) == (4, 2)
    first = PAGE.enumerate_worst(lambda data: data[..., 0], [1, 2], 4)
    assert first == (Fraction(8, 3), Fraction(4, 3))
