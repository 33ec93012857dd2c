"""A statement refuses what is no channel, and limits hold at the number that they are."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
import scipy.optimize

from mechdesign.kernel.generators import ListedRow, Matrix, Ratio
from mechdesign.kernel.limits import NOTHING, Gauge
from mechdesign.kernel.statement import Statement, private

K = 4
HALF, ONE = Fraction(1, 2), Fraction(1)


def test_a_gauge_of_nothing_and_a_row_is_the_general_one() -> None:
    row = ListedRow(((0, ONE),), HALF, ((1, ONE), (2, HALF)))
    rng, answers = random.Random(3), set()
    for _ in range(200):
        columns = [[rng.randrange(9) for _ in range(K)] for _ in range(3)]
        limit = Fraction(rng.randrange(1, 9), 10)
        short, general = (Gauge(p, limit) for p in ((NOTHING, row), (NOTHING, row, row)))
        assert short.holds(columns, 10) == general.holds(columns, 10)
        answers.add(short.holds(columns, 10))
    assert answers == {True, False}


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
    """The rays are those of all rows; exponents 0 imply one another, and stay."""
    rng = random.Random(12)
    left_out = 0
    for _ in range(40):
        k = rng.randint(2, 4)
        table = [[Fraction(rng.randint(0, 6), 2) for _ in range(k)] for _ in range(k)]
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
