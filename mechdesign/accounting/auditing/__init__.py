"""Black-box audits: a lower confidence bound on the epsilon of any sampler, from its reports.

Events are chosen on one half of the reports and tested on the other (Ding et al. 2018), with the
exact binomial bounds of Clopper and Pearson 1934.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv

from mechdesign.accounting.auditing.events import FAMILIES, Statistic
from mechdesign.accounting.auditing.samples import Sample, read_samples
from mechdesign.designs.progress import tqdm_bar
from mechdesign.domain import whole_number
from mechdesign.errors import InputError, shown
from mechdesign.exact import Exact, as_fraction, fraction_text
from mechdesign.reports import ReportSource
from mechdesign.sampling import Randomness, stream_of
from mechdesign.text import printable

__all__ = ["AuditResult", "audit"]

LEAST_DRAWS = 100

MOST_INPUTS = 8
"""Inputs of a mechanism that are tested unless they are named."""

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
        The bound of each pair; a negative one says nothing.
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
    bounds, best = {}, None
    for pair in tqdm_bar(progress, chosen, desc="audit"):
        found = _test(samples[pair[0]], samples[pair[1]], risk)
        bounds[pair] = found[0]
        if best is None or found[0] > best[1][0]:
            best = pair, found
    if best is None:
        raise InputError("pairs", "at least one pair of different inputs", "none")
    pair, (bound, event, counts, count) = best
    return AuditResult(
        max(bound, 0.0),
        confidence,
        None if claim is None else float(claim),
        pair,
        event,
        counts,
        count,
        bounds,
    )


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
    return [(x, other) for x in labels for other in labels if x != other]


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
    best: tuple[float, Statistic, int] | None = None
    for family in FAMILIES:
        for statistic in family(learn[0], learn[1]):
            if statistic.levels:
                hits = [statistic.counts(sample) for sample in choose]
                estimates = _bounds(hits[0], hits[1], len(choose[0]), risk)
                n = int(np.argmax(estimates))
                if best is None or estimates[n] > best[0]:
                    best = float(estimates[n]), statistic, n
    if best is None:  # all reports are the same
        return 0.0, "any report", (len(test[0]), len(test[1])), len(test[0])
    _, statistic, n = best
    hits = [statistic.counts(sample)[n : n + 1] for sample in test]
    bound = _bounds(hits[0], hits[1], len(test[0]), risk)
    event = statistic.describe(statistic.levels[n])
    return float(bound[0]), event, (int(hits[0][0]), int(hits[1][0])), len(test[0])


def _bounds(hits: Any, others: Any, count: int, risk: float) -> Any:
    """Return Clopper and Pearson's lower bound on ln(Pr(E|x) / Pr(E|x')), risk on either side.

    p >= B**-1(risk; hits, count - hits + 1),     p' <= B**-1(1 - risk; hits' + 1, count - hits')
    """
    some, short = hits > 0, others < count
    low = betaincinv(np.maximum(hits, 1), count - hits + 1, risk)
    high = betaincinv(others + 1, np.maximum(count - others, 1), 1 - risk)
    with np.errstate(divide="ignore"):
        return np.log(np.where(some, low, 0.0)) - np.log(np.where(short, high, 1.0))
