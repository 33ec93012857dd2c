"""Notions of privacy, for all pairs of inputs and all extreme priors, by their definitions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.independent.guesses import GUESSED, Guessing
from tests.independent.rationals import (
    BITS,
    ONE,
    ZERO,
    Interval,
    Unable,
    Vector,
    below,
    decide,
    dot,
    exactly,
    exp,
    ln,
    need,
    plus,
    root,
    times,
)
from tests.independent.reading import (
    Inputs,
    claim,
    distance,
    distribution,
    fraction,
    index,
    keys,
    labels,
    sequence,
    text,
)


@dataclass(frozen=True)
class Row:
    """left . q <= e**(base + slope sqrt(radicand) t) (right . q), at the budget t."""

    left: Vector
    right: Vector
    base: Fraction = ZERO
    slope: Fraction = ONE
    radicand: Fraction = ONE

    def exponent(self, t: Fraction, bits: int = BITS) -> Interval:
        low, high = times(root(self.radicand, bits), abs(self.slope * t))
        return (
            (self.base + low, self.base + high)
            if self.slope * t >= 0
            else (self.base - high, self.base - low)
        )

    def shrink(self, t: Fraction) -> Interval:
        """Return bounds on e**-exponent."""
        low, high = self.exponent(t)
        return exp(-high)[0], exp(-low)[1]

    def holds(self, q: Vector, t: Fraction) -> bool:
        return below(dot(self.left, q), dot(self.right, q), lambda bits: self.exponent(t, bits))


def unit(x: int, k: int, scale: Fraction = ONE) -> Vector:
    return tuple(scale if z == x else ZERO for z in range(k))


RATIOS = {"ldp", "context-aware", "high-low", "block", "metric", "differential-identifiability"}
OF_PRIORS = {"bounded-prior-lip", "bounded-prior-pml", "bounded-prior-lift"}
LIFTS = {"lip", "lift", "pml"} | OF_PRIORS
SUMS = {"approximate-ldp", "approximate-lip", "mutual-information", "maximal-leakage"} | GUESSED
NO_EPSILON = {"context-aware", "lift", "bounded-prior-lift"} | GUESSED
EXTRA: dict[str, tuple[set[str], set[str]]] = {
    "context-aware": ({"matrix"}, set()),
    "high-low": ({"sensitive"}, set()),
    "block": (set(), {"blocks", "block_rows", "block_columns"}),
    "metric": ({"distance"}, set()),
    "lift": ({"lower", "upper"}, set()),
    "bounded-prior-lip": (set(), {"priors", "lower", "upper", "center", "radius"}),
    "bounded-prior-pml": (set(), {"priors", "lower", "upper", "center", "radius"}),
    "bounded-prior-lift": ({"lower", "upper", "priors"}, set()),
    "linear": ({"rows"}, {"epsilon", "title"}),
    "approximate-ldp": ({"delta"}, set()),
    "approximate-lip": ({"delta"}, set()),
    "g-vulnerability": ({"limit"}, {"gain_matrix"}),
    "attack-error": ({"least", "distance"}, set()),
}


def laws_of(table: Any, n_values: int, prior: Vector) -> list[list[Vector]]:
    """Return the laws P(s|x) of a set that matter: those listed, or each choice of the ends."""
    k = len(prior)
    if set(table) == {"values", "laws"}:
        return [
            [distribution(r, n_values) for r in sequence(law, k)] for law in sequence(table["laws"])
        ]
    ends: list[list[tuple[Fraction, Fraction]]] = []
    if set(table) == {"values", "given_input", "radius"}:
        for r, far in zip(
            sequence(table["given_input"], k), sequence(table["radius"], k), strict=True
        ):
            moved = fraction(far)
            need(moved >= 0, "a radius")
            moved = moved if n_values > 1 else ZERO  # a sole value is certain
            row = distribution(r, n_values)
            ends.append([(max(v - moved, ZERO), min(v + moved, ONE)) for v in row])
    else:
        need(set(table) == {"values", "lower", "upper"}, "one way to state a set of laws")
        for a, b in zip(sequence(table["lower"], k), sequence(table["upper"], k), strict=True):
            low, high = ([fraction(v) for v in sequence(end, n_values)] for end in (a, b))
            need(all(u <= v for u, v in zip(low, high, strict=True)), "bounds")
            need(sum(low) <= 1 <= sum(high), "bounds with a distribution")
            ends.append(
                [
                    (max(low[s], 1 - sum(high) + high[s]), min(high[s], 1 - sum(low) + low[s]))
                    for s in range(n_values)
                ]
            )
    found = []
    for s in range(n_values if n_values > 2 else 1):
        chosen: list[list[Fraction]] = [[]]
        for row_ends in ends:
            low_end, high_end = row_ends[s]
            need(len(chosen) <= 1 << 10, "few uncertain inputs")
            steps = [low_end] if low_end == high_end else [low_end, high_end]
            chosen = [[*before, end] for before in chosen for end in steps]
        for law in chosen:
            tells = dot(prior, tuple(law)) not in (0, 1)
            found.append([(a, 1 - a) for a in (law if tells else [Fraction(1, 2)] * k)])
    return found


class Notion:
    """A notion, written out as rows for all inputs and all extreme priors of a set."""

    def __init__(self, table: Any, inputs: Inputs, prior: Vector) -> None:
        need(isinstance(table, dict) and isinstance(table.get("notion"), str), "a notion")
        self.name: str = table["notion"]
        need(self.name in RATIOS | LIFTS | SUMS | {"linear"}, f"no notion {self.name}")
        must, may = EXTRA.get(self.name, (set(), set()))
        if self.name not in NO_EPSILON | {"linear"}:
            must = must | {"epsilon"}
        self.table = keys(table, must | {"notion"}, may | {"secret"})
        self.has_epsilon = "epsilon" in table
        self.epsilon = fraction(table["epsilon"]) if self.has_epsilon else ZERO
        self.delta = fraction(table.get("delta", "0"))
        need(0 <= self.delta <= 1, "delta from 0 to 1")
        self.of_inputs, self.secret = (inputs, prior), None
        self.law_of: list[int] = []
        self.inputs, self.prior = inputs, prior
        if "secret" in table:
            self._about(table["secret"])
        self.side = "secret-" if self.secret else ""
        self.members: list[Vector] | None = None
        self.pairs: dict[tuple[int, int], Row] = {}
        self.own: list[Row] = []
        self.up: Fraction | None = None
        self.down: Fraction | None = None
        self._read()
        guessed = self.name in GUESSED
        self.guessing = Guessing(self.table, inputs, prior) if guessed else None
        vertices = self.members if self.members is not None else [self.prior]
        lifts = [
            row for p in vertices for x in range(len(self.inputs)) for row in self.lift_rows(x, p)
        ]
        self.rows = [*(self._of_q(row) for row in self.pairs.values()), *self.own, *lifts]

    def _about(self, table: Any) -> None:
        need(self.name not in SUMS | OF_PRIORS, "a secret beside such a notion")
        (inputs, prior), k = self.of_inputs, len(self.of_inputs[0])
        table = keys(table, ["values"], {"given_input", "radius", "lower", "upper", "laws"})
        values = labels(table["values"])
        if set(table) == {"values", "given_input"}:
            rows = [distribution(r, len(values)) for r in sequence(table["given_input"], k)]
        else:
            laws = laws_of(table, len(values), prior)
            width = len(laws[0][0])
            values = list(range(width * len(laws)))
            rows = [
                tuple(v / len(laws) for law in laws for v in law[x]) for x in range(len(inputs))
            ]
            if self.name == "ldp":  # the law is no secret
                need("laws" in table or len(table["values"]) == 2, "LDP of two values")
                self.law_of = [v // width for v in values]
            else:
                need(self.name in ("lip", "pml", "lift"), "a notion for a set of laws")
        masses = tuple(
            sum(p * r[s] for p, r in zip(prior, rows, strict=True)) for s in range(len(values))
        )
        need(min(masses) > 0, "a value of probability 0")
        self.secret = [
            tuple(p * r[s] / masses[s] for p, r in zip(prior, rows, strict=True))
            for s in range(len(values))
        ]
        self.inputs, self.prior = Inputs(values, ONE, None), tuple(map(Fraction, masses))

    def _of_q(self, row: Row) -> Row:
        if self.secret is None:
            return row

        def spread(side: Vector) -> Vector:
            k = len(self.of_inputs[1])
            return tuple(
                sum(a * w[x] for a, w in zip(side, self.secret or [], strict=True))
                for x in range(k)
            )

        return Row(spread(row.left), spread(row.right), row.base, row.slope, row.radicand)

    def pair(
        self, x: int, z: int, base: Fraction = ZERO, slope: Fraction = ONE, radicand: Fraction = ONE
    ) -> None:
        k = len(self.inputs)
        self.pairs[x, z] = Row(unit(x, k), unit(z, k), base, slope, radicand)

    def lift_rows(self, x: int, p: Vector) -> list[Row]:
        return [row for side in ("upper", "lower") if (row := self.lift_row(side, x, p))]

    def lift_row(self, side: str, x: int, p: Vector) -> Row | None:
        budget = self.up if side == "upper" else self.down
        if budget is None:
            return None
        ends = (unit(x, len(p)), p) if side == "upper" else (p, unit(x, len(p)))
        return self._of_q(Row(*ends, budget, ONE))

    def row(self, side: Any, x: Any, other: Any, members: list[Vector] | None) -> Row:
        """Return the row that a certificate names."""
        need(isinstance(side, str) and side.startswith("secret-") == bool(self.secret), "the side")
        side, k = side.removeprefix("secret-"), len(self.inputs)
        if side == "ratio":
            found = self.pairs.get((index(x, k), index(other, k)))
            need(found, "no such pair")
            assert found
            return self._of_q(found)
        if side == "row":
            need(other == 0, "no other input")
            return self.own[index(x, len(self.own))]
        need(side in ("upper", "lower"), "a side of a row")
        laws = members if self.members is not None else [self.prior]
        need(laws is not None, "priors that the rows are of")
        found = self.lift_row(side, index(x, k), (laws or [])[index(other, len(laws or []))])
        need(found, "no bound on that side")
        assert found
        return found

    def _read(self) -> None:
        table, k, name = self.table, len(self.inputs), self.name
        everybody = [(x, z) for x in range(k) for z in range(k) if x != z]
        if name == "ldp" or (name == "approximate-ldp" and self.delta == 0):
            for x, z in everybody:
                if not self.law_of or self.law_of[x] == self.law_of[z]:
                    self.pair(x, z)
        elif name == "context-aware":
            rows = [sequence(r, k) for r in sequence(table["matrix"], k)]
            for x, z in itertools.product(range(k), repeat=2):
                budget = None if rows[x][z] == "inf" else fraction(rows[x][z])
                if budget is not None and x != z:
                    self.pair(x, z, budget)
        elif name == "high-low":
            chosen = [self.inputs.at(name) for name in sequence(table["sensitive"])]
            need(chosen and len(set(chosen)) == len(chosen), "sensitive inputs")
            for x, z in everybody:
                if x in chosen:
                    self.pair(x, z)
        elif name == "block":
            member = self._blocks()
            for x, z in everybody:
                if member[x] == member[z]:
                    self.pair(x, z)
        elif name == "metric":
            self._metric(everybody)
        elif name == "differential-identifiability":
            need(min(self.prior) > 0, "a prior above 0")
            for x, z in everybody:
                self.pairs[x, z] = Row(unit(x, k), unit(z, k, self.prior[z] / self.prior[x]))
        elif name in ("lip", "bounded-prior-lip") or (
            name == "approximate-lip" and self.delta == 0
        ):
            self.up = self.down = ZERO
        elif name in ("pml", "bounded-prior-pml"):
            self.up = ZERO
        elif name in ("lift", "bounded-prior-lift"):
            self.up, self.down = (
                None if table[end] == "inf" else fraction(table[end]) for end in ("upper", "lower")
            )
        elif name == "linear":
            self._linear()
        if name in OF_PRIORS:
            self.members = self._extreme_priors()

    def _blocks(self) -> list[int]:
        k, shape = len(self.inputs), self.inputs.shape
        if "blocks" in self.table:
            need(not {"block_rows", "block_columns"} & set(self.table), "one way to state blocks")
            blocks = [
                [self.inputs.at(name) for name in sequence(b)]
                for b in sequence(self.table["blocks"])
            ]
            need(sorted(itertools.chain(*blocks)) == list(range(k)) and all(blocks), "a partition")
            return [next(n for n, b in enumerate(blocks) if x in b) for x in range(k)]
        need(shape is not None, "a grid")
        sizes = [self.table.get(key) for key in ("block_rows", "block_columns")]
        need(all(type(size) is int and size > 0 for size in sizes), "the size of a block")
        assert shape is not None
        need(shape[0] % sizes[0] == 0 and shape[1] % sizes[1] == 0, "blocks that fill the grid")
        wide = shape[1] // sizes[1]
        return [(x // shape[1]) // sizes[0] * wide + (x % shape[1]) // sizes[1] for x in range(k)]

    def _metric(self, everybody: list[tuple[int, int]]) -> None:
        kind, k = self.table["distance"], len(self.inputs)
        if isinstance(kind, list):
            rows = [[fraction(d) for d in sequence(r, k)] for r in sequence(kind, k)]
            for x, z in everybody:
                self.pair(x, z, slope=rows[x][z])
            return
        need(kind in ("absolute", "euclidean", "manhattan"), "a distance")
        points = self.inputs.points(self.inputs.labels)
        for x, z in everybody:
            slope, radicand = distance(kind, points[x], points[z])
            self.pair(x, z, slope=slope, radicand=radicand)

    def _linear(self) -> None:
        names: list[str] = []
        text(self.table.get("title", ""))
        for stated in sequence(self.table["rows"]):
            row, k = (
                keys(stated, ["name", "left", "right", "exponent"], ["slope"]),
                len(self.inputs),
            )
            need(text(row["name"]) not in names, "names that differ")
            names.append(row["name"])
            ends = []
            for side in ("left", "right"):
                entries = [sequence(entry, 2) for entry in sequence(row[side])]
                at = [self.inputs.at(entry[0]) for entry in entries]
                need(len(set(at)) == len(at), "a label twice")
                value = dict(zip(at, (fraction(entry[1]) for entry in entries), strict=True))
                ends.append(tuple(value.get(x, ZERO) for x in range(k)))
            slope = fraction(row.get("slope", "0"))
            need(self.has_epsilon or slope == 0, "no slope without an epsilon")
            found = Row(
                *ends, fraction(row["exponent"], signed=True), slope if self.has_epsilon else ONE
            )
            self.own.append(self._of_q(found))

    def _stated_priors(self) -> dict[str, Any]:
        """Return the keys of the set of priors, which may be in a table of their own."""
        if self.name != "bounded-prior-lift":
            return {key: self.table[key] for key in set(self.table) - {"notion", "epsilon"}}
        own = self.table["priors"]
        return own if isinstance(own, dict) else {"priors": own}

    def _extreme_priors(self) -> list[Vector]:
        table, k = self._stated_priors(), len(self.prior)
        stated = set(table)
        if stated == {"priors"}:
            members = [distribution(p, k) for p in sequence(table["priors"])]
            need(members, "priors")
            return members
        if k > 6:
            raise Unable("the extreme priors of more than six inputs")
        if stated == {"lower", "upper"}:
            low, high = (
                [fraction(b) for b in sequence(table[end], k)] for end in ("lower", "upper")
            )
            need(all(0 <= a <= b <= 1 for a, b in zip(low, high, strict=True)), "a box")
            need(sum(low) <= 1 <= sum(high), "a box with a distribution")
            return fillings(low, high, ONE)
        need(stated == {"center", "radius"}, "one way to state a set of priors")
        center, radius = distribution(table["center"], k), fraction(table["radius"])
        need(0 <= radius <= 1, "a radius from 0 to 1")
        found = []
        for target in range(k):  # what moves comes from the others, and all of it goes to one
            most = [c if x != target else ZERO for x, c in enumerate(center)]
            moved = min(radius, sum(most))
            for taken in fillings([ZERO] * k, most, moved):
                member = [c - t for c, t in zip(center, taken, strict=True)]
                member[target] += moved
                found.append(tuple(member))
        return found

    def contains(self, p: Vector) -> bool:
        table = self._stated_priors()
        if "priors" in table:
            return p in (self.members or [])
        if "lower" in table:
            ends = zip(table["lower"], p, table["upper"], strict=True)
            return all(fraction(a) <= v <= fraction(b) for a, v, b in ends)
        moved = sum(abs(v - fraction(c)) for v, c in zip(p, table["center"], strict=True)) / 2
        return moved <= fraction(table["radius"])

    def holds(self, columns: list[Vector], t: Fraction) -> bool:
        """Decide whether a channel is private at the budget t, in the place of epsilon."""
        if not all(row.holds(q, t) for row in self.rows for q in columns):
            return False
        return self.name not in SUMS or self._sums_hold(columns, t)

    def leakage(self, columns: list[Vector]) -> float:
        """Return the least budget at which the rows hold, in floats and a little above."""
        found = 0.0 if self.has_epsilon else -math.inf
        for row, q in itertools.product(self.rows, columns):
            left, right = float(dot(row.left, q)), float(dot(row.right, q))
            if left and right and row.slope:
                slope = float(row.slope) * math.sqrt(row.radicand)
                found = max(found, (math.log(left / right) - float(row.base)) / slope)
        return found + 3e-10

    def _sums_hold(self, columns: list[Vector], t: Fraction) -> bool:
        k, p = len(self.prior), self.prior
        if self.guessing is not None:
            return self.guessing.holds(columns, t)
        if self.name == "maximal-leakage":
            return below(sum(max(q) for q in columns), ONE, lambda _: (t, t))
        if self.name == "mutual-information":
            some = [x for x in range(k) if p[x]]
            if all(q[x] == q[some[0]] for q in columns for x in some):
                return t >= 0
            return decide(lambda bits: information(columns, p, bits), t)
        for bits in (64, 128, 256, 512, 1024, 2048):
            (low, high), unclear = exp(t, bits), False
            for x, z in itertools.product(range(k), repeat=2):
                for above, under, limit in self._excesses(x, z, columns):
                    if excess(above, under, high) > limit[0] + limit[1] * high:
                        return False
                    unclear |= excess(above, under, low) > limit[0] + limit[1] * low
            if not unclear:
                return True
        raise Unable("a sum that cannot be told from its limit")

    def _excesses(self, x: int, z: int, columns: list[Vector]) -> Iterable[Any]:
        mine = [q[x] for q in columns]
        if self.name == "approximate-ldp" and x != z:
            yield mine, [q[z] for q in columns], (self.delta, ZERO)
        if self.name == "approximate-lip" and x == z:
            law = [dot(self.prior, q) for q in columns]
            yield mine, law, (ZERO, self.delta)
            yield law, mine, (self.delta, ZERO)


def excess(above: list[Fraction], under: list[Fraction], factor: Fraction) -> Fraction:
    return sum((max(ZERO, a - factor * u) for a, u in zip(above, under, strict=True)), ZERO)


def fillings(low: Sequence[Fraction], high: Sequence[Fraction], total: Fraction) -> list[Vector]:
    """Return the vertices of a box that sum to a total: all entries but one at an end."""
    found = set()
    for free in range(len(low)):
        ends = [(low[x], high[x]) if x != free else (ZERO,) for x in range(len(low))]
        for choice in itertools.product(*ends):
            rest = total - sum(choice)
            if low[free] <= rest <= high[free]:
                found.add((*choice[:free], rest, *choice[free + 1 :]))
    return sorted(found)


def information(columns: list[Vector], p: Vector, bits: int = BITS) -> Interval:
    found = exactly(ZERO)
    for q in columns:
        found = plus(found, information_of(q, p, bits))
    return found


def information_of(q: Vector, p: Vector, bits: int = BITS) -> Interval:
    """Return bounds on sum_x p_x q_x ln(q_x / p . q)."""
    law, found = dot(p, q), exactly(ZERO)
    for mass, entry in zip(p, q, strict=True):
        if mass and entry:
            found = plus(found, times(ln(entry / law, bits), mass * entry))
    return found


def leaks(notion: Notion, columns: list[Vector], stated: Any, share: Fraction = ZERO) -> None:
    """Check that the stated leakage is the least at which the notion holds, but for a share."""
    least = claim(stated)
    slack = share * least or (1 + abs(least)) / 10**9
    need(least >= 0 or not notion.has_epsilon, "a leakage of at least 0")
    need(notion.holds(columns, least), "leaks more than stated")
    if not notion.has_epsilon and not notion.rows and notion.guessing is None:
        need(least == 0, "the leakage where there is no row")
    elif not notion.has_epsilon or least >= slack:
        need(not notion.holds(columns, least - slack), "leaks less than stated")
