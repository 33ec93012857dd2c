"""Personal budgets: exact and grouped; a channel for each budget, one estimate from all."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import LDP, LIP, Channel, HammingLoss, InputError, L2Risk, Prior, Problem, design
from mechdesign.collection.personalized import distinct, draw_groups, privatize_each
from mechdesign.collection.records import tally_file
from mechdesign.estimation.estimate import estimate_groups
from mechdesign.mechanisms import GeneralizedRandomizedResponse, HadamardResponse
from tests.records_support import privatize_file
from tests.refusals_support import check_refused
from tests.strategies import examples

epsilons = st.lists(st.integers(1, 40).map(lambda n: Fraction(n, 8)), min_size=1, max_size=30)


@examples(40)
@given(epsilons)
def test_the_places_give_the_numbers_back(given: list[Fraction]) -> None:
    for values in (given, np.array(given, dtype=np.float64)):
        found, places = distinct(values, len(given), "epsilons")
        assert [found[n] for n in places] == given
        assert found == sorted(set(given))
    found, places = distinct("0.5", 3, "epsilons")  # one number stands for all
    assert (found, places.tolist()) == ([Fraction(1, 2)], [0, 0, 0])


class Echo:
    """Reports its input, and rejects the text "bad", with or without its location."""

    def __init__(self, key: str) -> None:
        self.key = key

    def privatize(self, records: Any, _: Any) -> list[Any]:
        for n, record in enumerate(records):
            if record == "bad":
                raise InputError(self.key.format(n), "a label", "none")
        return list(records)


def groups(records: Any, first: list[int], key: str = "") -> Any:
    """Return the groups of records with equal first and second indices."""
    indices = np.array(first, dtype=np.int64), np.zeros(len(first), dtype=np.int64)
    return draw_groups(records, indices, lambda n, _: (Echo(key), Fraction(n)), None, False)


def test_groups_cover_all_records_in_order() -> None:
    expected = [(0, [3], ["d"]), (1, [1, 4], ["b", "e"]), (4, [0, 2], ["a", "c"])]
    for records in (list("abcde"), np.array(list("abcde"))):
        found = groups(records, [4, 1, 4, 0, 1])
        assert [(one.epsilon, one.places.tolist(), one.reports) for one in found] == expected
    assert groups([], []) == ()


def test_more_groups_than_there_are_integers_of_64_bits() -> None:
    far = np.array([2**62, 0, 2**62], dtype=np.int64)
    found = draw_groups(list("abc"), [far] * 3, lambda *_: (Echo(""), Fraction(1)), None, False)
    assert [one.places.tolist() for one in found] == [[1], [0, 2]]


@pytest.mark.parametrize(("key", "of_all"), [("records[{}]", "records[3]"), ("epsilon", "epsilon")])
def test_errors_name_the_record_of_all(key: str, of_all: str) -> None:
    assert check_refused("", groups, ["a", "b", "c", "bad"], [0, 1, 0, 1], key).key == of_all


SURVEY = Problem(["a", "b", "c"], LDP(1), L2Risk())


def test_every_record_goes_through_the_best_channel_of_its_own_budget() -> None:
    records = ["a", "b", "c", "a", "b", "c"]
    epsilons = [1, "1/2", 2, 2, 1, "1/2"]
    assert not privatize_each(records, epsilons, SURVEY).simulated
    people = privatize_each(records, epsilons, SURVEY, rng=1)
    assert "simulation" in repr(people)
    assert [group.epsilon for group in people.groups] == [Fraction(1, 2), 1, 2]
    for group in people.groups:
        assert group.solution is not None
        assert group.mechanism == design(SURVEY.at(group.epsilon)).channel
        assert LDP(group.epsilon).holds(group.mechanism)
        assert not LDP(group.epsilon - Fraction(1, 100)).holds(group.mechanism)
        assert [Fraction(epsilons[n]) for n in group.places] == [group.epsilon] * 2
    stream = np.random.default_rng(1)
    wanted: list[Any] = [None] * 6
    for group in people.groups:
        drawn = group.mechanism.privatize([records[n] for n in group.places], stream).labels()
        for n, label in zip(group.places, drawn, strict=True):
            wanted[n] = label
    assert people.labels() == wanted


def test_the_estimate_weights_by_information() -> None:
    generator = np.random.default_rng(4)
    n = 30_000
    records = generator.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]).tolist()
    people = privatize_each(records, generator.choice([0.25, 3.0], n), SURVEY, rng=5)
    found = people.estimate()
    assert (np.abs(found.values - [0.6, 0.3, 0.1]) < 4 * found.standard_errors).all()
    wanted = estimate_groups([(group.mechanism, group.reports) for group in people.groups])
    assert np.array_equal(found.values, wanted.values)
    # the half with the small budget does no harm: the errors are below those of the others alone
    (_, open_) = people.groups
    alone = estimate_groups([(open_.mechanism, open_.reports)])
    assert (found.standard_errors < alone.standard_errors).all()
    assert (people.estimate(target="respondents").standard_errors > alone.standard_errors).all()
    likely = people.estimate("maximum-likelihood")
    assert np.abs(likely.values - [0.6, 0.3, 0.1]).max() < 0.05


@pytest.mark.parametrize("mechanism", [GeneralizedRandomizedResponse, HadamardResponse])
def test_structured_mechanisms_by_a_function(mechanism: Any) -> None:
    generator = np.random.default_rng(6)
    records = generator.integers(0, 4, 20_000)
    people = privatize_each(records, [1, 2] * 10_000, lambda e: mechanism(4, e), rng=7)
    assert [group.mechanism for group in people.groups] == [mechanism(4, 1), mechanism(4, 2)]
    assert people.simulated
    found = people.estimate()
    truth = np.bincount(records, minlength=4) / len(records)
    assert (np.abs(found.values - truth) < 4 * found.standard_errors).all()


def test_each_record_may_have_a_prior_of_its_own() -> None:
    survey = Problem(["ill", "well"], LIP(1), HammingLoss(), prior=["1/2", "1/2"])
    rare, common = Prior(["1/4", "3/4"]), Prior(["1/2", "1/2"])
    people = privatize_each(["ill", "well"] * 2, 1, survey, priors=[rare, common] * 2, rng=1)
    assert [group.prior for group in people.groups] == [rare, common]
    assert [group.places.tolist() for group in people.groups] == [[0, 2], [1, 3]]
    for group in people.groups:
        assert group.prior is not None
        assert LIP(1).holds(group.mechanism, group.prior)
    assert people.groups[0].mechanism != people.groups[1].mechanism


def test_wrong_input_is_named() -> None:
    with pytest.raises(InputError, match="at most 64 different budgets"):
        privatize_each(["a"] * 100, np.linspace(0.5, 2, 100), SURVEY)
    grr = GeneralizedRandomizedResponse
    channel = Channel.from_matrix([[0.5, 0.5], [0.5, 0.5]])
    cases: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("records[3]", (["a", "b", "c", "d"], [1, 2, 1, 2], SURVEY), {}),
        ("records", ("abc", 1, SURVEY), {}),
        ("records", ([], 1, SURVEY), {}),
        ("epsilons", (["a"], [1, 2], SURVEY), {}),
        ("by", (["a"], 1, "survey"), {}),
        ("by", (["a"], 1, lambda e: f"channel at {e}"), {}),
        ("by", ([0], 1, lambda e: grr(3, 2 * e)), {}),
        ("by", ([0, 0], [1, 2], lambda e: grr(2 + int(e), e)), {}),
        ("priors", ([0], 1, lambda e: [channel, e][0]), {"priors": [Prior([1, 0])]}),
        ("priors", (["a"], 1, SURVEY), {"priors": []}),
        ("priors[0]", (["a"], 1, SURVEY), {"priors": [[1, 0, 0]]}),
        ("rng", (["a"], 1, SURVEY), {"rng": "seed"}),
    ]
    for key, arguments, more in cases:
        assert check_refused("", privatize_each, *arguments, **more).key == key


# Several columns of one person: what they spend together, and one column asked of each.


FIRST = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
SECOND = Channel.from_matrix([["1/2", "1/4", "1/4"], ["1/5", "3/5", "1/5"]], inputs=["u", "v"])
BOTH: dict[Any, Any] = {"a": FIRST, "b": SECOND}


def largest_ratio(rows: list[list[Fraction]]) -> float:
    columns = zip(*rows, strict=True)
    return math.log(max(max(column) / min(column) for column in columns))


def law(channel: Channel) -> list[list[Fraction]]:
    k, m = channel.shape
    return [
        [channel.probability(channel.inputs.labels[x], channel.outputs[y]) for y in range(m)]
        for x in range(k)
    ]


def test_the_sum_is_the_leakage_of_the_product_and_the_largest_that_of_the_mixture() -> None:
    product = [
        [p * q for p in one for q in other]
        for one, other in itertools.product(law(FIRST), law(SECOND))
    ]
    mixture = [
        [p / 2 for p in one] + [q / 2 for q in other]
        for one, other in itertools.product(law(FIRST), law(SECOND))
    ]
    every, single = (
        md.collection.spending(BOTH).total["ldp"],
        md.collection.spending(BOTH, one_each=True).total["ldp"],
    )
    assert largest_ratio(product) <= every <= largest_ratio(product) + 1e-12
    assert largest_ratio(mixture) <= single <= largest_ratio(mixture) + 1e-12
    assert single < every
    text = repr(md.collection.spending({"age": HadamardResponse(20, 1), **BOTH}))
    assert all(word in text for word in ("age", "ldp", "in all"))
    check_refused("at least one column", md.collection.spending, {})


def test_each_person_is_asked_for_one_column_and_each_column_is_as_likely() -> None:
    n = 30_000
    table = pd.DataFrame(
        {"a": ["yes"] * (n // 3) + ["no"] * (2 * n // 3), "b": ["u", "v"] * 15_000}
    )
    found = md.privatize(table, BOTH, one_each=True, rng=4)
    asked = found[["a", "b"]].notna()
    assert (asked.sum(axis=1) == 1).all()
    assert abs(asked["a"].mean() - 0.5) < 4 * 0.5 / math.sqrt(n)
    tallies = md.tally(found, BOTH, one_each=True)
    assert sum(tally.total for tally in tallies.values()) == n
    share = md.estimate(FIRST, tallies["a"])
    assert abs(share.values[0] - 1 / 3) < 4 * share.standard_errors[0]
    check_refused("given an empty cell", md.tally, found, BOTH)


def test_a_key_fixes_the_question_of_each_person_independent_of_the_records() -> None:
    rng = np.random.default_rng(2)

    def asked(seed: int) -> list[bool]:
        table = pd.DataFrame(
            {
                "id": range(200),
                "a": rng.choice(["yes", "no"], 200),
                "b": rng.choice(["u", "v"], 200),
            }
        )
        found = md.privatize(table, BOTH, one_each=True, key=bytes(32), ids="id")
        return found["a"].isna().tolist()

    assert asked(0) == asked(1)
    assert 0 < sum(asked(0)) < 200


def test_a_key_asks_the_same_question_in_whatever_order() -> None:
    """Else a second run asks some persons for their other column, which leaks more."""
    table = pd.DataFrame({"id": range(200), "a": ["yes"] * 200, "b": ["u"] * 200})
    one, other = (
        md.privatize(table, dict(pairs), one_each=True, key=bytes(32), ids="id")
        for pairs in (BOTH.items(), reversed(BOTH.items()))
    )
    assert list(other) == ["b", "a"]
    assert one.equals(other[["a", "b"]])


def test_the_columns_of_a_file_are_drawn_and_counted_in_one_pass(tmp_path: Path) -> None:
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("a,b,c\n" + "yes,v,1\nno,u,2\n" * 500)
    done = privatize_file(BOTH, source, target, keep=["c"], chunk=64)
    assert done.columns == ("a", "b")
    assert target.read_text().splitlines()[0] == "a,b,c"
    assert "spends     at most 2.014" in repr(done)
    assert done.to_json()["spends"]["total"]["ldp"] == md.collection.spending(BOTH).total["ldp"]
    found = tally_file(BOTH, target)
    assert {name: tally.total for name, tally in found.items()} == {"a": 1000, "b": 1000}
    single = privatize_file(BOTH, source, target, one_each=True, chunk=64)
    assert "for one column each" in repr(single)
    assert sum(t.total for t in tally_file(BOTH, target, one_each=True).values()) == 1000
    check_refused("given an empty cell", tally_file, BOTH, target)


def test_cells_dropped_and_mapped_are_counted_for_each_column(tmp_path: Path) -> None:
    """A row that is dropped for one column is dropped for all."""
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("a,b\nyes,u\n,u\nno,\n,v\n?,u\nno,?\n")
    policies = {"missing": {"a": "map:no", "b": "drop"}, "unknown": "drop"}
    done = privatize_file(BOTH, source, target, **policies)
    assert (done.rows, done.reports) == (6, 3)
    assert done.missing == {"a": (2, "taken as 'no'"), "b": (1, "dropped")}
    assert done.unknown == {"a": (1, "dropped"), "b": (1, "dropped")}
    assert done.to_json()["missing"] == {
        "a": {"cells": 2, "policy": "taken as 'no'"},
        "b": {"cells": 1, "policy": "dropped"},
    }
    told = "missing    2 cells of 'a': taken as 'no'\nmissing    1 cell of 'b': dropped"
    assert told in repr(done)
    before = target.read_bytes()
    check_refused("the file exists", privatize_file, BOTH, source, target, force=False)
    assert target.read_bytes() == before
    for name in ("missing", "unknown"):
        with pytest.raises(InputError, match=f"{name}: expected columns that are to be private"):
            privatize_file(BOTH, source, target, **{name: {"c": "drop"}})


def test_pairs_of_columns_are_points_of_a_grid(tmp_path: Path) -> None:
    grid = md.Domain.grid(3, 3)
    truth = Channel.from_matrix(np.eye(9), inputs=grid, outputs=grid.labels)
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("row,col\n0,1\n2, 2\n1,0\n")
    privatize_file(truth, source, target, ("row", "col"))
    assert target.read_text() == "row,col\n0,1\n2,2\n1,0\n"
    assert tally_file({("row", "col"): truth}, target)["row", "col"].counts.sum() == 3
    numbers = GeneralizedRandomizedResponse(grid, 30)
    privatize_file(numbers, source, target, ("row", "col"))
    assert target.read_text() == "row,col\n0,1\n2,2\n1,0\n"
    source.write_text("row,col\n0,1\n,2\n")
    with pytest.raises(InputError, match=r"line 3, columns 'row', 'col': .*given an empty cell"):
        privatize_file(truth, source, target, ("row", "col"))
    for wrong in ({}, {"a": truth, ("a", "b"): truth}, {("a", 1): truth}, {("a",): truth}):
        check_refused("column", privatize_file, wrong, source, target)
    for column in (None, "row"):
        given = truth if column is None else {"row": truth}
        with pytest.raises(InputError, match="a column, or a dict of mechanisms"):
            privatize_file(given, source, target, column)
