"""The rows of one notion in a cone, and what follows from them.

Every row of every notion here is one inequality on a column q,

    left . q <= e**a (right . q)          left, right >= 0.

A family has three parts: its **rows**, exact and as a float matrix; their **repair**, which makes a
nearly private column satisfy them; and their **leakage**, the least epsilon at which they hold. All
of it follows from the rows alone. A subclass with more structure, such as ratios of two entries,
overrides the methods that it can compute faster.

In integers a row is ``g . q <= 0`` with g in proportion to ``r left - right``, where r is a
rational just above e**-a. The kernel decides whether a column satisfies all rows: each family is a
generator of the kernel at one epsilon, and derives from it what solvers need in bulk.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from mechdesign._typing import AnyArray, BoolArray, FloatArray, Int64Array, IntArray
from mechdesign.channel import Channel
from mechdesign.domain import Label
from mechdesign.kernel.arithmetic import over_one_denominator
from mechdesign.kernel.generators import Cone, Key, ListedRow, Rows
from mechdesign.kernel.generators.base import Test
from mechdesign.notions.rows.row import LOWEST, Multipliers, Row, decimal, reported
from mechdesign.prior_sets import Weights

if TYPE_CHECKING:
    from mechdesign.notions.rows.lift_rows import LiftRows
    from mechdesign.notions.rows.pair_rows import PairRows

Edges: TypeAlias = tuple[IntArray, IntArray]
"""Pairs of inputs, as an array of the first ones and one of the second ones."""

Keys: TypeAlias = tuple[str, IntArray, IntArray]
"""Rows of one side, by the names that the kernel and :class:`Multipliers` give them."""


class Family:
    """The rows of one notion, on columns of ``size`` entries: by default listed one by one.

    ``has_epsilon`` is whether the notion has a budget; the leakage is then at least 0.
    """

    part: Cone | None = None
    """The kernel generator at epsilon = 1, or at the excess 0 for a notion without a budget; None
    if the rows are listed."""

    vertices: tuple[Weights, ...] = ()
    """The priors that the rows refer to."""

    def __init__(
        self,
        rows: Sequence[Row],
        size: int,
        epsilon: Fraction,
        *,
        has_epsilon: bool = False,
    ) -> None:
        self.size, self.epsilon, self.has_epsilon = size, epsilon, has_epsilon
        self._rows, self._given = dict(enumerate(rows)), epsilon

    def __getstate__(self) -> dict[str, Any]:
        """Drop what is computed from the attributes, here and in copies."""
        kind = type(self)
        computed = {k for k in vars(self) if isinstance(getattr(kind, k, None), cached_property)}
        return {key: value for key, value in vars(self).items() if key not in computed}

    def _with(self, **changes: Any) -> Self:
        """Return the rows with other attributes."""
        found = copy.copy(self)
        vars(found).update(changes)
        return found

    def at(self, epsilon: Fraction) -> Self:
        """Return the same rows at another epsilon."""
        return self._with(epsilon=epsilon)

    def restricted(self, inputs: IntArray) -> Family:
        """Return the rows on a subset of the inputs that shares no row with the others.

        Numbered rows keep their numbers.
        """
        place = {x: n for n, x in enumerate(inputs.tolist())}
        rows = {
            n: row._replace(
                left={place[x]: v for x, v in row.left.items()},
                right={place[x]: v for x, v in row.right.items()},
            )
            for n, row in self._rows.items()
            if place.keys() & {*row.left, *row.right}
        }
        return self._with(_rows=rows, size=len(inputs))

    def renamed(self, found: Multipliers, _inputs: IntArray) -> Multipliers:
        """Return multipliers on the same rows with each input x renamed to ``inputs[x]``.

        Rows that are not named by inputs keep their names.
        """
        return found

    def ratio_rows(self) -> PairRows | None:
        """Return these rows as bounds on ratios of two entries; None if they are not."""
        return None

    def lift_rows(self) -> LiftRows | None:
        """Return these rows as bounds on the lift; None if they are not."""
        return None

    # --- rows -------------------------------------------------------------------------------------

    def keys(self) -> list[Keys]:
        """Return the names of all rows, in their order."""
        numbers = np.array([*self._rows], dtype=np.intp)
        return [("", numbers, np.zeros_like(numbers))]

    def rows(self) -> Iterator[Row]:
        """Yield the rows, exact and named."""
        for side, x, other in self.keys():
            yield from self.rows_of(Multipliers(side, x, x, other, np.ones(len(x)), self.vertices))

    def rows_of(self, found: Multipliers, labels: Sequence[Label] | None = None) -> list[Row]:
        """Return the row of each multiplier; names are by labels of inputs, or their numbers."""
        priors = found.priors or self.vertices
        places = zip(found.x.tolist(), found.other.tolist(), strict=True)
        return [self._named((found.side, *place), labels, priors) for place in places]

    def _named(self, key: Key, labels: Sequence[Label] | None, priors: Sequence[Weights]) -> Row:
        row = self._row(key, priors)
        return row._replace(name=self._name(row, key, labels, priors))

    def _row(self, key: Key, _priors: Sequence[Weights]) -> Row:
        row = self._rows[key[1]]
        return row._replace(exponent=row.exponent + row.slope * (self.epsilon - self._given))

    def _name(
        self, row: Row, _key: Key, _labels: Sequence[Label] | None, _priors: Sequence[Weights]
    ) -> str:
        return str(row.name)

    def _moved(self, row: ListedRow) -> Row:
        """Return a row of the kernel generator at the epsilon."""
        unit, slope = row.exponent, row.exponent if self.has_epsilon else Fraction(1)
        return Row("", dict(row.left), self._exponent(unit), dict(row.right), slope)

    def _exponent(self, unit: Fraction) -> Fraction:
        return unit * self.epsilon if self.has_epsilon else unit + self.epsilon

    def terms(self, keys: Keys, _priors: Sequence[Weights] = ()) -> sp.csr_array:
        """Return rows ``e**-a left - right`` in floats, ``(n_rows, size)``: at most 0 times q.

        ``priors`` are those that the rows refer to, in place of :attr:`vertices`.
        """
        return sp.csr_array(self._terms[np.searchsorted([*self._rows], keys[1])])

    @cached_property
    def _terms(self) -> sp.csr_array:
        return self._matrix([row.listed.net(weak=True) for row in self.rows()])

    def matrix(self) -> sp.csr_array:
        """Return all rows as a float matrix G of shape ``(n_rows, size)``: G q <= 0."""
        blocks = [self.terms(keys, self.vertices) for keys in self.keys()]
        return sp.csr_array(sp.vstack(blocks)) if blocks else sp.csr_array((0, self.size))

    def read_dual(self, weights: FloatArray) -> list[Multipliers]:
        """Convert multipliers of the rows of :meth:`matrix`, ``(n_rows, n_outputs)``."""
        found, first = list[Multipliers](), 0
        for side, x, other in self.keys():
            own = weights[first : first + len(x)]
            row, output = np.nonzero(own > 0)
            weight = own[row, output]
            found.append(Multipliers(side, output, x[row], other[row], weight, self.vertices))
            first += len(x)
        return found

    def add_terms(self, costs: FloatArray, found: Multipliers) -> None:
        """Add the terms w (e**-a left - right) of multipliers to ``(size, n_outputs)`` costs.

        No term is positive at a private column, so the sum over inputs of their least costs is
        then a lower bound on the optimum.
        """
        width = int(found.other.max(initial=0)) + 1
        code, row = np.unique(found.x * width + found.other, return_inverse=True)
        rows = self.terms((found.side, *np.divmod(code, width)), found.priors or self.vertices)
        shape = (len(code), costs.shape[1])
        costs += (rows.T @ sp.csr_array((found.weight, (row, found.output)), shape=shape)).toarray()

    # --- what holds -------------------------------------------------------------------------------

    @cached_property
    def generator(self) -> Cone:
        """The kernel generator of the rows, which decides what holds."""
        if self.part is None:
            return Rows(tuple(row.listed for row in self.rows()))
        if self.has_epsilon:
            return self.part.moved(self.epsilon, Fraction(0))
        return self.part.moved(Fraction(1), self.epsilon)

    @cached_property
    def _test(self) -> Test:
        return self.generator.test(self.size)

    def broken(self, column: Sequence[int]) -> Row | None:
        """Return a row that an integer column violates, exactly; None if none."""
        key = self._test(column)
        if key is None:
            return None
        if self.part is None:
            return next(islice(self.rows(), key[1], None))
        return self._named(key, None, self._priors_at(key, column))

    def _priors_at(self, _key: Key, _column: Sequence[int]) -> Sequence[Weights]:
        """Return the priors that a broken row refers to."""
        return self.vertices

    def violation(self, column: Sequence[int]) -> str | None:
        """Return the name of a row that an integer column violates, exactly; None if none."""
        row = self.broken(column)
        return None if row is None else row.name

    def worst(self, columns: AnyArray) -> tuple[int, Row | None]:
        """Return a column and a row that it violates; the worst, if that is fast to find."""
        return 0, self.broken(columns[:, 0].tolist())

    def holding(self, columns: AnyArray) -> BoolArray:
        """Return for each column of ``(size, n_outputs)`` integers whether the rows hold."""
        return np.array([self._test(column) is None for column in columns.T.tolist()], dtype=bool)

    def all_hold(self, columns: AnyArray) -> bool:
        """Return whether all columns satisfy the rows, exactly."""
        return bool(self.holding(columns).all())

    @property
    def floor(self) -> float:
        """The smallest reported leakage."""
        return 0.0 if self.has_epsilon else LOWEST

    def leakage(self, channel: Channel) -> float:
        """Return the least float epsilon at which the exact channel satisfies the rows.

        A row that a column violates gives a lower bound, and the search goes on with the columns
        that violate the rows there: in random order, few columns raise the bound.
        """
        columns = np.random.default_rng(0).permutation(channel.numerators, axis=1)
        family, found = self.at(decimal(self.floor)), self.floor
        while columns.shape[1]:
            y, row = family.worst(columns)
            if row is not None:
                least = row.least_epsilon(columns[:, y].tolist(), family.epsilon)
                found = max(math.nextafter(found, math.inf), least)
                if math.isinf(found):
                    return found
                family = self.at(decimal(found))
            columns = columns[:, ~family.holding(columns)]
        return reported(max(0.0, found) if found == self.floor else found, self.epsilon)

    # --- repair -----------------------------------------------------------------------------------

    @cached_property
    def _integers(self) -> list[dict[int, int]]:
        """The nonzero entries of each row as integers g, by the number of the input."""
        return list(map(_integers, self.rows()))

    def _matrix(self, rows: Sequence[Mapping[int, Any]]) -> sp.csr_array:
        places = [(r, x) for r, row in enumerate(rows) for x in row]
        values = np.array([float(v) for row in rows for v in row.values()])
        r, x = np.array(places, dtype=np.intp).reshape(-1, 2).T
        return sp.csr_array((values, (r, x)), shape=(len(rows), self.size))

    @cached_property
    def _sides(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Where the integers are positive and where they are negative, as zeros and ones."""
        positive = [{x: 1 for x, v in row.items() if v > 0} for row in self._integers]
        negative = [{x: 1 for x, v in row.items() if v < 0} for row in self._integers]
        return self._matrix(positive), self._matrix(negative)

    @cached_property
    def _tight(self) -> list[int]:
        """The rows that constant columns satisfy with equality, up to the rounding of e**a."""
        return [r for r, row in enumerate(self._integers) if row and not sum(row.values())]

    def binds(self) -> bool:
        """Return whether any column violates a row, exactly: if not, nothing is constrained."""
        units = ([int(z == x) for z in range(self.size)] for x in range(self.size))
        return any(self._test(unit) is not None for unit in units)

    def links(self) -> Edges:
        """Return edges that connect the inputs that share a row."""
        return edges_of((min(row), x) for row in self._integers for x in row)

    def equations(self, exact: bool = False) -> list[list[Fraction]]:
        """Return rows g with g . q = 0 in every column; :meth:`forced_equal` may cover ties.

        Let g . 1 = 0. The columns of a channel sum to 1, so their g . q sum to 0; as none is
        positive, each is 0. ``exact`` leaves out rows whose bound was rounded to 1, which channels
        that are proved private in integers satisfy as well.
        """
        found, rows = dict[tuple[Fraction, ...], None](), list(self.rows() if self._tight else ())
        for r in self._tight:
            net = self._integers[r]
            if not (exact and rows[r].exponent):
                head = net[min(net)]  # normalizes the sign and scale of the equation
                found[tuple(Fraction(net.get(x, 0), head) for x in range(self.size))] = None
        return list(map(list, found))

    def forced_equal(self) -> Edges:
        """Return pairs of inputs whose rows of Q are equal by bounds of 1.

        Ties in :meth:`equations` may be left out.
        """
        return edges_of(())

    def support(self, positive: BoolArray) -> BoolArray:
        """Return the least supports that contain the given ones, ``(n_inputs, n_outputs)``.

        A row that is positive on its left needs a positive entry on its right. Where there is a
        choice, the whole right-hand side is added.
        """
        (plus, minus), tight = self._sides, self._tight
        left, right = sp.vstack([plus, minus[tight]]), sp.vstack([minus, plus[tight]])
        while True:
            given = positive.astype(np.float64)
            missing = (left @ given > 0) & ~(right @ given > 0)
            wider: BoolArray = positive | (right.T @ missing.astype(np.float64) > 0)
            if (wider == positive).all():
                return wider
            positive = wider

    def raised(self, columns: Int64Array) -> Int64Array:
        """Raise entries of integer columns, from 0 to 2**62, where that satisfies rows.

        In general a larger entry satisfies one row and violates another, and nothing is raised.
        """
        return columns

    def raise_needed(self, column: Sequence[int], direction: Sequence[int]) -> int | None:
        """Return the least t >= 0 for which ``column + t * direction`` satisfies all rows.

        A violated row needs t = (g . q) / -(g . d), if that is positive; else no t exists. Rows
        that are violated at such a t follow. ``direction`` has an integer >= 0 for each input.
        """
        raised, total = list(column), 0
        while rows := self._broken_integers(raised):
            lacks = [_product(row, raised) for row in rows]
            gains = [-_product(row, direction) for row in rows]
            if min(gains) <= 0:
                return None
            steps = (-(-lack // gain) for lack, gain in zip(lacks, gains, strict=True))
            total += max(1, *steps)  # the kernel may round e**a by a unit more
            raised = [q + total * d for q, d in zip(column, direction, strict=True)]
        return total

    def _broken_integers(self, column: Sequence[int]) -> list[dict[int, int]]:
        """Return rows that a column violates: all of them, if they are listed."""
        if self.part is None:
            return [row for row in self._integers if _product(row, column) > 0]
        row = self.broken(column)
        return [] if row is None else [_integers(row)]


def edges_of(pairs: Iterable[tuple[int, int]]) -> Edges:
    """Return pairs of inputs as two arrays."""
    x, other = np.array([*pairs], dtype=np.intp).reshape(-1, 2).T
    return x, other


def components(size: int, graphs: Sequence[Edges]) -> IntArray:
    """Return the component of each input in the union of some graphs, by their first inputs."""
    x, other = np.hstack(graphs)
    if not len(x):
        return np.arange(size)
    union = sp.csr_array((np.ones(len(x), dtype=np.int8), (x, other)), shape=(size, size))
    return connected_components(union, directed=False)[1].astype(np.intp)


def _product(row: Mapping[int, int], column: Sequence[int]) -> int:
    return sum(v * column[x] for x, v in row.items())


def _integers(row: Row) -> dict[int, int]:
    """Return e**-a left - right in integers without zeros, with a rational just above e**-a."""
    net = row.listed.net(weak=False)
    whole, _ = over_one_denominator(net.values())
    return {x: v for x, v in zip(net, whole, strict=True) if v}
