"""Which rays are adjacent is decided in bits: no rounding, no linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign import DifferentialIdentifiability, HammingLoss, Prior, Problem
from mechdesign.search.limits import Limits
from mechdesign.search.rays import enumerate as rays
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
    bad, good = order[:9], order[9:20]
    for k in (2, 2 + rows // 3, 2 + rows):
        first, second = rays._adjacent(tight, bad, good, k, rays._Steps(10**9, Limits()))
        pairs = set(zip(first.tolist(), second.tolist(), strict=True))
        assert len(pairs) == len(first)
        assert pairs == adjacent_by_definition(tight, bad, good, k)


def test_there_may_be_none() -> None:
    none = np.zeros(0, dtype=np.intp)
    first, second = rays._adjacent(
        np.ones((3, 4), dtype=bool), none, np.arange(3), 2, rays._Steps(10**9, Limits())
    )
    assert len(first) == len(second) == 0


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("epsilon", ["1.7", "3", "8"])
def test_rays_of_differential_identifiability_are_those_of_the_definition(
    k: int, epsilon: str
) -> None:
    """They are listed as subsets, divided by the prior; double description finds the same."""
    prior = [1 + x for x in range(k)]
    notion = DifferentialIdentifiability(epsilon)
    problem = Problem(range(k), notion, HammingLoss(), prior=Prior.from_counts(prior))
    found = rays.all_rays(problem.cone)
    expected = extreme_rays(rows(problem)).T
    assert found.shape == expected.shape
    order, other = (np.lexsort(np.round(table, 9)) for table in (found, expected))
    assert found[:, order] == pytest.approx(expected[:, other], rel=1e-9)
