"""The checker and the notions, written apart, agree on every channel, and at the border."""

from __future__ import annotations

import dataclasses
import itertools
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    AsymmetricLift,
    BlockLDP,
    CertificateError,
    ContextAwareLDP,
    Domain,
    HammingLoss,
    InfeasibleError,
    InputError,
    MetricPrivacy,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
)
from mechdesign.certify.privacy.check import check
from mechdesign.certify.privacy.prior_sets import extreme_probability, prior_bounds
from mechdesign.certify.problem import read_statement
from mechdesign.notions import Notion
from mechdesign.repair import repair
from tests.strategies import (
    KINDS,
    WHOLE,
    Case,
    bare_problem,
    cases,
    channels,
    columns_of,
    demands,
    distortions,
    examples,
    lp_optimum,
    statement_of,
)


def both(problem: Problem, columns: list[list[int]]) -> tuple[bool, bool]:
    """What the checker and the cone say of each notion of a problem; they must agree on each."""
    statement = statement_of(problem)
    said = []
    for notion, family in zip(problem.privacy, problem.cone.families, strict=True):
        checker = check(statement, notion.to_table(), columns) is None
        cone = all(family.violation(column) is None for column in columns)
        said.append((checker, cone))
    return all(a for a, _ in said), all(b for _, b in said)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@examples(80)
@given(st.data())
def test_the_two_agree_on_random_channels(kind: str, data: Any) -> None:
    case = data.draw(cases((kind,)))
    channel = data.draw(channels(len(case.domain)))
    problem = bare_problem(case)
    for column in channel.columns():
        checker, cone = both(problem, [column])
        assert checker == cone
    assert len(set(both(problem, channel.columns()))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@examples(12)
@given(st.data())
def test_the_two_agree_at_the_border(kind: str, data: Any) -> None:
    """Take an optimal channel, whose rows are tight, and move every entry by one unit each way."""
    case = data.draw(cases((kind,)))
    utility = data.draw(distortions(len(case.domain), worst_case=False))
    problem = Problem(case.domain, case.notion, utility, prior=case.prior)
    rows, _ = repair(problem.cone, lp_optimum(problem).matrix)
    assert all(both(problem, [list(c) for c in zip(*rows.tolist(), strict=True)]))
    moved_out = 0
    for column in zip(*rows.tolist(), strict=True):
        for x, step in itertools.product(range(len(column)), (-1, 1)):
            moved = list(column)
            moved[x] = max(0, moved[x] + step)
            checker, cone = both(problem, [moved])
            assert checker == cone
            moved_out += not cone
    binding = float(np.abs(lp_optimum(problem).row_weights).max(initial=0.0)) > 1e-6
    if binding and kind != "lift":
        assert moved_out or epsilon_is_wide(case)


def epsilon_is_wide(case: Case) -> bool:
    """With a bound e**a on a ratio one unit more in the larger entry may still fit."""
    return not isinstance(case.notion, LDP) or case.notion.epsilon > 0


SEVERAL_BUDGETS = ("context-aware", "lift", "bounded-prior-lift")
BY_EPSILON = tuple(kind for kind in KINDS if kind not in SEVERAL_BUDGETS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", BY_EPSILON)
@examples(40)
@given(st.data())
def test_the_two_agree_at_the_least_epsilon_of_a_column(kind: str, data: Any) -> None:
    """Positive columns hold from their leakage on, and at no smaller budget."""
    case = data.draw(cases((kind,)))
    channel = data.draw(channels(len(case.domain), least=1))
    assert case.at is not None
    for column in columns_of(channel):
        asked = demands(case.notion, case.domain, case.prior)
        exact = max((d.leakage(column) for d in asked), default=Decimal(0))
        units = [int(v * WHOLE) for v in column]
        for factor, holds in (("1.000000001", True), ("0.999999999", False)):
            epsilon = Fraction(exact) * Fraction(factor)
            try:
                problem = bare_problem(dataclasses.replace(case, notion=case.at(epsilon)))
            except (InfeasibleError, InputError):  # below 0, or below what the prior gives
                continue
            if exact > Decimal("1e-6"):
                assert both(problem, [units]) == (holds, holds)


@pytest.mark.parametrize("top", [10**6, 10**12, WHOLE])
@pytest.mark.parametrize("exponent", ["0.1", "0.6931471805599453", "1", "5"])
def test_the_last_unit_counts(top: int, exponent: str) -> None:
    """q_0 <= e**eps q_1 holds for q_0 = floor(e**eps q_1) and not for one more."""
    from mechdesign.exact import exp_lower

    problem = bare_problem(Case(LDP(exponent), Domain.range(2), Prior.uniform(2), None))
    limit = exp_lower(Fraction(exponent))
    low = int(top / limit)
    high = int(low * limit)
    assert both(problem, [[high, low]]) == (True, True)
    assert both(problem, [[high + 1, low]]) == (False, False)
    assert both(problem, [[low, high]]) == (True, True)


@examples(150)
@given(cases(("bounded-prior-lip",)), st.data())
def test_worst_laws_agree(case: Case, data: Any) -> None:
    k = len(case.domain)
    column = data.draw(st.lists(st.integers(0, WHOLE), min_size=k, max_size=k))
    statement = statement_of(bare_problem(case))
    priors = case.notion.priors  # type: ignore[attr-defined]
    for sign, largest in ((1, True), (-1, False)):
        bounds = prior_bounds(statement, case.notion.to_table())
        found = extreme_probability(bounds, column, sign)
        assert found == priors.extreme_mean(column, largest=largest)
        laws = [
            sum((p * q for p, q in zip(v, column, strict=True)), Fraction(0))
            for v in priors.vertices()
        ]
        assert found == (max if largest else min)(laws)


@pytest.mark.parametrize(
    "notion",
    [
        LDP(0),
        MetricPrivacy(1, [[0, 0], [0, 0]]),
        ContextAwareLDP([[9, 0], ["inf", 9]]),
        AsymmetricLift(0, "inf"),
        AsymmetricLift("inf", 0),
    ],
)
def test_a_budget_of_nothing_allows_not_one_unit(notion: Notion) -> None:
    problem = bare_problem(Case(notion, Domain.range(2), Prior.uniform(2), None))
    half = WHOLE // 2
    assert both(problem, [[half, half], [half, half]]) == (True, True)
    assert both(problem, [[half + 1, half], [half - 1, half]]) == (False, False)


# --- statements that mean nothing are not certified -----------------------------------------------

IDENTITY = [[WHOLE, 0], [0, WHOLE]]


def base(notion: Notion | None = None) -> dict[str, Any]:
    utility = PosteriorMeanSquaredError(values=[0, 1])
    return Problem([0, 1], notion or LDP(1), utility, prior=[0.5, 0.5]).to_table()


@pytest.mark.parametrize(
    "table",
    [
        {"notion": "ldp", "epsilon": "-1"},
        {"notion": "ldp", "epsilon": "nan"},
        {"notion": "ldp", "epsilon": True},
        {"notion": "ldp"},
        {"notion": "LDP", "epsilon": "1"},
        {"notion": "high-low", "epsilon": "1", "sensitive": []},
        {"notion": "high-low", "epsilon": "1", "sensitive": ["0"]},
        {"notion": "high-low", "epsilon": "1", "sensitive": [7]},
        {"notion": "high-low", "epsilon": "1", "sensitive": ""},
        {"notion": "block", "epsilon": "1", "blocks": [[0]]},
        {"notion": "block", "epsilon": "1", "blocks": [[0], [0, 1]]},
        {"notion": "block", "epsilon": "1", "blocks": []},
        {"notion": "block", "epsilon": "1", "block_rows": 0, "block_columns": 1},
        {"notion": "block", "epsilon": "1", "block_rows": 1, "block_columns": 1},
        {"notion": "context-aware", "matrix": []},
        {"notion": "context-aware", "matrix": [[], []]},
        {"notion": "context-aware", "matrix": [["0"], ["0", "0"]]},
        {"notion": "context-aware", "matrix": [["0", "-1"], ["0", "0"]]},
        {"notion": "context-aware", "matrix": [["0", "-inf"], ["0", "0"]]},
        {"notion": "metric", "epsilon": "1", "distance": []},
        {"notion": "metric", "epsilon": "1", "distance": [[]]},
        {"notion": "metric", "epsilon": "1", "distance": [["0"], ["1"]]},
        {"notion": "metric", "epsilon": "1", "distance": [["0", "-1"], ["-1", "0"]]},
        {"notion": "metric", "epsilon": "1", "distance": "taxicab"},
        {"notion": "bounded-prior-lip", "epsilon": "9", "priors": []},
        {"notion": "bounded-prior-lip", "epsilon": "9", "priors": [["5", "-4"]]},
        {"notion": "bounded-prior-lip", "epsilon": "9", "priors": [["1"]]},
        {"notion": "bounded-prior-lip", "epsilon": "9", "lower": ["1", "1"], "upper": ["1", "1"]},
        {"notion": "bounded-prior-lip", "epsilon": "9", "lower": ["0", "0"], "upper": ["0", "0"]},
        {"notion": "bounded-prior-lip", "epsilon": "9", "lower": ["0", "-3"], "upper": ["1", "1"]},
        {"notion": "bounded-prior-lip", "epsilon": "9", "center": ["1", "1"], "radius": "0.5"},
        {"notion": "bounded-prior-lip", "epsilon": "9", "center": ["1", "0"], "radius": "-1"},
        {"notion": "bounded-prior-lip", "epsilon": "9", "center": ["2", "-1"], "radius": "0"},
        {"notion": "lift", "lower": "-1", "upper": "1"},
        {"notion": "lift", "lower": "1"},
    ],
)
def test_a_statement_that_means_nothing_is_not_certified(table: dict[str, Any]) -> None:
    document = base()
    document["privacy"] = [table]
    for columns in (IDENTITY, [[WHOLE // 2] * 2] * 2):
        with pytest.raises((CertificateError, KeyError, TypeError, ValueError)):
            check(read_statement(document), table, columns)


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("domain", {"values": [0, 0]}),
        ("domain", {"values": [1, True]}),
        ("domain", {"values": [1, 1.0]}),
        ("domain", {"values": [[1, 0], [1.0, 0]]}),
        ("domain", {"values": []}),
        ("domain", {"grid": {"rows": 1, "columns": 2, "spacing": "-1"}}),
        ("domain", {}),
        ("prior", ["0.5", "0.4"]),
        ("prior", ["1.5", "-0.5"]),
        ("prior", ["1"]),
        ("prior", ["0.5", "0.25", "0.25"]),
        ("prior", ["1/2", "one half"]),
        ("prior", [True, False]),
        ("privacy", []),
        ("privacy", {}),
        ("privacy", None),
    ],
)
def test_a_problem_that_means_nothing_is_refused(key: str, wrong: Any) -> None:
    document = base()
    document[key] = wrong
    with pytest.raises(CertificateError):
        read_statement(document)


@pytest.mark.parametrize(
    "outputs",
    [["a", "a"], [1, True], [[1, 0], [1, 5], [1.0, 0]], "ab", 3, []],
    ids=repr,
)
def test_outputs_that_mean_nothing_are_refused(outputs: Any) -> None:
    document = Problem([0, 1], LDP(1), HammingLoss()).to_table()
    document["outputs"] = outputs
    with pytest.raises(CertificateError):
        _ = read_statement(document).losses


def test_labels_are_not_confused_with_text() -> None:
    """A sensitive input is named by its label, not by what its label looks like."""
    problem = Problem(["1", 1], BlockLDP(1, [["1"], [1]]), PosteriorMeanSquaredError(values=[0, 1]))
    assert both(problem, IDENTITY) == (True, True)
    joined = Problem(["1", 1], BlockLDP(1, [["1", 1]]), PosteriorMeanSquaredError(values=[0, 1]))
    assert both(joined, IDENTITY) == (False, False)
