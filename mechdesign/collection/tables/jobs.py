"""What is asked for a table, on Arrow columns: the one core that all libraries go through."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mechdesign.collection.tables.cells import Cells
from mechdesign.collection.tables.draws import (
    NOTE,
    Drawer,
    Found,
    Policies,
    RowDraws,
    as_mechanism,
)
from mechdesign.collection.tables.keyed_coins import CollectionCoins, sources_of
from mechdesign.collection.tables.policies import read_strictly
from mechdesign.collection.tables.provenance import (
    Metadata,
    check_stamps,
    check_stated,
    says_simulation,
    stamp_of,
)
from mechdesign.errors import InputError, shown
from mechdesign.reports import Reports, Tally
from mechdesign.sampling import SIMULATION

__all__ = ["ALONE", "Column", "PrivatizeJob", "TallyJob"]
__all__ += ["by_column", "check_names_differ", "tally_of"]

Column = Any
"""An array of Arrow, in one piece or in chunks."""

ALONE = ""
"""The name of a column that is no part of a table."""


def by_column(mechanisms: Any) -> dict[Any, Drawer]:
    """Return mechanisms by the names of their columns; one alone is for a column without a name.

    Raises
    ------
    InputError
        If there are none, or one is no mechanism.
    """
    if not isinstance(mechanisms, Mapping):
        return {ALONE: as_mechanism(mechanisms)}
    if not mechanisms:
        raise InputError("mechanisms", "a mechanism for at least one column", "none")
    return {name: as_mechanism(mechanism) for name, mechanism in mechanisms.items()}


def check_names_differ(
    private: Sequence[Any], keep: Sequence[Any], noted: bool, stamps: Sequence[str] = ()
) -> None:
    """Raise InputError unless the columns of what is written differ, with a note and stamps."""
    twice = [name for name in keep if name in private]
    if twice:
        expected = "columns beside those that are to be private"
        raise InputError("keep", expected, shown(twice[0]))
    if len(set(keep)) < len(keep):
        raise InputError("keep", "columns that all differ", shown(list(keep)))
    if noted and NOTE in (*private, *keep):
        expected = f"another name than {NOTE!r}, in which a simulation says that it is one"
        raise InputError("column", expected, shown(NOTE), "rename it")
    taken = [name for name in stamps if name in (*private, *keep)]
    if taken:
        expected = f"another name than {taken[0]!r}, in which reports state their channel"
        raise InputError("column", expected, shown(taken[0]), "rename it")


@dataclass(frozen=True)
class PrivatizeJob:
    """Draws reports for the columns of a table.

    Attributes
    ----------
    mechanisms
        By the name of the column.
    unknown, missing
        As for :func:`~mechdesign.collection.tables.privatize`.
    keep
        The columns to copy as they are.
    rng
        A generator for a simulation.
    coins
        The coins of a collection, in place of those of the operating system.
    ids
        For those, the name of the column of ids; for a column alone, the ids themselves.
    one_each
        Whether each person is asked for one column only.
    in_parts
        Whether an engine draws for parts of the table, in which rows are counted anew.
    stamp
        Whether a column beside each column of reports states its channel.
    """

    mechanisms: dict[Any, Drawer]
    unknown: Policies = "refuse"
    missing: Policies = "refuse"
    keep: tuple[Any, ...] = ()
    rng: np.random.Generator | None = None
    coins: CollectionCoins | None = None
    ids: Any = None
    one_each: bool = False
    in_parts: bool = False
    stamp: bool = False
    one_column: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "one_column", ALONE in self.mechanisms)
        stamps = self._draws().stamps(in_file=False)  # checks mechanisms and policies
        check_names_differ(list(self.mechanisms), self.keep, self._noted, stamps)
        if self.stamp and self.one_column:
            raise InputError("stamp", "False for a column alone", "True")

    @property
    def _noted(self) -> bool:
        return self.rng is not None and not self.one_column

    def _draws(self) -> RowDraws:
        policies = self.unknown, self.missing
        return RowDraws(self.mechanisms, *policies, self.one_each, self._noted, self.stamp)

    def wanted(self) -> list[Any]:
        """Return the names of the columns that are read."""
        has_ids = self.coins is not None and not self.one_column
        return [*self.mechanisms, *([self.ids] if has_ids else [])]

    def run(self, column: Callable[[Any], Column]) -> Found:
        """Return the reports for the columns of a table.

        Parameters
        ----------
        column
            Returns the cells of a column, by its name.

        Raises
        ------
        InputError
            For the first cell that is refused; the key names its row, counted from 0.
        """
        place = _row_of_part if self.in_parts else _row
        cells = [_cells(column(name), name, place) for name in self.mechanisms]
        tags = None
        if self.coins is not None:
            ids, named = (self.ids, "ids") if self.one_column else (column(self.ids), self.ids)
            tags = self.coins.tags(ids, _named(named), partial(place, named))
            if len(tags) != len(cells[0].which):
                raise InputError("ids", f"{len(cells[0].which)} ids, one a record", len(tags))
        sources = sources_of(self.coins, tags, self.rng, len(cells))
        return self._draws().draw(cells, sources, in_file=False, counts=False)


@dataclass(frozen=True)
class TallyJob:
    """Counts the reports in the columns of a table.

    Attributes
    ----------
    mechanisms
        What they were drawn by, by the name of the column.
    one_each
        Whether each person was asked for one column only; other cells hold nothing.
    check
        Whether reports that state another channel are refused.
    """

    mechanisms: dict[Any, Drawer]
    one_each: bool = False
    check: bool = True

    def run(
        self,
        column: Callable[[Any], Column],
        names: Iterable[Hashable],
        metadata: Metadata = None,
    ) -> dict[Any, Tally]:
        """Return the tally of each column.

        Parameters
        ----------
        column
            Returns the cells of a column, by its name.
        names
            All columns of the table.
        metadata
            What the table says of itself.

        Raises
        ------
        InputError
            For the first cell that is no report; the key names its row, counted from 0.
        """
        names = list(names)
        noted = NOTE in names and NOTE not in self.mechanisms
        simulated = noted and pc.any(pc.equal(column(NOTE).cast(pa.string()), SIMULATION)).as_py()
        simulated = simulated or says_simulation(metadata)
        found = {}
        for name, mechanism in self.mechanisms.items():
            if self.check:
                check_stated(metadata, [name], mechanism.digest, _named(name))
                stamp = stamp_of([name])
                if names.count(stamp) == 1 and stamp not in self.mechanisms:
                    check_stamps(_cells(column(stamp), stamp, _row), mechanism.digest)
            cells = _cells(column(name), name, _row)
            found[name] = tally_of(mechanism, cells, self.one_each, bool(simulated))
        return found

    def merged(self, parts: Sequence[dict[Any, Tally]]) -> dict[Any, Tally]:
        """Return the tallies of all parts together."""
        return {name: sum((part[name] for part in parts[1:]), parts[0][name]) for name in parts[0]}


def tally_of(mechanism: Drawer, cells: Cells, one_each: bool, simulated: bool) -> Tally:
    """Count the reports in cells, of which only some are filled where one column each was asked.

    Raises
    ------
    InputError
        For the first cell that is no report; the key is its place.
    """
    data = read_strictly(mechanism.alphabet.read, cells.filled() if one_each else cells)
    return mechanism.tally(Reports(data, mechanism.alphabet, simulated))


def _cells(column: Column, name: Any, place: Callable[[Any, int], str]) -> Cells:
    return Cells(column, _named(name), partial(place, name))


def _named(name: Any) -> str:
    return "data" if name == ALONE else f"data[{name!r}]"


def _row(name: Any, row: int) -> str:
    return f"{_named(name)}, row {row}"


def _row_of_part(name: Any, row: int) -> str:
    return f"{_row(name, row)} of a part"
