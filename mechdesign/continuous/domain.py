"""The domain of a continuous input: an interval, or a box, with exact ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Self

from mechdesign.errors import InputError, listed, shown
from mechdesign.exact import Exact, as_fraction, fraction_text

End = Fraction | float
"""A position on the line: an exact rational; a float only if it is infinite."""

LONGEST = 12
"""The largest number of characters of an exact point in a label."""


class Region:
    """A product of intervals."""

    __slots__ = ()

    word: ClassVar[str]
    form: ClassVar[str]
    as_domain: ClassVar[str]
    """The hint of the error if it is given as a finite domain."""

    def __init__(self, low: Any, high: Any) -> None:
        raise NotImplementedError

    @classmethod
    def of(cls, given: Any) -> Self:
        """Return a domain unchanged, or the domain of a list ``[low, high]``."""
        if isinstance(given, cls):
            return given
        if isinstance(given, list | tuple) and len(given) == 2:
            return cls(*given)
        raise InputError(cls.word, cls.form, shown(given))

    @property
    def sides(self) -> tuple[Interval, ...]:
        """The intervals of which it is the product."""
        raise NotImplementedError

    @property
    def ends(self) -> tuple[tuple[End, End], ...]:
        """The ends of each side."""
        return tuple((side.low, side.high) for side in self.sides)

    @property
    def is_bounded(self) -> bool:
        """Whether all ends are finite."""
        return all(isinstance(end, Fraction) for side in self.ends for end in side)

    @property
    def span(self) -> str:
        """Its inputs as text."""
        return repr(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Region) and self.ends == other.ends

    def __hash__(self) -> int:
        return hash(self.ends)


class Interval(Region):
    """An interval of the line, the domain of a continuous input.

    Parameters
    ----------
    low, high
        The ends, numbers or exact text, possibly ``-inf`` and ``inf``. A float is read as the
        decimal that it prints as.

    Attributes
    ----------
    low, high
        The ends as exact rationals; infinite ones as floats.

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

    word, form = "interval", "an interval [low, high]"
    as_domain = "ContinuousProblem(...) is for an interval"

    low: End
    high: End

    def __init__(self, low: Exact, high: Exact) -> None:
        self.low, self.high = read_end(low, "interval"), read_end(high, "interval")
        if not self.low < self.high:
            given = f"{end_text(self.low)} and {end_text(self.high)}"
            raise InputError("interval", "low < high", given)

    @property
    def sides(self) -> tuple[Interval, ...]:
        """The interval itself."""
        return (self,)

    @property
    def span(self) -> str:
        """Its numbers as text: ``"[0, 1]"``, ``"[0, inf)"``."""
        return labels_between((self.low, self.high))[0]

    def __contains__(self, position: Exact) -> bool:
        return self.low <= position <= self.high  # type: ignore[operator]

    def to_table(self) -> dict[str, Any]:
        """Return the ``[domain]`` table, numbers as exact text."""
        return {"interval": [end_text(self.low), end_text(self.high)]}

    def __repr__(self) -> str:
        return f"Interval({end_text(self.low)}, {end_text(self.high)})"


class Box(Region):
    """A box in the plane, the domain of a point.

    Parameters
    ----------
    low, high
        Two opposite corners, two numbers each: the least and the largest of each coordinate. A
        float is read as the decimal that it prints as.

    Attributes
    ----------
    sides
        The two intervals of which it is the product.

    Examples
    --------
    >>> Box((0, 0), (1, "1/2"))
    Box((0, 0), (1, 0.5))
    """

    __slots__ = ("sides",)

    word, form = "box", "a box [[low, low], [high, high]]"
    as_domain = "ContinuousProblem(...) is for a box"

    def __init__(self, low: Sequence[Exact], high: Sequence[Exact]) -> None:
        corners = [pair_of(low, "low"), pair_of(high, "high")]
        self.sides: tuple[Interval, ...] = tuple(
            Interval(*ends) for ends in zip(*corners, strict=True)
        )
        if not self.is_bounded:
            raise InputError("box", "finite corners", " and ".join(map(repr, self.sides)))

    def to_table(self) -> dict[str, Any]:
        """Return the ``[domain]`` table of a saved file: the ends of each side."""
        return {"box": [side.to_table()["interval"] for side in self.sides]}

    def __repr__(self) -> str:
        low, high = (", ".join(map(end_text, corner)) for corner in zip(*self.ends, strict=True))
        return f"Box(({low}), ({high}))"


def domain_of(given: Any) -> Interval | Box:
    """Return an interval or a box unchanged, or that of the given ends or corners.

    Examples
    --------
    >>> domain_of([0, 1]), domain_of([(0, 0), (1, 1)])
    (Interval(0, 1), Box((0, 0), (1, 1)))
    """
    pairs = isinstance(given, list | tuple) and all(isinstance(e, list | tuple) for e in given)
    return Box.of(given) if pairs or isinstance(given, Box) else Interval.of(given)


def pair_of(given: Any, key: str, expected: str = "two numbers") -> list[Any]:
    """Return the two entries of a point."""
    pair = listed(given, key, expected)
    if len(pair) != 2:
        raise InputError(key, expected, shown(given))
    return pair


def read_end(value: Any, key: str) -> End:
    """Return an end of an interval: an exact number, or an infinite float.

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


def labels_between(points: Sequence[End]) -> list[str]:
    """Return the intervals between positions as text, the last one closed.

    A position is exact if that is short, else the nearest double.

    Examples
    --------
    >>> labels_between([Fraction(0), Fraction(1, 2), math.inf])
    ['[0, 0.5)', '[0.5, inf)']
    >>> labels_between([Fraction(1, 3), Fraction(10**20, 3)])
    ['[1/3, 3.3333333333333332e+19]']
    """
    exact = list(map(end_text, points))
    texts = [t if len(t) <= LONGEST else repr(float(p)) for t, p in zip(exact, points, strict=True)]
    found = [f"[{low}, {high})" for low, high in pairwise(texts)]
    if texts[0] == "-inf":
        found[0] = "(" + found[0][1:]
    if texts[-1] != "inf":
        found[-1] = found[-1][:-1] + "]"
    return found
