"""The mutual information of input and output, rounded up."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from mechdesign.accounting.measure.max_ratio import float_above
from mechdesign.channel import Channel
from mechdesign.notions.non_conic.information_constraint import InformationConstraint
from mechdesign.prior import Prior

__all__ = ["information_above"]

MOST_EXACT = 2500
"""Entries whose logarithms are bounded one by one, at most; the others are taken in floats."""

UNIT = 2.0**-52


def information_above(channel: Channel, prior: Prior) -> float:
    """Return I(X; Y) in nats, rounded up.

    Small channels: by rational bounds on every logarithm. Large ones: in floats, plus a bound on
    all that their rounding can have lost, ``(n_inputs + 32) 2**-52 (1 + Sum |terms|)``.

    Examples
    --------
    >>> erased = Channel.from_matrix([["1/2", 0, "1/2"], [0, "1/2", "1/2"]])
    >>> round(information_above(erased, Prior([0.5, 0.5])), 6)  # half of ln 2
    0.346574
    """
    n_inputs, n_outputs = channel.shape
    if n_inputs * n_outputs <= MOST_EXACT:
        rule = InformationConstraint("mutual-information", prior, Fraction(0))
        return float_above(rule.min_epsilon(channel.columns()))
    likely = np.flatnonzero(prior.array > 0)
    rows = channel.numerators[likely]
    if (rows == rows[0]).all():
        return 0.0
    Q = channel.matrix[likely]
    joint = prior.array[likely, None] * Q
    law = np.maximum(joint.sum(axis=0), np.finfo(float).tiny)
    # a weight is right to 3 roundings, a law to n_inputs + 3, a term to both and 2 of the logarithm
    terms = joint * np.log(np.where(joint > 0, Q, 1) / np.where(joint > 0, law, 1))
    size = math.fsum(np.abs(terms).ravel())
    margin = (n_inputs + 32) * UNIT * (1 + size)
    return math.fsum(terms.ravel()) + margin
