"""The commands on records: what a user types, what is printed and written, the exit status."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign import LDP, Domain
from mechdesign.accounting import after_aggregation
from mechdesign.accounting.central.central import after_shuffling
from mechdesign.accounting.channel_leakage import leakages
from mechdesign.cli.common import FileBar
from mechdesign.collection.records import tally_file
from mechdesign.estimation import METHODS, TARGETS, estimate, mean
from mechdesign.mechanisms import HadamardResponse, advise, advise_blocks, mechanism_for
from mechdesign.sampling import SIMULATION
from tests.cli_support import Run, rows, run

PRIOR = "[prior]\nprobabilities = [0.5, 0.3, 0.2]\n"

LABELS = ["never", "some, times", "always"]

PROBLEM = f"""\
[domain]
values = {LABELS}
{PRIOR}[privacy]
notion = "ldp"
epsilon = 1.0
[utility]
objective = "hamming"
"""

SURVEY = ["privatize", "channel.json", "survey.csv", "reports.csv", "--force", "--column", "answer"]
READING = ["estimate", "channel.json", "reports.csv", "--column", "answer"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    md.save(md.design(md.Problem(LABELS, md.LDP(1), md.HammingLoss())), "channel.json")
    Path("problem.toml").write_text(PROBLEM, encoding="utf-8")
    with Path("survey.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["name", "answer", "age"])
        writer.writerows([f"person {n}", LABELS[n % 3], 20 + n % 50] for n in range(600))
    return tmp_path


# privatize


def test_a_survey_is_made_private(folder: Path, printed: Run) -> None:
    report = printed(*SURVEY)
    assert report.splitlines() == [
        "records    600 rows of survey.csv, column 'answer'",
        "reports    600 rows in reports.csv",
    ]
    sent = rows("reports.csv")
    assert len(sent) == 600
    assert all(list(row) == ["answer"] and row["answer"] in LABELS for row in sent)
    first = Path("reports.csv").read_bytes()
    printed(*SURVEY)
    assert Path("reports.csv").read_bytes() != first


def test_a_seed_makes_a_simulation(folder: Path, printed: Run) -> None:
    report = printed(*SURVEY, "--seed", "3", "--keep", "age")
    assert f"note       {SIMULATION}" in report
    assert "kept       'age': copied as they are, not protected" in report
    sent = rows("reports.csv")
    assert all(list(row) == ["answer", "age", "note"] for row in sent)
    assert {row["note"] for row in sent} == {SIMULATION}
    assert SIMULATION.upper() in printed(*READING)
    assert json.loads(printed(*READING, "--json"))["simulated"] is True
    printed(*READING, "--csv", "estimate.csv")
    assert {row["note"] for row in rows("estimate.csv")} == {SIMULATION}


def test_policies_and_json(folder: Path, printed: Run, refused: Run) -> None:
    with Path("survey.csv").open("a", encoding="utf-8") as stream:
        stream.write("Zoe,perhaps,30\nYves,,31\n")
    message = refused(*SURVEY)
    assert message.startswith(
        "survey.csv: line 602, column 'answer': expected labels of the domain"
    )
    assert "given another value; unknown=" in message
    assert "survey.csv: line 603" in refused(*SURVEY, "--unknown", "drop")
    policies = ["--unknown", "map:some, times", "--missing", "drop"]
    done = json.loads(printed(*SURVEY, *policies, "--json"))
    assert done == {
        "source": "survey.csv",
        "target": "reports.csv",
        "column": "answer",
        "channels": {"answer": md.load_mechanism("channel.json").mechanism.digest},
        "rows": 602,
        "reports": 601,
        "unknown": {"cells": 1, "policy": "taken as 'some, times'"},
        "missing": {"cells": 1, "policy": "dropped"},
        "not_protected": [],
        "simulated": False,
    }
    report = printed(*SURVEY, *policies)
    assert "unknown    1 cell: taken as 'some, times'" in report
    assert "missing    1 cell: dropped" in report
    assert "a row that was dropped shows that it held no label" in report


def test_names_with_commas_are_kept_in_quotes(folder: Path, printed: Run) -> None:
    Path("survey.csv").write_text('"a,b";answer;c\n1;never;3\n', encoding="utf-8")
    printed(*SURVEY, "--separator", ";", "--keep", '"a,b",c')
    assert Path("reports.csv").read_text(encoding="utf-8").startswith("answer;a,b;c\n")


@pytest.mark.parametrize("command", ["privatize", "estimate", "leakage"])
def test_a_channel_with_a_false_claim_is_not_used(command: str, folder: Path, refused: Run) -> None:
    document = json.loads(Path("channel.json").read_text(encoding="utf-8"))
    numerators = document["channel"]["numerators"]
    numerators[0] = [str(2**62), "0", "0"]
    Path("channel.json").write_text(json.dumps(document), encoding="utf-8")
    words = {"privatize": SURVEY, "estimate": READING, "leakage": ["leakage", "channel.json"]}
    message = refused(*words[command], status=1)
    assert message.startswith("channel.json: refused: ")


# estimate


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_estimate_of_a_file_is_the_one_in_memory(
    method: str, target: str, ending: str, folder: Path, printed: Run
) -> None:
    reports = f"reports.{ending}"
    printed(*SURVEY[:3], reports, *SURVEY[4:])
    channel = md.load_mechanism("channel.json").mechanism
    expected = estimate(
        channel, tally_file(channel, reports, "answer"), method=method, target=target
    )
    words = ["estimate", "channel.json", reports, "--column", "answer"]
    chosen = ["--method", method, "--target", target, "--confidence", "0.9"]
    assert printed(*words, *chosen).startswith(f"{expected!r}\n")
    found = json.loads(printed(*words, *chosen, "--json"))
    assert {key: found[key] for key in expected.to_json()} == expected.to_json()
    assert found["confidence"] == 0.9
    assert np.allclose(np.array(found["intervals"]), expected.interval(0.9))
    printed(*words, *chosen, "--csv", "estimate.csv")
    table = rows("estimate.csv")
    assert [row["input"] for row in table] == LABELS
    assert [float(row["frequency"]) for row in table] == expected.values.tolist()
    assert [float(row["standard_error"]) for row in table] == expected.standard_errors.tolist()
    ends = [[float(row["lower"]), float(row["upper"])] for row in table]
    assert ends == expected.interval(0.9).tolist()
    assert "note" not in table[0]


def test_quantiles_are_printed_of_inputs_that_are_numbers(folder: Path, printed: Run) -> None:
    md.save(md.Channel.from_matrix(np.eye(3), inputs=[10, 20, 30]), "channel.json")
    Path("reports.csv").write_text("answer\n0\n1\n1\n2\n", encoding="utf-8")
    words = [*READING, "--quantiles", "0.5,0.2"]
    assert "quantile 0.5: 20, within [10, 30]\nquantile 0.2: 10, within" in printed(*words)
    found = json.loads(printed(*words, "--json"))["quantiles"]
    assert [row["value"] for row in found] == [20, 10]
    assert found[0] | {"low": 10, "high": 30, "confidence": 0.95} == found[0]


def test_the_confidence_is_printed(folder: Path, printed: Run) -> None:
    printed(*SURVEY)
    for words, line in (
        ([], "at confidence 0.95, the truth is within 1.96 standard errors"),
        (["--confidence", "0.5"], "at confidence 0.5, the truth is within 0.6745 standard errors"),
    ):
        assert line in printed(*READING, *words)


def test_unknown_standard_errors_promise_nothing(folder: Path, printed: Run) -> None:
    md.save(md.Channel.from_matrix([[1, 0], [1, 0], [0, 1]], inputs=[1, 2, 3]), "channel.json")
    Path("reports.csv").write_text("answer\n0\n1\n", encoding="utf-8")
    assert "the truth is within" not in printed(*READING, "--method", "maximum-likelihood")


@pytest.mark.parametrize("worst", [False, True])
def test_a_mean_is_read_without_bias(worst: bool, folder: Path, printed: Run) -> None:
    """By the readings of the file, with an interval; it is the mean of the readings."""
    problem = md.Problem([0, 1, 4], md.LDP(2), md.UnbiasedVariance(worst_case=worst))
    solution = md.design(problem)
    md.save(solution, "means.json")
    reports = solution.channel.privatize([0, 1, 4, 4] * 250, rng=1)
    sent = reports.data.ravel()
    Path("sent.csv").write_text("y\n" + "\n".join(map(str, sent)), encoding="utf-8")
    words = ["estimate", "means.json", "sent.csv", "--column", "y"]
    v = np.array([float(reading) for reading in solution.decoder or ()])[sent]
    expected = mean(solution.channel, reports, readings=solution.decoder)
    assert expected.value == pytest.approx(v.mean())
    assert expected.standard_error == pytest.approx(v.std(ddof=1) / math.sqrt(1000))
    text = printed(*words)
    assert f"\nmean = {v.mean():.6g} +- " in text
    low, high = expected.interval(0.95)
    assert f"\nthe mean is between {low:.6g} and {high:.6g}\n" in text
    assert low < 2.25 < high
    found = json.loads(printed(*words, "--json"))["mean"]
    assert found["value"] == pytest.approx(v.mean())
    assert found["interval"] == pytest.approx([low, high])
    narrow = json.loads(printed(*words, "--json", "--target", "respondents"))["mean"]
    assert narrow["standard_error"] < found["standard_error"]


def test_an_estimate_is_drawn(folder: Path, printed: Run) -> None:
    printed(*SURVEY)
    printed(*READING, "--plot", "picture.svg")
    assert b"<svg" in Path("picture.svg").read_bytes()


# mechanism


@pytest.mark.parametrize(
    "kind",
    [
        "randomized-response",
        "hadamard-response",
        "optimized-unary-encoding",
        "symmetric-unary-encoding",
        "subset-selection",
    ],
)
def test_a_structured_mechanism_is_saved_checked_and_used(
    kind: str, folder: Path, printed: Run
) -> None:
    told = printed("mechanism", kind, "problem.toml", "-o", "channel.json")
    mechanism = md.load_mechanism("channel.json").mechanism
    assert told == f"{mechanism!r}\n"
    assert "verified" in printed("verify", "channel.json")
    printed(*SURVEY)
    expected = estimate(mechanism, tally_file(mechanism, "reports.csv", "answer"))
    assert printed(*READING).startswith(f"{expected!r}\n")
    assert printed("leakage", "channel.json").rstrip() == repr(leakages(mechanism))


def test_a_mechanism_may_be_too_large_for_a_matrix(folder: Path, printed: Run) -> None:
    """No utility is needed, and the size of a subset can be chosen."""
    text = '[domain]\nsize = 5000\n[privacy]\nnotion = "ldp"\nepsilon = 1.0\n'
    Path("large.toml").write_text(text, encoding="utf-8")
    words = ["mechanism", "hadamard-response", "large.toml", "-o", "h.json"]
    told = json.loads(printed(*words, "--json"))
    assert md.load_mechanism("h.json").mechanism == HadamardResponse(5000, 1)
    assert (told["inputs"], told["bits_per_report"]) == (5000, 13)
    assert told["leakage"] <= 1 + 1e-12
    words = ["mechanism", "subset-selection", "problem.toml", "-o", "s.json", "--size", "2"]
    printed(*words)
    assert md.load_mechanism("s.json").document["law"]["size"] == "2"


def test_noise_on_a_grid_is_remapped(folder: Path, printed: Run) -> None:
    text = "[domain]\ngrid = { rows = 3, columns = 4 }\n[prior]\nprobabilities = ["
    text += f"{'0.0625, ' * 11}0.3125]\n"
    text += '[privacy]\nnotion = "metric"\nepsilon = 2.0\ndistance = "manhattan"\n'
    Path("grid.toml").write_text(text, encoding="utf-8")
    words = ["mechanism", "geometric-noise", "grid.toml", "-o"]
    told = printed(*words, "noise.json")
    printed(*words, "best.json", "--remap", "squared")
    mechanism, best = (md.load_mechanism(f"{name}.json").mechanism for name in ("noise", "best"))
    assert told == f"{mechanism!r}\n"
    assert best == mechanism.remapped(md.Prior([*["0.0625"] * 11, "0.3125"]), "squared")
    assert printed("leakage", "noise.json").rstrip() == repr(leakages(mechanism))


# leakage


def test_the_leakage_is_that_of_the_library(folder: Path, printed: Run) -> None:
    channel = md.load_mechanism("channel.json").mechanism
    prior = md.Prior([0.5, 0.3, 0.2])
    assert printed("leakage", "channel.json") == f"{leakages(channel)!r}\n"
    for given in ("0.5,0.3,0.2", "1/2, 3/10, 1/5", "problem.toml"):
        found = printed("leakage", "channel.json", "--prior", given)
        assert found == f"{leakages(channel, prior)!r}\n"
    found = printed("leakage", "channel.json", "--prior", "problem.toml", "--json")
    assert json.loads(found) == json.loads(json.dumps(leakages(channel, prior).to_json()))


def test_the_central_epsilon_of_shuffled_reports_comes_with_it(folder: Path, printed: Run) -> None:
    channel = md.load_mechanism("channel.json").mechanism
    told = after_shuffling(channel, 40, "1e-5")
    shuffled = ("leakage", "channel.json", "--shuffled", "40", "--delta", "1e-5")
    assert printed(*shuffled) == f"{leakages(channel)!r}\n\n{told!r}\n"
    assert json.loads(printed(*shuffled, "--json"))["shuffled"] == told.to_json()


def test_a_matrix_of_numbers_is_measured(folder: Path, printed: Run, refused: Run) -> None:
    Path("m.csv").write_text("3/4, 1/4\n0.25,0.75\n", encoding="utf-8")
    warner = md.Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    assert printed("leakage", "m.csv") == f"{leakages(warner)!r}\n"
    Path("m.csv").write_text("3/4,1/4\n0.25,0.5\n", encoding="utf-8")
    assert refused("leakage", "m.csv").startswith("m.csv: matrix[1]: expected a row that")
    Path("m.csv").write_text("a,b\n0.25,0.75\n", encoding="utf-8")
    assert refused("leakage", "m.csv") == (
        "m.csv: line 1, column 1: expected a finite number >= 0, or inf, given something else; "
        "a table without a header and without labels is read"
    )
    Path("m.csv").write_text("", encoding="utf-8")
    assert refused("leakage", "m.csv").startswith("m.csv: ")


def test_a_prior_of_another_domain_is_refused(folder: Path, refused: Run) -> None:
    Path("other.toml").write_text(PROBLEM.replace("never", "seldom"), encoding="utf-8")
    message = refused("leakage", "channel.json", "--prior", "other.toml")
    assert message.startswith("other.toml: domain: expected the inputs of the channel")
    Path("none.toml").write_text(PROBLEM.replace(PRIOR, ""), encoding="utf-8")
    message = refused("leakage", "channel.json", "--prior", "none.toml")
    assert message.startswith("none.toml: prior: the file has no table [prior]")
    assert md.Domain(LABELS) == md.load_mechanism("channel.json").mechanism.inputs


# the program around it


def test_a_bar_shows_the_rows_and_the_share(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mechdesign.designs.progress.DELAY", 0)
    with FileBar("privatize", shown=True) as bar:
        for rows, share in ((1000, None), (2000, 0.5), (3000, 1.0)):
            bar(rows, share)
            bar.refresh()
    shown = capsys.readouterr().err
    for text in ("privatize 1000 rows", "  0%", "privatize 2000 rows", " 50%", "100%"):
        assert text in shown
    with FileBar("privatize") as bar:
        bar(1000, 0.5)
        bar.refresh()
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_it_all_runs_as_a_program_without_a_bar_in_a_file(folder: Path) -> None:
    results: list[Any] = [run(*SURVEY), run(*READING), run("leakage", "channel.json")]
    for done in results:
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout


# mechdesign advise.


def test_it_prints_the_table(printed: Run) -> None:
    out = printed("advise", "1000", "1", "100000")
    assert out == f"{advise(1000, '1', 100_000)}\n"
    assert "take projective-geometry-response" in out
    found = json.loads(printed("advise", "20", "0.5", "100", "--json"))
    assert found["best"] in [each["kind"] for each in found["mechanisms"]]


@pytest.mark.slow
def test_what_only_sums_leak(printed: Run) -> None:
    """Bounds on the central epsilon, below that of a report."""
    words = ["advise", "10", "2", "2000", "--only-sums", "1e-6"]
    sums = json.loads(printed(*words, "--json"))["only_sums"]
    assert len(sums) == 3
    for kind, told in sums.items():
        made = mechanism_for(kind, Domain.range(10), LDP(2))
        assert told["epsilon"] == after_aggregation(made, 2000, "1e-6").epsilon
        assert 0 < told["at_least"] <= told["epsilon"] < told["local"] <= 2
    out = printed(*words)
    assert all(f"{kind:30} central epsilon from" in out for kind in sums)


def test_a_grid_is_divided_into_blocks(printed: Run) -> None:
    found = advise_blocks(Domain.grid(4, 6), "0.5", 1000)
    words = ["advise", "4x6", "0.5", "1000"]
    assert printed(*words) == f"{found}\n"
    assert json.loads(printed(*words, "--json")) == json.loads(json.dumps(found.to_json()))
