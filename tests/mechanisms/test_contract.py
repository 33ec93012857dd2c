"""Every mechanism: the published law, private exactly as stated, unbiased, drawn from its law."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from hypothesis import assume, given, strategies as st

import mechdesign as md
from mechdesign import LDP, LIP, BlockLDP, Domain, HighLowLDP, Prior
from mechdesign.exact import exp_lower, exp_upper
from mechdesign.mechanisms import (
    GeneralizedRandomizedResponse,
    GeometricNoise,
    HadamardResponse,
    LIPRandomizedResponse,
    Mechanism,
    OptimizedUnaryEncoding,
    PlanarLaplace,
    ProjectiveGeometryResponse,
    SubsetSelection,
    SymmetricUnaryEncoding,
    around_sensitive,
    by_block,
)
from mechdesign.mechanisms.base import WHOLE
from mechdesign.mechanisms.bit_rows import read_bits
from mechdesign.mechanisms.set_system import LDPMechanism
from mechdesign.reports import Tally
from tests.mechanisms_support import (
    AMONG_SENSITIVE,
    IN_BLOCKS,
    INNER,
    block_hadamard,
    check_budget,
    check_draws,
    check_moments,
    check_outputs,
    check_unbiased,
    exact_table,
    largest_ratio,
    mixed,
    scores,
)
from tests.refusals_support import check_refused
from tests.strategies import examples

OPTIONS: dict[type[LDPMechanism], tuple[int, Callable[[int], st.SearchStrategy[Any]]]] = {
    GeneralizedRandomizedResponse: (12, lambda _: st.just({})),
    HadamardResponse: (12, lambda k: st.sampled_from([{}, {"copies": 1}, {"copies": min(k, 3)}])),
    ProjectiveGeometryResponse: (12, lambda _: st.sampled_from([{}, {"field": 2}, {"field": 3}])),
    SubsetSelection: (6, lambda k: st.fixed_dictionaries({"size": st.integers(1, k - 1)})),
    OptimizedUnaryEncoding: (5, lambda _: st.sampled_from([{}, {"digits": 62}])),
    SymmetricUnaryEncoding: (5, lambda _: st.sampled_from([{}, {"digits": 62}])),
}
"""The most inputs to try, and the options for so many."""


@st.composite
def under_ldp(draw: st.DrawFn, kind: type[LDPMechanism]) -> Mechanism:
    most, options = OPTIONS[kind]
    k = draw(st.integers(2, most))
    epsilon = draw(st.sampled_from(["0.01", "0.5", "1", "3", "20"]))
    assume(kind is not ProjectiveGeometryResponse or epsilon != "20")
    make: Callable[..., LDPMechanism] = kind
    return make(k, epsilon, **draw(options(k)))


@st.composite
def in_blocks(draw: st.DrawFn, kind: type[LDPMechanism]) -> Mechanism:
    member = draw(st.lists(st.integers(0, 2), min_size=2, max_size=7).filter(any))
    blocks = [[x for x in range(len(member)) if member[x] == b] for b in sorted(set(member))]
    epsilon = draw(st.sampled_from(["0.05", "1", "3"]))
    return by_block(kind, len(member), BlockLDP(epsilon, blocks))


@st.composite
def among_sensitive(draw: st.DrawFn, kind: type[LDPMechanism]) -> Mechanism:
    k = draw(st.integers(2, 7))
    sensitive = draw(st.lists(st.integers(0, k - 1), min_size=1, max_size=k - 1, unique=True))
    epsilon = draw(st.sampled_from(["0.05", "1", "3"]))
    return around_sensitive(kind, k, HighLowLDP(epsilon, sensitive))


@st.composite
def under_lip(draw: st.DrawFn) -> Mechanism:
    epsilon = Fraction(draw(st.sampled_from(["0.2", "1", "2", "5", "25"])))
    prior = Prior.from_counts(draw(st.lists(st.integers(1, 60), min_size=2, max_size=7)))
    assume(prior.minimum * (exp_lower(epsilon) + 1) >= 1)
    return LIPRandomizedResponse(len(prior), epsilon, prior)


PAIRWISE: dict[str, st.SearchStrategy[Mechanism]] = {
    **{kind.name: under_ldp(kind) for kind in OPTIONS},
    **{f"{kind.name} in blocks": in_blocks(kind) for kind in INNER},
    **{f"{kind.name} among sensitive inputs": among_sensitive(kind) for kind in INNER},
}
"""Mechanisms of a notion that bounds ratios of two rows."""

EVERY = {
    **PAIRWISE,
    LIPRandomizedResponse.name: under_lip(),
    "mixed": st.builds(mixed),
    "line": st.builds(lambda: GeometricNoise(5, 1)),
    "plane": st.builds(lambda: PlanarLaplace(Domain.grid(2, 3, "0.5"), 3)),
}


# --- the law --------------------------------------------------------------------------------------


def randomized(made: GeneralizedRandomizedResponse, odds: float) -> Any:
    """Return e**eps / (e**eps + k - 1) for the truth, else 1 / (...)."""
    k = len(made.inputs)
    return np.where(np.eye(k, dtype=bool), odds, 1) / (odds + k - 1)


def hadamard(made: HadamardResponse, odds: float) -> Any:
    """Return e**eps / (s e**eps + K - s) on the s = b/2 numbers of S_x (Acharya et al. 2019)."""
    k, copies = len(made.inputs), made.copies
    b = made.n_outputs // copies
    assert b == 1 << (b.bit_length() - 1)
    assert b // 2 < -(-k // copies) + 1 <= b
    inside = np.zeros((k, copies, b), dtype=bool)
    for x in range(k):
        inside[x, x % copies] = scipy.linalg.hadamard(b)[x // copies + 1] > 0
    return np.where(inside.reshape(k, -1), odds, 1) / (b / 2 * (odds + 2 * copies - 1))


def projective(made: ProjectiveGeometryResponse, odds: float) -> Any:
    """Return e**eps / (c e**eps + N - c) on the c points orthogonal to x (Feldman et al. 2022)."""
    q, t, n = made.field, made.dimension, made.n_outputs
    assert n == (q**t - 1) // (q - 1) >= len(made.inputs)
    assert t == 2 or (q ** (t - 1) - 1) // (q - 1) < len(made.inputs)
    vectors, c = made._space.vectors(np.arange(n)), (q ** (t - 1) - 1) // (q - 1)
    inside = (vectors @ vectors.T % q == 0)[: len(made.inputs)]
    assert (inside.sum(axis=1) == c).all()
    return np.where(inside, odds, 1) / (c * odds + n - c)


def subsets(made: SubsetSelection, odds: float) -> Any:
    """Return e**eps for sets that contain x, 1 for others, in proportion (Ye and Barg 2018)."""
    sets = [*itertools.combinations(range(len(made.inputs)), made.size)]
    assert made.outputs() == sets
    weights = np.array([[odds if x in held else 1.0 for held in sets] for x in made.inputs])
    return weights / weights.sum(axis=1, keepdims=True)


def independent_bits(made: Any, _odds: float) -> Any:
    """Return p or 1 - p for the bit of x, times q or 1 - q for each other bit, exactly."""
    (p, q), k = made.chances, len(made.inputs)
    rows = [bits[::-1] for bits in itertools.product((0, 1), repeat=k)]  # the first bit is lowest
    chance = {(True, 1): p, (True, 0): 1 - p, (False, 1): q, (False, 0): 1 - q}
    return np.array(
        [[np.prod([chance[x == z, bits[z]] for z in range(k)]) for bits in rows] for x in range(k)]
    )


def lip_response(made: LIPRandomizedResponse, odds: float) -> Any:
    """Return 1 - (1 - P_x) e**-eps on the diagonal, P_y e**-eps elsewhere (Jiang et al. 2018)."""
    return (1 - 1 / odds) * np.eye(len(made.prior)) + made.prior.array / odds


LAWS: dict[type[Mechanism], tuple[Callable[[Any, float], Any], float]] = {
    GeneralizedRandomizedResponse: (randomized, 1e-8),
    HadamardResponse: (hadamard, 1e-9),
    ProjectiveGeometryResponse: (projective, 1e-12),
    SubsetSelection: (subsets, 1e-9),
    OptimizedUnaryEncoding: (independent_bits, 0),
    SymmetricUnaryEncoding: (independent_bits, 0),
    LIPRandomizedResponse: (lip_response, 1e-15),
}
"""The published law of each kind, and the relative error allowed; 0 for an exact one."""


@pytest.mark.parametrize("kind", LAWS)
@given(st.data())
@examples(15)
def test_its_law_is_the_published_one(kind: type[Mechanism], data: st.DataObject) -> None:
    made, (law, error) = data.draw(EVERY[kind.name]), LAWS[kind]
    expected = law(made, float(exp_lower(made.privacy.epsilon)))
    table = np.array(exact_table(made))
    near = 0.0 if made.prior is None else 1e-15 + float(Fraction(40, WHOLE) / made.prior.minimum)
    if error:
        assert np.allclose(table.astype(float), expected, rtol=error, atol=near)
    else:
        assert (table == expected).all()
    masses = table * WHOLE
    if all(mass.denominator == 1 for mass in masses.ravel()):  # the matrix is not rounded
        assert (made.dense().numerators == masses).all()
    else:
        assert kind not in (GeneralizedRandomizedResponse, LIPRandomizedResponse)


@pytest.mark.parametrize("name", PAIRWISE)
@given(st.data())
@examples(8)
def test_it_is_private_and_not_more(name: str, data: st.DataObject) -> None:
    made = data.draw(PAIRWISE[name])
    table, pairs = exact_table(made), range(len(made.inputs))
    ratios = [largest_ratio(table, x, z) for x in pairs for z in pairs if x != z]
    assert made.largest_ratio() == max([r for r in ratios if r is not None], default=1)
    notion: Any = made.privacy
    if "digits" in getattr(made, "options", {}):  # a matrix of so many sets is rounded
        made = type(made).restored(made.inputs, notion, {"digits": 62})
    else:
        assert at(notion, notion.epsilon + Fraction(1, 10**6)).holds(made.dense())
        narrower = at(notion, notion.epsilon * Fraction(999, 1000))
        assert set(ratios) <= {None, 1} or not narrower.holds(made.dense())
    if not set(ratios) <= {None, 1}:
        check_budget(made, notion.epsilon, slack=1e-8)


def at(notion: Any, epsilon: Fraction) -> Any:
    """Return the same notion at another budget."""
    if isinstance(notion, LDP):
        return LDP(epsilon)
    if isinstance(notion, HighLowLDP):
        return HighLowLDP(epsilon, notion.sensitive)
    return BlockLDP(epsilon, notion.blocks)


@pytest.mark.parametrize("name", EVERY)
@given(st.data())
@examples(8)
def test_its_estimates_are_unbiased(name: str, data: st.DataObject) -> None:
    made = data.draw(EVERY[name])
    check_unbiased(made)
    check_moments(made)
    check_outputs(made)


@given(under_lip())
@examples(16)
def test_it_bounds_every_lift_exactly_and_no_less(mechanism: LIPRandomizedResponse) -> None:
    epsilon, prior = mechanism.privacy.epsilon, mechanism.prior
    bound = exp_lower(epsilon)
    table, law = exact_table(mechanism), mechanism.output_distribution(prior)
    lifts = [q / total for row in table for q, total in zip(row, law, strict=True)]
    assert 1 / bound <= min(lifts)
    assert max(lifts) <= bound
    assert mechanism.largest_ratio() == max(1 / min(lifts), *lifts)
    assert LIP(epsilon).holds(mechanism.dense(), prior)
    assert not LIP(epsilon * Fraction(9999, 10000)).holds(mechanism.dense(), prior)
    assert float(epsilon) * (1 - 1e-5) <= mechanism.leakage <= float(epsilon) * (1 + 1e-15)


@given(st.sampled_from([Fraction("0.2"), Fraction(1), Fraction(2), Fraction(5), Fraction(25)]))
@examples(5)
def test_it_holds_on_the_border_and_is_refused_below(epsilon: Fraction) -> None:
    """The region is P_min >= 1/(e**eps + 1), with the rational bounds of e**eps on either side."""
    inside, outside = 1 / (exp_lower(epsilon) + 1), 1 / (exp_upper(epsilon) + 1)
    mechanism = LIPRandomizedResponse(2, epsilon, Prior([inside, 1 - inside]))
    assert LIP(epsilon).holds(mechanism.dense(), mechanism.prior)
    less = outside * (1 - Fraction(1, 2**150))
    with pytest.raises(md.UnsupportedError, match="1/"):
        LIPRandomizedResponse(2, epsilon, Prior([less, 1 - less]))


def test_outside_the_region_the_error_has_the_leakage_of_the_formula() -> None:
    """P = 0.01 at epsilon = 1: 4.15 epsilon, the erratum."""
    with pytest.raises(md.UnsupportedError, match=r"would leak 4.1523 = 4.15 epsilon") as found:
        LIPRandomizedResponse(2, 1, Prior(["0.01", "0.99"]))
    assert "P_min = 0.01" in str(found.value)
    with pytest.raises(md.UnsupportedError, match="leak inf"):
        LIPRandomizedResponse(2, 1, Prior([0, 1]))


SETS = [kind.name for kind in (SubsetSelection, OptimizedUnaryEncoding, SymmetricUnaryEncoding)]


@pytest.mark.parametrize("name", [*SETS, f"{SubsetSelection.name} in blocks"])
@given(st.data())
@examples(15)
def test_the_mean_square_of_a_combination_is_exact(name: str, data: st.DataObject) -> None:
    """At the expected counts it is E[(Sum_x w_x s_x(Y))**2], though counts are by input only."""
    made, total = data.draw(EVERY[name]), 1 << 44
    k = len(made.inputs)
    prior = Prior.from_counts(
        data.draw(st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any))
    )
    law = np.array([float(q) for q in made.output_distribution(prior)])
    weights = np.random.default_rng(k).normal(size=k)
    values = weights @ scores(made)
    tally = Tally(np.rint(total * made.expected_counts(prior.array)).astype(np.int64), total)
    mean, square = made.combination(tally, weights)
    assert np.isclose(mean, law @ values, rtol=1e-6, atol=1e-6)
    assert np.isclose(square, law @ values**2, rtol=1e-6)


@given(under_ldp(SubsetSelection))
@examples(8)
def test_the_chances_of_subset_selection_are_those_of_its_law(made: SubsetSelection) -> None:
    k, table = len(made.inputs), exact_table(made)
    assert made.bits_per_report == pytest.approx(np.log2(made.n_outputs))
    assert np.allclose(scores(made).sum(axis=0), 1)
    assert np.allclose(scores(made).mean(axis=1), float(made.uniform_score), rtol=1e-7)
    for x, z in itertools.product(range(k), repeat=2):
        held = read_bits(made.listed(), z)
        share = sum(mass for mass, bit in zip(table[x], held, strict=True) if bit)
        assert share == made.chances[x != z]


# --- draws ----------------------------------------------------------------------------------------

BLOCKS, SENSITIVE = [(5, 1, [[0, 2, 4], [1], [3]])], [(5, 1, [1, 2, 4]), (3, 1, [1])]


@pytest.mark.parametrize(
    ("make", "cases"),
    [
        (GeneralizedRandomizedResponse, [(2, 1), (3, 1), (10, 1)]),
        (HadamardResponse, [(2, 1, 1), (3, 1, 1), (8, 1, 1), (2, 1, 2), (5, 1, 2), (7, 1, 3)]),
        (ProjectiveGeometryResponse, [(3, 1, 2), (7, 1, 2), (9, 1, 3), (31, 2, 5)]),
        (SubsetSelection, [(2, 1, 1), (3, 1, 1), (5, 1, 2), (6, 1, 3), (5, 1, 4), (5, 4)]),
        (OptimizedUnaryEncoding, [(2, 1), (3, 1), (4, 1), (3, Fraction("0.3"))]),
        (SymmetricUnaryEncoding, [(2, 1), (3, 1), (4, 1), (3, Fraction("0.3"))]),
        (LIPRandomizedResponse, [(["a", "b", "c"], 1, Prior(["0.3", "0.3", "0.4"]))]),
        *((make, BLOCKS) for make in IN_BLOCKS),
        *((make, SENSITIVE) for make in AMONG_SENSITIVE),
        (mixed, [()]),
        (GeometricNoise, [(5, 1)]),
        (PlanarLaplace, [(Domain.grid(2, 3, "0.5"), 3)]),
    ],
)
def test_its_draws_follow_the_law(
    make: Callable[..., Mechanism], cases: list[tuple[Any, ...]]
) -> None:
    for seed, case in enumerate(cases):
        check_draws(make(*case), seed=10 * seed)


@pytest.mark.parametrize("made", [HadamardResponse(6, 2), ProjectiveGeometryResponse(6, 1)])
def test_every_record_takes_as_many_words_whatever_was_before_it(made: Mechanism) -> None:
    first, second = (made.privatize(records, rng=3).data for records in (range(6), [5] * 6))
    assert first[5] == second[5]


FLAT = Prior.from_counts((50 + np.arange(1500) % 50).tolist())
ROWS, FIRST = BlockLDP(1, np.arange(1750).reshape(70, 25).tolist()), HighLowLDP(2, range(40))

MANY: dict[str, Callable[[], Mechanism]] = {
    "randomized response": lambda: GeneralizedRandomizedResponse(2000, 4),
    "Hadamard": lambda: HadamardResponse(43_750, 1),
    "projective": lambda: ProjectiveGeometryResponse(5000, 2),
    "subsets": lambda: SubsetSelection(1000, 1),
    "optimized unary": lambda: OptimizedUnaryEncoding(1000, 1),
    "symmetric unary": lambda: SymmetricUnaryEncoding(1000, 1),
    "LIP": lambda: LIPRandomizedResponse(1500, 10, FLAT),
    **{f"blocks of {made.__name__}": partial(by_block, made, 1750, ROWS) for made in INNER},
    **{f"high-low {made.__name__}": partial(around_sensitive, made, 2000, FIRST) for made in INNER},
}


@pytest.mark.parametrize("name", MANY)
def test_many_inputs_are_estimated_within_their_errors(name: str) -> None:
    made, n = MANY[name](), 20_000 if "subsets" in name or "unary" in name else 50_000
    k = len(made.inputs)
    records = np.random.default_rng(2).integers(0, 700 if made.prior is None else k, size=n)
    truth = np.bincount(records, minlength=k) / n
    reports = made.privatize(records, rng=5)
    tally = made.tally(reports)
    found = made.frequencies(tally)
    errors = np.sqrt(made.variances(Prior.from_counts(np.bincount(records, minlength=k))) / n)
    assert (np.abs(found.estimates - truth) <= 5 * errors + 1e-12).all()
    several = made.batch_frequencies(np.array([tally.counts] * 2), np.array([n, n]))
    assert (several.estimates == found.estimates).all()
    weights = np.arange(k) / k
    mean, square = made.combination(tally, weights)
    assert abs(mean - weights @ truth) < 5 * np.sqrt((square - mean**2) / n)
    assert made.largest_ratio() <= exp_lower(made.privacy.epsilon)
    assert 0 < made.mass(int(records[0]), reports.data[:1]) < 1
    assert len(made.privatize([], rng=1)) == 0
    assert not made.privatize([0]).simulated


# --- files, equality and refusals -----------------------------------------------------------------


AB = ["a", "b"]
SAME: list[tuple[Callable[..., Mechanism], tuple[tuple[Any, ...], ...]]] = [
    (SubsetSelection, ((6, 1), (6, 1, 2), (6, 1, 3))),
    (OptimizedUnaryEncoding, ((5, 1), (5, 1, 2), (5, 1, 3))),
    (HadamardResponse, ((20, 5, 3), (20, 5, 3), (20, 5, 1))),
    (ProjectiveGeometryResponse, ((AB, 2, 3), (AB, "2", 3), (AB, 2, 2))),
    (
        LIPRandomizedResponse,
        tuple((2, 1, Prior([p, 1 - p])) for p in map(Fraction, ("0.4", "2/5", "0.6"))),
    ),
]


@pytest.mark.parametrize(("make", "cases"), SAME)
def test_equal_parameters_make_equal_mechanisms(make: Callable[..., Mechanism], cases: Any) -> None:
    one, same, other = (make(*case) for case in cases)
    assert one == same != other


WRONG: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    *((kind, (5, epsilon), "epsilon") for kind in OPTIONS for epsilon in (0, 31, -1, "1e-25")),
    *((kind, (5, float("nan")), "epsilon") for kind in OPTIONS),
    *((kind, (1, 1), "inputs: expected at least two inputs, given 1") for kind in OPTIONS),
    *((block_hadamard, (4, e, [[0, 1], [2, 3]]), "epsilon") for e in (0, 31, -1)),
    *(
        (among, arguments, words)
        for among in AMONG_SENSITIVE
        for arguments, words in (
            ((3, 1, [0, 1, 2]), "sensitive: expected an input that is not sensitive.*it is LDP"),
            ((3, 1, [5]), "sensitive: expected labels of the domain"),
            ((3, 1, []), "sensitive"),
            *(((3, epsilon, [0]), "epsilon") for epsilon in (0, 31, "1e-25")),
        )
    ),
    (HadamardResponse, (["a"], 1), "inputs: expected at least two inputs, given 1"),
    (HadamardResponse, (5, 0), "epsilon: expected a number from 1e-06 to 30, given 0"),
    (HadamardResponse, (5.5, 1), "size"),
    (HadamardResponse, (5, 1, 0), "copies: expected a whole number from 1 to 5, given 0"),
    (HadamardResponse, (5, 1, 6), "copies: expected a whole number from 1 to 5, given 6"),
    (ProjectiveGeometryResponse, (5, 1, 4), "field: expected a prime, given 4"),
    (ProjectiveGeometryResponse, (5, 1, 1), "field: expected a whole number from 2 to 10, given 1"),
    (ProjectiveGeometryResponse, (5, 1, "x"), "field: expected a whole number"),
    (
        ProjectiveGeometryResponse,
        (4000, 1, 2999),
        "field: expected at most 8388608 reports, given 8997001 of them",
    ),
    *(
        (SubsetSelection, (5, 1, size), "size: expected a whole number from 1 to 4")
        for size in (0, 5, 1.5, True, "2")
    ),
    *(
        (OptimizedUnaryEncoding, (5, 1, n), "digits: expected a whole number from 1 to 62")
        for n in (0, 63, 1.5, True, "3")
    ),
    (SymmetricUnaryEncoding, (5, 1, 1), r"given p = q = 0\.5; more digits would serve"),
    (OptimizedUnaryEncoding, (3, 1, None, 1), "digits"),
    *((OptimizedUnaryEncoding, (3, 1, 2, n), "others") for n in (0, 4, "1")),
    (LIPRandomizedResponse, (Domain.range(3), 1, Prior.uniform(2)), "expected 3 probabilities"),
    (LIPRandomizedResponse, (2, 0, Prior.uniform(2)), "epsilon"),
    (HadamardResponse(3, 1).probability, (0, 4), r"y\[0\]"),
    (HadamardResponse(3, 1).probability, (3, 0), "x: expected labels of the domain"),
    (
        SubsetSelection(5, 1, 2).probability,
        (0, [0, 1, 2]),
        r"y\[0\]: expected a set of 2 inputs, given 3 inputs",
    ),
]


@pytest.mark.parametrize(("make", "arguments", "words"), WRONG)
def test_wrong_arguments_are_refused(
    make: Callable[..., Any], arguments: tuple[Any, ...], words: str
) -> None:
    check_refused(words, make, *arguments)
