"""Nodes of one square: for each column no less than the joined prices, and no less for units."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.gains import Squares
from mechdesign.kernel.linearizations import Decoders
from mechdesign.kernel.linearizations.decoders import costs_between
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import Vector, channel, dot, exact, number, numbers, prior, refused

ONE, ZERO = Fraction(1), Fraction(0)
ROUNDED = Fraction(1, 2**180)


def statement(v: Vector, p: Vector, constant: Fraction = ZERO) -> Statement:
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
        program = Decoders(nodes)(statement(v, p, constant=ONE / 7))
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
    asked = statement((ONE, -ONE / 2), (ONE / 2, ONE / 2))  # decoders from -1 to 2
    Decoders((-ONE, 2 * ONE))(asked)
    for nodes in ((-ONE + small, 2 * ONE), (-ONE, 2 * ONE - small)):
        with refused("do not cover"):
            Decoders(nodes)(asked)
