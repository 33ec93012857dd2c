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

from benchmarks import design_speed, speed_child
from benchmarks.speed_cases import GOALS, QUICK, SUITES, TARGETS, contenders
from benchmarks.speed_problems import missing
from benchmarks.speed_tables import goals, nearest, ratios
from mechdesign import LDP, LIP, HammingLoss, Prior, Problem, design
from mechdesign.search import ROUTES
from problems.families import FAMILIES
from solvers import SOLVERS, FailedError, UnsuitableError, libqif
from solvers.raw_privacy import exact_columns, raw_privacy

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


def test_a_failing_contender_gives_a_reason() -> None:
    """Its process ends with an error: here, as there is no such suite."""
    found = design_speed.run_one("no such suite", 3, "ours", limit=5, most=1)
    assert found["status"] == "failed"
    assert "no such suite" in found["reason"]


def test_a_failed_size_ends_the_larger_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run_one(suite: str, size: int, solver: str, limit: float, most: int) -> dict[str, object]:
        asked.append((size, solver))
        status = "out of time" if (size, solver) == (20, "textbook") else "solved"
        return {"suite": suite, "size": size, "solver": solver, "status": status}

    monkeypatch.setattr(design_speed, "run_one", run_one)
    words = ["--families", "ldp-numeric", "--sizes", "10", "20", "30", "--solvers", "ours"]
    options = design_speed._options([*words, "textbook"])
    skipped = [found for found in design_speed.results(options) if found["status"] == "skipped"]
    assert [(found["size"], found["solver"]) for found in skipped] == [(30, "textbook")]
    assert asked == [(n, s) for n in (10, 20, 30) for s in ("ours", "textbook")][:-1]


def test_a_suite_with_a_limit_of_its_own_is_for_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = "euclidean-grid, random prior, to 2 %"
    limits = SUITES[suite].limits
    asked = []

    def run_one(*arguments: object) -> dict[str, object]:
        asked.append(arguments)
        return {"status": "solved"}

    monkeypatch.setattr(design_speed, "run_one", run_one)
    options = design_speed._options(["--families", suite, "--time-limit", "1", "--runs", "2"])
    assert len(list(design_speed.results(options))) == 1
    assert asked == [(suite, 15, "ours", limits["time_limit"] + design_speed.TO_PROVE, 2)]


def test_contenders_are_all_routes_and_the_peers() -> None:
    names = contenders()
    assert {f"ours:{route}" for route in ROUTES} - {"ours:auto", "ours:cvxpy"} <= names.keys()
    assert names.keys() >= {"ours", "textbook", "libqif", "vectorised:HIGHS", "vectorised:SCS"}
    assert design_speed._options(["--solvers", "vectorised"]).solvers == [
        name for name in names if name.startswith("vectorised:")
    ]
    with pytest.raises(SystemExit):
        design_speed._options(["--solvers", "nonsense"])


def test_targets_and_goals_are_measured() -> None:
    for target in TARGETS:
        assert target.size in SUITES[target.suite].sizes
        assert target.peer in contenders()
    for suite, size in GOALS:
        assert size in SUITES[suite].sizes


def test_what_needs_data_is_skipped_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MECHDESIGN_DATA", raising=False)
    (found,) = design_speed.results(design_speed._options(["--families", "city, 5 s"]))
    assert found["status"] == "skipped"
    assert "MECHDESIGN_DATA" in found["reason"]


@pytest.mark.parametrize("suite", SUITES)
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


def test_runs_are_repeated_while_they_are_short() -> None:
    assert not speed_child._enough([0.01] * 14, limit=60, most=15)
    assert speed_child._enough([0.01] * 15, limit=60, most=15)
    assert not speed_child._enough([2.0, 2.0], limit=60, most=15)
    assert speed_child._enough([2.0] * 3, limit=60, most=15)
    assert speed_child._enough([40.0], limit=60, most=15)


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


@settings(deadline=None)
@given(channels(), st.integers(1, 30))
def test_the_excess_under_ldp_is_the_largest_log_ratio(Q: np.ndarray, tenths: int) -> None:
    epsilon = Fraction(tenths, 10)
    problem = Problem(range(len(Q)), LDP(epsilon), HammingLoss())
    worst = max(
        exact_log(Fraction(float(a)) / Fraction(float(b))) for q in Q.T for a in q for b in q
    )
    judged = raw_privacy(problem, Q)
    excess = worst - Decimal(tenths) / 10
    assert math.isclose(judged.excess, excess, rel_tol=1e-12, abs_tol=1e-16)
    assert judged.is_private == (excess <= 0)
    assert judged.mixed == 0


@settings(deadline=None)
@given(channels(), st.integers(1, 30), st.integers(0, 99))
def test_the_excess_under_lip_is_the_largest_log_lift(
    Q: np.ndarray, tenths: int, seed: int
) -> None:
    prior = Prior.from_counts(np.random.default_rng(seed).integers(1, 9, len(Q)).tolist())
    epsilon = Fraction(tenths, 10)
    problem = Problem(range(len(Q)), LIP(epsilon), HammingLoss(), prior=prior)
    worst = max(
        abs(
            exact_log(
                Fraction(float(a))
                / sum(p * Fraction(float(b)) for p, b in zip(prior, q, strict=True))
            )
        )
        for q in Q.T
        for a in q
    )
    judged = raw_privacy(problem, Q)
    excess = worst - Decimal(tenths) / 10
    assert math.isclose(judged.excess, excess, rel_tol=1e-12, abs_tol=1e-16)
    assert judged.is_private == (excess <= 0)


def test_an_output_of_one_input_reveals_it() -> None:
    problem = Problem(range(2), LDP(1), HammingLoss())
    Q = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 1e-300]])
    judged = raw_privacy(problem, Q)
    assert (judged.is_private, judged.excess, judged.mixed) == (False, math.inf, 1)
    empty = raw_privacy(problem, np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]))
    assert (empty.is_private, empty.excess, empty.mixed) == (True, -1.0, 0)


def test_a_negative_entry_is_not_private() -> None:
    problem = Problem(range(2), LDP(1), HammingLoss())
    judged = raw_privacy(problem, np.array([[1.0, -1e-18], [1.0, -1e-18]]))
    assert not judged.is_private
    assert judged.least_entry == -1e-18
    assert judged.excess == -1.0


def test_columns_are_the_floats_exactly() -> None:
    Q = np.array([[0.1, 1e-300], [0.75, 0.3]])
    columns = exact_columns(Q)
    for y, x in np.ndindex(2, 2):
        assert Fraction(columns[y][x], columns[0][1]) == Fraction(Q[x, y]) / Fraction(0.75)


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


def test_a_line_keeps_its_neighbours() -> None:
    E = libqif.budgets(FAMILIES["line-metric"](6))
    apart = np.abs(np.subtract.outer(range(6), range(6)))
    assert np.allclose(E, apart / 2)
    assert np.array_equal(libqif.implied(E), apart > 1)


def test_libqif_refuses_what_it_does_not_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    for family in ("lip-numeric", "worst-case-numeric", "ldp-histogram"):
        assert not libqif.suits(FAMILIES[family](3))
        with pytest.raises(UnsuitableError):
            libqif.solve(FAMILIES[family](3))
    monkeypatch.setattr(libqif, "is_installed", lambda: False)
    with pytest.raises(UnsuitableError, match="not installed"):
        libqif.solve(FAMILIES["ldp-numeric"](3))


def test_an_empty_matrix_of_libqif_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    qif = pytest.importorskip("qif")
    monkeypatch.setattr(
        qif.mechanism.d_privacy, "min_loss_given_d", lambda *_arguments: np.zeros((0, 0))
    )
    with pytest.raises(FailedError, match="empty"):
        libqif.solve(FAMILIES["ldp-numeric"](3))


def test_libqif_with_and_without_implied_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("qif")
    problem = FAMILIES["euclidean-grid"](3, seed=1)
    short = libqif.solve(problem).value
    monkeypatch.setattr(libqif, "implied", lambda E: np.zeros(E.shape, dtype=bool))
    assert math.isclose(libqif.solve(problem).value, short, rel_tol=1e-9)
    assert math.isclose(SOLVERS["ours"](problem).value, short, rel_tol=1e-6)


def test_the_help_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        design_speed.main(["--help"])
    assert ended.value.code == 0
    assert "to 2 %" in capsys.readouterr().out
