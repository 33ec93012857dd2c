"""A notion about an attribute whose joint law is known up to a set holds for every law of it."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import (
    LDP,
    LIP,
    PML,
    AsymmetricLift,
    Channel,
    HammingLoss,
    InputError,
    Prior,
    Problem,
    SensitiveAttribute,
    SensitiveAttributePrivacy,
    UncertainAttribute,
)
from mechdesign.certify import verify
from mechdesign.certify.privacy.sensitive_attribute import read_sensitive_attribute
from tests.independent.files import claims_of
from tests.strategies import channels, examples, priors, simplex, statement_of

PRIOR = Prior(["0.3", "0.3", "0.4"])
ROWS = [["0.9", "0.1"], ["0.4", "0.6"], ["0.2", "0.8"]]
THREE = [["0.6", "0.3", "0.1"], ["0.2", "0.4", "0.4"], ["0.1", "0.2", "0.7"]]
WAYS: dict[str, dict[str, Any]] = {
    "ball": {"values": ["ill", "well"], "given_input": ROWS, "radius": ["0.05", "0.1", 0]},
    "bounds": {
        "values": ["ill", "well"],
        "lower": [["0.8", 0], ["0.3", "0.5"], ["0.1", "0.7"]],
        "upper": [[1, "0.1"], ["0.5", 1], ["0.3", "0.9"]],
    },
    "laws": {"values": ["ill", "well"], "laws": [ROWS, [["0.7", "0.3"], ["0.5", "0.5"], [0, 1]]]},
    "three values": {"values": ["a", "b", "c"], "given_input": THREE, "radius": "0.05"},
}


def members(way: dict[str, Any], rng: np.random.Generator, count: int) -> list[Any]:
    """Return random laws P(s|x) of the set, and laws at its border."""
    if "laws" in way:
        return [np.array(law, dtype=float) for law in way["laws"]]
    found = []
    for _ in range(count):
        rows = []
        for x in range(3):
            if "radius" in way:
                center = np.array(way["given_input"][x], dtype=float)
                radius = way["radius"]
                radius = float(radius[x] if isinstance(radius, list) else radius)
                other = rng.dirichlet(np.full(len(center), 0.3))
                away = np.abs(other - center).sum() / 2
                step = radius / away if rng.random() < 0.7 else rng.random() * radius / away
                rows.append(center + min(1.0, step) * (other - center))
            else:
                low, high = (np.array(way[e][x], dtype=float) for e in ("lower", "upper"))
                row, left = low.copy(), 1 - low.sum()
                for s in rng.permutation(len(low)):
                    step = min(left, high[s] - low[s]) * (1 if rng.random() < 0.6 else rng.random())
                    row[s] += step
                    left -= step
                for s in range(len(low)):  # what is left fills up
                    step = min(left, high[s] - row[s])
                    row[s] += step
                    left -= step
                rows.append(row)
        found.append(np.array(rows))
    return found


def lifts(channel: Channel, law: Any) -> Any:
    """Return P(s|y) / P(s) under one law, ``(n_values, n_outputs)``, from the definition."""
    Q, P = channel.matrix, PRIOR.array
    joint = law.T @ (P[:, None] * Q)
    return joint / joint.sum(axis=0) / (law.T @ P)[:, None]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("notion", [LIP("0.3"), PML("0.2"), AsymmetricLift("0.4", "0.25")])
def test_every_law_of_the_set_keeps_the_lifts_and_some_law_attains_them(
    way: str, notion: Any, tmp_path: Path
) -> None:
    asked = SensitiveAttributePrivacy(notion, WAYS[way])
    solution = md.design(Problem(range(3), asked, HammingLoss(), prior=PRIOR))
    assert solution.gap < 1e-9
    found = [
        lifts(solution.channel, law) for law in members(WAYS[way], np.random.default_rng(1), 300)
    ]
    up = float(getattr(notion, "upper", None) or notion.epsilon)
    most = max(math.log(lift.max()) for lift in found)
    assert most <= up + 1e-9
    assert asked.holds(solution.channel, PRIOR)
    if isinstance(notion, LIP):
        assert not asked.at("0.29").holds(solution.channel, PRIOR)
        assert min(math.log(lift.min()) for lift in found) >= -0.3 - 1e-9
    md.save(solution, tmp_path / "channel.json")
    assert md.load_channel(tmp_path / "channel.json").mechanism == solution.channel
    document = json.loads((tmp_path / "channel.json").read_text())
    assert document["problem"]["privacy"][0]["secret"].keys() == WAYS[way].keys()
    assert claims_of(document) is not None


@examples(40)
@given(channels(3), st.sampled_from(sorted(WAYS)))
def test_the_leakage_is_the_largest_over_the_laws_at_the_ends(channel: Channel, way: str) -> None:
    """The laws at the ends are listed here by hand, with P(s|x) at either end for each x."""
    table = WAYS[way]
    if "laws" in table:
        laws = [np.array(law, dtype=float) for law in table["laws"]]
    else:
        laws = []
        for s in range(len(table["values"])):
            ends = []
            for x in range(3):
                if "radius" in table:
                    radius = table["radius"]
                    radius = float(radius[x] if isinstance(radius, list) else radius)
                    p = float(table["given_input"][x][s])
                    ends.append((max(0.0, p - radius), min(1.0, p + radius)))
                else:
                    low, high = (np.array(table[e][x], dtype=float) for e in ("lower", "upper"))
                    others = np.arange(len(low)) != s
                    ends.append(
                        (
                            max(low[s], 1 - high[others].sum()),
                            min(high[s], 1 - low[others].sum()),
                        )
                    )
            laws += [np.array([[a, 1 - a] for a in row]) for row in itertools.product(*ends)]
    Q, P = channel.matrix, PRIOR.array
    used = Q[:, Q.max(axis=0) > 0]
    worst = 0.0
    for law in laws:
        joint = (law.T @ (P[:, None] * used))[(law.T @ P) > 0]
        masses = (law.T @ P)[(law.T @ P) > 0]
        lift = joint / (P @ used) / masses[:, None]
        worst = max(worst, math.log(lift.max()))
    asked = SensitiveAttributePrivacy(PML(1), table)
    assert asked.leakage(channel, PRIOR) == pytest.approx(worst, abs=1e-9)


@pytest.mark.parametrize("way", ["ball", "bounds", "laws"])
def test_ldp_of_two_values_holds_for_every_law_and_is_attained(way: str) -> None:
    asked = SensitiveAttributePrivacy(LDP("0.4"), WAYS[way])
    solution = md.design(Problem(range(3), asked, HammingLoss(), prior=PRIOR))
    Q, P = solution.channel.matrix, PRIOR.array
    worst = 0.0
    for law in members(WAYS[way], np.random.default_rng(2), 500):
        given_value = (law * P[:, None]).T @ Q / (law.T @ P)[:, None]
        ratio = given_value.max(axis=0) / given_value.min(axis=0)
        worst = max(worst, math.log(ratio.max()))
    assert worst <= 0.4 + 1e-9
    assert not asked.at("0.39").holds(solution.channel, PRIOR)
    if way != "laws":  # random laws come near to the ends
        assert worst > 0.3


@examples(40)
@given(channels(3), st.lists(simplex(2), min_size=3, max_size=3), priors(3, 1))
def test_no_doubt_is_the_notion_of_the_one_law(channel: Channel, rows: Any, prior: Prior) -> None:
    if any(sum(p * row[s] for p, row in zip(prior, rows, strict=True)) == 0 for s in (0, 1)):
        return
    known = SensitiveAttribute(["a", "b"], given_input=rows)
    for notion in (LIP(1), LDP(1)):
        one = SensitiveAttributePrivacy(notion, known).leakage(channel, prior)
        for unsure in (
            UncertainAttribute(["a", "b"], given_input=rows, radius=0),
            UncertainAttribute(["a", "b"], lower=rows, upper=rows),
            UncertainAttribute(["a", "b"], laws=[rows, rows]),
        ):
            found = SensitiveAttributePrivacy(notion, unsure).leakage(channel, prior)
            assert found == pytest.approx(one, abs=1e-12)


def test_in_full_doubt_lift_bounds_are_those_of_the_inputs() -> None:
    """If S may be X itself and anything else, PML of S is PML of X."""
    rng = np.random.default_rng(3)
    channel = Channel.from_matrix(rng.dirichlet(np.ones(4), 3))
    whole = UncertainAttribute(["a", "b"], lower=[[0, 0]] * 3, upper=[[1, 1]] * 3)
    found = SensitiveAttributePrivacy(PML(1), whole).leakage(channel, PRIOR)
    assert found == pytest.approx(PML(1).leakage(channel, PRIOR), abs=1e-12)


def test_a_larger_set_costs_more() -> None:
    values = []
    for radius in ("0", "0.05", "0.2"):
        illness = UncertainAttribute(["ill", "well"], given_input=ROWS, radius=radius)
        asked = SensitiveAttributePrivacy(LIP("0.3"), illness)
        values.append(md.design(Problem(range(3), asked, HammingLoss(), prior=PRIOR)).value)
    assert values[0] < values[1] < values[2]


@pytest.mark.parametrize("way", WAYS)
def test_the_checker_lists_the_same_laws(way: str) -> None:
    asked = SensitiveAttributePrivacy(LIP(1), WAYS[way])
    statement = statement_of(Problem(range(3), asked, HammingLoss(), prior=PRIOR))
    found = read_sensitive_attribute(statement, statement.privacy[0])
    masses, given_value = asked.attribute.distributions(PRIOR)
    assert found.statement.prior == list(masses)
    assert [[Fraction(v, found.whole) for v in row] for row in found.rows] == [
        list(row) for row in given_value
    ]


@pytest.mark.parametrize("notion", [LIP("0.1"), PML("0.1")])
def test_a_sole_value_is_certain_whatever_the_radius(notion: Any) -> None:
    """A row of one value is (1): no notion of it asks for anything, and no bound may say so."""
    sole = UncertainAttribute(["a"], given_input=[[1]] * 3, radius=["0.5", "0.5", 0])
    asked = SensitiveAttributePrivacy(notion, sole)
    found = md.design(Problem(range(3), asked, HammingLoss(), prior=PRIOR))
    assert found.value == found.bound == 0
    assert verify(found.document()).bound == 0
    statement = statement_of(Problem(range(3), asked, HammingLoss(), prior=PRIOR))
    rows = read_sensitive_attribute(statement, statement.privacy[0])
    assert len({tuple(row) for row in rows.rows}) == 1


BAD: list[tuple[dict[str, Any], str]] = [
    ({"values": ["a", "b"], "radius": 1}, "exactly one of: laws; given_input and radius"),
    ({"values": ["a", "b"], "laws": []}, "laws: expected at least one table"),
    ({"laws": [ROWS]}, "values: expected this key"),
    ({"values": ["a", "b"], "lower": [[0, 0]]}, "exactly one of"),
    ({"values": ["a", "b"], "lower": [[0, 0]], "upper": [["0.1", "0.2"]]}, "both sides of 1"),
    ({"values": ["a", "b"], "lower": [["0.5", 0]], "upper": [["0.4", 1]]}, "upper"),
    ({"values": ["a", "b"], "given_input": ROWS, "radius": 2}, "radius: expected a number in"),
    ({"values": ["a", "b"], "given_input": ROWS, "radius": [0, 0]}, "radius: expected 3 numbers"),
    ({"values": ["a", "b"], "given_input": [["0.5", "0.4"]], "radius": 0}, "numbers that sum to 1"),
    ({"values": ["a", "b"], "given_input": [["nan", 1]], "radius": 0}, "given_input"),
    ({"values": ["a"], "given_input": ROWS, "radius": 0}, "1 numbers, one for each value"),
    ({"values": ["a", "b"], "laws": [ROWS, ROWS[:2]]}, "3 rows, as in laws"),
    ({"values": ["a", "b"], "laws": [ROWS], "rest": 1}, "rest: expected one of the keys"),
]


@pytest.mark.parametrize(("table", "message"), BAD)
def test_wrong_sets_are_refused_in_one_line(table: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        SensitiveAttributePrivacy(LIP(1), table)
    assert "\n" not in str(caught.value)


def test_notions_and_sizes_for_which_it_is_not_known_are_refused() -> None:
    for notion, table in (
        (LDP(1), WAYS["three values"]),
        (md.HighLowLDP(1, ["ill"]), WAYS["ball"]),
        (md.DifferentialIdentifiability(2), WAYS["ball"]),
    ):
        with pytest.raises(InputError, match="for a set of joint laws"):
            SensitiveAttributePrivacy(notion, table)
    many = {"values": ["a", "b"], "lower": [[0, 0]] * 11, "upper": [[1, 1]] * 11}
    with pytest.raises(InputError, match="at most 10 inputs"):
        SensitiveAttributePrivacy(LIP(1), many)
    never = {"values": ["a", "b"], "laws": [[[1, 0]] * 3]}
    with pytest.raises(InputError, match="values of positive probability"):
        Problem(range(3), SensitiveAttributePrivacy(LIP(1), never), HammingLoss(), prior=PRIOR)
    short = {"values": ["a", "b"], "laws": [ROWS[:2]]}
    with pytest.raises(InputError, match="3 rows, one for each input"):
        Problem(range(3), SensitiveAttributePrivacy(LIP(1), short), HammingLoss(), prior=PRIOR)


def test_labels_decide() -> None:
    rows = {"c": {"well": "0.8", "ill": "0.2"}, "a": {"ill": "0.9", "well": "0.1"}}
    rows["b"] = {"ill": "0.4", "well": "0.6"}
    named = UncertainAttribute(["ill", "well"], given_input=rows, radius=["0.1", "0.2", 0])
    plain = UncertainAttribute(["ill", "well"], given_input=ROWS, radius=["0.2", 0, "0.1"])
    assert named.aligned(md.Domain(["a", "b", "c"])) == plain
