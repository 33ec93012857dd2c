"""The repair of the page against that of the library, integer by integer."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from mechdesign import Domain, Problem
from mechdesign.exact import exp_lower, fraction_text, sqrt_lower
from mechdesign.notions import (
    MetricPrivacy,
)
from mechdesign.repair import repair
from mechdesign.utilities import HammingLoss
from tests.explorer_support import a_notion, in_node, stated

pytestmark = pytest.mark.slow

N_PROBLEMS = 1000
WHOLE = 2.0**62
BUDGETS = ("0", "0.01", "0.3", "1", "2.7", "9")


def a_problem(draw: random.Random) -> Problem:
    """Return a problem with one of the notions, on up to twelve numbers or on a small grid."""
    if draw.random() < 0.1:
        rows, columns = draw.randint(2, 4), draw.randint(2, 4)
        grid = Domain.grid(rows, columns, draw.choice(["1", "0.25"]))
        notion = MetricPrivacy(draw.choice(["0.3", "1"]), draw.choice(["euclidean", "manhattan"]))
        return Problem(grid, notion, HammingLoss())
    size = draw.randint(2, 12)
    weights = [draw.randint(1, 20) for _ in range(size)]
    prior = [Fraction(w, sum(weights)) for w in weights]
    return Problem(list(range(size)), a_notion(draw, size, BUDGETS), HammingLoss(), prior=prior)


def near_its_cone(problem: Problem, draw: random.Random) -> npt.NDArray[np.float64]:
    """Return a matrix as a solver would: in the cone but for its tolerance, or far from it."""
    rng = np.random.default_rng(draw.randrange(2**32))
    k = len(problem.domain)
    matrix = rng.dirichlet(np.full(k, draw.choice([0.1, 1.0])), size=k)
    if draw.random() < 0.8:
        numerators, kept = repair(problem.cone, matrix)
        matrix = np.zeros((k, k))
        matrix[:, kept] = numerators / WHOLE
        matrix += rng.normal(scale=draw.choice([1e-9, 1e-12, 1e-16]), size=matrix.shape)
    return matrix


def test_a_thousand_channels_are_repaired_to_the_same_integers() -> None:
    draw = random.Random(16)
    problems = [a_problem(draw) for _ in range(N_PROBLEMS)]
    matrices = [near_its_cone(problem, draw) for problem in problems]
    tasks = [
        {"kind": "repair", "problem": stated(problem), "matrix": matrix.tolist()}
        for problem, matrix in zip(problems, matrices, strict=True)
    ]
    for problem, matrix, found in zip(problems, matrices, in_node(tasks), strict=True):
        numerators, kept = repair(problem.cone, matrix)
        assert found["kept"] == kept, problem
        assert [list(map(int, row)) for row in found["numerators"]] == numerators.tolist(), problem


def test_bounds_on_exponentials_and_roots_are_the_same_rationals() -> None:
    numbers = [Fraction(n, d) for n in (0, 1, 2, 7, 50, 4097) for d in (1, 3, 10, 997)]
    tasks = [
        {"kind": kind, "text": f"{number.numerator}/{number.denominator}"}
        for kind in ("exponential", "root")
        for number in numbers
    ]
    wanted = [*map(exp_lower, numbers), *map(sqrt_lower, numbers)]
    assert in_node(tasks) == [fraction_text(number) for number in wanted]
