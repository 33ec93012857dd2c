"""Each relaxation is no larger for any private channel, keeps what it may, and refuses the rest.

Averages are below the worst case; listed members stand for their set; ratios follow from chains;
restriction keeps rows of kept inputs, representatives pay for others; risks are held against the
inverse of M; rectangles and tiles of a grid cost no more than their outputs and the whole grid.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from math import floor, isqrt
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    Domain,
    EuclideanDistance,
    HammingLoss,
    MeanAbsoluteError,
    MeanSquaredDistance,
    MetricPrivacy,
    Prior,
    Problem,
    design,
)
from mechdesign.exact import PI, exp_lower
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.gains import Entropy, Gain, Hellinger, Squares
from mechdesign.kernel.generators import (
    Ball,
    Box,
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
from mechdesign.kernel.objectives import (
    Loss,
    Losses,
    Objective,
    Reading,
    Risk,
    distances,
    hamming,
    of_table,
)
from mechdesign.kernel.packed import Numbers, Weights
from mechdesign.kernel.relaxations import (
    Average,
    Cells,
    Estimator,
    Implied,
    Members,
    Representatives,
    Restrict,
    Tiles,
)
from mechdesign.kernel.relaxations.estimator import root_factor
from mechdesign.kernel.statement import Statement
from tests.independent.files import information, inverse
from tests.kernel.draws import Vector, channel, number, numbers, prior, refused
from tests.strategies import examples, lp_optimum

ONE, ZERO = Fraction(1), Fraction(0)
INF = "inf"
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


EVEN = (ONE / 2, ONE / 2)
BALL = Lift(priors=Ball(EVEN, ONE / 4), lower=ONE, upper=None)
BUDGET = Ratio(Constant(ONE))


def of_two(*cone: Cone) -> Statement:
    return Statement(2, cone, (), None)


def p(first: Fraction | float | str) -> Vector:
    return Fraction(first), 1 - Fraction(first)


def test_members_take_the_place_of_their_set() -> None:
    listed = (p("1/4"), p("3/4"))
    relaxed = Members(1, listed)(of_two(BUDGET, BALL))
    assert relaxed == of_two(BUDGET, replace(BALL, priors=Listed(listed)))
    box = replace(BALL, priors=Box((0 * ONE, 0 * ONE), (ONE / 3, ONE)))
    assert Members(0, (p("1/3"),))(of_two(box)).cone[0] == replace(box, priors=Listed((p("1/3"),)))
    behind = Latent((EVEN, EVEN), BALL)
    assert Members(0, listed)(of_two(behind)).cone == (
        replace(behind, inner=replace(BALL, priors=Listed(listed))),
    )


def test_chains_are_the_shortest_paths() -> None:
    rng = random.Random(11)
    for _ in range(20):
        k = rng.randint(2, 4)
        table = [
            [rng.choice([INF, Fraction(rng.randint(0, 9), 7)]) for _ in range(k)] for _ in range(k)
        ]
        cone = (Ratio(Matrix(tuple(map(tuple, table)))),)
        *before, added = Implied(alone=False)(Statement(k, cone, (), None)).cone
        assert tuple(before) == cone
        assert added.prior is None
        for x, z in permutations(range(k), 2):
            paths = [
                sum((table[a][b] for a, b in zip((x, *p), (*p, z), strict=True)), 0 * ONE)
                for n in range(k - 1)
                for p in permutations(set(range(k)) - {x, z}, n)
                if INF not in {table[a][b] for a, b in zip((x, *p), (*p, z), strict=True)}
            ]
            assert added.exponents.table[x][z] == min(paths, default=INF)


def test_a_lift_implies_the_sum_of_its_exponents() -> None:
    lift = Lift(priors=Listed(((ONE, 0 * ONE),)), lower=ONE / 3, upper=ONE / 5)
    wide = Ratio(Constant(2 * ONE))
    narrow = Ratio(Constant(ONE / 9))
    limit = Information((ONE, 0 * ONE), ONE)
    for cone, most in (
        ((lift,), 8 * ONE / 15),
        ((wide, lift), 8 * ONE / 15),
        ((lift, narrow), ONE / 9),
        ((narrow, lift), ONE / 9),
        ((lift, wide), 8 * ONE / 15),
    ):
        asked = Statement(2, cone, (limit,), None)
        assert Implied()(asked) == Statement(2, (Ratio(Constant(most)),), (limit,), None)


def test_alone_it_is_the_largest_of_all_pairs() -> None:
    line = Matrix(((0 * ONE, ONE, INF), (ONE / 2, 0 * ONE, ONE), (INF, 3 * ONE, 0 * ONE)))
    asked = Statement(3, (Ratio(line),), (), None)
    assert Implied()(asked).cone == (Ratio(Constant(7 * ONE / 2)),)


def test_generators_without_ratio_bounds_are_left_out() -> None:
    """One side of a lift, ratios that depend on a prior, and listed rows imply none here."""
    prior = (ONE / 2, ONE / 2)
    sides = [Lift(priors=Listed((prior,)), lower=a, upper=b) for a, b in ((ONE, None), (None, ONE))]
    rows = Rows((ListedRow(((0, ONE),), ONE, ((1, ONE),)),))
    some = Ratio(Constant(ONE, protected=(0,)))
    for k, cone in [
        (1, BUDGET),
        *((2, part) for part in (*sides, replace(BUDGET, prior=prior), rows, some)),
    ]:
        with refused("no ratio of all pairs"):
            Implied()(Statement(k, (cone,), (), None))
    added = Implied(alone=False)(Statement(2, (sides[0],), (), None)).cone[1]
    assert added == Ratio(Matrix(((ZERO, INF), (INF, ZERO))))


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
        found = Restrict(KEPT)(Statement(4, (), (), aim)).objective
        assert (found.free, found.weights) == (True, weights and cut(weights))
        assert (found.costs.n_outputs, found.costs.denominator) == (2, aim.costs.denominator)
        for y in range(2):
            assert found.costs.lower(y) == [aim.costs.lower(y)[x] for x in KEPT]


def test_both_ends_of_irrational_losses_stay() -> None:
    points = [(0, 0), (1, 1), (3, 1), (0, 2)]
    losses = distances(points, points, 1, "euclidean")
    found = Restrict(KEPT)(Statement(4, (), (), Loss(losses, OUTSIDE))).objective
    assert found.costs.lower(0) == [losses.lower(0)[x] for x in KEPT]
    assert found.costs.upper(0) == [losses.upper(0)[x] for x in KEPT] != found.costs.lower(0)


def test_readings_restrict_to_inputs_with_and_without_weight() -> None:
    f = (ONE, 2 * ONE, 3 * ONE, 4 * ONE)
    for w in (OUTSIDE, INSIDE):
        assert objective(Reading(f, w)) == Reading(cut(f), cut(w))
    assert objective(Reading(f, None)) == Reading(cut(f), None)


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
                objective(replace(form, **{name: other}))


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
        found = relaxed.objective
        assert (relaxed.k, found.free, found.weights) == (len(kept), aim.free, (ONE,) * len(kept))
        assert (found.costs.denominator, found.costs.n_outputs) == (UNIT, m)
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
            assert found.costs.lower(y) == wanted


def test_distances_are_taken_where_they_are_least() -> None:
    points = [(0, 0), (1, 1), (2, 2)]
    losses = distances(points, points, 1, "euclidean")
    aim = Loss(losses, (ONE / 4, ONE / 4, ONE / 2))
    relaxed = Representatives((0, 0, 0))(Statement(3, (BUDGET,), (), aim))
    (found,) = relaxed.objective.costs.lower(0)
    one = floor(exp_lower(-ONE) * UNIT) // 4
    total = one * losses.lower(0)[1] + (floor(exp_lower(-ONE) * UNIT) // 2) * losses.lower(0)[2]
    assert found == total // losses.denominator


def test_an_input_without_weight_may_have_a_negative_cost() -> None:
    losses = of_table([[ONE, ONE], [-ONE, ONE]])
    weightless = Statement(2, (BUDGET,), (), Loss(losses, (ONE, ZERO)))
    assert Representatives((0, 1))(weightless).objective.costs.lower(0) == [UNIT, 0]


Table = list[list[Fraction]]


def drawn(rng: random.Random) -> tuple[Vector, list[Vector], Table]:
    k = rng.randint(2, 4)
    columns = channel(rng, k, k + 1)
    shares = [tuple(Fraction(v, 1 << 20) for v in q) for q in columns if any(q)]
    p = prior(rng, k)
    return p, shares, inverse(information(shares, p))


def relaxed(vectors: Iterable[Iterable[Any]], asked: Statement, tangents: Any = None) -> Any:
    """Return the constant and the gain of squares."""
    return Estimator(tuple(map(Numbers, vectors)), tangents)(asked).objective


def bounded(aim: Gain, columns: list[Vector]) -> Fraction:
    return aim.constant - sum((aim(q, up=True) for q in columns), Fraction(0))


def shifted(vectors: Table, p: Vector, rng: random.Random) -> Table:
    """Add a multiple of p to each vector: none is worth less for it."""
    multiples = numbers(rng, len(p))
    return [
        [v + m * w for v, w in zip(row, p, strict=True)]
        for m, row in zip(multiples, vectors, strict=True)
    ]


def near_root(v: Fraction) -> Fraction:
    return Fraction(isqrt(v.numerator * v.denominator << 200), v.denominator << 100)


def test_squared_risk_is_bounded_by_any_vectors_and_tight() -> None:
    rng = random.Random(6)
    for _ in range(15):
        p, columns, best = drawn(rng)
        k = len(p)
        risk = sum((best[x][x] - p[x] ** 2 for x in range(k)), Fraction(0))
        asked = Statement(k, (), (), Risk(False, p))
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
        asked = Statement(k, (), (), Risk(True, p))
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


IDENTITY = (Numbers([ONE, ZERO]), Numbers([ZERO, ONE]))


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
        line = Estimator(IDENTITY, Numbers([t, ONE]))
        least = near_root(p * (1 - p)) + Fraction(1, 2**90)
        good = all(holds(p, t, least + Fraction(n, 20)) for n in range(30))
        seen.add((good, t >= p))
        with nullcontext() if good else refused("too small"):
            line(asked)
    assert seen == {(True, True), (True, False), (False, False)}


def test_the_least_tangent_is_the_one_that_touches_the_least_deviation() -> None:
    """At p = 9/25 the deviation is 12/25 at least, and t = 3/25 touches there: exactly."""
    p, t = Fraction(9, 25), Fraction(3, 25)
    asked = Statement(2, (), (), Risk(True, (p, 1 - p)))
    Estimator(IDENTITY, Numbers([t, ONE]))(asked)
    with refused("too small"):
        Estimator(IDENTITY, Numbers([t - Fraction(1, 10**20), ONE]))(asked)


def test_the_factor_of_roots_is_rounded_to_its_sides() -> None:
    low, high = root_factor(up=False), root_factor(up=True)
    assert low * low * 2 * PI[1] <= 1 <= high * high * 2 * PI[0]
    assert high - low < Fraction(1, 10**35)


def with_losses(losses: Losses, k: int) -> Statement:
    return Statement(k, (), (), Loss(losses, (Fraction(1, k),) * k))


def grid(kind: str, sides: tuple[int, int]) -> Losses:
    points = [(2 * r, 5 * c) for r in range(sides[0]) for c in range(sides[1])]
    if kind == "hamming":
        return hamming(points, points)
    return distances(points, points, 3, kind)


def test_a_rectangle_costs_as_much_as_its_nearest_output() -> None:
    rng = random.Random(13)
    for kind in ("squared", "euclidean"):
        for _ in range(10):
            n, m = rng.randint(1, 4), rng.randint(1, 4)
            losses, cut, across = grid(kind, (n, m)), rng.randint(0, n - 1), rng.randint(0, m - 1)
            cells = [(0, cut, 0, m - 1), (cut, n - 1, 0, across), (cut, n - 1, across, m - 1)]
            found = Cells(tuple(cells))(with_losses(losses, n * m)).objective
            assert found.costs.n_outputs == len(cells)
            assert found.costs.denominator == losses.denominator
            for y, (a, b, c, d) in enumerate(cells):
                inside = [r * m + s for r in range(a, b + 1) for s in range(c, d + 1)]
                wanted = [min(losses.lower(z)[x] for z in inside) for x in range(n * m)]
                assert found.costs.lower(y) == wanted


LINE = [(0,), (1,), (3,)]
TOO_FEW = ((), ((0, 1, 0, 1),), ((0, 0, 0, 2), (1, 1, 1, 2)), ((1, 1, 0, 2),))
BEYOND = ((0, 2, 0, 2), (0, 1, 0, 3), (1, 0, 0, 2), (0, 1, 2, 1))
NO_GRID = [
    distances(LINE, LINE, 1, "absolute"),
    distances(LINE[:2], [(0,), (2,)], 1, "absolute"),
    of_table([[ONE]]),
]


def test_rectangles_are_of_a_regular_grid_and_hold_all_its_outputs() -> None:
    asked, whole = with_losses(grid("squared", (2, 3)), 6), (0, 1, 0, 2)
    Cells((whole,))(asked)
    refusals = [(asked, cells, "do not cover all") for cells in TOO_FEW]
    refusals += [(asked, (whole, cell), "within the grid") for cell in BEYOND]
    refusals += [(with_losses(losses, 1), (whole,), "regular grid") for losses in NO_GRID]
    refusals.append((Statement(1, (), (), Reading((ONE,), (ONE,))), (whole,), "need a loss"))
    for statement, cells, words in refusals:
        with refused(words):
            Cells(cells)(statement)


LOSSES = {"euclidean": EuclideanDistance, "squared": MeanSquaredDistance, "hamming": HammingLoss}


def grid_problem(
    sides: tuple[int, int], counts: list[int], loss: str = "euclidean", epsilon: str = "0.8"
) -> Problem:
    notion = MetricPrivacy(epsilon, "euclidean")
    domain = Domain.grid(*sides, "0.5")
    return Problem(domain, notion, LOSSES[loss](), prior=Prior.from_counts(counts))


@pytest.mark.parametrize("sides", [(3, 4), (5, 2)])
def test_a_tile_has_the_least_weight_of_each(sides: tuple[int, int]) -> None:
    counts = [1 + 7 * x % 11 for x in range(sides[0] * sides[1])]
    statement = grid_problem(sides, counts).compiled.statement
    for a, b in product(*(range(1, n + 1) for n in sides)):
        least = [
            min(counts[(r + i) * sides[1] + c + j] for i in range(a) for j in range(b))
            for r in range(0, sides[0] - a + 1, a)
            for c in range(0, sides[1] - b + 1, b)
        ]
        weights = Tiles((a, b))(statement).objective.weights
        assert set(weights) == {Fraction(sum(least), sum(counts))}


@examples(10)
@given(data=st.data())
def test_a_tile_loses_no_more_than_the_grid(data: st.DataObject) -> None:
    sides = data.draw(st.tuples(st.integers(1, 3), st.integers(2, 4)))
    tile = tuple(data.draw(st.integers(1, n)) for n in sides)
    k = sides[0] * sides[1]
    counts = data.draw(st.lists(st.integers(1, 4), min_size=k, max_size=k))
    loss = data.draw(st.sampled_from([*LOSSES]))
    problem = grid_problem(sides, counts, loss)
    statement = Tiles(tile)(problem.compiled.statement)
    weights = statement.objective.weights
    a, b = tile
    small = grid_problem((a, b), [1] * (a * b), loss)
    best = lp_optimum(small).value * float(weights[0]) * a * b
    assert best <= lp_optimum(problem).value + 1e-9
    costs, whole = statement.objective.costs, small.compiled.statement.objective.costs
    for y in range(a * b):
        own = [Fraction(v, costs.denominator) for v in costs.lower(y)]
        assert own == [Fraction(v, whole.denominator) for v in whole.lower(y)]
    rows, others = statement.cone[0], small.compiled.statement.cone[0]
    assert set(rows.keys(a * b)) == set(others.keys(a * b))
    for key in rows.keys(a * b):
        exponents = (one.row(key, a * b, up=True).exponent for one in (rows, others))
        assert len(set(exponents)) == 1


def test_the_proof_of_a_tile_proves_the_grid() -> None:
    small, large = grid_problem((2, 2), [1] * 4), grid_problem((4, 4), [1] * 16)
    found = design(small).certificate
    tiled = replace(found, relaxations=(Tiles((2, 2)), *found.relaxations))
    bound = tiled.bound(large.compiled.statement)
    assert float(bound) == pytest.approx(float(design(small).value), rel=1e-6)
    assert bound <= design(large).value


UNIFORM, ON_LINE = grid_problem((2, 3), [1] * 6), MetricPrivacy(1, "absolute")
NO_TILE: list[tuple[Problem, tuple[int, int], str]] = [
    *((UNIFORM, tile, "not within") for tile in ((3, 1), (0, 1))),
    *(
        (Problem(Domain.grid(2, 3), privacy, EuclideanDistance()), (1, 1), "distance of points")
        for privacy in (LDP(1), [MetricPrivacy(1, "euclidean"), LDP(1)])
    ),
    (Problem([0, 1, 3], ON_LINE, HammingLoss()), (1, 1), "distance of points"),
    (Problem(4, ON_LINE, MeanAbsoluteError(worst_case=True)), (1, 2), "mean loss"),
    (Problem(4, ON_LINE, HammingLoss(), outputs=[0, 1]), (1, 2), "regular grid"),
]


@pytest.mark.parametrize(("problem", "tile", "words"), NO_TILE)
def test_domains_without_tiles_are_refused(
    problem: Problem, tile: tuple[int, int], words: str
) -> None:
    with refused(words):
        Tiles(tile)(problem.compiled.statement)


def test_tiles_are_of_points_row_by_row() -> None:
    """Sides and steps alone do not make a grid, of the same sides as that of the losses."""
    points, p = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)], (ONE / 6,) * 6
    aim = Loss(distances(points, points, 1, "euclidean"), p)

    def apart(places: list[tuple[int, int]]) -> Distance:
        return Distance(ONE, "euclidean", tuple(tuple(map(Fraction, place)) for place in places))

    swapped, turned = [*points[:3], *points[:2:-1]], [(a, b) for a in range(2) for b in range(3)]
    assert Tiles((1, 2))(Statement(6, (Ratio(apart(points)),), (), aim)).k == 2
    others = [Ratio(apart(swapped)), Ratio(apart(turned)), Ratio(apart(points), p)]
    for part in (*others, Lift(ONE, ONE, Listed((p,)))):
        with refused("points of a grid"):
            Tiles((1, 2))(Statement(6, (part,), (), aim))
