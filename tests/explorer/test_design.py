"""What the page designs: proved by the checker, and as good as what the library designs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mechdesign import Problem, design
from mechdesign.certify import digest, verify
from mechdesign.errors import CertificateError, InputError
from mechdesign.files import load_problem
from tests.documents import sealed
from tests.explorer_support import in_node, stated

pytestmark = pytest.mark.slow

PROBLEMS = Path(__file__).parents[2] / "problems"

NOTIONS = ("ldp", "high-low", "block", "metric", "context-aware", "lip", "pml", "lift")
OBJECTIVES = (
    *("hamming", "mean-absolute-error", "mean-squared-distance", "euclidean", "distortion"),
    *("posterior-mean-squared-error", "mutual-information", "bayes-accuracy"),
)
MOST_INPUTS = 25


def of_the_page() -> list[Problem]:
    """Return the problems of the repository that the page can show."""
    found = []
    for path in sorted(PROBLEMS.glob("*/*.toml")):
        try:
            problem = load_problem(path)
        except InputError:  # its data are not here
            continue
        table = problem.to_table()
        own = [notion for notion in table["privacy"] if "secret" not in notion]
        fits = len(own) == len(table["privacy"]) == 1 and own[0]["notion"] in NOTIONS
        if fits and table["utility"]["objective"] in OBJECTIVES:
            found.append(problem)
    return [problem for problem in found if len(problem.domain) <= MOST_INPUTS]


@pytest.fixture(scope="module")
def designed() -> list[tuple[Problem, dict[str, Any]]]:
    """Return every problem with the document that the page makes of it."""
    problems = of_the_page()
    assert len(problems) > 25
    tasks = [{"kind": "design", "problem": stated(problem)} for problem in problems]
    results = in_node(tasks)
    return [(p, result["document"]) for p, result in zip(problems, results, strict=True)]


Designed = list[tuple[Problem, dict[str, Any]]]


def test_the_checker_proves_what_the_page_claims(designed: Designed) -> None:
    for problem, document in designed:
        assert document["digest"] == digest(document), problem.title
        verified = verify(document)
        assert document["status"] == "optimal", problem.title
        assert verified.bound is not None
        assert verified.value is not None


def test_no_design_of_the_library_is_better(designed: Designed) -> None:
    for problem, document in designed:
        wanted = float(design(problem).value)
        assert document["value"] == pytest.approx(wanted, rel=1e-9, abs=1e-12), problem.title


def test_a_bound_that_is_raised_is_refused(designed: Designed) -> None:
    for problem, document in designed:
        sign = -1 if document["sense"] == "maximize" else 1
        forged = {**document, "bound": document["value"] + sign * 1e-3 * abs(document["value"])}
        with pytest.raises(CertificateError, match="bound proved"):
            verify(sealed(forged))
        assert problem.title


def test_randomized_response_is_the_largest_truth_that_is_private() -> None:
    problem = load_problem(PROBLEMS / "classic" / "randomized_response.toml")
    (found,) = in_node([{"kind": "randomized-response", "problem": stated(problem)}])
    assert found["value"] == pytest.approx(float(design(problem).value), rel=1e-9)
