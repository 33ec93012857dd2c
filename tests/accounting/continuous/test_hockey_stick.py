"""Hockey-stick divergences against closed forms and quadrature at high precision."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from mechdesign.accounting.continuous.enclosures import FloatEnclosure
from mechdesign.accounting.continuous.hockey_stick import BinnedNormals, Normals, hockey_stick
from mechdesign.exact.enclosures import exponential
from tests.strategies import examples

Part = tuple[float, float, float]


def grown(epsilon: Fraction | str | float) -> FloatEnclosure:
    return FloatEnclosure.of(exponential(Fraction(epsilon)))


def normals(*parts: Part) -> Normals:
    return Normals(*(FloatEnclosure.of(column) for column in zip(*parts, strict=True)))


def density(parts: list[Part], y: Any) -> Any:
    return sum(w * mpmath.npdf(y, m, s) for w, m, s in parts)


@examples(12)
@given(
    st.floats(-3, 3), st.floats(0.3, 3), st.floats(-3, 3), st.floats(0.3, 3), st.floats(0.0, 3.0)
)
def test_two_normal_laws_by_lemma_4(
    m1: float, s1: float, m2: float, s2: float, epsilon: float
) -> None:
    """TIFS, Lemma 4: the densities cross at the roots of a quadratic equation."""
    assume(abs(m1 - m2) + abs(s1 - s2) > 0.1)
    a = 1 / (2 * s2**2) - 1 / (2 * s1**2)
    b = m1 / s1**2 - m2 / s2**2
    c = m2**2 / (2 * s2**2) - m1**2 / (2 * s1**2) + math.log(s2 / s1) - epsilon
    ends = sorted(np.roots([a, b, c]).real) if b * b > 4 * a * c else []  # where f = gamma g
    exact = 0.0
    for low, high in itertools.pairwise([-math.inf, *ends, math.inf]):
        own, other = (
            float(mpmath.ncdf(high, m, s) - mpmath.ncdf(low, m, s)) for m, s in ((m1, s1), (m2, s2))
        )
        exact += max(0.0, own - math.exp(epsilon) * other)
    laws = normals((1, m1, s1)), normals((1, m2, s2))
    low, high = hockey_stick(*laws, grown(epsilon), 1e-9).ends
    assert low - 1e-12 <= exact <= high + 1e-12
    assert high - low <= 1.1e-9


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_mixtures_by_quadrature(epsilon: str) -> None:
    f, g = [(1.0, 1.5, 0.7)], [(0.3, -2.0, 1.5), (0.6, 2.0, 0.9), (0.1, 4.0, 3.0)]
    grid = np.linspace(-15, 15, 2001).tolist()
    with mpmath.workdps(30):
        gamma = mpmath.exp(mpmath.mpf(epsilon))
        for one, two in ((f, g), (g, f)):

            def gain(y: Any, one: list[Part] = one, two: list[Part] = two) -> Any:
                return density(one, y) - gamma * density(two, y)

            signs = [mpmath.sign(gain(mpmath.mpf(y))) for y in grid]
            roots = [
                mpmath.findroot(gain, ends, solver="anderson", tol=1e-50)
                for ends, a, b in zip(itertools.pairwise(grid), signs, signs[1:], strict=False)
                if a * b < 0
            ]
            exact = mpmath.quad(lambda y, gain=gain: max(0, gain(y)), [-40, *roots, 40])
            found = hockey_stick(normals(*one), normals(*two), grown(epsilon), 1e-11)
            assert found.low <= exact <= found.high <= found.low + 2e-11


BINS, NOISES = np.array([0.0, 2.0, 3.0, 6.0]), np.array([1.5, 1.0, 2.0])
PARTS: list[Part] = [(0.4, 1.0, 0.8), (0.6, 4.0, 1.5)]


def binned() -> BinnedNormals:
    columns = (FloatEnclosure.of(np.repeat(c, 3)) for c in zip(*PARTS, strict=True))
    return BinnedNormals(*columns, np.tile(BINS[:-1], 2), np.tile(BINS[1:], 2), np.tile(NOISES, 2))


def smeared(y: Any) -> Any:
    """Return the density of X + s(X) N by its definition."""
    return sum(
        mpmath.quad(lambda x, s=s: density(PARTS, x) * mpmath.npdf(y, x, s), [a, b])
        for a, b, s in zip(BINS[:-1], BINS[1:], NOISES, strict=True)
    )


@pytest.mark.slow
def test_noise_that_depends_on_the_input_has_the_mass_of_its_definition() -> None:
    mass, exact = binned().mass(np.array([1.0]), np.array([2.5])), mpmath.quad(smeared, [1, 2.5])
    assert mass.low[0] <= exact <= mass.high[0] <= mass.low[0] + 1e-6


def test_noise_that_depends_on_the_input_has_the_density_of_its_definition() -> None:
    points = [-3.0, 2.0, 9.0]
    found = binned().density(FloatEnclosure.of(points))
    for y, low, high in zip(points, found.low, found.high, strict=True):
        exact = smeared(y)
        assert low * (1 - 1e-13) <= exact <= high * (1 + 1e-13)
        assert high - low <= 1e-10 * exact


@pytest.mark.parametrize(
    "law", [binned(), normals(*PARTS), normals((1.0, 3.0, 0.4))], ids=["binned", "mixture", "one"]
)
def test_ranges_hold_all_densities_inside_and_masses_add_up(law: Any) -> None:
    rng = np.random.default_rng(1)
    starts = rng.uniform(-6, 12, 200)
    ends = starts + rng.uniform(0, 1, 200) ** 3
    cells = law.density(FloatEnclosure(starts, ends))
    inside = law.density(FloatEnclosure.of(starts + rng.uniform(0, 1, 200) * (ends - starts)))
    assert (cells.low <= inside.high).all()
    assert (inside.low <= cells.high).all()
    cuts = np.array([-np.inf, -1.0, 0.3, 0.31, 2.2, 7.0, np.inf])
    parts, once = law.mass(cuts[:-1], cuts[1:]).sum(), law.mass(cuts[:1], cuts[-1:])
    assert parts.low <= once.high[0]
    assert once.low[0] <= parts.high


def test_equal_laws_have_no_divergence_and_distant_ones_all_of_it() -> None:
    near = hockey_stick(normals(*PARTS), normals(*PARTS), grown(0), 1e-6)
    assert near.low == 0
    assert near.high < 2e-3
    far = hockey_stick(normals((1.0, 0.0, 1.0)), normals((1.0, 100.0, 1.0)), grown(0), 1e-6)
    assert far.low == pytest.approx(1, abs=1e-12)
