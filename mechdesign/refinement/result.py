"""The comparison of two channels: a post-processing matrix or a separating decision problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.domain import Label
from mechdesign.exact import fraction_text, short_text
from mechdesign.refinement.deficiency import Separation, Table, decided
from mechdesign.text import Matrix, Tabular


@dataclass(frozen=True, repr=False)
class Refinement(Tabular):
    """Whether a first channel is at least as good as a second one for every decision, and why.

    Its truth value is whether the second channel is a post-processing of the first.

    Attributes
    ----------
    inputs
        The labels of the inputs.
    first_outputs, second_outputs
        The labels of the outputs.
    matrix
        A rational row-stochastic W of shape ``(n_first_outputs, n_second_outputs)`` with
        second = first W, or None.
    separation
        If there is no W, a decision problem in which the second channel is better: ``prior``;
        ``gain[x][y]`` in [0, 1] of the action y, an output of the second channel, at the input x;
        ``first``, the largest expected gain from the first channel's outputs; and ``second``, the
        expected gain if the second channel's output is the action.
    """

    inputs: tuple[Label, ...]
    first_outputs: tuple[Label, ...]
    second_outputs: tuple[Label, ...]
    matrix: tuple[tuple[Fraction, ...], ...] | None = field(repr=False)
    separation: Separation | None = field(repr=False)

    def __bool__(self) -> bool:
        return self.matrix is not None

    @property
    def deficiency(self) -> tuple[Fraction, Fraction]:
        """Exact bounds on Le Cam's deficiency, which is 0 iff the first refines the second.

        The deficiency is the largest total variation over the inputs between the second channel and
        the nearest post-processing of the first.
        """
        if self.separation is None:
            return Fraction(0), Fraction(0)
        return self.separation.second - self.separation.first, self.separation.distance

    def to_json(self) -> dict[str, Any]:
        """Return plain data for JSON, with exact numbers as text."""
        found, gap = self.separation, self.deficiency
        return {
            "refines": bool(self),
            "matrix": None if self.matrix is None else _texts(self.matrix),
            "decision_problem": None
            if found is None
            else {
                "prior": [fraction_text(p) for p in found.prior],
                "gain": _texts(found.gain),
                "value_from_first": fraction_text(found.first),
                "value_from_second": fraction_text(found.second),
            },
            "deficiency": [float(end) for end in gap],
        }

    def _table(self) -> Matrix:
        if self.separation is None:
            return Matrix(_floats(self.matrix), self.first_outputs, self.second_outputs)
        return Matrix(_floats(self.separation.gain), self.inputs, self.second_outputs)

    def _lines(self) -> list[str]:
        if self.separation is None:
            return ["Refinement(yes): the second channel is the first times W, exactly; W ="]
        found, (low, high) = self.separation, self.deficiency
        prior = ", ".join(short_text(p) for p in found.prior[:12])
        return [
            "Refinement(no): a decision is worth more with the second channel",
            f"  best with the first   {short_text(found.first)}",
            f"  with the second       {short_text(found.second)}",
            f"  deficiency            {float(low):.6g} to {float(high):.6g}",
            f"  prior                 {prior}{', …' if len(found.prior) > 12 else ''}",
            "  gain of each action at each input:",
        ]


def refinement(
    first: Table,
    second: Table,
    inputs: Sequence[Label],
    first_outputs: Sequence[Label],
    second_outputs: Sequence[Label],
) -> Refinement:
    """Decide whether there is a row-stochastic W with ``second = first W``, exactly.

    Examples
    --------
    >>> half, third = Fraction(1, 2), Fraction(1, 3)
    >>> identity, blind = [[1, 0], [0, 1]], [[half, half], [third, 2 * third]]
    >>> refinement(identity, blind, "ab", "ab", "cd").matrix[1]
    (Fraction(1, 3), Fraction(2, 3))
    >>> bool(refinement(blind, identity, "ab", "cd", "ab"))
    False
    """
    found = decided(first, second)
    labels = tuple(inputs), tuple(first_outputs), tuple(second_outputs)
    if isinstance(found, Separation):
        return Refinement(*labels, None, found)
    return Refinement(*labels, found, None)


def _floats(rows: Any) -> Any:
    return np.array([[float(v) for v in row] for row in rows])


def _texts(rows: Sequence[Sequence[Fraction]]) -> list[list[str]]:
    return [[fraction_text(v) for v in row] for row in rows]
