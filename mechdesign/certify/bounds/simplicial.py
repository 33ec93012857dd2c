"""The universal channel of a simplicial cone: every private channel is a post-processing of it.

A cone of columns is simplicial if it has as many facets as inputs. A certificate names k rows of
the notions, f_i . q >= 0. As e**-a is rounded down in them, they hold for every private column. Let
them be independent, F the matrix of all f_i, and theta = F 1, which is >= 0, since constant columns
are private. For a private channel Q, S = F Q is >= 0, and its rows sum to S 1 = F 1 = theta. So
Q = U W, where

    U = F**-1 diag(theta)        and        W = diag(theta)**-1 S

(where theta_i = 0, row i of S is 0, and row i of W is arbitrary). W is a channel. The rows of U sum
to 1, as F**-1 F 1 = 1. If U >= 0, then U is a channel, and Q is a post-processing of it. No other
property of the rows is used: if they are badly chosen, U has a negative entry, which is refused, or
reveals much, and the bound is weak.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

from mechdesign.certify.bounds.outward import lift_exponent
from mechdesign.certify.fixed_point import fraction_steps
from mechdesign.certify.privacy.check import Limit, ratio_limits
from mechdesign.certify.privacy.prior_sets import check_member, prior_bounds
from mechdesign.certify.problem import Statement, check_indices, distribution
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower
from mechdesign.resources import spend

__all__ = ["universal_columns"]

ZERO, ONE = Fraction(0), Fraction(1)

BITS = 128
"""Significant bits that e**-a, and the entries of the channel, are rounded down to."""

Sparse: TypeAlias = dict[int, Fraction]


def universal_columns(statement: Statement, facets: Any) -> list[list[Fraction]]:
    """Return the columns of a channel of which every private one is a post-processing.

    The entries of U are rounded down. What the rows then lack of 1 goes to one more output for each
    input, which reveals it. U is a post-processing of the channel so obtained, and the bound that
    is proved from it is valid, if weaker by as little as was rounded off.

    Parameters
    ----------
    statement
        The problem.
    facets
        One ``[notion, side, x, other]`` for each input: ``other`` is an input for the side
        ``"ratio"``, a prior, or None for that of the problem, for ``"upper"`` and ``"lower"``;
        ``[None, "positive", x, None]`` is q_x >= 0.

    Raises
    ------
    CertificateError
        If they are not k independent rows of the notions that make a channel.
    """
    k = len(statement.prior)
    if not isinstance(facets, list) or len(facets) != k:
        raise CertificateError(f"expected a list of {k} facets, one for each input")
    named = _NamedRows(statement)
    rows = [{u: entry for u, entry in named.row(facet).items() if entry} for facet in facets]
    # P . q is one more unknown for each prior P, so that the rows of lifts have two terms only
    slack = [sum(row.values(), ZERO) for row in rows]
    if min(slack) < 0:
        raise CertificateError("a row excludes constant columns: no channel is private")
    right: list[Sparse] = [{i: ONE} for i in range(k)]
    for prior, unknown in named.unknowns.items():
        rows.append({unknown: ONE} | {z: -p for z, p in enumerate(prior) if p})
        right.append({})
    left = [ONE] * k
    spend(4 * k * k, "the universal channel")
    columns = [[ZERO] * k for _ in range(k)]
    for x, entries in enumerate(_solved(rows, right)[:k]):
        for i, entry in entries.items():
            exact = slack[i] * entry
            if exact < 0:
                raise CertificateError("the facets make no channel: it has a negative entry")
            columns[i][x] = _down(exact)
            left[x] -= columns[i][x]
    if min(left) < 0:
        raise CertificateError("the facets make no channel: its rows are more than 1")
    rest = [[left[x] if z == x else ZERO for z in range(k)] for x in range(k) if left[x]]
    return [column for column in columns if any(column)] + rest


class _NamedRows:
    """The rows that a certificate names, where each P . q is an unknown beyond the inputs."""

    def __init__(self, statement: Statement) -> None:
        self.statement, self.k = statement, len(statement.prior)
        self.unknowns: dict[tuple[Fraction, ...], int] = {}
        self._limits: dict[int, list[list[Limit | None]] | None] = {}
        self._members: set[tuple[int, tuple[Fraction, ...]]] = set()

    def row(self, facet: Any) -> Sparse:
        """Return the row ``[notion, side, x, other]``, which is >= 0 on private columns."""
        if not isinstance(facet, list) or len(facet) != 4:
            raise CertificateError(f"expected [notion, side, x, other], found {facet!r:.60}")
        notion, side, x, other = facet
        check_indices([x], self.k, "a facet names an input")
        if side == "positive" and notion is None and other is None:
            return {x: ONE}
        check_indices([notion], len(self.statement.privacy), "a facet names a notion")
        if side == "ratio":
            return self._ratio(notion, x, other)
        if side in ("upper", "lower"):
            return self._lift(notion, side, x, other)
        raise CertificateError(f"a facet is on the side {side!r:.60}, which no row has")

    def _ratio(self, notion: int, x: int, other: Any) -> Sparse:
        """Return e**-a q_x <= factor q_other."""
        if notion not in self._limits:
            table = self.statement.privacy[notion]
            self._limits[notion] = ratio_limits(self.statement, table)
        limits = self._limits[notion]
        check_indices([other], self.k, "a facet names an input")
        limit = limits[x][other] if limits is not None and x != other else None
        if limit is None:
            raise CertificateError(f"a facet is on a pair ({x}, {other}) with no row")
        return {other: limit[1], x: -_down(exp_lower(-limit[0]))}

    def _lift(self, notion: int, side: str, x: int, given: Any) -> Sparse:
        """Return e**-a q_x <= P . q, or e**-a P . q <= q_x."""
        table = self.statement.privacy[notion]
        exponent = lift_exponent(table, side)
        prior = tuple(self.statement.prior if given is None else distribution(given, self.k))
        if (notion, prior) not in self._members:
            check_member(prior_bounds(self.statement, table), list(prior))
            self._members.add((notion, prior))
        unknown = self.unknowns.setdefault(prior, self.k + len(self.unknowns))
        spend(20 * self.k, "the row of a lift")
        shrunk = _down(exp_lower(-exponent))
        return {unknown: ONE, x: -shrunk} if side == "upper" else {x: ONE, unknown: -shrunk}


def _solved(rows: list[Sparse], right: list[Sparse]) -> list[Sparse]:
    """Return the unknowns that make each row equal to its right-hand side, in terms of the slacks.

    This is Gauss and Jordan's elimination with the pivot rule of Markowitz: it takes the row with
    the fewest unknowns left, and in it the unknown that is in the fewest rows, so that sparse rows
    stay sparse. If `_diagonal` finds a pivot for each row beforehand, numbers are kept short by
    rounding towards 0. Nothing cancels then: every number is a sum of products of one sign, so that
    the solution is rounded down.
    """
    n, diagonal = len(rows), _diagonal(rows)
    holders: list[set[int]] = [set() for _ in range(n)]
    for e, row in enumerate(rows):
        for unknown in row:
            holders[unknown].add(e)
    short = _exactly if diagonal is None else _towards_zero
    waiting, found = set(range(n)), list[Sparse]([{}] * n)
    while waiting:
        spend(2 * len(waiting), "elimination")
        e = min(waiting, key=lambda e: len(rows[e]))
        waiting.remove(e)
        if not rows[e]:
            raise CertificateError("the facets are not independent rows")
        pivot = min(rows[e], key=lambda u: len(holders[u])) if diagonal is None else diagonal[e]
        holders[pivot].remove(e)
        head = rows[e].pop(pivot)
        rows[e] = {unknown: short(entry / head) for unknown, entry in rows[e].items()}
        right[e] = found[pivot] = {i: short(entry / head) for i, entry in right[e].items()}
        length = max((v.denominator.bit_length() for v in right[e].values()), default=0)
        steps = (len(rows[e]) + len(right[e])) * 3 * fraction_steps(length)
        for other in holders[pivot]:
            spend(steps, "elimination")
            times = rows[other].pop(pivot)
            for row, more in ((rows[other], rows[e]), (right[other], right[e])):
                for place, entry in more.items():
                    row[place] = row.get(place, ZERO) - short(times * entry)
            for unknown in rows[e]:
                if rows[other][unknown]:
                    holders[unknown].add(other)
                else:
                    del rows[other][unknown]
                    holders[unknown].discard(other)
    return found


def _diagonal(rows: list[Sparse]) -> list[int] | None:
    """Return an unknown for each row, all different, with its only positive entry; None if none.

    With these entries on the diagonal, the matrix has no positive entry off it, and its row sums
    are slacks >= 0. It is a regular M-matrix if it is weakly chained diagonally dominant: if each
    row has a sum > 0, or a path of negative entries leads from it to such a row. Then its
    inverse is nonnegative, and elimination along the diagonal keeps every sign.
    """
    positive = [[unknown for unknown, entry in row.items() if entry > 0] for row in rows]
    diagonal = [unknowns[0] for unknowns in positive if len(unknowns) == 1]
    if len(set(diagonal)) < len(rows):
        return None
    dominated = {
        pivot for pivot, row in zip(diagonal, rows, strict=True) if sum(row.values(), ZERO) > 0
    }
    todo, into = list(dominated), dict[int, list[int]]()
    for pivot, row in zip(diagonal, rows, strict=True):
        for unknown in row:
            into.setdefault(unknown, []).append(pivot)
    while todo:
        for pivot in into[todo.pop()]:
            if pivot not in dominated:
                dominated.add(pivot)
                todo.append(pivot)
    return diagonal if len(dominated) == len(rows) else None


def _exactly(exact: Fraction) -> Fraction:
    return exact


def _towards_zero(exact: Fraction) -> Fraction:
    return _down(exact) if exact >= 0 else -_down(-exact)


def _down(exact: Fraction) -> Fraction:
    """Round a number >= 0 down to 128 significant bits."""
    bits = BITS + exact.denominator.bit_length() - exact.numerator.bit_length()
    if bits < 0:
        return Fraction(exact.numerator // exact.denominator >> -bits << -bits)
    return Fraction((exact.numerator << bits) // exact.denominator, 1 << bits)
