"""The interior point method, the pricing and the search for bands, against textbook programs."""

from __future__ import annotations

import json
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
    CertificateError,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    design,
)
from mechdesign.kernel import digest, verify
from mechdesign.kernel.linearizations import Decoders
from mechdesign.notions import Notion
from mechdesign.search.decoders.band_decoders import merge_columns
from mechdesign.search.interior.band import solve_band_program
from mechdesign.search.interior.band_cone import Band
from tests.strategies import examples

FloatArray = npt.NDArray[np.float64]

NOTIONS: list[Notion] = [
    LIP(1),
    LIP("0.05"),
    LIP(8),
    PML("0.7"),
    AsymmetricLift("0.3", "1.2"),
    AsymmetricLift("0.5", "inf"),
    LDP("0.05"),
    LDP(1),
    LDP(9),
]
SEEDS = st.integers(0, 10**6)


def random_problem(notion: Notion, seed: int, most: int = 9) -> Problem:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, most + 1))
    prior = Prior.from_counts(rng.integers(1, 200, k).tolist())
    return Problem(range(k), notion, PosteriorMeanSquaredError(), prior=prior)


def band_of(problem: Problem) -> Band:
    band = Band.of(problem)
    assert band is not None
    return band


def textbook(problem: Problem, cost: FloatArray) -> float:
    """The least Sum P_x Q[x, y] c[x, y] over private channels, from the rows of the notion."""
    G, P = problem.cone.matrix().toarray(), problem.prior.array
    k, m = cost.shape
    found = linprog(
        (P[:, None] * cost).ravel(order="F"),
        A_ub=np.kron(np.eye(m), G),
        b_ub=np.zeros(m * len(G)),
        A_eq=np.kron(np.ones((1, m)), np.eye(k)),
        b_eq=np.ones(k),
    )
    assert found.status == 0
    return float(found.fun)


@pytest.mark.parametrize("notion", NOTIONS, ids=repr)
def test_the_program_is_solved_on_both_sides(notion: Notion) -> None:
    @examples(12)
    @given(SEEDS)
    def any_cost(seed: int) -> None:
        problem = random_problem(notion, seed)
        band, rng = band_of(problem), np.random.default_rng(seed)
        cost = rng.random((len(problem.domain), int(rng.integers(1, 6))))
        Q, prices, gap = solve_band_program(band, cost, 1e-9)
        paid = float((band.prior[:, None] * Q * cost).sum())
        assert 0 <= gap <= 1e-9
        assert paid - float(band.prior @ prices) == pytest.approx(gap, abs=1e-12)
        assert paid == pytest.approx(textbook(problem, cost), abs=2e-7)
        assert np.allclose(Q.sum(axis=1), 1, rtol=0, atol=1e-12)
        assert (problem.cone.matrix() @ Q).max(initial=-1) <= 1e-12

    any_cost()


@pytest.mark.parametrize("notion", NOTIONS, ids=repr)
def test_the_cheapest_column_is_that_of_the_textbook(notion: Notion) -> None:
    @examples(12)
    @given(SEEDS)
    def any_prices(seed: int) -> None:
        problem = random_problem(notion, seed)
        band, rng = band_of(problem), np.random.default_rng(seed)
        P, k = problem.prior.array, len(problem.domain)
        f, prices, decoders = rng.random(k), rng.normal(size=k) / 4, rng.random(4)
        G = problem.cone.matrix().toarray()
        found = band.cheapest(prices, f, decoders)
        for s, cost, mean in zip(decoders, found.cost, found.mean, strict=True):
            reduced = P * ((f - s) ** 2 - prices)
            least = linprog(reduced, A_ub=G, b_ub=np.zeros(len(G)), A_eq=[P], b_eq=[1])
            assert cost == pytest.approx(least.fun, abs=1e-7)
            assert mean == pytest.approx(float(P * f @ least.x), abs=1e-5)

    any_prices()


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


def test_cones_without_bands_are_left_to_programs() -> None:
    utility = PosteriorMeanSquaredError()
    for notions in ([LIP(1), LDP(1)], [LIP(0)], [LDP(0)], [LDP(40)]):
        problem = Problem(range(3), notions, utility, prior=[0.2, 0.3, 0.5])
        assert Band.of(problem) is None
        solution = design(problem, route="decoder-grid")
        assert solution.certificate is not None
        is_grid = isinstance(solution.certificate.linearization, Decoders)
        assert not (is_grid and solution.certificate.prices)


@pytest.mark.parametrize("notion", [LIP(1), LDP(1)], ids=repr)
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
