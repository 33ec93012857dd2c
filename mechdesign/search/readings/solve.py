"""The answer of the search for readings, in the units of the problem, with its evidence."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.evidence.rows import spared
from mechdesign.exact import as_fraction
from mechdesign.notions import Cone
from mechdesign.notions.rows.row import Multipliers
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.cones.one_budget import OneBudgetCone
from mechdesign.search.limits import Limits
from mechdesign.search.readings.coarse import budget_search
from mechdesign.search.readings.pricing import BudgetPricer, ColumnPricer
from mechdesign.search.readings.probes import budget_probes, row_probes
from mechdesign.search.readings.proof import ReadingsProof
from mechdesign.search.readings.search import ReadingsDual, ReadingsSearch
from mechdesign.search.starts.private_columns import reach
from mechdesign.utilities import ReadingVariance

LEAST_GAP = 2e-7
"""The least gap that the proof aims at."""

EVEN, FAR = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2), 1e5
"""Shares of uniform weights to try in a proof if its outermost probes are beyond that."""


def _column_search(
    cone: Cone, f: FloatArray, prior: FloatArray | None, limits: Limits, scale: float
) -> ReadingsSearch:
    """Return the search for any other cone."""
    _, member = np.unique(cone.equal_classes(), return_inverse=True)
    sets = np.eye(int(member.max()) + 1)[member]
    t = float(reach(cone, sets).min())
    if t <= 0:
        raise SolverError("the budgets are too small for the values to be read")
    search = ReadingsSearch(sets, t, ColumnPricer(cone), f, prior, limits, scale)
    search.run()
    return search


def _probed(
    search: ReadingsSearch, pricer: ColumnPricer, slack: float, limits: Limits
) -> Iterator[tuple[ReadingsDual, FloatArray, list[FloatArray]]]:
    """Yield dual variables with the probes and multipliers that prove their bound.

    In a worst case inputs of very small weight need probes so far out that the tolerance of their
    programs may exceed the bound. The dual variables are then mixed with 0 at uniform weights,
    whose costs v**2 / k are nonnegative: a share s of these lowers the bound by s (bound + mean of
    f**2).
    """
    zero, k = np.zeros(len(search.f)), len(search.f)
    even = ReadingsDual(zero, zero, np.full(k, 1 / k), -np.inf)
    try:
        probes, weights = row_probes(search.dual, pricer, search.readings, slack, limits)
    except SolverError:
        if search.prior is not None:
            raise
    else:
        yield search.dual, probes, weights
        if search.prior is not None or np.abs(probes[[0, -1]]).max() <= FAR:
            return
    for share in EVEN:
        dual = search.dual.mixed(even, share)
        with contextlib.suppress(SolverError):
            yield dual, *row_probes(dual, pricer, search.readings, slack, limits, FAR)
            return


def solve_readings(problem: Problem, limits: Limits | None = None) -> RawSolution:
    """Find the channel and its unbiased readings of least variance.

    Parameters
    ----------
    problem
        With an :class:`~mechdesign.utilities.UnbiasedVariance`.
    limits
        The limits of the search; default at the optimum.

    Raises
    ------
    UnsupportedError
        If the utility is another.
    SolverError
        If HiGHS fails, or the budgets are too small.
    """
    limits, utility = limits or Limits(), problem.utility
    if not isinstance(utility, ReadingVariance):
        expected = "the variance of an unbiased reading"
        raise UnsupportedError("objective", expected, utility.name)
    values, k = utility.values(problem.domain), len(problem.domain)
    middle, half = (max(values) + min(values)) / 2, (max(values) - min(values)) / 2
    if not half:
        return RawSolution(np.ones((k, 1)), name_outputs(problem, 1), (), "readings: one value")
    f = np.array([float((value - middle) / half) for value in values])
    prior = None if utility.worst_case else problem.prior.array
    form, scale = OneBudgetCone.of(problem.cone), float(half) ** 2
    if form is not None:
        search = budget_search(form, f, prior, limits, scale)
    else:
        search = _column_search(problem.cone, f, prior, limits, scale)
    pricer = search.pricer
    unit = search.unit
    slack = spared(search.value, -math.inf, max(limits.gap, LEAST_GAP))
    evidence: list[tuple[ReadingsDual, FloatArray, Sequence[Multipliers]]]
    if isinstance(pricer, BudgetPricer):
        evidence = [(search.dual, budget_probes(search.dual, pricer), ())]
    else:
        evidence = [
            (dual, probes, pricer.families(weights, unit**2))
            for dual, probes, weights in _probed(search, pricer, slack, limits)
        ]
    # from the unit of the search back to one in which f runs from -1 to 1
    proofs = [
        ReadingsProof(
            values=tuple(middle + half * as_fraction(v) for v in (unit * probes).tolist()),
            slope=unit * dual.slopes,
            weights=dual.weights if utility.worst_case else None,
            duals=duals,
            potentials=None if duals else unit**2 * dual.potentials,
            spare=search.scale * slack,
        )
        for dual, probes, duals in evidence
    ]
    matrix = search.matrix()
    note = f"{search.rounds} rounds of cone programs"
    outputs = name_outputs(problem, matrix.shape[1])
    return RawSolution(matrix, outputs, proofs, "readings: Clarabel", [note])
