"""A saved file: the tables of a format, reading under limits, and the digest.

A file is JSON with the format ``mechdesign-channel``, version 2. Its statements prove nothing:
`verify` checks every claim. Its keys are the fields of the dataclasses here.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import Any, Literal, TypeVar

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.names import Domain, ProblemTable
from mechdesign.kernel.schema import Json, Label, Signed, Whole, read
from mechdesign.resources import check_size, current

FORMAT, VERSION = "mechdesign-channel", 2

OPTIMAL_GAP = 1e-6
"""The largest relative gap whose status is ``optimal``."""

MOST_BITS = 4096

N = TypeVar("N", float, Fraction)

JSON_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"')
NO_BRACKETS = re.compile(r"[^\[\]{}]+")


@dataclass(frozen=True)
class Claim:
    """A notion of the problem, and its least leakage."""

    notion: str
    leakage: float
    certified: bool = field(kw_only=True)
    epsilon: float | None = None
    delta: float | None = None
    secret: tuple[Label, ...] | None = None


@dataclass(frozen=True)
class ExactReadings:
    """Readings over one denominator."""

    numerators: tuple[Signed, ...]
    denominator: Whole

    def numbers(self) -> list[Fraction]:
        need(self.denominator, "the denominator of the readings is 0")
        return [Fraction(int(top), int(self.denominator)) for top in self.numerators]


@dataclass(frozen=True)
class ChannelTable:
    """A channel: integers over 2**bits, a row for each input, and the same as a matrix."""

    inputs: tuple[Label, ...]
    outputs: tuple[Label, ...]
    matrix: tuple[tuple[float, ...], ...]
    bits: int
    numerators: tuple[tuple[Whole, ...], ...]
    decoder: tuple[Json, ...] | None = None
    readings: ExactReadings | None = None

    def columns(self, labels: tuple[Any, ...]) -> list[list[int]]:
        """Return the integer columns, after a check that they are a channel on these inputs."""
        bits, rows, width = self.bits, self.numerators, len(self.outputs)
        need(self.inputs == labels, "the inputs of the channel are not those of the problem")
        need(1 <= bits <= MOST_BITS, f"expected bits from 1 to {MOST_BITS}, found {bits}")
        need(len(self.matrix) == len(rows), "the matrix must have one row for each input")
        fits = len(rows) == len(labels) and all(len(row) == width for row in rows)
        need(fits, "the channel must have one row for each input")
        need(len(set(self.outputs)) == width, "the problem in the file has a duplicate output")
        whole = 1 << bits
        for x, (row, shown) in enumerate(zip(rows, self.matrix, strict=True)):
            need(sum(row) == whole, f"row {x} of the channel does not sum to 2**{bits}")
            same = len(shown) == width and all(
                a == b / whole or is_close(a, Fraction(b, whole))
                for a, b in zip(shown, row, strict=True)
            )
            need(same, f"row {x} of the matrix differs from the integers")
        return [list(map(int, column)) for column in zip(*rows, strict=True)]

    def numbers_read(self, wanted: bool) -> list[Fraction] | None:
        """Return the exact readings, which only an unbiased variance has."""
        belong = (self.readings is not None) == wanted
        need(belong, "only the objective unbiased-variance has exact readings")
        return None if self.readings is None else self.readings.numbers()


def is_close(shown: Any, exact: Fraction) -> bool:
    """Return whether a number equals an exact one up to the rounding of floats."""
    off = abs(Fraction(shown) - exact)
    return off <= max(Fraction(1, 10**12) * abs(exact), Fraction(1, 1 << 1074))


@dataclass(frozen=True)
class Rejected:
    """A closed form that does not apply."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Claims:
    """The claims about a design."""

    format: Literal["mechdesign-channel"]
    version: int
    title: str
    source: str
    status: Literal["optimal", "bounded"]
    objective: str
    sense: Literal["minimize", "maximize"]
    value: float
    bound: float
    gap: float
    bound_proved: bool
    certificate: Certificate | None
    route: str
    why: str
    privacy: tuple[Claim, ...]
    digest: str
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Designed(Claims):
    """A design for a problem, and the claims about it."""

    problem: ProblemTable
    timings: dict[str, float] = field(default_factory=dict)
    considered: tuple[Rejected, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ChannelFile(Designed):
    """A designed channel with its problem and proof."""

    channel: ChannelTable
    binding: tuple[Json, ...] = ()


@dataclass(frozen=True)
class BareProblem:
    """The inputs of a channel without claims."""

    domain: Domain


@dataclass(frozen=True)
class BareFile:
    """A channel without claims of privacy or value."""

    format: Literal["mechdesign-channel"]
    version: int
    channel: ChannelTable
    problem: BareProblem
    digest: str


def canonical(value: Any) -> bytes:
    """Return canonical JSON for digests: sorted keys, no spaces.

    Examples
    --------
    >>> canonical({"b": [1, 2], "a": None})
    b'{"a":null,"b":[1,2]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digest(document: dict[str, Any]) -> str:
    """Return the SHA-256 of everything but the digest itself, as canonical JSON."""
    rest = {key: entry for key, entry in document.items() if key != "digest"}
    return "sha256:" + hashlib.sha256(canonical(rest)).hexdigest()


def relative_gap(value: N, bound: N) -> N:
    """Return ``|value - bound| / max(1e-12, |value|)``."""
    return abs(value - bound) / max(type(value)("1e-12"), abs(value))


def parse(text: str | bytes, name: str = "the file") -> Any:
    """Parse a JSON text; reject documents that two readers may read differently.

    Raises
    ------
    LimitError
        If it has more bytes, entries, lists, levels or digits than the reader allows, which is
        checked before parsing.
    ValueError
        If it is not JSON, has a duplicate key, or contains NaN or an infinity.

    Examples
    --------
    >>> parse('{"epsilon": 1, "epsilon": 2}')
    Traceback (most recent call last):
    ValueError: the key 'epsilon' twice in one table
    """
    check_size("bytes", len(text), name)
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig")
    check_size("entries", text.count(","), name)
    check_size("lists", text.count("[") + text.count("{"), name)
    most = current().digits
    if long := re.search(rf"(?<![0-9])[0-9]{{{most + 1}}}[0-9]*+", text):
        check_size("digits", long.end() - long.start(), name)
    brackets = NO_BRACKETS.sub("", JSON_TEXT.sub("", text))
    depth = accumulate((1 if bracket in "[{" else -1) for bracket in brackets)
    check_size("levels", max(depth, default=0), name)
    return json.loads(text, object_pairs_hook=_table, parse_constant=_no_number)


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for n, key in enumerate(keys) if key in keys[:n])
        raise ValueError(f"the key {twice!r:.60} twice in one table")
    return found


def _no_number(constant: str) -> Any:
    raise ValueError(f"{constant}, which is no number")


def read_file(document: Any) -> ChannelFile | BareFile:
    """Return the tables of a document that is a channel on labels."""
    is_bare = isinstance(document, dict) and "certificate" not in document
    found: ChannelFile | BareFile = read(BareFile if is_bare else ChannelFile, document)
    return found
