"""Theorems are bounds: each holds for all problems of its class, and refuses the others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    BoundedPriorLIP,
    CertificateError,
    ContextAwareLDP,
    Distortion,
    HammingLoss,
    MeanAbsoluteError,
    PosteriorMeanSquaredError,
    Problem,
)
from mechdesign.certify.proof import THEOREMS
from tests.strategies import (
    KINDS,
    ORACLE,
    Case,
    budgets,
    cases,
    distortions,
    examples,
    lp_optimum,
    optimum,
    statement_of,
    utilities,
)


def bound_of(theorem: str, problem: Problem) -> float:
    return float(THEOREMS[theorem](statement_of(problem)))


@st.composite
def any_problems(draw: st.DrawFn, kinds: tuple[str, ...], k: int | None = None) -> Problem:
    case = draw(cases(kinds, k=k))
    utility = draw(utilities(len(case.domain)))
    return Problem(case.domain, case.notion, utility, prior=case.prior)


BASE = Problem([0, 1], LDP(1), HammingLoss())
FREE = Problem([0, 1], ContextAwareLDP([["0", "inf"], ["1", "0"]]), HammingLoss())
FAR = Problem([0, 1], BoundedPriorLIP(1, center=[0.2, 0.8], radius="0.1"), HammingLoss())
WORST = Problem([0, 1], LDP(1), HammingLoss(worst_case=True))


@pytest.mark.slow
@examples(250)
@given(any_problems(KINDS, k=2))
def test_the_binary_theorem_gives_the_optimum(problem: Problem) -> None:
    bound, best = bound_of("binary-universal", problem), optimum(problem)
    assert bound <= best + ORACLE
    assert bound == pytest.approx(best, abs=ORACLE)


@pytest.mark.slow
@examples(200)
@given(any_problems(("lip", "lift"), k=3))
def test_the_erasure_theorem_never_passes_the_optimum(problem: Problem) -> None:
    notion = problem.privacy[0]
    assume(not isinstance(notion, AsymmetricLift) or notion.lower is not None)
    bound, best = bound_of("erasure", problem), optimum(problem)
    assert bound <= best + ORACLE
    if isinstance(notion, AsymmetricLift) and notion.upper is None:
        assert bound == pytest.approx(best, abs=ORACLE)


@examples(100)
@given(cases(KINDS).flatmap(lambda c: st.tuples(st.just(c), distortions(len(c.domain)))))
def test_doing_as_well_as_without_privacy_is_a_bound(pair: tuple[Case, Distortion]) -> None:
    case, utility = pair
    problem = Problem(case.domain, case.notion, utility, prior=case.prior)
    assert bound_of("nothing-constrained", problem) <= lp_optimum(problem).value + ORACLE


@examples(100)
@given(any_problems(KINDS), st.sampled_from(range(4)))
def test_equal_rows_are_best_under_a_budget_of_nothing(problem: Problem, which: int) -> None:
    k = len(problem.domain)
    chain = [["0" if z == x + 1 else "inf" for z in range(k)] for x in range(k)]
    tied = (LDP(0), PML(0), AsymmetricLift(0, "inf"), ContextAwareLDP(chain))[which]
    more = Problem(problem.domain, tied, problem.utility, prior=problem.prior)
    bound = bound_of("equal-rows", more)
    if not isinstance(more.utility, PosteriorMeanSquaredError):
        assert bound == pytest.approx(lp_optimum(more).value, abs=ORACLE)
        return
    f = more.utility.values(more.domain)
    variance = more.prior.mean([v * v for v in f]) - more.prior.mean(f) ** 2
    assert bound == pytest.approx(float(variance))


@examples(60)
@given(st.integers(1, 5), budgets(), st.data())
def test_randomized_response_is_best_for_hamming(k: int, epsilon: Fraction, data: Any) -> None:
    outputs = data.draw(st.lists(st.sampled_from([*range(5), "other"]), min_size=1, unique=True))
    problem = Problem(range(k), LDP(epsilon), HammingLoss(), outputs=outputs)
    bound, best = bound_of("randomized-response", problem), lp_optimum(problem).value
    assert bound <= best + ORACLE
    if set(range(k)) <= set(outputs):
        assert bound == pytest.approx(best, abs=ORACLE)


skewed = ["0.4", "0.6"]


@pytest.mark.parametrize(
    ("theorem", "problem"),
    [
        ("binary-universal", Problem([0, 1, 2], LDP(1), HammingLoss())),
        ("binary-universal", Problem([0], LDP(1), HammingLoss())),
        ("binary-universal", WORST),
        ("erasure", BASE),
        ("erasure", Problem([0, 1], PML(1), HammingLoss(), prior=skewed)),
        ("erasure", Problem([0, 1], AsymmetricLift("inf", 1), HammingLoss(), prior=skewed)),
        ("erasure", Problem([0, 1], LIP(1), HammingLoss(worst_case=True), prior=skewed)),
        ("erasure", FAR),
        ("equal-rows", BASE),
        ("equal-rows", Problem([0, 1], LDP("1e-30"), HammingLoss())),
        ("equal-rows", Problem([0, 1], LDP(0), HammingLoss(worst_case=True))),
        (
            "equal-rows",
            Problem(
                [0, 1, 2],
                ContextAwareLDP([["0", "0", "inf"], ["inf", "0", "inf"], ["inf", "inf", "0"]]),
                HammingLoss(),
            ),
        ),
        ("randomized-response", Problem([0, 1], LDP(1), HammingLoss(), prior=skewed)),
        ("randomized-response", WORST),
        ("randomized-response", Problem([0, 1], LDP(1), MeanAbsoluteError())),
        ("randomized-response", Problem([0, 1], LIP(1), HammingLoss(), prior=["0.5", "0.5"])),
        ("randomized-response", FREE),
    ],
)
def test_theorems_refuse_what_they_do_not_speak_of(theorem: str, problem: Problem) -> None:
    with pytest.raises(CertificateError):
        THEOREMS[theorem](statement_of(problem))


@examples(100)
@given(any_problems(KINDS), st.sampled_from(sorted(THEOREMS.keys() - {"simplicial"})))
def test_no_theorem_passes_the_optimum_of_any_problem(problem: Problem, theorem: str) -> None:
    assume(len(problem.domain) < 4)
    try:
        bound = bound_of(theorem, problem)
    except CertificateError:
        return
    assert bound <= optimum(problem) + ORACLE
