"""The least expected loss by column generation (Dantzig and Wolfe 1960) over extreme rays.

A column of a channel is a mixture of extreme rays r of the cone, so that the best channel is

    minimize Sum_j theta_j c_{y_j} . r_j   over theta >= 0 with Sum_j theta_j r_j = 1,

each ray with an output y_j whose costs are c_{y_j}. The potentials u of the inputs, the dual
variables of the equations, tell which rays to add: those of negative reduced cost (c_y - u) . r
(see `pricing`). Potentials oscillate from round to round; so rays are sought at a mean of the last
ones and of those that gave the best bound (Wentges 1997).

The first rays are the k that are largest on one input each. If they are independent and some
mixture of them is a channel, it is a basis, and its potentials solve k equations. On a line, with a
loss that grows with the distance, no other ray has a negative reduced cost, for any prior: one
round is all. Elsewhere the program is stated in the coordinates in which they are the unit vectors;
there other rays are often sparse, on a line with an entry for each of their peaks and valleys.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, RawSolution
from mechdesign.routes.column_generation.feasible_prices import PRICERS
from mechdesign.routes.column_generation.lp_pricer import LPPricer
from mechdesign.routes.column_generation.master import RestrictedMaster
from mechdesign.routes.column_generation.pricing import PricedColumns, Pricer, Start
from mechdesign.routes.cones.input_line import ratio_lengths
from mechdesign.routes.cones.price_search import price_search
from mechdesign.routes.highs import UNIT
from mechdesign.routes.limits import Limits
from mechdesign.routes.presolve.chain import program_cost
from mechdesign.routes.presolve.implied_pairs import implied_pairs

__all__ = ["solve_columns", "suits"]


ROUNDS = 10_000
SMOOTHING, STEP, NEARER = 0.25, 0.1, 0.3
"""The share of the best potentials in those at which rays are sought, at first; how much it changes
from round to round, and where nothing was found."""

NEGATIVE = 1e-11
"""A ray is added if its reduced cost is below minus this, in the unit of the costs."""

ROUNDING = 1e-12
"""A mixture may have weights below 0 by this much, which rounding explains."""

FEW = 6
"""Rows for each input, once those that follow from others are dropped, that count as few."""

MOST_COLUMNS, KEPT = 8, 3
"""Times the number of inputs: with more columns than that, only the cheapest are kept."""


def solve_columns(
    problem: Problem, limits: Limits | None = None, workers: int | None = None
) -> RawSolution:
    """Find the channel of least expected loss by extreme rays.

    Parameters
    ----------
    problem
        With a :class:`~mechdesign.utilities.LinearUtility` in expectation, and notions that all
        speak of columns.
    limits
        When to stop; default at the optimum.
    workers
        Threads for the linear programs over one column, where it takes any.

    Raises
    ------
    UnsupportedError
        If the problem is another.
    SolverError
        If HiGHS fails before there is a channel.

    Examples
    --------
    >>> from mechdesign import Domain, MeanAbsoluteError, MetricPrivacy
    >>> line = Problem(Domain([0, 1, 4, 6]), MetricPrivacy(1, "absolute"), MeanAbsoluteError())
    >>> found = solve_columns(line)
    >>> found.route, found.notes[0]
    ('columns: dynamic programming along the line', '1 round of pricing; 4 columns in use')
    >>> float((abs(np.subtract.outer([0, 1, 4, 6], [0, 1, 4, 6])) * found.matrix).sum() / 4)
    0.3505...
    """
    if problem.expected_loss is None:
        raise UnsupportedError("objective", "an expected loss", problem.utility.name)
    if not problem.is_conic:
        raise UnsupportedError("privacy", "notions that speak of columns", problem.non_conic[0])
    limits = Limits() if limits is None else limits
    cost, scale = program_cost(problem)
    form = price_search(problem)
    special = PRICERS[form].of(problem, cost) if form else None
    pricer: Pricer = special or LPPricer(problem.cone, cost, scale, workers)
    search = _ColumnGeneration(pricer, cost, scale, limits)
    search.run()
    outputs = problem.outputs or ()
    route = f"columns: {pricer.route}"
    return RawSolution(search.matrix(), outputs, search.dual(form), route, search.notes())


def suits(problem: Problem, *, small: bool = False) -> str | None:
    """Return the reason for column generation, in a few words; None where there is none.

    A small one should only be on a line.
    """
    if problem.expected_loss is None or not problem.is_conic:
        return None
    if price_search(problem) == "chain":
        return "the inputs lie on a line, where rays are found one input after the other"
    E = None if small else ratio_lengths(problem.cone)
    if E is None or not np.array_equal(E, E.T):
        return None
    (first, *more) = problem.cone.families
    pairs = first.ratio_rows()
    if more or pairs is None or pairs.near is None:
        n_pairs = int((np.isfinite(E) & ~implied_pairs(E)).sum())
    else:
        n_pairs = pairs.n_checked
    if n_pairs > (1 + FEW) * len(E):
        return None
    return "each input is bound by few others, so that rays are simple"


@dataclass
class _Columns:
    """A mixture of rays with an output each: ``rays`` ``(k, n)``, ``outputs`` and weights."""

    rays: FloatArray
    outputs: IntArray
    theta: FloatArray


class _ColumnGeneration:
    """The rounds of column generation.

    Attributes
    ----------
    value, bound
        The loss of the best channel so far, and the best bound, in the unit of the costs.
    """

    def __init__(self, pricer: Pricer, cost: FloatArray, scale: float, limits: Limits) -> None:
        self.pricer, self.cost, self.scale, self.limits = pricer, cost, scale, limits
        self.rounds = 0
        k, self.n_outputs = cost.shape
        self._blind = int(np.argmin(cost.sum(axis=0)))  # what to send without looking
        self.found = _Columns(np.ones((k, 1)), np.array([self._blind]), np.ones(1))
        self.value = float(cost[:, self._blind].sum())
        self.bound = float(cost.min(axis=1).sum())  # each input gets its best output
        self._best: tuple[PricedColumns, FloatArray] | None = None
        self._center: FloatArray | None = None
        self._center_bound, self._share = -np.inf, SMOOTHING
        self._failure = ""

    def run(self) -> None:
        """Try the basis of the first rays; if it is not optimal, generate columns."""
        if self.limits.tell(0, self.value * self.scale, self.bound * self.scale):
            return
        start = self.pricer.start()
        costs = start.rays.T @ self.cost
        outputs = np.argmin(costs, axis=1)
        costs = costs[np.arange(len(costs)), outputs]
        try:
            better, over = self._crash(start, outputs, costs)
            if not over:
                self._generate(start, outputs, costs, better)
        except SolverError as error:
            if self._best is None and self.rounds == 0:
                raise
            self._failure = str(error)

    def _crash(
        self, start: Start, outputs: IntArray, costs: FloatArray
    ) -> tuple[_Columns | None, bool]:
        """Take the first rays as a basis, if they are one; return better ones, whether to stop.

        With R the matrix of the rays and T = R**-1, theta = T 1 is a channel if it is >= 0, and the
        potentials solve R' u = the rays' costs.
        """
        if start.change is None:
            return None, False
        theta = start.change @ np.ones(len(costs))
        if theta.min() < -ROUNDING:
            return None, False
        if theta @ costs < self.value:
            self.found = _Columns(start.rays, outputs, np.maximum(theta, 0.0))
            self.value = float(theta @ costs)
        potentials = start.change.T @ costs
        priced, over = self._seek(potentials)
        return (None if over else self._negative(self._rays(priced), potentials)), over

    def _seek(self, potentials: FloatArray) -> tuple[PricedColumns, bool]:
        """Price all outputs, keep the bound if it is the best; return whether to stop."""
        priced = self.pricer.price(potentials, self.limits.over)
        self.rounds += 1
        bound = float(potentials.sum()) + priced.shortfall
        if bound > self._center_bound:
            self._center, self._center_bound = potentials, bound
        if bound > self.bound:
            self.bound, self._best = bound, (priced, potentials)
        told = self.value * self.scale, self.bound * self.scale
        return priced, self.limits.tell(self.rounds, *told)

    def _generate(
        self, start: Start, outputs: IntArray, costs: FloatArray, better: _Columns | None
    ) -> None:
        """Add columns until none has a negative reduced cost; first some that are known to."""
        k = len(self.cost)
        # what tells nothing is a channel, whatever the first rays are
        rays = np.column_stack([start.rays, np.ones(k)])
        costs = np.append(costs, self.cost[:, self._blind].sum())
        outputs = np.append(outputs, self._blind)
        program = RestrictedMaster(rays, -costs, start.change, UNIT)
        has = _keys(rays, outputs)
        while self.rounds < ROUNDS:
            if better is not None:
                before = len(has)
                has |= _keys(better.rays, better.outputs)
                if len(has) == before:
                    raise SolverError("HiGHS (rays) asks for columns that it has")
                costs = (self.cost[:, better.outputs] * better.rays).sum(axis=0)
                program.add(better.rays, -costs)
                outputs = np.concatenate([outputs, better.outputs])
            theta, gains = program.solve()
            potentials, self.value = -gains, float(-theta @ program.gain)
            self.found = _Columns(program.rays, outputs, theta)
            if len(theta) > MOST_COLUMNS * k:
                reduced = -program.gain - potentials @ program.rays
                kept = program.keep(reduced <= np.partition(reduced, KEPT * k)[KEPT * k])
                outputs = outputs[kept]
                has = _keys(program.rays, outputs)
            better = self._better(potentials)
            if better is None:
                return

    def _better(self, potentials: FloatArray) -> _Columns | None:
        """Return columns of negative reduced cost; None to stop, for whatever reason.

        Rays sought at a mean of two potentials may have none at the last ones: then the search goes
        on nearer to these.
        """
        share = self._share
        while True:
            center = potentials if self._center is None else self._center
            priced, over = self._seek(share * center + (1 - share) * potentials)
            if over:
                return None
            rays = self._rays(priced)
            if share == self._share:
                worst = rays[:, np.argmin(priced.reduced)]
                self._adapt(float((1 - len(rays) * worst / worst.sum()) @ (potentials - center)))
            better = self._negative(rays, potentials)
            if better is not None:
                return better
            if share == 0:
                return None
            share = max(0.0, share - NEARER)

    def _rays(self, priced: PricedColumns) -> FloatArray:
        """Return the rays found for all outputs, with largest entries of 1."""
        rays = priced.rays(np.arange(self.n_outputs))
        return np.asarray(rays / rays.max(axis=0))

    def _negative(self, rays: FloatArray, potentials: FloatArray) -> _Columns | None:
        """Return those rays of all outputs whose reduced costs are negative, if any."""
        reduced = ((self.cost - potentials[:, None]) * rays).sum(axis=0)
        added = np.flatnonzero(reduced < -NEGATIVE)
        return _Columns(rays[:, added], added, np.zeros(len(added))) if len(added) else None

    def _adapt(self, slope: float) -> None:
        """Seek nearer to the last potentials if the bound rises towards them, else farther away.

        The slope is that of Sum_x u_x + k min_r (c - u) . r / 1 . r, a bound that is concave in u
        (Pessoa et al. 2018).
        """
        if slope > 0:
            self._share = max(0.0, self._share - STEP)
        else:
            self._share += STEP * (1 - self._share)

    def matrix(self) -> FloatArray:
        """Return the best channel, up to rounding errors."""
        used = np.flatnonzero(self.found.theta > 0)
        outputs = self.found.outputs[used]
        places = (np.arange(len(used)), outputs)
        sent = sp.csr_array((self.found.theta[used], places), shape=(len(used), self.n_outputs))
        return np.asarray(self.found.rays[:, used] @ sent)

    def dual(self, form: str) -> Dual:
        """Return the evidence for the best bound; without any, each input gets its best output.

        Parameters
        ----------
        form
            How the checker completes potentials; empty where the multipliers are the evidence.
        """
        if self._best is None:
            return Dual(())
        priced, potentials = self._best
        return Dual(priced.multipliers(), potentials=self.scale * potentials, search=form)

    def notes(self) -> list[str]:
        """Return what is to be said of the search."""
        used = int(np.count_nonzero(self.found.theta))
        rounds = "1 round" if self.rounds == 1 else f"{self.rounds} rounds"
        found = [f"{rounds} of pricing; {used} columns in use"]
        return [*found, self._failure] if self._failure else found


def _keys(rays: FloatArray, outputs: IntArray) -> set[tuple[int, bytes]]:
    """Return what tells columns apart: the output, and the ray to nine digits."""
    rounded = np.round(rays.T / rays.max(axis=0)[:, None], 9) + 0.0
    return set(zip(outputs.tolist(), (ray.tobytes() for ray in rounded), strict=True))
