"""Designs of the page are proved by the checker, and as good as those of the library."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mechdesign import Domain, Problem, design
from mechdesign.errors import CertificateError, InputError
from mechdesign.exact import exp_lower, fraction_text, sqrt_lower
from mechdesign.files.problems import load_problem_on_labels
from mechdesign.kernel.documents import digest, relative_gap
from mechdesign.kernel.verify import verify
from mechdesign.notions import LDP, LIP, BlockLDP, MetricPrivacy
from mechdesign.repair import repair
from mechdesign.utilities import (
    BayesAccuracy,
    EuclideanDistance,
    HammingLoss,
    L2Risk,
    MeanAbsoluteError,
    MeanSquaredDistance,
    MutualInformation,
    PosteriorMeanSquaredError,
    TVRisk,
)
from tests.documents import sealed
from tests.explorer_support import EXPLORER, a_notion, in_node, stated

pytestmark = pytest.mark.slow

PROBLEMS = Path(__file__).parents[2] / "problems"

NOTIONS = ("ldp", "high-low", "block", "metric", "context-aware", "lip", "pml", "lift")
OBJECTIVES = (
    *("hamming", "mean-absolute-error", "mean-squared-distance", "euclidean", "distortion"),
    *("posterior-mean-squared-error", "mutual-information", "bayes-accuracy"),
)
RISKS = ("l2-risk", "tv-risk")
MOST_INPUTS, MOST_FOR_RISK = 25, 8


def of_the_page() -> list[Problem]:
    """Return the problems of the repository that the page can show."""
    found = []
    for path in sorted(PROBLEMS.glob("*/*.toml")):
        try:
            problem = load_problem_on_labels(path)
        except InputError:  # its data are not here, or it is of an interval
            continue
        table = problem.to_table()
        own = [notion for notion in table["privacy"] if "secret" not in notion]
        fits = len(own) == len(table["privacy"]) == 1 and own[0]["notion"] in NOTIONS
        utility, size = table["utility"], len(problem.domain)
        is_risk = utility["objective"] in RISKS and not utility.get("worst_case")
        if fits and (utility["objective"] in OBJECTIVES or (is_risk and size <= MOST_FOR_RISK)):
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


def random_problem(draw: random.Random) -> Problem:
    """Return a problem on up to seven numbers, or on a small grid."""
    worst = draw.random() < 0.4
    if draw.random() < 0.2:
        domain = Domain.grid(2, draw.randint(2, 3), draw.choice(["1", "0.5"]))
        distance = draw.choice(["euclidean", "manhattan"])
        notion = draw.choice(
            [MetricPrivacy("0.9", distance), BlockLDP("1", None, 1, 2), LIP("0.6")]
        )
        choices = [HammingLoss(worst_case=worst), EuclideanDistance(worst_case=worst)]
    else:
        domain = Domain(sorted(draw.sample(range(20), draw.randint(2, 7))))
        notion = a_notion(draw, len(domain), ("0.2", "0.7", "1.6"))
        choices = [
            MeanAbsoluteError(worst_case=worst),
            MeanSquaredDistance(worst_case=worst),
            PosteriorMeanSquaredError(histogram=True),
            PosteriorMeanSquaredError(values=range(len(domain))),
            MutualInformation(),
            BayesAccuracy(),
            L2Risk(),
            TVRisk(),
        ]
    weights = [draw.choice([1, 1, 2, 5, 20]) for _ in domain.labels]
    prior = [Fraction(weight, sum(weights)) for weight in weights]
    return Problem(domain, notion, draw.choice(choices), prior=prior)


def test_random_problems_are_proved_and_as_good_as_by_the_library() -> None:
    draw, problems = random.Random(3), list[Problem]()
    while len(problems) < 80:
        try:
            problems.append(random_problem(draw))
        except InputError:  # the notion names inputs that are not there
            continue
    found = in_node([{"kind": "design", "problem": stated(problem)} for problem in problems])
    refused = [result["error"] for result in found if "error" in result]
    assert all("extreme rays" in error for error in refused), refused  # budgets too wide for floats
    assert len(refused) < 10
    for problem, result in zip(problems, found, strict=True):
        if "error" in result:
            continue
        document = result["document"]
        verify(document)
        wanted = float(design(problem).value)
        assert document["value"] == pytest.approx(wanted, rel=1e-8, abs=1e-12), problem


def test_a_risk_that_is_infinite_or_too_large_for_the_page_is_refused() -> None:
    nothing, large = stated(Problem(3, LDP(1), L2Risk())), stated(Problem(9, LDP(1), TVRisk()))
    nothing["privacy"]["epsilon"] = "0"  # the library refuses to state it
    tasks = [{"kind": "design", "problem": problem} for problem in (nothing, large)]
    infinite, refused = (result["error"] for result in in_node(tasks))
    assert "the risk is infinite" in infinite
    assert "at most 300 extreme rays, and the notion has 510" in refused


def test_a_bound_that_is_raised_is_refused(designed: Designed) -> None:
    for problem, document in designed:
        sign = -1 if document["sense"] == "maximize" else 1
        value = document["value"]
        bound = value + sign * 1e-3 * abs(value)
        claims = {"bound": bound, "gap": relative_gap(value, bound), "status": "bounded"}
        forged = {**document, **claims}
        with pytest.raises(CertificateError, match="bound proved"):
            verify(sealed(forged))
        assert problem.title


def test_problems_are_written_as_toml_that_the_library_reads(tmp_path: Path) -> None:
    maps = json.loads((EXPLORER / "atlas.json").read_text(encoding="utf-8"))["formulas"]
    problems = [table["problems"][-1] for table in maps if table["problems"][-1]]
    problems += [stated(problem) for problem in of_the_page()]
    texts = in_node([{"kind": "toml", "problem": problem} for problem in problems])
    for number, (problem, text) in enumerate(zip(problems, texts, strict=True)):
        path = tmp_path / f"{number}.toml"
        path.write_text(text, encoding="utf-8")
        assert stated(load_problem_on_labels(path)) == problem, text


def test_randomized_response_is_the_largest_truth_that_is_private() -> None:
    problem = load_problem_on_labels(PROBLEMS / "classic" / "randomized_response.toml")
    (found,) = in_node([{"kind": "randomized-response", "problem": stated(problem)}])
    assert found["value"] == pytest.approx(float(design(problem).value), rel=1e-9)


# The repair of the page against that of the library, integer by integer.


N_PROBLEMS = 1000
WHOLE = 2.0**62
BUDGETS = ("0", "0.01", "0.3", "1", "2.7", "9")


def a_problem(draw: random.Random) -> Problem:
    """Return a problem with one of the notions, on up to twelve numbers or on a small grid."""
    if draw.random() < 0.1:
        rows, columns = draw.randint(2, 4), draw.randint(2, 4)
        grid = Domain.grid(rows, columns, draw.choice(["1", "0.25"]))
        notion = MetricPrivacy(draw.choice(["0.3", "1"]), draw.choice(["euclidean", "manhattan"]))
        return Problem(grid, notion, HammingLoss())
    size = draw.randint(2, 12)
    weights = [draw.randint(1, 20) for _ in range(size)]
    prior = [Fraction(w, sum(weights)) for w in weights]
    return Problem(list(range(size)), a_notion(draw, size, BUDGETS), HammingLoss(), prior=prior)


def near_its_cone(problem: Problem, draw: random.Random) -> npt.NDArray[np.float64]:
    """Return a matrix as a solver would: in the cone but for its tolerance, or far from it."""
    rng = np.random.default_rng(draw.randrange(2**32))
    k = len(problem.domain)
    matrix = rng.dirichlet(np.full(k, draw.choice([0.1, 1.0])), size=k)
    if draw.random() < 0.8:
        numerators, kept = repair(problem.cone, matrix)
        matrix = np.zeros((k, k))
        matrix[:, kept] = numerators / WHOLE
        matrix += rng.normal(scale=draw.choice([1e-9, 1e-12, 1e-16]), size=matrix.shape)
    return matrix


def test_a_thousand_channels_are_repaired_to_the_same_integers() -> None:
    draw = random.Random(16)
    problems = [a_problem(draw) for _ in range(N_PROBLEMS)]
    matrices = [near_its_cone(problem, draw) for problem in problems]
    tasks = [
        {"kind": "repair", "problem": stated(problem), "matrix": matrix.tolist()}
        for problem, matrix in zip(problems, matrices, strict=True)
    ]
    for problem, matrix, found in zip(problems, matrices, in_node(tasks), strict=True):
        numerators, kept = repair(problem.cone, matrix)
        assert found["kept"] == kept, problem
        assert [list(map(int, row)) for row in found["numerators"]] == numerators.tolist(), problem


def test_bounds_on_exponentials_and_roots_are_the_same_rationals() -> None:
    numbers = [Fraction(n, d) for n in (0, 1, 2, 7, 50, 4097) for d in (1, 3, 10, 997)]
    tasks = [
        {"kind": kind, "text": f"{number.numerator}/{number.denominator}"}
        for kind in ("exponential", "root")
        for number in numbers
    ]
    wanted = [*map(exp_lower, numbers), *map(sqrt_lower, numbers)]
    assert in_node(tasks) == [fraction_text(number) for number in wanted]
