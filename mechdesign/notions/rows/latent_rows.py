"""Rows on a latent variable S of the input: rows of a notion on w = B q instead of q.

The output Y depends on X alone (the Markov chain S - X - Y), so its distribution given a value s is
a mixture of the rows of the channel:

    w_s = Pr(y|s) = Sum_x P(x|s) q_x,        B[s, x] = P(x|s).

A row on w is a row on q, ``left . B q <= e**a (right . B q)``. B is nonnegative and its rows sum to
1, so w is constant if q is: constant columns satisfy these rows as they satisfy the inner ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.domain import Label
from mechdesign.kernel.generators import Key, Latent
from mechdesign.notions.rows.family import Family
from mechdesign.notions.rows.row import LATENT, Multipliers, Row
from mechdesign.prior_sets import Weights

__all__ = ["LatentRows", "on_latent"]

FLOAT_BITS = 1000
"""Integers of this many bits fit a float, whose largest exponent is 2**1024."""

TAIL = " of the sensitive attribute"
"""Suffix of the names of rows."""


class LatentRows(Family):
    """The rows of a family on the values of a latent variable, in terms of the inputs.

    Parameters
    ----------
    inner
        Rows on columns with one entry for each value of the latent variable.
    given_value
        P(x|s): for each value s the exact distribution of the input, or its restriction to a subset
        of the inputs.
    """

    def __init__(self, inner: Family, given_value: Sequence[Weights]) -> None:
        self.inner, self.given_value = inner, tuple(given_value)
        self.epsilon, self.size = inner.epsilon, len(self.given_value[0])
        self.floor = inner.floor

    @cached_property
    def array(self) -> FloatArray:
        """B as floats, ``(n_values, n_inputs)``."""
        return np.array([[float(p) for p in row] for row in self.given_value])

    @cached_property
    def _integers(self) -> npt.NDArray[np.object_]:
        """B times its common denominator, ``(n_values, n_inputs)`` integers of any size."""
        whole = math.lcm(*(p.denominator for row in self.given_value for p in row))
        rows = [[p.numerator * (whole // p.denominator) for p in row] for row in self.given_value]
        return np.array(rows, dtype=object)

    @cached_property
    def _sides(self) -> list[tuple[dict[int, Fraction], dict[int, Fraction]]]:
        """The coefficients of each row on the inputs, which do not depend on epsilon."""
        rows = self.inner.rows()
        return [(self._on_inputs(row.left), self._on_inputs(row.right)) for row in rows]

    def _on_inputs(self, side: Mapping[int, Fraction]) -> dict[int, Fraction]:
        """Return side . B for coefficients on the values of the latent variable."""
        found: dict[int, Fraction] = {}
        for s, coefficient in side.items():
            for x, p in enumerate(self.given_value[s]):
                if p:
                    found[x] = found.get(x, Fraction(0)) + coefficient * p
        return found

    def rows(self) -> Iterator[Row]:
        """Yield the inner rows in terms of the inputs."""
        for row, (left, right) in zip(self.inner.rows(), self._sides, strict=True):
            yield row._replace(name=row.name + TAIL, left=left, right=right)

    def rows_of(self, found: Multipliers, labels: Sequence[Label]) -> list[Row]:
        """Return the rows of the inner family in terms of the inputs.

        The labels are those of the values, and the only prior is that of the inner family.
        """
        inner = replace(found, side=found.side.removeprefix(LATENT), priors=())
        rows = self.inner.rows_of(inner, labels)
        return [self._pulled(row) for row in rows]

    def _pulled(self, row: Row, tail: str = "") -> Row:
        left, right = self._on_inputs(row.left), self._on_inputs(row.right)
        return row._replace(name=row.name + tail, left=left, right=right)

    def matrix(self) -> sp.csr_array:
        """Return the inner rows times B."""
        return sp.csr_array(self.inner.matrix() @ sp.csr_array(self.array))

    def at(self, epsilon: Fraction) -> LatentRows:
        """Return the same rows at another epsilon."""
        found = LatentRows(self.inner.at(epsilon), self.given_value)
        found.__dict__["_sides"] = self._sides
        return found

    def restricted(self, inputs: IntArray) -> LatentRows:
        """Return the rows of all values on a subset of the inputs; most may become 0 <= 0."""
        places = inputs.tolist()
        return LatentRows(self.inner, [tuple(row[x] for x in places) for row in self.given_value])

    def generator(self) -> Latent:
        """Return the inner generator composed with P(x|s)."""
        return Latent(self.given_value, cast(Any, self.inner.generator()))

    def _values(self, column: Sequence[int]) -> list[int]:
        """Return the entries of the values of the latent variable, in integers."""
        found: list[int] = (self._integers @ np.array(column, dtype=object)).tolist()
        return found

    def row_of(self, key: Key, column: Sequence[int]) -> Row:
        """Return the inner row in terms of the inputs."""
        return self._pulled(self.inner.row_of(key, self._values(column)), TAIL)

    def worst(self, columns: npt.NDArray[Any]) -> tuple[int, Row | None]:
        """Return the worst inner row, for columns scaled to numbers that fit a float."""
        values = self._integers @ columns.astype(object)
        y, row = self.inner.worst(values >> max(0, int(values.max()).bit_length() - FLOAT_BITS))
        return y, None if row is None else self._pulled(row)

    def read_dual(self, weights: FloatArray) -> list[Multipliers]:
        """Give each multiplier its inner row."""
        return [on_latent(m) for m in self.inner.read_dual(weights)]

    def add_terms(self, costs: FloatArray, found: Multipliers) -> None:
        """Add B-transposed times the terms of the inner family, which are on w."""
        terms = np.zeros((len(self.given_value), costs.shape[1]))
        inner = replace(found, side=found.side.removeprefix(LATENT))
        self.inner.add_terms(terms, inner)
        costs += self.array.T @ terms


def on_latent(found: Multipliers) -> Multipliers:
    """Return multipliers of an inner family as those of its rows on the latent variable."""
    return replace(found, side=LATENT + found.side)
