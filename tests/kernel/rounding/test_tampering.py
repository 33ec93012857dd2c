"""Random changes of honest files: what is accepted is no better than what can be."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from mechdesign.errors import MechdesignError
from mechdesign.kernel.packed import exact
from mechdesign.kernel.verify import verify
from tests.kernel.rounding.made import Document, sealed
from tests.kernel.rounding.test_files import made

NAMES = ["lip", "pml", "metric", "averages", "estimate", "read", "tails", "box", "box-worst"]
FREE = ("title", "source", "route", "why", "notes", "seconds", "digest")


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the paths of all numbers and words of a document."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, item in pairs:
        if isinstance(item, dict | list):
            yield from leaves(item, (*path, key))
        elif not path and key in FREE:
            continue
        else:
            yield (*path, key)


def changed(rng: random.Random, value: Any) -> Any:
    """Return another value of the same kind, or of another."""
    if rng.random() < 0.1:
        return rng.choice([None, True, "x", [], {}, -1, "inf", 0])
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return rng.choice([value + 1, -value, value * 1.25, value * (1 - 1e-7), 0, 0.5])
    try:
        number = Fraction(value)
    except ValueError:
        return rng.choice(["ldp", "uniform", "mean-squared-distance", "euclidean", value + "x"])
    if number.denominator == 1 and abs(number) > 1000:
        return str(number + rng.choice([1, -1, number // 7]))
    return str(rng.choice([number + Fraction(1, 9), number / 2, -number, 2 * number, Fraction(0)]))


@pytest.mark.parametrize("name", NAMES)
def test_accepted_bounds_hold(name: str) -> None:
    honest, rng, accepted = made(name), random.Random(name), 0
    value = exact(honest["value"])
    paths = list(leaves(honest))
    heads = {path[0]: [p for p in paths if p[0] == path[0]] for path in paths}
    for _ in range(60):
        found: Document = copy.deepcopy(honest)
        path = rng.choice(heads[rng.choice(list(heads))])
        place: Any = found
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = changed(rng, place[path[-1]])
        try:
            verified = verify(sealed(found))
        except MechdesignError:
            continue
        accepted += 1
        assert verified.value is not None
        assert verified.bound is not None
        assert exact(found["bound"]) <= verified.bound <= verified.value
        assert abs(exact(found["value"]) - verified.value) <= Fraction(1, 10**11) * verified.value
        if found["problem"] == honest["problem"]:
            assert verified.bound <= value  # the honest kernel is private there, and has this loss
            for claim, own in zip(found["privacy"], honest["privacy"], strict=True):
                if found["channel"]["numerators"] == honest["channel"]["numerators"]:
                    assert abs(claim["leakage"] - own["leakage"]) <= 1e-6
    assert accepted < 30
