"""Reports in the forms that events need: one code each, rows of bits, and numeric values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign._typing import BoolArray
from mechdesign.errors import InputError, shown
from mechdesign.mechanisms.subsets.bit_rows import BitRows
from mechdesign.reports import Labels, Reports

__all__ = ["Sample", "read_samples"]

MOST_PART_VALUES = 64
"""Values of one part of a report that become a bit, at most: the most frequent ones."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Reports of one input.

    Attributes
    ----------
    codes
        ``(n,)`` codes of the distinct reports; a report has the same code in every sample.
    name
        Returns the text of a code.
    bits
        ``(n, m)`` binary features of each report. m may be 0.
    bit_names
        ``m`` names of them.
    values
        ``(n,)`` the reports as numbers, or None where they are not numeric.
    """

    codes: npt.NDArray[np.int64]
    name: Callable[[int], str]
    bits: BoolArray
    bit_names: Sequence[str]
    values: npt.NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.codes)

    def slice(self, start: int, stop: int) -> Sample:
        """Return the reports from one index up to another."""
        values = None if self.values is None else self.values[start:stop]
        codes, bits = self.codes[start:stop], self.bits[start:stop]
        return Sample(codes, self.name, bits, self.bit_names, values)


def read_samples(drawn: Sequence[Any], count: int) -> list[Sample]:
    """Return the reports of a sampler as one sample for each input.

    Parameters
    ----------
    drawn
        Of each input: Reports, an array whose first axis is the report, or a list.
    count
        How many reports there should be.

    Raises
    ------
    InputError
        If there are more or fewer, or they cannot be compared.
    """
    for given in drawn:
        try:
            size = len(given)
        except TypeError:
            raise InputError("sampler", "an array or a list of reports", shown(given)) from None
        if size != count:
            raise InputError("sampler", f"{count} reports when asked for so many", size)
    whole = _of_reports(drawn) if isinstance(drawn[0], Reports) else _of_any(drawn)
    return [whole.slice(n * count, (n + 1) * count) for n in range(len(drawn))]


def _of_reports(drawn: Sequence[Reports]) -> Sample:
    alphabet = drawn[0].alphabet
    if isinstance(alphabet, Labels):
        return _of_codes(np.concatenate([r.data for r in drawn]), alphabet.outputs.labels)
    if isinstance(alphabet, BitRows):
        labels = alphabet.inputs.labels
        rows = np.concatenate([r.data for r in drawn])
        bits = np.unpackbits(rows, axis=1, count=len(labels), bitorder="little").astype(bool)
        return _of_bits(bits, [f"contains {label!r}" for label in labels])
    return _of_objects([report for r in drawn for report in r.labels()])


def _of_any(drawn: Sequence[Any]) -> Sample:
    """Return reports that are arrays of one kind and width, or else Python values."""
    tables = [array for array in map(_array, drawn) if array is not None]
    if len(tables) < len(drawn):
        return _of_objects([report for given in drawn for report in given])
    numeric = {array.dtype.kind for array in tables} <= set("biuf")
    if (numeric or len({array.dtype for array in tables}) == 1) and (
        len({array[:1].size for array in tables}) == len({array.ndim > 1 for array in tables}) == 1
    ):
        if tables[0].ndim == 1:
            return _of_array(np.concatenate(tables))
        return _of_array(np.concatenate([array.reshape(len(array), -1) for array in tables]))
    return _of_objects([report for array in tables for report in array.tolist()])


def _array(given: Any) -> npt.NDArray[Any] | None:
    """Return reports as an array, None where they are objects or of different lengths."""
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths
        return None
    return None if array.dtype == object or array.ndim == 0 else array


def _of_codes(codes: npt.NDArray[Any], labels: Sequence[Hashable]) -> Sample:
    """Return a sample of reports that are one of some labels, by their number."""
    numeric = all(isinstance(label, int | float) for label in labels)
    values = np.array(labels, dtype=np.float64)[codes] if numeric else None
    bits = np.zeros((len(codes), 0), dtype=bool)
    return Sample(codes.astype(np.int64), lambda code: repr(labels[code]), bits, (), values)


def _of_bits(bits: BoolArray, names: Sequence[str]) -> Sample:
    """Return a sample of rows of bits, with a code for each distinct row."""
    packed = np.packbits(bits, axis=1)
    # rows are identified by a hash: a collision merges two reports, which leaves the test valid
    generator = np.random.default_rng(0)
    factors = np.frombuffer(generator.bytes(8 * packed.shape[1]), dtype=np.uint64)
    hashed = np.zeros(len(packed), dtype=np.uint64)
    for j in range(packed.shape[1]):
        hashed += packed[:, j] * factors[j]
    _, first, codes = np.unique(hashed, return_index=True, return_inverse=True)

    def name(code: int) -> str:
        row = np.unpackbits(packed[first[code]], count=len(names))
        held = [names[int(j)] for j in np.flatnonzero(row)]
        return " and ".join(held[:6]) + (" and more" if len(held) > 6 else "") or "nothing"

    return Sample(codes.astype(np.int64), name, bits, names, None)


def _of_array(array: npt.NDArray[Any]) -> Sample:
    if array.dtype.names:  # a structured array: its fields side by side
        columns, heads = [], []
        for field in array.dtype.names:
            parts = array[field].reshape(len(array), -1).T
            columns += list(parts)
            heads += [f"{field}[{j}]" if len(parts) > 1 else field for j in range(len(parts))]
        return _of_columns(columns, heads)
    if array.ndim == 1:
        values, codes = np.unique(array, return_inverse=True)
        return _of_codes(codes, values.tolist())
    return _of_columns(list(array.T), [f"part {j}" for j in range(array.shape[1])])


def _of_columns(columns: list[npt.NDArray[Any]], heads: Sequence[str]) -> Sample:
    """Return a sample of columns: one of two values becomes one bit, others a bit for each."""
    bits, names = [], []
    for column, head in zip(columns, heads, strict=True):
        found, counts = np.unique(column, return_counts=True)
        common = np.sort(found[np.argsort(-counts, kind="stable")[:MOST_PART_VALUES]])
        for value in common[1:] if len(found) == 2 else common:
            names.append(f"{head} = {value!s}")
            bits.append(column == value)
    return _of_bits(np.stack(bits, axis=1), names)


def _of_objects(reports: list[Any]) -> Sample:
    """Return a sample of Python values: sets, tuples of one length, or anything hashable."""
    if all(isinstance(report, set | frozenset) for report in reports):
        return _of_sets(reports)
    if all(isinstance(report, list | tuple | np.ndarray) for report in reports):
        width = len(reports[0])
        if width and all(len(report) == width for report in reports):
            columns = [_column(list(part)) for part in zip(*reports, strict=True)]
            return _of_columns(columns, [f"part {j}" for j in range(width)])
        reports = [tuple(report) for report in reports]
    number: dict[Hashable, int] = {}
    try:
        codes = np.array([number.setdefault(report, len(number)) for report in reports])
    except TypeError:
        raise InputError("sampler", "reports that can be compared", shown(reports[0])) from None
    return _of_codes(codes, [repr(report) for report in number])


def _column(values: list[Any]) -> npt.NDArray[Any]:
    """Return the values of one part as an array of one axis, as text where they are mixed."""
    array = _array(values)
    plain = array is not None and array.ndim == 1
    return array if array is not None and plain else np.array([str(value) for value in values])


def _of_sets(reports: list[Any]) -> Sample:
    members = {member: j for j, member in enumerate(dict.fromkeys(chain.from_iterable(reports)))}
    bits = np.zeros((len(reports), max(1, len(members))), dtype=bool)
    for row, report in zip(bits, reports, strict=True):
        row[[members[member] for member in report]] = True
    return _of_bits(bits, [f"contains {m!r}" for m in members] or ["contains anything"])
