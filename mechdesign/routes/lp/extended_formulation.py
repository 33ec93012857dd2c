"""Extended formulations: the rows of a family with auxiliary variables, far fewer of them.

A family of k**2 rows is often a statement about a few numbers of the column. LDP says that no entry
exceeds e**eps times the least entry: with an auxiliary variable t for the least, 2 k rows do for
k (k - 1). The output distribution P . q is an auxiliary variable of the lift rows. The projection
on q is the cone of the family; the multipliers of the extended rows are carried back to rows of the
family, since a certificate speaks of those.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, singledispatch

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.notions.rows.cone import Family, Multipliers
from mechdesign.notions.rows.latent_rows import LatentRows, on_latent
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.prior_sets import Weights
from mechdesign.routes.lp.support_formulation import rows_of_set, split_of_set, support_of
from mechdesign.routes.presolve.implied_pairs import thin_pairs

__all__ = ["ExtendedFormulation", "extended_formulation", "stacked"]


FEWEST_IN_SET = 3
"""An auxiliary variable for the least of fewer entries saves no rows."""

TIED = 1 - 1e-10
"""Stands for a bound of 1 against a mean, whose float coefficients may not sum to 1."""


@dataclass(frozen=True)
class Least:
    """An auxiliary variable t for the least entry of a set, so that q = t + s with s >= 0 there.

    Attributes
    ----------
    auxiliary
        Its column in A.
    members
        The inputs of the set.
    rows
        The rows t <= q_x of the members, in their order; with s in place of q they are bounds.
    """

    auxiliary: int
    members: IntArray
    rows: IntArray


@dataclass(frozen=True)
class ExtendedFormulation:
    """Rows ``A (q, auxiliary variables) <= 0``, some of them equations, on one column.

    Attributes
    ----------
    A
        ``(n_rows, n_inputs + n_auxiliary)``.
    equal
        Which rows are equations.
    least
        Auxiliary variables for the least entry of a set, no two sets sharing an input.
    shares_least
        Whether most rows have such a variable: those programs suit the simplex method.
    carry_back
        Takes the multipliers of the rows, shape ``(n_rows,)``, and the number of the output, and
        returns multipliers on rows of the family.
    priors
        For a box or a ball of priors, those that ``carry_back`` has numbered so far; all variables
        are then to be >= 0. Else none: the priors were given.
    """

    A: sp.csr_array
    equal: BoolArray
    least: tuple[Least, ...]
    shares_least: bool
    carry_back: Callable[[FloatArray, int], list[Multipliers]]
    priors: list[Weights] = field(default_factory=list)


@singledispatch
def extended_formulation(family: Family, _priors: tuple[Weights, ...] = ()) -> ExtendedFormulation:
    """Return an extended formulation of the rows of a family on one column.

    Lift rows are stated for the priors given; rows of other families need none. A family of which
    nothing is known here has no auxiliary variables: its rows stay as they are, each divided by its
    largest coefficient, since the tolerances of solvers are absolute.
    """
    G = family.matrix()
    largest = np.asarray(abs(G).max(axis=1).todense()).ravel()
    largest[largest == 0] = 1.0

    def carry_back(multipliers: FloatArray, output: int) -> list[Multipliers]:
        """Undo the scaling of the rows."""
        found, _ = family.read_dual((np.maximum(multipliers, 0.0) / largest)[:, None])
        return [replace(m, output=np.full(len(m.output), output)) for m in found]

    A = sp.csr_array(sp.diags_array(1 / largest) @ G)
    none = np.zeros(A.shape[0], dtype=bool)
    return ExtendedFormulation(A, none, (), shares_least=False, carry_back=carry_back)


@extended_formulation.register
def _lift(family: LiftRows, priors: tuple[Weights, ...] = ()) -> ExtendedFormulation:
    """One auxiliary variable for P . q of each prior, two rows for each input and prior.

    Without priors, all of a box or a ball are meant.
    """
    support = None if priors else support_of(family)
    if support is not None:
        A, table = rows_of_set(family, support), list[Weights]()
        split = partial(split_of_set, family, support, table=table)
        none = np.zeros(A.shape[0], dtype=bool)
        entries = np.arange(family.size)
        least = Least(family.size + 1, entries, 2 * family.size + entries)
        return ExtendedFormulation(A, none, (least,), False, split, table)
    k, n = family.size, len(priors)
    entries = np.arange(k)
    sides: list[tuple[str, int]] = []
    values: list[FloatArray] = []
    columns: list[IntArray] = []
    lengths: list[IntArray] = []
    for number, prior in enumerate(priors):
        mean = k + number
        values.append(np.array([*map(float, prior), -1.0]))
        columns.append(np.append(entries, mean))
        lengths.append(np.array([k + 1]))
        for side, bound in family.sides():
            shrink = min(float(np.exp(-float(bound.exponent(family.epsilon)))), TIED)
            row = [shrink, -1.0] if side == "upper" else [-1.0, shrink]
            values.append(np.tile(row, k))
            columns.append(np.column_stack([entries, np.full(k, mean)]).ravel())
            lengths.append(np.full(k, 2))
            sides.append((side, number))
    starts = np.concatenate([[0], np.cumsum(np.concatenate([[], *lengths]))]).astype(np.intp)
    places = np.concatenate([np.zeros(0, dtype=np.intp), *columns])
    A = sp.csr_array(
        (np.concatenate([[], *values]), places, starts), shape=(len(starts) - 1, k + n)
    )
    per_prior = 1 + k * len(family.sides())
    equal = np.zeros(A.shape[0], dtype=bool)
    equal[::per_prior] = True

    def carry_back(multipliers: FloatArray, output: int) -> list[Multipliers]:
        """Take the rows on entries as they are: the equation only defines the variable.

        The terms of the rows on P . q are those of the rows on entries, written out.
        """
        kept = multipliers[~equal].reshape(len(sides), k) if sides else np.zeros((0, k))
        found = []
        for (side, number), weight in zip(sides, kept, strict=True):
            x = np.flatnonzero(weight > 0)
            places = (np.full(len(x), output), x, np.full(len(x), number))
            found.append(Multipliers(side, *places, weight=weight[x]))
        return found

    return ExtendedFormulation(A, equal, (), shares_least=False, carry_back=carry_back)


@extended_formulation.register
def _pairs(family: PairRows, _priors: tuple[Weights, ...] = ()) -> ExtendedFormulation:
    """One auxiliary variable for the least entry of each set that several rows are bounded by."""
    reduced = thin_pairs(family)
    used = np.bincount([s for _, _, s in reduced.groups], minlength=len(reduced.sets))
    with_least = [
        s
        for s, members in enumerate(reduced.sets)
        if used[s] >= 2 and len(members) >= FEWEST_IN_SET
    ]
    number = {s: h for h, s in enumerate(with_least)}
    k, factors = family.size, family.factors
    # rows e**-a q_x <= factor v, with v another entry or an auxiliary variable; then rows t <= q
    above: list[tuple[int, int, int]] = []
    for i, bound, s in reduced.groups:
        others = [k + number[s]] if s in number else [z for z in reduced.sets[s] if z != i]
        above += [(i, bound, v) for v in others]
    below = [(k + h, z) for h, s in enumerate(with_least) for z in reduced.sets[s]]
    x, b, v = np.array(above, dtype=np.intp).reshape(-1, 3).T
    t, member = np.array(below, dtype=np.intp).reshape(-1, 2).T
    larger = np.maximum(family.inverse, factors)  # the larger coefficient of a row is made 1
    ones = np.ones(len(t))
    values = [(family.inverse / larger)[b], ones, -(factors / larger)[b], -ones]
    n_rows = len(x) + len(t)
    places = np.tile(np.arange(n_rows), 2), np.concatenate([x, t, v, member])
    A = sp.csr_array((np.concatenate(values), places), shape=(n_rows, k + len(with_least)))
    direct = np.flatnonzero(v < k)
    of_least = [(np.flatnonzero(v == h), np.flatnonzero(t == h)) for h in range(k, A.shape[1])]

    def carry_back(multipliers: FloatArray, output: int) -> list[Multipliers]:
        """Solve a transport problem for each least entry t.

        The dual variable of t being free, multipliers u of the rows e**-a q_x <= b t (x above) and
        w of the rows t <= q_z (z below) satisfy Sum_x b u_x <= Sum_z w_z, with equality where t is
        not 0. A flow from the x to the z that sends b u_x from each x, and at most w_z to each z,
        gives multipliers of the rows e**-a q_x <= b q_z: their terms at every x are those of u, and
        at every z no more than those of w.
        """
        u, w = multipliers[: len(x)] / larger[b], multipliers[len(x) :]
        found = [(x[direct], v[direct], u[direct])]
        for up, down in of_least:
            scale = factors[b[up]]
            i, j, flow = transport(u[up] * scale, w[down])
            found.append((x[up][i], member[down][j], flow / scale[i]))
        own, other, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
        # a flow from x to x is a multiplier of q_x >= 0: left out, it can only raise the bound
        kept = (weight > 0) & (own != other)
        places = (np.full(int(kept.sum()), output), own[kept], other[kept])
        return [Multipliers("ratio", *places, weight=weight[kept])]

    least: list[Least] = []
    taken: set[int] = set()
    for h, (_, down) in enumerate(of_least, k):
        if taken.isdisjoint(member[down].tolist()):
            taken.update(member[down].tolist())
            least.append(Least(h, member[down], len(x) + down))
    return ExtendedFormulation(
        A,
        np.zeros(n_rows, dtype=bool),
        tuple(least),
        shares_least=2 * len(direct) < n_rows,
        carry_back=carry_back,
    )


@extended_formulation.register
def _latent(family: LatentRows, _priors: tuple[Weights, ...] = ()) -> ExtendedFormulation:
    """One auxiliary variable w_s = B_s . q for each value s, and the inner rows on those.

    A variable that an equation of the inner rows defines by w is defined by q instead.
    """
    inner, n = family.inner, len(family.given_value)
    lifts = inner.lift_rows()
    own = () if lifts is None else lifts.priors.vertices()
    rows, B = extended_formulation(inner, own), sp.csr_array(family.array)
    on_values, on_auxiliary = rows.A[:, :n], rows.A[:, n:]
    defines = sp.diags_array(rows.equal.astype(np.float64))
    A = sp.block_array(
        [
            [B, -sp.eye_array(n), None],
            [defines @ on_values @ B, on_values - defines @ on_values, on_auxiliary],
        ],
        format="csr",
    )
    A.eliminate_zeros()

    def carry_back(multipliers: FloatArray, output: int) -> list[Multipliers]:
        """Take the inner rows as they are; the equations only define variables."""
        return [on_latent(found) for found in rows.carry_back(multipliers[n:], output)]

    equal = np.concatenate([np.ones(n, dtype=bool), rows.equal])
    return ExtendedFormulation(
        sp.csr_array(A), equal, (), shares_least=False, carry_back=carry_back
    )


def stacked(parts: Sequence[ExtendedFormulation], k: int) -> sp.csr_array:
    """Stack the rows of several families on one column of k entries.

    Each family has its own auxiliary variables.
    """
    width = k + sum(part.A.shape[1] - k for part in parts)
    blocks = []
    first = k
    for part in parts:
        A = sp.coo_array(part.A)
        columns = np.where(A.col < k, A.col, A.col - k + first)
        blocks.append(sp.csr_array((A.data, (A.row, columns)), shape=(A.shape[0], width)))
        first += A.shape[1] - k
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def transport(supply: FloatArray, demand: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return a flow from supplies to demands by the north-west corner rule.

    Where the totals differ, the rest of the larger one stays where it is. Returns (source, target,
    amount), at most as many as there are supplies and demands together.
    """
    out, into = np.cumsum(supply), np.cumsum(demand)
    total = min(out[-1], into[-1])
    cuts = np.unique(np.concatenate([[0.0], np.minimum(out, total), np.minimum(into, total)]))
    middle, amount = (cuts[:-1] + cuts[1:]) / 2, np.diff(cuts)
    return np.searchsorted(out, middle), np.searchsorted(into, middle), amount
