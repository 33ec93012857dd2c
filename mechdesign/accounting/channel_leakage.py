"""The leakage of a channel under every notion: exact ratios, and their logarithms rounded up."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mechdesign.accounting.information import information_above
from mechdesign.accounting.ratios import log_above, matrix_of, max_ratio
from mechdesign.channel import Channel, as_channel
from mechdesign.continuous import ContinuousChannel
from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, choose, shown
from mechdesign.exact import fraction_text, short_text
from mechdesign.kernel.arithmetic import lattice, over_one_denominator
from mechdesign.labels import Labels, aligned, split_matrix
from mechdesign.mechanisms.base import Mechanism
from mechdesign.prior import SUM_TOLERANCE, Prior, exact_numbers, prior_on
from mechdesign.prior_sets import PriorSet
from mechdesign.text import Matrix, Table, Tabular, shortened

MATRIX = "tightest E matrix, ln Q(y|row)/Q(y|column)"

MOST_SHOWN = 8
"""Maximum number of inputs for which the matrix is printed."""


@dataclass(frozen=True)
class Leakage:
    """The leakage of a channel under one notion.

    Attributes
    ----------
    notion
        Its name in problem files; ``"max-lift"`` and ``"min-lift"`` are the two sides
        of ``lip``.
    value
        The smallest epsilon that the exact channel satisfies, in nats, rounded up; inf if there is
        none.
    factor
        e**leakage exactly, if it is a finite rational number; else None.
    inputs
        The inputs that attain it, in the order of the ratio; empty if it is a sum.
    outputs
        The output that attains it, in a tuple; empty if it is a sum.
    """

    notion: str
    value: float
    factor: Fraction | None
    inputs: tuple[Label, ...] = ()
    outputs: tuple[Label, ...] = ()

    @property
    def where(self) -> str:
        """A description of where it is attained."""
        parts = []
        if self.outputs:
            parts.append(f"output {_named(self.outputs[0])}")
        if self.inputs:
            parts.append("input " + " against ".join(_named(x) for x in self.inputs))
        return ", ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return plain data for JSON, with an infinite value as ``"inf"`` and an exact factor."""
        return {
            "notion": self.notion,
            "leakage": self.value if math.isfinite(self.value) else "inf",
            "factor": None if self.factor is None else fraction_text(self.factor),
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
        }


@dataclass(frozen=True, repr=False)
class Leakages(Tabular):
    """The leakages of a channel under every notion that applies. Their repr is a table.

    Attributes
    ----------
    what
        A short description of the channel.
    inputs
        The labels of the inputs.
    rows
        One leakage for each notion.
    matrix
        ``(n_inputs, n_inputs)`` floats: the tightest matrix of context-aware LDP, rounded up; None
        if there are too many pairs.
    prior
        The prior of the notions that need one; None if none was given.
    bayes_accuracy
        The exact probability of guessing X correctly from Y at that prior.
    notes
        Notions that were omitted, with reasons.
    """

    what: str
    inputs: tuple[Label, ...]
    rows: tuple[Leakage, ...]
    matrix: npt.NDArray[np.float64] | None = field(default=None, compare=False)
    prior: Prior | None = None
    bayes_accuracy: Fraction | None = None
    notes: tuple[str, ...] = ()

    def __getitem__(self, notion: str) -> Leakage:
        return choose({row.notion: row for row in self.rows}, notion, "notion")

    def to_json(self) -> dict[str, Any]:
        """Return plain data for JSON, with exact numbers as text and infinite ones as ``"inf"``."""
        matrix = None
        if self.matrix is not None:
            matrix = [
                [e if math.isfinite(e) else "inf" for e in row] for row in self.matrix.tolist()
            ]
        accuracy = self.bayes_accuracy
        return {
            "channel": self.what,
            "inputs": list(self.inputs),
            "prior": None if self.prior is None else self.prior.to_table(),
            "leakages": [row.to_json() for row in self.rows],
            "bayes_accuracy": None if accuracy is None else fraction_text(accuracy),
            "matrix": matrix,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        lines = [self._head(), self._table().text("  "), *self._accuracy()]
        if self.matrix is not None and len(self.inputs) <= MOST_SHOWN:
            lines += [MATRIX, Matrix(self.matrix, self.inputs, self.inputs).text()]
        return "\n".join([*lines, *self.notes])

    def _head(self) -> str:
        return f"Leakages of {self.what}, rounded up"

    def _lines(self) -> list[str]:
        return [self._head(), *self._accuracy(), *self.notes]

    def _table(self) -> Table:
        rows = [
            (
                r.notion,
                rounded(r.value),
                "" if r.factor is None else short_text(r.factor),
                r.where,
            )
            for r in self.rows
        ]
        return Table(("notion", "nats", "e^nats", "attained at"), rows, "<>><")

    def _accuracy(self) -> list[str]:
        if self.bayes_accuracy is not None and self.prior is not None:
            told, blind = short_text(self.bayes_accuracy), short_text(max(self.prior))
            return [f"guessed right with probability {told}, without the report {blind}"]
        return []


def rounded(value: float, up: bool = True) -> str:
    """Return a number with six decimals, rounded up or down."""
    if not math.isfinite(value):
        return "inf"
    millionths = (math.ceil if up else math.floor)(Fraction(value) * 10**6)
    return f"{millionths // 10**6}.{millionths % 10**6:06d}"


def _named(label: Label) -> str:
    return shortened(repr(label) if isinstance(label, str) else label, 24)


MOST_COMPARED = 1 << 31
"""Maximum number of ratios of entries compared for the tightest matrix."""

MOST_BITS = 18
"""Maximum base-2 logarithm of the ratios of a structured mechanism that are compared exactly."""

TOO_MANY_PAIRS = "the number of pairs is too large for the tightest E matrix"


def leakages(
    channel: Channel | Mechanism | ContinuousChannel,
    prior: Prior | None = None,
    *,
    priors: Sequence[PriorSet] = (),
) -> Leakages:
    """Measure a channel under every notion that applies.

    Parameters
    ----------
    channel
        A channel; or a structured mechanism, for its own notion alone if it has more than 2**18
        ratios of entries. For a continuous channel the nodes are measured: the leakages hold for
        the kernel, which mixes them.
    prior
        The distribution of X, for the notions that need one. Inputs of prior 0 are protected like
        others, except under mutual information.
    priors
        Sets of priors, for bounded-prior LIP: one row for each, named ``bounded-prior-lip``, then
        ``bounded-prior-lip 2`` and so on.

    Returns
    -------
    Leakages
        Upper bounds that are exact up to rounding: ratios are compared as integers, and only their
        logarithms are rounded, up.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
    >>> leakages(warner, Prior([0.5, 0.5]))
    Leakages of a channel with 2 inputs and 2 outputs, rounded up
      notion                            nats  e^nats  attained at
      ldp                           1.098613       3  output 0, input 'yes' against 'no'
      maximal-leakage               0.405466     1.5
      lip                           0.693148       2  output 0, input 'no'
      max-lift                      0.405466     1.5  output 0, input 'yes'
      min-lift                      0.693148       2  output 0, input 'no'
      pml                           0.405466     1.5  output 0, input 'yes'
      differential-identifiability  1.098613       3  output 0, input 'yes' against 'no'
      mutual-information            0.130813
    guessed right with probability 0.75, without the report 0.5
    tightest E matrix, ln Q(y|row)/Q(y|column)
             yes      no
    yes        0  1.0986
    no    1.0986       0
    """
    if isinstance(channel, ContinuousChannel):
        channel = channel.nodes
    if not isinstance(channel, Mechanism):
        as_channel(channel)
    if prior is not None:
        prior = prior_on(prior, channel.inputs)
    priors = [s.aligned(channel.inputs, f"priors[{n}]") for n, s in enumerate(priors)]
    if isinstance(channel, Mechanism):
        return _of_mechanism(channel, prior, priors)
    (k, m), labels = channel.shape, channel.inputs.labels
    what = f"a channel with {k} inputs and {m} outputs"
    table, whole = channel.numerators, channel.denominator
    return measured(what, table, whole, labels, channel.outputs, prior, priors)


class Numbers(NamedTuple):
    """One integer for each column, and the input at which each is found, if it is an entry."""

    values: list[int]
    inputs: Sequence[int] = ()

    def times(self, unit: int) -> Numbers:
        """Return the integers multiplied by a unit."""
        return self._replace(values=[unit * value for value in self.values])


def _summary(columns: Iterable[Sequence[int]]) -> tuple[Numbers, Numbers, Numbers]:
    """Return the sum, the largest and the least entry of each column."""
    found = [(sum(q), a := max(q), q.index(a), b := min(q), q.index(b)) for q in columns]
    law, most, highest, least, lowest = map(list, zip(*found, strict=True))
    return Numbers(law), Numbers(most, highest), Numbers(least, lowest)


class Ratios:
    """Largest ratios of numbers that summarize columns of integers >= 0, with labels or places.

    The ratios do not depend on the scale of a column, so columns may be scaled or merged.
    """

    def __init__(
        self,
        columns: Collection[Sequence[int]],
        inputs: Sequence[Label] | None = None,
        outputs: Sequence[Label] | None = None,
    ) -> None:
        self.columns, self.inputs = columns, inputs
        self.outputs = range(len(columns)) if outputs is None else outputs
        _, self.most, self.least = _summary(columns)

    def ldp(self) -> Leakage:
        """Return the leakage under LDP."""
        return self._ratio("ldp", self.most, self.least)

    def of_prior(self, prior: Prior) -> tuple[list[Leakage], Fraction]:
        """Return the leakages under the notions with one prior, and Sum_y max_x P_x q_x."""
        masses, unit = over_one_denominator(prior)
        law, most, least = _summary([*map(mul, masses, q)] for q in self.columns)
        rows = self._lifts("lip", unit, law, law)
        rows.append(replace(rows[1], notion="pml"))
        rows.append(self._ratio("differential-identifiability", most, least))
        return rows, Fraction(sum(most.values), unit)

    def of_set(self, priors: PriorSet, notion: str = "bounded-prior-lip") -> list[Leakage]:
        """Return the leakage under LIP and both its sides, for all priors of a set."""
        low, high = (
            [sum(map(mul, priors.extreme_numerators(q, largest=side), q)) for q in self.columns]
            for side in (False, True)
        )
        return self._lifts(notion, priors.denominator, Numbers(low), Numbers(high))

    def _lifts(self, notion: str, unit: int, low: Numbers, high: Numbers) -> list[Leakage]:
        """Return the larger leakage of both sides of the lift, and either, for bounds on laws."""
        above = self._ratio("max-lift", self.most.times(unit), low)
        below = self._ratio("min-lift", high, self.least.times(unit))
        larger = above if above.value >= below.value else below
        return [replace(larger, notion=notion), above, below]

    def _ratio(self, notion: str, tops: Numbers, bottoms: Numbers) -> Leakage:
        """Return the leakage of the largest ratio over the columns."""
        factor, y = max_ratio(tops.values, bottoms.values)
        if y is None:
            return Leakage(notion, log_above(factor), factor)
        places = [side.inputs[y] for side in (tops, bottoms) if side.inputs]
        inputs = tuple(places if self.inputs is None else [self.inputs[x] for x in places])
        return Leakage(notion, log_above(factor), factor, inputs, (self.outputs[y],))


def measured(
    what: str,
    table: npt.NDArray[Any],
    whole: int,
    inputs: Sequence[Label],
    outputs: Sequence[Label],
    prior: Prior | None = None,
    priors: Sequence[PriorSet] = (),
) -> Leakages:
    """Measure a table of integers whose rows sum to ``whole``."""
    (k, m), accuracy = table.shape, None
    ratios = Ratios(table.T.tolist(), inputs, outputs)
    factor = Fraction(sum(ratios.most.values), whole)
    rows = [ratios.ldp(), Leakage("maximal-leakage", log_above(factor), factor)]
    if prior is not None:
        found, guessed = ratios.of_prior(prior)
        information = information_above(table, whole, prior)
        rows += [*found, Leakage("mutual-information", information, None)]
        accuracy = guessed / whole
    for n, members in enumerate(priors, 1):
        name = "bounded-prior-lip" if n == 1 else f"bounded-prior-lip {n}"
        rows.append(ratios.of_set(members, name)[0])
    small = k * k * m <= MOST_COMPARED
    matrix, notes = (matrix_of(table), ()) if small else (None, (TOO_MANY_PAIRS,))
    return Leakages(what, tuple(inputs), tuple(rows), matrix, prior, accuracy, notes)


def _of_mechanism(
    mechanism: Mechanism, prior: Prior | None, priors: Sequence[PriorSet]
) -> Leakages:
    """Measure the matrix of a small structured mechanism; of a large one only its own notion."""
    k, labels, own = len(mechanism.inputs), mechanism.inputs.labels, mechanism.privacy
    what = f"{type(mechanism).__name__} with {k} inputs"
    if 2 * math.log2(k) + mechanism.bits_per_report <= MOST_BITS:
        rows, whole = lattice(mechanism.rows())
        table = np.array(rows, dtype=object)
        found = measured(what, table, whole, labels, mechanism.outputs(), prior, priors)
    else:
        notes = ("too many reports for a matrix: only its own notion, or its dense()",)
        found = Leakages(what, labels, (), None, prior, None, notes)
    if own.name not in [row.notion for row in found.rows] and (
        not own.needs_prior or mechanism.prior == prior
    ):
        factor = mechanism.leakage_factor
        value = mechanism.leakage if factor is None else log_above(factor)
        found = replace(found, rows=(*found.rows, Leakage(own.name, value, factor)))
    return found


Joint = list[list[Fraction]]
"""The distribution of (S, X): a row for each value of S, a column for each input."""


def sensitive_attribute_leakage(joint: Iterable[Iterable[Any]], channel: Channel) -> Leakages:
    """Return the exact leakage of a release Y about S, made from X alone: S - X - Y.

        Pr(y|s) = Sum_x Pr(x|s) Q(y|x)

    Parameters
    ----------
    joint
        ``(n_values, n_inputs)`` numbers Pr(S = s, X = x) >= 0 that sum to 1; every value of S has
        positive probability.
    channel
        The channel from X to Y.

    Notes
    -----
    Source: Jiang et al. 2021 (TIFS), Lemma 1 (linkage inequality): the entries of a column for S
    are mixtures of those for X, so no ratio or lift is larger.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> about = sensitive_attribute_leakage([[0.4, 0.1], [0.1, 0.4]], warner)
    >>> round(about["ldp"].value, 6), about["lip"].factor
    (0.61904, Fraction(10, 7))
    """
    distribution, names = _joint(joint, channel)
    table, whole, prior = _observed(distribution, channel)
    what = f"a sensitive attribute with {len(table)} values through {len(channel.outputs)} outputs"
    labels = range(len(table)) if names is None else names
    return measured(what, table, whole, tuple(labels), channel.outputs, prior)


def sensitive_attribute_channel(
    joint: Iterable[Iterable[Any]], channel: Channel, values: Iterable[Any] | None = None
) -> tuple[Channel, Prior]:
    """Return the channel from S to the report, and the prior of S.

    Its entries are rounded to multiples of 2**-62, so its leakage is accurate to about 2**-62 of an
    entry; :func:`sensitive_attribute_leakage` is exact.

    Parameters
    ----------
    joint, channel
        As for :func:`sensitive_attribute_leakage`.
    values
        Labels; default those of the rows, or 0, 1, ...

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> sensitive_attribute_channel([[0.4, 0.1], [0.1, 0.4]], warner, ["ill", "well"])[0]
    Channel(2 inputs, 2 outputs, exact over 2**62)
               0       1
    ill   0.6500  0.3500
    well  0.3500  0.6500
    """
    distribution, names = _joint(joint, channel)
    labels = Domain(values if values is not None else names or range(len(distribution)))
    distribution = aligned(distribution, names, labels.labels, "joint, rows", "value")
    table, whole, prior = _observed(distribution, channel)
    rows = [[Fraction(entry, whole) for entry in row] for row in table.tolist()]
    return Channel.from_matrix(rows, inputs=labels, outputs=channel.outputs), prior


def _observed(joint: Joint, channel: Channel) -> tuple[npt.NDArray[Any], int, Prior]:
    """Return the table of Pr(y|s) in integers, the sum of its rows, and the law of S."""
    weights, unit = lattice(joint)
    common = math.lcm(*map(sum, weights))
    shares = [[p * (common // sum(row)) for p in row] for row in weights]
    table = np.array(shares, dtype=object) @ channel.numerators.astype(object)
    return table, common * channel.denominator, Prior([Fraction(sum(row), unit) for row in weights])


def _joint(joint: Any, channel: Channel) -> tuple[Joint, Labels | None]:
    """Return the joint distribution, normalized exactly, and the labels of its rows."""
    given, names, columns = split_matrix(joint, "joint", "a matrix", "a list of numbers >= 0")
    inputs = as_channel(channel).inputs.labels
    rows = []
    for s, row in enumerate(given):
        numbers = list(exact_numbers(row, f"joint[{s}]"))
        rows.append(aligned(numbers, columns, inputs, f"joint[{s}]"))
    total = sum((sum(row, Fraction(0)) for row in rows), Fraction(0))
    if abs(total - 1) > SUM_TOLERANCE:
        raise InputError("joint", "numbers that sum to 1", f"sum {float(total):.9g}")
    for s, row in enumerate(rows):
        if not any(row):
            expected = "a value of positive probability"
            raise InputError(f"joint[{s}]", expected, shown(0), "leave it out")
    return [[p / total for p in row] for row in rows], names
