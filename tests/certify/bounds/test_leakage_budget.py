"""The bound on right guesses by maximal leakage, in the checker."""

from __future__ import annotations

import math
from typing import Any

import pytest

from mechdesign import LDP, BayesAccuracy, Distortion, HammingLoss, MaximalLeakage, Problem
from mechdesign.certify.bounds.leakage_budget import leakage_budget
from mechdesign.errors import CertificateError
from tests.strategies import statement_of

PRIOR = ["0.5", "0.3", "0.2"]


def bound(notion: Any, utility: Any, **options: Any) -> float:
    problem = Problem(range(3), notion, utility, prior=PRIOR, **options)
    return float(leakage_budget(statement_of(problem)))


def test_the_bound_by_hand() -> None:
    e = math.exp(0.5)
    assert bound(MaximalLeakage("0.5"), HammingLoss()) == pytest.approx(0.5 - 0.3 * (e - 1))
    assert bound(MaximalLeakage("0.5"), BayesAccuracy()) == pytest.approx(0.5 + 0.3 * (e - 1))
    assert bound(MaximalLeakage("0.5"), HammingLoss(True)) == pytest.approx(1 - e / 3)
    assert bound(MaximalLeakage(5), HammingLoss()) == 0
    assert bound([MaximalLeakage(5), MaximalLeakage("0.5")], HammingLoss(True)) == pytest.approx(
        1 - e / 3
    )
    assert bound(MaximalLeakage(10**6), HammingLoss(True)) == 0


def test_inputs_that_no_output_names_are_never_right() -> None:
    assert bound(MaximalLeakage(5), HammingLoss(), outputs=[0, 2]) == pytest.approx(0.3)
    assert bound(MaximalLeakage(5), HammingLoss(True), outputs=[0, 2]) == 1


def test_it_is_no_bound_for_other_notions_and_losses() -> None:
    with pytest.raises(CertificateError, match="needs maximal leakage"):
        bound(LDP(1), HammingLoss())
    for row in ([0, 0, 1], ["0.5", 0, 1]):
        with pytest.raises(CertificateError, match="right at one input each"):
            bound(MaximalLeakage(1), Distortion([row, [1, 0, 1], [1, "0.5", 0]]), outputs=range(3))
