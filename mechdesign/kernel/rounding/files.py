"""The check of a file of a rounded problem: that of a channel on its nodes, with four steps more.

The checker makes the moments of the cells from the law, the finite program from the moments, and
value and leakage of the kernel from the channel of the nodes. Nothing else is taken from the file.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.certificate import Steps
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
from mechdesign.kernel.documents import Claim
from mechdesign.kernel.names.losses import (
    DistanceLoss,
)
from mechdesign.kernel.names.ratios import Metric
from mechdesign.kernel.packed import exact
from mechdesign.kernel.rounding.box import box_program
from mechdesign.kernel.rounding.interval import interval_program
from mechdesign.kernel.rounding.nodes import Rounded
from mechdesign.kernel.rounding.priors import Prior, Stated
from mechdesign.kernel.rounding.program import Program, on_nodes
from mechdesign.kernel.rounding.tables import (
    Released,
    RoundedFile,
    rounded_problem,
)
from mechdesign.kernel.rounding.value import kernel_decoder, kernel_value, slope
from mechdesign.kernel.schema import read
from mechdesign.resources import STEPS_PER_ENTRY, current, entries_of

__all__ = ["program_of", "verify_rounded"]


def program_of(rounded: Rounded) -> Program:
    """Return the finite program that bounds the loss of every private kernel."""
    return interval_program(rounded) if len(rounded.axes) == 1 else box_program(rounded)


def verify_rounded(document: dict[str, Any]) -> Verified:
    """Check every claim of a file of a rounded problem, whose head and digest are right.

    Raises
    ------
    CertificateError
        At the first claim that does not hold.
    LimitError
        If the check takes more steps than the reader allows.
    """
    file = read(RoundedFile, document)
    steps = Steps(current().steps + STEPS_PER_ENTRY * entries_of(document))
    rounded = rounded_problem(file.problem, file.rounding.axes, steps)
    k, m, bits = len(rounded.points), len(file.channel.outputs), file.channel.bits
    pairs = 40 * k * (k + 4 * m) + 20 * k * k * len(rounded.privacy)
    steps.take(pairs, "the losses of the kernel")
    columns = file.channel.columns(rounded.labels)
    utility = rounded.utility
    outputs = _points(rounded, file.channel.outputs)
    readings = file.channel.numbers_read(utility.reads == "readings")
    need(file.bound_proved, "the file contains a proof but claims none")
    need(file.objective == utility.name, "the claimed objective is not that of the problem")
    claims = [f"rows sum to 1 exactly: integers over 2**{bits}"]
    claims += _verify_privacy(rounded, file.privacy, columns, bits, steps)
    found = kernel_value(rounded, columns, bits, outputs, readings)
    claims.append(verify_value(found, file.value))
    program = program_of(rounded)
    bound = file.certificate.bound(program.statement, steps) - program.shift
    bound = max(bound, Fraction(0))
    claims.append(verify_bound(found, bound, file.bound, f"kernel on the {rounded.domain}"))
    claims.append(f"status {check_status(file)}")
    wanted = kernel_decoder(rounded, columns, bits, readings)
    if verify_decoder(wanted, file.channel.decoder, utility.reads != "mean"):
        claims.append(READ[utility.reads])
    return Verified((*claims, *_origin(rounded, file.problem.prior)), found, bound)


READ = {
    "mean": "the decoder is the posterior mean at each output",
    "readings": "the mean of the readings is x exactly, for every x of the interval",
}


def _points(rounded: Rounded, labels: tuple[Released, ...]) -> list[tuple[Fraction, ...]]:
    """Return the points that the outputs are; none where they are only numbered."""
    if not isinstance(rounded.utility, DistanceLoss):
        numbered(labels)
        return []
    parts = [label if isinstance(label, tuple) else (label,) for label in labels]
    need(
        all(len(part) == len(rounded.axes) for part in parts),
        "an output is not a point of the domain",
    )
    points = [tuple(map(exact, part)) for part in parts]
    need(len(set(points)) == len(points), "the channel has a duplicate output")
    return points


def _verify_privacy(
    rounded: Rounded,
    claimed: tuple[Claim, ...],
    columns: list[list[int]],
    bits: int,
    steps: Steps,
) -> list[str]:
    """Check every notion: on the nodes, or by the slopes between them."""
    need(len(claimed) == len(rounded.privacy), "the file does not claim every notion")
    compiled, found = on_nodes(rounded), []
    for notion, claim in zip(rounded.privacy, claimed, strict=True):
        if isinstance(notion, Metric):
            found.append(_by_distance(notion, claim, slope(rounded, columns)))
            continue
        said = verify_privacy(compiled, notion, claim, columns, 1 << bits, steps)
        found.append(f"{said}: on the nodes, and so on the {rounded.domain}")
    return found


def _by_distance(notion: Metric, claim: Claim, least: Fraction) -> str:
    name, leakage = notion.name, exact(claim.leakage)
    about = Claim(name, claim.leakage, certified=True, epsilon=float(notion.epsilon))
    need(claim == about, f"{name}: the claimed notion is not that of the problem")
    leaks = f"{name}: not private: leaks {float(least):.10g} by distance"
    need(least <= notion.epsilon, leaks)
    near = least <= leakage <= least + LEAKAGE_TOLERANCE * (1 + least)
    need(near, f"{name}: the leakage is {float(least)!r}")
    return f"{name}: private as stated on the interval; leakage {float(leakage):.10g}"


def _origin(rounded: Rounded, prior: Prior) -> list[str]:
    """Say which laws all that is about, and how far that of the problem is from them."""
    error, size = rounded.moments.error, len(rounded.cells)
    within = f"within {float(error):.1e} of them, summed" if error else "the same"
    about, own = f"for every law with the moments of the {size} cells", "those of the law named are"
    if isinstance(prior, Stated):
        return [about, f"NOT checked: that {own} {within}"]
    return [f"{about}; {own} {within}"]
