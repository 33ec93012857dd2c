"""Unbiased estimates for a channel by generalized least squares (the Gauss-Markov estimator)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.domain import Domain
from mechdesign.errors import InputError
from mechdesign.mechanisms import Frequencies
from mechdesign.prior import Prior, prior_on
from mechdesign.reports import Tally
from mechdesign.solver_guard import called, check_product, checked

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

    ``square`` is E s**2, ``of_mean`` (E s)**2, and ``truth`` E (E[s | X])**2, which for the score
    of Sum_x w_x p_x is Sum_x w_x**2 p_x; None for the population.
    """
    center, freedom = (of_mean, n - 1) if truth is None else (truth, n)
    if not freedom:
        return np.full(np.shape(square), np.nan)
    return np.sqrt(np.maximum(square - center, 0.0) / freedom)


LEAST_SINGULAR = 1e-9
"""Directions with a smaller singular value, relative to the largest, are not identifiable.

A standard error of 1 in such a direction would take 10**18 reports, and rounding the matrix to
doubles would affect the estimate.
"""

MOST_NAMED = 6


def reference_distribution(prior: Any, inputs: Domain) -> FloatArray:
    """Return the probabilities of a prior on the inputs, by default the uniform one."""
    if prior is None:
        return np.full(len(inputs), 1 / len(inputs))
    return np.asarray(prior_on(prior, inputs).array)


class ColumnScores:
    """The least-squares scores at a reference, for the columns of one or more channels, by one SVD.

    The scores are unbiased for any reference p, and have the least variance of all linear unbiased
    scores at p. With lambda = p Q and B = Q Lambda**(-1/2), the information matrix is M = B B'.
    Among the scores a with Q a = w, whose means are unbiased for w . p, the least variance at p is
    that of a = Lambda**-1 Q' M**-1 w. This is Lambda**(-1/2) c for the shortest c with B c = w, or
    equivalently with (D B) c = D w for a diagonal D > 0. Here D scales the rows to length 1, so the
    condition number is at most sqrt(k) times the minimum over D (van der Sluis 1969).

    If Q does not have full rank the inverse is the Moore-Penrose inverse, and w . p is estimable
    only if w is a combination of columns of Q.

    Columns may be those of several channels side by side, each times its share of the reports. At
    the ``reference`` the variance is least.
    """

    def __init__(self, columns: FloatArray, reference: FloatArray, inputs: Domain) -> None:
        self.inputs, self._size = inputs, columns.shape[1]
        self._columns = columns
        self._used = columns.any(axis=0)
        outputs = reference @ columns[:, self._used]
        if (outputs <= 0).any():
            raise InputError(
                "prior",
                "a prior under which every output of the channel can occur",
                "one that rules an output out",
                "smooth it",
            )
        self._root = np.sqrt(outputs)
        B = columns[:, self._used] / self._root
        self._scale = 1 / np.sqrt((B**2).sum(axis=1))
        B = self._scale[:, None] * B
        found = called("LAPACK", scipy.linalg.svd, B, full_matrices=False)
        (k, m), n = B.shape, min(B.shape)
        U = checked("LAPACK", found[0], (k, n))
        s = checked("LAPACK", found[1], (n,))
        Vt = checked("LAPACK", found[2], (n, m))
        check_product("LAPACK", (U * s) @ Vt, B)
        self.rank = int((s > LEAST_SINGULAR * s[0]).sum())
        self._left, self._singular, self._right = U[:, : self.rank], s[: self.rank], Vt[: self.rank]
        rounding = 64 * max(columns.shape) * np.finfo(np.float64).eps
        self._tolerance = rounding * s[0] / s[self.rank - 1]

    @property
    def identifies(self) -> bool:
        """Whether the reports determine the whole distribution."""
        return self.rank == len(self.inputs)

    def estimable(self, weights: FloatArray) -> BoolArray:
        """Return for each row w of ``(n, n_inputs)`` whether w . p has an unbiased estimate.

        That is, whether w is a combination of columns of Q, up to rounding.
        """
        target = weights * self._scale
        inside = (target @ self._left) @ self._left.T
        off = np.sqrt(((target - inside) ** 2).sum(axis=1))
        size = np.sqrt((target**2).sum(axis=1))
        return np.asarray(off <= self._tolerance * size)

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return ``(n, n_outputs)`` scores for the rows of ``(n, n_inputs)`` weights."""
        if not self.identifies and not self.estimable(weights).all():
            raise self._unidentified()
        target = (weights * self._scale) @ self._left
        found = np.zeros((len(weights), self._size))
        found[:, self._used] = (target / self._singular) @ self._right / self._root
        return found

    @cached_property
    def table(self) -> FloatArray:
        """``(n_inputs, n_outputs)`` scores A with Sum_y Q[x,y] A[:,y] = e_x."""
        return self.scores(np.eye(len(self.inputs)))

    def frequencies(self, tally: Tally) -> Frequencies:
        """Return the means and mean squares of the scores of all inputs."""
        h = tally.counts / tally.total
        return Frequencies(self.table @ h, self.table**2 @ h)

    def combinations(self, tally: Tally, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means and the mean squares of the scores of combinations."""
        scores, h = self.scores(weights), tally.counts / tally.total
        return scores @ h, scores**2 @ h

    def variances(self, prior: Prior) -> FloatArray:
        """Return n times the variances of the estimated frequencies at a prior."""
        p = prior.array
        return np.asarray(self.table**2 @ (p @ self._columns) - p**2)

    def _unidentified(self) -> InputError:
        return InputError(
            "channel",
            "independent rows, so that the reports determine what is asked",
            f"{self.rank} independent rows of {len(self.inputs)}",
            f"without bias one can estimate {self._estimable_sets()}; for the rest use "
            "method='maximum-likelihood' (--method), or posterior_mean with a prior",
        )

    def _estimable_sets(self) -> str:
        """Name the inputs, and the sets of inputs with equal rows, with estimable frequencies."""
        _, row = np.unique(self._columns, axis=0, return_inverse=True)
        sets = row.ravel() == np.arange(row.max() + 1)[:, None]
        sets = sets[self.estimable(sets.astype(np.float64)) & ~sets.all(axis=1)]
        some = sorted((np.flatnonzero(members) for members in sets), key=lambda m: int(m[0]))
        if not some:
            return "only sums of columns of the channel (see mean)"
        labels = self.inputs.labels
        names = [
            repr(labels[m[0]]) if len(m) == 1 else f"{{{', '.join(repr(labels[x]) for x in m)}}}"
            for m in some[:MOST_NAMED]
        ]
        return f"the frequency of {', '.join(names)}" + ", ..." * (len(some) > MOST_NAMED)
