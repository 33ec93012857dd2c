"""Mechanisms for a bounded number: their laws, their losses, and the optimum below them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.accounting import (
    DuchiMechanism,
    HybridMechanism,
    OptimalPiecewiseMechanism,
    PiecewiseMechanism,
)
from mechdesign.exact import exp_lower, exp_upper

EPSILONS = (0.1, 0.5, 1, 2, 4, 8)
ALL = (DuchiMechanism, PiecewiseMechanism, HybridMechanism, OptimalPiecewiseMechanism)


@pytest.mark.parametrize("epsilon", ["0.001", *EPSILONS, 60, 100])
@pytest.mark.parametrize("kind", ALL)
def test_the_leakage_is_the_budget_and_the_worst_input_the_worst(kind: type, epsilon: Any) -> None:
    """Differences of nearly equal numbers, such as 1 - 1/c at large budgets, would cancel."""
    mechanism = kind(epsilon)
    low, high = mechanism.leakage()
    assert low <= float(epsilon) <= high < low + 1e-9
    worst = mechanism.worst_loss().high
    for x in (*mechanism.worst_inputs, *np.linspace(*mechanism.interval, 41)):
        loss = mechanism.loss(x)
        assert 0 <= loss.low <= min(loss.high, worst)
        assert loss.high - loss.low <= 1e-8 * max(1.0, loss.high)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_two_levels_or_masses_have_the_ratio_that_the_budget_allows(epsilon: Any) -> None:
    duchi = DuchiMechanism(epsilon)
    laws = [kind(epsilon).window(Fraction(1, 3)) for kind in (PiecewiseMechanism, ALL[-1])]
    ratios = [law.inside / law.outside for law in laws]
    for ratio in (*ratios, duchi.probability(1) / duchi.probability(-1)):
        assert exp_lower(duchi.epsilon) <= ratio.high <= ratio.low * (1 + Fraction(1, 10**9))
        assert ratio.low <= exp_upper(duchi.epsilon)


def moment(law: Any, power: int) -> Any:
    """Return E[Y**power] of a law of two levels."""
    low, high, start, end = (
        math.prod([y] * (power + 1)) / (power + 1) for y in (law.low, law.high, law.start, law.end)
    )
    return law.outside * (high - low) + (law.inside - law.outside) * (end - start)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("x", [0.0, 0.05, 0.4, 0.97, 1.0, -0.3, -1.0])
def test_the_windows_are_laws(epsilon: float, x: float) -> None:
    """The piecewise mechanism has no bias and the loss is its variance; the other is on [0, 1]."""
    law, found = PiecewiseMechanism(epsilon).window(Fraction(x)), PiecewiseMechanism(epsilon)
    assert moment(law, 0).low <= 1 <= moment(law, 0).high < moment(law, 0).low + 1e-9
    assert moment(law, 1).low <= x <= moment(law, 1).high
    spread = moment(law, 2) - Fraction(x) ** 2
    assert spread.low <= found.loss(x).high
    assert found.loss(x).low <= spread.high
    assert law.start.low >= law.low.low - 1e-9
    assert law.end.high <= law.high.high + 1e-9
    if x >= 0:
        law = OptimalPiecewiseMechanism(epsilon).window(Fraction(x))
        assert moment(law, 0).low <= 1 <= moment(law, 0).high
        assert 0 <= law.start.high < law.end.low <= 1
        y = np.linspace(0, 1, 20_001)
        inside = (y >= law.start.ends.high) & (y <= law.end.ends.low)
        density = np.where(inside, law.inside.ends.high, law.outside.ends.high)
        loss = OptimalPiecewiseMechanism(epsilon).loss(x).low
        assert loss == pytest.approx(np.trapezoid(density * abs(y - x), y), abs=4e-3)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_losses_by_their_published_formulas(epsilon: float) -> None:
    """Duchi et al. 2018; Wang et al. 2019, Lemma 1 and (6); Zheng et al. 2025."""
    e, E = math.exp(epsilon), math.exp(epsilon / 2)
    duchi = ((e + 1) / (e - 1)) ** 2
    hybrid = (E + 3) / (3 * E * (E - 1)) + (e + 1) ** 2 / (E * (e - 1) ** 2)
    expected = {
        DuchiMechanism: duchi,
        PiecewiseMechanism: 1 / (E - 1) + (E + 3) / (3 * (E - 1) ** 2),
        HybridMechanism: hybrid if epsilon > 0.61 else duchi,
        OptimalPiecewiseMechanism: 1 / (E + 1),
    }
    for kind, value in expected.items():
        low, high = kind(epsilon).worst_loss()
        assert low * (1 - 1e-12) <= value <= high * (1 + 1e-12)
        assert high - low < 1e-7 * high


@pytest.mark.parametrize(("epsilon", "worst"), [(1, 0.37754067), (2, 0.26894142), (4, 0.11920292)])
def test_the_best_piecewise_mechanism_is_above_the_certified_optimum(
    epsilon: float, worst: float
) -> None:
    """Inputs and reports on 21 points: a relaxation of the inputs, within h/2 of the minimax."""
    h = 1 / 20
    loss = md.MeanAbsoluteError(worst_case=True)
    solution = md.design(md.Problem([n * h for n in range(21)], md.LDP(epsilon), loss))
    found = OptimalPiecewiseMechanism(epsilon).worst_loss()
    assert float(solution.bound) <= found.low
    assert found.low > float(solution.value) + h / 2  # the channel rounded to is better by far
    assert found.high == pytest.approx(worst)
