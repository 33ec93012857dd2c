"""The sampling mechanism: Proposition 2 gives the largest probability of releasing X."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from mechdesign.accounting import SamplingMechanism, privacy_profile
from mechdesign.errors import InputError
from mechdesign.prior import Prior


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("delta", ["0.0001", "0.01", "0.4"])
def test_a_fine_discretization_has_its_delta_and_more_is_not_private(
    epsilon: str, delta: str
) -> None:
    """On k atoms delta is less by a multiple of 1/k, so it converges to that without atoms."""
    best = SamplingMechanism.best(epsilon, delta)
    promised = float(delta)
    found = []
    for k in (16, 64):
        exact = privacy_profile(best.channel(Prior.uniform(k)), [epsilon], Prior.uniform(k))
        found.append(float((exact.lip or ())[0]))
    bound = 2 * math.expm1(float(epsilon)) + 1
    assert all(d <= promised * (1 + 1e-12) for d in found)
    assert found[0] <= found[1]
    assert found[1] >= promised - bound / 64
    assert best.delta(epsilon).high <= promised * (1 + 1e-12)
    more = SamplingMechanism(min(best.keep * Fraction(1001, 1000), Fraction(1)))
    assert best.keep == 1 or more.delta(epsilon).low > promised


@given(st.fractions(0, 1, max_denominator=1000), st.fractions(0, 5, max_denominator=50))
def test_an_atom_lowers_the_leakage_as_in_the_theorem(keep: Fraction, epsilon: Fraction) -> None:
    k = 5
    prior = Prior.uniform(k)
    exact = float(
        (privacy_profile(SamplingMechanism(keep).channel(prior), [epsilon], prior).lip or ())[0]
    )
    grown, share = math.exp(epsilon), float(keep)
    forward = max(0.0, share - (grown - 1 + share) / k) / grown
    backward = max(0.0, 1 - grown * (1 - share)) * (1 - 1 / k)
    assert exact == pytest.approx(max(forward, backward), abs=1e-12)


def test_nothing_is_released_without_delta_and_all_with_delta_one() -> None:
    assert SamplingMechanism.best(2, 0).keep == 0
    assert SamplingMechanism.best(2, 1).keep == 1


@pytest.mark.parametrize(
    ("call", "key"),
    [
        (lambda: SamplingMechanism(1.1), "keep"),
        (lambda: SamplingMechanism(math.nan), "keep"),
        (lambda: SamplingMechanism.best(-1, 0.1), "epsilon"),
        (lambda: SamplingMechanism.best(1, 1.5), "delta"),
        (lambda: SamplingMechanism.best(1, -0.1), "delta"),
        (lambda: SamplingMechanism(0.5).delta(1e4), "epsilon"),
    ],
)
def test_bad_input_gets_a_line(call: object, key: str) -> None:
    with pytest.raises(InputError, match=key):
        call()  # type: ignore[operator]
