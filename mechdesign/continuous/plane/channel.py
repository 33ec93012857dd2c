"""The channel of points in the plane: each coordinate is rounded by an exact coin of its own."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.channel import Channel, as_channel
from mechdesign.continuous.doubles import doubles_of, within
from mechdesign.continuous.plane.box import Box
from mechdesign.continuous.plane.laws import PlaneLaw
from mechdesign.continuous.rounding import Rounding, point_text, rounding_of
from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, listed, shown, shown_kind
from mechdesign.exact import as_fraction
from mechdesign.prior import Prior
from mechdesign.reports import Labels, Reports, Tally, drawn
from mechdesign.sampling import Randomness, Source, source_of
from mechdesign.text import format_table

__all__ = ["PlaneChannel"]


class PlaneChannel:
    """A kernel Q(y|x) = Sum_ij u_i(x_1) v_j(x_2) Q_ij(y) for the points x of a box.

    Parameters
    ----------
    box
        What may be reported on: a :class:`Box`, or its corners.
    axes
        The nodes of the two axes, exact numbers that rise from end to end of the box: between two
        of them a coordinate goes to either, with the weights whose mean it is.
    nodes
        The channel of the pairs of nodes, one input for each, the second coordinate running first.

    Raises
    ------
    InputError
        If they do not fit each other.

    Examples
    --------
    >>> corners = Channel.from_matrix([["3/4", "1/4"]] * 2 + [["1/4", "3/4"]] * 2)
    >>> west_or_east = PlaneChannel([(0, 0), (2, 2)], [[0, 2], [0, 2]], corners)
    >>> west_or_east.density((1, 0))
    (Fraction(1, 2), Fraction(1, 2))
    """

    kind = "tensor"

    def __init__(
        self, box: Box | Sequence[Any], axes: Sequence[Sequence[Any]], nodes: Channel
    ) -> None:
        self._box = Box.of(box)
        given = listed(axes, "axes", "two lists of numbers")
        if len(given) != 2:
            raise InputError("axes", "two lists of numbers", f"{len(given)}")
        sides = zip(given, self._box.sides, strict=True)
        first, second = (rounding_of("linear", axis, side) for axis, side in sides)
        self._roundings: tuple[Rounding, Rounding] = (first, second)
        channel, labels = as_channel(nodes, "nodes"), list(product(first.labels, second.labels))
        if len(channel.inputs) != len(labels):
            raise InputError("nodes", f"{len(labels)} inputs", f"{len(channel.inputs)}")
        bits, outputs = channel.bits, channel.outputs
        self._nodes = Channel(channel.numerators, inputs=Domain(labels), outputs=outputs, bits=bits)

    @property
    def box(self) -> Box:
        """What may be reported on."""
        return self._box

    @property
    def axes(self) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        """The nodes of the two axes, exact."""
        first, second = (tuple(Fraction(t) for t in each.points) for each in self._roundings)
        return first, second

    @property
    def nodes(self) -> Channel:
        """The exact channel of the nodes, whose inputs are pairs of numbers."""
        return self._nodes

    @property
    def inputs(self) -> Domain:
        """The nodes."""
        return self._nodes.inputs

    @property
    def outputs(self) -> tuple[Label, ...]:
        """The labels of the outputs: points as pairs of numbers."""
        return self._nodes.outputs

    @property
    def alphabet(self) -> Labels:
        """The reports that it may send: its outputs."""
        return self._nodes.alphabet

    @property
    def bits_per_report(self) -> float:
        """The base-2 logarithm of the number of outputs."""
        return self._nodes.bits_per_report

    def privatize(self, values: Any, rng: Randomness = None, *, outside: str = "refuse") -> Reports:
        """Draw one report for each point, with exactly the probabilities of the kernel.

        Parameters
        ----------
        values
            ``(n, 2)`` numbers.
        rng
            None for the cryptographic source of the operating system; a seed or a generator makes
            a simulation, and the reports say that they are one.
        outside
            ``"refuse"`` points outside the box, or ``"clip"`` their coordinates to the nearer ends.

        Raises
        ------
        InputError
            If one is refused, or is no point; the key names its place, counted from 0.

        Examples
        --------
        >>> corners = Channel.from_matrix([["3/4", "1/4"]] * 2 + [["1/4", "3/4"]] * 2)
        >>> west_or_east = PlaneChannel([(0, 0), (2, 2)], [[0, 2], [0, 2]], corners)
        >>> west_or_east.privatize([(0.5, 1), (1.5, 9)], rng=1, outside="clip")
        Reports(2: 0, 0; simulation, not for release)
        """
        return drawn(self, self.held(values, outside=outside), source_of(rng))

    def draw(self, points: FloatArray, source: Source) -> Int64Array:
        """Return an output number for each point, which :meth:`held` has let pass."""
        first, second = self._roundings
        low = first.draw(points[:, 0], source)
        places = low * len(second.points) + second.draw(points[:, 1], source)
        return self._nodes.draw(places, source)

    def held(self, values: Any, *, outside: str = "refuse", key: str = "values") -> FloatArray:
        """Return points as doubles of the box, ``(n, 2)``; those outside are refused or clipped.

        Raises
        ------
        InputError
            If one is refused, or is no point.
        """
        if not hasattr(values, "__array__"):
            rows = [
                listed(row, f"{key}[{n}]", "two numbers")
                for n, row in enumerate(listed(values, key, "a list of points"))
            ]
            for n, row in enumerate(rows):
                if len(row) != 2:
                    raise InputError(f"{key}[{n}]", "two numbers", shown(row))
            columns: Any = list(zip(*rows, strict=True)) or [(), ()]
        else:
            array = np.asarray(values)
            if array.ndim != 2 or array.shape[1] != 2:
                raise InputError(key, "an array of shape (n, 2)", f"shape {array.shape}")
            columns = array.T
        parts = []
        for column, each, side in zip(columns, self._roundings, self._box.sides, strict=True):
            numbers = doubles_of(np.asarray(column) if len(column) else np.empty(0), key)
            says = f"[{point_text(side.low)}, {point_text(side.high)}]"
            parts.append(within(numbers, each.ends, outside, key, says))
        return np.stack(parts, axis=1)

    def density(self, x: Sequence[Any]) -> tuple[Fraction, ...]:
        """Return Q(.|x), the exact distribution of the report at a point, over the outputs.

        Raises
        ------
        InputError
            If it is no point of the box.
        """
        pair, weights = listed(x, "x", "two numbers"), []
        if len(pair) != 2:
            raise InputError("x", "two numbers", shown(x))
        for entry, each, side in zip(pair, self._roundings, self._box.sides, strict=True):
            low, high = each.ends
            is_inside = isinstance(entry, float | np.floating) and low <= entry <= high
            exact = each.exact(float(entry)) if is_inside else as_fraction(entry, "x")
            if exact not in side:
                raise InputError("x", f"a point of {self._box!r}", shown(x))
            weights.append(each.weights(exact))
        across, total = len(self._roundings[1].points), [Fraction(0)] * len(self.outputs)
        for (i, u), (j, v) in product(weights[0].items(), weights[1].items()):
            for y, q in enumerate(self._nodes.numerators[i * across + j].tolist()):
                total[y] += u * v * q
        return tuple(entry / self._nodes.denominator for entry in total)

    def matrix(self, values: Any) -> FloatArray:
        """Return Q(y|x) at many points as floats, ``(n_values, n_outputs)``.

        Raises
        ------
        InputError
            If one is no point of the box.
        """
        points = self.held(values)
        first, second = (each.shares(points[:, n]) for n, each in enumerate(self._roundings))
        shares = (first[:, :, None] * second[:, None, :]).reshape(len(points), -1)
        return np.asarray(shares @ self._nodes.matrix)

    def node_prior(self, law: PlaneLaw) -> Prior:
        """Return the law of the node that a point with some law is sent to.

        Raises
        ------
        InputError
            If the law does not fit the box.
        """
        if not isinstance(law, PlaneLaw):
            raise InputError("law", "a law, such as ProductLaw(...)", shown_kind(law))
        law.check(self._box)
        means, _ = law.cells(self._box, self.axes)
        across = len(self.axes[1])
        masses = [Fraction(0)] * len(self.inputs)
        for n, cell in enumerate(means):
            c, d = divmod(n, across - 1)
            for p, q in product((0, 1), repeat=2):
                corner = (c + p) * across + d + q
                masses[corner] += sum(cell[3 * a + b] for a in (p, p + 1) for b in (q, q + 1))
        return Prior(masses)

    def tally(self, reports: Reports) -> Tally:
        """Count how often each output was reported."""
        return self._nodes.tally(reports)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PlaneChannel):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self._box, self.axes, self._nodes

    def __array__(self, *given: Any, **named: Any) -> AnyArray:
        """Refuse to be an array: a kernel has a row for each point."""
        raise TypeError("a channel of points is no matrix: matrix(values) is one, at some points")

    def __repr__(self) -> str:
        table = format_table(self._nodes.matrix, self.inputs.labels, self.outputs)
        sizes = " x ".join(str(len(axis)) for axis in self.axes)
        head = f"PlaneChannel({self._box!r}, linear rounding to {sizes} nodes, "
        return f"{head}{len(self.outputs)} outputs, exact over 2**{self._nodes.bits})\n{table}"
