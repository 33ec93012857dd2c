"""A spanner bounds the optimum from both sides, and with all pairs it is the optimum."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    ContextAwareLDP,
    DifferentialIdentifiability,
    Distortion,
    Domain,
    EuclideanDistance,
    HammingLoss,
    MetricPrivacy,
    Prior,
    Problem,
    SolverError,
    UnsupportedError,
)
from mechdesign.notions.rows.pair_rows import FREE, PairRows
from mechdesign.routes.interior.conversion import by_interior
from mechdesign.routes.limits import Limits, Progress
from mechdesign.routes.lp.linear_program import by_highs
from mechdesign.routes.lp.solve import solve_linear
from mechdesign.routes.presolve import spanner as spanner_module
from mechdesign.routes.presolve.reduction import Answer
from mechdesign.routes.presolve.shortest_paths import closure
from mechdesign.routes.presolve.spanner import Spanner, spanner
from mechdesign.routes.presolve.spanner_search import solve_spanner
from tests.routes_support import assert_optimal, proved_bound, repaired_value
from tests.strategies import examples

seeds = st.integers(0, 2**32)


def grid(n: int, epsilon: str = "0.7", seed: int = 0) -> Problem:
    counts = np.random.default_rng(seed).integers(1, 50, n * n).tolist()
    return Problem(
        Domain.grid(n, n),
        MetricPrivacy(epsilon, "euclidean"),
        EuclideanDistance(),
        prior=Prior.from_counts(counts),
    )


@functools.cache
def grid_optimum(n: int) -> float:
    problem = grid(n)
    return proved_bound(problem, solve_linear(problem))


def ratios(n: int, epsilon: str = "0.7") -> PairRows:
    return MetricPrivacy(epsilon, "euclidean").family(Domain.grid(n, n))


def found_in(family: PairRows, per_input: float) -> Spanner:
    found = spanner(family, per_input)
    assert found is not None
    return found


@examples(80)
@given(st.integers(3, 12), seeds, st.sampled_from([0.0, 0.4]), st.integers(1, 6), st.booleans())
def test_the_inner_cone_implies_every_pair(
    k: int, seed: int, free: float, per_input: int, priced: bool
) -> None:
    rng = np.random.default_rng(seed)
    E = 1 + rng.random((k, k))
    E[rng.random((k, k)) < free] = np.inf
    text = [["inf" if np.isinf(e) else repr(float(e)) for e in row] for row in E]
    family = ContextAwareLDP(text).family(Domain.range(k))
    found = spanner(family, per_input)
    if found is None:
        return
    E = family.lengths()
    inner = found.inner(rng.random((k, k)) ** 4 if priced else None)
    short = inner.lengths()
    assert ((inner.index != FREE) == found.kept).all()
    assert (closure(short) <= E).all()
    assert (short[found.kept] > E[found.kept] / 4).all()
    assert (found.outer.index == np.where(found.kept, family.index, FREE)).all()
    assert found.rows == int(found.kept.sum())
    true, pairs = np.where(found.kept, E, np.inf), np.isfinite(E) & (E > 0)
    assert found.stretch == pytest.approx(max(1.0, float((closure(true)[pairs] / E[pairs]).max())))
    assert found.stretch <= 1.5


def test_the_stretch_of_king_moves_is_that_of_the_octagon() -> None:
    found = found_in(ratios(9), 8)
    assert (found.kept.sum(axis=1) <= 8).all()
    octagon = 1 / np.cos(np.pi / 8)
    assert 0.999 * octagon < found.stretch <= octagon


def test_more_pairs_stretch_less() -> None:
    found = [found_in(ratios(8), n) for n in (6, 12, 18, 24)]
    assert all(a.rows < b.rows and a.stretch > b.stretch for a, b in itertools.pairwise(found))
    assert all((a.kept <= b.kept).all() for a, b in itertools.pairwise(found))
    for n, one in zip((6, 12, 18, 24), found, strict=True):
        assert one.rows <= n * 64


def test_prices_say_where_to_shorten() -> None:
    """A pair that is dear keeps its length where others can give way."""
    found = found_in(ratios(5), 8)
    E = ratios(5).lengths()
    dear = np.zeros_like(E)
    dear[12, 7] = dear[7, 12] = 1.0
    kept = found.inner(dear).lengths()
    assert kept[12, 7] == pytest.approx(E[12, 7], rel=1e-9)
    assert kept[7, 12] == pytest.approx(E[7, 12], rel=1e-9)
    diagonal = np.zeros_like(E)
    diagonal[12, 6] = 1.0
    assert found.inner(diagonal).lengths()[12, 6] == pytest.approx(E[12, 6], rel=1e-9)


def test_without_a_solver_all_are_shortened_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise SolverError("none")

    monkeypatch.setattr(spanner_module, "solve_lp", fail)
    found = found_in(ratios(5), 8)
    E = ratios(5).lengths()
    inner = found.inner().lengths()
    assert np.allclose(inner[found.kept] * found.stretch, E[found.kept], rtol=1e-9)
    assert (closure(inner) <= E).all()


@pytest.mark.parametrize(
    "family",
    [
        LDP(1).family(Domain.range(30)),
        ContextAwareLDP([["inf"] * 4] * 4).family(Domain.range(4)),
        ContextAwareLDP([[0, 0, 1], [1, 0, 1], [1, 1, 0]]).family(Domain.range(3)),
        MetricPrivacy(1, "manhattan").family(Domain.grid(5, 5)),
        DifferentialIdentifiability(3).family(Domain.range(9), Prior.from_counts(range(1, 10))),
    ],
    ids=["ldp", "free", "zero", "manhattan", "factors"],
)
def test_where_nothing_can_be_left_out_there_is_no_spanner(family: PairRows) -> None:
    assert spanner(family, 4) is None


# --- the search -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("per_input", "within"), [(8, 0.06), (12, 0.012), (16, 0.005)])
def test_value_and_bound_close_in_on_the_optimum(per_input: int, within: float) -> None:
    problem, optimum = grid(6), grid_optimum(6)
    raw = solve_spanner(problem, Limits(gap=1.0), by_highs, per_input)
    value, bound = float(repaired_value(problem, raw)), proved_bound(problem, raw)
    assert bound < optimum < value  # strictly: pairs that bind were left out
    assert value - bound < within * value
    # the channel is private but for the tolerance of the solver, before any repair
    claimed = float((problem.prior.array[:, None] * euclidean(problem) * raw.matrix).sum())
    assert value == pytest.approx(claimed, rel=1e-7)
    assert "shortened, they imply all" in raw.notes[0]


def euclidean(problem: Problem) -> np.ndarray:
    points = np.array(problem.domain.labels, dtype=float)
    return np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))


def test_the_last_round_is_exact() -> None:
    problem = grid(4)
    seen: list[Progress] = []
    raw = solve_spanner(problem, Limits(watch=seen.append), by_highs, 4)
    assert_optimal(problem, raw, grid_optimum(4))
    assert [p.rounds for p in seen] == list(range(1, len(seen) + 1))
    assert len(seen) > 1
    assert all(p.bound <= p.value * (1 + 1e-9) for p in seen)
    assert all(a.gap >= b.gap for a, b in itertools.pairwise(seen))
    assert raw.notes == ["Spanner: all 240 pairs"]
    assert raw.route.endswith(f"{len(seen)} rounds")


def test_it_ends_at_the_gap_and_at_the_time_limit() -> None:
    problem = grid(5)
    seen: list[Progress] = []
    raw = solve_spanner(problem, Limits(gap=0.5, watch=seen.append), by_interior, 6)
    assert raw.route.endswith("1 round")
    assert seen[-1].gap <= 0.5
    limits = Limits(seconds=1e-9)
    raw = solve_spanner(problem, limits, by_interior, 6)
    assert limits.ended
    optimum = proved_bound(problem, solve_linear(problem))
    assert proved_bound(problem, raw) <= optimum <= float(repaired_value(problem, raw))


def test_a_slow_backend_is_not_asked_for_more_than_there_is_time_for() -> None:
    problem = grid(4)
    now = [0.0]

    class Clock(Limits):
        @property
        def elapsed(self) -> float:
            return now[0]

    limits = Clock(seconds=25)

    def slow(*given: object) -> Answer:
        now[0] += 5
        return by_highs(*given)  # type: ignore[arg-type]

    solve_spanner(problem, limits, slow, 4)
    assert now[0] == 10
    assert "too near for more pairs" in limits.ended


@examples(15)
@example(6, 1975641, 0.5)  # some pairs are free, and no chain joins them
@given(st.integers(3, 7), seeds, st.sampled_from([0.0, 0.5]))
def test_random_pairs_by_either_backend(k: int, seed: int, free: float) -> None:
    rng = np.random.default_rng(seed)
    E = rng.integers(4, 10, (k, k)) / 5
    E[rng.random((k, k)) < free] = np.inf
    text = [["inf" if np.isinf(e) else repr(float(e)) for e in row] for row in E]
    utility = Distortion(rng.integers(0, 9, (k, 3)).tolist())
    problem = Problem(Domain.range(k), ContextAwareLDP(text), utility)
    optimum = proved_bound(problem, solve_linear(problem))
    for backend in (by_highs, by_interior):
        assert_optimal(problem, solve_spanner(problem, Limits(), backend, 2), optimum)


def test_other_notions_stay_as_they_are() -> None:
    counts = Prior.from_counts(range(1, 17))
    notions = [MetricPrivacy("0.4", "euclidean"), LIP("0.8")]
    problem = Problem(Domain.grid(4, 4), notions, EuclideanDistance(), prior=counts)
    optimum = proved_bound(problem, solve_linear(problem))
    rough = solve_spanner(problem, Limits(gap=1.0), by_highs, 5)
    assert proved_bound(problem, rough) <= optimum * (1 + 1e-9)
    assert optimum <= float(repaired_value(problem, rough)) * (1 + 1e-9)
    assert_optimal(problem, solve_spanner(problem, Limits(), by_highs, 5), optimum)


def test_a_worst_case_is_refused() -> None:
    worst = Problem(Domain.range(3), LDP(1), HammingLoss(worst_case=True))
    with pytest.raises(UnsupportedError, match="worst case"):
        solve_spanner(worst, Limits(), by_highs)
