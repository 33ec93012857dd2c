"""Several releases about one X: products of channels, exact leakages, and the papers' bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import repeat
from operator import mul
from typing import Any, TypeAlias

from mechdesign.accounting.channel_leakage import Ratios
from mechdesign.accounting.conversions import (
    added,
    extreme_minima,
    lip_composition_bound,
    lip_to_ldp,
    through_ldp,
)
from mechdesign.accounting.ratios import Ratio, inverse, largest, log_above, pair_ratios
from mechdesign.channel import Channel, as_channel
from mechdesign.domain import Domain
from mechdesign.errors import InputError, UnsupportedError, choose, listed
from mechdesign.labels import aligned
from mechdesign.prior import Prior, as_prior, prior_on
from mechdesign.prior_sets import PriorList, PriorSet
from mechdesign.text import Table, Tabular

Column: TypeAlias = tuple[int, ...]
"""A column in lowest terms: integers without a common divisor."""

MOST_COLUMNS = 200_000
"""Maximum number of columns after merging."""


def channels_of(given: Any, key: str = "channels") -> list[Channel]:
    """Return a nonempty list of channels, or raise InputError."""
    found = listed(given, key, "a list of channels")
    if not found:
        raise InputError(key, "at least one channel", "none")
    return [as_channel(channel, f"{key}[{n}]") for n, channel in enumerate(found)]


def same_inputs(channels: Iterable[Channel]) -> list[Channel]:
    """Return a nonempty list of channels on the same inputs, or raise InputError."""
    found = channels_of(channels)
    for n, channel in enumerate(found):
        if channel.inputs != found[0].inputs:
            expected = f"the inputs of the first, {found[0].inputs!r}"
            raise InputError(f"channels[{n}]", expected, repr(channel.inputs))
    return found


def merged(
    columns: Iterable[Sequence[int]], weights: Iterable[int] = repeat(1)
) -> dict[Column, int]:
    """Return the distinct directions of columns, each with the sum of its weighted multiples.

    Examples
    --------
    >>> merged([(3, 1), (6, 2), (0, 0), (1, 6)])
    {(3, 1): 3, (1, 6): 1}
    """
    sums: dict[Column, int] = {}
    for column, weight in zip(columns, weights, strict=False):
        scale = math.gcd(*column)
        if scale:
            direction = tuple(entry // scale for entry in column)
            sums[direction] = sums.get(direction, 0) + weight * scale
    return sums


def product(channels: Iterable[Channel]) -> Channel:
    """Return independent releases about X as one channel; outputs of equal posterior are merged.

    The result is exact: its bits are the sum of the bits of the channels. Every notion applies.

    Parameters
    ----------
    channels
        Channels on the same inputs.

    Raises
    ------
    InputError
        If their inputs differ.
    UnsupportedError
        If more than 200,000 columns are left after merging.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> product([warner, warner])
    Channel(2 inputs, 3 outputs, exact over 2**124)
            0       1       2
    0  0.5625  0.3750  0.0625
    1  0.0625  0.3750  0.5625
    """
    listed = same_inputs(channels)
    kept = product_columns(listed)
    columns = [[weight * entry for entry in column] for column, weight in kept.items()]
    rows = list(zip(*columns, strict=True))
    return Channel(rows, inputs=listed[0].inputs, bits=sum(c.bits for c in listed))


def adaptive(first: Channel, seconds: Iterable[Channel]) -> Channel:
    """Return two releases as one channel; the output of the first selects the second channel.

    Parameters
    ----------
    first
        The first channel.
    seconds
        One channel for each output of the first, in order, all on its inputs.

    Returns
    -------
    Channel
        Its outputs are the pairs of outputs, numbered in order.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> silent = Channel.from_matrix([[1], [1]])
    >>> adaptive(warner, [warner, silent])
    Channel(2 inputs, 3 outputs, exact over 2**124)
            0       1       2
    0  0.5625  0.1875  0.2500
    1  0.0625  0.1875  0.7500
    """
    others = channels_of(seconds, "seconds")
    if len(others) != len(as_channel(first, "first").outputs):
        expected = f"{len(first.outputs)} channels, one for each output of the first"
        raise InputError("seconds", expected, len(others))
    same_inputs([first, *others])
    bits = max(channel.bits for channel in others)
    columns = [
        [(a << (bits - second.bits)) * b for a, b in zip(column, other, strict=True)]
        for column, second in zip(first.columns(), others, strict=True)
        for other in second.columns()
    ]
    rows = list(zip(*columns, strict=True))
    return Channel(rows, inputs=first.inputs, bits=first.bits + bits)


def product_columns(channels: Sequence[Channel]) -> dict[Column, int]:
    """Return the directions of the columns of a product, each with the sum of its multiples."""
    kept: dict[Column, int] = {(1,) * len(channels[0].inputs): 1}
    for channel in channels:
        kept = _times(kept, merged(channel.columns()))
        if len(kept) > MOST_COLUMNS:
            expected = f"releases with at most {MOST_COLUMNS} columns after merging"
            raise UnsupportedError("channels", expected, f"{len(kept)} columns")
    return kept


def _times(left: dict[Column, int], right: dict[Column, int]) -> dict[Column, int]:
    """Return all products of two columns, with proportional products merged."""
    pairs = list(itertools.product(left, right))
    weights = (left[a] * right[b] for a, b in pairs)
    return merged((tuple(map(mul, a, b)) for a, b in pairs), weights)


MOST_SEQUENCES = 4096


@dataclass(frozen=True)
class CompositionRow:
    """The joint leakage of the releases under one notion.

    Attributes
    ----------
    notion
        Its name in problem files, or ``"max-lift"`` and ``"min-lift"``, the sides of LIP.
    exact
        The smallest epsilon that the product of the channels satisfies, in nats, rounded up.
    bound
        The bound implied by the leakages of the single channels, in nats.
    source
        The theorem or method behind the bound.
    """

    notion: str
    exact: float
    bound: float
    source: str


@dataclass(frozen=True, repr=False)
class Composition(Tabular):
    """The joint leakage of releases about one X.

    Attributes
    ----------
    releases, inputs, outputs
        The numbers of releases, of inputs, and of outputs of the product before merging.
    columns
        Number of columns compared; the others are multiples of them.
    ratios
        The exact largest likelihood ratio of each pair of inputs; None if infinite. The logarithms
        form the tightest matrix of context-aware LDP.
    lines
        One row for each notion.
    """

    releases: int
    inputs: int
    outputs: int
    columns: int
    ratios: tuple[tuple[Ratio, ...], ...]
    rows: tuple[CompositionRow, ...]

    def __getitem__(self, notion: str) -> CompositionRow:
        return choose({row.notion: row for row in self.rows}, notion, "notion")

    @property
    def matrix(self) -> tuple[tuple[float, ...], ...]:
        """The tightest matrix E of context-aware LDP, in nats, rounded up."""
        return tuple(tuple(log_above(ratio) for ratio in row) for row in self.ratios)

    def _head(self) -> str:
        compared = f"; {self.columns} of {self.outputs} outputs compared" * bool(self.columns)
        releases = f"{self.releases} release{'s' * (self.releases > 1)}"
        return f"Composition({releases}, {self.inputs} inputs{compared})"

    def _table(self) -> Table:
        rows = [(r.notion, f"{r.exact:.6f}", f"{r.bound:.6f}", r.source) for r in self.rows]
        return Table(("notion", "exact", "bound", "bound by"), rows, "<>><")


def compose(
    channels: Iterable[Channel],
    prior: Prior | PriorSet | Iterable[object] | None = None,
) -> Composition:
    """Return the exact leakage of independent releases about one X, with the papers' bounds.

    LDP and the matrix of context-aware LDP add up pair by pair, since the largest ratio of a
    product is the product of the largest ratios. Lifts do not add up: the largest lift is found by
    enumerating the products of columns, where proportional columns are merged.

    Parameters
    ----------
    channels
        Channels on the same inputs, one for each release; a channel may be repeated.
    prior
        The prior of X, or a set of priors for bounded-prior LIP. Notions that need a prior are
        omitted without it.

    Raises
    ------
    InputError
        If the channels and the prior have different inputs.
    UnsupportedError
        If there are too many columns to compare.

    Notes
    -----
    Source of the bound on LIP: Jiang et al. 2021 (TIFS), Theorem 4 and Corollary 4. The bounds on
    the sides are ln Sum_z P_z e**E[z,x] and -ln Sum_z P_z e**-E[x,z], with E the sum of the
    matrices of the channels.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> compose([warner] * 3, Prior([0.2, 0.8]))
    Composition(3 releases, 2 inputs; 4 of 8 outputs compared)
    notion                            exact      bound  bound by
    ldp                            3.295837   3.295837  sum
    differential-identifiability   4.682131   4.682131  matrix
    max-lift                       1.471288   1.471288  matrix
    min-lift                       3.081910   3.081910  matrix
    lip                            3.081910   5.510734  Theorem 4
    """
    listed = same_inputs(channels)
    each = {c: pair_ratios(zip(*merged(c.columns()), strict=True)) for c in dict.fromkeys(listed)}
    inputs = range(len(listed[0].inputs))
    ratios = [[_product([each[c][x][z] for c in listed]) for z in inputs] for x in inputs]
    total = log_above(_product(largest(each[channel]) for channel in listed))
    lines = [CompositionRow("ldp", log_above(largest(ratios)), total, "sum")]
    compared = len(listed[0].outputs) if len(listed) == 1 else 0
    if prior is not None:
        domain = listed[0].inputs
        if isinstance(prior, PriorSet):
            priors = prior.aligned(domain, "prior")
        else:
            priors = PriorList([prior_on(prior, domain)])
        columns = product_columns(listed)
        compared = len(columns)
        if isinstance(priors, PriorList) and len(priors.members) == 1:
            rows, _ = Ratios(columns).of_prior(Prior(priors.members[0]))
            pairs = rows[-1]  # exact already from the matrix of all pairs
            lines.append(CompositionRow(pairs.notion, pairs.value, pairs.value, "matrix"))
        own = {c: Ratios(c.columns()).of_set(priors)[0].value for c in each}
        lines += _lift_rows(columns, ratios, priors, [own[channel] for channel in listed])
    return Composition(
        releases=len(listed),
        inputs=len(inputs),
        outputs=math.prod(len(channel.outputs) for channel in listed),
        columns=compared,
        ratios=tuple(tuple(row) for row in ratios),
        rows=tuple(lines),
    )


def compose_sequence(channels: Iterable[Channel], joint: Prior | Iterable[object]) -> Composition:
    """Return the leakage about a sequence of which each part is released once.

    Y_k depends on X_k alone. The input is the whole sequence, with a prior on its values. The
    channel of Y_k depends on the k-th part alone; these channels are passed to :func:`compose`.

    Parameters
    ----------
    channels
        The channel of each part; their inputs may differ.
    joint
        The probabilities of all sequences, with the last part varying fastest: k_1 ... k_n numbers
        for n parts with k_1, ..., k_n inputs.

    Raises
    ------
    InputError
        If the number of probabilities does not match the channels.
    UnsupportedError
        If there are more than 4096 sequences.

    Notes
    -----
    Source of the bound: Jiang et al. 2021 (TIFS), Corollary 5. A sequence of probability 0 is
    protected like any other.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> compose_sequence([warner, warner], [0.4, 0.1, 0.1, 0.4])
    Composition(2 releases, 4 inputs; 4 of 4 outputs compared)
    notion                            exact      bound  bound by
    ldp                            2.197225   2.197225  sum
    differential-identifiability   2.484907   2.484907  matrix
    max-lift                       0.973449   0.973449  matrix
    min-lift                       1.526056   1.526056  matrix
    lip                            1.526056   2.104134  Corollary 5
    """
    parts = channels_of(channels)
    sizes = [len(channel.inputs) for channel in parts]
    if math.prod(sizes) > MOST_SEQUENCES:
        expected = f"at most {MOST_SEQUENCES} sequences"
        raise UnsupportedError("channels", expected, math.prod(sizes))
    given = as_prior(joint, "joint")
    every = list(itertools.product(*(channel.inputs for channel in parts)))
    prior = Prior(
        aligned(given.probabilities, given.labels, every, "joint", "sequence", "probabilities")
    )
    sequences = list(itertools.product(*map(range, sizes)))
    domain = Domain.range(len(sequences))
    whole = [
        Channel(channel.numerators[[xs[n] for xs in sequences]], inputs=domain, bits=channel.bits)
        for n, channel in enumerate(parts)
    ]
    found = compose(whole, prior)
    budgets = []
    for n, channel in enumerate(parts):
        marginal = [Fraction(0)] * sizes[n]
        for xs, p in zip(sequences, prior, strict=True):
            marginal[xs[n]] += p
        own = compose([channel], Prior(marginal)).rows[-1].exact
        budgets.append(lip_to_ldp(added([own]), min(marginal)))
    bound = through_ldp(added(budgets), prior.minimum)
    last = replace(found.rows[-1], bound=bound, source="Corollary 5")
    return replace(found, rows=(*found.rows[:-1], last))


def _lift_rows(
    columns: Collection[Column], ratios: list[list[Ratio]], priors: PriorSet, budgets: list[float]
) -> list[CompositionRow]:
    both, above, below = (row.value for row in Ratios(columns).of_set(priors))
    bound = lip_composition_bound([added([own]) for own in budgets], *extreme_minima(priors))
    one = isinstance(priors, PriorList) and len(priors.members) == 1
    return [
        CompositionRow("max-lift", above, _above(ratios, priors), "matrix"),
        CompositionRow("min-lift", below, _below(ratios, priors), "matrix"),
        CompositionRow(
            "lip" if one else "bounded-prior-lip",
            both,
            bound,
            "Theorem 4" if one else "Corollary 4",
        ),
    ]


def _below(ratios: list[list[Ratio]], priors: PriorSet) -> float:
    """Bound (P . q) / q_x = Sum_z P_z q_z / q_x by the largest ratios."""
    columns = [[r for r in column if r is not None] for column in zip(*ratios, strict=True)]
    if any(len(column) < len(ratios) for column in columns):
        return math.inf
    return log_above(max(priors.extreme_mean(column, largest=True) for column in columns))


def _above(ratios: list[list[Ratio]], priors: PriorSet) -> float:
    """Bound q_x / (P . q) = 1 / Sum_z P_z q_z / q_x by the least ratios."""
    shares = [[Fraction(0) if ratio is None else 1 / ratio for ratio in row] for row in ratios]
    return log_above(inverse(min(priors.extreme_mean(row, largest=False) for row in shares)))


def _product(ratios: Iterable[Ratio]) -> Ratio:
    factors = list(ratios)
    return None if None in factors else math.prod(filter(None, factors), start=Fraction(1))
