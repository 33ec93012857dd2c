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
from mechdesign.errors import InputError

EPSILONS = (0.1, 0.5, 1, 2, 4, 8)
ALL = (DuchiMechanism, PiecewiseMechanism, HybridMechanism, OptimalPiecewiseMechanism)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("kind", ALL)
def test_the_leakage_is_the_budget(kind: type, epsilon: float) -> None:
    low, high = kind(epsilon).leakage()
    assert low <= epsilon <= high
    assert high - low < 1e-11


@pytest.mark.parametrize("epsilon", ["0.001", 1, 60, 100])
@pytest.mark.parametrize("kind", ALL)
def test_every_budget_that_is_accepted_has_a_leakage_and_losses(kind: type, epsilon: Any) -> None:
    """Differences of nearly equal numbers, such as 1 - 1/c at large budgets, would cancel."""
    mechanism = kind(epsilon)
    low, high = mechanism.leakage()
    assert low <= float(epsilon) <= high
    assert high - low < 1e-9
    for x in (*mechanism.interval, *mechanism.worst_inputs):
        loss = mechanism.loss(x)
        assert 0 <= loss.low <= loss.high
        assert loss.high - loss.low <= 1e-8 * max(1.0, loss.high)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("x", [-1.0, -0.3, 0.0, 0.7, 1.0])
def test_the_piecewise_mechanism_is_a_law_without_bias(epsilon: float, x: float) -> None:
    law = PiecewiseMechanism(epsilon).window(Fraction(x))
    assert law.moment(0).low <= 1 <= law.moment(0).high
    assert law.moment(1).low <= x <= law.moment(1).high
    spread, found = law.moment(2) - Fraction(x) ** 2, PiecewiseMechanism(epsilon).loss(x)
    assert spread.low <= found.high
    assert found.low <= spread.high
    assert law.moment(0).high - law.moment(0).low < 1e-9
    assert law.start.low >= law.low.low - 1e-9
    assert law.end.high <= law.high.high + 1e-9


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("x", [0.0, 0.05, 0.4, 0.5, 0.97, 1.0])
def test_the_best_piecewise_mechanism_is_a_law_on_the_interval(epsilon: float, x: float) -> None:
    law = OptimalPiecewiseMechanism(epsilon).window(Fraction(x))
    assert law.moment(0).low <= 1 <= law.moment(0).high
    assert law.start.high >= 0
    assert law.end.low <= 1
    y = np.linspace(0, 1, 200_001)
    inside = (y >= law.start.ends.high) & (y <= law.end.ends.low)
    density = np.where(inside, law.inside.ends.high, law.outside.ends.high)
    found = OptimalPiecewiseMechanism(epsilon).loss(x)
    assert found.low == pytest.approx(np.trapezoid(density * abs(y - x), y), abs=2e-3)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_losses_by_their_published_formulas(epsilon: float) -> None:
    """Duchi et al. 2018; Wang et al. 2019, Lemma 1 and (6); Zheng et al. 2025."""
    e, E = math.exp(epsilon), math.exp(epsilon / 2)
    duchi = ((e + 1) / (e - 1)) ** 2
    piecewise = 1 / (E - 1) + (E + 3) / (3 * (E - 1) ** 2)
    hybrid = (E + 3) / (3 * E * (E - 1)) + (e + 1) ** 2 / (E * (e - 1) ** 2)
    expected = {
        DuchiMechanism: duchi,
        PiecewiseMechanism: piecewise,
        HybridMechanism: hybrid if epsilon > 0.61 else duchi,
        OptimalPiecewiseMechanism: 1 / (E + 1),
    }
    for kind, value in expected.items():
        low, high = kind(epsilon).worst_loss()
        assert low <= value * (1 + 1e-12)
        assert value * (1 - 1e-12) <= high
        assert high - low < 1e-7 * high


@pytest.mark.parametrize("kind", ALL)
def test_the_worst_input_is_the_worst(kind: type) -> None:
    for epsilon in EPSILONS:
        made = kind(epsilon)
        worst = made.worst_loss().high
        assert all(made.loss(x).low <= worst for x in np.linspace(*made.interval, 81))


@pytest.mark.parametrize("epsilon", [1, 2, 4])
def test_the_best_piecewise_mechanism_is_above_the_certified_optimum(epsilon: float) -> None:
    """Inputs and reports on 21 points: a relaxation of the inputs, within h/2 of the minimax."""
    k, h = 21, 1 / 20
    points = [n * h for n in range(k)]
    loss = md.MeanAbsoluteError(worst_case=True)
    solution = md.design(md.Problem(points, md.LDP(epsilon), loss))
    worst = OptimalPiecewiseMechanism(epsilon).worst_loss()
    assert float(solution.bound) <= worst.low
    assert worst.low > float(solution.value) + h / 2  # the channel rounded to is better by far
    assert worst.high == pytest.approx({1: 0.37754067, 2: 0.26894142, 4: 0.11920292}[epsilon])


@pytest.mark.parametrize(
    ("call", "key"),
    [
        (lambda: DuchiMechanism(0), "epsilon"),
        (lambda: PiecewiseMechanism(-1), "epsilon"),
        (lambda: HybridMechanism(math.inf), "epsilon"),
        (lambda: PiecewiseMechanism(1).loss(1.5), "x"),
        (lambda: OptimalPiecewiseMechanism(1).loss(-0.1), "x"),
    ],
)
def test_bad_input_gets_a_line(call: object, key: str) -> None:
    with pytest.raises(InputError, match=key):
        call()  # type: ignore[operator]
