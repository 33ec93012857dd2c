"""Context-aware local differential privacy: a budget for every ordered pair of inputs."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from mechdesign.domain import Domain
from mechdesign.errors import InputError
from mechdesign.exact import as_fraction, fraction_text
from mechdesign.labels import aligned, by_label, split_matrix
from mechdesign.notions.base import Notion, is_infinite


class ContextAwareLDP(Notion):
    """E-LDP: Q(y|x) <= e**E[x, x'] Q(y|x') for every y and every x != x'.

    Parameters
    ----------
    matrix
        ``(n_inputs, n_inputs)`` numbers in [0, inf], in nats, maybe asymmetric; ``inf`` leaves a
        pair unconstrained. The diagonal is ignored. A DataFrame or a dict of dicts counts by label,
        lists by position.

    Notes
    -----
    Source: Acharya et al. 2020, Definition 2. There is no epsilon, so the leakage is the largest
    excess ln(Q(y|x) / Q(y|x')) - E[x, x'], at most 0 when the channel is private.

    Examples
    --------
    Mangat's design: only people who would answer "yes" are protected.

    >>> import math
    >>> from mechdesign.channel import Channel
    >>> mangat = Channel.from_matrix([["1", "0"], ["1/2", "1/2"]])
    >>> ContextAwareLDP([[0, math.log(2)], [math.inf, 0]]).holds(mangat)
    False
    >>> ContextAwareLDP([[0, 0.7], ["inf", 0]]).holds(mangat)
    True
    """

    name = "context-aware"
    on_interval = "regions"
    title = "context-aware LDP, a budget for each pair"
    example = """
# Row x, column x': Q(y|x) <= e^matrix[x][x'] Q(y|x'); inf leaves a pair free; no epsilon.
matrix = [
    [0.0, 1.0, 2.0, inf],
    [1.0, 0.0, 1.0, 2.0],
    [2.0, 1.0, 0.0, 1.0],
    [inf, 0.5, 1.0, 0.0],
]
"""

    def __init__(self, matrix: Iterable[Iterable[Any]]) -> None:
        rows, self.row_labels, self.column_labels = split_matrix(
            matrix,
            "matrix",
            "a square matrix of numbers in [0, inf]",
            "a list of numbers in [0, inf]",
        )
        self.matrix = tuple(_row(x, row) for x, row in enumerate(rows))
        for x, row in enumerate(self.matrix):
            if len(row) != len(self.matrix):
                expected = f"a row of {len(self.matrix)} numbers, the matrix being square"
                raise InputError(f"matrix[{x}]", expected, f"{len(row)} numbers")

    def _ordered(self, domain: Domain) -> list[list[Fraction | None]]:
        """Return the matrix in the order of the domain."""
        k, n = len(domain), len(self.matrix)
        if n != k and self.row_labels is None and self.column_labels is None:
            expected = f"a {k} x {k} matrix, one row for each input"
            raise InputError("matrix", expected, f"a {n} x {n} matrix")
        rows = aligned(self.matrix, self.row_labels, domain.labels, "matrix, rows")
        order = aligned(range(n), self.column_labels, domain.labels, "matrix, columns")
        return [[row[z] for z in order] for row in rows]

    def aligned(self, domain: Domain) -> ContextAwareLDP:
        """Return the notion with its matrix in the order of the domain."""
        matrix = self._ordered(domain)
        if self.row_labels is None and self.column_labels is None:
            return self
        return ContextAwareLDP([["inf" if e is None else e for e in row] for row in matrix])

    def to_table(self) -> dict[str, Any]:
        """Return the ``[privacy]`` table."""
        rows = [
            by_label(["inf" if e is None else fraction_text(e) for e in row], self.column_labels)
            for row in self.matrix
        ]
        return {"notion": self.name, "matrix": by_label(rows, self.row_labels)}


def _row(x: int, row: Iterable[Any]) -> tuple[Fraction | None, ...]:
    return tuple(
        None
        if is_infinite(entry)
        else as_fraction(entry, f"matrix[{x}][{other}]", expected="a number in [0, inf]", least=0)
        for other, entry in enumerate(row)
    )
