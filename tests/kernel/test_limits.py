"""Limits: what they hold for is what their formula says, and moved ones are about other budgets.

A statement refuses what is no channel, and limits hold at the number that they are.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
import scipy.optimize

from mechdesign.kernel.generators import ListedRow, Matrix, Ratio
from mechdesign.kernel.limits import NOTHING, Gauge, Information
from mechdesign.kernel.schema import write
from mechdesign.kernel.statement import Statement, private
from tests.independent import statement as independent
from tests.kernel.draws import ONE, WHOLE, Vector, channel, number, numbers, prior, refused

TINY = Fraction(1, 10**30)


def row(rng: random.Random, k: int) -> ListedRow:
    left, right = numbers(rng, k, 0, 2), numbers(rng, k, 0, 2)
    return ListedRow(tuple(enumerate(left)), number(rng, -1, 1), tuple(enumerate(right)))


def exact(columns: list[list[int]]) -> list[Vector]:
    return [tuple(Fraction(v, WHOLE) for v in q) for q in columns]


def gauges(rng: random.Random, k: int) -> list[Gauge]:
    one, limit, exponent = row(rng, k), number(rng, -1, 2), number(rng, -1, 1)
    own = ListedRow(one.left, -exponent, one.right)
    return [
        Gauge((NOTHING, one), limit, exponent),
        Gauge((NOTHING, own), abs(limit), exponent),
        Gauge((row(rng, k), one), limit, exponent),
        Gauge((NOTHING, one, row(rng, k)), limit, exponent),
    ]


def test_a_gauge_holds_where_its_sum_is_at_most_its_limit() -> None:
    rng = random.Random(1)
    seen = [0, 0]
    for _ in range(60):
        k = rng.randint(1, 4)
        for gauge in gauges(rng, k):
            gauge.check(k)
            columns = channel(rng, k, rng.randint(1, 4))
            holds = independent.own_limit(write(gauge), k).holds(exact(columns))
            seen[holds] += 1
            assert gauge.holds(columns, WHOLE) == holds
    assert min(seen) > 20


def test_a_moved_gauge_has_other_exponents_and_is_weaker_for_more() -> None:
    """Every exponent is multiplied, and moved to the side that allows more."""
    rng = random.Random(2)
    for _ in range(60):
        k = rng.randint(1, 4)
        for gauge in gauges(rng, k):
            factor, by = number(rng, 0, 2), number(rng, -1, 2)
            moved = gauge.moved(factor, by)
            assert moved.limit == gauge.limit
            for before, after in zip(gauge.parts, moved.parts, strict=True):
                assert (after.left, after.right) == (before.left, before.right)
                assert before is NOTHING or after.exponent == before.exponent * factor + by
            sign = 1 if gauge.limit >= 0 else -1
            assert moved.exponent == gauge.exponent * factor + sign * by
            assert moved.below is gauge.below is None
            columns = channel(rng, k, 3)
            if by >= 0 and gauge.holds(columns, WHOLE):
                assert gauge.moved(ONE, by).holds(columns, WHOLE)


def test_parts_for_bounds_move_with_those_for_checks() -> None:
    part = ListedRow(((0, ONE),), ONE / 2, ((1, ONE),))
    less = ListedRow(((0, ONE / 2),), ONE / 2, ((1, ONE),))
    gauge = Gauge((NOTHING, part), ONE, ONE, (NOTHING, less))
    gauge.check(2)
    moved = gauge.moved(2 * ONE, ONE)
    assert [row.exponent for row in moved.below[1:]] == [2 * ONE]
    moved.check(2)
    assert gauge.nets(weak=True)[1][0] < gauge.nets(weak=False)[1][0]
    kept = gauge.on([1])
    assert kept.below is not None


@pytest.mark.parametrize(
    "low",
    [
        ListedRow(((0, 2 * ONE),), ONE / 2, ((1, ONE),)),
        ListedRow(((0, ONE),), ONE / 2, ((1, ONE / 2),)),
        ListedRow(((0, ONE),), ONE / 3, ((1, ONE),)),
        ListedRow(((0, ONE), (1, ONE)), ONE / 2, ((1, ONE),)),
        ListedRow(((0, ONE),), ONE / 2, ()),
    ],
)
def test_a_part_for_bounds_is_not_above_that_for_checks(low: ListedRow) -> None:
    part = ListedRow(((0, ONE),), ONE / 2, ((1, ONE),))
    for below in ((low,), (part, part), ()):
        with refused("for bounds exceeds"):
            Gauge((part,), ONE, below=below).check(2)
    Gauge((part,), ONE, below=(part,)).check(2)


def test_information_is_that_of_the_channel() -> None:
    rng = random.Random(3)
    for _ in range(40):
        k = rng.randint(1, 4)
        p, columns = prior(rng, k, least=0), channel(rng, k, 3)
        low, high = independent.information(exact(columns), p)
        for limit, holds in ((low - TINY, False), (high + TINY, True)):
            asked = Information(p, limit)
            assert asked.holds(columns, WHOLE) == holds
            twice = asked.moved(2 * ONE, ONE)
            assert twice == Information(p, 2 * asked.limit + 1)
    inside = Information((ONE, 0 * ONE), ONE).on([0])
    assert inside == Information((ONE,), ONE)
    assert Information((ONE / 2, ONE / 2), ONE).on([0]) is None


def test_the_right_side_is_rounded_as_asked() -> None:
    """Of a negative limit too: up is at least e**exponent limit, down at most, exactly at 0."""
    part = (ListedRow(((0, ONE),), ONE, ()),)
    for limit in (ONE / 3, -ONE / 3, 5 * ONE):
        for exponent in (ONE / 2, -ONE / 2, 3 * ONE):
            gauge = Gauge(part, limit, exponent)
            low, high = gauge.most(up=False), gauge.most(up=True)
            assert low < high < low + Fraction(1, 10**30)
            assert float(low) == pytest.approx(math.exp(exponent) * float(limit))
        assert Gauge(part, limit).most(up=True) == Gauge(part, limit).most(up=False) == limit
    assert Gauge(part, 0 * ONE, ONE).most(up=False) == 0


def test_parts_are_rounded_down_for_bounds_and_up_for_checks() -> None:
    part = ListedRow(((0, ONE),), ONE / 2, ((1, ONE),))
    gauge = Gauge((part,), ONE)
    weak, strong = gauge.nets(weak=True), gauge.nets(weak=False)
    assert weak[0][1] == strong[0][1] == -1
    assert weak[0][0] < strong[0][0] < weak[0][0] + Fraction(1, 10**30)
    assert float(weak[0][0]) == pytest.approx(math.exp(-0.5))
    half = ListedRow(((0, ONE / 2),), ONE / 2, ((1, ONE),))
    given = Gauge((part,), ONE, below=(half,))
    assert given.nets(weak=False) == strong
    assert given.nets(weak=True) == Gauge((half,), ONE).nets(weak=True)


def test_a_channel_private_only_up_to_rounding_is_refused() -> None:
    """One input, one output: the sum is between two ends of a side that is irrational."""
    column = [[WHOLE]]
    free = Gauge((ListedRow((), 0 * ONE, ()),), ONE / 3, ONE / 2)
    middle = (free.most(up=False) + free.most(up=True)) / 2
    for v, fits in ((middle, False), (free.most(up=False), True)):
        part = ListedRow(((0, v),), 0 * ONE, ())
        for parts in ((part,), (NOTHING, part)):
            assert Gauge(parts, ONE / 3, ONE / 2).holds(column, WHOLE) == fits
    part = ListedRow(((0, ONE),), ONE / 2, ())
    (low,), (high,) = (Gauge((part,), ONE).nets(weak=weak) for weak in (True, False))
    for limit, fits in (((low[0] + high[0]) / 2, False), (high[0] * (1 + ONE / 2**150), True)):
        for parts in ((part,), (NOTHING, part)):
            assert Gauge(parts, limit).holds(column, WHOLE) == fits
    # the same power on both sides, where every upper bound on it will do
    assert Gauge((NOTHING, part), ONE, -ONE / 2).holds(column, WHOLE)
    assert not Gauge((NOTHING, part), -ONE, -ONE / 2).holds(column, WHOLE)
    assert Gauge((NOTHING, part), ONE / 2, ONE / 2).holds(column, WHOLE)
    assert not Gauge((NOTHING, part), ONE / 3, ONE / 2).holds(column, WHOLE)


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ([], "entry"),
        ([[4, 4, 4]], "entry"),
        ([[5, 4], [-1, 0]], "entry"),
        ([[4, 4], [0, 1]], "sum"),
    ],
)
def test_invalid_channels_are_not_private(columns: list[list[int]], why: str) -> None:
    assert why in (private(Statement(2, (), (), None), columns, 4) or "")


def test_a_ratio_that_others_imply_may_be_left_out() -> None:
    """The rays are those of all rows; exponents that sum to 0 imply one another, and stay."""
    rng = random.Random(12)
    around = [[ONE, -ONE, ONE], [ONE, ONE, 2 * ONE], [3 * ONE] * 3]
    left_out, tables = 0, [around, [*zip(*around, strict=True)]]
    for _ in range(40):
        k = rng.randint(2, 4)
        tables.append([[Fraction(rng.randint(0, 6), 2) for _ in range(k)] for _ in range(k)])
    for table in tables:
        k = len(table)
        part = Ratio(Matrix(tuple(map(tuple, table))))
        asked, rows = Statement(k, (part,), (), None), []
        for key in part.keys(k):
            net = part.row(key, k, up=True).net(weak=True, bits=80)
            rows.append(tuple(net.get(x, Fraction(0)) for x in range(k)))
        found = asked.rows()
        assert set(found) <= set(rows)
        left_out += len(rows) - len(found)
        for row in set(rows) - set(found):  # a mixture of others: no point keeps them and not it
            best = scipy.optimize.linprog(
                [-float(v) for v in row],
                A_ub=[[float(v) for v in other] for other in found],
                b_ub=[0.0] * len(found),
                bounds=[(0, 1)] * k,
            )
            assert best.status == 0
            assert -best.fun < 1e-8
    assert left_out > 20
