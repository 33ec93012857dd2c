"""Small problems for every route and method, by which the contract of all routes is tested."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import mechdesign as md
from mechdesign.search.limits import Progress
from mechdesign.search.rays import enumerate as rays
from solvers.base import FloatArray
from tests.faults_support import Faults

HISTOGRAM = md.PosteriorMeanSquaredError(histogram=True)
SCALAR = md.PosteriorMeanSquaredError()
GAPS = np.abs(np.subtract.outer(range(4), range(4)))


def uneven(k: int) -> list[Fraction]:
    """A prior that no permutation keeps, all of it in hundredths or so."""
    weights = [3 + 7 * x % 11 + 5 * (x % 3) for x in range(k)]
    return [Fraction(w, sum(weights)) for w in weights]


def budgets(k: int) -> list[list[Fraction]]:
    """Budgets that differ by pair, and by direction."""
    return [
        [Fraction(0) if x == z else Fraction(4 + (3 * x + 5 * z) % 13, 10) for z in range(k)]
        for x in range(k)
    ]


class TwoGuesses(md.ColumnUtility):
    """An accuracy of the user's own: one of two guesses is right."""

    name = "two-guesses"
    sense = "maximize"

    def gain(self, columns: FloatArray, prior: FloatArray) -> FloatArray:
        both: FloatArray = np.sort(prior[:, None] * columns, axis=0)[-2:].sum(axis=0)
        return both


class Roughness(md.ConvexUtility):
    """A loss of the user's own, convex in the channel."""

    name = "roughness"

    def objective(self, Q: Any, domain: Any, prior: Any, outputs: Any) -> Any:
        return cp.sum(cp.multiply(GAPS, Q)) + cp.sum_squares(Q[1:, :] - Q[:-1, :])


def same_law(problem: md.Problem) -> dict[str, Any]:
    """The reports are distributed as the inputs are."""
    return {"constraints": [problem.output_distribution == problem.prior.array]}


def smooth(problem: md.Problem) -> dict[str, Any]:
    """An objective of the user's own, with a constraint beside it."""
    loss = cp.sum(cp.multiply(GAPS, problem.Q)) + 0.1 * cp.sum_squares(problem.Q)
    return {"objective": cp.Minimize(loss), "constraints": [problem.Q[0, 0] >= 0.1]}


@dataclass(frozen=True)
class Case:
    """A small problem, and how it is designed.

    Attributes
    ----------
    inputs, notion, utility
        The problem, which is made anew, as some answers are remembered by problem.
    route
        As for :func:`design`.
    reference
        The independent solver that has its optimum; empty for none.
    terms
        Constraints and an objective of the user's own.
    few_rays
        Whether rays are to be found by local search.
    """

    inputs: int
    notion: Any
    utility: Any
    route: str = "auto"
    reference: str = "direct-lp"
    terms: Callable[[md.Problem], dict[str, Any]] | None = field(default=None, kw_only=True)
    few_rays: bool = field(default=False, kw_only=True)

    def problem(self) -> md.Problem:
        return md.Problem(range(self.inputs), self.notion, self.utility, prior=uneven(self.inputs))

    def run(self, faults: Faults | None = None, **options: Any) -> tuple[md.Problem, md.Solution]:
        problem = self.problem()
        terms = {} if self.terms is None else self.terms(problem)
        with pytest.MonkeyPatch.context() as patch, faults.planted() if faults else nullcontext():
            if self.few_rays:
                patch.setattr(rays, "MOST_RAYS", 4)
            return problem, md.design(problem, route=self.route, **terms, **options)


ANY, FEW = md.ContextAwareLDP(budgets(4)), md.ContextAwareLDP(budgets(3))
LINE = md.MetricPrivacy("0.5", "absolute")
BOX = md.BoundedPriorLIP(1, lower=[0.1] * 4, upper=[0.5] * 4)
AUTO, RAYS = "auto", "vertices"

CASES: dict[str, Case] = {
    "columns on a line": Case(5, LINE, md.Distortion(budgets(5)), "columns"),
    "columns by subsets": Case(4, md.LDP(1), md.MeanAbsoluteError(), "columns"),
    "columns by programs": Case(4, ANY, md.HammingLoss(), "columns"),
    "interior, arrow": Case(4, md.LDP(1), md.MeanAbsoluteError(), "interior"),
    "interior, dense": Case(4, ANY, md.HammingLoss(), "interior"),
    "linear program": Case(4, ANY, md.MeanAbsoluteError()),
    "worst case": Case(4, md.LIP(1), md.HammingLoss(worst_case=True)),
    "set of priors": Case(4, BOX, md.HammingLoss(), "linear-program"),
    "scalar by bands": Case(4, md.LIP(1), SCALAR, AUTO, RAYS),
    "scalar, any cone": Case(4, ANY, SCALAR, AUTO, RAYS),
    "information": Case(4, ANY, md.MutualInformation(), AUTO, RAYS),
    "information, lifts": Case(9, md.LIP(1), md.MutualInformation(), AUTO, ""),
    "histogram": Case(5, md.ContextAwareLDP(budgets(5)), HISTOGRAM, AUTO, RAYS),
    "histogram by local search": Case(4, ANY, HISTOGRAM, AUTO, RAYS, few_rays=True),
    "guess by rays": Case(4, ANY, md.BayesAccuracy(), "extreme-rays", RAYS),
    "of one's own": Case(4, ANY, TwoGuesses(), AUTO, ""),
    "risk": Case(4, ANY, md.L2Risk(), AUTO, ""),
    "risk, roots": Case(4, md.LDP(1), md.TVRisk(), "estimation", ""),
    "risk, worst case": Case(4, md.LDP(1), md.L2Risk(worst_case=True), "estimation", ""),
    "risk by local search": Case(3, FEW, md.L2Risk(), AUTO, "", few_rays=True),
    "readings": Case(4, ANY, md.UnbiasedVariance(), AUTO, ""),
    "readings, worst case": Case(4, md.LDP(1), md.UnbiasedVariance(worst_case=True), AUTO, ""),
    "whole channel": Case(
        4, md.ApproximateLDP(1, "0.01"), md.MeanAbsoluteError(), AUTO, "textbook"
    ),
    "information bounded": Case(
        4, md.MutualInformationLeakage("0.2"), md.HammingLoss(), AUTO, "textbook"
    ),
    "by cvxpy": Case(4, md.LDP(1), md.HammingLoss(), "cvxpy:CLARABEL"),
    "convex loss": Case(4, md.LDP(1), Roughness(), AUTO, ""),
    "closed form": Case(4, md.LDP(1), md.L2Risk(), AUTO, ""),
    "constraint of one's own": Case(4, md.LDP(1), md.MeanAbsoluteError(), AUTO, "", terms=same_law),
    "objective of one's own": Case(4, md.LDP(1), md.HammingLoss(), AUTO, "", terms=smooth),
}


@dataclass(frozen=True)
class Known:
    """A case designed without limits: the optimum as a loss, and what the search did.

    Attributes
    ----------
    calls
        The number of calls of solvers.
    told
        The reports of progress.
    """

    problem: md.Problem
    solution: md.Solution
    calls: int
    told: list[Progress]

    @property
    def optimum(self) -> float:
        return as_loss(self.problem, self.solution.value)


@cache
def known(name: str) -> Known:
    faults, told = Faults(), list[Progress]()
    problem, solution = CASES[name].run(faults, progress=told.append)
    return Known(problem, solution, len(faults.calls), told)


def as_loss(problem: md.Problem, number: Fraction) -> float:
    """An objective with its sign changed where it is a gain."""
    return float(-number if problem.utility.is_maximized else number)
