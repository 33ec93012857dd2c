"""Generalized (k-ary) randomized response on a large domain (Kairouz et al. 2016)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.domain import Domain
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import WHOLE, Frequencies, held_mass, informative, inputs_of
from mechdesign.mechanisms.composite.protocols import ProbabilityLevel
from mechdesign.mechanisms.ldp_scores import LDPMechanism, two_scores
from mechdesign.notions import LDP
from mechdesign.prior import Prior
from mechdesign.reports import Labels, Tally
from mechdesign.sampling import Source, below, chances

__all__ = ["GeneralizedRandomizedResponse"]


class GeneralizedRandomizedResponse(LDPMechanism):
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
    >>> grr.leakage <= 1
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
    def alphabet(self) -> Labels:
        """The inputs."""
        return self._alphabet

    @property
    def n_counts(self) -> int:
        """One for each input."""
        return self._k

    @property
    def n_outputs(self) -> int:
        """As many as there are inputs."""
        return self._k

    @property
    def most(self) -> Fraction:
        """The probability of the truth."""
        return Fraction(self._own, WHOLE)

    @property
    def least(self) -> Fraction:
        """The probability of each other input."""
        return Fraction(self._other, WHOLE)

    @property
    def uniform_score(self) -> Fraction:
        """The mean of each score under a uniform report: 1/k, as all scores sum to 1."""
        return Fraction(1, self._k)

    def parameters(self) -> dict[str, Any]:
        """Return the masses of the truth and of each other input."""
        return {"own": self._own, "other": self._other}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports: input numbers."""
        # the masses of the others come first, o each; what is left is the truth's
        step = chances(source, len(codes), 62).view(np.uint64)
        step //= np.uint64(self._other)
        np.minimum(step, np.uint64(self._k - 1), out=step)
        step += codes.view(np.uint64)
        step += np.uint64(1)  # codes + 1 .. codes + k, the last for the truth
        wrapped = step - np.uint64(self._k)  # very large where it is below 0
        np.minimum(step, wrapped, out=wrapped)
        return wrapped.view(np.int64)

    def draw_uniform(self, count: int, source: Source) -> AnyArray:
        """Return uniform inputs."""
        return below(source, count, self._k)

    def listed(self) -> AnyArray:
        """Return all inputs."""
        return np.arange(self._k)

    def mass(self, x: int, report: AnyArray) -> Fraction:
        """Return the probability of a report."""
        return self.most if int(report[0]) == x else self.least

    def count(self, data: AnyArray) -> Int64Array:
        """Return how often each input was reported."""
        return np.bincount(data, minlength=self._k).astype(np.int64)

    def batch_frequencies(self, counts: FloatArray, totals: FloatArray) -> Frequencies:
        """Return the estimates of many tallies, one in each row of the counts."""
        hit, p, q = counts / totals[:, None], self._own / WHOLE, self._other / WHOLE
        score, miss = (1 - q) / (p - q), -q / (p - q)
        return two_scores(hit, score, miss)

    def combination(self, tally: Tally, weights: FloatArray) -> tuple[float, float]:
        """Return the estimate of a weighted sum, and the mean square of its score."""
        counts, total = self.counted(tally, self._k)
        p, q = self._own / WHOLE, self._other / WHOLE
        scores = (weights - q * weights.sum()) / (p - q)
        return float(counts @ scores) / total, float(counts @ scores**2) / total

    def largest_ratio(self) -> Fraction:
        """Return own / other."""
        return Fraction(self._own, self._other)

    def levels(self, prior: Prior) -> list[ProbabilityLevel]:
        """Return both probabilities; P(y) is other + (own - other) P_y."""
        prior = self.fitting_prior(prior)
        ends = [self.least + (self.most - self.least) * end(prior) for end in (min, max)]
        return [ProbabilityLevel(self.most, *ends), ProbabilityLevel(self.least, *ends)]

    def lifts(self, prior: Prior) -> tuple[Fraction, Fraction]:
        """Return the extremes of Q(y|x) / P(y)."""
        truth, lie = self.levels(prior)
        return lie.mass / lie.highest, truth.mass / truth.lowest
