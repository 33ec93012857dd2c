"""Changes of saved files: trees of JSON, their text, and forgeries that are made consistent.

Everything is drawn from one stream of random numbers, so that a seed repeats a run.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from tests.independent.files import RefusedError, Unable, claims_of

Document = dict[str, Any]
Path = tuple[Any, ...]

NAMES = {
    "notion": "ldp context-aware high-low block metric lip lift pml bounded-prior-lip "
    "bounded-prior-pml bounded-prior-lift "
    "differential-identifiability linear approximate-ldp approximate-lip mutual-information "
    "maximal-leakage g-vulnerability attack-error",
    "objective": "mean-absolute-error mean-squared-distance hamming euclidean distortion "
    "posterior-mean-squared-error mutual-information bayes-accuracy l2-risk tv-risk "
    "unbiased-variance g-vulnerability fisher-information total-variation kullback-leibler "
    "chi-squared squared-hellinger custom mine",
    "search": "rays sums sets boxes chain one-budget lifts decoders classes products "
    "one-budget-readings",
    "theorem": "nothing-constrained equal-rows binary-universal erasure randomized-response "
    "simplicial uniform-subsets uniform-lift subset-selection leakage-budget "
    "binary-mechanism",
    "side": "ratio upper lower row positive excess excess-upper excess-lower largest guess attack "
    "secret-ratio secret-upper secret-lower",
    "distance": "absolute euclidean manhattan hamming squared",
    "status": "optimal bounded infeasible",
    "sense": "minimize maximize",
    "format": "mechdesign-channel mechdesign-mechanism mechdesign-bare-channel "
    "mechdesign-continuous mechdesign-plane",
    "mechanism": "randomized-response hadamard-response projective-geometry-response "
    "optimized-unary-encoding symmetric-unary-encoding subset-selection by-component high-low "
    "lip-randomized-response in-clear geometric-noise planar-laplace",
}
FAMILY = {name: family.split() for family in NAMES.values() for name in family.split()}
SPARE: dict[str, Any] = {
    "values": ["1", "0", "3"],
    "histogram": True,
    "worst_case": True,
    "matrix": [["0", "1", "2"], ["1", "0", "1"], ["2", "1", "0"]],
    "epsilon": "7",
    "delta": "1",
    "limit": "0.7",
    "least": "0.2",
    "lower": "0",
    "upper": "inf",
    "priors": [["0.2", "0.3", "0.5"]],
    "radius": "1",
    "center": ["0.2", "0.3", "0.5"],
    "sensitive": [0],
    "blocks": [[0, 1], [2]],
    "block_rows": 1,
    "block_columns": 1,
    "distance": "absolute",
    "secret": {"values": ["a", "b"], "given_input": [["0.5", "0.5"]] * 3},
    "rows": [],
    "title": "a title",
    "decoders": ["0", "1"],
    "scores": [["1"], ["1"], ["-1"]],
    "gain_matrix": [["1", "0", "0"], ["0", "2", "0.5"]],
    "first": ["1", "0", "0"],
    "second": ["0.2", "0.3", "0.5"],
    "levels": [0.0, 0.0, 0.0],
    "potential": [0.1, 0.1, 0.1],
    "search": "rays",
    "representatives": [0, 0, 2],
    "mixtures": [[[0, 1.0]], [], [[1, 0.5], [0, 0.5]]],
    "tree": [[0.5, [], [], []]],
    "surplus": 0.1,
    "readings": {"numerators": ["-1", "1", "2"], "denominator": "1"},
    "products": [[0], [0], [1], [0], [0.1]],
    "intervals": [[[0.5], [0.0, 0.1, 0.0]]],
    "estimator": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    "tangents": [1.0, 1.0, 1.0],
    "prior": ["0.2", "0.3", "0.5"],
    "weights": [0.2, 0.3, 0.5],
    "information": {"multipliers": {"0": 1.0}, "levels": [0.0, 0.0, 0.0]},
    "facets": [[None, "positive", x, None] for x in range(3)],
    "numeric": True,
    "constraints": ["Q[0, 0] <= 1"],
    "expression": "an expression",
    "decoder": [0.0, 1.0, 3.0],
    "slope": "1",
    "remap": ["0", "2", "1"],
    "margins": ["0", "1"],
    "size": 3,
    "grid": {"rows": 1, "columns": 3, "spacing": "1"},
    "cuts": ["1/2"],
    "points": {"coordinates": [["0", "0"], ["1", "-1/2"], ["3", "0"]], "metric": "euclidean"},
    "axes": [["0", "1/2", "1"], ["0", "1"]],
    "box": [["0", "1"], ["0", "2"]],
    "interval": ["0", "1"],
    "means": [["1/16"] * 9],
    "spare": None,
}
DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?|-?[0-9]+/[0-9]+")
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


def digest(document: Document) -> str:
    """Return the digest that fits, as the documentation defines it."""
    rest = {key: value for key, value in document.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def reach(tree: Any, path: Path) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def places(tree: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every entry of a tree."""
    if path:
        yield path
    if isinstance(tree, dict):
        for key in tree:
            yield from places(tree[key], (*path, key))
    elif isinstance(tree, list):
        for n, entry in enumerate(tree):
            yield from places(entry, (*path, n))


class Mutator:
    """Draws changed files from a pool of honest ones."""

    def __init__(
        self,
        pool: Sequence[Document],
        seed: int,
        claims: Callable[[Document], Document] = claims_of,
    ) -> None:
        self.pool, self.claims = pool, claims
        self.random = random.Random(seed)

    def tree(self) -> Document:
        """Return a changed document with the digest that fits."""
        document = copy.deepcopy(self.random.choice(self.pool))
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            change = self.random.choice(CHANGES)
            try:
                change(self, document)
            except WRONG_SHAPE:
                continue  # a change of what an earlier one took away
        if self.random.random() < 0.5:
            self._make_consistent(document)
        document["digest"] = digest(document)
        return document

    def text(self) -> bytes:
        """Return a changed text of a file; the digest fits what the tree says."""
        document = self.tree() if self.random.random() < 0.3 else self.random.choice(self.pool)
        text = json.dumps(document)
        return self.random.choice(TEXT_CHANGES)(self, text)

    # one place of the tree

    def _place(self, document: Document) -> Path:
        """Draw a place, small tables as often as long lists."""
        path: Path = ()
        here: Any = document
        while isinstance(here, (dict, list)) and here:
            if path and self.random.random() < 0.15:
                break
            key = self.random.choice(list(here) if isinstance(here, dict) else range(len(here)))
            path, here = (*path, key), here[key]
        return path

    def leaf(self, document: Document) -> None:
        *rest, key = self._place(document)
        place = reach(document, tuple(rest))
        place[key] = self._other(place[key])

    def _other(self, value: Any) -> Any:
        draw = self.random
        if draw.random() < 0.2:
            return copy.deepcopy(draw.choice(ODD))
        if isinstance(value, bool):
            return not value
        if isinstance(value, (int, float)):
            return self._near(value)
        if isinstance(value, str) and DECIMAL.fullmatch(value):
            return self._near_text(value)
        if isinstance(value, str):
            return draw.choice(FAMILY.get(value, [value + "x", value.upper(), "", "another"]))
        return copy.deepcopy(draw.choice(ODD))

    def _near(self, value: float) -> Any:
        draw = self.random
        kind = draw.randrange(9)
        if kind == 0:
            return -value
        if kind == 1:
            return value * draw.choice([2, 0.5, 10, 1e6, 1e-6, 1e300])
        if kind == 2 and isinstance(value, int):
            return value + draw.choice([-1, 1])
        if kind == 3:
            return math.nextafter(value, draw.choice([-math.inf, math.inf]))
        if kind == 4:
            return str(value)
        if kind == 5:
            return draw.uniform(-1, 2)
        return value * (1 + draw.choice([-1, 1]) * 10.0 ** -draw.randrange(1, 16)) + 0.0

    def _near_text(self, text: str) -> str:
        draw = self.random
        value = Fraction(text) if len(text) < 40 and "e99" not in text else Fraction(1)
        kind = draw.randrange(7)
        if kind == 0:
            return (
                f"{draw.choice(['-', '+', ' ', '0', ''])}{text}{draw.choice(['', ' ', '_0', '0'])}"
            )
        if kind == 1:
            return str(value + draw.choice([-1, 1]))
        if kind == 2:
            return str(value * draw.choice([2, 3, -1, Fraction(1, 2), 10**6]))
        if kind == 3:
            return "".join(chr(0x660 + int(c)) if c.isdigit() else c for c in text)
        if kind == 4:
            return draw.choice(["0", "1", "1/3", "0.5", "inf", "1e3"])
        return str(value * (1 + draw.choice([-1, 1]) * Fraction(1, 10 ** draw.randrange(1, 25))))

    def entries(self, document: Document) -> None:
        """Swap, double, drop, turn around or empty the entries of a list."""
        lists = [p for p in places(document) if isinstance(reach(document, p), list)]
        here = reach(document, self.random.choice(lists))
        one, other = (self.random.randrange(len(here)) for _ in range(2))
        kind = self.random.randrange(6)
        if kind == 0:
            here[one], here[other] = here[other], here[one]
        elif kind == 1:
            here.insert(one, copy.deepcopy(here[other]))
        elif kind == 2:
            del here[one]
        elif kind == 3:
            here.append(copy.deepcopy(here[one]))
        elif kind == 4:
            here.reverse()
        else:
            here[one] = copy.deepcopy(here[other])

    def tables(self, document: Document) -> None:
        """Rename, remove, add or move a key."""
        found = [
            document,
            *(t for p in places(document) if isinstance(t := reach(document, p), dict)),
        ]
        here, there = self.random.choice(found), self.random.choice(found)
        kind = self.random.randrange(5)
        if kind == 0:
            key = self.random.choice(list(here))
            here[self.random.choice(list(SPARE))] = here.pop(key)
        elif kind == 1:
            del here[self.random.choice(list(here))]
        elif kind == 2:
            key = self.random.choice(list(SPARE))
            here[key] = copy.deepcopy(SPARE[key])
        elif kind == 3:
            key = self.random.choice(list(here))
            there[key] = copy.deepcopy(here.pop(key))
        else:
            key = self.random.choice(list(here))
            there[key] = copy.deepcopy(here[key])

    def splice(self, document: Document) -> None:
        """Take a part from another file: the same part, or one under another key."""
        other = self.random.choice(self.pool)
        path = self._place(document)[: self.random.randrange(1, 4)]
        *rest, key = path
        taken = reach(other, path)
        reach(document, tuple(rest))[key] = copy.deepcopy(taken)

    def borrow(self, document: Document) -> None:
        """Add a key of the same table of another file."""
        other = self.random.choice(self.pool)
        path = self.random.choice(
            [
                (),
                ("problem",),
                ("problem", "utility"),
                ("problem", "privacy", 0),
                ("certificate",),
                ("certificate", "oracle"),
                ("certificate", "linearization"),
                ("channel",),
                ("problem", "domain"),
                ("privacy", 0),
            ]
        )
        source = reach(other, path)
        key = self.random.choice(list(source))
        reach(document, path)[key] = copy.deepcopy(source[key])

    def statement(self, document: Document) -> None:
        """Ask for something else, in the problem."""
        problem = document["problem"]
        on_labels = ["prior", "privacy", "utility", "outputs", "domain"]
        part = self.random.choice(on_labels if "prior" in problem else list(problem))
        if part == "privacy":
            entry = self.random.choice(problem["privacy"])
            key = self.random.choice(list(entry))
            entry[key] = self._other(entry[key])
        elif part == "utility":
            key = self.random.choice(list(problem["utility"]))
            problem["utility"][key] = self._other(problem["utility"][key])
        else:
            problem[part] = copy.deepcopy(self.random.choice(self.pool)["problem"][part])

    def units(self, document: Document) -> None:
        """Move probability between two entries of a row of the channel."""
        rows = document["channel"]["numerators"]
        row = self.random.choice(rows)
        one, other = (self.random.randrange(len(row)) for _ in range(2))
        moved = min(int(row[one]), 1 << self.random.randrange(62))
        row[one] = str(int(row[one]) - moved)
        row[other] = str(int(row[other]) + moved)

    def bound(self, document: Document) -> None:
        """Claim a little more than is proved."""
        step = 10.0 ** -self.random.randrange(1, 17)
        step = step if document["sense"] == "minimize" else -step
        document["bound"] += step * max(abs(document["bound"]), 1e-3)

    def _make_consistent(self, document: Document) -> None:
        """State value, leakages, gap and status as they are: what is left may be a forgery."""
        try:
            channel = document["channel"]
            whole = 1 << channel["bits"]
            channel["matrix"] = [[int(v) / whole for v in row] for row in channel["numerators"]]
            document.update(self.claims(document))
            if self.random.random() < 0.3:
                document["bound"] = document["value"]  # the boldest claim
            gap = abs(document["value"] - document["bound"]) / max(1e-12, abs(document["value"]))
            document["gap"], document["status"] = gap, "optimal" if gap <= 1e-6 else "bounded"
        except (RefusedError, Unable, *WRONG_SHAPE):
            return


WRONG_SHAPE = (
    AttributeError,
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    OverflowError,
    ZeroDivisionError,
)


CHANGES: list[Callable[[Mutator, Document], None]] = [
    Mutator.leaf,
    Mutator.leaf,
    Mutator.leaf,
    Mutator.entries,
    Mutator.tables,
    Mutator.tables,
    Mutator.splice,
    Mutator.borrow,
    Mutator.statement,
    Mutator.statement,
    Mutator.units,
    Mutator.bound,
]


# --- text -----------------------------------------------------------------------------------------


def _key_twice(mutator: Mutator, text: str) -> bytes:
    """Write a key a second time, in front of or behind the first, with another value."""
    draw = mutator.random
    found = list(re.finditer(r'"(\w+)": ("[^"]*"|-?[0-9.e-]+|true|false|null|\[\]|\{\})', text))
    hit = draw.choice(found)
    other = draw.choice(found)
    twin = f'"{hit[1]}": {draw.choice([hit[2], other[2], "0", "null"])}'
    ways = [f"{twin}, {hit[0]}", f"{hit[0]}, {twin}"]
    return (text[: hit.start()] + draw.choice(ways) + text[hit.end() :]).encode()


def _number(mutator: Mutator, text: str) -> bytes:
    draw = mutator.random
    hit = draw.choice(list(re.finditer(r"(?<=[ \[\"])-?[0-9][0-9.e-]*", text)))
    odd = ["1e400", "-1e400", "NaN", "Infinity", "-Infinity", "-0", "-0.0", "01", "1.", ".5", "+1"]
    odd += ["0x10", "\u0661", "1_000", "9" * 400, "1e-400", "0." + "0" * 400 + "1", "9" * 5000]
    odd += [hit[0] + "0", hit[0] + ".0", hit[0] + "e0", "1" + hit[0]]
    return (text[: hit.start()] + draw.choice(odd) + text[hit.end() :]).encode()


def _bytes(mutator: Mutator, text: str) -> bytes:
    draw = mutator.random
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
        text.encode()[: mutator.random.randrange(len(text))],
        text.replace('"', "'").encode(),
        text.replace(" ", "\u00a0").encode(),
    ]
    return mutator.random.choice(ways)


TEXT_CHANGES: list[Callable[[Mutator, str], bytes]] = [
    _key_twice,
    _key_twice,
    _number,
    _number,
    _bytes,
    _around,
]
