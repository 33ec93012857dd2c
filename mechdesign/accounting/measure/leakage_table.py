"""The result of `leakages`: one row for each notion, as a table or as plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign.domain import Label
from mechdesign.errors import choose
from mechdesign.exact import fraction_text, short_text
from mechdesign.prior import Prior
from mechdesign.text import Matrix, Table, Tabular, shortened

MATRIX = "tightest E matrix, ln Q(y|row)/Q(y|column)"

MOST_SHOWN = 8
"""Maximum number of inputs for which the matrix is printed."""


@dataclass(frozen=True)
class Leakage:
    """The leakage of a channel under one notion.

    Attributes
    ----------
    notion
        Its name in problem files; ``"max-lift"`` and ``"min-lift"`` are the two sides
        of ``lip``.
    value
        The smallest epsilon that the exact channel satisfies, in nats, rounded up; inf if there is
        none.
    factor
        e**leakage exactly, if it is a finite rational number; else None.
    inputs
        The inputs that attain it, in the order of the ratio; empty if it is a sum.
    outputs
        The output that attains it, in a tuple; empty if it is a sum.
    """

    notion: str
    value: float
    factor: Fraction | None
    inputs: tuple[Label, ...] = ()
    outputs: tuple[Label, ...] = ()

    @property
    def where(self) -> str:
        """A description of where it is attained."""
        parts = []
        if self.outputs:
            parts.append(f"output {_named(self.outputs[0])}")
        if self.inputs:
            parts.append("input " + " against ".join(_named(x) for x in self.inputs))
        return ", ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return plain data for JSON, with an infinite value as ``"inf"`` and an exact factor."""
        return {
            "notion": self.notion,
            "leakage": self.value if math.isfinite(self.value) else "inf",
            "factor": None if self.factor is None else fraction_text(self.factor),
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
        }


@dataclass(frozen=True)
class Leakages(Tabular):
    """The leakages of a channel under every notion that applies. Their repr is a table.

    Attributes
    ----------
    what
        A short description of the channel.
    inputs
        The labels of the inputs.
    rows
        One leakage for each notion.
    matrix
        ``(n_inputs, n_inputs)`` floats: the tightest matrix of context-aware LDP, rounded up; None
        if there are too many pairs.
    prior
        The prior of the notions that need one; None if none was given.
    bayes_accuracy
        The exact probability of guessing X correctly from Y at that prior.
    notes
        Notions that were omitted, with reasons.
    """

    what: str
    inputs: tuple[Label, ...]
    rows: tuple[Leakage, ...]
    matrix: npt.NDArray[np.float64] | None = field(default=None, compare=False)
    prior: Prior | None = None
    bayes_accuracy: Fraction | None = None
    notes: tuple[str, ...] = ()

    def __getitem__(self, notion: str) -> Leakage:
        return choose({row.notion: row for row in self.rows}, notion, "notion")

    def to_json(self) -> dict[str, Any]:
        """Return plain data for JSON, with exact numbers as text and infinite ones as ``"inf"``."""
        matrix = None
        if self.matrix is not None:
            matrix = [
                [e if math.isfinite(e) else "inf" for e in row] for row in self.matrix.tolist()
            ]
        accuracy = self.bayes_accuracy
        return {
            "channel": self.what,
            "inputs": list(self.inputs),
            "prior": None if self.prior is None else self.prior.to_table(),
            "leakages": [row.to_json() for row in self.rows],
            "bayes_accuracy": None if accuracy is None else fraction_text(accuracy),
            "matrix": matrix,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        lines = [self._head(), self._table().text("  "), *self._accuracy()]
        if self.matrix is not None and len(self.inputs) <= MOST_SHOWN:
            lines += [MATRIX, Matrix(self.matrix, self.inputs, self.inputs).text()]
        return "\n".join([*lines, *self.notes])

    def _head(self) -> str:
        return f"Leakages of {self.what}, rounded up"

    def _lines(self) -> list[str]:
        return [self._head(), *self._accuracy(), *self.notes]

    def _table(self) -> Table:
        rows = [
            (
                r.notion,
                rounded(r.value),
                "" if r.factor is None else short_text(r.factor),
                r.where,
            )
            for r in self.rows
        ]
        return Table(("notion", "nats", "e^nats", "attained at"), rows, "<>><")

    def _accuracy(self) -> list[str]:
        if self.bayes_accuracy is not None and self.prior is not None:
            told, blind = short_text(self.bayes_accuracy), short_text(max(self.prior))
            return [f"guessed right with probability {told}, without the report {blind}"]
        return []


def rounded(value: float, up: bool = True) -> str:
    """Return a number with six decimals, rounded up or down."""
    if not math.isfinite(value):
        return "inf"
    millionths = (math.ceil if up else math.floor)(Fraction(value) * 10**6)
    return f"{millionths // 10**6}.{millionths % 10**6:06d}"


def _named(label: Label) -> str:
    return shortened(repr(label) if isinstance(label, str) else label, 24)
