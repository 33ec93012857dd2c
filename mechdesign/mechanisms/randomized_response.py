"""k-ary randomized response on a large domain."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.domain import Domain
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import (
    WHOLE,
    Data,
    FloatArray,
    Frequencies,
    IntArray,
    Mechanism,
    held_mass,
    informative,
    inputs_of,
)
from mechdesign.notions import LDP
from mechdesign.prior import Prior
from mechdesign.reports import Labels, Tally
from mechdesign.sampling import Source, chances

__all__ = ["GeneralizedRandomizedResponse"]


class GeneralizedRandomizedResponse(Mechanism):
    """Report the truth with odds e**epsilon against any other one input (GRR).

        Q[x, x] = e**eps / (e**eps + k - 1),      Q[x, y] = 1 / (e**eps + k - 1)

    One draw of 62 bits: the mass of each other input is a whole number o, the rest is the truth's.
    The score 1{y = x} is scaled: s_x(y) = (1{y = x} - q) / (p - q).

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    epsilon
        The budget in nats, > 0.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Source: Kairouz, Bonawitz and Ramage 2016.

    Examples
    --------
    >>> grr = GeneralizedRandomizedResponse(["a", "b", "c"], 1)
    >>> grr
    GeneralizedRandomizedResponse(3 inputs, LDP(epsilon=1), 1.585 bits a report)
    >>> float(grr.probability("a", "a") / grr.probability("b", "a"))
    2.718281828459045
    >>> grr.leakage <= 1 + 1e-15
    True
    """

    name = "randomized-response"
    source = "Kairouz, Bonawitz and Ramage 2016"

    def __init__(self, inputs: Domain | Iterable[Any] | int, epsilon: Exact) -> None:
        self.inputs = inputs_of(inputs)
        self._notion = informative(LDP(epsilon))
        self._k = len(self.inputs)
        others = WHOLE - held_mass(self._notion.epsilon, 1, self._k - 1)
        self._other = -(-others // (self._k - 1))
        self._own = WHOLE - (self._k - 1) * self._other
        self._alphabet = Labels(self.inputs)

    @property
    def privacy(self) -> LDP:
        """LDP."""
        return self._notion

    @property
    def alphabet(self) -> Labels:
        """The inputs."""
        return self._alphabet

    @property
    def n_outputs(self) -> int:
        """As many as there are inputs."""
        return self._k

    def law(self) -> dict[str, Any]:
        """Return the masses of the truth and of each other input."""
        return {"own": self._own, "other": self._other}

    def draw(self, codes: IntArray, source: Source) -> Data:
        """Draw reports: input numbers."""
        excess = chances(source, len(codes), 62) - self._own
        step = excess // self._other + 1  # 1..k-1 where another input is reported
        drawn = codes + np.where(excess < 0, 0, step)
        drawn -= np.where(drawn >= self._k, self._k, 0)
        return drawn

    def listed(self) -> Data:
        """Return all inputs."""
        return np.arange(self._k)

    def mass(self, x: int, report: Data) -> Fraction:
        """Return the probability of a report."""
        return Fraction(self._own if int(report[0]) == x else self._other, WHOLE)

    def count(self, data: Data) -> IntArray:
        """Return how often each input was reported."""
        return np.bincount(data, minlength=self._k).astype(np.int64)

    def frequencies(self, tally: Tally) -> Frequencies:
        """Return unbiased estimates."""
        counts, total = self.counted(tally, self._k)
        hit, p, q = counts / total, self._own / WHOLE, self._other / WHOLE
        score, miss = (1 - q) / (p - q), -q / (p - q)
        return Frequencies(hit * score + (1 - hit) * miss, hit * score**2 + (1 - hit) * miss**2)

    def combination(self, tally: Tally, weights: FloatArray) -> tuple[float, float]:
        """Return the estimate of a weighted sum, and the mean square of its score."""
        counts, total = self.counted(tally, self._k)
        p, q = self._own / WHOLE, self._other / WHOLE
        scores = (weights - q * weights.sum()) / (p - q)
        return float(counts @ scores) / total, float(counts @ scores**2) / total

    def ratio(self, x: int, other: int) -> Fraction:
        """Return the largest ratio of two rows."""
        return Fraction(1) if x == other else self.largest_ratio()

    def largest_ratio(self) -> Fraction:
        """Return own / other."""
        return Fraction(self._own, self._other)

    def lifts(self, prior: Prior) -> tuple[Fraction, Fraction]:
        """Return the extremes of Q(y|x) / (other + (own - other) P_y)."""
        self.check_prior(prior)
        below = self._other + (self._own - self._other) * max(prior)
        above = self._other + (self._own - self._other) * min(prior)
        return Fraction(self._other / below), Fraction(self._own / above)
