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
from tests.refusals_support import check_refused
from tests.strategies import examples

INPUTS = ["flu", "healthy", "rare"]
OUTPUTS = ["low", "high", "none", "refused"]
P = [0.27, 0.7, 0.03]
VALUES = [1, 0, 5]
LOSSES = [[0, 1, 2, 3], [4, 0, 5, 6], [7, 8, 0, "1/3"]]
BUDGETS = [[0, 1, 2], ["inf", 0, "1/2"], [1.5, 3, 0]]
DISTANCES = [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
JOINT = [[0.2, 0.1, 0.02], [0.07, 0.6, 0.01]]
GIVEN = [["3/4", "1/4"], ["1/7", "6/7"], ["2/3", "1/3"]]

Vector, Matrix = Callable[[list[Any]], Any], Callable[[list[list[Any]], list[Any], list[Any]], Any]
"""Give numbers, in the order of the inputs or of labels for rows and columns, labels."""

HAMMING = md.HammingLoss()
CHANNEL = md.Channel.from_matrix(
    [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/3", "1/6", "1/2"]], inputs=INPUTS
)
TRUTH = md.Channel.from_matrix(np.eye(3), inputs=INPUTS)
ENTRIES = [["1/2", "1/4", "1/8", "1/8"], [1, 0, 0, 0], ["1/3", "1/3", "1/3", 0]]
SQUARE = [row[:3] for row in LOSSES]
LOW, HIGH = [0.1, 0.3, 0], [0.5, 0.9, 0.1]


def among(priors: md.BoundedPriorLIP) -> Problem:
    return Problem(INPUTS, priors, HAMMING)


def under(notion: Any, prior: Any = P) -> Problem:
    return Problem(INPUTS, notion, HAMMING, prior=prior)


def losing(losses: Any, outputs: Any = None, worst: bool = False) -> Problem:
    return Problem(INPUTS, md.LDP(1), md.Distortion(losses, worst), outputs=outputs)


def attribute(**law: Any) -> Any:
    return md.SensitiveAttributePrivacy(md.LIP(1), md.SensitiveAttribute(["a", "b"], **law))


PROBLEMS: dict[str, Callable[[Vector, Matrix], Problem]] = {
    "prior": lambda v, _: under(md.LIP(2), v(P)),
    "exact prior": lambda v, _: under(md.LIP(2), Prior(v(P))),
    "counts": lambda v, _: under(md.LIP(2), Prior.from_counts(v([27, 70, 3]))),
    "values": lambda v, _: Problem(INPUTS, md.LDP(1), md.PosteriorMeanSquaredError(v(VALUES))),
    "losses": lambda _, m: losing(m(LOSSES, INPUTS, OUTPUTS), OUTPUTS),
    "worst losses": lambda _, m: losing(m(LOSSES, INPUTS, OUTPUTS), OUTPUTS, worst=True),
    "square losses": lambda _, m: losing(m(SQUARE, INPUTS, INPUTS)),
    "budgets": lambda _, m: under(md.ContextAwareLDP(m(BUDGETS, INPUTS, INPUTS))),
    "distances": lambda _, m: under(md.MetricPrivacy(2, m(DISTANCES, INPUTS, INPUTS)).at(1)),
    "attribute": lambda _, m: under(attribute(joint=m(JOINT, ["a", "b"], INPUTS))),
    "attribute by input": lambda _, m: under(attribute(given_input=m(GIVEN, INPUTS, ["a", "b"]))),
    "box": lambda v, _: among(md.BoundedPriorLIP(1, lower=v(LOW), upper=v(HIGH))),
    "ball": lambda v, _: among(md.BoundedPriorLIP(1, center=v(P), radius=0.1)),
    "list": lambda v, _: among(md.BoundedPriorLIP(1, [v(P), v([0.5, 0.25, 0.25])])),
    "robust": lambda v, _: robust_problem(INPUTS, v([20, 70, 10]), 1, HAMMING),
}

MEASURES: dict[str, Callable[[Prior], Any]] = {
    "output law": CHANNEL.output_distribution,
    "posterior": lambda p: CHANNEL.posterior(p).tolist(),
    "leakages": lambda p: md.accounting.leakages(CHANNEL, p),
    "composition": lambda p: str(md.accounting.compose([CHANNEL] * 2, p)),
    "profile": lambda p: privacy_profile(CHANNEL, [0, 1], p),
    "leakage": lambda p: md.LIP(1).leakage(CHANNEL, p),
    "mismatch": lambda p: prior_mismatch(CHANNEL, p, Prior.uniform(3)),
    "estimate": lambda p: md.estimate(CHANNEL, counts=[5, 3, 4], prior=p).values.tolist(),
    "response": md.mechanisms.GeneralizedRandomizedResponse(INPUTS, 1).output_distribution,
    "response by prior": lambda p: md.mechanisms.LIPRandomizedResponse(INPUTS, 4, p),
    **{
        utility.name: lambda p, u=utility: (u.value(CHANNEL, p), u.decoder(CHANNEL, p))
        for utility in (HAMMING, md.MutualInformation(), md.BayesAccuracy(), md.L2Risk())
    },
}

ALIKE: dict[str, Callable[[Vector, Matrix], Any]] = {
    **PROBLEMS,
    **{name: lambda v, _, measure=MEASURES[name]: measure(Prior(v(P))) for name in MEASURES},
    "mean of values": lambda v, _: mean(TRUTH, md.reports.Tally.of([5, 3, 2]), v(VALUES)).value,
    "value": lambda v, _: md.PosteriorMeanSquaredError(v(VALUES)).value(TRUTH, Prior(P)),
    "channel": lambda _, m: md.Channel.from_matrix(
        m(ENTRIES, INPUTS, OUTPUTS), inputs=INPUTS, outputs=OUTPUTS
    ),
    "attribute channel": lambda _, m: sensitive_attribute_channel(
        m(JOINT, ["a", "b"], INPUTS), CHANNEL, ["a", "b"]
    ),
    "attribute leakage": lambda _, m: (
        sensitive_attribute_leakage(m(JOINT, ["a", "b"], INPUTS), CHANNEL)["lip"].value
    ),
}
"""What is the same whatever the order of its numbers."""


def same(a: Problem, b: Problem) -> None:
    assert a.to_table() == b.to_table()
    assert str(a.to_table()) == str(b.to_table())
    assert a.prior == b.prior
    assert hash(a.privacy) == hash(b.privacy)
    (one,), (other,) = a.privacy, b.privacy
    assert one.leakage(CHANNEL, a.prior) == other.leakage(CHANNEL, b.prior)
    if hasattr(one, "epsilon"):
        assert a.at(2).privacy == b.at(2).privacy


@pytest.mark.parametrize("name", ALIKE)
@examples(6)
@given(data=st.data())
def test_numbers_with_labels_in_any_order_are_the_same(name: str, data: Any) -> None:
    def vector(numbers: list[Any]) -> Any:
        order = data.draw(st.permutations(range(3)))
        pairs = {INPUTS[x]: numbers[x] for x in order}
        series = pd.Series(pairs, dtype=object)
        texts = {label: str(number) for label, number in pairs.items()}
        return data.draw(st.sampled_from([series, pairs, texts]))

    def matrix(numbers: list[list[Any]], rows: list[Any], columns: list[Any]) -> Any:
        x, y = (data.draw(st.permutations(range(len(labels)))) for labels in (rows, columns))
        if data.draw(st.booleans()):
            return pd.DataFrame(numbers, index=rows, columns=columns, dtype=object).iloc[x, y]
        orders = {i: data.draw(st.permutations(range(len(columns)))) for i in x}
        return {rows[i]: {columns[j]: numbers[i][j] for j in orders[i]} for i in x}

    found = ALIKE[name](vector, matrix)
    wanted = ALIKE[name](lambda numbers: numbers, lambda numbers, *_: numbers)
    if isinstance(found, Problem):
        same(found, wanted)
    else:
        assert found == wanted


def test_data_are_counted_by_label() -> None:
    """Outputs too have the order of their names, where they are not given."""
    records = pd.Series(["healthy"] * 70 + ["flu"] * 27 + ["rare"] * 3)
    from_data = Prior.from_data(records, Domain(["rare", "flu", "healthy"]))
    same(under(md.LIP(2), from_data), under(md.LIP(2)))
    assert pickle.loads(pickle.dumps(from_data)) == from_data
    losses = pd.DataFrame(LOSSES, index=INPUTS, columns=OUTPUTS, dtype=object)
    assert losing(losses).outputs == tuple(OUTPUTS)
    found = md.Channel.from_matrix(pd.DataFrame(ENTRIES, index=INPUTS, columns=OUTPUTS).iloc[::-1])
    wanted = md.Channel.from_matrix(ENTRIES, inputs=INPUTS, outputs=OUTPUTS)
    assert [found.probability(x, y) for x in INPUTS for y in OUTPUTS] == [
        wanted.probability(x, y) for x in INPUTS for y in OUTPUTS
    ]
    by_label, in_order = (md.estimate(CHANNEL, counts=c) for c in ({1: 3, 2: 4, 0: 5}, [5, 3, 4]))
    assert by_label.values.tolist() == in_order.values.tolist()


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


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.parametrize(
    "index", [None, ["flu", "healthy", "Rare"], ["flu", "healthy", "other"]], ids=str
)
def test_labels_that_do_not_fit_are_refused_in_one_line(name: str, index: Any) -> None:
    def matrix(numbers: list[list[Any]], rows: list[Any], columns: list[Any]) -> pd.DataFrame:
        rows, columns = (index if labels is INPUTS else labels for labels in (rows, columns))
        return pd.DataFrame(numbers, rows, columns, dtype=object)

    with pytest.raises(InputError, match=r"which (is|are) no input|labels") as caught:
        ALIKE[name](lambda numbers: pd.Series(numbers, index=index), matrix)
    assert "\n" not in str(caught.value)


def test_the_error_names_missing_and_extra_labels() -> None:
    with pytest.raises(InputError) as caught:
        Problem(INPUTS, md.LIP(1), md.HammingLoss(), prior={"flu": 0.3, "cold": 0.7})
    assert str(caught.value) == (
        "prior: expected one entry for each input, by its label, given none for 'healthy', 'rare', "
        "and 'cold', which is no input"
    )
    check_refused("occurs twice", lambda: Prior(pd.Series([0.5, 0.5], index=["a", "a"])))
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
        check_refused(r"numerators.*(labels|text)", md.Channel, given_rows)
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
            check_refused("the index differs from that of the records", call)
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
    check_refused("no input", total_variation, p, {"a": 0.2, "c": 0.8})


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
