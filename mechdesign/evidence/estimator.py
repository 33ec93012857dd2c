"""The vectors and tangents of an estimator, from an inverse information matrix."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.relaxations import Estimator

ABOVE = 1 + 1e-12
"""Times the least tangent that the kernel takes."""


def estimator(
    A: FloatArray, prior: FloatArray, roots: bool, variances: FloatArray | None = None
) -> Estimator:
    """Return the estimator that rows of A are, with tangents at its deviations for a root.

    A root sqrt(s) is linearized at a tangent t: sqrt(s) <= (s / t + t) / 2.

    Parameters
    ----------
    A
        ``(n_inputs, n_inputs)``: M**-1.
    prior
        ``(n_inputs,)``.
    roots
        Whether the risk is one of deviations, not of variances.
    variances
        ``(n_inputs,)``: the diagonal of M**-1, where that of A is another.
    """
    rows, tangents = A, None
    variances = np.diag(A) if variances is None else variances
    if roots:
        deviations = np.sqrt(np.maximum(variances - prior * prior, 0.0))
        least = (np.sqrt(prior) - np.sqrt(prior * (1 - prior))) * np.where(prior < 1, ABOVE, 1.0)
        tangents = Numbers(np.maximum(deviations, least).tolist())
        rows = A / variances[:, None]
    return Estimator(tuple(Numbers(row) for row in rows.tolist()), tangents)


def alike(
    blocks: Iterable[Iterable[int]], prior: Sequence[Fraction], prices: Sequence[float]
) -> tuple[tuple[int, ...], ...]:
    """Return groups of inputs of a block with one prior and one price."""
    found = []
    for block in blocks:
        groups: dict[tuple[Fraction, float], list[int]] = defaultdict(list)
        for x in block:
            groups[prior[x], prices[x]].append(x)
        found += [tuple(group) for group in groups.values()]
    return tuple(found)
