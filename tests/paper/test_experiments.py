"""Sweeps over budgets: errors averaged over random datasets (Sections IV-C and IV-D).

- An average over trials stands for the mean error. Its standard error is the trials'
  standard deviation over sqrt(n): 0 for the vanilla Laplace mechanism, whose mean error, (U m*/N)
  over eps, is the same on all data.
- `error_sweep` draws the noise, as the paper does; `mean_error_sweep` integrates it out
  (lem-noisy-error, thm-akmv-mean-error). Both estimate the same number.
- A trial is one dataset, for all mechanisms and budgets; noise has streams of its own, by block,
  mechanism and budget. So neither order nor company changes a bit.
- A Generator moves on by one step, however large the sweep.
- Every error is kept: curves and tables are made of them. Progress is shown on a terminal.
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


def test_an_error_without_scatter_has_no_standard_error():
    sweep = ud.mean_error_sweep(MEAN_ERRORS, GEOMETRIC, [0.1, 0.7], ud.uniform_sums, 3000, rng=0)
    np.testing.assert_array_equal(sweep["Laplace"].standard_error, [0, 0])
    np.testing.assert_allclose(sweep["Laplace"].mean, 65 * 64 / 448 / sweep.eps, rtol=1e-15)


class Recording:
    def __init__(self):
        self.drawn = []

    def __call__(self, users, n_trials, *, rng):
        self.drawn.append(ud.uniform_sums(users, n_trials, rng=rng))
        return self.drawn[-1]


@pytest.mark.parametrize("block", [3, 8, 40, 10**6])
def test_mean_and_standard_error_over_all_blocks(monkeypatch, block):
    """In double precision, whatever that of the errors."""
    monkeypatch.setattr(experiments, "_BLOCK", block)
    sampler, eps = Recording(), np.array([1, 3])
    known = {
        "known": lambda sums, users, eps: eps * sums[:, 0] ** 2,
        "single": lambda sums, users, eps: (1e4 + sums[:, 0]).astype(np.float32),
    }
    sweep = ud.mean_error_sweep(known, SMALL, eps, sampler, 101, rng=0)
    drawn = np.concatenate(sampler.drawn)[:, 0]
    np.testing.assert_allclose(sweep["known"].mean, eps * (drawn**2).mean(), 1e-13)
    spread = (drawn**2).std(ddof=1) / np.sqrt(101)
    np.testing.assert_allclose(sweep["known"].standard_error, eps * spread, 1e-12)
    single = (1e4 + drawn).astype(np.float32).astype(float)
    np.testing.assert_allclose(sweep["single"].mean, single.mean(), 1e-14)
    assert len(sampler.drawn) == -(-101 // max(1, block // 4))


def test_errors_are_kept_one_by_one_and_a_trial_is_the_same_dataset_for_all(monkeypatch):
    monkeypatch.setattr(experiments, "_BLOCK", 40)
    sampler = Recording()
    known = {
        "product": lambda sums, users, eps: eps * sums[:, 0],
        "sum": lambda sums, users, eps: eps + sums[:, 1],
    }
    sweep = ud.mean_error_sweep(known, SMALL, [1, 3], sampler, 25, rng=0)
    first, second, *_ = np.concatenate(sampler.drawn).T
    expected = [[first, 3 * first], [1 + second, 3 + second]]
    np.testing.assert_array_equal(sweep.errors, expected)
    assert sweep.n_trials == 25


def test_every_mechanism_sees_the_same_data_and_every_block_has_streams_of_its_own(monkeypatch):
    monkeypatch.setattr(experiments, "_BLOCK", 40)
    seen, noise, sampler = {}, set(), Recording()

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


def test_simulated_and_integrated_errors_agree_and_their_distances_are_standard_normal():
    z = []
    for users, sampler in PAPER.values():
        budgets = [0.1, 0.3, 0.8, 2]
        exact = ud.mean_error_sweep(MEAN_ERRORS, users, budgets, sampler, 4000, rng=100)
        for seed in range(5):
            drawn = ud.error_sweep(MECHANISMS, users, budgets, sampler, 2000, rng=seed)
            for name in MECHANISMS:
                spread = np.hypot(drawn[name].standard_error, exact[name].standard_error)
                z.extend((drawn[name].mean - exact[name].mean) / spread)
    z = np.array(z)
    assert np.abs(z).max() < 6
    # 120 squares of standard normals have mean 1 with standard deviation 0.13.
    assert 0.5 < np.mean(z**2) < 1.6


def test_a_generator_moves_on_by_the_same_step_however_large_the_sweep():
    states = []
    for n_trials, budgets in [(2, [1]), (5000, [0.1, 0.2])]:
        rng = np.random.default_rng(3)
        ud.error_sweep(MECHANISMS, SMALL, budgets, ud.uniform_sums, n_trials, rng=rng)
        states.append(rng.bit_generator.state)
    unused = np.random.default_rng(3).bit_generator.state
    assert states[0] == states[1], "how far a Generator moves on depends on the size of the sweep"
    assert states[0] != unused, "a sweep does not use the Generator that it is given"


def bits(sweep):
    return {name: [part.tolist() for part in sweep[name]] for name in MECHANISMS}


def test_order_and_company_do_not_change_a_bit():
    common = GEOMETRIC, [0.1, 0.5, 2], ud.uniform_sums, 4000
    backwards = dict(reversed(MECHANISMS.items()))
    one, other = (ud.error_sweep(m, *common, rng=7) for m in (MECHANISMS, backwards))
    assert bits(one) == bits(other)
    fewer = ud.error_sweep({"AKMV": ud.akmv}, GEOMETRIC, [2, 0.5], ud.uniform_sums, 4000, rng=7)
    np.testing.assert_array_equal(fewer["AKMV"].mean, one["AKMV"].mean[[2, 1]])
    np.testing.assert_allclose(fewer["AKMV"].mean, [5.52706930736, 18.9536347289], 1e-9)


def test_records_hold_one_row_a_mechanism_and_budget():
    sweep = ud.error_sweep(MECHANISMS, SMALL, [0.5, 1], ud.uniform_sums, 10, rng=0)
    rows = sweep.records()
    assert [(row["mechanism"], row["eps"]) for row in rows] == [*product(MECHANISMS, (0.5, 1.0))]
    told = rows[3]["error"], rows[3]["standard_error"], rows[3]["trials"]
    assert told == (sweep["AKMV"].mean[1], sweep["AKMV"].standard_error[1], 10)


def test_without_pandas_a_frame_says_what_to_install(monkeypatch):
    sweep = ud.error_sweep(MECHANISMS, SMALL, [1], ud.uniform_sums, 2, rng=0)
    monkeypatch.setitem(sys.modules, "pandas", None)
    words = r"^A frame needs pandas: pip install 'userdp\[frame\]'[.]$"
    with pytest.raises(ImportError, match=words):
        sweep.frame()


def test_frame_holds_one_row_a_trial_from_which_the_curves_follow():
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
def test_progress_is_told_the_number_of_its_steps(monkeypatch, told, run):
    monkeypatch.setattr(experiments, "_BLOCK", 12)
    both = {name: lambda sums, *_, **__: sums.sum(axis=1) for name in ("one", "two")}
    run(both, SMALL, [0.1, 1, 2, 3, 4], ud.uniform_sums, 10, rng=0)
    assert told == [4 * 2 * 5] + [None] * 40


def test_progress_appears_on_a_terminal_only_and_needs_no_tqdm(monkeypatch, capsys):
    def run():
        return bits(ud.error_sweep(MECHANISMS, SMALL, [1], ud.uniform_sums, 10, rng=0))

    quiet = run()
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert run() == quiet
    assert "/3" in capsys.readouterr().err
    ud.error_sweep({"AKMV": ud.akmv}, SMALL, [1], ud.uniform_sums, 10, rng=0)
    assert not capsys.readouterr().err, "a bar of one step"
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert run() == quiet
    assert not capsys.readouterr().err
