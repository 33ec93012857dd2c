"""The continuous channel: from numbers of an interval, or points of a box, to exact reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.channel import Channel, as_channel
from mechdesign.continuous.domain import Box, End, Interval, domain_of, end_text, pair_of
from mechdesign.continuous.laws import Law
from mechdesign.continuous.rounding import Cells, Rounding, doubles_of, rounding_of, within
from mechdesign.domain import Domain
from mechdesign.errors import InputError, listed, shown, shown_kind
from mechdesign.exact import as_fraction
from mechdesign.kernel.documents import digest
from mechdesign.kernel.names import Utility
from mechdesign.kernel.rounding.moments import mass
from mechdesign.kernel.rounding.nodes import Rounded
from mechdesign.prior import Prior
from mechdesign.reports import Labels, Reports, ReportSource
from mechdesign.sampling import Randomness, Source, source_of
from mechdesign.text import Matrix, Tabular


class ContinuousChannel(ReportSource, Tabular):
    """A kernel Q(y|x) = Sum_i w_i(x) Q_i(y) for the numbers of an interval or the points of a box.

    An input is rounded to a node i with probability w_i(x), exactly, and the node passes through an
    exact :class:`Channel`. So the kernel is known exactly at every x, and is as private as its
    nodes (see :mod:`mechdesign.continuous`). The coordinates of a point are rounded independently.

    Parameters
    ----------
    domain
        The inputs: an :class:`Interval` or ``[low, high]``; a :class:`Box` or its corners.
    kind
        ``"cells"``: node i is the cell [e_i, e_(i+1)), the last one closed. ``"linear"``: x between
        the nodes t_i and t_(i+1) goes to node i + 1 with probability (x - t_i)/(t_(i+1) - t_i).
    points
        The edges e_0 < ... < e_m of the cells, the outer ones possibly infinite, or the nodes t_0 <
        ... < t_m; exact numbers, from one end of the interval to the other, which differ as
        doubles. For a box a list of these for each axis.
    nodes
        The channel of the nodes, with one input for each, whatever its label; the first coordinate
        varies slowest.

    Attributes
    ----------
    domain, sides
        The interval or box of the inputs, and the interval of each coordinate.
    kind, axes
        As given; the points of each axis, exact except for infinite ends.
    nodes, inputs
        The exact channel of the nodes, and its inputs: cells as text such as ``"[0, 10)"``,
        numbers, or pairs of numbers.
    outputs, alphabet, bits_per_report
        The outputs, the possible reports, and the size of a report.
    noun
        The name of an input.

    Examples
    --------
    >>> coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], outputs=[-1, 3])
    >>> ContinuousChannel([0, 2], "linear", [0, 2], coin)
    ContinuousChannel([0, 2], linear rounding to 2 nodes, 2 outputs, exact over 2**62)
           -1       3
    0  0.7500  0.2500
    2  0.2500  0.7500
    >>> mean = ContinuousChannel([0, 2], "linear", [0, 2], coin)
    >>> mean.privatize([0.1, 1.9, 7], rng=1, outside="clip")
    Reports(3: -1, -1, 3; simulation, not for release)
    >>> mean.density("1/2")
    (Fraction(5, 8), Fraction(3, 8))
    >>> corners = Channel.from_matrix([["3/4", "1/4"]] * 2 + [["1/4", "3/4"]] * 2)
    >>> west = ContinuousChannel([(0, 0), (2, 2)], "linear", [[0, 2], [0, 2]], corners)
    >>> west.density((1, 0))
    (Fraction(1, 2), Fraction(1, 2))
    """

    inputs: Domain
    alphabet: Labels

    def __init__(
        self,
        domain: Interval | Box | Sequence[Any],
        kind: str,
        points: Sequence[Any],
        nodes: Channel,
    ) -> None:
        self.domain = domain_of(domain)
        self.sides = self.domain.sides
        self.noun = "number" if len(self.sides) == 1 else "point"
        lists: Sequence[Any] = [points]
        if len(self.sides) > 1:
            lists = listed(points, "points", "a list of numbers for each axis")
            if len(lists) != len(self.sides):
                raise InputError("points", "a list of numbers for each axis", f"{len(lists)}")
        pairs = zip(lists, self.sides, strict=True)
        self._roundings = tuple(rounding_of(kind, own, side) for own, side in pairs)
        self.kind, self.axes = kind, tuple(each.points for each in self._roundings)
        given, axes = as_channel(nodes, "nodes"), [each.labels for each in self._roundings]
        inputs = axes[0] if len(axes) == 1 else Domain(list(product(*axes)))
        if len(given.inputs) != len(inputs):
            expected = f"{len(inputs)} inputs: {self._rounded}"
            raise InputError("nodes", expected, f"{len(given.inputs)}")
        if given.inputs != inputs:
            outputs, bits = given.outputs, given.bits
            given = Channel(given.numerators, inputs=inputs, outputs=outputs, bits=bits)
        self.nodes, self.inputs, self.outputs = given, inputs, given.outputs
        self.alphabet = given.alphabet

    @property
    def points(self) -> tuple[End, ...]:
        """The edges of the cells of an interval, or its nodes."""
        return self._line.points

    @property
    def positions(self) -> FloatArray:
        """The position of each node of an interval, ``(n_nodes,)``.

        For a cell its middle, for a half-line its finite end.
        """
        return self._line.positions

    @property
    def supports(self) -> FloatArray:
        """The least and the largest number rounded to each node, ``(n_nodes, 2)``."""
        return self._line.supports

    @property
    def _line(self) -> Rounding:
        if len(self._roundings) > 1:
            raise InputError("channel", "a channel of the numbers of an interval", self.span)
        return self._roundings[0]

    def privatize(self, values: Any, rng: Randomness = None, *, outside: str = "refuse") -> Reports:
        """Draw one report for each input, with exactly the probabilities of the kernel.

        Parameters
        ----------
        values
            ``(n,)`` numbers or ``(n, 2)`` points: a NumPy array, a Series, or a list. Numbers are
            rounded to the nearest doubles; a double has its exact binary value.
        rng
            None for the cryptographic source of the operating system. A seed or a
            ``numpy.random.Generator`` gives a simulation, and marks the reports as simulated.
        outside
            ``"refuse"`` to raise an error for numbers outside the interval and infinities; or
            ``"clip"`` to replace them by the nearer end. NaN always raises an error.

        Notes
        -----
        Memory is eight bytes per record in addition to the input; reports are drawn 65,536 records
        at a time. In chunks, with one generator, memory is constant.
        """
        return self.drawn(self.held(values, outside=outside), source_of(rng))

    def held(self, values: Any, *, outside: str = "refuse", key: str = "values") -> FloatArray:
        """Return inputs as doubles inside the domain, as :meth:`privatize` reads them.

        An error names them by ``key`` and the position, from 0.
        """
        columns = [values] if len(self.sides) == 1 else _coordinates_of(values, key)
        sides = zip(columns, self._roundings, self.sides, strict=True)
        parts = [
            within(doubles_of(column, key), each.ends, outside, key, side.span)
            for column, each, side in sides
        ]
        return parts[0] if len(parts) == 1 else np.stack(parts, axis=1)

    def draw(self, held: FloatArray, source: Source) -> Int64Array:
        """Return one output index for each input, checked by :meth:`held`."""
        places = np.zeros(len(held), dtype=np.int64)
        for each, numbers in zip(self._roundings, _columns(held), strict=True):
            places = places * each.size + each.draw(numbers, source)
        return self.nodes.draw(places, source)

    def density(self, x: Any) -> tuple[Fraction, ...]:
        """Return Q(.|x), the exact distribution of the report at an input, over the outputs.

        Parameters
        ----------
        x
            A number of the interval, or a point of the box. A float has its exact binary value, as
            for :meth:`privatize`; integers, fractions and text are exact.
        """
        weights = {0: Fraction(1)}
        coordinates = [x] if len(self.sides) == 1 else pair_of(x, "x")
        sides = zip(coordinates, self._roundings, self.sides, strict=True)
        for entry, each, side in sides:
            own = each.weights(_exactly(entry, each, side))
            pairs = product(weights.items(), own.items())
            weights = {i * each.size + j: v * w for (i, v), (j, w) in pairs}
        total = [Fraction(0)] * len(self.outputs)
        for i, weight in weights.items():
            for y, q in enumerate(self.nodes.numerators[i].tolist()):
                total[y] += weight * q
        return tuple(entry / self.nodes.denominator for entry in total)

    def matrix(self, values: Any) -> FloatArray:
        """Return Q(y|x) at many inputs as floats, ``(n_values, n_outputs)``."""
        held = self.held(values)
        shares = np.ones((len(held), 1))
        for each, numbers in zip(self._roundings, _columns(held), strict=True):
            own = each.shares(numbers)
            shares = (shares[:, :, None] * own[:, None, :]).reshape(len(held), -1)
        return np.asarray(shares @ self.nodes.matrix)

    def node_prior(self, law: Law) -> Prior:
        """Return the law of the node of an input with a given law: P_i = E w_i(X).

        It is the prior of :attr:`nodes`: the leakage of the nodes at it is that of the kernel at
        the law.

        Parameters
        ----------
        law
            The law of X. If its moments are enclosed, the prior is that of a law within the
            enclosures.

        Examples
        --------
        >>> from mechdesign.continuous.laws import Histogram
        >>> coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> kernel = ContinuousChannel([0, 2], "linear", [0, 2], coin)
        >>> list(kernel.node_prior(Histogram([0, 1, 2], ["1/4", "3/4"])))
        [Fraction(3, 8), Fraction(5, 8)]
        """
        if getattr(law, "dimension", 0) != len(self.sides):
            example = "Samples(...)" if len(self.sides) == 1 else "ProductLaw(...)"
            raise InputError("law", f"a law, such as {example}", shown_kind(law))
        law.check(self.domain)
        return Prior(self._masses(law))

    def _masses(self, law: Law) -> Sequence[Fraction]:
        axes = tuple(tuple(t for t in axis if isinstance(t, Fraction)) for axis in self.axes)
        if self.kind != Cells.kind:
            return self._with(law, axes).prior
        if not axes[0]:
            return [Fraction(1)]
        (*rest, last), ends = axes[0], self.axes[0]
        short = not rest  # one edge between two half-lines: another one is added and removed
        found = self._with(law, ((last, last + 1),) if short else axes).moments
        masses = [found.tails[0][0], *map(mass, found.cells), found.tails[1][0]]
        if short:
            masses[-2:] = [masses[-2] + masses[-1]]
        return masses[ends[0] == axes[0][0] : len(masses) - (ends[-1] == axes[0][-1])]

    def _with(self, law: Law, axes: tuple[tuple[Fraction, ...], ...]) -> Rounded:
        found, loss = law.moments(self.domain, axes), Utility("mean-squared-distance", {})
        return Rounded(axes, self.domain.is_bounded, found, (), loss)

    def expected_loss(self, values: Any, distance: str = "absolute") -> FloatArray:
        """Return the mean distance between x and its report, ``(n_values,)``, at many numbers x.

        Parameters
        ----------
        values
            ``(n_values,)`` numbers of the interval.
        distance
            ``"absolute"`` for E|x - Y|, ``"squared"`` for E(x - Y)**2.

        Examples
        --------
        >>> coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], outputs=[-1, 3])
        >>> mean = ContinuousChannel([0, 2], "linear", [0, 2], coin)
        >>> mean.expected_loss([0, 1, 2], "squared")
        array([3., 4., 3.])
        """
        powers = {"absolute": 1, "squared": 2}
        if distance not in powers:
            raise InputError("distance", "'absolute' or 'squared'", shown(distance))
        far = np.abs(doubles_of(values, "values")[:, None] - self.output_numbers)
        return np.asarray((self.matrix(values) * far ** powers[distance]).sum(axis=1))

    def report_quantiles(self, values: Any, q: Sequence[float]) -> FloatArray:
        """Return quantiles of the report at many numbers, ``(n_values, n_quantiles)``.

        The quantile is the least output y with Pr(Y <= y | x) >= q.
        """
        wanted = doubles_of(q, "q")
        if not ((wanted > 0) & (wanted < 1)).all():
            raise InputError("q", "numbers above 0 and below 1", shown(wanted.tolist()))
        order = np.argsort(self.output_numbers)
        sums = np.cumsum(self.matrix(values)[:, order], axis=1)
        sums[:, -1] = 1.0
        places = (sums[:, :, None] < wanted - ROUNDING).sum(axis=1)
        return np.asarray(self.output_numbers[order][places])

    @property
    def output_numbers(self) -> FloatArray:
        """The outputs as floats, ``(n_outputs,)``."""
        if not all(isinstance(label, int | float) for label in self.outputs):
            raise InputError("outputs", "numbers as the outputs", shown(list(self.outputs)))
        return np.array([float(label) for label in self.outputs])  # type: ignore[arg-type]

    @property
    def span(self) -> str:
        """The interval or the box as text."""
        return self.domain.span

    def to_table(self) -> dict[str, Any]:
        """Return the domain, the kind and the points for a file."""
        axes = [[end_text(point) for point in axis] for axis in self.axes]
        points = axes[0] if len(axes) == 1 else axes
        return {**self.domain.to_table(), "kind": self.kind, "points": points}

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the rounding and the nodes; see :attr:`mechdesign.Channel.digest`."""
        document = {**self.to_table(), "nodes": self.nodes.document()}
        return digest(document).removeprefix("sha256:")

    @property
    def _rounded(self) -> str:
        """The nodes of a coordinate, as text."""
        sizes = " x ".join(str(each.size) for each in self._roundings)
        return self._roundings[0].description.format(sizes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ContinuousChannel) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __array__(self, *given: Any, **named: Any) -> AnyArray:
        """Raise an error: a kernel has a row for each real input."""
        raise TypeError(f"a kernel is no matrix: matrix(values) is one, at some {self.noun}s")

    def _table(self) -> Matrix:
        return Matrix(self.nodes.matrix, self.inputs.labels, self.outputs)

    def _head(self) -> str:
        outputs = f"{len(self.outputs)} output{'s' * (len(self.outputs) > 1)}"
        return (
            f"{type(self).__name__}({self.span}, {self._rounded}, {outputs}, "
            f"exact over 2**{self.nodes.bits})"
        )


def _columns(held: FloatArray) -> FloatArray:
    """Return one row for each coordinate."""
    return np.atleast_2d(held.T)


def _exactly(given: Any, rounding: Rounding, side: Interval) -> Fraction:
    """Return the exact position of a coordinate."""
    low, high = rounding.ends
    if isinstance(given, float | np.floating) and math.isfinite(given) and low <= given <= high:
        return rounding.exact(float(given))
    position = as_fraction(given, "x")
    if position not in side:
        raise InputError("x", f"a number of {side.span}", shown(given))
    return position


def _coordinates_of(values: Any, key: str) -> Any:
    """Return the two columns of points."""
    if hasattr(values, "__array__"):
        columns = np.asanyarray(values)
        if columns.ndim != 2 or columns.shape[1] != 2:
            raise InputError(key, "an array of shape (n, 2)", f"shape {columns.shape}")
        return columns.T
    points = []
    for n, row in enumerate(listed(values, key, "a list of points", quoted=False)):
        try:
            points.append(pair_of(row, f"{key}[{n}]"))
        except InputError as error:  # without the record
            raise InputError(error.key, error.expected, "another value") from None
    return list(zip(*points, strict=True)) or [np.empty(0)] * 2


ROUNDING = 1e-12
"""Largest rounding error of a sum of probabilities."""
