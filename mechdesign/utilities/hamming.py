"""Hamming loss."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechdesign.domain import Domain, Label
from mechdesign.tables import ExactTable
from mechdesign.utilities.base import LinearUtility


class HammingLoss(LinearUtility):
    """Pr(Y != X), for any labels.

    Parameters
    ----------
    worst_case
        Whether to take the maximum over the inputs instead of the mean over the prior.

    Examples
    --------
    >>> from mechdesign.domain import Domain
    >>> HammingLoss().loss(Domain(["a", "b"]), ["a", "b", "?"]).array
    array([[0., 1., 1.],
           [1., 0., 1.]])
    """

    name = "hamming"
    title = "probability that Y is not X"
    exact = True
    distance = "hamming"

    @property
    def treats_inputs_alike(self) -> bool:  # type: ignore[override]
        """Whether it is a mean."""
        return not self.worst_case

    def loss(self, domain: Domain, outputs: Sequence[Label]) -> ExactTable:
        """Return 0 where y is x, 1 elsewhere."""
        differ = [[int(x != y) for y in outputs] for x in domain.labels]
        same_points = tuple(outputs) == domain.labels
        return ExactTable(np.array(differ, dtype=np.int64), 1, is_metric=same_points)
