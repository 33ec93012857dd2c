"""Designs for numbers: value and bound against a program that discretizes the problem by itself."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse, stats

import mechdesign as md
from mechdesign.continuous.laws import Law
from mechdesign.designs.solution import Solution
from mechdesign.search.limits import Progress

MAE, MSE = md.MeanAbsoluteError, md.MeanSquaredDistance
LAWS: list[Law] = [
    md.NamedLaw("beta", [2, 5]),
    md.NamedLaw("exponential", [0, 0.2]),
    md.GaussianMixture([0.4, 0.6], [0.3, 0.7], [0.1, 0.05]),
    md.Histogram([0, 0.25, 0.5, 1], [0.6, 0.1, 0.3]),
    md.KDE([0.3, 0.35, 0.8], 0.15),
]


N = 500
"""Cells of a quadrature."""


@functools.cache
def masses_of(law: Law, cells: int) -> Any:
    """Return the masses of equal cells of [0, 1], in floating point."""
    x = np.linspace(0, 1, cells + 1)
    if isinstance(law, md.NamedLaw):
        kind = {"exponential": "expon"}.get(law.law, law.law)
        below = getattr(stats, kind)(*map(float, law.parameters)).cdf(x)
    elif isinstance(law, md.GaussianMixture):
        parts = zip(*(map(float, p) for p in (law.weights, law.means, law.deviations)), strict=True)
        below = sum(w * stats.norm.cdf(x, mean, deviation) for w, mean, deviation in parts)
    else:
        edges, masses = (
            np.array(list(map(float, p))) for p in (law.measure.edges, law.measure.masses)
        )
        below = np.interp(x, edges, np.append(0, np.cumsum(masses)))
    return np.diff(below) / (below[-1] - below[0])


def optimum_on_atoms(masses: Any, loss: Any, notion: str, epsilon: float, worst: bool) -> float:
    """Solve a problem on atoms with scipy; for metric privacy neighbors are at distance 1."""
    points, outputs = loss.shape
    factor, n = math.exp(epsilon), loss.size
    eye, by_row = sparse.identity(n), sparse.kron(sparse.identity(points), np.ones((1, outputs)))
    spread = sparse.kron(np.ones((points, 1)), sparse.identity(outputs))  # of one row to all
    extra = outputs if notion == "ldp" else 0  # the least entry of each column
    if notion == "metric":
        up, down = eye.tocsr()[outputs:], eye.tocsr()[:-outputs]
        rows = sparse.vstack([up - factor * down, down - factor * up])
    elif notion == "ldp":
        rows = sparse.vstack(
            [sparse.hstack([eye, -factor * spread]), sparse.hstack([-eye, spread])]
        )
    else:
        law = spread @ sparse.kron(masses[None, :], sparse.identity(outputs))
        rows = sparse.vstack([eye - factor * law, law - factor * eye])
    mean = np.zeros(n) if worst else (masses[:, None] * loss).ravel()
    cost = np.concatenate([mean, np.zeros(extra), [1.0]])  # the last unknown is the largest loss
    each = sparse.csr_matrix(by_row.multiply(loss.ravel()[None, :] * worst))
    each = sparse.hstack([each, sparse.csr_matrix((points, extra)), -np.ones((points, 1))])
    rows = sparse.vstack([sparse.hstack([rows, sparse.csr_matrix((rows.shape[0], 1))]), each])
    equal = sparse.hstack([by_row, sparse.csr_matrix((points, extra + 1))])
    found = optimize.linprog(cost, rows, np.zeros(rows.shape[0]), equal, np.ones(points))
    assert found.status == 0
    return float(found.fun)


def discrete_optimum(problem: md.ContinuousProblem, points: int, outputs: int) -> float:
    """Solve the problem on atoms in the middle of equal cells of [0, 1]."""
    power = 2 if problem.utility.on_interval == "squared" else 1
    x, y = (np.arange(points) + 0.5) / points, np.linspace(0, 1, outputs)
    notion = problem.privacy[0].to_table()
    name, epsilon = notion["notion"], float(Fraction(notion["epsilon"]))
    epsilon /= points if name == "metric" else 1
    loss, worst = np.abs(x[:, None] - y) ** power, problem.utility.worst_case
    return optimum_on_atoms(masses_of(problem.prior, points), loss, name, epsilon, worst)


def check_kernel(solution: Solution, rng: np.random.Generator) -> None:
    """Hold privacy at random pairs, and the loss by quadrature, against what is claimed."""
    problem, channel = solution.problem, solution.channel
    x = np.sort(rng.uniform(0, 1, 400))
    kernel = channel.matrix(x)
    notion = problem.privacy[0].to_table()
    epsilon = float(Fraction(notion["epsilon"]))
    if notion["notion"] == "metric":
        steps = np.abs(np.diff(np.log(kernel), axis=0)).max(axis=1)
        assert (steps <= epsilon * np.diff(x) + 1e-9).all()
    elif notion["notion"] == "ldp":
        assert (kernel.max(axis=0) <= math.exp(epsilon) * kernel.min(axis=0) * (1 + 1e-9)).all()
    power = 2 if problem.utility.on_interval == "squared" else 1
    places = np.array(channel.nodes.outputs, dtype=float)
    fine = (np.arange(N) + 0.5) / N
    losses = (channel.matrix(fine) * np.abs(fine[:, None] - places) ** power).sum(axis=1)
    if problem.utility.worst_case:
        assert losses.max() == pytest.approx(float(solution.value), rel=1e-2)
        assert losses.max() <= float(solution.value) + 1e-12
        return
    masses = masses_of(problem.prior, N)
    assert masses @ losses == pytest.approx(float(solution.value), rel=1e-3)
    if notion["notion"] == "lip":
        lifts = kernel / (masses @ channel.matrix(fine))
        assert lifts.max() <= math.exp(epsilon) * (1 + 1e-2)
        assert lifts.min() >= math.exp(-epsilon) * (1 - 1e-2)


def random_problem(rng: np.random.Generator) -> md.ContinuousProblem:
    """Return a problem on [0, 1] for a random law, notion, budget and loss."""
    epsilon = f"{rng.uniform(0.3, 3):.2f}"
    kind = rng.integers(3)
    notion: Any = [md.LDP(epsilon), md.LIP(epsilon), md.MetricPrivacy(epsilon, "absolute")][kind]
    loss: Any = [MAE, MSE][rng.integers(2)]
    if rng.random() < 0.3:
        cuts = np.sort(rng.choice(np.arange(1, 100), 3, replace=False)) / 100
        masses = rng.dirichlet(np.ones(4)).round(6)
        law: Law = md.Histogram([0, *cuts.tolist(), 1], (masses / masses.sum()).tolist())
    else:
        law = LAWS[rng.integers(len(LAWS))]
    return md.ContinuousProblem([0, 1], notion, loss(bool(rng.random() < 0.3)), prior=law)


def check_against_a_finer_program(problem: md.ContinuousProblem, rng: np.random.Generator) -> None:
    """The optimum on atoms differs by at most what moving each input and each output costs."""
    solution = md.design(problem, gap=1.0)  # which the first cells reach
    assert solution.cells <= 16
    points, outputs = 48, 33
    optimum = discrete_optimum(problem, points, outputs)
    # a loss on [0, 1] changes by at most twice the distance moved if it is squared
    slope = 2 if problem.utility.on_interval == "squared" else 1
    moved_input, moved_output = slope * 0.5 / points, slope * 0.5 / (outputs - 1)
    assert float(solution.bound) <= optimum + moved_input
    assert float(solution.value) >= optimum - moved_input - moved_output
    assert solution.bound <= solution.value
    check_kernel(solution, rng)


@pytest.mark.parametrize("seed", range(5))
def test_random_problems_against_a_finer_discretization(seed: int) -> None:
    rng = np.random.default_rng(seed)
    check_against_a_finer_program(random_problem(rng), rng)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 600))
def test_many_random_problems_against_a_finer_discretization(seed: int) -> None:
    rng = np.random.default_rng(seed)
    check_against_a_finer_program(random_problem(rng), rng)


@pytest.mark.parametrize(("epsilon", "published"), [(1, 0.3287), (2, 0.2071)])
def test_the_worst_case_absolute_error_is_below_the_best_piecewise_mechanism(
    epsilon: int, published: float
) -> None:
    problem = md.ContinuousProblem([0, 1], md.LDP(epsilon), MAE(worst_case=True))
    solution = md.design(problem, gap=0.004)
    assert float(solution.value) < published
    assert solution.value - solution.bound < Fraction(15, 10_000)


def test_a_finer_grid_closes_the_gap_with_its_square() -> None:
    problem = md.ContinuousProblem([0, 1], md.LIP(1), MAE(), prior=LAWS[0])
    told = list[Progress]()
    coarse, fine = md.design(problem, gap=0.05), md.design(problem, gap=0.003, progress=told.append)
    assert fine.gap <= 0.003
    assert fine.gap < coarse.gap
    assert coarse.bound <= fine.value
    assert fine.bound <= coarse.value
    ratio = fine.cells / coarse.cells
    assert fine.gap <= 3 * coarse.gap / ratio**2
    gaps = [progress.gap for progress in told]  # after each program
    assert len(gaps) > 1
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] == pytest.approx(fine.gap)
    with pytest.raises(ZeroDivisionError):
        md.design(problem, progress=lambda _: 1 / 0)


def test_an_interval_without_end_has_its_tails_proved_too() -> None:
    line = ["-inf", "inf"]
    for loss in (MAE(), MSE()):
        law = md.NamedLaw("normal", [0, 1])
        solution = md.design(md.ContinuousProblem(line, md.LIP(1), loss, prior=law), gap=0.03)
        assert solution.gap <= 0.03
        bounded = md.ContinuousProblem([-9, 9], md.LIP(1), loss, prior=law)
        same = md.design(bounded, gap=0.03)
        assert solution.bound <= same.value + Fraction(1, 1000)
        assert same.bound <= solution.value + Fraction(1, 1000)
        assert len(solution.channel.privatize([-100.0, 0.0, 1e300], rng=1)) == 3


def test_the_best_estimate_is_read_from_the_decoder() -> None:
    loss = md.PosteriorMeanSquaredError()
    solution = md.design(md.ContinuousProblem([0, 1], md.LIP(1), loss, prior=LAWS[0]), gap=0.02)
    fine = (np.arange(N) + 0.5) / N
    masses = masses_of(LAWS[0], N)
    joint = masses[:, None] * solution.channel.matrix(fine)
    read = fine @ joint / joint.sum(axis=0)
    assert [float(s) for s in solution.decoder] == pytest.approx(read.tolist(), rel=1e-4)
    error = (joint * (fine[:, None] - read) ** 2).sum()
    assert error == pytest.approx(float(solution.value), rel=1e-4)


def test_a_time_limit_ends_the_search_with_the_best_so_far() -> None:
    problem = md.ContinuousProblem([0, 1], md.LDP(4), MAE(worst_case=True))
    solution = md.design(problem, gap=1e-9, time_limit=0.3)
    assert solution.status == "bounded"
    assert any("ended early" in note for note in solution.notes)
    assert solution.bound <= solution.value
