"""Prices and levels at decoders are a bound, whatever they are; the textbook confirms each one."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

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
    CertificateError,
    ContextAwareLDP,
    DifferentialIdentifiability,
    HammingLoss,
    HighLowLDP,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    design,
)
from mechdesign.certify.bounds.decoders import band_bound
from mechdesign.certify.proof import BOUNDS
from mechdesign.notions import Notion
from tests.strategies import examples, statement_of

FloatArray = npt.NDArray[np.float64]
SCALAR = PosteriorMeanSquaredError()


def cheapest(notion: Notion, P: FloatArray, cost: FloatArray) -> float:
    """The least cost . r over private r with P . r = 1, as a linear program from the definition."""
    k = len(P)
    rows: list[FloatArray] = []
    table = notion.to_table()
    if isinstance(notion, LDP):
        E = math.exp(float(Fraction(table["epsilon"])))
        unit = np.eye(k)
        rows += [unit[x] - E * unit[z] for x in range(k) for z in range(k) if x != z]
    else:
        budgets = [table.get("upper", table.get("epsilon")), table.get("lower")]
        if isinstance(notion, LIP):
            budgets[1] = table["epsilon"]
        for x in range(k):
            if budgets[0] not in (None, "inf"):
                rows.append(np.eye(k)[x] - math.exp(float(Fraction(budgets[0]))) * P)
            if budgets[1] not in (None, "inf"):
                rows.append(P - math.exp(float(Fraction(budgets[1]))) * np.eye(k)[x])
    found = linprog(cost, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=[P], b_eq=[1])
    assert found.status == 0
    return float(found.fun)


def textbook_bound(problem: Problem, dual: dict[str, Any]) -> float:
    """Prices plus the least that chords of gamma, on a fine grid, leave between the decoders."""
    P = problem.prior.array
    f = np.array([float(v) for v in problem.utility.values(problem.domain)])  # type: ignore[attr-defined]
    span = f.max() - f.min()
    f = (f - f.min()) / span
    w = np.array([float(p) for p in dual["potential"]])
    s = np.array([float(Fraction(d)) for d in dual["decoders"]])
    notion = problem.privacy[0]
    gamma = np.array([cheapest(notion, P, P * (f - d) ** 2 - w) for d in s])
    fine = np.linspace(0, 1, 20001)
    chord = np.interp(fine, s, gamma - s**2) + fine**2
    return float((w.sum() + chord.min()) * span**2)


NOTIONS: list[Notion] = [
    LIP(1),
    LIP("0.3"),
    PML("0.7"),
    AsymmetricLift("0.3", "1.2"),
    AsymmetricLift("0.5", "inf"),
    AsymmetricLift("inf", "0.5"),
    LDP(1),
    LDP(3),
]


@pytest.mark.slow
@pytest.mark.parametrize("notion", NOTIONS, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_of_a_design_is_what_the_textbook_says(notion: Notion, seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 9))
    prior = Prior.from_counts(rng.integers(1, 50, k).tolist())
    utility = PosteriorMeanSquaredError(rng.normal(size=k).round(2).tolist())
    problem = Problem(range(k), notion, utility, prior=prior)
    solution = design(problem, route="decoder-grid")
    dual = solution.certificate["dual"]
    proved = float(band_bound(statement_of(problem), dual))
    expected = textbook_bound(problem, dual)
    assert proved <= expected + 1e-8 * abs(expected)
    assert proved == pytest.approx(expected, rel=1e-6)
    assert solution.gap <= 1e-7
    assert len(dual["decoders"]) == len(dual["levels"])


@pytest.mark.parametrize("notion", NOTIONS, ids=repr)
def test_nonsense_is_a_bound_as_well(notion: Notion) -> None:
    prior = Prior([Fraction(1, 10), Fraction(2, 10), Fraction(3, 10), Fraction(4, 10)])
    problem = Problem([0, 1, 3, 7], notion, SCALAR, prior=prior)
    optimum = design(problem, route="decoder-grid").value
    statement = statement_of(problem)
    price = st.integers(-50, 200).map(lambda n: n / 1000)

    @examples(60)
    @given(
        st.lists(price, min_size=4, max_size=4),
        st.lists(st.integers(1, 99), max_size=8, unique=True),
        st.lists(st.integers(-300, 300).map(lambda n: n / 100), min_size=10, max_size=10),
    )
    def any_data(prices: list[float], inner: list[int], levels: list[float]) -> None:
        decoders = ["0", *(f"{n}/100" for n in sorted(inner)), "1"]
        dual = {"potential": prices, "decoders": decoders, "levels": levels[: len(decoders)]}
        assert band_bound(statement, dual) <= optimum

    any_data()


def fair_dual(k: int) -> dict[str, Any]:
    return {"potential": [0.0] * k, "decoders": ["0", "0.5", "1"], "levels": [0.0] * 3}


@pytest.mark.parametrize(
    "decoders", [[], ["0"], ["0", "0.9", "0.9"], ["0.1", "0.5", "1"], ["0", "1", "0.5"]]
)
def test_decoders_must_rise_from_0_to_1(decoders: list[str]) -> None:
    statement = statement_of(Problem([0, 1], LDP(1), SCALAR, prior=[0.3, 0.7]))
    dual = fair_dual(2) | {"decoders": decoders, "levels": [0.0] * len(decoders)}
    with pytest.raises(CertificateError, match="rise"):
        band_bound(statement, dual)


def test_every_decoder_has_its_level_and_every_input_its_price() -> None:
    statement = statement_of(Problem([0, 1], LIP(1), SCALAR, prior=[0.3, 0.7]))
    with pytest.raises(ValueError, match="zip"):
        band_bound(statement, fair_dual(2) | {"levels": [0.0]})
    with pytest.raises(CertificateError, match="one potential"):
        band_bound(statement, fair_dual(3))


@pytest.mark.parametrize(
    "notions",
    [
        [LDP(1), LIP(1)],
        [BoundedPriorLIP(1, [[0.2, 0.3, 0.5], [0.3, 0.3, 0.4]])],
        [BoundedPriorLIP(1, lower=[0.1, 0.1, 0.1], upper=[0.5, 0.5, 0.5])],
        [HighLowLDP(1, [0])],
        [DifferentialIdentifiability(2)],
        [ContextAwareLDP([[0, 1, 1], [1, 0, 1], [1, 2, 0]])],
    ],
    ids=repr,
)
def test_what_is_no_band_is_refused(notions: list[Notion]) -> None:
    problem = Problem(range(3), notions, SCALAR, prior=[0.2, 0.3, 0.5])
    words = "multipliers at decoders need|dual bands needs a single notion"
    with pytest.raises(CertificateError, match=words):
        BOUNDS["dual bands"](statement_of(problem), fair_dual(3))


def test_one_bound_on_all_ratios_is_a_band_whatever_it_is_called() -> None:
    same = [
        LDP(1),
        HighLowLDP(1, [0, 1, 2]),
        ContextAwareLDP([[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
    ]
    bounds = set()
    for notion in same:
        problem = Problem(range(3), notion, SCALAR, prior=[0.2, 0.3, 0.5])
        solution = design(problem, route="decoder-grid")
        assert "levels" in solution.certificate["dual"]
        bounds.add(round(float(solution.bound), 12))
    assert len(bounds) == 1


@pytest.mark.parametrize("utility", [HammingLoss(), PosteriorMeanSquaredError(histogram=True)])
def test_other_objectives_are_refused(utility: Any) -> None:
    problem = Problem(range(3), LDP(1), utility, prior=[0.2, 0.3, 0.5])
    with pytest.raises(CertificateError, match="dual bands is no bound on the objective"):
        BOUNDS["dual bands"](statement_of(problem), fair_dual(3))
