"""Scores of reports whose mean is an unbiased estimate: generalised least squares."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mechdesign._typing import FloatArray
from mechdesign.domain import Domain
from mechdesign.errors import InputError
from mechdesign.estimation.counts import Source
from mechdesign.mechanisms import Frequencies, Mechanism
from mechdesign.prior import Prior
from mechdesign.reports import Tally

__all__ = ["ColumnScores", "Information", "Scores", "combinations", "reference_law", "scores_of"]


LEAST_SINGULAR = 1e-9
"""Directions whose singular value is below this share of the largest count as not identifiable.

A standard error of 1 in such a direction would take 10**18 reports, and the rounding of the matrix
to doubles would be seen in its estimate.
"""

MOST_NAMED = 6


class Scores(Protocol):
    """What gives a score to each report; a structured mechanism is one itself."""

    @property
    def inputs(self) -> Domain:
        """The inputs."""

    def frequencies(self, tally: Tally) -> Frequencies:
        """Return the means and mean squares of the scores of all inputs."""

    def combination(self, tally: Tally, weights: FloatArray) -> tuple[float, float]:
        """Return the mean and the mean square of the score of Sum_x w_x p_x."""


def scores_of(mechanism: Source, prior: Prior | None = None) -> Scores:
    """Return the scores of a mechanism: its own, or least squares for a Channel.

    Parameters
    ----------
    mechanism
        A Channel or a Mechanism.
    prior
        For a Channel, where the variance is to be least; default the uniform prior.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> value, square = scores_of(warner).combination(Tally(np.array([6, 4]), 10), np.eye(2)[0])
    >>> round(value, 12), round(square, 12)
    (0.7, 1.45)
    """
    if isinstance(mechanism, Mechanism):
        return mechanism
    law = reference_law(prior, len(mechanism.inputs))
    return ColumnScores(mechanism.matrix, law, mechanism.inputs)


def reference_law(prior: Any, size: int) -> FloatArray:
    """Return the probabilities of a prior, by default the uniform one.

    Raises
    ------
    InputError
        If it has another number of inputs.
    """
    if prior is None:
        return np.full(size, 1 / size)
    if not isinstance(prior, Prior) or len(prior) != size:
        given = f"{len(prior)}" if isinstance(prior, Prior) else type(prior).__name__
        raise InputError("prior", f"a Prior of {size} probabilities", given)
    return np.asarray(prior.array)


def combinations(
    scores: Scores, tally: Tally, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return means and mean squares of the scores of many combinations, ``(n, n_inputs)``."""
    if isinstance(scores, ColumnScores):
        return scores.combinations(tally, weights)
    found = np.array([scores.combination(tally, row) for row in weights]).reshape(-1, 2)
    return found[:, 0], found[:, 1]


class Information:
    """What the outputs of a channel tell of the distribution, by one singular value decomposition.

    With lambda = p Q and B = Q Lambda**(-1/2), the information matrix is M = B B'. Of the scores a
    with Q a = w, whose mean estimates w . p without bias, a = Lambda**-1 Q' M**-1 w has the least
    variance at p. It is Lambda**(-1/2) c for the shortest c with B c = w, and so also for the
    shortest c with (D B) c = D w for any diagonal D > 0: D here scales the rows to length 1, which
    brings the ratio of singular values to within sqrt(k) of the least that any D can.

    Where Q has not full rank the inverse is the Moore-Penrose one, and only those w can be
    estimated that are combinations of columns of Q.

    Parameters
    ----------
    columns
        ``(n_inputs, n_outputs)`` probabilities; or those of several channels side by side, each
        times its share of the reports.
    law
        ``(n_inputs,)`` the reference p.
    inputs
        Their names, for the messages.

    Raises
    ------
    InputError
        If an output that can occur has probability 0 at the reference.
    """

    def __init__(self, columns: FloatArray, law: FloatArray, inputs: Domain) -> None:
        self.inputs, self._size = inputs, columns.shape[1]
        self._columns = columns
        self._used = columns.any(axis=0)
        outputs = law @ columns[:, self._used]
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
        U, s, Vt = scipy.linalg.svd(self._scale[:, None] * B, full_matrices=False)
        self.rank = int((s > LEAST_SINGULAR * s[0]).sum())
        self._left, self._singular, self._right = U[:, : self.rank], s[: self.rank], Vt[: self.rank]
        rounding = 64 * max(columns.shape) * np.finfo(np.float64).eps
        self._tolerance = rounding * s[0] / s[self.rank - 1]

    @property
    def identifies(self) -> bool:
        """Whether the reports determine the whole distribution."""
        return self.rank == len(self.inputs)

    def estimable(self, weights: FloatArray) -> npt.NDArray[np.bool_]:
        """Return for each row w of ``(n, n_inputs)`` whether w . p can be estimated without bias.

        It can be where w is a combination of columns of Q, to within rounding.
        """
        target = weights * self._scale
        inside = (target @ self._left) @ self._left.T
        off = np.sqrt(((target - inside) ** 2).sum(axis=1))
        size = np.sqrt((target**2).sum(axis=1))
        return np.asarray(off <= self._tolerance * size)

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return ``(n, n_outputs)`` scores for the rows of ``(n, n_inputs)`` weights.

        Raises
        ------
        InputError
            If one of them cannot be estimated; the message says what can be.
        """
        if not self.identifies and not self.estimable(weights).all():
            raise self._unidentified()
        target = (weights * self._scale) @ self._left
        found = np.zeros((len(weights), self._size))
        found[:, self._used] = (target / self._singular) @ self._right / self._root
        return found

    def covariance(self, law: FloatArray) -> FloatArray:
        """Return n Cov of the estimate of the whole distribution where ``law`` is the true one."""
        A = self.scores(np.eye(len(self.inputs)))
        return np.asarray((A * (law @ self._columns)) @ A.T - np.outer(law, law))

    def _unidentified(self) -> InputError:
        return InputError(
            "channel",
            "independent rows, so that the reports determine what is asked",
            f"{self.rank} independent rows of {len(self.inputs)}",
            f"without bias one can estimate {self._possible()}; for the rest use "
            "method='maximum-likelihood', or posterior_mean with a prior",
        )

    def _possible(self) -> str:
        """Name inputs, and sets of inputs with equal rows, whose frequency can be estimated."""
        k = len(self.inputs)
        _, first = np.unique(self._columns, axis=0, return_inverse=True)
        members = [np.flatnonzero(first.ravel() == i) for i in range(int(first.max()) + 1)]
        some = [m for m in members if len(m) < k and self.estimable(_indicator(m, k)).all()]
        some.sort(key=lambda m: int(m[0]))
        if not some:
            return "only sums of columns of the channel (see mean)"
        labels = self.inputs.labels
        names = [
            repr(labels[m[0]]) if len(m) == 1 else f"{{{', '.join(repr(labels[x]) for x in m)}}}"
            for m in some[:MOST_NAMED]
        ]
        return f"the frequency of {', '.join(names)}" + ", ..." * (len(some) > MOST_NAMED)


def _indicator(members: npt.NDArray[np.intp], size: int) -> FloatArray:
    row = np.zeros((1, size))
    row[0, members] = 1
    return row


class ColumnScores:
    """The least-squares scores at a reference law, for the columns of one or more channels.

    They are unbiased whatever the reference; there, no other linear ones have less variance.
    Parameters and errors are those of :class:`Information`.
    """

    def __init__(self, columns: FloatArray, law: FloatArray, inputs: Domain) -> None:
        self.inputs = inputs
        self.information = Information(columns, law, inputs)
        self._scores: FloatArray | None = None

    @property
    def table(self) -> FloatArray:
        """``(n_inputs, n_outputs)`` scores A with Sum_y Q[x,y] A[:,y] = e_x."""
        if self._scores is None:
            self._scores = self.information.scores(np.eye(len(self.inputs)))
        return self._scores

    def frequencies(self, tally: Tally) -> Frequencies:
        """Return the means and mean squares of the scores of all inputs."""
        h = tally.counts / tally.total
        return Frequencies(self.table @ h, self.table**2 @ h)

    def combination(self, tally: Tally, weights: FloatArray) -> tuple[float, float]:
        """Return the mean and the mean square of the score of Sum_x w_x p_x."""
        mean, square = self.combinations(tally, np.asarray(weights, dtype=np.float64)[None, :])
        return float(mean[0]), float(square[0])

    def combinations(self, tally: Tally, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the same for each row of ``(n, n_inputs)`` weights."""
        scores = self.information.scores(weights)
        h = tally.counts / tally.total
        return scores @ h, scores**2 @ h
