"""Subset selection (Ye and Barg 2018; Wang et al. 2016): a report is a set of inputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from mechdesign._typing import AnyArray, ByteArray, FloatArray, Int64Array
from mechdesign.channel import BITS
from mechdesign.domain import Domain, whole_number
from mechdesign.errors import InputError
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import WHOLE, held_mass
from mechdesign.mechanisms.optimum import best_size
from mechdesign.mechanisms.set_system import SetMechanism
from mechdesign.mechanisms.subsets.bit_rows import BitRows, read_bits, write_bits
from mechdesign.mechanisms.subsets.random_subsets import uniform_sets
from mechdesign.mechanisms.subsets.reported_sets import ReportedSets
from mechdesign.sampling import Source, chances

BLOCK = 1 << 22
"""Bytes of reports drawn at a time."""


class SubsetSelection(ReportedSets, SetMechanism):
    """Report a set T of j inputs, e**epsilon times as likely if it contains the own input.

        Q(T|x) = p / C(k - 1, j - 1) if x is in T, else (1 - p) / C(k - 1, j),
        p / (1 - p) = e**eps j / (k - j)

    Sets that contain x contain every other z equally often, so that Pr(z in T | x) = q = (p (j - 1)
    + (1 - p) j) / (k - 1) for z != x, and the score is s_z(T) = (1{z in T} - q) / (p - q).

    A draw starts from a uniform set with a uniform member a and a uniform nonmember b, independent
    of the record. A number of 62 bits decides whether x is in the set. If it should be and is not,
    x replaces a; if it should not be and is, b replaces x; the rest of the set stays uniform among
    the other inputs.

    The default j has the least variance. At the uniform distribution no channel under LDP has a
    smaller one: :attr:`risk` is the optimum.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    epsilon
        The budget in nats, > 0.
    size
        The size j of the sets, from 1 to k - 1; default the best.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Source: Ye and Barg 2018; Wang et al. 2016.

    Examples
    --------
    >>> some = SubsetSelection(["a", "b", "c", "d", "e", "f"], 1)
    >>> some
    SubsetSelection(6 inputs, LDP(epsilon=1), 3.907 bits a report)
    >>> some.size, round(some.risk, 4)
    (2, 15.7086)
    >>> float(some.probability("a", ("a", "b")) / some.probability("c", ("a", "b")))
    2.718281828459045
    """

    name = "subset-selection"
    source = "Ye and Barg 2018; Wang et al. 2016"
    options: ClassVar[Mapping[str, int | None]] = {"size": None}

    def __init__(
        self, inputs: Domain | Iterable[Any] | int, epsilon: Exact, size: int | None = None
    ) -> None:
        super().__init__(inputs, epsilon)
        self._k = k = len(self.inputs)
        self.size = j = (
            best_size(k, self._notion.epsilon)
            if size is None
            else whole_number(size, "size", 1, k - 1)
        )
        self.odds = (j, k - j)
        self.held = held_mass(self._notion.epsilon, *self.odds)
        if k * self.held <= j * WHOLE:  # as q (k - 1) = j - p
            raise InputError("epsilon", "a budget for which p is above q", f"p = q = {j / k}")
        self.alphabet = BitRows(self.inputs, j)

    @property
    def bits_per_report(self) -> float:
        """The base-2 logarithm of C(k, j)."""
        k, j = self._k, self.size
        return (math.lgamma(k + 1) - math.lgamma(j + 1) - math.lgamma(k - j + 1)) / math.log(2)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """The exact p and q: the probabilities of the own, and of another, input in a report."""
        p = Fraction(self.held, WHOLE)
        return p, (self.size - p) / (self._k - 1)

    def parameters(self) -> dict[str, Any]:
        """Return j, and the mass of all sets that contain the own input."""
        return {"size": self.size, "held": self.held}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports: rows of packed bits."""

        def some(piece: slice) -> ByteArray:
            own, coins = codes[piece], source.of(piece)
            rows, inside, outside = uniform_sets(len(own), self._k, self.size, coins)
            wanted = chances(coins, len(own), BITS) < self.held
            change = read_bits(rows, own) != wanted
            write_bits(rows, own, wanted)
            place = np.where(change, np.where(wanted, inside, outside), own)
            write_bits(rows, place, wanted ^ change)
            return rows

        return self.alphabet.in_pieces(len(codes), BLOCK, some)

    def uniform_counts(self) -> FloatArray:
        """Return j/k for each input."""
        return np.full(self._k, self.size / self._k)

    def draw_uniform(self, count: int, source: Source) -> AnyArray:
        """Draw reports that are uniform over the sets of j inputs."""

        def some(piece: slice) -> ByteArray:
            return uniform_sets(piece.stop - piece.start, self._k, self.size, source.of(piece))[0]

        return self.alphabet.in_pieces(count, BLOCK, some)

    def _holds(self, x: int, report: AnyArray) -> bool:
        return bool(read_bits(report, x)[0])
