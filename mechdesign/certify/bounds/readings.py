"""Readings of the outputs that a file states, and their variance: both checked without rounding.

With readings v the loss is Sum_y Sum_x P_x Q[x, y] v_y**2 - Sum_x P_x f_x**2, or its largest term
over x. It is the loss of these readings only if Sum_y Q[x, y] v_y = f_x for every x, which integers
decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any

from mechdesign.certify.fixed_point import over_one_denominator, product_steps, ratio
from mechdesign.certify.problem import MOST_DIGITS, Statement, whole_number
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["Readings", "read_readings", "variance"]


@dataclass(frozen=True)
class Readings:
    """Exact readings of all outputs.

    Attributes
    ----------
    tops, bottom
        Integers, and the one denominator that they are over.
    """

    tops: list[int]
    bottom: int

    @classmethod
    def of(cls, numbers: Sequence[Fraction]) -> Readings:
        """Return readings over one denominator."""
        return cls(*over_one_denominator(list(numbers)))

    @property
    def table(self) -> dict[str, Any]:
        """What a file holds."""
        return {"numerators": list(map(str, self.tops)), "denominator": str(self.bottom)}

    @property
    def numbers(self) -> list[Fraction]:
        """The readings."""
        return [Fraction(top, self.bottom) for top in self.tops]


def read_readings(
    statement: Statement, channel: dict[str, Any], columns: Sequence[Sequence[int]], bits: int
) -> Readings | None:
    """Return the readings that a channel comes with; None for an objective that has none.

    Raises
    ------
    CertificateError
        If the mean of the readings at an input is not the value there, or they are missing.
    """
    given = channel.get("readings")
    if (given is not None) != statement.is_read:
        raise CertificateError("exact readings belong to the objective unbiased-variance only")
    if given is None:
        return None
    signs = [-1 if text.startswith("-") else 1 for text in given["numerators"]]
    digits = [text.removeprefix("-") for text in given["numerators"]]
    length = product_steps(1 << 4 * max(map(len, (*digits, given["denominator"]))))
    spend(length * (10 * length + 4 * len(statement.labels)) * len(digits), "the readings")
    tops = [s * whole_number(text, MOST_DIGITS) for s, text in zip(signs, digits, strict=True)]
    bottom = whole_number(given["denominator"], MOST_DIGITS)
    if len(tops) != len(columns) or not bottom:
        raise CertificateError("the channel has not one reading for each output")
    values, unit = statement.whole_values
    for x, row in enumerate(zip(*columns, strict=True)):
        if sum(map(mul, row, tops)) * unit != values[x] * bottom << bits:
            raise CertificateError(f"the mean of the readings at input {x} is not its value")
    return Readings(tops, bottom)


def variance(
    statement: Statement, columns: Sequence[Sequence[int]], bits: int, readings: Readings
) -> Fraction:
    """Return the variance of unbiased readings, on average or in the worst case over the inputs."""
    length = product_steps(readings.bottom, *readings.tops)
    spend(8 * length * len(columns) * len(statement.labels), "the variance of the readings")
    squares, whole = [top * top for top in readings.tops], readings.bottom**2 << bits
    values, unit = statement.whole_values
    found = [
        ratio(sum(map(mul, row, squares)), whole) - ratio(value * value, unit * unit)
        for value, row in zip(values, zip(*columns, strict=True), strict=True)
    ]
    if statement.is_worst_case:
        return max(found)
    masses, all_ = statement.masses
    return sum(map(mul, masses, found), Fraction(0)) / all_
