"""The least posterior-mean squared error of a scalar under a band, by refining a grid of decoders.

With output y decoded as s_y the error is linear (:mod:`mechdesign.search.decoders.decoder_grid`).
Under a band both sides of that linear program are cheap: it has an interior-point method of its
own, and the cheapest column at a decoder is found by a sort. So it is solved for a grid of
decoders; the posterior means in use and decoders at which the dual is violated are added, and it
is solved again. With any potentials h of the inputs, the error of any private channel is at least

    Sum_x P_x h_x + min over s of gamma(s),  gamma(s) = min_r Sum_x P_x r_x ((f_x - s)**2 - h_x),

r private with P . r = 1. As P . r = 1, gamma(s) - s**2 is a minimum of functions that are linear in
s, so it is concave, and above its chord between two probes at distance d; on that gap s**2 is its
own chord less t (1 - t) d**2, t the share of the way. So

    gamma(s) >= (1 - t) gamma(s_i) + t gamma(s_{i+1}) - t (1 - t) d**2,

and the file needs the potentials, and one number for each decoder probed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.rows import FAR, certificate, rounded_numbers
from mechdesign.exact import as_fraction
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.linearizations import Decoders
from mechdesign.kernel.objectives import GainObjective
from mechdesign.kernel.oracles import Knapsack, OneBudget
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.cones.one_budget import OneBudgetCone
from mechdesign.search.interior.band import solve_band_program
from mechdesign.search.interior.band_cone import Band, Cheapest
from mechdesign.search.interior.kernel import Stagnation
from mechdesign.search.limits import Limits

__all__ = ["SAME", "distinct", "least_on_gaps", "merge_columns", "solve_band_decoders"]


FIRST_DECODERS, FIRST_PROBES = 65, 65
"""Decoders of the first program, and probes of each bound, both evenly spaced."""

ROUNDS = 40
GOAL, ENOUGH = 1e-10, 1e-7
"""Relative to the error: what the first rounds aim at, and what is good enough in the end."""

WITHIN = 0.9
"""The share of a gap that is wanted which rounds aim at, where that is larger."""

FIRM_ROUNDS, LENIENCE = 4, 4.0
"""After so many rounds the goal grows by that factor a round."""

PATIENCE, BETTER = 5, 0.9
"""So many rounds in a row that do not shrink the gap by that factor end the search."""

LEAST_GOAL = 1e-18
"""The least goal, in units in which f runs from 0 to 1: the error may be 0."""

MOST_PROBES = 1 << 14
SAME = 1e-9
"""Decoders closer than this, in units of the range of f, are one."""

SMALLEST = 1e-290
"""Numbers below this are written as 0: the checker does not take subnormal ones."""

POLISHES = 3
"""How often a decoder is moved to the posterior mean of its cheapest column."""


@dataclass(frozen=True)
class _BandBound:
    """Potentials, the decoders at which they were probed, and the lower bound that they prove."""

    least: float
    potentials: FloatArray
    decoders: FloatArray
    found: Cheapest


def solve_band_decoders(
    problem: Problem, band: Band, f: FloatArray, limits: Limits, unit: float
) -> RawSolution:
    """Minimize the posterior-mean squared error of a scalar under a band.

    Parameters
    ----------
    problem
        With a scalar :class:`~mechdesign.utilities.PosteriorMeanSquaredError`.
    band
        Its notion.
    f
        ``(n_supported,)`` values of f on the inputs of positive prior, scaled to [0, 1].
    limits
        When to stop. Before the first round there are a constant channel, and the bound
        with potentials 0.
    unit
        What an error of 1 is in the unit of the objective.
    """
    search = _BandDecoderSearch(band, f, limits, unit)
    search.run()
    k = len(problem.domain)
    matrix = np.tile(band.prior @ search.matrix, (k, 1))
    matrix[band.support] = search.matrix
    potentials = np.zeros(k)
    potentials[band.support] = _writable(band.prior * search.bound.potentials)
    decoders = tuple(as_fraction(s) for s in search.bound.decoders)
    probes = len(decoders)
    note = f"{search.rounds} rounds of linear programs, bound from {probes} probes"
    outputs = name_outputs(problem, matrix.shape[1])
    proof = partial(_certificate, decoders, potentials)
    return RawSolution(matrix, outputs, [proof], "decoder-grid: interior point", [note])


def _certificate(
    decoders: Sequence[Fraction], potentials: FloatArray, problem: Problem
) -> Certificate:
    """Return decoders and prices, from units in which f runs from 0 to 1."""
    statement = problem.compiled.statement
    aim = statement.objective
    if not isinstance(aim, GainObjective):
        raise UnsupportedError("objective", "a gain with one vector", problem.utility.name)
    v, p = aim.form.vectors[0], aim.form.p
    f = [a / b for a, b in zip(v, p, strict=True) if b]
    low, width = min(f), max(f) - min(f)
    terms = zip(map(Fraction, potentials.tolist()), v, p, strict=True)
    prices = rounded_numbers(
        [width * width * c - a * a / b if b else Fraction(0) for c, a, b in terms],
        max(map(abs, f)) > FAR * width,
    )
    budget = OneBudgetCone.of(problem.cone)
    oracle = Knapsack(p) if budget is None else OneBudget(budget.block_groups)
    line = Decoders(tuple(low + width * s for s in decoders))
    return certificate(problem, line, oracle, prices=prices)


class _BandDecoderSearch:
    """Decoders, the best channel for them, and potentials that bound the error of all others."""

    def __init__(self, band: Band, f: FloatArray, limits: Limits, unit: float) -> None:
        self.band, self.f, self.limits, self.unit = band, f, limits, unit
        self.matrix: FloatArray = np.ones((len(f), 1))
        self.value = self._error(self.matrix)
        self.rounds = 0
        self.bound = self._probed(np.zeros(len(f)), np.zeros(0), np.inf)

    def run(self) -> None:
        """Solve, add the decoders with negative reduced cost, and again until the bound is near."""
        decoders = grid = np.linspace(0, 1, FIRST_DECODERS)
        wanted, stagnation = np.zeros(0), Stagnation(np.inf, PATIENCE, BETTER)
        for self.rounds in range(1, ROUNDS + 1):
            gap = self.value - self.bound.least
            aim = max(0.05 * self._goal, 0.003 * gap)
            Q, potentials, _ = solve_band_program(self.band, self._cost(decoders), aim, self.limits)
            means = self._offer(Q)
            bound = self._probed(potentials, means, 0.1 * self._goal)
            if bound.least > self.bound.least:
                self.bound = bound
            self.limits.report(self.rounds, self.unit * self.value, self.unit * self.bound.least)
            gap = self.value - self.bound.least
            stagnant = stagnation.ends(gap)
            if gap <= self._goal or stagnant or self.limits.expired():
                return
            near = 2 * np.sqrt(0.02 * gap)
            wanted = np.concatenate([wanted, self._failing(bound)])
            decoders = distinct(np.concatenate([grid, wanted, means]), near)

    @property
    def _goal(self) -> float:
        lenience = LENIENCE ** max(0, self.rounds - FIRM_ROUNDS)
        share = max(min(GOAL * lenience, ENOUGH), WITHIN * self.limits.gap)
        return max(share * self.value, LEAST_GOAL)

    def _cost(self, decoders: FloatArray) -> FloatArray:
        return (self.f[:, None] - decoders) ** 2

    def _error(self, columns: FloatArray) -> float:
        joint = self.band.prior[:, None] * columns
        return float((joint * self._cost(self.f @ joint / joint.sum(axis=0))).sum())

    def _offer(self, Q: FloatArray) -> FloatArray:
        """Keep a channel if it is the best; return its posterior means, near ones merged."""
        P = self.band.prior
        budget = max(0.1 * self._goal, 0.02 * (self._error(Q) - self.bound.least))
        matrix = merge_columns(Q, P @ Q, (P * self.f) @ Q, budget)
        value = self._error(matrix)
        if value < self.value:
            self.value, self.matrix = value, matrix
        return (P * self.f) @ matrix / (P @ matrix)

    def _probed(self, potentials: FloatArray, means: FloatArray, slack: float) -> _BandBound:
        """Probe decoders, and halve gaps until they cost no more than the slack."""
        band, offset = self.band, float(self.band.prior @ potentials)
        todo = distinct(np.concatenate([means, np.linspace(0, 1, FIRST_PROBES)]))
        s, found = np.zeros(0), Cheapest(np.zeros(0), np.zeros(0), np.zeros(0))
        while True:
            new = band.cheapest(potentials, self.f, todo)
            order = np.argsort(np.concatenate([s, todo]))
            s = np.concatenate([s, todo])[order]
            found = found.joined(new, order)
            least = least_on_gaps(s, found.cost)
            worst = min(0.0, float(found.cost.min()))
            slack_here = max(slack, 0.01 * (self.value - offset - worst))
            halve = (least < worst - slack_here) & (np.diff(s) > SAME)
            if not halve.any() or len(s) > MOST_PROBES:
                return _BandBound(offset + min(0.0, float(least.min())), potentials, s, found)
            todo = ((s[:-1] + s[1:]) / 2)[halve]

    def _failing(self, bound: _BandBound) -> FloatArray:
        """Return the decoders at which the least reduced cost is negative and locally least."""
        cost = np.concatenate([[np.inf], bound.found.cost, [np.inf]])
        middle = cost[1:-1]
        lowest = (middle <= cost[:-2]) & (middle <= cost[2:]) & (middle < -0.01 * self._goal)
        s = bound.decoders[lowest]
        for _ in range(POLISHES):  # the mean of a column is a better decoder for it
            if len(s):
                s = self.band.cheapest(bound.potentials, self.f, s).mean
        return s


def _writable(numbers: FloatArray) -> FloatArray:
    """Return numbers with 0 in place of those that are too small for a file."""
    return np.where(np.abs(numbers) < SMALLEST, 0.0, numbers)


def least_on_gaps(
    s: FloatArray, cost: FloatArray, curvature: float | FloatArray = 1.0
) -> FloatArray:
    """Return the least of (1 - t) a + t b - t (1 - t) w d**2 over 0 <= t <= 1 on each gap.

    The derivative b - a - (1 - 2 t) w d**2 is 0 at t = (1 - (b - a) / (w d**2)) / 2. The curvature
    w > 0 is 1 where there is none.
    """
    a, b, square = cost[:-1], cost[1:], curvature * np.diff(s) ** 2
    t = np.clip(0.5 - (b - a) / (2 * square), 0.0, 1.0)
    return a + t * (b - a) - t * (1 - t) * square


def merge_columns(
    Q: FloatArray, output: FloatArray, moment: FloatArray, budget: float
) -> FloatArray:
    """Add up columns of near posterior means, as long as the error grows by less than a budget.

    Merging two outputs of probabilities a, b and posterior means s, t adds a b / (a + b) (s - t)**2
    to the error.

    Parameters
    ----------
    Q
        ``(n_inputs, n_outputs)`` channel.
    output, moment
        ``(n_outputs,)``: P . q and Sum P f q of each column.
    """
    order = np.argsort(moment / output)
    output, moment = output[order], moment[order]
    start = np.arange(len(output))
    while len(output) > 1:
        mean = moment / output
        loss = output[:-1] * output[1:] / (output[:-1] + output[1:]) * np.diff(mean) ** 2
        n = int(np.argmin(loss))
        budget -= float(loss[n])
        if budget < 0:
            break
        output = np.concatenate([output[:n], [output[n] + output[n + 1]], output[n + 2 :]])
        moment = np.concatenate([moment[:n], [moment[n] + moment[n + 1]], moment[n + 2 :]])
        start = np.delete(start, n + 1)
    group = np.searchsorted(start, np.arange(Q.shape[1]), side="right") - 1
    merged = np.zeros((len(Q), len(output)))
    np.add.at(merged.T, group, Q.T[order])
    return merged


def distinct(points: FloatArray, near: float = SAME) -> FloatArray:
    """Return 0, 1 and the points between in order, without those too near to the one before."""
    inner = np.sort(points[(points > SAME) & (points < 1 - SAME)])
    inner = inner[np.diff(inner, prepend=0.0) > near]
    return np.concatenate([[0.0], inner, [1.0]])
