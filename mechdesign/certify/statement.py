"""Reading what a saved file states: the inputs, the prior, the loss. Nothing is believed yet."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from mechdesign.errors import CertificateError
from mechdesign.exact import sqrt_lower, sqrt_upper

__all__ = ["Interval", "Statement", "distance", "number", "read_statement"]

Interval: TypeAlias = tuple[Fraction, Fraction]
"""A rational at most, and one at least, some real number."""

Point: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True)
class Statement:
    """The problem that a file says it solves.

    Attributes
    ----------
    labels, points
        The inputs, and their coordinates where they have any.
    spacing
        The length of one step in the labels of a grid; 1 for numbers.
    prior
        The exact prior of the inputs; it sums to 1.
    privacy
        The tables of the notions.
    utility
        The table of the objective.
    outputs
        The outputs that the optimiser could use; None where it chose them itself.
    """

    labels: list[Any]
    points: list[Point] | None
    spacing: Fraction
    prior: list[Fraction]
    privacy: list[dict[str, Any]]
    utility: dict[str, Any]
    outputs: list[Any] | None

    def losses(self) -> list[list[Interval]]:
        """Return the loss of each output y at each input x, between rational bounds."""
        objective, outputs = self.utility["objective"], self.outputs
        if outputs is None:
            raise CertificateError(f"objective {objective!r} needs the outputs that were allowed")
        if objective == "distortion":
            table = [[number(entry) for entry in row] for row in self.utility["matrix"]]
            return [[(entry, entry) for entry in row] for row in table]
        if objective == "hamming":
            one, zero = (Fraction(1),) * 2, (Fraction(0),) * 2
            return [[zero if x == y else one for y in outputs] for x in self.labels]
        kinds = {
            "mean-absolute-error": "absolute",
            "mean-squared-distance": "squared",
            "euclidean": "euclidean",
        }
        if objective not in kinds or self.points is None:
            raise CertificateError(f"no loss is known for {objective!r} on these inputs")
        targets = [
            tuple(self.spacing * number(part) for part in (y if isinstance(y, list) else [y]))
            for y in outputs
        ]
        return [[distance(p, t, kinds[objective]) for t in targets] for p in self.points]


def number(value: Any) -> Fraction:
    """Return the exact rational that a number or text of the file stands for."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise CertificateError(f"expected an exact number, found {value!r}")
    try:
        return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise CertificateError(f"expected an exact number, found {value!r}") from None


def distance(a: Point, b: Point, kind: str) -> Interval:
    """Return bounds on the distance of two points; they agree where it is rational."""
    steps = [abs(s - t) for s, t in zip(a, b, strict=True)]
    if kind in ("absolute", "manhattan") and (len(steps) == 1 or kind == "manhattan"):
        return (sum(steps, Fraction(0)),) * 2
    square = sum((step * step for step in steps), Fraction(0))
    if kind == "squared":
        return (square, square)
    if kind == "euclidean":
        return (sqrt_lower(square), sqrt_upper(square))
    raise CertificateError(f"no distance {kind!r} is known in {len(steps)} dimensions")


def read_statement(problem: Any) -> Statement:
    """Read the ``problem`` of a saved file.

    Raises
    ------
    CertificateError
        If a part is missing or is not what it should be.
    """
    try:
        labels, points, spacing = _read_domain(problem["domain"])
        prior = [number(p) for p in problem["prior"]]
        privacy, utility, outputs = problem["privacy"], problem["utility"], problem["outputs"]
        statement = Statement(labels, points, spacing, prior, privacy, utility, outputs)
    except (KeyError, TypeError, ValueError) as error:
        raise CertificateError(f"the problem in the file is incomplete: {error!r}") from None
    if len(prior) != len(labels) or min(prior) < 0 or sum(prior) != 1:
        raise CertificateError("the prior in the file is no distribution on its inputs")
    if not statement.privacy:
        raise CertificateError("the problem in the file has no privacy notion")
    return statement


def _read_domain(domain: dict[str, Any]) -> tuple[list[Any], list[Point] | None, Fraction]:
    if "grid" in domain:
        grid = domain["grid"]
        step = number(grid["spacing"])
        labels = [[r, c] for r in range(grid["rows"]) for c in range(grid["columns"])]
        return labels, [(step * r, step * c) for r, c in labels], step
    labels = domain["values"]
    numeric = all(isinstance(x, int | float) and not isinstance(x, bool) for x in labels)
    return labels, [(number(x),) for x in labels] if numeric else None, Fraction(1)
