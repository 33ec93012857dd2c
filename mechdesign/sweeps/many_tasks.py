"""The tasks of batch design: batches of problems of one shape, and small lots of all others."""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from mechdesign.designs.answers import SolutionPool
from mechdesign.designs.design import Series
from mechdesign.designs.solution import Solution
from mechdesign.errors import CertificateError, InputError, MechdesignError, SolverError
from mechdesign.kernel.documents import OPTIMAL_GAP
from mechdesign.problem import Problem
from mechdesign.search import AUTO, RejectedRoute
from mechdesign.search.interior.conversion import solve_interior_batch
from mechdesign.search.limits import Limits
from mechdesign.search.lp.batching import most_together, shape
from mechdesign.search.router import FORMULAS
from mechdesign.sweeps.finished import Cache, Finished

__all__ = ["Options", "Task", "divided", "run", "run_each"]

SINGLES = 8
"""How many problems that are solved one by one are sent to a process at a time."""

AIM = 1e-7
"""The default gap of a batch: below what counts as optimal, with room for the repair."""

WHY = "the loss and the notion are linear in the channel; solved with others of the same shape"


@dataclass(frozen=True)
class Options:
    """How to solve every problem.

    Attributes
    ----------
    route, gap
        As for :func:`~mechdesign.design`.
    deadline
        When the time is over, by the clock of the system: all processes share it.
    returns_errors
        Whether what goes wrong with one problem is to stand in its place.
    cache
        A folder of finished certificates, which all processes can reach; None for none.
    rising
        Whether every problem begins where the last one was, at a smaller budget.
    """

    route: str
    gap: float | None
    deadline: float = math.inf
    returns_errors: bool = False
    cache: Cache | None = None
    rising: bool = False

    def finished(self) -> Finished | None:
        """Return the certificates that are finished, if there is a folder of them."""
        return None if self.cache is None else Finished(self.cache, self.route, self.gap)

    @property
    def left(self) -> float:
        """Seconds left, at least 0."""
        return max(0.0, self.deadline - time.time())

    def aim(self) -> float:
        """Return the gap at which a batch stops."""
        return AIM if self.gap is None else self.gap / 2

    def key(self, problem: Any) -> Hashable | None:
        """Return the shape that problems solved together share; None for one solved alone."""
        is_small = isinstance(problem, Problem) and problem.is_written_out and not self.rising
        return shape(problem) if is_small and self.route == AUTO else None


Task: TypeAlias = tuple[Sequence[tuple[int, Problem]], Options]
"""Problems with their places, and how to solve them."""


def divided(window: Sequence[Any], options: Options, n_jobs: int) -> list[list[int]]:
    """Divide the places of a window: batches of one shape, and small lots of all others."""
    if options.rising:
        return [list(range(len(window)))]
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


def run(task: Task) -> list[Solution | MechdesignError]:
    """Solve one task in a process of its own; what goes wrong can be sent back.

    A solution comes without its problem, which whoever asked has.

    Raises
    ------
    SolverError
        For an exception that is none of the library's, if it cannot be sent.
    """
    try:
        return [_bare(answer) for answer in run_each(task)]
    except Exception as error:
        if _can_be_sent(error):
            raise
        told = "; ".join([f"{type(error).__name__}: {error}", *error.__notes__])
        raise SolverError(told) from None


def _bare(answer: Solution | MechdesignError) -> Any:
    return answer if isinstance(answer, MechdesignError) else replace(answer, problem=None)  # type: ignore[arg-type]


def _can_be_sent(error: Exception) -> bool:
    with suppress(Exception):  # whatever the methods of another's class raise
        pickle.loads(pickle.dumps(error))
        return True
    return False


def run_each(task: Task) -> Iterator[Solution | MechdesignError]:
    """Yield the answers to the problems of a task, all of one shape or each alone, in order.

    Raises
    ------
    KeyboardInterrupt
        If the user has interrupted: an answer that was cut short is none.
    """
    asked, options = task
    finished = options.finished()
    found = {} if finished is None else _kept(asked, finished)
    missing, kept = [each for each in asked if each[0] not in found], set(found)
    if len(missing) > 1 and options.left and options.key(missing[0][1]) is not None:
        found |= _solve_batch(missing, options)
    series = Series(options.gap, options.deadline, options.route, rising=options.rising)
    for n, (place, problem) in enumerate(asked):
        name = f"problems[{place}]"
        try:
            solution = found.get(place)
            if solution is None:
                if not (series.left or options.rising):
                    raise SolverError("not started, as the time limit was reached")
                share = 1 / (len(asked) - n) if options.rising else 1.0
                solution = series.design(problem, share)
        except MechdesignError as error:
            yield _placed(error, name)
            continue
        except MemoryError:
            yield SolverError(f"{name}: out of memory")
            continue
        except Exception as error:
            if options.returns_errors:
                yield SolverError(f"{name}: {type(error).__name__}: {error}")
                continue
            error.add_note(f"while {name} was designed")
            raise
        if finished is not None and place not in kept:
            finished.keep(solution)
        yield solution


def _kept(asked: Sequence[tuple[int, Problem]], finished: Finished) -> dict[int, Solution]:
    """Return the solutions that are finished, by place."""
    found = {n: finished.find(each) for n, each in asked}
    return {n: solution for n, solution in found.items() if solution is not None}


def _placed(error: MechdesignError, name: str) -> MechdesignError:
    return error.within(name) if isinstance(error, InputError) else type(error)(f"{name}: {error}")


def _solve_batch(asked: Sequence[tuple[int, Problem]], options: Options) -> dict[int, Solution]:
    """Solve problems of one shape, but for those with a closed form and those that fail."""
    limits = Limits(options.aim(), options.left)
    stopwatch = limits.stopwatch
    numeric: list[tuple[int, Problem, tuple[RejectedRoute, ...]]] = []
    for place, problem in asked:
        with stopwatch.phase("compile"):
            reason = FORMULAS.suits(problem)
        if reason is None:
            numeric.append((place, problem, FORMULAS.rejected(problem)))
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
        answers = SolutionPool(problem, own)
        with suppress(CertificateError):
            if answers.take(raw, WHY) and answers.are_enough:
                found[place] = answers.solution(considered)
    return found
