"""The knapsack is the largest reduced gain over the vertices of the lift polytope."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    BoundedPriorLIP,
    CertificateError,
    MutualInformation,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
)
from mechdesign.certify.bounds.outward import lift_range
from mechdesign.certify.bounds.sums.gains import coordinate_gain
from mechdesign.certify.bounds.sums.lift_knapsack import reduced_gain_by_knapsack
from mechdesign.certify.problem import Statement
from mechdesign.notions import Notion
from tests.strategies import examples, statement_of

GAINS = [MutualInformation(), PosteriorMeanSquaredError(histogram=True)]
CLOSE = Fraction(1, 2**100)


def by_vertices(statement: Statement, u: list[Fraction]) -> Fraction | None:
    """Return the largest value at a vertex: all entries but one at an end, as P . r = 1."""
    low, high = lift_range(statement.privacy[0])
    assert high is not None
    prior, k = statement.prior, len(statement.prior)
    worst = None
    for free in range(k):
        if not prior[free]:
            continue
        for ends in product((low, high), repeat=k - 1):
            r = [*ends[:free], Fraction(0), *ends[free:]]
            r[free] = (1 - sum(p * v for p, v in zip(prior, r, strict=True))) / prior[free]
            if not low <= r[free] <= high:
                continue
            value = sum(coordinate_gain(statement, x, r[x]) - u[x] * r[x] for x in range(k))
            worst = value if worst is None else max(worst, value)
    return worst


def stated(notions: Notion | list[Notion], gain: Any, counts: list[int]) -> Statement:
    problem = Problem(len(counts), notions, gain, prior=Prior.from_counts(counts))
    return statement_of(problem)


numbers = st.lists(st.fractions(-2, 2, max_denominator=50), min_size=5, max_size=5)


@examples(120)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=5).filter(lambda counts: sum(counts) > 0),
    numbers,
    st.sampled_from(["0.1", "0.5", "0.6931471805599453", "1", "3"]),
    st.sampled_from(GAINS),
)
def test_it_is_the_largest_value_at_a_vertex(
    counts: list[int], numbers: list[Fraction], epsilon: str, gain: Any
) -> None:
    u = numbers[: len(counts)]
    for notion in (LIP(epsilon), AsymmetricLift("2", epsilon), PML(epsilon)):
        statement = stated(notion, gain, counts)
        exact = by_vertices(statement, u)
        assert exact is not None
        found = reduced_gain_by_knapsack(statement, u)
        assert exact <= found <= exact + CLOSE


@pytest.mark.parametrize(
    "notions",
    [
        [LDP(1)],
        [LIP(1), LIP(2)],
        [AsymmetricLift(1, "inf")],
        [LIP(0)],
        [BoundedPriorLIP(1, priors=[["0.2", "0.8"]])],
        [BoundedPriorLIP(1, center=["0.5", "0.5"], radius="0.1")],
    ],
    ids=str,
)
def test_other_notions_are_no_such_polytope(notions: list[Notion]) -> None:
    with pytest.raises(CertificateError, match="the knapsack needs"):
        reduced_gain_by_knapsack(stated(notions, GAINS[0], [1, 1]), [Fraction(0)] * 2)
