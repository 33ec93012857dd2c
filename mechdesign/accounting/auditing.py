"""Black-box audits: a lower confidence bound on the epsilon of any sampler, from its reports.

Events are chosen on one half of the reports and tested on the other (Ding et al. 2018), with the
exact binomial bounds of Clopper and Pearson 1934. Reports are read as columns of values. An event
states that a score of the report reaches a level; the functions in FAMILIES propose scores.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, permutations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from mechdesign._typing import BoolArray, FloatArray, Int64Array
from mechdesign.accounting.arguments import below_one
from mechdesign.designs.progress import tqdm_bar
from mechdesign.domain import whole_number
from mechdesign.errors import InputError, shown
from mechdesign.exact import Exact, as_fraction
from mechdesign.mechanisms.bit_rows import BitRows
from mechdesign.notions.base import budget
from mechdesign.reports import Reports, ReportSource
from mechdesign.sampling import Randomness, stream_of
from mechdesign.text import printable

LEAST_DRAWS = 100

MOST_INPUTS = 8
"""Maximum number of inputs tested by default."""

MOST_LEVELS = 48
"""Maximum number of levels tried for a score."""

MOST_ALONE, MOST_COMPARED, MOST_PAIRS, MOST_BLOCKS = 16, 32, 8, 8
"""Maximum numbers: single bits tried, those whose frequencies differ most; bits compared in pairs;
pairs tried; blocks tried."""

BLOCK = 8
"""The length of blocks of neighboring bits."""

MOST_NAMED = 4

MOST_BITS_OF_COLUMN = 64
"""Maximum number of values of a column encoded as bits, the most frequent ones."""

Sampler = Callable[[Any, int], Any]
Event = tuple[FloatArray, FloatArray, Callable[[float], str]]
"""A score of each report, ``(2, n)``, the levels to try, and a function that describes the event
"score >= level"."""


@dataclass(frozen=True)
class AuditResult:
    """A lower confidence bound on the epsilon of a sampler.

    It can refute a claim and never prove one: a flaw may show in events that were not tried, in
    inputs that were not tested, or too rarely for the number of draws.

    Attributes
    ----------
    epsilon_lower
        Lower bound in nats: with the stated confidence, the log-ratio of the probabilities of some
        event under some pair of inputs is at least this large. 0 if no leakage was detected.
    confidence
        The probability that the bound holds, over the draws, for all pairs together.
    claim
        The epsilon that was claimed, or None.
    pair
        The inputs x, x' with the largest bound.
    event
        A description of the event.
    counts
        The numbers of reports of x and of x' in the event.
    draws
        The number of reports per input in the test; as many others selected the event.
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
        """Whether the draws refute the claim, if any."""
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
        The inputs to test, in all ordered pairs. Default for a Channel or a Mechanism: all inputs,
        or 8 evenly spaced ones if there are more.
    pairs
        Instead of ``inputs``: ordered pairs ``(x, x')``, each tested for Pr(E|x) / Pr(E|x').
    draws
        Number of reports per input, at least 100.
    confidence
        Between 0 and 1.
    epsilon
        The claim to compare with, in nats.
    rng
        For a Channel or a Mechanism: None for the cryptographic source that releases use, a seed
        or a ``numpy.random.Generator`` for a test that can be repeated.
    progress
        Whether to show a progress bar; by default only if standard error is a terminal.

    Returns
    -------
    AuditResult
        The bound. It may refute a claim; only the certificate of a channel proves one.

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
    confidence = below_one(confidence, "confidence")
    claim = None if epsilon is None else float(budget(epsilon))
    chosen = _pairs(sampler, inputs, pairs)
    draw = _drawer(sampler, rng)
    place = {x: n for n, x in enumerate(dict.fromkeys(x for pair in chosen for x in pair))}
    drawn = [draw(x, draws) for x in tqdm_bar(progress, list(place), desc="draw")]
    reports, risk = read_reports(drawn, draws), (1 - confidence) / (2 * len(chosen))
    found = {
        (x, other): _test(reports.of_inputs([place[x], place[other]]), risk)
        for x, other in tqdm_bar(progress, chosen, desc="audit")
    }
    pair = max(found, key=lambda pair: found[pair][0])
    bound, event, counts = found[pair]
    tested, bounds = draws - draws // 2, {p: f[0] for p, f in found.items()}
    return AuditResult(max(bound, 0.0), confidence, claim, pair, event, counts, tested, bounds)


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
    found: Sampler = sampler
    return found


def _test(reports: Sample, risk: float) -> tuple[float, str, tuple[int, int]]:
    """Choose an event on one half of the reports of two inputs, and bound the ratio on the other.

    Of the first half, one part proposes events and the other selects one, so that events fitted to
    noise are not preferred.
    """
    size = reports.codes.shape[1]
    half = size // 2
    learn, choose, test = slice(half // 2), slice(half // 2, half), slice(half, size)
    best, most = (0.0, "any report", (size - half, size - half)), -np.inf
    for scores, levels, text in chain.from_iterable(f(reports, learn) for f in FAMILIES):
        ours, theirs = (_hits(row[choose], levels) for row in scores)
        estimates = _bounds(ours, theirs, half - half // 2, risk)
        n = int(np.argmax(estimates))
        if estimates[n] > most:
            most = estimates[n]
            hits, others = (int(_hits(row[test], levels[n])) for row in scores)
            best = float(_bounds(hits, others, size - half, risk)), text(levels[n]), (hits, others)
    return best


def _hits(scores: FloatArray, levels: Any) -> Any:
    """Return how many scores are at least each level."""
    return len(scores) - np.searchsorted(np.sort(scores), levels, side="left")


def _bounds(hits: Any, others: Any, count: int, risk: float) -> Any:
    """Return lower bounds of Clopper and Pearson on ln(Pr(E|x) / Pr(E|x')), risk on either side."""
    some, short = hits > 0, others < count
    low = betaincinv(np.maximum(hits, 1), count - hits + 1, risk)
    high = betaincinv(others + 1, np.maximum(count - others, 1), 1 - risk)
    with np.errstate(divide="ignore"):
        return np.log(np.where(some, low, 0.0)) - np.log(np.where(short, high, 1.0))


@dataclass(frozen=True)
class Sample:
    """Reports as numbers, ``draws`` for each input.

    ``codes``, of shape ``(n_inputs, draws)``, has a code for each distinct report, with its text by
    ``name``; ``bits``, of shape ``(n_inputs, draws, m)``, binary features named ``bit_names``;
    ``values`` the reports as numbers, or None where they are not numeric.
    """

    codes: Int64Array
    name: Callable[[int], str]
    bits: BoolArray
    bit_names: Sequence[str]
    values: FloatArray | None

    def of_inputs(self, rows: list[int]) -> Sample:
        """Return the reports of some inputs."""
        values = None if self.values is None else self.values[rows]
        return replace(self, codes=self.codes[rows], bits=self.bits[rows], values=values)


def read_reports(drawn: Sequence[Any], count: int) -> Sample:
    """Return reports as numbers: a binary column is one bit, any other one bit per value."""
    for given in drawn:
        try:
            size = len(given)
        except TypeError:
            raise InputError("sampler", "an array or a list of reports", shown(given)) from None
        if size != count:
            raise InputError("sampler", f"{count} reports when asked for so many", size)
    columns, shape = _columns(drawn), (len(drawn), count)
    # rows are identified by a hash: a collision merges two reports, which leaves the test valid
    generator, hashed = np.random.default_rng(0), np.zeros(len(drawn) * count, dtype=np.uint64)
    bits, names = [], []
    for head, column in columns.items():
        found, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
        factor = np.frombuffer(generator.bytes(8), dtype=np.uint64)
        hashed = hashed + codes.ravel().astype(np.uint64) * (factor | np.uint64(1))
        if len(columns) > 1:
            common = np.sort(np.argsort(-counts, kind="stable")[:MOST_BITS_OF_COLUMN])
            for n in common[1:] if len(found) == 2 else common if len(found) > 1 else ():
                bits.append(codes.ravel() == n)
                names.append(head if column.dtype == bool else f"{head} = {found[n]!s}")
    _, first, codes = np.unique(hashed, return_index=True, return_inverse=True)

    def name(code: int) -> str:
        row = {head: column[first[code]] for head, column in columns.items()}
        if list(row) == [""]:
            return repr(row[""].item()) if column.dtype.kind != "U" else str(row[""])
        held = [
            h if v is np.True_ else f"{h} = {v!s}" for h, v in row.items() if v is not np.False_
        ]
        return " and ".join(held[:6]) + (" and more" if len(held) > 6 else "") or "nothing"

    table = np.stack(bits, axis=1) if bits else np.zeros((len(codes), 0), dtype=bool)
    only = columns.get("")
    values = None
    if only is not None and only.dtype.kind in "biuf":
        values = only.astype(np.float64).reshape(shape)
    return Sample(codes.reshape(shape), name, table.reshape(*shape, -1), names, values)


def _columns(drawn: Sequence[Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of all reports by field name; the name is "" for reports of one field."""
    if isinstance(drawn[0], Reports) and isinstance(alphabet := drawn[0].alphabet, BitRows):
        labels, rows = alphabet.inputs.labels, np.concatenate([r.data for r in drawn])
        bits = np.unpackbits(rows, axis=1, count=len(labels), bitorder="little").astype(bool)
        return {f"contains {x!r}": column for x, column in zip(labels, bits.T, strict=True)}
    try:
        table = np.concatenate(list(map(np.asarray, drawn)))
    except (TypeError, ValueError):  # rows of different lengths, or other fields
        table = np.empty(0, dtype=object)
    if table.dtype == object:
        return _of_objects(list(chain.from_iterable(drawn)))
    found: dict[str, npt.NDArray[Any]] = {}
    for name in table.dtype.names or [""]:
        part = table[name] if name else table
        if part.ndim == 1:
            found[name] = part
            continue
        for j, column in enumerate(part.reshape(len(part), -1).T):
            found[f"{name}[{j}]" if name else f"part {j}"] = column
    return found


def _of_objects(reports: list[Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of Python values: sets, or anything hashable, by its repr."""
    number: dict[Hashable, int] = {}
    try:
        if all(isinstance(report, set | frozenset) for report in reports):
            members = list(dict.fromkeys(chain.from_iterable(reports)))
            held = {f"contains {m!r}": np.array([m in r for r in reports]) for m in members}
            return held or {"": np.zeros(len(reports))}
        hashable = (tuple(r) if isinstance(r, list | np.ndarray) else r for r in reports)
        codes = [number.setdefault(report, len(number)) for report in hashable]
    except TypeError:
        raise InputError("sampler", "reports that can be compared", shown(reports[0])) from None
    return {"": np.array(list(map(repr, number)))[codes]}


def _by_likelihood_ratio(
    codes: Int64Array, learn: slice, name: Callable[[int], str]
) -> Iterator[Event]:
    """Propose sets of the codes with the largest likelihood ratios (Neyman-Pearson tests)."""
    size = int(codes.max()) + 1
    counts, others = (np.bincount(row, minlength=size) for row in codes[:, learn])
    seen = np.flatnonzero(counts + others)
    if not 1 < len(seen) <= codes[0, learn].size:  # most codes occur once: their ratios are noise
        return
    order = seen[np.argsort(-(counts[seen] + 0.5) / (others[seen] + 0.5), kind="stable")]
    rank = np.full(size, -len(order) - 1.0)
    rank[order] = -np.arange(1, len(order) + 1)
    cuts = np.unique(np.geomspace(1, len(order) - 1, MOST_LEVELS).round())

    def text(level: float) -> str:
        cut = round(-level)
        more = f" or {cut - MOST_NAMED} others" if cut > MOST_NAMED else ""
        return " or ".join(name(int(code)) for code in order[: min(cut, MOST_NAMED)]) + more

    yield rank[codes], -cuts[::-1], text


def half_lines(reports: Sample, learn: slice) -> Iterator[Event]:
    """Propose half-lines if the reports are numeric."""
    if reports.values is None:
        return
    both = np.sort(reports.values[:, learn].ravel())  # infinite values included
    levels = np.unique(both[np.linspace(0, len(both) - 1, MOST_LEVELS).round().astype(np.int64)])
    yield reports.values, levels, lambda v: f"the report is at least {v:.6g}"
    yield -reports.values, -levels[::-1], lambda v: f"the report is at most {-v:.6g}"


def likeliest(reports: Sample, learn: slice) -> Iterator[Event]:
    """Propose sets of reports; and of patterns of bits: single ones, pairs, blocks of neighbors."""
    yield from _by_likelihood_ratio(
        reports.codes, learn, lambda code: f"the report is {reports.name(code)}"
    )
    p, q = reports.bits[:, learn].mean(axis=1)
    spread = np.sqrt((p + q) * (2 - p - q) + 1e-9)
    differing = np.argsort(-np.abs(p - q) / spread, kind="stable").tolist()
    groups: list[Sequence[int]] = [[j] for j in differing[:MOST_ALONE]]
    some = differing[:MOST_COMPARED]
    first, second = reports.bits[:, learn, some].astype(np.float32)
    apart = np.abs(first.T @ first - second.T @ second)
    pairs = sorted(combinations(range(len(some)), 2), key=lambda pair: -float(apart[pair]))
    groups += [sorted(some[n] for n in pair) for pair in pairs[:MOST_PAIRS]]
    starts = dict.fromkeys(j // BLOCK * BLOCK for j in differing[:MOST_BLOCKS])
    groups += [range(start, min(start + BLOCK, len(p))) for start in starts]
    for group in groups:
        names = [reports.bit_names[j] for j in group]
        codes = reports.bits[:, :, group] @ (1 << np.arange(len(group)))

        def name(code: int, names: Sequence[str] = names) -> str:
            each = (n if code >> j & 1 else f"not {n}" for j, n in enumerate(names))
            return f"({', '.join(each)})"

        yield from _by_likelihood_ratio(codes, learn, name)


def likelihoods(reports: Sample, learn: slice) -> Iterator[Event]:
    """Propose large likelihood ratios under independent bits (naive Bayes)."""
    if not reports.bits.shape[2]:
        return
    some = reports.bits[:, learn]
    p, q = (some.sum(axis=1) + 0.5) / (some.shape[1] + 1)
    base = float(np.log((1 - p) / (1 - q)).sum())
    scores = reports.bits @ (np.log(p / q) - np.log((1 - p) / (1 - q))) + base
    shares = 1 - np.geomspace(1e-3, 0.999, MOST_LEVELS)
    levels = np.unique(np.quantile(scores[:, learn], shares)) - 1e-9
    yield scores, levels, lambda v: f"all parts together are {np.exp(v):.4g} times likelier"


FAMILIES: tuple[Callable[[Sample, slice], Iterator[Event]], ...] = (
    likeliest,
    half_lines,
    likelihoods,
)
