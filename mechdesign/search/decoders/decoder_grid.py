"""The least posterior-mean squared error of a scalar f(X), by linear programs over decoders.

The error is concave in Q, so that minimizing it is no convex program. But if output y is decoded as
s_y, the error is linear,

    Sum_y Sum_x P_x Q[x, y] (f_x - s_y)**2,

and its minimum over decoders is the posterior-mean error, attained at the posterior means. It is a
constant less a sum of gains, g(r) = (Sum_x P_x f_x r_x)**2 / (P . r) of the column r, which is
convex: so extreme rays of the cone are mixed by column generation
(:mod:`mechdesign.search.generation`). Rays are found by linear programs at decoders.

Let u be potentials of the inputs, and at a decoder s let

    gamma(s) = min over private columns r with P . r = 1 of  Sum_x r_x (P_x (f_x - s)**2 - u_x),

the least reduced cost of a column decoded as s. Summing over the columns of any private channel,
whose output probabilities sum to 1, its error is at least Sum_x u_x + min_s gamma(s). At a probe s
the dual of this small program gives multipliers of the rows that make every entry of its reduced
cost at least P_x gamma(s). Between two probes both are known from the ends, because there

    (f - s)**2 = its chord between s_i and s_{i+1}, less (s - s_i)(s_{i+1} - s),

so that mixing the multipliers of the ends proves the chord of gamma less the same term: see
:mod:`mechdesign.kernel.linearizations.decoders`, which the probes are chosen for. Gaps
between probes are halved until the bound is good.

That is for any cone. Where the notion is a band, bounds on one lift or local differential privacy,
:mod:`mechdesign.search.decoders.band_decoders` is faster on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.rows import certificate, spared
from mechdesign.exact import as_fraction
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.linearizations import Decoders
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.decoders.band_decoders import (
    SAME,
    least_on_gaps,
    solve_band_decoders,
)
from mechdesign.search.generation import WORTH_ADDING, Generation, Pace, SurplusBound
from mechdesign.search.highs import UNIT
from mechdesign.search.interior.band_cone import Band
from mechdesign.search.limits import Limits
from mechdesign.search.lp.warm_column import WarmColumn
from mechdesign.search.master import RestrictedMaster

__all__ = ["solve_decoder_grid"]


FIRST_PROBES, MOST_PROBES = 17, 4000
"""Evenly spaced probes of each bound, and the most of them."""

PACE = Pace(goal=4e-9, patience=math.inf, last_patience=math.inf, worth=0.3)


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
        Whether to use the faster method of :mod:`~mechdesign.search.decoders.band_decoders` where
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
        return RawSolution(blind, name_outputs(problem, 1), (), "decoder-grid: one value")
    band = Band.of(problem) if by_bands else None
    if band is not None:
        f = np.array([float((value - low) / (high - low)) for value in occur])
        return solve_band_decoders(problem, band, f, limits, float(high - low) ** 2)
    low, high = min(exact_values), max(exact_values)
    f = np.array([float((value - low) / (high - low)) for value in exact_values])
    span = float(high - low)
    pricer = _DecoderPricer(problem, f, low, high)
    rays = np.column_stack([*pricer.first_rays()])
    program = RestrictedMaster(rays, pricer.gain(rays), unit=UNIT)
    prior = problem.prior.array
    constant, mean = float(prior @ f**2), float(prior @ f)
    within, center = limits.part(span**2), prior * mean * (2 * f - mean)
    search = Generation(pricer, program, lambda gain: constant - gain, within, center)
    search.run()
    matrix = search.columns
    value = constant - float(program.gain @ search.theta)
    pricer.spare = spared(span**2 * value, -math.inf, limits.gap)
    outputs = name_outputs(problem, matrix.shape[1])
    return RawSolution(matrix, outputs, search.proofs, "decoder-grid: HiGHS", search.notes())


@dataclass(frozen=True)
class _Probe:
    """The least reduced cost at a decoder, its column, and the multipliers of rows."""

    gamma: float
    column: FloatArray
    multipliers: FloatArray


class _DecoderPricer:
    """Finds columns of positive surplus by linear programs at decoders.

    Parameters
    ----------
    problem
        Any notion on columns.
    f
        ``(n_inputs,)`` values of f, scaled to [0, 1].
    low, high
        What they were scaled from.
    """

    how, pace, steps_of_a_box = "linear programs at decoders", PACE, 0

    def __init__(self, problem: Problem, f: FloatArray, low: Fraction, high: Fraction) -> None:
        self.prior, self.cone, self.size = problem.prior.array, problem.cone, len(f)
        self.f, self.low, self.high, self.spare = f, low, high, 0.0
        self._column = WarmColumn(self.cone, self.prior)
        component = self.cone.components()
        mass = np.bincount(component, self.prior)
        self._never = [np.flatnonzero(component == part) for part in np.flatnonzero(mass == 0)]
        """Components of inputs that never occur."""

    def gain(self, rays: FloatArray) -> FloatArray:
        """Return the gain of rays, ``(n_inputs, n_rays)``."""
        output, moment = self.prior @ rays, (self.prior * self.f) @ rays
        return np.divide(moment**2, output, out=np.zeros(len(output)), where=output > 0)

    def first_rays(self) -> Iterator[FloatArray]:
        """Yield the column of ones, columns of inputs that never occur, and some rays."""
        yield np.ones(self.size)
        for inputs in self._never:
            yield np.isin(np.arange(self.size), inputs).astype(np.float64)
        for x in np.flatnonzero(self.prior == 0):
            unit = np.eye(self.size)[x]
            if self.cone.violation(unit.astype(int).tolist()) is None:
                yield unit
        for s in np.linspace(0, 1, FIRST_PROBES):
            yield self._probed(self.prior * self.f**2, s).column

    def price(
        self, u: FloatArray, goal: float, boxes: int, limits: Limits | None = None
    ) -> SurplusBound:
        """Return a bound on the surplus of all columns, and columns with a positive one.

        Probes are halved until the gaps between them cost no more than a share of the goal, or of
        the largest surplus. Once time is over there are no more of them than a bound needs.
        """
        limits, u = limits or Limits(), u.copy()
        for inputs in self._never:  # no column of theirs has a surplus at the mean
            u[inputs] = u[inputs].mean()
        potentials = self.prior * self.f**2 - u
        todo = np.linspace(0, 1, FIRST_PROBES)
        probes: dict[float, _Probe] = {}
        while True:
            probes |= {s: self._probed(potentials, s) for s in todo.tolist()}
            s, gamma = np.array(sorted((s, probe.gamma) for s, probe in probes.items())).T
            least, worst = least_on_gaps(s, gamma), min(0.0, float(gamma.min()))
            halve = (least < worst - max(0.1 * goal, 0.1 * -worst)) & (np.diff(s) > SAME)
            if not halve.any() or len(s) > MOST_PROBES or limits.expired():
                break
            todo = ((s[:-1] + s[1:]) / 2)[halve]
        better = [probe.column for probe in probes.values() if probe.gamma < -WORTH_ADDING * goal]
        surplus = -min(float(least.min()), float(gamma.min()))
        return SurplusBound(surplus, better, partial(self._certificate, probes))

    def _probed(self, potentials: FloatArray, s: float) -> _Probe:
        """Solve the pricing program at one decoder."""
        cost = self.prior * (self.f - s) ** 2 - potentials
        column, found = self._column.cheapest(cost)
        multipliers = np.maximum(-found.dual[:-1], 0.0)
        return _Probe(float(found.dual[-1]), np.maximum(column, 0.0), multipliers)

    def _certificate(self, probes: dict[float, _Probe], problem: Problem) -> Certificate:
        """Return the multipliers of all probes, by the notions' rows, in the user's unit."""
        span, points = float(self.high - self.low), sorted(probes)
        # decoders exactly as written, errors times the square of the range
        decoders = [as_fraction(float(self.low) + span * s) for s in points]
        decoders[0], decoders[-1] = self.low, self.high
        duals = self._column.families([probes[s].multipliers for s in points], span**2)
        line = Decoders(tuple(decoders))
        return certificate(
            problem, line, duals=duals, n_nodes=len(points), spare=lambda: self.spare
        )
