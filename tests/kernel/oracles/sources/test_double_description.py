"""Double description finds the extreme rays that all choices of k - 1 tight rows give."""

from __future__ import annotations

import random
from itertools import combinations
from math import gcd
from operator import mul

import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import LimitError
from mechdesign.kernel.arithmetic import over_one_denominator
from mechdesign.kernel.oracles.sources import DoubleDescription
from mechdesign.kernel.oracles.sources.double_description import PAIRS
from mechdesign.kernel.statement import Statement
from mechdesign.resources import allow
from tests.kernel.draws import cone, nullspace, primitive


def extreme_rays(rows: list[list[int]], k: int) -> set[tuple[int, ...]]:
    """Return the rays of {q : row . q <= 0} at which k - 1 independent rows are tight."""
    found = set()
    for some in combinations(rows, k - 1):
        basis = nullspace(list(some), k)
        if len(basis) == 1:
            for ray in (basis[0], [-v for v in basis[0]]):
                if all(sum(map(mul, row, ray)) <= 0 for row in rows):
                    found.add(tuple(ray))
    return found


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32))
def test_rays_are_the_extreme_ones(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(1, 4)
    statement = Statement(k, cone(rng, k)[:2], (), None)
    rows = [primitive(row) for row in statement.rows()]
    rows += [[-int(x == z) for z in range(k)] for x in range(k)]
    if len(rows) > 30:
        return
    found = [tuple(ray) for ray in DoubleDescription()(statement, None).rays]
    assert len(set(found)) == len(found)
    assert all(gcd(*ray) == 1 and min(ray) >= 0 for ray in found)
    wanted = extreme_rays(rows, k) if k > 1 else {(1,)}
    # a ray too many may be found, in the cone of all rows
    assert wanted <= set(found)
    assert all(sum(map(mul, row, ray)) <= 0 for row in rows for ray in found)
    ints = [over_one_denominator(map(int, ray))[1] for ray in found]  # type: ignore[arg-type]
    assert set(ints) <= {1}


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
