"""The closed form of one budget: safe for any blocks and weights, exact where ratios are one.

A multiplier of the information: safe on every column, equal where the lift is e**((b - d)/v).

The fractional knapsack of a lift, and the 0-1 knapsack of a gain that splits.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from mechdesign.kernel import gains
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.gains import Squares, units
from mechdesign.kernel.generators import Ball, Box, Constant, Lift, Listed, Matrix, Ratio
from mechdesign.kernel.limits import Information
from mechdesign.kernel.oracles import Entropy, Knapsack, OneBudget, linear
from mechdesign.kernel.oracles.common import GRID, ceilings
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import Program, safe_bound
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import (
    KINDS,
    Vector,
    channel,
    cost,
    dot,
    exact,
    exponent,
    gained,
    lift,
    most_gain,
    number,
    numbers,
    prior,
    private_column,
    proved_gain,
    ratio,
    rays,
    refused,
    safe_for_costs,
    safe_for_gain,
)

ONE, ZERO = Fraction(1), Fraction(0)


@pytest.mark.parametrize("seed", range(60))
def test_bounds_of_a_block_are_those_of_all_pairs(seed: int) -> None:
    """Inputs that nothing tells apart share one bound: as if each pair was asked."""
    rng = random.Random(seed)
    k = rng.randint(1, 6)
    parts = tuple(ratio(rng, k, rng.choice(KINDS)) for _ in range(rng.randint(0, 3)))
    statement = Statement(k, parts, (), None)
    block = rng.sample(range(k), rng.randint(1, k))
    for x, found in zip(block, ceilings(statement, block), strict=True):
        known = [statement.ratio(x, z) for z in block if z != x]
        if None in known:
            assert found is None
        else:
            most = max([ONE, *(m for m in known if m is not None)])
            assert 0 <= Fraction(found, 1 << GRID) - most < Fraction(1, 1 << GRID)


def test_wide_prices_are_lowered_far_enough() -> None:
    """After all of Newton's steps what is left is taken from the prices."""
    rng = random.Random(4)
    k = 5
    huge = Ratio(Matrix(tuple(tuple(Fraction(20 * x + z) for z in range(k)) for x in range(k))))
    for _ in range(10):
        weights = tuple(Fraction(10) ** rng.randint(-30, 30) for _ in range(k))
        statement = Statement(k, (huge,), (), gained(k, p=weights))
        safe_for_costs(rng, statement, OneBudget())


@pytest.mark.parametrize("steps", [2, 3, 40])
def test_prices_are_safe_after_any_number_of_steps(
    monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """Prices fall by exactly the amount by which W ends below 0."""
    monkeypatch.setattr(linear, "NEWTON", steps)
    rng = random.Random(6)
    short = 0
    for _ in range(60):
        k = rng.randint(2, 6)
        part = Ratio(Constant(exponent(rng)))
        statement = Statement(k, (part,), (), gained(k, p=prior(rng, k)))
        most = statement.ratio(0, 1)
        c, u = cost(rng, k), cost(rng, k)
        safe = OneBudget().linear(statement)(list(c), list(u), None)
        d = [a - b for a, b in zip(c, safe, strict=True)]
        least = sum(d) + (most - 1) * sum(min(v, 0) for v in d)
        assert least >= 0
        short += least > UNIT / 10**6
    assert (short == 0) == (steps == 40)


def test_outside_of_all_blocks_a_price_is_at_most_the_cost() -> None:
    statement = Statement(3, (Ratio(Constant(ONE)),), (), gained(3))
    assert OneBudget(()).linear(statement)([UNIT] * 3, [2 * UNIT, 0, UNIT], None) == [UNIT, 0, UNIT]


def limited(p: tuple[Fraction, ...], *limits: Fraction) -> Statement:
    return Statement(len(p), (), tuple(Information(p, v) for v in limits), gained(len(p)))


@pytest.mark.parametrize("seed", range(15))
def test_prices_are_safe_with_the_information(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(1, 4)
    p = prior(rng, k, least=0)
    a, b = number(rng, 0, 1) + ONE / 5, number(rng, 0, 2) + ONE / 5
    statement, form = limited(p, ONE / 3, ONE / 2), gains.Entropy.of_inputs(p)
    for multipliers, v in ((((0, a),), a), (((1, b), (0, a), (0, a)), 2 * a + b)):
        levels = Numbers(numbers(rng, k, -20, 20))
        price = Entropy(multipliers, levels).linear(statement)
        for _ in range(3):
            c = cost(rng, k)
            safe = price(list(c), cost(rng, k), None)
            for q in channel(rng, k, 4):
                assert dot(safe, q) <= dot(c, q) + v * form(q, up=True) * UNIT
            d = [float(x / w) if w else 0 for x, w in zip(exact(c), p, strict=True)]
            powers = [float((n - x) / v) for n, x in zip(levels, d, strict=True)]
            if max(map(abs, powers)) < 15:  # the column for which the prices are equal
                lifts = list(map(math.exp, powers))
                at = [Fraction(r) * bool(w) for r, w in zip(lifts, p, strict=True)]
                gap = dot(exact(c), at) + v * form(at, up=False) - dot(exact(safe), at)
                assert float(gap) == pytest.approx(0, abs=1e-9 * max(lifts) * 40)


def test_the_bound_is_the_optimum_of_a_symmetric_channel() -> None:
    """The best channel of two inputs that errs with probability t has 1 bit less h(t) of it."""
    for t in (0.05, 0.2, 0.4):
        h = -t * math.log(t) - (1 - t) * math.log(1 - t)
        limit, v = Fraction(math.log(2) - h), Fraction(1 / math.log((1 - t) / t))
        statement = limited((ONE / 2, ONE / 2), limit)
        nodes = [[0, UNIT // 2], [UNIT // 2, 0]]
        mean = v * Fraction(-math.log((math.exp(-1 / v) + 1) / 2))
        oracle = Entropy(((0, v),), Numbers([mean, mean]))
        bound = safe_bound(statement, Program(Fraction(0), nodes), (), None, oracle)
        assert float(bound) == pytest.approx(t, abs=1e-9)
        assert oracle.paid(statement) == v * limit


def test_potentials_far_below_are_raised_and_far_above_refused() -> None:
    p = (ONE / 2, ONE / 2)
    statement, form = limited(p, ONE), gains.Entropy.of_inputs(p)
    safe = Entropy(((0, ONE),), Numbers([-1e9, 0.0])).linear(statement)([0, 0], [0, 0], None)
    for q in ([1, 0], [0, 1], [3, 5]):
        assert dot(safe, q) <= form(q, up=True) * UNIT
    with refused("out of range"):
        Entropy(((0, ONE),), Numbers([2001.0, 0.0])).linear(statement)([0, 0], [0, 0], None)


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


def split(rng: random.Random, p: Vector) -> list[Squares | gains.Entropy]:
    v = tuple(a * number for a, number in zip(p, numbers(rng, len(p), 0, 2), strict=True))
    vectors = units(v)
    return [
        Squares(vectors, p),
        gains.Entropy(vectors, p, tuple(max(u) + ONE / 9 for u in vectors)),
    ]


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
