"""Exact numbers of the inputs: f(x), scores, or the weights of a mixture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.domain import Domain, Label, clean_label
from mechdesign.errors import InputError
from mechdesign.exact import as_fraction, fraction_text, short_text
from mechdesign.labels import Labels, aligned, by_label, split
from mechdesign.prior import distribution, labeled_numbers


@dataclass(frozen=True)
class InputValues:
    """A number for each input, or a tuple of numbers, by position or by label.

    ``given`` is None if they are the inputs themselves. ``is_mixture`` is whether they are weights,
    so that inputs without a number have 0. ``key`` is the argument of the numbers, for errors.
    """

    key: str
    given: tuple[Any, ...] | None = None
    labels: Labels | None = None
    is_mixture: bool = False

    @classmethod
    def of(cls, values: Any, key: str = "values") -> InputValues:
        """Read a list of numbers, a dict or a Series by label; None stands for the inputs."""
        if values is None:
            return cls(key)
        numbers, labels = split(values, key, "a list of numbers, one for each input")
        return cls(key, tuple(as_fraction(v, f"{key}[{i}]") for i, v in enumerate(numbers)), labels)

    @classmethod
    def mixture(cls, weights: Any, key: str) -> InputValues:
        """Read a label, a list of weights, or weights by label, normalized exactly.

        Examples
        --------
        >>> InputValues.mixture("a", "first")
        'a'
        >>> InputValues.mixture({"a": 0.5, "b": 0.5}, "first").on(Domain(["b", "c", "a"])).given
        (Fraction(1, 2), Fraction(0, 1), Fraction(1, 2))
        """
        if isinstance(weights, str | int | float | tuple):
            return cls(key, (Fraction(1),), (clean_label(weights, key),), is_mixture=True)
        numbers, labels = labeled_numbers(weights, key)
        return cls(key, distribution(numbers, key), labels, is_mixture=True)

    @property
    def has_labels(self) -> bool:
        """Whether the numbers are given by label."""
        return self.labels is not None

    @property
    def is_aligned(self) -> bool:
        """Whether the numbers are given and count by position."""
        return self.given is not None and self.labels is None

    def on(self, domain: Domain) -> InputValues:
        """Return the numbers of all inputs of a domain, in its order."""
        if self.given is None:
            if domain.numbers is None:
                fault = "the inputs are labels: give a number for each"
                raise InputError(self.key, "numbers", "none", fault=fault)
            return InputValues(self.key, domain.numbers)
        if not (self.is_mixture and self.labels):
            entries = "weights" if self.is_mixture else "numbers"
            found = aligned(self.given, self.labels, domain.labels, self.key, entries=entries)
            return InputValues(self.key, tuple(found), is_mixture=self.is_mixture)
        weights = [Fraction(0)] * len(domain)
        for label, weight in zip(self.labels, self.given, strict=True):
            weights[_place(domain, label, self.key)] += weight
        return InputValues(self.key, tuple(weights), is_mixture=True)

    def numbers(self, domain: Domain) -> tuple[Any, ...]:
        """Return the number of each input of a domain, in its order."""
        return self.on(domain).given or ()

    def to_table(self) -> list[Any]:
        """Return the numbers as exact text."""
        return [_texts(v, fraction_text) for v in self.given or ()]

    def __repr__(self) -> str:
        if self.is_mixture and self.labels is not None and len(self.labels) == 1:
            return repr(self.labels[0])
        numbers = [_texts(v, short_text) for v in self.given or ()]
        text = str(by_label(numbers, self.labels))
        return text if self.labels and not self.is_mixture else text.replace("'", "")


def _texts(value: Any, text: Any) -> Any:
    if isinstance(value, Sequence):
        return [text(part) for part in value]
    return text(value)


def _place(domain: Domain, label: Label, key: str) -> int:
    """Return the position of a label; the keys of a table in a file are text."""
    place = domain.find_text(label) if isinstance(label, str) else None
    return domain.index(label, key) if place is None else place
