"""The optimum of the strict notion, mixed with the truth: private, proved, and mostly optimal."""

from __future__ import annotations

import numpy as np
import pytest

import mechdesign as md
from mechdesign.search.conic.non_conic import strict_mixture
from mechdesign.search.limits import Limits
from mechdesign.search.presolve.chain import conic_program
from mechdesign.search.presolve.reductions import Answer
from problems.families import random_prior

TIGHT = 1e-7


def approximate(
    k: int, utility: md.LinearUtility, epsilon: str = "1", **more: object
) -> md.Problem:
    notion = md.ApproximateLDP(epsilon, "1/20")
    return md.Problem(range(k), notion, utility, prior=random_prior(k), **more)


def mixture(problem: md.Problem) -> tuple[Answer, float, float]:
    """Return the mixture with its value and its bound, in the unit of the loss."""
    program, unit = conic_program(problem)
    found = strict_mixture(problem, program, Limits())
    return found[0], unit * found[1], unit * found[2]


UTILITIES = [
    md.MeanAbsoluteError(),
    md.MeanSquaredDistance(),
    md.HammingLoss(),
]


@pytest.mark.parametrize("utility", UTILITIES, ids=repr)
@pytest.mark.parametrize("epsilon", ["1/2", "2"])
def test_delta_of_the_truth_and_the_rest_of_the_strict_optimum_is_optimal(
    utility: md.LinearUtility, epsilon: str
) -> None:
    problem = approximate(7, utility, epsilon)
    strict = md.Problem(problem.domain, md.LDP(epsilon), utility, prior=problem.prior)
    wanted = 0.95 * float(md.design(strict).value)
    _, value, bound = mixture(problem)
    assert value == pytest.approx(wanted, rel=TIGHT)
    assert bound == pytest.approx(wanted, rel=TIGHT)
    reference = md.design(problem, route="cvxpy:CLARABEL")
    assert float(reference.value) == pytest.approx(wanted, rel=1e-6)


def test_a_worst_case_starts_there() -> None:
    problem = approximate(7, md.MeanAbsoluteError(worst_case=True))
    (_, value, bound), solution = mixture(problem), md.design(problem)
    assert bound <= float(solution.value) * (1 + TIGHT)
    assert float(solution.value) <= value * (1 + TIGHT)
    reference = md.design(problem, route="cvxpy:CLARABEL")
    assert float(solution.value) == pytest.approx(float(reference.value), rel=1e-6)


def skewed() -> md.Problem:
    """A problem with losses that are no distances, whose optimum is below that of the mixture."""
    rng = np.random.default_rng(5)
    loss = rng.integers(0, 100, (8, 9))
    loss -= loss.min(axis=1, keepdims=True)
    notion = md.ApproximateLDP(2, "1/5")
    utility = md.Distortion(loss.tolist())
    return md.Problem(range(8), notion, utility, prior=random_prior(8, 3), outputs=range(9))


def test_the_program_continues_if_the_mixture_is_not_optimal() -> None:
    problem = skewed()
    (_, value, bound), solution = mixture(problem), md.design(problem)
    assert bound < float(solution.value) - TIGHT < value
    assert solution.status == "optimal"
    reference = md.design(problem, route="cvxpy:CLARABEL")
    assert float(solution.value) == pytest.approx(float(reference.value), rel=1e-6)


def test_the_bound_follows_from_the_multipliers() -> None:
    """Computed here from the rows themselves."""
    problem = approximate(9, md.MeanAbsoluteError())
    (found, value, bound), (constraint,) = mixture(problem), problem.channel_constraints
    program, unit = conic_program(problem)
    reduced, largest = unit * program.cost, dict[tuple[int, int], float]()
    m, pairs = found.duals[0], {n: pair for pair, n in (constraint.pairs or {}).items()}
    for y, n, w in zip(m.output, m.other.tolist(), unit * m.weight, strict=True):
        x, z = pairs[n]
        reduced[x, y] += np.exp(-1) * w
        reduced[z, y] -= w
        largest[x, z] = max(w, largest.get((x, z), 0.0))
    proved = reduced.min(axis=1).sum() - np.exp(-1) / 20 * sum(largest.values())
    assert proved == pytest.approx(bound, rel=TIGHT)
    assert (constraint.sums(found.matrix) <= constraint.limits() * (1 + TIGHT)).all()
    assert bound >= 0.97 * value


def test_a_budget_of_zero_is_left_to_the_program() -> None:
    solution = md.design(approximate(5, md.MeanAbsoluteError(), "0"))
    assert solution.status == "optimal"
