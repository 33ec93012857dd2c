"""Every problem in problems/: solved, proved, and equal to what is known by other means."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import pytest

from mechdesign import design
from mechdesign.designs.solution import Solution
from mechdesign.files import data_folder, load_channel, load_mechanism, load_problem, save
from mechdesign.problem import Problem
from mechdesign.utilities import EstimationRisk, UnbiasedVariance
from solvers import SOLVERS, UnsuitableError
from tests.cli_support import Run

PROBLEMS = Path(__file__).resolve().parents[1] / "problems"
EVERY = sorted(path.relative_to(PROBLEMS).as_posix() for path in PROBLEMS.glob("*/*.toml"))
CONTINUOUS = [name for name in EVERY if name.startswith("continuous/")]
FILES = [name for name in EVERY if name not in CONTINUOUS]
INDEPENDENT = ("direct-lp", "vertices", "textbook")
TEXTBOOK_UP_TO = 9**3  # k * k * m: its loops are slow


def missing_data(name: str) -> str | None:
    """Return why a problem cannot be read here, if its data is not on this machine."""
    text = (PROBLEMS / name).read_text(encoding="utf-8")
    if "data = {" not in text:
        return None
    folder = data_folder()
    wanted = text.split('file = "')[1].split('"')[0]
    if folder is None or not (folder / wanted).is_file():
        return f"{wanted} is not on this machine"
    return None


@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_continuous_problem_is_proved(name: str, tmp_path: Path) -> None:
    solution = design(load_problem(PROBLEMS / name))
    expected = solution.problem.expected
    assert math.isclose(solution.value, expected.value, rel_tol=expected.rtol)
    assert solution.bound <= solution.value
    save(solution, tmp_path / "kernel.json")
    saved = load_mechanism(tmp_path / "kernel.json")
    assert saved.mechanism == solution.channel
    assert saved.verified.value == solution.value


def test_a_continuous_problem_is_checked(printed: Run) -> None:
    assert printed("check", str(PROBLEMS / "continuous/worst_case_error.toml")).startswith("ok ")


@lru_cache
def solved(name: str) -> Solution:
    return design(problem(name))


def problem(name: str) -> Problem:
    reason = missing_data(name)
    if reason:
        pytest.skip(reason)
    found = load_problem(PROBLEMS / name)
    assert isinstance(found, Problem)
    return found


def test_there_are_problems() -> None:
    assert len(FILES) >= 20


@pytest.mark.parametrize("name", EVERY)
def test_is_documented(name: str) -> None:
    text = (PROBLEMS / name).read_text(encoding="utf-8")
    assert text.startswith("# ")
    for line in ("title  = ", "source = ", "[expected]", "value = ", "rtol  = "):
        assert f"\n{line}" in text
    assert f"[{name}]({name})" in (PROBLEMS / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_is_solved_and_proved(name: str, tmp_path: Path) -> None:
    """As ``mechdesign check`` asks; the rows that bind are named in every form of the report."""
    solution = solved(name)
    assert solution.problem.utility.name in repr(solution)
    assert json.dumps(solution.to_json())
    assert solution._repr_html_()
    assert solution.problem.expected is not None
    expected = solution.problem.expected
    assert math.isclose(solution.value, expected.value, rel_tol=expected.rtol)
    assert solution.status == "optimal"
    assert solution.bound is not None
    best_first = [solution.bound, solution.value]
    assert best_first == sorted(best_first, reverse=solution.problem.utility.is_maximized)
    for claim in solution.privacy:
        epsilon = getattr(claim.notion, "epsilon", None) or Fraction(0)
        assert Fraction(repr(claim.leakage)) <= epsilon
        assert claim.notion.holds(solution.channel, solution.problem.prior)

    save(solution, tmp_path / "channel.json")
    saved = load_channel(tmp_path / "channel.json")
    assert saved.channel == solution.channel
    assert saved.verified.value == solution.value
    assert saved.verified.bound is not None
    best_first = [saved.verified.bound, saved.verified.value]
    best_first = [Fraction(repr(saved.document["bound"])), *best_first]
    assert best_first == sorted(best_first, reverse=solution.problem.utility.is_maximized)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_expected_value_is_that_of_other_solvers(name: str) -> None:
    stated = problem(name)
    if isinstance(stated.utility, EstimationRisk | UnbiasedVariance):
        pytest.skip("computed without the library in tests/search/")
    size = len(stated.domain) ** 2 * len(stated.outputs or ())
    asked = []
    for solver in INDEPENDENT:
        if solver == "textbook" and size > TEXTBOOK_UP_TO:
            continue
        try:
            value = SOLVERS[solver](stated).value
        except UnsuitableError:
            continue
        asked.append(solver)
        assert math.isclose(value, stated.expected.value, rel_tol=1e-6, abs_tol=1e-9), solver
    assert asked


def test_three_forms_of_one_prior_set_agree() -> None:
    forms = [solved(f"bounded_prior/survey_{form}.toml").value for form in ("list", "box", "ball")]
    assert max(forms) - min(forms) <= 1e-12


def test_grades_from_the_table_and_as_counts_are_one_problem() -> None:
    from_table = problem("numeric/student_grades.toml")
    as_counts = problem("numeric/student_grades_counts.toml")
    assert from_table.prior == as_counts.prior
    assert from_table.to_table() == as_counts.to_table()
