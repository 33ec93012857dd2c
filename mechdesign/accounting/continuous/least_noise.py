"""The least noise at which a claim holds, by bisection with proved decisions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mechdesign.exact.enclosures import Bounds

__all__ = ["least_noise", "within"]


def within(found: Bounds, limit: float | Fraction) -> bool | None:
    """Return whether an enclosed number is at most a limit; None if undecided.

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

    The claim provably holds at the upper bound, and provably fails at the lower bound.

    Parameters
    ----------
    holds
        Whether the claim holds at a noise level; None if undecided.
    start
        The initial noise level.
    relative
        The relative width of the bounds. They are wider if a claim between them is undecided.

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
