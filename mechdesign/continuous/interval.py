"""The domain of a continuous input: an interval whose ends are exact, or infinite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from mechdesign.errors import InputError, shown
from mechdesign.exact import Exact, as_fraction, fraction_text

__all__ = [
    "End",
    "Interval",
    "check_rising",
    "end_text",
    "labels_between",
    "point_text",
    "read_end",
]

End = Fraction | float
"""A position on the line: an exact rational; a float only where it is infinite."""

LONGEST = 12
"""Letters of an exact point in a label, at most."""


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
        If they are no numbers, or do not rise from the first end to the second.

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
    """The hint of the error if it is given as a finite domain."""

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

    @property
    def sides(self) -> tuple[Interval, ...]:
        """The intervals that it is the product of: itself."""
        return (self,)

    @property
    def span(self) -> str:
        """Its numbers as text: ``"[0, 1]"``, ``"[0, inf)"``."""
        return labels_between([point_text(end) for end in (self.low, self.high)])[0]

    def __contains__(self, position: Exact) -> bool:
        return self.low <= position <= self.high  # type: ignore[operator]

    def to_table(self) -> dict[str, Any]:
        """Return the ``[domain]`` table, numbers as exact text."""
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


def point_text(point: End) -> str:
    """Return a point as text: exact where that is short, else as the nearest double prints.

    Examples
    --------
    >>> point_text(Fraction(1, 10)), point_text(Fraction(1, 3)), point_text(Fraction(10**20, 3))
    ('0.1', '1/3', '3.3333333333333332e+19')
    """
    text = end_text(point)
    return text if len(text) <= LONGEST else repr(float(point))


def labels_between(texts: Sequence[str]) -> list[str]:
    """Return the intervals between numbers as text, the last one closed.

    Examples
    --------
    >>> labels_between(["0", "1/2", "inf"])
    ['[0, 1/2)', '[1/2, inf)']
    """
    opened = "(" if texts[0] == "-inf" else "["
    closed = ")" if texts[-1] == "inf" else "]"
    starts, ends = [opened, *"[" * (len(texts) - 2)], [*")" * (len(texts) - 2), closed]
    parts = zip(starts, pairwise(texts), ends, strict=True)
    return [f"{start}{low}, {high}{end}" for start, (low, high), end in parts]


def check_rising(points: Sequence[End], key: str) -> None:
    """Raise InputError unless there are two positions at least, each above the one before."""
    if len(points) < 2:
        raise InputError(key, "at least two positions", len(points))
    for low, high in pairwise(points):
        if not low < high:
            given = f"{end_text(low)} before {end_text(high)}"
            raise InputError(key, "positions that rise", given)
