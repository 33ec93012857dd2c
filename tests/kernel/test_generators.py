"""The rows of a generator bound what its test checks, and a set of priors what its members do."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations, product
from math import dist, exp
from operator import mul
from typing import Any

import mpmath
import pytest

from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.generators import (
    Ball,
    Block,
    Box,
    Constant,
    Distance,
    Generator,
    Latent,
    Lift,
    Listed,
    ListedRow,
    Matrix,
    Ratio,
    Rows,
)
from mechdesign.kernel.packed import Places, Weights
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import refused

K = 4
HALF, ONE, ZERO = Fraction(1, 2), Fraction(1), Fraction(0)
P = tuple(Fraction(n, 10) for n in (1, 2, 3, 4))
LINE = tuple((Fraction(n),) for n in (3, 0, 1, 7))
PLANE = tuple((Fraction(a), Fraction(b)) for a, b in product((0, 1), (0, 3)))
TABLE: Any = (
    ("inf", HALF, ONE, ONE),
    (HALF, "inf", "inf", ONE),
    (ONE,) * 4,
    (-HALF, ONE, ONE, ONE),
)
SEVENTHS = (ZERO, *(ONE * n / 7 for n in (1, 2, 4)))
ALIKE = (ONE, 0 * ONE, 0 * ONE, ONE)
GENERATORS: list[Any] = [
    Ratio(Constant(HALF)),
    Ratio(Constant(HALF), P),
    Ratio(Constant(-HALF, (0, 0, 1, 1), (0, 3))),
    Ratio(Constant(HALF, (0, 1, 1, 1), (2,))),
    Ratio(Matrix(TABLE)),
    Ratio(Matrix(tuple(tuple(abs(a - b) / 4 for (b,) in LINE) for (a,) in LINE)), P),
    Ratio(Matrix(((ONE, HALF, HALF, ONE), ALIKE, ALIKE, (ONE,) * K))),
    Ratio(Distance(HALF, "absolute", LINE)),
    Ratio(Distance(HALF, "absolute", LINE, HALF)),
    Ratio(Distance(HALF, "absolute", LINE, -HALF)),
    Ratio(Distance(HALF, "euclidean", PLANE)),
    Ratio(Distance(HALF, "manhattan", PLANE), P),
    Lift(HALF, ONE, Listed((P, P[::-1]))),
    Lift(None, HALF, Listed((P,))),
    Rows((ListedRow(((0, ONE), (1, HALF)), HALF, ((1, ONE), (3, ONE))),)),
    Latent((P, P[::-1]), Ratio(Constant(HALF / 4))),
    Latent(((HALF, HALF, ZERO, ZERO), SEVENTHS), Ratio(Constant(HALF, None, (0,)))),
]


@pytest.mark.parametrize("part", GENERATORS)
def test_a_test_is_that_of_all_rows(part: Generator) -> None:
    rng, answers = random.Random(0), set()
    part.check(K)
    test = part.test(K)
    rows = [part.row(key, K, up=False).net(weak=False) for key in part.keys(K)]
    for _ in range(500):
        q = [rng.choice((0, *range(1, 13), *range(1, 13))) for _ in range(K)]
        broken = [sum(v * q[x] for x, v in net.items()) > 0 for net in rows]
        assert (test(q) is not None) == any(broken)
        if (key := test(q)) is not None and not isinstance(part, Latent):
            net = part.row(key, K, up=False).net(weak=False)
            assert sum(v * q[x] for x, v in net.items()) > 0
        answers.add(any(broken))
    assert answers == {True, False}


LAST_BIT = Fraction(1, 1 << 500)


def net(row: ListedRow) -> dict[int, Fraction]:
    """Return e**-exponent left - right, to 900 bits."""
    with mpmath.workprec(900):
        shrink = mpmath.exp(-mpmath.mpf(row.exponent.numerator) / row.exponent.denominator)
        factor = Fraction(int(shrink * (1 << 800)), 1 << 800)
    left, right = dict(row.left), dict(row.right)
    return {x: factor * left.get(x, 0) - right.get(x, 0) for x in {**left, **right}}


@pytest.mark.parametrize("part", GENERATORS)
def test_a_column_that_breaks_a_row_by_any_amount_is_refused(part: Generator) -> None:
    """One entry is moved until the row is broken by 2**-300 of it, far less than e**a is known."""
    rng, test, found = random.Random(1), part.test(K), 0
    for key in part.keys(K):
        slope = net(part.row(key, K, up=False))
        x = max(slope, key=lambda z: abs(slope[z]))
        for _ in range(20):
            q = [rng.randrange(1 << 500, 9 << 500) for _ in range(K)]
            edge = int(-sum(v * q[z] for z, v in slope.items() if z != x) / slope[x])
            q[x] = edge + (1 if slope[x] > 0 else -1) * (edge >> 300)
            if q[x] > 0:
                found += 1
                assert test(q) is not None
    assert found


@pytest.mark.parametrize("part", GENERATORS)
def test_multipliers_add_their_rows_to_the_cost(part: Generator) -> None:
    """A cost is at most the weighted sum of the rows, and less by some units only."""
    rng = random.Random(3)
    inner, size = (part.inner, len(part.matrix)) if isinstance(part, Latent) else (part, K)
    keys = list(inner.keys(size))
    for side in {side for side, _, _ in keys}:
        drawn = [(rng.randrange(2), key, Fraction(rng.randrange(1, 9), 8)) for key in keys]
        drawn = [entry for entry in drawn if entry[1][0] == side]
        node, rows, weight = zip(*drawn, strict=True)
        block = Block(
            "cone",
            0,
            Places(node),
            Places(x for _, x, _ in rows),
            Weights(weight),
            Places(other for _, _, other in rows),
            side,
        )
        found = [[0] * K, [0] * K]
        part.add(block, found)
        wanted = [[Fraction(0)] * size, [Fraction(0)] * size]
        for n, key, w in drawn:
            for x, v in net(inner.row(key, size, up=True)).items():
                wanted[n][x] += w * v
        if isinstance(part, Latent):
            columns = list(zip(*part.matrix, strict=True))
            wanted = [[sum(map(mul, c, column)) for column in columns] for c in wanted]
        for cost, true in zip(found, wanted, strict=True):
            for a, b in zip(cost, true, strict=True):
                assert b * UNIT - 50 - UNIT // 10**40 <= a <= b * UNIT + LAST_BIT


GRIDS = {
    "even": ((0, 1, 2), (0, 1, 2, 3)),
    "line": ((0,), (0, 1, 2, 3, 4)),
    "uneven rows": ((0, 1, 5), (0, 1, 2, 3)),
    "uneven columns": ((0, 1, 2, 3), (0, 1, 5)),
}


@pytest.mark.parametrize("name", ["manhattan", "euclidean"])
@pytest.mark.parametrize("axes", GRIDS.values(), ids=GRIDS)
@pytest.mark.parametrize(("missing", "doubled"), [(0, 0), (1, 0), (0, 1)])
def test_the_pairs_that_a_grid_checks_imply_all_pairs(
    name: Any, axes: Any, missing: int, doubled: int
) -> None:
    """A private column with one entry changed is refused if any pair breaks its bound."""
    points = list(product(*axes))
    points = points[: 5 - missing] + points[5:]
    points += [(b, a) for a, b in points] if len(axes[0]) == 1 else []
    points = [*dict.fromkeys(points), *points[:doubled]]
    part = Ratio(Distance(HALF, name, tuple(tuple(map(Fraction, p)) for p in points)))
    test, rng, answers = part.test(len(points)), random.Random(0), set()
    norm = dist if name == "euclidean" else lambda a, b: float(abs(a[0] - b[0]) + abs(a[1] - b[1]))
    for _ in range(300):
        center, changed = rng.choice(points), rng.randrange(len(points))
        sign = rng.choice((-0.499, 0.0, 0.25, 0.499))
        logs = [sign * norm(point, center) for point in points]
        logs[changed] += rng.choice((-1, 1)) * rng.choice((0.0, 0.3, 0.8))
        broken = any(
            a - b > norm(x, z) / 2
            for x, a in zip(points, logs, strict=True)
            for z, b in zip(points, logs, strict=True)
        )
        assert (test([int(1e9 * exp(v)) for v in logs]) is not None) == broken
        answers.add(broken)
    assert answers == {True, False}
    for z, x in permutations(range(len(points)), 2):  # all bounds at z hold just so; x is above
        logs = [0.499999 * norm(point, points[z]) for point in points]
        logs[x] += 0.001
        assert test([int(1e9 * exp(v)) for v in logs]) is not None


@pytest.mark.parametrize("key", [("", 9, 0), ("", 0, 9), ("", 4, 0), ("", 0, 4), ("upper", 0, 1)])
def test_a_row_of_no_input_is_refused(key: Any) -> None:
    with refused("two inputs"):
        Ratio(Constant(HALF)).row(key, 4, up=True)


@pytest.mark.parametrize("priors", [Ball(P, HALF), Box((Fraction(0),) * K, (HALF,) * K)])
def test_a_row_of_a_set_of_priors_is_named_by_its_input_alone(priors: Any) -> None:
    for side, q in (("upper", [9, 1, 1, 1]), ("lower", [9, 9, 9, 1])):
        found = Lift(None, HALF / 9, priors) if side == "upper" else Lift(HALF / 9, None, priors)
        assert list(found.keys(K)) == [(side, x, 0) for x in range(K)]
        assert found.test(K)(q) == (side, q.index(9 if side == "upper" else 1), 0)


@pytest.mark.parametrize("part", GENERATORS)
def test_exponents_are_multiplied_and_moved(part: Generator) -> None:
    """All keys stay, as long as no exponent of a distance changes its sign."""
    inner, k = (part.inner, 2) if isinstance(part, Latent) else (part, K)
    for factor, by in ((ONE, HALF), (ONE / 3, ONE), (2 * ONE, ZERO)):
        moved = part.moved(factor, by)
        moved = moved.inner if isinstance(part, Latent) else moved
        assert [*moved.keys(k)] == [*inner.keys(k)]
        for key in inner.keys(k):
            before, after = (one.row(key, k, up=True).exponent for one in (inner, moved))
            assert abs(after - (before * factor + by)) < Fraction(1, 10**30)


@pytest.mark.parametrize(
    ("priors", "members"),
    [
        (Ball(P, HALF), [P, tuple(Fraction(1, 4) for _ in P)]),
        (Ball(P, ZERO), [P]),
        (Box((Fraction(0),) * K, (HALF,) * K), [P, (HALF, HALF, Fraction(0), Fraction(0))]),
    ],
)
def test_a_set_of_priors_asks_no_less_than_its_members(priors: Any, members: Any) -> None:
    rng, test = random.Random(2), Lift(HALF, HALF, priors).test(K)
    priors.check(K)
    assert all(priors.has(p) for p in members)
    listed = Lift(HALF, HALF, Listed(tuple(members))).test(K)
    for _ in range(300):
        q = [rng.randrange(5, 12) for _ in range(K)]
        assert test(q) is not None or listed(q) is None


def test_distances_on_a_line_are_exact_and_roots_are_rounded_as_asked() -> None:
    """Straight distance is a root in more dimensions only."""
    line = tuple((Fraction(x, 3),) for x in range(3))
    for name in ("absolute", "euclidean", "manhattan"):
        found = Distance(HALF, name, line, HALF)
        assert not found.is_rooted
        assert {found.at(0, 2, up=up) for up in (True, False)} == {Fraction(5, 6)}
    plane = tuple((Fraction(x), Fraction(x)) for x in range(2))
    assert not Distance(HALF, "manhattan", plane).is_rooted
    for unit in (HALF, -HALF):
        low, high = (Distance(unit, "euclidean", plane).at(0, 1, up=up) for up in (False, True))
        assert low**2 < 2 * unit**2 < high**2 or high**2 < 2 * unit**2 < low**2
        assert 0 < high - low < Fraction(1, 10**30)
        assert Distance(unit, "euclidean", plane).at(1, 1, up=True) is None


LOW, HIGH = (ZERO,) * 3, (HALF, HALF, ONE)
SPACE = ((ONE, ONE), (HALF, ONE), (HALF, HALF))
UNFIT: list[tuple[Any, str]] = [
    (Distance(ONE, "absolute", LINE[:2]), "a point for each input"),
    (Distance(ONE, "euclidean", (LINE[0], *SPACE[:2])), "differ in dimension"),
    (Distance(ONE, "absolute", SPACE), "absolute distance of numbers"),
    (Constant(ONE, (0, 1)), "a block for each input"),
    (Constant(ONE, None, (3,)), "a protected input does not exist"),
    (Matrix(((ONE,) * 3,) * 2), "expected a 3 x 3 matrix"),
    (Matrix(((ONE,) * 3, (ONE,) * 2, (ONE,) * 3)), "expected a 3 x 3 matrix"),
    (Ratio(Constant(ONE), (HALF, HALF)), "a prior without zeros"),
    (Ratio(Constant(ONE), (HALF, HALF, ZERO)), "a prior without zeros"),
    (Listed(()), "at least one prior"),
    (Listed(((HALF, HALF, ZERO), (HALF, HALF, HALF))), "a distribution on the inputs"),
    (Ball((HALF, HALF), ONE), "a distribution on the inputs"),
    (Ball((HALF, ONE, -HALF), ONE), "a distribution on the inputs"),
    (Ball((HALF, HALF, ZERO), -HALF), "a radius >= 0"),
    (Box(LOW[:2], HIGH), "two bounds for each input"),
    (Box((-ONE, ZERO, ZERO), HIGH), "no prior is in the box"),
    (Box((ONE, ZERO, ZERO), HIGH), "no prior is in the box"),
    (Box((HALF, HALF, HALF), (ONE,) * 3), "no prior is in the box"),
    (Box(LOW, (HALF, HALF / 2, ZERO)), "no prior is in the box"),
    (Rows((ListedRow(((0, ONE), (0, ONE)), ONE, ((1, ONE),)),)), "a duplicate input"),
    (Rows((ListedRow(((0, ONE),), ONE, ((3, ONE),)),)), "its input does not exist"),
    (Rows((ListedRow(((0, ONE),), ONE, ((1, -ONE),)),)), "a coefficient is below 0"),
    (Latent((), Ratio(Constant(ONE))), "a distribution of the inputs"),
    (Latent((P[:3], P), Ratio(Constant(ONE))), "a distribution of the inputs"),
    (Latent((P[:3], (ONE, ONE, -ONE)), Ratio(Constant(ONE))), "a distribution of the inputs"),
    (Latent((P[:3], P[:3]), Ratio(Constant(ONE, (0, 1, 2)))), "a block for each input"),
]


@pytest.mark.parametrize(("part", "words"), UNFIT)
def test_what_does_not_fit_three_inputs_is_refused(part: Any, words: str) -> None:
    with refused(words):
        part.check(3)


def test_of_several_lifts_the_closest_bounds_count() -> None:
    ends = ((ONE, HALF), (HALF, ONE), (None, 2 * ONE), (2 * ONE, None))
    cone = tuple(Lift(lower, upper, Listed((P,))) for lower, upper in ends)
    low, high = Statement(K, cone, (), None).lift(P)
    assert float(low) == pytest.approx(exp(-0.5))
    assert float(high) == pytest.approx(exp(0.5))
    assert Statement(K, (), (), None).lift(P) == (0, None)
