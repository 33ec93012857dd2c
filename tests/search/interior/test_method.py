"""The interior-point route: the optimum of the linear program, and a bound at every step."""

from __future__ import annotations

import math
import signal
import threading
from typing import Any

import pytest

import mechdesign as md
from mechdesign.search.limits import Limits, Progress
from mechdesign.utilities import Utility
from problems import families
from solvers import SOLVERS

MAE = md.MeanAbsoluteError()
RARE = md.Prior.from_counts([1, 10**6, 7, 900, 5000])
BELIEF = [0.1, 0.2, 0.3, 0.2, 0.2]
MEANS = [(f"mean {x}", {x: 3}, 1, {(x + n) % 5: 1 for n in (1, 2, 3)}) for x in range(5)]


def on(k: int, notions: Any, utility: Utility = MAE, prior: Any = None) -> md.Problem:
    return md.Problem(range(k), notions, utility, prior=prior or families.random_prior(k))


FAMILIES = {
    "ldp": families.ldp_numeric(12),
    "lip": families.lip_numeric(12),
    "lip, smallest prior 1e-6": on(5, md.LIP(1), prior=RARE),
    "lift": families.lift_numeric(9),
    "lift from below": on(5, md.AsymmetricLift(lower="0.3", upper="inf")),
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
    "both, of unlike shape": on(8, [md.LIP(1), md.MetricPrivacy("0.4", "absolute")]),
    "two lifts": on(5, [md.LIP(1), md.PML("0.7")]),
    "a budget and a stricter one": on(5, [md.LDP(1), md.HighLowLDP("0.5", [0, 1, 2])]),
    "a free lift and ldp": on(5, [md.AsymmetricLift("inf", "inf"), md.LDP(1)]),
    "rows of one's own": on(5, [md.LinearNotion(MEANS), md.MetricPrivacy(1, "absolute")]),
    "one prior": on(5, md.BoundedPriorLIP(1, priors=[BELIEF])),
    "list of priors": families.bounded_prior_list(6),
    "inputs with equal rows": on(
        3, md.ContextAwareLDP([[0, 0, 1], [1, 0, 1], [1, 1, 0]]), md.HammingLoss(), [1 / 3] * 3
    ),
    "many outputs": families.many_outputs(6),
    "an input of prior 0": on(4, md.LDP(1), prior=[0, "0.3", "0.3", "0.4"]),
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


def test_a_part_of_the_limits_heeds_the_whole() -> None:
    whole = Limits(seconds=1e9)
    part = whole.part()
    assert not part.expired()
    whole.interrupted = True
    assert part.expired()
    assert part.ended == "interrupted"
    assert Limits(seconds=0).part().expired()
