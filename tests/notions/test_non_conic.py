"""Notions about the whole channel: definitions, leakage, optima, bounds, files.

The definitions are written out again here: over all sets of outputs for the approximate notions,
in high-precision decimals. Optima are those of cvxpy transcriptions and of closed forms.
"""

from __future__ import annotations

import itertools
import math
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.optimize
from hypothesis import assume, given, strategies as st

import mechdesign as md
import mechdesign.repair as repair_module
from mechdesign import LDP, LIP, Channel, Distortion, HammingLoss, Prior, Problem, design
from mechdesign.designs.solution import Solution
from mechdesign.evidence.rows import block_of
from mechdesign.kernel import verify
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.limits import Gauge, Information
from mechdesign.kernel.linearizations import Costs
from mechdesign.kernel.oracles import Entropy, Oracles, Orthant
from mechdesign.kernel.packed import Numbers, Weights
from mechdesign.kernel.relaxations import Average
from mechdesign.notions import Notion
from mechdesign.notions.non_conic import WholeChannelNotion
from mechdesign.repair import mixed, repair
from solvers import SOLVERS
from tests.documents import as_read, is_proved
from tests.refusals_support import check_refused
from tests.strategies import (
    DIGITS,
    broken,
    budgets,
    channels,
    columns_of,
    decimal,
    examples,
    exp,
    priors,
)

KINDS = ("approximate-ldp", "approximate-lip", "mutual-information", "maximal-leakage")
WHOLE = 1 << 62
MARGIN = Decimal("1e-40")

SKEWED = Prior([0.1, 0.2, 0.3, 0.4])

deltas = st.sampled_from(["0", "1e-9", "0.001", "0.05", "0.3", "0.9", "1"]).map(Fraction)


def of_kind(kind: str, epsilon: Any, delta: Any) -> Notion:
    if kind == "approximate-ldp":
        return md.ApproximateLDP(epsilon, delta)
    if kind == "approximate-lip":
        return md.ApproximateLIP(epsilon, delta)
    return (md.MutualInformationLeakage if kind == "mutual-information" else md.MaximalLeakage)(
        epsilon
    )


@st.composite
def cases(draw: st.DrawFn, most_outputs: int = 4) -> tuple[str, Channel, Prior]:
    kind = draw(st.sampled_from(KINDS))
    k = draw(st.integers(1, 4))
    return kind, draw(channels(k, most_outputs=most_outputs)), draw(priors(k))


# --- the definitions


def slack(kind: str, epsilon: Fraction, delta: Fraction, channel: Channel, prior: Prior) -> Decimal:
    """Return by how much the definition holds; negative if it does not."""
    columns = columns_of(channel)
    rows = [list(row) for row in zip(*columns, strict=True)]
    law = [sum((p * q for p, q in zip(prior, c, strict=True)), Fraction(0)) for c in columns]
    e, d = exp(epsilon), decimal(delta)
    if kind == "maximal-leakage":
        return DIGITS.subtract(e, decimal(sum((max(c) for c in columns), Fraction(0))))
    if kind == "mutual-information":
        total = Decimal(0)
        for column, mean in zip(columns, law, strict=True):
            for p, q in zip(prior, column, strict=True):
                if p and q:
                    log = DIGITS.ln(decimal(q / mean))
                    total = DIGITS.add(total, DIGITS.multiply(decimal(p * q), log))
        return DIGITS.subtract(decimal(epsilon), total)
    slacks = [Decimal("Infinity")]
    sets = [
        set(chosen)
        for size in range(len(columns) + 1)
        for chosen in itertools.combinations(range(len(columns)), size)
    ]
    pairs = list(itertools.permutations(rows, 2))
    if kind == "approximate-lip":
        pairs = [(law, row) for row in rows]
    for chosen in sets:
        for a, b in pairs:
            p, q = (decimal(sum((v[y] for y in chosen), Fraction(0))) for v in (a, b))
            # Pr(S) <= e**epsilon Pr(S|.) + delta
            slacks.append(DIGITS.subtract(DIGITS.add(DIGITS.multiply(e, q), d), p))
            if kind == "approximate-lip":  # Pr(S|x) <= e**epsilon (Pr(S) + delta)
                slacks.append(DIGITS.subtract(DIGITS.multiply(e, DIGITS.add(p, d)), q))
    return min(slacks)


@pytest.mark.slow
@examples(120)
@given(cases(), budgets(), deltas)
def test_a_notion_holds_where_its_definition_does(
    case: tuple[str, Channel, Prior], epsilon: Fraction, delta: Fraction
) -> None:
    kind, channel, prior = case
    by_definition = slack(kind, epsilon, delta, channel, prior)
    assume(abs(by_definition) > MARGIN)
    notion = of_kind(kind, epsilon, delta)
    assert notion.holds(channel, prior) == (by_definition > 0)
    why = broken(Problem(channel.inputs, notion, HammingLoss(), prior=prior), channel)
    assert (why is None) == (by_definition > 0)


@examples(50)
@given(cases(), deltas)
def test_leakage_is_the_least_epsilon(case: tuple[str, Channel, Prior], delta: Fraction) -> None:
    kind, channel, prior = case
    leakage = of_kind(kind, 1, delta).leakage(channel, prior)
    if math.isinf(leakage):
        assert slack(kind, Fraction(700), delta, channel, prior) < 0
        return
    exact = Fraction(repr(leakage))
    assert slack(kind, exact, delta, channel, prior) >= -MARGIN
    assert of_kind(kind, exact, delta).holds(channel, prior)
    less = exact - Fraction(1, 10**9)
    if less >= 0:
        assert slack(kind, less, delta, channel, prior) < 0
        assert not of_kind(kind, less, delta).holds(channel, prior)


@pytest.mark.slow
@examples(50)
@given(st.sampled_from(KINDS[:2]), st.data(), budgets())
def test_the_least_delta(kind: str, data: st.DataObject, epsilon: Fraction) -> None:
    """Private at its own delta, and not at one that is smaller by 1e-9."""
    channel, prior = data.draw(channels(3)), data.draw(priors(3))
    least = -slack(kind, epsilon, Fraction(0), channel, prior)
    if kind == "approximate-lip":  # the sides have different units: find it by bisection
        low, high = Fraction(0), Fraction(1)
        for _ in range(60):
            middle = (low + high) / 2
            if slack(kind, epsilon, middle, channel, prior) < 0:
                low = middle
            else:
                high = middle
        least = decimal(high)
    assume(least > Decimal("1e-8"))
    tiny = Decimal("1e-9")
    assert of_kind(kind, epsilon, str(min(Decimal(1), least + tiny))).holds(channel, prior)
    assert not of_kind(kind, epsilon, str(least - tiny)).holds(channel, prior)


@examples(30)
@given(cases(), deltas, st.data())
def test_post_processing_never_raises_leakage(
    case: tuple[str, Channel, Prior], delta: Fraction, data: st.DataObject
) -> None:
    kind, channel, prior = case
    m = len(channel.outputs)
    after = np.array(data.draw(channels(m)).matrix)
    processed = Channel.from_matrix(channel.matrix @ after)
    notion = of_kind(kind, 1, delta)
    before = notion.leakage(channel, prior)
    assert notion.leakage(processed, prior) <= before + 1e-9


@examples(20)
@given(channels(3), priors(3, 1))
def test_averages_leak_no_more_than_the_worst_case(channel: Channel, prior: Prior) -> None:
    """Information <= maximal leakage <= pointwise leakage <= LDP; and LIP as well."""
    information = md.MutualInformationLeakage(1).leakage(channel, prior)
    maximal = md.MaximalLeakage(1).leakage(channel)
    pointwise = md.PML(1).leakage(channel, prior)
    ordered = [information, maximal, pointwise, LDP(1).leakage(channel)]
    assert all(a <= b + 1e-12 for a, b in itertools.pairwise(ordered))
    assert pointwise <= LIP(1).leakage(channel, prior) + 1e-12


@examples(20)
@given(channels(4))
def test_maximal_leakage_is_the_gain_of_a_guess(channel: Channel) -> None:
    """At the uniform prior, guessing right becomes e**leakage times as likely."""
    accuracy = md.BayesAccuracy().value(channel, Prior.uniform(4))
    leakage = md.MaximalLeakage(1).leakage(channel)
    assert math.isclose(float(4 * accuracy), math.exp(leakage), rel_tol=1e-12)


@examples(25)
@given(channels(3), priors(3))
def test_without_delta_the_approximate_notions_are_the_plain_ones(
    channel: Channel, prior: Prior
) -> None:
    for plain, approximate in (
        (LDP(1), md.ApproximateLDP(1, 0)),
        (LIP(1), md.ApproximateLIP(1, 0)),
    ):
        assert approximate.is_conic
        assert approximate.holds(channel, prior) == plain.holds(channel, prior)
        a, b = (notion.leakage(channel, prior) for notion in (plain, approximate))
        assert a == b or math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-15)


# --- optima


def solved(
    notions: Notion | list[Notion], utility: Any, prior: Any = None, inputs: Any = 4, **more: Any
) -> Solution:
    domain = range(inputs) if isinstance(inputs, int) else inputs
    prior = prior or Prior.uniform(len(domain))
    return design(Problem(domain, notions, utility, prior=prior), **more)


def optimal(*asked: Any, **more: Any) -> Solution:
    """The solution, proved; no leakage that it claims is above its budget, or overstated."""
    solution = solved(*asked, **more)
    found, problem = is_proved(solution), solution.problem
    for notion, claim in zip(problem.privacy, solution.privacy, strict=True):
        budget = getattr(notion, "epsilon", Fraction(0))
        assert claim.leakage <= math.nextafter(float(budget), math.inf)
        exact = Fraction(repr(claim.leakage))
        if isinstance(notion, WholeChannelNotion) and exact > Fraction(1, 10**6):
            less = exact - Fraction(1, 10**6)
            delta = getattr(notion, "delta", Fraction(0))
            assert not of_kind(notion.name, less, delta).holds(solution.channel, problem.prior)
    assert any("leakage" in sentence for sentence in found.claims)
    return solution


def binary_entropy(p: float) -> float:
    return -p * math.log(p) - (1 - p) * math.log1p(-p)


@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.05), (3, 0.6), (4, 0.3)])
def test_rate_distortion_of_hamming_loss(k: int, epsilon: float) -> None:
    """Uniform inputs: ln k - h(D) - D ln(k - 1) = epsilon (Shannon 1959)."""

    def information(loss: float) -> float:
        return math.log(k) - binary_entropy(loss) - loss * math.log(k - 1)

    loss = scipy.optimize.brentq(lambda d: information(d) - epsilon, 1e-12, 1 - 1 / k, xtol=1e-15)
    solution = optimal(md.MutualInformationLeakage(epsilon), HammingLoss(), inputs=k)
    assert math.isclose(solution.value, loss, rel_tol=1e-8)
    assert math.isclose(solution.privacy[0].leakage, epsilon, rel_tol=1e-6)


@pytest.mark.parametrize("p", [0.1, 0.35])
def test_rate_distortion_of_a_skewed_bit(p: float) -> None:
    """h(p) - h(D) = epsilon for a bit of bias p, below its entropy."""
    epsilon = 0.4 * binary_entropy(p)
    wanted = binary_entropy(p) - epsilon
    loss = scipy.optimize.brentq(lambda d: binary_entropy(d) - wanted, 1e-12, p, xtol=1e-15)
    solution = optimal(md.MutualInformationLeakage(epsilon), HammingLoss(), Prior([p, 1 - p]), 2)
    assert math.isclose(solution.value, loss, rel_tol=1e-8)


@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.6), (4, 0.1)])
def test_hamming_loss_under_maximal_leakage(k: int, epsilon: float) -> None:
    """Sum_x Q(x|x) <= Sum_y max_x Q(y|x), so that one is right e**epsilon times in k at most."""
    solution = optimal(md.MaximalLeakage(epsilon), HammingLoss(), inputs=k)
    assert math.isclose(solution.value, 1 - math.exp(epsilon) / k, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("k", "epsilon", "delta"), [(2, 0.5, 0.1), (3, 1, 0.01), (4, 2, 0.5), (4, 0, 0.2)]
)
def test_hamming_loss_under_approximate_ldp(k: int, epsilon: float, delta: float) -> None:
    """Tell the truth with probability delta, else answer by k-ary randomized response.

    With S = {x}: Q(x|x) <= e Q(x|x') + delta; summed over all pairs it bounds Sum_x Q(x|x).
    """
    e = math.exp(epsilon)
    solution = optimal(md.ApproximateLDP(epsilon, delta), HammingLoss(), inputs=k)
    assert math.isclose(solution.value, (1 - delta) * (k - 1) / (e + k - 1), rel_tol=1e-9)


@st.composite
def problems(draw: st.DrawFn, kinds: tuple[str, ...], count: int = 1) -> Problem:
    k = draw(st.integers(1, 4))
    positive = st.sampled_from(["0.01", "0.1", "0.5", "1", "2", "4"]).map(Fraction)
    notions = []
    for _ in range(count):
        kind = draw(st.sampled_from((*kinds, "ldp", "lip") if count > 1 else kinds))
        epsilon = draw(positive)
        plain = {"ldp": LDP, "lip": LIP}.get(kind)
        notions.append(plain(epsilon) if plain else of_kind(kind, epsilon, draw(deltas)))
    matrix = Distortion([[(3 * x + 5 * y) % 7 for y in range(4)] for x in range(k)])
    plain = [md.MeanAbsoluteError(), HammingLoss(), matrix, md.MeanSquaredDistance(worst_case=True)]
    return Problem(range(k), notions, draw(st.sampled_from(plain)), prior=draw(priors(k)))


def equals_the_textbook(problem: Problem) -> None:
    solution = design(problem)
    scale = float(problem.utility.cost(problem.domain, problem.prior, problem.outputs).max())
    informed = any(isinstance(notion, md.MutualInformationLeakage) for notion in problem.privacy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the oracle may be inaccurate
        reference = SOLVERS["textbook" if informed else "textbook:HIGHS"](problem).value
    assert abs(float(solution.value) - reference) <= 1e-6 * max(1.0, scale)
    assert solution.value - solution.bound <= 1e-7 * scale
    verify(as_read(solution))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@examples(15)
@given(data=st.data())
def test_random_problems_equal_their_textbook(kind: str, data: st.DataObject) -> None:
    equals_the_textbook(data.draw(problems((kind,))))


@pytest.mark.slow
@examples(30)
@given(problems(KINDS, count=2))
def test_intersections_equal_their_textbook(problem: Problem) -> None:
    equals_the_textbook(problem)


@pytest.mark.parametrize("kind", KINDS)
def test_routes_agree(kind: str) -> None:
    notion = of_kind(kind, "0.5", "0.02")
    best = solved(notion, md.MeanAbsoluteError(), SKEWED)
    for route in ("conic", "cvxpy:CLARABEL", "cvxpy:ECOS", "cvxpy:SCS"):
        other = solved(notion, md.MeanAbsoluteError(), SKEWED, route=route)
        assert math.isclose(best.value, other.value, rel_tol=1e-5)
        assert other.bound <= best.value
        assert best.bound <= other.value
    loss = solved(notion, HammingLoss(), SKEWED).value
    for route in ("conic", "cvxpy:CLARABEL"):
        accuracy = solved(notion, md.BayesAccuracy(), SKEWED, route=route)
        assert math.isclose(accuracy.value, 1 - loss, rel_tol=1e-5)
        assert accuracy.bound >= accuracy.value
        assert accuracy.decoder is not None


@pytest.mark.parametrize("kind", KINDS)
def test_constraints_alone_give_the_optimum(kind: str) -> None:
    notion = of_kind(kind, "0.4", "0.05")
    solution = optimal(notion, md.MeanAbsoluteError(), SKEWED)
    Q = cp.Variable((4, 4), nonneg=True)
    loss = md.MeanAbsoluteError().objective(Q, md.Domain.range(4), SKEWED, range(4))
    stated = notion.constraints(Q, 4, SKEWED)
    alone = cp.Problem(cp.Minimize(loss), [*stated, cp.sum(Q, axis=1) == 1])
    assert math.isclose(solution.value, alone.solve(solver="CLARABEL"), rel_tol=1e-6)


@pytest.mark.parametrize(
    "notion",
    [
        md.MaximalLeakage(0),
        md.MutualInformationLeakage(0),
        md.ApproximateLDP(0, 0),
        md.ApproximateLIP(0, 0),
    ],
)
def test_without_a_budget_the_channel_is_constant(notion: Notion) -> None:
    solution = optimal(notion, HammingLoss(), SKEWED)
    assert solution.value == Fraction(3, 5)
    assert solution.route == "closed-form: independent release"
    assert solution.privacy[0].leakage == 0


@pytest.mark.parametrize(
    ("approximate", "plain"), [(md.ApproximateLDP(1, 0), LDP(1)), (md.ApproximateLIP(1, 0), LIP(1))]
)
@pytest.mark.parametrize("utility", [HammingLoss(), md.MutualInformation()], ids=repr)
def test_without_delta_the_optimum_is_the_plain_one(
    approximate: Notion, plain: Notion, utility: Any
) -> None:
    value = solved(plain, utility, SKEWED).value
    assert math.isclose(optimal(approximate, utility, SKEWED).value, value, rel_tol=1e-9)


def test_information_does_not_speak_of_inputs_that_never_occur() -> None:
    prior = Prior([0, 0.5, 0.5])
    solution = optimal(
        md.MutualInformationLeakage(0), md.MeanAbsoluteError(worst_case=True), prior, 3
    )
    assert solution.value == pytest.approx(0.5)  # 1 and 2 alike at even odds; 0 tells itself
    assert md.MaximalLeakage(0).holds(solution.channel) is False


FREE = [md.ApproximateLDP(1, 1), md.ApproximateLIP(1, 1), md.MaximalLeakage(1.4)]


@pytest.mark.parametrize("notion", [*FREE, md.MutualInformationLeakage(1.4)])
def test_a_budget_that_nothing_breaks_binds_nothing(notion: Notion) -> None:
    """Then every route is open, and the optimum is that of the other notions."""
    alone = solved(notion, HammingLoss(), SKEWED)
    assert alone.value == 0
    assert alone.route == "closed-form: identity"
    for utility in (HammingLoss(), md.MutualInformation()):
        both = optimal([LDP(1), notion], utility, SKEWED)
        assert math.isclose(both.value, solved(LDP(1), utility, SKEWED).value, rel_tol=1e-9)


@pytest.mark.parametrize("notion", [md.ApproximateLDP(1, 0.1), md.MutualInformationLeakage(0.2)])
@pytest.mark.parametrize(
    "utility", [md.PosteriorMeanSquaredError(), md.MutualInformation()], ids=repr
)
def test_problems_for_extreme_rays_are_refused(notion: Notion, utility: Any) -> None:
    with pytest.raises(
        md.UnsupportedError, match=f"utility.objective: .* or g-vulnerability, beside {notion.name}"
    ):
        solved(notion, utility, SKEWED)


@pytest.mark.parametrize("route", ["linear-program", "linear-program:ipm", "extreme-rays"])
def test_routes_by_columns_are_refused(route: str) -> None:
    with pytest.raises(md.UnsupportedError, match=r"route: .* about the whole channel"):
        solved(md.MaximalLeakage(0.5), HammingLoss(), route=route)


def test_conditions_add_up() -> None:
    """An intersection is no better than either part, and as good where it implies the other."""
    ldp, rule = LDP(1), md.MutualInformationLeakage(0.05)
    parts = [solved(notion, HammingLoss(), SKEWED).value for notion in (ldp, rule)]
    assert optimal([ldp, rule], HammingLoss(), SKEWED).value > max(parts)
    # ln(e**1) bounds the information of any 1-LDP channel
    implied = optimal([ldp, md.MutualInformationLeakage(1)], HammingLoss(), SKEWED)
    assert math.isclose(implied.value, parts[0], rel_tol=1e-9)


@pytest.mark.parametrize("kind", ["approximate-ldp", "approximate-lip"])
@pytest.mark.parametrize(
    "utility", [HammingLoss(), md.MeanSquaredDistance(worst_case=True)], ids=repr
)
def test_sums_may_be_added_as_they_are_violated(
    kind: str, utility: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large program has only those that were violated; the optimum and its proof are the same."""
    notion, prior = of_kind(kind, "1", "0.03"), Prior.from_counts(range(1, 9))
    whole = solved(notion, utility, prior, 8)
    program = "mechdesign.search.conic.non_conic"
    monkeypatch.setattr(f"{program}.ALL_AT_ONCE", 0)
    monkeypatch.setattr(f"{program}.strict_mixture", lambda *_: None)  # leaves nothing to add
    by_rounds = optimal(notion, utility, prior, 8)
    assert math.isclose(whole.value, by_rounds.value, rel_tol=1e-9)
    assert any("violated sums were added" in note for note in by_rounds.notes)


# --- bounds


@st.composite
def weighed(draw: st.DrawFn, problem: Problem, m: int) -> Certificate:
    """Any evidence of the right form, good or bad."""
    statement = problem.compiled.statement
    places = [
        (place, part)
        for place, limit in enumerate(statement.limits)
        for part in range(len(limit.parts) if isinstance(limit, Gauge) else 0)
    ]
    weight = st.integers(0, 40).map(lambda n: n / 20)
    one = st.tuples(st.integers(0, m - 1), st.sampled_from(places or [(0, 0)]), weight)
    drawn = draw(st.lists(one, max_size=12 if places else 0))
    entries = [(y, part, place, w) for y, (place, part), w in drawn]
    blocks = (block_of("limit", 0, "", entries),) if entries else ()
    k = statement.k
    mass = draw(st.lists(st.integers(1, 9), min_size=k, max_size=k))
    average = (Average(Weights(mass)),) if problem.utility.worst_case else ()
    oracle: Oracles = Orthant()
    if any(isinstance(limit, Information) for limit in statement.limits):
        level = st.integers(-30, 30).map(lambda n: n / 10)
        levels = draw(st.lists(level, min_size=k, max_size=k))
        price = draw(st.sampled_from([0.1, 0.5, 1.0, 3.0]))
        oracle = Entropy(((0, Fraction(price)),), Numbers(levels))
    return Certificate(Costs(), oracle, average, blocks)


@pytest.mark.slow
@examples(120)
@given(st.data())
def test_no_private_channel_is_below_any_bound(data: st.DataObject) -> None:
    """Whatever the weights, the bound holds for a channel of just the leakage that is allowed."""
    kind, k = data.draw(st.sampled_from(KINDS)), data.draw(st.integers(1, 3))
    prior, m = data.draw(priors(k)), 3
    rows = [data.draw(channels(1, most_outputs=m)).matrix[0].tolist() for _ in range(k)]
    channel = Channel.from_matrix([row + [0.0] * (m - len(row)) for row in rows])
    delta = data.draw(deltas)
    leakage = of_kind(kind, 1, delta).leakage(channel, prior)
    assume(leakage < 30)
    utility = Distortion(
        [[(3 * x + 5 * y) % 7 for y in range(m)] for x in range(k)],
        worst_case=data.draw(st.booleans()),
    )
    problem = Problem(range(k), of_kind(kind, repr(leakage), delta), utility, prior=prior)
    bound = data.draw(weighed(problem, m)).bound(problem.compiled.statement)
    assert bound <= utility.value(channel, prior, problem.outputs)


def test_the_share_of_a_mixture_is_found_by_bisection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least of 62 powers of 2, by one check of the channel and six of mixtures."""
    problem, seen = Problem(range(3), of_kind(KINDS[0], 1, 0.3), HammingLoss()), list[int]()
    holds = repair_module._constraints_hold
    monkeypatch.setattr(repair_module, "_constraints_hold", lambda *a: seen.append(1) or holds(*a))
    truth = np.diag([WHOLE] * 3)
    done = mixed(problem.cone, problem.channel_constraints, truth, problem.prior)
    assert len(seen) <= 7
    share = done[0][1] * 3 / WHOLE  # t of the uniform row
    less = np.array([[WHOLE - n - n, n, n] for n in [done[0][1] // 2]] * 3)
    for x, row in enumerate(less):
        less[x] = np.roll(row, x)
    assert share == pytest.approx(0.5)
    assert of_kind(KINDS[0], 1, 0.3).holds(Channel(done), problem.prior)
    assert not of_kind(KINDS[0], 1, 0.3).holds(Channel(less), problem.prior)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@examples(20)
@given(channel=channels(3), prior=priors(3), epsilon=budgets("0.01"), delta=deltas)
def test_a_channel_that_breaks_a_rule_is_mixed_until_it_holds(
    kind: str, channel: Channel, prior: Prior, epsilon: Fraction, delta: Fraction
) -> None:
    notion = of_kind(kind, epsilon, delta)
    problem = Problem(range(3), [notion, LDP(5)], HammingLoss(), prior=prior)
    rows, _ = repair(problem.cone, channel.matrix)
    done = mixed(problem.cone, problem.channel_constraints, rows, prior)
    assert all(sum(row) == WHOLE and min(row) >= 0 for row in done.tolist())
    result = Channel(done)
    assert notion.holds(result, prior)
    assert LDP(5).holds(result)
    if notion.holds(Channel(rows), prior):
        assert (done == rows).all()


# --- files


@pytest.mark.parametrize(
    ("privacy", "match"),
    [
        ('notion = "approximate-ldp"\nepsilon = 1', "privacy.delta: .* required"),
        ('notion = "approximate-ldp"\nepsilon = 1\ndelta = -0.1', "privacy.delta: .* from 0 to 1"),
        ('notion = "approximate-lip"\nepsilon = 1\ndelta = 1.5', "privacy.delta: .* from 0 to 1"),
        ('notion = "approximate-lip"\nepsilon = -1\ndelta = 0.5', "privacy.epsilon: .* >= 0"),
        ('notion = "maximal-leakage"\nepsilon = 1\ndelta = 0', "privacy.delta: .* one of the keys"),
        ('notion = "mutual-information"\nepsilon = "much"', "privacy.epsilon: .* a finite number"),
        ('notion = "mutual-informatoin"\nepsilon = 1', "did you mean 'mutual-information'"),
    ],
)
def test_wrong_files_are_refused(privacy: str, match: str, tmp_path: Path) -> None:
    file = tmp_path / "problem.toml"
    file.write_text(
        "[domain]\nsize = 3\n[prior]\nuniform = true\n"
        f'[privacy]\n{privacy}\n[utility]\nobjective = "hamming"\n',
        encoding="utf-8",
    )
    check_refused(match, md.load_problem, file)


@pytest.mark.parametrize(
    "notion", [md.ApproximateLIP(1, 0.1), md.MutualInformationLeakage(1)], ids=repr
)
def test_a_prior_is_asked_for(notion: Notion) -> None:
    check_refused(f"prior: .*{notion.name}", lambda: Problem(range(3), notion, HammingLoss()))
