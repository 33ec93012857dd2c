"""Posterior means: their error is the utility, and they are sums of the decoder."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import Channel, PosteriorMeanSquaredError, Prior
from mechdesign.estimation import Estimate, ScalarEstimate, posterior_mean
from mechdesign.mechanisms import GeneralizedRandomizedResponse
from mechdesign.reports import Tally
from tests.strategies import channels, examples, priors

WARNER = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])


def law_of(channel: Channel, prior: Prior) -> list[float]:
    return [float(v) for v in channel.output_distribution(prior)]


@given(channels(3), priors(3), st.lists(st.integers(-5, 9), min_size=3, max_size=3))
@examples(25)
def test_the_expected_error_is_the_utility(channel: Channel, prior: Prior, f: list[int]) -> None:
    """For one report, both as the variance it states and as the error it makes."""
    m = len(channel.outputs)
    law, Q = law_of(channel, prior), channel.matrix
    stated = made = whole = 0.0
    for y in range(m):
        if law[y] == 0:
            continue
        counts = np.eye(m, dtype=int)[y]
        found = posterior_mean(channel, Tally.of(counts), prior, f)
        assert isinstance(found, ScalarEstimate)
        stated += law[y] * found.standard_error**2
        made += sum(prior.array[x] * Q[x, y] * (found.value - f[x]) ** 2 for x in range(3))
        histogram = posterior_mean(channel, Tally.of(counts), prior, histogram=True)
        assert isinstance(histogram, Estimate)
        whole += law[y] * float((histogram.standard_errors**2).sum())
    expected = float(PosteriorMeanSquaredError(values=f).value(channel, prior))
    assert stated == pytest.approx(expected, abs=1e-9)
    assert made == pytest.approx(expected, abs=1e-9)
    expected = float(PosteriorMeanSquaredError(histogram=True).value(channel, prior))
    assert whole == pytest.approx(expected, abs=1e-9)


def test_it_is_the_sum_of_the_decoder_of_the_utility() -> None:
    prior, f = Prior([0.2, 0.8]), [1, 0]
    decoder = PosteriorMeanSquaredError(values=f).decoder(WARNER, prior)
    expected = 30 * decoder[0] + 50 * decoder[1]
    found = posterior_mean(WARNER, Tally.of([30, 50]), prior, f)
    assert isinstance(found, ScalarEstimate)
    assert found.value == pytest.approx(float(expected))
    assert not found.unbiased
    assert found.target == "respondents"
    whole = posterior_mean(WARNER, Tally.of([30, 50]), prior, histogram=True)
    assert isinstance(whole, Estimate)
    assert whole.counts[0] == pytest.approx(float(expected))
    assert whole.standard_errors[0] * 80 == pytest.approx(found.standard_error)
    assert whole.deviation(np.array([[1.0, 1.0]])) == pytest.approx([0], abs=1e-6)
    assert "Bayes-optimal if the prior is right" in repr(whole)
    assert "biased" in repr(found)


def test_a_structured_mechanism_reads_as_its_matrix() -> None:
    grr = GeneralizedRandomizedResponse(4, 1)
    prior = Prior.from_counts([4, 3, 2, 1])
    reports = grr.privatize([0, 1, 2, 3] * 25, rng=6)
    one = posterior_mean(grr, reports, prior)
    two = posterior_mean(grr.dense(), Tally.of(grr.tally(reports).counts), prior)
    assert isinstance(one, ScalarEstimate)
    assert isinstance(two, ScalarEstimate)
    assert one.value == pytest.approx(two.value)
    assert one.simulated
