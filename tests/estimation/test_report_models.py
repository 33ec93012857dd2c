"""The test of consistency: what no records explain is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign.channel import Channel
from mechdesign.estimation import estimate, estimate_groups
from mechdesign.estimation.report_models import LEVEL, fit_p_value
from mechdesign.mechanisms import (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    Mechanism,
    OptimizedUnaryEncoding,
    SubsetSelection,
)
from mechdesign.reports import Reports, Tally
from tests.refusals_support import check_refused

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
    assert found == pytest.approx(math.exp(-2 * n * s**2 / 2), rel=1e-6)
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
