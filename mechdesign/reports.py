"""Reports, their text format, and their counts."""

from __future__ import annotations

import math
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from mechdesign._typing import AnyArray, Int64Array
from mechdesign.domain import Domain, Label, is_whole
from mechdesign.errors import InputError, listed, shown
from mechdesign.resources import allow, current
from mechdesign.sampling import SIMULATION, Randomness, Source, pieces, source_of

__all__ = ["Alphabet", "Labels", "Numbers", "ReportSource", "Reports", "Tally"]


MOST_REPORTS = 1 << 62
"""Counts with a smaller sum never overflow."""


class Alphabet(ABC):
    """The reports that a mechanism may send: their array representation and their text format.

    The first axis of an array of reports is the record.
    """

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """The number of different reports."""

    @property
    @abstractmethod
    def n_counts(self) -> int:
        """The number of counts in a tally."""

    @abstractmethod
    def listed(self) -> AnyArray:
        """Return every report once, in the order of the outputs."""

    @abstractmethod
    def count(self, data: AnyArray) -> Int64Array:
        """Return the counts that estimates use; counts of two parts add up."""

    @abstractmethod
    def matches(self, other: Alphabet) -> bool:
        """Return whether another alphabet has the same reports and array representation."""

    @abstractmethod
    def labels(self, data: AnyArray) -> list[Any]:
        """Return the reports as Python values: labels, tuples of labels, sets."""

    def values(self, data: AnyArray) -> AnyArray:
        """Return the reports as an array of one axis: of numbers, text, or else objects."""
        return value_array(self.labels(data))

    @abstractmethod
    def encode(self, labels: Iterable[Any], key: str = "reports") -> AnyArray:
        """Return the array for reports given as Python values; undoes :meth:`labels`."""

    @abstractmethod
    def write(self, data: AnyArray) -> list[str]:
        """Return the reports as text, for one line or cell each."""

    @abstractmethod
    def read(self, texts: Sequence[str], key: str = "reports") -> AnyArray:
        """Return the array for reports given as text; undoes :meth:`write`."""


class Labels(Alphabet):
    """Reports from a list of labels, stored as their indices (int64)."""

    def __init__(self, outputs: Domain) -> None:
        self.outputs = outputs

    @property
    def n_outputs(self) -> int:
        """One for each label."""
        return len(self.outputs)

    @property
    def n_counts(self) -> int:
        """One for each label."""
        return self.n_outputs

    def listed(self) -> AnyArray:
        """Return the numbers of all labels."""
        return np.arange(self.n_outputs)

    def count(self, data: AnyArray) -> Int64Array:
        """Return how often each label was reported."""
        return np.bincount(data, minlength=self.n_outputs).astype(np.int64)

    def matches(self, other: Alphabet) -> bool:
        """Return whether another alphabet has the same labels."""
        return isinstance(other, Labels) and self.outputs.labels == other.outputs.labels

    def labels(self, data: AnyArray) -> list[Label]:
        """Return the labels."""
        known = self.outputs.labels
        return [known[code] for code in data.tolist()]

    def values(self, data: AnyArray) -> AnyArray:
        """Return the labels as an array."""
        return value_array(self.outputs.labels)[data]

    def encode(self, labels: Iterable[Any], key: str = "reports") -> AnyArray:
        """Return the numbers of labels."""
        return self.outputs.codes(labels, key)

    def write(self, data: AnyArray) -> list[str]:
        """Return the labels as text."""
        known = self.outputs.texts
        return [known[code] for code in data.tolist()]

    def read(self, texts: Sequence[str], key: str = "reports") -> AnyArray:
        """Return the numbers of labels given as text."""
        return self.outputs.read(texts, key)


class Numbers(Labels):
    """Reports 0, ..., size - 1, without a list of labels in memory.

    There may be twice as many as inputs of a domain.
    """

    def __init__(self, size: int) -> None:
        self._size = size

    @cached_property
    def outputs(self) -> Domain:  # type: ignore[override]
        """The numbers as a domain."""
        with allow(inputs=max(current().inputs, self._size)):
            return Domain.range(self._size)

    @property
    def n_outputs(self) -> int:
        """One for each number."""
        return self._size

    def matches(self, other: Alphabet) -> bool:
        """Return whether another alphabet has the same numbers."""
        if isinstance(other, Numbers):
            return self._size == other._size
        return super().matches(other)

    def labels(self, data: AnyArray) -> list[Label]:
        """Return the numbers."""
        return list(data.tolist())

    def values(self, data: AnyArray) -> AnyArray:
        """Return the numbers unchanged."""
        return data.copy()

    def encode(self, labels: Iterable[Any], key: str = "reports") -> AnyArray:
        """Return the numbers as an array."""
        given = list(labels)
        if all(type(number) is int and 0 <= number < self._size for number in given):
            return np.array(given, dtype=np.int64)
        return super().encode(given, key)

    def write(self, data: AnyArray) -> list[str]:
        """Return the numbers as text."""
        return list(map(str, data.tolist()))


@dataclass(frozen=True, eq=False)
class Reports(Sequence[Any]):
    """The drawn reports, one for each record, in the order of the records.

    A sequence of labels: ``list``, ``numpy.asarray`` and ``pandas.Series`` accept it.

    Attributes
    ----------
    data
        An array whose first axis is the record; the alphabet defines its contents.
    alphabet
        The alphabet that reads ``data``.
    simulated
        Whether they were drawn from a seed: not for release.
    digest
        The SHA-256 of the channel or mechanism that drew them; None if unknown.

    Examples
    --------
    >>> sent = Reports(np.array([1, 0, 1]), Labels(Domain(["yes", "no"])), simulated=False)
    >>> sent[0], list(sent[1:]), np.asarray(sent)
    ('no', ['yes', 'no'], array(['no', 'yes', 'no'], dtype='<U3'))
    """

    data: AnyArray
    alphabet: Alphabet
    simulated: bool
    digest: str | None = None

    def __len__(self) -> int:
        return len(self.data)

    @overload
    def __getitem__(self, place: int) -> Any: ...

    @overload
    def __getitem__(self, place: slice | AnyArray) -> Reports: ...

    def __getitem__(self, place: Any) -> Any:
        """Return one report, or those at a slice, an index array or a mask."""
        if is_whole(place):
            n = range(len(self))[place]  # an IndexError beyond the end
            return self.alphabet.labels(self.data[n : n + 1])[0]
        return replace(self, data=self.data[place])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels())

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        """Return the labels, so that NumPy and pandas read reports as labels."""
        if copy is False:
            raise ValueError("the labels are looked up: a copy is needed")
        return np.asarray(self.alphabet.values(self.data), dtype=dtype)

    def labels(self) -> list[Any]:
        """Return the reports as Python values."""
        return self.alphabet.labels(self.data)

    def texts(self) -> list[str]:
        """Return the reports as text, as in a file."""
        return self.alphabet.write(self.data)

    def __repr__(self) -> str:
        first = ", ".join(map(reprlib.repr, self.alphabet.labels(self.data[:5])))
        more = ", ..." if len(self) > 5 else ""
        drawn = SIMULATION if self.simulated else "drawn from the operating system's source"
        return f"Reports({len(self)}: {first}{more}; {drawn})"


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of reports, which suffice for every estimate.

    Tallies of parts add up exactly, in any order and grouping: ``sum(tallies)`` is the total tally.

    Attributes
    ----------
    counts
        Integers; the mechanism defines their meaning.
    total
        The number of reports.
    simulated
        Whether any report was drawn from a seed.
    digest
        The SHA-256 of the channel or mechanism of the reports; None if unknown. Adding tallies of
        different channels raises an error.

    Examples
    --------
    >>> sum([Tally.of([2, 1]), Tally.of([0, 4])])
    Tally(7 reports, 2 counts)
    """

    counts: Int64Array
    total: int
    simulated: bool = False
    digest: str | None = None

    @classmethod
    def of(cls, counts: Any) -> Tally:
        """Return the tally of plain counts, one for each output of a channel, in order.

        Raises
        ------
        InputError
            If they are not a one-dimensional array of integers >= 0.
        """
        array = check_counts(counts, np.size(counts))
        return cls(array, int(array.sum()))

    def __add__(self, other: object) -> Tally:
        """Return the sum of two tallies; ``0 + tally``, with which ``sum`` begins, is the tally."""
        if is_whole(other) and other == 0:
            return self
        if not isinstance(other, Tally):
            return NotImplemented
        if self.counts.shape != other.counts.shape:
            given = f"{other.counts.shape} beside {self.counts.shape}"
            raise InputError("tally", "counts of the same mechanism", given)
        if self.digest is not None:
            check_digest(other.digest, self.digest, "tally", "estimate_groups joins two channels")
        return Tally(
            self.counts + other.counts,
            self.total + other.total,
            self.simulated or other.simulated,
            self.digest or other.digest,
        )

    __radd__ = __add__

    def __repr__(self) -> str:
        note = f"; {SIMULATION}" if self.simulated else ""
        return f"Tally({self.total} reports, {self.counts.size} counts{note})"


class ReportSource(ABC):
    """Draws reports from records and counts them: a channel or a structured mechanism."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def inputs(self) -> Domain:
            """The inputs."""

        @property
        def alphabet(self) -> Alphabet:
            """The reports that it may send."""

        @property
        def digest(self) -> str:
            """The SHA-256 of its exact law and its labels, in hexadecimal."""

    @property
    def bits_per_report(self) -> float:
        """The base-2 logarithm of the number of reports."""
        return math.log2(self.alphabet.n_outputs)

    @abstractmethod
    def draw(self, inputs: Any, source: Source, /) -> AnyArray:
        """Return one report for each input, with exactly the stated probabilities.

        Inputs are indices, or doubles of an interval.
        """

    def privatize(self, records: Iterable[Any], rng: Randomness = None) -> Reports:
        """Draw one report for each record, with exactly the probabilities of the table.

        Parameters
        ----------
        records
            Input labels: a list, a NumPy array or a pandas Series; fastest as an array where the
            labels are 0, 1, ..., k - 1.
        rng
            None for the cryptographic source of the operating system. A seed or a
            ``numpy.random.Generator`` gives a simulation, and marks the reports as simulated.

        Raises
        ------
        InputError
            If a record is not in the domain.

        Notes
        -----
        Every record takes the same number of random bits, and no floating point is used.

        Examples
        --------
        >>> from mechdesign.channel import Channel
        >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["yes", "no"])
        >>> warner.privatize([0, 1, 1], rng=1)
        Reports(3: 'no', 'no', 'yes'; simulation, not for release)
        >>> len(warner.privatize([0, 1, 1]))
        3
        """
        return self.drawn(self.inputs.codes(records), source_of(rng))

    def drawn(self, inputs: AnyArray, source: Source) -> Reports:
        """Draw one report for each input, in chunks of records."""
        none = self.draw(inputs[:0], source.of(slice(0)))
        data = np.empty((len(inputs), *none.shape[1:]), dtype=none.dtype)
        for piece in pieces(len(inputs)):
            data[piece] = self.draw(inputs[piece], source.of(piece))
        return Reports(data, self.alphabet, source.simulated, self.digest)

    def tally(self, reports: Reports) -> Tally:
        """Count reports.

        Raises
        ------
        InputError
            If the reports are of another channel.
        """
        check_digest(reports.digest, self.digest)
        counts = check_counts(self.alphabet.count(reports.data), self.alphabet.n_counts)
        return Tally(counts, len(reports), reports.simulated, self.digest)


STAMP = 16
"""Number of digits of a digest in a row of reports or in an error."""

UNCHECKED = "check=False, or --unchecked, reads them all the same"


def check_digest(
    stated: str | None, digest: str, key: str = "reports", hint: str = UNCHECKED
) -> None:
    """Raise InputError if reports state another channel than the one of a digest.

    ``stated`` is the digest of the channel that drew the reports, or its first 16 digits or more;
    None if unknown.

    Examples
    --------
    >>> check_digest("1e" * 32, "0f" * 32, hint="")
    Traceback (most recent call last):
    mechdesign.errors.InputError: reports: expected reports of the channel 0f0f0f0f0f0f0f0f, given
    those of the channel 1e1e1e1e1e1e1e1e
    """
    if stated is not None and (len(stated) < STAMP or not digest.startswith(stated)):
        whole = len(stated) >= STAMP and set(stated) <= set("0123456789abcdef")
        given = f"those of the channel {stated[:STAMP]}" if whole else "reports of no known channel"
        raise InputError(key, f"reports of the channel {digest[:STAMP]}", given, hint)


def value_array(labels: Sequence[Any]) -> AnyArray:
    """Return labels as an array of one axis: of numbers or text if possible, else of objects."""
    if len({type(label) for label in labels}) == 1 and isinstance(labels[0], str | int | float):
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def reports_of(alphabet: Alphabet, given: Any, key: str = "reports") -> Reports:
    """Return reports unchanged, or read them from a list, an array or a pandas Series.

    Text that is not a label is read as in a file, such as the hexadecimal digits of a set. Reports
    of another mechanism are an InputError.
    """
    if isinstance(given, Reports):
        if not alphabet.matches(given.alphabet):
            fault = "the reports are of another mechanism"
            raise InputError(key, "reports of this mechanism", "others", fault=fault)
        return given
    if hasattr(given, "__array__"):
        given = np.asanyarray(given)
    entries = given if isinstance(given, np.ndarray) else listed(given, key, "a list of reports")
    if isinstance(alphabet, Labels) or not all(isinstance(entry, str) for entry in entries):
        return Reports(alphabet.encode(entries, key), alphabet, simulated=False)
    return Reports(alphabet.read(list(entries), key), alphabet, simulated=False)


def check_counts(counts: Any, size: int) -> Int64Array:
    """Return integers >= 0 as an array of one axis and the given size."""
    expected = f"{size} whole numbers >= 0, one for each output"
    try:
        array = np.asarray(counts)
    except ValueError:
        raise InputError("counts", expected, shown(counts)) from None
    if array.shape != (size,):
        raise InputError("counts", expected, f"an array of shape {array.shape}")
    whole = array.dtype.kind in "iu" or (
        array.dtype.kind == "f" and bool((np.isfinite(array) & (np.trunc(array) == array)).all())
    )
    if np.ma.is_masked(counts) or not whole or (array < 0).any():
        raise InputError("counts", expected, shown(array.tolist()))
    if array.sum(dtype=np.float64) >= MOST_REPORTS:
        raise InputError("counts", "a sum below 2**62", shown(array.tolist()))
    return array.astype(np.int64)
