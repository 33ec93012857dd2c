"""The continuous channel: numbers of an interval in, exactly drawn reports out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.channel import Channel, as_channel
from mechdesign.continuous.doubles import doubles_of, within
from mechdesign.continuous.interval import End, Interval
from mechdesign.continuous.laws.base import Law
from mechdesign.continuous.rounding import point_text, rounding_of
from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, shown, shown_kind
from mechdesign.exact import as_fraction
from mechdesign.prior import Prior
from mechdesign.reports import Labels, Reports, Tally, drawn
from mechdesign.sampling import Randomness, Source, source_of
from mechdesign.text import format_table, html_lines, html_matrix

__all__ = ["ContinuousChannel"]


class ContinuousChannel:
    """A kernel Q(y|x) = Sum_i w_i(x) Q_i(y) for the numbers x of an interval.

    A number is sent to a node i with probability w_i(x), exactly, and the node through an exact
    :class:`Channel`. So the kernel is known exactly at every x, and it has the privacy that the
    nodes have (see :mod:`mechdesign.continuous`).

    Parameters
    ----------
    interval
        What may be reported on: an :class:`Interval`, or ``[low, high]``.
    kind
        ``"cells"``: node i is the cell [e_i, e_(i+1)), the last one closed. ``"linear"``: x between
        the nodes t_i and t_(i+1) goes to node i + 1 with probability (x - t_i)/(t_(i+1) - t_i).
    points
        The edges e_0 < ... < e_m of the cells, the outer ones maybe infinite, or the nodes
        t_0 < ... < t_m; exact numbers, from one end of the interval to the other, which differ
        as doubles.
    nodes
        The channel of the nodes, one input for each, whatever its label.

    Raises
    ------
    InputError
        If the points are not such, or the channel has not one input for each node.

    Examples
    --------
    >>> coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], outputs=[-1, 3])
    >>> ContinuousChannel([0, 2], "linear", [0, 2], coin)
    ContinuousChannel([0, 2], linear rounding to 2 nodes, 2 outputs, exact over 2**62)
           -1       3
    0  0.7500  0.2500
    2  0.2500  0.7500
    """

    def __init__(
        self, interval: Interval | Sequence[Any], kind: str, points: Sequence[Any], nodes: Channel
    ) -> None:
        self._interval = Interval.of(interval)
        self._rounding = rounding_of(kind, points, self._interval)
        inputs, given = self._rounding.labels, as_channel(nodes, "nodes")
        if len(given.inputs) != len(inputs):
            expected = f"{len(inputs)} inputs: {self._rounding.describe()}"
            raise InputError("nodes", expected, f"{len(given.inputs)}")
        if given.inputs != inputs:
            outputs, bits = given.outputs, given.bits
            given = Channel(given.numerators, inputs=inputs, outputs=outputs, bits=bits)
        self._nodes = given

    @property
    def interval(self) -> Interval:
        """What may be reported on."""
        return self._interval

    @property
    def kind(self) -> str:
        """``"cells"`` or ``"linear"``."""
        return self._rounding.kind

    @property
    def points(self) -> tuple[End, ...]:
        """The edges of the cells, or the nodes: exact, but for infinite ends."""
        return self._rounding.points

    @property
    def nodes(self) -> Channel:
        """The exact channel of the nodes. Its inputs are cells as text, or the nodes' numbers."""
        return self._nodes

    @property
    def inputs(self) -> Domain:
        """The nodes: cells as text, as ``"[0, 10)"``, or numbers."""
        return self._nodes.inputs

    @property
    def positions(self) -> FloatArray:
        """Where each node is, ``(n_nodes,)``: the middle of a cell, the finite end of a half-line.

        Linear nodes are numbers themselves.
        """
        return self._rounding.positions

    @property
    def supports(self) -> FloatArray:
        """The least and the largest number that is sent to each node, ``(n_nodes, 2)``."""
        return self._rounding.supports

    @property
    def outputs(self) -> tuple[Label, ...]:
        """The labels of the outputs."""
        return self._nodes.outputs

    @property
    def alphabet(self) -> Labels:
        """The reports that it may send: its outputs."""
        return self._nodes.alphabet

    @property
    def bits_per_report(self) -> float:
        """The base-2 logarithm of the number of outputs: what a report costs to send."""
        return self._nodes.bits_per_report

    def privatize(self, values: Any, rng: Randomness = None, *, outside: str = "refuse") -> Reports:
        """Draw one report for each number, with exactly the probabilities of the kernel.

        Parameters
        ----------
        values
            ``(n,)`` numbers: a NumPy array, a Series, or a list. They are doubles, or are rounded
            to the nearest ones; a double is the rational that it holds.
        rng
            None for the cryptographic source of the operating system. A seed or a
            ``numpy.random.Generator`` makes a simulation, and the reports say that they are one.
        outside
            ``"refuse"`` numbers outside the interval, and infinities; or ``"clip"`` them to the
            nearer end. NaN is refused always.

        Raises
        ------
        InputError
            If one is refused, or is no number; the key names its place, counted from 0.

        Notes
        -----
        Eight bytes a record are held beside the numbers themselves; the draws are made 65,536
        records at a time. In chunks, with one generator, memory is constant.

        Examples
        --------
        >>> coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], outputs=[-1, 3])
        >>> mean = ContinuousChannel([0, 2], "linear", [0, 2], coin)
        >>> mean.privatize([0.1, 1.9, 7], rng=1, outside="clip")
        Reports(3: -1, -1, 3; simulation, not for release)
        """
        return drawn(self, self.held(values, outside=outside), source_of(rng))

    def draw(self, numbers: FloatArray, source: Source) -> Int64Array:
        """Return one output number for each double, which :meth:`held` has let pass."""
        return self._nodes.draw(self._rounding.draw(numbers, source), source)

    def held(self, values: Any, *, outside: str = "refuse", key: str = "values") -> FloatArray:
        """Return numbers as doubles of the interval; those outside are refused or clipped.

        Parameters
        ----------
        values, outside
            As for :meth:`privatize`.
        key
            How to name them in an error, which adds the place, counted from 0.

        Raises
        ------
        InputError
            If one is refused, or is no number.
        """
        numbers = doubles_of(values, key)
        return within(numbers, self._rounding.ends, outside, key, self.span)

    def node_prior(self, law: Law) -> Prior:
        """Return the law of the node that a number with some law is sent to: P_i = E w_i(X).

        It is the prior of :attr:`nodes`: what the nodes leak at it the kernel leaks at the law.

        Parameters
        ----------
        law
            The law of X. Where its moments are enclosed, the prior is that of one as close.

        Raises
        ------
        InputError
            If the law does not fit the interval.

        Examples
        --------
        >>> from mechdesign.continuous.laws import Histogram
        >>> coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> kernel = ContinuousChannel([0, 2], "linear", [0, 2], coin)
        >>> list(kernel.node_prior(Histogram([0, 1, 2], ["1/4", "3/4"])))
        [Fraction(3, 8), Fraction(5, 8)]
        """
        if not isinstance(law, Law):
            raise InputError("law", "a law, such as Samples(...)", shown_kind(law))
        law.check(self._interval)
        edges = [self._interval.low, *self.points, self._interval.high]
        return Prior(self._rounding.masses(law.cells(list(dict.fromkeys(edges)))))

    def tally(self, reports: Reports) -> Tally:
        """Count how often each output was reported."""
        return self._nodes.tally(reports)

    def density(self, x: Any) -> tuple[Fraction, ...]:
        """Return Q(.|x), the exact distribution of the report at a number, over the outputs.

        Parameters
        ----------
        x
            A number of the interval. A float is the rational that it holds, as for
            :meth:`privatize`; whole numbers, fractions and text are exact.

        Raises
        ------
        InputError
            If it is no number of the interval.

        Examples
        --------
        >>> coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> ContinuousChannel([0, 2], "linear", [0, 2], coin).density("1/2")
        (Fraction(5, 8), Fraction(3, 8))
        """
        weights = self._rounding.weights(self._position(x))
        rows = {i: self._nodes.numerators[i].tolist() for i in weights}
        whole = self._nodes.denominator
        return tuple(
            sum((weight * rows[i][y] for i, weight in weights.items()), Fraction(0)) / whole
            for y in range(len(self.outputs))
        )

    def matrix(self, values: Any) -> FloatArray:
        """Return Q(y|x) at many numbers as floats, ``(n_values, n_outputs)``.

        Raises
        ------
        InputError
            If one is no number of the interval.
        """
        return np.asarray(self._rounding.shares(self.held(values)) @ self._nodes.matrix)

    def expected_loss(self, values: Any, distance: str = "absolute") -> FloatArray:
        """Return the mean of the distance of x and its report, ``(n_values,)``, at many numbers x.

        Parameters
        ----------
        values
            ``(n_values,)`` numbers of the interval.
        distance
            ``"absolute"`` for E|x - Y|, ``"squared"`` for E(x - Y)**2.

        Raises
        ------
        InputError
            If the outputs are not numbers, or an argument is wrong.

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

        Raises
        ------
        InputError
            If the outputs are not numbers, or an argument is wrong.
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
        """The outputs as floats, ``(n_outputs,)``.

        Raises
        ------
        InputError
            If they are not numbers.
        """
        if not all(isinstance(label, int | float) for label in self.outputs):
            raise InputError("outputs", "numbers as the outputs", shown(list(self.outputs)))
        return np.array([float(label) for label in self.outputs])  # type: ignore[arg-type]

    def _position(self, x: Any) -> Fraction:
        """Return the exact position of a number of the interval."""
        rounding = self._rounding
        if isinstance(x, float | np.floating):
            return rounding.exact(float(self.held([x], key="x")[0]))
        position = as_fraction(x, "x")
        if position not in self._interval:
            raise InputError("x", f"a number of {self.span}", shown(x))
        return position

    @property
    def span(self) -> str:
        """The interval as text: ``"[0, 1]"``, ``"[0, inf)"``."""
        low, high = map(point_text, (self._interval.low, self._interval.high))
        return f"{'(' if low == '-inf' else '['}{low}, {high}{')' if high == 'inf' else ']'}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ContinuousChannel):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self._interval, self.kind, self.points, self._nodes

    def __array__(self, *given: Any, **named: Any) -> AnyArray:
        """Refuse to be an array: a kernel has a row for each number."""
        raise TypeError("a continuous channel is no matrix: matrix(values) is one, at some numbers")

    def __repr__(self) -> str:
        table = format_table(self._nodes.matrix, self.inputs.labels, self.outputs)
        return f"{self._head()}\n{table}"

    def _repr_html_(self) -> str:
        table = html_matrix(self._nodes.matrix, self.inputs.labels, self.outputs)
        return html_lines([("", self._head())], table)

    def _head(self) -> str:
        outputs = f"{len(self.outputs)} output{'s' * (len(self.outputs) > 1)}"
        return (
            f"ContinuousChannel({self.span}, {self._rounding.describe()}, {outputs}, "
            f"exact over 2**{self._nodes.bits})"
        )


ROUNDING = 1e-12
"""What a sum of probabilities in floating point may be short of."""
