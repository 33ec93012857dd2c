"""Products of channels: several independent releases about one input as one channel.

Independent releases of X have the columns q1 * q2 * ..., entry by entry. Two columns that are equal
up to scale have the same posterior: they are merged, in integers, so n uses of one channel with m
outputs leave at most C(n + m - 1, n) columns. Where only largest ratios or lifts are needed, a
column that is a mixture of others attains none of them, in the product with any other column, and
is dropped as well.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import mul
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.optimize

from mechdesign.channel import Channel, as_channel
from mechdesign.errors import InputError, SolverError, UnsupportedError, listed
from mechdesign.refinement.linear_system import solved
from mechdesign.solver_guard import called, checked

__all__ = [
    "Column",
    "adaptive",
    "max_ratio_columns",
    "merged",
    "product",
    "same_inputs",
]

Column: TypeAlias = tuple[int, ...]
"""A column in lowest terms: whole numbers without a common divisor."""

MOST_COLUMNS = 100_000
"""Columns that are kept at most, after merging."""

PRUNED_ABOVE, PRUNED_SIZE = 48, 16
"""Mixtures are looked for among more columns than the first, of at most the second inputs."""

CLOSE = 1e-9


def channels_of(given: Any, key: str = "channels") -> list[Channel]:
    """Return channels as a list of at least one.

    Raises
    ------
    InputError
        If there is none, or something else.
    """
    found = listed(given, key, "a list of channels")
    if not found:
        raise InputError(key, "at least one channel", "none")
    return [as_channel(channel, f"{key}[{n}]") for n, channel in enumerate(found)]


def same_inputs(channels: Iterable[Channel]) -> list[Channel]:
    """Return the channels, at least one, if all have the same inputs.

    Raises
    ------
    InputError
        If there is none, or their inputs differ.
    """
    found = channels_of(channels)
    for n, channel in enumerate(found):
        if channel.inputs != found[0].inputs:
            expected = f"the inputs of the first, {found[0].inputs!r}"
            raise InputError(f"channels[{n}]", expected, repr(channel.inputs))
    return found


def merged(
    columns: Iterable[Sequence[int]], weights: Iterable[int] = repeat(1)
) -> dict[Column, int]:
    """Return the different directions of columns, each with the sum of its weighted multiples.

    Examples
    --------
    >>> merged([(3, 1), (6, 2), (0, 0), (1, 6)])
    {(3, 1): 3, (1, 6): 1}
    """
    sums: dict[Column, int] = {}
    for column, weight in zip(columns, weights, strict=False):
        scale = math.gcd(*column)
        if scale:
            direction = tuple(entry // scale for entry in column)
            sums[direction] = sums.get(direction, 0) + weight * scale
    return sums


def product(channels: Iterable[Channel]) -> Channel:
    """Return independent releases about X as one channel; outputs of equal posterior are merged.

    The result is exact: its bits are the sum of theirs. Every notion applies to it.

    Parameters
    ----------
    channels
        Channels on the same inputs.

    Raises
    ------
    InputError
        If their inputs differ.
    UnsupportedError
        If more than 100,000 columns are left after merging.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> product([warner, warner])
    Channel(2 inputs, 3 outputs, exact over 2**124)
            0       1       2
    0  0.5625  0.3750  0.0625
    1  0.0625  0.3750  0.5625
    """
    listed = same_inputs(channels)
    kept: dict[Column, int] = {(1,) * len(listed[0].inputs): 1}
    for channel in listed:
        kept = _times(kept, merged(channel.columns()))
        _check_size(kept)
    columns = [[weight * entry for entry in column] for column, weight in kept.items()]
    rows = list(zip(*columns, strict=True))
    return Channel(rows, inputs=listed[0].inputs, bits=sum(c.bits for c in listed))


def adaptive(first: Channel, seconds: Iterable[Channel]) -> Channel:
    """Return two releases, the second by a channel that is chosen by what the first sent.

    Parameters
    ----------
    first
        The first channel.
    seconds
        One channel for each output of the first, in order, all on its inputs.

    Returns
    -------
    Channel
        Its outputs are pairs, numbered in order.

    Raises
    ------
    InputError
        If the channels do not fit.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> silent = Channel.from_matrix([[1], [1]])
    >>> adaptive(warner, [warner, silent])
    Channel(2 inputs, 3 outputs, exact over 2**124)
            0       1       2
    0  0.5625  0.1875  0.2500
    1  0.0625  0.1875  0.7500
    """
    others = channels_of(seconds, "seconds")
    if len(others) != len(as_channel(first, "first").outputs):
        expected = f"{len(first.outputs)} channels, one for each output of the first"
        raise InputError("seconds", expected, len(others))
    same_inputs([first, *others])
    bits = max(channel.bits for channel in others)
    columns = [
        [(a << (bits - second.bits)) * b for a, b in zip(column, other, strict=True)]
        for column, second in zip(first.columns(), others, strict=True)
        for other in second.columns()
    ]
    rows = list(zip(*columns, strict=True))
    return Channel(rows, inputs=first.inputs, bits=first.bits + bits)


def max_ratio_columns(channels: Iterable[Channel]) -> list[Column]:
    """Return columns of the product among which every largest ratio or lift is attained.

    Each of these is the maximum over outputs of a function f of the column that is quasi-convex
    and does not depend on its scale: q_x / q_x', q_x / (P . q) and (P . q) / q_x. If q is a mixture
    of columns r_j, then f(q * s) <= max_j f(r_j * s) for every s, so q may be dropped. That q is a
    mixture is found in floating point (NNLS) and checked in rationals.
    """
    listed = same_inputs(channels)
    kept: dict[Column, int] = {(1,) * len(listed[0].inputs): 1}
    for channel in listed:
        kept = _times(kept, merged(_pruned(list(merged(channel.columns())))))
        kept = dict.fromkeys(_pruned(list(kept)), 1)
        _check_size(kept)
    return list(kept)


def _times(left: dict[Column, int], right: dict[Column, int]) -> dict[Column, int]:
    """Return all products of two columns, those that are equal up to scale as one."""
    pairs = list(itertools.product(left, right))
    weights = (left[a] * right[b] for a, b in pairs)
    return merged((tuple(map(mul, a, b)) for a, b in pairs), weights)


def _check_size(columns: dict[Column, int]) -> None:
    if len(columns) > MOST_COLUMNS:
        expected = f"releases with at most {MOST_COLUMNS} columns after merging"
        raise UnsupportedError("channels", expected, f"{len(columns)} columns")


def _pruned(columns: list[Column]) -> list[Column]:
    """Return the columns less some that are mixtures of those returned."""
    if len(columns) <= PRUNED_ABOVE or len(columns[0]) > PRUNED_SIZE:
        return columns
    shapes = np.array([[entry / sum(column) for entry in column] for column in columns])
    corners = {int(x) for x in shapes.argmax(axis=0)} | {int(x) for x in shapes.argmin(axis=0)}
    spread = shapes.max(axis=1) - shapes.min(axis=1)
    order = sorted(range(len(columns)), key=lambda n: (n not in corners, -spread[n], n))
    kept: list[int] = []
    for n in order:
        if n in corners or not _is_mixture(n, kept, columns, shapes):
            kept.append(n)
    return [columns[n] for n in sorted(kept)]


def _is_mixture(
    n: int, kept: list[int], columns: list[Column], shapes: npt.NDArray[np.float64]
) -> bool:
    """Return whether a column is for sure a nonnegative combination of those kept."""
    try:
        weights, rest = called("NNLS", scipy.optimize.nnls, shapes[kept].T, shapes[n])
        weights = checked("NNLS", weights, (len(kept),))
    except SolverError:  # such as an active-set iteration that cycles
        return False
    if rest > CLOSE:
        return False
    parts = [columns[kept[i]] for i in np.flatnonzero(weights)]
    equations = [
        ({j: part[x] for j, part in enumerate(parts)}, entry) for x, entry in enumerate(columns[n])
    ]
    exact = solved(equations, len(parts))
    return exact is not None and min(exact) >= 0
