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
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.multipliers import FamilyDual, block_of, shortened
from mechdesign.evidence.rows import blocks_of, spared
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.generators import Block
from mechdesign.kernel.linearizations import Costs
from mechdesign.kernel.oracles import Orthant
from mechdesign.kernel.relaxations import Representatives
from mechdesign.notions.rows.cone import Cone
from mechdesign.problem import Problem
from mechdesign.search.coarse.representatives import CoarseProgram
from mechdesign.search.highs import LPModel, WarmStartedLP
from mechdesign.search.interior.solve import by_interior
from mechdesign.search.limits import Limits
from mechdesign.search.lp.linear_program import by_highs
from mechdesign.search.presolve.reduction import Answer, ConicProgram, reduced_costs

__all__ = ["CoarseBound", "coarse_bound", "first_outputs"]

ACCURATE = 1e-2
"""The gap to which a program on representatives is solved: the bound is no closer anyhow."""


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
    duals: tuple[FamilyDual, ...]
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
    """

    value: float
    proof: RepresentativesProof
    weights: FloatArray


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
        The representatives, and the rows on them.
    costs
        ``(n, n_outputs)``: those of the representatives.
    outputs
        Those of the program that is solved.
    limits
        When to end.
    """
    unit = float(costs.max()) or 1.0
    costs = costs / unit
    small = ConicProgram(program.cone, costs[:, outputs])
    answer = _solved(small, limits)
    potentials = reduced_costs(small, answer.duals).min(axis=1)
    pricing = _Pricing(program.cone)
    multipliers: FloatArray = np.zeros((pricing.n_rows, costs.shape[1]))
    for y in range(costs.shape[1]):
        if limits.expired():
            break
        multipliers[:, y], terms = pricing.multipliers(costs[:, y] - potentials)
        costs[:, y] += terms
    stands = tuple(program.stands.tolist())
    value = float(costs.min(axis=1).sum())
    spare = spared(unit * value, -math.inf, limits.gap)
    proof = RepresentativesProof(stands, program.on_inputs(multipliers, unit), spare)
    weights = np.maximum(potentials[:, None] - costs, 0.0).sum(axis=0) / max(value, 1e-9)
    weights[outputs] += answer.matrix.mean(axis=0)
    return CoarseBound(unit * value, proof, weights)


def _solved(program: ConicProgram, limits: Limits) -> Answer:
    """Solve by the interior-point method; by HiGHS where the cone has no inside."""
    part = limits.part()
    part.gap = max(limits.gap, ACCURATE)
    try:
        return by_interior(program, part)
    except UnsupportedError:
        return by_highs(program, part)


class _Pricing:
    """The program on one column, loaded once and solved at the reduced costs of each output."""

    def __init__(self, cone: Cone) -> None:
        self._rows = cone.matrix()
        self.n_rows, size = self._rows.shape
        A = sp.csr_array(sp.vstack([self._rows, sp.csr_array(np.ones((1, size)))]))
        low, high = np.full(self.n_rows + 1, -np.inf), np.append(np.zeros(self.n_rows), 1.0)
        self._program = WarmStartedLP(LPModel(np.zeros(size), A, low, high), "simplex")

    def multipliers(self, reduced: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return multipliers of all rows of the cone, and their terms at every input."""
        weights = np.maximum(-self._program.solve(reduced).dual[:-1], 0.0)
        return weights, np.asarray(self._rows.T @ weights)
