"""The check of a saved mechanism for a continuous input; the theorems are in the package's text.

What is proved holds for every law on the interval that has the moments in the file. Where these
were rounded, the file says how far the law that was named may be from them; nothing here depends
on it, and it is checked where the law is even on bins or rectangles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from mechdesign.certify.channel_file import (
    Verified,
    check_status,
    read_channel,
    same_decoder,
    verify_bound,
    verify_privacy,
    verify_value,
)
from mechdesign.certify.continuous.even_bins import bin_moments, bins_of
from mechdesign.certify.continuous.even_rectangles import distance_from_rectangles
from mechdesign.certify.continuous.kernel import ESTIMATE, Kernel
from mechdesign.certify.continuous.law import Continuous, moments_of
from mechdesign.certify.continuous.plane import (
    PlaneKernel,
    plane_relaxation,
    read_plane,
    read_points,
)
from mechdesign.certify.continuous.regions import check_cuts, region_labels
from mechdesign.certify.continuous.relaxation import (
    METRIC,
    Relaxation,
    metric_budget,
    node_statement,
    relaxation,
)
from mechdesign.certify.continuous.unbiased import READ, stated_readings
from mechdesign.certify.fixed_point import total
from mechdesign.certify.problem import number
from mechdesign.certify.proof import bound_of
from mechdesign.errors import CertificateError
from mechdesign.resources import counted_apart

__all__ = ["FORMAT", "PLANE_FORMAT", "read_problem", "verify_continuous", "verify_plane"]

FORMAT = {"format": "mechdesign-continuous", "version": 1}
PLANE_FORMAT = {"format": "mechdesign-plane", "version": 1}

SLOPE_TOLERANCE = Fraction(1, 10**9)
"""A claimed leakage is refused if it is larger than the least that holds by such a share."""


def verify_continuous(document: dict[str, Any]) -> Verified:
    """Check every claim of a saved mechanism of an interval, whose keys and digest are right.

    Raises
    ------
    CertificateError
        At the first claim that does not hold.
    """
    channel = document["channel"]
    stated = read_problem(document["problem"], channel["points"])
    numbers = _outputs(stated, channel["outputs"])

    def kernel(stated: Continuous, columns: list[list[int]], bits: int) -> Kernel:
        read = stated_readings(stated, channel, columns, bits)
        return Kernel(stated, columns, bits, numbers, read)

    found = _confirmed(document, stated, kernel, relaxation)
    return _with_origin(found, stated.error, _distance(document["problem"], stated))


def verify_plane(document: dict[str, Any]) -> Verified:
    """Check every claim of a saved mechanism of a box, whose keys and digest are right.

    Raises
    ------
    CertificateError
        At the first claim that does not hold.
    """
    channel = document["channel"]
    stated = read_plane(document["problem"], channel["axes"])
    points = read_points(channel["outputs"])
    found = _confirmed(document, stated, partial(PlaneKernel, outputs=points), plane_relaxation)
    off = distance_from_rectangles(stated, document["problem"])
    return _with_origin(found, [stated.error], None if off is None else [off])


def _confirmed(
    document: dict[str, Any],
    stated: Any,
    kernel_of: Callable[..., Any],
    program_of: Callable[[Any], Relaxation],
) -> Verified:
    """Check what files of an interval and of a box claim alike."""
    channel = document["channel"]
    objective, certificate = stated.utility["objective"], document["certificate"]
    if document["objective"] != objective:
        raise CertificateError("the objective claimed is not that of the problem")
    if "numeric" in certificate:
        raise CertificateError("the file carries no proof of its bound")
    if document["cells"] != stated.size:
        raise CertificateError("the cells claimed are not those between the points")
    columns, bits = _columns(stated, channel)
    kernel = kernel_of(stated, columns, bits)
    claims = [f"rows sum to 1 exactly: integers over 2**{bits}"]
    claims += _verify_privacy(stated, document["privacy"], kernel)
    exact = kernel.value()
    claims.append(verify_value(exact, document))
    program = program_of(stated)
    with counted_apart():
        bound = bound_of(program.statement(), certificate) - program.shift
    bound = max(bound, Fraction(0))
    claims.append(verify_bound(exact, bound, document, f"kernel on the {stated.domain}"))
    claims.append(f"status {check_status(document)}")
    claims += _verify_decoder(kernel, objective, channel.get("decoder"))
    claims.append(f"for every law with the moments of the {stated.size} cells")
    return Verified(tuple(claims), exact, bound)


def read_problem(problem: dict[str, Any], points: list[str]) -> Continuous:
    """Return the problem of a file.

    Raises
    ------
    CertificateError
        If it contradicts itself.
    """
    nodes = tuple(number(point) for point in points)
    domain = problem["domain"]
    cuts, ends = domain.get("cuts", []), domain["interval"]
    check_cuts(nodes, [number(cut) for cut in cuts])
    moments = problem["moments"]
    lists = ([number(x) for x in moments[key]] for key in ("masses", "first", "second"))
    below, *cells, above = moments_of(*lists)
    if len(cells) != len(nodes) - 1:
        raise CertificateError("there are not as many cells as between the points, and two beyond")
    for node, end, infinite, tail in (
        (nodes[0], ends[0], "-inf", below),
        (nodes[-1], ends[1], "inf", above),
    ):
        if end == infinite:
            continue
        if end in ("-inf", "inf") or number(end) != node or any(tail):
            raise CertificateError("the points do not go from end to end of the interval")
    errors = [number(part) for part in moments["error"]]
    error = (errors[0], errors[1], errors[2])
    tails, is_bounded = (below, above), not {"-inf", "inf"} & set(ends)
    asked = (problem["privacy"], problem["utility"])
    labels = tuple(region_labels(list(map(str, ends)), list(map(str, cuts))))
    return Continuous(nodes, tuple(cells), tails, *asked, error, is_bounded, labels)


def _columns(stated: Any, channel: dict[str, Any]) -> tuple[list[list[int]], int]:
    """Return the integers of the channel of the nodes."""
    statement = node_statement(stated)
    outputs = list(range(len(channel["outputs"])))
    labeled = {**channel, "inputs": statement.labels, "outputs": outputs}
    free = replace(statement, outputs=None)
    columns, bits, _ = read_channel(free, labeled)
    return columns, bits


def _outputs(stated: Continuous, labels: list[Any]) -> list[Fraction]:
    """Return the numbers that the outputs are; none where they are only numbered."""
    if stated.utility["objective"] in (ESTIMATE, READ):
        if labels != list(range(len(labels))):
            raise CertificateError("the outputs that the optimizer chose are not numbered from 0")
        return []
    if any(type(label) not in (int, float) for label in labels):
        raise CertificateError("an output is no number")
    numbers = [number(label) for label in labels]
    if len(set(numbers)) < len(numbers):
        raise CertificateError("the channel has an output twice")
    return numbers


def _verify_privacy(stated: Any, claimed: list[dict[str, Any]], kernel: Any) -> list[str]:
    """Check every notion: on the nodes (Theorem 1), or by the slopes between them (Theorem 2)."""
    if len(claimed) != len(stated.privacy):
        raise CertificateError("the file does not claim every notion of its problem")
    statement, found = node_statement(stated), []
    for claim, table in zip(claimed, stated.on_nodes, strict=True):
        if table["notion"] != METRIC:
            said = verify_privacy(statement, table, claim, kernel.columns)
            found.append(f"{said}: on the nodes, and so on the {stated.domain}")
            continue
        epsilon, leakage = metric_budget(stated), number(claim["leakage"])
        if set(claim) != {"notion", "epsilon", "leakage", "certified"} or (
            (claim["notion"], claim["epsilon"]) != (METRIC, float(epsilon))
        ):
            raise CertificateError(f"{METRIC}: the claim is not about the notion of the problem")
        slope = kernel.slope()
        if slope > epsilon:
            raise CertificateError(f"{METRIC}: not private: leaks {float(slope):.10g} by distance")
        if not slope <= leakage <= slope + SLOPE_TOLERANCE * (1 + slope):
            raise CertificateError(f"{METRIC}: the leakage is {float(slope)!r}")
        found.append(f"{METRIC}: private as stated on the interval; leakage {float(leakage):.10g}")
    return found


def _verify_decoder(kernel: Any, objective: str, claimed: list[Any] | None) -> list[str]:
    """Check the posterior means, where the loss is that of the best estimate."""
    if objective not in (ESTIMATE, READ):
        if claimed is not None:
            raise CertificateError("the objective has no decoder, and the channel claims one")
        return []
    if claimed is None or not same_decoder(kernel.readings(), claimed, objective == READ):
        raise CertificateError("the decoder is not what is read from each output")
    if objective == READ:
        return ["the mean of the readings is x exactly, for every x of the interval"]
    return ["the decoder is the posterior mean at each output"]


def _distance(problem: dict[str, Any], stated: Continuous) -> list[Fraction] | None:
    """Return by how much the moments of the cells are off those of the law that is named, summed.

    They are masses, first and second moments; None where they cannot be recomputed.
    """
    bins = bins_of(problem["law"], problem["domain"]["interval"])
    if bins is None:
        return None
    below, above = stated.tails
    rows = zip(bin_moments(bins, stated.nodes), [below, *stated.cells, above], strict=True)
    differences = [[abs(a - b) for a, b in zip(*row, strict=True)] for row in rows]
    return [total(list(column)) for column in zip(*differences, strict=True)]


def _with_origin(
    found: Verified, errors: Sequence[Fraction], off: Sequence[Fraction] | None
) -> Verified:
    """Add to the claims how far the law that is named may be from the moments of the cells.

    Raises
    ------
    CertificateError
        If it is farther than the file says, where that was recomputed.
    """
    parts = ", ".join(f"{float(part):.1e}" for part in errors)
    within = f"within {parts} of them, summed" if any(errors) else "the same"
    if off is None:
        origin = f"; NOT checked: that those of the law named are {within}"
    elif any(own > most for own, most in zip(off, errors, strict=True)):
        raise CertificateError("the moments of the cells are not those of the law named")
    else:
        origin = f"; those of the law named are {within}"
    return replace(found, claims=(*found.claims[:-1], found.claims[-1] + origin))
