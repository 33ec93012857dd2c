"""An invalid file or command line gives status 2 and one line that states the error."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from mechdesign.cli import main
from tests.cli_support import Run

FILE = "problem.toml"

SECTIONS = {
    "domain": ["[domain]", 'values = ["a", "b", "c"]'],
    "prior": ["[prior]", "probabilities = [0.2, 0.3, 0.5]"],
    "privacy": ["[privacy]", 'notion = "lip"', "epsilon = 1.0"],
    "utility": ["[utility]", 'objective = "hamming"'],
}


def problem(changes: str = "") -> str:
    """Return a problem in which some sections are replaced, with bars between their lines."""
    top, sections, lines = list[str](), dict(SECTIONS), list[str]()
    for part in filter(None, changes.replace("\n", " | ").split(" | ")):
        named = re.match(r"\[+(\w+)\]+ ?(.*)", part)
        if part.startswith("without "):
            del sections[part.removeprefix("without ")]
        elif named:
            lines = lines if sections.get(named[1]) is lines else []
            sections[named[1]] = lines
            lines += [part.removesuffix(named[2]), named[2]]
        else:
            (lines or top).append(part)
    return "\n".join([*top, *(line for section in sections.values() for line in section), ""])


CASES = r"""
[notes] text = "x"
  notes: expected one of the keys title…, given 'notes'
without privacy | [privcy] notion = "lip" | epsilon = 1.0
  privcy: expected one of the keys title…, given 'privcy'…did you mean 'privacy'?
tittle = "x"
  tittle: expected one of the keys…, given 'tittle'; did you mean 'title'?
without domain
  domain: this key is required
without domain | without prior | without privacy | without utility
  domain: this key is required
without privacy
  privacy: this key is required
without utility
  utility: this key is required
title = 3
  title: expected text, given 3
source = ["x"]
  source: expected text, given ['x']
domain = ["a", "b"] | without domain
  domain: expected a table [domain], given ['a', 'b']
[domain] values = ["a", "b", "c"] | size = 3
  domain: needs exactly one of values, size, grid, points, interval, box; it has values and size
[domain]
  domain: needs exactly one of values, size, grid, points, interval, box; it has none
[domain] value = ["a"]
  domain.value: expected one of…, given 'value'; did you mean 'values'?
[domain] values = ["a", "b", "a"]
  domain.values: 'a' occurs twice
[domain] values = [1, 1.0, 2]
  domain.values: 1.0 occurs twice
[domain] values = []
  domain.values: expected at least one input, given an empty list
[domain] values = "abc"
  domain.values: expected a list, given 'abc'
[domain] values = [true, "b", "c"]
  domain.values: expected labels that are text or finite numbers, given true
[domain] values = [{ a = 1 }]
  domain.values: expected labels that are text or finite numbers, given {'a': 1}
[domain] values = [1e400, 1, 2]
  domain.values: expected labels that are text or finite numbers, given 1E+400
[domain] size = 0
  domain.size: expected a whole number >= 1, given 0
[domain] size = "3"
  domain.size: expected a whole number >= 1, given '3'
[domain] size = 1_000_000_000_000
  domain.size: expected at most 1000000 inputs…, given 1000000000000…
[domain] grid = { rows = 0, columns = 3 }
  domain.grid.rows: expected a whole number >= 1, given 0
[domain] grid = { rows = 1 }
  domain.grid.columns: this key is required
[domain] grid = { rows = 1, colums = 3 }
  domain.grid.colums: expected one of…, given 'colums'…did you mean 'columns'?
[domain] grid = { rows = 1, columns = 3, spacing = 0 }
  domain.grid.spacing: expected a number > 0, given 0
[domain] grid = [1, 3]
  domain.grid: expected a table { rows, columns, spacing }, given [1, 3]
[prior] probabilities = [0.2, 0.3, 0.4]
  prior.probabilities: expected numbers that sum to 1…, given sum 0.9…
[prior] probabilities = [-0.2, 0.7, 0.5]
  prior.probabilities[0]: expected a finite number >= 0, given -0.2
[prior] probabilities = ["few", 0.3, 0.5]
  prior.probabilities[0]: expected a finite number >= 0, given 'few'
[prior] probabilities = [0.5, 0.5]
  prior.probabilities: expected 3 probabilities, one for each input, given 2 probabilities
[prior] probabilities = []
  prior.probabilities: expected a list of numbers >= 0, given an empty list
[prior] probabilities = 0.5
  prior.probabilities: expected a list of numbers >= 0, given 0.5
prior = [0.2, 0.3, 0.5] | without prior
  prior: expected a table [prior], given [0.2, 0.3, 0.5]
[prior] probabilities = [0.2, 0.3, 0.5] | uniform = true
  prior: needs exactly one of …; it has probabilities and uniform…
[prior]
  prior: needs exactly one of probabilities, counts, uniform, data; it has none
[prior] probabilites = [0.2, 0.3, 0.5]
  prior.probabilites: expected one of…, given 'probabilites'…did you mean 'probabilities'?
[prior] uniform = false
  prior.uniform: expected true, given false
[prior] counts = [0, 0, 0]
  prior.counts: all counts are 0
[prior] counts = [3, -1, 0]
  prior.counts[1]: expected a finite number >= 0, given -1
without prior
  prior: lip is defined by a prior, and none is given
without prior | [privacy] notion = "differential-identifiability" | epsilon = 1.0
  prior: differential-identifiability is defined by a prior, and none is given
[prior] data = { file = "nowhere.csv", column = "answer" }
  prior.data.file: expected a file beside the problem or in the data folder, given nowhere.csv
[domain] values = ["a", "b", "d"] | [prior] data = { file = "good.csv", column = "answer" }
  prior.data.file: record 3 of good.csv: expected labels of …, given another value
[prior] data = { file = ".", column = "answer" }
  prior.data.file: expected a file beside the problem or in the data folder, given .
[prior] data = { file = "good.csv" }
  prior.data.column: this key is required
[prior] data = "good.csv"
  prior.data: expected a table { file, column, smoothing }, given 'good.csv'
[prior] data = { file = "good.csv", column = "answer", seperator = ";" }
  prior.data.seperator: expected one of the keys…, given 'seperator'…did you mean 'separator'?
[prior] data = { file = "good.csv", column = "anwser" }
  prior.data.column: good.csv has no column named 'anwser'; column 2 has a similar name
[prior] data = { file = "good.csv", column = "answer", separator = ";" }
  prior.data.column: good.csv has no column named 'answer'; is the separator ','?
[prior] data = { file = "good.csv", column = "answer", separator = ", " }
  prior.data.separator: expected one character, no quote or line end, given ', '
[prior] data = { file = "good.csv", column = "answer", separator = "\n" }
  prior.data.separator: expected one character, no quote or line end, given '\n'
[prior] data = { file = "good.csv", column = "answer", separator = 3 }
  prior.data.separator: expected text, given 3
[prior] data = { file = "good.csv", column = "answer", smoothing = -1 }
  prior.data.smoothing: expected a number >= 0, given -1
[prior] data = { file = "twice.csv", column = "answer" }
  prior.data.column: twice.csv has 2 columns named 'answer'
[prior] data = { file = "header.csv", column = "answer" }
  prior.data.file: header.csv has no records
[prior] data = { file = "latin.csv", column = "answer" }
  prior.data.file: latin.csv is not UTF-8 text
[prior] data = { file = "plain.csv.gz", column = "answer" }
  prior.data.file: plain.csv.gz is truncated or damaged
[prior] data = { file = "cut.csv.gz", column = "answer" }
  prior.data.file: cut.csv.gz is truncated or damaged
[prior] data = { file = "wide.csv", column = "answer" }
  prior.data.file: expected a…
[privacy] notion = "lpi" | epsilon = 1.0
  privacy.notion: expected one of ldp, context-aware…, given 'lpi'; did you mean 'lip'?
[privacy] notion = "bounded-prior-lp" | epsilon = 1.0
  privacy.notion: expected one of…, given 'bounded-prior-lp'…did you mean 'bounded-prior-lip'?
[privacy] notion = 1 | epsilon = 1.0
  privacy.notion: expected one of…, given 1
[privacy] epsilon = 1.0
  privacy.notion: expected one of ldp…, given none
[privacy] notoin = "lip" | epsilon = 1.0
  privacy.notoin: expected the key notion, given 'notoin'; did you mean 'notion'?
[privacy] notion = "lip"
  privacy.epsilon: this key is required
[privacy] notion = "lip" | epsilom = 1.0
  privacy.epsilom: expected one of…, given 'epsilom'…did you mean 'epsilon'?
[privacy] notion = "lip" | epsilon = -1
  privacy.epsilon: expected a finite number >= 0, given -1
[privacy] notion = "ldp" | epsilon = nan
  privacy.epsilon: expected a finite number >= 0, given NaN
[privacy] notion = "ldp" | epsilon = inf
  privacy.epsilon: expected a finite number >= 0, given Infinity
[privacy] notion = "ldp" | epsilon = 1e400
  privacy.epsilon: expected a finite number >= 0, given 1E+400
[privacy] notion = "ldp" | epsilon = 1e-320
  privacy.epsilon: expected a…, given 1E-320
[privacy] notion = "lip" | epsilon = "much"
  privacy.epsilon: expected a finite number >= 0, given 'much'
privacy = "lip" | without privacy
  privacy: expected a table, or a list of tables [[privacy]], given 'lip'
privacy = [] | without privacy
  privacy: expected a table, or a list of tables [[privacy]], given []
[[privacy]] notion = "ldp" | epsilon = 1.0 | [[privacy]] notion = "lip" | epsilon = -1
  privacy[1].epsilon: expected a finite number >= 0, given -1
[[privacy]] notion = "ldp" | epsilon = 1.0 | [[privacy]] notion = "high-low" | epsilon = 1
sensitive = ["z"]
  privacy[1].sensitive: expected labels of the domain ('a', 'b', 'c'), given 'z'
[privacy] notion = "context-aware"
  privacy.matrix: this key is required
[privacy] notion = "context-aware" | epsilon = 1 | matrix = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
  privacy.epsilon: expected one of the keys notion, matrix…, given 'epsilon'
[privacy] notion = "context-aware" | matrix = [[0, 1, 1], [1, 0], [1, 1, 0]]
  privacy.matrix[1]: expected a row of 3 numbers, the matrix being square, given 2 numbers
[privacy] notion = "context-aware" | matrix = [[0, 1], [1, 0]]
  privacy.matrix: expected a 3 x 3 matrix, one row for each input, given a 2 x 2 matrix
[privacy] notion = "context-aware" | matrix = [[0, 1, 1], [-1, 0, 1], [1, 1, 0]]
  privacy.matrix[1][0]: expected a number in [0, inf], given -1
[privacy] notion = "context-aware" | matrix = "all"
  privacy.matrix: expected a square matrix of numbers in [0, inf], given 'all'
[privacy] notion = "high-low" | epsilon = 1 | sensitive = []
  privacy.sensitive: expected at least one label of the domain, given an empty list
[privacy] notion = "high-low" | epsilon = 1
  privacy.sensitive: this key is required
[privacy] notion = "high-low" | epsilon = 1 | sensitive = "a"
  privacy.sensitive: expected a list of labels of the domain, given 'a'
[privacy] notion = "high-low" | epsilon = 1 | sensitive = ["aa"]
  privacy.sensitive: expected labels of the domain…, given 'aa'; did you mean 'a'?
[privacy] notion = "block" | epsilon = 1
  privacy.blocks: give either blocks, or block_rows and block_columns
[privacy] notion = "block" | epsilon = 1 | blocks = [["a", "b", "c"]] | block_rows = 1
  privacy.blocks: give either blocks, or block_rows and block_columns
[privacy] notion = "block" | epsilon = 1 | blocks = [["a", "b"], ["b", "c"]]
  privacy.blocks: 'b' is in two blocks
[privacy] notion = "block" | epsilon = 1 | blocks = [["a"], ["b"]]
  privacy.blocks: 'c' is in no block
[privacy] notion = "block" | epsilon = 1 | blocks = [["a", "b", "c"], []]
  privacy.blocks[1]: expected at least one label, given an empty list
[privacy] notion = "block" | epsilon = 1 | block_rows = 1 | block_columns = 1
  privacy.block_rows: expected a grid as the domain, given Domain(3 inputs: 'a', 'b', 'c')
[domain] grid = { rows = 4, columns = 4 } | [prior] uniform = true | [privacy] notion = "block"
epsilon = 1 | block_rows = 3 | block_columns = 2
  privacy.block_rows: expected a divisor of the grid's 4, given 3
[domain] grid = { rows = 4, columns = 4 } | [prior] uniform = true | [privacy] notion = "block"
epsilon = 1 | block_rows = 2
  privacy.block_columns: expected a whole number >= 1, given none
[domain] grid = { rows = 4, columns = 4 } | [prior] uniform = true | [privacy] notion = "block"
epsilon = 1 | block_rows = 0 | block_columns = 2
  privacy.block_rows: expected a whole number >= 1, given 0
[privacy] notion = "metric" | epsilon = 1 | distance = "euclidean"
  privacy.distance: expected numbers or a grid…, given Domain(3 inputs: 'a', 'b', 'c')
[domain] grid = { rows = 4, columns = 4 } | [prior] uniform = true | [privacy] notion = "metric"
epsilon = 1 | distance = "absolute"
  privacy.distance: expected numbers as the domain…, given Domain(grid 4 x 4, spacing 1)
[domain] size = 3 | [privacy] notion = "metric" | epsilon = 1 | distance = "euclidian"
  privacy.distance: expected one of…, given 'euclidian'…did you mean 'euclidean'?
[privacy] notion = "metric" | epsilon = 1
  privacy.distance: this key is required
[privacy] notion = "metric" | epsilon = 1 | distance = 3
  privacy.distance: expected a matrix of numbers >= 0, given 3
[privacy] notion = "metric" | epsilon = 1 | distance = [[0, 1, 2], [1, 0], [2, 1, 0]]
  privacy.distance[1]: expected a row of 3 numbers, given 2 numbers
[privacy] notion = "lift" | lower = 1
  privacy.upper: this key is required
[privacy] notion = "lift" | lower = 1 | upper = 1 | epsilon = 1
  privacy.epsilon: expected one of the keys notion, lower, upper…, given 'epsilon'
[privacy] notion = "bounded-prior-lip" | epsilon = 1
  privacy.priors: expected exactly one of: priors; lower and upper; center and radius…, given none
[privacy] notion = "bounded-prior-lip" | epsilon = 1 | priors = [[0.2, 0.3, 0.5]]
center = [0.2, 0.3, 0.5] | radius = 0.1
  privacy.priors: expected exactly one of…, given priors and center and radius
[privacy] notion = "bounded-prior-lip" | epsilon = 1 | center = [0.2, 0.3, 0.5] | radius = 2
  privacy.radius: expected a number in [0, 1], given 2
[privacy] notion = "bounded-prior-lip" | epsilon = 1 | center = [0.2, 0.3, 0.6] | radius = 0.1
  privacy.center: expected numbers that sum to 1, given sum 1.1; Prior.from_counts takes counts
[privacy] notion = "bounded-prior-lip" | epsilon = 1 | lower = [0.5, 0.4, 0.3]
upper = [0.6, 0.6, 0.6]
  privacy.lower: expected a sum of at most 1, given sum 1.2
[privacy] notion = "bounded-prior-lip" | epsilon = 1 | lower = [0.1, 0.1, 0.1]
upper = [0.2, 0.2, 0.2]
  privacy.upper: expected a sum of at least 1, given sum 0.6
[privacy] notion = "bounded-prior-lip" | epsilon = 1 | lower = [0.5, 0.1, 0.1]
upper = [0.4, 0.5, 0.5]
  privacy.upper[0]: expected at least lower[0] = 0.5, given 0.4
[privacy] notion = "bounded-prior-lip" | epsilon = 1
priors = [[0.2, 0.3, 0.5], [0.2, 0.3, 0.4]]
  privacy.priors[1]: expected numbers that sum to 1…, given sum 0.9…
[privacy] notion = "bounded-prior-lip" | epsilon = 1 | priors = [[0.2, 0.3, 0.5], [0.5, 0.5]]
  privacy.priors[1]: expected 3 probabilities, as in the first, given 2 probabilities
[privacy] notion = "bounded-prior-lip" | epsilon = 1 | priors = []
  privacy.priors: expected at least one prior, given an empty list
[privacy] notion = "bounded-prior-lip" | epsilon = 1 | priors = [0.2, 0.3, 0.5]
  privacy.priors[0]: expected a list of numbers >= 0, given 0.2
[utility] objective = "haming"
  utility.objective: expected one of mean-absolute-error…, given 'haming'…did you mean 'hamming'?
[utility] worst_case = true
  utility.objective: expected one of mean-absolute…, given none
[utility] objectiv = "hamming"
  utility.objectiv: expected the key objective, given 'objectiv'; did you mean 'objective'?
[utility] objective = "hamming" | worstcase = true
  utility.worstcase: expected one of…, given 'worstcase'…did you mean 'worst_case'?
[utility] objective = "hamming" | values = [1, 2, 3]
  utility.values: expected one of the keys objective, worst_case, given 'values'
[utility] objective = "hamming" | worst_case = "yes"
  utility.worst_case: expected true or false, given 'yes'
[utility] objective = "mean-absolute-error"
  utility.objective: expected numbers…, given Domain(3 inputs…
without prior | [domain] grid = { rows = 4, columns = 4 } | [privacy] notion = "ldp"
epsilon = 1.0 | [utility] objective = "mean-absolute-error"
  utility.objective: expected numbers as the domain…, given Domain(grid 4 x 4…
[utility] objective = "mean-squared-distance"
  utility.objective: expected numbers or a grid as the domain…, given Domain(3 inputs…
[utility] objective = "distortion"
  utility.matrix: this key is required
[utility] objective = "distortion" | matrix = [[0, 1], [1, 0]]
  utility.matrix: expected a 3 x 2 matrix…, given a 2 x 2 matrix
[utility] objective = "distortion" | matrix = [[0, 1], [1, 0, 1], [1, 1]]
  utility.matrix[1]: expected a row of 2 numbers, given 3 numbers
[utility] objective = "distortion" | matrix = [[0, 1], [1, 0], [1, -1]]
  utility.matrix[2][1]: expected a finite number >= 0, given -1
[utility] objective = "distortion" | matrix = []
  utility.matrix: expected a matrix of numbers >= 0, given an empty one
[utility] objective = "distortion" | matrix = [[0, 1], [1, 0], [1, 1]]
[outputs] values = [1, 2, 3]
  utility.matrix: expected a 3 x 3 matrix…, given a 3 x 2 matrix
[utility] objective = "posterior-mean-squared-error"
  utility.values: the inputs are labels: give a number for each
[utility] objective = "posterior-mean-squared-error" | values = [1, 0]
  utility.values: expected 3 numbers, one for each input, given 2 numbers
[utility] objective = "posterior-mean-squared-error" | values = ["ill", 0, 0]
  utility.values[0]: expected a finite number, given 'ill'
[utility] objective = "posterior-mean-squared-error" | values = 3
  utility.values: expected a list of numbers, one for each input, given 3
[outputs] value = ["a"]
  outputs.value: expected one of the keys values, given 'value'; did you mean 'values'?
[outputs]
  outputs.values: this key is required
[outputs] values = []
  outputs.values: expected at least one label, given an empty list
[domain] size = 3 | [utility] objective = "mean-absolute-error"
[outputs] values = ["low", "high"]
  outputs.values: expected numbers for mean-absolute-error, given 'low'
[domain] size = 3 | [utility] objective = "mean-absolute-error" | [outputs] values = [[1, 2]]
  outputs.values: expected numbers for mean-absolute-error, given [1, 2]
[domain] grid = { rows = 1, columns = 3 } | [utility] objective = "euclidean"
[outputs] values = [1, 2]
  outputs.values: expected pairs [row, column] for euclidean, given 1
[domain] values = ["a", "b"] | [prior] uniform = true
[utility] objective = "posterior-mean-squared-error" | values = [1, 0]
[outputs] values = ["y"]
  outputs.values: expected at least 2 labels…, given 1
[expected] value = "low"
  expected.value: expected a finite number, given 'low'
[expected] rtol = 0.1
  expected.value: this key is required
[expected] value = 1 | rtol = -1
  expected.rtol: expected a number >= 0, given -1
[expected] value = 1 | rtoll = 1
  expected.rtoll: expected one of the keys value, rtol, given 'rtoll'; did you mean 'rtol'?
"""
"""Changes of a problem, and below each the message, with … for any text."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory with some tables of records."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MECHDESIGN_DATA", str(tmp_path / "data"))
    Path("good.csv").write_text("id,answer\n1,a\n2,b\n3,c\n", encoding="utf-8")
    Path("header.csv").write_text("id,answer\n", encoding="utf-8")
    Path("twice.csv").write_text("answer,answer\na,b\nb,c\n", encoding="utf-8")
    Path("wide.csv").write_text(f"id,answer\n1,{'a' * 200_000}\n", encoding="utf-8")
    Path("latin.csv").write_bytes("id,answer\n1,a\n2,é\n".encode("latin-1"))
    Path("plain.csv.gz").write_bytes(b"id,answer\n1,a\n")
    Path("cut.csv.gz").write_bytes(gzip.compress(b"id,answer\n" + b"1,a\n2,b\n" * 9999)[:-20])
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "message"), re.findall(r"((?:^\S.*\n)+)^  (.*)$", CASES, re.MULTILINE)
)
def test_a_wrong_problem_is_refused_in_one_line(
    changes: str, message: str, folder: Path, refused: Run
) -> None:
    Path(FILE).write_text(problem(changes.strip()), encoding="utf-8")
    line = refused("solve", FILE)
    assert re.fullmatch(re.escape(f"{FILE}: {message}").replace("…", ".*"), line), line


NOT_TOML = f"{FILE}: not valid TOML: "
UNREADABLE = {
    "title =\n": NOT_TOML,
    f"[domain]\nsize = 3\n{problem()}": NOT_TOML,
    problem("title = 'x' | title = 'y'"): NOT_TOML,
    "title = Survey\n": NOT_TOML,
    '{"domain": {"size": 3}}': NOT_TOML,
    "title = " + "[" * 100_000: f"{FILE}: the tables are nested too deeply",
    "title = " + "1" * 5_000: NOT_TOML,
    problem('title = "é"'): f"{FILE}: the file is not UTF-8 text",
}


@pytest.mark.parametrize("text", UNREADABLE, ids=range(len(UNREADABLE)))
def test_a_file_that_is_no_toml(text: str, folder: Path, refused: Run) -> None:
    Path(FILE).write_bytes(text.encode("latin-1"))
    assert refused("solve", FILE).startswith(UNREADABLE[text])


def test_names_that_cannot_be_read(folder: Path, refused: Run) -> None:
    assert refused("solve", "no.toml").startswith("no.toml: cannot read the file: No such file")
    assert refused("solve", str(folder)) == f"{folder}: cannot read the file: it is a folder"
    Path("two\nlines.toml").write_text("", encoding="utf-8")
    assert refused("solve", "two\nlines.toml").endswith("domain: this key is required")


DI = "differential-identifiability"


@pytest.mark.parametrize(
    ("notion", "epsilon"), [("lip", "1e-299"), ("lip", "800"), ("lip", "100000"), (DI, "0.917")]
)
def test_extreme_budgets_are_solved(notion: str, epsilon: str, folder: Path, printed: Run) -> None:
    """A byte-order mark does no harm."""
    text = problem(f'[privacy] notion = "{notion}" | epsilon = {epsilon}')
    Path(FILE).write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert printed("solve", FILE)


@pytest.mark.parametrize(
    ("prior", "epsilon", "reason"),
    [
        ("[0.2, 0.3, 0.5]", "0.9", "epsilon = 0.9 is below max ln(P_x / P_x') = 0.916291"),
        ("[0, 0.5, 0.5]", "1", "input 'a' has prior 0"),
    ],
)
def test_an_infeasible_notion_is_status_1_with_the_reason(
    prior: str, epsilon: str, reason: str, folder: Path, refused: Run, capsys: Any
) -> None:
    notion = f'[privacy] notion = "{DI}" | epsilon = {epsilon}'
    text = problem(f"[prior] probabilities = {prior} | {notion}")
    Path(FILE).write_text(text, encoding="utf-8")
    line = refused("solve", FILE, status=1)
    assert f"{DI}: " in line
    assert reason in line
    assert main(["solve", FILE, "--json"]) == 1
    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    assert answer["status"] == "infeasible"
    assert reason in answer["reason"]
    assert printed.err.count("\n") == 1
