"""Products of rows prove no more than is true, and what they do not prove is refused."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechdesign import (
    LDP,
    LIP,
    CertificateError,
    ContextAwareLDP,
    L2Risk,
    MetricPrivacy,
    Prior,
    Problem,
    TVRisk,
    design,
)
from mechdesign.certify.bounds.estimation_risk import estimation_bound
from mechdesign.certify.bounds.sums.products import reduced_gain_by_products
from mechdesign.certify.problem import read_statement
from mechdesign.notions import Notion
from mechdesign.resources import counted
from mechdesign.routes.estimation_risk.product_relaxation import product_bound
from mechdesign.routes.limits import Limits
from mechdesign.utilities import EstimationRisk

BUDGETS = [[0, 1, "0.5", 2], [1, 0, "inf", 1], [2, 1, 0, "1.5"], ["0.7", 1, 1, 0]]
NOTIONS: dict[str, list[Notion]] = {
    "matrix": [ContextAwareLDP(BUDGETS)],
    "line": [MetricPrivacy("0.8", "absolute")],
    "ldp": [LDP(1)],
    "lip": [LIP(1)],
    "both": [LIP("0.8"), ContextAwareLDP(BUDGETS)],
}
PRIOR = Prior.from_counts([1, 2, 3, 4])


def dual_of(problem: Problem, utility: EstimationRisk) -> dict[str, Any]:
    found = product_bound(problem, utility, problem.prior.array, Limits())
    assert found is not None
    dual = {"potential": found.potentials.tolist(), "search": "products", **found.evidence}
    A = found.inverse
    if isinstance(utility, TVRisk):
        deviations = np.sqrt(np.diag(A) - problem.prior.array**2)
        return dual | {
            "estimator": (A / np.diag(A)[:, None]).tolist(),
            "tangents": deviations.tolist(),
        }
    return dual | {"estimator": A.tolist()}


@pytest.mark.parametrize("utility", [L2Risk(), TVRisk()])
@pytest.mark.parametrize("name", NOTIONS)
def test_the_bound_is_below_the_optimum(name: str, utility: EstimationRisk) -> None:
    problem = Problem(range(4), NOTIONS[name], utility, prior=PRIOR)
    bound = float(estimation_bound(read_statement(problem.to_table()), dual_of(problem, utility)))
    best = design(problem)
    assert best.status == "optimal"
    assert bound <= float(best.value) * (1 + 1e-9)
    assert bound >= (0.98 if name == "ldp" else 0.5) * float(best.value)


def test_the_bound_is_the_optimum_of_the_relaxation_with_all_products() -> None:
    import cvxpy as cp

    problem, k = Problem(range(4), NOTIONS["matrix"], L2Risk(), prior=PRIOR), 4
    forms = list(np.eye(k))
    for x, row in enumerate(BUDGETS):
        for z, budget in enumerate(row):
            if x != z and budget != "inf":
                forms.append(np.exp(float(budget)) * np.eye(k)[z] - np.eye(k)[x])
    M = cp.Variable((k, k), symmetric=True)
    p = problem.prior.array
    products = [f @ M @ h >= 0 for f in forms for h in forms]
    program = cp.Problem(cp.Minimize(cp.tr_inv(M)), [M @ p == 1, M >> 0, *products])
    program.solve(solver="CLARABEL")
    bound = float(estimation_bound(read_statement(problem.to_table()), dual_of(problem, L2Risk())))
    best = program.value - p @ p  # to the tolerance of the solver
    assert best * (1 - 1e-5) <= bound <= best * (1 + 1e-7)


def test_less_evidence_is_refused() -> None:
    problem = Problem(range(4), NOTIONS["matrix"], L2Risk(), prior=PRIOR)
    statement, dual = read_statement(problem.to_table()), dual_of(problem, L2Risk())
    before = estimation_bound(statement, dual)
    weaker = copy.deepcopy(dual)
    weaker["surplus"] += 0.5
    assert estimation_bound(statement, weaker) == before - Fraction(
        str(weaker["surplus"])
    ) + Fraction(str(dual["surplus"]))
    largest = int(np.argmax(dual["products"][4]))
    changes = {
        "do not prove": [("surplus", 0.0), ("drop", largest), ("potential", -1e-6)],
        "negative": [("surplus", -1e-3), ("weight", -1.0)],
        "do not have": [("form", (1, 2))],
        "names an entry": [("form", (5, 0))],
        "differ in length": [("short", None)],
    }
    for message, cases in changes.items():
        for key, value in cases:
            file = copy.deepcopy(dual)
            if key == "surplus":
                file[key] = value
            elif key == "drop":
                file["products"] = [part[:value] + part[value + 1 :] for part in file["products"]]
            elif key == "potential":
                file[key] = [u + value for u in file[key]]
            elif key == "weight":
                file["products"][4][0] = value
            elif key == "form":
                file["products"][0][0], file["products"][1][0] = value
            else:
                file["products"][4].pop()
            with pytest.raises(CertificateError, match=message):
                estimation_bound(statement, file)


@pytest.mark.parametrize("seed", range(20))
def test_what_products_prove_is_true_of_private_columns(seed: int) -> None:
    """Any matrix that products make: the inequality holds on columns at random."""
    rng = np.random.default_rng(seed)
    k = 4
    problem = Problem(range(k), NOTIONS["matrix"], L2Risk(), prior=PRIOR)
    statement, p = read_statement(problem.to_table()), problem.prior.array
    E = np.array([[float(e) for e in row] for row in BUDGETS])
    pairs = [(x, z) for x in range(k) for z in range(k) if np.isfinite(E[x, z])]
    chosen = [[pairs[i] for i in rng.integers(0, len(pairs), 2)] for _ in range(6)]
    w = rng.exponential(size=6)
    u, T = rng.normal(size=k).round(3), np.zeros((k, k))
    for weight, two in zip(w, chosen, strict=True):
        forms = []
        for x, z in two:
            f = np.zeros(k)
            f[z] += np.exp(E[x, z])
            f[x] -= 1
            forms.append(np.eye(k)[x] if x == z else f)
        T += weight * np.outer(*forms)
    B = (np.outer(u, p) + np.outer(p, u)) / 2 - (T + T.T) / 2 - 1e-9
    parts = [[pair[n][m] for pair in chosen] for n in range(2) for m in range(2)]
    dual = {"surplus": 1e-6, "products": [*parts, w.tolist()]}
    exact = [[Fraction(b) for b in row] for row in B.tolist()]
    c = reduced_gain_by_products(
        statement, list(problem.prior), [Fraction(str(v)) for v in u], exact, dual
    )
    assert c == Fraction("1e-06")
    for column in rng.exponential(size=(200, k)):
        q = column.copy()
        for _ in range(k):
            q = np.minimum(q, (np.exp(E) * q).min(axis=1))  # q_x <= e^E q_z
        assert q @ B @ q <= (u @ q) * (p @ q) + float(c) * (p @ q) ** 2 + 1e-12


def test_levels_are_for_one_budget_and_prove_what_they_prove() -> None:
    problem = Problem(range(4), LDP(1), L2Risk(), prior=PRIOR)
    statement, dual = read_statement(problem.to_table()), dual_of(problem, L2Risk())
    bound = estimation_bound(statement, dual)
    assert bound > Fraction(98, 100) * design(problem).value
    changes: dict[str, list[Any]] = {
        "do not prove": [[-v for v in dual["levels"]], [0.0] * 4],
        "not one level": [dual["levels"][:3]],
    }
    for message, cases in changes.items():
        for levels in cases:
            with pytest.raises(CertificateError, match=message):
                estimation_bound(statement, dual | {"levels": levels})
    for notion in (LIP(1), NOTIONS["matrix"][0], LDP(60)):
        other = Problem(range(4), notion, L2Risk(), prior=PRIOR)
        with pytest.raises(CertificateError, match="levels need one budget"):
            estimation_bound(read_statement(other.to_table()), dual)
    without = {key: value for key, value in dual.items() if key != "levels"}
    with pytest.raises(CertificateError, match="names an entry"):
        estimation_bound(statement, without)


@pytest.mark.parametrize("seed", range(20))
def test_what_levels_prove_is_true_of_rays(seed: int) -> None:
    """Any matrix that products and levels make: the inequality holds on rays of one budget."""
    rng = np.random.default_rng(seed)
    k, low = 4, float(np.exp(-1))
    problem = Problem(range(k), LDP(1), L2Risk(), prior=PRIOR)
    statement, p = read_statement(problem.to_table()), problem.prior.array
    u, v = rng.normal(size=k).round(3), rng.normal(size=k).round(3)
    eye, T = np.eye(k + 1), np.zeros((k + 1, k + 1))
    parts: list[list[int]] = [[], [], [], []]
    weights = rng.exponential(size=5).tolist()
    for weight in weights:
        forms = []
        for n in range(2):
            x, above = int(rng.integers(k)), bool(rng.integers(2))
            forms.append(eye[x] - eye[k] if above else eye[k] / low - eye[x])
            parts[2 * n].append(k + 1 if above else x)
            parts[2 * n + 1].append(x if above else k + 1)
        T += weight * np.outer(*forms)
    for x in range(k):
        T += v[x] * np.outer(eye[x] - eye[k], eye[k] - low * eye[x])
    T = (T + T.T) / 2
    B = (np.outer(u, p) + np.outer(p, u)) / 2 - T[:k, :k]
    dual = {"products": [*parts, weights], "levels": v.tolist()}
    exact = [[Fraction(b) for b in row] for row in B.tolist()]
    potentials = [Fraction(str(n)) for n in u]

    def proves(claim: float) -> bool:
        file = dual | {"surplus": claim}
        try:
            reduced_gain_by_products(statement, list(problem.prior), potentials, exact, file)
        except CertificateError:
            return False
        return True

    c = next(claim for claim in 2.0 ** np.arange(-10, 16) if proves(float(claim)))
    for bits in range(1, 1 << k):
        q = np.where([bits >> x & 1 for x in range(k)], 1.0, low)
        assert q @ B @ q <= (u @ q) * (p @ q) + c * (p @ q) ** 2 + 1e-9


def test_long_potentials_cost_more() -> None:
    k = 4
    problem = Problem(range(k), LDP(1), L2Risk(), prior=PRIOR)
    statement, spent = read_statement(problem.to_table()), []
    B, dual = [[Fraction(0)] * k] * k, {"surplus": 1, "products": [[], [], [], [], []]}
    for bits in (20, 3000):
        u = [Fraction(1) + Fraction(1, (1 << bits) + 2 * n + 1) for n in range(k)]
        with counted() as work:
            reduced_gain_by_products(statement, list(problem.prior), u, B, dual)
        spent.append(work.spent)
    assert spent[1] - spent[0] > k * k * (3000 // 64) ** 2 // 3
