"""The base class of laws of a continuous input: moments of the cells of any partition.

A design and its proof use nothing of a law but what :mod:`mechdesign.kernel.rounding` lists: means
over the cells between nodes. A law that the kernel knows by name is stated so in files, and the
kernel encloses the means itself; of others, which are made from samples that no file holds, a file
has the means.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

from mechdesign.continuous.box import Box
from mechdesign.continuous.interval import Interval
from mechdesign.errors import InputError
from mechdesign.exact.enclosures import Enclosure
from mechdesign.kernel.rounding.moments import Moments, mixed_moments
from mechdesign.kernel.rounding.priors import Prior, Stated, along

__all__ = ["AxisRows", "Law", "NumberLaw"]

Axis = tuple[Fraction, ...]
AxisRows = dict[int, list[Enclosure]]
"""The three means of each cell of an axis, by its place: -1 and the last are beyond the nodes."""


class Law(ABC):
    """The law of a number, or of a point; on an interval or a box it is truncated to it."""

    name: ClassVar[str]
    """The word for it in problem files."""

    dimension: ClassVar[int] = 1
    """How many coordinates it has."""

    known: Any = None
    """The law of the kernel that it is; None where a file states its moments."""

    @abstractmethod
    def check(self, domain: Any) -> None:
        """Raise :class:`InputError` unless the law fits the interval or the box."""

    @abstractmethod
    def moments(self, domain: Interval | Box, axes: tuple[Axis, ...]) -> Moments:
        """Return the moments on the cells between nodes."""

    @abstractmethod
    def quantiles(
        self, side: Interval, probabilities: Sequence[float], axis: int = 0
    ) -> list[float]:
        """Return positions on a side that have about these probabilities below them.

        They say where cells are made small, and nothing is proved from them.
        """

    @abstractmethod
    def to_table(self) -> dict[str, Any]:
        """Return the ``[prior]`` table; for samples, only their number."""

    def stated(self, domain: Interval | Box, axes: tuple[Axis, ...]) -> Prior:
        """Return the law in a saved file: by name, or by its moments."""
        if self.known is not None:
            known: Prior = self.known
            return known
        found = self.moments(domain, axes)
        tails = found.tails if any(map(any, found.tails)) else ()
        return Stated(found.cells, tails, found.error, repr(self))

    def __repr__(self) -> str:
        inner = next(iter(self.to_table().values()))
        return f"{type(self).__name__}({inner})"


class NumberLaw(Law):
    """The law of a number."""

    def along(self, axis: Axis, side: Interval) -> AxisRows:
        """Return its means on the cells of an axis."""
        return along(self.known, axis, (side.low, side.high))

    def moments(self, domain: Interval | Box, axes: tuple[Axis, ...]) -> Moments:
        """Return the means of the one axis."""
        mixed: list[tuple[Fraction, tuple[NumberLaw]]] = [(Fraction(1), (self,))]
        return mixed_moments(mixed, axes, lambda law, n: law.along(axes[n], domain.sides[n]))

    def check(self, domain: Interval) -> None:
        """Raise InputError unless the interval has a positive mass."""
        mass = self.known.below(domain.high)[0] - self.known.below(domain.low)[0]
        if mass.low < Fraction(1, 10**12):
            expected = f"a law with a mass of 1e-12 or more on {domain!r}"
            raise InputError("law", expected, f"{float(mass.high):.3g} of {self!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NumberLaw) or self.known is None:
            return self is other
        return bool(self.known == other.known)

    def __hash__(self) -> int:
        return id(self) if self.known is None else hash(self.known)
