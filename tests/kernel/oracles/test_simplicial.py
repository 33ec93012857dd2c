"""Double description finds the extreme rays that the second verifier finds.

A facet for each input: safe with rounding and without, exact where the cone has these facets.
"""

from __future__ import annotations

import random
from fractions import Fraction
from math import gcd

import pytest

from mechdesign.errors import LimitError
from mechdesign.kernel.generators import Latent, ListedRow, Matrix, Ratio, Rows
from mechdesign.kernel.oracles import DoubleDescription, Facet, Rays, Simplicial
from mechdesign.kernel.oracles.double_description import PAIRS
from mechdesign.kernel.oracles.simplicial import _diagonal
from mechdesign.kernel.statement import Statement
from mechdesign.resources import allow
from tests.independent import bounds
from tests.independent.files import inverse
from tests.independent.rationals import RefusedError
from tests.kernel.draws import cone, cost, dot, exponent, gained, rays
from tests.kernel.oracles.test_oracles import cycle


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


ONE = Fraction(1)


def test_rays_are_rounded_towards_zero_only_along_a_diagonal() -> None:
    """Each of a cycle is close to its exact column from below; what is missing is the rest."""
    rng = random.Random(2)
    for k in (2, 3, 5):
        part, faces = cycle(rng, k)
        statement = Statement(k, (part,), (), gained(k))
        found = Simplicial(faces)(statement, None)
        D = [2**200 + x for x in range(k)]
        left = found.rest(D)
        for q in rays(statement):
            share = sum(a * v for a, v in zip(left, q, strict=True))
            assert 0 <= share << 100 <= sum(D) * max(q)
    exact = Simplicial((Facet(0, 0, 1), Facet(0, 1, 0), Facet(1, 0)))
    rows = Rows((ListedRow(((0, ONE), (1, ONE)), ONE, ((2, ONE),)),))
    part = Ratio(Matrix(((ONE, ONE, "inf"), (ONE, ONE, "inf"), ("inf", "inf", "inf"))))
    plain = exact(Statement(3, (part, rows), (), gained(3)), None)
    assert plain.rest is not None  # rows of one positive entry each are enough


def test_facets_of_a_latent_generator() -> None:
    rng = random.Random(7)
    B = ((ONE / 2, ONE / 4, ONE / 4), (ONE / 5, ONE / 5, 3 * ONE / 5))
    part = Latent(B, Ratio(Matrix(((ONE, ONE / 9), (ONE / 9, ONE)))))
    statement = Statement(3, (part,), (), gained(3))
    oracle = Rays(Simplicial((Facet(None, 0), Facet(None, 1), Facet(0, 0, 1))))
    test = part.test(3)
    price = oracle.linear(statement)
    for _ in range(40):
        c = cost(rng, 3)
        safe = price(list(c), cost(rng, 3), None)
        for _ in range(30):
            q = [rng.randint(0, 50) for _ in range(3)]
            if test(q) is None:
                assert sum((a - b) * v for a, b, v in zip(safe, c, q, strict=True)) <= 0


def test_a_facet_is_a_row_of_a_list_longer_than_the_inputs() -> None:
    rows = Rows(tuple(ListedRow(((0, ONE),), n * ONE, ((1, ONE),)) for n in (3, 2, 1)))
    statement, sums = Statement(2, (rows,), (), gained(2)), []
    for n in range(3):
        price = Rays(Simplicial((Facet(0, n), Facet(None, 0)))).linear(statement)
        sums.append(sum(price([0, 1 << 192], [1 << 192] * 2, None)))
    assert sums[0] < sums[1] < sums[2]


def test_a_long_chain_is_safe() -> None:
    """Its numbers are rounded many times."""
    rng = random.Random(11)
    k = 40
    table = [[exponent(rng) * abs(x - z) for z in range(k)] for x in range(k)]
    statement = Statement(k, (Ratio(Matrix(tuple(map(tuple, table)))),), (), gained(k))
    up = [Facet(0, x + 1, x) for x in range(20)] + [Facet(0, x - 1, x) for x in range(21, k)]
    oracle = Rays(Simplicial((*up, Facet(None, 20))))
    price = oracle.linear(statement)
    for _ in range(5):
        c = cost(rng, k)
        safe = price(list(c), cost(rng, k), None)
        q = [2**60] * k
        for _ in range(4):
            assert sum((a - b) * v for a, b, v in zip(safe, c, q, strict=True)) <= 0
            q = [v + rng.randint(0, 2**59) for v in q]


def undone_or_none(rows: list[list[Fraction]]) -> list[list[Fraction]] | None:
    try:
        return inverse(rows)
    except RefusedError:
        return None


def test_rounding_is_allowed_for_regular_m_matrices_only() -> None:
    """One positive entry in each row, each in a column of its own, sums >= 0, and regular."""
    rng = random.Random(5)
    seen = [0, 0]
    for _ in range(800):
        k = rng.randint(1, 4)
        rows = [[Fraction(rng.choice((0, 0, 0, -1, -1, -2))) for _ in range(k)] for _ in range(k)]
        places = rng.sample(range(k), k)
        if rng.random() < 0.2:
            places[0] = rng.randrange(k)
        for row, place in zip(rows, places, strict=True):
            row[place] = Fraction(-sum(row) + row[place] + rng.choice((0, 0, 1, 1, -1)))
            row[rng.randrange(k)] += rng.choice((0, 0, 0, 0, 1))
        positive = [[x for x, v in enumerate(row) if v > 0] for row in rows]
        signs = all(len(some) == 1 for some in positive)
        signs = signs and len({some[0] for some in positive}) == k
        signs = signs and all(sum(row) >= 0 for row in rows)
        found = _diagonal([{x: v for x, v in enumerate(row) if v} for row in rows])
        undone = undone_or_none(rows)
        assert (found is not None) == (signs and undone is not None)
        if found is not None and undone is not None:
            assert found == [some[0] for some in positive]
            assert min(map(min, undone)) >= 0
        seen[found is not None] += 1
    assert min(seen) > 100
