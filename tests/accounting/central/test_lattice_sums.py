"""Sums on a lattice against exact enumeration and long arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
from hypothesis import given, strategies as st

from mechdesign.accounting.central.lattice_sums import Part, positive_part, saddle_point, sum_law
from tests.strategies import examples


def enumerated(values: list[float], masses: list[float], n: int) -> Fraction:
    """E[(V_1 + ... + V_n)_+], in rationals."""
    exact = [(Fraction(v), Fraction(w)) for v, w in zip(values, masses, strict=True)]
    total = Fraction(0)
    for drawn in product(exact, repeat=n):
        total += math.prod(w for _, w in drawn) * max(Fraction(0), sum(v for v, _ in drawn))
    return total


@examples(40)
@given(
    st.lists(
        st.tuples(st.floats(-4, 4, allow_subnormal=False), st.floats(0.01, 1)),
        min_size=2,
        max_size=3,
    ),
    st.integers(1, 5),
)
def test_is_above_the_exact_expectation_and_near_it(
    atoms: list[tuple[float, float]], n: int
) -> None:
    values = [v for v, _ in atoms]
    mean = sum(v * w for v, w in atoms) / sum(w for _, w in atoms)
    values = [v - max(mean, 0) for v in values]  # without upward drift, as in the callers
    masses = [w / sum(w for _, w in atoms) for _, w in atoms]
    exact = float(enumerated(values, masses, n))
    found = positive_part([Part(np.array(values), np.array(masses), n)], 1e-6)
    assert exact * (1 - 1e-12) <= found
    assert found <= exact * (1 + 1e-3) + 1e-8 * max(1, *map(abs, values))
    never = Part(-np.abs(values), np.array(masses), n)
    assert positive_part([never], 1e-3) == saddle_point([never]) == 0


def test_the_law_of_a_sum_is_binomial_far_in_the_tail() -> None:
    """Coins that show heads with probability 1/4: mass e-20 and less, tilted to the middle."""
    n, theta = 1000, math.log(3.0)
    law = sum_law([Part(np.array([0.0, 1.0]), np.array([0.75, 0.25]), n)], theta)
    for heads in (430, 500, 570):
        exact = mpmath.binomial(n, heads) * mpmath.mpf(3) ** (n - heads) / mpmath.mpf(4) ** n
        mass = law.masses[heads - law.low]
        scale = law.log_scale - theta * (heads - law.center)
        found = mpmath.exp(scale) * mpmath.mpf(mass)
        allowed = law.pointwise / mass + law.relative + 1e-12
        assert abs(found / exact - 1) < allowed < 1e-6
        assert law.pointwise < 1e-11


def test_two_thousand_reports_against_long_arithmetic() -> None:
    """Three values 1, -1 and 0 with a drift: the exact sum over the number of nonzero ones."""
    n, moved, up = 2000, 0.05, 0.4
    masses = np.array([moved * up, moved * (1 - up), 1 - moved])
    found = positive_part([Part(np.array([1.0, -1.0, 0.0]), masses, n)], 1e-8)
    with mpmath.workdps(40):
        p, q = mpmath.mpf(moved * up), mpmath.mpf(moved * (1 - up))
        rest, exact = 1 - p - q, mpmath.mpf(0)
        for ups in range(10, 160):
            first, term = mpmath.binomial(n, ups) * p**ups, rest ** (n - ups)
            for downs in range(ups):
                exact += (ups - downs) * first * term
                term *= (n - ups - downs) * q / ((downs + 1) * rest)
    assert exact <= found <= exact * (1 + mpmath.mpf("1e-5"))
