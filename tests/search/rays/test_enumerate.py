"""Which rays are adjacent is decided in bits: no rounding, no linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

import mechdesign as md
from mechdesign.kernel.linearizations import Boxes
from mechdesign.notions import Notion
from mechdesign.search.limits import Limits
from mechdesign.search.rays import boxes as tree, enumerate as listing, enumerate as rays
from mechdesign.search.rays.boxes import BoxSearch
from mechdesign.search.rays.extreme_rays import solve_by_rays
from solvers.definitions import rows
from solvers.vertices import extreme_rays


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
    """They are listed as subsets, divided by the prior; double description finds the same."""
    prior = [1 + x for x in range(k)]
    notion = md.DifferentialIdentifiability(epsilon)
    problem = md.Problem(range(k), notion, md.HammingLoss(), prior=md.Prior.from_counts(prior))
    found = rays.all_rays(problem.cone)
    expected = extreme_rays(rows(problem)).T
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
    monkeypatch.setattr(tree, "MOST_ENTRIES", 5 * 70)
    for limits in (Limits(), Limits(seconds=1000.0)):
        solve_by_rays(problem, limits)
        assert "boxes is too long" in limits.ended


def test_time_is_kept_for_the_proof_of_the_tree() -> None:
    """The longer the tree, the more of the time limit is left when the search ends."""
    rng = np.random.default_rng(0)
    problem = md.Problem(range(8), budgets(rng, 8, 0.0), md.MutualInformation())
    search = BoxSearch.of(problem, problem.utility)
    kept = []
    for boxes in (20, 200):
        limits = Limits(seconds=1000.0)
        search.price(np.zeros(8), 1e-9, boxes, limits)
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
