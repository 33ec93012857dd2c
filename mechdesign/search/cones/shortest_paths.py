"""Shortest paths over pairs of inputs: the implied bounds on ratios.

A pair bounds ln(q_x / q_x') by its length E[x, x'], so a path of pairs bounds it by the sum of
their lengths. In floating point, for use by algorithms only: certificates use the rows of the
notion.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from mechdesign._typing import FloatArray

MOST_SPARSE = 0.1
"""The share of pairs up to which Dijkstra's algorithm is faster than Floyd-Warshall."""


def closure(E: FloatArray) -> FloatArray:
    """Return the lengths of shortest paths, with the same channels.

    Parameters
    ----------
    E
        ``(n_inputs, n_inputs)`` lengths >= 0; inf without a row. The diagonal is ignored.

    Examples
    --------
    >>> closure(np.array([[0, 1, 5], [np.inf, 0, 2], [np.inf, 0, 0]]))
    array([[ 0.,  1.,  3.],
           [inf,  0.,  2.],
           [inf,  0.,  0.]])
    """
    given = np.isfinite(E)
    np.fill_diagonal(given, False)
    x, other = np.nonzero(given)
    graph = csr_array((E[given], (x, other)), shape=E.shape)  # zeros stay, as edges of length 0
    by_each = len(x) <= MOST_SPARSE * E.size or not E[given].all()
    method: Literal["D", "FW"] = "D" if by_each else "FW"
    return np.asarray(shortest_path(graph, method=method))
