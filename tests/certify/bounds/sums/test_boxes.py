"""Whatever tree of boxes a file holds, what the checker reads from it is no less than the truth."""

from __future__ import annotations

import json
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechdesign import (
    LDP,
    LIP,
    PML,
    BoundedPriorLIP,
    CertificateError,
    ContextAwareLDP,
    MetricPrivacy,
    MutualInformation,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    design,
)
from mechdesign.certify import verify
from mechdesign.certify.bounds.sums.boxes import _LiftRegion, reduced_gain_by_boxes
from mechdesign.certify.bounds.sums.lift_knapsack import reduced_gain_by_knapsack
from mechdesign.certify.privacy.check import ratio_limits
from mechdesign.certify.problem import read_statement
from mechdesign.notions import Notion
from mechdesign.routes.rays import enumerate as listing
from mechdesign.utilities import ColumnUtility
from solvers.definitions import rows
from solvers.vertices import extreme_rays

UTILITIES = [MutualInformation(), PosteriorMeanSquaredError(histogram=True)]


def a_notion(rng: np.random.Generator, k: int) -> Notion:
    E = np.where(rng.random((k, k)) < 0.2, np.inf, rng.uniform(0.1, 2, (k, k)).round(2))
    np.fill_diagonal(E, 0)
    matrix = [["inf" if np.isinf(e) else str(e) for e in row] for row in E]
    notions = [
        LIP(1),
        PML("0.7"),
        LDP(1),
        MetricPrivacy("0.6", "absolute"),
        ContextAwareLDP(matrix),
    ]
    return notions[int(rng.integers(len(notions)))]


def a_set_of_priors(rng: np.random.Generator, prior: Prior) -> Notion:
    kind, k = int(rng.integers(3)), len(prior)
    if kind == 0:
        others = [Prior.from_counts(rng.integers(1, 9, k).tolist()) for _ in range(2)]
        return BoundedPriorLIP("0.8", priors=[*others, prior][int(rng.integers(2)) :])
    if kind == 1:
        return BoundedPriorLIP("0.8", center=prior, radius="0.05")
    ends = [[p * Fraction(n, 10) for p in prior] for n in (9, 12)]
    return BoundedPriorLIP("0.8", lower=ends[0], upper=ends[1])


Pairs = list[tuple[int, int]]


def a_tree(rng: np.random.Generator, k: int, pairs: Pairs, depth: int = 5) -> list[Any]:
    """Return a tree that covers all columns, with prices and weights that mean nothing."""
    if depth == 0 or rng.random() < 0.3:
        chosen = [pairs[i] for i in rng.integers(0, len(pairs), 2)] if pairs else []
        x, z = [pair[0] for pair in chosen], [pair[1] for pair in chosen]
        return [[float(rng.normal()), x, z, rng.exponential(size=len(chosen)).tolist()]]
    cut = [int(rng.integers(0, k + 2)), float(rng.uniform(0, 3))]
    return [cut, *a_tree(rng, k, pairs, depth - 1), *a_tree(rng, k, pairs, depth - 1)]


def largest_surplus(problem: Problem, u: np.ndarray[Any, Any]) -> float:
    """Return the most that a ray gains above its price, over rays that ever occur."""
    rays, P = extreme_rays(rows(problem)), problem.prior.array
    law = rays @ P
    gain = problem.utility.gain(rays.T, P)  # type: ignore[attr-defined]
    return float(((gain - rays @ u)[law > 0] / law[law > 0]).max())


@pytest.mark.parametrize("seed", range(120))
def test_any_tree_bounds_the_surplus(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 5))
    prior = Prior.from_counts(rng.integers(1, 9, k).tolist())
    problem = Problem(range(k), a_notion(rng, k), UTILITIES[seed % 2], prior=prior)
    statement = read_statement(json.loads(json.dumps(problem.to_table())))
    u = rng.normal(size=k).round(3)
    prices = [Fraction(str(price)) for price in u]
    truth = largest_surplus(problem, u)
    limits = ratio_limits(statement, statement.privacy[0]) or []
    pairs = [(x, z) for x, row in enumerate(limits) for z, m in enumerate(row) if m and x != z]
    found = reduced_gain_by_boxes(statement, prices, a_tree(rng, k, pairs))
    assert float(found) >= truth - 1e-9
    if isinstance(problem.privacy[0], LIP):
        assert float(reduced_gain_by_knapsack(statement, prices)) == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("seed", range(120))
def test_any_tree_bounds_the_surplus_for_sets_of_priors(seed: int) -> None:
    """Rows of the least entry, the greatest, and P' . r for priors P' of the set."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 4))
    prior = Prior.from_counts(rng.integers(0 if seed % 3 else 1, 9, k).tolist())
    notion = a_set_of_priors(rng, prior)
    problem = Problem(range(k), notion, UTILITIES[seed % 2], prior=prior)
    (family,) = problem.cone.families
    rows_of = family.lift_rows()
    assert rows_of is not None
    listed = rows_of.priors.vertices()[:3]
    statement = read_statement(json.loads(json.dumps(problem.to_table())))
    u = rng.normal(size=k).round(3)
    prices = [Fraction(str(price)) for price in u]
    pairs = [(k, x) for x in range(k)] + [(x, k + 1) for x in range(k)]
    for j in range(len(listed)):
        pairs += [(k + 1, k + 2 + j), (k + 2 + j, k)]
    priors = {"0": [[str(p) for p in one] for one in listed]}
    found = reduced_gain_by_boxes(statement, prices, a_tree(rng, k, pairs), priors)
    assert float(found) >= largest_surplus(problem, u) - 1e-9


@pytest.mark.parametrize("notion", [LIP(1), LDP(1), MetricPrivacy("0.6", "absolute")])
@pytest.mark.parametrize("place", range(5))
def test_what_a_cut_says_of_any_coordinate_is_kept(notion: Notion, place: int) -> None:
    """Entries, the least entry and the greatest: no part is wider than where it was cut."""
    problem = Problem(range(3), notion, MutualInformation(), prior=["0.2", "0.3", "0.5"])
    region = _LiftRegion(read_statement(problem.to_table()), [Fraction(0)] * 3, {})
    box = region.shrunk(region.root())
    assert box is not None
    low, high = box[place]
    cut = (low + high) // 2
    for part in ((low, cut), (cut, high)):
        shrunk = region.shrunk([*box[:place], part, *box[place + 1 :]])
        assert shrunk is None or part[0] <= shrunk[place][0] <= shrunk[place][1] <= part[1]


def test_rows_that_do_not_hold_are_refused() -> None:
    problem = Problem(range(3), BoundedPriorLIP(1, priors=[[1, 0, 0]]), MutualInformation())
    statement = read_statement(problem.to_table())
    for row in ((0, 3), (4, 0), (3, 5), (5, 4), (5, 5), (0, 5), (3, 4), (4, 6)):
        tree = [[0.0, [row[0]], [row[1]], [1.0]]]
        with pytest.raises(CertificateError, match="does not exist"):
            reduced_gain_by_boxes(statement, [Fraction(0)] * 3, tree, {"0": [["1", "0", "0"]]})


@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize(
    "notion",
    [
        BoundedPriorLIP("0.02", priors=[[0.3, 0.1, 0.2, 0.3, 0.1], [0.2] * 5]),
        BoundedPriorLIP("0.5", center=[0.2, 0.2, 0.3, 0.2, 0.1], radius="0.02"),
        BoundedPriorLIP("0.5", lower=[0.15] * 4 + ["0.1"], upper=[0.3] * 4 + ["0.1"]),
    ],
)
def test_boxes_find_what_all_rays_find_for_a_set_of_priors(
    notion: Notion, utility: ColumnUtility, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rays are not listed, boxes are cut until they prove the same optimum."""
    problem = Problem(range(5), notion, utility, prior=[0.2, 0.2, 0.3, 0.2, 0.1])
    optimum = design(problem)
    monkeypatch.setattr(listing, "MOST_RAYS", 4)
    solution = design(problem)
    assert optimum.status == solution.status == "optimal"
    assert float(solution.value) == pytest.approx(float(optimum.value), rel=1e-6)
    assert solution.certificate["dual"]["search"] == "boxes"
    verify(json.loads(json.dumps(solution.document())))


@pytest.mark.parametrize("rate", [0.01, 1.0, 100.0])
def test_the_clock_changes_nothing(rate: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine a hundred times faster or slower the answer is the same, number for number."""
    E = np.random.default_rng(1).uniform(0.2, 1, (5, 5)).round(2)
    np.fill_diagonal(E, 0)
    problem = Problem(range(5), ContextAwareLDP(E.tolist()), MutualInformation())
    monkeypatch.setattr(listing, "MOST_RAYS", 4)
    expected, clock = design(problem), time.perf_counter
    monkeypatch.setattr(time, "perf_counter", lambda: rate * clock())
    found = design(problem)
    assert (found.channel, found.bound, found.route) == (
        expected.channel,
        expected.bound,
        expected.route,
    )
    assert found.certificate == expected.certificate


def test_a_tree_that_stops_short_or_goes_on_is_refused() -> None:
    problem = Problem(range(3), LDP(1), MutualInformation())
    statement = read_statement(problem.to_table())
    leaf, zero = [0.0, [], [], []], [Fraction(0)] * 3
    for tree, why in (
        ([[0, 1.0], leaf], "not complete"),
        ([leaf, leaf], "too many leaves"),
        ([[5, 1.0], leaf, leaf], "does not exist"),
        ([[0.0, [0], [1], [-1.0]]], "negative"),
        ([[0.0, [0], [0], [1.0]]], "does not exist"),
        ([[0.0, [-1], [1], [1.0]]], "does not exist"),
    ):
        with pytest.raises(CertificateError, match=why):
            reduced_gain_by_boxes(statement, zero, tree)
