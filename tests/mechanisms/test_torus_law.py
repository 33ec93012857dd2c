"""The law of noise on a torus: integers that sum to 2**62 and fall as fast as privacy allows."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import UnsupportedError
from mechdesign.exact import exp_lower, exp_upper, sqrt_lower, sqrt_upper
from mechdesign.mechanisms import torus_law
from mechdesign.mechanisms.torus_law import TorusLaw
from tests.strategies import examples

WHOLE = 1 << 62
budgets = st.sampled_from(["3", "5.5", "9", "30"]).map(Fraction)
grids = st.tuples(st.integers(1, 5), st.integers(2, 5))


def length(law: TorusLaw, a: int, b: int) -> tuple[Fraction, Fraction]:
    """Return bounds on the length of a displacement, by its definition."""
    near = [min(abs(v + N * w) for w in (-1, 0, 1)) for v, N in zip((a, b), law.torus, strict=True)]
    if not law.euclidean:
        return Fraction(sum(near)), Fraction(sum(near))
    square = Fraction(sum(v * v for v in near))
    return sqrt_lower(square), sqrt_upper(square)


@given(grids, budgets, st.booleans())
@examples(15)
def test_weights_sum_to_one_and_are_private_at_every_pair(
    sides: tuple[int, int], exponent: Fraction, euclidean: bool
) -> None:
    """G(|a|) <= e**(eps | |a| - |b| |) G(|b|), for all displacements a and b."""
    law = TorusLaw.of_budget(sides, exponent, euclidean)
    assert law.table.sum() == WHOLE
    by_length = {}
    for (a, b), weight in np.ndenumerate(law.table):
        by_length.setdefault(length(law, a, b), set()).add(int(weight))
    assert all(len(weights) == 1 for weights in by_length.values())  # of the length only
    weight_of = {bounds: weights.pop() for bounds, weights in by_length.items()}
    for (low, high), (other_low, other_high) in product(weight_of, repeat=2):
        apart = max(low - other_high, other_low - high, Fraction(0))
        ratio = Fraction(weight_of[low, high], weight_of[other_low, other_high])
        assert ratio <= exp_upper(exponent * apart)


@given(grids, st.sampled_from(["0.2", "1", "4"]).map(Fraction), st.booleans())
@examples(15)
def test_the_budget_is_used_up(sides: tuple[int, int], exponent: Fraction, euclidean: bool) -> None:
    law = TorusLaw.of_budget(sides, exponent, euclidean)
    ratio = Fraction(law.weights[0], law.weights[1])
    assert exp_upper(exponent * (1 - Fraction(1, 10**12))) < ratio <= exp_lower(exponent)


@given(grids, budgets, st.booleans(), st.randoms(use_true_random=False))
@examples(15)
def test_masses_are_sums_over_the_points_that_are_reported_alike(
    sides: tuple[int, int], exponent: Fraction, euclidean: bool, random: object
) -> None:
    """The sums over rectangles are those of the points themselves, each clamped to the grid."""
    law = TorusLaw.of_budget(sides, exponent, euclidean)
    every = [np.arange(n) for n in sides]
    for x in product(*map(range, sides)):
        expected = np.zeros(sides, dtype=np.int64)
        for a, b in np.ndindex(*law.torus):
            z = (a - law.margins[0], b - law.margins[1])
            y = tuple(min(max(v, 0), n - 1) for v, n in zip(z, sides, strict=True))
            expected[y] += law.table[(z[0] - x[0]) % law.torus[0], (z[1] - x[1]) % law.torus[1]]
        assert (law.masses(x, (every[0], every[1])) == expected).all()
        assert (law.masses((every[0], every[1]), x)[x] == expected[x]).all()
        assert expected.sum() == WHOLE


def test_sides_of_two_points_have_no_margin() -> None:
    law = TorusLaw.of_budget((2, 3), Fraction(1), euclidean=True)
    assert law.margins[0] == 0 < law.margins[1]
    assert TorusLaw.of_budget((1, 2), Fraction(1), euclidean=False).torus == (1, 2)


@pytest.mark.parametrize("euclidean", [False, True])
def test_a_torus_is_no_larger_than_it_may_be(
    euclidean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torus_law, "MOST_CELLS", 1 << 14)
    law = TorusLaw.of_budget((20, 30), Fraction(1, 1000), euclidean)
    assert np.prod(law.torus) <= torus_law.MOST_CELLS
    assert law.table.sum() == WHOLE


def test_a_budget_beyond_the_resolution_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"a unit of 2\*\*-62"):
        TorusLaw.of_budget((9, 9), Fraction(1, 10**12), euclidean=False)
