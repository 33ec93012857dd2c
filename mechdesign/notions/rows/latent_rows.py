"""Rows on a secret behind the input: those of a notion on w = B q instead of on the column q.

The output Y is made from X alone, S -> X -> Y, so that its law given a secret s is a mixture of
the rows of the channel:

    w_s = Pr(y|s) = Sum_x P(x|s) q_x,        B[s, x] = P(x|s).

B has no negative entry and rows that sum to 1, so that w is a constant column where q is one, and a
row on w is a row on q. Everything is exact: w is reckoned in integers, times the common denominator
of B.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from mechdesign._typing import BoolArray, FloatArray, Int64Array, IntArray
from mechdesign.notions.rows.family import Family
from mechdesign.notions.rows.row import LATENT, Multipliers, Row
from mechdesign.prior_sets import Weights

__all__ = ["SecretRows", "about_inputs", "about_secrets"]

MOST_BITS = 1000
"""Integers of so many bits fit a float."""


class SecretRows(Family):
    """The rows of a family on secrets, as rows on the inputs behind which they are.

    Parameters
    ----------
    inner
        Rows on columns of ``n_secrets`` entries.
    laws
        P(x|s): for each secret the exact law of the input, or, for some of the inputs only, that
        part of it.
    """

    def __init__(self, inner: Family, laws: Sequence[Weights]) -> None:
        self.inner, self.laws, self.epsilon = inner, tuple(laws), inner.epsilon
        self.size = len(self.laws[0])

    @cached_property
    def numerators(self) -> npt.NDArray[np.object_]:
        """B times its common denominator, ``(n_secrets, n_inputs)`` integers of any size."""
        whole = math.lcm(*(p.denominator for law in self.laws for p in law))
        rows = [[p.numerator * (whole // p.denominator) for p in law] for law in self.laws]
        return np.array(rows, dtype=object)

    @cached_property
    def array(self) -> FloatArray:
        """B as floats, ``(n_secrets, n_inputs)``."""
        return np.array([[float(p) for p in law] for law in self.laws])

    @cached_property
    def _reached(self) -> BoolArray:
        """Which inputs occur with which secret."""
        return np.array([[p > 0 for p in law] for law in self.laws])

    def of_secrets(self, columns: npt.NDArray[Any]) -> npt.NDArray[np.object_]:
        """Return B q for every column q, times the denominator of B, exactly."""
        found: npt.NDArray[np.object_] = self.numerators @ columns.astype(object)
        return found

    def _of_secrets(self, column: Sequence[int]) -> list[int]:
        found: list[int] = (self.numerators @ np.array(column, dtype=object)).tolist()
        return found

    def rows(self) -> Iterator[Row]:
        """Yield the rows on secrets, written out for inputs."""
        for row in self.inner.rows():
            left, right = self._spread(row.left), self._spread(row.right)
            yield Row(f"{row.name} of the secret", left, row.exponent, right, row.slope)

    def _spread(self, weights: Mapping[int, Fraction]) -> dict[int, Fraction]:
        """Return weights on inputs for weights on secrets."""
        found: dict[int, Fraction] = {}
        for s, weight in weights.items():
            for x, p in enumerate(self.laws[s]):
                if p:
                    found[x] = found.get(x, Fraction(0)) + weight * p
        return found

    def matrix(self) -> sp.csr_array:
        """Return the rows of the inner family times B."""
        return sp.csr_array(self.inner.matrix() @ sp.csr_array(self.array))

    @property
    def largest_base(self) -> float:
        """The largest base of a bound."""
        return self.inner.largest_base

    def binds(self) -> bool:
        """Return whether the column of some input alone breaks a row: every column is their sum."""
        return not self.all_hold(np.eye(self.size, dtype=np.int64))

    def at(self, epsilon: Fraction) -> SecretRows:
        """Return the same rows at another epsilon."""
        found = SecretRows(self.inner.at(epsilon), self.laws)
        found.__dict__["numerators"] = self.numerators
        return found

    def restricted(self, inputs: IntArray) -> SecretRows:
        """Return the rows of all secrets on some of the inputs; most may then say 0 <= 0."""
        places = inputs.tolist()
        return SecretRows(self.inner, [tuple(law[x] for x in places) for law in self.laws])

    def violation(self, column: Sequence[int]) -> str | None:
        """Ask the inner family about B q, exactly."""
        broken = self.inner.violation(self._of_secrets(column))
        return None if broken is None else f"{broken} of the secret"

    def all_hold(self, numerators: npt.NDArray[Any]) -> bool:
        """Return whether every column satisfies the rows, exactly."""
        return self.inner.all_hold(self.of_secrets(numerators))

    def estimate(self, numerators: npt.NDArray[Any]) -> float:
        """Return the estimate of the inner family for B q, cut to numbers that fit a float."""
        of_secrets = self.of_secrets(numerators)
        spare = max(0, int(of_secrets.max()).bit_length() - MOST_BITS)
        return self.inner.estimate(of_secrets >> spare)

    def links(self) -> sp.csr_array:
        """Join the inputs that occur with secrets which rows join."""
        graph = self.inner.links()
        n, label = connected_components(graph, directed=False)
        linked = np.unique(np.concatenate(graph.nonzero()))
        first, second = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
        for part in range(n if len(linked) else 0):
            members = linked[label[linked] == part]
            inputs = np.flatnonzero(self._reached[members].any(axis=0))
            first.append(np.repeat(inputs[:1], len(inputs)))
            second.append(inputs)
        x, other = np.concatenate(first), np.concatenate(second)
        return sp.csr_array((np.ones(len(x)), (x, other)), shape=(self.size, self.size))

    def equations(self) -> list[list[Fraction]]:
        """Return B_s - B_s' for values s, s' that are tied, and g B for inner equations g."""
        n, label = connected_components(self.inner.forced_equal(), directed=False)
        first = [int(np.argmax(label == part)) for part in range(n)]
        ties = [(s, first[part]) for s, part in enumerate(label.tolist()) if s != first[part]]
        equal = [
            [a - b for a, b in zip(self.laws[s], self.laws[other], strict=True)]
            for s, other in ties
        ]
        columns = list(zip(*self.laws, strict=True))
        return equal + [
            [sum(map(mul, g, column), Fraction(0)) for column in columns]
            for g in self.inner.equations()
        ]

    def support(self, positive: BoolArray) -> BoolArray:
        """Add all inputs of a secret that must occur and does not, until nothing changes."""
        reached = self._reached.astype(np.float64)
        while True:
            occurs = (reached @ positive) > 0
            missing = self.inner.support(occurs) & ~occurs
            wider: BoolArray = positive | ((reached.T @ missing) > 0)
            if (wider == positive).all():
                return wider
            positive = wider

    def holding(self, columns: Int64Array) -> BoolArray:
        """Ask the inner family about every column, exactly."""
        columns_of_secrets = self.of_secrets(columns).T.tolist()
        return np.array([self.inner.violation(w) is None for w in columns_of_secrets])

    def read_dual(self, weights: FloatArray) -> tuple[list[Multipliers], tuple[Weights, ...]]:
        """Give each weight the row on secrets that it is on."""
        found, priors = self.inner.read_dual(weights)
        return [about_secrets(m) for m in found], priors

    def add_terms(
        self, costs: FloatArray, found: Multipliers, priors: tuple[Weights, ...] = ()
    ) -> None:
        """Spread the terms of the inner family, on the secrets, over the inputs."""
        of_secrets = np.zeros((len(self.laws), costs.shape[1]))
        self.inner.add_terms(of_secrets, about_inputs(found), priors)
        costs += self.array.T @ of_secrets

    def raise_needed(self, column: Sequence[int], direction: Sequence[int]) -> int | None:
        """Ask the inner family about B q and B times the direction.

        What mends some rows may break others, as the direction is not the same for all secrets:
        then no t will do.
        """
        of_secrets, steps = self._of_secrets(column), self._of_secrets(direction)
        needed = self.inner.raise_needed(of_secrets, steps)
        if not needed:
            return needed
        raised = [w + needed * step for w, step in zip(of_secrets, steps, strict=True)]
        return needed if self.inner.violation(raised) is None else None


def about_secrets(found: Multipliers) -> Multipliers:
    """Return multipliers of an inner family as those of rows on secrets."""
    return replace(found, side=LATENT + found.side)


def about_inputs(found: Multipliers) -> Multipliers:
    """Return multipliers on secrets as those of the inner family."""
    return replace(found, side=found.side.removeprefix(LATENT))
