"""Unbiased readings on an interval: value and bound against computations of their own."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.certify import verify
from mechdesign.certify.channel_file import digest
from mechdesign.certify.continuous.unbiased import highest
from mechdesign.errors import CertificateError

PROBLEMS: dict[str, dict[str, Any]] = {
    "worst": {"privacy": md.LDP(2), "worst": True},
    "mean": {"privacy": md.LDP(1), "worst": False},
    "lip": {"privacy": md.LIP(1), "worst": False},
    "lip-worst": {"privacy": md.LIP(1), "worst": True},
    "pml": {"privacy": md.PML(1), "worst": False},
    "metric": {"privacy": md.MetricPrivacy(2, "absolute"), "worst": True},
    "high-low": {"privacy": md.HighLowLDP(1, ["[1, 3]"]), "worst": True, "cuts": [1]},
}
LAW = md.Histogram([0, 1, 3], ["2/5", "3/5"])
N = 3000


def solution_of(name: str) -> Any:
    case = PROBLEMS[name]
    interval = md.Interval(0, 3, cuts=case.get("cuts", ()))
    loss = md.UnbiasedVariance(worst_case=case["worst"])
    problem = md.ContinuousProblem(interval, case["privacy"], loss, prior=LAW)
    return md.design(problem, gap=0.3 if name == "metric" else 0.1, time_limit=20)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_readings_are_unbiased_and_their_variance_is_the_value(name: str) -> None:
    solution = solution_of(name)
    verified = verify(json.loads(json.dumps(solution.document())))
    assert verified.value == solution.value >= solution.bound >= 0
    rng = np.random.default_rng(1)
    for x in [Fraction(0), Fraction(3), *map(Fraction, rng.uniform(0, 3, 5))]:
        row = solution.channel.density(x)
        assert sum(q * v for q, v in zip(row, solution.decoder, strict=True)) == x
    points = (np.arange(N) + 0.5) * 3 / N
    v = np.array(solution.decoder, dtype=float)
    variance = solution.channel.matrix(points) @ v**2 - points**2
    if solution.problem.utility.worst_case:
        assert variance.max() <= float(solution.value) * (1 + 1e-9)
        assert variance.max() == pytest.approx(float(solution.value), rel=1e-3)
    else:
        masses = np.where(points < 1, 0.4 / (N / 3), 0.6 / (2 * N / 3))
        assert masses @ variance == pytest.approx(float(solution.value), rel=1e-5)


@pytest.mark.parametrize("name", ["worst", "mean", "lip", "lip-worst"])
def test_no_finer_channel_is_below_the_bound(name: str) -> None:
    """Independent: a grid of cells much finer than the nodes, each at its middle."""
    solution, case = solution_of(name), PROBLEMS[name]
    k = 15 if "lip" in name else 60
    middles = [Fraction(3 * (2 * j + 1), 2 * k) for j in range(k)]
    prior = [Fraction(6, 5) / k if x < 1 else Fraction(9, 10) / k for x in middles]
    loss = md.UnbiasedVariance(middles, case["worst"])
    fine = md.design(md.Problem(range(k), case["privacy"], loss, prior=prior), gap=1e-3)
    near = 1 + Fraction(2, k)  # the middles reach from 3 / (2 k) to 3 - 3 / (2 k)
    assert solution.bound <= fine.value * near**2
    assert fine.bound <= solution.value * near


@pytest.mark.parametrize(("epsilon", "low", "high"), [(1, 3.9904, 3.9911), (4, 0.1270, 0.1272)])
def test_means_on_an_interval_are_known_to_three_digits(
    epsilon: int, low: float, high: float
) -> None:
    loss = md.UnbiasedVariance(worst_case=True)
    solution = md.design(md.ContinuousProblem([-1, 1], md.LDP(epsilon), loss), gap=3e-3)
    assert solution.bound <= high
    assert low <= solution.value
    assert solution.gap <= 3e-3


def test_what_a_file_must_not_say() -> None:
    document = solution_of("worst").document()

    def changed(key: str, edit: Any) -> dict[str, Any]:
        copy = json.loads(json.dumps(document))
        edit(copy[key])
        copy["digest"] = digest(copy)
        return copy  # type: ignore[no-any-return]

    def wrong_reading(channel: Any) -> None:
        first = channel["readings"]["numerators"]
        first[0] = str(int(first[0]) + 1)

    def moved(problem: Any) -> None:
        problem["utility"]["worst_case"] = False

    def dropped(channel: Any) -> None:
        del channel["readings"]

    def larger(certificate: Any) -> None:
        slopes = certificate["dual"]["slope"]
        certificate["dual"]["slope"] = [2 * s for s in slopes]

    for key, edit in (
        ("channel", wrong_reading),
        ("channel", dropped),
        ("problem", moved),
        ("certificate", larger),
    ):
        with pytest.raises(CertificateError):
            verify(changed(key, edit))


def test_the_highest_point_of_a_parabola() -> None:
    assert highest(Fraction(0), Fraction(4), Fraction(0)) == 1
    assert highest(Fraction(1), Fraction(2), Fraction(1)) == 1
    assert highest(Fraction(3), Fraction(0), Fraction(1)) == 3


def test_a_mean_is_estimated_with_its_readings() -> None:
    loss = md.UnbiasedVariance(worst_case=True)
    solution = md.design(md.ContinuousProblem([-1, 1], md.LDP(2), loss))
    x = np.random.default_rng(0).uniform(-1, 0.5, 20_000)
    reports = solution.channel.privatize(x, rng=2)
    found = md.estimation.mean(solution.channel, reports, readings=solution.decoder)
    assert abs(found.value - x.mean()) < 4 * found.standard_error
    most = (float(solution.value) + x.var()) / len(x)
    assert found.standard_error**2 <= 1.1 * most
    with pytest.raises(md.InputError, match="readings"):
        md.estimation.mean(
            solution.channel, reports, readings=[1.0] * len(solution.channel.outputs)
        )


def test_what_cannot_be_read_without_bias_is_refused() -> None:
    loss = md.UnbiasedVariance()
    law = md.NamedLaw("normal", [0, 1])
    with pytest.raises(md.UnsupportedError, match="two ends"):
        md.ContinuousProblem(["-inf", "inf"], md.LDP(1), loss, prior=law)
    with pytest.raises(md.UnsupportedError, match="columns of a channel"):
        md.ContinuousProblem([0, 1], md.ApproximateLDP(1, "0.1"), loss)
    with pytest.raises(md.UnsupportedError, match="worst case, for metric"):
        md.ContinuousProblem([0, 1], md.MetricPrivacy(1, "absolute"), loss)
    nowhere = md.ContinuousProblem([0, 1], md.LDP(1), loss, prior=md.Samples([0.0]))
    with pytest.raises(md.InputError, match="mass inside"):
        md.design(nowhere)
