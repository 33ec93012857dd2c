"""Designs for points of a box: value, bound and privacy, against a program on atoms, and files."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from scipy import stats

import mechdesign as md
from mechdesign.designs.solution import Solution
from tests.designs.test_continuous import optimum_on_atoms
from tests.refusals_support import check_refused

N = md.NamedLaw
TOWNS = md.PlaneMixture(
    [0.5, 0.5], [(N("beta", [2, 4]), N("beta", [3, 2])), (N("uniform"), N("beta", [4, 2]))]
)
SQUARE, EUCLIDEAN = md.MeanSquaredDistance(), md.EuclideanDistance()
SQUARE_BOX = md.Box((0, 0), (1, 1))
THREE = md.PlaneSamples([(0.1, 0.2), (0.6, 0.7), (0.9, 0.3)])
WORST_SQUARE = md.MeanSquaredDistance(worst_case=True)
WORST = md.EuclideanDistance(worst_case=True)
STATED: dict[str, tuple[Any, Any, Any]] = {
    "ldp, squares": (md.LDP(1), SQUARE, TOWNS),
    "ldp, distances": (md.LDP(1), EUCLIDEAN, TOWNS),
    "lip, squares": (md.LIP(1), SQUARE, TOWNS),
    "pml, distances": (md.PML("0.7"), EUCLIDEAN, THREE),
    "worst, distances": (md.LDP(1), WORST, None),
    "worst, squares": (md.LDP(2), WORST_SQUARE, None),
    "leakage": (md.MaximalLeakage("0.5"), SQUARE, TOWNS),
}
each = pytest.mark.parametrize("name", STATED)


@functools.cache
def designed(name: str) -> Solution:
    notion, loss, law = STATED[name]
    with (
        mock.patch("mechdesign.designs.continuous.FIRST", (5, 5)),
        mock.patch("mechdesign.designs.continuous.MOST", (5, 5)),
    ):
        found = md.design(md.ContinuousProblem(SQUARE_BOX, notion, loss, prior=law))
    assert isinstance(found, Solution)
    return found


@functools.cache
def atoms(law: Any, k: int) -> tuple[Any, Any]:
    """Return points in the middle of k x k cells, and the masses of the cells."""
    given = law or md.ProductLaw(N("uniform"), N("uniform"))
    edges, masses = np.linspace(0, 1, k + 1), np.zeros(k * k)
    for weight, pair in zip(given.weights, given.parts, strict=True):
        known = (getattr(stats, part.law)(*map(float, part.parameters)) for part in pair)
        sides = [np.diff(axis.cdf(edges)) for axis in known]
        masses += float(weight) * np.outer(*sides).ravel()
    middles = (np.arange(k) + 0.5) / k
    return np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 2), masses


def losses(x: Any, y: Any, power: int) -> Any:
    return np.linalg.norm(np.asarray(x)[:, None] - np.asarray(y), axis=2) ** power


@pytest.mark.parametrize("name", ["ldp, squares", "ldp, distances", "worst, distances"])
def test_bound_and_value_are_those_of_a_program_on_atoms(name: str) -> None:
    solution, (notion, loss, law) = designed(name), STATED[name]
    power = 2 if "squares" in name else 1
    x, masses = atoms(law, 9)
    grid = np.linspace(0, 1, 6)
    y = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    table = losses(x, y, power)
    found = optimum_on_atoms(masses, table, "ldp", float(notion.epsilon), loss.worst_case)
    moved = power * math.sqrt(2) ** power * 0.5 / 9  # what moving an input to its atom may cost
    output = power * math.sqrt(2) ** power * 0.1
    assert float(solution.bound) <= found + moved
    assert float(solution.value) >= found - moved - output


@each
def test_the_value_is_that_of_the_kernel_by_quadrature(name: str) -> None:
    solution, (_, loss, law) = designed(name), STATED[name]
    power = 2 if loss.name == "mean-squared-distance" else 1
    if isinstance(law, md.PlaneSamples):
        x, masses = np.array([list(map(float, p)) for p in law.points]), np.full(3, 1 / 3)
    else:
        x, masses = atoms(law, 24)
    table = losses(x, np.array(solution.channel.outputs), power)
    found = (solution.channel.matrix(x) * table).sum(axis=1)
    if loss.worst_case:
        assert found.max() <= float(solution.value) + 1e-9
        assert found.max() >= 0.75 * float(solution.value)
        return
    value = masses @ found
    assert value <= float(solution.value) * (1 + 2e-3)
    assert value >= float(solution.value) * (0.85 if power == 1 else 0.998)


@pytest.mark.parametrize("name", ["ldp, squares", "ldp, distances", "worst, squares"])
def test_exact_densities_are_private_at_the_budget_and_not_at_less(name: str) -> None:
    solution, epsilon = designed(name), float(STATED[name][0].epsilon)
    rng = np.random.default_rng(4)
    rows = [
        solution.channel.density(tuple(p)) for p in [*rng.uniform(0, 1, (25, 2)), (0, 0), (1, 1)]
    ]
    nodes = [solution.channel.density(t) for t in itertools.product(*solution.channel.axes)]
    ratios = [
        max(column) / min(column) for column in zip(*rows, *nodes, strict=True) if max(column)
    ]
    assert math.log(max(ratios)) <= epsilon + 1e-12
    assert math.log(max(ratios)) > epsilon - 1e-3


def test_lifts_are_bounded_on_the_box() -> None:
    x, masses = atoms(TOWNS, 24)
    kernel = designed("lip, squares").channel.matrix(x)
    lifts = np.log(kernel / (masses @ kernel))
    assert np.abs(lifts).max() <= 1 + 1e-2


def test_a_finer_grid_closes_the_gap() -> None:
    problem = md.ContinuousProblem(SQUARE_BOX, md.LDP(1), SQUARE, prior=TOWNS)
    fine, coarse = md.design(problem, gap=0.12), designed("ldp, squares")
    assert fine.gap <= 0.12 < coarse.gap
    assert max(fine.bound, coarse.bound) <= min(fine.value, coarse.value)


@each
def test_the_file_is_proved_and_read_back(name: str, tmp_path: Path) -> None:
    solution = designed(name)
    md.save(solution, tmp_path / "plane.json")
    saved = md.load_mechanism(tmp_path / "plane.json")
    assert saved.mechanism == solution.channel
    assert saved.verified.value == solution.value
    assert saved.verified.bound >= solution.bound * (1 - Fraction(1, 10**9))
    assert len(saved.mechanism.privatize([(0.2, 0.3)], rng=1)) == 1


TOML = """
[domain]
box = [[0, 0], [1, 2]]
[prior]
{prior}
[privacy]
notion = "ldp"
epsilon = 1
[utility]
objective = "euclidean"
"""


PRIORS = {
    "uniform = true": "",
    "samples = [[0, 1], [0.5, 2]]": "",
    "samples = { file = 'points.csv', columns = ['x', 'y'] }": "",
    "histogram = { edges = [[0, 1], [0, 1, 2]], masses = [[0.5, 0.5]] }": "",
    "product = [{ law = { name = 'beta', parameters = [2, 2] } }, { samples = [0, 1.5] }]": "",
    "mixture = { weights = [1], parts = [[{ samples = [0.5] }, { histogram = "
    "{ edges = [0, 2], masses = [1] } }]] }": "",
    "product = [{ samples = [0] }]": "prior.product: expected two tables",
    "samples = { file = 'points.csv', columns = ['x'] }": "two columns",
    "samples = [[5, 5]]": "samples",
    "law = { name = 'beta', parameters = [2, 2] }": "prior.law",
}
"""Priors in a problem file, each with the message if it is refused."""


@pytest.mark.parametrize("prior", PRIORS)
def test_a_problem_file_states_a_box_and_its_prior(prior: str, tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("x,y\n0.1,0.2\n1,2\n")
    (tmp_path / "problem.toml").write_text(TOML.format(prior=prior))
    if PRIORS[prior]:
        check_refused(PRIORS[prior], lambda: md.load_problem(tmp_path / "problem.toml"))
        return
    problem = md.load_problem(tmp_path / "problem.toml")
    assert isinstance(problem, md.ContinuousProblem)
    assert problem.domain == md.Box((0, 0), (1, 2))


def test_a_problem_of_points_has_another_budget() -> None:
    problem = md.ContinuousProblem(SQUARE_BOX, md.LDP(1), EUCLIDEAN, prior=TOWNS, title="towns")
    again = problem.at("0.5")
    assert (again.privacy, again.prior, again.title) == ((md.LDP("0.5"),), TOWNS, "towns")
    with pytest.raises(md.InputError, match="exactly one notion with an epsilon"):
        md.ContinuousProblem(SQUARE_BOX, [md.LDP(1), md.LDP(2)], EUCLIDEAN).at(1)
