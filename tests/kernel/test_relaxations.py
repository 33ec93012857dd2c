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
from itertools import product
from math import isqrt
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
from mechdesign.exact import PI
from mechdesign.kernel.gains import Gain
from mechdesign.kernel.generators import Ball, Distance, Lift, Listed, Ratio, Rows
from mechdesign.kernel.objectives import Loss, Losses, Reading, Risk, distances, hamming, of_table
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.relaxations import Cells, Estimator, Relaxations, Restrict, Tiles
from mechdesign.kernel.relaxations.estimator import root_factor
from mechdesign.kernel.schema import read, write
from mechdesign.kernel.statement import Statement
from tests.documents import Document
from tests.independent import bounds, statement as independent
from tests.independent.files import information, inverse
from tests.independent.rationals import RefusedError
from tests.kernel.draws import Vector, channel, numbers, prior, refused, rows, statements, texts
from tests.strategies import examples, lp_optimum

ONE, ZERO = Fraction(1), Fraction(0)
TINY = Fraction(1, 10**30)


def same(mine: Statement, other: independent.Statement, rng: random.Random) -> None:
    """Assert that two statements are the same, the kernel's rounded to the safe side."""
    assert (mine.k, mine.sign) == (other.k, other.aim.sign)
    theirs = [row.net() for part in other.cone for row in part.rows.values()]
    assert near(rows(mine), theirs)
    assert near(theirs, rows(mine))
    limits = [independent.own_limit(write(limit), mine.k) for limit in mine.limits]
    for one, two in zip(limits, other.limits, strict=True):
        assert (one.prior, one.limit, one.exponent) == (two.prior, two.limit, two.exponent)
        pairs = zip(one.parts, two.parts, strict=True)
        assert all(a.exponent == b.exponent and near([a.net()], [b.net()]) for a, b in pairs)
    for limit, two in zip(mine.limits, other.limits, strict=True):
        for net, part in zip(limit.nets(weak=True) if two.parts else (), two.parts, strict=True):
            assert near([tuple(net.get(x, ZERO) for x in range(mine.k))], [part.net()])
    aim = mine.objective
    if isinstance(aim, Gain):
        q = tuple(rng.randint(1, 9) * ONE for _ in range(mine.k))
        high, found = other.aim.constant - other.aim.gain(q)[0], aim.constant - aim(q, up=True)
        assert 0 <= high - found <= TINY * (1 + abs(other.aim.constant))
    elif isinstance(aim, Risk):
        assert (aim.roots, aim.prior) == (other.aim.roots, other.aim.weights)
    elif isinstance(aim, Reading):
        assert (aim.values, aim.weights) == (other.aim.values, other.aim.weights)
    else:
        assert (aim.free, aim.weights) == (other.aim.free, other.aim.weights)
        for y, costs in enumerate(other.aim.costs):
            ends = zip(aim.costs.lower(y), aim.costs.upper(y), costs, strict=True)
            for below, above, (low, high) in ends:
                assert low - TINY < Fraction(below, aim.costs.denominator) <= high
                assert low == high or low <= Fraction(above, aim.costs.denominator) < high + TINY


def near(some: list[Vector], others: list[Vector]) -> bool:
    """Return whether each row is near one of others."""

    def off(one: Vector, two: Vector) -> Fraction:
        return max(abs(a - b) for a, b in zip(one, two, strict=True))

    return all(min((off(one, two) for two in others), default=ONE) < TINY for one in some)


def relaxations(
    rng: random.Random, mine: Statement, statement: independent.Statement
) -> list[Document]:
    """Return relaxations that fit a statement, more or less."""
    every, aim = range(statement.k), statement.aim
    found: list[Document] = [
        {"kind": "restrict", "inputs": rng.sample(every, rng.randint(1, statement.k))},
        {"kind": "implied", "alone": rng.random() < 0.5},
        {"kind": "restrict", "inputs": [rng.randrange(statement.k + 1) for _ in every[1:]]},
    ]
    for place, part in enumerate(statement.cone):
        if part.extremes:
            priors = [rng.choice([*part.extremes, prior(rng, statement.k)]) for _ in range(2)]
            mixed = tuple(sum(v) / 2 for v in zip(*priors, strict=False))
            kind = rng.choice(([mixed], priors, priors[:1], []))
            found.append({"kind": "members", "place": place, "priors": [*map(texts, kind)]})
    if aim.form == "loss":
        stands = [rng.randrange(statement.k) for _ in every]
        own = [stands[x] if rng.random() < 0.1 else min(x, stands[0]) for x in every]
        found += [{"kind": "representatives", "stands": r} for r in (stands, own)]
    if aim.form == "risk":
        vectors = [[rng.gauss(0, 1) for _ in every] for _ in every]
        found.append({"kind": "estimator", "vectors": vectors})
        found.append(found[-1] | {"tangents": [rng.uniform(0.1, 1) for _ in every]})
    if aim.weights is None:
        least, size = -(rng.random() < 0.1), statement.k + (rng.random() < 0.1)
        found.append({"kind": "average", "weights": [rng.randint(least, 3) for _ in range(size)]})
    if any(isinstance(part, Lift) and not isinstance(part.priors, Listed) for part in mine.cone):
        return [table for table in found if table["kind"] not in ("restrict", "representatives")]
    return found  # restriction forgets a set of priors, which the second verifier lists


@pytest.mark.parametrize("seed", range(90))
def test_relaxations_are_those_of_the_second_verifier(seed: int) -> None:
    """One after the other, of statements of all kinds; what it refuses is refused."""
    rng = random.Random(seed)
    mine, other = statements(rng)
    same(mine, other, rng)
    for _ in range(4):
        table = rng.choice(relaxations(rng, mine, other))
        try:
            relaxed = bounds.relaxed(other, table)
        except RefusedError:
            with refused():
                aim = read(Relaxations, table)(mine).objective
                [aim.costs.lower(y) for y in range(aim.costs.n_outputs)]  # computed on demand
            continue
        mine, other = read(Relaxations, table)(mine), relaxed
        same(mine, other, rng)


def test_a_set_of_priors_is_forgotten_with_inputs() -> None:
    ball = Lift(ONE, ONE, Ball((ONE / 2, ONE / 2, ZERO), ONE / 9))
    assert Restrict((0, 1))(Statement(3, (ball,), (), None)).cone == (Rows(()),)


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
