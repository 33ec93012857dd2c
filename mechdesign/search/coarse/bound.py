"""The bound proved by representatives, from a program with a subset of the outputs.

The program of representatives is solved with some outputs only, for its potentials u. A linear
program on one column then finds multipliers of every output y, including the omitted ones,

    minimize (C_y - u) . q   over q in the cone with Sum_i q_i <= 1,

whose multipliers w leave C_y + w (e**-a left - right) below u by at most its optimum. This is near
0 if every output is close to one in the program: on a city of 64 x 64 cells, 300 outputs of 4,096
were enough for 99 percent of the bound. The multipliers are those of a vertex, so at most as many
are positive as there are representatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.evidence.rows import blocks_of, shortened, spared
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.linearizations import Costs
from mechdesign.kernel.oracles import Orthant
from mechdesign.kernel.relaxations import Representatives
from mechdesign.notions.rows.row import Multipliers
from mechdesign.problem import Problem
from mechdesign.search.coarse.representatives import CoarseProgram
from mechdesign.search.interior.solve import by_interior
from mechdesign.search.limits import Limits
from mechdesign.search.lp.linear_program import by_highs
from mechdesign.search.lp.lp_pricer import LPPricer
from mechdesign.search.presolve.reduction import ConicProgram, reduced_costs

ACCURATE = 1e-2
"""The gap of a program on representatives: the bound is not more accurate anyway."""

FIRST, GROWTH, MOST = 60, 2.6, 600
"""Representatives in the first round, their growth factor per round, and their number in the last
round at most: then their rows and factors fill a gigabyte."""

POWER, LEAST_GROWTH, SHARE = 3.2, 1.15, 0.75
"""The exponent of the time of a round in the number of representatives, the least growth worth
another round, and the largest expected time of a round as a share of the time left: a round that
the limit ends proves less than the previous one."""


@dataclass(frozen=True)
class RepresentativesProof:
    """Multipliers of rows on representatives, in place of all inputs.

    Attributes
    ----------
    stands
        The representative of each input.
    duals
        Multipliers of rows of the notions.
    spare
        The loss of the bound allowed for omitted multipliers.
    """

    stands: tuple[int, ...]
    duals: Sequence[Multipliers]
    spare: float

    @property
    def n_inputs(self) -> int:
        """The number of representatives."""
        return len(set(self.stands))

    def __call__(self, problem: Problem) -> Certificate:
        """Return the certificate."""
        rows = shortened(problem, self.duals, len(problem.guesses), lambda: self.spare)
        blocks = tuple(blocks_of(problem, self.renumbered(rows), {}))
        return Certificate(Costs(), Orthant(), (Representatives(self.stands),), blocks)

    def renumbered(self, parts: Sequence[Multipliers]) -> list[Multipliers]:
        """Return multipliers with inputs numbered among the representatives."""
        at: IntArray = np.zeros(max(self.stands) + 1, dtype=np.intp)
        at[np.unique(self.stands)] = np.arange(self.n_inputs)
        return [replace(m, x=at[m.x], other=at[m.other]) for m in parts]


@dataclass(frozen=True)
class CoarseBound:
    """A bound with its evidence.

    Attributes
    ----------
    value
        The bound, in floating point.
    proof
        The evidence.
    weights
        ``(n_outputs,)``: the use of an output by the program, or the excess of its multipliers, as
        a share of the bound.
    cells
        The rectangles of outputs, on a lattice.
    """

    value: float
    proof: RepresentativesProof
    weights: FloatArray
    cells: tuple[tuple[int, int, int, int], ...] = ()


def first_outputs(loss: FloatArray, inputs: IntArray) -> IntArray:
    """Return the best output for each of some inputs."""
    return np.unique(loss[inputs].argmin(axis=1))


def coarse_bound(
    program: CoarseProgram, costs: FloatArray, outputs: IntArray, limits: Limits
) -> CoarseBound:
    """Solve the program of representatives with some outputs, and bound it with all.

    Parameters
    ----------
    program
        The representatives.
    costs
        ``(n, n_outputs)``: those of the representatives.
    outputs
        The outputs of the solved program.
    limits
        The limits of the search.
    """
    unit, cone, part = float(costs.max()) or 1.0, program.cone(), limits.part()
    costs, part.gap = costs / unit, max(limits.gap, ACCURATE)
    small = ConicProgram(cone, costs[:, outputs])
    try:
        answer = by_interior(small, part)
    except UnsupportedError:
        answer = by_highs(small, part)
    potentials = reduced_costs(small, answer.duals).min(axis=1)
    pricing, whole = LPPricer(cone, at_most=True), ConicProgram(cone, costs)
    priced = pricing.price(costs - potentials[:, None], limits.expired)
    duals = pricing.duals(priced.multipliers)
    costs = reduced_costs(whole, duals)
    value = float(costs.min(axis=1).sum())
    spare = spared(unit * value, -math.inf, limits.gap)
    stands = tuple(program.stands.tolist())
    proof = RepresentativesProof(stands, program.on_inputs(duals, unit), spare)
    weights = np.maximum(potentials[:, None] - costs, 0.0).sum(axis=0) / max(value, 1e-9)
    weights[outputs] += answer.matrix.mean(axis=0)
    return CoarseBound(unit * value, proof, weights)


def refined(
    bound: Callable[[int], tuple[CoarseBound, bool]],
    most: int,
    value: float,
    limits: Limits,
    held: int = 1,
) -> Iterator[CoarseBound]:
    """Yield increasing bounds, from more and more representatives, until the time is over.

    Parameters
    ----------
    bound
        Returns the bound for a number of representatives, and whether it is the last for it.
    most
        The number of possible representatives.
    value
        The loss of a known channel, for progress reports.
    limits
        The limits of the search.
    held
        The number of rounds with the first number of representatives.
    """
    most, best, rounds = min(MOST, most), -math.inf, 0
    count = min(FIRST, most)
    while True:
        before = limits.elapsed
        try:
            found, is_last = bound(count)
        except SolverError:
            return
        rounds += 1
        ended = limits.report(rounds, value, max(best, found.value))
        if found.value > best:
            best = found.value
            yield found
        if ended or (count >= most and is_last):
            return
        taken = max(limits.elapsed - before, 1e-9)
        growth = min(GROWTH, (SHARE * limits.left / taken) ** (1 / POWER))
        if growth < LEAST_GROWTH:
            limits.ended = f"the time limit of {limits.seconds:g} s is too near for more inputs"
            return
        if rounds >= held:
            count = min(round(growth * count), most)
