"""Estimands: the population or the respondents, with their standard errors."""

from __future__ import annotations

import numpy as np

from mechdesign._typing import FloatArray

POPULATION = "population"

TARGETS = {
    POPULATION: "what the records are an independent sample of",
    "respondents": "the frequencies among exactly these records",
}
"""Descriptions of the estimands by name."""


def standard_error(
    square: FloatArray, of_mean: FloatArray, truth: FloatArray | None, n: int
) -> FloatArray:
    """Return the standard errors of means of n scores s, for one estimate or many.

    For the population the variance is (E s**2 - (E s)**2) / (n - 1): both the records and the
    reports vary. With the sample means of the n scores it is unbiased; for a single report it is
    NaN. For the respondents it is (E s**2 - E (E[s | X])**2) / n: only the reports vary.

    Parameters
    ----------
    square, of_mean
        E s**2 and (E s)**2.
    truth
        E (E[s | X])**2: for the score of Sum_x w_x p_x it is Sum_x w_x**2 p_x. None for the
        population.
    n
        Number of reports.
    """
    center, freedom = (of_mean, n - 1) if truth is None else (truth, n)
    if not freedom:
        return np.full(np.shape(square), np.nan)
    return np.sqrt(np.maximum(square - center, 0.0) / freedom)
