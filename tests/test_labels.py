"""Labels decide, never positions: numbers that carry labels are aligned by them, or refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import Domain, InputError, Prior, Problem
from mechdesign.accounting import privacy_profile
from mechdesign.accounting.channel_leakage import (
    sensitive_attribute_channel,
    sensitive_attribute_leakage,
)
from mechdesign.accounting.composition import compose_sequence
from mechdesign.accounting.priors import prior_ball, prior_mismatch, robust_problem, total_variation
from mechdesign.estimation import mean
from tests.strategies import examples

INPUTS = ["flu", "healthy", "rare"]
OUTPUTS = ["low", "high", "none", "refused"]
P = [0.27, 0.7, 0.03]
VALUES = [1, 0, 5]
LOSSES = [[0, 1, 2, 3], [4, 0, 5, 6], [7, 8, 0, "1/3"]]
BUDGETS = [[0, 1, 2], ["inf", 0, "1/2"], [1.5, 3, 0]]
DISTANCES = [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
JOINT = [[0.2, 0.1, 0.02], [0.07, 0.6, 0.01]]

orders = st.permutations(range(3))
vectors = st.sampled_from(["series", "dict", "counter of text"])


def vector(numbers: list[Any], order: list[int], kind: str) -> Any:
    pairs = [(INPUTS[x], numbers[x]) for x in order]
    if kind == "series":
        return pd.Series([n for _, n in pairs], index=[label for label, _ in pairs], dtype=object)
    return {label: n if kind == "dict" else str(n) for label, n in pairs}


def matrix(numbers: list[list[Any]], rows: list[Any], columns: list[Any], how: Any) -> Any:
    """Return a matrix by label, its rows and columns drawn in any order."""
    draw: Callable[[Any], Any] = how.draw
    x, y = draw(st.permutations(range(len(rows)))), draw(st.permutations(range(len(columns))))
    if draw(st.booleans()):
        found = pd.DataFrame(numbers, index=rows, columns=columns, dtype=object)
        return found.iloc[x, y]
    table = {}
    for i in x:
        z = draw(st.permutations(range(len(columns))))
        table[rows[i]] = {columns[j]: numbers[i][j] for j in z}
    return table


def same(a: Problem, b: Problem) -> None:
    assert a.to_table() == b.to_table()
    assert str(a.to_table()) == str(b.to_table())
    assert a.prior == b.prior
    assert hash(a.privacy) == hash(b.privacy)


@examples(8)
@given(order=orders, kind=vectors)
def test_a_prior_in_any_order_is_the_same_problem(order: list[int], kind: str) -> None:
    wanted = Problem(INPUTS, md.LIP(2), md.HammingLoss(), prior=P)
    given_prior = vector(P, order, kind)
    same(Problem(INPUTS, md.LIP(2), md.HammingLoss(), prior=given_prior), wanted)
    same(Problem(INPUTS, md.LIP(2), md.HammingLoss(), prior=Prior(given_prior)), wanted)
    counts = Prior.from_counts(vector([27, 70, 3], order, kind))
    same(Problem(INPUTS, md.LIP(2), md.HammingLoss(), prior=counts), wanted)
    records = ["healthy"] * 70 + ["flu"] * 27 + ["rare"] * 3
    from_data = Prior.from_data(pd.Series(records), Domain([INPUTS[x] for x in order]))
    same(Problem(INPUTS, md.LIP(2), md.HammingLoss(), prior=from_data), wanted)
    assert pickle.loads(pickle.dumps(counts)) == counts


@examples(8)
@given(order=orders, kind=vectors)
def test_values_in_any_order_are_the_same_problem(order: list[int], kind: str) -> None:
    utility = md.PosteriorMeanSquaredError(values=vector(VALUES, order, kind))
    wanted = Problem(INPUTS, md.LDP(1), md.PosteriorMeanSquaredError(VALUES))
    same(Problem(INPUTS, md.LDP(1), utility), wanted)
    warner = md.Channel.from_matrix(np.eye(3), inputs=INPUTS)
    assert utility.value(warner, Prior(P)) == wanted.utility.value(warner, Prior(P))
    assert mean(
        warner, md.reports.Tally.of([5, 3, 2]), vector(VALUES, order, kind)
    ).value == pytest.approx(1.5)


@examples(10)
@given(how=st.data(), worst=st.booleans())
def test_losses_in_any_order_are_the_same_problem(how: Any, worst: bool) -> None:
    wanted = Problem(INPUTS, md.LDP(1), md.Distortion(LOSSES, worst), outputs=OUTPUTS)
    utility = md.Distortion(matrix(LOSSES, INPUTS, OUTPUTS, how), worst)
    same(Problem(INPUTS, md.LDP(1), utility, outputs=OUTPUTS), wanted)
    unnamed = Problem(INPUTS, md.LDP(1), utility)
    assert unnamed.outputs is not None
    assert set(unnamed.outputs) == set(OUTPUTS)
    square = matrix([row[:3] for row in LOSSES], INPUTS, INPUTS, how)
    wanted = Problem(INPUTS, md.LDP(1), md.Distortion([row[:3] for row in LOSSES]))
    same(Problem(INPUTS, md.LDP(1), md.Distortion(square)), wanted)


@examples(10)
@given(how=st.data())
def test_budgets_and_distances_in_any_order_are_the_same_problem(how: Any) -> None:
    for wanted, by_label in [
        (md.ContextAwareLDP(BUDGETS), md.ContextAwareLDP(matrix(BUDGETS, INPUTS, INPUTS, how))),
        (
            md.MetricPrivacy(1, DISTANCES),
            md.MetricPrivacy(2, matrix(DISTANCES, INPUTS, INPUTS, how)).at(1),
        ),
        (
            md.SensitiveAttributePrivacy(md.LIP(1), md.SensitiveAttribute(["a", "b"], joint=JOINT)),
            md.SensitiveAttributePrivacy(
                md.LIP(1),
                md.SensitiveAttribute(["a", "b"], joint=matrix(JOINT, ["a", "b"], INPUTS, how)),
            ),
        ),
    ]:
        problems = [Problem(INPUTS, n, md.HammingLoss(), prior=P) for n in (wanted, by_label)]
        same(problems[1], problems[0])
        channel = md.Channel.from_matrix(
            [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/3", "1/3", "1/3"]], inputs=INPUTS
        )
        assert by_label.leakage(channel, Prior(P)) == wanted.leakage(channel, Prior(P))


@examples(8)
@given(order=orders, other=orders, kind=vectors)
def test_sets_of_priors_in_any_order_are_the_same_problem(
    order: list[int], other: list[int], kind: str
) -> None:
    low, high = [0.1, 0.3, 0], [0.5, 0.9, 0.1]
    pairs = [
        (
            md.BoundedPriorLIP(1, lower=low, upper=high),
            md.BoundedPriorLIP(1, lower=vector(low, order, kind), upper=vector(high, other, kind)),
        ),
        (
            md.BoundedPriorLIP(1, center=P, radius=0.1),
            md.BoundedPriorLIP(1, center=vector(P, order, kind), radius=0.1),
        ),
        (
            md.BoundedPriorLIP(1, [P, [0.5, 0.25, 0.25]]),
            md.BoundedPriorLIP(1, [vector(P, order, kind), vector([0.5, 0.25, 0.25], other, kind)]),
        ),
        (
            robust_problem(INPUTS, [20, 70, 10], 1, md.HammingLoss()).privacy[0],
            robust_problem(INPUTS, vector([20, 70, 10], order, kind), 1, md.HammingLoss()).privacy[
                0
            ],
        ),
    ]
    for wanted, by_label in pairs:
        problems = [Problem(INPUTS, n, md.HammingLoss()) for n in (wanted, by_label)]
        same(problems[1], problems[0])
        assert problems[1].at(2).privacy == problems[0].at(2).privacy


@examples(10)
@given(how=st.data())
def test_a_channel_by_label_is_the_same_channel(how: Any) -> None:
    entries = [["1/2", "1/4", "1/8", "1/8"], [1, 0, 0, 0], ["1/3", "1/3", "1/3", 0]]
    wanted = md.Channel.from_matrix(entries, inputs=INPUTS, outputs=OUTPUTS)
    given_matrix = matrix(entries, INPUTS, OUTPUTS, how)
    assert md.Channel.from_matrix(given_matrix, inputs=INPUTS, outputs=OUTPUTS) == wanted
    found = md.Channel.from_matrix(given_matrix)
    for x in INPUTS:
        for y in OUTPUTS:  # which of equal remainders is rounded up depends on the order
            assert abs(found.probability(x, y) - wanted.probability(x, y)) <= Fraction(1, 2**62)


@examples(4)
@given(order=orders, kind=vectors, how=st.data())
def test_measures_of_a_channel_align_the_prior(order: list[int], kind: str, how: Any) -> None:
    channel = md.Channel.from_matrix(
        [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/3", "1/6", "1/2"]], inputs=INPUTS
    )
    prior, by_label = Prior(P), Prior(vector(P, order, kind))
    assert channel.output_distribution(by_label) == channel.output_distribution(prior)
    assert np.array_equal(channel.posterior(by_label), channel.posterior(prior))
    assert md.accounting.leakages(channel, by_label) == md.accounting.leakages(channel, prior)
    assert str(md.accounting.compose([channel] * 2, by_label)) == str(
        md.accounting.compose([channel] * 2, prior)
    )
    assert privacy_profile(channel, [0, 1], by_label) == privacy_profile(channel, [0, 1], prior)
    assert md.LIP(1).leakage(channel, by_label) == md.LIP(1).leakage(channel, prior)
    uniform = Prior.uniform(3)
    assert prior_mismatch(channel, by_label, uniform) == prior_mismatch(channel, prior, uniform)
    for utility in (md.HammingLoss(), md.MutualInformation(), md.BayesAccuracy(), md.L2Risk()):
        assert utility.value(channel, by_label) == utility.value(channel, prior)
        assert utility.decoder(channel, by_label) == utility.decoder(channel, prior)
    joint = matrix(JOINT, ["a", "b"], INPUTS, how)
    assert sensitive_attribute_channel(joint, channel, ["a", "b"]) == sensitive_attribute_channel(
        JOINT, channel, ["a", "b"]
    )
    about = sensitive_attribute_leakage(joint, channel)
    assert about["lip"].value == sensitive_attribute_leakage(JOINT, channel)["lip"].value
    reports = {1: 3, 2: 4, 0: 5}
    assert np.array_equal(
        md.estimate(channel, counts=reports, prior=by_label).values,
        md.estimate(channel, counts=[5, 3, 4], prior=prior).values,
    )
    mechanism = md.mechanisms.GeneralizedRandomizedResponse(INPUTS, 1)
    assert mechanism.output_distribution(by_label) == mechanism.output_distribution(prior)


def test_sequences_and_pairs_of_priors_are_aligned() -> None:
    warner = md.Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["a", "b"])
    pairs = [(x, z) for x in "ab" for z in "ab"]
    shares = dict(zip(pairs, ["1/2", "1/4", "1/8", "1/8"], strict=True))
    backwards = dict(reversed(shares.items()))
    found = [str(compose_sequence([warner] * 2, joint)) for joint in (shares, backwards)]
    assert found[0] == found[1] == str(compose_sequence([warner] * 2, list(shares.values())))
    p, q = Prior({"a": 0.2, "b": 0.8}), Prior({"b": 0.8, "a": 0.2})
    assert total_variation(p, q) == 0
    assert str(md.accounting.relations(md.LIP(1), p)) == str(
        md.accounting.relations(md.LIP(1), Prior([0.2, 0.8]))
    )


WRONG: dict[str, Callable[[Any], Any]] = {
    "problem": lambda p: Problem(INPUTS, md.LIP(1), md.HammingLoss(), prior=p),
    "prior": lambda p: Problem(INPUTS, md.LIP(1), md.HammingLoss(), prior=Prior(p)),
    "counts": lambda p: Problem(INPUTS, md.LIP(1), md.HammingLoss(), prior=Prior.from_counts(p)),
    "values": lambda p: Problem(INPUTS, md.LDP(1), md.PosteriorMeanSquaredError(p)),
    "box": lambda p: Problem(INPUTS, md.BoundedPriorLIP(1, lower=p, upper=p), md.HammingLoss()),
    "ball": lambda p: Problem(
        INPUTS, md.BoundedPriorLIP(1, center=p, radius=0.1), md.HammingLoss()
    ),
    "list": lambda p: Problem(INPUTS, md.BoundedPriorLIP(1, [p]), md.HammingLoss()),
    "robust": lambda p: robust_problem(INPUTS, p * 100, 1, md.HammingLoss()),
    "mechanism": lambda p: md.mechanisms.LIPRandomizedResponse(INPUTS, 3, Prior(p)),
    "leakages": lambda p: md.accounting.leakages(
        md.Channel.from_matrix(np.eye(3), inputs=INPUTS), Prior(p)
    ),
    "frame": lambda p: md.Channel.from_matrix(
        pd.DataFrame(np.eye(3), index=p.index), inputs=INPUTS
    ),
    "losses": lambda p: Problem(
        INPUTS, md.LDP(1), md.Distortion(pd.DataFrame(np.eye(3), index=p.index))
    ),
    "distances": lambda p: Problem(
        INPUTS,
        md.MetricPrivacy(1, pd.DataFrame(1 - np.eye(3), index=p.index, columns=p.index)),
        md.HammingLoss(),
    ),
    "budgets": lambda p: Problem(
        INPUTS,
        md.ContextAwareLDP(pd.DataFrame(np.ones((3, 3)), index=p.index, columns=p.index)),
        md.HammingLoss(),
    ),
    "secret": lambda p: Problem(
        INPUTS,
        md.SensitiveAttributePrivacy(
            md.LDP(1), md.SensitiveAttribute([0, 1], pd.DataFrame([[0.5, 0.5]] * 3, index=p.index))
        ),
        md.HammingLoss(),
        prior=P,
    ),
}


@pytest.mark.parametrize("place", WRONG)
@pytest.mark.parametrize(
    "index", [None, ["flu", "healthy", "Rare"], ["flu", "healthy", "other"]], ids=str
)
def test_labels_that_do_not_fit_are_refused_in_one_line(place: str, index: Any) -> None:
    with pytest.raises(InputError, match=r"which (is|are) no input|labels") as caught:
        WRONG[place](pd.Series(P, index=index))
    assert "\n" not in str(caught.value)


def test_the_error_names_missing_and_extra_labels() -> None:
    with pytest.raises(InputError) as caught:
        Problem(INPUTS, md.LIP(1), md.HammingLoss(), prior={"flu": 0.3, "cold": 0.7})
    assert str(caught.value) == (
        "prior: expected one entry for each input, by its label, given none for 'healthy', 'rare', "
        "and 'cold', which is no input"
    )
    with pytest.raises(InputError, match="occurs twice"):
        Prior(pd.Series([0.5, 0.5], index=["a", "a"]))
    with pytest.raises(InputError, match="the rows have different labels"):
        md.Distortion([{"a": 1, "b": 0}, {"a": 1, "c": 0}])
    with pytest.raises(InputError, match="only some of the numbers have labels"):
        md.PriorBox({"a": 0.1, "b": 0.2}, [0.9, 0.9])


def test_numbers_of_a_series_are_read_as_they_print() -> None:
    assert Prior(pd.Series([0.1, 0.9], dtype="float32"))[0] == Fraction(1, 10)
    assert prior_ball({"b": 3, "a": 1}, 0.05).labels == ("b", "a")


def test_a_set_of_numbers_has_no_order_and_is_refused() -> None:
    channel = md.Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    with pytest.raises(InputError, match=r"values: expected 2 numbers.*given a set"):
        mean(channel, md.reports.Tally.of([3, 4]), {7, 0.25})
    with pytest.raises(InputError, match=r"epsilons: expected a list.*given a set"):
        md.collection.privatize_each([0, 1], {1, 2}, Problem(2, md.LDP(1), md.HammingLoss()))


def test_integers_of_a_channel_count_by_position_and_carry_no_labels() -> None:
    half = 1 << 62
    rows = [pd.Series({1: half, 0: 0}), pd.Series({0: half, 1: 0})]
    for given_rows in (rows, pd.DataFrame([[half, 0], [0, half]])):
        with pytest.raises(InputError, match=r"numerators.*(labels|text)"):
            md.Channel(given_rows)
    assert md.Channel([[half, 0], [0, half]]).probability(0, 0) == 1


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_numbers_of_people_are_those_of_their_records(order: list[int]) -> None:
    people = pd.Index(["Ann", "Bob", "Cid"])
    problem = Problem(2, md.LDP(1), md.HammingLoss())
    epsilons = pd.Series([0.5, 1, 2], index=people).iloc[order]
    records, numbers = pd.Series([0, 1, 1], index=people), pd.Series([1.0, 2, 3], index=people)
    priors = pd.Series([Prior([0.5, 0.5])] * 3, index=people).iloc[order]
    calls: list[Callable[[], Any]] = [
        lambda: md.collection.privatize_each(records, epsilons, problem, rng=1),
        lambda: md.collection.privatize_each(records, 1, problem, priors=priors, rng=1),
        lambda: md.collection.collect_numbers(numbers, epsilons, 0, 4, rng=1),
        lambda: md.collection.collect_numbers(numbers, 1, 0, epsilons + 4, rng=1),
    ]
    for call in calls:
        if order == [0, 1, 2]:
            call()
        else:
            with pytest.raises(InputError, match="the index differs from that of the records"):
                call()
    md.collection.privatize_each(records.tolist(), epsilons, problem, rng=1)  # a list has no index
    with pytest.raises(InputError, match="epsilons: expected a list of numbers"):
        md.collection.privatize_each([0, 1], {0: 0.5, 1: 2}, problem)


@pytest.mark.parametrize("method", ["unbiased", "maximum-likelihood", "projected", "clipped"])
def test_a_prior_that_does_not_fit_is_refused_by_every_method(method: str) -> None:
    channel = md.Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["a", "b"])
    for prior in ([0.2, 0.3, 0.5], {"a": 0.5, "c": 0.5}):
        with pytest.raises(InputError, match="prior: expected"):
            md.estimate(channel, counts=[3, 4], method=method, prior=prior)


def test_two_priors_in_any_form_are_compared_by_label() -> None:
    p, q = {"a": 0.2, "b": 0.8}, pd.Series([0.6, 0.4], index=["b", "a"])
    assert total_variation(p, q) == total_variation([0.2, 0.8], [0.4, 0.6]) == Fraction(1, 5)
    with pytest.raises(InputError, match="no input"):
        total_variation(p, {"a": 0.2, "c": 0.8})


def test_functions_of_two_labels_are_exact() -> None:
    numbers = [0, 0.1, 0.4]
    utility = md.Distortion(lambda x, y: Fraction(repr(x)) - Fraction(repr(y)) if x > y else 0)
    problem = Problem(numbers, md.MetricPrivacy(1, lambda a, b: round(abs(a - b), 9)), utility)
    wanted = [["0", "0", "0"], ["1/10", "0", "0"], ["2/5", "3/10", "0"]]
    table = problem.to_table()
    assert [[Fraction(e) for e in row] for row in table["utility"]["matrix"]] == [
        [Fraction(e) for e in row] for row in wanted
    ]
    by_matrix = Problem(
        numbers,
        md.MetricPrivacy(1, [[0, 0.1, 0.4], [0.1, 0, 0.3], [0.4, 0.3, 0]]),
        md.Distortion(wanted),
    )
    same(problem, by_matrix)
    with pytest.raises(InputError, match=r"utility.matrix\[0\]\[1\]: expected a finite number"):
        Problem(2, md.LDP(1), md.Distortion(lambda x, y: x - y))
    with pytest.raises(InputError, match=r"privacy.distance\[0\]\[0\]: expected a finite number"):
        Problem(2, md.MetricPrivacy(1, lambda _a, _b: "far"), md.HammingLoss())
