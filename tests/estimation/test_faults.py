"""A solver that fails makes an estimate fail with a SolverError, or changes nothing in it."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign import Channel, SolverError
from mechdesign.estimation import METHODS, Estimate, estimate
from tests.faults_support import FAULTS, Faults

CHANNEL = Channel.from_matrix(
    [["5/8", "1/8", "1/4"], ["1/8", "1/2", "3/8"], ["1/4", "1/4", "1/2"]],
)
REPORTS = {0: 400, 1: 350, 2: 250}


def found(method: str, faults: Faults) -> Estimate:
    with faults.planted():
        return estimate(CHANNEL, counts=REPORTS, method=method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", FAULTS)
def test_an_estimate_is_right_or_refused(method: str, kind: str) -> None:
    right, count = estimate(CHANNEL, counts=REPORTS, method=method), Faults()
    found(method, count)
    for at in range(len(count.calls)):
        for lasting in (False, True):
            try:
                wrong = found(method, Faults(FAULTS[kind], at, lasting=lasting))
            except SolverError:
                continue
            assert np.allclose(wrong.values, right.values, atol=1e-6)
            errors = wrong.standard_errors
            assert np.allclose(errors, right.standard_errors, rtol=1e-6, equal_nan=True)
