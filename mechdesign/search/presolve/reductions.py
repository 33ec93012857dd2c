"""Reductions: a smaller program, and the inverse map of its answers.

The program is a conic one, linear in the channel Q:

    minimize    Sum_xy cost[x, y] Q[x, y]     or, in the worst case,  max_x Sum_y cost[x, y] Q[x, y]
    subject to  every column of Q in the cone,  every row of Q sums to 1

A :data:`Reduction` maps a program to a :class:`Reduced` one, which inverts answers: the channel,
and the dual variables that prove the same bound for the original program. The contract is that of
cvxpy's reductions (Agrawal et al. 2018, "A rewriting system for convex optimization problems"),
except that one program may split into several.

Merged inputs. Bounds of 1 make two rows of a channel equal, as both sum to 1. If all rows bound
ratios, and one input of each class has the tightest bounds of the class, and bounds of 1 on its
ratios to the others, these are replaced by it, with the sum of their costs. A bound for the small
program is one for the whole, by the kernel's relaxation to representatives
(:mod:`mechdesign.kernel.relaxations.restrict`) with shares of 1.

Implied pairs. With E the lengths, all positive, a pair with some z such that E[x, z] + E[z, x'] <=
E[x, x'] follows from the other two. Of k**2 pairs on a line, 2 (k - 1) remain.

Components: groups of inputs that share no row are independent programs. A column of the cone
consists of a column for each component, and an expected loss is the sum of theirs. A worst case
joins all inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TypeAlias

import numpy as np

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.notions.channel_constraint import ChannelConstraint
from mechdesign.notions.rows.cone import Cone, Multipliers
from mechdesign.notions.rows.pair_rows import FREE, PairRows
from mechdesign.search.cones.forms import closure
from mechdesign.search.limits import Limits


@dataclass(frozen=True)
class ConicProgram:
    """A cone and a cost; see the module docstring.

    If symmetries leave one output of each orbit, column y represents ``output_count[y]`` outputs,
    and the entries of an orbit of inputs sum to the number of its inputs:

        minimize    Sum_y n_y c_y . q_y
        subject to  Sum_y n_y Sum_{x in o} q_y(x) = |o|   for every orbit o

    Attributes
    ----------
    cone
        The cone of the columns.
    cost
        ``(n_inputs, n_outputs)``, with a largest entry near 1: tolerances are absolute.
    worst_case
        Whether the loss is that of the worst input rather than the sum.
    output_count
        ``(n_outputs,)``: n_y; None for 1 each.
    input_orbit
        ``(n_inputs,)``: the orbit of each input, from 0; None for separate orbits.
    is_priced
        Whether potentials prove the bound, so that multipliers are not needed.
    sums
        Constraints on sums over the outputs, each with the place of its notion; for HiGHS only.
    """

    cone: Cone
    cost: FloatArray
    worst_case: bool = False
    output_count: FloatArray | None = None
    input_orbit: IntArray | None = None
    is_priced: bool = False
    sums: Sequence[tuple[int, ChannelConstraint]] = ()

    @property
    def counts(self) -> FloatArray:
        """``(n_outputs,)``: n_y."""
        return np.ones(self.cost.shape[1]) if self.output_count is None else self.output_count

    def loss(self, matrix: FloatArray) -> float:
        """Return the loss of the columns: their sum, or the largest mean of an orbit."""
        losses = (self.cost * matrix) @ self.counts
        if not self.worst_case:
            return float(losses.sum())
        return float((np.bincount(self.orbits, losses) / np.bincount(self.orbits)).max())

    @property
    def orbits(self) -> IntArray:
        """``(n_inputs,)``: the orbit of each input."""
        return np.arange(len(self.cost)) if self.input_orbit is None else self.input_orbit


@dataclass(frozen=True)
class Answer:
    """The answer of a backend.

    Attributes
    ----------
    matrix
        ``(n_inputs, n_outputs)``, a channel up to a tolerance.
    duals
        Multipliers of rows of the cone, in the unit of the cost; empty if the program is priced.
    route
        How it was found, for the report.
    potentials
        ``(n_inputs,)``: the dual variables of the row sums; None if not needed.
    worst_case_multipliers
        For a worst case ``(n_inputs,)``: the multipliers of the losses of the inputs, or of their
        orbits; else None.
    reductions
        Descriptions of the reductions before the backend.
    notes
        Further notes for the report.
    is_optimal
        Whether the backend ended by itself.
    stands
        The representative of each input, where the multipliers are on representatives; else empty.
    """

    matrix: FloatArray
    duals: Sequence[Multipliers]
    route: str
    potentials: FloatArray | None = None
    worst_case_multipliers: FloatArray | None = None
    reductions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    is_optimal: bool = True
    stands: tuple[int, ...] = ()


Backend: TypeAlias = Callable[[ConicProgram, Limits], Answer]
"""Solves a program within limits."""


def _the_same(answers: Sequence[Answer]) -> Answer:
    """Return the single answer unchanged, which is correct if only rows were removed."""
    (answer,) = answers
    return answer


@dataclass(frozen=True)
class Reduced:
    """A reduced program.

    Attributes
    ----------
    programs
        Independent programs.
    note
        A description of the reduction.
    invert
        Maps the answers of :attr:`programs` to the answer of the original program.
    """

    programs: tuple[ConicProgram, ...]
    note: str
    invert: Callable[[Sequence[Answer]], Answer] = _the_same


Reduction: TypeAlias = Callable[[ConicProgram], Reduced | None]
"""One step of presolve, with the same optimum before and after; None if nothing is reduced."""


def reduced_costs(program: ConicProgram, duals: Sequence[Multipliers]) -> FloatArray:
    """Return the costs plus the terms of multipliers w, w (e**-a left - right).

    The terms are at most 0 on private columns, so Sum_x min_y of the result is a lower bound on an
    expected loss. The program has no orbits.
    """
    costs = np.array(program.cost)
    for found in duals:
        program.cone.families[found.notion].add_terms(costs, found)
    return costs


def merge_inputs(program: ConicProgram) -> Reduced | None:
    """Merge the inputs whose rows must be equal, for bounds on ratios and an expected loss.

    Examples
    --------
    >>> from mechdesign import ContextAwareLDP, Domain
    >>> cone = ContextAwareLDP([[0, 0, 1], [0, 0, 1], [1, 1, 0]]).cone(Domain.range(3))
    >>> merged = merge_inputs(ConicProgram(cone, np.eye(3)))
    >>> merged.programs[0].cost
    array([[1., 1., 0.],
           [0., 0., 1.]])
    >>> merged.note
    '3 inputs merged to 2, as rows must be equal'
    """
    cone = program.cone
    if not cone.is_by_ratios or program.worst_case or program.input_orbit is not None:
        return None
    member_of = cone.equal_classes()
    count = int(member_of.max()) + 1
    # the neighbors in a part of a metric do not imply its other pairs
    by_neighbors = any(rows.near is not None for rows in cone.ratios.values())
    if count == len(member_of) or program.cost.min() < 0 or by_neighbors:
        return None
    E = cone.lengths()
    farthest = np.where(member_of[:, None] == member_of, E, 0.0).max(axis=1)
    order = np.lexsort((farthest, member_of))
    inputs = order[np.unique(member_of[order], return_index=True)[1]]
    tightest = np.full((count, count), np.inf)
    np.minimum.at(tightest, (member_of[:, None], member_of), E)
    if farthest[inputs].any() or (E[np.ix_(inputs, inputs)] > tightest).any():
        return None
    cost = np.zeros((count, program.cost.shape[1]))
    np.add.at(cost, member_of, program.cost)
    note = f"{len(E)} inputs merged to {count}, as rows must be equal"

    def invert(answers: Sequence[Answer]) -> Answer:
        (answer,) = answers
        duals = [cone.families[m.notion].renamed(m, inputs) for m in answer.duals]
        stands = tuple(inputs[member_of].tolist())
        matrix = answer.matrix[member_of]
        return replace(answer, matrix=matrix, duals=duals, potentials=None, stands=stands)

    # rows are equal as they sum to 1, not column by column, so prices do not suffice
    return Reduced((ConicProgram(cone.restricted(inputs), cost),), note, invert)


CHAIN_TOLERANCE = 1e-13
"""Chains longer than a pair by less than this relative amount are ties."""

SHORTEST = 1e-9
"""Pairs of at most this length may imply each other both ways."""


def without_implied(program: ConicProgram) -> Reduced | None:
    """Remove the pairs that others of the same notion imply.

    The remaining rows are rows of the notion, so multipliers on them stay the same.

    Examples
    --------
    >>> import numpy as np
    >>> from mechdesign import Domain, MetricPrivacy
    >>> cone = MetricPrivacy(1, "manhattan").cone(Domain.grid(7, 7))
    >>> without_implied(ConicProgram(cone, np.ones((49, 1)))).note
    '2,184 of 2,352 pairs follow from others'
    """
    cone = thinned(program.cone)
    more, fewer = (sum(r.n_pairs for r in c.ratios.values()) for c in (program.cone, cone))
    if more == fewer:
        return None
    verb = "follows" if more - fewer == 1 else "follow"
    note = f"{more - fewer:,} of {more:,} pairs {verb} from others"
    return Reduced((replace(program, cone=cone),), note)


def thinned(cone: Cone) -> Cone:
    """Return a cone without the implied pairs of its families.

    The exact check of the result catches pairs removed only because of rounding.
    """
    thin = {n: thin_pairs(rows) for n, rows in cone.ratios.items()}
    return Cone([thin.get(n, family) for n, family in enumerate(cone.families)])


def thin_pairs(family: PairRows) -> PairRows:
    """Return bounds on ratios without those that others imply."""
    finite = family.index != FREE
    if family.near is None:
        kept = finite & ~implied_pairs(family.lengths())
    else:
        kept = finite & family.near
    return family if (kept == finite).all() else family.on_pairs(kept)


def implied_pairs(E: FloatArray) -> BoolArray:
    """Return which pairs follow from a chain of others.

    A chain is a pair and a shortest path. All implied pairs can be removed at once: as lengths are
    positive, a pair is longer than each pair of a chain that implies it, so by induction on the
    length the remaining pairs imply all. On a line each input keeps its neighbors, on a Manhattan
    grid its four neighbors. Where a length is (nearly) 0 pairs may imply each other, and nothing is
    removed.
    """
    finite = np.isfinite(E)
    np.fill_diagonal(finite, False)
    nothing = np.zeros_like(finite)
    if len(E) < 3 or not finite.any():
        return nothing
    least, most = float(E[finite].min()), float(E[finite].max())
    if least <= max(SHORTEST, 2 * CHAIN_TOLERANCE * most) or 2 * least > (1 + 1e-9) * most:
        return nothing
    lengths, paths = np.where(finite, E, np.inf), closure(E)
    np.fill_diagonal(paths, np.inf)
    chains = np.full_like(lengths, np.inf)
    for step, rest in zip(lengths.T, paths, strict=True):
        np.minimum(chains, step[:, None] + rest, out=chains)
    return finite & (chains <= lengths * (1 + CHAIN_TOLERANCE))


def components(program: ConicProgram) -> Reduced | None:
    """Restrict the cone and the cost of a program to every component of its cone."""
    if program.worst_case or program.input_orbit is not None:
        return None
    component = program.cone.components()
    count = int(component.max()) + 1
    if count == 1:
        return None
    members = tuple(np.flatnonzero(component == part) for part in range(count))
    programs = tuple(
        ConicProgram(
            program.cone.restricted(inputs), program.cost[inputs], is_priced=program.is_priced
        )
        for inputs in members
    )
    note = f"{count} groups that share no row, solved apart"
    return Reduced(programs, note, partial(_joined, program, members))


def _joined(whole: ConicProgram, members: Sequence[IntArray], answers: Sequence[Answer]) -> Answer:
    """Put the rows of the channel in place, and rename the inputs to those of the whole."""
    matrix = np.zeros(whole.cost.shape)
    for inputs, answer in zip(members, answers, strict=True):
        matrix[inputs] = answer.matrix
    duals = [
        whole.cone.families[found.notion].renamed(found, inputs)
        for inputs, answer in zip(members, answers, strict=True)
        for found in answer.duals
        if not whole.is_priced
    ]
    potentials = None
    if all(answer.potentials is not None for answer in answers):
        potentials = np.concatenate([answer.potentials for answer in answers])
        potentials = potentials[np.argsort(np.concatenate(members))]
    route = " and ".join(dict.fromkeys(answer.route for answer in answers))
    reductions, notes = (
        tuple(dict.fromkeys(chain.from_iterable(said)))
        for said in ([a.reductions for a in answers], [a.notes for a in answers])
    )
    return Answer(matrix, duals, route, potentials, reductions=reductions, notes=notes)
