"""The tasks of a sweep: batches of problems of one shape, and small groups of others."""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from mechdesign.designs.answers import SolutionPool
from mechdesign.designs.design import check_limits, design_until, time_left
from mechdesign.designs.solution import Solution
from mechdesign.errors import InputError, MechdesignError, SolverError, shown
from mechdesign.kernel.documents import OPTIMAL_GAP
from mechdesign.problem import Problem
from mechdesign.search import AUTO, RejectedRoute
from mechdesign.search.interior.solve import solve_interior_batch
from mechdesign.search.limits import Limits
from mechdesign.search.lp.batching import most_together, shape
from mechdesign.search.router import FORMULAS
from mechdesign.sweeps.finished import Cache, Finished

SINGLES = 8
"""Number of separately solved problems sent to a process at a time."""

AIM = 1e-7
"""The default gap of a batch: below the threshold of optimality, with room for the repair."""

WHY = "the loss and the notion are linear in the channel; solved with others of the same shape"


@dataclass(frozen=True)
class Options:
    """The options of a sweep; see :func:`~mechdesign.design_many`.

    Attributes
    ----------
    is_frontier
        Whether each problem is the previous one with a larger budget. One process then gives each
        an equal share of the remaining time.
    deadline
        The end of the time limit on the system clock, which all processes share.

    Raises
    ------
    InputError
        If an option is invalid.
    """

    errors: str = "raise"
    route: str = AUTO
    gap: float | None = None
    time_limit: float | None = None
    progress: bool | None = None
    n_jobs: int | None = None
    backend: str | None = None
    cache: Cache | None = None
    is_frontier: bool = field(default=False, kw_only=True)
    deadline: float = field(default=math.inf, kw_only=True)

    def __post_init__(self) -> None:
        """Check the options and start the time limit."""
        if self.errors not in ("raise", "return"):
            raise InputError("errors", "'raise' or 'return'", shown(self.errors))
        if self.n_jobs is not None and (type(self.n_jobs) is not int or self.n_jobs == 0):
            raise InputError("n_jobs", "a number of processes, or -1 for all", shown(self.n_jobs))
        check_limits(self.gap, self.time_limit)
        if self.time_limit is not None and math.isinf(self.deadline):
            object.__setattr__(self, "deadline", time.time() + self.time_limit)
        self.finished()

    def finished(self) -> Finished | None:
        """Return the folder of finished certificates, if there is one."""
        return None if self.cache is None else Finished(self.cache, self.route, self.gap)

    def key(self, problem: Any) -> Hashable | None:
        """Return the shape that problems of a batch share; None for a separate solution."""
        is_small = isinstance(problem, Problem) and problem.is_written_out and not self.is_frontier
        return shape(problem) if is_small and self.route == AUTO else None


Task: TypeAlias = tuple[Sequence[tuple[int, Any]], Options]
"""Problems with their positions, and the options."""


def divided(window: Sequence[Any], options: Options, n_jobs: int) -> list[list[int]]:
    """Divide the positions of a window: batches of one shape, and small groups of others."""
    if options.is_frontier and n_jobs == 1:
        return [list(range(len(window)))]
    groups: dict[Hashable, list[int]] = {}
    for n, problem in enumerate(window):
        groups.setdefault(options.key(problem), []).append(n)
    tasks = []
    for key, places in groups.items():
        most = SINGLES if key is None else most_together(window[places[0]])
        size = min(most, -(-len(places) // n_jobs))
        tasks += [places[i : i + size] for i in range(0, len(places), size)]
    return sorted(tasks)


def run(task: Task) -> list[Any]:
    """Solve one task in a separate process and return picklable answers.

    A solution is returned without its problem, which the caller has.

    Raises
    ------
    SolverError
        For an exception of another package that cannot be pickled.
    """
    try:
        return [
            answer if isinstance(answer, MechdesignError) else replace(answer, problem=None)  # type: ignore[arg-type]
            for answer in run_each(task)
        ]
    except Exception as error:
        if _can_be_sent(error):
            raise
        told = "; ".join([f"{type(error).__name__}: {error}", *error.__notes__])
        raise SolverError(told) from None


def _can_be_sent(error: Exception) -> bool:
    with suppress(Exception):  # methods of foreign classes may raise anything
        pickle.loads(pickle.dumps(error))
        return True
    return False


def run_each(task: Task) -> Iterator[Solution | MechdesignError]:
    """Yield the answers to the problems of a task, all of one shape or separate, in order.

    Raises
    ------
    KeyboardInterrupt
        If the user has interrupted: an answer that was cut short does not count.
    """
    asked, options = task
    finished = options.finished()
    found = {} if finished is None else {n: finished.find(problem) for n, problem in asked}
    kept = {n for n, solution in found.items() if solution is not None}
    missing = [(n, problem) for n, problem in asked if n not in kept]
    deadline = options.deadline
    left = time_left(deadline)
    if len(missing) > 1 and left and options.key(missing[0][1]) is not None:
        found |= _solve_batch(missing, options, left)
    for n, (place, problem) in enumerate(asked):
        name = "" if options.is_frontier else f"problems[{place}]"
        try:
            solution = found.get(place)
            if solution is None:
                if not (time_left(deadline) or options.is_frontier):
                    raise SolverError("not started, as the time limit was reached")
                share = 1 / (len(asked) - n) if options.is_frontier else 1.0
                solution = design_until(deadline, problem, options.gap, options.route, share)
        except MechdesignError as error:
            yield _placed(error, name)
            continue
        except MemoryError:
            yield _placed(SolverError("out of memory"), name)
            continue
        except Exception as error:
            if options.errors == "return" and not options.is_frontier:
                yield _placed(SolverError(f"{type(error).__name__}: {error}"), name)
                continue
            error.add_note(f"while problems[{place}] was designed")
            raise
        if finished is not None and place not in kept:
            finished.keep(solution)
        yield solution


def _placed(error: MechdesignError, name: str) -> MechdesignError:
    if not name:
        return error
    return error.within(name) if isinstance(error, InputError) else type(error)(f"{name}: {error}")


def _solve_batch(
    asked: Sequence[tuple[int, Problem]], options: Options, seconds: float
) -> dict[int, Solution]:
    """Solve problems of one shape, except those with a closed form and those that fail."""
    limits = Limits(AIM if options.gap is None else options.gap / 2, seconds)
    numeric: list[tuple[int, Problem, tuple[RejectedRoute, ...]]] = []
    for place, problem in asked:
        if limits.expired():  # the user's own utilities may be slow
            return {}
        with limits.phase("compile"):
            if FORMULAS.suits(problem) is None:
                numeric.append((place, problem, FORMULAS.rejected(problem)))
    if not numeric:
        return {}
    try:
        with limits.phase("solve"):
            raws = solve_interior_batch([problem for _, problem, _ in numeric], limits)
    except Exception as error:
        if not limits.is_failure(error):
            raise
        return {}
    found = {}
    for (place, problem, considered), raw in zip(numeric, raws or [], strict=raws is not None):
        own = Limits(options.gap or OPTIMAL_GAP)
        own.charge({phase: spent / len(numeric) for phase, spent in limits.timings.items()})
        answers = SolutionPool(problem, own)
        if answers.take(raw, WHY) and answers.are_enough:
            found[place] = answers.solution(considered)
    return found
