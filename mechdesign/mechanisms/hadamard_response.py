"""Hadamard response (Acharya, Sun and Zhang 2019), decoded by a fast Walsh-Hadamard transform."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.domain import Domain
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import (
    WHOLE,
    held_mass,
    whole_weights,
)
from mechdesign.mechanisms.two_score import LDPMechanism
from mechdesign.mechanisms.two_valued import ProbabilityLevel, ScoreSumMoments, TwoValuedMechanism
from mechdesign.mechanisms.walsh import parity, walsh_hadamard
from mechdesign.prior import Prior
from mechdesign.reports import Numbers, Tally
from mechdesign.sampling import Source, chances

__all__ = ["HadamardResponse"]


class HadamardResponse(LDPMechanism, TwoValuedMechanism):
    """Report a number y of K that is e**epsilon times likelier if H_K[x + 1, y] = +1.

        K = 2**ceil(log2(k + 1)),      S_x = {y : popcount(y & (x + 1)) even}, of K/2 numbers
        Q[x, y] = 2 e**eps / (K (1 + e**eps)) on S_x,      2 / (K (1 + e**eps)) off it

    Any two of these sets meet in K/4 numbers, so that a report of another input lies in S_x with
    probability 1/2: s_x(y) = H[x + 1, y] / (2p - 1), with p = Pr(Y in S_x | x). All estimates
    together are one Walsh-Hadamard transform of the counts.

    One random word determines a draw: a uniform number below K, and whether it has to be in S_x. If
    it is on the wrong side, one of its bits that is set in x + 1 is flipped, which makes it uniform
    on the other side.

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
    Source: Acharya, Sun and Zhang 2019; Acharya et al. 2020, Section 4.

    Examples
    --------
    >>> cells = HadamardResponse(43_750, 1)
    >>> cells
    HadamardResponse(43750 inputs, LDP(epsilon=1), 16 bits a report)
    >>> reports = cells.privatize([7] * 10_000, rng=3)
    >>> estimate = cells.frequencies(cells.tally(reports)).estimates
    >>> bool(abs(estimate[7] - 1) < 0.1)
    True
    """

    name = "hadamard-response"
    source = "Acharya, Sun and Zhang 2019"

    def __init__(self, inputs: Domain | Iterable[Any] | int, epsilon: Exact) -> None:
        super().__init__(inputs, epsilon)
        self._digits = len(self.inputs).bit_length()  # 2**digits is at least k + 1
        self._size = 1 << self._digits
        half = self._size // 2
        self._held = held_mass(self._notion.epsilon, half, half, step=half)
        self.alphabet = Numbers(self._size)

    @property
    def most(self) -> Fraction:
        """The largest probability of a report."""
        return Fraction(2 * self._held, self._size * WHOLE)

    @property
    def least(self) -> Fraction:
        """The least probability of a report."""
        return Fraction(2 * (WHOLE - self._held), self._size * WHOLE)

    @property
    def uniform_score(self) -> Fraction:
        """The mean of each score under a uniform report: 0, as S_x is one half of the numbers."""
        return Fraction(0)

    def parameters(self) -> dict[str, Any]:
        """Return K, and the mass that S_x holds at x."""
        return {"size": self._size, "held": self._held}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports: numbers below K."""
        word = source.words(len(codes))
        number = (word & np.uint64(self._size - 1)).view(np.int64)
        chance = (word >> np.uint64(self._digits)).view(np.int64)  # of the masses in units of K/2
        chance &= (1 << 62 - (self._digits - 1)) - 1
        wanted = chance >= self._held // (self._size // 2)  # outside S_x, where the parity is odd
        row = codes + 1
        flip = (parity(number & row) != wanted).astype(np.int64)
        number ^= flip * (row & -row)
        return number

    def draw_uniform(self, count: int, source: Source) -> AnyArray:
        """Return uniform numbers below K."""
        return chances(source, count, self._digits)

    def mass(self, x: int, report: AnyArray) -> Fraction:
        """Return the probability of a report."""
        odd = (int(report[0]) & (x + 1)).bit_count() % 2
        return self.least if odd else self.most

    def _scores(self) -> tuple[float, float]:
        scale = WHOLE / (2 * self._held - WHOLE)
        return scale, -scale

    def _hits(self, counts: FloatArray, totals: FloatArray) -> FloatArray:
        """Return the shares of the reports in each S_x, by one transform for each tally."""
        sums = walsh_hadamard(counts.astype(np.int64))[:, 1 : len(self.inputs) + 1]
        return np.asarray((1 + sums / totals[:, None]) / 2)

    def _combined(self, weights: FloatArray) -> FloatArray:
        placed = np.zeros(self._size)
        placed[1 : len(self.inputs) + 1] = weights
        return np.asarray(walsh_hadamard(placed) * self._scores()[0])

    def score_sum_moments(self, tally: Tally) -> ScoreSumMoments:
        """Return the moments of the sum of all scores, by two transforms."""
        counts, total = self.counted(tally)
        sums, (scale, _) = self._combined(np.ones(len(self.inputs))), self._scores()
        products = walsh_hadamard(counts * sums)[1 : len(self.inputs) + 1] * scale / total
        return ScoreSumMoments(
            float(counts @ sums) / total, float(counts @ sums**2) / total, products
        )

    def largest_ratio(self) -> Fraction:
        """Return the ratio of a probability on S_x and off it."""
        return Fraction(self._held, WHOLE - self._held)

    def levels(self, prior: Prior) -> list[ProbabilityLevel]:
        """Return both probabilities, with the extremes of P(y) from a transform of the prior."""
        prior = self.fitting_prior(prior)
        weights = np.zeros(self._size, dtype=object)
        weights[1 : len(self.inputs) + 1], unit = whole_weights(prior)
        inputs = np.zeros(self._size, dtype=np.int64)
        inputs[1 : len(self.inputs) + 1] = 1
        signed = walsh_hadamard(weights)  # Sum_x P_x H[x + 1, y], times the unit
        surplus = walsh_hadamard(inputs)  # how many more inputs have y in their set than not
        mean, swing = Fraction(1, self._size), Fraction(2 * self._held - WHOLE, WHOLE * self._size)
        found = []
        for mass, some in (
            (self.most, surplus > -len(self.inputs)),
            (self.least, surplus < len(self.inputs)),
        ):
            ends = (Fraction(end(signed[some]), unit) for end in (min, max))
            found.append(ProbabilityLevel(mass, *(mean + swing * end for end in ends)))
        return found
