"""The sampling mechanism: Proposition 2 gives the largest probability of releasing X."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from mechdesign.accounting import SamplingMechanism, privacy_profile
from mechdesign.prior import Prior
from tests.strategies import examples


def delta_on(k: int, mechanism: SamplingMechanism, epsilon: Fraction | str) -> float:
    """Return the exact delta of the mechanism on k equally likely inputs."""
    prior = Prior.uniform(k)
    found = privacy_profile(mechanism.channel(prior), [epsilon], prior).lip
    assert found is not None
    return float(found[0])


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("delta", ["0.0001", "0.01", "0.4"])
def test_a_fine_discretization_has_its_delta_and_more_is_not_private(
    epsilon: str, delta: str
) -> None:
    """On k atoms delta is less by a multiple of 1/k, so it converges to that without atoms."""
    best, promised = SamplingMechanism.best(epsilon, delta), float(delta)
    few, many = (delta_on(k, best, epsilon) for k in (16, 64))
    bound = 2 * math.expm1(float(epsilon)) + 1
    assert promised - bound / 64 <= many <= promised * (1 + 1e-12)
    assert few <= many
    assert best.delta(epsilon).high <= promised * (1 + 1e-12)
    more = SamplingMechanism(min(best.keep * Fraction(1001, 1000), Fraction(1)))
    assert best.keep == 1 or more.delta(epsilon).low > promised


@examples(20)
@given(st.fractions(0, 1, max_denominator=1000), st.fractions(0, 5, max_denominator=50))
def test_an_atom_lowers_the_leakage_as_in_the_theorem(keep: Fraction, epsilon: Fraction) -> None:
    k, grown, share = 5, math.exp(epsilon), float(keep)
    forward = max(0.0, share - (grown - 1 + share) / k) / grown
    backward = max(0.0, 1 - grown * (1 - share)) * (1 - 1 / k)
    exact = delta_on(k, SamplingMechanism(keep), epsilon)
    assert exact == pytest.approx(max(forward, backward), abs=1e-12)


def test_nothing_is_released_without_delta_and_all_with_delta_one() -> None:
    assert [SamplingMechanism.best(2, delta).keep for delta in (0, 1)] == [0, 1]
