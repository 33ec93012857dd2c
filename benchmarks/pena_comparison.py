"""PENA and the best unbiased channels of the same budget, on the same data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign.collection.personalized import TwoValuedResponder
from mechdesign.designs.design import design
from mechdesign.designs.solution import Solution
from mechdesign.errors import InputError, shown
from mechdesign.exact import Exact
from mechdesign.notions import LDP
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.utilities import MeanSquaredDistance

FloatArray = npt.NDArray[np.float64]

SCORES, REACH = 41, 1.5
"""The number of possible values of a report, and their range, in units of PENA's."""

SLACK = 1 + 1e-6
"""PENA's reports are just private, so the constraint of unbiasedness gets some room."""

EQUAL = 2e-3
"""Relative difference below which errors count as equal."""


@dataclass(frozen=True)
class MeanErrors:
    """Root mean squared errors of the estimated mean, at one budget.

    Attributes
    ----------
    epsilon
        The budget.
    pena
        Of the two-valued responder.
    minimax
        Of the unbiased channel whose largest variance over the values is least.
    tailored
        Of the unbiased channel that is optimal for these data: a lower bound for designs without
        the data, up to the discretization.
    solutions
        The minimax and the tailored channel. Inputs are the points of the range, scaled to
        [-1, 1]; the labels of the outputs are the unbiased estimates.
    """

    epsilon: float
    pena: float
    minimax: float
    tailored: float
    solutions: tuple[Solution, Solution]

    @property
    def best(self) -> str:
        """The better of the two that need no data."""
        ratio = self.minimax / self.pena
        if abs(ratio - 1) < EQUAL:
            return "equal"
        return "optimal channel" if ratio < 1 else "PENA"


@dataclass(frozen=True)
class MeanComparison:
    """Errors at several budgets; see :func:`compare_means`.

    Attributes
    ----------
    rows
        One for each budget.
    count
        The number of records.
    truth
        Their mean.
    """

    rows: tuple[MeanErrors, ...]
    count: int
    truth: float

    def __repr__(self) -> str:
        lines = [
            f"error of the mean of {self.count} values, which is {self.truth:.6g} (RMSE)",
            f"{'epsilon':>8} {'PENA':>12} {'minimax':>12} {'tailored':>12}  better blindly",
        ]
        for row in self.rows:
            errors = " ".join(f"{e:>12.6g}" for e in (row.pena, row.minimax, row.tailored))
            gain = row.minimax / row.pena - 1
            note = row.best if row.best == "equal" else f"{row.best}, {gain:+.1%}"
            lines.append(f"{row.epsilon:>8.4g} {errors}  {note}")
        return "\n".join(lines)


def compare_means(
    values: Iterable[Any],
    low: Exact,
    high: Exact,
    epsilons: Iterable[Exact],
    *,
    points: int = 17,
    outside: str = "refuse",
) -> MeanComparison:
    """Compare PENA's mean with that of the best unbiased channels at the same budgets.

    A value is moved at random to one of the two points of the range that are next to it, so that
    its expectation stays; then a channel on these points reports a score s(y) with E s = x. Among
    these the one of the least variance solves a linear program,

        min E (s(Y) - X)**2      subject to      Sum_y Q[x, y] s(y) = x,      Q epsilon-LDP,

    over channels to a fine grid of scores. All errors are exact expectations for the values held
    fixed, those of the random moves included; nothing is drawn.

    PENA itself is such a channel except for the grid of scores, so the tailored channel is never
    worse. The channel of the program is unbiased to about 1e-9 of the width of the range.

    Parameters
    ----------
    values
        The data.
    low, high
        The safe range of all.
    epsilons
        Budgets in nats.
    points
        How many points of the range the channels have as inputs, from 3 to 65.
    outside
        ``"refuse"`` or ``"clip"`` values outside.

    Raises
    ------
    InputError
        If a parameter is out of range, or there are no values.

    Examples
    --------
    >>> salaries = [800, 1200, 1500, 1700, 2400, 9000] * 1000
    >>> table = compare_means(salaries, 0, 10_000, [0.5, 4], points=9)
    >>> table
    error of the mean of 6000 values, which is 2766.67 (RMSE)
     epsilon         PENA      minimax     tailored  better blindly
         0.5      259.414      258.358      257.201  optimal channel, -0.4%
           4      48.1385      23.6472      20.1438  optimal channel, -50.9%
    """
    if type(points) is not int or not 3 <= points <= 65:
        raise InputError("points", "a whole number from 3 to 65", shown(points))
    responders = [TwoValuedResponder(low, high, e) for e in epsilons]
    if not responders:
        raise InputError("epsilons", "at least one budget", "none")
    first = responders[0]
    held, places = np.unique(first.held(values, outside=outside), return_inverse=True)
    if not len(places):
        raise InputError("values", "at least one number", "none")
    counts = np.bincount(places, minlength=len(held)).astype(np.float64)
    scaled = np.array([float(first.scaled(v)) for v in held.tolist()])
    data = _Data(scaled, counts, float(first.high - first.low))
    truth = float(first.low) + data.width * (data.mean + 1) / 2
    rows = tuple(_errors(one, data, points) for one in responders)
    return MeanComparison(rows, len(places), truth)


@dataclass(frozen=True)
class _Data:
    """Distinct values, scaled to [-1, 1], and their multiplicities."""

    scaled: FloatArray
    counts: FloatArray
    width: float

    @property
    def mean(self) -> float:
        return float(self.scaled @ self.counts / self.counts.sum())

    def error(self, mean_square: float) -> float:
        """Return the error of the mean for reports with this mean square."""
        variance = mean_square - float(self.scaled**2 @ self.counts / self.counts.sum())
        return self.width / 2 * math.sqrt(max(variance, 0.0) / self.counts.sum())

    def shares(self, points: int) -> FloatArray:
        """Return the distribution of the records over the points, after rounding each to one."""
        place = (self.scaled + 1) / 2 * (points - 1)
        left = np.minimum(np.floor(place), points - 2).astype(np.intp)
        right = place - left
        spread = np.bincount(left, self.counts * (1 - right), points)
        spread += np.bincount(left + 1, self.counts * right, points)
        return np.asarray(spread / spread.sum())


def _errors(one: TwoValuedResponder, data: _Data, points: int) -> MeanErrors:
    inputs = [Fraction(2 * j, points - 1) - 1 for j in range(points)]
    size = float(one.size) * SLACK
    scores = {*np.linspace(-REACH * size, REACH * size, SCORES).tolist(), -size, size}
    shares = data.shares(points)
    prior = Prior.from_counts([round(share * 2**40) for share in shares.tolist()])

    def best(worst_case: bool) -> Solution:
        problem = Problem(
            [float(x) for x in inputs],
            LDP(one.epsilon),
            MeanSquaredDistance(worst_case=worst_case),
            prior=prior,
            outputs=sorted(scores),
        )
        unbiased = problem.Q @ np.array(problem.outputs) == np.array(problem.domain.labels)
        return design(problem, constraints=[unbiased])

    def error(solution: Solution) -> float:
        squares = np.array(solution.channel.outputs, dtype=np.float64) ** 2
        return data.error(float(shares @ solution.channel.matrix @ squares))

    minimax, tailored = best(True), best(False)
    return MeanErrors(
        float(one.epsilon),
        data.error(float(one.size) ** 2),
        error(minimax),
        error(tailored),
        (minimax, tailored),
    )
