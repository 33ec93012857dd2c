"""Wrong arguments of the functions of accounting are refused in one line that names them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign import (
    LDP,
    LIP,
    Channel,
    Domain,
    HammingLoss,
    Prior,
    PriorBall,
    Problem,
    accounting as acc,
)
from mechdesign.accounting.auditing import audit
from mechdesign.accounting.conversions import through_ldp
from mechdesign.errors import (
    InfeasibleError,
    InputError,
    MechdesignError,
    SolverError,
    UnsupportedError,
)
from mechdesign.mechanisms import HadamardResponse, LIPRandomizedResponse, SymmetricUnaryEncoding

WARNER = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
EVERYTHING = Channel.from_matrix(np.eye(2))
ALONE = Channel.from_matrix([[1]])
COIN = Prior.uniform(2)
SKEWED = Prior([0.01, 0.33, 0.33, 0.33])
THREE = Prior(["13/30", "10/30", "7/30"])
PEAKS = md.GaussianMixture([0.4, 0.6], [30, 60], [9, 15])
FIGURE_8 = acc.GaussianMechanism(md.GaussianMixture.normal(0, 5), [-10, 10], 10, truncated=False)
UNARY = SymmetricUnaryEncoding(3, 1)
QUESTION = Problem(range(4), LDP(1), HammingLoss())
FAR = Prior([f"{1 + x % 2}/3000" for x in range(2000)])
LARGE, HADAMARD = LIPRandomizedResponse(Domain.of(2000, "d"), 9, FAR), HadamardResponse(5, 1)
IDENTIFIABLE, BALL = md.DifferentialIdentifiability(1), PriorBall([1, 0, 0], 0)
WIDE = [Channel.from_matrix(np.random.default_rng(n).dirichlet(np.ones(60), 2)) for n in range(3)]

INVALID: list[tuple[Callable[[], Any], str]] = [
    # what a channel leaks
    (lambda: acc.leakages([[1, 0], [0, 1]]), "channel: expected a Channel"),
    (lambda: acc.leakages(WARNER, THREE), "prior: expected 2 probabilities"),
    (lambda: acc.leakages(WARNER, priors=[BALL]), r"priors\[0\]: expected 2 numbers"),
    (lambda: acc.leakages(WARNER)["lip"], "notion: expected one of ldp"),
    (lambda: acc.privacy_profile(WARNER, [0, -1]), r"epsilons\[1\]: expected a finite number >= 0"),
    (lambda: acc.privacy_profile(WARNER, [0], THREE), "prior: expected 2"),
    (lambda: acc.trade_off(WARNER, 5, 0), "x: expected labels of the domain"),
    *(
        (
            lambda rate=rate: acc.trade_off(WARNER, 0, 1).missed(rate),
            "alarm: expected a rate from 0 to",
        )
        for rate in (2, "-1/8", "often", "1/0", math.nan)
    ),
    (lambda: acc.error_region(1, -1), "back: expected a finite number >= 0"),
    *(
        (lambda joint=joint: acc.sensitive_attribute_leakage(joint, WARNER), match)
        for joint, match in (
            ([[1]], r"joint\[0\]: expected 2 numbers"),
            ([["0.4", 0], [0, "0.5"]], r"joint: expected numbers that sum to 1, given sum 0\.9"),
            ([["0.5", "0.5"], [0, 0]], r"joint\[1\]: expected a value of positive probability"),
        )
    ),
    # what notions and priors imply
    (lambda: acc.implied(LDP(1), "ldp"), "prior: expected a prior, or the inputs"),
    (lambda: acc.implied(LDP(1), "lipp", COIN), "did you mean 'lip'"),
    (
        lambda: acc.implied(LDP(1), "lip", domain=Domain.range(2)),
        "prior: lip is defined by a prior",
    ),
    (lambda: acc.relations(LDP(1), domain=Domain.range(2))["lip"], "target: expected one of"),
    (lambda: through_ldp(1, math.nan), "least"),
    (lambda: acc.prior_ball([1.5, 2], 0.1), r"counts\[0\]: expected a whole number >= 0"),
    (lambda: acc.prior_ball([0, 0], 0.1), "at least one count above 0"),
    *(
        (lambda b=b: acc.prior_ball([1, 2], b), "beta: expected a number in")
        for b in (0, 1, -0.5, "2")
    ),
    (lambda: acc.sample_radius(3, 0, 0.1), "samples: expected a whole number >= 1"),
    (lambda: acc.family_bound(COIN, [THREE]), "prior: expected 2 probabilities, as in the other"),
    (lambda: acc.family_bound(COIN, []), "family: expected at least one prior"),
    (
        lambda: acc.robust_problem(["a", "b"], [1, 2, 3], 1, HammingLoss()),
        "2 (probabilities|numbers)",
    ),
    # composition
    (lambda: acc.compose([]), "channels: expected at least one channel"),
    (lambda: acc.compose([WARNER, ALONE]), r"channels\[1\]: expected the inputs of the first"),
    (lambda: acc.compose([3]), r"channels\[0\]: expected a Channel, given 3;"),
    (lambda: acc.compose([WARNER], [0.2, 0.3, 0.5]), "prior: expected 2 probabilities"),
    (lambda: acc.compose([WARNER])["lap"], "expected one of ldp"),
    (lambda: acc.adaptive(WARNER, [WARNER]), "2 channels, one for each output"),
    (lambda: acc.compose_sequence([WARNER] * 2, COIN), "joint: expected 4 probabilities"),
    # shuffled and summed reports
    (lambda: acc.after_shuffling(4, 0, "1e-6"), "n: expected"),
    (lambda: acc.after_shuffling(4, 10, 0), "delta: expected"),
    (lambda: acc.after_shuffling(-1, 10, 0.1), "channel: expected"),
    (
        lambda: acc.after_shuffling(201, 10, 0.1),
        "channel: expected a number from 0 to 200, given 201",
    ),
    (
        lambda: acc.after_shuffling(None, 10, 0.1),
        "channel: expected a channel, a mechanism, or a loc",
    ),
    (lambda: acc.after_shuffling(ALONE, 10, 0.1), "channel: expected at least two inputs"),
    (lambda: acc.delta_after_shuffling(EVERYTHING, 2, 800), "epsilon: expected a number from 0"),
    (lambda: acc.after_aggregation(EVERYTHING, 10, "1e-6"), "mechanism"),
    (lambda: acc.after_aggregation(UNARY, 0, "1e-6"), "n: expected"),
    (lambda: acc.after_aggregation(UNARY, 10, 0), "delta: expected"),
    (lambda: acc.largest_local_budget(2000, "0.3", "1e-6", most="0.2"), "most"),
    (lambda: acc.design_for_shuffle([], 1000, 1, "1e-6"), "problem"),
    (lambda: acc.design_for_shuffle(QUESTION, 1000, 1, 2), "delta"),
    # continuous data
    (lambda: acc.DuchiMechanism(0), "epsilon"),
    (lambda: acc.PiecewiseMechanism(-1), "epsilon"),
    (lambda: acc.PiecewiseMechanism(1).loss(1.5), "x"),
    (lambda: md.GaussianMixture([1.5, -0.5], [0, 1], [1, 1]), "weights"),
    (lambda: md.GaussianMixture([1], [0, 1], [1]), "mixture"),
    (lambda: md.GaussianMixture([1], [math.nan], [1]), "means"),
    (lambda: md.GaussianMixture([1], [0], [0]), "deviations"),
    (lambda: acc.GaussianMechanism(PEAKS, [0, 0], 1), "edges"),
    (lambda: acc.GaussianMechanism(PEAKS, [5], 1), "edges"),
    (lambda: acc.GaussianMechanism(PEAKS, [0, math.inf], 1), "edges"),
    (lambda: acc.GaussianMechanism(PEAKS, [1e6, 2e6], 1), "edges"),
    (lambda: acc.GaussianMechanism(PEAKS, [0, 100], 0), "deviations"),
    (lambda: acc.GaussianMechanism(PEAKS, [0, 100], -1), "deviations"),
    (lambda: acc.GaussianMechanism(PEAKS, [0, 100], math.nan), "deviations"),
    (lambda: acc.GaussianMechanism(PEAKS, [0, 50, 100], [1]), "deviations"),
    (lambda: acc.GaussianMechanism(PEAKS, [0, 50, 100], [1, 2], truncated=False), "truncated"),
    (lambda: acc.GaussianMechanism("normal", [0, 100], 1), "law"),
    (lambda: FIGURE_8.delta(-1), "epsilon"),
    (lambda: FIGURE_8.delta(math.nan), "epsilon"),
    (lambda: FIGURE_8.delta(1000), "epsilon"),
    (lambda: FIGURE_8.delta(1, width=0), "width"),
    (lambda: FIGURE_8.delta_at(11, 1), "x"),
    (lambda: acc.least_deviation(PEAKS, [0, 100], 1, 1), "delta"),
    (lambda: acc.least_deviation(PEAKS, [0, 100], 1, 0), "delta"),
    (lambda: acc.analytic_gaussian_delta(1, 0, 1), "deviation"),
    (lambda: acc.analytic_gaussian_deviation(1, 2, 1), "delta"),
    (lambda: acc.LaplaceMechanism([0, 0], COIN, 1), "values"),
    (lambda: acc.LaplaceMechanism([0, math.inf], COIN, 1), "values"),
    (lambda: acc.LaplaceMechanism([0, 1], Prior([1, 0]), 1), "prior"),
    (lambda: acc.LaplaceMechanism([0, 1, 2], COIN, 1), "prior"),
    (lambda: acc.LaplaceMechanism([0, 1, 2], THREE, 0), "scales"),
    (lambda: acc.LaplaceMechanism([0, 1, 2], THREE, [1, 2]), "scales"),
    (lambda: acc.laplace_scale([0, 1, 2], THREE, 0), "epsilon"),
    (lambda: acc.least_laplace_scale([0, 1, 2], THREE, -1), "epsilon"),
    (lambda: acc.SamplingMechanism(1.1), "keep"),
    (lambda: acc.SamplingMechanism.best(-1, 0.1), "epsilon"),
    (lambda: acc.SamplingMechanism.best(1, 1.5), "delta"),
    (lambda: acc.SamplingMechanism(0.5).delta(1e4), "epsilon"),
    # audits
    (lambda: audit(WARNER, draws=10), "draws"),
    (lambda: audit(WARNER, confidence=1), "confidence"),
    (lambda: audit(WARNER, pairs=[3]), "pairs"),
    (lambda: audit(WARNER, epsilon=-1), "epsilon"),
    (lambda: audit(WARNER, [0]), "inputs"),
    (lambda: audit(WARNER, [[0], [1]]), "inputs"),
    (lambda: audit(WARNER, [0, 1], pairs=[(0, 1)]), "pairs"),
    (lambda: audit(WARNER, pairs=[(0, 0)]), "pairs"),
    (lambda: audit(WARNER, [0, 2]), r"records\[0\]"),
    (lambda: audit(lambda x, n: [x] * n), "inputs"),
    (lambda: audit(lambda x, n: [x] * (n - 1), [0, 1]), "sampler"),
    (lambda: audit(lambda x, n: x + n, [0, 1]), "sampler"),
    (lambda: audit(lambda x, n: [{"report": x}] * n, [0, 1]), "sampler"),
    (lambda: audit(lambda x, n: [x] * n, [0, 1], rng=1), "rng"),
    (lambda: audit("sampler", [0, 1]), "sampler"),
]

OTHERS: list[tuple[Callable[[], Any], str, type[MechdesignError]]] = [
    (lambda: acc.implied(IDENTIFIABLE, "ldp", SKEWED), "can hide it", InfeasibleError),
    (lambda: acc.implied(LIP(1), "ldp", Prior.uniform(100)), "1024 ratios", UnsupportedError),
    (lambda: acc.implied(LIP(30), "ldp", SKEWED), "take a smaller epsilon", SolverError),
    (  # 20.6 nats in floats, where the lower bound of 20 leaves no more than 20
        lambda: acc.implied(md.AsymmetricLift(20, "0.3"), "min-lift", Prior(["1/6", "1/3", "1/2"])),
        "take a smaller epsilon",
        SolverError,
    ),
    (lambda: acc.product(WIDE), "at most 200000 columns", UnsupportedError),
    (lambda: acc.after_shuffling(LARGE, 10, 0.1), "alike at every pair", UnsupportedError),
    (lambda: acc.after_aggregation(HADAMARD, 1, 0.1), "after_shuffling", UnsupportedError),
    (lambda: acc.least_reports(EVERYTHING, "1e-4", "1e-9"), "1000000000 reports", InfeasibleError),
    (
        lambda: acc.design_for_shuffle(QUESTION, 1, "1e-9", "1e-12", precision=6),
        "after shuffling",
        InfeasibleError,
    ),
    (lambda: acc.GaussianMechanism(PEAKS, [0, 1e6], 0.01).delta(1), "deviations", UnsupportedError),
]


@pytest.mark.parametrize(
    ("call", "match", "kind"), [*((*case, InputError) for case in INVALID), *OTHERS]
)
def test_wrong_arguments_are_refused(
    call: Callable[[], Any], match: str, kind: type[MechdesignError]
) -> None:
    with pytest.raises(kind, match=match) as caught:
        call()
    assert "\n" not in str(caught.value)
