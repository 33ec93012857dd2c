"""Metadata of a table of reports: the channel of each column, and whether it is a simulation.

Arrow and Parquet store it as metadata of the table; any table may store it in columns: ``note``,
and for each column of reports a column with the first digits of the digest of its channel.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from mechdesign.collection.tables.cells import Cells, Metadata
from mechdesign.errors import InputError
from mechdesign.reports import STAMP, check_digest
from mechdesign.sampling import SIMULATION

SIMULATED, CHANNELS = b"mechdesign", b"mechdesign.channels"
"""The metadata keys of the simulation note, and of the digests by column as JSON."""


def stamp_of(names: Iterable[Any]) -> str:
    """Return the name of the column that states the channel of a column, or of a pair of them."""
    return "_".join((*map(str, names), "channel_sha256"))


def metadata_of(digests: Mapping[Any, str], simulated: bool) -> dict[bytes, bytes]:
    """Return the metadata of reports: the digest of the channel of each column."""
    named = json.dumps({str(name): digest for name, digest in digests.items()}, sort_keys=True)
    return {CHANNELS: named.encode()} | ({SIMULATED: SIMULATION.encode()} if simulated else {})


def says_simulation(metadata: Metadata) -> bool:
    """Return whether the metadata of a table mark it as a simulation."""
    return (metadata or {}).get(SIMULATED) == SIMULATION.encode()


def check_stated(metadata: Metadata, names: Iterable[Any], digest: str, key: str) -> None:
    """Raise InputError if the metadata of a table state another channel for some columns."""
    try:
        stated = json.loads((metadata or {}).get(CHANNELS, b"{}"))
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


def stamps(digest: str, rows: int) -> pa.Array:
    """Return the cells of a digest column."""
    return pa.repeat(digest[:STAMP], rows)
