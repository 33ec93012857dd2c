"""Universal channels: there is one exactly where the extreme rays are as few as the dimensions.

The rays are found by brute force in rationals, from the definitions of the notions: with budgets in
tenths, and rho in place of e**(1/10), budgets that add up are products that are equal, exactly.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import mechdesign as md
from mechdesign import LDP, LIP, PML, BlockLDP, Channel, HighLowLDP, Prior, Problem, design
from mechdesign.closed_forms import Universal
from mechdesign.closed_forms.universal import decide_cone
from mechdesign.evidence.simplicial import NamedRow, simplicial
from mechdesign.kernel.oracles import Rays, Simplicial
from mechdesign.kernel.schema import write
from mechdesign.notions import Notion, cone_of
from mechdesign.utilities import BayesAccuracy, Utility
from solvers.base import UnsuitableError
from solvers.vertices import extreme_rays
from tests.documents import as_read, proved, refused
from tests.refusals_support import check_refused
from tests.strategies import ORACLE, demands, epsilon_of, examples, optimum, priors, simplex

TENTH = Fraction(math.exp(0.1)).limit_denominator(2000)
"""Stands for e**(1/10)."""


def tenths(least: int = 0, most: int = 25) -> st.SearchStrategy[Fraction]:
    return st.integers(least, most).map(lambda n: Fraction(n, 10))


@st.composite
def notions(draw: st.DrawFn, k: int, prior: Prior) -> Notion:
    """A notion with budgets in tenths: many ties, zeros and infinities."""
    kind, epsilon = draw(st.integers(0, 9)), draw(tenths())
    if kind == 0:
        return LDP(epsilon)
    if kind == 1:
        return HighLowLDP(
            epsilon, draw(st.lists(st.integers(0, k - 1), min_size=1, max_size=2, unique=True))
        )
    if kind == 2:
        member = draw(st.lists(st.integers(0, 1), min_size=k, max_size=k))
        return BlockLDP(epsilon, [[x for x in range(k) if member[x] == b] for b in set(member)])
    if kind == 3:
        places = draw(st.lists(st.integers(0, 4), min_size=k, max_size=k))
        return md.MetricPrivacy(epsilon, [[abs(a - b) for b in places] for a in places])
    if kind == 4:
        entry = st.just("inf") | tenths(0, 6)
        row = st.lists(entry, min_size=k, max_size=k)
        return md.ContextAwareLDP(draw(st.lists(row, min_size=k, max_size=k)))
    if kind == 5 and prior.minimum > 0:
        need = math.ceil(10 * math.log(max(prior) / prior.minimum) + 0.01)
        return md.DifferentialIdentifiability(epsilon + Fraction(need, 10))
    if kind == 6:
        return LIP(epsilon)
    if kind == 7:
        return PML(epsilon)
    if kind == 8:
        side = st.just("inf") | tenths()
        return md.AsymmetricLift(draw(side), draw(side))
    return md.BoundedPriorLIP(epsilon, **draw(sets_of_priors(k)))


@st.composite
def sets_of_priors(draw: st.DrawFn, k: int) -> dict[str, Any]:
    if draw(st.booleans()):
        return {"priors": draw(st.lists(simplex(k), min_size=1, max_size=2))}
    return {"center": draw(simplex(k)), "radius": draw(st.sampled_from(["0", "0.1", "0.3"]))}


@st.composite
def problems(draw: st.DrawFn, k: int, count: int = 1) -> Problem:
    prior = draw(priors(k))
    asked = [draw(notions(k, prior)) for _ in range(count)]
    utility = md.PosteriorMeanSquaredError(values=list(range(k)))
    return Problem(range(k), asked, utility, prior=prior)


def exact_rows(problem: Problem) -> list[list[Fraction]]:
    """What the definitions ask of every column, g . q <= 0; equations where a budget is 0."""
    found = []
    for notion in problem.privacy:
        for d in demands(notion, problem.domain, problem.prior):
            budget = Fraction(d.budget(epsilon_of(notion))) * 10
            assert budget.denominator == 1
            low = TENTH ** -int(budget)
            row = [low * a - b for a, b in zip(d.left, d.right, strict=True)]
            found.append(row)
            # q_x <= q_z in every column, and both rows add up to 1
            found += [[-entry for entry in row]] if budget == 0 and d.left != d.right else []
    return found


def rays_of(problem: Problem) -> np.ndarray:
    k = len(problem.domain)
    return extreme_rays(np.array(exact_rows(problem), dtype=object).reshape(-1, k))


def independent(rays: np.ndarray) -> bool:
    return bool(np.linalg.matrix_rank(rays, tol=1e-7) == len(rays))


def hold_decision(problem: Problem) -> None:
    rays, found = rays_of(problem), decide_cone(problem.cone)
    assert found.simplicial is independent(rays), (found, rays)
    assert found.reason
    if not found.simplicial:
        assert found.matrix is None
        assert not found.facets
        return
    assert len(set(found.facets)) == len(problem.domain)
    U = found.matrix
    assert U.min() >= 0
    assert np.allclose(U.sum(axis=1), 1, atol=1e-13)
    assert np.all(problem.cone.matrix() @ U <= 1e-13)
    columns = U[:, U.max(axis=0) > 0]
    as_rays = {tuple(column) for column in (columns / columns.max(axis=0)).T.round(3)}
    assert len(as_rays) == columns.shape[1] <= len(rays)
    for column in columns.T / columns.max(axis=0)[:, None]:
        # rho is off by a millionth, and with it the brute force
        assert np.abs(rays - column).max(axis=1).min() < 1e-3


@pytest.mark.parametrize(
    ("k", "count"),
    [(2, 1), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((3, 1), (4, 1), (3, 2)))],
)
@examples(30)
@given(st.data())
def test_it_is_there_exactly_where_the_rays_are_independent(
    k: int, count: int, data: st.DataObject
) -> None:
    problem = data.draw(problems(k, count))
    try:
        hold_decision(problem)
    except UnsuitableError:  # too many choices of rows
        assume(False)
    assert k > 2 or decide_cone(problem.cone).simplicial


# --- what it is good for --------------------------------------------------------------------------


def as_private_as_can_be(problem: Problem, R: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The channel on the way from a constant one to R that is just private."""
    Q = np.tile(w, (len(R), 1))
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        trial = middle * R + (1 - middle) * Q
        low, high = (middle, high) if private(problem, trial) else (low, middle)
    return low * R + (1 - low) * Q


def private(problem: Problem, Q: np.ndarray) -> bool:
    """By the definitions, in floats."""
    for notion in problem.privacy:
        for d in demands(notion, problem.domain, problem.prior):
            grown = math.exp(float(d.budget(epsilon_of(notion))))
            left, right = np.array(d.left, dtype=float), np.array(d.right, dtype=float)
            if np.any(left @ Q > grown * (right @ Q)):
                return False
    return True


def stochastic(rng: np.random.Generator, k: int, m: int) -> np.ndarray:
    R = rng.random((k, m)) ** 4 * (rng.random((k, m)) < 0.7) + 1e-9
    return R / R.sum(axis=1, keepdims=True)


def hold_universal(problem: Problem, U: np.ndarray, seed: int) -> None:
    """Every private channel is U W with a channel W."""
    rng, k = np.random.default_rng(seed), len(problem.domain)
    assert np.linalg.matrix_rank(U) == U.shape[1]
    for _ in range(5):
        R = stochastic(rng, k, int(rng.integers(2, 6)))
        Q = as_private_as_can_be(problem, R, stochastic(rng, 1, R.shape[1])[0])
        W = np.linalg.lstsq(U, Q, rcond=None)[0]
        assert np.allclose(U @ W, Q, atol=1e-9)
        assert W.min() > -1e-9
        assert np.allclose(W.sum(axis=1), 1, atol=1e-9)


@pytest.mark.slow
@examples(50)
@given(problems(3, count=1), st.integers(0, 10**6))
def test_every_private_channel_is_it_followed_by_post_processing(
    problem: Problem, seed: int
) -> None:
    found = md.universal_channel(problem.domain, problem.privacy, prior=problem.prior)
    assume(found.simplicial)
    hold_universal(problem, found.channel.matrix, seed)


def tightest(problem: Problem, channel: Channel) -> float:
    """The largest excess of a log ratio over its budget, by the definitions."""
    columns = [[Fraction(v, channel.denominator) for v in q] for q in channel.columns()]
    return max(
        math.log(left / right) - float(d.budget(epsilon_of(notion)))
        for notion in problem.privacy
        for d in demands(notion, problem.domain, problem.prior)
        for left, right in map(d.values, columns)
        if left
    )


@examples(40)
@given(st.integers(2, 4).flatmap(lambda k: problems(k, count=1)))
def test_it_is_private_and_not_at_any_smaller_budget(problem: Problem) -> None:
    found = md.universal_channel(problem.domain, problem.privacy, prior=problem.prior)
    assume(found.simplicial)
    (notion,) = problem.privacy
    assert notion.holds(found.channel, problem.prior)
    free = all(name.startswith("positive") for name in found.facets)
    assume(not free)
    assert -1e-9 < tightest(problem, found.channel) <= 1e-14


# --- the closed form ------------------------------------------------------------------------------


@st.composite
def informed_utilities(draw: st.DrawFn, k: int) -> Utility:
    values = st.lists(st.integers(-5, 9), min_size=k, max_size=k)
    row = st.lists(st.integers(0, 9), min_size=3, max_size=3)
    return draw(
        st.one_of(
            st.just(md.MutualInformation()),
            st.just(BayesAccuracy()),
            st.just(md.PosteriorMeanSquaredError(histogram=True)),
            values.map(md.PosteriorMeanSquaredError),
            st.lists(row, min_size=k, max_size=k).map(md.Distortion),
        )
    )


def numeric_route(utility: Utility) -> str:
    return "linear-program" if isinstance(utility, md.Distortion) else "extreme-rays"


@pytest.mark.slow
@examples(40)
@given(problems(3), st.data())
def test_the_closed_form_is_the_numeric_optimum_and_there_where_it_should(
    bare: Problem, data: Any
) -> None:
    utility = data.draw(informed_utilities(3))
    problem = Problem(bare.domain, bare.privacy, utility, prior=bare.prior)
    form = Universal()
    holds = form.holds(problem)
    assert holds is independent(rays_of(problem))
    assume(holds)
    numeric = design(problem, route=numeric_route(utility))
    ours = design(problem)
    assert ours.route.startswith("closed-form")
    assert ours.status == "optimal"
    assert float(ours.value) == pytest.approx(float(numeric.value), abs=1e-7)
    found = form.optimum(problem).formula()
    channel = Channel.from_matrix(found.matrix, inputs=problem.domain, outputs=found.outputs)
    value = utility.value(channel, problem.prior, problem.outputs)
    assert float(value) == pytest.approx(float(ours.value), abs=1e-12)


PRIOR = ["0.2", "0.3", "0.5"]


def test_row_sums_tie_inputs_that_have_a_weaker_bound_the_other_way() -> None:
    """q_2 <= q_0 makes both equal, whatever q_0 <= e**0.1 q_2 allows."""
    budgets = [["inf", "0.2", "0.1"], ["inf"] * 3, ["0", "inf", "inf"]]
    problem = Problem(
        range(3), md.ContextAwareLDP(budgets), md.MutualInformation(), prior=[0, 0.5, 0.5]
    )
    found = proved(problem)
    assert found.route.startswith("closed-form")
    rays = design(problem, route="extreme-rays")
    assert float(found.value) == pytest.approx(float(rays.value), rel=1e-12)


CYCLE = md.ContextAwareLDP([["0", "1", "2.5"], ["2.5", "0", "1.5"], ["1", "2", "0"]])
"""Each entry is bounded from below by the one before, and all else adds up: 2.5 = 1 + 1.5, ..."""

OTHER = ["0.3", "0.3", "0.4"]

TRIANGLE = [["0.3" if z == x else "0.35" for z in range(3)] for x in range(3)]
"""Priors of which each bounds one lift: a triangle opposite to that of all priors."""

SIMPLICIAL: dict[str, Notion | list[Notion]] = {
    "one sensitive input": HighLowLDP(1, [1]),
    "a cycle, and what adds up to other rows": CYCLE,
    "a chain": md.ContextAwareLDP([["0", "1", "2"], ["inf", "0", "0.5"], ["inf", "inf", "0"]]),
    "a bound from below": md.AsymmetricLift(1, "inf"),
    "pointwise maximal leakage, a small budget": PML("0.22"),  # -ln 0.8 = 0.2231
    "local information privacy, a large budget": LIP("1.4"),  # ln(1 / 0.2 - 1) = 1.386
    "a block": BlockLDP(1, [[0, 2], [1]]),
    "tied inputs": md.MetricPrivacy(1, [[0, 0, 1], [0, 0, 1], [1, 1, 0]]),
    "a notion within another": [LDP(3), PML("0.2")],
    "another prior": md.BoundedPriorLIP("1.4", priors=[OTHER, OTHER]),
    "a ball of one prior, and what it implies": [
        md.BoundedPriorLIP("1.4", center=OTHER, radius=0),
        LIP(9),
    ],
    "another prior for each input, from below": md.BoundedPriorLIP("1.4", priors=TRIANGLE),
    "another prior for each input, from above": md.BoundedPriorPML("0.1", priors=TRIANGLE),
    "ties and lifts": [
        md.ContextAwareLDP([["0", "0", "inf"], ["inf", "0", "inf"], ["inf", "inf", "0"]]),
        LIP(1),
    ],
}


@pytest.mark.parametrize(
    "utility",
    [md.MutualInformation(), md.MeanSquaredDistance(), md.PosteriorMeanSquaredError([0, 1, 3])],
)
@pytest.mark.parametrize("name", SIMPLICIAL)
def test_the_theorem_alone_proves_it(name: str, utility: Utility) -> None:
    """Without dual variables, from the file alone."""
    problem = Problem(range(3), SIMPLICIAL[name], utility, prior=PRIOR)
    form = Universal()
    assert form.holds(problem)
    found = form.optimum(problem).formula()
    channel = Channel.from_matrix(found.matrix, inputs=problem.domain, outputs=found.outputs)
    value = utility.value(channel, problem.prior, problem.outputs)
    certificate = form.optimum(problem).certificate()
    statement = problem.compiled.statement
    assert abs(float(statement.sign * certificate.bound(statement) - value)) < 1e-13
    document = as_read(proved(problem))
    assert document["certificate"]["oracle"]["source"]["kind"] == "simplicial"


@pytest.mark.parametrize(
    ("notion", "k"),
    [
        (LDP(1), 3),
        (LDP("0.001"), 5),
        (HighLowLDP(1, [0, 1]), 3),
        (md.MetricPrivacy(1, "absolute"), 3),
        (md.MetricPrivacy("0.001", "absolute"), 4),
        (BlockLDP(1, [[0, 1, 2], [3]]), 4),
        (md.ContextAwareLDP([["0", "1", "2.4"], ["2.5", "0", "1.5"], ["1", "2", "0"]]), 3),
        ([LDP(1), PML("0.2")], 3),
        ([CYCLE, LIP(1)], 3),
        (md.BoundedPriorLIP("1", center=PRIOR, radius="0.05"), 3),
    ],
)
def test_where_there_is_none(notion: Any, k: int) -> None:
    prior = PRIOR if k == 3 else None
    found = md.universal_channel(range(k), notion, prior=prior)
    assert found.simplicial is False
    assert found.channel is None
    assert "there is none" in repr(found)
    problem = Problem(range(k), notion, md.MutualInformation(), prior=prior)
    assert not Universal().holds(problem)


@examples(24)
@given(st.integers(3, 6).flatmap(lambda k: priors(k, 1)), st.integers(1, 60))
def test_pointwise_maximal_leakage_below_and_above_its_border(prior: Prior, n: int) -> None:
    """All upper bounds are met, and no entry is 0, exactly where e**eps (1 - P_min) <= 1."""
    epsilon = Fraction(n, 20)
    small = math.exp(epsilon) * (1 - float(prior.minimum)) <= 1
    nothing = math.exp(epsilon) * float(prior.minimum) >= 1
    k = len(prior)
    found = md.universal_channel(range(k), PML(epsilon), prior=prior)
    assert found.simplicial is (small or nothing)
    if not small:
        return
    u, P = math.exp(epsilon), prior.array
    assert np.allclose(found.channel.matrix, u * P - (u - 1) * np.eye(k), atol=1e-12)


@examples(24)
@given(st.integers(3, 6).flatmap(lambda k: priors(k, 1)), st.integers(1, 60))
def test_local_information_privacy_below_and_above_its_border(prior: Prior, n: int) -> None:
    """theory 2.5: P_min >= 1/(e**eps + 1)"""
    epsilon = Fraction(n, 20)
    found = md.universal_channel(range(len(prior)), LIP(epsilon), prior=prior)
    assert found.simplicial is (float(prior.minimum) * (math.exp(epsilon) + 1) >= 1)
    only_below = md.universal_channel(
        range(len(prior)), md.AsymmetricLift(epsilon, "inf"), prior=prior
    )
    e, P = math.exp(-epsilon), prior.array
    formula = (1 - e) * np.eye(len(P)) + e * P
    assert np.allclose(only_below.channel.matrix, formula, atol=1e-12)
    if found.channel is not None:
        assert np.allclose(found.channel.matrix, formula, atol=1e-12)


def test_a_ring_of_many_inputs_and_the_same_cut_open() -> None:
    """One budget in one direction: all other pairs are sums of steps, exactly."""
    k = 40
    around = [[Fraction((z - x) % k, 3) for z in range(k)] for x in range(k)]
    ring = md.universal_channel(range(k), md.ContextAwareLDP(around))
    assert ring.simplicial
    t = math.exp(-1 / 3)
    steps = np.array([[(x - i) % k for i in range(k)] for x in range(k)])
    formula = (1 - t) * t**steps / (1 - t**k)
    assert np.allclose(ring.channel.matrix, formula, atol=1e-13)
    around[7][30] -= Fraction(1, 10**30)
    assert md.universal_channel(range(k), md.ContextAwareLDP(around)).simplicial is False


@st.composite
def budgets_along_ways(draw: st.DrawFn) -> tuple[list[list[Any]], list[Any]]:
    """Budgets that one row into each input implies, and the pairs that are sums of several rows."""
    k = draw(st.integers(3, 9))
    source = [draw(st.sampled_from([None, *range(k)])) for _ in range(k)]
    length = [Fraction(draw(st.integers(1, 9)), 10) for _ in range(k)]
    budget: list[list[Any]] = [["inf"] * k for _ in range(k)]
    implied = []
    for z in range(k):
        total, at, steps, met = Fraction(0), z, 0, {z}
        while (before := source[at]) is not None and before not in met and before != at:
            total, at, steps = total + length[at], before, steps + 1
            met.add(at)
            budget[at][z] = (
                total if steps == 1 else draw(st.sampled_from([total, total + 1, "inf"]))
            )
            if steps > 1:
                implied.append((at, z, total))
    return budget, implied


@examples(30)
@given(budgets_along_ways(), st.data())
def test_one_row_into_each_input_and_one_more(
    pair: tuple[list[list[Any]], list[Any]], data: Any
) -> None:
    budget, implied = pair
    k = len(budget)
    found = md.universal_channel(range(k), md.ContextAwareLDP(budget))
    assert found.simplicial
    assert len(found.facets) == k
    assume(implied)
    x, z, total = data.draw(st.sampled_from(implied))
    budget[x][z] = total - Fraction(1, 10**25)
    assert md.universal_channel(range(k), md.ContextAwareLDP(budget)).simplicial is False


@pytest.mark.parametrize("exponent", ["1e-12", "1e-6", "0.3", "2", "30", "1000"])
def test_tiny_and_huge_budgets(exponent: str) -> None:
    """Mangat's design is right to its last bits: q_x = e**-a q_s + the rest, a tiny or huge."""
    found = decide_cone(cone_of([HighLowLDP(exponent, [0])], md.Domain.range(3), None)).matrix
    a = float(exponent)
    hidden, own = math.exp(-a), -math.expm1(-a)
    formula = np.array([[1, 0, 0], [hidden, own, 0], [hidden, 0, own]])
    assert np.allclose(found, formula, rtol=1e-14, atol=0)
    ring = [[0, exponent, 2 * a], [2 * a, 0, exponent], [exponent, 2 * a, 0]]
    matrix = decide_cone(cone_of([md.ContextAwareLDP(ring)], md.Domain.range(3), None)).matrix
    assert np.allclose(matrix.sum(axis=1), 1, atol=1e-15)
    around = -math.expm1(-3 * a)
    assert np.allclose(np.diag(matrix), own / around, rtol=1e-13)


def test_risks_of_estimation_are_least_there_too() -> None:
    problem = Problem(range(3), CYCLE, md.L2Risk(), prior=PRIOR)
    solution = proved(problem)
    assert solution.route == "closed-form: universal channel"
    U = solution.channel.matrix
    p = problem.prior.array
    M = (U / (p @ U)) @ U.T
    risk = np.trace(np.linalg.inv(M)) - p @ p
    assert float(solution.value) == pytest.approx(risk, rel=1e-9)


# --- the certificate ------------------------------------------------------------------------------


def every_row(problem: Problem) -> Iterator[NamedRow]:
    """All that a certificate may name: the rows of all notions, and q_x >= 0."""
    k = len(problem.domain)
    for n, notion in enumerate(problem.privacy):
        for d in demands(notion, problem.domain, problem.prior):
            if isinstance(d.other, int):
                yield (n, d.side, d.x, d.other, None)
            else:
                yield (n, d.side, d.x, None, tuple(map(Fraction, d.other)))
    yield from ((None, "positive", x, None, None) for x in range(k))


@pytest.mark.slow
@examples(60)
@given(problems(3), st.data())
def test_whatever_rows_are_named_the_bound_holds(bare: Problem, data: Any) -> None:
    """Badly chosen rows are refused, or prove less."""
    utility = data.draw(informed_utilities(3))
    assume(not isinstance(utility, md.MutualInformation | BayesAccuracy))
    assume(not (isinstance(utility, md.PosteriorMeanSquaredError) and utility.histogram))
    problem = Problem(bare.domain, bare.privacy, utility, prior=bare.prior)
    rows = list(every_row(problem))
    best = optimum(problem)
    for _ in range(10):
        facets = [data.draw(st.sampled_from(rows)) for _ in range(3)]
        try:
            certificate = simplicial(problem.compiled, facets)
            statement = problem.compiled.statement
            bound = statement.sign * certificate.bound(statement)
        except (md.CertificateError, ArithmeticError):
            continue
        assert float(bound) <= best + ORACLE


def test_other_facets_prove_less_than_is_claimed() -> None:
    """With the prices of the file, and with those that are best for them."""
    problem = Problem(range(3), CYCLE, md.MeanAbsoluteError(), prior=PRIOR)
    document = as_read(proved(problem))
    rows, right = list(every_row(problem)), document["certificate"]["oracle"]["source"]["facets"]
    dependent, less, same = 0, 0, 0
    for facets in itertools.combinations(rows, 3):
        try:
            certificate = write(simplicial(problem.compiled, list(facets)))
        except md.CertificateError:  # they are not independent
            dependent += 1
            continue
        named = certificate["oracle"]["source"]["facets"]
        if sorted(map(str, named)) == sorted(map(str, right)):
            same += 1
            continue
        for prices in (certificate["prices"], document["certificate"]["prices"]):
            trial = copy.deepcopy(document)
            trial["certificate"] = {**certificate, "prices": prices}
            refused(trial, "bound proved|a negative entry")
        less += 1
    assert (dependent + less, same) == (math.comb(len(rows), 3) - 1, 1)


def test_a_prior_that_is_not_in_the_set_is_refused() -> None:
    moved = ["1/10", "1/10", "4/5"]
    notion = md.BoundedPriorLIP("1.4", center=OTHER, radius=0)
    problem = Problem(range(3), [notion, LIP(9)], md.MeanAbsoluteError(), prior=moved)
    certificate = Universal().optimum(problem).certificate()
    (members,) = certificate.relaxations
    statement = problem.compiled.statement
    assert certificate.bound(statement)
    for other in (moved, ["1", "0", "0"], ["0.2", "0.3", "0.6"], ["0.2"]):
        wrong = replace(members, priors=(tuple(map(Fraction, other)),))
        with pytest.raises(md.CertificateError):
            replace(certificate, relaxations=(wrong,)).bound(statement)
    # a member for the one notion, and not for the other
    outer = tuple(map(Fraction, moved))
    mixed = [(n, "lower", x, None, outer) for x, n in enumerate((1, 0, 1))]
    with pytest.raises(md.CertificateError, match="of a set of priors are not listed"):
        simplicial(problem.compiled, mixed)
    table = as_read(proved(problem))
    table["certificate"]["relaxations"] = [{"kind": "members", "place": 0, "priors": [moved]}]
    refused(table, "a prior is not in the set")


# --- edges ----------------------------------------------------------------------------------------


def test_one_input_and_no_constraint() -> None:
    for notion in (LDP(1), LIP(1), PML(1), HighLowLDP(1, [0]), BlockLDP(1, [[0]])):
        found = md.universal_channel([0], notion, prior=[1])
        assert found.simplicial
        assert found.channel.matrix.tolist() == [[1.0]]
    free = md.universal_channel(range(3), md.AsymmetricLift("inf", "inf"), prior=PRIOR)
    assert free.channel.matrix.tolist() == np.eye(3).tolist()
    assert free.facets == ("positive x=0", "positive x=1", "positive x=2")
    loose = md.universal_channel(range(3), PML(5), prior=PRIOR)
    assert loose.channel == free.channel


@pytest.mark.parametrize("epsilon", ["0.01", "0.26", "1", "20"])
@pytest.mark.parametrize("prior", [["6/19", "9/19", "4/19"], ["1/3", "1/3", "1/3"]])
def test_a_second_notion_that_asks_nothing_changes_nothing(epsilon: str, prior: list[str]) -> None:
    """PML at 50 nats is kept by every channel, as no lift is above 1 / P_min."""
    notion = HighLowLDP(epsilon, [0])
    alone = md.universal_channel(range(3), notion, prior=prior)
    both = md.universal_channel(range(3), [notion, PML(50)], prior=prior)
    assert both.simplicial is alone.simplicial is True
    assert both.facets == alone.facets
    assert both.channel == alone.channel


@pytest.mark.parametrize(("first", "second"), [(HighLowLDP(1, [3]), PML(4)), (PML("0.01"), LDP(2))])
@pytest.mark.parametrize("k", [17, 40])
def test_nor_does_one_that_the_first_implies_for_many_inputs(
    k: int, first: Notion, second: Notion
) -> None:
    prior = Prior.uniform(k)
    alone = md.universal_channel(range(k), first, prior=prior)
    assert alone.simplicial
    for both in ([first, second], [second, first]):
        found = md.universal_channel(range(k), both, prior=prior)
        assert found.channel == alone.channel
    tight = md.universal_channel(range(k), [first, LIP("0.05")], prior=prior)
    assert tight.channel is None


@pytest.mark.parametrize(
    "notion", [LIP(1), PML(1), md.AsymmetricLift(1, "inf"), md.AsymmetricLift(1, 2)]
)
def test_inputs_of_probability_zero(notion: Notion) -> None:
    """With one input of all probability, the law is its entry."""
    for counts in ([0, 1, 0], [0, 1, 1], [0, 0, 1, 3]):
        prior = Prior.from_counts(counts)
        problem = Problem(range(len(counts)), notion, md.MutualInformation(), prior=prior)
        hold_in_floats(problem)


def hold_in_floats(problem: Problem) -> None:
    found = decide_cone(problem.cone)
    assert found.simplicial is independent(rays_of(problem))
    if found.simplicial:
        certificate = simplicial(problem.compiled, found.facets)
        statement = problem.compiled.statement
        bound = statement.sign * certificate.bound(statement)
        assert float(bound) == pytest.approx(float(design(problem).value), abs=1e-9)


def test_rows_of_other_kinds_are_left_undecided() -> None:
    rows = [("half", {0: 1}, "0", {1: 2})]
    found = md.universal_channel(range(3), md.LinearNotion(rows))
    assert found.simplicial is None
    assert found.channel is None
    assert "not known" in repr(found)
    assert "not decided" in found.reason


@pytest.mark.parametrize("places", [25, 50])
def test_sums_of_budgets_are_distinguished_from_close_numbers(places: int) -> None:
    """At 1 and 1, the pair at their sum is implied, and at a little less it is one more facet."""
    for less, holds in ((Fraction(0), True), (Fraction(1, 10**places), False)):
        chain = md.ContextAwareLDP([[0, 1, 2 - less], ["inf", 0, 1], ["inf", "inf", 0]])
        assert md.universal_channel(range(3), chain).simplicial is holds


def test_budgets_beyond_any_float() -> None:
    """e**-5000 counts as 0: the row says nothing."""
    far = md.ContextAwareLDP([["0", "5000", "5001"], ["inf", "0", "1"], ["inf", "inf", "0"]])
    problem = Problem(range(3), far, md.MeanAbsoluteError(), prior=PRIOR)
    form = Universal()
    assert form.holds(problem)
    certificate = form.optimum(problem).certificate()
    assert isinstance(certificate.oracle, Rays)
    assert isinstance(certificate.oracle.source, Simplicial)
    bound = certificate.bound(problem.compiled.statement)
    assert float(bound) == pytest.approx(0.5 / math.e, rel=1e-12)  # input 2 looks like 1 so often
    assert design(problem).status == "optimal"
    steep = ["1e-299", "0.4", "0.6"]
    wide = md.DifferentialIdentifiability(1400)
    assert md.universal_channel(range(3), wide, prior=steep).simplicial is False


def test_arguments_and_results_are_checked() -> None:
    found = md.universal_channel(["ill", "well", "?"], HighLowLDP(1, ["ill"]))
    assert found.channel.inputs.labels == ("ill", "well", "?")
    assert repr(found).splitlines()[0].endswith("there is one")
    assert "high-low ratio x=0 to 1" in repr(found)
    check_refused("prior", lambda: md.universal_channel(range(3), LIP(1)))
    check_refused("", lambda: md.universal_channel(range(3), LIP(1), prior=[0.5, 0.5]))
    with pytest.raises(md.UnsupportedError, match="single columns"):
        md.universal_channel(range(3), md.ApproximateLDP(1, "0.1"))
    many = md.universal_channel(range(30), HighLowLDP(1, [3]))
    assert "and 22 more" in repr(many)
