"""What all sums of gains over outputs share: definition, shape, optimum, labels, refusals.

Definitions are those of ``solvers/gains.py``, typed from the papers, and optima those of all
extreme rays, found without the library.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    BayesAccuracy,
    Channel,
    ChiSquared,
    ColumnUtility,
    FisherInformation,
    GVulnerability,
    InputError,
    KullbackLeibler,
    MetricPrivacy,
    MutualInformation,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    SquaredHellinger,
    TotalVariation,
    design,
)
from mechdesign.kernel import verify
from mechdesign.kernel.gains import Gain
from solvers import SOLVERS
from solvers.gains import error_left, gain
from tests.strategies import channels, examples, statement_of

PRIOR = Prior(["0.1", "0.2", "0.3", "0.4"])
MIXED = {1: "0.5", 3: "0.5"}
PAIRS = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1], ["0.6"] * 4]

GAINS: dict[str, ColumnUtility] = {
    "histogram": PosteriorMeanSquaredError(histogram=True),
    "numbers": PosteriorMeanSquaredError([3, -1, 2, 7]),
    "information": MutualInformation(),
    "accuracy": BayesAccuracy(),
    "few guesses": GVulnerability([[1, 0.5, 0, 0], [0, 0, 1, 2]]),
    "many guesses": GVulnerability(PAIRS),
    "score": FisherInformation([-2, -4, 2, 1]),
    "scores": FisherInformation([[-2, 1], [-4, 1], [2, 1], [1, "-1.5"]]),
    **{
        f"{kind.name} to {name}": kind(0, second)
        for kind in (TotalVariation, KullbackLeibler, ChiSquared, SquaredHellinger)
        for name, second in (("an input", 3), ("a mixture", MIXED))
    },
}

EVERY = pytest.mark.parametrize("name", GAINS)


def stated(name: str, notion: Any = None) -> Problem:
    """A problem with the utility, whose labeled numbers are in the order of the inputs."""
    return Problem(range(4), notion or LDP(1), GAINS[name], prior=PRIOR)


@EVERY
@examples(12)
@given(channels(4, 1))
def test_a_value_is_that_of_the_definition(name: str, channel: Channel) -> None:
    """So are the gains in floats, and those of the kernel, which round outward."""
    problem = stated(name)
    utility, P, whole = problem.utility, PRIOR.array, error_left(problem)
    assert isinstance(utility, ColumnUtility)
    worth = gain(problem, channel.matrix.T)
    np.testing.assert_allclose(utility.gain(channel.matrix, P), worth, rtol=1e-9, atol=1e-12)
    value = float(utility.value(channel, PRIOR))
    assert math.isclose(value, worth.sum() if whole is None else whole - worth.sum(), abs_tol=1e-9)
    form = statement_of(problem).objective
    for q, own in zip(channel.columns() if isinstance(form, Gain) else (), worth, strict=False):
        low, high = (form(q, up=up) / channel.denominator for up in (False, True))
        assert low <= high <= low + Fraction(1, 10**25)
        assert math.isclose(low, own, rel_tol=1e-9, abs_tol=1e-12)


@EVERY
def test_gains_are_homogeneous_and_convex(name: str) -> None:
    utility, rng, P = stated(name).utility, np.random.default_rng(0), PRIOR.array
    assert isinstance(utility, ColumnUtility)
    a, b = rng.random((2, 4, 300)) + 1e-3
    one, other = utility.gain(a, P), utility.gain(b, P)
    assert np.allclose(utility.gain(a * 7.5, P), 7.5 * one, rtol=1e-12, atol=1e-14)
    assert (utility.gain(a + b, P) <= one + other + 1e-12).all()


@EVERY
@examples(8)
@given(channels(4, 1), st.data())
def test_no_post_processing_is_worth_more(name: str, channel: Channel, data: st.DataObject) -> None:
    utility, m = stated(name).utility, len(channel.outputs)
    after = channel.then(data.draw(channels(m, least=1, most_outputs=5)))
    sign = 1 if utility.is_maximized else -1
    worth, before = (sign * utility.value(one, PRIOR) for one in (after, channel))
    assert worth <= before + abs(before) / 10**20


@EVERY
@pytest.mark.parametrize(
    "notion", [LDP(1), LIP("0.8"), MetricPrivacy("0.6", "absolute")], ids=lambda n: n.name
)
def test_the_optimum_is_that_of_all_rays(name: str, notion: Any) -> None:
    """By every route that takes it, with a file that proves value and bound."""
    problem = stated(name, notion)
    reference, sign = SOLVERS["vertices"](problem).value, -1 if problem.utility.is_maximized else 1
    for route in ("auto", "extreme-rays") if notion.name == "lip" else ("auto",):
        solution = design(problem, route=route)
        assert solution.status == "optimal"
        assert math.isclose(solution.value, reference, rel_tol=1e-6)
        assert notion.holds(solution.channel, PRIOR)
        verified = verify(json.loads(json.dumps(solution.document())))
        assert verified.value == solution.value
        assert verified.bound is not None
        assert sign * verified.bound <= sign * verified.value


LABELED: dict[str, tuple[Any, list[Any]]] = {
    "scores": (
        FisherInformation([1, 3, -2]),
        [
            FisherInformation(scores)
            for scores in (
                {"c": -2, "a": 1, "b": 3},
                pd.Series({"b": 3, "c": -2, "a": 1}),
                pd.DataFrame({"rate": [-2, 3, 1]}, index=["c", "b", "a"]),
            )
        ],
    ),
    "guesses": (
        GVulnerability([[1, 2, 3], [3, 0, 0]]),
        [
            GVulnerability(
                pd.DataFrame({"c": [3, 0], "a": [1, 3], "b": [2, 0]}, index=["stay", "go"])
            ),
            GVulnerability({"stay": {"b": 2, "c": 3, "a": 1}, "go": {"a": 3, "b": 0, "c": 0}}),
        ],
    ),
    "mixtures": (
        TotalVariation([1, 0, 0], [0, 0.25, 0.75]),
        [TotalVariation("a", pd.Series({"c": 0.75, "b": 0.25}))],
    ),
}


def test_exact_numbers_may_be_longer_than_floats() -> None:
    """Their common denominator is larger than every float; each of them has one."""
    first = [Fraction(1, 7**100 + n) for n in range(3)]
    second = [Fraction(1, 5**150 + n) for n in range(3)]
    sides = [[*side, 1 - sum(side)] for side in (first, second)]
    columns = np.array([[0.5, 0.5], [0.25, 0.75], [0.75, 0.25], [0.5, 0.5]])
    found = TotalVariation(*sides).gain(columns, PRIOR.array)
    assert found.sum() == pytest.approx(0, abs=1e-12)
    gains = GVulnerability([[Fraction(1, 3**200 + n + z) for n in range(4)] for z in range(4)])
    assert gains.gain(columns, PRIOR.array).sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", LABELED)
def test_labels_decide(name: str) -> None:
    by_place, by_label = LABELED[name]
    keys: Any = {"prior": {"a": 0.25, "b": 0.25, "c": 0.5}}
    plain = Problem(["a", "b", "c"], LDP(1), by_place, **keys)
    channel = design(plain).channel
    for utility in by_label:
        problem = Problem(["a", "b", "c"], LDP(1), utility, **keys)
        assert problem.to_table() == plain.to_table()
        assert utility.value(channel, plain.prior) == by_place.value(channel, plain.prior)


def scored(scores: Any) -> Any:
    return lambda: FisherInformation(scores)


def guessed(matrix: Any) -> Any:
    return lambda: GVulnerability(matrix)


def apart(first: Any, second: Any) -> Any:
    return lambda: ChiSquared(first, second)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (scored([]), "scores"),
        (scored([1, 2]), "2 numbers"),
        (scored([1, 1, 1]), "mean of 1"),
        (scored([0, 0, 0]), "all scores are 0"),
        (scored([1, "x", 0]), r"scores\[1\]: expected a finite number"),
        (scored([1, math.nan, 0]), r"scores\[1\]"),
        (scored([[1], [1, 2], [0]]), "lists of scores differ"),
        (scored({"a": 1, "b": -1}), "scores: expected one entry for each input"),
        (scored("abc"), "scores"),
        (scored(3), "scores: expected a list"),
        (guessed([]), "gain_matrix"),
        (guessed([[]]), "gain_matrix"),
        (guessed([[1, 2], [3]]), "a row of 2 numbers"),
        (guessed([[1, 0], [0, 1]]), "2 x 2 matrix"),
        (guessed([[0, 0, 0]]), "all gains are 0"),
        (guessed([[1, -1, 0]]), "finite number >= 0"),
        (guessed([[1, math.inf, 0]]), "finite number >= 0"),
        (guessed([{"a": 1, "b": 2, "d": 3}]), "'d', which is no input"),
        (apart("d", "a"), "first: expected labels of the domain"),
        (apart("a", "a"), "second: the two mixtures are equal"),
        (apart("a", [0.5, 0.5]), "second: expected 3 weights"),
        (apart("a", [0.5, 0.5, 0.5]), "numbers that sum to 1, given sum 1.5"),
        (apart("a", {"b": -1, "c": 2}), "second"),
        (apart("a", [0.5, math.nan, 0.5]), "second"),
        (apart("a", {}), "second"),
        (apart(None, "a"), "first"),
    ],
)
def test_wrong_parameters_get_one_line(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Problem(["a", "b", "c"], LDP(1), make())
    assert "\n" not in str(caught.value)
