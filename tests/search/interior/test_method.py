"""The interior-point route: the optimum of the linear program, and a bound at every step."""

from __future__ import annotations

import math
import signal
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import mechdesign as md
from mechdesign.search.interior.newton import interior_point
from mechdesign.search.interior.sparse import SparseBlocks
from mechdesign.search.limits import Limits, Progress
from mechdesign.utilities import Utility
from problems import families
from solvers import SOLVERS

FAMILIES = {
    "ldp": families.ldp_numeric(12),
    "lip": families.lip_numeric(12),
    "lip, smallest prior 1e-6": md.Problem(
        range(5),
        md.LIP(1),
        md.MeanAbsoluteError(),
        prior=md.Prior.from_counts([1, 10**6, 7, 900, 5000]),
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
    "both, of unlike shape": md.Problem(
        range(8),
        [md.LIP(1), md.MetricPrivacy("0.4", "absolute")],
        md.MeanAbsoluteError(),
        prior=families.random_prior(8),
    ),
    "list of priors": families.bounded_prior_list(6),
    "inputs with equal rows": md.Problem(
        range(3), md.ContextAwareLDP([[0, 0, 1], [1, 0, 1], [1, 1, 0]]), md.HammingLoss()
    ),
    "many outputs": families.many_outputs(6),
    "an input of prior 0": md.Problem(
        range(4), md.LDP(1), md.MeanAbsoluteError(), prior=[0, "0.3", "0.3", "0.4"]
    ),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_it_is_the_optimum_of_the_program_from_the_definitions(name: str) -> None:
    problem = FAMILIES[name]
    solution = md.design(problem, route="interior")
    assert solution.route.startswith("interior"), solution
    assert solution.status == "optimal", solution
    assert solution.bound <= solution.value
    reference = SOLVERS["direct-lp"](problem).value
    assert math.isclose(float(solution.value), reference, rel_tol=2e-6, abs_tol=1e-9)


@pytest.mark.parametrize("utility", [md.HammingLoss(), md.BayesAccuracy()], ids=lambda u: u.name)
def test_large_programs_come_to_it_by_themselves(utility: Utility) -> None:
    """The accuracy of a guess is a program on as many outputs as there are inputs."""
    notion = families.random_context_aware(40).privacy[0]
    problem = md.Problem(range(40), notion, utility, prior=families.random_prior(40))
    solution = md.design(problem)
    assert solution.route.startswith("interior")
    assert solution.status == "optimal"


def test_a_second_interruption_is_as_usual() -> None:
    def watch(_progress: Progress) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        md.design(families.euclidean_grid(5, seed=1), progress=watch)
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_leaves_the_signals_alone() -> None:
    before, found = signal.getsignal(signal.SIGINT), []
    thread = threading.Thread(target=lambda: found.append(md.design(families.ldp_numeric(5))))
    thread.start()
    thread.join()
    assert found[0].status == "optimal"
    assert signal.getsignal(signal.SIGINT) is before


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


def test_a_part_of_the_limits_heeds_the_whole() -> None:
    whole = Limits(seconds=1e9)
    part = whole.part()
    assert not part.expired()
    whole.interrupted = True
    assert part.expired()
    assert part.ended == "interrupted"
    assert Limits(seconds=0).part().expired()
