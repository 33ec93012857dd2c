"""The mean at any weights is below the worst case, and is it where the weights are."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from mechdesign.kernel.objectives import Loss, Objective, Reading, Risk, of_table
from mechdesign.kernel.packed import Weights
from mechdesign.kernel.relaxations import Average
from mechdesign.kernel.statement import Statement

ONE = Fraction(1)
LOSS = Loss(of_table([[ONE], [ONE]]), None)


def statement(aim: Objective) -> Statement:
    return Statement(2, (), (), aim, sign=-1)


def test_weights_are_divided_by_their_sum() -> None:
    third = (ONE / 3, 2 * ONE / 3)
    for weights in (Weights([ONE, 2]), Weights([0.25, 0.5])):
        for aim in (LOSS, Reading((ONE, ONE), None)):
            asked = statement(aim)
            assert Average(weights)(asked) == replace(asked, objective=replace(aim, weights=third))
        asked = statement(Risk(roots=True, prior=None))
        assert Average(weights)(asked).objective == Risk(roots=True, prior=third)
    assert Average(Weights([0.0, 2.0]))(asked).objective == Risk(True, (0 * ONE, ONE))
