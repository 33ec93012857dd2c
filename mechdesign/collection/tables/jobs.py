"""Draws and counts for batches of rows, shared by tables and files."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from mechdesign._typing import AnyArray, BoolArray, IntArray
from mechdesign.channel import Channel
from mechdesign.collection.tables.cells import (
    Batch,
    Cells,
    Column,
    one_array,
    report_columns,
)
from mechdesign.collection.tables.readers import LabelReader, NumberReader, Reader, read_reports
from mechdesign.continuous import ContinuousChannel
from mechdesign.errors import InputError, listed, shown, shown_kind
from mechdesign.kernel import canonical
from mechdesign.mechanisms import Mechanism
from mechdesign.reports import STAMP, Reports, Tally, check_digest
from mechdesign.sampling import (
    SIMULATION,
    KeyedSource,
    Randomness,
    Source,
    below,
    check_key,
    source_of,
    stream_of,
    subkey,
    tags_of_numbers,
    tags_of_texts,
)

ALONE = ""
"""The name of a column outside a table."""

NOTE = "note"
"""The column that marks a simulation."""

Policies = str | Mapping[Any, str]
"""A policy for all columns, or one for each by name."""

Drawer = Channel | Mechanism | ContinuousChannel
"""A channel or a mechanism, which draws a report for each record of a column."""


def as_mechanism(given: Any) -> Drawer:
    """Return a channel or a structured mechanism as it is, or raise InputError."""
    if not isinstance(given, Drawer):
        expected = "a Channel or a Mechanism, for numbers or points a channel of those"
        raise InputError("mechanism", expected, shown_kind(given))
    return given


def by_column(mechanisms: Any) -> dict[Any, Drawer]:
    """Return mechanisms by column; a single one is for a column without a name."""
    if not isinstance(mechanisms, Mapping):
        return {ALONE: as_mechanism(mechanisms)}
    if not mechanisms:
        raise InputError("mechanisms", "a mechanism for at least one column", "none")
    if len(set(map(str, mechanisms))) < len(mechanisms):  # coins and spending are by text
        raise InputError("mechanisms", "columns whose names differ as text", shown([*mechanisms]))
    return {name: as_mechanism(mechanism) for name, mechanism in mechanisms.items()}


def names_of(column: Any, in_file: bool = True) -> tuple[Any, ...]:
    """Return the columns of an attribute: in a file, pairs may be in two columns."""
    return column if in_file and not isinstance(column, str) else (column,)


class PrivateColumn:
    """A column to privatize: its mechanism, a reader of cells and a writer of reports."""

    def __init__(
        self, name: Any, mechanism: Drawer, unknown: Policies, missing: Policies, in_file: bool
    ) -> None:
        self.name, self.mechanism, self.read = name, mechanism, names_of(name, in_file)
        policies = (
            policy.get(name, "refuse") if isinstance(policy, Mapping) else policy
            for policy in (unknown, missing)
        )
        self.reader: Reader
        if isinstance(mechanism, ContinuousChannel):
            self.reader = NumberReader(mechanism, *policies)
        else:
            self.reader = LabelReader(mechanism.inputs, *policies)
        self.names, self.write = report_columns(mechanism.alphabet, self.read, not in_file)


@dataclass(frozen=True)
class Drawn:
    """The reports of a batch by column, and the indices of the rows that remain, None for all."""

    columns: dict[Any, pa.Array]
    rows: IntArray | None
    metadata: dict[bytes, bytes]

    def kept(self, cells: Any) -> Any:
        """Return the cells of a copied column for the remaining rows."""
        return cells if self.rows is None else cells.take(pa.array(self.rows))


class PrivatizeJob:
    """Draws reports for the columns of a table or a file, batch by batch.

    The arguments are those of :func:`~mechdesign.collection.tables.privatize`. In a file, labels
    are text, and pairs fill two columns if two are named; in memory numbers stay numbers, and
    categorical columns stay categorical.
    """

    def __init__(
        self,
        mechanisms: Mapping[Any, Drawer],
        unknown: Policies = "refuse",
        missing: Policies = "refuse",
        *,
        keep: Iterable[Any] = (),
        rng: Randomness = None,
        key: bytes | None = None,
        ids: Any = None,
        one_each: bool = False,
        stamp: bool = False,
        in_file: bool = False,
    ) -> None:
        self.keep, self.rng = tuple(listed(keep, "keep", "a list of columns")), stream_of(rng)
        if (key is None) != (ids is None):
            raise InputError("ids", "a key and the ids of the records", "one without the other")
        if key is not None and self.rng is not None:
            raise InputError("rng", "none where the coins are from a key", "one")
        self.coins = None if key is None else CollectionCoins(key, mechanisms)
        self.ids, self.one_each, self.in_file = ids, bool(one_each), in_file
        for word, policies in (("unknown", unknown), ("missing", missing)):
            for name in policies if isinstance(policies, Mapping) else ():
                if name not in mechanisms:
                    raise InputError(word, "columns that are to be private", shown(name))
        self.columns = [
            PrivateColumn(name, mechanism, unknown, missing, in_file)
            for name, mechanism in mechanisms.items()
        ]
        self.alone = not in_file and ALONE in mechanisms
        if stamp and self.alone:
            raise InputError("stamp", "False for a column alone", "True")
        self.stamps = [stamp_of(column.names) for column in self.columns] if stamp else []
        self.noted = self.rng is not None and not self.alone
        digests = {str(name): c.mechanism.digest for c in self.columns for name in c.names}
        self.metadata = {CHANNELS: json.dumps(digests, sort_keys=True).encode()}
        self.metadata |= {SIMULATED: SIMULATION.encode()} if self.noted else {}
        self._check_names_differ()

    def _check_names_differ(self) -> None:
        """Raise InputError unless the output columns are distinct, also from the private ones."""
        own = dict.fromkeys(self.stamps, "states the channel of reports")
        own |= {NOTE: "marks a simulation"} if self.noted else {}
        private = [name for c in self.columns for name in dict.fromkeys((*c.read, *c.names))]
        noted = [NOTE] * self.noted
        for name, count in Counter([*private, *self.keep, *self.stamps, *noted]).items():
            if count > 1 and name in own:
                expected = f"another name than {name!r}, which {own[name]}"
                raise InputError("column", expected, shown(name), "rename it")
            if count > 1:
                expected = "columns beside those that are to be private, and that all differ"
                raise InputError("keep", expected, shown(name))

    @property
    def read(self) -> list[Any]:
        """The distinct columns to read."""
        ids = [self.ids] if self.coins is not None and not self.alone else []
        private = [name for column in self.columns for name in column.read]
        return list(dict.fromkeys([*private, *self.keep, *ids]))

    def draw(
        self, batch: Batch, seen: list[RecordTags] | None = None, *, counts: bool = False
    ) -> Drawn:
        """Return the reports of each column, for the remaining rows.

        ``seen`` gets the tags of the records, to check at the end that ids are unique among all
        batches; if None they are checked in this batch only. With ``counts`` the readers count the
        records.
        """
        cells = [batch.cells(column.read) for column in self.columns]
        sources = self._sources(batch, len(cells[0].which), seen)
        values: list[AnyArray] = []
        stays: BoolArray | None = None
        for column, held in zip(self.columns, cells, strict=True):
            found, good = column.reader.read(held)
            values.append(found)
            if good is not None:
                stays = good if stays is None else stays & good
        rows = None if stays is None else np.flatnonzero(stays)
        if rows is not None:
            values, sources = [found[rows] for found in values], [one.of(rows) for one in sources]
        asked = below(sources[-1], len(values[0]), len(self.columns)) if self.one_each else None
        names = sorted(str(column.name) for column in self.columns)  # whatever their order
        sent: dict[Any, pa.Array] = {}
        for n, column in enumerate(self.columns):
            data = column.mechanism.drawn(values[n], sources[n]).data
            columns = column.write(data, cells[n].categorical and not self.in_file)
            if asked is not None:
                own = asked == names.index(str(column.name))
                columns = [pc.if_else(own, reports, None) for reports in columns]
            if counts:
                column.reader.count(values[n])
            sent |= dict(zip(column.names, columns, strict=True))
            if self.stamps:
                sent[self.stamps[n]] = pa.repeat(column.mechanism.digest[:STAMP], len(values[0]))
        if self.noted:
            sent[NOTE] = pa.repeat(SIMULATION, len(values[0]))
        return Drawn(sent, rows, self.metadata)

    def _sources(self, batch: Batch, rows: int, seen: list[RecordTags] | None) -> list[Source]:
        """Return the source of coins of each column, and last the source for ``one_each``."""
        if self.coins is None:
            return [source_of(self.rng)] * (len(self.columns) + 1)
        ids, name = (self.ids, "ids") if self.alone else (batch.column(self.ids), self.ids)
        where = partial(batch.where, (name,))
        tags = self.coins.tags(ids, where)
        if len(tags) != rows:
            raise InputError("ids", f"{rows} ids, one a record", len(tags))
        if seen is None:
            check_distinct([tags], where)
        else:
            seen.append(tags)
        return self.coins.sources(tags)


class TallyJob:
    """Counts the reports in the columns of a table or a file.

    The arguments are those of :func:`~mechdesign.collection.tables.tally`; in a file, a pair of
    names denotes two columns.
    """

    def __init__(
        self,
        mechanisms: Mapping[Any, Drawer],
        one_each: bool = False,
        check: bool = True,
        *,
        in_file: bool = False,
    ) -> None:
        self.mechanisms, self.one_each, self.check = mechanisms, bool(one_each), bool(check)
        self.columns = {name: names_of(name, in_file) for name in mechanisms}
        self.read = [part for names in self.columns.values() for part in names]

    def beside(self, names: Sequence[Any]) -> list[Any]:
        """Return the columns with metadata about the reports."""
        stated = [stamp_of(own) for own in self.columns.values()] if self.check else []
        others = [NOTE, *stated]
        return [name for name in others if name not in self.read and names.count(name) == 1]

    def count(self, batch: Batch) -> dict[Any, Tally]:
        """Return the tally of each column; a cell that is no report raises InputError."""
        beside, metadata = self.beside(batch.names), batch.metadata or {}
        simulated = metadata.get(SIMULATED) == SIMULATION.encode() or (
            NOTE in beside and SIMULATION in batch.cells((NOTE,)).texts
        )
        found = {}
        for name, mechanism in self.mechanisms.items():
            own = self.columns[name]
            if self.check:
                check_stated(metadata, own, mechanism.digest, batch.where(own))
                if (stamp := stamp_of(own)) in beside:
                    check_stamps(batch.cells((stamp,)), mechanism.digest)
            cells = batch.cells(own)
            data = read_reports(mechanism.alphabet, cells.filled() if self.one_each else cells)
            found[name] = mechanism.tally(Reports(data, mechanism.alphabet, simulated))
        return found

    def merged(self, parts: Iterable[dict[Any, Tally]]) -> dict[Any, Tally]:
        """Return the merged tallies of all parts."""
        first, *rest = parts
        return {name: sum((part[name] for part in rest), tally) for name, tally in first.items()}


# --- the channel that a table states --------------------------------------------------------------

SIMULATED, CHANNELS = b"mechdesign", b"mechdesign.channels"
"""The metadata keys of the simulation note, and of the digests by column as JSON."""


def stamp_of(names: Iterable[Any]) -> str:
    """Return the name of the column that states the channel of a column, or of a pair of them."""
    return "_".join((*map(str, names), "channel_sha256"))


def check_stated(
    metadata: Mapping[bytes, bytes], names: Iterable[Any], digest: str, key: str
) -> None:
    """Raise InputError if the metadata of a table state another channel for some columns."""
    try:
        stated = json.loads(metadata.get(CHANNELS, b"{}"))
        digests = [stated.get(str(name)) for name in names]
    except (ValueError, RecursionError, AttributeError):
        digests = [""]
    for found in digests:
        check_digest(found if found is None else str(found), digest, key)


def check_stamps(cells: Cells, digest: str) -> None:
    """Raise InputError for the first row of a digest column with another channel."""
    for n in cells.as_they_occur():
        try:
            check_digest(cells.texts[n] or "", digest)
        except InputError as error:
            raise InputError(cells.place(n), error.expected, error.given, error.hint) from None


# --- keyed coins ----------------------------------------------------------------------------------

RecordTags = npt.NDArray[np.uint64]
"""``(n, 2)`` words that identify records."""

WHOLE_NUMBER = r"^(0|-?[1-9][0-9]{0,17})$"
"""Integers of up to 18 digits; of those with 19, 64 bits hold the lesser ones."""


class CollectionCoins:
    """The coins of a collection, with a separate key for each column and mechanism."""

    def __init__(self, key: Any, mechanisms: Mapping[Any, Any]) -> None:
        secret = check_key(key)
        self._ids = subkey(secret, b"record ids")
        self._choice = subkey(secret, canonical(["choice", *sorted(map(str, mechanisms))]))
        self._keys = {
            name: subkey(secret, canonical([str(name), mechanism.digest]))
            for name, mechanism in mechanisms.items()
        }

    def tags(self, ids: Column, where: Callable[..., str]) -> RecordTags:
        """Return the tags of records, or raise InputError, which quotes no id.

        Text that reads as an integer is that integer, so the coins do not depend on the type of the
        column.
        """
        whole = one_array(ids)
        if pa.types.is_dictionary(whole.type):
            whole = whole.dictionary_decode()
        if whole.null_count:
            row = int(np.argmax(whole.is_null().to_numpy(zero_copy_only=False)))
            raise InputError(where(row), "the id of a record", "an empty cell")
        with contextlib.suppress(pa.ArrowInvalid):  # from 2**63 on
            if pa.types.is_integer(whole.type):
                return tags_of_numbers(whole.cast(pa.int64()).to_numpy())
        try:
            texts = whole.cast(pa.string()) if not pa.types.is_floating(whole.type) else None
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            texts = None
        if texts is None:
            kind = str(whole.type).partition("<")[0]
            raise InputError(where(), "ids that are whole numbers or text", kind)
        tags = np.zeros((len(texts), 2), dtype="<u8")
        numeric = pc.match_substring_regex(texts, WHOLE_NUMBER)
        for sign, most in (("", "9223372036854775807"), ("-", "9223372036854775808")):
            long = pc.match_substring_regex(texts, f"^{sign}[1-9][0-9]{{18}}$")
            numeric = pc.or_(numeric, pc.and_(long, pc.less_equal(texts, sign + most)))
        where_numeric = numeric.to_numpy(zero_copy_only=False)
        tags[where_numeric] = tags_of_numbers(texts.filter(numeric).cast(pa.int64()).to_numpy())
        others = texts.filter(pc.invert(numeric)).to_pylist()
        if others:
            tags[~where_numeric] = tags_of_texts(self._ids, others)
        return tags

    def sources(self, tags: RecordTags) -> list[Source]:
        """Return the source of coins for each column, and last the source for ``one_each``."""
        return [KeyedSource(key, tags) for key in (*self._keys.values(), self._choice)]


def check_distinct(parts: Sequence[RecordTags], place: Callable[[int], str]) -> None:
    """Raise InputError if two records have the same tag, and so equal coins."""
    tags = np.concatenate(parts)
    words = np.sort(tags[:, 0])
    rows = np.flatnonzero(np.isin(tags[:, 0], words[1:][words[1:] == words[:-1]]))
    rows = rows[np.lexsort((rows, tags[rows, 1], tags[rows, 0]))]
    again = rows[1:][(tags[rows[1:]] == tags[rows[:-1]]).all(axis=1)]
    if again.size:
        key, expected = place(int(again.min())), "ids that all differ"
        raise InputError(key, expected, "one that an earlier record has")
