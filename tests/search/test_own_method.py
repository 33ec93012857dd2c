"""A method and a reduction of one's own: one class and one line in a registry each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechdesign import LDP, Distortion, HammingLoss, MeanAbsoluteError, Problem, design
from mechdesign.kernel import verify
from mechdesign.search import AUTO, RawSolution, Route, plan, router
from mechdesign.search.interior import solve as interior
from mechdesign.search.limits import Limits
from mechdesign.search.presolve.chain import PRESOLVE
from mechdesign.search.presolve.reductions import ConicProgram, Reduced


class RandomizedResponse(Route):
    """Randomized response, for Hamming loss under LDP."""

    name = "own"
    summary = "randomized response"

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Ask for Hamming loss under one budget."""
        suits = problem.sole_notion(LDP) is not None and isinstance(problem.utility, HammingLoss)
        return "the loss counts errors" if suits else None

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Return the channel, without a proof."""
        k, notion = len(problem.domain), problem.sole_notion(LDP)
        assert notion is not None
        Q = np.ones((k, k)) + np.expm1(float(notion.epsilon)) * np.eye(k)
        return RawSolution(Q / Q.sum(axis=1), problem.outputs or (), (), "own: by hand")


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> RandomizedResponse:
    """The method in a temporary registry, before all others."""
    route = RandomizedResponse()
    monkeypatch.setattr(router, "ROUTES", {route.name: route, **router.ROUTES})
    return route


def test_a_method_is_one_class_and_one_line(own: RandomizedResponse) -> None:
    """It is repaired and proved like any other, and tried first where it suits."""
    problem = Problem(range(5), LDP(1), HammingLoss())
    found, best = design(problem, route="own"), design(problem, route="linear-program")
    assert found.route == "own: by hand"
    assert found.why == "the loss counts errors"
    assert float(found.value) == pytest.approx(float(best.value))
    assert 0 < found.bound <= best.bound  # that which needs no search
    verify(found.document())
    assert next(plan(problem, AUTO, Limits(), []))[0] is own
    assert design(problem).status == "optimal"  # the next one closes the gap
    other = Problem(range(5), LDP(1), MeanAbsoluteError())
    assert own not in [route for route, _ in plan(other, AUTO, Limits(), [])]


def without_repeated_outputs(program: ConicProgram) -> Reduced | None:
    """Leave out outputs that cost what an earlier one does at every input."""
    m = program.cost.shape[1]
    _, first = np.unique(program.cost, axis=1, return_index=True)
    kept = np.sort(first)
    if len(kept) == m:
        return None

    def invert(answers):  # type: ignore[no-untyped-def]
        (answer,) = answers
        matrix = np.zeros((len(program.cost), m))
        matrix[:, kept] = answer.matrix
        assert program.is_priced  # prices hold for the outputs left out, which cost the same
        return replace(answer, matrix=matrix)

    left = replace(program, cost=program.cost[:, kept])
    return Reduced((left,), f"{m - len(kept)} outputs are repeated", invert)


def test_a_reduction_is_one_function_and_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report names it, and the proof is that of the whole problem."""
    losses = [[abs(x - y % 3) ** 2 + x * (y % 3) for y in range(6)] for x in range(4)]
    problem = Problem(
        range(4), LDP(1), Distortion(losses), prior=[0.1, 0.2, 0.3, 0.4], outputs=range(6)
    )
    plain = design(problem, route="interior")
    monkeypatch.setattr(interior, "PRESOLVE", (without_repeated_outputs, *PRESOLVE))
    monkeypatch.setattr(interior, "symmetries", lambda _: None)
    found = design(problem, route="interior")
    assert any("3 outputs are repeated" in note for note in found.notes)
    assert found.status == plain.status == "optimal"
    assert float(found.value) == pytest.approx(float(plain.value))
    verify(found.document())
