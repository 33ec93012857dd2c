"""Sets of priors that an adversary may hold: a list, a box, a total-variation ball.

A set is used through its support function: the member that maximizes or minimizes an expectation is
an exact vertex, found by sorting. Members are stored as integers over one denominator.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, chain
from numbers import Number
from operator import sub
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.domain import Domain
from mechdesign.errors import InputError, UnsupportedError, listed
from mechdesign.exact import Exact, as_fraction, fraction_text
from mechdesign.kernel.generators import Ball, Box, Listed
from mechdesign.labels import Labels, aligned, by_label, places
from mechdesign.prior import Prior, as_prior, labeled_numbers

Weights: TypeAlias = tuple[Fraction, ...]
"""One exact probability for each input."""

DEAD_ENDS = 16
"""The number of dead ends of a search for each vertex that it may list."""

ROUNDED = 10**12
"""The denominator of members found in floating point, which makes them short decimals."""


class Support(NamedTuple):
    """The largest expectation of numbers q over a set of priors, as a small linear program.

        max P . q = min over tau of base . q + top max_x q_x + rest tau + Sum_x w_x (q_x - tau)_+

    with rest = 1 - top - Sum_x base_x. For a box, ``base`` has the lower ends and ``weights`` the
    widths; at tau the remaining probability runs out. For a ball, ``top`` is the radius, which the
    largest entry gets, and ``weights`` the center: the rest is a mean of all but the smallest
    entries.
    """

    base: FloatArray
    weights: FloatArray
    top: float


class PriorSet(ABC):
    """A convex hull of priors on ``size`` inputs, used through its vertices.

    ``denominator`` makes every vertex integer; ``members`` are the given priors, if the set was
    given as a list; ``labels`` are None if the numbers count by position.
    """

    size: int
    denominator: int
    members: tuple[Weights, ...] = ()
    labels: Labels | None

    @abstractmethod
    def extreme_numerators(self, values: Sequence[Any], *, largest: bool) -> list[int]:
        """Return the vertex, times the denominator, of the largest (or smallest) mean of values."""

    @abstractmethod
    def _vertices(self) -> Iterator[tuple[int, ...] | None]:
        """Yield all vertices, times the denominator, some repeatedly; None for each dead end."""

    def extreme(self, values: Sequence[Any], *, largest: bool) -> Weights:
        """Return the vertex of :meth:`extreme_numerators` as exact probabilities."""
        numerators = self.extreme_numerators(values, largest=largest)
        return tuple(Fraction(p, self.denominator) for p in numerators)

    def extreme_mean(self, column: Sequence[Any], *, largest: bool) -> Fraction:
        """Return the exact largest (or smallest) expectation P . q over the set."""
        numerators = self.extreme_numerators(column, largest=largest)
        total = sum(p * q for p, q in zip(numerators, column, strict=True))
        return Fraction(total) / self.denominator

    def _over(self, weights: Iterable[Fraction]) -> list[int]:
        return [p.numerator * (self.denominator // p.denominator) for p in weights]

    def support(self) -> Support | None:
        """Return the linear program of the largest expectation; None for a list."""
        return None

    def member_near(self, prior: FloatArray) -> Weights:
        """Return an exact member near an approximate distribution in floating point."""
        return min(
            self.members,
            key=lambda member: sum(abs(float(p) - q) for p, q in zip(member, prior, strict=True)),
        )

    @abstractmethod
    def to_table(self) -> dict[str, Any]:
        """Return the keys of the set in a problem file."""

    def aligned(self, inputs: Domain, key: str | None = None) -> PriorSet:
        """Return the set in the order of the inputs; without labels it counts by position."""
        where = key or next(iter(self.to_table()))
        order = aligned(range(self.size), self.labels, inputs.labels, where)
        return self if self.labels is None else self._ordered(order)

    def is_fixed_by(self, permutation: Sequence[int]) -> bool:
        """Return whether the set is invariant when each input x goes to ``permutation[x]``."""
        return self._ordered(permutation) == self

    @abstractmethod
    def _ordered(self, order: Sequence[int]) -> PriorSet:
        """Return the set with its entries in another order, and without labels."""

    def _written(self, weights: Sequence[Fraction]) -> Any:
        return by_label([fraction_text(p) for p in weights], self.labels)

    def vertices(self, limit: int = 4096) -> tuple[Weights, ...]:
        """Return all vertices."""
        found: dict[tuple[int, ...], None] = {}
        for n, vertex in enumerate(self._vertices()):
            if vertex is not None:
                found[vertex] = None
            if len(found) > limit or n > DEAD_ENDS * limit:
                raise UnsupportedError("priors", f"a set of at most {limit} vertices", "more")
        return tuple(tuple(Fraction(n, self.denominator) for n in vertex) for vertex in found)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PriorSet):
            return NotImplemented
        return type(self) is type(other) and self.to_table() == other.to_table()

    def __hash__(self) -> int:
        return hash(str(self.to_table()))


class PriorList(PriorSet):
    """The convex hull of given priors.

    Examples
    --------
    >>> PriorList([[0.1, 0.9], [0.3, 0.7]]).extreme([1, 0], largest=True)
    (Fraction(3, 10), Fraction(7, 10))
    """

    def __init__(self, priors: Iterable[Any]) -> None:
        members: list[Prior] = []
        for i, given in enumerate(listed(priors, "priors", "a list of priors")):
            members.append(as_prior(given, f"priors[{i}]"))
        if not members:
            raise InputError("priors", "at least one prior", "an empty list")
        for i, prior in enumerate(members):
            if len(prior) != len(members[0]):
                expected = f"{len(members[0])} probabilities, as in the first"
                raise InputError(f"priors[{i}]", expected, f"{len(prior)} probabilities")
        self.labels = members[0].labels
        self.members = tuple(
            _ordered_as(self.labels, prior.probabilities, prior.labels, f"priors[{i}]")
            for i, prior in enumerate(members)
        )
        self.size = len(members[0])
        self.denominator = math.lcm(*(p.denominator for prior in members for p in prior))
        self._numerators = [self._over(prior) for prior in self.members]

    def extreme_numerators(self, values: Sequence[Any], *, largest: bool) -> list[int]:
        """Return the prior in the list at which the expectation is largest (or smallest)."""
        if len(self._numerators) == 1:
            return self._numerators[0]

        def expectation(prior: list[int]) -> Any:
            return sum(p * value for p, value in zip(prior, values, strict=True))

        return (max if largest else min)(self._numerators, key=expectation)

    def _vertices(self) -> Iterator[tuple[int, ...]]:
        return map(tuple, self._numerators)

    def is_fixed_by(self, permutation: Sequence[int]) -> bool:
        """Compare the members as a set."""
        moved = {tuple(prior[x] for x in permutation) for prior in self.members}
        return moved == set(self.members)

    def to_table(self) -> dict[str, Any]:
        """Return ``priors``."""
        return {"priors": [self._written(prior) for prior in self.members]}

    def _ordered(self, order: Sequence[int]) -> PriorList:
        return PriorList([[prior[x] for x in order] for prior in self.members])

    def __repr__(self) -> str:
        return f"PriorList({len(self.members)} priors on {self.size} inputs)"


class PriorBox(PriorSet):
    """All priors with ``lower <= P <= upper``, entry by entry; a single number is for all entries.

    Raises
    ------
    InputError
        If there is no such prior.

    Examples
    --------
    >>> PriorBox([0.1, 0.2], [0.5, 0.9]).vertices()
    ((Fraction(1, 10), Fraction(9, 10)), (Fraction(1, 2), Fraction(1, 2)))
    >>> PriorBox(0.1, [0.5, 0.9]) == PriorBox([0.1, 0.1], [0.5, 0.9])
    True
    """

    lower: Weights
    upper: Weights

    def __init__(self, lower: Iterable[Exact] | Exact, upper: Iterable[Exact] | Exact) -> None:
        if isinstance(lower, Number) and isinstance(upper, Iterable):
            numbers, labels = labeled_numbers(upper, "upper")
            lower = by_label([lower] * len(numbers), labels)  # type: ignore[assignment]
        if isinstance(upper, Number) and isinstance(lower, Iterable):
            numbers, labels = labeled_numbers(lower, "lower")
            upper = by_label([upper] * len(numbers), labels)  # type: ignore[assignment]
        self.lower, self.labels = labeled_numbers(lower, "lower")
        self.size = len(self.lower)
        self.upper = _ordered_as(self.labels, *labeled_numbers(upper, "upper"), "upper")
        if len(self.upper) != self.size:
            expected = f"{self.size} numbers, one for each input"
            raise InputError("upper", expected, f"{len(self.upper)} numbers")
        for x, (low, high) in enumerate(zip(self.lower, self.upper, strict=True)):
            if low > high:
                expected = f"at least lower[{x}] = {fraction_text(low)}"
                raise InputError(f"upper[{x}]", expected, fraction_text(high))
        if sum(self.lower) > 1:
            raise InputError("lower", "a sum of at most 1", f"sum {float(sum(self.lower)):.9g}")
        if sum(self.upper) < 1:
            raise InputError("upper", "a sum of at least 1", f"sum {float(sum(self.upper)):.9g}")

        self.denominator = math.lcm(*(p.denominator for p in (*self.lower, *self.upper)))
        self._low, self._high = self._over(self.lower), self._over(self.upper)

    def extreme_numerators(self, values: Sequence[Any], *, largest: bool) -> list[int]:
        """Return the best vertex: fill the entries up in the order of ``values``."""
        weights = list(self._low)
        left = self.denominator - sum(weights)
        for x in sorted(range(self.size), key=lambda x: values[x], reverse=largest):
            step = min(self._high[x] - self._low[x], left)
            weights[x] += step
            left -= step
        return weights

    def support(self) -> Support:
        """Return the linear program of a box."""
        low, high = (np.array([float(p) for p in end]) for end in (self.lower, self.upper))
        return Support(low, high - low, 0.0)

    def member_near(self, prior: FloatArray) -> Weights:
        """Clip each probability to its range, and give the missing mass to entries with room."""
        whole = math.lcm(ROUNDED, self.denominator)
        scale, unit = whole // self.denominator, whole // ROUNDED
        ranges = zip(_rounded(prior), self._low, self._high, strict=True)
        found = [min(max(n * unit, low * scale), high * scale) for n, low, high in ranges]
        left = whole - sum(found)
        ends, nearer = (self._high, min) if left > 0 else (self._low, max)
        for x, end in enumerate(ends):
            step = nearer(end * scale - found[x], left)
            found[x] += step
            left -= step
        return tuple(Fraction(n, whole) for n in found)

    def _vertices(self) -> Iterator[tuple[int, ...] | None]:
        return _corners(self._low, self._high, self.denominator)

    def to_table(self) -> dict[str, Any]:
        """Return ``lower`` and ``upper``."""
        return {"lower": self._written(self.lower), "upper": self._written(self.upper)}

    def _ordered(self, order: Sequence[int]) -> PriorBox:
        return PriorBox([self.lower[x] for x in order], [self.upper[x] for x in order])

    def __repr__(self) -> str:
        return f"PriorBox({self.size} inputs)"


class PriorBall(PriorSet):
    """All priors within a total-variation distance of a center.

    Parameters
    ----------
    center
        A prior, or its probabilities.
    radius
        The largest total-variation distance, in [0, 1].

    Examples
    --------
    >>> PriorBall([0.5, 0.5], 0.25).extreme([1, 0], largest=True)
    (Fraction(3, 4), Fraction(1, 4))
    """

    def __init__(self, center: Any, radius: Exact) -> None:
        given = as_prior(center, "center")
        self.center: Weights = given.probabilities
        self.labels = given.labels
        self.size = len(self.center)
        self.radius = as_fraction(radius, "radius", expected="a number in [0, 1]", least=0, most=1)
        self.denominator = math.lcm(self.radius.denominator, *(p.denominator for p in self.center))
        self._center = self._over(self.center)
        self._center_near = np.array([float(p) for p in self.center])

    def extreme_numerators(self, values: Sequence[Any], *, largest: bool) -> list[int]:
        """Return the best vertex: move ``radius`` from the worst entries to the best one."""
        order = sorted(range(self.size), key=lambda x: values[x], reverse=not largest)
        weights = list(self._center)
        (left,) = self._over([self.radius])
        for x in order[:-1]:
            step = min(weights[x], left)
            weights[x] -= step
            weights[order[-1]] += step
            left -= step
        return weights

    def support(self) -> Support:
        """Return the linear program of a ball."""
        return Support(np.zeros(self.size), self._center_near, float(self.radius))

    def member_near(self, prior: FloatArray) -> Weights:
        """Mix the distribution with the center, with the least weight that reaches the ball."""
        share, (radius,) = 1 / ROUNDED, self._over([self.radius])
        found = near = np.maximum(prior, 0.0)
        center = [p * ROUNDED for p in self._center]
        while share < 1:
            counts = _rounded(near)
            moved = sum(map(abs, map(sub, map(self.denominator.__mul__, counts), center)))
            if moved <= 2 * radius * ROUNDED:
                return tuple(Fraction(n, ROUNDED) for n in counts)
            near = found + share * (self._center_near - found)
            share *= 4
        return self.center

    def _vertices(self) -> Iterator[tuple[int, ...] | None]:
        """At a vertex one entry receives what some others lose, all of it or all they can."""
        center, radius = self._center, int(self.radius * self.denominator)
        for target in range(self.size):
            most = [p * (x != target) for x, p in enumerate(center)]
            moved = min(radius, sum(most))
            for lost in _corners([0] * self.size, most, moved):
                if lost is None:
                    yield None
                    continue
                vertex = list(map(sub, center, lost))
                vertex[target] += moved
                yield tuple(vertex)

    def to_table(self) -> dict[str, Any]:
        """Return ``center`` and ``radius``."""
        return {"center": self._written(self.center), "radius": fraction_text(self.radius)}

    def _ordered(self, order: Sequence[int]) -> PriorBall:
        return PriorBall([self.center[x] for x in order], self.radius)

    def __repr__(self) -> str:
        return f"PriorBall({self.size} inputs, radius {fraction_text(self.radius)})"


def set_of(given: Listed | Ball | Box) -> PriorSet:
    """Return a set of the kernel as one with vertices and members."""
    if isinstance(given, Listed):
        return PriorList(given.priors)
    if isinstance(given, Ball):
        return PriorBall(given.center, given.radius)
    return PriorBox(given.low, given.high)


def _corners(
    low: Sequence[int], high: Sequence[int], total: int
) -> Iterator[tuple[int, ...] | None]:
    """Yield the vertices of a box of numbers with one sum: all but one are at an end.

    None for each dead end of the search.
    """
    size = len(low)
    # the sums from each entry on
    least, most = (list(accumulate(ends[::-1], initial=0))[::-1] for ends in (low, high))

    def completed(
        chosen: tuple[int, ...], free: int, left: int
    ) -> Iterator[tuple[int, ...] | None]:
        """Extend ``chosen`` at the ends of ranges; the entry ``free`` takes what is left."""
        x = len(chosen)
        passed = slice(free, free + (free < x))
        if not sum(low[passed], least[x]) <= left <= sum(high[passed], most[x]):
            yield None
        elif x == size:
            yield tuple(left if z == free else p for z, p in enumerate(chosen))
        elif x == free:
            yield from completed((*chosen, 0), free, left)
        else:
            for end in dict.fromkeys((low[x], high[x])):
                yield from completed((*chosen, end), free, left - end)

    return chain.from_iterable(completed((), free, total) for free in range(size))


def _rounded(prior: FloatArray) -> list[int]:
    """Return a distribution times ROUNDED; the largest entry absorbs the rounding error."""
    counts = np.rint(np.maximum(prior, 0.0) * ROUNDED).astype(np.int64)
    counts[np.argmax(counts)] += ROUNDED - counts.sum()
    found: list[int] = counts.tolist()
    return found


def _ordered_as(
    wanted: Labels | None, weights: Weights, labels: Labels | None, key: str
) -> Weights:
    """Return the weights in the order of the labels given first; either all or none have labels."""
    if (wanted is None) != (labels is None):
        fault = "only some of the numbers have labels"
        raise InputError(key, "labels for all or none", "a mixture", fault=fault)
    if wanted is None or labels is None:
        return weights
    return tuple(weights[x] for x in places(labels, wanted, key))
