"""Subset selection of two sizes is optimal under high-low LDP, by computations of its own."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize

import mechdesign as md
from mechdesign import HighLowLDP, L2Risk, Problem, TVRisk
from mechdesign.closed_forms.size_classes import HighLowSubsetSelection
from tests.strategies import examples

ROUTE = "closed-form: high-low subset selection"


def problem(
    k: int, s: int, epsilon: Any, utility: Any = None, prior: Any = None, **options: Any
) -> Problem:
    return Problem(
        range(k), HighLowLDP(epsilon, list(range(s))), utility or L2Risk(**options), prior=prior
    )


def risk(matrix: Any, prior: Any) -> float:
    """Return tr M**-1 - |P|**2 of a channel, from the definition."""
    law = prior @ matrix
    M = (matrix / law) @ matrix.T
    return float(np.trace(np.linalg.inv(M)) - prior @ prior)


def best_mixture(s: int, prior: Any, epsilon: float) -> tuple[float, list[int]]:
    """Return the least l2 risk over mixtures of all sizes, and the sizes that are used."""
    k, top = len(prior), math.exp(epsilon)
    parts = []
    for j in range(1, s):
        sets = list(itertools.combinations(range(s), j))
        part = np.array([[top if x in chosen else 1.0 for chosen in sets] for x in range(k)])
        parts.append(part / part[0].sum())
    alone = np.eye(k)[:, s:]

    def channel(shares: Any) -> Any:
        sets = np.hstack([t * part for t, part in zip(shares, parts, strict=True)])
        return np.hstack([sets, alone * (1 - sets[-1].sum())])

    found = minimize(
        lambda t: risk(channel(np.maximum(t, 1e-12) / np.maximum(t, 1e-12).sum()), prior),
        np.full(s - 1, 1 / (s - 1)),
        bounds=[(0, 1)] * (s - 1),
        method="L-BFGS-B",
        options={"ftol": 1e-14, "gtol": 1e-10, "maxiter": 500},
    )
    shares = found.x / found.x.sum()
    return found.fun, [j + 1 for j, t in enumerate(shares) if t > 1e-3]


def sizes_of(given_problem: Problem) -> list[int]:
    words = HighLowSubsetSelection().decide(given_problem).reason.split(" of the ")[0].split()
    return [int(word) for word in words if word.isdigit()]


@pytest.mark.parametrize(("k", "s", "epsilon"), [(8, 4, "1"), (8, 6, "1.5"), (6, 5, "0.5")])
def test_it_is_the_best_mixture_of_all_sizes(k: int, s: int, epsilon: str) -> None:
    prior = np.full(k, 1 / k)
    least, used = best_mixture(s, prior, float(epsilon))
    solution = md.design(problem(k, s, epsilon))
    assert solution.route == ROUTE
    assert solution.status == "optimal"
    assert float(solution.value) == pytest.approx(least, rel=1e-6)
    assert used == sizes_of(problem(k, s, epsilon))
    assert risk(solution.channel.matrix, prior) == pytest.approx(float(solution.value), rel=1e-9)


@examples(8)
@given(st.data())
def test_it_is_the_certified_optimum_wherever_the_sensitive_are_alike(data: st.DataObject) -> None:
    """The numeric route lists all rays; it knows nothing of sizes."""
    s = data.draw(st.integers(2, 5))
    others = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    own = data.draw(st.integers(1, 9))
    prior = md.Prior.from_counts([own] * s + others)
    epsilon = Fraction(data.draw(st.integers(2, 40)), 10)
    utility = data.draw(st.sampled_from([L2Risk(), TVRisk()]))
    given_problem = problem(s + len(others), s, epsilon, utility, prior)
    closed = md.design(given_problem)
    listed = md.design(given_problem, route="estimation")
    assert closed.route == ROUTE
    assert closed.status == "optimal"
    assert float(closed.value) == pytest.approx(float(listed.value), rel=1e-7)
    notion = given_problem.privacy[0]
    assert notion.holds(closed.channel)
    assert not notion.at(epsilon - Fraction(1, 100)).holds(closed.channel)


def test_from_one_size_to_the_next_two_neighbors_are_mixed() -> None:
    """As the budget grows, sets get smaller one by one, each time through a mixture."""
    seen = [sizes_of(problem(8, 6, Fraction(n, 100))) for n in (30, 41, 50, *range(80, 200, 5))]
    assert [sizes for sizes, _ in itertools.groupby(seen)] == [[3], [2, 3], [2], [1, 2], [1]]


def test_outside_its_region_it_gives_a_reason_and_is_worse() -> None:
    uneven = ["0.02", "0.6", "0.08", "0.3"]
    form = HighLowSubsetSelection()
    assert "uniform on the sensitive" in str(form.decide(problem(4, 3, 1, prior=uneven)))
    assert not form.holds(problem(4, 3, 1, worst_case=True))
    assert not form.holds(problem(4, 3, "1e-15"))
    numeric = md.design(problem(4, 3, 1, prior=uneven))
    even = form.optimum(problem(4, 3, 1)).formula().matrix
    assert float(numeric.value) < risk(even, np.array([0.02, 0.6, 0.08, 0.3])) * (1 - 1e-4)


def test_a_large_budget_and_no_other_inputs_are_supported() -> None:
    everything = md.design(problem(4, 4, 1))
    plain = md.design(Problem(range(4), md.LDP(1), L2Risk()))
    assert float(everything.value) == pytest.approx(float(plain.value), rel=1e-9)
    loose = md.design(problem(5, 3, 40))
    assert float(loose.value) == pytest.approx(0.8, abs=1e-9)
