"""Priors: what the adversary is taken to know about X, as exact rationals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign.domain import Domain
from mechdesign.errors import InputError, shown
from mechdesign.exact import Exact, as_fraction, fraction_text, short_text

__all__ = ["SUM_TOLERANCE", "Prior", "exact_numbers"]

SUM_TOLERANCE = Fraction(1, 10**6)
"""How far from 1 given probabilities may sum before they are refused as a mistake."""


def exact_numbers(values: Any, key: str, *, size: int | None = None) -> tuple[Fraction, ...]:
    """Return nonnegative exact rationals, ``size`` of them if it is given.

    Raises
    ------
    InputError
        If ``values`` is no such list; the message names the entry.
    """
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise InputError(key, "a list of numbers >= 0", shown(values))
    numbers = []
    for i, value in enumerate(values):
        number = as_fraction(value, f"{key}[{i}]", expected="a finite number >= 0")
        if number < 0:
            raise InputError(f"{key}[{i}]", "a finite number >= 0", shown(value))
        numbers.append(number)
    if not numbers:
        raise InputError(key, "a list of numbers >= 0", "an empty list")
    if size is not None and len(numbers) != size:
        raise InputError(key, f"{size} numbers, one for each input", f"{len(numbers)} numbers")
    return tuple(numbers)


class Prior:
    """An exact distribution of the input X.

    The given decimals are taken as they are written, and normalised exactly.

    Parameters
    ----------
    probabilities
        ``(n_inputs,)`` numbers >= 0 that sum to 1 within 1e-6. For counts, which need not, see
        :meth:`from_counts`.

    Raises
    ------
    InputError
        If a number is negative or not finite, or the sum is off.

    Examples
    --------
    >>> prior = Prior([0.1, 0.9])
    >>> prior
    Prior(0.1, 0.9)
    >>> prior.probabilities[0]
    Fraction(1, 10)
    """

    __slots__ = ("_array", "probabilities")

    probabilities: tuple[Fraction, ...]

    def __init__(self, probabilities: Iterable[Exact]) -> None:
        numbers = exact_numbers(probabilities, "probabilities")
        total = sum(numbers, Fraction(0))
        if abs(total - 1) > SUM_TOLERANCE:
            raise InputError(
                "probabilities",
                "numbers that sum to 1",
                f"sum {float(total):.9g}",
                "counts are given as counts",
            )
        self._fill(tuple(number / total for number in numbers))

    def _fill(self, probabilities: tuple[Fraction, ...]) -> None:
        self.probabilities = probabilities
        self._array: npt.NDArray[np.float64] = np.array([float(p) for p in probabilities])
        self._array.flags.writeable = False

    @classmethod
    def uniform(cls, size: int) -> Prior:
        """Return the uniform prior on ``size`` inputs.

        Examples
        --------
        >>> Prior.uniform(3)
        Prior(1/3, 1/3, 1/3)
        """
        return cls.from_counts([1] * size)

    @classmethod
    def from_counts(cls, counts: Iterable[Exact], smoothing: Exact = 0) -> Prior:
        """Return the prior proportional to counts or weights.

        Parameters
        ----------
        counts
            ``(n_inputs,)`` numbers >= 0.
        smoothing
            Added to every count: 1 is Laplace's rule, 1/2 that of Krichevsky and Trofimov.

        Examples
        --------
        >>> Prior.from_counts([3, 0, 1], smoothing=1)
        Prior(4/7, 1/7, 2/7)
        """
        extra = as_fraction(smoothing, "smoothing", expected="a number >= 0")
        if extra < 0:
            raise InputError("smoothing", "a number >= 0", shown(smoothing))
        numbers = [count + extra for count in exact_numbers(counts, "counts")]
        total = sum(numbers, Fraction(0))
        if total == 0:
            raise InputError("counts", "at least one count above 0", "all counts 0")
        prior = cls.__new__(cls)
        prior._fill(tuple(number / total for number in numbers))
        return prior

    @classmethod
    def from_data(cls, values: Iterable[Any], domain: Domain, smoothing: Exact = 0) -> Prior:
        """Return the empirical prior of some records.

        Parameters
        ----------
        values
            One label of ``domain`` for each record.
        domain
            The inputs; those that do not occur get the count 0.
        smoothing
            As in :meth:`from_counts`.

        Raises
        ------
        InputError
            If a record is not in the domain; the message gives its number, from 1.

        Examples
        --------
        >>> Prior.from_data(["no", "yes", "no"], Domain(["yes", "no"]))
        Prior(1/3, 2/3)
        """
        found = Counter(domain.index(value, f"record {row}") for row, value in enumerate(values, 1))
        return cls.from_counts([found[x] for x in range(len(domain))], smoothing)

    @property
    def array(self) -> npt.NDArray[np.float64]:
        """The probabilities as read-only float64, shape ``(n_inputs,)``."""
        return self._array

    @property
    def minimum(self) -> Fraction:
        """The smallest probability."""
        return min(self.probabilities)

    @property
    def is_uniform(self) -> bool:
        """Whether all probabilities are equal, exactly."""
        return len(set(self.probabilities)) == 1

    def mean(self, values: Sequence[Fraction]) -> Fraction:
        """Return the exact expectation of ``values``, one for each input."""
        terms = zip(self.probabilities, values, strict=True)
        return sum((p * value for p, value in terms), Fraction(0))

    def to_table(self) -> list[str]:
        """Return the probabilities as exact text."""
        return [fraction_text(p) for p in self.probabilities]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.probabilities,)

    def __len__(self) -> int:
        return len(self.probabilities)

    def __iter__(self) -> Iterator[Fraction]:
        return iter(self.probabilities)

    def __getitem__(self, x: int) -> Fraction:
        return self.probabilities[x]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prior):
            return NotImplemented
        return self.probabilities == other.probabilities

    def __hash__(self) -> int:
        return hash(self.probabilities)

    def __repr__(self) -> str:
        shown = [short_text(p) for p in self.probabilities]
        if len(shown) > 8:
            shown = [*shown[:4], "...", *shown[-2:]]
            return f"Prior({len(self)} inputs: {', '.join(shown)})"
        return f"Prior({', '.join(shown)})"


def _restored(probabilities: tuple[Fraction, ...]) -> Prior:
    """Return a prior that was pickled, read-only as it was."""
    prior = Prior.__new__(Prior)
    prior._fill(probabilities)
    return prior
