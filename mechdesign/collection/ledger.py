"""Total leakage: of several columns about a person, and of the draws in a ledger."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import re
import secrets
import sqlite3
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from mechdesign.accounting.channel_leakage import leakages, rounded
from mechdesign.accounting.ratios import float_above
from mechdesign.collection.tables.jobs import Drawer, by_column
from mechdesign.errors import CertificateError, InputError, RepeatedDrawWarning
from mechdesign.kernel import canonical, parse
from mechdesign.kernel.schema import read
from mechdesign.mechanisms import Mechanism
from mechdesign.resources import check_size
from mechdesign.text import Table, Tabular

SHORT = 12
"""Number of digits of an abbreviated digest."""

N = TypeVar("N")


@dataclass(frozen=True, repr=False)
class Spending(Tabular):
    """The leakage of the reports of one person, by column and in total.

    Attributes
    ----------
    columns
        The leakage of each column in nats under each notion that adds up, rounded up.
    one_each
        Whether each person is asked for one column only.
    """

    columns: Mapping[str, Mapping[str, float]]
    one_each: bool = False

    @property
    def total(self) -> dict[str, float]:
        """Total leakage in nats about a person, by notion, rounded up.

        This is the sum over the columns, whose draws are independent given the record; or the
        maximum if each person is asked for one column, chosen independently of the record.
        """
        return totals(list(self.columns.values()), largest=self.one_each)

    def to_json(self) -> dict[str, Any]:
        """Return plain data for JSON, with infinity as null."""
        columns = {name: _finite(nats) for name, nats in self.columns.items()}
        return {"columns": columns, "total": _finite(self.total), "one_each": self.one_each}

    def _head(self) -> str:
        how = "the largest column" if self.one_each else "the sum over the columns"
        return f"nats that one person spends, rounded up; in all, {how}"

    def _table(self) -> Table:
        total = self.total
        rows = [
            (notion, *(rounded(one[notion]) for one in self.columns.values()), rounded(nats))
            for notion, nats in total.items()
        ]
        return Table(("notion", *self.columns, "in all"), rows, "<" + ">" * (len(self.columns) + 1))


def spending(mechanisms: Mapping[Any, Drawer], *, one_each: bool = False) -> Spending:
    """Return the total leakage about a person whose columns are drawn by several mechanisms.

    Parameters
    ----------
    mechanisms
        By column, as for :func:`mechdesign.privatize`.
    one_each
        Whether each person is asked for one column only.

    Notes
    -----
    Two neighbors may differ in every column. LDP, notions about pairs of inputs and maximal leakage
    add up over independent draws; lifts (LIP, PML) do not, but are at most the sum for LDP.
    Source: Dwork and Roth 2014, Theorem 3.14.

    Examples
    --------
    >>> from mechdesign.mechanisms import GeneralizedRandomizedResponse
    >>> age, sex = GeneralizedRandomizedResponse(9, 1), GeneralizedRandomizedResponse(2, "1/2")
    >>> spending({"age": age, "sex": sex})
    nats that one person spends, rounded up; in all, the sum over the columns
    notion                age       sex    in all
    ldp              1.000000  0.500000  1.500000
    maximal-leakage  0.825274  0.219071  1.044344
    >>> spending({"age": age, "sex": sex}, one_each=True).total["ldp"]
    1.0
    """
    found = {
        str(name): {
            f"{notion} {parameters[:SHORT]}".strip(): nats
            for (notion, parameters), nats in adding_leakages(each).items()
        }
        for name, each in by_column(mechanisms).items()
    }
    return Spending(found, one_each)


def adding_leakages(mechanism: Drawer) -> dict[tuple[str, str], float]:
    """Return the leakage in nats, rounded up, under each notion that adds up over draws.

    The keys are the name of a notion and a digest of its parameters other than epsilon.
    """
    own = mechanism.privacy if isinstance(mechanism, Mechanism) else None
    found: dict[tuple[str, str], float] = {}
    for row in leakages(mechanism).rows:  # without a prior: these add up
        table = own.to_table() if own is not None and own.name == row.notion else {}
        beside = {key: table[key] for key in table if key not in ("notion", "epsilon")}
        parameters = hashlib.sha256(canonical(beside)).hexdigest() if beside else ""
        found[row.notion, parameters] = row.value
    return found


def totals(each: Sequence[Mapping[N, float | str]], *, largest: bool = False) -> dict[N, float]:
    """Return the sum, or the maximum, of nats under each common notion, rounded up."""
    shared = [notion for notion in (each[0] if each else ()) if all(notion in own for own in each)]
    found = {}
    for notion in shared:
        nats = [own[notion] for own in each]
        if inf in map(float, nats):
            found[notion] = inf
        else:
            exact = map(Fraction, nats)
            found[notion] = float_above(max(exact) if largest else sum(exact, Fraction()))
    return found


def _finite(nats: Mapping[str, float]) -> dict[str, float | None]:
    return {notion: value if value < inf else None for notion, value in nats.items()}


# --- the ledger -----------------------------------------------------------------------------------

APPLICATION, VERSION = 0x4D444C47, 2
"""application_id and user_version of the SQLite file, which identify a ledger and its format."""

COLUMNS = "time", "records", "mechanism", "reports", "leakages"

TABLES = [f"CREATE TABLE draws ({', '.join(COLUMNS)})", "CREATE TABLE ledger (key BLOB)"]
"""The whole schema by name; a view or a trigger could take any time, or undo a draw."""

SECONDS = 10
"""Timeout for the lock on the database, in seconds."""

KEY_BYTES = 32

MARKS = {"application_id": APPLICATION, "user_version": VERSION}

DIGEST = re.compile(r"[0-9a-f]{64}")
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
NATS = re.compile(r"[0-9]{1,20}(\.[0-9]{1,30})?(e[+-]?[0-9]{1,3})?|inf")


@dataclass(frozen=True)
class Leakage:
    """The leakage of a draw under a notion, as stored in a ledger."""

    notion: str
    parameters: str
    nats: str


@dataclass(frozen=True)
class Draw:
    """One row of a ledger: the reports drawn for some records.

    Attributes
    ----------
    time
        The time in UTC, such as ``"2026-03-01T12:00:00Z"``.
    records
        A digest of the records under the ledger's own key, independent of their order.
    mechanism
        The digest of the mechanism.
    reports
        Number of reports; at most so many where each person is asked for one column.
    leakages
        The exact leakage in nats, rounded up, as text, under each notion that adds up over draws,
        with a digest of the parameters of the notion other than epsilon.
    """

    time: str
    records: str
    mechanism: str
    reports: int
    leakages: tuple[Leakage, ...]

    @property
    def nats(self) -> dict[tuple[str, str], str]:
        """The leakage under each notion, by its name and the digest of its parameters."""
        return {(each.notion, each.parameters): each.nats for each in self.leakages}


@dataclass(frozen=True, repr=False)
class Ledger(Tabular):
    """The draws of a ledger. Its repr is a table of the joint leakage for each set of records.

    Attributes
    ----------
    key
        32 random bytes, the key of the digests of records. A digest reveals nothing without it;
        anybody with the ledger, and so the key, can test guesses.
    draws
        The draws in chronological order.
    """

    key: bytes
    draws: tuple[Draw, ...] = ()

    def digest_of(self, counts: Mapping[str, int]) -> str:
        """Return the keyed digest of records, given by the count of each label."""
        some = {label: count for label, count in counts.items() if count}
        return hmac.new(self.key, canonical(some), hashlib.sha256).hexdigest()

    @property
    def sets(self) -> dict[str, list[Draw]]:
        """The draws for each digest of records, in order."""
        sets: dict[str, list[Draw]] = {}
        for draw in self.draws:
            sets.setdefault(draw.records, []).append(draw)
        return sets

    def totals(self, records: str | None = None) -> dict[tuple[str, str], float]:
        """Return the total leakage for one set of records; by default for a person in every set.

        Notions without a leakage for some draw are omitted. Sums are exact, then rounded up.
        """
        return totals([draw.nats for draw in self.draws if records in (None, draw.records)])

    def to_json(self) -> dict[str, Any]:
        """Return plain data for JSON, with an infinite sum as null."""
        sets = [
            {
                "records": records,
                "draws": len(draws),
                "reports": draws[0].reports,
                "first": draws[0].time,
                "last": draws[-1].time,
                "leakages": self._rows(records),
            }
            for records, draws in self.sets.items()
        ]
        return {"sets": sets, "all": self._rows()}

    def _rows(self, records: str | None = None) -> list[dict[str, Any]]:
        return [
            {"notion": notion, "parameters": parameters, "nats": nats if nats < inf else None}
            for (notion, parameters), nats in self.totals(records).items()
        ]

    def _head(self) -> str:
        count, sets = len(self.draws), len(self.sets)
        return (
            f"{count} draw{'s' * (count != 1)} for {sets} set{'s' * (sets != 1)} of records; "
            "nats of all draws together, rounded up\n"
            "Draws are independent given the records. Lifts (lip, pml) are at most the sum for ldp."
        )

    def _table(self) -> Table:
        sets, rows = self.sets, []
        for records, draws in [*sets.items(), *([(None, [])] if len(sets) > 1 else [])]:
            cells = ["in every set", "", "", ""]
            if records is not None:
                cells = [records[:SHORT], str(len(draws)), str(draws[0].reports), draws[-1].time]
            for (notion, parameters), nats in self.totals(records).items() or [(("none", ""), 0.0)]:
                name = f"{notion} {parameters[:SHORT]}".strip()
                rows.append((*cells, name, rounded(nats)))
                cells = ["", "", "", ""]
        return Table(("records", "draws", "reports", "last", "notion", "nats"), rows, "<>><<>")


def read_ledger(path: str | os.PathLike[str]) -> Ledger:
    """Read a ledger, which adds up leakages by basic sequential composition.

    The reports of several draws are independent given the records, so the largest likelihood
    ratios multiply and LDP adds up, as do notions about pairs of inputs and maximal leakage. Lifts
    (LIP, PML) do not add up, but each is at most the sum for LDP.

    Raises
    ------
    InputError
        If it cannot be read or contains an invalid draw.

    Notes
    -----
    Source: Dwork and Roth 2014, Theorem 3.14 (LDP). Maximal leakage: for two draws Q and R,
    Sum_yz max_x Q(y|x) R(z|x) <= Sum_y max_x Q(y|x) * Sum_z max_x R(z|x).
    """
    with _opened(Path(path)) as database:
        return _read(Path(path), database)


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a SQLite file that exists."""
    try:
        check_size("bytes", file.stat().st_size, str(file))
        place = f"{file.resolve().as_uri()}?mode=rw"
        with closing(
            sqlite3.connect(place, timeout=SECONDS, isolation_level=None, uri=True)
        ) as database:
            yield database
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None)
        fault = f"cannot read the ledger: {reason or 'it is locked, damaged, or no ledger'}"
        raise InputError(str(file), "a ledger", reason or "another file", fault=fault) from None


def _read(file: Path, database: sqlite3.Connection) -> Ledger:
    """Return the content of a ledger."""
    found = [database.execute(f"PRAGMA {name}").fetchone()[0] for name in MARKS]
    found += [sql for (sql,) in database.execute("SELECT sql FROM sqlite_master ORDER BY name")]
    is_ledger = found == [*MARKS.values(), *TABLES]
    keys = database.execute("SELECT key FROM ledger").fetchall() if is_ledger else []
    key = keys[0][0] if len(keys) == 1 else None
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        raise InputError(str(file), f"a ledger of version {VERSION}", "another kind of file")
    rows = database.execute(f"SELECT {', '.join(COLUMNS)} FROM draws ORDER BY rowid")
    return Ledger(key, tuple(_draw(row, f"{file}: draw {n}") for n, row in enumerate(rows, 1)))


def _draw(row: tuple[Any, ...], key: str) -> Draw:
    """Return the draw in a row; error messages do not quote its content."""
    entries = dict(zip(COLUMNS, row, strict=True))
    try:
        draw: Draw = read(Draw, {**entries, "leakages": parse(entries["leakages"])})
        fits = draw.reports >= 1 and TIME.fullmatch(draw.time) is not None
        fits &= all(map(DIGEST.fullmatch, (draw.records, draw.mechanism)))
        fits &= all(NATS.fullmatch(each.nats) for each in draw.leakages)
    except (ValueError, TypeError, AttributeError, RecursionError, CertificateError):
        fits = False
    if not fits:
        expected = f"{', '.join(COLUMNS)} of a draw as this library writes them"
        raise InputError(key, expected, "something else")
    return draw


def _create(database: sqlite3.Connection) -> None:
    """Create the tables and the key of a ledger."""
    for name, value in MARKS.items():
        database.execute(f"PRAGMA {name} = {value}")
    for table in TABLES:
        database.execute(table)
    database.execute("INSERT INTO ledger VALUES (?)", (secrets.token_bytes(KEY_BYTES),))


def add_draw(
    path: str | os.PathLike[str], mechanism: Drawer, counts: Mapping[str, int], column: str = ""
) -> None:
    """Add a draw to a ledger, created if missing, and sync it to disk.

    ``counts`` are the numbers of records of each label. Concurrent processes are serialized. A new
    ledger is readable by its owner only. If it has an earlier draw for the same records, a
    RepeatedDrawWarning names the column, if given, and says that the leakages add up.
    """
    file, reports = Path(path), sum(counts.values())
    if not reports:
        return  # no reports were drawn
    with contextlib.suppress(OSError):  # opening it raises the error
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    with _opened(file) as database, database:  # commits, or rolls back
        database.execute("PRAGMA synchronous = EXTRA")  # the folder, too, which ends the commit
        database.execute("BEGIN IMMEDIATE")
        if not database.execute("SELECT 1 FROM sqlite_master").fetchone():
            _create(database)
        ledger = _read(file, database)
        records = ledger.digest_of(counts)
        before = [draw for draw in ledger.draws if draw.records == records]
        if before:
            draws = f"{len(before)} draw{'s' * (len(before) > 1)}"
            of_column = f" of column {column!r}" if column else ""
            warnings.warn(
                f"{file}: the same records{of_column} were drawn before ({draws}, the last at "
                f"{before[-1].time}); leakages add up: see mechdesign leakage --ledger",
                RepeatedDrawWarning,
                stacklevel=3,
            )
        leakages = [
            {"notion": notion, "parameters": parameters, "nats": repr(nats)}
            for (notion, parameters), nats in adding_leakages(mechanism).items()
        ]
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        row = now, records, mechanism.digest, reports, json.dumps(leakages)
        database.execute("INSERT INTO draws VALUES (?, ?, ?, ?, ?)", row)
