"""The route for problems too large for one program: coarse to fine."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np

from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.route import LinearRoute
from mechdesign.search.starts.route import Start

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
        from mechdesign.search.coarse.bound import (  # scipy on demand
            CoarseBound,
            coarse_bound,
            first_outputs,
            refined,
        )
        from mechdesign.search.coarse.representatives import CoarseProgram, chosen

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
