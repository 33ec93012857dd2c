"""The user's own losses that are convex in the channel, stated in cvxpy."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.channel import Channel, as_channel
from mechdesign.domain import Domain, Label
from mechdesign.errors import UnsupportedError
from mechdesign.prior import Prior, prior_on
from mechdesign.utilities.base import Utility

if TYPE_CHECKING:
    import cvxpy as cp

LONGEST = 500
"""Quoted characters of an expression."""


class ConvexUtility(Utility):
    """A loss that is convex in Q, or a gain that is concave, with a name and an objective.

    Its value is computed in floating point, and a saved file does not prove its bound.

    Examples
    --------
    >>> class Roughness(ConvexUtility):
    ...     name = "roughness"
    ...
    ...     def objective(self, Q, domain, prior, outputs):
    ...         import cvxpy as cp
    ...
    ...         return cp.sum_squares(Q[1:, :] - Q[:-1, :])
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> float(Roughness().value(warner, Prior([0.5, 0.5])))
    0.5
    """

    name = "convex"

    @abstractmethod
    def objective(
        self, Q: cp.Expression, domain: Domain, prior: Prior, outputs: Sequence[Label]
    ) -> cp.Expression:
        """Return the loss, convex in ``Q``, or the gain, concave in it."""

    def default_outputs(self, domain: Domain) -> tuple[Label, ...] | None:
        """Return the domain."""
        return domain.labels

    def value(
        self, channel: Channel, prior: Prior, outputs: Sequence[Label] | None = None
    ) -> Fraction:
        """Return the objective at a channel, in floating point."""
        import cvxpy as cp

        allowed = channel.outputs if outputs is None else tuple(outputs)
        Q = cp.Constant(placed(channel, allowed))
        prior = prior_on(prior, as_channel(channel).inputs)
        found = self.objective(Q, channel.inputs, prior, allowed).value
        return Fraction(float(np.asarray(found).item()))


class ExpressionUtility(ConvexUtility):
    """A scalar expression of the variable ``Q`` of one problem.

    It is convex if ``sense`` is ``"minimize"``, and concave if that is ``"maximize"``.
    """

    name = "custom"

    def __init__(self, expression: cp.Expression, variable: cp.Variable, sense: str) -> None:
        self.expression, self.variable = expression, variable
        self.sense = sense  # type: ignore[misc]

    def objective(
        self, Q: cp.Expression, domain: Domain, prior: Prior, outputs: Sequence[Label]
    ) -> cp.Expression:
        """Return the expression with ``Q`` in place of its variable."""
        if Q is not self.variable:
            fault = "the expression has the variable Q of another problem"
            raise UnsupportedError("objective", "its own Q", "another", fault=fault)
        return self.expression

    def value(
        self, channel: Channel, prior: Prior, outputs: Sequence[Label] | None = None
    ) -> Fraction:
        """Return the expression at a channel, in floating point; the variable keeps its value."""
        allowed = channel.outputs if outputs is None else tuple(outputs)
        self.variable.value = placed(channel, allowed)
        return Fraction(float(np.asarray(self.expression.value).item()))

    def to_table(self, domain: Domain) -> dict[str, Any]:
        """Return the ``[utility]`` table with the expression as text, for readers."""
        return {**super().to_table(domain), "expression": str(self.expression)[:LONGEST]}


def placed(channel: Channel, outputs: Sequence[Label]) -> Any:
    """Return the probabilities with a column for each allowed output, used or not."""
    matrix = np.zeros((len(channel.inputs), len(outputs)))
    places = [list(outputs).index(label) for label in channel.outputs]
    matrix[:, places] = channel.matrix
    return matrix
