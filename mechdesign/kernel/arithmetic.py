"""Exact arithmetic: integers over one unit, and rationals over one denominator.

Costs and prices are integers over :data:`UNIT`, so that each rounding is one floor or one ceiling.
Bounds on exponentials, logarithms and roots are those of :mod:`mechdesign.exact`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import islice, pairwise, product
from math import lcm
from typing import Any, TypeVar

from mechdesign.errors import CertificateError

T = TypeVar("T")

BITS = 192
UNIT = 1 << BITS


def need(condition: object, message: str) -> None:
    """Raise CertificateError with the message unless the condition holds."""
    if not condition:
        raise CertificateError(message)


def known(value: T | None, message: str) -> T:
    """Return the value; raise CertificateError with the message if it is None."""
    if value is None:
        raise CertificateError(message)
    return value


def expect(value: object, form: type[T], message: str) -> T:
    """Return a value of the given type; raise CertificateError with the message for any other."""
    if not isinstance(value, form):
        raise CertificateError(message)
    return value


def scaled(value: Fraction | int, up: bool = False, bits: int = BITS) -> int:
    """Return ``value * 2**bits``, rounded down, or up."""
    top, bottom = value.numerator << bits, value.denominator
    return -(-top // bottom) if up else top // bottom


def over_one_denominator(numbers: Iterable[Fraction]) -> tuple[list[int], int]:
    """Return integers over one common denominator, and this denominator."""
    listed = list(numbers)
    whole = lcm(*{number.denominator for number in listed})
    return [number.numerator * (whole // number.denominator) for number in listed], whole


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """Return the inner product ``a . b``, exactly; zeros are skipped."""
    return sum(x * y for x, y in zip(a, b, strict=True) if x and y)


def lattice(points: Sequence[Sequence[Fraction]]) -> tuple[list[tuple[int, ...]], int]:
    """Return points with integer coordinates, and their common unit."""
    flat, unit = over_one_denominator(part for point in points for part in point)
    parts = iter(flat)
    return [tuple(islice(parts, len(point))) for point in points], unit


def grid_axes(points: Sequence[tuple[Any, ...]]) -> tuple[list[Any], list[Any]] | None:
    """Return the coordinates along both sides of a grid of points, row by row; None for no grid.

    Points of a line are one row.
    """
    first, d = [p[0] for p in points], len(points[0])
    m = first.count(first[0]) if d == 2 else len(points)
    axes = first[::m], [p[-1] for p in points[:m]]
    return axes if list(points) == list(product(*axes[-d:])) else None


def is_even(axis: Sequence[Any]) -> bool:
    """Return whether all steps of an axis are equal."""
    return len({b - a for a, b in pairwise(axis)}) <= 1
