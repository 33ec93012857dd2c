"""Extended formulations: the rows of a cone as far fewer rows with auxiliary variables.

A family of k**2 rows often depends on a few numbers of the column. Under LDP no entry exceeds
e**eps times the least entry: with an auxiliary variable t for the least, 2 k rows replace k (k -
1). The output distribution P . q is an auxiliary variable of the lift rows at one prior. The
projection on q is the cone; the multipliers of the extended rows are mapped back to rows of the
families, which the certificate contains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, singledispatch
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.errors import UnsupportedError
from mechdesign.notions.channel_constraint import ChannelConstraint
from mechdesign.notions.rows.cone import Cone, Multipliers
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.notions.rows.of_generators import LatentRows
from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.prior_sets import Weights
from mechdesign.search.lp.support_formulation import (
    TIED,
    rows_of_list,
    rows_of_set,
    split_of_list,
    split_of_set,
    transport,
)
from mechdesign.search.presolve.reductions import thin_pairs

FEWEST_IN_SET = 3
"""An auxiliary variable for the least of fewer entries saves no rows."""

NONE: IntArray = np.zeros((3, 0), dtype=np.intp)


@dataclass(frozen=True)
class ExtendedFormulation:
    """Rows ``A (q, auxiliary variables) <= 0``, some of them equations, on one column.

    Attributes
    ----------
    A
        ``(n_rows, n_inputs + n_auxiliary)``.
    equal
        Which rows are equations.
    duals
        Maps multipliers of the rows, ``(n_rows, n_outputs)``, to multipliers of rows of the family,
        or of the notions.
    least
        ``(3, n)``: entries q, the auxiliary variable t for the least entry of a set with q, and the
        row t <= q. With q = t + s these rows are bounds s >= 0. No entry occurs twice.
    shares_least
        Whether most rows have such a variable: these programs suit the simplex method.
    """

    A: sp.csr_array
    equal: BoolArray
    duals: Callable[[FloatArray], list[Multipliers]]
    least: IntArray = field(default_factory=lambda: NONE)
    shares_least: bool = False

    def __len__(self) -> int:
        return len(self.equal)


def extended_formulation(
    cone: Cone, sets: bool = False, sums: Sequence[tuple[int, ChannelConstraint]] = ()
) -> ExtendedFormulation:
    """Return the rows of the families of a cone, each with its own auxiliary variables.

    Parameters
    ----------
    cone
        The cone of the column.
    sets
        Whether to state boxes and balls of priors, which needs variables >= 0.
    sums
        Constraints on sums of excesses over the outputs, each with the place of its notion. The
        last auxiliary variables are the terms of the sums.
    """
    parts = [*enumerate(cone.families), *sums]
    places, blocks = [place for place, _ in parts], [family_rows(part, sets) for _, part in parts]
    k, ends = cone.size, np.cumsum([len(block) for block in blocks])
    A = blocks[0].A
    if len(blocks) > 1:
        auxiliary = sp.block_diag([block.A[:, k:] for block in blocks])
        A = sp.csr_array(sp.hstack([sp.vstack([block.A[:, :k] for block in blocks]), auxiliary]))

    def duals(weights: FloatArray) -> list[Multipliers]:
        """Name the notion of each multiplier."""
        own = zip(places, blocks, np.split(weights, ends[:-1]), strict=True)
        return [replace(m, notion=n) for n, block, mine in own for m in block.duals(mine)]

    # least entries are substituted in the first family that has some
    n = next((n for n, block in enumerate(blocks) if block.least.size), 0)
    before = sum(block.A.shape[1] - k for block in blocks[:n])
    first = np.array([[0], [before], [ends[n] - len(blocks[n])]], dtype=np.intp)
    return ExtendedFormulation(
        A,
        np.concatenate([block.equal for block in blocks]),
        duals,
        blocks[n].least + first,
        all(block.shares_least for block in blocks),
    )


@singledispatch
def family_rows(family: Any, _sets: bool = False) -> ExtendedFormulation:
    """Return an extended formulation of a family of rows, or a constraint's parts, on one column.

    A family of unknown structure has no auxiliary variables: its rows stay the same, each divided
    by its largest coefficient, since the tolerances of solvers are absolute.
    """
    G = family.matrix()
    largest = np.asarray(abs(G).max(axis=1).todense()).ravel()
    largest[largest == 0] = 1.0

    def duals(weights: FloatArray) -> list[Multipliers]:
        """Undo the scaling of the rows."""
        found: list[Multipliers] = family.read_dual(np.maximum(weights, 0.0) / largest[:, None])
        return found

    return _inequalities(sp.csr_array(sp.diags_array(1 / largest) @ G), duals)


def _inequalities(
    A: sp.csr_array,
    duals: Callable[[FloatArray], list[Multipliers]],
    least: IntArray = NONE,
    shares_least: bool = False,
) -> ExtendedFormulation:
    return ExtendedFormulation(A, np.zeros(A.shape[0], dtype=bool), duals, least, shares_least)


@family_rows.register
def _excesses(constraint: ChannelConstraint, _sets: bool = False) -> ExtendedFormulation:
    """One auxiliary variable for each sum: the largest of its excesses."""
    member = constraint.members
    largest = sp.csr_array((np.ones(len(member)), (np.arange(len(member)), member)))
    A = sp.csr_array(sp.hstack([sp.csr_array(constraint.matrix), -largest]))
    return _inequalities(A, lambda weights: [constraint.read_dual(weights)])


@family_rows.register
def _lift(family: LiftRows, sets: bool = False) -> ExtendedFormulation:
    """State the priors of a list, or a box or a ball as a whole."""
    support = family.priors.support()
    if support is None:
        return _lift_at(family, family.priors.members)
    if not sets:
        expected = "bounds on the lift for a list of priors"
        raise UnsupportedError("privacy.priors", expected, repr(family.priors))
    A, least = rows_of_set(family, support)
    return _inequalities(A, partial(split_of_set, family, support), least)


def _lift_at(family: LiftRows, priors: Sequence[Weights]) -> ExtendedFormulation:
    """One auxiliary variable for P . q at one prior; for several, the ends of the entries."""
    if len(priors) > 1:
        A, least = rows_of_list(family, priors)
        return _inequalities(A, partial(split_of_list, family, priors), least)
    k, sides = family.size, family.sides()
    blocks = [[np.array([[float(p) for p in priors[0]]]), -np.ones((1, 1))]]
    for side, exponent in sides.items():
        shrunk = min(float(np.exp(-float(exponent))), TIED)
        own, mean = (shrunk, -1.0) if side == "upper" else (-1.0, shrunk)
        blocks.append([own * np.eye(k), np.full((k, 1), mean)])
    A = sp.csr_array(np.block(blocks))

    def duals(weights: FloatArray) -> list[Multipliers]:
        """Keep the rows on entries: the equation only defines the variable.

        The terms of the rows on P . q are those of the rows on entries, written out.
        """
        found, parts = [], weights[1:].reshape(len(sides), k, weights.shape[1])
        for side, mine in zip(sides, parts, strict=True):
            x, y = np.nonzero(mine > 0)
            found.append(Multipliers(side, y, x, np.zeros_like(x), mine[x, y], tuple(priors)))
        return found

    return ExtendedFormulation(A, np.arange(A.shape[0]) == 0, duals)


@family_rows.register
def _pairs(family: PairRows, _sets: bool = False) -> ExtendedFormulation:
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

    def duals(weights: FloatArray) -> list[Multipliers]:
        """Solve a transport problem for each least entry t.

        The dual variable of t is free, so multipliers u of the rows e**-a q_x <= b t (x above) and
        w of the rows t <= q_z (z below) satisfy Sum_x b u_x <= Sum_z w_z, with equality where t is
        not 0. A flow from the x to the z that sends b u_x from each x, and at most w_z to each z,
        gives multipliers of the rows e**-a q_x <= b q_z: their terms at every x are those of u, and
        at every z at most those of w.
        """
        u, w = weights[: len(x)] / larger[b][:, None], weights[len(x) :]
        row, y = np.nonzero(u[direct])
        found = [(y, x[direct][row], v[direct][row], u[direct][row, y])]
        for (up, down), output in product(of_least, range(weights.shape[1])):
            scale = factors[b[up]]
            i, j, flow = transport(u[up, output] * scale, w[down, output])
            found.append((np.full_like(i, output), x[up][i], member[down][j], flow / scale[i]))
        y, own, other, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
        # a flow from x to x is a multiplier of q_x >= 0: dropping it can only raise the bound
        kept = (weight > 0) & (own != other)
        return [Multipliers("", y[kept], own[kept], other[kept], weight[kept])]

    least = np.array([member, t, len(x) + np.arange(len(t))])
    disjoint: list[IntArray] = []
    taken = np.zeros(k, dtype=bool)
    for _, down in of_least:
        if not taken[member[down]].any():
            taken[member[down]] = True
            disjoint.append(down)
    chosen = least[:, np.concatenate([np.zeros(0, dtype=np.intp), *disjoint])]
    return _inequalities(A, duals, chosen, shares_least=2 * len(direct) < n_rows)


@family_rows.register
def _latent(family: LatentRows, _sets: bool = False) -> ExtendedFormulation:
    """One auxiliary variable w_s = B_s . q for each value s, and the inner rows on these.

    A variable that an equation of the inner rows defines by w is defined by q instead.
    """
    inner, n, B = family.inner, len(family.given_value), sp.csr_array(family.array)
    lifts = inner.lift_rows()
    rows = family_rows(inner) if lifts is None else _lift_at(lifts, lifts.priors.vertices())
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

    equal = np.concatenate([np.ones(n, dtype=bool), rows.equal])
    # the equations only define variables
    return ExtendedFormulation(sp.csr_array(A), equal, lambda weights: rows.duals(weights[n:]))
