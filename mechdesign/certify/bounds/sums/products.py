"""Upper bounds on a quadratic gain less its price, by products of rows of the cone.

Let B be a matrix, g(q) = q' B q / (p . q), and u potentials. Wanted is a number c >= 0 with

    q' B q  <=  (u . q) (p . q) + c (p . q)**2    for every private column q.

Rows of the notions are forms f that are at least 0 on private columns, as the entries of a column
are. So is the product of two of them. If for some multipliers w >= 0 of products the matrix

    T  =  (u p' + p u') / 2 - B - Sum w (f f' + f' f) / 2 + c diag(s)**2 / k

is positive definite, then q' T q >= 0, and c works, if s_x q_x <= p . q for all of the k inputs. It
is for s_x = p_x + Sum p_z / m over the rows q_x <= m q_z, as p_z q_z >= p_z q_x / m. As q >= 0,
entries of T may be rounded down. A symmetric matrix is positive definite if all pivots of Gauss's
elimination are positive; in integers it goes without fractions (Bareiss 1968).

Forms are e**a q_z - q_x, with e**a rounded up, and q_x itself. For bounds on the lift the number k
stands for P . q with the prior P of the problem, beside the entries 0 to k - 1.

Under one budget for all inputs, with B positive semidefinite, g is convex, so that rays are enough.
They have entries t and t / low only, with low below e**-eps (`rays`). There t is a further unknown,
of number k + 1, with t <= q_x <= t / low, and of these two forms the product is 0: it may have any
multiplier. As t <= p . q, c then has the term t**2 as well, and all terms over k + 1.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mechdesign.certify.bounds.one_budget import BITS as LOW_BITS, OneBudget, one_budget
from mechdesign.certify.bounds.outward import bounded_pairs, lift_range, ratio_ceiling
from mechdesign.certify.fixed_point import (
    BITS,
    fraction_steps,
    product_steps,
    scaled_down,
    scaled_up,
)
from mechdesign.certify.privacy.check import ratio_limits
from mechdesign.certify.privacy.linear_rows import is_linear
from mechdesign.certify.privacy.prior_sets import has_member, prior_bounds
from mechdesign.certify.problem import SECRET, Statement, check_indices, number
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["reduced_gain_by_products"]

Matrix = list[list[Fraction]]


def reduced_gain_by_products(
    statement: Statement, prior: list[Fraction], u: list[Fraction], B: Matrix, dual: dict[str, Any]
) -> Fraction:
    """Return c, the claim ``dual["surplus"]``, if products of rows prove it.

    Parameters
    ----------
    statement
        The problem.
    prior, u, B
        p, the potentials and the matrix.
    dual
        ``"products"`` has five lists: with forms e**a q_z - q_x, or q_x where z is x, the x and the
        z of the first factors, those of the second, and the multipliers. ``"levels"``, where it
        is, has for each input the multiplier of (q_x - t) (t - low q_x).

    Raises
    ------
    CertificateError
        If it is not proved.
    """
    k, c, levels = len(prior), number(dual["surplus"]), dual.get("levels")
    if c < 0:
        raise CertificateError("the claim of a search by products is negative")
    forms = _Forms(statement, with_least=levels is not None)
    n = forms.unknowns
    longest = max(v.denominator.bit_length() for v in (*u, *prior, *(b for row in B for b in row)))
    spend(n * n * (20 + fraction_steps(2 * longest)), "a matrix of gains")
    T = [[-entry for entry in row] for row in _products(forms, dual["products"])]
    for x in range(k):
        for z in range(k):
            T[x][z] += scaled_down((u[x] * prior[z] + u[z] * prior[x]) / 2 - B[x][z])
    for x, share in enumerate(forms.shares(prior)):
        T[x][x] += scaled_down(c * share * share / n)
    if levels is not None:
        if len(levels) != k:
            raise CertificateError("a search by products has not one level for each input")
        low = forms.low
        T[k][k] += scaled_down(c / n)
        for x, v in enumerate(map(number, levels)):
            T[x][x] += scaled_down(v * low)
            T[k][k] += scaled_down(v)
            mixed = scaled_down(-v * (1 + low) / 2)
            T[x][k] += mixed
            T[k][x] += mixed
    if not _is_positive_definite(T):
        raise CertificateError("products of rows do not prove the claim of a search by products")
    return c


def _products(forms: _Forms, products: list[list[Any]]) -> list[list[int]]:
    """Return Sum w (f f' + f' f) / 2 over ``2**BITS``, every entry rounded up."""
    n = forms.unknowns
    if len({len(part) for part in products}) != 1:
        raise CertificateError("the lists of products of rows differ in length")
    sums = [[0] * n for _ in range(n)]
    for a, b, c, d, weight in zip(*products, strict=True):
        w = scaled_up(number(weight))
        if w < 0:
            raise CertificateError("a multiplier of a product is negative")
        first, second = forms.at(a, b), forms.at(c, d)
        spend(10 * len(first) * len(second), "products of rows")
        for x, left in first.items():
            for z, right in second.items():
                sums[x][z] += w * left * right
    shift = 2 * BITS + 1
    return [[-(-(sums[x][z] + sums[z][x]) >> shift) for z in range(n)] for x in range(n)]


class _Forms:
    """Linear forms that are at least 0 on private columns, over ``2**BITS``."""

    def __init__(self, statement: Statement, *, with_least: bool) -> None:
        self.size = k = len(statement.prior)
        self.unknowns, self.low = k, Fraction(0)
        self._bounds: list[list[int | None]] = [[None] * (k + 2) for _ in range(k + 2)]
        """By x and z: m with q_x <= m q_z; k stands for P . q, k + 1 for t."""
        masses = {x: p for x, p in enumerate(statement.prior) if p}
        self._up = [{x: 1 << BITS} for x in range(k)]
        self._up.append({x: scaled_up(p) for x, p in masses.items()})
        self._down = [*self._up[:k], {x: scaled_down(p) for x, p in masses.items()}]
        self._known: dict[tuple[int, int], dict[int, int]] = {}
        if with_least:
            self._take_levels(one_budget(statement))
        else:
            self._take_rows(statement)

    def _take_levels(self, budget: OneBudget | None) -> None:
        """Take the rows of the rays of one budget, and t."""
        k, everybody = self.size, list(range(self.size))
        if budget is None or budget.protected != [everybody] or not 0 < budget.low < 1 << LOW_BITS:
            raise CertificateError("levels need one budget for all inputs, neither 0 nor huge")
        self.unknowns, self.low = k + 1, Fraction(budget.low, 1 << LOW_BITS)
        for level in (self._up, self._down):
            level.append({k: 1 << BITS})
        spend(k * k, "rows of one budget")
        for x in range(k):
            for z in range(k):
                if z != x:
                    self._take(x, z, 1 / self.low)
            self._take(x, k + 1, 1 / self.low)
            self._take(k + 1, x, Fraction(1))

    def _take_rows(self, statement: Statement) -> None:
        """Take the rows on ratios, and those on lifts for the prior of the problem."""
        k = self.size
        for table in statement.privacy:
            limits = ratio_limits(statement, table)
            if limits is not None:
                for x, z, limit in bounded_pairs(limits):
                    self._take(x, z, ratio_ceiling(limit))
            elif table["notion"] != SECRET and not is_linear(table):
                low, high = lift_range(table)
                if has_member(prior_bounds(statement, table), statement.prior):
                    for x in range(k):
                        self._take(x, k, high)
                        self._take(k, x, 1 / low if low else None)

    def _take(self, x: int, z: int, bound: Fraction | None) -> None:
        before = self._bounds[x][z]
        if bound is not None and (before is None or scaled_up(bound) < before):
            self._bounds[x][z] = scaled_up(bound)

    def shares(self, prior: list[Fraction]) -> list[Fraction]:
        """Return s with s_x q_x <= p . q on private columns, rounded down."""
        found = []
        for x, row in enumerate(self._bounds[: self.size]):
            less = (
                (p << BITS) // m for p, m in zip(map(scaled_down, prior), row, strict=False) if m
            )
            found.append(Fraction(scaled_down(prior[x]) + sum(less), 1 << BITS))
        return found

    def at(self, x: int, z: int) -> dict[int, int]:
        """Return m q_z - q_x, or q_x where z is x, by entry, rounded up."""
        if (x, z) not in self._known:
            check_indices([x, z], len(self._up), "a product names an entry")
            self._known[x, z] = self._up[x] if x == z else self._made(x, z)
        return self._known[x, z]

    def _made(self, x: int, z: int) -> dict[int, int]:
        m = self._bounds[x][z]
        if m is None:
            raise CertificateError("a product names a row that the notions do not have")
        spend(2 * self.size, "products of rows")
        found = {y: -(-m * value >> BITS) for y, value in self._up[z].items()}
        for y, value in self._down[x].items():
            found[y] = found.get(y, 0) - value
        return found


def _is_positive_definite(T: list[list[int]]) -> bool:
    """Return whether all pivots of a symmetric matrix are positive, by elimination in integers."""
    rows, before = [list(row) for row in T], 1
    for n, top in enumerate(rows):
        pivot = top[n]
        if pivot <= 0:
            return False
        length = product_steps(pivot) ** 2
        spend((len(rows) - n) ** 2 * (3 + length), "the pivots of a matrix")
        for row in rows[n + 1 :]:
            factor = row[n]
            row[n + 1 :] = [
                (pivot * entry - factor * other) // before
                for entry, other in zip(row[n + 1 :], top[n + 1 :], strict=True)
            ]
        before = pivot
    return True
