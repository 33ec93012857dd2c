"""The bound of local differential privacy at the budget that other notions imply."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from mechdesign import (
    LDP,
    LIP,
    PML,
    BoundedPriorLIP,
    CertificateError,
    ContextAwareLDP,
    L2Risk,
    MetricPrivacy,
    Problem,
    TVRisk,
    design,
)
from mechdesign.evidence.unconstrained import nothing_constrained
from mechdesign.kernel import verify
from mechdesign.kernel.relaxations import Implied
from mechdesign.notions import Notion
from mechdesign.search.estimation_risk import solve
from mechdesign.search.estimation_risk.relaxation import relaxed
from mechdesign.search.rays import enumerate as listing

PRIOR = [0.1, 0.2, 0.3, 0.4]
E = [[0, 1, "inf", 2], ["0.5", 0, 1, "inf"], [2, "inf", 0, 1], ["inf", 1, 1, 0]]
CASES: list[tuple[Notion, str | None]] = [
    (LDP(1), "1"),
    (LIP("0.3"), "0.6"),
    (BoundedPriorLIP("0.3", center=PRIOR, radius="0.05"), "0.6"),
    (MetricPrivacy("0.5", "absolute"), "1.5"),
    (ContextAwareLDP(E), "2"),
    (PML(1), None),
]


@pytest.mark.parametrize(("notion", "budget"), CASES)
def test_the_budget_is_the_longest_chain_of_bounds(notion: Notion, budget: str | None) -> None:
    problem = Problem(range(4), notion, L2Risk(), prior=PRIOR)
    statement, found = problem.compiled.statement, relaxed(problem, None)
    if budget is None:
        assert found is None
        with pytest.raises(CertificateError, match="no ratio of all pairs is bounded"):
            Implied()(statement)
        return
    assert found is not None
    (ratio,) = Implied()(statement).ratios
    assert ratio.exponents.at(0, 1, up=True) == Fraction(budget)
    (implied,) = found.privacy
    assert float(implied.epsilon) == pytest.approx(float(budget))  # type: ignore[attr-defined]


@pytest.mark.parametrize("utility", [L2Risk(), TVRisk(), L2Risk(worst_case=True), TVRisk(True)])
@pytest.mark.parametrize("notion", [notion for notion, budget in CASES[1:] if budget])
def test_no_private_channel_is_below_the_bound(
    notion: Notion, utility: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rays are not listed there is a bound above that without privacy, and it holds.

    It is the best of three.
    """
    problem = Problem(range(4), notion, utility, prior=PRIOR)
    optimum = design(problem)
    monkeypatch.setattr(listing, "MOST_RAYS", 3)
    best = design(problem)
    monkeypatch.setattr(solve, "product_bound", lambda *_: None)
    monkeypatch.setattr(solve, "separable_bound", lambda *_: None)
    solution = design(problem)
    assert solution.bound * (1 - Fraction(1, 10**6)) <= best.bound <= optimum.value
    assert solution.certificate is not None
    assert Implied() in solution.certificate.relaxations
    verify(json.loads(json.dumps(best.document())))
    blind = nothing_constrained(problem.compiled)
    assert blind is not None
    assert solution.bound > blind.bound(problem.compiled.statement)
    verify(json.loads(json.dumps(solution.document())))
