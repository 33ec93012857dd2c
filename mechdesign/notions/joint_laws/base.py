"""What a sensitive attribute is: its values, and what the input tells about them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Self

from mechdesign.domain import Domain
from mechdesign.errors import InputError, check_keys, shown
from mechdesign.labels import Labels, split_matrix
from mechdesign.notions.base import Notion
from mechdesign.prior import Prior
from mechdesign.prior_sets import Weights

__all__ = ["Attribute", "check_rows", "matrix_of"]


class Attribute(ABC):
    """What is to be protected, where it is not the input.

    Attributes
    ----------
    values
        What it may be, in order.
    domain
        What a notion is asked for: the values; with the number of the law, where that is not known.
    """

    KEYS: ClassVar[tuple[str, ...]]
    values: Domain
    domain: Domain

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """Return the attribute that a table of a problem file states."""
        check_keys(table, "", cls.KEYS, required=("values",))
        return cls(**table)

    @abstractmethod
    def aligned(self, inputs: Domain) -> Self:
        """Return the same with the inputs in the order of the domain.

        Raises
        ------
        InputError
            If the labels, or without labels their number, are not those of the inputs.
        """

    @abstractmethod
    def spread(self, notion: Notion) -> Notion:
        """Return what a notion asks of the attribute, for the values of :attr:`domain`.

        Raises
        ------
        UnsupportedError
            If that is not known.
        """

    @abstractmethod
    def distributions(self, prior: Prior) -> tuple[Prior, list[Weights]]:
        """Return the distribution of the attribute, and that of the input given each of its values.

        Raises
        ------
        InputError
            If they do not fit the prior of the input, or a value never occurs.
        """

    def _given_value(
        self, given_input: Sequence[Weights], prior: Prior, key: str
    ) -> tuple[Prior, list[Weights]]:
        """Return both from the probabilities of the values, a row for each input.

        ``key`` is what the error of a value that never occurs names, with a place for its number.
        """
        joint = [
            tuple(row[s] * p for row, p in zip(given_input, prior, strict=True))
            for s in range(len(self.domain))
        ]
        masses = [sum(row, Fraction(0)) for row in joint]
        if not all(masses):
            s = masses.index(Fraction(0))
            given = f"{shown(self.domain.labels[s])} with 0"
            expected = "values of positive probability"
            raise InputError(key.format(s), expected, given, "leave it out")
        rows = zip(joint, masses, strict=True)
        return Prior(masses), [tuple(p / mass for p in row) for row, mass in rows]

    @abstractmethod
    def to_table(self) -> dict[str, Any]:
        """Return the table of a problem file, numbers as exact text."""

    @abstractmethod
    def _extent(self) -> str:
        """Return in words for how many inputs it is."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Attribute):
            return NotImplemented
        return type(self) is type(other) and self.to_table() == other.to_table()

    def __hash__(self) -> int:
        return hash(str(self.to_table()))

    def __repr__(self) -> str:
        labels = [shown(label) for label in self.values.labels]
        names = ", ".join(labels if len(labels) <= 4 else [*labels[:3], "..."])
        return f"{type(self).__name__}({names}; {self._extent()})"


def check_rows(key: str, given: int, prior: Prior) -> None:
    """Raise InputError unless there is a row for each input."""
    if given != len(prior):
        raise InputError(key, f"{len(prior)} rows, one for each input", f"{given} rows")


def matrix_of(given: Any, key: str) -> tuple[list[list[Any]], Labels | None, Labels | None]:
    """Return the rows of a matrix, at least one, with the labels of its rows and columns.

    Raises
    ------
    InputError
        If it is no matrix.
    """
    found = split_matrix(given, key, "a list of lists of numbers", "a list of numbers >= 0")
    if not found[0]:
        raise InputError(key, "at least one row", "an empty list")
    return found
