"""Secrets behind the input, S -> X -> Y: the notions of Pr(y|s), and laws that they obey.

What a notion asks is written out again from the joint law of S and X, in exact rationals and in
scipy's linear programs; none of it uses the rows of the library.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, strategies as st
from scipy.optimize import linprog

from mechdesign import (
    LDP,
    LIP,
    PML,
    ApproximateLDP,
    AsymmetricLift,
    BayesAccuracy,
    BoundedPriorLIP,
    Channel,
    ContextAwareLDP,
    DifferentialIdentifiability,
    Distortion,
    Domain,
    HammingLoss,
    HighLowLDP,
    InfeasibleError,
    InputError,
    L2Risk,
    MeanAbsoluteError,
    MetricPrivacy,
    MutualInformation,
    MutualInformationLeakage,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    design,
)
from mechdesign.accounting.measure.sensitive_attribute import sensitive_attribute_leakage
from mechdesign.closed_forms import CLOSED_FORMS
from mechdesign.files import load_problem, save
from mechdesign.kernel import verify
from mechdesign.notions import Notion, SensitiveAttribute, SensitiveAttributePrivacy
from mechdesign.notions.non_conic.base import WholeChannelNotion
from mechdesign.repair import repair
from mechdesign.search.presolve.find_symmetries import given_symmetries, symmetries
from tests.strategies import channels, examples, simplex

GIVEN = [["0.9", "0.1"], ["0.2", "0.8"], ["0.4", "0.6"]]
PRIOR = Prior(["0.2", "0.3", "0.5"])
SECRET = SensitiveAttribute(["ill", "well"], given_input=GIVEN)

Joint = list[list[Fraction]]


def joint_of(secret: SensitiveAttribute, prior: Prior) -> Joint:
    return [
        [row[s] * p for row, p in zip(secret.given_input, prior, strict=True)]
        for s in range(len(secret.domain))
    ]


def identity(k: int) -> SensitiveAttribute:
    return SensitiveAttribute(range(k), given_input=np.eye(k, dtype=int).tolist())


def given_secret(channel: Channel, joint: Joint) -> list[list[Fraction]]:
    """Pr(y|s): a list for each output."""
    return [
        [
            sum((p * Fraction(q, channel.denominator) for p, q in zip(row, column, strict=True)))
            / sum(row)
            for row in joint
        ]
        for column in channel.columns()
    ]


def ldp_ratio(channel: Channel, joint: Joint) -> Fraction:
    columns = given_secret(channel, joint)
    return max(max(w) / min(w) for w in columns if any(w))


def lifts(channel: Channel, joint: Joint) -> list[Fraction]:
    masses = [sum(row) for row in joint]
    found = []
    for w in given_secret(channel, joint):
        law = sum(m * v for m, v in zip(masses, w, strict=True))
        found += [v / law for v in w if law]
    return found


@st.composite
def secrets(draw: st.DrawFn, most_inputs: int = 4) -> tuple[SensitiveAttribute, Prior]:
    """A secret of two or three values behind two or more inputs, all with some probability."""
    n, k = draw(st.integers(2, 3)), draw(st.integers(2, most_inputs))
    prior = Prior(draw(simplex(k)))
    rows = [list(draw(simplex(n))) for _ in range(k)]
    assume(all(sum(row[s] * p for row, p in zip(rows, prior, strict=True)) for s in range(n)))
    return SensitiveAttribute([f"s{s}" for s in range(n)], given_input=rows), prior


@st.composite
def cases(draw: st.DrawFn) -> tuple[SensitiveAttribute, Prior, Channel]:
    secret, prior = draw(secrets())
    return secret, prior, draw(channels(len(prior), least=1, most_outputs=3))


# What is asked, by its definition.


@given(cases())
@examples(30)
def test_leakage_is_that_of_the_joint_law(case: tuple[SensitiveAttribute, Prior, Channel]) -> None:
    secret, prior, channel = case
    joint = joint_of(secret, prior)
    all_lifts = lifts(channel, joint)
    wanted = {
        LDP(1): math.log(ldp_ratio(channel, joint)),
        PML(1): math.log(max(all_lifts)),
        LIP(1): max(math.log(max(all_lifts)), -math.log(min(all_lifts))),
    }
    reported = sensitive_attribute_leakage(joint, channel)
    for notion, least in wanted.items():
        found = SensitiveAttributePrivacy(notion, secret).leakage(channel, prior)
        assert found == pytest.approx(least, abs=1e-12)
        assert SensitiveAttributePrivacy(notion.at(found), secret).holds(channel, prior)
        if found > 1e-9:
            below = Fraction(found) - Fraction(1, 10**10)
            assert not SensitiveAttributePrivacy(notion.at(below), secret).holds(channel, prior)
    assert SensitiveAttributePrivacy(LDP(1), secret).leakage(channel, prior) == pytest.approx(
        reported["ldp"].value
    )
    assert SensitiveAttributePrivacy(LIP(1), secret).leakage(channel, prior) == pytest.approx(
        reported["lip"].value, abs=1e-12
    )


@given(cases(), st.sampled_from([LDP("0.3"), LIP("0.2"), PML("0.1"), AsymmetricLift("0.1", "0.3")]))
@examples(30)
def test_rows_matrix_and_violation_say_the_same(
    case: tuple[SensitiveAttribute, Prior, Channel], inner: Notion
) -> None:
    secret, prior, channel = case
    cone = SensitiveAttributePrivacy(inner, secret).cone(Domain.range(len(prior)), prior)
    rows, G = list(cone.rows()), cone.matrix()
    for q in channel.columns():
        excess = []
        for row, line in zip(rows, G.toarray(), strict=True):
            left = sum(w * q[x] for x, w in row.left.items())
            right = sum(w * q[x] for x, w in row.right.items())
            exact = float(left / channel.denominator) * math.exp(-row.exponent)
            exact -= float(right / channel.denominator)
            assert line @ np.array(q, dtype=float) / channel.denominator == pytest.approx(
                exact, abs=1e-14
            )
            excess.append(exact)
        if cone.violation(q) is not None:
            assert max(excess) > -1e-14
            assert str(cone.violation(q)).endswith("of the sensitive attribute")
        else:
            assert max(excess) < 1e-14


# The best channel, by scipy and from the joint law alone.


def least_loss(inner: Notion, joint: Joint, D: np.ndarray) -> float:
    """The linear program in Pr(s, y) and Pr(y), written out."""
    J = np.array([[float(p) for p in row] for row in joint])
    masses, P = J.sum(axis=1), J.sum(axis=0)
    k, m = D.shape
    rows = []
    for y in range(m):
        given = np.zeros((len(J), k * m))  # Pr(y|s) as a row on all Q[x, y], x * m + y
        given[:, y::m] = J / masses[:, None]
        law = np.zeros(k * m)
        law[y::m] = P
        if isinstance(inner, LDP):
            e = math.exp(inner.epsilon)
            rows += [a - e * b for a, b in itertools.permutations(given, 2)]
        else:
            e = math.exp(inner.epsilon)  # type: ignore[attr-defined]
            rows += [a - e * law for a in given]
            if isinstance(inner, LIP):
                rows += [law - e * a for a in given]
    sums = sp.kron(sp.eye_array(k), np.ones((1, m)))
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    result = linprog(
        (P[:, None] * D).ravel(),
        A_ub=np.array(rows),
        b_ub=np.zeros(len(rows)),
        A_eq=sums,
        b_eq=np.ones(k),
        options=options,
    )
    assert result.status == 0
    return float(result.fun)


def asks_no_more(inner: Notion, channel: Channel, joint: Joint) -> None:
    """State the notion by its definition; e**epsilon to the last bits of a float."""
    e = Fraction(math.exp(inner.epsilon)) * (1 + Fraction(1, 10**15))  # type: ignore[attr-defined]
    if isinstance(inner, LDP):
        assert all(max(w) <= e * min(w) for w in given_secret(channel, joint))
    else:
        found = lifts(channel, joint)
        assert max(found) <= e
        assert isinstance(inner, PML) or min(found) >= 1 / e


@given(secrets(), st.data())
@examples(20)
def test_the_optimum_is_that_of_the_definitions(
    case: tuple[SensitiveAttribute, Prior], data: st.DataObject
) -> None:
    secret, prior = case
    k = len(prior)
    kind = data.draw(st.sampled_from([LDP, LIP, PML]))
    inner = kind(data.draw(st.sampled_from(["0.05", "0.2", "0.7", "2"])))
    losses = data.draw(
        st.lists(st.lists(st.integers(0, 9), min_size=k, max_size=k), min_size=k, max_size=k)
    )
    problem = Problem(
        range(k), SensitiveAttributePrivacy(inner, secret), Distortion(losses), prior=prior
    )
    solution = design(problem)
    best = least_loss(inner, joint_of(secret, prior), np.array(losses, dtype=float))
    assert float(solution.value) == pytest.approx(best, rel=1e-8, abs=1e-8)
    assert solution.status == "optimal"
    (claim,) = solution.privacy
    assert Fraction(repr(claim.leakage)) <= inner.epsilon
    asks_no_more(inner, solution.channel, joint_of(secret, prior))
    if claim.leakage > 0.01:
        less = SensitiveAttributePrivacy(
            inner.at(Fraction(claim.leakage) - Fraction(1, 10**6)), secret
        )
        assert not less.holds(solution.channel, prior)


OBJECTIVES: dict[str, Callable[[], object]] = {
    "absolute": MeanAbsoluteError,
    "worst case": lambda: MeanAbsoluteError(worst_case=True),
    "hamming": HammingLoss,
    "posterior mean": lambda: PosteriorMeanSquaredError(values=[0, 1, 5]),
    "histogram": lambda: PosteriorMeanSquaredError(histogram=True),
    "information": MutualInformation,
    "guess": BayesAccuracy,
    "l2-risk": L2Risk,
}

INNER: dict[str, Notion] = {
    "ldp": LDP("0.3"),
    "lip": LIP("0.1"),
    "pml": PML("0.1"),
    "lift": AsymmetricLift("0.2", "0.1"),
    "lift from below": AsymmetricLift("0.2", "inf"),
    "high-low": HighLowLDP("0.2", ["ill"]),
    "context-aware": ContextAwareLDP([[0, "0.2"], ["0.4", 0]]),
    "metric": MetricPrivacy("0.2", [[0, 2], [2, 0]]),
    "identifiability": DifferentialIdentifiability("0.6"),
}


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("inner", INNER)
def test_every_notion_and_objective_is_solved_to_the_optimum(inner: str, objective: str) -> None:
    utility = OBJECTIVES[objective]()
    notion = SensitiveAttributePrivacy(INNER[inner], SECRET)
    solution = design(Problem(range(3), notion, utility, prior=PRIOR))  # type: ignore[arg-type]
    assert solution.status == "optimal"
    assert notion.holds(solution.channel, PRIOR)


@pytest.mark.parametrize("route", ["cvxpy:CLARABEL", "interior", "columns", "linear-program:ipm"])
def test_routes_agree(route: str) -> None:
    problem = Problem(
        range(3), SensitiveAttributePrivacy(LIP("0.1"), SECRET), MeanAbsoluteError(), prior=PRIOR
    )
    best, found = design(problem), design(problem, route=route)
    assert float(found.value) == pytest.approx(float(best.value), rel=1e-6)
    assert float(found.bound or 0) == pytest.approx(float(best.value), rel=1e-6)
    by_decoders = Problem(
        range(3),
        SensitiveAttributePrivacy(LIP("0.1"), SECRET),
        PosteriorMeanSquaredError(),
        prior=PRIOR,
    )
    values = [float(design(by_decoders, route=r).value) for r in ("decoder-grid", "extreme-rays")]
    assert values[0] == pytest.approx(values[1], rel=1e-6)


def test_two_inputs_and_three_secrets() -> None:
    """The universal channel, against the rows of all pairs of secrets."""
    secret = SensitiveAttribute(range(3), given_input=[[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    prior = Prior([0.4, 0.6])
    notion = SensitiveAttributePrivacy(LDP("0.1"), secret)
    solution = design(Problem(range(2), notion, HammingLoss(), prior=prior))
    assert solution.route == "closed-form: binary universal"
    assert solution.status == "optimal"
    best = least_loss(LDP("0.1"), joint_of(secret, prior), 1 - np.eye(2))
    assert float(solution.value) == pytest.approx(best, abs=1e-9)


def test_a_nearly_independent_attribute_is_safe() -> None:
    """No row binds where even the input itself leaks less: the identity is returned, and proved."""
    secret = SensitiveAttribute(
        [0, 1], given_input=[["0.5", "0.5"], ["0.55", "0.45"], ["0.45", "0.55"]]
    )
    problem = Problem(
        range(3), SensitiveAttributePrivacy(LDP(1), secret), HammingLoss(), prior=PRIOR
    )
    solution = design(problem)
    assert (solution.route, solution.value) == ("closed-form: identity", 0)
    assert solution.privacy[0].leakage < 0.3


# The secret that is the input.


@pytest.mark.parametrize(
    "inner",
    [LDP(1), LIP("0.5"), PML("0.7"), AsymmetricLift("0.3", "inf"), MetricPrivacy(1, "absolute")],
)
def test_the_input_as_secret_is_the_plain_notion(inner: Notion) -> None:
    same = SensitiveAttributePrivacy(inner, identity(3))
    domain = Domain.range(3)
    plain, ours = inner.cone(domain, PRIOR), same.cone(domain, PRIOR)
    assert [(r.left, r.exponent, r.right) for r in plain.rows()] == [
        (r.left, r.exponent, r.right) for r in ours.rows()
    ]
    assert (plain.matrix() != ours.matrix()).nnz == 0
    assert np.array_equal(plain.components(), ours.components())
    assert [f.binds() for f in plain.families] == [f.binds() for f in ours.families]
    for utility in (MeanAbsoluteError(), PosteriorMeanSquaredError()):
        one = design(Problem(domain, inner, utility, prior=PRIOR))
        other = design(Problem(domain, same, utility, prior=PRIOR))
        assert float(one.value) == pytest.approx(float(other.value), rel=1e-8)
        assert same.leakage(one.channel, PRIOR) == inner.leakage(one.channel, PRIOR)
        assert same.holds(one.channel, PRIOR)
        assert inner.holds(other.channel, PRIOR)


@pytest.mark.parametrize("inner", [LDP(0), LIP(0), PML(0)])
def test_a_budget_of_zero_ties_inputs_with_different_attributes(inner: Notion) -> None:
    domain = Domain.range(3)
    assert (
        not SensitiveAttributePrivacy(inner, identity(3)).cone(domain, PRIOR).equal_classes().any()
    )
    for k, ties in ((2, [0, 0]), (3, [0, 1, 2])):
        secret = SensitiveAttribute([0, 1], given_input=GIVEN[:k])
        cone = SensitiveAttributePrivacy(inner, secret).cone(Domain.range(k), Prior.uniform(k))
        assert cone.equal_classes().tolist() == ties
    solution = design(
        Problem(domain, SensitiveAttributePrivacy(inner, identity(3)), HammingLoss(), prior=PRIOR)
    )
    assert solution.status == "optimal"
    assert solution.value == Fraction(1, 2)
    with pytest.raises(InfeasibleError, match="rows of 0 and 1 equal"):
        Problem(domain, SensitiveAttributePrivacy(inner, identity(3)), L2Risk(), prior=PRIOR)


@given(secrets(), st.sampled_from([LDP(0), LIP(0), PML(0)]), st.data())
@examples(15)
def test_a_budget_of_zero_makes_the_report_independent_of_the_secret(
    case: tuple[SensitiveAttribute, Prior], inner: Notion, data: st.DataObject
) -> None:
    """Exactly, and at the optimum of the definitions, although Y may tell much of X."""
    secret, prior = case
    k = len(prior)
    losses = data.draw(
        st.lists(st.lists(st.integers(0, 9), min_size=k, max_size=k), min_size=k, max_size=k)
    )
    problem = Problem(
        range(k), SensitiveAttributePrivacy(inner, secret), Distortion(losses), prior=prior
    )
    solution = design(problem)
    joint = joint_of(secret, prior)
    assert all(len(set(w)) == 1 for w in given_secret(solution.channel, joint))
    best = least_loss(LDP(0), joint, np.array(losses, dtype=float))
    assert float(solution.value) == pytest.approx(best, rel=1e-6, abs=1e-8)


def test_the_distribution_is_not_estimated_without_a_trace_of_the_secret() -> None:
    with pytest.raises(InfeasibleError, match="rows of every private channel dependent"):
        Problem(range(3), SensitiveAttributePrivacy(LDP(0), SECRET), L2Risk(), prior=PRIOR)


def test_a_law_of_too_many_digits_falls_back_to_a_channel_that_ignores_its_input() -> None:
    """No grid of whole numbers over 2**62 obeys the equation."""
    fine = [[f"0.{'1234567890123457' * 2}", None], ["0.3", None], ["0.57", None]]
    rows = [[p, str(1 - Fraction(p))] for p, _ in fine]  # type: ignore[arg-type]
    notion = SensitiveAttributePrivacy(LDP(0), SensitiveAttribute([0, 1], given_input=rows))
    solution = design(Problem(range(3), notion, HammingLoss(), prior=PRIOR))
    assert notion.holds(solution.channel, PRIOR)
    assert solution.status == "bounded"


# Laws.


@given(cases())
@examples(30)
def test_linkage(case: tuple[SensitiveAttribute, Prior, Channel]) -> None:
    """A channel that protects X protects every attribute of it."""
    secret, prior, channel = case
    for notion in (LDP(1), LIP(1), PML(1)):
        least = notion.leakage(channel, prior)
        assert SensitiveAttributePrivacy(notion, secret).leakage(channel, prior) <= least + 1e-13
        assert SensitiveAttributePrivacy(notion.at(least), secret).holds(channel, prior)


@given(cases(), st.data())
@examples(25)
def test_post_processing(
    case: tuple[SensitiveAttribute, Prior, Channel], data: st.DataObject
) -> None:
    """Y and then Z = f(Y), at random, tells no more of the secret than Y does."""
    secret, prior, channel = case
    later = data.draw(channels(len(channel.outputs), most_outputs=3))
    after = channel.then(Channel(later.numerators, inputs=channel.outputs, bits=later.bits))
    for notion in (LDP(1), LIP(1), PML(1)):
        about = SensitiveAttributePrivacy(notion, secret)
        assert about.leakage(after, prior) <= about.leakage(channel, prior) + 1e-12


@given(secrets(), st.sampled_from(["0.1", "0.5"]))
@examples(10)
def test_a_secret_asks_for_no_more_than_the_input_does(
    case: tuple[SensitiveAttribute, Prior], epsilon: str
) -> None:
    secret, prior = case
    values = [
        float(design(Problem(range(len(prior)), n, MeanAbsoluteError(), prior=prior)).value)
        for n in (LIP(epsilon), SensitiveAttributePrivacy(LIP(epsilon), secret))
    ]
    assert values[1] <= values[0] + 1e-9


# Repair.


@given(secrets(), st.sampled_from([LDP("0.1"), LIP("0.05"), PML("0.01")]), st.integers(0, 10**6))
@examples(30)
def test_any_matrix_is_repaired(
    case: tuple[SensitiveAttribute, Prior], inner: Notion, seed: int
) -> None:
    """To an exactly private channel, and one that is private already by a little only."""
    secret, prior = case
    k = len(prior)
    notion = SensitiveAttributePrivacy(inner, secret)
    cone = notion.cone(Domain.range(k), prior)
    raw = np.random.default_rng(seed).dirichlet(np.ones(k), size=k)
    numerators, _ = repair(cone, raw)
    channel = Channel(numerators)
    assert notion.holds(channel, prior)
    again, _ = repair(cone, channel.matrix)
    assert np.abs(again / 2.0**62 - channel.matrix).max() <= 1e-12


@given(
    cases(), st.sampled_from([LDP("0.1"), LIP("0.1"), PML("0.05"), AsymmetricLift("0.1", "0.2")])
)
@examples(30)
def test_the_raise_needed_is_the_least(
    case: tuple[SensitiveAttribute, Prior, Channel], inner: Notion
) -> None:
    secret, prior, channel = case
    family = SensitiveAttributePrivacy(inner, secret).family(Domain.range(len(prior)), prior)
    for column in channel.columns():
        ones = [1] * len(column)
        t = family.raise_needed(column, ones)
        assert t is not None
        assert family.violation([q + t for q in column]) is None
        assert t == 0 or family.violation([q + t - 1 for q in column]) is not None
        some = [1, *[0] * (len(column) - 1)]
        u = family.raise_needed(column, some)
        if u is not None:
            assert family.violation([q + u * d for q, d in zip(column, some, strict=True)]) is None


def test_support_and_groups_of_inputs() -> None:
    """Two groups of inputs, each with two secrets that only its inputs have."""
    rows = [["1/2", "1/2", 0, 0], ["1/4", "3/4", 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    secret = SensitiveAttribute(["a", "b", "c", "d"], given_input=rows)
    E = [[0, 1, "inf", "inf"], [1, 0, "inf", "inf"], ["inf", "inf", 0, 1], ["inf", "inf", 1, 0]]
    notion, prior = SensitiveAttributePrivacy(ContextAwareLDP(E), secret), Prior.uniform(4)
    cone = notion.cone(Domain.range(4), prior)
    assert cone.components().tolist() == [0, 0, 1, 1]
    (family,) = cone.families
    given_first = np.array([[True], [False], [False], [False]])
    assert family.support(given_first).ravel().tolist() == [True, False, False, False]
    given_third = np.array([[False], [False], [True], [False]])
    assert family.support(given_third).ravel().tolist() == [False, False, True, True]
    part = cone.restricted(np.array([2, 3]))
    assert part.violation([3, 1]) is not None
    assert part.violation([2, 1]) is None
    problem = Problem(range(4), notion, HammingLoss(), prior=prior)
    solution = design(problem)
    assert solution.status == "optimal"
    assert "2 groups that share no row" in " ".join(solution.notes)


def test_an_input_that_never_occurs_is_free() -> None:
    prior = Prior([0.4, 0.6, 0])
    secret = SensitiveAttribute([0, 1], given_input=[[0.1, 0.9], [0.3, 0.7], [1, 0]])
    problem = Problem(
        range(3), SensitiveAttributePrivacy(LIP("0.1"), secret), HammingLoss(), prior=prior
    )
    solution = design(problem)
    assert solution.status == "optimal"
    worth = least_loss(LIP("0.1"), [row[:2] for row in joint_of(secret, prior)], 1 - np.eye(2))
    assert float(solution.value) == pytest.approx(worth, abs=1e-9)


# The code that knows plain notions.


def test_no_formula_takes_it_for_the_plain_notion() -> None:
    """On three inputs, uniform, where most formulas apply to the notions about X."""
    secret = SensitiveAttribute([0, 1], given_input=GIVEN)
    for inner in (LDP(1), LIP(1), PML("0.1"), HighLowLDP(1, [0])):
        notion = SensitiveAttributePrivacy(inner, secret)
        for utility in (HammingLoss(), MutualInformation(), L2Risk()):
            plain = Problem(range(3), inner, utility, prior=Prior.uniform(3))
            ours = Problem(range(3), notion, utility, prior=Prior.uniform(3))
            assert plain.sole_notion(type(inner)) is inner
            assert ours.sole_notion(type(inner)) is None
            holding = [form.name for form in CLOSED_FORMS if form.decide(ours).holds]
            assert set(holding) <= {"identity"}


def test_symmetries_are_not_taken_from_the_rest_of_the_problem() -> None:
    problem = Problem(
        range(3),
        SensitiveAttributePrivacy(LDP("0.2"), SECRET),
        HammingLoss(),
        prior=Prior.uniform(3),
    )
    assert symmetries(problem) is None
    with pytest.raises(InputError, match="no symmetries are known of the rows of ldp"):
        given_symmetries(problem, [[1, 0, 2]])


def test_intersections() -> None:
    both = [SensitiveAttributePrivacy(LIP("0.1"), SECRET), LDP(2)]
    solution = design(Problem(range(3), both, HammingLoss(), prior=PRIOR))
    assert solution.status == "optimal"
    assert all(n.holds(solution.channel, PRIOR) for n in both)
    alone = [design(Problem(range(3), n, HammingLoss(), prior=PRIOR)).value for n in both]
    assert solution.value >= max(alone) - Fraction(1, 10**9)
    information = design(Problem(range(3), both, MutualInformation(), prior=PRIOR))
    assert information.status == "optimal"


BESIDE: dict[str, Notion] = {
    "information": MutualInformationLeakage("0.1"),
    "approximate": ApproximateLDP(1, "0.05"),
    "lip": LIP(1),
    "ldp": LDP(1),
    "metric": MetricPrivacy(1, "absolute"),
    "priors": BoundedPriorLIP(1, center=["1/3", "1/3", "1/3"], radius="0.1"),
    "tied": ContextAwareLDP([[0, 0, 1], [1, 0, 1], [1, 1, 0]]),
}


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("inner", [LIP("0.1"), LDP(1), LDP(0)], ids=repr)
def test_beside_any_notion_of_the_input(beside: str, inner: Notion, tmp_path: Path) -> None:
    """What is known of the other notion alone, formulas and boxes, is used where it holds only."""
    about, other = SensitiveAttributePrivacy(inner, SECRET), BESIDE[beside]
    uniform = Prior.uniform(3)
    for utility in (HammingLoss(), BayesAccuracy(), MutualInformation()):
        if isinstance(other, WholeChannelNotion) and isinstance(utility, MutualInformation):
            continue  # refused beside notions about the whole channel
        solution = design(Problem(range(3), [about, other], utility, prior=uniform))
        assert solution.status == "optimal"
        assert about.holds(solution.channel, uniform)
        assert other.holds(solution.channel, uniform)
        save(solution, tmp_path / "channel.json")
        verify(json.loads((tmp_path / "channel.json").read_text(encoding="utf-8")))


# Stating it.


def test_both_forms_of_the_joint_law_are_one() -> None:
    joint = joint_of(SECRET, PRIOR)
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
    problem = Problem(range(3), notion, HammingLoss(), prior=PRIOR)
    assert problem.at("0.5").privacy == (SensitiveAttributePrivacy(LIP("0.5"), SECRET),)
    with pytest.raises(InputError, match="one notion with an epsilon"):
        Problem(
            range(3),
            SensitiveAttributePrivacy(AsymmetricLift(1, 1), SECRET),
            HammingLoss(),
            prior=PRIOR,
        ).at(1)


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
    with pytest.raises(InputError, match=MISTAKES[mistake]):
        read(tmp_path, mistake)


def test_the_prior_is_needed() -> None:
    with pytest.raises(InputError, match="prior: ldp is defined by a prior"):
        Problem(range(3), SensitiveAttributePrivacy(LDP(1), SECRET), HammingLoss())


@pytest.mark.parametrize(
    "inner",
    [
        ApproximateLDP(1, "0.1"),
        BoundedPriorLIP(1, lower=[0, 0], upper=[1, 1]),
        SensitiveAttributePrivacy(LDP(1), SECRET),
    ],
)
def test_notions_that_cannot_be_about_a_secret(inner: Notion) -> None:
    with pytest.raises(InputError, match="notion: expected a notion about single outputs"):
        SensitiveAttributePrivacy(inner, SECRET)


def test_labels_that_the_notion_names_are_secrets() -> None:
    with pytest.raises(InputError, match=r"privacy.sensitive: .*'ill', 'well'"):
        Problem(
            range(3),
            SensitiveAttributePrivacy(HighLowLDP(1, [0]), SECRET),
            HammingLoss(),
            prior=PRIOR,
        )
