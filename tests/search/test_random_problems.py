"""Random problems of every notion: proved, and equal to an independent linear program."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings, strategies as st

import mechdesign as md
from mechdesign.notions import NOTIONS, Notion
from mechdesign.notions.non_conic import WholeChannelNotion
from mechdesign.search import plan
from mechdesign.search.limits import Limits
from mechdesign.search.starts.remapping import remapped
from mechdesign.utilities import LinearUtility
from solvers import SOLVERS, UnsuitableError
from solvers.definitions import loss
from tests.strategies import KINDS, broken, budgets, cases

EXAMPLES = [12, pytest.param(400, marks=pytest.mark.long)]
"""Of each notion, and of each sum of gains."""

TOLERANCE = 1e-6
"""How far two solvers may differ, relative to the largest loss: both meet rows to about 1e-7."""

SMALL = 1e-4
"""From this share of the largest loss on, the status must be "optimal"."""


def random_problems(examples: int) -> settings:
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=examples, deadline=None, suppress_health_check=slow)


EXTREME = ("0", "1e-6", "0.001", "8", "12", "20", "40", "800")
counts = st.one_of(st.integers(0, 20), st.integers(1, 1000), st.sampled_from([0, 1, 10**4, 10**7]))


@st.composite
def utilities(draw: Any, domain: md.Domain) -> tuple[LinearUtility, list[Any] | None]:
    """Return a loss that the domain has, and outputs: the default ones or random ones."""
    kinds: list[type[LinearUtility]] = [md.HammingLoss, md.Distortion]
    kinds += [md.MeanSquaredDistance, md.EuclideanDistance]
    if domain.numbers is not None:
        kinds += [md.MeanAbsoluteError]
    kind = draw(st.sampled_from(kinds))
    worst_case = draw(st.booleans())
    if kind is md.Distortion:
        m = draw(st.integers(1, 6))
        row = st.lists(st.integers(0, 50), min_size=m, max_size=m)
        matrix = draw(st.lists(row, min_size=len(domain), max_size=len(domain)))
        return md.Distortion(matrix, worst_case), list(range(m))
    if draw(st.booleans()):
        return kind(worst_case), None
    one: st.SearchStrategy[Any] = st.sampled_from(domain.labels)
    if domain.grid_shape is not None:
        one |= st.tuples(st.integers(-1, 3), st.integers(-1, 3))
    else:
        one |= st.integers(-60, 60).map(lambda n: n / 4)
    return kind(worst_case), draw(st.lists(one, min_size=1, max_size=6, unique=True))


@st.composite
def linear(draw: Any, k: int) -> Notion:
    """Rows of one's own, each satisfied by a constant column: sum(left) <= e**a sum(right)."""
    side = st.dictionaries(st.integers(0, k - 1), st.integers(1, 5), min_size=1, max_size=k)
    rows = []
    for n in range(draw(st.integers(1, 2 * k))):
        left, right = draw(side), draw(side)
        least = max(0.0, float(np.log(sum(left.values()) / sum(right.values()))))
        room = draw(st.sampled_from(["0.001", "0.3", "1", "4"]))
        rows.append((f"row {n}", left, Fraction(least) + Fraction(room), right))
    return md.LinearNotion(rows)


ALL = [*(kind for kind in KINDS if kind != "grid"), "linear"]
INTERSECTION = "intersection"


@st.composite
def statements(draw: Any, names: list[str], k: int) -> tuple[md.Domain, list[Notion], md.Prior]:
    """Notions on one domain, with more inputs and budgets and priors of any size."""
    domain, notions, given = md.Domain.range(k), list[Notion](), list[md.Prior]()
    for name in names:
        if name == "linear":
            notions.append(draw(linear(k)))
            continue
        if name == "metric" and (len(names) > 1 or draw(st.booleans())):  # symmetric or not
            row = st.lists(st.integers(0, 8), min_size=k, max_size=k)
            matrix = draw(st.lists(row, min_size=k, max_size=k))
            notions.append(md.MetricPrivacy(draw(budgets()), matrix))
            continue
        case = draw(cases((name,), k))
        notion, domain = case.notion, case.domain
        if name == "differential-identifiability":  # its least budget is that of its prior
            given.append(case.prior)
        if case.at is not None and draw(st.booleans()):
            least = getattr(notion, "epsilon", 0) if given else 0
            notion = case.at(least + Fraction(draw(st.sampled_from(EXTREME))))
        notions.append(notion)
    drawn = draw(st.lists(counts, min_size=k, max_size=k).filter(any))
    return domain, notions, (given or [md.Prior.from_counts(drawn)])[0]


@st.composite
def random_problem(draw: Any, name: str) -> md.Problem:
    names = [name]
    if name == INTERSECTION:
        names = draw(st.lists(st.sampled_from(ALL), min_size=2, max_size=3, unique=True))
    elif name == "metric":
        names = [draw(st.sampled_from(["metric", "grid"]))]
    ordered = any(one.startswith("bounded-prior") for one in names)  # vertices by orders
    domain, notions, prior = draw(statements(names, draw(st.integers(1, 5 if ordered else 6))))
    utility, outputs = draw(utilities(domain))
    return md.Problem(domain, notions, utility, prior=prior, outputs=outputs)


def test_every_notion_about_columns_is_drawn() -> None:
    """Those about the whole channel are drawn in `test_whole_notions`."""
    assert set(ALL) == {
        n for n, kind in NOTIONS.items() if not issubclass(kind, WholeChannelNotion)
    }


@pytest.mark.slow
@pytest.mark.parametrize("examples", EXAMPLES)
@pytest.mark.parametrize("name", [*ALL, INTERSECTION])
def test_value_bound_and_privacy(name: str, examples: int) -> None:
    @random_problems(examples)
    @given(random_problem(name))
    def run(problem: md.Problem) -> None:
        hold_against_the_direct_lp(problem)

    run()


def hold_against_the_direct_lp(problem: md.Problem) -> md.Solution:
    solution = md.design(problem)
    scale = float(loss(problem).max())
    slack = TOLERANCE * max(scale, 1e-300)

    # what is claimed is proved, and true
    channel = solution.channel
    whole = 1 << channel.bits
    assert all(sum(row) == whole and min(row) >= 0 for row in channel.numerators.tolist())
    for n, (notion, claim) in enumerate(zip(problem.privacy, solution.privacy, strict=True)):
        assert broken(problem, channel, n) is None
        assert notion.holds(channel, problem.prior)
        assert claim.leakage <= float_above(getattr(notion, "epsilon", None) or Fraction(0))
    assert set(channel.outputs) <= set(problem.outputs or ())
    assert problem.utility.value(channel, problem.prior, problem.outputs) == solution.value
    assert solution.bound <= solution.value
    assert solution.value - solution.bound <= slack
    if solution.value > SMALL * scale:  # below, the solver's own tolerance is a large share of it
        assert solution.status == "optimal", solution

    # and the value is that of a linear program written from the definitions
    reference = SOLVERS["direct-lp"](problem).value
    assert abs(float(solution.value) - reference) <= slack, (solution, reference)
    return solution


def estimates(k: int) -> st.SearchStrategy[md.ColumnUtility]:
    values = st.lists(st.integers(-9, 9), min_size=k, max_size=k)
    return values.map(md.PosteriorMeanSquaredError)


GAINS: dict[str, Callable[[int], st.SearchStrategy[md.ColumnUtility]]] = {
    "estimate": estimates,
    "histogram": lambda _k: st.just(md.PosteriorMeanSquaredError(histogram=True)),
    "information": lambda _k: st.just(md.MutualInformation()),
    "accuracy": lambda _k: st.just(md.BayesAccuracy()),
}
"""How to draw a sum of gains for so many inputs."""


@pytest.mark.slow
@pytest.mark.parametrize("examples", EXAMPLES)
@pytest.mark.parametrize("objective", GAINS)
def test_a_sum_of_gains_is_that_of_all_rays(objective: str, examples: int) -> None:
    """A concave problem: the answer is that of brute force."""

    @random_problems(examples)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        names = data.draw(st.lists(st.sampled_from(ALL), min_size=1, max_size=2, unique=True))
        many = any(name.startswith("bounded-prior") for name in names)  # rows at many priors
        k = data.draw(st.integers(1, 3 if many else 4))
        domain, notions, prior = data.draw(statements(names, k))
        problem = md.Problem(domain, notions, data.draw(GAINS[objective](k)), prior=prior)
        hold_against_all_rays(problem)

    run()


def hold_against_all_rays(problem: md.Problem) -> md.Solution:
    solution, prior = md.design(problem), problem.prior
    slack = TOLERANCE
    if isinstance(problem.utility, md.PosteriorMeanSquaredError) and not problem.utility.histogram:
        slack *= float(max(problem.utility.given or (), key=abs)) ** 2
    least, most = solution.bound, solution.value
    if problem.utility.is_maximized:
        least, most = most, least
    assert least <= most <= least + Fraction(slack)
    for n, notion in enumerate(problem.privacy):
        assert broken(problem, solution.channel, n) is None
        assert notion.holds(solution.channel, prior)
    assert problem.utility.value(solution.channel, prior) == solution.value
    try:
        reference = SOLVERS["vertices"](problem).value
    except UnsuitableError:
        event("no rays to try")
        return solution
    assert abs(float(solution.value) - reference) <= slack
    return solution


def estimate(*values: int) -> md.PosteriorMeanSquaredError:
    return md.PosteriorMeanSquaredError(values)


HAMMING, WORST_HAMMING = md.HammingLoss(), md.HammingLoss(worst_case=True)
BLOCKS = md.BlockLDP("10.44", [[1, 2, 9], [0, 6], [4, 7], [3, 5, 8]])
TIED = [md.BlockLDP(12, blocks=[[0, 1], [3], [2]]), md.LIP(12)]
DISTANCES = [[1, 4, 2, 0], [7, 4, 7, 0], [7, 1, 1, 8], [6, 6, 3, 2]]
ONCE_WRONG: dict[str, tuple[Any, Any, Any, list[int]]] = {
    "huge epsilon": ([0, 1], md.LIP(800), HAMMING, [4, 6]),
    "nothing binds": ([0, 1], md.PML(1), HAMMING, [55, 45]),
    "an input that never occurs": (
        range(7),
        md.PML("4.588"),
        estimate(54, 301, 756, 158, 198, 703, 185),
        [0, 19, 61, 79, 25, 4, 23],
    ),
    "an input that almost always occurs": (
        range(10),
        BLOCKS,
        estimate(998, 315, 395, 829, 831, 696, 973, 676, 900, 620),
        [17, 52, 85, 88, 36, 28, 100_000_000, 26, 88, 76],
    ),
    "nothing binds, epsilon 40": (range(3), md.LDP(40), HAMMING, [1, 2, 3]),
    "thin cone": (
        ["a", "b", "c", "d"],
        md.AsymmetricLift("1e-6", "0.001"),
        WORST_HAMMING,
        [623, 10000422, 10000422, 221],
    ),
    "small value": (
        range(6),
        md.MetricPrivacy(12, "absolute"),
        md.MeanAbsoluteError(worst_case=True),
        [290, 11, 11, 0, 406, 290],
    ),
    "epsilon 0, worst case": (
        [-0.1, 4.5, 0.4, -0.4],
        md.LIP(0),
        md.MeanSquaredDistance(worst_case=True),
        [1, 0, 553, 553],
    ),
    "epsilon 0, a likely input": (range(5), md.LIP(0), WORST_HAMMING, [2, 271, 17, 999, 10**7]),
    "constant f": (range(3), md.BlockLDP(0, [[0, 1], [2]]), estimate(0, 0, 0), [1, 1, 1]),
    "estimate, prior zeros": (range(4), md.LDP(800), estimate(6, 2, 1, 6), [6, 1, 0, 0]),
    "estimate, prior ratio of 1e7": (
        range(4),
        md.DifferentialIdentifiability("15.425"),
        estimate(0, -8, -8, -8),
        [2, 13, 10**7 + 1, 10**7 + 1],
    ),
    "estimate, small value": (range(4), TIED, estimate(7, 8, 7, -3), [268, 1, 75, 75]),
    "estimate, large duals": (
        range(4),
        [md.PML(20), md.HighLowLDP(20, [0])],
        estimate(-3, -9, -3, 9),
        [6, 5, 5, 6],
    ),
    "estimate, large duals again": (
        range(4),
        md.MetricPrivacy(5, DISTANCES),
        estimate(8, 5, -2, -4),
        [458, 1, 1, 11],
    ),
}
"""Inputs, notion, utility and counts of the prior of problems on which the library once failed."""

MORE_OUTPUTS = {"epsilon 0, a likely input": [1, 4, 2, 0, 0.25, -12.25, 6.5, -15.0]}

NEXT_TO_NOTHING = list(ONCE_WRONG)[:4]
"""An error next to nothing is optimal."""


@pytest.mark.parametrize("name", ONCE_WRONG)
def test_once_wrong(name: str) -> None:
    *stated, counts = ONCE_WRONG[name]
    prior = md.Prior.from_counts(counts)
    problem = md.Problem(*stated, prior=prior, outputs=MORE_OUTPUTS.get(name))
    gains = isinstance(problem.utility, md.ColumnUtility)
    solution = (hold_against_all_rays if gains else hold_against_the_direct_lp)(problem)
    if name in NEXT_TO_NOTHING:
        assert solution.status == "optimal"


def float_above(epsilon: Fraction) -> float:
    """Return the least float whose decimal text is at or above a rational."""
    nearest = float(epsilon)
    return nearest if Fraction(repr(nearest)) >= epsilon else math.nextafter(nearest, math.inf)


@pytest.mark.parametrize("name", ["high-low", "block", "context-aware"])
def test_structural_zeros_stay_zero(name: str) -> None:
    """The repair makes nothing positive but what the pairs that are compared force to be."""

    @random_problems(12)
    @given(random_problem(name))
    def run(problem: md.Problem) -> None:
        solution = md.design(problem, route="linear-program:simplex")
        route, _ = next(plan(problem, "linear-program:simplex", Limits(), []))
        raw = route.solve(problem, Limits())
        compared = np.zeros((len(problem.domain),) * 2, dtype=bool)
        for row in problem.cone.rows():  # q_x <= ... q_x'
            (x,), (other,) = row.left, row.right
            compared[x, other] = True
        matrix, labels = remapped(problem, raw.matrix, raw.outputs)
        left = [label not in solution.channel.outputs for label in labels]
        rare = (matrix[:, left] > 1e-11).any(axis=1)  # outputs of next to no mass: sent as others
        for y, label in enumerate(solution.channel.outputs):
            forced = (matrix[:, labels.index(label)] > 1e-11) | rare
            for _ in range(len(problem.domain)):
                forced = forced | compared[forced].any(axis=0)
            assert not solution.channel.numerators[~forced, y].any()

    run()
