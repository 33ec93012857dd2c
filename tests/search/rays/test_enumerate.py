"""Which rays are adjacent is decided in bits: no rounding, no linear algebra."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import resources
from mechdesign.kernel import verify
from mechdesign.kernel.linearizations import Boxes
from mechdesign.kernel.oracles import Rays, Walk
from mechdesign.notions import Notion
from mechdesign.search.limits import Limits
from mechdesign.search.rays import enumerate as listing, enumerate as rays
from mechdesign.search.rays.boxes import BoxSearch
from mechdesign.search.rays.enumerate import all_rays
from mechdesign.search.rays.extreme_rays import solve_by_rays
from mechdesign.search.rays.raised_sets import RaisedSets
from solvers.definitions import rows
from solvers.vertices import extreme_rays
from tests.strategies import examples


def adjacent_by_definition(
    tight: np.ndarray, bad: np.ndarray, good: np.ndarray, k: int
) -> set[tuple[int, int]]:
    """Pairs that share at least k - 2 tight rows, which no third ray has all of."""
    found = set()
    for a in bad.tolist():
        for b in good.tolist():
            both = tight[a] & tight[b]
            holders = [c for c in range(len(tight)) if (tight[c] | ~both).all()]
            if both.sum() >= k - 2 and holders == sorted((a, b)):
                found.add((a, b))
    return found


@pytest.mark.parametrize("rows", [1, 7, 63, 64, 65, 130])
@pytest.mark.parametrize("chunk", [1, 50, 1 << 20])
def test_neighbors_are_those_of_the_definition(
    rows: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rays, "CHUNK", chunk)
    rng = np.random.default_rng(rows)
    tight = rng.random((24, rows)) < 0.6
    order = rng.permutation(24)
    good = order[9:20]
    for bad, k in (
        (order[:9], 2),
        (order[:9], 2 + rows // 3),
        (order[:9], 2 + rows),
        (order[:0], 2),
    ):
        first, second = rays._adjacent(tight, bad, good, k, rays._Steps(10**9, Limits()))
        pairs = set(zip(first.tolist(), second.tolist(), strict=True))
        assert len(pairs) == len(first)
        assert pairs == adjacent_by_definition(tight, bad, good, k)


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("epsilon", ["1.7", "3", "8"])
def test_rays_of_differential_identifiability_are_those_of_the_definition(
    k: int, epsilon: str
) -> None:
    """They are listed as subsets, divided by the prior, with the ray that raises all inputs."""
    prior = [1 + x for x in range(k)]
    notion = md.DifferentialIdentifiability(epsilon)
    problem = md.Problem(range(k), notion, md.HammingLoss(), prior=md.Prior.from_counts(prior))
    found = rays.all_rays(problem.cone)
    every = prior[0] / np.array([prior])
    expected = np.vstack([extreme_rays(rows(problem)), every]).T
    assert found.shape == expected.shape
    order, other = (np.lexsort(np.round(table, 9)) for table in (found, expected))
    assert found[:, order] == pytest.approx(expected[:, other], rel=1e-9)


# --- the tree of boxes bounds the largest surplus at any potentials -------------------------------


UTILITIES = [md.MutualInformation(), md.PosteriorMeanSquaredError(histogram=True)]


def budgets(rng: np.random.Generator, k: int, infinite: float = 0.2) -> md.ContextAwareLDP:
    E = np.where(rng.random((k, k)) < infinite, np.inf, rng.uniform(0.1, 2, (k, k)).round(2))
    np.fill_diagonal(E, 0)
    return md.ContextAwareLDP([["inf" if np.isinf(e) else str(e) for e in row] for row in E])


def a_problem(rng: np.random.Generator, k: int, kind: int, zero: bool) -> md.Problem:
    prior = md.Prior.from_counts([0 if zero and not x else n for x, n in enumerate(uneven(rng, k))])
    notions: list[Notion] = [
        budgets(rng, k),
        md.MetricPrivacy("0.6", "absolute"),
        md.LIP(1),
        md.LDP("0.8"),
        md.PML("0.5"),
        md.BoundedPriorLIP("0.8", priors=[md.Prior.from_counts(uneven(rng, k)) for _ in range(2)]),
    ]
    return md.Problem(range(k), notions[kind], UTILITIES[int(rng.integers(2))], prior=prior)


def uneven(rng: np.random.Generator, k: int) -> list[int]:
    return [int(n) for n in rng.integers(1, 9, k)]


def largest_surplus(problem: md.Problem, rays: np.ndarray, u: np.ndarray) -> float:
    """Return the most that a ray gains above its price, over rays that ever occur."""
    P = problem.prior.array
    law = rays @ P
    gain = problem.utility.gain(rays.T, P)
    return float(((gain - rays @ u)[law > 0] / law[law > 0]).max())


@pytest.mark.parametrize("kind", range(6))
@pytest.mark.parametrize("seed", range(4))
def test_one_tree_serves_all_potentials(kind: int, seed: int) -> None:
    """The bound holds, and is closest where boxes are left; the kernel proves at least as much.

    The tree of the potentials before is the start, so that it grows from one to the next.
    """
    rng = np.random.default_rng([kind, seed])
    problem = a_problem(rng, int(rng.integers(2, 5)), kind, zero=seed % 4 == 3)
    search = BoxSearch.of(problem, problem.utility)
    if search is None:  # an entry that never counts is not bounded
        assert not all(problem.prior)
        return
    u, size, statement = problem.prior.array.copy(), 0, problem.compiled.statement
    rays = extreme_rays(rows(problem))
    for boxes in (1, 9, 100):
        u = u + 0.2 * rng.normal(size=len(u)) * problem.prior.array
        truth = largest_surplus(problem, rays, u)
        found = search.price(u, 1e-9, boxes)
        certificate = found.proof(problem)
        assert isinstance(certificate.linearization, Boxes)
        most = statement.objective.constant - certificate.bound(statement)
        read = float(most) - float(u.sum())
        assert truth - 1e-9 <= read <= found.surplus + 1e-8
        assert read == pytest.approx(found.surplus, abs=1e-8)
        assert found.surplus >= truth - 1e-9
        assert found.boxes <= boxes + 1
        assert len(certificate.linearization.tree) == search.count >= size
        size = search.count
        if found.boxes < boxes:
            assert found.surplus <= max(1e-9, truth) + 1e-7


@pytest.mark.parametrize("utility", UTILITIES, ids=["information", "histogram"])
def test_the_search_ends_at_the_optimum_or_names_the_limit(
    utility: md.MutualInformation, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = md.Problem(range(5), budgets(np.random.default_rng(1), 5, 0.0), utility)
    optimum = solve_by_rays(problem)
    gain = problem.utility.gain

    def total(matrix: np.ndarray) -> float:
        return float(gain(matrix, problem.prior.array).sum())

    monkeypatch.setattr(listing, "MOST_RAYS", 5)
    for limits in (Limits(), Limits(seconds=1000.0)):
        raw = solve_by_rays(problem, limits)
        assert not limits.ended
        assert isinstance(raw.proofs[0](problem).linearization, Boxes)
        assert total(raw.matrix) == pytest.approx(total(optimum.matrix), rel=1e-6)
    for limits in (Limits(), Limits(seconds=1000.0)):
        with resources.allow(proof_steps=30_000):
            solve_by_rays(problem, limits)
        assert "boxes is too long" in limits.ended


@pytest.mark.parametrize("utility", UTILITIES, ids=["information", "histogram"])
def test_boxes_bound_what_takes_the_checker_too_long_to_list(utility: md.MutualInformation) -> None:
    """A proof by all rays of a sensitive attribute of five values would be refused."""
    parts = np.random.default_rng(0).integers(1, 9, (14, 5)).tolist()
    given = [[Fraction(n, sum(row)) for n in row] for row in parts]
    secret = {"values": list(range(5)), "given_input": given}
    notion = md.SensitiveAttributePrivacy(md.LDP(1), secret)
    problem = md.Problem(range(14), notion, utility, prior=md.Prior.uniform(14))
    for steps, gap in ((500_000, 0.2), (2_000_000, 1e-9)):  # of a tree that ends early, and whole
        with resources.allow(proof_steps=steps):
            found = md.design(problem, time_limit=1000)
        assert found.certificate is not None
        assert isinstance(found.certificate.linearization, Boxes)
        assert abs(found.value - found.bound) <= gap * found.value


def test_time_is_kept_for_the_proof_of_the_tree() -> None:
    """The longer the tree, the more of the time limit is left when the search ends."""
    rng = np.random.default_rng(0)
    problem = md.Problem(range(8), budgets(rng, 8, 0.0), md.MutualInformation())
    search, prior = BoxSearch.of(problem, problem.utility), problem.prior.array
    gains = [search.gains(ray).sum() for ray in search.price(np.zeros(8), 1e-9, 20).rays]
    kept = []
    for boxes in (20, 200):
        limits = Limits(seconds=1000.0)
        search.price(max(gains) * prior, 1e-9, boxes, limits)  # no known column has a surplus
        kept.append(limits.reserve)
    assert kept[1] >= 5 * kept[0] > 0


@pytest.mark.parametrize("units", [-1, 0, 1])
def test_rounding_of_equal_terms_moves_no_end(units: int) -> None:
    """After one bound has moved another, r_1 <= m r_0 holds with equality at their ends.

    With r_1 <= e**0.7 / 2 at its upper end r_0 (1 + e**0.7) >= 3 - e**0.7 / 2. By the ratio alone
    r_0 (1 + 2 e**0.7) >= 3, which is less: the kernel, which rounds, may know no more.
    """
    expected = 3 / (1 + 2 * np.exp(0.7))
    search = BoxSearch.of(md.Problem(range(3), md.LDP("0.7"), UTILITIES[1]), UTILITIES[1])
    ends = search._narrowed(
        np.full(3, 0.5), np.array([2.0, np.exp(0.7) / 2 * (1 + units * 2.0**-52), 1.2])
    )
    assert ends[0][0] == pytest.approx(expected, rel=1e-9)


# Pricing by sets against all rays, and designs by it against the program over all rays.


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
    one_budget = [md.LDP("0.3"), md.LDP(4), md.HighLowLDP(1, [0, k - 1]), md.BlockLDP(1, blocks)]
    return [*one_budget, md.DifferentialIdentifiability("2.2")]


@st.composite
def problems(draw: st.DrawFn) -> md.Problem:
    k = draw(st.integers(4, 8))
    counts = draw(st.lists(st.integers(0, 5), min_size=k, max_size=k))
    counts[0], counts[-1] = counts[0] + 1, counts[-1] + 1
    utility = draw(st.sampled_from([HISTOGRAM, INFORMATION, Cubes()]))
    notion = draw(st.sampled_from(notions(k)))
    if isinstance(notion, md.DifferentialIdentifiability):  # all inputs occur
        counts = [max(1, count) for count in counts]
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
@pytest.mark.parametrize("place", range(5))
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
