"""A notion of one's own works everywhere: every route, the proof, the file, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import LDP, Channel, Domain, HammingLoss, Prior, Problem, Solution, design
from mechdesign.exact import as_fraction
from mechdesign.kernel import verify
from mechdesign.notions import Notion, Row, SensitiveAttribute, SensitiveAttributePrivacy
from tests.documents import as_read, proved, refused
from tests.refusals_support import check_refused
from tests.strategies import Case, broken, cases, channels, distortions, examples

PRIOR = [0.1, 0.2, 0.3, 0.4]


def rows_of(notion: Notion, domain: Domain, prior: Prior) -> list[Any]:
    """The rows of any notion, by label."""
    found = []
    for row in notion.family(domain, prior).rows():
        left, right = (
            {domain.labels[x]: v for x, v in side.items()} for side in (row.left, row.right)
        )
        found.append((row.name, left, row.exponent, right))
    return found


def own(case: Case) -> md.LinearNotion:
    """The same notion, as rows of the user's own."""
    return md.LinearNotion(rows_of(case.notion, case.domain, case.prior))


class Ladder(md.LinearNotion):
    """The notion of the documentation."""

    def __init__(self, epsilon: Any) -> None:
        self.epsilon = epsilon

    def rows(self, domain: Domain, prior: Prior | None) -> Iterator[Any]:
        for low, high in pairwise(domain):
            yield f"{low} against {high}", {low: 1}, self.epsilon, {high: 1}
            yield f"{high} against {low}", {high: 1}, 2 * self.epsilon, {low: 1}


# --- the optimum of a notion, from its rows -------------------------------------------------------


@given(case=cases(least="1/10"), data=st.data())
@examples(12)
def test_rows_of_a_notion_give_its_optimum(case: Case, data: st.DataObject) -> None:
    utility = data.draw(distortions(len(case.domain)))
    expected = float(design(Problem(case.domain, case.notion, utility, prior=case.prior)).value)
    solution = proved(Problem(case.domain, own(case), utility, prior=case.prior))
    assert float(solution.value) == pytest.approx(expected, rel=1e-5, abs=1e-7)


KNOWN = {
    "ldp": LDP(1),
    "lip": md.LIP(1),
    "context-aware": md.ContextAwareLDP(
        [[0, 1, 2, "inf"], [1, 0, 1, 2], [2, 1, 0, 1], [1, 0.5, 1, 0]]
    ),
}


@pytest.mark.parametrize(
    ("known", "utility", "route"),
    [
        ("lip", md.MeanAbsoluteError(), "interior"),
        ("ldp", md.MeanAbsoluteError(), "columns"),
        ("context-aware", md.MeanAbsoluteError(worst_case=True), "linear-program"),
        ("lip", md.PosteriorMeanSquaredError(), "decoder-grid"),
        ("context-aware", md.PosteriorMeanSquaredError(), "extreme-rays"),
        ("ldp", md.PosteriorMeanSquaredError(histogram=True), "extreme-rays"),
        ("lip", md.MutualInformation(), "extreme-rays"),
        ("context-aware", md.BayesAccuracy(), "linear-program"),
        ("lip", md.L2Risk(), "estimation"),
        ("ldp", md.TVRisk(), "estimation"),
        ("context-aware", HammingLoss(), "conic"),
    ],
)
def test_every_route_takes_rows(known: str, utility: Any, route: str) -> None:
    notion, prior = KNOWN[known], Prior(PRIOR)
    beside = [md.ApproximateLDP(0.5, 0.1)] if route == "conic" else []
    rows = md.LinearNotion(rows_of(notion, Domain.range(4), prior))
    best = design(Problem(4, [notion, *beside], utility, prior=prior))
    solution = proved(Problem(4, [rows, *beside], utility, prior=prior), route=route)
    assert float(solution.value) == pytest.approx(float(best.value), rel=1e-6)


@st.composite
def row_tables(draw: st.DrawFn, labels: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Draw rows that constants satisfy, also with equality and with labels on both sides."""
    weight = st.sampled_from([0, 0, 1, 2, Fraction(1, 3)])
    rows: list[tuple[Any, ...]] = []
    for n in range(draw(st.integers(1, 6))):
        left, right = ({x: draw(weight) for x in labels} for _ in range(2))
        if not any(left.values()) or not any(right.values()):
            continue
        one, other = sum(left.values()), sum(right.values())
        slack = draw(st.sampled_from([0, Fraction(1, 4), 1]))
        if slack == 0:  # left and right of equal sums: an equation
            right = {x: v * Fraction(one) / other for x, v in right.items()}
            rows.append((f"row {n}", left, 0, right))
        else:
            least = math.log(float(one / other)) + float(slack)
            rows.append((f"row {n}", left, round(least, 6), right))
    return rows


@given(data=st.data(), k=st.integers(2, 4))
@examples(12)
def test_any_rows_are_repaired_and_proved(data: st.DataObject, k: int) -> None:
    """Equations, sums on both sides and inputs on both sides of a row: proved all the same."""
    domain = Domain.range(k)
    notion = md.LinearNotion(data.draw(row_tables(domain.labels)))
    problem = Problem(domain, notion, data.draw(distortions(k)))
    values = []
    for route in ("auto", "cvxpy:CLARABEL"):
        solution = design(problem, route=route)
        values.append(float(solution.value))
        assert notion.holds(solution.channel)
        verify(as_read(solution))
    assert values[0] == pytest.approx(values[1], rel=1e-5, abs=1e-6)


# --- both halves of privacy -----------------------------------------------------------------------


@given(case=cases(), data=st.data())
@examples(20)
def test_leakage_is_that_of_the_notion(case: Case, data: st.DataObject) -> None:
    channel = data.draw(channels(len(case.domain)))
    channel = Channel(channel.numerators, inputs=case.domain)
    rows = own(case)
    assert rows.holds(channel, case.prior) == case.notion.holds(channel, case.prior)
    excess = rows.leakage(channel, case.prior)
    family = rows.family(case.domain, case.prior)
    if math.isfinite(excess) and list(family.rows()):
        assert family.at(as_fraction(excess)).all_hold(channel.numerators)
        assert not family.at(as_fraction(excess) - Fraction("1e-9")).all_hold(channel.numerators)


def test_private_at_its_exponents_and_not_below(laddered: Solution) -> None:
    solution, problem = laddered, laddered.problem
    assert not Ladder("0.999").holds(solution.channel)
    assert solution.privacy[0].leakage == pytest.approx(1, abs=1e-9)
    assert broken(problem, solution.channel) is None
    rows = rows_of(Ladder(1), problem.domain, problem.prior)
    less = [(name, left, a - Fraction("0.001"), right) for name, left, a, right in rows]
    stricter = Problem(range(4), md.LinearNotion(less), md.MeanAbsoluteError(), prior=PRIOR)
    assert "breaks the row" in str(broken(stricter, solution.channel))


def test_leakage_in_epsilon() -> None:
    channel = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    assert Ladder(5).leakage(channel) == pytest.approx(math.log(3))
    constant = Channel.from_matrix([["1/2", "1/2"]] * 2)
    assert Ladder(5).leakage(constant) == 0
    fixed = [("0", {0: 1}, 0, {1: 1}), ("1", {1: 1}, 0, {0: 1}, 1)]
    assert md.LinearNotion(fixed, epsilon=1).leakage(channel) == math.inf
    assert md.LinearNotion(fixed, epsilon=1).leakage(constant) == 0


# --- a class of one's own -------------------------------------------------------------------------


@pytest.mark.parametrize("factor", ["1e-100", "1e-300", "1e100"])
def test_leakage_of_coefficients_with_ratios_beyond_floats(factor: str) -> None:
    row = ("a", {0: "1e100"}, "-1e100", {1: factor}, "1e100")
    notion = md.LinearNotion([row], epsilon=1 + Fraction("1e-90"))
    solution = proved(Problem([0, 1], notion, HammingLoss()))
    assert solution.privacy[0].leakage == pytest.approx(1)


@pytest.fixture(scope="module")
def laddered() -> Solution:
    return proved(Problem(range(4), Ladder(1), md.MeanAbsoluteError(), prior=PRIOR))


def test_a_class_is_saved_as_its_rows(laddered: Solution) -> None:
    solution, document = laddered, as_read(laddered)
    (table,) = document["problem"]["privacy"]
    assert (table["notion"], table["title"], table["epsilon"]) == ("linear", "Ladder", "1")
    assert table["rows"][1] == {
        "name": "1 against 0",
        "left": [[1, "1"]],
        "right": [[0, "1"]],
        "exponent": "0",
        "slope": "2",
    }
    (claim,) = (c for c in verify(document).claims if "private as stated" in c)
    assert "linear ('Ladder'): private" in claim
    assert "rows of the user's own, not a known notion" in claim
    assert "privacy    linear (Ladder): leaks 1 of epsilon = 1" in repr(solution)
    again = md.LinearNotion(**{k: v for k, v in table.items() if k != "notion"})
    assert again.leakage(solution.channel) == solution.privacy[0].leakage
    assert repr(Ladder(1)) == "Ladder(epsilon=1)"
    assert Ladder(1) == Ladder(1) != Ladder(2)
    assert hash(Ladder(1)) == hash(Ladder(1))


def test_a_budget_of_a_class_is_moved() -> None:
    problem = Problem(range(4), Ladder(1), md.MeanAbsoluteError(), prior=PRIOR)
    assert problem.at("0.5").privacy[0].epsilon == Fraction(1, 2)
    curve = md.design_frontier(problem, [0.5, 1, 2])
    values = [float(solution.value) for solution in curve]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 3


def test_rows_may_refer_to_the_prior() -> None:
    class Posterior(md.LinearNotion):
        """Differential identifiability."""

        def rows(self, domain: Domain, prior: Prior | None) -> Iterator[Any]:
            assert prior is not None
            for x, p in zip(domain, prior, strict=True):
                for z, r in zip(domain, prior, strict=True):
                    if x != z:
                        yield Row(f"{x} to {z}", {x: p}, 2, {z: r})

    values = [
        design(Problem(range(4), notion, md.MeanAbsoluteError(), prior=PRIOR)).value
        for notion in (Posterior(), md.DifferentialIdentifiability(2))
    ]
    assert float(values[0]) == pytest.approx(float(values[1]))


def test_rows_of_a_sensitive_attribute() -> None:
    law = [[0.9, 0.1], [0.5, 0.5], [0.3, 0.7], [0.2, 0.8]]
    attribute = SensitiveAttribute(["ill", "well"], given_input=law)
    masses = attribute.distributions(Prior(PRIOR))[0]
    own_rows, plain = (
        Problem(4, SensitiveAttributePrivacy(inner, attribute), md.MeanAbsoluteError(), prior=PRIOR)
        for inner in (md.LinearNotion(rows_of(LDP("0.2"), attribute.domain, masses)), LDP("0.2"))
    )
    assert float(proved(own_rows).value) == pytest.approx(float(design(plain).value))


def test_ties_make_rows_equal() -> None:
    """All rows equal: the closed form and its theorem see it in the user's rows."""
    rows = [("a", {0: 1, 1: 1}, 0, {2: 2}), ("b", {0: 1}, 0, {1: 1})]
    solution = proved(Problem(range(3), md.LinearNotion(rows), HammingLoss()))
    assert solution.route == "closed-form: independent release"
    assert float(solution.value) == pytest.approx(2 / 3)


# --- what is refused ------------------------------------------------------------------------------

ROW = ("r", {"a": 1}, 1, {"b": 1})

LABELS = "expected labels of the domain .* did you mean 'b'"

WRONG: list[tuple[Any, str]] = [
    (None, "rows: there are no rows"),
    ("a < b", "rows: expected a list of rows"),
    (3, "rows: expected a list of rows"),
    ([3], r"rows\[0\]: expected a row"),
    ([("r", {}, 1)], r"rows\[0\]: expected a row"),
    ([("", {"a": 1}, 1, {"b": 1})], r"rows\[0\].name: expected text"),
    ([(3, {"a": 1}, 1, {"b": 1})], r"rows\[0\].name: expected text, given 3"),
    ([ROW, ROW], "the name 'r' occurs twice"),
    ([{"lefft": {"a": 1}}], r"rows\[0\].lefft: .*did you mean 'left'"),
    ([{"left": {"a": 1}, "right": {"b": 1}}], r"rows\[0\].exponent: this key is required"),
    ([("r", {"a": 0}, 1, {"b": 1})], r"rows\[0\].left: every coefficient is 0"),
    ([("r", {"a": -1}, 1, {"b": 1})], r"rows\[0\].left.a: expected a finite number >="),
    ([("r", {"a": math.nan}, 1, {"b": 1})], r"rows\[0\].left.a: expected a finite number"),
    ([("r", {"a": 1}, math.inf, {"b": 1})], r"rows\[0\].exponent: expected a finite"),
    ([("r", "a", 1, {"b": 1})], r"rows\[0\].left: expected a table"),
    ([("r", ["a"], 1, {"b": 1})], r"rows\[0\].left: expected a table"),
    ([(*ROW, -1)], r"rows\[0\].slope: expected a finite number >= 0"),
    ([(*ROW, 1)], "privacy.epsilon: the rows have slopes"),
    ([("r", {"a": 1}, 1, {"bb": 1})], rf"privacy.rows\[0\].right: {LABELS}"),
    ([("r", [["a", 1], ["a", 1]], 1, {"b": 1})], "'a' twice"),
]


@pytest.mark.parametrize(("rows", "message"), WRONG)
def test_invalid_rows_are_refused_in_one_line(rows: Any, message: str) -> None:
    check_refused(message, lambda: Problem(["a", "b"], md.LinearNotion(rows), HammingLoss()))


class Bent(md.LinearNotion):
    """Rows whose exponents and weights are any function of the budget."""

    def __init__(self, epsilon: float, bent: Callable[[Any], Any]) -> None:
        self.epsilon, self.bent = epsilon, bent

    def rows(self, domain: Domain, prior: Prior | None) -> Iterator[Any]:
        for n, (exponent, weight) in enumerate(self.bent(self.epsilon)):
            yield f"r{n}", {"a": 1}, exponent, {"b": weight}


def test_a_row_may_be_fixed_beside_one_that_moves() -> None:
    notion = Bent(1, lambda e: [(2 * e, 1), (e / 4, 1), (0.5, 1)])
    rows = notion.at(3).family(Domain(["a", "b"])).rows()
    assert [row.exponent for row in rows] == [6, 0.75, 0.5]


def test_budgets_that_do_not_move_are_refused() -> None:
    with pytest.raises(md.InputError, match="no exponent grows with epsilon"):
        Problem(["a", "b"], md.LinearNotion([ROW], epsilon=1), HammingLoss())

    for bent, message in (
        (lambda e: [(e * e, 1)], "an exponent a"),
        (lambda e: [(3 - e, 1)], "an exponent a"),
        (lambda e: [(e, 1 + e)], "a coefficient of r0 changes with epsilon"),
        (lambda e: [(e, 1)] * (1 + (e > 2)), "the number of rows changes with epsilon"),
    ):
        with pytest.raises(md.InputError, match=message):
            Problem(["a", "b"], Bent(1, bent), HammingLoss())


def test_rows_that_exclude_constants_are_infeasible() -> None:
    for row in (("r", {"a": 1}, -1, {"b": 1}), ("r", {"a": 1}, 1, {})):
        with pytest.raises(md.InfeasibleError, match="no channel satisfies row 'r'") as caught:
            Problem(["a", "b"], md.LinearNotion([row]), HammingLoss())
        assert "\n" not in str(caught.value)


def test_labels_of_any_kind() -> None:
    grid = Domain.grid(1, 2)
    for labels in ({(0, 0): 1}, [[[0, 0], 1]], {"(0, 0)": 1}):
        notion = md.LinearNotion([("r", labels, 1, {(0, 1): 1})])
        assert next(notion.family(grid).rows()).left == {0: 1}
        table = notion.stated(grid, None).to_table()
        assert table["rows"][0]["left"] == [[[0, 0], "1"]]
    assert next(md.LinearNotion([("r", {"1": 1}, 1, {2: 1})]).family(Domain([1, 2])).rows())


# --- tampered files -------------------------------------------------------------------------------


def duals_of(document: Any) -> Any:
    return document["certificate"]["multipliers"][0]


TAMPERING: list[tuple[Callable[[Any], Any], str]] = [
    (lambda table: [row.update(slope="0.9") for row in table["rows"]], "not private"),
    (lambda table: table["rows"][0].update(left=[[0, "-1"]]), "a coefficient is below 0"),
    (lambda table: table["rows"][0].update(left=[[7, "1"]]), "not an input of the problem"),
    (lambda table: table["rows"].pop(), "no such row|bound proved|leaks"),
    (lambda table: table["rows"].append(table["rows"][-1]), "two rows .* have the same name"),
    (lambda table: table.pop("epsilon"), "its notion no epsilon"),
]
"""Changes of the stated notion; all others are those of every file."""


@pytest.mark.parametrize(("change", "reason"), TAMPERING)
def test_what_was_changed_is_refused(
    change: Callable[[Any], Any], reason: str, laddered: Solution
) -> None:
    document = as_read(laddered)
    change(document["problem"]["privacy"][0])
    refused(document, reason)


def test_rows_of_other_notions_are_not_known_by_number(laddered: Solution) -> None:
    saved, loss = as_read(laddered), md.Distortion([[0, 1]] * 2 + [[1, 0]] * 2)
    document = as_read(proved(Problem(range(4), LDP(1), loss)))
    block = {**duals_of(saved), "node": [0] * len(duals_of(saved)["x"])}
    document["certificate"] = {**saved["certificate"], "multipliers": [block]}
    refused(document, "no ratio of the inputs")
