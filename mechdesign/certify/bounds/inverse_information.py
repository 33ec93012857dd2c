"""The inverse of the information matrix of a channel, in fixed point with a rigorous error bound.

The reports of a channel with columns q_y have, at the distribution p of the inputs, the information
matrix M = Sum_y q_y q_y' / (p . q_y). The best unbiased linear estimator of p from n reports has
the covariance n Cov = M**-1 - p p' (Gauss and Markov). An approximate inverse X comes from Gauss
and Jordan's elimination, and its error is bounded by its residual 1 - M X.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

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
    estimator
        W_y = X q_y / (p . q_y) for each output y, integers over ``2**bits``.
    slack
        For each output, a bound on the error of the entries of W_y, over ``2**bits``.
    """

    entries: list[list[int]]
    error: int
    bits: int
    estimator: list[list[int]]
    slack: list[int]

    def variances(self, *, up: bool) -> list[Fraction]:
        """Return bounds on the diagonal of M**-1."""
        shift = self.error if up else -self.error
        return [Fraction(row[x] + shift, 1 << self.bits) for x, row in enumerate(self.entries)]


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
    found = []
    for q in columns:
        spend(k * 20, "columns")
        entries, unit = over_one_denominator(q)
        probability = sum(w * n for w, n in zip(weights, entries, strict=True))
        found.append((entries, unit, probability))
    bits = LEAST_BITS + 4 * max(0, (1 / min(prior)).__ceil__().bit_length())
    steps = 2 * product_steps(1 << bits, whole)
    M = [[0] * k for _ in range(k)]
    for entries, unit, probability in found:
        if not probability:
            continue
        spend(2 * k * k * steps, "the information matrix")
        factor, bottom = whole << bits, unit * probability
        for x, n in enumerate(entries):
            if n:
                for z in range(x + 1):
                    M[x][z] += n * entries[z] * factor // bottom
    for x in range(k):
        for z in range(x):
            M[z][x] = M[x][z]
    X = _inverted(M, bits)
    most = max(abs(entry) for row in X for entry in row)
    rho = _residual(M, X, bits, len(columns))
    if 2 * rho > 1 << 2 * bits:
        raise _singular()
    error = (2 * rho * most >> 2 * bits) + 1
    estimator, slack = [], []
    for entries, _, probability in found:
        spend(k * k * steps, "the estimator")
        if not probability:
            estimator.append([p.numerator * (1 << bits) // p.denominator for p in prior])
            slack.append(1)
            continue
        estimator.append(
            [
                sum(a * n for a, n in zip(row, entries, strict=True)) * whole // probability
                for row in X
            ]
        )
        slack.append(error * sum(entries) * whole // probability + 2)
    return Inverse(X, error, bits, estimator, slack)


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


def _residual(M: list[list[int]], X: list[list[int]], bits: int, terms: int) -> int:
    """Return a bound on the largest column sum of abs(1 - M X).

    Every entry of M is a sum of ``terms`` numbers that were each rounded down by less than a unit,
    so that the exact M is up to ``terms`` units larger: ``doubt`` is what that changes at most.
    """
    worst = 0
    for w, column in enumerate(zip(*X, strict=True)):
        spend(len(M) ** 2 * product_steps(1 << 2 * bits), "the inverse")
        doubt = terms * sum(abs(entry) for entry in column)
        total = 0
        for x, row in enumerate(M):
            product = sum(a * b for a, b in zip(row, column, strict=True))
            total += abs(product - (int(x == w) << 2 * bits)) + doubt
        worst = max(worst, total)
    return worst


def _singular() -> CertificateError:
    return CertificateError(
        "the reports do not determine the distribution of the inputs: the risk is infinite"
    )
