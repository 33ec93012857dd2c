"""The check of a file of a rounded problem: that of a channel on its nodes, plus four steps.

The checker computes the moments of the cells from the law, the finite program from the moments, and
value and leakage of the kernel from the channel of the nodes. Nothing else in the file is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.certificate import Certificate, Steps
from mechdesign.kernel.claims import ColumnsLeak, Leak, Subject, numbered
from mechdesign.kernel.documents import ChannelTable, Claims
from mechdesign.kernel.names import Notion
from mechdesign.kernel.packed import exact
from mechdesign.kernel.rounding.bound import on_nodes, program_of
from mechdesign.kernel.rounding.laws import Stated
from mechdesign.kernel.rounding.nodes import Rounded, RoundedProblem
from mechdesign.kernel.rounding.value import kernel_decoder, kernel_value, slope
from mechdesign.kernel.schema import Kind, read


@dataclass(frozen=True)
class Linear(Kind):
    """Each coordinate is rounded at random to a node beside it, with the coordinate as the mean."""

    axes: tuple[tuple[Fraction, ...], ...]


Released = float | tuple[float, float]


@dataclass(frozen=True)
class NodeChannel(ChannelTable):
    """A channel of the nodes; its outputs are numbers, or points, or numbered from 0."""

    outputs: tuple[Released, ...]  # type: ignore[assignment]


@dataclass(frozen=True, kw_only=True)
class RoundedFile(Claims):
    """A designed kernel on an interval or a box, with the problem and the proof."""

    channel: NodeChannel
    rounding: Linear
    problem: RoundedProblem


def read_rounded(document: dict[str, Any], steps: Steps) -> tuple[RoundedFile, Subject]:
    """Return the tables of a file of a rounded problem, and the kernel."""
    file: RoundedFile = read(RoundedFile, document)
    channel, rounded = file.channel, file.problem.on(file.rounding.axes, steps)
    k, m, utility = len(rounded.points), len(channel.outputs), rounded.utility
    pairs = 40 * k * (k + 4 * m) + 20 * k * k * len(rounded.privacy)
    steps.take(pairs, "the losses of the kernel")
    columns, bits = channel.columns(rounded.labels), channel.bits
    outputs = _points(rounded, channel.outputs)
    readings, nodes = channel.numbers_read(utility.reads == "readings"), on_nodes(rounded)

    def leak(notion: Notion) -> Leak:
        if notion is rounded.metric:
            return _SlopeLeak(slope(rounded, columns))
        return ColumnsLeak(notion, nodes, columns, 1 << bits, steps)

    def found() -> tuple[Fraction, list[Fraction] | None]:
        exact = kernel_value(rounded, columns, bits, outputs, readings)
        return exact, kernel_decoder(rounded, columns, bits, readings)

    def bound(proof: Certificate, allowed: Steps) -> Fraction:
        program = program_of(rounded)
        return max(proof.bound(program.statement, allowed) - program.shift, Fraction(0))

    error, size = rounded.moments.error, len(rounded.cells)
    within = f"within {float(error):.1e} of them, summed" if error else "the same"
    about, own = f"for every law with the moments of the {size} cells", "those of the law named are"
    stated = isinstance(file.problem.prior, Stated)
    return file, Subject(
        f"rows sum to 1 exactly: integers over 2**{bits}",
        [(notion, leak(notion)) for notion in rounded.privacy],
        utility,
        utility.sign,
        found,
        bound,
        f"kernel on the {rounded.domain}",
        about=(about, f"NOT checked: that {own} {within}")
        if stated
        else (f"{about}; {own} {within}",),
    )


@dataclass(frozen=True)
class _SlopeLeak(Leak):
    """The leakage by distance is the largest slope between nodes."""

    slope: Fraction

    def breaks(self, leakage: Fraction) -> str | None:
        return None if self.slope <= leakage else f"leaks {float(self.slope):.10g} by distance"


def _points(rounded: Rounded, labels: tuple[Released, ...]) -> list[tuple[Fraction, ...]]:
    """Return the points of the outputs; none if they are only numbered."""
    if not rounded.distance:
        numbered(labels)
        return []
    parts = [label if isinstance(label, tuple) else (label,) for label in labels]
    same = all(len(part) == len(rounded.axes) for part in parts)
    need(same, "an output is not a point of the domain")
    points = [tuple(map(exact, part)) for part in parts]
    need(len(set(points)) == len(points), "the channel has a duplicate output")
    return points
