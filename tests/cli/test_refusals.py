"""A wrong command line gives status 2 and one line that states the error, and writes no file."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from mechdesign import Channel, save
from mechdesign.cli import main
from tests.cli_support import Run

COMMANDS = (
    *("solve", "verify", "check", "example", "frontier", "mechanism"),
    *("privatize", "estimate", "advise", "leakage", "compare", "explore"),
)

PROBLEM = """\
[domain]
values = ["never", "some, times", "always"]
[prior]
probabilities = [0.5, 0.3, 0.2]
[privacy]
notion = "lip"
epsilon = 1.0
[utility]
objective = "hamming"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("problem.toml").write_text(PROBLEM, encoding="utf-8")
    Path("ldp.toml").write_text(PROBLEM.replace("lip", "ldp"), encoding="utf-8")
    labels = ["never", "some, times", "always"]
    rows = [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]]
    save(Channel.from_matrix(rows, inputs=labels, outputs=labels), "channel.json")
    Path("survey.csv").write_text("name,answer,age\nA,never,20\nB,always,30\n", encoding="utf-8")
    Path("reports.csv").write_text("answer\nnever\nalways\n", encoding="utf-8")


SOLVE, FRONTIER = "solve problem.toml", "frontier problem.toml"
PRIVATIZE = "privatize channel.json survey.csv reports.csv --force --column answer"
ESTIMATE = "estimate channel.json reports.csv --column answer"
LEAKAGE, MECHANISM = "leakage channel.json", "mechanism hadamard-response ldp.toml -o m.json"
NO_FOLDER = "/x.png: the folder 'nowhere' does not exist"
WRONG = {
    "": "mechdesign: expected a command, given none",
    "sovle a.toml": "…expected one of solve, …given 'sovle'; did you mean 'solve'?",
    "--verison": "…given '--verison'; did you mean '--version'?",
    "solve": "…PROBLEM.toml",
    "solve a.toml b.toml": "mechdesign solve: expected no more words, given 'b",
    f"{SOLVE} --route magic": "route: expected one of auto",
    f"{SOLVE} --route linear-programme": "route: …did you mean 'linear-program'?",
    f"{SOLVE} --route linear-program:magic": "route: …simplex, ipm",
    f"{SOLVE} --route cvxpy": "route: expected cvxpy:NAME",
    f"{SOLVE} --route cvxpy:MAGIC": "route: …given cvxpy:MAGIC",
    f"{SOLVE} --route cvxpy:CLARABLE": "route: …did you mean 'CLARABEL'?",
    f"{SOLVE} --route auto:magic": "route: expected auto with nothing after it",
    f"{SOLVE} --route closed-form:magic": "route: expected closed-form with nothing after it",
    f"{SOLVE} --route closed-form": "route: …outside its region",
    f"{SOLVE} -o nowhere/x.png": f"nowhere{NO_FOLDER}",
    f"{SOLVE} -o .": ".: this is a folder, not a file",
    f"{SOLVE} -o ''": "-o: the name of the file is empty",
    f"{SOLVE} --plot x.bmp": "x.bmp: …ends in .png, .pdf or .svg",
    f"{SOLVE} --plot nowhere/x.png": f"nowhere{NO_FOLDER}",
    **{
        f"{SOLVE} {option}={given}": f"…{option}: expected a number > 0, given '{given}'"
        for option in ("--gap", "--time-limit")
        for given in ("0", "-1", "nan", "inf", "soon")
    },
    "verify": "…CHANNEL.json",
    "verify nowhere.json": "nowhere.json: cannot read the file",
    "verify problem.toml": "problem.toml: not valid JSON: …; mechdesign solve "
    "problem.toml -o channel.json designs a channel",
    "verify .": ".: cannot read the file: it is a folder",
    "check": "…PROBLEM.toml",
    "example": "…NOTION",
    "example magic": "NOTION: expected one of ldp",
    "example lpi": "NOTION: …did you mean 'lip'?",
    "explore --part cones": "…given 'cones'; did you mean 'cone'?",
    "advise 1 1 10": "INPUTS: expected a whole number from 2 …given 1",
    "advise 10 1 0": "REPORTS: expected a whole number from 1 …given 0",
    "advise 10 -1 10": "EPSILON: expected a finite number…given '-1'",
    "advise 10 x 1": "EPSILON: expected…given 'x'",
    "advise 4x 1 5": "inputs: expected a whole number, or a grid…given '4x'",
    "advise 0x4 1 5": "grid.rows: expected a whole number >= 1, given 0",
    "advise 1x1 1 5": "inputs: expected at least two inputs, given 1",
    "advise 4x6 2 2000 --only-sums 1e-6": "--only-sums: expected a number of inputs, not a grid",
    "advise 10 2 2000 --only-sums 2": "--only-sums: expected a number between 0 and 1",
    FRONTIER: "frontier: give --epsilon, --reach or both",
    f"{FRONTIER} --reach 0.4 --plot x.png": "--plot: needs --epsilon",
    f"{FRONTIER} --reach 0.4 --csv x.csv": "--csv: needs --epsilon",
    f"{FRONTIER} --reach 0.4 --cache kept": "--cache: needs --epsilon",
    f"{FRONTIER} --epsilon 1 --precision 1": "--precision: needs --reach",
    f"{FRONTIER} --epsilon 1 --spreadsheet-safe": "--spreadsheet-safe: needs --csv",
    f"{FRONTIER} --epsilon 1 --jobs 0": "…--jobs: expected a whole number >= 1",
    f"{FRONTIER} --epsilon 1:2": "--epsilon: expected START:STOP:COUNT, as 0.1:5:25, given '1:2'",
    f"{FRONTIER} --epsilon 1:2:1": "--epsilon: expected a COUNT from 2 to 10000, given '1'",
    f"{FRONTIER} --epsilon 1:2:2.5": "--epsilon: expected a COUNT from 2 to 10000",
    f"{FRONTIER} --epsilon 1:2:99999": "--epsilon: expected a COUNT from 2 to 10000",
    f"{FRONTIER} --epsilon 2:1:5": "--epsilon: expected START below STOP",
    f"{FRONTIER} --epsilon 0:1:5 --logarithmic": "--epsilon: expected a START > 0",
    f"{FRONTIER} --epsilon 1,2 --logarithmic": "--logarithmic: expected --epsilon START:STOP",
    f"{FRONTIER} --epsilon 1,,2": "--epsilon: expected numbers >= 0, as 0.1:5:25 or 0.5,1,2",
    f"{FRONTIER} --epsilon=-1,2": "--epsilon: expected numbers >= 0",
    f"{FRONTIER} --epsilon nan": "--epsilon: expected numbers >= 0",
    f"{FRONTIER} --reach low": "--reach: expected a finite number, given 'low'",
    f"{FRONTIER} --reach 0.1 --precision 0": "--precision: expected a number > 0",
    f"{FRONTIER} --epsilon 1 --plot x.doc": "x.doc: expected a file name that ends in .png",
    f"{FRONTIER} --epsilon 1 --csv x.doc": "x.doc: expected a file name that ends in .csv",
    f"{FRONTIER} --epsilon 1 --csv nowhere/x.csv": "nowhere/x.csv: the folder 'nowhere' does not",
    PRIVATIZE.replace("channel", "none"): "none.json: cannot read the file",
    PRIVATIZE.replace("survey", "none"): "none.csv: cannot read the file",
    PRIVATIZE.replace("answer", "anwser"): "survey.csv: column: the file has no column named "
    "'anwser'; column 2 has a similar name",
    PRIVATIZE.replace("reports", "survey"): "survey.csv: this file is also read",
    PRIVATIZE.replace("reports.csv", "reports.xls"): "reports.xls: expected a name",
    PRIVATIZE.removesuffix(" --column answer"): "mechdesign privatize: one of the arguments "
    "--column --col",
    f"{PRIVATIZE} --keep answer": "keep: expected columns beside those",
    f"{PRIVATIZE} --keep '\"a'": "mechdesign privatize: argument --keep: expected names",
    f"{PRIVATIZE} --unknown ignore": "unknown: expected refuse, drop or map:LABEL",
    f"{PRIVATIZE} --missing map:nevr": "missing: expected labels of the domain",
    f"{PRIVATIZE} --seed -1": "mechdesign privatize: argument --seed: expected ",
    f"{PRIVATIZE} --seed x": "mechdesign privatize: argument --seed: expected ",
    f"{PRIVATIZE} --separator ';;'": "separator: expected one character",
    "estimate channel.json survey.csv --column name": "survey.csv: line 2, column",
    f"{ESTIMATE} --method unbaised": "method: expected one of unbiased",
    f"{ESTIMATE} --target all": "target: expected ",
    f"{ESTIMATE} --confidence 2": "confidence: expected ",
    f"{ESTIMATE} --confidence 0": "mechdesign estimate: argument --confidence",
    f"{ESTIMATE} --csv table.txt": "table.txt: expected a file name that ends in .csv",
    f"{ESTIMATE} --plot picture.gif": "picture.gif: expected a file name",
    f"{ESTIMATE} --csv reports.csv": "reports.csv: this file is also read",
    f"{ESTIMATE} --csv nowhere/t.csv": "nowhere/t.csv: the folder 'nowhere' does not",
    **{
        f"{ESTIMATE} --quantiles '{given}'": "mechdesign estimate: argument --quantiles: expected "
        for given in ("1", "0", "x", "")
    },
    "leakage": "leakage: give either a channel or --ledger",
    f"{LEAKAGE} --ledger l": "leakage: give either a channel or --ledger",
    "leakage none.csv": "none.csv: cannot read the file",
    "leakage none.csv --shuffled ten": "…--shuffled: expected a whole number, given 'ten'",
    f"{LEAKAGE} --prior 0.5,x,0.5": "--prior: expected ",
    f"{LEAKAGE} --prior 0.5,0.1": "--prior: expected ",
    f"{LEAKAGE} --prior 0.5,0.5": "prior: expected 3 prob",
    f"{LEAKAGE} --prior none.toml": "none.toml: cannot read the file",
    f"{LEAKAGE} --shuffled 9": "--shuffled: needs --delta",
    f"{LEAKAGE} --shuffled 0 --delta .1": "n: expected",
    f"{LEAKAGE} --shuffled 9 --delta 2": "delta: expected",
    MECHANISM.replace("-response", ""): "kind: expected one of randomized-response, hadamard-resp",
    MECHANISM.replace("m.json", "x/m.json"): "x/m.json: ",
    MECHANISM.replace("m.json", "ldp.toml"): "ldp.toml: this file is also read",
    f"{MECHANISM} --size 2": "size: expected none",
    f"{MECHANISM} --remap squared": "remap: expected none",
}
"""Command lines, and how the message begins, with … for any text."""


@pytest.mark.parametrize("words", WRONG)
def test_a_wrong_command_line_is_refused_in_one_line(words: str, refused: Run) -> None:
    line = refused(*shlex.split(words))
    assert re.match(re.escape(WRONG[words]).replace("…", ".*"), line), line


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_option_is_named_with_its_command(command: str, refused: Run) -> None:
    given = {"solve": 1, "verify": 1, "check": 1, "example": 1, "frontier": 1, "mechanism": 2}
    given |= {"privatize": 3, "estimate": 2, "advise": 3, "leakage": 1, "compare": 2}
    needed = {"mechanism": ["-o", "x.json"], "privatize": ["--column", "a"]}
    needed["estimate"] = needed["privatize"]
    words = [*["1"] * given.get(command, 0), *needed.get(command, [])]
    line = refused(command, *words, "--jsonn")
    assert f"mechdesign {command}: expected options of this command, given '--jsonn'" in line
    assert f"see mechdesign {command} --help" in line


@pytest.mark.parametrize("words", ["-o nowhere/x.json", "--plot x.bmp"])
def test_a_wrong_output_is_found_before_solving(
    words: str, refused: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mechdesign.designs.design.design", lambda *_: pytest.fail("solved first"))
    refused("solve", "problem.toml", *words.split())


OVER = "solve problem.toml -o problem.toml", "solve problem.toml --plot link.png"
OVER += "solve problem.toml -o new.png --plot new.png", "frontier c.csv --epsilon 1 --csv c.csv"
OVER += ("frontier problem.toml c.csv --epsilon 1 --csv copy.csv",)
OVER += ("mechanism randomized-response problem.toml -o link.png",)
OVER += tuple(
    f"{PRIVATIZE.replace('channel.json', 'm.csv').replace('reports.csv', target)}"
    for target in ("m.csv", "link.csv", "hard.csv")
)
OVER += ("estimate m.csv reports.csv --column answer --csv hard.csv",)


@pytest.mark.parametrize("words", OVER)
def test_no_file_is_written_over_one_that_is_read_or_written(words: str, refused: Run) -> None:
    Path("link.png").symlink_to("problem.toml")
    Path("c.csv").write_text(PROBLEM, encoding="utf-8")
    Path("copy.csv").hardlink_to("c.csv")
    Path("m.csv").write_bytes(Path("channel.json").read_bytes())
    Path("link.csv").symlink_to("m.csv")
    Path("hard.csv").hardlink_to("m.csv")
    line = refused(*words.split())
    assert "this file is also read" in line or "a file of its own" in line


@pytest.mark.parametrize("command", [(), *((command,) for command in COMMANDS)])
def test_help_is_there(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main([*command, "--help"])
    assert leaving.value.code == 0
    assert " ".join(["usage: mechdesign", *command]) in capsys.readouterr().out
