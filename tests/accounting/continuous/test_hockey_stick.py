"""Hockey-stick divergences against closed forms and quadrature at high precision."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from mechdesign.accounting.continuous.enclosures import FloatEnclosure
from mechdesign.accounting.continuous.hockey_stick import hockey_stick
from mechdesign.accounting.continuous.normal_laws import BinnedNormals, Law, Normals
from mechdesign.exact.enclosures import exponential


def grown(epsilon: Fraction) -> FloatEnclosure:
    return FloatEnclosure.of(exponential(epsilon))


def normals(*parts: tuple[float, float, float]) -> Normals:
    return Normals(*(FloatEnclosure.of(column) for column in zip(*parts, strict=True)))


def density(parts: list[tuple[float, float, float]], y: object) -> object:
    return sum(w * mpmath.npdf(y, m, s) for w, m, s in parts)


def roots(f: object, low: float, high: float) -> list[object]:
    """Return the sign changes of a function on a fine grid, to thirty digits."""
    grid = np.linspace(low, high, 2001).tolist()
    signs = [mpmath.sign(f(mpmath.mpf(y))) for y in grid]
    return [
        mpmath.findroot(f, (grid[n], grid[n + 1]), solver="anderson", tol=1e-50)
        for n in range(2000)
        if signs[n] * signs[n + 1] < 0
    ]


@settings(max_examples=25, deadline=None)
@given(
    st.floats(-3, 3), st.floats(0.3, 3), st.floats(-3, 3), st.floats(0.3, 3), st.floats(0.0, 3.0)
)
def test_two_normal_laws_by_lemma_4(
    m1: float, s1: float, m2: float, s2: float, epsilon: float
) -> None:
    """TIFS, Lemma 4: the densities cross at the roots of a quadratic equation."""
    assume(abs(m1 - m2) + abs(s1 - s2) > 0.1)
    gamma = math.exp(epsilon)
    a = 1 / (2 * s2**2) - 1 / (2 * s1**2)
    b = m1 / s1**2 - m2 / s2**2
    c = m2**2 / (2 * s2**2) - m1**2 / (2 * s1**2) + math.log(s2 / s1) - epsilon
    ends = sorted(np.roots([a, b, c]).real) if b * b > 4 * a * c else []  # where f = gamma g
    marks = [-math.inf, *ends, math.inf]
    exact = 0.0
    for low, high in itertools.pairwise(marks):
        own, other = (
            float(mpmath.ncdf(high, m, s) - mpmath.ncdf(low, m, s)) for m, s in ((m1, s1), (m2, s2))
        )
        exact += max(0.0, own - gamma * other)
    found = hockey_stick(
        normals((1, m1, s1)), normals((1, m2, s2)), grown(Fraction(epsilon)), 1e-9
    ).ends
    assert found[0] - 1e-12 <= exact <= found[1] + 1e-12
    assert found[1] - found[0] <= 1.1e-9


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_mixtures_by_quadrature(epsilon: str) -> None:
    f, g = [(1.0, 1.5, 0.7)], [(0.3, -2.0, 1.5), (0.6, 2.0, 0.9), (0.1, 4.0, 3.0)]
    with mpmath.workdps(30):
        gamma = mpmath.exp(mpmath.mpf(epsilon))
        for one, two in ((f, g), (g, f)):

            def gain(y: object, one: list = one, two: list = two) -> object:
                return density(one, y) - gamma * density(two, y)

            cuts = [-40, *roots(gain, -15, 15), 40]
            exact = mpmath.quad(lambda y, gain=gain: max(0, gain(y)), cuts)
            found = hockey_stick(normals(*one), normals(*two), grown(Fraction(epsilon)), 1e-11)
            assert found.low <= exact <= found.high
            assert (found.high - found.low) <= 2e-11


BINS, NOISES = np.array([0.0, 2.0, 3.0, 6.0]), np.array([1.5, 1.0, 2.0])
PARTS = [(0.4, 1.0, 0.8), (0.6, 4.0, 1.5)]


def binned() -> BinnedNormals:
    weights, means, deviations = (
        FloatEnclosure.of(np.repeat(column, 3)) for column in zip(*PARTS, strict=True)
    )
    return BinnedNormals(
        weights, means, deviations, np.tile(BINS[:-1], 2), np.tile(BINS[1:], 2), np.tile(NOISES, 2)
    )


def smeared(y: object) -> object:
    """Return the density of X + s(X) N by its definition."""
    return sum(
        mpmath.quad(lambda x, s=s: density(PARTS, x) * mpmath.npdf(y, x, s), [a, b])
        for a, b, s in zip(BINS[:-1], BINS[1:], NOISES, strict=True)
    )


@pytest.mark.slow
def test_noise_that_depends_on_the_input_has_the_law_of_its_definition() -> None:
    law = binned()
    points = np.array([-3.0, 2.0, 9.0])
    found = law.density(FloatEnclosure.of(points))
    for n, y in enumerate(points.tolist()):
        exact = smeared(y)
        assert found.low[n] <= exact * (1 + 1e-13)
        assert exact * (1 - 1e-13) <= found.high[n]
        assert (found.high - found.low)[n] <= 1e-10 * exact
    mass = law.mass(np.array([1.0]), np.array([2.5]))
    exact = mpmath.quad(smeared, [1, 2.5])
    assert mass.low[0] <= exact <= mass.high[0]
    assert (mass.high - mass.low)[0] <= 1e-6


def test_ranges_over_cells_hold_all_densities_inside() -> None:
    rng = np.random.default_rng(1)
    for law in (binned(), normals(*PARTS), normals((1.0, 3.0, 0.4))):
        starts = rng.uniform(-6, 12, 200)
        ends = starts + rng.uniform(0, 1, 200) ** 3
        cells = law.density(FloatEnclosure(starts, ends))
        inside = law.density(FloatEnclosure.of(starts + rng.uniform(0, 1, 200) * (ends - starts)))
        assert (cells.low <= inside.high).all()
        assert (inside.low <= cells.high).all()


def test_masses_add_up() -> None:
    cuts = np.array([-np.inf, -1.0, 0.3, 0.31, 2.2, 7.0, np.inf])
    whole: Law
    for whole in (binned(), normals(*PARTS)):
        parts = whole.mass(cuts[:-1], cuts[1:]).sum()
        once = whole.mass(cuts[:1], cuts[-1:])
        assert parts.low <= once.high[0]
        assert once.low[0] <= parts.high
    assert normals(*PARTS).mass(cuts[:1], cuts[-1:]).low[0] == pytest.approx(1)


def test_equal_laws_have_no_divergence_and_distant_ones_all_of_it() -> None:
    one = grown(Fraction(0))
    near = hockey_stick(normals(*PARTS), normals(*PARTS), one, 1e-6)
    assert near.low == 0
    assert near.high < 2e-3
    far = hockey_stick(normals((1.0, 0.0, 1.0)), normals((1.0, 100.0, 1.0)), one, 1e-6)
    assert far.low == pytest.approx(1, abs=1e-12)
