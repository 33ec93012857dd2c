"""The benchmarks of sampling and of the location experiment: what they say, not how fast it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import gowalla, sampling_speed
from mechdesign.files import data_folder
from mechdesign.mechanisms import OptimizedUnaryEncoding

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_sampling_speed_prints_its_rates(tmp_path: Path) -> None:
    out = tmp_path / "sampling.json"
    script = ROOT / "benchmarks" / "sampling_speed.py"
    options = ["--seconds", "0.001", "--runs", "1", "--only", "Hadamard", "--out", out]
    done = subprocess.run(
        [sys.executable, script, *options], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    report = json.loads(out.read_text())
    assert report["format"] == "sampling-speed"
    assert [result["size"] for result in report["results"]] == [1000, 43_750]
    for result in report["results"]:
        assert {"ours", "NumPy"} <= result["median"].keys()
        assert all(rate > 0 for rate in result["median"].values())
        assert f"| {result['mechanism']} | {result['size']:,} |" in done.stdout


@pytest.mark.parametrize(
    "case", list(sampling_speed.cases()), ids=lambda c: f"{c.mechanism}-{c.size}"
)
def test_every_contender_reports_every_record(case: sampling_speed.Case) -> None:
    records = np.random.default_rng(0).integers(0, case.size, 20)
    for name in ("ours", "NumPy"):
        client = case.contenders[name](case.size)
        assert len(client(records)) == 20


@pytest.mark.parametrize(("down", "across"), gowalla.BLOCKS)
def test_blocks_are_rectangles_that_divide_the_map(down: int, across: int) -> None:
    blocks = gowalla.partition(down, across)
    assert len(blocks) == down * across
    cells = gowalla.ROWS * gowalla.COLUMNS
    assert sorted(cell for block in blocks for cell in block) == list(range(cells))
    for block in blocks:
        rows, columns = np.divmod(block, gowalla.COLUMNS)
        height, width = np.ptp(rows) + 1, np.ptp(columns) + 1
        assert height * width == len(block) == cells // (down * across)


def test_counts_drawn_at_once_have_the_moments_of_counted_reports() -> None:
    mechanism, counts = OptimizedUnaryEncoding(4, 1), np.array([0, 10, 30, 60])
    rng, runs = np.random.default_rng(1), 4000
    drawn = np.array([gowalla.at_once(mechanism, counts, rng).counts for _ in range(runs)])
    p, q = map(float, mechanism.chances)
    mean = counts * p + (100 - counts) * q
    variance = counts * p * (1 - p) + (100 - counts) * q * (1 - q)
    assert (np.abs(drawn.mean(axis=0) - mean) < 4 * np.sqrt(variance / runs)).all()
    assert np.allclose(drawn.var(axis=0), variance, rtol=4 * np.sqrt(2 / runs))
    one = gowalla.one_by_one(mechanism, counts, rng)
    assert one.total == 100
    assert (np.abs(one.counts - mean) < 4.5 * np.sqrt(variance)).all()


@pytest.mark.slow
def test_the_location_experiment(tmp_path: Path) -> None:
    """Smaller blocks are estimated better, and so is what is nearest in the simplex."""
    if data_folder() is None:
        pytest.skip("the folder of data is not here")
    out = tmp_path / "gowalla.json"
    options = ["--repetitions", "1", "--better-repetitions", "0", "--out", str(out)]
    script = ROOT / "benchmarks" / "gowalla.py"
    done = subprocess.run(
        [sys.executable, script, *options], capture_output=True, text=True, check=True
    )
    report = json.loads(out.read_text())
    assert "semi-synthetic" in done.stdout
    assert [r["published"] for r in report["published"]] == [0.591, 0.298, 0.108, 0.082]
    for one in report["published"]:
        assert one["projected"] < one["raw"]
    found = [one["projected"] for one in report["published"]]
    assert found == sorted(found, reverse=True)
    assert report["published"][0]["raw"] == pytest.approx(20, abs=1)
