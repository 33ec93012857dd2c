"""The identity mechanism, a part of composite mechanisms for inputs that need no protection."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray, Int64Array
from mechdesign.domain import Domain
from mechdesign.mechanisms.two_score import TwoScoreMechanism
from mechdesign.mechanisms.two_valued import ProbabilityLevel, TwoValuedMechanism
from mechdesign.notions import BlockLDP
from mechdesign.prior import Prior
from mechdesign.reports import Labels
from mechdesign.sampling import Source

__all__ = ["IdentityMechanism"]


class IdentityMechanism(TwoScoreMechanism, TwoValuedMechanism):
    """Report the input: Q[x, x] = 1, with the score 1{y = x}.

    With one input there is one report.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; one input is enough.

    Examples
    --------
    >>> IdentityMechanism(1).bits_per_report
    0.0
    """

    name = "in-clear"
    source = "the identity channel"

    def __init__(self, inputs: Domain | Iterable[Any] | int) -> None:
        self.inputs = Domain.of(inputs, "inputs")
        self.alphabet = Labels(self.inputs)

    @property
    def privacy(self) -> BlockLDP:
        """Every input is a block of its own."""
        return BlockLDP(0, blocks=[[label] for label in self.inputs])

    @property
    def most(self) -> Fraction:
        """1."""
        return Fraction(1)

    def parameters(self) -> dict[str, Any]:
        """Return nothing: there is no parameter."""
        return {}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Return the input numbers."""
        return codes.copy()

    def draw_uniform(self, count: int, source: Source) -> AnyArray:
        """Return the one report that there is; for one input only."""
        return np.zeros(count, dtype=np.int64)

    @property
    def least(self) -> Fraction:
        """0."""
        return Fraction(0)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """1 and 0."""
        return self.most, self.least

    def _holds(self, x: int, report: AnyArray) -> bool:
        return int(report[0]) == x

    def ratio(self, x: int, other: int) -> Fraction | None:
        """Return 1 for one input, None for two."""
        return Fraction(1) if x == other else None

    def largest_ratio(self) -> Fraction:
        """Return 1, the ratio inside a block of one."""
        return Fraction(1)

    def levels(self, prior: Prior) -> list[ProbabilityLevel]:
        """Return the probability 1 of the one report; for one input only."""
        return [ProbabilityLevel(Fraction(1), Fraction(1), Fraction(1))]

    def lifts(self, prior: Prior) -> tuple[Fraction, Fraction]:
        """Return the extremes of 1{y = x} / P_y."""
        prior = self.fitting_prior(prior)
        least = min(p for p in prior if p)
        return Fraction(int(len(self.inputs) == 1)), 1 / least
