"""The route for problems too large to be written out as one program: coarse to fine."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.evidence.rows import Proof
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.route import LinearRoute
from mechdesign.search.starts.route import Start

__all__ = ["Coarse", "is_too_large"]

TOO_MANY = 10**8
"""Rows of all columns, without those that others imply, from which the whole program is too large:
Euclidean grids of more than 24 x 24 points."""

FIRST, GROWTH = 50, 1.6
"""Representatives in the first round, and how many times more in each round after."""

MOST = 600
"""Representatives in the last round: their rows and factors fill a gigabyte."""

OUTPUTS = 1.5
"""So many times more outputs than representatives are in the programs that are solved: on the city
of 64 x 64 cells, 60 representatives and 90 outputs proved as much as 180, to half a percent."""

SECONDS_PER_ROW = 2e-8
"""Seconds of the repair and of the proof for each row of all columns."""

POWER, LEAST_GROWTH = 2.5, 1.15
"""The power of the number of representatives with which the time of a round grows, and the least
growth that is worth another round."""


class Coarse(LinearRoute):
    """Proves a bound by inputs that stand for others, more of them from round to round.

    The channel is that of :class:`~mechdesign.search.starts.route.Start`.

    Parameters
    ----------
    most_rounds
        It ends after so many rounds: one gives a first bound before another search.
    """

    name = "coarse"
    summary = "a bound from representative inputs, for problems too large for a program"

    def __init__(self, most_rounds: float = math.inf) -> None:
        self._most_rounds = most_rounds

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Ask for an expected loss, bounds on ratios, and a very large program."""
        if problem.expected_loss is None or not (named or is_too_large(problem)):
            return None
        if all(family.ratio_rows() is None for family in problem.cone.families):
            return None
        n_rows = rows_of_all(problem)
        reason = super().suits(problem)
        return f"{reason}; some inputs stand for all in a program of {n_rows:.0e} rows"

    def solve_linear(self, problem: Problem, limits: Limits) -> RawSolution:
        """Start from a channel of known columns, and prove bounds while there is time.

        Where the whole program is too large, this ends the search.
        """
        from mechdesign.search.coarse.bound import coarse_bound, first_outputs  # scipy on demand
        from mechdesign.search.coarse.representatives import CoarseProgram, Ratios, chosen

        utility = problem.expected_loss
        if utility is None:
            raise UnsupportedError("objective", "an expected loss", problem.utility.name)
        limits.keep(SECONDS_PER_ROW * rows_of_all(problem))
        raw = limits.start or Start().solve(problem, limits)
        outputs, prior = problem.outputs or (), problem.prior.array
        loss = utility.loss(problem.domain, outputs).array
        cost = prior[:, None] * loss
        value, bound = float((cost * raw.matrix).sum()), -np.inf
        proofs: list[Proof] = []
        with limits.stopwatch.phase("presolve"):
            ratios = Ratios(problem.cone)
        count, rounds, last = min(FIRST, len(prior)), 0, 0
        while True:
            before = limits.elapsed
            inputs, more = chosen(ratios, prior, [count, round(OUTPUTS * count)])
            some = first_outputs(loss, np.union1d(inputs, more))
            try:
                program = CoarseProgram(ratios, inputs)
                found = coarse_bound(program, program.costs(cost), some, limits)
            except SolverError:
                if not proofs:
                    raise
                break
            rounds += 1
            if found.value > bound:
                bound, proofs, last = found.value, [found.proof], count
            all_in = count >= min(MOST, len(prior)) or rounds >= self._most_rounds
            if limits.report(rounds, value, bound) or all_in:
                break
            growth = min(GROWTH, (limits.left / (limits.elapsed - before)) ** (1 / POWER))
            if growth < LEAST_GROWTH:
                limits.ended = f"the time limit of {limits.seconds:g} s is too near for more inputs"
                break
            count = min(round(growth * count), MOST, len(prior))
        note = f"Coarse to fine: {last} of {len(prior):,} inputs stand for all in the bound"
        if is_too_large(problem) and value - bound > limits.gap * value:
            limits.ended = limits.ended or "the program of all inputs is too large"
        route = f"coarse: {raw.route}, {rounds} round{'s' * (rounds > 1)}"
        return replace(raw, proofs=proofs, route=route, notes=[*raw.notes, note])


def is_too_large(problem: Problem) -> bool:
    """Return whether the program of all inputs is too large to be stated."""
    return not problem.is_written_out or rows_of_all(problem) >= TOO_MANY


def rows_of_all(problem: Problem) -> float:
    """Return the rows of all columns but those that others imply; one budget counts as none."""
    found = (family.ratio_rows() for family in problem.cone.families)
    pairs = sum(rows.n_checked for rows in found if rows is not None and len(rows.bounds) > 1)
    return float(pairs * len(problem.outputs or ()))
