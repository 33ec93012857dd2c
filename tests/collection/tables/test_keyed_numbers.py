"""Keyed coins of numbers on an interval: the rounding and the draw of a record are its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import mechdesign as md
from mechdesign import Channel
from mechdesign.continuous import ContinuousChannel

KEY = bytes(range(32))
LAW = Channel.from_matrix([["1/2", "1/3", "1/6"], ["1/6", "1/6", "2/3"], ["1/4", "1/2", "1/4"]])
KERNELS = {
    "linear": ContinuousChannel([0, 10], "linear", [0, 4, 10], LAW),
    "cells": ContinuousChannel([0, 10], "cells", [0, 2, 7, 10], LAW),
}


@pytest.mark.parametrize("kind", KERNELS)
def test_a_report_depends_on_its_own_record_only(kind: str) -> None:
    kernel, rng = KERNELS[kind], np.random.default_rng(1)
    table = pd.DataFrame({"id": rng.permutation(10_000)[:300], "x": rng.uniform(0, 10, 300)})

    def sent(part: Any) -> dict[int, int]:
        found = md.privatize(part, {"x": kernel}, keep=["id"], key=KEY, ids="id")
        return dict(zip(found["id"].tolist(), found["x"].tolist(), strict=True))

    whole = sent(table)
    assert len(set(whole.values())) == 3
    assert sent(table.sample(frac=1, random_state=2)) == whole
    parts = [sent(table.iloc[n : n + 70]) for n in range(0, 300, 70)]
    assert {n: y for part in parts for n, y in part.items()} == whole


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("x", [0.0, 1.0, 3.999, 5.5, 10.0])
def test_keyed_reports_have_the_law_of_the_kernel(kind: str, x: float) -> None:
    kernel, n = KERNELS[kind], 20_000
    reports = md.privatize(pa.array([x] * n), kernel, key=KEY, ids=pa.array(range(n), pa.int64()))
    law = np.array([float(p) for p in kernel.density(x)])
    counts = md.tally(reports, kernel).counts / n
    assert (np.abs(counts - law) < 5 * np.sqrt(law * (1 - law) / n)).all()


def test_the_rounding_is_independent_of_the_draw() -> None:
    """With visible nodes and a fair coin at each, shared coins would be visible in the reports."""
    telling = Channel.from_matrix([["1/2", "1/2", "0", "0"], ["0", "0", "1/2", "1/2"]])
    kernel, n = ContinuousChannel([0, 1], "linear", [0, 1], telling), 20_000
    reports = md.privatize(pa.array([0.5] * n), kernel, key=KEY, ids=pa.array(range(n), pa.int64()))
    counts = md.tally(reports, kernel).counts / n
    assert (np.abs(counts - 0.25) < 5 * np.sqrt(0.25 * 0.75 / n)).all()
