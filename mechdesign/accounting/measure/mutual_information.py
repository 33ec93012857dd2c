"""Mutual information of input and output, rounded up."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from mechdesign._typing import AnyArray
from mechdesign.accounting.measure.max_ratio import float_above
from mechdesign.kernel.gains import Entropy
from mechdesign.prior import Prior

MOST_EXACT = 2500
"""Maximum number of entries for which all logarithms are bounded in rationals."""

UNIT = 2.0**-52


def information_above(table: AnyArray, whole: int, prior: Prior) -> float:
    """Return I(X; Y) in nats, rounded up, for integers whose rows sum to ``whole``.

    For small tables every logarithm is bounded in rationals. For large ones the sum is computed in
    floats, and the bound ``(n_inputs + 32) 2**-52 (1 + Sum |terms|)`` on its rounding error is
    added.

    Examples
    --------
    >>> erased = np.array([[1, 0, 1], [0, 1, 1]])
    >>> round(information_above(erased, 2, Prior([0.5, 0.5])), 6)  # half of ln 2
    0.346574
    """
    if table.size <= MOST_EXACT:
        form = Entropy.of_inputs(prior.probabilities)
        total = sum((form(q, up=True) for q in table.T.tolist()), Fraction(0))
        return float_above(max(Fraction(0), total / whole))
    likely = np.flatnonzero(prior.array > 0)
    rows = table[likely]
    if (rows == rows[0]).all():
        return 0.0
    Q = (rows / whole).astype(np.float64)
    joint = prior.array[likely, None] * Q
    outputs = np.maximum(joint.sum(axis=0), np.finfo(float).tiny)
    # relative errors in units of rounding: 3 for a joint probability, n_inputs + 3 for the
    # probability of an output, and for a term their sum plus 2 for the logarithm
    terms = joint * np.log(np.where(joint > 0, Q, 1) / np.where(joint > 0, outputs, 1))
    size = math.fsum(np.abs(terms).ravel())
    margin = (len(table) + 32) * UNIT * (1 + size)
    return math.fsum(terms.ravel()) + margin
