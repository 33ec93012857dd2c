"""The bound that representatives prove, from a program with some of the outputs.

The program of representatives is solved with some outputs only, for its potentials u. Multipliers
of every output y, also of those that were left out, are then found by a linear program on one
column,

    minimize (C_y - u) . q   over q in the cone with Sum_i q_i <= 1,

whose multipliers w leave C_y + w (e**-a left - right) below u by no more than its optimum. That is
near 0 where the outputs of the program are close to all others: on the city of 64 x 64 cells, 300
outputs of 4,096 were enough for 99 percent of the bound. The multipliers are those of a vertex, so
that no more are above 0 than there are representatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.evidence.multipliers import block_of, shortened
from mechdesign.evidence.rows import blocks_of, spared
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.generators import Block
from mechdesign.kernel.linearizations import Costs
from mechdesign.kernel.oracles import Orthant
from mechdesign.kernel.relaxations import Representatives
from mechdesign.notions.rows.row import Multipliers
from mechdesign.problem import Problem
from mechdesign.search.coarse.representatives import CoarseProgram
from mechdesign.search.highs import LPModel, WarmStartedLP
from mechdesign.search.interior.solve import by_interior
from mechdesign.search.limits import Limits
from mechdesign.search.lp.linear_program import by_highs
from mechdesign.search.presolve.reduction import ConicProgram, reduced_costs

__all__ = ["CoarseBound", "RepresentativesProof", "coarse_bound", "first_outputs", "refined"]

ACCURATE = 1e-2
"""The gap to which a program on representatives is solved: the bound is no closer anyhow."""

FIRST, GROWTH, MOST = 60, 2.6, 600
"""Representatives in the first round; how many times more there are in each round after; and in the
last one at most: their rows and factors fill a gigabyte."""

POWER, LEAST_GROWTH, SHARE = 3.2, 1.15, 0.75
"""The power of the number of representatives with which the time of a round grows, the least growth
that is worth another round, and the share of the time left that a round may be expected to take:
one that the limit ends proves less than the round before."""


@dataclass(frozen=True)
class RepresentativesProof:
    """Multipliers of rows on representatives, which stand for all inputs.

    Attributes
    ----------
    stands
        The representative of each input.
    duals
        Multipliers of rows of the notions.
    spare
        What leaving out some of them may take off the bound.
    """

    stands: tuple[int, ...]
    duals: Sequence[Multipliers]
    spare: float

    def __call__(self, problem: Problem) -> Certificate:
        """Return the certificate."""
        rows = shortened(problem, self.duals, len(problem.guesses), lambda: self.spare)
        blocks = self.renumbered(blocks_of(problem, rows, {}))
        return Certificate(Costs(), Orthant(), (Representatives(self.stands),), blocks)

    def renumbered(self, blocks: Iterable[Block]) -> tuple[Block, ...]:
        """Return multipliers with inputs numbered among the representatives."""
        at = {x: n for n, x in enumerate(sorted(set(self.stands)))}
        return tuple(
            block_of(
                block.of,
                block.place,
                block.side,
                [
                    (y, at[x], at[z], w)
                    for y, x, z, w in zip(
                        block.node, block.x, block.others, block.weight, strict=True
                    )
                ],
            )
            for block in blocks
        )


@dataclass(frozen=True)
class CoarseBound:
    """A bound with what proves it.

    Attributes
    ----------
    value
        The bound, in floating point.
    proof
        The evidence.
    weights
        ``(n_outputs,)``: how much of an output the program uses, or how far it is from having
        multipliers as good as those of its outputs, as a share of the bound.
    cells
        The rectangles that outputs are, on a lattice.
    """

    value: float
    proof: RepresentativesProof
    weights: FloatArray
    cells: tuple[tuple[int, int, int, int], ...] = ()

    @property
    def n_inputs(self) -> int:
        """How many representatives there are."""
        return len(set(self.proof.stands))


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
        Those of the program that is solved.
    limits
        When to end.
    """
    unit, cone, part = float(costs.max()) or 1.0, program.cone(), limits.part()
    costs, part.gap = costs / unit, max(limits.gap, ACCURATE)
    small = ConicProgram(cone, costs[:, outputs])
    try:
        answer = by_interior(small, part)
    except UnsupportedError:
        answer = by_highs(small, part)
    potentials = reduced_costs(small, answer.duals).min(axis=1)
    rows = cone.matrix()
    sums = sp.csr_array(np.ones((1, cone.size)))
    high = np.append(np.zeros(rows.shape[0]), 1.0)
    A = sp.csr_array(sp.vstack([rows, sums]))
    pricing = WarmStartedLP(LPModel(np.zeros(cone.size), A, -np.inf + high, high), "simplex")
    multipliers: FloatArray = np.zeros((rows.shape[0], costs.shape[1]))
    for y, reduced in enumerate((costs - potentials[:, None]).T):
        if limits.expired():
            break
        multipliers[:, y] = np.maximum(-pricing.solve(reduced).dual[:-1], 0.0)
    costs += rows.T @ multipliers
    value = float(costs.min(axis=1).sum())
    spare = spared(unit * value, -math.inf, limits.gap)
    stands = tuple(program.stands.tolist())
    proof = RepresentativesProof(stands, program.on_inputs(cone, multipliers, unit), spare)
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
    """Yield bounds, each better than those before, from more representatives while there is time.

    Parameters
    ----------
    bound
        Returns the bound of so many representatives, and whether it is the last of that number.
    most
        Inputs that may stand for others.
    value
        The loss of a channel that there is, for reports of progress.
    limits
        When to end.
    held
        Rounds with the first number of representatives.
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
        if found.value > best:
            best = found.value
            yield found
        if limits.report(rounds, value, best) or (count >= most and is_last):
            return
        taken = max(limits.elapsed - before, 1e-9)
        growth = min(GROWTH, (SHARE * limits.left / taken) ** (1 / POWER))
        if growth < LEAST_GROWTH:
            limits.ended = f"the time limit of {limits.seconds:g} s is too near for more inputs"
            return
        if rounds >= held:
            count = min(round(growth * count), most)
