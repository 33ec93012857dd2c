"""The base class of mechanisms under LDP, whose inputs are all bounded by one ratio."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.mechanisms.base import Frequencies, Mechanism
from mechdesign.notions import LDP
from mechdesign.reports import Tally

__all__ = ["LDPMechanism", "two_scores"]


class LDPMechanism(Mechanism):
    """A mechanism whose largest ratio is that of every two inputs, and that reads many tallies."""

    _notion: LDP

    @property
    def privacy(self) -> LDP:
        """LDP."""
        return self._notion

    @property
    @abstractmethod
    def n_counts(self) -> int:
        """How many counts a tally has."""

    @abstractmethod
    def batch_frequencies(self, counts: FloatArray, totals: FloatArray) -> Frequencies:
        """Return the estimates of many tallies, one in each row of the counts."""

    def frequencies(self, tally: Tally) -> Frequencies:
        """Return unbiased estimates."""
        counts, total = self.counted(tally, self.n_counts)
        found = self.batch_frequencies(counts[None], np.array([float(total)]))
        return Frequencies(found.estimates[0], found.squares[0])

    def ratio(self, x: int, other: int) -> Fraction:
        """Return the largest ratio of two rows."""
        return Fraction(1) if x == other else self.largest_ratio()


def two_scores(hit: FloatArray, score: float | FloatArray, miss: float | FloatArray) -> Frequencies:
    """Return the mean scores, and their mean squares, of inputs that a share of reports hit.

    Parameters
    ----------
    hit
        How frequent each input is among the reports.
    score, miss
        The score of an input that is in a report, and of one that is not.
    """
    return Frequencies(hit * score + (1 - hit) * miss, hit * score**2 + (1 - hit) * miss**2)
