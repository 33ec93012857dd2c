"""Rows of the user's own: the inequality as it is stated, in decimals, on both sides of it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from mechdesign import LDP, CertificateError, HammingLoss, Problem
from mechdesign.certify.privacy.linear_rows import (
    LinearRow,
    broken_row,
    is_linear,
    linear_rows,
    title_of,
)
from mechdesign.certify.problem import LINEAR, Statement
from tests.strategies import budgets, examples, exp, statement_of

coefficients = st.dictionaries(st.integers(0, 2), st.fractions(0, 5, max_denominator=9))


def stated() -> Statement:
    return statement_of(Problem(["a", "b", "c"], LDP(1), HammingLoss()))


@examples(150)
@given(coefficients, budgets(), coefficients, st.lists(st.integers(0, 20), min_size=3, max_size=3))
def test_a_row_is_broken_where_the_inequality_does_not_hold(
    left: dict[int, Fraction], a: Fraction, right: dict[int, Fraction], q: list[int]
) -> None:
    row = LinearRow("r", left, a, right)
    gap = sum(v * q[x] for x, v in left.items()) - Fraction(exp(a)) * sum(
        v * q[x] for x, v in right.items()
    )
    assume(gap == 0 or abs(gap) > Fraction(1, 10**30))
    words = "output 1: the row 'r' does not hold"
    assert broken_row([row], [[0] * 3, q]) == (words if gap > 0 else None)
    assert broken_row([LinearRow("all", {}, a, right), row], [[0] * 3]) is None


@examples(100)
@given(coefficients, budgets(), coefficients)
def test_the_integers_of_a_row_are_its_coefficients_with_a_lower_bound_of_the_ratio(
    left: dict[int, Fraction], a: Fraction, right: dict[int, Fraction]
) -> None:
    row = LinearRow("r", left, a, right)
    net = row.net(Fraction(3), Fraction(2))
    for x in range(3):
        exact = 3 * left.get(x, Fraction(0)) - 2 * right.get(x, Fraction(0))
        assert net.get(x, 0) == exact
        assert (x in net) is (exact != 0)
    whole = row.integers()
    if right and not left and max(right.values()) > 0:
        x = max(right, key=lambda x: right[x])
        for z, v in whole.items():
            assert Fraction(v, whole[x]) == right[z] / right[x]
        assert whole[x] < 0


def table(rows: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"notion": LINEAR, "rows": rows, **more}


def entry(**more: Any) -> dict[str, Any]:
    found = {"name": "r", "left": [["a", "2"]], "right": [["b", "1/3"]], "exponent": "0.5"}
    return {**found, **more}


def test_the_exponent_grows_with_epsilon_by_the_slope() -> None:
    statement, half = stated(), Fraction(1, 2)
    (row,) = linear_rows(statement, table([entry(slope="3")], epsilon="0.2"))
    assert row == LinearRow("r", {0: Fraction(2)}, half + Fraction(6, 10), {1: Fraction(1, 3)})
    (row,) = linear_rows(statement, table([entry(slope="3")], epsilon="0.2"), Fraction(1))
    assert row.exponent == half + 3
    (row,) = linear_rows(statement, table([entry()], epsilon="0.2"), Fraction(1))
    assert row.exponent == half
    # without an epsilon, what is asked for is added to all exponents
    (row,) = linear_rows(statement, table([entry()]))
    assert row.exponent == half
    (row,) = linear_rows(statement, table([entry(slope=0)]), Fraction(1))
    assert row.exponent == half + 1
    (row,) = linear_rows(statement, table([entry(exponent="-0.5")]))
    assert row.exponent == -half


WRONG: list[tuple[dict[str, Any], str]] = [
    (table([entry(slope="3")]), "a slope, and its notion no epsilon"),
    (table([entry(slope="-1")], epsilon=1), ">= 0"),
    (table([entry()], epsilon="-1"), ">= 0"),
    (table([entry(), entry()]), "two rows of a notion have one name"),
    (table([entry(left=[["d", 1]])]), "'d', which is no input"),
    (table([entry(right=[["a", 1], ["a", 1]])]), "two coefficients at 'a'"),
    (table([entry(left=[["a", "-1"]])]), ">= 0"),
    (table([entry(right=[["a", "-1"]])]), ">= 0"),
]


@pytest.mark.parametrize(("wrong", "words"), WRONG)
def test_rows_that_contradict_themselves_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(CertificateError, match=words):
        linear_rows(stated(), wrong)


def test_rows_are_known_by_the_notion_and_named_by_its_title() -> None:
    statement = stated()
    assert len(linear_rows(statement, table([entry(), entry(name="s")]))) == 2
    assert is_linear(table([]))
    assert not is_linear(statement.privacy[0])
    assert title_of(table([])) == title_of(table([], title="")) == "linear"
    assert title_of(table([], title="my rows")) == "linear ('my rows')"
