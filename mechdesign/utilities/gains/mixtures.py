"""A law on the inputs as given by the user: one input, or weights by position or by label."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.domain import Domain, Label, clean_label
from mechdesign.errors import InputError
from mechdesign.exact import short_text
from mechdesign.labels import Labels, by_label
from mechdesign.prior import distribution, labeled_numbers

__all__ = ["Mixture"]


@dataclass(frozen=True)
class Mixture:
    """Weights of inputs that sum to 1, exact.

    Attributes
    ----------
    given
        The weights.
    labels
        The inputs of the weights; None if they count by position.
    """

    given: tuple[Fraction, ...]
    labels: Labels | None = None

    @classmethod
    def of(cls, mixture: Any, key: str) -> Mixture:
        """Read a label, a list of weights, or weights by label, normalized exactly.

        Raises
        ------
        InputError
            If the weights are invalid, or do not sum to 1.

        Examples
        --------
        >>> Mixture.of("a", "first")
        'a'
        >>> Mixture.of({"a": 0.5, "b": 0.5}, "first").on(Domain(["b", "c", "a"]), "first")
        (Fraction(1, 2), Fraction(0, 1), Fraction(1, 2))
        """
        if isinstance(mixture, str | int | float | tuple):
            return cls((Fraction(1),), (clean_label(mixture, key),))
        numbers, labels = labeled_numbers(mixture, key)
        return cls(distribution(numbers, key), labels)

    @property
    def is_aligned(self) -> bool:
        """Whether the weights count by position."""
        return self.labels is None

    def on(self, domain: Domain, key: str) -> tuple[Fraction, ...]:
        """Return the weight of each input of a domain, in its order.

        Raises
        ------
        InputError
            If a label is not one of the inputs, or the number of weights is wrong.
        """
        if self.labels is None:
            if len(self.given) != len(domain):
                expected = f"{len(domain)} weights, one for each input"
                raise InputError(key, expected, f"{len(self.given)} weights")
            return self.given
        found = [Fraction(0)] * len(domain)
        for label, weight in zip(self.labels, self.given, strict=True):
            found[_place(domain, label, key)] += weight
        return tuple(found)

    def __repr__(self) -> str:
        if self.labels is not None and len(self.labels) == 1:
            return repr(self.labels[0])
        return str(by_label(list(map(short_text, self.given)), self.labels)).replace("'", "")


def _place(domain: Domain, label: Label, key: str) -> int:
    """Return the position of a label; the keys of a table in a file are text."""
    if isinstance(label, str):
        place = domain.find_text(label)
        if place is not None:
            return place
    return domain.index(label, key)
