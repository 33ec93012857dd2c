"""Estimands: the population, or exactly the records that were reported on, with their errors."""

from __future__ import annotations

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import choose

__all__ = ["POPULATION", "TARGETS", "check_target", "standard_error"]

POPULATION = "population"

TARGETS = {
    POPULATION: "what the records are an independent sample of",
    "respondents": "the frequencies among exactly these records",
}
"""What is estimated, by its name."""


def check_target(target: object) -> None:
    """Raise InputError unless a target is one of TARGETS."""
    choose(TARGETS, target, "target")


def standard_error(
    square: FloatArray, of_mean: FloatArray, truth: FloatArray | None, n: int
) -> FloatArray:
    """Return the standard errors of means of n scores s, for one estimate or many.

    For the population, (E s**2 - (E s)**2) / (n - 1): both the records and the reports vary. With
    the sample means of the n scores, its expectation is the true variance. For a single report it
    is not known: NaN. For the respondents, (E s**2 - E (E[s | X])**2) / n: only the reports vary.

    Parameters
    ----------
    square, of_mean
        E s**2 and (E s)**2.
    truth
        E (E[s | X])**2: for the score of Sum_x w_x p_x it is Sum_x w_x**2 p_x. None for the
        population.
    n
        How many reports there are.
    """
    center, freedom = (of_mean, n - 1) if truth is None else (truth, n)
    if not freedom:
        return np.full(np.shape(square), np.nan)
    return np.sqrt(np.maximum(square - center, 0.0) / freedom)
