"""Extended formulations: the rows of a family as far fewer rows with auxiliary variables.

A family of k**2 rows often depends on a few numbers of the column. Under LDP no entry exceeds
e**eps times the least entry: with an auxiliary variable t for the least, 2 k rows replace k (k -
1). The output distribution P . q is an auxiliary variable of the lift rows. The projection on q is
the cone of the family; the multipliers of the extended rows are mapped back to rows of the family,
which the certificate contains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, singledispatch
from typing import Any

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.notions.channel_constraint import ChannelConstraint
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.notions.rows.latent_rows import LatentRows
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.prior_sets import Weights
from mechdesign.search.lp.support_formulation import rows_of_set, split_of_set, transport
from mechdesign.search.presolve.implied_pairs import thin_pairs

__all__ = ["NONE", "ExtendedFormulation", "extended_formulation", "stacked"]


FEWEST_IN_SET = 3
"""An auxiliary variable for the least of fewer entries saves no rows."""

TIED = 1 - 1e-10
"""Replaces a bound of 1 against a mean, whose float coefficients may not sum to 1."""

NONE: IntArray = np.zeros((3, 0), dtype=np.intp)


@dataclass(frozen=True)
class ExtendedFormulation:
    """Rows ``A (q, auxiliary variables) <= 0``, some of them equations, on one column.

    Attributes
    ----------
    A
        ``(n_rows, n_inputs + n_auxiliary)``.
    carry_back
        Maps the multipliers of the rows, shape ``(n_rows,)``, and the index of the output, to
        multipliers on rows of the family.
    equal
        Which rows are equations.
    least
        ``(3, n)``: entries q, the auxiliary variable t for the least entry of a set with q, and the
        row t <= q. With q = t + s these rows are bounds s >= 0. No entry occurs twice.
    shares_least
        Whether most rows have such a variable: these programs suit the simplex method.
    priors
        For sets of priors that are stated as a whole, the priors that ``carry_back`` has numbered
        so far; all variables are then >= 0. Else none: the priors were given.
    """

    A: sp.csr_array
    carry_back: Callable[[FloatArray, int], list[Multipliers]]
    equal: BoolArray
    least: IntArray = field(default_factory=lambda: NONE)
    shares_least: bool = False
    priors: list[Weights] = field(default_factory=list)


@singledispatch
def extended_formulation(family: Any, _priors: tuple[Weights, ...] = ()) -> ExtendedFormulation:
    """Return an extended formulation of a family of rows, or a constraint's parts, on one column.

    Lift rows are stated for the given priors; rows of other families need none. A family of unknown
    structure has no auxiliary variables: its rows stay the same, each divided by its largest
    coefficient, since the tolerances of solvers are absolute.
    """
    G = family.matrix()
    largest = np.asarray(abs(G).max(axis=1).todense()).ravel()
    largest[largest == 0] = 1.0

    def carry_back(multipliers: FloatArray, output: int) -> list[Multipliers]:
        """Undo the scaling of the rows."""
        found = family.read_dual((np.maximum(multipliers, 0.0) / largest)[:, None])
        return [replace(m, output=np.full(len(m.output), output)) for m in found]

    A = sp.csr_array(sp.diags_array(1 / largest) @ G)
    return ExtendedFormulation(A, carry_back, np.zeros(A.shape[0], dtype=bool))


@extended_formulation.register
def _excesses(
    constraint: ChannelConstraint, _priors: tuple[Weights, ...] = ()
) -> ExtendedFormulation:
    """One auxiliary variable for each sum: the largest of its excesses."""
    member = constraint.members
    largest = sp.csr_array((np.ones(len(member)), (np.arange(len(member)), member)))
    A = sp.csr_array(sp.hstack([sp.csr_array(constraint.matrix), -largest]))

    def carry_back(multipliers: FloatArray, output: int) -> list[Multipliers]:
        """Keep the multipliers."""
        found = constraint.read_dual(multipliers[:, None])
        return [replace(found, output=np.full(len(found.output), output))]

    return ExtendedFormulation(A, carry_back, np.zeros(A.shape[0], dtype=bool))


@extended_formulation.register
def _lift(family: LiftRows, priors: tuple[Weights, ...] = ()) -> ExtendedFormulation:
    """One auxiliary variable for P . q of each prior, two rows for each input and prior.

    Without priors, the whole set is used.
    """
    if not priors:
        A, table = rows_of_set(family), list[Weights]()
        entries = np.arange(family.size)
        least = np.array([entries, np.full_like(entries, family.size + 1), family.size + entries])
        none = np.zeros(A.shape[0], dtype=bool)
        split = partial(split_of_set, family, table=table)
        return ExtendedFormulation(A, split, none, least, priors=table)
    k, n, sides = family.size, len(priors), family.sides()
    shrunk = [min(float(np.exp(-float(a))), TIED) for a in sides.values()]
    upper = np.array([side == "upper" for side in sides], dtype=bool)
    own, mean = np.where(upper, shrunk, -1.0), np.where(upper, -1.0, shrunk)
    # for each prior its equation, then the rows on all entries, side by side
    j, s, x = (place.ravel() for place in np.indices((n, len(sides), k)))
    first = (1 + len(sides) * k) * np.arange(n)
    row, entries = first[j] + 1 + s * k + x, np.arange(k)
    probabilities = np.array([[float(p) for p in prior] for prior in priors])
    values = np.concatenate([probabilities.ravel(), -np.ones(n), own[s], mean[s]])
    rows = np.concatenate([np.repeat(first, k), first, row, row])
    columns = np.concatenate([np.tile(entries, n), k + np.arange(n), x, k + j])
    n_rows = n * (1 + len(sides) * k)
    A = sp.csr_array((values, (rows, columns)), shape=(n_rows, k + n))
    equal = np.zeros(n_rows, dtype=bool)
    equal[first] = True

    def carry_back(multipliers: FloatArray, output: int) -> list[Multipliers]:
        """Keep the rows on entries: the equation only defines the variable.

        The terms of the rows on P . q are those of the rows on entries, written out.
        """
        kept, found = multipliers[~equal].reshape(n, len(sides), k), []
        for side, weight in zip(sides, kept.swapaxes(0, 1), strict=True):
            number, x = np.nonzero(weight > 0)
            places = (np.full(len(x), output), x, number)
            found.append(Multipliers(side, *places, weight=weight[number, x]))
        return found

    return ExtendedFormulation(A, carry_back, equal)


@extended_formulation.register
def _pairs(family: PairRows, _priors: tuple[Weights, ...] = ()) -> ExtendedFormulation:
    """One auxiliary variable for the least entry of each set that bounds several rows."""
    groups, sets = thin_pairs(family).grouped
    used = np.bincount([s for _, _, s in groups], minlength=len(sets))
    several = [s for s in np.flatnonzero(used > 1).tolist() if len(sets[s]) >= FEWEST_IN_SET]
    k, factors = family.size, family.factors
    number = {s: k + h for h, s in enumerate(several)}
    # rows e**-a q_x <= factor v, with v another entry or an auxiliary variable; then rows t <= q
    above: list[tuple[int, int, int]] = []
    for i, bound, s in groups:
        others = [number[s]] if s in number else [z for z in sets[s] if z != i]
        above += [(i, bound, v) for v in others]
    below = [(t, z) for s, t in number.items() for z in sets[s]]
    x, b, v = np.array(above, dtype=np.intp).reshape(-1, 3).T
    t, member = np.array(below, dtype=np.intp).reshape(-1, 2).T
    larger = np.maximum(family.inverse, factors)  # the larger coefficient of a row is made 1
    ones = np.ones(len(t))
    values = [(family.inverse / larger)[b], ones, -(factors / larger)[b], -ones]
    n_rows = len(x) + len(t)
    places = np.tile(np.arange(n_rows), 2), np.concatenate([x, t, v, member])
    A = sp.csr_array((np.concatenate(values), places), shape=(n_rows, k + len(number)))
    direct = np.flatnonzero(v < k)
    of_least = [(np.flatnonzero(v == h), np.flatnonzero(t == h)) for h in number.values()]

    def carry_back(multipliers: FloatArray, output: int) -> list[Multipliers]:
        """Solve a transport problem for each least entry t.

        The dual variable of t is free, so multipliers u of the rows e**-a q_x <= b t (x above) and
        w of the rows t <= q_z (z below) satisfy Sum_x b u_x <= Sum_z w_z, with equality where t is
        not 0. A flow from the x to the z that sends b u_x from each x, and at most w_z to each z,
        gives multipliers of the rows e**-a q_x <= b q_z: their terms at every x are those of u, and
        at every z at most those of w.
        """
        u, w = multipliers[: len(x)] / larger[b], multipliers[len(x) :]
        found = [(x[direct], v[direct], u[direct])]
        for up, down in of_least:
            scale = factors[b[up]]
            i, j, flow = transport(u[up] * scale, w[down])
            found.append((x[up][i], member[down][j], flow / scale[i]))
        own, other, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
        # a flow from x to x is a multiplier of q_x >= 0: dropping it can only raise the bound
        kept = (weight > 0) & (own != other)
        places = (np.full(int(kept.sum()), output), own[kept], other[kept])
        return [Multipliers("", *places, weight=weight[kept])]

    least = np.array([member, t, len(x) + np.arange(len(t))])
    disjoint: list[IntArray] = []
    taken = np.zeros(k, dtype=bool)
    for _, down in of_least:
        if not taken[member[down]].any():
            taken[member[down]] = True
            disjoint.append(down)
    return ExtendedFormulation(
        A,
        carry_back,
        np.zeros(n_rows, dtype=bool),
        least[:, np.concatenate([np.zeros(0, dtype=np.intp), *disjoint])],
        shares_least=2 * len(direct) < n_rows,
    )


@extended_formulation.register
def _latent(family: LatentRows, _priors: tuple[Weights, ...] = ()) -> ExtendedFormulation:
    """One auxiliary variable w_s = B_s . q for each value s, and the inner rows on these.

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
        """Keep the inner rows; the equations only define variables."""
        return rows.carry_back(multipliers[n:], output)

    equal = np.concatenate([np.ones(n, dtype=bool), rows.equal])
    return ExtendedFormulation(sp.csr_array(A), carry_back, equal)


def stacked(parts: Sequence[ExtendedFormulation], k: int) -> sp.csr_array:
    """Stack the rows of several families on one column of k entries.

    Each family has its own auxiliary variables.
    """
    if len(parts) == 1:
        return parts[0].A
    own = sp.vstack([part.A[:, :k] for part in parts])
    auxiliary = sp.block_diag([part.A[:, k:] for part in parts])
    return sp.csr_array(sp.hstack([own, auxiliary]))
