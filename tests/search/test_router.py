"""The registry of routes: names and docs agree, the router picks by it, and it takes ones own."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mechdesign as md
from mechdesign.cli.design import COMMANDS
from mechdesign.kernel import verify
from mechdesign.search import AUTO, NOISE, ROUTES, RawSolution, Route, plan, router
from mechdesign.search.interior import solve as interior
from mechdesign.search.limits import Limits
from mechdesign.search.presolve.chain import PRESOLVE
from mechdesign.search.presolve.reductions import ConicProgram, Reduced
from tests.refusals_support import check_refused

DOCS = Path(__file__).resolve().parents[2] / "docs"

SKEWED = [0.5, 0.3, 0.2]

PROBLEMS = {
    "a formula": md.Problem(range(3), md.LDP(1), md.HammingLoss()),
    "a loss on a line": md.Problem(range(3), md.LDP(1), md.MeanAbsoluteError(), prior=SKEWED),
    "a small program": md.Problem(
        range(3), [md.LDP(1), md.LIP(1)], md.MeanAbsoluteError(), prior=SKEWED
    ),
    "a worst case": md.Problem(range(3), md.LDP(1), md.HammingLoss(worst_case=True), prior=SKEWED),
    "a line": md.Problem(range(24), md.MetricPrivacy(1, "absolute"), md.MeanAbsoluteError()),
    "a large program": md.Problem(
        range(40),
        md.LDP(1),
        md.Distortion([[abs(x * x - y * y) % 7 for y in range(40)] for x in range(40)]),
        outputs=range(40),
        prior=[(x + 1) / 820 for x in range(40)],
    ),
    "a guess": md.Problem(range(3), md.LDP(1), md.BayesAccuracy(), prior=SKEWED),
    "a scalar": md.Problem(range(3), md.LDP(1), md.PosteriorMeanSquaredError(), prior=SKEWED),
    "information": md.Problem(range(3), md.LDP(1), md.MutualInformation(), prior=SKEWED),
    "a risk": md.Problem(range(3), md.LDP(1), md.L2Risk(), prior=SKEWED),
    "the whole channel": md.Problem(
        range(3), md.ApproximateLDP(1, "0.1"), md.HammingLoss(), prior=SKEWED
    ),
}

PLANS = {
    "a formula": ["closed-form", "linear-program", "linear-program", "linear-program"],
    "a loss on a line": ["closed-form", "linear-program", "linear-program", "linear-program"],
    "a small program": ["linear-program"] * 3,
    "a worst case": ["linear-program"] * 3,
    "a line": ["columns", "linear-program", "linear-program", "linear-program"],
    "a large program": ["interior", "linear-program", "linear-program", "linear-program"],
    "a guess": ["closed-form", *["linear-program"] * 3, "extreme-rays"],
    "a scalar": ["decoder-grid"],
    "information": ["extreme-rays"],
    "a risk": ["estimation"],
    "the whole channel": ["conic"] * 3,
}
"""The routes that the router tries, in order, until the gap is small enough."""


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_router_tries_the_most_suitable_route_first(name: str) -> None:
    attempts = list(plan(PROBLEMS[name], AUTO, Limits(), []))
    assert [route.name for route, _ in attempts] == PLANS[name]
    again = ["another method for a smaller gap" in why for _, why in attempts]
    assert again == [n > 0 for n in range(len(attempts))]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_route_solves_the_problems_that_it_accepts(name: str, route: str) -> None:
    """And refuses the rest, in one line that names the route or the utility."""
    problem, asked = PROBLEMS[name], "cvxpy:CLARABEL" if route == "cvxpy" else route
    chosen = ROUTES[route]
    if name in ("a line", "a large program") and route == "cvxpy":
        pytest.skip("too slow")
    able = problem.is_conic or chosen.allows_non_conic
    if (
        able
        and chosen.suits(problem, named=True)
        and (route != "cvxpy" or problem.utility.linear_form)
    ):
        raw = next(plan(problem, asked, Limits(), []))[0].solve(problem, Limits())
        assert raw.matrix.shape[0] == len(problem.domain)
        assert raw.matrix.sum(axis=1) == pytest.approx(1, abs=1e-6)
    else:
        with pytest.raises(md.UnsupportedError, match=r"^(route|utility\.objective|objective): "):
            md.design(problem, route=asked)


def test_the_docs_list_the_registry() -> None:
    """With the summary of each."""
    text = (DOCS / "problem_files.md").read_text(encoding="utf-8")
    table = text.split("## Routes")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `([a-z-]+)(?::[A-Z]+)?` \| (.*) \|$", table, re.MULTILINE)
    assert listed[0][0] == AUTO
    assert dict(listed[1:]) == {name: route.summary for name, route in ROUTES.items()}
    settings = dict(re.findall(r"^\| `([a-z-]+):([A-Z]+)`", table, re.MULTILINE))
    assert settings == {name: route.setting for name, route in ROUTES.items() if route.setting}


def test_the_command_and_the_docstring_name_every_route() -> None:
    parser = argparse.ArgumentParser()
    COMMANDS[0].add_to(parser.add_subparsers())
    commands = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    (action,) = [a for a in commands.choices["solve"]._actions if "--route" in a.option_strings]
    words = re.findall(r"[a-z-]+(?=[,:]| or | and |$)", action.help or "")
    assert set(words) & {AUTO, *ROUTES} == {AUTO, *ROUTES}
    quoted = re.findall(r'``"([a-z-]+)(?::NAME)?"``', md.design.__doc__ or "")
    assert {AUTO, *ROUTES} <= set(quoted)


def test_the_error_of_an_unknown_route_lists_the_registry() -> None:
    caught = check_refused("", md.design, PROBLEMS["a formula"], route="colums")
    assert caught.expected == f"one of {', '.join((AUTO, *ROUTES, NOISE))}"
    assert caught.hint == "did you mean 'columns'?"


def test_a_refusal_names_the_purpose_of_the_route() -> None:
    problem = PROBLEMS["information"]
    for route in ("interior", "estimation"):
        with pytest.raises(md.UnsupportedError) as caught:
            md.design(problem, route=route)
        assert caught.value.hint == f"it is {ROUTES[route].summary}"


# --- a method and a reduction of one's own --------------------------------------------------------


class RandomizedResponse(Route):
    """Randomized response, for Hamming loss under LDP."""

    name = "own"
    summary = "randomized response"

    def suits(self, problem: md.Problem, named: bool = False) -> str | None:
        """Ask for Hamming loss under one budget."""
        suits = problem.sole_notion(md.LDP) is not None and isinstance(
            problem.utility, md.HammingLoss
        )
        return "the loss counts errors" if suits else None

    def solve(self, problem: md.Problem, limits: Limits) -> RawSolution:
        """Return the channel, without a proof."""
        k, notion = len(problem.domain), problem.sole_notion(md.LDP)
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
    problem = md.Problem(range(5), md.LDP(1), md.HammingLoss())
    found, best = md.design(problem, route="own"), md.design(problem, route="linear-program")
    assert found.route == "own: by hand"
    assert found.why == "the loss counts errors"
    assert float(found.value) == pytest.approx(float(best.value))
    assert 0 < found.bound <= best.bound  # that which needs no search
    verify(found.document())
    assert next(plan(problem, AUTO, Limits(), []))[0] is own
    assert md.design(problem).status == "optimal"  # the next one closes the gap
    other = md.Problem(range(5), md.LDP(1), md.MeanAbsoluteError())
    assert own not in [route for route, _ in plan(other, AUTO, Limits(), [])]


def without_repeated_outputs(program: ConicProgram) -> Reduced | None:
    """Leave out outputs that cost what an earlier one does at every input."""
    m = program.cost.shape[1]
    _, first = np.unique(program.cost, axis=1, return_index=True)
    kept = np.sort(first)
    if len(kept) == m:
        return None

    def invert(answers):
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
    problem = md.Problem(
        range(4), md.LDP(1), md.Distortion(losses), prior=[0.1, 0.2, 0.3, 0.4], outputs=range(6)
    )
    plain = md.design(problem, route="interior")
    monkeypatch.setattr(interior, "PRESOLVE", (without_repeated_outputs, *PRESOLVE))
    monkeypatch.setattr(interior, "symmetries", lambda _: None)
    found = md.design(problem, route="interior")
    assert any("3 outputs are repeated" in note for note in found.notes)
    assert found.status == plain.status == "optimal"
    assert float(found.value) == pytest.approx(float(plain.value))
    verify(found.document())
