"""Convex gains g, homogeneous of degree 1: no post-processing raises Sum_y g(q_y).

Three forms cover all gains other than finite sets of guesses. ``up`` is the direction of rounding,
and is exact where it is rational. They are convex: a square over a positive linear form; a relative
entropy; and minus the root of a product of linear forms >= 0.
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
from mechdesign.kernel.arithmetic import dot, lattice, need, over_one_denominator, scaled

Vector = tuple[Fraction, ...]
Sparse = list[tuple[int, int]]
ZERO, ONE = Fraction(0), Fraction(1)


def _sparse(vectors: Sequence[Vector]) -> tuple[list[Sparse], int]:
    """Return the entries of vectors that are not 0, as integers over one denominator."""
    places = [[x for x, a in enumerate(v) if a] for v in vectors]
    whole, unit = lattice([[a for a in v if a] for v in vectors])
    return [list(zip(*pair, strict=True)) for pair in zip(places, whole, strict=True)], unit


def units(p: Vector) -> tuple[Vector, ...]:
    """Return the vectors p_x e_x of the inputs x that occur."""
    zeros = (ZERO,) * len(p)
    return tuple((*zeros[:x], mass, *zeros[x + 1 :]) for x, mass in enumerate(p) if mass)


def _cut(v: Vector, kept: Sequence[int]) -> Vector:
    return tuple(v[x] for x in kept)


F = TypeVar("F", bound="_Form")


class _Form:
    """The base class of forms: vectors with a number each, and p, which is 0 where they all are."""

    vectors: tuple[Vector, ...]
    p: Vector

    weights: Vector | None = None

    @property
    def numbers(self) -> Vector:
        """A number for each vector."""
        return self.weights or (ONE,) * len(self.vectors)

    @cached_property
    def _integers(self) -> tuple[list[Sparse], int, tuple[list[int], int]]:
        return *_sparse(self.vectors), over_one_denominator(self.p)

    def alike(self, x: int, z: int) -> bool:
        """Return whether the form stays when two inputs are swapped."""
        order = list(range(len(self.p)))
        order[x], order[z] = z, x
        pairs = zip(self.vectors, self.numbers, strict=True)
        some = [(v, n) for v, n in pairs if v[x] != v[z]]
        same = self.p[x] == self.p[z]
        return same and sorted(some) == sorted((_cut(v, order), n) for v, n in some)

    @cached_property
    def _own(self) -> dict[int, tuple[Fraction, Fraction]] | None:
        """The entry and the number of each input; None if a vector or an input has two."""
        pairs = zip(self.vectors, self.numbers, strict=True)
        seen = [[(x, (a, n)) for x, a in enumerate(v) if a] for v, n in pairs]
        found = {x: entry for row in seen for x, entry in row}
        once = all(len(row) < 2 for row in seen) and len(found) == sum(map(len, seen))
        return found if once else None

    def split(self, x: int) -> Callable[[Fraction], int]:
        """Return h_x over UNIT, rounded up, where g(q) = (p . q) Sum_x h_x(q_x / (p . q))."""
        raise CertificateError(f"the gain is not a sum over inputs at the input {x}")

    def on(self: F, kept: Sequence[int]) -> F:
        """Return the gain restricted to some inputs, if it does not depend on the others."""
        gone = set(range(len(self.p))).difference(kept)
        seen = any(v[x] for v in (*self.vectors, self.p) for x in gone)
        need(not seen, "the objective depends on removed inputs")
        return self._of(tuple(_cut(v, kept) for v in self.vectors), _cut(self.p, kept))

    def _of(self: F, vectors: tuple[Vector, ...], p: Vector) -> F:
        return replace(self, vectors=vectors, p=p)  # type: ignore[type-var]


@dataclass(frozen=True)
class Squares(_Form):
    """Sum_j b_j (v_j . q)**2 / (p . q): posterior means, histograms, Fisher, chi-squared, risks.

    ``weights`` None: every b_j is 1.
    """

    vectors: tuple[Vector, ...]
    p: Vector
    weights: Vector | None = None

    def __call__(self, q: Sequence[Any], *, up: bool) -> Fraction:
        """Return the gain of a column.

        Raises
        ------
        CertificateError
            If it is infinite: p . q = 0, and not all v_j . q are.
        """
        rows, unit, (p, whole) = self._integers
        moments, below = [sum([v * q[x] for x, v in row]) for row in rows], sum(map(mul, p, q))
        if not any(moments):
            return ZERO
        need(below > 0, "the gain is infinite")
        if self.weights is None:
            return Fraction(sum([m * m for m in moments]) * whole, unit * unit * below)
        weights, over = over_one_denominator(self.numbers)
        total = sum([b * m * m for b, m in zip(weights, moments, strict=True)])
        return Fraction(total * whole, unit * unit * over * below)

    def split(self, x: int) -> Callable[[Fraction], int]:
        """Return h_x, a square."""
        need(self._own is not None, "the gain is not a sum over inputs")
        v, b = (self._own or {}).get(x, (ZERO, ONE))
        return lambda r: scaled(b * v * v * r * r, up=True)


@dataclass(frozen=True)
class Entropy(_Form):
    """Sum_j v_j . q ln(v_j . q / (m_j p . q)): mutual information, Kullback-Leibler."""

    vectors: tuple[Vector, ...]
    masses: Vector
    p: Vector

    @classmethod
    def of_inputs(cls, p: Vector) -> Entropy:
        """Return I(X; Y) at a prior, Sum_x p_x q_x ln(q_x / (p . q))."""
        return cls(units(p), tuple(mass for mass in p if mass), p)

    def __call__(self, q: Sequence[Any], *, up: bool) -> Fraction:
        """Return the gain of a column.

        Raises
        ------
        CertificateError
            If it is infinite.
        """
        rows, unit, (p, whole) = self._integers
        below, log, by_ratio = sum(map(mul, p, q)), log_upper if up else log_lower, dict[Any, Any]()
        for row, m in zip(rows, self.masses, strict=True):
            if a := sum([v * q[x] for x, v in row]):
                need(below > 0, "the gain is infinite")
                ratio = Fraction(a * whole * m.denominator, unit * m.numerator * below)
                by_ratio[ratio] = by_ratio.get(ratio, 0) + a  # equal ratios have one logarithm
        return sum((a * log(ratio) for ratio, a in by_ratio.items()), ZERO) / unit

    @property
    def numbers(self) -> Vector:
        """The masses."""
        return self.masses

    def split(self, x: int) -> Callable[[Fraction], int]:
        """Return h_x, with a logarithm."""
        need(self._own is not None, "the gain is not a sum over inputs")
        v, m = (self._own or {}).get(x, (ZERO, ONE))
        return lambda r: scaled(v * r * log_upper(v * r / m), up=True) if v and r else 0


@dataclass(frozen=True)
class Hellinger(_Form):
    """(sqrt(a . q) - sqrt(b . q))**2 / 2."""

    a: Vector
    b: Vector

    @property
    def vectors(self) -> tuple[Vector, ...]:  # type: ignore[override]
        """Both of them."""
        return self.a, self.b

    @property
    def p(self) -> Vector:  # type: ignore[override]
        """Their sum."""
        return tuple(map(add, self.a, self.b))

    def _of(self, vectors: tuple[Vector, ...], p: Vector) -> Hellinger:
        return Hellinger(*vectors)

    def __call__(self, q: Sequence[Any], *, up: bool) -> Fraction:
        """Return the gain of a column."""
        a, b = Fraction(dot(self.a, q)), Fraction(dot(self.b, q))
        root = sqrt_lower if up else sqrt_upper
        return (a + b) / 2 - root(a * b)


Gain = Squares | Entropy | Hellinger
"""A gain, of one of the three forms."""
