"""Composite mechanisms: the law of each part, scores, sizes and refusals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.linalg
from hypothesis import given, strategies as st

from mechdesign import BlockLDP, Domain, HighLowLDP, InputError
from mechdesign.exact import exp_lower
from mechdesign.mechanisms import (
    ByComponent,
    GeneralizedRandomizedResponse,
    HadamardResponse,
    HighLow,
    Mechanism,
    OptimizedUnaryEncoding,
    SubsetSelection,
)
from mechdesign.mechanisms.base import WHOLE
from mechdesign.reports import Tally
from mechdesign.sampling import Source, source_of
from tests.mechanisms_support import (
    AMONG_SENSITIVE,
    IN_BLOCKS,
    block_hadamard,
    check_budget,
    exact_table,
    high_low_hadamard,
    high_low_projective_geometry,
    high_low_randomized_response,
    high_low_subset_selection,
    mixed,
    scores,
)
from tests.refusals_support import check_refused
from tests.strategies import examples

Make = Callable[..., ByComponent]

budgets = st.sampled_from([Fraction("0.05"), Fraction(1), Fraction(3)])


@st.composite
def partitions(draw: st.DrawFn) -> list[list[int]]:
    member = draw(st.lists(st.integers(0, 2), min_size=2, max_size=7).filter(any))
    return [[x for x in range(len(member)) if member[x] == b] for b in sorted(set(member))]


def size_of(blocks: list[list[int]]) -> int:
    return sum(map(len, blocks))


@pytest.mark.parametrize("make", IN_BLOCKS)
@given(partitions(), budgets)
@examples(8)
def test_a_row_is_that_of_its_part(make: Make, blocks: list[list[int]], epsilon: Fraction) -> None:
    """Q[x, (b, y)] is the part's Q[rank of x, y] in the block of x, and 0 in all others."""
    whole = make(size_of(blocks), epsilon, blocks)
    table, start = exact_table(whole), 0
    for block, part in zip(blocks, whole.parts, strict=True):
        assert len(part.inputs) == len(block)
        inner, end = exact_table(part), start + part.n_outputs
        for x in range(size_of(blocks)):
            expected = inner[block.index(x)] if x in block else [Fraction(0)] * part.n_outputs
            assert table[x][start:end] == expected
        start = end
    assert start == whole.n_outputs


def test_blocks_of_one_input_leak_nothing() -> None:
    assert block_hadamard(3, 1, [[0], [1], [2]]).leakage == 0


def test_parts_may_be_of_different_kinds_and_budgets() -> None:
    whole = mixed()
    assert whole.alphabet.listed().dtype.names == ("part", "report")
    check_budget(whole, Fraction(2), slack=1e-8)


def test_blocks_that_are_alike_share_one_mechanism() -> None:
    blocks = np.arange(60).reshape(20, 3).tolist()
    whole = block_hadamard(60, 1, blocks)
    assert len(whole.parameters()["parts"]) == 1
    separate = ByComponent(60, BlockLDP(1, blocks), [HadamardResponse(3, 1) for _ in blocks])
    assert separate == whole
    assert hash(separate) == hash(whole)
    assert len(separate.parameters()["parts"]) == 1


def test_a_grid_has_the_blocks_of_its_notion() -> None:
    grid = Domain.grid(4, 6)
    whole = block_hadamard(grid, 1, block_rows=2, block_columns=3)
    assert whole.privacy == BlockLDP(1, block_rows=2, block_columns=3)
    labels = whole.privatize([(0, 0), (1, 2), (0, 3), (3, 5)], rng=1).labels()
    assert [block for block, _ in labels] == [0, 0, 1, 3]


def test_a_block_of_one_input_has_the_budget_of_the_others() -> None:
    """One block is LDP: the same law as the mechanism itself."""
    alone = block_hadamard(5, 1, [[0, 1, 2, 3, 4]])
    assert exact_table(alone) == exact_table(HadamardResponse(5, 1))


@pytest.mark.parametrize(
    ("blocks", "parts", "words"),
    [
        ([[0, 1], [2]], [None], "parts: expected 2 mechanisms, one for each block, given 1"),
        ([[0, 1], [2]], [None, None], r"parts\[0\]: expected a mechanism on the inputs 0..1"),
        (
            [[0, 1], [2]],
            [GeneralizedRandomizedResponse(["a", "b"], 1), None],
            r"parts\[0\]: expected a mechanism on the inputs 0..1, as its part has 2",
        ),
        (
            [[0, 1], [2]],
            [GeneralizedRandomizedResponse(2, 2), None],
            r"parts\[0\]: expected a mechanism within epsilon = 1",
        ),
        ([[0, 1]], [GeneralizedRandomizedResponse(2, 1)], "is in no block"),
    ],
)
def test_parts_that_do_not_fit_are_refused(blocks: Any, parts: Any, words: str) -> None:
    check_refused(words, lambda: ByComponent(3, BlockLDP(1, blocks), parts))


def test_reports_that_are_none_are_refused_by_their_place() -> None:
    alphabet = block_hadamard(4, 1, [[0, 1], [2, 3]]).alphabet
    assert alphabet.read([" 1:3", "0: 2"]).tolist() == [7, 2]
    for texts, words in (
        (["0:1", "2:1"], r"reports\[1\]: expected part:report, the part one of 0, 1"),
        (["0:1", "1"], r"reports\[1\]: expected part:report"),
        (["0:1", "1:2", "0:4"], r"reports\[2\].*labels of the domain"),
    ):
        check_refused(words, alphabet.read, texts)
    for labels, words in (
        ([(0, 1), 5], r"reports\[1\]: expected a pair \(part, report\)"),
        ([(0, 1), (True, 1)], r"reports\[1\]"),
        ([(0, 1), (1, 9)], r"reports\[1\]"),
    ):
        check_refused(words, alphabet.encode, labels)


def test_a_tally_of_something_else_is_refused() -> None:
    whole = block_hadamard(4, 1, [[0, 1], [2, 3]])
    check_refused("counts", lambda: whole.frequencies(Tally(np.ones(8, dtype=np.int64), 8)))
    with pytest.raises(InputError, match="at least one report"):
        whole.frequencies(whole.tally(whole.privatize([])))


MakeHighLow = Callable[..., HighLow]
Matrix = npt.NDArray[np.float64]


@st.composite
def sides(draw: st.DrawFn) -> tuple[int, list[int]]:
    """Draw how many inputs there are and which are sensitive, at least one and not all."""
    k = draw(st.integers(2, 7))
    return k, draw(st.lists(st.integers(0, k - 1), min_size=1, max_size=k - 1, unique=True))


def float_table(mechanism: Mechanism) -> Matrix:
    return np.array([[float(q) for q in row] for row in exact_table(mechanism)])


@pytest.mark.parametrize("sensitive", [3, 4, 6, 7, 13])
def test_a_projective_space_with_all_its_points_has_nothing_to_balance(sensitive: int) -> None:
    """As many inputs as points: the inner scores sum to 1 at every report, and f = 0."""
    mechanism = high_low_projective_geometry(sensitive + 1, 1, list(range(sensitive)))
    assert mechanism._inner.n_outputs == sensitive
    table, own = float_table(mechanism), scores(mechanism)
    assert table @ own.T == pytest.approx(np.eye(sensitive + 1), abs=1e-9)
    assert mechanism.risk == pytest.approx(
        ((own**2 @ table.mean(axis=0)) - 1 / (sensitive + 1) ** 2).sum(), rel=1e-9
    )


def risk_of_best_estimator(mechanism: Mechanism, p: Matrix) -> float:
    """Return tr M**-1 - |p|**2: n times the total variance of generalised least squares."""
    table = float_table(mechanism)
    weighted = table / (p @ table) @ table.T
    return float(np.trace(np.linalg.inv(weighted)) - p @ p)


def risk_of_scores(mechanism: Mechanism, p: Matrix) -> float:
    """Return n times the total variance of the mechanism's own estimates."""
    return float((scores(mechanism) ** 2 @ (p @ float_table(mechanism))).sum() - p @ p)


@pytest.mark.parametrize("make", AMONG_SENSITIVE)
@given(sides(), budgets)
@examples(10)
def test_others_join_the_hidden_as_often_as_the_budget_allows(
    make: MakeHighLow, side: tuple[int, list[int]], epsilon: Fraction
) -> None:
    """Others send a uniform hidden report with probability w = 1 / (f (e**eps - 1) + 1).

    f is the share of the reports that each sensitive input favors: w = 2 / (e**eps + 1) for 1/2, as
    published with Hadamard response, and e**-eps for one sensitive input, by Mangat.
    """
    k, sensitive = side
    mechanism, hidden = make(k, epsilon, sensitive), sorted(sensitive)
    inner, others = float_table(mechanism.inner), [x for x in range(k) if x not in hidden]
    size, share = inner.shape[1], (inner[0] == inner[0].max()).mean()
    w = 1 / (share * (float(exp_lower(epsilon)) - 1) + 1)
    expected = np.zeros((k, size + len(others)))
    expected[hidden, :size] = inner
    expected[others, :size] = w / size
    expected[others, size + np.arange(len(others))] = 1 - w
    assert np.allclose(float_table(mechanism), expected, rtol=1e-9)
    assert np.isclose(mechanism.parameters()["uniform"] / WHOLE, w, rtol=1e-9)
    if make is high_low_hadamard and len(hidden) > 1:  # S = 2**ceil(log2(s + 1)) for one copy
        assert make(k, epsilon, hidden, copies=1).inner.n_outputs == 1 << len(hidden).bit_length()


class Metered(Source):
    """A source that counts the words that are taken."""

    simulated = True

    def __init__(self, seed: int) -> None:
        self._below, self.taken = source_of(seed), 0

    def bytes(self, count: int) -> npt.NDArray[np.uint8]:
        return self.words(-(-count // 8)).view(np.uint8)[:count]

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        self.taken += count
        return self._below.words(count)


@pytest.mark.parametrize("make", [high_low_hadamard, high_low_randomized_response])
def test_the_number_of_random_bits_depends_on_the_report_only(make: MakeHighLow) -> None:
    """Among hidden reports, those of sensitive inputs and of others that joined are alike."""
    scheme, taken = make(6, 1, [0, 1, 2]), set()
    for x in range(6):
        for seed in range(40):
            source = Metered(seed)
            report = scheme.draw(np.array([x]), source)
            if scheme.alphabet.labels(report)[0][0] == "hidden":
                taken.add((x > 2, source.taken))
    assert len({words for _, words in taken}) == 1
    assert len(taken) == 2


@pytest.mark.parametrize(
    ("s", "k", "size", "ours", "published"),
    [(5, 20, 2, 10.9886, 13.7562), (4, 8, 1, 9.0132, 11.534)],
)
def test_the_gain_over_the_published_scheme(
    s: int, k: int, size: int, ours: float, published: float
) -> None:
    """n times the total variance of the best linear unbiased estimator at the uniform law."""
    p = np.full(k, 1 / k)
    best, hadamard = high_low_subset_selection(k, 1, range(s)), high_low_hadamard(k, 1, range(s))
    assert best.inner.parameters()["size"] == size
    assert np.isclose(risk_of_best_estimator(best, p), ours, atol=6e-5)
    assert np.isclose(risk_of_best_estimator(hadamard, p), published, atol=6e-4)


def published_scores(mechanism: HighLow, hidden: list[int]) -> Matrix:
    """Return the published estimators of high-low Hadamard response for each report alone.

    p_A = ((e + 1) h([S]) - 2)/(e - 1); 2 (e + 1)/(e - 1) (h(S_x) - 1/(e + 1)) - p_A for sensitive
    x, and (e + 1)/(e - 1) h(own label) for the others.
    """
    k, e, size = len(mechanism.inputs), np.e, mechanism.inner.n_outputs
    found = np.zeros((k, mechanism.n_outputs))
    in_reports = np.arange(mechanism.n_outputs) < size
    of_a = ((e + 1) * in_reports - 2) / (e - 1)
    signs = scipy.linalg.hadamard(size)
    for n, x in enumerate(hidden):
        in_set = np.zeros(mechanism.n_outputs)
        in_set[:size] = (signs[n + 1] + 1) / 2
        found[x] = 2 * (e + 1) / (e - 1) * (in_set - 1 / (e + 1)) - of_a
    for n, x in enumerate(x for x in range(k) if x not in hidden):
        found[x, size + n] = (e + 1) / (e - 1)
    return found


@pytest.mark.parametrize(("s", "k"), [(2, 4), (3, 8), (5, 20), (7, 9)])
def test_the_scores_are_the_published_ones_and_what_they_lack_of_a_sum_of_one(
    s: int, k: int
) -> None:
    """s_x + b_x f with f = 1 - Sum_x s_x, which has mean 0: the published are those with b = 0."""
    mechanism = high_low_hadamard(k, 1, range(s))
    p, table = np.full(k, 1 / k), float_table(mechanism)
    published, ours = published_scores(mechanism, list(range(s))), scores(mechanism)
    assert np.allclose(table @ published.T, np.eye(k), atol=1e-12)
    surplus = 1 - published.sum(axis=0)
    assert np.allclose(table @ surplus, 0, atol=1e-12)
    added = ours - published
    share = added @ surplus / (surplus @ surplus)
    assert np.allclose(added, np.outer(share, surplus), atol=1e-9)
    theirs = float((published**2 @ (p @ table)).sum() - p @ p)
    best = risk_of_best_estimator(mechanism, p)
    assert best <= risk_of_scores(mechanism, p) <= best * 1.01 < 0.93 * theirs


@given(st.integers(2, 6), st.integers(1, 4), budgets)
@examples(10)
def test_the_size_is_the_best_and_its_estimates_too(s: int, others: int, epsilon: Fraction) -> None:
    """By enumeration of sizes; and generalised least squares has nothing to add to the scores."""
    k = s + others
    p = np.full(k, 1 / k)
    risks = []
    for size in range(1, s):
        mechanism = high_low_subset_selection(k, epsilon, range(s), size=size)
        risks.append(risk_of_best_estimator(mechanism, p))
        assert np.isclose(risk_of_scores(mechanism, p), risks[-1], rtol=1e-6)
    best = high_low_subset_selection(k, epsilon, range(s))
    assert np.isclose(risk_of_best_estimator(best, p), min(risks), rtol=1e-6)


def test_the_estimates_of_one_sensitive_input_are_the_best() -> None:
    for make in AMONG_SENSITIVE:
        mechanism, p = make(["a", "b", "c"], 1, ["b"]), np.array([0.2, 0.3, 0.5])
        assert np.isclose(risk_of_scores(mechanism, p), risk_of_best_estimator(mechanism, p))


def test_reports_name_hidden_and_open() -> None:
    mechanism = high_low_randomized_response(["a:b", "c", "d"], 1, ["c", "d"])
    assert mechanism.outputs() == [("hidden", 0), ("hidden", 1), ("open", "a:b")]
    assert mechanism.alphabet.write(mechanism.listed()) == ["hidden:0", "hidden:1", "open:a:b"]
    assert mechanism.alphabet.read(["open:a:b", "hidden:1"]).tolist() == [2, 1]
    with pytest.raises(InputError, match=r"reports\[1\]: expected part:report"):
        mechanism.alphabet.read(["open:a:b", "secret:1"])


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        (None, "inner: expected a mechanism on the inputs 0..1"),
        (HadamardResponse(3, 1), "inner: expected a mechanism on the inputs 0..1"),
        (GeneralizedRandomizedResponse(["a", "b"], 1), "inner: expected a mechanism on"),
        (SubsetSelection(2, 2), "inner: expected a mechanism within epsilon = 1"),
        (OptimizedUnaryEncoding(2, 1), "inner: expected Hadamard response, subset selection or"),
    ],
)
def test_an_inner_mechanism_that_does_not_fit_is_refused(inner: Any, words: str) -> None:
    check_refused(words, lambda: HighLow(4, HighLowLDP(1, [0, 2]), inner))
