"""The work of the checker is counted in steps: what would take long is refused, and at once."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from mechdesign import Domain, Problem
from mechdesign.certify import verify
from mechdesign.designs.answers import Answers
from mechdesign.errors import LimitError
from mechdesign.notions import LDP, LIP, ContextAwareLDP, MetricPrivacy
from mechdesign.routes.fallback import Fallback
from mechdesign.routes.limits import Limits
from mechdesign.utilities import (
    MutualInformation,
    PosteriorMeanSquaredError,
)
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
    answers.take(Fallback().solve(problem, Limits()), "a test")
    return sealed(answers.solution().document() | {"certificate": certificate})


def potentials(k: int, search: str, **data: Any) -> Document:
    dual = {"weights": None, "rows": [], "potential": [0.1] * k, "search": search, **data}
    return {"theorem": None, "dual": dual}


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
    "values whose denominators have little in common": lambda: document(
        Problem(
            range(250),
            LDP(1),
            PosteriorMeanSquaredError(
                values=[Fraction(1, 10**250 + 2 * x + 1) for x in range(250)]
            ),
        ),
        {"theorem": None, "dual": None},
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
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_small_file_that_asks_for_much_is_refused(name: str) -> None:
    given = HOSTILE[name]()
    with pytest.raises(LimitError, match=r"steps.*--allow steps="):
        verify(given)
