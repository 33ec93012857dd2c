"""All interior-point methods: steps stay inside, aims fall, stagnation is noticed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign.search.interior.kernel import (
    FRACTION_TO_BOUNDARY,
    Stagnation,
    centering,
    dual_change,
    longest_step,
)

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.sampled_from([1.0, 1 / FRACTION_TO_BOUNDARY, 10.0]))
def test_the_longest_step_ends_at_the_boundary_or_at_most(seed: int, most: float) -> None:
    rng = np.random.default_rng(seed)
    x, dx = rng.random(6) + 1e-3, rng.normal(size=6)
    step = float(longest_step((dx / x).min(), most))
    assert 0 < step <= most * (1 + 1e-15)
    assert (x + step * dx >= -1e-12).all()
    if step < most * (1 - 1e-12):
        assert abs((x + step * dx).min()) <= 1e-12
    assert (x + FRACTION_TO_BOUNDARY * step * dx > 0).all()


def test_several_problems_have_a_step_each() -> None:
    np.testing.assert_array_equal(longest_step(np.array([-2.0, 3.0, -0.5])), [0.5, 1.0, 1.0])


@given(SEEDS)
def test_the_dual_change_solves_the_linearized_condition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, z = rng.random(5) + 0.1, rng.random(5) + 0.1
    dx, residual = rng.normal(size=5), rng.normal(size=5)
    dz = dual_change(residual, x, z, dx)
    np.testing.assert_allclose(x * dz + z * dx, residual, atol=1e-12)


def test_centering_decreases_with_the_remainder_of_the_predictor() -> None:
    shares = centering(np.array([-0.1, 0.0, 0.01, 0.1, 0.5, 1.0, 3.0]))
    assert (np.diff(shares) >= 0).all()
    assert shares[0] > 0
    assert shares[-1] == 1
    assert shares[4] == 0.125


@pytest.mark.parametrize("patience", [1, 3])
def test_stagnation_ends_after_its_patience_and_not_before(patience: int) -> None:
    stagnation = Stagnation(np.inf, patience, 0.9)
    assert not stagnation.ends(1.0)
    told = [stagnation.ends(0.95) for _ in range(patience)]
    assert told == [False] * (patience - 1) + [True]
    assert not stagnation.ends(0.5)  # a smaller gap starts the count anew


def test_one_active_problem_of_a_batch_continues_it() -> None:
    stagnation = Stagnation(np.array([1.0, 1.0]), 1)
    assert not stagnation.ends(np.array([2.0, 0.5]))
    assert stagnation.ends(np.array([2.0, 0.4]), np.array([True, False]))


def test_a_nan_gap_is_not_smaller() -> None:
    assert Stagnation(np.inf, 1).ends(np.nan)
