"""LIP randomized response: private exactly on its region, and refused outside."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, strategies as st

from mechdesign import LIP, Prior, UnsupportedError
from mechdesign.exact import exp_lower, exp_upper
from mechdesign.mechanisms import LIPRandomizedResponse
from tests.mechanisms_support import exact_table
from tests.strategies import examples

budgets = st.sampled_from([Fraction("0.2"), Fraction(1), Fraction(2), Fraction(5), Fraction(25)])


@st.composite
def on_the_region(draw: st.DrawFn) -> LIPRandomizedResponse:
    epsilon = draw(budgets)
    prior = Prior.from_counts(draw(st.lists(st.integers(1, 60), min_size=2, max_size=7)))
    assume(prior.minimum * (exp_lower(epsilon) + 1) >= 1)
    return LIPRandomizedResponse(len(prior), epsilon, prior)


@given(on_the_region())
@examples(16)
def test_it_is_private_exactly_and_not_more(mechanism: LIPRandomizedResponse) -> None:
    epsilon, prior = mechanism.privacy.epsilon, mechanism.prior
    bound = exp_lower(epsilon)
    table, law = exact_table(mechanism), mechanism.output_distribution(prior)
    lifts = [q / total for row in table for q, total in zip(row, law, strict=True)]
    assert 1 / bound <= min(lifts)
    assert max(lifts) <= bound
    assert mechanism.largest_ratio() == max(1 / min(lifts), *lifts)
    assert LIP(epsilon).holds(mechanism.dense(), prior)
    assert not LIP(epsilon * Fraction(9999, 10000)).holds(mechanism.dense(), prior)
    assert float(epsilon) * (1 - 1e-5) <= mechanism.leakage <= float(epsilon) * (1 + 1e-15)


@given(budgets)
@examples(5)
def test_it_holds_on_the_border_and_is_refused_below(epsilon: Fraction) -> None:
    """The region is P_min >= 1/(e**eps + 1), with the rational bounds of e**eps on either side."""
    inside, outside = 1 / (exp_lower(epsilon) + 1), 1 / (exp_upper(epsilon) + 1)
    mechanism = LIPRandomizedResponse(2, epsilon, Prior([inside, 1 - inside]))
    assert LIP(epsilon).holds(mechanism.dense(), mechanism.prior)
    less = outside * (1 - Fraction(1, 2**150))
    with pytest.raises(UnsupportedError, match="1/"):
        LIPRandomizedResponse(2, epsilon, Prior([less, 1 - less]))


def test_outside_the_region_the_error_has_the_leakage_of_the_formula() -> None:
    """P = 0.01 at epsilon = 1: 4.15 epsilon, the erratum."""
    with pytest.raises(UnsupportedError, match=r"would leak 4.1523 = 4.15 epsilon") as found:
        LIPRandomizedResponse(2, 1, Prior(["0.01", "0.99"]))
    assert "P_min = 0.01" in str(found.value)
    with pytest.raises(UnsupportedError, match="leak inf"):
        LIPRandomizedResponse(2, 1, Prior([0, 1]))
