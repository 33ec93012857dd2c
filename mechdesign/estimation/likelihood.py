"""The distribution under which the reports are likeliest, with a certificate of how near it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mechdesign._typing import FloatArray
from mechdesign.errors import InputError, SolverError, shown
from mechdesign.estimation.counts import Evidence

__all__ = ["Fit", "Progress", "fit", "likelihood_gap", "observed_information"]


Progress = Callable[[int, float], None]
"""Called with the number of steps so far and the gap."""

LARGEST_TOLERANCE, LEAST_TOLERANCE = 1e-9, 1e-13

PLAIN_CYCLES = 60
"""Accelerated cycles before Newton's method takes over."""

MOST_CYCLES, MOST_NEWTON = 20_000, 200

MOST_NEWTON_INPUTS = 4000
"""Above it a Newton step, cubic in the number of inputs, costs more than it gains."""


@dataclass(frozen=True)
class Fit:
    """A distribution that is nearly the likeliest.

    Attributes
    ----------
    law
        ``(n_inputs,)`` probabilities.
    slopes
        ``(n_inputs,)`` the D_x of :func:`likelihood_gap`.
    gap
        How far at most the log-likelihood per report is from the largest.
    iterations
        How many steps it took.
    """

    law: FloatArray
    slopes: FloatArray
    gap: float
    iterations: int


def likelihood_gap(columns: FloatArray, share: FloatArray, law: FloatArray) -> float:
    """Return ln max_x D_x, which bounds how much likelier than at ``law`` a report can be made.

    With h the shares of the distinct reports, the log-likelihood per report is
    L(p) = Sum_y h_y ln lambda_y, lambda = p Q. For any other distribution p*, since the logarithm
    is concave and the h_y sum to 1,

        L(p*) - L(p) = Sum_y h_y ln(lambda*_y / lambda_y) <= ln Sum_y h_y lambda*_y / lambda_y
                     = ln Sum_x p*_x D_x <= ln max_x D_x,      D_x = Sum_y h_y Q[x,y] / lambda_y

    As Sum_x p_x D_x = 1 it is at least 0; it is 0 exactly at a maximum.

    Parameters
    ----------
    columns
        ``(n_inputs, n_distinct)`` columns of the channel.
    share
        ``(n_distinct,)`` shares of the reports, which sum to 1.
    law
        ``(n_inputs,)`` the distribution p.

    Examples
    --------
    >>> Q = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> likelihood_gap(Q, np.array([0.6, 0.4]), np.array([0.7, 0.3])) < 1e-15
    True
    """
    return float(np.log(max(1.0, float(_slopes(columns, share, law).max()))))


def fit(
    evidence: Evidence, tolerance: float | None = None, progress: Progress | None = None
) -> Fit:
    """Maximise the likelihood: expectation maximisation, accelerated, then Newton's method.

    A step of expectation maximisation multiplies p_x by D_x (the mean posterior; iterative Bayesian
    update) and never lowers the likelihood. Two steps are extrapolated, and the extrapolation is
    kept only where it is likelier than the two steps. Where that is slow, an interior-point method
    finishes.

    Parameters
    ----------
    evidence
        The reports.
    tolerance
        The gap to stop at, in nats per report; default min(1e-9, 1e-3 / n), which is a small part
        of what chance does to n reports.
    progress
        Called at every step.

    Raises
    ------
    InputError
        If the tolerance is not above 0.
    SolverError
        If the gap is not reached.

    Notes
    -----
    Source: Dempster, Laird and Rubin 1977; Varadhan and Roland 2008 for the extrapolation; Koenker
    and Mizera 2014 for interior points.
    """
    share = evidence.counts / evidence.counts.sum()
    aim = _aim(tolerance, evidence.total)
    search = _Search(evidence.columns, share, aim, progress)
    k = len(evidence.columns)
    law = search.accelerated(
        np.full(k, 1 / k), PLAIN_CYCLES if k <= MOST_NEWTON_INPUTS else MOST_CYCLES
    )
    if search.gap(law) > aim and k <= MOST_NEWTON_INPUTS:
        law = search.newton(law)
    gap = search.gap(law)
    if not gap <= aim:
        raise SolverError(
            f"maximum likelihood stopped {gap:.2g} nats per report below the largest, "
            f"{aim:.2g} was asked; ask for less by tolerance={2 * gap:.1g}"
        )
    return Fit(law, _slopes(evidence.columns, share, law), gap, search.steps)


class _Search:
    """The steps of the search on one likelihood."""

    def __init__(
        self, columns: FloatArray, share: FloatArray, aim: float, progress: Progress | None
    ) -> None:
        self.columns, self.share, self.aim, self.progress = columns, share, aim, progress
        self.steps = 0

    def _show(self, gap: float) -> None:
        if self.progress is not None:
            self.progress(self.steps, gap)

    def gap(self, law: FloatArray) -> float:
        return likelihood_gap(self.columns, self.share, law)

    def log_likelihood(self, law: FloatArray) -> float:
        return float(self.share @ np.log(law @ self.columns))

    def accelerated(self, law: FloatArray, cycles: int) -> FloatArray:
        """Run cycles of two steps and an extrapolation from them, until the gap is small."""
        for _ in range(cycles):
            once = self._step(law)
            if once is None:
                return law
            twice = self._step(once)
            if twice is None:
                return once
            law = self._extrapolated(law, once, twice)
        return law

    def _step(self, law: FloatArray) -> FloatArray | None:
        """Return the next law; None where this one will do."""
        slopes = _slopes(self.columns, self.share, law)
        gap = float(np.log(max(1.0, float(slopes.max()))))
        self._show(gap)
        if gap <= self.aim:
            return None
        self.steps += 1
        found = law * slopes
        return np.asarray(found / found.sum())

    def _extrapolated(self, law: FloatArray, once: FloatArray, twice: FloatArray) -> FloatArray:
        first, bend = once - law, (twice - once) - (once - law)
        size = float(np.linalg.norm(bend))
        if size == 0:
            return twice
        length = max(1.0, float(np.linalg.norm(first)) / size)
        ahead = law + 2 * length * first + length**2 * bend
        # an input that is pushed out stays in by a share of what it had: 0 would keep it out
        ahead = np.maximum(ahead, 1e-3 * twice)
        ahead /= ahead.sum()
        return ahead if self.log_likelihood(ahead) > self.log_likelihood(twice) else twice

    def newton(self, law: FloatArray) -> FloatArray:
        """Follow p_x (1 - D_x) = mu to mu = 0 by Newton steps on p and the slacks z = 1 - D.

        At the largest of L(p) - Sum_x p_x over p >= 0 the sum is 1 by itself, for
        Sum_x p_x D_x = 1 always.
        """
        k = len(law)
        p = np.maximum(law, 1e-9)
        p /= p.sum()
        z = np.maximum(1 - _slopes(self.columns, self.share, p), 1e-3)
        best = law
        for _ in range(MOST_NEWTON):
            outputs = p @ self.columns
            slopes = self.columns @ (self.share / outputs)
            gap = self.gap(p / p.sum())
            self._show(gap)
            if gap < self.gap(best):
                best = p / p.sum()
            if gap <= self.aim:
                break
            self.steps += 1
            mu = 0.1 * float(p @ z) / k
            scaled = self.columns * (np.sqrt(self.share) / outputs)
            root = np.sqrt(p)  # in units of it the matrix is near the identity where p is small
            H = root[:, None] * (scaled @ scaled.T) * root
            H[np.diag_indices(k)] += z
            force = root * (slopes - 1 + mu / p)
            try:
                factor = scipy.linalg.cho_factor(H, check_finite=False)
                dp = root * scipy.linalg.cho_solve(factor, force, check_finite=False)
            except scipy.linalg.LinAlgError:
                break
            dz = mu / p - z - z / p * dp
            p = p + _length(p, dp) * dp
            z = z + _length(z, dz) * dz
        return best


def observed_information(
    evidence: Evidence, law: FloatArray, slopes: FloatArray
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return the inverse of the observed information per report, and where it holds.

    On the support S of the maximum, I = Sum_y h_y q_y q_y' / lambda_y**2, and n Cov is about
    I**-1 - p p'. An input is taken to be at the boundary, where no normal law holds, if p_x is at
    most its slack 1 - D_x. Everything is NaN there, and everywhere if I has no inverse.

    Parameters
    ----------
    evidence
        The reports.
    law, slopes
        As :class:`Fit` has them.
    """
    k = len(law)
    inside = law > np.maximum(1 - slopes, 1e-12)
    inverse = np.full((k, k), np.nan)
    share = evidence.counts / evidence.counts.sum()
    scaled = evidence.columns[inside] * (np.sqrt(share) / (law @ evidence.columns))
    size = 1 / np.sqrt((scaled**2).sum(axis=1))
    s, U = scipy.linalg.eigh(size[:, None] * (scaled @ scaled.T) * size)
    if s[0] <= 1e-12 * s[-1]:
        return inverse, np.zeros(k, dtype=np.bool_)
    half = size[:, None] * U / np.sqrt(s)
    inverse[np.ix_(inside, inside)] = half @ half.T
    return inverse, inside


def _slopes(columns: FloatArray, share: FloatArray, law: FloatArray) -> FloatArray:
    return np.asarray(columns @ (share / (law @ columns)))


def _length(value: FloatArray, step: FloatArray) -> float:
    """Return how far one may go, at most 1, to stay above 0."""
    down = step < 0
    if not down.any():
        return 1.0
    return min(1.0, 0.995 * float((-value[down] / step[down]).min()))


def _aim(tolerance: Any, total: int) -> float:
    if tolerance is None:
        return max(LEAST_TOLERANCE, min(LARGEST_TOLERANCE, 1e-3 / total))
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not tolerance > 0:
        raise InputError("tolerance", "a number > 0, in nats per report", shown(tolerance))
    return float(tolerance)
