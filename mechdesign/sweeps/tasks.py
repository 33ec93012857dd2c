"""The tasks of a sweep, and the folder of finished certificates from which a sweep resumes.

A task is a batch of problems of one shape, or a small group of others.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import pickle
import time
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from mechdesign.designs.answers import SolutionPool
from mechdesign.designs.design import check_limits, design_until, time_left
from mechdesign.designs.solution import EARLY, PrivacyClaim, Solution
from mechdesign.errors import CertificateError, InputError, MechdesignError, SolverError, shown
from mechdesign.files import SavedMechanism, load_channel
from mechdesign.kernel import canonical
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.documents import OPTIMAL_GAP
from mechdesign.kernel.schema import read
from mechdesign.problem import Problem
from mechdesign.search import AUTO, RejectedRoute
from mechdesign.search.interior.solve import solve_interior_batch
from mechdesign.search.limits import Limits
from mechdesign.search.lp.program_size import most_together, shape
from mechdesign.search.router import FORMULAS
from mechdesign.writing.atomic import write_atomically

SINGLES = 8
"""Number of separately solved problems sent to a process at a time."""

AIM = 1e-7
"""The default gap of a batch: below the threshold of optimality, with room for the repair."""

WHY = "the loss and the notion are linear in the channel; solved with others of the same shape"


Cache = str | os.PathLike[str]
"""The name of a folder of certificates."""


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
    """
    try:
        return [
            answer if isinstance(answer, MechdesignError) else replace(answer, problem=None)  # type: ignore[arg-type]
            for answer in run_each(task)
        ]
    except Exception as error:
        try:  # methods of foreign classes may raise anything
            pickle.loads(pickle.dumps(error))
        except Exception:  # noqa: BLE001
            told = "; ".join([f"{type(error).__name__}: {error}", *error.__notes__])
            raise SolverError(told) from None
        raise


def run_each(task: Task) -> Iterator[Solution | MechdesignError]:
    """Yield the answers to the problems of a task, all of one shape or separate, in order.

    After Ctrl-C it raises KeyboardInterrupt: an answer that was cut short does not count.
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
        answers.take(raw, WHY)
        if answers.are_enough:
            found[place] = answers.solution(considered)
    return found


class Finished:
    """Certificates in a folder, in files named after the digest of the request.

    A request is the saved form of a problem, a route and a gap. A file is verified like any other
    file, and its problem must be the requested one, whatever its name. If a file fails, the problem
    is designed again, and the file replaced. Each file is written atomically. The last of two
    writers wins, since both have an answer to the same request. After a power failure a file may be
    incomplete and then fails the check. A link is replaced rather than followed, so that another
    user of the folder cannot redirect a write.
    """

    def __init__(self, folder: Cache, route: str, gap: float | None) -> None:
        if not isinstance(folder, str | os.PathLike):
            raise InputError("cache", "the name of a folder", shown(folder))
        self._folder, self._asked = Path(folder), [route, gap]
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            given = getattr(error, "strerror", None) or error
            raise InputError("cache", "a folder that can be written", given) from None
        if not os.access(self._folder, os.W_OK | os.X_OK):
            fault = "the folder is read-only"
            raise InputError("cache", "a writable folder", "another", fault=fault)

    def path(self, problem: Problem) -> Path:
        """Return the file of a problem, in one of 256 folders."""
        name = hashlib.sha256(canonical([problem.to_table(), *self._asked])).hexdigest()
        return self._folder / name[:2] / f"{name}.json.gz"

    def find(self, problem: object) -> Solution | None:
        """Return the solution in the file of a problem; None if there is no valid file."""
        if not isinstance(problem, Problem):  # the design raises the error
            return None
        path = self.path(problem)
        if not path.exists():
            return None
        try:
            saved = load_channel(path)
        except (CertificateError, InputError):
            return None
        document, verified = saved.document, saved.verified
        if verified.value is None or verified.bound is None or document["certificate"] is None:
            return None
        if canonical(document["problem"]) != canonical(problem.to_table()):
            return None
        certificate = read(Certificate, document["certificate"])
        return Solution(
            problem=problem,
            channel=saved.channel,
            value=verified.value,
            bound=verified.bound,
            privacy=tuple(
                PrivacyClaim(notion, claim["leakage"])
                for notion, claim in zip(problem.privacy, document["privacy"], strict=True)
            ),
            route=document["route"],
            why=document["why"],
            considered=tuple(RejectedRoute(**each) for each in document["considered"]),
            notes=tuple(document["notes"]),
            certificate=certificate,
            readings=_readings(saved),
            seconds=document["seconds"],
            timings=document["timings"],
        )

    def keep(self, solution: Solution) -> None:
        """Write a solution to its file, if its search finished and its bound is proved.

        Only channels that are a matrix are kept.
        """
        ended = any(note.startswith(EARLY) for note in solution.notes)
        if not solution.has_matrix or ended or not solution.bound_proved:
            return
        path = self.path(solution.problem)
        try:
            path.parent.mkdir(exist_ok=True)
            if path.is_symlink():
                path.unlink(missing_ok=True)
        except OSError as error:
            raise InputError("cache", "a folder that can be written", error.strerror) from None
        write_atomically(path, json.dumps(solution.document()), durable=False)


def _readings(saved: SavedMechanism) -> tuple[Fraction, ...] | None:
    """Return the readings of the outputs in the file, if there are any."""
    readings = saved.document["channel"].get("readings")
    if readings is None:
        return None
    whole = int(readings["denominator"])
    return tuple(Fraction(int(top), whole) for top in readings["numerators"])
