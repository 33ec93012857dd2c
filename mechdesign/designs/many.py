"""Batch design: many problems at once, say one for each user with a prior and budget of their own.

Problems whose programs have the same shape are solved in batches. The batches are distributed over
processes, or over the machines of a cluster. Every channel is repaired and certified by itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from itertools import islice
from typing import Any, Literal, TypeAlias, overload

from mechdesign.designs.facade import check_limits
from mechdesign.designs.many_tasks import Options, Parts, divided, run
from mechdesign.designs.progress import tqdm_bar
from mechdesign.designs.solution import Solution
from mechdesign.errors import InputError, MechdesignError, shown, shown_kind
from mechdesign.problem import Problem

__all__ = ["design_each", "design_many"]

WINDOW = 4096
"""How many problems are read ahead to find those of the same shape."""

DELAY = 1.0
"""Seconds before a bar appears."""

Answer: TypeAlias = Solution | MechdesignError


@overload
def design_many(
    problems: Iterable[Problem],
    *,
    route: str = ...,
    gap: float | None = ...,
    n_jobs: int | None = ...,
    backend: str | None = ...,
    errors: Literal["raise"] = ...,
    progress: bool | None = ...,
) -> list[Solution]: ...


@overload
def design_many(
    problems: Iterable[Problem],
    *,
    route: str = ...,
    gap: float | None = ...,
    n_jobs: int | None = ...,
    backend: str | None = ...,
    errors: Literal["return"],
    progress: bool | None = ...,
) -> list[Answer]: ...


def design_many(
    problems: Iterable[Problem],
    *,
    route: str = "auto",
    gap: float | None = None,
    n_jobs: int | None = None,
    backend: str | None = None,
    errors: Literal["raise", "return"] = "raise",
    progress: bool | None = None,
) -> list[Any]:
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
        ``"return"`` to return the exception in the place of its solution.
    progress
        Whether to show a bar; default if standard error is a terminal.

    Returns
    -------
    list of Solution
        In the order of the problems.

    Raises
    ------
    InputError
        If an option is wrong, or one of the problems is not a problem.
    MechdesignError
        That of the first problem that fails, unless errors are returned.

    Examples
    --------
    >>> from mechdesign.notions import LIP
    >>> from mechdesign.utilities import MeanAbsoluteError
    >>> users = [Problem([0, 1, 2], LIP(1), MeanAbsoluteError(), prior=prior)
    ...          for prior in ([0.5, 0.3, 0.2], [0.1, 0.1, 0.8])]
    >>> [round(float(solution.value), 6) for solution in design_many(users)]
    [0.360458, 0.276518]
    """
    found = design_each(
        problems,
        route=route,
        gap=gap,
        n_jobs=n_jobs,
        backend=backend,
        errors=errors,
        progress=progress,
    )
    return list(found)


def design_each(
    problems: Iterable[Problem],
    *,
    route: str = "auto",
    gap: float | None = None,
    n_jobs: int | None = None,
    backend: str | None = None,
    errors: Literal["raise", "return"] = "raise",
    progress: bool | None = None,
) -> Iterator[Answer]:
    """Yield the solutions in the order of the problems, each as soon as it and all before are done.

    The problems may come from a generator: some thousands are read ahead. Parameters are those of
    :func:`design_many`.

    Examples
    --------
    >>> from mechdesign.notions import LDP
    >>> from mechdesign.utilities import HammingLoss
    >>> budgets = (Problem(["a", "b", "c"], LDP(epsilon), HammingLoss()) for epsilon in (1, 2))
    >>> [round(float(solution.value), 6) for solution in design_each(budgets)]
    [0.423883, 0.213014]
    """
    if errors not in ("raise", "return"):
        raise InputError("errors", "'raise' or 'return'", shown(errors))
    if n_jobs is not None and (type(n_jobs) is not int or n_jobs == 0):
        raise InputError("n_jobs", "a number of processes, or -1 for all", shown(n_jobs))
    check_limits(gap)
    no_list = isinstance(problems, str | Mapping) or getattr(problems, "ndim", 1) == 0
    if no_list or not isinstance(problems, Iterable):
        raise InputError("problems", "a list of problems", shown_kind(problems))
    return _each(problems, Options(route, gap), (n_jobs, backend), errors == "raise", progress)


def _each(
    problems: Iterable[Problem],
    options: Options,
    workers: tuple[int | None, str | None],
    raises: bool,
    progress: bool | None,
) -> Iterator[Answer]:
    """Solve window after window; the order is that of the problems."""
    from joblib import Parallel, delayed, effective_n_jobs

    n_jobs, backend = workers
    total = len(problems) if isinstance(problems, Sized) else None
    rest, first = iter(problems), 0
    try:
        processes = Parallel(n_jobs=n_jobs, backend=backend, return_as="generator")
    except ValueError:
        raise InputError("backend", "a backend of joblib", shown(backend)) from None
    with (
        processes as pool,
        tqdm_bar(
            progress, total=total, desc="design", unit="problem", delay=DELAY, leave=True
        ) as bar,
    ):
        while window := list(islice(rest, WINDOW)):
            tasks = divided(window, options, effective_n_jobs(n_jobs))
            jobs = (delayed(run)([(first + n, window[n]) for n in task], options) for task in tasks)
            with _cancelled_at_exit(pool(jobs)) as results:
                for place, answer in _in_order(zip(tasks, results, strict=True)):
                    bar.update()
                    if not isinstance(answer, MechdesignError):
                        yield Solution(problem=window[place], **answer)
                    elif raises:
                        raise answer
                    else:
                        yield answer
            first += len(window)


@contextmanager
def _cancelled_at_exit(results: Generator[Any, None, None]) -> Iterator[Generator[Any, None, None]]:
    """Cancel the jobs that are left when the caller stops; joblib's warning is suppressed."""
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def _in_order(
    finished: Iterable[tuple[list[int], list[Parts | MechdesignError]]],
) -> Iterator[tuple[int, Parts | MechdesignError]]:
    """Yield places and answers in order, each as soon as all before it have been yielded."""
    early: dict[int, Parts | MechdesignError] = {}
    place = 0
    for task, answers in finished:
        early.update(zip(task, answers, strict=True))
        while place in early:
            yield place, early.pop(place)
            place += 1
