"""A solution says the same in the report, in JSON and in the document that is saved."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import pytest

from mechdesign import LDP, LIP, HammingLoss, MutualInformation, Problem, Solution, design
from mechdesign.kernel import verify

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
def test_json_and_document_agree(name: str) -> None:
    solution = solved(name)
    plain, document = solution.to_json(), solution.document()
    for key in ("status", "value", "bound", "sense", "route", "privacy"):
        assert plain[key] == document[key]
    assert plain["sense"] == name[:-1]
    assert verify(document).value == solution.value


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_report_names_what_was_proved(name: str) -> None:
    solution = solved(name)
    report = repr(solution)
    for word in ("privacy", "proved", "optimal", "route"):
        assert word in report
    assert f"epsilon = {PROBLEMS[name].privacy[0].to_table()['epsilon']}" in report
