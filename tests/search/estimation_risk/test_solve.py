"""Estimating the distribution of the inputs: l2-risk and tv-risk, at a prior and in the worst case.

The risks are written out again in floating point, from M = Q diag(1 / Q'p) Q'. Optima come from
cvxpy and SciPy over rays that `strategies` finds by brute force, and from formulas in the papers.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, cast
from unittest import mock

import cvxpy as cp
import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.closed_forms.balanced_subsets import balanced_arrangements, balanced_subsets
from mechdesign.errors import (
    CertificateError,
    InfeasibleError,
    InputError,
    SolverError,
    UnsupportedError,
)
from mechdesign.evidence.formulas import subset_selection
from mechdesign.kernel import verify
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.risk import Inverse
from mechdesign.kernel.schema import read
from mechdesign.kernel.statement import Statement
from mechdesign.kernel.value import value as exact_value
from mechdesign.notions import Notion
from mechdesign.search.rays import enumerate as listing
from mechdesign.utilities import EstimationRisk
from tests.documents import sealed
from tests.mechanisms_support import high_low_subset_selection
from tests.strategies import cases, channels, columns_of, examples, priors, rays, statement_of

FloatArray = Any

PROBLEMS = Path(__file__).resolve().parents[3] / "problems" / "estimation"
SKEWED = ["0.1", "0.2", "0.3", "0.4"]
FACTOR = math.sqrt(1 / (2 * math.pi))


# --- the risks, written out -----------------------------------------------------------------------


def information(Q: FloatArray, p: FloatArray) -> FloatArray:
    return (Q / (p @ Q)) @ Q.T


def float_risk(Q: FloatArray, p: FloatArray, utility: EstimationRisk) -> float:
    variances = np.diag(np.linalg.inv(information(Q, p))) - p**2
    if isinstance(utility, md.L2Risk):
        return float(variances.sum())
    return float(FACTOR * np.sqrt(np.maximum(variances, 0)).sum())


def estimator_of(certificate: dict[str, Any]) -> dict[str, Any]:
    """The relaxation that has the vectors."""
    (found,) = (step for step in certificate["relaxations"] if step["kind"] == "estimator")
    return cast("dict[str, Any]", found)


def estimator_risk(Q: FloatArray, W: FloatArray, p: FloatArray, utility: EstimationRisk) -> float:
    """The risk at p of the estimator Sum_y h_y W_y, whatever it was made for; W is (outputs, k)."""
    squares = (p @ Q) @ W**2 - (W.T @ Q.T @ p) ** 2
    if isinstance(utility, md.L2Risk):
        return float(squares.sum())
    return float(FACTOR * np.sqrt(np.maximum(squares, 0)).sum())


def least_l2(R: FloatArray, p: FloatArray) -> float:
    """The least l2-risk over mixtures of rays, ``(k, n)``, by cvxpy."""
    law = p @ R
    k = len(p)
    theta = cp.Variable(R.shape[1], nonneg=True)
    M = sum(theta[i] * np.outer(R[:, i], R[:, i]) / law[i] for i in range(R.shape[1]))
    top = cp.trace(cp.Variable((k, k), symmetric=True))
    X = top.args[0]
    block = cp.bmat([[X, np.eye(k)], [np.eye(k), M]])
    stated = cp.Problem(cp.Minimize(top), [R @ theta == 1, (block + block.T) / 2 >> 0])
    stated.solve(solver="CLARABEL")
    return float(stated.value) - float(p @ p)


def least_tv(R: FloatArray, p: FloatArray) -> float:
    """The least tv-risk over mixtures of rays, by a general method from several starts."""
    law = p @ R
    spread = np.einsum("ai,bi->iab", R, R) / law[:, None, None]

    def risk(theta: FloatArray) -> float:
        M = np.tensordot(np.maximum(theta, 0), spread, 1)
        return float(FACTOR * np.sqrt(np.maximum(np.diag(np.linalg.inv(M)) - p**2, 1e-12)).sum())

    rng, best = np.random.default_rng(0), math.inf
    for _ in range(4):
        weights = rng.uniform(0.5, 1.5, R.shape[1])
        start, _ = scipy.optimize.nnls(
            np.vstack([R, 1e-3 * np.eye(R.shape[1])]), np.append(np.ones(len(R)), 1e-3 * weights)
        )
        found = scipy.optimize.minimize(
            risk,
            start,
            method="SLSQP",
            bounds=[(0, None)] * R.shape[1],
            constraints={"type": "eq", "fun": lambda theta: R @ theta - 1},
            options={"ftol": 1e-13, "maxiter": 500},
        )
        if found.success:
            best = min(best, found.fun)
    return best


def solved(
    notion: Notion | list[Notion],
    utility: EstimationRisk,
    k: int,
    prior: Any = None,
    route: str = "auto",
) -> md.Solution:
    return md.design(md.Problem(range(k), notion, utility, prior=prior), route=route)


def subset_risk(k: int, epsilon: float) -> float:
    """tr M**-1 - 1/k of the best subset selection at the uniform prior (Ye and Barg 2018)."""
    t = math.exp(epsilon)

    def square(j: int) -> float:
        return k**2 * (j * t**2 + k - j) / (j * t + k - j) ** 2

    return min((k - 1) ** 2 / (square(j) - k) for j in range(1, k))


BOTH: list[Callable[..., EstimationRisk]] = [md.L2Risk, md.TVRisk]

NOTIONS: list[tuple[str, Callable[[], Notion | list[Notion]], int, list[str] | None]] = [
    ("ldp", lambda: md.LDP(1), 4, SKEWED),
    ("ldp, uniform", lambda: md.LDP("0.7"), 4, None),
    ("lip", lambda: md.LIP("0.8"), 4, SKEWED),
    ("pml", lambda: md.PML(1), 4, SKEWED),
    ("high-low", lambda: md.HighLowLDP(1, [0, 2]), 4, SKEWED),
    ("block", lambda: md.BlockLDP(1, [[0, 1], [2, 3]]), 4, SKEWED),
    ("metric", lambda: md.MetricPrivacy(1, "absolute"), 4, SKEWED),
    (
        "any matrix",
        lambda: md.ContextAwareLDP([["inf", 1, 2], ["0.5", "inf", 1], ["inf", "1.5", "inf"]]),
        3,
        ["0.5", "0.2", "0.3"],
    ),
    ("both", lambda: [md.LIP(1), md.LDP("1.5")], 3, ["0.2", "0.3", "0.5"]),
    (
        "uncertain prior",
        lambda: md.BoundedPriorLIP(1, lower=["0.1"] * 3, upper=["0.6"] * 3),
        3,
        ["0.2", "0.3", "0.5"],
    ),
]
IDS = [name for name, *_ in NOTIONS]


# --- the value and the estimator ------------------------------------------------------------------


@examples(15)
@given(st.data())
def test_the_risk_is_that_of_the_formula(data: st.DataObject) -> None:
    k = data.draw(st.integers(2, 4))
    channel, prior = data.draw(channels(k, 1, 6)), data.draw(priors(k, 1))
    Q, p = channel.matrix, prior.array
    M = information(Q, p)
    for make in BOTH:
        utility = make()
        if np.linalg.cond(M) > 1e12:
            continue
        if np.linalg.cond(M) < 1e6:
            expected = float_risk(Q, p, utility)
            assert float(utility.value(channel, prior)) == pytest.approx(expected, rel=1e-8)
        statement = statement_of(md.Problem(range(k), md.LDP(1), utility, prior=prior))
        checked = exact_value(statement, channel.columns(), channel.denominator)
        assert utility.value(channel, prior) == pytest.approx(checked, rel=1e-15)


@examples(20)
@given(st.data())
def test_the_inverse_is_within_its_error(data: st.DataObject) -> None:
    """M X = 1 in rationals, to the error that is stated."""
    k = data.draw(st.integers(1, 3))
    channel, prior = data.draw(channels(k, 1, 4)), data.draw(priors(k, 1))
    columns = columns_of(channel)
    p = prior.probabilities
    M = [[Fraction(0)] * k for _ in range(k)]
    for q in columns:
        law = sum(a * b for a, b in zip(p, q, strict=True))
        for x, z in itertools.product(range(k), repeat=2):
            M[x][z] += q[x] * q[z] / law if law else 0
    try:
        found = Inverse.of(channel.columns(), channel.denominator, p)
    except CertificateError:
        assert np.linalg.cond(np.array(M, dtype=float)) > 1e12
        return
    unit = 1 << found.bits
    X = [[Fraction(entry, unit) for entry in row] for row in found.entries]
    error = Fraction(found.error, unit)
    # X - M**-1 = M**-1 (M X - 1): each entry of M (X - M**-1) is at most error times a row of M
    for x, z in itertools.product(range(k), repeat=2):
        product = sum(M[x][i] * X[i][z] for i in range(k))
        assert abs(product - (x == z)) <= error * sum(abs(m) for m in M[x])


@pytest.mark.parametrize(("notion", "k", "prior"), [n[1:] for n in NOTIONS], ids=IDS)
@pytest.mark.parametrize("make", BOTH)
def test_the_estimator_is_unbiased_with_the_variances_promised(
    notion: Any, k: int, prior: Any, make: Any
) -> None:
    solution = solved(notion(), make(), k, prior)
    Q, p = solution.channel.matrix, solution.problem.prior.array
    exact = solution.decoder
    assert exact is not None
    # W Q' = 1: whatever the distribution, the mean of the estimate is it
    for x, z in itertools.product(range(k), repeat=2):
        mean = sum(
            w[x] * Fraction(int(n), solution.channel.denominator)
            for w, n in zip(exact, solution.channel.numerators[z].tolist(), strict=True)
        )
        assert abs(mean - (x == z)) < Fraction(1, 1 << 150)
    W = np.array([[float(entry) for entry in column] for column in exact])
    covariance = (W.T * (p @ Q)) @ W - np.outer(p, p)
    wanted = np.linalg.inv(information(Q, p)) - np.outer(p, p)
    assert covariance == pytest.approx(wanted, rel=1e-7, abs=1e-7)
    assert estimator_risk(Q, W, p, make()) == pytest.approx(float(solution.value), rel=1e-7)


# --- the optimum ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("notion", "k", "prior"), [n[1:] for n in NOTIONS], ids=IDS)
@pytest.mark.parametrize("route", ["auto", "estimation"])
def test_the_l2_risk_is_least_over_all_mixtures_of_rays(
    notion: Any, k: int, prior: Any, route: str
) -> None:
    solution = solved(notion(), md.L2Risk(), k, prior, route)
    R = np.stack(rays(solution.problem), axis=1)
    expected = least_l2(R / R.max(axis=0), solution.problem.prior.array)
    assert solution.status == "optimal"
    assert float(solution.bound) <= expected * (1 + 1e-6)
    assert float(solution.value) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("notion", "k", "prior"), [n[1:] for n in NOTIONS], ids=IDS)
def test_the_tv_risk_is_least_over_all_mixtures_of_rays(notion: Any, k: int, prior: Any) -> None:
    solution = solved(notion(), md.TVRisk(), k, prior)
    R = np.stack(rays(solution.problem), axis=1)
    expected = least_tv(R / R.max(axis=0), solution.problem.prior.array)
    assert solution.status == "optimal"
    assert float(solution.value) == pytest.approx(expected, rel=1e-6)


@examples(12)
@given(st.data())
def test_no_private_channel_is_below_the_bound(data: st.DataObject) -> None:
    """Random mixtures of rays are private channels: none has less risk than is proved."""
    name, notion, k, _ = data.draw(st.sampled_from(NOTIONS))
    utility = data.draw(st.sampled_from(BOTH))()
    prior = data.draw(priors(k, 1))
    solution = solved(notion(), utility, k, prior)
    assert solution.bound <= solution.value
    assert solution.gap < 1e-6 or prior.array.max() > 0.75, name
    R = np.stack(rays(solution.problem), axis=1)
    R = R / R.mean(axis=0)
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    for _ in range(5):
        target = scipy.optimize.linprog(rng.random(R.shape[1]), A_eq=R, b_eq=np.ones(k)).x
        other = scipy.optimize.linprog(rng.random(R.shape[1]), A_eq=R, b_eq=np.ones(k)).x
        theta = (target + other) / 2
        Q = R[:, theta > 1e-9] * theta[theta > 1e-9]
        if np.linalg.cond(information(Q, prior.array)) < 1e8:
            risk = float_risk(Q, prior.array, utility)
            assert risk >= float(solution.bound) * (1 - 1e-6)


@pytest.mark.parametrize("k", range(2, 11))
@pytest.mark.parametrize("epsilon", ["0.5", "1", "2"])
def test_under_ldp_the_best_subset_selection_is_optimal(k: int, epsilon: str) -> None:
    """By the closed form and its theorem, and by the numeric route that knows neither."""
    expected = subset_risk(k, float(epsilon))
    for route in ("auto", "estimation"):
        l2 = solved(md.LDP(epsilon), md.L2Risk(), k, route=route)
        tv = solved(md.LDP(epsilon), md.TVRisk(), k, route=route)
        assert l2.status == tv.status == "optimal"
        assert float(l2.value) == pytest.approx(expected, rel=1e-9)
        assert float(tv.value) == pytest.approx(FACTOR * math.sqrt(k * expected), rel=1e-9)


@pytest.mark.parametrize("k", [16, 32])
def test_subset_selection_on_many_inputs_needs_few_subsets(k: int) -> None:
    for epsilon in ("0.5", "2"):
        solution = solved(md.LDP(epsilon), md.L2Risk(), k)
        assert solution.gap < 1e-9
        assert float(solution.value) == pytest.approx(subset_risk(k, float(epsilon)), rel=1e-9)
        assert solution.channel.shape[1] <= k * (k + 1) // 2


@pytest.mark.parametrize(("size", "chosen"), [(1, 1), (4, 0), (6, 2), (13, 4), (16, 5), (31, 9)])
def test_balanced_subsets_cover_pairs_as_all_subsets_do(size: int, chosen: int) -> None:
    members, weights = balanced_subsets(size, chosen)
    assert (members.sum(axis=0) == chosen).all()
    assert weights.sum() == pytest.approx(1, abs=1e-14)
    pairs = (members * weights) @ members.T
    assert np.diag(pairs) == pytest.approx(chosen / size, abs=1e-12)
    if size > 1:
        rest = pairs[~np.eye(size, dtype=bool)]
        assert rest == pytest.approx(chosen * (chosen - 1) / (size * (size - 1)), abs=1e-12)


def test_balanced_arrangements_treat_pairs_alike() -> None:
    values = (3.0, 3.0, 3.0, 1.5, *(0.25,) * 9)
    columns, weights = balanced_arrangements(values)
    assert (np.sort(columns, axis=0) == np.sort(values)[:, None]).all()
    assert columns.shape[1] < 13 * 12 * math.comb(11, 2)
    pairs = (columns * weights) @ columns.T
    total, squares = sum(values), sum(v * v for v in values)
    assert np.diag(pairs) == pytest.approx(squares / 13, rel=1e-12)
    off = (total**2 - squares) / (13 * 12)
    assert pairs[~np.eye(13, dtype=bool)] == pytest.approx(off, rel=1e-12)


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("worst_case", [False, True])
@pytest.mark.parametrize(
    "notion",
    [lambda: md.LIP("0.5"), lambda: md.PML(1), lambda: md.AsymmetricLift("0.9", "0.3")],
    ids=["lip", "pml", "lift"],
)
def test_lifts_at_the_uniform_prior(make: Any, worst_case: bool, notion: Any) -> None:
    """The closed form is what all rays give, also where randomized response leaks too much."""
    for k in (4, 5):
        closed = solved(notion(), make(worst_case), k, md.Prior.uniform(k))
        listed = solved(notion(), make(worst_case), k, md.Prior.uniform(k), route="estimation")
        assert closed.route == "closed-form: subset selection by lifts"
        assert closed.certificate is not None
        assert closed.certificate.oracle.kind == "rays"
        assert closed.status == listed.status == "optimal"
        assert float(closed.value) == pytest.approx(float(listed.value), rel=1e-9)


def test_lifts_of_many_inputs_at_the_uniform_prior() -> None:
    k, low, high = 20, math.exp(-1), math.e
    raised = int(k * (1 - low) / (high - low))
    between = k - raised * high - (k - 1 - raised) * low
    square = raised * high**2 + between**2 + (k - 1 - raised) * low**2
    solution = solved(md.LIP(1), md.L2Risk(), k, md.Prior.uniform(k))
    assert solution.status == "optimal"
    assert float(solution.value) == pytest.approx((k - 1) ** 2 / (square - k), rel=1e-9)
    assert solution.channel.shape[1] <= k * (k + 1) // 2


def test_high_low_values() -> None:
    """One size is optimal for s = 5, k = 20; for s = 4, k = 8 two sizes are mixed."""
    five = solved(md.HighLowLDP(1, range(5)), md.L2Risk(), 20)
    assert five.route == "closed-form: high-low subset selection"
    assert float(five.value) == pytest.approx(10.9886, abs=5e-5)
    four = solved(md.HighLowLDP(1, range(4)), md.L2Risk(), 8)
    listed = solved(md.HighLowLDP(1, range(4)), md.L2Risk(), 8, route="estimation")
    assert {five.status, four.status, listed.status} == {"optimal"}
    assert float(four.value) == pytest.approx(8.9915, abs=5e-5)
    assert float(four.value) == pytest.approx(float(listed.value), rel=1e-9)
    one_size = high_low_subset_selection(8, 1, range(4)).dense()
    value = md.L2Risk().value(one_size, md.Prior.uniform(8))
    assert float(value) == pytest.approx(9.0132, abs=5e-5)


def test_one_sensitive_input_is_mangats_design() -> None:
    solution = solved(md.HighLowLDP(1, [0]), md.L2Risk(), 5)
    hide = math.exp(-1)
    mangat = np.hstack([np.full((5, 1), hide), np.vstack([np.zeros(4), np.eye(4) * (1 - hide)])])
    mangat[0, 0] = 1
    assert solution.channel.matrix == pytest.approx(mangat, abs=1e-12)
    assert solution.status == "optimal"


def test_blocks_are_problems_of_their_own() -> None:
    """With a prior that is uniform inside blocks, M falls apart, and so does the risk."""
    blocks = [[0, 1, 2, 3], [4, 5, 6], [7]]
    solution = solved(md.BlockLDP(1, blocks), md.L2Risk(), 8)
    assert solution.route == "closed-form: block subset selection"
    assert solution.status == "optimal"
    # a block of mass s/8: v + |p|**2 scales with the mass
    total = sum(len(b) / 8 * (subset_risk(len(b), 1) + 1 / len(b)) for b in blocks[:2]) + 1 / 8
    assert float(solution.value) == pytest.approx(total - 1 / 8, rel=1e-9)


@pytest.mark.parametrize("make", BOTH)
def test_where_lip_randomized_response_is_private_it_is_optimal(make: Any) -> None:
    closed = solved(md.LIP(2), make(), 3, ["0.2", "0.3", "0.5"])
    by_rays = solved(md.LIP(2), make(), 3, ["0.2", "0.3", "0.5"], route="estimation")
    assert closed.route == "closed-form: LIP randomized response"
    assert closed.status == by_rays.status == "optimal"
    assert float(closed.value) == pytest.approx(float(by_rays.value), rel=1e-9)


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("worst_case", [False, True])
def test_without_privacy_it_is_the_risk_of_the_sample(make: Any, worst_case: bool) -> None:
    free = md.ContextAwareLDP([["inf"] * 4] * 4)
    solution = solved(free, make(worst_case), 4, SKEWED)
    p = np.full(4, 1 / 4) if worst_case else np.array([0.1, 0.2, 0.3, 0.4])
    expected = 1 - p @ p if make is md.L2Risk else FACTOR * np.sqrt(p * (1 - p)).sum()
    assert solution.status == "optimal"
    assert float(solution.value) == pytest.approx(expected, rel=1e-12)


def test_too_many_rays_still_give_a_private_channel_and_an_honest_bound() -> None:
    problem = md.Problem(md.Domain.grid(2, 3, 1), md.MetricPrivacy(2, "euclidean"), md.L2Risk())
    with mock.patch.object(listing, "MOST_RAYS", 3):
        solution = md.design(problem)
    assert solution.bound <= solution.value
    assert any("local search" in note for note in solution.notes)
    Q, p = solution.channel.matrix, problem.prior.array
    assert float(solution.value) == pytest.approx(float_risk(Q, p, md.L2Risk()), rel=1e-7)
    # randomized response by distance is another private channel
    distance = np.array([[math.dist(a, b) for b in problem.domain] for a in problem.domain])
    exponential = np.exp(-distance)
    exponential /= exponential.sum(axis=1, keepdims=True)
    assert float(solution.value) < float_risk(exponential, p, md.L2Risk())


def brute_force(problem: md.Problem) -> FloatArray:
    found = np.stack(rays(problem), axis=1)
    return found / found.max(axis=0)


def on_a_line() -> float:
    """The largest least risk over distributions: it is concave in them, and the line symmetric."""
    R = brute_force(md.Problem(range(3), md.MetricPrivacy(1, "absolute"), md.L2Risk()))
    found = scipy.optimize.minimize_scalar(
        lambda a: -least_l2(R, np.array([a, 1 - 2 * a, a])),
        bounds=(0.05, 0.45),
        options={"xatol": 1e-4},
    )
    return float(-found.fun)


def on_the_web() -> float:
    """Eight kinds, four sensitive: the rays are written out."""
    raised = [c for c in itertools.product([1.0, math.e], repeat=4) if max(c) > 1]
    R = np.column_stack([*(np.append(c, np.ones(4)) for c in raised), *np.eye(8)[4:]])
    return least_l2(R / R.max(axis=0), np.full(8, 1 / 8))


def rare_answers() -> float:
    problem = md.Problem(range(4), md.LIP(1), md.TVRisk(), prior=SKEWED)
    return least_tv(brute_force(problem), problem.prior.array)


LIBRARY: dict[str, Callable[[], float]] = {
    "city_blocks": lambda: subset_risk(6, 1) + 1 / 6 - 1 / 24,
    "favourite_colour": lambda: subset_risk(6, 1),
    "line_worst_case": on_a_line,
    "rare_answers": rare_answers,
    "web_categories": on_the_web,
}


def test_each_problem_of_the_library_is_computed_here() -> None:
    assert {path.stem for path in PROBLEMS.glob("*.toml")} == set(LIBRARY)


@pytest.mark.parametrize("name", LIBRARY)
def test_expected_values_are_computed_without_the_library(name: str) -> None:
    problem = md.load_problem(PROBLEMS / f"{name}.toml")
    assert problem.expected is not None
    assert problem.expected.value == pytest.approx(LIBRARY[name](), rel=1e-6)


# --- the worst case -------------------------------------------------------------------------------


@pytest.mark.parametrize(("notion", "k", "prior"), [n[1:] for n in NOTIONS], ids=IDS)
@pytest.mark.parametrize("make", BOTH)
def test_the_worst_case_is_a_saddle_point(notion: Any, k: int, prior: Any, make: Any) -> None:
    """No distribution makes the estimator worse than the value, no channel is better at p*."""
    utility = make(worst_case=True)
    solution = solved(notion(), utility, k, prior)
    assert solution.status == "optimal"
    Q, value = solution.channel.matrix, float(solution.value)
    assert solution.decoder is not None
    W = np.array([[float(entry) for entry in column] for column in solution.decoder])
    assert pytest.approx(np.eye(k), abs=1e-9) == Q @ W
    rng = np.random.default_rng(0)
    corners = list(np.eye(k))
    for p in [*corners, *rng.dirichlet(np.ones(k), 300), *rng.dirichlet(np.full(k, 0.2), 300)]:
        assert estimator_risk(Q, W, p, utility) <= value * (1 + 1e-9)
    assert solution.certificate is not None
    named = solution.certificate.reference
    worst = np.array(list(map(float, named))) if named else np.full(k, 1 / k)
    assert estimator_risk(Q, W, worst, utility) == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(("notion", "k", "prior"), [n[1:] for n in NOTIONS[:7]], ids=IDS[:7])
def test_the_worst_case_is_the_largest_of_the_least_l2_risks(
    notion: Any, k: int, prior: Any
) -> None:
    solution = solved(notion(), md.L2Risk(worst_case=True), k, prior)
    R = np.stack(rays(solution.problem), axis=1)
    assert solution.certificate is not None
    named = solution.certificate.reference
    worst = np.array(list(map(float, named))) if named else np.full(k, 1 / k)
    value = float(solution.value)
    assert least_l2(R / R.max(axis=0), worst) == pytest.approx(value, rel=1e-5)
    rng = np.random.default_rng(0)
    for p in rng.dirichlet(np.ones(k), 5):
        assert least_l2(R / R.max(axis=0), p) <= value * (1 + 1e-5)


@pytest.mark.parametrize("make", BOTH)
def test_under_ldp_the_worst_case_is_the_uniform_distribution(make: Any) -> None:
    for k in (3, 5):
        uniform = solved(md.LDP(1), make(), k)
        for route in ("auto", "estimation"):
            worst = solved(md.LDP(1), make(worst_case=True), k, route=route)
            assert worst.status == "optimal"
            assert float(worst.value) == pytest.approx(float(uniform.value), rel=1e-9)


@examples(15)
@given(st.data())
def test_the_worst_case_value_is_above_the_risk_at_any_distribution(data: st.DataObject) -> None:
    k = data.draw(st.integers(2, 4))
    channel, prior = data.draw(channels(k, 1, 6)), data.draw(priors(k, 1))
    if np.linalg.cond(information(channel.matrix, prior.array)) > 1e6:
        return
    other = data.draw(priors(k, 1)).array
    for make in BOTH:
        utility = make(worst_case=True)
        value = utility.value(channel, prior)
        W = np.array([[float(e) for e in column] for column in utility.decoder(channel, prior)])
        assert estimator_risk(channel.matrix, W, other, utility) <= float(value) * (1 + 1e-9)
        statement = statement_of(md.Problem(range(k), md.LDP(1), utility))
        columns, whole = channel.columns(), channel.denominator
        checked = exact_value(statement, columns, whole, prior=list(prior))
        assert float(value) == pytest.approx(float(checked), rel=1e-12)
        # the sum of the c_x . p - p_x**2 is concave, so its largest value is found by climbing
        if make is md.L2Risk:
            climbed = scipy.optimize.minimize(
                lambda p, W=W, u=utility: -estimator_risk(channel.matrix, W, p, u),
                np.full(k, 1 / k),
                method="SLSQP",
                bounds=[(0, 1)] * k,
                constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
                options={"ftol": 1e-13},
            )
            assert float(value) == pytest.approx(-climbed.fun, rel=1e-6)


@examples(25)
@given(st.data())
def test_any_notion_is_solved_and_proved(data: st.DataObject) -> None:
    """Random notions and priors, ties, zeros and infinities included."""
    case = data.draw(cases())
    utility = data.draw(st.sampled_from(BOTH))(data.draw(st.booleans()))
    if case.prior.minimum == 0 and not utility.worst_case:
        return
    try:
        problem = md.Problem(case.domain, case.notion, utility, prior=case.prior)
    except InfeasibleError:
        return
    solution = md.design(problem)
    assert solution.bound <= solution.value
    if utility.worst_case or isinstance(utility, md.L2Risk) or case.prior.array.max() <= 0.75:
        assert solution.status == "optimal"
    assert verify(document_of(solution)).value == solution.value
    Q, p = solution.channel.matrix, case.prior.array
    if not utility.worst_case and np.linalg.cond(information(Q, p)) < 1e8:
        assert float(solution.value) == pytest.approx(float_risk(Q, p, utility), rel=1e-5)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("make", BOTH)
def test_unidentifiable_distributions_are_refused(make: Any) -> None:
    with pytest.raises(InfeasibleError, match="lets the distribution be estimated"):
        md.Problem(range(3), md.LDP(0), make())
    with pytest.raises(InfeasibleError, match="rows of 1 and 2 equal"):
        md.Problem(range(3), md.ContextAwareLDP([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), make())
    with pytest.raises(InputError, match=r"prior: an input has probability 0"):
        md.Problem(range(3), md.LDP(1), make(), prior=[0, "0.5", "0.5"])
    worst = md.design(md.Problem(range(3), md.LDP(1), make(True), prior=[0, "0.5", "0.5"]))
    assert worst.status == "optimal"
    with pytest.raises(InputError, match="worst_case"):
        make(worst_case="yes")
    constant = md.Channel.from_matrix([["1/2", "1/2"], ["1/2", "1/2"]])
    with pytest.raises(InputError, match="independent"):
        make().value(constant, md.Prior.uniform(2))
    with pytest.raises(SolverError, match=r"risk is infinite|too small"):
        md.design(md.Problem(range(3), md.LDP("1e-18"), make()))
    with pytest.raises(UnsupportedError, match="labels"):
        md.design(md.Problem(range(4), md.LDP(1), make(), outputs=["a", "b"]))
    with pytest.raises(UnsupportedError, match="convex"):
        md.design(md.Problem(range(3), md.LDP(1), make()), route="cvxpy:CLARABEL")


def test_one_input_needs_no_report() -> None:
    for make, worst in itertools.product(BOTH, (False, True)):
        for route in ("auto", "estimation"):
            solution = solved(md.LDP(1), make(worst), 1, route=route)
            assert solution.status == "optimal"
            assert float(solution.value) == pytest.approx(0, abs=1e-30)


# --- the saved file -------------------------------------------------------------------------------

SAVED = [
    ("by rays", lambda: md.LIP(1), 3, ["0.2", "0.3", "0.5"]),
    ("by classes", lambda: md.HighLowLDP(1, [0, 1, 2]), 5, None),
    ("by theorem", lambda: md.LDP(1), 4, None),
    ("by theorem, whatever the prior", lambda: md.LDP(1), 4, SKEWED),
]


def document_of(solution: md.Solution) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(solution.document()))
    return document


@pytest.mark.parametrize(
    ("notion", "k", "prior"), [s[1:] for s in SAVED], ids=[s[0] for s in SAVED]
)
@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("worst_case", [False, True])
def test_a_saved_file_proves_itself_and_lies_are_found(
    notion: Any, k: int, prior: Any, make: Any, worst_case: bool
) -> None:
    solution = solved(notion(), make(worst_case), k, prior)
    document = document_of(solution)
    found = verify(document)
    assert found.value == solution.value
    assert found.bound >= Fraction(repr(document["bound"]))
    assert solution.status == "optimal"

    wrong = copy.deepcopy(document)
    wrong["channel"]["decoder"][0][0] *= 1 + 1e-6
    with pytest.raises(CertificateError, match="decoder"):
        verify(sealed(wrong))
    wrong = copy.deepcopy(document)
    wrong["value"] *= 1 - 1e-9
    with pytest.raises(CertificateError, match="value"):
        verify(sealed(wrong))
    wrong = copy.deepcopy(document)
    wrong["bound"] *= 1 + 1e-8
    with pytest.raises(CertificateError, match="bound"):
        verify(sealed(wrong))

    for change in ("vectors", "prices"):
        wrong = copy.deepcopy(document)
        certificate = wrong["certificate"]
        data = certificate.setdefault("prices", [0.0] * len(wrong["channel"]["inputs"]))
        row = estimator_of(certificate)["vectors"][0] if change == "vectors" else data
        row[1] = float(Fraction(row[1])) * 1.01 + 1e-3
        with pytest.raises(CertificateError, match=r"bound proved|distinguish inputs of a group"):
            verify(sealed(wrong))


@pytest.mark.parametrize("make", BOTH)
def test_another_reference_prior_is_another_claim(make: Any) -> None:
    """With the least favorable prior changed, value and estimator no longer fit."""
    document = document_of(solved(md.LIP(1), make(True), 3, ["0.2", "0.3", "0.5"]))
    average, _ = document["certificate"]["relaxations"]
    assert average["kind"] == "average"
    average["weights"] = ["0.1", "0.4", "0.5"]
    with pytest.raises(CertificateError):
        verify(sealed(document))
    average["weights"] = ["0", "0.5", "0.5"]
    with pytest.raises(CertificateError, match="without zeros"):
        verify(sealed(document))


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("worst_case", [False, True])
def test_a_bound_holds_for_any_data(make: Any, worst_case: bool) -> None:
    """Whatever the vectors, prices and tangents, what they prove is below the optimum."""
    rng = np.random.default_rng(0)
    solution = solved(md.LIP(1), make(worst_case), 3, ["0.2", "0.3", "0.5"], "estimation")
    statement, document = statement_of(solution.problem), document_of(solution)
    assert proved(document, statement) == pytest.approx(solution.bound, rel=1e-12)
    for size in (1e-3, 0.1, 1.0):
        found = copy.deepcopy(document)
        line = estimator_of(found["certificate"])
        A = np.array(line["vectors"]) * rng.uniform(1 - size / 2, 1 + size / 2, (3, 3))
        if make is md.TVRisk:
            np.fill_diagonal(A, 1.0)
            line["tangents"] = (np.array(line["tangents"]) * rng.uniform(1, 1 + size, 3)).tolist()
        line["vectors"] = A.tolist()
        prices = np.array(found["certificate"]["prices"]) + size * rng.normal(size=3)
        found["certificate"]["prices"] = prices.tolist()
        assert proved(found, statement) < solution.bound


def proved(document: dict[str, Any], statement: Statement) -> Fraction:
    """The bound of the certificate of a document for a statement."""
    certificate = read(Certificate, document["certificate"])
    found: Fraction = certificate.bound(statement)
    return found


def test_data_of_the_wrong_form_is_refused() -> None:
    solution = solved(md.HighLowLDP(1, [0, 1, 2]), md.TVRisk(), 5)
    statement, good = statement_of(solution.problem), document_of(solution)
    changes: list[tuple[Callable[[dict[str, Any], dict[str, Any]], Any], str]] = [
        (lambda c, _: c["prices"].pop(), "a price for each input"),
        (lambda _, line: line["vectors"].pop(), "expected k vectors"),
        (lambda _, line: line["vectors"][0].pop(), "expected k vectors"),
        (lambda _, line: line["vectors"][0].__setitem__(0, 2.0), "distinguish inputs of a group"),
        (lambda _, line: line["tangents"].pop(), "a tangent > 0 for each input"),
        (lambda _, line: line["tangents"].__setitem__(0, -1.0), "a tangent > 0 for each input"),
        (lambda c, _: c["prices"].__setitem__(1, 0.0), "distinguish inputs of a group"),
        (lambda _, line: line["vectors"][1].__setitem__(0, 0.5), "distinguish inputs of a group"),
    ]
    for change, message in changes:
        found = copy.deepcopy(good)
        change(found["certificate"], estimator_of(found["certificate"]))
        with pytest.raises(CertificateError, match=message):
            proved(found, statement)
    by_rays = solved(md.LIP(1), md.L2Risk(), 3, ["0.2", "0.3", "0.5"], "estimation")
    found = document_of(by_rays)
    found["certificate"]["oracle"]["source"] = {"kind": "classes", "groups": [[0, 1, 2]]}
    with pytest.raises(CertificateError, match=r"alike|group|one budget"):
        proved(found, statement_of(by_rays.problem))


def test_a_tangent_that_would_cross_the_curve_is_refused() -> None:
    """Below sqrt(p) - sqrt(p (1 - p)) the line is above the curve where that can be reached."""
    solution = solved(md.HighLowLDP(1, [0]), md.TVRisk(), 2, ["0.2", "0.8"], "estimation")
    statement, document = statement_of(solution.problem), document_of(solution)
    tangents = estimator_of(document["certificate"])["tangents"]
    p = 0.8
    t = math.sqrt(p) - math.sqrt(p * (1 - p))
    tangents[1] = t * 1.001
    proved(document, statement)
    tangents[1] = t * 0.999
    with pytest.raises(CertificateError, match="a tangent is too small"):
        proved(document, statement)


def test_the_theorem_of_subset_selection_is_a_bound_where_it_is_not_the_optimum() -> None:
    """It is refused or below the optimum; where it applies it is the optimum."""

    def bound(problem: md.Problem) -> Fraction | None:
        try:
            found = subset_selection(problem.compiled)
            return None if found is None else found.bound(statement_of(problem))
        except (CertificateError, ArithmeticError):
            return None

    skewed = md.Problem(range(4), md.LDP(1), md.L2Risk(), prior=SKEWED)
    other = md.Problem(range(4), md.LDP(1), md.MutualInformation())
    lip = md.Problem(range(4), md.LIP(1), md.L2Risk(True), prior=SKEWED)
    metric = md.Problem(range(3), md.MetricPrivacy(1, "absolute"), md.L2Risk())
    for problem in (skewed, other, lip, metric):
        found = bound(problem)
        assert found is None or found < md.design(problem).value * (1 - Fraction(1, 10**6))
    worst = bound(md.Problem(range(4), md.LDP(1), md.L2Risk(True), prior=SKEWED))
    assert worst is not None
    assert float(worst) == pytest.approx(subset_risk(4, 1), rel=1e-12)
    huge = md.design(md.Problem(range(4), md.LDP(5000), md.L2Risk()))
    assert float(huge.bound) == pytest.approx(3 / 4)


def test_a_singular_channel_in_a_file_is_refused() -> None:
    statement, half = statement_of(solved(md.LDP(1), md.L2Risk(), 2).problem), 1 << 61
    with pytest.raises(CertificateError, match="risk is infinite"):
        exact_value(statement, [[half, half]] * 2, 1 << 62)


def test_a_channel_of_few_outputs_has_the_risk_of_all() -> None:
    """The least favorable prior is nearly one input, which makes M ill-conditioned."""
    rows = [
        ("0.003851", [6, 1], [3]),
        ("5.829", [7, 6], [0]),
        ("0.1007", [0, 4], [5]),
        ("2.526", [5, 4], [7]),
        ("0.009807", [1], [6]),
        ("0.004565", [6, 2], [3]),
        ("1.327", [2, 3], [7]),
    ]
    notion = md.LinearNotion(
        md.notions.Row(f"row {n}", dict.fromkeys(left, 1), exponent, {right[0]: len(left)})
        for n, (exponent, left, right) in enumerate(rows)
    )
    solution = md.design(md.Problem(range(8), notion, md.L2Risk(worst_case=True)))
    assert solution.status == "optimal"
