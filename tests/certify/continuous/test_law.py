"""The moments of cells: those that a law has are read, others are refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

import mechdesign as md
from mechdesign.certify.continuous.law import Continuous, Moments
from mechdesign.certify.continuous.relaxation import relaxation
from mechdesign.designs.continuous.grid import nodes_for, stated_on
from mechdesign.resources import counted

HALF, NONE = Fraction(1, 2), (Fraction(0),) * 3
UTILITY = {"objective": "mean-squared-distance", "worst_case": False}


def stated(cell: Moments, below: Moments = NONE, above: Moments = NONE) -> Continuous:
    nodes = (Fraction(0), Fraction(1))
    return Continuous(nodes, (cell,), (below, above), [], UTILITY)


@pytest.mark.parametrize("second", [Fraction(1, 4), Fraction(1, 3), HALF])
def test_the_square_is_between_that_of_the_mean_and_that_of_the_ends(second: Fraction) -> None:
    assert sum(stated((Fraction(1), HALF, second)).prior) == 1
    for wrong in (Fraction(1, 4) - Fraction(1, 10**9), HALF + Fraction(1, 10**9)):
        with pytest.raises(md.CertificateError, match="for a cell"):
            _ = stated((Fraction(1), HALF, wrong)).prior


def test_a_tail_without_mass_has_no_moments() -> None:
    inside = (HALF, HALF / 2, HALF / 4)
    assert stated(inside, above=(HALF, Fraction(1), Fraction(2))).prior[1] == 3 * HALF / 2
    for tail in ((HALF, Fraction(1), Fraction(2) - Fraction(1, 10**9)), (HALF, HALF / 2, HALF)):
        with pytest.raises(md.CertificateError, match="beyond the nodes"):
            _ = stated(inside, above=tail).prior
    whole = (Fraction(1), HALF, Fraction(1, 3))
    for tail in ((Fraction(0), Fraction(1), Fraction(1)), (Fraction(0), Fraction(0), HALF)):
        with pytest.raises(md.CertificateError, match="beyond the nodes"):
            _ = stated(whole, above=tail).prior


@pytest.mark.parametrize("law", [("normal", ["0.4", "0.01"]), ("laplace", ["0.5", "0.001"])])
def test_the_rounded_moments_of_a_narrow_law_are_those_of_some_law(
    law: tuple[str, list[str]],
) -> None:
    prior = md.NamedLaw(*law)
    problem = md.ContinuousProblem([0, 1], md.LIP(1), md.MeanAbsoluteError(), prior=prior)
    found = stated_on(problem, nodes_for(problem, 129))
    assert sum(found.prior) == 1
    assert 0 < max(found.error) < Fraction(1, 10**24)


def test_long_numbers_are_not_squared_for_every_pair_of_nodes() -> None:
    """Points of 900 digits would take minutes; those of a design are short."""
    unit, n = 3**1886, 240
    places = [Fraction(k * (unit // n), unit) for k in range(n)]
    for nodes, passes in ((places, False), ([Fraction(k, 256) for k in range(n)], True)):
        width = nodes[1]
        cells = [(Fraction(1, n - 1), t / (n - 1), t * t / (n - 1)) for t in nodes[: n - 1]]
        found = Continuous(tuple(nodes), tuple(cells), (NONE, NONE), [], UTILITY)
        assert found.widths[0] == width
        with counted(0):
            if passes:
                assert len(relaxation(found).places) == n
                continue
            with pytest.raises(md.LimitError, match="steps"):
                relaxation(found)
