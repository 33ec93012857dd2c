"""Readings are unbiased with no rounding, and of all such they have the least variance."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from hypothesis import example, given, strategies as st

import mechdesign as md
from mechdesign import LDP, Channel, Domain, InputError, Prior, Problem, UnbiasedVariance
from mechdesign.utilities.unbiased_variance import exact_readings
from tests.strategies import examples

PRIOR = Prior(["0.2", "0.5", "0.3"])
PARTS = [[1, 4, 4, 5], [1, 4, 3, 2], [5, 1, 3, 1]]
FOUR = Channel.from_matrix([[n / Fraction(sum(row)) for n in row] for row in PARTS])
"""Of the readings that are best for its three inputs, one by one, none is best for the worst."""


def bias(channel: Channel, values: list[Fraction], readings: tuple[Fraction, ...]) -> set[Fraction]:
    """Bias of the readings."""
    rows = channel.numerators.tolist()
    means = [sum(n * v for n, v in zip(row, readings, strict=True)) for row in rows]
    return {m / channel.denominator - f for m, f in zip(means, values, strict=True)}


@st.composite
def channels(draw: st.DrawFn) -> Channel:
    """Channels of three inputs with up to six outputs, rows near each other or not."""
    m = draw(st.integers(3, 6))
    part = st.integers(1, draw(st.sampled_from([5, 10**6])))
    rows = [draw(st.lists(part, min_size=m, max_size=m)) for _ in range(3)]
    return Channel.from_matrix([[Fraction(v, sum(row)) for v in row] for row in rows])


@examples(20)
@given(channels(), st.lists(st.fractions(-9, 9), min_size=3, max_size=3), st.booleans())
def test_readings_have_no_bias_at_all(
    channel: Channel, values: list[Fraction], worst: bool
) -> None:
    utility = UnbiasedVariance(values, worst)
    try:
        readings = utility.decoder(channel, PRIOR)
    except InputError:
        rows = channel.matrix
        assert np.linalg.matrix_rank(rows) < 3
        return
    assert bias(channel, values, readings) == {0}
    rows = zip(channel.numerators.tolist(), values, strict=True)
    seconds = [
        sum(q * v * v for q, v in zip(row, readings, strict=True)) / channel.denominator - f * f
        for row, f in rows
    ]
    variance = max(seconds) if worst else PRIOR.mean(seconds)
    assert utility.value(channel, PRIOR) == variance


@examples(10)
@given(channels(), st.booleans(), st.integers(0, 99))
@example(FOUR, True, 0)
def test_no_other_unbiased_readings_have_less_variance(
    channel: Channel, worst: bool, seed: int
) -> None:
    """Others differ by what all rows average to 0: the variance is convex in it."""
    Q, f, rng = channel.matrix, np.array([0.0, 1.0, 5.0]), np.random.default_rng(seed)
    other = scipy.linalg.null_space(Q)
    if np.linalg.svd(Q, compute_uv=False)[-1] < 1e-2 or not other.size:
        return
    utility = UnbiasedVariance([0, 1, 5], worst)
    v = np.array([float(r) for r in utility.decoder(channel, PRIOR)])
    least = float(utility.value(channel, PRIOR))
    for size in (1e-3, -1e-3, 0.1, -0.1, 3.0, -3.0):
        w = v + size * other @ rng.standard_normal(other.shape[1])
        assert np.allclose(Q @ w, f, atol=1e-8 * np.abs(w).max())
        each = Q @ w**2 - f**2
        assert (each.max() if worst else PRIOR.array @ each) >= least * (1 - 1e-8)


def test_it_is_the_gls_variance() -> None:
    """f' M**-1 f less the second moment of f, with M = Sum q q' / (p . q)."""
    channel = Channel.from_matrix(
        [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/8", "1/8", "3/4"]]
    )
    p, Q, f = PRIOR.array, channel.matrix, np.array([1.0, 2.0, 4.0])
    M = (Q / (p @ Q)) @ Q.T
    expected = f @ np.linalg.solve(M, f) - p @ f**2
    assert float(UnbiasedVariance([1, 2, 4]).value(channel, PRIOR)) == pytest.approx(expected)


def test_two_outputs_for_three_inputs() -> None:
    """Duchi's two-valued mechanism has dependent rows, and reads a line exactly."""
    channel = Channel.from_matrix(
        [["3/4", "1/4"], ["1/2", "1/2"], ["1/4", "3/4"]], inputs=[-1, 0, 1]
    )
    for worst in (False, True):
        utility = UnbiasedVariance(worst_case=worst)
        assert utility.decoder(channel, PRIOR) == (-2, 2)
    assert UnbiasedVariance(worst_case=True).value(channel, PRIOR) == 4
    assert UnbiasedVariance().value(channel, PRIOR) == 4 - Fraction(1, 2)
    with pytest.raises(InputError, match="no unbiased reading of f"):
        UnbiasedVariance([-1, 0, 2]).value(channel, PRIOR)


def test_outputs_that_never_occur() -> None:
    channel = Channel.from_matrix([["3/4", 0, "1/4"], ["1/4", 0, "3/4"]])
    found = UnbiasedVariance([0, 1]).decoder(channel, Prior.uniform(2))
    assert (found[0], found[2]) == (Fraction(-1, 2), Fraction(3, 2))


def test_any_guess_is_corrected() -> None:
    channel = Channel.from_matrix([["2/3", "1/3"], ["1/3", "2/3"]])
    values = [Fraction(1, 3), Fraction(2)]
    for guess in ([0.0, 0.0], [1e6, -1e6], [1e-9, 3.0]):
        assert bias(channel, values, exact_readings(channel, values, np.array(guess))) == {0}


def test_values_by_label_and_the_table() -> None:
    domain = Domain(["low", "high"])
    utility = UnbiasedVariance({"high": 3, "low": "1/2"}, worst_case=True)
    assert repr(utility) == "UnbiasedVariance(values={'high': '3', 'low': '0.5'}, worst_case=True)"
    aligned = utility.aligned(domain, None)
    assert aligned.values(domain) == (Fraction(1, 2), Fraction(3))
    assert aligned.to_table(domain) == {
        "objective": "unbiased-variance",
        "worst_case": True,
        "values": ["0.5", "3"],
    }
    assert repr(UnbiasedVariance()) == "UnbiasedVariance()"


@pytest.mark.parametrize("kind", [UnbiasedVariance, md.L2Risk, md.TVRisk])
def test_a_mean_needs_a_positive_prior_and_a_worst_case_does_not(kind: Any) -> None:
    prior = [0, 1]
    with pytest.raises(InputError, match="prior: an input has probability 0, which the mean of"):
        Problem(2, LDP(1), kind(), prior=prior)
    assert Problem(2, LDP(1), kind(worst_case=True), prior=prior).utility.worst_case
