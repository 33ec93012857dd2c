"""Nodes of a mean loss: w_x D_y[x], rounded down, from the lower ends of losses."""

from __future__ import annotations

import random
from fractions import Fraction
from math import floor

from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.linearizations import Costs
from mechdesign.kernel.objectives import Loss, Losses, distances, of_table
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import Vector, numbers, prior

ONE = Fraction(1)


def statement(losses: Losses, weights: Vector | None, k: int) -> Statement:
    return Statement(k, (), (), Loss(losses, weights))


def test_every_output_is_a_node_rounded_down() -> None:
    rng = random.Random(1)
    for _ in range(20):
        k, m = rng.randint(1, 4), rng.randint(1, 4)
        table, w = [list(numbers(rng, m)) for _ in range(k)], prior(rng, k, least=0)
        program = Costs()(statement(of_table(table), w, k))
        assert program.nodes == [
            [floor(w[x] * table[x][y] * UNIT) for x in range(k)] for y in range(m)
        ]
        assert program.constant == program.tails == 0
        assert program.regions is None


def test_irrational_losses_are_the_lower_ends() -> None:
    losses = distances([(0, 0), (1, 1)], [(0, 0)], 3, "euclidean")
    (node,) = Costs()(statement(losses, (ONE / 3, 2 * ONE / 3), 2)).nodes or []
    assert node == [0, floor(2 * ONE / 3 * Fraction(losses.lower(0)[1], losses.denominator) * UNIT)]
