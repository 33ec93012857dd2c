"""Balanced families of arrangements of a column: weighted block designs, found by NNLS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from math import factorial, prod

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.solver_guard import called, checked

FEW = 150
"""Up to this number all arrangements are used, with equal weights."""

MOST_LISTED = 3000
"""Up to this number all arrangements are candidates; above it a random sample is."""

TRIALS, SAMPLED = 6, 500
EXACT = 1e-12
USED = 1e-12


def balanced_subsets(size: int, chosen: int) -> tuple[FloatArray, FloatArray]:
    """Return weighted subsets with the pair frequencies of all subsets of their size.

    Members are ``(size, n_subsets)`` of 0 and 1; the weights sum to 1.

    Examples
    --------
    >>> members, weights = balanced_subsets(16, 4)
    >>> members.shape[1] < 200, np.allclose(members @ weights, 4 / 16)
    (True, True)
    >>> pairs = (members * weights) @ members.T
    >>> np.allclose(pairs[~np.eye(16, dtype=bool)], 4 * 3 / (16 * 15))
    True
    """
    return balanced_arrangements((1.0,) * chosen + (0.0,) * (size - chosen))


def subset_selection(k: int, j: int, low: float) -> FloatArray:
    """Return subset selection on a balanced family of sets of j of k inputs, ``(k, n_subsets)``.

    The probability of a set that contains the input is 1 / ``low`` times that of another one.
    """
    members, weights = balanced_subsets(k, j)
    share = j / k
    return np.where(members > 0, 1.0, low) * weights / (share + (1 - share) * low)


@lru_cache(maxsize=64)
def balanced_arrangements(values: tuple[float, ...]) -> tuple[FloatArray, FloatArray]:
    """Return weighted arrangements of some values with the pair moments of all arrangements.

    If there are too many arrangements, each is used with all its cyclic shifts. Then every place
    has the same mean, and the mean product of a pair depends on its distance around the circle
    only; the weights make it the same at all floor(k / 2) distances, for which that many
    arrangements suffice. For 0 and 1 this is a weighted difference family.

    Columns are ``(k, n)``; the weights sum to 1.
    """
    k, counts = len(values), Counter(values)
    number = factorial(k) // prod(factorial(n) for n in counts.values())
    if number <= FEW:
        columns = np.array(list(_arrangements(counts))).T
        return columns, np.full(number, 1 / number)
    from scipy.optimize import nnls

    rng = np.random.default_rng(0)
    mean = (sum(values) ** 2 - sum(v * v for v in values)) / (k * (k - 1))
    for trial in range(1, TRIALS + 1):
        if number <= MOST_LISTED:
            columns = np.array(list(_arrangements(counts))).T
        else:
            columns = np.array([rng.permutation(values) for _ in range(SAMPLED * trial)]).T
        products = [
            (columns * np.roll(columns, d, axis=0)).mean(axis=0) for d in range(1, k // 2 + 1)
        ]
        rows = np.vstack([np.stack(products) / mean, np.ones(columns.shape[1])])
        weights, residual = called("NNLS", nnls, rows, np.ones(len(rows)))
        if residual <= EXACT * len(rows):
            break
    else:
        raise SolverError(f"no balanced family of arrangements of {k} entries was found")
    weights = checked("NNLS", weights, columns.shape[1:])
    used = np.flatnonzero(weights > USED)
    shifted = np.hstack([np.roll(columns[:, used], shift, axis=0) for shift in range(k)])
    spread = np.tile(weights[used] / weights[used].sum() / k, k)
    unique, place = np.unique(shifted, axis=1, return_inverse=True)
    shares: FloatArray = np.bincount(place.ravel(), weights=spread).astype(np.float64)
    return unique, shares


def _arrangements(counts: Counter[float]) -> Iterator[tuple[float, ...]]:
    """Yield all distinct arrangements of values with these multiplicities."""
    if not any(counts.values()):
        yield ()
        return
    for value, left in list(counts.items()):
        if left:
            counts[value] -= 1
            for rest in _arrangements(counts):
                yield (value, *rest)
            counts[value] += 1
