"""The least posterior-mean squared error of a scalar f(X), by linear programs over decoders.

The error is concave in Q, so that minimizing it is no convex program. But if output y is decoded as
s_y, the error is linear,

    Sum_y Sum_x P_x Q[x, y] (f_x - s_y)**2,

and its minimum over decoders is the posterior-mean error, attained at the posterior means. So one
solves the linear program for a grid of decoders, adds the posterior means in use and decoders at
which the dual is violated, and again: column generation over the outputs s in [0, 1].

The bound needs no fine grid. Let u be the potentials of the row sums, and at a decoder s let

    gamma(s) = min over private columns r with P . r = 1 of  Sum_x r_x (P_x (f_x - s)**2 - u_x),

the least reduced cost of a column decoded as s. Summing over the columns of any private channel,
whose output probabilities sum to 1, its error is at least Sum_x u_x + min_s gamma(s). At a probe s
the dual of this small program gives multipliers of the rows that make every entry of its reduced
cost at least P_x gamma(s). Between two probes both are known from the ends, because there

    (f - s)**2 = its chord between s_i and s_{i+1}, less (s - s_i)(s_{i+1} - s),

so that mixing the multipliers of the ends proves the chord of gamma less the same term: see
:func:`mechdesign.certify.bounds.duality.decoder_bound`, which the probes are chosen for. Gaps
between probes are halved until the bound is good.

That is for any cone. Where the notion is a band, bounds on one lift or local differential privacy,
:mod:`mechdesign.routes.decoders.band_decoders` is faster on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.exact import as_fraction
from mechdesign.notions.rows.cone import Cone
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, FamilyDual, RawSolution
from mechdesign.routes.decoders.band_decoders import (
    SAME,
    distinct,
    least_on_gaps,
    solve_band_decoders,
)
from mechdesign.routes.interior.band_cone import Band
from mechdesign.routes.limits import Limits
from mechdesign.routes.lp.linear_program import HighsProgram
from mechdesign.routes.lp.warm_column import WarmColumn
from mechdesign.routes.presolve.reduction import ConicProgram

__all__ = ["solve_decoder_grid"]


FIRST_DECODERS = 17
"""Decoders of the first program, and the first probes of each bound, evenly spaced."""

ROUNDS = 40
GOAL, ENOUGH = 1e-8, 0.5
"""Relative to the value: what the rounds aim at, or this share of the gap that is wanted."""

MOST_PROBES = 4000
USED = 1e-9
"""Outputs that are sent less often join the one that is sent most."""

LEAST_GOAL = 1e-12
"""The least goal, in units in which f runs from 0 to 1: the error may be 0."""


@dataclass(frozen=True)
class _Probe:
    """The least reduced cost at a decoder, the posterior mean of its column, and multipliers."""

    gamma: float
    mean: float
    multipliers: FloatArray


@dataclass(frozen=True)
class _DecoderBound:
    """A lower bound on the error, the probes that prove it, and the rows of their multipliers."""

    least: float
    probes: dict[float, _Probe]
    pricer: WarmColumn | None


def solve_decoder_grid(
    problem: Problem, limits: Limits | None = None, *, by_bands: bool = True
) -> RawSolution:
    """Minimize the posterior-mean squared error of a scalar, for any notion.

    Parameters
    ----------
    problem
        With a :class:`~mechdesign.utilities.PosteriorMeanSquaredError`.
    limits
        When to stop; default at the optimum.
    by_bands
        Whether to use the faster method of :mod:`~mechdesign.routes.decoders.band_decoders` where
        the notion is a band. It may end at a channel that no small change of the decoders improves.

    Raises
    ------
    UnsupportedError
        If the utility is another.
    SolverError
        If HiGHS fails, or time is over before there is an answer.
    """
    limits = limits or Limits()
    exact_values = problem.utility.scalar_values(problem.domain)
    if exact_values is None:
        expected = "the error of the best estimate of a scalar"
        raise UnsupportedError("objective", expected, problem.utility.name)
    occur = [value for value, p in zip(exact_values, problem.prior, strict=True) if p]
    low, high = min(occur), max(occur)
    if low == high:
        blind = np.ones((len(problem.domain), 1))
        return RawSolution(blind, name_outputs(problem, 1), None, "decoder-grid: one value")
    band = Band.of(problem) if by_bands else None
    if band is not None:
        f = np.array([float((value - low) / (high - low)) for value in occur])
        return solve_band_decoders(problem, band, f, limits, float(high - low) ** 2)
    low, high = min(exact_values), max(exact_values)
    f = np.array([float((value - low) / (high - low)) for value in exact_values])
    span = float(high - low)
    search = _DecoderGridSearch(problem.cone, problem.prior.array, f, span**2, limits)
    search.run()
    # back to the unit of f: decoders exactly as written, errors times the square of the range
    decoders = [as_fraction(float(low) + span * s) for s in sorted(search.bound.probes)]
    decoders[0], decoders[-1] = low, high
    dual = Dual(search.multipliers(), decoders=tuple(decoders))
    note = f"{search.rounds} rounds of linear programs, bound from {len(decoders)} probes"
    kept = search.matrix.max(axis=0) > 0
    matrix = search.matrix[:, kept]
    outputs = name_outputs(problem, matrix.shape[1])
    return RawSolution(matrix, outputs, dual, "decoder-grid: HiGHS", [note])


class _DecoderGridSearch:
    """Decoders, the channel for them, and the probes that bound every other.

    Errors are in units in which f runs from 0 to 1; ``unit`` is what those are in the user's.
    """

    def __init__(
        self, cone: Cone, prior: FloatArray, f: FloatArray, unit: float, limits: Limits
    ) -> None:
        self.cone, self.prior, self.f, self.unit, self.limits = cone, prior, f, unit, limits
        self.matrix: FloatArray = np.ones((len(f), 1))
        self.bound = _DecoderBound(-np.inf, {}, None)
        self.rounds = 0

    def run(self) -> None:
        """Solve, add decoders, and again until the bound is near."""
        decoders = np.linspace(0, 1, FIRST_DECODERS)
        best = np.inf
        for self.rounds in range(1, ROUNDS + 1):
            part = HighsProgram(ConicProgram(self.cone, self._cost(decoders)))
            try:
                part.solve(self.limits)
            except SolverError:
                if self.rounds > 1 and self.limits.over():
                    return
                raise
            means, matrix = self._merged(part.matrix)
            value = self._value(matrix)
            if value < best:
                best, self.matrix = value, matrix
            pricer = WarmColumn(self.cone, self.prior, part.prior_table)
            goal = max(max(GOAL, ENOUGH * self.limits.gap) * value, LEAST_GOAL)
            wanted = self._probe(pricer, part.potentials, means, goal)
            # decoders that were added once stay, or the potentials oscillate
            more = distinct(np.concatenate([decoders, means, wanted]))
            self.limits.tell(self.rounds, self.unit * best, self.unit * self.bound.least)
            near = best - self.bound.least <= self.limits.gap * best
            if near or not wanted or self.limits.over():
                return
            if len(more) == len(decoders) or self.rounds == ROUNDS:
                self._probe(pricer, part.potentials, means, goal, final=True)
                return
            decoders = more

    def _cost(self, decoders: FloatArray) -> FloatArray:
        return self.prior[:, None] * (self.f[:, None] - decoders[None, :]) ** 2

    def _value(self, matrix: FloatArray) -> float:
        output = self.prior @ matrix
        moment = (self.prior * self.f) @ matrix
        used = output > 0
        return float(self.prior @ self.f**2 - (moment[used] ** 2 / output[used]).sum())

    def _merged(self, matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the posterior means in use and the columns, those of one mean added up."""
        output = self.prior @ matrix
        kept = output > USED
        columns = matrix[:, kept]
        # outputs that are hardly ever sent, or by inputs of prior 0 only, join the commonest one
        columns[:, np.argmax(output[kept])] += matrix[:, ~kept].sum(axis=1)
        output = self.prior @ columns
        means = (self.prior * self.f) @ columns / output
        order = np.argsort(means)
        means, columns = means[order], columns[:, order]
        group = np.concatenate([[0], np.cumsum(np.diff(means) > SAME)])
        merged = np.zeros((len(self.f), int(group[-1]) + 1))
        np.add.at(merged.T, group, columns.T)
        return (self.prior * self.f) @ merged / (self.prior @ merged), merged

    def _probe(
        self,
        pricer: WarmColumn,
        u: FloatArray,
        means: FloatArray,
        goal: float,
        *,
        final: bool = False,
    ) -> list[float]:
        """Probe the decoders in use and halve gaps until none lowers the bound by ``goal``.

        Returns decoders of negative reduced cost, if a probe finds any; else the bound is good. If
        it is final, gaps are halved until none is much worse than the worst probe. The best bound
        is kept. Once time is over there are no more probes than a bound needs.
        """
        probes: dict[float, _Probe] = {}
        todo = distinct(np.concatenate([means, np.linspace(0, 1, FIRST_DECODERS)])).tolist()
        better: list[float] = []
        while todo and len(probes) + len(todo) <= MOST_PROBES:
            needed = not probes
            for s in todo:
                if not needed and self.limits.over():
                    break
                probe = probes[s] = self._probed(pricer, u, s)
                if probe.gamma < -goal and 0 <= probe.mean <= 1:
                    better.append(probe.mean)
            points, gamma = np.array(sorted((s, p.gamma) for s, p in probes.items())).T
            least = least_on_gaps(points, gamma)
            if (better and not final) or self.limits.over():
                break
            floor = min(0.0, gamma.min()) if final else 0.0
            halved = (least < floor - goal) & (np.diff(points) > SAME)
            todo = ((points[:-1] + points[1:]) / 2)[halved].tolist()
        bound = float(u.sum() + least.min())
        if bound > self.bound.least:
            self.bound = _DecoderBound(bound, probes, pricer)
        return better

    def _probed(self, pricer: WarmColumn, u: FloatArray, s: float) -> _Probe:
        """Solve the pricing LP at one decoder."""
        r, found = pricer.cheapest(self._cost(np.array([s]))[:, 0] - u)
        mean = float((self.prior * self.f) @ r)
        return _Probe(float(found.dual[-1]), mean, np.maximum(-found.dual[:-1], 0.0))

    def multipliers(self) -> tuple[FamilyDual, ...]:
        """Return the multipliers of all probes, by the notions' rows, in the user's unit."""
        pricer, probes = self.bound.pricer, self.bound.probes
        multipliers = [probes[s].multipliers for s in sorted(probes)]
        return () if pricer is None else pricer.families(multipliers, self.unit)
