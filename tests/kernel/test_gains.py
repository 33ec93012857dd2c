"""Gains are their formulas, rounded as asked; a risk is that of the inverse, within its error."""

from __future__ import annotations

import random
from contextlib import nullcontext
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, strategies as st

from mechdesign.kernel import risk
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.gains import Entropy, Gain, Squares, Vector, units
from mechdesign.kernel.objectives import Risk
from tests.kernel.draws import dot, gains, numbers, prior, refused

ONE, ZERO = Fraction(1), Fraction(0)
TINY, LAST_DIGIT = Fraction(1, 10**20), Fraction(1, 10**78)


def test_units_have_one_entry_for_each_input() -> None:
    """A vector that is too long sums to the same, but is like no other once inputs are swapped."""
    p = (Fraction(1, 2), ZERO, Fraction(1, 2))
    assert units(p) == ((p[0], ZERO, ZERO), (ZERO, ZERO, p[2]))


def test_a_weighted_sum_of_squares_has_all_denominators() -> None:
    """(q_0 / 2 + q_1 / 3)**2 / 5 over (q_0 + q_1) / 2, at q = (1, 2)."""
    gain = Squares(((ONE / 2, ONE / 3),), (ONE / 2, ONE / 2), (ONE / 5,))
    expected = (ONE / 2 + 2 * ONE / 3) ** 2 / 5 / (3 * ONE / 2)
    assert gain([1, 2], up=True) == gain([1, 2], up=False) == expected


@pytest.mark.parametrize("seed", range(20))
def test_a_gain_that_splits_is_the_sum_of_its_parts(seed: int) -> None:
    """g(q) = (p . q) Sum_x h_x(q_x / (p . q)), with each part rounded up."""
    rng = random.Random(seed)
    k = rng.randint(1, 5)
    p = prior(rng, k)
    splits, others = gains(rng, k, p)[:2], gains(rng, k, p)[2:4]
    splits.append(Squares(tuple(tuple(v * (x == n) for x in range(k)) for n, v in enumerate(p)), p,
                          numbers(rng, k, 1, 3)))  # fmt: skip
    for gain in splits:
        q = numbers(rng, k, 1, 9)
        below = dot(p, q)
        parts = sum((Fraction(gain.split(x)(v / below), UNIT) for x, v in enumerate(q)), Fraction())
        assert 0 <= below * parts - formula(gain, q) + LAST_DIGIT < TINY
    for gain in others:
        if k > 1:
            with refused("not a sum over inputs"):
                gain.split(0)


def formula(gain: Gain, q: Vector) -> Fraction:
    """Return the gain of a column by its formula, to 80 digits."""
    with mpmath.workdps(90):
        below = real(dot(gain.p, q))
        sums = [(real(dot(v, q)), real(n)) for v, n in zip(gain.vectors, gain.numbers, strict=True)]
        if isinstance(gain, Squares):
            found = sum(b * a * a for a, b in sums) / below
        elif isinstance(gain, Entropy):
            found = sum(a * mpmath.log(a / (m * below)) for a, m in sums if a)
        else:
            (a, _), (b, _) = sums
            found = (mpmath.sqrt(a) - mpmath.sqrt(b)) ** 2 / 2
        return Fraction(int(found * 10**80), 10**80)


def real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize("seed", range(20))
def test_a_gain_is_its_formula_rounded_as_asked(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(1, 5)
    for gain in gains(rng, k, prior(rng, k)):
        q = numbers(rng, k, 1, 9)
        low, high = gain(q, up=False), gain(q, up=True)
        assert low - LAST_DIGIT <= formula(gain, q) <= high + LAST_DIGIT
        assert 0 <= high - low < TINY


@pytest.mark.parametrize("seed", range(20))
def test_alike_inputs_may_be_swapped(seed: int) -> None:
    """Where two inputs are alike, the gain of every column is that of the swapped column."""
    rng = random.Random(seed)
    k = rng.randint(2, 4)
    p = (Fraction(1, k),) * k if rng.random() < 0.7 else prior(rng, k)
    for gain in gains(rng, k, p):
        x, z = rng.sample(range(k), 2)
        q = list(numbers(rng, k, 1, 9))
        swapped = list(q)
        swapped[x], swapped[z] = q[z], q[x]
        same = gain(q, up=True) == gain(swapped, up=True)
        assert same or not gain.alike(x, z)


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


def test_an_inverse_holds_for_all_matrices_that_are_rounded_to_one() -> None:
    """Entries were rounded down by less than two units of 2**-12."""
    rng, unit = np.random.default_rng(3), 1 << 12
    for k, near in ((1, 1), (2, 1), (1, unit // 9), (2, unit // 9), (3, unit // 9)):
        M = rng.integers(1 - near, near, (k, k))  # the first ones are inverted exactly
        M = M + M.T + unit * np.eye(k, dtype=int)
        found = risk.Inverse._of_matrix(M.tolist(), 12)
        for _ in range(50):
            lost = np.tril(rng.choice((0, 1, 1.999), (k, k)))
            true = np.linalg.inv((M + np.maximum(lost, lost.T)) / unit)
            off = abs(np.array(found.entries) / unit - true).max()
            assert off <= found.error / unit + 1e-12


def test_readings_are_within_the_error_that_is_stated() -> None:
    """Of any matrix whose entries are as near as the inverse says; p where an output never is."""
    rng = random.Random(3)
    for _ in range(20):
        k, error = rng.randint(1, 4), rng.randint(1, 99)
        p, entries = prior(rng, k), [[rng.randint(-999, 999) for _ in range(k)] for _ in range(k)]
        columns = [[0] * k, *([rng.randint(1, 9) for _ in range(k)] for _ in range(3))]
        (never, one), *found = risk.Inverse(entries, error, 9).readings(columns, p)
        assert [a << 9 for a in never] == pytest.approx([float(a * (1 << 18)) for a in p], abs=512)
        assert one == 1
        for q, (reading, off) in zip(columns[1:], found, strict=True):
            for row, shown in zip(entries, reading, strict=True):
                for sign in (-1, 1):
                    exact = dot([v + sign * error for v in row], q) / dot(p, q)
                    assert abs(exact - shown) <= off <= error * sum(q) / dot(p, q) + 2


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


def test_numbers_of_a_risk_are_rounded_up() -> None:
    third = Fraction(1, 3)
    assert third < risk._up(third) < third + Fraction(1, 2**99)
    assert risk._up(ONE / 4) == ONE / 4
