"""The check of a file of a rounded problem: that of a channel on its nodes, plus four steps.

The checker computes the moments of the cells from the law, the finite program from the moments, and
value and leakage of the kernel from the channel of the nodes. Nothing else in the file is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.certificate import Certificate, Steps
from mechdesign.kernel.claims import (
    LEAKAGE_TOLERANCE,
    Verified,
    check_status,
    numbered,
    verify_bound,
    verify_decoder,
    verify_privacy,
    verify_value,
)
from mechdesign.kernel.documents import ChannelTable, Claim, Claims
from mechdesign.kernel.names import Notion
from mechdesign.kernel.packed import exact
from mechdesign.kernel.rounding.bound import program_of
from mechdesign.kernel.rounding.laws import Stated
from mechdesign.kernel.rounding.nodes import Rounded, RoundedProblem
from mechdesign.kernel.rounding.program import on_nodes
from mechdesign.kernel.rounding.value import kernel_decoder, kernel_value, slope
from mechdesign.kernel.schema import read
from mechdesign.resources import STEPS_PER_ENTRY, current, entries_of

__all__ = ["Linear", "RoundedFile", "verify_rounded"]


@dataclass(frozen=True)
class Linear:
    """Each coordinate is rounded at random to a node beside it, with the coordinate as the mean."""

    kind: ClassVar[str] = "linear"
    axes: tuple[tuple[Fraction, ...], ...]


Released = float | tuple[float, float]


@dataclass(frozen=True)
class NodeChannel(ChannelTable):
    """A channel of the nodes; its outputs are numbers, or points, or numbered from 0."""

    outputs: tuple[Released, ...]  # type: ignore[assignment]


@dataclass(frozen=True, kw_only=True)
class RoundedFile(Claims):
    """A designed kernel on an interval or a box, with the problem and the proof."""

    sense: Literal["minimize"]
    channel: NodeChannel
    rounding: Linear
    problem: RoundedProblem
    certificate: Certificate


READ = {
    "mean": "the decoder is the posterior mean at each output",
    "readings": "the mean of the readings is x exactly, for every x of the interval",
}


def verify_rounded(document: dict[str, Any]) -> Verified:
    """Check every claim of a file of a rounded problem with a valid header and digest.

    Raises
    ------
    CertificateError
        At the first claim that does not hold.
    LimitError
        If the check takes more steps than the reader allows.
    """
    file = read(RoundedFile, document)
    steps = Steps(current().steps + STEPS_PER_ENTRY * entries_of(document))
    rounded = file.problem.on(file.rounding.axes, steps)
    k, m, bits = len(rounded.points), len(file.channel.outputs), file.channel.bits
    pairs = 40 * k * (k + 4 * m) + 20 * k * k * len(rounded.privacy)
    steps.take(pairs, "the losses of the kernel")
    columns, reads = file.channel.columns(rounded.labels), rounded.utility.reads
    outputs = _points(rounded, file.channel.outputs)
    readings = file.channel.numbers_read(reads == "readings")
    need(file.bound_proved, "the file contains a proof but claims none")
    same = file.objective == rounded.utility.name
    need(same, "the claimed objective is not that of the problem")
    claims = [f"rows sum to 1 exactly: integers over 2**{bits}"]
    need(len(file.privacy) == len(rounded.privacy), "the file does not claim every notion")
    compiled = on_nodes(rounded)
    for notion, claim in zip(rounded.privacy, file.privacy, strict=True):
        if notion is rounded.metric:
            claims.append(_by_distance(notion, claim, slope(rounded, columns)))
            continue
        shown = verify_privacy(compiled, notion, claim, columns, 1 << bits, steps)
        claims.append(f"{shown}: on the nodes, and so on the {rounded.domain}")
    found = kernel_value(rounded, columns, bits, outputs, readings)
    claims.append(verify_value(found, file.value))
    program = program_of(rounded)
    bound = file.certificate.bound(program.statement, steps) - program.shift
    bound = max(bound, Fraction(0))
    claims.append(verify_bound(found, bound, file.bound, f"kernel on the {rounded.domain}"))
    claims.append(f"status {check_status(file)}")
    wanted = kernel_decoder(rounded, columns, bits, readings)
    if verify_decoder(wanted, file.channel.decoder, reads != "mean"):
        claims.append(READ[reads])
    error, size = rounded.moments.error, len(rounded.cells)
    within = f"within {float(error):.1e} of them, summed" if error else "the same"
    about, own = f"for every law with the moments of the {size} cells", "those of the law named are"
    if isinstance(file.problem.prior, Stated):
        claims += [about, f"NOT checked: that {own} {within}"]
    else:
        claims.append(f"{about}; {own} {within}")
    return Verified(tuple(claims), found, bound)


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


def _by_distance(notion: Notion, claim: Claim, least: Fraction) -> str:
    """Check a notion by distance, by the slopes between nodes."""
    name, leakage = notion.name, exact(claim.leakage)
    about = Claim(name, claim.leakage, certified=True, epsilon=float(notion.epsilon))
    need(claim == about, f"{name}: the claimed notion is not that of the problem")
    leaks = f"{name}: not private: leaks {float(least):.10g} by distance"
    need(least <= notion.epsilon, leaks)
    near = least <= leakage <= least + LEAKAGE_TOLERANCE * (1 + least)
    need(near, f"{name}: the leakage is {float(least)!r}")
    return f"{name}: private as stated on the interval; leakage {float(leakage):.10g}"
