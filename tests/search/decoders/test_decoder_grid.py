"""The posterior-mean squared error by decoder grids is the optimum over all extreme rays."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.evidence.rows import block_of
from mechdesign.kernel import verify
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.linearizations import Decoders
from mechdesign.kernel.oracles import Orthant
from mechdesign.notions import Notion
from mechdesign.search.decoders.search import merge_columns
from solvers import SOLVERS
from tests.strategies import examples

FloatArray = npt.NDArray[np.float64]

SEEDS = st.integers(0, 10**6)


def random_prior(rng: np.random.Generator, k: int) -> md.Prior:
    return md.Prior.from_counts(rng.integers(1, 1000, k).tolist())


def problem_of(values: Any, notion: Any, prior: md.Prior | list[float], **more: Any) -> md.Problem:
    return md.Problem(
        range(len(values)), notion, md.PosteriorMeanSquaredError(values), prior=prior, **more
    )


def counted(k: int, notion: Notion) -> md.Problem:
    counts = np.random.default_rng(0).integers(1, 50, k).tolist()
    return problem_of(range(k), notion, md.Prior.from_counts(counts))


def check(
    problem: md.Problem, optimum: float | None = None, route: str = "decoder-grid"
) -> md.Solution:
    solution = md.design(problem, route=route)
    assert solution.status == "optimal"
    if optimum is not None:
        assert float(solution.value) == pytest.approx(optimum, rel=1e-6, abs=1e-15)
    assert solution.bound <= solution.value
    assert problem.cone.holds(solution.channel)
    verify(json.loads(json.dumps(solution.document())))
    return solution


def two_priors(rng: np.random.Generator, k: int) -> md.BoundedPriorLIP:
    return md.BoundedPriorLIP(0.7, [random_prior(rng, k).probabilities for _ in range(2)])


NOTIONS: dict[str, Callable[[np.random.Generator, int], Notion | list[Notion]]] = {
    **{f"LDP {epsilon}": lambda *_, e=epsilon: md.LDP(e) for epsilon in (0.1, 1, 3)},
    **{f"LIP {epsilon}": lambda *_, e=epsilon: md.LIP(e) for epsilon in (0.1, 0.5, 1, 3)},
    "PML": lambda *_: md.PML(0.7),
    "lift": lambda *_: md.AsymmetricLift(0.3, 1.1),
    "matrix": lambda rng, k: md.ContextAwareLDP(
        [
            ["inf" if rng.random() < 0.3 else round(rng.uniform(0.1, 3), 3) for _ in range(k)]
            for _ in range(k)
        ]
    ),
    "metric": lambda rng, _: md.MetricPrivacy(round(rng.uniform(0.2, 2), 3), "absolute"),
    "high-low": lambda rng, k: md.HighLowLDP(round(rng.uniform(0.2, 2), 3), [0, k - 1]),
    "LIP and LDP": lambda *_: [md.LIP(0.8), md.LDP(1)],
    "both sides": lambda *_: [md.AsymmetricLift(0.5, "inf"), md.PML(0.4)],
    "two priors": two_priors,
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", NOTIONS)
def test_the_optimum_is_that_over_all_rays(name: str, seed: int) -> None:
    """Extreme rays are exact, by theory, for a concave loss."""
    rng = np.random.default_rng(seed)
    k = 2 + seed
    values = rng.normal(size=k).round(2).tolist()
    values = values if seed else [int(x == 1) for x in range(k)]
    problem = problem_of(values, NOTIONS[name](rng, k), random_prior(rng, k))
    check(problem, SOLVERS["vertices"](problem).value)


WEIGHTS = st.integers(0, 1000).map(lambda n: n / 1000)


@pytest.mark.slow
@given(st.lists(WEIGHTS, min_size=4, max_size=4), st.floats(0.01, 2))
def test_any_weights_give_a_bound(weights: list[float], epsilon: float) -> None:
    """Whatever the weights and however coarse the decoders: never above the optimum."""
    problem = md.Problem([0, 1], md.LDP(epsilon), md.PosteriorMeanSquaredError(), prior=[0.3, 0.7])
    optimum = md.design(problem).value
    rows = [(node, x, 1 - x, w) for (node, x), w in zip(np.ndindex(2, 2), weights, strict=True)]
    line, block = Decoders((Fraction(0), Fraction(1))), block_of("cone", 0, "", rows)
    bound = Certificate(line, Orthant(), (), (block,)).bound(problem.compiled.statement)
    assert bound <= optimum + Fraction(1, 10**15)


def test_too_few_outputs_are_refused() -> None:
    problem = problem_of(range(4), md.LIP(1), [0.1, 0.2, 0.3, 0.4], outputs=["only one"])
    with pytest.raises(md.UnsupportedError, match=r"outputs\.values"):
        md.design(problem)


@pytest.mark.parametrize(("k", "epsilon"), [(3, "0.25"), (4, "0.32")])
def test_a_search_that_ends_at_the_constant_channel_is_not_the_last_word(
    k: int, epsilon: str
) -> None:
    """At the uniform prior the fast search stays where nothing is told: a stationary point."""
    values = [1] + [0] * (k - 1)
    problem = md.Problem(range(k), md.LDP(epsilon), md.PosteriorMeanSquaredError(values=values))
    found, rays = md.design(problem), md.design(problem, route="extreme-rays")
    assert found.status == rays.status == "optimal"
    assert math.isclose(found.value, rays.value, rel_tol=1e-6)
    assert found.value < Fraction(k - 1, k**2) * Fraction(99, 100)


@pytest.mark.slow
def test_a_degenerate_program_does_not_stall() -> None:
    """Its primal simplex method goes on for minutes in one of 59 rounds, if it is let."""
    rng = random.Random(2)
    weights = [rng.randrange(1, 20) for _ in range(93)][33:]
    notion, utility = md.MetricPrivacy("0.5", "absolute"), md.PosteriorMeanSquaredError()
    problem = md.Problem(60, notion, utility, prior=md.Prior.from_counts(weights))
    found = md.design(problem, gap=0.01)
    assert found.gap <= 0.01


@examples(25)
@given(SEEDS, st.floats(0, 0.01))
def test_merging_has_the_stated_cost(seed: int, budget: float) -> None:
    rng = np.random.default_rng(seed)
    k, m = 4, int(rng.integers(1, 9))
    P, f, Q = rng.dirichlet(np.ones(k)), rng.random(k), rng.dirichlet(np.ones(m), k)

    def gain(columns: FloatArray) -> float:
        return float(((P * f @ columns) ** 2 / (P @ columns)).sum())

    merged = merge_columns(Q, P @ Q, P * f @ Q, budget)
    means = P * f @ merged / (P @ merged)
    assert np.allclose(merged.sum(axis=1), 1)
    assert -1e-12 <= gain(Q) - gain(merged) <= budget + 1e-12
    assert all(a <= b for a, b in pairwise(means))
    assert merge_columns(Q, P @ Q, P * f @ Q, 1.0).shape[1] == 1


@pytest.mark.parametrize("notion", [md.LIP(1), md.PML("0.5"), md.LDP(1)], ids=repr)
def test_inputs_that_never_occur_change_nothing(notion: Notion) -> None:
    few = problem_of([5, 1, 2], notion, md.Prior.from_counts([1, 2, 3]))
    more = problem_of([-100, 5, 1, 1, 2], notion, md.Prior.from_counts([0, 1, 2, 0, 3]))
    alone, together = md.design(few, route="decoder-grid"), check(more)
    assert float(together.value) == pytest.approx(float(alone.value), rel=1e-8)
    assert together.gap <= 1e-8


def test_f_may_be_constant_where_it_matters() -> None:
    problem = problem_of([4, 4, 9], md.LIP(1), md.Prior.from_counts([1, 1, 0]))
    solution = md.design(problem, route="decoder-grid")
    assert solution.value == solution.bound == 0


@pytest.mark.parametrize("shift", [-3, 10**9])
@pytest.mark.parametrize("scale", ["1/1000000000000", "1", "1000000000000"])
def test_units_do_not_matter(shift: int, scale: str) -> None:
    plain, prior = [0, 1, 1, 4, 9], [0.1, 0.3, 0.2, 0.2, 0.2]
    values = [shift + Fraction(scale) * v for v in plain]
    solution = md.design(problem_of(values, md.LIP("0.7"), prior), route="decoder-grid")
    wanted = md.design(problem_of(plain, md.LIP("0.7"), prior)).value * Fraction(scale) ** 2
    assert float(solution.value) == pytest.approx(float(wanted), rel=1e-8)
    assert float(solution.bound) == pytest.approx(float(solution.value), rel=1e-8)


@pytest.mark.parametrize(
    "notion", [md.LIP(1), md.LDP(1), md.HighLowLDP(1, list(range(40)))], ids=repr
)
def test_many_inputs(notion: Notion) -> None:
    assert check(counted(70, notion), route="auto").gap <= 5e-7


def test_the_file_is_small() -> None:
    certificate = md.design(counted(30, md.LIP(1))).certificate
    assert certificate.multipliers == ()
    assert len(certificate.prices or ()) == 30
    assert isinstance(certificate.linearization, Decoders)
    assert len(certificate.linearization.nodes) <= 200
