"""Processes that work on tasks: one that dies costs its task only, and none is left behind."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

__all__ = ["Processes"]

AHEAD = 2
"""Tasks that are handed out for each process: the next one waits where the last is worked on."""

PAUSE = 60.0
"""Seconds after which a wait for tasks is begun anew."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Settings that keep the processes from using more threads together than there are processors."""

T = TypeVar("T")
R = TypeVar("R")


class Processes:
    """Processes that are started when there is work, and again where one of them has died.

    They ignore Ctrl-C, which reaches the caller, and live until they are closed.

    Parameters
    ----------
    count
        How many processes work.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._executor: Any = None

    def work(
        self, run: Callable[[T], R], tasks: Sequence[T]
    ) -> Iterator[tuple[int, R | BaseException]]:
        """Yield the number of each task with its result, or with what went wrong, as they are done.

        Parameters
        ----------
        run
            What each process calls; it and the tasks are sent by cloudpickle.
        tasks
            What it is called with.

        Notes
        -----
        Where a process dies, all are lost, and the tasks that were handed out are tried again one
        at a time: the one at which a process dies again is the culprit.
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
            if lost:  # the others that were handed out are lost with them
                suspects.extend(sorted([*lost, *running.values()]))
                running.clear()

    def _submit(self, run: Callable[[T], R], task: T) -> Future[R]:
        """Return the future of a task; that of processes which are found broken fails."""
        if self._executor is None:
            self._executor = _executor(self._count)
        try:
            found: Future[R] = self._executor.submit(run, task)
        except BrokenProcessPool as error:
            found = Future()
            found.set_exception(error)
        return found

    def close(self) -> None:
        """Kill the processes, if there are any, with what they are working on."""
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
