"""Arrays of the bounds on ratios of a generator: distinct ones, and the index of each pair."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mechdesign._typing import BoolArray, IntArray
from mechdesign.exact import sqrt_lower
from mechdesign.kernel.arithmetic import lattice
from mechdesign.kernel.generators import Constant, Distance, Matrix, Ratio
from mechdesign.kernel.generators.ratio import sufficient_pairs
from mechdesign.notions.rows.ratio_steps import FREE

ONE = Fraction(1)
MOST_STEP = 1 << 30
"""Squares of smaller steps fit machine integers."""

Levels: TypeAlias = tuple[list[Fraction], IntArray]
"""Distinct numbers, and the index of the number of each pair of inputs."""


def bounds_of(
    part: Ratio, size: int
) -> tuple[list[Fraction], list[Fraction], IntArray, BoolArray | None]:
    """Return the distinct exponents and scales, their index for each pair, and the near pairs."""
    near, factors = None, [ONE]
    if isinstance(part.exponents, Constant):
        levels, index = _of_blocks(part.exponents, size)
    elif isinstance(part.exponents, Matrix):
        levels, index = _of_table(part.exponents)
    else:
        (levels, index), near = _of_distance(part.exponents), _near(part.exponents)
    if part.prior is not None:
        number = {p: n for n, p in enumerate(dict.fromkeys(part.prior))}
        factors = [z / x for x in number for z in number]
        own = np.array([number[p] for p in part.prior])
        scale = own + len(number) * own[:, None]
        index = np.where(index == FREE, FREE, index * len(factors) + scale)
    np.fill_diagonal(index, FREE)
    return [a for a in levels for _ in factors], factors * len(levels), index, near


def _of_blocks(given: Constant, size: int) -> Levels:
    block = np.array(given.block or [0] * size)
    pairs = block[:, None] == block
    if given.protected is not None:
        pairs &= np.isin(np.arange(size), given.protected)[:, None]
    return [given.exponent], np.where(pairs, 0, FREE)


def _of_table(given: Matrix) -> Levels:
    """Number the distinct exponents; entries of a large table are often the same object."""
    number: dict[Fraction, int] = {}
    known: dict[int, int] = {}
    for row in given.table:
        for a in row:
            if id(a) not in known:
                known[id(a)] = FREE if isinstance(a, str) else number.setdefault(a, len(number))
    index = np.array([[known[id(a)] for a in row] for row in given.table], dtype=np.intp)
    return list(number), index


def _of_distance(given: Distance) -> Levels:
    """Number the distinct distances, by integer steps between points of a lattice."""
    points, unit = lattice(given.points)
    most = max(abs(part) for point in points for part in point)
    places = np.array(points, dtype=np.int64 if most < MOST_STEP else object)
    steps = abs(places[:, None] - places)
    sizes = (steps * steps if given.is_rooted else steps).sum(axis=2)
    whole, index = _levels(sizes)
    far = [Fraction(n, unit) for n in whole]
    if given.is_rooted:
        far = [sqrt_lower(Fraction(n, unit**2)) for n in whole]
    return [given.per_unit * d + given.offset for d in far], index


def _levels(numerators: npt.NDArray[Any]) -> tuple[list[int], IntArray]:
    """Return the distinct numbers in increasing order, and the index of each entry among them."""
    if numerators.dtype != object and int(numerators.max()) <= numerators.size:
        occurs = np.zeros(int(numerators.max()) + 1, dtype=bool)
        occurs[numerators] = True
        places: IntArray = np.cumsum(occurs, dtype=np.intp) - 1
        return np.flatnonzero(occurs).tolist(), places[numerators]
    levels, index = np.unique(numerators, return_inverse=True)
    return levels.tolist(), index.reshape(numerators.shape).astype(np.intp)


def _near(given: Distance) -> BoolArray | None:
    """Return the pairs whose bounds imply all others; None if these are all pairs."""
    size = len(given.points)
    pairs, _, _ = sufficient_pairs(given.points, given.is_rooted, given.offset > 0)
    if len(pairs) == comb(size, 2):
        return None
    near = np.zeros((size, size), dtype=bool)
    near[tuple(np.array(pairs, dtype=np.intp).T)] = True
    return near | near.T
