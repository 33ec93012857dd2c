"""Batch design: many problems, for example one for each user with a prior and a budget.

Problems whose programs have the same shape are solved in batches. The batches are distributed over
processes, or over the machines of a cluster. Every channel is repaired and certified separately.
"""

from __future__ import annotations

import os
import signal
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pickle import PicklingError
from typing import Any, TypeAlias, TypeVar

from mechdesign.designs.progress import tqdm_bar
from mechdesign.designs.solution import Solution
from mechdesign.errors import InputError, MechdesignError, SolverError, shown, shown_kind
from mechdesign.problem import Problem
from mechdesign.search import AUTO
from mechdesign.sweeps.tasks import Cache, Options, Task, divided, run, run_each

WINDOW = 4096
"""The number of problems read ahead to find those of the same shape."""

DELAY = 1.0
"""Seconds before a bar appears."""

AHEAD = 2
"""Tasks submitted per process: the next one waits while the last one runs."""

PAUSE = 60.0
"""Seconds until a wait for tasks is repeated."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables that limit the total number of threads to that of the processors."""

T = TypeVar("T")
R = TypeVar("R")

Answer: TypeAlias = Solution | MechdesignError

Work: TypeAlias = Callable[[Sequence[Task]], Generator[tuple[int, Iterable[Answer]], None, None]]
"""Works on tasks; yields the number of each with the answers to its problems."""


def design_many(
    problems: Iterable[Problem],
    *,
    errors: str = "raise",
    route: str = AUTO,
    gap: float | None = None,
    time_limit: float | None = None,
    progress: bool | None = None,
    n_jobs: int | None = None,
    backend: str | None = None,
    cache: Cache | None = None,
) -> list[Any]:
    """Design the best private channel for each of many problems, with proof.

    Each solution is equivalent to that of :func:`~mechdesign.design`: exactly private, with value
    and bound equally close. Small problems of one shape, with different priors, budgets and losses,
    are solved together, several times faster.

    Parameters
    ----------
    problems
        Any number of problems, of any kinds.
    route, gap
        As for :func:`~mechdesign.design`, for all of them.
    n_jobs
        Number of processes, -1 for one per processor; default 1, or that of
        ``joblib.parallel_config``.
    backend
        A backend of joblib; default processes on this machine. Within
        ``joblib.parallel_config(backend="dask")`` the work goes to the cluster of the current Dask
        client.
    errors
        ``"raise"`` to stop at the first problem that fails, with its position in the message;
        ``"return"`` to return the exception in place of its solution. If a process dies, for
        example for lack of memory, all problems of its batch fail.
    time_limit
        Seconds in total. A running search then ends with the best channel and the best bound so
        far, as in :func:`~mechdesign.design`; a problem that was not started fails.
    progress
        Whether to show a bar; default if standard error is a terminal.
    cache
        A folder in which each certificate is saved as soon as it is finished, under the digest of
        its problem, so that an interrupted run resumes. A file is verified before use. Several runs
        may share a folder; on a cluster all machines must have access to it. Answers cut short by a
        time limit are not saved.

    Returns
    -------
    list of Solution
        In the order of the problems. After Ctrl-C, with ``errors="raise"``, the solutions of the
        first problems, in a shorter list, with a warning that has their number; with
        ``errors="return"`` a list of full length, with an error for each unsolved problem.

    Raises
    ------
    InputError
        If an option is invalid, or an entry is not a problem.
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
    asked = Options(errors, route, gap, time_limit, progress, n_jobs, backend, cache)
    early, found = dict[int, Answer](), list[Answer]()
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


def design_each(
    problems: Iterable[Problem],
    *,
    errors: str = "raise",
    route: str = AUTO,
    gap: float | None = None,
    time_limit: float | None = None,
    progress: bool | None = None,
    n_jobs: int | None = None,
    backend: str | None = None,
    cache: Cache | None = None,
) -> Generator[Any, None, None]:
    """Yield the solutions in the order of the problems, each as early as that order allows.

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
    asked = Options(errors, route, gap, time_limit, progress, n_jobs, backend, cache)
    return answers_to(problems, asked)


def answers_to(
    problems: Any, options: Options, early: dict[int, Answer] | None = None
) -> Generator[Answer, None, None]:
    """Yield the answers in order; the time limit counts from the creation of the options.

    ``early`` holds answers that arrive before those of earlier problems, by position.
    """
    no_list = isinstance(problems, str | Mapping) or getattr(problems, "ndim", 1) == 0
    if no_list or not isinstance(problems, Iterable):
        raise InputError("problems", "a list of problems", shown_kind(problems))
    return _each(problems, options, {} if early is None else early)


def _each(
    problems: Iterable[Problem], options: Options, early: dict[int, Answer]
) -> Generator[Answer, None, None]:
    """Solve one window at a time, in the order of the problems."""
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
    """Yield the number of parallel tasks and a worker for all windows."""
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
    """Return a one-line description of a process failure."""
    if isinstance(error, BrokenProcessPool):
        return "its process died, as for want of memory, or sent no readable answer"
    if isinstance(error, MemoryError):
        return "out of memory"
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[-1]:.200}"


def _by_joblib(tasks: Sequence[Task], jobs: Any) -> Generator[tuple[int, list[Answer]], None, None]:
    """Work on the tasks by the user's joblib backend."""
    from joblib import delayed

    with jobs as pool:
        results = pool(delayed(run)(task) for task in tasks)
        try:
            yield from enumerate(results)
        finally:
            with warnings.catch_warnings():  # joblib warns of jobs that are canceled
                warnings.simplefilter("ignore", UserWarning)
                results.close()


class Processes:
    """Processes that start on demand, and restart after one has died.

    They ignore Ctrl-C, which the caller receives, and live until closed.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._executor: Any = None

    def work(
        self, run: Callable[[T], R], tasks: Sequence[T]
    ) -> Iterator[tuple[int, R | BaseException]]:
        """Yield the number of each task with its result or its exception, as tasks finish.

        Notes
        -----
        If a process dies, all processes are lost, and their tasks are repeated one at a time: the
        task at which a process dies again is the culprit.
        """
        waiting, running, alone = deque(range(len(tasks))), dict[Future[R], int](), 0
        while waiting or running:
            while waiting and len(running) < (1 if alone else AHEAD * self._count):
                number = waiting.popleft()
                running[self._submit(run, tasks[number])] = number
            several = len(running) > 1
            done, _ = wait(running, timeout=PAUSE, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=_is_broken):
                if _is_broken(future):
                    self.close()
                    if several:
                        waiting.extendleft(sorted(running.values(), reverse=True))
                        alone = len(running)
                        running.clear()
                        break
                number, alone = running.pop(future), max(0, alone - 1)
                yield number, future.exception() or future.result()

    def _submit(self, run: Callable[[T], R], task: T) -> Future[R]:
        """Return the future of a task, which fails if the processes are broken."""
        if self._executor is None:
            self._executor = _executor(self._count)
        try:
            found: Future[R] = self._executor.submit(run, task)
        except BrokenProcessPool as error:
            found = Future()
            found.set_exception(error)
        return found

    def close(self) -> None:
        """Kill the processes, if any, with their tasks."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=True, kill_workers=True)


def _executor(n_processes: int) -> Any:
    from joblib.externals.loky import ProcessPoolExecutor  # it uses cloudpickle

    share = str(max(1, (os.cpu_count() or 1) // n_processes))
    threads = {name: os.environ.get(name, share) for name in THREADS}
    return ProcessPoolExecutor(n_processes, initializer=_ignore_interrupts, env=threads)


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C, which a terminal sends to all processes, in favor of the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _is_broken(future: Future[Any]) -> bool:
    return isinstance(future.exception(), BrokenProcessPool)
