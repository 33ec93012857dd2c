"""Rows of the generators of one notion, those on a latent variable S of the input included.

The output Y depends on X alone (the Markov chain S - X - Y), so its distribution given a value s is
a mixture of the rows of the channel:

    w_s = Pr(y|s) = Sum_x P(x|s) q_x,        B[s, x] = P(x|s).

A row on w is a row on q, ``left . B q <= e**a (right . B q)``. B is nonnegative and its rows sum to
1, so w is constant if q is: constant columns satisfy these rows as they satisfy the inner ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.domain import Label
from mechdesign.kernel.arithmetic import dot
from mechdesign.kernel.generators import (
    Cone,
    Constant,
    Key,
    Latent,
    Lift,
    Ratio,
    Rows,
)
from mechdesign.notions.rows.family import Family, Keys
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.notions.rows.row import Row
from mechdesign.prior_sets import Weights

TAIL = " of the sensitive attribute"
"""Suffix of the names of rows."""


class LatentRows(Family):
    """The rows of a family on the values of a latent variable, in terms of the inputs.

    ``given_value`` is P(x|s), for each value s the exact distribution of the input, or its
    restriction to a subset of the inputs. Rows are named by those of the inner family.
    """

    def __init__(self, inner: Family, given_value: Sequence[Weights]) -> None:
        self.inner, self.given_value = inner, tuple(given_value)
        self.epsilon, self.has_epsilon = inner.epsilon, inner.has_epsilon
        self.size = len(self.given_value[0])
        unit: Any = inner.part
        self.part = None if unit is None else Latent(self.given_value, unit)

    @cached_property
    def vertices(self) -> tuple[Weights, ...]:  # type: ignore[override]
        """The priors of the inner rows."""
        return self.inner.vertices

    @cached_property
    def array(self) -> FloatArray:
        """B as floats, ``(n_values, n_inputs)``."""
        return np.array([[float(p) for p in row] for row in self.given_value])

    def keys(self) -> list[Keys]:
        """Return the names of the inner rows."""
        return self.inner.keys()

    def _row(self, key: Key, priors: Sequence[Weights]) -> Row:
        """Return an inner row in terms of the inputs."""
        row = self.inner._row(key, priors)
        one = Latent(self.given_value, Rows((row.listed,)))
        pulled = one.row(("", 0, 0), self.size, up=False)
        return row._replace(left=dict(pulled.left), right=dict(pulled.right))

    def _name(
        self, row: Row, key: Key, labels: Sequence[Label] | None, priors: Sequence[Weights]
    ) -> str:
        """Return the name of the inner row; labels are those of the values."""
        return self.inner._name(row, key, labels, priors) + (TAIL if labels is None else "")

    def _priors_at(self, key: Key, column: Sequence[int]) -> Sequence[Weights]:
        return self.inner._priors_at(key, [dot(row, column) for row in self.given_value])

    def terms(self, keys: Keys, priors: Sequence[Weights] = ()) -> sp.csr_array:
        """Return the inner rows times B."""
        return sp.csr_array(self.inner.terms(keys, priors) @ sp.csr_array(self.array))

    def at(self, epsilon: Fraction) -> LatentRows:
        """Return the same rows at another epsilon."""
        return self._with(inner=self.inner.at(epsilon), epsilon=epsilon)

    def restricted(self, inputs: IntArray) -> LatentRows:
        """Return the rows of all values on a subset of the inputs; most may become 0 <= 0."""
        places = inputs.tolist()
        return LatentRows(self.inner, [tuple(row[x] for x in places) for row in self.given_value])


ONE = Fraction(1)


def family_of(
    cones: Sequence[Cone], name: str, size: int, epsilon: Fraction, *, has_epsilon: bool
) -> Family:
    """Return the rows of the generator of one notion, at epsilon = 1 if they depend on it.

    With an epsilon, exponents are proportional to it; without one, all grow from 0 by the same
    amount, so that the leakage is the largest excess.
    """
    part = cones[0] if cones else Ratio(Constant(Fraction(0), tuple(range(size))))
    if isinstance(part, Latent):
        inner = family_of((part.inner,), name, len(part.matrix), epsilon, has_epsilon=has_epsilon)
        return LatentRows(inner, part.matrix)
    if isinstance(part, Rows):
        rows = list(_listed(part, name, size, has_epsilon))
        return Family(rows, size, Fraction(has_epsilon), has_epsilon=has_epsilon).at(epsilon)
    if isinstance(part, Lift):
        return LiftRows(name, part, epsilon, has_epsilon=has_epsilon)
    return PairRows(name, part, size, epsilon, has_epsilon=has_epsilon)


def _listed(part: Rows, name: str, size: int, has_epsilon: bool) -> Iterator[Row]:
    """Yield listed rows, at epsilon = 1 or at the excess 0."""
    for key in part.keys(size):
        row = part.row(key, size, up=False)
        words = " ".join(str(word) for word in (name, part.kind, *key) if word != "")
        slope = row.exponent if has_epsilon else ONE
        yield Row(words, dict(row.left), row.exponent, dict(row.right), slope)
