"""Maps from estimates to distributions: projection onto the simplex, or clipping and scaling."""

from __future__ import annotations

import numpy as np

from mechdesign._typing import FloatArray


def projected(values: FloatArray) -> FloatArray:
    """Return the distribution that is nearest in Euclidean distance.

        argmin |p - v|**2 over p >= 0 with Sum_x p_x = 1;        p_x = max(0, v_x - t)

    If the j largest values are positive in p, then t_j = (their sum - 1) / j; the correct j is the
    last for which the j-th value exceeds t_j. The true distribution lies in the simplex, so p is
    never farther from it than v.

    Examples
    --------
    >>> projected(np.array([0.9, 0.3, -0.2]))
    array([0.8, 0.2, 0. ])
    """
    falling = np.sort(values)[::-1]
    levels = (np.cumsum(falling) - 1) / np.arange(1, len(values) + 1)
    level = levels[np.flatnonzero(falling > levels)[-1]]
    return np.asarray(np.maximum(values - level, 0.0))


def clipped(values: FloatArray) -> FloatArray:
    """Return the positive parts, scaled to sum to 1; the uniform distribution if there are none.

    Examples
    --------
    >>> clipped(np.array([0.9, 0.3, -0.2]))
    array([0.75, 0.25, 0.  ])
    """
    positive = np.maximum(values, 0.0)
    total = positive.sum()
    if total <= 0:
        return np.full(len(values), 1 / len(values))
    return np.asarray(positive / total)
