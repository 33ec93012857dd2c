"""Processes that work on tasks: one that dies costs its task only, and none is left behind."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

__all__ = ["in_processes"]

AHEAD = 2
"""Tasks that are handed out for each process: the next one waits where the last is worked on."""

PAUSE = 60.0
"""Seconds after which a wait for tasks is begun anew."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Settings that keep the processes from using more threads together than there are processors."""

T = TypeVar("T")
R = TypeVar("R")


def in_processes(
    run: Callable[[T], R], tasks: Sequence[T], n_processes: int
) -> Generator[tuple[int, R | BaseException], None, None]:
    """Yield the number of each task with its result, or with what went wrong, as they are done.

    Parameters
    ----------
    run
        What each process calls; it and the tasks are sent by cloudpickle.
    tasks
        What it is called with.
    n_processes
        How many processes work.

    Notes
    -----
    Where a process dies, its pool is lost, and the tasks that were handed out are tried again one
    at a time: the one at which a process dies again is the culprit. All processes are killed when
    the iterator is exhausted or closed. They ignore Ctrl-C, which reaches the caller.
    """
    waiting, suspects = deque(range(len(tasks))), deque[int]()
    running: dict[Future[R], int] = {}
    pool = _Pool(n_processes)
    try:
        while waiting or suspects or running:
            if suspects:
                if not running:
                    number = suspects.popleft()
                    running[pool.submit(run, tasks[number])] = number
            else:
                while waiting and len(running) < AHEAD * n_processes:
                    number = waiting.popleft()
                    running[pool.submit(run, tasks[number])] = number
            alone = len(running) == 1
            done, _ = wait(running, timeout=PAUSE, return_when=FIRST_COMPLETED)
            lost = []
            for future in done:
                number, error = running.pop(future), future.exception()
                if isinstance(error, BrokenProcessPool) and not alone:
                    lost.append(number)
                else:
                    yield number, error or future.result()
                if isinstance(error, BrokenProcessPool):
                    pool.close()
            if lost:  # the others that were handed out are lost with them
                suspects.extend(sorted([*lost, *running.values()]))
                running.clear()
    finally:
        pool.close()


class _Pool:
    """A pool of processes that is started when it is needed, and again after it was closed."""

    def __init__(self, n_processes: int) -> None:
        self._n = n_processes
        self._executor: Any = None

    def submit(self, run: Callable[[T], R], task: T) -> Future[R]:
        """Return the future of a task; that of a pool which is found broken fails."""
        if self._executor is None:
            self._executor = _executor(self._n)
        try:
            found: Future[R] = self._executor.submit(run, task)
        except BrokenProcessPool as error:
            found = Future()
            found.set_exception(error)
        return found

    def close(self) -> None:
        """Kill the processes, if there are any."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=True, kill_workers=True)


def _executor(n_processes: int) -> Any:
    from joblib.externals.loky import ProcessPoolExecutor  # it sends what pickle cannot

    share = str(max(1, (os.cpu_count() or 1) // n_processes))
    threads = {name: os.environ.get(name, share) for name in THREADS}
    return ProcessPoolExecutor(n_processes, initializer=_ignore_interrupts, env=threads)


def _ignore_interrupts() -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the one that waits for them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
