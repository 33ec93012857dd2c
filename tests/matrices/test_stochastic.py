"""Matrices of integers: rows are rounded by less than a unit, and every other matrix is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign.matrices.stochastic import BITS, rounded_rows, whole_matrix
from tests.refusals_support import check_refused

WHOLE = 1 << BITS


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=6).filter(any))
def test_rounding_moves_no_entry_by_a_unit_and_keeps_the_sum(counts: list[int]) -> None:
    exact = [Fraction(n, sum(counts)) for n in counts]
    (row,) = rounded_rows([exact])
    assert sum(row) == WHOLE
    assert all(abs(n - p * WHOLE) < 1 for n, p in zip(row, exact, strict=True))
    assert all(n == 0 for n, p in zip(row, exact, strict=True) if p == 0)


def test_units_that_are_left_go_where_most_was_lost() -> None:
    least = Fraction(1, 10 * WHOLE)
    assert rounded_rows([[9 * least, 1 - 9 * least]]) == [[1, WHOLE - 1]]
    assert rounded_rows([[1 - least, least]]) == [[WHOLE, 0]]


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=5), st.sampled_from([BITS, 124]))
def test_integers_come_back_as_they_are_and_cannot_be_written_to(
    counts: list[int], bits: int
) -> None:
    row = [*counts, (1 << bits) - sum(counts)]
    found = whole_matrix([row, row], bits)
    assert found.tolist() == whole_matrix(found.copy(), bits).tolist() == [row, row]
    with pytest.raises(ValueError, match=r"read-only|writeable"):
        found[0, 0] = 1


@pytest.mark.parametrize(
    ("numerators", "message"),
    [
        ([], "rows must be of one length"),
        ([[WHOLE], [1, WHOLE - 1]], "rows must be of one length"),
        ([[WHOLE + 1, -1]], "integers >= 0"),
        ([[1, 1]], r"a sum of 2\*\*62"),
        (np.array([[WHOLE + 1, -1]]), "integers >= 0"),
        (np.full((1, 4), 1 << 62), r"a sum of 2\*\*62"),  # which overflows 64 bits to 0
        (np.full((1, 5), 1 << 62), r"a sum of 2\*\*62"),  # which overflows 64 bits to 2**62
        ([[0.5, 0.5]], "integers, given 0.5"),
        (np.full((1, 2), 2.0**61), "integers, given 2.3"),
        ([{"a": WHOLE}], "the matrix has labels"),
    ],
)
def test_other_integers_are_refused(numerators: Any, message: str) -> None:
    check_refused(message, whole_matrix, numerators, BITS)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 0], [1]], "2 entries"),
        ([[1.5, -0.5]], r"matrix\[0\]\[1\]: expected a finite number >= 0"),
        ([[0.5, 0.4]], "sums to 1"),
        ([[float("nan"), 1]], "a finite number"),
    ],
)
def test_other_probabilities_are_refused(matrix: Any, message: str) -> None:
    check_refused(message, rounded_rows, matrix)
