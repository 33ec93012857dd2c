"""Changed files: each slot of a saved channel is changed, moved or taken from another file.

Half of the files are then made consistent: matrix, value, leakages, gap and status are stated as
they are, and the bound as boldly as may be. What is left to find is a forgery.
"""

from __future__ import annotations

import copy
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from tests.independent.files import claims_of
from tests.independent.rationals import RefusedError, Unable
from tests.independent.reading import seal

Document = dict[str, Any]
Change = Callable[[Document], Any]
Path = tuple[Any, ...]

LONG = re.compile(r"[eE][+-]?[0-9]{5}")
"""Part of a number that has too many digits to be computed."""

WRONG_SHAPE = (
    ArithmeticError,
    AttributeError,
    KeyError,
    IndexError,
    RecursionError,
    TypeError,
    ValueError,
)


def put(*path: Any) -> Change:
    """Return a change that puts the last of the path where the others lead to."""

    def change(document: Document) -> None:
        place: Any = document
        *keys, last, value = path
        for key in keys:
            place = place[key]
        place[last] = value(place[last]) if callable(value) else value

    return change


ODD: list[Any] = [None, True, 0, 1, -1, 0.5, 1e308, "", "0", "-1", "1/0", "nan", "inf", "1e400"]
ODD += ["1e999999999", "0x1", [], {}, [[]], {"kind": "costs"}, "u1:3:eJxjZGAEAAAFAAI="]


def reach(tree: Any, path: Path) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def places(tree: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every entry of a tree."""
    if path:
        yield path
    entries = tree.items() if isinstance(tree, dict) else []
    entries = enumerate(tree) if isinstance(tree, list) else entries
    for key, entry in entries:
        yield from places(entry, (*path, key))


class Changer:
    """Draws changed files from a pool of honest ones."""

    def __init__(self, pool: Sequence[Document], seed: int) -> None:
        self.pool, self.draw = pool, random.Random(seed)

    def document(self) -> tuple[Document, Document]:
        """Return a changed document with the digest that fits, and the honest one."""
        honest = self.draw.choice(self.pool)
        document = copy.deepcopy(honest)
        for _ in range(self.draw.choice([1, 1, 1, 2, 3])):
            try:
                self.draw.choice(CHANGES)(self, document)
            except WRONG_SHAPE:
                continue  # a change of what an earlier one took away
        if self.draw.random() < 0.6:
            self._make_consistent(document)
        document["digest"] = seal(document)
        return document, honest

    # one place

    def _place(self, tree: Any) -> Path:
        """Draw a place, small tables as often as long lists."""
        path: Path = ()
        while isinstance(tree, (dict, list)) and tree:
            if path and self.draw.random() < 0.1:
                break
            key = self.draw.choice(list(tree) if isinstance(tree, dict) else range(len(tree)))
            path, tree = (*path, key), tree[key]
        return path

    def leaf(self, document: Document) -> None:
        """Change a number, a word or a list; most often of the problem and its proof."""
        table = self.draw.choice(
            ["problem", "problem", "certificate", "certificate", "channel", ""]
        )
        table = document[table] if table else document
        *rest, key = self._place(table)
        here = reach(table, tuple(rest))
        here[key] = self._other(here[key])

    def _other(self, value: Any) -> Any:
        draw = self.draw
        if draw.random() < 0.1:
            return copy.deepcopy(draw.choice(ODD))
        if isinstance(value, bool):
            return not value
        if isinstance(value, (int, float)):
            return self._near(value)
        if not isinstance(value, str):
            return copy.deepcopy(draw.choice(ODD))
        try:
            short = "" if LONG.search(value) else value
            return str(Fraction(self._near(Fraction(short))))
        except (ValueError, ZeroDivisionError, OverflowError):
            return draw.choice(
                ["", value + "x", value[:-1], "ldp", "upper", "lower", "cone", "limit"]
            )

    def _near(self, value: Any) -> Any:
        draw, sign = self.draw, self.draw.choice([-1, 1])
        share = 1 + Fraction(sign, 9 ** draw.randrange(1, 17))  # no tolerance exactly
        near = [-value, value * draw.choice([2, 3, 10, 1000]), value + sign]
        near += [type(value)(draw.randrange(3)), Fraction(value) * share]
        if isinstance(value, Fraction):
            return draw.choice(near)
        found = draw.choice([*near, math.nextafter(value, sign * math.inf)])
        return float(found) if isinstance(found, Fraction) else found

    # lists, tables, slots

    def entries(self, document: Document) -> None:
        """Turn around, mix, drop, double or replace the entries of a list."""
        draw = self.draw
        here = draw.choice(
            [v for p in places(document) if isinstance(v := reach(document, p), list)]
        )
        place, other = draw.randrange(len(here)), draw.choice(here)
        rest = here[:place] + here[place + 1 :]
        others = [here[::-1], draw.sample(here, len(here)), rest, [*here, other], [*rest, other]]
        here[:] = copy.deepcopy(draw.choice(others))

    def tables(self, document: Document) -> None:
        """Remove, add or move a key."""
        found = [t for p in places(document) if isinstance(t := reach(document, p), dict)]
        here, there = self.draw.choice([document, *found]), self.draw.choice(found)
        key = self.draw.choice(list(here))
        kind = self.draw.randrange(3)
        if kind == 0:
            del here[key]
        elif kind == 1:
            there[key] = copy.deepcopy(here[key])
        else:
            here[key + "s"] = here.pop(key)

    def splice(self, document: Document) -> None:
        """Take a part from another file, such as its prior or its objective."""
        other, start = self.draw.choice(self.pool), self.draw.choice([(), ("problem",)])
        path = (*start, *self._place(reach(other, start))[: self.draw.randrange(1, 4)])
        *rest, key = path
        here = reach(document, tuple(rest))
        if isinstance(here, dict) == isinstance(key, str):  # the same kind of place
            here[key] = copy.deepcopy(reach(other, path))

    def slot(self, document: Document) -> None:
        """Fill a slot of the certificate anew, or from another file."""
        draw, proof, k = self.draw, document["certificate"], len(document["channel"]["inputs"])
        chain = [
            {"kind": "average", "weights": [draw.randrange(5) for _ in range(k)]},
            {"kind": "restrict", "inputs": draw.sample(range(k), draw.randint(1, k))},
            {"kind": "implied", "alone": draw.random() < 0.5},
            {"kind": "representatives", "stands": [draw.randrange(k) for _ in range(k)]},
            {"kind": "representatives", "stands": [min(x, k - 2) for x in range(k)]},
        ]
        key = draw.choice(["relaxations", "prices", "other"])
        if key == "relaxations":
            old = proof.get(key, [])
            proof[key] = draw.sample([*old, draw.choice(chain)], len(old) + 1)
        elif key == "prices":
            proof[key] = [draw.gauss(0, 0.3) for _ in range(k)]
        else:
            other = draw.choice(self.pool)["certificate"]
            key = draw.choice(list(other))
            proof[key] = copy.deepcopy(other[key])

    def units(self, document: Document) -> None:
        """Move probability between two entries of a row of the channel."""
        row = self.draw.choice(document["channel"]["numerators"])
        one, other = (self.draw.randrange(len(row)) for _ in range(2))
        moved = min(int(row[one]), 1 << self.draw.randrange(62))
        row[one] = str(int(row[one]) - moved)
        row[other] = str(int(row[other]) + moved)

    def worse(self, document: Document) -> None:
        """Send one output whatever the input: private, and no optimum."""
        for row in document["channel"]["numerators"]:
            total = sum(map(int, row))
            row[:] = [str(total * (y == 0)) for y in range(len(row))]

    def claim(self, document: Document) -> None:
        """Claim a little more than is proved, or another leakage."""
        step = 10.0 ** -self.draw.randrange(1, 16) * self.draw.choice([-1, 1])
        if self.draw.random() < 0.5:
            entry = self.draw.choice(document["privacy"])
            entry["leakage"] += step
        else:
            document["bound"] += step * max(abs(document["bound"]), 1e-3)

    def _make_consistent(self, document: Document) -> None:
        try:
            channel = document["channel"]
            whole = 1 << channel["bits"]
            channel["matrix"] = [[int(v) / whole for v in row] for row in channel["numerators"]]
            document.update(claims_of(document))
            if self.draw.random() < 0.5:
                document["bound"] = document["value"]  # the boldest claim
            gap = abs(document["value"] - document["bound"]) / max(1e-12, abs(document["value"]))
            document["gap"], document["status"] = gap, "optimal" if gap <= 1e-6 else "bounded"
        except (RefusedError, Unable, *WRONG_SHAPE):
            return


CHANGES: list[Callable[[Changer, Document], None]] = [
    *[Changer.leaf] * 4,
    *[Changer.slot] * 4,
    Changer.splice,
    Changer.entries,
    Changer.tables,
    Changer.splice,
    Changer.units,
    Changer.worse,
    Changer.claim,
]
