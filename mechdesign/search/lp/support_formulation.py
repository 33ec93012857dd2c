"""An exact extended formulation of bounds on the lift for sets of priors of any size.

With T the largest entry, t the least, and q >= 0, the rows of all priors of a set are

    q_x <= T,   e**-upper T <= min_P P . q        t <= q_x,   e**-lower max_P P . q <= t.

For a list of priors the minimum and the maximum are one row for each. Over a box or a ball the
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
A side without a bound has e**-upper = 0 or e**-lower = 0: its last rows hold for any column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.prior_sets import Support, Weights

__all__ = ["rows_of_set", "split_of_set", "support_of", "transport"]


def support_of(family: LiftRows | None) -> Support | None:
    """Return the support function of the priors of a family on the lift; None for a list."""
    return None if family is None else family.priors.support()


def rows_of_set(family: LiftRows) -> sp.csr_array:
    """Return A, rows A v <= 0 on v = (q, T, t, tau, tau', a, b) >= 0; for a list, on (q, T, t)."""
    k, (least, most), support = family.size, family.ends(), family.priors.support()
    unit, one = sp.eye_array(k), np.ones((k, 1))
    blocks: list[list[Any]] = [[unit, -one, None], [-unit, None, one]]
    if support is None:
        priors = _table(family)
        column = np.ones((len(priors), 1))
        blocks += [[-priors, column / most, None], [least * priors, None, -column]]
    else:
        base, weights, top = support.base[None, :], support.weights[None, :], support.top
        rest, number = 1 - top - float(base.sum()), np.ones((1, 1))
        blocks = [[*row, None, None, None, None] for row in blocks]
        blocks += [
            [-unit, None, None, None, one, None, -unit],
            [unit, None, None, -one, None, -unit, None],
            [-base, number / most, -top * number, None, -rest * number, None, weights],
            [least * base, least * top * number, -number, least * rest * number],
        ]
        blocks[-1] += [None, least * weights, None]
    A = sp.csr_array(sp.block_array(blocks, format="csr"))
    A.eliminate_zeros()
    return A


def _table(family: LiftRows) -> FloatArray:
    return np.array([[float(p) for p in prior] for prior in family.priors.members])


def split_of_set(
    family: LiftRows, multipliers: FloatArray, output: int, table: list[Weights]
) -> list[Multipliers]:
    """Return the multipliers of :func:`rows_of_set` as multipliers of rows at priors of a table."""
    k, (least, most), support = family.size, family.ends(), family.priors.support()
    (at_most, at_least), others = multipliers[: 2 * k].reshape(2, k), multipliers[2 * k :]
    if support is None:
        return _of_list(family, at_most, at_least, others, output, table)
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


def _of_list(
    family: LiftRows,
    at_most: FloatArray,
    at_least: FloatArray,
    of_priors: FloatArray,
    output: int,
    table: list[Weights],
) -> list[Multipliers]:
    """Divide the multipliers of the largest and of the least entry among those of the priors."""
    if not table:
        table += family.priors.members
    B, A = np.split(of_priors, 2)
    most, sides, found = family.ends()[1], family.sides(), []
    if "upper" in sides:
        x, number, weight = transport(most * at_most, B)
        found.append(Multipliers("upper", np.full(len(x), output), x, number, weight=weight))
    if "lower" in sides:
        number, x, weight = transport(A, at_least)
        found.append(Multipliers("lower", np.full(len(x), output), x, number, weight=weight))
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
