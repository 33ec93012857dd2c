"""Secrets behind the input, S -> X -> Y: the notions of Pr(y|s), and laws that they obey.

What a notion asks is written out again from the joint law of S and X, in exact rationals and in
scipy's linear programs; none of it uses the rows of the library. Its meaning, leakage, rows and
repair are tested with those of all notions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import LDP, LIP, PML, HammingLoss, HighLowLDP, InputError, Prior, Problem, design
from mechdesign.closed_forms import CLOSED_FORMS
from mechdesign.files import load_problem
from mechdesign.kernel import verify
from mechdesign.notions import Cone, Notion, SensitiveAttribute, SensitiveAttributePrivacy
from mechdesign.notions.non_conic import WholeChannelNotion
from mechdesign.search.presolve.symmetry import given_symmetries, symmetries
from mechdesign.utilities import EstimationRisk, Utility
from solvers.direct_lp import solve as direct_lp
from solvers.vertices import solve as vertices
from tests.documents import as_read, proved
from tests.refusals_support import check_refused
from tests.strategies import (
    ATTRIBUTES,
    Case,
    cases,
    channels,
    decimal,
    distortions,
    epsilon_of,
    examples,
    leakage,
    lp_optimum,
    simplex,
)

GIVEN = [["0.9", "0.1"], ["0.2", "0.8"], ["0.4", "0.6"]]
PRIOR = Prior(["0.2", "0.3", "0.5"])
SECRET = SensitiveAttribute(["ill", "well"], given_input=GIVEN)


def identity(k: int) -> SensitiveAttribute:
    return SensitiveAttribute(range(k), given_input=np.eye(k, dtype=int).tolist())


# The best channel, by scipy and from the joint law alone.


@pytest.mark.parametrize("kind", ATTRIBUTES)
@examples(12)
@given(st.data())
def test_the_optimum_is_that_of_the_definitions(kind: str, data: st.DataObject) -> None:
    """Also at a budget of 0, where the report is exactly independent of the attribute."""
    case = data.draw(cases((kind,), least="0.05"))
    own = [case] if case.at is None else [case, replace(case, notion=case.at(Fraction(0)))]
    for stated in own:
        utility = data.draw(distortions(len(case.domain), worst_case=False))
        problem = Problem(case.domain, stated.notion, utility, prior=case.prior)
        solution = proved(problem)
        best = lp_optimum(problem).value
        assert float(solution.value) == pytest.approx(best, rel=1e-6, abs=1e-8)
        assert leakage(stated, solution.channel) <= decimal(epsilon_of(stated.notion))


UTILITIES: list[Utility] = [
    HammingLoss(),
    md.MutualInformation(),
    md.MeanAbsoluteError(),
    md.MeanAbsoluteError(worst_case=True),
    md.BayesAccuracy(),
    md.PosteriorMeanSquaredError(),
    md.PosteriorMeanSquaredError(histogram=True),
    md.L2Risk(),
    md.TVRisk(),
]
INNER: list[Notion] = [
    LIP("0.1"),
    LDP("0.3"),
    PML("0.1"),
    md.AsymmetricLift("0.2", "0.1"),
    md.AsymmetricLift("0.2", "inf"),
    HighLowLDP("0.2", ["ill"]),
    md.ContextAwareLDP([[0, "0.2"], ["0.4", 0]]),
    md.MetricPrivacy("0.2", [[0, 2], [2, 0]]),
    md.DifferentialIdentifiability("0.6"),
]


def about(
    inner: Notion, utility: Any, prior: Any = PRIOR, secret: SensitiveAttribute = SECRET
) -> Problem:
    notion = SensitiveAttributePrivacy(inner, secret)
    return Problem(range(len(prior)), notion, utility, prior=prior)


@pytest.mark.parametrize(
    ("inner", "utility"),
    [
        *((inner, utility) for inner in INNER for utility in UTILITIES[:2]),
        *((INNER[0], utility) for utility in UTILITIES[2:8]),
    ],
    ids=repr,
)
def test_every_notion_and_objective_is_solved_to_the_optimum(
    inner: Notion, utility: Utility
) -> None:
    proved(about(inner, utility))


@pytest.mark.parametrize("route", ["cvxpy:CLARABEL", "interior", "columns", "linear-program:ipm"])
def test_routes_agree(route: str) -> None:
    problem = about(LIP("0.1"), md.MeanAbsoluteError())
    best, found = design(problem), design(problem, route=route)
    assert float(found.value) == pytest.approx(float(best.value), rel=1e-6)
    assert float(found.bound or 0) == pytest.approx(float(best.value), rel=1e-6)


def test_a_nearly_independent_attribute_is_safe() -> None:
    """No row binds where even the input itself leaks less: the identity is returned, and proved."""
    law = [["0.5", "0.5"], ["0.55", "0.45"], ["0.45", "0.55"]]
    secret = SensitiveAttribute([0, 1], given_input=law)
    solution = design(about(LDP(1), HammingLoss(), secret=secret))
    assert (solution.route, solution.value) == ("closed-form: identity", 0)
    assert solution.privacy[0].leakage < 0.3


# The secret that is the input.


@pytest.mark.parametrize(
    "inner",
    [
        LDP(1),
        LIP("0.5"),
        PML("0.7"),
        md.AsymmetricLift("0.3", "inf"),
        md.MetricPrivacy(1, "absolute"),
    ],
)
def test_the_input_as_secret_is_the_plain_notion(inner: Notion) -> None:
    same = SensitiveAttributePrivacy(inner, identity(3))
    domain = md.Domain.range(3)
    plain, ours = inner.cone(domain, PRIOR), same.cone(domain, PRIOR)
    assert [(r.left, r.exponent, r.right) for r in plain.rows()] == [
        (r.left, r.exponent, r.right) for r in ours.rows()
    ]
    assert (plain.matrix() != ours.matrix()).nnz == 0
    assert np.array_equal(plain.components(), ours.components())
    assert [f.binds() for f in plain.families] == [f.binds() for f in ours.families]
    for utility in (md.MeanAbsoluteError(), md.PosteriorMeanSquaredError()):
        one = design(Problem(domain, inner, utility, prior=PRIOR))
        other = design(Problem(domain, same, utility, prior=PRIOR))
        assert float(one.value) == pytest.approx(float(other.value), rel=1e-8)
        assert same.leakage(one.channel, PRIOR) == inner.leakage(one.channel, PRIOR)
        assert same.holds(one.channel, PRIOR)
        assert inner.holds(other.channel, PRIOR)


@pytest.mark.parametrize("inner", [LDP(0), LIP(0), PML(0)])
def test_a_budget_of_zero_ties_inputs_with_different_attributes(inner: Notion) -> None:
    for k, secret, ties in (
        (3, identity(3), [0, 0, 0]),
        (2, SensitiveAttribute([0, 1], given_input=GIVEN[:2]), [0, 0]),
        (3, SensitiveAttribute([0, 1], given_input=GIVEN), [0, 1, 2]),
    ):
        cone = SensitiveAttributePrivacy(inner, secret).cone(md.Domain.range(k), Prior.uniform(k))
        assert cone.equal_classes().tolist() == ties
    solution = proved(about(inner, HammingLoss(), secret=identity(3)))
    assert solution.value == Fraction(1, 2)


def test_a_law_of_too_many_digits_falls_back_to_a_channel_that_ignores_its_input() -> None:
    """No grid of whole numbers over 2**62 obeys the equation."""
    fine = (f"0.{'1234567890123457' * 2}", "0.3", "0.57")
    law = [[p, str(1 - Fraction(p))] for p in fine]
    problem = about(LDP(0), HammingLoss(), secret=SensitiveAttribute([0, 1], given_input=law))
    solution = design(problem)
    assert problem.privacy[0].holds(solution.channel, PRIOR)
    assert solution.status == "bounded"


@examples(30)
@given(cases(ATTRIBUTES), st.data())
def test_linkage(case: Case, data: st.DataObject) -> None:
    """A channel that protects X protects every attribute of it."""
    own, channel = case.notion, data.draw(channels(len(case.domain), 1, 3))
    inner = own.notion
    assert own.leakage(channel, case.prior) <= inner.leakage(channel, case.prior) + 1e-13


def test_support_and_groups_of_inputs() -> None:
    """Two groups of inputs, each with two secrets that only its inputs have."""
    rows = [["1/2", "1/2", 0, 0], ["1/4", "3/4", 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    secret = SensitiveAttribute(["a", "b", "c", "d"], given_input=rows)
    E = [[0, 1, "inf", "inf"], [1, 0, "inf", "inf"], ["inf", "inf", 0, 1], ["inf", "inf", 1, 0]]
    notion, prior = SensitiveAttributePrivacy(md.ContextAwareLDP(E), secret), Prior.uniform(4)
    cone = notion.cone(md.Domain.range(4), prior)
    assert cone.components().tolist() == [0, 0, 1, 1]
    (family,) = cone.families
    given_first = np.array([[True], [False], [False], [False]])
    assert family.support(given_first).ravel().tolist() == [True, False, False, False]
    given_third = np.array([[False], [False], [True], [False]])
    assert family.support(given_third).ravel().tolist() == [False, False, True, True]
    part = cone.restricted(np.array([2, 3]))
    assert part.violation([3, 1]) is not None
    assert part.violation([2, 1]) is None
    solution = proved(Problem(range(4), notion, HammingLoss(), prior=prior))
    assert "2 groups that share no row" in " ".join(solution.notes)


def test_an_input_that_never_occurs_is_free() -> None:
    secret = SensitiveAttribute([0, 1], given_input=[[0.1, 0.9], [0.3, 0.7], [1, 0]])
    problem = about(LIP("0.1"), HammingLoss(), Prior([0.4, 0.6, 0]), secret)
    assert float(proved(problem).value) == pytest.approx(lp_optimum(problem).value, abs=1e-9)


# The code that knows plain notions.


def test_no_formula_takes_it_for_the_plain_notion() -> None:
    """On three inputs, uniform, where most formulas apply to the notions about X."""
    secret, uniform = SensitiveAttribute([0, 1], given_input=GIVEN), Prior.uniform(3)
    for inner in (LDP(1), LIP(1), PML("0.1"), HighLowLDP(1, [0])):
        for utility in (HammingLoss(), md.L2Risk()):
            plain = Problem(range(3), inner, utility, prior=uniform)
            ours = about(inner, utility, uniform, secret)
            assert plain.sole_notion(type(inner)) is inner
            assert ours.sole_notion(type(inner)) is None
            holding = [form.name for form in CLOSED_FORMS if form.holds(ours)]
            assert set(holding) <= {"identity"}


def test_symmetries_are_not_taken_from_the_rest_of_the_problem() -> None:
    problem = about(LDP("0.2"), HammingLoss(), Prior.uniform(3))
    assert symmetries(problem) is None
    with pytest.raises(InputError, match="no symmetries are known of the rows of ldp"):
        given_symmetries(problem, [[1, 0, 2]])


BESIDE: list[Notion] = [
    md.MutualInformationLeakage("0.1"),
    md.ApproximateLDP(1, "0.05"),
    LIP(1),
    LDP(1),
    md.MetricPrivacy(1, "absolute"),
    md.BoundedPriorLIP(1, center=["1/3", "1/3", "1/3"], radius="0.1"),
    md.ContextAwareLDP([[0, 0, 1], [1, 0, 1], [1, 1, 0]]),
]


@pytest.mark.parametrize("beside", BESIDE, ids=repr)
@pytest.mark.parametrize("inner", [LIP("0.1"), LDP(1), LDP(0)], ids=repr)
def test_beside_any_notion_of_the_input(beside: Notion, inner: Notion) -> None:
    """What is known of the other notion alone, formulas and boxes, is used where it holds only."""
    # notions about the whole channel refuse information beside them
    utility = HammingLoss() if isinstance(beside, WholeChannelNotion) else md.MutualInformation()
    own = SensitiveAttributePrivacy(inner, SECRET)
    proved(Problem(range(3), [own, beside], utility, prior=Prior.uniform(3)))


# Stating it.


def test_both_forms_of_the_joint_law_are_one() -> None:
    rows = zip(SECRET.given_input, PRIOR, strict=True)
    joint = list(zip(*([p * v for v in row] for row, p in rows), strict=True))
    other = SensitiveAttribute(["ill", "well"], joint=joint)
    assert other == SECRET
    assert hash(other) == hash(SECRET)
    assert other != SensitiveAttribute(["ill", "well"], given_input=[[1, 0], [0, 1], [0, 1]])
    assert SensitiveAttributePrivacy(LIP(1), other) == SensitiveAttributePrivacy(LIP(1), SECRET)
    assert SensitiveAttributePrivacy(LIP(1), SECRET) != LIP(1)
    masses, laws = SECRET.distributions(PRIOR)
    assert list(masses) == [sum(row) for row in joint]
    assert all(sum(law) == 1 for law in laws)


def test_the_table_makes_the_notion_again() -> None:
    notion = SensitiveAttributePrivacy(LIP("0.3"), SECRET)
    table = notion.to_table()
    assert table["secret"]["given_input"][0] == ["0.9", "0.1"]
    again = SensitiveAttributePrivacy(LIP(table["epsilon"]), table["secret"])
    assert again == notion
    assert repr(notion).startswith("SensitiveAttributePrivacy(LIP(epsilon=0.3")
    assert notion.at("0.5") == SensitiveAttributePrivacy(LIP("0.5"), SECRET)
    problem = about(LIP("0.3"), HammingLoss())
    assert problem.at("0.5").privacy == (SensitiveAttributePrivacy(LIP("0.5"), SECRET),)


FILE = """
[domain]
size = 3
[prior]
probabilities = [0.2, 0.3, 0.5]
[privacy]
notion = "lip"
epsilon = 0.1
{secret}
[utility]
objective = "hamming"
"""


def read(folder: Path, secret: str) -> Problem:
    file = folder / "problem.toml"
    file.write_text(FILE.format(secret=secret), encoding="utf-8")
    return load_problem(file)


def test_a_problem_file_states_it(tmp_path: Path) -> None:
    forms = [
        'secret = { values = ["ill", "well"], given_input = [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]] }',
        'secret = { values = ["ill", "well"], joint = [[0.18, 0.06, 0.2], [0.02, 0.24, 0.3]] }',
    ]
    forms += [form.replace("secret", "sensitive_attribute", 1) for form in forms]
    for form in forms:
        assert read(tmp_path, form).privacy == (SensitiveAttributePrivacy(LIP("0.1"), SECRET),)


MISTAKES = {
    "secret = 3": "privacy.secret: expected a table",
    "secret = { given_input = [[1]] }": "privacy.secret.values: this key is required",
    'secret = { values = ["a"], given = [[1]] }': "privacy.secret.given: .*given_input",
    'secret = { values = ["a"] }': "privacy.secret.given_input: give exactly one",
    'secret = { values = ["a", "a"], given_input = [[1, 0]] }': "privacy.secret.values: .*twice",
    'secret = { values = ["a", "b"], given_input = [[1, 0], [0, 1]] }': (
        "privacy.secret.given_input: expected 3 rows, one for each input, given 2 rows"
    ),
    'secret = { values = ["a", "b"], given_input = [[1, 0], [0, 0.9], [0, 1]] }': (
        r"privacy.secret.given_input\[1\]: expected numbers that sum to 1, given sum 0.9"
    ),
    'secret = { values = ["a", "b"], given_input = [[1], [0], [1]] }': (
        r"privacy.secret.given_input\[0\]: expected 2 probabilities, one for each value"
    ),
    'secret = { values = ["a", "b"], given_input = [[1, "x"], [0, 1], [0, 1]] }': (
        r"privacy.secret.given_input\[0\]\[1\]: expected a finite number"
    ),
    'secret = { values = ["a", "b"], given_input = [[2, -1], [0, 1], [0, 1]] }': (
        r"privacy.secret.given_input\[0\]\[1\]: expected a finite number >= 0"
    ),
    'secret = { values = ["a", "b"], given_input = [[1, 0], [1, 0], [1, 0]] }': (
        r"privacy.secret.values\[1\]: expected values of positive probability, given 'b' with 0"
    ),
    'secret = { values = ["a", "b"], joint = [[0.2, 0.3, 0.5]] }': (
        "privacy.secret.joint: expected 2 rows, one for each value"
    ),
    'secret = { values = ["a", "b"], joint = [[0.2, 0.3, 0.1], [0, 0, 0.3]] }': (
        "privacy.secret.joint: expected numbers that sum to 1"
    ),
    'secret = { values = ["a", "b"], joint = [[0.2, 0.3, 0.2], [0, 0.3]] }': (
        r"privacy.secret.joint\[1\]: expected as many numbers in each row"
    ),
    'secret = { values = ["a", "b"], joint = [[0.3, 0.1, 0.2], [0, 0.1, 0.3]] }': (
        "privacy.secret.joint: .*sum over the values to the prior, 0.2 of input 0, given sum 0.3"
    ),
    "secret = {}\nsensitive_attribute = {}": "privacy.secret: .*exclude each other",
    'sensitive_attribute = { values = ["a", "a"], given_input = [[1, 0]] }': (
        "privacy.sensitive_attribute.values: .*twice"
    ),
    "secrt = 1": "privacy.secrt: .*secret",
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake: str, tmp_path: Path) -> None:
    check_refused(MISTAKES[mistake], read, tmp_path, mistake)


TIE = md.ContextAwareLDP([[0, "inf", "inf"], ["inf", 0, 0], ["inf", "inf", 0]])
"""Of three values, the second is never likelier than the third."""

THREE = SensitiveAttribute(["a", "b", "c"], [["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"]])

INVALID: list[tuple[Callable[[], object], str]] = [
    *(
        (
            lambda inner=inner: about(inner, HammingLoss()),
            "notion: .* a notion about single outputs",
        )
        for inner in (
            md.ApproximateLDP(1, "0.1"),
            BESIDE[5],
            SensitiveAttributePrivacy(LDP(1), SECRET),
        )
    ),
    (lambda: SensitiveAttributePrivacy(cast(Any, 1), SECRET), "notion: .* a notion about single"),
    (lambda: about(HighLowLDP(1, [0]), HammingLoss()), r"privacy.sensitive: .*'ill', 'well'"),
    (lambda: about(md.AsymmetricLift(1, 1), HammingLoss()).at(1), "one notion with an epsilon"),
    (
        lambda: Problem(range(3), about(LDP(1), md.TVRisk()).privacy, md.TVRisk()),
        "prior: ldp is defined",
    ),
]

TIED: list[tuple[Notion, SensitiveAttribute, Any, str]] = [
    *((inner, identity(3), PRIOR, "rows of 0 and 1 equal") for inner in (LDP(0), LIP(0), PML(0))),
    (TIE, THREE, ["0.4", "0.6"], "equal"),
    (LDP(0), SECRET, PRIOR, "rows of every private channel dependent"),  # no trace of it is left
]


@pytest.mark.parametrize(("call", "match"), INVALID)
def test_notions_that_cannot_be_about_a_secret_are_refused(
    call: Callable[[], object], match: str
) -> None:
    check_refused(match, call)


@pytest.mark.parametrize(("inner", "secret", "prior", "match"), TIED, ids=repr)
def test_the_distribution_is_not_estimated_through_ties(
    inner: Notion, secret: SensitiveAttribute, prior: Any, match: str
) -> None:
    with pytest.raises(md.InfeasibleError, match=match):
        about(inner, md.L2Risk(), prior, secret)


def test_rows_of_ones_own_keep_their_exponents_on_the_attribute() -> None:
    """An exponent a + b epsilon that is not proportional to epsilon."""
    rows = [(f"{a} {b}", {a: 1}, "0.5", {b: 1}, 1) for a, b in (("u", "v"), ("v", "u"))]
    same = SensitiveAttribute(["u", "v"], given_input=[[1, 0], [0, 1]])
    notion = SensitiveAttributePrivacy(md.LinearNotion(rows, epsilon=2), same)
    for odds, private in (("11", True), ("13", False)):  # e**2.5 is 12.2
        p = Fraction(odds) / (1 + Fraction(odds))
        channel = md.Channel.from_matrix([[p, 1 - p], [1 - p, p]])
        assert notion.holds(channel, Prior.uniform(2)) == private


# Notions that tie only some values of the attribute, against the definitions: more values than
# inputs, zeros in P(s|x), inputs that never occur or that the attribute cannot tell apart, budgets
# of 0 and of inf, and two notions at once.

entries = st.sampled_from(["inf", "inf", "0", "0.1", "0.5", "3"])
budgets = st.sampled_from(["0", "0.1", "0.5", "3"])


@st.composite
def inner_notions(draw: st.DrawFn, n: int) -> Notion:
    epsilon, member = draw(budgets), draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    matrix = [[0 if s == t else draw(entries) for t in range(n)] for s in range(n)]
    blocks = [[s for s in range(n) if member[s] == b] for b in sorted(set(member))]
    return draw(
        st.sampled_from(
            [
                md.ContextAwareLDP(matrix),
                md.ContextAwareLDP(matrix),
                HighLowLDP(epsilon, blocks[0]),
                md.BlockLDP(epsilon, blocks),
                md.MetricPrivacy(epsilon, "absolute"),
                md.AsymmetricLift(draw(entries), draw(entries)),
                LDP(epsilon),
                LIP(epsilon),
                PML(epsilon),
            ]
        )
    )


@st.composite
def problems(draw: st.DrawFn) -> Problem | str:
    """A problem, or why there is none."""
    k = draw(st.integers(1, 4))
    notions = []
    for _ in range(draw(st.sampled_from([1, 1, 1, 2]))):
        n = draw(st.integers(1, 5))
        law = [draw(simplex(n)) for _ in range(k)]
        attribute = SensitiveAttribute(range(n), given_input=law)
        notions.append(SensitiveAttributePrivacy(draw(inner_notions(n)), attribute))
    utility = draw(st.sampled_from(UTILITIES))
    try:
        return Problem(range(k), notions, utility, prior=draw(simplex(k)))
    except (InputError, md.InfeasibleError) as error:
        return str(error)


@given(problems())
@examples(20)
def test_every_problem_is_solved_or_refused(problem: Problem | str) -> None:
    if isinstance(problem, str):
        assert "\n" not in problem
        return
    solution = design(problem)
    assert all(notion.holds(solution.channel, problem.prior) for notion in problem.privacy)
    verify(as_read(solution))
    if not isinstance(problem.utility, EstimationRisk):
        textbook = vertices if isinstance(problem.utility, md.ColumnUtility) else direct_lp
        assert float(solution.value) == pytest.approx(textbook(problem).value, rel=2e-6, abs=1e-7)


@pytest.mark.parametrize(
    "utility",
    [HammingLoss(), md.MutualInformation(), md.BayesAccuracy(), md.PosteriorMeanSquaredError()],
)
def test_one_tie_of_two_values_leaves_two_inputs_a_constant_channel(utility: Utility) -> None:
    solution = proved(about(TIE, utility, ["0.4", "0.6"], THREE))
    assert len(set(solution.channel.numerators[:, 0].tolist())) == 1


def test_two_notions_together_tie_inputs_that_neither_ties_alone() -> None:
    """Each asks for one equation on three inputs; the two leave only constant columns."""
    laws = (
        [["1/2", "1/2"], ["1/4", "3/4"], ["1/3", "2/3"]],
        [[1, 0], ["1/2", "1/2"], ["1/4", "3/4"]],
    )
    prior = [Fraction(1, 3)] * 3
    notions = [SensitiveAttributePrivacy(LDP(0), SensitiveAttribute([0, 1], law)) for law in laws]
    cones = [Problem(range(3), notion, HammingLoss(), prior=prior).cone for notion in notions]
    assert [cone.equal_classes().tolist() for cone in cones] == [[0, 1, 2]] * 2
    assert all(cone.flat_basis() is not None for cone in cones)
    both = Cone([family for cone in cones for family in cone.families])
    assert (both.equal_classes().tolist(), both.flat_basis()) == ([0, 0, 0], None)
    solution = proved(Problem(range(3), notions, HammingLoss(), prior=prior))
    assert solution.route == "closed-form: independent release"
    assert solution.value == Fraction(2, 3)
