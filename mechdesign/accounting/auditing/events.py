"""Candidate events that may distinguish two inputs: families of threshold tests on reports.

An event is that a statistic of the report is at least some level. A family is a function that looks
at some reports of x and of x' and proposes statistics with levels. A new one is a line in FAMILIES.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mechdesign._typing import BoolArray, FloatArray, Int64Array
from mechdesign.accounting.auditing.samples import Sample

__all__ = ["FAMILIES", "Statistic"]


MOST_LEVELS = 48
"""Levels of a statistic that are tried."""

MOST_BITS = 32
"""Bits that are tried, alone and in pairs: those whose frequencies differ most."""

MOST_BLOCKS = 8

BLOCK = 8
"""The length of blocks of neighboring bits."""

MOST_NAMED = 4


@dataclass(frozen=True)
class Statistic:
    """Events of the form: a number computed from the report is at least a level.

    Attributes
    ----------
    score
        Returns the number of each report of a sample.
    levels
        The thresholds.
    describe
        Returns the text of the event of a level.
    """

    score: Callable[[Sample], FloatArray]
    levels: Sequence[float]
    describe: Callable[[float], str]

    def counts(self, sample: Sample) -> Int64Array:
        """Return how many reports are in the event of each level."""
        ranked = np.sort(self.score(sample))
        return len(ranked) - np.searchsorted(ranked, self.levels, side="left")


def _indicator(
    holds: Callable[[Sample], BoolArray], text: str, negated: str = ""
) -> Iterator[Statistic]:
    """Yield the event that a report has a property, and its complement."""

    def has(sample: Sample) -> FloatArray:
        return holds(sample).astype(np.float64)

    yield Statistic(has, [1.0], lambda _: text)
    yield Statistic(lambda sample: -has(sample), [0.0], lambda _: negated or f"not: {text}")


def _ranked(codes: Int64Array, other: Int64Array) -> Int64Array:
    """Return the codes in falling order of their estimated likelihood ratio."""
    size = int(max(codes.max(), other.max())) + 1
    counts, others = (np.bincount(c, minlength=size) for c in (codes, other))
    seen = np.flatnonzero(counts + others)
    ratio = (counts[seen] + 0.5) / (others[seen] + 0.5)
    return seen[np.argsort(-ratio, kind="stable")]


def _cuts(size: int) -> list[int]:
    """Return up to MOST_LEVELS numbers from 1 to size - 1, denser among small ones."""
    if size <= MOST_LEVELS + 1:
        return list(range(1, size))
    return sorted({round(cut) for cut in np.geomspace(1, size - 1, MOST_LEVELS).tolist()})


def _by_likelihood_ratio(
    order: Int64Array, codes: Callable[[Sample], Int64Array], describe: Callable[[float], str]
) -> Statistic:
    """Return the statistic that ranks codes; those that ``order`` does not have come last."""
    rank = np.full(int(order.max()) + 2, -len(order) - 1)
    rank[order] = -np.arange(1, len(order) + 1)

    def score(sample: Sample) -> FloatArray:
        return rank[np.minimum(codes(sample), len(rank) - 1)].astype(np.float64)

    return Statistic(score, [-float(cut) for cut in _cuts(len(order))], describe)


def outputs(one: Sample, other: Sample) -> Iterator[Statistic]:
    """Propose sets of the reports with the largest likelihood ratios (Neyman-Pearson tests)."""
    order = _ranked(one.codes, other.codes)
    if len(order) > len(one):  # most reports occur once: their ratios are noise
        return

    def describe(level: float) -> str:
        cut = round(-level)
        named = ", ".join(one.name(int(code)) for code in order[: min(cut, MOST_NAMED)])
        more = f" or {cut - MOST_NAMED} others" if cut > MOST_NAMED else ""
        return f"the report is {'one of ' if cut > 1 else ''}{named}{more}"

    yield _by_likelihood_ratio(order, lambda sample: sample.codes, describe)


def half_lines(one: Sample, other: Sample) -> Iterator[Statistic]:
    """Propose half-lines, where reports are numbers."""
    if one.values is None or other.values is None:
        return
    both = np.sort(np.concatenate([one.values, other.values]))  # infinite values included
    places = np.linspace(0, len(both) - 1, MOST_LEVELS).round().astype(np.int64)
    levels = np.unique(both[places])

    def value(sample: Sample) -> FloatArray:
        return np.asarray(sample.values, dtype=np.float64)

    yield Statistic(value, levels.tolist(), lambda v: f"the report is at least {v:.6g}")
    yield Statistic(
        lambda sample: -value(sample),
        (-levels).tolist(),
        lambda v: f"the report is at most {-v:.6g}",
    )


def _differing(one: Sample, other: Sample, most: int) -> list[int]:
    """Return the bits in falling order of the difference of their standardized frequencies."""
    p, q = one.bits.mean(axis=0), other.bits.mean(axis=0)
    spread = np.sqrt((p + q) * (2 - p - q) + 1e-9)
    return [int(j) for j in np.argsort(-np.abs(p - q) / spread, kind="stable")[:most]]


def single_bits(one: Sample, other: Sample) -> Iterator[Statistic]:
    """Propose the values of single bits."""
    for j in _differing(one, other, MOST_BITS):
        yield from _indicator(lambda sample, j=j: sample.bits[:, j], one.bit_names[j])  # type: ignore[misc]


def pairs_of_bits(one: Sample, other: Sample) -> Iterator[Statistic]:
    """Propose joint values and equality of two bits, the best pair of each kind.

    All frequencies come from one matrix product.
    """
    chosen = _differing(one, other, MOST_BITS)
    if len(chosen) < 2:
        return
    p, q = (_pair_frequencies(sample.bits[:, chosen]) for sample in (one, other))
    floor = 0.5 / len(one)
    for kind, (template, holds) in enumerate(_PAIR_KINDS):
        worth = np.log((p[kind] + floor) / (q[kind] + floor)) * np.sqrt(p[kind] + floor)
        worth[np.diag_indices_from(worth)] = -np.inf
        i, j = np.unravel_index(int(np.argmax(worth)), worth.shape)
        a, b = chosen[int(i)], chosen[int(j)]

        def score(
            sample: Sample,
            a: int = a,
            b: int = b,
            test: Callable[[BoolArray, BoolArray], BoolArray] = holds,
        ) -> FloatArray:
            return test(sample.bits[:, a], sample.bits[:, b]).astype(np.float64)

        text = template.format(one.bit_names[a], one.bit_names[b])
        yield Statistic(score, [1.0], lambda _, text=text: text)  # type: ignore[misc]


_PAIR_KINDS: tuple[tuple[str, Callable[[BoolArray, BoolArray], BoolArray]], ...] = (
    ("{} and {}", lambda a, b: a & b),
    ("{}, and not: {}", lambda a, b: a & ~b),
    ("neither {} nor {}", lambda a, b: ~a & ~b),
    ("both or neither of: {}; {}", lambda a, b: a == b),
    ("just one of: {}; {}", lambda a, b: a != b),
)


def _pair_frequencies(bits: BoolArray) -> list[FloatArray]:
    """Return the frequency of each kind of pair, in the order of _PAIR_KINDS."""
    rows = bits.astype(np.float32)
    both = (rows.T @ rows).astype(np.float64) / len(bits)
    alone = np.diag(both)
    first, second = alone[:, None], alone[None, :]
    neither = 1 - first - second + both
    return [both, first - both, neither, both + neither, first + second - 2 * both]


def blocks_of_bits(one: Sample, other: Sample) -> Iterator[Statistic]:
    """Propose patterns of blocks of neighboring bits, and equality of the halves of a report."""
    width = one.bits.shape[1]
    if width > BLOCK:
        starts = {j // BLOCK * BLOCK: None for j in _differing(one, other, MOST_BLOCKS)}
        for start in starts:
            yield _block(one, other, start, min(start + BLOCK, width))
    if width >= 2 and width % 2 == 0:

        def equal(sample: Sample) -> BoolArray:
            halves = sample.bits[:, : width // 2] == sample.bits[:, width // 2 :]
            return np.asarray(halves.all(axis=1))

        halves = "the two halves of the report are"
        yield from _indicator(equal, f"{halves} equal", f"{halves} different")


def _block(one: Sample, other: Sample, start: int, stop: int) -> Statistic:
    """Return the statistic that ranks the patterns of a block by likelihood ratio."""
    places = 1 << np.arange(stop - start)

    def codes(sample: Sample) -> Int64Array:
        return np.asarray(sample.bits[:, start:stop] @ places)

    order = _ranked(codes(one), codes(other))

    def describe(level: float) -> str:
        return f"parts {start} to {stop - 1} are as in {-level:.0f} of {len(order)} patterns"

    return _by_likelihood_ratio(order, codes, describe)


def likelihoods(one: Sample, other: Sample) -> Iterator[Statistic]:
    """Propose large likelihood ratios under independent bits (naive Bayes)."""
    if not one.bits.shape[1]:
        return
    p, q = ((s.bits.sum(axis=0) + 0.5) / (len(s) + 1) for s in (one, other))
    base = float(np.log((1 - p) / (1 - q)).sum())
    weights = np.log(p / q) - np.log((1 - p) / (1 - q))

    def score(sample: Sample) -> FloatArray:
        return np.asarray(sample.bits @ weights + base)

    seen = np.concatenate([score(one), score(other)])
    levels = np.unique(np.quantile(seen, 1 - np.geomspace(1e-3, 0.999, MOST_LEVELS))) - 1e-9
    yield Statistic(
        score, levels.tolist(), lambda v: f"all parts together are {np.exp(v):.4g} times likelier"
    )


FAMILIES: tuple[Callable[[Sample, Sample], Iterator[Statistic]], ...] = (
    outputs,
    half_lines,
    single_bits,
    pairs_of_bits,
    blocks_of_bits,
    likelihoods,
)
