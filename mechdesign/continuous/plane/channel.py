"""The channel of points in the plane: each coordinate is rounded by an exact coin of its own."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel
from mechdesign.continuous.doubles import doubles_of, within
from mechdesign.continuous.plane.box import Box, pair_of
from mechdesign.continuous.plane.laws import PlaneLaw
from mechdesign.continuous.rounded import RoundedChannel
from mechdesign.continuous.rounding import rounding_of
from mechdesign.errors import InputError, listed, shown_kind
from mechdesign.exact import fraction_text
from mechdesign.prior import Prior

__all__ = ["PlaneChannel"]


class PlaneChannel(RoundedChannel):
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
    >>> west_or_east.privatize([(0.5, 1), (1.5, 9)], rng=1, outside="clip")
    Reports(2: 0, 0; simulation, not for release)
    """

    kind = "tensor"
    noun = "point"

    def __init__(
        self, box: Box | Sequence[Any], axes: Sequence[Sequence[Any]], nodes: Channel
    ) -> None:
        self._box = Box.of(box)
        given, sides = listed(axes, "axes", "two lists of numbers"), self._box.sides
        if len(given) != 2:
            raise InputError("axes", "two lists of numbers", f"{len(given)}")
        rounded = [rounding_of("linear", *pair) for pair in zip(given, sides, strict=True)]
        super().__init__(sides, rounded, nodes)

    @property
    def box(self) -> Box:
        """What may be reported on."""
        return self._box

    @property
    def axes(self) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        """The nodes of the two axes, exact."""
        first, second = (tuple(Fraction(t) for t in each.points) for each in self._roundings)
        return first, second

    def held(self, values: Any, *, outside: str = "refuse", key: str = "values") -> FloatArray:
        """Return points as doubles of the box, ``(n, 2)``; those outside are refused or clipped.

        Raises
        ------
        InputError
            If one is refused, or is no point.
        """
        if hasattr(values, "__array__"):
            columns: Any = np.asarray(values)
            if columns.ndim != 2 or columns.shape[1] != 2:
                raise InputError(key, "an array of shape (n, 2)", f"shape {columns.shape}")
            columns = columns.T
        else:
            rows = enumerate(listed(values, key, "a list of points"))
            points = [pair_of(row, f"{key}[{n}]") for n, row in rows]
            columns = list(zip(*points, strict=True)) or [np.empty(0)] * 2
        sides = zip(columns, self._roundings, self._box.sides, strict=True)
        parts = [
            within(doubles_of(column, key), each.ends, outside, key, side.span)
            for column, each, side in sides
        ]
        return np.stack(parts, axis=1)

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

    def _coordinates(self, x: Any) -> Sequence[Any]:
        return pair_of(x, "x")

    @property
    def span(self) -> str:
        """The box as text."""
        return repr(self._box)

    def to_table(self) -> dict[str, Any]:
        """Return the box, the kind and the axes, as a file has them."""
        axes = [list(map(fraction_text, axis)) for axis in self.axes]
        return {**self._box.to_table(), "kind": self.kind, "axes": axes}
