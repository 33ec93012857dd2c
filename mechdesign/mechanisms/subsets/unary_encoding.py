"""Optimized (OUE) and symmetric (SUE, basic RAPPOR) unary encoding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, ClassVar

from mechdesign.channel import BITS
from mechdesign.domain import Domain, whole_number
from mechdesign.errors import InputError
from mechdesign.exact import Exact, exp_lower, sqrt_lower
from mechdesign.mechanisms.base import held_mass
from mechdesign.mechanisms.subsets.unary import UnaryEncoding


class OptimizedUnaryEncoding(UnaryEncoding):
    """Unary encoding with the least variance: p near 1/2, q near 1 / (e**epsilon + 1) (OUE).

    For each q the odds of p are e**epsilon q / (1 - q), up to 62 digits. The variance is

        (1 + q (e**eps - 1))**2 / (q (1 - q) (e**eps - 1)**2) >= 4 e**eps / (e**eps - 1)**2,

    with equality at the textbook's q. It is flat there: at epsilon = 1, q = 1/4 loses 0.24 %, for
    two random bits instead of 62. The default is the fewest digits that lose at most 0.5 %.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    epsilon
        The budget in nats, > 0.
    digits
        Binary digits of q, from 1 to 62; 62 is the textbook's mechanism.
    others
        The numerator of q over 2**digits; default the best. Another one is useful where only sums
        are observed (:func:`mechdesign.accounting.design_for_aggregation`).

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Source: Wang, Blocki, Li and Jha 2017; few binary digits are ours.

    Examples
    --------
    >>> oue = OptimizedUnaryEncoding(["a", "b", "c"], 1)
    >>> oue
    OptimizedUnaryEncoding(3 inputs, LDP(epsilon=1), 3 bits a report)
    >>> p, q = oue.chances
    >>> round(float(p), 4), q, round(oue.loss, 4)
    (0.4754, Fraction(1, 4), 0.0024)
    >>> oue.privatize(["a", "b"], rng=4).labels()
    [('c',), ('a', 'b')]
    """

    name = "optimized-unary-encoding"
    options: ClassVar[Mapping[str, int | None]] = {"digits": None, "others": None}
    source = "Wang, Blocki, Li and Jha 2017"
    tolerance = 0.005

    def __init__(
        self,
        inputs: Domain | Iterable[Any] | int,
        epsilon: Exact,
        digits: int | None = None,
        others: int | None = None,
    ) -> None:
        if others is not None and digits is None:
            raise InputError("digits", "the binary digits of q, as others is given", "none")
        super().__init__(inputs, epsilon, digits, others=others)

    def _law(self, digits: int, others: int | None = None) -> tuple[int, int]:
        """Return the better neighbor of the best q, and the largest mass of the own input for it.

        The variance is unimodal.
        """
        whole, odds = 1 << digits, exp_lower(self._notion.epsilon)
        below = int(whole / (odds + 1))

        def variance(c: int) -> Fraction:
            return (whole + c * (odds - 1)) ** 2 / (c * (whole - c))

        if others is None:
            others = min((c for c in (below, below + 1) if 0 < c < whole), key=variance)
        others = whole_number(others, "others", 1, whole - 1)
        return others, held_mass(self._notion.epsilon, others, whole - others)


class SymmetricUnaryEncoding(UnaryEncoding):
    """Unary encoding that flips each bit with the same probability: p = 1 - q (SUE, basic RAPPOR).

        q >= 1 / (e**(epsilon / 2) + 1),      variance q (1 - q) / (1 - 2 q)**2

    q is the least multiple of 2**-b that is private. The default is the fewest digits b whose
    variance is within 1 % of the textbook's, e**(eps/2) / (e**(eps/2) - 1)**2.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    epsilon
        The budget in nats, > 0.
    digits
        Binary digits of q, from 1 to 62; 62 is the textbook's mechanism.

    Raises
    ------
    InputError
        If a parameter is out of range, or the digits are too few for the budget.

    Notes
    -----
    Source: Erlingsson, Pihur and Korolova 2014; Wang, Blocki, Li and Jha 2017.

    Examples
    --------
    >>> sue = SymmetricUnaryEncoding(["a", "b", "c"], 1)
    >>> p, q = sue.chances
    >>> p + q, sue.loss < 0.01, sue.leakage <= 1
    (Fraction(1, 1), True, True)
    """

    name = "symmetric-unary-encoding"
    source = "Erlingsson, Pihur and Korolova 2014"
    tolerance = 0.01

    def _law(self, digits: int, _others: int | None = None) -> tuple[int, int]:
        """Return the least c with ((2**digits - c) / c)**2 <= e**epsilon, and 1 - q."""
        root = sqrt_lower(exp_lower(self._notion.epsilon))
        c = -int(-(1 << digits) // (1 + root))
        return c, (1 << digits) - c << BITS - digits
