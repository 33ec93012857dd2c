"""Maximal leakage and right guesses: the closed form against linear programs of its own."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import linprog

import mechdesign as md
from mechdesign import BayesAccuracy, HammingLoss, MaximalLeakage, Problem
from mechdesign.closed_forms import LikeliestInputs
from tests.documents import proved
from tests.strategies import examples, priors

ROUTE = "closed-form: the likeliest inputs"


def least(prior: Any, epsilon: float, *, worst: bool = False) -> float:
    """Return the least Hamming loss: Q(y|x) <= m_y with sum(m) <= e**epsilon, by HiGHS."""
    k, one = len(prior), np.eye(len(prior) ** 2 + len(prior) + 1)  # Q, m, t
    Q, m, t = one[: k * k].reshape(k, k, -1), one[k * k : -1], one[-1]
    limits = [*(Q - m).reshape(k * k, -1), m.sum(axis=0)]
    right = [0.0] * k * k + [math.exp(epsilon)]
    if worst:  # 1 - Q(x|x) <= t
        limits += [-Q[x, x] - t for x in range(k)]
        right += [-1.0] * k
    loss = (Q.sum(axis=1) - Q[range(k), range(k)]).T @ np.array([float(p) for p in prior])
    found = linprog(t if worst else loss, np.array(limits), right, Q.sum(axis=1), np.ones(k))
    return float(found.fun)


@examples(16)
@given(st.data())
def test_it_is_the_optimum_at_every_prior_and_budget(data: st.DataObject) -> None:
    k = data.draw(st.integers(2, 5))
    prior = data.draw(priors(k, 1))
    epsilon = Fraction(data.draw(st.integers(1, 200)), 100)
    worst = data.draw(st.booleans())
    problem = Problem(range(k), MaximalLeakage(epsilon), HammingLoss(worst), prior=prior)
    solution = proved(problem)
    best = least(prior, float(epsilon), worst=worst)
    assert float(solution.value) == pytest.approx(best, abs=1e-8)
    if math.exp(epsilon) < k:
        assert solution.route == ROUTE
        assert len(solution.certificate.multipliers) == 1
        less = problem.privacy[0].at(epsilon * Fraction(99, 100))
        assert not less.holds(solution.channel)


def test_the_formula_by_hand() -> None:
    """e**0.9 = 2.4596: the two likeliest, and 0.4596 of the third."""
    prior = ["0.4", "0.3", "0.2", "0.1"]
    solution = md.design(Problem(list("abcd"), MaximalLeakage("0.9"), HammingLoss(), prior=prior))
    share = math.exp(0.9) - 2
    assert float(solution.value) == pytest.approx(1 - 0.7 - 0.2 * share, abs=1e-12)
    assert solution.channel.outputs == ("a", "b", "c")
    assert solution.channel.matrix[2] == pytest.approx([1 - share, 0, share], abs=1e-12)
    assert solution.channel.matrix[3] == pytest.approx([1, 0, 0], abs=1e-12)
    worst = md.design(Problem(list("abcd"), MaximalLeakage("0.9"), HammingLoss(True), prior=prior))
    assert float(worst.value) == pytest.approx(1 - math.exp(0.9) / 4, abs=1e-12)


@pytest.mark.parametrize("epsilon", ["0.2", "0.7", "1"])
def test_the_accuracy_of_a_guess_is_one_less_the_loss(epsilon: str) -> None:
    prior = ["0.35", "0.3", "0.2", "0.15"]
    gains = [[1 if x == w else 0 for x in range(4)] for w in range(4)]
    found = []
    for utility in (HammingLoss(), BayesAccuracy(), md.GVulnerability(gains)):
        solution = proved(Problem(range(4), MaximalLeakage(epsilon), utility, prior=prior))
        assert solution.route == ROUTE
        found.append(float(solution.value))
    assert found[1:] == pytest.approx([1 - found[0]] * 2, abs=1e-12)


def test_outputs_of_other_names_and_more_of_them_are_used() -> None:
    """An output that is right nowhere changes nothing: it costs 1 at every input."""
    D = [[1, 0, 1], [0, 1, 1]]
    outputs, prior = ["low", "high", "none"], ["0.8", "0.2"]
    notion, loss = MaximalLeakage("0.3"), md.Distortion(D)
    solution = md.design(Problem(range(2), notion, loss, prior=prior, outputs=outputs))
    assert solution.route == ROUTE
    assert float(solution.value) == pytest.approx(0.2 * (2 - math.exp(0.3)), abs=1e-12)
    assert solution.channel.outputs == ("high", "low")


def test_off_its_region_other_routes_are_taken() -> None:
    form = LikeliestInputs()
    prior = ["0.5", "0.3", "0.2"]
    cheap = md.Distortion([[0, 1, "0.5"], [1, 0, "0.5"], [1, 1, "0.5"]])
    several = [MaximalLeakage("0.5"), md.LDP(2)]
    for notion, utility, outputs in (
        (MaximalLeakage("0.5"), cheap, [0, 1, 2]),
        (several, HammingLoss(), None),
        (MaximalLeakage(1), HammingLoss(), [0, 1]),
    ):
        problem = Problem(range(3), notion, utility, prior=prior, outputs=outputs)
        assert not form.holds(problem)
        assert md.design(problem).route != ROUTE
    # the bound of the theorem is valid with other notions too, but not attained: LDP costs more
    both = md.design(Problem(range(3), several, HammingLoss(), prior=prior))
    alone = md.design(Problem(range(3), several[0], HammingLoss(), prior=prior))
    assert both.value > alone.value
