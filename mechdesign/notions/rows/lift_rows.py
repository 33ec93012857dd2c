"""Bounds on the lift: rows on the ratio of an entry of a column to the output probability.

    q_x <= e**upper * (P . q)   and   P . q <= e**lower * q_x    for every x and every P of a set

P . q is the probability of the output, so q_x / (P . q) is the lift, the ratio of posterior to
prior. Jiang et al. 2018, Definition 3 (one prior); Jiang et al. 2021, Definition 6 (a set).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.domain import Label
from mechdesign.errors import shown
from mechdesign.exact import exp_lower, short_text
from mechdesign.kernel.generators import Key
from mechdesign.notions.rows.family import Edges, Family
from mechdesign.notions.rows.row import Bound, CarryBack, Multipliers, Row
from mechdesign.prior_sets import PriorList, PriorSet, Weights
from mechdesign.text import shortened

__all__ = ["LiftRows"]

MOST_SHOWN = 60
"""Characters of a prior in the name of a row."""

LARGEST_EXPONENT = 700.0
"""The largest exponent of e that gives a finite float."""

MOST_PRIORS = 64
"""The largest number of changes of the worst prior while a column is raised."""


class LiftRows(Family):
    """Bounds on the lift from above, from below, or both, for all priors of a set.

    Parameters
    ----------
    name
        The notion, for the names of the rows.
    priors
        The set of priors; rows are linear in P, so its vertices suffice.
    upper, lower
        Bounds with factor 1 on lift and inverse lift; None for none.
    epsilon
        The epsilon of the bounds.
    """

    def __init__(
        self,
        name: str,
        priors: PriorSet,
        upper: Bound | None,
        lower: Bound | None,
        epsilon: Fraction,
    ) -> None:
        self.name, self.priors, self.epsilon = name, priors, epsilon
        self.upper, self.lower = upper, lower
        self.size = priors.size
        self._upper = None if upper is None else exp_lower(upper.exponent(epsilon))
        self._lower = None if lower is None else exp_lower(lower.exponent(epsilon))

    def lift_rows(self) -> LiftRows:
        """Return these rows."""
        return self

    def sides(self) -> list[tuple[str, Bound]]:
        """Return the bounded sides with their bounds."""
        both = [("upper", self.upper), ("lower", self.lower)]
        return [(side, bound) for side, bound in both if bound is not None]

    def is_for(self, prior: Weights) -> bool:
        """Return whether the lift is bounded for this prior only."""
        return set(self.priors.members) == {prior}

    def ends(self) -> tuple[float, float]:
        """Return the least and the largest lift as floats, 0 and inf where there is no bound."""
        exponents = {
            side: min(float(bound.exponent(self.epsilon)), LARGEST_EXPONENT)
            for side, bound in self.sides()
        }
        return math.exp(-exponents.get("lower", math.inf)), math.exp(
            exponents.get("upper", math.inf)
        )

    def rows(self) -> Iterator[Row]:
        """Yield the rows of every vertex of the set."""
        vertices = self.priors.vertices()
        for number, prior in enumerate(vertices):
            tail = f" prior {number + 1}" if len(vertices) > 1 else ""
            output = _positive(prior)
            for side, _ in self.sides():
                for x in range(self.size):
                    yield self._row(f"{self.name} {side} x={x}{tail}", side, x, output)

    def _row(self, name: str, side: str, x: int, output: Mapping[int, Fraction]) -> Row:
        """Return the row of an input, for the coefficients ``output`` of P . q."""
        bound, entry = dict(self.sides())[side], {x: Fraction(1)}
        left, right = (entry, output) if side == "upper" else (output, entry)
        return Row(name, left, bound.exponent(self.epsilon), right, bound.slope)

    def rows_of(self, found: Multipliers, labels: Sequence[Label]) -> list[Row]:
        """Return the row of each input and prior; with several priors the name has the prior."""
        names = [shown(label) for label in labels]
        head = "max-lift" if found.side == "upper" else "min-lift"
        priors = found.priors or self.priors.vertices()
        of_prior = [(self._tail(prior), _positive(prior)) for prior in priors]
        rows = []
        for x, n in zip(found.x.tolist(), found.other.tolist(), strict=True):
            tail, output = of_prior[n]
            rows.append(self._row(f"{head} of {names[x]}{tail}", found.side, x, output))
        return rows

    def _tail(self, prior: Weights) -> str:
        if self.is_for(prior):
            return ""
        return f" at the prior ({shortened(', '.join(map(short_text, prior)), MOST_SHOWN)})"

    def matrix(self) -> sp.csr_array:
        """Return the rows of every vertex of the set."""
        unit = sp.eye_array(self.size)
        blocks = []
        for prior in self.priors.vertices():
            mean = np.tile(np.array([float(p) for p in prior]), (self.size, 1))
            for side, bound in self.sides():
                shrink = math.exp(-float(bound.exponent(self.epsilon)))
                block = shrink * unit - mean if side == "upper" else shrink * mean - unit
                blocks.append(sp.csr_array(block))
        return sp.csr_array(sp.vstack(blocks)) if blocks else sp.csr_array((0, self.size))

    def binds(self) -> bool:
        """Return whether some column supported on a single input violates a row.

        It has lift 1 / P_x there, and lift 0 at another input, if there is one.
        """
        if self.lower is not None and self.size > 1:
            return True
        units = ([int(z == x) for z in range(self.size)] for x in range(self.size))
        return self._upper is not None and any(
            self._upper * self.priors.extreme_mean(unit, largest=False) < 1 for unit in units
        )

    def at(self, epsilon: Fraction) -> LiftRows:
        """Return the same rows at another epsilon."""
        found = LiftRows(self.name, self.priors, self.upper, self.lower, epsilon)
        return self._moved(found)

    def restricted(self, inputs: IntArray) -> LiftRows:
        """Return no rows: rows on P . q would join all inputs."""
        if self.sides():
            raise ValueError("lift rows join all inputs: there is no part to restrict them to")
        part = PriorList([[Fraction(1, len(inputs))] * len(inputs)])
        return LiftRows(self.name, part, None, None, self.epsilon)

    def merged(self, member_of: IntArray) -> tuple[LiftRows, CarryBack] | None:
        """Add up the probabilities of each class.

        Not possible for sets that are not lists, nor if two priors have the same class
        probabilities: multipliers could not be assigned to one of the two.
        """
        whole = self.priors.members
        sums = [_class_sums(prior, member_of) for prior in whole]
        if not whole or len(set(sums)) < len(set(whole)):
            return None
        first = np.unique(member_of, return_index=True)[1]
        prior_of = dict(zip(sums, whole, strict=True))

        def carry_back(found: Multipliers) -> Multipliers:
            return replace(found.on_inputs(first), priors=tuple(prior_of[p] for p in found.priors))

        rows = LiftRows(self.name, PriorList(sums), self.upper, self.lower, self.epsilon)
        return rows, carry_back

    def row_of(self, key: Key, column: Sequence[int]) -> Row:
        """Return the row of an input at the prior that is extreme for the column."""
        if self.kernel is None:
            return super().row_of(key, column)
        side, x, n = key
        prior = self.priors.extreme(column, largest=side == "lower")
        tail = f" prior {n + 1}" if len(self.priors.members) > 1 else ""
        return self._row(f"{self.name} {side} x={x}{tail}", side, x, _positive(prior))

    def surely_holding(self, columns: npt.NDArray[Any]) -> BoolArray:
        """Return False for every column: the exact test is as fast."""
        return np.zeros(columns.shape[1], dtype=bool)

    def links(self) -> Edges:
        """Connect all inputs: P . q involves all of them, or is compared with all of them."""
        return self._star(bool(self.sides()))

    def forced_equal(self) -> Edges:
        """Connect all inputs if a bound is 1: entries that never exceed their mean are equal."""
        return self._star(any(bound.exponent(self.epsilon) == 0 for _, bound in self.sides()))

    def _star(self, joined: bool) -> Edges:
        """Return edges from the first input to all others, or none."""
        others = np.arange(1, self.size if joined else 1)
        return np.zeros_like(others), others

    def equations(self, exact: bool = False) -> list[list[Fraction]]:
        """Return none: a bound of 1 makes all entries equal, which :meth:`forced_equal` covers."""
        return []

    def support(self, positive: BoolArray) -> BoolArray:
        """Return all inputs if the lift is bounded from below and any input is positive."""
        return positive | positive.any(axis=0) if self.lower is not None else positive

    def read_dual(self, weights: FloatArray) -> list[Multipliers]:
        """Give each multiplier the side, the input and the prior of its row."""
        vertices, found, row = self.priors.vertices(), [], 0
        for number in range(len(vertices)):
            for side, _ in self.sides():
                x, output = np.nonzero(weights[row : row + self.size] > 0)
                other, weight = np.full(len(x), number), weights[row + x, output]
                found.append(Multipliers(side, output, x, other, weight, vertices))
                row += self.size
        return found

    def add_terms(self, costs: FloatArray, found: Multipliers) -> None:
        """Add the terms of each side: to one entry, and to all in proportion to the prior."""
        shrink = math.exp(-float(dict(self.sides())[found.side].exponent(self.epsilon)))
        of_entry, of_mean = (shrink, -1.0) if found.side == "upper" else (-1.0, shrink)
        np.add.at(costs, (found.x, found.output), of_entry * found.weight)
        used, number = np.unique(found.other, return_inverse=True)
        listed = found.priors or self.priors.vertices()
        table = np.array([[float(p) for p in listed[n]] for n in used]).reshape(-1, self.size)
        totals = np.zeros((len(used), costs.shape[1]))
        np.add.at(totals, (number, found.output), of_mean * found.weight)
        costs += table.T @ totals

    def raise_needed(self, column: Sequence[int], direction: Sequence[int]) -> int | None:
        """Solve the rows of the worst prior of each side for t, until that prior stays the same."""
        raised, total = list(column), 0
        for _ in range(MOST_PRIORS):
            needed = self._raise_once(raised, direction)
            if not needed:
                return None if needed is None else total
            total += needed
            raised = [q + needed * d for q, d in zip(raised, direction, strict=True)]
        return None

    def _raise_once(self, column: Sequence[int], direction: Sequence[int]) -> int | None:
        """Return the least t for the rows at the worst prior of each side."""
        needed, whole = 0, self.priors.denominator
        for limit, upper in ((self._upper, True), (self._lower, False)):
            if limit is None:
                continue
            prior = self.priors.extreme_numerators(column, largest=not upper)
            mean, drift = sum(map(mul, prior, column)), sum(map(mul, prior, direction))
            top, bottom = limit.numerator, limit.denominator
            for q, d in set(zip(column, direction, strict=True)):
                if upper:
                    lack = q * bottom * whole - top * mean
                    gain = top * drift - d * bottom * whole
                else:
                    lack = mean * bottom - top * q * whole
                    gain = d * top * whole - drift * bottom
                if lack > 0:
                    if gain <= 0:
                        return None
                    needed = max(needed, -(-lack // gain))
        return needed


def _positive(prior: Weights) -> dict[int, Fraction]:
    """Return the probabilities > 0 by the number of the input."""
    return {z: p for z, p in enumerate(prior) if p}


def _class_sums(prior: Weights, member_of: IntArray) -> Weights:
    sums = [Fraction(0)] * (int(member_of.max()) + 1)
    for c, p in zip(member_of.tolist(), prior, strict=True):
        sums[c] += p
    return tuple(sums)
