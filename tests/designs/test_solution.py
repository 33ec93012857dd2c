"""A solution says the same in the report, in JSON and in the document that is saved."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from html import escape

import pytest

import mechdesign as md
from mechdesign.designs.design import design_until
from mechdesign.designs.progress import GapBar
from mechdesign.designs.solution import float_below
from mechdesign.kernel import verify
from mechdesign.search.limits import PHASES, Progress
from mechdesign.sweeps.frontier import design_frontier
from mechdesign.sweeps.many import design_many
from mechdesign.text import latex as escaped
from problems import families

PROBLEMS = {
    "minimized": md.Problem(["a", "b", "c"], md.LDP(1), md.HammingLoss(), prior=[0.5, 0.3, 0.2]),
    "maximized": md.Problem(["a", "b"], md.LIP("0.5"), md.MutualInformation(), prior=[0.4, 0.6]),
}


@lru_cache
def solved(name: str) -> md.Solution:
    return md.design(PROBLEMS[name])


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_gap_is_between_value_and_bound(name: str) -> None:
    solution = solved(name)
    gap = abs(Fraction(solution.value) - solution.bound) / abs(solution.value)
    assert solution.gap == pytest.approx(float(gap), abs=1e-15)
    assert (solution.status == "optimal") == (solution.gap <= 1e-6)
    larger, smaller = (solution.bound, solution.value)[:: 1 if name == "maximized" else -1]
    assert larger >= smaller


@pytest.mark.parametrize("name", PROBLEMS)
def test_json_document_and_report_agree(name: str) -> None:
    solution = solved(name)
    plain, document = solution.to_json(), solution.document()
    for key in ("status", "value", "bound", "sense", "route", "privacy"):
        assert plain[key] == document[key]
    assert plain["sense"] == name[:-1]
    assert verify(document).value == solution.value
    text, html, latex = repr(solution), solution._repr_html_(), solution.to_latex()
    assert all(word in text for word in ("privacy", "proved", "optimal", "route"))
    assert f"epsilon = {PROBLEMS[name].privacy[0].to_table()['epsilon']}" in text
    for head, line in solution._lines():
        assert f"{head:<11}{line}" in text
        assert escape(line) in html
        assert escaped(line) in latex
    assert r"\hline" in latex


def test_a_report_stands_for_the_inputs_that_it_makes_likelier() -> None:
    """A report is likelier under these inputs than on average over the prior."""
    solution = solved("maximized")
    matrix = solution.channel.matrix
    lines = [line for line in repr(solution).splitlines() if " stands for " in line]
    assert len(lines) == matrix.shape[1] > 0
    for y, line in enumerate(lines):
        favored = [label for x, label in enumerate("ab") if matrix[x, y] > matrix[1 - x, y]]
        assert line.endswith(f"report {y} stands for " + ", ".join(map(repr, favored)))


# --- the bar --------------------------------------------------------------------------------------


def test_the_bar_shows_the_state_of_the_search(capsys: pytest.CaptureFixture[str]) -> None:
    with GapBar(1e-6, shown=True) as bar:
        bar(Progress(3, 2.5, 2.0, 7.0))
        first = capsys.readouterr().err
        bar(Progress(9, 2.5, 2.4999999, 9.0))
    assert "7 s, round 3: loss at least 2, at most 2.5, gap 2.0e-01" in first
    assert capsys.readouterr().err.count("█") > first.count("█")


def test_short_work_and_other_streams_show_no_bar(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with GapBar(1e-6, shown=True) as bar:
        bar(Progress(1, 2.0, 1.0, 0.01))
        assert "round" not in capsys.readouterr().err
    with GapBar(1e-6) as bar:
        bar(Progress(1, 2.0, 1.0, 5.0))
    assert "round 1" not in capsys.readouterr().err


def test_design_takes_a_bar_or_a_function() -> None:
    seen: list[Progress] = []
    with_function = md.design(
        families.euclidean_grid(4, seed=0), route="interior", progress=seen.append
    )
    with_bar = md.design(families.euclidean_grid(4, seed=0), route="interior", progress=True)
    assert seen[-1].gap <= 1e-8
    assert with_bar.value == with_function.value


# --- where the time of a design goes --------------------------------------------------------------


def skewed(k: int) -> md.Problem:
    prior = [(x + 1) / (k * (k + 1) / 2) for x in range(k)]
    return md.Problem(range(k), md.LDP(1), md.MeanAbsoluteError(), prior=prior)


DESIGNS: dict[str, Callable[[], md.Solution]] = {
    "formula": lambda: md.design(md.Problem(range(3), md.LDP(1), md.HammingLoss())),
    "linear program": lambda: md.design(skewed(4)),
    "batch": lambda: design_many([skewed(4), skewed(4)])[1],
    "step": lambda: design_until(math.inf, skewed(30)),
    "frontier": lambda: design_frontier(skewed(4), [0.5, 1])[1],
}


@pytest.mark.parametrize("name", DESIGNS)
def test_every_phase_has_its_seconds_within_the_whole(name: str) -> None:
    solution = DESIGNS[name]()
    assert tuple(solution.timings) == PHASES
    assert all(seconds >= 0 for seconds in solution.timings.values())
    for phase in ("compile", "solve", "repair", "certify"):
        assert solution.timings[phase] > 0, phase
    for phase in PHASES:
        assert solution.timings[phase] < 0.005 or f"{phase} " in repr(solution)
    assert sum(solution.timings.values()) <= solution.seconds
    assert solution.to_json()["timings"] == solution.timings
    assert pickle.loads(pickle.dumps(solution)).timings == solution.timings


def test_the_report_names_the_phases_that_took_long() -> None:
    solution = DESIGNS["formula"]()
    solution.timings.update(dict.fromkeys(PHASES, 0.001), solve=0.25)
    (line,) = [line for line in repr(solution).splitlines() if line.startswith("seconds")]
    assert line.endswith("(solve 0.25)")


@pytest.mark.parametrize(
    "number", ["1/3", "-1/3", "0", "1e-310", "-1e-310", "1e-9999", "-1e-9999", "-1e-300"]
)
def test_a_bound_as_a_float_is_not_above_the_exact_one(number: str) -> None:
    exact = Fraction(number)
    found = float_below(exact)
    assert Fraction(repr(found)) <= exact
    assert found == pytest.approx(float(exact), rel=1e-15, abs=1e-299)
    assert found == 0 or abs(found) >= 1e-300  # what a reader accepts
