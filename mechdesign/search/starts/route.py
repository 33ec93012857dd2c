"""The start: the best channel that anybody could write down, and the last resort.

It takes private columns as they are known (:mod:`~mechdesign.search.starts.private_columns`), and
mixes a channel of them (:mod:`~mechdesign.search.starts.mixtures`). So the value of a design is
never worse than that of a constant, of randomized response, on bins too, or of the exponential
mechanism, each with the best decision for every report.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.notions import Cone
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.lp.program_size import program_size
from mechdesign.search.route import Route
from mechdesign.solver_guard import called, checked
from mechdesign.utilities import (
    ColumnUtility,
    ConvexUtility,
    EstimationRisk,
    LinearUtility,
    ReadingVariance,
)

__all__ = ["Start"]

PAIR_SECONDS, PROOF_SHARE = 4e-7, 0.3
"""Seconds that the repair and the proof take for each pair of inputs and each output, and the share
of the time limit that they may have."""

FEWEST = 8
"""Outputs that are used in any case."""

LONG, FEW = 1_000_000, 3
"""Rows for all outputs, and for each entry of the channel, from which a search takes seconds."""

MOST_ROWS = 300
"""Inputs up to which a linear program mixes the columns."""

MIXING_SECONDS, WORST = 2e-7, 1.7
"""Seconds that it takes, times the cube of the inputs; and how many times more count in a worst
case, which has twice as many rows."""

MOST_COLUMNS = 1_000
"""About how many columns it mixes."""

CENTERS = 4_100
"""About how many exponentials make a channel where there is no such program."""

SLOW_REACH = 5 * 10**7
"""Pairs of entries of all columns up to which they are raised one by one."""

SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16)
LARGE_SIZES = (24, 32, 48, 64)
"""Numbers of groups of inputs."""

FEW_SIZES = (2, 4, 8, 16)
MANY_ENTRIES = 4 * 10**6
"""Entries of the costs from which fewer numbers of groups are tried."""

HALVINGS = 20
"""How often the share of a channel that a constraint on the whole channel allows is halved."""

LARGEST_ODDS, MOST_SETS = 1e9, 1_000
"""A raised entry is at most so many times another one; and sets of inputs that are all listed."""

ROOM = 1 - 1e-9
"""The share of what is private that is taken, so that rounding does no harm."""


class Start(Route):
    """The best of the channels that can be written down for any problem.

    For a loss and for a sum over outputs it is a mixture of private columns, at least as good as
    one output for all inputs. For a risk of estimation and for unbiased readings, whose loss is
    infinite where rows are equal, it is randomized response; for a risk subset selection, if that
    is better. Under constraints of the user's own the best of a few channels with equal rows is
    taken that meets them. It is not listed in the registry: it stands in only where no other route
    had an answer as good. A proof is left to the other routes.

    Parameters
    ----------
    constraints
        Of the user's own, in cvxpy; None without terms of the user's own.

    Examples
    --------
    >>> from mechdesign.notions import LDP
    >>> from mechdesign.utilities import HammingLoss
    >>> survey = Problem(range(3), LDP(math.log(4)), HammingLoss(), prior=[0.1, 0.6, 0.3])
    >>> Start().solve(survey, Limits()).matrix.round(9).tolist()
    [[0.0, 0.8, 0.2], [0.0, 0.8, 0.2], [0.0, 0.2, 0.8]]
    """

    name = "start"
    summary = "a mixture of columns that are known to be private"
    allows_non_conic = True

    def __init__(self, constraints: Sequence[Any] | None = None) -> None:
        self._constraints = constraints

    def suits(self, problem: Problem, named: bool = False) -> str:
        """Return why it stands in: it suits any problem."""
        return "no other route had an answer as good: it can be written down"

    def is_first(self, problem: Problem) -> bool:
        """Return whether it is worth its time before any search: where that is sure to be long."""
        if self._constraints is not None or not problem.is_conic or problem.expected_loss is None:
            return False
        rows, k = program_size(problem).rows, len(problem.domain)
        return rows >= LONG and rows > FEW * k * len(problem.outputs or problem.domain)

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Return the best channel of those columns; in time, if it is late, that of some."""
        utility, k = problem.utility, len(problem.domain)
        if self._constraints is not None or isinstance(utility, ConvexUtility):
            from mechdesign.search.conic.user_terms import best_constant  # cvxpy on demand

            return best_constant(problem, self._constraints or ())
        bound, value = None, None
        if isinstance(utility, LinearUtility):
            used = _provable_outputs(problem, limits)
            outputs = problem.outputs or ()
            matrix, value = _linear(problem, utility, used, limits)
        elif isinstance(utility, ColumnUtility):
            matrix, gain = _gaining(problem, utility, limits)
            value = float(utility.objective_at(gain, problem.domain, problem.prior))
            outputs = name_outputs(problem, matrix.shape[1])
            if not utility.exact:
                most = Fraction(float(utility.gain(np.eye(k), problem.prior.array).sum()))
                whole = utility.offset(problem.domain, problem.prior)
                bound = most if utility.is_maximized else whole - most
        elif isinstance(utility, EstimationRisk | ReadingVariance):
            matrix = _randomized_response(problem.cone)
            if isinstance(utility, EstimationRisk):
                matrix, value = _estimating(problem, utility, matrix)
            outputs = name_outputs(problem, matrix.shape[1])
            if (matrix == matrix[0]).all():
                raise SolverError("the budgets are too small for the inputs to be told apart")
        else:
            raise UnsupportedError("objective", "a utility with a known form", utility.name)
        equal = bool((matrix == matrix[0]).all())
        route = "start: one output for all" if equal else "start: a mixture of private columns"
        return RawSolution(matrix, outputs, (), route, numeric_bound=bound, value=value)


def _provable_outputs(problem: Problem, limits: Limits) -> int:
    """Return how many outputs may be used, so that repair and proof end in time."""
    n = len(problem.outputs or ())
    if math.isinf(limits.seconds) or not problem.is_conic:
        return n
    pairs = program_size(problem).rows / n
    seconds = limits.seconds * PROOF_SHARE / (PAIR_SECONDS * max(pairs, 1.0))
    return max(FEWEST, min(n, int(seconds)))


def _linear(
    problem: Problem, utility: LinearUtility, most: int, limits: Limits
) -> tuple[FloatArray, float]:
    """Return the best channel found for a linear loss, and the loss."""
    from mechdesign.search.starts.mixtures import decided, mixture, worst_case_mixture

    cost = utility.cost(problem.domain, problem.prior, problem.outputs or ())
    scale = float(cost.max()) or 1.0

    def sent(columns: FloatArray) -> tuple[FloatArray, float]:
        found, value = decided(columns, cost, most)
        if utility.worst_case:
            value = float((found * cost).sum(axis=1).max())
        return found, value

    best: FloatArray = np.zeros_like(cost)
    total = cost.max(axis=0) if utility.worst_case else cost.sum(axis=0)
    best[:, int(np.argmin(total))] = 1.0
    found = [(best, float(total.min()))]
    try:
        rays = _mixable(problem, cost)
        if utility.worst_case:
            channel = worst_case_mixture(rays, cost, _mixing(limits, WORST * len(cost)))
            found.append((channel, float((channel * cost).sum(axis=1).max())))
        else:
            price = (rays.T @ (cost / scale)).min(axis=1)
            found.append(sent(mixture(rays, price, _mixing(limits, len(cost)))))
        found += map(sent, _classical(problem))
    except SolverError:
        found += map(sent, _channels(problem, cost))
    return min(found, key=itemgetter(1))


def _gaining(problem: Problem, utility: ColumnUtility, limits: Limits) -> tuple[FloatArray, float]:
    """Return the best channel found for a sum of gains, and the sum."""
    from mechdesign.search.starts.mixtures import mixture

    utility, p = utility.on(problem.domain), problem.prior.array
    cost = _guide(problem, utility)
    channels = [np.ones((len(cost), 1))]
    try:
        rays = np.hstack([_mixable(problem, cost), *_windows(problem)])
        channels.append(
            mixture(rays, -np.asarray(utility.gain(rays, p)), _mixing(limits, len(cost)))
        )
        channels += _classical(problem)
    except SolverError:
        channels += _channels(problem, cost)
    totals = [float(utility.gain(Q, p).sum()) for Q in channels]
    best = int(np.argmax(totals))
    return channels[best], totals[best]


def _guide(problem: Problem, utility: ColumnUtility) -> FloatArray:
    """Return costs that say which inputs are alike: of errors in what is estimated, or in X."""
    values, p = utility.scalar_values(problem.domain), problem.prior.array
    if values is None:
        return np.asarray(p[:, None] * (1 - np.eye(len(p))))
    f = np.array([float(v) for v in values])
    return np.asarray(p[:, None] * (f[:, None] - f) ** 2)


def _mixing(limits: Limits, n_rows: float) -> Limits:
    """Return when a mixture ends: where it is sure to be short, that does not depend on a clock."""
    is_short = MIXING_SECONDS * n_rows**3 <= limits.seconds / 2
    return Limits() if is_short and math.isfinite(limits.seconds) else limits.step()


def _mixable(problem: Problem, cost: FloatArray) -> FloatArray:
    """Return private columns to mix.

    Raises
    ------
    SolverError
        If a program over them does not suit the problem.
    """
    if not problem.is_conic or len(cost) > MOST_ROWS:
        raise SolverError("a mixture by a linear program is for few inputs, and for columns")
    return np.hstack([*_rays(problem, cost)])


def _rays(problem: Problem, cost: FloatArray) -> Iterator[FloatArray]:
    """Yield private columns to mix, the constant one first."""
    from mechdesign.search.starts import private_columns as private

    cone, k = problem.cone, len(cost)
    yield np.ones((k, 1))
    d = private.lengths(cone)
    yield private.raised(cone, d, np.eye(k))
    sizes = [size for size in SIZES if size < k]
    for member in private.groups(cost, sizes):
        yield private.raised(cone, d, np.eye(int(member.max()) + 1)[member])
    if d is None:
        return
    beyond = private.exponentials(d, problem.domain, k // 2, beyond=True)
    shapes = [*private.plateaus(d, MOST_COLUMNS), *([] if beyond is None else [beyond])]
    for columns in shapes:
        yield columns if private.is_by_ratios(cone) else private.inside(cone, columns)


def _windows(problem: Problem) -> Iterator[FloatArray]:
    """Yield columns raised on as many inputs in a row, the first after the last."""
    from mechdesign.search.starts import private_columns as private

    d, k, size = private.lengths(problem.cone), len(problem.domain), 2
    while size < k:
        sets = sum(np.roll(np.eye(k), shift, axis=0) for shift in range(size))
        yield private.raised(problem.cone, d, np.asarray(sets))
        size *= 2


def _classical(problem: Problem) -> Iterator[FloatArray]:
    """Yield randomized response, and the exponential mechanism where it is private.

    With d symmetric, e**(-d(z, x) / 2) changes by at most e**(d(x, x') / 2) from x to x', and so
    does the sum that rows are divided by (McSherry and Talwar 2007).
    """
    from mechdesign.search.starts import private_columns as private

    cone, k = problem.cone, len(problem.domain)
    if private.is_quick(cone) or k**3 <= SLOW_REACH:
        yield _randomized_response(cone)
    d = private.lengths(cone)
    if d is not None and private.is_by_ratios(cone) and np.array_equal(d, d.T):
        columns = np.exp(-d / 2)
        yield columns / columns.sum(axis=1, keepdims=True)


def _randomized_response(cone: Cone) -> FloatArray:
    """Return (1 + t I) / (k + t) at the largest t at which it is private."""
    from mechdesign.search.starts.private_columns import reach

    k = cone.size
    t = ROOM * float(reach(cone, np.eye(k)).min())
    return (1 + t * np.eye(k)) / (k + t)


def _estimating(
    problem: Problem, utility: EstimationRisk, response: FloatArray
) -> tuple[FloatArray, float]:
    """Return randomized response, or subset selection, and the risk at the prior it is made for.

    A worst case of channels that permutations of the inputs do not change is at the uniform prior.
    """
    prior = utility.reference(problem.prior).array
    found = [response, *_subset_selections(problem.cone)]

    def risk(Q: FloatArray) -> float:
        M = (Q / (prior @ Q)) @ Q.T
        try:
            variances = np.diag(checked("LAPACK", called("LAPACK", np.linalg.inv, M), M.shape))
        except SolverError:
            return math.inf
        return utility.scale * float(utility.deviations(variances.copy(), prior).value.sum())

    risks = [risk(Q) for Q in found if (Q[0] != Q).any()] or [math.inf]
    return found[int(np.argmin(risks))], min(risks)


def _subset_selections(cone: Cone) -> Iterator[FloatArray]:
    """Yield subset selection, with sets of one and of the best size, by component of the ratios."""
    from scipy.sparse.csgraph import connected_components

    from mechdesign.closed_forms.balanced_subsets import balanced_subsets
    from mechdesign.closed_forms.size_classes import MOST_INPUTS
    from mechdesign.mechanisms.optimum import best_size
    from mechdesign.search.starts import private_columns as private

    d, k = private.lengths(cone), cone.size
    if d is None or not private.is_by_ratios(cone):
        return
    _, component = connected_components(np.isfinite(d), directed=False)
    for is_best in (False, True):
        parts = []
        for inputs in (np.flatnonzero(component == n) for n in range(component.max() + 1)):
            size, inside = len(inputs), d[np.ix_(inputs, inputs)]
            least = inside[~np.eye(size, dtype=bool)].min(initial=np.log(LARGEST_ODDS))
            t, chosen = ROOM * float(np.expm1(least)), 1
            if t > 0 and is_best and size <= MOST_INPUTS:
                chosen = best_size(size, math.log1p(t))
            members, weights = np.eye(size), np.full(size, 1 / size)
            if chosen > 1 and math.comb(size, chosen) <= MOST_SETS:
                sets = list(itertools.combinations(range(size), chosen))
                members = np.array([np.isin(np.arange(size), one) for one in sets], dtype=float).T
                weights = np.full(len(sets), 1 / len(sets))
            elif chosen > 1:
                with contextlib.suppress(SolverError):
                    members, weights = balanced_subsets(size, chosen)
            part = np.zeros((k, len(weights)))
            part[inputs] = (1 + t * members) * weights
            parts.append(part)
        columns = np.hstack(parts)
        yield columns / columns.sum(axis=1, keepdims=True)


def _channels(problem: Problem, cost: FloatArray) -> Iterator[FloatArray]:
    """Yield private channels, each made of columns of one kind."""
    from mechdesign.search.starts import private_columns as private

    cone, (k, m) = problem.cone, cost.shape
    few = k * m > MANY_ENTRIES or not problem.is_conic
    sizes = [size for size in (FEW_SIZES if few else (*SIZES, *LARGE_SIZES)) if size < k]
    members = [*private.groups(cost, sizes)]
    if not problem.is_conic:
        for member in (*members, np.arange(k)):
            yield _within_constraints(problem, np.eye(int(member.max()) + 1)[member])
        return
    yield from _classical(problem)
    left = SLOW_REACH
    for member in members:
        n = int(member.max()) + 1
        left -= 0 if private.is_quick(cone) else n * k * k
        if left >= 0:
            sets = np.eye(n)[member]
            t = float(private.reach(cone, sets).min())
            yield (1 + t * sets) / (n + t)
    d = private.lengths(cone)
    if d is None or not private.is_by_ratios(cone):
        return
    found = private.exponentials(d, problem.domain, CENTERS, beyond=False)
    if found is not None:
        yield private.completed(cone, found)
    elif k <= CENTERS:
        yield private.completed(cone, np.exp(-d).T)


def _within_constraints(problem: Problem, matrix: FloatArray) -> FloatArray:
    """Return (1 - t) of a uniform output and t of a channel, for the largest t that is private."""
    from mechdesign.search.starts.mixtures import largest_share

    uniform = np.full(matrix.shape, 1 / matrix.shape[1])
    rules = [rule for rule in problem.channel_constraints if rule is not None]

    def holds(t: float) -> bool:
        columns = Channel.from_matrix((1 - t) * uniform + t * matrix).columns()
        if any(problem.cone.violation(column) is not None for column in columns):
            return False
        return all(rule.violation(columns) is None for rule in rules)

    t = largest_share(holds, HALVINGS)
    return np.asarray((1 - t) * uniform + t * matrix)
