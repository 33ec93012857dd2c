"""Composite mechanisms: a part in clear, with a mechanism inside each.

Under block-structured LDP the parts are the blocks; under high-low LDP (Acharya et al. 2020) the
sensitive inputs have an LDP mechanism, and others send its reports sometimes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.domain import Domain, DomainLike
from mechdesign.errors import InputError, shown
from mechdesign.exact import exp_lower, fraction_text
from mechdesign.mechanisms.base import (
    MOST_OUTPUTS,
    WHOLE,
    Frequencies,
    Mechanism,
    informative,
    inputs_of,
)
from mechdesign.mechanisms.randomized_response import IdentityMechanism
from mechdesign.mechanisms.reported_sets import SubsetSelection
from mechdesign.mechanisms.set_system import (
    SetMechanism,
    best_high_low_size,
    least_block_risk,
    least_high_low_risk,
)
from mechdesign.mechanisms.tagged_reports import TaggedReports
from mechdesign.notions import BlockLDP, HighLowLDP
from mechdesign.reports import Tally
from mechdesign.sampling import Source, chances


class PartedMechanism(Mechanism):
    """Each input belongs to a part, and reports by that part's mechanism on the inputs 0, 1, ...

    Parts with equal mechanisms are drawn and estimated together. The methods here assume that all
    inputs report in their own part; the score of an input is that of its part's mechanism on
    reports from the part, and 0 on all others.
    """

    _notion: BlockLDP | HighLowLDP

    alphabet: TaggedReports

    def _arrange(
        self, member: Int64Array, kinds: Sequence[Mechanism], kind_of: Sequence[int], key: str
    ) -> None:
        """Number the inputs in each part, in the order of the domain, and check the mechanisms.

        ``member`` is the part of each input, ``kind_of`` the index of the mechanism of each part.
        """
        sizes, most = np.bincount(member), exp_lower(self._notion.epsilon)
        first = dict[tuple[int, int], int]()
        for b, pair in enumerate(zip(kind_of, sizes.tolist(), strict=True)):
            first.setdefault(pair, b)
        for (n, size), b in first.items():
            kind = kinds[n]
            numbered = isinstance(kind, IdentityMechanism) or kind.inputs == Domain.range(size)
            if len(kind.inputs) != size or not numbered:
                expected = f"a mechanism on the inputs 0..{size - 1}, as its part has {size}"
                raise InputError(key.format(b), expected, repr(kind.inputs))
            if kind.largest_ratio() > most:
                expected = f"a mechanism within epsilon = {fraction_text(self._notion.epsilon)}"
                raise InputError(key.format(b), expected, repr(kind))
        self._member, self._order = member, np.argsort(member, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(sizes)])
        self._rank = np.empty_like(member)
        self._rank[self._order] = np.arange(len(member)) - self._starts[member[self._order]]

    def _inputs_of(self, part: int) -> Int64Array:
        return self._order[self._starts[part] : self._starts[part + 1]]

    def mass(self, x: int, report: AnyArray) -> Fraction:
        """Return the probability of a report."""
        part = self.alphabet.part(report)
        if int(part[0]) != self._member[x]:
            return Fraction(0)
        kind = int(self.alphabet.kind_of[part[0]])
        inner = self.alphabet.inner(kind, part, report)
        return self.alphabet.kinds[kind].mass(int(self._rank[x]), inner)

    def batch_frequencies(self, counts: FloatArray, totals: FloatArray) -> Frequencies:
        """Return the estimates of many tallies, one in each row of the counts."""
        pairs = zip(counts, totals.tolist(), strict=True)
        found = [self._estimate(row, total) for row, total in pairs]
        estimates, squares = ([getattr(f, key) for f in found] for key in ("estimates", "squares"))
        return Frequencies(np.array(estimates), np.array(squares))

    def _estimate(self, counts: FloatArray, total: float) -> Frequencies:
        """Return the estimates of one tally."""
        estimates, squares = np.zeros((2, len(self.inputs)))
        for n, kind in enumerate(self.alphabet.kinds):
            parts, inner = self.alphabet.counts_of(n, counts)
            if not len(parts):
                continue
            found = kind.batch_frequencies(inner, counts[parts])
            share = (counts[parts] / total)[:, None]
            places = self._order[self._starts[parts][:, None] + np.arange(len(kind.inputs))]
            estimates[places] = found.estimates * share
            squares[places] = found.squares * share
        return Frequencies(estimates, squares)

    def expected_counts(self, weights: FloatArray) -> FloatArray:
        """Return the weights of the parts, then the expected counts inside each."""
        found = [np.bincount(self._member, weights=weights)]
        for part, kind in enumerate(self.alphabet.kind_of.tolist()):
            inside = weights[self._inputs_of(part)]
            found.append(self.alphabet.kinds[kind].expected_counts(inside))
        return np.concatenate(found)

    def combination(self, tally: Tally, weights: FloatArray) -> tuple[float, float]:
        """Return the estimate of a weighted sum, and the mean square of its score."""
        weights, constants = self._part_scores(weights)
        _, total = self.counted(tally)
        mean = square = 0.0
        for n, kind in enumerate(self.alphabet.kinds):
            parts, counts = self.alphabet.counts_of(n, tally.counts)
            for part, row in zip(parts.tolist(), counts, strict=True):
                inside, c = int(tally.counts[part]), float(constants[part])
                found = kind.combination(Tally(row, inside), weights[self._inputs_of(part)])
                mean += (found[0] + c) * inside / total
                square += (found[1] + 2 * c * found[0] + c**2) * inside / total
        return mean, square

    def _part_scores(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the weights of the scores inside the parts, and a constant for each part."""
        return weights, np.zeros(len(self._starts) - 1)


def component_table(mechanism: Mechanism) -> dict[str, Any]:
    """Return the table of an inner mechanism among the parameters of a composite one."""
    epsilon: str = mechanism.privacy.to_table()["epsilon"]
    return {"epsilon": epsilon, "law": {"kind": mechanism.name, **mechanism.parameters()}}


class ByComponent(PartedMechanism):
    """Report the block of the input in clear, and a report of the mechanism of that block.

        Q[x, (b, y)] = Q_b[x, y] if x is in block b, else 0

    So E[s_x(Y) | X = z] = 1{z = x} for every z, inside or outside the block. For Hadamard response
    this is the published estimator 2 (e**eps + 1)/(e**eps - 1) (h(S_x) - h(block)/2).

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    notion
        The blocks and the budget. Blocks, and the inputs inside each, are numbered from 0 in the
        order of the domain.
    parts
        One mechanism for each block, on the inputs 0, 1, ..., size - 1, each within the budget;
        None for a block of one input.

    Raises
    ------
    InputError
        If a part does not match its block, or exceeds the budget.

    Notes
    -----
    Source: Acharya et al. 2020, Section 5, for Hadamard response in every block.

    Examples
    --------
    >>> from mechdesign.mechanisms import GeneralizedRandomizedResponse
    >>> rooms = BlockLDP(1, blocks=[["a", "b", "c"], ["d"]])
    >>> inside = [GeneralizedRandomizedResponse(3, 1), None]
    >>> mixed = ByComponent(["a", "b", "c", "d"], rooms, inside)
    >>> mixed.outputs()
    [(0, 0), (0, 1), (0, 2), (1, 0)]
    >>> mixed.privatize(["d", "d"], rng=1).texts()
    ['1:0', '1:0']
    """

    name = "by-component"
    source = "Acharya et al. 2020, Section 5"
    _notion: BlockLDP

    alphabet: TaggedReports
    """Pairs (block, report), written ``block:report``."""

    def __init__(
        self, inputs: DomainLike, notion: BlockLDP, parts: Sequence[Mechanism | None]
    ) -> None:
        self.inputs = inputs_of(inputs)
        self._notion = informative(notion, BlockLDP)
        member = notion.membership(self.inputs).astype(np.int64)
        n_blocks = int(member.max()) + 1
        if len(parts) != n_blocks:
            expected = f"{n_blocks} mechanisms, one for each block"
            raise InputError("parts", expected, len(parts))
        alone = IdentityMechanism(1)
        kinds, kind_of = _distinct([alone if part is None else part for part in parts])
        self._arrange(member, kinds, kind_of, "parts[{}]")
        self.alphabet = TaggedReports(kinds, kind_of, range(n_blocks))

    @property
    def parts(self) -> list[Mechanism]:
        """The mechanism of each block."""
        return [self.alphabet.kinds[kind] for kind in self.alphabet.kind_of.tolist()]

    def parameters(self) -> dict[str, Any]:
        """Return the distinct mechanisms, and the index of that of each block."""
        return {
            "parts": [component_table(kind) for kind in self.alphabet.kinds],
            "part_of_block": self.alphabet.kind_of.tolist(),
        }

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports, as an array of ``tagged_reports.TaggedReports``."""
        rank = self._rank[codes]
        return self.alphabet.build(
            self._member[codes], lambda kind, places: kind.draw(rank[places], source.of(places))
        )

    @property
    def least_known_risk(self) -> float:
        """The risk of subset selection inside each block, the least of all channels."""
        return least_block_risk(np.bincount(self._member).tolist(), self._notion.epsilon)

    def largest_ratio(self) -> Fraction:
        """Return the largest ratio inside a block."""
        return max(kind.largest_ratio() for kind in self.alphabet.kinds)


def by_block(
    make: Callable[..., Mechanism], inputs: DomainLike, notion: BlockLDP, **options: Any
) -> ByComponent:
    """Return ``make(size, epsilon, **options)`` in every block of at least two inputs.

    Parameters
    ----------
    make
        A mechanism under LDP, such as :class:`~mechdesign.mechanisms.SubsetSelection`.
    inputs
        A :class:`Domain`, its labels, or its size.
    notion
        The blocks and the budget.
    options
        Further arguments of the mechanism.

    Examples
    --------
    >>> from mechdesign.mechanisms import SubsetSelection
    >>> by_block(SubsetSelection, 6, BlockLDP(1, [[0, 1, 2], [3, 4, 5]]), size=1).n_outputs
    6
    """
    domain = inputs_of(inputs)
    informative(notion, BlockLDP)
    sizes = np.bincount(notion.membership(domain)).tolist()
    made = {n: make(n, notion.epsilon, **options) if n > 1 else None for n in set(sizes)}
    return ByComponent(domain, notion, [made[size] for size in sizes])


def _distinct(parts: Sequence[Mechanism]) -> tuple[list[Mechanism], list[int]]:
    """Return the distinct mechanisms, and the index of that of each part."""
    place: dict[Mechanism, int] = {}
    objects = {id(part): part for part in parts}  # few: equal ones are mostly the same object
    number = {key: place.setdefault(part, len(place)) for key, part in objects.items()}
    return list(place), [number[id(part)] for part in parts]


HIDDEN, OPEN = 0, 1
"""The two parts of the reports: those of the inner mechanism, and labels in clear."""


class HighLow(PartedMechanism):
    """Sensitive inputs report by an LDP mechanism; others send a uniform report, or their label.

    With N reports of the inner mechanism, each of probability at most ``most``:

        x sensitive:  Q[x, y] = Q_inner[x, y]
        else:         Q[x, y] = w / N on the N reports,  Q[x, own label] = 1 - w

    This is private if and only if most <= e**epsilon w / N, as only the probabilities at sensitive
    inputs are bounded and these never send a label; w is the least such multiple of 2**-62, or of N
    2**-62 if N is at most 65,536.

    With s_x the inner scores and c their mean under a uniform report, the score of a sensitive
    input is s_x(y) on the N reports and -w c / (1 - w) on labels; that of any other is 1{y = own
    label} / (1 - w). These are unbiased, as the mean at an input that is not sensitive is w c - (1
    - w) w c / (1 - w) = 0; for Hadamard response, where c = 0, they are the published estimators.
    The expected sum of all scores is 1 at every input, so f = 1 - Sum_x s_x has mean 0, and s_x +
    b_x f is unbiased as well. Here b_x is optimal for equally likely inputs and nearly uniform
    reports: for five sensitive inputs among twenty at epsilon = 1 it reduces the total variance
    from 16.87 to 13.77. For subset selection and randomized response f = 0, and no linear unbiased
    estimator is better at such inputs.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    notion
        The sensitive inputs and the budget. There must be an input that is not sensitive.
    inner
        A mechanism with two probabilities on the inputs 0, 1, ..., s - 1, the sensitive ones in the
        order of the domain: Hadamard or projective geometry response, subset selection or
        randomized response. None for one sensitive input, which always sends the same report.

    Raises
    ------
    InputError
        If the inner mechanism does not fit, or exceeds the budget.

    Notes
    -----
    Source: Acharya et al. 2020, Section 4, for Hadamard response; any inner mechanism is ours. With
    one sensitive input it is Mangat's, which is optimal for every utility that post-processing
    cannot raise.

    Examples
    --------
    >>> ill = HighLow(["ill", "well", "away"], HighLowLDP(1, ["ill"]), None)
    >>> ill.outputs()
    [('hidden', 0), ('open', 'well'), ('open', 'away')]
    >>> round(float(ill.probability("well", ("hidden", 0))), 6)  # e**-1
    0.367879
    """

    name = "high-low"
    source = "Acharya et al. 2020, Section 4"
    _notion: HighLowLDP

    alphabet: TaggedReports
    """Pairs ("hidden", report) or ("open", label), written with a colon between."""

    def __init__(self, inputs: DomainLike, notion: HighLowLDP, inner: Mechanism | None) -> None:
        self.inputs = inputs_of(inputs)
        self._notion = informative(notion, HighLowLDP)
        hidden, others = split_by_sensitivity(self.inputs, notion)
        inner = IdentityMechanism(1) if inner is None else inner
        if not isinstance(inner, SetMechanism):
            expected = "Hadamard response, subset selection or randomized response"
            raise InputError("inner", expected, repr(inner))
        member = np.full(len(self.inputs), OPEN)
        member[hidden] = HIDDEN
        kinds = [inner, IdentityMechanism(Domain([self.inputs.labels[x] for x in others]))]
        self._arrange(member, kinds, [HIDDEN, OPEN], "inner")
        self.alphabet = TaggedReports(kinds, [HIDDEN, OPEN], ["hidden", "open"])
        self._inner, self._n_inner, self._is_open = inner, inner.n_outputs, member == OPEN
        # a multiple of N if possible, so that the matrix of a small domain is exact
        step = self._n_inner if self._n_inner <= MOST_OUTPUTS else 1
        least = WHOLE * self._n_inner * inner.most / exp_lower(self._notion.epsilon)
        self._uniform = math.ceil(least / step) * step
        joins = self._uniform / WHOLE
        self._own = 1 / (1 - joins)  # the score of a label itself, and of a sensitive input there
        self._away = -joins * inner.uniform_score * self._own
        self._surplus = 1 - len(hidden) * self._away - self._own  # f on labels
        self._balance = self._balances()

    @property
    def inner(self) -> Mechanism:
        """The mechanism of the sensitive inputs."""
        return self._inner

    def parameters(self) -> dict[str, Any]:
        """Return the inner mechanism, and the mass of w."""
        return {"inner": component_table(self._inner), "uniform": self._uniform}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports, as an array of ``tagged_reports.TaggedReports``."""
        rank, apart = self._rank[codes], self._is_open[codes]
        joins = chances(source, len(codes), 62) < self._uniform

        def make(kind: Mechanism, places: Int64Array) -> AnyArray:
            if kind is not self._inner:
                return kind.draw(rank[places], source.of(places))
            joining = apart[places]
            coins = source.of(places)
            drawn = kind.draw(np.where(joining, 0, rank[places]), coins)
            # drawn for all, so that the number of random bits does not depend on who joined
            uniform = self._inner.draw_uniform(len(places), coins)
            drawn[joining] = uniform[joining]
            return drawn

        return self.alphabet.build((apart & ~joins).astype(np.int64), make)

    def mass(self, x: int, report: AnyArray) -> Fraction:
        """Return the probability of a report."""
        inside = super().mass(x, report)
        if not self._is_open[x]:
            return inside
        if self.alphabet.part(report)[0] == HIDDEN:
            return Fraction(self._uniform, WHOLE * self._n_inner)
        return inside * Fraction(WHOLE - self._uniform, WHOLE)

    def _estimate(self, counts: FloatArray, total: float) -> Frequencies:
        """Return the estimates of one tally."""
        (means, squares), products = self._unbalanced(counts, total)
        mean = 1 - means.sum()  # of f; as f = 1 - Sum_x s_x, that of f**2 follows from s_x f
        square = mean - products.sum()
        squares = squares + self._balance * (2 * products + self._balance * square)
        return Frequencies(means + self._balance * mean, squares)

    def _unbalanced(
        self, counts: FloatArray, total: float
    ) -> tuple[tuple[FloatArray, FloatArray], FloatArray]:
        """Return the means of the scores s_x and of their squares, and those of s_x f."""
        found, is_open = super()._estimate(counts, total), self._is_open
        means, squares, share = found.estimates, found.squares, counts[OPEN] / total
        means[is_open] *= self._own
        squares[is_open] *= self._own**2
        products = self._surplus * np.where(is_open, means, share * self._away)
        sums = self._inner.score_products(self._inner_counts(counts), total)
        if sums is not None:
            products[~is_open] += means[~is_open] - sums
        means[~is_open] += share * self._away
        squares[~is_open] += share * self._away**2
        return (means, squares), products

    def _inner_counts(self, counts: FloatArray) -> FloatArray:
        return counts[self.alphabet.count_starts[HIDDEN] : self.alphabet.count_starts[OPEN]]

    def expected_counts(self, weights: FloatArray) -> FloatArray:
        """Return the expected shares of inner reports and labels, and their expected counts."""
        joins = np.where(self._is_open, self._uniform / WHOLE, 0.0) * weights
        found = super().expected_counts(weights - joins)
        found[HIDDEN] += joins.sum()
        self._inner_counts(found)[:] += joins.sum() * self._inner.uniform_counts()
        return found

    @property
    def least_known_risk(self) -> float:
        """The risk of the best subset selection, within 0.3 % of the least risk."""
        k, s = len(self.inputs), len(self._inner.inputs)
        return self.risk if s == 1 else least_high_low_risk(k, s, self._notion.epsilon)

    def _balances(self) -> FloatArray:
        """Return b_x, optimal for equally likely inputs and uniform inner reports.

        If the inner scores sum to 1 at every report, f = 0.
        """
        flat, k = self._inner.uniform_counts(), len(self.inputs)
        if self._inner.score_products(flat, 1) is None:
            return np.zeros(k)
        n_open = int(self._is_open.sum())
        label = (WHOLE - self._uniform) / WHOLE / k
        share = 1 - label * n_open
        ends = np.array([share, label * n_open]), np.full(n_open, label)
        counts = np.concatenate([ends[0], share * flat, ends[1]])
        (means, _), products = self._unbalanced(counts, 1.0)
        return np.asarray(-products / (1 - means.sum() - products.sum()))

    def _part_scores(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        extra = float(weights @ self._balance)
        # on inner reports the score is Sum_x (w_x - extra) s_x + extra
        inside = np.where(self._is_open, self._own * weights, weights - extra)
        away = self._away * weights[~self._is_open].sum() + extra * self._surplus
        return inside, np.array([extra, away])

    def largest_ratio(self) -> Fraction:
        """Return the largest ratio of a sensitive input's row to any."""
        to_open = self._inner.most * self._n_inner * WHOLE / self._uniform
        return max(self._inner.largest_ratio(), to_open)


def around_sensitive(
    make: Callable[..., Mechanism], inputs: DomainLike, notion: HighLowLDP, **options: Any
) -> HighLow:
    """Return ``make(s, epsilon, **options)`` for the s sensitive inputs; for one, Mangat's design.

    The default size of a subset is optimal for equally likely inputs.

    Parameters
    ----------
    make, inputs, options
        As for :func:`~mechdesign.mechanisms.by_block`.
    notion
        The sensitive inputs and the budget.

    Examples
    --------
    >>> from mechdesign.mechanisms import HadamardResponse
    >>> around_sensitive(HadamardResponse, 20, HighLowLDP(1, range(5))).n_outputs
    23
    """
    domain = inputs_of(inputs)
    epsilon = informative(notion, HighLowLDP).epsilon
    size = len(split_by_sensitivity(domain, notion)[0])
    if make is SubsetSelection and size > 1 and options.get("size") is None:
        options = {"size": best_high_low_size(len(domain), size, epsilon)}
    return HighLow(domain, notion, make(size, epsilon, **options) if size > 1 else None)


def split_by_sensitivity(domain: Domain, notion: HighLowLDP) -> tuple[list[int], list[int]]:
    """Return the indices of the sensitive inputs and of the others, in the order of the domain."""
    hidden = {domain.index(label, "sensitive") for label in notion.sensitive}
    if len(hidden) == len(domain):
        hint = "where all are, it is LDP"
        raise InputError("sensitive", "an input that is not sensitive", shown("all of them"), hint)
    return sorted(hidden), [x for x in range(len(domain)) if x not in hidden]
