"""The contract of mechanisms whose reports are sets of inputs."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from itertools import product
from typing import ClassVar

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.mechanisms.merged_reports import MergedReports
from mechdesign.mechanisms.set_system import LDPMechanism
from mechdesign.mechanisms.subsets.bit_rows import BitRows
from mechdesign.reports import Tally


class ReportedSets(LDPMechanism):
    """A mechanism under LDP whose reports are sets of inputs, with a count for each input.

    Given the input, and whether the set contains it, all other inputs are equivalent.
    """

    alphabet: BitRows
    """The sets of inputs."""

    _independent: ClassVar[bool] = True
    """Whether the other inputs are members independently; else the size of the set is fixed."""

    @property
    @abstractmethod
    def _rest(self) -> tuple[float, float]:
        """The probability of another input in a set with, and in one without, the own input."""

    def combination(self, tally: Tally, weights: FloatArray) -> tuple[float, float]:
        """Return the estimate of a weighted sum, and the mean square of its score.

        Counts of inputs do not record which inputs were in the same report. But given the input z,
        and whether the report contains it, each of the N = k - 1 others is in it with probability
        r, independently or at a fixed size. With A the sum of their weights and B that of their
        squares, the sum of the weights of those in the report has mean r A and variance

            r (1 - r) B      or      r (1 - r) (B - (A**2 - B) / (N - 1)).

        This gives E[S**2 | z], and its mean over z at the estimated frequencies is unbiased, as it
        is linear in them. What these lack to 1, if the size is random, counts as an input of weight
        0. The mean square is raised to the square of the mean if it is smaller.
        """
        estimates, (hit, miss) = self.frequencies(tally).estimates, self._scores
        p, (r_hit, r_miss) = float(self.chances[0]), self._rest
        total, squares = weights.sum() - weights, weights @ weights - weights**2
        others = np.inf if self._independent else max(len(weights) - 2, 1)
        spread = np.maximum(squares - (total**2 - squares) / others, 0) * (hit - miss) ** 2
        given = np.zeros(len(weights))
        for own, chance, r in ((hit, p, r_hit), (miss, 1 - p, r_miss)):
            mean = weights * own + total * (r * hit + (1 - r) * miss)
            given += chance * (mean**2 + r * (1 - r) * spread)
        mean, rest = float(weights @ estimates), float(1 - estimates.sum())
        away = r_miss * (1 - r_miss) * (hit - miss) ** 2 * float(weights @ weights)
        return mean, max(float(given @ estimates) + rest * away, mean**2)

    @abstractmethod
    def _patterns(self, few: int) -> tuple[Fraction, Fraction, list[Fraction]]:
        """Return what a set with and without the own input is worth, and shares of sets.

        Q(y|x) is m(y) times one of the two; the shares are sums of m(y) over the sets that hold
        certain 0, 1, ..., ``few`` of so many inputs.
        """

    def merged_reports(self) -> MergedReports:
        """Return up to three inputs, with sets merged by which of these they contain."""
        few = min(len(self.inputs), 3)
        inside, outside, shares = self._patterns(few)
        found = [bits for bits in product((0, 1), repeat=few) if shares[sum(bits)]]
        least = tuple(shares[sum(bits)] * outside for bits in found)
        columns = [[shares[sum(bits)] * (inside if b else outside) for b in bits] for bits in found]
        return MergedReports(tuple(zip(*columns, strict=True)), least, complete=True)

    def decoding_work(self, n: int) -> float:
        """Return the number of additions to count the bits of the reports."""
        return self.alphabet.counting_work(n)
