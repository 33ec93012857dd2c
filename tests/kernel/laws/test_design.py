"""Noise as the answer to a problem: what it loses, what nothing loses less than, no false claim.

The loss is compared with that of all rows, one by one; the bound with the optimum of the textbook
linear program.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    Domain,
    EuclideanDistance,
    HammingLoss,
    MeanSquaredDistance,
    MetricPrivacy,
    Prior,
    Problem,
    design,
    resources,
)
from mechdesign.errors import CertificateError, LimitError
from mechdesign.kernel.arithmetic import over_one_denominator
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.documents import OPTIMAL_GAP, relative_gap
from mechdesign.kernel.generators import Block
from mechdesign.kernel.laws import Laws, design as laws_design
from mechdesign.kernel.laws.design import loss_of_noise, loss_steps
from mechdesign.kernel.laws.torus import Torus
from mechdesign.kernel.linearizations import Costs
from mechdesign.kernel.names import ProblemTable, compile_problem
from mechdesign.kernel.oracles import Orthant
from mechdesign.kernel.packed import Places, Weights, unpacked
from mechdesign.kernel.relaxations import Cells, Representatives
from mechdesign.kernel.schema import read
from mechdesign.kernel.statement import Statement
from mechdesign.kernel.verify import verify
from mechdesign.mechanisms import GeneralizedRandomizedResponse, GeometricNoise, PlanarLaplace
from mechdesign.mechanisms.lattice_noise import LatticeNoise
from mechdesign.utilities.base import LinearUtility
from tests.documents import Document, as_read, refused, sealed
from tests.kernel.changes import Change, put
from tests.strategies import examples, lp_optimum

LOSSES: dict[str, LinearUtility] = {
    "euclidean": EuclideanDistance(),
    "squared": MeanSquaredDistance(),
    "hamming": HammingLoss(),
}


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Some people on a line or on a grid, a few points of it empty."""
    step = draw(st.sampled_from(["0.5", 1, 3]))
    rows, columns = draw(st.tuples(st.integers(1, 3), st.integers(3, 4)))
    domain, distance = Domain.grid(rows, columns, step), draw(st.sampled_from(DISTANCES))
    if draw(st.booleans()):
        domain, distance = Domain([2 + 3 * n for n in range(draw(st.integers(3, 7)))]), "absolute"
    counts = draw(st.lists(st.integers(0, 5), min_size=len(domain), max_size=len(domain)))
    prior = Prior.from_counts([counts[0] + 1, *counts[1:]])
    epsilon, loss = draw(st.sampled_from(["0.3", "1"])), draw(st.sampled_from([*LOSSES]))
    return Problem(domain, MetricPrivacy(epsilon, distance), LOSSES[loss], prior=prior)


DISTANCES = ["euclidean", "manhattan"]


def noise_for(problem: Problem) -> LatticeNoise:
    notion = problem.sole_notion(MetricPrivacy)
    kind = PlanarLaplace if notion.distance == "euclidean" else GeometricNoise
    return kind(problem.domain, notion)


def checked(problem: Problem, noise: LatticeNoise) -> tuple[Torus, Statement]:
    """Return the noise and the problem as the kernel reads them."""
    table = read(ProblemTable, {**problem.to_table(), "outputs": None})
    statement = compile_problem(replace(table, outputs=problem.domain.labels)).statement
    found = read(Laws, noise.to_table()["law"]).leak(statement.cone[0], statement.k)
    return found, statement


def of_all_rows(problem: Problem, noise: LatticeNoise) -> Fraction:
    """Return the expected loss, summed over all inputs and outputs."""
    loss, domain, total = problem.expected_loss, problem.domain, Fraction(0)
    table = loss.loss(domain, domain.labels)
    for x, p in enumerate(problem.prior):
        for y, mass in enumerate(noise.row(x).tolist() if p else ()):
            total += p * mass / 2**62 * table.bound(int(table.numerators[x, y]), up=True)
    return total


def remapped(problem: Problem, noise: LatticeNoise, block: int) -> LatticeNoise:
    loss: Any = problem.expected_loss
    return noise.remapped(problem.prior, loss.distance, block)


@examples(15)
@given(problem=problems(), block=st.sampled_from([0, 1, 2, 3]))
def test_the_value_is_that_of_all_rows(problem: Problem, block: int) -> None:
    noise = noise_for(problem)
    if block:
        noise = remapped(problem, noise, block)
    total, value = of_all_rows(problem, noise), loss_of_noise(*checked(problem, noise))
    assert abs(value - total) <= total / 2**140
    rooted = isinstance(problem.expected_loss, EuclideanDistance)
    assert not rooted or value >= total - total / 2**140


@pytest.mark.parametrize(
    ("shape", "loss"), [("line", "euclidean"), *(("grid", loss) for loss in LOSSES)]
)
def test_far_inputs_are_counted_at_the_largest_loss(shape: str, loss: str) -> None:
    """Where a remap is summed over near inputs alone, the value is above that of all rows."""
    domain, distance = (
        (Domain.grid(9, 11), "euclidean") if shape == "grid" else (Domain(range(70)), "absolute")
    )
    masses = [(n * n) % 7 for n in range(len(domain))]
    prior = Prior.from_counts([5, *masses[1:]])
    problem = Problem(domain, MetricPrivacy(4, distance), LOSSES[loss], prior=prior)
    noise = remapped(problem, noise_for(problem), 2)
    torus, statement = checked(problem, noise)
    total, moves = of_all_rows(problem, noise), laws_design._Moves(torus, statement)
    aim = statement.objective
    m, (held, whole) = torus.sides[1], over_one_denominator(aim.weights)
    rows = [held[a : a + m] for a in range(0, len(held), m)]
    value = Fraction(moves.loss(rows), whole * 2**62 * aim.costs.denominator)
    assert moves._reach < max(torus.sides) - 1
    assert total < value <= total + total / 2**20
    assert loss_of_noise(torus, statement) in (value, pytest.approx(total, rel=2**-20))


def test_a_point_moved_far_costs_its_far_inputs() -> None:
    """All people are just beyond the inputs that are summed one by one, and the loss is large."""
    size, z = 70, 7
    people = (z - 6, z + 6)
    prior = Prior.from_counts([int(x in people) for x in range(size)])
    problem = Problem(
        Domain(range(size)), MetricPrivacy(4, "absolute"), LOSSES["euclidean"], prior=prior
    )
    noise = noise_for(problem)
    torus, statement = checked(problem, noise)
    remap = [size - 1 if y == z else y for y in range(size)]
    moves = laws_design._Moves(replace(torus, remap=remap), statement)
    assert moves._reach == 5
    rows = [noise.row(x).tolist() for x in people]
    total = sum(
        mass * abs(x - remap[y])
        for x, row in zip(people, rows, strict=True)
        for y, mass in enumerate(row)
    )
    assert total < moves.loss([[int(x in people) for x in range(size)]]) <= total * (1 + 2**-20)


def cells_of(draw: st.DrawFn, sides: tuple[int, int]) -> list[list[int]]:
    """Return rectangles that hold all points, and some that hold points twice."""
    ends = [sorted(draw(st.sets(st.integers(1, n)))) for n in sides]
    parts = [list(zip([0, *e], [*e, n], strict=True)) for e, n in zip(ends, sides, strict=True)]
    found = [[a, b - 1, c, d - 1] for a, b in parts[0] for c, d in parts[1] if a < b and c < d]
    return found + found[: draw(st.integers(0, 2))]


@examples(12)
@given(problem=problems(), data=st.data())
def test_any_proof_is_of_a_bound_that_holds(problem: Problem, data: st.DataObject) -> None:
    """Whatever the rectangles, the representatives, and the multipliers."""
    draw, k, noise = data.draw, len(problem.domain), noise_for(problem)
    cells = cells_of(draw, noise.law.sides)
    some = sorted(draw(st.sets(st.integers(0, k - 1), min_size=1)))
    stands = [x if x in some else draw(st.sampled_from(some)) for x in range(k)]
    size = draw(st.integers(0, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    pairs = rng.choice(some, size=(size, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    size = len(pairs)
    kept = sorted(set(stands))
    x, other = (Places(kept.index(z) for z in axis.tolist()) for axis in pairs.T)
    weight = Weights((rng.random(size) * draw(st.sampled_from([0.01, 0.1]))).tolist())
    node = Places(rng.integers(0, len(cells), size).tolist())
    block = Block("cone", 0, node, x, weight, other)
    relaxations = Cells(tuple(map(tuple, cells))), Representatives(tuple(stands))
    proof = Certificate(Costs(), Orthant(), relaxations, (block,))
    assert float(proof.bound(checked(problem, noise)[1])) <= lp_optimum(problem).value + 1e-7


# --- a file -------------------------------------------------------------------------------------


COUNTS = [(x * 7) % 5 for x in range(36)]

CITY = Problem(
    Domain.grid(6, 6),
    MetricPrivacy("0.8", "euclidean"),
    EuclideanDistance(),
    prior=Prior.from_counts(COUNTS),
)


@pytest.fixture(scope="module")
def honest() -> Document:
    return as_read(design(CITY, route="noise", gap=1e-6, time_limit=60))


@pytest.fixture
def document(honest: Document) -> Document:
    return copy.deepcopy(honest)


def test_an_honest_file_is_accepted_and_its_numbers_are_those_of_the_problem(
    document: Document,
) -> None:
    verified, best = verify(document), design(CITY)
    assert best.gap < 1e-6
    assert 0.95 * best.value <= verified.bound <= best.value <= verified.value <= 1.2 * best.value
    assert document["value"] == pytest.approx(float(verified.value), rel=1e-15)
    assert len(verified.claims) == 5
    claims(bound=document["bound"] * 0.5)(document)  # less is claimed than is proved
    assert verify(sealed(document)).bound == verified.bound


def claims(**by: Any) -> Change:
    """Claim another value or bound, with the gap and the status that fit."""

    def change(document: Document) -> None:
        document.update(by)
        gap = relative_gap(document["value"], document["bound"])
        document.update(gap=gap, status="optimal" if gap <= OPTIMAL_GAP else "bounded")

    return change


def scaled(key: str, by: float, more: float = 0.0) -> Change:
    return lambda d: claims(**{key: d[key] * by + more})(d)


def cells(d: Document) -> list[list[int]]:
    return d["certificate"]["relaxations"][0]["cells"]


def unpacked_weights(by: float) -> Change:
    """Multiply all multipliers."""

    def change(document: Document) -> None:
        for block in document["certificate"]["multipliers"]:
            block["weight"] = [by * w for w in unpacked(block["weight"], Weights)]

    return change


OBJECTIVE = ("problem", "utility", "objective")
SQUARED = put(*OBJECTIVE, "mean-squared-distance")
FORGED: list[tuple[Change, str]] = [
    (scaled("value", 1 - 1e-9), "the value is"),
    (scaled("value", 1 + 1e-9), "the value is"),
    (scaled("bound", 1, 1e-7), "the bound proved is"),
    (lambda d: claims(bound=d["value"])(d), "the bound proved is"),
    (put("certificate", "multipliers", []), "the bound proved is"),
    (put("problem", "prior", lambda prior: prior[::-1]), "the value is"),
    (lambda d: d["problem"].pop("prior"), "states no prior"),
    (lambda d: d["problem"].pop("utility"), "claimed objective"),
    (lambda d: d["problem"].update(outputs=[[0, 0]]), "has no outputs"),
    (lambda d: SQUARED(d) or put("objective", "mean-squared-distance")(d), "the value is"),
    (put(*OBJECTIVE, "mean-absolute-error"), "no distance"),
    (put("problem", "utility", "worst_case", True), "a mean loss"),
    (lambda d: cells(d).append([0, 0, 0, 0]), "the bound proved is"),
    (unpacked_weights(2.0), "the bound proved is"),
]


@pytest.mark.parametrize(("change", "reason"), FORGED)
def test_a_false_claim_is_refused(change: Change, reason: str, document: Document) -> None:
    change(document)
    refused(document, reason)


def test_another_law_has_another_loss_than_claimed(document: Document) -> None:
    """Less noise is not private; more of it is, and loses more."""
    weights, by = document["law"]["weights"], 1 << 50
    kept = list(weights)
    weights[0], weights[1] = str(int(weights[0]) + 4 * by), str(int(weights[1]) - by)
    refused(document, "not private")
    weights[:] = kept
    other = PlanarLaplace(CITY.domain, "0.75").document()
    document["law"] |= {key: other["law"][key] for key in ("weights", "margins")}
    refused(document, "leaks less")
    document["privacy"][0]["leakage"] = other["privacy"][0]["leakage"]
    refused(document, "the value is")


def test_another_remap_has_another_loss_than_claimed(document: Document) -> None:
    remap = document["law"]["remap"]
    remap[14] = "0" if remap[14] != "0" else "1"
    refused(document, "the value is")
    del document["law"]["remap"]
    refused(document, "the value is")


def test_another_budget_has_another_bound_than_claimed(document: Document) -> None:
    """With more of it a better channel may be private, so that the bound is not proved."""
    document["problem"]["privacy"][0]["epsilon"] = "0.9"
    document["privacy"][0]["epsilon"] = 0.9
    refused(document, "the bound proved is")


def test_only_noise_has_a_design(document: Document) -> None:
    other: Document = GeneralizedRandomizedResponse(36, 1).document()
    document["law"], document["privacy"] = other["law"], other["privacy"]
    document["problem"]["privacy"] = other["problem"]["privacy"]
    refused(document, "no design is supported for randomized-response")


def test_a_law_without_a_design_has_no_objective() -> None:
    document: Document = GeneralizedRandomizedResponse(3, 1).document()
    document["problem"] |= {"utility": {"objective": "l2-risk"}, "prior": ["1/3"] * 3}
    refused(document, "no value for its objective")


def test_the_work_on_a_file_is_limited(document: Document) -> None:
    """The loss and the bound count apart, against the same limit."""
    with resources.allow(steps=1):
        assert verify(document).bound  # each entry of a file allows some
    document["law"]["margins"] = ["2000", "2000"]
    with pytest.raises(LimitError):
        verify(sealed(document))


def test_the_work_on_long_numbers_of_a_prior_is_counted() -> None:
    """Every input adds a multiple of a number as long as the common denominator of the prior."""
    steps = []
    for digits in (1, 900):
        bottoms = [10**digits + n for n in range(18)]
        pairs = [(Fraction(b // 3, 18 * b), Fraction(b - b // 3, 18 * b)) for b in bottoms]
        prior = Prior([p for pair in pairs for p in pair])
        problem = Problem(CITY.domain, CITY.privacy[0], CITY.utility, prior=prior)
        noise, statement = checked(problem, noise_for(problem))
        assert loss_of_noise(noise, statement) > 0
        steps.append(loss_steps(noise, statement))
    assert steps[1] - steps[0] >= 36 * 40


@st.composite
def replaced(draw: st.DrawFn) -> tuple[Problem, LatticeNoise]:
    """Noise of which some points are replaced, also at the border."""
    rows, columns = draw(st.sampled_from([(1, 9), (2, 7), (5, 6), (8, 3), (9, 11)]))
    distance, loss = draw(st.sampled_from(DISTANCES)), draw(st.sampled_from([*LOSSES]))
    k = rows * columns
    counts = draw(st.lists(st.sampled_from([0, 0, 1, 5]), min_size=k - 1, max_size=k - 1))
    notion = MetricPrivacy(draw(st.sampled_from(["0.3", 1, 3, 8])), distance)
    prior = Prior.from_counts([*counts, 1])
    problem = Problem(Domain.grid(rows, columns), notion, LOSSES[loss], prior=prior)
    places = st.integers(0, k - 1)
    remap = np.arange(k)
    for z, y in draw(st.lists(st.tuples(places, places), max_size=k)):
        remap[z] = y
    return problem, noise_for(problem).replacing(remap)


@examples(20)
@given(replaced())
def test_both_ways_to_sum_the_loss_agree(given_: tuple[Problem, LatticeNoise]) -> None:
    """The loss from far inputs is rounded up, by a millionth at most."""
    noise, statement = checked(*given_)
    masses, _ = over_one_denominator(statement.objective.weights)
    m = noise.sides[1]
    prior = [masses[a : a + m] for a in range(0, len(masses), m)]
    moves = laws_design._Moves(noise, statement)
    by_runs = laws_design._loss_by_runs(noise, laws_design._losses(noise, statement), prior)
    found = moves.loss(prior)
    assert by_runs <= found <= by_runs * (1 + Fraction(1, 1 << 20))
    assert found == by_runs or moves._beyond


def test_plain_noise_on_a_large_grid_is_summed_in_a_moment() -> None:
    """In steps that grow with the points, not with their square."""
    domain, notion = Domain.grid(70, 80), MetricPrivacy(1, "euclidean")
    problem = Problem(domain, notion, EuclideanDistance())
    plain = noise_for(problem)
    noise, statement = checked(problem, plain)
    assert loss_steps(noise, statement) < 100 * len(domain)
    low, high = plain.expected_loss(problem.prior)
    assert low <= loss_of_noise(noise, statement) <= high


def test_only_a_mean_loss_is_summed_and_any_statement_has_steps() -> None:
    noise, statement = checked(CITY, noise_for(CITY))
    other = replace(statement, objective=None)
    assert loss_steps(noise, other) > 0
    with pytest.raises(CertificateError, match="a mean loss"):
        loss_of_noise(noise, other)
