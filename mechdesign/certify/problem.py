"""Reading what a saved file states: the inputs, the prior, the loss. Nothing is believed yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any, TypeAlias

from mechdesign.certify.fixed_point import over_one_denominator
from mechdesign.certify.loss_tables import DistanceLosses, HammingLosses, Losses, TableLosses
from mechdesign.errors import CertificateError, InputError
from mechdesign.exact import as_fraction

__all__ = [
    "ACCURACY",
    "INFORMATION",
    "L2_RISK",
    "LINEAR",
    "POSTERIOR",
    "SECRET",
    "TV_RISK",
    "Statement",
    "check_different",
    "distribution",
    "nonnegative",
    "number",
    "read_domain",
    "read_statement",
    "table_of",
    "values_of",
]

MOST_INPUTS, LARGEST = 10**6, 10**9

POSTERIOR = "posterior-mean-squared-error"
INFORMATION = "mutual-information"
ACCURACY = "bayes-accuracy"
L2_RISK, TV_RISK = "l2-risk", "tv-risk"

SECRET = "secret"
"""What a notion about a secret behind the input is called here: no statement about inputs."""

LINEAR = "linear"
"""What a notion is called that is a list of rows of the user's own."""

EXPECTED_LOSSES = (
    "distortion",
    "hamming",
    "mean-absolute-error",
    "mean-squared-distance",
    "euclidean",
)

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
        The tables of the notions. One about a secret is called :data:`SECRET`, so that nothing
        takes it for one about the inputs, and ``of`` is what it was called.
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

    @property
    def is_maximised(self) -> bool:
        """Whether more of the objective is better."""
        return self.utility["objective"] in (INFORMATION, ACCURACY)

    @property
    def is_known(self) -> bool:
        """Whether the checker can compute the objective from the file."""
        known = (POSTERIOR, INFORMATION, ACCURACY, L2_RISK, TV_RISK, *EXPECTED_LOSSES)
        return self.utility["objective"] in known

    @property
    def is_risk(self) -> bool:
        """Whether the objective is the risk of estimating the distribution of the inputs."""
        return self.utility["objective"] in (L2_RISK, TV_RISK)

    @property
    def is_histogram(self) -> bool:
        """Whether the objective is the error of the estimate of X's indicators."""
        return self.utility.get("histogram") is True

    @cached_property
    def values(self) -> list[Fraction]:
        """What f is at each input, for a posterior-mean squared error."""
        found = [number(value) for value in self.utility["values"]]
        if len(found) != len(self.prior):
            raise CertificateError("the objective in the file has not one value for each input")
        return found

    @cached_property
    def masses(self) -> tuple[list[int], int]:
        """The prior as integers over one denominator."""
        return over_one_denominator(self.prior)

    @cached_property
    def lattice(self) -> tuple[list[tuple[int, ...]], int]:
        """The points with whole coordinates, and the unit that these are over."""
        if self.points is None:
            raise CertificateError("the inputs have no coordinates")
        return _on_lattice(self.points)

    @cached_property
    def losses(self) -> Losses:
        """The loss of each output at each input, between rational bounds."""
        objective, outputs = self.utility["objective"], self.outputs
        if objective == ACCURACY:  # one less the accuracy is the Hamming loss of the best guess
            objective, outputs = "hamming", self.labels
        if outputs is None:
            raise CertificateError(f"objective {objective!r} needs the outputs that were allowed")
        if objective == "distortion":
            shape = (len(self.labels), len(outputs))
            return TableLosses(table_of(self.utility["matrix"], shape))
        if objective == "hamming":
            return HammingLosses(self.labels, outputs)
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
        places, unit = _on_lattice([*self.points, *targets])
        k = len(self.points)
        return DistanceLosses(places[:k], places[k:], unit, kinds[objective])


def _on_lattice(points: Sequence[Point]) -> tuple[list[tuple[int, ...]], int]:
    """Return points with whole coordinates, and the unit that these are over."""
    flat, unit = over_one_denominator([part for point in points for part in point])
    parts = iter(flat)
    return [tuple(islice(parts, len(point))) for point in points], unit


def number(value: Any) -> Fraction:
    """Return the exact rational that a number or text of the file stands for."""
    if type(value) is int and -LARGEST < value < LARGEST:  # most are, and need no more reading
        return Fraction(value)
    try:
        return as_fraction(value)
    except InputError:
        raise CertificateError(f"expected an exact number, found {value!r:.60}") from None


def nonnegative(value: Any) -> Fraction:
    """Return an exact number that is not negative."""
    exact = number(value)
    if exact < 0:
        raise CertificateError(f"expected a number >= 0, found {value!r:.60}")
    return exact


def table_of(rows: Any, shape: tuple[int, int]) -> list[list[Fraction]]:
    """Return a matrix of nonnegative numbers, of that shape exactly."""
    table = [[nonnegative(entry) for entry in row] for row in rows]
    if len(table) != shape[0] or any(len(row) != shape[1] for row in table):
        raise CertificateError(f"expected a {shape[0]} x {shape[1]} matrix in the problem")
    return table


def distribution(values: Any, size: int) -> list[Fraction]:
    """Return ``size`` nonnegative numbers that sum to 1."""
    found = [nonnegative(value) for value in values]
    parts, whole = over_one_denominator(found)
    if len(found) != size or sum(parts) != whole:
        raise CertificateError("the prior in the file is no distribution on its inputs")
    return found


def read_statement(problem: Any) -> Statement:
    """Read the ``problem`` of a saved file.

    Raises
    ------
    CertificateError
        If a part is missing or is not what it should be.
    """
    try:
        labels, points, spacing = read_domain(problem["domain"])
        prior = distribution(problem["prior"], len(labels))
        privacy, utility, outputs = problem["privacy"], problem["utility"], problem["outputs"]
    except KeyError as error:
        raise CertificateError(f"the problem in the file has no {error}") from None
    except (TypeError, ValueError) as error:
        raise CertificateError(f"the problem in the file is malformed: {error}") from None
    check_different(labels, "input")
    if outputs is not None:
        check_different(outputs, "output")
    if not isinstance(privacy, list) or not privacy:
        raise CertificateError("the problem in the file has no privacy notion")
    privacy = [_told_apart(table) for table in privacy]
    for flag in ("worst_case", "histogram"):
        if not isinstance(utility.get(flag, False), bool):
            raise CertificateError(f"expected {flag} to be true or false")
    return Statement(labels, points, spacing, prior, privacy, utility, outputs)


def _told_apart(table: Any) -> dict[str, Any]:
    """Return the table of a notion, under a name of its own if it is about a secret."""
    if not isinstance(table, dict) or table.get("notion") in (None, SECRET):
        raise CertificateError("the problem in the file has a notion without a name")
    return {**table, "notion": SECRET, "of": table["notion"]} if "secret" in table else table


def check_different(labels: Any, what: str) -> None:
    """Raise unless ``labels`` is a list of labels, at least one, that all differ."""
    if not isinstance(labels, list) or not labels:
        raise CertificateError(f"the problem in the file has no {what}s")
    if len({_plain(label) for label in labels}) < len(labels):
        raise CertificateError(f"the problem in the file has an {what} twice")


def _plain(label: Any) -> Any:
    """Return a label in a form that is equal exactly if it is: 1 and 1.0 are, [1, 0] too."""
    if isinstance(label, list) and label and not any(isinstance(part, list) for part in label):
        return tuple(_plain(part) for part in label)
    return label if type(label) in (str, int) else number(label)


def read_domain(domain: dict[str, Any]) -> tuple[list[Any], list[Point] | None, Fraction]:
    """Return the inputs of a file, their coordinates where they have any, and the spacing."""
    if "grid" in domain:
        grid = domain["grid"]
        step = number(grid["spacing"])
        if step <= 0 or not 0 < grid["rows"] * grid["columns"] <= MOST_INPUTS:
            raise CertificateError("the grid in the file has no points, or too many")
        labels = [[r, c] for r in range(grid["rows"]) for c in range(grid["columns"])]
        return labels, [(step * r, step * c) for r, c in labels], step
    labels = domain["values"]
    numeric = all(isinstance(x, int | float) and not isinstance(x, bool) for x in labels)
    return labels, [(number(x),) for x in labels] if numeric else None, Fraction(1)


def values_of(statement: Statement) -> list[Fraction]:
    """Return f(x) for each input, for a posterior-mean squared error."""
    return statement.values
