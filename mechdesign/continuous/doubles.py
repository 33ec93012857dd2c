"""Numbers as doubles: converted from user input, and checked against an interval."""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import InputError, listed, shown

OUTSIDE = ("refuse", "clip")
"""The options for numbers outside the interval."""


def doubles_of(values: Any, key: str) -> FloatArray:
    """Return numbers as doubles, rounded to the nearest one.

    Parameters
    ----------
    values
        ``(n,)`` numbers: a NumPy array, a Series, or a list of numbers of any kind.
    key
        Their name in an error, which adds the position, from 0.

    Raises
    ------
    InputError
        If a value is not a real number. NaN and infinities are allowed.

    Examples
    --------
    >>> from fractions import Fraction
    >>> doubles_of([1, Fraction(1, 2), 1e-310], "values").tolist()
    [1.0, 0.5, 1e-310]
    """
    array = np.asarray(values) if hasattr(values, "__array__") else np.empty(0, dtype=object)
    if array.ndim == 1 and array.dtype.kind in "iuf":
        with np.errstate(over="ignore"):  # a long double may become infinite
            return array.astype(np.float64, copy=False)
    if isinstance(values, set | frozenset):
        raise InputError(key, "a list, in the order of the records", "a set")
    entries = listed(values, key, "a list of numbers")
    return np.array([_double(value, f"{key}[{n}]") for n, value in enumerate(entries)], dtype=float)


def _double(value: Any, key: str) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real | Decimal):
        raise InputError(key, "a number", shown(value))
    try:
        return float(value)
    except OverflowError:
        return math.inf if value == abs(value) else -math.inf
    except ValueError:  # a signaling NaN
        return math.nan


def within(
    values: FloatArray, ends: tuple[float, float], outside: Any, key: str, numbers: str
) -> FloatArray:
    """Return doubles that lie in an interval.

    Parameters
    ----------
    values
        ``(n,)`` doubles.
    ends
        Those of the interval, which includes its finite ends.
    outside
        ``"refuse"`` numbers outside, infinities included, or ``"clip"`` them to the nearer end.
    key, numbers
        The names of the values and of the interval in an error.

    Raises
    ------
    InputError
        If a value is rejected, as NaN always is. The key has the position of the first one.
    """
    if outside not in OUTSIDE:
        raise InputError("outside", "'refuse' or 'clip'", shown(outside))
    low, high = ends
    clips = outside == "clip"
    bad = np.isnan(values) if clips else ~((values >= low) & (values <= high) & np.isfinite(values))
    if bad.any():
        n = int(np.argmax(bad))
        hint = "" if clips or np.isnan(values[n]) else 'outside="clip" takes the nearer end instead'
        raise InputError(f"{key}[{n}]", f"numbers of {numbers}", shown(float(values[n])), hint)
    return np.clip(values, low, high) if clips else values
