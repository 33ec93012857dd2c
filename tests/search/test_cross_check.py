"""Every solver on every problem that it takes: one value."""

from __future__ import annotations

import doctest
import math
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import mechdesign as md
import problems.families
import solvers
from mechdesign.utilities import EstimationRisk, LinearUtility
from problems.families import FAMILIES
from solvers import SOLVERS, UnsuitableError, libqif
from solvers.definitions import loss, rows

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = {
    path.relative_to(ROOT / "problems").as_posix(): path
    for path in sorted((ROOT / "problems").glob("*/*.toml"))
    if path.parent.name != "continuous" and "data = {" not in path.read_text(encoding="utf-8")
}

CLOSED_FORMS = {
    "bounded_prior/survey_ball.toml",
    "bounded_prior/survey_box.toml",
    "bounded_prior/survey_list.toml",
    "classic/mangat_drug_survey.toml",
    "classic/randomized_response.toml",
    "classic/warner.toml",
    "estimation/city_blocks.toml",
    "estimation/favourite_colour.toml",
    "estimation/web_categories.toml",
    "leakage/sites_likeliest.toml",
    "lip/rare_disease.toml",
    "lip/rare_disease_epsilon_0_5.toml",
    "lip/rare_disease_epsilon_3.toml",
    "lip/sum_of_children.toml",
    "lip/survey_three_answers.toml",
    "lip/three_levels_epsilon_2_5.toml",
    "numeric/student_grades_counts.toml",
    "pml/survey.toml",
}
"""Problems that a closed form solves."""

FAMILY_SIZES = {
    "euclidean-grid": (2, 3),
    "manhattan-grid": (2, 3),
    "block-grid": (2, 4),
}
"""The others are tried with 1, 3 and 6 inputs."""

MOST_FOR_ALL_RAYS = 6

MOST_UNKNOWNS = {
    "direct-lp": 60_000,
    "linear-program": 60_000,
    "textbook": 130,
    "cvxpy": 10_000,
    "vectorised": 10_000,
    "linear-program:simplex": 10_000,
    "libqif": 10_000,
}
"""k * k * m up to which the slower solvers are asked."""


@lru_cache
def stated(name: str) -> md.Problem:
    if name in LIBRARY:
        return md.load_problem(LIBRARY[name])
    family, size = name.split()
    return FAMILIES[family](int(size))


def is_scalar_error(problem: md.Problem) -> bool:
    utility = problem.utility
    return isinstance(utility, md.PosteriorMeanSquaredError) and not utility.histogram


def takes(solver: str, name: str) -> bool:
    """Return whether a solver is asked for a problem."""
    problem = stated(name)
    if solver == "closed-form":
        return name in CLOSED_FORMS
    if isinstance(problem.utility, EstimationRisk | md.UnbiasedVariance):
        return solver == "ours"
    if not problem.is_conic:
        informed = any(
            isinstance(notion, md.MutualInformationLeakage) for notion in problem.privacy
        )
        convex = solver.startswith(("cvxpy", "textbook")) and not (informed and "HIGHS" in solver)
        large = solver in OTHER_SOLVERS and len(problem.domain) > 6
        return solver == "ours" or (convex and not large)
    if solver == "vertices":
        many_priors = hasattr(problem.privacy[0], "priors")
        return len(problem.domain) <= (3 if many_priors else MOST_FOR_ALL_RAYS)
    if isinstance(problem.utility, md.ColumnUtility):
        if isinstance(problem.utility, md.BayesAccuracy):
            return solver in ("ours", "extreme-rays") or solver.startswith("linear-program")
        scalar = is_scalar_error(problem)
        return solver in ("ours", "extreme-rays") or (scalar and solver == "decoder-grid")
    if solver in ("decoder-grid", "extreme-rays"):
        return False
    if solver == "libqif" and not (libqif.is_installed() and libqif.suits(problem)):
        return False
    size = len(problem.domain) ** 2 * len(problem.outputs or ())
    most = [MOST_UNKNOWNS.get(key, math.inf) for key in (solver, solver.partition(":")[0])]
    return size <= min(most)


FAMILY_NAMES = [
    f"{family} {size}" for family in FAMILIES for size in FAMILY_SIZES.get(family, (1, 3, 6))
]
NAMES = [*LIBRARY, *FAMILY_NAMES]
QUICK = (
    "ours",
    "decoder-grid",
    "extreme-rays",
    "linear-program:ipm",
    "direct-lp",
    "vertices",
)
OTHER_SOLVERS = tuple(
    name for name in SOLVERS if name.startswith(("textbook:", "cvxpy:", "vectorised:"))
)
EVERY = 6
"""Other solvers of one program are asked for every sixth problem, each for others."""

CELLS = [
    (name, solver)
    for n, name in enumerate(LIBRARY)
    for solver in SOLVERS
    if (solver not in OTHER_SOLVERS or (n + OTHER_SOLVERS.index(solver)) % EVERY == 0)
    and takes(solver, name)
]
CELLS += [(name, solver) for name in FAMILY_NAMES for solver in QUICK if takes(solver, name)]


@lru_cache
def reference(name: str) -> float:
    """Return the value in the file, or that of a solver that shares nothing with the library."""
    problem = stated(name)
    if problem.expected is not None:
        return problem.expected.value
    linear = isinstance(problem.utility, LinearUtility)
    if is_scalar_error(problem) and len(problem.domain) > 4:  # the published formula holds there
        f, p = np.arange(len(problem.domain)), problem.prior.array
        shrink = math.exp(-float(problem.privacy[0].epsilon))
        return float((p @ f**2 - (p @ f) ** 2) * (1 - (1 - shrink) ** 2))
    return SOLVERS["direct-lp" if linear else "vertices"](problem).value


@pytest.mark.parametrize(("name", "solver"), CELLS)
def test_value(name: str, solver: str) -> None:
    result = SOLVERS[solver](stated(name))
    assert result.name == solver
    assert result.seconds >= 0
    assert result.matrix.min() >= -1e-7
    assert np.allclose(result.matrix.sum(axis=1), 1, atol=1e-7)
    assert math.isclose(result.value, reference(name), rel_tol=1e-6, abs_tol=1e-9)


@pytest.mark.parametrize("name", LIBRARY)
def test_closed_forms_are_listed(name: str) -> None:
    if name in CLOSED_FORMS:
        found = SOLVERS["closed-form"](stated(name))
        assert found.name == "closed-form"
    else:
        with pytest.raises(UnsuitableError):
            SOLVERS["closed-form"](stated(name))


@pytest.mark.parametrize("name", NAMES)
def test_compiled_rows_and_losses_are_the_definitions(name: str) -> None:
    """Row by row, up to scale: what the library compiles is what the definitions say."""
    problem = stated(name)
    if len(problem.domain) > 25:
        pytest.skip("large, and no different")
    if not problem.is_conic:
        pytest.skip("a notion about the whole channel has no rows")
    if isinstance(problem.utility, LinearUtility):
        compiled = problem.utility.loss(problem.domain, problem.outputs or ()).array
        assert np.allclose(compiled, loss(problem), rtol=1e-14, atol=0)
    ours, theirs = unit(problem.cone.matrix().toarray()), unit(rows(problem).astype(float))
    notion = problem.privacy[0]
    if isinstance(notion, md.BoundedPriorLIP):  # redundant members may be listed
        assert all(np.abs(ours - row).max(axis=1).min() < 1e-12 for row in theirs)
        assert all(np.abs(theirs - row).max(axis=1).min() < 1e-12 for row in ours)
    else:
        assert np.allclose(ours, theirs, rtol=1e-12, atol=1e-15)


def unit(G: np.ndarray) -> np.ndarray:
    """Scale rows to largest entry 1, and sort them."""
    if len(G) == 0:
        return G
    scaled = G / np.abs(G).max(axis=1, keepdims=True)
    return scaled[np.lexsort(scaled.round(9).T)]


def test_lip_ball_and_box_with_seven_inputs() -> None:
    """Past the sizes of the random tests; the vertices are tried in all 5,040 orders."""
    for family in ("bounded-prior-ball", "bounded-prior-box"):
        problem = FAMILIES[family](7, seed=5)
        value = SOLVERS["ours"](problem).value
        assert math.isclose(value, SOLVERS["textbook"](problem).value, rel_tol=1e-6)


@pytest.mark.parametrize("module", [solvers, problems.families])
def test_examples_in_docstrings(module: object) -> None:
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0
