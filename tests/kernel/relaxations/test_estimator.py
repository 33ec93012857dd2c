"""Risks against the inverse of M, exactly; tangents against the deviation that they bound."""

from __future__ import annotations

import random
from collections.abc import Iterable
from fractions import Fraction
from math import isqrt
from typing import Any

from mechdesign.exact import PI
from mechdesign.kernel.gains import Gain, Squares
from mechdesign.kernel.objectives import Risk
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.relaxations import Estimator
from mechdesign.kernel.relaxations.estimator import root_factor
from mechdesign.kernel.statement import Statement
from tests.independent.files import information, inverse
from tests.kernel.draws import Vector, channel, numbers, prior, refused

ONE = Fraction(1)
Matrix = list[list[Fraction]]


def drawn(rng: random.Random) -> tuple[Vector, list[Vector], Matrix]:
    k = rng.randint(2, 4)
    columns = channel(rng, k, k + 1)
    shares = [tuple(Fraction(v, 1 << 20) for v in q) for q in columns if any(q)]
    p = prior(rng, k)
    return p, shares, inverse(information(shares, p))


def relaxed(vectors: Iterable[Iterable[Any]], asked: Statement, tangents: Any = None) -> Any:
    """Return the constant and the gain of squares."""
    aim = Estimator(tuple(map(Numbers, vectors)), tangents)(asked).objective
    assert isinstance(aim, Gain)
    assert isinstance(aim, Squares)
    return aim


def bounded(aim: Gain, columns: list[Vector]) -> Fraction:
    return aim.constant - sum((aim(q, up=True) for q in columns), Fraction(0))


def shifted(vectors: Matrix, p: Vector, rng: random.Random) -> Matrix:
    """Add a multiple of p to each vector: none is worth less for it."""
    multiples = numbers(rng, len(p))
    return [
        [v + m * w for v, w in zip(row, p, strict=True)]
        for m, row in zip(multiples, vectors, strict=True)
    ]


def near_root(v: Fraction) -> Fraction:
    return Fraction(isqrt(v.numerator * v.denominator << 200), v.denominator << 100)


def statement(p: Vector | None, k: int, *, roots: bool) -> Statement:
    return Statement(k, (), (), Risk(roots, p))


def test_squared_risk_is_bounded_by_any_vectors_and_tight() -> None:
    rng = random.Random(6)
    for _ in range(15):
        p, columns, best = drawn(rng)
        k = len(p)
        risk = sum((best[x][x] - p[x] ** 2 for x in range(k)), Fraction(0))
        asked = statement(p, k, roots=False)
        assert bounded(relaxed(best, asked), columns) == risk
        assert bounded(relaxed(shifted(best, p, rng), asked), columns) == risk
        other = [[*numbers(rng, k)] for _ in range(k)]
        worse = bounded(relaxed(other, asked), columns)
        assert worse <= risk
        assert bounded(relaxed(shifted(other, p, rng), asked), columns) == worse


def test_deviations_are_bounded_by_any_vectors_and_tight() -> None:
    rng = random.Random(7)
    for _ in range(15):
        p, columns, best = drawn(rng)
        k = len(p)
        variances = [best[x][x] - p[x] ** 2 for x in range(k)]
        risk = sum(map(near_root, variances), Fraction(0))
        asked = statement(p, k, roots=True)
        unit = [[v / best[x][x] for v in best[x]] for x in range(k)]
        tangents = Numbers(max(near_root(v), a) for v, a in zip(variances, p, strict=True))
        factor, near = root_factor(up=False), Fraction(1, 2**90)
        for vectors in (unit, shifted(unit, p, rng)):
            aim = relaxed(vectors, asked, tangents)
            found = bounded(aim, columns)
            assert found <= factor * risk + near
            if all(v >= a * a for v, a in zip(variances, p, strict=True)):
                assert found >= factor * risk - near
            for b, a, t in zip(aim.weights, p, tangents, strict=True):
                assert 0 <= b - factor * (t * t + a * a) ** 2 / (2 * t) <= Fraction(1, 2**140)


def holds(p: Fraction, t: Fraction, w: Fraction) -> bool:
    """Whether the tangent at t is below the deviation w."""
    s = p * p
    b, c = (t * t + s) ** 2 / (2 * t), t + (t * t + s) / (2 * t)
    return w >= c - b / (w * w + s)


def test_tangents_are_accepted_where_they_hold_for_all_deviations() -> None:
    """The least deviation is sqrt(p (1 - p)): a tangent is refused exactly where it fails there."""
    rng, seen = random.Random(8), set()
    for _ in range(60):
        p = Fraction(rng.randint(1, 99), 100)
        t = Fraction(rng.randint(1, 120), 100)
        asked = Statement(2, (), (), Risk(roots=True, prior=(p, 1 - p)))
        line = Estimator((Numbers([ONE, 0 * ONE]), Numbers([0 * ONE, ONE])), Numbers([t, ONE]))
        least = near_root(p * (1 - p)) + Fraction(1, 2**90)
        good = all(holds(p, t, least + Fraction(n, 20)) for n in range(30))
        seen.add((good, t >= p))
        if good:
            line(asked)
        else:
            with refused("too small"):
                line(asked)
    assert seen == {(True, True), (True, False), (False, False)}


def test_the_least_tangent_is_the_one_that_touches_the_least_deviation() -> None:
    """At p = 9/25 the deviation is 12/25 at least, and t = 3/25 touches there: exactly."""
    p, t = Fraction(9, 25), Fraction(3, 25)
    asked = statement((p, 1 - p), 2, roots=True)
    unit = (Numbers([ONE, 0 * ONE]), Numbers([0 * ONE, ONE]))
    Estimator(unit, Numbers([t, ONE]))(asked)
    with refused("too small"):
        Estimator(unit, Numbers([t - Fraction(1, 10**20), ONE]))(asked)


def test_the_factor_of_roots_is_rounded_to_its_sides() -> None:
    low, high = root_factor(up=False), root_factor(up=True)
    assert low * low * 2 * PI[1] <= 1 <= high * high * 2 * PI[0]
    assert high - low < Fraction(1, 10**35)
