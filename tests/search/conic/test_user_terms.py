"""Constraints and objectives of a user's own: the optimum, privacy, the bound, and what is said."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.kernel import verify
from mechdesign.search.conic.user_terms import linearized
from tests.documents import sealed
from tests.strategies import examples

PRIOR = [0.1, 0.2, 0.3, 0.4]
GAPS = np.abs(np.subtract.outer(range(4), range(4)))


def problem(notion: Any = None, utility: Any = None, **more: Any) -> md.Problem:
    notion = md.LDP(1) if notion is None else notion
    return md.Problem(range(4), notion, utility or md.MeanAbsoluteError(), prior=PRIOR, **more)


def mean_absolute(Q: Any) -> Any:
    return cp.sum(cp.multiply(np.array(PRIOR)[:, None] * GAPS, Q))


def textbook(
    objective: Callable[[Any], Any] = mean_absolute,
    constraints: Callable[[Any], Sequence[Any]] = lambda _: [],
) -> float:
    """Solve under LDP, every row written out, with what a user adds."""
    Q = cp.Variable((4, 4), nonneg=True)
    rows = [Q[x] <= math.e * Q[z] for x in range(4) for z in range(4)]
    loss = objective(Q)
    loss = loss if isinstance(loss, cp.Minimize | cp.Maximize) else cp.Minimize(loss)
    stated = cp.Problem(loss, [*rows, cp.sum(Q, axis=1) == 1, *constraints(Q)])
    return float(stated.solve(solver="CLARABEL"))


CONSTRAINTS: dict[str, Callable[[Any], list[Any]]] = {
    "equal entries": lambda Q: [Q[0, 0] == Q[3, 3]],
    "the law of the input": lambda Q: [np.array(PRIOR) @ Q == PRIOR],
    "unbiased, shrunk": lambda Q: [Q @ np.arange(4.0) == 0.2 * np.arange(4.0) + 1],
    "one entry": lambda Q: [Q[0, 0] >= 0.45],
    "bistochastic": lambda Q: [cp.sum(Q, axis=0) == 1],
    "an output that is never sent": lambda Q: [Q[:, 1] == 0],
    "norm": lambda Q: [cp.norm(Q[0]) <= 0.6],
    "second-order cone": lambda Q: [cp.SOC(cp.Constant(0.6), Q[0])],
    "squares": lambda Q: [cp.sum_squares(Q) <= 1.1],
    "semidefinite": lambda Q: [
        cp.bmat([[Q[0, 0], Q[0, 1]], [Q[0, 1], Q[1, 1]]]) >> 0.1 * np.eye(2)
    ],
    "entropy": lambda Q: [cp.sum(cp.entr(np.array(PRIOR) @ Q)) >= 1.35],
    "three at once": lambda Q: [Q[0, 0] >= 0.3, Q[1, 1] == Q[2, 2], cp.sum(Q[:, 3]) <= 0.9],
}

OBJECTIVES: dict[str, Callable[[Any], Any]] = {
    "squares": lambda Q: cp.Minimize(cp.sum_squares(Q - np.eye(4))),
    "an expression": lambda Q: cp.sum(cp.multiply(GAPS**2, Q)),
    "gain": lambda Q: cp.Maximize(cp.trace(Q)),
    "entropy and an entry": lambda Q: cp.Maximize(
        cp.sum(cp.entr(np.array(PRIOR) @ Q)) + 3 * Q[0, 0]
    ),
    "largest of rows": lambda Q: cp.Minimize(cp.max(cp.sum(cp.multiply(GAPS, Q), axis=1))),
    "least of entries": lambda Q: cp.Maximize(cp.min(cp.diag(Q))),
    "likelihood": lambda Q: cp.Maximize(cp.sum(cp.log(cp.diag(Q)))),
}


def hold(solution: md.Solution, wanted: float | None = None) -> None:
    """Whatever a user adds, the channel is private, and the file claims no more than it proves.

    It is the optimum: the one that is wanted.
    """
    assert solution.status == "optimal"
    assert wanted is None or math.isclose(solution.value, wanted, rel_tol=1e-5)
    stated = solution.problem
    for notion in stated.privacy:
        assert notion.holds(solution.channel, stated.prior)
    assert not solution.bound_proved
    sign = -1 if stated.utility.is_maximized else 1
    assert sign * solution.bound <= sign * solution.value
    assert "computed in floating point" in repr(solution)
    verified = verify(json.loads(json.dumps(solution.document())))
    assert any(claim.startswith("NOT checked") for claim in verified.claims)
    assert any("private as stated" in claim for claim in verified.claims)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints_are_kept(name: str) -> None:
    stated = problem()
    constraints = CONSTRAINTS[name](stated.Q)
    solution = md.design(stated, constraints=constraints)
    hold(solution, textbook(constraints=CONSTRAINTS[name]))
    # the variable has the channel that is returned as its value, and the note is about that
    worst = max(float(np.max(c.violation())) for c in constraints)
    assert worst <= 1e-7
    (note,) = [n for n in solution.notes if n.startswith("your constraints hold")]
    assert note == (
        "your constraints hold" if worst == 0 else f"your constraints hold to {worst:.1e}"
    )
    assert solution.problem.quoted == tuple(str(c) for c in constraints)
    assert f"subject to {str(constraints[0])[:20]}" in repr(solution)
    assert stated.quoted == ()  # the problem itself is as it was
    # at that value: the exact loss of the exact channel
    assert solution.value == md.MeanAbsoluteError().value(
        solution.channel, stated.prior, stated.outputs
    )
    assert solution.value >= md.design(stated).bound


@pytest.mark.parametrize("name", OBJECTIVES)
def test_an_objective_of_ones_own(name: str) -> None:
    stated = problem()

    solution = md.design(stated, objective=OBJECTIVES[name](stated.Q))
    hold(solution, textbook(OBJECTIVES[name]))
    assert solution.problem.utility.name == "custom"
    head = "gain" if isinstance(OBJECTIVES[name](stated.Q), cp.Maximize) else "loss"
    assert f"{head}       custom = " in repr(solution)


@pytest.mark.parametrize("route", ["auto", "cvxpy:CLARABEL", "cvxpy:ECOS", "cvxpy:SCS"])
def test_both_at_once_and_every_solver(route: str) -> None:
    stated, (objective, constraints) = (
        problem(),
        (OBJECTIVES["squares"], CONSTRAINTS["bistochastic"]),
    )
    terms = {"constraints": constraints(stated.Q), "objective": objective(stated.Q)}
    hold(md.design(stated, route=route, **terms), textbook(objective, constraints))


@pytest.mark.parametrize(
    "notion",
    [
        md.LIP(0.7),
        [md.LIP(1), md.LDP(1.2)],
        md.MutualInformationLeakage(0.2),
        [md.LDP(2), md.ApproximateLDP(0.5, 0.05)],
    ],
    ids=repr,
)
def test_with_any_notion(notion: Any) -> None:
    stated = problem(notion)
    plain = md.design(stated)
    solution = md.design(stated, constraints=[stated.output_distribution == PRIOR])
    hold(solution)
    assert solution.value >= plain.bound
    law = solution.channel.output_distribution(stated.prior)
    assert np.allclose([float(p) for p in law], PRIOR, atol=1e-7)
    # the same, said in another way
    other = md.design(
        stated,
        objective=cp.Minimize(mean_absolute(stated.Q)),
        constraints=[stated.output_distribution == PRIOR],
    )
    assert math.isclose(other.value, solution.value, rel_tol=1e-7)


def test_a_constraint_that_holds_anyway_changes_nothing() -> None:
    stated = problem()
    solution = md.design(stated, constraints=[stated.Q[0, 0] <= 1])
    assert math.isclose(solution.value, md.design(stated).value, rel_tol=1e-8)
    assert "your constraints hold" in solution.notes
    assert not solution.binding
    assert "binding rows are not listed beside constraints of your own" in solution.notes


def test_the_worst_case_of_a_built_in_loss() -> None:
    stated = problem(utility=md.MeanAbsoluteError(worst_case=True))
    solution = md.design(stated, constraints=[stated.Q[0, 0] == 0.3])
    hold(solution, textbook(OBJECTIVES["largest of rows"], lambda Q: [Q[0, 0] == 0.3]))


def test_outputs_are_named_where_the_optimiser_would_choose() -> None:
    with pytest.raises(md.InputError, match=r"outputs: .*outputs=\[\.\.\.\]"):
        _ = problem(utility=md.BayesAccuracy()).Q
    stated = problem(utility=md.BayesAccuracy(), outputs=["a", "b"])
    solution = md.design(stated, objective=cp.Maximize(stated.Q[0, 0] - stated.Q[3, 0]))
    hold(solution)
    assert math.isclose(solution.value, math.tanh(1 / 2), rel_tol=1e-7)  # Warner's


WRONG: dict[str, tuple[dict[str, Callable[[Any], Any]], type[md.InputError], str]] = {
    "not convex": (
        {"constraints": lambda Q: [Q[0, 0] <= 1, cp.square(Q[0, 0]) >= 0.1]},
        md.InputError,
        r"constraints\[1\]: expected a convex constraint",
    ),
    "no constraint": (
        {"constraints": lambda _: [True]},
        md.InputError,
        r"constraints\[0\]: .* True",
    ),
    "no list": ({"constraints": lambda Q: Q[0, 0] <= 1}, md.InputError, "constraints: .* a list"),
    "objective not convex": (
        {"objective": lambda Q: cp.Minimize(cp.sqrt(Q[0, 0]))},
        md.InputError,
        "objective: expected a convex loss",
    ),
    "objective a number": ({"objective": lambda _: 3}, md.InputError, "objective: .* given 3"),
    "objective a matrix": ({"objective": lambda Q: Q}, md.InputError, "objective: .* scalar"),
    "a variable besides": (
        {"constraints": lambda _: [cp.Variable(name="z") <= 1]},
        md.UnsupportedError,
        r"constraints\[0\]: .*problem.Q alone, given z",
    ),
    "another Q": (
        {"objective": lambda _: cp.sum(problem().Q)},
        md.UnsupportedError,
        "objective: .*problem.Q alone, given Q",
    ),
    "a parameter without a value": (
        {"constraints": lambda Q: [Q[0, 0] <= cp.Parameter(name="most")]},
        md.InputError,
        r"constraints\[0\]: .* parameter most",
    ),
    "route": (
        {"constraints": lambda Q: [Q[0, 0] <= 1], "route": lambda _: "linear-program"},
        md.UnsupportedError,
        "route: expected auto or cvxpy:NAME",
    ),
    "solver": (
        {"constraints": lambda Q: [Q[0, 0] <= 1], "route": lambda _: "cvxpy:CLARABELL"},
        md.InputError,
        "did you mean 'CLARABEL'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_terms_are_refused_by_name(name: str) -> None:
    stated = problem()
    given, kind, match = WRONG[name]
    with pytest.raises(kind, match=match):
        md.design(stated, **{key: make(stated.Q) for key, make in given.items()})


def test_unsatisfiable_constraints_are_infeasible() -> None:
    stated = problem()
    with pytest.raises(md.InfeasibleError, match="no private channel meets your constraints"):
        md.design(stated, constraints=[stated.Q[0, 0] >= 0.9, stated.Q[3, 0] <= 0.7])
    freer = problem(md.LDP(1.2))  # 0.3 / 0.1 is 3, whose logarithm is 1.0986
    told = md.design(freer, constraints=[freer.Q[0, 0] >= 0.9, freer.Q[3, 0] <= 0.7])
    assert told.status == "optimal"


def test_parameters_may_change_between_designs() -> None:
    stated, least = problem(), cp.Parameter(value=0.1)
    values = []
    for least.value in (0.1, 0.4, 0.45):
        values.append(md.design(stated, constraints=[stated.Q[0, 0] >= least]).value)
    assert values[0] < values[1] < values[2]


class Roughness(md.ConvexUtility):
    """The squared steps between neighbouring rows: a loss that nobody wants, convex."""

    name = "roughness"

    def objective(self, Q: Any, domain: Any, prior: Any, outputs: Any) -> Any:
        return cp.sum_squares(Q[1:] - Q[:-1]) + cp.sum_squares(Q - np.eye(len(outputs)))


@pytest.mark.parametrize("route", ["auto", "cvxpy:CLARABEL"])
def test_a_convex_utility_of_ones_own(route: str) -> None:
    stated = problem(utility=Roughness())
    solution = md.design(stated, route=route)
    hold(
        solution, textbook(lambda Q: cp.sum_squares(Q[1:] - Q[:-1]) + cp.sum_squares(Q - np.eye(4)))
    )
    both = md.design(stated, constraints=[stated.Q[0, 0] >= 0.5], route=route)
    assert both.value >= solution.bound
    assert both.status == "optimal"


def test_a_file_with_constraints_claims_the_value_and_not_the_bound() -> None:
    stated = problem()
    document = md.design(stated, constraints=[stated.Q[0, 0] >= 0.45]).document()
    assert document["problem"]["constraints"] == ["0.45 <= Q[0, 0]"]
    claims = verify(json.loads(json.dumps(document))).claims
    assert any("recomputed from the integers" in claim for claim in claims)
    assert "NOT checked: the bound" in claims[-1]

    document.update(bound_proved=True)
    with pytest.raises(md.CertificateError, match="contains none"):
        verify(sealed(document))


@examples(40)
@given(
    st.lists(st.integers(0, 20), min_size=6, max_size=6),
    st.lists(st.integers(1, 20), min_size=6, max_size=6),
    st.sampled_from(["squares", "entropy", "maximum", "norm"]),
)
def test_a_tangent_is_below_a_convex_function(at: list[int], to: list[int], kind: str) -> None:
    Q = cp.Variable((2, 3), nonneg=True)
    expression = {
        "squares": cp.sum_squares(Q - 1),
        "entropy": -cp.sum(cp.entr(Q)),
        "maximum": cp.max(Q),
        "norm": cp.norm(Q[0]) + cp.abs(Q[0, 0] - Q[1, 1]),
    }[kind]
    line = linearized(expression, Q, np.array(at, dtype=float).reshape(2, 3) / 20)
    if line is None:
        return
    constant, slope = line
    Q.value = np.array(to, dtype=float).reshape(2, 3) / 20
    assert constant + float((slope * Q.value).sum()) <= float(expression.value) + 1e-9


def test_plain_problems_do_not_change() -> None:
    stated = problem(utility=md.HammingLoss())
    before = md.design(stated)
    assert before.bound_proved
    assert before.problem is stated
    assert "constraints" not in before.document()["problem"]
    md.design(stated, constraints=[stated.Q[0, 0] == Fraction(1, 4)])
    after = md.design(stated)
    assert (after.value, after.bound) == (before.value, before.bound)
