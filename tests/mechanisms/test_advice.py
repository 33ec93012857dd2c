"""Advice on mechanisms and on blocks: numbers of the mechanisms themselves."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import (
    LDP,
    LIP,
    BlockLDP,
    Domain,
    HighLowLDP,
    L2Risk,
    Prior,
    Problem,
    design,
    estimate,
)
from mechdesign.mechanisms import (
    Advice,
    GeometricNoise,
    HadamardResponse,
    Mechanism,
    PlanarLaplace,
    SubsetSelection,
    advise,
    advise_blocks,
    mechanism_for,
)
from mechdesign.mechanisms.registry import LDP_MECHANISMS
from mechdesign.mechanisms.set_system import (
    best_high_low_size,
    best_size,
    least_block_risk,
    least_high_low_risk,
    least_ldp_risk,
)
from tests.kernel.laws.support import MADE
from tests.mechanisms_support import exact_table, high_low_hadamard, scores
from tests.refusals_support import check_refused
from tests.strategies import examples


@pytest.mark.parametrize(("k", "epsilon"), [(2, 1), (5, "0.01"), (100, 3), (3000, "1e-6"), (9, 30)])
def test_everything_is_that_of_the_mechanisms(k: int, epsilon: object) -> None:
    found, n = advise(k, epsilon, 400), 400
    assert {each.kind for each in found} == set(LDP_MECHANISMS)
    ratios = [round(each.risk_ratio, 9) for each in found]
    assert ratios == sorted(ratios)
    assert ratios[0] == pytest.approx(1, rel=1e-6)
    for each in found:
        made = LDP_MECHANISMS[each.kind](k, epsilon)
        assert each.risk_ratio == pytest.approx(made.risk / made.least_known_risk)
        assert each.count_error == pytest.approx(math.sqrt(n * made.risk / k))
        assert each.bits_per_report == made.bits_per_report
        assert each.best_guess == made.best_guess
        assert each.decoding_seconds > 0


@pytest.mark.parametrize("kind", LDP_MECHANISMS)
@pytest.mark.parametrize(("k", "epsilon"), [(2, 1), (5, "0.01"), (7, 3), (9, 8)])
def test_the_best_guess_is_that_of_every_report(kind: str, k: int, epsilon: object) -> None:
    made = LDP_MECHANISMS[kind](k, epsilon)
    right = sum(map(max, zip(*exact_table(made), strict=True))) / k
    assert made.best_guess == pytest.approx(float(right), rel=1e-13)
    assert right <= made.largest_ratio() / (made.largest_ratio() + k - 1)  # of all under LDP


def test_the_best_is_short_and_good() -> None:
    assert advise(22_000, 5, 10**6).best.kind == "projective-geometry-response"
    assert advise(1000, 1, 10**5).best.kind == "projective-geometry-response"
    assert advise(4, 3, 100).best.kind == "randomized-response"
    for k, epsilon in ((50, 1), (50, 4), (7, 2)):
        found = advise(k, epsilon, 1000)
        least = found.best.bits_per_report - 1e-6  # as equal lengths may differ by rounding
        shorter = [each for each in found if each.bits_per_report < least]
        assert all(each.risk_ratio > found.best.risk_ratio for each in shorter)


def test_orders() -> None:
    found = md.mechanisms.advise(500, 2, 10_000)
    assert isinstance(found, Advice)
    assert found.by("error") == list(found)
    bits = [each.bits_per_report for each in found.by("bits")]
    seconds = [each.decoding_seconds for each in found.by("time")]
    assert bits == sorted(bits)
    assert seconds == sorted(seconds)
    assert found.by("time")[0].kind == "randomized-response"
    assert found[0] == next(iter(found))
    assert len(found[:2]) == 2
    assert found.to_json()["best"] == found.best.kind
    check_refused("by: expected one of error, bits, time, given 'speed'", found.by, "speed")


CORNER = Prior.from_counts([1 + 30 * (r < 2 and c < 3) for r in range(4) for c in range(6)])


@pytest.mark.parametrize("prior", [None, CORNER])
@pytest.mark.parametrize("shape", [(4, 6), (2, 3), (1, 2)])
def test_reports_that_are_drawn_have_this_error(
    shape: tuple[int, int], prior: Prior | None
) -> None:
    domain, n, runs = Domain.grid(4, 6), 2_000, 40
    (found,) = advise_blocks(domain, 1, n, [shape], prior).options
    made = mechanism_for(found.kind, domain, found.notion)
    law = np.full(24, 1 / 24) if prior is None else prior.array
    rng = np.random.default_rng(5)
    errors = []
    for _ in range(runs):
        records = [domain.labels[x] for x in rng.choice(24, size=n, p=law)]
        values = estimate(made, made.privatize(records, rng)).values
        errors.append(np.abs(values - law).sum() / 2)
    spread = float(np.std(errors)) / math.sqrt(runs)
    assert spread < 0.05 * found.total_variation
    assert abs(np.mean(errors) - found.total_variation) < 4 * spread


def test_equal_variances_give_the_closed_form() -> None:
    """All v_x = risk / k, and randomized response is the optimum in pairs (Ye and Barg 2018)."""
    (found,) = advise_blocks(Domain.grid(4, 6), 1, 900, [(1, 2)]).options
    risk = least_block_risk([2] * 12, found.notion.epsilon)
    assert found.total_variation == pytest.approx(math.sqrt(24 * risk / (2 * math.pi * 900)))
    assert (found.n_blocks, found.largest, found.kind) == (12, 2, "randomized-response")


def test_the_error_falls_with_people_and_with_blocks() -> None:
    few, many = (advise_blocks(Domain.grid(12, 12), 1, n) for n in (1000, 100_000))
    for one, other in zip(few.options, many.options, strict=True):
        assert one.total_variation == pytest.approx(10 * other.total_variation)
    sizes = [each.largest for each in many.options]
    errors = [each.total_variation for each in many.options]
    assert sizes == sorted(set(sizes), reverse=True)
    assert errors == sorted(errors, reverse=True)
    assert sizes[0] == 144
    assert many.options[0].kind == advise(144, 1, 100_000).best.kind


def test_the_largest_blocks_within_an_error() -> None:
    found = advise_blocks(Domain.grid(6, 6), 1, 100_000)
    taken = found.within(0.05)
    assert taken.notion.block_shape == (3, 3)
    larger = [each for each in found.options if each.largest > taken.largest]
    assert larger
    assert all(each.total_variation > 0.05 for each in larger)
    assert found.within(1e-9) is None


def test_lists_of_blocks_on_any_domain() -> None:
    names = ["a", "b", "c", "d", "e"]
    found = advise_blocks(names, 2, 500, [[["a"], ["b", "c"], ["d", "e"]], [names]])
    assert [(each.n_blocks, each.largest) for each in found.options] == [(1, 5), (3, 2)]
    assert found.options[0].notion.blocks == (tuple(names),)
    assert "5       1" in repr(found)
    # all blocks of one input: the multinomial error of the records themselves
    (alone,) = advise_blocks(names, 2, 500, [[[name] for name in names]]).options
    expected = 5 * math.sqrt(2 * 0.2 * 0.8 / (math.pi * 500)) / 2
    assert alone.total_variation == pytest.approx(expected)


def test_a_grid_without_divisors_is_one_block() -> None:
    found = advise_blocks(Domain.grid(7, 11), 1, 10)
    assert [each.notion for each in found.options] == [BlockLDP(1, block_rows=7, block_columns=11)]


GRID = Domain.grid(4, 4)


@pytest.mark.parametrize(
    ("advice", "arguments", "words"),
    [
        (advise, (1, 1, 10), "k: expected a whole number from 2 to 1000000, given 1"),
        (advise, (2.5, 1, 10), "k: expected a whole number"),
        (advise, (10, 0, 10), "epsilon: expected a number from 1e-06 to 30"),
        (advise, (10, "x", 10), "epsilon"),
        (advise, (10, 1, 0), "n: expected a whole number from 1"),
        (advise, (10, 1, math.nan), "n: expected a whole number from 1"),
        (advise_blocks, (5, 1, 10), "divisions: expected a grid as the domain, or lists of blocks"),
        (advise_blocks, (5, 1, 10, []), "divisions: expected at least one, given none"),
        (advise_blocks, (5, 1, 10, [(1, 2)]), "block_rows: expected a grid as the domain"),
        (advise_blocks, (5, 1, 10, [[[0, 1], [2, 3]]]), "blocks: 4 is in no block"),
        (advise_blocks, (5, 1, 10, ["ab"]), "blocks: expected a list of lists"),
        (advise_blocks, (5, 1, 10, [3]), "blocks: expected a list of lists"),
        (advise_blocks, (GRID, 1, 10, [(3, 2)]), "block_rows: expected a divisor of the grid's 4"),
        (advise_blocks, (GRID, 0, 10), "epsilon: expected a number from 1e-06 to 30"),
        (advise_blocks, (GRID, 1, 0), "n: expected a whole number from 1"),
        (advise_blocks, (GRID, 1, math.nan), "n: expected a whole number from 1"),
        (advise_blocks, (1, 1, 10), "inputs: expected at least two inputs"),
    ],
)
def test_wrong_arguments_are_refused(advice: Any, arguments: tuple[Any, ...], words: str) -> None:
    check_refused(words, advice, *arguments)


# The risk of every structured mechanism against its exact law, and the least that is known.


def variances_of(mechanism: Mechanism, prior: Prior) -> np.ndarray:
    """Return n times the variance of each estimate, by all reports and their probabilities."""
    law = prior.array @ np.array([[float(q) for q in row] for row in exact_table(mechanism)])
    return np.asarray(scores(mechanism) ** 2 @ law - prior.array**2)


@pytest.mark.parametrize("name", MADE)
def test_variances_are_those_of_the_law(name: str) -> None:
    mechanism = MADE[name]
    k = len(mechanism.inputs)
    skew = Prior.from_counts([x * x for x in range(1, k + 1)])
    for prior in (skew, Prior.uniform(k)):
        expected = variances_of(mechanism, prior)
        assert np.allclose(mechanism.variances(prior), expected, rtol=1e-9, atol=1e-9)
    reference = getattr(mechanism, "prior", None) or Prior.uniform(k)
    assert mechanism.risk == pytest.approx(variances_of(mechanism, reference).sum(), rel=1e-9)


@pytest.mark.parametrize("name", MADE)
def test_nothing_is_better_than_the_best_known(name: str) -> None:
    mechanism = MADE[name]
    least, ratio = mechanism.least_known_risk, mechanism.risk_ratio
    if isinstance(mechanism.privacy, md.MetricPrivacy):
        assert least is ratio is None
        return
    assert ratio == pytest.approx(mechanism.risk / least)
    assert ratio >= 1 - 1e-12


@pytest.mark.parametrize(
    ("notion", "prior"),
    [
        (LDP(1), None),
        (LDP(3), None),
        (BlockLDP(2, [[0, 1, 2], [3, 4, 5, 6], [7]]), None),
        (HighLowLDP(1, [0, 2, 5]), None),
        (LIP(2), Prior(["0.125"] * 8)),
    ],
)
def test_the_least_known_risk_is_the_certified_optimum(
    notion: LDP | BlockLDP | HighLowLDP | LIP, prior: Prior | None
) -> None:
    kind = "lip-randomized-response" if prior else "subset-selection"
    solution = design(Problem(range(8), notion, L2Risk(), prior=prior))
    least = mechanism_for(kind, solution.problem.domain, notion, prior).least_known_risk
    assert solution.bound * (1 - 1e-6) <= least <= solution.bound * 1.003


@given(st.integers(2, 40), st.sampled_from(["0.1", "1", "2", "5", "20"]))
@examples(16)
def test_the_closed_form_is_the_risk_of_subset_selection(k: int, epsilon: str) -> None:
    budget = Fraction(epsilon)
    assert least_ldp_risk(k, budget) == pytest.approx(SubsetSelection(k, budget).risk, rel=1e-6)
    assert SubsetSelection(k, budget).size == best_size(k, budget)
    assert least_block_risk([k], budget) == pytest.approx(least_ldp_risk(k, budget))


@pytest.mark.parametrize(("k", "s"), [(4, 2), (8, 4), (20, 5), (9, 8)])
def test_the_closed_form_of_high_low_is_the_risk_of_its_best_size(k: int, s: int) -> None:
    notion = HighLowLDP(1, range(s))
    every = [
        mechanism_for("subset-selection", Domain.range(k), notion, size=j).risk for j in range(1, s)
    ]
    assert least_high_low_risk(k, s, Fraction(1)) == pytest.approx(min(every), rel=1e-9)
    assert best_high_low_size(k, s, Fraction(1)) == 1 + int(np.argmin(every))


def test_large_domains_know_their_risk() -> None:
    """The published count errors at epsilon = 5, 22,000 inputs, 1000 reports (Feldman et al. 2022).

    The small-epsilon Hadamard form: 1,028 by ((e**eps + 1) / (e**eps - 1))**2. The general form:
    theirs has 68.9 with a power of two for the blocks; 4 n / (e**eps - 1) * 2 = 54.3 is its least.
    """
    small, general = HadamardResponse(22_000, 5, copies=1), HadamardResponse(22_000, 5)
    assert small.risk / 22 == pytest.approx(1027.3, abs=0.5)
    assert 54.2 < general.risk / 22 < 55
    powers = [HadamardResponse(22_000, 5, copies=1 << n).risk / 22 for n in range(14)]
    assert general.risk / 22 <= 1.01 * min(powers)
    assert high_low_hadamard(22_000, 5, range(20_000)).risk_ratio < 2.5


def test_an_unidentifiable_distribution_has_no_risk() -> None:
    with pytest.raises(md.UnsupportedError, match="at most 2048 inputs"):
        _ = GeometricNoise(3000, 1).risk
    remapped = PlanarLaplace(Domain.grid(3, 3), 1).remapped(Prior.uniform(9))
    with pytest.raises(md.UnsupportedError, match="without a remap"):
        _ = remapped.risk
    assert remapped.risk_ratio is None
