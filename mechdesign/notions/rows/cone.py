"""Cones of columns: what a privacy notion asks of each column q of the channel.

Every row of every notion here is one inequality

    e**(-a) * (left . q) <= right . q          left, right >= 0,

a ratio bound ``left . q <= e**a right . q`` scaled so that nothing overflows. The rows come in
families that share a structure, one family for each notion: ratios of entries (`pair_rows`) and
ratios to the output law (`lift_rows`). An intersection of notions is a list of families.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from mechdesign._typing import BoolArray, FloatArray, Int64Array, IntArray
from mechdesign.channel import Channel
from mechdesign.exact import as_fraction
from mechdesign.notions.rows.equations import Basis, null_space
from mechdesign.prior_sets import Weights

if TYPE_CHECKING:
    from mechdesign.notions.rows.lift_rows import LiftRows
    from mechdesign.notions.rows.pair_rows import PairRows

BEYOND = Fraction(10**300)
"""An epsilon at which every row holds that any epsilon can mend."""

LEAST_STEP = 1e-290

OF_SECRETS = "secret-"
"""What the name of a side of multipliers begins with where ``x`` and ``other`` number secrets."""

NUMBERED = "row"
"""The side of multipliers whose ``x`` is the number of a row in the order of the family."""

__all__ = ["NUMBERED", "Bound", "CarryBack", "Cone", "Family", "Multipliers", "Row"]


@dataclass(frozen=True)
class Bound:
    """A bound ``factor * e**(base + slope * epsilon)`` on a ratio, kept exact.

    ``slope`` says how the bound moves with the epsilon of its notion, so that the leakage of a
    channel, the least epsilon that it satisfies, can be read from the same rows.
    """

    base: Fraction = Fraction(0)
    slope: Fraction = Fraction(1)
    factor: Fraction = Fraction(1)

    def exponent(self, epsilon: Fraction) -> Fraction:
        """Return ``base + slope * epsilon``."""
        return self.base + self.slope * epsilon


class Row(NamedTuple):
    """One named row, ``exp(-exponent) * (left . q) <= right . q``, exact and sparse."""

    name: str
    left: dict[int, Fraction]
    exponent: Fraction
    right: dict[int, Fraction]


@dataclass(frozen=True)
class Multipliers:
    """Dual weights >= 0 on the rows of one family, only where they are not zero.

    Attributes
    ----------
    side
        Which rows: ``"ratio"`` (``x`` against the input ``other``), ``"upper"`` or ``"lower"``
        (``x`` against the prior number ``other``); after :data:`OF_SECRETS` where the rows are on
        secrets behind the inputs; :data:`NUMBERED` where ``x`` numbers the rows of the family.
    output, x, other
        Integer arrays of one length.
    weight
        Float array: the multiplier of each row, as the rows are scaled here.
    """

    side: str
    output: IntArray
    x: IntArray
    other: IntArray
    weight: FloatArray

    @property
    def is_of_secrets(self) -> bool:
        """Whether ``x`` numbers secrets, not inputs."""
        return self.side.startswith(OF_SECRETS)

    @property
    def refer_to_priors(self) -> bool:
        """Whether ``other`` numbers the priors that rows on lifts are for."""
        return self.side in ("upper", "lower")

    def on_inputs(self, inputs: IntArray) -> Multipliers:
        """Return the multipliers on the same rows where the input ``x`` is called ``inputs[x]``.

        Rows that are not named by an input, those on secrets and numbered ones, keep their names.
        """
        if self.side == "ratio":
            return replace(self, x=inputs[self.x], other=inputs[self.other])
        return replace(self, x=inputs[self.x]) if self.refer_to_priors else self

    def scaled(self, factor: float) -> Multipliers:
        """Return the multipliers for costs that are ``factor`` times as large."""
        return replace(self, weight=factor * self.weight)


CarryBack: TypeAlias = Callable[
    [tuple[Multipliers, ...], tuple[Weights, ...]],
    tuple[tuple[Multipliers, ...], tuple[Weights, ...]],
]
"""Takes multipliers on the rows of a smaller family, and the priors they refer to, to those of the
family that it was made from."""


class Family(ABC):
    """Rows that one notion contributes, on columns of ``size`` entries.

    Attributes
    ----------
    size
        The number of inputs.
    epsilon
        The value at which the bounds stand.
    """

    size: int
    epsilon: Fraction

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Yield the rows, exact and named."""

    @abstractmethod
    def matrix(self) -> sp.csr_array:
        """Return the rows as a float matrix G of shape ``(n_rows, size)``: G q <= 0."""

    @property
    @abstractmethod
    def largest_base(self) -> float:
        """The largest base of a bound: it sets the rounding error of :meth:`estimate`."""

    def ratio_rows(self) -> PairRows | None:
        """Return these rows as bounds on ratios of two entries; None if they are not."""
        return None

    def lift_rows(self) -> LiftRows | None:
        """Return these rows as bounds on the lift; None if they are not."""
        return None

    @abstractmethod
    def binds(self) -> bool:
        """Return whether any column breaks a row: if not, nothing is constrained. Exact."""

    @abstractmethod
    def at(self, epsilon: Fraction) -> Family:
        """Return the same rows at another epsilon."""

    @abstractmethod
    def restricted(self, inputs: IntArray) -> Family:
        """Return the rows on some of the inputs, which share none with the others.

        Where multipliers number the rows, the numbers stay: rows on other inputs say 0 <= 0.
        """

    def merged(self, member_of: IntArray) -> tuple[Family, CarryBack] | None:
        """Return the rows with one input for each class of inputs whose entries are equal.

        Parameters
        ----------
        member_of
            ``(size,)``: the class of each input, from 0.

        Returns
        -------
        family, carry_back
            Rows on columns with one entry for each class, and what takes multipliers on them back:
            the terms w (e**-a left - right) of an input class sum to those on the class. None where
            the rows cannot be stated so.
        """
        return None

    @abstractmethod
    def violation(self, column: Sequence[int]) -> str | None:
        """Return the name of a row that an integer column breaks, exactly; None if none."""

    def all_hold(self, numerators: npt.NDArray[Any]) -> bool:
        """Return whether every column of ``(n_inputs, n_outputs)`` integers satisfies the rows."""
        return all(self.violation(column) is None for column in numerators.T.tolist())

    @abstractmethod
    def estimate(self, numerators: npt.NDArray[Any]) -> float:
        """Return the least epsilon at which all rows hold, in floating point.

        It is -inf where the rows say nothing, and inf where no epsilon does.
        """

    @abstractmethod
    def links(self) -> sp.csr_array:
        """Return a graph on the inputs that joins those which share a row."""

    @abstractmethod
    def forced_equal(self) -> sp.csr_array:
        """Return a graph on the inputs that joins those whose rows of Q must be equal."""

    def equations(self) -> list[list[Fraction]]:
        """Return rows g with g . q = 0 in every column, where these are more than equal entries."""
        return []

    @abstractmethod
    def support(self, positive: BoolArray) -> BoolArray:
        """Return the least sets of inputs, with those given, that columns can be positive on.

        ``positive`` has shape ``(n_inputs, n_outputs)``.
        """

    @abstractmethod
    def raised(self, columns: Int64Array) -> Int64Array:
        """Raise entries of columns as far as that alone is sure to mend rows.

        ``columns`` are integers from 0 to 2**62, shape ``(n_inputs, n_outputs)``.
        """

    @abstractmethod
    def holding(self, columns: Int64Array) -> BoolArray:
        """Say of each column whether it satisfies the rows for sure; no may mean perhaps."""

    def read_dual(self, weights: FloatArray) -> tuple[list[Multipliers], tuple[Weights, ...]]:
        """Name the rows of dual variables for the rows of :meth:`matrix`.

        Parameters
        ----------
        weights
            ``(n_rows, n_outputs)`` numbers >= 0.

        Returns
        -------
        multipliers, priors
            Those that are not 0, and the priors that those on lift rows refer to. Rows are named by
            their numbers, unless the family knows better names.
        """
        row, output = np.nonzero(weights > 0)
        places = (output, row, np.zeros_like(row))
        return [Multipliers(NUMBERED, *places, weight=weights[row, output])], ()

    def add_terms(
        self, costs: FloatArray, found: Multipliers, priors: tuple[Weights, ...] = ()
    ) -> None:
        """Add the terms w (e**-a left - right) of multipliers w to the costs of the entries of Q.

        Parameters
        ----------
        costs
            ``(size, n_outputs)``, changed in place. As no private column makes a term positive, the
            sum over inputs of their least costs is then a lower bound on the optimum.
        found
            Multipliers on rows of this family.
        priors
            What those on lift rows refer to; none given: the vertices of the set.
        """
        G = self.matrix()
        y, number = np.unique(found.output, return_inverse=True)
        w = sp.csr_array((found.weight, (found.x, number)), shape=(G.shape[0], len(y)))
        costs[:, y] += (G.T @ w).toarray()

    @abstractmethod
    def raise_needed(self, column: Sequence[int], direction: Sequence[int]) -> int | None:
        """Return the least t >= 0 that makes ``column + t * direction`` satisfy the rows.

        ``direction`` is a whole number >= 0 on each input. None: no t does.
        """

    def leakage(self, channel: Channel) -> float:
        """Return the smallest float epsilon at which the exact channel satisfies the rows.

        The estimate is rounded up until the exact check passes, so it is never too small, and
        too large by a few units in the last place at most.
        """
        numerators = channel.numerators

        def holds(epsilon: Fraction) -> bool:
            return self.at(epsilon).all_hold(numerators)

        guess = self.estimate(numerators)
        if not np.isfinite(guess) or not holds(BEYOND):
            return float("inf") if guess > 0 else 0.0
        asked = float(self.epsilon)
        step = max(2.0**-52 * max(abs(guess), self.largest_base), LEAST_STEP)
        while not holds(as_fraction(guess)):
            guess += step
            step *= 2
        for least in (asked, math.nextafter(asked, 2 * asked)):
            if guess > least and holds(as_fraction(least)):
                return least  # the rounding up went past what was asked for, which holds
        return guess


class Cone:
    """The columns allowed by one or more notions: the intersection of their families.

    Parameters
    ----------
    families
        At least one, all on the same number of inputs.
    """

    def __init__(self, families: Sequence[Family]) -> None:
        self.families = tuple(families)
        self.size = self.families[0].size

    def rows(self) -> Iterator[Row]:
        """Yield all rows, exact and named."""
        for family in self.families:
            yield from family.rows()

    def matrix(self) -> sp.csr_array:
        """Return G as a sparse float matrix, in the order of :meth:`rows`."""
        return sp.csr_array(sp.vstack([family.matrix() for family in self.families]))

    def restricted(self, inputs: IntArray) -> Cone:
        """Return the cone on some of the inputs, which share no row with the others."""
        if len(inputs) == self.size:
            return self
        return Cone([family.restricted(inputs) for family in self.families])

    def violation(self, column: Sequence[int]) -> str | None:
        """Return the name of a row that an integer column breaks, exactly; None if none."""
        for family in self.families:
            broken = family.violation(column)
            if broken is not None:
                return broken
        return None

    def holds(self, channel: Channel) -> bool:
        """Return whether the exact channel satisfies every row, exactly."""
        return all(family.all_hold(channel.numerators) for family in self.families)

    def components(self) -> IntArray:
        """Return the number of the component that each input belongs to, from 0.

        Inputs in different components share no row, so a utility that is linear in Q splits.
        """
        return _classes(self.size, [family.links() for family in self.families])

    def equal_classes(self) -> IntArray:
        """Return the number of the class of each input; rows of Q in one class must be equal."""
        return _classes(self.size, [family.forced_equal() for family in self.families])

    def flat_basis(self) -> Basis | None:
        """Return a basis of the columns that obey all equations; None if equal rows are all."""
        equations = [row for family in self.families for row in family.equations()]
        if not equations:
            return None
        classes = self.equal_classes().tolist()
        for x, c in enumerate(classes):
            first = classes.index(c)
            if first < x:
                equations.append([Fraction((z == x) - (z == first)) for z in range(self.size)])
        basis = null_space(equations, self.size)
        return basis if len(basis[0]) <= max(classes) else None


def _classes(size: int, graphs: list[sp.csr_array]) -> IntArray:
    """Return the number of the part that each input is in, joined by some graph, from 0."""
    joining = [graph for graph in graphs if graph.nnz]
    if not joining:
        return np.arange(size)
    joined = joining[0]
    for graph in joining[1:]:
        joined = joined + graph
    _, labels = connected_components(joined, directed=False)
    return np.asarray(labels, dtype=np.intp)
