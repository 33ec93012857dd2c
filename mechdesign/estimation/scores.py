"""Scores: functions of a report whose means over the reports are unbiased estimates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.domain import Domain
from mechdesign.mechanisms import Frequencies, Mechanism
from mechdesign.reports import Tally
from mechdesign.sampling import pieces, source_of

__all__ = ["MechanismScores", "Scores"]

REPEATS, LEAST_PILOT, PILOT_BITS = 24, 1 << 15, 1 << 30
"""Size of the simulated collection for variances: records per input, least number of records, and
maximum number of bits of all reports."""


class Scores(ABC):
    """A score s_x for each input x, with E[s_x(Y) | X = z] = 1{z = x}."""

    inputs: Domain

    @abstractmethod
    def frequencies(self, tally: Tally) -> Frequencies:
        """Return the means and mean squares of the scores of all inputs."""

    @abstractmethod
    def combinations(self, tally: Tally, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means and mean squares of the scores of Sum_x w_x p_x.

        One for each row w of ``(n, n_inputs)`` weights.
        """

    def combination(self, tally: Tally, weights: FloatArray) -> tuple[float, float]:
        """Return the same for ``(n_inputs,)`` weights."""
        mean, square = self.combinations(tally, np.asarray(weights, dtype=np.float64)[None, :])
        return float(mean[0]), float(square[0])

    @abstractmethod
    def variances(self, p: FloatArray) -> FloatArray:
        """Return n times the variances of the estimated frequencies if p is the true one."""


class MechanismScores(Scores):
    """The scores that a structured mechanism defines itself."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.inputs = mechanism, mechanism.inputs

    def frequencies(self, tally: Tally) -> Frequencies:
        """Return the means and mean squares of the scores of all inputs."""
        return self.mechanism.frequencies(tally)

    def combinations(self, tally: Tally, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means and the mean squares of the scores of combinations."""
        each = [self.mechanism.combination(tally, row) for row in weights]
        found = np.array(each).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def variances(self, p: FloatArray) -> FloatArray:
        """Return n times the variances of the estimated frequencies, by simulation.

        The seed is fixed and independent of the reports, so weights from these variances cause no
        bias; a relative error d of the weights increases the variance of an average by a factor of
        at most 1 + d**2 / 4. No variance is below that of the records, p_x (1 - p_x).
        """
        return _simulated_variances(self.mechanism, p.tobytes())


@lru_cache(maxsize=64)
def _simulated_variances(mechanism: Mechanism, distribution: bytes) -> FloatArray:
    """Return n Var by simulation; the distribution is passed as bytes for the cache."""
    p = np.frombuffer(distribution)
    wanted = max(LEAST_PILOT, REPEATS * len(p))
    size = int(min(wanted, max(LEAST_PILOT, PILOT_BITS // mechanism.bits_per_report)))
    # stratified records: the share of each input is p_x to within one record
    quantiles = (np.arange(size) + 0.5) / size
    codes = np.minimum(np.searchsorted(np.cumsum(p), quantiles), len(p) - 1)
    source = source_of(0)
    counts = [mechanism.count(mechanism.draw(codes[piece], source)) for piece in pieces(size)]
    tally = Tally(np.sum(counts, axis=0), size, simulated=True)
    found = np.maximum(mechanism.frequencies(tally).squares - p**2, p * (1 - p))
    found.flags.writeable = False
    return found
