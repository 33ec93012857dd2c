"""Every mechanism under LDP: exactly as private as stated, unbiased, and drawn from its law."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mechdesign import LDP, Prior
from mechdesign.mechanisms import (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    OptimizedUnaryEncoding,
    ProjectiveGeometryResponse,
    SubsetSelection,
    SymmetricUnaryEncoding,
)
from mechdesign.mechanisms.set_system import LDPMechanism
from tests.mechanisms_support import (
    check_budget,
    check_draws,
    check_lifts,
    check_moments,
    check_outputs,
    check_ratios,
    check_unbiased,
)
from tests.strategies import examples

budgets = st.sampled_from(
    [Fraction("0.01"), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(20)]
)

OPTIONS: dict[type[LDPMechanism], tuple[int, Callable[[int], st.SearchStrategy[Any]]]] = {
    GeneralizedRandomizedResponse: (20, lambda _: st.just({})),
    HadamardResponse: (17, lambda k: st.sampled_from([{}, {"copies": 1}, {"copies": min(k, 3)}])),
    ProjectiveGeometryResponse: (16, lambda _: st.sampled_from([{}, {"field": 2}, {"field": 3}])),
    SubsetSelection: (6, lambda k: st.fixed_dictionaries({"size": st.integers(1, k - 1)})),
    OptimizedUnaryEncoding: (6, lambda _: st.sampled_from([{}, {"digits": 62}])),
    SymmetricUnaryEncoding: (6, lambda _: st.sampled_from([{}, {"digits": 62}])),
}
"""The most inputs to try, and the options for so many."""

KINDS = pytest.mark.parametrize("kind", OPTIONS, ids=lambda kind: kind.name)


def mechanism(kind: type[LDPMechanism], data: st.DataObject) -> LDPMechanism:
    """Draw a mechanism of a kind."""
    most, options = OPTIONS[kind]
    k = data.draw(st.integers(2, most))
    epsilon = data.draw(budgets.filter(lambda e: kind is not ProjectiveGeometryResponse or e < 20))
    make: Callable[..., LDPMechanism] = kind
    return make(k, epsilon, **data.draw(options(k)))


@KINDS
@given(st.data())
@examples(20)
def test_it_is_private_and_not_more(kind: type[LDPMechanism], data: st.DataObject) -> None:
    made = mechanism(kind, data)
    epsilon = made.privacy.to_table()["epsilon"]
    check_ratios(made)
    if "digits" in kind.options:  # a matrix of so many sets is rounded; few digits spend less
        made = kind.restored(made.inputs, LDP(epsilon), {"digits": 62})
    else:
        assert LDP(Fraction(epsilon) + Fraction(1, 10**6)).holds(made.dense())
        assert not LDP(Fraction(epsilon) * Fraction(999, 1000)).holds(made.dense())
    check_budget(made, Fraction(epsilon), slack=1e-8)


@KINDS
@given(st.data())
@examples(10)
def test_its_estimates_are_unbiased(kind: type[LDPMechanism], data: st.DataObject) -> None:
    made = mechanism(kind, data)
    check_unbiased(made)
    check_moments(made)
    check_outputs(made)


@KINDS
@given(st.data())
@examples(25)
def test_its_lifts_are_those_of_all_outputs(kind: type[LDPMechanism], data: st.DataObject) -> None:
    made = mechanism(kind, data)
    k = len(made.inputs)
    counts = data.draw(st.lists(st.integers(0, 5), min_size=k, max_size=k).filter(any))
    check_lifts(made, Prior.from_counts(counts))


@pytest.mark.parametrize(
    ("make", "cases"),
    [
        (GeneralizedRandomizedResponse, [(2, 1), (3, 1), (10, 1)]),
        (HadamardResponse, [(2, 1, 1), (3, 1, 1), (8, 1, 1), (2, 1, 2), (5, 1, 2), (7, 1, 3)]),
        (ProjectiveGeometryResponse, [(3, 1, 2), (7, 1, 2), (9, 1, 3), (6, 1, 5)]),
        (SubsetSelection, [(2, 1, 1), (3, 1, 1), (5, 1, 2), (6, 1, 3), (5, 1, 4), (5, 4)]),
        (OptimizedUnaryEncoding, [(2, 1), (3, 1), (4, 1), (3, Fraction("0.3"))]),
        (SymmetricUnaryEncoding, [(2, 1), (3, 1), (4, 1), (3, Fraction("0.3"))]),
    ],
)
def test_its_draws_follow_the_law(
    make: Callable[..., LDPMechanism], cases: list[tuple[Any, ...]]
) -> None:
    for seed, case in enumerate(cases):
        check_draws(make(*case), seed=10 * seed)
