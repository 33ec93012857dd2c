"""A claimed bound is at most the one that is proved, from its side; a value is the one computed."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mechdesign.kernel.claims import verify_bound, verify_value
from tests.kernel.draws import refused

HALF = Fraction(1, 2)
LESS, MORE = 0.499999, 0.500001


@pytest.mark.parametrize("sign", [1, -1])
def test_a_claimed_bound_does_not_exceed_the_proved_one(sign: int) -> None:
    """Of a loss it is a lower bound, of a gain an upper one; the proved number itself will do."""
    maximized = sign < 0
    for shown in (0.5, 0.5 - sign * 1e-6):
        assert f"{shown:.10g}" in verify_bound(HALF, HALF, shown, "x", maximized)
    with refused("the bound proved is"):
        verify_bound(HALF, HALF, 0.5 + sign * 1e-6, "x", maximized)
    with refused("contradicts itself"):
        verify_bound(HALF - sign * Fraction(1, 10**6), HALF, 0.5 - sign, "x", maximized)


def test_a_bound_is_of_a_loss_unless_a_gain_is_maximized() -> None:
    assert "has a loss below 0.25" in verify_bound(HALF, HALF, 0.25, "channel")
    with refused("the bound proved is"):
        verify_bound(HALF, HALF, 0.75, "channel")
    assert "is above 0.75" in verify_bound(HALF / 2, HALF, 0.75, "channel", is_maximized=True)


def test_a_value_is_the_one_that_is_computed() -> None:
    assert "0.5" in verify_value(HALF, 0.5)
    for wrong in (LESS, MORE, -0.5):
        with refused("the value is"):
            verify_value(HALF, wrong)
