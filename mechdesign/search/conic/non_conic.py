"""Linear programs for notions on the whole channel, with constraint generation.

A sum of largest linear excesses has an auxiliary variable s[j, y] for every excess j and output y:

    minimize  Sum_xy cost[x,y] Q[x,y]   with   s[j,y] >= rows_j . q_y,   Sum_y s[j,y] <= limit_j

in addition to the rows on columns. If there are many excesses, those that the last solution
violates are added in rounds, after a start from the notion with a bound of 0, which needs no
program of this size. A bound on mutual information is not linear: cvxpy solves it
(`cvxpy_solver`), unless the other notions imply it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.kernel.limits import Gauge
from mechdesign.notions import ChannelConstraint
from mechdesign.notions.non_conic import ApproximateNotion
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.cones.proofs import linear_proof
from mechdesign.search.highs import LPModel, solve_lp
from mechdesign.search.interior.solve import by_interior
from mechdesign.search.limits import Limits
from mechdesign.search.lp.extended_formulation import extended_formulation, transport
from mechdesign.search.lp.linear_program import by_highs
from mechdesign.search.presolve.chain import UNLIKELY, conic_program, solve_chain
from mechdesign.search.presolve.reductions import Answer, ConicProgram, components, reduced_costs

__all__ = ["UNLIKELY", "solve_non_conic"]


MOST_ENTRIES = 4_000_000
ALL_AT_ONCE = 10_000
"""The number of rows up to which all excesses are in the first program."""

FEW_ROUNDS, ROUNDS = 6, 50
"""Rounds that add few sums each, by the simplex method; and all rounds."""

MOST_FLOWS = 20_000
"""The number of flows up to which one program finds the best capacities."""

CHORDS = 20
"""Steps towards the largest share of the truth."""

NOTHING = 1e-12
"""Residual of an input, in the unit of the costs, that counts as a rounding error."""

ROOM = 1e-11
"""Relative shortfall of the flows that is accepted: potentials are rounded."""

VIOLATION, LEAST_VIOLATION = 1e-9, 1e-14
"""A sum is violated if it exceeds its limit by this, relative and absolute."""


def solve_non_conic(
    problem: Problem,
    method: str = "simplex",
    limits: Limits | None = None,
    unlikely: float = UNLIKELY,
) -> RawSolution:
    """Solve a problem with a linear loss and notions on the whole channel.

    Every round gives a bound, and the repair makes its channel private, for any number of violated
    excesses. Bounds on information are ignored: if they bind, the repair mixes the answer with a
    constant channel, which is then far from optimal.

    Parameters
    ----------
    method
        ``"simplex"`` or ``"ipm"``.
    unlikely
        The share of the largest cost that an input of prior 0 has.
    """
    limits = limits or Limits()
    program, unit = conic_program(problem, unlikely)
    program, within = replace(program, is_priced=False), limits.part(unit)
    k, m = program.cost.shape
    sums = [_Excesses(place, constraint, m) for place, constraint in _excess_constraints(problem)]
    all_linear = all(
        constraint is None or constraint.is_linear for constraint in problem.channel_constraints
    )
    evidence, matrix, bound, value = None, np.zeros((0, 0)), -np.inf, np.nan
    rounds, violated, done = 0, True, False
    start = strict_mixture(problem, program, within) if all_linear else None
    if start is not None:
        evidence, value, bound = start
        matrix = evidence.matrix
        for some in sums:
            some.add(evidence.duals)
        done = within.report(0, value, bound)
    while violated and not done and rounds < ROUNDS:
        active = [
            (some.place, some.constraint.part(np.flatnonzero(some.active)))
            for some in sums
            if some.active.any()
        ]
        entries = m * extended_formulation(program.cone, True, active).A.nnz
        if entries > MOST_ENTRIES:
            if start is not None:
                break
            most = f"a program of at most {MOST_ENTRIES} entries"
            given = f"{entries}, for {k} inputs and {m} outputs"
            raise UnsupportedError("privacy", most, given)
        try:
            answer = by_highs(replace(program, sums=active), within, method)
        except SolverError:
            if evidence is None or not limits.expired():
                raise
            break
        rounds += 1
        if not answer.is_optimal:
            if evidence is None:
                evidence, matrix = answer, answer.matrix
            break
        least = program.loss(answer.matrix)
        if least > bound:
            evidence, bound = answer, least
        violated = sum(some.add_violated(answer.matrix, rounds > FEW_ROUNDS) for some in sums) > 0
        if start is None or not violated:
            matrix, value = answer.matrix, least if all_linear and not violated else np.nan
        done = within.report(rounds, value, bound)
        if rounds > FEW_ROUNDS:  # nearly all bind: ipm is faster for such a large program
            method = "ipm"
    notes = [f"violated sums were added in {rounds} rounds"] if rounds > 1 else []
    route = f"conic: HiGHS {method}" if rounds else "conic: the strict optimum and the truth, mixed"
    duals = [] if evidence is None else [m.scaled(unit) for m in evidence.duals]
    weights = None if evidence is None else evidence.worst_case_multipliers
    proof = linear_proof(duals, matrix, limits.gap, weights=weights)
    return RawSolution(matrix, problem.outputs or (), [proof], route, notes)


def _excess_constraints(problem: Problem) -> list[tuple[int, ChannelConstraint]]:
    """Return the constraints that are sums of linear excesses, with their positions."""
    return [
        (place, constraint)
        for place, constraint in enumerate(problem.channel_constraints)
        if constraint is not None and constraint.is_linear
    ]


class _Excesses:
    """The excesses of one constraint; if there are many, the program has only violated ones."""

    def __init__(self, place: int, constraint: ChannelConstraint, m: int) -> None:
        self.place, self.constraint, self.limits = place, constraint, constraint.limits()
        few = len(constraint.members) * m <= ALL_AT_ONCE
        self.active: BoolArray = np.full(len(self.limits), few)

    def add(self, duals: Sequence[Multipliers]) -> None:
        """Add the sums of rows that have multipliers."""
        for found in duals:
            self.active[found.other] = True

    def add_violated(self, Q: FloatArray, add_all: bool) -> bool:
        """Add the most violated sum for each input on either side, or all violated ones.

        Returns whether there is any.
        """
        over = self.constraint.sums(Q) - self.limits
        violated = ~self.active & (over > VIOLATION * self.limits + LEAST_VIOLATION)
        order = np.flatnonzero(violated)[np.argsort(-over[violated], kind="stable")]
        seen = set[tuple[int, Any]]()
        for j in order.tolist():
            row = cast(Gauge, self.constraint.units[j]).parts[-1]
            sides = {(0, row.left), (1, row.right)}
            if add_all or not sides <= seen:
                self.active[j] = True
                seen |= sides
        return bool(len(order))


def strict_mixture(
    problem: Problem, program: ConicProgram, limits: Limits
) -> tuple[Answer, float, float] | None:
    """Mix the optimum of the strict notion with the truth; return it with its value and bound.

    With delta = 0 such a notion is a cone of columns (approximate LDP is LDP), whose optimum takes
    milliseconds. Let Q be that channel, T the one that sends each input's best output.

    *Value.* Every sum is convex, at most 0 at Q; so (1 - t) Q + t T is private up to some t, for
    approximate LDP at least up to t = delta.

    *Bound.* Let u be the potentials of the strict optimum and v_y = c_y - u. If the sums are those
    of pairs, multipliers f of the excesses e**-eps q_x - q_z prove

        loss  >=  Sum_x u_x - e**-eps delta Sum_xz W_xz,   W_xz = max_y f[x, z, y],

    if v_y plus their terms is >= 0 for every output: Sum_z f[x, z, y] >= e**eps (-v_y[x]) where
    v_y[x] < 0, and Sum_x f[x, z, y] <= v_y[z] elsewhere. So for each output they are a flow in a
    transport problem, and W is the capacity common to all outputs. An input needs most at its best
    output; if capacities with that sum suffice for all outputs, then value and bound are both (1 -
    delta) times the strict optimum plus delta times the loss of the truth. This held for expected
    distances in every problem tried; it does not hold for every loss.

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

    Their capacities have the least sum if one program for all outputs is small; else each output in
    turn takes the flow with the least additional capacity.
    """
    need, has = np.maximum(-v, 0.0).T / shrink, np.maximum(v, 0.0).T
    lacks, haves = need > NOTHING, has > NOTHING
    sizes = lacks.sum(axis=1) * haves.sum(axis=1)
    order = np.argsort(-lacks.sum(axis=1), kind="stable")
    order = order[sizes[order] > 0]
    capacity, found = np.zeros((len(v), len(v))), [np.zeros((4, 0))]
    for outputs in [order] if 0 < sizes.sum() <= MOST_FLOWS else order[:, None]:
        y, x, z = np.nonzero(lacks[outputs, :, None] & haves[outputs, None, :])
        y = outputs[y]
        try:
            amount = _least_excess(y, x, z, need, has, capacity, limits)
        except SolverError:
            each = [transport(need[output], has[output]) for output in outputs]
            y = np.repeat(outputs, [len(amount) for *_, amount in each])
            x, z, amount = (np.concatenate(parts) for parts in zip(*each, strict=True))
        np.maximum.at(capacity, (x, z), amount)
        found.append(np.vstack([y, x, z, amount]))
    y, x, z, flow = np.hstack(found)
    places = (y.astype(np.intp), x.astype(np.intp), z.astype(np.intp))
    return _Flows(*places, flow, float(capacity.sum()))


def _least_excess(
    y: IntArray,
    x: IntArray,
    z: IntArray,
    need: FloatArray,
    has: FloatArray,
    capacity: FloatArray,
    limits: Limits,
) -> FloatArray:
    """Return flows ``y``, ``x``, ``z`` whose excesses over the capacities have the least sum."""
    k = need.shape[1]
    pairs, pair = np.unique(x * k + z, return_inverse=True)
    sender, out = np.unique(y * k + x, return_inverse=True)
    receiver, into = np.unique(y * k + z, return_inverse=True)
    n, p, q = len(y), len(sender), len(receiver)
    columns, each = np.arange(n), np.ones(n)
    flow = sp.csr_array((each, (columns, columns)))
    A = sp.block_array(
        [
            [sp.csr_array((each, (out, columns))), None],
            [sp.csr_array((each, (into, columns))), None],
            [flow, sp.csr_array((-each, (columns, pair)))],
        ],
        format="csr",
    )
    low = np.concatenate([(1 - ROOM) * need.ravel()[sender], np.full(q + n, -np.inf)])
    high = np.concatenate([np.full(p, np.inf), has.ravel()[receiver], capacity[x, z]])
    cost = np.repeat([0.0, 1.0], [n, len(pairs)])
    result = solve_lp(LPModel(cost, A, low, high), "simplex", limits)
    return np.maximum(result.primal[:n], 0.0)
