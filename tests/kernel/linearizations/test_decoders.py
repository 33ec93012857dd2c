"""Nodes of a mean loss: w_x D_y[x], rounded down, from the lower ends of losses.

Nodes of one square: for each column no less than the joined prices, and no less for units.

Nodes of a mean variance, its tails, and the bound that they prove.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.gains import Squares
from mechdesign.kernel.linearizations import Costs, Decoders, Readings
from mechdesign.kernel.linearizations.decoders import costs_between
from mechdesign.kernel.objectives import Loss, Reading, distances, of_table
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import safe_bound
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import Plain, Vector, channel, dot, exact, number, numbers, prior, refused

ONE, ZERO = Fraction(1), Fraction(0)
ROUNDED = Fraction(1, 2**180)


def test_every_output_is_a_node_rounded_down() -> None:
    rng = random.Random(1)
    for _ in range(20):
        k, m = rng.randint(1, 4), rng.randint(1, 4)
        table, w = [list(numbers(rng, m)) for _ in range(k)], prior(rng, k, least=0)
        program = Costs()(Statement(k, (), (), Loss(of_table(table), w)))
        assert program.nodes == [
            [floor(w[x] * table[x][y] * UNIT) for x in range(k)] for y in range(m)
        ]
        assert program.constant == program.tails == 0
        assert program.regions is None


def test_irrational_losses_are_the_lower_ends() -> None:
    losses = distances([(0, 0), (1, 1)], [(0, 0)], 3, "euclidean")
    (node,) = Costs()(Statement(2, (), (), Loss(losses, (ONE / 3, 2 * ONE / 3)))).nodes or []
    assert node == [0, floor(2 * ONE / 3 * Fraction(losses.lower(0)[1], losses.denominator) * UNIT)]


def of_square(v: Vector, p: Vector, constant: Fraction = ZERO) -> Statement:
    return Statement(len(p), (), (), Squares((v,), p, constant=constant))


def test_nodes_and_curvatures_are_rounded_to_their_sides() -> None:
    rng = random.Random(2)
    for _ in range(20):
        s = sorted({number(rng) for _ in range(5)} | {Fraction(5)} | {Fraction(-5)})
        p, v = prior(rng, 3, least=0), numbers(rng, 3)
        costs, bent = costs_between(s, p, v)
        assert costs == [
            [floor((t * t * a - t * b) * UNIT) for a, b in zip(p, v, strict=True)] for t in s
        ]
        gaps = [b - a for a, b in pairwise(s)]
        assert bent == [[ceil(d * d * a * UNIT) for a in p] for d in gaps]


def test_joined_prices_are_below_every_column_and_tight() -> None:
    rng = random.Random(3)
    for _ in range(20):
        k = rng.randint(1, 4)
        p = prior(rng, k, least=0)
        v = tuple(number(rng) * bool(mass) for mass in p)
        ends = [a / b for a, b in zip(v, p, strict=True) if b]
        inner = {min(ends) + (max(ends) - min(ends)) * number(rng, 0, 1) for _ in range(3)}
        nodes = tuple(sorted(inner | {min(ends) - rng.randint(0, 1), max(ends) + 1, min(ends)}))
        program = Decoders(nodes)(of_square(v, p, constant=ONE / 7))
        assert program.constant == ONE / 7
        assert program.nodes is not None
        assert program.nodes[0][0] == floor((nodes[0] ** 2 * p[0] - 2 * nodes[0] * v[0]) * UNIT)
        safe = exact(program.join(program.nodes))
        for q in channel(rng, k, 3):
            assert dot(safe, q) <= -(Squares((v,), p)(q, up=True))
        for u, a, b in zip(safe, v, p, strict=True):
            assert 0 <= (-a * a / b if b else ZERO) - u <= ROUNDED


def test_decoders_must_reach_and_rise() -> None:
    small = Fraction(1, 10**30)
    asked = of_square((ONE, -ONE / 2), (ONE / 2, ONE / 2))  # decoders from -1 to 2
    Decoders((-ONE, 2 * ONE))(asked)
    for nodes in ((-ONE + small, 2 * ONE), (-ONE, 2 * ONE - small)):
        with refused("do not cover"):
            Decoders(nodes)(asked)


def of_reading(f: Vector, w: Vector | None) -> Statement:
    return Statement(len(f), (), (), Reading(f, w))


def test_nodes_tails_and_constant() -> None:
    rng = random.Random(4)
    for _ in range(20):
        k = rng.randint(1, 4)
        w, f, m = prior(rng, k, least=0), numbers(rng, k), numbers(rng, k)
        probes = (Fraction(-7, 3), Fraction(1, 7), Fraction(9, 7))
        program = Readings(probes, Numbers(m))(of_reading(f, w))
        costs = [[t * t * b - t * a for a, b in zip(m, w, strict=True)] for t in probes]
        costs += [
            [sign * (2 * t * b - a) for a, b in zip(m, w, strict=True)]
            for sign, t in ((-1, probes[0]), (1, probes[-1]))
        ]
        assert program.nodes == [[floor(v * UNIT) for v in cost] for cost in costs]
        assert program.tails == 2
        assert program.constant == sum(a * b - c * b * b for a, b, c in zip(m, f, w, strict=True))


def test_the_bound_of_all_channels_is_tight() -> None:
    """With slopes 2 w f it is 0, as readings f of the input itself have no variance."""
    rng = random.Random(5)
    for _ in range(20):
        k = rng.randint(1, 4)
        w, f = prior(rng, k), numbers(rng, k)
        line = Readings(
            tuple(sorted({min(f), max(f) + 1, *f})),
            Numbers(2 * a * b for a, b in zip(w, f, strict=True)),
        )
        program = line(of_reading(f, w))
        assert program.nodes is not None
        safe = exact(program.join(program.nodes[:-2]))
        for u, a, b in zip(safe, w, f, strict=True):
            assert 0 <= -a * b * b - u <= ROUNDED
        bound = safe_bound(of_reading(f, w), program, (), None, Plain())
        assert -ROUNDED <= bound <= 0


def test_probes_that_do_not_reach_prove_nothing() -> None:
    small, asked = Fraction(1, 10**30), of_reading((-ONE, 2 * ONE), (ONE / 2, ONE / 2))
    slopes = Numbers([-ONE, 2 * ONE])  # cheapest at -1 and 2
    for probes in ((-ONE + small, 2 * ONE), (-ONE, 2 * ONE - small)):
        with refused("far enough"):
            safe_bound(asked, Readings(probes, slopes)(asked), (), None, Plain())
    safe_bound(asked, Readings((-ONE, 2 * ONE), slopes)(asked), (), None, Plain())
