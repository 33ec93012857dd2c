"""The inequality: multipliers, joins, tails, and what limits cost, against plain rationals."""

from __future__ import annotations

import random
from fractions import Fraction
from math import floor

from mechdesign.kernel.arithmetic import UNIT, scaled
from mechdesign.kernel.gains import Hellinger
from mechdesign.kernel.generators import Block, Constant, ListedRow, Ratio, Rows
from mechdesign.kernel.limits import Gauge
from mechdesign.kernel.packed import Numbers, Places, Weights
from mechdesign.kernel.proof import (
    Cost,
    Ends,
    Oracle,
    Program,
    least,
    minimum,
    multiplier_steps,
    parabolas,
    safe_bound,
)
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import Plain, number, refused

ONE, ZERO = Fraction(1), Fraction(0)
FREE = Statement(2, (), (), None)
RATIO = Ratio(Constant(ONE))


def nodes(*costs: tuple[int, ...]) -> list[Cost]:
    return [[v * UNIT for v in cost] for cost in costs]


def block(of: str, place: int, *entries: tuple[int, int, int, Fraction]) -> Block:
    """Entries are (node, x, other, weight)."""
    columns = list(zip(*entries, strict=True))
    node, x, other = (Places(column) for column in columns[:3])
    return Block(of, place, node, x, Weights(columns[3]), other)


class Recorder(Plain):
    """Keeps what it is asked."""

    def __init__(self, most: Fraction = ZERO) -> None:
        self.asked: list[tuple[Cost, Cost, Ends | None]] = []
        self._most = most

    def linear(self, statement: Statement):
        def price(cost: Cost, prices: Cost, region: Ends | None) -> Cost:
            self.asked.append((cost, prices, region))
            return cost

        return price

    def paid(self, statement: Statement) -> Fraction:
        return self._most


def test_least_is_the_least_of_the_parabola_rounded_down() -> None:
    rng = random.Random(16)
    for _ in range(300):
        a, b, c = rng.randint(-9, 9), rng.randint(-9, 9), rng.randint(0, 30)
        steps = 2 * c or 1
        values = [
            (1 - t) * a + t * b - c * t * (1 - t)
            for t in (Fraction(n, steps) for n in range(steps + 1))
        ]  # the stationary point is a multiple of 1 / (2 c)
        assert least(a, b, c) == floor(min(values))


def test_joins_are_entry_by_entry() -> None:
    assert minimum([[3, 1], [2, 5]]) == [2, 1]
    assert minimum([[3, 1]]) == [3, 1]
    assert parabolas([[0, 4], [0, 0], [8, 9]], [[4, 0], [0, 4]]) == [-1, 0]
    assert parabolas([[0], [0], [0]], [[4], [16]]) == [-4]


def test_the_bound_is_the_constant_and_the_sum_of_the_joined_prices() -> None:
    program = Program(ONE / 3, nodes((3, 1), (2, 5)))
    assert safe_bound(FREE, program, (), None, Plain()) == ONE / 3 + 3
    assert safe_bound(FREE, program, (), None, Recorder(ONE / 7)) == ONE / 3 + 3 - ONE / 7
    summed = Program(ZERO, nodes((3, 1), (2, 5)), join=lambda found: found[1])
    assert safe_bound(FREE, summed, (), None, Plain()) == 7


def test_a_gain_takes_prices_and_all_else_has_nodes() -> None:
    program = Program(ONE, gain=Hellinger.of((ONE, ZERO), (ZERO, ONE)))
    assert safe_bound(FREE, program, (), Numbers([-ONE, -ONE / 2]), Plain()) == -ONE / 2
    assert safe_bound(FREE, program, (), None, Recorder(ONE)) == 0
    for empty in (Program(ONE), Program(ONE, nodes((0, 0), (0, 0)), tails=2)):
        with refused("has no nodes"):
            safe_bound(FREE, empty, (), None, Plain())


def test_an_oracle_sees_the_prices_and_the_region_of_each_node() -> None:
    oracle, regions = Recorder(), [([ZERO], [ONE]), ([ONE], [ONE])]
    program = Program(ZERO, nodes((1, 2), (3, 4)), regions=regions)
    safe_bound(FREE, program, (), Numbers([0.5, -1.0]), oracle)
    given = [UNIT // 2, -UNIT]
    assert oracle.asked == [
        ([UNIT, 2 * UNIT], given, regions[0]),
        ([3 * UNIT, 4 * UNIT], given, regions[1]),
    ]


def test_prices_0_must_be_safe_at_the_tails_which_are_not_joined() -> None:
    oracle = Recorder()
    program = Program(ZERO, nodes((5, 5), (0, 1), (2, 0)), tails=2)
    assert safe_bound(FREE, program, (), Numbers([1.0, 1.0]), oracle) == 10
    assert [prices for _, prices, _ in oracle.asked] == [[UNIT, UNIT], [0, 0], [0, 0]]
    for tails in (((0, -1), (0, 0)), ((0, 0), (-1, 0))):
        with refused("far enough"):
            safe_bound(FREE, Program(ZERO, nodes((5, 5), *tails), tails=2), (), None, Plain())


def test_multipliers_add_rows_to_their_node_rounded_down() -> None:
    rng = random.Random(17)
    asked = Statement(2, (Rows(()), RATIO), (), None)
    net = [scaled(v) for _, v in sorted(RATIO.row(("", 0, 1), 2, up=True).net(weak=True).items())]
    for _ in range(10):
        w, oracle = number(rng, 0, 3), Recorder()
        safe_bound(
            asked,
            Program(ZERO, nodes((1, 2), (3, 4))),
            (block("cone", 1, (1, 0, 1, w)),),
            None,
            oracle,
        )
        costs = [cost for cost, _, _ in oracle.asked]
        assert costs[0] == [UNIT, 2 * UNIT]
        added = [floor(Fraction(v * floor(w * UNIT), UNIT)) for v in net]
        assert costs[1] == [3 * UNIT + added[0], 4 * UNIT + added[1]]


def test_a_limit_costs_its_largest_sum_and_its_rest_goes_to_the_first_part() -> None:
    """Parts 0.1 q_0 and q_1 - q_0 with multipliers 1 + 2 at node 0, and 1 at node 1, none at 2."""
    parts = (ListedRow((), ZERO, ((0, ONE / 10),)), ListedRow(((1, ONE),), ZERO, ((0, ONE),)))
    for limit in (Fraction(7, 3), Fraction(-7, 3)):
        asked = Statement(2, (), (Gauge(parts[::-1], ONE), Gauge(parts, limit)), None)
        program = Program(ZERO, nodes((9, 9), (9, 9), (9, 9), (0, 0), (0, 0)), tails=2)
        oracle = Recorder()
        given = (
            block("limit", 1, (0, 0, 0, ONE), (0, 1, 0, ONE)),
            block("limit", 1, (0, 1, 0, ONE), (1, 1, 0, ONE)),
        )
        found = safe_bound(asked, program, given, None, oracle)
        tenth = -(-UNIT // 10)  # costs fall by it, rounded down
        assert [cost for cost, _, _ in oracle.asked] == [
            [7 * UNIT - tenth, 11 * UNIT],
            [8 * UNIT - 2 * tenth, 10 * UNIT],
            [9 * UNIT - 3 * tenth, 9 * UNIT],
            [0, 0],
            [0, 0],
        ]
        assert found == Fraction(7 * UNIT - tenth + 9 * UNIT, UNIT) - 3 * limit


def test_a_limit_is_paid_with_its_exponent_rounded_up() -> None:
    gauge = Gauge((ListedRow(((0, ONE),), ZERO, ()),), ONE / 3, exponent=ONE)
    asked, program = Statement(1, (), (gauge,), None), Program(ZERO, [[0]])
    found = safe_bound(asked, program, (block("limit", 0, (0, 0, 0, 2 * ONE)),), None, Plain())
    assert found == 2 - 2 * gauge.most(up=True)
    assert gauge.most(up=True) > gauge.most(up=False)
    halved = Gauge(gauge.parts, ONE, below=(ListedRow(((0, ONE / 2),), ZERO, ()),))
    asked = Statement(1, (), (halved,), None)  # parts for bounds are added, not those for checks
    program = Program(ZERO, [[0]])
    found = safe_bound(asked, program, (block("limit", 0, (0, 0, 0, ONE)),), None, Plain())
    assert found == ONE / 2 - 1


def test_an_oracle_refuses_unsuitable_statements() -> None:
    class Nothing(Oracle):
        kind = "nothing"

    with refused("'nothing' does not support linear"):
        safe_bound(FREE, Program(ZERO, nodes((0, 0))), (), None, Nothing())
    gain = Hellinger.of((ONE, ZERO), (ZERO, ONE))
    with refused("'nothing' does not support convex"):
        safe_bound(FREE, Program(ZERO, gain=gain), (), None, Nothing())
    assert Plain().paid(FREE) == 0


def test_steps_of_multipliers_grow_with_rows_that_are_long() -> None:
    rows = Rows((ListedRow(((0, ONE),), ONE, ((1, ONE),)),))
    asked = Statement(100, (RATIO, rows), (), None)
    many = [(0, 0, 0, ONE)] * 50
    short = multiplier_steps(asked, 1, (block("cone", 0, *many),))
    assert short < 500 < 5000 <= multiplier_steps(asked, 1, (block("cone", 1, *many),))


def test_every_multiplier_is_of_a_part_that_exists() -> None:
    """The largest number of a part is compared, not the least."""
    asked = Statement(2, (), (Gauge((ListedRow(((0, ONE),), ZERO, ()),), ONE),), None)
    given = block("limit", 0, (0, 0, 0, ONE), (0, 1, 0, ONE))
    with refused("names a part that does not exist"):
        safe_bound(asked, Program(ZERO, [[0, 0]]), (given,), None, Plain())


def test_the_costs_added_by_a_limit_are_rounded_down() -> None:
    """Two thirds of a unit less than 2**-192 are no unit."""
    asked = Statement(2, (), (Gauge((ListedRow(((0, ONE / 3),), ZERO, ()),), ONE),), None)
    given = block("limit", 0, (0, 0, 0, ONE / 3))
    found = safe_bound(asked, Program(ZERO, [[0, 0]]), (given,), None, Plain())
    assert found + ONE / 3 <= ONE / 9
    assert found + ONE / 3 > ONE / 9 - Fraction(2, UNIT)
