"""The domain of points in the plane: a box with exact ends."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from mechdesign.continuous.interval import Interval
from mechdesign.errors import InputError, listed, shown
from mechdesign.exact import Exact, fraction_text

__all__ = ["Box", "domain_of", "pair_of"]


class Box:
    """A box in the plane, where a point lies.

    Parameters
    ----------
    low, high
        Two opposite corners, two numbers each: the least and the largest of each coordinate. A
        float stands for the decimal that it prints as.

    Attributes
    ----------
    sides
        The two intervals that it is the product of.

    Raises
    ------
    InputError
        If they are not such.

    Examples
    --------
    >>> Box((0, 0), (1, "1/2"))
    Box((0, 0), (1, 0.5))
    """

    __slots__ = ("sides",)

    as_domain = "ContinuousProblem(...) is for a box"
    """The hint of the error if it is given as a finite domain."""

    def __init__(self, low: Sequence[Exact], high: Sequence[Exact]) -> None:
        ends = [pair_of(low, "low"), pair_of(high, "high")]
        first, second = (Interval(a, b) for a, b in zip(*ends, strict=True))
        if not (first.is_bounded and second.is_bounded):
            raise InputError("box", "finite corners", f"{first!r} and {second!r}")
        self.sides: tuple[Interval, ...] = (first, second)

    is_bounded = True

    @classmethod
    def of(cls, given: Any) -> Box:
        """Return a box as it is, or that of its corners ``[low, high]``.

        Raises
        ------
        InputError
            If it is neither.
        """
        if isinstance(given, Box):
            return given
        if isinstance(given, list | tuple) and len(given) == 2:
            return cls(*given)
        raise InputError("box", "a box [[low, low], [high, high]]", shown(given))

    @property
    def low(self) -> tuple[Fraction, Fraction]:
        """The corner with the least coordinates."""
        first, second = (Fraction(side.low) for side in self.sides)
        return first, second

    @property
    def high(self) -> tuple[Fraction, Fraction]:
        """The corner with the largest coordinates."""
        first, second = (Fraction(side.high) for side in self.sides)
        return first, second

    @property
    def span(self) -> str:
        """The box as text."""
        return repr(self)

    def to_table(self) -> dict[str, Any]:
        """Return the ``[domain]`` table of a saved file: the ends of each side."""
        return {"box": [side.to_table()["interval"] for side in self.sides]}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and self.sides == other.sides

    def __hash__(self) -> int:
        return hash(self.sides)

    def __repr__(self) -> str:
        low, high = (", ".join(map(fraction_text, end)) for end in (self.low, self.high))
        return f"Box(({low}), ({high}))"


def pair_of(given: Any, key: str) -> list[Any]:
    """Return the two entries of a point.

    Raises
    ------
    InputError
        If there are more or fewer.
    """
    pair = listed(given, key, "two numbers")
    if len(pair) != 2:
        raise InputError(key, "two numbers", shown(given))
    return pair


def domain_of(given: Any) -> Interval | Box:
    """Return an interval or a box as it is, or that of its ends, or of its corners.

    Raises
    ------
    InputError
        If it is neither.

    Examples
    --------
    >>> domain_of([0, 1]), domain_of([(0, 0), (1, 1)])
    (Interval(0, 1), Box((0, 0), (1, 1)))
    """
    if isinstance(given, Box):
        return given
    corners = isinstance(given, list | tuple) and len(given) == 2
    if corners and all(isinstance(end, list | tuple) for end in given):
        return Box.of(given)
    return Interval.of(given)
