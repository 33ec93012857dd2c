"""The tightest matrix E of context-aware LDP that a channel satisfies."""

from __future__ import annotations

import math

import numpy as np

from mechdesign._typing import AnyArray, FloatArray
from mechdesign.accounting.measure.max_ratio import log_above, pair_ratios
from mechdesign.channel import Channel, as_channel

ABOVE = 1 + 2.0**-49
"""Covers six roundings of a logarithm, and the conversion of a float to its decimal text."""

BLOCK = 1 << 16
"""Number of entries compared at a time, to fit the processor's cache."""


def tightest_matrix(channel: Channel) -> FloatArray:
    """Return the least E with which a channel is E-LDP.

        E[x, x'] = max over y of ln(Q[x, y] / Q[x', y])

    A channel is E'-LDP iff E' >= E entrywise. This E satisfies the triangle inequality.

    Returns
    -------
    numpy.ndarray
        ``(n_inputs, n_inputs)`` floats in [0, inf], in nats, rounded up by a relative amount of at
        most 2**-48; 0 iff two rows are equal, inf iff some output is possible at x but not at x'.

    Notes
    -----
    Source: Acharya et al. 2020, Definition 2.

    Examples
    --------
    Mangat's design hides "yes" among others who answer "yes", but does not hide "no".

    >>> mangat = Channel.from_matrix([["1", "0"], ["1/2", "1/2"]])
    >>> tightest_matrix(mangat).round(6).tolist()
    [[0.0, 0.693147], [inf, 0.0]]
    """
    return matrix_of(as_channel(channel).numerators)


def matrix_of(table: AnyArray) -> FloatArray:
    """Return the tightest matrix of a table of integers."""
    if table.dtype == object:  # integers beyond 64 bits
        return np.array([list(map(log_above, row)) for row in pair_ratios(table.tolist())])
    numerators = np.ascontiguousarray(table)
    k, m = numerators.shape
    with np.errstate(divide="ignore"):
        inverse = 1 / numerators.astype(np.float64)
    inverse[numerators == 0] = 0  # ratios with a denominator of 0 are set to inf below
    step = max(1, BLOCK // m)
    excess = np.empty((k, k))
    for first in range(0, k, step):
        part = slice(first, first + step)
        for x in range(k):
            # the ratio minus 1, from an exact difference, to keep precision near 1
            ratios = (numerators[x] - numerators[part]).astype(np.float64) * inverse[part]
            excess[x, part] = ratios.max(axis=1)
    matrix: FloatArray = np.log1p(np.maximum(excess, 0)) * ABOVE
    positive = (numerators > 0).astype(np.float32)
    matrix[positive @ (1 - positive).T > 0] = math.inf
    return matrix
