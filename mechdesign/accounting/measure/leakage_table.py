"""The result of `leakages`: one row for each notion, as a table or as plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign.domain import Label
from mechdesign.errors import InputError, shown
from mechdesign.exact import fraction_text, short_text
from mechdesign.prior import Prior
from mechdesign.text import format_table, printable

__all__ = ["Leakage", "Leakages"]

MOST_SHOWN = 8
"""Inputs of a matrix that is printed, at most."""


@dataclass(frozen=True)
class Leakage:
    """What a channel leaks under one notion.

    Attributes
    ----------
    notion
        Its name in problem files; ``"max-lift"`` and ``"min-lift"`` are the two sides
        of ``lip``.
    value
        The smallest epsilon that the exact channel satisfies, in nats, rounded up; inf where none
        does.
    factor
        e to the leakage exactly, where it is a finite rational number; else None.
    inputs
        The inputs at which it is attained, in the order of the ratio; none where it is a sum.
    outputs
        The output at which it is attained, in a tuple; none where it is a sum.
    """

    notion: str
    value: float
    factor: Fraction | None
    inputs: tuple[Label, ...] = ()
    outputs: tuple[Label, ...] = ()

    @property
    def where(self) -> str:
        """Where it is attained, in words."""
        parts = []
        if self.outputs:
            parts.append(f"output {_named(self.outputs[0])}")
        if self.inputs:
            parts.append("input " + " against ".join(_named(x) for x in self.inputs))
        return ", ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return plain data: an infinite value as ``"inf"``, the factor as exact text or null."""
        return {
            "notion": self.notion,
            "leakage": self.value if math.isfinite(self.value) else "inf",
            "factor": None if self.factor is None else fraction_text(self.factor),
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
        }


@dataclass(frozen=True)
class Leakages:
    """What a channel leaks under every notion that applies. Its repr is a table.

    Attributes
    ----------
    what
        The channel, in a few words.
    inputs
        The labels of the inputs.
    rows
        One leakage for each notion.
    matrix
        ``(n_inputs, n_inputs)`` floats: the tightest matrix of context-aware LDP, rounded up; None
        where there are too many pairs.
    prior
        The prior of the notions that need one; None if none was given.
    bayes_accuracy
        The probability of guessing X right from Y, exactly, at that prior.
    notes
        What was left out, and why.
    """

    what: str
    inputs: tuple[Label, ...]
    rows: tuple[Leakage, ...]
    matrix: npt.NDArray[np.float64] | None = field(default=None, compare=False)
    prior: Prior | None = None
    bayes_accuracy: Fraction | None = None
    notes: tuple[str, ...] = ()

    def __getitem__(self, notion: str) -> Leakage:
        for row in self.rows:
            if row.notion == notion:
                return row
        known = ", ".join(row.notion for row in self.rows)
        raise InputError("notion", f"one of: {known}", shown(notion))

    def to_json(self) -> dict[str, Any]:
        """Return plain data, fit for JSON: exact numbers as text, infinite ones as ``"inf"``."""
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
        cells = [("notion", "nats", "e^nats", "attained at")]
        for row in self.rows:
            factor = "" if row.factor is None else short_text(row.factor)
            cells.append((row.notion, _up(row.value), factor, row.where))
        widths = [max(len(line[i]) for line in cells) for i in range(3)]
        lines = [f"Leakages of {self.what}, rounded up"]
        for name, value, factor, where in cells:
            line = f"  {name:<{widths[0]}}  {value:>{widths[1]}}  {factor:>{widths[2]}}  {where}"
            lines.append(line.rstrip())
        if self.bayes_accuracy is not None and self.prior is not None:
            blind = short_text(max(self.prior))
            lines.append(f"guessed right with probability {short_text(self.bayes_accuracy)}, ")
            lines[-1] += f"without the report {blind}"
        if self.matrix is not None and len(self.inputs) <= MOST_SHOWN:
            lines.append("tightest E matrix, ln Q(y|row)/Q(y|column)")
            lines.append(format_table(self.matrix, self.inputs, self.inputs))
        return "\n".join([*lines, *self.notes])


def _up(value: float) -> str:
    """Return six digits beyond the point, rounded up."""
    if not math.isfinite(value):
        return "inf"
    millionths = math.ceil(Fraction(value) * 10**6)
    return f"{millionths // 10**6}.{millionths % 10**6:06d}"


def _named(label: Label) -> str:
    text = printable(repr(label) if isinstance(label, str) else label)
    return text if len(text) <= 24 else text[:23] + "…"
