"""What a law of a continuous input is: exact moments of the cells of any partition.

A design and its proof read nothing of a law but the mass and the first two moments of the cells
between given edges. So what is proved holds for *every* law that has these moments. Where they are
irrational they are enclosed between rationals; the cells then hold a rational in between, and say
how far the true moments may be.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from mechdesign.continuous.interval import End, Interval

__all__ = ["CellMoments", "Law"]


@dataclass(frozen=True)
class CellMoments:
    """The moments of a law on consecutive cells.

    Attributes
    ----------
    edges
        The ends of the cells, rising; the first and the last may be infinite.
    masses, first, second
        For each cell its probability and the integrals of x and x**2 over it, exact rationals; the
        masses sum to 1.
    error
        What these may be off by, each summed over the cells: 0 where they are exact.
    """

    edges: tuple[End, ...]
    masses: tuple[Fraction, ...]
    first: tuple[Fraction, ...]
    second: tuple[Fraction, ...]
    error: tuple[Fraction, Fraction, Fraction] = (Fraction(0), Fraction(0), Fraction(0))

    @classmethod
    def of(
        cls,
        edges: Sequence[End],
        rows: Sequence[Sequence[Fraction]],
        error: Sequence[Fraction] = (Fraction(0),) * 3,
    ) -> CellMoments:
        """Return the moments in three rows: the masses, the integrals of x, those of x**2."""
        masses, first, second = map(tuple, rows)
        mass, mean, square = error
        return cls(tuple(edges), masses, first, second, (mass, mean, square))


class Law(ABC):
    """The law of a continuous input; on an interval it is truncated to it."""

    name: ClassVar[str]
    """The word for it in problem files."""

    @abstractmethod
    def check(self, interval: Interval) -> None:
        """Raise :class:`InputError` unless the law fits the interval and has a mean on it."""

    @abstractmethod
    def cells(self, edges: Sequence[End]) -> CellMoments:
        """Return the moments of the cells between edges, whose ends are those of the interval."""

    @abstractmethod
    def quantiles(self, interval: Interval, probabilities: Sequence[float]) -> list[float]:
        """Return positions inside an interval that have about these probabilities below them.

        They say where cells are made small, and nothing is proved from them.
        """

    @abstractmethod
    def to_table(self) -> dict[str, Any]:
        """Return the ``[prior]`` table; one of samples says only how many they were."""

    def __repr__(self) -> str:
        inner = next(iter(self.to_table().values()))
        return f"{type(self).__name__}({inner})"
