"""What AKMV leaves of its budget, by its audit."""

import pytest

from userdp import audit


def test_no_pair_spends_more_than_three_quarters_where_the_rank_is_that_of_all_users():
    spent = audit.largest_log_ratio(lambda pairs: audit.akmv_log_ratio(pairs, 0.08), 400, rng=2)
    assert spent == pytest.approx(0.75 * 0.08, rel=1e-6)
