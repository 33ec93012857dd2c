"""Numbers as doubles: converted from user input, and checked against an interval."""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import InputError, listed, shown

__all__ = ["OUTSIDE", "doubles_of", "within"]

OUTSIDE = ("refuse", "clip")
"""The policies for numbers outside the interval."""


def doubles_of(values: Any, key: str) -> FloatArray:
    """Return numbers as doubles, rounded to the nearest one.

    Parameters
    ----------
    values
        ``(n,)`` numbers: a NumPy array, a Series, or a list of numbers of any kind.
    key
        How to name them in an error, which adds the place, counted from 0.

    Raises
    ------
    InputError
        If one is no real number. NaN and infinities pass.

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
        Those of the interval, which belong to it where they are finite.
    outside
        ``"refuse"`` what lies outside, infinities included, or ``"clip"`` it to the nearer end.
    key, numbers
        How to name the values and the interval in an error.

    Raises
    ------
    InputError
        If a value is refused; NaN always is. The key names the first one's place.
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
