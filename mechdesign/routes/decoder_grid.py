"""The posterior-mean squared error of a scalar f(X): linear programs over decoders, to any gap.

Minimising the error is concave in Q. But if output y is decoded as s_y, the error is linear:

    Sum_y Sum_x P_x Q[x, y] (f_x - s_y)**2,

and its minimum over decoders is the posterior-mean error. So one solves the linear program for a
grid of decoders, moves the grid to the posterior means in use, and again.

The bound needs no fine grid. Let u be the dual of the row sums, and at a decoder s let

    gamma(s) = min over private columns r with P . r = 1 of  Sum_x r_x (P_x (f_x - s)**2 - u_x).

If gamma >= 0 everywhere, no private channel is below Sum_x u_x. At a probe s the dual of this small
program gives weights on the rows that make every entry of its reduced cost at least P_x gamma(s).
Between probes both are known from the two ends, because (f - s)**2 is there its chord minus
(s - s_i)(s_{i+1} - s): see :func:`mechdesign.certify.optimality.decoder_bound`, which the probes
are chosen for. Gaps between probes are halved until the bound is good.

That is for any cone. Where the notion is a band, bounds on one lift or local differential privacy,
:mod:`mechdesign.routes.band_decoders` has faster ways for both sides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import UnsupportedError
from mechdesign.exact import as_fraction
from mechdesign.notions.cone import Cone
from mechdesign.problem import Problem
from mechdesign.routes.band_decoders import solve_band_decoders
from mechdesign.routes.bands import Band
from mechdesign.routes.base import Dual, FamilyDual, RawSolution
from mechdesign.routes.hot_column import HotColumn
from mechdesign.routes.linear_program import Part
from mechdesign.utilities import PosteriorMeanSquaredError

__all__ = ["solve_decoder_grid"]

FloatArray = npt.NDArray[np.float64]

FIRST_DECODERS = 17
ROUNDS = 40
GOAL = 1e-8
"""Relative to the value: what the rounds aim at."""

MOST_PROBES = 4000
SAME = 1e-9
"""Decoders closer than this, relative to the range of f, are one."""

USED = 1e-9
LEAST_GOAL = 1e-12


@dataclass(frozen=True)
class _Probe:
    """What pricing at one decoder tells."""

    gamma: float
    mean: float
    weights: FloatArray


def solve_decoder_grid(problem: Problem) -> RawSolution:
    """Minimise the posterior-mean squared error of a scalar, for any notion.

    Parameters
    ----------
    problem
        With a :class:`~mechdesign.utilities.PosteriorMeanSquaredError`.

    Raises
    ------
    UnsupportedError
        If the utility is another.
    SolverError
        If HiGHS fails.
    """
    utility = problem.utility
    if not isinstance(utility, PosteriorMeanSquaredError):
        raise UnsupportedError("objective", "posterior-mean-squared-error", utility.name)
    exact_values = utility.values(problem.domain)
    occur = [value for value, p in zip(exact_values, problem.prior, strict=True) if p]
    low, high = min(occur), max(occur)
    if low == high:
        blind = np.ones((len(problem.domain), 1))
        return RawSolution(blind, name_outputs(problem, 1), None, "decoder-grid: one value")
    band = Band.of(problem)
    if band is not None:
        f = np.array([float((value - low) / (high - low)) for value in occur])
        return solve_band_decoders(problem, band, f)
    low, high = min(exact_values), max(exact_values)
    f = np.array([float((value - low) / (high - low)) for value in exact_values])
    search = _Search(problem.cone, problem.prior.array, f)
    search.run()
    # back to the unit of f: decoders exactly as written, errors times the square of the range
    span = float(high - low)
    decoders = [as_fraction(float(low) + span * s) for s in search.probes]
    decoders[0], decoders[-1] = low, high
    dual = Dual(search.multipliers(span**2), decoders=tuple(decoders))
    note = f"{search.rounds} rounds of linear programs, bound from {len(decoders)} probes"
    kept = search.matrix.max(axis=0) > 0
    matrix = search.matrix[:, kept]
    outputs = name_outputs(problem, matrix.shape[1])
    return RawSolution(matrix, outputs, dual, "decoder-grid: HiGHS", [note])


class _Search:
    """Decoders, the channel for them, and the probes that bound every other."""

    def __init__(self, cone: Cone, prior: FloatArray, f: FloatArray) -> None:
        self.cone, self.prior, self.f = cone, prior, f
        self.matrix: FloatArray = np.ones((len(f), 1))
        self.probes: list[float] = []
        self.rounds = 0
        self._found: dict[float, _Probe] = {}
        self._pricer: HotColumn | None = None

    def run(self) -> None:
        """Solve, move the decoders to the posterior means, and again until the bound is near."""
        decoders = np.linspace(0, 1, FIRST_DECODERS)
        best = np.inf
        for self.rounds in range(1, ROUNDS + 1):
            part = Part(self.cone, self._cost(decoders), False, "auto")
            part.solve()
            means, matrix = self._merged(part.matrix)
            value = self._value(matrix)
            if value < best:
                best, self.matrix = value, matrix
            self._pricer = HotColumn(self.cone, self.prior, part.prior_table)
            goal = max(GOAL * value, LEAST_GOAL)
            wanted = self._probe(part.potentials, means, goal)
            # those that were wanted once stay, or the dual goes back and forth
            more = _distinct(np.concatenate([decoders, means, wanted]))
            if not wanted:
                return
            if len(more) == len(decoders) or self.rounds == ROUNDS:
                self._probe(part.potentials, means, goal, final=True)
                return
            decoders = more

    def _cost(self, decoders: FloatArray) -> FloatArray:
        cost: FloatArray = self.prior[:, None] * (self.f[:, None] - decoders[None, :]) ** 2
        return cost

    def _value(self, matrix: FloatArray) -> float:
        law = self.prior @ matrix
        moment = (self.prior * self.f) @ matrix
        used = law > 0
        return float(self.prior @ self.f**2 - (moment[used] ** 2 / law[used]).sum())

    def _merged(self, matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the posterior means in use and the columns, those of one mean added up."""
        law = self.prior @ matrix
        kept = law > USED
        columns = matrix[:, kept]
        # what is hardly ever sent, or by inputs of prior 0 only, goes where most is sent
        columns[:, np.argmax(law[kept])] += matrix[:, ~kept].sum(axis=1)
        law = self.prior @ columns
        means = (self.prior * self.f) @ columns / law
        order = np.argsort(means)
        means, columns = means[order], columns[:, order]
        group = np.concatenate([[0], np.cumsum(np.diff(means) > SAME)])
        merged = np.zeros((len(self.f), int(group[-1]) + 1))
        np.add.at(merged.T, group, columns.T)
        return (self.prior * self.f) @ merged / (self.prior @ merged), merged

    def _probe(
        self, u: FloatArray, means: FloatArray, goal: float, *, final: bool = False
    ) -> list[float]:
        """Probe the decoders in use and halve gaps until none breaks the bound by ``goal``.

        Returns better decoders, if a probe shows that there are any; else the bound is good. If
        it is final, gaps are halved until none is much worse than the worst probe.
        """
        pricer = self._pricer
        if pricer is None:
            return []
        self._found = {}
        todo = _distinct(np.concatenate([means, np.linspace(0, 1, FIRST_DECODERS)])).tolist()
        better: list[float] = []
        while todo and len(self._found) + len(todo) <= MOST_PROBES:
            for s in todo:
                r, found = pricer.cheapest(self._cost(np.array([s]))[:, 0] - u)
                mean = float((self.prior * self.f) @ r)
                weights = np.maximum(-found.dual[:-1], 0.0)
                self._found[s] = _Probe(float(found.dual[-1]), mean, weights)
            better += [
                p.mean for s in todo if (p := self._found[s]).gamma < -goal and 0 <= p.mean <= 1
            ]
            self.probes = sorted(self._found)
            if better and not final:
                return better
            todo = self._gaps_to_halve(goal, self._worst() if final else 0.0)
        return better

    def _worst(self) -> float:
        return min(0.0, *(probe.gamma for probe in self._found.values()))

    def _gaps_to_halve(self, goal: float, floor: float) -> list[float]:
        """Return the middles of gaps in which the chord of gamma minus t(1-t) d**2 may go below."""
        s = np.array(self.probes)
        gamma = np.array([self._found[point].gamma for point in self.probes])
        a, b, d2 = gamma[:-1], gamma[1:], np.diff(s) ** 2
        t = np.clip(0.5 - (b - a) / (2 * d2), 0, 1)
        least = a + t * (b - a) - t * (1 - t) * d2
        middle = (s[:-1] + s[1:]) / 2
        wide = np.diff(s) > SAME
        wanted: list[float] = middle[(least < floor - goal) & wide].tolist()
        return wanted

    def multipliers(self, scale: float) -> tuple[FamilyDual, ...]:
        """Return the weights of all probes, as rows of the notions."""
        pricer = self._pricer
        if pricer is None:
            return ()
        weights = [self._found[s].weights for s in self.probes]
        return pricer.families(weights, scale)


def _distinct(points: FloatArray) -> FloatArray:
    """Return the points inside (0, 1) in order, those that are the same once, between 0 and 1."""
    inner = np.sort(points[(points > SAME) & (points < 1 - SAME)])
    inner = inner[np.diff(inner, prepend=0.0) > SAME]
    return np.concatenate([[0.0], inner, [1.0]])
