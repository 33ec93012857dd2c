"""Gaussian noise under approximate LIP and LDP: bounds on delta, and where a paper errs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

from mechdesign import GaussianMixture
from mechdesign.accounting import (
    GaussianMechanism,
    analytic_gaussian_delta,
    analytic_gaussian_deviation,
    least_deviation,
)
from mechdesign.accounting.crossings import least_noise

PEAKS = GaussianMixture([0.4, 0.6], [30, 60], [9, 15])
PARTS = [(0.4, 30, 9), (0.6, 60, 15)]
NORMAL = GaussianMixture.normal(0, 5)
FIGURE_8 = GaussianMechanism(NORMAL, [-10, 10], 10, truncated=False)
BINNED = GaussianMechanism(PEAKS, [0, 40, 80, 200], [60, 40, 120])


WIDTHS = {FIGURE_8: 1e-5, BINNED: 1e-4}


@cache
def bounds(mechanism: GaussianMechanism, epsilon: float) -> tuple[float, float]:
    return mechanism.delta(epsilon, WIDTHS[mechanism])


@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [(FIGURE_8, 1), (FIGURE_8, 2.5), (BINNED, 1)],
    ids=["one", "far", "binned"],
)
def test_no_input_has_a_larger_delta_and_some_input_has_it(
    mechanism: GaussianMechanism, epsilon: float
) -> None:
    low, high = bounds(mechanism, epsilon)
    assert 0 < low <= high <= low + 1.1 * WIDTHS[mechanism]
    rng = np.random.default_rng(3)
    inputs = [*rng.uniform(mechanism.edges[0], mechanism.edges[-1], 4), *mechanism.edges]
    # the bins are half open: at an edge the supremum counts the noise of either side
    inputs += [edge - 1e-9 for edge in mechanism.edges[1:]]
    found = [mechanism.delta_at(float(x), epsilon, 1e-7) for x in inputs]
    assert all(d.low <= high for d in found)
    assert max(d.high for d in found) >= low - 1e-4


@pytest.mark.parametrize("epsilon", [0, 1, 3])
def test_figure_8_by_the_closed_form_at_its_worst_input(epsilon: float) -> None:
    """E(f || g) and E(g || f) of f = N(x, s**2) and g = N(0, v**2), s < v, by Lemma 4."""
    x, s, v = 10, 10, math.sqrt(125)
    a, b = 1 / (2 * s * s) - 1 / (2 * v * v), -x / (s * s)
    gamma, found = math.exp(epsilon), []
    for sign in (1, -1):  # where ln f - ln g = sign * epsilon; f is above between the roots
        c = x * x / (2 * s * s) + math.log(s / v) + sign * epsilon
        root = math.sqrt(max(0.0, b * b - 4 * a * c))
        ends = np.array([-b - root, -b + root]) / (2 * a)
        near, far = np.diff(norm.cdf(ends, x, s))[0], np.diff(norm.cdf(ends, 0, v))[0]
        found.append(near - gamma * far if sign == 1 else (1 - far) - gamma * (1 - near))
    low, high = bounds(FIGURE_8, epsilon)
    assert low - 1e-10 <= max(found[0] / gamma, found[1]) <= high + 1e-10


def test_a_fine_discretization_has_the_same_delta_nearly() -> None:
    """Use 2,000 cells of reports and 400 inputs in floats, independent of the enclosures."""
    inputs = np.arange(0.25, 200, 0.5)
    noise = np.array([BINNED.deviation_at(x) for x in inputs])
    own = np.diff(norm.cdf(np.linspace(-700, 900, 2001), inputs[:, None], noise[:, None]), axis=1)
    weights = sum(w * norm.pdf(inputs, m, s) for w, m, s in PARTS)
    law = weights / weights.sum() @ own
    for epsilon in (1, 2.5):
        gamma = math.exp(epsilon)
        forward = np.maximum(own - gamma * law, 0).sum(axis=1) / gamma
        backward = np.maximum(law - gamma * own, 0).sum(axis=1)
        expected = max(forward.max(), backward.max())
        assert expected == pytest.approx(bounds(BINNED, epsilon)[1], rel=0.01)


def test_noise_that_depends_on_the_input_is_not_accounted_by_a_normal_law_of_reports() -> None:
    """Corollary 10 replaces the law of Y by N(mu, s_X**2 + s(x)**2), which depends on x.

    Here each bin is within delta by that formula, but the mechanism is not.
    """
    law, edges, delta = GaussianMixture.normal(0, 1), [-2, -1, 1, 2], 1e-3
    by_bin = [
        least_deviation(law, ends, 1, delta, truncated=False, relative=0.2).high
        for ends in ([-2, -1], [-1, 1])
    ]
    assert by_bin[1] < by_bin[0]  # less noise where inputs are likely, as in Fig. 9
    noises = [*by_bin, by_bin[0]]
    assert GaussianMechanism(law, edges, noises).delta(1, 1e-4).low > 2 * delta


def test_over_all_inputs_delta_is_as_large_as_it_can_be() -> None:
    """Theorem 5 takes the supremum over all x: with any noise it is 1."""
    assert GaussianMechanism(NORMAL, [-1000, 1000], 30, truncated=False).delta(1).low > 1 - 1e-9


def test_the_least_noise_is_private_and_less_is_not() -> None:
    delta = 1e-3
    low, high = least_deviation(NORMAL, [-10, 10], 1, delta, truncated=False, relative=0.05)
    assert high <= low * 1.1
    enough, less = (
        GaussianMechanism(NORMAL, [-10, 10], noise, truncated=False).delta(1, delta / 1e3)
        for noise in (high, low * 0.99)
    )
    assert enough.high <= delta * 1.001
    assert less.low > delta


def test_the_mean_error_is_that_of_the_noise() -> None:
    low, high = BINNED.expected_error()
    mass = [
        sum(w * (mpmath.ncdf(b, m, s) - mpmath.ncdf(a, m, s)) for w, m, s in PARTS)
        for a, b in ((0, 40), (40, 80), (80, 200))
    ]
    mean = sum(p * s for p, s in zip(mass, (60, 40, 120), strict=True)) / sum(mass)
    assert low <= mean * mpmath.sqrt(2 / mpmath.pi) <= high < low + 1e-9


@pytest.mark.parametrize("epsilon", ["0", "0.3", "1", "5"])
@pytest.mark.parametrize("ratio", [0.2, 1.0, 4.0])
def test_the_analytic_gaussian_by_high_precision(epsilon: str, ratio: float) -> None:
    with mpmath.workdps(40):
        e, r = mpmath.mpf(epsilon), mpmath.mpf(ratio)
        exact = mpmath.ncdf(1 / (2 * r) - e * r) - mpmath.exp(e) * mpmath.ncdf(-1 / (2 * r) - e * r)
        low, high = analytic_gaussian_delta(Fraction(epsilon), 7 * ratio, 7)
        assert low - 1e-15 <= exact <= high + 1e-15  # 7 * ratio is rounded
        assert high - low < 1e-11


def test_the_vanilla_bound_holds_below_one_and_not_everywhere() -> None:
    """Dwork and Roth 2014, Theorem A.1, for epsilon < 1; TIFS states it for every epsilon."""

    def vanilla(epsilon: float, deviation: float) -> float:
        return 1.25 * math.exp(-((epsilon * deviation) ** 2) / 2)

    for case in itertools.product([0.1, 0.5, 0.99], [0.5, 2.0, 5.0, 20.0]):
        assert analytic_gaussian_delta(*case, 1).low <= vanilla(*case)
    assert analytic_gaussian_delta(10, 0.169, 1).low > 2 * vanilla(10, 0.169)


def test_lip_needs_no_more_than_ldp() -> None:
    """(epsilon, delta)-LDP implies (epsilon, delta)-LIP: the law of Y is a mixture of the f_x."""
    deviation = analytic_gaussian_deviation(1, 1e-3, 20).high
    law = GaussianMixture.normal(9, 1)
    assert GaussianMechanism(law, [-10, 10], deviation).delta(1, 1e-5).high <= 1e-3


@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.4])
def test_the_analytic_deviation_is_proved_on_both_sides(delta: float) -> None:
    low, high = analytic_gaussian_deviation("0.7", delta, 3.0)
    assert analytic_gaussian_delta("0.7", high, 3.0).high <= delta
    assert analytic_gaussian_delta("0.7", low, 3.0).low > delta


@pytest.mark.parametrize("start", [0.25, 1.0, 1.5, 64.0])
@pytest.mark.parametrize("doubt", [0.0, 1e-12, 0.1, 0.6])
def test_no_bound_on_the_least_noise_is_a_guess(start: float, doubt: float) -> None:
    """The least noise is 1; claims near it are undecided."""

    def holds(noise: float) -> bool | None:
        return None if abs(noise - 1) < doubt else noise >= 1

    low, high = least_noise(holds, start, 1e-9)
    assert (holds(low), holds(high)) == (False, True)
    assert doubt or high - low <= 1e-9 * high
