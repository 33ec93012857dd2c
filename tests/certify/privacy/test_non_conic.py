"""Bounds on sums over all outputs, recomputed in decimals: just kept, just broken, and implied."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    ApproximateLDP,
    ApproximateLIP,
    CertificateError,
    HammingLoss,
    MaximalLeakage,
    MutualInformationPrivacy,
    Problem,
)
from mechdesign.certify.privacy.non_conic import (
    EXCESS_SIDES,
    add_excess_rows,
    check_non_conic,
    implied_ratio_bound,
    least_reduced_cost,
)
from mechdesign.certify.problem import Statement
from mechdesign.certify.proof import check_multipliers
from mechdesign.notions import Notion
from tests.strategies import DIGITS, budgets, examples, exp, simplex, statement_of

TINY = Fraction(1, 10**40)
Matrix = list[list[int]]


def stated(notion: Notion, prior: list[Fraction]) -> Statement:
    return statement_of(Problem(len(prior), notion, HammingLoss(), prior=prior))


def ln(value: Fraction) -> Fraction:
    top, bottom = Decimal(value.numerator), Decimal(value.denominator)
    return Fraction(DIGITS.ln(DIGITS.divide(top, bottom)))


def positive(value: Fraction) -> Fraction:
    return max(Fraction(0), value)


def rows_of(matrix: Matrix) -> list[list[Fraction]]:
    return [[Fraction(v, sum(row)) for v in row] for row in matrix]


def excess_ldp(Q: list[list[Fraction]], e: Fraction) -> Fraction:
    """The least delta of approximate LDP: the largest excess of one row over another."""
    return max(
        sum((positive(a - e * b) for a, b in zip(row, other, strict=True)), Fraction(0))
        for row in Q
        for other in Q
    )


def laws(Q: list[list[Fraction]], prior: list[Fraction]) -> list[Fraction]:
    return [sum(p * v for p, v in zip(prior, q, strict=True)) for q in zip(*Q, strict=True)]


def excess_lip(Q: list[list[Fraction]], prior: list[Fraction], e: Fraction) -> Fraction:
    law = laws(Q, prior)
    above = [sum(positive(a - e * b) for a, b in zip(row, law, strict=True)) / e for row in Q]
    below = [sum(positive(b - e * a) for a, b in zip(row, law, strict=True)) for row in Q]
    return max([*above, *below])


def information(Q: list[list[Fraction]], prior: list[Fraction]) -> Fraction:
    law = laws(Q, prior)
    return sum(
        (
            p * a * ln(a / b)
            for p, row in zip(prior, Q, strict=True)
            for a, b in zip(row, law, strict=True)
            if p and a
        ),
        Fraction(0),
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[Matrix, list[Fraction]]:
    """Draw integer rows of one sum, and a prior."""
    k, m = draw(st.integers(2, 3)), draw(st.integers(1, 4))
    rows = []
    for _ in range(k):
        cuts = sorted(draw(st.lists(st.integers(0, 20), min_size=m - 1, max_size=m - 1)))
        rows.append([b - a for a, b in zip([0, *cuts], [*cuts, 20], strict=True)])
    return rows, draw(simplex(k))


def short_of(value: Fraction, by: Fraction) -> str:
    return str(positive(value + by))


@examples(120)
@given(cases(), budgets("0.05", "2"))
def test_approximate_notions_hold_from_the_least_delta_on(
    case: tuple[Matrix, list[Fraction]], epsilon: Fraction
) -> None:
    matrix, prior = case
    Q, e = rows_of(matrix), Fraction(exp(epsilon))
    columns = list(zip(*matrix, strict=True))
    makers: list[tuple[Any, Fraction, str]] = [
        (ApproximateLDP, excess_ldp(Q, e), "too likely on some outputs against"),
        (ApproximateLIP, excess_lip(Q, prior, e), "too (un)?likely on some outputs"),
    ]
    for make, least, words in makers:
        statement = stated(make(epsilon, "0.5"), prior)
        for by in (TINY, Fraction(1, 100)):
            table = {**statement.privacy[0], "delta": short_of(least, by)}
            assert check_non_conic(statement, table, columns) is None
        if least > TINY:
            table = {**statement.privacy[0], "delta": short_of(least, -TINY)}
            broken = check_non_conic(statement, table, columns)
            assert broken is not None
            assert "too" in broken
            assert words.split()[-1] in broken
            # what is asked about stands for the notion's own
            other = {**table, "epsilon": "0"}
            assert check_non_conic(statement, other, columns, epsilon) == broken


@examples(120)
@given(cases())
def test_leakage_notions_hold_from_the_least_epsilon_on(
    case: tuple[Matrix, list[Fraction]],
) -> None:
    matrix, prior = case
    Q, columns = rows_of(matrix), list(zip(*matrix, strict=True))
    makers: list[tuple[Any, Fraction, str]] = [
        (MaximalLeakage, ln(sum(max(q) for q in zip(*Q, strict=True))), "largest entries add up"),
        (MutualInformationPrivacy, information(Q, prior), "reveals too much"),
    ]
    for make, least, words in makers:
        statement = stated(make(1), prior)
        for by in (TINY, Fraction(1, 100)):
            table = {**statement.privacy[0], "epsilon": short_of(least, by)}
            assert check_non_conic(statement, table, columns) is None
            # what is asked about stands for the notion's own
            assert check_non_conic(statement, statement.privacy[0], columns, least + by) is None
        if least > TINY:
            table = {**statement.privacy[0], "epsilon": short_of(least, -TINY)}
            assert words in str(check_non_conic(statement, table, columns))
            assert words in str(
                check_non_conic(statement, statement.privacy[0], columns, least - TINY)
            )


def test_the_message_names_the_input_and_the_side() -> None:
    uniform = [Fraction(1, 2)] * 2
    ldp, lip = (
        stated(make, uniform) for make in (ApproximateLDP("0.1", 0), ApproximateLIP("0.1", 0))
    )
    columns = [[3, 1], [1, 3]]
    assert check_non_conic(ldp, ldp.privacy[0], columns) == (
        "input 0 is too likely on some outputs against 1"
    )
    assert check_non_conic(lip, lip.privacy[0], columns) == (
        "input 0 is too likely on some outputs"
    )
    # lifts 1.5 and 0.5: in between only the lower side breaks
    table = {**lip.privacy[0], "epsilon": "0.5"}
    assert check_non_conic(lip, table, columns) == "input 0 is too unlikely on some outputs"
    assert check_non_conic(lip, {**table, "epsilon": "0.7"}, columns) is None


def implied(notion: Notion, prior: list[str]) -> tuple[Fraction | None, list[bool]]:
    statement = stated(notion, [Fraction(p) for p in prior])
    return implied_ratio_bound(statement, statement.privacy[0])


def test_only_extreme_budgets_imply_bounds_on_ratios() -> None:
    prior, everywhere = ["0.5", "0.5", "0"], [True] * 3
    assert implied(ApproximateLDP("0.3", 0), prior) == (Fraction(3, 10), everywhere)
    assert implied(ApproximateLDP(0, 0), prior) == (0, everywhere)
    assert implied(ApproximateLDP("0.3", "0.01"), prior)[0] is None
    assert implied(ApproximateLIP("0.3", 0), prior)[0] is None
    assert implied(MaximalLeakage("0.3"), prior)[0] is None
    assert implied(MaximalLeakage(0), prior) == (0, everywhere)
    assert implied(MutualInformationPrivacy("0.3"), prior)[0] is None
    assert implied(MutualInformationPrivacy(0), prior) == (0, [True, True, False])


BITS = 100


@pytest.mark.parametrize("seed", range(12))
def test_reduced_costs_with_information_are_bounded_and_best_potentials_prove_the_least(
    seed: int,
) -> None:
    """The least cost + v I is Sum_x P_x b_x, b_x = -v ln Sum_y law_y e**(-c / v), at the best law.

    That law comes from the algorithm of Blahut and Arimoto.
    """
    rng = np.random.default_rng(seed)
    k, m, v, epsilon = 3, 4, 0.7, Fraction(1, 5)
    prior = [Fraction(n, 10) for n in ((2, 3, 5), (5, 5, 0))[seed % 2]]
    statement = stated(MutualInformationPrivacy(epsilon), prior)
    P, costs = np.array(prior, float), rng.uniform(0, 1, (k, m))
    reduced = [
        [round(p * c * 2**40) << BITS - 40 for c in row] for p, row in zip(P, costs, strict=True)
    ]
    law, weights = np.full(m, 1 / m), np.exp(-costs / v)
    for _ in range(3000):
        Q = law * weights
        law = P @ (Q / Q.sum(axis=1, keepdims=True))
    best = -v * np.log((law * weights).sum(axis=1))
    truth = float(P @ best) - v * float(epsilon)
    if not prior[2]:  # an input that never occurs takes its least cost
        reduced[2] = [3 << BITS, -(7 << BITS), 0, 1 << BITS]
        truth -= 7
    for shift, slack in ((np.zeros(k), 1e-4), (rng.normal(size=k), np.inf)):
        dual = {"multipliers": {"0": str(v)}, "levels": (best + shift).tolist()}
        found = float(least_reduced_cost(statement, dual, reduced, BITS))
        assert truth - slack <= found <= truth + 1e-9


def test_without_information_every_input_takes_its_least_cost() -> None:
    statement = stated(MutualInformationPrivacy(1), [Fraction(1, 2)] * 2)
    reduced = [[3 << BITS, 1 << BITS], [-(5 << BITS), 0]]
    assert least_reduced_cost(statement, None, reduced, BITS) == -4


def test_multipliers_and_potentials_that_do_not_fit_are_refused() -> None:
    uniform = [Fraction(1, 2)] * 2
    statement = stated(MutualInformationPrivacy(1), uniform)
    other = stated(MaximalLeakage(1), uniform)
    reduced = [[0, 0], [0, 0]]
    wrong: list[tuple[Statement, dict[str, Any], str]] = [
        (statement, {"multipliers": {}, "levels": [0, 0]}, "no multiplier"),
        (statement, {"multipliers": {"0": 0}, "levels": [0, 0]}, "no multiplier"),
        (statement, {"multipliers": {"0": -1}, "levels": [0, 0]}, ">= 0"),
        (statement, {"multipliers": {"0": 1}, "levels": [0]}, "not all potentials"),
        (statement, {"multipliers": {"0": 1}, "levels": [0, 0, 0]}, "not all potentials"),
        (statement, {"multipliers": {"0": 1}, "levels": [4097, 0]}, "far above the costs"),
    ]
    for problem, dual, words in wrong:
        with pytest.raises(CertificateError, match=words):
            least_reduced_cost(problem, dual, reduced, BITS)
    with pytest.raises(CertificateError, match="for a notion mutual-information that is another"):
        check_multipliers(other, {"rows": [], "information": {"multipliers": {"0": 1}}})
    highest = {"multipliers": {"0": 1}, "levels": [4096, -5000]}
    assert least_reduced_cost(statement, highest, reduced, BITS) <= -1


MAKERS: dict[str, Any] = {
    "excess": ApproximateLDP("0.5", "0.1"),
    "excess-upper": ApproximateLIP("0.5", "0.1"),
    "excess-lower": ApproximateLIP("0.5", "0.1"),
    "largest": MaximalLeakage("0.5"),
}


@pytest.mark.parametrize("side", MAKERS)
@pytest.mark.parametrize("seed", range(8))
def test_multipliers_of_a_sum_add_its_rows_and_cost_the_largest_sum_of_an_output(
    side: str, seed: int
) -> None:
    """Rows e**-eps left - right, each times its weight; one limit for each sum over outputs."""
    rng = np.random.default_rng(seed)
    k, m, n, prior = 3, 4, 12, [Fraction(a, 10) for a in (2, 3, 5)]
    statement = stated(MAKERS[side], prior)
    lists = {"output": rng.integers(0, m, n), "x": rng.integers(0, k, n)}
    shift = rng.integers(1, k, n)
    others = (lists["x"] + shift) % k if side == "excess" else np.zeros(n, int)
    weights = [Fraction(a, 7) for a in rng.integers(0, 9, n).tolist()]
    block = {
        "side": side,
        "notion": 0,
        "output": lists["output"].tolist(),
        "x": lists["x"].tolist(),
        "other": others.tolist(),
        "weight": [str(w) for w in weights],
    }
    start = rng.integers(-99, 99, (k, m)).tolist()
    reduced = [list(row) for row in start]
    cost = add_excess_rows(statement, block, reduced, BITS)
    shrink = Fraction(exp(Fraction(-1, 2)))
    added = [[Fraction(0)] * m for _ in range(k)]
    sums: dict[Any, list[Fraction]] = {}
    for y, x, z, w in zip(block["output"], block["x"], block["other"], weights, strict=True):
        left = [w * shrink * int(a == x) for a in range(k)]
        right = [Fraction(0)] * k
        if side == "excess":
            right[z] = w
        elif side == "excess-upper":
            right = [w * p for p in prior]
        elif side == "excess-lower":
            left, right = [w * shrink * p for p in prior], [w * int(a == x) for a in range(k)]
        for a in range(k):
            added[a][y] += left[a] - right[a]
        group = {"excess": (x, z), "largest": None}.get(side, x)
        sums.setdefault(group, [Fraction(0)] * m)[y] += w
    unit = 1 << BITS
    for row, before, exact_row in zip(reduced, start, added, strict=True):
        for entry, old, exact in zip(row, before, exact_row, strict=True):
            assert exact * unit - 40 <= entry - old <= exact * unit + Fraction(1, 2**20)
    limits = {"excess-upper": Fraction(1, 10), "largest": Fraction(1)}
    limit = limits.get(side, shrink / 10)
    exact = limit * sum((max(group) for group in sums.values()), Fraction(0))
    assert exact * unit - Fraction(1, 2**20) <= cost <= exact * unit + 1 + Fraction(1, 2**20)


def test_multipliers_are_on_rows_that_exist_and_of_the_notion_of_their_side() -> None:
    statement = stated(ApproximateLDP("0.5", "0.1"), [Fraction(1, 2)] * 2)
    good = {"side": "excess", "notion": 0, "output": [0], "x": [0], "other": [1], "weight": [1]}
    add_excess_rows(statement, good, [[0, 0], [0, 0]], BITS)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"output": [2]}, "on a row"),
        ({"output": [-1]}, "on a row"),
        ({"x": [2]}, "on a row"),
        ({"other": [2]}, "on a row"),
        ({"weight": [-1]}, ">= 0"),
    ]
    for change, words in wrong:
        with pytest.raises(CertificateError, match=words):
            add_excess_rows(statement, {**good, **change}, [[0, 0], [0, 0]], BITS)
    check_multipliers(statement, {"rows": [good]})
    for side in EXCESS_SIDES.keys() - {"excess"}:
        with pytest.raises(CertificateError, match=f"has no rows on the side '{side}'"):
            check_multipliers(statement, {"rows": [{**good, "side": side}]})
