"""Laplace noise under LIP, Theorem 6 of TIFS, and the sampling mechanism, Proposition 2."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import accounting
from mechdesign.accounting import (
    DuchiMechanism,
    HybridMechanism,
    OptimalPiecewiseMechanism,
    PiecewiseMechanism,
)
from mechdesign.exact import exp_lower, exp_upper
from mechdesign.prior import Prior
from tests.strategies import examples

VALUES, PRIOR = (0, 1, 2), Prior(["13/30", "10/30", "7/30"])


def leakage_by_search(mechanism: accounting.LaplaceMechanism) -> float:
    """Return the largest |ln f_x(y) / g(y)| on a fine grid of reports."""
    x, b = np.array(mechanism.values), np.array(mechanism.scales)
    y = np.unique(np.concatenate([np.linspace(x.min() - 1, x.max() + 1, 5001), x]))
    own = np.exp(-np.abs(y[:, None] - x) / b) / b
    return float(np.abs(np.log(own / (own @ mechanism.prior.array)[:, None])).max())


@examples(15)
@given(
    st.lists(st.integers(-20, 20), min_size=2, max_size=5, unique=True),
    st.lists(st.integers(1, 9), min_size=5, max_size=5),
    st.floats(0.3, 4),
)
def test_the_leakage_is_the_largest_found(
    integers: list[int], counts: list[int], scale: float
) -> None:
    values, prior = [n / 4 for n in integers], Prior.from_counts(counts[: len(integers)])
    made = accounting.LaplaceMechanism(values, prior, scale)
    low, high = made.leakage()
    assert low <= leakage_by_search(made) + 1e-9 <= high + 2e-9 <= low + 3e-9


@pytest.mark.parametrize("epsilon", [0.2, 1, 1.4, 1.5, 4])
def test_the_formula_is_valid_and_the_least_scale_is_less(epsilon: float) -> None:
    """Theorem 6 adds more noise than needed. At the least scale epsilon holds, below it does not.

    From epsilon = ln(1 / p) on, (25) turns to D / epsilon, where the first branch still holds.
    """
    scale, p = accounting.laplace_scale(VALUES, PRIOR, epsilon), float(min(PRIOR))
    low, high = accounting.least_laplace_scale(VALUES, PRIOR, epsilon)
    assert low < high <= low * (1 + 2e-9) < scale
    assert accounting.LaplaceMechanism(VALUES, PRIOR, scale).leakage().high < epsilon
    assert accounting.LaplaceMechanism(VALUES, PRIOR, high).leakage().high <= epsilon
    assert accounting.LaplaceMechanism(VALUES, PRIOR, low * 0.999).leakage().low > epsilon
    first = 2 / math.log((math.exp(epsilon) - p) / (1 - p))
    assert accounting.LaplaceMechanism(VALUES, PRIOR, first).leakage().high <= epsilon
    assert scale > first * 1.05 if epsilon > math.log(1 / p) else scale == pytest.approx(first)


@given(st.integers(1, 60), st.lists(st.integers(1, 20), min_size=2, max_size=5))
@examples(40)
def test_the_scale_of_the_formula_is_rounded_up(tenths: int, counts: list[int]) -> None:
    prior, values = Prior.from_counts(counts), range(len(counts))
    with localcontext(prec=60):
        e = Decimal(tenths) / 10
        p = Decimal(min(counts)) / sum(counts)
        inner = ((e.exp() - p) / (1 - p)).ln()
        scale = (len(counts) - 1) / (e if e >= (1 / p).ln() else inner)
        found = Decimal(accounting.laplace_scale(values, prior, f"{tenths}/10"))
        assert scale <= found <= scale * (1 + Decimal("1e-15"))
    assert 1e99 < accounting.laplace_scale([0, 1], Prior(["1/2", "1/2"]), "1e-100") < 1.1e100


def test_scales_that_depend_on_the_value_leak_without_limit() -> None:
    """(26) of TIFS: far from all values the ratio to the wider noise is unbounded."""
    scales = [2 / (0.3 * float(p) + 1) for p in PRIOR]
    assert accounting.LaplaceMechanism(VALUES, PRIOR, scales).leakage().low == math.inf
    y = np.exp(-np.abs(600.0 - np.array(VALUES)) / scales) / scales
    assert abs(np.log(y / (y @ PRIOR.array))).max() > 5
    made = accounting.LaplaceMechanism(VALUES, PRIOR, [1, 2, 3])
    assert made.expected_error() == pytest.approx(float(PRIOR.array @ [1, 2, 3]))
    assert accounting.LaplaceMechanism(VALUES, PRIOR, 1e-6).leakage().high == pytest.approx(2e6)


def delta_on(k: int, mechanism: accounting.SamplingMechanism, epsilon: Fraction | str) -> float:
    """Return the exact delta of the mechanism on k equally likely inputs."""
    prior = Prior.uniform(k)
    found = accounting.privacy_profile(mechanism.channel(prior), [epsilon], prior).lip
    return float(found[0])


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("delta", ["0.0001", "0.01", "0.4"])
def test_a_fine_discretization_has_its_delta_and_more_is_not_private(
    epsilon: str, delta: str
) -> None:
    """On k atoms delta is less by a multiple of 1/k, so it converges to that without atoms."""
    best, promised = accounting.SamplingMechanism.best(epsilon, delta), float(delta)
    few, many = (delta_on(k, best, epsilon) for k in (16, 64))
    bound = 2 * math.expm1(float(epsilon)) + 1
    assert promised - bound / 64 <= many <= promised * (1 + 1e-12)
    assert few <= many
    assert best.delta(epsilon).high <= promised * (1 + 1e-12)
    more = accounting.SamplingMechanism(min(best.keep * Fraction(1001, 1000), Fraction(1)))
    assert best.keep == 1 or more.delta(epsilon).low > promised


@examples(20)
@given(st.fractions(0, 1, max_denominator=1000), st.fractions(0, 5, max_denominator=50))
def test_an_atom_lowers_the_leakage_as_in_the_theorem(keep: Fraction, epsilon: Fraction) -> None:
    k, grown, share = 5, math.exp(epsilon), float(keep)
    forward = max(0.0, share - (grown - 1 + share) / k) / grown
    backward = max(0.0, 1 - grown * (1 - share)) * (1 - 1 / k)
    exact = delta_on(k, accounting.SamplingMechanism(keep), epsilon)
    assert exact == pytest.approx(max(forward, backward), abs=1e-12)


def test_nothing_is_released_without_delta_and_all_with_delta_one() -> None:
    assert [accounting.SamplingMechanism.best(2, delta).keep for delta in (0, 1)] == [0, 1]


# Mechanisms for a bounded number: their laws, their losses, and the optimum below them.


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
