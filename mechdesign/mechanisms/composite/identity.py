"""The identity mechanism, a part of composite mechanisms for inputs that need no protection."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.domain import Domain
from mechdesign.mechanisms.base import Frequencies, Mechanism
from mechdesign.mechanisms.composite.protocols import ProbabilityLevel
from mechdesign.notions import BlockLDP
from mechdesign.prior import Prior
from mechdesign.reports import Labels, Tally
from mechdesign.sampling import Source

__all__ = ["IdentityMechanism"]


class IdentityMechanism(Mechanism):
    """Report the input: Q[x, x] = 1, with the score 1{y = x}.

    Of one input it says nothing: the one report there is.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; one input is enough.

    Examples
    --------
    >>> IdentityMechanism(1).bits_per_report
    0.0
    """

    name = "in-clear"
    source = "the identity channel"

    def __init__(self, inputs: Domain | Iterable[Any] | int) -> None:
        if isinstance(inputs, Domain):
            self.inputs = inputs
        else:
            self.inputs = Domain(inputs) if isinstance(inputs, Iterable) else Domain.range(inputs)
        self._k = len(self.inputs)
        self._alphabet = Labels(self.inputs)

    @property
    def privacy(self) -> BlockLDP:
        """Every input is a block of its own."""
        return BlockLDP(0, blocks=[[label] for label in self.inputs])

    @property
    def alphabet(self) -> Labels:
        """The inputs."""
        return self._alphabet

    @property
    def n_outputs(self) -> int:
        """As many as there are inputs."""
        return self._k

    @property
    def most(self) -> Fraction:
        """1."""
        return Fraction(1)

    @property
    def uniform_score(self) -> Fraction:
        """The mean of a score if the report were uniform: 1/k."""
        return Fraction(1, self._k)

    def parameters(self) -> dict[str, Any]:
        """Return nothing: there is no parameter."""
        return {}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Return the input numbers."""
        return codes.copy()

    def draw_uniform(self, count: int, source: Source) -> AnyArray:
        """Return the one report that there is; for one input only."""
        return np.zeros(count, dtype=np.int64)

    def listed(self) -> AnyArray:
        """Return all inputs."""
        return np.arange(self._k)

    def mass(self, x: int, report: AnyArray) -> Fraction:
        """Return 1 for the input, else 0."""
        return Fraction(int(int(report[0]) == x))

    def count(self, data: AnyArray) -> Int64Array:
        """Return how often each input was reported."""
        return np.bincount(data, minlength=self._k).astype(np.int64)

    def frequencies(self, tally: Tally) -> Frequencies:
        """Return the frequencies as they are."""
        counts, total = self.counted(tally, self._k)
        return Frequencies(counts / total, counts / total)

    def batch_frequencies(self, counts: FloatArray, totals: FloatArray) -> Frequencies:
        """Return the frequencies of many tallies."""
        share = counts / totals[:, None]
        return Frequencies(share, share)

    def combination(self, tally: Tally, weights: FloatArray) -> tuple[float, float]:
        """Return the weighted sum, and the mean square of the weights."""
        counts, total = self.counted(tally, self._k)
        return float(counts @ weights) / total, float(counts @ weights**2) / total

    def ratio(self, x: int, other: int) -> Fraction | None:
        """Return 1 for one input, None for two."""
        return Fraction(1) if x == other else None

    def largest_ratio(self) -> Fraction:
        """Return 1, the ratio inside a block of one."""
        return Fraction(1)

    def levels(self, prior: Prior) -> list[ProbabilityLevel]:
        """Return the probability 1 of the one report; for one input only."""
        return [ProbabilityLevel(Fraction(1), Fraction(1), Fraction(1))]

    def lifts(self, prior: Prior) -> tuple[Fraction, Fraction]:
        """Return the extremes of 1{y = x} / P_y."""
        prior = self.fitting_prior(prior)
        least = min(p for p in prior if p)
        return Fraction(int(self._k == 1)), 1 / least
