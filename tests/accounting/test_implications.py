"""No channel leaks more than the implied guarantee, and the returned channel attains it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import LDP, LIP, PML, ApproximateLDP, Channel, Domain, HighLowLDP, Prior
from mechdesign.accounting.channel_leakage import Leakages, leakages
from mechdesign.accounting.conversions import ARROWS, best_bound
from mechdesign.accounting.hypothesis_testing import error_region, trade_off
from mechdesign.accounting.implications import TARGETS, Implied, implied, relations
from mechdesign.accounting.ratios import tightest_matrix
from mechdesign.notions import Notion
from tests.strategies import Case, bare_problem, cases, channels, examples, rays

NEAR = 1e-8
SKEWED = Prior([0.01, 0.33, 0.33, 0.33])


def random_channels(count: int, seed: int, prior: Prior) -> list[Channel]:
    """Various channels: near and far from private, square or not, some with zeros."""
    rng = np.random.default_rng(seed)
    found, k = [], len(prior)
    for _ in range(count):
        m = int(rng.integers(2, 6))
        matrix = rng.dirichlet(np.full(m, rng.choice([0.3, 1, 5, 50])), k)
        if rng.random() < 0.3:
            matrix = (matrix > 1 / m) * matrix
            matrix[matrix.sum(axis=1) == 0, 0] = 1
            matrix /= matrix.sum(axis=1, keepdims=True)
        found.append(Channel.from_matrix(matrix))
    return found


def guarantees(truth: Leakages) -> list[Notion]:
    """The strongest guarantee that a channel gives under each notion."""
    kinds = (
        LDP,
        LIP,
        PML,
        md.DifferentialIdentifiability,
        md.MutualInformationLeakage,
        md.MaximalLeakage,
    )
    low, high = (truth[side].value for side in ("min-lift", "max-lift"))
    found: list[Notion] = [md.AsymmetricLift(low, high)]
    found += [kind(truth[kind.name].value) for kind in kinds if truth[kind.name].value < 40]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_no_relation_is_exceeded_by_random_channels(seed: int) -> None:
    """100 channels a seed: bounds for all, exact values for some, since these take longer."""
    prior = (SKEWED, Prior.uniform(3), Prior([0.2, 0.8]), Prior([0.1, 0.2, 0.7]), SKEWED)[seed]
    for n, channel in enumerate(random_channels(100, seed, prior)):
        truth = leakages(channel, prior)
        for notion in guarantees(truth):
            assert notion.holds(channel, prior)
            for name, target in TARGETS.items():
                bound = best_bound(notion, target, prior)
                assert bound is None or truth[name].value <= bound[0] + 1e-12, (notion, name)
                if n == 10 and not isinstance(target, md.MaximalLeakage):
                    found = implied(notion, name, prior)
                    assert found.tight is None or truth[name].value <= found.tight + NEAR


def check_attained(row: Implied, prior: Prior | None) -> None:
    assert row.attained is not None
    assert row.notion.holds(row.channel, prior)
    if math.isinf(row.tight):
        assert math.isinf(row.attained)
    else:
        assert row.attained == pytest.approx(row.tight, rel=1e-6, abs=1e-6)
        assert row.bound is None or row.tight <= row.bound + NEAR


@examples(8)
@given(
    cases(kinds=("ldp", "context-aware", "high-low", "lip", "lift", "pml"), least="0.1"),
    st.sampled_from(["ldp", "lip", "max-lift", "min-lift"]),
)
def test_it_is_the_largest_over_all_extreme_rays(case: Case, name: str) -> None:
    """Every private channel is a mixture of rays, and no mixture exceeds the worst ray."""
    domain = Domain.range(len(case.domain))
    found = implied(case.notion, name, case.prior, domain=domain)
    worst = 0.0
    P = case.prior.array
    for r in rays(bare_problem(case)):
        law, low, high = float(P @ r), r.min(), r.max()
        pairs = {
            "ldp": [(high, low)],
            "lip": [(high, law), (law, low)],
            "max-lift": [(high, law)],
            "min-lift": [(law, low)],
        }[name]
        for top, bottom in pairs:
            if top > 1e-10:
                worst = max(worst, math.log(top / bottom) if bottom > 1e-10 else math.inf)
    assert found.tight == pytest.approx(worst, rel=1e-6, abs=1e-6)
    check_attained(found, case.prior)


def lip_to_ldp(prior: Prior, epsilon: float) -> float:
    """All inputs at e**-eps or e**eps but one: the three shapes that the worst column can have."""
    u, best = math.exp(epsilon), 0.0
    for x, z in itertools.permutations(range(len(prior)), 2):
        p, q = float(prior[x]), float(prior[z])
        shapes = [2 * epsilon, math.log((u - 1 + p) / p)]
        if 1 - (1 - q) * u > 0:
            shapes.append(math.log(u * q / (1 - (1 - q) * u)))
        best = max(best, min(shapes))
    return best


@examples(12)
@given(st.lists(st.integers(1, 30), min_size=2, max_size=4), st.integers(1, 40))
def test_lip_to_ldp_in_closed_form(counts: list[int], tenths: int) -> None:
    prior, epsilon = Prior.from_counts(counts), Fraction(tenths, 10)
    found = implied(LIP(epsilon), "ldp", prior)
    assert found.tight == pytest.approx(lip_to_ldp(prior, float(epsilon)), rel=1e-7)
    if len(prior) > 2:  # the paper calls its bound loose; it is exact
        assert found.tight == pytest.approx(found.bound, rel=1e-7)


P, E1 = math.e / (1 + math.e), md.ContextAwareLDP([[0, 1], [3, 0]])
LINE = md.MetricPrivacy(1, "absolute")
E4 = md.ContextAwareLDP([[0, 0, 1, 1], ["inf", 0, 1, 1], ["inf", "inf", 0, 2], [1, 1, 1, 0]])
BALL = md.BoundedPriorLIP(0, center=Prior([0.1, 0.2, 0.7]), radius="0.1")
TWO = Prior([0.2, 0.8])

DI = "differential-identifiability"

KNOWN: list[tuple[Notion, str | Notion, Prior | int, float]] = [
    # the largest ratio of the prior and that of the channel are at different pairs (TIFS, (10))
    (LIP(1), DI, SKEWED, math.log(33) + math.log((math.e - 0.67) / 0.33)),
    (LIP(0), DI, Prior([0.2, 0.3, 0.5]), math.log(2.5)),
    (LIP(0), "ldp", Prior([0.2, 0.3, 0.5]), 0.0),
    (LIP(15), "ldp", Prior([0.1, 0.2, 0.7]), 17.302585),
    (PML(30), "ldp", Prior([0.1, 0.2, 0.7]), math.inf),
    *((LDP(1), "lip", p, math.log(min(p) + math.e * (1 - min(p)))) for p in (SKEWED, TWO)),
    # for two inputs the universal channel is the worst for every average
    (LDP(1), "maximal-leakage", 2, math.log(2 * P)),
    (LDP(1), "mutual-information", Prior.uniform(2), math.log(2) + P - math.log(1 + math.e)),
    (LINE, "ldp", 4, 3.0),
    (LDP(1), LINE, 4, 1.0),
    (HighLowLDP(1, [0]), "max-lift", Prior([0.4, 0.3, 0.2, 0.1]), math.log(10)),
    (E4, "ldp", 4, 3.0),  # by way of input 3, as in the closure of E
    # excesses over the budgets of the target
    (LDP(2), E1, 2, 1.0),
    (LDP(1), md.AsymmetricLift(1, 1), TWO, math.log(0.2 + 0.8 * math.e) - 1),
    (LIP(1), DI, Prior([0, "0.5", "0.5"]), math.inf),
    (LDP(1), BALL, Prior([0.1, 0.2, 0.7]), 1.0),  # some member never has the first input
]


@pytest.mark.parametrize(("notion", "target", "given", "tight"), KNOWN)
def test_known_values(
    notion: Notion, target: str | Notion, given: Prior | int, tight: float
) -> None:
    prior, domain = (None, Domain.range(given)) if isinstance(given, int) else (given, None)
    found = implied(notion, target, prior, domain=domain)
    assert found.tight == pytest.approx(tight, abs=1e-6)
    check_attained(found, prior)


def test_a_bound_on_lifts_is_an_excess_over_the_smaller_budget() -> None:
    found = implied(LDP(1), md.AsymmetricLift("0.25", "0.5"), TWO)
    assert found.bound == pytest.approx(math.log(0.2 + 0.8 * math.e) - 0.25)
    assert found.tight is not None
    assert found.tight <= found.bound


def test_more_priors_promise_more_and_an_input_that_never_occurs_nothing() -> None:
    prior = Prior([0.1, 0.2, 0.7])
    one, many = (implied(notion, "ldp", prior).tight for notion in (LIP(1), BALL.at(1)))
    assert many < one
    never = implied(LDP(1), "maximal-leakage", Prior([0, 1]))
    assert never.tight is never.channel is None


@pytest.mark.parametrize(
    "notion",
    [md.MaximalLeakage("0.3"), md.MutualInformationLeakage("0.1"), ApproximateLDP(1, "0.01")],
    ids=repr,
)
def test_averages_imply_no_limit_on_ratios(notion: Notion) -> None:
    prior = Prior([0.2, 0.3, 0.5])
    for name in ("ldp", "lip", "min-lift", "differential-identifiability"):
        check_attained(implied(notion, name, prior), prior)
        assert implied(notion, name, prior).tight == math.inf
    assert implied(notion, "maximal-leakage", prior).tight is None


def test_approximate_notions() -> None:
    """Corollary 3 of TIFS, and what is wrong with it."""
    prior, delta = Prior([0.1, 0.1, 0.8]), Fraction(1, 20)
    channel = Channel.from_matrix([["0.27", "0.73"], [0, 1], ["0.0287", "0.9713"]])
    assert md.ApproximateLIP(1, delta).holds(channel, prior)
    stated = (math.e + 1) * 0.05
    assert not ApproximateLDP(2, stated).holds(channel)
    assert ApproximateLDP(2, 2 * math.e * 0.05 + 1e-12).holds(channel)
    assert best_bound(md.ApproximateLIP(1, delta), ApproximateLDP(0, stated), prior) is None
    found = best_bound(md.ApproximateLIP(1, delta), ApproximateLDP(0, "0.272"), prior)
    assert found[0] == pytest.approx(2)
    same = best_bound(ApproximateLDP(1, delta), md.ApproximateLIP(0, delta), prior)
    assert same[0] == pytest.approx(1)


def test_corollary_3_holds_for_random_channels() -> None:
    prior = Prior([0.1, 0.2, 0.7])
    for channel in random_channels(8, 7, prior):
        for delta in (Fraction(1, 50), Fraction(1, 10)):
            epsilon = md.ApproximateLIP(0, delta).leakage(channel, prior)
            if epsilon < 3:
                enough = min(Fraction(1), Fraction(2 * math.exp(epsilon) + 1e-9) * delta)
                assert ApproximateLDP(2 * epsilon + 1e-12, enough).holds(channel)
            epsilon = ApproximateLDP(0, delta).leakage(channel)
            if epsilon < 30:
                assert md.ApproximateLIP(epsilon, delta).holds(channel, prior)


def test_every_bound_names_its_source_and_the_table_all_notions() -> None:
    assert len(ARROWS) == 11
    found = relations(LIP(1), Prior([0.2, 0.8]))
    assert [row.target for row in found.rows] == list(TARGETS)
    text = repr(found)
    assert "LIP(epsilon=1) implies" in text
    assert "Theorem 3" in text
    assert found["ldp"].target == "ldp"
    assert "inf" in repr(relations(PML(1), Prior.uniform(3)))
    assert ": not computed exactly, bound" in repr(
        implied(md.MaximalLeakage(1), "maximal-leakage", Prior.uniform(2))
    )
    assert ": exactly 0.934702 nats, bound" in repr(implied(md.LDP(1), LIP(1), Prior([0.1, 0.9])))


def targets(prior: Prior) -> list[Notion]:
    """Notions of every kind, with budgets that no guarantee has."""
    return [
        *TARGETS.values(),
        md.AsymmetricLift(1, 1),
        md.AsymmetricLift("0.3", 2),
        md.AsymmetricLift("inf", "0.7"),
        md.AsymmetricLift("inf", "inf"),
        md.DifferentialIdentifiability(0),
        md.BoundedPriorLIP(1, center=prior, radius="0.05"),
        ApproximateLDP(1, "0.1"),
        md.ApproximateLIP(1, "0.1"),
        ApproximateLDP(1, 0),
        md.ApproximateLIP(1, 0),
    ]


@pytest.mark.parametrize(("counts", "budget"), [([1, 4], "0.2"), ([3, 25], "2")])
def test_the_exact_value_is_at_most_the_bound_in_one_unit(counts: list[int], budget: str) -> None:
    """For all pairs of notions the value is attained, and no theorem has a smaller bound."""
    prior = Prior.from_counts(counts)
    skew = math.log(max(prior) / prior.minimum)
    given: list[Notion] = [
        LDP(budget),
        LIP(budget),
        PML(budget),
        md.AsymmetricLift(budget, "0.4"),
        md.DifferentialIdentifiability(float(budget) + skew),
        md.BoundedPriorLIP(budget, center=prior, radius="0.05"),
    ]
    for notion in given:
        for target in targets(prior):
            if isinstance(target, md.MaximalLeakage | md.MutualInformationLeakage):
                continue  # a design each
            found = implied(notion, target, prior)
            if found.tight is None:
                assert target.name.startswith("approximate")
                continue
            check_attained(found, prior)


@pytest.mark.parametrize("rare", ["1e-20", "1e-140", "1e-280"])
def test_priors_of_any_skew_have_relations(rare: str) -> None:
    """The epsilon of a target does not matter, and log ratios beyond floats are exact."""
    prior = Prior([rare, "0.5", "0.5"])
    skew = math.log(0.5) - float(rare.removeprefix("1e")) * math.log(10)
    skew += math.log((math.e - 0.5) / 0.5)  # the largest ratio of a common input to any other
    table = relations(LIP(1), prior)
    for row in table.rows:
        if row.target != "maximal-leakage":
            check_attained(row, prior)
    assert table["ldp"].tight == pytest.approx(2, abs=1e-6)
    assert table["differential-identifiability"].tight == pytest.approx(skew, abs=1e-6)
    assert (
        implied(LIP(1), md.DifferentialIdentifiability(1), prior)
        == table["differential-identifiability"]
    )


# The trade-off curve is the best of all tests, and E-LDP is a region that contains it.


F = Fraction


def all_tests(channel: Channel) -> list[tuple[Fraction, Fraction]]:
    """Return the false alarm and miss rates of all deterministic tests of 0 against 1."""
    rows = [[channel.probability(x, y) for y in channel.outputs] for x in (0, 1)]
    m = len(channel.outputs)
    found = []
    for n in range(m + 1):
        for says in itertools.combinations(range(m), n):
            hit, alarm = (sum((row[y] for y in says), F(0)) for row in rows)
            found.append((alarm, 1 - hit))
    return found


@examples(30)
@given(channels(2))
def test_the_curve_is_the_convex_edge_of_all_tests(channel: Channel) -> None:
    curve, tests = trade_off(channel, 0, 1), all_tests(channel)
    assert set(curve.points) <= set(tests)
    for alarm, missed in tests:
        assert curve.missed(alarm) <= missed
    assert (curve.points[0], curve.points[-1]) == ((0, 1), (1, 0))
    steps = [(b[0] - a[0], a[1] - b[1]) for a, b in itertools.pairwise(curve.points)]
    assert all(min(step) >= 0 < max(step) for step in steps)
    assert all(d1 * r2 > d2 * r1 for (r1, d1), (r2, d2) in itertools.pairwise(steps))
    mirrored = trade_off(channel, 1, 0)
    assert [(m, a) for a, m in reversed(curve.points)] == list(mirrored.points)
    assert curve.total_variation == mirrored.total_variation == 1 - min(map(sum, tests))


@examples(20)
@given(channels(3))
def test_the_region_of_the_tightest_matrix_and_not_less(channel: Channel) -> None:
    """Theorem 1 and its converse: inside at E, outside below it, and touching if tight."""
    E = tightest_matrix(channel)
    for x, z in itertools.permutations(range(3), 2):
        curve = trade_off(channel, x, z)
        forward, back = E[x, z], E[z, x]
        assert curve.inside(error_region(forward, back))
        if 0 < forward < math.inf:
            assert not curve.inside(error_region(forward * (1 - 1e-9), back))
        if 0 < back < math.inf:
            assert not curve.inside(error_region(forward, back * (1 - 1e-9)))
        first, last = curve.points[1], curve.points[-2]
        if math.isfinite(forward):
            assert float(1 - first[1]) == pytest.approx(math.exp(forward) * float(first[0]))
        else:
            assert first[0] == 0
        if math.isfinite(back):
            assert float(1 - last[0]) == pytest.approx(math.exp(back) * float(last[1]))
        else:
            assert last[1] == 0


@examples(20)
@given(channels(2), channels(4))
def test_processing_makes_no_test_better(channel: Channel, after: Channel) -> None:
    m = channel.shape[1]
    rows = [[after.probability(x % 4, y) for y in after.outputs] for x in range(m)]
    before, later = (trade_off(c, 0, 1) for c in (channel, channel.then(Channel.from_matrix(rows))))
    for alarm, missed in later.points:
        assert before.missed(alarm) <= missed
    assert later.total_variation <= before.total_variation


@pytest.mark.parametrize("budgets", [(1, 1), (0.5, 2), (3, 0.2), (2, math.inf), (math.inf, 1)])
def test_corners_are_where_both_lines_meet(budgets: tuple[float, float]) -> None:
    region = error_region(*budgets)
    alarm, missed = region.corners[1]
    a, b = budgets
    if math.isfinite(a):
        assert missed + math.exp(a) * alarm == pytest.approx(1)
    else:
        assert alarm == 0
    if math.isfinite(b):
        assert alarm + math.exp(b) * missed == pytest.approx(1)
    else:
        assert missed == 0


def test_the_ends() -> None:
    identity = Channel.from_matrix(np.eye(2).tolist())
    free = trade_off(identity, 0, 1)
    assert (0, 0) in free.points
    assert free.inside(error_region("inf"))
    assert not free.inside(error_region(30))
    assert free.total_variation == 1
    blind = Channel.from_matrix([["1/3", "2/3"]] * 2)
    assert trade_off(blind, 0, 1).points == ((0, 1), (1, 0))
    assert trade_off(blind, 0, 1).inside(error_region(0))
    assert error_region(0, 1).corners == ((0, 1), (1, 0))
    assert error_region("inf").corners[1] == (0, 0)
    warner = trade_off(Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]]), 0, 1)
    assert [warner.missed(alarm) for alarm in (0, "1/8", 1)] == [1, F(5, 8), 0]
