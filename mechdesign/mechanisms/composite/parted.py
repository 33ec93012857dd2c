"""Base class of mechanisms that report a part in clear and use one mechanism for each part."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.domain import Domain
from mechdesign.errors import InputError
from mechdesign.exact import exp_lower, fraction_text
from mechdesign.mechanisms.base import Frequencies, Mechanism
from mechdesign.mechanisms.composite.identity import IdentityMechanism
from mechdesign.mechanisms.composite.tagged_reports import TaggedReports
from mechdesign.notions import BlockLDP, HighLowLDP
from mechdesign.reports import Tally


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

        Parameters
        ----------
        member
            ``(n_inputs,)`` the part of each input, from 0.
        kinds, kind_of
            The distinct mechanisms, and the index of that of each part.
        key
            The name of a part in errors, with ``{}`` in place of its number.

        Raises
        ------
        InputError
            If a mechanism does not fit its part, or exceeds the budget.
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
