"""Saved files about sums of gains, and objectives of a user's own.

An honest file passes, one that claims anything false is refused with a digest made anew; and what
the checker cannot know, the gain of a user's own objective, it does not claim.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from mechdesign import (
    LDP,
    LIP,
    PML,
    ApproximateLIP,
    AsymmetricLift,
    BayesAccuracy,
    BoundedPriorLIP,
    ColumnUtility,
    ContextAwareLDP,
    HammingLoss,
    HighLowLDP,
    MutualInformation,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    Solution,
    UnsupportedError,
    design,
    load_channel,
    load_problem,
    save,
)
from mechdesign.certify import verify
from mechdesign.cli import main
from mechdesign.errors import CertificateError, InputError, LimitError
from mechdesign.notions import Notion
from solvers.base import FloatArray
from solvers.vertices import best_mixture, rays_of
from tests.documents import refused, sealed

Document = dict[str, Any]
Change = Callable[[Document], None]

PRIOR = [0.1, 0.2, 0.3, 0.4]
NINE = Prior.from_counts([3, 4, 5, 6, 7, 8, 9, 10, 11])
NINE_LONG = Prior.from_counts([10**8 + 7 * x * x + x for x in range(9)])
HISTOGRAM, INFORMATION = PosteriorMeanSquaredError(histogram=True), MutualInformation()

PROBLEMS: dict[str, Problem] = {
    "histogram, rays": Problem(range(4), LDP(1), HISTOGRAM, prior=PRIOR),
    "histogram, sums": Problem(range(9), LIP(1), HISTOGRAM, prior=NINE),
    "information, rays": Problem(["a", "b", "c", 4], HighLowLDP(1, ["a", "b"]), INFORMATION),
    "information, sums": Problem(range(9), PML("0.7"), INFORMATION, prior=NINE),
    "information, two priors": Problem(
        range(4), BoundedPriorLIP(1, priors=[PRIOR, PRIOR[::-1]]), INFORMATION, prior=PRIOR
    ),
    "information, boxes": Problem(range(9), LIP(1), INFORMATION, prior=NINE_LONG),
    "accuracy": Problem(["a", "b", "c", 4], LDP(1), BayesAccuracy(), prior=PRIOR),
}


def as_saved(problem: Problem, route: str = "auto") -> Document:
    document: Document = json.loads(json.dumps(design(problem, route=route).document()))
    return document


@pytest.fixture(scope="module")
def documents() -> dict[str, Document]:
    """One file for each problem, and accuracy both by a linear program and by rays."""
    found = {name: as_saved(problem) for name, problem in PROBLEMS.items()}
    found["accuracy, rays"] = as_saved(PROBLEMS["accuracy"], "extreme-rays")
    return found


NAMES = [*PROBLEMS, "accuracy, rays"]
PRICED = [name for name in NAMES if name != "accuracy"]


def with_gap(document: Document) -> Document:
    """Make the gap and the status fit value and bound."""
    value, bound = document["value"], document["bound"]
    document["gap"] = abs(value - bound) / max(1e-12, abs(value))
    document["status"] = "optimal" if document["gap"] <= 1e-6 else "bounded"
    return document


# --- honest files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_an_honest_file_is_verified(name: str, documents: dict[str, Document]) -> None:
    document = documents[name]
    verified = verify(document)
    assert document["status"] == "optimal"
    assert document["bound_proved"] is True
    assert "status optimal" in verified.claims
    side = "is above" if document["sense"] == "maximize" else "has a loss below"
    assert any(f"no private channel {side}" in claim for claim in verified.claims)
    assert not any(claim.startswith("NOT") for claim in verified.claims)
    assert ("decoder" in document["channel"]) == ("information" not in name)
    assert math.isclose(verified.value, document["value"], rel_tol=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_loaded_as_it_was_saved(name: str, tmp_path: Path) -> None:
    solution = design(PROBLEMS[name.replace(", rays", "")] if "acc" in name else PROBLEMS[name])
    save(solution, tmp_path / "channel.json")
    saved = load_channel(tmp_path / "channel.json")
    assert saved.channel == solution.channel
    assert (saved.verified.value, saved.verified.bound) == (solution.value, solution.bound)


@pytest.mark.parametrize("name", PRICED)
def test_a_file_with_other_prices_proves_a_weaker_bound(
    name: str, documents: dict[str, Document]
) -> None:
    """Any prices prove something: if what is claimed is that much weaker, it passes."""
    document = copy.deepcopy(documents[name])
    sign = 1 if document["sense"] == "maximize" else -1
    document["certificate"]["dual"]["potential"][0] += 0.001
    document["certificate"]["dual"]["potential"][3] -= 0.002
    document["bound"] += sign * 0.1
    assert "status bounded" in verify(sealed(with_gap(document))).claims


# --- dishonest files ------------------------------------------------------------------------------


def put(*path: Any, by: Any) -> Change:
    """Put ``by``, or what it makes of the old entry, in a place."""

    def change(document: Document) -> None:
        node: Any = document
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = by(node[path[-1]]) if callable(by) else by

    return change


def flipped(document: Document) -> None:
    document["sense"] = "minimize" if document["sense"] == "maximize" else "maximize"


def tighter(document: Document) -> None:
    """Claim a bound half way from the value to what would be a contradiction."""
    sign = -1 if document["sense"] == "maximize" else 1
    document["bound"] = document["value"] + sign * 1e-6 * document["value"]
    with_gap(document)


def left_to_faith(document: Document) -> None:
    """Call the objective one of the user's own, of which nothing is proved."""
    document["certificate"] = {"theorem": None, "dual": None, "numeric": True}
    document["bound_proved"] = False
    document["value"] = document["bound"] = 0.5
    with_gap(document)


DUAL = ("certificate", "dual")

FALSE: dict[str, tuple[Change, str]] = {
    "value higher": (put("value", by=lambda v: v * (1 + 1e-9)), "the value is"),
    "value lower": (put("value", by=lambda v: v * (1 - 1e-9)), "the value is"),
    "sense": (flipped, "the sense is"),
    "objective": (put("objective", by="hamming"), "the objective claimed"),
    "objective of the problem": (put("problem", "utility", "objective", by="hamming"), ""),
    "another prior": (put("problem", "prior", by=lambda p: ["1"] + ["0"] * (len(p) - 1)), ""),
    "bound": (tighter, "the bound proved is"),
    "gap": (put("gap", by=0.0001), "the gap is"),
    "status": (put("status", by="bounded"), "the status is"),
    "not proved": (put("bound_proved", by=False), "claims no proof"),
    "proved by faith": (put("certificate", by={"theorem": None, "dual": None}), ""),
    "numeric, and proved": (
        put("certificate", "numeric", by=True),
        "'numeric' is no key|.search. is no key|certificate",
    ),
    "left to faith": (left_to_faith, "objective that can be proved"),
    "decoder given": (put("channel", "decoder", by=[9, 9, 9, 9]), "decoder"),
    "theorem": (put("certificate", by={"theorem": "made-up", "dual": None}), "found 'made-up'"),
}


@pytest.mark.parametrize("change", FALSE)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_false_is_refused(name: str, change: str, documents: dict[str, Document]) -> None:
    document, (alter, reason) = copy.deepcopy(documents[name]), FALSE[change]
    alter(document)
    refused(document, reason)


FALSE_PRICES: dict[str, tuple[Change, str]] = {
    "all lower": (put(*DUAL, "potential", by=lambda u: [p - 0.1 for p in u]), ""),
    "one lower": (put(*DUAL, "potential", 2, by=lambda p: p - 1e-4), "the bound proved is"),
    "one higher": (put(*DUAL, "potential", 2, by=lambda p: p + 1e-4), "the bound proved is"),
    "one missing": (put(*DUAL, "potential", by=lambda u: u[:-1]), "one potential for each input"),
    "none": (put(*DUAL, "potential", by=[]), "one potential for each input"),
    "no numbers": (put(*DUAL, "potential", by=lambda u: ["x"] * len(u)), "expected number"),
    "null": (put(*DUAL, "potential", by=None), ""),
    "another search": (put(*DUAL, "search", by="faith"), "the search 'faith' is not known"),
}


@pytest.mark.parametrize("change", FALSE_PRICES)
@pytest.mark.parametrize("name", PRICED)
def test_prices_that_prove_less_are_refused(
    name: str, change: str, documents: dict[str, Document]
) -> None:
    """Prices lower by t raise the surplus by t (1 . q) / (P . q), k t at least for some ray."""
    document, (alter, reason) = copy.deepcopy(documents[name]), FALSE_PRICES[change]
    alter(document)
    if change == "all lower" and len(set(document["problem"]["prior"])) == 1:
        verify(sealed(document))  # a uniform prior: k t for every ray, no change at all
    else:
        refused(document, reason)


def test_a_smaller_problem_cannot_be_put_in_its_place(documents: dict[str, Document]) -> None:
    """More budget would allow more: the prices do not prove the bound there."""
    for name in PRICED:
        document = copy.deepcopy(documents[name])
        table = document["problem"]["privacy"][0]
        table["epsilon"] = "1.5"
        document["privacy"][0]["epsilon"] = 1.5
        refused(document, "the bound proved is")


def test_members_of_a_set_of_priors_are_held_against_the_set(
    documents: dict[str, Document],
) -> None:
    document = copy.deepcopy(documents["information, two priors"])
    members = document["certificate"]["dual"].get("priors")
    document["certificate"]["dual"]["priors"] = {"0": [["1", "0", "0", "0"]]}
    refused(document)
    assert members is None or members != document["certificate"]["dual"]["priors"]


def test_the_decoder_is_compared_reading_by_reading(documents: dict[str, Document]) -> None:
    for name in ("histogram, rays", "histogram, sums"):
        for wrong in (lambda d: d[::-1], lambda d: d[:-1], lambda d: [[0.25] * 4 for _ in d]):
            document = copy.deepcopy(documents[name])
            put("channel", "decoder", by=wrong)(document)
            refused(document, "decoder is not")
    for name in ("accuracy", "accuracy, rays"):
        for wrong in (lambda d: d[::-1], lambda d: d[:-1], lambda d: ["a" for _ in d]):
            document = copy.deepcopy(documents[name])
            before = document["channel"]["decoder"]
            put("channel", "decoder", by=wrong)(document)
            assert document["channel"]["decoder"] != before
            refused(document, "decoder is not")
    document = copy.deepcopy(documents["histogram, rays"])
    del document["channel"]["decoder"]
    refused(document)


def leaf_of(tree: list[Any]) -> int:
    return next(n for n, item in enumerate(tree) if len(item) == 4)


TREES: dict[str, tuple[Callable[[list[Any]], Any], str]] = {
    "none": (lambda _tree: [], ""),
    "null": (lambda _tree: None, ""),
    "one box": (lambda _tree: [[0, [], [], []]], "the bound proved is"),
    "a leaf left out": (lambda tree: tree[:-1], ""),
    "a leaf too many": (lambda tree: [*tree, [0, [], [], []]], "too many"),
    "an input that is none": (lambda tree: [[99, 1], *tree[1:]], "does not exist"),
    "no number": (lambda tree: [["x", "y"], *tree[1:]], ""),
    "all leaves alike": (
        lambda tree: [item if len(item) == 2 else [0.5, [], [], []] for item in tree],
        "the bound proved is",
    ),
    "weights below zero": (
        lambda tree: [item if len(item) == 2 else [item[0], [0], [1], [-1]] for item in tree],
        "",
    ),
}


@pytest.mark.parametrize("change", TREES)
def test_a_tree_of_boxes_that_proves_less_is_refused(
    change: str, documents: dict[str, Document]
) -> None:
    document, (alter, reason) = copy.deepcopy(documents["information, boxes"]), TREES[change]
    dual = document["certificate"]["dual"]
    assert dual["search"] == "boxes"
    assert len(dual["tree"]) > 1
    assert leaf_of(dual["tree"]) > 0
    dual["tree"] = alter(dual["tree"])
    refused(document, reason)


@pytest.mark.parametrize("name", PRICED)
def test_a_search_that_does_not_fit_the_problem_is_refused(
    name: str, documents: dict[str, Document]
) -> None:
    """Rays fit always; sums need lifts and short counts, boxes need their tree."""
    dual = documents[name]["certificate"]["dual"]
    assert dual["search"] == (name.split(", ")[1] if "priors" not in name else "rays")
    for search in {"rays", "sums", "boxes"} - {dual["search"]}:
        document = copy.deepcopy(documents[name])
        document["certificate"]["dual"]["search"] = search
        document["certificate"]["dual"].pop("tree", None)
        if search == "rays":
            assert "status optimal" in verify(sealed(document)).claims
        else:
            with pytest.raises((CertificateError, LimitError)):
                verify(sealed(document))


# --- objectives of a user's own -------------------------------------------------------------------


class TwoGuesses(ColumnUtility):
    """The probability that one of the best two guesses is right."""

    name = "two-guesses"
    sense = "maximize"

    def gain(self, columns: FloatArray, prior: FloatArray) -> FloatArray:
        joint = np.sort(prior[:, None] * columns, axis=0)
        best: FloatArray = joint[-2:].sum(axis=0)
        return best


class ChiSquare(ColumnUtility):
    """Sum_y Sum_x P_x (Q[x,y] - lambda_y)^2 / lambda_y, whose gain splits by inputs."""

    name = "chi-square"
    sense = "maximize"

    def gain(self, columns: FloatArray, prior: FloatArray) -> FloatArray:
        law = prior @ columns
        spread = (prior[:, None] * (columns - law) ** 2).sum(axis=0)
        found: FloatArray = np.divide(spread, law, out=np.zeros_like(law), where=law > 0)
        return found

    def coordinate_gain(self, x: Any, r: FloatArray, prior: FloatArray) -> Any:
        return prior[x] * (r - 1) ** 2


class Apart(ColumnUtility):
    """Total variation between the reports of two groups, as a loss: 1 less it."""

    name = "indistinct-groups"
    groups: ClassVar[tuple[list[int], list[int]]] = ([0, 1], [2, 3])

    def gain(self, columns: FloatArray, prior: FloatArray) -> FloatArray:
        one, other = (prior[group] @ columns[group] / prior[group].sum() for group in self.groups)
        found: FloatArray = np.abs(one - other) / 2
        return found

    def offset(self, domain: Any, prior: Prior) -> Fraction:
        return Fraction(1)


def two_guesses(P: FloatArray, q: FloatArray) -> float:
    return max(P[x] * q[x] + P[z] * q[z] for x in range(len(q)) for z in range(x))


def chi_square(P: FloatArray, q: FloatArray) -> float:
    law = float(P @ q)
    return float(P @ q**2) / law - law if law else 0.0


def apart(P: FloatArray, q: FloatArray) -> float:
    one = (P[0] * q[0] + P[1] * q[1]) / (P[0] + P[1])
    return abs(one - (P[2] * q[2] + P[3] * q[3]) / (P[2] + P[3])) / 2


OWN: dict[str, tuple[ColumnUtility, Callable[[FloatArray, FloatArray], float]]] = {
    "two-guesses": (TwoGuesses(), two_guesses),
    "chi-square": (ChiSquare(), chi_square),
    "indistinct-groups": (Apart(), apart),
}
OWN_NOTIONS: dict[str, Notion] = {
    "ldp": LDP("0.8"),
    "lip": LIP("0.8"),
    "pml": PML("0.8"),
    "high-low": HighLowLDP("0.8", [0, 2]),
    "context-aware": ContextAwareLDP(
        [[0, 1, 2, "inf"], [0.5, 0, 1, 1], ["inf", 1, 0, 2], [1, 2, "inf", 0]]
    ),
}


def own(objective: str, notion: str) -> Problem:
    return Problem(range(4), OWN_NOTIONS[notion], OWN[objective][0], prior=PRIOR)


@pytest.mark.parametrize("notion", OWN_NOTIONS)
@pytest.mark.parametrize("objective", OWN)
def test_an_objective_of_ones_own_is_optimal_over_all_rays(objective: str, notion: str) -> None:
    problem = own(objective, notion)
    solution = design(problem)
    rays, P = rays_of(problem), problem.prior.array
    most, _ = best_mixture(rays, np.array([OWN[objective][1](P, ray) for ray in rays]))
    best = most if problem.utility.is_maximized else 1 - most
    assert math.isclose(float(solution.value), best, rel_tol=1e-6)
    assert math.isclose(float(solution.bound), best, rel_tol=1e-6)
    sign = -1 if problem.utility.is_maximized else 1
    assert sign * solution.bound <= sign * solution.value
    assert solution.status == "optimal"
    assert solution.bound_proved is False
    for family in problem.privacy:
        assert family.holds(solution.channel, problem.prior)


@pytest.mark.parametrize("objective", OWN)
def test_its_file_proves_privacy_and_says_what_it_does_not(
    objective: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    solution = design(own(objective, "lip"))
    answer = solution.to_json()
    assert answer["bound_proved"] is False
    assert answer["objective"] == objective
    assert answer["sense"] == solution.problem.utility.sense
    assert "computed in floating point, not proved" in repr(solution)
    save(solution, tmp_path / "channel.json")
    assert main(["verify", str(tmp_path / "channel.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("verified  lip: private as stated, exactly") for line in lines)
    (unproved,) = (line for line in lines if line.startswith("NOT checked"))
    assert f"objective '{objective}'" in unproved
    assert not any("no private channel" in line or "status" in line for line in lines)
    assert load_channel(tmp_path / "channel.json").channel == solution.channel


OWN_FALSE: dict[str, tuple[Change, str]] = {
    "a proof claimed": (put("bound_proved", by=True), "carries none"),
    "no word of it": (lambda d: d.pop("bound_proved"), ""),
    "not numeric": (put("certificate", "numeric", by=False), ""),
    "objective": (put("objective", by="three-guesses"), "the objective claimed"),
    "gap": (put("gap", by=0.5), "the gap is"),
    "status": (put("status", by="bounded"), "the status"),
    "leakage": (put("privacy", 0, "leakage", by=0.1), "leaks more"),
    "less private": (put("problem", "privacy", 0, "epsilon", by="0.1"), "epsilon claimed"),
}


@pytest.mark.parametrize("change", OWN_FALSE)
def test_what_its_file_does_claim_is_checked(change: str) -> None:
    document = as_saved(own("two-guesses", "ldp"))
    verify(sealed(document))
    alter, reason = OWN_FALSE[change]
    alter(document)
    refused(document, reason)


def test_only_a_sum_of_gains_goes_by_rays() -> None:
    with pytest.raises(UnsupportedError, match="route"):
        design(Problem(range(3), LDP(1), HammingLoss()), route="extreme-rays")
    with pytest.raises(InputError, match="nothing after it"):
        design(own("two-guesses", "ldp"), route="extreme-rays:fast")


def test_a_value_of_ones_own_is_the_sum_of_the_gains() -> None:
    solution: Solution = design(own("indistinct-groups", "ldp"))
    matrix, P = solution.channel.matrix, np.array(PRIOR)
    one, other = (P[group] @ matrix[group] / P[group].sum() for group in Apart.groups)
    assert math.isclose(solution.value, 1 - np.abs(one - other).sum() / 2, rel_tol=1e-12)
    assert solution.problem.to_table()["utility"] == {"objective": "indistinct-groups"}


# --- problem files and JSON -----------------------------------------------------------------------

FILE = """
[domain]
values = ["a", "b", "c"]
[prior]
probabilities = [0.2, 0.3, 0.5]
[privacy]
notion  = "ldp"
epsilon = 1.0
[utility]
"""

TABLES = {
    'objective = "mutual-information"': "maximize",
    'objective = "bayes-accuracy"': "maximize",
    'objective = "posterior-mean-squared-error"\nhistogram = true': "minimize",
}


@pytest.mark.parametrize("table", TABLES)
def test_the_command_solves_it_and_prints_the_keys(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "problem.toml").write_text(FILE + table)
    saved = tmp_path / "channel.json"
    assert main(["solve", str(tmp_path / "problem.toml"), "--json", "-o", str(saved)]) == 0
    answer = json.loads(capsys.readouterr().out)
    first = "status objective sense value bound gap bound_proved route privacy channel seconds"
    assert list(answer)[:11] == first.split()
    assert (answer["status"], answer["sense"]) == ("optimal", TABLES[table])
    assert answer["bound_proved"] is True
    assert main(["verify", str(saved)]) == 0
    assert "NOT" not in capsys.readouterr().out
    readings = answer["channel"].get("decoder")
    if "mutual" in table:
        assert readings is None
    elif "bayes" in table:
        assert set(readings) <= {"a", "b", "c"}
    else:
        assert [len(belief) for belief in readings] == [3] * len(answer["channel"]["outputs"])


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        (
            'objective = "posterior-mean-squared-error"\nhistogram = true\nvalues = [1, 0, 0]',
            "both",
        ),
        ('objective = "posterior-mean-squared-error"\nhistogram = "yes"', "true or false"),
        ('objective = "posterior-mean-squared-error"\nhistogram = false', "one number for each"),
        ('objective = "mutual-information"\nworst_case = true', "worst_case"),
        ('objective = "bayes-accuracy"\nvalues = [1, 0, 0]', "values"),
        ('objective = "mutual_information"', "did you mean 'mutual-information'"),
    ],
)
def test_wrong_keys_are_named(table: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "problem.toml").write_text(FILE + table)
    with pytest.raises(InputError, match=complaint) as found:
        load_problem(tmp_path / "problem.toml")
    assert "problem.toml" in str(found.value)


def test_an_expected_value_is_compared_with_what_is_maximized(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = FILE + 'objective = "bayes-accuracy"\n[expected]\nvalue = {}\nrtol = 1e-6\n'
    value = float(
        design(Problem(list("abc"), LDP(1), BayesAccuracy(), prior=[0.2, 0.3, 0.5])).value
    )
    for stated, status in ((value, 0), (0.99 * value, 1), (1.01 * value, 1)):
        (tmp_path / "problem.toml").write_text(text.format(stated))
        assert main(["check", str(tmp_path / "problem.toml")]) == status
    capsys.readouterr()


@pytest.mark.slow
@pytest.mark.parametrize("prior", [NINE, NINE_LONG], ids=["sums", "boxes"])
@pytest.mark.parametrize(
    "same",
    [
        lambda P: BoundedPriorLIP(1, priors=[P]),
        lambda P: BoundedPriorLIP(1, priors=[P, P]),
        lambda _: ApproximateLIP(1, delta=0),
        lambda _: AsymmetricLift(1, 1),
    ],
    ids=["one prior", "one prior twice", "no delta", "lift bounds"],
)
def test_what_says_the_same_as_lip_is_proved_as_well(same: Any, prior: Prior) -> None:
    """A set of one prior was once refused by its own checker."""
    solution = design(Problem(range(9), same(prior), INFORMATION, prior=prior))
    lip = design(Problem(range(9), LIP(1), INFORMATION, prior=prior))
    assert solution.status == lip.status == "optimal"
    assert float(solution.value) == pytest.approx(float(lip.value), rel=1e-6)
    verify(json.loads(json.dumps(solution.document())))
