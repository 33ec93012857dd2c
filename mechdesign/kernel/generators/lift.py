"""Bounds on the lift: e**-lower (p . q) <= q_x <= e**upper (p . q) for every prior p of a set.

The set is a list of priors, a ball in total variation, or a box. For a list each prior has its own
rows; for a ball or a box the relaxation ``members`` lists some of its members before rows are
named. ``test`` needs no list: the largest and the least p . q over a ball or a box are fractional
knapsacks, solved greedily.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import mul, sub
from typing import ClassVar

from mechdesign.exact import exp_lower, exp_upper
from mechdesign.kernel.arithmetic import (
    BITS,
    expect,
    known,
    lattice,
    need,
    over_one_denominator,
    scaled,
)
from mechdesign.kernel.generators.base import Block, Generator, Key, ListedRow, Test
from mechdesign.kernel.schema import Kind

Prior = tuple[Fraction, ...]
Largest = Callable[[list[int]], tuple[int, int]]
"""Maps integers q to the largest p . q and the index of its prior."""

# A set that has p has p (1 + c (r - 1)) and p (1 - c (r - 1)) for c = ``tilt(p, most, mean)``, if
# p . r = 1, all |r_x - 1| <= most, and Sum_x p_x max(0, r_x - 1) <= mean.

ONE, ZERO = Fraction(1), Fraction(0)


def distribution(p: Sequence[Fraction], k: int) -> Prior:
    """Return a distribution on k inputs; raise CertificateError if it is invalid."""
    masses, whole = over_one_denominator(p)
    fits = len(p) == k and min(masses) >= 0 and sum(masses) == whole
    need(fits, "expected a distribution on the inputs")
    return tuple(p)


@dataclass(frozen=True)
class Listed(Kind, kind="list"):
    """A list of priors."""

    priors: tuple[tuple[Fraction, ...], ...]

    @property
    def count(self) -> int:
        return len(self.priors)

    def has(self, p: Prior) -> bool:
        return tuple(p) in self.priors

    def tilt(self, p: Prior, most: Fraction, mean: Fraction) -> Fraction:
        return ZERO

    def largest(self) -> tuple[Largest, int]:
        """Return the function for the largest p . q, times an integer, and this integer."""
        listed, whole = lattice(self.priors)

        def largest(q: list[int]) -> tuple[int, int]:
            sums = [sum(map(mul, p, q)) for p in listed]
            found = max(sums)
            return found, sums.index(found)

        return largest, whole

    def check(self, k: int) -> None:
        need(self.priors, "expected at least one prior")
        for p in self.priors:
            distribution(p, k)


@dataclass(frozen=True)
class Ball(Kind):
    """All priors within a distance of total variation from a center."""

    count: ClassVar[int] = 10
    center: tuple[Fraction, ...]
    radius: Fraction

    def has(self, p: Prior) -> bool:
        return self._left(p) >= 0

    def tilt(self, p: Prior, most: Fraction, mean: Fraction) -> Fraction:
        return min(self._left(p) / mean, 1 / most)

    def _left(self, p: Prior) -> Fraction:
        apart = (abs(a - b) for a, b in zip(p, self.center, strict=True))
        return self.radius - sum(apart, ZERO) / 2

    def largest(self) -> tuple[Largest, int]:
        """See :meth:`Listed.largest`: mass moves to the best input, from the worst inputs first."""
        (*center, radius), whole = over_one_denominator((*self.center, self.radius))

        def largest(q: list[int]) -> tuple[int, int]:
            gained = [max(q) - v for v in q]
            return sum(map(mul, center, q)) + _greedy(radius, center, gained), 0

        return largest, whole

    def check(self, k: int) -> None:
        distribution(self.center, k)
        need(self.radius >= 0, "expected a radius >= 0")


@dataclass(frozen=True)
class Box(Kind):
    """All priors between bounds on each entry."""

    count: ClassVar[int] = 10
    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]

    def has(self, p: Prior) -> bool:
        return all(a <= v <= b for a, v, b in zip(self.low, p, self.high, strict=True))

    def tilt(self, p: Prior, most: Fraction, mean: Fraction) -> Fraction:
        ends = zip(self.low, p, self.high, strict=True)
        return min(min(v - a, b - v) / v for a, v, b in ends if v) / most

    def largest(self) -> tuple[Largest, int]:
        """See :meth:`Listed.largest`: the mass above the lower bounds goes to the best inputs."""
        (low, high), whole = lattice((self.low, self.high))
        rooms, left = list(map(sub, high, low)), whole - sum(low)
        return lambda q: (sum(map(mul, low, q)) + _greedy(left, rooms, q), 0), whole

    def check(self, k: int) -> None:
        need(len(self.low) == len(self.high) == k, "expected two bounds for each input")
        rising = all(0 <= a <= b for a, b in zip(self.low, self.high, strict=True))
        need(rising and sum(self.low) <= 1 <= sum(self.high), "no prior is in the box")


def _greedy(left: int, rooms: Sequence[int], gained: Sequence[int]) -> int:
    """Return the largest gain of ``left`` units, with a capacity for each room."""
    total = 0
    for gain, room in sorted(zip(gained, rooms, strict=True), reverse=True):
        total, left = total + min(room, left) * gain, left - min(room, left)
    return total


@dataclass(frozen=True)
class Lift(Generator):
    """Bounds on the lift; None for no bound. Keys are ``("upper" or "lower", x, prior)``."""

    lower: Fraction | None
    upper: Fraction | None
    priors: Listed | Ball | Box

    def row(self, key: Key, k: int, *, up: bool) -> ListedRow:
        side, x, n = key
        listed = self.listed()
        need(side in ("upper", "lower") and x < k and n < len(listed), "no such row of a lift")
        p, unit = tuple((z, v) for z, v in enumerate(listed[n]) if v), ((x, ONE),)
        left, right = (unit, p) if side == "upper" else (p, unit)
        return ListedRow(left, self._limit(side), right)

    def listed(self) -> tuple[tuple[Fraction, ...], ...]:
        words = "the members of a set of priors are not listed"
        return expect(self.priors, Listed, words).priors

    def _limit(self, side: str) -> Fraction:
        return known(self.upper if side == "upper" else self.lower, f"the lift has no {side} bound")

    def keys(self, k: int) -> Iterable[Key]:
        """Return both sides of every input for every listed prior, or for a set of priors."""
        sides = [side for side in ("upper", "lower") if getattr(self, side) is not None]
        count = len(self.priors.priors) if isinstance(self.priors, Listed) else 1
        return ((side, x, n) for n in range(count) for side in sides for x in range(k))

    def test(self, k: int) -> Test:
        """Return the test: max q <= e**upper (least p . q), (largest p . q) <= e**lower min q."""
        high = None if self.upper is None else exp_lower(self.upper)
        low = None if self.lower is None else exp_lower(self.lower)
        largest, whole = self.priors.largest()

        def test(q: Sequence[int]) -> Key | None:
            top, least = max(q), min(q)
            if high is not None:
                law, n = largest([-v for v in q])
                if top * whole * high.denominator > high.numerator * -law:
                    return "upper", q.index(top), n
            if low is not None:
                law, n = largest(list(q))
                if law * low.denominator > low.numerator * least * whole:
                    return "lower", q.index(least), n
            return None

        return test

    def size(self, k: int) -> int:
        return 2 * k * (self.priors.count + 1)

    def moved(self, factor: Fraction, by: Fraction) -> Lift:
        lower, upper = (e if e is None else e * factor + by for e in (self.lower, self.upper))
        return replace(self, lower=lower, upper=upper)

    def on(self, kept: Sequence[int]) -> Lift | None:
        """Return the rows of the listed priors that are 0 on other inputs."""
        if not isinstance(self.priors, Listed):
            return None
        priors = [tuple(p[x] for x in kept) for p in self.priors.priors]
        inside = tuple(p for p in priors if sum(p) == 1)
        return replace(self, priors=Listed(inside)) if inside else None

    def check(self, k: int) -> None:
        self.priors.check(k)

    def add(self, block: Block, nodes: list[list[int]]) -> None:
        """Add the rows; those of one node and one prior add one multiple of that prior."""
        k, listed, side = len(nodes[0]), self.listed(), block.side
        self.row((side, 0, 0), k, up=True)  # rejects a missing side
        shrink = scaled(exp_lower(-self._limit(side)))
        by_prior: dict[tuple[int, int], int] = {}
        for node, x, n, w in block.entries(len(nodes)):
            need(x < k and n < len(listed), "no such row of a lift")
            nodes[node][x] += w * shrink >> BITS if side == "upper" else -w
            by_prior[node, n] = by_prior.get((node, n), 0) + w
        masses, unit = lattice(listed)
        for (node, n), w in by_prior.items():
            factor = -w if side == "upper" else w * shrink >> BITS
            nodes[node] = [
                c + factor * m // unit for c, m in zip(nodes[node], masses[n], strict=True)
            ]

    def ends(self) -> tuple[Fraction, Fraction | None]:
        """Return e**-lower rounded down (0 for no bound), e**upper rounded up (None for none)."""
        low = ZERO if self.lower is None else exp_lower(-self.lower)
        return low, None if self.upper is None else exp_upper(self.upper)
