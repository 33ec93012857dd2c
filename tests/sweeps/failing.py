"""Functions that fail in a process of their own; they import little, so that it starts soon."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

MAIN = int(os.environ.setdefault("MECHDESIGN_TESTED_BY", str(os.getpid())))
"""The process of the tests: those that it starts read the same."""


class NotRead(Exception):  # noqa: N818
    """An exception that pickle writes and cannot read."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


def fail(how: Any) -> Any:
    """Fail as told, in a process of its own; return numbers as they are."""
    if os.getpid() == MAIN or isinstance(how, int):
        return how
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "memory":
        raise MemoryError
    if how == "not read":
        raise NotRead(1, 2)
    if how == "result":
        return threading.Lock()
    return how


def process(_task: int) -> int:
    return os.getpid()


def handler(_task: int) -> Any:
    return signal.getsignal(signal.SIGINT)
