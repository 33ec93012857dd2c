"""Wrong arguments of estimates are refused in one line."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechdesign import Channel, InputError, Prior, UnsupportedError
from mechdesign.estimation import (
    METHODS,
    estimate,
    estimate_groups,
    mean,
    posterior_mean,
    survey,
    weighted_sum,
)
from mechdesign.estimation.report_models import MOST_ENTRIES
from mechdesign.mechanisms import (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    OptimizedUnaryEncoding,
    SubsetSelection,
)
from mechdesign.reports import Tally
from tests.mechanisms_support import block_hadamard, high_low_hadamard
from tests.refusals_support import check_refused

WARNER = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
SPARE = Channel.from_matrix([["3/4", "1/4", 0], ["1/4", "3/4", 0]])
THREE = Channel.from_matrix([[".6", ".3", ".1"], [".2", ".5", ".3"], [".1", ".1", ".8"]])
LEFT = Channel.from_matrix([["0.8", "0.2"], ["0.3", "0.7"], ["0.3", "0.7"]])
SURE = Channel.from_matrix([[1, 0], [Fraction(1, 2), Fraction(1, 2)]])
HADAMARD, LARGE = HadamardResponse(3, 1), HadamardResponse(MOST_ENTRIES // 100, 1)
RESPONSE = GeneralizedRandomizedResponse(4, 2)
SOME, HALVES = Tally.of([6, 4]), Prior([0.5, 0.5])
LIKELIEST: Any = {"method": "maximum-likelihood"}

COUNTS: list[tuple[Any, str]] = [
    ([0, 0], "at least one report"),
    ([1, 2, 3], "2 whole numbers"),
    ([1, -2], "2 whole numbers"),
    ([1, math.inf], "2 whole numbers"),
    ([1, math.nan], "2 whole numbers"),
    ([1, 1e300], r"a sum below 2\*\*62"),
    ([2**63 - 1, 2**63 - 1], r"a sum below 2\*\*62"),
    (np.array([2**64 - 1, 2], dtype=np.uint64), r"a sum below 2\*\*62"),
]
OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"method": "unbaised"}, "did you mean 'unbiased'"),
    ({"target": "people"}, "population, respondents"),
    ({"prior": Prior.uniform(3)}, "2 probabilities, one for each input"),
    ({"prior": [0.5, 0.6]}, "prior: expected numbers that sum to 1"),
    *(({**LIKELIEST, "tolerance": wrong}, "nats per report") for wrong in (0, -1, "small", True)),
]
GROUPS: list[tuple[Any, dict[str, Any], str]] = [
    ([], {}, "a list of pairs"),
    ([LEFT], {}, "pairs"),
    ([(LEFT, SOME), (Channel.from_matrix(np.eye(2)), SOME)], {}, r"groups\[1\]"),
    ([(LEFT, SOME), (LEFT, Tally.of([0, 0]))], {}, r"groups\[1\]: reports: .* at least one report"),
    ([(LEFT, SOME)], {"method": "best"}, "method: expected one of unbiased"),
    ([(LEFT, SOME)], {"target": "all"}, "target"),
    ([(LEFT, SOME)] * 2, {**LIKELIEST, "target": "respondents"}, "'population' for maximum"),
]
MEANS: list[tuple[dict[str, Any], str]] = [
    ({"prior": [0.5, 0.6]}, "prior: expected numbers that sum to 1"),
    ({"prior": Prior.uniform(3)}, "2 probabilities, one for each input"),
    ({}, "which are labels"),
    ({"values": [1]}, "2 numbers"),
    ({"values": [1, 0], "histogram": True}, "not both"),
    ({"histogram": 1}, "true or false"),
]
QUANTILES: list[tuple[tuple[Any, ...], str]] = [
    ((0,), "q: expected"),
    ((1.0,), "q: expected"),
    ((0.5, 1), "confidence"),
    (("x",), "'x'"),
]

INVALID: list[tuple[Callable[[], Any], str]] = [
    *((lambda counts=counts: estimate(WARNER, counts=counts), match) for counts, match in COUNTS),
    *((lambda asked=asked: estimate(WARNER, [0, 1], **asked), match) for asked, match in OPTIONS),
    (lambda: estimate(WARNER, Tally(np.array([1, 2]), 4)), "4 reports counted, given 3"),
    (lambda: estimate(WARNER, THREE.privatize([0, 1], rng=1)), "reports of this mechanism"),
    (lambda: estimate([[1, 0], [0, 1]], [0, 1]), "a Channel or a Mechanism"),
    (lambda: estimate(HADAMARD, counts=[1, 2, 3, 4]), "none for a Mechanism"),
    *(
        (lambda name=name: estimate(SPARE, counts=[6, 4, 1], method=name), "can send, given 2")
        for name in METHODS
    ),
    (lambda: estimate(SURE, counts=[6, 4], prior=Prior([1, 0])), "smooth it"),
    (lambda: estimate(WARNER, counts=[1, 39]).interval(1.0), "confidence"),
    # groups
    *((lambda g=g, asked=asked: estimate_groups(g, **asked), match) for g, asked, match in GROUPS),
    # one number
    (lambda: mean(WARNER, SOME), "which are labels"),
    (lambda: mean(WARNER, SOME, [1, "x"]), r"values\[1\]"),
    (lambda: survey(WARNER, SOME, "maybe"), "labels of the domain"),
    (lambda: weighted_sum(RESPONSE, [0, 1, 2], [1, 2]), "3 numbers, one for each report"),
    (lambda: weighted_sum(THREE, Tally.of([1, 2, 3]), [1, 2]), "the Reports, one for each weight"),
    *(
        (lambda asked=asked: posterior_mean(WARNER, SOME, **{"prior": HALVES, **asked}), match)
        for asked, match in MEANS
    ),
    (lambda: posterior_mean(SURE, Tally.of([3, 1]), Prior([1, 0]), [1, 0]), "rules a report out"),
    # quantiles
    *(
        (lambda asked=asked: estimate(THREE, counts=[1, 2, 3]).quantile(*asked), match)
        for asked, match in QUANTILES
    ),
    (lambda: estimate(WARNER, counts=[1, 2]).quantile(0.5), "a domain of numbers"),
    # too large for maximum likelihood
    (
        lambda: estimate(LARGE, LARGE.privatize(range(1000), rng=1), **LIKELIEST),
        "use the unbiased method, and project it",
    ),
]


@pytest.mark.parametrize(("call", "match"), INVALID)
def test_wrong_arguments_are_refused(call: Callable[[], Any], match: str) -> None:
    with pytest.raises((InputError, UnsupportedError), match=match) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("mechanism", "other"),
    [
        (OptimizedUnaryEncoding(4, 1), SubsetSelection(4, 1, 2)),
        (SubsetSelection(6, 1, 2), SubsetSelection(6, 1, 3)),
        (HadamardResponse(4, 1), GeneralizedRandomizedResponse(4, 1)),
        (high_low_hadamard(4, 1, [0, 1]), high_low_hadamard(4, 1, [1, 2])),
        (block_hadamard(4, 1, [[0, 1], [2, 3]]), block_hadamard(4, 1, [[0, 1, 2], [3]])),
        (WARNER, GeneralizedRandomizedResponse(["yes", "no"], 1)),
    ],
)
def test_reports_of_another_mechanism_are_refused(mechanism: Any, other: Any) -> None:
    reports = other.privatize([other.inputs.labels[0]] * 9, rng=1)
    check_refused("reports of this mechanism", estimate, mechanism, reports)
    assert estimate(other, reports).reports == 9
