"""Column generation over extreme rays, against textbook programs and lists of all rays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.notions import Notion
from mechdesign.search import column_generation as columns, generation, highs as solvers
from mechdesign.search.column_generation import solve_columns, suits
from mechdesign.search.cones.forms import InputLine
from mechdesign.search.cones.pricing import BlockPricer, LinePricer, Pricer, pricer_of
from mechdesign.search.highs import RestrictedMaster
from mechdesign.search.limits import Limits, Progress
from mechdesign.search.lp.lp_pricer import LPPricer
from mechdesign.search.presolve.chain import program_cost
from mechdesign.solver_guard import Guarded
from tests.strategies import (
    ORACLE,
    cases,
    distortions,
    examples,
    float_rows,
    lp_optimum,
    rays,
)

FloatArray = npt.NDArray[np.float64]

LINES: list[Notion] = [md.MetricPrivacy("0.2", "absolute"), md.MetricPrivacy(1, "absolute")]
NEAR_ZERO_AND_LARGE: list[Notion] = [
    md.MetricPrivacy("0.0001", "absolute"),
    md.MetricPrivacy(40, "absolute"),
]
SUBSETS: list[Notion] = [
    md.LDP("0.1"),
    md.LDP(2),
    md.HighLowLDP(1, [0, 2]),
    md.BlockLDP(1, [[0, 1], [2, 3]]),
]
LIFTS: list[Notion] = [
    md.LIP("0.3"),
    md.LIP(3),
    md.PML(1),
    md.AsymmetricLift("0.3", "1.2"),
    md.AsymmetricLift("inf", "0.5"),
    md.AsymmetricLift("0.5", "inf"),
]
SEEDS = st.integers(0, 10**6)


def random_problem(notion: Notion, seed: int, k: int = 4, least: int = 1) -> md.Problem:
    """Any loss, any prior; the domain is uneven."""
    rng = np.random.default_rng(seed)
    points = (np.cumsum(rng.integers(1, 4, k)) - 1) if notion.name == "metric" else np.arange(k)
    prior = md.Prior.from_counts((rng.integers(0, 20, k) + least).tolist())
    loss = md.Distortion(rng.integers(0, 10, (k, k)).tolist())
    order = rng.permutation(k)
    return md.Problem(md.Domain(points[order].tolist()), notion, loss, prior=prior)


def grid_problem(distance: str, side: int = 3, seed: int = 0) -> md.Problem:
    prior = md.Prior.from_counts(np.random.default_rng(seed).integers(1, 50, side**2).tolist())
    privacy = md.MetricPrivacy("0.7", distance)
    return md.Problem(md.Domain.grid(side, side), privacy, md.EuclideanDistance(), prior=prior)


def line_problem(k: int, seed: int = 0) -> md.Problem:
    """A line with a loss that has nothing to do with it: many rounds."""
    rng = np.random.default_rng(seed)
    loss = md.Distortion(rng.integers(0, 100, (k, k)).tolist())
    prior = md.Prior.from_counts(rng.integers(1, 100, k).tolist())
    return md.Problem(md.Domain.range(k), md.MetricPrivacy("0.5", "absolute"), loss, prior=prior)


def expected_loss(problem: md.Problem, matrix: FloatArray) -> float:
    loss = problem.utility.loss(problem.domain, problem.outputs or ()).array
    return float((problem.prior.array[:, None] * loss * matrix).sum())


def assert_channel(problem: md.Problem, matrix: FloatArray) -> None:
    """Private, and a channel, up to what the repair is there for."""
    assert matrix.min() >= -1e-12
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-8
    G, _ = float_rows(problem)
    assert (G @ matrix).max(initial=0.0) < 1e-8


# --- pricers --------------------------------------------------------------------------------------


def pricers(problem: md.Problem, weight: FloatArray | None = None) -> list[Pricer]:
    """The pricer made for the cone, if any, and the one for any cone."""
    own = pricer_of(problem)
    if weight is not None:
        own = BlockPricer(own.cone, weight) if isinstance(own, BlockPricer) else None
    found = [] if own is None else [own]
    return [*found, LPPricer(problem.cone, weight)]


@pytest.mark.parametrize("by_prior", [False, True])
@pytest.mark.parametrize("notion", [*LINES, *SUBSETS, *LIFTS], ids=repr)
@given(seed=SEEDS)
@examples(6)
def test_a_pricer_finds_the_least_reduced_cost_of_all_rays(
    notion: Notion, by_prior: bool, seed: int
) -> None:
    problem = random_problem(notion, seed)
    v = np.random.default_rng(seed).normal(size=(4, 5))
    every = np.column_stack(rays(problem))
    G, _ = float_rows(problem)
    for pricer in pricers(problem, problem.prior.array if by_prior else None):
        found = pricer.price(v)
        least = (v.T @ every / (pricer.weight @ every)).min(axis=1)
        if isinstance(pricer, LinePricer):  # it looks for negative costs only
            assert np.array_equal(found.reduced < 0, least < 0)
            least = np.where(least < 0, least, found.reduced)
        assert np.allclose(found.reduced, least, rtol=0, atol=1e-8), pricer.route
        assert found.rays.min() >= 0
        assert (G @ (found.rays / found.rays.sum(axis=0))).max(initial=0.0) < 1e-9
        own = (v * found.rays).sum(axis=0) / (pricer.weight @ found.rays)
        assert np.allclose(found.reduced, own, rtol=0, atol=1e-12)


def test_inputs_without_weight_are_priced_by_themselves() -> None:
    """A block of weight 0 has no reduced cost; in other blocks what costs nothing may be raised."""
    problem = md.Problem(
        range(4), md.BlockLDP(1, [[0, 1], [2, 3]]), md.Distortion(np.eye(4).tolist())
    )
    own = pricer_of(problem)
    assert isinstance(own, BlockPricer)
    pricer = BlockPricer(own.cone, np.array([1.0, 0.0, 0.0, 0.0]))
    found = pricer.price(np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [1.0, 1.0]]))
    assert np.allclose(found.reduced, [1 + np.exp(-1), 1 - np.exp(1)])


@st.composite
def lines(draw: st.DrawFn) -> md.Problem:
    """Lines that are not the same both ways."""
    k, rng = draw(st.integers(2, 5)), np.random.default_rng(draw(SEEDS))
    matrix = [["inf"] * k for _ in range(k)]
    for x in range(k - 1):
        matrix[x][x + 1], matrix[x + 1][x] = rng.choice(["0.01", "0.4", "1", "5"], 2).tolist()
    loss = md.Distortion(rng.integers(0, 10, (k, 3)).tolist())
    prior = md.Prior.from_counts(rng.integers(1, 20, k).tolist())
    notion = md.ContextAwareLDP(matrix)
    return md.Problem(range(k), notion, loss, prior=prior, outputs=list("abc"))


@st.composite
def problems(draw: st.DrawFn) -> md.Problem:
    """Any conic notion and any loss, with ties, zeros and infinities."""
    case = draw(cases())
    loss = draw(distortions(len(case.domain), worst_case=False))
    return md.Problem(case.domain, case.notion, loss, prior=case.prior)


@given(problems(), SEEDS)
@examples(40)
def test_no_channel_costs_less_than_potentials_and_shortfall(
    problem: md.Problem, seed: int
) -> None:
    cost, scale = program_cost(problem)
    prices = np.random.default_rng(seed).normal(0.3, 0.3, len(cost))
    optimum = lp_optimum(problem).value / scale
    for pricer in pricers(problem):
        found = pricer.price(cost - prices[:, None])
        shortfall = pricer.weight.sum() * min(0.0, found.reduced.min())
        assert prices.sum() + shortfall <= optimum + 1e-7, pricer.route


@pytest.mark.parametrize(
    "notion", [LINES[0], md.LDP(1), md.LIP(1), md.HighLowLDP(1, [0])], ids=repr
)
def test_each_input_is_largest_on_a_first_ray(notion: Notion) -> None:
    problem = random_problem(notion, 3)
    for pricer in pricers(problem):
        first = pricer.start()
        G, _ = float_rows(problem)
        assert (G @ first).max() < 1e-9
        assert (first.argmax(axis=0) == np.arange(4)).all()


def test_a_line_does_not_overflow_and_a_far_end_does_not_drown() -> None:
    step = np.full(4, 400.0)
    x = np.arange(5)
    E = 400.0 * np.abs(x[:, None] - x)
    line = InputLine.of(E, x)
    assert np.array_equal(line.up, step)
    cost = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, -1e-9]])
    found = LinePricer(line).price(cost)
    assert found.reduced[0] == pytest.approx(0.0, abs=1e-13)
    assert found.reduced[1] == pytest.approx(-1e-9)
    assert np.allclose(found.rays, [[1, 0], [0, 0], [0, 0], [0, 0], [0, 1]])


# --- the rounds -----------------------------------------------------------------------------------


def hold_against_the_textbook(problem: md.Problem) -> None:
    """Every round bounds the optimum; the last one is it, and so says the proof of the design."""
    optimum = lp_optimum(problem).value
    seen: list[Progress] = []
    raw = solve_columns(problem, Limits(watch=seen.append))
    size = max(1.0, abs(optimum))
    assert_channel(problem, raw.matrix)
    assert expected_loss(problem, raw.matrix) == pytest.approx(optimum, abs=1e-7 * size)
    for progress in seen:
        assert progress.bound - ORACLE * size <= optimum <= progress.value + ORACLE * size
    assert seen[-1].bound == pytest.approx(optimum, abs=1e-6 * size)
    solution = md.design(problem, route="columns")
    assert solution.gap * abs(optimum) <= 1e-6 * size
    assert float(solution.value) == pytest.approx(optimum, abs=1e-7 * size)


@given(problems())
@examples(30)
def test_the_value_is_that_of_the_textbook_program(problem: md.Problem) -> None:
    hold_against_the_textbook(problem)


@given(lines())
@examples(15)
def test_any_line_is_searched_as_a_line(problem: md.Problem) -> None:
    assert suits(problem) is not None
    assert "line" in solve_columns(problem).route
    hold_against_the_textbook(problem)


@pytest.mark.parametrize("notion", [*LINES, *NEAR_ZERO_AND_LARGE, *SUBSETS, *LIFTS], ids=repr)
@given(seed=SEEDS)
@examples(3)
def test_every_pricer_leads_to_the_optimum(notion: Notion, seed: int) -> None:
    hold_against_the_textbook(random_problem(notion, seed, k=5 if notion.name == "metric" else 4))


@pytest.mark.parametrize(
    "problem",
    [
        line_problem(25),
        grid_problem("manhattan", side=4),
        grid_problem("euclidean"),
        *(random_problem(md.LIP(1), 5, k=6, least=0), random_problem(md.PML(1), 2, k=6)),
    ],
    ids=repr,
)
def test_larger_problems(problem: md.Problem) -> None:
    hold_against_the_textbook(problem)


def test_on_a_line_one_round_is_all_for_a_loss_that_grows_with_the_distance() -> None:
    rng = np.random.default_rng(0)
    points = np.cumsum(rng.integers(1, 9, 300)).tolist()
    prior = md.Prior.from_counts(rng.integers(1, 99, 300).tolist())
    privacy = md.MetricPrivacy("0.1", "absolute")
    problem = md.Problem(md.Domain(points), privacy, md.MeanAbsoluteError(), prior=prior)
    seen: list[Progress] = []
    solve_columns(problem, Limits(watch=seen.append))
    assert seen[-1].rounds == 1
    assert seen[-1].gap < 1e-10


@pytest.mark.parametrize("failed", [0, 1, 7, 30])
def test_a_run_that_stops_short_changes_neither_its_output_nor_the_next(
    monkeypatch: pytest.MonkeyPatch, failed: int
) -> None:
    problem = grid_problem("manhattan", side=4)
    runs: list[bool] = []

    def ends_well(solver: Guarded) -> bool:
        runs.append(len(runs) != failed)
        return runs[-1] and is_optimal(solver)

    is_optimal = solvers.is_optimal
    monkeypatch.setattr(solvers, "is_optimal", ends_well)
    raw = solve_columns(problem)
    assert len(runs) > failed
    assert_channel(problem, raw.matrix)
    assert expected_loss(problem, raw.matrix) == pytest.approx(lp_optimum(problem).value, abs=1e-8)


def test_an_interrupt_in_the_middle_of_a_round() -> None:
    problem = grid_problem("euclidean", side=4)
    cost, _ = program_cost(problem)
    pricer = LPPricer(problem.cone)
    calls = iter(range(100))
    found = pricer.price(cost - cost.min(axis=1)[:, None], lambda: next(calls) >= 3)
    assert np.isneginf(found.reduced).sum() == cost.shape[1] - 3


def test_forgetting_columns_does_not_change_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = line_problem(15)
    optimum = lp_optimum(problem).value
    monkeypatch.setattr(columns, "PACE", replace(columns.PACE, most_rays=2))
    monkeypatch.setattr(columns._Columns, "pace", columns.PACE)
    monkeypatch.setattr(generation, "KEPT", 1)
    assert expected_loss(problem, solve_columns(problem).matrix) == pytest.approx(optimum, abs=1e-8)


def test_what_it_is_for() -> None:
    assert suits(line_problem(5)) is not None
    assert suits(grid_problem("manhattan", side=4)) is not None
    assert suits(grid_problem("euclidean", side=4)) is None
    assert suits(md.Problem(range(9), md.LDP(1), md.MeanAbsoluteError())) is None
    assert suits(random_problem(md.LIP(1), 0, k=9)) is None
    worst = md.Problem(
        range(4), md.MetricPrivacy(1, "absolute"), md.MeanAbsoluteError(worst_case=True)
    )
    assert suits(worst) is None


# --- the programs under it ------------------------------------------------------------------------


@pytest.mark.slow
def test_the_restricted_master_in_other_units() -> None:
    rng = np.random.default_rng(0)
    problem = line_problem(4)
    pricer = pricer_of(problem)
    many = np.column_stack([pricer.start(), *rays(problem)])
    gain = rng.random(many.shape[1])
    theta, prices = RestrictedMaster(many, gain).solve()
    for unit in (1.0, 4096.0):
        program = RestrictedMaster(many, gain, unit)
        again, others = program.solve()
        assert gain @ again == pytest.approx(gain @ theta)
        assert np.allclose(many @ again, 1, atol=1e-9)
        assert others.sum() == pytest.approx(prices.sum())
        assert (gain - others @ many).max() < 1e-8
        kept = program.keep(np.zeros(len(gain), dtype=bool))
        assert kept[again > 1e-12].all()
        assert kept.sum() <= 4
        assert program.gain @ program.solve()[0] == pytest.approx(gain @ theta)


def test_a_restricted_master_that_stalls_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    many = np.concatenate([np.eye(30), rng.random((30, 60))], axis=1)
    gain = rng.random(90) + 30 * (np.arange(90) >= 30)
    monkeypatch.setattr(solvers, "MOST_STEPS", 0)
    program = RestrictedMaster(many[:, :30], gain[:30])
    program.solve()
    program.add(many[:, 30:], gain[30:])
    theta, _ = program.solve()
    assert gain @ theta == pytest.approx(gain @ RestrictedMaster(many, gain).solve()[0])
    program.add(many[:, :1], gain[:1] + 100)
    assert program.solve()[0][-1] > 0


@pytest.mark.parametrize(
    "problem",
    [line_problem(25), grid_problem("euclidean", side=4), random_problem(md.LDP(1), 1, k=8)],
    ids=repr,
)
def test_the_evidence_proves_the_reported_gap(problem: md.Problem) -> None:
    told: list[Progress] = []
    solution = md.design(problem, route="columns", gap=0.1, progress=told.append)
    assert float(solution.gap) <= told[-1].gap + 1e-6
    assert float(solution.bound) >= told[-1].bound - 1e-6 * abs(told[-1].value)
