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
from mechdesign.mechanisms.set_system import NumberedSets
from mechdesign.reports import Labels
from mechdesign.sampling import Source, chances


class GeneralizedRandomizedResponse(NumberedSets):
    """Report the truth with odds e**epsilon against each other input (GRR).

        Q[x, x] = e**eps / (e**eps + k - 1),      Q[x, y] = 1 / (e**eps + k - 1)

    One draw of 62 bits: each other input has an integer mass o, the truth the rest. The score is
    s_x(y) = (1{y = x} - q) / (p - q).

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
    _are_alike = True

    def __init__(self, inputs: Domain | Iterable[Any] | int, epsilon: Exact) -> None:
        super().__init__(inputs, epsilon)
        self._k = len(self.inputs)
        others = WHOLE - held_mass(self._notion.epsilon, 1, self._k - 1)
        self._other = -(-others // (self._k - 1))
        self.held, self.odds = WHOLE - (self._k - 1) * self._other, (1, self._k - 1)
        self.alphabet = Labels(self.inputs)

    def parameters(self) -> dict[str, Any]:
        """Return the masses of the truth and of each other input."""
        return {"own": self.held, "other": self._other}

    def draw(self, codes: Int64Array, source: Source) -> AnyArray:
        """Draw reports: input numbers."""
        # the masses of the others come first, o each; the truth has the rest
        step = chances(source, len(codes), 62).view(np.uint64)
        step //= np.uint64(self._other)
        np.minimum(step, np.uint64(self._k - 1), out=step)
        step += codes.view(np.uint64)
        step += np.uint64(1)  # codes + 1 .. codes + k, the last for the truth
        wrapped = step - np.uint64(self._k)  # very large if negative
        np.minimum(step, wrapped, out=wrapped)
        return wrapped.view(np.int64)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """The exact p and q: the probabilities of the truth, and of each other input."""
        return self.most, self.least

    def _holds(self, x: int, report: AnyArray) -> bool:
        return int(report[0]) == x
