"""Fisher information: against the derivative of the law of the report, and against all rays."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given

from mechdesign import (
    LDP,
    Channel,
    FisherInformation,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    design,
)
from tests.strategies import channels, examples

PRIOR = [0.1, 0.2, 0.3, 0.4]
SCORES = [-2, -4, 2, 1]


def binomial(n: int, p: Fraction) -> list[Fraction]:
    return [math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)]


@examples(25)
@given(channels(4))
def test_it_is_the_information_of_the_law_of_the_report(channel: Channel) -> None:
    """Sum_y lambda_y'**2 / lambda_y, with the derivative by differences of the exact law."""
    p, h = Fraction(3, 10), Fraction(1, 10**9)
    scores = [(x - 3 * p) / (p * (1 - p)) for x in range(4)]
    found = FisherInformation(scores).value(channel, Prior(binomial(3, p)))
    information = Fraction(0)
    for q in channel.columns():
        law, ahead, behind = (
            sum(a * b for a, b in zip(binomial(3, at), q, strict=True)) / channel.denominator
            for at in (p, p + h, p - h)
        )
        information += ((ahead - behind) / (2 * h)) ** 2 / law if law else 0
    assert math.isclose(found, information, rel_tol=1e-12, abs_tol=1e-12)


def test_information_is_the_second_moment_minus_the_error_of_the_score() -> None:
    """E s**2 less the posterior-mean squared error of s(X), by two proofs of their own."""
    one = design(Problem(range(4), LDP(1), FisherInformation(SCORES), prior=PRIOR))
    error = PosteriorMeanSquaredError(values=SCORES)
    other = design(Problem(range(4), LDP(1), error, prior=PRIOR))
    square = sum(p * s * s for p, s in zip(PRIOR, SCORES, strict=True))
    assert math.isclose(one.value + other.value, square, rel_tol=1e-7)


def test_both_searches_prove_the_same() -> None:
    problem = Problem(range(4), LDP(1), FisherInformation(SCORES), prior=PRIOR)
    by_rays, by_decoders = (design(problem, route=r) for r in ("extreme-rays", "decoder-grid"))
    assert by_rays.bound is not None
    assert by_decoders.bound is not None
    assert math.isclose(by_rays.bound, by_decoders.bound, rel_tol=1e-6)
    assert by_decoders.value <= by_rays.bound


def test_rays_close_the_gap_of_the_search_over_decoders() -> None:
    x = np.linspace(-4, 4, 5)
    law = np.exp(-x * x / 2)
    prior = Prior((law / law.sum()).tolist())
    scores = [float(v) for v in x]
    solution = design(Problem(5, LDP("0.01"), FisherInformation(scores), prior=prior))
    assert solution.status == "optimal"
