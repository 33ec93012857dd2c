"""The universal channel of a simplicial cone: known ones, and every private channel is made of it.

For two inputs under LDP it is randomized response; for a lift it is checked by the definition.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from mechdesign import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    BoundedPriorLIP,
    CertificateError,
    ContextAwareLDP,
    DifferentialIdentifiability,
    HammingLoss,
    HighLowLDP,
    MetricPrivacy,
    Problem,
)
from mechdesign.certify.bounds.simplicial import BITS, universal_columns
from mechdesign.certify.problem import Statement
from mechdesign.exact import exp_lower, exp_upper
from mechdesign.notions import Notion
from tests.strategies import statement_of

CLOSE = Fraction(1, 2**100)


def stated(notion: Notion | list[Notion], prior: Any = None, k: int = 3) -> Statement:
    return statement_of(Problem(k, notion, HammingLoss(), prior=prior or [Fraction(1, k)] * k))


def sums_of_rows(columns: list[list[Fraction]]) -> list[Fraction]:
    return [sum(row, Fraction(0)) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_under_ldp_on_two_inputs_it_is_randomized_response(epsilon: str) -> None:
    statement = stated(LDP(epsilon), k=2)
    columns = universal_columns(statement, [[0, "ratio", 0, 1], [0, "ratio", 1, 0]])
    e = exp_upper(Fraction(epsilon))
    likely = [[e / (e + 1), 1 / (e + 1)], [1 / (e + 1), e / (e + 1)]]
    assert sums_of_rows(columns) == [1, 1]
    for column, expected in zip(columns, [likely[1], likely[0]], strict=False):
        for entry, exact in zip(column, expected, strict=True):
            assert abs(entry - exact) < CLOSE
    # what is lost by rounding is told in clear: an output for each input, of tiny probability
    for x, column in enumerate(columns[2:]):
        assert [z for z, entry in enumerate(column) if entry] == [x]
        assert 0 < sum(column) < CLOSE


def exact_channel(statement: Statement, rows: list[list[float]]) -> Any:
    F = np.array(rows)
    return np.linalg.solve(F, np.diag(F.sum(axis=1)))


LINE = [[0, "ratio", 0, 1], [0, "ratio", 1, 0], [0, "ratio", 2, 1]]
RING = [[0, "ratio", 0, 1], [0, "ratio", 1, 2], [0, "ratio", 2, 0]]
E = float(exp_lower(Fraction(-1)))
KNOWN: list[tuple[str, Notion, Any, list[Any], list[list[float]]]] = [
    ("a ring", LDP(1), None, RING, [[-E, 1, 0], [0, -E, 1], [1, 0, -E]]),
    (
        "two inputs that are told apart from one in clear",
        ContextAwareLDP([[0, 1, "inf"], [1, 0, "inf"], ["inf", "inf", 0]]),
        None,
        [*LINE[:2], [None, "positive", 2, None]],
        [[-E, 1, 0], [1, -E, 0], [0, 0, 1]],
    ),
    (
        "a chain of neighbors",
        MetricPrivacy(1, "absolute"),
        None,
        [[0, "ratio", 0, 1], [0, "ratio", 1, 0], [0, "ratio", 2, 1]],
        [[-E, 1, 0], [1, -E, 0], [0, 1, -E]],
    ),
    (
        "one direction",
        HighLowLDP(1, [0]),
        None,
        [[0, "ratio", 0, 1], [0, "ratio", 0, 2], [None, "positive", 0, None]],
        [[-E, 1, 0], [-E, 0, 1], [1, 0, 0]],
    ),
    (
        "a zero budget",
        ContextAwareLDP([[0, 0, 1], [0, 0, 1], [1, 1, 0]]),
        None,
        [[0, "ratio", 0, 2], [0, "ratio", 2, 1], [0, "ratio", 1, 0]],
        [[-E, 0, 1], [0, 1, -E], [1, -1, 0]],
    ),
    (
        "upper lifts",
        PML("0.4"),
        ["0.2", "0.3", "0.5"],
        [[0, "upper", x, None] for x in range(3)],
        [
            [0.2 - float(exp_lower(Fraction("-0.4"))), 0.3, 0.5],
            [0.2, 0.3 - float(exp_lower(Fraction("-0.4"))), 0.5],
            [0.2, 0.3, 0.5 - float(exp_lower(Fraction("-0.4")))],
        ],
    ),
    (
        "lower lifts",
        AsymmetricLift(1, "inf"),
        ["0.2", "0.3", "0.5"],
        [[0, "lower", x, None] for x in range(3)],
        [
            [1 - 0.2 * E, -0.3 * E, -0.5 * E],
            [-0.2 * E, 1 - 0.3 * E, -0.5 * E],
            [-0.2 * E, -0.3 * E, 1 - 0.5 * E],
        ],
    ),
    (
        "lower lifts at a prior of the set",
        BoundedPriorLIP(1, priors=[["0.2", "0.3", "0.5"], ["0.5", "0.5", "0"]]),
        None,
        [[0, "lower", x, ["0.5", "0.5", "0"]] for x in range(3)],
        [[1 - 0.5 * E, -0.5 * E, 0], [-0.5 * E, 1 - 0.5 * E, 0], [-0.5 * E, -0.5 * E, 1]],
    ),
]


@pytest.mark.parametrize(("name", "notion", "prior", "facets", "rows"), KNOWN)
def test_it_solves_the_equations_of_its_facets(
    name: str, notion: Notion, prior: Any, facets: list[Any], rows: list[list[float]]
) -> None:
    statement = stated(notion, prior)
    expected = exact_channel(statement, rows)
    for order in permutations(range(3)):
        listed = [facets[n] for n in order]
        if (expected < -1e-9).any():
            with pytest.raises(CertificateError, match="negative entry"):
                universal_columns(statement, listed)
            continue
        columns = universal_columns(statement, listed)
        assert sums_of_rows(columns) == [1, 1, 1]
        assert all(entry >= 0 for column in columns for entry in column)
        full = [column for column in columns if max(column) > CLOSE]
        wanted = [expected[:, n] for n in order if expected[:, n].max() > 1e-12]
        np.testing.assert_allclose(np.array(full, float), np.array(wanted), atol=1e-12)
        assert sum(max(column) for column in columns if max(column) <= CLOSE) < CLOSE


REFUSED: list[tuple[Notion | list[Notion], list[Any], str]] = [
    (LDP(1), LINE[:2], "expected a list of 3 facets"),
    (LDP(1), [*LINE, LINE[0]], "expected a list of 3 facets"),
    (LDP(1), {"0": LINE}, "expected a list of 3 facets"),  # type: ignore[list-item]
    (LDP(1), [LINE[0], LINE[1], [0, "ratio", 2]], "expected .notion, side, x, other."),
    (LDP(1), [LINE[0], LINE[1], "ratio"], "expected .notion, side, x, other."),
    (LDP(1), [LINE[0], LINE[1], LINE[0]], "not independent"),
    (LDP(1), [LINE[0], LINE[1], [0, "ratio", 3, 0]], "a facet names an input"),
    (LDP(1), [LINE[0], LINE[1], [0, "ratio", 2, 3]], "a facet names an input"),
    (LDP(1), [LINE[0], LINE[1], [0, "ratio", -1, 0]], "a facet names an input"),
    (LDP(1), [LINE[0], LINE[1], [0, "ratio", 2, -1]], "a facet names an input"),
    (LDP(1), [LINE[0], LINE[1], [1, "ratio", 2, 0]], "a facet names a notion"),
    (LDP(1), [LINE[0], LINE[1], [None, "ratio", 2, 0]], "a facet names a notion"),
    (LDP(1), [LINE[0], LINE[1], [0, "positive", 2, None]], "on the side 'positive'"),
    (LDP(1), [LINE[0], LINE[1], [None, "positive", 2, 0]], "a facet names a notion"),
    (LDP(1), [LINE[0], LINE[1], [0, "both", 2, 1]], "on the side 'both'"),
    (LDP(1), [LINE[0], LINE[1], [0, "ratio", 2, 2]], "pair .2, 2. with no row"),
    (LDP(1), [LINE[0], LINE[1], [0, "upper", 2, None]], "is not known to the checker"),
    (HighLowLDP(1, [0]), [LINE[0], LINE[1], LINE[2]], "pair .1, 0. with no row"),
    (LIP(1), [[0, "ratio", 0, 1], LINE[1], LINE[2]], "pair .0, 1. with no row"),
    (PML(1), [[0, "lower", 0, None], [0, "upper", 1, None], LINE[2]], "'lower' with no row"),
    (LIP(1), [[0, "upper", 0, ["0.5", "0.5", "0"]]] * 3, "not in the notion's set"),
    (LIP(1), [[0, "upper", 0, ["0.5", "0.4", "0"]]] * 3, "no distribution"),
    # q_2 is not bounded from below
    (LDP(1), LINE, "negative entry"),
    (MetricPrivacy(1, "absolute"), LINE, "negative entry"),
]


@pytest.mark.parametrize(("notion", "facets", "words"), REFUSED)
def test_what_makes_no_channel_is_refused(
    notion: Notion | list[Notion], facets: list[Any], words: str
) -> None:
    with pytest.raises(CertificateError, match=words):
        universal_columns(stated(notion), facets)


def test_a_row_that_excludes_constant_columns_is_refused() -> None:
    """Differential identifiability has factors: P_0 q_0 <= e**epsilon P_2 q_2 with P_0 = 5 P_2."""
    statement = stated(DifferentialIdentifiability("1.7"), ["0.5", "0.4", "0.1"])
    facets = [[0, "ratio", 0, 2], [None, "positive", 1, None], [None, "positive", 0, None]]
    assert sums_of_rows(universal_columns(statement, facets)) == [1, 1, 1]
    strict = replace(statement, privacy=[{**statement.privacy[0], "epsilon": "1.6"}])
    with pytest.raises(CertificateError, match="excludes constant columns"):
        universal_columns(strict, facets)


def test_inputs_that_must_be_alike_leave_one_output() -> None:
    facets = [[0, "ratio", 0, 1], [0, "ratio", 1, 2], [None, "positive", 0, None]]
    assert universal_columns(stated(LDP(0)), facets) == [[1, 1, 1]]


def test_private_columns_are_mixtures_of_its_columns() -> None:
    """Q = U W with W >= 0 for every private Q."""
    U = np.array(universal_columns(stated(LDP(1)), RING), float).T
    rng = np.random.default_rng(1)
    for _ in range(50):
        q = np.exp(rng.uniform(0, 0.999, 3))
        assert (np.linalg.solve(U[:, :3], q) >= -1e-9).all()


def test_entries_are_rounded_down_to_so_many_significant_bits() -> None:
    columns = universal_columns(stated(LDP(100)), RING)
    tiny = exp_lower(Fraction(-100))
    entries = sorted(entry for column in columns[:3] for entry in column)
    assert all(entry.numerator.bit_length() <= BITS + 1 for entry in entries)
    # on the ring: 1, e**-100 and e**-200, all times (1 - e**-100) / (1 - e**-300)
    factor = (1 - tiny) / (1 - tiny**3)
    for entry, exact in zip(entries, [tiny**2] * 3 + [tiny] * 3 + [Fraction(1)] * 3, strict=True):
        assert 0 <= 1 - entry / (factor * exact) < CLOSE
