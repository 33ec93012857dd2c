"""Quantiles of an estimated distribution, with confidence sets as in Woodruff 1952."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from mechdesign._typing import FloatArray, Int64Array
from mechdesign.domain import Domain, whole_number
from mechdesign.errors import InputError, shown
from mechdesign.sampling import pieces

CELLS = 1 << 22
"""Maximum number of weights held at once."""

ROUNDING = 1e-12
"""Rounding error allowed in a cumulative sum in floating point."""


@dataclass(frozen=True)
class Quantile:
    """A quantile: the least value v with Pr(X <= v) >= q.

    Attributes
    ----------
    q
        The probability of the quantile.
    value
        The estimate, a value of the domain.
    low, high
        The ends of the confidence set, values of the domain.
    confidence
        A lower bound on the asymptotic coverage probability of the set.
    """

    q: float
    value: float
    low: float
    high: float
    confidence: float


def share(value: Any, key: str) -> float:
    """Return a number strictly between 0 and 1, or raise InputError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise InputError(key, "a number above 0 and below 1", shown(value))
    return float(value)


def normal_quantile(confidence: float, parts: int = 1) -> float:
    """Return z such that ``parts`` intervals of +- z standard errors hold simultaneously.

    Raises
    ------
    InputError
        If the confidence is not above 0 and below 1.

    Examples
    --------
    >>> round(normal_quantile(0.95), 4), round(normal_quantile(0.95, parts=10), 4)
    (1.96, 2.807)
    """
    left = (1 - share(confidence, "confidence")) / (2 * whole_number(parts, "parts"))
    return -float(ndtri(left))


def quantile_of(
    inputs: Domain,
    values: FloatArray,
    deviation: Callable[[FloatArray], FloatArray],
    q: float,
    confidence: float,
) -> Quantile:
    """Return the quantile of an estimate by inverting the intervals of its cumulative sums.

    Let F_j be the estimate of Pr(X <= v_j), s_j its standard error, and J the true quantile. Since
    Pr(X <= v_J) >= q, F_J + z s_J >= q is likely, so the first j with F_j + z s_j >= q is at most
    J; since Pr(X <= v_(J-1)) < q, F_(J-1) - z s_(J-1) < q is likely, so the last such j is at least
    J - 1. Each event fails with probability (1 - confidence) / 2, whether F is monotone or not. F_k
    is set to 1. The estimate is the quantile of the mean of the running maximum of F from the left
    and the running minimum from the right, which is monotone; it lies in the set.

    Parameters
    ----------
    inputs
        A domain of numbers.
    values
        ``(n_inputs,)`` estimated frequencies.
    deviation
        Standard errors of linear combinations.
    q, confidence
        Above 0 and below 1.

    Raises
    ------
    InputError
        If the inputs are not numbers, or a parameter is out of range.

    Notes
    -----
    Source: Woodruff 1952.
    """
    if inputs.numbers is None:
        raise InputError("inputs", "a domain of numbers, which have an order", repr(inputs))
    q, z = share(q, "q"), normal_quantile(confidence)
    k = len(inputs)
    order = sorted(range(k), key=lambda x: inputs.numbers[x])  # type: ignore[index]
    F = np.append(np.cumsum(values[order])[:-1], 1.0)
    monotone = (np.maximum.accumulate(F) + np.minimum.accumulate(F[::-1])[::-1]) / 2
    q_down = q - ROUNDING
    margin = z * np.append(_of_sums(deviation, np.array(order)), 0.0)
    margin[np.isnan(margin)] = np.inf
    places = [
        int(np.argmax(monotone >= q_down)),
        int(np.argmax(F + margin >= q_down)),
        int(np.flatnonzero(np.append(True, F - margin < q_down))[-1]),
    ]
    value, low, high = (float(inputs.numbers[order[place]]) for place in places)
    return Quantile(q, value, low, high, float(confidence))


def _of_sums(deviation: Callable[[FloatArray], FloatArray], order: Int64Array) -> FloatArray:
    """Return the standard errors of the sums of the first 1, 2, ..., k - 1 inputs in order."""
    k = len(order)
    found, place = np.zeros(k - 1), np.argsort(order)
    for piece in pieces(k - 1, max(1, CELLS // k)):
        ends = np.arange(piece.start, piece.stop)[:, None]
        found[piece] = deviation((place <= ends).astype(np.float64))
    return found
