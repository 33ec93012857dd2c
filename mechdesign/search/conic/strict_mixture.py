"""Bounds on a sum by delta, solved from the strict notion: its optimum, mixed with the truth.

With delta = 0 such a notion is a cone of columns (approximate LDP is LDP), whose optimum takes
milliseconds. Let Q be that channel, T the one that sends each input's best output.

*Value.* Every sum is convex, at most 0 at Q; so (1 - t) Q + t T is private up to some t, for
approximate LDP at least up to t = delta.

*Bound.* Let u be the potentials of the strict optimum and v_y = c_y - u. If the sums are those of
pairs, multipliers f of the excesses e**-eps q_x - q_z prove

    loss  >=  Sum_x u_x - e**-eps delta Sum_xz W_xz,   W_xz = max_y f[x, z, y],

if v_y plus their terms is >= 0 for every output: Sum_z f[x, z, y] >= e**eps (-v_y[x]) where v_y[x]
< 0, and Sum_x f[x, z, y] <= v_y[z] elsewhere. So for each output they are a flow in a transport
problem, and W is the capacity common to all outputs. An input needs most at its best output; if
capacities with that sum suffice for all outputs, then value and bound are both (1 - delta) times
the strict optimum plus delta times the loss of the truth. This held for expected distances in every
problem tried; it does not hold for every loss.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.notions import ChannelConstraint
from mechdesign.notions.non_conic import ApproximateNotion
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.problem import Problem
from mechdesign.search.highs import LPModel, WarmStartedLP, solve_lp
from mechdesign.search.interior.solve import by_interior
from mechdesign.search.limits import Limits
from mechdesign.search.lp.linear_program import by_highs
from mechdesign.search.lp.support_formulation import transport
from mechdesign.search.presolve.chain import solve_chain
from mechdesign.search.presolve.reductions import Answer, ConicProgram, components, reduced_costs

MOST_FLOWS = 20_000
"""The number of flows up to which one program finds the best capacities."""

CHORDS = 20
"""Steps towards the largest share of the truth."""

NOTHING = 1e-12
"""Residual of an input, in the unit of the costs, that counts as a rounding error."""

ROOM = 1e-11
"""Relative shortfall of the flows that is accepted: potentials are rounded."""


def strict_mixture(
    problem: Problem, program: ConicProgram, limits: Limits
) -> tuple[Answer, float, float] | None:
    """Mix the optimum of the strict notion with the truth; return it with its value and bound.

    Parameters
    ----------
    problem
        With a linear loss.
    program
        Its program, in the unit of whose costs the value and the bound are.
    limits
        The limits of the search.

    Returns
    -------
    Answer, float, float or None
        A private channel, up to rounding, with the multipliers of the excesses of pairs. None if
        the problem has other notions than one that bounds excesses of pairs, if the strict problem
        is not solved, or if the time is over.
    """
    notion, *more = problem.privacy
    constraint, *_ = problem.channel_constraints
    if more or not isinstance(notion, ApproximateNotion) or limits.expired():
        return None
    if constraint is None or (pairs := constraint.pairs) is None:
        return None
    without = type(notion)(notion.epsilon, 0)
    cone, cost = without.cone(problem.domain, problem.prior), program.cost
    strict = ConicProgram(cone, cost, program.worst_case)
    try:
        solver = by_highs if program.worst_case else by_interior
        answer = solve_chain(strict, [components], solver, limits.part())
    except (SolverError, UnsupportedError):
        return None  # with a budget of 0 the interior-point method has no interior
    weights = answer.worst_case_multipliers
    if weights is not None:
        cost = weights[:, None] / weights.sum() * cost
    rest = reduced_costs(ConicProgram(cone, cost), answer.duals)
    potentials = rest.min(axis=1)
    v = cost - potentials[:, None]
    shrink = float(np.exp(-float(constraint.epsilon)))
    flow = _flows(v, shrink, limits)
    np.add.at(v, (flow.x, flow.y), shrink * flow.amount)
    np.add.at(v, (flow.z, flow.y), -flow.amount)
    matrix = _mixed(answer.matrix, program.cost, constraint)
    spent = flow.capacity * float(constraint.limits()[0])
    bound = float((potentials + v.min(axis=1)).sum()) - spent
    duals = [flow.multipliers(pairs)]
    return replace(answer, matrix=matrix, duals=duals), program.loss(matrix), bound


def _mixed(Q: FloatArray, cost: FloatArray, constraint: ChannelConstraint) -> FloatArray:
    """Return (1 - t) Q + t T for the largest t that is found.

    Each sum is convex in t: its chord from here to t = 1 is an upper bound, so the point at which
    the chord meets the limit is a safe step.
    """
    T = np.zeros_like(Q)
    T[np.arange(len(Q)), cost.argmin(axis=1)] = 1
    limits, t = constraint.limits(), 0.0
    last = constraint.sums(T)
    over = last > limits
    for _ in range(CHORDS if over.any() else 0):
        here = constraint.sums((1 - t) * Q + t * T)
        room = np.maximum(limits - here, 0.0)[over] / (last - here)[over]
        step = (1 - t) * float(room.min())
        t += step
        if step <= NOTHING:
            break
    return (1 - t) * Q + t * T if over.any() else T


@dataclass(frozen=True)
class _Flows:
    """Flows of all outputs: from ``x`` to ``z`` for the output ``y``, and their capacities."""

    y: IntArray
    x: IntArray
    z: IntArray
    amount: FloatArray
    capacity: float

    def multipliers(self, pairs: dict[tuple[int, int], int]) -> Multipliers:
        """Return the flows as multipliers of the limits of pairs, whose parts have the number 1."""
        kept = self.amount > 0
        x, z = self.x[kept].tolist(), self.z[kept].tolist()
        limit = np.array([pairs[pair] for pair in zip(x, z, strict=True)], dtype=np.intp)
        return Multipliers("", self.y[kept], np.ones_like(limit), limit, self.amount[kept])


def _flows(v: FloatArray, shrink: float, limits: Limits) -> _Flows:
    """Return flows from deficient inputs to others, for each column of v.

    Their capacities have the least sum if the program for all outputs is small; else each output in
    turn takes the flow with the least additional capacity.
    """
    need, has = np.maximum(-v, 0.0) / shrink, np.maximum(v, 0.0)
    lacks, haves = need > NOTHING, has > NOTHING
    if (lacks.sum(axis=0) * haves.sum(axis=0)).sum() <= MOST_FLOWS:
        try:
            return _least_capacities(need, has, lacks, haves, limits)
        except SolverError:
            pass  # the fallback is fast
    capacity = np.zeros((len(v), len(v)))
    found = [np.zeros((0, 4))]
    for y in np.argsort(-lacks.sum(axis=0), kind="stable").tolist():
        x, z = np.flatnonzero(lacks[:, y]), np.flatnonzero(haves[:, y])
        if not len(x) or not len(z):
            continue
        there = np.ix_(x, z)
        amount = None if limits.expired() else _next_flow(need[x, y], has[z, y], capacity[there])
        if amount is None:
            i, j, flow = transport(need[x, y], has[z, y])
            amount = np.zeros((len(x), len(z)))
            amount[i, j] = flow
        capacity[there] = np.maximum(capacity[there], amount)
        i, j = np.nonzero(amount)
        found.append(np.column_stack([np.full(len(i), y), x[i], z[j], amount[i, j]]))
    y, x, z, flow = np.concatenate(found).T
    places = (y.astype(np.intp), x.astype(np.intp), z.astype(np.intp))
    return _Flows(*places, flow, float(capacity.sum()))


def _next_flow(need: FloatArray, has: FloatArray, capacity: FloatArray) -> FloatArray | None:
    """Return the flow of one output with the least sum of excesses over the capacities.

    Half of the variables are below the capacities, the others above; None if HiGHS fails.
    """
    p, q = capacity.shape
    n = p * q
    x, z = np.divmod(np.tile(np.arange(n), 2), q)
    places = np.concatenate([x, p + z]), np.tile(np.arange(2 * n), 2)
    A = sp.csr_array((np.ones(4 * n), places), shape=(p + q, 2 * n))
    low = np.concatenate([(1 - ROOM) * need, np.full(q, -np.inf)])
    high = np.concatenate([np.full(p, np.inf), has])
    cost = np.repeat([0.0, 1.0], n)
    most = np.concatenate([capacity.ravel(), np.full(n, np.inf)])
    program = WarmStartedLP(LPModel(cost, A, low, high), "simplex", unit=1.0)
    found = program.within(cost, np.zeros(2 * n), most)
    if found is None:
        return None
    return np.asarray(np.maximum(found.primal, 0.0).reshape(2, p, q).sum(axis=0))


def _least_capacities(
    need: FloatArray, has: FloatArray, lacks: BoolArray, haves: BoolArray, limits: Limits
) -> _Flows:
    """Solve the linear program for capacities of the least sum and the flows below them."""
    k = len(need)
    y, x, z = np.nonzero((lacks[:, None, :] & haves[None, :, :]).transpose(2, 0, 1))
    pairs, pair = np.unique(x * k + z, return_inverse=True)
    n, n_pairs = len(y), len(pairs)
    each, flow = np.arange(n), n_pairs + np.arange(n)
    sender, out = np.unique(y * k + x, return_inverse=True)
    receiver, into = np.unique(y * k + z, return_inverse=True)
    p, q = len(sender), len(receiver)
    rows = np.concatenate([out, p + into, p + q + each, p + q + each])
    ones = np.ones(n)
    places = (rows, np.concatenate([flow, flow, flow, pair]))
    A = sp.csr_array(
        (np.concatenate([ones, ones, ones, -ones]), places), shape=(p + q + n, n_pairs + n)
    )
    low = np.concatenate([(1 - ROOM) * need.T.ravel()[sender], np.full(q + n, -np.inf)])
    high = np.concatenate([np.full(p, np.inf), has.T.ravel()[receiver], np.zeros(n)])
    cost = np.concatenate([np.ones(n_pairs), np.zeros(n)])
    result = solve_lp(LPModel(cost, A, low, high), "simplex", limits)
    amount = np.maximum(result.primal[n_pairs:], 0.0)
    largest = np.zeros(n_pairs)
    np.maximum.at(largest, pair, amount)
    return _Flows(y, x, z, amount, float(largest.sum()))
