"""What all sums of gains over outputs share: definition, shape, optimum, labels, refusals.

Definitions are those of ``solvers/gains.py``, typed from the papers, and optima those of all
extreme rays, found without the library.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import LDP, LIP, Channel, ChiSquared, Prior, Problem, design
from mechdesign.kernel.gains import Gain
from mechdesign.notions import Row
from solvers import SOLVERS
from solvers.gains import error_left, gain
from tests.documents import proved
from tests.refusals_support import check_refused
from tests.strategies import channels, examples, priors, statement_of

PRIOR = Prior(["0.1", "0.2", "0.3", "0.4"])
MIXED = {1: "0.5", 3: "0.5"}
PAIRS = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1], ["0.6"] * 4]

GAINS: dict[str, md.ColumnUtility] = {
    "histogram": md.PosteriorMeanSquaredError(histogram=True),
    "numbers": md.PosteriorMeanSquaredError([3, -1, 2, 7]),
    "information": md.MutualInformation(),
    "accuracy": md.BayesAccuracy(),
    "few guesses": md.GVulnerability([[1, 0.5, 0, 0], [0, 0, 1, 2]]),
    "many guesses": md.GVulnerability(PAIRS),
    "score": md.FisherInformation([-2, -4, 2, 1]),
    "scores": md.FisherInformation([[-2, 1], [-4, 1], [2, 1], [1, "-1.5"]]),
    **{
        f"{kind.name} to {name}": kind(0, second)
        for kind in (md.TotalVariation, md.KullbackLeibler, ChiSquared, md.SquaredHellinger)
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
    "notion", [LDP(1), LIP("0.8"), md.MetricPrivacy("0.6", "absolute")], ids=lambda n: n.name
)
def test_the_optimum_is_that_of_all_rays(name: str, notion: Any) -> None:
    """By every route that takes it, with a file that proves value and bound."""
    problem = stated(name, notion)
    reference = SOLVERS["vertices"](problem).value
    for route in ("auto", "extreme-rays") if notion.name == "lip" else ("auto",):
        assert math.isclose(proved(problem, route=route).value, reference, rel_tol=1e-6)


LABELED: dict[str, tuple[Any, list[Any]]] = {
    "scores": (
        md.FisherInformation([1, 3, -2]),
        [
            md.FisherInformation(scores)
            for scores in (
                {"c": -2, "a": 1, "b": 3},
                pd.Series({"b": 3, "c": -2, "a": 1}),
                pd.DataFrame({"rate": [-2, 3, 1]}, index=["c", "b", "a"]),
            )
        ],
    ),
    "guesses": (
        md.GVulnerability([[1, 2, 3], [3, 0, 0]]),
        [
            md.GVulnerability(
                pd.DataFrame({"c": [3, 0], "a": [1, 3], "b": [2, 0]}, index=["stay", "go"])
            ),
            md.GVulnerability({"stay": {"b": 2, "c": 3, "a": 1}, "go": {"a": 3, "b": 0, "c": 0}}),
        ],
    ),
    "mixtures": (
        md.TotalVariation([1, 0, 0], [0, 0.25, 0.75]),
        [md.TotalVariation("a", pd.Series({"c": 0.75, "b": 0.25}))],
    ),
}


def test_exact_numbers_may_be_longer_than_floats() -> None:
    """Their common denominator is larger than every float; each of them has one."""
    first = [Fraction(1, 7**100 + n) for n in range(3)]
    second = [Fraction(1, 5**150 + n) for n in range(3)]
    sides = [[*side, 1 - sum(side)] for side in (first, second)]
    columns = np.array([[0.5, 0.5], [0.25, 0.75], [0.75, 0.25], [0.5, 0.5]])
    found = md.TotalVariation(*sides).gain(columns, PRIOR.array)
    assert found.sum() == pytest.approx(0, abs=1e-12)
    gains = md.GVulnerability([[Fraction(1, 3**200 + n + z) for n in range(4)] for z in range(4)])
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


def scored(*arguments: Any) -> Any:
    return lambda: md.FisherInformation(*arguments)


def guessed(*arguments: Any) -> Any:
    return lambda: md.GVulnerability(*arguments)


def apart(*arguments: Any) -> Any:
    return lambda: ChiSquared(*arguments)


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
    check_refused(message, lambda: Problem(["a", "b", "c"], LDP(1), make()))


# --- Fisher information ---------------------------------------------------------------------------


SCORES = [-2, -4, 2, 1]


def binomial(n: int, p: Fraction) -> list[Fraction]:
    return [math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)]


@examples(25)
@given(channels(4))
def test_it_is_the_information_of_the_law_of_the_report(channel: Channel) -> None:
    """Sum_y lambda_y'**2 / lambda_y, with the derivative by differences of the exact law."""
    p, h = Fraction(3, 10), Fraction(1, 10**9)
    scores = [(x - 3 * p) / (p * (1 - p)) for x in range(4)]
    found = md.FisherInformation(scores).value(channel, Prior(binomial(3, p)))
    information = Fraction(0)
    for q in channel.columns():
        law, ahead, behind = (
            sum(a * b for a, b in zip(binomial(3, at), q, strict=True)) / channel.denominator
            for at in (p, p + h, p - h)
        )
        information += ((ahead - behind) / (2 * h)) ** 2 / law if law else 0
    assert math.isclose(found, information, rel_tol=1e-12, abs_tol=1e-12)


def test_information_is_the_second_moment_minus_the_error_of_the_score() -> None:
    """E s**2 less the posterior-mean squared error of s(X), by two proofs of their own."""
    one = design(Problem(range(4), LDP(1), md.FisherInformation(SCORES), prior=PRIOR))
    error = md.PosteriorMeanSquaredError(values=SCORES)
    other = design(Problem(range(4), LDP(1), error, prior=PRIOR))
    square = sum(p * s * s for p, s in zip(PRIOR, SCORES, strict=True))
    assert math.isclose(one.value + other.value, square, rel_tol=1e-7)


@pytest.mark.parametrize(
    "utility",
    [md.FisherInformation(SCORES), ChiSquared(list(PRIOR.probabilities), [Fraction(1, 4)] * 4)],
)
def test_both_searches_prove_the_same(utility: Any) -> None:
    problem = Problem(range(4), LDP(1), utility, prior=PRIOR)
    by_rays, by_decoders = (design(problem, route=r) for r in ("extreme-rays", "decoder-grid"))
    assert math.isclose(by_rays.bound, by_decoders.bound, rel_tol=1e-6)
    assert by_decoders.value <= by_rays.bound


def test_rays_close_the_gap_of_the_search_over_decoders() -> None:
    x = np.linspace(-4, 4, 5)
    law = np.exp(-x * x / 2)
    prior = Prior((law / law.sum()).tolist())
    proved(Problem(5, LDP("0.01"), md.FisherInformation(x.tolist()), prior=prior))


LINE = md.MetricPrivacy("0.3", "absolute")
DIVERGENCES = [md.TotalVariation, md.KullbackLeibler, ChiSquared, md.SquaredHellinger]


@pytest.mark.parametrize(
    ("kind", "notion"), [*((kind, LDP(1)) for kind in DIVERGENCES), (ChiSquared, LINE)]
)
def test_two_inputs_are_separated_as_well_among_many(kind: Any, notion: Any) -> None:
    """16 have too many rays to list, and without privacy most of these gains are infinite."""
    alone, among = (proved(Problem(k, notion, kind(0, 1))) for k in (2, 16))
    assert math.isclose(alone.value, among.value, rel_tol=1e-6)


MANY = 20
ODDS = [x * x % 7 + 1 for x in range(MANY)]
LAWS = [[Fraction(v, sum(ODDS)) for v in order] for order in (ODDS, ODDS[::-1])]


@pytest.mark.parametrize("kind", DIVERGENCES)
@pytest.mark.parametrize(
    "notion", [LDP("0.1"), LDP(2), md.BlockLDP("0.5", [range(7), range(7, MANY)])], ids=str
)
def test_many_inputs_are_separated_no_worse_than_by_one_bit(kind: Any, notion: Any) -> None:
    """By the binary mechanism; the total variation and chi-squared are optimal."""
    problem = Problem(MANY, notion, kind(*LAWS))
    truth = 1 / (1 + math.exp(-float(notion.epsilon)))
    yes = [truth if a > b else 1 - truth for a, b in zip(*LAWS, strict=True)]
    bit = Channel.from_matrix([[v, 1 - v] for v in yes])
    found = design(problem, time_limit=1)
    assert float(found.value) >= float(problem.utility.value(bit, problem.prior)) * (1 - 1e-3)
    assert found.status == "optimal" or kind not in (md.TotalVariation, ChiSquared)


LINEAR = md.LinearNotion([Row(f"{x}, {x + 1}", {x: 1}, 1, {x + 1: 1}) for x in range(MANY - 1)])


@pytest.mark.parametrize("notion", [LIP(1), md.PML(1), LINEAR, [LIP(1), LDP(1)]], ids=str)
def test_total_variations_are_linear_programs(notion: Any) -> None:
    problem = Problem(MANY, notion, md.TotalVariation(*LAWS), prior=Prior.uniform(MANY))
    assert proved(problem).value > Fraction(1, 10)


# --- guesses --------------------------------------------------------------------------------------


def blind_gain(utility: md.GVulnerability, prior: Prior) -> Fraction:
    """The gain without a report: that of one output for all."""
    constant = Channel.from_matrix([[1]] * len(prior))
    return utility.value(constant, prior)


@examples(15)
@given(channels(3), priors(3))
def test_the_identity_is_a_right_guess(channel: Channel, prior: Prior) -> None:
    identity = md.GVulnerability(np.eye(3))
    assert identity.value(channel, prior) == md.BayesAccuracy().value(channel, prior)


@pytest.mark.parametrize("route", ["columns", "interior"])
def test_linear_programs_find_the_best_mixture_of_rays(route: str) -> None:
    problem = Problem(range(4), LIP("0.8"), md.GVulnerability(PAIRS), prior=PRIOR)
    solution = proved(problem, route=route)
    assert math.isclose(solution.value, SOLVERS["vertices"](problem).value, rel_tol=1e-6)


def test_beside_a_notion_of_the_whole_channel() -> None:
    problem = Problem(range(4), md.MaximalLeakage("0.5"), md.GVulnerability(PAIRS), prior=PRIOR)
    solution = proved(problem)
    blind = blind_gain(md.GVulnerability(PAIRS), problem.prior)
    assert blind < solution.value <= blind * Fraction(math.exp(0.5))


def test_a_test_at_uneven_odds() -> None:
    """Two hypotheses of odds 3 to 1: the least error is 1 less the gain of naming one."""
    problem = Problem(2, LDP(1), md.GVulnerability(np.eye(2)), prior=[0.75, 0.25])
    assert math.isclose(design(problem).value, 0.75)  # the report never turns the guess
    even = Problem(2, LDP(1), md.GVulnerability(np.eye(2)))
    apart = Problem(2, LDP(1), md.TotalVariation(0, 1))
    assert math.isclose(2 * design(even).value - 1, design(apart).value, rel_tol=1e-12)


def test_large_domains_are_linear_programs() -> None:
    k = 60
    near = np.maximum(0, 3 - abs(np.subtract.outer(np.arange(0, k, 5), np.arange(k))))
    problem = Problem(range(k), LDP(2), md.GVulnerability(near))
    solution = proved(problem)
    assert solution.value > blind_gain(md.GVulnerability(near), problem.prior)
