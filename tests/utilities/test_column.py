"""Sums of gains over outputs: what they are worth, and that no private channel is worth more.

The optimum is found a second time by listing all extreme rays with Qhull (``solvers/polytope.py``),
from rows and gains typed from the definitions; the prices in a certificate are held against these
rays too. Neither uses the rows, the rays or the checker of the library.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import LDP, LIP, PML, Channel, InputError, Prior, Problem, Solution, design
from mechdesign.notions import Notion
from solvers import UnsuitableError
from solvers.base import FloatArray
from solvers.definitions import rows
from solvers.gains import error_left, gain
from solvers.polytope import extreme_rays
from solvers.vertices import best_mixture, extreme_rays as rays_by_choices, rays_of
from tests.documents import proved
from tests.refusals_support import check_refused
from tests.strategies import DIGITS, channels, decimal, examples, exp, priors

CLOSE = 1e-6
"""How far a value may be from that of all rays, relative to it."""

NOTHING = 1e-11
"""Values that rounding in floats leaves of 0, relative to the objective's scale."""


# --- random problems ------------------------------------------------------------------------------


def _context_aware(k: int, rng: np.random.Generator) -> Notion:
    def entry(x: int, z: int) -> Any:
        if x != z and rng.random() < 0.3:
            return "inf"
        return 0 if rng.random() < 0.03 else hundredths(rng, 5)

    return md.ContextAwareLDP([[entry(x, z) for z in range(k)] for x in range(k)])


def _block(k: int, rng: np.random.Generator) -> Notion:
    member = rng.integers(0, 3, k)
    blocks = [np.flatnonzero(member == b).tolist() for b in sorted(set(member.tolist()))]
    return md.BlockLDP(hundredths(rng), blocks)


def _bounded_prior(k: int, rng: np.random.Generator) -> Notion:
    members = [Prior.from_counts(rng.integers(1, 30, k).tolist()) for _ in range(2)]
    return md.BoundedPriorLIP(hundredths(rng, 30), priors=members)


NOTIONS: dict[str, Callable[[int, np.random.Generator], Notion]] = {
    "ldp": lambda _k, rng: LDP(hundredths(rng)),
    "lip": lambda _k, rng: LIP(hundredths(rng)),
    "pml": lambda _k, rng: PML(hundredths(rng)),
    "lift": lambda _k, rng: md.AsymmetricLift(hundredths(rng), hundredths(rng)),
    "context-aware": _context_aware,
    "high-low": lambda k, rng: md.HighLowLDP(
        hundredths(rng), rng.choice(k, int(rng.integers(1, k + 1)), replace=False).tolist()
    ),
    "block": _block,
    "metric": lambda _k, rng: md.MetricPrivacy(hundredths(rng, 10, 150), "absolute"),
    "bounded-prior": _bounded_prior,
    "lip, long prior": lambda _k, rng: LIP(hundredths(rng)),
    "pml, long prior": lambda _k, rng: PML(hundredths(rng)),
}

OBJECTIVES: dict[str, Callable[[int, np.random.Generator], md.ColumnUtility]] = {
    "histogram": lambda _k, _rng: md.PosteriorMeanSquaredError(histogram=True),
    "information": lambda _k, _rng: md.MutualInformation(),
    "accuracy": lambda _k, _rng: md.BayesAccuracy(),
    "share": lambda k, rng: md.PosteriorMeanSquaredError(
        [int(n <= k // 3) for n in rng.permutation(k)]
    ),
    "numbers": lambda k, rng: md.PosteriorMeanSquaredError(rng.integers(-5, 10, k).tolist()),
}


def hundredths(rng: np.random.Generator, least: int = 10, most: int = 300) -> Fraction:
    return Fraction(int(rng.integers(least, most + 1)), 100)


def drawn(notion: str, objective: str, k: int, seed: int) -> Problem:
    rng = np.random.default_rng([k, seed, list(NOTIONS).index(notion), *objective.encode()])
    counts = rng.integers(1, 30, k)
    if "long" in notion:
        counts = rng.integers(10**8, 10**9, k)
    if seed % 2 and k > 2:  # an input that never occurs, and two as likely as each other
        counts[rng.integers(k)] = 0
        counts[1], counts[2] = counts[[1, 2]].max(), counts[[1, 2]].max()
    prior = Prior.from_counts(counts.tolist())
    return Problem(range(k), NOTIONS[notion](k, rng), OBJECTIVES[objective](k, rng), prior=prior)


LIFTS = ("lip", "pml", "lift", "lip, long prior", "pml, long prior")
SPLIT = ("histogram", "information")

CASES = [
    (notion, objective, k, seed)
    for k in range(2, 8)
    for notion in NOTIONS
    for objective in OBJECTIVES
    for seed in {3: (0, 1), 4: (1,), 6: (1,)}.get(k, (0,))
    if (k < 6 or objective not in ("share", "numbers") or notion in ("ldp", "lip"))
    and ("long" not in notion or objective in SPLIT)
]
CASES += [(notion, objective, k, 0) for k in (9, 10) for notion in LIFTS for objective in SPLIT]


def test_every_search_of_the_checker_is_met() -> None:
    searches = {}
    for notion, k in (("ldp", 9), ("lip", 9), ("lip, long prior", 13)):
        certificate = design(drawn(notion, "information", k, 0)).certificate
        searches[notion] = certificate.linearization.kind, certificate.oracle.kind
    assert searches == {
        "ldp": ("gain", "rays"),
        "lip": ("gain", "knapsack"),
        "lip, long prior": ("boxes", "knapsack"),
    }


@pytest.mark.slow
@pytest.mark.parametrize(("notion", "objective", "k", "seed"), CASES)
def test_design_is_the_best_mixture_of_all_rays(
    notion: str, objective: str, k: int, seed: int
) -> None:
    problem = drawn(notion, objective, k, seed)
    rays = rays_of(problem)
    worth = gain(problem, rays)
    solution = design(problem)
    held = hold(solution, best_mixture(rays, worth)[0], error_left(problem))
    assert solution.status == "optimal" or abs(held) < NOTHING
    if not prices_in(solution):  # a linear program or decoders found it: rays must find it too
        solution = design(problem, route="extreme-rays")
        assert math.isclose(float(solution.value), held, rel_tol=2e-6, abs_tol=NOTHING * 100)
    hold_prices(solution, rays, worth, error_left(problem))


def hold(solution: Solution, most: float, whole: float | None) -> float:
    """Hold the value and the side of the bound against the most that all rays give."""
    true = most if whole is None else whole - most
    slack = NOTHING * (1 if whole is None else max(whole, 1e-300))
    assert math.isclose(float(solution.value), true, rel_tol=CLOSE, abs_tol=slack)
    worst_first = [float(solution.bound), true, float(solution.value)]
    if solution.problem.utility.is_maximized:
        worst_first.reverse()
    slack += 1e-9 * abs(true)
    assert worst_first[0] <= worst_first[1] + slack
    assert worst_first[1] <= worst_first[2] + slack
    sign = -1 if solution.problem.utility.is_maximized else 1
    assert sign * solution.bound <= sign * solution.value
    return float(solution.value)


def prices_in(solution: Solution) -> bool:
    """Whether prices of rays prove the bound: not rows, and not decoders."""
    found = solution.certificate
    return found.prices is not None and found.linearization.kind in ("costs", "gain", "boxes")


def hold_prices(
    solution: Solution, rays: FloatArray, worth: FloatArray, whole: float | None
) -> None:
    """What a certificate's prices prove on the oracle's own rays is the bound that is claimed.

    Sum_y g(q_y) <= Sum u + c with c the most of g(r) - u . r over rays of law 1. The bound may also
    be that of no privacy, where that is better.
    """
    certificate, problem = solution.certificate, solution.problem
    u = -np.array(list(map(float, certificate.prices)))  # of the loss, which is -g
    law = rays @ problem.prior.array
    occurs = law > 1e-12
    assert (rays @ u)[~occurs].min(initial=0) >= -1e-9
    surplus = float(((worth - rays @ u)[occurs] / law[occurs]).max())
    most = float(u.sum()) + surplus
    bound = float(solution.bound) if whole is None else whole - float(solution.bound)
    slack = 1e-9 * max(1.0, abs(most))
    # rays and sums are searched to the end, boxes until the bound is near enough
    searched = CLOSE * abs(most) if certificate.linearization.kind == "boxes" else 0.0
    assert bound <= most + searched + slack
    nothing_private = best_mixture(np.eye(len(u)), gain(problem, np.eye(len(u))))[0]
    if bound < nothing_private - slack:
        assert bound >= most - slack


# --- the oracle -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("notion", [name for name in NOTIONS if name != "metric"])
def test_qhull_finds_the_rays_that_all_choices_of_rows_give(notion: str) -> None:
    """But for metrics, where budgets that add up do not do so in floats, and rays come apart."""
    for k, seed in itertools.product((1, 2, 3, 4), range(2)):
        if (notion, k) == ("high-low", 1):
            continue
        G = rows(drawn(notion, "histogram", k, seed))
        if len(G) > 16:
            continue
        by_choices, by_qhull = rays_by_choices(G), extreme_rays(G.astype(float))
        assert by_choices.shape == by_qhull.shape
        for ray in by_choices:
            assert np.abs(by_qhull - ray).max(axis=1).min() < 1e-9


@pytest.mark.parametrize("k", [2, 3, 6])
def test_qhull_finds_as_many_rays_as_are_known(k: int) -> None:
    """2^k - 2 for LDP; 2^s - 1 + (k - s) for high-low with s < k; 2^(k-1) on a line."""

    def count(notion: Notion) -> int:
        return len(extreme_rays(rows(Problem(range(k), notion, md.BayesAccuracy())).astype(float)))

    assert count(LDP(1)) == 2**k - 2
    assert count(md.MetricPrivacy(1, "absolute")) == (2 ** (k - 1) if k > 2 else 2)
    for s in range(1, k):
        assert count(md.HighLowLDP(1, range(s))) == 2**s - 1 + (k - s)
    assert count(LDP(0)) == 1
    assert count(md.ContextAwareLDP([["inf"] * k] * k)) == k


@pytest.mark.parametrize("k", [3, 6])
def test_qhull_finds_the_corners_of_bounds_on_the_lift(k: int) -> None:
    """All lifts at an end but one, and their number, by trying which they are."""
    prior = Prior.from_counts(np.random.default_rng(k).integers(10, 30, k).tolist())
    problem = Problem(range(k), md.AsymmetricLift("1.1", "0.6"), md.BayesAccuracy(), prior=prior)
    P, low, high = prior.array, math.exp(-1.1), math.exp(0.6)
    corners = list(lift_corners(P.tolist(), low, high))
    found = extreme_rays(rows(problem).astype(float))
    assert len(found) == len(corners)
    for ray in found / (found @ P)[:, None]:
        assert np.abs(np.array(corners) - ray).max(axis=1).min() < 1e-9


def test_a_cone_too_thin_for_floats_is_left_alone() -> None:
    with pytest.raises(UnsuitableError, match="too large"):
        extreme_rays(rows(Problem(range(5), LDP(20), md.BayesAccuracy())).astype(float))
    with pytest.raises(UnsuitableError, match="too many"):
        extreme_rays(np.zeros((0, 20)))


def lift_corners(P: Sequence[Any], low: Any, high: Any) -> Iterator[list[Any]]:
    """Yield r with Sum P r = 1 and all entries at ``low`` or ``high`` but one in between."""
    one = type(low)(1)
    for j in range(len(P)):
        for ends in itertools.product((low, high), repeat=len(P) - 1):
            r = [*ends[:j], low, *ends[j:]]
            rest = sum(
                (p * v for x, (p, v) in enumerate(zip(P, r, strict=True)) if x != j), 0 * one
            )
            r[j] = (one - rest) / P[j]
            if low < r[j] < high:
                yield r


# --- bounds to fifty digits -----------------------------------------------------------------------


def columns_of_ldp(k: int, epsilon: Fraction) -> list[list[Decimal]]:
    """Entries 1 and e**epsilon, not all equal, and the constant column."""
    return [list(column) for column in itertools.product((Decimal(1), exp(epsilon)), repeat=k)]


def worth_in_digits(objective: str, P: list[Decimal], q: list[Decimal]) -> Any:
    joint = [p * v for p, v in zip(P, q, strict=True)]
    law = sum(joint)
    if objective == "accuracy":
        return max(joint)
    if objective == "histogram":
        return sum(j * j for j in joint) / law
    return sum(j * (v / law).ln() for j, v in zip(joint, q, strict=True) if j)


@pytest.mark.parametrize("objective", ["histogram", "information", "accuracy"])
@pytest.mark.parametrize(("notion", "k"), [("ldp", 4), ("lip", 5)])
def test_no_column_beats_the_prices_to_fifty_digits(k: int, notion: str, objective: str) -> None:
    """The bound in the file holds without any tolerance, and is no weaker than it must be."""
    problem = drawn(notion, objective, k, seed=0)
    document = design(problem, route="extreme-rays").document()
    epsilon = problem.privacy[0].epsilon
    P = [decimal(p) for p in problem.prior]
    if notion == "ldp":
        columns = columns_of_ldp(k, epsilon)
    else:
        columns = list(lift_corners(P, exp(-epsilon), exp(epsilon)))
    u = [-Decimal(price) for price in document["certificate"]["prices"]]
    with localcontext(DIGITS):

        def surplus(q: list[Decimal]) -> Decimal:
            paid, law = (sum(a * b for a, b in zip(side, q, strict=True)) for side in (u, P))
            return (worth_in_digits(objective, P, q) - paid) / law

        most, bound = sum(u) + max(map(surplus, columns)), Decimal(repr(document["bound"]))
        least = 1 - most if objective == "histogram" else most
        assert bound <= least if objective == "histogram" else bound >= least
        assert abs(bound - least) <= Decimal("1e-6") * bound


# --- values ---------------------------------------------------------------------------------------


@st.composite
def used_channels(draw: st.DrawFn) -> tuple[Channel, Prior]:
    k = draw(st.integers(1, 5))
    return draw(channels(k, most_outputs=6)), draw(priors(k))


UTILITIES: dict[str, md.ColumnUtility] = {
    "histogram": md.PosteriorMeanSquaredError(histogram=True),
    "numbers": md.PosteriorMeanSquaredError([3, -1, 2, 7]),
    "information": md.MutualInformation(),
    "accuracy": md.BayesAccuracy(),
}


@pytest.mark.parametrize("name", ["histogram", "information"])
def test_a_gain_that_splits_adds_up_over_inputs(name: str) -> None:
    utility, rng = UTILITIES[name], np.random.default_rng(1)
    for _ in range(50):
        P = rng.dirichlet(np.ones(4))
        r = rng.random(4) * (rng.random(4) < 0.8) + 1e-9
        r /= P @ r
        parts = utility.coordinate_gain(np.arange(4), r, P)
        assert math.isclose(parts.sum(), utility.gain(r[:, None], P)[0], rel_tol=1e-9)
    assert UTILITIES["accuracy"].coordinate_gain(np.arange(4), r, P) is None
    assert UTILITIES["numbers"].coordinate_gain(np.arange(4), r, P) is None


@examples(40)
@given(used_channels())
def test_the_decoder_attains_the_value(case: tuple[Channel, Prior]) -> None:
    channel, prior = case
    labels = channel.inputs.labels
    guesses = md.BayesAccuracy().decoder(channel, prior)
    beliefs = md.PosteriorMeanSquaredError(histogram=True).decoder(channel, prior)
    right, squares = Fraction(0), Fraction(0)
    for y, column in enumerate(channel.columns()):
        joint = [p * Fraction(q, channel.denominator) for p, q in zip(prior, column, strict=True)]
        right += joint[labels.index(guesses[y])]
        assert sum(beliefs[y]) == 1
        for x, j in enumerate(joint):
            squares += j * sum((b - (x == z)) ** 2 for z, b in enumerate(beliefs[y]))
        if not any(joint):  # a report that never comes tells nothing
            assert beliefs[y] == prior.probabilities
            assert guesses[y] == labels[list(prior).index(max(prior))]
    assert right == md.BayesAccuracy().value(channel, prior)
    assert squares == md.PosteriorMeanSquaredError(histogram=True).value(channel, prior)
    assert md.MutualInformation().decoder(channel, prior) is None


# --- edges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("notion", ["ldp", "lip"])
def test_one_input_has_no_information(notion: str, objective: str) -> None:
    solution = proved(drawn(notion, objective, 1, seed=0))
    assert solution.value == solution.bound == (1 if objective == "accuracy" else 0)


@pytest.mark.parametrize("utility", UTILITIES.values(), ids=UTILITIES)
def test_without_limits_the_identity_is_optimal(utility: md.ColumnUtility) -> None:
    prior = Prior([0.5, 0.2, 0.2, 0.1])
    solution = proved(
        Problem(range(4), md.ContextAwareLDP([["inf"] * 4] * 4), utility, prior=prior)
    )
    identity = Channel.from_matrix(np.eye(4))
    assert math.isclose(solution.value, utility.value(identity, prior), rel_tol=1e-12)


def test_histogram_and_values_together_are_refused() -> None:
    check_refused("not both", md.PosteriorMeanSquaredError, [1, 0], histogram=True)
    check_refused("true or false", md.PosteriorMeanSquaredError, histogram=1)
    # words have a histogram, and no numbers
    Problem(["a", "b"], LDP(1), md.PosteriorMeanSquaredError(histogram=True))
    with pytest.raises(InputError, match="give a number for each"):
        Problem(["a", "b"], LDP(1), md.PosteriorMeanSquaredError())


def test_a_gain_needs_the_numbers_of_all_inputs() -> None:
    even, numbers, labels = np.array([0.5, 0.5]), [0, 1], ["b", "a"]
    of_numbers, of_labels = (md.PosteriorMeanSquaredError(v) for v in (None, {"a": 1, "b": 0}))
    for utility, inputs in ((of_numbers, numbers), (of_labels, labels)):
        with pytest.raises(md.UnsupportedError, match="as by on"):
            utility.gain(np.eye(2), even)
        assert utility.on(md.Domain(inputs)).gain(np.eye(2), even).tolist() == [0, 0.5]


def test_a_concave_objective_is_not_given_to_a_convex_solver() -> None:
    for name in ("histogram", "numbers", "information"):
        problem = Problem(range(4), LDP(1), UTILITIES[name])
        with pytest.raises(md.UnsupportedError, match="convex"):
            design(problem, route="cvxpy:CLARABEL")


def test_binary_histogram_error_is_twice_that_of_the_survey() -> None:
    """The two indicators of two inputs differ by their sign and a constant."""
    for notion in (LDP("0.7"), LIP("0.7"), PML("0.7"), md.ContextAwareLDP([[0, 1], ["inf", 0]])):
        survey, histogram = (
            design(Problem([0, 1], notion, utility, prior=[0.3, 0.7])).value
            for utility in (
                md.PosteriorMeanSquaredError(),
                md.PosteriorMeanSquaredError(histogram=True),
            )
        )
        assert math.isclose(histogram, 2 * survey, rel_tol=1e-12)
