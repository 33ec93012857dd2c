"""Worker processes: a process that dies costs only its task, and none is left behind."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

AHEAD = 2
"""Tasks submitted per process: the next one waits while the last one runs."""

PAUSE = 60.0
"""Seconds until a wait for tasks is repeated."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables that limit the total number of threads to that of the processors."""

T = TypeVar("T")
R = TypeVar("R")


class Processes:
    """Processes that start on demand, and restart after one has died.

    They ignore Ctrl-C, which the caller receives, and live until closed.

    Parameters
    ----------
    count
        The number of processes.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._executor: Any = None

    def work(
        self, run: Callable[[T], R], tasks: Sequence[T]
    ) -> Iterator[tuple[int, R | BaseException]]:
        """Yield the number of each task with its result or its exception, as tasks finish.

        Parameters
        ----------
        run
            The function that each process calls; cloudpickle sends it and the tasks.
        tasks
            Its arguments.

        Notes
        -----
        If a process dies, all processes are lost, and their tasks are repeated one at a time: the
        task at which a process dies again is the culprit.
        """
        waiting, suspects = deque(range(len(tasks))), deque[int]()
        running: dict[Future[R], int] = {}
        while waiting or suspects or running:
            if suspects:
                if not running:
                    number = suspects.popleft()
                    running[self._submit(run, tasks[number])] = number
            else:
                while waiting and len(running) < AHEAD * self._count:
                    number = waiting.popleft()
                    running[self._submit(run, tasks[number])] = number
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
                    self.close()
            if lost:  # the other submitted tasks are lost as well
                suspects.extend(sorted([*lost, *running.values()]))
                running.clear()

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
