"""Extended formulations: the rows of a cone as far fewer rows with auxiliary variables.

A family of k**2 rows often depends on a few numbers of the column. Under LDP no entry exceeds
e**eps times the least entry: with an auxiliary variable t for the least, 2 k rows replace k (k -
1). The output distribution P . q is an auxiliary variable of the lift rows at one prior. The
projection on q is the cone; the multipliers of the extended rows are mapped back to rows of the
families, which the certificate contains.

Bounds on the lift for sets of priors. With T the largest entry, t the least, and q >= 0, the rows
of all priors of a set are

    q_x <= T,   e**-upper T <= min_P P . q        t <= q_x,   e**-lower max_P P . q <= t.

For a list of priors the minimum and the maximum are one row for each, and a side without a bound
has no rows. Over a box or a ball the
largest expectation of a column is a small linear program (`PriorSet.support`):

    max P . q  =  min over tau of  base . q + top T + rest tau + Sum_x w_x (q_x - tau)_+,

and the least expectation is the same with signs reversed. So with auxiliary variables a and b >= 0

    tau' - q_x <= b_x,   e**-upper T <= base . q + top t + rest tau' - w . b
    q_x - tau <= a_x,    e**-lower (base . q + top T + rest tau + w . a) <= t:

four rows for each input, where the vertices of a ball on 60 inputs are some millions.

Multipliers of these rows are those of rows at *one* prior a side. With A and B those of the last
rows, l_x and m_x those of q_x <= T and t <= q_x, n_x and o_x those with tau and tau', the dual
variables of T, t, tau, tau' vanish, which makes

    P = base + n / (e**-lower A) + top l / |l|,     P' = base + o / B + top m / |m|

distributions, members of the set; the part of l that T has from the first row bounds the lift at
P' from above, the part of m that t has from the last one that at P from below. For a list, with
multipliers A_P and B_P, l is divided among the rows at P by a transport to B_P, and A_P among m.
In a box or a ball a side without a bound has e**-upper = 0 or e**-lower = 0: its last rows hold for
any column.
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
from mechdesign.prior_sets import Support, Weights
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


TIED = 1 - 1e-10
"""Replaces a bound of 1 against a mean, whose float coefficients may not sum to 1."""


def rows_of_list(family: LiftRows, priors: Sequence[Weights]) -> tuple[sp.csr_array, IntArray]:
    """Return A, rows A v <= 0 on (q, T, t), or one of T and t; and its rows t <= q.

    Those are ``(3, n)``: entries, their least entry t, and rows.
    """
    k, n, sides = family.size, len(priors), family.sides()
    table, blocks = np.array([[float(p) for p in prior] for prior in priors]), []
    for place, (side, exponent) in enumerate(sides.items()):
        shrunk, sign = min(float(np.exp(-float(exponent))), TIED), 1 if side == "upper" else -1
        ends = np.zeros((k + n, len(sides)))
        ends[:k, place], ends[k:, place] = -sign, sign * (shrunk if side == "upper" else 1)
        means = -table if side == "upper" else shrunk * table
        blocks.append(np.hstack([np.vstack([sign * np.eye(k), means]), ends]))
    A, entries = sp.csr_array(np.vstack([np.zeros((0, k + len(sides))), *blocks])), np.arange(k)
    first, last = A.shape[0] - k - n, A.shape[1] - 1
    least = np.array([entries, np.full(k, last), first + entries])
    return A, least if "lower" in sides else least[:, :0]


def split_of_list(
    family: LiftRows, priors: Sequence[Weights], weights: FloatArray
) -> list[Multipliers]:
    """Return multipliers of :func:`rows_of_list`, ``(n_rows, m)``, as those of rows at the priors.

    Those of the largest and of the least entry are divided among those of the priors.
    """
    k, sides, found = family.size, family.sides(), []
    parts = weights.reshape(len(sides), k + len(priors), weights.shape[1])
    for (side, exponent), own in zip(sides.items(), parts, strict=True):
        shrunk = min(float(np.exp(-float(exponent))), TIED)
        for y, column in enumerate(own.T):
            if side == "upper":
                supply = column[:k] / (shrunk or np.inf)  # e**-800 is 0: such rows never bind
                x, number, weight = transport(supply, column[k:])
            else:
                number, x, weight = transport(column[k:], column[:k])
            output = np.full_like(x, y)
            found.append(Multipliers(side, output, x, number, weight, tuple(priors)))
    return found


def rows_of_set(family: LiftRows, support: Support) -> tuple[sp.csr_array, IntArray]:
    """Return A, rows A v <= 0 on v = (q, T, t, tau, tau', a, b) >= 0; and its rows t <= q.

    Those are as for :func:`rows_of_list`.
    """
    k, (least, most) = family.size, family.ends()
    unit, one, number, entries = sp.eye_array(k), np.ones((k, 1)), np.ones((1, 1)), np.arange(k)
    base, weights, top = support.base[None, :], support.weights[None, :], support.top
    rest = 1 - top - float(base.sum())
    of_least = [least * base, least * top * number, -number, least * rest * number, None]
    blocks: list[list[Any]] = [
        [unit, -one, None, None, None, None, None],
        [-unit, None, one, None, None, None, None],
        [-unit, None, None, None, one, None, -unit],
        [unit, None, None, -one, None, -unit, None],
        [-base, number / most, -top * number, None, -rest * number, None, weights],
        [*of_least, least * weights, None],
    ]
    A = sp.csr_array(sp.block_array(blocks, format="csr"))
    A.eliminate_zeros()
    return A, np.array([entries, np.full(k, k + 1), k + entries])


def split_of_set(family: LiftRows, support: Support, weights: FloatArray) -> list[Multipliers]:
    """Return multipliers of :func:`rows_of_set`, ``(n_rows, m)``, as those of rows at priors."""
    table: list[Weights] = []
    found = [m for y, own in enumerate(weights.T) for m in _split(family, support, own, y, table)]
    priors = tuple(table)
    return [replace(m, priors=priors) for m in found]


def _split(
    family: LiftRows, support: Support, multipliers: FloatArray, output: int, table: list[Weights]
) -> list[Multipliers]:
    """Split the multipliers of an output; add the priors to the table."""
    k, (least, most) = family.size, family.ends()
    (at_most, at_least), others = multipliers[: 2 * k].reshape(2, k), multipliers[2 * k :]
    below, above = others[: 2 * k].reshape(2, k)
    B, A = others[2 * k :].tolist()
    sides = family.sides()
    if "upper" not in sides:
        B, below = 0.0, np.zeros(k)
    if "lower" not in sides:
        A, above = 0.0, np.zeros(k)
    if A + B <= 0:
        return []
    # If T = t = 0 the dual variables of T, t, tau and tau' may be positive: these changes, which
    # only raise reduced costs of entries, make them 0.
    rest = 1 - support.top - float(support.base.sum())
    from_upper, from_lower = B / most, support.top * least * A
    at_most = at_most + max(0.0, from_upper + from_lower - float(at_most.sum())) / k
    at_least, below = _scaled(at_least, A + support.top * B), _scaled(below, rest * B)
    room = np.maximum(least * A * support.weights - above, 0.0)
    missing = max(0.0, least * rest * A - float(above.sum()))
    above = above + _scaled(room, min(missing, float(room.sum())))
    # what the least entry has from the last row, and the largest entry from that before it
    own_low = A / (A + support.top * B) if A else 0.0
    own_high = from_upper / (from_upper + from_lower) if B else 0.0
    up, down = most * own_high * at_most if B else np.zeros(k), own_low * at_least
    found = []
    for side, weight, mean in (
        ("upper", up, B * support.base + (1 - own_low) * at_least + below),
        ("lower", down, least * A * support.base + (1 - own_high) * at_most + above),
    ):
        x = np.flatnonzero(weight > 0)
        if len(x) and mean.sum() > 0:
            number = np.full(len(x), len(table))
            found.append(Multipliers(side, np.full(len(x), output), x, number, weight=weight[x]))
            table.append(family.priors.member_near(mean / mean.sum()))
    return found


def _scaled(numbers: FloatArray, total: float) -> FloatArray:
    """Return numbers >= 0 scaled to a sum; unchanged if all are 0."""
    now = float(numbers.sum())
    return numbers * (total / now) if now > 0 else numbers


def transport(supply: FloatArray, demand: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return a flow from supplies to demands by the north-west corner rule.

    If the totals differ, the rest of the larger one is not moved. Returns (source, target, amount),
    at most as many as there are supplies and demands in total.
    """
    out, into = np.cumsum(supply), np.cumsum(demand)
    total = min(out[-1], into[-1])
    cuts = np.unique(np.concatenate([[0.0], np.minimum(out, total), np.minimum(into, total)]))
    middle, amount = (cuts[:-1] + cuts[1:]) / 2, np.diff(cuts)
    return np.searchsorted(out, middle), np.searchsorted(into, middle), amount
