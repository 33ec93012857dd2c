"""The tasks of batch design: batches of problems of one shape, and small lots of all others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from mechdesign.certify.channel_file import OPTIMAL_GAP
from mechdesign.designs.answers import Answers
from mechdesign.designs.facade import design
from mechdesign.designs.solution import Solution
from mechdesign.errors import (
    CertificateError,
    InputError,
    MechdesignError,
)
from mechdesign.problem import Problem
from mechdesign.routes import ROUTES, Considered
from mechdesign.routes.closed_form import ClosedForms
from mechdesign.routes.interior.conversion import solve_interior_batch
from mechdesign.routes.limits import Limits
from mechdesign.routes.lp.batching import most_together, shape

__all__ = ["Options", "Parts", "divided", "run"]

SINGLES = 8
"""How many problems that are solved one by one are sent to a process at a time."""

AIM = 1e-7
"""The default gap of a batch: below what counts as optimal, with room for the repair."""

WHY = "the loss and the notion are linear in the channel; solved with others of the same shape"

Parts: TypeAlias = dict[str, Any]
"""A solution without its problem: what a process sends back."""


@dataclass(frozen=True)
class Options:
    """How to solve every problem."""

    route: str
    gap: float | None

    def aim(self) -> float:
        """Return the gap at which a batch stops."""
        return AIM if self.gap is None else self.gap / 2

    def key(self, problem: Any) -> Hashable | None:
        """Return the shape that problems solved together share; None for one solved alone."""
        together = self.route == "auto" and isinstance(problem, Problem)
        return shape(problem) if together else None


def divided(window: Sequence[Any], options: Options, n_jobs: int) -> list[list[int]]:
    """Divide the places of a window: batches of one shape, and small lots of all others."""
    groups: dict[Hashable, list[int]] = {}
    for n, problem in enumerate(window):
        key = options.key(problem)
        groups.setdefault(key, []).append(n)
    tasks = []
    for key, places in groups.items():
        most = SINGLES if key is None else most_together(window[places[0]])
        size = min(most, -(-len(places) // n_jobs))
        tasks += [places[i : i + size] for i in range(0, len(places), size)]
    return sorted(tasks)


def run(asked: Sequence[tuple[int, Problem]], options: Options) -> list[Parts | MechdesignError]:
    """Solve one task: some problems with their places, all of one shape or each alone."""
    found: dict[int, Solution] = {}
    if len(asked) > 1 and options.key(asked[0][1]) is not None:
        found = _solve_batch(asked, options)
    answers: list[Parts | MechdesignError] = []
    for place, problem in asked:
        try:
            solution = found.get(place) or design(problem, route=options.route, gap=options.gap)
        except MechdesignError as error:
            answers.append(_placed(error, f"problems[{place}]"))
            continue
        except Exception as error:
            error.add_note(f"while problems[{place}] was designed")
            raise
        parts = {field.name: getattr(solution, field.name) for field in fields(solution)}
        answers.append({name: part for name, part in parts.items() if name != "problem"})
    return answers


def _placed(error: MechdesignError, name: str) -> MechdesignError:
    return error.within(name) if isinstance(error, InputError) else type(error)(f"{name}: {error}")


def _solve_batch(asked: Sequence[tuple[int, Problem]], options: Options) -> dict[int, Solution]:
    """Solve problems of one shape, but for those with a closed form and those that fail."""
    limits = Limits(options.aim())
    stopwatch, formulas = limits.stopwatch, ROUTES[ClosedForms.name]
    numeric: list[tuple[int, Problem, tuple[Considered, ...]]] = []
    for place, problem in asked:
        with stopwatch.phase("compile"):
            verdict = formulas.check(problem)
        if not verdict.holds:
            numeric.append((place, problem, verdict.considered))
    if not numeric:
        return {}
    try:
        with stopwatch.phase("solve"):
            raws = solve_interior_batch([problem for _, problem, _ in numeric], limits)
    except Exception as error:
        if not limits.is_failure(error):
            raise
        return {}
    found = {}
    for (place, problem, considered), raw in zip(numeric, raws or [], strict=raws is not None):
        own = Limits(options.gap or OPTIMAL_GAP)
        own.stopwatch = stopwatch.shared(len(numeric))
        answers = Answers(problem, own)
        with suppress(CertificateError):
            if answers.take(raw, WHY) and answers.are_enough:
                found[place] = answers.solution(considered)
    return found
