"""Binding rows: inequalities of the notions that hold with equality and have a multiplier > 0.

The multipliers are those of a certificate. Complementary slackness (Boyd and Vandenberghe 2004,
section 5.5.2) leaves them on rows that hold with equality at the optimum; a solver leaves small
ones on other rows too, which are left out here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.certify.packed import unpacked
from mechdesign.certify.proof import PARALLEL
from mechdesign.channel import Channel
from mechdesign.domain import Domain, Label, plain_label
from mechdesign.notions.base import Notion
from mechdesign.notions.channel_constraint import ChannelConstraint
from mechdesign.notions.rows.family import Family
from mechdesign.notions.rows.row import Multipliers, Row
from mechdesign.prior_sets import Weights

__all__ = ["BindingRow", "Block", "Columns", "binding_rows", "blocks_of"]

NEGLIGIBLE = 1e-7
"""Multipliers below this share of the largest are rounding errors of a solver."""

TIGHT = 1e-6
"""A row is tight if its slack is at most this share of its right-hand side. With an exponent a
below 1 it is this share of a, as all slacks are then of the order of a."""

ROUNDING = 1e-12
"""The share that floating point may be off by."""

INFORMATION = "information"

Block: TypeAlias = tuple[int, Multipliers, tuple[Weights, ...]]
"""The number of a notion, multipliers on its rows, and the priors that they refer to."""


@dataclass(frozen=True)
class BindingRow:
    """A row of a notion that binds.

    Attributes
    ----------
    notion
        What reports call the notion.
    row
        The row in the labels of the problem, as ``'flu' against 'healthy'`` for a ratio,
        ``max-lift of 'flu'``, or the name of a row of your own.
    output
        The output at whose column the row binds. None for a bound on all outputs together, and for
        a guess of the input that no output stands for.
    multiplier
        Its dual variable, in the unit of the loss: that of ``e**-a (left . q) <= right . q``, or of
        a bound on the whole channel. Where a grows by a little, the optimum improves at the rate of
        the multiplier times ``right . q``.
    """

    notion: str
    row: str
    output: Label | None
    multiplier: float

    def to_json(self) -> dict[str, Any]:
        """Return the row as in ``solve --json``."""
        return {**vars(self), "output": None if self.output is None else plain_label(self.output)}


@dataclass(frozen=True)
class Columns:
    """The columns at which rows may bind.

    Attributes
    ----------
    outputs
        ``n_columns`` labels; None where a column has none.
    matrix
        ``(n_inputs, n_columns)`` probabilities.
    places
        ``(n_certificate, n_columns)``: makes multipliers at these columns from those in the
        certificate, at the outputs that it numbers.
    """

    outputs: Sequence[Label | None]
    matrix: FloatArray
    places: FloatArray

    def divided(self) -> tuple[Columns, Columns]:
        """Return the columns that the channel sends, and those of zeros."""
        sent = self.matrix.any(axis=0)
        return self._part(np.flatnonzero(sent)), self._part(np.flatnonzero(~sent))

    def _part(self, columns: IntArray) -> Columns:
        labels = [self.outputs[y] for y in columns]
        return Columns(labels, self.matrix[:, columns], self.places[:, columns])


def binding_rows(
    notions: Sequence[Notion],
    families: Sequence[Family],
    constraints: Sequence[ChannelConstraint | None],
    domain: Domain,
    channel: Channel,
    blocks: Iterable[Block],
    columns: Columns,
) -> tuple[BindingRow, ...]:
    """Return the rows that bind at a channel, the largest multiplier first.

    Parameters
    ----------
    notions, families, constraints
        The notions, the rows of each, and what each asks of the whole channel, if anything.
    domain, channel
        The inputs, and the exact channel on them.
    blocks
        The multipliers.
    columns
        The columns of the channel, and those of the other outputs allowed.
    """
    found = []
    for n, multipliers, priors in blocks:
        notion, constraint = notions[n], constraints[n]
        labels = notion.protected(domain).labels
        rows: Iterator[tuple[str, int | None, float]]
        if constraint is None:
            rows = _tight_rows(families[n], multipliers, priors, columns, labels)
        else:
            bounds = constraint.bounds(multipliers, channel, labels)
            rows = ((name, None, weight) for name, weight, slack in bounds if slack <= TIGHT)
        for row, y, weight in rows:
            output = None if y is None else columns.outputs[y]
            found.append(BindingRow(notion.heading, row, output, weight))
    least = NEGLIGIBLE * max((row.multiplier for row in found), default=0.0)
    found = [row for row in found if row.multiplier > least]
    return tuple(sorted(found, key=lambda row: -row.multiplier))


def blocks_of(dual: Mapping[str, Any], own_prior: Weights) -> Iterator[Block]:
    """Yield the multipliers of a certificate.

    Parameters
    ----------
    dual
        The dual variables, as a certificate has them.
    own_prior
        The prior of the problem, to which blocks on lifts refer that name no other.
    """
    for block in dual["rows"]:
        lists = [unpacked(block[key]) for key in PARALLEL]
        output, x, other = (np.array(numbers, dtype=np.intp) for numbers in lists[:3])
        weight = np.array(lists[3], dtype=np.float64)
        named = tuple(tuple(map(Fraction, prior)) for prior in block.get("priors", ()))
        priors = named or (own_prior,)
        yield block["notion"], Multipliers(block["side"], output, x, other, weight), priors
    zero = np.zeros(1, dtype=np.intp)
    for n, weight in dual.get("information", {}).get("multipliers", {}).items():
        multipliers = Multipliers(INFORMATION, zero, zero, zero, np.array([weight]))
        yield int(n), multipliers, ()


def _tight_rows(
    family: Family,
    given: Multipliers,
    priors: tuple[Weights, ...],
    columns: Columns,
    labels: Sequence[Label],
) -> Iterator[tuple[str, int | None, float]]:
    """Yield the name, the output and the multiplier of every row that is tight."""
    keys, key = np.unique(np.stack([given.x, given.other]), axis=1, return_inverse=True)
    shape = (keys.shape[1], len(columns.places))
    weights = sp.csr_array((given.weight, (key.ravel(), given.output)), shape=shape)
    weights = sp.csr_array(weights @ sp.csr_array(columns.places))
    weights.data[weights.data <= NEGLIGIBLE * weights.data.max(initial=0.0)] = 0
    weights.eliminate_zeros()
    entries = weights.tocoo()
    used, number = np.unique(entries.row, return_inverse=True)
    output: IntArray = entries.col.astype(np.intp)
    x, other = keys[:, used]
    named = replace(given, output=x, x=x, other=other, weight=x)
    rows = family.rows_of(named, priors, labels)
    tight = _are_tight(rows, number.astype(np.intp), output, columns.matrix)
    for r, y, weight in zip(number[tight], output[tight], entries.data[tight], strict=True):
        yield rows[r].name, int(y), float(weight)


def _are_tight(rows: Sequence[Row], row: IntArray, output: IntArray, Q: FloatArray) -> BoolArray:
    """Say of pairs of a row and an output whether the row is tight at the column."""
    left = _matrix([r.left for r in rows], len(Q))
    right = _matrix([r.right for r in rows], len(Q))
    exponent = np.array([float(r.exponent) for r in rows])
    shrink, share = np.exp(-exponent), np.maximum(ROUNDING, TIGHT * np.minimum(1, abs(exponent)))
    tight = np.zeros(len(row), dtype=bool)
    for y in np.unique(output).tolist():
        here = np.flatnonzero(output == y)
        r, q = row[here], Q[:, y]
        tight[here] = shrink[r] * (left[r] @ q) >= (1 - share[r]) * (right[r] @ q)
    return tight


def _matrix(sides: Sequence[Mapping[int, Fraction]], size: int) -> sp.csr_array:
    """Return coefficients as floats, a row for each side."""
    places = [(r, x) for r, side in enumerate(sides) for x in side]
    values = np.array([float(v) for side in sides for v in side.values()])
    r, x = np.array(places, dtype=np.intp).reshape(-1, 2).T
    return sp.csr_array((values, (r, x)), shape=(len(sides), size))
