"""The reduced costs of prices: what every proof by prices begins with.

Prices are potentials u_x of the inputs, dual variables of the equations Sum_y Q[x, y] = 1. With the
masses P_x of the inputs, the prior or the weights of a worst case, which is at least any mean, and
the reduced costs c_y[x] = P_x D[x, y] - u_x,

    loss  >=  Sum_xy P_x D[x, y] Q[x, y]  =  Sum_x u_x + Sum_y c_y . q_y,

as rows of Q sum to 1. What is left is a bound on c_y . q from below for all private columns q,
which the form of the cone gives: `chain`, `one_budget` and `lifts`. The costs are rounded down.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from operator import sub
from typing import Any

from mechdesign.certify.fixed_point import product_steps
from mechdesign.certify.problem import Statement, read_masses, scaled_numbers
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["BITS", "SCALE", "ReducedCosts"]

BITS = 128
"""Costs and prices are integers over 2**BITS: each output loses a few units of them per input."""

SCALE = 1 << BITS


class ReducedCosts:
    """The reduced costs of the prices ``dual["potential"]``, one output at a time.

    Parameters
    ----------
    statement
        A problem with a linear loss, or the gain of a guess, which is its ceiling less the loss of
        the best guess.
    dual
        The prices; for a worst case with weights of the inputs.

    Attributes
    ----------
    prices
        Integers over :data:`SCALE`, one for each input.

    Raises
    ------
    CertificateError
        If there is not one price for each input, or the weights are no distribution.
    """

    def __init__(self, statement: Statement, dual: dict[str, Any]) -> None:
        if len(dual["potential"]) != len(statement.prior):
            raise CertificateError("the certificate has not one potential for each input")
        self._ceiling = statement.ceiling if statement.is_maximized else None
        self._losses = losses = statement.losses
        self.prices = scaled_numbers(dual["potential"], BITS)
        masses, whole = read_masses(statement, dual)
        spend(len(masses) * product_steps(whole) ** 2, "the masses of the inputs")
        self._extra = losses.denominator.bit_length()
        self._unit = [(p << BITS + self._extra) // (whole * losses.denominator) for p in masses]

    def lower(self, inputs: Iterable[int]) -> None:
        """Lower the prices of some inputs, until no reduced cost of theirs is negative."""
        least = self._losses.least()
        for x in inputs:
            self.prices[x] = min(self.prices[x], self._unit[x] * least[x] >> self._extra)

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the reduced costs c_y of every output y, integers over :data:`SCALE`."""
        unit, extra = self._unit, self._extra
        steps = (2 + product_steps(max(unit, default=0))) * len(unit)
        for y in range(self._losses.n_outputs):
            spend(steps, "reduced costs")
            costs = [p * loss >> extra for p, loss in zip(unit, self._losses.lower(y), strict=True)]
            yield list(map(sub, costs, self.prices))

    def bound(self, rest: int) -> Fraction:
        """Return the bound on the objective, where Sum_y c_y . q_y is at least ``rest``."""
        least = Fraction(sum(self.prices) + rest, SCALE)
        return least if self._ceiling is None else self._ceiling - least
