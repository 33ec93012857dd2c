"""The benchmark of large budgets: exact errors beside measured ones."""

from __future__ import annotations

import numpy as np
import pytest

import mechdesign as md
from benchmarks.large_budgets import mechanisms, row


def test_the_exact_error_is_the_mean_of_runs() -> None:
    law = md.Prior.from_counts((10**6 // np.arange(1, 41)).tolist())
    records = np.random.default_rng(0).choice(40, size=200, p=law.array)
    for name, make in mechanisms(40, 3):
        runs = [row(make, records, law) for _ in range(60)]
        exact = runs[0][0]
        assert np.mean([run[1] for run in runs]) == pytest.approx(exact, rel=0.2), name
