"""The interior-point route: the optimum of the linear program, and a bound at every step."""

from __future__ import annotations

import math
import signal
import threading
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

from mechdesign import (
    LDP,
    LIP,
    PML,
    BayesAccuracy,
    ContextAwareLDP,
    Domain,
    HammingLoss,
    HighLowLDP,
    MeanAbsoluteError,
    MetricPrivacy,
    Prior,
    Problem,
    design,
)
from mechdesign.errors import InputError, UnsupportedError
from mechdesign.notions import Notion
from mechdesign.search.interior.newton import interior_point
from mechdesign.search.interior.solve import solve_interior
from mechdesign.search.interior.sparse import SparseBlocks
from mechdesign.search.limits import Limits, Progress
from mechdesign.utilities import Utility
from problems import families
from solvers import SOLVERS
from tests.strategies import examples

FAMILIES = {
    "ldp": families.ldp_numeric(12),
    "lip": families.lip_numeric(12),
    "lip, smallest prior 1e-6": Problem(
        range(5), LIP(1), MeanAbsoluteError(), prior=Prior.from_counts([1, 10**6, 7, 900, 5000])
    ),
    "lift": families.lift_numeric(9),
    "pml": families.pml_hamming(9),
    "line": families.line_metric(12),
    "line, entries down to e**-40": families.line_metric(11, epsilon=4),
    "grid": families.euclidean_grid(4, seed=3),
    "city blocks": families.manhattan_grid(4, seed=3),
    "any budgets": families.random_context_aware(12),
    "blocks": families.block_grid(4),
    "high-low": families.high_low(12),
    "identifiability": families.differential_identifiability(8),
    "both": families.lip_and_ldp(10),
    "both, of unlike shape": Problem(
        range(8),
        [LIP(1), MetricPrivacy("0.4", "absolute")],
        MeanAbsoluteError(),
        prior=families.random_prior(8),
    ),
    "list of priors": families.bounded_prior_list(6),
    "inputs with equal rows": Problem(
        range(3), ContextAwareLDP([[0, 0, 1], [1, 0, 1], [1, 1, 0]]), HammingLoss()
    ),
    "many outputs": families.many_outputs(6),
    "an input of prior 0": Problem(
        range(4), LDP(1), MeanAbsoluteError(), prior=[0, "0.3", "0.3", "0.4"]
    ),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_it_is_the_optimum_of_the_program_from_the_definitions(name: str) -> None:
    problem = FAMILIES[name]
    solution = design(problem, route="interior")
    assert solution.route.startswith("interior"), solution
    assert solution.status == "optimal", solution
    assert solution.bound <= solution.value
    reference = SOLVERS["direct-lp"](problem).value
    assert math.isclose(float(solution.value), reference, rel_tol=2e-6, abs_tol=1e-9)


@pytest.mark.parametrize("utility", [HammingLoss(), BayesAccuracy()], ids=lambda u: u.name)
def test_large_programs_come_to_it_by_themselves(utility: Utility) -> None:
    """The accuracy of a guess is a program on as many outputs as there are inputs."""
    notion = families.random_context_aware(40).privacy[0]
    problem = Problem(range(40), notion, utility, prior=families.random_prior(40))
    solution = design(problem)
    assert solution.route.startswith("interior")
    assert solution.status == "optimal"


def budgets(k: int) -> st.SearchStrategy[list[list[str | Fraction]]]:
    entry = st.one_of(st.just("inf"), st.integers(1, 400).map(lambda n: Fraction(n, 100)))
    return st.lists(st.lists(entry, min_size=k, max_size=k), min_size=k, max_size=k)


@pytest.mark.slow
@examples(60)
@given(st.integers(2, 6).flatmap(lambda k: st.tuples(budgets(k), st.just(k))), st.data())
def test_any_budgets_any_loss(
    case: tuple[list[list[str | Fraction]], int], data: st.DataObject
) -> None:
    """Asymmetric budgets, free pairs, groups apart: the value of HiGHS, and a bound below it."""
    matrix, k = case
    prior = Prior.from_counts(data.draw(st.lists(st.integers(1, 50), min_size=k, max_size=k)))
    problem = Problem(Domain.range(k), ContextAwareLDP(matrix), HammingLoss(), prior=prior)
    mine, other = design(problem, route="interior"), design(problem, route="linear-program")
    assert mine.bound <= other.value
    assert other.bound <= mine.value
    assert float(mine.value - mine.bound) <= 1e-6 * max(1e-3, float(mine.value))


@pytest.mark.parametrize("name", ["ldp", "lip", "grid", "any budgets", "both, of unlike shape"])
def test_bounds_at_every_step_are_below_the_optimum_and_values_above(name: str) -> None:
    problem = FAMILIES[name]
    optimum = SOLVERS["direct-lp"](problem).value
    seen: list[Progress] = []
    solve_interior(problem, Limits(watch=seen.append))
    assert len(seen) > 5
    for progress in seen:
        assert progress.bound <= optimum * (1 + 1e-9)
        assert progress.value >= optimum * (1 - 1e-9)
    assert [p.rounds for p in seen] == list(range(len(seen)))
    assert seen[-1].gap <= 1e-8
    values, bounds = [p.value for p in seen], [p.bound for p in seen]
    assert values == sorted(values, reverse=True)
    assert bounds == sorted(bounds)


def test_it_ends_at_a_gap_that_is_asked_for() -> None:
    problem = FAMILIES["grid"]
    exact, rough = design(problem, route="interior"), design(problem, route="interior", gap=1e-2)
    assert 1e-6 < rough.gap <= 1e-2
    assert rough.status == "bounded"
    assert rough.bound <= exact.bound
    assert exact.value <= rough.value


class _Clock:
    """A watch that lets a limit pass after some rounds."""

    def __init__(self, limits: Limits, rounds: int) -> None:
        self.limits, self.rounds = limits, rounds
        limits.watch = self

    def __call__(self, progress: Progress) -> None:
        if progress.rounds == self.rounds:
            self.limits.seconds = 0.0


@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_the_result_at_the_time_limit_is_private_and_bounded(rounds: int) -> None:
    problem = FAMILIES["grid"]
    limits = Limits(seconds=1e9)
    _Clock(limits, rounds)
    raw = solve_interior(problem, limits)
    assert "time limit" in limits.ended
    assert np.allclose(raw.matrix.sum(axis=1), 1)
    assert not (problem.cone.matrix() @ raw.matrix > 1e-12).any()


def test_a_time_limit_is_respected_and_reported() -> None:
    problem = families.euclidean_grid(5, seed=1)
    solution = design(problem, time_limit=1e-6)
    assert solution.bound <= solution.value
    assert any("time limit" in note for note in solution.notes)
    assert solution.status == "bounded"
    assert problem.privacy[0].holds(solution.channel)


def test_an_interruption_keeps_the_best_so_far() -> None:
    problem = families.euclidean_grid(5, seed=1)
    seen: list[Progress] = []

    def watch(progress: Progress) -> None:
        seen.append(progress)
        if progress.rounds == 3:
            signal.raise_signal(signal.SIGINT)

    solution = design(problem, progress=watch)
    assert len(seen) == 4
    assert solution.bound <= solution.value
    assert "ended early: interrupted" in solution.notes


def test_a_second_interruption_is_as_usual() -> None:
    def watch(_progress: Progress) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        design(families.euclidean_grid(5, seed=1), progress=watch)
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_leaves_the_signals_alone() -> None:
    before, found = signal.getsignal(signal.SIGINT), []
    thread = threading.Thread(target=lambda: found.append(design(families.ldp_numeric(5))))
    thread.start()
    thread.join()
    assert found[0].status == "optimal"
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("key", ["gap", "time_limit"])
@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf, "1", True])
def test_limits_that_are_none(key: str, wrong: object) -> None:
    with pytest.raises(InputError, match=f"^{key}: expected a number > 0"):
        design(families.ldp_numeric(3), **{key: wrong})  # type: ignore[arg-type]


def test_outputs_and_inputs_alike_stand_for_each_other() -> None:
    """LDP at a uniform prior, Hamming loss: one output for all k gives (k - 1)/(e**eps + k - 1)."""
    k, epsilon = 6, 1.0
    pairs = [(x, z) for x in range(k) for z in range(k) if x != z]
    A = np.zeros((len(pairs), k))
    for row, (x, z) in enumerate(pairs):
        A[row, x], A[row, z] = math.exp(-epsilon), -1.0
    cost = np.ones((1, k, 1))
    cost[0, 0, 0] = 0.0
    blocks = SparseBlocks(sp.csr_array(A), k, np.array([float(k)]))
    orbit = np.zeros(k, dtype=np.intp)
    found = interior_point(blocks, cost, Limits(), orbit=orbit)
    wanted = (k - 1) / (math.exp(epsilon) + k - 1)
    assert math.isclose(found.value[0] / k, wanted, rel_tol=1e-7)
    assert found.bound[0] <= found.value[0]
    assert math.isclose(found.matrix.sum(), 1, rel_tol=1e-9)


@pytest.mark.parametrize(
    "problem",
    [
        families.worst_case_numeric(4),
        families.bounded_prior_box(5),
    ],
    ids=["worst case", "too many priors"],
)
def test_unsupported_problems_are_refused_and_solved_otherwise(problem: Problem) -> None:
    with pytest.raises(UnsupportedError):
        solve_interior(problem, Limits())
    assert design(problem).status == "optimal"


def test_a_part_of_the_limits_heeds_the_whole() -> None:
    whole = Limits(seconds=1e9)
    part = whole.part()
    assert not part.expired()
    whole.interrupted = True
    assert part.expired()
    assert part.ended == "interrupted"
    assert Limits(seconds=0).part().expired()


@pytest.mark.parametrize(
    ("notion", "stricter"),
    [
        (LDP(1), LDP("0.99")),
        (LIP(1), LIP("0.99")),
        (PML("0.5"), PML("0.49")),
        (HighLowLDP(1, [0]), HighLowLDP("0.99", [0])),
        (MetricPrivacy(1, "absolute"), MetricPrivacy("0.99", "absolute")),
    ],
    ids=str,
)
def test_private_at_epsilon_and_not_below(notion: Notion, stricter: Notion) -> None:
    """The channel spends its budget: at a slightly smaller epsilon it is refused."""
    prior = Prior.from_counts([3, 5, 7, 4])
    problem = Problem(range(4), notion, MeanAbsoluteError(), prior=prior)
    channel = design(problem, route="interior").channel
    assert notion.holds(channel, prior)
    assert not stricter.holds(channel, prior)
