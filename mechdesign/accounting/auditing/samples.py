"""Reports in the forms that events need: one code each, rows of bits, and numeric values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
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
    first = drawn[0]
    if isinstance(first, Reports):
        if isinstance(first.alphabet, Labels):
            return _of_labels([r.data for r in drawn], first.alphabet.outputs.labels)
        if isinstance(first.alphabet, BitRows):
            inputs = first.alphabet.inputs
            width, names = len(inputs), [f"contains {label!r}" for label in inputs.labels]
            unpacked = [
                np.unpackbits(r.data, axis=1, count=width, bitorder="little").astype(bool)
                for r in drawn
            ]
            return _of_bits(unpacked, names)
        return _of_objects([r.labels() for r in drawn])
    arrays = [_array(given) for given in drawn]
    if any(array is None for array in arrays):
        return _of_objects([list(given) for given in drawn])
    return _of_arrays([array for array in arrays if array is not None])


def _array(given: Any) -> npt.NDArray[Any] | None:
    """Return reports as an array, None where they are objects or of different lengths."""
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths
        return None
    return None if array.dtype == object or array.ndim == 0 else array


def _of_labels(codes: list[npt.NDArray[Any]], labels: Sequence[Hashable]) -> list[Sample]:
    numeric = all(isinstance(label, int | float) for label in labels)
    line = np.array(labels, dtype=np.float64) if numeric else None
    return [
        Sample(
            c.astype(np.int64),
            lambda code: repr(labels[code]),
            np.zeros((len(c), 0), dtype=bool),
            (),
            None if line is None else line[c],
        )
        for c in codes
    ]


def _of_bits(bits: list[BoolArray], names: Sequence[str]) -> list[Sample]:
    """Return samples of rows of bits, with a code for each distinct row."""
    packed = np.concatenate([np.packbits(b, axis=1) for b in bits])
    # rows are identified by a hash: a collision merges two reports, which leaves the test valid
    generator = np.random.default_rng(0)
    factors = np.frombuffer(generator.bytes(8 * packed.shape[1]), dtype=np.uint64)
    hashed = np.zeros(len(packed), dtype=np.uint64)
    for j in range(packed.shape[1]):
        hashed += packed[:, j] * factors[j]
    _, first, codes = np.unique(hashed, return_index=True, return_inverse=True)
    parts = np.split(codes.astype(np.int64), np.cumsum([len(b) for b in bits])[:-1])

    def name(code: int) -> str:
        row = np.unpackbits(packed[first[code]], count=len(names))
        held = [names[int(j)] for j in np.flatnonzero(row)]
        return " and ".join(held[:6]) + (" and more" if len(held) > 6 else "") or "nothing"

    return [Sample(c, name, b, names, None) for c, b in zip(parts, bits, strict=True)]


def _of_arrays(arrays: list[npt.NDArray[Any]]) -> list[Sample]:
    if any(array.dtype != arrays[0].dtype for array in arrays):
        kinds = {array.dtype.kind for array in arrays}
        if not kinds <= set("biuf"):
            return _of_objects([array.tolist() for array in arrays])
    if arrays[0].dtype.names:  # a structured array: its fields side by side
        tables, heads = [], []
        for field in arrays[0].dtype.names:
            column = [array[field].reshape(len(array), -1) for array in arrays]
            tables.append(column)
            wide = column[0].shape[1] > 1
            heads += [f"{field}[{j}]" if wide else field for j in range(column[0].shape[1])]
        columns = [column for table in tables for column in _columns(table)]
        return _of_columns(columns, heads)
    if arrays[0].ndim == 1:
        values, codes = np.unique(np.concatenate(arrays), return_inverse=True)
        ends = np.cumsum([len(array) for array in arrays])[:-1]
        return _of_labels(np.split(codes, ends), values.tolist())
    flat = [array.reshape(len(array), -1) for array in arrays]
    if len({table.shape[1] for table in flat}) > 1:
        return _of_objects([array.tolist() for array in arrays])
    return _of_columns(_columns(flat), [f"part {j}" for j in range(flat[0].shape[1])])


def _columns(tables: list[npt.NDArray[Any]]) -> list[list[npt.NDArray[Any]]]:
    return [[table[:, j] for table in tables] for j in range(tables[0].shape[1])]


def _of_columns(columns: list[list[npt.NDArray[Any]]], heads: Sequence[str]) -> list[Sample]:
    """Return samples of columns: one of two values becomes one bit, others a bit for each value."""
    bits: list[list[BoolArray]] = [[] for _ in columns[0]]
    names = []
    for column, head in zip(columns, heads, strict=True):
        found, counts = np.unique(np.concatenate(column), return_counts=True)
        common = np.sort(found[np.argsort(-counts, kind="stable")[:MOST_PART_VALUES]])
        for value in common[1:] if len(found) == 2 else common:
            names.append(f"{head} = {value!s}")
            for sample, part in zip(bits, column, strict=True):
                sample.append(part == value)
    return _of_bits([np.stack(sample, axis=1) for sample in bits], names)


def _of_objects(drawn: list[list[Any]]) -> list[Sample]:
    """Return samples of Python values: sets, tuples of one length, or anything hashable."""
    every = [report for reports in drawn for report in reports]
    if all(isinstance(report, set | frozenset) for report in every):
        return _of_sets(drawn)
    rows = all(isinstance(report, list | tuple | np.ndarray) for report in every)
    if rows and len({len(report) for report in every}) == 1 and len(every[0]):
        tables = [
            [_column([report[j] for report in reports]) for j in range(len(every[0]))]
            for reports in drawn
        ]
        columns = [list(column) for column in zip(*tables, strict=True)]
        return _of_columns(columns, [f"part {j}" for j in range(len(columns))])
    if rows:
        drawn = [[tuple(report) for report in reports] for reports in drawn]
    number: dict[Hashable, int] = {}
    try:
        codes = [
            np.array([number.setdefault(report, len(number)) for report in reports], dtype=np.int64)
            for reports in drawn
        ]
    except TypeError:
        raise InputError("sampler", "reports that can be compared", shown(every[0])) from None
    return _of_labels(codes, [repr(report) for report in number])


def _column(values: list[Any]) -> npt.NDArray[Any]:
    """Return the values of one part as an array of one axis, as text where they are mixed."""
    array = _array(values)
    plain = array is not None and array.ndim == 1
    return array if array is not None and plain else np.array([str(value) for value in values])


def _of_sets(drawn: list[list[Any]]) -> list[Sample]:
    members: dict[Hashable, int] = {}
    for reports in drawn:
        for report in reports:
            for member in report:
                members.setdefault(member, len(members))
    bits = []
    for reports in drawn:
        rows = np.zeros((len(reports), max(1, len(members))), dtype=bool)
        for n, report in enumerate(reports):
            rows[n, [members[member] for member in report]] = True
        bits.append(rows)
    return _of_bits(bits, [f"contains {m!r}" for m in members] or ["contains anything"])
