"""Expected distortion: any loss, given as a matrix or as a function of two labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mechdesign.channel import Channel
from mechdesign.domain import Domain, Label
from mechdesign.tables import ExactTable
from mechdesign.utilities.base import LinearUtility

__all__ = ["Distortion"]


class Distortion(LinearUtility):
    """E D(X, Y) for any loss D.

    Parameters
    ----------
    matrix
        ``(n_inputs, n_outputs)`` numbers >= 0: the loss of output y at input x. A DataFrame or a
        dict of dicts counts by label, rows for inputs and columns for outputs; lists count by
        position. Or a function of an input label and an output label that returns such a number.
    worst_case
        Whether to take the largest over the inputs instead of the mean over the prior.

    Examples
    --------
    >>> from mechdesign.domain import Domain
    >>> Distortion([[0, 1, 0.4], [5, 0, 0.4]]).default_outputs(Domain(["a", "b"]))
    (0, 1, 2)
    >>> Distortion(lambda x, y: abs(x - y)).loss(Domain([0, 2]), (0, 1, 2)).array
    array([[0., 1., 2.],
           [2., 1., 0.]])
    """

    name = "distortion"
    title = "expected loss by a matrix of your own"

    def __init__(self, matrix: Any, worst_case: bool = False) -> None:
        super().__init__(worst_case)
        self.matrix: ExactTable | Callable[[Any, Any], Any] = (
            matrix
            if isinstance(matrix, ExactTable) or (callable(matrix) and not isinstance(matrix, type))
            else ExactTable.of(matrix, "matrix")
        )

    def default_outputs(self, domain: Domain) -> tuple[Label, ...]:
        """Return the columns by label; else the domain if there are as many, or numbers from 0."""
        if not isinstance(self.matrix, ExactTable):
            return domain.labels
        named, n_outputs = self.matrix.column_labels, self.matrix.shape[1]
        if named is not None and set(named) != set(domain.labels):
            return named
        return domain.labels if n_outputs == len(domain) else tuple(range(n_outputs))

    def loss(self, domain: Domain, outputs: Sequence[Label]) -> ExactTable:
        """Return the matrix, or say that it does not fit."""
        if isinstance(self.matrix, ExactTable):
            return self.matrix.aligned(domain.labels, outputs, "matrix")
        return ExactTable.of_function(self.matrix, domain.labels, tuple(outputs), "matrix")

    def aligned(self, domain: Domain, outputs: Sequence[Label] | None) -> Distortion:
        """Return the utility with its losses written out in the order of domain and outputs."""
        return Distortion(self.loss(domain, outputs or domain.labels), self.worst_case)

    def allowed_for(self, channel: Channel) -> tuple[Label, ...]:
        """Return the outputs that the columns of the matrix stand for."""
        columns = self.default_outputs(channel.inputs)
        return columns if set(channel.outputs) <= set(columns) else channel.outputs

    def to_table(self, domain: Domain) -> dict[str, Any]:
        """Return the ``[utility]`` table."""
        losses = self.loss(domain, self.default_outputs(domain))
        return {**super().to_table(domain), "matrix": losses.to_table()}
