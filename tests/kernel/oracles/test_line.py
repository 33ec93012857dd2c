"""The walk along an order and the orthant: safe on rays of any cone, exact where it is a line."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.kernel.generators import Distance, Matrix, Ratio
from mechdesign.kernel.oracles import Line, Orthant
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import (
    cone,
    cost,
    exponent,
    gained,
    least_cost,
    numbers,
    proved,
    refused,
    safe_for_costs,
)

SEEDS = st.integers(0, 2**32)


def chain(rng: random.Random, k: int, order: list[int]) -> Ratio:
    """Return bounds on neighbors in an order alone."""
    table: list[list[object]] = [["inf"] * k for _ in range(k)]
    for x, z in pairwise(order):
        table[x][z], table[z][x] = exponent(rng), exponent(rng)
    return Ratio(Matrix(tuple(map(tuple, table))))  # type: ignore[arg-type]


@settings(deadline=None, max_examples=30)
@given(SEEDS)
def test_prices_are_safe(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(1, 6)
    order = rng.sample(range(k), k)
    parts = (chain(rng, k, order), *cone(rng, k)) if k > 1 else ()
    statement = Statement(k, parts, (), gained(k))
    safe_for_costs(rng, statement, Line(tuple(order)))
    safe_for_costs(rng, statement, Orthant())


@settings(deadline=None, max_examples=20)
@given(SEEDS)
def test_the_bound_is_the_optimum_of_a_line(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(2, 6)
    order = rng.sample(range(k), k)
    part = chain(rng, k, order)
    if rng.random() < 0.3:
        order = list(range(k))
        part = Ratio(Distance(exponent(rng), "absolute", tuple((Fraction(x),) for x in order)))
    statement = Statement(k, (part,), (), gained(k))
    costs = [numbers(rng, k) for _ in range(rng.randint(1, 4))]
    best, prices = least_cost(statement, costs)
    assert proved(statement, costs, prices, Line(tuple(order))) == pytest.approx(best, abs=1e-9)


def test_they_are_for_linear_costs() -> None:
    aim = gained(2)
    statement = Statement(2, (), (), aim)
    for oracle in (Line(), Orthant()):
        with refused("does not support convex gains"):
            oracle.gain(statement, aim, cost(random.Random(0), 2))
