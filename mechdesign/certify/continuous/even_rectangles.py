"""The means of a law of the plane that is even on rectangles, recomputed from the law as named.

Such a law is a mixture of products of laws of bins: Sum_k w_k F_k x G_k. So a mean over a cell is
Sum_k w_k a_k b_k, with a_k the mean of (1-s)**2, s(1-s) or s**2 under F_k over the side of the
cell, and b_k the same under G_k. Here, too, laws of other parts are not recomputed.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from mechdesign.certify.continuous.even_bins import WORK, Bins, bins_of, pieces
from mechdesign.certify.continuous.plane import Plane
from mechdesign.certify.fixed_point import (
    fraction_steps,
    longest,
    over_one_denominator,
    ratio,
    total,
)
from mechdesign.certify.problem import number
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["distance_from_rectangles"]

Weights = dict[tuple[int, int], Fraction]
"""The masses of the parts, by the numbers of their two sides."""

Sides = tuple[list[Bins], list[Bins]]

Side = tuple[list[tuple[int, list[int]]], int]
"""For the sides that are not 0 on a cell of an axis, three integers, and what they are over."""


def distance_from_rectangles(stated: Plane, problem: dict[str, Any]) -> Fraction | None:
    """Return by how much the means of the cells are off, summed; None for a law of other parts.

    Raises
    ------
    CertificateError
        If the law that is named is none, or has mass beyond the box.
    """
    found = _parts(problem["law"], problem["domain"]["box"])
    if found is None:
        return None
    weights, sides = found
    shares, whole = over_one_denominator(list(weights.values()))
    masses = dict(zip(weights, shares, strict=True))
    first, second = (_along(own, axis) for own, axis in zip(sides, stated.axes, strict=True))
    off = []
    for cell, ((rows, across), (columns, up)) in zip(
        stated.cells, product(first, second), strict=True
    ):
        given, own = over_one_denominator(cell)
        words = sum(n.bit_length() for n in (across, up, whole, own)) // 64
        spend(25 * (1 + words * words // 30), WORK)
        means, unit = _means(masses, rows, columns), across * up * whole
        pairs = zip(means, given, strict=True)
        if apart := sum(abs(mean * own - part * unit) for mean, part in pairs):
            off.append(ratio(apart, unit * own))
    return total(off)


def _parts(law: dict[str, Any], box: list[list[Any]]) -> tuple[Weights, Sides] | None:
    """Return the parts of a law that is even on rectangles; None for another law."""
    weights: Weights = {}
    sides: Sides = ([], [])
    if "histogram" in law:
        edges, masses = law["histogram"]["edges"], law["histogram"]["masses"]
        for own, places in zip(sides, edges, strict=True):
            bins = list(pairwise([number(place) for place in places]))
            if any(low >= high for low, high in bins):
                raise CertificateError("the law that is named is none: its bins do not rise")
            own.extend(([low, high], [Fraction(1)]) for low, high in bins)
        first, second = map(len, sides)
        if len(masses) != first or any(len(row) != second for row in masses):
            raise CertificateError("the law that is named is none: its bins, or their masses")
        for r, row in enumerate(masses):
            weights |= {(r, c): number(mass) for c, mass in enumerate(row)}
    elif "parts" in law:
        given, laws = law["parts"]["weights"], law["parts"]["laws"]
        if len(given) != len(laws):
            raise CertificateError("the law that is named is none: its parts, or their weights")
        weights = {(k, k): number(weight) for k, weight in enumerate(given)}
        for pair in laws:
            for own, part, ends in zip(sides, pair, box, strict=True):
                bins_of_part = bins_of(part, ends)
                if bins_of_part is None:
                    return None
                own.append(bins_of_part)
    else:
        return None
    if not weights or min(weights.values()) < 0 or total(list(weights.values())) != 1:
        raise CertificateError("the law that is named is none: its masses")
    return weights, sides


def _along(sides: list[Bins], axis: tuple[Fraction, ...]) -> list[Side]:
    """Return the means of (1-s)**2, s(1-s), s**2 over each cell of an axis, for each side."""
    cells: list[dict[int, list[list[Fraction]]]] = [{} for _ in axis[1:]]
    for k, bins in enumerate(sides):
        for place, density, low, high in pieces(bins, axis):
            if not 0 < place < len(axis):
                raise CertificateError("the law that is named has mass beyond the box")
            start, stop = axis[place - 1], axis[place]
            length = longest((density, low, high, start, stop))
            spend(30 * fraction_steps(12 * length), WORK)
            width = stop - start
            s, t = (low - start) / width, (high - start) / width
            one, two, three = t - s, (t**2 - s**2) / 2, (t**3 - s**3) / 3
            integrals = (one - 2 * two + three, two - three, three)
            parts = [density * width * integral for integral in integrals]
            cells[place - 1].setdefault(k, []).append(parts)
    found = []
    for each in cells:
        sums = [total(list(column)) for own in each.values() for column in zip(*own, strict=True)]
        flat, unit = over_one_denominator(sums)
        found.append(([(k, flat[3 * n : 3 * n + 3]) for n, k in enumerate(each)], unit))
    return found


def _means(
    masses: dict[tuple[int, int], int],
    rows: list[tuple[int, list[int]]],
    columns: list[tuple[int, list[int]]],
) -> list[int]:
    """Return the nine means of a cell, as integers over the product of the three units."""
    spend(1 + 2 * len(rows) * len(columns), WORK)
    hits = [
        (mass, u, v) for (r, u), (c, v) in product(rows, columns) if (mass := masses.get((r, c), 0))
    ]
    a = 1 + max((mass.bit_length() // 64 for mass, _, _ in hits), default=0)
    b = 1 + max((n.bit_length() // 64 for _, u, _ in hits for n in u), default=0)
    c = 1 + max((n.bit_length() // 64 for _, _, v in hits for n in v), default=0)
    spend(len(hits) * (20 + (3 * a * b + 9 * (a + b) * c) // 30), WORK)
    means = [0] * 9
    for mass, u, v in hits:
        for i, x in enumerate(u):
            weighted = mass * x
            for j, y in enumerate(v):
                means[3 * i + j] += weighted * y
    return means
