"""The least worst-case variance on an interval lies where a design on nodes says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from benchmarks.mean_estimation import duchi, hybrid, optimum, piecewise
from mechdesign import LDP, Problem, UnbiasedVariance, design


def test_more_nodes_bound_it_closer() -> None:
    """The bounds of few nodes are around those of many, and differ by h**2 / 4 at most."""
    few, more = optimum("1", 5), optimum("1", 9)
    assert few[0] <= more[0] <= more[1] <= few[1]
    for (low, high), nodes in ((few, 5), (more, 9)):
        assert high - low <= Fraction(2, nodes - 1) ** 2 / 4 + low / 10**4
    assert float(few[0]) == pytest.approx(3.98002, rel=1e-4)


def test_it_is_below_what_is_published() -> None:
    """By the published values at epsilon = 4: 1.076, 0.241 and 0.219."""
    assert duchi(1) == pytest.approx(4.6827, abs=1e-4)
    assert [round(formula(4), 3) for formula in (duchi, piecewise, hybrid)] == [1.076, 0.241, 0.219]
    for epsilon in ("0.5", "2", "4"):
        _, high = optimum(epsilon, 13)
        assert high < min(formula(float(epsilon)) for formula in (duchi, piecewise, hybrid))
    assert optimum("4", 17)[1] < 0.15


def test_the_upper_bound_is_that_of_the_rounded_channel() -> None:
    """At points between nodes the variance of the kernel that rounds is below it, and once near."""
    x = [Fraction(n, 3) - 1 for n in range(7)]
    solution = design(Problem(range(7), LDP(1), UnbiasedVariance(x, True)), gap=1e-4)
    v = np.array([float(reading) for reading in solution.decoder or ()])
    nodes, second = np.array([float(a) for a in x]), solution.channel.matrix @ v**2
    points = np.linspace(-1, 1, 6001)
    largest = (np.interp(points, nodes, second) - points**2).max()
    assert float(optimum("1", 7)[1]) == pytest.approx(largest, rel=1e-6)
