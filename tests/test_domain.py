"""Domains: ordered occurs twice, with exact coordinates where they have any."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import Domain, InputError
from mechdesign.domain import clean_label
from tests.refusals_support import check_refused
from tests.strategies import examples


def usual(value: float) -> bool:
    return value == 0 or abs(value) > 1e-290


plain_labels = st.one_of(
    st.text(max_size=5),
    st.integers(-(10**20), 10**20),
    st.floats(-1e9, 1e9, allow_subnormal=False).filter(usual),
    st.tuples(st.integers(0, 5), st.text(max_size=2)),
)


@examples(30)
@given(st.lists(plain_labels, min_size=1, max_size=8, unique=True))
def test_labels_are_kept_in_order_and_found_again(labels: list[Any]) -> None:
    domain = Domain(labels)
    assert list(domain) == list(domain.labels) == labels
    assert len(domain) == len(labels)
    assert [domain.index(label) for label in labels] == list(range(len(labels)))
    assert Domain(domain.to_table()["values"]) == domain


@examples(25)
@given(st.lists(st.floats(-1e9, 1e9).filter(usual), min_size=1, max_size=6, unique=True))
def test_numbers_have_the_exact_coordinates_that_they_print_as(values: list[float]) -> None:
    domain = Domain(values)
    assert domain.numbers == tuple(Fraction(repr(v)) for v in values)
    assert domain.coordinates == tuple((Fraction(repr(v)),) for v in values)


@examples(20)
@given(st.integers(1, 6), st.integers(1, 6), st.fractions(Fraction(1, 100), 100))
def test_grid_points_are_spacing_times_row_and_column(r: int, c: int, step: Fraction) -> None:
    grid = Domain.grid(r, c, step)
    assert len(grid) == r * c
    for x, (row, column) in enumerate(grid.labels):
        assert x == row * c + column
        assert grid.coordinates[x] == (step * row, step * column)
    assert grid.numbers is None
    assert grid.grid_shape == (r, c)


def test_text_has_no_coordinates() -> None:
    assert Domain(["a", "b"]).coordinates is None
    assert Domain(["a", 1]).numbers is None


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ([], "at least one input, given an empty list"),
        (["a", "b", "a"], "'a' occurs twice"),
        ([1, 1.0], "occurs twice"),
        ("abc", "a list of labels"),
        (b"abc", "a list of labels"),
        (7, "a list of labels"),
        ({"a": 1}, "a list of labels"),
        ([math.nan], "labels that are text or finite numbers"),
        ([math.inf], "labels that are text or finite numbers"),
        ([True, False], "labels that are text or finite numbers"),
        ([None], "labels that are text or finite numbers"),
        ([{1}], "labels that are text or finite numbers"),
    ],
)
def test_bad_labels_are_refused(values: Any, match: str) -> None:
    check_refused(match, Domain, values)


def test_bad_sizes_and_spacings_are_refused() -> None:
    for size in (0, -1, 1.5, "3", True, None):
        check_refused(r"^size: expected a whole number", Domain.range, size)
        check_refused(r"^grid\.rows: expected a whole number", Domain.grid, size, 2)
        check_refused(r"^grid\.columns: expected a whole number", Domain.grid, 2, size)
    for spacing in (0, -1, math.nan, "x"):
        check_refused(r"^grid\.spacing: expected a number > 0", Domain.grid, 2, 2, spacing)


def test_an_unknown_label_is_named_with_a_near_miss() -> None:
    with pytest.raises(InputError, match=r"sensitive: .*given 'flue'; did you mean 'flu'\?"):
        Domain(["flu", "none"]).index("flue", "sensitive")
    with pytest.raises(InputError, match=r"given 4$"):  # a number is not misspelt
        Domain([20, 40]).index(4)


def test_numpy_scalars_become_plain_labels() -> None:
    assert [type(x) for x in Domain(np.arange(3))] == [int] * 3
    assert [type(x) for x in Domain(np.array([0.5, 1.5]))] == [float] * 2
    assert clean_label([np.int64(1), "a"], "y") == (1, "a")


def test_equal_domains_have_equal_hashes() -> None:
    assert Domain([1, 2]) == Domain([1.0, 2.0])
    assert hash(Domain([1, 2])) == hash(Domain([1.0, 2.0]))
    assert Domain.grid(2, 2) != Domain.grid(2, 2, 3)
    assert Domain.grid(2, 2) != Domain(list(Domain.grid(2, 2)))
    assert Domain(["a", "b"]) != Domain(["b", "a"])
    assert Domain(["a"]) != "a"
    one, other = Domain.grid(1, 1, 1), Domain.grid(1, 1, 2)
    assert one != other or hash(one) == hash(other)


def test_repr_names_a_few() -> None:
    assert repr(Domain(["a"])) == "Domain(1 input: 'a')"
    assert repr(Domain.range(8)) == "Domain(8 inputs: 0, 1, 2, ..., 7)"
    assert repr(Domain.grid(2, 3, "0.5")) == "Domain(grid 2 x 3, spacing 0.5)"


def test_cells_of_a_grid_are_named_by_pairs_or_numbers() -> None:
    grid = Domain.grid(3, 4)
    pairs = [(2, 1), (0, 3)]
    for numbers in ([9, 3], np.array([9, 3])):
        assert grid.codes(numbers).tolist() == grid.codes(pairs).tolist() == [9, 3]
    check_refused(r"records\[1\]", grid.codes, [0, 12])


def test_a_lattice_of_whole_numbers_is_that_of_equal_fractions() -> None:
    for step in (1, 3):
        labels = range(2, 20, step)
        fractions = Domain([float(label) for label in labels])
        assert Domain(labels).lattice == fractions.lattice == ((1, len(labels)), Fraction(step))
        assert Domain(labels).coordinates == fractions.coordinates
    assert Domain([0, 1, 3]).lattice is None
    assert Domain([2, 1, 0]).lattice is None
    assert Domain.points([[0, 0], [1, 1]]).lattice is None
