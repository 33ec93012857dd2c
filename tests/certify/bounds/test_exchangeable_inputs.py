"""The theorem on exchangeable inputs: subset selection attains it under LDP, nothing passes it."""

from __future__ import annotations

from itertools import combinations
from math import pi, sqrt
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    CertificateError,
    HammingLoss,
    HighLowLDP,
    L2Risk,
    Problem,
    TVRisk,
)
from mechdesign.certify.proof import THEOREMS
from mechdesign.notions import Notion
from mechdesign.resources import counted
from mechdesign.utilities import EstimationRisk
from tests.strategies import statement_of


def bound(notion: Any, utility: Any, k: int, prior: Any = None) -> float:
    prior = prior or md.Prior.uniform(k)
    return float(
        THEOREMS["subset-selection"](
            statement_of(Problem(list(range(k)), notion, utility, prior=prior))
        )
    )


def risks(entries: list[float]) -> tuple[float, float]:
    """Return the l2-risk and the tv-risk of all permutations of a column, at the uniform prior."""
    k = len(entries)
    columns = np.unique(list(_permuted(entries)), axis=0).T
    channel = columns / columns.sum(axis=1, keepdims=True)
    information = channel @ np.diag(1 / channel.mean(axis=0)) @ channel.T
    inverse = np.linalg.inv(information)
    deviations = np.sqrt(np.diag(inverse) - 1 / k**2)
    return float(np.trace(inverse) - 1 / k), float(sqrt(2 / pi) / 2 * deviations.sum())


def _permuted(entries: list[float]) -> Any:
    low, high = min(entries), max(entries)
    between = [e for e in entries if e not in (low, high)]
    k, j = len(entries), entries.count(high)
    for raised in combinations(range(k), j):
        for middle in [z for z in range(k) if z not in raised] if between else [None]:
            column = [high if x in raised else low for x in range(k)]
            if middle is not None:
                column[middle] = between[0]
            yield column


@pytest.mark.parametrize("k", [2, 3, 4, 5])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_under_ldp_it_is_the_risk_of_the_best_subset_selection(k: int, epsilon: float) -> None:
    found = [risks([np.exp(epsilon)] * j + [1.0] * (k - j)) for j in range(1, k)]
    for which, utility in enumerate((L2Risk(), TVRisk())):
        best = min(risk[which] for risk in found)
        assert bound(LDP(epsilon), utility, k) == pytest.approx(best, rel=1e-9)
        assert bound([LDP(9), LDP(epsilon)], utility, k) == pytest.approx(best, rel=1e-9)


LIFTS = [
    (LIP("0.5"), np.exp(-0.5), np.exp(0.5)),
    (PML("0.3"), 0.0, np.exp(0.3)),
    (AsymmetricLift(upper="0.4", lower="0.2"), np.exp(-0.2), np.exp(0.4)),
]


@pytest.mark.parametrize(("notion", "low", "high"), LIFTS, ids=lambda part: str(part)[:8])
@pytest.mark.parametrize("k", [3, 4, 5])
def test_under_bounds_on_the_lift_it_is_the_risk_of_the_vertices(
    notion: Notion, low: float, high: float, k: int
) -> None:
    """As many lifts are at the top as the mean of 1 allows, one is between, the others below."""
    raised = int(k * (1 - low) / (high - low))
    between = k - raised * high - (k - 1 - raised) * low
    entries = [high] * raised + [between] + [low] * (k - 1 - raised)
    for utility, risk in zip((L2Risk(), TVRisk()), risks(entries), strict=True):
        assert bound(notion, utility, k) == pytest.approx(risk, rel=1e-9)


@pytest.mark.parametrize("utility", [L2Risk(), TVRisk(), L2Risk(worst_case=True)], ids=str)
@pytest.mark.parametrize("notion", [LDP("0.8"), LIP("0.6"), PML("0.9"), LDP(800)], ids=str)
def test_no_channel_passes_it(notion: Notion, utility: Any) -> None:
    problem = Problem(range(4), notion, utility, prior=md.Prior.uniform(4))
    assert bound(notion, utility, 4) <= float(md.design(problem).value) * (1 + 1e-12)


def test_one_input_has_no_risk() -> None:
    assert bound(LDP(1), L2Risk(), 1) == 0


REFUSED = [
    (LDP(1), HammingLoss(), None, "is no bound on the objective"),
    (LDP(1), L2Risk(), ["0.5", "0.3", "0.2"], "uniform prior"),
    (LIP(1), L2Risk(worst_case=True), ["0.5", "0.3", "0.2"], "needs LDP"),
    (HighLowLDP(1, [0]), L2Risk(), None, "needs a notion"),
]


@pytest.mark.parametrize(("notion", "utility", "prior", "why"), REFUSED)
def test_it_speaks_of_risks_at_a_uniform_prior_only(
    notion: Notion, utility: Any, prior: Any, why: str
) -> None:
    with pytest.raises(CertificateError, match=why):
        bound(notion, utility, 3, prior)


@pytest.mark.parametrize("utility", [L2Risk(), TVRisk(), HammingLoss()])
def test_the_work_grows_with_the_inputs_and_not_with_their_pairs(utility: Any) -> None:
    theorem = "subset-selection" if isinstance(utility, EstimationRisk) else "randomized-response"
    spent = []
    for k in (100, 1000):
        statement = statement_of(Problem(range(k), LDP(1), utility, prior=md.Prior.uniform(k)))
        with counted() as work:
            THEOREMS[theorem](statement)
        spent.append(work.spent)
    assert 0 < spent[0] < spent[1] < 20 * spent[0]
