"""The fractional knapsack of a lift, and the 0-1 knapsack of a gain that splits."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from mechdesign.kernel.gains import Entropy, Squares, units
from mechdesign.kernel.generators import Ball, Box, Lift, Listed
from mechdesign.kernel.oracles import Knapsack
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import (
    Vector,
    cost,
    dot,
    gained,
    lift,
    most_gain,
    numbers,
    prior,
    private_column,
    proved_gain,
    rays,
    safe_for_gain,
)

ONE, ZERO = Fraction(1), Fraction(0)


@pytest.mark.parametrize("seed", range(10))
def test_prices_are_safe_in_the_region_of_a_node(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(1, 4)
    p = prior(rng, k)
    statement = Statement(k, (lift(rng, p),), (), gained(k, p=p))
    price, columns = Knapsack(p).linear(statement), rays(statement)
    columns = [list(map(sum, zip(*rng.choices(columns, k=3), strict=True))) for _ in range(20)]
    r = [v / dot(p, columns[0]) for v in columns[0]]
    low = [v * rng.choice((0, ONE / 2, 1)) for v in r]
    high = [v + rng.choice((0, ONE / 3, 2)) for v in r]
    for _ in range(4):
        c = cost(rng, k)
        safe = price(list(c), cost(rng, k), (low, high))
        assert dot(safe, r) <= dot(c, r)
        for q in columns:
            s = [v / dot(p, q) for v in q]
            if all(a <= v <= b for a, v, b in zip(low, s, high, strict=True)):
                assert dot(safe, s) <= dot(c, s)


def split(rng: random.Random, p: Vector) -> list[Squares | Entropy]:
    v = tuple(a * number for a, number in zip(p, numbers(rng, len(p), 0, 2), strict=True))
    vectors = units(v)
    return [Squares(vectors, p), Entropy(vectors, p, tuple(max(u) + ONE / 9 for u in vectors))]


@pytest.mark.parametrize("seed", range(20))
def test_prices_of_gains_that_split_are_safe_and_tight(seed: int) -> None:
    """Every entry but one is at an end: the bound is the best mixture of all vertices."""
    rng = random.Random(seed)
    k = rng.randint(1, 5)
    p = prior(rng, k, least=rng.randint(0, 1))
    statement = Statement(k, (lift(rng, p, two=True),), (), gained(k, p=p))
    columns = rays(statement)
    for gain in split(rng, p):
        safe_for_gain(statement, Knapsack(p), gain, cost(rng, k), columns)
        if min(p):
            best, prices = most_gain(columns, gain)
            found = proved_gain(statement, gain, prices, Knapsack())
            assert found == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_any_prior_of_a_set_will_do(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(2, 4)
    center, other = prior(rng, k), prior(rng, k)
    far = sum(abs(a - b) for a, b in zip(center, other, strict=True)) / 2
    ends = [tuple(map(f, center, other)) for f in (min, max)]
    columns = rays(Statement(k, (lift(rng, center, two=True),), (), gained(k)))
    for priors in (Ball(center, far), Box(ends[0], ends[1])):
        assert priors.has(center)
        assert priors.has(other)
        held = Lift(ONE, ONE, priors)
        statement = Statement(k, (held,), (), gained(k))
        test, price = held.test(k), Knapsack(other).linear(statement)
        c, u = cost(rng, k), cost(rng, k)
        safe = price(list(c), u, None)
        for q in columns:
            mixed = [v + sum(q) for v in q]
            if test(mixed) is None:
                assert dot(safe, mixed) <= dot(c, mixed)


def test_a_zero_column_of_p_has_its_cost() -> None:
    """Without an upper end columns with p . q = 0 are unit vectors where p is 0."""
    rng = random.Random(5)
    p = (ONE / 2, ONE / 2, ZERO)
    statement = Statement(3, (Lift(None, None, Listed((p,))),), (), gained(3))
    price = Knapsack(p).linear(statement)
    for _ in range(20):
        c = cost(rng, 3)
        safe = price(list(c), cost(rng, 3), None)
        for _ in range(5):
            q = private_column(rng, [[None] * 3] * 3)
            assert dot(safe, q) <= dot(c, q)
        assert all(a <= b for a, b in zip(safe, c, strict=True))
