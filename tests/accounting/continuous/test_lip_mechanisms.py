"""Laplace noise under LIP, Theorem 6 of TIFS, and the sampling mechanism, Proposition 2."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import accounting
from mechdesign.prior import Prior
from tests.strategies import examples

VALUES, PRIOR = (0, 1, 2), Prior(["13/30", "10/30", "7/30"])


def leakage_by_search(mechanism: accounting.LaplaceMechanism) -> float:
    """Return the largest |ln f_x(y) / g(y)| on a fine grid of reports."""
    x, b = np.array(mechanism.values), np.array(mechanism.scales)
    y = np.unique(np.concatenate([np.linspace(x.min() - 1, x.max() + 1, 5001), x]))
    own = np.exp(-np.abs(y[:, None] - x) / b) / b
    return float(np.abs(np.log(own / (own @ mechanism.prior.array)[:, None])).max())


@examples(15)
@given(
    st.lists(st.integers(-20, 20), min_size=2, max_size=5, unique=True),
    st.lists(st.integers(1, 9), min_size=5, max_size=5),
    st.floats(0.3, 4),
)
def test_the_leakage_is_the_largest_found(
    integers: list[int], counts: list[int], scale: float
) -> None:
    values, prior = [n / 4 for n in integers], Prior.from_counts(counts[: len(integers)])
    made = accounting.LaplaceMechanism(values, prior, scale)
    low, high = made.leakage()
    assert low <= leakage_by_search(made) + 1e-9 <= high + 2e-9 <= low + 3e-9


@pytest.mark.parametrize("epsilon", [0.2, 1, 1.4, 1.5, 4])
def test_the_formula_is_valid_and_the_least_scale_is_less(epsilon: float) -> None:
    """Theorem 6 adds more noise than needed. At the least scale epsilon holds, below it does not.

    From epsilon = ln(1 / p) on, (25) turns to D / epsilon, where the first branch still holds.
    """
    scale, p = accounting.laplace_scale(VALUES, PRIOR, epsilon), float(min(PRIOR))
    low, high = accounting.least_laplace_scale(VALUES, PRIOR, epsilon)
    assert low < high <= low * (1 + 2e-9) < scale
    assert accounting.LaplaceMechanism(VALUES, PRIOR, scale).leakage().high < epsilon
    assert accounting.LaplaceMechanism(VALUES, PRIOR, high).leakage().high <= epsilon
    assert accounting.LaplaceMechanism(VALUES, PRIOR, low * 0.999).leakage().low > epsilon
    first = 2 / math.log((math.exp(epsilon) - p) / (1 - p))
    assert accounting.LaplaceMechanism(VALUES, PRIOR, first).leakage().high <= epsilon
    assert scale > first * 1.05 if epsilon > math.log(1 / p) else scale == pytest.approx(first)


@given(st.integers(1, 60), st.lists(st.integers(1, 20), min_size=2, max_size=5))
@examples(40)
def test_the_scale_of_the_formula_is_rounded_up(tenths: int, counts: list[int]) -> None:
    prior, values = Prior.from_counts(counts), range(len(counts))
    with localcontext(prec=60):
        e = Decimal(tenths) / 10
        p = Decimal(min(counts)) / sum(counts)
        inner = ((e.exp() - p) / (1 - p)).ln()
        scale = (len(counts) - 1) / (e if e >= (1 / p).ln() else inner)
        found = Decimal(accounting.laplace_scale(values, prior, f"{tenths}/10"))
        assert scale <= found <= scale * (1 + Decimal("1e-15"))
    assert 1e99 < accounting.laplace_scale([0, 1], Prior(["1/2", "1/2"]), "1e-100") < 1.1e100


def test_scales_that_depend_on_the_value_leak_without_limit() -> None:
    """(26) of TIFS: far from all values the ratio to the wider noise is unbounded."""
    scales = [2 / (0.3 * float(p) + 1) for p in PRIOR]
    assert accounting.LaplaceMechanism(VALUES, PRIOR, scales).leakage().low == math.inf
    y = np.exp(-np.abs(600.0 - np.array(VALUES)) / scales) / scales
    assert abs(np.log(y / (y @ PRIOR.array))).max() > 5
    made = accounting.LaplaceMechanism(VALUES, PRIOR, [1, 2, 3])
    assert made.expected_error() == pytest.approx(float(PRIOR.array @ [1, 2, 3]))
    assert accounting.LaplaceMechanism(VALUES, PRIOR, 1e-6).leakage().high == pytest.approx(2e6)


def delta_on(k: int, mechanism: accounting.SamplingMechanism, epsilon: Fraction | str) -> float:
    """Return the exact delta of the mechanism on k equally likely inputs."""
    prior = Prior.uniform(k)
    found = accounting.privacy_profile(mechanism.channel(prior), [epsilon], prior).lip
    return float(found[0])


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("delta", ["0.0001", "0.01", "0.4"])
def test_a_fine_discretization_has_its_delta_and_more_is_not_private(
    epsilon: str, delta: str
) -> None:
    """On k atoms delta is less by a multiple of 1/k, so it converges to that without atoms."""
    best, promised = accounting.SamplingMechanism.best(epsilon, delta), float(delta)
    few, many = (delta_on(k, best, epsilon) for k in (16, 64))
    bound = 2 * math.expm1(float(epsilon)) + 1
    assert promised - bound / 64 <= many <= promised * (1 + 1e-12)
    assert few <= many
    assert best.delta(epsilon).high <= promised * (1 + 1e-12)
    more = accounting.SamplingMechanism(min(best.keep * Fraction(1001, 1000), Fraction(1)))
    assert best.keep == 1 or more.delta(epsilon).low > promised


@examples(20)
@given(st.fractions(0, 1, max_denominator=1000), st.fractions(0, 5, max_denominator=50))
def test_an_atom_lowers_the_leakage_as_in_the_theorem(keep: Fraction, epsilon: Fraction) -> None:
    k, grown, share = 5, math.exp(epsilon), float(keep)
    forward = max(0.0, share - (grown - 1 + share) / k) / grown
    backward = max(0.0, 1 - grown * (1 - share)) * (1 - 1 / k)
    exact = delta_on(k, accounting.SamplingMechanism(keep), epsilon)
    assert exact == pytest.approx(max(forward, backward), abs=1e-12)


def test_nothing_is_released_without_delta_and_all_with_delta_one() -> None:
    assert [accounting.SamplingMechanism.best(2, delta).keep for delta in (0, 1)] == [0, 1]
