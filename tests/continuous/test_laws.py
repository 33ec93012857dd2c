"""Laws are those of scipy by name and parameters; data and their moments are counted exactly.

That the kernel encloses moments of a law is a matter of ``tests/kernel/rounding/test_laws.py``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.continuous.laws import Law
from tests.strategies import examples

INF = math.inf
SCIPY = {"normal": "norm", "exponential": "expon", "lognormal": "lognorm"}
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


def masses_of(moments: Any, whole: tuple[int, ...]) -> list[Fraction]:
    return [sum(w * part for w, part in zip(whole, cell, strict=True)) for cell in moments.cells]


@pytest.mark.parametrize(("name", "parameters", "ends"), NAMED)
def test_named_laws_are_those_of_scipy(
    name: str, parameters: list[Any], ends: tuple[Any, Any]
) -> None:
    """Truncated to an interval; what is inside is split by cells and tails."""
    law, domain = md.NamedLaw(name, parameters), md.Interval(*ends)
    known = getattr(scipy.stats, SCIPY.get(law.law, law.law))(*parameters)
    least, most = max(float(ends[0]), known.ppf(1e-12)), min(float(ends[1]), known.isf(1e-12))
    rng = np.random.default_rng(7)
    nodes = sorted(Fraction(str(round(x, 4))) for x in rng.uniform(least, most, 4))
    below = known.cdf(list(map(float, nodes))) - known.cdf(float(ends[0]))
    below /= known.cdf(float(ends[1])) - known.cdf(float(ends[0]))
    assert [law.below(x, domain) for x in nodes] == pytest.approx(below.tolist())
    bounded = [end for end in ends if isinstance(end, Fraction)]
    axis = tuple(sorted({*nodes, *bounded}))
    found = law.moments(domain, (axis,))
    assert found.error < Fraction(1, 10**24)
    inner = [law.below(x, domain) for x in axis]
    masses = masses_of(found, (1, 2, 1))
    assert list(map(float, masses)) == pytest.approx([b - a for a, b in pairwise(inner)])
    assert sum(masses) + sum(tail[0] for tail in found.tails) == 1


def test_a_mixture_is_the_sum_of_its_parts() -> None:
    law, parts = md.GaussianMixture([0.4, 0.6], [-2, 3], [1, "0.5"]), [(-2, 1), (3, 0.5)]
    x = np.array([-4.0, 1, 4])
    below = np.array([0.4, 0.6]) @ [scipy.stats.norm.cdf(x, *part) for part in parts]
    wanted = (below[1] - below[0]) / (below[2] - below[0])
    assert law.below(Fraction(1), md.Interval(-4, 4)) == pytest.approx(wanted)


class CellMoments:
    """The integrals of 1, x and x**2 over bounded cells, from the means that the kernel reads."""

    def __init__(self, law: Law, edges: list[Fraction]) -> None:
        found = law.moments(md.Interval(edges[0], edges[-1]), (tuple(edges),))
        self.rows = [
            (p + 2 * q + r, a * (p + q) + b * (q + r), a * a * p + 2 * a * b * q + b * b * r)
            for (a, b), (p, q, r) in zip(pairwise(edges), found.cells, strict=True)
        ]


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
        assert found.rows[i] == tuple(
            Fraction(sum(x**k for x in inside)) / len(values) for k in range(3)
        )


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
    for found_row, *rows in zip(found.rows, *(part.rows for part in parts), strict=True):
        assert found_row == tuple(sum(column) / len(values) for column in zip(*rows, strict=True))
    assert sum(row[0] for row in found.rows) == 1


def test_the_bandwidth_of_a_kernel_estimate_is_silverman_s_for_uniform_kernels() -> None:
    """0.9 sqrt(3) min(deviation, quartile range / 1.34) n**-1/5."""
    values = [0, 1, 2, 3, 4, 5, 6, 27]
    narrow = float(scipy.stats.iqr(values)) / 1.34
    assert narrow < np.std(values)
    one, many = md.KDE(values), md.KDE(values * 32)
    assert float(one.bandwidth) == pytest.approx(0.9 * math.sqrt(3) * narrow * 8**-0.2, rel=1e-3)
    assert many.bandwidth == pytest.approx(float(one.bandwidth) / 2, rel=1e-3)
    assert md.KDE([0] * 7 + [8]).bandwidth > 0  # the quartiles are equal


def test_histograms_are_integrated_exactly() -> None:
    law = md.Histogram([0, 1, 3], [0.25, 0.75])
    (mass, first, _), (other, second, _) = CellMoments(law, [Fraction(n) for n in (-1, 2, 3)]).rows
    assert (mass, other) == (Fraction(5, 8), Fraction(3, 8))
    assert (first, second) == (Fraction(1, 8) + Fraction(9, 16), Fraction(15, 16))


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
    masses, error = masses_of(found, ONE), found.error
    assert sum(masses) == 1
    assert min(masses) >= 0
    assert error == 0 if name in ("histogram", "samples") else 0 < error < Fraction(1, 10**20)


def test_means_of_samples_are_sums_over_points() -> None:
    found = LAWS["samples"].moments(UNIT, AXES).cells
    s, t = Fraction(1, 10) / Fraction(1, 4), Fraction(2, 10) / Fraction(2, 3)
    parts = [((1 - u) ** 2, u * (1 - u), u * u) for u in (s, t)]
    assert found[0] == tuple(a * b / 5 for a, b in product(*parts))


@pytest.mark.parametrize("name", LAWS)
def test_the_share_below_is_the_mass_of_the_cells_there(name: str) -> None:
    law = LAWS[name]
    masses = np.array(masses_of(law.moments(UNIT, AXES), ONE), float)
    first, second = masses.reshape(2, 2).sum(axis=1)[0], masses.reshape(2, 2).sum(axis=0)[0]
    for axis, share in ((0, first), (1, second)):
        found = [law.below(x, UNIT.sides[axis], axis) for x in AXES[axis]]
        assert found[::2] == pytest.approx([0, 1])
        assert found[1] == pytest.approx(share, abs=0.3 if name == "samples" else 1e-9)


def test_laws_are_equal_if_their_measures_are() -> None:
    assert [[a == b for b in LAWS.values()] for a in LAWS.values()] == np.eye(4).tolist()
    assert md.NamedLaw("norm", [1, 2]) == md.NamedLaw("normal", ["1", 2])


def test_known_laws_are_stated_by_name_and_others_by_moments() -> None:
    for name, law in LAWS.items():
        stated = law.stated(UNIT, AXES)
        assert (stated is law.measure) == (name != "samples")
        assert stated.moments(AXES, UNIT.ends) == law.moments(UNIT, AXES)
    samples, axes = md.Samples([-3, "1/2", 4]), ((Fraction(0), Fraction(1)),)
    for ends in ((-INF, INF), (-3, INF), (-3, 4)):
        line = md.Interval(*ends)
        stated = samples.stated(line, axes)
        assert stated.moments(axes, line.ends) == samples.moments(line, axes)
    mixed = md.ProductLaw(BETA, md.Samples([0, 1]))
    assert mixed.stated(UNIT, AXES).kind == "moments"


def test_reports_name_a_law_in_a_few_words() -> None:
    normal = md.NamedLaw("norm", [3, 0.5])
    assert repr(normal) == "NamedLaw(name=normal, parameters=[3, 0.5])"
    wide = md.Histogram(range(101), [0.01] * 100)
    assert repr(wide).startswith("Histogram(edges=[0, 1, 2, ..., 100], masses=[0.01, ")
    assert repr(md.ProductLaw(normal, wide)) == f"ProductLaw([1], [({normal}, {wide})])"
