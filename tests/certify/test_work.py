"""The work of the checker is counted in steps: what would take long is refused, and at once."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import Domain, Problem, resources
from mechdesign.certify import verify
from mechdesign.certify.bounds.estimation_risk import estimation_bound
from mechdesign.certify.bounds.sums import rays
from mechdesign.certify.fixed_point import over_one_denominator, total
from mechdesign.certify.mechanism_file import subset_selection
from mechdesign.certify.problem import read_statement
from mechdesign.designs.answers import Answers
from mechdesign.errors import LimitError
from mechdesign.notions import LDP, LIP, ContextAwareLDP, LinearNotion, MetricPrivacy
from mechdesign.resources import Resources, Work, counted
from mechdesign.routes import RawSolution
from mechdesign.routes.limits import Limits
from mechdesign.utilities import (
    L2Risk,
    MeanAbsoluteError,
    MutualInformation,
    PosteriorMeanSquaredError,
)
from tests.corpus import CASES, document_of
from tests.documents import Document, sealed

HISTOGRAM = PosteriorMeanSquaredError(histogram=True)


def uneven(k: int) -> list[Fraction]:
    """A prior without two equal entries."""
    return [Fraction(2 * x + 1, k * k) for x in range(k)]


def budgets(k: int) -> list[list[Any]]:
    """Budgets that satisfy the triangle inequality strictly, so that no row implies another."""
    return [[0 if x == z else 1 + (7 * x + 3 * z) % 10 / 10 for z in range(k)] for x in range(k)]


def document(problem: Problem, certificate: Document) -> Document:
    """A file with the channel that ignores its input, and some certificate."""
    answers = Answers(problem, Limits())
    outputs = (problem.outputs or (0,))[:1]
    raw = RawSolution(np.ones((len(problem.domain), 1)), outputs, None, "one output")
    answers.take(raw, "a test")
    return sealed(answers.solution().document() | {"certificate": certificate})


def potentials(k: int, search: str, **data: Any) -> Document:
    dual = {"weights": None, "rows": [], "potential": [0.1] * k, "search": search, **data}
    return {"theorem": None, "dual": dual}


EMPTY = {"notion": 0, "side": "ratio", "output": [], "x": [], "other": [], "weight": []}


ALL_PAIRS = [
    {"name": f"{x} {z}", "left": {x: 1}, "right": {z: 1}, "exponent": 1}
    for x in range(9)
    for z in range(9)
    if x != z
]


def multipliers(rows: list[Document], **data: Any) -> Document:
    return {"theorem": None, "dual": {"weights": None, "rows": rows, **data}}


def with_values(values: list[str], prior: list[str] | None = None) -> Document:
    """A file for the error of a scalar, with other values in its problem, and another prior."""
    problem = Problem(
        range(len(values)), LDP(1), PosteriorMeanSquaredError(values=list(range(len(values))))
    )
    file = document(problem, {"theorem": None, "dual": None})
    file["problem"]["utility"]["values"] = values
    file["problem"]["prior"] = prior or file["problem"]["prior"]
    return sealed(file)


LITTLE_IN_COMMON = [f"{10**947}/{10**950 + 2 * x + 1}" for x in range(600)]
"""600 numbers whose sum has a denominator of half a million digits."""


def with_privacy(table: Document, k: int) -> Document:
    """A file that claims another notion."""
    problem = Problem(range(k), LDP(1), MeanAbsoluteError(), outputs=[0])
    file = document(problem, {"theorem": "nothing-constrained", "dual": None})
    file["problem"]["privacy"] = [{**table, "epsilon": "1"}]
    claim = {"notion": table["notion"], "epsilon": 1.0, "leakage": 0.0, "certified": True}
    claim |= {"secret": table["secret"]["values"]} if "secret" in table else {}
    return sealed(file | {"privacy": [claim]})


HOSTILE: dict[str, Callable[[], Document]] = {
    "rays of a cone that is not regular": lambda: document(
        Problem(range(14), ContextAwareLDP(budgets(14)), MutualInformation()),
        potentials(14, "rays"),
    ),
    "rays of one budget": lambda: document(
        Problem(range(16), LDP(1), MutualInformation(), prior=uneven(16)),
        potentials(16, "rays"),
    ),
    "a knapsack of many counts": lambda: document(
        Problem(
            range(4),
            LIP(1),
            HISTOGRAM,
            prior=[Fraction(n, 40_000_000) for n in (7, 11, 13, 39_999_969)],
        ),
        potentials(4, "sums"),
    ),
    "values whose denominators have little in common": lambda: with_values(
        [f"1/{10**250 + 2 * x + 1}" for x in range(250)]
    ),
    "gains of long values at a long prior": lambda: with_values(
        [f"{10**980}/{10**985 + 3 * x + 1}" for x in range(80)],
        [f"{(10**990 + 7) // 80}/{10**990 + 7}"] * 79
        + [f"{10**990 + 7 - 79 * ((10**990 + 7) // 80)}/{10**990 + 7}"],
    ),
    "a box of priors whose ends have little in common": lambda: with_privacy(
        {"notion": "bounded-prior-lip", "lower": LITTLE_IN_COMMON, "upper": ["1"] * 600}, 600
    ),
    "laws of a secret whose bounds have little in common": lambda: with_privacy(
        {
            "notion": "lip",
            "secret": {
                "values": list(range(600)),
                "lower": [LITTLE_IN_COMMON],
                "upper": [["1"] * 600],
            },
        },
        1,
    ),
    "costs at many decoders": lambda: document(
        Problem(range(200), LDP(1), PosteriorMeanSquaredError(values=list(range(200)))),
        {
            "theorem": None,
            "dual": {"weights": None, "rows": [], "decoders": list(map(str, range(4000)))},
        },
    ),
    "the rows of a metric on a plane, on every output": lambda: document(
        Problem(
            Domain.grid(30, 30),
            MetricPrivacy(1, "euclidean"),
            PosteriorMeanSquaredError(values=range(900)),
        ),
        {"theorem": None, "dual": None},
    ),
    "a table of budgets that is read for each of many blocks of multipliers": lambda: document(
        Problem(range(40), ContextAwareLDP(budgets(40)), MeanAbsoluteError()),
        multipliers([EMPTY] * 1000),
    ),
    "rows of the user's own that are read for each of many blocks of multipliers": lambda: document(
        Problem(range(9), LinearNotion(ALL_PAIRS), MeanAbsoluteError()),
        multipliers([{**EMPTY, "side": "row"}] * 6000),
    ),
    "many blocks of multipliers for many representatives": lambda: document(
        Problem(range(400), LDP(1), MeanAbsoluteError(), outputs=[0]),
        multipliers([EMPTY] * 9000, representatives=list(range(400)), mixtures=[[]]),
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_small_file_that_asks_for_much_is_refused(name: str) -> None:
    file = HOSTILE[name]()
    with pytest.raises(LimitError, match=r"steps.*--allow steps="):
        verify(file)


@pytest.mark.parametrize("name", CASES)
def test_what_the_library_writes_takes_a_small_part_of_the_steps_allowed(name: str) -> None:
    with resources.allow(steps=Resources().steps // 2):
        verify(document_of(name))


@pytest.mark.parametrize("name", CASES)
def test_the_count_is_exact_and_the_same_each_time(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file passes with what it took before, and not with a step less: caches do not count."""
    file, steps = document_of(name), _spent(document_of(name))
    if steps < 2:
        return
    monkeypatch.setattr(resources, "STEPS_PER_ENTRY", 0)
    with resources.allow(steps=steps):
        verify(file)
    with resources.allow(steps=steps - 1), pytest.raises(LimitError, match=str(steps)):
        verify(file)


def _spent(file: Document) -> int:
    """The steps of the part of a file that takes the most."""
    made: list[Work] = []

    class Listed(Work):
        def __init__(self, *options: Any) -> None:
            super().__init__(*options)
            made.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resources, "Work", Listed)
        verify(file)
    return max(work.spent for work in made)


@pytest.mark.parametrize("k", [4, 5, 6])
def test_steps_bound_the_operations_on_rays(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs that are compared, rays that are made: each is at most its number of steps."""
    problem = Problem(range(k), ContextAwareLDP(budgets(k)), MutualInformation())
    rows = rays.integer_rows(read_statement(problem.to_table()))
    calls = {"_are_only_two": 0, "_primitive": 0}

    def counting(name: str) -> Callable[..., Any]:
        whole = getattr(rays, name)

        def call(*given: Any) -> Any:
            calls[name] += 1
            return whole(*given)

        return call

    for name in calls:
        monkeypatch.setattr(rays, name, counting(name))
    with counted() as work:
        found = rays.extreme_rays(rows, k)
    assert len(found) <= k + calls["_primitive"]
    assert work.spent >= 20 * calls["_are_only_two"] + 20 * k * calls["_primitive"]


def test_rays_are_counted_while_they_are_made() -> None:
    problem = Problem(range(7), ContextAwareLDP(budgets(7)), MutualInformation())
    rows = rays.integer_rows(read_statement(problem.to_table()))
    with resources.allow(rays=30), pytest.raises(LimitError, match="at most 30 rays, given 31"):
        rays.extreme_rays(rows, 7)


def test_rays_of_a_risk_on_sixteen_inputs_are_refused() -> None:
    problem = Problem(range(16), LDP(1), L2Risk(), prior=uneven(16))
    rows = [[int(x == z) for z in range(16)] for x in range(16)]
    dual = {"potential": [1] * 16, "search": "rays", "estimator": rows}
    with counted() as work, pytest.raises(LimitError, match="steps"):
        estimation_bound(read_statement(problem.to_table()), dual)
    assert work.limit < work.spent < 1.01 * work.limit


def test_subsets_of_a_million_inputs_are_not_counted_out() -> None:
    """C(10**6, 5 * 10**5) has 300,000 digits, and is not needed."""
    with counted() as work:
        proof = subset_selection(10**6, {"size": "500000", "held": str(3 * 2**60)})
    assert proof.ratio == 3
    assert work.spent == 0


@given(st.lists(st.fractions(min_value=-9, max_value=9), min_size=1))
def test_sums_by_one_denominator_are_exact(numbers: list[Fraction]) -> None:
    assert total(numbers) == sum(numbers)


@given(st.integers(1, 12), st.integers(64, 4096))
def test_long_denominators_cost_more(count: int, bits: int) -> None:
    numbers = [Fraction(1, (1 << bits) + 2 * n + 1) for n in range(count)]
    with counted() as work:
        _, whole = over_one_denominator(numbers)
    with counted() as twice:
        over_one_denominator([number / 2**bits for number in numbers])
    assert whole.bit_length() > bits
    assert twice.spent >= work.spent >= 23 * count
