"""An exact extended formulation of bounds on the lift for a box or a ball of priors.

Over such a set the largest expectation of a column is a small linear program (`PriorSet.support`):

    max P . q  =  min over tau of  base . q + top T + rest tau + Sum_x w_x (q_x - tau)_+,

with T the largest entry, and the least expectation is the same with signs reversed. So the rows of
all priors of the set at once are, with t the least entry, a and b auxiliary variables >= 0,

    q_x <= T,   tau' - q_x <= b_x,   e**-upper T <= base . q + top t + rest tau' - w . b
    t <= q_x,   q_x - tau <= a_x,    e**-lower (base . q + top T + rest tau + w . a) <= t:

four rows for each input, where the vertices of a ball on 60 inputs are some millions.

Multipliers of these rows are those of rows at *one* prior a side. With A and B those of the last
rows, l_x and m_x those of q_x <= T and t <= q_x, n_x and o_x those with tau and tau', the dual
variables of T, t, tau, tau' vanish, which makes

    P = base + n / (e**-lower A) + top l / |l|,     P' = base + o / B + top m / |m|

distributions, members of the set; the part of l that T has from the first row bounds the lift at
P' from above, the part of m that t has from the last one that at P from below.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.prior_sets import Support, Weights

__all__ = ["rows_of_set", "split_of_set", "support_of"]


def support_of(family: LiftRows | None) -> Support | None:
    """Return the support of the priors of a family that bounds both sides of the lift, or None."""
    if family is None or len(family.sides()) < len(("upper", "lower")):
        return None
    return family.priors.support()


def rows_of_set(family: LiftRows, support: Support) -> sp.csr_array:
    """Return A, rows A v <= 0 on v = (q, T, t, tau, tau', a, b) >= 0."""
    k, (least, most) = family.size, family.ends()
    base, weights = support.base[None, :], support.weights[None, :]
    unit, one = sp.eye_array(k), np.ones((k, 1))
    rest = 1 - support.top - float(base.sum())

    def number(value: float) -> FloatArray:
        return np.full((1, 1), value)

    blocks: list[list[Any]] = [
        [unit, -one, None, None, None, None, None],
        [-unit, None, None, None, one, None, -unit],
        [-unit, None, one, None, None, None, None],
        [unit, None, None, -one, None, -unit, None],
        [-base, number(1 / most), number(-support.top), None, number(-rest), None, weights],
        [least * base, number(least * support.top), number(-1.0), number(least * rest)],
    ]
    blocks[-1] += [None, least * weights, None]
    A = sp.csr_array(sp.block_array(blocks, format="csr"))
    A.eliminate_zeros()
    return A


def split_of_set(
    family: LiftRows, support: Support, multipliers: FloatArray, output: int, table: list[Weights]
) -> list[Multipliers]:
    """Return the multipliers of :func:`rows_of_set` as those of rows at priors added to a table."""
    k, (least, most) = family.size, family.ends()
    at_most, below, at_least, above = multipliers[: 4 * k].reshape(4, k)
    B, A = multipliers[4 * k :].tolist()
    if A + B <= 0:
        return []
    # where T = t = 0 the dual variables of T, t, tau and tau' may be above 0: these changes, which
    # raise reduced costs of entries only, make them 0
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
    found = []
    for side, weight, mean in (
        (
            "upper",
            own_high * most * at_most,
            B * support.base + (1 - own_low) * at_least + below,
        ),
        (
            "lower",
            own_low * at_least,
            least * A * support.base + (1 - own_high) * at_most + above,
        ),
    ):
        x = np.flatnonzero(weight > 0)
        if len(x) and mean.sum() > 0:
            number = np.full(len(x), len(table))
            found.append(Multipliers(side, np.full(len(x), output), x, number, weight=weight[x]))
            table.append(family.priors.member_near(mean / mean.sum()))
    return found


def _scaled(numbers: FloatArray, total: float) -> FloatArray:
    """Return numbers >= 0 scaled to a sum; as they are where all are 0."""
    now = float(numbers.sum())
    return numbers * (total / now) if now > 0 else numbers
