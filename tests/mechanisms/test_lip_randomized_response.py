"""LIP randomized response: private on its region to the last unit, and refused off it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from mechdesign import LIP, Domain, InputError, Prior, UnsupportedError
from mechdesign.exact import exp_lower, exp_upper
from mechdesign.mechanisms import LIPRandomizedResponse
from tests.mechanisms_support import (
    exact_table,
)
from tests.strategies import examples

budgets = st.sampled_from([Fraction("0.2"), Fraction(1), Fraction(2), Fraction(5), Fraction(25)])


@st.composite
def on_the_region(draw: st.DrawFn) -> LIPRandomizedResponse:
    epsilon = draw(budgets)
    prior = Prior.from_counts(draw(st.lists(st.integers(1, 60), min_size=2, max_size=7)))
    assume(prior.minimum * (exp_lower(epsilon) + 1) >= 1)
    return LIPRandomizedResponse(len(prior), epsilon, prior)


@given(on_the_region())
@examples(40)
def test_its_law_is_the_published_one(mechanism: LIPRandomizedResponse) -> None:
    """1 - (1 - P_x) e**-eps on the diagonal, P_y e**-eps elsewhere, to a few units of 2**-62."""
    shrink, prior = 1 / exp_lower(mechanism.privacy.epsilon), mechanism.prior
    for x, row in enumerate(exact_table(mechanism)):
        for y, q in enumerate(row):
            assert (q * 2**62).denominator == 1
            published = prior[y] * shrink + (1 - shrink if y == x else 0)
            assert abs(q - published) <= Fraction(40, 2**62) / prior.minimum


@given(on_the_region())
@examples(40)
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


def test_a_large_domain() -> None:
    k, n = 5000, 100_000
    prior = Prior.from_counts(np.random.default_rng(0).integers(50, 100, size=k).tolist())
    mechanism = LIPRandomizedResponse(k, 10, prior)
    least, largest = mechanism.lifts(prior)
    assert max(1 / least, largest) <= exp_lower(Fraction(10))
    records = np.random.default_rng(1).integers(0, k, size=n)
    found = mechanism.frequencies(mechanism.tally(mechanism.privatize(records, rng=1)))
    truth = np.bincount(records, minlength=k) / n
    errors = np.sqrt((found.squares - found.estimates**2) / n)
    assert (np.abs(found.estimates - truth) <= 5 * errors).all()


def test_two_priors_make_two_mechanisms() -> None:
    first = LIPRandomizedResponse(2, 1, Prior(["0.4", "0.6"]))
    assert first == LIPRandomizedResponse(2, 1, Prior(["2/5", "3/5"]))
    assert first != LIPRandomizedResponse(2, 1, Prior(["0.6", "0.4"]))


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(InputError, match="prior: expected 3 probabilities"):
        LIPRandomizedResponse(Domain.range(3), 1, Prior.uniform(2))
    with pytest.raises(InputError, match="epsilon"):
        LIPRandomizedResponse(2, 0, Prior.uniform(2))
