"""Tests that mutants asked for, which the tests of their own files did not see."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mechdesign.errors import LimitError
from mechdesign.kernel.arithmetic import UNIT
from mechdesign.kernel.documents import parse
from mechdesign.kernel.gains import Squares, units
from mechdesign.kernel.generators import Block, ListedRow
from mechdesign.kernel.limits import Gauge
from mechdesign.kernel.packed import Places, Weights
from mechdesign.kernel.proof import Program, safe_bound
from mechdesign.kernel.statement import Statement
from mechdesign.resources import allow
from tests.kernel.draws import Plain, refused

ONE, ZERO = Fraction(1), Fraction(0)


def limited(parts: list[ListedRow], *entries: tuple[int, int, Fraction]) -> Fraction:
    """Return the bound of a cost 0 beside a limit; entries are (node, part, weight)."""
    statement = Statement(2, (), (Gauge(tuple(parts), ONE),), None)
    node, x, weight = zip(*entries, strict=True)
    block = Block("limit", 0, Places(node), Places(x), Weights(weight))
    program = Program(ZERO, [[0, 0]])
    return safe_bound(statement, program, [block], None, Plain())


def test_every_multiplier_is_of_a_part_that_exists() -> None:
    """The largest number of a part is compared, not the least."""
    parts = [ListedRow(((0, ONE),), ZERO, ())]
    with refused("names a part that does not exist"):
        limited(parts, (0, 0, ONE), (0, 1, ONE))


def test_what_a_limit_adds_to_costs_is_rounded_down() -> None:
    """Two thirds of a unit less than 2**-192 are no unit."""
    parts = [ListedRow(((0, Fraction(1, 3)),), ZERO, ())]
    found = limited(parts, (0, 0, Fraction(1, 3)))
    assert found + Fraction(1, 3) <= Fraction(1, 9)
    assert found + Fraction(1, 3) > Fraction(1, 9) - Fraction(2, UNIT)


def test_units_have_one_entry_for_each_input() -> None:
    """A vector that is too long sums to the same, but is like no other once inputs are swapped."""
    p = (Fraction(1, 2), ZERO, Fraction(1, 2))
    assert units(p) == ((p[0], ZERO, ZERO), (ZERO, ZERO, p[2]))


def test_a_weighted_sum_of_squares_has_all_denominators() -> None:
    """(q_0 / 2 + q_1 / 3)**2 / 5 over (q_0 + q_1) / 2, at q = (1, 2)."""
    gain = Squares(((ONE / 2, ONE / 3),), (ONE / 2, ONE / 2), (ONE / 5,))
    expected = (ONE / 2 + 2 * ONE / 3) ** 2 / 5 / (3 * ONE / 2)
    assert gain([1, 2], up=True) == gain([1, 2], up=False) == expected


def test_tables_are_counted_beside_lists() -> None:
    with allow(lists=5), pytest.raises(LimitError, match="7"):
        parse("[{}, {}, {}, {}, {}, {}]")
