"""The estimated distribution of a continuous input, over cells or nodes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.continuous import ContinuousChannel
from mechdesign.domain import Domain
from mechdesign.estimation import simplex
from mechdesign.estimation.quantiles import Quantile, quantile_of
from mechdesign.estimation.result import Estimate


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ContinuousEstimate(Estimate):
    """An estimated distribution of the nodes that the numbers of an interval are rounded to.

    For cells this is the histogram of the numbers. For linear nodes it is the distribution of the
    node, whose mean is the mean of the numbers; the node of a number is one of its two neighbors.

    Attributes
    ----------
    positions
        ``(n_inputs,)`` positions: the nodes, the midpoints of cells, or the finite ends of
        half-lines.
    supports
        ``(n_inputs, 2)`` the least and the largest number rounded to each node: the ends of the
        cell, or the neighbors of the node.
    is_histogram
        Whether the nodes are cells.
    """

    positions: FloatArray
    supports: FloatArray
    is_histogram: bool

    @classmethod
    def of(cls, found: Estimate, channel: ContinuousChannel) -> Self:
        """Convert an estimate of the nodes of a continuous channel."""
        known = {each.name: getattr(found, each.name) for each in fields(Estimate)}
        return cls(
            **known,
            positions=channel.positions,
            supports=channel.supports,
            is_histogram=channel.kind == "cells",
        )

    @property
    def stretches(self) -> FloatArray:
        """``(n_inputs, 2)`` the cells, or the intervals between midpoints of adjacent nodes.

        An unbounded cell is shown as wide as its neighbor.
        """
        if not self.is_histogram:
            middles = (self.positions[1:] + self.positions[:-1]) / 2
            ends = np.concatenate([self.positions[:1], middles, self.positions[-1:]])
        else:
            ends = np.append(self.supports[:, 0], self.supports[-1, 1])
            inner = ends[np.isfinite(ends)]
            first, last = np.diff(inner)[[0, -1]] if len(inner) > 1 else (1.0, 1.0)
            ends = np.clip(ends, inner[0] - first, inner[-1] + last)
        return np.column_stack([ends[:-1], ends[1:]])

    def quantile(self, q: float, confidence: float = 0.95) -> Quantile:
        """Return a quantile of the numbers, with a confidence set.

        For cells the value is interpolated linearly in the cell at the quantile of the cells; else
        it is the node at the quantile of the nodes. The set runs from the lower end of the support
        of the lowest node in the nodes' confidence set to the upper end of that of the highest:
        nodes are in order, so X is at most the upper end of node i's support if its node is at
        most i, and at least the lower end if its node is at least i.

        Parameters
        ----------
        q
            Above 0 and below 1; 0.5 is the median.
        confidence
            Above 0 and below 1.

        Raises
        ------
        InputError
            If a parameter is out of range.
        """
        places = Domain.range(len(self.values))
        found = quantile_of(places, self.values, self.deviation, q, confidence)
        place, low, high = (int(number) for number in (found.value, found.low, found.high))
        ends = float(self.supports[low, 0]), float(self.supports[high, 1])
        return Quantile(found.q, self._spread_evenly(place, q), *ends, found.confidence)

    def _spread_evenly(self, place: int, q: float) -> float:
        """Return the number at a quantile, given its node."""
        low, high = self.supports[place]
        if not (self.is_histogram and np.isfinite(high - low)):
            return float(self.positions[place])
        sums = np.concatenate([[0.0], np.cumsum(simplex.projected(self.values))])
        return float(np.interp(q, sums[place : place + 2], [low, high]))
