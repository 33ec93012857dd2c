"""Utilities that are a sum of gains over the outputs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.channel import Channel, as_channel
from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, shown
from mechdesign.prior import Prior, prior_on
from mechdesign.utilities.base import Utility

ROUNDING = 1e-9
"""Largest relative error of a gain."""


class ColumnUtility(Utility):
    """A utility of the form Sum_y g(q_y), with g convex and positively homogeneous.

    No post-processing increases such a sum, and some optimum uses only extreme rays of the cone: g
    is convex, so a column gains at most as much as the rays of which it is a mixture. The objective
    does not depend on the labels of the outputs.

    To define your own, write :meth:`gain`; ``sense`` states whether to maximize the sum, or to
    minimize a loss that is :meth:`offset`, the loss without any report, minus the sum. Its channel
    is certified like any other; its value and bound are computed in floating point, since a saved
    file cannot contain your code.

    Examples
    --------
    The probability that one of the best two guesses is right:

    >>> import numpy as np
    >>> from mechdesign import ColumnUtility, LDP, Problem, design
    >>> class TwoGuesses(ColumnUtility):
    ...     name = "two-guesses"
    ...     sense = "maximize"
    ...     def gain(self, columns, prior):
    ...         return np.sort(prior[:, None] * columns, axis=0)[-2:].sum(axis=0)
    >>> solution = design(Problem([0, 1, 2], LDP(1), TwoGuesses()))
    >>> solution.status, round(float(solution.value), 6)
    ('optimal', 0.844638)
    """

    definition = "gain"

    @abstractmethod
    def gain(self, columns: FloatArray, prior: FloatArray) -> FloatArray:
        """Return g of each column.

        Parameters
        ----------
        columns
            ``(n_inputs, n_columns)`` numbers >= 0, in any scale.
        prior
            ``(n_inputs,)``.

        Returns
        -------
        ndarray
            ``(n_columns,)``.
        """

    def coordinate_gain(self, x: IntArray, r: FloatArray, prior: FloatArray) -> Any:
        """Return h_x(r) if g(q) = Sum_x h_x(q_x) whenever P . q = 1; None if g is not separable.

        Parameters
        ----------
        x, r
            Inputs, and the entries of the column there, with shapes that broadcast.
        prior
            ``(n_inputs,)``.
        """
        return None

    def entry_gains(self, r: FloatArray, prior: FloatArray) -> Any:
        """Return h_x(r_x) for each entry of columns with P . r = 1; None if g is not separable.

        Parameters
        ----------
        r
            ``(n_inputs,)`` or ``(n_inputs, n_columns)``.
        prior
            ``(n_inputs,)``.
        """
        x = np.arange(len(r)).reshape(-1, *[1] * (r.ndim - 1))
        return self.coordinate_gain(x, r, prior)

    def surplus(self, potential: FloatArray, problem: Any) -> float | None:
        """Return an upper bound on g(q) - potential . q for private q with P . q = 1, or None.

        For your own gain on a domain with too many extreme rays to list; None if no bound is known.
        ``problem`` is the :class:`~mechdesign.problem.Problem`.
        """
        return None

    def on(self, domain: Domain) -> ColumnUtility:
        """Return the utility for a domain, if its gain depends on the labels."""
        return self

    def aligned(self, domain: Domain, outputs: Sequence[Label] | None) -> ColumnUtility:
        """Return the utility with its labeled numbers in the order of the domain."""
        return self.on(domain)

    def offset(self, domain: Domain, prior: Prior) -> Fraction:
        """Return the loss without any report; 0 if the sum is maximized."""
        return Fraction(0)

    def check_prior(self, prior: Prior) -> None:
        """Test a user's own gain on the identity and on a constant channel.

        Raises
        ------
        InputError
            If it does not return one finite number for each column, if g(2 q) is not 2 g(q), or if
            the constant channel gains more than the identity, as then g is not convex.
        """
        if self.exact:
            return
        k = len(prior)
        tried = np.column_stack([np.eye(k), np.ones(k), np.full(k, 2.0)])
        found = np.asarray(self.gain(tried, prior.array))
        expected = "a finite number for each column"
        if found.shape != (k + 2,):
            raise InputError("gain", f"{expected}, {k + 2} here", f"the shape {found.shape}")
        if not np.issubdtype(found.dtype, np.number) or not np.isfinite(found).all():
            raise InputError("gain", expected, shown(found.tolist()))
        *single, one, two = found.tolist()
        slack = ROUNDING * (1 + sum(map(abs, single)) + abs(one))
        if abs(two - 2 * one) > slack:
            raise InputError("gain", "g(2 q) = 2 g(q)", f"{one:.6g} at ones and {two:.6g} at twos")
        if one > sum(single) + slack:
            fault = f"the constant channel gains {one:.6g}, the identity only {sum(single):.6g}"
            raise InputError("gain", "a convex gain", "another", fault=fault)

    def value(
        self, channel: Channel, prior: Prior, outputs: Sequence[Label] | None = None
    ) -> Fraction:
        """Return the objective at an exact channel: in floating point unless :attr:`exact`."""
        inputs = as_channel(channel).inputs
        if self.exact:
            return super().value(channel, prior, outputs)
        prior = prior_on(prior, inputs)
        total = float(self.gain(channel.matrix, prior.array).sum())
        return self.objective_at(total, inputs, prior)

    def objective_at(self, total: Fraction | float, domain: Domain, prior: Prior) -> Fraction:
        """Return the objective for a sum ``total`` of the gains of the outputs."""
        gains = Fraction(total)
        return gains if self.is_maximized else self.offset(domain, prior) - gains
