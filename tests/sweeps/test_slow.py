"""Time that a user's own utility takes counts: a sweep returns soon after its limit."""

from __future__ import annotations

import time

import numpy as np
import pytest

from mechdesign import LDP, ColumnUtility, Problem, SolverError
from mechdesign._typing import FloatArray
from mechdesign.sweeps import design_many


def test_a_sweep_with_a_slow_utility_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gain takes five seconds of a clock of ours: two problems at most are begun in eight."""
    calls = 0

    class Slow(ColumnUtility):
        name, sense = "slow", "maximize"

        def gain(self, columns: FloatArray, prior: FloatArray) -> FloatArray:
            nonlocal calls
            calls += 1
            return np.asarray((prior[:, None] * columns).max(axis=0))

    problems = [Problem(range(4), LDP(1), Slow()) for _ in range(5)]
    begun = calls
    monkeypatch.setattr(time, "time", lambda: 1e9 + 5.0 * (calls - begun))
    answers = design_many(problems, time_limit=8, errors="return")
    late = [isinstance(answer, SolverError) for answer in answers]
    assert late == [False] + [True] * 4 or late == [False] * 2 + [True] * 3
    assert all("not started" in str(answer) for answer in answers if isinstance(answer, Exception))
