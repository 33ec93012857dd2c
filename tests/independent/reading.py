"""Reading a saved file: tables with known keys, exact numbers, labels, a domain."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.independent.rationals import ONE, TOLERANCE, Interval, RefusedError, Unable, Vector, need

LEAST_DOUBLE = Fraction(1, 1 << 1074)
EXACT = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]{1,3})?|-?[0-9]+/[0-9]+")
WHOLE = re.compile(r"0|[1-9][0-9]*")


def keys(table: Any, must: Iterable[str], may: Iterable[str] = ()) -> dict[str, Any]:
    need(isinstance(table, dict), "a table")
    must = set(must)
    need(must <= set(table) <= must | set(may), f"keys {sorted(set(table) ^ must)}")
    return dict(table)


def sequence(value: Any, length: int | None = None) -> list[Any]:
    need(isinstance(value, list), "a list")
    need(length is None or len(value) == length, f"a list of {length}")
    return list(value)


PACKED = re.compile(r"(u1|u2|u4|f4|f8):(0|[1-9][0-9]*):([A-Za-z0-9+/]*=*)")


def numbers(value: Any, whole: bool = False) -> list[Any]:
    """Return a list, which may be packed: integers if `whole`, else binary or exact."""
    if not isinstance(value, str):
        found = sequence(value)
        if whole:
            return [index(v, 1 << 53) for v in found]
        return [Fraction(v) if type(v) is float and math.isfinite(v) else exact(v) for v in found]
    match = PACKED.fullmatch(value)
    need(match, "packed numbers")
    kind, count, data = match.groups()
    need((kind[0] == "u") == whole and len(count) < 8, "packed numbers of that kind")
    if int(count) > 100_000:
        raise Unable("a long list")
    engine = zlib.decompressobj()
    try:
        raw = engine.decompress(base64.b64decode(data, validate=True), 8 * int(count) + 9)
    except (ValueError, zlib.error) as error:
        raise RefusedError("packed numbers") from error
    need(engine.eof and not engine.unused_data, "nothing but packed numbers")
    need(len(raw) == int(count) * int(kind[1]), "so many packed numbers")
    sign = {"u1": "B", "u2": "H", "u4": "I", "f4": "f", "f8": "d"}[kind]
    entries = struct.unpack(f"<{count}{sign}", raw)
    need(whole or all(map(math.isfinite, entries)), "finite numbers")
    return [v if whole else Fraction(v) for v in entries]


def text(value: Any) -> str:
    need(isinstance(value, str) and not re.search("[\ud800-\udfff]", value), "text")
    return str(value)


def exact(value: Any) -> Fraction:
    """Return a number, or what exact text stands for."""
    if type(value) in (int, float):
        found = claim(value)
    else:
        need(isinstance(value, str) and len(value) <= 2000 and EXACT.fullmatch(value), "exact text")
        need("/" not in value or value.split("/")[1].strip("0"), "a denominator above 0")
        found = Fraction(value)
    need(found == 0 or Fraction(10) ** -300 <= abs(found) <= 10**100, "a number of such a size")
    return found


def number(value: Any) -> Fraction:
    """Return a number that JSON holds as such: the double that it is read as."""
    need(type(value) in (int, float) and math.isfinite(value), "a finite number")
    need(type(value) is float or abs(value) < 1 << 53, "an integer below 2**53")
    return Fraction(value)


def claim(value: Any) -> Fraction:
    """Return what the decimals of a number say, as the report prints them."""
    number(value)
    return Fraction(repr(value))


def whole(value: Any) -> int:
    need(isinstance(value, str) and len(value) <= 4096 and WHOLE.fullmatch(value), "a whole number")
    return int(value)


def index(value: Any, size: int) -> int:
    need(type(value) is int and 0 <= value < size, f"a number from 0 to {size - 1}")
    return int(value)


def close(stated: Any, found: Interval) -> bool:
    value = claim(stated)
    slack = max(TOLERANCE * max(abs(found[0]), abs(found[1])), LEAST_DOUBLE)
    return found[0] - slack <= value <= found[1] + slack


def seal(document: dict[str, Any]) -> str:
    rest = {key: value for key, value in document.items() if key != "digest"}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


def label(value: Any, nested: bool = False) -> Any:
    """Return a label in a form in which equal labels are equal."""
    if isinstance(value, list):
        need(value and not nested, "a label that is a list of labels")
        return tuple(label(v, nested=True) for v in value)
    if isinstance(value, str):
        return text(value)
    need(type(value) in (int, float) and math.isfinite(value), "a label")
    return Fraction(repr(value))


def labels(values: Any) -> list[Any]:
    found = [label(value) for value in sequence(values)]
    need(found and len(set(found)) == len(found), "labels that differ")
    return found


def distribution(entries: Any, k: int) -> Vector:
    found = tuple(exact(entry) for entry in sequence(entries, k))
    need(sum(found) == 1 and min(found) >= 0, "a distribution")
    return found


@dataclass
class Inputs:
    labels: list[Any]
    spacing: Fraction
    shape: tuple[int, int] | None
    given: list[Vector] | None = None
    metric: str = ""

    def __len__(self) -> int:
        return len(self.labels)

    def at(self, name: Any) -> int:
        found = label(name)
        need(found in self.labels, "a label of the domain")
        return self.labels.index(found)

    def points(self, names: Sequence[Any]) -> list[Vector]:
        if self.given is not None:
            need(self.metric == "euclidean", "points of a plane")
            need(all(name in self.labels for name in names), "the number of a point")
            return [self.given[self.labels.index(name)] for name in names]
        for name in names:
            pair = isinstance(name, tuple) and len(name) == 2 and self.shape is not None
            entries = name if pair else (name,)
            need(all(isinstance(v, Fraction) for v in entries), "numbers, or points of the grid")
        need(len({isinstance(name, tuple) for name in [*self.labels, *names]}) == 1, "points alike")
        return [
            tuple(v * self.spacing for v in name) if isinstance(name, tuple) else (name,)
            for name in names
        ]


def read_domain(table: Any) -> Inputs:
    need(isinstance(table, dict) and len(table) == 1, "one way to state the domain")
    if "values" in table:
        return Inputs(labels(table["values"]), ONE, None)
    if "points" in table:
        stated = keys(table["points"], ["coordinates", "metric"])
        given = [tuple(exact(v) for v in sequence(p, 2)) for p in sequence(stated["coordinates"])]
        need(given and stated["metric"] in ("euclidean", "haversine"), "points")
        numbers = [Fraction(n) for n in range(len(given))]
        return Inputs(numbers, ONE, None, given, stated["metric"])
    grid = keys(table.get("grid"), ["rows", "columns", "spacing"])
    rows, columns = grid["rows"], grid["columns"]
    need(type(rows) is type(columns) is int and rows > 0 < columns, "a grid")
    if rows * columns > 1000:
        raise Unable("a large grid")
    spacing = exact(grid["spacing"])
    need(spacing > 0, "a spacing above 0")
    cells = [(Fraction(r), Fraction(c)) for r in range(rows) for c in range(columns)]
    return Inputs(list(cells), spacing, (rows, columns))
