"""Groups with mechanisms of their own: exact expectations and variances, what each adds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mechdesign import Channel, InputError, Prior
from mechdesign.estimation import estimate, estimate_groups
from mechdesign.estimation.report_models import LEVEL, ReportModel, fit_p_value
from mechdesign.mechanisms import (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    Mechanism,
    OptimizedUnaryEncoding,
    SubsetSelection,
)
from mechdesign.reports import Reports, Tally
from tests.refusals_support import check_refused

CLOSE = 1e-9

LEFT = Channel.from_matrix([["0.8", "0.2"], ["0.3", "0.7"], ["0.3", "0.7"]])
RIGHT = Channel.from_matrix([["0.6", "0.4"], ["0.6", "0.4"], ["0.1", "0.9"]])
SHARP = Channel.from_matrix([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
LONG = Channel.from_matrix([[0.5, 0.2, 0.2, 0.1], [0.1, 0.6, 0.1, 0.2], [0.1, 0.1, 0.3, 0.5]])
BLUNT = Channel.from_matrix([[0.4, 0.3, 0.3], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]])
GRR = GeneralizedRandomizedResponse(3, 1)
HADAMARD = HadamardResponse(3, 2)
TRUTH = np.array([0.5, 0.3, 0.2])


def matrix(source: Channel | Mechanism) -> np.ndarray:
    return (source if isinstance(source, Channel) else source.dense()).matrix


def tally(source: Channel | Mechanism, sent: Any) -> Tally:
    """Return the counts of reports given by their numbers, the labels of both mechanisms."""
    size = matrix(source).shape[1]
    return Tally(np.bincount(sent, minlength=size).astype(np.int64), len(sent))


def worlds(
    sources: list[Any], sizes: list[int], truth: np.ndarray
) -> Iterator[tuple[float, list[tuple[Any, Tally]]]]:
    """Every sequence of reports of all groups, with its probability."""
    laws = [truth @ matrix(source) for source in sources]
    ways = [itertools.product(range(len(w)), repeat=n) for w, n in zip(laws, sizes, strict=True)]
    for sent in itertools.product(*map(list, ways)):
        chance = math.prod(
            float(law[y]) for law, part in zip(laws, sent, strict=True) for y in part
        )
        yield chance, [(s, tally(s, part)) for s, part in zip(sources, sent, strict=True)]


def moments(
    sources: list[Any], sizes: list[int], truth: np.ndarray, **asked: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The exact expectation and variance of the estimate, and the expectation of the stated one."""
    first, second, stated = np.zeros(3), np.zeros(3), np.zeros(3)
    for chance, groups in worlds(sources, sizes, truth):
        found = estimate_groups(groups, **asked)
        first += chance * found.values
        second += chance * found.values**2
        stated += chance * found.standard_errors**2
    return first, second - first**2, stated


@pytest.mark.parametrize(
    ("sources", "sizes"),
    [
        ([LEFT, RIGHT], [2, 1]),
        ([SHARP, BLUNT], [1, 2]),
        ([SHARP, LEFT, RIGHT], [1, 1, 1]),
        ([GRR, HADAMARD], [2, 1]),
        ([GRR, SHARP], [1, 1]),
    ],
)
def test_it_is_unbiased_whatever_the_reference(sources: list[Any], sizes: list[int]) -> None:
    for prior in (None, Prior([0.1, 0.2, 0.7])):
        first, _, _ = moments(sources, sizes, TRUTH, prior=prior)
        assert first == pytest.approx(TRUTH, abs=CLOSE)


@pytest.mark.parametrize("sizes", [[1, 2], [2, 1]])
@pytest.mark.parametrize("sources", [[SHARP, BLUNT], [GRR, HADAMARD], [HADAMARD, SHARP]])
def test_at_the_reference_it_varies_less_than_any_group_alone(
    sources: list[Any], sizes: list[int]
) -> None:
    uniform = np.full(3, 1 / 3)
    _, variance, _ = moments(sources, sizes, uniform)
    for source, n in zip(sources, sizes, strict=True):
        alone = ReportModel(source).scores().variances(Prior.uniform(3)) / n
        assert (variance <= alone + CLOSE).all()


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("source", [SHARP, LONG, GRR, HADAMARD])
def test_the_stated_variance_of_one_group_is_unbiased(source: Any, n: int) -> None:
    """A single report shows no spread: its variance is not known."""
    first, variance, stated = moments([source], [n], TRUTH)
    assert first == pytest.approx(TRUTH, abs=CLOSE)
    exact = ReportModel(source).scores().variances(Prior(TRUTH.tolist())) / n
    assert variance == pytest.approx(exact, abs=CLOSE)
    assert np.isnan(stated).all() if n == 1 else stated == pytest.approx(exact, abs=CLOSE)


@pytest.mark.parametrize("sources", [[SHARP, BLUNT], [GRR, HADAMARD], [HADAMARD, SHARP]])
def test_the_stated_variance_of_groups_is_exact_for_reports_in_proportion(
    sources: list[Any],
) -> None:
    sizes, many = [1, 2], 10**8
    _, variance, _ = moments(sources, sizes, TRUTH)
    laws = [
        (TRUTH @ matrix(source) * n * many).round()
        for source, n in zip(sources, sizes, strict=True)
    ]
    tallies = [Tally.of(law.astype(np.int64)) for law in laws]
    found = estimate_groups(list(zip(sources, tallies, strict=True)))
    assert found.standard_errors**2 * many == pytest.approx(variance, rel=1e-6)
    assert found.deviation(np.eye(3)) == pytest.approx(found.standard_errors, rel=1e-6)


def test_groups_of_many_inputs_need_memory_in_proportion() -> None:
    """A matrix of all pairs of inputs would take 80 GB."""
    k = 100_000
    made = [SubsetSelection(k, epsilon, size=2) for epsilon in (8, 9)]
    reports = [m.privatize(np.arange(100) % 7, 3) for m in made]
    found = estimate_groups(list(zip(made, reports, strict=True)), check=False)
    assert found.standard_errors.shape == (k,)


def test_at_the_reference_channels_reach_the_bound_of_all_their_information() -> None:
    """n Cov is at least the inverse of the Fisher information on the simplex, by Cramer and Rao."""
    prior, sizes = Prior([0.5, 0.3, 0.2]), [2, 1]
    total = sum(
        n * (Q := source.matrix) @ np.diag(1 / (TRUTH @ Q)) @ Q.T
        for source, n in zip((SHARP, BLUNT), sizes, strict=True)
    )
    bound = np.linalg.inv(total) - np.outer(TRUTH, TRUTH) / 3
    _, variance, _ = moments([SHARP, BLUNT], sizes, TRUTH, prior=prior)
    assert variance == pytest.approx(bound.diagonal(), abs=CLOSE)


def test_of_the_respondents_groups_count_by_size() -> None:
    """Records 0 in the first group and 2, 1 in the second are fixed; the groups are no samples."""
    records = [[0], [2, 1]]
    sources: list[Any] = [GRR, BLUNT]
    rows = [matrix(s)[x] for s, part in zip(sources, records, strict=True) for x in part]
    first, second = np.zeros(3), np.zeros(3)
    for sent in itertools.product(range(3), repeat=3):
        chance = math.prod(float(row[y]) for row, y in zip(rows, sent, strict=True))
        groups = [(GRR, tally(GRR, sent[:1])), (BLUNT, tally(BLUNT, sent[1:]))]
        found = estimate_groups(groups, target="respondents")
        first += chance * found.values
        second += chance * found.values**2
        assert found.deviation(np.eye(3)) == pytest.approx(found.standard_errors, abs=1e-6)
    assert first == pytest.approx([1 / 3] * 3, abs=CLOSE)
    alone = [estimate(GRR, tally(GRR, [0])), estimate(BLUNT, tally(BLUNT, [1, 1]))]
    found = estimate_groups(
        [(GRR, tally(GRR, [0])), (BLUNT, Tally.of([0, 2, 0]))], target="respondents"
    )
    assert found.values == pytest.approx((alone[0].values + 2 * alone[1].values) / 3)


def test_groups_that_together_do_not_tell_are_refused() -> None:
    with pytest.raises(InputError, match="2 independent rows of 3"):
        estimate_groups([(LEFT, Tally.of([6, 4])), (LEFT, Tally.of([5, 5]))])
    with pytest.raises(InputError, match="2 independent rows of 3"):
        estimate_groups([(LEFT, Tally.of([6, 4])), (RIGHT, Tally.of([5, 5]))], target="respondents")


# The test of consistency: what no records explain is refused.


CHANNELS = [
    GeneralizedRandomizedResponse(5, 1).dense(),
    HadamardResponse(6, "0.5").dense(),
    Channel.from_matrix([[1, 0, 0], [0, "1/2", "1/2"], [0, "1/2", "1/2"]]),
]


@pytest.mark.parametrize("channel", CHANNELS, ids=["response", "hadamard", "singular"])
@pytest.mark.parametrize("records", ["one", "even", "drawn"])
def test_far_fewer_than_the_level_are_refused(channel: Channel, records: str) -> None:
    """The statement holds for any records; at a level of 0.05, 1,000 collections show the bound."""
    rng, n, k = np.random.default_rng(7), 400, len(channel.inputs)
    D, V = math.sqrt(2), (channel.matrix * (1 - channel.matrix)).sum(axis=1).max()
    s = D * math.sqrt(-math.log(0.05) / (2 * n))
    exceeded = 0
    for _ in range(1000):
        p = rng.dirichlet(np.ones(k)) if records == "drawn" else np.full(k, 1 / k)
        asked = np.eye(k)[0] if records == "one" else p
        inputs = rng.multinomial(n, asked) if records == "drawn" else np.round(n * asked)
        counts = sum(
            rng.multinomial(int(m), row) for m, row in zip(inputs, channel.matrix, strict=True)
        )
        mean = (inputs / inputs.sum()) @ channel.matrix  # a point of the hull
        exceeded += np.linalg.norm(counts / counts.sum() - mean) >= math.sqrt(V / n) + s
        assert fit_p_value(channel.matrix, counts, int(counts.sum()), D) == 1
    assert exceeded <= 0.05 * 1000


def test_the_p_value_is_that_of_the_theorem() -> None:
    """With two outputs the hull is an interval, and its distance is known by hand."""
    matrix, n = np.array([[0.75, 0.25], [0.25, 0.75]]), 1000
    distance = math.sqrt(2) * (0.99 - 0.75)
    s = distance - math.sqrt(2 * 0.75 * 0.25 / n)
    found = fit_p_value(matrix, np.array([990, 10]), n, math.sqrt(2))
    assert math.log(found) == pytest.approx(-2 * n * s**2 / 2, rel=1e-6)
    assert found < LEVEL


def _sent(mechanism: Channel | Mechanism, n: int = 20_000) -> Reports:
    """Return reports of one input, which no digest names."""
    made = mechanism.privatize([mechanism.inputs.labels[-1]] * n, 3)
    return Reports(made.data, made.alphabet, made.simulated)


RESPONSE = GeneralizedRandomizedResponse
IMPOSSIBLE = {
    "sharper": (RESPONSE(4, 3).dense(), RESPONSE(4, 1).dense()),
    "sharper mechanism": (RESPONSE(4, 3), RESPONSE(4, 1)),
    "hadamard of three by two": (HadamardResponse(3, 1), HadamardResponse(2, 1)),
    "subsets by unary encoding": (
        SubsetSelection(6, 2, size=1),
        OptimizedUnaryEncoding(6, 2),
    ),
    "raw records": (Channel.from_matrix(np.eye(4)), RESPONSE(4, 1).dense()),
}


@pytest.mark.parametrize(("drew", "reads"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_no_records_explain_is_refused(
    drew: Channel | Mechanism, reads: Channel | Mechanism
) -> None:
    texts = _sent(drew).texts()
    reports = Reports(reads.alphabet.read(texts), reads.alphabet, simulated=True)
    check_refused(r"some distribution of the inputs explains.*--unche", estimate, reads, reports)
    check_refused(r"^groups\[0\]: reports: .*explains", estimate_groups, [(reads, reports)])
    assert estimate(reads, reports, check=False).reports == 20_000
    assert estimate(drew, _sent(drew)).reports == 20_000


def test_what_other_records_explain_is_not_refused() -> None:
    """Permuted categories, and reports with more noise: only a digest detects them."""
    drew, reads = RESPONSE(4, 1).dense(), RESPONSE(4, 3).dense()
    assert estimate(reads, counts=drew.tally(_sent(drew)).counts).reports == 20_000


def test_a_digest_distinguishes_channels_that_reports_do_not() -> None:
    old = RESPONSE(["a", "b", "c"], 1).dense()
    new = Channel(old.numerators, inputs=["a", "c", "b"], outputs=old.outputs)
    reports = old.privatize(["a"] * 500 + ["b"] * 500, 1)
    assert reports.digest == old.digest != new.digest
    tally = old.tally(reports[:10])
    assert tally.digest == old.digest
    for given in (reports, reports[10:], tally):
        assert estimate(old, given).inputs == old.inputs
        assert estimate(new, given, check=False).inputs == new.inputs
        refused = check_refused("reports of the channel", estimate, new, given)
        assert old.digest[:16] in str(refused)
        assert new.digest[:16] in str(refused)
    check_refused("reports of the channel", new.tally, reports)
    check_refused("reports of the channel", lambda: tally + new.tally(_sent(new)))
    plain = Tally.of(tally.counts)
    assert (tally + plain).digest == (plain + tally).digest == sum([tally, plain]).digest
    assert (plain + plain).digest is None
    joined = estimate_groups([(old, reports)])
    assert joined.reports == 1000
