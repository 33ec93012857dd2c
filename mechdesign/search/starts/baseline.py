"""The baseline: the best mixture of known private columns, found by one linear program.

A column q lies in the cone of notions that bound ratios, q_x <= e**E[x, x'] q_x', exactly if ln q
is Lipschitz for E. With d the shortest paths of E, this holds for

    max over z in B of e**-d(z, x)    the set B, raised: maxima of private columns are private.

Under LDP the raised sets are all extreme rays; those of one input are the exponential mechanism. In
any other cone there is room about the constant column: 1 + t v is private for t up to
:func:`reach`. For every column r some 1 - t r is private as well, so that the mixtures that sum to
1 are many. The best one is a linear program in their weights, as each column has a best output.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.closed_forms.balanced_subsets import balanced_subsets
from mechdesign.closed_forms.base import name_outputs
from mechdesign.closed_forms.size_classes import MOST_INPUTS
from mechdesign.errors import InputError, SolverError, UnsupportedError
from mechdesign.kernel.value import value_steps
from mechdesign.mechanisms.projective_geometry import ProjectiveGeometryResponse
from mechdesign.mechanisms.registry import NOISE, mechanism_for
from mechdesign.mechanisms.set_system import best_size
from mechdesign.notions.rows.cone import Cone
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution, estimated_scalar
from mechdesign.search.cones.forms import closure
from mechdesign.search.highs import UNIT, RestrictedMaster
from mechdesign.search.limits import STEPS_A_SECOND, Limits
from mechdesign.search.lp.program_size import FEWEST_OUTPUTS, program_rows
from mechdesign.solver_guard import called, checked
from mechdesign.utilities import (
    ColumnUtility,
    Divergence,
    EstimationRisk,
    LinearUtility,
    ReadingVariance,
)

PAIR_SECONDS, PROOF_SHARE = 4e-7, 0.3
"""Seconds of the repair and the proof for each pair of inputs and each output, and their share of
the time limit."""

MOST_CLOSED = 700
"""Number of inputs up to which shortest paths are computed; named distances are shortest paths."""

MOST_STEPS = 5 * 10**7
"""The number of pairs of entries of all columns up to which rows of pairs are evaluated."""

MOST_PRODUCTS = 10**11
"""The number of multiplications up to which every column is tried with every output."""

MOST_ENTRIES = 100_000
"""The number of entries of the linear program."""

SIZES, FEW_SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 48, 64), (2, 3, 4, 8, 16)
"""Numbers of groups of inputs: up to 64 inputs, and with more."""

MOST_SETS = 1 << 22
"""The number of entries of a table of inputs and sets."""

SWAPS = 8
"""The number of alternating updates of the outputs and the inputs of groups."""

HALVINGS, SHARES = 20, 2.0**60
"""The number of bisections of the largest share of a channel under a global constraint, and the
unit of the entries of the integer channels that are tried."""

NOTHING, FARTHEST = 1e-13, 1e12
"""Smaller terms are rounding errors; and the largest ratio of positive entries of a column."""

SCALE = 1 << 40
"""Numbers are multiplied by this and rounded for integer arithmetic."""

LARGEST_ODDS = 1e9
"""The largest ratio of a raised entry to another."""

ROOM = 1 - 1e-9
"""A safety factor for rounding."""


def baseline(problem: Problem, limits: Limits) -> RawSolution:
    """Return the best of the channels; with few outputs if time is short.

    SolverError if rows must be equal, and the loss is then infinite.
    """
    utility, k, p = problem.utility, len(problem.domain), problem.prior.array
    bound, value = None, None
    within = limits.step()
    if isinstance(utility, LinearUtility):
        matrix, value = _linear(problem, utility, _provable_outputs(problem, limits), within)
    elif isinstance(utility, ColumnUtility):
        found = list[FloatArray]()
        if isinstance(utility, Divergence):  # the binary mechanism
            laws = zip(*utility.weights(problem.domain), strict=True)
            favored = np.eye(2)[[int(a > b) for a, b in laws]]
            found.append(randomized_response(problem.cone, favored, within))
        channels, rays = _known(problem, _guide(problem), within)
        channels += found
        gain = partial(utility.on(problem.domain).gain, prior=p)
        channels += _mixture(rays, -gain(rays)[None, :], within)
        most = _valued_outputs(problem, limits, PROOF_SHARE)
        channels = [_merged(Q, most) for Q in channels]
        gains = [float(gain(Q).sum()) for Q in channels]
        # entries too small for floats make a divergence infinite
        finite = [n for n, total in enumerate(gains) if math.isfinite(total)]
        if not finite:
            raise SolverError("the gain of every channel done by hand is infinite in floats")
        best = max(finite, key=gains.__getitem__)
        matrix = channels[best]
        value = float(utility.objective_at(gains[best], problem.domain, problem.prior))
        if not utility.exact:
            everything = Fraction(float(gain(np.eye(k)).sum()))
            whole = utility.offset(problem.domain, problem.prior)
            bound = everything if utility.is_maximized else whole - everything
    elif isinstance(utility, EstimationRisk | ReadingVariance):
        matrix = randomized_response(problem.cone, np.eye(k))
        if isinstance(utility, EstimationRisk):
            matrix, value = _estimating(problem, utility, matrix, limits)
        if (matrix == matrix[0]).all():
            raise SolverError("the budgets are too small to distinguish the inputs")
    else:
        raise UnsupportedError("objective", "a utility with a known form", utility.name)
    outputs = isinstance(utility, LinearUtility) and problem.outputs
    equal = bool((matrix == matrix[0]).all())
    route = "start: one output for all" if equal else "start: a channel done by hand"
    return RawSolution(
        matrix,
        outputs or name_outputs(problem, matrix.shape[1]),
        (),
        route,
        numeric_bound=bound,
        value=value,
    )


def _provable_outputs(problem: Problem, limits: Limits) -> int:
    """Return the number of outputs for which repair and proof end in time."""
    n = len(problem.outputs or ())
    if math.isinf(limits.seconds) or not problem.is_conic:
        return n
    pairs = program_rows(problem) / n
    seconds = limits.seconds * PROOF_SHARE / (PAIR_SECONDS * max(pairs, 1.0))
    return max(FEWEST_OUTPUTS, min(n, int(seconds)))


def _valued_outputs(problem: Problem, limits: Limits, share: float = 1.0) -> int:
    """Return the number of outputs whose exact value takes a share of the time limit."""
    one, two = (value_steps(problem.compiled.statement, n) for n in (1, 2))
    most = limits.steps(MOST_SETS, share * STEPS_A_SECOND / max(1, two - one))
    return max(FEWEST_OUTPUTS, most)


def _merged(matrix: FloatArray, most: int) -> FloatArray:
    """Return a channel with at most so many outputs, in which neighboring outputs are one."""
    columns = matrix[:, matrix.any(axis=0)]
    n = columns.shape[1]
    return placed(columns, np.arange(n) * most // n, most) if n > most else columns


def _linear(
    problem: Problem, utility: LinearUtility, most: int, limits: Limits
) -> tuple[FloatArray, float]:
    """Return the best channel found for a linear loss, with few outputs, and the loss."""
    cost = utility.cost(problem.domain, problem.prior, problem.outputs or ())
    (k, m), is_worst = cost.shape, utility.worst_case
    one = int((cost.max(axis=0) if is_worst else cost.sum(axis=0)).argmin())
    found, (channels, rays) = [np.eye(m)[[one] * k]], _known(problem, cost, limits)
    best = np.argmin(rays.T @ cost, axis=1)
    losses = rays * cost[:, best]
    if is_worst:  # the best output in the mean may not be the best for the worst input
        found += [Q for Q in channels if Q.shape == (k, m)]
        largest = [(rays * own[:, None]).max(axis=0) for own in cost.T]
        least = np.argmin(largest, axis=0)
        rays, best = np.hstack([rays, rays]), np.concatenate([best, least])
        losses = np.hstack([losses, rays[:, len(least) :] * cost[:, least]])
    mixed = _mixture(rays, losses if is_worst else losses.sum(axis=0, keepdims=True), limits)
    mixed = [placed(Q, best, m) for Q in mixed]
    found += mixed if is_worst else []
    found += [decided(Q, cost, most) for Q in [*channels, *mixed]]
    by_input = [(Q * cost).sum(axis=1) for Q in found]
    values = [float(own.max() if is_worst else own.sum()) for own in by_input]
    return found[int(np.argmin(values))], min(values)


def _guide(problem: Problem) -> FloatArray:
    """Return costs that measure the similarity of inputs: of estimation errors, or of X.

    Under a divergence inputs are similar if they have similar likelihood ratios.
    """
    utility, p, scalar = problem.utility, problem.prior.array, estimated_scalar(problem)
    values = None if scalar is None else scalar[0]
    if isinstance(utility, Divergence):
        a, b = utility.weights(problem.domain)
        p = np.array([float(v + w) / 2 for v, w in zip(a, b, strict=True)])
        values = tuple((v - w) / ((v + w) or 1) for v, w in zip(a, b, strict=True))
    if values is None:
        return np.asarray(p[:, None] * (1 - np.eye(len(p))))
    f = np.array([float(v) for v in values])
    return np.asarray(p[:, None] * (f[:, None] - f) ** 2)


def _mixture(rays: FloatArray, losses: FloatArray, limits: Limits) -> list[FloatArray]:
    """Return the mixture of least largest loss, ``(n_losses, n_rays)``, if HiGHS finds it."""
    (k, n), r, scale = rays.shape, len(losses), float(np.abs(losses).max()) or 1.0
    program = np.block([[rays, np.zeros((k, 2))], [losses / scale, np.tile([-1.0, 1.0], (r, 1))]])
    gain = np.concatenate([np.zeros(n), [-1.0, 1.0]])
    sides = (np.repeat([1.0, -np.inf], [k, r]), np.repeat([1.0, 0.0], [k, r]))
    with contextlib.suppress(SolverError):
        if math.isfinite(scale):
            theta, _ = RestrictedMaster(program, gain, UNIT, sides, limits).solve()
            return [rays * np.maximum(theta[:n], 0.0)]
    return []


def placed(columns: FloatArray, outputs: IntArray, m: int) -> FloatArray:
    """Return the channel in which each column has one of m outputs."""
    n = len(outputs)
    return np.asarray(columns @ sp.csr_array((np.ones(n), (np.arange(n), outputs)), shape=(n, m)))


def decided(columns: FloatArray, cost: FloatArray, most: int | None = None) -> FloatArray:
    """Return the channel with the best output for each column, at most ``most`` of them."""
    m = cost.shape[1]
    matrix = placed(columns, np.argmin(columns.T @ cost, axis=1), m)
    used = np.flatnonzero(matrix.any(axis=0))
    if most is not None and len(used) > most:
        (group,) = groups(matrix[:, used].T @ cost, [most])
        merged = placed(matrix[:, used], group, most)
        matrix = placed(merged, np.argmin(merged.T @ cost, axis=1), m)
    return matrix


def _known(
    problem: Problem, cost: FloatArray, limits: Limits
) -> tuple[list[FloatArray], FloatArray]:
    """Return private channels, and private columns of which many mixtures are channels."""
    cone, (k, m) = problem.cone, cost.shape
    sizes = [size for size in (SIZES if k <= SIZES[-1] else FEW_SIZES) if size < k]
    sets = [np.eye(int(own.max()) + 1)[own] for own in groups(cost, sizes)]
    channels = [np.eye(k), *sets] if k * k * m <= MOST_PRODUCTS else sets
    one = np.ones((k, 1))
    if not problem.is_conic:
        return [one, *(_within_constraints(problem, Q, limits) for Q in channels)], one
    noise = list(_noise(problem))
    if not (is_quick(cone) or k**3 <= MOST_STEPS):
        return [one, *noise], one
    if k <= SIZES[-1]:
        steps = (2**n for n in range(1, k.bit_length()) if 2**n < k)
        sets += [np.array(sum(np.roll(np.eye(k), n, axis=0) for n in range(m))) for m in steps]
    if is_small := k * k <= MOST_ENTRIES:
        sets.append(np.eye(k))
    columns = raised(cone, np.unique(np.hstack(sets), axis=1), limits)
    rays = np.hstack([one, columns, inside(cone, -columns, limits), *(noise if is_small else ())])
    rays = rays[:, rays.max(axis=0) > 0]
    responses = [randomized_response(cone, Q, limits) for Q in channels]
    return [one, *noise, *responses], rays / rays.max(axis=0)


def _noise(problem: Problem) -> Iterator[FloatArray]:
    """Yield noise on a line or a grid, whose reports from beyond its ends go to the nearest."""
    notion, *others = problem.privacy
    for kind in NOISE if not others and len(problem.domain) <= MOST_CLOSED else ():
        with contextlib.suppress(InputError, UnsupportedError):  # for another notion or domain
            yield mechanism_for(kind, problem.domain, notion).dense().matrix


def randomized_response(cone: Cone, sets: FloatArray, limits: Limits | None = None) -> FloatArray:
    """Return (1 + t S) / (n + t) for n sets S, at the largest private t."""
    t = ROOM * float(reach(cone, sets, limits).min())
    return np.asarray((1 + t * sets) / (sets.shape[1] + t))


def _estimating(
    problem: Problem, utility: EstimationRisk, response: FloatArray, limits: Limits
) -> tuple[FloatArray, float]:
    """Return randomized response, subset selection or noise, and the risk at its prior.

    The worst case of channels that are invariant under permutations is at the uniform prior.
    """
    prior = utility.reference(problem.prior).array
    most = min(MOST_SETS, len(prior) * _valued_outputs(problem, limits))
    found = [response, *_subset_selection(problem.cone, most)]
    found += [] if utility.worst_case else _noise(problem)
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


def _subset_selection(cone: Cone, most: int) -> Iterator[FloatArray]:
    """Yield subset selection, with sets of the best size, by component of the rows.

    A table of inputs and sets has at most so many entries.
    """
    d, component, parts = None, cone.components(), list[FloatArray]()
    if cone.is_by_ratios and (d := lengths(cone)) is None:
        return
    for inputs in (np.flatnonzero(component == c) for c in range(component.max() + 1)):
        size, own = len(inputs), np.zeros((cone.size, len(inputs)))
        own[inputs] = np.eye(size)
        t = float(reach(cone, own).min()) if d is None else _least_odds(d[np.ix_(inputs, inputs)])
        members, weights = _sets(size, ROOM * t, most)
        sets = own @ members
        t = float(reach(cone, sets).min()) if d is None else t
        own[inputs] = 1.0
        parts.append((own[:, :1] + ROOM * t * sets) * weights)
    columns = np.hstack(parts)
    yield columns / columns.sum(axis=1, keepdims=True)


def _least_odds(d: FloatArray) -> float:
    """Return the least largest odds of two inputs, minus 1."""
    least = d[~np.eye(len(d), dtype=bool)].min(initial=np.log(LARGEST_ODDS))
    return float(np.expm1(least))


def _sets(size: int, t: float, most: int) -> tuple[FloatArray, FloatArray]:
    """Return weighted sets of nearly the best size at odds of 1 + t, each input alike in them.

    Up to 96 inputs they are balanced; of more inputs, or if they have more entries than allowed,
    those of a projective geometry: fewer sets, at nearly the same risk. Else they are the inputs
    one by one.
    """
    chosen = best_size(size, math.log1p(t)) if t > 0 else 1
    with contextlib.suppress(InputError, SolverError):
        if chosen > 1 and size <= MOST_INPUTS:
            members, weights = balanced_subsets(size, chosen)
            if members.size <= most:
                return members, weights
        if chosen > 1:
            response = ProjectiveGeometryResponse(size, math.log1p(t))
            if size * response.n_outputs <= most:
                members = response.sets().astype(np.float64)
                return members, np.full(members.shape[1], 1 / members.shape[1])
    return np.eye(size), np.full(size, 1 / size)


def _within_constraints(problem: Problem, matrix: FloatArray, limits: Limits) -> FloatArray:
    """Return (1 - t) of a uniform output and t of a channel, for the largest private t in time."""
    uniform = np.full(matrix.shape, 1 / matrix.shape[1])
    rules = [rule for rule in problem.channel_constraints if rule is not None]

    def holds(t: float) -> bool:
        columns = np.rint(SHARES * ((1 - t) * uniform + t * matrix)).astype(np.int64).T.tolist()
        if any(problem.cone.violation(column) is not None for column in columns):
            return False
        return all(rule.violation(columns) is None for rule in rules)

    low, high = 0.0, 1.0
    if limits.expired():
        return uniform
    if holds(high):
        return matrix
    for _ in range(HALVINGS):
        if limits.expired():
            break
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return np.asarray((1 - low) * uniform + low * matrix)


def reach(cone: Cone, directions: FloatArray, limits: Limits | None = None) -> FloatArray:
    """Return for each direction v the largest t with 1 + t v private, at most 1e12.

    It is 0, which is private, for the directions that are left when the time is over.

    Parameters
    ----------
    cone
        Any cone.
    directions
        ``(n_inputs, n)``.

    Examples
    --------
    >>> from mechdesign import Domain, LDP
    >>> cone = Cone([LDP(math.log(3)).family(Domain([0, 1, 2]))])
    >>> reach(cone, np.array([[1.0], [0.0], [0.0]])).round(9).tolist()
    [2.0]
    """
    lowest, highest = directions.min(axis=0), directions.max(axis=0)
    steps = [np.full(len(lowest), FARTHEST), _steps(1.0, -lowest)]
    for family in cone.families:
        pairs, lifts = family.ratio_rows(), family.lift_rows()
        if lifts is not None:  # low (1 + t P . v) <= 1 + t v_x <= high (1 + t P . v)
            low, high = lifts.ends()
            least, most = _extreme_means(lifts, directions)
            steps.append(_steps(1 - low, low * most - lowest if low > 0 else 0 * most))
            if math.isfinite(high):
                steps.append(_steps(high - 1, highest - high * least))
        elif pairs is not None and _is_uniform(pairs):
            low = float(pairs.inverse[0] / pairs.factors[0])
            steps.append(_steps(1 - low, low * highest - lowest))
        else:
            rows = family.matrix()
            room, t = -(rows @ np.ones(cone.size)), np.zeros(len(lowest))
            for n, v in enumerate(directions.T):
                if limits is not None and limits.expired():
                    break
                t[n] = _steps(room, rows @ v).min(initial=FARTHEST)
            steps.append(t)
    return np.asarray(np.min(steps, axis=0))


def _steps(room: FloatArray | float, used: FloatArray) -> FloatArray:
    """Return the largest t with t used <= room, by row."""
    with np.errstate(over="ignore"):
        most = np.where(np.greater(room, NOTHING), room, 0.0) / np.maximum(used, NOTHING)
    return np.where(used > NOTHING, most, np.inf)


def _is_uniform(pairs: PairRows) -> bool:
    """Return whether all pairs have the same bound."""
    return len(pairs.units) == 1 and pairs.n_pairs == pairs.size * (pairs.size - 1) > 0


def _extreme_means(lifts: LiftRows, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest P . v of each direction."""
    if lifts.priors.members:
        priors = np.array([[float(p) for p in prior] for prior in lifts.priors.members])
        means = priors @ directions
        return means.min(axis=0), means.max(axis=0)
    columns = np.round(directions.T * SCALE).astype(np.int64).tolist()
    least, most = (
        np.array([float(lifts.priors.extreme_mean(q, largest=largest)) / SCALE for q in columns])
        for largest in (False, True)
    )
    return least, most


def is_quick(cone: Cone) -> bool:
    """Return whether :func:`reach` takes linear time in the entries."""
    return all(_is_uniform(rows) for rows in cone.ratios.values() if rows.n_pairs)


def lengths(cone: Cone) -> FloatArray | None:
    """Return shortest paths d with ln(q_x / q_z) <= d[x, z]; None without ratios or with many."""
    known = [rows for rows in cone.ratios.values() if rows.n_pairs]
    if not known:
        return None
    if len(known) == 1 and (known[0].near is not None or _is_uniform(known[0])):
        return known[0].lengths()
    if cone.size > MOST_CLOSED:
        return None
    return closure(cone.lengths())


def raised(cone: Cone, sets: FloatArray, limits: Limits | None = None) -> FloatArray:
    """Return private columns that are largest on given sets, ``(n_inputs, n)`` zeros and ones."""
    if (d := lengths(cone)) is not None:
        sets = np.exp(-np.array([d[members].min(axis=0) for members in sets.T > 0])).T
    return sets if d is not None and cone.is_by_ratios else inside(cone, sets, limits)


def inside(cone: Cone, columns: FloatArray, limits: Limits | None = None) -> FloatArray:
    """Return the columns, moved towards the constant or away from it as far as allowed."""
    t = reach(cone, columns - columns.min(axis=0), limits)
    moved = 1 + t * (columns - columns.min(axis=0))
    return np.asarray(moved / moved.max(axis=0))


def groups(cost: FloatArray, sizes: list[int]) -> Iterator[IntArray]:
    """Yield for each size, in increasing order, the group of every input; each has one output.

    Outputs are added greedily, each to reduce the sum of the least costs ``(n_inputs, n_outputs)``
    most; then groups choose their outputs and inputs their groups in alternation (Lloyd 1982).
    """
    least = np.full(len(cost), float(cost.max()))
    chosen: list[int] = []
    for size in sizes:
        while len(chosen) < size:
            best = int(np.argmin(np.minimum(cost, least[:, None]).sum(axis=0)))
            chosen.append(best)
            np.minimum(least, cost[:, best], out=least)
        outputs = np.array(chosen)
        for _ in range(SWAPS):
            member = np.argmin(cost[:, outputs], axis=1)
            sets = np.eye(len(outputs))[member]
            again = np.argmin(sets.T @ cost, axis=1)
            if (again == outputs).all():
                break
            outputs = again
        yield np.unique(member, return_inverse=True)[1]
