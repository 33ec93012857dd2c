"""Projective geometry response (Feldman, Nelson, Nguyen and Talwar 2022)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mechdesign._typing import AnyArray, Int64Array
from mechdesign.channel import BITS
from mechdesign.domain import Domain, whole_number
from mechdesign.errors import InputError
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import WHOLE, held_mass
from mechdesign.mechanisms.codes.projective_space import ProjectiveSpace, count_points
from mechdesign.mechanisms.set_system import TOLERANCE, NumberedSets
from mechdesign.reports import Numbers
from mechdesign.sampling import Source, below, chances

MOST_POINTS = 1 << 23
"""The largest number of reports with a count each."""


class ProjectiveGeometryResponse(NumberedSets):
    """Report a point of a projective space, e**epsilon times as likely if it is orthogonal to x.

        S_x = {y : <x, y> = 0 modulo q},      N = (q**t - 1) / (q - 1) points, c in each S_x
        Q[x, y] = p / c on S_x,  (1 - p) / (N - c) off it,      p / (1 - p) = e**eps c / (N - c)

    Inputs and reports are the points with t coordinates over the integers modulo a prime q near
    e**epsilon + 1. Any two of the sets have equally many points in common, so a report of another
    input is in S_x with the same probability r: s_x(y) = (1{y in S_x} - r) / (p - r). The variance
    is that of subset selection, up to the choice of q and points that are not inputs, with log2(N)
    bits per report and all estimates in about t log2(q) N operations
    (:meth:`~mechdesign.mechanisms.codes.projective_space.ProjectiveSpace.hyperplane_sums`).

    A draw decides by 62 bits whether y is in S_x. Then a uniform point with t - 1 coordinates, or a
    uniform vector of t - 1 coordinates, determines all but one coordinate of y, which solves <x, y>
    = 0 or 1.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    epsilon
        The budget in nats, > 0.
    field
        The prime q; default the one with the fewest reports among those whose :attr:`risk` is
        within 1 % of the least.

    Raises
    ------
    InputError
        If a parameter is out of range, or there would be more than 2**23 reports.

    Notes
    -----
    Source: Feldman, Nelson, Nguyen and Talwar 2022.

    Examples
    --------
    >>> words = ProjectiveGeometryResponse(22_000, 5)
    >>> words, words.field
    (ProjectiveGeometryResponse(22000 inputs, LDP(epsilon=5), 14.45 bits a report), 149)
    >>> round(words.risk_ratio, 4)
    1.0001
    """

    name = "projective-geometry-response"
    source = "Feldman, Nelson, Nguyen and Talwar 2022"
    options: ClassVar[Mapping[str, int | None]] = {"field": None}

    def __init__(
        self, inputs: Domain | Iterable[Any] | int, epsilon: Exact, field: int | None = None
    ) -> None:
        super().__init__(inputs, epsilon)
        k = len(self.inputs)
        if field is None:
            self.field = _best_field(k, self._notion.epsilon)
        else:
            self.field = whole_number(field, "field", 2, 2 * k)
            if not _primes(self.field)[-1:] == [self.field]:
                raise InputError("field", "a prime", self.field)
        t = 2
        while count_points(self.field, t) < k:
            t += 1
        self.dimension, self._size = t, count_points(self.field, t)
        if self._size > MOST_POINTS:
            raise InputError("field", f"at most {MOST_POINTS} reports", f"{self._size} of them")
        self._in, self._both = count_points(self.field, t - 1), count_points(self.field, t - 2)
        self.odds = (self._in, self._size - self._in)
        self.held = held_mass(self._notion.epsilon, *self.odds)
        self.alphabet = Numbers(self._size)

    @cached_property
    def _space(self) -> ProjectiveSpace:
        return ProjectiveSpace(self.field, self.dimension)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """The exact p and r: the probabilities of the set of the input, and of another set."""
        held, both = Fraction(self.held, WHOLE), Fraction(self._both, self._in)
        return held, held * both + (1 - held) * (self._in - self._both) / (self._size - self._in)

    def parameters(self) -> dict[str, Any]:
        """Return q, t, and the mass of S_x at x."""
        return {"field": self.field, "dimension": self.dimension, "held": self.held}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports: numbers of points."""
        within = chances(source, len(codes), BITS) < self.held
        # both are drawn for all, so that the number of random bits does not depend on the case
        point = below(source, len(codes), self._in)
        number = below(source, len(codes), self._size - self._in)  # these are q**(t - 1)
        powers = self.field ** np.arange(self.dimension - 1)[::-1]
        smaller = ProjectiveSpace(self.field, self.dimension - 1)
        digits = number[:, None] // powers % self.field
        rest = np.where(within[:, None], smaller.vectors(point), digits)
        return self._space.completed(codes, rest, 1 - within)

    def decoding_work(self, n: int) -> float:
        """Return n for the counts, and t - 2 passes of additions or transforms over the reports."""
        once = min(self.field, 12 * math.log2(self.field))
        return n + self._size * (1 + (self.dimension - 2) * once)

    def _holds(self, x: int, report: AnyArray) -> bool:
        one, other = self._space.vectors(np.array([x, report[0]]))
        return int(one @ other) % self.field == 0

    def _hits(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return self._space.hyperplane_sums(values)[..., : len(self.inputs)]

    def _held(self, weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the sums over hyperplanes: y is in S_x if and only if x is in S_y."""
        placed = np.zeros(self._size, dtype=weights.dtype)
        placed[: len(weights)] = weights
        return self._space.hyperplane_sums(placed)


def _best_field(k: int, epsilon: Fraction) -> int:
    """Return the prime with the fewest reports among those of nearly least risk.

    With p and r as in :attr:`ProjectiveGeometryResponse.chances` and h = r + (p - r) / k, the risk
    is k (h (1 - r)**2 + (1 - h) r**2) / (p - r)**2 - 1 / k. Fields of k - 1 numbers or more have
    enough points on a line, where it is randomized response.
    """
    q = np.array(_primes(2 * k + 2))
    q = q[: 1 + int(np.argmax(q >= k - 1))].astype(np.float64)
    points = [np.ones_like(q), q + 1]  # of all coordinates but one, and of all
    while (few := points[1] < k).any():
        points = [np.where(few, points[1], points[0]), np.where(few, points[1] * q + 1, points[1])]
    inside, size = points
    odds = math.exp(epsilon) * inside / (size - inside)
    p = odds / (1 + odds)
    both = (inside - 1) / q
    r = p * both / inside + (1 - p) * (inside - both) / (size - inside)
    h = r + (p - r) / k
    risk = (h * (1 - r) ** 2 + (1 - h) * r**2) / (p - r) ** 2 - 1 / k**2
    allowed = size <= MOST_POINTS
    good = allowed & (risk <= (1 + TOLERANCE) * risk[allowed].min())
    return int(q[np.argmin(np.where(good, size, np.inf))])


def _primes(bound: int) -> list[int]:
    """Return the primes up to a bound, by the sieve of Eratosthenes."""
    sieve = np.ones(bound + 1, dtype=bool)
    sieve[:2] = False
    for n in range(2, math.isqrt(bound) + 1):
        if sieve[n]:
            sieve[n * n :: n] = False
    found: list[int] = np.flatnonzero(sieve).tolist()
    return found
