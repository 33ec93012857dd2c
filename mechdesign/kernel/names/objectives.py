"""The objectives by name: the minimized form, from the inputs and the allowed outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from mechdesign.kernel.arithmetic import dot, known, lattice, need
from mechdesign.kernel.gains import Entropy, Gain, Hellinger, Squares, Vector, units
from mechdesign.kernel.generators import distribution
from mechdesign.kernel.names.domains import Inputs, Table
from mechdesign.kernel.objectives import (
    Loss,
    Losses,
    Objective,
    Reading,
    Risk,
    distances,
    hamming as hamming_losses,
    of_table,
)
from mechdesign.kernel.schema import Named

ONE = Fraction(1)


def _loss(on: Inputs, losses: Losses, worst_case: bool) -> Loss:
    return Loss(losses, None if worst_case else on.masses)


def _table(rows: Table, n: int, m: int) -> Table:
    """Return a matrix >= 0, which must have n rows and m columns."""
    fits = len(rows) == n and all(len(row) == m and min(row) >= 0 for row in rows)
    need(fits and n and m, f"expected a {n} x {m} matrix of numbers >= 0 in the problem")
    return rows


def hamming(on: Inputs, *, worst_case: bool = False) -> Loss:
    """1 if the output is not the input."""
    return _loss(on, hamming_losses(on.labels, on.allowed), worst_case)


def distortion(on: Inputs, *, matrix: Table, worst_case: bool = False) -> Loss:
    """A matrix of losses, a row for each input."""
    return _loss(on, of_table(_table(matrix, on.size, len(on.allowed))), worst_case)


DISTANCES = {
    "mean-absolute-error": "absolute",
    "mean-squared-distance": "squared",
    "euclidean": "euclidean",
}
"""The losses by a distance of points."""


def _of_distance(distance: str) -> Callable[..., Loss]:
    def form(on: Inputs, *, worst_case: bool = False) -> Loss:
        places, unit = lattice([*on.places, *map(on.target, on.allowed)])
        losses = distances(places[: on.size], places[on.size :], unit, distance)
        return _loss(on, losses, worst_case)

    return form


def bayes_accuracy(on: Inputs) -> Loss:
    """The probability of a correct best guess: a loss with a free output for each input."""
    return Loss(hamming_losses(on.labels, on.labels, least=-1), on.masses, free=True)


def g_vulnerability(on: Inputs, *, gain_matrix: Table) -> Loss:
    """The gain of the best guess: a row of the matrix, and a free output, for each guess."""
    gains = zip(*_table(gain_matrix, len(gain_matrix), on.size), strict=True)
    return Loss(of_table([[-g for g in row] for row in gains]), on.masses, free=True)


def _values(on: Inputs, values: Vector | None) -> Vector:
    words = "the objective in the file has not one value for each input"
    found = known(values, words)
    need(len(found) == on.size, words)
    return found


def posterior_mean_squared_error(
    on: Inputs, *, values: Vector | None = None, histogram: bool = False
) -> Gain:
    """The squared error of the posterior mean of f(X), or of the posterior of the histogram.

    It is the second moment minus a gain.
    """
    p = on.masses
    if histogram:
        need(values is None, "the error must be of values or of the histogram, not both")
        return Squares(units(p), p, constant=ONE)
    f = _values(on, values)
    vector = tuple(a * v for a, v in zip(f, p, strict=True))
    return Squares((vector,), p, constant=Fraction(dot(vector, f)))


def fisher_information(on: Inputs, *, scores: Table) -> Gain:
    """Sum_y Sum_j (Sum_x P_x s_xj q_x)**2 / (P . q), with a list of scores for each input."""
    p = on.masses
    fits = len(scores) == on.size and len(set(map(len, scores))) == 1 and scores[0]
    need(fits, "the objective in the file must have as many scores for each input")
    columns = zip(*scores, strict=True)
    vectors = (tuple(a * v for a, v in zip(c, p, strict=True)) for c in columns)
    return Squares(tuple(vectors), p)


def mutual_information(on: Inputs) -> Gain:
    """I(X; Y)."""
    return Entropy.of_inputs(on.masses)


def _mixtures(on: Inputs, first: Vector, second: Vector) -> tuple[Vector, Vector]:
    """Return two mixtures of inputs that occur; divergences are between their reports."""
    a, b = (distribution(side, on.size) for side in (first, second))
    if on.prior is not None:
        occur = all(p or not (v or w) for p, v, w in zip(on.prior, a, b, strict=True))
        need(occur, "a mixture in the file has an input of prior 0")
    return a, b


def total_variation(on: Inputs, *, first: Vector, second: Vector) -> Loss:
    """Sum_y |a . q - b . q| / 2: a loss with two free outputs, the signs."""
    half = [(a - b) / 2 for a, b in zip(*_mixtures(on, first, second), strict=True)]
    return Loss(of_table([[v, -v] for v in half]), (ONE,) * on.size, free=True)


def kullback_leibler(on: Inputs, *, first: Vector, second: Vector) -> Gain:
    """Sum_y a . q ln(a . q / b . q)."""
    a, b = _mixtures(on, first, second)
    return Entropy((a,), b)


def chi_squared(on: Inputs, *, first: Vector, second: Vector) -> Gain:
    """Sum_y (a . q - b . q)**2 / b . q."""
    a, b = _mixtures(on, first, second)
    return Squares((tuple(v - w for v, w in zip(a, b, strict=True)),), b)


def squared_hellinger(on: Inputs, *, first: Vector, second: Vector) -> Gain:
    """Sum_y (sqrt(a . q) - sqrt(b . q))**2 / 2."""
    return Hellinger.of(*_mixtures(on, first, second))


def _risk(on: Inputs, roots: bool, worst_case: bool) -> Risk:
    p = None if worst_case else on.masses
    need(p is None or min(p) > 0, "the risk of estimation needs a prior without zeros")
    return Risk(roots, p)


def l2_risk(on: Inputs, *, worst_case: bool = False) -> Risk:
    """The squared error of the best unbiased estimate of the distribution of inputs."""
    return _risk(on, False, worst_case)


def tv_risk(on: Inputs, *, worst_case: bool = False) -> Risk:
    """The total variation distance of that estimate."""
    return _risk(on, True, worst_case)


def unbiased_variance(
    on: Inputs, *, values: Vector | None = None, worst_case: bool = False
) -> Reading:
    """The variance of readings with mean f(x)."""
    return Reading(_values(on, values), None if worst_case else on.masses)


def own_objective(on: Inputs, *, expression: str = "") -> None:
    """Return None: a file only quotes a user's own objective."""


LOSSES = (hamming, distortion, posterior_mean_squared_error, l2_risk, tv_risk, unbiased_variance)
GAINS = (bayes_accuracy, g_vulnerability, fisher_information, mutual_information)
DIVERGENCES = (total_variation, kullback_leibler, chi_squared, squared_hellinger)
"""The gains, and the divergences of the reports of two mixtures, are maximized."""

FORMS: dict[str, Callable[..., Objective | None]]
FORMS = {name: _of_distance(distance) for name, distance in DISTANCES.items()}
FORMS |= {form.__name__.replace("_", "-"): form for form in (*LOSSES, *GAINS, *DIVERGENCES)}
FORMS[""] = own_objective

READS = {
    "bayes-accuracy": "likeliest",
    "posterior-mean-squared-error": "mean",
    "l2-risk": "estimator",
    "tv-risk": "estimator",
    "unbiased-variance": "readings",
}

OF_PAIRS = {"bayes-accuracy", "posterior-mean-squared-error", "mutual-information"}
"""Objectives with a number for each pair of inputs, which their table does not list."""


@dataclass(frozen=True)
class Utility(Named):
    """An objective by name."""

    tag: ClassVar[str] = "objective"

    @classmethod
    def forms(cls) -> dict[str, Callable[..., Any]]:
        return FORMS

    @property
    def sign(self) -> int:
        return -1 if FORMS.get(self.name) in (*GAINS, *DIVERGENCES) else 1

    @property
    def reads(self) -> str:
        """The kind of decoder; "" for none."""
        return "posterior" if self.keys.get("histogram") else READS.get(self.name, "")

    @property
    def distance(self) -> str:
        """The distance of its loss; "" for none."""
        return DISTANCES.get(self.name, "")

    @property
    def worst_case(self) -> bool:
        return bool(self.keys.get("worst_case", False))

    def form(self, on: Inputs) -> Objective | None:
        """Return the objective to minimize; None if the kernel does not know it."""
        return FORMS.get(self.name, own_objective)(on, **self.keys)
