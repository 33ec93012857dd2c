"""The generators of the kernel and the rows of the search are the same rows."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any

import pytest

from mechdesign import Domain, Prior
from mechdesign.files.templates import template
from mechdesign.kernel.generators import Lift, Listed
from mechdesign.notions import NOTIONS, Notion, restored

INPUTS, PRIOR = Domain(range(4)), Prior(["1/10", "2/10", "3/10", "4/10"])


def example(name: str) -> Notion:
    return restored(tomllib.loads(template(NOTIONS[name]))["privacy"])


def contents(rows: Iterable[Any]) -> list[Any]:
    return sorted(
        (*(sorted(dict(side).items()) for side in (r.left, r.right)), r.exponent) for r in rows
    )


@pytest.mark.parametrize("name", [name for name in NOTIONS if example(name).is_conic])
def test_rows_and_generators_ask_for_the_same(name: str) -> None:
    (part,) = example(name).generators(INPUTS, PRIOR)
    if isinstance(part, Lift) and not isinstance(part.priors, Listed):
        pytest.skip("the members of a ball or a box are not listed")
    rows = [part.row(key, len(INPUTS), up=False) for key in part.keys(len(INPUTS))]
    assert contents(example(name).family(INPUTS, PRIOR).rows()) == contents(rows)
