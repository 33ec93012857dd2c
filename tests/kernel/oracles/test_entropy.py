"""A multiplier of the information: safe on every column, equal where the lift is e**((b - d)/v)."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from mechdesign.kernel import gains
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.limits import Information
from mechdesign.kernel.oracles import Entropy
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import Program, safe_bound
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import channel, cost, dot, exact, gained, number, numbers, prior, refused

ONE = Fraction(1)


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
