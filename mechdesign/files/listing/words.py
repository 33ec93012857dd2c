"""Text of numbers, exponents and rows in a listing, and the error for unsupported parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from mechdesign.errors import CertificateError
from mechdesign.kernel.generators import ListedRow

ONE = Fraction(1)


class UnprovedError(CertificateError):
    """The verified checker does not support a part of the file."""


def line(numbers: Iterable[Any]) -> str:
    """Return numbers on a line."""
    return " ".join(map(str, numbers))


def counted(numbers: Sequence[Any]) -> str:
    """Return the length of a list and its elements."""
    return line([len(numbers), *numbers])


def exponent(a: Fraction | None, square: Fraction = ONE) -> str:
    """Return the number a * sqrt(square), or the word for an unbounded exponent."""
    return "none" if a is None else f"{a} {square}"


def rows(listed: Sequence[ListedRow]) -> str:
    """Return listed rows."""
    words = [f"rows {len(listed)}"]
    for row in listed:
        left, right = (f"{len(side)} {_pairs(side)}" for side in (row.left, row.right))
        words.append(f"left {left} {exponent(row.exponent)} right {right}")
    return "\n".join(words)


def _pairs(side: Iterable[tuple[int, Fraction]]) -> str:
    return " ".join(f"{x} {v}" for x, v in side)
