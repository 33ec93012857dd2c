"""Centralized information privacy: the closed form against linear programs and definitions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given, strategies as st

from benchmarks.trusted_server.survey import (
    CentralSurvey,
    central_error,
    central_survey,
    error_within,
    local_error,
    mean_range,
)
from benchmarks.trusted_server.unequal_people import central_bounds, sum_distribution
from mechdesign import LIP, PosteriorMeanSquaredError, Prior, Problem, design
from mechdesign.errors import UnsupportedError
from tests.refusals_support import check_refused
from tests.strategies import examples

CASES = [
    (1, "1/2", "1"),
    (1, "0.01", "1"),
    (3, "1/2", "0.69"),
    (5, "0.1", "1"),
    (5, "0.3", "0.2"),
    (8, "0.7", "2"),
    (10, "0.02", "0.5"),
    (6, "0.5", "0"),
    (7, "0.97", "3"),
]


def by_program(n: int, probability: str, epsilon: str, points: int) -> float:
    """The least E (S - d)**2 over reports that are values d of a grid on the allowed means."""
    low, high = (float(end) for end in mean_range(n, Fraction(probability), Fraction(epsilon)))
    whole = [s for s in range(n + 1) if low <= s <= high]
    d = np.unique(np.r_[np.linspace(low, high, points), whole])
    sums, size = np.arange(n + 1), len(d)
    columns = np.kron(np.ones((1, n + 1)), np.eye(size)) * (
        np.repeat(sums, size) - np.tile(d, n + 1)
    )
    rows = np.kron(np.eye(n + 1), np.ones((1, size)))
    found = scipy.optimize.linprog(
        ((sums[:, None] - d) ** 2).ravel(),
        A_eq=np.vstack([rows, columns]),
        b_eq=np.r_[scipy.stats.binom.pmf(sums, n, float(Fraction(probability))), np.zeros(size)],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0
    return float(found.fun)


def bit_leakage(survey: CentralSurvey) -> float:
    """The largest |ln Pr(D_1 = d | y) / Pr(D_1 = d)|, by summing over all databases."""
    n, p, worst = survey.people, survey.probability, Fraction(1)
    joint = {(d, y): Fraction(0) for d in (0, 1) for y in survey.channel.outputs}
    for bits in itertools.product((0, 1), repeat=n):
        chance = math.prod(p if bit else 1 - p for bit in bits)
        for y in survey.channel.outputs:
            joint[bits[0], y] += chance * survey.channel.probability(sum(bits), y)
    for y in survey.channel.outputs:
        law = joint[0, y] + joint[1, y]
        for d, before in ((0, 1 - p), (1, p)):
            lift = joint[d, y] / law / before
            worst = max(worst, lift, 1 / lift)
    return math.log(worst)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_no_report_does_better(case: tuple[int, str, str]) -> None:
    survey = central_survey(*case)
    error = float(survey.error)
    assert error <= by_program(*case, points=200) + 2e-9
    assert by_program(*case, points=1200) <= error + 1e-5
    assert central_error(*case) == pytest.approx(error, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_the_report_keeps_every_bit_private(case: tuple[int, str, str]) -> None:
    survey, epsilon = central_survey(*case), float(Fraction(case[2]))
    exact = bit_leakage(survey)
    assert survey.leakage == pytest.approx(exact, abs=1e-12)
    assert survey.leakage <= epsilon * (1 + 1e-15)
    low, high = mean_range(case[0], Fraction(case[1]), Fraction(case[2]))
    assert all(low <= estimate <= high for estimate in survey.estimates)
    if epsilon:  # the budget is used up
        assert survey.leakage > epsilon - 1e-9


@given(
    st.integers(1, 12),
    st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50),
    st.fractions(Fraction(1, 20), 3, max_denominator=20),
)
@examples(60)
def test_estimates_and_error_are_those_of_the_channel(
    n: int, probability: Fraction, epsilon: Fraction
) -> None:
    survey = central_survey(n, probability, epsilon)
    law = [math.comb(n, s) * probability**s * (1 - probability) ** (n - s) for s in range(n + 1)]
    prior = Prior(law)
    utility = PosteriorMeanSquaredError(values=list(range(n + 1)))
    assert survey.error == utility.value(survey.channel, prior)
    means = [
        sum(s * p * survey.channel.probability(s, y) for s, p in enumerate(law))
        / sum(p * survey.channel.probability(s, y) for s, p in enumerate(law))
        for y in survey.channel.outputs
    ]
    assert list(survey.estimates) == means
    assert survey.error <= n * probability * (1 - probability)
    assert float(survey.error) <= local_error(n, probability, epsilon) + 1e-12


@pytest.mark.parametrize(("probability", "epsilon"), [("0.5", "1"), ("0.1", "1"), ("0.01", "2")])
def test_one_person_is_the_local_survey(probability: str, epsilon: str) -> None:
    """A server that counts one person publishes the best local report."""
    p = Fraction(probability)
    survey = Problem(
        [1, 0], LIP(epsilon), PosteriorMeanSquaredError(values=[1, 0]), prior=[p, 1 - p]
    )
    value = float(design(survey).value)
    assert float(central_survey(1, probability, epsilon).error) == pytest.approx(value, rel=1e-9)
    assert local_error(7, probability, epsilon) == pytest.approx(7 * value, rel=1e-9)


def test_the_published_interval_leaks_more_than_it_should() -> None:
    """Proposition 5 leaves out the upper bounds, which bind where P < 1 / (e**eps + 1)."""
    n, p, epsilon = 5, Fraction(1, 10), Fraction(1)
    printed = n - math.exp(-1) * n * (1 - float(p))
    low, high = mean_range(n, p, epsilon)
    assert low == pytest.approx(math.exp(-1) * n * float(p))
    assert high == pytest.approx(math.e * n * float(p))
    assert high < printed
    assert math.log(printed / (n * float(p))) > 1.9  # the log lift that it allows, where 1 is asked
    valid = mean_range(n, Fraction(1, 2), epsilon)
    assert float(valid[1]) == pytest.approx(n - math.exp(-1) * n / 2)


def test_lip_of_the_sum_implies_it_and_not_the_other_way_round() -> None:
    n, p, epsilon = 4, Fraction(3, 10), 1
    law = [math.comb(n, s) * p**s * (1 - p) ** (n - s) for s in range(n + 1)]
    values = PosteriorMeanSquaredError(values=list(range(n + 1)))
    strict = design(Problem(range(n + 1), LIP(epsilon), values, prior=law))
    survey = central_survey(n, p, epsilon)
    kept = CentralSurvey(n, p, Fraction(epsilon), strict.channel, (), Fraction(0))
    assert bit_leakage(kept) <= epsilon
    assert survey.error < strict.value
    assert not LIP(epsilon).holds(survey.channel, Prior(law))


@pytest.mark.parametrize("case", [(4, "0.3", "0.4"), (5, "0.1", "1")])
def test_equal_people_are_a_case_of_unequal_ones(case: tuple[int, str, str]) -> None:
    n, probability, epsilon = case
    low, high = central_bounds([probability] * n, epsilon, points=401)
    error = float(central_survey(*case).error)
    assert low - 1e-7 <= error <= high + 1e-7
    assert high - low < 1e-3


def test_unequal_people_are_each_kept_private() -> None:
    """A hand-made private report cannot do better than the bound, nor the local reports."""
    chances = [0.2, 0.5, 0.7]
    low, high = central_bounds(chances, 1)
    local = sum(local_error(1, p, 1) for p in chances)
    assert 0 < low <= high < local
    silent = sum(p * (1 - p) for p in chances)
    assert central_bounds(chances, 0)[0] == pytest.approx(silent, abs=2e-4)
    assert central_bounds(chances, 6)[1] < 0.02
    # relaxed to one interval for the sum, the optimum can only be better
    ends = [mean_range(1, Fraction(str(p)), Fraction(1)) for p in chances]
    least = error_within(
        sum_distribution(chances), *(float(sum(side)) for side in zip(*ends, strict=True))
    )
    assert least <= high + 1e-9


def test_arguments_out_of_range_are_refused() -> None:
    for people in (0, 2.5, True):
        check_refused("people: expected a whole number >= 1", central_survey, people, 0.5, 1)
    for probability in (0, 1, "-1/2"):
        check_refused("probability: expected a number in", central_error, 3, probability, 1)
    check_refused("epsilon: expected a finite number >= 0", local_error, 3, 0.5, -1)
    check_refused(r"probabilities\[1\]: expected a number in", central_bounds, [0.5, 1], 1)
    with pytest.raises(UnsupportedError, match="at most 40 people"):
        central_bounds([0.5] * 41, 1)
    with pytest.raises(UnsupportedError, match="at most 2000"):
        central_survey(2001, 0.5, 1)
