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


def variance(weights: list[float], values: list[float]) -> float:
    mean = sum(p * v for p, v in zip(weights, values, strict=True))
    return sum(p * (v - mean) ** 2 for p, v in zip(weights, values, strict=True))


def three_bands() -> float:
    """Randomized response on 8, 11, 14 for the nearest of them, ties going either way."""
    counts = [38, 0, 0, 0, 1, 7, 15, 9, 32, 28, 56, 47, 31, 31, 27, 33, 16, 6, 12, 5, 1]
    e = math.exp(2)
    total = 0.0
    for grade, count in enumerate(counts):
        near, *others = sorted(abs(grade - report) for report in (8, 11, 14))
        total += count * (e * near + sum(others)) / (e + 2)
    return total / sum(counts)


FORMULAS = {
    "classic/warner.toml": 1 / 4,
    "classic/randomized_response.toml": 4 / (math.e**2 + 4),
    # Mangat: a yes is true with odds 0.2 : 0.8/e, a no is true
    "classic/mangat_drug_survey.toml": 0.2 * (0.8 / math.e) / (0.2 + 0.8 / math.e),
    # randomized response by the prior, inside its region
    "lip/rare_disease_epsilon_3.toml": 0.1 * 0.9 * (1 - (1 - math.exp(-3)) ** 2),
    "lip/survey_three_answers.toml": 0.3 * 0.7 * (1 - (1 - math.exp(-1)) ** 2),
    "lip/sum_of_children.toml": variance([0.25, 0.2, 0.3, 0.25], [0, 1, 2, 3])
    * (1 - (1 - math.exp(-1.5)) ** 2),
    "lip/three_levels_epsilon_2_5.toml": math.exp(-2.5)
    * 2
    * (0.1 * 0.2 * 1 + 0.1 * 0.7 * 2 + 0.2 * 0.7 * 1),
    # three kinds reported as the likeliest, the others as that with probability e^-1.5
    "context_aware/web_categories.toml": 0.05 + 0.02 + 0.87 * math.exp(-1.5),
    "numeric/student_grades_counts.toml": three_bands(),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formula(name: str) -> None:
    assert math.isclose(float(solved(name).value), FORMULAS[name], rel_tol=1e-9)


def test_three_forms_of_one_prior_set_agree() -> None:
    forms = [solved(f"bounded_prior/survey_{form}.toml").value for form in ("list", "box", "ball")]
    assert max(forms) - min(forms) <= 1e-12


def test_grades_from_the_table_and_as_counts_are_one_problem() -> None:
    from_table = problem("numeric/student_grades.toml")
    as_counts = problem("numeric/student_grades_counts.toml")
    assert from_table.prior == as_counts.prior
    assert from_table.to_table() == as_counts.to_table()
