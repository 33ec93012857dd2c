"""Rows in floating point from the generators of the kernel, for the search, repair and reports.

A generator is a cone at one epsilon. With an epsilon, exponents of a notion are proportional to it;
without one, all grow from 0 by the same amount, so that the leakage is the largest excess.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from mechdesign.kernel.generators import (
    Cone,
    Constant,
    Latent,
    Lift,
    Ratio,
    Rows,
)
from mechdesign.notions.rows.family import Family
from mechdesign.notions.rows.latent_rows import LatentRows
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.notions.rows.row import Row

ONE = Fraction(1)


def family_of(
    cones: Sequence[Cone], name: str, size: int, epsilon: Fraction, *, has_epsilon: bool
) -> Family:
    """Return the rows of some generators.

    Parameters
    ----------
    cones
        The generators of one notion, at epsilon = 1 if they depend on it.
    name, size, epsilon
        The notion, the number of inputs, and the budget (0 without one).
    has_epsilon
        Whether exponents are proportional to epsilon.
    """
    part, *more = cones or (Ratio(Constant(Fraction(0), tuple(range(size)))),)
    if isinstance(part, Latent) and not more:
        inner = family_of((part.inner,), name, len(part.matrix), epsilon, has_epsilon=has_epsilon)
        return LatentRows(inner, part.matrix)
    if isinstance(part, Rows | Latent) or more:
        rows = list(_listed(cones, name, size, has_epsilon))
        return Family(rows, size, Fraction(has_epsilon), has_epsilon=has_epsilon).at(epsilon)
    if isinstance(part, Lift):
        return LiftRows(name, part, epsilon, has_epsilon=has_epsilon)
    return PairRows(name, part, size, epsilon, has_epsilon=has_epsilon)


def _listed(parts: Sequence[Cone], name: str, size: int, has_epsilon: bool) -> Iterator[Row]:
    """Yield the rows of arbitrary generators, at epsilon = 1 or at the excess 0."""
    for part in parts:
        for key in part.keys(size):
            row = part.row(key, size, up=False)
            words = " ".join(str(word) for word in (name, part.kind, *key) if word != "")
            slope = row.exponent if has_epsilon else ONE
            yield Row(words, dict(row.left), row.exponent, dict(row.right), slope)
