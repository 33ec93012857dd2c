"""The command for frontiers: what a user types, what is printed and written, the exit status."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from mechdesign.cli import main
from mechdesign.designs import design as design_module
from mechdesign.designs.design import design
from mechdesign.files import load_problem
from tests.cli_support import Run, rows

PRIOR = "[prior]\nprobabilities = [0.1, 0.2, 0.7]\n"
SMALL = f"""\
title = "Three answers"
[domain]
values = ["a", "b", "c"]
{PRIOR}[privacy]
notion = "ldp"
epsilon = 1.0
[utility]
objective = "hamming"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("ldp.toml").write_text(SMALL.replace(PRIOR, ""), encoding="utf-8")
    Path("lip.toml").write_text(SMALL.replace('"ldp"', '"lip"'), encoding="utf-8")
    strict = SMALL.replace('"ldp"', '"differential-identifiability"').replace("1.0", "2.0")
    Path("strict.toml").write_text(strict, encoding="utf-8")
    return tmp_path


def loss(epsilon: float) -> float:
    """The loss of randomized response on three inputs."""
    return 2 / (math.exp(epsilon) + 2)


def test_the_table_is_that_of_the_formula(folder: Path, printed: Run) -> None:
    report = printed("frontier", "ldp.toml", "--epsilon", "0.1:5:25", "--csv", "out.csv")
    lines = report.splitlines()
    assert lines[0] == "problem    ldp.toml"
    assert lines[1] == "Frontier of ldp: loss is hamming, epsilon in nats"
    assert len(lines) == 3 + 25
    table = rows("out.csv")
    assert list(table[0]) == ["epsilon", "value", "bound", "gap", "status", "route"]
    budgets = [float(row["epsilon"]) for row in table]
    assert (budgets[0], budgets[-1], len(budgets)) == (0.1, 5.0, 25)
    assert budgets == pytest.approx([0.1 + n * 4.9 / 24 for n in range(25)], abs=1e-10)
    for row, epsilon in zip(table, budgets, strict=True):
        assert float(row["value"]) == pytest.approx(loss(epsilon), rel=1e-12)
        assert float(row["bound"]) <= float(row["value"]) * (1 + 1e-12)
        assert float(row["gap"]) <= 1e-6
        assert row["status"] == "optimal"
        assert row["route"] == "closed-form: k-ary randomized response"


def test_floats_in_the_table_are_exact(folder: Path, printed: Run) -> None:
    printed("frontier", "lip.toml", "--epsilon", "0.7,1.1", "--csv", "out.csv")
    problem = load_problem("lip.toml")
    for row in rows("out.csv"):
        answer = design(problem.at(float(row["epsilon"]))).to_json()
        assert [float(row[key]) for key in ("value", "bound")] == [answer["value"], answer["bound"]]


def test_a_list_and_a_logarithmic_range(folder: Path, printed: Run) -> None:
    def budgets(*arguments: str) -> list[float]:
        told = json.loads(printed("frontier", "ldp.toml", "--json", "--epsilon", *arguments))
        return [point["epsilon"] for point in told["frontiers"][0]["points"]]

    assert budgets("2,0.5,1") == [2.0, 0.5, 1.0]
    assert budgets("0.5") == [0.5]
    assert budgets("0:1:3") == [0.0, 0.5, 1.0]
    assert budgets("0.01:1:5", "--logarithmic") == pytest.approx([0.01, 0.1**1.5, 0.1, 0.1**0.5, 1])


def test_several_problems_on_one_picture(folder: Path, printed: Run) -> None:
    files = ("ldp.toml", "lip.toml", "strict.toml")
    options = ("--epsilon", "1,2,3", "--plot", "out.svg", "--csv", "out.csv", "--json")
    told = json.loads(printed("frontier", *files, *options))["frontiers"]
    assert [curve["problem"] for curve in told] == list(files)
    assert [curve["privacy"] for curve in told] == [
        ["ldp"],
        ["lip"],
        ["differential-identifiability"],
    ]
    assert [point["status"] for point in told[2]["points"]] == ["infeasible", "optimal", "optimal"]
    table = rows("out.csv")
    assert [row["problem"] for row in table] == [name for name in files for _ in range(3)]
    assert [table[6][key] for key in ("value", "bound", "gap", "route")] == [""] * 4
    assert table[6]["status"] == "infeasible"
    assert b"<svg" in Path("out.svg").read_bytes()


def test_the_least_budget_for_a_loss(folder: Path, printed: Run) -> None:
    lines = printed("frontier", "ldp.toml", "--reach", "0.4").splitlines()
    assert lines[1].startswith("epsilon = 1.098613 reaches the loss 0.4: its certified channel has")
    assert lines[2].startswith("no epsilon up to 1.098612 does: no private channel is below 0.400")
    options = ("--reach", "0.4", "--precision", "1e-3", "--epsilon", "1,2", "--plot", "out.pdf")
    (told,) = json.loads(printed("frontier", "ldp.toml", "--json", *options))["frontiers"]
    assert (told["reach"]["unreachable_up_to"], told["reach"]["epsilon"]) == (1.098, 1.099)
    assert told["reach"]["value"] <= 0.4 < told["reach"]["bound_there"]
    assert told["reach"]["bound_proved"] is True
    assert len(told["points"]) == 2
    assert Path("out.pdf").read_bytes().startswith(b"%PDF")


def test_a_loss_that_no_budget_reaches_fails(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["frontier", "ldp.toml", "lip.toml", "--reach", "-0.5", "--json"]) == 1
    output = capsys.readouterr()
    told = json.loads(output.out)["frontiers"]
    assert [curve["reach"]["epsilon"] for curve in told] == [None, None]
    for line, name in zip(output.err.splitlines(), ("ldp.toml", "lip.toml"), strict=True):
        assert line.startswith(f"{name}: no epsilon up to 40 reaches the loss -0.5: no private")


def test_budgets_that_all_leave_no_channel_fail(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["frontier", "strict.toml", "--epsilon", "0.1,0.2"]) == 1
    output = capsys.readouterr()
    assert [line.split()[-1] for line in output.out.splitlines()[3:]] == ["infeasible"] * 2
    assert "strict.toml: no budget has a channel" in output.err
    assert "1.94591" in output.err


def test_problems_that_do_not_fit_are_refused(folder: Path, refused: Run) -> None:
    other = SMALL.replace("hamming", "mutual-information")
    Path("other.toml").write_text(other, encoding="utf-8")
    assert refused("frontier", "ldp.toml", "other.toml", "--epsilon", "1") == (
        "other.toml: utility.objective: expected the objective of ldp.toml, hamming, "
        "given mutual-information"
    )
    lift = SMALL.replace('"ldp"\nepsilon = 1.0', '"lift"\nlower = 1\nupper = 1')
    Path("lift.toml").write_text(lift, encoding="utf-8")
    for asked in (["--epsilon", "1"], ["--reach", "0.1"]):
        assert refused("frontier", "lift.toml", *asked) == (
            "lift.toml: privacy: expected exactly one notion with an epsilon, given lift; "
            "design a problem for each of its budgets"
        )
    assert refused("frontier", "nowhere.toml", "--epsilon", "1").startswith(
        "nowhere.toml: cannot read"
    )


@pytest.mark.parametrize(
    ("words", "ended"),
    [
        ("ldp.toml ldp.toml --epsilon 1,2,3 --csv out.csv", ": 2 of 3 budgets are designed"),
        (
            "ldp.toml ldp.toml --epsilon 1,2",
            " before any budget was designed",
        ),  # of the second problem
        ("ldp.toml --epsilon 1,2 --reach 0.1", " before a budget was found that reaches the loss"),
    ],
)
def test_ctrl_c_leaves_what_is_finished(
    words: str, ended: str, folder: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user presses it after two designs."""
    designed, real = [0], design_module.designed

    def pressed(*asked: Any) -> Any:
        designed[0] += 1
        if designed[0] > 2:
            raise KeyboardInterrupt
        return real(*asked)

    monkeypatch.setattr("mechdesign.designs.design.designed", pressed)
    assert main(["frontier", *words.split(), "--json"]) == 130
    out, err = capsys.readouterr()
    assert err == f"ldp.toml: interrupted{ended}\n"
    (found,) = json.loads(out)["frontiers"]
    assert [point["epsilon"] for point in found["points"]] == [1, 2]
    assert found.get("reach") is None
    if "--csv" in words:
        assert found["ended"] == f"interrupted{ended}"
        assert len(Path("out.csv").read_text(encoding="utf-8").splitlines()) == 3


def test_a_folder_of_certificates_is_filled_and_used(
    folder: Path, printed: Run, refused: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("lip.toml", "--epsilon", "0.5,1", "--json", "--cache", "kept")
    first = json.loads(printed("frontier", *arguments))
    assert len(list(Path("kept").rglob("*.json.gz"))) == 2
    monkeypatch.setattr("mechdesign.designs.design.designed", None)  # nothing is designed
    assert json.loads(printed("frontier", *arguments)) == first
    Path("file").write_text("", encoding="utf-8")
    told = refused("frontier", *arguments[:-1], "file")
    assert told.startswith("lip.toml: cache: expected a folder")
