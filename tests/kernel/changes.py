"""Changed files: each slot of a saved channel is changed, moved or taken from another file.

Half of the files are then made consistent: matrix, value, leakages, gap and status are stated as
they are, and the bound as boldly as may be. What is left to find is a forgery.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from tests.independent.files import claims_of
from tests.independent.rationals import RefusedError, Unable
from tests.independent.reading import seal

Document = dict[str, Any]
Change = Callable[[Document], Any]
Path = tuple[Any, ...]

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


def relaxations(d: random.Random, k: int) -> list[Document]:
    return [
        {"kind": "average", "weights": [d.randrange(0, 5) for _ in range(k)]},
        {"kind": "average", "weights": [d.uniform(-0.2, 1) for _ in range(k)]},
        {"kind": "restrict", "inputs": d.sample(range(k), d.randrange(1, k + 1))},
        {"kind": "restrict", "inputs": [d.randrange(k + 1) for _ in range(k)]},
        {"kind": "implied", "alone": d.random() < 0.5},
        {"kind": "implied"},
        {"kind": "representatives", "stands": [d.randrange(k) for _ in range(k)]},
        {"kind": "representatives", "stands": [min(x, k - 2) for x in range(k)]},
        {"kind": "members", "place": d.randrange(2), "priors": [_law(d, k)]},
        {
            "kind": "estimator",
            "vectors": [[1 * (x == z) for z in range(k)] for x in range(k)],
        },
    ]


def oracles(d: random.Random, k: int) -> list[Document]:
    return [
        {"kind": "orthant"},
        {"kind": "line", "order": d.sample(range(k), k)},
        {"kind": "line"},
        {"kind": "one-budget"},
        {"kind": "one-budget", "blocks": _blocks(d, k)},
        {"kind": "knapsack"},
        {"kind": "knapsack", "p": _law(d, k)},
        {"kind": "rays", "source": {"kind": "double-description"}},
        {"kind": "rays", "source": {"kind": "subsets"}},
        {"kind": "rays", "source": {"kind": "subsets", "blocks": _blocks(d, k)}},
        {
            "kind": "rays",
            "source": {"kind": "classes", "groups": _blocks(d, k), "blocks": _blocks(d, k)},
        },
        {"kind": "rays", "source": {"kind": "simplicial", "facets": _facets(d, k)}},
        {"kind": "entropy", "multipliers": [[0, 1]], "levels": [0] * k},
    ]


def lines(d: random.Random, k: int) -> list[Document]:
    return [
        {"kind": "costs"},
        {"kind": "gain"},
        {"kind": "decoders", "nodes": sorted(d.sample(range(-9, 9), 4))},
        {"kind": "readings", "probes": [-3, 0, 3], "slopes": [d.gauss(0, 1)] * k},
        {"kind": "boxes", "tree": [None]},
        {"kind": "boxes", "tree": [[0, 1], None, None]},
    ]


ODD: list[Any] = [None, True, 0, 1, -1, 0.5, 1e308, "", "0", "-1", "1/0", "nan", "inf", "1e400"]
ODD += ["1e999999999", "0x1", [], {}, [[]], {"kind": "costs"}, "u1:3:eJxjZGAEAAAFAAI="]


def _law(draw: random.Random, k: int) -> list[str]:
    counts = [draw.randrange(1, 9) for _ in range(k)]
    return [f"{n}/{sum(counts)}" for n in counts]


def _blocks(draw: random.Random, k: int) -> list[list[int]]:
    if draw.random() < 0.5:
        return [list(range(k))]
    cut = draw.randrange(0, k + 1)
    return [block for block in (list(range(cut)), list(range(cut, k))) if block]


def _facets(draw: random.Random, k: int) -> list[Document]:
    found: list[Document] = []
    for _ in range(k):
        x, other = draw.randrange(k), draw.randrange(k)
        side = draw.choice(["", "upper", "lower"])
        place = draw.choice([None, 0])
        own = {"place": place, "x": x} if place is None else {"place": 0, "x": x, "other": other}
        found.append(own | ({"side": side} if side else {}))
    return found


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
        table = document[self.draw.choice(["problem", "certificate", "certificate", "channel"])]
        table = document if self.draw.random() < 0.1 else table
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
            return str(Fraction(self._near(Fraction(value))))
        except (ValueError, ZeroDivisionError, OverflowError):
            return draw.choice(
                ["", value + "x", value[:-1], "ldp", "upper", "lower", "cone", "limit"]
            )

    def _near(self, value: Any) -> Any:
        draw, kind = self.draw, self.draw.randrange(8)
        if kind == 0:
            return -value
        if kind == 1:
            return value * draw.choice([2, 3, 10, 1000])
        if kind == 2:
            return value + draw.choice([-1, 1])
        if kind == 3:
            return type(value)(draw.choice([0, 1, 2]))
        if kind == 4 and not isinstance(value, Fraction):
            return math.nextafter(value, draw.choice([-math.inf, math.inf]))
        step = Fraction(draw.choice([-1, 1]), 10 ** draw.randrange(1, 16))
        near = Fraction(value) * (1 + step)
        return near if isinstance(value, Fraction) else float(near)

    # lists, tables, slots

    def entries(self, document: Document) -> None:
        """Swap, double, drop, turn around or copy the entries of a list."""
        lists = [p for p in places(document) if isinstance(reach(document, p), list)]
        here = reach(document, self.draw.choice(lists))
        one, other = (self.draw.randrange(len(here)) for _ in range(2))
        kind = self.draw.randrange(5)
        if kind == 0:
            here[one], here[other] = here[other], here[one]
        elif kind == 1:
            here.insert(one, copy.deepcopy(here[other]))
        elif kind == 2:
            del here[one]
        elif kind == 3:
            here.reverse()
        else:
            here[one] = copy.deepcopy(here[other])

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
        """Take a part from another file."""
        other = self.draw.choice(self.pool)
        path = self._place(other)[: self.draw.randrange(1, 4)]
        *rest, key = path
        reach(document, tuple(rest))[key] = copy.deepcopy(reach(other, path))

    def slot(self, document: Document) -> None:
        """Fill a slot of the certificate anew, or from another file."""
        certificate, k = document["certificate"], len(document["channel"]["inputs"])
        other = self.draw.choice(self.pool)["certificate"]
        kind = self.draw.randrange(9)
        if kind == 0:
            certificate["oracle"] = self.draw.choice(oracles(self.draw, k))
        elif kind == 1:
            certificate["linearization"] = self.draw.choice(lines(self.draw, k))
        elif kind <= 4:
            chain = certificate.setdefault("relaxations", [])
            new = self.draw.choice(relaxations(self.draw, k))
            chain.insert(self.draw.randrange(len(chain) + 1), new)
        elif kind == 5:
            certificate["prices"] = [self.draw.gauss(0, 0.3) for _ in range(k)]
        elif kind == 6:
            certificate.get("relaxations", []).reverse()
        else:
            key = self.draw.choice(list(other))
            certificate[key] = copy.deepcopy(other[key])

    def statement(self, document: Document) -> None:
        """Ask for something else."""
        problem = document["problem"]
        part = self.draw.choice(["prior", "privacy", "privacy", "privacy", "utility", "outputs"])
        if part == "privacy" and self.draw.random() < 0.7:
            entry = self.draw.choice(problem["privacy"])
            key = self.draw.choice(list(entry))
            entry[key] = self._other(entry[key])
        else:
            problem[part] = copy.deepcopy(self.draw.choice(self.pool)["problem"][part])

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
    *[Changer.statement] * 3,
    Changer.entries,
    Changer.tables,
    Changer.splice,
    Changer.units,
    Changer.worse,
    Changer.claim,
]
