"""The least worst-case variance on an interval is below what is published."""

from __future__ import annotations

import pytest

from benchmarks.mean_estimation import duchi, hybrid, optimum, piecewise


def test_it_is_below_the_published_variance() -> None:
    """By the published values at epsilon = 4: 1.076, 0.241 and 0.219."""
    assert duchi(1) == pytest.approx(4.6827, abs=1e-4)
    assert [round(formula(4), 3) for formula in (duchi, piecewise, hybrid)] == [1.076, 0.241, 0.219]
    for epsilon in ("0.5", "2", "4"):
        value = optimum(epsilon, 0.05).value
        assert value < min(formula(float(epsilon)) for formula in (duchi, piecewise, hybrid))
        assert epsilon != "4" or value < 0.15
