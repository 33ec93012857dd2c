"""Files are read back equal, written whole or not at all, with the promised contents."""

from __future__ import annotations

import gzip
import json
import re
import tomllib
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import mechdesign as md
from mechdesign import resources
from mechdesign.designs.solution import Solution
from mechdesign.kernel import digest, verify
from mechdesign.notions import NOTIONS as ALL_NOTIONS
from mechdesign.utilities import UTILITIES
from tests.cli_support import Run
from tests.refusals_support import check_refused


def of_notion(name: str) -> md.Problem:
    """Return the notion of an example table, with its inputs and prior."""
    keys = tomllib.loads(ALL_NOTIONS[name].example)
    prior = [0.1, 0.2, 0.3, 0.4]
    return md.Problem(range(4), ALL_NOTIONS[name](**keys), md.MeanAbsoluteError(), prior=prior)


DIVERGENCES = ("total-variation", "kullback-leibler", "chi-squared", "squared-hellinger")


def of_utility(name: str) -> md.Problem:
    both = {"first": 0, "second": [0.25, 0.75]}
    keys: dict[str, Any] = {
        "distortion": {"matrix": [[0, 1, 0.25], [2, 0, 0.25]]},
        "g-vulnerability": {"gain_matrix": [[0, 1], [2, 0], [0.5, "1/3"]]},
        "fisher-information": {"scores": [3, -2]},
        **dict.fromkeys(DIVERGENCES, both),
    }.get(name, {})
    return md.Problem([0, 1], md.LIP(1), UTILITIES[name](**keys), prior=[0.4, 0.6], title=name)


OTHERS: dict[str, Callable[[], md.Problem]] = {
    "worst case": lambda: md.Problem(range(4), md.LDP(1), md.MeanSquaredDistance(worst_case=True)),
    "intersection": lambda: md.Problem(
        ["a", "b", "c"], [md.LDP(2), md.LIP(1)], md.HammingLoss(), prior=[0.2, 0.3, 0.5]
    ),
    "blocks of a grid": lambda: md.Problem(
        md.Domain.grid(2, 4), md.BlockLDP(1, block_rows=2, block_columns=2), md.EuclideanDistance()
    ),
    "grid of spacing 1/3": lambda: md.Problem(
        md.Domain.grid(2, 2, spacing=Fraction(1, 3)),
        md.MetricPrivacy(3, "euclidean"),
        md.EuclideanDistance(),
    ),
    "grid of a long spacing": lambda: md.Problem(
        md.Domain.grid(1, 3, spacing="0.12345678901234567890123"),
        md.MetricPrivacy(9, "manhattan"),
        md.EuclideanDistance(),
    ),
    "outputs beside the grid": lambda: md.Problem(
        md.Domain.grid(1, 3), md.LDP(1), md.EuclideanDistance(), outputs=[(0, 0.5), (0, 1.5)]
    ),
    "fewer outputs than inputs": lambda: md.Problem(
        range(5), md.LDP(1), md.MeanAbsoluteError(), outputs=[1, 2.5]
    ),
    "more outputs than inputs": lambda: md.Problem(
        ["a", "b"], md.LDP(1), md.Distortion([[0, 3, 1], [3, 0, 1]]), outputs=["a", "b", "neither"]
    ),
    "numbers and text": lambda: md.Problem(
        ["a", 1, 2.5], md.HighLowLDP(1, ["a", 1]), md.HammingLoss()
    ),
    "letters of the world": lambda: md.Problem(
        ["да", "né", "\u2028", '"', "\\"], md.LDP(1), md.HammingLoss(), title="≤ 😀", source="\t\n"
    ),
    "thirds": lambda: md.Problem(
        ["a", "b", "c"], md.LIP("1/3"), md.HammingLoss(), prior=["1/3", "1/3", "1/3"]
    ),
    "an input of prior 0": lambda: md.Problem(
        ["a", "b", "c"], md.LIP(1), md.HammingLoss(), prior=[0, 0.5, 0.5]
    ),
    "box of priors": lambda: md.Problem(
        ["a", "b"], md.BoundedPriorLIP(0.5, lower=[0.1, 0.7], upper=[0.3, 0.9]), md.HammingLoss()
    ),
    "list of priors": lambda: md.Problem(
        ["a", "b"], md.BoundedPriorLIP(0.5, priors=[[0.1, 0.9], [0.3, 0.7]]), md.HammingLoss()
    ),
    "distance matrix": lambda: md.Problem(
        ["a", "b", "c"],
        md.MetricPrivacy(1, [[0, 1, 2], [1, 0, 1.5], [2, 1.5, 0]]),
        md.HammingLoss(),
    ),
    "budget zero": lambda: md.Problem(["a", "b", "c"], md.LDP(0), md.HammingLoss()),
    "no budget at all": lambda: md.Problem(
        ["a", "b"], md.ContextAwareLDP([[0, "inf"], ["inf", 0]]), md.HammingLoss()
    ),
    "both sides free": lambda: md.Problem(
        ["a", "b"], md.AsymmetricLift("inf", "inf"), md.HammingLoss(), prior=[0.5, 0.5]
    ),
    "histogram": lambda: md.Problem(
        range(4),
        md.LIP(1),
        md.PosteriorMeanSquaredError(histogram=True),
        prior=[0.1, 0.2, 0.3, 0.4],
    ),
    "information about words": lambda: md.Problem(
        ["a", "b", 3], md.LDP(1), md.MutualInformation(), prior=[0.2, 0.3, 0.5]
    ),
    "accuracy on a grid": lambda: md.Problem(md.Domain.grid(2, 2), md.LDP(1), md.BayesAccuracy()),
    "one input": lambda: md.Problem(["a"], md.LDP(1), md.HammingLoss()),
    "large budget": lambda: md.Problem(["a", "b", "c"], md.LDP(60), md.HammingLoss()),
}

PROBLEMS: dict[str, Callable[[], md.Problem]] = {
    **{f"notion {name}": lambda name=name: of_notion(name) for name in ALL_NOTIONS},
    **{f"utility {name}": lambda name=name: of_utility(name) for name in UTILITIES},
    **OTHERS,
}


@cache
def solved(name: str) -> Solution:
    return md.design(PROBLEMS[name]())


def strict(text: str) -> Any:
    """Parse JSON as the standard has it: without NaN and Infinity, without a key twice."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    def whole(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=whole)


@pytest.mark.parametrize("name", PROBLEMS)
def test_saved_channels_are_loaded_equal(name: str, tmp_path: Path) -> None:
    solution, file = solved(name), tmp_path / "channel.json"
    problem = solution.problem
    md.save(solution, file)
    loaded = md.load_channel(file)
    assert loaded.channel == solution.channel
    assert loaded.channel.inputs == problem.domain
    assert loaded.channel.inputs.grid_shape == problem.domain.grid_shape
    assert [type(y) for y in loaded.channel.outputs] == [type(y) for y in solution.channel.outputs]
    assert loaded.prior == problem.prior
    assert loaded.verified.value == solution.value
    assert loaded.verified.bound == solution.bound
    text = file.read_text(encoding="utf-8")
    assert strict(text) == loaded.document
    assert loaded.document == json.loads(json.dumps(solution.document()))
    assert text.endswith("}\n")


def test_a_row_of_the_channel_is_a_line_of_the_file(tmp_path: Path) -> None:
    """Even where the title and the labels look like the file itself."""
    title = '  "matrix": "matrix of the channel", "numerators": "numerators of the channel"'
    labels = ['"matrix": "matrix of the channel"', "numerators of the channel", "a,b", "ε"]
    solution = md.design(md.Problem(labels, md.LDP(1), md.HammingLoss(), title=title))
    path = tmp_path / "channel.json"
    md.save(solution, path)
    text = path.read_text(encoding="utf-8")
    assert json.loads(text) == json.loads(json.dumps(solution.document()))
    for row in solution.document()["channel"]["numerators"]:
        assert json.dumps(row) in text
    assert md.load_channel(path).channel == solution.channel


@pytest.mark.parametrize("name", ["notion lip", "worst case", "utility distortion"])
def test_one_problem_gives_one_file(name: str) -> None:
    documents = [md.design(PROBLEMS[name]()).document() for _ in range(2)]
    for document in documents:
        del document["seconds"], document["timings"], document["digest"]
    assert documents[0] == documents[1]


# The JSON contract.

KEYS = [
    *("status", "objective", "sense", "value", "bound", "gap", "bound_proved"),
    *("route", "privacy", "channel", "seconds", "timings"),
]


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_json_is_as_promised(name: str) -> None:
    solution = solved(name)
    problem = solution.problem
    answer = strict(json.dumps(solution.to_json()))
    assert list(answer)[: len(KEYS)] == KEYS
    assert answer["status"] in ("optimal", "bounded")
    assert answer["objective"] == problem.utility.name
    assert answer["sense"] == problem.utility.sense
    assert answer["sense"] in ("minimize", "maximize")
    assert answer["bound_proved"] is True
    for key in ("value", "bound", "gap", "seconds"):
        assert type(answer[key]) is float
    assert answer["value"] == float(solution.value)
    assert solution.bound is not None
    best_first = [Fraction(repr(answer["bound"])), solution.bound, solution.value]
    assert best_first == sorted(best_first, reverse=problem.utility.is_maximized)
    gap = abs(answer["value"] - answer["bound"]) / max(1e-12, abs(answer["value"]))
    assert answer["gap"] == gap
    assert (answer["status"] == "optimal") == (gap <= 1e-6)
    assert isinstance(answer["route"], str)
    channel = answer["channel"]
    assert set(channel) - {"decoder"} == {"inputs", "outputs", "matrix"}
    assert len(channel["matrix"]) == len(channel["inputs"]) == len(problem.domain)
    labels = [list(x) if isinstance(x, tuple) else x for x in problem.domain]
    assert list(map(repr, channel["inputs"])) == list(map(repr, labels))
    for row, numerators in zip(
        channel["matrix"], solution.channel.numerators.tolist(), strict=True
    ):
        assert all(type(entry) is float for entry in row)
        assert row == [entry / 2**62 for entry in numerators]
    if isinstance(problem.utility, md.ColumnUtility):
        assert channel["outputs"] == list(range(len(channel["outputs"])))


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_leakage_is_the_least_budget_that_holds(name: str) -> None:
    solution = solved(name)
    problem = solution.problem
    claims = solution.to_json()["privacy"]
    assert len(claims) == len(problem.privacy)
    for claim, notion in zip(claims, problem.privacy, strict=True):
        table = notion.to_table()
        by_budget = "epsilon" in table
        numbers = {"epsilon", "delta"} & set(table)
        assert set(claim) == {"notion", "leakage", "certified", *numbers}
        assert claim["notion"] == notion.name
        assert claim["certified"] is True
        if not by_budget:
            assert claim["leakage"] is None or claim["leakage"] <= 0
            continue
        assert type(claim["epsilon"]) is float
        assert type(claim["leakage"]) is float
        assert claim["epsilon"] == pytest.approx(float(notion.epsilon), rel=1e-15)
        assert claim.get("delta") == (float(notion.delta) if "delta" in table else None)
        assert claim["leakage"] <= claim["epsilon"]
        delta = f" with delta = {float(notion.delta)}" if "delta" in table else ""
        assert re.search(f"{notion.name}.*: leaks .* of epsilon = [^ ,]+{delta},", repr(solution))

        def at(epsilon: float, notion: Any = notion, table: dict[str, Any] = table) -> Any:
            return type(notion)(
                **{k: v for k, v in table.items() if k != "notion"} | {"epsilon": epsilon}
            )

        assert at(claim["leakage"]).holds(solution.channel, problem.prior)
        if claim["leakage"] > 0.01 and notion.name != "differential-identifiability":
            assert not at(claim["leakage"] - 0.01).holds(solution.channel, problem.prior)


def test_the_decoder_is_the_posterior_mean_of_each_output() -> None:
    utility = md.PosteriorMeanSquaredError(values=[1, 0])
    survey = md.design(md.Problem(["yes", "no"], md.LIP(1), utility, prior=[0.1, 0.9]))
    channel = survey.to_json()["channel"]
    assert channel["outputs"] == [0, 1]
    assert [type(y) for y in channel["outputs"]] == [int, int]
    yes, no = channel["matrix"]
    means = [0.1 * a / (0.1 * a + 0.9 * b) for a, b in zip(yes, no, strict=True)]
    assert channel["decoder"] == pytest.approx(means, rel=1e-14)
    assert "decoder" not in md.design(of_utility("hamming")).to_json()["channel"]


# Reading problems.


def test_a_decimal_is_taken_as_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "problem.toml"
    file.write_text(
        "[domain]\nvalues = [0.1, 0.2]\n[prior]\nprobabilities = [0.1, 0.9]\n"
        '[privacy]\nnotion = "ldp"\nepsilon = 0.30000000000000000000001\n'
        '[utility]\nobjective = "mean-absolute-error"\n[expected]\nvalue = 0.1\n',
        encoding="utf-8",
    )
    problem = md.load_problem(file)
    assert problem.domain.numbers == (Fraction(1, 10), Fraction(1, 5))
    assert problem.prior.probabilities == (Fraction(1, 10), Fraction(9, 10))
    (notion,) = problem.privacy
    assert notion == md.LDP("0.30000000000000000000001")
    assert (problem.expected.value, problem.expected.rtol) == (0.1, 1e-6)


@pytest.mark.parametrize("name", ALL_NOTIONS)
def test_a_problem_file_means_what_the_objects_mean(name: str, tmp_path: Path) -> None:
    file = tmp_path / "problem.toml"
    file.write_text(
        "[domain]\nsize = 4\n[prior]\ncounts = [1, 2, 3, 4]\n"
        f'[utility]\nobjective = "mean-absolute-error"\n[privacy]\nnotion = "{name}"\n'
        f"{ALL_NOTIONS[name].example}",
        encoding="utf-8",
    )
    assert md.load_problem(file).to_table() == of_notion(name).to_table()


def test_solve_writes_what_it_prints(tmp_path: Path, printed: Run) -> None:
    file = tmp_path / "problem.toml"
    file.write_text(
        '[domain]\nvalues = ["yes", "no"]\n[prior]\nprobabilities = [0.1, 0.9]\n'
        '[privacy]\nnotion = "lip"\nepsilon = 1.0\n'
        '[utility]\nobjective = "posterior-mean-squared-error"\nvalues = [1.0, 0.0]\n',
        encoding="utf-8",
    )
    told = strict(printed("solve", str(file), "--json", "-o", str(tmp_path / "channel.json")))
    saved = md.load_channel(tmp_path / "channel.json").document
    for key in KEYS:
        if key == "channel":
            assert {k: saved[key][k] for k in told[key]} == told[key]
        else:
            assert saved[key] == told[key]


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("domain", "the key 'domain' is missing"),
        ("prior", "states no prior"),
        ("privacy", "does not claim every notion"),
        ("utility", "the claimed objective is not that of the problem"),
        ("outputs", "needs the outputs that were allowed"),
    ],
)
def test_a_missing_part_is_named_without_pythons_words(
    key: str, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "channel.json"
    md.save(md.design(md.Problem(md.Domain(["a", "b"]), md.LDP(1), md.HammingLoss())), file)
    document = json.loads(file.read_text(encoding="utf-8"))
    for holder in (document["problem"], document):
        name = key if key in holder else "problem"
        part = holder.pop(name)
        document["digest"] = digest(document)
        missing = words if holder is not document else f"the key '{name}' is missing"
        with pytest.raises(md.CertificateError, match=missing):
            verify(document)
        holder[name] = part
    document["problem"][key] = 7
    document["digest"] = digest(document)
    with pytest.raises(md.CertificateError) as caught:
        verify(document)
    assert "Error(" not in str(caught.value)


# Channels without a problem claim nothing else.

GRID = md.Channel.from_matrix([[1, 0], ["1/3", "2/3"]], inputs=md.Domain.grid(1, 2, "1/2"))
TEXT = md.Channel.from_matrix([["1/2", "1/4", "1/4"]] * 2, inputs=["a", "b"], outputs=[0, 0.5, "x"])


@pytest.mark.parametrize(
    "channel", [GRID, TEXT, TEXT.then(md.Channel.from_matrix([[1]] * 3, inputs=[0, 0.5, "x"]))]
)
def test_a_bare_channel_comes_back_as_it_was(channel: md.Channel, tmp_path: Path) -> None:
    file = tmp_path / "channel.json"
    md.save(channel, file)
    assert md.load_channel(file).channel == channel
    assert md.load_channel(file).prior is None
    assert md.load_mechanism(file).mechanism == channel
    assert "NOT claimed: privacy" in str(md.load_channel(file).verified)


BESIDE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "inputs alike": lambda d: d["problem"]["domain"].__setitem__("values", ["a", "a"]),
    "a claim of privacy": lambda d: d.__setitem__("privacy", [{"notion": "ldp", "epsilon": 0}]),
    "a claim within the inputs": lambda d: d["problem"]["domain"].__setitem__("privacy", "ldp"),
    "a title": lambda d: d["problem"].__setitem__("title", "true"),
    "no channel": lambda d: d.pop("channel"),
}


@pytest.mark.parametrize("change", BESIDE)
def test_a_bare_channel_has_no_other_key(change: str, tmp_path: Path) -> None:
    md.save(TEXT, tmp_path / "channel.json")
    document = json.loads((tmp_path / "channel.json").read_text())
    verify(document)
    BESIDE[change](document)
    document["digest"] = digest(document)
    with pytest.raises(md.CertificateError):
        verify(document)


def test_a_proof_without_its_problem_is_no_bare_channel() -> None:
    document = solved("one input").document()
    del document["certificate"]
    document["digest"] = digest(document)
    with pytest.raises(md.CertificateError, match="title: bare file has no such key"):
        verify(document)


# Saved files that are compressed: the same documents, and no way around the limits.


def test_a_name_that_ends_in_gz_is_compressed(tmp_path: Path) -> None:
    plain, packed = tmp_path / "channel.json", tmp_path / "channel.json.gz"
    assert md.save(solved("worst case"), plain) == md.save(solved("worst case"), packed)
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert packed.stat().st_size < plain.stat().st_size / 2
    assert md.load_channel(packed).document == md.load_channel(plain).document
    renamed = tmp_path / "renamed.json"
    renamed.write_bytes(packed.read_bytes())
    assert md.load_channel(renamed).verified == md.load_channel(plain).verified
    for cut in (3, 12, -9, -1):
        renamed.write_bytes(packed.read_bytes()[:cut])
        check_refused("cannot read the file", md.load_channel, renamed)


def test_a_compressed_file_is_bounded_by_what_it_holds(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(b" " * 10**7))
    with resources.allow(bytes=10**6), pytest.raises(md.LimitError, match="bytes"):
        md.load_channel(bomb)
