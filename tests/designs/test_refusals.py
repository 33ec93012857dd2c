"""Wrong arguments of designs, certificates, frontiers and sweeps are refused in one line."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import mechdesign as md
from mechdesign.sweeps import design_each
from problems import families

SURVEY = md.Problem(["yes", "no"], md.LDP(1), md.HammingLoss())
INPUTS = ["a", "b", "c"]
LETTERS = md.Problem(INPUTS, md.LDP(1), md.HammingLoss(), prior=[0.5, 0.3, 0.2])
TWO_LIFTS = md.Problem(range(2), md.AsymmetricLift(1, 1), md.HammingLoss(), prior=[0.5, 0.5])
A_MATRIX = md.Problem(range(2), md.ContextAwareLDP([[0, 1], [1, 0]]), md.HammingLoss())
INTERVAL = md.ContinuousProblem([0, 1], md.LDP(1), md.MeanAbsoluteError())

DESIGNERS: dict[str, Callable[..., Any]] = {
    "design": partial(md.design, SURVEY),
    "certify": partial(md.certify, SURVEY, [[1, 0], [0, 1]]),
    "min_epsilon": partial(md.min_epsilon, SURVEY, "0.1"),
    "frontier": partial(md.design_frontier, SURVEY, [1]),
    "many": partial(md.design_many, []),
    "each": partial(design_each, []),
}
NO_LIMITS: list[Any] = [0, -1, math.inf, math.nan, "1", True]
NO_PROBLEMS: list[Any] = [md.LDP(1), "x", None, 3, [md.LDP(1)], md.Problem]
OPTIONS: list[tuple[str, Any]] = [
    ("errors", "ignore"),
    ("n_jobs", 0),
    ("n_jobs", "2"),
    ("backend", "carrier pigeon"),
]
MATRICES: list[tuple[Any, str]] = [
    (np.eye(2), r"a matrix of shape \(3, 3\), given one of shape \(2, 2\)"),
    (np.eye(3) / 2, "rows that sum to 1"),
    (np.full((3, 3), np.nan), "rows that sum to 1"),
    ([["x", 0, 0]] * 3, "numbers in rows of one length"),
    (None, "matrix: expected a matrix of numbers"),
    (LETTERS.Q, "matrix: expected a matrix of numbers, .*; pass Q.value"),
    (pd.DataFrame(np.eye(3), index=INPUTS, columns=["a", "b", "z"]), "given 'z'"),
    (pd.DataFrame(np.eye(3), index=["a", "b", "z"], columns=INPUTS), "matrix, rows"),
]
BUDGETS: list[tuple[md.Problem, Any, str]] = [
    (TWO_LIFTS, [1], "privacy"),
    (A_MATRIX, [1], "given context-aware; design a problem for each of its budgets"),
    (families.lip_and_ldp(3), [1], "privacy"),
    (SURVEY, [1, -1], "epsilon"),
    (SURVEY, ["much"], r"epsilons\[0\]"),
    (SURVEY, 1, "epsilons: expected a list"),
]
SEARCHES: list[tuple[md.Problem, dict[str, Any], str]] = [
    (SURVEY, {"wanted": "little"}, "wanted: expected a finite number"),
    (SURVEY, {"precision": 0}, "precision: expected a number > 0"),
    (SURVEY, {"precision": 41}, "precision: expected at most 40"),
    (SURVEY, {"most": -1}, "most: expected a number > 0"),
    (families.lip_and_ldp(3), {}, "privacy: expected exactly one notion with an epsilon"),
]

INVALID: list[tuple[Callable[[], Any], str]] = [
    (partial(md.design_frontier, INTERVAL, [1]), "problem: this needs inputs that are labels"),
    (
        partial(md.ContinuousProblem, [0, 1], md.MetricPrivacy(1, "euclidean"), INTERVAL.utility),
        "given metric; or MetricPrivacy with the absolute distance",
    ),
    *(
        (partial(call, **{key: value}), f"{key}: expected a number > 0")
        for call in DESIGNERS.values()
        for key in ("gap", "time_limit")
        for value in NO_LIMITS
    ),
    *((partial(md.design, SURVEY, memory_limit=value), "memory_limit") for value in NO_LIMITS),
    *((partial(md.design, given), "^problem: expected a Problem, given ") for given in NO_PROBLEMS),
    *(
        (partial(md.design_many, [given]), r"^problems\[0\]\.problem: expected a Problem")
        for given in NO_PROBLEMS
    ),
    *((partial(md.design_many, [], **{key: value}), key) for key, value in OPTIONS),
    *((partial(md.certify, LETTERS, given), match) for given, match in MATRICES),
    (
        lambda: md.certify(LETTERS, np.eye(3), reference=md.design(LETTERS.at(2))),
        "reference: expected a solution of the same problem",
    ),
    *((partial(md.design_frontier, one, budgets), match) for one, budgets, match in BUDGETS),
    *(
        (partial(md.min_epsilon, one, **{"wanted": "0.05", **asked}), match)
        for one, asked, match in SEARCHES
    ),
    (partial(md.design, INTERVAL, symmetries=[[0]]), "symmetries: expected none for a continuous"),
    (lambda: md.Problem([1, 1], md.LDP(1), md.HammingLoss()), "occurs twice"),
    (lambda: md.Problem([1, 2], md.LDP(1), md.HammingLoss(), outputs=[1, 1.0]), "occurs twice"),
]


@pytest.mark.parametrize(("call", "match"), INVALID)
def test_wrong_arguments_are_refused(call: Callable[[], Any], match: str) -> None:
    with pytest.raises((md.InputError, md.UnsupportedError), match=match) as caught:
        call()
    assert "\n" not in str(caught.value)
