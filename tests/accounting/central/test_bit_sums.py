"""The law of one entry of a sum of bit vectors: against sums of binomials in rationals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign.accounting.central.sums import bit_sum, hockey_stick
from tests.strategies import examples


def entry(own: Fraction, p: Fraction, q: Fraction, m: int, r: int) -> Any:
    """Return the exact law of the own bit plus the bits of the others."""
    law = np.array([1 - own, own], dtype=object)
    for chance, times in ((p, m), (q, r)):
        powers = (chance**s * (1 - chance) ** (times - s) for s in range(times + 1))
        law = np.convolve(law, [math.comb(times, s) * power for s, power in enumerate(powers)])
    return law


chances = st.tuples(
    st.fractions(Fraction(1, 10**6), 1 - Fraction(1, 10**6), max_denominator=10**6),
    st.fractions(Fraction(1, 10**6), 1 - Fraction(1, 10**6), max_denominator=10**6),
).filter(lambda pair: pair[0] != pair[1])


@given(chances, st.integers(0, 30), st.integers(0, 30))
@examples(30)
def test_masses_and_losses_are_within_their_bounds(
    pair: tuple[Fraction, Fraction], m: int, r: int
) -> None:
    p, q = max(pair), min(pair)
    law = bit_sum(p, q, m, r, 1e-100)
    high, low = entry(p, p, q, m, r), entry(q, p, q, m, r)
    losses = [math.log(a / b) for a, b in zip(high, low, strict=True)]
    # the first place of the kept law: nearly all mass is kept
    starts = range(len(high) - len(law.high) + 1)
    start = min(starts, key=lambda s: abs(losses[s] - law.loss[0]))
    kept = slice(start, start + len(law.high))
    assert float(sum(high) - sum(high[kept])) <= law.spare + 1e-300
    assert float(sum(low) - sum(low[kept])) <= law.spare + 1e-300
    np.testing.assert_allclose(law.loss, losses[kept], rtol=0, atol=law.wrong + 1e-13)
    for found, exact in ((law.high, high[kept]), (law.low, low[kept])):
        logs = [math.log(float(f)) - math.log(e) for f, e in zip(found, exact, strict=True)]
        assert max(map(abs, logs)) <= law.factor + 1e-12
    assert all(one <= other for one, other in pairwise(law.loss))


@given(chances, st.integers(0, 8), st.integers(0, 8), st.integers(0, 8), st.floats(0, 3))
@examples(60)
def test_the_divergence_lies_between_its_bounds(
    pair: tuple[Fraction, Fraction], m: int, other: int, n: int, epsilon: float
) -> None:
    p, q = max(pair), min(pair)
    m, other = min(m, n), min(other, n)
    laws = [bit_sum(p, q, each, n - each, 1e-12) for each in (m, other)]
    places = ((m, n - m), (other, n - other))
    (a, b), (c, d) = ([entry(own, p, q, *place) for own in (p, q)] for place in places)
    odds = Fraction(math.exp(epsilon))  # exact up to e**epsilon
    exact = np.maximum(np.outer(a, d) - odds * np.outer(b, c), 0).sum()
    low, high = (hockey_stick(*laws, epsilon, up=up) for up in (False, True))
    # e**epsilon of the reference is a float with an error of one unit
    slack = 4e-16 * math.exp(epsilon)
    assert low - slack <= exact <= high + slack
    assert high - low <= 1e-9 * high + 1e-11


@pytest.mark.parametrize("log_n", [3, 5, 7, 9])
def test_many_people_cost_a_window_and_no_digits(log_n: int) -> None:
    n, q = 10**log_n, Fraction(1, 100)
    law = bit_sum(1 - q, q, n // 3, n - n // 3, 1e-9)
    spread = math.sqrt(n * q * (1 - q))
    assert len(law.high) < 22 * spread + 300
    assert law.spare < 1e-15
    assert law.factor < 1e-2
    for own, masses in ((1 - q, law.high), (q, law.low)):
        assert masses.sum() == pytest.approx(1, abs=1e-9)
        mean = masses @ np.arange(len(masses))
        variance = masses @ (np.arange(len(masses)) - mean) ** 2
        expected = n * q * (1 - q) + own * (1 - own)
        assert variance == pytest.approx(float(expected), rel=1e-6)
