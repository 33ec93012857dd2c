"""Nodes of a mean variance, its tails, and the bound that they prove."""

from __future__ import annotations

import random
from fractions import Fraction
from math import floor

from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.linearizations import Readings
from mechdesign.kernel.objectives import Reading
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import safe_bound
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import Plain, Vector, exact, numbers, prior, refused

ONE = Fraction(1)
ROUNDED = Fraction(1, 2**180)


def statement(f: Vector, w: Vector | None) -> Statement:
    return Statement(len(f), (), (), Reading(f, w))


def test_nodes_tails_and_constant() -> None:
    rng = random.Random(4)
    for _ in range(20):
        k = rng.randint(1, 4)
        w, f, m = prior(rng, k, least=0), numbers(rng, k), numbers(rng, k)
        probes = (Fraction(-7, 3), Fraction(1, 7), Fraction(9, 7))
        program = Readings(probes, Numbers(m))(statement(f, w))
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
        program = line(statement(f, w))
        assert program.nodes is not None
        safe = exact(program.join(program.nodes[:-2]))
        for u, a, b in zip(safe, w, f, strict=True):
            assert 0 <= -a * b * b - u <= ROUNDED
        bound = safe_bound(statement(f, w), program, (), None, Plain())
        assert -ROUNDED <= bound <= 0


def test_probes_that_do_not_reach_prove_nothing() -> None:
    small, asked = Fraction(1, 10**30), statement((-ONE, 2 * ONE), (ONE / 2, ONE / 2))
    slopes = Numbers([-ONE, 2 * ONE])  # cheapest at -1 and 2
    for probes in ((-ONE + small, 2 * ONE), (-ONE, 2 * ONE - small)):
        with refused("far enough"):
            safe_bound(asked, Readings(probes, slopes)(asked), (), None, Plain())
    safe_bound(asked, Readings((-ONE, 2 * ONE), slopes)(asked), (), None, Plain())
