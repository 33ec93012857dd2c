"""Laws of points: the nine means of each cell, against sums over points and products of moments."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

import mechdesign as md
from mechdesign.continuous.laws import Law

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
