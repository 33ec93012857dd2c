"""Fisher information: against the derivative of the law of the report, and against all rays."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    Channel,
    FisherInformation,
    InputError,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    design,
    save,
)
from mechdesign.kernel import verify
from mechdesign.kernel.gains import Gain
from solvers import SOLVERS
from tests.strategies import channels, examples, priors, statement_of

PRIOR = [0.1, 0.2, 0.3, 0.4]
SCORES = [-2, -4, 2, 1]


def binomial(n: int, p: Fraction) -> list[Fraction]:
    return [math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)]


@given(channels(4))
def test_it_is_the_information_of_the_law_of_the_report(channel: Channel) -> None:
    """Sum_y lambda_y'**2 / lambda_y, with the derivative by differences of the exact law."""
    p, h = Fraction(3, 10), Fraction(1, 10**9)
    scores = [(x - 3 * p) / (p * (1 - p)) for x in range(4)]
    found = FisherInformation(scores).value(channel, Prior(binomial(3, p)))
    information = Fraction(0)
    for q in channel.columns():
        law, ahead, behind = (
            sum(a * b for a, b in zip(binomial(3, at), q, strict=True)) / channel.denominator
            for at in (p, p + h, p - h)
        )
        information += ((ahead - behind) / (2 * h)) ** 2 / law if law else 0
    assert math.isclose(found, information, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize("notion", [LDP(1), LIP("0.7")], ids=str)
@pytest.mark.parametrize("scores", [SCORES, [[-2, 1], [-4, 1], [2, 1], [1, "-1.5"]]], ids=len)
def test_the_optimum_is_that_of_all_rays(notion: Any, scores: Any, tmp_path: Path) -> None:
    problem = Problem(range(4), notion, FisherInformation(scores), prior=PRIOR)
    solution = design(problem)
    assert solution.status == "optimal"
    assert notion.holds(solution.channel, problem.prior)
    assert math.isclose(solution.value, SOLVERS["vertices"](problem).value, rel_tol=1e-6)
    save(solution, tmp_path / "channel.json")
    verified = verify(json.loads((tmp_path / "channel.json").read_text()))
    assert verified.value == solution.value == problem.utility.value(solution.channel, Prior(PRIOR))
    assert verified.bound is not None
    assert verified.bound >= verified.value


def test_information_is_the_second_moment_minus_the_error_of_the_score() -> None:
    """E s**2 less the posterior-mean squared error of s(X), by two proofs of their own."""
    one = design(Problem(range(4), LDP(1), FisherInformation(SCORES), prior=PRIOR))
    error = PosteriorMeanSquaredError(values=SCORES)
    other = design(Problem(range(4), LDP(1), error, prior=PRIOR))
    square = sum(p * s * s for p, s in zip(PRIOR, SCORES, strict=True))
    assert math.isclose(one.value + other.value, square, rel_tol=1e-7)


def test_both_searches_prove_the_same() -> None:
    problem = Problem(range(4), LDP(1), FisherInformation(SCORES), prior=PRIOR)
    by_rays, by_decoders = (design(problem, route=r) for r in ("extreme-rays", "decoder-grid"))
    assert by_rays.bound is not None
    assert by_decoders.bound is not None
    assert math.isclose(by_rays.bound, by_decoders.bound, rel_tol=1e-6)
    assert by_decoders.value <= by_rays.bound


def test_rays_close_the_gap_of_the_search_over_decoders() -> None:
    x = np.linspace(-4, 4, 5)
    law = np.exp(-x * x / 2)
    prior = Prior((law / law.sum()).tolist())
    scores = [float(v) for v in x]
    solution = design(Problem(5, LDP("0.01"), FisherInformation(scores), prior=prior))
    assert solution.status == "optimal"


@examples(40)
@given(st.data())
def test_the_checker_has_the_same_gain(data: st.DataObject) -> None:
    """Three definitions: floats, the value of a channel of one column more, and the checker's."""
    prior = data.draw(priors(3, 1))
    a, b = (data.draw(st.integers(-9, 9)) for _ in range(2))
    p = list(prior)
    scores = [Fraction(a), Fraction(b), -(p[0] * a + p[1] * b) / p[2]]
    if not any(scores):
        return
    utility, q = (
        FisherInformation(scores),
        data.draw(st.lists(st.integers(0, 9), min_size=3, max_size=3)),
    )
    objective = statement_of(Problem(3, LDP(1), utility, prior=prior)).objective
    assert isinstance(objective, Gain)
    exact = objective(q, up=True)
    law = sum(w * v for w, v in zip(p, q, strict=True))
    mean = sum(w * s * v for w, s, v in zip(p, scores, q, strict=True))
    assert exact == (mean * mean / law if law else 0)
    floats = utility.gain(np.array(q, dtype=float)[:, None], prior.array)[0]
    assert math.isclose(floats, exact, rel_tol=1e-9, abs_tol=1e-9)


def test_labels_decide() -> None:
    prior = {"a": 0.25, "b": 0.25, "c": 0.5}
    by_position = Problem(["a", "b", "c"], LDP(1), FisherInformation([1, 3, -2]), prior=prior)
    frame = pd.DataFrame({"rate": [-2, 3, 1]}, index=["c", "b", "a"])
    for given_by_label in ({"c": -2, "a": 1, "b": 3}, pd.Series({"b": 3, "c": -2, "a": 1}), frame):
        problem = Problem(["a", "b", "c"], LDP(1), FisherInformation(given_by_label), prior=prior)
        assert problem.to_table()["utility"] == by_position.to_table()["utility"]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([], "scores"),
        ([1, 2], "2 numbers"),
        ([1, 1, 1], "mean of 1"),
        ([0, 0, 0], "all scores are 0"),
        ([1, "x", 0], r"scores\[1\]: expected a finite number"),
        ([1, float("nan"), 0], r"scores\[1\]"),
        ([[1], [1, 2], [0]], "lists of scores differ"),
        ({"a": 1, "b": -1}, "scores: expected one entry for each input"),
        ("abc", "scores"),
        (3, "scores: expected a list"),
    ],
)
def test_wrong_scores_get_one_line(scores: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Problem(3, LDP(1), FisherInformation(scores))
    assert "\n" not in str(caught.value)
