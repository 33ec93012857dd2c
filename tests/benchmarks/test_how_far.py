"""The page on how far from optimal mechanisms are: its laws, its bounds, and its table."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.how_far import (
    DOCS,
    LINE,
    MARK,
    Task,
    clipped,
    computed,
    distances,
    frequencies,
    geometric_cdf,
    grades,
    laplace_cdf,
    noise_law,
    places,
    table,
)

APART = np.abs(np.subtract.outer(np.arange(LINE), np.arange(LINE))).astype(float)


@pytest.mark.parametrize("epsilon", [0.3, 1, 3])
def test_noise_is_private_for_its_budget(epsilon: float) -> None:
    """Both halves: the ratios of neighbors are at most e**epsilon, and not less by much."""
    for matrix, sharp in (
        (clipped(LINE, laplace_cdf(1 / epsilon)), 0.05),
        (clipped(LINE, geometric_cdf(epsilon)), 1e-9),
        (noise_law(-epsilon / 2 * APART), 0.5),  # half of it goes into the normalization
    ):
        assert np.allclose(matrix.sum(axis=1), 1)
        ratio = np.abs(np.diff(np.log(matrix), axis=0)).max()
        assert epsilon * (1 - sharp) - 1e-9 <= ratio <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_clipped_noise_is_that_of_draws(scale: float) -> None:
    rng = np.random.default_rng(0)
    drawn = np.clip(np.rint(5 + rng.laplace(0, scale, 200_000)), 0, LINE - 1).astype(int)
    law = clipped(LINE, laplace_cdf(scale))[5]
    assert np.abs(np.bincount(drawn, minlength=LINE) / 200_000 - law).max() < 0.006
    steps = rng.geometric(1 - math.exp(-scale), (2, 200_000)) - 1
    drawn = np.clip(5 + steps[0] - steps[1], 0, LINE - 1)
    law = clipped(LINE, geometric_cdf(scale))[5]
    assert np.abs(np.bincount(drawn, minlength=LINE) / 200_000 - law).max() < 0.006


@pytest.mark.parametrize("make", [frequencies, grades, distances, places])
def test_no_mechanism_is_below_the_bound(make: object) -> None:
    task: Task = make()  # type: ignore[operator]
    curves = computed(task, task.shown)
    for name in curves.losses:
        assert min(curves.ratios(name)) >= 1 - 1e-6
    for low, high in curves.bounds:
        assert low <= high <= low * 1.001
    page = (DOCS / "how_far.md").read_text(encoding="utf-8").split(MARK)[1].splitlines()
    made = table([curves]).splitlines()
    assert set(made) <= set(page), "run: python -m benchmarks.how_far"
