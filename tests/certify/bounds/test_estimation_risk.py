"""Risks of estimation against their definitions in floats, and bounds on both sides of them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import pi, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from mechdesign import LDP, CertificateError, L2Risk, MetricPrivacy, Problem, TVRisk
from mechdesign.certify.bounds.estimation_risk import (
    estimation_bound,
    estimator,
    is_l2,
    reference_prior,
    risk_of,
    risk_value,
    root_factor,
    unconstrained_risk,
)
from mechdesign.certify.problem import Statement
from mechdesign.notions import Notion
from tests.strategies import ORACLE, examples, simplex, statement_of

Columns = list[list[Fraction]]
NEAR = 1e-9


def stated(utility: Any, prior: Any = None, notion: Notion | None = None, k: int = 3) -> Statement:
    return statement_of(Problem(k, notion or LDP(1), utility, prior=prior))


def inverse_of(columns: Any, p: Any) -> np.ndarray[Any, Any]:
    Q, law = np.array(columns, float), np.array(columns, float) @ np.array(p, float)
    kept = law > 0
    return np.linalg.inv((Q[kept].T / law[kept]) @ Q[kept])


def risk_by_definition(columns: Any, p: Any, l2: bool) -> float:
    """The risk of the best linear unbiased estimator, from its covariance M**-1 - p p'."""
    p = np.array(p, float)
    variances = np.maximum(0, np.diag(inverse_of(columns, p)) - p**2)
    return float(variances.sum() if l2 else np.sqrt(variances).sum() / sqrt(2 * pi))


def worst_by_grid(columns: Any, p: Any, l2: bool, steps: int = 40) -> float:
    """The largest risk, over a grid of priors, of the estimator W made for ``p``."""
    Q, p = np.array(columns, float), np.array(p, float)
    law = Q @ p
    W = np.where(law[:, None] > 0, Q @ inverse_of(columns, p) / np.where(law, law, 1)[:, None], p)
    worst, k = 0.0, len(p)
    for counts in product(range(steps + 1), repeat=k - 1):
        if sum(counts) > steps:
            continue
        r = np.array([*counts, steps - sum(counts)]) / steps
        variances = np.maximum(0, (Q @ r) @ W**2 - r**2)
        risk = variances.sum() if l2 else np.sqrt(variances).sum() / sqrt(2 * pi)
        worst = max(worst, float(risk))
    return worst


@st.composite
def channels(draw: st.DrawFn) -> tuple[Columns, list[Fraction]]:
    k = draw(st.integers(2, 3))
    m = draw(st.integers(k, 4))
    columns = [list(q) for q in zip(*[draw(simplex(m)) for _ in range(k)], strict=True)]
    prior = draw(simplex(k, 1))
    Q = np.array([q for q in columns if any(q)], float)
    assume(np.linalg.matrix_rank(Q) == k)
    assume(np.linalg.cond(Q) < 50)
    return columns, prior


@examples(100)
@given(channels())
def test_the_risk_is_that_of_the_covariance(case: tuple[Columns, list[Fraction]]) -> None:
    columns, prior = case
    for l2, utility in ((True, L2Risk()), (False, TVRisk())):
        statement = stated(utility, prior, k=len(prior))
        assert is_l2(statement) is l2
        low, high = (risk_of(statement, columns, prior, up=up) for up in (False, True))
        assert low <= high
        # a deviation of 0 has the error of the variance under its root
        assert high - low < Fraction(1, 2**90)
        assert float(high) == pytest.approx(risk_by_definition(columns, prior, l2), abs=1e-6)
        assert risk_value(statement, columns, reference_prior(statement)) == high


@examples(60)
@given(channels())
def test_the_worst_case_is_the_largest_over_all_priors(
    case: tuple[Columns, list[Fraction]],
) -> None:
    columns, prior = case
    k = len(prior)
    for l2, utility in ((True, L2Risk(worst_case=True)), (False, TVRisk(worst_case=True))):
        statement = stated(utility, k=k)
        found, worst = (
            float(risk_value(statement, columns, prior)),
            worst_by_grid(columns, prior, l2),
        )
        assert found >= worst - ORACLE
        if l2:
            # concave, so that a grid of step 1/40 is that near; exact at the best point
            Q, p = np.array(columns, float), np.array(prior, float)
            law = Q @ p
            W = Q @ inverse_of(columns, p) / np.where(law, law, 1)[:, None]
            W[law == 0] = p
            b = (Q.T @ W**2).sum(axis=1)
            assert found <= worst + (np.ptp(b) + 2) * k / 40


def identity(k: int) -> Columns:
    return [[Fraction(int(x == y)) for x in range(k)] for y in range(k)]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_in_clear_the_worst_prior_is_the_uniform_one(k: int) -> None:
    uniform = [Fraction(1, k)] * k
    l2, tv = (stated(u, k=k) for u in (L2Risk(worst_case=True), TVRisk(worst_case=True)))
    assert float(risk_value(l2, identity(k), uniform)) == pytest.approx(1 - 1 / k, abs=NEAR)
    deviations = k * sqrt((1 / k) * (1 - 1 / k) / (2 * pi))
    assert float(risk_value(tv, identity(k), uniform)) == pytest.approx(deviations, abs=NEAR)
    for statement in (l2, tv):
        assert reference_prior(statement) == uniform
        assert (
            0
            <= risk_value(statement, identity(k), uniform) - unconstrained_risk(statement)
            < Fraction(1, 2**80)
        )


def test_one_input_has_no_risk() -> None:
    for utility in (L2Risk(worst_case=True), TVRisk(worst_case=True)):
        assert risk_value(stated(utility, k=1), [[Fraction(1)]], [Fraction(1)]) == 0


@examples(50)
@given(simplex(3, 1))
def test_from_the_inputs_themselves_the_variances_are_p_times_1_minus_p(p: list[Fraction]) -> None:
    spread = [float(v * (1 - v)) for v in p]
    assert unconstrained_risk(stated(L2Risk(), p)) == sum(v * (1 - v) for v in p)
    found = unconstrained_risk(stated(TVRisk(), p))
    assert float(found) == pytest.approx(sum(map(sqrt, spread)) / sqrt(2 * pi), abs=NEAR)
    assert found <= risk_of(stated(TVRisk(), p), identity(3), p, up=True)


def test_the_factor_of_deviations_lies_between_its_bounds() -> None:
    low, high = root_factor(up=False), root_factor(up=True)
    assert low < high < low + Fraction(1, 10**39)
    below, above = Fraction("3.14159265358979323846264338327950288419716939937510582"), 1
    assert low**2 * 2 * (below + Fraction(above, 10**52)) < 1 < high**2 * 2 * below


def test_the_prior_is_that_of_the_problem_or_the_one_that_the_certificate_names() -> None:
    own, named = [Fraction(n, 10) for n in (2, 3, 5)], ["0.1", "0.1", "0.8"]
    fixed, worst = stated(L2Risk(), own), stated(L2Risk(worst_case=True))
    assert reference_prior(fixed) == reference_prior(fixed, {"prior": named}) == own
    assert reference_prior(worst, {"prior": named}) == [Fraction(n, 10) for n in (1, 1, 8)]
    assert reference_prior(worst) == reference_prior(worst, {}) == [Fraction(1, 3)] * 3
    assert reference_prior(worst, {"prior": None}) == [Fraction(1, 3)] * 3
    with pytest.raises(CertificateError, match="without zeros"):
        reference_prior(worst, {"prior": ["0", "0.5", "0.5"]})
    with pytest.raises(CertificateError, match="no distribution"):
        reference_prior(worst, {"prior": ["0.1", "0.5", "0.5"]})


@examples(40)
@given(channels())
def test_the_estimator_is_unbiased(case: tuple[Columns, list[Fraction]]) -> None:
    columns, prior = case
    W = estimator(columns, prior)
    k = len(prior)
    assert len(W) == len(columns)
    for x in range(k):
        for z in range(k):
            mean = sum(q[z] * w[x] for q, w in zip(columns, W, strict=True))
            assert abs(mean - int(x == z)) < Fraction(1, 2**150)


def randomized_response(e: float, k: int) -> Columns:
    own = Fraction(e).limit_denominator(10**12)
    return [[(own if x == y else Fraction(1)) / (own + k - 1) for x in range(k)] for y in range(k)]


def dual_of(k: int, l2: bool, search: str, e: float = 2.718281828459045) -> dict[str, Any]:
    """The best certificate under LDP of budget 1 with the uniform prior, by its symmetry.

    Rows of the estimator are a_x = M**-1 e_x, scaled to a 1 at x for deviations; the potentials are
    the largest gain of a ray.
    """
    columns, p = randomized_response(e, k), np.full(k, 1 / k)
    V = inverse_of(columns, p)
    w = np.sqrt(np.diag(V) - p**2)
    A = V if l2 else V / np.diag(V)[:, None]
    if not l2:
        np.fill_diagonal(A, 1)
    b = np.ones(k) if l2 else (w**2 + p**2) ** 2 / (2 * w)
    most = 0.0
    for chosen in product((1.0, e), repeat=k):
        q = np.array(chosen)
        most = max(most, float((b * (A @ q) ** 2).sum() / (p @ q) ** 2))
    found: dict[str, Any] = {
        "potential": [most / k] * k,
        "estimator": A.round(12).tolist(),
        "search": search,
    }
    return found if l2 else {**found, "tangents": w.round(12).tolist()}


@pytest.mark.parametrize("l2", [True, False])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("search", ["rays", "classes"])
def test_the_best_certificate_of_two_or_three_inputs_proves_randomized_response(
    l2: bool, k: int, search: str
) -> None:
    uniform = [Fraction(1, k)] * k
    utility = L2Risk() if l2 else TVRisk()
    statement = stated(utility, uniform, k=k)
    risk = risk_by_definition(randomized_response(2.718281828459045, k), uniform, l2)
    bound = float(estimation_bound(statement, dual_of(k, l2, search)))
    assert bound == pytest.approx(risk, rel=1e-7)
    assert bound <= risk + NEAR
    worst = stated(L2Risk(worst_case=True) if l2 else TVRisk(worst_case=True), k=k)
    assert float(estimation_bound(worst, dual_of(k, l2, search))) == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize("l2", [True, False])
def test_any_rows_and_potentials_prove_a_bound_below_the_optimum(l2: bool) -> None:
    rng = np.random.default_rng(2)
    k, utility = 3, L2Risk() if l2 else TVRisk()
    statement = stated(utility, [Fraction(1, 3)] * k)
    best = risk_by_definition(randomized_response(2.718281828459045, k), [1 / 3] * 3, l2)
    for _ in range(40):
        dual = dual_of(k, l2, "rays")
        A = np.array(dual["estimator"]) + rng.normal(scale=0.05, size=(k, k))
        if not l2:
            np.fill_diagonal(A, 1)
            dual["tangents"] = (np.array(dual["tangents"]) * rng.uniform(0.95, 1.1, k)).tolist()
        dual |= {
            "estimator": A.tolist(),
            "potential": (np.array(dual["potential"]) + rng.normal(scale=0.1, size=k)).tolist(),
        }
        assert float(estimation_bound(statement, dual)) <= best + NEAR


def test_certificates_that_do_not_fit_are_refused() -> None:
    l2, tv = (stated(u, [Fraction(1, 3)] * 3) for u in (L2Risk(), TVRisk()))
    good, classes, deviations = (
        dual_of(3, True, "rays"),
        dual_of(3, True, "classes"),
        dual_of(3, False, "rays"),
    )
    rows = good["estimator"]
    wrong: list[tuple[Statement, dict[str, Any], str]] = [
        (l2, good | {"estimator": rows[:2]}, "one row of the estimator"),
        (l2, good | {"estimator": [row[:2] for row in rows]}, "one row of the estimator"),
        (l2, good | {"potential": good["potential"][:2]}, "one potential for each input"),
        (tv, deviations | {"tangents": deviations["tangents"][:2]}, "one tangent and a 1"),
        (tv, deviations | {"estimator": rows}, "one tangent and a 1"),
        (tv, deviations | {"tangents": [0, 1, 1]}, "at a deviation above 0"),
        (tv, deviations | {"tangents": [-1, 1, 1]}, "at a deviation above 0"),
        (tv, deviations | {"tangents": ["0.1", 1, 1]}, "too small a deviation"),
        (l2, classes | {"potential": [0, 0, 1]}, "tells apart inputs"),
        (l2, classes | {"estimator": [rows[0], rows[1], [0, 0, 1]]}, "tells apart inputs"),
        (l2, classes | {"estimator": [rows[0], rows[1], [*rows[2][:2], 9]]}, "tells apart inputs"),
        (
            stated(L2Risk(), [Fraction(1, 3)] * 3, MetricPrivacy(1, "absolute")),
            classes,
            "only under one budget",
        ),
        (stated(L2Risk(), [Fraction(n, 4) for n in (1, 1, 2)]), classes, "tells apart inputs"),
    ]
    for statement, dual, words in wrong:
        with pytest.raises(CertificateError, match=words):
            estimation_bound(statement, dual)
    tangents = deviations | {"tangents": ["0.2", *deviations["tangents"][1:]]}
    # (t**2 - p**2) / (2 t) = -0.178 at t = 0.2 and p = 1/3, no less than -sqrt(p (1 - p))
    assert float(estimation_bound(tv, tangents)) >= 0
