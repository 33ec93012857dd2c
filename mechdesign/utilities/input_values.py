"""A number f(x) for each input, given as a list, by label, or as the inputs themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.domain import Domain
from mechdesign.errors import InputError
from mechdesign.exact import as_fraction, short_text
from mechdesign.labels import Labels, aligned, by_label, split

__all__ = ["InputValues"]


@dataclass(frozen=True)
class InputValues:
    """The values f(x), exact.

    Attributes
    ----------
    given
        The numbers; None if they are the inputs themselves.
    labels
        The inputs of the numbers; None if they count by position.
    """

    given: tuple[Fraction, ...] | None = None
    labels: Labels | None = None

    @classmethod
    def of(cls, values: Sequence[Any] | Mapping[Any, Any] | None) -> InputValues:
        """Read a list of numbers, a dict or a Series by label; None stands for the inputs.

        Raises
        ------
        InputError
            If an entry is not a number.
        """
        if values is None:
            return cls()
        numbers, labels = split(values, "values", "a list of numbers, one for each input")
        return cls(tuple(as_fraction(v, f"values[{i}]") for i, v in enumerate(numbers)), labels)

    @property
    def is_aligned(self) -> bool:
        """Whether the numbers are given and count by position."""
        return self.given is not None and self.labels is None

    def on(self, domain: Domain) -> tuple[Fraction, ...]:
        """Return f(x) for each input of a domain, in its order.

        Raises
        ------
        InputError
            If no numbers are given and the inputs are labels, or the given ones do not match.
        """
        if self.given is None:
            if domain.numbers is None:
                fault = "the inputs are labels: give a number for each"
                raise InputError("values", "numbers", "none", fault=fault)
            return domain.numbers
        return tuple(aligned(self.given, self.labels, domain.labels, "values"))

    def __repr__(self) -> str:
        if self.given is None:
            return ""
        values = list(map(short_text, self.given))
        if self.labels is not None:
            return f"values={by_label(values, self.labels)}"
        return f"values=[{', '.join(values)}]"
