"""Dual weights are bounds: none ever claims more than the optimum, and the value is exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    AsymmetricLift,
    BoundedPriorLIP,
    CertificateError,
    Channel,
    ContextAwareLDP,
    Distortion,
    Domain,
    EuclideanDistance,
    HammingLoss,
    MeanAbsoluteError,
    MeanSquaredDistance,
    PosteriorMeanSquaredError,
    Problem,
)
from mechdesign.certify.bounds.decoders import least_on_interval
from mechdesign.certify.bounds.duality import decoder_bound, dual_bound, value
from mechdesign.utilities import Utility
from tests.strategies import (
    KINDS,
    ORACLE,
    Case,
    cases,
    channels,
    distortions,
    dual_table,
    examples,
    float_rows,
    lp_optimum,
    optimum,
    priors,
    statement_of,
)


@st.composite
def linear_problems(
    draw: st.DrawFn, kinds: tuple[str, ...] = KINDS, worst_case: bool | None = None
) -> Problem:
    case = draw(cases(kinds))
    utility = draw(distortions(len(case.domain), worst_case))
    notions = [case.notion]
    if draw(st.integers(0, 3)) == 0:
        notions.append(draw(cases(("ldp", "lip", "pml", "lift"), k=len(case.domain))).notion)
    return Problem(case.domain, notions, utility, prior=case.prior)


def shape_of(problem: Problem) -> tuple[int, int]:
    return len(float_rows(problem)[0]), len(problem.outputs or ())


# --- dual weights ---------------------------------------------------------------------------------


@pytest.mark.slow
@examples(200)
@given(linear_problems(), st.integers(0, 2**32), st.sampled_from([0.01, 0.3, 1.0, 30.0]))
def test_any_nonnegative_dual_is_a_bound(problem: Problem, seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size, shape_of(problem)) * (rng.random(shape_of(problem)) < 0.3)
    mass = rng.exponential(1, len(problem.domain))
    bound = dual_bound(statement_of(problem), dual_table(problem, weights, mass))
    assert float(bound) <= lp_optimum(problem).value + ORACLE


@pytest.mark.slow
@examples(200)
@given(linear_problems(), st.integers(0, 2**32), st.sampled_from([0.0, 1e-6, 1e-2]))
def test_the_optimal_dual_attains_the_optimum_and_its_neighbours_do_not_pass_it(
    problem: Problem, seed: int, noise: float
) -> None:
    best = lp_optimum(problem)
    rng = np.random.default_rng(seed)
    weights = np.maximum(best.row_weights + noise * rng.normal(size=best.row_weights.shape), 0)
    bound = float(
        dual_bound(statement_of(problem), dual_table(problem, weights, best.input_weights))
    )
    assert bound <= best.value + ORACLE
    if noise == 0:
        assert bound == pytest.approx(best.value, abs=ORACLE)


def test_a_dual_of_nothing_gives_every_input_its_best_output() -> None:
    problem = Problem([0, 1], LDP(1), Distortion([[2, 5], [4, 3]]), prior=["1/4", "3/4"])
    assert dual_bound(statement_of(problem), {"weights": None, "rows": []}) == Fraction(11, 4)
    worst = Problem([0, 1], LDP(1), Distortion([[2, 5], [4, 3]], worst_case=True))
    empty: dict[str, Any] = {"weights": ["1", "3"], "rows": []}
    assert dual_bound(statement_of(worst), empty) == Fraction(11, 4)


def row(notion: int = 0, side: str = "ratio", **entries: Any) -> dict[str, Any]:
    found = {"notion": notion, "side": side, "output": [0], "x": [0], "other": [1], "weight": ["1"]}
    return {"weights": None, "rows": [{**found, **entries}]}


BASE = Problem([0, 1], LDP(1), HammingLoss())
FREE = Problem([0, 1], ContextAwareLDP([["0", "inf"], ["1", "0"]]), HammingLoss())
ONE_SIDE = Problem([0, 1], AsymmetricLift("inf", 1), HammingLoss(), prior=["0.5", "0.5"])
LISTED = Problem([0, 1], BoundedPriorLIP(1, priors=[[0.4, 0.6], [0.5, 0.5]]), HammingLoss())
BOXED = Problem([0, 1], BoundedPriorLIP(1, lower=[0.3, 0.4], upper=[0.6, 1]), HammingLoss())
BALL = Problem([0, 1], BoundedPriorLIP(1, center=[0.4, 0.6], radius="0.1"), HammingLoss())
FAR = Problem([0, 1], BoundedPriorLIP(1, center=[0.2, 0.8], radius="0.1"), HammingLoss())
WORST = Problem([0, 1], LDP(1), HammingLoss(worst_case=True))
ELSEWHERE = {"side": "upper", "other": [0]}


@pytest.mark.parametrize(
    ("problem", "dual"),
    [
        (BASE, row(weight=["-1"])),
        (BASE, row(weight=["-1e-30"])),
        (BASE, row(weight=["nan"])),
        (BASE, row(weight=["inf"])),
        (BASE, row(weight=[True])),
        (BASE, row(x=[0], other=[0])),
        (BASE, row(x=[-1], other=[1])),
        (BASE, row(x=[1], other=[-1])),
        (BASE, row(output=[-1])),
        (BASE, row(output=[2])),
        (BASE, row(x=[2])),
        (BASE, row(other=[2])),
        (BASE, row(x=[0.5])),
        (BASE, row(x=["0"])),
        (BASE, row(x=[0, 1])),
        (BASE, row(notion=1)),
        (BASE, row(side="upper")),
        (BASE, row(side="lower")),
        (BASE, {"weights": None}),
        (FREE, row()),
        (ONE_SIDE, row(side="lower", other=[0])),
        (ONE_SIDE, row()),
        (ONE_SIDE, row(side="upper", other=[1])),
        (ONE_SIDE, row(side="upper", other=[-1])),
        (ONE_SIDE, row(**ELSEWHERE, priors=[["0.4", "0.6"]])),
        (LISTED, row(**ELSEWHERE, priors=[["0.45", "0.55"]])),
        (LISTED, row(**ELSEWHERE, priors=[["0.3", "0.7"]])),
        (LISTED, row(**ELSEWHERE, priors=[["0.4", "0.6", "0"]])),
        (BOXED, row(**ELSEWHERE, priors=[["0.61", "0.39"]])),
        (BOXED, row(**ELSEWHERE, priors=[["0.5", "0.6"]])),
        (BOXED, row(**ELSEWHERE, priors=[["0.5"]])),
        (BALL, row(**ELSEWHERE, priors=[["0.51", "0.49"]])),
        (BALL, row(**ELSEWHERE, priors=[["0.45", "0.45"]])),
        (FAR, row(**ELSEWHERE)),
        (FAR, row(**ELSEWHERE, priors=[])),
        (WORST, {"weights": ["1"], "rows": []}),
        (WORST, {"weights": ["-1", "2"], "rows": []}),
        (WORST, {"weights": ["0", "0"], "rows": []}),
        (WORST, {"weights": [], "rows": []}),
        (WORST, {"weights": None, "rows": []}),
        (WORST, {"rows": []}),
    ],
)
def test_a_dual_that_proves_nothing_is_refused(problem: Problem, dual: dict[str, Any]) -> None:
    with pytest.raises((CertificateError, LookupError, TypeError, ValueError)):
        dual_bound(statement_of(problem), dual)


@pytest.mark.parametrize(
    ("problem", "prior"),
    [
        (LISTED, ["0.4", "0.6"]),
        (BOXED, ["0.6", "0.4"]),
        (BOXED, ["0.45", "0.55"]),
        (BALL, ["0.5", "0.5"]),
        (BALL, ["0.37", "0.63"]),
    ],
)
def test_priors_inside_the_set_are_taken(problem: Problem, prior: list[str]) -> None:
    bound = dual_bound(statement_of(problem), row(**ELSEWHERE, priors=[prior], weight=["0.1"]))
    assert float(bound) <= lp_optimum(problem).value + ORACLE


# --- the value ------------------------------------------------------------------------------------


@st.composite
def all_utilities(draw: st.DrawFn) -> tuple[Domain, Utility, list[Any] | None]:
    k = draw(st.integers(1, 4))
    worst = draw(st.booleans())
    kind = draw(st.sampled_from(["distortion", "hamming", "mae", "msd", "euclidean", "posterior"]))
    numbers = Domain(draw(st.lists(st.integers(-9, 9), min_size=k, max_size=k, unique=True)))
    if kind == "distortion":
        return numbers, draw(distortions(k, worst)), None
    if kind == "hamming":
        return Domain([f"x{x}" for x in range(k)]), HammingLoss(worst), ["x0", "other", "x1"]
    if kind == "posterior":
        values = draw(st.lists(st.integers(-9, 9), min_size=k, max_size=k))
        return numbers, PosteriorMeanSquaredError(values=values), None
    if kind == "mae":
        return numbers, MeanAbsoluteError(worst), [0, 0.5, -1.1]
    domain = draw(st.sampled_from([numbers, Domain.grid(2, 2, "1/3"), Domain.grid(1, 3)]))
    pairs = domain.grid_shape is not None
    utility = MeanSquaredDistance(worst) if kind == "msd" else EuclideanDistance(worst)
    return domain, utility, [(0, 0), (1, 0.5), (3, -1)] if pairs else [0, 0.5, -1.1]


@examples(200)
@given(all_utilities(), st.data())
def test_the_value_is_that_of_the_utility_exactly(
    drawn: tuple[Domain, Utility, list[Any] | None], data: Any
) -> None:
    domain, utility, outputs = drawn
    k = len(domain)
    problem = Problem(domain, LDP(1), utility, prior=data.draw(priors(k)), outputs=outputs)
    m = 3 if problem.outputs is None else len(problem.outputs)
    used = data.draw(st.lists(st.integers(0, m - 1), min_size=1, unique=True))
    drawn_rows = data.draw(channels(k, most_outputs=len(used)))
    used = used[: len(drawn_rows.outputs)]
    labels = used if problem.outputs is None else [problem.outputs[y] for y in used]
    channel = Channel(drawn_rows.numerators, inputs=domain, outputs=labels)
    found = value(statement_of(problem), channel.columns(), used, channel.bits)
    assert found == utility.value(channel, problem.prior, problem.outputs)
    twice = channel.then(Channel.from_matrix(np.eye(len(used)), inputs=labels, outputs=labels))
    assert found == value(statement_of(problem), twice.columns(), used, twice.bits)


# --- weights at decoders --------------------------------------------------------------------------


@pytest.mark.slow
@examples(200)
@given(
    cases(KINDS).filter(lambda c: len(c.domain) < 4),
    st.lists(st.integers(-5, 9), min_size=3, max_size=3),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.01, 0.3, 3.0]),
)
def test_any_weights_at_any_decoders_are_a_bound(
    case: Case, values: list[int], seed: int, size: float
) -> None:
    f = values[: len(case.domain)]
    utility = PosteriorMeanSquaredError(values=f)
    problem = Problem(case.domain, case.notion, utility, prior=case.prior)
    rng = np.random.default_rng(seed)
    inner = rng.uniform(min(f) - 1, max(f) + 1, rng.integers(0, 5))
    decoders = sorted({min(f) - rng.integers(0, 2), max(f) + rng.integers(1, 3), *inner.tolist()})
    shape = (len(float_rows(problem)[0]), len(decoders))
    weights = rng.exponential(size, shape) * (rng.random(shape) < 0.3)
    dual = dual_table(problem, weights) | {"decoders": [repr(float(s)) for s in decoders]}
    if decoders[0] > min(f) or decoders[-1] < max(f):
        return
    assert float(decoder_bound(statement_of(problem), dual)) <= optimum(problem) + ORACLE


@pytest.mark.parametrize(
    "decoders", [[], ["0"], ["0", "0.9"], ["0.1", "1"], ["0", "0", "1"], ["1", "0"], ["0", "nan"]]
)
def test_decoders_that_leave_a_value_out_are_refused(decoders: list[str]) -> None:
    problem = Problem([0, 1], LIP(1), PosteriorMeanSquaredError(), prior=["0.5", "0.5"])
    with pytest.raises(CertificateError):
        decoder_bound(statement_of(problem), {"decoders": decoders, "rows": []})


@examples(200)
@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6), st.integers(0, 10**6))
def test_the_least_on_a_gap_is_below_all_of_it(a: int, b: int, bend: int) -> None:
    least = least_on_interval(a, b, bend)
    t = np.linspace(0, 1, 2001)
    curve = (1 - t) * a + t * b - bend * t * (1 - t)
    assert curve.min() - 1 - bend / 2000**2 <= least <= curve.min() + 1e-6
