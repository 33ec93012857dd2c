"""Products of channels: several independent releases about one input as one channel.

The columns of independent releases of X are the entrywise products q1 * q2 * ... of columns.
Proportional columns have the same posterior and are merged, in integers, so n uses of one channel
with m outputs have at most C(n + m - 1, n) columns.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import mul
from typing import Any, TypeAlias

from mechdesign.channel import Channel, as_channel
from mechdesign.errors import InputError, UnsupportedError, listed

Column: TypeAlias = tuple[int, ...]
"""A column in lowest terms: integers without a common divisor."""

MOST_COLUMNS = 200_000
"""Maximum number of columns after merging."""


def channels_of(given: Any, key: str = "channels") -> list[Channel]:
    """Return a nonempty list of channels, or raise InputError."""
    found = listed(given, key, "a list of channels")
    if not found:
        raise InputError(key, "at least one channel", "none")
    return [as_channel(channel, f"{key}[{n}]") for n, channel in enumerate(found)]


def same_inputs(channels: Iterable[Channel]) -> list[Channel]:
    """Return a nonempty list of channels on the same inputs, or raise InputError."""
    found = channels_of(channels)
    for n, channel in enumerate(found):
        if channel.inputs != found[0].inputs:
            expected = f"the inputs of the first, {found[0].inputs!r}"
            raise InputError(f"channels[{n}]", expected, repr(channel.inputs))
    return found


def merged(
    columns: Iterable[Sequence[int]], weights: Iterable[int] = repeat(1)
) -> dict[Column, int]:
    """Return the distinct directions of columns, each with the sum of its weighted multiples.

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

    The result is exact: its bits are the sum of the bits of the channels. Every notion applies.

    Parameters
    ----------
    channels
        Channels on the same inputs.

    Raises
    ------
    InputError
        If their inputs differ.
    UnsupportedError
        If more than 200,000 columns are left after merging.

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
    kept = product_columns(listed)
    columns = [[weight * entry for entry in column] for column, weight in kept.items()]
    rows = list(zip(*columns, strict=True))
    return Channel(rows, inputs=listed[0].inputs, bits=sum(c.bits for c in listed))


def adaptive(first: Channel, seconds: Iterable[Channel]) -> Channel:
    """Return two releases as one channel; the output of the first selects the second channel.

    Parameters
    ----------
    first
        The first channel.
    seconds
        One channel for each output of the first, in order, all on its inputs.

    Returns
    -------
    Channel
        Its outputs are the pairs of outputs, numbered in order.

    Raises
    ------
    InputError
        If the inputs of the channels differ, or their number is wrong.

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


def product_columns(channels: Sequence[Channel]) -> dict[Column, int]:
    """Return the directions of the columns of a product, each with the sum of its multiples.

    Raises
    ------
    UnsupportedError
        If there are more than 200,000.
    """
    kept: dict[Column, int] = {(1,) * len(channels[0].inputs): 1}
    for channel in channels:
        kept = _times(kept, merged(channel.columns()))
        if len(kept) > MOST_COLUMNS:
            expected = f"releases with at most {MOST_COLUMNS} columns after merging"
            raise UnsupportedError("channels", expected, f"{len(kept)} columns")
    return kept


def _times(left: dict[Column, int], right: dict[Column, int]) -> dict[Column, int]:
    """Return all products of two columns, with proportional products merged."""
    pairs = list(itertools.product(left, right))
    weights = (left[a] * right[b] for a, b in pairs)
    return merged((tuple(map(mul, a, b)) for a, b in pairs), weights)
