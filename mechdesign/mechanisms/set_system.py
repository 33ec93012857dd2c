"""Mechanisms with a set of likelier reports for each input, and their least l2 risk.

Each input x has a set S_x of reports, the hits. A mechanism defines the sets, the probability of a
hit, and the sampling; its probabilities and its estimates follow: the score of x has one value at
hits and another at misses, with mean 1{z = x} at every input z.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.domain import Domain, DomainLike
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import (
    WHOLE,
    Frequencies,
    Mechanism,
    MergedReports,
    informative,
    inputs_of,
)
from mechdesign.notions import LDP
from mechdesign.sampling import Source, below


def _risks(k: int, epsilon: Fraction | float) -> FloatArray:
    """Return the risk of subset selection for each size from 1 to k - 1."""
    j, per_rise = np.arange(1.0, max(2, k)), math.exp(-epsilon) / -math.expm1(-epsilon)
    risks: FloatArray = (k - 1) ** 2 / k * (k * per_rise + j) ** 2 / (j * np.maximum(k - j, 1))
    return risks


def best_size(k: int, epsilon: Fraction | float) -> int:
    """Return the size of the sets with the least variance for k inputs, at the uniform prior.

    Examples
    --------
    >>> [best_size(10, Fraction(epsilon)) for epsilon in ("0.5", "1", "2")]
    [4, 3, 1]
    >>> best_size(1000, Fraction(1))
    269
    """
    return 1 + int(np.argmin(_risks(k, epsilon)))


def least_ldp_risk(k: int, epsilon: Fraction) -> float:
    """Return the least l2 risk of k inputs under LDP, at the uniform prior.

    The number of reports times the total variance of the best unbiased linear estimates is at least

        min_j (k - 1)**2 / k * (j e**eps + k - j)**2 / (j (k - j) (e**eps - 1)**2)

    for every channel under LDP, and subset selection attains it.

    Notes
    -----
    Source: Ye and Barg 2018.

    Examples
    --------
    >>> [round(least_ldp_risk(k, Fraction(1)), 5) for k in (3, 4)]
    [5.02675, 8.30622]
    """
    return float(_risks(k, epsilon).min()) if k > 1 else 0.0


def least_block_risk(sizes: list[int], epsilon: Fraction) -> float:
    """Return the least l2 risk under block-structured LDP, at the uniform prior on all blocks.

    M is block diagonal, so the blocks are separate problems: the mean squares of the scores of a
    block of s inputs sum to its least risk plus 1/s, and it gets s/k of the reports.

    Examples
    --------
    >>> round(least_block_risk([4, 4], Fraction(1)), 5)
    8.43122
    """
    k, known = sum(sizes), {s: least_ldp_risk(s, epsilon) for s in set(sizes)}
    return sum(s / k * (known[s] + 1 / s) for s in sizes) - 1 / k


def best_high_low_size(k: int, s: int, epsilon: Fraction) -> int:
    """Return the subset size of least l2 risk for k equally likely inputs.

    Examples
    --------
    >>> best_high_low_size(20, 5, Fraction(1)), best_high_low_size(8, 4, Fraction(1))
    (2, 1)
    """
    return 1 + int(np.argmin(_high_low_risks(k, s, epsilon)))


def least_high_low_risk(k: int, s: int, epsilon: Fraction) -> float:
    """Return the least l2 risk of subset selection for 2 or more sensitive inputs.

    It exceeds the least risk of all channels by at most a few thousandths.

    Examples
    --------
    >>> round(least_high_low_risk(20, 5, Fraction(1)), 4)
    10.9886
    """
    return float(_high_low_risks(k, s, epsilon).min())


def _high_low_risks(k: int, s: int, epsilon: Fraction) -> FloatArray:
    """Return n times the total variance of the estimates at the uniform prior, for each size."""
    a, phi, mu = high_low_terms(np.arange(1.0, s), s, math.exp(-epsilon), 1 / k)
    rest = 1 - s / k
    risks: FloatArray = (s - 1) / a + (rest - 1 / k) / phi + (rest / s + 1 / k) / mu
    return risks


def high_low_terms(j: FloatArray | int, s: int, low: float, p: float) -> FloatArray:
    """Return a, phi and mu P_B of the closed form HighLowSubsetSelection, for sets of j.

    ``low`` is e**-epsilon, and p the probability of each of the s sensitive inputs.
    """
    rise = -math.expm1(math.log(low))
    spread, mass = s * low + j * rise, low + j * rise * p
    a = rise**2 * j * (s - j) / (max(1, s - 1) * spread * mass)
    return np.array([a, j * rise / spread, j * rise / (s * mass)])


TOLERANCE = 0.01
"""Relative increase of the risk accepted for fewer reports."""


class ScoredMechanism(Mechanism):
    """A mechanism whose score of an input has one value at hits and one at misses.

    By default a tally counts the hits of each input.
    """

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """The exact p and q: the probabilities that a report hits its input, and any other one."""
        raise NotImplementedError

    @cached_property
    def _scores(self) -> tuple[Any, Any]:
        """The scores of a hit and of a miss: a number for all inputs, or one for each."""
        p, q = self.chances
        return float((1 - q) / (p - q)), float(-q / (p - q))

    def _hits(self, counts: AnyArray) -> AnyArray:
        """Return the sums of ``(..., n_counts)`` counts over the hits of each input."""
        return counts

    def _score_sums(self, counts: FloatArray, totals: FloatArray) -> Frequencies:
        """Return the sums of all scores and of their squares."""
        hits, (hit, miss) = self._hits(counts), self._scores
        misses = totals[:, None] - hits
        return Frequencies(hits * hit + misses * miss, hits * hit**2 + misses * miss**2)

    def batch_frequencies(self, counts: FloatArray, totals: FloatArray) -> Frequencies:
        """Return the estimates of many tallies, one in each row of the counts."""
        return self._score_sums(counts / totals[:, None], np.ones(len(totals)))

    def expected_counts(self, weights: FloatArray) -> FloatArray:
        """Return the probability of a hit of each input, from the unbiasedness of the scores."""
        hit, miss = self._scores
        return np.asarray((weights - miss * weights.sum()) / (hit - miss))

    def _held(self, weights: AnyArray) -> AnyArray:
        """Return Sum_x w_x 1{y hits x} for each report y; by default y hits the input y alone."""
        return weights

    def _combined(self, weights: FloatArray) -> FloatArray:
        """Return Sum_x w_x s_x(y) for each report y."""
        hit, miss = self._scores
        return np.asarray(self._held(weights * (hit - miss)) + (weights * miss).sum())


class LDPMechanism(ScoredMechanism):
    """A mechanism under LDP whose largest ratio is the same for all pairs of inputs."""

    options: ClassVar[Mapping[str, int | None]] = {}
    """Arguments other than inputs and epsilon, with their defaults; the saved parameters have the
    same names, and omit defaults."""

    _notion: LDP

    def __init__(self, inputs: DomainLike, epsilon: Exact) -> None:
        self.inputs = inputs_of(inputs)
        self._notion = informative(LDP(epsilon), LDP)

    @classmethod
    def restored(cls, inputs: Domain, notion: LDP, parameters: Mapping[str, Any]) -> LDPMechanism:
        """Return the mechanism of saved parameters."""
        make: Callable[..., LDPMechanism] = cls
        options = {key: parameters.get(key, usual) for key, usual in cls.options.items()}
        return make(inputs, notion.epsilon, **options)

    @property
    def least_known_risk(self) -> float:
        """The least l2 risk of all channels under LDP, at the uniform prior (Ye and Barg 2018)."""
        return least_ldp_risk(len(self.inputs), self._notion.epsilon)

    @property
    @abstractmethod
    def best_guess(self) -> float:
        """The probability that the best guess of a uniform input from one report is right.

        That is Sum_y max_x Q(y|x) / k, up to floating point; 1/k without a report.
        """

    def decoding_work(self, n: int) -> float:
        """Return the approximate number of additions for the estimates from n reports."""
        return float(n + self.alphabet.n_counts)


class SetMechanism(LDPMechanism):
    """Report y with probability ``most`` if it is in the set of the input, else ``least``.

    ``held`` is the mass of S_x at x, in units of 2**-62; ``odds`` are the numbers of reports in and
    outside of a set, up to a common factor.
    """

    held: int
    odds: tuple[int, int]

    @property
    def most(self) -> Fraction:
        """The probability of a report in the set of the input."""
        on, off = self.odds
        return Fraction(self.held * (on + off), WHOLE * on * self.n_outputs)

    @property
    def least(self) -> Fraction:
        """The probability of any other report."""
        on, off = self.odds
        return Fraction((WHOLE - self.held) * (on + off), WHOLE * max(off, 1) * self.n_outputs)

    def largest_ratio(self) -> Fraction:
        """Return ``most`` / ``least``."""
        on, off = self.odds
        return Fraction(self.held * off, (WHOLE - self.held) * on)

    @abstractmethod
    def _holds(self, x: int, report: AnyArray) -> bool:
        """Return whether one report, as an array of length 1, is in the set of input index x."""

    def mass(self, x: int, report: AnyArray) -> Fraction:
        """Return the probability of a report."""
        return self.most if self._holds(x, report) else self.least

    @property
    def uniform_score(self) -> float:
        """The mean of each score under a uniform report, equal for all inputs."""
        (on, off), (p, q) = self.odds, self.chances
        return float((Fraction(on, on + off) - q) / (p - q))

    @abstractmethod
    def uniform_counts(self) -> FloatArray:
        """Return the expected counts of a uniform report."""

    @abstractmethod
    def draw_uniform(self, count: int, source: Source) -> AnyArray:
        """Return uniform reports, independent of any input."""

    def score_products(self, _counts: FloatArray, _total: float) -> FloatArray | None:
        """Return the means of s_x(y) Sum_z s_z(y) over reports; None if that sum is always 1."""
        return None


class NumberedSets(SetMechanism):
    """Mechanisms whose reports are numbers, with a count for each.

    A subclass has fast transforms: :meth:`_hits`, sums over all S_x, and its transpose
    :meth:`_held`, exact for integers.
    """

    _are_alike: ClassVar[bool] = False
    """Whether the sets are invariant under every permutation of the inputs."""

    @cached_property
    def _holders(self) -> Int64Array:
        """The number of sets that contain each report."""
        return self._held(np.ones(len(self.inputs), dtype=np.int64))

    @property
    def best_guess(self) -> float:
        """(c ``most`` + (N - c) ``least``) / k, where c reports are in a set."""
        reached = int((self._holders > 0).sum())
        mass = reached * self.most + (self.n_outputs - reached) * self.least
        return float(mass) / len(self.inputs)

    def expected_counts(self, weights: FloatArray) -> FloatArray:
        """Return the distribution of the report."""
        least, rise = float(self.least), float(self.most - self.least)
        return np.asarray(least * weights.sum() + rise * self._held(weights))

    def uniform_counts(self) -> FloatArray:
        """Return 1/N for each report."""
        return np.full(self.n_outputs, 1 / self.n_outputs)

    def draw_uniform(self, count: int, source: Source) -> AnyArray:
        """Return uniform numbers."""
        return below(source, count, self.n_outputs)

    def score_products(self, counts: FloatArray, total: float) -> FloatArray | None:
        """Return the means of s_x(y) Sum_z s_z(y), by three transforms.

        None if every report is in equally many sets, as in a projective space with all its points.
        """
        if np.ptp(self._holders) == 0:
            return None
        values = counts * self._combined(np.ones(len(self.inputs))) / total
        return np.asarray(self._score_sums(values[None], np.array([values.sum()])).estimates[0])

    def _compared(self) -> tuple[list[int], list[tuple[int, int]]]:
        """Return a few inputs, and pairs of them that represent all pairs of inputs.

        By default all sets have the same size, and all pairs the same number of common reports.
        """
        return [*range(min(len(self.inputs), 3))], [(0, 1)]

    def merged_reports(self) -> MergedReports:
        """Return a few inputs, and reports merged by their membership in these sets, or in all.

        Two transforms give the membership of each report.
        """
        few, pairs = self._compared()
        weights = np.zeros(len(self.inputs), dtype=np.int64)
        weights[few] = 1 << np.arange(len(few))
        everywhere = (self._holders == len(self.inputs)).astype(np.int64)
        found, counts = np.unique(
            self._held(weights) + (everywhere << len(few)), return_counts=True
        )

        def row(bit: int) -> tuple[Fraction, ...]:
            kinds = zip(counts.tolist(), (found >> bit & 1).tolist(), strict=True)
            return tuple(count * (self.most if held else self.least) for count, held in kinds)

        *rows, least = (row(bit) for bit in range(len(few) + 1))
        return MergedReports(tuple(rows), least, tuple(pairs), tuple(few), self._are_alike)
