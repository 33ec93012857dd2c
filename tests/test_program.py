"""The program as LaTeX: every notion and objective has one, with balanced braces."""

from __future__ import annotations

from typing import Any

import pytest

import mechdesign as md
from mechdesign import Problem

PRIOR = [0.5, 0.3, 0.2]
HAMMING = md.HammingLoss()
CASES: dict[str, tuple[Any, Any, list[str]]] = {
    "ldp": (md.LDP("0.5"), HAMMING, ["e^{0.5} Q(y|x')", r"\minimize", "P_x D(x, y)"]),
    "lip": (md.LIP(1), md.MutualInformation(), [r"e^{-1} \lambda_y \le", "maximize", r"\ln"]),
    "pml": (md.PML(1), md.L2Risk(), [r"\le e^{1} \lambda_y", "M^{-1}", "p = (0.5, 0.3, 0.2)"]),
    "metric": (md.MetricPrivacy(1, "absolute"), HAMMING, ["E(x, x')"]),
    "block": (md.BlockLDP(1, [[0, 1], [2]]), md.TVRisk(), ["in one block", r"\sqrt"]),
    "high-low": (md.HighLowLDP(1, [0]), md.BayesAccuracy(), ["sensitive", r"\max_z"]),
    "set": (md.BoundedPriorLIP(1, priors=[PRIOR, PRIOR[::-1]]), HAMMING, ["for every prior"]),
    "rows": (md.LinearNotion([("own", {0: 1}, 1, {1: 1})]), HAMMING, [r"l_i^\top q_y"]),
    "gauge": (md.ApproximateLDP(1, "0.1"), HAMMING, [r"\max_j", r"e^{-1}\, 0.1", "(6 such sums)"]),
    "information": (md.MutualInformationLeakage("0.2"), HAMMING, [r"I(X; Y) \le 0.2"]),
    "worst": (md.LDP(1), md.MeanAbsoluteError(worst_case=True), [r"\max_x"]),
    "reading": (md.LDP(1), md.UnbiasedVariance([0, 1, 2]), ["v_y Q(y|x) = f_x", "(0, 1, 2)"]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_program_states_objective_and_constraints(name: str) -> None:
    notion, utility, parts = CASES[name]
    text = Problem(range(3), notion, utility, prior=PRIOR).to_latex()
    assert text.count("{") == text.count("}")
    assert text.startswith(r"\begin{aligned}")
    assert text.endswith("\\ge 0\n\\end{aligned}")
    for part in parts:
        assert part.replace(r"\minimize", "minimize") in text, text
