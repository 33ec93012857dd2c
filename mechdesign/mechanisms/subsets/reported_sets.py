"""The contract of mechanisms whose reports are sets of inputs."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, expm1, inf, log1p, perm

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.mechanisms.merged_reports import MergedReports
from mechdesign.mechanisms.set_system import LDPMechanism
from mechdesign.mechanisms.subsets.bit_rows import BitRows
from mechdesign.reports import Tally


class ReportedSets(LDPMechanism):
    """A mechanism under LDP whose reports are sets T of inputs, with a count for each input.

    There is a law m of sets that no permutation of the inputs changes, with m(z in T) = r for each
    input z: of all sets of a size j, uniformly, where r = j / k; or of sets of any size, each input
    with probability r = q. With p = Pr(x in T | x), the report of x has this law given whether x is
    in it:

        Q(T|x) = m(T) p / r if x is in T, else m(T) (1 - p) / (1 - r)
    """

    alphabet: BitRows
    """The sets of inputs."""

    @property
    def _rise(self) -> tuple[Fraction, Fraction]:
        """Q(T|x) / m(T) of sets with and without x: p / r, and (1 - p) / (1 - r)."""
        (p, q), size = self.chances, self.alphabet.size
        r = q if size is None else Fraction(size, len(self.inputs))
        return p / r, (1 - p) / (1 - r)

    def largest_ratio(self) -> Fraction:
        """Return p (1 - r) / (r (1 - p))."""
        inside, outside = self._rise
        return inside / outside

    @property
    def best_guess(self) -> float:
        """(p/r (1 - e) + (1 - p)/(1 - r) e) / k, by any input of a set, empty with m(T) = e."""
        (_, q), k = self.chances, len(self.inputs)
        empty = k * log1p(-float(q)) if self.alphabet.size is None else -inf
        inside, outside = map(float, self._rise)
        return (inside * -expm1(empty) + outside * exp(empty)) / k

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
        (p, q), size, k = map(float, self.chances), self.alphabet.size, len(weights)
        r_hit, r_miss = (q, q) if size is None else ((size - 1) / (k - 1), size / (k - 1))
        total, squares = weights.sum() - weights, weights @ weights - weights**2
        others = inf if size is None else max(k - 2, 1)
        spread = np.maximum(squares - (total**2 - squares) / others, 0) * (hit - miss) ** 2
        given = np.zeros(len(weights))
        for own, chance, r in ((hit, p, r_hit), (miss, 1 - p, r_miss)):
            mean = weights * own + total * (r * hit + (1 - r) * miss)
            given += chance * (mean**2 + r * (1 - r) * spread)
        mean, rest = float(weights @ estimates), float(1 - estimates.sum())
        away = r_miss * (1 - r_miss) * (hit - miss) ** 2 * float(weights @ weights)
        return mean, max(float(given @ estimates) + rest * away, mean**2)

    def merged_reports(self) -> MergedReports:
        """Return up to three inputs, with sets merged by which of these they contain."""
        k, size, q = len(self.inputs), self.alphabet.size, self.chances[1]
        few = min(k, 3)
        if size is None:
            shares = [q**n * (1 - q) ** (few - n) for n in range(few + 1)]
        else:
            ways = (perm(size, n) * perm(k - size, few - n) for n in range(few + 1))
            shares = [Fraction(n, perm(k, few)) for n in ways]
        inside, outside = self._rise
        found = [bits for bits in product((0, 1), repeat=few) if shares[sum(bits)]]
        least = tuple(shares[sum(bits)] * outside for bits in found)
        columns = [[shares[sum(bits)] * (inside if b else outside) for b in bits] for bits in found]
        return MergedReports(tuple(zip(*columns, strict=True)), least, complete=True)

    def decoding_work(self, n: int) -> float:
        """Return the approximate number of additions to count n reports, 16 bits at a time."""
        return n * (1 + len(self.inputs) / 16)
