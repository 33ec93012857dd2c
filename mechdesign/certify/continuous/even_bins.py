"""The moments of a law that is even on each of some bins, recomputed from the law as it is named.

Of other laws (samples, which a file does not hold; normal and other densities, whose integrals are
irrational) the file says how far they may be from the moments, and nothing here depends on it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from fractions import Fraction
from itertools import pairwise
from typing import Any

from mechdesign.certify.continuous.law import Moments
from mechdesign.certify.fixed_point import fraction_steps, longest, total
from mechdesign.certify.problem import number
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["WORK", "Bins", "bin_moments", "bins_of", "pieces"]

WORK = "the moments of the law that is named"

Bins = tuple[list[Fraction], list[Fraction]]
"""The edges, and the masses of the bins between them."""


def bins_of(law: dict[str, Any], ends: list[Any]) -> Bins | None:
    """Return the bins of a histogram or of a uniform law; None for another law.

    Parameters
    ----------
    law
        The law as the file names it.
    ends
        Those of the interval, to which a uniform law is cut.

    Raises
    ------
    CertificateError
        If the edges do not rise, or the masses are none.
    """
    if "histogram" in law:
        edges = [number(edge) for edge in law["histogram"]["edges"]]
        masses = [number(mass) for mass in law["histogram"]["masses"]]
    elif law.get("law", {}).get("name") == "uniform" and len(law["law"]["parameters"]) == 2:
        low, length = (number(parameter) for parameter in law["law"]["parameters"])
        start = low if ends[0] == "-inf" else max(low, number(ends[0]))
        stop = low + length if ends[1] == "inf" else min(low + length, number(ends[1]))
        edges, masses = [start, stop], [Fraction(1)]
    else:
        return None
    rises = all(low < high for low, high in pairwise(edges))
    fits = masses and len(edges) == len(masses) + 1
    if not (rises and fits and min(masses) >= 0 and total(masses) == 1):
        raise CertificateError("the law that is named is none: its bins, or their masses")
    return edges, masses


def pieces(
    bins: Bins, places: tuple[Fraction, ...]
) -> list[tuple[int, Fraction, Fraction, Fraction]]:
    """Cut a law of bins at some places, so that it is even on each piece.

    Returns
    -------
    list
        For each piece how many of the places are at or below it, its density and its two ends.
    """
    edges, masses = bins
    inner = places[bisect_right(places, edges[0]) : bisect_left(places, edges[-1])]
    bins_and_masses = zip(pairwise(edges), masses, strict=True)
    densities = [mass / (high - low) for (low, high), mass in bins_and_masses]
    length = longest((*edges, *densities, *inner))
    spend(15 * (len(edges) + len(inner)) * fraction_steps(4 * length), WORK)
    return [
        (bisect_right(places, low), densities[bisect_right(edges, low) - 1], low, high)
        for low, high in pairwise(sorted({*edges, *inner}))
    ]


def bin_moments(bins: Bins, places: tuple[Fraction, ...]) -> list[Moments]:
    """Return the moments of a law of bins below the first place, between places, and above them."""
    parts: list[list[Moments]] = [[] for _ in range(len(places) + 1)]
    for place, density, low, high in pieces(bins, places):
        integrals = (high - low, (high**2 - low**2) / 2, (high**3 - low**3) / 3)
        mass, first, second = (density * integral for integral in integrals)
        parts[place].append((mass, first, second))
    found = []
    for rows in parts:
        mass, first, second = (total([row[k] for row in rows]) for k in range(3))
        found.append((mass, first, second))
    return found
