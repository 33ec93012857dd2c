"""The risk of estimating the distribution of the inputs from reports, by unbiased linear readings.

A channel with columns q_y has, at the distribution p of the inputs, the information matrix
M = Sum_y q_y q_y' / (p . q_y). The best unbiased linear estimator from n reports reads
W_y = M**-1 q_y / (p . q_y) from output y, and has n Cov = M**-1 - p p' (Gauss and Markov).

**The inverse.** X approximates M**-1, by symmetric sweeps (Gauss and Jordan). Let the column sums
of absolute values of R = 1 - M X be at most rho <= 1/2. Then M is regular, and by the series
M**-1 = X (1 + R + R**2 + ...) no entry of X is off by more than max abs(X) rho / (1 - rho)
<= 2 rho max abs(X). Where this is not small beside the diagonal, more bits are taken.

**The worst case** over all p of the estimator W for one reference prior: its variances are
c_x . p - p_x**2 with c_x(z) = Sum_y Q[z, y] W_xy**2. Their sum is concave in p, with a formula for
its largest value on the simplex. Roots are sqrt(s) <= (s / w + w) / 2 with w the deviation at the
reference prior: such a sum again. So any reference prior gives an upper bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

from mechdesign.errors import CertificateError
from mechdesign.exact import sqrt_upper
from mechdesign.kernel.arithmetic import dot, need, over_one_denominator, scaled
from mechdesign.kernel.objectives import Risk
from mechdesign.kernel.relaxations.estimator import root_factor

Columns = Sequence[Sequence[int]]
ZERO, ONE = Fraction(0), Fraction(1)
BITS = 100
PRECISIONS, SMALL = (128, 256), 96
"""Bits of the inverse, before those that a small prior takes; for a risk the first serve if its
error is at most 2**-SMALL of its least diagonal entry."""
SINGULAR = "the reports do not determine the distribution of the inputs: the risk is infinite"


def _up(value: Fraction) -> Fraction:
    return Fraction(scaled(value, True, BITS), 1 << BITS)


@dataclass(frozen=True)
class Inverse:
    """X as integers over 2**bits, with a bound on the error of each entry."""

    entries: list[list[int]]
    error: int
    bits: int

    @classmethod
    def of(
        cls, columns: Columns, whole: int, p: Sequence[Fraction], bases: Sequence[int] = PRECISIONS
    ) -> Inverse:
        """Return the inverse of M, with more bits if the first ones leave too large an error."""
        need(min(p) > 0, "the risk of estimation needs a prior without zeros")
        masses, unit = over_one_denominator(p)
        for base in bases:
            bits = base + 4 * (1 / min(p)).__ceil__().bit_length()
            M = _information(columns, whole, masses, unit << bits)
            with suppress(CertificateError):
                inverse = cls._of_matrix(M, bits)
                least = min(row[x] for x, row in enumerate(inverse.entries))
                if base == bases[-1] or inverse.error << SMALL <= least:
                    return inverse
        raise CertificateError(SINGULAR)

    @classmethod
    def _of_matrix(cls, M: list[list[int]], bits: int) -> Inverse:
        X, rho = _inverted(M, bits), 0
        for z, column in enumerate(X):
            # each entry of M was rounded down by less than two units
            doubt = 2 * len(M) * sum(map(abs, column))
            one = (int(x == z) << 2 * bits for x in range(len(M)))
            off = sum(abs(sum(map(mul, row, column)) - o) for row, o in zip(M, one, strict=True))
            rho = max(rho, off + doubt)
        need(2 * rho <= 1 << 2 * bits, SINGULAR)
        most = max(abs(v) for row in X for v in row)
        return cls(X, (2 * rho * most >> 2 * bits) + 1, bits)

    def readings(self, columns: Columns, p: Sequence[Fraction]) -> list[tuple[list[int], int]]:
        """Return W_y of each output, over 2**bits, with a bound on the error of each entry."""
        masses, unit = over_one_denominator(p)
        found = []
        for q in columns:
            if law := sum(map(mul, masses, q)):
                row = [sum(map(mul, row, q)) * unit // law for row in self.entries]
                found.append((row, self.error * sum(q) * unit // law + 2))
            else:
                found.append(([(m << self.bits) // unit for m in masses], 1))
        return found


def _information(
    columns: Columns, whole: int, masses: Sequence[int], factor: int
) -> list[list[int]]:
    """Return M over 2**bits, every entry rounded down by less than two units.

    A term q_x q_z factor / (whole masses . q) is q_z times a number that is rounded down, with so
    many more bits that all errors of an entry, each less than q_z, add up to less than a unit.
    """
    extra = sum(map(max, columns)).bit_length()
    laws = [whole * sum(map(mul, masses, q)) for q in columns]
    used = [(q, law) for q, law in zip(columns, laws, strict=True) if law]
    k = len(columns[0])
    rows = [[q[x] for q, _ in used] for x in range(k)]
    shares = [[(q[x] * factor << extra) // law for q, law in used] for x in range(k)]
    lower = [[sum(map(mul, shares[x], rows[z])) >> extra for z in range(x + 1)] for x in range(k)]
    return [[lower[max(x, z)][min(x, z)] for z in range(k)] for x in range(k)]


def _inverted(M: list[list[int]], bits: int) -> list[list[int]]:
    """Return an approximate inverse of a positive definite matrix, symmetric.

    A sweep for each input replaces the matrix, of which only the lower half is kept; after all of
    them it is minus the inverse.
    """
    k = len(M)
    rows = [row[: x + 1] for x, row in enumerate(M)]
    for c in range(k):
        pivots = rows[c][:c] + [row[c] for row in rows[c:]]
        need(pivots[c] > 0, SINGULAR)
        shares = [(v << bits) // pivots[c] for v in pivots]
        for x, factor in enumerate(pivots):
            if factor:
                row = zip(rows[x], shares, strict=False)
                rows[x] = [a - (factor * b >> bits) for a, b in row]
        for x, share in enumerate(shares):
            rows[max(x, c)][min(x, c)] = share
        rows[c][c] = -((1 << 2 * bits) // pivots[c])
    return [[-rows[max(x, z)][min(x, z)] for z in range(k)] for x in range(k)]


def estimator(columns: Columns, whole: int, p: Sequence[Fraction]) -> list[list[Fraction]]:
    """Return W_y for each output y: p is estimated as the mean of W_Y."""
    inverse = Inverse.of(columns, whole, p, PRECISIONS[-1:])
    return [
        [Fraction(w, 1 << inverse.bits) for w in row] for row, _ in inverse.readings(columns, p)
    ]


def risk(aim: Risk, columns: Columns, whole: int, p: Sequence[Fraction]) -> Fraction:
    """Return the risk, rounded up; in the worst case that of the estimator for p."""
    k = len(p)
    if k == 1:
        return ZERO
    inverse = Inverse.of(columns, whole, p)
    if aim.prior is not None:
        unit = 1 << inverse.bits
        tops = [Fraction(row[x] + inverse.error, unit) for x, row in enumerate(inverse.entries)]
        squares = [max(ZERO, v - mass * mass) for v, mass in zip(tops, p, strict=True)]
        if not aim.roots:
            return sum(squares, ZERO)
        return root_factor(up=True) * sum(map(sqrt_upper, squares), ZERO)
    seconds = _second_moments(inverse, columns, whole, p)
    if not aim.roots:
        return _most_on_simplex([sum(c, ZERO) for c in zip(*seconds, strict=True)], [ONE] * k)
    deviations = []
    for row, mass in zip(seconds, p, strict=True):
        variance = max(ZERO, dot(row, p) - mass * mass)
        deviations.append(max(_up(sqrt_upper(variance)), Fraction(1, 1 << BITS)))
    halves = [1 / (2 * w) for w in deviations]
    linear = [_up(Fraction(dot(halves, c))) for c in zip(*seconds, strict=True)]
    most = _most_on_simplex(linear, halves)
    return root_factor(up=True) * (most + sum(deviations, ZERO) / 2)


def _second_moments(
    inverse: Inverse, columns: Columns, whole: int, p: Sequence[Fraction]
) -> list[list[Fraction]]:
    """Return c_x(z) = Sum_y Q[z, y] W_xy**2, rounded up; a row for each x."""
    readings = inverse.readings(columns, p)
    squares = [[(abs(w) + slack) ** 2 for w in row] for row, slack in readings]
    unit = whole << 2 * inverse.bits
    rows = list(zip(*columns, strict=True))
    by_input = list(zip(*squares, strict=True))
    return [[_up(Fraction(sum(map(mul, s, row)), unit)) for row in rows] for s in by_input]


def _most_on_simplex(b: Sequence[Fraction], h: Sequence[Fraction]) -> Fraction:
    """Return the largest Sum_x b_x p_x - h_x p_x**2 over distributions p, exactly, where h > 0.

    By the conditions of Karush, Kuhn and Tucker the optimum has p_x = max(0, b_x - t) / (2 h_x),
    where the multiplier t makes them sum to 1. Inputs enter in order of b, until t is above b.
    """
    order = sorted(range(len(b)), key=b.__getitem__, reverse=True)
    top, bottom, t = -ONE, ZERO, ZERO
    for n, x in enumerate(order):
        top, bottom = top + b[x] / (2 * h[x]), bottom + 1 / (2 * h[x])
        t = top / bottom
        if n + 1 == len(order) or b[order[n + 1]] <= t:
            break
    return t + sum((max(ZERO, b[x] - t) ** 2 / (4 * h[x]) for x in order), ZERO)
