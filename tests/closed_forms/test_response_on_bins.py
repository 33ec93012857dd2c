"""Responses on bins against numeric optima, their facility location, and the binary mechanism."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import LDP, LIP, ChiSquared, Distortion, HammingLoss, Prior, Problem, design
from mechdesign.closed_forms import ResponseOnBins
from mechdesign.closed_forms.response_on_bins import BinaryMechanism, Sites, are_in_line
from mechdesign.kernel.oracles import OneBudget
from mechdesign.notions import Notion
from solvers import SOLVERS
from tests.documents import as_read, proved, refused
from tests.strategies import budgets, examples, losses_in_line, optimum, priors, simplex

FORM = ResponseOnBins()
ROUTE = "closed-form: randomized response on bins"

INPUTS = 6
LOSSES = [md.MeanAbsoluteError(), md.MeanSquaredDistance(), md.EuclideanDistance(), HammingLoss()]


def assert_proved(problem: Problem) -> None:
    """The formula has the least loss of a private channel, and its prices prove it exactly."""
    assert FORM.holds(problem)
    best = optimum(problem)
    found, loss = FORM.optimum(problem).formula(), problem.expected_loss
    assert np.allclose(found.matrix.sum(axis=1), 1, atol=1e-14)
    assert (problem.cone.matrix() @ found.matrix).max() <= 1e-13
    cost = loss.cost(problem.domain, problem.prior, problem.outputs)
    sent = [problem.outputs.index(y) for y in found.outputs]
    assert (cost[:, sent] * found.matrix).sum() == pytest.approx(best, abs=1e-8)
    solution = proved(problem, route="closed-form")
    assert float(solution.value) == pytest.approx(best, abs=1e-8)
    assert float(solution.bound) == pytest.approx(float(solution.value), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("utility", LOSSES, ids=lambda utility: utility.name)
@examples(12)
@given(priors(INPUTS), budgets("0.01", "6"))
def test_it_is_the_optimum_for_losses_by_distance(utility: Any, prior: Prior, epsilon: Any) -> None:
    problem = Problem(range(INPUTS), LDP(epsilon), utility, prior=prior)
    assert_proved(problem)


@examples(16)
@given(losses_in_line(fewest=2), st.data())
def test_it_is_the_optimum_for_every_loss_in_line(loss: np.ndarray, data: Any) -> None:
    k, m = loss.shape
    prior, epsilon = data.draw(priors(k)), data.draw(budgets("0.01", "6"))
    table = Distortion(loss.astype(int).tolist())
    assert_proved(Problem(range(k), LDP(epsilon), table, prior=prior, outputs=range(m)))


def test_it_is_one_of_the_routes_and_its_file_holds_prices_only() -> None:
    problem = Problem(
        range(21), LDP(1), md.MeanAbsoluteError(), prior=Prior.from_counts(range(1, 22))
    )
    solution = proved(problem)
    assert solution.route == ROUTE
    assert isinstance(solution.certificate.oracle, OneBudget)
    assert len(solution.certificate.prices or ()) == 21
    assert not solution.certificate.multipliers


def test_for_the_hamming_loss_the_likeliest_inputs_are_distinguished() -> None:
    """Ghazi et al. 2021: of m inputs, P(right) = E Sum of the m largest / (E + m - 1)."""
    counts = [5, 1, 9, 2, 7, 1]
    prior = Prior.from_counts(counts)
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        odds, total = math.exp(epsilon), sum(counts)
        largest = sorted(counts, reverse=True)
        right = [odds * sum(largest[:m]) / total / (odds + m - 1) for m in range(1, 7)]
        found = design(Problem(range(6), LDP(epsilon), HammingLoss(), prior=prior))
        m = int(np.argmax(right)) + 1
        assert found.route == ROUTE
        told = {counts[x] for x in found.channel.outputs}
        assert told == set(largest[:m])
        assert 1 - float(found.value) == pytest.approx(right[m - 1])


@examples(12)
@given(priors(INPUTS), budgets("0.01", "6"))
def test_the_best_guess_is_right_as_often_as_the_hamming_loss_allows(
    prior: Prior, epsilon: Any
) -> None:
    guess = Problem(range(INPUTS), LDP(epsilon), md.BayesAccuracy(), prior=prior)
    loss = Problem(range(INPUTS), LDP(epsilon), HammingLoss(), prior=prior)
    assert FORM.holds(guess)
    found = proved(guess, route="closed-form")
    assert 1 - float(found.value) == pytest.approx(optimum(loss), abs=1e-8)
    assert float(found.bound) == pytest.approx(float(found.value), rel=1e-9)


def test_outputs_are_taken_in_the_order_of_their_numbers() -> None:
    prior = Prior.from_counts([3, 1, 4, 1, 5])
    sorted_ = Problem(range(5), LDP(2), md.MeanAbsoluteError(), prior=prior)
    mixed = Problem(range(5), LDP(2), md.MeanAbsoluteError(), prior=prior, outputs=[3, 0, 4, 1, 2])
    assert design(mixed).value == design(sorted_).value
    assert design(mixed).route == ROUTE


def test_where_outputs_are_in_no_line_a_response_on_bins_may_be_worse() -> None:
    """Each of three outputs serves two of three inputs, as on a circle: no order has intervals."""
    loss = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    problem = Problem(range(3), LDP(math.log(2)), Distortion(loss), outputs=range(3))
    verdict = FORM.decide(problem)
    assert "falls, then rises" in str(verdict)
    responses = []
    for kept in ([0], [0, 1], [0, 1, 2]):  # all others are as these
        told = sum(min(row[y] for y in kept) for row in loss) / 3
        responses.append((len(kept) / 3 + told) / (1 + len(kept)))  # e**eps + m - 1 = m + 1
    assert min(responses) == pytest.approx(2 / 9)
    assert float(design(problem).value) == pytest.approx(1 / 5)


def test_many_inputs_are_solved_at_once() -> None:
    """The linear program has 400 x 400 entries, and a gap that prices close to rounding."""
    prior = Prior.from_counts([x * x % 97 + 1 for x in range(400)])
    found = design(Problem(range(400), LDP(4), md.MeanAbsoluteError(), prior=prior))
    assert found.route == ROUTE
    assert len(found.channel.outputs) < 12
    assert found.gap < 1e-12


def cost(loss: np.ndarray, mass: np.ndarray, opening: np.ndarray, sites: Any) -> float:
    return float(opening[list(sites)].sum() + mass @ loss[:, list(sites)].min(axis=1))


@examples(60)
@given(losses_in_line(), st.data())
def test_no_set_of_sites_is_better_and_the_payments_prove_it(loss: np.ndarray, data: Any) -> None:
    k, m = loss.shape
    number = st.integers(0, 5)
    mass = np.array(data.draw(st.lists(number, min_size=k, max_size=k).filter(any)), dtype=float)
    opening = np.array(data.draw(st.lists(number, min_size=m, max_size=m)), dtype=float)
    sites = Sites(loss, mass)
    sets = [c for n in range(1, m + 1) for c in itertools.combinations(range(m), n)]
    least = min(cost(loss, mass, opening, chosen) for chosen in sets)
    assert cost(loss, mass, opening, sites.best(opening)) == least
    paid = sites.payments(opening)
    assert np.isclose(paid.sum(), least, atol=1e-12)
    for y in range(m):  # with v_x = paid / mass: no site gets more than it costs
        assert np.maximum(0.0, paid - mass * loss[:, y]).sum() <= opening[y] + 1e-12


@examples(40)
@given(st.data())
def test_sites_are_in_line_where_all_sets_of_them_up_to_a_loss_are_intervals(data: Any) -> None:
    k, m = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 5))
    row = st.lists(st.integers(0, 3), min_size=m, max_size=m)
    loss = np.array(data.draw(st.lists(row, min_size=k, max_size=k)), dtype=float)
    sets = [np.flatnonzero(own <= d) for own in loss for d in own]
    intervals = all(np.ptp(members) + 1 == len(members) for members in sets)
    assert are_in_line(loss) == intervals


@examples(10)
@given(st.data())
def test_it_is_the_optimum_over_all_rays(data: st.DataObject) -> None:
    first, second = data.draw(simplex(3)), data.draw(simplex(3))
    epsilon = data.draw(st.sampled_from(["0", "0.3", "1", "2.5"]))
    if first == second:
        return
    problem = Problem(3, LDP(epsilon), md.TotalVariation(first, second))
    solution = proved(problem)
    apart = sum(abs(a - b) for a, b in zip(first, second, strict=True)) / 2
    assert math.isclose(solution.value, apart * math.tanh(float(epsilon) / 2), abs_tol=1e-12)
    assert math.isclose(solution.value, SOLVERS["vertices"](problem).value, abs_tol=1e-9)
    by_rays = design(problem, route="extreme-rays")
    assert math.isclose(by_rays.value, solution.value, abs_tol=1e-9)


def test_a_thousand_inputs() -> None:
    k = 1000
    rising = [Fraction(2 * (x + 1), k * (k + 1)) for x in range(k)]
    solution = design(Problem(range(k), LDP(1), md.TotalVariation(rising, rising[::-1])))
    assert solution.status == "optimal"
    assert solution.route == "closed-form: binary mechanism"
    assert solution.channel.shape == (k, 2)


@pytest.mark.parametrize("notion", [LIP(1), LDP(1)], ids=lambda n: n.name)
def test_it_is_not_for_other_problems(notion: Notion) -> None:
    utility = ChiSquared(0, 1) if notion.name == "ldp" else md.TotalVariation(0, 1)
    problem = Problem(3, notion, utility, prior=[0.5, 0.3, 0.2])
    assert "binary mechanism" not in design(problem).route
    assert not BinaryMechanism().holds(problem)


def test_a_bolder_claim_is_refused() -> None:
    document = as_read(proved(Problem(3, LDP(1), md.TotalVariation(0, 1))))
    assert document["certificate"]["oracle"]["kind"] == "one-budget"
    document["bound"] *= 1 - 1e-9
    refused(document)
