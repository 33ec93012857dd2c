"""Budgets of many records: exact, grouped, and rounded down only."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import InputError
from mechdesign.collection.personalized.groups import (
    budgets_of,
    distinct,
    draw_groups,
    rounded_down,
)
from tests.strategies import examples

epsilons = st.lists(st.integers(1, 40).map(lambda n: Fraction(n, 8)), min_size=1, max_size=30)


@examples(100)
@given(epsilons)
def test_the_places_give_the_numbers_back(given: list[Fraction]) -> None:
    for values in (given, np.array(given, dtype=np.float64)):
        found, places = distinct(values, len(given), "epsilons")
        assert [found[n] for n in places] == given
        assert found == sorted(set(given))


@examples(100)
@given(epsilons, st.integers(1, 6))
def test_rounding_goes_down_to_the_nearest_level(given: list[Fraction], levels: int) -> None:
    budgets, places = distinct(given, len(given), "epsilons")
    down = rounded_down(budgets, places, levels)
    used = sorted(set(down))
    assert len(used) <= levels
    for budget, level in zip(budgets, down, strict=True):
        assert level <= budget
        assert level == max(one for one in used if one <= budget)
    merged, own = budgets_of(given, len(given), levels)
    assert merged == used
    assert [merged[n] for n in own] == [down[n] for n in places]


def test_one_number_stands_for_all() -> None:
    found, places = distinct("0.5", 3, "epsilons")
    assert found == [Fraction(1, 2)]
    assert places.tolist() == [0, 0, 0]


class Echo:
    """Reports its input, and rejects the text "bad", with or without its location."""

    def __init__(self, key: str) -> None:
        self.key = key

    def privatize(self, records: Any, _: Any) -> list[Any]:
        for n, record in enumerate(records):
            if record == "bad":
                raise InputError(self.key.format(n), "a label", "none")
        return list(records)


def groups(records: Any, first: list[int], key: str = "") -> Any:
    """Return the groups of records with equal first and second indices."""
    indices = np.array(first, dtype=np.int64), np.zeros(len(first), dtype=np.int64)
    return draw_groups(records, indices, lambda n, _: (Echo(key), Fraction(n)), None, False)


def test_groups_cover_all_records_in_order() -> None:
    expected = [(0, [3], ["d"]), (1, [1, 4], ["b", "e"]), (4, [0, 2], ["a", "c"])]
    for records in (list("abcde"), np.array(list("abcde"))):
        found = groups(records, [4, 1, 4, 0, 1])
        assert [(one.epsilon, one.places.tolist(), one.reports) for one in found] == expected
    assert groups([], []) == ()


@pytest.mark.parametrize(("key", "of_all"), [("records[{}]", "records[3]"), ("epsilon", "epsilon")])
def test_errors_name_the_record_of_all(key: str, of_all: str) -> None:
    with pytest.raises(InputError) as raised:
        groups(["a", "b", "c", "bad"], [0, 1, 0, 1], key)
    assert raised.value.key == of_all


@pytest.mark.parametrize("levels", ["8", 0, True, 2.5, []])
def test_levels_are_budgets_or_their_number(levels: Any) -> None:
    with pytest.raises(InputError, match="levels"):
        rounded_down([Fraction(1)], np.array([0]), levels)
