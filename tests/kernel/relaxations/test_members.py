"""Listed members of a set of priors, each checked to be one, at the place of the set."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from mechdesign.kernel.generators import Ball, Box, Cone, Constant, Latent, Lift, Listed, Ratio
from mechdesign.kernel.relaxations import Members
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import Vector

ONE = Fraction(1)
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
