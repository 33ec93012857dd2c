"""Hadamard response (Acharya, Sun and Zhang 2019), decoded by a fast Walsh-Hadamard transform."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from mechdesign._typing import AnyArray, ByteArray, FloatArray, Int64Array
from mechdesign.domain import DomainLike, whole_number
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import WHOLE, Frequencies, held_mass
from mechdesign.mechanisms.set_system import TOLERANCE, NumberedSets
from mechdesign.reports import Numbers
from mechdesign.sampling import Source


def walsh_hadamard(values: AnyArray) -> AnyArray:
    """Return H @ values in K log2(K) additions, exactly in integers.

    The last axis is transformed; its length K is a power of 2.

    Examples
    --------
    >>> walsh_hadamard(np.array([3, 1, 0, 2]))
    array([6, 0, 2, 4])
    """
    shape = values.shape
    table = values
    half = shape[-1] // 2
    while half:
        pairs = table.reshape(*shape[:-1], -1, 2, half)
        first, second = pairs[..., 0, :], pairs[..., 1, :]
        table = np.stack([first + second, first - second], axis=-2).reshape(shape)
        half //= 2
    return table


def parity(numbers: Int64Array) -> ByteArray:
    """Return popcount(n) mod 2 of nonnegative integers.

    Examples
    --------
    >>> parity(np.array([0, 1, 3, 7]))
    array([0, 1, 0, 1], dtype=uint8)
    """
    return np.bitwise_count(numbers) & np.uint8(1)


class HadamardResponse(NumberedSets):
    """Report a number y of B b, e**epsilon times as likely in one half of one of B blocks of b.

        x belongs to the block x mod B and has the row i = x // B + 1 of the Hadamard matrix H_b,
        S_x = {y in the block of x : popcount(y & i) even}, of b/2 numbers,
        Q[x, y] = 2 e**eps / (b (e**eps + 2B - 1)) on S_x,      2 / (b (e**eps + 2B - 1)) off it

    The reports of other inputs in the block are in S_x as often as in its other half, so s_x(y) =
    +c on S_x, -c on the other half, 0 in other blocks is unbiased, c = (e**eps + 2B - 1) / (e**eps
    - 1). One Walsh-Hadamard transform for each block gives all estimates. The default B has the
    fewest reports among those whose :attr:`risk` is within 1 % of the least: 1 for e**epsilon below
    about 4, then about e**epsilon / 2. One block, ``copies=1``, is the papers' form for small
    epsilon: at epsilon = 5 its risk is 19 times as large.

    One random word determines a draw: a uniform number below b, and the half and block of the
    report. If the number is in the other half, one of its bits that is set in the row is flipped,
    which makes it uniform in the right half.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    epsilon
        The budget in nats, > 0.
    copies
        B, the number of copies of H_b, from 1 to k; default the best. b is the least power of 2
        above the number of inputs in a block.

    Notes
    -----
    Source: Acharya, Sun and Zhang 2019, Section 5; with one block, Section 4 and Acharya et al.
    2020, Section 4.

    Examples
    --------
    >>> cells = HadamardResponse(43_750, 1)
    >>> cells, cells.copies
    (HadamardResponse(43750 inputs, LDP(epsilon=1), 16 bits a report), 1)
    >>> reports = cells.privatize([7] * 10_000, rng=3)
    >>> estimate = cells.frequencies(cells.tally(reports)).estimates
    >>> bool(abs(estimate[7] - 1) < 0.1)
    True
    >>> words = HadamardResponse(22_000, 5)
    >>> words.copies, round(words.risk_ratio, 2), round(HadamardResponse(22_000, 5, 1).risk_ratio)
    (87, 2.01, 38)
    """

    name = "hadamard-response"
    source = "Acharya, Sun and Zhang 2019"
    options: ClassVar[Mapping[str, int | None]] = {"copies": 1}

    def __init__(self, inputs: DomainLike, epsilon: Exact, copies: int | None = None) -> None:
        super().__init__(inputs, epsilon)
        k = len(self.inputs)
        if copies is None:
            self.copies = _best_copies(k, math.exp(self._notion.epsilon))
        else:
            self.copies = whole_number(copies, "copies", 1, k)
        self._digits = (-(-k // self.copies)).bit_length()  # 2**digits is above each block's size
        self._block = 1 << self._digits
        self._half = self._block // 2
        halves = 2 * self.copies
        away = WHOLE - held_mass(self._notion.epsilon, self._half, (halves - 1) * self._half)
        self._other = -(-away // ((halves - 1) * self._half)) * self._half
        self.held, self.odds = WHOLE - (halves - 1) * self._other, (1, halves - 1)
        self.alphabet = Numbers(self.copies * self._block)
        self._scale = WHOLE / (self.held - self._other)
        self._of_block, row = np.arange(k) % self.copies, np.arange(k) // self.copies + 1
        self._place = self._of_block * self._block + row

    @property
    def uniform_score(self) -> float:
        """0, as S_x is half of its block."""
        return 0.0

    def parameters(self) -> dict[str, Any]:
        """Return B b, the mass of S_x at x, and B unless it is 1, as in old files."""
        law = {"size": self.n_outputs, "held": self.held}
        return law if self.copies == 1 else {**law, "copies": self.copies}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports: numbers below B b."""
        word = source.words(len(codes))
        number = (word & np.uint64(self._block - 1)).view(np.int64)
        chance = (word >> np.uint64(self._digits)).view(np.int64)  # in units of b/2
        chance &= (1 << 62 - (self._digits - 1)) - 1
        # the mass of the own half comes first, then those of the following halves, cyclically
        steps = (chance - self.held // self._half) // (self._other // self._half) + 1
        np.maximum(steps, 0, out=steps)
        half = (2 * (codes % self.copies) + steps) % (2 * self.copies)
        row = codes // self.copies + 1
        flip = (parity(number & row) != (half & 1)).astype(np.int64)
        number ^= flip * (row & -row)
        number += (half >> 1) << self._digits
        return number

    def decoding_work(self, n: int) -> float:
        """Return n for the counts, and the digits of b for each report."""
        return float(n + self.n_outputs * self._digits)

    def _compared(self) -> tuple[list[int], list[tuple[int, int]]]:
        """Return two inputs of one block, and two of two blocks.

        Also the third input of the block, whose row is the product of the other two, and one of a
        third block.
        """
        k, B = len(self.inputs), self.copies
        few = [x for x in (0, B, 2 * B) if x < k]
        pairs = [(0, 1)] if k > B else []
        if B > 1:
            pairs.append((0, len(few)))
        return [*few, *range(1, min(B, 3))], pairs

    def _holds(self, x: int, report: AnyArray) -> bool:
        y = int(report[0])
        row, own = x // self.copies + 1, y >> self._digits == x % self.copies
        return own and (y & row).bit_count() % 2 == 0

    def _blocks(self, values: AnyArray) -> AnyArray:
        return values.reshape(*values.shape[:-1], self.copies, self._block)

    def _placed(self, weights: AnyArray) -> AnyArray:
        placed = np.zeros(self.n_outputs, dtype=weights.dtype)
        placed[self._place] = weights
        return self._blocks(placed)

    def _held(self, weights: AnyArray) -> AnyArray:
        """Return half the sum of the block's total and its signed sum, which have equal parity."""
        placed = self._placed(weights)
        twice = placed.sum(axis=-1, keepdims=True) + walsh_hadamard(placed)
        return np.ravel(twice / 2 if weights.dtype.kind == "f" else twice // 2)

    def _combined(self, weights: FloatArray) -> FloatArray:
        return np.ravel(walsh_hadamard(self._placed(weights * self._scale)))

    def _score_sums(self, counts: FloatArray, _totals: FloatArray) -> Frequencies:
        """Return the signed sums, and those over the block of each input."""
        blocks = self._blocks(counts)
        signed = walsh_hadamard(blocks).reshape(counts.shape)[..., self._place]
        near = blocks.sum(axis=-1)[..., self._of_block]
        return Frequencies(self._scale * signed, self._scale**2 * near)


def _best_copies(k: int, odds: float) -> int:
    """Return the number of blocks with the fewest reports among those of nearly least risk.

    A block of s inputs has the share (2 + (odds - 1) s / k) / (odds + 2B - 1) of the reports at the
    uniform prior, and s scores with the square c**2 at each.
    """
    copies = np.arange(1, k + 1)
    small, more = k // copies, k % copies  # ``more`` blocks have small + 1 inputs, the others small
    squares = (copies - more) * small**2 + more * (small + 1.0) ** 2
    risk = (2 * k + (odds - 1) / k * squares) * (odds + 2 * copies - 1) / (odds - 1) ** 2 - 1 / k
    # the least power of 2 above the inputs of a block
    reports = copies * 2.0 ** np.frexp(small + (more > 0))[1]
    good = risk <= (1 + TOLERANCE) * risk.min()
    return int(copies[np.argmin(np.where(good, reports, np.inf))])
