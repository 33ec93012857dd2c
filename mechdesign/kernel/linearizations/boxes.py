"""A separable gain, g(q) = (p . q) Sum_x h_x(r_x), on boxes of r = q / (p . q): its secants.

On a box a <= r <= b a convex h_x is at most any line A_x + B_x r that is not below it at the ends.
So a column with r in the box has the cost -g(q) >= -(B + (Sum_x A_x) p) . q: a node, for columns of
the box only (its *region*, which an oracle may use or ignore). A tree of cuts covers all boxes, so
every column is in one of them.

Boxes shrink to where private columns can be: r_x <= M_xz r_z bounds either end by the other, and p
. r = 1 each entry by the others. Together they give, for every set S of inputs,

    1  >=  Sum_{z in S} (p_z / M_xz) r_x + Sum_{z not in S} p_z a_z,
    1  <=  Sum_{z in S} p_z M_zx r_x + Sum_{z not in S} p_z b_z.

An empty box contains no private column. All ends are integers over 2**80, rounded outward.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import count

from mechdesign.kernel.arithmetic import expect, need, over_one_denominator, scaled
from mechdesign.kernel.gains import Gain
from mechdesign.kernel.proof import Cost, Ends, Program, Slot
from mechdesign.kernel.statement import Statement

GRID = 80
"""Ends of boxes are over 2**GRID."""

Sides = tuple[list[int], list[int]]
"""Lower and upper ends of a box."""


@dataclass(frozen=True)
class Boxes(Slot):
    """A separable gain. The tree is a walk, lower parts first: (x, cut), or None for a leaf."""

    tree: tuple[tuple[int, Fraction] | None, ...]

    def __call__(self, statement: Statement) -> Program:
        """Return a node for each nonempty leaf."""
        aim, shrink = _gain(statement)
        worth = [_worth(aim.split(x)) for x in range(statement.k)]
        held = [box for box in self._leaves(shrink) if box is not None]
        need(held, "no leaf contains a column")
        nodes = [shrink.secants(worth, *box) for box in held]
        return Program(aim.constant, nodes, regions=list(map(_ends, held)))

    def nodes(self, statement: Statement) -> list[int | None]:
        """Return the node of each leaf, in the order of the walk; None for an empty one."""
        number, leaves = count(), self._leaves(_gain(statement)[1])
        return [None if box is None else next(number) for box in leaves]

    def _leaves(self, shrink: _Shrink) -> Iterator[Sides | None]:
        """Yield the box of each leaf, or None if it contains no private column."""
        todo: list[Sides | None] = [shrink.root()]
        for item in self.tree:
            need(todo, "the tree has too many leaves")
            box = todo.pop()
            if box is not None:
                box = shrink(*box)
            if item is None:
                yield box
                continue
            need(item[0] < len(shrink.masses), "a cut names an input that does not exist")
            todo += _halves(box, item[0], scaled(item[1], bits=GRID))
        need(not todo, "the tree is not complete")

    def steps(self, statement: Statement) -> int:
        of_ratios = 6 * statement.k**2 if statement.ratios else 0
        return (len(self.tree) + 1) * (50 * statement.k + of_ratios) + statement.k**2


def _halves(box: Sides | None, x: int, cut: int) -> list[Sides | None]:
    """Return the upper part, for later, and the lower part."""
    if box is None:
        return [None, None]
    low, high = box
    cut = min(max(cut, low[x]), high[x])
    upper, lower = (low[:], high[:]), (low[:], high[:])
    upper[0][x] = lower[1][x] = cut
    return [upper, lower]


def _ends(box: Sides) -> Ends:
    low, high = box
    return [Fraction(v, 1 << GRID) for v in low], [Fraction(v, 1 << GRID) for v in high]


def _gain(statement: Statement) -> tuple[Gain, _Shrink]:
    words = "boxes need a gain that is a sum over inputs"
    aim = expect(statement.objective, Gain, words)
    need(len(aim.p) == statement.k, "expected a weight for each input")
    return aim, _Shrink(statement, aim.p)


Worth = Callable[[int], int]
"""h_x at ends of boxes, rounded up."""


def _worth(exact: Callable[[Fraction], int]) -> Worth:
    return cache(lambda r: exact(Fraction(r, 1 << GRID)))


class _Shrink:
    """The boxes where private columns can be."""

    def __init__(self, statement: Statement, p: tuple[Fraction, ...]) -> None:
        k, self._p = statement.k, p
        self.masses, self.whole = over_one_denominator(p)
        pairs = ((x, z) for x in range(k) for z in range(k))
        self._ratios = {xz: m for xz in pairs if (m := statement.ratio(*xz)) is not None}
        self._bounds = [
            (x, z, scaled(m, up=True, bits=GRID), scaled(1 / m, bits=GRID))
            for (x, z), m in self._ratios.items()
            if x != z
        ]
        self._shares, self._loads = ([[0] * k for _ in range(k)] for _ in range(2))
        for (x, z), m in self._ratios.items():
            self._shares[x][z] = scaled(1 / m, bits=GRID) * self.masses[z]
            self._loads[z][x] = scaled(m, up=True, bits=GRID) * self.masses[x]
        self._low, self._high = statement.lift(p)

    def root(self) -> Sides:
        """Return a box that contains every column, by p . r = 1.

        r_z <= M_zx r_x: 1 <= r_x Sum_z p_z M_zx. r_z >= r_x / M_xz: 1 >= r_x Sum_z p_z / M_xz.
        """
        p, known, low, high = self._p, self._ratios, [], []
        for x in range(len(p)):
            floors = [self._low]
            if all((z, x) in known for z in range(len(p))):
                floors.append(1 / sum((w * known[z, x] for z, w in enumerate(p)), Fraction(0)))
            shares = (w / known[x, z] for z, w in enumerate(p) if (x, z) in known)
            least = sum(shares, Fraction(0))
            tops = [end for end in (self._high, 1 / least if least else None) if end is not None]
            need(tops, "an input of prior 0 is unbounded")
            low.append(scaled(max(floors), bits=GRID))
            high.append(scaled(min(tops), up=True, bits=GRID))
        return low, high

    def __call__(self, low: list[int], high: list[int]) -> Sides | None:
        """Return a smaller or equal box with the same private columns; None if there are none."""
        low, high, one = low[:], high[:], self.whole << GRID
        for _ in range(2):
            for x, z, most, least in self._bounds:
                high[x] = min(high[x], -(-most * high[z] >> GRID))
                low[z] = max(low[z], low[x] * least >> GRID)
            bottom = sum(map(int.__mul__, self.masses, low))
            top = sum(map(int.__mul__, self.masses, high))
            for x, m in enumerate(self.masses):
                if not m:
                    continue
                room, left = low[x] - (bottom - one) // m, high[x] + (one - top) // m
                high[x], low[x] = min(high[x], room), max(low[x], left)
            if any(a > b for a, b in zip(low, high, strict=True)):
                return None
        if self._bounds:
            self._narrow(low, high)
        return None if any(a > b for a, b in zip(low, high, strict=True)) else (low, high)

    def _narrow(self, low: list[int], high: list[int]) -> None:
        """Bound each entry by ratios and p . r = 1 together, at the best sets S for its ends."""
        below = [m * a for m, a in zip(self.masses, low, strict=True)]
        above = [m * b for m, b in zip(self.masses, high, strict=True)]
        for x, (shares, loads) in enumerate(zip(self._shares, self._loads, strict=True)):
            slope, left = 0, self.whole << GRID
            for share, least in zip(shares, below, strict=True):
                inside = share * high[x] >> GRID > least
                slope, left = (slope + share, left) if inside else (slope, left - least)
            if slope:
                high[x] = min(high[x], -(-(left << GRID) // slope))
            slope, left = 0, self.whole << GRID
            for load, most in zip(loads, above, strict=True):
                inside = 0 < load * low[x] >> GRID < most
                slope, left = (slope + load, left) if inside else (slope, left - most)
            if slope:
                low[x] = max(low[x], (left << GRID) // slope)

    def secants(self, worth: list[Worth], low: list[int], high: list[int]) -> Cost:
        """Return -(B + (Sum A) p), rounded down; every A is rounded up."""
        slopes, level = [], 0
        for h, a, b in zip(worth, low, high, strict=True):
            first, last = h(a), h(b)
            slope = ((last - first) << GRID) // (b - a) if b > a else 0
            slopes.append(slope)
            level += max(first - (slope * a >> GRID), last - (slope * b >> GRID))
        return [-s - -(-level * m // self.whole) for s, m in zip(slopes, self.masses, strict=True)]
