"""Sweeps over budgets: errors averaged over random datasets (Sections IV-C and IV-D).

- An average over trials estimates the mean error. Its standard error is the trials' standard
  deviation over sqrt(n).
- `error_sweep` draws the noise, as the paper does; `mean_error_sweep` integrates it out
  (lem-noisy-error, thm-akmv-mean-error), so that the standard error of the vanilla Laplace
  mechanism is 0: its mean error, (U m*/N)/eps, is the same on all data. Both estimate the same
  number.
- A trial uses one dataset for all mechanisms and budgets; noise has a separate random stream for
  each block, mechanism and budget. So results are bit-identical in any order, and whatever else
  the sweep contains.
- A Generator advances by the same amount, regardless of the size of the sweep.
- Every error is kept: curves and tables are computed from them. A terminal shows the progress.
"""

import sys
from functools import partial
from itertools import product

import numpy as np
import pytest
from strategies import GEOMETRIC, MEAN_ERRORS, PAPER

import userdp as ud
from userdp import experiments

SMALL = ud.Contributions([5, 3, 1, 1], 65)
MECHANISMS = {"Laplace": ud.laplace, "AKMV": ud.akmv, "OPT": ud.opt_worst_case}


def test_a_constant_error_has_standard_error_zero():
    sweep = ud.mean_error_sweep(MEAN_ERRORS, GEOMETRIC, [0.1, 0.7], ud.uniform_sums, 3000, rng=0)
    np.testing.assert_array_equal(sweep["Laplace"].standard_error, [0, 0])
    np.testing.assert_allclose(sweep["Laplace"].mean, 65 * 64 / 448 / sweep.eps, rtol=1e-15)


class RecordingSampler:
    def __init__(self):
        self.drawn = []

    def __call__(self, users, n_trials, *, rng):
        self.drawn.append(ud.uniform_sums(users, n_trials, rng=rng))
        return self.drawn[-1]


@pytest.mark.parametrize("block", [3, 8, 40, 10**6])
def test_mean_and_standard_error_over_all_blocks(monkeypatch, block):
    """They are computed in double precision, even if the errors are in single precision."""
    monkeypatch.setattr(experiments, "_BLOCK", block)
    sampler, eps = RecordingSampler(), np.array([1, 3])
    mechanisms = {
        "known": lambda sums, users, eps: eps * sums[:, 0] ** 2,
        "single": lambda sums, users, eps: (1e4 + sums[:, 0]).astype(np.float32),
    }
    sweep = ud.mean_error_sweep(mechanisms, SMALL, eps, sampler, 101, rng=0)
    values = np.concatenate(sampler.drawn)[:, 0]
    np.testing.assert_allclose(sweep["known"].mean, eps * (values**2).mean(), 1e-13)
    standard_error = (values**2).std(ddof=1) / np.sqrt(101)
    np.testing.assert_allclose(sweep["known"].standard_error, eps * standard_error, 1e-12)
    single = (1e4 + values).astype(np.float32).astype(float)
    np.testing.assert_allclose(sweep["single"].mean, single.mean(), 1e-14)
    assert len(sampler.drawn) == -(-101 // max(1, block // 4))


def test_all_errors_are_kept_and_mechanisms_share_the_dataset_of_a_trial(monkeypatch):
    monkeypatch.setattr(experiments, "_BLOCK", 40)
    sampler = RecordingSampler()
    mechanisms = {
        "product": lambda sums, users, eps: eps * sums[:, 0],
        "sum": lambda sums, users, eps: eps + sums[:, 1],
    }
    sweep = ud.mean_error_sweep(mechanisms, SMALL, [1, 3], sampler, 25, rng=0)
    first, second, *_ = np.concatenate(sampler.drawn).T
    expected = [[first, 3 * first], [1 + second, 3 + second]]
    np.testing.assert_array_equal(sweep.errors, expected)
    assert sweep.n_trials == 25


def test_mechanisms_share_data_and_each_block_has_its_own_random_streams(monkeypatch):
    monkeypatch.setattr(experiments, "_BLOCK", 40)
    seen, noise, sampler = {}, set(), RecordingSampler()

    def spy(sums, users, eps, rng, name):
        seen.setdefault((name, eps), []).append(sums.copy())
        noise.add(rng.random())
        return sums.sum(axis=-1)

    spies = {name: partial(spy, name=name) for name in ("first", "second")}
    ud.error_sweep(spies, SMALL, [1, 2], sampler, 100, rng=0)
    assert len({float(sums[0, 0]) for sums in sampler.drawn}) == len(sampler.drawn) == 10
    assert len(noise) == 2 * 2 * 10
    assert len(seen) == 4
    for sums in seen.values():
        np.testing.assert_array_equal(sums, sampler.drawn)


def test_simulated_and_integrated_errors_agree_up_to_standard_normal_differences():
    z = []
    for users, sampler in PAPER.values():
        budgets = [0.1, 0.3, 0.8, 2]
        integrated = ud.mean_error_sweep(MEAN_ERRORS, users, budgets, sampler, 4000, rng=100)
        for seed in range(5):
            simulated = ud.error_sweep(MECHANISMS, users, budgets, sampler, 2000, rng=seed)
            for name in MECHANISMS:
                standard_error = np.hypot(
                    simulated[name].standard_error, integrated[name].standard_error
                )
                z.extend((simulated[name].mean - integrated[name].mean) / standard_error)
    z = np.array(z)
    assert np.abs(z).max() < 6
    # The mean of 120 squares of standard normals has expectation 1, standard deviation 0.13.
    assert 0.5 < np.mean(z**2) < 1.6


def test_a_generator_advances_by_the_same_amount_regardless_of_the_size_of_the_sweep():
    states = []
    for n_trials, budgets in [(2, [1]), (5000, [0.1, 0.2])]:
        rng = np.random.default_rng(3)
        ud.error_sweep(MECHANISMS, SMALL, budgets, ud.uniform_sums, n_trials, rng=rng)
        states.append(rng.bit_generator.state)
    unused = np.random.default_rng(3).bit_generator.state
    assert states[0] == states[1], "how far a Generator advances depends on the size of the sweep"
    assert states[0] != unused, "a sweep does not use the Generator that it is given"


def curve_values(sweep):
    return {name: [part.tolist() for part in sweep[name]] for name in MECHANISMS}


def test_results_do_not_depend_on_the_order_or_on_other_mechanisms_and_budgets():
    common = GEOMETRIC, [0.1, 0.5, 2], ud.uniform_sums, 4000
    backwards = dict(reversed(MECHANISMS.items()))
    in_order, in_reverse = (ud.error_sweep(m, *common, rng=7) for m in (MECHANISMS, backwards))
    assert curve_values(in_order) == curve_values(in_reverse)
    fewer = ud.error_sweep({"AKMV": ud.akmv}, GEOMETRIC, [2, 0.5], ud.uniform_sums, 4000, rng=7)
    np.testing.assert_array_equal(fewer["AKMV"].mean, in_order["AKMV"].mean[[2, 1]])
    np.testing.assert_allclose(fewer["AKMV"].mean, [5.52706930736, 18.9536347289], 1e-9)


def test_records_have_one_row_per_mechanism_and_budget():
    sweep = ud.error_sweep(MECHANISMS, SMALL, [0.5, 1], ud.uniform_sums, 10, rng=0)
    rows = sweep.records()
    assert [(row["mechanism"], row["eps"]) for row in rows] == [*product(MECHANISMS, (0.5, 1.0))]
    row = rows[3]["error"], rows[3]["standard_error"], rows[3]["trials"]
    assert row == (sweep["AKMV"].mean[1], sweep["AKMV"].standard_error[1], 10)


def test_frame_without_pandas_says_what_to_install(monkeypatch):
    sweep = ud.error_sweep(MECHANISMS, SMALL, [1], ud.uniform_sums, 2, rng=0)
    monkeypatch.setitem(sys.modules, "pandas", None)
    words = r"^A frame needs pandas: pip install 'userdp\[frame\]'[.]$"
    with pytest.raises(ImportError, match=words):
        sweep.frame()


def test_frame_has_one_row_per_mechanism_budget_and_trial_and_gives_the_curves():
    sweep = ud.error_sweep(MECHANISMS, SMALL, [0.5, 1], ud.uniform_sums, 10, rng=0)
    frame = sweep.frame()
    assert [*frame.columns] == ["mechanism", "eps", "trial", "error"]
    rows = [*product(MECHANISMS, (0.5, 1.0), range(10))]
    assert [*zip(frame.mechanism, frame.eps, frame.trial, strict=True)] == rows
    np.testing.assert_array_equal(frame.error, sweep.errors.ravel())
    for name, curve in sweep.curves.items():
        by_budget = frame[frame.mechanism == name].groupby("eps").error
        np.testing.assert_allclose(by_budget.mean(), curve.mean)
        np.testing.assert_allclose(by_budget.sem(), curve.standard_error)


@pytest.mark.parametrize("run", [ud.mean_error_sweep, ud.error_sweep])
def test_progress_bars_get_the_number_of_steps(monkeypatch, progress_calls, run):
    monkeypatch.setattr(experiments, "_BLOCK", 12)
    mechanisms = {name: lambda sums, *_, **__: sums.sum(axis=1) for name in ("one", "two")}
    run(mechanisms, SMALL, [0.1, 1, 2, 3, 4], ud.uniform_sums, 10, rng=0)
    assert progress_calls == [4 * 2 * 5] + [None] * 40


def test_progress_appears_only_on_a_terminal_and_works_without_tqdm(monkeypatch, capsys):
    def run():
        return curve_values(ud.error_sweep(MECHANISMS, SMALL, [1], ud.uniform_sums, 10, rng=0))

    quiet = run()
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert run() == quiet
    assert "/3" in capsys.readouterr().err
    ud.error_sweep({"AKMV": ud.akmv}, SMALL, [1], ud.uniform_sums, 10, rng=0)
    assert not capsys.readouterr().err, "a progress bar for a single step"
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert run() == quiet
    assert not capsys.readouterr().err
