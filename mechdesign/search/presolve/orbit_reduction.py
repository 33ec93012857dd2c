"""Orbit reduction: symmetries reduce the program to one column for each orbit of outputs.

The mean of a private channel over the group is private and has the same cost; see
:mod:`~mechdesign.search.presolve.symmetry_group` for the reduced program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mechdesign.search.presolve.reduction import Answer, ConicProgram, Reduced, Reduction
from mechdesign.search.presolve.symmetry_group import Symmetry


@dataclass(frozen=True)
class OrbitReduction(Reduction):
    """Keep one output of each orbit, also for a worst case.

    Examples
    --------
    >>> from mechdesign import LDP, Problem
    >>> from mechdesign.search.lp.solve import solve_linear
    >>> from mechdesign.search.presolve.find_symmetries import symmetries
    >>> from mechdesign.utilities import HammingLoss
    >>> problem = Problem(range(4), LDP(1), HammingLoss())
    >>> raw = solve_linear(problem, symmetry=symmetries(problem))
    >>> raw.matrix[0].round(6)
    array([0.475367, 0.174878, 0.174878, 0.174878])
    """

    symmetry: Symmetry

    def apply(self, program: ConicProgram) -> Reduced:
        """Keep the columns of the representatives."""
        left = replace(
            program,
            cost=program.cost[:, self.symmetry.representatives],
            output_count=self.symmetry.multiplicity.astype(np.float64),
            input_orbit=self.symmetry.input_orbit,
        )

        def invert(answers: Sequence[Answer]) -> Answer:
            (answer,) = answers
            of_orbits, whole = answer.worst_case_multipliers, self.symmetry
            of_inputs = None if of_orbits is None else whole.expand_inputs(of_orbits)
            return replace(
                answer,
                matrix=whole.expand(answer.matrix),
                duals=[
                    m
                    for dual in answer.duals
                    for m in whole.expand_dual(program.cone.families[dual.notion], dual)
                ],
                route=f"{answer.route}, by symmetry",
                worst_case_multipliers=of_inputs,
            )

        return Reduced((left,), self.symmetry.note, invert)
