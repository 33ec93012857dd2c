"""Prices of each oracle are safe on all extreme rays of a cone, and exact on cones of its kind.

One budget is safe for any blocks and weights; a multiplier of the information on every column; a
knapsack for every prior of a set; products of rows wherever T is positive.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.gains import Entropy as EntropyGain, Squares, units
from mechdesign.kernel.generators import (
    Ball,
    Box,
    Cone,
    Constant,
    Distance,
    Lift,
    Listed,
    Matrix,
    Ratio,
    Rows,
)
from mechdesign.kernel.limits import Information
from mechdesign.kernel.oracles import (
    Classes,
    DoubleDescription,
    Entropy,
    Facet,
    Knapsack,
    Line,
    OneBudget,
    Orthant,
    Products,
    Rays,
    Simplicial,
    Spread,
    Subsets,
    linear,
)
from mechdesign.kernel.oracles.common import GRID, ceilings
from mechdesign.kernel.packed import Numbers, Places, Weights
from mechdesign.kernel.proof import Oracle, Program, safe_bound
from mechdesign.kernel.statement import Statement
from mechdesign.prior_sets import set_of
from tests.kernel.draws import (
    KINDS,
    Vector,
    channel,
    cone,
    cost,
    dot,
    exact,
    exponent,
    gained,
    gains,
    least_cost,
    lift,
    most_gain,
    number,
    numbers,
    prior,
    private_column,
    proved,
    proved_gain,
    ratio,
    rays,
    refused,
    safe_for_costs,
    safe_for_gain,
    some_blocks,
)

ONE, ZERO = Fraction(1), Fraction(0)
HALF = (ONE / 2, ONE / 2)
Case = Callable[[random.Random, int], tuple[Statement, Oracle]]
"""Draws a statement on so many inputs, and an oracle for it."""


def chain(rng: random.Random, k: int, order: list[int]) -> Ratio:
    """Return bounds on neighbors in an order alone."""
    table: list[list[object]] = [["inf"] * k for _ in range(k)]
    for x, z in pairwise(order):
        table[x][z], table[z][x] = exponent(rng), exponent(rng)
    return Ratio(Matrix(tuple(map(tuple, table))))


def cycle(rng: random.Random, k: int) -> tuple[Ratio, tuple[Facet, ...]]:
    """Return q_x <= M q_z for z after x, around."""
    table: list[list[object]] = [["inf"] * k for _ in range(k)]
    after = rng.sample(range(k), k)
    pairs = [(x, after[n - 1]) for n, x in enumerate(after)]
    for x, z in pairs:
        table[x][z] = exponent(rng)
    part = Ratio(Matrix(tuple(map(tuple, table))))
    return part, tuple(Facet(0, x, z) for x, z in pairs)


def anywhere(oracle: Callable[[random.Random, Statement], Oracle]) -> Case:
    """Return the case of any cone and any weights above 0."""

    def drawn(rng: random.Random, k: int) -> tuple[Statement, Oracle]:
        statement = Statement(k, cone(rng, k), (), gained(k, p=prior(rng, k)))
        return statement, oracle(rng, statement)

    return drawn


def line(rng: random.Random, k: int) -> tuple[Statement, Oracle]:
    order = rng.sample(range(k), k)
    parts = (chain(rng, k, order), *cone(rng, k)) if k > 1 else ()
    return Statement(k, parts, (), gained(k)), Line(tuple(order))


def one_budget(rng: random.Random, k: int) -> tuple[Statement, Oracle]:
    """Some weights may be 0."""
    weights = tuple(rng.choice((0 * ONE, ONE / 4, 3 * ONE, ONE / 3)) for _ in range(k))
    aim = gained(k, p=rng.choice((prior(rng, k, least=0), weights)))
    return Statement(k, cone(rng, k), (), aim), OneBudget(some_blocks(rng, k))


def knapsack(rng: random.Random, k: int) -> tuple[Statement, Oracle]:
    """Lifts at p of any sides, priors with zeros, other generators, and a p of no lift."""
    p = prior(rng, k, least=0)
    parts: tuple[Cone, ...] = (lift(rng, p),)
    if rng.random() < 0.3:
        return Statement(k, parts, (), gained(k)), Knapsack()
    parts += cone(rng, k) if rng.random() < 0.4 else ()
    parts += (lift(rng, p),) if rng.random() < 0.3 else ()
    return Statement(k, parts, (), gained(k)), Knapsack(rng.choice((p, prior(rng, k, least=0))))


def any_facets(rng: random.Random, statement: Statement) -> Oracle:
    """Return any facets, of which some bound an entry below by others."""
    found = []
    for x in range(statement.k):
        options = [Facet(None, x)]
        for place, part in enumerate(statement.cone):
            for side, z, other in part.keys(statement.k):
                if x in (z, other) or isinstance(part, Rows):
                    options.append(Facet(place, z, other, side))
        found.append(rng.choice(options))
    return Rays(Simplicial(tuple(found)))


SAFE: dict[str, Case] = {
    "orthant": anywhere(lambda *_: Orthant()),
    "line": line,
    "one budget": one_budget,
    "knapsack": knapsack,
    "all rays": anywhere(lambda *_: Rays(DoubleDescription())),
    "subsets": anywhere(lambda rng, s: Rays(Subsets(some_blocks(rng, s.k)))),
    "facets": anywhere(any_facets),
}


@pytest.mark.parametrize("name", SAFE)
def test_prices_are_safe(name: str) -> None:
    taken = 0
    for seed in range(80 if name == "facets" else 25):
        rng = random.Random(seed)
        k = rng.randint(1, 4)
        statement, oracle = SAFE[name](rng, k)
        try:
            safe_for_costs(rng, statement, oracle)
        except CertificateError:  # dependent facets, or not of a cone in the orthant
            assert name == "facets"
            continue
        taken += 1
        if isinstance(oracle, Rays):
            columns, p = rays(statement), statement.objective.p
            for gain in gains(rng, k, p):
                safe_for_gain(statement, oracle, gain, cost(rng, k), columns)
    assert taken > 20


def of_line(rng: random.Random, k: int) -> tuple[Statement, Oracle]:
    order = rng.sample(range(k), k)
    part = chain(rng, k, order)
    if rng.random() < 0.3:
        order = list(range(k))
        part = Ratio(Distance(exponent(rng), "absolute", tuple((Fraction(x),) for x in order)))
    return Statement(k, (part,), (), gained(k)), Line(tuple(order))


def of_budget(rng: random.Random, k: int) -> tuple[Statement, Oracle]:
    """One block, all inputs protected or some, or two blocks."""
    kind, marks = rng.randrange(3), tuple(rng.randint(0, 1) for _ in range(k))
    if kind == 2:
        apart = tuple(tuple(x for x in range(k) if marks[x] == b) for b in sorted(set(marks)))
        part = Ratio(Constant(exponent(rng), marks))
        return Statement(k, (part,), (), gained(k)), OneBudget(apart)
    some = tuple(x for x in range(k) if marks[x]) if kind else None
    weights = tuple(ONE * (not some or x in some) for x in range(k))
    aim = gained(k, p=rng.choice((weights, (ONE / k,) * k)))
    return Statement(k, (Ratio(Constant(exponent(rng), None, some)),), (), aim), OneBudget()


def of_lift(rng: random.Random, k: int) -> tuple[Statement, Oracle]:
    p = prior(rng, k)
    return Statement(k, (lift(rng, p),), (), gained(k, p=p)), Knapsack()


def of_facets(rng: random.Random, k: int) -> tuple[Statement, Oracle]:
    part: Cone
    part, faces = cycle(rng, k)
    if rng.random() < 0.4:
        part = Lift(exponent(rng), None, Listed((prior(rng, k, least=0),)))
        faces = tuple(Facet(0, x, 0, "lower") for x in range(k))
    return Statement(k, (part,), (), gained(k)), Rays(Simplicial(faces))


EXACT: dict[str, Case] = {
    "line": of_line,
    "one budget": of_budget,
    "knapsack": of_lift,
    "all rays": anywhere(lambda *_: Rays(DoubleDescription())),
    "facets": of_facets,
}


@pytest.mark.parametrize("name", EXACT)
def test_the_bound_is_the_optimum_of_a_linear_program(name: str) -> None:
    for seed in range(15):
        rng = random.Random(seed)
        k = rng.randint(2, 5)
        statement, oracle = EXACT[name](rng, k)
        costs = [numbers(rng, k) for _ in range(rng.randint(1, 3))]
        best, prices = least_cost(statement, costs)
        assert proved(statement, costs, prices, oracle) == pytest.approx(best, abs=1e-8)


def of_subsets(rng: random.Random, k: int) -> tuple[Statement, Oracle]:
    return Statement(k, (Ratio(Constant(exponent(rng))),), (), gained(k)), Rays(Subsets())


@pytest.mark.parametrize("name", ["all rays", "facets", "subsets"])
def test_the_bound_on_gains_is_that_of_the_best_mixture_of_rays(name: str) -> None:
    for seed in range(8):
        rng = random.Random(seed)
        k = rng.randint(2, 4)
        statement, oracle = (EXACT | {"subsets": of_subsets})[name](rng, k)
        columns = rays(statement)
        for gain in gains(rng, k, (ONE / k,) * k):
            most, prices = most_gain(columns, gain)
            assert proved_gain(statement, gain, prices, oracle) == pytest.approx(most, abs=1e-8)
            if name == "subsets" and isinstance(gain, Squares) and gain.weights is None:
                even = Numbers([sum(prices) / k] * k)  # alike in all inputs
                classes = Rays(Classes((tuple(range(k)),)))
                found = proved_gain(statement, gain, even, classes)
                assert found == pytest.approx(most, abs=1e-8)


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
    statement, form = limited(p, ONE / 3, ONE / 2), EntropyGain.of_inputs(p)
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


@pytest.mark.parametrize("k", range(2, 8))
def test_a_constant_column_is_not_priced_above_its_cost(k: int) -> None:
    """It has no information: with equal potentials s is 1, though 1/k is rounded."""
    statement = limited((ONE / k,) * k, ONE)
    for level in (0.0, 3.0):
        safe = Entropy(((0, ONE),), Numbers([level] * k)).linear(statement)([0] * k, [0] * k, None)
        assert -UNIT >> 100 <= sum(safe) <= 0


def test_potentials_far_below_are_raised_and_far_above_refused() -> None:
    p = (ONE / 2, ONE / 2)
    statement, form = limited(p, ONE), EntropyGain.of_inputs(p)
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


def split(rng: random.Random, p: Vector) -> list[Squares | EntropyGain]:
    v = tuple(a * number for a, number in zip(p, numbers(rng, len(p), 0, 2), strict=True))
    vectors = units(v)
    return [Squares(vectors, p), EntropyGain(vectors, p, tuple(max(u) + ONE / 9 for u in vectors))]


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


def products(
    c: Fraction,
    forms: list[tuple[int, int]],
    pairs: list[tuple[int, int, Fraction]],
    *more: Vector | Numbers | None,
) -> Products:
    left, right, weight = zip(*pairs, strict=True) if pairs else ((), (), ())
    return Products(c, tuple(forms), Places(left), Places(right), Weights(weight), *more)


def least_surplus(
    statement: Statement, gain: Squares, prices: list[int], oracle: Products
) -> list[tuple[Products, list[int]]]:
    """Return what is proved with the least surplus that is accepted, to 1%, and with twice that."""
    found, low, high = [], 0.0, 2.0**-8
    while high < 2.0**24:
        try:
            found.append(_with(oracle, high).gain(statement, gain, prices))
            break
        except CertificateError:
            low, high = high, 2 * high
    if not found:
        return []
    for _ in range(6):
        middle = (low + high) / 2
        try:
            _with(oracle, middle).gain(statement, gain, prices)
            high = middle
        except CertificateError:
            low = middle
    return [(_with(oracle, c), prices) for c in (high, 2 * high)]


def _with(o: Products, c: float) -> Products:
    return replace(o, surplus=Fraction(c))


def safe_products(
    rng: random.Random,
    statement: Statement,
    columns: list[list[int]],
    forms: list[tuple[int, int]],
    *more: Vector | Numbers | None,
) -> None:
    """Assert safety at the least surplus accepted, where a form too strong by a little shows."""
    k, p = statement.k, statement.objective.p
    pairs = [
        (rng.randrange(len(forms)), rng.randrange(len(forms)), number(rng, 0, 1) / 2)
        for _ in range(rng.randint(len(more) > 1, 2 * k))
    ]
    oracle = products(ONE, forms, pairs, *more)
    for gain in (Squares(units(p), p), Squares((numbers(rng, k),), p, (ONE / 3,))):
        for found, u in least_surplus(statement, gain, cost(rng, k), oracle):
            safe_for_gain(statement, found, gain, u, columns)


@pytest.mark.parametrize("seed", range(20))
def test_prices_of_products_are_safe(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(2, 4)
    p = prior(rng, k, least=rng.randint(0, 1))
    lift = prior(rng, k, least=0) if rng.random() < 0.5 else None
    parts = cone(rng, k)
    if lift is not None:
        parts = (*parts, Lift(exponent(rng), exponent(rng), Listed((lift,))))
    statement = Statement(k, parts, (), gained(k, p=p))
    forms = [(x, x) for x in range(k)]
    forms += [(x, z) for x in range(k) for z in range(k) if x != z and statement.ratio(x, z)]
    forms += [(x, k) for x in range(k)] * bool(lift) + [(k, x) for x in range(k)] * bool(lift)
    safe_products(rng, statement, rays(statement), forms, lift)


@pytest.mark.parametrize("seed", range(30))
def test_prices_of_products_with_levels_are_safe(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(2, 3)
    p = prior(rng, k)
    table = tuple(tuple(exponent(rng) for _ in range(k)) for _ in range(k))
    base = prior(rng, k, least=4) if rng.random() < 0.5 else None
    statement = Statement(k, (Ratio(Matrix(table), base),), (), gained(k, p=p))
    forms = [(x, z) for x in range(k + 2) for z in range(k + 2) if k not in (x, z)]
    forms = [(x, z) for x, z in forms if x != z or x < k]
    safe_products(rng, statement, rays(statement), forms, None, Numbers(numbers(rng, k, 0, 3)))


def around(rng: random.Random, p: Vector) -> Box | Ball:
    """Return a set of priors about p, which is not its center."""
    if rng.random() < 0.5:
        return Box(*(tuple(v + s * v * number(rng, 1, 3) / 6 for v in p) for s in (-1, 1)))
    center = tuple((3 * v + w) / 4 for v, w in zip(p, prior(rng, len(p), least=0), strict=True))
    apart = sum(abs(v - w) for v, w in zip(p, center, strict=True)) / 2
    return Ball(center, apart + number(rng, 1, 3) / 20)


@pytest.mark.parametrize("seed", range(30))
def test_bounds_of_a_set_of_priors_hold_and_prices_by_them_are_safe(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.randint(2, 4)
    p = prior(rng, k, least=rng.randint(0, 1))
    lift = Lift(exponent(rng) if rng.random() < 0.8 else None, exponent(rng) / 3, around(rng, p))
    statement = Statement(k, (lift,), (), gained(k, p=prior(rng, k)))
    listed = Listed(set_of(lift.priors).vertices())
    columns = rays(replace(statement, cone=(replace(lift, priors=listed),)))
    spread = Spread.of(statement, p)
    for q in columns:
        r = [v / dot(p, q) for v in q]
        V = dot(p, [(v - 1) ** 2 for v in r])
        assert V <= spread.most < (spread.high - 1) * (1 - spread.low)
        assert all((spread.high - v) * (v - spread.low) >= spread.share * V for v in r)
    forms = [(x, x) for x in range(k)] + [(x, k) for x in range(k)]
    weights = Weights(numbers(rng, k + 1, 0, 3))
    safe_products(rng, statement, columns, forms, p, None, weights)


@pytest.mark.parametrize("x", [0.02, 0.4])
@pytest.mark.parametrize("priors", [Box((ONE / 3,) * 2, (2 * ONE / 3,) * 2), Ball(HALF, ONE / 6)])
def test_the_bound_on_the_variance_is_that_of_two_equal_inputs(
    priors: Box | Ball, x: float
) -> None:
    """Both lifts of q = (1 + x, 1 - x) are at an end; p' . q is between 1 - x / 3 and 1 + x / 3."""
    upper, lower = math.log((1 + x) / (1 - x / 3)), math.log((1 + x / 3) / (1 - x))
    lift = Lift(Fraction(lower), Fraction(upper), priors)
    statement = Statement(2, (lift,), (), gained(2))
    assert float(Spread.of(statement, HALF).most) == pytest.approx(x * x, rel=1e-3)
    listed = replace(lift, priors=Listed((HALF,)))
    assert Spread.of(replace(statement, cone=(listed,)), HALF) is None


def test_one_budget_of_two_inputs_is_proved_to_its_optimum() -> None:
    """With the product of its two rows T is 0: any surplus will do."""
    statement, gain = Statement(2, (Ratio(Constant(ONE)),), (), gained(2)), gained(2)
    M = statement.ratio(0, 1)
    best = (M * M + 1) / (2 * (M + 1) ** 2)  # (g / sum) of q = (M, 1)
    oracle = products(Fraction(1, 10**12), [(0, 1), (1, 0)], [(0, 1, 1 / (2 * (M + 1) ** 2))])
    safe = oracle.gain(statement, gain, [-int(best * UNIT)] * 2)
    assert float(Fraction(-sum(safe), UNIT) - 2 * best) == pytest.approx(1e-12)
    with refused("do not prove"):
        oracle.gain(statement, gain, [-int((best - Fraction(1, 10**6)) * UNIT)] * 2)


def test_a_lift_may_be_of_a_set_of_priors() -> None:
    p = (ONE / 3,) * 3
    held = Statement(3, (Lift(ONE, ONE, Ball(p, ONE / 10)),), (), gained(3))
    products(Fraction(10**6), [(0, 3), (3, 0)], [], p).gain(held, gained(3), [0] * 3)
    far = (ONE, 0 * ONE, 0 * ONE)
    with refused("row that does not exist"):
        products(ONE, [(0, 3)], [], far).gain(held, gained(3), [0] * 3)


def test_a_multiplier_of_a_product_is_not_negative() -> None:
    statement = Statement(2, (), (), gained(2))
    with refused("negative multiplier"):
        oracle = products(ONE, [(0, 0)], [(0, 0, -ONE)])
        oracle.gain(statement, gained(2), [0, 0])


def test_a_surplus_of_no_products_is_the_largest_share() -> None:
    """Ratios alone bound each s_x q_x by p . q; any generator may be among them."""
    rng = random.Random(9)
    for kind in KINDS:
        p = prior(rng, 3)
        statement = Statement(3, (ratio(rng, 3, kind),), (), gained(3, p=p))
        gain, u = Squares(units(p), p), [0] * 3
        (tight, _), _ = least_surplus(statement, gain, u, products(ONE, [], []))
        safe = tight.gain(statement, gain, u)
        assert float(Fraction(-sum(safe), UNIT)) == pytest.approx(float(tight.surplus))


@pytest.mark.parametrize("p", [(ONE / 2, ONE / 4, ONE / 4), (ONE / 8, ONE / 8, 3 * ONE / 4)])
def test_a_lift_bounds_the_share_of_an_entry(p: Vector) -> None:
    """q_x <= high (p' . q) <= high max_z (p'_z / p_z) (p . q), and this bounds q_x**2 alone."""
    lift = (ONE / 2, ONE / 4, ONE / 4)
    statement = Statement(3, (Lift(None, ONE / 4, Listed((lift,))),), (), gained(3))
    (_, high), gain = statement.lift(lift), Squares(((ONE, 0 * ONE, 0 * ONE),), p, (ONE,))
    least = 3 * (high * max(a / b for a, b in zip(lift, p, strict=True))) ** 2
    for share, holds in ((1 + ONE / 10**9, True), (1 - ONE / 10**9, False)):
        with nullcontext() if holds else refused("do not prove"):
            products(least * share, [], [], lift).gain(statement, gain, [0] * 3)


@pytest.mark.parametrize("kind", ["ratios", "levels", "lift"])
def test_the_surplus_is_the_least_where_all_entries_are_one(kind: str) -> None:
    """With epsilon 0 every column is a multiple of (1, .., 1), where no step loses anything.

    The products of rows say that entries do not differ; with large multipliers T is positive
    exactly if the claim holds at (1, .., 1): c >= g(1, .., 1) + Sum u.
    """
    rng = random.Random(8)
    for _ in range(12):
        k = rng.randint(2, 4)
        p, u = prior(rng, k), cost(rng, k)
        lift, levels, huge = None, None, Fraction(1 << 70)
        parts: tuple[Cone, ...] = (Ratio(Constant(0 * ONE)),)
        pairs = [((x, z), (z, x)) for x in range(k) for z in range(x)]
        if kind == "lift":
            lift = prior(rng, k)
            parts = (*parts, Lift(0 * ONE, 0 * ONE, Listed((lift,))))
            pairs = [((x, k), (k, x)) for x in range(k)]
        statement = Statement(k, parts, (), gained(k))
        if kind == "levels":
            levels = Numbers([huge] * k)
            pairs += [((x, k + 1), (k + 1, x)) for x in range(k)]
        forms = [form for pair in pairs for form in pair]
        weights = [(2 * n, 2 * n + 1, huge) for n in range(len(pairs))]
        gain = Squares((numbers(rng, k), numbers(rng, k)), p, (ONE / 3, ONE / 2))
        least = gain((1,) * k, up=True) + Fraction(sum(u), UNIT)
        down = max(least + ONE, ONE)  # prices at which the surplus is about 1
        u = [v - int((least - down) / k * UNIT) for v in u]
        for share, holds in ((1 + ONE / 10**9, True), (1 - ONE / 10**9, False)):
            oracle = products(down * share, forms, weights, lift, levels)
            with nullcontext() if holds else refused("do not prove"):
                safe = oracle.gain(statement, gain, u)
                assert sum(safe) * ONE / UNIT == pytest.approx(float(-gain((1,) * k, up=True)))
