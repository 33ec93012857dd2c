"""Estimating the distribution of the inputs: l2-risk and tv-risk, at a prior and in the worst case.

The risks are written out again in floating point, from M = Q diag(1 / Q'p) Q'. Optima come from
cvxpy and SciPy over rays that `strategies` finds by brute force, and from formulas in the papers.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.closed_forms.balanced_subsets import balanced_arrangements, balanced_subsets
from mechdesign.evidence.formulas import subset_selection
from mechdesign.kernel import verify
from mechdesign.kernel.oracles import Rays, Subsets
from mechdesign.kernel.risk import Inverse
from mechdesign.kernel.value import value as exact_value
from mechdesign.utilities import EstimationRisk
from tests.documents import sealed
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


@functools.cache
def designed(name: str, make: type[EstimationRisk], worst_case: bool = False) -> md.Solution:
    """The design for one of the notions below."""
    notion, k, prior = NOTIONS[name]
    return solved(notion, make(worst_case), k, prior)


def solved(
    notion: Any, utility: EstimationRisk, k: int, prior: Any = None, route: str = "auto"
) -> md.Solution:
    return md.design(md.Problem(range(k), notion, utility, prior=prior), route=route)


def subset_risk(k: int, epsilon: float) -> float:
    """tr M**-1 - 1/k of the best subset selection at the uniform prior (Ye and Barg 2018)."""
    t = math.exp(epsilon)

    def square(j: int) -> float:
        return k**2 * (j * t**2 + k - j) / (j * t + k - j) ** 2

    return min((k - 1) ** 2 / (square(j) - k) for j in range(1, k))


BOTH: list[type[EstimationRisk]] = [md.L2Risk, md.TVRisk]
both = pytest.mark.parametrize("make", BOTH)
each_case = pytest.mark.parametrize("worst_case", [False, True])

THREE = ["0.2", "0.3", "0.5"]
NOTIONS: dict[str, tuple[Any, int, list[str] | None]] = {
    "ldp": (md.LDP(1), 4, SKEWED),
    "ldp, uniform": (md.LDP("0.7"), 4, None),
    "lip": (md.LIP("0.8"), 4, SKEWED),
    "pml": (md.PML(1), 4, SKEWED),
    "high-low": (md.HighLowLDP(1, [0, 2]), 4, SKEWED),
    "block": (md.BlockLDP(1, [[0, 1], [2, 3]]), 4, SKEWED),
    "metric": (md.MetricPrivacy(1, "absolute"), 4, SKEWED),
    "any matrix": (
        md.ContextAwareLDP([["inf", 1, 2], ["0.5", "inf", 1], ["inf", "1.5", "inf"]]),
        3,
        ["0.5", "0.2", "0.3"],
    ),
    "both": ([md.LIP(1), md.LDP("1.5")], 3, THREE),
    "uncertain prior": (md.BoundedPriorLIP(1, lower=["0.1"] * 3, upper=["0.6"] * 3), 3, THREE),
}
each_notion = pytest.mark.parametrize("name", NOTIONS)


def estimator(solution: md.Solution) -> FloatArray:
    return np.array([[float(entry) for entry in column] for column in solution.decoder])


def brute_force(problem: md.Problem) -> FloatArray:
    found = np.stack(rays(problem), axis=1)
    return found / found.max(axis=0)


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


@examples(12)
@given(st.data())
def test_no_private_channel_is_below_the_bound(data: st.DataObject) -> None:
    """Random mixtures of rays are private channels: none has less risk than is proved."""
    notion, k, _ = data.draw(st.sampled_from(list(NOTIONS.values())))
    utility, prior = data.draw(st.sampled_from(BOTH))(), data.draw(priors(k, 1))
    solution = solved(notion, utility, k, prior)
    R = brute_force(solution.problem)
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    for _ in range(5):
        theta = np.zeros(R.shape[1])
        for _ in range(2):
            costs = rng.random(R.shape[1])
            theta += scipy.optimize.linprog(costs, A_eq=R, b_eq=np.ones(k)).x / 2
        Q = R[:, theta > 1e-9] * theta[theta > 1e-9]
        if np.linalg.cond(information(Q, prior.array)) < 1e8:
            risk = float_risk(Q, prior.array, utility)
            assert risk >= float(solution.bound) * (1 - 1e-6)


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
    except md.CertificateError:
        assert np.linalg.cond(np.array(M, dtype=float)) > 1e12
        return
    unit = 1 << found.bits
    X = [[Fraction(entry, unit) for entry in row] for row in found.entries]
    error = Fraction(found.error, unit)
    # X - M**-1 = M**-1 (M X - 1): each entry of M (X - M**-1) is at most error times a row of M
    for x, z in itertools.product(range(k), repeat=2):
        product = sum(M[x][i] * X[i][z] for i in range(k))
        assert abs(product - (x == z)) <= error * sum(abs(m) for m in M[x])


@each_notion
@both
def test_the_risk_is_least_over_all_mixtures_of_rays_with_an_unbiased_estimator(
    name: str, make: type[EstimationRisk]
) -> None:
    solution = designed(name, make)
    Q, p, k = solution.channel.matrix, solution.problem.prior.array, len(solution.problem.domain)
    # W Q' = 1: whatever the distribution, the mean of the estimate is it
    for x, z in itertools.product(range(k), repeat=2):
        mean = sum(
            w[x] * Fraction(int(n), solution.channel.denominator)
            for w, n in zip(
                solution.decoder or (), solution.channel.numerators[z].tolist(), strict=True
            )
        )
        assert abs(mean - (x == z)) < Fraction(1, 1 << 150)
    W = estimator(solution)
    covariance = (W.T * (p @ Q)) @ W - np.outer(p, p)
    wanted = np.linalg.inv(information(Q, p)) - np.outer(p, p)
    assert covariance == pytest.approx(wanted, rel=1e-7, abs=1e-7)
    assert estimator_risk(Q, W, p, make()) == pytest.approx(float(solution.value), rel=1e-7)

    least = least_l2 if make is md.L2Risk else least_tv
    expected = least(brute_force(solution.problem), p)
    for found in (solution, md.design(solution.problem, route="estimation")):
        assert found.status == "optimal"
        assert float(found.bound) <= expected * (1 + 1e-6)
        assert float(found.value) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 7, 10])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "2"])
def test_under_ldp_the_best_subset_selection_is_optimal(k: int, epsilon: str) -> None:
    """By the closed form and its theorem, and by the numeric route that knows neither.

    The worst case is the uniform distribution, whatever the prior.
    """
    expected = subset_risk(k, float(epsilon))
    values = {md.L2Risk: expected, md.TVRisk: FACTOR * math.sqrt(k * expected)}
    for make, route, worst_case in itertools.product(
        BOTH, ("auto", "estimation"), (False, True) if k in (3, 5) else (False,)
    ):
        prior = md.Prior.from_counts(range(1, k + 1)) if worst_case else None
        found = solved(md.LDP(epsilon), make(worst_case), k, prior, route)
        assert found.status == "optimal"
        assert float(found.value) == pytest.approx(values[make], rel=1e-9)


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


UNIFORM_LIFTS = (md.LIP("0.5"), md.PML(1), md.AsymmetricLift("0.9", "0.3"))
FORMULAS: list[tuple[Any, int, list[str] | None, str]] = [
    *((notion, k, None, "subset selection by lifts") for notion in UNIFORM_LIFTS for k in (4, 5)),
    (md.LIP(2), 3, THREE, "LIP randomized response"),
    (md.HighLowLDP(1, range(4)), 8, None, "high-low subset selection"),
    (md.BlockLDP(1, [[0, 1, 2], [3, 4], [5]]), 6, None, "block subset selection"),
]


@pytest.mark.parametrize(("notion", "k", "prior", "name"), FORMULAS)
@both
@each_case
def test_a_closed_form_is_what_all_rays_give(
    notion: Any, k: int, prior: Any, name: str, make: type[EstimationRisk], worst_case: bool
) -> None:
    """Lifts also where randomized response leaks too much; two sizes are mixed for high-low."""
    prior = prior or md.Prior.uniform(k)
    closed, listed = (
        solved(notion, make(worst_case), k, prior, route) for route in ("auto", "estimation")
    )
    assert (closed.route == f"closed-form: {name}") or (worst_case and "lifts" not in name)
    assert closed.status == listed.status == "optimal"
    assert float(closed.value) == pytest.approx(float(listed.value), rel=1e-9)


def lift_risk(k: int) -> float:
    """The least risk under LIP at epsilon 1: few entries are raised, one is between."""
    low, high = math.exp(-1), math.e
    raised = int(k * (1 - low) / (high - low))
    between = k - raised * high - (k - 1 - raised) * low
    return (k - 1) ** 2 / (raised * high**2 + between**2 + (k - 1 - raised) * low**2 - k)


BLOCKS = [[0, 1, 2, 3], [4, 5, 6], [7]]
MANY: list[tuple[Any, int, float, float]] = [
    *((md.LDP(e), k, subset_risk(k, float(e)), 1e-9) for k in (16, 32) for e in ("0.5", "2")),
    (md.LIP(1), 20, lift_risk(20), 1e-9),
    (md.HighLowLDP(1, range(5)), 20, 10.9886, 5e-6),  # one size
    (md.HighLowLDP(1, range(4)), 8, 8.9915, 6e-6),  # two sizes: one alone has 9.0132
    # M falls apart, and so does the risk: a block of mass s/8 has s/8 of v + |p|**2
    (md.BlockLDP(1, BLOCKS), 8, sum(s / 8 * (subset_risk(s, 1) + 1 / s) for s in (4, 3)), 1e-9),
]


@pytest.mark.parametrize(("notion", "k", "expected", "tolerance"), MANY)
def test_many_inputs_at_the_uniform_prior_have_few_subsets(
    notion: Any, k: int, expected: float, tolerance: float
) -> None:
    solution = solved(notion, md.L2Risk(), k, md.Prior.uniform(k))
    assert solution.status == "optimal"
    assert float(solution.value) == pytest.approx(expected, rel=tolerance)
    assert solution.channel.shape[1] <= k * (k + 1) // 2


def test_all_subsets_of_fifteen_inputs_prove_the_optimum_in_time() -> None:
    """They are listed at once, where a double description would take a minute."""
    prior = md.Prior.from_counts(range(3, 18))
    found = md.design(md.Problem(range(15), md.LDP(1), md.L2Risk(), prior=prior))
    assert found.status == "optimal"
    assert found.certificate is not None
    assert isinstance(found.certificate.oracle, Rays)
    assert isinstance(found.certificate.oracle.source, Subsets)


def test_one_sensitive_input_is_mangats_design() -> None:
    solution = solved(md.HighLowLDP(1, [0]), md.L2Risk(), 5)
    hide = math.exp(-1)
    mangat = np.hstack([np.full((5, 1), hide), np.vstack([np.zeros(4), np.eye(4) * (1 - hide)])])
    mangat[0, 0] = 1
    assert solution.channel.matrix == pytest.approx(mangat, abs=1e-12)
    assert solution.status == "optimal"


@both
@each_case
def test_without_privacy_it_is_the_risk_of_the_sample(make: Any, worst_case: bool) -> None:
    free = md.ContextAwareLDP([["inf"] * 4] * 4)
    solution = solved(free, make(worst_case), 4, SKEWED)
    p = np.full(4, 1 / 4) if worst_case else np.array([0.1, 0.2, 0.3, 0.4])
    expected = 1 - p @ p if make is md.L2Risk else FACTOR * np.sqrt(p * (1 - p)).sum()
    assert solution.status == "optimal"
    assert float(solution.value) == pytest.approx(expected, rel=1e-12)


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


def test_expected_values_of_the_library_are_computed_without_it() -> None:
    stated = {path.stem: md.load_problem(path).expected for path in PROBLEMS.glob("*.toml")}
    assert stated.keys() == LIBRARY.keys()
    for name, expected in stated.items():
        assert expected.value == pytest.approx(LIBRARY[name](), rel=1e-6)


# --- the worst case -------------------------------------------------------------------------------


@each_notion
@both
def test_the_worst_case_is_a_saddle_point(name: str, make: type[EstimationRisk]) -> None:
    """No distribution makes the estimator worse than the value, no channel is better at p*.

    The value is the largest of the least risks.
    """
    utility, solution = make(worst_case=True), designed(name, make, True)
    assert solution.status == "optimal"
    Q, value, W = solution.channel.matrix, float(solution.value), estimator(solution)
    k = len(Q)
    assert pytest.approx(np.eye(k), abs=1e-9) == Q @ W
    rng = np.random.default_rng(0)
    corners = list(np.eye(k))
    for p in [*corners, *rng.dirichlet(np.ones(k), 300), *rng.dirichlet(np.full(k, 0.2), 300)]:
        assert estimator_risk(Q, W, p, utility) <= value * (1 + 1e-9)
    named = solution.certificate.reference
    worst = np.array(list(map(float, named))) if named else np.full(k, 1 / k)
    assert estimator_risk(Q, W, worst, utility) == pytest.approx(value, rel=1e-6)
    if make is md.L2Risk and name in list(NOTIONS)[:7]:
        R = brute_force(solution.problem)
        assert least_l2(R, worst) == pytest.approx(value, rel=1e-5)
        for p in rng.dirichlet(np.ones(k), 3):
            assert least_l2(R, p) <= value * (1 + 1e-5)


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
    except md.InfeasibleError:
        return
    solution = md.design(problem)
    assert solution.bound <= solution.value
    if utility.worst_case or isinstance(utility, md.L2Risk) or case.prior.array.max() <= 0.75:
        assert solution.status == "optimal"
    assert verify(solution.document()).value == solution.value
    Q, p = solution.channel.matrix, case.prior.array
    if not utility.worst_case and np.linalg.cond(information(Q, p)) < 1e8:
        assert float(solution.value) == pytest.approx(float_risk(Q, p, utility), rel=1e-5)


# --- what is refused ------------------------------------------------------------------------------


def unread(make: type[EstimationRisk]) -> Any:
    half = md.Channel.from_matrix([["1/2", "1/2"], ["1/2", "1/2"]])
    return make().value(half, md.Prior.uniform(2))


TIED = md.ContextAwareLDP([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
REFUSED: list[tuple[Callable[[type[EstimationRisk]], Any], type[Exception], str]] = [
    (lambda make: solved(md.LDP(0), make(), 3), md.InfeasibleError, "distribution be estimated"),
    (lambda make: solved(TIED, make(), 3), md.InfeasibleError, "rows of 1 and 2 equal"),
    (
        lambda make: solved(md.LDP(1), make(), 3, [0, "0.5", "0.5"]),
        md.InputError,
        "prior: an input has probability 0",
    ),
    (lambda make: make(worst_case="yes"), md.InputError, "worst_case"),
    (unread, md.InputError, "independent"),
    (
        lambda make: solved(md.LDP("1e-18"), make(), 3),
        md.SolverError,
        r"risk is infinite|too small",
    ),
    (
        lambda make: md.design(md.Problem(range(4), md.LDP(1), make(), outputs=["a", "b"])),
        md.UnsupportedError,
        "labels",
    ),
]


@pytest.mark.parametrize(("call", "kind", "match"), REFUSED)
@both
def test_what_cannot_be_estimated_is_refused(
    call: Any, kind: type[Exception], match: str, make: type[EstimationRisk]
) -> None:
    with pytest.raises(kind, match=match):
        call(make)


@both
def test_a_worst_case_needs_no_prior_above_0(make: type[EstimationRisk]) -> None:
    assert solved(md.LDP(1), make(True), 3, [0, "0.5", "0.5"]).status == "optimal"


def test_one_input_needs_no_report() -> None:
    for make, worst in itertools.product(BOTH, (False, True)):
        for route in ("auto", "estimation"):
            solution = solved(md.LDP(1), make(worst), 1, route=route)
            assert solution.status == "optimal"
            assert float(solution.value) == pytest.approx(0, abs=1e-30)


# --- the saved file -------------------------------------------------------------------------------


@both
def test_another_reference_prior_is_another_claim(make: Any) -> None:
    """With the least favorable prior changed, value and estimator no longer fit."""
    document = solved(md.LIP(1), make(True), 3, THREE).document()
    average, _ = document["certificate"]["relaxations"]
    assert average["kind"] == "average"
    average["weights"] = ["0.1", "0.4", "0.5"]
    with pytest.raises(md.CertificateError):
        verify(sealed(document))
    average["weights"] = ["0", "0.5", "0.5"]
    with pytest.raises(md.CertificateError, match="without zeros"):
        verify(sealed(document))


def test_the_theorem_of_subset_selection_is_a_bound_where_it_is_not_the_optimum() -> None:
    """It is refused or below the optimum; where it applies it is the optimum."""

    def bound(problem: md.Problem) -> Fraction | None:
        try:
            found = subset_selection(problem.compiled)
            return None if found is None else found.bound(statement_of(problem))
        except (md.CertificateError, ArithmeticError):
            return None

    skewed = md.Problem(range(4), md.LDP(1), md.L2Risk(), prior=SKEWED)
    other = md.Problem(range(4), md.LDP(1), md.MutualInformation())
    lip = md.Problem(range(4), md.LIP(1), md.L2Risk(True), prior=SKEWED)
    metric = md.Problem(range(3), md.MetricPrivacy(1, "absolute"), md.L2Risk())
    for problem in (skewed, other, lip, metric):
        found = bound(problem)
        assert found is None or found < md.design(problem).value * (1 - Fraction(1, 10**6))
    worst = bound(md.Problem(range(4), md.LDP(1), md.L2Risk(True), prior=SKEWED))
    assert float(worst) == pytest.approx(subset_risk(4, 1), rel=1e-12)


def test_a_budget_beyond_floats_has_the_risk_of_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # its exponential overflows, and another proof is taken
    huge = md.design(md.Problem(range(4), md.LDP(5000), md.L2Risk()))
    assert float(huge.bound) == pytest.approx(3 / 4)


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
