"""Exact tables: the entries are the numbers given, and roots are bracketed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import InputError
from mechdesign.tables import ExactTable
from tests.refusals_support import check_refused
from tests.strategies import examples

coordinates = st.one_of(
    st.fractions(-50, 50, max_denominator=60),
    st.integers(-(10**12), 10**12).map(Fraction),
    st.integers(-(2**30) + 1, 2**30 - 1).map(Fraction),
)
points = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=4)
matrices = st.integers(1, 4).flatmap(
    lambda n: st.lists(
        st.lists(st.fractions(0, 10**10), min_size=n, max_size=n), min_size=1, max_size=4
    )
)


@examples(25)
@given(matrices)
def test_entries_are_the_numbers_given(rows: list[list[Fraction]]) -> None:
    table = ExactTable.of(rows, "matrix")
    assert table.shape == (len(rows), len(rows[0]))
    for x, row in enumerate(rows):
        for y, entry in enumerate(row):
            assert table.lower(x, y) == table.upper(x, y) == entry
    assert np.allclose(table.array, [[float(e) for e in row] for row in rows], rtol=1e-15)


@examples(25)
@given(points, points)
def test_distances_are_those_of_geometry(a: Any, b: Any) -> None:
    manhattan = ExactTable.distances(a, b, "manhattan")
    squared = ExactTable.distances(a, b, "squared")
    euclidean = ExactTable.distances(a, b, "euclidean")
    for x, p in enumerate(a):
        for y, q in enumerate(b):
            steps = [abs(s - t) for s, t in zip(p, q, strict=True)]
            assert manhattan.lower(x, y) == manhattan.upper(x, y) == sum(steps)
            square = sum(s * s for s in steps)
            assert squared.lower(x, y) == squared.upper(x, y) == square
            low, high = euclidean.lower(x, y), euclidean.upper(x, y)
            assert low * low <= square <= high * high
            assert high - low <= Fraction(1, 2**150)
            assert euclidean.array[x, y] == pytest.approx(math.sqrt(square), rel=1e-14)


@examples(15)
@given(st.lists(coordinates.map(lambda c: (c,)), min_size=1, max_size=4))
def test_on_a_line_all_distances_are_exact_and_one(a: Any) -> None:
    tables = [ExactTable.distances(a, a, kind) for kind in ("absolute", "manhattan", "euclidean")]
    for x in range(len(a)):
        for y in range(len(a)):
            assert {t.lower(x, y) for t in tables} == {abs(a[x][0] - a[y][0])}
            assert {t.upper(x, y) for t in tables} == {abs(a[x][0] - a[y][0])}


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ([[1, 2], [3]], r"m\[1\]: expected a row of 2 numbers, given 1 numbers"),
        ([[1, -2]], r"m\[0\]\[1\]: expected a finite number >= 0, given -2"),
        ([[math.nan]], r"m\[0\]\[0\]"),
        ([[math.inf]], r"m\[0\]\[0\]"),
        ([["x"]], r"m\[0\]\[0\]"),
        ([1, 2], r"m\[0\]: expected a list of numbers >= 0"),
        ("ab", "^m: .*matrix of numbers >= 0"),
        (None, "^m: .*matrix of numbers >= 0"),
        ({}, "^m: .*matrix of numbers >= 0"),
        ([], "matrix of numbers >= 0"),
        ([[], []], "numbers"),
    ],
)
def test_invalid_matrices_are_refused(rows: Any, match: str) -> None:
    check_refused(match, ExactTable.of, rows, "m")


def test_a_table_of_another_shape_is_refused() -> None:
    with pytest.raises(InputError, match=r"m: expected a 2 x 2 matrix, .*, given a 1 x 2 matrix"):
        ExactTable.of([[1, 2]], "m").aligned("ab", "cd", "m")
