"""Some inputs that stand for others prove a bound that holds, whatever the map and multipliers.

The optimum comes from the textbook linear program, and so does that of the representatives.
"""

from __future__ import annotations

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
    CertificateError,
    ContextAwareLDP,
    DifferentialIdentifiability,
    Domain,
    HammingLoss,
    MeanAbsoluteError,
    MetricPrivacy,
    Prior,
    Problem,
)
from mechdesign.certify.bounds.duality import dual_bound
from mechdesign.certify.bounds.representatives import representatives_bound
from mechdesign.certify.proof import prove
from mechdesign.notions import Notion
from tests.strategies import (
    ORACLE,
    TIGHT,
    budgets,
    distortions,
    examples,
    lp_optimum,
    priors,
    statement_of,
)

Dual = dict[str, Any]


@st.composite
def problems(draw: st.DrawFn, most: int = 5) -> Problem:
    """Bounds on ratios: metrics on lines and grids, and any matrix, also no metric."""
    domain = draw(
        st.one_of(
            st.lists(st.integers(-4, 5), min_size=2, max_size=most, unique=True).map(Domain),
            st.sampled_from([Domain.grid(2, 2), Domain.grid(1, 4, "0.5")]),
        )
    )
    k = len(domain)
    entry = st.one_of(budgets("0.1"), st.just("inf"))
    notions: list[st.SearchStrategy[Notion]] = [
        budgets("0.1").map(LDP),
        budgets("0.1").map(lambda e: MetricPrivacy(e, "euclidean")),
        st.lists(st.lists(entry, min_size=k, max_size=k), min_size=k, max_size=k).map(
            ContextAwareLDP
        ),
    ]
    return Problem(
        domain,
        draw(st.one_of(notions)),
        draw(distortions(k, worst_case=False)),
        prior=draw(priors(k)),
    )


@st.composite
def maps(draw: st.DrawFn, k: int) -> list[int]:
    """Any map of inputs to some of them that are mapped to themselves."""
    chosen = draw(st.lists(st.integers(0, k - 1), min_size=1, unique=True))
    rest = st.sampled_from(chosen)
    return [x if x in chosen else draw(rest) for x in range(k)]


def lengths(problem: Problem) -> np.ndarray:
    """E with q_x <= e**E[x, z] q_z, the least of all notions."""
    rows = [family.ratio_rows() for family in problem.cone.families]
    return np.min([own.lengths() for own in rows if own is not None], axis=0)


def coarse(problem: Problem, stands: list[int]) -> tuple[np.ndarray, list[int]]:
    """The costs of representatives by their definition, in floating point."""
    loss = problem.utility.cost(problem.domain, problem.prior, problem.outputs or ())  # type: ignore[attr-defined]
    inputs, E = sorted(set(stands)), lengths(problem)
    cost = np.zeros((len(inputs), loss.shape[1]))
    for x, r in enumerate(stands):
        cost[inputs.index(r)] += np.exp(-E[r, x]) * loss[x]
    return cost, inputs


def optimal_dual(problem: Problem, stands: list[int]) -> tuple[float, Dual]:
    """The optimum of the representatives' program, with the dual that proves it."""
    cost, inputs = coarse(problem, stands)
    E, (n, m) = lengths(problem), cost.shape
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
    pairs = [(a, b) for a, b in pairs if np.isfinite(E[inputs[a], inputs[b]])]
    G = np.zeros((len(pairs), n))
    for row, (a, b) in zip(G, pairs, strict=True):
        row[a], row[b] = np.exp(-E[inputs[a], inputs[b]]), -1
    found = scipy.optimize.linprog(
        cost.ravel(),
        np.kron(G, np.eye(m)) if pairs else None,
        np.zeros(len(pairs) * m) if pairs else None,
        np.kron(np.eye(n), np.ones(m)),
        np.ones(n),
        options={"presolve": False, **TIGHT},
    )
    assert found.status == 0
    weight = np.maximum(-found.ineqlin.marginals, 0).reshape(len(pairs), m)
    block: Dual = {"notion": 0, "side": "ratio", "output": [], "x": [], "other": [], "weight": []}
    for (a, b), own in zip(pairs, weight, strict=True):
        block["output"] += list(range(m))
        block["x"] += [inputs[a]] * m
        block["other"] += [inputs[b]] * m
        block["weight"] += own.tolist()
    mixtures = [[[y, 1.0]] for y in range(m)]
    rows = [block] if pairs else []
    return found.fun, {
        "weights": None,
        "rows": rows,
        "representatives": stands,
        "mixtures": mixtures,
    }


def bound(problem: Problem, dual: Dual) -> float:
    return float(representatives_bound(statement_of(problem), dual))


@examples(60)
@given(data=st.data(), problem=problems())
def test_no_map_and_no_multipliers_prove_too_much(data: st.DataObject, problem: Problem) -> None:
    k, m = len(problem.domain), len(problem.outputs or ())
    stands = data.draw(maps(k))
    value, dual = optimal_dual(problem, stands)
    best = lp_optimum(problem).value
    assert value <= best + ORACLE
    assert bound(problem, dual) == pytest.approx(value, abs=1e-7)
    for block in dual["rows"]:
        n = len(block["weight"])
        block["weight"] = data.draw(
            st.lists(st.floats(0, 2, allow_subnormal=False), min_size=n, max_size=n)
        )
    entry = st.tuples(st.integers(0, m), st.floats(0, 2, allow_subnormal=False)).map(list)
    dual["mixtures"] = data.draw(st.lists(st.lists(entry, max_size=3), min_size=m, max_size=m))
    assert bound(problem, dual) <= best + ORACLE


@examples(40)
@given(problem=problems())
def test_where_all_inputs_stand_for_themselves_it_is_the_optimum(problem: Problem) -> None:
    stands = list(range(len(problem.domain)))
    value, dual = optimal_dual(problem, stands)
    assert value == pytest.approx(lp_optimum(problem).value, abs=1e-7)
    ordinary = dual_bound(statement_of(problem), {"weights": None, "rows": dual["rows"]})
    assert bound(problem, dual) == pytest.approx(float(ordinary), abs=1e-12)
    assert bound(problem, dual) == pytest.approx(value, abs=1e-7)


@examples(40)
@given(data=st.data(), problem=problems())
def test_an_input_that_comes_to_stand_for_itself_never_weakens_it(
    data: st.DataObject, problem: Problem
) -> None:
    """For q_x >= s q_r is a row of the program in which x stands for itself."""
    stands = data.draw(maps(len(problem.domain)))
    before, _ = optimal_dual(problem, stands)
    x = data.draw(st.integers(0, len(stands) - 1))
    after, _ = optimal_dual(problem, [*stands[:x], x, *stands[x + 1 :]])
    assert after >= before - ORACLE


def line(k: int, **keys: Any) -> Problem:
    return Problem(range(k), MetricPrivacy("0.15", "absolute"), MeanAbsoluteError(), **keys)


def test_blocks_of_a_line_prove_most_of_the_optimum() -> None:
    """Blocks of two points, the first of which stands for both: nine tenths of the optimum."""
    problem = line(12)
    best = lp_optimum(problem).value
    value, dual = optimal_dual(problem, [x - x % 2 for x in range(12)])
    assert bound(problem, dual) == pytest.approx(value, abs=1e-7)
    assert 0.85 * best <= value <= best


def test_a_mixture_of_columns_is_the_sum_of_their_terms() -> None:
    problem = line(4, prior=[0.1, 0.2, 0.3, 0.4])
    stands = [0, 0, 3, 3]
    rows = {"notion": 0, "side": "ratio", "x": [0, 3], "other": [3, 0], "weight": [0.25, 0.5]}
    apart = {
        "weights": None,
        "rows": [{**rows, "output": [0, 7]}],
        "representatives": stands,
        "mixtures": [[[0, 1.0], [7, 0.5]]] * 4,
    }
    scaled = {**rows, "output": [2, 2], "weight": [0.25, 0.25]}
    together = {**apart, "rows": [scaled], "mixtures": [[[2, 1.0]]] * 4}
    assert bound(problem, apart) == pytest.approx(bound(problem, together), abs=1e-15)


def test_what_no_notion_bounds_counts_for_nothing() -> None:
    """Without a bound on q_1 / q_0, the loss of input 1 is not in the bound."""
    problem = Problem(2, ContextAwareLDP([[0, "inf"], ["inf", 0]]), HammingLoss(), prior=[0.5, 0.5])
    dual = {"weights": None, "rows": [], "representatives": [0, 0], "mixtures": [[], []]}
    assert bound(problem, dual) == 0


FORGED = {
    "a chain of representatives": {"representatives": [1, 2, 2, 2]},
    "one that is no input": {"representatives": [0, 0, 4, 4]},
    "too few": {"representatives": [0, 0, 3]},
    "a mixture too few": {"mixtures": [[]] * 3},
    "a row of another input": {"x": [1]},
    "a pair without a row": {"other": [0]},
    "another side": {"side": "upper"},
    "a weight below 0": {"weight": [-1.0]},
}


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_forgeries_are_refused(change: Dual) -> None:
    rows: Dual = {"notion": 0, "side": "ratio", "output": [0], "x": [0], "other": [3]}
    rows |= {"weight": [0.5]}
    dual: Dual = {"weights": None, "representatives": [0, 0, 3, 3], "mixtures": [[]] * 4}
    assert bound(line(4), {**dual, "rows": [rows]}) >= 0
    rows |= {key: value for key, value in change.items() if key in rows}
    dual |= {key: value for key, value in change.items() if key in dual}
    with pytest.raises(CertificateError):
        bound(line(4), {**dual, "rows": [rows]})


def test_it_is_for_expected_losses_under_bounds_on_ratios_only() -> None:
    dual = {"weights": None, "rows": [], "representatives": [0, 0], "mixtures": [[], []]}
    certificate = {"theorem": None, "dual": dual}

    def proved(problem: Problem) -> Fraction:
        return prove(statement_of(problem), certificate, [[1 << 62] * 2], [0], 62)[1]

    least = pytest.approx(math.exp(-1) / 2)
    assert float(proved(Problem(2, LDP(1), HammingLoss()))) == least
    same = Problem(2, DifferentialIdentifiability(1), HammingLoss(), prior=[0.5, 0.5])
    assert float(proved(same)) == least
    for problem in (
        Problem(2, LDP(1), HammingLoss(worst_case=True)),
        Problem(2, LIP(1), HammingLoss(), prior=Prior([0.5, 0.5])),
    ):
        with pytest.raises(CertificateError):
            proved(problem)
