"""Symmetries are found and refused exactly, and what they leave has the optimum of the whole."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.kernel import verify
from mechdesign.notions import Notion
from mechdesign.search.interior.solve import by_interior
from mechdesign.search.limits import Limits
from mechdesign.search.lp.linear_program import solve_linear
from mechdesign.search.presolve.chain import solve_reduced
from mechdesign.search.presolve.symmetry import Action, Symmetry, given_symmetries, symmetries
from tests.refusals_support import check_refused
from tests.search_support import assert_optimal, proved_bound
from tests.strategies import examples, lp_optimum

seeds = st.integers(0, 2**32)


def square(n: int, epsilon: Any = 1, **keys: Any) -> md.Problem:
    return md.Problem(
        md.Domain.grid(n, n), md.MetricPrivacy(epsilon, "euclidean"), md.EuclideanDistance(), **keys
    )


def streets(rows: int, columns: int, epsilon: Any = 1, *, worst_case: bool = False) -> md.Problem:
    loss = md.EuclideanDistance(worst_case=worst_case)
    return md.Problem(md.Domain.grid(rows, columns), md.MetricPrivacy(epsilon, "manhattan"), loss)


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

SWAP = [1, 0, 2]
METRIC, MAE, HAMMING = md.MetricPrivacy(1, "absolute"), md.MeanAbsoluteError(), md.HammingLoss()
PAIRS, TWO = [0.2, 0.3, 0.2, 0.3], [[0, 5], [0, 5], [5, 0]]
STEPS = np.abs(np.subtract.outer(range(6), range(6)))
ROUND = np.minimum(STEPS, 6 - STEPS).tolist()

FOUND: dict[str, tuple[md.Problem, int | None, int, int]] = {
    "7x7": (square(7), 8, 10, 10),
    "4x4": (square(4), 8, 3, 3),
    "3x5": (streets(3, 5), 4, 6, 6),
    "20x20": (square(20, "0.1"), None, 55, 55),
    "line": (md.Problem(range(7), METRIC, MAE), 2, 4, 4),
    "shuffled": (md.Problem([5, 0, 3, 2], md.LDP(1), MAE), 2, 2, 2),
    "long line": (md.Problem(range(400), md.LDP(1), MAE), None, 200, 200),
    "all": (md.Problem(range(5), md.LDP(1), HAMMING), 120, 1, 1),
    "many": (md.Problem(range(400), md.LDP(1), HAMMING), None, 1, 1),
    "high-low": (md.Problem(range(5), md.HighLowLDP(1, [0, 2]), HAMMING), 12, 2, 2),
    "lip": (md.Problem(range(4), md.LIP(1), HAMMING, prior=PAIRS), 4, 2, 2),
    "two outputs": (
        md.Problem(range(3), md.LDP(1), md.Distortion(TWO)),
        2,
        2,
        2,
    ),
    "a circle": (
        md.Problem([*"abcdef"], md.MetricPrivacy("0.5", ROUND), md.Distortion(ROUND)),
        12,
        1,
        1,
    ),
}
"""Problems, the size of their group where it is counted, and the outputs and row sums left."""


@pytest.mark.parametrize("name", FOUND)
def test_symmetries_are_found(name: str) -> None:
    problem, size, outputs, potentials = FOUND[name]
    found = symmetries(problem)
    assert found is not None
    assert size in (None, len(group_of(found)) if size else None)
    assert len(found.representatives) == outputs
    assert len(found.orbit_size) == potentials
    assert found.note == (
        f"symmetries leave {outputs} of {len(problem.outputs or ())} outputs "
        f"and {potentials} of {len(problem.domain)} row sums"
    )


@pytest.mark.parametrize(
    "problem",
    [
        square(3, prior=md.Prior.from_counts([1, 2, 3, 4, 5, 6, 7, 8, 9])),
        md.Problem([0, 1, 3], md.LDP(1), MAE),
        md.Problem([0, 1, 3, 7], METRIC, HAMMING),
        md.Problem(range(3), md.LDP(1), md.MutualInformation()),
    ],
    ids=["prior", "loss", "metric", "not linear"],
)
def test_none_are_found_where_there_are_none(problem: md.Problem) -> None:
    assert symmetries(problem) is None


# --- what is refused ------------------------------------------------------------------------------

ROWS = [[0, 1, 2], [1, 0, 2], [3, 3, 0]]
UNEVEN = [0.3, 0.2, 0.5]


def three(notion: Any = None, utility: Any = None, prior: list[Any] | None = None) -> md.Problem:
    """Three inputs of which the first two can be swapped, but for what is given."""
    notion, utility = notion or md.ContextAwareLDP(ROWS), utility or md.Distortion(ROWS)
    return md.Problem(range(3), notion, utility, prior=prior or [0.25, 0.25, 0.5])


TINY = Fraction(1, 10**15)
WORST = md.Distortion(ROWS, worst_case=True)
BOX = {"upper": [0.9, 0.9, 0.9]}
SETS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"priors": [[0.3, 0.2, 0.5], [0.2, 0.3, 0.5]]}, {"priors": [UNEVEN]}),
    ({"lower": [0, 0, 0.1], **BOX}, {"lower": [0, 0.1, 0.1], **BOX}),
    ({"center": [0.2, 0.2, 0.6], "radius": 0.1}, {"center": UNEVEN, "radius": 0.1}),
]

TAKEN = [three(), three(utility=WORST, prior=UNEVEN)]
TAKEN += [three(md.BoundedPriorLIP(1, **same)) for same, _ in SETS]


@pytest.mark.parametrize("problem", TAKEN, ids=repr)
def test_a_symmetry_given_is_taken(problem: md.Problem) -> None:
    """The prior of a worst case matters only to notions."""
    found = given_symmetries(problem, [SWAP])
    assert found.multiplicity.tolist() == [2, 1]
    assert found.output_orbit.tolist() == found.input_orbit.tolist() == [0, 0, 1]
    assert symmetries(problem) is not None


CHANGED: dict[str, tuple[md.Problem, str]] = {
    "prior by 1e-15": (
        three(prior=[Fraction(1, 4) + TINY, Fraction(1, 4) - TINY, "0.5"]),
        "changes the prior",
    ),
    "prior": (three(prior=["0.3", "0.2", "0.5"]), r"prior: 0 has 0\.3, 1, where it goes, 0\.2"),
    "one entry by 1e-15": (
        three(md.ContextAwareLDP([[0, 1, 2], [1, 0, Fraction(2) + TINY], [3, 3, 0]])),
        r"changes context-aware: the bound on \(0, 2\) is not that on \(1, 2\)",
    ),
    "free": (
        three(md.ContextAwareLDP([[0, 1, 2], [1, 0, 2], [3, "inf", 0]])),
        r"the bound on \(2, 0\) is not that on \(2, 1\)",
    ),
    "asymmetric": (
        three(md.ContextAwareLDP([[0, 1, 2], [2, 0, 2], [3, 3, 0]])),
        r"\(0, 1\) .* \(1, 0\)",
    ),
    "loss": (
        three(utility=md.Distortion([[0, 1, 2], [1, 0, 2], [3, Fraction(3) + TINY, 0]])),
        "changes the loss: that of output 0, moved, is of no output",
    ),
    "losses": (three(utility=md.Distortion([[0, 0], [1, 1], [5, 0]])), "changes the loss"),
    "lifts": (three(md.LIP(1), WORST, UNEVEN), "changes the priors of lip"),
    "identifiability": (
        three(md.DifferentialIdentifiability(2), WORST, UNEVEN),
        "changes differential-identifiability",
    ),
    **{
        " ".join(other): (three(md.BoundedPriorLIP(1, **other)), "the priors of bounded-prior-lip")
        for _, other in SETS
    },
}


@pytest.mark.parametrize("name", CHANGED)
def test_one_thing_that_changes_is_enough_to_refuse(name: str) -> None:
    problem, message = CHANGED[name]
    caught = check_refused(message, given_symmetries, problem, [[0, 1, 2], SWAP])
    assert caught.key == "symmetries[1]"
    assert symmetries(problem) is None


@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 1], [0, 1, 7], "abc", 5])
def test_invalid_permutations_are_refused(labels: Any) -> None:
    check_refused(r"symmetries\[0\]", lambda: given_symmetries(three(), [labels]))


def test_symmetries_are_of_linear_problems() -> None:
    with pytest.raises(md.UnsupportedError, match="linear"):
        given_symmetries(md.Problem(range(3), md.LDP(1), md.MutualInformation()), [SWAP])


# --- what a symmetry is ---------------------------------------------------------------------------


@st.composite
def symmetric_problems(draw: st.DrawFn) -> tuple[md.Problem, list[list[int]]]:
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
    notions: list[Notion] = [md.ContextAwareLDP(text)]
    if draw(st.booleans()):
        notions.append(md.AsymmetricLift("1", "0.5"))
    problem = md.Problem(
        range(k),
        notions,
        md.Distortion(losses.tolist(), worst),
        prior=md.Prior.from_counts(prior.tolist()),
    )
    return problem, [np.asarray(g).tolist() for g in given]


# --- what is left to be solved --------------------------------------------------------------------


@examples(25)
@given(symmetric_problems())
def test_the_reduced_program_has_the_same_optimum(
    drawn: tuple[md.Problem, list[list[int]]],
) -> None:
    problem, permutations = drawn
    raw = solve_linear(problem, symmetry=given_symmetries(problem, permutations))
    assert_optimal(problem, raw, lp_optimum(problem).value)


def even(k: int, notion: Any, utility: Any) -> md.Problem:
    return md.Problem(range(k), notion, utility, prior=md.Prior.uniform(k))


HALF, LIST = md.LIP("0.5"), [[0.2, 0.2, 0.6], [0.5, 0.3, 0.2], [0.3, 0.5, 0.2]]
EXAMPLES: list[tuple[md.Problem, str]] = [
    (square(4, "0.7"), ""),
    (square(3, "0.4", prior=md.Prior.from_counts([1, 2, 1, 2, 4, 2, 1, 2, 1])), ""),
    (streets(3, 4), ""),
    (streets(3, 3, "0.5", worst_case=True), "worst case"),
    (even(9, md.LDP(1), MAE), ""),
    (even(8, md.LDP("0.5"), md.HammingLoss(worst_case=True)), "worst case"),
    (even(8, HALF, MAE), ""),
    (even(6, [HALF, md.LDP("0.7")], HAMMING), ""),
    (even(6, md.BlockLDP(1, [[0, 1, 2], [3, 4, 5]]), HAMMING), ""),
    (even(3, md.BoundedPriorLIP("0.3", priors=LIST), HAMMING), ""),
    (
        even(4, md.BoundedPriorLIP("0.5", center=[0.25] * 4, radius="0.1"), HAMMING),
        "list of priors",
    ),
]
"""Each with what the interior-point method refuses about it."""


@pytest.mark.parametrize(("problem", "refused"), EXAMPLES, ids=repr)
def test_examples_have_the_optimum_of_the_whole(problem: md.Problem, refused: str) -> None:
    found = symmetries(problem)
    assert found is not None
    raw = solve_linear(problem, symmetry=found)
    optimum = proved_bound(problem, solve_linear(problem))
    assert_optimal(problem, raw, optimum)
    assert raw.notes == [f"Presolve: {found.note}"]
    if refused:
        with pytest.raises(md.UnsupportedError, match=refused):
            solve_reduced(problem, Limits(), by_interior, [found.reduce])
        return
    inside = solve_reduced(problem, Limits(), by_interior, [found.reduce])
    assert_optimal(problem, inside, optimum)
    assert inside.route.endswith("by symmetry")


def test_every_permutation_is_judged_by_its_definition() -> None:
    """On small problems: taken exactly where prior, bounds and losses stay, refused elsewhere."""
    rng = np.random.default_rng(3)
    taken = 0
    for _ in range(150):
        k = 3
        E, D = (rng.random((k, k)) < 0.2) + 1, rng.integers(0, 2, (k, 2))
        prior = (rng.random(k) < 0.2) + 1
        problem = md.Problem(
            range(k),
            md.ContextAwareLDP(E.tolist()),
            md.Distortion(D.tolist()),
            prior=md.Prior.from_counts(prior.tolist()),
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
                check_refused("it changes", given_symmetries, problem, [g])
    assert taken > 20


# through design()

CYCLE = [[0, 1, 3, 2], [2, 0, 1, 3], [3, 2, 0, 1], [1, 3, 2, 0]]
"""Budgets that are the same around a ring, and nothing else: no two inputs can be swapped."""

RING = [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]


@pytest.mark.parametrize("route", ["auto", "interior", "linear-program"])
@pytest.mark.parametrize("worst_case", [False, True])
def test_symmetries_that_are_named_are_used_and_change_nothing(
    route: str, worst_case: bool
) -> None:
    utility = md.Distortion(RING, worst_case=worst_case)
    problem = md.Problem(["n", "e", "s", "w"], md.ContextAwareLDP(CYCLE), utility)
    named = md.design(problem, route=route, symmetries=[["e", "s", "w", "n"]])
    plain = md.design(problem, route="linear-program")
    assert "Presolve: symmetries leave 1 of 4 outputs and 1 of 4 row sums" in named.notes
    assert math.isclose(float(named.value), float(plain.value), rel_tol=1e-6)
    assert named.status == "optimal"
    verify(json.loads(json.dumps(named.document())))


def test_invalid_symmetries_are_refused() -> None:
    problem = md.Problem(["n", "e", "s", "w"], md.ContextAwareLDP(CYCLE), md.Distortion(RING))
    with pytest.raises(md.InputError, match=r"symmetries\[1\]"):
        md.design(problem, symmetries=[["e", "s", "w", "n"], ["e", "n", "s", "w"]])
    with pytest.raises(md.UnsupportedError, match="route"):
        md.design(problem, route="columns", symmetries=[["e", "s", "w", "n"]])
