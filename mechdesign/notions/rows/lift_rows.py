"""Bounds on the lift: rows on the ratio of an entry of a column to the output probability.

    q_x <= e**upper * (P . q)   and   P . q <= e**lower * q_x    for every x and every P of a set

P . q is the probability of the output, so q_x / (P . q) is the lift, the ratio of posterior to
prior. Jiang et al. 2018, Definition 3 (one prior); Jiang et al. 2021, Definition 6 (a set).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, IntArray
from mechdesign.domain import Label
from mechdesign.errors import shown
from mechdesign.exact import short_text
from mechdesign.kernel.generators import Key, Lift, Listed
from mechdesign.notions.rows.family import Edges, Family, Keys
from mechdesign.notions.rows.row import Multipliers, Row
from mechdesign.prior_sets import Weights, set_of
from mechdesign.text import shortened

MOST_SHOWN = 60
"""Characters of a prior in the name of a row."""

LARGEST_EXPONENT = 700.0
"""The largest exponent of e that gives a finite float."""


class LiftRows(Family):
    """Bounds on the lift from above, from below, or both, for all priors of a set.

    Rows are linear in P, so the vertices of its set of priors suffice. The kernel generator is at
    epsilon = 1, or at the excess 0 for a notion without a budget: exponents are multiples of
    epsilon, or grow by it.
    """

    part: Lift

    def __init__(
        self, name: str, part: Lift, epsilon: Fraction, *, has_epsilon: bool = True
    ) -> None:
        self.name, self.part, self.priors = name, part, set_of(part.priors)
        self.size, self.epsilon, self.has_epsilon = self.priors.size, epsilon, has_epsilon

    def lift_rows(self) -> LiftRows:
        """Return these rows."""
        return self

    def sides(self) -> dict[str, Fraction]:
        """Return the bounded sides with their exponents."""
        units = {"upper": self.part.upper, "lower": self.part.lower}
        return {side: self._exponent(unit) for side, unit in units.items() if unit is not None}

    @cached_property
    def vertices(self) -> tuple[Weights, ...]:  # type: ignore[override]
        """The vertices of the set of priors."""
        return self.priors.vertices()

    def is_for(self, prior: Weights) -> bool:
        """Return whether the lift is bounded for this prior only."""
        members = self.priors.members
        return bool(members) and all(member == prior for member in members)

    def ends(self) -> tuple[float, float]:
        """Return the least and the largest lift as floats, 0 and inf where there is no bound."""
        exponents = {side: min(float(a), LARGEST_EXPONENT) for side, a in self.sides().items()}
        return math.exp(-exponents.get("lower", math.inf)), math.exp(
            exponents.get("upper", math.inf)
        )

    def keys(self) -> list[Keys]:
        """Return both sides of every input for every vertex of the set."""
        x, numbers = np.arange(self.size), range(len(self.vertices))
        return [(side, x, np.full_like(x, n)) for n in numbers for side in self.sides()]

    def _row(self, key: Key, priors: Sequence[Weights]) -> Row:
        part = replace(self.part, priors=Listed(tuple(priors)))
        return self._moved(part.row(key, self.size, up=False))

    def _name(
        self, _row: Row, key: Key, labels: Sequence[Label] | None, priors: Sequence[Weights]
    ) -> str:
        """Return the name of the row of an input and a prior, with the prior if there are more."""
        side, x, other = key
        if labels is None:
            tail = f" prior {other + 1}" if len(priors) > 1 else ""
            return f"{self.name} {side} x={x}{tail}"
        text = shortened(", ".join(map(short_text, priors[other])), MOST_SHOWN)
        tail = "" if self.is_for(priors[other]) else f" at the prior ({text})"
        return f"{'max' if side == 'upper' else 'min'}-lift of {shown(labels[x])}{tail}"

    def terms(self, keys: Keys, priors: Sequence[Weights] = ()) -> sp.csr_array:
        """Return the rows: one entry, and all in proportion to a prior."""
        side, x, other = keys
        shrink = math.exp(-float(self.sides()[side]))
        of_entry, of_mean = (shrink, -1.0) if side == "upper" else (-1.0, shrink)
        used, place = np.unique(other, return_inverse=True)
        table = np.array([[float(p) for p in priors[n]] for n in used]).reshape(-1, self.size)
        found = of_mean * table[place]
        found[np.arange(len(x)), x] += of_entry
        return sp.csr_array(found)

    def restricted(self, inputs: IntArray) -> LiftRows:
        """Return no rows: rows on P . q would join all inputs, and leave no part of them."""
        prior = (Fraction(1, len(inputs)),) * len(inputs)
        return LiftRows(self.name, replace(self.part, priors=Listed((prior,))), self.epsilon)

    def renamed(self, found: Multipliers, inputs: IntArray) -> Multipliers:
        """Rename the input of each row; the numbers of priors stay."""
        return replace(found, x=inputs[found.x])

    def _priors_at(self, key: Key, column: Sequence[int]) -> Sequence[Weights]:
        """Return the prior that is extreme for the column, in every place."""
        prior = self.priors.extreme(column, largest=key[0] == "lower")
        return [prior] * max(1, len(self.priors.members))

    def links(self) -> Edges:
        """Connect all inputs: P . q involves all of them, or is compared with all of them."""
        return self._star(bool(self.sides()))

    def forced_equal(self) -> Edges:
        """Connect all inputs if a bound is 1: entries that never exceed their mean are equal."""
        return self._star(0 in self.sides().values())

    def _star(self, joined: bool) -> Edges:
        """Return edges from the first input to all others, or none."""
        others = np.arange(1, self.size if joined else 1)
        return np.zeros_like(others), others

    def equations(self, exact: bool = False) -> list[list[Fraction]]:
        """Return none: a bound of 1 makes all entries equal, which :meth:`forced_equal` covers."""
        return []

    def support(self, positive: BoolArray) -> BoolArray:
        """Return all inputs if the lift is bounded from below and any input is positive."""
        return positive | positive.any(axis=0) if self.part.lower is not None else positive
