"""The registry of routes: what names them says the same, and the router picks by what they say."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from mechdesign import (
    LDP,
    LIP,
    BayesAccuracy,
    Distortion,
    HammingLoss,
    InputError,
    L2Risk,
    MeanAbsoluteError,
    MetricPrivacy,
    MutualInformation,
    PosteriorMeanSquaredError,
    Problem,
    UnsupportedError,
    design,
)
from mechdesign.cli.design import COMMANDS
from mechdesign.notions import ApproximateLDP
from mechdesign.search import AUTO, NOISE, ROUTES, plan
from mechdesign.search.limits import Limits

DOCS = Path(__file__).resolve().parents[2] / "docs"

SKEWED = [0.5, 0.3, 0.2]

PROBLEMS = {
    "a formula": Problem(range(3), LDP(1), HammingLoss()),
    "a loss on a line": Problem(range(3), LDP(1), MeanAbsoluteError(), prior=SKEWED),
    "a small program": Problem(range(3), [LDP(1), LIP(1)], MeanAbsoluteError(), prior=SKEWED),
    "a worst case": Problem(range(3), LDP(1), HammingLoss(worst_case=True), prior=SKEWED),
    "a line": Problem(range(24), MetricPrivacy(1, "absolute"), MeanAbsoluteError()),
    "a large program": Problem(
        range(40),
        LDP(1),
        Distortion([[abs(x * x - y * y) % 7 for y in range(40)] for x in range(40)]),
        outputs=range(40),
        prior=[(x + 1) / 820 for x in range(40)],
    ),
    "a guess": Problem(range(3), LDP(1), BayesAccuracy(), prior=SKEWED),
    "a scalar": Problem(range(3), LDP(1), PosteriorMeanSquaredError(), prior=SKEWED),
    "information": Problem(range(3), LDP(1), MutualInformation(), prior=SKEWED),
    "a risk": Problem(range(3), LDP(1), L2Risk(), prior=SKEWED),
    "the whole channel": Problem(range(3), ApproximateLDP(1, "0.1"), HammingLoss(), prior=SKEWED),
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
        with pytest.raises(UnsupportedError, match=r"^(route|utility\.objective|objective): "):
            design(problem, route=asked)


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
    quoted = re.findall(r'``"([a-z-]+)(?::NAME)?"``', design.__doc__ or "")
    assert {AUTO, *ROUTES} <= set(quoted)


def test_the_error_of_an_unknown_route_lists_the_registry() -> None:
    with pytest.raises(InputError) as caught:
        design(PROBLEMS["a formula"], route="colums")
    assert caught.value.expected == f"one of {', '.join((AUTO, *ROUTES, NOISE))}"
    assert caught.value.hint == "did you mean 'columns'?"


def test_a_refusal_names_the_purpose_of_the_route() -> None:
    problem = PROBLEMS["information"]
    for route in ("interior", "estimation"):
        with pytest.raises(UnsupportedError) as caught:
            design(problem, route=route)
        assert caught.value.hint == f"it is {ROUTES[route].summary}"
