"""The mean at any weights is below the worst case, and is it where the weights are.

Listed members of a set of priors, each checked to be one, at the place of the set.

Bounds on ratios that private columns keep, and no smaller ones.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

from mechdesign.kernel.generators import (
    Ball,
    Box,
    Cone,
    Constant,
    Latent,
    Lift,
    Listed,
    ListedRow,
    Matrix,
    Ratio,
    Rows,
)
from mechdesign.kernel.limits import Information
from mechdesign.kernel.objectives import Loss, Reading, Risk, of_table
from mechdesign.kernel.packed import Weights
from mechdesign.kernel.relaxations import Average, Implied, Members
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import Vector, refused

ONE = Fraction(1)
LOSS = Loss(of_table([[ONE], [ONE]]), None)


def test_weights_are_divided_by_their_sum() -> None:
    third = (ONE / 3, 2 * ONE / 3)
    for weights in (Weights([ONE, 2]), Weights([0.25, 0.5])):
        for aim in (LOSS, Reading((ONE, ONE), None)):
            asked = Statement(2, (), (), aim, sign=-1)
            assert Average(weights)(asked) == replace(asked, objective=replace(aim, weights=third))
        asked = Statement(2, (), (), Risk(roots=True, prior=None), sign=-1)
        assert Average(weights)(asked).objective == Risk(roots=True, prior=third)
    assert Average(Weights([0.0, 2.0]))(asked).objective == Risk(True, (0 * ONE, ONE))


EVEN = (ONE / 2, ONE / 2)
BALL = Lift(priors=Ball(EVEN, ONE / 4), lower=ONE, upper=None)
LDP = Ratio(Constant(ONE))


def statement(*cone: Cone) -> Statement:
    return Statement(2, cone, (), None)


def p(first: Fraction | float | str) -> Vector:
    return Fraction(first), 1 - Fraction(first)


def test_members_take_the_place_of_their_set() -> None:
    listed = (p("1/4"), p("3/4"))
    relaxed = Members(1, listed)(statement(LDP, BALL))
    assert relaxed == statement(LDP, replace(BALL, priors=Listed(listed)))
    box = replace(BALL, priors=Box((0 * ONE, 0 * ONE), (ONE / 3, ONE)))
    assert Members(0, (p("1/3"),))(statement(box)).cone[0] == replace(
        box, priors=Listed((p("1/3"),))
    )
    behind = Latent((EVEN, EVEN), BALL)
    assert Members(0, listed)(statement(behind)).cone == (
        replace(behind, inner=replace(BALL, priors=Listed(listed))),
    )


INF = "inf"


def test_chains_are_the_shortest_paths() -> None:
    rng = random.Random(11)
    for _ in range(20):
        k = rng.randint(2, 4)
        table = [
            [rng.choice([INF, Fraction(rng.randint(0, 9), 7)]) for _ in range(k)] for _ in range(k)
        ]
        cone = (Ratio(Matrix(tuple(map(tuple, table)))),)
        *before, added = Implied(alone=False)(Statement(k, cone, (), None)).cone
        assert tuple(before) == cone
        assert isinstance(added, Ratio)
        assert isinstance(added.exponents, Matrix)
        assert added.prior is None
        for x, z in permutations(range(k), 2):
            paths = [
                sum((table[a][b] for a, b in zip((x, *p), (*p, z), strict=True)), 0 * ONE)
                for n in range(k - 1)
                for p in permutations(set(range(k)) - {x, z}, n)
                if INF not in {table[a][b] for a, b in zip((x, *p), (*p, z), strict=True)}
            ]
            assert added.exponents.table[x][z] == min(paths, default=INF)


def test_a_lift_implies_the_sum_of_its_exponents() -> None:
    lift = Lift(priors=Listed(((ONE, 0 * ONE),)), lower=ONE / 3, upper=ONE / 5)
    wide = Ratio(Constant(2 * ONE))
    narrow = Ratio(Constant(ONE / 9))
    limit = Information((ONE, 0 * ONE), ONE)
    for cone, most in (
        ((lift,), 8 * ONE / 15),
        ((wide, lift), 8 * ONE / 15),
        ((lift, narrow), ONE / 9),
        ((narrow, lift), ONE / 9),
        ((lift, wide), 8 * ONE / 15),
    ):
        asked = Statement(2, cone, (limit,), None)
        assert Implied()(asked) == Statement(2, (Ratio(Constant(most)),), (limit,), None)


def test_alone_it_is_the_largest_of_all_pairs() -> None:
    line = Matrix(((0 * ONE, ONE, INF), (ONE / 2, 0 * ONE, ONE), (INF, 3 * ONE, 0 * ONE)))
    asked = Statement(3, (Ratio(line),), (), None)
    assert Implied()(asked).cone == (Ratio(Constant(7 * ONE / 2)),)


def test_generators_without_ratio_bounds_are_left_out() -> None:
    """One side of a lift, ratios that depend on a prior, and listed rows imply none here."""
    prior = (ONE / 2, ONE / 2)
    sides = [Lift(priors=Listed((prior,)), lower=a, upper=b) for a, b in ((ONE, None), (None, ONE))]
    rows = Rows((ListedRow(((0, ONE),), ONE, ((1, ONE),)),))
    for cone in (*sides, Ratio(Constant(ONE), prior), rows, Ratio(Constant(ONE, protected=(0,)))):
        with refused("no ratio of all pairs"):
            Implied()(Statement(2, (cone,), (), None))
    with refused("no ratio of all pairs"):
        Implied()(Statement(1, (Ratio(Constant(ONE)),), (), None))
    added = Implied(alone=False)(Statement(2, (sides[0],), (), None)).cone[1]
    assert added == Ratio(
        Matrix(tuple(tuple(0 * ONE if x == z else INF for z in range(2)) for x in range(2)))
    )
    assert len(list(product(range(2), repeat=2))) == 4
