"""Generalized (k-ary) randomized response on a large domain (Kairouz et al. 2016)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray, Int64Array
from mechdesign.domain import Domain
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import WHOLE, held_mass
from mechdesign.mechanisms.merged_reports import MergedReports, merged_sets
from mechdesign.mechanisms.two_score import LDPMechanism, TwoScoreMechanism
from mechdesign.mechanisms.two_valued import TwoValuedMechanism
from mechdesign.prior import Prior
from mechdesign.reports import Labels
from mechdesign.sampling import Source, below, chances

__all__ = ["GeneralizedRandomizedResponse"]


class GeneralizedRandomizedResponse(LDPMechanism, TwoScoreMechanism, TwoValuedMechanism):
    """Report the truth with odds e**epsilon against any other one input (GRR).

        Q[x, x] = e**eps / (e**eps + k - 1),      Q[x, y] = 1 / (e**eps + k - 1)

    One draw of 62 bits: the mass of each other input is a whole number o, the rest is the truth's.
    The score 1{y = x} is scaled: s_x(y) = (1{y = x} - q) / (p - q).

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    epsilon
        The budget in nats, > 0.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Source: Kairouz, Bonawitz and Ramage 2016.

    Examples
    --------
    >>> grr = GeneralizedRandomizedResponse(["a", "b", "c"], 1)
    >>> grr
    GeneralizedRandomizedResponse(3 inputs, LDP(epsilon=1), 1.585 bits a report)
    >>> float(grr.probability("a", "a") / grr.probability("b", "a"))
    2.718281828459045
    >>> grr.leakage <= 1
    True
    """

    name = "randomized-response"
    source = "Kairouz, Bonawitz and Ramage 2016"

    def __init__(self, inputs: Domain | Iterable[Any] | int, epsilon: Exact) -> None:
        super().__init__(inputs, epsilon)
        self._k = len(self.inputs)
        others = WHOLE - held_mass(self._notion.epsilon, 1, self._k - 1)
        self._other = -(-others // (self._k - 1))
        self._own = WHOLE - (self._k - 1) * self._other
        self.alphabet = Labels(self.inputs)

    @property
    def most(self) -> Fraction:
        """The probability of the truth."""
        return Fraction(self._own, WHOLE)

    @property
    def least(self) -> Fraction:
        """The probability of each other input."""
        return Fraction(self._other, WHOLE)

    def parameters(self) -> dict[str, Any]:
        """Return the masses of the truth and of each other input."""
        return {"own": self._own, "other": self._other}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports: input numbers."""
        # the masses of the others come first, o each; what is left is the truth's
        step = chances(source, len(codes), 62).view(np.uint64)
        step //= np.uint64(self._other)
        np.minimum(step, np.uint64(self._k - 1), out=step)
        step += codes.view(np.uint64)
        step += np.uint64(1)  # codes + 1 .. codes + k, the last for the truth
        wrapped = step - np.uint64(self._k)  # very large where it is below 0
        np.minimum(step, wrapped, out=wrapped)
        return wrapped.view(np.int64)

    def draw_uniform(self, count: int, source: Source) -> AnyArray:
        """Return uniform inputs."""
        return below(source, count, self._k)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """The exact p and q: of the truth, and of each other input."""
        return self.most, self.least

    def _holds(self, x: int, report: AnyArray) -> bool:
        return int(report[0]) == x

    def _shares(self, prior: Prior) -> tuple[Fraction, Fraction]:
        return min(prior), max(prior)

    @property
    def best_guess(self) -> float:
        """The probability of the truth."""
        return self._own / WHOLE

    def merged_reports(self) -> MergedReports:
        """Return up to three inputs and the reports that are none of them."""
        few = min(self._k, 3)
        shares = {tuple(int(x == y) for x in range(few)): Fraction(1) for y in range(few)}
        shares[(0,) * few] = Fraction(self._k - few)
        return merged_sets(self.most, self.least, shares)
