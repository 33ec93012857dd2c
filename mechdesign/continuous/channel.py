"""The continuous channel: numbers of an interval in, exactly drawn reports out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel
from mechdesign.continuous.doubles import doubles_of, within
from mechdesign.continuous.interval import End, Interval, end_text
from mechdesign.continuous.laws.base import Law
from mechdesign.continuous.rounded import RoundedChannel
from mechdesign.continuous.rounding import rounding_of
from mechdesign.errors import InputError, shown, shown_kind
from mechdesign.prior import Prior

__all__ = ["ContinuousChannel"]


class ContinuousChannel(RoundedChannel):
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
    >>> mean = ContinuousChannel([0, 2], "linear", [0, 2], coin)
    >>> mean.privatize([0.1, 1.9, 7], rng=1, outside="clip")
    Reports(3: -1, -1, 3; simulation, not for release)
    >>> mean.density("1/2")
    (Fraction(5, 8), Fraction(3, 8))
    """

    noun = "number"

    def __init__(
        self, interval: Interval | Sequence[Any], kind: str, points: Sequence[Any], nodes: Channel
    ) -> None:
        self._interval = Interval.of(interval)
        self._rounding = rounding_of(kind, points, self._interval)
        super().__init__([self._interval], [self._rounding], nodes)

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
    def positions(self) -> FloatArray:
        """Where each node is, ``(n_nodes,)``: the middle of a cell, the finite end of a half-line.

        Linear nodes are numbers themselves.
        """
        return self._rounding.positions

    @property
    def supports(self) -> FloatArray:
        """The least and the largest number that is sent to each node, ``(n_nodes, 2)``."""
        return self._rounding.supports

    def held(self, values: Any, *, outside: str = "refuse", key: str = "values") -> FloatArray:
        """Return numbers as doubles of the interval; those outside are refused or clipped.

        Parameters
        ----------
        values, outside, key
            As for :meth:`privatize`; the key names them in an error, which adds the place.

        Raises
        ------
        InputError
            If one is refused, or is no number.
        """
        numbers = doubles_of(values, key)
        return within(numbers, self._rounding.ends, outside, key, self._interval.span)

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

    def _coordinates(self, x: Any) -> Sequence[Any]:
        return [x]

    @property
    def span(self) -> str:
        """The interval as text."""
        return self._interval.span

    def to_table(self) -> dict[str, Any]:
        """Return the interval, the kind and the points, as a file has them."""
        points = [end_text(point) for point in self.points]
        return {**self._interval.to_table(), "kind": self.kind, "points": points}


ROUNDING = 1e-12
"""What a sum of probabilities in floating point may be short of."""
