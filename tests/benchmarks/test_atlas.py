"""The atlas: its regions are those of the proofs, its tables come back, and runs go on."""

from __future__ import annotations

import csv
import json
import math
from fractions import Fraction
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.atlas import FILES, FORMULAS, Atlas, Cell, Region, build_atlas, save_maps
from benchmarks.atlas.base import Entry, Formula, Point
from benchmarks.atlas.formulas.metric import largest_step
from mechdesign.designs.design import design

QUICK = ["lip-rr-survey", "grr-hamming", "warner-information"]


def cell(name: str, epsilon: str, parameter: str) -> Cell:
    """Measure one point, which need not be on the map."""
    formula, at = FORMULAS[name], Point(Fraction(epsilon), Fraction(parameter))
    return Cell.of(formula, at, design(formula.problem(at)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("atlas")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmarks.atlas.save_maps", lambda *_: None)  # those of all take long
        build_atlas(place, quick=True, progress=False)
    return place


@pytest.mark.long
def test_the_maps_of_all_formulas_are_drawn(atlas: Atlas, tmp_path: Path) -> None:
    save_maps(atlas, tmp_path / FILES["maps"])
    assert (tmp_path / FILES["maps"]).read_bytes().startswith(b"\x89PNG")


@pytest.fixture(scope="module")
def atlas(folder: Path) -> Atlas:
    return Atlas.load_json(folder / FILES["data"])


# What is known of single points.


def test_at_prior_one_percent_lip_randomized_response_leaks_four_times_what_it_promises() -> None:
    found = cell("lip-rr-survey", "1", "0.01")
    assert found.region is Region.INFEASIBLE
    assert found.leakage_ratio == pytest.approx(4.1523, abs=1e-4)
    e, share = math.e, 0.01
    assert found.leakage_ratio == pytest.approx(math.log((e - 1 + share) / (e * share)), rel=1e-12)
    claimed = share * (1 - share) * (2 / e - 1 / e**2)  # CNS (19)
    assert found.loss == pytest.approx(claimed, rel=1e-12)
    assert found.loss < found.bound  # which is why it cannot be private
    assert found.loss_ratio < 1


def test_the_uncertain_prior_of_the_paper_leaks() -> None:
    """The interval [0.1, 0.5]; its own formula, measured at both ends by hand."""
    found = cell("bounded-prior", "0.5", "0.2")
    a, b, e = 0.1, 0.5, math.exp(0.5)
    one, two = b / (b - a + e), (1 - a) / (b - a + e)
    lift = (1 - two) / (a * (1 - two) + (1 - a) * one)
    assert found.region is Region.INFEASIBLE
    assert found.leakage_ratio == pytest.approx(math.log(lift) / 0.5, rel=1e-9)


@pytest.mark.parametrize("k", [3, 5])
def test_unary_encoding_is_measured_on_all_rows_of_bits(k: int) -> None:
    """Its risk by the Fisher information of the 2**k outputs in floating point."""
    epsilon = 1.0
    p, q = 0.5, 1 / (math.exp(epsilon) + 1)
    rows = np.array([[b >> i & 1 for i in range(k)] for b in range(2**k)])
    chance = np.where(np.eye(k, dtype=bool)[:, None, :], p, q)  # input, row, bit
    matrix = np.where(rows[None] == 1, chance, 1 - chance).prod(axis=2)
    law = matrix.mean(axis=0)
    risk = np.trace(np.linalg.inv((matrix / law) @ matrix.T)) - 1 / k
    found = cell("oue-l2-risk", "1", str(k))
    assert found.loss == pytest.approx(risk, rel=1e-6)
    assert found.leakage_ratio == pytest.approx(1, abs=1e-9)
    assert found.region is Region.FEASIBLE


OPTIMAL, FEASIBLE, INFEASIBLE = Region.OPTIMAL, Region.FEASIBLE, Region.INFEASIBLE
value, best = (partial(pytest.approx, rel=error) for error in (1e-4, 1e-5))
LEAST, LEAKS = pytest.approx(0.0791384, abs=1e-7), pytest.approx(1.9, abs=0.01)
LOSES = pytest.approx(0.434, rel=2e-3)

KNOWN: list[tuple[str, str, str, Region, dict[str, Any]]] = [
    # CNS (19), and arXiv, Proposition 3
    ("lip-rr-survey", "1", "0.1", INFEASIBLE, {"optimum": LEAST, "leakage_ratio": LEAKS}),
    ("lip-rr-absolute", "0.1", "0.4", INFEASIBLE, {"loss": LOSES, "optimum": best(0.4)}),
    ("subset-selection-l2-risk", "0.5", "3", OPTIMAL, {"loss": value(21.08987)}),
    ("subset-selection-l2-risk", "2", "4", OPTIMAL, {"loss": value(1.98308)}),
    ("high-low-hadamard", "1", "4", FEASIBLE, {"loss": value(11.534), "optimum": best(8.9915)}),
    (
        "high-low-subset-selection",
        "1",
        "4",
        FEASIBLE,
        {"loss": value(9.0132), "optimum": best(8.9915)},
    ),
    ("pena-responder", "1", "2", OPTIMAL, {}),  # Warner's channel
    ("pena-responder", "1", "5", FEASIBLE, {}),
    *(("binary-variation", "4", k, OPTIMAL, {}) for k in ("2", "5", "6")),
    *(("binary-divergence", "0.2", k, OPTIMAL, {}) for k in ("2", "5", "6")),
    ("binary-divergence", "4", "6", FEASIBLE, {}),
    ("grr-divergence", "5", "4", OPTIMAL, {}),
    ("grr-divergence", "1", "4", FEASIBLE, {}),
]
"""Formula, epsilon, parameter; the region, and what is known there."""


@pytest.mark.parametrize(("name", "epsilon", "parameter", "region", "known"), KNOWN)
def test_single_points_are_as_known(
    name: str, epsilon: str, parameter: str, region: Region, known: dict[str, Any]
) -> None:
    found = cell(name, epsilon, parameter)
    assert found.region is region
    assert {key: getattr(found, key) for key in known} == known


def test_the_exponential_mechanism_leaks_less_than_it_may() -> None:
    """Two points: e**(-eps d / 2) over its sum leaks eps/2 there."""
    found = cell("exponential-line", "1", "0")
    assert found.leakage_ratio < 1
    assert found.region is FEASIBLE


def test_geometric_noise_gains_by_the_decision_exactly_where_a_report_is_no_median() -> None:
    released, decided = (cell(name, "0.5", "0.6") for name in ("geometric", "geometric-decided"))
    assert released.region is Region.FEASIBLE
    assert decided.region is Region.OPTIMAL
    assert released.optimum == pytest.approx(decided.loss, rel=1e-6)
    assert sum(largest_step(7) ** i for i in range(1, 7)) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("k", ["2", "8", "20"])
def test_the_sign_is_optimal_beyond_the_claimed_region(k: str) -> None:
    """tanh(eps / 2)**2 2 / pi is its Fisher information but for the rounding to two cells."""
    for epsilon, region in (("1.04", Region.OPTIMAL), ("2", Region.OPTIMAL), ("2.1", None)):
        found = cell("sign-mechanism", epsilon, k)
        assert found.loss == pytest.approx(math.tanh(float(epsilon) / 2) ** 2 * 2 / math.pi)
        expected = Region.OPTIMAL if k == "2" else Region.FEASIBLE
        assert found.region is (region or expected)


# Mechanisms on an interval.


@pytest.mark.parametrize("w", ["0.5", "0.8", "1"])
@pytest.mark.parametrize(
    ("epsilon", "duchi", "piecewise", "hybrid"),
    [("0.5", 16.6708, 21.2226, 16.6708), ("2", 1.72406, 1.22756, 1.04234)],
)
def test_unbiased_means_have_the_known_variances_and_scale(
    epsilon: str, duchi: float, piecewise: float, hybrid: float, w: str
) -> None:
    """On [-1, 1] the published ones; the report stays the same where the data is a part of it."""
    at, e, x = Point(Fraction(epsilon), Fraction(w)), float(epsilon), float(w)
    two, near, both = (FORMULAS[f"{name}-mean"] for name in ("duchi", "piecewise", "hybrid"))
    assert two.measured(at).loss == pytest.approx(duchi, rel=1e-5)  # at 0
    spread = 1 / (math.exp(e / 2) - 1)  # the variance is this times x**2, and a constant
    known = piecewise - spread * (1 - x**2)
    assert near.measured(at).loss == pytest.approx(known, rel=1e-5)
    assert both.measured(at).loss == pytest.approx(hybrid, rel=1e-5)
    c = 1 / math.tanh(e / 2)
    assert two.measured(at).leakage == pytest.approx(math.log((c + x) / (c - x)), rel=1e-9)
    assert near.measured(at).leakage == pytest.approx(e, rel=1e-9)
    for formula in (two, near, both):
        assert formula.measured(at).leakage <= e * (1 + 1e-9)


@pytest.mark.parametrize("name", ["duchi-mean", "piecewise-mean", "hybrid-mean"])
def test_the_least_variance_of_half_the_interval_is_a_quarter(name: str) -> None:
    """One design for [-1, 1] is scaled; here both are made."""
    formula, epsilon, gap = FORMULAS[name], Fraction(1), FORMULAS[name].gap
    for w in (Fraction(1, 2), Fraction(1)):
        at = Point(epsilon, w)
        (scaled,) = formula.optima([at])
        own = design(formula.problem(at), gap=gap)
        assert scaled.bound <= float(own.value) * (1 + 1e-12)
        assert float(own.bound) <= scaled.value * (1 + 1e-12)
        found = Cell.of(formula, at, scaled)
        assert found.region is Region.FEASIBLE
        assert found.loss > found.optimum >= found.bound >= found.optimum * (1 - gap)


# Boundaries.


@pytest.mark.parametrize("epsilon", ["0.2", "0.7", "1.5"])
@pytest.mark.parametrize(
    "name",
    [
        *(f"lip-rr-{loss}" for loss in ("survey", "absolute", "hamming", "one-sided-hamming")),
        *("bounded-prior", "grr-hamming", "geometric"),
    ],
)
def test_the_regions_change_at_the_boundary(name: str, epsilon: str) -> None:
    formula = FORMULAS[name]
    (line,) = formula.boundaries
    least, most = min(formula.axis.values), max(formula.axis.values)
    height = Fraction(line.height(float(epsilon))).limit_denominator(10**6)
    step = Fraction(1, 1000)
    if not least + step <= height <= most - step:
        above = line.below if height > most else line.above  # the whole map is on one side
        assert cell(name, epsilon, str((least + most) / 2)).region is above
        return
    assert cell(name, epsilon, str(height + step)).region is line.above
    assert cell(name, epsilon, str(height - step)).region is line.below


@pytest.mark.parametrize("name", ["lip-rr-sum", "grr-l2-risk", "subset-selection-size"])
@pytest.mark.parametrize("epsilon", ["0.6", "1.3"])
def test_the_regions_of_whole_numbers_change_at_the_boundary(name: str, epsilon: str) -> None:
    for line in FORMULAS[name].boundaries:
        height = line.height(float(epsilon))
        assert cell(name, epsilon, str(math.ceil(height))).region is line.above
        assert cell(name, epsilon, str(math.floor(height))).region is line.below


@pytest.mark.slow
def test_every_quick_cell_is_where_it_is_proved_to_be(atlas: Atlas) -> None:
    proved = [found for found in atlas.cells if found.proved]
    assert [found for found in proved if found.proved != found.region] == []
    assert len(proved) > 100


def test_no_private_formula_beats_the_bound(atlas: Atlas) -> None:
    for found in atlas.cells:
        if found.region is not Region.INFEASIBLE:
            sign = 1 if found.sense == "minimize" else -1
            assert sign * (found.loss - found.bound) >= -1e-9 * abs(found.bound)
            assert found.loss_ratio >= 1 - 1e-6  # the best channel found is so close to the bound
        if found.region is Region.OPTIMAL:
            assert abs(found.loss - found.bound) <= 1e-6 * abs(found.bound)
        gap = abs(found.optimum - found.bound) / abs(found.optimum)
        assert gap <= FORMULAS[found.formula].gap, found
        if found.region is Region.FEASIBLE:  # the other one that is better is there
            assert sign * (found.loss - found.optimum) > 0, found


FINITE = [formula for formula in FORMULAS.values() if isinstance(formula, Formula)]


@pytest.mark.parametrize("formula", FINITE, ids=str)
def test_privacy_has_both_halves(formula: Formula) -> None:
    """The channel is private at what it is said to leak, and not a little below."""
    channels = ((at, formula.channel(at)) for at in formula.points(quick=True))
    at, channel = next(found for found in channels if len(found[1].outputs) > 1)
    problem = formula.problem(at)
    (notion,) = problem.privacy
    if not notion.has_epsilon:
        pytest.skip("a bound on one side has no epsilon")
    leakage = Fraction(notion.leakage(channel, problem.prior))
    assert notion.at(leakage).holds(channel, problem.prior)
    assert not notion.at(leakage * Fraction(999, 1000)).holds(channel, problem.prior)


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=str)
def test_a_formula_has_a_description(formula: Entry) -> None:
    assert formula.source
    assert formula.claim
    assert type(formula).__doc__
    assert set(formula.axis.quick) <= set(formula.axis.values)
    assert list(formula.axis.values) == sorted(set(formula.axis.values))
    assert set(formula.points(quick=True)) <= set(formula.points())


# Files and runs.


def test_the_files_hold_the_same_cells(folder: Path, atlas: Atlas) -> None:
    assert set(atlas.maps) == set(FORMULAS)
    assert Atlas.from_json(json.loads(json.dumps(atlas.to_json()))) == atlas
    with (folder / FILES["table"]).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert tuple(map(Cell.from_json, rows)) == atlas.cells
    assert {row["region"] for row in rows} == {"optimal", "feasible", "infeasible"}


def refuse(*_: object, **__: object) -> Any:
    raise AssertionError("a finished cell was computed again")


def test_a_run_that_was_ended_goes_on(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without three lines, and with half of a fourth, only four cells are computed."""
    lines = (folder / FILES["cells"]).read_text(encoding="utf-8").splitlines(keepends=True)
    wanted = [line for line in lines if json.loads(line)["cell"]["formula"] in QUICK]
    kept = "".join(wanted[:-4]) + wanted[-4][:40]
    (tmp_path / FILES["cells"]).write_text(kept, encoding="utf-8")

    whole = [
        found for found in Atlas.load_json(folder / FILES["data"]).cells if found.formula in QUICK
    ]
    again = build_atlas(tmp_path, quick=True, only=QUICK, progress=False)
    for before, found in zip(whole, again.cells, strict=True):
        same = attrgetter("formula", "epsilon", "parameter", "region", "loss")
        assert same(found) == same(before)
        assert found.optimum == pytest.approx(before.optimum, rel=1e-6)
    assert (tmp_path / FILES["maps"]).read_bytes().startswith(b"\x89PNG")
    after = (tmp_path / FILES["cells"]).read_text(encoding="utf-8").splitlines()
    assert len(after) == len(wanted) - 4 + 1 + 4

    table = (tmp_path / FILES["table"]).read_bytes()
    monkeypatch.setattr("benchmarks.atlas.base.design_each", lambda problems, **_: problems)
    monkeypatch.setattr(Cell, "of", refuse)
    assert build_atlas(tmp_path, quick=True, only=QUICK, progress=False) == again
    assert (tmp_path / FILES["table"]).read_bytes() == table
