"""Problems by solvers, and the command that rebuilds everything: structure, values, privacy.

No time decides anything here.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from benchmarks import figures_accounting, figures_relations, problems_by_solvers, rebuild
from benchmarks.papers import __main__ as papers
from benchmarks.problem_tables import page
from benchmarks.problems_by_solvers import LIBRARY, QUICK
from mechdesign import LDP, ApproximateLDP, HammingLoss, MutualInformationLeakage, Problem
from mechdesign.files import load_problem
from solvers.raw_privacy import raw_privacy
from solvers.repaired import repaired

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quick") / "new folder"
    problems_by_solvers.main(["--quick", "--out", str(folder)])
    return folder


def results(folder: Path) -> list[dict]:
    text = (folder / "problems_by_solvers.json").read_text(encoding="utf-8")
    found: list[dict] = json.loads(text)["results"]
    return found


# The harness.


@pytest.mark.slow
def test_every_pair_has_a_result_in_a_fixed_order(quick: Path) -> None:
    pairs = [(result["problem"], result["solver"]) for result in results(quick)]
    assert pairs == [(name, solver) for name in sorted(QUICK[0]) for solver in QUICK[1]]
    for result in results(quick):
        assert result["status"] == "solved", result
        assert result["runs"] == 1
        assert {"build", "solve", "seconds", "cpu"} <= result["median"].keys()
        assert ("prove" in result["median"]) == (result["solver"] == "ours")
        assert 0 < result["base_mb"] <= result["peak_mb"]


def test_values_are_the_certified_optimum(quick: Path) -> None:
    ours = {r["problem"]: r for r in results(quick) if r["solver"] == "ours"}
    for result in results(quick):
        proved = ours[result["problem"]]
        assert proved["certified"]
        assert proved["gap"] <= 1e-6
        assert math.isclose(result["value"], proved["bound"], rel_tol=1e-6)
        optimum = load_problem(LIBRARY[result["problem"]]).expected
        assert math.isclose(result["value"], optimum.value, rel_tol=1e-6)


def test_a_repaired_matrix_is_private_and_no_better_than_the_bound(quick: Path) -> None:
    bounds = {r["problem"]: r["bound"] for r in results(quick) if r["solver"] == "ours"}
    for result in results(quick):
        assert result["privacy"]["is_private"]
        assert float(result["privacy"]["excess"]) <= 0
        assert result["repaired_value"] >= bounds[result["problem"]] * (1 - 1e-15)
        assert math.isclose(result["repaired_value"], result["value"], rel_tol=1e-6)


# The page.


def test_the_page_has_a_row_for_each_problem_and_a_summary(quick: Path) -> None:
    text = (quick / "benchmarks.md").read_text(encoding="utf-8")
    document = json.loads((quick / "problems_by_solvers.json").read_text())
    assert text == page(document)
    for name in QUICK[0]:
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{name}` |")]
        assert row.count("|") == len(QUICK[1]) + 3
    for solver in QUICK[1]:
        assert f"| {solver} | 2 | 2 | 2 |" in text
    assert "6 of 6 repaired matrices" in text


# How private a matrix is under a notion about the whole channel, and what the repair makes of it.


def test_the_excess_under_approximate_ldp_is_that_of_the_sums() -> None:
    """Two inputs, three outputs: Sum_y (Q(y|0) - f Q(y|1))_+ = delta at the least factor f."""
    problem = Problem(range(2), ApproximateLDP(1, "0.05"), HammingLoss(), outputs=range(3))
    Q = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
    factor = (0.7 - 0.05) / 0.1  # the other terms are not positive at it
    judged = raw_privacy(problem, Q)
    assert not judged.is_private
    assert math.isclose(judged.excess, math.log(factor) - 1, rel_tol=1e-9)
    held = raw_privacy(problem, np.array([[0.6, 0.2, 0.2], [0.25, 0.25, 0.5]]))
    assert held.is_private
    assert held.excess < 0


def test_the_excess_under_mutual_information_is_the_information_above_it() -> None:
    Q = np.array([[0.9, 0.1], [0.1, 0.9]])
    information = math.log(2) + 0.9 * math.log(0.9) + 0.1 * math.log(0.1)
    for epsilon in (Fraction(1, 10), Fraction(1, 2)):
        problem = Problem(
            range(2), MutualInformationLeakage(epsilon), HammingLoss(), prior=[0.5, 0.5]
        )
        judged = raw_privacy(problem, Q)
        assert math.isclose(judged.excess, information - epsilon, rel_tol=1e-9)
        assert judged.is_private == (information <= epsilon)
        assert judged.mixed == 0


def test_one_output_that_one_input_alone_gives_breaks_ldp_and_is_mended() -> None:
    problem = Problem(range(3), LDP(1), HammingLoss())
    Q = np.full((3, 3), (1 - 1e-9) / 3) + np.diag([1e-9] * 3)
    Q[:, 2] = [0, 0, 1e-9]
    Q[:, 0] = 1 - Q[:, 1] - Q[:, 2]
    assert raw_privacy(problem, Q).excess == math.inf
    channel, loss = repaired(problem, Q)
    exact = [[Fraction(int(n), 2**channel.bits) for n in row] for row in channel.numerators]
    assert all(sum(row) == 1 for row in exact)
    for column in zip(*exact, strict=True):
        assert max(column) <= Fraction(math.e) * min(column)
    truth = [row[channel.outputs.index(x)] for x, row in enumerate(exact)]
    assert math.isclose(loss, 1 - sum(truth) / 3, rel_tol=1e-12)


# The command that rebuilds everything.


def test_every_figure_and_experiment_is_a_part() -> None:
    drawn = {function.__name__ for function in rebuild.FIGURES.values()}
    for module in (figures_accounting, figures_relations):
        found = {name for name in vars(module) if name.startswith("figure_")}
        assert found <= drawn
    modules = {Path(f.__code__.co_filename).stem for f in rebuild.FIGURES.values()}
    assert modules == {path.stem for path in (ROOT / "benchmarks").glob("figures_*.py")}
    assert {*rebuild.FIGURES, "atlas", "papers", "location"} == rebuild.PARTS.keys()
    names = {path.stem for path in (ROOT / "benchmarks" / "papers").glob("*_figure_*.py")}
    assert names <= set(papers.EXPERIMENTS)


@pytest.mark.slow
def test_quick_parts_are_built_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The atlas and the experiments have quick forms that are tested with them: here one each."""
    monkeypatch.setattr(rebuild, "build_atlas", one_formula)
    monkeypatch.setattr(papers, "EXPERIMENTS", ("cns_figure_5",))
    words = ["atlas", "icml-figure-1", "tifs-figure-5", "papers"]
    made = rebuild.main(["--quick", "--only", *words, "--out", str(tmp_path)])
    assert [result.part for result in made] == words
    assert [result.skipped for result in made] == [False, False, True, False]
    wanted = ["atlas/atlas.csv", "atlas/atlas.png", "pictures/icml_figure_1.png", "published.md"]
    assert all((tmp_path / name).stat().st_size for name in [*wanted, "pictures/cns_figure_5.png"])
    said = capsys.readouterr().out
    assert all(name in said for name in words)
    assert "3 parts in" in said


def one_formula(folder: Path, *, quick: bool) -> object:
    from benchmarks.atlas import build_atlas

    return build_atlas(folder, quick=quick, only=["lip-rr-absolute"])
