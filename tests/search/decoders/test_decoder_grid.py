"""The posterior-mean squared error by decoder grids is the optimum over all extreme rays."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import linprog

from mechdesign import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    BoundedPriorLIP,
    ContextAwareLDP,
    HighLowLDP,
    MetricPrivacy,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    design,
)
from mechdesign.errors import CertificateError, UnsupportedError
from mechdesign.evidence.multipliers import block_of
from mechdesign.kernel import digest, verify
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.linearizations import Decoders
from mechdesign.kernel.oracles import Orthant
from mechdesign.notions import Notion
from mechdesign.search.decoders.search import merge_columns
from solvers import SOLVERS
from tests.strategies import examples

FloatArray = npt.NDArray[np.float64]

SEEDS = st.integers(0, 10**6)


def ray_optimum(problem: Problem, rays: FloatArray) -> float:
    """Return the best mixture of rays that sums to 1: exact, by theory, for a concave loss."""
    P = problem.prior.array
    f = np.array(
        [float(v) for v in PosteriorMeanSquaredError.values(problem.utility, problem.domain)]
    )
    law = rays @ P
    gain = np.divide((rays @ (P * f)) ** 2, law, out=np.zeros(len(rays)), where=law > 0)
    found = linprog(-gain, A_eq=rays.T, b_eq=np.ones(len(P)), method="highs-ds")
    return float(P @ f**2 + found.fun)


def ldp_rays(k: int, epsilon: float) -> FloatArray:
    """All columns with entries 1 and e**epsilon, and the constant one."""
    choices = itertools.product([1.0, math.exp(epsilon)], repeat=k)
    return np.array([row for row in choices if row[0] == 1 or min(row) == 1] or [[1.0] * k])


def lift_rays(prior: FloatArray, low: float, high: float) -> FloatArray:
    """All points of {low <= r <= high, P . r = 1} with at most one entry between the ends."""
    k, rays = len(prior), []
    for between in range(k):
        for ends in itertools.product([low, high], repeat=k - 1):
            r = np.insert(np.array(ends), between, 0.0)
            r[between] = (1 - prior @ r) / prior[between]
            if low - 1e-12 <= r[between] <= high + 1e-12:
                rays.append(np.clip(r, low, high))
    return np.array(rays)


def random_prior(rng: np.random.Generator, k: int) -> Prior:
    return Prior.from_counts(rng.integers(1, 1000, k).tolist())


def check(problem: Problem, optimum: float) -> None:
    solution = design(problem, route="decoder-grid")
    scale = max(1e-9, float(solution.value))
    assert solution.status == "optimal"
    assert abs(float(solution.value) - optimum) <= 1e-6 * scale
    assert solution.bound is not None
    assert solution.bound <= solution.value
    assert problem.cone.holds(solution.channel)
    verify(json.loads(json.dumps(solution.document())))


@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_equals_all_rays_under_ldp(k: int, epsilon: float) -> None:
    rng = np.random.default_rng(k)
    values = rng.normal(size=k).round(3).tolist()
    utility = PosteriorMeanSquaredError(values)
    problem = Problem(range(k), LDP(epsilon), utility, prior=random_prior(rng, k))
    check(problem, ray_optimum(problem, ldp_rays(k, epsilon)))


@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
def test_equals_all_rays_under_lip_in_its_region_and_off_it(k: int, epsilon: float) -> None:
    rng = np.random.default_rng(100 + k)
    prior = random_prior(rng, k)
    problem = Problem(range(k), LIP(epsilon), PosteriorMeanSquaredError(), prior=prior)
    rays = lift_rays(prior.array, math.exp(-epsilon), math.exp(epsilon))
    check(problem, ray_optimum(problem, rays))


@pytest.mark.parametrize("k", [3, 6])
def test_equals_all_rays_under_pml_and_lift_bounds(k: int) -> None:
    rng = np.random.default_rng(200 + k)
    prior = random_prior(rng, k)
    utility = PosteriorMeanSquaredError([int(x == 1) for x in range(k)])
    pml = Problem(range(k), PML(0.7), utility, prior=prior)
    check(pml, ray_optimum(pml, lift_rays(prior.array, 0.0, math.exp(0.7))))
    lift = Problem(range(k), AsymmetricLift(0.3, 1.1), utility, prior=prior)
    check(lift, ray_optimum(lift, lift_rays(prior.array, math.exp(-0.3), math.exp(1.1))))


NOTIONS: list[Callable[[np.random.Generator, int], Notion]] = [
    lambda rng, k: ContextAwareLDP(
        [
            ["inf" if rng.random() < 0.3 else round(rng.uniform(0.1, 3), 3) for _ in range(k)]
            for _ in range(k)
        ]
    ),
    lambda rng, _: MetricPrivacy(round(rng.uniform(0.2, 2), 3), "absolute"),
    lambda rng, k: HighLowLDP(round(rng.uniform(0.2, 2), 3), [0, k - 1]),
]


@pytest.mark.parametrize("make", NOTIONS)
@pytest.mark.parametrize("seed", range(6))
def test_equals_brute_force_over_rays(
    make: Callable[[np.random.Generator, int], Notion], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    k = 3 + seed % 2
    utility = PosteriorMeanSquaredError(rng.normal(size=k).round(2).tolist())
    problem = Problem(range(k), make(rng, k), utility, prior=random_prior(rng, k))
    check(problem, SOLVERS["vertices"](problem).value)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_equals_brute_force_under_two_notions_and_a_set_of_priors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = 3 + seed % 2
    prior = random_prior(rng, k)
    other = random_prior(rng, k).probabilities
    utility = PosteriorMeanSquaredError(rng.normal(size=k).round(2).tolist())
    for notions in (
        [LIP(0.8), LDP(1)],
        [AsymmetricLift(0.5, "inf"), PML(0.4)],
        [BoundedPriorLIP(0.7, [prior.probabilities, other])],
        [BoundedPriorLIP(0.7, [prior.probabilities])],
    ):
        problem = Problem(range(k), notions, utility, prior=prior)
        check(problem, SOLVERS["vertices"](problem).value)


def test_agrees_with_the_closed_form_on_its_region() -> None:
    problem = Problem(range(3), LIP(2), PosteriorMeanSquaredError(), prior=[0.3, 0.3, 0.4])
    by_formula = design(problem)
    assert by_formula.route == "closed-form: LIP randomized response"
    by_grid = design(problem, route="decoder-grid")
    assert float(by_grid.value) == pytest.approx(float(by_formula.value), rel=1e-8)


def test_values_may_be_of_any_scale_and_constant() -> None:
    prior = [0.2, 0.3, 0.5]
    for scale in (1e-6, 1e6):
        values = [scale * 1, scale * 5, scale * 6]
        solution = design(
            Problem(["a", "b", "c"], LIP(1), PosteriorMeanSquaredError(values), prior=prior)
        )
        assert solution.gap <= 1e-6 or float(solution.value) < 1e-12
    flat = design(
        Problem(["a", "b", "c"], LIP(1), PosteriorMeanSquaredError([7, 7, 7]), prior=prior)
    )
    assert flat.value == 0


WEIGHTS = st.integers(0, 1000).map(lambda n: n / 1000)


@pytest.mark.slow
@given(st.lists(WEIGHTS, min_size=4, max_size=4), st.floats(0.01, 2))
def test_any_weights_give_a_bound(weights: list[float], epsilon: float) -> None:
    """Whatever the weights and however coarse the decoders: never above the optimum."""
    problem = Problem([0, 1], LDP(epsilon), PosteriorMeanSquaredError(), prior=[0.3, 0.7])
    optimum = design(problem).value
    rows = [(node, x, 1 - x, w) for (node, x), w in zip(np.ndindex(2, 2), weights, strict=True)]
    line, block = Decoders((Fraction(0), Fraction(1))), block_of("cone", 0, "", rows)
    bound = Certificate(line, Orthant(), (), (block,)).bound(problem.compiled.statement)
    assert bound <= optimum + Fraction(1, 10**15)


@pytest.mark.parametrize(
    "decoders", [["0"], ["1", "0"], ["0.1", "1"], ["0", "0.9"], ["0", "0", "1"]]
)
def test_decoders_must_rise_around_all_values(decoders: list[str]) -> None:
    problem = Problem([0, 1], LDP(1), PosteriorMeanSquaredError(), prior=[0.3, 0.7])
    line = Decoders(tuple(map(Fraction, decoders)))
    with pytest.raises(
        CertificateError, match=r"decoders do not cover|the nodes are not increasing"
    ):
        Certificate(line, Orthant()).bound(problem.compiled.statement)


def test_a_raised_weight_is_refused() -> None:
    notion = MetricPrivacy(1, "absolute")
    problem = Problem(range(4), notion, PosteriorMeanSquaredError(), prior=[0.1, 0.2, 0.3, 0.4])
    document = json.loads(json.dumps(design(problem).document()))
    block = document["certificate"]["multipliers"][0]
    block["weight"] = [2 * weight for weight in block["weight"]]
    document["digest"] = digest(document)
    with pytest.raises(CertificateError, match="bound"):
        verify(document)


def test_too_few_outputs_are_refused() -> None:
    problem = Problem(
        range(4),
        LIP(1),
        PosteriorMeanSquaredError(),
        prior=[0.1, 0.2, 0.3, 0.4],
        outputs=["only one"],
    )
    with pytest.raises(UnsupportedError, match=r"outputs\.values"):
        design(problem)


@pytest.mark.parametrize(("k", "epsilon"), [(3, "0.25"), (4, "0.32")])
def test_a_search_that_ends_at_the_constant_channel_is_not_the_last_word(
    k: int, epsilon: str
) -> None:
    """At the uniform prior the fast search stays where nothing is told: a stationary point."""
    values = [1] + [0] * (k - 1)
    problem = Problem(range(k), LDP(epsilon), PosteriorMeanSquaredError(values=values))
    found, rays = design(problem), design(problem, route="extreme-rays")
    assert found.status == rays.status == "optimal"
    assert math.isclose(found.value, rays.value, rel_tol=1e-6)
    assert found.value < Fraction(k - 1, k**2) * Fraction(99, 100)


@pytest.mark.slow
def test_a_degenerate_program_does_not_stall() -> None:
    """Its primal simplex method goes on for minutes in one of 59 rounds, if it is let."""
    rng = random.Random(2)
    weights = [rng.randrange(1, 20) for _ in range(93)][33:]
    notion, utility = MetricPrivacy("0.5", "absolute"), PosteriorMeanSquaredError()
    problem = Problem(60, notion, utility, prior=Prior.from_counts(weights))
    found = design(problem, gap=0.01)
    assert found.gap <= 0.01


@examples(50)
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


@pytest.mark.parametrize("notion", [LIP(1), PML("0.5"), LDP(1)], ids=repr)
def test_inputs_that_never_occur_change_nothing(notion: Notion) -> None:
    few = Problem(
        ["a", "b", "c"],
        notion,
        PosteriorMeanSquaredError([5, 1, 2]),
        prior=Prior.from_counts([1, 2, 3]),
    )
    more = Problem(
        ["z", "a", "b", "y", "c"],
        notion,
        PosteriorMeanSquaredError([-100, 5, 1, 1, 2]),
        prior=Prior.from_counts([0, 1, 2, 0, 3]),
    )
    alone = design(few, route="decoder-grid")
    together = design(more, route="decoder-grid")
    assert float(together.value) == pytest.approx(float(alone.value), rel=1e-8)
    assert together.gap <= 1e-8
    assert more.cone.holds(together.channel)
    verify(json.loads(json.dumps(together.document())))


def test_f_may_be_constant_where_it_matters() -> None:
    problem = Problem(
        ["a", "b", "c"],
        LIP(1),
        PosteriorMeanSquaredError([4, 4, 9]),
        prior=Prior.from_counts([1, 1, 0]),
    )
    solution = design(problem, route="decoder-grid")
    assert solution.value == solution.bound == 0


@pytest.mark.parametrize("shift", [-3, 10**9])
@pytest.mark.parametrize("scale", ["1/1000000000000", "1", "1000000000000"])
def test_units_do_not_matter(shift: int, scale: str) -> None:
    values = [shift + Fraction(scale) * v for v in (0, 1, 1, 4, 9)]
    problem = Problem(
        range(5), LIP("0.7"), PosteriorMeanSquaredError(values), prior=[0.1, 0.3, 0.2, 0.2, 0.2]
    )
    solution = design(problem, route="decoder-grid")
    value = float(solution.value / Fraction(scale) ** 2)
    plain = design(
        Problem(
            range(5),
            LIP("0.7"),
            PosteriorMeanSquaredError([0, 1, 1, 4, 9]),
            prior=[0.1, 0.3, 0.2, 0.2, 0.2],
        )
    )
    assert value == pytest.approx(float(plain.value), rel=1e-8)
    assert float(solution.bound / Fraction(scale) ** 2) == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("notion", [LIP(1), LDP(1), HighLowLDP(1, list(range(50)))], ids=repr)
def test_many_inputs(notion: Notion) -> None:
    rng = np.random.default_rng(0)
    k = 100
    prior = Prior.from_counts(rng.integers(1, 50, k).tolist())
    problem = Problem(range(k), notion, PosteriorMeanSquaredError(), prior=prior)
    solution = design(problem)
    assert solution.status == "optimal"
    assert solution.gap <= 5e-7
    assert solution.bound <= solution.value
    assert problem.cone.holds(solution.channel)
    verify(json.loads(json.dumps(solution.document())))


@pytest.mark.parametrize(("key", "change"), [("prices", 1e-4), ("prices", -1e-3), ("nodes", "0.5")])
def test_a_changed_certificate_is_refused(key: str, change: float | str) -> None:
    problem = Problem(range(4), LIP(1), PosteriorMeanSquaredError(), prior=[0.1, 0.2, 0.3, 0.4])
    document = json.loads(json.dumps(design(problem).document()))
    certificate = document["certificate"]
    if key == "nodes":
        certificate["linearization"]["nodes"] = ["0", change, "3"]
    else:
        certificate["prices"] = [certificate["prices"][0] + change, *certificate["prices"][1:]]
    document["digest"] = digest(document)
    with pytest.raises(CertificateError, match="bound"):
        verify(document)


def test_the_file_is_small() -> None:
    counts = np.random.default_rng(0).integers(1, 50, 30).tolist()
    prior = Prior.from_counts(counts)
    problem = Problem(range(30), LIP(1), PosteriorMeanSquaredError(), prior=prior)
    certificate = design(problem).certificate
    assert certificate is not None
    assert certificate.multipliers == ()
    assert len(certificate.prices or ()) == 30
    assert isinstance(certificate.linearization, Decoders)
    assert len(certificate.linearization.nodes) <= 200
