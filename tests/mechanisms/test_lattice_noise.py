"""Noise on lines and grids: its law, draws, estimates, and what it is refused for."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign import LDP, BlockLDP, Domain, InputError, Prior, SolverError, estimate, save
from mechdesign.accounting import leakages
from mechdesign.exact import exp_lower, exp_upper, sqrt_lower, sqrt_upper
from mechdesign.kernel import verify
from mechdesign.mechanisms import (
    ByComponent,
    GeometricNoise,
    PlanarLaplace,
    mechanism_for,
    torus_law,
)
from mechdesign.mechanisms.lattice_noise import LatticeNoise
from mechdesign.mechanisms.remap_table import LOSSES
from mechdesign.mechanisms.torus_law import TorusLaw
from tests.mechanisms_support import Given, exact_table
from tests.refusals_support import check_refused
from tests.strategies import examples

WHOLE = 1 << 62
exponents = st.sampled_from(["3", "5.5", "9", "30"]).map(Fraction)
grids = st.tuples(st.integers(1, 5), st.integers(2, 5))


def length(law: TorusLaw, a: int, b: int) -> tuple[Fraction, Fraction]:
    """Return bounds on the length of a displacement, by its definition."""
    near = [min(abs(v + N * w) for w in (-1, 0, 1)) for v, N in zip((a, b), law.torus, strict=True)]
    if not law.euclidean:
        return Fraction(sum(near)), Fraction(sum(near))
    square = Fraction(sum(v * v for v in near))
    return sqrt_lower(square), sqrt_upper(square)


@given(grids, exponents, st.booleans())
@examples(15)
def test_weights_sum_to_one_and_are_private_at_every_pair(
    sides: tuple[int, int], exponent: Fraction, euclidean: bool
) -> None:
    """G(|a|) <= e**(eps | |a| - |b| |) G(|b|), for all displacements a and b."""
    law = TorusLaw.of_budget(sides, exponent, euclidean)
    assert law.table.sum() == WHOLE
    by_length = {}
    for (a, b), weight in np.ndenumerate(law.table):
        by_length.setdefault(length(law, a, b), set()).add(int(weight))
    assert all(len(weights) == 1 for weights in by_length.values())  # of the length only
    weight_of = {bounds: weights.pop() for bounds, weights in by_length.items()}
    for (low, high), (other_low, other_high) in product(weight_of, repeat=2):
        apart = max(low - other_high, other_low - high, Fraction(0))
        ratio = Fraction(weight_of[low, high], weight_of[other_low, other_high])
        assert ratio <= exp_upper(exponent * apart)


@given(grids, st.sampled_from(["0.2", "1", "4"]).map(Fraction), st.booleans())
@examples(15)
def test_the_budget_is_used_up(sides: tuple[int, int], exponent: Fraction, euclidean: bool) -> None:
    law = TorusLaw.of_budget(sides, exponent, euclidean)
    ratio = Fraction(law.weights[0], law.weights[1])
    assert exp_upper(exponent * (1 - Fraction(1, 10**12))) < ratio <= exp_lower(exponent)


@given(grids, exponents, st.booleans(), st.randoms(use_true_random=False))
@examples(15)
def test_masses_are_sums_over_the_points_that_are_reported_alike(
    sides: tuple[int, int], exponent: Fraction, euclidean: bool, random: object
) -> None:
    """The sums over rectangles are those of the points themselves, each clamped to the grid."""
    law = TorusLaw.of_budget(sides, exponent, euclidean)
    every = [np.arange(n) for n in sides]
    for x in product(*map(range, sides)):
        expected = np.zeros(sides, dtype=np.int64)
        for a, b in np.ndindex(*law.torus):
            z = (a - law.margins[0], b - law.margins[1])
            y = tuple(min(max(v, 0), n - 1) for v, n in zip(z, sides, strict=True))
            expected[y] += law.table[(z[0] - x[0]) % law.torus[0], (z[1] - x[1]) % law.torus[1]]
        assert (law.masses(x, (every[0], every[1])) == expected).all()
        assert (law.masses((every[0], every[1]), x)[x] == expected[x]).all()
        assert expected.sum() == WHOLE


def test_walking_noise_is_two_sided_geometric_along_each_side() -> None:
    """(1 - a) / (1 + a) a**|j| with a = e**-eps, where that is more than the floor."""
    line = TorusLaw.of_budget((1, 30), Fraction(1, 2), euclidean=False)
    plane = TorusLaw.of_budget((8, 8), Fraction(1, 2), euclidean=False)
    a = math.exp(-0.5)
    alone = (1 - a) / (1 + a) * a ** np.arange(10)
    assert np.allclose(line.table[0, :10] / WHOLE, alone, rtol=1e-6)
    assert np.allclose(plane.table[:10, :10] / WHOLE, np.outer(alone, alone), rtol=1e-6)


def test_planar_noise_falls_with_the_euclidean_distance() -> None:
    law = TorusLaw.of_budget((8, 8), Fraction(1, 2), euclidean=True)
    expected = np.exp(-0.5 * np.hypot(*np.indices((10, 10))))
    assert np.allclose(law.table[:10, :10] / law.table[0, 0], expected, rtol=1e-9)


def test_sides_of_two_points_have_no_margin() -> None:
    law = TorusLaw.of_budget((2, 3), Fraction(1), euclidean=True)
    assert law.margins[0] == 0 < law.margins[1]
    assert TorusLaw.of_budget((1, 2), Fraction(1), euclidean=False).torus == (1, 2)


@pytest.mark.parametrize("euclidean", [False, True])
def test_a_torus_is_no_larger_than_it_may_be(
    euclidean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torus_law, "MOST_CELLS", 1 << 14)
    law = TorusLaw.of_budget((20, 30), Fraction(1, 1000), euclidean)
    assert np.prod(law.torus) <= torus_law.MOST_CELLS
    assert law.table.sum() == WHOLE


def test_a_budget_beyond_the_resolution_is_refused() -> None:
    with pytest.raises(md.UnsupportedError, match=r"a unit of 2\*\*-62"):
        TorusLaw.of_budget((9, 9), Fraction(1, 10**12), euclidean=False)


budgets = st.sampled_from(["0.3", "1", "2.5", "7"])


@st.composite
def noises(draw: st.DrawFn) -> LatticeNoise:
    epsilon = draw(budgets)
    if draw(st.booleans()):
        first, step = draw(st.integers(-3, 3)), draw(st.integers(1, 3))
        return GeometricNoise([first + step * n for n in range(draw(st.integers(2, 7)))], epsilon)
    rows, columns = draw(st.tuples(st.integers(1, 4), st.integers(2, 4)))
    kind = draw(st.sampled_from([GeometricNoise, PlanarLaplace]))
    return kind(Domain.grid(rows, columns, draw(st.sampled_from(["0.5", 1, 3]))), epsilon)


@st.composite
def reported(draw: st.DrawFn) -> LatticeNoise:
    """Noise, of which every report may be replaced by the input of least loss."""
    made, weights = draw(noises()), st.integers(1, 9)
    if draw(st.booleans()):
        return made
    k = len(made.inputs)
    prior = Prior.from_counts(draw(st.lists(weights, min_size=k, max_size=k)))
    return made.remapped(prior, draw(st.sampled_from(sorted(LOSSES))))


def least_distance(made: LatticeNoise, x: int, z: int) -> Fraction:
    points = made.inputs.coordinates
    steps = [abs(a - b) for a, b in zip(points[x], points[z], strict=True)]
    if made.privacy.distance == "euclidean":
        return sqrt_lower(sum((step**2 for step in steps), Fraction(0)))
    return sum(steps, Fraction(0))


@given(reported())
@examples(16)
def test_it_is_private_exactly_and_no_more(made: LatticeNoise) -> None:
    """All pairs, all reports, in rationals; and not private with a millionth less."""
    table, epsilon = exact_table(made), made.privacy.epsilon
    k = len(table)
    for x in range(k):
        for z in range(k):
            bound = exp_lower(epsilon * least_distance(made, x, z))
            assert all(q <= bound * r for q, r in zip(table[x], table[z], strict=True))
    leakage = made.privacy.leakage(made.dense())
    assert made.leakage <= float(epsilon) * (1 + 1e-15)
    assert leakage <= made.leakage * (1 + 1e-12)
    if made.remap is None:
        assert leakage >= made.leakage * (1 - 1e-6)
        less = made.privacy.at(epsilon * Fraction(999_999, 1_000_000))
        assert not less.holds(made.dense())


@given(reported())
@examples(10)
def test_no_two_rows_differ_by_more_than_the_largest_ratio(made: LatticeNoise) -> None:
    """By it a part of a composite is accepted or refused."""
    for one, other in permutations(exact_table(made), 2):
        assert all(q <= made.largest_ratio() * r for q, r in zip(one, other, strict=True))


@given(reported(), st.integers(0, 2**32 - 1))
@examples(16)
def test_rows_the_matrix_and_the_operator_agree(made: LatticeNoise, seed: int) -> None:
    k = len(made.inputs)
    table = np.array(exact_table(made)) * 2**62
    assert (np.array([made.row(x) for x in range(k)]) == table).all()
    assert (made.dense().numerators == table).all()
    vector = np.random.default_rng(seed).random(k)
    matrix, operator = made.dense().matrix, made.operator()
    assert np.allclose(operator @ vector, matrix @ vector, rtol=0, atol=1e-13)
    assert np.allclose(vector @ operator, vector @ matrix, rtol=0, atol=1e-12)


@given(reported(), st.integers(0, 10**6))
@examples(16)
def test_draws_have_the_law_exactly(made: LatticeNoise, seed: int) -> None:
    """Reports are constant between the sums of weights, and what leads to each is its mass."""
    k = len(made.inputs)
    x, ends = seed % k, [0, *made.law.cumulative.tolist()]
    assert ends[-1] == 1 << 62
    first, last = ends[:-1], [end - 1 for end in ends[1:]]
    found: Counter[int] = Counter()
    for chances in (first, last):
        words = np.array(chances, dtype=np.uint64) << np.uint64(2)
        drawn = made.draw(np.full(len(words), x), Given(words.view(np.uint8)))
        found.clear()
        for y, (a, b) in zip(drawn.tolist(), pairwise(ends), strict=True):
            found[y] += b - a
        assert [found[y] for y in range(k)] == made.row(x).tolist()


def test_its_leakage_is_in_nats_per_unit_of_distance() -> None:
    """Beside that of LDP, for the two inputs that are furthest apart."""
    found = leakages(GeometricNoise(Domain.grid(3, 4, "0.5"), 2))
    told = {row.notion: row.value for row in found.rows}
    assert told["metric"] == 2
    assert told["ldp"] == pytest.approx(2 * 0.5 * 5, rel=1e-6)


def test_noise_is_no_part_under_a_budget_that_it_has_for_one_step_only() -> None:
    """LDP inside a block bounds any two inputs, which noise tells apart the better the further."""
    with pytest.raises(InputError, match=r"parts\[0\]: expected a mechanism within epsilon = 1"):
        ByComponent(4, BlockLDP(1, [[0, 1, 2], [3]]), [GeometricNoise(3, 1), None])


def test_geometric_noise_is_the_published_one() -> None:
    """Ghosh et al. 2009: at the ends, all that falls beyond them."""
    a = float(Decimal(-1).exp())
    ends = 1 / (1 + a)
    for x, row in enumerate(exact_table(GeometricNoise(5, 1))):
        expected = [(1 - a) * ends * a ** abs(x - y) for y in range(5)]
        expected[0], expected[4] = a**x * ends, a ** (4 - x) * ends
        assert [float(q) for q in row] == pytest.approx(expected, abs=1e-8)


def test_a_file_brings_it_back(tmp_path: Path) -> None:
    made = PlanarLaplace(Domain.grid(4, 5), 1).remapped(Prior.from_counts(range(1, 21)))
    save(made, tmp_path / "noise.json")
    again = md.load_mechanism(tmp_path / "noise.json").mechanism
    assert again == made
    assert (again.row(7) == made.row(7)).all()
    assert again != PlanarLaplace(Domain.grid(4, 5), 1)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (10, 10)])
def test_noise_of_a_tiny_budget_is_saved(shape: tuple[int, int], tmp_path: Path) -> None:
    """The mass that rounding leaves goes to the length 0: another step reaches the budget."""
    made = GeometricNoise(Domain.grid(*shape), "0.0001")
    save(made, tmp_path / "noise.json")
    assert md.load_mechanism(tmp_path / "noise.json").mechanism == made


@pytest.mark.parametrize(
    "made",
    [
        PlanarLaplace(Domain.grid(128, 128), "0.35"),
        GeometricNoise(20_000, "0.1"),
        GeometricNoise(Domain.grid(60, 80), "0.1"),
    ],
    ids=repr,
)
def test_large_domains(made: LatticeNoise) -> None:
    """No matrix: the proof from the file, rows that sum to 1, and draws."""
    k = len(made.inputs)
    document = made.document()
    verify(document)
    assert len(document["law"]["weights"]) < 3000
    for x in (0, k // 3, k - 1):
        row = made.row(x)
        assert row.sum() == 1 << 62
        assert row[x] == made.mass(x, np.array([x])) * 2**62
    reports = made.privatize(list(made.inputs)[:1000], rng=1)
    assert len(reports) == 1000
    with pytest.raises(md.UnsupportedError, match="at most 2048 inputs"):
        estimate(made, reports)


def test_many_inputs_are_estimated_by_maximum_likelihood() -> None:
    """By transforms: the gap is what it says, and standard errors are said not to be known."""
    made = PlanarLaplace(Domain.grid(50, 60), 1)
    rng = np.random.default_rng(2)
    truth = np.zeros(3000)
    truth[rng.integers(0, 3000, 20)] = 1 / 20
    truth /= truth.sum()
    records = rng.choice(3000, 30_000, p=truth)
    reports = made.privatize([made.inputs.labels[x] for x in records], rng=3)
    found = estimate(made, reports, method="maximum-likelihood")
    assert 0 <= found.gap <= 0.01
    assert found.values.sum() == pytest.approx(1)
    counts = made.tally(reports).counts
    shares = counts / counts.sum()
    assert np.abs(found.values - truth).sum() < 0.7 * np.abs(shares - truth).sum()
    assert np.isnan(found.standard_errors).all()
    assert any("not known for so many" in note for note in found.notes)
    likelihood = [shares @ np.log(p @ made.operator()) for p in (found.values, truth)]
    assert likelihood[0] >= likelihood[1] - found.gap
    assert "3000 inputs" in repr(found)
    with pytest.raises(SolverError, match="ask for less by tolerance"):
        estimate(made, reports, method="maximum-likelihood", tolerance=1e-12)


def test_a_remap_hides_too_much_for_unbiased_estimates() -> None:
    made = GeometricNoise(range(6), 1).remapped(Prior.uniform(6))
    with pytest.raises(md.UnsupportedError, match="without a remap"):
        estimate(made, made.privatize([1, 2, 3], rng=1))


def test_it_is_made_for_a_notion() -> None:
    grid = Domain.grid(2, 3)
    assert mechanism_for(
        "geometric-noise", grid, md.MetricPrivacy(1, "manhattan")
    ) == GeometricNoise(grid, 1)
    assert mechanism_for("planar-laplace", grid, md.MetricPrivacy(1, "euclidean")) == PlanarLaplace(
        grid, 1
    )
    line = mechanism_for("geometric-noise", Domain.range(4), md.MetricPrivacy(1, "euclidean"))
    assert line.privacy.distance == "euclidean"
    assert line.parameters() == GeometricNoise(4, 1).parameters()


def test_a_remap_needs_a_prior_and_noise() -> None:
    grid, notion = Domain.grid(2, 3), md.MetricPrivacy(1, "euclidean")
    prior = Prior.from_counts(range(1, 7))
    made = mechanism_for("planar-laplace", grid, notion, prior, remap="hamming")
    assert made == PlanarLaplace(grid, 1).remapped(prior, "hamming")
    with pytest.raises(InputError, match="planar-laplace with a remap needs one"):
        mechanism_for("planar-laplace", grid, notion, remap="hamming")
    with pytest.raises(InputError, match="loss: expected one of"):
        mechanism_for("planar-laplace", grid, notion, prior, remap="worst")
    with pytest.raises(InputError, match="remap: expected none"):
        mechanism_for("randomized-response", grid, LDP(1), prior, remap="hamming")


WRONG = [
    ("geometric-noise", Domain.grid(2, 3), md.MetricPrivacy(1, "euclidean"), "privacy.distance"),
    ("planar-laplace", Domain.grid(2, 3), md.MetricPrivacy(1, "manhattan"), "privacy.distance"),
    ("planar-laplace", Domain.range(4), md.MetricPrivacy(1, "absolute"), "inputs: expected a grid"),
    ("geometric-noise", Domain(["a", "b"]), md.MetricPrivacy(1, "absolute"), "equally spaced"),
    ("geometric-noise", Domain([0, 1, 3]), md.MetricPrivacy(1, "absolute"), "equally spaced"),
    ("geometric-noise", Domain([1, 0]), md.MetricPrivacy(1, "absolute"), "rising order"),
    ("geometric-noise", Domain.range(2), md.MetricPrivacy(1, [[0, 1], [1, 0]]), "privacy.distance"),
    ("geometric-noise", Domain.range(4), md.MetricPrivacy("1e-5", "absolute"), "epsilon"),
    ("geometric-noise", Domain.range(4), md.MetricPrivacy(31, "absolute"), "epsilon"),
    ("geometric-noise", Domain.range(4), LDP(1), "under ldp"),
    ("hadamard-response", Domain.range(4), md.MetricPrivacy(1, "absolute"), "under metric"),
]


@pytest.mark.parametrize(("kind", "domain", "notion", "words"), WRONG)
def test_what_it_is_not_for_is_refused(
    kind: str, domain: Domain, notion: object, words: str
) -> None:
    check_refused(words, mechanism_for, kind, domain, notion)
