"""Events that may tell two inputs apart, found on reports that are not used to test them.

An event is that a statistic of the report is at least some level. Each family looks at some reports
of x and of x' and proposes statistics with levels. A family is a function; a new one is a line in
FAMILIES.
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

MOST_PARTS = 32
"""Parts that are tried, alone and in pairs: those whose frequencies differ most."""

MOST_BLOCKS = 8

BLOCK = 8
"""The length of blocks of neighbouring parts."""

MOST_NAMED = 4


@dataclass(frozen=True)
class Statistic:
    """Events of reports: that a number computed from one is at least a level.

    Attributes
    ----------
    score
        The numbers of the reports of a sample.
    levels
        What to compare them with.
    words
        The event of a level, in words.
    """

    score: Callable[[Sample], FloatArray]
    levels: Sequence[float]
    words: Callable[[float], str]

    def counts(self, sample: Sample) -> Int64Array:
        """Return how many reports are in the event of each level."""
        ranked = np.sort(self.score(sample))
        return len(ranked) - np.searchsorted(ranked, self.levels, side="left")


def _whether(
    holds: Callable[[Sample], BoolArray], words: str, negated: str = ""
) -> Iterator[Statistic]:
    """Yield that a report has a property, and that it has not."""

    def has(sample: Sample) -> FloatArray:
        return holds(sample).astype(np.float64)

    yield Statistic(has, [1.0], lambda _: words)
    yield Statistic(lambda sample: -has(sample), [0.0], lambda _: negated or f"not: {words}")


def _ranked(codes: Int64Array, other: Int64Array) -> Int64Array:
    """Return the codes in falling order of their estimated likelihood ratio."""
    size = int(max(codes.max(), other.max())) + 1
    counts, others = (np.bincount(c, minlength=size) for c in (codes, other))
    seen = np.flatnonzero(counts + others)
    ratio = (counts[seen] + 0.5) / (others[seen] + 0.5)
    return seen[np.argsort(-ratio, kind="stable")]


def _cuts(size: int) -> list[int]:
    """Return up to MOST_LEVELS numbers from 1 to size - 1, the small ones all."""
    if size <= MOST_LEVELS + 1:
        return list(range(1, size))
    return sorted({round(cut) for cut in np.geomspace(1, size - 1, MOST_LEVELS).tolist()})


def outputs(one: Sample, other: Sample) -> Iterator[Statistic]:
    """Propose the reports with the largest likelihood ratios, as many as it takes."""
    order = _ranked(one.codes, other.codes)
    if len(order) > len(one):  # most came once: their ratios are chance
        return
    rank = np.full(int(order.max()) + 2, -len(order) - 1)
    rank[order] = -np.arange(1, len(order) + 1)

    def words(level: float) -> str:
        cut = round(-level)
        named = ", ".join(one.name(int(code)) for code in order[: min(cut, MOST_NAMED)])
        more = f" or {cut - MOST_NAMED} others" if cut > MOST_NAMED else ""
        return f"the report is {'one of ' if cut > 1 else ''}{named}{more}"

    def score(sample: Sample) -> FloatArray:
        return rank[np.minimum(sample.codes, len(rank) - 1)].astype(np.float64)

    yield Statistic(score, [-float(cut) for cut in _cuts(len(order))], words)


def half_lines(one: Sample, other: Sample) -> Iterator[Statistic]:
    """Propose half-lines, where reports are numbers."""
    if one.values is None or other.values is None:
        return
    both = np.sort(np.concatenate([one.values, other.values]))  # infinite ones are reports too
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
    """Return the parts by how much their frequencies differ, the largest differences first."""
    p, q = one.bits.mean(axis=0), other.bits.mean(axis=0)
    spread = np.sqrt((p + q) * (2 - p - q) + 1e-9)
    return [int(j) for j in np.argsort(-np.abs(p - q) / spread, kind="stable")[:most]]


def single_parts(one: Sample, other: Sample) -> Iterator[Statistic]:
    """Propose that a report has a part, or lacks it."""
    for j in _differing(one, other, MOST_PARTS):
        yield from _whether(lambda sample, j=j: sample.bits[:, j], one.bit_names[j])  # type: ignore[misc]


def pairs_of_parts(one: Sample, other: Sample) -> Iterator[Statistic]:
    """Propose what two parts are together, and that they are equal.

    All frequencies come from one product of matrices; only the best of each kind are proposed.
    """
    chosen = _differing(one, other, MOST_PARTS)
    if len(chosen) < 2:
        return
    p, q = (_pair_shares(sample.bits[:, chosen]) for sample in (one, other))
    floor = 0.5 / len(one)
    for kind, (words, holds) in enumerate(_PAIR_KINDS):
        worth = np.log((p[kind] + floor) / (q[kind] + floor)) * np.sqrt(p[kind] + floor)
        worth[np.diag_indices_from(worth)] = -np.inf
        i, j = np.unravel_index(int(np.argmax(worth)), worth.shape)
        a, b = chosen[int(i)], chosen[int(j)]

        def score(
            sample: Sample,
            a: int = a,
            b: int = b,
            of: Callable[[BoolArray, BoolArray], BoolArray] = holds,
        ) -> FloatArray:
            return of(sample.bits[:, a], sample.bits[:, b]).astype(np.float64)

        text = words.format(one.bit_names[a], one.bit_names[b])
        yield Statistic(score, [1.0], lambda _, text=text: text)  # type: ignore[misc]


_PAIR_KINDS: tuple[tuple[str, Callable[[BoolArray, BoolArray], BoolArray]], ...] = (
    ("{} and {}", lambda a, b: a & b),
    ("{}, and not: {}", lambda a, b: a & ~b),
    ("neither {} nor {}", lambda a, b: ~a & ~b),
    ("both or neither of: {}; {}", lambda a, b: a == b),
    ("just one of: {}; {}", lambda a, b: a != b),
)


def _pair_shares(bits: BoolArray) -> list[FloatArray]:
    """Return the frequency of each kind of pair, in the order of _PAIR_KINDS."""
    rows = bits.astype(np.float32)
    both = (rows.T @ rows).astype(np.float64) / len(bits)
    alone = np.diag(both)
    first, second = alone[:, None], alone[None, :]
    neither = 1 - first - second + both
    return [both, first - both, neither, both + neither, first + second - 2 * both]


def blocks_of_parts(one: Sample, other: Sample) -> Iterator[Statistic]:
    """Propose what a block of neighbouring parts is, and that two halves of a report are equal."""
    width = one.bits.shape[1]
    if width > BLOCK:
        starts = {j // BLOCK * BLOCK: None for j in _differing(one, other, MOST_BLOCKS)}
        for start in starts:
            yield _block(one, other, start, min(start + BLOCK, width))
    if width >= 2 and width % 2 == 0:

        def equal(sample: Sample) -> BoolArray:
            halves = sample.bits[:, : width // 2] == sample.bits[:, width // 2 :]
            return np.asarray(halves.all(axis=1))

        words = "the two halves of the report are "
        yield from _whether(equal, f"{words}equal", f"{words}different")


def _block(one: Sample, other: Sample, start: int, stop: int) -> Statistic:
    """Return the patterns of a block with the largest likelihood ratios."""
    places = 1 << np.arange(stop - start)

    def codes(sample: Sample) -> Int64Array:
        return np.asarray(sample.bits[:, start:stop] @ places)

    order = _ranked(codes(one), codes(other))
    rank = np.full(1 << BLOCK, -len(order) - 1)
    rank[order] = -np.arange(1, len(order) + 1)

    def words(level: float) -> str:
        return f"parts {start} to {stop - 1} are as in {-level:.0f} of {len(order)} patterns"

    levels = [-float(cut) for cut in _cuts(len(order))]
    return Statistic(lambda sample: rank[codes(sample)].astype(np.float64), levels, words)


def likelihoods(one: Sample, other: Sample) -> Iterator[Statistic]:
    """Propose large likelihood ratios, as if the parts were independent (naive Bayes)."""
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
    single_parts,
    pairs_of_parts,
    blocks_of_parts,
    likelihoods,
)
