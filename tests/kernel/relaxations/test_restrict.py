"""Restriction to some inputs keeps their rows, with an objective that is not larger.

Costs that move to representatives are no larger for any private channel, and no smaller.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from math import floor

import pytest

from mechdesign.exact import exp_lower
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.gains import Entropy, Gain, Hellinger, Squares
from mechdesign.kernel.generators import (
    Ball,
    Cone,
    Constant,
    Distance,
    Latent,
    Lift,
    Listed,
    ListedRow,
    Matrix,
    Ratio,
    Rows,
)
from mechdesign.kernel.limits import Gauge, Information
from mechdesign.kernel.objectives import Loss, Losses, Objective, Reading, distances, of_table
from mechdesign.kernel.relaxations import Representatives, Restrict
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import Vector, number, numbers, prior, refused

ONE, ZERO = Fraction(1), Fraction(0)
KEPT = (3, 1, 2)
INSIDE = (ZERO, ONE / 4, ONE / 4, ONE / 2)
OUTSIDE = (ONE / 4,) * 4


def restrict(*cone: Cone, limits: tuple[Gauge | Information, ...] = ()) -> Statement:
    asked = Statement(4, cone, limits, None, sign=-1)
    found = Restrict(KEPT)(asked)
    assert (found.k, found.sign, found.objective) == (3, -1, None)
    return found


def cut(v: Vector) -> Vector:
    return tuple(v[x] for x in KEPT)


def objective(aim: Objective) -> Objective | None:
    return Restrict(KEPT)(Statement(4, (), (), aim)).objective


def test_ratios_between_kept_inputs_stay() -> None:
    rng = random.Random(14)
    points = tuple((number(rng), number(rng)) for _ in range(4))
    table = tuple(tuple(rng.choice(["inf", number(rng)]) for _ in range(4)) for _ in range(4))
    parts = [
        Ratio(Constant(ONE)),
        Ratio(Constant(ONE, block=(0, 1, 0, 1), protected=(0, 2, 3))),
        Ratio(Distance(ONE / 3, "euclidean", points, ONE / 7), OUTSIDE),
        Ratio(Matrix(table), (ONE / 8, ONE / 8, ONE / 4, ONE / 2)),
    ]
    for part, found in zip(parts, restrict(*parts).cone, strict=True):
        assert isinstance(found, Ratio)
        found.check(3)
        for a, x in enumerate(KEPT):
            for b, z in enumerate(KEPT):
                assert found.exponents.at(a, b, up=True) == part.exponents.at(x, z, up=True)
                assert found.scale(a, b) == part.scale(x, z)


def test_rows_and_lifts_stay_if_they_mention_kept_inputs_only() -> None:
    lift = Lift(priors=Listed((OUTSIDE, INSIDE)), lower=ONE, upper=None)
    inside = ListedRow(((1, ONE), (0, ZERO)), ONE, ((2, ONE / 2), (3, ONE)))
    left, right = ListedRow(((0, ONE),), ONE, ((1, ONE),)), ListedRow(((1, ONE),), ONE, ((0, ONE),))
    nothing = Rows(())
    found = restrict(
        lift,
        replace(lift, priors=Listed((OUTSIDE,))),
        replace(lift, priors=Ball(INSIDE, ONE / 9)),
        Rows((left, inside, right)),
        Latent((INSIDE,), Ratio(Constant(ONE))),
    ).cone
    kept = ListedRow(((1, ONE),), ONE, ((2, ONE / 2), (0, ONE)))
    listed = replace(lift, priors=Listed((cut(INSIDE),)))
    assert found == (listed, nothing, nothing, Rows((kept,)), nothing)


def test_limits_stay_with_their_parts_on_kept_inputs() -> None:
    parts = tuple(ListedRow(((x, ONE),), ONE / 5, ()) for x in range(4))
    seen = Gauge(parts[:1], ONE)
    leakage = Gauge(parts, ONE, ONE / 2)
    limits = (seen, leakage, Information(OUTSIDE, ONE), Information(INSIDE, ONE / 3))
    assert restrict(limits=limits).limits == (
        Gauge(tuple(ListedRow(((a, ONE),), ONE / 5, ()) for a in (1, 2, 0)), ONE, ONE / 2),
        Information(cut(INSIDE), ONE / 3),
    )


def test_losses_forget_costs_that_are_not_negative() -> None:
    rng = random.Random(15)
    table = [list(numbers(rng, 2)) for _ in range(4)]
    for first, weights, good in [
        ([ONE, ZERO], OUTSIDE, True),
        ([ONE, -ONE], OUTSIDE, False),
        ([-ONE, -ONE], INSIDE, True),
        ([-ONE, -ONE], None, True),
    ]:
        aim = Loss(of_table([first, *table[1:]]), weights, free=True)
        if not good:
            with refused("negative cost"):
                objective(aim)
            continue
        found = objective(aim)
        assert isinstance(found, Loss)
        assert found.free
        assert found.weights == (weights if weights is None else cut(weights))
        assert (found.costs.n_outputs, found.costs.denominator) == (2, aim.costs.denominator)
        for y in range(2):
            assert found.costs.lower(y) == [aim.costs.lower(y)[x] for x in KEPT]
    with refused("negative weight"):
        objective(replace(aim, weights=(-ONE, ONE, ONE, ZERO)))


def test_both_ends_of_irrational_losses_stay() -> None:
    points = [(0, 0), (1, 1), (3, 1), (0, 2)]
    losses = distances(points, points, 1, "euclidean")
    found = objective(Loss(losses, OUTSIDE))
    assert isinstance(found, Loss)
    assert found.costs.lower(0) == [losses.lower(0)[x] for x in KEPT]
    assert found.costs.upper(0) == [losses.upper(0)[x] for x in KEPT] != found.costs.lower(0)


def test_readings_restrict_to_inputs_with_and_without_weight() -> None:
    f = (ONE, 2 * ONE, 3 * ONE, 4 * ONE)
    for w in (OUTSIDE, INSIDE):
        assert objective(Reading(f, w)) == Reading(cut(f), cut(w))
    assert objective(Reading(f, None)) == Reading(cut(f), None)
    with refused("negative weight"):
        objective(Reading(f, (-ONE, ONE, ONE, ZERO)))


@pytest.mark.parametrize("seen", [False, True])
def test_gains_drop_inputs_that_do_not_affect_them(seen: bool) -> None:
    blind = (ZERO, -ONE, ZERO, ONE / 2)
    forms: list[tuple[Gain, Gain]] = [
        (Hellinger.of(INSIDE, INSIDE), Hellinger.of(cut(INSIDE), cut(INSIDE))),
        (
            Squares((blind, INSIDE), INSIDE, (ONE, 2 * ONE)),
            Squares((cut(blind), cut(INSIDE)), cut(INSIDE), (ONE, 2 * ONE)),
        ),
        (Entropy((blind,), INSIDE), Entropy((cut(blind),), cut(INSIDE))),
    ]
    for form, wanted in forms:
        if not seen:
            assert objective(replace(form, constant=ONE / 3)) == replace(wanted, constant=ONE / 3)
            continue
        for name in ("vectors", "p"):
            other = (INSIDE, OUTSIDE) if name == "vectors" else OUTSIDE
            with refused("depends on removed inputs"):
                objective(replace(form, **{name: other}))  # type: ignore[arg-type]


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
