"""The inverse of the information matrix of a channel, in fixed point with a rigorous error bound.

The reports of a channel with columns q_y have, at the distribution p of the inputs, the information
matrix M = Sum_y q_y q_y' / (p . q_y). The best unbiased linear estimator of p from n reports has
the covariance n Cov = M**-1 - p p' (Gauss and Markov). An approximate inverse X comes from Gauss
and Jordan's elimination, and its error is bounded by its residual 1 - M X.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

from mechdesign.certify.fixed_point import over_one_denominator, product_steps
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["Column", "Inverse", "inverse_information"]

Column = Sequence[Fraction]

LEAST_BITS = 256
"""Bits beyond the point; `inverse_information` adds more where probabilities are tiny."""


@dataclass(frozen=True)
class Inverse:
    """The inverse X of an information matrix M, and its estimator.

    Attributes
    ----------
    entries
        X as integers over ``2**bits``.
    error
        No entry of X is further than ``error / 2**bits`` from that of M**-1.
    bits
        Bits beyond the point.
    prior, whole
        p as integers over ``whole``.
    columns
        Each q_y as integers, and p . q_y as an integer.
    """

    entries: list[list[int]]
    error: int
    bits: int
    prior: list[int]
    whole: int
    columns: list[tuple[list[int], int]]

    def variances(self, *, up: bool) -> list[Fraction]:
        """Return bounds on the diagonal of M**-1."""
        shift = self.error if up else -self.error
        return [Fraction(row[x] + shift, 1 << self.bits) for x, row in enumerate(self.entries)]

    def estimator(self) -> Iterator[tuple[list[int], int]]:
        """Yield W_y = X q_y / (p . q_y) for each output y, and a bound on the error of its entries.

        Both are over ``2**bits``.
        """
        steps = len(self.prior) ** 2 * product_steps(1 << self.bits)
        for entries, probability in self.columns:
            spend(steps, "the estimator")
            if not probability:
                yield [(p << self.bits) // self.whole for p in self.prior], 1
                continue
            readings = [
                sum(map(mul, row, entries)) * self.whole // probability for row in self.entries
            ]
            yield readings, self.error * sum(entries) * self.whole // probability + 2


def inverse_information(columns: Sequence[Column], prior: Sequence[Fraction]) -> Inverse:
    """Return the inverse of M = Sum_y q_y q_y' / (p . q_y), with bounds.

    Let R = 1 - M X, and let the largest column sum of abs(R) be at most rho <= 1/2. Then M is
    regular, and M**-1 = X (1 + R + R**2 + ...) differs from X by at most
    max abs(X) rho / (1 - rho) <= 2 rho max abs(X) in every entry (Neumann series).

    Raises
    ------
    CertificateError
        If M is singular or next to it: then no unbiased estimator exists.
    """
    k = len(prior)
    if min(prior) <= 0:
        raise CertificateError("the risk of estimation needs a prior without zeros")
    weights, whole = over_one_denominator(prior)
    bits = LEAST_BITS + 4 * max(0, (1 / min(prior)).__ceil__().bit_length())
    found, units = list[tuple[list[int], int]](), list[int]()
    for q in columns:
        spend(20 * k, "columns")
        entries, unit = over_one_denominator(q)
        found.append((entries, sum(map(mul, weights, entries))))
        units.append(unit)
    M = _information(found, units, whole << bits)
    X = _inverted(M, bits)
    most = max(abs(entry) for row in X for entry in row)
    rho = _residual(M, X, bits)
    if 2 * rho > 1 << 2 * bits:
        raise _singular()
    error = (2 * rho * most >> 2 * bits) + 1
    return Inverse(X, error, bits, weights, whole, found)


def _information(
    columns: list[tuple[list[int], int]], units: list[int], factor: int
) -> list[list[int]]:
    """Return M, every entry rounded down by less than two units.

    A term n_x n_z factor / (unit (p . n)) is n_z times a number that is rounded down, with so many
    more bits that all the errors of an entry, each less than n_z, add up to less than a unit.
    """
    k = len(columns[0][0])
    rows: list[list[int]] = [[] for _ in range(k)]
    scaled: list[list[int]] = [[] for _ in range(k)]
    extra = sum(max(entries) for entries, _ in columns).bit_length()
    for (entries, probability), unit in zip(columns, units, strict=True):
        spend(10 * k, "the information matrix")
        for x, n in enumerate(entries if probability else ()):
            rows[x].append(n)
            scaled[x].append((n * factor << extra) // (unit * probability))
    steps = len(columns) * product_steps(factor << extra)
    found = [[0] * k for _ in range(k)]
    for x in range(k):
        spend((x + 1) * steps, "the information matrix")
        for z in range(x + 1):
            found[x][z] = found[z][x] = sum(map(mul, scaled[x], rows[z])) >> extra
    return found


def _inverted(M: list[list[int]], bits: int) -> list[list[int]]:
    """Return an approximate inverse of a positive definite matrix, by Gauss and Jordan in place."""
    T = [list(row) for row in M]
    for c, pivots in enumerate(T):
        spend(len(M) ** 2 * product_steps(1 << 2 * bits), "the inverse")
        pivot = pivots[c]
        if pivot <= 0:
            raise _singular()
        pivots[c] = 1 << bits
        T[c] = scaled = [(entry << bits) // pivot for entry in pivots]
        for x, row in enumerate(T):
            if x != c and row[c]:
                factor, row[c] = row[c], 0
                T[x] = [a - (factor * b >> bits) for a, b in zip(row, scaled, strict=True)]
    return T


def _residual(M: list[list[int]], X: list[list[int]], bits: int) -> int:
    """Return a bound on the largest column sum of abs(1 - M X).

    Every entry of M was rounded down by less than two units: ``doubt`` is what that changes at
    most.
    """
    worst = 0
    for w, column in enumerate(zip(*X, strict=True)):
        spend(len(M) ** 2 * product_steps(1 << 2 * bits), "the inverse")
        doubt = 2 * sum(abs(entry) for entry in column)
        total = 0
        for x, row in enumerate(M):
            product = sum(map(mul, row, column))
            total += abs(product - (int(x == w) << 2 * bits)) + doubt
        worst = max(worst, total)
    return worst


def _singular() -> CertificateError:
    return CertificateError(
        "the reports do not determine the distribution of the inputs: the risk is infinite"
    )
