"""Bounds rounded outward hold what the exact ones hold, and little more: both in decimals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    CertificateError,
    HammingLoss,
    Problem,
)
from mechdesign.certify.bounds.outward import (
    bounded_pairs,
    ldp_budget,
    lift_exponent,
    lift_range,
    ratio_ceiling,
)
from mechdesign.exact import LARGEST_EXPONENT
from mechdesign.notions import Notion
from tests.strategies import budgets, exp, statement_of

CLOSE = Fraction(1, 10**40)
FINE = Fraction(1, 10**55)
"""What the exponentials in decimals are right to."""


def stated(*notions: Notion) -> Any:
    return statement_of(Problem(3, list(notions), HammingLoss(), prior=["0.2", "0.3", "0.5"]))


@given(budgets(most="20"), st.fractions("0.1", 5, max_denominator=99))
def test_a_ceiling_is_just_above_the_ratio(exponent: Fraction, factor: Fraction) -> None:
    ceiling, exact = ratio_ceiling((exponent, factor)), factor * Fraction(exp(exponent))
    assert ceiling is not None
    assert -FINE <= ceiling / exact - 1 <= CLOSE
    assert (ceiling == factor) == (exponent == 0)


def test_there_is_no_ceiling_without_a_limit_nor_beyond_the_largest_exponent() -> None:
    edge = Fraction(LARGEST_EXPONENT)
    assert ratio_ceiling(None) is None
    assert ratio_ceiling((edge, Fraction(1))) is not None
    assert ratio_ceiling((edge + Fraction(1, 10**9), Fraction(1))) is None


@given(budgets("0.1"))
def test_the_range_of_lifts_just_holds_both_ends(a: Fraction) -> None:
    (lip,) = stated(LIP(a)).privacy
    low, high = lift_range(lip)
    assert high is not None
    assert -FINE < Fraction(exp(-a)) - low < CLOSE
    assert -FINE < high / Fraction(exp(a)) - 1 < CLOSE
    assert low * high <= 1
    assert lift_exponent(lip, "upper") == lift_exponent(lip, "lower") == a
    (pml,) = stated(PML(a)).privacy
    assert lift_range(pml) == (0, high)
    (above,) = stated(AsymmetricLift("inf", a)).privacy
    (below,) = stated(AsymmetricLift(a, "inf")).privacy
    assert lift_range(above) == (0, high)
    assert lift_range(below) == (low, None)


def test_an_exponent_is_of_a_side_that_has_rows() -> None:
    (pml,) = stated(PML(1)).privacy
    assert lift_exponent(pml, "upper") == 1
    for side in ("lower", "ratio", None, 1):
        with pytest.raises(CertificateError, match="with no row"):
            lift_exponent(pml, side)


def test_pairs_are_those_of_different_inputs_with_a_bound() -> None:
    one, two = (Fraction(1), Fraction(1)), (Fraction(2), Fraction(1))
    limits = [[one, two, None], [None, None, one], [one, None, None]]
    assert list(bounded_pairs(limits)) == [(0, 1, two), (1, 2, one), (2, 0, one)]


def test_the_budget_is_the_least_of_local_differential_privacy() -> None:
    assert ldp_budget(stated(LIP("0.1"), LDP(2), LDP("0.7"), LDP(1))) == Fraction(7, 10)
    with pytest.raises(CertificateError, match="needs local differential privacy"):
        ldp_budget(stated(LIP(1)))
