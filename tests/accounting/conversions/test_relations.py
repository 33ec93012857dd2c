"""No channel leaks more than the implied guarantee, and the returned channel attains it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    PML,
    ApproximateLDP,
    ApproximateLIP,
    AsymmetricLift,
    BoundedPriorLIP,
    Channel,
    ContextAwareLDP,
    DifferentialIdentifiability,
    Domain,
    HighLowLDP,
    MaximalLeakage,
    MetricPrivacy,
    MutualInformationLeakage,
    Prior,
    SolverError,
)
from mechdesign.accounting.conversions.bounds import ARROWS, best_bound
from mechdesign.accounting.conversions.relations import TARGETS, Implied, implied, relations
from mechdesign.accounting.measure.leakage_table import Leakages
from mechdesign.accounting.measure.leakages import leakages
from mechdesign.notions import Notion
from mechdesign.repair import repair
from tests.strategies import Case, bare_problem, cases, examples, rays

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
    kinds = (LDP, LIP, PML, DifferentialIdentifiability, MutualInformationLeakage, MaximalLeakage)
    low, high = (truth[side].value for side in ("min-lift", "max-lift"))
    found: list[Notion] = [AsymmetricLift(low, high)]
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
                if n == 10 and not isinstance(target, MaximalLeakage):
                    found = implied(notion, name, prior)
                    assert found.tight is None or truth[name].value <= found.tight + NEAR


def private_channels(notion: Notion, count: int, seed: int, prior: Prior) -> list[Channel]:
    """Random channels mixed with a constant one, just enough to make them private."""
    found = []
    for channel in random_channels(count, seed, prior):
        Q = channel.matrix
        constant = np.tile(prior.array @ Q, (len(prior), 1))
        low, high = 0.0, 1.0
        for _ in range(14):
            middle = (low + high) / 2
            mixed = Channel.from_matrix((1 - middle) * Q + middle * constant)
            low, high = (low, middle) if notion.holds(mixed, prior) else (middle, high)
        found.append(Channel.from_matrix((1 - high) * Q + high * constant))
        assert notion.holds(found[-1], prior)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "notion",
    [
        LDP(1),
        LIP("0.5"),
        PML(1),
        DifferentialIdentifiability(4),
        BoundedPriorLIP(1, center=SKEWED, radius="0.05"),
    ],
    ids=lambda notion: notion.name,
)
def test_500_private_channels_leak_no_more_than_the_exact_values(notion: Notion) -> None:
    table = relations(notion, SKEWED)
    near = 0
    for channel in private_channels(notion, 100, 11, SKEWED):
        truth = leakages(channel, SKEWED)
        for row in table.rows:
            assert row.tight is not None
            assert truth[row.target].value <= row.tight + NEAR, row
            near += truth[row.target].value > 0.5 * row.tight
    assert near > 50  # close enough for the test to be meaningful


@pytest.mark.slow
@pytest.mark.parametrize("prior", [SKEWED, Prior([0.2, 0.8])], ids=repr)
@pytest.mark.parametrize("epsilon", ["0.1", "2"])
def test_exact_values_are_attained_by_a_private_channel(prior: Prior, epsilon: str) -> None:
    skew = math.log(max(prior) / prior.minimum)
    for notion in (
        LDP(epsilon),
        LIP(epsilon),
        PML(epsilon),
        AsymmetricLift(1, epsilon),
        BoundedPriorLIP(epsilon, center=prior, radius="0.1"),
        DifferentialIdentifiability(float(epsilon) + skew),
    ):
        for row in relations(notion, prior).rows:
            check_attained(row, prior)


def check_attained(row: Implied, prior: Prior | None) -> None:
    assert row.tight is not None
    assert row.channel is not None
    assert row.attained is not None
    assert row.notion.holds(row.channel, prior)
    if math.isinf(row.tight):
        assert math.isinf(row.attained)
    else:
        assert row.attained == pytest.approx(row.tight, rel=1e-6, abs=NEAR)
        assert row.bound is None or row.tight <= row.bound + NEAR


@examples(30)
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


@examples(20)
@given(st.lists(st.integers(1, 30), min_size=2, max_size=4), st.integers(1, 40))
def test_lip_to_ldp_in_closed_form(counts: list[int], tenths: int) -> None:
    prior, epsilon = Prior.from_counts(counts), Fraction(tenths, 10)
    found = implied(LIP(epsilon), "ldp", prior)
    assert found.tight == pytest.approx(lip_to_ldp(prior, float(epsilon)), rel=1e-7)
    assert found.bound is not None
    if len(prior) > 2:  # the paper calls its bound loose; it is exact
        assert found.tight == pytest.approx(found.bound, rel=1e-7)


def test_two_inputs_where_the_published_bound_is_loose() -> None:
    found = implied(LIP("0.1"), "ldp", Prior([0.2, 0.8]))
    assert found.bound == pytest.approx(0.2)
    assert found.tight == pytest.approx(0.1 + math.log(0.8 / (1 - 0.2 * math.exp(0.1))))
    assert found.tight < 0.127


def test_ldp_to_lip_is_exact_for_every_prior() -> None:
    for prior in (SKEWED, Prior.uniform(3), Prior([0.2, 0.8])):
        found = implied(LDP(1), "lip", prior)
        assert found.tight == pytest.approx(found.bound, abs=NEAR)


def test_identifiability_exactly_and_by_the_bound() -> None:
    """(10): the largest ratio of the prior and that of the channel are at different pairs."""
    found = implied(LIP(1), "differential-identifiability", SKEWED)
    assert found.bound == pytest.approx(2 + math.log(33))
    assert found.tight == pytest.approx(math.log(33) + math.log((math.e - 1 + 0.33) / 0.33))
    assert found.bound - found.tight > 0.17


def test_averages() -> None:
    """For two inputs the universal channel is the worst for every average."""
    found = implied(LDP(1), "maximal-leakage", domain=Domain.range(2))
    assert found.tight == pytest.approx(math.log(2 * math.e / (1 + math.e)), abs=NEAR)
    found = implied(LDP(1), "mutual-information", Prior.uniform(2))
    p = math.e / (1 + math.e)
    assert found.tight == pytest.approx(
        math.log(2) + p * math.log(p) + (1 - p) * math.log(1 - p), abs=NEAR
    )
    never = implied(LDP(1), "maximal-leakage", Prior([0, 1]))
    assert never.tight is None
    assert never.channel is None


@pytest.mark.parametrize(
    "notion",
    [MaximalLeakage("0.3"), MutualInformationLeakage("0.1"), ApproximateLDP(1, "0.01")],
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
    assert ApproximateLIP(1, delta).holds(channel, prior)
    stated = (math.e + 1) * 0.05
    assert not ApproximateLDP(2, stated).holds(channel)
    assert ApproximateLDP(2, 2 * math.e * 0.05 + 1e-12).holds(channel)
    assert best_bound(ApproximateLIP(1, delta), ApproximateLDP(0, stated), prior) is None
    found = best_bound(ApproximateLIP(1, delta), ApproximateLDP(0, "0.272"), prior)
    assert found is not None
    assert found[0] == pytest.approx(2)
    same = best_bound(ApproximateLDP(1, delta), ApproximateLIP(0, delta), prior)
    assert same is not None
    assert same[0] == pytest.approx(1)


def test_corollary_3_holds_for_random_channels() -> None:
    prior = Prior([0.1, 0.2, 0.7])
    for channel in random_channels(60, 7, prior):
        for delta in (Fraction(1, 50), Fraction(1, 10)):
            epsilon = ApproximateLIP(0, delta).leakage(channel, prior)
            if epsilon < 3:
                enough = min(Fraction(1), Fraction(2 * math.exp(epsilon) + 1e-9) * delta)
                assert ApproximateLDP(2 * epsilon + 1e-12, enough).holds(channel)
            epsilon = ApproximateLDP(0, delta).leakage(channel)
            if epsilon < 30:
                assert ApproximateLIP(epsilon, delta).holds(channel, prior)


def test_any_two_cones_of_columns() -> None:
    domain = Domain.range(4)
    line = MetricPrivacy(1, "absolute")
    assert implied(line, "ldp", domain=domain).tight == pytest.approx(3, abs=NEAR)
    assert implied(LDP(1), line, domain=domain).tight == pytest.approx(1, abs=NEAR)
    forced = implied(HighLowLDP(1, [0]), "max-lift", Prior([0.4, 0.3, 0.2, 0.1]))
    assert forced.tight == pytest.approx(math.log(1 / 0.1), abs=NEAR)
    E = ContextAwareLDP([[0, 0, 1, 1], ["inf", 0, 1, 1], ["inf", "inf", 0, 2], [1, 1, 1, 0]])
    found = implied(E, "ldp", domain=domain)
    check_attained(found, None)
    assert found.tight == pytest.approx(3, abs=NEAR)  # by way of input 3, as in the closure of E
    excess = implied(LDP(2), ContextAwareLDP([[0, 1], [3, 0]]), domain=Domain.range(2))
    assert excess.tight == pytest.approx(1, abs=NEAR)


def test_more_priors_promise_more() -> None:
    prior = Prior([0.1, 0.2, 0.7])
    ball = {"center": prior, "radius": "0.1"}
    one, many = implied(LIP(1), "ldp", prior), implied(BoundedPriorLIP(1, **ball), "ldp", prior)
    assert many.tight is not None
    assert one.tight is not None
    assert many.tight < one.tight
    check_attained(many, prior)
    back = implied(LDP(1), BoundedPriorLIP(0, **ball), prior)
    assert back.tight == pytest.approx(back.bound, abs=NEAR)


def test_nothing_is_implied_beyond_nothing() -> None:
    prior = Prior([0.2, 0.3, 0.5])
    for row in relations(LIP(0), prior).rows:
        floor = math.log(2.5) if row.target == "differential-identifiability" else 0
        assert row.tight == pytest.approx(floor, abs=NEAR)


def test_every_bound_names_its_source_and_the_table_all_notions() -> None:
    assert len(ARROWS) == 11
    found = relations(LIP(1), Prior([0.2, 0.8]))
    assert [row.target for row in found.rows] == list(TARGETS)
    text = repr(found)
    assert "LIP(epsilon=1) implies" in text
    assert "Theorem 3" in text
    assert found["ldp"].target == "ldp"
    assert "inf" in repr(relations(PML(1), Prior.uniform(3)))
    assert "not computed" in repr(implied(MaximalLeakage(1), "maximal-leakage", Prior.uniform(2)))


def test_budgets_that_floats_cannot_tell_from_infinite_ones_are_refused() -> None:
    prior = Prior([0.1, 0.2, 0.7])
    assert implied(LIP(15), "ldp", prior).tight == pytest.approx(17.302585, abs=1e-6)
    with pytest.raises(SolverError, match="take a smaller epsilon"):
        implied(LIP(30), "ldp", prior)
    check_attained(implied(PML(30), "ldp", prior), prior)


def test_a_ray_is_a_column_of_a_private_channel() -> None:
    """The construction, without the optimizer: t r and 1 - t r."""
    notion, prior = LIP(1), Prior.uniform(4)
    cone = notion.cone(Domain.range(4), prior)
    r = np.array([math.e, 1 / math.e, 1 / math.e, 4 - math.e - 2 / math.e])
    numerators, _ = repair(cone, np.column_stack([0.1 * r, 1 - 0.1 * r]))
    channel = Channel(numerators)
    assert notion.holds(channel, prior)
    assert LDP(2).leakage(channel) == pytest.approx(2, abs=NEAR)


def targets(prior: Prior) -> list[Notion]:
    """Notions of every kind, with budgets that no guarantee has."""
    return [
        *TARGETS.values(),
        AsymmetricLift(1, 1),
        AsymmetricLift("0.3", 2),
        AsymmetricLift("inf", "0.7"),
        AsymmetricLift("inf", "inf"),
        DifferentialIdentifiability(0),
        BoundedPriorLIP(1, center=prior, radius="0.05"),
        ApproximateLDP(1, "0.1"),
        ApproximateLIP(1, "0.1"),
        ApproximateLDP(1, 0),
        ApproximateLIP(1, 0),
    ]


@examples(12)
@given(
    st.lists(st.integers(1, 30), min_size=2, max_size=3),
    st.sampled_from(["0.2", "1", "2"]),
)
def test_the_exact_value_is_at_most_the_bound_in_one_unit(counts: list[int], budget: str) -> None:
    """For all pairs of notions the value is attained, and no theorem has a smaller bound."""
    prior = Prior.from_counts(counts)
    skew = math.log(max(prior) / prior.minimum)
    given: list[Notion] = [
        LDP(budget),
        LIP(budget),
        PML(budget),
        AsymmetricLift(budget, "0.4"),
        DifferentialIdentifiability(float(budget) + skew),
        BoundedPriorLIP(budget, center=prior, radius="0.05"),
    ]
    for notion in given:
        for target in targets(prior):
            if isinstance(target, MaximalLeakage | MutualInformationLeakage):
                continue  # a design each
            found = implied(notion, target, prior)
            if found.tight is None:
                assert target.name.startswith("approximate")
                continue
            if math.isfinite(found.tight):
                assert found.attained == pytest.approx(found.tight, rel=1e-6, abs=1e-6)
                assert found.bound is None or found.tight <= found.bound + NEAR, found
            else:
                assert found.attained == found.tight


def test_lift_bounds_are_measured_by_their_excess() -> None:
    """ln(0.2 + 0.8 e) - 1: the exact value and the bound are both excesses."""
    found = implied(LDP(1), AsymmetricLift(1, 1), Prior([0.2, 0.8]))
    assert found.tight == pytest.approx(math.log(0.2 + 0.8 * math.e) - 1, abs=NEAR)
    assert found.bound == pytest.approx(found.tight, abs=NEAR)


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
        implied(LIP(1), DifferentialIdentifiability(1), prior)
        == table["differential-identifiability"]
    )


def test_an_input_that_never_occurs_is_identified_by_every_channel() -> None:
    prior = Prior([0, "0.5", "0.5"])
    row = relations(LIP(1), prior)["differential-identifiability"]
    assert row.tight == row.attained == math.inf
