"""Matrices and rows in files beside a problem: labels are matched; what is wrong is one line."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from mechdesign import LDP, load_problem
from mechdesign.files.problems import load_setting
from tests.refusals_support import check_refused

HEAD = """
[domain]
values = ["a", "b"]
[privacy]
{privacy}
[utility]
{utility}
"""
HAMMING = 'objective = "hamming"'


def load(folder: Path, cells: str, privacy: str, utility: str = HAMMING) -> Any:
    (folder / "E.csv").write_text(cells)
    file = folder / "p.toml"
    file.write_text(HEAD.format(privacy=privacy, utility=utility))
    return load_problem(file)


AWARE = 'notion = "context-aware"\nmatrix = { file = "E.csv" }'
ROWS = 'notion = "linear"\nrows = { file = "E.csv" }'
HEADER = "name,side,label,coefficient,exponent\n"


@pytest.mark.parametrize(
    "cells", ["0,1\ninf,0\n", ",a,b\na,0,1\nb,inf,0\n", ",b,a\nb,0,inf\na,1,0\n"]
)
def test_labels_decide_in_a_matrix(cells: str, tmp_path: Path) -> None:
    (notion,) = load(tmp_path, cells, AWARE).privacy
    assert notion.to_table()["matrix"] == [["0", "1"], ["inf", "0"]]


def test_distances_and_losses(tmp_path: Path) -> None:
    metric = 'notion = "metric"\nepsilon = 1\ndistance = { file = "E.csv", separator = ";" }'
    (notion,) = load(tmp_path, "x;b;a\nb;0;2\na;3;0\n", metric).privacy
    assert notion.to_table()["distance"] == [["0", "3"], ["2", "0"]]
    loss = 'objective = "distortion"\nmatrix = { file = "E.csv" }'
    problem = load(tmp_path, ",b,a\na,1,0\nb,0,2\n", 'notion = "ldp"\nepsilon = 1', loss)
    assert problem.utility.matrix.array.tolist() == [[0, 1], [2, 0]]


def test_rows_of_a_notion(tmp_path: Path) -> None:
    cells = HEADER + "r,left,a,1,0.5\nr,right,b,1/2,\nr,right,a,1,0.5\n"
    (notion,) = load(tmp_path, cells, ROWS).privacy
    (row,) = notion.to_table()["rows"]
    assert row == {
        "name": "r",
        "left": [["a", "1"]],
        "right": [["b", "0.5"], ["a", "1"]],
        "exponent": "0.5",
    }


GAINS = 'objective = "g-vulnerability"\ngain_matrix = { file = "E.csv" }'
LDP1 = 'notion = "ldp"\nepsilon = 1'
WRONG = {
    "no such label": (",a,c\na,0,1\nb,1,0\n", AWARE, "header line of E.csv.*labels of the domain"),
    "a label twice": (",a,a\na,0,1\nb,1,0\n", AWARE, "each of 2 labels once"),
    "too few lines": ("0,1\n", AWARE, "expected 2 lines"),
    "ragged": ("0,1\n0\n", AWARE, "expected 2 cells in line 2"),
    "no number": ("0,x\n1,0\n", AWARE, "expected a finite number"),
    "no header": ("r,left,a,1,0.5\n", ROWS, "expected the header name,side"),
    "no side": (HEADER + "r,middle,a,1,1\n", ROWS, "line 2 of E.csv: expected left or right"),
    "two exponents": (
        HEADER + "r,left,a,1,1\nr,right,b,1,2\n",
        ROWS,
        "the exponent differs from that of an earlier line",
    ),
    "no exponent": (HEADER + "r,left,a,1,\nr,right,b,1,\n", ROWS, "exponent: this key is required"),
    "no file": ("", AWARE.replace("E.csv", "F.csv"), "a file beside the problem"),
    "a key": ("", AWARE.replace("}", ', sep = ";" }'), "matrix.sep: expected one of the keys"),
    "gains of four": ("1,0,0,1\n", LDP1, "2 cells in each line", GAINS),
    "gains, ragged": ("1,0\n1\n", LDP1, "2 cells in line 2 .* as in the first, given 1", GAINS),
    "no gains": ("", LDP1, "has no lines with numbers", GAINS),
    "labels of no gains": (",a,b\n", LDP1, "has no lines with numbers", GAINS),
    "gains of a label twice": (",a,a\nx,1,0\n", LDP1, "each of 2 labels once", GAINS),
    "a gain below 0": ("1,-1\n", LDP1, "a finite number >= 0", GAINS),
    "an infinite gain": ("1,inf\n", LDP1, "gain_matrix", GAINS),
    "a word as gain": ("1,word\n", LDP1, "a finite number >= 0", GAINS),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    cells, privacy, message, *utility = WRONG[name]
    assert "p.toml" in str(check_refused(message, load, tmp_path, cells, privacy, *utility))


@pytest.mark.parametrize(
    "cells",
    ["1,0\n0,2\n1/2,1/2\n", ",a,b\nx,1,0\ny,0,2\nz,0.5,0.5\n", ",b,a\nx,0,1\ny,2,0\nz,.5,.5\n"],
)
def test_labels_decide_in_a_matrix_of_gains(cells: str, tmp_path: Path) -> None:
    """Three guesses for two inputs, with names or without, for the objective and the notion."""
    problem = load(tmp_path, cells, LDP1, GAINS)
    matrix = problem.utility.to_table(problem.domain)["gain_matrix"]
    wanted = [[1, 0], [0, 2], [Fraction(1, 2)] * 2]
    assert [[Fraction(g) for g in row] for row in matrix] == wanted
    notion = 'notion = "g-vulnerability"\nlimit = 1.5\ngain_matrix = { file = "E.csv" }'
    (held,) = load(tmp_path, cells, notion, HAMMING + "\n[prior]\nuniform = true").privacy
    matrix = held.to_table()["gain_matrix"]
    assert [[Fraction(g) for g in row] for row in matrix] == wanted


def test_a_setting_needs_no_utility_but_the_keys_of_a_problem_file(tmp_path: Path) -> None:
    file = tmp_path / "setting.toml"
    text = '[domain]\nsize = 5000\n[[privacy]]\nnotion = "ldp"\nepsilon = 0.1\n'
    file.write_text(text, encoding="utf-8")
    setting = load_setting(file)
    assert (len(setting.domain), setting.privacy, setting.prior) == (5000, (LDP("0.1"),), None)
    for wrong, message in {
        text.replace("domain", "domian"): "domian: expected one of the keys",
        text.partition("[[")[0]: "privacy: this key is required",
        f"{text}[prior]\ncounts = [1]\n": "prior.counts: expected 5000 counts",
    }.items():
        file.write_text(wrong, encoding="utf-8")
        assert str(check_refused("", load_setting, file)).startswith(f"{file}: {message}")
