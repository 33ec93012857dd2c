"""Base class of mechanisms whose probabilities take two values: what high-low schemes build on."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mechdesign._typing import AnyArray, FloatArray
from mechdesign.mechanisms.base import Mechanism
from mechdesign.prior import Prior
from mechdesign.sampling import Source

__all__ = ["ProbabilityLevel", "ScoreSumMoments", "TwoValuedMechanism"]


class ProbabilityLevel(NamedTuple):
    """One of the probabilities that a report may have, and how likely such reports are.

    ``lowest`` and ``highest`` bound P(y), tightly, over the reports y to which some input gives
    the probability ``mass``.
    """

    mass: Fraction
    lowest: Fraction
    highest: Fraction


class ScoreSumMoments(NamedTuple):
    """Moments of the sum t(y) = Sum_x s_x(y) of all scores, as means over reports.

    ``mean`` and ``square`` are those of t and t**2, ``products`` has those of s_x t.
    """

    mean: float
    square: float
    products: FloatArray


class TwoValuedMechanism(Mechanism):
    """Report y with probability ``most`` if it is in the set of the input, else ``least``."""

    @property
    @abstractmethod
    def most(self) -> Fraction:
        """The probability of a report in the set of the input."""

    @property
    @abstractmethod
    def least(self) -> Fraction:
        """The probability of any other report."""

    @abstractmethod
    def _holds(self, x: int, report: AnyArray) -> bool:
        """Return whether a report, given as an array of one, is in the set of input number x."""

    def _shares(self, prior: Prior) -> tuple[Fraction, Fraction]:
        """Return the extremes over the reports of how likely the set of the input holds them."""
        raise NotImplementedError

    def mass(self, x: int, report: AnyArray) -> Fraction:
        """Return the probability of a report."""
        return self.most if self._holds(x, report) else self.least

    def largest_ratio(self) -> Fraction:
        """Return ``most`` / ``least``."""
        return self.most / self.least

    @property
    def uniform_score(self) -> Fraction:
        """The mean of each score under a uniform report, alike: 1/k where all scores sum to 1."""
        return Fraction(1, len(self.inputs))

    def uniform_counts(self) -> FloatArray:
        """Return the expected counts of a uniform report."""
        return np.full(self.alphabet.n_counts, 1 / self.n_outputs)

    @abstractmethod
    def draw_uniform(self, count: int, source: Source) -> AnyArray:
        """Return reports that are uniform, independent of any input."""

    def levels(self, prior: Prior) -> list[ProbabilityLevel]:
        """Return the probabilities that occur, each with the extremes of P(y).

        P(y) is least + (most - least) Pr(y is in the set of X).
        """
        shares = self._shares(self.fitting_prior(prior))
        ends = [self.least + (self.most - self.least) * share for share in shares]
        return [ProbabilityLevel(self.most, *ends), ProbabilityLevel(self.least, *ends)]

    def lifts(self, prior: Prior) -> tuple[Fraction, Fraction]:
        """Return the extremes of Q(y|x) / P(y), each attained at a report of one level."""
        levels = self.levels(prior)
        lows = [level.mass / level.highest for level in levels]
        return min(lows), max(level.mass / level.lowest for level in levels)

    def score_sum_moments(self, counts: FloatArray, total: float) -> ScoreSumMoments | None:
        """Return the moments of the sum of all scores; None if it is 1 at every report.

        Parameters
        ----------
        counts, total
            The counts of reports, and how many reports there are.
        """
        return None
