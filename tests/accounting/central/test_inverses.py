"""Least numbers of reports and largest local budgets: both bounds hold, shuffled or summed."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from mechdesign import Channel, InputError
from mechdesign.accounting import (
    after_aggregation,
    after_shuffling,
    largest_local_budget,
    least_reports,
)
from mechdesign.mechanisms import GeneralizedRandomizedResponse, SymmetricUnaryEncoding

DELTA = "1e-6"


def shuffled(epsilon: float) -> Channel:
    return GeneralizedRandomizedResponse(5, epsilon).dense()


def summed(epsilon: float) -> SymmetricUnaryEncoding:
    return SymmetricUnaryEncoding(6, epsilon, digits=62)


VIEWS = pytest.mark.parametrize(
    ("options", "family", "told"),
    [
        ({}, shuffled, after_shuffling),
        ({"summed": True}, summed, after_aggregation),
        ({"summed": True}, partial(GeneralizedRandomizedResponse, 4), after_aggregation),
    ],
    ids=["shuffled", "summed", "summed labels"],
)


@VIEWS
def test_least_reports_are_enough_and_fewer_are_not(
    options: Any, family: Callable[..., Any], told: Callable[..., Any]
) -> None:
    enough, too_few = least_reports(family(2), "0.3", DELTA, **options)
    assert 0 < too_few < enough < 1.05 * too_few
    assert told(family(2), enough, DELTA).at_least <= 0.3
    assert told(family(2), too_few, DELTA).at_least >= 0.3 * (1 - 1e-5)
    assert least_reports(family(2), 4, DELTA, **options) == (1, 0)


@VIEWS
def test_the_largest_local_budget_keeps_the_central_one_and_more_does_not(
    options: Any, family: Callable[..., Any], told: Callable[..., Any]
) -> None:
    find = partial(largest_local_budget, 2000, "0.3", DELTA, family, precision="1e-2", **options)
    enough, too_much = find(most=12)
    assert enough < too_much < 1.02 * enough
    assert told(family(enough), 2000, DELTA).at_least <= 0.3
    assert told(family(too_much), 2000, DELTA).at_least >= 0.3 * (1 - 1e-5)
    assert find(most="0.5") == (0.5, math.inf)
    with pytest.raises(InputError, match="most"):
        find(most="0.2")


def test_any_channel_needs_more_than_one() -> None:
    any_channel, one = (
        largest_local_budget(2000, "0.3", DELTA, family, precision="1e-2")
        for family in (None, shuffled)
    )
    assert any_channel.enough < one.enough
