"""The base class of laws of a continuous input: a law of the kernel with a name and checks.

A design and its proof depend on a law only through the moments in
:mod:`mechdesign.kernel.rounding`: means over the cells between nodes. A saved file names a law that
the kernel knows, and the kernel encloses the means itself; for other laws, based on samples that no
file contains, a file has the means.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

from mechdesign.continuous.domain import Box, End, Interval, end_text
from mechdesign.errors import InputError
from mechdesign.exact.enclosures import Enclosure
from mechdesign.kernel.rounding.laws import Prior, Stated
from mechdesign.kernel.rounding.moments import Axis, Moments


class Law(ABC):
    """The law of a number or of a point, truncated to the interval or the box.

    Attributes
    ----------
    measure
        The law in the kernel, or one of the same kind.
    extent
        The ends on each axis of what holds all its mass, if the domain must hold that; else None.
    """

    dimension: ClassVar[int] = 1
    """How many coordinates it has."""

    key: ClassVar[str] = "law"
    """Its key in errors."""

    by_name: bool = True
    """Whether a file states it by name; else by its moments."""

    measure: Any
    extent: tuple[tuple[Fraction, Fraction], ...] | None = None

    def check(self, domain: Interval | Box) -> None:
        """Raise :class:`InputError` unless the law matches the interval or the box."""
        if self.extent is None:
            self._check_mass(domain)
            return
        for side, ends in zip(domain.sides, self.extent, strict=True):
            for end in ends:
                if end not in side:
                    raise InputError(self.key, f"numbers in {side!r}", end_text(end))

    def _check_mass(self, domain: Interval | Box) -> None:
        low, high = (self._mass(end) for (side,) in [domain.sides] for end in (side.low, side.high))
        if (high - low).low < Fraction(1, 10**12):
            expected = f"a law with a mass of 1e-12 or more on {domain!r}"
            raise InputError("law", expected, f"{float((high - low).high):.3g} of {self!r}")

    def _mass(self, position: End) -> Enclosure:
        return Enclosure.of(self.measure.below(position)[0])

    def moments(self, domain: Interval | Box, axes: tuple[Axis, ...]) -> Moments:
        """Return the moments on the cells between nodes."""
        found: Moments = self.measure.moments(axes, domain.ends)
        return found

    def below(self, position: Fraction, side: Interval, axis: int = 0) -> float:
        """Return the approximate probability below a position, of one coordinate.

        It determines the sizes of cells; no proof depends on it.
        """
        low, here, high = (self._mass(x).middle for x in (side.low, position, side.high))
        return float((here - low) / (high - low))

    @abstractmethod
    def to_table(self) -> dict[str, Any]:
        """Return the ``[prior]`` table; for samples, only their number."""

    def stated(self, domain: Interval | Box, axes: tuple[Axis, ...]) -> Prior:
        """Return the law in the form of a saved file: by name, or by its moments."""
        if self.by_name:
            known: Prior = self.measure
            return known
        found = self.moments(domain, axes)
        tails = found.tails if any(map(any, found.tails)) else ()
        return Stated(found.cells, tails, found.error, repr(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Law) and bool(self.measure == other.measure)

    def __hash__(self) -> int:
        return hash(self.measure)

    def __repr__(self) -> str:
        inner = next(iter(self.to_table().values()))
        return f"{type(self).__name__}({inner})"
