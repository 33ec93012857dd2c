"""Unary encoding (Wang et al. 2017): a report is one independent bit for each input."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from mechdesign._typing import AnyArray, ByteArray, Int64Array
from mechdesign.channel import BITS
from mechdesign.domain import Domain, whole_number
from mechdesign.errors import InputError
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import WHOLE
from mechdesign.mechanisms.subsets.bit_rows import BitRows, read_bits, write_bits
from mechdesign.mechanisms.subsets.reported_sets import ReportedSets
from mechdesign.sampling import Source, chances, coin_rows

BLOCK = 1 << 19
"""Bytes of reports drawn at a time, which fit the processor's cache."""


class UnaryEncoding(ReportedSets):
    """Report a set that contains the own input with probability p, each other one with q.

        Q(y|x) = Prod_z Pr(bit z),     p (1 - q) / (q (1 - p)) <= e**epsilon

    All bits are independent. The coins of the other inputs have q = c / 2**b with few binary digits
    b, since each digit takes one random bit for each bit of a report; the coin of the own input has
    up to 62 digits, and overwrites its bit. So every report takes the same number of random bits.

    The score of an input is s_x(y) = (1{x in y} - q) / (p - q). The variance of its mean over n
    reports is q (1 - q) / (n (p - q)**2) for an input of frequency 0, and hardly more for a rare
    one: this is :attr:`variance`, which determines the digits.
    """

    options: ClassVar[Mapping[str, int | None]] = {"digits": None}
    tolerance: ClassVar[float]
    """Relative increase of the variance accepted for fewer digits."""

    def __init__(
        self,
        inputs: Domain | Iterable[Any] | int,
        epsilon: Exact,
        digits: int | None = None,
        *,
        others: int | None = None,
    ) -> None:
        super().__init__(inputs, epsilon)
        self._digits = self._fewest() if digits is None else whole_number(digits, "digits", 1, BITS)
        self._others, self.held = self._law(self._digits, others)
        if self._difference <= 0:
            hint = "more digits would serve" if self._digits < BITS else ""
            expected = "a budget and digits for which p is above q"
            raise InputError("epsilon", expected, f"p = q = {float(self._q)}", hint)
        self.alphabet = BitRows(self.inputs)

    @abstractmethod
    def _law(self, digits: int, others: int | None = None) -> tuple[int, int]:
        """Return the numerator of q over 2**digits, default the best, and that of p over 2**62."""

    def _variance(self, digits: int) -> float:
        """Return the variance of the estimate of an input of frequency 0."""
        others, held = self._law(digits)
        q, rise = Fraction(others, 1 << digits), held - (others << BITS - digits)
        return float(q * (1 - q) / Fraction(rise, WHOLE) ** 2) if rise > 0 else math.inf

    def _fewest(self) -> int:
        """Return the fewest digits with an acceptable increase of the variance."""
        most = self._variance(BITS) * (1 + self.tolerance)
        return next((n for n in range(1, BITS) if self._variance(n) <= most), BITS)

    @property
    def _q(self) -> Fraction:
        return Fraction(self._others, 1 << self._digits)

    @property
    def _difference(self) -> int:
        """The difference of p and q, in units of 2**-62."""
        return self.held - (self._others << BITS - self._digits)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """The exact p and q: the probabilities of the own, and of another, input in a report."""
        return Fraction(self.held, WHOLE), self._q

    @property
    def variance(self) -> float:
        """The number of reports times the variance of the estimate of an input of frequency 0."""
        return self._variance(self._digits)

    @property
    def loss(self) -> float:
        """The relative increase of :attr:`variance` over the textbook's, due to few digits."""
        return self.variance / self._variance(BITS) - 1

    def parameters(self) -> dict[str, Any]:
        """Return q as a numerator and its digits, and the mass of p."""
        return {"digits": self._digits, "others": self._others, "held": self.held}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports: rows of packed bits."""

        def some(piece: slice) -> ByteArray:
            own, coins = codes[piece], source.of(piece)
            rows = coin_rows(coins, len(own), len(self.inputs), self._others, self._digits)
            # overwrite: a bit left at 1 would raise the odds beyond e**epsilon
            write_bits(rows, own, chances(coins, len(own), BITS) < self.held)
            return rows

        return self.alphabet.in_pieces(len(codes), BLOCK, some)

    def mass(self, x: int, report: AnyArray) -> Fraction:
        """Return the probability of a report."""
        own = int(read_bits(report, x)[0])
        ones = int(np.bitwise_count(report).sum()) - own
        zeros = len(self.inputs) - 1 - ones
        others = self._others**ones * ((1 << self._digits) - self._others) ** zeros
        held = self.held if own else WHOLE - self.held
        return Fraction(held * others, 1 << BITS + self._digits * (ones + zeros))
