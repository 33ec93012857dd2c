"""Base class of mechanisms whose reports are numbers, a set of them likelier for each input."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign._typing import FloatArray
from mechdesign.mechanisms.base import Frequencies, NumberedMechanism, whole_weights
from mechdesign.mechanisms.merged_reports import MergedReports
from mechdesign.mechanisms.two_score import LDPMechanism
from mechdesign.mechanisms.two_valued import ProbabilityLevel, ScoreSumMoments, TwoValuedMechanism
from mechdesign.prior import Prior

__all__ = ["TOLERANCE", "CodedMechanism"]

TOLERANCE = 0.01
"""The share of the risk that is given for fewer reports."""

MACHINE = 1 << 62
"""Integers whose sums stay below it are added as machine words."""


class CodedMechanism(LDPMechanism, TwoValuedMechanism, NumberedMechanism):
    """Report a number y below N, of probability ``most`` if it is in the set S_x, else ``least``.

    A subclass has fast transforms: sums over all S_x at once, and of the scores of all inputs.
    """

    @abstractmethod
    def _held_weights(self, weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return Sum_x w_x 1{y in S_x} for each report y, exactly for weights that are integers."""

    @abstractmethod
    def _score_sums(self, values: FloatArray) -> FloatArray:
        """Return Sum_y v_y s_x(y) for each input, for ``(..., N)`` values."""

    @abstractmethod
    def _square_sums(self, values: FloatArray) -> FloatArray:
        """Return Sum_y v_y s_x(y)**2 for each input, for ``(..., N)`` values."""

    @property
    def best_guess(self) -> float:
        """(c ``most`` + (N - c) ``least``) / k, where c reports are in a set."""
        k = len(self.inputs)
        reached = int((self._held_weights(np.ones(k, dtype=np.int64)) > 0).sum())
        return float(reached * self.most + (self.n_outputs - reached) * self.least) / k

    def batch_frequencies(self, counts: FloatArray, totals: FloatArray) -> Frequencies:
        """Return the estimates of many tallies, one in each row of the counts."""
        total = totals[:, None]
        return Frequencies(self._score_sums(counts) / total, self._square_sums(counts) / total)

    def expected_counts(self, weights: FloatArray) -> FloatArray:
        """Return the distribution of the report."""
        least, rise = float(self.least), float(self.most - self.least)
        return np.asarray(least * weights.sum() + rise * self._held_weights(weights))

    def score_sum_moments(self, counts: FloatArray, total: float) -> ScoreSumMoments | None:
        """Return the moments of the sum of all scores, by three transforms.

        None where as many sets hold every report, as of a projective space with all its points.
        """
        if np.ptp(self._held_weights(np.ones(len(self.inputs), dtype=np.int64))) == 0:
            return None
        sums = self._combined(np.ones(len(self.inputs)))
        products = self._score_sums(counts * sums) / total
        return ScoreSumMoments(
            float(counts @ sums) / total, float(counts @ sums**2) / total, products
        )

    def _compared(self) -> tuple[list[int], list[tuple[int, int]]]:
        """Return a few inputs, and pairs of their places: every two inputs are like one of these.

        By default any two sets are of one size and meet in one number of reports.
        """
        return [*range(min(len(self.inputs), 3))], [(0, 1)]

    def merged_reports(self) -> MergedReports:
        """Return a few inputs, and the reports by which of their sets hold them, or if all do.

        Two transforms say which sets hold a report.
        """
        few, pairs = self._compared()
        k = len(self.inputs)
        weights = np.zeros(k, dtype=np.int64)
        weights[few] = 1 << np.arange(len(few))
        everywhere = self._held_weights(np.ones(k, dtype=np.int64)) == k
        patterns = self._held_weights(weights) + (everywhere.astype(np.int64) << len(few))
        found, counts = np.unique(patterns, return_counts=True)

        def row(bit: int) -> tuple[Fraction, ...]:
            kinds = zip(counts.tolist(), (found >> bit & 1).tolist(), strict=True)
            return tuple(count * (self.most if held else self.least) for count, held in kinds)

        rows = [row(bit) for bit in range(len(few) + 1)]
        return MergedReports(tuple(rows[:-1]), rows[-1], tuple(pairs), tuple(few))

    def levels(self, prior: Prior) -> list[ProbabilityLevel]:
        """Return both probabilities, with the extremes of P(y) from a transform of the prior."""
        whole, unit = whole_weights(self.fitting_prior(prior))
        k = len(self.inputs)
        weights = np.array(whole, dtype=np.int64 if k * unit < MACHINE else object)
        held = self._held_weights(weights)  # Pr(y in S_X), times the unit
        holders = self._held_weights(np.ones(k, dtype=np.int64))
        rise, found = self.most - self.least, []
        for mass, some in ((self.most, holders > 0), (self.least, holders < k)):
            if some.any():  # a number may be in every set, or in none
                ends = (Fraction(int(end(held[some])), unit) for end in (min, max))
                found.append(ProbabilityLevel(mass, *(self.least + rise * end for end in ends)))
        return found
