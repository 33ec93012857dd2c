"""The Gaussian mechanism under approximate LIP: bounds on delta, and where a paper errs."""

from __future__ import annotations

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
from mechdesign.accounting.continuous.enclosures import FloatEnclosure
from mechdesign.errors import InputError, UnsupportedError

PEAKS = GaussianMixture([0.4, 0.6], [30, 60], [9, 15])
FIGURE_8 = GaussianMechanism(GaussianMixture.normal(0, 5), [-10, 10], 10, truncated=False)
BINNED = GaussianMechanism(PEAKS, [0, 40, 80, 200], [60, 40, 120])


@cache
def bounds(mechanism: GaussianMechanism, epsilon: float) -> tuple[float, float]:
    return mechanism.delta(epsilon, 1e-5)


def density(mechanism: GaussianMechanism, y: float) -> mpmath.mpf:
    """Return the density of Y by its definition: the mean of f_x(y) over X inside the interval."""
    law, edges = mechanism.law, mechanism.edges
    rows = zip(law.weights, law.means, law.deviations, strict=True)
    parts = [(float(w), float(m), float(s)) for w, m, s in rows]

    def own(x: mpmath.mpf) -> mpmath.mpf:
        return sum(w * mpmath.npdf(x, m, s) for w, m, s in parts)

    whole = mpmath.quad(own, list(edges))
    return sum(
        mpmath.quad(lambda x, s=s: own(x) * mpmath.npdf(y, x, s), [a, b]) / whole
        for a, b, s in zip(edges, edges[1:], mechanism.deviations, strict=False)
    )


# Delta over the interval.


@pytest.mark.parametrize("epsilon", [1, 2.5])
@pytest.mark.parametrize("mechanism", [FIGURE_8, BINNED], ids=["one", "binned"])
def test_no_input_has_a_larger_delta_and_some_input_has_it(
    mechanism: GaussianMechanism, epsilon: float
) -> None:
    low, high = bounds(mechanism, epsilon)
    assert 0 < low <= high <= low + 1.1e-5
    rng = np.random.default_rng(3)
    inputs = [*rng.uniform(mechanism.edges[0], mechanism.edges[-1], 12), *mechanism.edges]
    # the bins are half open: at an edge the supremum counts the noise of either side
    found = [mechanism.delta_at(float(x), epsilon, 1e-7) for x in inputs]
    assert all(d.low <= high for d in found)
    near = [edge - 1e-9 for edge in mechanism.edges[1:]]
    ends = [mechanism.delta_at(x, epsilon, 1e-7).high for x in near]
    assert max([*ends, *(d.high for d in found)]) >= low - 1e-4


def both_divergences(x: float, s: float, v: float, epsilon: float) -> tuple[float, float]:
    """Return E(f || g) and E(g || f) of f = N(x, s**2) and g = N(0, v**2), s < v, by Lemma 4."""
    a, b = 1 / (2 * s * s) - 1 / (2 * v * v), -x / (s * s)
    gamma, found = math.exp(epsilon), []
    for sign in (1, -1):  # where ln f - ln g = sign * epsilon; f is above between the roots
        c = x * x / (2 * s * s) + math.log(s / v) + sign * epsilon
        root = math.sqrt(max(0.0, b * b - 4 * a * c))
        ends = np.array([-b - root, -b + root]) / (2 * a)
        near, far = np.diff(norm.cdf(ends, x, s))[0], np.diff(norm.cdf(ends, 0, v))[0]
        found.append(near - gamma * far if sign == 1 else (1 - far) - gamma * (1 - near))
    return found[0], found[1]


@pytest.mark.parametrize("epsilon", [0, 1, 3])
def test_figure_8_by_the_closed_form_at_its_worst_input(epsilon: float) -> None:
    low, high = bounds(FIGURE_8, epsilon)
    forward, backward = both_divergences(10, 10, math.sqrt(125), epsilon)
    assert low - 1e-10 <= max(forward * math.exp(-epsilon), backward) <= high + 1e-10


def test_a_fine_discretization_has_the_same_delta_nearly() -> None:
    """Use 2,000 cells of reports and 400 inputs in floats, independent of the enclosures."""
    inputs = np.arange(0.25, 200, 0.5)
    noise = np.array([BINNED.deviation_at(x) for x in inputs])
    own = np.diff(norm.cdf(np.linspace(-700, 900, 2001), inputs[:, None], noise[:, None]), axis=1)
    weights = sum(
        float(w) * norm.pdf(inputs, float(m), float(s))
        for w, m, s in zip(PEAKS.weights, PEAKS.means, PEAKS.deviations, strict=True)
    )
    law = weights / weights.sum() @ own
    for epsilon in (1, 2.5):
        gamma = math.exp(epsilon)
        forward = np.maximum(own - gamma * law, 0).sum(axis=1) / gamma
        backward = np.maximum(law - gamma * own, 0).sum(axis=1)
        assert max(forward.max(), backward.max()) == pytest.approx(
            bounds(BINNED, epsilon)[1], rel=0.01
        )


def test_the_law_of_reports_is_the_true_mixture() -> None:
    for y in (-20.0, 55.0, 150.0):
        found = BINNED.output_law.density(FloatEnclosure.of([y]))
        exact = density(BINNED, y)
        assert found.low[0] * (1 - 1e-12) <= exact <= found.high[0] * (1 + 1e-12)


def test_noise_that_depends_on_the_input_is_not_accounted_by_a_normal_law_of_reports() -> None:
    """Corollary 10 replaces the law of Y by N(mu, s_X**2 + s(x)**2), which depends on x.

    Here each bin is within delta by that formula, but the mechanism is not.
    """
    law, edges, epsilon, delta = GaussianMixture.normal(0, 1), [-2, -1, 1, 2], 1, 1e-3
    by_bin = []
    for start, end in ((-2, -1), (-1, 1), (1, 2)):
        found = least_deviation(law, [start, end], epsilon, delta, truncated=False, relative=1e-3)
        by_bin.append(found.high)
    assert by_bin[1] < by_bin[0]  # less noise where inputs are likely, as in Fig. 9
    assert GaussianMechanism(law, edges, by_bin).delta(epsilon, 1e-5).low > 2 * delta


@pytest.mark.parametrize("deviation", [30])
def test_over_all_inputs_delta_is_as_large_as_it_can_be(deviation: float) -> None:
    """Theorem 5 takes the supremum over all x: with any noise it is 1."""
    law = GaussianMixture.normal(0, 5)
    far = GaussianMechanism(law, [-1000, 1000], deviation, truncated=False)
    assert far.delta(1).low > 1 - 1e-9


def test_the_law_of_reports_has_more_on_a_set_than_the_input_gives_it() -> None:
    """Which of the two divergences decides: E(g || f_x) here, so Theorem 5 is Definition 5.

    Theorem 5 has no factor e**-epsilon in front of E(f_x || g), so it requires more if that
    divergence is the larger one.
    """
    for x, s, epsilon in ((0, 0.5, 0.5), (3, 1, 1), (10, 10, 2)):
        forward, backward = both_divergences(x, s, math.sqrt(s * s + 1), epsilon)
        assert forward < backward


# Both halves.


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-3)])
def test_the_least_noise_is_private_and_less_is_not(epsilon: float, delta: float) -> None:
    law = GaussianMixture.normal(0, 5)
    low, high = least_deviation(law, [-10, 10], epsilon, delta, truncated=False)
    assert high <= low * 1.0002
    assert (
        GaussianMechanism(law, [-10, 10], high, truncated=False).delta(epsilon, delta / 1e3).high
        <= delta * 1.001
    )
    assert (
        GaussianMechanism(law, [-10, 10], low * 0.99, truncated=False)
        .delta(epsilon, delta / 1e3)
        .low
        > delta
    )


def test_more_noise_and_a_larger_epsilon_have_a_smaller_delta() -> None:
    law = GaussianMixture.normal(0, 5)
    made = [GaussianMechanism(law, [-10, 10], s, truncated=False) for s in (5, 10, 20)]
    deltas = [m.delta(1).high for m in made]
    assert deltas == sorted(deltas, reverse=True)
    deltas = [bounds(FIGURE_8, e)[1] for e in (0, 1, 2.5, 3)]
    assert deltas == sorted(deltas, reverse=True)


def test_the_mean_error_is_that_of_the_noise() -> None:
    found = BINNED.expected_error()
    parts = [
        (float(w), float(m), float(s))
        for w, m, s in zip(PEAKS.weights, PEAKS.means, PEAKS.deviations, strict=True)
    ]
    mass = [
        sum(w * (mpmath.ncdf(b, m, s) - mpmath.ncdf(a, m, s)) for w, m, s in parts)
        for a, b in ((0, 40), (40, 80), (80, 200))
    ]
    mean = sum(p * s for p, s in zip(mass, (60, 40, 120), strict=True)) / sum(mass)
    assert found.low <= mean * mpmath.sqrt(2 / mpmath.pi) <= found.high
    assert found.high - found.low < 1e-9


# The mechanisms under LDP.


@pytest.mark.parametrize("epsilon", ["0", "0.3", "1", "5"])
@pytest.mark.parametrize("ratio", [0.2, 1.0, 4.0])
def test_the_analytic_gaussian_by_high_precision(epsilon: str, ratio: float) -> None:
    with mpmath.workdps(40):
        e, r = mpmath.mpf(epsilon), mpmath.mpf(ratio)
        exact = mpmath.ncdf(1 / (2 * r) - e * r) - mpmath.exp(e) * mpmath.ncdf(-1 / (2 * r) - e * r)
        low, high = analytic_gaussian_delta(Fraction(epsilon), 7 * ratio, 7)
        assert low - 1e-15 <= exact <= high + 1e-15  # 7 * ratio is rounded
        assert high - low < 1e-11


def vanilla(epsilon: float, deviation: float, sensitivity: float) -> float:
    """Dwork and Roth 2014, Theorem A.1, for epsilon < 1; TIFS states it for every epsilon."""
    return 1.25 * math.exp(-((epsilon * deviation / sensitivity) ** 2) / 2)


def test_the_vanilla_bound_holds_below_one_and_not_everywhere() -> None:
    for epsilon in (0.1, 0.5, 0.99):
        for deviation in (0.5, 2.0, 5.0, 20.0):
            exact = analytic_gaussian_delta(epsilon, deviation, 1)
            assert exact.low <= vanilla(epsilon, deviation, 1)
    assert analytic_gaussian_delta(10, 1.69, 10).low > 2 * vanilla(10, 1.69, 10)
    for epsilon, delta in ((0.5, 1e-5), (0.9, 1e-2)):
        noise = analytic_gaussian_deviation(epsilon, delta, 3).high
        assert vanilla(epsilon, noise, 3) > delta


def test_lip_needs_no_more_than_ldp() -> None:
    """(epsilon, delta)-LDP implies (epsilon, delta)-LIP: the law of Y is a mixture of the f_x."""
    deviation = analytic_gaussian_deviation(1, 1e-3, 20).high
    for law in (GaussianMixture.normal(0, 5), GaussianMixture.normal(9, 1)):
        assert GaussianMechanism(law, [-10, 10], deviation).delta(1, 1e-5).high <= 1e-3


# Bad input.


@pytest.mark.parametrize(
    ("call", "key"),
    [
        (lambda: GaussianMixture([1.5, -0.5], [0, 1], [1, 1]), "weights"),
        (lambda: GaussianMixture([1], [0, 1], [1]), "mixture"),
        (lambda: GaussianMixture([1], [math.nan], [1]), "means"),
        (lambda: GaussianMixture([1], [0], [0]), "deviations"),
        (lambda: GaussianMechanism(PEAKS, [0, 0], 1), "edges"),
        (lambda: GaussianMechanism(PEAKS, [5], 1), "edges"),
        (lambda: GaussianMechanism(PEAKS, [0, math.inf], 1), "edges"),
        (lambda: GaussianMechanism(PEAKS, [1e6, 2e6], 1), "edges"),
        (lambda: GaussianMechanism(PEAKS, [0, 100], 0), "deviations"),
        (lambda: GaussianMechanism(PEAKS, [0, 100], -1), "deviations"),
        (lambda: GaussianMechanism(PEAKS, [0, 100], math.nan), "deviations"),
        (lambda: GaussianMechanism(PEAKS, [0, 50, 100], [1]), "deviations"),
        (lambda: GaussianMechanism(PEAKS, [0, 50, 100], [1, 2], truncated=False), "truncated"),
        (lambda: GaussianMechanism("normal", [0, 100], 1), "law"),
        (lambda: FIGURE_8.delta(-1), "epsilon"),
        (lambda: FIGURE_8.delta(math.nan), "epsilon"),
        (lambda: FIGURE_8.delta(1000), "epsilon"),
        (lambda: FIGURE_8.delta(1, width=0), "width"),
        (lambda: FIGURE_8.delta_at(11, 1), "x"),
        (lambda: least_deviation(PEAKS, [0, 100], 1, 1), "delta"),
        (lambda: least_deviation(PEAKS, [0, 100], 1, 0), "delta"),
        (lambda: analytic_gaussian_delta(1, 0, 1), "deviation"),
        (lambda: analytic_gaussian_deviation(1, 2, 1), "delta"),
    ],
)
def test_bad_input_gets_a_line(call: object, key: str) -> None:
    with pytest.raises(InputError, match=key) as caught:
        call()  # type: ignore[operator]
    assert "\n" not in str(caught.value)


def test_noise_too_small_for_its_cells_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="deviations"):
        GaussianMechanism(PEAKS, [0, 1e6], 0.01).delta(1)
