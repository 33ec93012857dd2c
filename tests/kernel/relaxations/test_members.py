"""The mean at any weights is below the worst case, and is it where the weights are.

Listed members of a set of priors, each checked to be one, at the place of the set.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from mechdesign.kernel.generators import Ball, Box, Cone, Constant, Latent, Lift, Listed, Ratio
from mechdesign.kernel.objectives import Loss, Reading, Risk, of_table
from mechdesign.kernel.packed import Weights
from mechdesign.kernel.relaxations import Average, Members
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import Vector

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
