"""Losses in integers: distances as their definitions have them, roots between neighbors."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from mechdesign import CertificateError
from mechdesign.certify.loss_tables import (
    ROOT_BITS,
    DistanceLosses,
    HammingLosses,
    TableLosses,
    squares,
)

points = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=4)


@given(points, st.tuples(st.integers(-9, 9), st.integers(-9, 9)))
def test_squared_distances_are_sums_over_coordinates(
    inputs: list[tuple[int, int]], target: tuple[int, int]
) -> None:
    axes = [[x for x, _ in inputs], [y for _, y in inputs]]
    assert squares(axes, target) == [(x - target[0]) ** 2 + (y - target[1]) ** 2 for x, y in inputs]


@given(points, points, st.integers(1, 12))
def test_euclidean_distances_lie_between_both_roundings(
    inputs: list[tuple[int, int]], outputs: list[tuple[int, int]], unit: int
) -> None:
    losses = DistanceLosses(inputs, outputs, unit, "euclidean")
    assert losses.n_outputs == len(outputs)
    assert losses.denominator == unit * 2**ROOT_BITS
    for y, (c, d) in enumerate(outputs):
        for (a, b), low, high in zip(inputs, losses.lower(y), losses.upper(y), strict=True):
            square = Fraction((a - c) ** 2 + (b - d) ** 2, unit * unit)
            least, most = (Fraction(n, losses.denominator) for n in (low, high))
            assert least**2 <= square <= most**2
            assert high - low == (0 if least**2 == square else 1)


@given(points, points, st.integers(1, 12))
def test_squared_distances_are_exact(
    inputs: list[tuple[int, int]], outputs: list[tuple[int, int]], unit: int
) -> None:
    losses = DistanceLosses(inputs, outputs, unit, "squared")
    for y, (c, d) in enumerate(outputs):
        exact = [Fraction((a - c) ** 2 + (b - d) ** 2, unit * unit) for a, b in inputs]
        assert [Fraction(n, losses.denominator) for n in losses.lower(y)] == exact
        assert losses.upper(y) == losses.lower(y)


@pytest.mark.parametrize("kind", ["absolute", "euclidean"])
def test_on_a_line_the_distance_is_absolute_and_exact(kind: str) -> None:
    losses = DistanceLosses([(0,), (5,), (-2,)], [(1,), (7,)], 3, kind)
    assert losses.denominator == 3
    assert losses.lower(0) == losses.upper(0) == [1, 4, 3]
    assert losses.lower(1) == losses.upper(1) == [7, 2, 9]
    assert losses.least() == [1, 2, 3]


def test_a_distance_that_is_not_defined_is_refused() -> None:
    with pytest.raises(CertificateError, match="'absolute' is known in 2 dimensions"):
        DistanceLosses([(0, 0)], [(1, 1)], 1, "absolute")
    for kind in ("absolute", "squared", "euclidean"):
        with pytest.raises(CertificateError, match="coordinates that the inputs have"):
            DistanceLosses([(0,)], [(1,), (1, 1)], 1, kind)


def test_a_table_has_its_columns_over_one_denominator() -> None:
    table = [[Fraction(1, 2), Fraction(0), Fraction(2)], [Fraction(1, 3), Fraction(5), Fraction(1)]]
    losses = TableLosses(table)
    assert losses.n_outputs == 3
    for y in range(3):
        column = [Fraction(n, losses.denominator) for n in losses.lower(y)]
        assert column == [row[y] for row in table]
        assert losses.upper(y) == losses.lower(y)
    assert [Fraction(n, losses.denominator) for n in losses.least()] == [0, Fraction(1, 3)]


def test_hamming_losses_are_1_where_the_output_is_not_the_input() -> None:
    losses = HammingLosses(["a", [1, 2], 3], [[1, 2], "c", 3])
    assert (losses.n_outputs, losses.denominator) == (3, 1)
    assert [losses.lower(y) for y in range(3)] == [[1, 0, 1], [1, 1, 1], [1, 1, 0]]
    assert losses.least() == [1, 0, 0]


def test_the_least_hamming_losses_know_points_of_a_grid() -> None:
    grid: list[object] = [[0, 0], [0, 1], [1, 0]]
    assert HammingLosses(grid, [[0, 1], [1, 0]]).least() == [1, 0, 0]
    assert HammingLosses(["a", 1], [1.0, "b"]).least() == [1, 0]
