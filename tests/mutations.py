"""Hostile changes of saved files and problems: trees of JSON, and their text.

Everything is drawn from one stream of random numbers, so that a seed repeats a run.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

from mechdesign.notions import NOTIONS
from mechdesign.utilities import UTILITIES
from tests.kernel.changes import WRONG_SHAPE, Changer, Document, places, reach

__all__ = ["OBJECTIVES", "WRONG_SHAPE", "Document", "Mutator", "places", "reach"]

OBJECTIVES = [*UTILITIES, "custom", "mine"]
FAMILIES = (
    list(NOTIONS),
    OBJECTIVES,
    ["absolute", "euclidean", "manhattan", "squared", "haversine"],
    ["optimal", "bounded", "infeasible"],
    ["minimize", "maximize"],
)
"""Words that stand for each other."""

ODD: list[Any] = [None, True, False, 0, 1, -1, 0.0, -0.0, 1e308, 5e-324, 10**30, "", "0", "-1"]
ODD += [
    "1e400",
    "inf",
    "nan",
    "1/0",
    "\u0661",
    "1_0",
    " 1",
    "+1",
    "0x1",
    "1e999999999",
    [],
    {},
    [[]],
]


class Mutator(Changer):
    """Draws changed files from a pool of honest ones, with values of any kind anywhere."""

    def text(self) -> bytes:
        """Return a changed text of a file; the digest fits what the tree says."""
        tree = self.document()[0] if self.draw.random() < 0.3 else self.draw.choice(self.pool)
        return self.draw.choice(TEXT_CHANGES)(self, json.dumps(tree))

    def any_leaf(self, tree: Document) -> None:
        """Change an entry anywhere in a tree."""
        *rest, key = self._place(tree)
        here = reach(tree, tuple(rest))
        here[key] = self._other(here[key])

    def _other(self, value: Any) -> Any:
        if self.draw.random() < 0.2:
            return copy.deepcopy(self.draw.choice(ODD))
        if isinstance(value, str) and self.draw.random() < 0.1:
            ways = [f"+{value}", f" {value}", f"{value}_0", value.upper(), value + "x"]
            return self.draw.choice(ways)
        if isinstance(value, (int, float)) and self.draw.random() < 0.1:
            return str(value)
        family = next((words for words in FAMILIES if value in words), None)
        return self.draw.choice(family) if family else super()._other(value)


# --- text -----------------------------------------------------------------------------------------


def _key_twice(mutator: Mutator, text: str) -> bytes:
    """Write a key a second time, in front of or behind the first, with another value."""
    draw = mutator.draw
    found = list(re.finditer(r'"(\w+)": ("[^"]*"|-?[0-9.e-]+|true|false|null|\[\]|\{\})', text))
    hit = draw.choice(found)
    other = draw.choice(found)
    twin = f'"{hit[1]}": {draw.choice([hit[2], other[2], "0", "null"])}'
    ways = [f"{twin}, {hit[0]}", f"{hit[0]}, {twin}"]
    return (text[: hit.start()] + draw.choice(ways) + text[hit.end() :]).encode()


def _number(mutator: Mutator, text: str) -> bytes:
    draw = mutator.draw
    hit = draw.choice(list(re.finditer(r"(?<=[ \[\"])-?[0-9][0-9.e-]*", text)))
    odd = ["1e400", "-1e400", "NaN", "Infinity", "-Infinity", "-0", "-0.0", "01", "1.", ".5", "+1"]
    odd += ["0x10", "\u0661", "1_000", "9" * 400, "1e-400", "0." + "0" * 400 + "1", "9" * 5000]
    odd += [hit[0] + "0", hit[0] + ".0", hit[0] + "e0", "1" + hit[0]]
    return (text[: hit.start()] + draw.choice(odd) + text[hit.end() :]).encode()


def _bytes(mutator: Mutator, text: str) -> bytes:
    draw = mutator.draw
    raw = bytearray(text.encode())
    for _ in range(draw.choice([1, 1, 2, 5])):
        at = draw.randrange(len(raw))
        kind = draw.randrange(4)
        if kind == 0:
            raw[at] = draw.randrange(256)
        elif kind == 1:
            del raw[at : at + draw.choice([1, 1, 10, 1000])]
        elif kind == 2:
            raw[at:at] = draw.choice(
                [b"[", b"]", b"{", b"}", b",", b'"', b"\x00", b"\\u0000", b"1"]
            )
        else:
            raw[at:at] = raw[at : at + draw.randrange(1, 40)]
        raw = raw or bytearray(b" ")
    return bytes(raw)


def _around(mutator: Mutator, text: str) -> bytes:
    """Change what stands around the document."""
    ways = [
        b"\xef\xbb\xbf" + text.encode(),
        text.encode("utf-16"),
        text.encode() + b"\x00",
        text.encode() + text.encode(),
        b"[" + text.encode() + b"]",
        b"[" * 5000 + text.encode() + b"]" * 5000,
        b'{"a":' * 3000 + text.encode() + b"}" * 3000,
        b"",
        b"null",
        b"\n\t " + text.encode() + b"\r\n",
        text.encode()[: mutator.draw.randrange(len(text))],
        text.replace('"', "'").encode(),
        text.replace(" ", "\u00a0").encode(),
    ]
    return mutator.draw.choice(ways)


TEXT_CHANGES: list[Callable[[Mutator, str], bytes]] = [
    _key_twice,
    _key_twice,
    _number,
    _number,
    _bytes,
    _around,
]
