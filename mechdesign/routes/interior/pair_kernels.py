"""Fused kernels for bounds on ratios of entries: each goes through the rows of one output once.

The rows of a column q are s_r = q[other_r] - g_r q[x_r] >= 0; those of the input x are the places
``first[x]`` to ``first[x + 1]``, with ``other`` and ``g``. A row with g = 0 and other = x says
q_x >= 0, so that these need no arrays of their own. Stated as A q <= 0, A has the row
g_r e_x - e_other.

A step has relative changes: of the slack, ds / s, which follows from the change of the column, and
of the multiplier, dw / w, which is kept. With the goal of a row, by how much its product w s is to
grow relative to what it is, the linearized complementarity condition is dw / w = goal - ds / s.

Compiled by numba when first called; the machine code is kept on disk.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

__all__ = [
    "CENTRALITY",
    "CORRECTOR",
    "PREDICTOR",
    "apply",
    "assemble",
    "blocking",
    "columns",
    "lengths",
    "move",
    "products",
    "restoring",
    "right_side",
    "symmetric_product",
]

PREDICTOR, CORRECTOR, CENTRALITY = 0, 1, 2
"""Goals: products of 0; products of the target, less the terms of second order that the predictor
ignores; products near the target after a longer step."""

NEAR, FAR = 0.1, 10.0
"""A centrality corrector leaves products between these multiples of the target as they are."""
# They stand in newton.py and in pair_kernels.py: a change elsewhere would not reach machine code
# that numba keeps, and newton.py is imported without numba.


def _compiled(function: Callable[..., Any]) -> Any:
    """Compile a function that lets other threads run; keep the machine code where that can be."""
    options = {"nogil": True, "fastmath": {"contract", "nsz", "arcp", "reassoc", "nnan"}}
    try:
        return numba.njit(function, cache=True, **options)
    except RuntimeError:  # no folder to write to
        return numba.njit(function, **options)


@_compiled
def columns(first: Any, other: Any, g: Any, w: Any, out: Any) -> None:
    """Set ``out`` to A' w."""
    out[:] = 0.0
    for x in range(len(first) - 1):
        total = 0.0
        for p in range(first[x], first[x + 1]):
            total += g[p] * w[p]
            out[other[p]] -= w[p]
        out[x] += total


@_compiled
def assemble(
    first: Any, other: Any, g: Any, q: Any, w: Any, restoring: bool, added: float, B: Any
) -> None:
    """Set the lower triangle of B to A' D A, with a share ``added`` more on its diagonal.

    D is w / s; for restoring dual feasibility it is w**2.
    """
    B[:] = 0.0
    for x in range(len(first) - 1):
        total = 0.0
        for p in range(first[x], first[x + 1]):
            j = other[p]
            D = w[p] * w[p] if restoring else w[p] / (q[j] - g[p] * q[x])
            total += g[p] * (g[p] * D)
            B[j, j] += D
            B[max(x, j), min(x, j)] -= g[p] * D  # nothing where j is x, as g is 0 there
        B[x, x] += total
    for x in range(len(B)):
        B[x, x] *= 1.0 + added


@_compiled
def apply(first: Any, other: Any, g: Any, q: Any, w: Any, v: Any, out: Any) -> None:
    """Set ``out`` to A' D A v."""
    out[:] = 0.0
    for x in range(len(first) - 1):
        total = 0.0
        for p in range(first[x], first[x + 1]):
            j = other[p]
            t = w[p] * (g[p] * v[x] - v[j]) / (q[j] - g[p] * q[x])
            total += g[p] * t
            out[j] -= t
        out[x] += total


@_compiled
def symmetric_product(lower: Any, v: Any, out: Any) -> None:
    """Set ``out`` to M v, with the lower triangle of a symmetric M."""
    for i in range(len(v)):
        total = 0.0
        for j in range(i):
            total += lower[i, j] * v[j]
            out[j] += lower[i, j] * v[i]
        out[i] = total + lower[i, i] * v[i]


@_compiled
def products(
    first: Any, other: Any, g: Any, q: Any, w: Any, dq: Any, rw: Any, a: float, b: float
) -> tuple[float, float]:
    """Return the sum of the products w s after steps a and b, and the least slack before."""
    total, least = 0.0, math.inf
    for x in range(len(first) - 1):
        for p in range(first[x], first[x + 1]):
            j = other[p]
            s = q[j] - g[p] * q[x]
            least = min(least, s)
            total += (s + a * (dq[j] - g[p] * dq[x])) * (w[p] * (1.0 + b * rw[p]))
    return total, least


@_compiled
def _goal(
    kind: int, product: float, rs: float, rw: float, a: float, b: float, target: float
) -> float:
    """Return the goal of a row: by how much of itself its product w s is to grow."""
    if kind == PREDICTOR:
        return -1.0
    if kind == CORRECTOR:
        return target / product - rs * rw
    after = product * ((1.0 + a * rs) * (1.0 + b * rw))
    low, high = NEAR * target, FAR * target
    return (max(low - after, 0.0) + max(min(high - after, 0.0), -high)) / product


@_compiled
def right_side(
    first: Any,
    other: Any,
    g: Any,
    q: Any,
    w: Any,
    dq: Any,
    rw: Any,
    kind: int,
    a: float,
    b: float,
    target: float,
    out: Any,
) -> None:
    """Set ``out`` to -A' (goal w): the right side of B dv for the goals of the rows."""
    out[:] = 0.0
    for x in range(len(first) - 1):
        total = 0.0
        for p in range(first[x], first[x + 1]):
            j = other[p]
            s = q[j] - g[p] * q[x]
            rs = (dq[j] - g[p] * dq[x]) / s
            t = w[p] * _goal(kind, w[p] * s, rs, rw[p], a, b, target)
            total += g[p] * t
            out[j] += t
        out[x] -= total


@_compiled
def lengths(
    first: Any,
    other: Any,
    g: Any,
    q: Any,
    w: Any,
    dq: Any,
    rw: Any,
    kind: int,
    a: float,
    b: float,
    target: float,
    more: Any,
    shares: Any,
    dual: Any,
    out: Any,
) -> None:
    """Set ``out``, ``(n_shares, 2)``, to the least relative changes of s and of w.

    These are those of the step (dq, rw) with a share of the change ``more`` of the column added to
    it, and that of the change ``dual`` of ``rw`` that goes with it, which is set.
    """
    n_rows = len(w)
    slack, extra = np.empty(n_rows), np.empty(n_rows)
    for x in range(len(first) - 1):
        for p in range(first[x], first[x + 1]):
            j = other[p]
            one = 1.0 / (q[j] - g[p] * q[x])
            slack[p] = (dq[j] - g[p] * dq[x]) * one
            extra[p] = (more[j] - g[p] * more[x]) * one
            dual[p] = _goal(kind, w[p] / one, slack[p], rw[p], a, b, target) - extra[p]
    for n in range(len(shares)):
        share, least, lowest = shares[n], math.inf, math.inf
        for p in range(n_rows):
            least = min(least, slack[p] + share * extra[p])
            lowest = min(lowest, rw[p] + share * dual[p])
        out[n, 0], out[n, 1] = least, lowest


@_compiled
def blocking(
    first: Any, other: Any, g: Any, q: Any, dq: Any, states: Any, threshold: float
) -> tuple[float, int]:
    """Look at the rows that are left out: their state is 0.

    Returns the least relative change of their slacks, and of how many rows the slack falls by more
    than the threshold relative to itself and to the entry: their state is set to 2.
    """
    least, found = 0.0, 0
    for x in range(len(first) - 1):
        for p in range(first[x], first[x + 1]):
            if states[p] == 0:
                j = other[p]
                change = (dq[j] - g[p] * dq[x]) / (q[j] - g[p] * q[x])
                least = min(least, change)
                if change - min(0.0, dq[j] / q[j]) < -threshold:
                    states[p] = 2
                    found += 1
    return least, found


@_compiled
def restoring(first: Any, other: Any, g: Any, w: Any, u: Any, rw: Any) -> float:
    """Set ``rw`` to w (A u), which restores dual feasibility, and return its least entry."""
    least = 0.0
    for x in range(len(first) - 1):
        for p in range(first[x], first[x + 1]):
            rw[p] = w[p] * (g[p] * u[x] - u[other[p]])
            least = min(least, rw[p])
    return least


@_compiled
def move(w: Any, rw: Any, b: float, out: Any) -> None:
    """Set ``out`` to the multipliers after a step b."""
    for p in range(len(w)):
        out[p] = w[p] * (1.0 + b * rw[p])
