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
from itertools import compress, count
from operator import ge, mul

from mechdesign.kernel.arithmetic import BITS, expect, need, over_one_denominator, scaled
from mechdesign.kernel.gains import Gain
from mechdesign.kernel.proof import Cost, Ends, Program, Slot
from mechdesign.kernel.statement import Statement

GRID = 80
"""Ends of boxes are over 2**GRID."""

STEPS_OF_A_RATIO = 100
"""The work of a bound on the ratio of two inputs: an exponential, and its rounding."""

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
        k, by_ratio = statement.k, bool(statement.ratios)
        pairs = STEPS_OF_A_RATIO * k * k * len(statement.ratios) + k * k
        return (len(self.tree) + 1) * steps_of_a_box(k, by_ratio) + pairs


def steps_of_a_box(k: int, by_ratio: bool) -> int:
    """Return the work on one box of a tree, from sizes."""
    return 50 * k + (6 * k * k if by_ratio else 0)


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
        k = statement.k
        self.masses, self.whole = over_one_denominator(p)
        self._ratios = [
            {z: m for z in range(k) if (m := statement.ratio(x, z)) is not None} for x in range(k)
        ]
        self._bounds = list[tuple[int, list[int], list[int], list[int]]]()
        self._shares, self._loads = ([[0] * k for _ in range(k)] for _ in range(2))
        for x, known in enumerate(self._ratios):
            most = [scaled(m, up=True, bits=GRID) for m in known.values()]
            least = [(m.denominator << GRID) // m.numerator for m in known.values()]
            self._bounds += [(x, list(known), most, least)] * (len(known) > 1)
            for z, up, down in zip(known, most, least, strict=True):
                self._shares[x][z], self._loads[z][x] = down * self.masses[z], up * self.masses[x]
        self._low, self._high = statement.lift(p)

    def root(self) -> Sides:
        """Return a box that contains every column, by p . r = 1.

        r_z <= M_zx r_x: 1 <= r_x Sum_z p_z M_zx. r_z >= r_x / M_xz: 1 >= r_x Sum_z p_z / M_xz.
        """
        one, low, high = self.whole << BITS + GRID, list[int](), list[int]()
        for x, known in enumerate(self._ratios):
            floors, tops = [scaled(self._low, bits=GRID)], list[int]()
            if all(x in ratios for ratios in self._ratios):
                ratios = (scaled(ratios[x], up=True) for ratios in self._ratios)
                floors.append(one // sum(map(mul, self.masses, ratios)))
            if self._high is not None:
                tops.append(scaled(self._high, up=True, bits=GRID))
            inverses = ((m.denominator << BITS) // m.numerator for m in known.values())
            if share := sum(map(mul, [self.masses[z] for z in known], inverses)):
                tops.append(-(-one // share))
            need(tops, "an input of prior 0 is unbounded")
            low.append(max(floors))
            high.append(min(tops))
        return low, high

    def __call__(self, low: list[int], high: list[int]) -> Sides | None:
        """Return a smaller or equal box with the same private columns; None if there are none."""
        low, high, one = low[:], high[:], self.whole << GRID
        for _ in range(2):
            for x, known, most, least in self._bounds:
                high[x] = min(high[x], -(-min(map(mul, most, [high[z] for z in known])) >> GRID))
                shares = [low[x] * share >> GRID for share in least]
                for z, share in zip(known, shares, strict=True):
                    if share > low[z]:
                        low[z] = share
            bottom = sum(map(mul, self.masses, low))
            top = sum(map(mul, self.masses, high))
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
        one, least, most = self.whole << GRID, sum(below), sum(above)
        starts, ends = [m + 1 << GRID for m in below], [m << GRID for m in above]
        for x, (shares, loads) in enumerate(zip(self._shares, self._loads, strict=True)):
            top, bottom = high[x], low[x]
            inside = list(map(ge, map(top.__mul__, shares), starts))
            if slope := sum(compress(shares, inside)):
                left = one - least + sum(compress(below, inside))
                high[x] = min(top, -(-(left << GRID) // slope))
            products = map(bottom.__mul__, loads)
            inside = [1 << GRID <= v < end for v, end in zip(products, ends, strict=True)]
            if slope := sum(compress(loads, inside)):
                left = one - most + sum(compress(above, inside))
                low[x] = max(bottom, (left << GRID) // slope)

    def secants(self, worth: list[Worth], low: list[int], high: list[int]) -> Cost:
        """Return -(B + (Sum A) p), rounded down; every A is rounded up."""
        slopes, level = [], 0
        for h, a, b in zip(worth, low, high, strict=True):
            first, last = h(a), h(b)
            slope = ((last - first) << GRID) // (b - a) if b > a else 0
            slopes.append(slope)
            level += max(first - (slope * a >> GRID), last - (slope * b >> GRID))
        return [-s - -(-level * m // self.whole) for s, m in zip(slopes, self.masses, strict=True)]
