"""Smaller benchmarks: how far from optimal mechanisms are, large budgets, means, and refinement."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import mechdesign as md
from benchmarks import how_far, large_budgets
from benchmarks.how_far import table
from benchmarks.mean_estimation import duchi, hybrid, optimum, piecewise
from benchmarks.pena_comparison import MeanComparison, compare_means
from benchmarks.refinement import RATIO, decide, main, tables
from mechdesign.collection.personalized import TwoValuedResponder

APART = np.abs(np.subtract.outer(np.arange(how_far.LINE), np.arange(how_far.LINE))).astype(float)


@pytest.mark.parametrize("epsilon", [0.3, 1, 3])
def test_noise_is_private_for_its_budget(epsilon: float) -> None:
    """Both halves: the ratios of neighbors are at most e**epsilon, and not less by much."""
    for matrix, sharp in (
        (how_far.clipped(how_far.LINE, how_far.laplace_cdf(1 / epsilon)), 0.05),
        (how_far.clipped(how_far.LINE, how_far.geometric_cdf(epsilon)), 1e-9),
        (how_far.noise_law(-epsilon / 2 * APART), 0.5),  # half of it goes into the normalization
    ):
        assert np.allclose(matrix.sum(axis=1), 1)
        ratio = np.abs(np.diff(np.log(matrix), axis=0)).max()
        assert epsilon * (1 - sharp) - 1e-9 <= ratio <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_clipped_noise_is_that_of_draws(scale: float) -> None:
    rng = np.random.default_rng(0)
    drawn = np.clip(np.rint(5 + rng.laplace(0, scale, 200_000)), 0, how_far.LINE - 1).astype(int)
    law = how_far.clipped(how_far.LINE, how_far.laplace_cdf(scale))[5]
    assert np.abs(np.bincount(drawn, minlength=how_far.LINE) / 200_000 - law).max() < 0.006
    steps = rng.geometric(1 - math.exp(-scale), (2, 200_000)) - 1
    drawn = np.clip(5 + steps[0] - steps[1], 0, how_far.LINE - 1)
    law = how_far.clipped(how_far.LINE, how_far.geometric_cdf(scale))[5]
    assert np.abs(np.bincount(drawn, minlength=how_far.LINE) / 200_000 - law).max() < 0.006


@pytest.mark.parametrize(
    "make", [how_far.frequencies, how_far.grades, how_far.distances, how_far.places]
)
def test_no_mechanism_is_below_the_bound(make: object) -> None:
    task: how_far.Task = make()
    curves = how_far.computed(task, task.shown)
    for name in curves.losses:
        assert min(curves.ratios(name)) >= 1 - 1e-6
    for low, high in curves.bounds:
        assert low <= high <= low * 1.001
    page = (
        (how_far.DOCS / "how_far.md")
        .read_text(encoding="utf-8")
        .split(how_far.MARK)[1]
        .splitlines()
    )
    made = table([curves]).splitlines()
    assert set(made) <= set(page), "run: python -m benchmarks.how_far"


# --- the benchmark of large budgets ---------------------------------------------------------------


def test_the_exact_error_is_the_mean_of_runs() -> None:
    law = md.Prior.from_counts((10**6 // np.arange(1, 41)).tolist())
    records = np.random.default_rng(0).choice(40, size=200, p=law.array)
    for name, make in large_budgets.mechanisms(40, 3):
        runs = [large_budgets.row(make, records, law) for _ in range(60)]
        exact = runs[0][0]
        assert np.mean([run[1] for run in runs]) == pytest.approx(exact, rel=0.2), name


# --- the least worst-case variance on an interval is below what is published ----------------------


def test_it_is_below_the_published_variance() -> None:
    """By the published values at epsilon = 4: 1.076, 0.241 and 0.219."""
    assert duchi(1) == pytest.approx(4.6827, abs=1e-4)
    assert [round(formula(4), 3) for formula in (duchi, piecewise, hybrid)] == [1.076, 0.241, 0.219]
    for epsilon in ("0.5", "2", "4"):
        value = optimum(epsilon, 0.05).value
        assert value < min(formula(float(epsilon)) for formula in (duchi, piecewise, hybrid))
        assert epsilon != "4" or value < 0.15


# --- PENA's mean beside the best unbiased channels ------------------------------------------------

SKEWED = np.concatenate([np.full(700, 5), np.full(200, 20), np.full(99, 40), np.full(1, 100)])


@pytest.fixture(scope="module")
def means() -> MeanComparison:
    return compare_means(SKEWED, 0, 100, ["0.25", 1, 4], points=9)


def numbers(channel: md.Channel) -> tuple[np.ndarray, np.ndarray]:
    """Return the inputs and the outputs as floats."""
    return np.array(channel.inputs.labels, dtype=float), np.array(channel.outputs, dtype=float)


def test_the_error_of_pena_is_its_exact_standard_deviation(means: MeanComparison) -> None:
    for row in means.rows:
        one = TwoValuedResponder(0, 100, row.epsilon)
        chances = [float(one.probability(int(v))) for v in (5, 20, 40, 100)]
        variance = sum(
            n * (100 * float(one.size)) ** 2 * p * (1 - p)
            for n, p in zip((700, 200, 99, 1), chances, strict=True)
        )
        assert row.pena == pytest.approx(math.sqrt(variance) / 1000, rel=1e-9)


def test_who_wins(means: MeanComparison) -> None:
    """PENA is hard to beat blindly at small budgets, and far behind at large ones."""
    small, _, large = means.rows
    assert abs(small.minimax / small.pena - 1) < 0.01
    assert large.minimax < 0.6 * large.pena
    assert large.best == "optimal channel"
    for row in means.rows:
        assert row.tailored <= row.pena * (1 + 1e-5)
        assert row.tailored <= row.minimax * (1 + 1e-5)
    assert "better blindly" in repr(means)
    assert means.truth == pytest.approx(SKEWED.mean())


def test_the_worst_variance_of_the_minimax_channel_is_at_most_that_of_pena(
    means: MeanComparison,
) -> None:
    for row in means.rows:
        channel = row.solutions[0].channel
        inputs, scores = numbers(channel)
        worst = (channel.matrix @ scores**2 - inputs**2).max()
        assert worst <= float(TwoValuedResponder(0, 1, row.epsilon).size) ** 2 * (1 + 1e-5)


def test_a_simulation_has_the_error_that_is_stated(means: MeanComparison) -> None:
    row = means.rows[2]
    channel, generator = row.solutions[1].channel, np.random.default_rng(3)
    labels, scores = numbers(channel)
    repeats = 200
    place = np.tile(SKEWED / 100 * 8, repeats)
    moved = np.floor(place).astype(int) + (generator.random(len(place)) < place % 1)
    reports = channel.privatize(labels[np.minimum(moved, 8)], generator)
    found = 50 * (scores[reports.data].reshape(repeats, -1).mean(axis=1) + 1)
    assert abs(found.mean() - SKEWED.mean()) < 4 * row.tailored / math.sqrt(repeats)
    spread = found.std(ddof=1)
    assert abs(spread - row.tailored) < 4 * row.tailored / math.sqrt(2 * repeats)


# --- the picture of which mechanism is at least as good as which ----------------------------------


@pytest.mark.parametrize("k", [2, 4])
def test_every_mechanism_of_the_picture_is_a_channel_and_spends_its_budget(k: int) -> None:
    for name, entries in tables(k).items():
        assert all(sum(row) == 1 for row in entries)
        ratios = [Fraction(max(column), min(column)) for column in zip(*entries, strict=True)]
        assert max(ratios) <= RATIO
        # what leaves the whole range is normalized away: half of the budget, and a bit more
        assert (max(ratios) == RATIO) == (name != "exponential")


def test_randomized_response_refines_every_private_channel_of_two_inputs_and_few_of_four() -> None:
    two, four = tables(2), tables(4)
    assert all(decide(two["randomized response"], table) for table in two.values())
    below = [name for name in four if decide(four["randomized response"], four[name])]
    assert below == ["randomized response", "exponential"]


def test_the_picture_is_drawn_by_one_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([str(tmp_path / "refinement.png")])
    assert (tmp_path / "refinement.png").stat().st_size > 10_000
    assert "| 4 | geometric noise | exponential |" in capsys.readouterr().out
