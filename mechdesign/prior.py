"""Priors: exact distributions of the input X, known to the adversary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.domain import Domain, whole_number
from mechdesign.errors import InputError, listed, shown
from mechdesign.exact import LEAST_SIZE, Exact, as_fraction, fraction_text, short_text
from mechdesign.labels import Labels, aligned, by_label, split
from mechdesign.resources import check_size

SUM_TOLERANCE = Fraction(1, 10**6)
"""Largest accepted difference between 1 and the sum of given probabilities."""


def labeled_numbers(
    values: Any, key: str, expected: str = "a finite number >= 0"
) -> tuple[tuple[Fraction, ...], Labels | None]:
    """Return nonnegative exact rationals in the order given, and their labels.

    ``expected`` describes an entry, for the error.
    """
    entries, labels = split(values, key, "a list of numbers >= 0")
    numbers = []
    for i, value in enumerate(entries):
        name = f"{key}[{i if labels is None else shown(labels[i])}]"
        numbers.append(as_fraction(value, name, expected=expected, least=0))
    if not numbers:
        raise InputError(key, "a list of numbers >= 0", "an empty list")
    return tuple(numbers), labels


def exact_numbers(values: Any, key: str) -> tuple[Fraction, ...]:
    """Return nonnegative exact rationals that count by position."""
    numbers, labels = labeled_numbers(values, key)
    if labels is not None:
        raise InputError(key, "a list of numbers, which count by position", "numbers with labels")
    return numbers


def distribution(numbers: Sequence[Fraction], key: str, hint: str = "") -> tuple[Fraction, ...]:
    """Return nonnegative numbers that sum to 1 within 1e-6, normalized exactly."""
    total = sum(numbers, Fraction(0))
    if abs(total - 1) > SUM_TOLERANCE:
        raise InputError(key, "numbers that sum to 1", f"sum {float(total):.9g}", hint)
    return normalized(numbers, key)


def normalized(numbers: Sequence[Fraction], key: str) -> tuple[Fraction, ...]:
    """Return nonnegative numbers, not all 0, divided by their sum."""
    total = sum(numbers, Fraction(0))
    probabilities = tuple(number / total for number in numbers)
    if any(0 < p < LEAST_SIZE for p in probabilities):
        fault = f"a probability is above 0 but below {float(LEAST_SIZE):g}"
        raise InputError(key, "0 or a larger probability", "a smaller one", fault=fault)
    return probabilities


class Prior:
    """An exact distribution of the input X.

    Decimals are read exactly as written, and normalized exactly.

    Parameters
    ----------
    probabilities
        ``(n_inputs,)`` numbers >= 0 that sum to 1 within 1e-6: a list or an array in the order of
        the inputs, or a dict or a pandas Series by label. For counts see :meth:`from_counts`.

    Attributes
    ----------
    probabilities
        The exact probabilities, in the order given.
    labels
        Their labels; None if they count by position.

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
    >>> Prior({"no": 0.9, "yes": 0.1}).aligned(Domain(["yes", "no"]))
    Prior(0.1, 0.9)
    """

    __slots__ = ("_array", "labels", "probabilities")

    as_domain = "the domain comes first, then prior=..."

    probabilities: tuple[Fraction, ...]
    labels: Labels | None

    def __init__(self, probabilities: Iterable[Exact] | Mapping[Any, Exact]) -> None:
        numbers, labels = labeled_numbers(probabilities, "probabilities")
        self._fill(distribution(numbers, "probabilities", "Prior.from_counts takes counts"), labels)

    def _fill(self, probabilities: tuple[Fraction, ...], labels: Labels | None = None) -> None:
        self.probabilities, self.labels = probabilities, labels
        self._array: FloatArray | None = None  # made when it is first asked for

    @classmethod
    def uniform(cls, size: int) -> Prior:
        """Return the uniform prior on ``size`` inputs.

        Examples
        --------
        >>> Prior.uniform(3)
        Prior(1/3, 1/3, 1/3)
        """
        wanted = whole_number(size, "size")
        check_size("inputs", wanted, "size")
        prior = cls.__new__(cls)
        prior._fill((Fraction(1, wanted),) * wanted)
        return prior

    @classmethod
    def from_counts(
        cls, counts: Iterable[Exact] | Mapping[Any, Exact], smoothing: Exact = 0
    ) -> Prior:
        """Return the prior proportional to counts or weights.

        Parameters
        ----------
        counts
            ``(n_inputs,)`` numbers >= 0, by position or by label as for the class.
        smoothing
            Added to every count: 1 is Laplace's rule, 1/2 that of Krichevsky and Trofimov.

        Examples
        --------
        >>> Prior.from_counts([3, 0, 1], smoothing=1)
        Prior(4/7, 1/7, 2/7)
        """
        extra = as_fraction(smoothing, "smoothing", expected="a number >= 0", least=0)
        given, labels = labeled_numbers(counts, "counts")
        numbers = [count + extra for count in given]
        if not any(numbers):
            raise InputError("counts", "a count above 0", "zeros", fault="all counts are 0")
        prior = cls.__new__(cls)
        prior._fill(normalized(numbers, "counts"), labels)
        return prior

    @classmethod
    def from_data(cls, values: Iterable[Any], domain: Domain, smoothing: Exact = 0) -> Prior:
        """Return the empirical prior of some records.

        Parameters
        ----------
        values
            One label of ``domain`` for each record.
        domain
            The inputs; inputs that do not occur get the count 0.
        smoothing
            As in :meth:`from_counts`.

        Raises
        ------
        InputError
            If a record is not in the domain; the message gives its number, from 1.

        Examples
        --------
        >>> Prior.from_data(["no", "yes", "no"], Domain(["yes", "no"]))
        Prior('yes': 1/3, 'no': 2/3)
        """
        domain = Domain.of(domain)
        records = listed(values, "values", "a list of labels of the domain", quoted=False)
        found = Counter(domain.code(v, f"record {row}") for row, v in enumerate(records, 1))
        counts = {label: found[x] for x, label in enumerate(domain)}
        return cls.from_counts(counts, smoothing)

    def aligned(self, inputs: Domain, key: str = "prior", entries: str = "probabilities") -> Prior:
        """Return the prior in the order of the inputs, where it counts by position.

        ``key`` and what the ``entries`` were given as are for the error.

        Raises
        ------
        InputError
            If its labels, or without labels their number, are not those of the inputs.
        """
        ordered = aligned(self.probabilities, self.labels, inputs.labels, key, entries=entries)
        return self if self.labels is None else _restored(tuple(ordered))

    @property
    def array(self) -> FloatArray:
        """The probabilities as read-only float64, shape ``(n_inputs,)``."""
        if self._array is None:
            self._array = np.array([float(p) for p in self.probabilities])
            self._array.flags.writeable = False
        return self._array

    @property
    def minimum(self) -> Fraction:
        """The smallest probability."""
        return min(self.probabilities)

    @property
    def is_uniform(self) -> bool:
        """Whether all probabilities are equal, exactly."""
        return all(p == self.probabilities[0] for p in self.probabilities)

    def mean(self, values: Sequence[Any]) -> Fraction:
        """Return the exact expectation of ``values``, one for each input."""
        terms = zip(self.probabilities, values, strict=True)
        return sum((p * value for p, value in terms), Fraction(0))

    def to_table(self) -> Any:
        """Return the probabilities as exact text: a list, or a dict by label."""
        return by_label([fraction_text(p) for p in self.probabilities], self.labels)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.probabilities, self.labels)

    def __len__(self) -> int:
        return len(self.probabilities)

    def __iter__(self) -> Iterator[Fraction]:
        return iter(self.probabilities)

    def __getitem__(self, x: int) -> Fraction:
        return self.probabilities[x]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prior):
            return NotImplemented
        return (self.probabilities, self.labels) == (other.probabilities, other.labels)

    def __hash__(self) -> int:
        return hash(self.probabilities)

    def __repr__(self) -> str:
        shown_entries = [short_text(p) for p in self.probabilities]
        if self.labels is not None:
            pairs = zip(self.labels, shown_entries, strict=True)
            shown_entries = [f"{shown(label)}: {p}" for label, p in pairs]
        if len(shown_entries) > 8:
            shown_entries = [*shown_entries[:4], "...", *shown_entries[-2:]]
            return f"Prior({len(self)} inputs: {', '.join(shown_entries)})"
        return f"Prior({', '.join(shown_entries)})"


def as_prior(given: Any, key: str = "prior") -> Prior:
    """Return a prior, naming ``key`` in any error."""
    if isinstance(given, Prior):
        return given
    try:
        return Prior(given)
    except InputError as error:
        tail = error.key.removeprefix("probabilities")
        raise error.at(key + tail) from None


def prior_on(given: Any, inputs: Domain, key: str = "prior") -> Prior:
    """Return a prior in the order of the inputs, from a prior or its probabilities."""
    return as_prior(given, key).aligned(inputs, key)


def _restored(probabilities: tuple[Fraction, ...], labels: Labels | None = None) -> Prior:
    """Return a prior that was pickled, read-only as it was."""
    prior = Prior.__new__(Prior)
    prior._fill(probabilities, labels)
    return prior
