"""Composition: exact against products written out, the papers' bounds, another package's deltas."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import LIP, BoundedPriorLIP, Channel, MutualInformation, Prior, Problem, design
from mechdesign.accounting import prior_mismatch, tightest_matrix
from mechdesign.accounting.composition import (
    Composition,
    adaptive,
    compose,
    compose_sequence,
    product,
)
from mechdesign.accounting.conversions import (
    added,
    lip_composition_bound,
    lip_to_ldp,
    posterior_ratio,
    through_ldp,
)
from mechdesign.accounting.hypothesis_testing import privacy_profile
from mechdesign.accounting.ratios import pair_ratios
from mechdesign.prior_sets import PriorBall, PriorBox
from tests.strategies import channels, examples, priors

WARNER = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
SKEWED = Prior([0.1, 0.1, 0.1, 0.7])
BUDGETS = (("0.25", "0.25", "0.25", "0.25"), SKEWED, ("0.01", "0.33", "0.33", "0.33"))


def written_out(listed: list[Channel]) -> list[list[Fraction]]:
    """All columns of the product, one for each sequence of outputs."""
    each = [
        [[Fraction(q, channel.denominator) for q in column] for column in channel.columns()]
        for channel in listed
    ]
    return [
        [math.prod(entries) for entries in zip(*columns, strict=True)]
        for columns in itertools.product(*each)
    ]


def lips(columns: list[list[Fraction]], prior: Prior) -> tuple[float, float]:
    """The largest log lift and the largest log inverse lift, by the definition."""
    above = below = Fraction(1)
    for column in columns:
        law = sum(p * q for p, q in zip(prior, column, strict=True))
        if not any(column):
            continue
        if min(column) == 0:
            below = None if law else below
        elif below is not None:
            below = max(below, law / min(column))
        above = None if above is None or (law == 0 < max(column)) else max(above, max(column) / law)
    return tuple(math.inf if value is None else math.log(value) for value in (above, below))


def best(prior: object, epsilon: int = 2) -> Channel:
    """An informative LIP channel on four inputs."""
    problem = Problem(range(4), LIP(epsilon), MutualInformation(), prior=prior)
    return design(problem).channel


@given(st.data())
@examples(20)
def test_products_written_out_leak_the_same(data: st.DataObject) -> None:
    k = data.draw(st.integers(2, 4))
    listed = [data.draw(channels(k, most_outputs=3)) for _ in range(data.draw(st.integers(1, 3)))]
    prior = data.draw(priors(k))  # inputs of prior 0 are protected like any other
    columns = written_out(listed)
    found = compose(listed, prior)
    above, below = lips(columns, prior)
    assert found["max-lift"].exact == pytest.approx(above, rel=1e-12, abs=1e-14)
    assert found["min-lift"].exact == pytest.approx(below, rel=1e-12, abs=1e-14)
    assert found["lip"].exact == max(found["max-lift"].exact, found["min-lift"].exact)
    np.testing.assert_allclose(found.matrix, tightest_matrix(product(listed)), rtol=1e-13)
    for x, z in itertools.permutations(range(k), 2):
        ways = [None if c[z] == 0 else c[x] / c[z] for c in columns if c[x]]
        assert found.ratios[x][z] == (None if None in ways else max(ways))
    for line in found.rows:
        assert line.exact <= line.bound * (1 + 1e-12)


def test_a_set_of_priors_is_judged_by_its_worst() -> None:
    channel = best(SKEWED)
    box = PriorBox([0.05, 0.05, 0.05, 0.5], [0.3, 0.3, 0.3, 0.8])
    found = compose([channel] * 3, box)
    each = [compose([channel] * 3, Prior(vertex))["lip"].exact for vertex in box.vertices()]
    assert found["bounded-prior-lip"].exact == pytest.approx(max(each), rel=1e-14)
    assert found["bounded-prior-lip"].exact <= found["bounded-prior-lip"].bound
    assert "differential-identifiability" not in [line.notion for line in found.rows]
    notion = BoundedPriorLIP(1, center=SKEWED, radius="0.05")
    ball = compose([channel] * 2, PriorBall(SKEWED, "0.05"))
    exact = notion.leakage(product([channel] * 2))
    assert ball["bounded-prior-lip"].exact == pytest.approx(exact, rel=1e-14)


def test_a_failing_solver_leaves_a_looser_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_given: object) -> None:
        raise RuntimeError("no")

    box = PriorBox(["0.1", "0.1"], ["0.9", "0.9"])
    usual = compose([WARNER], box)["bounded-prior-lip"]
    monkeypatch.setattr("mechdesign.accounting.conversions.linprog", broken)
    found = compose([WARNER], box)["bounded-prior-lip"]
    assert found.exact == usual.exact <= usual.bound < found.bound
    for wrong in (0.0, -1.0):  # numbers that are no mixture
        monkeypatch.setattr(
            "mechdesign.accounting.conversions.linprog",
            lambda goal, *_given, wrong=wrong: SimpleNamespace(x=np.full(len(goal), wrong)),
        )
        assert compose([WARNER], box)["bounded-prior-lip"] == found


# --- adaptive, and correlated -----------------------------------------------------------------


@given(st.data())
@examples(12)
def test_adaptive_releases_add_their_matrices(data: st.DataObject) -> None:
    """E of the pair is at most E of the first plus the largest E of the second, pair by pair."""
    k = data.draw(st.integers(2, 3))
    first = data.draw(channels(k, least=1, most_outputs=3))
    seconds = [data.draw(channels(k, least=1, most_outputs=3)) for _ in first.outputs]
    both = adaptive(first, seconds)
    for x, z in itertools.permutations(range(k), 2):
        own = pair_ratios(first.numerators.tolist())[x][z]
        worst = max(pair_ratios(second.numerators.tolist())[x][z] for second in seconds)
        assert pair_ratios(both.numerators.tolist())[x][z] <= own * worst
    entry = both.probability(both.inputs.labels[0], 0)
    assert entry == first.probability(0, 0) * seconds[0].probability(0, 0)


def test_a_correlated_sequence_is_one_secret() -> None:
    """Against the joint law of all sequences and reports, summed by hand."""
    first = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    second = Channel.from_matrix([["1/2", "1/2"], ["3/10", "7/10"], ["2/5", "3/5"]])
    joint = [Fraction(n, 20) for n in (6, 3, 1, 1, 4, 5)]
    found = compose_sequence([first, second], joint)
    worst = 0.0
    for y, w in itertools.product(range(2), repeat=2):
        entries = [
            first.probability(a, y) * second.probability(b, w) for a in range(2) for b in range(3)
        ]
        law = sum(p * q for p, q in zip(joint, entries, strict=True))
        worst = max(worst, *(abs(math.log(q / law)) for q in entries))
    assert found["lip"].exact == pytest.approx(worst, rel=1e-13)
    assert found["lip"].source == "Corollary 5"
    assert found["lip"].exact <= found["lip"].bound


@given(st.data())
@examples(15)
def test_independent_parts_of_a_sequence_add_up(data: st.DataObject) -> None:
    """With independent parts the log lifts of a sequence are sums, so both sides add up."""
    parts = [data.draw(channels(2, least=1, most_outputs=3)) for _ in range(2)]
    marginals = [data.draw(priors(2, least=1)) for _ in range(2)]
    joint = [a * b for a in marginals[0] for b in marginals[1]]
    found = compose_sequence(parts, joint)
    alone = [compose([c], p) for c, p in zip(parts, marginals, strict=True)]
    for side in ("max-lift", "min-lift"):
        expected = sum(one[side].exact for one in alone)
        assert found[side].exact == pytest.approx(expected, rel=1e-12, abs=1e-14)


# --- repr and errors ----------------------------------------------------------------------------


def test_the_table_and_the_lines() -> None:
    found = compose([WARNER] * 2, [0.5, 0.5])
    assert isinstance(found, Composition)
    assert "3 of 4 outputs compared" in repr(found)
    assert found["ldp"].exact == pytest.approx(2 * math.log(3))
    assert compose([WARNER] * 2).rows == (found["ldp"],)
    assert repr(compose([WARNER] * 2)).startswith("Composition(2 releases, 2 inputs)\n")


def test_ten_releases_on_four_inputs() -> None:
    """The product of ten has 4**10 outputs; merging leaves C(13, 3), exactly."""
    listed = [best(SKEWED)] * 10
    found, whole = compose(listed, SKEWED), product(listed)
    assert whole.shape == (4, math.comb(13, 3)) == (4, found.columns)
    assert found.outputs == 4**10
    assert sum(whole.numerators[0].tolist()) == whole.denominator
    own = compose(listed[:1], SKEWED)["lip"].exact
    bound = lip_composition_bound([own] * 10, SKEWED.minimum)
    assert found["lip"].exact <= found["lip"].bound == pytest.approx(bound)


def test_an_adversary_who_adapts_attains_the_sum() -> None:
    """A second question that depends on the first answer attains the sum of the matrices."""
    ask = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"], ["1/4", "3/4"]])
    against = Channel.from_matrix([["3/4", "1/4"], ["3/4", "1/4"], ["1/4", "3/4"]])
    ratios = pair_ratios(adaptive(ask, [ask, against]).numerators.tolist())
    # by two answers "1st" of the same question, by the other question, and by either
    assert (ratios[0][1], ratios[1][2], ratios[2][0]) == (9, 3, 9)


def test_what_leaks_without_bound_and_one_input() -> None:
    """The identity has a finite max-lift, unless an input of prior 0 has its own output."""
    told = Channel.from_matrix([[1, 0], [0, 1]])
    found = compose([told] * 2, [0.5, 0.5])
    assert found["max-lift"].exact == pytest.approx(math.log(2))
    for word in ("ldp", "min-lift", "lip", "differential-identifiability"):
        assert found[word].exact == found[word].bound == math.inf
    assert compose([told], [0, 1])["max-lift"].exact == math.inf
    mangat = Channel.from_matrix([["1", "0"], ["1/2", "1/2"]])
    sequence = compose_sequence([mangat, WARNER], ["1/4"] * 4)["lip"]
    assert sequence.exact == sequence.bound == math.inf
    alone = Channel.from_matrix([["1/2", "1/2"]])
    assert compose([alone, alone], Prior([1]))["lip"].exact == 0


# --- formulas, in eighty digits -------------------------------------------------------------------

AMOUNTS = st.one_of(st.just(0.0), st.floats(1e-9, 40), st.floats(-9, 2).map(lambda e: 10.0**e))
LEAST = st.one_of(
    st.floats(1e-6, 1, exclude_max=True), st.floats(-15, -1).map(lambda e: 1 - 10.0**e)
)


def decimal(value: float | Fraction) -> Decimal:
    exact = Fraction(repr(value)) if isinstance(value, float) else value
    return Decimal(exact.numerator) / Decimal(exact.denominator)


def check_above(found: float, truth: Decimal) -> None:
    """A bound is at least the exact value, and at most two floats above it."""
    assert Decimal(found) >= truth - Decimal("1e-60")
    assert Decimal(math.nextafter(math.nextafter(found, 0.0), 0.0)) <= truth + Decimal("1e-44")


@given(AMOUNTS, LEAST)
@examples(80)
def test_each_formula_is_rounded_up(epsilon: float, least: float) -> None:
    """Near P_min = 1 a formula in floats has lost all digits."""
    with localcontext(prec=80):
        e, p = decimal(epsilon), decimal(least)
        ratio = ((e.exp() - 1 + p) / p).ln()
        check_above(through_ldp(epsilon, least), (p + e.exp() * (1 - p)).ln())
        check_above(posterior_ratio(epsilon, least), ratio)
        check_above(lip_to_ldp(epsilon, least), min(2 * e, ratio))
        composed = Decimal(lip_composition_bound([epsilon] * 3, least))
        truth = (p + (3 * min(2 * e, ratio)).exp() * (1 - p)).ln()
        assert truth - Decimal("1e-60") <= composed
        assert composed <= truth * (1 + Decimal("1e-14")) + Decimal("1e-44")


def test_budgets_without_end_sets_and_priors_of_one_input() -> None:
    assert through_ldp(math.inf, 0.5) == lip_to_ldp(math.inf, 0.5) == math.inf
    assert lip_composition_bound([1, math.inf], 0.5) == math.inf
    assert through_ldp(math.inf, 1) == lip_composition_bound([math.inf], 1) == 0
    assert posterior_ratio(math.inf, 0.5) == posterior_ratio(1, 0) == math.inf
    assert lip_composition_bound([], 0.5) == 0
    with_sets = lip_composition_bound([1.0, 2.0], 0.1, 0.3)
    direct = sum(min(2 * e, math.log((math.exp(e) - 0.7) / 0.3)) for e in (1.0, 2.0))
    assert with_sets == pytest.approx(math.log(0.1 + 0.9 * math.exp(direct)))


@given(st.integers(2, 4), st.data())
@examples(12)
def test_no_bound_is_below_what_it_bounds(k: int, data: st.DataObject) -> None:
    """Warner's channel with the uniform prior, and channels near it, attain their bounds."""
    counts = data.draw(st.lists(st.integers(1, 9), min_size=k, max_size=k))
    own = data.draw(st.integers(1, 40))
    rows = [[Fraction(own if x == y else 1, own + k - 1) for y in range(k)] for x in range(k)]
    channel, prior = Channel.from_matrix(rows), Prior.from_counts(counts)
    for row in compose([channel] * data.draw(st.integers(1, 3)), prior).rows:
        assert row.exact <= row.bound
    found = prior_mismatch(channel, Prior.uniform(k), prior)
    assert found.true <= found.bound


@pytest.mark.parametrize("epsilon", [700, 709, 710, 1000, 5000])
def test_profiles_at_budgets_whose_exponentials_are_no_floats(epsilon: int) -> None:
    """A report of a single input has an infinite ratio: delta is its probability, or half of it."""
    channel = Channel.from_matrix([["1/4", "3/4"], [0, 1]])
    found = privacy_profile(channel, [epsilon], Prior(["1/2", "1/2"]))
    assert found.ldp == (Fraction(1, 4),)
    assert found.lip == (Fraction(1, 8),)
    assert privacy_profile(product([channel, channel]), [epsilon]).ldp[0] == 7 / 16


@given(st.lists(st.floats(0, 40), max_size=5))
@examples(50)
def test_bounds_are_added_as_the_floats_that_they_are(parts: list[float]) -> None:
    """The shortest decimal of a float rounded up may be below the bounded value."""
    assert added(parts) == sum((Fraction(*part.as_integer_ratio()) for part in parts), Fraction(0))
    assert added([*parts, math.inf]) == math.inf
