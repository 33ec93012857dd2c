"""A solution says the same in the report, in JSON and in the document that is saved."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from html import escape

import pytest

from mechdesign import LDP, LIP, HammingLoss, MutualInformation, Problem, Solution, design
from mechdesign.kernel import verify
from mechdesign.text import latex as escaped

PROBLEMS = {
    "minimized": Problem(["a", "b", "c"], LDP(1), HammingLoss(), prior=[0.5, 0.3, 0.2]),
    "maximized": Problem(["a", "b"], LIP("0.5"), MutualInformation(), prior=[0.4, 0.6]),
}


@lru_cache
def solved(name: str) -> Solution:
    return design(PROBLEMS[name])


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_gap_is_between_value_and_bound(name: str) -> None:
    solution = solved(name)
    assert solution.bound is not None
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
