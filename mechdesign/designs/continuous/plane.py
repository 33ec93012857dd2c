"""Designs for points of a box: finite programs on more and more nodes of both axes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from mechdesign.certify.continuous.continuous_file import PLANE_FORMAT
from mechdesign.certify.continuous.kernel import SQUARED
from mechdesign.certify.continuous.plane import Plane, PlaneKernel, plane_relaxation
from mechdesign.certify.continuous.relaxation import Relaxation
from mechdesign.channel import Channel
from mechdesign.continuous.plane import PlaneChannel, PlaneProblem
from mechdesign.designs.continuous.grid import QUANTILES, halved
from mechdesign.designs.continuous.search import Finite, finite_problem, refined
from mechdesign.designs.continuous.solution import ContinuousSolution
from mechdesign.domain import clean_label
from mechdesign.exact import as_fraction, fraction_text
from mechdesign.routes.limits import Limits

__all__ = ["PlaneSolution", "design_plane"]

FIRST, MOST = 7, 33
"""Nodes of each axis in the first program and in the largest."""

SLOWER = 6.0
"""The power of the number of nodes of an axis that the time is expected to grow with."""


@dataclass(frozen=True, repr=False)
class PlaneSolution(ContinuousSolution):
    """The best kernel found on a box; its attributes are those of a solution on an interval."""

    problem: PlaneProblem  # type: ignore[assignment]
    stated: Plane  # type: ignore[assignment]
    channel: PlaneChannel  # type: ignore[assignment]
    format: ClassVar[dict[str, Any]] = PLANE_FORMAT

    def _points(self) -> dict[str, Any]:
        return {"axes": [list(map(fraction_text, axis)) for axis in self.stated.axes]}

    def _moments(self) -> dict[str, Any]:
        means = [list(map(fraction_text, cell)) for cell in self.stated.cells]
        return {"means": means, "error": fraction_text(self.stated.error)}


def design_plane(
    problem: PlaneProblem, limits: Limits, gap: float | None, design: Finite
) -> PlaneSolution:
    """Return the best kernel found, as :func:`~.search.design_continuous` for an interval.

    Raises
    ------
    SolverError
        If not even the first program was solved.
    """

    def designed(count: int, gap: float) -> PlaneSolution:
        stated = _stated_on(problem, count)
        program = plane_relaxation(stated)
        lower = design(finite_problem(problem, program), gap, limits.left)
        upper = lower
        if stated.utility["objective"] != SQUARED:  # the program has losses that are too small
            exact = _with_own_losses(stated, program)
            upper = design(finite_problem(problem, exact), gap, limits.left)
        given: Any = upper.channel
        places = [stated.nodes[j] for j in given.outputs]
        outputs = [clean_label(list(map(float, place)), "outputs") for place in places]
        channel = Channel(given.numerators, outputs=outputs, bits=given.bits)
        points = [(as_fraction(float(a)), as_fraction(float(b))) for a, b in places]
        kernel = PlaneKernel(stated, channel.columns(), channel.bits, points)
        found = PlaneChannel(problem.box, stated.axes, channel)
        return PlaneSolution.of(problem, kernel, found, (lower, program.shift), upper)

    return refined(designed, (FIRST, MOST), SLOWER, limits, gap)


def _stated_on(problem: PlaneProblem, count: int) -> Plane:
    """Return the problem as the checker reads it, on about so many nodes of each axis."""
    box, law, probabilities = problem.box, problem.prior, np.linspace(0, 1, QUANTILES)
    axes = []
    for n, side in enumerate(box.sides):
        places = np.maximum.accumulate(law.quantiles(box, n, probabilities.tolist()))
        ends = (Fraction(side.low), Fraction(side.high))
        worst = problem.utility.worst_case
        axes.append(halved(ends, places, probabilities, count, worst_case=worst))
    cells, error = law.cells(box, (axes[0], axes[1]))
    tables = [notion.to_table() for notion in problem.privacy]
    return Plane((axes[0], axes[1]), tuple(cells), tables, problem.utility_table, error)


def _with_own_losses(stated: Plane, program: Relaxation) -> Relaxation:
    """Return the program with the distances of the nodes as its losses, nearly."""
    matrix = [
        [Fraction(float((a - c) ** 2 + (b - d) ** 2) ** 0.5) for c, d in stated.nodes]
        for a, b in stated.nodes
    ]
    utility = {**program.utility, "matrix": matrix}
    return Relaxation(
        program.places, program.prior, program.privacy, utility, program.outputs, Fraction(0)
    )
