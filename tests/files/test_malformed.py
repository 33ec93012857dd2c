"""An invalid file or command line gives status 2 and one line that states the error."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import NamedTuple

import pytest

from mechdesign.cli import main

FILE = "problem.toml"

DOMAIN = '[domain]\nvalues = ["a", "b", "c"]'
PRIOR = "[prior]\nprobabilities = [0.2, 0.3, 0.5]"
PRIVACY = '[privacy]\nnotion = "lip"\nepsilon = 1.0'
UTILITY = '[utility]\nobjective = "hamming"'

NUMBERS = "[domain]\nsize = 3"
GRID = "[domain]\ngrid = { rows = 4, columns = 4 }"
UNIFORM = "[prior]\nuniform = true"
LDP = '[privacy]\nnotion = "ldp"\nepsilon = 1.0'


def problem(
    head: str = "",
    domain: str = DOMAIN,
    prior: str = PRIOR,
    privacy: str = PRIVACY,
    utility: str = UTILITY,
    tail: str = "",
) -> str:
    return "\n".join([head, domain, prior, privacy, utility, tail]) + "\n"


def given_prior(text: str) -> str:
    return problem(prior=f"[prior]\n{text}")


def given_data(text: str) -> str:
    return given_prior(f"data = {{ {text} }}")


def given_notion(name: str, text: str = "", domain: str = DOMAIN, prior: str = PRIOR) -> str:
    return problem(domain=domain, prior=prior, privacy=f'[privacy]\nnotion = "{name}"\n{text}')


def given_utility(text: str, tail: str = "", domain: str = DOMAIN) -> str:
    return problem(domain=domain, utility=f"[utility]\n{text}", tail=tail)


class Case(NamedTuple):
    """A wrong text, the key at fault, and words of the message.

    Without ``given`` the message states the fault instead of "expected ..., given ...".
    """

    text: str
    key: str
    words: str
    given: str = ""
    hint: str = ""


CASES: dict[str, Case] = {
    # the file as a whole
    "empty file": Case("", "domain", "this key is required"),
    "unknown section": Case(
        problem(head='[notes]\ntext = "x"'), "notes", "one of the keys title", "'notes'"
    ),
    "misspelt section": Case(
        problem(privacy='[privcy]\nnotion = "lip"\nepsilon = 1.0'),
        "privcy",
        "one of the keys title",
        "'privcy'",
        "privacy",
    ),
    "misspelt key at the top": Case(
        problem(head='tittle = "x"'), "tittle", "one of the keys", "'tittle'", "title"
    ),
    "no domain": Case(problem(domain=""), "domain", "this key is required"),
    "no privacy": Case(problem(privacy=""), "privacy", "this key is required"),
    "no utility": Case(problem(utility=""), "utility", "this key is required"),
    "title is a number": Case(problem(head="title = 3"), "title", "text", "3"),
    "source is a list": Case(problem(head='source = ["x"]'), "source", "text", "['x']"),
    "domain is a list": Case(
        problem(head='domain = ["a", "b"]', domain=""), "domain", "a table [domain]", "['a', 'b']"
    ),
    # [domain]
    "domain in two forms": Case(
        problem(domain=f"{DOMAIN}\nsize = 3"),
        "domain",
        "needs exactly one of values, size, grid, points; it has values and size",
    ),
    "domain in no form": Case(
        problem(domain="[domain]"),
        "domain",
        "needs exactly one of values, size, grid, points; it has none",
    ),
    "misspelt key of the domain": Case(
        problem(domain='[domain]\nvalue = ["a"]'),
        "domain.value",
        "one of the keys values, size, grid",
        "'value'",
        "values",
    ),
    "a label twice": Case(
        problem(domain='[domain]\nvalues = ["a", "b", "a"]'),
        "domain.values",
        "'a' occurs twice",
    ),
    "one number written in two ways": Case(
        problem(domain="[domain]\nvalues = [1, 1.0, 2]"),
        "domain.values",
        "1.0 occurs twice",
    ),
    "no labels": Case(
        problem(domain="[domain]\nvalues = []"),
        "domain.values",
        "at least one input",
        "an empty list",
    ),
    "labels in one text": Case(
        problem(domain='[domain]\nvalues = "abc"'), "domain.values", "a list", "'abc'"
    ),
    "a label is a truth value": Case(
        problem(domain='[domain]\nvalues = [true, "b", "c"]'),
        "domain.values",
        "labels that are text or finite numbers",
        "true",
    ),
    "a label is a date": Case(
        problem(domain='[domain]\nvalues = [1979-05-27, "b", "c"]'),
        "domain.values",
        "labels that are text or finite numbers",
        "1979-05-27",
    ),
    "a label is no number": Case(
        problem(domain="[domain]\nvalues = [nan, 1, 2]"), "domain.values", "finite numbers", "NaN"
    ),
    "a label is infinite": Case(
        problem(domain="[domain]\nvalues = [inf, 1, 2]"), "domain.values", "finite", "Infinity"
    ),
    "a label is a table": Case(
        problem(domain="[domain]\nvalues = [{ a = 1 }]"), "domain.values", "labels", "{'a': 1}"
    ),
    "a label beyond floats": Case(
        problem(domain="[domain]\nvalues = [1e400, 1, 2]"), "domain.values", "", "1"
    ),
    "size zero": Case(problem(domain="[domain]\nsize = 0"), "domain.size", "whole number", "0"),
    "size is text": Case(
        problem(domain='[domain]\nsize = "3"'), "domain.size", "a whole number", ""
    ),
    "size with a point": Case(
        problem(domain="[domain]\nsize = 3.0"), "domain.size", "a whole number", "3.0"
    ),
    "size is a truth value": Case(
        problem(domain="[domain]\nsize = true"), "domain.size", "a whole number", "true"
    ),
    "size beyond all memory": Case(
        problem(domain="[domain]\nsize = 1_000_000_000_000"),
        "domain.size",
        "at most 1000000 inputs",
        "1000000000000",
    ),
    "grid without rows": Case(
        problem(domain="[domain]\ngrid = { rows = 0, columns = 3 }"),
        "domain.grid.rows",
        "a whole number >= 1",
        "0",
    ),
    "grid without columns": Case(
        problem(domain="[domain]\ngrid = { rows = 1 }"),
        "domain.grid.columns",
        "this key is required",
    ),
    "misspelt key of the grid": Case(
        problem(domain="[domain]\ngrid = { rows = 1, colums = 3 }"),
        "domain.grid.colums",
        "one of the keys rows, columns, spacing",
        "'colums'",
        "columns",
    ),
    "grid of spacing zero": Case(
        problem(domain="[domain]\ngrid = { rows = 1, columns = 3, spacing = 0 }"),
        "domain.grid.spacing",
        "a number > 0",
        "0",
    ),
    "grid of infinite spacing": Case(
        problem(domain="[domain]\ngrid = { rows = 1, columns = 3, spacing = inf }"),
        "domain.grid.spacing",
        "a number > 0",
        "Infinity",
    ),
    "grid with half a row": Case(
        problem(domain="[domain]\ngrid = { rows = 1.5, columns = 3 }"),
        "domain.grid.rows",
        "a whole number >= 1",
        "1.5",
    ),
    "grid is a list": Case(
        problem(domain="[domain]\ngrid = [1, 3]"), "domain.grid", "a table", "[1, 3]"
    ),
    # [prior]
    "prior of sum 0.9": Case(
        given_prior("probabilities = [0.2, 0.3, 0.4]"),
        "prior.probabilities",
        "numbers that sum to 1",
        "sum 0.9",
    ),
    "prior with nan": Case(
        given_prior("probabilities = [nan, 0.3, 0.5]"),
        "prior.probabilities[0]",
        "a finite number >= 0",
        "NaN",
    ),
    "prior with inf": Case(
        given_prior("probabilities = [0.2, inf, 0.5]"),
        "prior.probabilities[1]",
        "a finite number >= 0",
        "Infinity",
    ),
    "prior with a negative number": Case(
        given_prior("probabilities = [-0.2, 0.7, 0.5]"),
        "prior.probabilities[0]",
        "a finite number >= 0",
        "-0.2",
    ),
    "prior beyond floats": Case(
        given_prior("probabilities = [1e400, 0.3, 0.5]"),
        "prior.probabilities[0]",
        "finite",
        "1E+400",
    ),
    "prior with text": Case(
        given_prior('probabilities = ["few", 0.3, 0.5]'),
        "prior.probabilities[0]",
        "a finite number >= 0",
        "'few'",
    ),
    "prior with a truth value": Case(
        given_prior("probabilities = [true, 0, 0]"),
        "prior.probabilities[0]",
        "a finite number >= 0",
        "true",
    ),
    "prior with a date": Case(
        given_prior("probabilities = [1979-05-27, 0, 0]"),
        "prior.probabilities[0]",
        "a finite number >= 0",
        "1979-05-27",
    ),
    "prior too short": Case(
        given_prior("probabilities = [0.5, 0.5]"), "prior.probabilities", "3 probabilities", "2"
    ),
    "prior empty": Case(
        given_prior("probabilities = []"), "prior.probabilities", "a list of numbers", "an empty"
    ),
    "prior is one number": Case(
        given_prior("probabilities = 0.5"), "prior.probabilities", "a list of numbers >= 0", "0.5"
    ),
    "prior is a list": Case(
        problem(head="prior = [0.2, 0.3, 0.5]", prior=""), "prior", "a table [prior]", "["
    ),
    "prior in two forms": Case(
        given_prior("probabilities = [0.2, 0.3, 0.5]\nuniform = true"),
        "prior",
        "uniform, data; it has probabilities and uniform",
    ),
    "prior in no form": Case(
        given_prior(""),
        "prior",
        "needs exactly one of probabilities, counts, uniform, data; it has none",
    ),
    "misspelt key of the prior": Case(
        given_prior("probabilites = [0.2, 0.3, 0.5]"),
        "prior.probabilites",
        "one of the keys probabilities",
        "'probabilites'",
        "probabilities",
    ),
    "not uniform": Case(given_prior("uniform = false"), "prior.uniform", "true", "false"),
    "uniform is a number": Case(given_prior("uniform = 1"), "prior.uniform", "true", "1"),
    "all counts zero": Case(given_prior("counts = [0, 0, 0]"), "prior.counts", "all counts are 0"),
    "a count below zero": Case(
        given_prior("counts = [3, -1, 0]"), "prior.counts[1]", "a finite number >= 0", "-1"
    ),
    "lip without a prior": Case(
        problem(prior=""), "prior", "lip is defined by a prior, and none is given"
    ),
    "differential identifiability without a prior": Case(
        given_notion("differential-identifiability", "epsilon = 1.0", prior=""),
        "prior",
        "differential-identifiability is defined by a prior, and none is given",
    ),
    # a prior from data
    "data file missing": Case(
        given_data('file = "nowhere.csv", column = "answer"'),
        "prior.data.file",
        "a file",
        "nowhere.csv",
    ),
    "data file is a folder": Case(
        given_data('file = ".", column = "answer"'), "prior.data.file", "a file", "."
    ),
    "data without a column": Case(
        given_data('file = "good.csv"'), "prior.data.column", "this key is required"
    ),
    "data is text": Case(given_prior('data = "good.csv"'), "prior.data", "a table", "'good.csv'"),
    "misspelt key of the data": Case(
        given_data('file = "good.csv", column = "answer", seperator = ";"'),
        "prior.data.seperator",
        "one of the keys",
        "'seperator'",
        "separator",
    ),
    "misspelt column": Case(
        given_data('file = "good.csv", column = "anwser"'),
        "prior.data.column",
        "good.csv has no column named 'anwser'; column 2 has a similar name",
    ),
    "wrong separator": Case(
        given_data('file = "good.csv", column = "answer", separator = ";"'),
        "prior.data.column",
        "good.csv has no column named 'answer'; is the separator ','?",
    ),
    "separator of two characters": Case(
        given_data('file = "good.csv", column = "answer", separator = ", "'),
        "prior.data.separator",
        "one character",
        "', '",
    ),
    "separator is a line end": Case(
        given_data('file = "good.csv", column = "answer", separator = "\\n"'),
        "prior.data.separator",
        "one character",
        "'\\n'",
    ),
    "separator is a number": Case(
        given_data('file = "good.csv", column = "answer", separator = 3'),
        "prior.data.separator",
        "text",
        "3",
    ),
    "smoothing below zero": Case(
        given_data('file = "good.csv", column = "answer", smoothing = -1'),
        "prior.data.smoothing",
        "a number >= 0",
        "-1",
    ),
    "column twice in the header": Case(
        given_data('file = "twice.csv", column = "answer"'),
        "prior.data.column",
        "twice.csv has 2 columns named 'answer'",
    ),
    "data of no records": Case(
        given_data('file = "header.csv", column = "answer"'),
        "prior.data.file",
        "header.csv has no records",
    ),
    "data not in UTF-8": Case(
        given_data('file = "latin.csv", column = "answer"'),
        "prior.data.file",
        "latin.csv is not UTF-8 text",
    ),
    "data not gzipped": Case(
        given_data('file = "plain.csv.gz", column = "answer"'),
        "prior.data.file",
        "plain.csv.gz is truncated or damaged",
    ),
    "gzipped data cut short": Case(
        given_data('file = "cut.csv.gz", column = "answer"'),
        "prior.data.file",
        "cut.csv.gz is truncated or damaged",
    ),
    "data with an endless field": Case(
        given_data('file = "wide.csv", column = "answer"'), "prior.data.file", "", ""
    ),
    # [privacy]
    "misspelt notion": Case(
        given_notion("lpi", "epsilon = 1.0"),
        "privacy.notion",
        "one of ldp, context-aware",
        "'lpi'",
        "lip",
    ),
    "another misspelt notion": Case(
        given_notion("bounded-prior-lp", "epsilon = 1.0"),
        "privacy.notion",
        "one of ldp, context-aware",
        "'bounded-prior-lp'",
        "bounded-prior-lip",
    ),
    "notion is a number": Case(
        problem(privacy="[privacy]\nnotion = 1\nepsilon = 1.0"), "privacy.notion", "one of", "1"
    ),
    "notion missing": Case(
        problem(privacy="[privacy]\nepsilon = 1.0"), "privacy.notion", "one of ldp", "none"
    ),
    "misspelt key of the notion": Case(
        problem(privacy='[privacy]\nnotoin = "lip"\nepsilon = 1.0'),
        "privacy.notoin",
        "",
        "",
        "notion",
    ),
    "epsilon missing": Case(given_notion("lip"), "privacy.epsilon", "this key is required"),
    "misspelt epsilon": Case(
        given_notion("lip", "epsilom = 1.0"),
        "privacy.epsilom",
        "one of the keys notion, epsilon",
        "'epsilom'",
        "epsilon",
    ),
    "epsilon below zero": Case(
        given_notion("lip", "epsilon = -1"), "privacy.epsilon", "a finite number >= 0", "-1"
    ),
    "epsilon nan": Case(
        given_notion("ldp", "epsilon = nan"), "privacy.epsilon", "a finite number >= 0", "NaN"
    ),
    "epsilon inf": Case(
        given_notion("ldp", "epsilon = inf"), "privacy.epsilon", "a finite number >= 0", "Infinity"
    ),
    "epsilon beyond floats": Case(
        given_notion("ldp", "epsilon = 1e400"), "privacy.epsilon", "", ""
    ),
    "epsilon below floats": Case(
        given_notion("ldp", "epsilon = 1e-320"), "privacy.epsilon", "", "1E-320"
    ),
    "epsilon of ten million digits": Case(
        given_notion("ldp", "epsilon = 1e9999999"), "privacy.epsilon", "", ""
    ),
    "epsilon is text": Case(
        given_notion("lip", 'epsilon = "much"'), "privacy.epsilon", "a finite number", "'much'"
    ),
    "epsilon is a truth value": Case(
        given_notion("lip", "epsilon = true"), "privacy.epsilon", "a finite number >= 0", "true"
    ),
    "epsilon is a date": Case(
        given_notion("lip", "epsilon = 1979-05-27"), "privacy.epsilon", "a finite", "1979-05-27"
    ),
    "epsilon is a list": Case(
        given_notion("lip", "epsilon = [1]"), "privacy.epsilon", "a finite number >= 0", "[1]"
    ),
    "privacy is text": Case(
        problem(head='privacy = "lip"', privacy=""), "privacy", "table", "'lip'"
    ),
    "privacy is an empty list": Case(
        problem(head="privacy = []", privacy=""), "privacy", "a table, or a list of tables", "[]"
    ),
    "the second notion is wrong": Case(
        problem(privacy=f'[{LDP.replace("]", "]]", 1)}\n[[privacy]]\nnotion = "lip"\nepsilon = -1'),
        "privacy[1].epsilon",
        "a finite number >= 0",
        "-1",
    ),
    "the second notion does not fit": Case(
        problem(
            privacy=f"[{LDP.replace(']', ']]', 1)}\n"
            '[[privacy]]\nnotion = "high-low"\nepsilon = 1\nsensitive = ["z"]'
        ),
        "privacy[1].sensitive",
        "labels of the domain",
        "'z'",
    ),
    "context-aware without a matrix": Case(
        given_notion("context-aware"), "privacy.matrix", "this key is required"
    ),
    "context-aware with an epsilon": Case(
        given_notion("context-aware", "epsilon = 1\nmatrix = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]"),
        "privacy.epsilon",
        "one of the keys notion, matrix",
        "'epsilon'",
    ),
    "context-aware, ragged matrix": Case(
        given_notion("context-aware", "matrix = [[0, 1, 1], [1, 0], [1, 1, 0]]"),
        "privacy.matrix[1]",
        "a row of 3 numbers",
        "2 numbers",
    ),
    "context-aware, small matrix": Case(
        given_notion("context-aware", "matrix = [[0, 1], [1, 0]]"),
        "privacy.matrix",
        "a 3 x 3 matrix",
        "a 2 x 2 matrix",
    ),
    "context-aware, nan": Case(
        given_notion("context-aware", "matrix = [[0, 1, nan], [1, 0, 1], [1, 1, 0]]"),
        "privacy.matrix[0][2]",
        "a number in [0, inf]",
        "NaN",
    ),
    "context-aware, negative": Case(
        given_notion("context-aware", "matrix = [[0, 1, 1], [-1, 0, 1], [1, 1, 0]]"),
        "privacy.matrix[1][0]",
        "a number in [0, inf]",
        "-1",
    ),
    "context-aware, -inf": Case(
        given_notion("context-aware", "matrix = [[0, 1, -inf], [1, 0, 1], [1, 1, 0]]"),
        "privacy.matrix[0][2]",
        "a number in [0, inf]",
        "-Infinity",
    ),
    "context-aware, matrix is text": Case(
        given_notion("context-aware", 'matrix = "all"'),
        "privacy.matrix",
        "a square matrix",
        "'all'",
    ),
    "context-aware, flat matrix": Case(
        given_notion("context-aware", "matrix = [1, 2, 3]"), "privacy.matrix[0]", "a list", "1"
    ),
    "high-low, nothing sensitive": Case(
        given_notion("high-low", "epsilon = 1\nsensitive = []"),
        "privacy.sensitive",
        "at least one label",
        "an empty list",
    ),
    "high-low, sensitive missing": Case(
        given_notion("high-low", "epsilon = 1"), "privacy.sensitive", "this key is required"
    ),
    "high-low, sensitive is text": Case(
        given_notion("high-low", 'epsilon = 1\nsensitive = "a"'),
        "privacy.sensitive",
        "a list of labels",
        "'a'",
    ),
    "high-low, label not in the domain": Case(
        given_notion("high-low", 'epsilon = 1\nsensitive = ["aa"]'),
        "privacy.sensitive",
        "labels of the domain",
        "'aa'",
        "a",
    ),
    "high-low, a label twice": Case(
        given_notion("high-low", 'epsilon = 1\nsensitive = ["a", "a"]'),
        "privacy.sensitive",
        "'a' occurs twice",
    ),
    "block, neither form": Case(
        given_notion("block", "epsilon = 1"),
        "privacy.blocks",
        "give either blocks, or block_rows and block_columns",
    ),
    "block, both forms": Case(
        given_notion("block", 'epsilon = 1\nblocks = [["a", "b", "c"]]\nblock_rows = 1'),
        "privacy.blocks",
        "give either blocks, or block_rows and block_columns",
    ),
    "block, overlapping": Case(
        given_notion("block", 'epsilon = 1\nblocks = [["a", "b"], ["b", "c"]]'),
        "privacy.blocks",
        "'b' is in two blocks",
    ),
    "block, an input in none": Case(
        given_notion("block", 'epsilon = 1\nblocks = [["a"], ["b"]]'),
        "privacy.blocks",
        "'c' is in no block",
    ),
    "block, label not in the domain": Case(
        given_notion("block", 'epsilon = 1\nblocks = [["a"], ["b", "cc"]]'),
        "privacy.blocks[1]",
        "labels of the domain",
        "'cc'",
        "c",
    ),
    "block, an empty block": Case(
        given_notion("block", 'epsilon = 1\nblocks = [["a", "b", "c"], []]'),
        "privacy.blocks[1]",
        "at least one label",
        "an empty list",
    ),
    "block, flat": Case(
        given_notion("block", 'epsilon = 1\nblocks = ["a", "b", "c"]'),
        "privacy.blocks[0]",
        "a list of labels",
        "'a'",
    ),
    "block rows without a grid": Case(
        given_notion("block", "epsilon = 1\nblock_rows = 1\nblock_columns = 1"),
        "privacy.block_rows",
        "a grid as the domain",
        "Domain(3 inputs",
    ),
    "block rows that do not divide": Case(
        given_notion("block", "epsilon = 1\nblock_rows = 3\nblock_columns = 2", GRID, UNIFORM),
        "privacy.block_rows",
        "a divisor of the grid's 4",
        "3",
    ),
    "block columns missing": Case(
        given_notion("block", "epsilon = 1\nblock_rows = 2", GRID, UNIFORM),
        "privacy.block_columns",
        "",
        "none",
    ),
    "block rows zero": Case(
        given_notion("block", "epsilon = 1\nblock_rows = 0\nblock_columns = 2", GRID, UNIFORM),
        "privacy.block_rows",
        "a whole number >= 1",
        "0",
    ),
    "metric on labels": Case(
        given_notion("metric", 'epsilon = 1\ndistance = "euclidean"'),
        "privacy.distance",
        "numbers or a grid as the domain",
        "Domain(3 inputs",
    ),
    "metric, absolute on a grid": Case(
        given_notion("metric", 'epsilon = 1\ndistance = "absolute"', GRID, UNIFORM),
        "privacy.distance",
        "numbers as the domain",
        "Domain(grid 4 x 4",
    ),
    "misspelt distance": Case(
        given_notion("metric", 'epsilon = 1\ndistance = "euclidian"', NUMBERS),
        "privacy.distance",
        "one of absolute, euclidean, manhattan",
        "'euclidian'",
        "euclidean",
    ),
    "metric, distance missing": Case(
        given_notion("metric", "epsilon = 1"), "privacy.distance", "this key is required"
    ),
    "metric, distance is a number": Case(
        given_notion("metric", "epsilon = 1\ndistance = 3"), "privacy.distance", "matrix", "3"
    ),
    "metric, empty matrix": Case(
        given_notion("metric", "epsilon = 1\ndistance = []"), "privacy.distance", "matrix", ""
    ),
    "metric, ragged matrix": Case(
        given_notion("metric", "epsilon = 1\ndistance = [[0, 1, 2], [1, 0], [2, 1, 0]]"),
        "privacy.distance[1]",
        "a row of 3 numbers",
        "2 numbers",
    ),
    "metric, negative distance": Case(
        given_notion("metric", "epsilon = 1\ndistance = [[0, 1, 2], [1, 0, -1], [2, 1, 0]]"),
        "privacy.distance[1][2]",
        "a finite number >= 0",
        "-1",
    ),
    "lift, a side missing": Case(
        given_notion("lift", "lower = 1"), "privacy.upper", "this key is required"
    ),
    "lift with an epsilon": Case(
        given_notion("lift", "lower = 1\nupper = 1\nepsilon = 1"),
        "privacy.epsilon",
        "one of the keys notion, lower, upper",
        "'epsilon'",
    ),
    "lift, negative side": Case(
        given_notion("lift", "lower = -1\nupper = 1"),
        "privacy.lower",
        "a finite number >= 0",
        "-1",
    ),
    "lift, -inf": Case(
        given_notion("lift", "lower = 1\nupper = -inf"),
        "privacy.upper",
        "a finite number >= 0",
        "-Infinity",
    ),
    "bounded prior in no form": Case(
        given_notion("bounded-prior-lip", "epsilon = 1"),
        "privacy.priors",
        "exactly one of: priors; lower and upper; center and radius",
        "none",
    ),
    "bounded prior in two forms": Case(
        given_notion(
            "bounded-prior-lip",
            "epsilon = 1\npriors = [[0.2, 0.3, 0.5]]\ncenter = [0.2, 0.3, 0.5]\nradius = 0.1",
        ),
        "privacy.priors",
        "exactly one of",
        "priors and center and radius",
    ),
    "bounded prior, half a ball": Case(
        given_notion("bounded-prior-lip", "epsilon = 1\ncenter = [0.2, 0.3, 0.5]"),
        "privacy.priors",
        "exactly one of",
        "center",
    ),
    "bounded prior, half a box": Case(
        given_notion("bounded-prior-lip", "epsilon = 1\nlower = [0.2, 0.3, 0.4]"),
        "privacy.priors",
        "exactly one of",
        "lower",
    ),
    "bounded prior, radius 2": Case(
        given_notion("bounded-prior-lip", "epsilon = 1\ncenter = [0.2, 0.3, 0.5]\nradius = 2"),
        "privacy.radius",
        "a number in [0, 1]",
        "2",
    ),
    "bounded prior, radius is text": Case(
        given_notion("bounded-prior-lip", 'epsilon = 1\ncenter = [0.2, 0.3, 0.5]\nradius = "big"'),
        "privacy.radius",
        "a number in [0, 1]",
        "'big'",
    ),
    "bounded prior, centre of sum 1.1": Case(
        given_notion("bounded-prior-lip", "epsilon = 1\ncenter = [0.2, 0.3, 0.6]\nradius = 0.1"),
        "privacy.center",
        "numbers that sum to 1",
        "sum 1.1",
    ),
    "bounded prior, centre too short": Case(
        given_notion("bounded-prior-lip", "epsilon = 1\ncenter = [0.5, 0.5]\nradius = 0.1"),
        "privacy.center",
        "3 numbers",
        "2 numbers",
    ),
    "bounded prior, box above the simplex": Case(
        given_notion(
            "bounded-prior-lip", "epsilon = 1\nlower = [0.5, 0.4, 0.3]\nupper = [0.6, 0.6, 0.6]"
        ),
        "privacy.lower",
        "a sum of at most 1",
        "sum 1.2",
    ),
    "bounded prior, box below the simplex": Case(
        given_notion(
            "bounded-prior-lip", "epsilon = 1\nlower = [0.1, 0.1, 0.1]\nupper = [0.2, 0.2, 0.2]"
        ),
        "privacy.upper",
        "a sum of at least 1",
        "sum 0.6",
    ),
    "bounded prior, box upside down": Case(
        given_notion(
            "bounded-prior-lip", "epsilon = 1\nlower = [0.5, 0.1, 0.1]\nupper = [0.4, 0.5, 0.5]"
        ),
        "privacy.upper[0]",
        "at least lower[0] = 0.5",
        "0.4",
    ),
    "bounded prior, box with sides of two lengths": Case(
        given_notion("bounded-prior-lip", "epsilon = 1\nlower = [0, 0, 0]\nupper = [1, 1]"),
        "privacy.upper",
        "3 numbers",
        "2 numbers",
    ),
    "bounded prior, a prior of sum 0.9": Case(
        given_notion(
            "bounded-prior-lip", "epsilon = 1\npriors = [[0.2, 0.3, 0.5], [0.2, 0.3, 0.4]]"
        ),
        "privacy.priors[1]",
        "numbers that sum to 1",
        "sum 0.9",
    ),
    "bounded prior, priors of two lengths": Case(
        given_notion("bounded-prior-lip", "epsilon = 1\npriors = [[0.2, 0.3, 0.5], [0.5, 0.5]]"),
        "privacy.priors[1]",
        "3 probabilities",
        "2 probabilities",
    ),
    "bounded prior, no priors": Case(
        given_notion("bounded-prior-lip", "epsilon = 1\npriors = []"),
        "privacy.priors",
        "at least one prior",
        "an empty list",
    ),
    "bounded prior, one flat prior": Case(
        given_notion("bounded-prior-lip", "epsilon = 1\npriors = [0.2, 0.3, 0.5]"),
        "privacy.priors[0]",
        "a list of numbers >= 0",
        "0.2",
    ),
    # [utility]
    "misspelt objective": Case(
        given_utility('objective = "haming"'),
        "utility.objective",
        "one of mean-absolute-error",
        "'haming'",
        "hamming",
    ),
    "objective missing": Case(
        given_utility("worst_case = true"), "utility.objective", "one of mean-absolute", "none"
    ),
    "misspelt key of the objective": Case(
        given_utility('objectiv = "hamming"'), "utility.objectiv", "", "", "objective"
    ),
    "objective is a number": Case(
        given_utility("objective = 3"), "utility.objective", "one of mean-absolute-error", "3"
    ),
    "misspelt key of the utility": Case(
        given_utility('objective = "hamming"\nworstcase = true'),
        "utility.worstcase",
        "one of the keys objective, worst_case",
        "'worstcase'",
        "worst_case",
    ),
    "a key of another objective": Case(
        given_utility('objective = "hamming"\nvalues = [1, 2, 3]'),
        "utility.values",
        "one of the keys objective, worst_case",
        "'values'",
    ),
    "worst case is text": Case(
        given_utility('objective = "hamming"\nworst_case = "yes"'),
        "utility.worst_case",
        "true or false",
        "'yes'",
    ),
    "worst case is a number": Case(
        given_utility('objective = "hamming"\nworst_case = 1'),
        "utility.worst_case",
        "true or false",
        "1",
    ),
    "absolute error of labels": Case(
        given_utility('objective = "mean-absolute-error"'),
        "utility.objective",
        "numbers",
        "Domain(3 inputs",
    ),
    "absolute error on a grid": Case(
        problem(
            domain=GRID,
            prior="",
            privacy=LDP,
            utility='[utility]\nobjective = "mean-absolute-error"',
        ),
        "utility.objective",
        "numbers as the domain",
        "Domain(grid 4 x 4",
    ),
    "squared distance of labels": Case(
        given_utility('objective = "mean-squared-distance"'),
        "utility.objective",
        "numbers or a grid as the domain",
        "Domain(3 inputs",
    ),
    "distortion without a matrix": Case(
        given_utility('objective = "distortion"'), "utility.matrix", "this key is required"
    ),
    "distortion of the wrong shape": Case(
        given_utility('objective = "distortion"\nmatrix = [[0, 1], [1, 0]]'),
        "utility.matrix",
        "a 3 x 2 matrix",
        "a 2 x 2 matrix",
    ),
    "distortion, ragged": Case(
        given_utility('objective = "distortion"\nmatrix = [[0, 1], [1, 0, 1], [1, 1]]'),
        "utility.matrix[1]",
        "a row of 2 numbers",
        "3 numbers",
    ),
    "distortion, negative": Case(
        given_utility('objective = "distortion"\nmatrix = [[0, 1], [1, 0], [1, -1]]'),
        "utility.matrix[2][1]",
        "a finite number >= 0",
        "-1",
    ),
    "distortion, infinite": Case(
        given_utility('objective = "distortion"\nmatrix = [[0, 1], [1, 0], [1, inf]]'),
        "utility.matrix[2][1]",
        "a finite number >= 0",
        "Infinity",
    ),
    "distortion, empty": Case(
        given_utility('objective = "distortion"\nmatrix = []'), "utility.matrix", "matrix", ""
    ),
    "distortion, empty rows": Case(
        given_utility('objective = "distortion"\nmatrix = [[], [], []]'), "utility.matrix", "", ""
    ),
    "distortion that does not fit the outputs": Case(
        given_utility(
            'objective = "distortion"\nmatrix = [[0, 1], [1, 0], [1, 1]]',
            "[outputs]\nvalues = [1, 2, 3]",
        ),
        "utility.matrix",
        "a 3 x 3 matrix",
        "a 3 x 2 matrix",
    ),
    "posterior error of labels": Case(
        given_utility('objective = "posterior-mean-squared-error"'),
        "utility.values",
        "the inputs are labels: give a number for each",
    ),
    "posterior error, values too short": Case(
        given_utility('objective = "posterior-mean-squared-error"\nvalues = [1, 0]'),
        "utility.values",
        "3 numbers",
        "2 numbers",
    ),
    "posterior error, values with text": Case(
        given_utility('objective = "posterior-mean-squared-error"\nvalues = ["ill", 0, 0]'),
        "utility.values[0]",
        "a finite number",
        "'ill'",
    ),
    "posterior error, value nan": Case(
        given_utility('objective = "posterior-mean-squared-error"\nvalues = [1, nan, 0]'),
        "utility.values[1]",
        "a finite number",
        "NaN",
    ),
    "posterior error, values is a number": Case(
        given_utility('objective = "posterior-mean-squared-error"\nvalues = 3'),
        "utility.values",
        "a list of numbers",
        "3",
    ),
    # [outputs]
    "misspelt key of the outputs": Case(
        problem(tail='[outputs]\nvalue = ["a"]'),
        "outputs.value",
        "one of the keys values",
        "'value'",
        "values",
    ),
    "outputs without values": Case(
        problem(tail="[outputs]"), "outputs.values", "this key is required"
    ),
    "no outputs": Case(
        problem(tail="[outputs]\nvalues = []"),
        "outputs.values",
        "at least one label",
        "an empty list",
    ),
    "an output twice": Case(
        problem(tail='[outputs]\nvalues = ["a", "a"]'),
        "outputs.values",
        "'a' occurs twice",
    ),
    "outputs in one text": Case(
        problem(tail='[outputs]\nvalues = "abc"'), "outputs.values", "a list", "'abc'"
    ),
    "outputs that are no numbers": Case(
        given_utility(
            'objective = "mean-absolute-error"', '[outputs]\nvalues = ["low", "high"]', NUMBERS
        ),
        "outputs.values",
        "numbers for mean-absolute-error",
        "'low'",
    ),
    "outputs that are pairs": Case(
        given_utility('objective = "mean-absolute-error"', "[outputs]\nvalues = [[1, 2]]", NUMBERS),
        "outputs.values",
        "numbers for mean-absolute-error",
        "[1, 2]",
    ),
    "outputs that are no pairs": Case(
        given_utility(
            'objective = "euclidean"',
            "[outputs]\nvalues = [1, 2]",
            "[domain]\ngrid = { rows = 1, columns = 3 }",
        ),
        "outputs.values",
        "pairs [row, column] for euclidean",
        "1",
    ),
    "fewer outputs than the optimum has": Case(
        problem(
            domain='[domain]\nvalues = ["a", "b"]',
            prior=UNIFORM,
            utility='[utility]\nobjective = "posterior-mean-squared-error"\nvalues = [1, 0]',
            tail='[outputs]\nvalues = ["y"]',
        ),
        "outputs.values",
        "at least 2 labels",
        "1",
    ),
    # [expected]
    "expected is text": Case(
        problem(tail='[expected]\nvalue = "low"'), "expected.value", "a finite number", "'low'"
    ),
    "expected is nan": Case(
        problem(tail="[expected]\nvalue = nan"), "expected.value", "a finite number", "NaN"
    ),
    "expected is a truth value": Case(
        problem(tail="[expected]\nvalue = true"), "expected.value", "a finite number", "true"
    ),
    "expected beyond floats": Case(
        problem(tail="[expected]\nvalue = 1e400"), "expected.value", "", ""
    ),
    "expected without a value": Case(
        problem(tail="[expected]\nrtol = 0.1"), "expected.value", "this key is required"
    ),
    "tolerance below zero": Case(
        problem(tail="[expected]\nvalue = 1\nrtol = -1"), "expected.rtol", "a number >= 0", "-1"
    ),
    "misspelt tolerance": Case(
        problem(tail="[expected]\nvalue = 1\nrtoll = 1"),
        "expected.rtoll",
        "one of the keys value, rtol",
        "'rtoll'",
        "rtol",
    ),
}


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


def one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], status: int = 2) -> str:
    """Run a command that fails; return the only line that it prints."""
    try:
        found = main(arguments)
    except SystemExit as leaving:  # as argparse leaves
        found = leaving.code
    printed = capsys.readouterr()
    assert found == status, printed
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.endswith("\n")
    assert "Traceback" not in printed.err
    assert "Decimal(" not in printed.err
    return printed.err.strip()


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_problem_is_refused_in_one_line(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    Path(FILE).write_text(case.text, encoding="utf-8")
    line = one_line(capsys, ["solve", FILE])
    head = f"{FILE}: {case.key}: {'expected ' if case.given else ''}"
    assert line.startswith(head)
    words, _, given = line.removeprefix(head).rpartition(", given ")
    assert case.words in (words if case.given else line)
    assert given.startswith(case.given)
    if case.hint:
        assert line.endswith(f"; did you mean '{case.hint}'?")


@pytest.mark.parametrize("command", ["solve", "check"])
def test_check_prints_the_same_error_as_solve(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(FILE).write_text(problem(head='tittle = "x"'), encoding="utf-8")
    assert main([command, FILE]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{FILE}: tittle: expected one of the keys")
    assert error.count("\n") == 1


def test_a_record_outside_the_domain_is_found(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = given_data('file = "good.csv", column = "answer"').replace('"c"]', '"d"]')
    Path(FILE).write_text(text, encoding="utf-8")
    line = one_line(capsys, ["solve", FILE])
    assert line.startswith(f"{FILE}: prior.data.file: record 3 of good.csv: expected labels of the")
    assert line.endswith("domain ('a', 'b', 'd'), given another text")


NOT_TOML: dict[str, bytes] = {
    "no value": b"title =\n",
    "a table twice": problem(head="[domain]\nsize = 3").encode(),
    "a key twice": problem(head="title = 'x'\ntitle = 'y'").encode(),
    "no quotes": b"title = Survey\n",
    "JSON": b'{"domain": {"size": 3}}',
    "nested beyond reason": b"title = " + b"[" * 100_000,
    "an endless integer": b"title = " + b"1" * 5_000,
}


@pytest.mark.parametrize("name", NOT_TOML)
def test_a_file_that_is_no_toml(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(FILE).write_bytes(NOT_TOML[name])
    line = one_line(capsys, ["solve", FILE])
    assert line.startswith(
        (f"{FILE}: not valid TOML: ", f"{FILE}: the tables are nested too deeply")
    )


def test_a_file_that_is_not_utf8(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(FILE).write_bytes(problem(head='title = "é"').encode("latin-1"))
    line = one_line(capsys, ["solve", FILE])
    assert line == f"{FILE}: the file is not UTF-8 text"


def test_a_file_that_is_missing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = one_line(capsys, ["solve", "nowhere.toml"])
    assert line.startswith("nowhere.toml: cannot read the file: No such file")


def test_a_file_that_is_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("folder.toml").mkdir()
    line = one_line(capsys, ["solve", "folder.toml"])
    assert line == "folder.toml: cannot read the file: it is a folder"


def test_a_name_with_a_line_end_still_takes_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("two\nlines.toml").write_text("", encoding="utf-8")
    assert "domain" in one_line(capsys, ["solve", "two\nlines.toml"])


def test_a_byte_order_mark_does_no_harm(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(FILE).write_bytes(b"\xef\xbb\xbf" + problem().encode())
    assert main(["solve", FILE]) == 0


@pytest.mark.parametrize("epsilon", ["1e-299", "800", "100000"])
def test_extreme_budgets_are_solved(
    epsilon: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(FILE).write_text(given_notion("lip", f"epsilon = {epsilon}"), encoding="utf-8")
    assert main(["solve", FILE]) == 0


INFEASIBLE = {
    "a budget below the odds of the prior": (
        "[0.2, 0.3, 0.5]",
        "0.9",
        "epsilon = 0.9 is below max ln(P_x / P_x') = 0.916291",
    ),
    "an input of prior 0": ("[0, 0.5, 0.5]", "1", "input 'a' has prior 0"),
}


@pytest.mark.parametrize("name", INFEASIBLE)
def test_an_infeasible_notion_is_status_1_with_the_reason(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prior, epsilon, reason = INFEASIBLE[name]
    text = given_notion(
        "differential-identifiability",
        f"epsilon = {epsilon}",
        prior=f"[prior]\nprobabilities = {prior}",
    )
    Path(FILE).write_text(text, encoding="utf-8")
    line = one_line(capsys, ["solve", FILE], status=1)
    assert "differential-identifiability: " in line
    assert reason in line
    assert main(["solve", FILE, "--json"]) == 1
    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    assert answer["status"] == "infeasible"
    assert reason in answer["reason"]
    assert printed.err.count("\n") == 1


def test_the_same_notion_is_feasible_a_little_above(folder: Path) -> None:
    Path(FILE).write_text(
        given_notion("differential-identifiability", "epsilon = 0.917"), encoding="utf-8"
    )
    assert main(["solve", FILE]) == 0


COMMANDS: dict[str, tuple[list[str], str]] = {
    "no command": ([], "expected a command, given none"),
    "unknown command": (["slove", FILE], "'slove'"),
    "no problem": (["solve"], "PROBLEM.toml"),
    "one problem too many": (["solve", FILE, FILE], FILE),
    "unknown option": (["solve", FILE, "--fast"], "--fast"),
    "unknown route": (["solve", FILE, "--route", "magic"], "route: expected one of auto"),
    "misspelt route": (
        ["solve", FILE, "--route", "linear-programme"],
        "did you mean 'linear-program'?",
    ),
    "unknown method": (["solve", FILE, "--route", "linear-program:magic"], "simplex, ipm"),
    "cvxpy without a solver": (["solve", FILE, "--route", "cvxpy"], "cvxpy:NAME"),
    "unknown solver": (["solve", FILE, "--route", "cvxpy:MAGIC"], "given cvxpy:MAGIC"),
    "misspelt solver": (["solve", FILE, "--route", "cvxpy:CLARABLE"], "did you mean 'CLARABEL'?"),
    "an option that auto has not": (["solve", FILE, "--route", "auto:magic"], "route"),
    "an option that closed forms have not": (
        ["solve", FILE, "--route", "closed-form:magic"],
        "route",
    ),
    "no closed form applies": (["solve", FILE, "--route", "closed-form"], "outside its region"),
    "output in no folder": (
        ["solve", FILE, "-o", "nowhere/x.json"],
        "nowhere/x.json: the folder 'nowhere' does not exist",
    ),
    "output is a folder": (["solve", FILE, "-o", "."], "this is a folder, not a file"),
    "output without a name": (["solve", FILE, "-o", ""], ""),
    "picture of an unknown kind": (["solve", FILE, "--plot", "x.bmp"], ".png, .pdf or .svg"),
    "picture in no folder": (
        ["solve", FILE, "--plot", "nowhere/x.png"],
        "nowhere/x.png: the folder 'nowhere' does not exist",
    ),
    "no channel": (["verify"], "CHANNEL.json"),
    "channel missing": (["verify", "nowhere.json"], "nowhere.json: cannot read the file"),
    "channel is a problem": (["verify", FILE], f"{FILE}: not a complete JSON file"),
    "channel is a folder": (["verify", "."], "cannot read the file: it is a folder"),
    "nothing to check": (["check"], "PROBLEM.toml"),
    "no notion": (["example"], "NOTION"),
    "unknown notion": (["example", "magic"], "NOTION: expected one of ldp"),
    "misspelt notion": (["example", "lpi"], "did you mean 'lip'?"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_command_line_is_refused_in_one_line(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, words = COMMANDS[name]
    Path(FILE).write_text(problem(), encoding="utf-8")
    assert words in one_line(capsys, arguments)


def test_a_wrong_output_is_found_before_solving(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def design(*args: object, **options: object) -> None:
        raise AssertionError("solved first")

    monkeypatch.setattr("mechdesign.designs.design.design", design)
    Path(FILE).write_text(problem(), encoding="utf-8")
    for wrong in (["-o", "nowhere/x.json"], ["--plot", "x.bmp"]):
        one_line(capsys, ["solve", FILE, *wrong])
