"""The command line: what a user types, what is printed, and the exit status."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import mechdesign
import mechdesign as md
from mechdesign.cli import main
from mechdesign.notions import NOTIONS
from mechdesign.utilities import UTILITIES
from tests.cli_support import Run, run
from tests.documents import sealed
from tests.kernel.laws.support import document_of
from tests.kernel.rounding.test_files import made
from tests.kernel.test_schema import BARE

RARE_DISEASE = Path(__file__).resolve().parents[2] / "problems" / "lip" / "rare_disease.toml"

SMALL = """\
title = "Three answers"
[domain]
values = ["a", "b", "c"]
[privacy]
notion = "ldp"
epsilon = 1.0
[utility]
objective = "hamming"
"""
"""Its optimum is k-ary randomized response: 2 / (e + 2)."""

VALUE = 0.4238831152341709


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SMALL, encoding="utf-8")
    return tmp_path


# files of data


def test_the_folder_of_data_is_named_by_an_option(
    folder: Path, printed: Run, refused: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MECHDESIGN_DATA", raising=False)
    Path("records").mkdir()
    Path("records/x.csv").write_text("answer\na\nb\nc\nc\n", encoding="utf-8")
    text = f'{SMALL}[prior]\ndata = {{ file = "x.csv", column = "answer" }}\n'
    Path("data.toml").write_text(text, encoding="utf-8")
    assert "set MECHDESIGN_DATA" in refused("solve", "data.toml")
    for command in (["solve"], ["check"], ["frontier", "--epsilon", "1,2"]):
        assert printed(*command, "data.toml", "--data", "records")
    line = refused("solve", "data.toml", "--data", "nowhere")
    assert line == "--data: expected a folder of data, given 'nowhere'"


@pytest.mark.parametrize("name", ["t", "utility", "small.toml"])
def test_an_error_of_the_design_names_the_file_whatever_its_name(
    name: str, folder: Path, refused: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise md.UnsupportedError("utility.objective", "another", "this")

    monkeypatch.setattr("mechdesign.designs.design.design", refuse)
    Path(name).write_text(SMALL, encoding="utf-8")
    assert refused("solve", name) == f"{name}: utility.objective: expected another, given this"
    Path(name).write_text(SMALL.replace("hamming", "haming"), encoding="utf-8")
    error = refused("solve", name)
    assert error.startswith(f"{name}: utility.objective: expected ")
    assert error.count(f"{name}: ") == 1


# solve


def test_the_report_of_the_survey_is_complete(printed: Run) -> None:
    report = printed("solve", str(RARE_DISEASE))
    lines = dict(re.findall(r"^(\S+) +(\S.*)$", report, flags=re.MULTILINE))
    assert lines["problem"] == "Survey of a rare disease"
    assert lines["inputs"] == "2 inputs: 'yes', 'no'"
    assert lines["prior"] == "0.1, 0.9"
    assert re.match(r"lip: leaks \S+ of epsilon = 1, the whole budget; proved", lines["privacy"])
    assert lines["loss"].startswith("posterior-mean-squared-error = 0.07913838")
    bound = r"optimal: no private channel has a loss below 0\.07913838\S* \(gap \S+\)"
    assert re.match(bound, lines["bound"])
    assert lines["route"] == "closed-form: binary universal"
    assert "because with two inputs" in report
    assert lines["rejected"].startswith("LIP randomized response: outside its region")
    assert "P_min = 0.1 is below 1/(e^epsilon + 1) = 0.268941" in lines["rejected"]
    assert lines["rejected"].endswith("leak 1.90048 = 1.9 epsilon")
    assert lines["yes"].split() == ["0.7311", "0.2689"]
    assert lines["no"].split() == ["0.2176", "0.7824"]
    assert lines["estimates"] == "report 0 stands for 'yes': 0.271828"
    assert "           report 1 stands for 'no': 0.0367879" in report


def test_the_report_notes_an_assumed_prior(folder: Path, printed: Run) -> None:
    report = printed("solve", "small.toml")
    assert "none given: taken as uniform" in report
    assert "ldp: leaks 1 of epsilon = 1, the whole budget; proved" in report
    assert f"hamming = {VALUE:.9g}" in report


def test_a_label_with_a_line_end_keeps_its_line(folder: Path, printed: Run) -> None:
    text = SMALL.replace('"a"', '"a\\nb"').replace("Three answers", "Three\\tansw\\ners")
    Path("small.toml").write_text(text, encoding="utf-8")
    head, table = printed("solve", "small.toml").rstrip().split("\n\n")
    assert head.startswith("problem    Three")
    assert all(re.match(r"[a-z]+ +\S|           \S", line) for line in head.splitlines())
    assert len(table.splitlines()) == 4  # the outputs, and a line for each input


@pytest.mark.parametrize(
    ("route", "words"),
    [
        ("auto", "closed-form: k-ary randomized response"),
        ("closed-form", "closed-form: k-ary randomized response"),
        ("linear-program", "linear-program"),
        ("linear-program:ipm", "linear-program"),
        ("linear-program:simplex", "linear-program"),
        ("cvxpy:CLARABEL", "cvxpy: CLARABEL"),
        ("cvxpy:clarabel", "cvxpy: CLARABEL"),
    ],
)
def test_every_route_finds_the_optimum(route: str, words: str, folder: Path, printed: Run) -> None:
    """What is printed is one JSON object and nothing else."""
    text = printed("solve", "small.toml", "--route", route, "--json", "-o", "x.json")
    answer = json.loads(text)
    assert answer["route"].startswith(words)
    assert answer["status"] == "optimal"
    exact = words.startswith("closed-form")
    assert answer["value"] == pytest.approx(VALUE, rel=1e-12 if exact else 1e-6)
    assert answer["bound"] == pytest.approx(VALUE, rel=1e-9 if exact else 2e-6)
    assert answer["channel"]["outputs"] == ["a", "b", "c"]
    assert md.load_channel("x.json").document["route"] == answer["route"]


def test_a_picture_is_drawn_with_dollars_as_dollars(folder: Path, printed: Run) -> None:
    text = SMALL.replace('"a"', "'$\\frac$'").replace("Three", "$_ for $^ {")
    Path("small.toml").write_text(text, encoding="utf-8")
    for name, start in (("x.PNG", b"\x89PNG\r\n"), ("x.pdf", b"%PDF"), ("x.svg", b"<?xml")):
        printed("solve", "small.toml", "--plot", name)
        assert Path(name).read_bytes().startswith(start)


GRID = """\
[domain]
grid = { rows = 5, columns = 5, spacing = 1.0 }
[prior]
counts = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3]
[privacy]
notion = "metric"
epsilon = 0.7
distance = "euclidean"
[utility]
objective = "euclidean"
"""


def test_a_wanted_gap_and_a_time_limit_end_a_search(folder: Path, printed: Run) -> None:
    (folder / "grid.toml").write_text(GRID, encoding="utf-8")
    exact = json.loads(printed("solve", "grid.toml", "--json"))
    rough = json.loads(printed("solve", "grid.toml", "--gap", "0.05", "--json"))
    assert exact["status"] == "optimal"
    assert rough["status"] == "bounded"
    assert 1e-6 < rough["gap"] <= 0.05
    assert rough["bound"] <= exact["value"] <= rough["value"]
    ended = json.loads(printed("solve", "grid.toml", "--time-limit", "1e-6", "--json"))
    assert "ended early: the time limit of 1e-06 s was reached" in ended["notes"]
    assert ended["privacy"][0]["certified"]


# verify


def test_what_was_solved_verifies(folder: Path, printed: Run) -> None:
    printed("solve", "small.toml", "-o", "x.json")
    assert sorted(path.name for path in folder.iterdir()) == ["small.toml", "x.json"]
    lines = printed("verify", "x.json").splitlines()
    assert lines[0] == "verified  rows sum to 1 exactly: integers over 2**62"
    assert lines[1].startswith("verified  ldp: private as stated, exactly; leakage ")
    assert lines[2].startswith("verified  value 0.4238831152")
    assert lines[3].startswith("verified  no private channel has a loss below 0.42388311")
    assert lines[4] == "verified  status optimal"
    assert [line.split()[:2] for line in lines[5:]] == [
        ["stated", key] for key in ("domain", "prior", "privacy", "utility")
    ]
    assert '"epsilon": "1"' in lines[7]


def test_verify_shows_a_long_statement_in_part(folder: Path, printed: Run) -> None:
    md.save(
        md.design(md.Problem([f"input {x}" for x in range(40)], md.LDP(1), md.HammingLoss())),
        "x.json",
    )
    lines = printed("verify", "x.json").splitlines()
    stated = [line for line in lines if line.startswith("stated")]
    assert stated[0].endswith("…")
    assert max(map(len, stated)) < 130
    assert len(repr(md.load_channel("x.json"))) < 3000


@pytest.mark.parametrize(
    ("make", "keys"),
    [
        (partial(made, "lip"), ["domain", "prior", "privacy", "utility"]),
        (partial(made, "box-worst"), ["domain", "prior", "privacy", "utility"]),
        (partial(document_of, "LIP"), ["domain", "prior", "privacy"]),
        (partial(document_of, "line"), ["domain", "privacy"]),
        (partial(sealed, {**BARE}), ["domain"]),
    ],
)
def test_verify_shows_the_law_or_prior_that_a_proof_is_about(
    make: Callable[[], dict[str, Any]], keys: list[str], folder: Path, printed: Run
) -> None:
    Path("x.json").write_text(json.dumps(make()), encoding="utf-8")
    lines = printed("verify", "x.json").splitlines()
    assert [line.split()[1] for line in lines if line.startswith("stated")] == keys


def test_verify_shows_the_objective_that_noise_was_designed_for(folder: Path, printed: Run) -> None:
    domain, loss = md.Domain.grid(3, 3), md.EuclideanDistance()
    problem = md.Problem(domain, md.MetricPrivacy(1, "euclidean"), loss, prior=[1, *[0] * 8])
    md.save(md.design(problem, route="noise"), "x.json")
    lines = printed("verify", "x.json").splitlines()
    stated = {line.split()[1]: line for line in lines if line.startswith("stated")}
    assert list(stated) == ["domain", "prior", "privacy", "utility"]
    assert '"1", "0", "0"' in stated["prior"]
    assert '"euclidean"' in stated["utility"]


# check


def expecting(value: float, text: str = SMALL) -> str:
    return f"{text}[expected]\nvalue = {value!r}\n"


INFEASIBLE = (
    SMALL.replace('"ldp"', '"differential-identifiability"') + "[prior]\ncounts = [1, 2, 9]\n"
)

CHECKED: dict[str, tuple[dict[str, str], int, list[str]]] = {
    "as expected": ({"a": expecting(VALUE)}, 0, ["ok"]),
    "nothing expected": ({"a": SMALL}, 0, ["ok"]),
    "not as expected": ({"a": expecting(0.42)}, 1, ["failed"]),
    "one of two": ({"a": expecting(VALUE), "b": expecting(0.42)}, 1, ["ok", "failed"]),
    "infeasible": ({"a": expecting(VALUE), "b": INFEASIBLE}, 1, ["ok", "failed"]),
    "wrong": ({"a": expecting(VALUE), "b": "title = 3\n"}, 2, ["ok", "wrong"]),
    "all kinds": (
        {"a": expecting(0.42), "b": "size = 3\n", "c": expecting(VALUE)},
        2,
        ["failed", "wrong", "ok"],
    ),
}


@pytest.mark.parametrize("name", CHECKED)
def test_check_prints_the_result_of_each_problem(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, status, verdicts = CHECKED[name]
    for key, text in texts.items():
        Path(f"{key}.toml").write_text(text, encoding="utf-8")
    problems = [f"{key}.toml" for key in texts]
    assert main(["check", *problems]) == status
    output = capsys.readouterr()
    lines = output.out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        list(pair) for pair in zip(verdicts, problems, strict=True)
    ]
    assert output.err.count("\n") == verdicts.count("wrong")
    assert main(["check", "--json", *problems]) == status
    results = json.loads(capsys.readouterr().out)
    assert [result["problem"] for result in results] == problems
    assert [result["verdict"] for result in results] == verdicts
    assert all(isinstance(result["detail"], str) for result in results)


def test_the_tolerance_of_an_expectation_counts(folder: Path, printed: Run) -> None:
    for rtol, status in ((1e-3, 0), (1e-5, 1)):
        text = expecting(VALUE * (1 + 1e-4)) + f"rtol = {rtol}\n"
        Path("small.toml").write_text(text, encoding="utf-8")
        printed("check", "small.toml", status=status)


# example


@pytest.mark.parametrize("notion", NOTIONS)
def test_an_example_solves_and_verifies(notion: str, folder: Path, printed: Run) -> None:
    Path("example.toml").write_text(printed("example", notion), encoding="utf-8")
    problem = md.load_problem("example.toml")
    assert [found.name for found in problem.privacy] == [notion]
    printed("solve", "example.toml", "-o", "x.json")
    assert "verified  status optimal" in printed("verify", "x.json")
    assert printed("check", "example.toml").startswith("ok ")


@pytest.mark.parametrize("notion", NOTIONS)
def test_an_example_shows_every_key(notion: str, printed: Run) -> None:
    text = printed("example", notion)
    parts = re.split(r"^(?:# )?\[(\w+)\]", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    keys: dict[str, Any] = {
        "domain": ("values", "size", "grid"),
        "prior": ("probabilities", "uniform", "counts", "data"),
        "privacy": ("notion", *NOTIONS[notion].keys()),
        "utility": ("objective", "worst_case", "matrix", "values", "histogram"),
        "outputs": ("values",),
        "expected": ("value", "rtol"),
    }
    assert list(sections) == list(keys)
    for section, expected in keys.items():
        shown = set(re.findall(r"^(?:# )?(\w+) *=", sections[section], flags=re.MULTILINE))
        assert set(expected) <= shown, section
    for objective in UTILITIES:
        assert objective in text
    assert "#" in sections["privacy"]  # the keys of the notion are explained
    for left_out in re.findall(r"^# (\w+ *= *\S.*)", text, flags=re.MULTILINE):
        assert tomllib.loads(left_out)


# the program around it


@pytest.mark.slow
def test_it_runs_as_a_module(folder: Path) -> None:
    solved = run("solve", "small.toml", "-o", "x.json")
    assert (solved.returncode, solved.stderr) == (0, "")
    assert solved.stdout.startswith("problem    Three answers\n")
    verified = run("verify", "x.json")
    assert (verified.returncode, verified.stderr) == (0, "")
    wrong = run("solve", "nowhere.toml")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == ("nowhere.toml: cannot read the file: No such file or directory\n")


def test_a_terminal_that_knows_no_letters_gets_a_report(folder: Path) -> None:
    Path("small.toml").write_text(SMALL.replace('"a"', '"né"'), encoding="utf-8")
    plain = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    done = run("solve", "small.toml", **plain)
    assert (done.returncode, done.stderr) == (0, "")
    assert "hamming = 0.423883115" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_an_unprintable_answer_is_a_one_line_error() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = run("example", "lip", stdout=full)
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="pipes break in another way there")
def test_a_reader_that_goes_away_is_no_failure() -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = run("example", "lip", stdout=write)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_ends_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mechdesign.designs.design.design", interrupt)
    assert main(["solve", "small.toml"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_the_version_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main(["--version"])
    assert leaving.value.code == 0
    assert capsys.readouterr().out == f"mechdesign {mechdesign.__version__}\n"
