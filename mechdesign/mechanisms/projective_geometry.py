"""Projective geometry response (Feldman et al. 2022): points over a prime field, and their sums."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.channel import BITS
from mechdesign.domain import DomainLike, whole_number
from mechdesign.errors import InputError
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import WHOLE, held_mass
from mechdesign.mechanisms.set_system import TOLERANCE, NumberedSets
from mechdesign.reports import Numbers
from mechdesign.sampling import Source, below, chances

LONG = 32
"""For larger fields, sums of floats use Fourier transforms."""


def count_points(q: int, t: int) -> int:
    """Return (q**t - 1) / (q - 1), the number of points with t coordinates.

    Examples
    --------
    >>> count_points(149, 3)
    22351
    """
    return sum(q**m for m in range(t))


class ProjectiveSpace:
    """The points with t coordinates over the integers modulo a prime q, up to a factor.

    A point is represented by its vector whose first nonzero coordinate is 1. Vectors with m
    coordinates after that 1 have the numbers (q**m - 1) / (q - 1) + (these coordinates, as digits
    to the base q), so that the first numbers are the points of the spaces with fewer coordinates.

    Examples
    --------
    >>> plane = ProjectiveSpace(2, 3)
    >>> plane.vectors(np.arange(7)).tolist()
    [[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> plane.hyperplane_sums(np.ones(7, dtype=int)).tolist()  # three points on every line
    [3, 3, 3, 3, 3, 3, 3]
    """

    def __init__(self, q: int, t: int) -> None:
        self.q, self.t = q, t
        self._powers = np.array([q**m for m in range(t)])
        self._starts = np.array([0, *accumulate(self._powers.tolist())])
        self.size = int(self._starts[-1])
        self._inverse = np.array([0, *(pow(n, -1, q) for n in range(1, q))])

    def vectors(self, points: Int64Array) -> Int64Array:
        """Return the vectors of points, ``(n, t)``."""
        m = np.searchsorted(self._starts, points, side="right") - 1
        digits = points - self._starts[m] + self._powers[m]  # with the 1 in front
        return np.asarray(digits[:, None] // self._powers[::-1] % self.q)

    def points(self, vectors: Int64Array) -> Int64Array:
        """Return the points of nonzero vectors."""
        rows = np.arange(len(vectors))
        first = (vectors != 0).argmax(axis=1)
        scaled = vectors * self._inverse[vectors[rows, first]][:, None] % self.q
        m = self.t - 1 - first
        return np.asarray(scaled @ self._powers[::-1] - self._powers[m] + self._starts[m])

    def completed(self, points: Int64Array, rest: Int64Array, product: Int64Array) -> Int64Array:
        """Return the point y with the given coordinates and a given product <x, y>.

        The ``rest`` are the coordinates of y, ``(n, t - 1)``, except the one where x has its
        leading 1; they must be nonzero where the product is 0.
        """
        x, rows, places = self.vectors(points), np.arange(len(points)), np.arange(self.t)
        lead = (x != 0).argmax(axis=1)
        source = np.minimum(places - (places > lead[:, None]), self.t - 2)
        y = np.take_along_axis(rest, source, axis=1)
        y[rows, lead] = 0
        y[rows, lead] = (product - (x * y).sum(axis=1)) % self.q
        return self.points(y)

    def hyperplane_sums(self, values: AnyArray) -> AnyArray:
        """Return, for each point x, the sum of the values of the points y with <x, y> = 0.

        By induction on the number d of coordinates: y = (1, u) is on the hyperplane of x = (c, a
        z), z a point with d - 1 coordinates, if <z, u> = -c / a, and y = (0, v) if <z, v> = 0. The
        second is the same problem with one coordinate less. For the first, the coordinates of u
        before the leading 1 of z do not matter and are summed out; the rest is
        :func:`_sums_on_parallels`. In total about t q n_points additions, exact for integers, or,
        for floats and large q, about t log2(q) n_points operations by Fourier transforms.

        Notes
        -----
        Source: Feldman, Nelson, Nguyen and Talwar 2022, Section 4, for the additions; the Fourier
        transforms are ours.
        """
        q = self.q
        table = np.moveaxis(values, -1, 0)
        batch = table.shape[1:]
        table = table.reshape(self.size, -1)
        sums = np.zeros_like(table[:1])  # the one point of one coordinate is not on its hyperplane
        for d in range(2, self.t + 1):
            starts = self._starts[:d]
            below = table[: starts[d - 1]].sum(axis=0, keepdims=True)
            rest = table[starts[d - 1] : self._starts[d]].reshape((q,) * (d - 1) + (-1,))
            flat, scaled = [], [below]  # of x = (0, z), and of x = (1, a z)
            parts = []
            for _ in range(d - 1):
                parts.append(rest)
                rest = rest.sum(axis=0)
            for m, part in enumerate(reversed(parts)):
                # [s, f]: the sum over the y = (1, u) with <(1, f), u> = s
                own = _sums_on_parallels(part, q).reshape(q, q**m, -1)
                lower = sums[starts[m] : starts[m] + q**m]
                flat.append(own[0] + lower)
                behind, offset = self._unscaled(m)
                scaled.append((own[offset, behind] + lower[behind]).reshape((q - 1) * q**m, -1))
            sums = np.concatenate([*flat, *scaled])
        return np.moveaxis(sums.reshape(self.size, *batch), 0, -1)

    def _unscaled(self, m: int) -> tuple[Int64Array, Int64Array]:
        """Return, for a = 1..q-1 and digits g of m coordinates, the digits of g / a, and -1 / a."""
        inverse = self._inverse[1:, None]
        behind = np.zeros_like(inverse)
        for _ in range(m):
            digit = inverse * np.arange(self.q) % self.q
            behind = (behind[:, :, None] * self.q + digit[:, None]).reshape(self.q - 1, -1)
        return behind, self.q - inverse


def _sums_on_parallels(table: AnyArray, q: int) -> AnyArray:
    """Return R[s, f] = Sum_u T[s - <f, u>, u], one coordinate of u at a time.

    The axes of the table are s, the coordinates of u, and a batch.
    """
    one = _by_spectrum if table.dtype == np.float64 and q > LONG else _by_addition
    for axis in range(1, table.ndim - 1):
        moved = np.moveaxis(table, axis, 1)
        found = one(moved.reshape(q, q, -1)).reshape(moved.shape)
        table = np.moveaxis(found, 1, axis)
    return table


def _by_addition(planes: AnyArray) -> AnyArray:
    """Return R[s, f] = Sum_v T[s - f v, v], exactly for integers, by q**3 additions."""
    q, n = len(planes), np.arange(len(planes))
    found, at = np.zeros_like(planes), np.repeat(n[:, None], q, axis=1)  # s - f v, for v = 0
    for v in range(q):
        found += planes[at, v]
        at -= n
        at += (at < 0) * q
    return found


def _by_spectrum(planes: FloatArray) -> FloatArray:
    """Return the same by Fourier transforms: that of R[., f] at w is that of T at (w, w f)."""
    q = len(planes)
    spectrum = np.fft.fft(np.fft.rfft(planes, axis=0), axis=1)
    w, f = np.arange(len(spectrum))[:, None], np.arange(q)
    return np.asarray(np.fft.irfft(spectrum[w, w * f % q], n=q, axis=0))


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
    (:meth:`~mechdesign.mechanisms.projective_geometry.ProjectiveSpace.hyperplane_sums`).

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

    def __init__(self, inputs: DomainLike, epsilon: Exact, field: int | None = None) -> None:
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

    @cached_property
    def _smaller(self) -> ProjectiveSpace:
        return ProjectiveSpace(self.field, self.dimension - 1)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """The exact p and r: the probabilities of the set of the input, and of another set."""
        held, both = Fraction(self.held, WHOLE), Fraction(self._both, self._in)
        return held, held * both + (1 - held) * (self._in - self._both) / (self._size - self._in)

    def sets(self) -> AnyArray:
        """Return whether S_x has the point y, ``(n_inputs, n_points)``."""
        points = self._space.vectors(np.arange(self._size))
        return np.asarray(points[: len(self.inputs)] @ points.T % self.field == 0)

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
        digits = number[:, None] // powers % self.field
        rest = np.where(within[:, None], self._smaller.vectors(point), digits)
        return self._space.completed(codes, rest, 1 - within)

    def decoding_work(self, n: int) -> float:
        """Return n for the counts, and t - 2 passes of additions or transforms over the reports."""
        once = min(self.field, 12 * math.log2(self.field))
        return n + self._size * (1 + (self.dimension - 2) * once)

    def _holds(self, x: int, report: AnyArray) -> bool:
        one, other = self._space.vectors(np.array([x, report[0]]))
        return int(one @ other) % self.field == 0

    def _hits(self, values: AnyArray) -> AnyArray:
        return self._space.hyperplane_sums(values)[..., : len(self.inputs)]

    def _held(self, weights: AnyArray) -> AnyArray:
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
