"""The papers' experiments in their quick form: what theory says of ours and the published curves.

Nothing here depends on the drawing of reports: relations are asserted on expectations.
"""

from __future__ import annotations

import itertools
import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import mechdesign as md
from benchmarks.papers import (
    EXPERIMENTS,
    NUMBERS,
    __main__ as runner,
    experiment,
    formulas,
    icml_figure_2 as blocks,
    numbers,
)
from benchmarks.papers.base import CLAIM, SAME, SCHEME, MissingDataError, Pair, Row
from benchmarks.papers.cns_figure_2 import unbiased
from benchmarks.papers.surveys import HALF, LDP, LIP, SYMMETRIC, least_flip
from benchmarks.papers.tables import PAPERS, as_markdown, replaced
from mechdesign import Channel, Prior
from mechdesign.mechanisms import Mechanism
from mechdesign.reports import Tally

ABOVE = 1 + 1e-9


@cache
def known(name: str) -> Pair | str:
    """Return the quick pair, or why there is none."""
    try:
        return experiment(name).run(True)
    except MissingDataError as error:
        return str(error)


def outcome(name: str) -> Pair:
    """Return the quick pair, or skip where its data are not there."""
    found = known(name)
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.fixture(params=EXPERIMENTS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# The shape of every experiment.


@pytest.mark.slow
def test_both_sides_have_the_same_panels(name: str) -> None:
    ours, published = outcome(name)
    assert ours
    for one, two in zip(ours, published, strict=True):
        assert (one.title, one.x, one.ticks, one.unit) == (two.title, two.x, two.ticks, two.unit)
        for panel in (one, two):
            for values in (*panel.curves.values(), *panel.leakage.values()):
                assert len(values) == len(panel.x)
                assert all(map(math.isfinite, values))
        assert one.relations == two.relations
        assert set(one.relations) <= set(one.curves) & set(two.curves)
        assert set(two.leakage) <= set(two.curves)


def test_a_module_names_its_figure_and_source(name: str) -> None:
    found = experiment(name)
    assert found.name == name
    module = __import__(f"benchmarks.papers.{name}", fromlist=["__doc__"])
    assert "Source: " in module.__doc__
    assert any(word in module.__doc__.lower() for word in ("synthetic", "real"))
    assert found.caption(outcome(name))


# What theory says.


def test_ours_and_the_published_curve_agree_with_theory(name: str) -> None:
    for ours, published in zip(*outcome(name), strict=True):
        for curve, relation in ours.relations.items():
            ratios = published.leakage.get(curve, [1.0] * len(ours.x))
            for one, two, ratio in zip(
                ours.curves[curve], published.curves[curve], ratios, strict=True
            ):
                assert HOLDS[relation](one, two, ratio), (ours.title, curve, one, two, ratio)


def claim_holds(ours: float, published: float, ratio: float) -> bool:
    """Equal where the formula is private; elsewhere its error is out of reach."""
    equal = math.isclose(ours, published, rel_tol=1e-5, abs_tol=1e-9)
    return ours > published * (1 - 1e-9) and (ratio > ABOVE or equal)


HOLDS = {
    CLAIM: claim_holds,
    SCHEME: lambda ours, published, _: ours <= published * (1 + 1e-7),
    SAME: lambda ours, published, _: math.isclose(ours, published, rel_tol=1e-7, abs_tol=1e-10),
}


def test_a_claim_far_off_its_region_is_strictly_out_of_reach() -> None:
    ours, published = (side[1] for side in outcome("cns_figure_6"))
    assert published.title == "(b) P1 = 0.01"
    for e in (1.0, 4.0):
        ratio = published.leakage[LIP][published.x.index(e)]
        assert ratio > 1.1
        assert ours.at(LIP, e) > published.at(LIP, e) * 1.1
    assert ours.at(LIP, 10.0) == pytest.approx(published.at(LIP, 10.0), rel=1e-7)


@pytest.mark.parametrize(
    "name", ["cns_figure_6", "cns_figure_7", "cns_figure_8", "arxiv_figure_6", "arxiv_figure_7"]
)
def test_half_the_budget_of_lip_never_beats_ldp(name: str) -> None:
    """ε/2-LIP implies ε-LDP, and ε-LDP implies ε-LIP."""
    for ours in outcome(name)[0]:
        lines = (ours.curves[curve] for curve in (LIP, LDP, HALF))
        for lip, ldp, half in zip(*lines, strict=True):
            assert lip <= ldp * (1 + 1e-7)
            assert ldp <= half * (1 + 1e-7)


def test_the_symmetric_model_lies_above_the_general_one() -> None:
    for ours in outcome("cns_figure_6")[0]:
        pairs = list(zip(ours.curves[SYMMETRIC], ours.curves[HALF], strict=True))
        assert all(sym >= general * (1 - 1e-9) for sym, general in pairs)
        same = all(math.isclose(*pair, rel_tol=1e-9) for pair in pairs)
        assert same == (ours.title == "(a) P1 = 0.5")


def test_blocks_help_and_more_blocks_help_more() -> None:
    """By the exact variances, for every law of the figure and both schemes."""
    for side in outcome("icml_figure_2"):
        for panel in side[4:]:
            lines = [panel.curves[blocks.name_of(m)] for m in blocks.BLOCKS]
            for more, fewer in itertools.pairwise(lines[1:]):
                assert all(a > b for a, b in zip(more, fewer, strict=True))
            assert all(a > b for a, b in zip(lines[0], lines[1], strict=True))


@pytest.mark.parametrize("name", ["tifs_figure_9", "tifs_figure_12"])
def test_noise_by_the_input_is_not_as_private_as_published(name: str) -> None:
    """Corollary 10 takes the law of the reports for another one than it is."""
    for published in outcome(name)[1][1:]:
        for ratios in published.leakage.values():
            assert min(ratios) > 2


def test_the_printed_table_cannot_be_that_of_raw_estimates() -> None:
    ours, published = (side[0] for side in outcome("icml_table_1"))
    for raw, projected, printed in zip(
        ours.curves["raw"], ours.curves["projected"], published.curves["as printed"], strict=True
    ):
        assert projected < raw
        assert printed < raw / 1.5
        assert abs(projected - printed) < 0.1


# The formulas, against direct calculation.


@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_claims_are_the_errors_of_their_channels(p: float, epsilon: float) -> None:
    law = [1 - p, p]
    lip = formulas.posterior_error(formulas.erasure(law, epsilon), law, [0, 1])
    assert lip == pytest.approx(formulas.claimed_lip(p, epsilon), abs=1e-12)
    warner = formulas.posterior_error(formulas.randomized_response(2, epsilon), law, [0, 1])
    assert warner == pytest.approx(formulas.claimed_ldp(p, epsilon), abs=1e-12)
    both = formulas.histogram_error(formulas.randomized_response(2, epsilon), law)
    assert both == pytest.approx(2 * warner, abs=1e-12)


@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.9])
def test_the_least_flip_is_private_and_no_smaller_one_is(p: float) -> None:
    prior = Prior([round(1 - p, 2), p])
    q = least_flip(p, 1.0)
    assert q == pytest.approx(formulas.flip(p, 1.0), rel=1e-9)
    notion = md.LIP("1.000001")
    assert notion.holds(Channel.from_matrix(formulas.symmetric(q)), prior)
    assert not md.LIP(1).holds(Channel.from_matrix(formulas.symmetric(q - 1e-3)), prior)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_unary_encoding_read_as_a_grade(k: int) -> None:
    """Against the sum over all bit vectors."""
    epsilon = 0.7
    q, own = 1 / (math.exp(epsilon) + 1), 0.0
    for bits in itertools.product((0, 1), repeat=k):
        chance = 0.5 * math.prod(q if b else 1 - q for b in bits[1:])
        own += chance * (bits[0] / sum(bits) if any(bits) else 1 / k)
    found = formulas.oue_read(k, epsilon)
    assert found[0, 0] == pytest.approx(own, rel=1e-12)
    assert np.allclose(found.sum(axis=1), 1)
    assert md.LDP(epsilon).leakage(Channel.from_matrix(found)) <= epsilon + 1e-12


def test_the_unbiased_error_of_example_1() -> None:
    """The variance of a sum of independent bits, by hand: 10 of 100 say yes w.p. 1/2."""
    q = 1 / (math.e + 1)
    by_hand = (10 * 0.25 + 90 * q * (1 - q)) / (0.5 - q) ** 2
    assert unbiased(0.5, q) == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("m", [10, 20])
def test_variances_in_blocks_are_those_of_the_mechanisms(m: int) -> None:
    """The mean square of an estimate from one report, by listing all reports."""
    k = 40
    for law in blocks.laws(k).values():
        for mechanism, variances in (
            (blocks.published_scheme(k, m), blocks.hadamard(law, m)),
            (blocks.better_scheme(k, m), blocks.subsets(law, m)),
        ):
            assert np.allclose(variances, listed_variances(mechanism, law), rtol=1e-9)


def listed_variances(mechanism: Mechanism, law: np.ndarray) -> np.ndarray:
    """Return the variance of each estimate from one report."""
    output = law @ mechanism.dense().matrix
    listed = mechanism.listed()
    tallies = [Tally(mechanism.count(listed[n : n + 1]), 1) for n in range(len(listed))]
    estimates = np.array([mechanism.frequencies(tally).estimates for tally in tallies])
    assert np.allclose(output @ estimates, law, atol=1e-9)
    found: np.ndarray = output @ estimates**2 - law**2
    return found


# The table.


@cache
def table() -> tuple[Row, ...]:
    found: list[Row] = []
    for each in EXPERIMENTS:
        pair = known(each)
        if not isinstance(pair, str):
            found += experiment(each).rows(pair)
    return (*found, *(row for each in NUMBERS for row in numbers(each)))


def test_every_number_that_differs_has_a_reason() -> None:
    for row in table():
        assert row.agrees or row.why, row
        assert row.place.split(",")[0].split()[0] in PAPERS


@pytest.mark.parametrize(
    ("quantity", "agrees"),
    [
        ("size of a report, ε = 0.2", True),
        ("probability of the report 10.03 for $800", True),
        ("expected mean in dollars, if all hold $800", False),
        ("Q*(1, 1), Mangat: ε12 = inf, ε21 = 1", True),
        ("leakage of the channel, P1 = 0.3, ε = 1", True),
        ("leakage of the channel, P1 = 0.1, ε = 1", False),
        ("leakage for an uncertain prior, P in [0.1, 0.3], ε = 0.5", False),
    ],
)
def test_known_agreements_and_differences(quantity: str, agrees: bool) -> None:
    found = [row for row in table() if row.quantity == quantity]
    assert len(found) == 1
    assert found[0].agrees == agrees


def test_a_printed_number_agrees_within_half_a_unit_of_its_last_digit() -> None:
    assert Row("PENA", "", "0.46", 0.4581).agrees
    assert not Row("PENA", "", "0.46", 0.4549).agrees
    assert Row("CNS", "", "41,270", 41270.0).agrees
    assert Row("CNS", "", 1.0, 1 + 1e-8).agrees
    assert not Row("CNS", "", 1.0, 1 + 1e-5).agrees
    assert Row("CNS", "", "yes", "yes").agrees
    assert Row("CNS", "", "yes", "no").difference is None


def test_the_page_is_that_of_the_table() -> None:
    """What is printed with few digits does not depend on the digits that the JSON leaves out."""
    table = (Path(runner.HERE) / "published.json").read_text(encoding="utf-8")
    page = (runner.CHECKOUT / "docs" / "published.md").read_text(encoding="utf-8")
    rows, same = replaced(table, [])
    assert same == table
    assert as_markdown(rows, json.loads(table)["skipped"]) == page


# The runner.
