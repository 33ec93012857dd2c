"""Estimands: the population, or exactly the records that were reported on, with their variances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import choose

__all__ = ["TARGETS", "Moments", "check_target"]


@dataclass(frozen=True)
class Moments:
    """The moments that the variance of a mean of scores s depends on, for one estimate or many.

    Attributes
    ----------
    square
        E s**2.
    of_mean
        (E s)**2.
    truth
        E (E[s | X])**2: for the score of Sum_x w_x p_x it is Sum_x w_x**2 p_x.
    """

    square: FloatArray
    of_mean: FloatArray
    truth: FloatArray


def _population(moments: Moments, n: int) -> FloatArray:
    """Return (E s**2 - (E s)**2) / (n - 1): both the records and the reports vary.

    With the sample means of the n scores, its expectation is the true variance. For a single
    report it is not known: NaN.
    """
    if n < 2:
        return np.full(np.shape(moments.square), np.nan)
    return np.asarray(np.maximum(moments.square - moments.of_mean, 0.0) / (n - 1))


def _respondents(moments: Moments, n: int) -> FloatArray:
    """Return (E s**2 - E (E[s | X])**2) / n: the records are fixed, only the reports vary."""
    return np.asarray(np.maximum(moments.square - moments.truth, 0.0) / n)


TARGETS: dict[str, Callable[[Moments, int], FloatArray]] = {
    "population": _population,
    "respondents": _respondents,
}
"""The variance of an estimate, by the name of what is estimated."""


def check_target(target: object) -> Callable[[Moments, int], FloatArray]:
    """Return the variance for a target.

    Raises
    ------
    InputError
        If it is not one of TARGETS.
    """
    return choose(TARGETS, target, "target")
