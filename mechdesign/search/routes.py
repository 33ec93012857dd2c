"""The routes to a channel, apart from the start, the closed forms and the conic solvers.

Linear losses: ``linear-program``, ``columns``, ``interior``, and ``coarse`` for bounds on problems
too large for these. Sums of gains over outputs: ``extreme-rays``, and ``decoder-grid`` for the
error of a scalar. Unbiased readings: ``readings``. Risks of estimation: ``estimation``. They import
scipy's optimizers and HiGHS only when they solve a problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.errors import InputError, SolverError, UnsupportedError
from mechdesign.evidence.simplicial import erasure
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.objectives import Loss
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution, estimated_scalar
from mechdesign.search.limits import Limits
from mechdesign.search.lp.program_size import LARGE, MOST_FOR_HIGHS, program_rows
from mechdesign.search.route import LinearRoute, Route
from mechdesign.search.starts.route import Start
from mechdesign.utilities import ColumnUtility, Divergence, EstimationRisk, ReadingVariance

if TYPE_CHECKING:
    from mechdesign.search.presolve.symmetry import Symmetry

METHODS = ("simplex", "ipm")

FACTOR_BYTES = 2_000.0
"""Bytes for each row in the factors of HiGHS."""


class LinearProgram(LinearRoute):
    """Solves one linear program; the solutions of the simplex method are vertices.

    A large program for a worst case is first reduced by its symmetries, if there are any.

    Parameters
    ----------
    method
        ``"simplex"`` or ``"ipm"``; default by size.
    again
        Whether it is a retry for a smaller gap, in which inputs of prior 0 cost nothing.
    """

    name = "linear-program"
    summary = "linear programming by HiGHS, by the simplex or the interior-point method"
    setting = "METHOD"
    uses_symmetry = True

    def __init__(self, method: str = "", *, again: bool = False) -> None:
        self._method, self._again = method, again

    def configured(self, setting: str) -> LinearProgram:
        """Return the route with one method."""
        if setting and setting not in METHODS:
            expected = f"linear-program:METHOD with METHOD one of {', '.join(METHODS)}"
            raise InputError("route", expected, f"linear-program:{setting}")
        return LinearProgram(setting)

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require a linear loss, and a program that is not too large for HiGHS."""
        reason = super().suits(problem)
        if reason is None or named:
            return reason
        small = problem.utility.worst_case or program_rows(problem) <= MOST_FOR_HIGHS
        return reason if small else None

    def memory(self, problem: Problem) -> float:
        """Return the memory of the rows of all outputs, and of the factors of HiGHS."""
        return FACTOR_BYTES * program_rows(problem)

    def solve_linear(self, problem: Problem, limits: Limits) -> RawSolution:
        """Solve the program, with its symmetries if that is faster."""
        from mechdesign.search.lp.linear_program import solve_linear  # imports scipy and HiGHS
        from mechdesign.search.presolve.chain import UNLIKELY

        symmetry = limits.symmetry
        if symmetry is None and not self._method and problem.utility.worst_case:
            symmetry = _found(problem)
        method = self._method or "auto"
        unlikely = 0.0 if self._again else UNLIKELY
        return solve_linear(problem, method, limits, symmetry, unlikely)

    def alternatives(self, problem: Problem) -> Iterator[LinearProgram]:
        """Yield both methods, unless the user has named one."""
        if not self._method:
            yield from (LinearProgram(method, again=True) for method in reversed(METHODS))


def _found(problem: Problem) -> Symmetry | None:
    """Return the symmetries of a large program; None without any."""
    if not (problem.is_conic and program_rows(problem) >= LARGE):
        return None
    from mechdesign.search.presolve.symmetry import symmetries

    return symmetries(problem)


MIDDLE = 400
"""The number of rows of the extended formulation from which column generation with simple pricing
is tried first."""

BYTES = 128.0
"""Bytes per pair of inputs: eight rays for each input, twice."""

ROW_BYTES, SOLVER_BYTES = 24.0, 2500.0
"""Bytes for a row of an output: its multiplier, now and at the best bound, and its place in a
basis; and for a row or an input of the program of one output."""


class ColumnGeneration(LinearRoute):
    """Solves a restricted master problem over rays, and prices rays until none improves it."""

    name = "columns"
    summary = "column generation over the extreme rays of the cone"

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require an expected linear loss, and rays that are simple to price."""
        reason = super().suits(problem)
        if reason is None or problem.utility.worst_case:
            return None
        if rays := _simple_rays(problem):
            return f"{reason}; {rays}"
        return reason if named else None

    def memory(self, problem: Problem) -> float:
        """Return the memory of the rays, their program, and the linear programs for rays."""
        from mechdesign.search.cones.pricing import pricer_of  # imports scipy

        k, rows = len(problem.domain), program_rows(problem)
        rays = BYTES * k**2
        if pricer_of(problem) is not None:
            return rays
        one = rows / len(problem.outputs or problem.domain) + k
        return rays + ROW_BYTES * rows + SOLVER_BYTES * one

    def solve_linear(self, problem: Problem, limits: Limits) -> RawSolution:
        """Generate columns until the bound is close enough."""
        from mechdesign.search.column_generation import solve_columns  # imports scipy

        return solve_columns(problem, limits)


@lru_cache(maxsize=4)
def _simple_rays(problem: Problem) -> str | None:
    """Return why rays are simple to price; None if they are not, or the program is small."""
    rows = program_rows(problem)
    if rows < MIDDLE:
        return None
    from mechdesign.search.column_generation import suits  # imports scipy

    return suits(problem, small=rows < LARGE)


class ExtremeRays(Route):
    """Mixes extreme rays of the cone, all of them or those of a local search."""

    name = "extreme-rays"
    summary = "a linear program over extreme rays of the cone, for a sum over outputs"

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require a sum over outputs; for the error of a scalar the search over decoders is better.

        A convex and homogeneous gain is largest at extreme rays. A gain that is a constant minus
        such an error may be so small that the search leaves a gap: then rays are tried after it.
        """
        utility = problem.utility
        if not isinstance(utility, ColumnUtility):
            return None
        own = utility.is_maximized or estimated_scalar(problem) is None
        reason = "the objective is a sum over outputs, best at extreme rays of the cone"
        return reason if named or own else None

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Solve the linear program over rays; for a total variation that of its two signs."""
        utility, aim = problem.utility, problem.compiled.statement.objective
        if isinstance(utility, Divergence) and isinstance(aim, Loss):
            from mechdesign.search.lp.linear_program import solve_signs  # imports scipy and HiGHS

            return solve_signs(problem, utility, limits)
        from mechdesign.search.rays.extreme_rays import solve_by_rays  # imports scipy and HiGHS

        return solve_by_rays(problem, limits)


TOO_MANY = 10**8
"""The number of non-implied rows of all columns from which the whole program is too large:
Euclidean grids of more than 24 x 24 points."""

OUTPUTS = 1.5
"""The ratio of outputs to representatives in the programs: on a city of 64 x 64 cells, 60
representatives and 90 outputs proved as much as 180 outputs, up to half a percent."""

SECONDS_PER_ROW = 2e-8
"""Seconds of the repair and of the proof for each row of all columns."""


class Coarse(LinearRoute):
    """Proves a bound by representatives of the inputs, with more of them in each round.

    The channel is that of :class:`~mechdesign.search.starts.route.Start`.

    Parameters
    ----------
    most_rounds
        The largest number of rounds: one gives a first bound before another search.
    """

    name = "coarse"
    summary = "a bound from representative inputs, for problems too large for a program"

    def __init__(self, most_rounds: int | None = None) -> None:
        self._most_rounds = most_rounds

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require an expected loss, bounds on ratios, and a very large program."""
        if problem.expected_loss is None or not (named or is_too_large(problem)):
            return None
        if not problem.cone.ratios:
            return None
        n_rows = rows_of_all(problem)
        reason = super().suits(problem)
        return f"{reason}; some inputs stand for all in a program of {n_rows:.0e} rows"

    def solve_linear(self, problem: Problem, limits: Limits) -> RawSolution:
        """Start from a channel of known columns, and prove bounds until the time is over.

        If the whole program is too large, this ends the search.
        """
        from mechdesign.search.coarse.representatives import (  # scipy on demand
            CoarseBound,
            CoarseProgram,
            chosen,
            coarse_bound,
            first_outputs,
            refined,
        )

        utility = problem.expected_loss
        if utility is None:
            raise UnsupportedError("objective", "an expected loss", problem.utility.name)
        limits.keep(SECONDS_PER_ROW * rows_of_all(problem))
        raw = limits.start or Start().solve(problem, limits)
        outputs, prior = problem.outputs or (), problem.prior.array
        loss = utility.loss(problem.domain, outputs).array
        cost = prior[:, None] * loss
        value = float((cost * raw.matrix).sum())
        with limits.phase("presolve"):
            E = problem.cone.lengths()

        def bound(count: int) -> tuple[CoarseBound, bool]:
            inputs, more = chosen(E, prior, [count, round(OUTPUTS * count)])
            program = CoarseProgram(problem.cone, E, inputs)
            some = first_outputs(loss, np.union1d(inputs, more))
            return coarse_bound(program, np.asarray(program.shares @ cost), some, limits), True

        found = list(islice(refined(bound, len(prior), value, limits), self._most_rounds))
        if not found:
            raise SolverError("no program of representatives was solved in time")
        best, rounds, k = found[-1], len(found), len(prior)
        note = f"Coarse to fine: {best.proof.n_inputs} of {k:,} inputs stand for all in the bound"
        if is_too_large(problem) and value - best.value > limits.gap * value:
            limits.ended = limits.ended or "the program of all inputs is too large"
        route = f"coarse: {raw.route}, {rounds} round{'s' * (rounds > 1)}"
        return replace(raw, proofs=[best.proof], route=route, notes=[*raw.notes, note])


def is_too_large(problem: Problem) -> bool:
    """Return whether the program of all inputs is too large."""
    return not problem.is_written_out or rows_of_all(problem) >= TOO_MANY


def rows_of_all(problem: Problem) -> float:
    """Return the number of non-implied rows of all columns; one budget counts as none."""
    found = problem.cone.ratios.values()
    pairs = sum(rows.n_checked for rows in found if len(rows.units) > 1)
    return float(pairs * len(problem.outputs or ()))


FEW = 6
"""The number of rows per input up to which arrow form is possible."""

ARROW_ARRAYS = 16
"""Arrays over the rows of all outputs, in arrow form."""

WHOLE_ARRAYS, USED_ARRAYS, INVERSES = 6.0, 16.0, 2.5
"""Otherwise: arrays over all rows, and over active ones; and matrices for each output."""

USED_PAIRS = 20
"""Active rows for each input."""


class InteriorPoint(LinearRoute):
    """Solves linear programs by Newton steps with a separate block for each output."""

    name = "interior"
    summary = "an interior-point method for large linear programs, separable by outputs"

    uses_symmetry = True

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require a linear loss, and a large program for an expected loss."""
        reason = super().suits(problem)
        if reason is None:
            return None
        if program_rows(problem) >= LARGE and not problem.utility.worst_case:
            return f"{reason}; it is large, and falls apart by outputs"
        return reason if named else None

    def memory(self, problem: Problem) -> float:
        """Return the memory of the arrays over rows, and of the inverses of dense outputs.

        For bounds on ratios of two entries only active rows have arrays; all have multipliers.
        """
        from mechdesign.search.interior.arrow import ArrowRows  # imports scipy and HiGHS
        from mechdesign.search.lp.extended_formulation import extended_formulation

        k, m = len(problem.domain), len(problem.outputs or problem.domain)
        rows = program_rows(problem) / m
        if 0 < rows <= FEW * k:
            stated = extended_formulation(problem.cone)
            if ArrowRows.of(stated.A, stated.equal, k) is not None:
                return 8.0 * m * ARROW_ARRAYS * (rows + k)
        used = min(rows, USED_PAIRS * k)
        return 8.0 * m * (WHOLE_ARRAYS * rows + USED_ARRAYS * used + INVERSES * k * k)

    def solve_linear(self, problem: Problem, limits: Limits) -> RawSolution:
        """Solve the program; by HiGHS if the cone has no interior, or with too many priors."""
        from mechdesign.search.interior.solve import solve_interior  # imports scipy and HiGHS
        from mechdesign.search.lp.linear_program import solve_linear

        try:
            return solve_interior(problem, limits, limits.symmetry)
        except UnsupportedError:
            return solve_linear(problem, "auto", limits, limits.symmetry)


class DecoderGrid(Route):
    """Searches for the best decoder, the aggregator's estimates for the outputs."""

    name = "decoder-grid"
    summary = (
        "a search over decoders, for the posterior-mean error of a scalar, Fisher information "
        "and chi-squared"
    )

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require the error of the best estimate of a scalar."""
        if estimated_scalar(problem) is None:
            return None
        return "for fixed decoders the error is linear in the channel"

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Search until the bound is close enough."""
        from mechdesign.search.decoders.search import solve_decoders  # imports scipy

        return solve_decoders(problem, limits)


class UnbiasedReadings(Route):
    """Minimizes the variance of unbiased readings over mixtures of rays with their readings."""

    name = "readings"
    summary = "column generation over rays and readings, for the variance of unbiased readings"

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require the variance of unbiased readings."""
        if not isinstance(problem.utility, ReadingVariance):
            return None
        return "for fixed readings the variance is linear in the channel"

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Search until the bound is close enough."""
        from mechdesign.search.decoders.readings import solve_readings  # imports scipy

        return solve_readings(problem, limits)


class Estimation(Route):
    """Minimizes a risk of estimation over mixtures of extreme rays, by Newton's method."""

    name = "estimation"
    summary = "a convex program over extreme rays of the cone, for a risk of estimation"

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require a risk of estimation."""
        if not isinstance(problem.utility, EstimationRisk):
            return None
        return "the risk is convex in the weights of the extreme rays of the cone"

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Solve the program; if lifts are bounded from below, a theorem also bounds the risk."""
        from mechdesign.search.estimation_risk.solve import solve_estimation  # imports scipy

        raw = solve_estimation(problem, limits)
        lifts = any(notion.bounds_lift_from_below for notion in problem.privacy)
        return replace(raw, proofs=[_erasure, *raw.proofs]) if lifts else raw


def _erasure(problem: Problem) -> Certificate | None:
    return erasure(problem.compiled)
