"""Every notion means what its definition says, at the border too, and how notions relate."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import mechdesign as md
from mechdesign import LDP, LIP, PML, BlockLDP, Channel, Domain, HighLowLDP, Prior
from mechdesign.notions import NOTIONS, Notion, cone_of
from tests.refusals_support import check_refused
from tests.strategies import (
    ATTRIBUTES,
    DIGITS,
    KINDS,
    WHOLE,
    Case,
    bare_problem,
    broken,
    cases,
    channels,
    columns_of,
    demands,
    epsilon_of,
    examples,
    exp,
    leakage,
    prior_sets,
    priors,
    simplex,
)

TINY = Fraction(1, 10**9)
EVERY = (*KINDS, *ATTRIBUTES)


@st.composite
def judged(
    draw: st.DrawFn, kinds: tuple[str, ...] = KINDS, least: str = "0", positive: bool = False
) -> tuple[Case, Channel]:
    case = draw(cases(kinds, least=least))
    channel = draw(channels(len(case.domain), int(positive)))
    return case, Channel(channel.numerators, inputs=case.domain)


def private(case: Case, channel: Channel) -> bool:
    """Whether the definition holds, in 60 digits: ties at a budget of 0 are exact."""
    e = epsilon_of(case.notion)
    for demand in demands(case.notion, case.domain, case.prior):
        limit = demand.budget(e)
        for q in columns_of(channel):
            left, right = demand.values(q)
            if limit == 0:
                if left > right:
                    return False
            elif left > Fraction(limit.exp()) * right:
                return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
@examples(25)
@given(st.data())
def test_private_if_and_only_if_the_definition_holds(kind: str, data: Any) -> None:
    case, channel = data.draw(judged((kind,)))
    assert case.notion.holds(channel, case.prior) == private(case, channel)
    for q, column in zip(columns_of(channel), channel.columns(), strict=True):
        alone = all(
            left <= Fraction(d.budget(epsilon_of(case.notion)).exp()) * right
            for d in demands(case.notion, case.domain, case.prior)
            for left, right in [d.values(q)]
        )
        named = case.notion.cone(case.domain, case.prior).violation(column)
        assert (named is None) == alone
        assert named is None or named.startswith(case.notion.name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
@examples(25)
@given(st.data())
def test_leakage_is_the_least_budget_that_holds_and_less_does_not(kind: str, data: Any) -> None:
    case, channel = data.draw(judged((kind,)))
    exact = leakage(case, channel)
    found = case.notion.leakage(channel, case.prior)
    if exact == Decimal("-Infinity"):  # no row, or no row that says anything
        assert found <= 0
        return
    if exact == Decimal("Infinity"):
        assert found == math.inf
        return
    if case.at is not None and kind != "differential-identifiability":
        exact = max(exact, Decimal(0))
    assert Decimal(repr(found)) >= exact
    assert found == pytest.approx(float(exact), rel=1e-12, abs=1e-18)

    problem, claimed = bare_problem(case), Fraction(repr(found))
    assert broken(problem, channel, leakage=claimed) is None
    less = claimed - (TINY * abs(claimed) if claimed else TINY)
    assert broken(problem, channel, leakage=less) is not None
    if case.at is not None:
        assert case.at(claimed).holds(channel, case.prior)
        if less >= 0:
            try:
                assert not case.at(less).holds(channel, case.prior)
            except md.InfeasibleError:
                assert kind == "differential-identifiability"


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
@examples(12)
@given(st.data())
def test_rows_matrix_and_violation_agree(kind: str, data: Any) -> None:
    case, channel = data.draw(judged((kind,)))
    cone = case.notion.cone(case.domain, case.prior)
    rows, G = list(cone.rows()), cone.matrix().toarray()
    assert G.shape == (len(rows), len(case.domain))
    assert len({row.name for row in rows}) == len(rows)
    for row, dense in zip(rows, G, strict=True):
        assert row.exponent >= 0
        shrink = math.exp(-float(row.exponent))
        for x in range(len(case.domain)):
            left, right = row.left.get(x, Fraction(0)), row.right.get(x, Fraction(0))
            assert min(left, right) >= 0
            wanted = shrink * float(left) - float(right)
            assert dense[x] == pytest.approx(wanted, rel=1e-12, abs=1e-15)
    for q, column in zip(columns_of(channel), channel.columns(), strict=True):
        broken = [
            row.name
            for row in rows
            for left in [sum((a * q[x] for x, a in row.left.items()), Fraction(0))]
            for right in [sum((a * q[x] for x, a in row.right.items()), Fraction(0))]
            if left > Fraction(exp(row.exponent)) * right
        ]
        named = cone.violation(column)
        assert (named is None) == (not broken)
        if not case.notion.name.startswith("bounded-prior") and named is not None:
            assert named in broken


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
@examples(10)
@given(st.data())
def test_the_constraints_accept_exactly_the_private_channels(kind: str, data: Any) -> None:
    case, channel = data.draw(judged((kind,)))
    Q = cp.Variable(channel.shape)
    Q.value = channel.matrix
    excess = [
        float(np.max(c.violation(), initial=0.0))
        for c in case.notion.constraints(Q, case.domain, case.prior)
        if c.size
    ]
    clear = leakage(case, channel) - Decimal(float(epsilon_of(case.notion)))
    if abs(clear) > Decimal("1e-6"):
        assert (max(excess, default=0.0) <= 1e-13) == case.notion.holds(channel, case.prior)


@examples(20)
@given(cases(), st.data())
def test_an_intersection_is_private_if_and_only_if_each_part_is(first: Case, data: Any) -> None:
    k = len(first.domain)
    kinds = ("ldp", "context-aware", "lip", "pml", "lift", "bounded-prior-lip", "high-low")
    second = data.draw(cases(kinds, k=k))
    channel = data.draw(channels(k))
    channel = Channel(channel.numerators, inputs=first.domain)
    notions: list[Notion] = [first.notion]
    if second.notion.name != "high-low" or first.domain.labels == second.domain.labels:
        notions.append(second.notion)
    cone = cone_of(notions, first.domain, first.prior)
    assert cone.holds(channel) == all(n.holds(channel, first.prior) for n in notions)
    assert cone.matrix().shape[0] == sum(
        n.cone(first.domain, first.prior).matrix().shape[0] for n in notions
    )


@pytest.mark.slow
@examples(40)
@given(judged(("bounded-prior-lip",)), st.lists(st.integers(0, 9), min_size=8, max_size=8))
def test_no_prior_of_a_set_is_worse_than_its_worst(
    pair: tuple[Case, Channel], mix: list[int]
) -> None:
    case, channel = pair
    worst = leakage(case, channel)
    vertices = case.notion.priors.vertices()
    for shift in range(6):
        chosen = [vertices[(shift * 5 + i) % len(vertices)] for i in range(len(mix))]
        total = sum(mix) + 1
        weights = [Fraction(m, total) for m in mix]
        weights[shift] += Fraction(1, total)
        member = Prior(
            [
                sum(w * v[x] for w, v in zip(weights, chosen, strict=True))
                for x in range(len(case.domain))
            ]
        )
        alone = Case(LIP(1), case.domain, member, LIP)
        assert worst.is_infinite() or DIGITS.subtract(leakage(alone, channel), worst) <= Decimal(
            "1e-40"
        )
        if case.notion.holds(channel):
            assert LIP(case.notion.epsilon).holds(channel, member)


@pytest.mark.parametrize("kind", EVERY)
@examples(10)
@given(st.data())
def test_post_processing_never_raises_leakage(kind: str, data: Any) -> None:
    """A function of the report, at random, tells no more than the report."""
    case, channel = data.draw(judged((kind,)))
    later = data.draw(channels(len(channel.outputs), most_outputs=3))
    after = channel.then(Channel(later.numerators, inputs=channel.outputs, bits=later.bits))
    before = case.notion.leakage(channel, case.prior)
    assert case.notion.leakage(after, case.prior) <= before + 1e-12


@pytest.mark.parametrize("kind", EVERY)
@examples(10)
@given(st.data())
def test_the_raise_that_is_needed_is_the_least(kind: str, data: Any) -> None:
    """One unit less breaks a row; on a part of the inputs there may be none."""
    case, channel = data.draw(judged((kind,), "0.1"))
    family = case.notion.family(case.domain, case.prior)
    some = data.draw(st.lists(st.integers(0, 1), min_size=family.size, max_size=family.size))
    for column, direction in itertools.product(channel.columns(), ([1] * family.size, some)):
        t = family.raise_needed(column, direction)
        if t is None:
            assert 0 in direction
            continue
        raised = [q + t * d for q, d in zip(column, direction, strict=True)]
        less = [q - d for q, d in zip(raised, direction, strict=True)]
        assert family.violation(raised) is None
        assert t == 0 or family.violation(less) is not None


# --- leakage near zero, infinities, zeros ---------------------------------------------------------


@pytest.mark.parametrize("units", [1, 3, 10**3, 10**6, 10**9, 10**15])
@pytest.mark.parametrize("notion", [LDP(1), LIP(1), PML(1)])
def test_leakage_is_right_however_small(notion: Notion, units: int) -> None:
    half = WHOLE // 2
    channel = Channel([[half + units, half - units], [half - units, half + units]])
    prior = Prior.uniform(2)
    exact = float(leakage(Case(notion, Domain.range(2), prior, None), channel))
    assert notion.leakage(channel, prior) == pytest.approx(exact, rel=1e-12)


def test_leakage_is_infinite_where_no_budget_holds() -> None:
    identity = Channel.from_matrix(np.eye(2))
    uniform = Prior.uniform(2)
    assert LDP(1).leakage(identity) == math.inf
    assert LIP(1).leakage(identity, uniform) == math.inf
    assert PML(1).leakage(identity, uniform) == pytest.approx(math.log(2))
    assert md.MetricPrivacy(1, "absolute").leakage(identity) == math.inf
    assert HighLowLDP(1, [0]).leakage(identity) == math.inf
    assert BlockLDP(1, [[0], [1]]).leakage(identity) == 0
    assert md.DifferentialIdentifiability(1).leakage(identity, uniform) == math.inf
    assert md.ContextAwareLDP([[0, "inf"], ["inf", 0]]).leakage(identity) == 0
    assert md.AsymmetricLift("inf", "inf").leakage(identity, uniform) == 0
    assert md.AsymmetricLift("inf", 1).leakage(identity, uniform) == pytest.approx(math.log(2) - 1)
    assert md.AsymmetricLift(1, "inf").leakage(identity, uniform) == math.inf


def test_points_at_distance_nothing_must_look_alike() -> None:
    same = md.MetricPrivacy(1, [[0, 0], [0, 0]])
    half = WHOLE // 2
    equal = Channel([[half, half], [half, half]])
    off_by_one = Channel([[half, half], [half + 1, half - 1]])
    assert same.holds(equal)
    assert same.leakage(equal) == 0
    assert not same.holds(off_by_one)
    assert same.leakage(off_by_one) == math.inf


def test_an_input_of_prior_zero_stays_protected() -> None:
    prior = Prior(["1/2", "1/2", 0])
    give_away = Channel.from_matrix([["1/2", "1/2", 0], ["1/2", "1/2", 0], [0, 0, 1]])
    for notion in (LIP(5), PML(5), md.AsymmetricLift("inf", 5)):
        assert not notion.holds(give_away, prior)
        assert notion.leakage(give_away, prior) == math.inf
    quiet = Channel.from_matrix([["1/2", "1/2"], ["1/2", "1/2"], ["1/4", "3/4"]])
    assert LIP(1).leakage(quiet, prior) == pytest.approx(math.log(2))
    assert PML(1).leakage(quiet, prior) == pytest.approx(math.log(1.5))
    with pytest.raises(md.InfeasibleError, match="input 2 has prior 0"):
        md.DifferentialIdentifiability(9).holds(quiet, prior)


def test_an_output_that_never_occurs_leaks_nothing() -> None:
    channel = Channel.from_matrix([["1/2", "1/2", 0], ["1/4", "3/4", 0]])
    for notion, leak in ((LDP(1), math.log(2)), (LIP(1), math.log(1.5)), (PML(1), math.log(4 / 3))):
        assert notion.leakage(channel, Prior.uniform(2)) == pytest.approx(leak)


@pytest.mark.parametrize("notion", [LDP(0), LIP(0), PML(0), md.MetricPrivacy(0, "absolute")])
def test_one_input_has_nothing_to_hide(notion: Notion) -> None:
    channel = Channel.from_matrix([["1/3", "2/3"]])
    assert notion.holds(channel, Prior([1]))
    assert abs(notion.leakage(channel, Prior([1]))) == 0


def test_differential_identifiability_is_feasible_from_the_ratio_of_the_prior_on() -> None:
    prior = Prior([0.2, 0.8])
    coin = Channel.from_matrix([["1/2", "1/2"]] * 2)
    least = math.log(4)
    with pytest.raises(md.InfeasibleError, match=r"below max ln\(P_x / P_x'\) = 1.38629"):
        md.DifferentialIdentifiability(least - 1e-9).holds(coin, prior)
    assert md.DifferentialIdentifiability(least + 1e-9).holds(coin, prior)
    assert md.DifferentialIdentifiability(2).leakage(coin, prior) == pytest.approx(least, rel=1e-14)


# --- how notions relate ---------------------------------------------------------------------------


@st.composite
def positive_channels(draw: st.DrawFn) -> tuple[Channel, Prior]:
    k = draw(st.integers(2, 4))
    return draw(channels(k, 1)), draw(priors(k))


def close(a: float, b: float) -> bool:
    return a <= b + 1e-12


@pytest.mark.slow
@examples(60)
@given(positive_channels(), st.data())
def test_how_the_leakages_compare(pair: tuple[Channel, Prior], data: Any) -> None:
    channel, prior = pair
    k = len(prior)
    ldp, lip = LDP(1).leakage(channel), LIP(1).leakage(channel, prior)
    pml = PML(1).leakage(channel, prior)
    assert close(pml, lip)
    assert close(lip, ldp)
    assert close(ldp, 2 * lip)
    assert close(max(pml, md.AsymmetricLift(0, "inf").leakage(channel, prior)), lip)

    some = data.draw(st.lists(st.sampled_from(range(k)), min_size=1, unique=True))
    assert close(HighLowLDP(1, some).leakage(channel), ldp)
    assert HighLowLDP(1, range(k)).leakage(channel) == ldp
    rest = [x for x in range(k) if x not in some]
    assert close(BlockLDP(1, [some, rest] if rest else [some]).leakage(channel), ldp)
    assert BlockLDP(1, [range(k)]).leakage(channel) == ldp

    discrete = [[int(x != z) for z in range(k)] for x in range(k)]
    assert md.MetricPrivacy(1, discrete).leakage(channel) == ldp
    constant = md.ContextAwareLDP([["0.5"] * k] * k)
    assert constant.leakage(channel) == pytest.approx(ldp - 0.5, abs=1e-12)

    way = data.draw(prior_sets(k))
    every = md.BoundedPriorLIP(1, **way).leakage(channel)
    assert close(every, ldp)
    for member in md.BoundedPriorLIP(1, **way).priors.vertices()[:5]:
        assert close(LIP(1).leakage(channel, Prior(member)), every)
    assert md.BoundedPriorLIP(1, priors=[list(prior)]).leakage(channel) == lip
    assert md.BoundedPriorLIP(1, center=list(prior), radius=1).leakage(channel) == pytest.approx(
        ldp, abs=1e-12
    )

    assume(prior.minimum > 0)
    spread = math.log(max(prior) / prior.minimum)
    identify = md.DifferentialIdentifiability(9).leakage(channel, prior)
    assert close(identify, 2 * lip + spread)
    assert close(identify, ldp + spread)
    p = float(prior.minimum)
    assert close(lip, math.log(p + math.exp(ldp) * (1 - p)))
    assert close(ldp, math.log((math.exp(lip) - 1 + p) / p))
    if prior.is_uniform:
        assert identify == pytest.approx(ldp, abs=1e-12)


@examples(25)
@given(cases(("ldp", "high-low", "block", "metric", "lip", "pml", "bounded-prior-lip")), st.data())
def test_mixing_and_listing_private_channels_keeps_them_private(case: Case, data: Any) -> None:
    """The private channels are a convex set that contains every constant channel."""
    k = len(case.domain)
    row = data.draw(simplex(3))
    constant = Channel.from_matrix([row] * k, inputs=case.domain)
    assert case.notion.holds(constant, case.prior)
    assert abs(case.notion.leakage(constant, case.prior)) == 0
    channel = data.draw(channels(k, 1))
    channel = Channel(channel.numerators, inputs=case.domain)
    halves = np.hstack([channel.numerators, constant.numerators])
    both = Channel(halves, inputs=case.domain, bits=63)
    one = case.notion.leakage(channel, case.prior)
    assert case.notion.leakage(both, case.prior) == pytest.approx(max(one, 0.0), abs=1e-15)


# --- what is refused ------------------------------------------------------------------------------

bad: list[tuple[Any, str]] = [
    (lambda: LDP(-0.1), r"epsilon: expected a finite number >= 0"),
    (lambda: LDP(math.inf), r"epsilon"),
    (lambda: LDP("one"), r"epsilon"),
    (lambda: LDP(None), r"epsilon"),
    (lambda: LIP(math.nan), r"epsilon"),
    (lambda: PML(True), r"epsilon"),
    (lambda: md.AsymmetricLift(-1, 1), r"lower"),
    (lambda: md.AsymmetricLift(1, "-inf"), r"upper"),
    (lambda: md.AsymmetricLift(1, -math.inf), r"upper"),
    (lambda: HighLowLDP(1, []), r"sensitive: expected at least one label"),
    (lambda: HighLowLDP(1, "ab"), r"sensitive: expected a list"),
    (lambda: HighLowLDP(1, [0, 0]), r"sensitive: .* occurs twice"),
    (lambda: HighLowLDP(1, [7]).cone(Domain.range(2)), r"sensitive: .*given 7"),
    (lambda: BlockLDP(1), r"blocks: give either"),
    (lambda: BlockLDP(1, [[0]], block_rows=1), r"blocks: give either"),
    (lambda: BlockLDP(1, [[0], []]), r"blocks\[1\]: expected at least one label"),
    (lambda: BlockLDP(1, [[0], [0, 1]]).cone(Domain.range(2)), r"blocks: .* is in two blocks"),
    (lambda: BlockLDP(1, [[0]]).cone(Domain.range(2)), r"blocks: .*is in no block"),
    (lambda: BlockLDP(1, [[0], [5]]).cone(Domain.range(2)), r"blocks\[1\]"),
    (lambda: BlockLDP(1, block_rows=1), r"block_columns"),
    (lambda: BlockLDP(1, block_rows=0, block_columns=1), r"block_rows"),
    (
        lambda: BlockLDP(1, block_rows=2, block_columns=1).cone(Domain.grid(3, 1)),
        r"block_rows: expected a divisor of the grid's 3",
    ),
    (lambda: BlockLDP(1, block_rows=1, block_columns=1).cone(Domain.range(2)), r"block_rows"),
    (lambda: md.ContextAwareLDP([[0, -1], [1, 0]]), r"matrix\[0\]\[1\]"),
    (lambda: md.ContextAwareLDP([[0, math.nan], [1, 0]]), r"matrix\[0\]\[1\]"),
    (lambda: md.ContextAwareLDP([[0, "-inf"], [1, 0]]), r"matrix\[0\]\[1\]"),
    (lambda: md.ContextAwareLDP([[0, 1]]), r"matrix\[0\]"),
    (lambda: md.ContextAwareLDP([[0]]).cone(Domain.range(2)), r"matrix: expected a 2 x 2 matrix"),
    (lambda: md.ContextAwareLDP("inf"), r"matrix"),
    (lambda: md.MetricPrivacy(1, "eucledian"), r"did you mean 'euclidean'"),
    (lambda: md.MetricPrivacy(1, "haversine"), r"a function, as domain\.distance, given"),
    (lambda: md.MetricPrivacy(1, [[0, -1], [1, 0]]), r"distance\[0\]\[1\]"),
    (lambda: md.MetricPrivacy(1, [[0, 1]]).cone(Domain.range(2)), r"distance"),
    (lambda: md.MetricPrivacy(1, []), r"distance"),
    (lambda: md.MetricPrivacy(1, "absolute").cone(Domain(["a", "b"])), r"distance: .*numbers"),
    (lambda: md.MetricPrivacy(1, "absolute").cone(Domain.grid(2, 2)), r"distance: .*numbers"),
    (lambda: LIP(1).cone(Domain.range(2)), r"prior"),
    (lambda: LIP(1).cone(Domain.range(2), Prior.uniform(3)), r"prior: expected 2 probabilities"),
    (lambda: md.BoundedPriorLIP(1), r"priors: expected exactly one of"),
    (lambda: md.BoundedPriorLIP(1, priors=[[1]], center=[1], radius=0), r"exactly one of"),
    (lambda: md.BoundedPriorLIP(1, lower=[0, 0]), r"exactly one of"),
    (lambda: md.BoundedPriorLIP(1, priors=[[1]]).cone(Domain.range(2)), r"priors: expected 2"),
]


@pytest.mark.parametrize(("make", "match"), bad)
def test_bad_parameters_are_refused_by_name(make: Any, match: str) -> None:
    check_refused(match, make)


@pytest.mark.parametrize("name", sorted(NOTIONS))
def test_tables_round_trip(name: str) -> None:
    examples_of: dict[str, Notion] = {
        "ldp": LDP("1/3"),
        "context-aware": md.ContextAwareLDP([[0, "inf"], ["1/3", 0]]),
        "high-low": HighLowLDP(0.1, ["a", (0, 1)]),
        "block": BlockLDP(1, [["a"], [(0, 1)]]),
        "metric": md.MetricPrivacy(1, [[0, "1/3"], [2, 0]]),
        "lip": LIP(0.1),
        "lift": md.AsymmetricLift("inf", "1/3"),
        "pml": PML(1e-12),
        "bounded-prior-lip": md.BoundedPriorLIP(1, lower=["1/3", 0], upper=[1, "2/3"]),
        "bounded-prior-pml": md.BoundedPriorPML(1, center=["1/3", "2/3"], radius="1/7"),
        "bounded-prior-lift": md.BoundedPriorLift(1, "inf", [["1/3", "2/3"]]),
        "differential-identifiability": md.DifferentialIdentifiability(2),
        "approximate-ldp": md.ApproximateLDP("1/3", 1e-9),
        "approximate-lip": md.ApproximateLIP(0, "1/7"),
        "mutual-information": md.MutualInformationLeakage(0.25),
        "maximal-leakage": md.MaximalLeakage("1/3"),
        "g-vulnerability": md.GVulnerabilityLeakage("1/3", [[1, 0], ["1/3", 2]]),
        "attack-error": md.AttackError("1/3", [[0, "1/3"], [2, 0]]),
        "linear": md.LinearNotion([("r", {"a": "1/3", (0, 1): 2}, 0, {"b": 3}, 2)], 0.1, "mine"),
    }
    notion = examples_of[name]
    table = notion.to_table()
    assert table.pop("notion") == name
    again = NOTIONS[name](**table)
    assert again == notion
    assert hash(again) == hash(notion)
    assert set(table) <= set(NOTIONS[name].keys())
    assert notion != LDP(99)


def test_a_grid_of_blocks() -> None:
    grid = Domain.grid(2, 4)
    notion = BlockLDP(1, block_rows=1, block_columns=2)
    assert notion.membership(grid).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    pairs = {
        (x, z)
        for row in notion.cone(grid).rows()
        for x, z in itertools.product(row.left, row.right)
    }
    assert pairs == {(x, z) for x in range(8) for z in range(8) if x != z and x // 2 == z // 2}


@pytest.mark.parametrize("spacing", ["1", "3/7", "1e-3"])
def test_irrational_distances_are_rounded_down(spacing: str) -> None:
    """A channel that holds at the rounded distance holds at the true one."""
    grid = Domain.grid(3, 3, spacing)
    points = grid.coordinates or ()
    for row in md.MetricPrivacy(1, "euclidean").cone(grid).rows():
        ((x, _),), ((z, _),) = row.left.items(), row.right.items()
        square = sum((a - b) ** 2 for a, b in zip(points[x], points[z], strict=True))
        assert row.exponent**2 <= square < (row.exponent + Fraction(1, 2**150)) ** 2
