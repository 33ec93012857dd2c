"""Maximum likelihood against a conic solver, its gap, and faults of solvers."""

from __future__ import annotations

import math
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import Channel, InputError, SolverError, mechanisms
from mechdesign.estimation import METHODS, Estimate, estimate, estimate_groups
from mechdesign.estimation.likelihood import gradient_of, likelihood_gap
from mechdesign.estimation.report_models import ReportModel
from mechdesign.reports import Tally
from tests.faults_support import FAULTS, Faults
from tests.mechanisms_support import block_subset_selection, high_low_hadamard
from tests.strategies import channels, examples, simplex


def log_likelihood(channel: Channel, counts: Any, law: Any) -> float:
    """The log-likelihood per report."""
    sent = np.flatnonzero(counts)
    outputs = np.asarray(law) @ channel.matrix[:, sent]
    return float(np.asarray(counts)[sent] @ np.log(outputs)) / sum(counts)


def largest(channel: Channel, counts: Any) -> float:
    """The largest log-likelihood per report, by a conic solver."""
    p = cp.Variable(len(channel.inputs), nonneg=True)
    sent = np.flatnonzero(counts)
    share = np.asarray(counts)[sent] / sum(counts)
    goal = cp.sum(cp.multiply(share, cp.log(p @ channel.matrix[:, sent])))
    problem = cp.Problem(cp.Maximize(goal), [cp.sum(p) == 1])
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_optimum_of_a_conic_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(2, 9)), int(rng.integers(2, 9))
    sharp = rng.dirichlet(np.full(m, rng.choice([0.2, 1, 20])), size=k)
    channel = Channel.from_matrix(sharp / sharp.sum(axis=1, keepdims=True))
    counts = rng.multinomial(int(rng.choice([5, 100, 10**6])), rng.dirichlet(np.full(m, 0.5)))
    found = estimate(channel, counts=counts, method="maximum-likelihood", check=False)
    assert found.values.min() >= 0
    assert found.values.sum() == pytest.approx(1)
    assert log_likelihood(channel, counts, found.values) >= largest(channel, counts) - 1e-7
    assert found.gap <= min(1e-9, 1e-3 / counts.sum())


@given(channels(3), st.data())
@examples(20)
def test_the_gap_bounds_what_any_distribution_gains(channel: Channel, data: Any) -> None:
    m = len(channel.outputs)
    possible = channel.matrix.any(axis=0)
    counts = np.array(data.draw(st.lists(st.integers(0, 9), min_size=m, max_size=m))) * possible
    if not counts.any():
        return
    sent = np.flatnonzero(counts)
    law = np.array([float(v) for v in data.draw(simplex(3, least=1))])
    gap = likelihood_gap(gradient_of(channel.matrix[:, sent], counts[sent] / counts.sum(), law))
    best = estimate(channel, counts=counts, method="maximum-likelihood")
    gained = log_likelihood(channel, counts, best.values) - log_likelihood(channel, counts, law)
    assert -1e-9 <= gained <= gap + 1e-9


def test_without_noise_it_is_the_empirical_distribution() -> None:
    clear = Channel.from_matrix(np.eye(4))
    found = estimate(clear, counts=[5, 0, 3, 2], method="maximum-likelihood")
    assert found.values == pytest.approx([0.5, 0, 0.3, 0.2], abs=1e-12)
    assert np.isnan(found.standard_errors).tolist() == [False, True, False, False]
    p = found.values[0]
    assert found.standard_errors[0] == pytest.approx(math.sqrt(p * (1 - p) / 9))
    assert "1 inputs at the boundary" in repr(found)
    exact = estimate(clear, counts=[5, 0, 3, 2], method="maximum-likelihood", target="respondents")
    assert exact.standard_errors[0] == pytest.approx(0, abs=1e-6)


def test_inside_the_simplex_it_is_the_unbiased_estimate_of_a_square_channel() -> None:
    channel = Channel.from_matrix([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    counts = np.round(1e6 * np.array([0.5, 0.3, 0.2]) @ channel.matrix).astype(int)
    plain = estimate(channel, counts=counts)
    for target in ("population", "respondents"):
        plain = estimate(channel, counts=counts, target=target)
        likeliest = estimate(channel, counts=counts, method="maximum-likelihood", target=target)
        assert likeliest.values == pytest.approx(plain.values, abs=1e-4)
        assert likeliest.standard_errors == pytest.approx(plain.standard_errors, rel=1e-3)
    f = np.array([[1.0, 2.0, 4.0], [1.0, 1.0, 1.0]])
    likeliest = estimate(channel, counts=counts, method="maximum-likelihood")
    plain = estimate(channel, counts=counts)
    assert likeliest.deviation(f) == pytest.approx(plain.deviation(f), rel=1e-3, abs=1e-7)


def test_where_laws_are_equally_likely_no_standard_error_is_claimed() -> None:
    hidden = Channel.from_matrix([["1/2", "1/2"], ["1/4", "3/4"], ["1/4", "3/4"]])
    found = estimate(hidden, counts=[40, 60], method="maximum-likelihood")
    assert np.isnan(found.standard_errors).all()
    assert "other distributions are as likely" in repr(found)
    assert found.values[0] == pytest.approx(0.6, abs=1e-4)


def test_reports_and_tallies_of_a_structured_mechanism_give_the_same() -> None:
    mechanism = mechanisms.HadamardResponse(3, 1)
    reports = mechanism.privatize([0, 1, 1, 2] * 100, rng=2)
    tally = mechanism.tally(reports)
    seen: list[tuple[int, float]] = []
    note: dict[str, Any] = {"progress": lambda *step: seen.append(step)}
    one = estimate(mechanism, reports, method="maximum-likelihood", **note)
    assert seen == sorted(seen, key=lambda step: step[0])
    assert seen[-1] == (one.iterations, one.gap)
    two = estimate(mechanism, tally, method="maximum-likelihood")
    dense = estimate(mechanism.dense(), counts=tally.counts, method="maximum-likelihood")
    assert one.values == pytest.approx(two.values)
    assert one.values == pytest.approx(dense.values, abs=1e-6)
    assert one.simulated


@pytest.mark.parametrize(
    "mechanism",
    [
        mechanisms.OptimizedUnaryEncoding(4, 1),
        mechanisms.SubsetSelection(5, "0.5"),
        mechanisms.SubsetSelection(5, "0.5", 4),
        high_low_hadamard(5, 1, [0, 1]),
        block_subset_selection(5, 1, [[0, 1], [2, 3, 4]]),
    ],
)
def test_reports_other_than_labels_are_distinguished(mechanism: mechanisms.Mechanism) -> None:
    """The counts are a summary, so the reports are required; they agree with the matrix."""
    k = len(mechanism.inputs)
    reports = mechanism.privatize([x % k for x in range(3000)], rng=2)
    number = {repr(label): n for n, label in enumerate(mechanism.outputs())}
    counts = np.zeros(mechanism.n_outputs, dtype=np.int64)
    for label in reports.labels():
        counts[number[repr(label)]] += 1
    found = estimate(mechanism, reports, method="maximum-likelihood")
    dense = estimate(mechanism.dense(), counts=counts, method="maximum-likelihood")
    assert found.values == pytest.approx(dense.values, abs=1e-5)
    with pytest.raises(InputError, match="the Reports themselves"):
        estimate(mechanism, mechanism.tally(reports), method="maximum-likelihood")


@pytest.mark.parametrize("make", [mechanisms.OptimizedUnaryEncoding, mechanisms.SubsetSelection])
def test_reports_less_likely_than_any_float_are_evidence_like_others(make: Any) -> None:
    """Only the ratios of the probabilities of a report matter, not their size."""
    k = 1500
    mechanism = make(k, 1)
    reports = mechanism.privatize([0, 0, 0, 1], rng=3)
    observed = ReportModel(mechanism).observed(reports)
    assert float(mechanism.mass(0, reports.data[:1])) == 0
    assert observed.total == 4
    for column in observed.columns.T:
        assert sorted(set(column)) == pytest.approx([math.exp(-1), 1], rel=1e-12)


def test_over_groups_it_is_that_of_the_joint_likelihood() -> None:
    rng = np.random.default_rng(11)
    first, second = (Channel.from_matrix(rng.dirichlet(np.ones(4), size=3)) for _ in range(2))
    counts = [np.array([10, 20, 5, 5]), np.array([100, 20, 30, 50])]
    groups = list(zip((first, second), counts, strict=True))
    found = estimate_groups(
        [(channel, Tally.of(c)) for channel, c in groups], method="maximum-likelihood"
    )
    p = cp.Variable(3, nonneg=True)
    goal = sum(c @ cp.log(p @ channel.matrix) for channel, c in groups)
    problem = cp.Problem(cp.Maximize(goal), [cp.sum(p) == 1])
    problem.solve(solver=cp.CLARABEL)
    assert found.values == pytest.approx(p.value, abs=1e-3)
    reached = sum(float(c @ np.log(found.values @ channel.matrix)) for channel, c in groups)
    assert reached >= float(problem.value) - 1e-4
    alone = estimate(first, counts=counts[0], method="maximum-likelihood")
    same = estimate_groups([(first, Tally.of(counts[0]))], method="maximum-likelihood")
    assert same.values == pytest.approx(alone.values)


CHANNEL = Channel.from_matrix(
    [["5/8", "1/8", "1/4"], ["1/8", "1/2", "3/8"], ["1/4", "1/4", "1/2"]],
)
REPORTS = {0: 400, 1: 350, 2: 250}


def found(method: str, faults: Faults) -> Estimate:
    with faults.planted():
        return estimate(CHANNEL, counts=REPORTS, method=method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", FAULTS)
def test_an_estimate_is_right_or_refused(method: str, kind: str) -> None:
    right, count = estimate(CHANNEL, counts=REPORTS, method=method), Faults()
    found(method, count)
    for at in range(len(count.calls)):
        for lasting in (False, True):
            try:
                wrong = found(method, Faults(FAULTS[kind], at, lasting=lasting))
            except SolverError:
                continue
            assert np.allclose(wrong.values, right.values, atol=1e-6)
            errors = wrong.standard_errors
            assert np.allclose(errors, right.standard_errors, rtol=1e-6, equal_nan=True)
