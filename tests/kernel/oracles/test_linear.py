"""The closed form of one budget: safe for any blocks and weights, exact where ratios are one."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.generators import Constant, Matrix, Ratio
from mechdesign.kernel.oracles import OneBudget, linear
from mechdesign.kernel.oracles.common import GRID, ceilings
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import KINDS, cost, exponent, gained, prior, ratio, refused, safe_for_costs

ONE = Fraction(1)


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
            assert found is not None
            assert 0 <= Fraction(found, 1 << GRID) - most < Fraction(1, 1 << GRID)


def test_weights_of_a_block_may_all_be_zero() -> None:
    rng = random.Random(3)
    parts = (ratio(rng, 4, "constant"),)
    aim = gained(4, p=(0 * ONE, 0 * ONE, 0 * ONE, ONE))
    safe_for_costs(rng, Statement(4, parts, (), aim), OneBudget(((0, 1), (2, 3))))
    with refused("without weights"):
        OneBudget().linear(Statement(4, parts, (), None))


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
        assert most is not None
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
