"""The worst column in a cone, by linear programming, and a private channel that contains it.

Any ray r of a cone of columns is a column of some private channel: t r and 1 - t r, for a small t,
since the column of ones is in the interior of the cone. (If it is not, because a bound of 1 forces
rows to be equal, the entries of r are equal there too.) If a leakage is the largest ratio of two
linear forms of a column, its maximum over all private channels is a linear program over rays:

    max left . r    subject to    right . r = 1,   G r <= 0,   r >= 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import linprog

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel
from mechdesign.domain import Domain
from mechdesign.errors import SolverError
from mechdesign.notions import Cone
from mechdesign.repair import repair
from mechdesign.solver_guard import called, checked

TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}

SOME = 1e-9
"""A form that reaches this value on a ray of sum 1 counts as nonzero."""

DUST = 1e-12

TOO_LARGE = "no worst column was found: the ratios are too large for floats, take a smaller epsilon"


class ExtremalColumns:
    """The rays r of a cone of private columns, as a linear program: G r <= 0, H r = 0.

    H contains the inputs whose rows of Q must be equal.
    """

    def __init__(self, cone: Cone) -> None:
        self.cone, self.matrix = cone, cone.matrix().toarray()
        classes, k = cone.equal_classes(), cone.size
        first = np.unique(classes, return_index=True)[1][classes]
        self.equal = (np.eye(k) - np.eye(k)[first])[first != np.arange(k)]

    def worst(self, left: FloatArray, right: FloatArray) -> tuple[float, FloatArray]:
        """Return the supremum of left . r / right . r, possibly inf, and a ray that attains it.

        A supremum of inf is the solver's word: whether the channel with this ray leaks without
        limit is to be checked.

        Raises
        ------
        SolverError
            If the ratio is finite and too large for floats, about e**18.
        """
        found = _program(left, self.matrix, self.equal, right)
        if found.status == 0:
            column = checked("HiGHS", found.x, left.shape)
            return float(left @ column), np.maximum(column, 0)
        size = np.abs(self.matrix).max(axis=1, initial=0.0)
        rows = self.matrix[size > 0] / size[size > 0, None]
        found = _program(left, rows, np.vstack([self.equal, right]), np.ones(len(left)))
        if found.status != 0 or -found.fun < SOME:
            raise SolverError(TOO_LARGE)
        column = checked("HiGHS", found.x, left.shape)
        return math.inf, np.where((column > DUST) & (right == 0), column, 0.0)

    def channel(self, ray: FloatArray, domain: Domain) -> Channel:
        """Return an exact private channel with columns t r and 1 - t r for a ray r."""
        r = ray / ray.max()
        slack, push = -self.matrix.sum(axis=1), -(self.matrix @ r)
        # the column 1 - t r keeps G (1 - t r) <= 0 as long as t push <= slack
        rows = push > DUST
        most = min([1.0, *(np.maximum(slack[rows], 0) / push[rows]).tolist()])
        t = most / 2
        numerators, kept = repair(self.cone, np.column_stack([t * r, 1 - t * r]))
        return Channel(numerators, inputs=domain, outputs=kept)


def _program(goal: FloatArray, rows: FloatArray, equal: FloatArray, unit: FloatArray) -> Any:
    """Maximize goal . r where rows r <= 0, equal r = 0 and unit . r = 1, r >= 0."""
    solver: Any = linprog
    return called(
        "HiGHS",
        solver,
        -goal,
        rows,
        np.zeros(len(rows)),
        np.vstack([equal, unit]),
        np.append(np.zeros(len(equal)), 1.0),
        options=TOLERANCES,
    )
