"""An exact extended formulation of bounds on the lift for sets of priors of any size.

With T the largest entry, t the least, and q >= 0, the rows of all priors of a set are

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

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.prior_sets import Support, Weights

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
                x, number, weight = transport(column[:k] / shrunk, column[k:])
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
