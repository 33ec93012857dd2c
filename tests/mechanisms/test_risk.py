"""The risk of every structured mechanism against its exact law, and the least that is known."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import LDP, LIP, BlockLDP, Domain, HighLowLDP, L2Risk, Prior, Problem, design
from mechdesign.mechanisms import (
    GeometricNoise,
    HadamardResponse,
    Mechanism,
    PlanarLaplace,
    SubsetSelection,
    mechanism_for,
)
from mechdesign.mechanisms.set_system import (
    best_high_low_size,
    best_size,
    least_block_risk,
    least_high_low_risk,
    least_ldp_risk,
)
from tests.kernel.laws.support import MADE
from tests.mechanisms_support import exact_table, high_low_hadamard, scores
from tests.strategies import examples


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
