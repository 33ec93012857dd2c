"""A uniform prior, where the inputs are worth the same: cyclic shifts of one ray are optimal."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    BayesAccuracy,
    BoundedPriorLIP,
    CertificateError,
    Channel,
    HammingLoss,
    MeanAbsoluteError,
    MutualInformation,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    design,
)
from mechdesign.closed_forms import ClosedForm, RandomizedResponse, UniformLift, UniformSubsets
from mechdesign.closed_forms.size_classes import best_lift
from mechdesign.evidence.formulas import symmetric
from mechdesign.kernel import verify
from mechdesign.kernel.schema import write
from mechdesign.notions import Notion
from mechdesign.utilities import Utility
from tests.closed_forms.test_universal import rays_of, tenths
from tests.documents import refused
from tests.strategies import ORACLE, examples, lp_optimum

INFORMATION = MutualInformation()
ALIKE: list[Utility] = [
    INFORMATION,
    BayesAccuracy(),
    PosteriorMeanSquaredError(histogram=True),
    HammingLoss(),
]
FORMS: tuple[ClosedForm, ...] = (RandomizedResponse(), UniformSubsets(), UniformLift())
UNIFORM, SKEWED = ["1/4"] * 4, ["0.1", "0.2", "0.3", "0.4"]


def form_of(problem: Problem) -> ClosedForm | None:
    """Return the form that holds, of which there is at most one."""
    (found,) = [form for form in FORMS if form.holds(problem)] or [None]
    return found


def symmetric_bound(problem: Problem) -> Fraction:
    """What the rays that are alike prove, in the sense of the problem."""
    statement = problem.compiled.statement
    return statement.sign * symmetric(problem.compiled).bound(statement)


def by_hand(k: int, epsilon: float, utility: Utility) -> float:
    """Return the best of k - 1 sizes under LDP from the definitions of the objectives."""
    top, found = math.exp(epsilon), []
    for j in range(1, k):
        q = np.array([top] * j + [1.0] * (k - j))
        r = q * k / q.sum()
        if isinstance(utility, MutualInformation):
            found.append(float((r * np.log(r)).sum()) / k)
        elif isinstance(utility, PosteriorMeanSquaredError):
            found.append(float((r**2).sum()) / k**2)
        else:
            found.append(r.max() / k)
    return max(found) if utility.is_maximized else 1 - max(found)


@pytest.mark.parametrize("utility", ALIKE, ids=lambda u: u.name)
@pytest.mark.parametrize("make", [LDP, LIP, PML, lambda e: AsymmetricLift(e, "1.1")])
@pytest.mark.parametrize("k", [3, 4, 7])
@pytest.mark.parametrize("epsilon", ["0.05", "0.4", "1", "1.09"])
def test_cyclic_shifts_are_optimal(
    make: Callable[[str], Any], k: int, epsilon: str, utility: Utility
) -> None:
    problem = Problem(range(k), make(epsilon), utility, prior=Prior.uniform(k))
    form = form_of(problem)
    assert form is not None
    found = form.optimum(problem).formula()
    channel = Channel.from_matrix(found.matrix, inputs=problem.domain, outputs=found.outputs)
    assert found.matrix.shape == (k, k)
    assert np.all(problem.cone.matrix() @ found.matrix <= 1e-15)
    value = float(utility.value(channel, problem.prior, problem.outputs))
    assert float(symmetric_bound(problem)) == pytest.approx(value, abs=1e-14)
    route = "linear-program" if isinstance(utility, HammingLoss) else "extreme-rays"
    assert value == pytest.approx(float(design(problem, route=route).value), abs=1e-7)
    solution = design(problem)
    assert solution.route.startswith("closed-form")
    assert solution.status == "optimal"
    verify(json.loads(json.dumps(solution.document())))
    notion = problem.privacy[0]
    assert notion.holds(solution.channel, problem.prior)
    if make is LDP:
        assert value == pytest.approx(by_hand(k, float(epsilon), utility), rel=1e-12)
    if not isinstance(notion, AsymmetricLift):
        less = type(notion)(Fraction(epsilon) - Fraction(1, 10**6))
        assert not less.holds(solution.channel, problem.prior)


@pytest.mark.parametrize("utility", ALIKE[:3], ids=lambda u: u.name)
def test_a_hundred_inputs_have_a_proof_of_a_few_lines(utility: Utility) -> None:
    solution = design(Problem(range(100), LDP(2), utility))
    assert solution.route == "closed-form: subset selection by shifts"
    assert len(json.dumps(solution.document()["certificate"])) < 1000
    assert solution.gap < 1e-12
    assert float(solution.value) == pytest.approx(by_hand(100, 2.0, utility), rel=1e-12)


def test_it_is_offered_where_the_published_formula_is_not() -> None:
    """k - 1 <= e**eps is the region of randomized response for LIP."""
    routes = {
        epsilon: design(Problem(range(5), LIP(epsilon), INFORMATION, prior=Prior.uniform(5))).route
        for epsilon in ("1.38", "1.39")
    }
    assert routes == {
        "1.38": "closed-form: uniform lifts",
        "1.39": "closed-form: LIP randomized response",
    }


SYMMETRIC: list[tuple[Any, Utility, Any, bool, bool]] = [
    (LDP(1), INFORMATION, UNIFORM, True, True),
    ([LDP(1), LDP(2)], INFORMATION, UNIFORM, False, True),
    (LDP(1), INFORMATION, SKEWED, False, False),
    (LDP(1), PosteriorMeanSquaredError([0, 1, 2, 3]), UNIFORM, False, False),
    (LDP(1), MeanAbsoluteError(), UNIFORM, False, False),
    (LIP(1), INFORMATION, UNIFORM, True, True),
    (LIP(1), INFORMATION, SKEWED, False, False),
    (LIP(1), PosteriorMeanSquaredError([0, 1, 2, 3]), UNIFORM, False, False),
    (LIP(1), MeanAbsoluteError(), UNIFORM, False, False),
    (LIP(1), HammingLoss(worst_case=True), UNIFORM, False, True),
    ([LIP(1), LDP("1.5")], INFORMATION, UNIFORM, False, True),
    (BoundedPriorLIP(1, priors=[UNIFORM]), INFORMATION, UNIFORM, True, True),
    (BoundedPriorLIP(1, priors=[SKEWED]), INFORMATION, UNIFORM, False, False),
    (BoundedPriorLIP(1, center=UNIFORM, radius="0.1"), INFORMATION, UNIFORM, False, False),
]


@pytest.mark.parametrize(("notion", "utility", "prior", "holds", "proves"), SYMMETRIC)
def test_what_they_are_for(
    notion: Notion, utility: Utility, prior: Any, holds: bool, proves: bool
) -> None:
    """Whether a form holds, and whether the bound of rays that are alike is the optimum."""
    problem = Problem(range(4), notion, utility, prior=prior)
    assert (form_of(problem) is not None) is holds
    sign, best = problem.compiled.statement.sign, design(problem).value
    try:
        bound = symmetric_bound(problem)
    except CertificateError:
        assert not proves
        return
    assert sign * bound <= sign * best
    assert math.isclose(bound, best, rel_tol=1e-9) is proves


def test_outputs_of_the_hamming_loss() -> None:
    for outputs, holds in (([2, 1, 0, 3, "other"], True), ([2, 1], False)):
        problem = Problem(range(4), LIP(1), HammingLoss(), prior=UNIFORM, outputs=outputs)
        assert UniformLift().holds(problem) is holds


def test_off_its_region_the_theorem_is_refused_and_the_rays_are_asked() -> None:
    problem = Problem(range(4), LDP(1), INFORMATION, prior=SKEWED)
    skewed = design(problem)
    assert skewed.route.startswith("extreme-rays")
    document = json.loads(json.dumps(skewed.document()))
    document["certificate"] = json.loads(json.dumps(write(symmetric(problem.compiled))))
    refused(document, "distinguish inputs of a group")


@pytest.mark.slow
@examples(60)
@given(st.integers(2, 5), tenths(0, 30) | st.just("inf"), tenths(0, 30) | st.just("inf"))
def test_all_extreme_lifts_are_permutations_of_one(k: int, lower: Any, upper: Any) -> None:
    notion = AsymmetricLift(lower, upper)
    assume("inf" in (lower, upper) or lower * upper > 0 or k < 5)
    problem = Problem(range(k), notion, INFORMATION, prior=Prior.uniform(k))
    assume(UniformLift().holds(problem))
    ours = np.sort(best_lift(problem.cone.families[0]))  # type: ignore[arg-type]
    assert ours.sum() == pytest.approx(k)
    for ray in rays_of(problem):
        assert np.sort(ray * k / ray.sum()) == pytest.approx(ours, abs=1e-4)


@examples(24)
@given(st.integers(2, 4), tenths(0, 30), tenths(0, 30), st.data())
def test_the_bound_of_uniform_lifts_holds_for_hamming_loss_with_any_outputs(
    k: int, lower: Fraction, upper: Fraction, data: Any
) -> None:
    outputs = data.draw(st.lists(st.sampled_from([*range(4), "?"]), min_size=1, unique=True))
    problem = Problem(
        range(k),
        AsymmetricLift(lower, upper),
        HammingLoss(),
        prior=Prior.uniform(k),
        outputs=outputs,
    )
    assert float(symmetric_bound(problem)) <= lp_optimum(problem).value + ORACLE
