"""Whatever intervals a file holds, what the checker proves by sets is no less than the truth."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from mechdesign import (
    LDP,
    LIP,
    BayesAccuracy,
    BlockLDP,
    CertificateError,
    ContextAwareLDP,
    HighLowLDP,
    LimitError,
    MutualInformation,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    design,
)
from mechdesign.certify import verify
from mechdesign.certify.bounds.sums.gains import gain
from mechdesign.certify.bounds.sums.rays import all_rays
from mechdesign.certify.bounds.sums.reduced_gains import potentials_bound, reduced_gain_by_rays
from mechdesign.certify.bounds.sums.sets import rays_above
from mechdesign.certify.problem import Statement, number, read_statement
from mechdesign.certify.proof import BOUNDS
from mechdesign.certify.schema.certificates import SETS_DUAL
from mechdesign.notions import Notion
from tests.documents import sealed

UTILITIES = [MutualInformation(), PosteriorMeanSquaredError(histogram=True)]


def a_problem(rng: np.random.Generator) -> Problem:
    k = int(rng.integers(3, 8))
    half = k // 2
    notions: list[Notion] = [
        LDP("0.7"),
        LDP(3),
        HighLowLDP(1, [0, k - 1]),
        BlockLDP(1, [list(range(half)), list(range(half, k))]),
    ]
    prior = Prior.from_counts([1, *rng.integers(0, 4, k - 2).tolist(), 2])
    notion = notions[int(rng.integers(len(notions)))]
    return Problem(range(k), notion, UTILITIES[int(rng.integers(2))], prior=prior)


def potentials_of(rng: np.random.Generator, problem: Problem) -> list[Fraction]:
    """Return potentials, alike for some inputs that are alike, at which no lone input is free."""
    drawn = zip(sorted(set(problem.prior)), rng.integers(-9, 9, 9), strict=False)
    by_prior = {p: Fraction(int(n), 64) for p, n in drawn}
    u = [by_prior[p] for p in problem.prior]
    return [max(v, Fraction(0)) if p == 0 else v for v, p in zip(u, problem.prior, strict=True)]


def intervals_of(rng: np.random.Generator, problem: Problem) -> list[Any]:
    """Return intervals and multipliers that mean nothing, for each block."""
    found = []
    blocks = _blocks(problem)
    low = float(np.exp(-float(problem.privacy[0].epsilon)))  # type: ignore[attr-defined]
    for block, inputs in blocks:
        least = low * float(sum(problem.prior[z] for z in block))
        most = least + (1 - low) * float(sum(problem.prior[x] for x in inputs))
        ends = np.sort(rng.uniform(least, most, int(rng.integers(0, 4)))).tolist()
        found.append([ends, rng.normal(size=len(ends) + 2).tolist()])
    return found


def _blocks(problem: Problem) -> list[tuple[list[int], list[int]]]:
    k, notion = len(problem.domain), problem.privacy[0]
    if isinstance(notion, HighLowLDP):
        return [(list(range(k)), [0, k - 1])]
    if isinstance(notion, BlockLDP):
        halves = [list(range(k // 2)), list(range(k // 2, k))]
        return [(half, half) for half in halves if len(half) > 1]
    return [(list(range(k)), list(range(k)))]


def truth(statement: Statement, u: list[Fraction]) -> Fraction:
    """Return the largest reduced gain by listing all rays."""
    worth = partial(gain, statement, up=True)
    return reduced_gain_by_rays(all_rays(statement), statement.prior, u, worth)


@pytest.mark.parametrize("seed", range(60))
def test_the_bound_is_the_larger_of_the_claim_and_the_truth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = a_problem(rng)
    statement = read_statement(problem.to_table())
    u = potentials_of(rng, problem)
    most = truth(statement, u)
    for surplus in map(float, (most - Fraction(1, 7), most, most + Fraction(1, 10**6), most + 1)):
        claim = number(surplus)
        dual = {"potential": [float(v) for v in u], "search": "sets", "surplus": surplus}
        dual["intervals"] = intervals_of(rng, problem)
        if any(sum(problem.prior[z] for z in block) == 0 for block, _ in _blocks(problem)):
            with pytest.raises(CertificateError, match="blocks that occur"):
                potentials_bound(statement, dual)
            continue
        found = potentials_bound(statement, dual)
        if not statement.is_maximized:
            found = 1 - found
        assert found - sum(u) == max(claim, most)
        beyond = list(rays_above(statement, u, claim, dual["intervals"]))
        worth = partial(gain, statement, up=True)
        listed = {_scaled(q) for q in beyond}
        for q in all_rays(statement):
            above = reduced_gain_by_rays([q], statement.prior, u, worth, claim) > claim
            alike = any(_is_moved(problem, u, q, other) for other in listed)
            assert not above or alike


def _scaled(q: Any) -> tuple[Fraction, ...]:
    return tuple(Fraction(v, max(q)) for v in q)


def _is_moved(problem: Problem, u: list[Fraction], q: Any, other: tuple[Fraction, ...]) -> bool:
    """Return whether two rays are one but for inputs of one probability and potential."""
    kinds = [sorted(zip(problem.prior, u, ray, strict=True)) for ray in (_scaled(q), other)]
    return kinds[0] == kinds[1]


def test_intervals_that_are_none_are_refused() -> None:
    problem = Problem(range(4), LDP(1), MutualInformation(), prior=["0.1", "0.2", "0.3", "0.4"])
    statement, u = read_statement(problem.to_table()), [Fraction(1, 8)] * 4
    wrong = {
        "intervals for each block": [],
        "a multiplier for each end": [[[0.5], [0.0, 0.0]]],
        "do not rise": [[[0.6, 0.5], [0.0] * 4]],
        "do not rise within": [[[0.1], [0.0] * 3]],
        "ends of intervals": [[[1.5], [0.0] * 3]],
    }
    for message, intervals in wrong.items():
        with pytest.raises(CertificateError, match=message):
            list(rays_above(statement, u, Fraction(0), intervals))


@pytest.mark.parametrize(
    "notion", [ContextAwareLDP([[0, 1, 1], [1, 0, 1], [2, 1, 0]]), LDP(0), LDP(60)]
)
def test_another_structure_than_one_budget_is_refused(notion: Notion) -> None:
    problem = Problem(range(3), notion, MutualInformation(), prior=["0.2", "0.3", "0.5"])
    statement = read_statement(problem.to_table())
    with pytest.raises(CertificateError, match="one budget"):
        list(rays_above(statement, [Fraction(0)] * 3, Fraction(0), [[[], [0.0, 0.0]]]))


@pytest.mark.parametrize(
    ("notion", "utility"), [(LIP(1), MutualInformation()), (LDP(1), BayesAccuracy())]
)
def test_the_kind_is_for_its_notions_and_objectives(notion: Notion, utility: Any) -> None:
    problem = Problem(range(3), notion, utility, prior=["0.2", "0.3", "0.5"])
    dual = {"weights": None, "rows": [], "potential": [1.0] * 3, "search": "sets"}
    dual |= {"surplus": 1.0, "intervals": [[[], [0.0, 0.0]]]}
    with pytest.raises(CertificateError, match=r"dual sets (needs a notion|is no bound)"):
        BOUNDS[SETS_DUAL.says](read_statement(problem.to_table()), dual)


def sixteen() -> Any:
    problem = Problem(range(16), LDP(1), UTILITIES[1], prior=Prior.from_counts(range(1, 17)))
    return design(problem).document()


def test_a_changed_file_is_refused_or_proves_no_more() -> None:
    file = sixteen()
    dual = file["certificate"]["dual"]
    assert dual["search"] == "sets"
    assert verify(file)
    inner, multipliers = dual["intervals"][0]
    assert all(a < b for a, b in pairwise(inner))
    dual["intervals"][0] = [inner[::2], multipliers[: len(inner[::2]) + 2]]
    assert verify(sealed(file))  # the walk is longer, and the bound the same
    dual["surplus"] += 1e-6
    with pytest.raises(CertificateError, match="bound"):
        verify(sealed(file))
    dual["surplus"] = -1.0  # far below the truth: all sets are left, and counted
    dual["intervals"][0] = [[], [0.0, 0.0]]
    with pytest.raises((CertificateError, LimitError)):
        verify(sealed(file))
