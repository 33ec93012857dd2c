"""Convex gains g, homogeneous of degree 1: no post-processing raises Sum_y g(q_y).

Three forms cover all gains other than finite sets of guesses. ``up`` is the direction of rounding;
rational gains are exact. They are convex: a square over a positive linear form; a relative entropy;
and minus the root of a product of linear forms >= 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from operator import add, mul
from typing import Any, TypeVar

from mechdesign.errors import CertificateError
from mechdesign.exact import log_lower, log_upper, sqrt_lower, sqrt_upper
from mechdesign.kernel.arithmetic import (
    BITS,
    dot,
    known,
    lattice,
    need,
    over_one_denominator,
    scaled,
)

Vector = tuple[Fraction, ...]
Sparse = list[tuple[int, int]]
Whole = tuple[list[int], int]
ZERO, ONE = Fraction(0), Fraction(1)


def _sparse(vectors: Sequence[Vector]) -> tuple[list[Sparse], int]:
    """Return the nonzero entries of vectors, as integers over one denominator."""
    places = [[x for x, a in enumerate(v) if a] for v in vectors]
    whole, unit = lattice([[a for a in v if a] for v in vectors])
    return [list(zip(*pair, strict=True)) for pair in zip(places, whole, strict=True)], unit


def units(p: Vector) -> tuple[Vector, ...]:
    """Return the vectors p_x e_x of the inputs x that occur."""
    zeros = (ZERO,) * len(p)
    return tuple((*zeros[:x], mass, *zeros[x + 1 :]) for x, mass in enumerate(p) if mass)


def cut(v: Sequence[Fraction], kept: Sequence[int]) -> Vector:
    """Return the entries of some inputs."""
    return tuple(v[x] for x in kept)


G = TypeVar("G", bound="Gain")


@dataclass(frozen=True)
class Gain:
    """A form: vectors with a weight each (None is 1), and p, which is 0 where all vectors are.

    As an objective it is ``constant - Sum_y g(q_y)``.
    """

    vectors: tuple[Vector, ...]
    p: Vector
    weights: Vector | None = None
    constant: Fraction = ZERO

    @property
    def numbers(self) -> Vector:
        return self.weights or (ONE,) * len(self.vectors)

    @cached_property
    def _integers(self) -> tuple[list[Sparse], int, Whole, Whole]:
        """The vectors, p and the weights, each as integers over one denominator."""
        p, weights = map(over_one_denominator, (self.p, self.numbers))
        return *_sparse(self.vectors), p, weights

    @cached_property
    def _forms(self) -> list[tuple[tuple[int, ...], Fraction]]:
        """The vectors over one denominator, and their weights."""
        return list(zip(lattice(self.vectors)[0], self.numbers, strict=True))

    def alike(self, x: int, z: int) -> bool:
        """Return whether the form is invariant when two inputs are swapped."""
        if self.p[x] != self.p[z]:
            return False
        order = list(range(len(self.p)))
        order[x], order[z] = z, x
        some = [(v, n) for v, n in self._forms if v[x] != v[z]]
        return sorted(some) == sorted((tuple([v[i] for i in order]), n) for v, n in some)

    @cached_property
    def _own(self) -> dict[int, tuple[Fraction, Fraction]] | None:
        """The entry and the index of each input; None if a vector or an input has two."""
        pairs = zip(self.vectors, self.numbers, strict=True)
        seen = [[(x, (a, n)) for x, a in enumerate(v) if a] for v, n in pairs]
        found = {x: entry for row in seen for x, entry in row}
        once = all(len(row) < 2 for row in seen) and len(found) == sum(map(len, seen))
        return found if once else None

    def entry(self, x: int) -> tuple[Fraction, Fraction]:
        """Return the entry and the index of an input, for a gain that is a sum over inputs."""
        return known(self._own, "the gain is not a sum over inputs").get(x, (ZERO, ONE))

    def __call__(self, q: Sequence[Any], *, up: bool) -> Fraction:
        """Return the gain of a column."""
        raise NotImplementedError

    def split(self, x: int) -> Callable[[Fraction], int]:
        """Return h_x over UNIT, rounded up, where g(q) = (p . q) Sum_x h_x(q_x / (p . q))."""
        raise CertificateError(f"the gain is not a sum over inputs at the input {x}")

    def on(self: G, kept: Sequence[int]) -> G:
        """Return the gain restricted to some inputs, if it does not depend on the others."""
        gone = set(range(len(self.p))).difference(kept)
        seen = any(v[x] for v in (*self.vectors, self.p) for x in gone)
        need(not seen, "the objective depends on removed inputs")
        return replace(self, vectors=tuple(cut(v, kept) for v in self.vectors), p=cut(self.p, kept))


class Squares(Gain):
    """Sum_j b_j (v_j . q)**2 / (p . q): posterior means, histograms, Fisher, chi-squared, risks."""

    def __call__(self, q: Sequence[Any], *, up: bool) -> Fraction:
        rows, unit, (p, whole), (weights, over) = self._integers
        moments, below = [sum([v * q[x] for x, v in row]) for row in rows], sum(map(mul, p, q))
        if not any(moments):
            return ZERO
        need(below > 0, "the gain is infinite")
        total = sum([b * m * m for b, m in zip(weights, moments, strict=True)])
        return Fraction(total * whole, unit * unit * over * below)

    def split(self, x: int) -> Callable[[Fraction], int]:
        v, b = self.entry(x)
        top, bottom = (b * v * v).as_integer_ratio()
        return lambda r: -(-(top * r.numerator**2 << BITS) // (bottom * r.denominator**2))


class Entropy(Gain):
    """Sum_j v_j . q ln(v_j . q / (m_j p . q)): mutual information, Kullback-Leibler."""

    @classmethod
    def of_inputs(cls, p: Vector) -> Entropy:
        """Return I(X; Y) at a prior, Sum_x p_x q_x ln(q_x / (p . q))."""
        return cls(units(p), p, tuple(mass for mass in p if mass))

    def __call__(self, q: Sequence[Any], *, up: bool) -> Fraction:
        rows, unit, (p, whole), _ = self._integers
        below, log, by_ratio = sum(map(mul, p, q)), log_upper if up else log_lower, dict[Any, Any]()
        for row, m in zip(rows, self.numbers, strict=True):
            if a := sum([v * q[x] for x, v in row]):
                need(below > 0, "the gain is infinite")
                ratio = Fraction(a * whole * m.denominator, unit * m.numerator * below)
                by_ratio[ratio] = by_ratio.get(ratio, 0) + a  # equal ratios have one logarithm
        return sum((a * log(ratio) for ratio, a in by_ratio.items()), ZERO) / unit

    def split(self, x: int) -> Callable[[Fraction], int]:
        v, m = self.entry(x)
        return lambda r: scaled(v * r * log_upper(v * r / m), up=True) if v and r else 0


class Hellinger(Gain):
    """(sqrt(a . q) - sqrt(b . q))**2 / 2, with the vectors a and b, and p = a + b."""

    @classmethod
    def of(cls, a: Vector, b: Vector) -> Hellinger:
        """Return the gain of two mixtures."""
        return cls((a, b), tuple(map(add, a, b)))

    def __call__(self, q: Sequence[Any], *, up: bool) -> Fraction:
        a, b = (Fraction(dot(v, q)) for v in self.vectors)
        root = sqrt_lower if up else sqrt_upper
        return (a + b) / 2 - root(a * b)
