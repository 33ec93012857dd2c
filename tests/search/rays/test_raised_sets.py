"""Pricing by sets against all rays, and designs by it against the program over all rays."""

from __future__ import annotations

import math
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.kernel import verify
from mechdesign.kernel.oracles import Rays, Walk
from mechdesign.notions import Notion
from mechdesign.search.limits import Limits
from mechdesign.search.rays.enumerate import all_rays
from mechdesign.search.rays.raised_sets import RaisedSets
from tests.strategies import examples

HISTOGRAM, INFORMATION = md.PosteriorMeanSquaredError(histogram=True), md.MutualInformation()


class Cubes(md.ColumnUtility):
    """A gain of the user's own that splits: Sum_x P_x q_x^3 / (P . q)^2."""

    name = "cubes"
    sense = "maximize"

    def gain(self, columns: np.ndarray, prior: np.ndarray) -> np.ndarray:
        law = prior @ columns
        cubes = (prior[:, None] * columns**3).sum(axis=0)
        found: np.ndarray = np.divide(cubes, law**2, out=np.zeros_like(law), where=law > 0)
        return found

    def coordinate_gain(self, x: np.ndarray, r: np.ndarray, prior: np.ndarray) -> Any:
        return prior[x] * r**3


def notions(k: int) -> list[Notion]:
    half = k // 2
    blocks = [list(range(half)), list(range(half, k))]
    return [md.LDP("0.3"), md.LDP(4), md.HighLowLDP(1, [0, k - 1]), md.BlockLDP(1, blocks)]


@st.composite
def problems(draw: st.DrawFn) -> md.Problem:
    k = draw(st.integers(4, 8))
    counts = draw(st.lists(st.integers(0, 5), min_size=k, max_size=k))
    counts[0], counts[-1] = counts[0] + 1, counts[-1] + 1
    utility = draw(st.sampled_from([HISTOGRAM, INFORMATION, Cubes()]))
    notion = draw(st.sampled_from(notions(k)))
    return md.Problem(range(k), notion, utility, prior=md.Prior.from_counts(counts))


def surplus_of_all(problem: md.Problem, pricer: RaisedSets, u: np.ndarray) -> float:
    """Return the largest surplus by listing all rays that ever occur, and the constant ones."""
    prior, k = problem.prior.array, len(problem.domain)
    flat = np.zeros((k, len(pricer.blocks)))
    for n, block in enumerate(pricer.blocks):
        flat[block.block, n] = 1.0
    rays = np.hstack([all_rays(problem.cone), flat])
    rays = rays[:, prior @ rays > 0]
    return float(((pricer.gain(rays) - u @ rays) / (prior @ rays)).max())


@examples(30)
@given(problem=problems(), seed=st.integers(0, 10**6), goal=st.sampled_from([1e-9, 1e-2]))
def test_the_largest_surplus_is_that_of_all_rays(
    problem: md.Problem, seed: int, goal: float
) -> None:
    pricer = RaisedSets.of(problem, problem.utility)
    u = pricer.potentials(np.random.default_rng(seed).normal(scale=0.2, size=pricer.size))
    true = surplus_of_all(problem, pricer, u)
    wide = pricer.price(u, goal, 10**6)
    assert true - 1e-12 <= wide.surplus <= max(true, goal) + 1e-9 + goal
    narrow = pricer.price(u, goal, 3)
    assert narrow.surplus >= true - 1e-12
    over = pricer.price(u, goal, 10**6, Limits(seconds=1e-9))
    assert over.surplus >= true - 1e-12
    for ray in wide.rays:
        if true > 0:
            assert float(pricer.gain(ray[:, None])[0] - u @ ray) > -1e-12
    if true > goal:
        best = max(
            float((pricer.gain(r[:, None])[0] - u @ r) / (problem.prior.array @ r))
            for r in wide.rays
        )
        assert math.isclose(best, true, rel_tol=1e-9)


def test_inputs_that_are_alike_change_places() -> None:
    problem = md.Problem(
        range(5), md.LDP(1), HISTOGRAM, prior=md.Prior.from_counts([2, 2, 2, 1, 3])
    )
    pricer = RaisedSets.of(problem, HISTOGRAM)
    found = pricer.price(np.array([0.3, 0.1, 0.2, 0.1, 0.0]), 1e-9, 1000)
    certificate = found.proof(problem)
    prices = [-float(price) for price in certificate.prices or ()]
    np.testing.assert_allclose(prices, [0.2, 0.2, 0.2, 0.1, 0.0])
    rays = {tuple(ray) for ray in np.round(found.rays, 9)}
    assert {(r[1], r[2], r[0], *r[3:]) for r in rays} == rays


SCALAR = md.PosteriorMeanSquaredError().on(md.Domain.range(3))


@pytest.mark.parametrize(
    ("notion", "prior", "utility"),
    [
        (md.ContextAwareLDP([[0, 1, 2], [1, 0, 1], [1, 1, 0]]), ["0.2", "0.3", "0.5"], HISTOGRAM),
        (md.BlockLDP(1, [[0, 1], [2]]), ["0", "0", "1"], HISTOGRAM),
        (md.LDP(100), ["0.2", "0.3", "0.5"], HISTOGRAM),
        (md.LDP(1), ["0.2", "0.3", "0.5"], SCALAR),  # it does not split
    ],
)
def test_another_structure_has_no_sets(notion: Notion, prior: list[str], utility: Any) -> None:
    assert RaisedSets.of(md.Problem(range(3), notion, utility, prior=prior), utility) is None


@pytest.mark.parametrize("utility", [HISTOGRAM, INFORMATION, Cubes()])
@pytest.mark.parametrize("place", range(4))
def test_a_design_by_sets_is_the_best_mixture_of_all_rays(
    utility: md.ColumnUtility, place: int
) -> None:
    k = 6
    prior = md.Prior.from_counts([1, 2, 2, 5, 8, 8])
    problem = md.Problem(range(k), notions(k)[place], utility, prior=prior)
    listed = md.design(problem, route="extreme-rays")
    many = md.UnsupportedError("domain", "a cone of few extreme rays", "more")
    with mock.patch("mechdesign.search.rays.extreme_rays.all_rays", side_effect=many):
        found = md.design(problem, route="extreme-rays")
    assert any("sets of inputs" in note for note in found.notes)
    assert math.isclose(float(found.value), float(listed.value), rel_tol=1e-9)
    assert found.status == "optimal"
    if utility.exact:
        assert found.gap <= 1e-9
        assert verify(found.document())


@pytest.mark.parametrize(("k", "utility"), [(15, HISTOGRAM), (15, INFORMATION)])
def test_more_rays_than_can_be_listed_have_a_proved_optimum(k: int, utility: Any) -> None:
    prior = md.Prior.from_counts(np.random.default_rng(5).integers(1, 10**6, k).tolist())
    solution = md.design(md.Problem(range(k), md.LDP(1), utility, prior=prior))
    assert isinstance(solution.certificate.oracle, Rays)
    assert isinstance(solution.certificate.oracle.source, Walk)
    assert solution.gap <= 1e-9
    assert verify(solution.document())


def test_information_of_more_inputs_than_a_walk_can_tell_apart_is_optimal() -> None:
    """The gain depends on the probability of a set alone, so that very many are nearly the best."""
    prior = md.Prior.from_counts(np.random.default_rng(24).integers(1, 100, 24).tolist())
    assert md.design(md.Problem(range(24), md.LDP(1), INFORMATION, prior=prior)).gap <= 1e-6
