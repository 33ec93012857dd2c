"""The reader of the problem that a saved file states: inputs, prior, notions, objective.

Its tables are those of `schema`, which are closed. Numbers are read as exact rationals. Nothing is
proved here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice, repeat
from math import isfinite, ldexp
from typing import Any, TypeAlias

from mechdesign.certify.fixed_point import over_one_denominator, ratio, scaled_down
from mechdesign.certify.forms import exact_number as number
from mechdesign.certify.loss_tables import DistanceLosses, HammingLosses, Losses, TableLosses
from mechdesign.certify.schema.problems import DIVERGENCES, KNOWN_OBJECTIVES, LOSSES, PROBLEM, RISKS
from mechdesign.errors import CertificateError
from mechdesign.resources import entries_of, spend

__all__ = [
    "ACCURACY",
    "FISHER",
    "INFORMATION",
    "L2_RISK",
    "LINEAR",
    "MOST_DIGITS",
    "POSTERIOR",
    "READINGS",
    "SECRET",
    "VULNERABILITY",
    "Statement",
    "check_different",
    "check_indices",
    "distribution",
    "nonnegative",
    "number",
    "plain_label",
    "read_domain",
    "read_masses",
    "read_potentials",
    "read_statement",
    "scaled_numbers",
    "statement_of",
    "statement_without_problem",
    "table_of",
    "whole_number",
]

MOST_INPUTS = 10**6
"""A grid with more points is refused before its labels are listed."""

POSTERIOR = "posterior-mean-squared-error"
INFORMATION = "mutual-information"
ACCURACY = "bayes-accuracy"
VULNERABILITY = "g-vulnerability"
FISHER = "fisher-information"
L2_RISK = "l2-risk"
READINGS = "unbiased-variance"

MOST_DIGITS = 4096
"""The longest integers that are read: their bits, and digits of text."""

SECRET = "secret"
"""The name given here to every notion of a sensitive attribute S behind the input.

Its own name is that of a notion of the inputs, and no theorem on those may take it for one."""

LINEAR = "linear"
"""The notion that is a list of the user's own rows."""

DISTANCE_LOSSES = {
    "mean-absolute-error": "absolute",
    "mean-squared-distance": "squared",
    "euclidean": "euclidean",
}
"""The expected losses that are distances, each with the kind of distance."""

Point: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True)
class Statement:
    """The problem that a file says it solves.

    Attributes
    ----------
    labels, points
        The inputs, and their coordinates where they have any.
    spacing
        The length of one step in the labels of a grid; 1 for numbers; None where a label is the
        number of a point.
    prior
        The exact prior of the inputs; it sums to 1.
    privacy
        The tables of the notions. One of a sensitive attribute has the name :data:`SECRET`, and
        its own name as ``of``.
    utility
        The table of the objective.
    outputs
        The outputs that the optimizer could use; None where it chose them itself.
    """

    labels: list[Any]
    points: list[Point] | None
    spacing: Fraction | None
    prior: list[Fraction]
    privacy: list[dict[str, Any]]
    utility: dict[str, Any]
    outputs: list[Any] | None

    @property
    def is_maximized(self) -> bool:
        """Whether more of the objective is better."""
        named = (INFORMATION, ACCURACY, VULNERABILITY, FISHER, *DIVERGENCES)
        return self.utility["objective"] in named

    @property
    def is_known(self) -> bool:
        """Whether the checker can compute the objective from the file."""
        return self.utility["objective"] in KNOWN_OBJECTIVES

    @property
    def is_risk(self) -> bool:
        """Whether the objective is the risk of estimating the distribution of the inputs."""
        return self.utility["objective"] in RISKS

    @property
    def is_read(self) -> bool:
        """Whether the objective is the variance of exact readings, which the file states."""
        return bool(self.utility["objective"] == READINGS)

    @property
    def is_worst_case(self) -> bool:
        """Whether the objective is the worst case over the inputs, or over their distributions."""
        return self.utility.get("worst_case") is True

    @property
    def is_uniform(self) -> bool:
        """Whether all inputs have the same prior probability."""
        return len(set(self.prior)) == 1

    @property
    def is_histogram(self) -> bool:
        """Whether the objective is the error of the estimate of X's indicators."""
        return self.utility.get("histogram") is True

    @property
    def is_divergence(self) -> bool:
        """Whether the objective is a divergence between the reports of two mixtures of inputs."""
        return self.utility["objective"] in DIVERGENCES

    @cached_property
    def values(self) -> list[Fraction]:
        """The value f(x) at each input, for the error or the variance of a scalar, or one score."""
        if self.utility["objective"] == FISHER:
            (values, *more), unit = self.scores
            if more:
                raise CertificateError("decoders are for the scores of one parameter")
            return [ratio(value, unit) for value in values]
        found = [number(value) for value in self.utility["values"]]
        if len(found) != len(self.prior):
            raise CertificateError("the objective in the file has not one value for each input")
        return found

    @cached_property
    def scores(self) -> tuple[list[list[int]], int]:
        """The scores of every parameter at the inputs, as integers over one denominator."""
        rows = self.utility["scores"]
        spend(10 * entries_of(rows), "scores")
        found = [[number(s) for s in row] for row in rows]
        widths = {len(row) for row in found}
        if len(found) != len(self.prior) or len(widths) != 1 or widths == {0}:
            raise CertificateError(
                "the objective in the file has not as many scores for each input"
            )
        flat, unit = over_one_denominator([s for row in found for s in row])
        width = len(found[0])
        return [flat[j::width] for j in range(width)], unit

    @cached_property
    def mixtures(self) -> tuple[list[int], list[int], int]:
        """The weights of the inputs in two mixtures, as integers over one denominator.

        What they weigh must occur, as bounds on their divergence are for the reports that do.
        """
        k = len(self.prior)
        both = [distribution(self.utility[key], k) for key in ("first", "second")]
        if any(w and not p for side in both for w, p in zip(side, self.prior, strict=True)):
            raise CertificateError("a mixture in the file has an input of prior 0")
        flat, unit = over_one_denominator([w for side in both for w in side])
        return flat[:k], flat[k:], unit

    @cached_property
    def guesses(self) -> tuple[list[list[int]], int]:
        """The gain of every guess at the inputs, as integers over one denominator."""
        rows = self.utility["gain_matrix"]
        table = table_of(rows, (len(rows), len(self.prior)))
        flat, unit = over_one_denominator([entry for row in table for entry in row])
        k = len(self.prior)
        return [flat[n : n + k] for n in range(0, len(flat), k)], unit

    @cached_property
    def ceiling(self) -> Fraction:
        """What the gain of a guess is, and its loss, together: the largest gain; 1 for accuracy."""
        if self.utility["objective"] != VULNERABILITY:
            return Fraction(1)
        gains, unit = self.guesses
        return Fraction(max(map(max, gains)), unit)

    @cached_property
    def places(self) -> dict[Any, int]:
        """The place of every input among them."""
        return {plain_label(label): x for x, label in enumerate(self.labels)}

    @cached_property
    def whole_values(self) -> tuple[list[int], int]:
        """The values as integers over one denominator."""
        return over_one_denominator(self.values)

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
        if objective == VULNERABILITY:
            gains, unit = self.guesses
            most = max(map(max, gains))
            lost = [[Fraction(most - g, unit) for g in each] for each in zip(*gains, strict=True)]
            return TableLosses(lost)
        if outputs is None:
            raise CertificateError(f"objective {objective!r} needs the outputs that were allowed")
        if objective == "distortion":
            shape = (len(self.labels), len(outputs))
            return TableLosses(table_of(self.utility["matrix"], shape))
        if objective == "hamming":
            return HammingLosses(self.labels, outputs)
        placed = [y if isinstance(y, list) else [y] for y in outputs]
        numeric = not any(isinstance(part, str) for y in placed for part in y)
        if objective not in DISTANCE_LOSSES or self.points is None or not numeric:
            raise CertificateError(f"no loss {objective!r:.60} is known on these inputs")
        targets = [self._target(y) for y in placed]
        places, unit = _on_lattice([*self.points, *targets])
        k = len(self.points)
        return DistanceLosses(places[:k], places[k:], unit, DISTANCE_LOSSES[objective])

    def _target(self, output: list[Any]) -> Point:
        """Return the point of an output: that of the same number, or that of its coordinates."""
        if self.spacing is not None:
            return tuple(self.spacing * number(part) for part in output)
        (label,) = output if len(output) == 1 else (None,)
        if type(label) is not int or self.points is None or not 0 <= label < len(self.points):
            raise CertificateError("an output is the number of no point")
        return self.points[label]


def _on_lattice(points: Sequence[Point]) -> tuple[list[tuple[int, ...]], int]:
    """Return points with whole coordinates, and the unit that these are over."""
    flat, unit = over_one_denominator([part for point in points for part in point])
    parts = iter(flat)
    return [tuple(islice(parts, len(point))) for point in points], unit


def whole_number(text: str, longest: int) -> int:
    """Return an integer >= 0 that the file has as text of at most so many digits."""
    if len(text) > longest:
        raise CertificateError(f"expected at most {longest} digits, found {text!r:.60}")
    return int(text)


def nonnegative(value: Any) -> Fraction:
    """Return an exact number that is not negative."""
    exact = number(value)
    if exact < 0:
        raise CertificateError(f"expected a number >= 0, found {value!r:.60}")
    return exact


def table_of(rows: Any, shape: tuple[int, int]) -> list[list[Fraction]]:
    """Return a matrix of nonnegative numbers, of that shape exactly."""
    spend(10 * entries_of(rows), "a table of the problem")
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
    """Read a problem as a saved file has it.

    Raises
    ------
    CertificateError
        If it has not the keys of a problem and no others, each of its form, or contradicts itself.
    """
    PROBLEM.check(problem, "problem")
    return statement_of(problem)


def statement_of(problem: dict[str, Any]) -> Statement:
    """Return the statement of a problem whose keys and forms are those of the schema.

    Raises
    ------
    CertificateError
        If it contradicts itself.
    """
    labels, points, spacing = read_domain(problem["domain"])
    prior = distribution(problem["prior"], len(labels))
    utility, outputs = problem["utility"], problem["outputs"]
    objective = utility["objective"]
    check_different(labels, "input")
    if outputs is not None:
        check_different(outputs, "output")
    if objective in LOSSES and outputs is None:
        raise CertificateError(f"objective {objective!r} needs the outputs that were allowed")
    privacy = [_named_apart(table) for table in problem["privacy"]]
    return Statement(labels, points, spacing, prior, privacy, utility, outputs)


def statement_without_problem(domain: dict[str, Any]) -> Statement:
    """Return the inputs of a file that states no problem.

    Raises
    ------
    CertificateError
        If an input comes twice.
    """
    labels, points, spacing = read_domain(domain)
    check_different(labels, "input")
    return Statement(labels, points, spacing, [], [], {}, None)


def _named_apart(table: dict[str, Any]) -> dict[str, Any]:
    """Return the table of a notion, renamed if the notion is of a sensitive attribute."""
    return {**table, "notion": SECRET, "of": table["notion"]} if "secret" in table else table


def read_potentials(statement: Statement, dual: dict[str, Any]) -> list[Fraction]:
    """Return the potentials of a certificate: dual variables of Sum_y Q[x,y] = 1, one for each x.

    Weak duality holds for any of them, so that nothing else is asked of them.
    """
    found = [number(u) for u in dual["potential"]]
    if len(found) != len(statement.prior):
        raise CertificateError("the certificate has not one potential for each input")
    return found


def read_masses(statement: Statement, dual: dict[str, Any]) -> tuple[list[int], int]:
    """Return the masses of the inputs in a mean of their losses, integers over one denominator.

    They are the prior; for a worst case over x, which is at least any mean, the weights of a
    certificate over their sum.

    Raises
    ------
    CertificateError
        If the weights are no distribution.
    """
    if not statement.is_worst_case:
        return statement.masses
    weights = [number(w) for w in dual["weights"]]
    if len(weights) != len(statement.prior) or min(weights) < 0 or not any(weights):
        raise CertificateError("the dual weights on the inputs are no distribution")
    parts, _ = over_one_denominator(weights)
    return parts, sum(parts)


def scaled_numbers(values: Collection[Any], bits: int) -> list[int]:
    """Return dual variables over ``2**bits``, rounded; the bound is then that of the rounded ones.

    A certificate may hold millions of floats: those are converted without rationals.
    """
    if set(map(type, values)) <= {float} and all(map(isfinite, values)):
        return list(map(int, map(ldexp, values, repeat(bits))))
    return [scaled_down(number(value), bits) for value in values]


def check_indices(indices: Collection[Any], size: int | None, what: str) -> None:
    """Raise unless all are integers from 0 to ``size - 1``; any others if there is no size.

    A negative index would count from the end, and name a row that nobody meant.
    """
    whole = set(map(type, indices)) <= {int} and min(indices, default=0) >= 0
    if not whole or (size is not None and max(indices, default=-1) >= size):
        below = "" if size is None else f" below {size}"
        raise CertificateError(f"{what} that does not exist: expected integers from 0{below}")


def check_different(labels: list[Any], what: str) -> None:
    """Raise unless all labels differ: 1 and 1.0 do not, 1 and "1" do."""
    if len({plain_label(label) for label in labels}) < len(labels):
        raise CertificateError(f"the problem in the file has an {what} twice")


def plain_label(label: Any) -> Any:
    """Return a label in a form that is equal exactly if it is, and has a hash."""
    return tuple(label) if isinstance(label, list) else label


def read_domain(domain: dict[str, Any]) -> tuple[list[Any], list[Point] | None, Fraction | None]:
    """Return the inputs of a file, their coordinates where they have any, and the spacing."""
    if "points" in domain:
        given = domain["points"]["coordinates"]
        if len(given) > MOST_INPUTS:
            raise CertificateError("the file has too many points")
        points = [(number(first), number(second)) for first, second in given]
        flat = domain["points"]["metric"] == "euclidean"
        return list(range(len(points))), list(points) if flat else None, None
    if "grid" in domain:
        grid = domain["grid"]
        step = number(grid["spacing"])
        if step <= 0 or grid["rows"] * grid["columns"] > MOST_INPUTS:
            raise CertificateError("the grid in the file has no points, or too many")
        spend(10 * grid["rows"] * grid["columns"], "the points of the grid")
        labels = [[r, c] for r in range(grid["rows"]) for c in range(grid["columns"])]
        down, right = ([step * n for n in range(grid[side])] for side in ("rows", "columns"))
        return labels, [(a, b) for a in down for b in right], step
    labels = domain["values"]
    numeric = all(isinstance(x, int | float) for x in labels)
    return labels, [(number(x),) for x in labels] if numeric else None, Fraction(1)
