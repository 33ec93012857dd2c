"""Bands: notions that bound the entries of a column between two multiples of one number.

    low_x t_y <= Q[x, y] <= high_x t_y        for every input x and output y.

Bounds on the lift for one prior are a band with t_y = P . q_y, the probability of the output; local
differential privacy is a band with any t_y > 0, low 1 and high e**epsilon. The column of least
reduced cost is found for many decoders at once: with t = P . r = 1 it is a fractional knapsack, by
a sort; with free t it minimizes a ratio of two sums, by Newton's method for fractional programs.

Source: Dantzig 1957 (fractional knapsack); Dinkelbach 1967 (fractional programs).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.notions.rows.pair_rows import FREE
from mechdesign.problem import Problem

__all__ = ["Band", "Cheapest"]


LEAST_LOG_WIDTH, MOST_LOG_WIDTH = 1e-6, 14.0
"""Bands narrower or, where t is free, wider than that are left to general programs."""

MOST_CELLS = 1 << 22
"""Decoders times inputs that are priced at once."""

NEWTON_STEPS = 64
"""More than Newton's method for the least ratio ever takes: it stops when no ratio falls."""


@dataclass(frozen=True)
class Cheapest:
    """The cheapest columns at some decoders, all arrays ``(n_decoders,)``.

    Attributes
    ----------
    cost
        Their reduced cost, for P . r = 1.
    potential
        That of P . r = 1: inputs whose reduced cost is below it are at their high end.
    mean
        Their posterior mean.
    """

    cost: FloatArray
    potential: FloatArray
    mean: FloatArray

    def joined(self, other: Cheapest, order: IntArray) -> Cheapest:
        """Return both one after the other, in another order."""
        pairs = zip(self._arrays(), other._arrays(), strict=True)
        return Cheapest(*(np.concatenate(pair)[order] for pair in pairs))

    def _arrays(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.cost, self.potential, self.mean


@dataclass(frozen=True)
class Band:
    """A notion ``low_x t <= q_x <= high_x t`` on the inputs of positive prior.

    Attributes
    ----------
    support
        Which inputs have positive prior. The others may send the output distribution: that is in
        the band, and adds no cost.
    prior, low, high
        ``(n_supported,)`` numbers.
    tied
        Whether t is the output distribution; else it is free.
    """

    support: BoolArray
    prior: FloatArray
    low: FloatArray
    high: FloatArray
    tied: bool

    @classmethod
    def of(cls, problem: Problem) -> Band | None:
        """Return the band that the notion of a problem is, if it is one that is wide enough."""
        if len(problem.privacy) != 1 or not problem.is_conic:
            return None
        (family,) = problem.cone.families
        support = problem.prior.array > 0
        prior = problem.prior.array[support]
        one = np.ones(len(prior))
        ratios, lifts = family.ratio_rows(), family.lift_rows()
        if ratios is not None:
            pairs = ratios.index[~np.eye(ratios.size, dtype=bool)]
            if pairs.size == 0 or pairs[0] == FREE or (pairs != pairs[0]).any():
                return None
            bound = ratios.bounds[pairs[0]]
            width = float(bound.exponent(ratios.epsilon))
            if bound.factor != 1 or not LEAST_LOG_WIDTH < width <= MOST_LOG_WIDTH:
                return None
            return cls(support, prior, one, np.exp(width) * one, False)
        if lifts is None or not lifts.is_for(problem.prior.probabilities):
            return None
        widths = {side: float(bound.exponent(lifts.epsilon)) for side, bound in lifts.sides()}
        if min(widths.values(), default=np.inf) < LEAST_LOG_WIDTH:
            return None
        low = np.exp(-widths.get("lower", np.inf)) * one
        # with all other lifts at least low, P . r = 1 bounds a lift by low + (1 - low) / P_x: twice
        # that keeps the program finite where there is no upper bound, and never binds
        high = np.minimum(
            np.exp(min(widths.get("upper", 700.0), 700.0)), 2 * (low + (1 - low) / prior)
        )
        return cls(support, prior, low, high, True)

    @property
    def base(self) -> FloatArray:
        """Return P_x low_x: the least joint probabilities of a column with t = 1."""
        return self.prior * self.low

    @property
    def room(self) -> FloatArray:
        """Return P_x (high_x - low_x): the most that can be added to them."""
        return self.prior * (self.high - self.low)

    def cheapest(self, potentials: FloatArray, f: FloatArray, decoders: FloatArray) -> Cheapest:
        """Return the cheapest columns r with P . r = 1 at some decoders s.

        Parameters
        ----------
        potentials, f
            ``(n_supported,)`` numbers h and f: r costs Sum P_x r_x ((f_x - s)**2 - h_x).
        decoders
            ``(n_decoders,)`` numbers s.
        """
        step = max(1, MOST_CELLS // len(f))
        parts = [
            self._cheapest((f - decoders[n : n + step, None]) ** 2 - potentials, f)
            for n in range(0, len(decoders), step)
        ]
        cost, potential, mean = (np.concatenate(list(found)) for found in zip(*parts, strict=True))
        return Cheapest(cost, potential, mean)

    def _cheapest(self, c: FloatArray, f: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return least cost, potential and posterior mean at each decoder for costs c of inputs."""
        base, room = self.base, self.room
        if not self.tied:
            # the least ratio of cost to P . r: at ratio l the best column fills the inputs with
            # cost below l, and its own ratio is the next l
            potential = c @ base / base.sum()
            for _ in range(NEWTON_STEPS):
                filled = np.where(c < potential[:, None], room, 0.0)
                total = base.sum() + filled.sum(axis=1)
                lower = (c @ base + (filled * c).sum(axis=1)) / total
                if (lower >= potential).all():
                    break
                potential = lower
            return potential, potential, (f @ base + filled @ f) / total
        left = 1.0 - float(base.sum())
        order = np.argsort(c, axis=1)
        filled = np.cumsum(room[order], axis=1)
        last = np.minimum((filled < left).sum(axis=1), c.shape[1] - 1)
        row = np.arange(len(c))
        cut = order[row, last]
        potential = c[row, cut]
        above = c - potential[:, None]
        cost = potential + np.maximum(above, 0.0) @ base + np.minimum(above, 0.0) @ (base + room)
        before = np.where(last > 0, filled[row, last - 1], 0.0)
        in_order = np.cumsum((room * f)[order], axis=1)
        moment = np.where(last > 0, in_order[row, last - 1], 0.0)
        return cost, potential, f @ base + moment + (left - before) * f[cut]
