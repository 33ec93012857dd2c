"""Batch design: many problems at once, say one for each user with a prior and budget of their own.

Problems whose programs have the same shape are solved in batches. The batches are distributed over
processes, or over the machines of a cluster. Every channel is repaired and certified by itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pickle import PicklingError
from typing import Any, TypeAlias

from mechdesign.designs.progress import tqdm_bar
from mechdesign.designs.solution import Solution
from mechdesign.errors import InputError, MechdesignError, SolverError, shown, shown_kind
from mechdesign.problem import Problem
from mechdesign.sweeps.tasks import Options, Task, divided, lists_options, run, run_each
from mechdesign.sweeps.workers import Processes

__all__ = ["answers_to", "design_each", "design_many"]

WINDOW = 4096
"""How many problems are read ahead to find those of the same shape."""

DELAY = 1.0
"""Seconds before a bar appears."""

Answer: TypeAlias = Solution | MechdesignError

Work: TypeAlias = Callable[[Sequence[Task]], Generator[tuple[int, Iterable[Answer]], None, None]]
"""Works on tasks; yields the number of each with the answers to its problems."""


@lists_options()
def design_many(problems: Iterable[Problem], **options: Any) -> list[Any]:
    """Design the best private channel for each of many problems, and prove them all.

    Each solution is what :func:`~mechdesign.design` would give: exactly private, with a value and a
    bound as close. Small problems of one shape, which differ in their priors, budgets and losses,
    are solved together, several times faster.

    Parameters
    ----------
    problems
        Any number of problems, of any kinds.
    route, gap
        As for :func:`~mechdesign.design`, for all of them.
    n_jobs
        Processes to use, -1 for as many as there are processors; default 1, or what
        ``joblib.parallel_config`` says.
    backend
        A backend of joblib; default processes on this machine. Within
        ``joblib.parallel_config(backend="dask")`` the work goes to the cluster of the current
        Dask client.
    errors
        ``"raise"`` to stop at the first problem that fails, with its place in the message;
        ``"return"`` to return the exception in the place of its solution. A process that dies, as
        for want of memory, fails the problems that it was working on together.
    time_limit
        Seconds for all of them. A search that is then under way ends with the best channel and the
        best bound so far, as in :func:`~mechdesign.design`; a problem that was not started fails.
    progress
        Whether to show a bar; default if standard error is a terminal.
    cache
        A folder in which each certificate is kept as soon as it is there, and looked up by the
        digest of its problem: what was interrupted or killed goes on where it was. A file is
        verified before it is believed. Several runs may share a folder; on a cluster it must be one
        that all machines see. Answers that a limit of time has cut short are not kept.

    Returns
    -------
    list of Solution
        In the order of the problems. Ctrl-C returns what is finished: with errors raised, the
        solutions of the first problems, in a list shorter than that of the problems, and a warning
        says how many; with errors returned, a list as long as that of the problems, which has an
        error wherever there is no solution.

    Raises
    ------
    InputError
        If an option is wrong, or one of the problems is not a problem.
    MechdesignError
        That of the first problem that fails, unless errors are returned.
    KeyboardInterrupt
        On Ctrl-C before anything is finished, with errors raised.

    Examples
    --------
    >>> from mechdesign.notions import LIP
    >>> from mechdesign.utilities import MeanAbsoluteError
    >>> users = [Problem([0, 1, 2], LIP(1), MeanAbsoluteError(), prior=prior)
    ...          for prior in ([0.5, 0.3, 0.2], [0.1, 0.1, 0.8])]
    >>> [round(float(solution.value), 6) for solution in design_many(users)]
    [0.360458, 0.276518]
    """
    asked, early, found = Options(**options), dict[int, Answer](), list[Answer]()
    answers = answers_to(problems, asked, early)
    try:
        for answer in answers:
            found.append(answer)
    except KeyboardInterrupt:
        answers.close()
        total = len(problems) if isinstance(problems, Sized) else max([*early, len(found) - 1]) + 1
        if asked.errors == "return":
            missing = range(len(found), total)
            found += [early.get(n) or SolverError(f"problems[{n}]: interrupted") for n in missing]
        elif not found:
            raise
        else:
            told = f"interrupted: {len(found)} of {total} problems are designed"
            warnings.warn(told, stacklevel=2)
    return found


@lists_options()
def design_each(problems: Iterable[Problem], **options: Any) -> Generator[Any, None, None]:
    """Yield the solutions in the order of the problems, each as soon as it and all before are done.

    The problems may come from a generator: some thousands are read ahead. Parameters are those of
    :func:`design_many`. Ctrl-C ends the processes and is raised as usual.

    Examples
    --------
    >>> from mechdesign.notions import LDP
    >>> from mechdesign.utilities import HammingLoss
    >>> budgets = (Problem(["a", "b", "c"], LDP(epsilon), HammingLoss()) for epsilon in (1, 2))
    >>> [round(float(solution.value), 6) for solution in design_each(budgets)]
    [0.423883, 0.213014]
    """
    return answers_to(problems, Options(**options))


def answers_to(
    problems: Any, options: Options, early: dict[int, Answer] | None = None
) -> Generator[Answer, None, None]:
    """Yield the answers in order; the time has run since the options were made.

    Parameters
    ----------
    problems, options
        As for :func:`design_many`.
    early
        Holds the answers that come before those of earlier problems, by place.
    """
    no_list = isinstance(problems, str | Mapping) or getattr(problems, "ndim", 1) == 0
    if no_list or not isinstance(problems, Iterable):
        raise InputError("problems", "a list of problems", shown_kind(problems))
    return _each(problems, options, {} if early is None else early)


def _each(
    problems: Iterable[Problem], options: Options, early: dict[int, Answer]
) -> Generator[Answer, None, None]:
    """Solve window after window; the order is that of the problems."""
    total = len(problems) if isinstance(problems, Sized) else None
    rest, first, place, named = iter(problems), 0, 0, {"desc": "design", "unit": "problem"}
    bar = tqdm_bar(options.progress, total=total, delay=DELAY, leave=True, **named)
    with _workers(options) as (n_processes, work), bar:
        while window := list(islice(rest, WINDOW)):
            places = divided(window, options, n_processes)
            tasks: list[Task] = [([(first + n, window[n]) for n in t], options) for t in places]
            with closing(work(tasks)) as done:
                for number, answers in done:
                    for n, answer in zip(places[number], answers, strict=True):
                        early[first + n] = (
                            answer
                            if isinstance(answer, MechdesignError)
                            else replace(answer, problem=window[n])
                        )
                        while place in early:
                            bar.update()
                            found = early.pop(place)
                            if isinstance(found, MechdesignError) and options.errors == "raise":
                                raise found
                            place += 1
                            yield found
            first += len(window)


@contextmanager
def _workers(options: Options) -> Iterator[tuple[int, Work]]:
    """Give how many tasks are worked on at once, and what works on them: one for all windows."""
    import joblib
    from joblib.parallel import LokyBackend, get_active_backend

    n_jobs, backend = options.n_jobs, options.backend
    try:
        jobs = joblib.Parallel(n_jobs=n_jobs, backend=backend, return_as="generator")
    except ValueError:
        raise InputError("backend", "a backend of joblib", shown(backend)) from None
    n_processes = joblib.effective_n_jobs(n_jobs)
    local = backend == "loky" or (
        backend is None and isinstance(get_active_backend()[0], LokyBackend)
    )
    if not local:
        yield n_processes, partial(_by_joblib, jobs=jobs)
    elif n_processes == 1:
        yield 1, lambda tasks: ((n, run_each(task)) for n, task in enumerate(tasks))
    else:
        with closing(Processes(n_processes)) as processes:
            yield n_processes, partial(_in_processes, processes=processes)


def _in_processes(
    tasks: Sequence[Task], processes: Processes
) -> Generator[tuple[int, list[Answer]], None, None]:
    """Work on the tasks in processes of this machine."""
    for n, result in processes.work(run, tasks):
        asked, options = tasks[n]
        if not isinstance(result, BaseException):
            yield n, result
            continue
        ours = isinstance(result, BrokenProcessPool | PicklingError | MemoryError)
        if not (ours or options.errors == "return"):
            raise result
        told = _failure(result)
        yield n, [SolverError(f"problems[{place}]: {told}") for place, _ in asked]


def _failure(error: BaseException) -> str:
    """Return what befell a process, in one line."""
    if isinstance(error, BrokenProcessPool):
        return "its process died, as for want of memory, or sent no readable answer"
    if isinstance(error, MemoryError):
        return "out of memory"
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[-1]:.200}"


def _by_joblib(tasks: Sequence[Task], jobs: Any) -> Generator[tuple[int, list[Answer]], None, None]:
    """Work on the tasks by a backend of joblib, which the user has chosen."""
    from joblib import delayed

    with jobs as pool:
        results = pool(delayed(run)(task) for task in tasks)
        try:
            yield from enumerate(results)
        finally:
            with warnings.catch_warnings():  # joblib warns of jobs that are canceled
                warnings.simplefilter("ignore", UserWarning)
                results.close()
