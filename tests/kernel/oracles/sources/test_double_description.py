"""Double description finds the extreme rays that the second verifier finds."""

from __future__ import annotations

import random
from math import gcd

import pytest

from mechdesign.errors import LimitError
from mechdesign.kernel.oracles.sources import DoubleDescription
from mechdesign.kernel.oracles.sources.double_description import PAIRS
from mechdesign.kernel.statement import Statement
from mechdesign.resources import allow
from tests.independent import bounds
from tests.kernel.draws import cone, dot


@pytest.mark.parametrize("seed", range(30))
def test_rays_are_the_extreme_ones(seed: int) -> None:
    """A ray too many may be found, in the cone of all rows."""
    rng = random.Random(seed)
    k = rng.randint(1, 4)
    statement = Statement(k, cone(rng, k), (), None)
    rows = statement.rows()
    found = [tuple(ray) for ray in DoubleDescription()(statement, None).rays]
    assert len(set(found)) == len(found)
    assert all(gcd(*ray) == 1 and min(ray) >= 0 for ray in found)
    assert set(bounds.rays(k, rows)) <= set(found)
    assert all(dot(row, ray) <= 0 for row in rows for ray in found)


def test_rays_and_pairs_have_a_limit() -> None:
    rng = random.Random(3)
    statement = Statement(4, cone(rng, 4)[:1], (), None)
    size = len(DoubleDescription()(statement, None).rays)
    with allow(rays=size):
        DoubleDescription()(statement, None)
    with allow(rays=1), pytest.raises(LimitError):
        DoubleDescription()(statement, None)
    assert PAIRS == 400
    assert DoubleDescription().count(statement) == 2**4
