"""The domain of a continuous input: an interval whose ends are exact, or infinite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from mechdesign.errors import InputError, shown
from mechdesign.exact import Exact, as_fraction, fraction_text

__all__ = ["End", "Interval", "check_rising", "end_text", "read_end"]

End = Fraction | float
"""A position on the line: an exact rational; a float only where it is infinite."""


class Interval:
    """An interval of the line, where a continuous input lies.

    Parameters
    ----------
    low, high
        The ends, numbers or exact text; ``-inf`` and ``inf`` are ends too. A float stands for the
        decimal that it prints as.

    Attributes
    ----------
    low, high
        The ends as exact rationals; infinite ones as floats.

    Raises
    ------
    InputError
        If they are no numbers, or the first is not below the second.

    Examples
    --------
    >>> Interval(0, "0.5")
    Interval(0, 0.5)
    >>> Interval(0, "inf").is_bounded
    False
    >>> Interval(1, 1)
    Traceback (most recent call last):
    mechdesign.errors.InputError: interval: expected low < high, given 1 and 1
    """

    __slots__ = ("high", "low")

    as_domain = "ContinuousProblem(...) is for an interval"
    """What to do where it is given as the domain of finitely many inputs."""

    low: End
    high: End

    def __init__(self, low: Exact, high: Exact) -> None:
        self.low, self.high = read_end(low, "interval"), read_end(high, "interval")
        if not self.low < self.high:
            given = f"{end_text(self.low)} and {end_text(self.high)}"
            raise InputError("interval", "low < high", given)

    @classmethod
    def of(cls, given: Any, key: str = "interval") -> Interval:
        """Return an interval as it is, or that of a list ``[low, high]``.

        Raises
        ------
        InputError
            If it is neither.
        """
        if isinstance(given, Interval):
            return given
        if isinstance(given, list | tuple) and len(given) == 2:
            return cls(*given)
        raise InputError(key, "an interval [low, high]", shown(given))

    @property
    def is_bounded(self) -> bool:
        """Whether both ends are finite."""
        return isinstance(self.low, Fraction) and isinstance(self.high, Fraction)

    def __contains__(self, position: Exact) -> bool:
        return self.low <= position <= self.high  # type: ignore[operator]

    def to_table(self) -> dict[str, Any]:
        """Return the ``[domain]`` table, ends as exact text."""
        return {"interval": [end_text(self.low), end_text(self.high)]}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Interval):
            return NotImplemented
        return (self.low, self.high) == (other.low, other.high)

    def __hash__(self) -> int:
        return hash((self.low, self.high))

    def __repr__(self) -> str:
        return f"Interval({end_text(self.low)}, {end_text(self.high)})"


def read_end(value: Any, key: str) -> End:
    """Return an end of an interval: an exact number, or an infinite float.

    Raises
    ------
    InputError
        If it is neither; nan is none.

    Examples
    --------
    >>> read_end("1/3", "low"), read_end("-inf", "low")
    (Fraction(1, 3), -inf)
    """
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = 0.0
    if math.isinf(number) and not isinstance(value, Fraction):
        return number
    return as_fraction(value, key, expected="a finite number, -inf or inf")


def end_text(end: End) -> str:
    """Return an end as exact text: ``"1/3"``, ``"-inf"``."""
    return fraction_text(end) if isinstance(end, Fraction) else str(end)


def check_rising(points: Sequence[End], key: str) -> None:
    """Raise InputError unless there are two positions at least, each above the one before."""
    if len(points) < 2:
        raise InputError(key, "at least two positions", len(points))
    for low, high in pairwise(points):
        if not low < high:
            given = f"{end_text(low)} before {end_text(high)}"
            raise InputError(key, "positions that rise", given)
