"""A channel of numbers or points: each coordinate is rounded to a node, and the nodes are sent."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

import numpy as np

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.channel import Channel, as_channel
from mechdesign.continuous.interval import Interval
from mechdesign.continuous.rounding import Rounding
from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, shown
from mechdesign.exact import as_fraction
from mechdesign.reports import Labels, Reports, Tally, drawn
from mechdesign.sampling import Randomness, Source, source_of
from mechdesign.text import format_table, html_lines, html_matrix

__all__ = ["RoundedChannel"]


class RoundedChannel(ABC):
    """A kernel Q(y|x) = Sum_i w_i(x) Q_i(y), with w_i(x) a product of weights of the coordinates.

    Parameters
    ----------
    sides
        The interval of each coordinate.
    roundings
        What sends each coordinate to a node of its axis.
    nodes
        The channel of the nodes, one input for each, whatever its label; the last coordinate runs
        first.

    Raises
    ------
    InputError
        If the channel has not one input for each node.
    """

    noun: ClassVar[str]
    """What an input is: ``"number"`` or ``"point"``."""

    def __init__(
        self, sides: Sequence[Interval], roundings: Sequence[Rounding], nodes: Channel
    ) -> None:
        self._sides, self._roundings = tuple(sides), tuple(roundings)
        given, axes = as_channel(nodes, "nodes"), [each.labels for each in self._roundings]
        inputs = axes[0] if len(axes) == 1 else Domain(list(product(*axes)))
        if len(given.inputs) != len(inputs):
            expected = f"{len(inputs)} inputs: {self._rounded}"
            raise InputError("nodes", expected, f"{len(given.inputs)}")
        if given.inputs != inputs:
            outputs, bits = given.outputs, given.bits
            given = Channel(given.numerators, inputs=inputs, outputs=outputs, bits=bits)
        self._nodes = given

    @property
    def sides(self) -> tuple[Interval, ...]:
        """The interval of each coordinate."""
        return self._sides

    @property
    def nodes(self) -> Channel:
        """The exact channel of the nodes. Its inputs are cells as text, numbers, or pairs."""
        return self._nodes

    @property
    def inputs(self) -> Domain:
        """The nodes: cells as text, as ``"[0, 10)"``, numbers, or pairs of numbers."""
        return self._nodes.inputs

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
        """Draw one report for each input, with exactly the probabilities of the kernel.

        Parameters
        ----------
        values
            ``(n,)`` numbers or ``(n, 2)`` points: a NumPy array, a Series, or a list. They are
            doubles, or are rounded to the nearest ones; a double is the rational that it holds.
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
        """
        return drawn(self, self.held(values, outside=outside), source_of(rng))

    @abstractmethod
    def held(self, values: Any, *, outside: str = "refuse", key: str = "values") -> FloatArray:
        """Return inputs as doubles that lie inside; those outside are refused or clipped.

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

    def draw(self, held: FloatArray, source: Source) -> Int64Array:
        """Return one output number for each input, which :meth:`held` has let pass."""
        places = np.zeros(len(held), dtype=np.int64)
        for each, numbers in zip(self._roundings, _columns(held), strict=True):
            places = places * each.size + each.draw(numbers, source)
        return self._nodes.draw(places, source)

    def density(self, x: Any) -> tuple[Fraction, ...]:
        """Return Q(.|x), the exact distribution of the report at an input, over the outputs.

        Parameters
        ----------
        x
            A number of the interval, or a point of the box. A float is the rational that it holds,
            as for :meth:`privatize`; whole numbers, fractions and text are exact.

        Raises
        ------
        InputError
            If it is none.
        """
        weights = {0: Fraction(1)}
        sides = zip(self._coordinates(x), self._roundings, self._sides, strict=True)
        for entry, each, side in sides:
            own = each.weights(_exactly(entry, each, side))
            pairs = product(weights.items(), own.items())
            weights = {i * each.size + j: v * w for (i, v), (j, w) in pairs}
        total = [Fraction(0)] * len(self.outputs)
        for i, weight in weights.items():
            for y, q in enumerate(self._nodes.numerators[i].tolist()):
                total[y] += weight * q
        return tuple(entry / self._nodes.denominator for entry in total)

    def matrix(self, values: Any) -> FloatArray:
        """Return Q(y|x) at many inputs as floats, ``(n_values, n_outputs)``.

        Raises
        ------
        InputError
            If one is no input.
        """
        held = self.held(values)
        shares = np.ones((len(held), 1))
        for each, numbers in zip(self._roundings, _columns(held), strict=True):
            own = each.shares(numbers)
            shares = (shares[:, :, None] * own[:, None, :]).reshape(len(held), -1)
        return np.asarray(shares @ self._nodes.matrix)

    def tally(self, reports: Reports) -> Tally:
        """Count how often each output was reported."""
        return self._nodes.tally(reports)

    @abstractmethod
    def _coordinates(self, x: Any) -> Sequence[Any]:
        """Return the coordinates of one input."""

    @property
    @abstractmethod
    def span(self) -> str:
        """What the inputs lie in, as text."""

    @abstractmethod
    def to_table(self) -> dict[str, Any]:
        """Return what a file says of it beside its nodes: the domain, the kind and the nodes."""

    @property
    def _rounded(self) -> str:
        """What a coordinate is rounded to, as text."""
        sizes = " x ".join(str(each.size) for each in self._roundings)
        return self._roundings[0].says.format(sizes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self._sides, tuple((each.kind, each.points) for each in self._roundings), self._nodes

    def __array__(self, *given: Any, **named: Any) -> AnyArray:
        """Refuse to be an array: a kernel has a row for each input."""
        raise TypeError(f"a kernel is no matrix: matrix(values) is one, at some {self.noun}s")

    def __repr__(self) -> str:
        table = format_table(self._nodes.matrix, self.inputs.labels, self.outputs)
        return f"{self._head()}\n{table}"

    def _repr_html_(self) -> str:
        table = html_matrix(self._nodes.matrix, self.inputs.labels, self.outputs)
        return html_lines([("", self._head())], table)

    def _head(self) -> str:
        outputs = f"{len(self.outputs)} output{'s' * (len(self.outputs) > 1)}"
        return (
            f"{type(self).__name__}({self.span}, {self._rounded}, {outputs}, "
            f"exact over 2**{self._nodes.bits})"
        )


def _columns(held: FloatArray) -> FloatArray:
    """Return a row for each coordinate."""
    return np.atleast_2d(held.T)


def _exactly(given: Any, rounding: Rounding, side: Interval) -> Fraction:
    """Return the exact position of a coordinate.

    Raises
    ------
    InputError
        If it is no number of its interval.
    """
    low, high = rounding.ends
    if isinstance(given, float | np.floating) and math.isfinite(given) and low <= given <= high:
        return rounding.exact(float(given))
    position = as_fraction(given, "x")
    if position not in side:
        raise InputError("x", f"a number of {side.span}", shown(given))
    return position
