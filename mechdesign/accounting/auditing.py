"""Black-box audits: a lower confidence bound on the epsilon of any sampler, from its reports.

Events are chosen on one half of the reports and tested on the other (Ding et al. 2018), with the
exact binomial bounds of Clopper and Pearson 1934. An event is that a statistic of the report is at
least some level. A family is a function that looks at some reports of x and of x' and proposes
statistics with levels. A new one is a line in FAMILIES.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, permutations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from mechdesign._typing import BoolArray, FloatArray, Int64Array
from mechdesign.designs.progress import tqdm_bar
from mechdesign.domain import whole_number
from mechdesign.errors import InputError, shown
from mechdesign.exact import Exact, as_fraction, fraction_text
from mechdesign.mechanisms.subsets.bit_rows import BitRows
from mechdesign.reports import Labels, Reports, ReportSource
from mechdesign.sampling import Randomness, stream_of
from mechdesign.text import printable

__all__ = ["AuditResult", "audit"]

LEAST_DRAWS = 100

MOST_INPUTS = 8
"""Inputs of a mechanism that are tested unless they are named."""

MOST_LEVELS = 48
"""Levels of a statistic that are tried."""

MOST_BITS = 32
"""Bits that are tried, alone and in pairs: those whose frequencies differ most."""

MOST_BLOCKS = 8

BLOCK = 8
"""The length of blocks of neighboring bits."""

MOST_NAMED = 4

MOST_PART_VALUES = 64
"""Values of one part of a report that become a bit, at most: the most frequent ones."""

Sampler = Callable[[Any, int], Any]


@dataclass(frozen=True)
class AuditResult:
    """A lower confidence bound on the epsilon of a sampler.

    It can refute a claim and never prove one: a flaw may show in events that were not tried, in
    inputs that were not tested, or too rarely for the number of draws.

    Attributes
    ----------
    epsilon_lower
        In nats: with the confidence stated, for some pair of inputs and some event, the log-ratio
        of the probabilities is at least this. 0 where nothing was found.
    confidence
        The probability that the bound holds, over the draws, for all pairs together.
    claim
        The epsilon that was claimed, or None.
    pair
        The inputs x, x' with the largest bound.
    event
        The event, in words.
    counts
        How many reports of x, and how many of x', were in it.
    draws
        How many reports of each were looked at for that; as many others chose the event.
    bounds
        The bound of each pair; a negative one proves nothing.
    """

    epsilon_lower: float
    confidence: float
    claim: float | None
    pair: tuple[Any, Any]
    event: str
    counts: tuple[int, int]
    draws: int
    bounds: dict[tuple[Any, Any], float]

    def consistent_with(self, epsilon: Exact) -> bool:
        """Return whether the draws do not refute a claim.

        Examples
        --------
        >>> from mechdesign.mechanisms import GeneralizedRandomizedResponse
        >>> found = audit(GeneralizedRandomizedResponse(3, 2), rng=1)
        >>> found.consistent_with(1), found.consistent_with(2)
        (False, True)
        """
        return as_fraction(epsilon, "epsilon") >= as_fraction(self.epsilon_lower)

    @property
    def refuted(self) -> bool:
        """Whether there was a claim, and the draws refute it."""
        return self.claim is not None and self.epsilon_lower > self.claim

    def __repr__(self) -> str:
        found = f"at least {self.epsilon_lower:.4g} with confidence {self.confidence:.4g}"
        if self.claim is None:
            head = f"epsilon is {found}"
        elif self.refuted:
            head = f"refuted at epsilon = {self.claim:.6g}: {found}"
        else:
            head = f"not refuted at epsilon = {self.claim:.6g}: {found} (this proves nothing)"
        x, other = (printable(repr(label)) for label in self.pair)
        return (
            f"{head}\n"
            f"  event   {printable(self.event)}\n"
            f"  input   {x}: {self.counts[0]} of {self.draws} reports\n"
            f"  input   {other}: {self.counts[1]} of {self.draws} reports\n"
            f"  tested  {len(self.bounds)} ordered pairs of inputs"
        )


def audit(
    sampler: Sampler | ReportSource,
    inputs: Iterable[Any] | None = None,
    *,
    pairs: Iterable[tuple[Any, Any]] | None = None,
    draws: int = 100_000,
    confidence: float = 0.99,
    epsilon: Exact | None = None,
    rng: Randomness = None,
    progress: bool | None = None,
) -> AuditResult:
    """Bound the epsilon of a sampler from below, from its reports alone.

        epsilon  >=  ln( Pr(E | x) / Pr(E | x') )      for every event E

    One half of the draws chooses an event for each pair of inputs: unions of outputs by their
    likelihood ratio, half-lines, single bits of a report, pairs and blocks of them, and likelihood
    ratios of all bits. The other half tests it, with the exact bounds of Clopper and Pearson on
    both probabilities. The error probability is divided among all ordered pairs and the two bounds
    of each (Bonferroni), so that the largest bound holds with the confidence given.

    Parameters
    ----------
    sampler
        A function ``sampler(x, count)`` that returns ``count`` independent reports of the input x:
        Reports, an array whose first axis is the report (numbers, rows, a structured array), or a
        list (labels, tuples, sets). Or a Channel or a Mechanism, whose ``privatize`` is tested.
    inputs
        The inputs to test: every ordered pair of them. For a Channel or a Mechanism the default is
        all of them, of more than 8 that many, evenly spread.
    pairs
        In their place: ordered pairs ``(x, x')``, each tested for Pr(E|x) / Pr(E|x').
    draws
        Reports of each input, at least 100.
    confidence
        Between 0 and 1.
    epsilon
        The claim to compare with, in nats.
    rng
        For a Channel or a Mechanism: None for the cryptographic source that releases use, a seed
        or a ``numpy.random.Generator`` for a test that can be repeated.
    progress
        Whether to show a bar; None where standard error is a terminal.

    Returns
    -------
    AuditResult
        The bound, which may refute a claim. Only the certificate of a channel proves one.

    Raises
    ------
    InputError
        If a parameter is out of range, or the sampler does not give what it should.

    Notes
    -----
    Source: Ding et al. 2018; Clopper and Pearson 1934.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(3)
    >>> def honest_too_often(x, count):
    ...     return np.where(generator.random(count) < 0.9, x, 1 - x)
    >>> audit(honest_too_often, [0, 1], draws=20_000, epsilon=1)
    refuted at epsilon = 1: at least 2.11 with confidence 0.99
      event   the report is 1
      input   1: 8996 of 10000 reports
      input   0: 993 of 10000 reports
      tested  2 ordered pairs of inputs
    """
    draws = whole_number(draws, "draws", LEAST_DRAWS)
    expected = "a number between 0 and 1"
    if not 0 < as_fraction(confidence, "confidence", expected=expected) < 1:
        raise InputError("confidence", expected, shown(confidence))
    claim = None if epsilon is None else as_fraction(epsilon, "epsilon")
    if claim is not None and claim < 0:
        raise InputError("epsilon", "a number >= 0", fraction_text(claim))
    chosen = _pairs(sampler, inputs, pairs)
    draw = _drawer(sampler, rng)
    tested = list(dict.fromkeys(x for pair in chosen for x in pair))
    drawn = [draw(x, draws) for x in tqdm_bar(progress, tested, desc="draw")]
    samples = dict(zip(tested, read_samples(drawn, draws), strict=True))
    risk = (1 - confidence) / (2 * len(chosen))
    found = {
        (x, other): _test(samples[x], samples[other], risk)
        for x, other in tqdm_bar(progress, chosen, desc="audit")
    }
    pair = max(found, key=lambda pair: found[pair][0])
    bound, event, counts, count = found[pair]
    told, bounds = None if claim is None else float(claim), {p: f[0] for p, f in found.items()}
    return AuditResult(max(bound, 0.0), confidence, told, pair, event, counts, count, bounds)


def _pairs(
    sampler: Any, inputs: Iterable[Any] | None, pairs: Iterable[tuple[Any, Any]] | None
) -> list[tuple[Any, Any]]:
    """Return the ordered pairs to test."""
    if pairs is not None:
        if inputs is not None:
            raise InputError("pairs", "either inputs or pairs", "both")
        listed: list[Any] = list(pairs)
        if not listed or any(
            not isinstance(pair, tuple | list) or len(pair) != 2 or pair[0] == pair[1]
            for pair in listed
        ):
            raise InputError("pairs", "pairs of two different inputs", shown(listed))
        return list(dict.fromkeys((pair[0], pair[1]) for pair in listed))
    if inputs is not None:
        try:
            labels = list(dict.fromkeys(inputs))
        except TypeError:
            raise InputError("inputs", "a list of labels", shown(inputs)) from None
    elif isinstance(sampler, ReportSource):
        every = sampler.inputs.labels
        places = np.linspace(0, len(every) - 1, min(len(every), MOST_INPUTS))
        labels = [every[round(place)] for place in places.tolist()]
    else:
        raise InputError("inputs", "the inputs to test", "none")
    if len(labels) < 2:
        raise InputError("inputs", "at least two different inputs", shown(labels))
    return list(permutations(labels, 2))


def _drawer(sampler: Any, rng: Randomness) -> Sampler:
    """Return a function of an input and a count that draws reports."""
    if isinstance(sampler, ReportSource):
        stream = stream_of(rng)
        return lambda x, count: sampler.privatize([x] * count, stream)
    if not callable(sampler):
        expected = "a function sampler(x, count), a Channel or a Mechanism"
        raise InputError("sampler", expected, shown(sampler))
    if rng is not None:
        expected = "none for a function, which has its own source"
        raise InputError("rng", expected, shown(rng))
    return partial(sampler)


def _test(one: Sample, other: Sample, risk: float) -> tuple[float, str, tuple[int, int], int]:
    """Choose an event on one half of the reports, and bound the ratio on the other.

    Of the first half, one part proposes events and the other selects one, so that events fitted to
    noise are not preferred.
    """
    half = len(one) // 2
    learn, choose, test = (
        [sample.slice(start, stop) for sample in (one, other)]
        for start, stop in ((0, half // 2), (half // 2, half), (half, len(one)))
    )
    proposed = [each for family in FAMILIES for each in family(*learn) if each.levels]
    if not proposed:  # all reports are the same
        return 0.0, "any report", (len(test[0]), len(test[1])), len(test[0])
    chosen = [(each.counts(choose[0]), each.counts(choose[1])) for each in proposed]
    estimates = [_bounds(*hits, len(choose[0]), risk) for hits in chosen]
    best = int(np.argmax([each.max() for each in estimates]))
    statistic, n = proposed[best], int(np.argmax(estimates[best]))
    hits, others = (int(statistic.counts(sample)[n]) for sample in test)
    bound = float(_bounds(hits, others, len(test[0]), risk))
    return bound, statistic.describe(statistic.levels[n]), (hits, others), len(test[0])


def _bounds(hits: Any, others: Any, count: int, risk: float) -> Any:
    """Return Clopper and Pearson's lower bound on ln(Pr(E|x) / Pr(E|x')), risk on either side.

    p >= B**-1(risk; hits, count - hits + 1),     p' <= B**-1(1 - risk; hits' + 1, count - hits')
    """
    some, short = hits > 0, others < count
    low = betaincinv(np.maximum(hits, 1), count - hits + 1, risk)
    high = betaincinv(others + 1, np.maximum(count - others, 1), 1 - risk)
    with np.errstate(divide="ignore"):
        return np.log(np.where(some, low, 0.0)) - np.log(np.where(short, high, 1.0))


@dataclass(frozen=True, eq=False)
class Sample:
    """Reports of one input.

    Attributes
    ----------
    codes
        ``(n,)`` codes of the distinct reports; a report has the same code in every sample.
    name
        Returns the text of a code.
    bits
        ``(n, m)`` binary features of each report. m may be 0.
    bit_names
        ``m`` names of them.
    values
        ``(n,)`` the reports as numbers, or None where they are not numeric.
    """

    codes: Int64Array
    name: Callable[[int], str]
    bits: BoolArray
    bit_names: Sequence[str]
    values: FloatArray | None

    def __len__(self) -> int:
        return len(self.codes)

    def slice(self, start: int, stop: int) -> Sample:
        """Return the reports from one index up to another."""
        part = slice(start, stop)
        values = None if self.values is None else self.values[part]
        return replace(self, codes=self.codes[part], bits=self.bits[part], values=values)


def read_samples(drawn: Sequence[Any], count: int) -> list[Sample]:
    """Return the reports of a sampler as one sample for each input.

    Parameters
    ----------
    drawn
        Of each input: Reports, an array whose first axis is the report, or a list.
    count
        How many reports there should be.

    Raises
    ------
    InputError
        If there are more or fewer, or they cannot be compared.
    """
    for given in drawn:
        try:
            size = len(given)
        except TypeError:
            raise InputError("sampler", "an array or a list of reports", shown(given)) from None
        if size != count:
            raise InputError("sampler", f"{count} reports when asked for so many", size)
    whole = _of_reports(drawn) if isinstance(drawn[0], Reports) else _of_any(drawn)
    return [whole.slice(n * count, (n + 1) * count) for n in range(len(drawn))]


def _of_reports(drawn: Sequence[Reports]) -> Sample:
    alphabet = drawn[0].alphabet
    if isinstance(alphabet, Labels):
        return _of_codes(np.concatenate([r.data for r in drawn]), alphabet.outputs.labels)
    if isinstance(alphabet, BitRows):
        labels = alphabet.inputs.labels
        rows = np.concatenate([r.data for r in drawn])
        bits = np.unpackbits(rows, axis=1, count=len(labels), bitorder="little").astype(bool)
        return _of_bits(bits, [f"contains {label!r}" for label in labels])
    return _of_objects([report for r in drawn for report in r.labels()])


def _of_any(drawn: Sequence[Any]) -> Sample:
    """Return reports that are arrays of one kind and width, or else Python values."""
    tables = [array for array in map(_array, drawn) if array is not None]
    if len(tables) < len(drawn):
        return _of_objects([report for given in drawn for report in given])
    kinds = {"number" if array.dtype.kind in "biuf" else array.dtype for array in tables}
    shapes = {(array.ndim > 1, array[:1].size) for array in tables}
    if len(kinds) == len(shapes) == 1:
        flat = (array.reshape(len(array), -1) if array.ndim > 1 else array for array in tables)
        return _of_array(np.concatenate(list(flat)))
    return _of_objects([report for array in tables for report in array.tolist()])


def _array(given: Any) -> npt.NDArray[Any] | None:
    """Return reports as an array, None where they are objects or of different lengths."""
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths
        return None
    return None if array.dtype == object or array.ndim == 0 else array


def _of_codes(codes: npt.NDArray[Any], labels: Sequence[Hashable]) -> Sample:
    """Return a sample of reports that are one of some labels, by their number."""
    numeric = all(isinstance(label, int | float) for label in labels)
    values = np.array(labels, dtype=np.float64)[codes] if numeric else None
    bits = np.zeros((len(codes), 0), dtype=bool)
    return Sample(codes.astype(np.int64), lambda code: repr(labels[code]), bits, (), values)


def _of_bits(bits: BoolArray, names: Sequence[str]) -> Sample:
    """Return a sample of rows of bits, with a code for each distinct row."""
    packed = np.packbits(bits, axis=1)
    # rows are identified by a hash: a collision merges two reports, which leaves the test valid
    generator = np.random.default_rng(0)
    factors = np.frombuffer(generator.bytes(8 * packed.shape[1]), dtype=np.uint64)
    hashed = np.zeros(len(packed), dtype=np.uint64)
    for j in range(packed.shape[1]):
        hashed += packed[:, j] * factors[j]
    _, first, codes = np.unique(hashed, return_index=True, return_inverse=True)

    def name(code: int) -> str:
        row = np.unpackbits(packed[first[code]], count=len(names))
        held = [names[int(j)] for j in np.flatnonzero(row)]
        return " and ".join(held[:6]) + (" and more" if len(held) > 6 else "") or "nothing"

    return Sample(codes.astype(np.int64), name, bits, names, None)


def _of_array(array: npt.NDArray[Any]) -> Sample:
    if array.dtype.names:  # a structured array: its fields side by side
        columns, heads = [], []
        for field in array.dtype.names:
            parts = array[field].reshape(len(array), -1).T
            columns += list(parts)
            heads += [f"{field}[{j}]" if len(parts) > 1 else field for j in range(len(parts))]
        return _of_columns(columns, heads)
    if array.ndim == 1:
        values, codes = np.unique(array, return_inverse=True)
        return _of_codes(codes, values.tolist())
    return _of_columns(list(array.T), [f"part {j}" for j in range(array.shape[1])])


def _of_columns(columns: list[npt.NDArray[Any]], heads: Sequence[str]) -> Sample:
    """Return a sample of columns: one of two values becomes one bit, others a bit for each."""
    bits, names = [], []
    for column, head in zip(columns, heads, strict=True):
        found, counts = np.unique(column, return_counts=True)
        common = np.sort(found[np.argsort(-counts, kind="stable")[:MOST_PART_VALUES]])
        for value in common[1:] if len(found) == 2 else common:
            names.append(f"{head} = {value!s}")
            bits.append(column == value)
    return _of_bits(np.stack(bits, axis=1), names)


def _of_objects(reports: list[Any]) -> Sample:
    """Return a sample of Python values: sets, tuples of one length, or anything hashable."""
    if all(isinstance(report, set | frozenset) for report in reports):
        return _of_sets(reports)
    if all(isinstance(report, list | tuple | np.ndarray) for report in reports):
        width = len(reports[0])
        if width and all(len(report) == width for report in reports):
            columns = [_column(list(part)) for part in zip(*reports, strict=True)]
            return _of_columns(columns, [f"part {j}" for j in range(width)])
        reports = [tuple(report) for report in reports]
    number: dict[Hashable, int] = {}
    try:
        codes = np.array([number.setdefault(report, len(number)) for report in reports])
    except TypeError:
        raise InputError("sampler", "reports that can be compared", shown(reports[0])) from None
    return _of_codes(codes, [repr(report) for report in number])


def _column(values: list[Any]) -> npt.NDArray[Any]:
    """Return the values of one part as an array of one axis, as text where they are mixed."""
    array = _array(values)
    return np.array(list(map(str, values))) if array is None or array.ndim > 1 else array


def _of_sets(reports: list[Any]) -> Sample:
    members = {member: j for j, member in enumerate(dict.fromkeys(chain.from_iterable(reports)))}
    bits = np.zeros((len(reports), max(1, len(members))), dtype=bool)
    for row, report in zip(bits, reports, strict=True):
        row[[members[member] for member in report]] = True
    return _of_bits(bits, [f"contains {m!r}" for m in members] or ["contains anything"])


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
    for (template, holds), at_one, at_other in zip(_PAIR_KINDS, p, q, strict=True):
        worth = np.log((at_one + floor) / (at_other + floor)) * np.sqrt(at_one + floor)
        worth[np.diag_indices_from(worth)] = -np.inf
        a, b = (chosen[int(n)] for n in np.unravel_index(int(np.argmax(worth)), worth.shape))
        text = template.format(one.bit_names[a], one.bit_names[b])
        yield next(_indicator(partial(_on_pair, holds, a, b), text))


_PAIR_KINDS: tuple[tuple[str, Callable[[BoolArray, BoolArray], BoolArray]], ...] = (
    ("{} and {}", lambda a, b: a & b),
    ("{}, and not: {}", lambda a, b: a & ~b),
    ("neither {} nor {}", lambda a, b: ~a & ~b),
    ("both or neither of: {}; {}", lambda a, b: a == b),
    ("just one of: {}; {}", lambda a, b: a != b),
)


def _on_pair(
    holds: Callable[[BoolArray, BoolArray], BoolArray], a: int, b: int, sample: Sample
) -> BoolArray:
    return holds(sample.bits[:, a], sample.bits[:, b])


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
