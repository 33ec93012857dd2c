"""Gains are their formulas, rounded as asked; a risk is that of the inverse, within its error."""

from __future__ import annotations

from contextlib import nullcontext
from fractions import Fraction
from math import log
from operator import mul

import pytest
import scipy.optimize
from hypothesis import given, strategies as st

from mechdesign.kernel import risk
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.gains import Entropy, Squares, units
from mechdesign.kernel.objectives import Risk
from tests.kernel.draws import refused

ONE, ZERO = Fraction(1), Fraction(0)


def test_units_have_one_entry_for_each_input() -> None:
    """A vector that is too long sums to the same, but is like no other once inputs are swapped."""
    p = (Fraction(1, 2), ZERO, Fraction(1, 2))
    assert units(p) == ((p[0], ZERO, ZERO), (ZERO, ZERO, p[2]))


def test_a_weighted_sum_of_squares_has_all_denominators() -> None:
    """(q_0 / 2 + q_1 / 3)**2 / 5 over (q_0 + q_1) / 2, at q = (1, 2)."""
    gain = Squares(((ONE / 2, ONE / 3),), (ONE / 2, ONE / 2), (ONE / 5,))
    expected = (ONE / 2 + 2 * ONE / 3) ** 2 / 5 / (3 * ONE / 2)
    assert gain([1, 2], up=True) == gain([1, 2], up=False) == expected


K3 = (ONE / 2, ONE / 3, ONE / 6)


def test_an_entropy_is_enclosed_and_is_a_sum_over_inputs() -> None:
    """g(q) = t Sum_x h_x(q_x / t) with t = p . q, and g is irrational."""
    gain, q = Entropy.of_inputs(K3), (2, 3, 7)
    low, high = gain(q, up=False), gain(q, up=True)
    t = sum(map(mul, K3, q))
    assert low < high < low + Fraction(1, 10**30)
    assert float(high) == pytest.approx(
        sum(float(p) * v * log(v / t) for p, v in zip(K3, q, strict=True))
    )
    whole = sum(t * gain.split(x)(v / t) for x, v in enumerate(q))
    assert high * UNIT <= whole <= (high + Fraction(1, 10**30)) * UNIT


def test_an_inverse_that_is_off_by_more_than_half_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neumann's series bounds the error of an inverse with a residual of at most one half."""
    columns = [[3, 1], [1, 3]]
    honest = risk._inverted
    for share, holds in ((1, True), (Fraction(5, 8), True), (Fraction(2, 5), False)):

        def shrunk(M: list[list[int]], bits: int, share: Fraction | int = share) -> list[list[int]]:
            return [[int(v * share) for v in row] for row in honest(M, bits)]

        monkeypatch.setattr(risk, "_inverted", shrunk)
        with nullcontext() if holds else refused("do not determine"):
            found = risk.Inverse.of(columns, 4, (ONE / 2, ONE / 2))
            off = max(abs(v / share - v) for row in found.entries for v in row)
            assert found.error >= max(off, 1)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 9)), min_size=1, max_size=4))
def test_the_most_on_a_simplex_is_the_value_of_the_best_distribution(
    terms: list[tuple[int, int]],
) -> None:
    b, h = [Fraction(v) for v, _ in terms], [Fraction(v, 7) for _, v in terms]
    found = risk._most_on_simplex(b, h)

    def least_multiplier(t: float) -> float:
        return sum(max(0.0, float(v) - t) / (2 * float(w)) for v, w in zip(b, h, strict=True)) - 1

    t = scipy.optimize.brentq(least_multiplier, -100, 100)
    p = [max(0.0, float(v) - t) / (2 * float(w)) for v, w in zip(b, h, strict=True)]
    best = sum(float(v) * a - float(w) * a * a for v, w, a in zip(b, h, p, strict=True))
    assert float(found) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("roots", [False, True])
def test_the_worst_case_of_a_symmetric_channel_is_at_the_even_prior(roots: bool) -> None:
    columns, p = [[4, 1, 1], [1, 4, 1], [1, 1, 4]], (ONE / 3,) * 3
    worst, mean = (risk.risk(Risk(roots, prior), columns, 6, p) for prior in (None, p))
    assert float(worst) == pytest.approx(float(mean))
