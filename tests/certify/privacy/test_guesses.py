"""Terms of the best guess in dual bounds: sums in rationals, valid for every channel that holds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechdesign import (
    LDP,
    AttackError,
    Channel,
    Domain,
    GVulnerabilityPrivacy,
    HammingLoss,
    Problem,
)
from mechdesign.certify.privacy.guesses import add_guess_rows, check_guesses
from mechdesign.certify.privacy.non_conic import EXCESS_SIDES
from mechdesign.errors import CertificateError
from mechdesign.resources import counted
from tests.strategies import statement_of

BITS = 100
PRIOR = [Fraction(a, 10) for a in (2, 3, 5)]
GAINS = [[1, 0, 2], [0, "0.5", 1]]
FAR = [[0, 1], [2, 0], [1, "0.5"]]
NOTIONS: dict[str, tuple[Any, list[list[Fraction]], Fraction]] = {
    "guess": (
        GVulnerabilityPrivacy("1.3", GAINS),
        [[Fraction(g) for g in row] for row in GAINS],
        Fraction(13, 10),
    ),
    "attack": (
        AttackError("0.2", FAR),
        [[4 - Fraction(row[z]) for row in FAR] for z in range(2)],
        4 - Fraction(1, 5),
    ),
}


@pytest.mark.parametrize("side", NOTIONS)
@pytest.mark.parametrize("seed", range(4))
def test_multipliers_add_gains_and_cost_the_largest_sum_of_an_output(side: str, seed: int) -> None:
    notion, gains, limit = NOTIONS[side]
    assert EXCESS_SIDES[side] == notion.name
    rng = np.random.default_rng(seed)
    k, m, n = 3, 4, 10
    statement = statement_of(Problem(k, notion, HammingLoss(), prior=PRIOR))
    weights = [Fraction(a, 7) for a in rng.integers(0, 9, n).tolist()]
    block = {
        "side": side,
        "notion": 0,
        "output": rng.integers(0, m, n).tolist(),
        "x": rng.integers(0, 2, n).tolist(),
        "weight": [str(w) for w in weights],
    }
    reduced = [[0] * m for _ in range(k)]
    cost = add_guess_rows(statement, block, reduced, BITS)
    by_output = [Fraction(0)] * m
    added = [[Fraction(0)] * m for _ in range(k)]
    for y, w, weight in zip(block["output"], block["x"], weights, strict=True):
        by_output[y] += weight
        for x in range(k):
            added[x][y] += weight * PRIOR[x] * gains[w][x]
    for row, exact_row in zip(reduced, added, strict=True):
        for entry, exact in zip(row, exact_row, strict=True):
            assert exact * 2**BITS - n <= entry <= exact * 2**BITS
    assert max(by_output) * limit * 2**BITS <= cost < max(by_output) * limit * 2**BITS + 1
    # for every channel that holds, the sum of what is added is at most what it costs
    for _ in range(50):
        channel = Channel.from_matrix(rng.dirichlet(np.ones(m), size=k))
        if notion.holds(channel, Problem(k, LDP(1), HammingLoss(), prior=PRIOR).prior):
            columns = zip(*channel.numerators.tolist(), strict=True)
            sent = [[Fraction(v, channel.denominator) for v in q] for q in columns]
            total = sum(reduced[x][y] * sent[y][x] for x in range(k) for y in range(m))
            assert total <= cost


def test_roots_are_rounded_for_checks_and_for_bounds() -> None:
    """Down in a check, where errors count for the channel, and up in a bound."""
    grid = Domain.grid(2, 2)
    problem = Problem(grid, AttackError("0.5", "euclidean"), HammingLoss(), prior=["0.25"] * 4)
    statement = statement_of(problem)
    table = statement.privacy[0]
    columns = [[1, 1, 1, 1]]
    least = Fraction(2 + 2**0.5) / 4  # the best guess is any corner: 0, 1, 1 and root 2
    for share, holds in ((Fraction(1, 10**12), True), (-Fraction(1, 10**12), False)):
        found = check_guesses(statement, {**table, "least": str(least - share)}, columns, None)
        assert (found is None) == holds
    reduced = [[0] for _ in range(4)]
    block = {"notion": 0, "output": [0], "x": [0], "weight": [1]}
    cost = add_guess_rows(statement, block, reduced, BITS)
    exact = (2 * 2**0.5 - 0.5) * 2**BITS
    assert cost == pytest.approx(exact)
    assert sum(row[0] for row in reduced) == pytest.approx((2 * 2**0.5 - float(least)) * 2**BITS)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"output": [4]}, "row"),
        ({"x": [2]}, "guess"),
        ({"x": [-1]}, "guess"),
        ({"weight": ["-1"]}, ">= 0"),
    ],
)
def test_multipliers_of_no_guess_are_refused(change: dict[str, Any], match: str) -> None:
    statement = statement_of(Problem(3, NOTIONS["guess"][0], HammingLoss(), prior=PRIOR))
    block = {"notion": 0, "output": [0], "x": [0], "weight": ["1"], **change}
    with pytest.raises(CertificateError, match=match):
        add_guess_rows(statement, block, [[0] * 4 for _ in range(3)], BITS)


def test_work_is_counted() -> None:
    k = 60
    problem = Problem(
        range(k), GVulnerabilityPrivacy("0.5"), HammingLoss(), prior=[Fraction(1, k)] * k
    )
    statement = statement_of(problem)
    with counted() as work:
        check_guesses(statement, statement.privacy[0], [[1] * k] * 50, None)
    assert work.spent > 50 * k * k  # a product for each guess, input and output
