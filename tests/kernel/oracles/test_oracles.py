"""Prices of each oracle are safe on all extreme rays of a cone, and exact on cones of its kind."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import pytest

from mechdesign.errors import CertificateError
from mechdesign.kernel.gains import Squares
from mechdesign.kernel.generators import Cone, Constant, Distance, Lift, Listed, Matrix, Ratio, Rows
from mechdesign.kernel.oracles import (
    Classes,
    DoubleDescription,
    Facet,
    Knapsack,
    Line,
    OneBudget,
    Orthant,
    Rays,
    Simplicial,
    Subsets,
)
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import Oracle
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import (
    ONE,
    cone,
    cost,
    exponent,
    gained,
    gains,
    least_cost,
    lift,
    most_gain,
    numbers,
    prior,
    proved,
    proved_gain,
    rays,
    safe_for_costs,
    safe_for_gain,
    some_blocks,
)

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
