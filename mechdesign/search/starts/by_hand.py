"""Baseline channels: known private columns, completed to channels, with their best outputs."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from fractions import Fraction
from operator import itemgetter

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from mechdesign._typing import FloatArray, IntArray
from mechdesign.channel import Channel
from mechdesign.closed_forms.balanced_subsets import balanced_subsets
from mechdesign.closed_forms.base import name_outputs
from mechdesign.closed_forms.size_classes import MOST_INPUTS
from mechdesign.errors import InputError, SolverError, UnsupportedError
from mechdesign.mechanisms.registry import NOISE, mechanism_for
from mechdesign.mechanisms.set_system import best_size
from mechdesign.notions import Cone
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.lp.program_size import program_rows
from mechdesign.search.starts import private_columns as private
from mechdesign.solver_guard import called, checked
from mechdesign.utilities import ColumnUtility, EstimationRisk, LinearUtility, ReadingVariance

PAIR_SECONDS, PROOF_SHARE = 4e-7, 0.3
"""Seconds of the repair and the proof for each pair of inputs and each output, and their share of
the time limit."""

FEWEST = 8
"""The least number of outputs."""

MOST_PRODUCTS = 10**11
"""The number of multiplications up to which every column is tried with every output."""

SLOW_REACH = 5 * 10**7
"""The number of pairs of entries of all columns up to which they are raised one by one."""

SIZES, FEW_SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 48, 64), (2, 4, 8, 16)
"""Numbers of groups of inputs."""

MANY_ENTRIES = 4 * 10**6
"""The number of entries of the costs from which fewer numbers of groups are tried."""

HALVINGS = 20
"""The number of bisections of the largest share of a channel under a global constraint."""

LARGEST_ODDS = 1e9
"""The largest ratio of a raised entry to another."""

ROOM = 1 - 1e-9
"""A safety factor for rounding."""


def by_hand(problem: Problem, limits: Limits) -> RawSolution:
    """Return the best of the channels; with few outputs if time is short.

    SolverError if rows must be equal, and the loss is then infinite.
    """
    utility, k, p = problem.utility, len(problem.domain), problem.prior.array
    bound, value = None, None
    if isinstance(utility, LinearUtility):
        matrix, value = _linear(problem, utility, _provable_outputs(problem, limits))
    elif isinstance(utility, ColumnUtility):
        gains = utility.on(problem.domain)
        found = [(float(gains.gain(Q, p).sum()), Q) for Q in _channels(problem, _guide(problem))]
        # entries too small for floats make a divergence infinite
        finite = [pair for pair in found if math.isfinite(pair[0])]
        if not finite:
            raise SolverError("the gain of every channel done by hand is infinite in floats")
        gain, matrix = max(finite, key=itemgetter(0))
        value = float(utility.objective_at(gain, problem.domain, problem.prior))
        if not utility.exact:
            most = Fraction(float(utility.gain(np.eye(k), p).sum()))
            whole = utility.offset(problem.domain, problem.prior)
            bound = most if utility.is_maximized else whole - most
    elif isinstance(utility, EstimationRisk | ReadingVariance):
        matrix = _randomized_response(problem.cone, np.eye(k))
        if isinstance(utility, EstimationRisk):
            matrix, value = _estimating(problem, utility, matrix)
        if (matrix == matrix[0]).all():
            raise SolverError("the budgets are too small to distinguish the inputs")
    else:
        raise UnsupportedError("objective", "a utility with a known form", utility.name)
    is_linear = isinstance(utility, LinearUtility)
    outputs = (is_linear and problem.outputs) or name_outputs(problem, matrix.shape[1])
    equal = bool((matrix == matrix[0]).all())
    route = "start: one output for all" if equal else "start: a channel done by hand"
    return RawSolution(matrix, outputs, (), route, numeric_bound=bound, value=value)


def _provable_outputs(problem: Problem, limits: Limits) -> int:
    """Return the number of outputs for which repair and proof end in time."""
    n = len(problem.outputs or ())
    if math.isinf(limits.seconds) or not problem.is_conic:
        return n
    pairs = program_rows(problem) / n
    seconds = limits.seconds * PROOF_SHARE / (PAIR_SECONDS * max(pairs, 1.0))
    return max(FEWEST, min(n, int(seconds)))


def _linear(problem: Problem, utility: LinearUtility, most: int) -> tuple[FloatArray, float]:
    """Return the best channel found for a linear loss, and the loss."""
    cost = utility.cost(problem.domain, problem.prior, problem.outputs or ())
    best: FloatArray = np.zeros_like(cost)
    best[:, int((cost.max(axis=0) if utility.worst_case else cost.sum(axis=0)).argmin())] = 1.0
    found = [best]
    for Q in _channels(problem, cost):
        found.append(decided(Q, cost, most))
        if utility.worst_case and Q.shape == cost.shape:
            found.append(Q)  # the best output in the mean may not be the best for the worst input
    losses = [(Q * cost).sum(axis=1) for Q in found]
    values = [float(own.max() if utility.worst_case else own.sum()) for own in losses]
    return found[int(np.argmin(values))], min(values)


def decided(columns: FloatArray, cost: FloatArray, most: int | None = None) -> FloatArray:
    """Return the channel with the best output for each column, ``(n_inputs, n_outputs)``.

    With very many outputs only some are tried for each column, and all for merged columns. The
    channel has at most ``most`` outputs.
    """
    best = _best_outputs(columns, cost)
    used, own = np.unique(best, return_inverse=True)
    n = len(best)
    merged = np.asarray(columns @ sp.csr_array((np.ones(n), (np.arange(n), own))))
    if most is not None and len(used) > most:
        (group,) = private.groups(merged.T @ cost, [most])
        merged = merged @ np.eye(most)[group]
    again = _best_outputs(merged, cost)  # merged columns may have a better output
    matrix: FloatArray = np.zeros_like(cost)
    np.add.at(matrix.T, again, merged.T)
    return matrix


def _best_outputs(columns: FloatArray, cost: FloatArray) -> IntArray:
    """Return the output of least c_y . q for each column."""
    (k, n), m = columns.shape, cost.shape[1]
    tried = np.arange(0, m, -(-k * n * m // MOST_PRODUCTS))
    return np.asarray(tried[np.argmin(columns.T @ cost[:, tried], axis=1)], dtype=np.intp)


def _guide(problem: Problem) -> FloatArray:
    """Return costs that measure the similarity of inputs: of estimation errors, or of X."""
    values, p = problem.utility.scalar_values(problem.domain), problem.prior.array
    if values is None:
        return np.asarray(p[:, None] * (1 - np.eye(len(p))))
    f = np.array([float(v) for v in values])
    return np.asarray(p[:, None] * (f[:, None] - f) ** 2)


def _channels(problem: Problem, cost: FloatArray) -> Iterator[FloatArray]:
    """Yield private channels, each made of columns of one kind."""
    cone, (k, m) = problem.cone, cost.shape
    few = k * m > MANY_ENTRIES or not problem.is_conic
    sizes = [size for size in (FEW_SIZES if few else SIZES) if size < k]
    partitions = [np.eye(int(own.max()) + 1)[own] for own in private.groups(cost, sizes)]
    yield np.ones((k, 1))
    if not problem.is_conic:
        for sets in (*partitions, np.eye(k)):
            yield _within_constraints(problem, sets)
        return
    yield from _noise(problem)
    d, left = private.lengths(cone), SLOW_REACH
    for sets in (np.eye(k), *partitions):
        left -= 0 if private.is_quick(cone) else sets.shape[1] * k * k
        if left >= 0:
            yield _randomized_response(cone, sets)
            yield private.completed(cone, private.raised(cone, d, sets))
    if k <= SIZES[-1]:
        for size in (2**n for n in range(1, k.bit_length()) if 2**n < k):
            window = sum(np.roll(np.eye(k), shift, axis=0) for shift in range(size))
            yield private.completed(cone, private.raised(cone, d, np.asarray(window)))


def _noise(problem: Problem) -> Iterator[FloatArray]:
    """Yield noise on a line or a grid, whose reports from beyond its ends go to the nearest."""
    notion, *others = problem.privacy
    for kind in NOISE if not others and len(problem.domain) <= private.MOST_CLOSED else ():
        with contextlib.suppress(InputError, UnsupportedError):  # for another notion or domain
            yield mechanism_for(kind, problem.domain, notion).dense().matrix


def _randomized_response(cone: Cone, sets: FloatArray) -> FloatArray:
    """Return (1 + t S) / (n + t) for n sets S, at the largest private t."""
    t = ROOM * float(private.reach(cone, sets).min())
    return np.asarray((1 + t * sets) / (sets.shape[1] + t))


def _estimating(
    problem: Problem, utility: EstimationRisk, response: FloatArray
) -> tuple[FloatArray, float]:
    """Return randomized response, or subset selection, and the risk at its prior.

    The worst case of channels that are invariant under permutations is at the uniform prior.
    """
    prior = utility.reference(problem.prior).array
    found = [response, *_subset_selections(problem.cone)]

    risks = [risk_of(Q, utility, prior) for Q in found if (Q[0] != Q).any()] or [math.inf]
    return found[int(np.argmin(risks))], min(risks)


def risk_of(matrix: FloatArray, utility: EstimationRisk, prior: FloatArray) -> float:
    """Return the risk of a channel at a prior; infinite for one that determines nothing."""
    M = (matrix / (prior @ matrix)) @ matrix.T
    try:
        variances = np.diag(checked("LAPACK", called("LAPACK", np.linalg.inv, M), M.shape))
    except SolverError:
        return math.inf
    return utility.scale * float(utility.deviations(variances.copy(), prior).value.sum())


def _subset_selections(cone: Cone) -> Iterator[FloatArray]:
    """Yield subset selection, with sets of one and of the best size, by component of the ratios."""
    d, k = private.lengths(cone), cone.size
    if d is None or not cone.is_by_ratios:
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
            if chosen > 1:
                with contextlib.suppress(SolverError):
                    members, weights = balanced_subsets(size, chosen)
            part = np.zeros((k, len(weights)))
            part[inputs] = (1 + t * members) * weights
            parts.append(part)
        columns = np.hstack(parts)
        yield columns / columns.sum(axis=1, keepdims=True)


def _within_constraints(problem: Problem, matrix: FloatArray) -> FloatArray:
    """Return (1 - t) of a uniform output and t of a channel, for the largest t that is private."""
    uniform = np.full(matrix.shape, 1 / matrix.shape[1])
    rules = [rule for rule in problem.channel_constraints if rule is not None]

    def holds(t: float) -> bool:
        columns = Channel.from_matrix((1 - t) * uniform + t * matrix).columns()
        if any(problem.cone.violation(column) is not None for column in columns):
            return False
        return all(rule.violation(columns) is None for rule in rules)

    low, high = 0.0, 1.0
    if holds(high):
        return matrix
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return np.asarray((1 - low) * uniform + low * matrix)
