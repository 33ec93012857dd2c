"""The definitions of notions and losses as plain matrices, for the direct and the ray solver.

Written from the mathematics and from the parameters that a user gives; nothing here is taken from
the rows or the losses that the library compiles. Every row g says g . q <= 0 of a column q and is
scaled to entries of at most 1, so that a huge epsilon does not overflow. Rows are rationals: priors
as they are, exponentials as the nearest floats.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mechdesign.notions import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    BlockLDP,
    BoundedPriorLift,
    BoundedPriorLIP,
    BoundedPriorPML,
    ContextAwareLDP,
    DifferentialIdentifiability,
    HighLowLDP,
    LinearNotion,
    MetricPrivacy,
    Notion,
    SensitiveAttributePrivacy,
)
from mechdesign.prior import Prior
from mechdesign.prior_sets import PriorBall, PriorBox, PriorList
from mechdesign.problem import Problem
from mechdesign.utilities import (
    Distortion,
    EuclideanDistance,
    HammingLoss,
    MeanAbsoluteError,
    MeanSquaredDistance,
    PosteriorMeanSquaredError,
    Utility,
)
from solvers.base import FloatArray, UnsuitableError

MOST_ORDERS = 20_000

ExactRows: TypeAlias = npt.NDArray[np.object_]
Weights: TypeAlias = tuple[Fraction, ...]


def rows(problem: Problem) -> ExactRows:
    """Return all rows of all notions, rationals in an array of shape ``(n_rows, n_inputs)``.

    Raises
    ------
    UnsuitableError
        If a notion is not one that this file knows.
    """
    k = len(problem.domain)
    found = [np.zeros((0, k), dtype=object)]
    for notion in problem.privacy:
        if type(notion) not in ROWS:
            raise UnsuitableError(f"no definition of {notion.name!r}")
        found.append(ROWS[type(notion)](notion, problem))
    return np.concatenate(found)


def shrink(exponent: float) -> Fraction:
    """Return e**-exponent, to the nearest float."""
    return Fraction(math.exp(-exponent))


def ratio_rows(exponents: FloatArray, weights: Sequence[Fraction] | None = None) -> ExactRows:
    """Return w_x q_x <= e**E[x, x'] w_x' q_x' for all pairs with a finite exponent."""
    k = len(exponents)
    w = [Fraction(1)] * k if weights is None else weights
    found = []
    for x, other in itertools.permutations(range(k), 2):
        if np.isfinite(exponents[x, other]):
            row = np.zeros(k, dtype=object)
            left, right = shrink(exponents[x, other]) * w[x], w[other]
            row[x], row[other] = left / max(left, right), -right / max(left, right)
            found.append(row)
    return np.array(found, dtype=object).reshape(-1, k)


def lift_rows(priors: Sequence[Weights], lower: float, upper: float, k: int) -> ExactRows:
    """Return q_x <= e**upper P . q and P . q <= e**lower q_x for all x and all given P."""
    unit = np.array([[Fraction(int(x == z)) for z in range(k)] for x in range(k)], dtype=object)
    found = [np.zeros((0, k), dtype=object)]
    for P in priors:
        law = np.array([P] * k, dtype=object)
        if upper < math.inf:
            found.append(shrink(upper) * unit - law)
        if lower < math.inf:
            found.append(shrink(lower) * law - unit)
    return np.concatenate(found)


def same(problem: Problem, budget: Callable[[int, int], float]) -> ExactRows:
    k = len(problem.domain)
    return ratio_rows(np.array([[budget(x, z) for z in range(k)] for x in range(k)], dtype=float))


def _high_low(notion: HighLowLDP, problem: Problem) -> ExactRows:
    labels, epsilon = problem.domain.labels, float(notion.epsilon)
    return same(problem, lambda x, _z: epsilon if labels[x] in notion.sensitive else math.inf)


def _block(notion: BlockLDP, problem: Problem) -> ExactRows:
    def member(label: Any) -> Any:
        if notion.block_shape is not None:
            return label[0] // notion.block_shape[0], label[1] // notion.block_shape[1]
        return [label in block for block in notion.blocks or ()]

    labels, epsilon = problem.domain.labels, float(notion.epsilon)
    return same(
        problem, lambda x, z: epsilon if member(labels[x]) == member(labels[z]) else math.inf
    )


def _metric(notion: MetricPrivacy, problem: Problem) -> ExactRows:
    epsilon = float(notion.epsilon)
    if not isinstance(notion.distance, str):
        return ratio_rows(epsilon * notion.distance.array)
    order = {"euclidean": 2, "absolute": 1, "manhattan": 1}[notion.distance]
    points = places(problem, problem.domain.labels)
    return ratio_rows(epsilon * gaps(points, points, order))


def _context_aware(notion: ContextAwareLDP, problem: Problem) -> ExactRows:
    return same(
        problem,
        lambda x, z: math.inf if notion.matrix[x][z] is None else float(notion.matrix[x][z] or 0),
    )


def _identifiability(notion: DifferentialIdentifiability, problem: Problem) -> ExactRows:
    k = len(problem.domain)
    return ratio_rows(np.full((k, k), float(notion.epsilon)), problem.prior.probabilities)


def _lip(problem: Problem, lower: float, upper: float) -> ExactRows:
    return lift_rows([problem.prior.probabilities], lower, upper, len(problem.domain))


def _lift(notion: AsymmetricLift, problem: Problem) -> ExactRows:
    lower, upper = (
        math.inf if side is None else float(side) for side in (notion.lower, notion.upper)
    )
    return _lip(problem, lower, upper)


def _bounded_prior(
    notion: BoundedPriorLIP | BoundedPriorPML, problem: Problem, lower: float = math.inf
) -> ExactRows:
    upper = float(notion.epsilon)
    return lift_rows(prior_vertices(notion.priors), lower, upper, len(problem.domain))


def _bounded_prior_lift(notion: BoundedPriorLift, problem: Problem) -> ExactRows:
    lower, upper = (
        math.inf if side is None else float(side) for side in (notion.lower, notion.upper)
    )
    return lift_rows(prior_vertices(notion.priors), lower, upper, len(problem.domain))


def _secret(notion: SensitiveAttributePrivacy, problem: Problem) -> ExactRows:
    """Return the rows on Pr(y|s) = Sum_x P(x|s) Q(y|x), the secrets in the place of the inputs."""
    attribute = notion.attribute
    given = np.array(attribute.given_input, dtype=object)
    joint = given.T * np.array(problem.prior.probabilities, dtype=object)
    masses = joint.sum(axis=1)
    secrets = Problem(notion.attribute.domain, notion.notion, HammingLoss(), prior=Prior(masses))
    found: ExactRows = ROWS[type(notion.notion)](notion.notion, secrets) @ (joint / masses[:, None])
    return found


def _own(notion: LinearNotion, problem: Problem) -> ExactRows:
    """Return the rows as they are given, without an epsilon."""
    found = []
    for given in notion.rows(problem.domain, problem.prior):
        row = np.array([Fraction(0)] * len(problem.domain), dtype=object)
        for label, value in given.left.items():
            row[problem.domain.index(label)] += shrink(float(given.exponent)) * value
        for label, value in given.right.items():
            row[problem.domain.index(label)] -= value
        found.append(row)
    return np.array(found, dtype=object).reshape(-1, len(problem.domain))


ROWS: dict[type[Notion], Callable[[Any, Problem], ExactRows]] = {
    LDP: lambda n, problem: same(problem, lambda _x, _z: float(n.epsilon)),
    ContextAwareLDP: _context_aware,
    HighLowLDP: _high_low,
    BlockLDP: _block,
    MetricPrivacy: _metric,
    DifferentialIdentifiability: _identifiability,
    LIP: lambda n, p: _lip(p, float(n.epsilon), float(n.epsilon)),
    PML: lambda n, p: _lip(p, math.inf, float(n.epsilon)),
    AsymmetricLift: _lift,
    BoundedPriorLIP: lambda n, p: _bounded_prior(n, p, float(n.epsilon)),
    BoundedPriorPML: _bounded_prior,
    BoundedPriorLift: _bounded_prior_lift,
    SensitiveAttributePrivacy: _secret,
    LinearNotion: _own,
}


def prior_vertices(priors: Any) -> list[Weights]:
    """Return priors whose mixtures are the whole set, among them all its vertices.

    Every vertex is the only member at which some expectation is largest, and that member is found
    by filling the inputs up in order of their values. So all orders are tried.

    Raises
    ------
    UnsuitableError
        If there are too many orders.
    """
    if isinstance(priors, PriorList):
        return list(priors.members)
    if math.factorial(priors.size) > MOST_ORDERS:
        raise UnsuitableError(f"{priors.size}! orders of the inputs are too many")
    fill = {PriorBox: _fill_box, PriorBall: _fill_ball}[type(priors)]
    return sorted({fill(priors, order) for order in itertools.permutations(range(priors.size))})


def _fill_box(box: PriorBox, order: Sequence[int]) -> Weights:
    """Start at the lower ends and raise the inputs in the given order while mass is left."""
    prior = list(box.lower)
    for x in order:
        prior[x] = min(box.upper[x], prior[x] + 1 - sum(prior))
    return tuple(prior)


def _fill_ball(ball: PriorBall, order: Sequence[int]) -> Weights:
    """Give the first input of the order as much as the radius allows, taken from the last ones."""
    prior = list(ball.center)
    gift = min(ball.radius, 1 - prior[order[0]])
    prior[order[0]] += gift
    for x in reversed(order[1:]):
        taken = min(prior[x], gift)
        prior[x] -= taken
        gift -= taken
    return tuple(prior)


def places(problem: Problem, labels: Sequence[Any]) -> FloatArray:
    """Return the coordinates of labels, ``(n_labels, n_dimensions)``."""
    points = np.array(labels, dtype=float).reshape(len(labels), -1)
    return points * float(problem.domain.spacing or 1)


def gaps(a: FloatArray, b: FloatArray, order: int, power: int = 1) -> FloatArray:
    """Return the distances of two lists of points in the norm of an order, to a power."""
    steps = np.abs(a[:, None, :] - b[None, :, :])
    if order == 1:
        return steps.sum(axis=2)
    return (steps**2).sum(axis=2) ** (power / 2)


LOSSES: dict[type[Utility], Callable[[Problem], FloatArray]] = {
    MeanAbsoluteError: lambda p: gaps(places(p, p.domain.labels), places(p, p.outputs or ()), 1),
    EuclideanDistance: lambda p: gaps(places(p, p.domain.labels), places(p, p.outputs or ()), 2),
    MeanSquaredDistance: lambda p: gaps(
        places(p, p.domain.labels), places(p, p.outputs or ()), 2, power=2
    ),
    HammingLoss: lambda p: np.array(
        [[float(x != y) for y in p.outputs or ()] for x in p.domain.labels]
    ),
    Distortion: lambda p: p.utility.matrix.array,  # type: ignore[attr-defined]
}


def loss(problem: Problem) -> FloatArray:
    """Return the loss D(x, y), ``(n_inputs, n_outputs)``.

    Raises
    ------
    UnsuitableError
        If the objective is not a loss between X and Y that this file knows.
    """
    if type(problem.utility) not in LOSSES:
        raise UnsuitableError(f"no loss matrix of {problem.utility.name!r}")
    return LOSSES[type(problem.utility)](problem)


def posterior_values(problem: Problem) -> FloatArray:
    """Return f(x) for a posterior-mean error, ``(n_inputs,)``.

    Raises
    ------
    UnsuitableError
        If the objective is another.
    """
    utility = problem.utility
    if not isinstance(utility, PosteriorMeanSquaredError):
        raise UnsuitableError(f"{utility.name!r} is not a posterior-mean error")
    given = problem.domain.labels if utility.given is None else utility.given
    return np.array([float(value) for value in given])  # type: ignore[arg-type]
