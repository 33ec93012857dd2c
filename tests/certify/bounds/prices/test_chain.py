"""Prices along a chain prove a bound that holds, whatever they are, and the optimum with the best.

The optimum comes from the textbook linear program, the best prices from its row sums.
"""

from __future__ import annotations

import copy
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    BlockLDP,
    CertificateError,
    ContextAwareLDP,
    DifferentialIdentifiability,
    Distortion,
    Domain,
    HammingLoss,
    L2Risk,
    MeanAbsoluteError,
    MeanSquaredDistance,
    MetricPrivacy,
    MutualInformation,
    PosteriorMeanSquaredError,
    Problem,
    design,
)
from mechdesign.certify.bounds.prices.chain import LEAST, _beyond, _steps, chain_bound
from mechdesign.certify.bounds.prices.reduced_costs import BITS, SCALE, ReducedCosts
from mechdesign.certify.problem import read_statement
from mechdesign.certify.proof import BOUNDS, prove
from mechdesign.designs.solution import Solution
from mechdesign.exact import exp_lower, exp_upper
from mechdesign.utilities import Utility
from tests.documents import refused
from tests.strategies import (
    ORACLE,
    TIGHT,
    budgets,
    distortions,
    examples,
    float_rows,
    lp_optimum,
    priors,
    statement_of,
)


def best_prices(problem: Problem) -> np.ndarray:
    """The multipliers of the row sums in the textbook linear program."""
    k, m = len(problem.domain), len(problem.outputs or ())
    loss = problem.utility.loss(problem.domain, problem.outputs or ()).array  # type: ignore[attr-defined]
    G, _ = float_rows(problem)
    found = scipy.optimize.linprog(
        (problem.prior.array[:, None] * loss).ravel(),
        np.kron(G, np.eye(m)),
        np.zeros(len(G) * m),
        np.kron(np.eye(k), np.ones(m)),
        np.ones(k),
        options={"presolve": False, **TIGHT},
    )
    assert found.status == 0
    prices: np.ndarray = found.eqlin.marginals
    return prices


@st.composite
def lines(draw: st.DrawFn, least: str = "0.1", most: str = "2") -> Problem:
    """Metric privacy on numbers, unevenly spaced and in any order."""
    k = draw(st.integers(2, 5))
    domain = Domain(draw(st.lists(st.integers(-6, 9), min_size=k, max_size=k, unique=True)))
    notion = MetricPrivacy(
        draw(budgets(least, most)), draw(st.sampled_from(["absolute", "euclidean"]))
    )
    losses: list[st.SearchStrategy[Utility]] = [
        st.just(MeanAbsoluteError()),
        st.just(MeanSquaredDistance()),
        distortions(k, worst_case=False),
    ]
    return Problem(domain, notion, draw(st.one_of(losses)), prior=draw(priors(k)))


def bound_of(problem: Problem, prices: Any) -> float:
    return float(chain_bound(statement_of(problem), {"potential": list(prices)}))


@pytest.mark.slow
@examples(150)
@given(lines(), st.integers(0, 2**32), st.sampled_from([0.01, 0.3, 3.0]))
def test_any_prices_are_a_bound(problem: Problem, seed: int, size: float) -> None:
    prices = size * np.random.default_rng(seed).normal(size=len(problem.domain))
    assert bound_of(problem, prices) <= lp_optimum(problem).value + ORACLE


@pytest.mark.slow
@examples(100)
@given(lines())
def test_the_best_prices_prove_the_optimum(problem: Problem) -> None:
    best, bound = lp_optimum(problem).value, bound_of(problem, best_prices(problem))
    assert best - 1e-6 * (1 + best) <= bound <= best + ORACLE


@pytest.mark.slow
@examples(60)
@given(st.integers(2, 4), budgets("0.1", "2"), st.data())
def test_other_ratios_of_neighbours_serve_as_well(k: int, epsilon: Fraction, data: Any) -> None:
    """Valid for LDP, where it uses some rows only, for DI, and for the strictest of two notions."""
    prior = data.draw(priors(k, least=1))
    wide = epsilon + Fraction(math.ceil(100 * math.log(max(prior) / prior.minimum)), 100)
    notion = data.draw(
        st.sampled_from(
            [
                LDP(epsilon),
                DifferentialIdentifiability(wide),
                [LDP(epsilon), MetricPrivacy(epsilon / 2, "absolute")],
                [LIP(epsilon), LDP(epsilon)],
            ]
        )
    )
    problem = Problem(Domain.range(k), notion, MeanAbsoluteError(), prior=prior)
    optimum = lp_optimum(problem).value
    seed = data.draw(st.integers(0, 2**32))
    prices = np.random.default_rng(seed).normal(size=k) * data.draw(st.sampled_from([0.0, 0.1, 1]))
    assert bound_of(problem, prices) <= optimum + ORACLE
    if k == 2 and not isinstance(notion, list):  # one pair is all there is
        assert bound_of(problem, best_prices(problem)) >= optimum - ORACLE


@pytest.mark.parametrize("epsilon", ["0", "1e-12", "90", "800"])
def test_at_extreme_budgets_it_is_still_a_bound(epsilon: str) -> None:
    problem = Problem(range(4), MetricPrivacy(epsilon, "absolute"), MeanAbsoluteError())
    best = 1.0 if epsilon in ("0", "1e-12") else 0.0
    for prices in ([0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.375, 0.125, 0.125, 0.375]):
        assert chain_bound(statement_of(problem), {"potential": prices}) <= best + 1e-9


@pytest.mark.parametrize("prices", [[1.0] * 90, [0.02] * 89 + [-1.0], [0.0] * 45 + [0.4] * 45])
def test_integers_stay_short_at_large_budgets(prices: list[float]) -> None:
    """Each input multiplies what lies beyond by up to e**4000; the bound holds all the same."""
    problem = Problem(range(90), MetricPrivacy(4000, "absolute"), MeanAbsoluteError(), outputs=[0])
    statement = statement_of(problem)
    right = _steps(statement, list(range(90)))
    beyond = _beyond([round(-u * SCALE) for u in prices], right)
    assert max(map(int.bit_length, beyond)) <= 2049
    bound = chain_bound(statement, {"potential": prices})
    assert bound <= Fraction(89, 2)  # the mean distance from the only output


def test_a_cost_far_below_another_spoils_no_root_but_those_beyond_it() -> None:
    """The root is at the end from which nothing falls: its bound is not cut off."""
    problem = Problem(range(3), MetricPrivacy(1300, "absolute"), MeanAbsoluteError(), outputs=[0])
    prices = [0.0, 1.0, 1.0]
    (c,) = ReducedCosts(statement_of(problem), {"potential": prices})
    right = _steps(statement_of(problem), [0, 1, 2])
    assert _beyond(c, right) == [LEAST, c[2] * right[1][1] >> BITS, 0]
    found = chain_bound(statement_of(problem), {"potential": prices})
    assert Fraction(LEAST, SCALE) < found <= 1  # the mean distance from the only output


def steps(k: int = 5) -> Problem:
    return Problem(range(k), MetricPrivacy(1, "absolute"), MeanAbsoluteError(), prior=PRIOR[:k])


PRIOR = ["0.1", "0.2", "0.3", "0.25", "0.15"]


def saved(problem: Problem) -> dict[str, Any]:
    """A document whose bound is proved along the chain."""
    solution = design(problem)
    dual = {"weights": None, "rows": [], "potential": best_prices(problem).tolist()}
    certificate = {"theorem": None, "dual": {**dual, "search": "chain"}}
    columns, bits = solution.channel.columns(), solution.channel.bits
    used = [list(problem.outputs or ()).index(y) for y in solution.channel.outputs]
    _, bound = prove(read_statement(problem.to_table()), certificate, columns, used, bits)
    given = {name: getattr(solution, name) for name in solution.__dataclass_fields__}
    again = Solution(**{**given, "certificate": certificate, "bound": bound})
    assert again.status == "optimal"
    document: dict[str, Any] = json.loads(json.dumps(again.document()))
    return document


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return saved(steps())


@pytest.mark.parametrize(
    ("place", "wrong", "reason"),
    [
        (0, 0.0, "the bound proved is"),
        (2, 1.0, "the bound proved is"),
        (4, -1.0, "the bound proved is"),
        (0, math.nan, "number"),
        (0, "x", "number"),
        (0, True, "number"),
        (0, None, "number"),
    ],
)
def test_other_prices_are_refused(
    document: dict[str, Any], place: int, wrong: Any, reason: str
) -> None:
    changed = copy.deepcopy(document)
    changed["certificate"]["dual"]["potential"][place] = wrong
    refused(changed, reason)


def test_prices_are_complete(document: dict[str, Any]) -> None:
    for change in (lambda u: u[:-1], lambda u: [*u, 0.0]):
        changed = copy.deepcopy(document)
        dual = changed["certificate"]["dual"]
        dual["potential"] = change(dual["potential"])
        refused(changed, "one potential for each input")


def test_a_bound_above_what_is_proved_is_refused(document: dict[str, Any]) -> None:
    changed = copy.deepcopy(document)
    changed["bound"] = changed["value"] * (1 + 1e-13)
    changed["gap"] = abs(changed["value"] - changed["bound"]) / changed["value"]
    refused(changed, "the bound proved is")


def test_another_search_is_refused(document: dict[str, Any]) -> None:
    changed = copy.deepcopy(document)
    changed["certificate"]["dual"]["search"] = "rays"
    refused(changed)


def test_a_wider_notion_is_refused(document: dict[str, Any]) -> None:
    """The bound is for the budget of the file: with a larger one it proves less."""
    changed = copy.deepcopy(document)
    changed["problem"]["privacy"][0]["epsilon"] = "1.2"
    changed["privacy"][0]["epsilon"] = 1.2
    refused(changed, "the bound proved is")


@pytest.mark.parametrize(
    "problem",
    [
        Problem(range(3), MetricPrivacy(1, "absolute"), MeanAbsoluteError(worst_case=True)),
        Problem(range(3), MetricPrivacy(1, "absolute"), MutualInformation()),
        Problem(range(3), MetricPrivacy(1, "absolute"), PosteriorMeanSquaredError()),
        Problem(range(3), LDP(1), L2Risk()),
    ],
    ids=lambda p: repr(p.utility),
)
def test_other_objectives_are_refused(problem: Problem) -> None:
    with pytest.raises(CertificateError, match="is no bound on the objective"):
        BOUNDS["dual chain"](statement_of(problem), {"potential": [0, 0, 0]})


@pytest.mark.parametrize("notion", [LIP(1), BlockLDP(1, [[0, 1], [2]])], ids=repr)
def test_neighbours_must_bound_each_other(notion: Any) -> None:
    problem = Problem(range(3), notion, HammingLoss(), prior=["0.2", "0.3", "0.5"])
    with pytest.raises(CertificateError, match="do not bound inputs"):
        chain_bound(statement_of(problem), {"potential": [0, 0, 0]})


def test_losses_of_any_denominators_are_rounded_down() -> None:
    loss = Distortion([["0.1", "1/3"], ["2/7", "0.3"]])
    problem = Problem(range(2), MetricPrivacy(1, "absolute"), loss, prior=["1/3", "2/3"])
    best = lp_optimum(problem).value
    assert bound_of(problem, [0, 0]) <= best
    assert best - 1e-7 <= bound_of(problem, best_prices(problem)) <= best + ORACLE


def naive_bound(problem: Problem, prices: list[Fraction], steps: list[tuple[Any, Any]]) -> Fraction:
    """Return the bound by its definition, in rationals: ``steps`` has (down, up) of neighbors."""
    k = len(prices)
    P, loss = list(problem.prior), statement_of(problem).losses
    worst = [Fraction(0)] * k
    for y in range(loss.n_outputs):
        c = [
            p * Fraction(cost, loss.denominator) - u
            for p, cost, u in zip(P, loss.lower(y), prices, strict=True)
        ]
        R, L = [Fraction(0)] * k, [Fraction(0)] * k
        for x in range(k - 2, -1, -1):
            t = c[x + 1] + R[x + 1]
            R[x] = t * steps[x][0 if t >= 0 else 1]
        for x in range(1, k):
            t = c[x - 1] + L[x - 1]
            L[x] = t / steps[x - 1][1 if t >= 0 else 0]
        W = [a + b + d for a, b, d in zip(c, R, L, strict=True)]
        root = W.index(max(W))
        worst[root] = min(worst[root], W[root])
    return sum(prices, Fraction(0)) + sum(worst, Fraction(0))


NOTIONS: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "one budget": (MetricPrivacy("0.5", "absolute"), [("-0.5", "0.5")] * 3),
    "two notions, the first stricter": (
        [MetricPrivacy("0.5", "absolute"), LDP(1)],
        [("-0.5", "0.5")] * 3,
    ),
    "two notions, the last stricter": (
        [LDP(1), MetricPrivacy("0.5", "absolute")],
        [("-0.5", "0.5")] * 3,
    ),
    "each pair its own budgets": (
        ContextAwareLDP(
            [[0, 1, 2, 2], ["0.3", 0, "0.7", 2], [2, "0.2", 0, "0.4"], [2, 2, "0.6", 0]]
        ),
        [("-1", "0.3"), ("-0.7", "0.2"), ("-0.4", "0.6")],
    ),
    "a pair that another notion does not bound": (
        [BlockLDP("0.1", [[0, 1], [2, 3]]), MetricPrivacy("0.5", "absolute")],
        [("-0.1", "0.1"), ("-0.5", "0.5"), ("-0.1", "0.1")],
    ),
}


@pytest.mark.parametrize("name", NOTIONS)
@pytest.mark.parametrize("seed", range(8))
def test_the_bound_is_its_definition_but_for_rounding(name: str, seed: int) -> None:
    notion, exponents = NOTIONS[name]
    rng = np.random.default_rng(seed)
    loss = Distortion([[str(v) for v in row] for row in rng.integers(0, 9, (4, 5)).tolist()])
    problem = Problem(range(4), notion, loss, prior=["0.1", "0.2", "0.3", "0.4"])
    prices = [Fraction(n, 100) for n in rng.integers(-100, 200, 4).tolist()]
    steps = [(exp_lower(Fraction(a)), exp_upper(Fraction(b))) for a, b in exponents]
    exact = naive_bound(problem, prices, steps)
    found = chain_bound(statement_of(problem), {"potential": [str(u) for u in prices]})
    assert exact - Fraction(1, 2**100) <= found <= exact + Fraction(1, 2**140)
