"""Gains against their definitions: exact where they are rational, else between both roundings."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from mechdesign import (
    LDP,
    BayesAccuracy,
    CertificateError,
    HammingLoss,
    MutualInformation,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
)
from mechdesign.certify.bounds.sums.gains import coordinate_gain, gain, has_gain, offset, total_gain
from mechdesign.certify.problem import Statement
from mechdesign.certify.proof import BOUNDS
from tests.strategies import DIGITS, examples, statement_of, weights

CLOSE = Fraction(1, 2**130)
FINE = Fraction(1, 10**50)
"""What logarithms in decimals are right to, with room for sums of them."""


def stated(utility: Any, counts: list[int]) -> Statement:
    return statement_of(Problem(len(counts), LDP(1), utility, prior=Prior.from_counts(counts)))


def ln(value: Fraction) -> Fraction:
    top, bottom = Decimal(value.numerator), Decimal(value.denominator)
    return Fraction(DIGITS.ln(DIGITS.divide(top, bottom)))


def dot(a: list[Fraction], b: list[Any]) -> Fraction:
    return sum((s * t for s, t in zip(a, b, strict=True)), Fraction(0))


cases = st.integers(1, 4).flatmap(lambda k: st.tuples(weights(k), weights(k)))


@examples(100)
@given(cases, st.booleans(), st.integers(1, 7))
def test_gains_are_those_of_the_definitions(
    case: tuple[list[int], list[int]], are_whole: bool, bottom: int
) -> None:
    counts, column = case
    q: list[Any] = column if are_whole else [Fraction(v, bottom) for v in column]
    k = len(q)
    values = [Fraction(3 * x - 4, 7) for x in range(k)]
    p = [Fraction(n, sum(counts)) for n in counts]
    law, joint = dot(p, q), [a * b for a, b in zip(p, q, strict=True)]
    expected = {
        BayesAccuracy(): max(joint),
        PosteriorMeanSquaredError(histogram=True): dot(joint, joint) / law if law else 0,
        PosteriorMeanSquaredError(values=values): dot(joint, values) ** 2 / law if law else 0,
    }
    for utility, exact in expected.items():
        statement = stated(utility, counts)
        assert has_gain(statement)
        for up in (False, True):
            assert gain(statement, q, up=up) == exact
    statement = stated(MutualInformation(), counts)
    low, high = (gain(statement, q, up=up) for up in (False, True))
    information = sum((j * ln(v / law) for j, v in zip(joint, q, strict=True) if j), Fraction(0))
    assert low - FINE <= information <= high + FINE
    assert low <= high
    assert high - low <= law * CLOSE


@examples(60)
@given(cases)
def test_the_offset_is_the_second_moment_and_the_value_without_any_report(
    case: tuple[list[int], list[int]],
) -> None:
    counts, _ = case
    p = [Fraction(n, sum(counts)) for n in counts]
    values = [Fraction(5 - 2 * x, 3) for x in range(len(p))]
    scalar = stated(PosteriorMeanSquaredError(values=values), counts)
    assert offset(scalar) == dot(p, [v * v for v in values])
    nothing = [[1] * len(p)]
    variance = dot(p, [v * v for v in values]) - dot(p, values) ** 2
    for up in (False, True):
        assert total_gain(scalar, nothing, up=up) == variance
        assert total_gain(scalar, [[2] * len(p), [3] * len(p)], up=up, whole=5) == variance
        histogram = stated(PosteriorMeanSquaredError(histogram=True), counts)
        assert offset(histogram) == 1
        assert total_gain(histogram, nothing, up=up) == 1 - dot(p, p)
        accuracy = stated(BayesAccuracy(), counts)
        assert offset(accuracy) == 0
        assert total_gain(accuracy, [[2] * len(p), [3] * len(p)], up=up, whole=5) == max(p)
    assert total_gain(stated(MutualInformation(), counts), nothing, up=True) == 0


@examples(100)
@given(weights(3), st.integers(0, 2), st.fractions(0, 9, max_denominator=99))
def test_the_gain_of_one_coordinate_is_convex_and_just_above_its_definition(
    counts: list[int], x: int, r: Fraction
) -> None:
    p = Fraction(counts[x], sum(counts))
    histogram = stated(PosteriorMeanSquaredError(histogram=True), counts)
    assert coordinate_gain(histogram, x, r) == (p * r) ** 2
    found = coordinate_gain(stated(MutualInformation(), counts), x, r)
    exact = p * r * ln(r) if r else Fraction(0)
    assert -FINE <= found - exact <= p * r * CLOSE
    assert found == 0 or (p and r)


@examples(60)
@given(weights(3, 1), weights(3))
def test_coordinates_of_a_column_of_probability_1_add_up_to_its_gain(
    counts: list[int], column: list[int]
) -> None:
    law = dot([Fraction(n, sum(counts)) for n in counts], column)
    assume(law)
    q = [v / law for v in column]
    for utility in (MutualInformation(), PosteriorMeanSquaredError(histogram=True)):
        statement = stated(utility, counts)
        parts = sum(coordinate_gain(statement, x, v) for x, v in enumerate(q))
        assert abs(parts - gain(statement, q, up=True)) <= CLOSE


def test_the_total_gain_is_rounded_the_way_that_is_asked() -> None:
    statement, columns = stated(MutualInformation(), [1, 2]), [[1, 3], [3, 1]]
    found = {}
    for up in (False, True):
        found[up] = total_gain(statement, columns, up=up, whole=4)
        assert found[up] == sum(gain(statement, q, up=up) for q in columns) / 4
    assert found[False] < found[True]


def test_other_objectives_are_no_sums_of_gains_or_do_not_split_by_inputs() -> None:
    loss = stated(HammingLoss(), [1, 2])
    assert not has_gain(loss)
    assert offset(loss) == 0
    with pytest.raises(CertificateError, match="is no bound on the objective"):
        BOUNDS["dual rays"](loss, None)
    for utility in (BayesAccuracy(), PosteriorMeanSquaredError(values=[1, 2]), HammingLoss()):
        for kind in ("dual sums", "dual boxes"):
            with pytest.raises(CertificateError, match="is no bound on the objective"):
                BOUNDS[kind](stated(utility, [1, 2]), None)
