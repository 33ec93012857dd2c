"""Designs under notions about regions, held against exact densities and a program of their own."""

from __future__ import annotations

import functools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats
from scipy import optimize

import mechdesign as md
from mechdesign.certify import parse, verify
from mechdesign.designs.continuous.solution import ContinuousSolution

UNIT = md.Interval(0, 1, cuts=["0.3", "1/2"])
LOW, MIDDLE, HIGH = UNIT.regions.labels
LAW = md.NamedLaw("beta", [2, 3])
MAE, MSE = md.MeanAbsoluteError, md.MeanSquaredDistance
INF = math.inf
BUDGETS = [[1, 0.5, INF], [2, INF, 1], [1, 1.5, 0.2]]

NOTIONS: dict[str, tuple[md.Notion, Any]] = {
    "high-low": (md.HighLowLDP(1, [MIDDLE]), [[INF] * 3, [1] * 3, [INF] * 3]),
    "block": (md.BlockLDP(1, [[LOW, HIGH], [MIDDLE]]), [[1, INF, 1], [INF, 1, INF], [1, INF, 1]]),
    "context-aware": (md.ContextAwareLDP(BUDGETS), BUDGETS),
}
"""Each with the budget of its pairs of regions."""

LOSSES = {"absolute": MAE(), "squared": MSE(), "worst": MAE(worst_case=True)}
each_notion = pytest.mark.parametrize("notion", NOTIONS)


@functools.cache
def designed(notion: str, loss: str) -> ContinuousSolution:
    problem = md.ContinuousProblem(UNIT, NOTIONS[notion][0], LOSSES[loss], prior=LAW)
    return md.design(problem, gap=0.2)


def region(x: Fraction | float) -> int:
    return (Fraction(x) >= Fraction(3, 10)) + (Fraction(x) >= Fraction(1, 2))


def numbers() -> list[Fraction]:
    """Return numbers at random, and such at the cuts and just below them."""
    rng, cuts = np.random.default_rng(5), [Fraction(3, 10), Fraction(1, 2)]
    near = [cut - Fraction(1, 10**9) for cut in cuts]
    return [*map(Fraction, rng.uniform(0, 1, 12).tolist()), *cuts, *near, Fraction(0), Fraction(1)]


@pytest.mark.parametrize("loss", LOSSES)
@each_notion
def test_exact_densities_are_private_at_the_budgets_and_not_at_less(notion: str, loss: str) -> None:
    budgets, channel = NOTIONS[notion][1], designed(notion, loss).channel
    rows = {x: channel.density(x) for x in numbers()}
    largest = -math.inf
    for x, row in rows.items():
        for other, against in rows.items():
            budget = budgets[region(x)][region(other)]
            if budget < INF and x != other:
                for one, two in zip(row, against, strict=True):
                    assert one == 0 or math.log(one / two) <= budget + 1e-12
                    largest = max(largest, math.log(one / two) - budget if one else largest)
    assert largest > -0.02, "the budgets are used"


def optimum_on_atoms(
    budgets: Any, masses: Any, x: Any, y: Any, power: int, *, worst: bool = False
) -> float:
    """Solve a textbook program on atoms at the points x, with outputs y."""
    k, m = len(x), len(y)
    rows, limits = [], []
    for a in range(k):
        for b in range(k):
            budget = budgets[region(x[a])][region(x[b])]
            if a != b and budget < INF:
                for j in range(m):
                    row = np.zeros(k * m + 1)
                    row[a * m + j], row[b * m + j] = 1, -math.exp(budget)
                    rows.append(row)
                    limits.append(0.0)
    loss = np.abs(x[:, None] - y) ** power
    cost = np.zeros(k * m + 1)
    if worst:
        cost[-1] = 1
        for a in range(k):
            row = np.zeros(k * m + 1)
            row[a * m : a * m + m], row[-1] = loss[a], -1
            rows.append(row)
            limits.append(0.0)
    else:
        cost[:-1] = (masses[:, None] * loss).ravel()
    sums = np.hstack([np.kron(np.eye(k), np.ones((1, m))), np.zeros((k, 1))])
    found = optimize.linprog(cost, np.array(rows), limits, sums, np.ones(k))
    assert found.status == 0
    return float(found.fun)


@pytest.mark.parametrize("loss", LOSSES)
@each_notion
def test_bound_and_value_are_those_of_a_program_of_its_own(notion: str, loss: str) -> None:
    k, m = 20, 16  # atoms in the middle of cells that the cuts are ends of
    edges = [Fraction(n, k) for n in range(k + 1)]
    masses = np.array(list(map(float, LAW.cells(edges).masses)))
    x, y = (np.arange(k) + 0.5) / k, np.linspace(0, 1, m)
    power = 2 if loss == "squared" else 1
    solution = designed(notion, loss)
    optimum = optimum_on_atoms(NOTIONS[notion][1], masses, x, y, power, worst=loss == "worst")
    moved = power * 0.5 / k
    assert float(solution.bound) <= optimum + moved
    assert float(solution.value) >= optimum - moved - power * 0.5 / (m - 1)


@each_notion
def test_the_gap_closes_and_the_file_is_proved(notion: str) -> None:
    problem = md.ContinuousProblem(UNIT, NOTIONS[notion][0], MSE(), prior=LAW)
    solution = md.design(problem, gap=0.02)
    assert solution.gap <= 0.02
    document = parse(json.dumps(solution.document()))
    assert verify(document).bound <= solution.value
    assert f"{solution.cells} cells" in verify(document).claims[-1]
    assert solution.privacy[0].notion == problem.privacy[0]


def test_one_region_of_sensitive_numbers_is_plain_ldp() -> None:
    whole = md.ContinuousProblem([0, 1], md.HighLowLDP(1, ["[0, 1]"]), MAE(), prior=LAW)
    plain = md.ContinuousProblem([0, 1], md.LDP(1), MAE(), prior=LAW)
    one, two = md.design(whole, gap=0.05), md.design(plain, gap=0.05)
    assert max(one.bound, two.bound) <= min(one.value, two.value)


def test_numbers_that_need_not_be_hidden_cost_less() -> None:
    by_block = designed("block", "squared")
    hidden = md.design(md.ContinuousProblem(UNIT, md.LDP(1), MSE(), prior=LAW), gap=0.2)
    assert by_block.value < hidden.bound


SETS: dict[str, tuple[md.Notion, list[list[float]]]] = {
    "box": (
        md.BoundedPriorLIP(1, lower=[0.2, 0.2, 0.1], upper=[0.5, 0.4, 0.5]),
        [[0.5, 0.2, 0.3], [0.2, 0.3, 0.5], [0.5, 0.4, 0.1], [0.2, 0.4, 0.4], [0.4, 0.3, 0.3]],
    ),
    "ball": (
        md.BoundedPriorLIP(1, center=[0.3, 0.3, 0.4], radius=0.1),
        [[0.4, 0.3, 0.3], [0.2, 0.3, 0.5], [0.35, 0.35, 0.3], [0.3, 0.3, 0.4]],
    ),
    "list": (md.BoundedPriorLIP(1, priors=[[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]]), [[0.4, 0.25, 0.35]]),
}
"""Each with some of its laws of the region."""


@functools.cache
def for_priors(name: str, loss: str = "absolute") -> ContinuousSolution:
    problem = md.ContinuousProblem(UNIT, SETS[name][0], LOSSES[loss], prior=LAW)
    return md.design(problem, gap=0.2)


@functools.cache
def quadrature(n: int = 2000) -> tuple[Any, Any]:
    """Return the middles of n cells, and their masses."""
    x = (np.arange(n) + 0.5) / n
    density = scipy.stats.beta(2, 3).pdf(x)
    return x, density / density.sum()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", SETS)
def test_lifts_are_bounded_for_each_prior_of_the_set(name: str, loss: str) -> None:
    channel, largest = for_priors(name, loss).channel, 0.0
    fine, masses = quadrature()
    kernel, of = channel.matrix(fine), np.array([region(x) for x in fine])
    for weights in SETS[name][1]:
        law = sum(w * masses * (of == r) / masses[of == r].sum() for r, w in enumerate(weights))
        lifts = np.log(kernel / (law @ kernel))
        largest = max(largest, float(np.abs(lifts).max()))
        assert largest <= 1 + 1e-4
    assert largest > 0.9 or name == "list"


@pytest.mark.parametrize("name", SETS)
def test_a_file_for_a_set_of_priors_is_proved(name: str) -> None:
    solution = for_priors(name)
    document = parse(json.dumps(solution.document()))
    assert verify(document).value <= solution.value


def test_a_set_of_one_law_is_that_law() -> None:
    masses = list(LAW.cells([Fraction(0), Fraction(3, 10), Fraction(1, 2), Fraction(1)]).masses)
    one = md.ContinuousProblem(UNIT, md.BoundedPriorLIP(1, priors=[masses]), MSE(), prior=LAW)
    two = md.ContinuousProblem(UNIT, md.LIP(1), MSE(), prior=LAW)
    first, second = md.design(one, gap=0.01), md.design(two, gap=0.01)
    assert max(first.bound, second.bound) <= min(first.value, second.value)
    larger = md.BoundedPriorLIP(1, center=masses, radius=0.1)
    third = md.design(md.ContinuousProblem(UNIT, larger, MSE(), prior=LAW), gap=0.01)
    assert third.value > second.bound
