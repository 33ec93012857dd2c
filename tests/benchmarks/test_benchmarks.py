"""The benchmark of design speed: its structure, its values, and what it says of privacy.

No time decides anything here.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from decimal import Decimal, getcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from benchmarks import design_speed, gowalla, sampling_speed, speed_child
from benchmarks.speed_cases import GOALS, QUICK, SUITES, TARGETS
from benchmarks.speed_problems import missing
from benchmarks.speed_tables import goals, nearest, ratios
from mechdesign import LDP, LIP, HammingLoss, Prior, Problem, design
from mechdesign.files import data_folder
from mechdesign.mechanisms import OptimizedUnaryEncoding
from problems.families import FAMILIES
from solvers import SOLVERS, libqif
from solvers.raw_privacy import raw_privacy

ROOT = Path(__file__).resolve().parents[2]
PARTS = {"build", "solve", "seconds", "cpu"}


# The harness.


@pytest.mark.slow
def test_the_quick_mode(tmp_path: Path) -> None:
    out = tmp_path / "new folder" / "speed.json"
    script = ROOT / "benchmarks" / "design_speed.py"
    command = [sys.executable, script, "--quick", "--families", "euclidean-grid", "--out", out]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    report = json.loads(out.read_text())
    assert report["format"] == "design-speed"
    assert report["packages"].keys() >= {"mechdesign", "numpy", "cvxpy"}
    assert report["cpus"] == os.cpu_count()
    found = {result["solver"]: result for result in report["results"]}
    assert tuple(found) == QUICK[1]
    if not libqif.is_installed():
        assert found.pop("libqif")["status"] == "unsuitable"
    best = found["ours"]["value"]
    for name, result in found.items():
        assert result["status"] == "solved", result
        assert result["inputs"] == SUITES["euclidean-grid"].small ** 2
        assert math.isclose(result["value"], best, rel_tol=1e-6)
        assert PARTS <= result["median"].keys() == result["runs"][0].keys()
        assert ("prove" in result["median"]) == (name == "ours")
        assert all(seconds >= 0 for seconds in result["median"].values())
        assert 0 < result["base_mb"] <= result["peak_mb"]
        assert result["raw_privacy"]["row_error"] < 1e-6
    ours = found["ours"]
    assert ours["certified"]
    assert ours["gap"] <= 1e-6
    assert ours["privacy"]["is_private"]
    assert float(ours["privacy"]["excess"]) <= 0
    tables = out.with_suffix(".md").read_text()
    assert tables == done.stdout
    for name in found:
        assert f"| {name} |" in tables


def test_a_contender_out_of_time_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design_speed, "GRACE", 0.2)
    found = design_speed.run_one("ldp-numeric", 60, "textbook", limit=0.3, most=1)
    assert found["status"] == "out of time"
    assert found["reason"] == "more than 0.3 s"
    assert found["runs"] == []
    assert found["median"] == {}


FAMILY = {SUITES[suite].family: suite for suite in reversed(SUITES)}
"""One suite of each family; the others differ in sizes and limits."""


@pytest.mark.parametrize("suite", FAMILY.values())
def test_a_run_in_this_process(suite: str) -> None:
    kind = SUITES[suite]
    if missing(kind.family):
        pytest.skip(missing(kind.family))
    records = list(speed_child.measure(suite, kind.small, "ours", limit=5, most=2))
    runs = [record["run"] for record in records if "run" in record]
    assert len(runs) == 2
    for run in runs:
        assert math.isclose(run["seconds"], run["build"] + run["solve"] + run["prove"])
    said = {key: value for record in records for key, value in record.items()}
    assert said["status"] == "solved"
    assert said["certified"]
    assert said["privacy"]["is_private"]
    assert said["value"] == float(design(kind.problem(kind.small)).value)


def of(suite: str, size: int, solver: str, seconds: float | None, **more: object) -> dict:
    median = {} if seconds is None else {"seconds": seconds}
    return {"suite": suite, "size": size, "solver": solver, "median": median, **more}


def test_ratios_and_goals() -> None:
    suite = TARGETS[0].suite
    ours = of(suite, 30, "ours", 0.1, status="solved", value=2.0, gap=1e-9)
    fast = of(suite, 30, "textbook", 20.0, status="solved", value=2.0)
    slow = of(suite, 30, "textbook", None, status="out of time", limit=60.0)
    assert "| 200 | 100 | yes |" in ratios([ours, fast])
    assert "| > 600 | 100 | yes |" in ratios([ours, slow])
    assert "| > 60 | 100 | unknown |" in ratios([ours | {"median": {"seconds": 1.0}}, slow])
    assert "| 20 | 100 | no |" in ratios([ours | {"median": {"seconds": 1.0}}, fast])
    assert ratios([ours]) == ""
    both = [case | {"median": {"seconds": 1.0, "cpu": cpu}} for case, cpu in ((ours, 2), (fast, 9))]
    assert "| 1 | 100 | no | 4.5 |" in ratios(both)
    wrong = fast | {"solver": "vectorised:SCS", "median": {"seconds": 0.01}, "value": 2.1}
    assert "textbook" in nearest([ours, wrong, fast])
    assert "SCS" not in nearest([ours, wrong, fast])
    aim = GOALS[suite, 50].seconds
    done = of(suite, 50, "ours", aim / 2, gap=1e-9)
    assert goals([done]).endswith("yes |")
    assert goals([done | {"gap": 1e-3}]).endswith("no |")
    assert goals([done | {"median": {"seconds": 2 * aim}}]).endswith("no |")


# How private a solver's matrix is.

ENTRIES = st.floats(1e-9, 1.0)


@st.composite
def channels(draw: st.DrawFn) -> np.ndarray:
    k, m = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    Q = np.array(draw(st.lists(st.lists(ENTRIES, min_size=m, max_size=m), min_size=k, max_size=k)))
    return Q / Q.sum(axis=1, keepdims=True)


def exact_log(ratio: Fraction) -> Decimal:
    getcontext().prec = 60
    return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()


@pytest.mark.parametrize("notion", [LDP, LIP])
@settings(deadline=None)
@given(Q=channels(), tenths=st.integers(1, 30), seed=st.integers(0, 99))
def test_the_excess_is_that_of_the_largest_ratio_or_lift(
    notion: type[LDP | LIP], Q: np.ndarray, tenths: int, seed: int
) -> None:
    prior = Prior.from_counts(np.random.default_rng(seed).integers(1, 9, len(Q)).tolist())
    problem = Problem(range(len(Q)), notion(Fraction(tenths, 10)), HammingLoss(), prior=prior)
    ratios = []
    for q in (list(map(Fraction, column)) for column in Q.T.tolist()):
        mean = sum(p * entry for p, entry in zip(prior, q, strict=True))
        ratios += [a / b for a in q for b in (q if notion is LDP else [mean])]
    excess = max(abs(exact_log(ratio)) for ratio in ratios) - Decimal(tenths) / 10
    judged = raw_privacy(problem, Q)
    assert math.isclose(judged.excess, excess, rel_tol=1e-12, abs_tol=1e-16)
    assert judged.is_private == (excess <= 0)
    assert judged.mixed == 0


def test_an_output_of_one_input_reveals_it() -> None:
    problem = Problem(range(2), LDP(1), HammingLoss())
    Q = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 1e-300]])
    judged = raw_privacy(problem, Q)
    assert (judged.is_private, judged.excess, judged.mixed) == (False, math.inf, 1)
    empty = raw_privacy(problem, np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]))
    assert (empty.is_private, empty.excess, empty.mixed) == (True, -1.0, 0)


@pytest.mark.parametrize("family", ["ldp-numeric", "lip-numeric", "block-grid", "high-low"])
def test_ours_is_private_and_not_more_than_asked(family: str) -> None:
    """The optimum is tight: at a smaller epsilon the same channel is not private."""
    problem, tighter = FAMILIES[family](4), FAMILIES[family](4, epsilon=Fraction(99, 100))
    channel = design(problem).channel
    exact = np.ldexp(channel.numerators.astype(np.longdouble), -channel.bits)
    held, broken = raw_privacy(problem, exact), raw_privacy(tighter, exact)
    assert held.is_private
    assert held.excess <= 0
    assert not broken.is_private
    assert math.isclose(broken.excess, 0.01, rel_tol=1e-6)


# libqif.


@st.composite
def budget_matrices(draw: st.DrawFn) -> np.ndarray:
    k = draw(st.integers(2, 6))
    budget = st.sampled_from([0.0, 1.0, 2.0, 3.0, 5.0, math.inf])
    E = np.array(draw(st.lists(st.lists(budget, min_size=k, max_size=k), min_size=k, max_size=k)))
    np.fill_diagonal(E, 0)
    return E


def closure(E: np.ndarray) -> np.ndarray:
    """Return the least budget by any way from one input to another."""
    least = E.copy()
    for z in range(len(E)):
        least = np.minimum(least, least[:, [z]] + least[[z], :])
    return least


@given(budget_matrices())
def test_pairs_that_libqif_leaves_out_follow_from_the_others(E: np.ndarray) -> None:
    kept = np.where(libqif.implied(E), math.inf, E)
    assert np.array_equal(closure(kept), closure(E))


def test_libqif_with_and_without_implied_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("qif")
    problem = FAMILIES["euclidean-grid"](3, seed=1)
    short = libqif.solve(problem).value
    monkeypatch.setattr(libqif, "implied", lambda E: np.zeros(E.shape, dtype=bool))
    assert math.isclose(libqif.solve(problem).value, short, rel_tol=1e-9)
    assert math.isclose(SOLVERS["ours"](problem).value, short, rel_tol=1e-6)


# The benchmarks of sampling and of the location experiment: what they say, not how fast it is.


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
