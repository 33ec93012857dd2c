"""A saved file that says anything false is refused, and the refusal says what.

Every change is tried twice: as it is, when the digest gives it away, and with a digest made anew,
when the checker has to find the falsehood itself.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.certify import digest, verify
from mechdesign.certify.bounds.duality import dual_bound
from mechdesign.certify.problem import read_statement
from mechdesign.certify.proof import THEOREMS as THE_THEOREMS
from mechdesign.channel import Channel
from mechdesign.cli import main
from mechdesign.designs.facade import design
from mechdesign.domain import Domain
from mechdesign.errors import CertificateError, InputError, MechdesignError
from mechdesign.files import load_channel
from mechdesign.notions import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    BlockLDP,
    BoundedPriorLIP,
    ContextAwareLDP,
    HighLowLDP,
    MetricPrivacy,
)
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.utilities import (
    Distortion,
    EuclideanDistance,
    HammingLoss,
    MeanAbsoluteError,
    MeanSquaredDistance,
    PosteriorMeanSquaredError,
)
from tests.documents import by_multipliers, refused, sealed

Document = dict[str, Any]
Change = Callable[[Document], None]

PRIOR = [0.1, 0.2, 0.3, 0.4]

BALL = BoundedPriorLIP(1, center=PRIOR, radius=0.05)

PROBLEMS: dict[str, Problem] = {
    "binary posterior": Problem(
        ["yes", "no"], LIP(1), PosteriorMeanSquaredError(values=[1, 0]), prior=[0.1, 0.9]
    ),
    "closed form": Problem(["a", "b", "c"], LDP(1), HammingLoss(), prior=["1/3", "1/3", "1/3"]),
    "linear program": Problem(range(4), LDP(1), MeanAbsoluteError(), prior=PRIOR),
    "lip": Problem(range(4), LIP(1), MeanSquaredDistance(), prior=PRIOR),
    "bounded prior": Problem(range(4), BALL, MeanAbsoluteError(), prior=PRIOR),
    "worst case": Problem(range(4), LDP(1), MeanAbsoluteError(worst_case=True), prior=PRIOR),
    "distortion": Problem(
        ["a", "b", "c"],
        LIP(1),
        Distortion([[0, 2, 1], [1, 0, 2], [3, 1, 0]]),
        prior=[0.2, 0.3, 0.5],
    ),
    "context-aware": Problem(
        ["a", "b", "c"],
        ContextAwareLDP([[0, 1, 2], [0.5, 0, 1], ["inf", 1, 0]]),
        HammingLoss(),
        prior=[0.2, 0.3, 0.5],
    ),
    "high-low": Problem(
        ["a", "b", "c"], HighLowLDP(1, ["a"]), HammingLoss(), prior=[0.2, 0.3, 0.5]
    ),
    "grid": Problem(Domain.grid(2, 2, 0.5), MetricPrivacy(2, "euclidean"), EuclideanDistance()),
}


def as_saved(problem: Problem, route: str = "auto") -> Document:
    with by_multipliers():
        document: Document = json.loads(json.dumps(design(problem, route=route).document()))
    return document


@pytest.fixture(scope="module")
def documents() -> dict[str, Document]:
    routes = {"linear program": "linear-program"}  # a closed form has no multipliers
    return {name: as_saved(problem, routes.get(name, "auto")) for name, problem in PROBLEMS.items()}


def set_numerators(document: Document, rows: list[list[int]]) -> None:
    channel = document["channel"]
    channel["numerators"] = [[str(entry) for entry in row] for row in rows]
    channel["matrix"] = [[entry / 2 ** channel["bits"] for entry in row] for row in rows]


def numerators(document: Document) -> list[list[int]]:
    return [[int(entry) for entry in row] for row in document["channel"]["numerators"]]


def _moved(label: Any) -> Change:
    """Call the first output that is used by another name, wherever it stands."""

    def change(document: Document) -> None:
        old = document["channel"]["outputs"][0]
        for outputs in (document["problem"]["outputs"], document["channel"]["outputs"]):
            outputs[outputs.index(old)] = label

    return change


def test_untouched_files_pass(documents: dict[str, Document]) -> None:
    for document in documents.values():
        assert document["status"] == "optimal"
        claims = verify(document).claims
        assert claims[0] == "rows sum to 1 exactly: integers over 2**62"
        assert "status optimal" in claims


# Changes that make any document false, and the words of the refusal.


def reach(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def replaced(*path: str | int, by: Any) -> Change:
    """Put ``by``, or what it makes of the old entry, in a place."""

    def change(document: Document) -> None:
        place, key = reach(document, path[:-1]), path[-1]
        place[key] = by(place[key]) if callable(by) else by

    return change


def several(*changes: Change) -> Change:
    def change(document: Document) -> None:
        for one in changes:
            one(document)

    return change


def _one_more(document: Document) -> None:
    rows = numerators(document)
    rows[-1][0] += 1
    document["channel"]["numerators"] = [[str(entry) for entry in row] for row in rows]


def _negative(document: Document) -> None:
    rows = numerators(document)
    rows[0][0] -= 2**62 + 1
    rows[0][1] += 2**62 + 1
    set_numerators(document, rows)


def _identity(document: Document) -> None:
    """Release the truth: not private under any of the notions here."""
    n_outputs = len(document["channel"]["outputs"])
    rows = numerators(document)
    set_numerators(
        document,
        [
            [2**62 * (y == min(x, n_outputs - 1)) for y in range(n_outputs)]
            for x in range(len(rows))
        ],
    )


def _constant(document: Document) -> None:
    """Say nothing, and claim the value of something better."""
    rows = numerators(document)
    set_numerators(document, [rows[0] for _ in rows])
    if "epsilon" in document["privacy"][0]:
        document["privacy"][0]["leakage"] = 0.0
    else:
        document["privacy"][0]["leakage"] = -0.5


def _shuffled(document: Document) -> None:
    rows = numerators(document)
    set_numerators(document, [*rows[1:], rows[0]])


def _gap_of(value: float, bound: float) -> float:
    return abs(value - bound) / max(1e-12, abs(value))


def _better_than_proved(document: Document) -> None:
    document["bound"] = math.nextafter(document["value"], math.inf)
    document["gap"] = _gap_of(document["value"], document["bound"])


def _unproved(document: Document) -> None:
    """Claim optimality on the strength of a bound that proves next to nothing."""
    document["certificate"] = {"theorem": "nothing-constrained", "dual": None}


def _unproved_and_silent(document: Document) -> None:
    _unproved(document)
    document["bound"], document["gap"] = None, 0.0


def _weights(factor: float) -> Change:
    def change(document: Document) -> None:
        for block in document["certificate"]["dual"]["rows"]:
            block["weight"] = [weight * factor for weight in block["weight"]]
        document["certificate"]["theorem"] = None

    return change


EVERYWHERE: dict[str, tuple[Change, str]] = {
    "one unit too many in a row": (_one_more, r"row \d of the channel does not sum to 2\*\*62"),
    "a negative entry": (_negative, "expected whole, found"),
    "the truth": (_identity, "not private|does not"),
    "nothing, at the old value": (_constant, "the value is|leaks"),
    "rows that move up": (_shuffled, "the value is|not private|leaks"),
    "one bit less": (replaced("channel", "bits", by=61), r"sum to 2\*\*61"),
    "a row left out": (
        replaced("channel", "numerators", by=lambda rows: rows[:-1]),
        "not one row for each input",
    ),
    "a matrix unlike its integers": (
        replaced("channel", "matrix", 0, 0, by=lambda entry: entry + 1e-9),
        "row 0 of the matrix",
    ),
    "a matrix with a row too many": (
        replaced("channel", "matrix", by=lambda rows: [*rows, rows[0]]),
        "matrix",
    ),
    "an input renamed": (replaced("channel", "inputs", 0, by="someone"), "inputs"),
    "an output twice": (
        replaced("channel", "outputs", by=lambda outputs: [outputs[0], *outputs[:-1]]),
        "output",
    ),
    "leakage lower": (replaced("privacy", 0, "leakage", by=lambda e: e - 1e-6), "leaks more than"),
    "leakage higher": (replaced("privacy", 0, "leakage", by=lambda e: e + 1e-6), "leaks less than"),
    "not certified": (
        replaced("privacy", 0, "certified", by=False),
        "privacy.0..certified: expected true",
    ),
    "another notion claimed": (replaced("privacy", 0, "notion", by="pml"), "not claimed"),
    "a notion never claimed": (replaced("privacy", by=[]), "privacy: expected nonempty list"),
    "a notion twice": (replaced("privacy", by=lambda claims: claims * 2), "every notion"),
    "no notion at all": (
        several(replaced("privacy", by=[]), replaced("problem", "privacy", by=[])),
        "privacy: expected nonempty list",
    ),
    "a notion that nobody knows": (
        several(
            replaced("privacy", 0, "notion", by="magic"),
            replaced("problem", "privacy", 0, "notion", by="magic"),
        ),
        "'magic' is not known",
    ),
    "value lower": (replaced("value", by=lambda v: v * (1 - 1e-9)), "the value is"),
    "value higher": (replaced("value", by=lambda v: v * (1 + 1e-9)), "the value is"),
    "value zero": (replaced("value", by=0.0), "the value is"),
    "bound above what is proved": (_better_than_proved, "the bound proved is"),
    "bound lower, gap as it was": (replaced("bound", by=lambda b: b * 0.9), "the gap is"),
    "gap smaller": (several(replaced("bound", by=lambda b: 0.5 * b)), "the gap is"),
    "gap larger": (replaced("gap", by=0.5), "the gap is"),
    "gap nan": (several(replaced("gap", by=math.nan), replaced("status", by="bounded")), ""),
    "status lower": (replaced("status", by="bounded"), "the status is 'optimal'"),
    "status unknown": (replaced("status", by="perfect"), 'status: expected "optimal" or "bounded"'),
    "another objective": (replaced("objective", by="mutual-information"), "objective"),
    "another sense": (replaced("sense", by="maximize"), "sense"),
    "no certificate": (
        replaced("certificate", by={"theorem": None, "dual": None}),
        "the bound proved is 0.0",
    ),
    "a weak theorem": (_unproved, "the bound proved is"),
    "a weak theorem and no bound": (_unproved_and_silent, "bound: expected number, found None"),
    "an unknown theorem": (
        replaced("certificate", "theorem", by="magic"),
        "certificate.theorem: .* found 'magic'|'facets' is no key",
    ),
    "a prior that sums to 1.1": (
        replaced("problem", "prior", 0, by=lambda p: f"{p}0"[:3] + "9"),
        "the prior in the file is no distribution",
    ),
    "a prior with a negative entry": (
        replaced("problem", "prior", by=lambda prior: ["-1", "2", *["0"] * (len(prior) - 2)]),
        "problem.prior.0.: expected exact >= 0",
    ),
    "a prior too long": (
        replaced("problem", "prior", by=lambda prior: [*prior, "0"]),
        "the prior in the file is no distribution",
    ),
    "another format": (replaced("format", by="channel"), "no mechdesign channel file"),
    "another version": (replaced("version", by=2), "of version 1"),
}


@pytest.mark.parametrize("change", EVERYWHERE)
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_false_file_is_refused(name: str, change: str, documents: dict[str, Document]) -> None:
    document = copy.deepcopy(documents[name])
    EVERYWHERE[change][0](document)
    if change not in ("another format", "another version"):
        with pytest.raises(CertificateError, match="the digest does not match"):
            verify(document)
    refused(document, EVERYWHERE[change][1])


# Changes for which the document matters.


def private_at(document: Document, problem: Problem) -> bool:
    channel = Channel(numerators(document), inputs=problem.domain)
    return all(notion.holds(channel, problem.prior) for notion in problem.privacy)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_least_step_over_the_line_is_seen(name: str, documents: dict[str, Document]) -> None:
    """Moving twice as many units at every try, the first channel that is not private is refused."""
    rows = numerators(documents[name])
    steps = []
    for x, row in enumerate(rows):
        for source, target in itertools.permutations(range(len(row)), 2):
            for units in (2**n for n in range(row[source].bit_length())):
                moved = copy.deepcopy(rows)
                moved[x][source] -= units
                moved[x][target] += units
                document = copy.deepcopy(documents[name])
                set_numerators(document, moved)
                if not private_at(document, PROBLEMS[name]):
                    refused(document, "not private")
                    steps.append(units)
                    break
    assert min(steps) <= 2**24  # of 2**62: the channels here are tight somewhere


WITH_EPSILON = [name for name in PROBLEMS if name != "context-aware"]


@pytest.mark.parametrize("name", WITH_EPSILON)
def test_epsilon_can_be_changed_nowhere(name: str, documents: dict[str, Document]) -> None:
    claimed = copy.deepcopy(documents[name])
    claimed["privacy"][0]["epsilon"] *= 0.5
    refused(claimed, "the epsilon claimed is not that of the problem")
    for factor, reason in ((0.999, "not private"), (1.5, "the bound proved is")):
        document = copy.deepcopy(documents[name])
        epsilon = factor * document["privacy"][0]["epsilon"]
        document["privacy"][0]["epsilon"] = epsilon
        document["problem"]["privacy"][0]["epsilon"] = repr(epsilon)
        refused(document, reason)


def test_a_budget_is_claimed_only_where_there_is_one(documents: dict[str, Document]) -> None:
    document = copy.deepcopy(documents["context-aware"])
    document["privacy"][0]["epsilon"] = 0.001
    refused(document, "epsilon")


SWAPPED = {
    "binary posterior": ("ldp", "not private"),
    "closed form": ("lip", "leaks less"),
    "linear program": ("pml", "bound|leaks"),
    "lip": ("ldp", "not private"),
    "worst case": ("lip", "leaks less"),
    "distortion": ("ldp", "not private"),
}


@pytest.mark.parametrize("name", SWAPPED)
def test_a_notion_stands_for_itself(name: str, documents: dict[str, Document]) -> None:
    notion, reason = SWAPPED[name]
    document = copy.deepcopy(documents[name])
    document["privacy"][0]["notion"] = document["problem"]["privacy"][0]["notion"] = notion
    refused(document, reason)


@pytest.mark.parametrize("name", [n for n in PROBLEMS if n not in ("worst case", "grid")])
def test_another_prior_is_another_problem(name: str, documents: dict[str, Document]) -> None:
    document = copy.deepcopy(documents[name])
    prior = document["problem"]["prior"]
    if prior[0] == prior[-1]:
        prior[:] = ["1/6", "1/3", "1/2"]
    else:
        prior[0], prior[-1] = prior[-1], prior[0]
    refused(document, "not private|the value is|leaks|a uniform prior")


LOSSES: dict[str, tuple[str, Change]] = {
    "f(x)": (
        "binary posterior",
        replaced("problem", "utility", "values", by=["2", "0"]),
    ),
    "an entry of the matrix": (
        "distortion",
        replaced("problem", "utility", "matrix", 0, 1, by="1.999"),
    ),
    "a column too many": (
        "distortion",
        replaced("problem", "utility", "matrix", by=lambda rows: [[*row, "0"] for row in rows]),
    ),
    "a row too many": (
        "distortion",
        replaced("problem", "utility", "matrix", by=lambda rows: [*rows, rows[0]]),
    ),
    "a place of an input": (
        "linear program",
        several(
            replaced("problem", "domain", "values", 3, by=30),
            replaced("channel", "inputs", 3, by=30),
        ),
    ),
    "a place of an output": ("lip", _moved(100)),
    "the spacing": (
        "grid",
        replaced("problem", "domain", "grid", "spacing", by="0.50000001"),
    ),
    "the kind of distance": (
        "lip",
        several(
            replaced("problem", "utility", "objective", by="mean-absolute-error"),
            replaced("objective", by="mean-absolute-error"),
        ),
    ),
    "the mean for the worst": (
        "worst case",
        replaced("problem", "utility", "worst_case", by=False),
    ),
    "the worst for the mean": (
        "linear program",
        replaced("problem", "utility", "worst_case", by=True),
    ),
    "outputs swapped": (
        "linear program",
        replaced("channel", "outputs", by=lambda outputs: [*outputs[1:], outputs[0]]),
    ),
    "outputs swapped, labels": (
        "closed form",
        replaced("channel", "outputs", by=lambda outputs: [*outputs[1:], outputs[0]]),
    ),
    "an output that was not allowed": (
        "distortion",
        replaced("problem", "outputs", by=["x", "y", "z"]),
    ),
    "a better output that was left out": (
        "worst case",
        replaced("problem", "outputs", by=lambda outputs: [*outputs, 1.5]),
    ),
}


@pytest.mark.parametrize("what", LOSSES)
def test_another_loss_is_another_problem(what: str, documents: dict[str, Document]) -> None:
    name, change = LOSSES[what]
    document = copy.deepcopy(documents[name])
    change(document)
    refused(document)


WITH_DUAL = ["linear program", "lip", "bounded prior", "distortion", "context-aware", "grid"]


@pytest.mark.parametrize("name", WITH_DUAL)
def test_dual_weights_prove_what_they_prove(name: str, documents: dict[str, Document]) -> None:
    for factor in (0.9, 1.1, 10.0):
        document = copy.deepcopy(documents[name])
        _weights(factor)(document)
        refused(document, "the bound proved is")


@pytest.mark.parametrize("name", [*WITH_DUAL, "worst case"])
def test_weights_that_are_none_are_refused(name: str, documents: dict[str, Document]) -> None:
    for wrong in (-1.0, math.nan, "x", True):
        document = copy.deepcopy(documents[name])
        document["certificate"]["dual"]["rows"][0]["weight"][0] = wrong
        refused(document, r"weight\[0\]: expected number >= 0")
    document = copy.deepcopy(documents[name])
    document["certificate"]["dual"]["rows"][0]["x"].pop()
    refused(document)


def test_weights_on_the_inputs_are_a_distribution(documents: dict[str, Document]) -> None:
    for wrong in ([-1, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1], ["1", "0", "0", "x"], None):
        document = copy.deepcopy(documents["worst case"])
        document["certificate"]["dual"]["weights"] = wrong
        refused(document)
    document = copy.deepcopy(documents["worst case"])
    document["certificate"]["dual"]["weights"] = [1, 0, 0, 0]
    refused(document, "the bound proved is")


def test_weights_on_rows_that_are_not_there_are_refused(documents: dict[str, Document]) -> None:
    free = copy.deepcopy(documents["context-aware"])
    block = free["certificate"]["dual"]["rows"][0]
    block["x"][0], block["other"][0] = 2, 0  # the pair that the matrix leaves free
    refused(free, r"a pair \(2, 0\) with no row")
    document = as_saved(
        Problem(range(3), AsymmetricLift(1, "inf"), MeanAbsoluteError(), prior=[0.2, 0.3, 0.5])
    )
    document["certificate"] = {"theorem": None, "dual": document["certificate"]["dual"]}
    for block in document["certificate"]["dual"]["rows"]:
        block["side"] = "upper"
    refused(document, "the side 'upper' with no row")


def test_priors_in_the_dual_belong_to_the_set(documents: dict[str, Document]) -> None:
    document = copy.deepcopy(documents["bounded prior"])
    for block in document["certificate"]["dual"]["rows"]:
        block["priors"] = [["1", "0", "0", "0"] for _ in block["priors"]]
    refused(document, "a prior that is not in the notion's set")
    document = copy.deepcopy(documents["lip"])
    for block in document["certificate"]["dual"]["rows"]:
        block["priors"] = [["1", "0", "0", "0"]]
    refused(document, "a prior that is not in the notion's set")


THEOREMS = {
    "binary posterior": ("equal-rows", "randomized-response", "erasure"),
    "closed form": ("equal-rows", "erasure", "binary-universal"),
    "linear program": ("equal-rows", "randomized-response", "erasure", "binary-universal"),
    "lip": ("equal-rows", "randomized-response", "binary-universal"),
    "bounded prior": ("equal-rows", "randomized-response", "erasure", "binary-universal"),
    "worst case": ("equal-rows", "randomized-response", "erasure", "binary-universal"),
    "distortion": ("equal-rows", "randomized-response", "erasure", "binary-universal"),
}


@pytest.mark.parametrize("name", THEOREMS)
def test_a_theorem_proves_only_what_it_says(name: str, documents: dict[str, Document]) -> None:
    for theorem in THEOREMS[name]:
        document = copy.deepcopy(documents[name])
        document["certificate"] = {"theorem": theorem, "dual": None}
        refused(document)


@pytest.mark.parametrize("name", [n for n in PROBLEMS if n != "binary posterior"])
def test_no_weights_whatever_prove_too_much(name: str, documents: dict[str, Document]) -> None:
    """Any weights on any rows: the checker either refuses them or stays below the optimum."""
    problem, document = PROBLEMS[name], documents[name]
    statement = read_statement(document["problem"])
    optimum = verify(document).value
    draw = random.Random(name)
    k, m = len(problem.domain), len(problem.outputs or ())
    of_lift = problem.privacy[0].name in ("lip", "bounded-prior-lip")
    proved = 0
    for _ in range(100):
        rows = []
        for side in ("upper", "lower") if of_lift else ("ratio",):
            pairs = [draw.sample(range(k), 2) for _ in range(draw.randint(1, 4))]
            block: dict[str, Any] = {
                "notion": 0,
                "side": side,
                "output": [draw.randrange(m) for _ in pairs],
                "x": [x for x, _ in pairs],
                "other": [0 if of_lift else z for _, z in pairs],
                "weight": [draw.random() * 10 ** draw.uniform(-3, 1) for _ in pairs],
            }
            if name == "bounded prior":
                vertices = draw.sample(BALL.priors.vertices(), 2)
                block["priors"] = [[str(p) for p in vertex] for vertex in vertices]
                block["other"] = [draw.randrange(2) for _ in pairs]
            rows.append(block)
        weights = [draw.random() for _ in range(k)]
        try:
            bound = dual_bound(statement, {"weights": weights, "rows": rows})
        except CertificateError:  # on a pair that the notion leaves free
            continue
        proved += 1
        assert bound <= optimum
    assert proved >= 5


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=4).filter(any),
    st.integers(0, 300).map(lambda n: Fraction(n, 100)),
    st.sampled_from(["ldp", "lip", "pml", "lift", "high-low", "metric", "two"]),
    st.sampled_from(["hamming", "squared", "worst", "distortion", "posterior"]),
)
def test_no_theorem_proves_too_much(
    counts: list[int], epsilon: Fraction, notion: str, loss: str
) -> None:
    """Each theorem on any problem: refused, or below the loss of some private channel."""
    k, prior = len(counts), Prior.from_counts(counts)
    privacy: Any = {
        "ldp": LDP(epsilon),
        "lip": LIP(epsilon),
        "pml": PML(epsilon),
        "lift": AsymmetricLift(lower=epsilon, upper=2 * epsilon + Fraction(1, 10)),
        "high-low": HighLowLDP(epsilon, [0]),
        "metric": MetricPrivacy(epsilon, "absolute"),
        "two": [LDP(epsilon), LIP(epsilon)],
    }[notion]
    utility: Any = {
        "hamming": HammingLoss(),
        "squared": MeanSquaredDistance(),
        "worst": MeanAbsoluteError(worst_case=True),
        "distortion": Distortion([[(3 * x + 5 * y) % 7 for y in range(k)] for x in range(k)]),
        "posterior": PosteriorMeanSquaredError(),
    }[loss]
    problem = Problem(range(k), privacy, utility, prior=prior)
    statement = read_statement(problem.to_table())
    linear = HammingLoss() if loss == "posterior" else utility
    channel = design(Problem(range(k), privacy, linear, prior=prior)).channel
    value = utility.value(channel, prior)
    for theorem in THE_THEOREMS.values():
        if theorem.name == "simplicial":  # needs data, which have tests of their own
            continue
        try:
            bound = theorem(statement)
        except CertificateError:
            continue
        assert bound <= value


def test_the_theorem_of_randomized_response_wants_different_labels() -> None:
    document = as_saved(Problem(["a", "b"], LDP(1), HammingLoss()))
    document["certificate"] = {"theorem": "randomized-response", "dual": None}
    document["problem"]["domain"]["values"] = ["a", "a"]
    document["problem"]["outputs"] = ["a"]
    document["channel"].update(
        inputs=["a", "a"], outputs=["a"], numerators=[[str(2**62)]] * 2, matrix=[[1.0]] * 2
    )
    document["privacy"][0]["leakage"] = document["value"] = 0.0
    document["status"], document["gap"] = "bounded", _gap_of(0.0, document["bound"])
    refused(document)


def test_the_decoder_is_checked(documents: dict[str, Document]) -> None:
    document = copy.deepcopy(documents["binary posterior"])
    document["channel"]["decoder"].reverse()
    refused(document, "decoder")
    document["channel"]["decoder"] = document["channel"]["decoder"][:1]
    refused(document, "decoder")
    del document["channel"]["decoder"]
    refused(document, "decoder")
    document = copy.deepcopy(documents["closed form"])
    document["channel"]["decoder"] = [1.0, 2.0, 3.0]
    refused(document, "decoder")


def test_a_loss_of_any_scale_is_checked() -> None:
    document = as_saved(Problem(["a", "b"], LDP(1), Distortion([[0, 1e-13], [1e-13, 0]])))
    document["value"] = document["bound"] = document["gap"] = 0.0
    refused(document, "the value is")


def released(document: Document) -> Document:
    """Release the truth, and claim what then follows if nothing is constrained."""
    changed = copy.deepcopy(document)
    _identity(changed)
    changed["privacy"][0]["leakage"] = None
    changed["value"] = changed["bound"] = changed["gap"] = 0.0
    _unproved(changed)
    return changed


def test_a_notion_that_protects_no_input_of_the_file_is_refused(
    documents: dict[str, Document],
) -> None:
    for sensitive in (["z"], [], "abc"):
        document = released(documents["high-low"])
        document["problem"]["privacy"][0]["sensitive"] = sensitive
        refused(document)
    for matrix in ([], [[]], [["0", "1", "1"]], [[], [], []]):
        document = released(documents["context-aware"])
        document["problem"]["privacy"][0]["matrix"] = matrix
        refused(document)


def test_a_weaker_claim_that_is_true_passes(documents: dict[str, Document]) -> None:
    document = copy.deepcopy(documents["lip"])
    document["bound"] *= 0.5
    document["gap"] = _gap_of(document["value"], document["bound"])
    document["status"] = "bounded"
    document["title"], document["notes"] = "free text", []
    assert "status bounded" in verify(sealed(document)).claims


def test_a_wide_gap_is_not_optimal(documents: dict[str, Document]) -> None:
    document = copy.deepcopy(documents["lip"])
    document["bound"] *= 0.5
    document["gap"] = _gap_of(document["value"], document["bound"])
    refused(document, "the status is 'bounded'")


# Any value whatever in any place.

FREE = {"title", "source", "route", "why", "considered", "notes", "seconds", "timings"}
PROOF = {"certificate", "digest"}
ODD: list[Any] = [None, True, -1, 0.3, 10**30, "x", "1/0", "1e9999999", [], {}, [[1]], math.nan]


def harmless(document: Document, path: tuple[Any, ...], odd: Any, original: Any) -> bool:
    """Whether a document that says ``odd`` in a place where it said ``original`` is still true."""
    label = type(odd) in (int, str) or odd == 0.3
    if path[:2] == ("channel", "outputs"):  # names of outputs that the optimizer chose
        return label and document["problem"]["outputs"] is None
    if path[:2] == ("problem", "outputs"):  # another output that is not worth using
        return label and original not in document["channel"]["outputs"]
    same = path[0] == "problem" and str(odd) == original  # the number, and not its text
    return same or path[0] in FREE | PROOF or (path[-1] == "leakage" and odd is None)


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to everything inside."""
    if isinstance(node, dict | list):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield (*path, key)
            yield from places(child, (*path, key))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["binary posterior", "bounded prior", "grid"])
def test_no_value_in_any_place_breaks_the_checker(
    name: str, documents: dict[str, Document]
) -> None:
    original = documents[name]
    for path in places(original):
        for odd in [*ODD, "left out"]:
            document, old = copy.deepcopy(original), reach(original, path)
            if odd == "left out":
                del reach(document, path[:-1])[path[-1]]
            else:
                replaced(*path, by=odd)(document)
            if document == original:
                continue
            try:
                verify(sealed(document))
            except CertificateError:
                continue
            default = path[-1] in ("worst_case", "bound_proved") and odd == "left out"
            assert default or harmless(document, path, odd, old), (path, odd)


@pytest.mark.parametrize(
    "table",
    [
        {"priors": []},
        {"priors": [["25", "25", "25", "25"]]},
        {"priors": [["0.5", "0.5"]]},
        {"priors": [["1.5", "-0.5", "0", "0"]]},
        {"lower": ["0", "0", "0", "0"], "upper": ["0.1", "0.1", "0.1", "0.1"]},
        {"lower": ["0.9", "0.9", "0", "0"], "upper": ["1", "1", "1", "1"]},
        {"lower": ["0", "0", "0", "0"]},
        {"center": ["25", "25", "25", "25"], "radius": "0.1"},
        {"center": PRIOR, "radius": "-0.05"},
        {"center": PRIOR},
        {},
    ],
    ids=str,
)
def test_a_set_of_priors_that_is_none_is_refused(
    table: dict[str, Any], documents: dict[str, Document]
) -> None:
    """Even for a channel that tells nothing, and so is private whatever the priors."""
    document = copy.deepcopy(documents["bounded prior"])
    rows = numerators(document)
    n_outputs = len(rows[0])
    set_numerators(document, [[2**62] + [0] * (n_outputs - 1)] * len(rows))
    statement = document["problem"]
    best = document["channel"]["outputs"][0]
    losses = [abs(x - best) * p for x, p in zip(range(4), PRIOR, strict=True)]
    document["value"], document["bound"], document["gap"] = sum(losses), 0.0, 1.0
    document["status"], document["certificate"] = "bounded", {"theorem": None, "dual": None}
    document["privacy"][0]["leakage"] = 0.0
    verify(sealed(document))
    statement["privacy"][0] = {"notion": "bounded-prior-lip", "epsilon": "1", **table}
    refused(document)


def test_blocks_of_no_size_are_refused() -> None:
    document = as_saved(
        Problem(Domain.grid(2, 2), BlockLDP(1, block_rows=1, block_columns=2), HammingLoss())
    )
    for wrong in (0, -1, "1", 0.5, None):
        document["problem"]["privacy"][0]["block_rows"] = wrong
        refused(document)


# Whole files.

TEXTS: dict[str, str] = {
    "empty": "",
    "words": "verified: everything",
    "a problem": '[domain]\nvalues = ["a"]\n',
    "nested beyond reason": "[" * 100_000,
    "an endless integer": "1" * 5_000,
    "a number that is none": '{"value": NaN}',
    "an infinite number": "[-Infinity]",
    "a key twice": '{"privacy": [], "privacy": []}',
    "a key twice inside": '[{"problem": {"epsilon": "1", "\\u0065psilon": "2"}}]',
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_no_json_is_wrong_input(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.json"
    file.write_text(TEXTS[name], encoding="utf-8")
    assert main(["verify", str(file)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith((f"{file}: expected a JSON file", f"{file}: expected at most"))
    assert printed.err.count("\n") == 1


def test_text_that_was_cut_anywhere_is_refused(
    documents: dict[str, Document], tmp_path: Path
) -> None:
    text = json.dumps(documents["binary posterior"], indent=1) + "\n"
    file = tmp_path / "x.json"
    for length in range(0, len(text) - 2, 97):
        file.write_text(text[:length], encoding="utf-8")
        with pytest.raises(InputError, match="expected a JSON file, whole"):
            load_channel(file)


@pytest.mark.parametrize("text", ["[]", "{}", "3", "null", '"x"', "true", "[[1, 2]]"])
def test_other_json_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.json"
    file.write_text(text, encoding="utf-8")
    assert main(["verify", str(file)]) == 1
    error = capsys.readouterr().err
    assert error == f"{file}: refused: this is no mechdesign channel file of version 1\n"


def test_a_digest_that_is_removed_or_odd_is_refused(documents: dict[str, Document]) -> None:
    document = copy.deepcopy(documents["lip"])
    for odd in (None, "", 3, document["digest"].upper(), document["digest"][:-1]):
        document["digest"] = odd
        with pytest.raises(CertificateError, match="the digest does not match"):
            verify(document)
    del document["digest"]
    with pytest.raises(CertificateError, match="the digest does not match"):
        verify(document)


def test_the_digest_is_of_the_content_and_not_of_its_layout(
    documents: dict[str, Document],
) -> None:
    document = documents["lip"]
    turned = json.loads(json.dumps(dict(reversed(document.items())), indent=7))
    assert digest(turned) == digest(document) == document["digest"]
    assert verify(turned).value == verify(document).value


def test_verify_says_what_holds_and_what_does_not(
    documents: dict[str, Document], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps(documents["lip"]), encoding="utf-8")
    assert main(["verify", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    stated = [line for line in lines if line.startswith("stated  ")]
    claimed = [line for line in lines if line.startswith("verified  ")]
    assert [*claimed, *stated] == lines  # what was proved, and then about what
    assert any('"notion": "lip"' in line for line in stated)
    assert any("lip: private as stated, exactly" in line for line in lines)
    assert main(["verify", str(file), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["verified"] is True
    assert [f"verified  {claim}" for claim in answer["claims"]] == claimed

    document = copy.deepcopy(documents["lip"])
    document["value"] *= 0.9
    file.write_text(json.dumps(sealed(document)), encoding="utf-8")
    assert main(["verify", str(file)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"{file}: refused: the value is ")
    assert printed.err.count("\n") == 1
    assert main(["verify", str(file), "--json"]) == 1
    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    assert answer["verified"] is False
    assert answer["reason"].startswith("the value is ")
    assert printed.err.count("\n") == 1


def test_a_missing_file_is_wrong_input(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["verify", str(tmp_path / "nowhere.json")]) == 2
    assert "expected a file that can be read" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["lip", "grid"])
def test_nothing_but_our_own_exceptions_leaves_a_changed_file(
    name: str, documents: dict[str, Document], tmp_path: Path
) -> None:
    """As a user would load it: the parts of the statement are read once more after the check."""
    file = tmp_path / "x.json"
    original = documents[name]
    for path in places(original["problem"]["domain"], ("problem", "domain")):
        for odd in ODD:
            document = copy.deepcopy(original)
            replaced(*path, by=odd)(document)
            file.write_text(json.dumps(sealed(document)), encoding="utf-8")
            try:
                load_channel(file)
            except MechdesignError:
                continue
            assert document == original


ALONE = """
import sys
for name in ("numpy", "scipy", "cvxpy", "highspy", "matplotlib", "tqdm", "pandas"):
    sys.modules[name] = None
import json
from mechdesign.certify import verify
print(verify(json.load(open(sys.argv[1], encoding="utf-8"))))
loaded = [name for name in sys.modules if name.startswith("mechdesign.")]
print(*sorted({name.split(".")[1] for name in loaded}))
"""


def test_the_checker_needs_the_standard_library_alone(
    documents: dict[str, Document], tmp_path: Path
) -> None:
    file = tmp_path / "x.json"
    for name in ("binary posterior", "bounded prior"):
        file.write_text(json.dumps(documents[name]), encoding="utf-8")
        command = [sys.executable, "-W", "error", "-c", ALONE, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert "verified  status optimal" in lines
        assert lines[-1] == "certify errors exact resources"
