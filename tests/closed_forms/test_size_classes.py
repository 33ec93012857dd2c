"""Symmetric problems: shifts of one ray, and subset selection under high-low LDP, are optimal."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.optimize import minimize

import mechdesign as md
from mechdesign import LDP, LIP, PML, Channel, HammingLoss, L2Risk, Prior, Problem, design
from mechdesign.closed_forms import ClosedForm, RandomizedResponse, UniformLift, UniformSubsets
from mechdesign.closed_forms.size_classes import HighLowSubsetSelection, best_lift
from mechdesign.evidence.formulas import symmetric
from mechdesign.kernel.schema import write
from mechdesign.notions import Notion
from mechdesign.utilities import Utility
from tests.closed_forms.test_universal import rays_of, tenths
from tests.documents import as_read, proved, refused
from tests.strategies import ORACLE, examples, lp_optimum

INFORMATION = md.MutualInformation()
ALIKE: list[Utility] = [
    INFORMATION,
    md.BayesAccuracy(),
    md.PosteriorMeanSquaredError(histogram=True),
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
        if isinstance(utility, md.MutualInformation):
            found.append(float((r * np.log(r)).sum()) / k)
        elif isinstance(utility, md.PosteriorMeanSquaredError):
            found.append(float((r**2).sum()) / k**2)
        else:
            found.append(r.max() / k)
    return max(found) if utility.is_maximized else 1 - max(found)


@pytest.mark.parametrize("utility", ALIKE, ids=lambda u: u.name)
@pytest.mark.parametrize("make", [LDP, LIP, PML, lambda e: md.AsymmetricLift(e, "1.1")])
@pytest.mark.parametrize("k", [3, 4, 6])
@pytest.mark.parametrize("epsilon", ["0.05", "1", "1.09"])
def test_cyclic_shifts_are_optimal(
    make: Callable[[str], Any], k: int, epsilon: str, utility: Utility
) -> None:
    problem = Problem(range(k), make(epsilon), utility, prior=Prior.uniform(k))
    form = form_of(problem)
    found = form.optimum(problem).formula()
    channel = Channel.from_matrix(found.matrix, inputs=problem.domain, outputs=found.outputs)
    assert found.matrix.shape == (k, k)
    assert np.all(problem.cone.matrix() @ found.matrix <= 1e-15)
    value = float(utility.value(channel, problem.prior, problem.outputs))
    assert float(symmetric_bound(problem)) == pytest.approx(value, abs=1e-14)
    route = "linear-program" if isinstance(utility, HammingLoss) else "extreme-rays"
    assert value == pytest.approx(float(design(problem, route=route).value), abs=1e-7)
    solution = proved(problem)
    assert solution.route.startswith("closed-form")
    notion = problem.privacy[0]
    if make is LDP:
        assert value == pytest.approx(by_hand(k, float(epsilon), utility), rel=1e-12)
    if not isinstance(notion, md.AsymmetricLift):
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
    for epsilon, name in (("1.38", "uniform lifts"), ("1.39", "LIP randomized response")):
        solution = design(Problem(range(5), LIP(epsilon), INFORMATION, prior=Prior.uniform(5)))
        assert solution.route == f"closed-form: {name}"


SYMMETRIC: list[tuple[Any, Utility, Any, bool, bool]] = [
    (LDP(1), INFORMATION, UNIFORM, True, True),
    ([LDP(1), LDP(2)], INFORMATION, UNIFORM, False, True),
    (LDP(1), INFORMATION, SKEWED, False, False),
    (LDP(1), md.PosteriorMeanSquaredError([0, 1, 2, 3]), UNIFORM, False, False),
    (LDP(1), md.MeanAbsoluteError(), UNIFORM, False, False),
    (LIP(1), INFORMATION, UNIFORM, True, True),
    (LIP(1), INFORMATION, SKEWED, False, False),
    (LIP(1), md.PosteriorMeanSquaredError([0, 1, 2, 3]), UNIFORM, False, False),
    (LIP(1), md.MeanAbsoluteError(), UNIFORM, False, False),
    (LIP(1), HammingLoss(worst_case=True), UNIFORM, False, True),
    ([LIP(1), LDP("1.5")], INFORMATION, UNIFORM, False, True),
    (md.BoundedPriorLIP(1, priors=[UNIFORM]), INFORMATION, UNIFORM, True, True),
    (md.BoundedPriorLIP(1, priors=[SKEWED]), INFORMATION, UNIFORM, False, False),
    (md.BoundedPriorLIP(1, center=UNIFORM, radius="0.1"), INFORMATION, UNIFORM, False, False),
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
    except md.CertificateError:
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
    document = {**as_read(skewed), "certificate": write(symmetric(problem.compiled))}
    refused(document, "distinguish inputs of a group")


@pytest.mark.slow
@examples(40)
@given(st.integers(2, 4), tenths(0, 30) | st.just("inf"), tenths(0, 30) | st.just("inf"))
def test_all_extreme_lifts_are_permutations_of_one(k: int, lower: Any, upper: Any) -> None:
    notion = md.AsymmetricLift(lower, upper)
    assume("inf" in (lower, upper) or lower * upper > 0 or k < 5)
    problem = Problem(range(k), notion, INFORMATION, prior=Prior.uniform(k))
    assume(UniformLift().holds(problem))
    ours = np.sort(best_lift(problem.cone.families[0]))
    assert ours.sum() == pytest.approx(k)
    for ray in rays_of(problem):
        assert np.sort(ray * k / ray.sum()) == pytest.approx(ours, abs=1e-4)


@examples(24)
@given(st.integers(2, 4), tenths(0, 30), tenths(0, 30), st.data())
def test_the_bound_of_uniform_lifts_holds_for_hamming_loss_with_any_outputs(
    k: int, lower: Fraction, upper: Fraction, data: Any
) -> None:
    outputs = data.draw(st.lists(st.sampled_from([*range(4), "?"]), min_size=1, unique=True))
    notion, prior = md.AsymmetricLift(lower, upper), Prior.uniform(k)
    problem = Problem(range(k), notion, HammingLoss(), prior=prior, outputs=outputs)
    assert float(symmetric_bound(problem)) <= lp_optimum(problem).value + ORACLE


ROUTE = "closed-form: high-low subset selection"


def problem(
    k: int, s: int, epsilon: Any, utility: Any = None, prior: Any = None, **options: Any
) -> Problem:
    return Problem(
        range(k), md.HighLowLDP(epsilon, list(range(s))), utility or L2Risk(**options), prior=prior
    )


def risk(matrix: Any, prior: Any) -> float:
    """Return tr M**-1 - |P|**2 of a channel, from the definition."""
    law = prior @ matrix
    M = (matrix / law) @ matrix.T
    return float(np.trace(np.linalg.inv(M)) - prior @ prior)


def best_mixture(s: int, prior: Any, epsilon: float) -> tuple[float, list[int]]:
    """Return the least l2 risk over mixtures of all sizes, and the sizes that are used."""
    k, top = len(prior), math.exp(epsilon)
    parts = []
    for j in range(1, s):
        sets = list(itertools.combinations(range(s), j))
        part = np.array([[top if x in chosen else 1.0 for chosen in sets] for x in range(k)])
        parts.append(part / part[0].sum())
    alone = np.eye(k)[:, s:]

    def channel(shares: Any) -> Any:
        sets = np.hstack([t * part for t, part in zip(shares, parts, strict=True)])
        return np.hstack([sets, alone * (1 - sets[-1].sum())])

    found = minimize(
        lambda t: risk(channel(np.maximum(t, 1e-12) / np.maximum(t, 1e-12).sum()), prior),
        np.full(s - 1, 1 / (s - 1)),
        bounds=[(0, 1)] * (s - 1),
        method="L-BFGS-B",
        options={"ftol": 1e-14, "gtol": 1e-10, "maxiter": 500},
    )
    shares = found.x / found.x.sum()
    return found.fun, [j + 1 for j, t in enumerate(shares) if t > 1e-3]


def sizes_of(given_problem: Problem) -> list[int]:
    words = HighLowSubsetSelection().decide(given_problem).reason.split(" of the ")[0].split()
    return [int(word) for word in words if word.isdigit()]


@pytest.mark.parametrize(("k", "s", "epsilon"), [(8, 4, "1"), (8, 6, "1.5"), (6, 5, "0.5")])
def test_it_is_the_best_mixture_of_all_sizes(k: int, s: int, epsilon: str) -> None:
    prior = np.full(k, 1 / k)
    least, used = best_mixture(s, prior, float(epsilon))
    solution = proved(problem(k, s, epsilon))
    assert solution.route == ROUTE
    assert float(solution.value) == pytest.approx(least, rel=1e-6)
    assert used == sizes_of(problem(k, s, epsilon))
    assert risk(solution.channel.matrix, prior) == pytest.approx(float(solution.value), rel=1e-9)


@examples(8)
@given(st.data())
def test_it_is_the_certified_optimum_wherever_the_sensitive_are_alike(data: st.DataObject) -> None:
    """The numeric route lists all rays; it knows nothing of sizes."""
    s = data.draw(st.integers(2, 5))
    others = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    own = data.draw(st.integers(1, 9))
    prior = md.Prior.from_counts([own] * s + others)
    epsilon = Fraction(data.draw(st.integers(2, 40)), 10)
    utility = data.draw(st.sampled_from([L2Risk(), md.TVRisk()]))
    given_problem = problem(s + len(others), s, epsilon, utility, prior)
    closed = proved(given_problem)
    listed = md.design(given_problem, route="estimation")
    assert closed.route == ROUTE
    assert float(closed.value) == pytest.approx(float(listed.value), rel=1e-7)
    assert not given_problem.privacy[0].at(epsilon - Fraction(1, 100)).holds(closed.channel)


def test_from_one_size_to_the_next_two_neighbors_are_mixed() -> None:
    """As the budget grows, sets get smaller one by one, each time through a mixture."""
    seen = [sizes_of(problem(8, 6, Fraction(n, 100))) for n in (30, 41, 50, *range(80, 200, 5))]
    assert [sizes for sizes, _ in itertools.groupby(seen)] == [[3], [2, 3], [2], [1, 2], [1]]


def test_outside_its_region_it_gives_a_reason_and_is_worse() -> None:
    uneven = ["0.02", "0.6", "0.08", "0.3"]
    form = HighLowSubsetSelection()
    assert "uniform on the sensitive" in str(form.decide(problem(4, 3, 1, prior=uneven)))
    assert not form.holds(problem(4, 3, 1, worst_case=True))
    assert not form.holds(problem(4, 3, "1e-15"))
    numeric = md.design(problem(4, 3, 1, prior=uneven))
    even = form.optimum(problem(4, 3, 1)).formula().matrix
    assert float(numeric.value) < risk(even, np.array([0.02, 0.6, 0.08, 0.3])) * (1 - 1e-4)


def test_a_large_budget_and_no_other_inputs_are_supported() -> None:
    everything = md.design(problem(4, 4, 1))
    plain = md.design(Problem(range(4), md.LDP(1), L2Risk()))
    assert float(everything.value) == pytest.approx(float(plain.value), rel=1e-9)
    loose = md.design(problem(5, 3, 40))
    assert float(loose.value) == pytest.approx(0.8, abs=1e-9)
