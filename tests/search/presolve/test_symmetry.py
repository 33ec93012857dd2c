"""Symmetries are found and refused exactly, and what they leave has the optimum of the whole."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    AsymmetricLift,
    BlockLDP,
    BoundedPriorLIP,
    ContextAwareLDP,
    DifferentialIdentifiability,
    Distortion,
    Domain,
    EuclideanDistance,
    HammingLoss,
    HighLowLDP,
    InputError,
    MeanAbsoluteError,
    MetricPrivacy,
    MutualInformation,
    Prior,
    Problem,
    UnsupportedError,
    design,
)
from mechdesign.kernel import verify
from mechdesign.notions import Notion
from mechdesign.search.interior.solve import by_interior
from mechdesign.search.limits import Limits
from mechdesign.search.lp.linear_program import solve_linear
from mechdesign.search.presolve.chain import solve_reduced
from mechdesign.search.presolve.symmetry import Action, Symmetry, given_symmetries, symmetries
from mechdesign.utilities import Utility
from tests.search_support import assert_optimal, proved_bound
from tests.strategies import examples, lp_optimum

seeds = st.integers(0, 2**32)


def square(n: int, epsilon: Any = 1, **keys: Any) -> Problem:
    return Problem(
        Domain.grid(n, n), MetricPrivacy(epsilon, "euclidean"), EuclideanDistance(), **keys
    )


def group_of(symmetry: Symmetry) -> set[tuple[int, ...]]:
    """All permutations of the inputs that the generators make."""
    k = len(symmetry.input_orbit)
    found = {tuple(range(k))}
    todo = list(found)
    while todo:
        g = todo.pop()
        for action in symmetry.actions:
            h = tuple(int(action.inputs[x]) for x in g)
            if h not in found:
                found.add(h)
                todo.append(h)
    return found


# --- what is found --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "size", "outputs", "potentials"),
    [
        (square(7), 8, 10, 10),
        (square(4), 8, 3, 3),
        (
            Problem(Domain.grid(3, 5), MetricPrivacy(1, "manhattan"), EuclideanDistance()),
            4,
            6,
            6,
        ),
        (Problem(Domain.range(7), MetricPrivacy(1, "absolute"), MeanAbsoluteError()), 2, 4, 4),
        (Problem(Domain([5, 0, 3, 2]), LDP(1), MeanAbsoluteError()), 2, 2, 2),
        (Problem(Domain.range(5), LDP(1), HammingLoss()), 120, 1, 1),
        (Problem(Domain.range(5), HighLowLDP(1, [0, 2]), HammingLoss()), 12, 2, 2),
        (Problem(Domain.range(4), LIP(1), HammingLoss(), prior=[0.2, 0.3, 0.2, 0.3]), 4, 2, 2),
        (Problem(Domain.range(3), LDP(1), Distortion([[0, 5], [0, 5], [5, 0]])), 2, 2, 2),
    ],
    ids=["7x7", "4x4", "3x5", "line", "shuffled", "all", "high-low", "lip", "two outputs"],
)
def test_symmetries_are_found(problem: Problem, size: int, outputs: int, potentials: int) -> None:
    found = symmetries(problem)
    assert found is not None
    assert len(group_of(found)) == size
    assert len(found.representatives) == outputs
    assert len(found.orbit_size) == potentials
    assert found.note == (
        f"symmetries leave {outputs} of {len(problem.outputs or ())} outputs "
        f"and {potentials} of {len(problem.domain)} row sums"
    )


def test_a_circle_turns() -> None:
    k = 6
    steps = np.abs(np.subtract.outer(range(k), range(k)))
    round_trip = np.minimum(steps, k - steps)
    problem = Problem(
        Domain([f"hour {h}" for h in range(k)]),
        MetricPrivacy("0.5", round_trip.tolist()),
        Distortion(round_trip.tolist()),
    )
    found = symmetries(problem)
    assert found is not None
    assert len(group_of(found)) == 2 * k
    assert found.multiplicity.tolist() == [k]


@pytest.mark.parametrize(
    "problem",
    [
        square(3, prior=Prior.from_counts([1, 2, 3, 4, 5, 6, 7, 8, 9])),
        Problem(Domain([0, 1, 3]), LDP(1), MeanAbsoluteError()),
        Problem(Domain([0, 1, 3, 7]), MetricPrivacy(1, "absolute"), HammingLoss()),
        Problem(Domain.range(3), LDP(1), MutualInformation()),
    ],
    ids=["prior", "loss", "metric", "not linear"],
)
def test_none_are_found_where_there_are_none(problem: Problem) -> None:
    assert symmetries(problem) is None


# --- what is refused ------------------------------------------------------------------------------

SWAP = [1, 0, 2]


def three(
    notion: Notion | None = None,
    utility: Utility | None = None,
    prior: list[Any] | None = None,
) -> Problem:
    """Three inputs of which the first two can be swapped, but for what is given."""
    rows = [[0, 1, 2], [1, 0, 2], [3, 3, 0]]
    return Problem(
        Domain.range(3),
        notion or ContextAwareLDP([[0, 1, 2], [1, 0, 2], [3, 3, 0]]),
        utility or Distortion(rows),
        prior=prior or [0.25, 0.25, 0.5],
    )


def test_a_symmetry_given_is_taken() -> None:
    found = given_symmetries(three(), [SWAP])
    assert found.multiplicity.tolist() == [2, 1]
    assert found.output_orbit.tolist() == found.input_orbit.tolist() == [0, 0, 1]
    assert symmetries(three()) is not None


TINY = Fraction(1, 10**15)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (three(prior=[Fraction(1, 4) + TINY, Fraction(1, 4) - TINY, "0.5"]), "changes the prior"),
        (three(prior=["0.3", "0.2", "0.5"]), r"prior: 0 has 0\.3, 1, where it goes, 0\.2"),
        (
            three(ContextAwareLDP([[0, 1, 2], [1, 0, Fraction(2) + TINY], [3, 3, 0]])),
            r"changes context-aware: the bound on \(0, 2\) is not that on \(1, 2\)",
        ),
        (
            three(ContextAwareLDP([[0, 1, 2], [1, 0, 2], [3, "inf", 0]])),
            r"the bound on \(2, 0\) is not that on \(2, 1\)",
        ),
        (three(ContextAwareLDP([[0, 1, 2], [2, 0, 2], [3, 3, 0]])), r"\(0, 1\) .* \(1, 0\)"),
        (
            three(utility=Distortion([[0, 1, 2], [1, 0, 2], [3, Fraction(3) + TINY, 0]])),
            "changes the loss: that of output 0, moved, is of no output",
        ),
        (three(utility=Distortion([[0, 0], [1, 1], [5, 0]])), "changes the loss"),
    ],
    ids=["prior by 1e-15", "prior", "one entry by 1e-15", "free", "asymmetric", "loss", "losses"],
)
def test_one_thing_that_changes_is_enough_to_refuse(problem: Problem, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        given_symmetries(problem, [[0, 1, 2], SWAP])
    assert caught.value.key == "symmetries[1]"
    assert symmetries(problem) is None


def test_the_prior_of_a_worst_case_matters_only_to_notions() -> None:
    uneven = [0.3, 0.2, 0.5]
    worst = Distortion([[0, 1, 2], [1, 0, 2], [3, 3, 0]], worst_case=True)
    assert given_symmetries(three(utility=worst, prior=uneven), [SWAP])
    with pytest.raises(InputError, match="changes the priors of lip"):
        given_symmetries(three(LIP(1), worst, prior=uneven), [SWAP])
    with pytest.raises(InputError, match="changes differential-identifiability"):
        given_symmetries(three(DifferentialIdentifiability(2), worst, prior=uneven), [SWAP])
    sets: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"priors": [[0.3, 0.2, 0.5], [0.2, 0.3, 0.5]]}, {"priors": [uneven]}),
        (
            {"lower": [0, 0, 0.1], "upper": [0.9, 0.9, 0.9]},
            {"lower": [0, 0.1, 0.1], "upper": [0.9, 0.9, 0.9]},
        ),
        ({"center": [0.2, 0.2, 0.6], "radius": 0.1}, {"center": uneven, "radius": 0.1}),
    ]
    for same, other in sets:
        assert given_symmetries(three(BoundedPriorLIP(1, **same)), [SWAP])
        with pytest.raises(InputError, match="changes the priors of bounded-prior-lip"):
            given_symmetries(three(BoundedPriorLIP(1, **other)), [SWAP])


@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 1], [0, 1, 7], "abc", 5])
def test_invalid_permutations_are_refused(labels: Any) -> None:
    with pytest.raises(InputError, match=r"symmetries\[0\]"):
        given_symmetries(three(), [labels])


def test_symmetries_are_of_linear_problems() -> None:
    with pytest.raises(UnsupportedError, match="linear"):
        given_symmetries(Problem(Domain.range(3), LDP(1), MutualInformation()), [SWAP])


# --- what a symmetry is ---------------------------------------------------------------------------


@st.composite
def symmetric_problems(draw: st.DrawFn) -> tuple[Problem, list[list[int]]]:
    """Tables summed over a random group of permutations, which is a symmetry of the sum."""
    k = draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(seeds))
    given = [rng.permutation(k) for _ in range(draw(st.integers(1, 2)))]
    if draw(st.booleans()):  # a small group leaves more to be solved
        given = [np.arange(k)[::-1]]
    m = draw(st.sampled_from([1, 2, k]))
    E, D, mass = rng.integers(1, 9, (k, k)), rng.integers(0, 9, (k, m)), rng.integers(1, 5, k)
    free = rng.random((k, k)) < draw(st.sampled_from([0.0, 0.3]))
    group = group_of(Symmetry([Action(g, np.arange(1)) for g in given]))
    if len(group) > 24:
        given = given[:1]
        group = group_of(Symmetry([Action(g, np.arange(1)) for g in given]))
    members = [np.array(g) for g in sorted(group)]
    total = sum(E[np.ix_(g, g)] for g in members)
    kept = ~np.any([free[np.ix_(g, g)] for g in members], axis=0)
    prior = sum(mass[g] for g in members)
    losses = np.hstack([D[g] for g in members])  # every column with all its images
    text = [
        [f"{int(total[x, z])}/{8 * len(members)}" if kept[x, z] else "inf" for z in range(k)]
        for x in range(k)
    ]
    worst = draw(st.booleans())
    notions: list[Notion] = [ContextAwareLDP(text)]
    if draw(st.booleans()):
        notions.append(AsymmetricLift("1", "0.5"))
    problem = Problem(
        Domain.range(k),
        notions,
        Distortion(losses.tolist(), worst),
        prior=Prior.from_counts(prior.tolist()),
    )
    return problem, [np.asarray(g).tolist() for g in given]


# --- what is left to be solved --------------------------------------------------------------------


@examples(25)
@given(symmetric_problems())
def test_the_reduced_program_has_the_same_optimum(drawn: tuple[Problem, list[list[int]]]) -> None:
    problem, permutations = drawn
    raw = solve_linear(problem, symmetry=given_symmetries(problem, permutations))
    assert_optimal(problem, raw, lp_optimum(problem).value)


@pytest.mark.parametrize(
    "problem",
    [
        square(4, "0.7"),
        square(3, "0.4", prior=Prior.from_counts([1, 2, 1, 2, 4, 2, 1, 2, 1])),
        Problem(Domain.grid(3, 4), MetricPrivacy(1, "manhattan"), EuclideanDistance()),
        Problem(
            Domain.grid(3, 3), MetricPrivacy("0.5", "manhattan"), EuclideanDistance(worst_case=True)
        ),
        Problem(Domain.range(9), LDP(1), MeanAbsoluteError()),
        Problem(Domain.range(8), LDP("0.5"), HammingLoss(worst_case=True)),
        Problem(Domain.range(8), LIP("0.5"), MeanAbsoluteError(), prior=Prior.uniform(8)),
        Problem(Domain.range(6), [LIP("0.5"), LDP("0.7")], HammingLoss(), prior=Prior.uniform(6)),
        Problem(Domain.range(6), BlockLDP(1, [[0, 1, 2], [3, 4, 5]]), HammingLoss()),
        Problem(
            Domain.range(3),
            BoundedPriorLIP("0.3", priors=[[0.2, 0.2, 0.6], [0.5, 0.3, 0.2], [0.3, 0.5, 0.2]]),
            HammingLoss(),
            prior=Prior.uniform(3),
        ),
    ],
    ids=repr,
)
def test_examples_have_the_optimum_of_the_whole(problem: Problem) -> None:
    found = symmetries(problem)
    assert found is not None
    raw = solve_linear(problem, symmetry=found)
    optimum = proved_bound(problem, solve_linear(problem))
    assert_optimal(problem, raw, optimum)
    assert raw.notes == [f"Presolve: {found.note}"]
    if getattr(problem.utility, "worst_case", False):
        with pytest.raises(UnsupportedError, match="worst case"):
            solve_reduced(problem, Limits(), by_interior, [found.reduce])
        return
    inside = solve_reduced(problem, Limits(), by_interior, [found.reduce])
    assert_optimal(problem, inside, optimum)
    assert inside.route.endswith("by symmetry")


def test_sets_of_many_priors_are_reduced_too() -> None:
    ball = BoundedPriorLIP("0.5", center=[0.25] * 4, radius="0.1")
    problem = Problem(Domain.range(4), ball, HammingLoss(), prior=Prior.uniform(4))
    found = symmetries(problem)
    assert found is not None
    optimum = proved_bound(problem, solve_linear(problem))
    assert_optimal(problem, solve_linear(problem, symmetry=found), optimum)
    with pytest.raises(UnsupportedError, match="list of priors"):
        solve_reduced(problem, Limits(), by_interior, [found.reduce])


def test_every_permutation_is_judged_by_its_definition() -> None:
    """On small problems: taken exactly where prior, bounds and losses stay, refused elsewhere."""
    rng = np.random.default_rng(3)
    taken = 0
    for _ in range(150):
        k = 3
        E, D = (rng.random((k, k)) < 0.2) + 1, rng.integers(0, 2, (k, 2))
        prior = (rng.random(k) < 0.2) + 1
        problem = Problem(
            Domain.range(k),
            ContextAwareLDP(E.tolist()),
            Distortion(D.tolist()),
            prior=Prior.from_counts(prior.tolist()),
        )
        for g in itertools.permutations(range(k)):
            off = ~np.eye(k, dtype=bool)
            stays = (E[np.ix_(g, g)] == E)[off].all() and (prior[list(g)] == prior).all()
            columns = sorted(map(tuple, D.T.tolist()))
            stays = stays and sorted(map(tuple, D[np.argsort(g)].T.tolist())) == columns
            if stays:
                given_symmetries(problem, [g])
                taken += g != tuple(range(k))
            else:
                with pytest.raises(InputError, match="it changes"):
                    given_symmetries(problem, [g])
    assert taken > 20


Make = Callable[[], Problem]


@pytest.mark.parametrize(
    ("make", "left"),
    [
        (lambda: square(20, "0.1"), 55),
        (lambda: Problem(Domain.range(400), LDP(1), HammingLoss()), 1),
        (lambda: Problem(Domain.range(400), LDP(1), MeanAbsoluteError()), 200),
    ],
    ids=["grid", "exchangeable", "line"],
)
def test_large_problems(make: Make, left: int) -> None:
    found = symmetries(make())
    assert found is not None
    assert len(found.representatives) == left


# through design()

CYCLE = [[0, 1, 3, 2], [2, 0, 1, 3], [3, 2, 0, 1], [1, 3, 2, 0]]
"""Budgets that are the same around a ring, and nothing else: no two inputs can be swapped."""

RING = [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]


@pytest.mark.parametrize("route", ["auto", "interior", "linear-program"])
@pytest.mark.parametrize("worst_case", [False, True])
def test_symmetries_that_are_named_are_used_and_change_nothing(
    route: str, worst_case: bool
) -> None:
    utility = Distortion(RING, worst_case=worst_case)
    problem = Problem(["n", "e", "s", "w"], ContextAwareLDP(CYCLE), utility)
    named = design(problem, route=route, symmetries=[["e", "s", "w", "n"]])
    plain = design(problem, route="linear-program")
    assert "Presolve: symmetries leave 1 of 4 outputs and 1 of 4 row sums" in named.notes
    assert math.isclose(float(named.value), float(plain.value), rel_tol=1e-6)
    assert named.status == "optimal"
    verify(json.loads(json.dumps(named.document())))


def test_invalid_symmetries_are_refused() -> None:
    problem = Problem(["n", "e", "s", "w"], ContextAwareLDP(CYCLE), Distortion(RING))
    with pytest.raises(InputError, match=r"symmetries\[1\]"):
        design(problem, symmetries=[["e", "s", "w", "n"], ["e", "n", "s", "w"]])
    with pytest.raises(UnsupportedError, match="route"):
        design(problem, route="columns", symmetries=[["e", "s", "w", "n"]])
