"""Where the time of a design goes: seconds by phase, in the solution, its JSON and its report."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable

import pytest

from mechdesign import LDP, HammingLoss, MeanAbsoluteError, Problem, Solution, design
from mechdesign.designs.design import design_until
from mechdesign.search.limits import PHASES
from mechdesign.sweeps.frontier import design_frontier
from mechdesign.sweeps.many import design_many


def skewed(k: int) -> Problem:
    prior = [(x + 1) / (k * (k + 1) / 2) for x in range(k)]
    return Problem(range(k), LDP(1), MeanAbsoluteError(), prior=prior)


DESIGNS: dict[str, Callable[[], Solution]] = {
    "formula": lambda: design(Problem(range(3), LDP(1), HammingLoss())),
    "linear program": lambda: design(skewed(4)),
    "batch": lambda: design_many([skewed(4), skewed(4)])[1],
    "step": lambda: design_until(math.inf, skewed(30)),
    "frontier": lambda: design_frontier(skewed(4), [0.5, 1])[1],
}


@pytest.mark.parametrize("name", DESIGNS)
def test_every_phase_has_its_seconds_within_the_whole(name: str) -> None:
    solution = DESIGNS[name]()
    assert tuple(solution.timings) == PHASES
    assert all(seconds >= 0 for seconds in solution.timings.values())
    for phase in ("compile", "solve", "repair", "certify"):
        assert solution.timings[phase] > 0, phase
    for phase in PHASES:
        assert solution.timings[phase] < 0.005 or f"{phase} " in repr(solution)
    assert sum(solution.timings.values()) <= solution.seconds
    assert solution.to_json()["timings"] == solution.timings
    assert pickle.loads(pickle.dumps(solution)).timings == solution.timings


def test_the_report_names_the_phases_that_took_long() -> None:
    solution = DESIGNS["formula"]()
    solution.timings.update(dict.fromkeys(PHASES, 0.001), solve=0.25)
    (line,) = [line for line in repr(solution).splitlines() if line.startswith("seconds")]
    assert line.endswith("(solve 0.25)")
