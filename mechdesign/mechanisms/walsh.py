"""The fast Walsh-Hadamard transform, H[a, b] = (-1)**popcount(a & b)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def walsh_hadamard(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return H @ values in K log2(K) additions, exactly in integers.

    Parameters
    ----------
    values
        ``(..., K)`` machine or Python integers, K a power of 2; the last axis is transformed.

    Examples
    --------
    >>> walsh_hadamard(np.array([3, 1, 0, 2]))
    array([6, 0, 2, 4])
    """
    shape = values.shape
    table = values
    half = shape[-1] // 2
    while half:
        pairs = table.reshape(*shape[:-1], -1, 2, half)
        first, second = pairs[..., 0, :], pairs[..., 1, :]
        table = np.stack([first + second, first - second], axis=-2).reshape(shape)
        half //= 2
    return table


def parity(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """Return popcount(n) mod 2 of nonnegative integers.

    Examples
    --------
    >>> parity(np.array([0, 1, 3, 7]))
    array([0, 1, 0, 1], dtype=uint8)
    """
    return np.bitwise_count(numbers) & np.uint8(1)
