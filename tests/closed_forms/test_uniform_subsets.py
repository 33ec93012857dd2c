"""LDP at a uniform prior, where the inputs are worth the same: k shifted sets are optimal."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechdesign import (
    LDP,
    LIP,
    BayesAccuracy,
    CertificateError,
    MeanAbsoluteError,
    MutualInformation,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    design,
)
from mechdesign.closed_forms import UniformSubsets
from mechdesign.evidence.symmetric import symmetric
from mechdesign.kernel import verify
from mechdesign.kernel.schema import write
from mechdesign.utilities import Utility
from solvers import SOLVERS
from tests.documents import refused

ALIKE = [MutualInformation(), BayesAccuracy(), PosteriorMeanSquaredError(histogram=True)]


def by_hand(k: int, epsilon: float, utility: Utility) -> float:
    """Return the best of k - 1 sizes from the definitions of the objectives."""
    top, found = math.exp(epsilon), []
    for j in range(1, k):
        q = np.array([top] * j + [1.0] * (k - j))
        r = q * k / q.sum()
        if isinstance(utility, MutualInformation):
            found.append(float((r * np.log(r)).sum()) / k)
        elif isinstance(utility, BayesAccuracy):
            found.append(r.max() / k)
        else:
            found.append(float((r**2).sum()) / k**2)
    return max(found) if utility.is_maximized else 1 - max(found)


@pytest.mark.parametrize("utility", ALIKE, ids=lambda u: u.name)
@pytest.mark.parametrize("k", [3, 4, 5, 6])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_it_is_the_best_of_all_rays(k: int, epsilon: str, utility: Utility) -> None:
    problem = Problem(range(k), LDP(epsilon), utility)
    solution = design(problem)
    assert solution.route == "closed-form: subset selection by shifts"
    assert solution.status == "optimal"
    assert solution.channel.shape == (k, k)
    assert float(solution.value) == pytest.approx(SOLVERS["vertices"](problem).value, rel=1e-7)
    assert float(solution.value) == pytest.approx(by_hand(k, float(epsilon), utility), rel=1e-12)
    assert LDP(epsilon).holds(solution.channel)
    assert not LDP(Fraction(epsilon) - Fraction(1, 10**6)).holds(solution.channel)
    verify(json.loads(json.dumps(solution.document())))


@pytest.mark.parametrize("utility", ALIKE, ids=lambda u: u.name)
def test_a_hundred_inputs_have_a_proof_of_a_few_lines(utility: Utility) -> None:
    solution = design(Problem(range(100), LDP(2), utility))
    assert len(json.dumps(solution.document()["certificate"])) < 1000
    assert solution.gap < 1e-12
    assert float(solution.value) == pytest.approx(by_hand(100, 2.0, utility), rel=1e-12)


def test_what_it_is_not_for() -> None:
    info = MutualInformation()

    def both(notion: Any, utility: Utility, prior: Any = None) -> tuple[bool, bool]:
        problem = Problem(range(4), notion, utility, prior=prior)
        try:
            certificate = symmetric(problem.compiled)
            bound = certificate.bound(problem.compiled.statement)
        except CertificateError:
            return UniformSubsets().decide(problem).holds, False
        best = problem.compiled.statement.sign * design(problem).value
        assert bound <= best
        proves = math.isclose(bound, best, rel_tol=1e-9)
        return UniformSubsets().decide(problem).holds, proves

    assert both(LDP(1), info) == (True, True)
    assert both([LDP(1), LDP(2)], info) == (False, True)
    assert both(LDP(1), info, [0.1, 0.2, 0.3, 0.4]) == (False, False)
    assert both(LIP(1), info, Prior.uniform(4)) == (False, True)  # as it is for lifts too
    assert both(LDP(1), PosteriorMeanSquaredError([0, 1, 2, 3])) == (False, False)
    assert both(LDP(1), MeanAbsoluteError()) == (False, False)


def test_off_its_region_the_theorem_is_refused_and_the_rays_are_asked() -> None:
    problem = Problem(range(4), LDP(1), MutualInformation(), prior=[0.1, 0.2, 0.3, 0.4])
    skewed = design(problem)
    assert skewed.route.startswith("extreme-rays")
    document = json.loads(json.dumps(skewed.document()))
    document["certificate"] = json.loads(json.dumps(write(symmetric(problem.compiled))))
    refused(document, "distinguish inputs of a group")
