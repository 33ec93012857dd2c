"""A lower bound on the expected error of the best attack as a notion of privacy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mechdesign.domain import Domain
from mechdesign.errors import InputError, known_word
from mechdesign.exact import Exact
from mechdesign.notions.metric import points_of
from mechdesign.notions.non_conic.base import GuessNotion, in_words, positive
from mechdesign.tables import ExactTable

HAMMING = "hamming"
NAMES = (HAMMING, "absolute", "squared", "euclidean")


class AttackError(GuessNotion):
    """Expected error of the best attack: Sum_y min_z Sum_x P_x Q[x,y] d(x, z) >= least.

    An adversary who sees Y and knows P names the input z with the least expected error d(x, z),
    averaged over the posterior of x; the expected error is at least ``least``. The bound is on
    average, not for each output: for that, add a notion on columns.

    Parameters
    ----------
    least
        The least expected error, above 0. Without any output the best guess has error min_z Sum_x
        P_x d(x, z), so no channel satisfies a larger bound.
    distance
        ``"hamming"`` (the probability of a wrong guess), ``"absolute"``, ``"squared"`` or
        ``"euclidean"`` between inputs that are numbers or points; or ``(n_inputs, n_guesses)``
        numbers >= 0, by position or by label.

    Raises
    ------
    InputError
        If the numbers or the distance are invalid.

    Notes
    -----
    Source: Shokri et al. 2011 (quantifying location privacy). There is no epsilon: the leakage is
    ``least`` minus the expected error, at most 0 when the channel is private.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=[0, 10])
    >>> even = Prior([0.5, 0.5])
    >>> [AttackError(least, "absolute").holds(warner, even) for least in (2.5, 2.51)]
    [True, False]
    """

    name = "attack-error"
    title = "expected error of the best attack"
    example = """
least = 0.2                 # the least expected error of the best guess of the input from an output
distance = "absolute"       # or "hamming", "squared", "euclidean", or a matrix; no epsilon
"""
    summary = "expected error of the best attack"
    reach = "the best guess without any output errs by {}, so that no channel makes it {}"

    def __init__(self, least: Exact, distance: Any) -> None:
        self.least = positive(least, "least")
        self.distance: str | ExactTable
        if isinstance(distance, str):
            self.distance = known_word(distance, NAMES, "distance", also=", or a matrix")
        else:
            self.distance = ExactTable.of(distance, "distance")

    @property
    def heading(self) -> str:
        """The notion with its least error."""
        return f"{self.name} at least {in_words(self.least)}"

    def distances(self, domain: Domain) -> ExactTable:
        """Return d(x, z), ``(n_inputs, n_guesses)``.

        Raises
        ------
        InputError
            If the inputs have no coordinates for a named distance, the matrix does not match them,
            or all distances are 0.
        """
        labels, given = domain.labels, self.distance
        if isinstance(given, ExactTable):
            guesses: Iterable[Any] = given.column_labels or range(given.shape[1])
            found = given.aligned(labels, tuple(guesses), "distance", "guess")
        elif given == HAMMING:
            found = ExactTable(1 - np.eye(len(domain), dtype=np.int64), 1)
        else:
            points = points_of(domain, given)
            found = ExactTable.distances(points, points, given)
        if not found.numerators.any():
            raise InputError(
                "distance", "a nonzero distance", "only zeros", fault="all distances are 0"
            )
        return found

    def aligned(self, domain: Domain) -> AttackError:
        """Return the notion with its matrix in the order of the domain."""
        if isinstance(self.distance, str):
            self.distances(domain)
            return self
        return AttackError(self.least, self.distances(domain))
