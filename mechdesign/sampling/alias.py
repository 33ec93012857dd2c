"""Walker's alias method in integers: one table look-up for an exact draw.

The mass 2**bits of a row is divided into M = 2**b cells of equal mass, M at least the number of
outputs, such that each cell holds at most two outputs: its own below a threshold, and an alias at
or above it. All masses are integers, so nothing is rounded. A draw uses ``bits`` fair bits: the
first b select the cell, the others are compared with the threshold.

Source: Walker 1977; the sweep that fills the cells is that of Hübschle-Schneider and Sanders 2022.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign._typing import Int64Array
from mechdesign.sampling.sources import Source

LIMB = 62
"""Bits of a threshold per machine integer."""


class AliasTable:
    """Alias tables for the rows of a channel.

    Parameters
    ----------
    numerators
        ``(n_rows, n_outputs)`` integers >= 0, each row with sum ``2**bits``.
    bits
        The common denominator, as a power of 2; at least 32.

    Examples
    --------
    >>> from mechdesign.sampling.sources import source_of
    >>> table = AliasTable(np.array([[1 << 62, 0], [0, 1 << 62]]), 62)
    >>> table.draw(np.array([0, 1, 1]), source_of(None))
    array([0, 1, 1])
    """

    def __init__(self, numerators: npt.NDArray[Any], bits: int) -> None:
        n_rows, n_outputs = numerators.shape
        self._choice_bits = (n_outputs - 1).bit_length()
        self._bits = bits
        size = 1 << self._choice_bits
        weights = np.zeros((n_rows, size), dtype=numerators.dtype)
        weights[:, :n_outputs] = numerators
        thresholds, others = _fill(weights, 1 << bits - self._choice_bits)
        self._others = others.astype(np.int32).ravel()
        self._limbs = [
            ((thresholds >> shift) & ((1 << width) - 1)).astype(np.int64).ravel()
            for width, shift in self._widths()
        ]
        # a full cell's threshold overflows the limbs, so its alias is set to its own output
        full = (thresholds == 1 << bits - self._choice_bits).astype(bool).ravel()
        self._others[full] = np.tile(np.arange(size, dtype=np.int32), n_rows)[full]

    def _widths(self) -> list[tuple[int, int]]:
        """Return the widths and shifts of the limbs, most significant first.

        The first word gives the cell and the first limb; each further word gives one limb.
        """
        left = self._bits - self._choice_bits
        widths = [min(left, LIMB - self._choice_bits)]
        while sum(widths) < left:
            widths.append(min(LIMB, left - sum(widths)))
        return [(width, left - sum(widths[: n + 1])) for n, width in enumerate(widths)]

    def cells(self) -> tuple[int, Int64Array, Int64Array]:
        """Return the number of bits that select a cell, and each cell's threshold and alias.

        Cells are listed row by row, for ``bits`` <= 62. A cell with a single output has it as its
        alias, with threshold 0.
        """
        (thresholds,) = self._limbs
        return self._choice_bits, thresholds, self._others.astype(np.int64)

    def draw(self, rows: Int64Array, source: Source) -> Int64Array:
        """Draw one output for each row number, with exactly the probabilities of that row.

        Parameters
        ----------
        rows
            ``(n,)`` row numbers.
        source
            The source of random bits; each draw takes the same number.
        """
        word = source.words(len(rows))
        cell = (
            (word >> np.uint64(64 - self._choice_bits)).view(np.int64) if self._choice_bits else 0
        )
        place = (rows << self._choice_bits) + cell
        low, decided = np.zeros(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
        for n, (width, _) in enumerate(self._widths()):
            if n:
                given = source.words(len(rows)) >> np.uint64(64 - width)
            else:
                given = (word << np.uint64(self._choice_bits)) >> np.uint64(64 - width)
            digits, limb = given.view(np.int64), self._limbs[n][place]
            low |= ~decided & (digits < limb)
            decided |= digits != limb
        return np.where(low, cell, self._others[place])


def _fill(weights: npt.NDArray[Any], cell: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """Return the thresholds and the aliases of all cells, for all rows at once.

    The sweep keeps one heavy output and its remaining mass. While this exceeds a cell, it fills up
    the cell of the next light output; then it closes its own cell, filled up by the next heavy one.
    """
    n_rows, size = weights.shape
    every = np.arange(n_rows)
    order = np.argsort(weights >= cell, axis=1, kind="stable")  # light outputs first
    n_light = (weights < cell).sum(axis=1)
    thresholds = np.empty_like(weights)
    others = np.empty((n_rows, size), dtype=np.intp)
    light, heavy = np.zeros(n_rows, dtype=np.intp), n_light.astype(np.intp)
    holder = order[every, heavy]
    left = weights[every, holder]
    for _ in range(size):
        helps = (left > cell).astype(bool)
        following = order[every, np.minimum(heavy + 1, size - 1)]
        closed = np.where(helps, order[every, np.minimum(light, size - 1)], holder)
        mass = np.where(helps, weights[every, closed], left)
        thresholds[every, closed] = mass
        others[every, closed] = np.where(helps, holder, following)
        left = np.where(helps, left, weights[every, following]) - (cell - mass)
        light, heavy = light + helps, heavy + ~helps
        holder = np.where(helps, holder, following)
    return thresholds, others
