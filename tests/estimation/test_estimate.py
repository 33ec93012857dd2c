"""Estimates of the distribution: exact expectations, exact variances, coverage, errors."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import Channel, L2Risk, PosteriorMeanSquaredError, Prior
from mechdesign.estimation import (
    METHODS,
    Estimate,
    ScalarEstimate,
    estimate,
    mean,
    posterior_mean,
    survey,
    total,
    weighted_sum,
)
from mechdesign.estimation.report_models import ReportModel
from mechdesign.mechanisms import GeneralizedRandomizedResponse, HadamardResponse, Mechanism
from mechdesign.reports import Reports, Tally
from tests.refusals_support import check_refused
from tests.strategies import channels, examples, priors, simplex

CLOSE = 1e-9

WARNER = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
THREE = Channel.from_matrix([[".6", ".3", ".1"], [".2", ".5", ".3"], [".1", ".1", ".8"]])
WIDE = Channel.from_matrix([[".5", ".2", ".2", ".1"], [".1", ".6", ".1", ".2"]])
HIDDEN = Channel.from_matrix(
    [["1/2", "1/2", "0"], ["1/4", "3/4", "0"], ["1/4", "3/4", "0"]], inputs=["a", "b", "c"]
)
"""b and c have equal rows, and the last output is impossible."""


def matrix(channel: Channel) -> list[list[Fraction]]:
    return [[Fraction(int(v), channel.denominator) for v in row] for row in channel.numerators]


def exactly(values: Any) -> list[Fraction]:
    return [Fraction(float(v)) for v in values]


@st.composite
def square_channels(draw: st.DrawFn) -> Channel:
    """Channels that identify the distribution: a tenth of the identity or more, else random."""
    k = draw(st.integers(2, 4))
    share = draw(st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)]))
    noise = draw(simplex(k))
    rows = [[(1 - share) * noise[y] + share * (x == y) for y in range(k)] for x in range(k)]
    return Channel.from_matrix(rows)


# --- unbiased -------------------------------------------------------------------------------------


@given(square_channels(), st.data())
@examples(30)
def test_the_scores_are_unbiased_whatever_the_reference(channel: Channel, data: Any) -> None:
    k = len(channel.inputs)
    reference = data.draw(priors(k, least=1))
    A = ReportModel(channel).scores(reference).frequencies
    Q = matrix(channel)
    table = [exactly(A(Tally(np.eye(k, dtype=np.int64)[y], 1)).estimates) for y in range(k)]
    for x, z in itertools.product(range(k), repeat=2):
        expected = sum((Q[x][y] * table[y][z] for y in range(k)), Fraction(0))
        assert abs(expected - (x == z)) < CLOSE


@pytest.mark.parametrize("channel", [WARNER, THREE])
def test_the_variance_among_the_respondents_by_enumeration(channel: Channel) -> None:
    """The records 0, 0, 1 are fixed; only the reports vary."""
    records, Q, k = [0, 0, 1], matrix(channel), len(channel.inputs)
    first, second, reported = np.zeros(k), np.zeros(k), np.zeros(k)
    for reports in itertools.product(range(len(channel.outputs)), repeat=3):
        chance = float(math.prod(Q[x][y] for x, y in zip(records, reports, strict=True)))
        counts = np.bincount(reports, minlength=len(channel.outputs))
        tally = Tally(counts, 3)
        found = estimate(channel, tally, target="respondents")
        scores = ReportModel(channel).scores().frequencies(tally)
        first += chance * found.values
        second += chance * found.values**2
        reported += chance * (scores.squares - scores.estimates) / 3
        clipped = np.maximum(scores.squares - scores.estimates, 0) / 3
        assert found.standard_errors**2 == pytest.approx(clipped, abs=CLOSE)
    truth = np.bincount(records, minlength=k) / 3
    assert first == pytest.approx(truth, abs=CLOSE)
    assert second - first**2 == pytest.approx(reported, abs=CLOSE)


@pytest.mark.parametrize("channel", [WARNER, THREE, WIDE])
def test_the_total_variance_at_the_reference_is_the_l2_risk(channel: Channel) -> None:
    k = len(channel.inputs)
    for prior in (Prior.uniform(k), Prior.from_counts(range(1, k + 1))):
        variances = ReportModel(channel).scores(prior).variances(prior)
        assert variances.sum() == pytest.approx(float(L2Risk().value(channel, prior)), rel=CLOSE)


@pytest.mark.parametrize("target", ["population", "respondents"])
@pytest.mark.parametrize("mechanism", [THREE, HadamardResponse(3, 1)])
def test_a_survey_of_one_is_its_coordinate(mechanism: Any, target: Any) -> None:
    reports = mechanism.privatize([0, 1, 2] * 30, rng=2)
    whole = estimate(mechanism, reports, target=target)
    for x in range(3):
        one = survey(mechanism, reports, x, target=target)
        assert one.value == pytest.approx(whole.values[x])
        assert one.standard_error == pytest.approx(whole.standard_errors[x])
        assert one.unbiased
        assert one.simulated


@pytest.mark.parametrize(
    "mechanism", [GeneralizedRandomizedResponse(5, 1), HadamardResponse(3, "0.5")]
)
def test_a_structured_mechanism_agrees_with_its_matrix(mechanism: Mechanism) -> None:
    """Both sets of reports have as many outputs as least squares needs, or weigh them alike."""
    reports = mechanism.privatize([0, 1, 1, 2, 0, 2, 2] * 20, rng=5)
    tally = mechanism.tally(reports)
    own = estimate(mechanism, reports)
    dense = estimate(mechanism.dense(), counts=tally.counts)
    if mechanism.n_outputs == len(mechanism.inputs):
        assert own.values == pytest.approx(dense.values, abs=CLOSE)
        assert own.standard_errors == pytest.approx(dense.standard_errors, abs=CLOSE)
    else:  # least squares uses besides that the frequencies sum to 1
        assert dense.values.sum() == pytest.approx(1, abs=CLOSE)
        assert dense.standard_errors.sum() <= own.standard_errors.sum()
    assert own.simulated
    assert not dense.simulated
    assert estimate(mechanism, tally).values == pytest.approx(own.values)


@pytest.mark.parametrize("target", ["population", "respondents"])
def test_the_intervals_cover_as_often_as_they_say(target: str) -> None:
    rng, repeats, n = np.random.default_rng(8), 600, 400
    truth = np.array([0.5, 0.3, 0.2])
    hits = np.zeros(3)
    everywhere = 0
    for _ in range(repeats):
        records = rng.multinomial(n, truth) if target == "population" else [200, 120, 80]
        rows = zip(records, THREE.matrix, strict=True)
        counts = sum(rng.multinomial(int(c), row) for c, row in rows)
        found = estimate(THREE, counts=counts, target=target)
        low, high = found.interval(0.9).T
        hits += (low <= truth) & (truth <= high)
        low, high = found.interval(0.9, simultaneous=True).T
        everywhere += bool(((low <= truth) & (truth <= high)).all())
    error = math.sqrt(0.9 * 0.1 / repeats)
    assert (np.abs(hits / repeats - 0.9) < 4 * error).all()
    assert everywhere / repeats > 0.9 - 4 * error


# --- unidentifiable distributions -----------------------------------------------------------------


def test_a_channel_that_hides_inputs_is_refused_with_the_identifiable_part() -> None:
    raised = check_refused("", estimate, HIDDEN, counts=[3, 5, 0])
    text = str(raised)
    assert "2 independent rows of 3" in text
    assert "'a', {'b', 'c'}" in text
    assert "maximum-likelihood" in text
    four = Channel.from_matrix([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], *[[0.1, 0.1, 0.8]] * 2])
    check_refused("the frequency of 0, 1, {2, 3};", estimate, four, counts=[3, 5, 4])
    assert survey(HIDDEN, Tally.of([30, 50, 0]), "a").value == pytest.approx(0.5)
    assert survey(HIDDEN, Tally.of([30, 50, 0]), ["b", "c"]).value == pytest.approx(0.5)
    check_refused("independent rows", lambda: survey(HIDDEN, Tally.of([3, 5, 0]), "b"))
    likeliest = estimate(HIDDEN, counts=[3, 5, 0], method="maximum-likelihood")
    assert likeliest.values.sum() == pytest.approx(1)


def test_rows_that_differ_by_rounding_only_are_the_same() -> None:
    near = Channel.from_matrix([[0.5, 0.5], [0.5 + 1e-13, 0.5 - 1e-13]])
    check_refused("1 independent rows of 2", estimate, near, counts=[5, 5])
    far = Channel.from_matrix([[0.5, 0.5], [0.5 + 1e-6, 0.5 - 1e-6]])
    assert estimate(far, counts=[5, 5]).standard_errors[0] > 1e4


def test_an_output_that_never_comes_does_no_harm() -> None:
    spare = Channel.from_matrix([["3/4", "1/4", 0], ["1/4", "3/4", 0]])
    plain = estimate(WARNER, counts=[6, 4])
    assert estimate(spare, counts=[6, 4, 0]).values == pytest.approx(plain.values)


def test_a_reference_may_rule_inputs_out() -> None:
    assert estimate(WARNER, counts=[6, 4], prior=Prior([1, 0])).values == pytest.approx([0.7, 0.3])


# --- one number -----------------------------------------------------------------------------------


@given(
    st.lists(st.integers(-5, 9), min_size=3, max_size=3),
    st.lists(st.integers(1, 40), min_size=3, max_size=3),
)
@examples(40)
def test_a_mean_is_the_same_as_from_the_whole_distribution(f: list[int], counts: list[int]) -> None:
    found, whole = mean(THREE, Tally.of(counts), f), estimate(THREE, counts=counts)
    assert found.value == pytest.approx(float(whole.values @ f), abs=1e-8)
    assert total(THREE, Tally.of(counts), f).value == pytest.approx(sum(counts) * found.value)
    (error,) = whole.deviation(np.array([f], dtype=float))
    assert found.standard_error == pytest.approx(error, abs=1e-6)


def test_a_mean_that_the_reports_tell_needs_no_whole_distribution() -> None:
    """f lies in the column space although its square does not: the larger variance is given."""
    rows = [["0", "1"], ["1/2", "1/2"], ["1", "0"]]
    steps = Channel.from_matrix(rows)
    found = mean(steps, Tally.of([30, 70]))
    assert found.value == pytest.approx(0.6)
    same = mean(steps, Tally.of([30, 70]), target="respondents")
    assert same.standard_error == pytest.approx(found.standard_error)


def test_a_weighted_sum_by_enumeration() -> None:
    """Records 0, 2, 1 with weights 1, -2, 3 and values 0, 1, 5, among the respondents."""
    records, c, f, Q = [0, 2, 1], [1, -2, 3], [0, 1, 5], matrix(THREE)
    first = second = reported = 0.0
    for sent in itertools.product(range(3), repeat=3):
        chance = float(math.prod(Q[x][y] for x, y in zip(records, sent, strict=True)))
        reports = Reports(np.array(sent), THREE.alphabet, False)
        found = weighted_sum(THREE, reports, c, f, target="respondents")
        first += chance * found.value
        second += chance * found.value**2
        reported += chance * found.standard_error**2
    assert first == pytest.approx(sum(a * f[x] for a, x in zip(c, records, strict=True)))
    assert reported >= second - first**2 - CLOSE  # equal but for what is clipped at 0
    equal = weighted_sum(THREE, reports, [2, 2, 2], f)
    assert equal.value == pytest.approx(2 * total(THREE, reports, f).value)
    found = total(THREE, reports, f)
    assert equal.standard_error == pytest.approx(2 * found.standard_error, abs=1e-5)


def test_a_weighted_sum_of_a_structured_mechanism() -> None:
    grr = GeneralizedRandomizedResponse(4, 2)
    reports = grr.privatize([0, 1, 2, 3] * 10, rng=4)
    c = np.linspace(-1, 2, 40)
    dense = grr.dense()
    same = Reports(reports.data, dense.alphabet, True)
    for target in ("population", "respondents"):
        found = weighted_sum(grr, reports, c, target=target)
        other = weighted_sum(dense, same, c, target=target)
        assert found.value == pytest.approx(other.value)
        assert found.standard_error == pytest.approx(other.standard_error)


@given(channels(3), priors(3), st.lists(st.integers(-5, 9), min_size=3, max_size=3))
@examples(25)
def test_the_expected_error_of_a_posterior_mean_is_the_utility(
    channel: Channel, prior: Prior, f: list[int]
) -> None:
    """For one report, both as the variance it states and as the error it makes."""
    m = len(channel.outputs)
    law, Q = list(map(float, channel.output_distribution(prior))), channel.matrix
    stated = made = whole = 0.0
    for y in range(m):
        if law[y] == 0:
            continue
        counts = np.eye(m, dtype=int)[y]
        found = posterior_mean(channel, Tally.of(counts), prior, f)
        stated += law[y] * found.standard_error**2
        made += sum(prior.array[x] * Q[x, y] * (found.value - f[x]) ** 2 for x in range(3))
        histogram = posterior_mean(channel, Tally.of(counts), prior, histogram=True)
        whole += law[y] * float((histogram.standard_errors**2).sum())
    expected = float(PosteriorMeanSquaredError(values=f).value(channel, prior))
    assert stated == pytest.approx(expected, abs=CLOSE)
    assert made == pytest.approx(expected, abs=CLOSE)
    expected = float(PosteriorMeanSquaredError(histogram=True).value(channel, prior))
    assert whole == pytest.approx(expected, abs=CLOSE)


def test_a_posterior_mean_is_the_sum_of_the_decoder_of_the_utility() -> None:
    prior, f = Prior([0.2, 0.8]), [1, 0]
    decoder = PosteriorMeanSquaredError(values=f).decoder(WARNER, prior)
    expected = 30 * decoder[0] + 50 * decoder[1]
    found = posterior_mean(WARNER, Tally.of([30, 50]), prior, f)
    assert found.value == pytest.approx(float(expected))
    assert not found.unbiased
    assert found.target == "respondents"
    whole = posterior_mean(WARNER, Tally.of([30, 50]), prior, histogram=True)
    assert (type(found), type(whole)) == (ScalarEstimate, Estimate)
    assert whole.counts[0] == pytest.approx(float(expected))
    assert whole.standard_errors[0] * 80 == pytest.approx(found.standard_error)
    assert whole.deviation(np.array([[1.0, 1.0]])) == pytest.approx([0], abs=1e-6)
    assert "Bayes-optimal if the prior is right" in repr(whole)
    assert "biased" in repr(found)


def test_a_posterior_mean_of_a_structured_mechanism_is_that_of_its_matrix() -> None:
    grr = GeneralizedRandomizedResponse(4, 1)
    prior = Prior.from_counts([4, 3, 2, 1])
    reports = grr.privatize([0, 1, 2, 3] * 25, rng=6)
    one = posterior_mean(grr, reports, prior)
    two = posterior_mean(grr.dense(), Tally.of(grr.tally(reports).counts), prior)
    assert one.value == pytest.approx(two.value)
    assert one.simulated


# --- accepted reports -----------------------------------------------------------------------------


def test_printing_and_saving() -> None:
    found = estimate(WARNER, WARNER.privatize(["yes"] * 50, rng=3), method="projected")
    text = repr(found)
    for part in ("50 reports", "projected, biased", "SIMULATION, NOT FOR RELEASE", "yes", "no"):
        assert part in text
    saved = json.loads(json.dumps(found.to_json()))
    assert saved["simulated"] is True
    assert saved["unbiased"] is False
    assert saved["values"] == found.values.tolist()
    assert "SIMULATION" not in repr(estimate(WARNER, counts=[6, 4]))
    assert estimate(WARNER, counts=[1, 0]).to_json()["standard_errors"] == [None] * 2
    one = json.loads(json.dumps(survey(WARNER, Tally.of([6, 4]), "yes").to_json()))
    assert one["value"] == pytest.approx(0.7)
    long = estimate(GeneralizedRandomizedResponse(60, 1), Tally(np.ones(60, dtype=np.int64), 60))
    assert "…" in repr(long)
    assert found.counts == pytest.approx(50 * found.values)


@pytest.mark.parametrize("method", METHODS)
def test_an_estimate_is_pickled_and_framed(method: str) -> None:
    found = estimate(WARNER, counts=[60, 40], method=method)
    again: Estimate = pickle.loads(pickle.dumps(found))
    assert again.to_json() == found.to_json()
    assert again.deviation(np.eye(2)) == pytest.approx(found.deviation(np.eye(2)))
    frame = again.to_frame(confidence=0.9)
    assert list(frame.index) == ["yes", "no"]
    assert frame[["low", "high"]].to_numpy().tolist() == found.interval(0.9).tolist()
    assert frame["value"].tolist() == found.values.tolist()


def test_intervals_of_distributions_stay_in_range() -> None:
    raw = estimate(WARNER, counts=[1, 39])
    assert raw.interval()[0, 0] < 0
    assert raw.projected().interval().min() == 0


def test_an_estimate_warns_where_most_values_are_below_their_error() -> None:
    """With uniform counts of 8 inputs at a budget near 0 all values are 1/8, below their errors."""
    small, large = GeneralizedRandomizedResponse(8, "0.1"), GeneralizedRandomizedResponse(8, 5)
    counts = Tally.of([10] * 8)
    assert "8 of 8 values are below their standard error" in repr(estimate(small, counts))
    assert not any("below their" in note for note in estimate(large, counts).notes)
