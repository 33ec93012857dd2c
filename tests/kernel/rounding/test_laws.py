"""Laws of a number: what is enclosed holds the integral, by quadrature of many digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from mechdesign.errors import CertificateError
from mechdesign.exact.enclosures import Enclosure
from mechdesign.kernel.rounding.laws import (
    Beta,
    Exponential,
    Histogram,
    Laplace,
    Lognormal,
    Mixture,
    Normal,
    NumberLaw,
    Products,
    Rectangles,
    Uniform,
)

F = Fraction
mp = mpmath.mp.clone()
mp.dps = 30

Density = Callable[[Any], Any]


def number(x: Fraction) -> Any:
    return mp.mpf(x.numerator) / x.denominator


LAWS: list[tuple[NumberLaw, Density, tuple[Any, Any]]] = [
    (Normal(), mp.npdf, (-mp.inf, mp.inf)),
    (Uniform(), lambda t: t**0, (0, 1)),
    (Exponential(), lambda t: mp.exp(-t), (0, mp.inf)),
    (Laplace(), lambda t: mp.exp(-abs(t)) / 2, (-mp.inf, mp.inf)),
    (Lognormal(shape=F(1, 2)), lambda t: mp.npdf(2 * mp.log(t)) * 2 / t, (0, mp.inf)),
    (Beta(a=F(5, 2), b=F(3)), lambda t: mp.power(t, 1.5) * (1 - t) ** 2, (0, 1)),
    (Beta(), lambda _: mp.mpf(1), (0, 1)),
    (Beta(a=F(3, 2), b=F(20)), lambda t: (1 - t) ** 19 * mp.sqrt(t), (0, 1)),
]


@pytest.mark.parametrize(("law", "density", "support"), LAWS, ids=lambda v: getattr(v, "kind", ""))
def test_the_integrals_below_a_position_are_enclosed(
    law: Any, density: Density, support: tuple[Any, Any]
) -> None:
    location, scale = F(-7, 3), F(5, 4)
    moved = type(law)(**{**law.__dict__, "location": location, "scale": scale})
    moved.check()
    low, high = support
    middle = [v for v in (-2, 0, 0.2, 0.7, 2, 8) if low < v < high]
    whole = mp.quad(density, [low, *middle, high])
    for t in (F(-3), F(0), F(1, 7), F(9, 10), F(20)):
        top = min(max(number(t), low), high)
        cuts = sorted({v for v in middle if v < top} | {low, top})
        for k, found in enumerate(map(Enclosure.of, moved.below(location + scale * t))):
            true = mp.mpf(0)
            if top > low:
                true = mp.quad(
                    lambda s, k=k: density(s) * (number(location) + number(scale) * s) ** k, cuts
                )
            assert number(found.low) - mp.mpf("1e-20") <= true / whole
            assert true / whole <= number(found.high) + mp.mpf("1e-20")
            assert found.high - found.low < F(1, 10**30)
    assert moved.below(-math.inf) == (0, 0, 0)
    whole, far = moved.below(math.inf), moved.below(location + 10**9 * scale)
    ends = (map(Enclosure.of, pair) for pair in zip(whole, far, strict=True))
    assert all(abs(a.low - b.low) < F(1, 10**30) for a, b in ends)


def test_bins_and_mixtures_are_sums_of_their_parts() -> None:
    bins = Histogram((F(0), F(1), F(3)), (F(1, 4), F(3, 4)))
    parts = Mixture((F(1, 4), F(3, 4)), (Uniform(), Uniform(F(1), F(2))))
    for x in (F(-1), F(1, 3), F(1), F(2), F(9), math.inf, -math.inf):
        assert bins.below(x) == parts.below(x)
    third = Histogram((F(0), F(1, 3)), (F(1),)).below(F(1, 7))
    assert third == (F(3, 7), F(3, 98), F(1, 343))


@pytest.mark.parametrize(
    "law",
    [
        Normal(scale=F(0)),
        Beta(a=F(0)),
        Beta(b=F(-1)),
        Lognormal(shape=F(0)),
        Lognormal(shape=F(17)),
        Histogram((F(0), F(0)), (F(1),)),
        Histogram((F(0), F(1)), (F(1, 2),)),
        Histogram((F(0), F(1)), (F(1, 2), F(1, 2))),
        Mixture((F(1),), (Normal(), Normal())),
        Mixture((F(1),), (Normal(scale=F(-1)),)),
    ],
)
def test_parameters_of_no_law_are_refused(law: NumberLaw) -> None:
    with pytest.raises(CertificateError):
        law.check()


AXIS = (F(0), F(1, 4), F(1, 3), F(1))


def quadrature(density: Density, low: Fraction, high: Fraction) -> list[Any]:
    a, b = number(low), number(high)

    def basis(x: Any) -> list[Any]:
        s = (x - a) / (b - a)
        return [(1 - s) ** 2, s * (1 - s), s * s]

    return [mp.quad(lambda x, k=k: density(x) * basis(x)[k], [a, b]) for k in range(3)]


def test_the_moments_of_cells_are_within_the_stated_error() -> None:
    law, density = Normal(F(2, 5), F(1, 5)), lambda x: mp.npdf(x, mp.mpf("0.4"), mp.mpf("0.2"))
    found = law.moments((AXIS,), ((F(0), F(1)),))
    found.check(1)
    whole = mp.quad(density, [0, 0.5, 1])
    off = mp.mpf(0)
    for n, row in enumerate(found.cells):
        true = quadrature(density, AXIS[n], AXIS[n + 1])
        off += sum(abs(number(a) - b / whole) for a, b in zip(row, true, strict=True))
    assert 0 < off <= number(found.error) < mp.mpf("1e-28")
    assert not any(map(any, found.tails))


def test_a_law_needs_a_mass_on_the_interval() -> None:
    """Of the uniform law from 0 to 1e11 a share of 1e-11 is below 1."""
    ends = (F(0), F(1))
    (cell,) = Uniform(F(0), F(10**11)).moments((ends,), (ends,)).cells
    assert [*cell] == [F(1, 3), F(1, 6), F(1, 3)]
    with pytest.raises(CertificateError, match="a mass of less than 1e-12"):
        Uniform(F(0), F(10**13)).moments((ends,), (ends,))


def test_a_cell_around_0_has_its_mass() -> None:
    ends = (F(-1), F(1))
    (cell,) = Uniform(F(-1), F(2)).moments((ends,), (ends,)).cells
    assert [*cell] == [F(1, 3), F(1, 6), F(1, 3)]


def test_the_moments_beyond_the_nodes_are_those_of_the_distance() -> None:
    law, density = Normal(F(2, 5), F(1, 5)), lambda x: mp.npdf(x, mp.mpf("0.4"), mp.mpf("0.2"))
    found = law.moments((AXIS,), ((-math.inf, math.inf),))
    found.check(1)
    for row, node, sign in ((found.tails[0], 0, -1), (found.tails[1], 1, 1)):
        for k, part in enumerate(row):
            ends = [node, node + sign, node + 5 * sign]
            true = mp.quad(lambda x, k=k, node=node: density(x) * abs(x - node) ** k, ends) * sign
            assert abs(number(part) - true) < mp.mpf("1e-28")


def test_the_moments_of_a_box_are_products() -> None:
    first, second = Uniform(F(0), F(1)), Beta(a=F(2), b=F(3))
    box, axes = ((F(0), F(1)), (F(0), F(1))), (AXIS, (F(0), F(1, 2), F(1)))
    one = first.moments(axes[:1], box[:1]).cells
    two = second.moments(axes[1:], box[1:]).cells
    found = Products((F(1),), ((first, second),)).moments(axes, box)
    found.check(2)
    for n, row in enumerate(found.cells):
        u, v = one[n // 2], two[n % 2]
        true = [a * b for a in u for b in v]
        assert all(abs(a - b) <= found.error for a, b in zip(row, true, strict=True))


def test_rectangles_are_the_products_that_they_are() -> None:
    box, axes = ((F(0), F(1)), (F(0), F(1))), (AXIS, (F(0), F(1, 2), F(1)))
    edges = ((F(0), F(3, 10), F(1)), (F(0), F(1, 2), F(1)))
    masses = ((F(1, 10), F(2, 10)), (F(3, 10), F(4, 10)))
    found = Rectangles(edges, masses).moments(axes, box)
    found.check(2)
    parts = [
        (Uniform(a, b - a), Uniform(c, d - c))
        for a, b in zip(edges[0], edges[0][1:], strict=False)
        for c, d in zip(edges[1], edges[1][1:], strict=False)
    ]
    weights = tuple(mass for row in masses for mass in row)
    assert Products(weights, tuple(parts)).moments(axes, box) == found
    assert found.error == 0
    masses_of = [sum(w * m for w, m in zip((1, 2, 1) * 3, row, strict=True)) for row in found.cells]
    assert len(masses_of) == 6
    with pytest.raises(CertificateError, match="a mass for each bin"):
        Rectangles(edges, (*masses[:1], (F(1),))).moments(axes, box)
    with pytest.raises(CertificateError, match="not increasing"):
        Rectangles(((F(1), F(0)), edges[1]), masses).moments(axes, box)


def test_a_shape_of_a_beta_law_may_be_below_1() -> None:
    """The arcsine law."""
    law = Beta(a=F(1, 2), b=F(1, 2))
    law.check()
    for t in (F(1, 9), F(1, 2), F(7, 8)):
        mass = Enclosure.of(law.below(t)[0])
        true = 2 * mp.asin(mp.sqrt(number(t))) / mp.pi
        assert number(mass.low) - mp.mpf("1e-20") <= true <= number(mass.high) + mp.mpf("1e-20")
