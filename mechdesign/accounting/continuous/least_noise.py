"""The least noise at which a claim holds: bisection by verdicts with proof."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mechdesign.exact.enclosures import Bounds

__all__ = ["least_noise", "within"]


def within(found: Bounds, limit: float | Fraction) -> bool | None:
    """Return whether an enclosed number is at most a limit; None where that is not decided.

    Examples
    --------
    >>> within(Bounds(1.0, 2.0), 2), within(Bounds(1.0, 2.0), 0.5), within(Bounds(1.0, 2.0), 1.5)
    (True, False, None)
    """
    if Fraction(found.high) <= limit:
        return True
    return None if Fraction(found.low) <= limit else False


def least_noise(holds: Callable[[float], bool | None], start: float, relative: float) -> Bounds:
    """Return bounds on the least noise at which a claim holds.

    At the upper bound it is proved to hold, at the lower bound proved not to.

    Parameters
    ----------
    holds
        Whether it holds at some noise; None where that is not decided.
    start
        Where to begin.
    relative
        How far apart the bounds may be, relative to them. They are farther apart where a verdict
        between them is not decided.

    Examples
    --------
    >>> low, high = least_noise(lambda noise: noise * noise >= 2, 1.0, 1e-9)
    >>> low < 2**0.5 <= high < low * (1 + 1e-9)
    True
    """
    high = start
    while holds(high) is not True:
        high *= 2
    low = high / 2
    while (verdict := holds(low)) is not False:
        low, high = low / 2, low if verdict else high
    while high - low > relative * high:
        verdict = holds(middle := (low + high) / 2)
        if verdict is None:
            break
        low, high = (low, middle) if verdict else (middle, high)
    return Bounds(low, high)
