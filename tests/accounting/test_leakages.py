"""Leakages agree with the definitions in fractions, and post-processing never raises them."""

from __future__ import annotations

import itertools
import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import mechdesign as md
from mechdesign import LDP, LIP, PML, Channel, Prior, PriorBall, PriorBox, PriorList
from mechdesign.accounting import capacity
from mechdesign.accounting.channel_leakage import (
    leakages,
    sensitive_attribute_channel,
    sensitive_attribute_leakage,
)
from mechdesign.accounting.hypothesis_testing import privacy_profile
from mechdesign.accounting.information import information_above
from mechdesign.accounting.ratios import tightest_matrix
from mechdesign.exact import exp_lower, exp_upper
from mechdesign.mechanisms import OptimizedUnaryEncoding, SubsetSelection
from mechdesign.mechanisms.hadamard_response import HadamardResponse
from mechdesign.mechanisms.randomized_response import GeneralizedRandomizedResponse
from tests.strategies import DIGITS, channels, columns_of, decimal, examples, priors, simplex

TINY = Decimal("1e-12")
UP = Decimal(2) ** -48
SIDES = ("max-lift", "min-lift")


def logarithm(factor: Fraction | None) -> Decimal:
    return Decimal("Infinity") if factor is None else DIGITS.ln(decimal(factor))


def ratio(top: Fraction, bottom: Fraction) -> Fraction | None:
    return top / bottom if bottom else None


def by_definition(channel: Channel, prior: Prior) -> dict[str, Fraction | None]:
    """e to the leakage, straight from the definitions; None: infinite."""
    k, columns = len(prior), columns_of(channel)
    found: dict[str, list[Fraction | None]] = {
        "ldp": [Fraction(1)],
        "differential-identifiability": [],
        "max-lift": [Fraction(1)],
        "min-lift": [Fraction(1)],
    }
    for q in columns:
        law = sum((p * v for p, v in zip(prior, q, strict=True)), Fraction(0))
        for x in range(k):
            if q[x]:
                found["max-lift"].append(ratio(q[x], law))
            if law:
                found["min-lift"].append(ratio(law, q[x]))
            for z in range(k):
                if q[x]:
                    found["ldp"].append(ratio(q[x], q[z]))
                if prior[x] * q[x]:
                    pair = ratio(prior[x] * q[x], prior[z] * q[z])
                    found["differential-identifiability"].append(pair)
    most = {n: None if None in f else max(f) for n, f in found.items()}
    sides = [most["max-lift"], most["min-lift"]]
    most["lip"] = None if None in sides else max(sides)
    most["pml"] = most["max-lift"]
    most["maximal-leakage"] = sum((max(q) for q in columns), Fraction(0))
    return most


def information(channel: Channel, prior: Prior) -> Decimal:
    total = Decimal(0)
    for q in columns_of(channel):
        law = sum((p * v for p, v in zip(prior, q, strict=True)), Fraction(0))
        for p, v in zip(prior, q, strict=True):
            if p * v:
                total += decimal(p * v) * DIGITS.ln(decimal(v / law))
    return total


@st.composite
def pairs(draw: st.DrawFn, least: int = 0) -> tuple[Channel, Prior]:
    k = draw(st.integers(2, 4))
    return draw(channels(k, least)), draw(priors(k))


@st.composite
def processed(draw: st.DrawFn) -> tuple[Channel, Channel, Prior]:
    channel, prior = draw(pairs())
    after = draw(channels(channel.shape[1]))
    return channel, channel.then(after), prior


def at_least(value: float, truth: Decimal) -> None:
    """The float and its decimal text are at least the exact value, and close to it."""
    assert Decimal(value) >= truth
    assert Decimal(repr(value)) >= truth
    assert truth.is_infinite() or Decimal(value) - truth <= TINY * (1 + abs(truth))


@examples(40)
@given(pairs())
def test_every_ratio_is_exact_its_logarithm_rounded_up_and_attained_where_named(
    case: tuple[Channel, Prior],
) -> None:
    channel, prior = case
    found, truth = leakages(channel, prior), by_definition(channel, prior)
    law = channel.output_distribution(prior)
    assert {row.notion for row in found.rows} == {*truth, "mutual-information"}
    for notion, factor in truth.items():
        assert found[notion].factor == factor, notion
        at_least(found[notion].value, logarithm(factor))
    at_least(found["mutual-information"].value, max(Decimal(0), information(channel, prior)))
    masses = ([p * v for p, v in zip(prior, q, strict=True)] for q in columns_of(channel))
    assert found.bayes_accuracy == sum(map(max, masses), Fraction(0)) >= max(prior)
    for row in found.rows:
        if not row.outputs:
            continue
        y = channel.outputs.index(row.outputs[0])
        q = [channel.probability(x, row.outputs[0]) for x in row.inputs]
        if row.notion == "ldp":
            assert ratio(q[0], q[1]) == row.factor
        elif row.notion == "differential-identifiability":
            a, b = (prior[channel.inputs.index(x)] * v for x, v in zip(row.inputs, q, strict=True))
            assert ratio(a, b) == row.factor
        else:
            assert row.factor in (ratio(q[0], law[y]), ratio(law[y], q[0]))


@examples(12)
@given(pairs())
def test_both_sides_with_the_notions_themselves(case: tuple[Channel, Prior]) -> None:
    channel, prior = case
    found = leakages(channel, prior)
    for notion in (LDP, LIP, PML, md.MaximalLeakage):
        value = found[notion.name].value
        if math.isinf(value):
            assert not notion(50).holds(channel, prior)
            continue
        assert notion(value).holds(channel, prior)
        assert value == 0 or not notion(value * (1 - 1e-9)).holds(channel, prior)
    upper, lower = (found[side].value for side in SIDES)
    assert md.AsymmetricLift(lower, upper).holds(channel, prior)
    for less in ((lower * (1 - 1e-9), upper), (lower, upper * (1 - 1e-9))):
        assert less == (lower, upper) or not md.AsymmetricLift(*less).holds(channel, prior)


@examples(20)
@given(pairs())
def test_the_tightest_matrix_holds_and_nothing_below_it(case: tuple[Channel, Prior]) -> None:
    channel, _ = case
    E, k = tightest_matrix(channel), channel.shape[0]
    assert md.ContextAwareLDP(E.tolist()).holds(channel)
    for x, z in itertools.permutations(range(k), 2):
        rows = [[channel.probability(i, y) for y in channel.outputs] for i in (x, z)]
        ratios = [ratio(a, b) for a, b in zip(*rows, strict=True) if a]
        truth = logarithm(None if None in ratios else max(ratios))
        assert Decimal(E[x, z]) >= truth
        assert truth.is_infinite() or Decimal(E[x, z]) <= truth * (1 + UP)
        if 0 < E[x, z] < math.inf:
            below = E.copy()
            below[x, z] *= 1 - 1e-9
            assert not md.ContextAwareLDP(below.tolist()).holds(channel)
    assert E.max() == pytest.approx(leakages(channel)["ldp"].value, rel=1e-14)


@examples(15)
@given(pairs())
def test_products_beyond_machine_integers(case: tuple[Channel, Prior]) -> None:
    channel, prior = case
    m = channel.shape[1]
    same = channel.then(Channel.from_matrix(np.eye(m).tolist()))
    assert same.bits > 62
    wide, narrow = leakages(same, prior), leakages(channel, prior)
    assert [(r.notion, r.factor) for r in wide.rows] == [(r.notion, r.factor) for r in narrow.rows]
    assert wide.bayes_accuracy == narrow.bayes_accuracy
    assert np.allclose(tightest_matrix(same), tightest_matrix(channel), rtol=1e-13, atol=0)
    curve = privacy_profile(same, [0, 1], prior)
    assert curve == privacy_profile(channel, [0, 1], prior)


@examples(12)
@given(pairs(), st.data())
def test_sets_of_priors(case: tuple[Channel, Prior], data: st.DataObject) -> None:
    channel, prior = case
    other = data.draw(priors(len(prior)))
    sets = [
        PriorList([prior, other]),
        PriorBall(prior, "0.2"),
        PriorBox([p / 2 for p in prior], [min(Fraction(1), p + Fraction(1, 5)) for p in prior]),
    ]
    found = leakages(channel, priors=sets)
    names = ("bounded-prior-lip", "bounded-prior-lip 2", "bounded-prior-lip 3")
    for name, members in zip(names, sets, strict=True):
        worst = [by_definition(channel, Prior(vertex))["lip"] for vertex in members.vertices()]
        assert found[name].factor == (None if None in worst else max(worst))
        value = found[name].value
        table = members.to_table()
        if math.isfinite(value):
            assert md.BoundedPriorLIP(value, **table).holds(channel)
            assert value == 0 or not md.BoundedPriorLIP(value * (1 - 1e-9), **table).holds(channel)


@examples(15)
@given(processed())
def test_processing_the_report_raises_no_leakage(case: tuple[Channel, Channel, Prior]) -> None:
    before, after, prior = case
    members = PriorBall(prior, "0.1")
    old, new = (leakages(c, prior, priors=[members]) for c in (before, after))
    for a, b in zip(old.rows, new.rows, strict=True):
        assert a.notion == b.notion
        assert a.factor is None or (b.factor is not None and b.factor <= a.factor)
        assert b.value <= a.value
    assert new.bayes_accuracy <= old.bayes_accuracy
    assert (tightest_matrix(after) <= tightest_matrix(before) * (1 + 1e-14)).all()
    grid = [0, "0.5", 2]
    first, then = (privacy_profile(c, grid, prior) for c in (before, after))
    hair = Fraction(1, 2**140)
    for a, b in zip((*first.ldp, *first.lip), (*then.ldp, *then.lip), strict=True):
        assert b <= a + hair


def subsets(outputs: range) -> list[tuple[int, ...]]:
    return [s for n in range(len(outputs) + 1) for s in itertools.combinations(outputs, n)]


@examples(15)
@given(pairs(), st.sampled_from(["0", "0.3", "1", "2.5"]))
def test_deltas_over_all_sets_of_outputs(case: tuple[Channel, Prior], given_at: str) -> None:
    channel, prior = case
    epsilon = Fraction(given_at)
    k, m = channel.shape
    law = channel.output_distribution(prior)
    rows = [[channel.probability(x, y) for y in channel.outputs] for x in range(k)]
    curve = privacy_profile(channel, [epsilon], prior)

    def deltas(up: Fraction, down: Fraction) -> tuple[Fraction, Fraction]:
        ldp = lip = Fraction(0)
        for events in subsets(range(m)):
            given_x = [sum((row[y] for y in events), Fraction(0)) for row in rows]
            free = sum((law[y] for y in events), Fraction(0))
            ldp = max(ldp, max(given_x) - up * min(given_x))
            lip = max(lip, down * max(given_x) - free, free - up * min(given_x))
        return ldp, lip

    most = deltas(exp_lower(epsilon), exp_upper(-epsilon))
    least = deltas(exp_upper(epsilon), exp_lower(-epsilon))
    for delta, low, high in zip((curve.ldp[0], curve.lip[0]), least, most, strict=True):
        assert low <= delta <= high + Fraction(1, 2**140)


def test_deltas_of_a_large_channel_with_many_ties_are_not_understated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mechdesign.accounting.hypothesis_testing.MOST_EXACT", 1 << 12)
    grr = GeneralizedRandomizedResponse(20, 2).dense()
    p, q = grr.probability(0, 0), grr.probability(0, 1)
    curve = privacy_profile(grr, [1])
    truth = p - exp_upper(Fraction(1)) * q
    assert truth <= curve.ldp[0] <= truth + Fraction(1, 10**12)


def test_information_of_a_large_channel() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.dirichlet(np.ones(80), 60)
    prior = Prior.from_counts(rng.integers(0, 9, 60).tolist())
    channel = Channel.from_matrix(matrix)
    assert matrix.size > 2500
    truth = information(channel, prior)
    found = Decimal(information_above(channel.numerators, channel.denominator, prior))
    assert truth <= found <= truth + Decimal("1e-12")


def test_structured_mechanisms_agree_with_their_matrix() -> None:
    prior = Prior([0.1, 0.2, 0.3, 0.4, 0])
    mechanism = HadamardResponse(5, 1)
    rule, matrix = leakages(mechanism, prior), leakages(mechanism.dense(), prior)
    assert rule.rows == matrix.rows
    np.testing.assert_allclose(rule.matrix, matrix.matrix, rtol=1e-13)
    assert rule.bayes_accuracy == matrix.bayes_accuracy


def test_the_exact_law_of_a_mechanism_is_measured_and_not_its_rounded_matrix() -> None:
    for made in (OptimizedUnaryEncoding(3, 1), SubsetSelection(5, "0.7", size=2)):
        exact = [made.mass(0, made.listed()[n : n + 1]) for n in range(made.n_outputs)]
        assert exact != [made.dense().probability(0, y) for y in made.dense().outputs]
        assert leakages(made)["ldp"].factor == made.largest_ratio()


def test_of_a_large_structured_mechanism_its_own_notion_is_measured() -> None:
    large = HadamardResponse(5000, 1)
    found = leakages(large, Prior.uniform(5000))
    assert [(row.notion, row.value) for row in found.rows] == [("ldp", large.leakage)]
    assert found.matrix is None
    assert "dense()" in repr(found)


def test_table_and_plain_data() -> None:
    mangat = Channel.from_matrix([[1, 0], ["1/2", "1/2"]], inputs=["yes", "no"], outputs=["Y", "N"])
    found = leakages(mangat, Prior([0.2, 0.8]))
    text = repr(found)
    assert "input 'no' against 'yes'" in text
    assert "guessed right with probability 0.8, without the report 0.8" in text
    plain = json.loads(json.dumps(found.to_json(), allow_nan=False))
    by_name = {row["notion"]: row for row in plain["leakages"]}
    assert by_name["ldp"]["leakage"] == "inf"
    assert by_name["maximal-leakage"]["factor"] == "1.5"
    assert by_name["ldp"]["inputs"] == ["no", "yes"]
    assert plain["matrix"][1][0] == "inf"


def test_a_constant_channel_leaks_nothing_and_a_tiny_difference_is_seen() -> None:
    constant = Channel.from_matrix([["1/3", "2/3", 0]] * 60, outputs=["a", "b", "never"])
    found = leakages(constant, Prior.uniform(60))
    assert {row.value for row in found.rows} == {0}
    assert not tightest_matrix(constant).any()
    whole = 1 << 62
    near = Channel([[whole // 2, whole // 2], [whole // 2 + 1, whole // 2 - 1]])
    for found in (leakages(near)["ldp"].value, tightest_matrix(near).max()):
        assert found == pytest.approx(2.0**-61, rel=1e-12)


# --- capacity, against closed forms and the two-sided bound ---------------------------------------


def entropy(p: float) -> float:
    return -sum(v * math.log(v) for v in (p, 1 - p) if v)


HALVES = ["0.5", "0.5"]

CAPACITIES: dict[str, tuple[object, float]] = {
    "binary symmetric": ([["0.9", "0.1"], ["0.1", "0.9"]], math.log(2) - entropy(0.1)),
    "erasure": ([["0.7", 0, "0.3"], [0, "0.7", "0.3"]], 0.7 * math.log(2)),
    "Z": ([[1, 0], HALVES], math.log(1.25)),
    "nothing": ([HALVES] * 3, 0.0),
    "everything": (np.eye(4).tolist(), math.log(4)),
    "an input that is best left out": ([[1, 0], [0, 1], HALVES], math.log(2)),
    "an output that is never sent": ([[1, 0, 0], [0, 1, 0], [0, 1, 0]], math.log(2)),
    "one input": ([HALVES], 0.0),
    "typewriter": ((np.eye(4) + np.roll(np.eye(4), 1, axis=1)) / 2, math.log(2)),
}


@pytest.mark.parametrize("name", CAPACITIES)
def test_known_capacities_are_enclosed(name: str) -> None:
    matrix, value = CAPACITIES[name]
    found = capacity(Channel.from_matrix(matrix))
    assert found.low <= value + 1e-15
    assert found.high >= value - 1e-15
    assert 0 <= found.high - found.low <= 1e-12


@examples(15)
@given(channels(3))
def test_the_law_attains_the_capacity_and_no_law_more(channel: Channel) -> None:
    found = capacity(channel)
    information = md.MutualInformation().value(channel, found.prior)
    assert found.low <= float(information) + 1e-15
    assert information <= Fraction(found.high)
    for other in (Prior.uniform(3), Prior([0.5, 0.25, 0.25]), Prior([0.01, 0.01, 0.98])):
        assert md.MutualInformation().value(channel, other) <= Fraction(found.high)
    assert found.high - found.low <= 1e-12


# --- sensitive attributes behind the input --------------------------------------------------------

Case = tuple[list[list[Fraction]], Channel]
WARNER = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])


@st.composite
def joint_cases(draw: st.DrawFn) -> Case:
    """A joint law of two or three secrets and inputs, and a channel without zeros."""
    secrets, k = draw(st.integers(2, 3)), draw(st.integers(2, 3))
    flat = draw(simplex(secrets * k))
    joint = [flat[s * k : (s + 1) * k] for s in range(secrets)]
    assume(all(any(row) for row in joint))
    return joint, draw(channels(k, least=1, most_outputs=3))


@given(joint_cases())
@examples(15)
def test_the_leakage_is_that_of_the_channel_from_the_attribute_and_at_most_that_of_the_input(
    case: Case,
) -> None:
    """Its entries are Sum_x Pr(x|s) Q(y|x); no attribute correlated with X leaks more than X."""
    joint, channel = case
    found = sensitive_attribute_leakage(joint, channel)
    whole, prior = sensitive_attribute_channel(joint, channel)
    assert list(prior) == [sum(row) for row in joint]
    for s, row in enumerate(joint):
        for y in channel.outputs:
            exact = sum(p * channel.probability(x, y) for x, p in enumerate(row)) / sum(row)
            assert abs(whole.probability(s, y) - exact) < Fraction(1, 2**60)
    expected = leakages(whole, prior)
    for line in found.rows:
        assert line.value == pytest.approx(expected[line.notion].value, abs=1e-12)
    np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-13)
    own = leakages(channel, Prior([sum(entries) for entries in zip(*joint, strict=True)]))
    for row in found.rows:
        if row.notion != "differential-identifiability":  # which compares with another prior
            assert row.value <= own[row.notion].value + 1e-13


def test_a_secret_that_is_the_data_and_one_that_is_not() -> None:
    same = sensitive_attribute_leakage([["1/5", 0], [0, "4/5"]], WARNER)
    assert same["ldp"].factor == 3
    assert same["lip"].value == LIP(1).leakage(WARNER, Prior(["1/5", "4/5"]))
    apart = sensitive_attribute_leakage([["1/10", "3/10"], ["3/20", "9/20"]], WARNER)
    assert apart["ldp"].value == apart["lip"].value == apart["maximal-leakage"].value == 0
    known = sensitive_attribute_leakage([["1/2", 0], [0, "1/2"]], Channel.from_matrix(np.eye(2)))
    assert known["ldp"].value == known["min-lift"].value == math.inf
    assert known["max-lift"].factor == 2
