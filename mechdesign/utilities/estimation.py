"""Risks of estimating the distribution of the inputs from many reports."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import NamedTuple

import numpy as np

from mechdesign._typing import AnyArray, FloatArray
from mechdesign.channel import Channel, as_channel
from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, UnsupportedError
from mechdesign.prior import Prior, prior_on
from mechdesign.utilities.base import MeanOrWorstCase

__all__ = ["Deviations", "EstimationRisk"]


LEAST_BITS = 256
ZERO = Fraction(0)


class Deviations(NamedTuple):
    """The risk as a function of the variances v_x = (M**-1)_xx, summed over the inputs.

    Attributes
    ----------
    value, slope, curvature
        Each input's term, its derivative and its second derivative in v_x, ``(n_inputs,)``.
    prior_slope, prior_curvature, mixed
        Derivatives in p_x, in p_x twice, and in both.
    """

    value: FloatArray
    slope: FloatArray
    curvature: FloatArray
    prior_slope: FloatArray
    prior_curvature: FloatArray
    mixed: FloatArray


class EstimationRisk(MeanOrWorstCase):
    """Risk of the best linear unbiased estimator of the distribution of the inputs.

    From n reports with frequencies h, the distribution p is estimated as Sum_y h_y W_y with
    W_y = M**-1 q_y / (p . q_y) and M = Sum_y q_y q_y' / (p . q_y). It is unbiased for every
    distribution, and at p none that is linear has less variance: n Cov = M**-1 - p p'. What is
    written here is the risk for n = 1; it falls like 1 / n, or 1 / sqrt(n) for a deviation.

    Parameters
    ----------
    worst_case
        Whether to take the largest risk over all distributions instead of that at the prior. The
        estimator is then made for one distribution, the least favorable, and the risk of a channel
        is the largest that this one estimator has at any. A prior given to the problem then only
        matters to notions that are defined by it.

    Notes
    -----
    No post-processing lowers the risk, so only what the outputs tell matters, not their labels.
    """

    definition = "deviations"
    needs_positive_prior = True
    tells_inputs_apart = True
    impossible = "the distribution be estimated"
    worst_over = "distributions"

    @abstractmethod
    def deviations(self, variances: FloatArray, prior: FloatArray) -> Deviations:
        """Return the terms of the risk, times :attr:`scale`, and their derivatives."""

    @property
    def scale(self) -> float:
        """The factor of the sum of :meth:`deviations`."""
        return 1.0

    def total(self, squares: list[Fraction]) -> Fraction:
        """Return the risk, rounded up, for the squares of the deviations of all inputs."""
        return sum(squares, ZERO)

    def tangents(self, squares: list[Fraction]) -> list[Fraction] | None:
        """Return deviations to linearize the roots at; None where the risk is linear in squares."""
        return None

    def check(self, domain: Domain, outputs: Sequence[Label] | None) -> None:
        """Ask for a risk that the checker knows.

        Raises
        ------
        UnsupportedError
            If it is one of the user's own.
        """
        if not self.exact:
            raise UnsupportedError("objective", "l2-risk or tv-risk as a risk", type(self).__name__)

    def reference(self, prior: Prior) -> Prior:
        """Return the prior of the problem; for a worst case the uniform one."""
        return Prior.uniform(len(prior)) if self.worst_case else prior

    def value(
        self, channel: Channel, prior: Prior, outputs: Sequence[Label] | None = None
    ) -> Fraction:
        """Return the risk of a channel, rounded up.

        For the worst case: the largest risk at any distribution of the estimator for ``prior``.

        Raises
        ------
        InputError
            If the risk is infinite: the rows of the channel are linearly dependent.
        """
        found = _Information(channel, self._positive(prior_on(prior, as_channel(channel).inputs)))
        if not self.worst_case:
            pairs = zip(found.variances, found.prior, strict=True)
            return self.total([max(ZERO, v - p * p) for v, p in pairs])
        if len(prior) == 1:
            return ZERO
        moments = found.second_moments()
        squares = [
            sum((c * p for c, p in zip(row, found.prior, strict=True)), ZERO) - found.prior[x] ** 2
            for x, row in enumerate(moments)
        ]
        tangents = self.tangents(squares)
        weights = [Fraction(1)] * len(squares)
        if tangents is not None:  # sqrt(s) <= (s / t + t) / 2
            weights = [1 / (2 * t) for t in tangents]
        linear = [
            sum((w * row[z] for w, row in zip(weights, moments, strict=True)), ZERO)
            for z in range(len(weights))
        ]
        most = _largest(linear, weights)
        return most if tangents is None else self.from_roots(most + sum(tangents, ZERO) / 2)

    def from_roots(self, total: Fraction) -> Fraction:
        """Return the risk for a sum of deviations, rounded up."""
        return total

    def decoder(self, channel: Channel, prior: Prior) -> tuple[tuple[Fraction, ...], ...]:
        """Return W_y for each output, whose mean over the reports estimates the distribution."""
        found = _Information(channel, self._positive(prior_on(prior, as_channel(channel).inputs)))
        unit = 1 << found.bits
        return tuple(tuple(Fraction(w, unit) for w in column) for column in found.estimator)

    def _positive(self, prior: Prior) -> Prior:
        """Return the prior; the uniform one in place of one with zeros, for a worst case."""
        if prior.minimum <= 0 and self.worst_case:
            return Prior.uniform(len(prior))
        self.check_prior(prior)
        return prior


class _Information:
    """The inverse of M in fixed point, with the estimator and bounds on what they are off by."""

    def __init__(self, channel: Channel, prior: Prior) -> None:
        k, whole = len(prior), lcm(*(p.denominator for p in prior))
        p = np.array([int(q * whole) for q in prior], dtype=object)
        Q = channel.numerators.astype(object)
        laws = p @ Q  # over whole * denominator
        self.prior, self.channel = prior.probabilities, channel
        self.bits = LEAST_BITS + 4 * int(1 / prior.minimum).bit_length()
        used = [y for y, law in enumerate(laws) if law]
        scaled = [(Q[:, y] * whole << self.bits) // laws[y] for y in used]
        M = sum(
            (np.outer(Q[:, y], column) for y, column in zip(used, scaled, strict=True)),
            np.zeros((k, k), dtype=object),
        )
        M = (M + M.T) // (2 * channel.denominator)
        X = _inverse(M, self.bits)
        product = np.abs(M @ X - (np.eye(k, dtype=int).astype(object) << 2 * self.bits))
        doubt = 2 * len(used) * np.abs(X).sum(axis=0)  # M is short by less than 2 units an output
        rho = int((product.sum(axis=0) + k * doubt).max())
        if 2 * rho > 1 << 2 * self.bits:
            raise _dependent()
        self.error = (2 * rho * int(np.abs(X).max()) >> 2 * self.bits) + 1
        self.variances = [Fraction(int(X[x, x]) + self.error, 1 << self.bits) for x in range(k)]
        self.estimator: list[list[int]] = []
        self.slack: list[int] = []
        for y, law in enumerate(laws):
            if law:
                self.estimator.append((X @ Q[:, y] * whole // law).tolist())
                self.slack.append(self.error * int(Q[:, y].sum()) * whole // law + 2)
            else:  # it never occurs
                self.estimator.append([int(q * (1 << self.bits)) for q in prior])
                self.slack.append(1)

    def second_moments(self) -> list[list[Fraction]]:
        """Return c_x(z) = Sum_y Q[z,y] W_xy**2, rounded up: row x, column z."""
        W = np.abs(np.array(self.estimator, dtype=object)) + np.array(self.slack)[:, None]
        moments = (W * W).T @ self.channel.numerators.astype(object).T
        top = self.channel.denominator << 2 * self.bits - 128
        return [[Fraction(-(-int(c) // top), 1 << 128) for c in row] for row in moments]


def _inverse(M: AnyArray, bits: int) -> AnyArray:
    """Return about the inverse, over 2**bits, by elimination beside the identity."""
    k = len(M)
    T = np.hstack([M, np.eye(k, dtype=int).astype(object) << bits])
    for c in range(k):
        if T[c, c] <= 0:
            raise _dependent()
        T[c] = (T[c] << bits) // T[c, c]
        factors = T[:, c].copy()
        factors[c] = 0
        T -= np.outer(factors, T[c]) >> bits
    return T[:, k:]


def _largest(b: list[Fraction], h: list[Fraction]) -> Fraction:
    """Return the largest b . p - Sum h_x p_x**2 over distributions p; h > 0.

    With only the n largest b_x in use, p_x = (b_x - t) / (2 h_x) with t their common slope.
    """
    pairs = sorted(zip(b, h, strict=True), reverse=True)
    tops = accumulate(c / (2 * g) for c, g in pairs)
    bottoms = accumulate(1 / (2 * g) for _, g in pairs)
    levels = [(top - 1) / bottom for top, bottom in zip(tops, bottoms, strict=True)]
    n = next(n for n, t in enumerate(levels) if n + 1 == len(pairs) or pairs[n + 1][0] <= t)
    p = [(c - levels[n]) / (2 * g) for c, g in pairs[: n + 1]]
    return sum((c * q - g * q * q for (c, g), q in zip(pairs, p, strict=False)), ZERO)


def _dependent() -> InputError:
    fault = "its rows are (nearly) dependent: the reports do not determine the distribution"
    return InputError("channel", "independent rows", "dependent ones", fault=fault)
