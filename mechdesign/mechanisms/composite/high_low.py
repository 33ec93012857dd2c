"""High-low LDP mechanisms (Acharya et al. 2020): an LDP mechanism for the sensitive inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.domain import Domain
from mechdesign.errors import InputError, shown
from mechdesign.exact import exp_lower
from mechdesign.mechanisms.base import (
    MOST_OUTPUTS,
    WHOLE,
    Frequencies,
    Mechanism,
    informative,
    inputs_of,
)
from mechdesign.mechanisms.composite.identity import IdentityMechanism
from mechdesign.mechanisms.composite.parted import PartedMechanism, component_table
from mechdesign.mechanisms.composite.tagged_reports import TaggedReports
from mechdesign.mechanisms.optimum import best_high_low_size, least_high_low_risk
from mechdesign.mechanisms.set_system import SetMechanism
from mechdesign.mechanisms.subsets.subset_selection import SubsetSelection
from mechdesign.notions import HighLowLDP
from mechdesign.sampling import Source, chances

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

    def __init__(
        self,
        inputs: Domain | Iterable[Any] | int,
        notion: HighLowLDP,
        inner: Mechanism | None,
    ) -> None:
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
    make: Callable[..., Mechanism],
    inputs: Domain | Iterable[Any] | int,
    notion: HighLowLDP,
    **options: Any,
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
    """Return the indices of the sensitive inputs and of the others, in the order of the domain.

    Raises
    ------
    InputError
        If a sensitive label is not in the domain, or all are sensitive.
    """
    hidden = {domain.index(label, "sensitive") for label in notion.sensitive}
    if len(hidden) == len(domain):
        hint = "where all are, it is LDP"
        raise InputError("sensitive", "an input that is not sensitive", shown("all of them"), hint)
    return sorted(hidden), [x for x in range(len(domain)) if x not in hidden]
