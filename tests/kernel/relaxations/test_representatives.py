"""Costs that move to representatives are no larger for any private channel, and no smaller."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from math import floor

from mechdesign.exact import exp_lower
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.generators import Cone, Constant, Matrix, Ratio
from mechdesign.kernel.objectives import Loss, Losses, distances, of_table
from mechdesign.kernel.relaxations import Representatives
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import number, numbers, prior

ONE, ZERO = Fraction(1), Fraction(0)
INF = "inf"


def moved(statement: Statement) -> Losses:
    assert isinstance(statement.objective, Loss)
    assert statement.objective.weights == (ONE,) * statement.k
    return statement.objective.costs


def test_costs_are_shrunk_by_the_best_bound_and_moved() -> None:
    rng = random.Random(12)
    for _ in range(25):
        k, m = rng.randint(1, 5), rng.randint(1, 3)
        kept = sorted(rng.sample(range(k), rng.randint(1, k)))
        stands = tuple(x if x in kept else rng.choice(kept) for x in range(k))
        tables = [
            [[rng.choice([INF, number(rng, 0, 2)]) for _ in range(k)] for _ in range(k)]
            for _ in range(2)
        ]
        p = prior(rng, k)
        ratios = [Ratio(Matrix(tuple(map(tuple, t)))) for t in tables]
        cone: tuple[Cone, ...] = (ratios[0], replace(ratios[1], prior=p))
        table, w = [numbers(rng, m, 0) for _ in range(k)], prior(rng, k, least=0)
        aim = Loss(of_table(list(map(list, table))), w, free=rng.random() < 0.5)
        relaxed = Representatives(stands)(Statement(k, cone, (), aim))
        assert relaxed.k == len(kept)
        assert isinstance(relaxed.objective, Loss)
        assert relaxed.objective.free == aim.free
        assert relaxed.cone[0] == Ratio(
            Matrix(tuple(tuple(tables[0][x][z] for z in kept) for x in kept))
        )
        for y in range(m):
            wanted = []
            for i in kept:
                total = ZERO
                for x in (x for x in range(k) if stands[x] == i):
                    shrunk = ONE if x == i else ZERO
                    if x != i:  # q_i <= e**a q_x and q_i <= e**a P_x / P_i q_x
                        a, b = tables[0][i][x], tables[1][i][x]
                        shrunk = max(shrunk, ZERO if a == INF else exp_lower(-a))
                        shrunk = max(shrunk, ZERO if b == INF else exp_lower(-b) * p[i] / p[x])
                    total += floor(floor(shrunk * UNIT) * w[x]) * table[x][y]
                wanted.append(floor(total))
            assert moved(relaxed).lower(y) == wanted
            assert moved(relaxed).denominator == UNIT
            assert moved(relaxed).n_outputs == m


def test_distances_are_taken_where_they_are_least() -> None:
    points = [(0, 0), (1, 1), (2, 2)]
    losses = distances(points, points, 1, "euclidean")
    aim = Loss(losses, (ONE / 4, ONE / 4, ONE / 2))
    ((), relaxed) = ((), Representatives((0, 0, 0))(Statement(3, (Ratio(Constant(ONE)),), (), aim)))
    (found,) = moved(relaxed).lower(0)
    one = floor(exp_lower(-ONE) * UNIT) // 4
    total = one * losses.lower(0)[1] + (floor(exp_lower(-ONE) * UNIT) // 2) * losses.lower(0)[2]
    assert found == total // losses.denominator


def test_an_input_without_weight_may_have_a_negative_cost() -> None:
    losses, cone = of_table([[ONE, ONE], [-ONE, ONE]]), (Ratio(Constant(ONE)),)
    weightless = Statement(2, cone, (), Loss(losses, (ONE, ZERO)))
    assert moved(Representatives((0, 1))(weightless)).lower(0) == [UNIT, 0]
