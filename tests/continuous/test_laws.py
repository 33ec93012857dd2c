"""The moments of cells: exact for data, enclosed for named laws, held against quadrature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from hypothesis import given, strategies as st
from scipy import integrate, stats

import mechdesign as md
from mechdesign.continuous.laws import Law
from mechdesign.exact.enclosures import beta_below, normal_below
from tests.strategies import examples

INF = math.inf
RNG = np.random.default_rng(7)

NAMED: list[tuple[str, list[Any], tuple[Any, Any]]] = [
    ("normal", [1, 2], (-INF, INF)),
    ("norm", [1, 2], (Fraction(-3), Fraction(7, 2))),
    ("uniform", [1, 2], (Fraction(0), Fraction(2))),
    ("exponential", [1, 2], (Fraction(0), INF)),
    ("laplace", [1, 2], (-INF, INF)),
    ("laplace", [1, 2], (Fraction(-3), Fraction(5))),
    ("lognormal", [0.5, 1, 2], (Fraction(0), INF)),
    ("beta", [2, 5], (Fraction(0), Fraction(1))),
    ("beta", [0.5, 0.7, 1, 3], (Fraction(2), Fraction(3))),
]


SCIPY = {"normal": "norm", "exponential": "expon", "lognormal": "lognorm"}


class CellMoments:
    """The integrals of 1, x and x**2 over cells, from the means that the kernel reads."""

    def __init__(self, law: Law, edges: Sequence[Any]) -> None:
        nodes = tuple(edge for edge in edges if isinstance(edge, Fraction))
        found = law.moments(md.Interval(edges[0], edges[-1]), (nodes,))
        self.edges, self.error, rows = edges, found.error, []
        for (a, b), (p, q, r) in zip(pairwise(nodes), found.cells, strict=True):
            second = a * a * p + 2 * a * b * q + b * b * r
            rows.append((p + 2 * q + r, a * (p + q) + b * (q + r), second))
        for place, t, sign, (m, r, s) in zip(
            (0, len(rows)), (nodes[0], nodes[-1]), (-1, 1), found.tails, strict=True
        ):
            if t != edges[0] and t != edges[-1]:
                end = (m, t * m + sign * r, t * t * m + 2 * sign * t * r + s)
                rows.insert(place + (place > 0 and len(rows) > place), end)
        self.masses, self.first, self.second = zip(*rows, strict=True)


def check_against(
    found: CellMoments, density: Any, total: float, least: float, most: float
) -> None:
    """Hold the moments of cells against quadrature of a density between two floats."""
    rows = (found.masses, found.first, found.second)
    for i, (low, high) in enumerate(pairwise(found.edges)):
        a, b = max(float(low), least), min(float(high), most)
        for k, row in enumerate(rows):
            wanted = integrate.quad(
                lambda x, k=k: x**k * density(x), a, b, limit=400, epsabs=1e-12, epsrel=1e-10
            )[0]
            assert float(row[i]) == pytest.approx(wanted / total, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(("name", "parameters", "ends"), NAMED)
def test_named_laws_have_the_moments_of_their_density(
    name: str, parameters: list[Any], ends: tuple[Any, Any]
) -> None:
    law = md.NamedLaw(name, parameters)
    known = getattr(stats, SCIPY.get(law.law, law.law))(*parameters)
    least, most = max(float(ends[0]), known.ppf(1e-12)), min(float(ends[1]), known.isf(1e-12))
    inner = sorted(Fraction(str(round(x, 4))) for x in RNG.uniform(least, most, 4))
    found = CellMoments(law, [ends[0], *inner, ends[1]])
    assert sum(found.masses) == 1
    assert found.error < Fraction(1, 10**24)
    total = known.cdf(float(ends[1])) - known.cdf(float(ends[0]))
    check_against(found, known.pdf, total, least, most)
    below = [(known.cdf(float(x)) - known.cdf(float(ends[0]))) / total for x in inner]
    assert [law.below(x, md.Interval(*ends)) for x in inner] == pytest.approx(below)


def test_a_mixture_has_the_moments_of_its_density() -> None:
    law = md.GaussianMixture([0.4, 0.6], [-2, 3], [1, "0.5"])

    def density(x: float) -> float:
        return float(0.4 * stats.norm.pdf(x, -2, 1) + 0.6 * stats.norm.pdf(x, 3, 0.5))

    total = integrate.quad(density, -4, 4, points=[-2, 3])[0]
    edges = [Fraction(n, 2) for n in (-8, -5, -1, 4, 7, 8)]
    assert CellMoments(law, edges).error < Fraction(1, 10**24)
    check_against(CellMoments(law, edges), density, total, -4, 4)
    below = integrate.quad(density, -4, 1, points=[-2])[0] / total
    assert law.below(Fraction(1), md.Interval(-4, 4)) == pytest.approx(below)


@examples(20)
@given(
    st.lists(st.fractions(-5, 5, max_denominator=8), min_size=1, max_size=12),
    st.lists(st.fractions(-4, 4, max_denominator=8), min_size=1, max_size=4, unique=True),
)
def test_samples_are_counted(values: list[Fraction], inner: list[Fraction]) -> None:
    edges = [Fraction(-6), *sorted(inner), Fraction(6)]
    found = CellMoments(md.Samples(values), edges)
    for i, (low, high) in enumerate(pairwise(edges)):
        inside = [x for x in values if low <= x < high]
        rows = (found.masses[i], found.first[i], found.second[i])
        assert rows == tuple(Fraction(sum(x**k for x in inside)) / len(values) for k in range(3))


@examples(15)
@given(
    st.lists(st.fractions(-5, 5, max_denominator=8), min_size=1, max_size=4),
    st.fractions(Fraction(1, 8), 2, max_denominator=8),
)
def test_a_kernel_estimate_is_a_mixture_of_uniform_laws(
    values: list[Fraction], width: Fraction
) -> None:
    edges = [Fraction(n) for n in (-8, -3, 0, 1, 8)]
    found = CellMoments(md.KDE(values, width), edges)
    parts = [CellMoments(md.Histogram([x - width, x + width], [1]), edges) for x in values]
    for one in ("masses", "first", "second"):
        columns = zip(*(getattr(part, one) for part in parts), strict=True)
        assert getattr(found, one) == tuple(sum(column) / len(values) for column in columns)
    assert sum(found.masses) == 1


def test_histograms_are_integrated_exactly() -> None:
    law = md.Histogram([0, 1, 3], [0.25, 0.75])
    found = CellMoments(law, [Fraction(-1), Fraction(2), Fraction(3)])
    assert found.masses == (Fraction(5, 8), Fraction(3, 8))
    assert found.first == (Fraction(1, 8) + Fraction(9, 16), Fraction(15, 16))


@pytest.mark.parametrize("z", [Fraction(0), Fraction(1, 3), Fraction(-5, 2), 7, 15, -17, 40])
def test_the_normal_distribution_is_enclosed(z: Fraction) -> None:
    found = normal_below(Fraction(z))
    assert found.low <= found.high
    assert found.high - found.low < Fraction(1, 10**35)
    assert float(found.middle) == pytest.approx(
        float(stats.norm.cdf(float(z))), rel=1e-9, abs=1e-30
    )


def test_the_beta_integral_is_enclosed() -> None:
    found = beta_below(Fraction(1, 5), Fraction(2), Fraction(5, 2))
    exact = integrate.quad(lambda t: t * (1 - t) ** 1.5, 0, 0.2, epsabs=1e-14)[0]
    assert float(found.middle) == pytest.approx(exact, rel=1e-10)
    assert found.high - found.low < Fraction(1, 10**40)


# --- laws of points -------------------------------------------------------------------------------


UNIT = md.Box((0, 0), (1, 2))
AXES = ((Fraction(0), Fraction(1, 4), Fraction(1)), (Fraction(0), Fraction(2, 3), Fraction(2)))
BETA, UNIFORM = md.NamedLaw("beta", [2, 3]), md.NamedLaw("uniform", [0, 2])
ONE = (1, 2, 1, 2, 4, 2, 1, 2, 1)

LAWS: dict[str, Law] = {
    "product": md.ProductLaw(BETA, UNIFORM),
    "mixture": md.PlaneMixture([0.25, 0.75], [(BETA, UNIFORM), (md.NamedLaw("uniform"), UNIFORM)]),
    "histogram": md.PlaneHistogram([[0, 0.5, 1], [0, 1, 2]], [[0.1, 0.2], [0.3, 0.4]]),
    "samples": md.PlaneSamples([(0.1, 0.2), (0.25, 1), (1, 2), (0.9, 0.1), (0.9, 0.1)]),
}


@pytest.mark.parametrize("name", LAWS)
def test_the_masses_of_cells_sum_to_1(name: str) -> None:
    found = LAWS[name].moments(UNIT, AXES)
    means, error = found.cells, found.error
    masses = [sum(w * part for w, part in zip(ONE, cell, strict=True)) for cell in means]
    assert sum(masses) == 1
    assert min(masses) >= 0
    assert error == 0 if name in ("histogram", "samples") else 0 < error < Fraction(1, 10**20)


def test_means_of_samples_are_sums_over_points() -> None:
    found = LAWS["samples"].moments(UNIT, AXES).cells
    s, t = Fraction(1, 10) / Fraction(1, 4), Fraction(2, 10) / Fraction(2, 3)
    parts = [((1 - u) ** 2, u * (1 - u), u * u) for u in (s, t)]
    assert found[0] == tuple(a * b / 5 for a, b in product(*parts))


def test_means_of_a_density_are_integrals() -> None:
    found = LAWS["product"].moments(UNIT, AXES).cells

    def integrand(y: float, x: float) -> float:
        s, t = (x - 0.25) / 0.75, y / (2 / 3)
        return float(scipy.stats.beta(2, 3).pdf(x) / 2 * s * (1 - s) * t * t)

    wanted, _ = scipy.integrate.dblquad(integrand, 0.25, 1, 0, 2 / 3)
    assert float(found[2][3 * 1 + 2]) == pytest.approx(wanted, rel=1e-9)


def test_a_histogram_is_a_mixture_of_its_bins() -> None:
    halves = [md.Histogram([0, 0.5], [1]), md.Histogram([0.5, 1], [1])]
    ones = [md.Histogram([0, 1], [1]), md.Histogram([1, 2], [1])]
    same = md.PlaneMixture([0.1, 0.2, 0.3, 0.4], product(halves, ones))
    assert same.moments(UNIT, AXES) == LAWS["histogram"].moments(UNIT, AXES)


@pytest.mark.parametrize("name", LAWS)
def test_the_share_below_is_the_mass_of_the_cells_there(name: str) -> None:
    law, cells = LAWS[name], LAWS[name].moments(UNIT, AXES).cells
    masses = np.array([sum(w * m for w, m in zip(ONE, c, strict=True)) for c in cells], float)
    first, second = masses.reshape(2, 2).sum(axis=1)[0], masses.reshape(2, 2).sum(axis=0)[0]
    for axis, share in ((0, first), (1, second)):
        found = [law.below(x, UNIT.sides[axis], axis) for x in AXES[axis]]
        assert found[::2] == pytest.approx([0, 1])
        assert found[1] == pytest.approx(share, abs=0.3 if name == "samples" else 1e-9)


def test_known_laws_are_stated_by_name_and_others_by_moments() -> None:
    for name, law in LAWS.items():
        stated = law.stated(UNIT, AXES)
        assert (stated is law.measure) == (name != "samples")
        assert stated.moments(AXES, UNIT.ends) == law.moments(UNIT, AXES)
    mixed = md.ProductLaw(BETA, md.Samples([0, 1]))
    assert mixed.stated(UNIT, AXES).kind == "moments"
