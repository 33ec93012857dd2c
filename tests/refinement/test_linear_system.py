"""Solutions of integer systems are exact for numbers of any size."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from mechdesign.refinement import linear_system
from mechdesign.refinement.linear_system import Equation, solved
from tests.strategies import examples

LARGE = st.integers(-(2**70), 2**70)


@st.composite
def systems(draw: st.DrawFn) -> tuple[list[list[int]], list[Fraction]]:
    """Rows, as many as unknowns or more, and a solution."""
    size = draw(st.integers(1, 5))
    rows = draw(
        st.lists(st.lists(LARGE, min_size=size, max_size=size), min_size=size, max_size=size + 2)
    )
    values = [Fraction(draw(st.integers(-99, 99)), draw(st.integers(1, 99))) for _ in range(size)]
    return rows, values


def equations(rows: list[list[int]], values: list[Fraction]) -> list[Equation]:
    found = []
    for row in rows:
        right = sum((a * v for a, v in zip(row, values, strict=True)), Fraction(0))
        found.append(({j: a * right.denominator for j, a in enumerate(row)}, right.numerator))
    return found


@examples(50)
@given(systems())
def test_a_system_that_has_a_solution_is_solved(
    system: tuple[list[list[int]], list[Fraction]],
) -> None:
    rows, values = system
    given_equations = equations(rows, values)
    found = solved(given_equations, len(values))
    for terms, right in given_equations:
        assert sum(a * found[j] for j, a in terms.items()) == right


def test_a_contradiction_and_a_system_that_is_too_large_have_no_solution() -> None:
    assert solved([({0: 1, 1: 1}, 1), ({0: 2, 1: 2}, 3)], 2) is None
    assert solved([], linear_system.MOST_UNKNOWNS + 1) is None


@pytest.mark.parametrize("digits", [1, 40, 400])
def test_fractions_of_many_digits_are_found(digits: int) -> None:
    top, bottom = 10**digits + 7, 3**digits
    assert solved([({0: bottom}, top)], 1) == [Fraction(top, bottom)]
