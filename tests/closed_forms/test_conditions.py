"""Both sides of the condition of every closed form, by examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign import LDP, LIP, PML, BlockLDP, Domain, HammingLoss, HighLowLDP, L2Risk, Problem
from mechdesign.closed_forms import CLOSED_FORMS

FORMS = {form.name: form for form in CLOSED_FORMS}
SKEWED, EVEN = ["0.2", "0.3", "0.5"], ["1/3"] * 3
HAMMING, WORST = HammingLoss(), HammingLoss(worst_case=True)
ONE_PAIR = md.ContextAwareLDP([["0", "0", "inf"], ["inf", "0", "inf"], ["inf", "inf", "0"]])
FAR = md.MetricPrivacy(1, [[0, 99, 99], [99, 0, 99], [99, 99, 0]])
CYCLE = md.ContextAwareLDP([["0", "1", "2.5"], ["2.5", "0", "1.5"], ["1", "2", "0"]])
FREE = [PML("1.7"), md.AsymmetricLift("inf", 3), BlockLDP(1, [[0], [1], [2]])]  # ln 5 = 1.609...


class Own(md.ColumnUtility):
    """A gain of the user's own, which no file can prove."""

    name = "own"

    def gain(self, columns: np.ndarray, prior: np.ndarray) -> np.ndarray:
        return columns.max(axis=0)


Case = tuple[Any, Any, dict[str, Any]]

HOLDS: dict[str, list[Case]] = {
    "binary universal": [(LDP(1), HAMMING, {"domain": 2})],
    "LIP randomized response": [(LIP(2), HAMMING, {})],
    "universal channel": [
        (CYCLE, HAMMING, {}),
        (CYCLE, L2Risk(), {}),
        (CYCLE, Own(), {}),
        (HighLowLDP(1, [0]), HAMMING, {}),
    ],
    "k-ary randomized response": [
        (LDP(1), HAMMING, {"prior": None}),
        (LDP(1), HAMMING, {"prior": EVEN}),
    ],
    "independent release": [
        ([LDP(5), PML(0)], HAMMING, {}),
        (md.DifferentialIdentifiability(0), HAMMING, {"prior": EVEN}),
    ],
    "identity": [(FREE, HAMMING, {})],
    "randomized response on bins": [
        (LDP(1), md.MeanAbsoluteError(), {}),
        (LDP(1), HAMMING, {"domain": Domain.grid(2, 2)}),
    ],
    "the likeliest inputs": [(md.MaximalLeakage("0.5"), md.BayesAccuracy(), {})],
}

REFUSED: dict[str, list[Case]] = {
    "binary universal": [
        (LDP(1), HAMMING, {}),
        (LDP(1), HAMMING, {"domain": 1}),
        (LDP(1), WORST, {"domain": 2}),
    ],
    "LIP randomized response": [
        (LDP(2), HAMMING, {}),
        ([LIP(2), LDP(2)], HAMMING, {}),
        (LIP(2), WORST, {}),
        (LIP("0.1"), HAMMING, {}),
    ],
    "universal channel": [
        (CYCLE, WORST, {}),
        (CYCLE, L2Risk(worst_case=True), {}),
        ([HighLowLDP(1, [0]), LDP(2)], HAMMING, {}),
        (HighLowLDP(1, [0]), HAMMING, {"domain": 1}),
    ],
    "k-ary randomized response": [
        (LDP(1), HAMMING, {}),
        (LDP(1), WORST, {"prior": EVEN}),
        (LDP(1), HAMMING, {"prior": EVEN, "outputs": [0, 1]}),
        (LDP(1), md.MeanAbsoluteError(), {"prior": EVEN}),
        ([LDP(1), LDP(2)], HAMMING, {"prior": EVEN}),
        (LIP(1), HAMMING, {"prior": EVEN}),
    ],
    "independent release": [
        (LDP("1e-30"), HAMMING, {}),
        (LDP(0), WORST, {}),
        (BlockLDP(0, [[0, 1], [2]]), HAMMING, {}),
        (ONE_PAIR, HAMMING, {}),
    ],
    "identity": [
        (notion, HAMMING, {})
        for notion in (
            PML("1.6"),
            md.AsymmetricLift("100", "inf"),
            LDP(700),
            FAR,
            HighLowLDP(9, [0]),
            BlockLDP(9, [[0, 1], [2]]),
            md.BoundedPriorLIP(5, priors=[SKEWED]),
        )
    ],
    "randomized response on bins": [
        (LIP(1), md.MeanAbsoluteError(), {}),
        ([LDP(1), LIP(1)], md.MeanAbsoluteError(), {}),
        (LDP(0), md.MeanAbsoluteError(), {}),
        (LDP(1), md.MeanAbsoluteError(worst_case=True), {}),
        (LDP(1), md.MutualInformation(), {}),
        (LDP(1), md.EuclideanDistance(), {"domain": Domain.grid(2, 2)}),
    ],
    "the likeliest inputs": [(md.MaximalLeakage("0.5"), md.MutualInformation(), {})],
}


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("name", HOLDS)
def test_the_condition_is_checked(name: str, holds: bool) -> None:
    assert FORMS[name].source
    for notion, utility, given in (HOLDS if holds else REFUSED)[name]:
        options = {"prior": SKEWED if "domain" not in given else None, **given}
        problem = Problem(options.pop("domain", 3), notion, utility, **options)
        assert FORMS[name].holds(problem) is holds, (notion, utility, given)
