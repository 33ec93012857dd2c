"""Composition: exact against products written out, the papers' bounds, another package's deltas."""

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
    BoundedPriorLIP,
    Channel,
    ContextAwareLDP,
    MutualInformation,
    Prior,
    Problem,
    design,
)
from mechdesign.accounting.composition.composition import Composition, compose, compose_sequence
from mechdesign.accounting.composition.deltas import approximate_delta
from mechdesign.accounting.composition.products import (
    adaptive,
    product,
)
from mechdesign.accounting.conversions.formulas import (
    lip_composition_bound,
    lip_to_ldp,
    through_ldp,
)
from mechdesign.accounting.measure.max_ratio import pair_ratios
from mechdesign.accounting.measure.privacy_profile import privacy_profile
from mechdesign.errors import InputError
from mechdesign.notions import DifferentialIdentifiability
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
@examples(40)
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
    for x, z in itertools.permutations(range(k), 2):
        ways = [None if c[z] == 0 else c[x] / c[z] for c in columns if c[x]]
        assert found.ratios[x][z] == (None if None in ways else max(ways))
    for line in found.rows:
        assert line.exact <= line.bound * (1 + 1e-12)


@given(st.data())
@examples(25)
def test_the_merged_product_is_the_product(data: st.DataObject) -> None:
    k = data.draw(st.integers(2, 3))
    listed = [data.draw(channels(k, most_outputs=3)) for _ in range(2)]
    whole = product(listed)
    assert whole.bits == sum(channel.bits for channel in listed)
    total: dict[tuple[Fraction, ...], Fraction] = {}
    for column in written_out(listed):
        if any(column):
            shape = tuple(q / sum(column) for q in column)
            total[shape] = total.get(shape, Fraction(0)) + sum(column)
    kept = [[Fraction(q, whole.denominator) for q in column] for column in whole.columns()]
    assert {tuple(q / sum(c) for q in c): sum(c) for c in kept} == total


@pytest.mark.parametrize("prior", BUDGETS)
def test_ten_releases_on_four_inputs(prior: object) -> None:
    """The product of ten has 4**10 outputs; merging leaves C(13, 3), exactly."""
    channel = best(prior)
    assumed = prior if isinstance(prior, Prior) else Prior(prior)
    for n in (1, 2, 4):
        above, below = lips(written_out([channel] * n), assumed)
        found = compose([channel] * n, assumed)
        assert found["max-lift"].exact == pytest.approx(above, rel=1e-12)
        assert found["min-lift"].exact == pytest.approx(below, rel=1e-12)
    found = compose([channel] * 10, assumed)
    whole = product([channel] * 10)
    assert whole.shape == (4, math.comb(13, 3))
    assert found.outputs == 4**10
    assert found.columns == 286
    assert found["lip"].exact == pytest.approx(LIP(1).leakage(whole, assumed), rel=1e-14)
    assert found["max-lift"].exact == pytest.approx(PML(1).leakage(whole, assumed), rel=1e-14)
    assert found["ldp"].exact == pytest.approx(LDP(1).leakage(whole), rel=1e-14)
    di = DifferentialIdentifiability(30).leakage(whole, assumed)
    assert found["differential-identifiability"].exact == pytest.approx(di, rel=1e-12)
    assert found["lip"].exact <= found["lip"].bound
    assert found["lip"].bound == pytest.approx(
        lip_composition_bound(
            [compose([channel], assumed)["lip"].exact] * 10, float(assumed.minimum)
        )
    )


def test_the_composed_guarantee_holds_and_is_the_least() -> None:
    channel, n = best(SKEWED), 3
    whole, found = product([channel] * n), compose([channel] * n, SKEWED)
    for notion, word in ((LIP, "lip"), (LDP, "ldp"), (PML, "max-lift")):
        epsilon = found[word].exact
        assert notion(epsilon).holds(whole, SKEWED)
        assert not notion(epsilon * (1 - 1e-9)).holds(whole, SKEWED)
    matrix = np.array(found.matrix)
    assert ContextAwareLDP(matrix.tolist()).holds(whole)
    matrix[0, 1] *= 1 - 1e-9
    assert not ContextAwareLDP(matrix.tolist()).holds(whole)


def test_theorem_4_in_numbers_and_where_it_leads() -> None:
    """Compare with the formula; a smaller P_min gives a larger bound."""
    for least in (0.25, 0.1, 0.01):
        each = min(4.0, math.log((math.exp(2) - 1 + least) / least))
        direct = math.log(least + math.exp(10 * each) * (1 - least))
        assert lip_composition_bound([2.0] * 10, least) == pytest.approx(direct, rel=1e-14)
    bounds = [lip_composition_bound([2.0] * 10, least) for least in (0.25, 0.1, 0.01)]
    assert bounds == sorted(bounds)
    assert lip_composition_bound([400.0] * 10, 0.5) == pytest.approx(
        10 * (400 + math.log(2)) - math.log(2)
    )
    assert through_ldp(3.0, 1.0) == 0
    assert lip_to_ldp(1.0, 0.0) == 2
    with_sets = lip_composition_bound([1.0, 2.0], 0.1, 0.3)
    direct = sum(min(2 * e, math.log((math.exp(e) - 0.7) / 0.3)) for e in (1.0, 2.0))
    assert with_sets == pytest.approx(math.log(0.1 + 0.9 * math.exp(direct)))


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


# --- adaptive, and correlated -----------------------------------------------------------------


@given(st.data())
@examples(25)
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


def test_an_adversary_who_adapts_attains_the_sum() -> None:
    """A second question that depends on the first answer attains the sum of the matrices."""
    ask = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"], ["1/4", "3/4"]])
    against = Channel.from_matrix([["3/4", "1/4"], ["3/4", "1/4"], ["1/4", "3/4"]])
    both = adaptive(ask, [ask, against])
    assert (
        pair_ratios(both.numerators.tolist())[0][1] == 9
    )  # by two answers "1st" of the same question
    assert pair_ratios(both.numerators.tolist())[1][2] == 3
    assert pair_ratios(both.numerators.tolist())[2][0] == 9  # by the other question
    assert LDP(math.log(9) + 1e-12).holds(both)
    assert not LDP(math.log(9) - 1e-9).holds(both)
    with pytest.raises(InputError, match="2 channels, one for each output"):
        adaptive(ask, [ask])


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


def test_corollary_5_does_not_care_about_the_order() -> None:
    one, two = best(SKEWED), best(Prior.uniform(4))
    marginals = [SKEWED, Prior.uniform(4)]
    joint = [a * b for a in marginals[0] for b in marginals[1]]
    turned = [a * b for b in marginals[1] for a in marginals[0]]
    left, right = compose_sequence([one, two], joint), compose_sequence([two, one], turned)
    for mine, other in zip(left.rows, right.rows, strict=True):
        assert mine.exact == other.exact
        assert mine.bound == pytest.approx(other.bound, rel=1e-14)
    with pytest.raises(InputError, match="joint: expected 16 probabilities"):
        compose_sequence([one, two], SKEWED)


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


# --- delta --------------------------------------------------------------------------------------


def test_the_exact_delta_of_a_product() -> None:
    listed = [best(SKEWED, 1), best(SKEWED, 1), WARNER_4]
    for epsilon in (0.0, 0.5, 1.7):
        rows = np.array(written_out(listed), dtype=float).T
        worst = max(np.maximum(0, a - math.exp(epsilon) * b).sum() for a in rows for b in rows)
        assert privacy_profile(product(listed), [epsilon]).ldp[0] == pytest.approx(worst, rel=1e-12)
    assert privacy_profile(product(listed), ["8"]).ldp[0] == 0


WARNER_4 = Channel.from_matrix(
    [["7/10" if x == y else "1/10" for y in range(4)] for x in range(4)], inputs=range(4)
)


MANGAT = Channel.from_matrix([["1", "0"], ["1/2", "1/2"]])
RARE = Channel.from_matrix([["999999/1000000", "1/1000000"], ["1/2", "1/2"]])
CONSTANT = Channel.from_matrix([["1/3", "2/3"], ["1/3", "2/3"]])


@pytest.mark.parametrize(
    "listed",
    [
        [WARNER_4] * 2,
        [WARNER_4] * 6,
        [best(SKEWED, 1), WARNER_4, WARNER_4],
        [CONSTANT, MANGAT, RARE],
        *([channel] * n for channel in (MANGAT, RARE, CONSTANT) for n in (1, 2, 7)),
    ],
)
def test_bounds_on_delta_hold_the_exact_one(listed: list[Channel]) -> None:
    """The bounds differ as if epsilon were uncertain by one step for each release."""
    together, step = product(listed), Fraction(1, 1000)
    for epsilon in map(Fraction, ("0", "1/100", "1/4", "1", "5/2", "10", "40")):
        below, above = approximate_delta(listed, epsilon, interval=step)
        far = len(listed) * step * Fraction(101, 100)
        exact, least = privacy_profile(together, [epsilon, epsilon + far]).ldp
        assert least * (1 - Fraction(1, 10**6)) - Fraction(1, 10**12) <= below <= exact <= above
        if epsilon > far:
            most = privacy_profile(together, [epsilon - far]).ldp[0]
            assert above <= most * (1 + Fraction(1, 10**6)) + Fraction(1, 10**12)


# --- repr and errors ----------------------------------------------------------------------------


def test_the_table_and_the_lines() -> None:
    found = compose([WARNER] * 2, [0.5, 0.5])
    assert isinstance(found, Composition)
    assert "3 of 4 outputs compared" in repr(found)
    assert found["ldp"].exact == pytest.approx(2 * math.log(3))
    assert compose([WARNER] * 2).rows == (found["ldp"],)
    with pytest.raises(InputError, match="one of ldp, differential"):
        found["lap"]


def test_what_leaks_without_bound() -> None:
    """The identity has a finite max-lift, unless an input of prior 0 has its own output."""
    told = Channel.from_matrix([[1, 0], [0, 1]])
    found = compose([told] * 2, [0.5, 0.5])
    assert found["max-lift"].exact == pytest.approx(math.log(2))
    for word in ("ldp", "min-lift", "lip", "differential-identifiability"):
        assert found[word].exact == found[word].bound == math.inf
    assert compose([told], [0, 1])["max-lift"].exact == math.inf
    assert LIP(1).leakage(told, Prior([0, 1])) == math.inf
    assert privacy_profile(product([told]), [5]).ldp[0] == 1


def test_one_input_leaks_nothing() -> None:
    alone = Channel.from_matrix([["1/2", "1/2"]])
    assert privacy_profile(product([alone, alone]), [0]).ldp[0] == 0
    assert approximate_delta([alone, alone], 0) == (0.0, 0.0)
    assert compose([alone, alone], Prior([1]))["lip"].exact == 0


def test_a_sequence_with_a_report_that_excludes_an_input_leaks_without_bound() -> None:
    excludes = Channel.from_matrix([["1", "0"], ["1/2", "1/2"]])
    warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    found = compose_sequence([excludes, warner], ["1/4"] * 4)["lip"]
    assert (found.exact, found.bound) == (math.inf, math.inf)
