"""Any distortion, given as a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mechdesign.channel import Channel
from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError
from mechdesign.exact import fraction_text
from mechdesign.tables import ExactTable
from mechdesign.utilities.base import LinearUtility

__all__ = ["Distortion"]


class Distortion(LinearUtility):
    """E D(X, Y) for any matrix D of losses.

    Parameters
    ----------
    matrix
        ``(n_inputs, n_outputs)`` numbers >= 0: the loss of output y at input x.
    worst_case
        Whether to take the largest over the inputs instead of the mean over the prior.

    Examples
    --------
    >>> from mechdesign.domain import Domain
    >>> Distortion([[0, 1, 0.4], [5, 0, 0.4]]).default_outputs(Domain(["a", "b"]))
    (0, 1, 2)
    """

    name = "distortion"
    title = "expected loss by a matrix of your own"

    def __init__(self, matrix: Any, worst_case: bool = False) -> None:
        super().__init__(worst_case)
        self.matrix = ExactTable.of(matrix, "matrix", (None, None))

    def default_outputs(self, domain: Domain) -> tuple[Label, ...]:
        """Return the domain if the matrix is square, else numbers from 0."""
        n_outputs = self.matrix.shape[1]
        return domain.labels if n_outputs == len(domain) else tuple(range(n_outputs))

    def loss(self, domain: Domain, outputs: Sequence[Label]) -> ExactTable:
        """Return the matrix, or say that it does not fit."""
        wanted = (len(domain), len(outputs))
        if self.matrix.shape != wanted:
            expected = "a {} x {} matrix, a row for each input, a column for each output"
            given = "a {} x {} matrix".format(*self.matrix.shape)
            raise InputError("matrix", expected.format(*wanted), given)
        return self.matrix

    def allowed_for(self, channel: Channel) -> tuple[Label, ...]:
        """Return the outputs that the columns of the matrix stand for."""
        columns = self.default_outputs(channel.inputs)
        return columns if set(channel.outputs) <= set(columns) else channel.outputs

    def to_table(self, domain: Domain) -> dict[str, Any]:
        """Return the ``[utility]`` table."""
        rows, columns = range(self.matrix.shape[0]), range(self.matrix.shape[1])
        matrix = [[fraction_text(self.matrix.lower(x, y)) for y in columns] for x in rows]
        return {**super().to_table(domain), "matrix": matrix}
