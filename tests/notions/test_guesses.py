"""Adversaries as notions: definitions over all rules, both sides of a limit, optima, files.

What a rule gains is written out here over all rules that name a guess for each output. Optima are
those of a transcription to cvxpy.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, strategies as st

import mechdesign as md
from mechdesign import LDP, AttackError, Channel, HammingLoss, InputError, Prior, Problem, design
from mechdesign.notions import Notion
from solvers import SOLVERS
from tests.documents import proved
from tests.refusals_support import check_refused
from tests.strategies import broken, channels, examples, priors

PRIOR = ["0.4", "0.3", "0.2", "0.1"]
GAINS = [[1, 1, 0, 0], [0, "0.5", 1, 0], [0, 0, 1, 2], ["0.3", "0.3", "0.3", "0.3"]]
FAR = [[0, 1, 2], [1, 0, "1.5"], [1, 1, 0], [3, "0.5", 1]]


def rule_values(channel: Channel, prior: Prior, worth: Any) -> list[Fraction]:
    """Mean value of each rule, for a table of values by guess and input."""
    guesses, outputs = range(len(worth)), range(len(channel.outputs))
    joint = [
        (p * Fraction(v, channel.denominator), x, y)
        for x, (p, row) in enumerate(zip(prior, channel.numerators.tolist(), strict=True))
        for y, v in enumerate(row)
    ]
    return [
        sum((mass * Fraction(worth[rule[y]][x]) for mass, x, y in joint), Fraction(0))
        for rule in itertools.product(guesses, repeat=len(outputs))
    ]


def tables() -> st.SearchStrategy[list[list[int]]]:
    rows = st.lists(st.integers(0, 5), min_size=3, max_size=3)
    return st.lists(rows, min_size=1, max_size=3).filter(lambda rows: any(map(any, rows)))


@examples(25)
@given(channels(3, most_outputs=3), priors(3), tables())
def test_vulnerability_is_that_of_the_best_rule(
    channel: Channel, prior: Prior, gains: list[list[int]]
) -> None:
    """It holds at the gain of the best rule exactly, and at nothing less."""
    most = max(rule_values(channel, prior, gains))
    blind = max(prior.mean([Fraction(g) for g in row]) for row in gains)
    assert most >= blind
    assume(most > 0)
    assert md.GVulnerabilityLeakage(most, gains).holds(channel, prior)
    less = most * (1 - Fraction(1, 10**12))
    assert not md.GVulnerabilityLeakage(less, gains).holds(channel, prior)
    assert md.GVulnerability(gains).value(channel, prior) == most
    leak = md.GVulnerabilityLeakage(most + 1, gains).leakage(channel, prior)
    assert math.isclose(leak, -1, rel_tol=1e-12)


@examples(25)
@given(channels(3, most_outputs=3), priors(3), tables())
def test_attack_error_is_that_of_the_best_rule(
    channel: Channel, prior: Prior, errors: list[list[int]]
) -> None:
    least = min(rule_values(channel, prior, errors))
    assume(least > 0)
    by_input = [list(row) for row in zip(*errors, strict=True)]
    assert AttackError(least, by_input).holds(channel, prior)
    more = least * (1 + Fraction(1, 10**12))
    assert not AttackError(more, by_input).holds(channel, prior)
    assert math.isclose(AttackError(least / 2, by_input).leakage(channel, prior), -least / 2)


@examples(30)
@given(channels(3), priors(3))
def test_a_wrong_guess_is_no_right_one(channel: Channel, prior: Prior) -> None:
    accuracy = md.BayesAccuracy().value(channel, prior)
    assert md.GVulnerabilityLeakage(accuracy).holds(channel, prior)
    if accuracy < 1:
        assert AttackError(1 - accuracy, "hamming").holds(channel, prior)
        assert not AttackError(1 - accuracy + Fraction(1, 10**9), "hamming").holds(channel, prior)


def test_irrational_distances_are_rounded_to_the_safe_side() -> None:
    """On a diagonal of the grid the error is half of the root of 2, which no fraction is."""
    grid, even = md.Domain.grid(2, 2), Prior([Fraction(1, 2), 0, 0, Fraction(1, 2)])
    blind = Channel.from_matrix([[1]] * 4, inputs=grid)
    below = Fraction(math.isqrt(2 * 10**60), 2 * 10**30)
    assert AttackError(below, "euclidean").holds(blind, even)
    assert not AttackError(below + Fraction(1, 10**29), "euclidean").holds(blind, even)


CASES: dict[str, Callable[[], Any]] = {
    "names": lambda: md.GVulnerabilityLeakage("0.55"),
    "gains": lambda: md.GVulnerabilityLeakage("0.9", GAINS),
    "wrong": lambda: AttackError("0.45", "hamming"),
    "absolute": lambda: AttackError("0.5", "absolute"),
    "squared": lambda: AttackError("0.6", "squared"),
    "matrix": lambda: AttackError("0.3", FAR),
    "with ldp": lambda: [LDP("1.5"), md.GVulnerabilityLeakage("0.5")],
    "with metric": lambda: [md.MetricPrivacy(1, "absolute"), AttackError("0.7", "absolute")],
    "with leakage": lambda: [md.MaximalLeakage("0.4"), AttackError("0.5", "hamming")],
}


OTHERS = md.MeanAbsoluteError(worst_case=True), md.BayesAccuracy(), md.GVulnerability(GAINS)


@pytest.mark.parametrize(
    ("name", "utility"),
    [
        *((name, HammingLoss()) for name in CASES),
        *((name, utility) for name in ("absolute", "with ldp") for utility in OTHERS),
    ],
)
def test_the_optimum_is_that_of_the_transcription(name: str, utility: Any) -> None:
    problem = Problem(range(4), CASES[name](), utility, prior=PRIOR)
    solution = proved(problem)
    if isinstance(utility, HammingLoss | md.MeanAbsoluteError):
        reference = SOLVERS["textbook"](problem).value
        assert math.isclose(solution.value, reference, rel_tol=1e-6, abs_tol=1e-8)


@pytest.mark.parametrize("name", ["names", "gains", "wrong", "absolute", "squared", "matrix"])
def test_both_sides_of_a_limit(name: str) -> None:
    """A channel that the limit binds holds it, and breaks one that is a little stricter."""
    notion = CASES[name]()
    problem = Problem(range(4), notion, HammingLoss(), prior=PRIOR)
    channel = design(problem).channel
    leakage = notion.leakage(channel, problem.prior)
    assert -1e-9 <= leakage <= 0
    table = notion.to_table()
    key, sign = ("limit", -1) if "limit" in table else ("least", 1)
    given_keys = {k: v for k, v in table.items() if k not in ("notion", key)}
    stricter = type(notion)(Fraction(table[key]) + sign * Fraction(1, 10**6), **given_keys)
    assert notion.holds(channel, problem.prior)
    assert not stricter.holds(channel, problem.prior)
    assert broken(problem, channel) is None
    less = Problem(range(4), stricter, HammingLoss(), prior=PRIOR)
    assert broken(less, channel) == "the channel is above a limit: gauge"


def test_at_the_grid_of_a_city() -> None:
    """An attack with the same distance errs by what the report does, and no more is left."""
    grid = md.Domain.grid(3, 3)
    notions = [md.MetricPrivacy(2, "euclidean"), AttackError("0.9", "euclidean")]
    solution = proved(Problem(grid, notions, md.EuclideanDistance(), prior=[Fraction(1, 9)] * 9))
    assert math.isclose(solution.value, 0.9, rel_tol=1e-9)


def test_no_report_at_all_is_the_least_that_can_be_asked() -> None:
    """A limit that only a constant channel keeps leaves one; less leaves none."""
    even = ["1/3", "1/3", "1/3"]
    solution = design(Problem(3, md.GVulnerabilityLeakage("1/3"), HammingLoss(), prior=even))
    assert math.isclose(solution.value, 2 / 3)
    with pytest.raises(
        md.InfeasibleError, match=r"without any output gains 1/3, so that no channel"
    ):
        Problem(3, md.GVulnerabilityLeakage("0.333"), HammingLoss(), prior=even)
    with pytest.raises(md.InfeasibleError, match=r"errs by 2/3, so that no channel makes it 0.7"):
        Problem(3, AttackError("0.7", "hamming"), HammingLoss(), prior=even)


def test_a_limit_that_nothing_breaks_binds_nothing() -> None:
    problem = Problem(range(4), [LDP(1), md.GVulnerabilityLeakage(1)], HammingLoss(), prior=PRIOR)
    assert problem.is_conic
    plain = design(Problem(range(4), LDP(1), HammingLoss(), prior=PRIOR))
    assert math.isclose(design(problem).value, plain.value, rel_tol=1e-12)


def test_labels_decide() -> None:
    inputs, prior = ["a", "b", "c"], ["0.5", "0.3", "0.2"]
    plain = md.GVulnerabilityLeakage("1.8", [[1, 2, 3], [2, 0, 0]])
    frame = pd.DataFrame({"c": [3, 0], "a": [1, 2], "b": [2, 0]}, index=["stay", "go"])
    far = pd.DataFrame({"b": [1, 0, 2], "a": [0, 1, 3]}, index=["a", "b", "c"])
    pairs = [
        (plain, md.GVulnerabilityLeakage("1.8", frame)),
        (AttackError("0.1", [[1, 0], [0, 1], [2, 3]]), AttackError("0.1", far)),
    ]
    for by_place, by_label in pairs:
        tables = [
            Problem(inputs, n, HammingLoss(), prior=prior).to_table()["privacy"]
            for n in (by_place, by_label)
        ]
        assert tables[0] == tables[1]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: md.GVulnerabilityLeakage(0), "limit: expected a number above 0, given 0"),
        (lambda: md.GVulnerabilityLeakage("x"), "limit"),
        (lambda: md.GVulnerabilityLeakage(float("nan")), "limit"),
        (lambda: md.GVulnerabilityLeakage(float("inf")), "limit"),
        (lambda: md.GVulnerabilityLeakage(1, [[1, 0]]), "gain_matrix"),
        (lambda: md.GVulnerabilityLeakage(1, []), "gain_matrix"),
        (lambda: md.GVulnerabilityLeakage(1, [[1, -1, 0]]), "gain_matrix"),
        (lambda: AttackError(-1, "hamming"), "least: expected a number above 0"),
        (lambda: AttackError(1, "haming"), "did you mean 'hamming'"),
        (lambda: AttackError(1, "absolute"), "numbers as the domain"),
        (lambda: AttackError(1, [[0, 1]]), "distance"),
        (lambda: AttackError(1, np.zeros((3, 3))), "all distances are 0"),
    ],
)
def test_wrong_parameters_get_one_line(make: Callable[[], Notion], match: str) -> None:
    with pytest.raises(InputError, match=match) as caught:
        Problem(["a", "b", "c"], make(), HammingLoss(), prior=["0.5", "0.3", "0.2"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("notion", [md.GVulnerabilityLeakage("0.6"), AttackError("0.3", "hamming")])
def test_a_prior_is_asked_for_and_some_objectives_are_refused(notion: Notion) -> None:
    check_refused(r"prior: .*none is given", lambda: Problem(3, notion, HammingLoss()))
    problem = Problem(range(4), notion, md.MutualInformation(), prior=PRIOR)
    with pytest.raises(md.UnsupportedError, match=notion.name):
        design(problem)
    check_refused("exactly one notion with an epsilon", problem.at, 1)


def test_a_problem_file_states_them(tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    path.write_text(
        """
[domain]
values = ["a", "b", "c"]
[prior]
probabilities = [0.5, 0.3, 0.2]
[[privacy]]
notion = "g-vulnerability"
limit = 0.7
gain_matrix = [{ c = 0, a = 1, b = 0.5 }, { a = 0, b = 0.5, c = 1 }]
[[privacy]]
notion = "attack-error"
least = 0.4
distance = "hamming"
[utility]
objective = "hamming"
"""
    )
    found = md.load_problem(path).privacy
    assert found == (
        md.GVulnerabilityLeakage("0.7", [["1", "0.5", "0"], ["0", "0.5", "1"]]),
        AttackError("0.4", "hamming"),
    )
