"""Kinds of tables: how the columns of each are taken, and how what is found is given back.

No library is imported that a user has not loaded: a table of pandas exists only if pandas is there.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from mechdesign.collection.tables.draws import Found
from mechdesign.collection.tables.jobs import ALONE, Column, PrivatizeJob, TallyJob
from mechdesign.collection.tables.provenance import Metadata
from mechdesign.errors import InputError, shown
from mechdesign.reports import Tally

__all__ = ["ARROW_KINDS", "ArrowBatchKind", "ArrowTableKind", "EagerKind", "Kind"]
__all__ += ["check_names", "same_kind", "typed"]


class Kind(ABC):
    """A kind of data of a library: a column, a table, or a plan of one."""

    module: ClassVar[str]
    """Where the library has its class."""

    name: ClassVar[str]
    """The class."""

    is_column: ClassVar[bool] = False
    """Whether it is one column; else it has several, by name."""

    draws_again: ClassVar[bool] = False
    """Whether it is a plan, by which a part may be drawn for more than once."""

    @classmethod
    def holds(cls, data: Any) -> bool:
        """Return whether data are of this kind."""
        library = sys.modules.get(cls.module)
        found = getattr(library, cls.name, None)
        return found is not None and isinstance(data, found)

    @abstractmethod
    def privatize(self, data: Any, job: PrivatizeJob) -> Any:
        """Return the reports, in data of the same kind."""

    @abstractmethod
    def tally(self, data: Any, job: TallyJob) -> dict[Any, Tally]:
        """Return the tally of each column."""


class EagerKind(Kind):
    """Data that are held in memory, whose columns Arrow can read."""

    def names(self, data: Any) -> list[Any]:
        """Return the names of the columns."""
        return [ALONE]

    def metadata(self, data: Any) -> Metadata:
        """Return what a table says of itself."""
        return None

    @abstractmethod
    def column(self, data: Any, name: Any) -> Column:
        """Return the cells of a column."""

    @abstractmethod
    def give(self, data: Any, found: Found, keep: tuple[Any, ...]) -> Any:
        """Return what was found, and columns of the data that are kept, as the kind has it."""

    def privatize(self, data: Any, job: PrivatizeJob) -> Any:
        """Return the reports, in data of the same kind."""
        names = self.names(data)
        check_names([*job.wanted(), *job.keep], names)
        return self.give(data, job.run(lambda name: self.column(data, name)), job.keep)

    def tally(self, data: Any, job: TallyJob) -> dict[Any, Tally]:
        """Return the tally of each column."""
        names = self.names(data)
        check_names(job.mechanisms, names)
        return job.run(lambda name: self.column(data, name), names, self.metadata(data))


def check_names(wanted: Iterable[Any], names: list[Any]) -> None:
    """Raise InputError unless a table has each of some columns exactly once."""
    for name in wanted:
        if names.count(name) != 1:
            given = "several" if name in names else "none"
            raise InputError("data", f"one column {shown(name)}", given)


def typed(column: Any, convert: Callable[[Any], Column] = pa.array) -> Column:
    """Return what Arrow makes of a column.

    Raises
    ------
    InputError
        If its cells are of several types.
    """
    try:
        return convert(column)
    except (pa.ArrowException, OverflowError, ValueError):  # whose words quote a cell
        raise InputError("data", "a column of text or numbers", "cells of other types") from None


class ListKind(EagerKind):
    """A list of Python."""

    module, name, is_column = "builtins", "list", True

    def column(self, data: Any, name: Any) -> Column:
        """Return the entries."""
        return typed(data)

    def give(self, data: Any, found: Found, keep: tuple[Any, ...]) -> Any:
        """Return a list."""
        return found.columns[ALONE].to_pylist()


class NumPyKind(EagerKind):
    """An array of NumPy with one axis."""

    module, name, is_column = "numpy", "ndarray", True

    def column(self, data: Any, name: Any) -> Column:
        """Return the entries."""
        if data.ndim != 1:
            raise InputError("data", "an array of one axis", f"one of {data.ndim}")
        return typed(data)

    def give(self, data: Any, found: Found, keep: tuple[Any, ...]) -> Any:
        """Return an array, of text where the reports are text."""
        made = found.columns[ALONE]
        if pa.types.is_string(made.type):
            return np.array(made.to_pylist(), dtype=object if data.dtype == object else str)
        return made.to_numpy(zero_copy_only=False)


class ArrowArrayKind(EagerKind):
    """An array of Arrow."""

    module, name, is_column = "pyarrow", "Array", True

    def column(self, data: Any, name: Any) -> Column:
        """Return the array."""
        return data

    def give(self, data: Any, found: Found, keep: tuple[Any, ...]) -> Any:
        """Return an array."""
        return found.columns[ALONE]


class ArrowChunksKind(ArrowArrayKind):
    """An array of Arrow in chunks."""

    name = "ChunkedArray"

    def give(self, data: Any, found: Found, keep: tuple[Any, ...]) -> Any:
        """Return an array of one chunk."""
        return pa.chunked_array([found.columns[ALONE]])


class ArrowTableKind(EagerKind):
    """A table of Arrow."""

    module, name = "pyarrow", "Table"

    def names(self, data: Any) -> list[Any]:
        """Return the names of the columns."""
        return list(data.schema.names)

    def metadata(self, data: Any) -> Metadata:
        """Return the metadata of the table."""
        return data.schema.metadata  # type: ignore[no-any-return]

    def column(self, data: Any, name: Any) -> Column:
        """Return a column."""
        return data.column(name)

    def give(self, data: Any, found: Found, keep: tuple[Any, ...]) -> Any:
        """Return a table."""
        table = pa.table({**found.columns, **kept(data, found, keep)})
        return table.replace_schema_metadata(found.metadata)


def kept(data: Any, found: Found, keep: tuple[Any, ...]) -> dict[Any, Column]:
    """Return columns of an Arrow table that are copied, of the rows that stay."""
    return {name: found.kept(data.column(name)) for name in keep}


class ArrowBatchKind(ArrowTableKind):
    """A batch of rows of Arrow."""

    name = "RecordBatch"

    def give(self, data: Any, found: Found, keep: tuple[Any, ...]) -> Any:
        """Return a batch."""
        columns = {**found.columns, **kept(data, found, keep)}
        batch = pa.record_batch(list(columns.values()), names=list(columns))
        return batch.replace_schema_metadata(found.metadata)


def same_kind(kinds: Sequence[Kind], data: Any) -> Kind | None:
    """Return the first kind that data are of; None if they are of none."""
    return next((kind for kind in kinds if kind.holds(data)), None)


ARROW_KINDS: tuple[Kind, ...] = (
    ListKind(),
    NumPyKind(),
    ArrowArrayKind(),
    ArrowChunksKind(),
    ArrowTableKind(),
    ArrowBatchKind(),
)
"""What Python, NumPy and Arrow hold in memory."""
