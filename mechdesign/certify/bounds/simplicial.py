"""One channel that every private one is a post-processing of, from as many rows as inputs.

A certificate names k rows of the notions, f_i . q >= 0. As e**-a is rounded down in them, they hold
for every private column. Let them be independent, with F the matrix of all f_i and theta = F 1,
which is >= 0, since constants are private. For a private channel Q, S = F Q is >= 0 and its rows
add up to S 1 = F 1 = theta. So Q = U W, where

    U = F**-1 diag(theta)        and        W = diag(theta)**-1 S

(where theta_i = 0, row i of S is 0, and that of W may be any): W is a channel, the rows of U add up
to 1, as F**-1 F 1 = 1, and where U >= 0 it is a channel of which Q is a post-processing. Nothing
else is needed: if the rows are badly chosen, U has negative entries or tells much.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

from mechdesign.certify.privacy.check import (
    Limit,
    check_member,
    lift_limits,
    prior_bounds,
    ratio_limits,
)
from mechdesign.certify.problem import Statement, distribution
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower

__all__ = ["universal_columns"]

ZERO, ONE = Fraction(0), Fraction(1)

BITS = 128
"""Significant bits that e**-a, and the entries of the channel, are rounded down to."""

Sparse: TypeAlias = dict[int, Fraction]


def universal_columns(statement: Statement, facets: Any) -> list[list[Fraction]]:
    """Return the columns of a channel of which every private one is a post-processing.

    The entries of U are rounded down. What its rows lack, as little as it is, goes to one output
    for each input that reveals it: U is a post-processing of that.

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
    # the law of each prior is an unknown of its own, so that rows on lifts have two terms
    slack = [sum(row.values(), ZERO) for row in rows]
    if min(slack) < 0:
        raise CertificateError("a row excludes constant columns: no channel is private")
    right: list[Sparse] = [{i: ONE} for i in range(k)]
    for prior, law in named.laws.items():
        rows.append({law: ONE} | {z: -p for z, p in enumerate(prior) if p})
        right.append({})
    left = [ONE] * k
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
    """The rows that a certificate names; a law P . q is written as an unknown beyond the inputs."""

    def __init__(self, statement: Statement) -> None:
        self.statement, self.k = statement, len(statement.prior)
        self.laws: dict[tuple[Fraction, ...], int] = {}
        self._limits: dict[int, list[list[Limit | None]] | None] = {}
        self._members: set[tuple[int, tuple[Fraction, ...]]] = set()

    def row(self, facet: Any) -> Sparse:
        """Return the row ``[notion, side, x, other]``, which is >= 0 on private columns."""
        if not isinstance(facet, list) or len(facet) != 4:
            raise CertificateError(f"expected [notion, side, x, other], found {facet!r:.60}")
        notion, side, x, other = facet
        _check_place(x, self.k)
        if side == "positive" and notion is None and other is None:
            return {x: ONE}
        _check_place(notion, len(self.statement.privacy))
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
        _check_place(other, self.k)
        limit = limits[x][other] if limits is not None and x != other else None
        if limit is None:
            raise CertificateError(f"a facet is on a pair ({x}, {other}) with no row")
        return {other: limit[1], x: -_down(exp_lower(-limit[0]))}

    def _lift(self, notion: int, side: str, x: int, given: Any) -> Sparse:
        """Return e**-a q_x <= P . q, or e**-a P . q <= q_x."""
        table = self.statement.privacy[notion]
        upper, lower = lift_limits(table)
        exponent = upper if side == "upper" else lower
        if exponent is None:
            raise CertificateError(f"a facet is on the side {side!r}, which is not bounded")
        prior = tuple(self.statement.prior if given is None else distribution(given, self.k))
        if (notion, prior) not in self._members:
            check_member(prior_bounds(self.statement, table), list(prior), self.k)
            self._members.add((notion, prior))
        law = self.laws.setdefault(prior, self.k + len(self.laws))
        shrunk = _down(exp_lower(-exponent))
        return {law: ONE, x: -shrunk} if side == "upper" else {x: ONE, law: -shrunk}


def _check_place(value: Any, size: int) -> None:
    if type(value) is not int or not 0 <= value < size:
        raise CertificateError(f"a facet has {value!r:.60} where a number below {size} is expected")


def _solved(rows: list[Sparse], right: list[Sparse]) -> list[Sparse]:
    """Return the unknowns that make each row equal to its right-hand side, in terms of the slacks.

    Gauss and Jordan, always with the row of fewest unknowns left, and with the unknown in it that
    is in the fewest rows, so that what is sparse stays so. Where `_heads` finds a head in each row,
    it is the unknown, and numbers are kept short by rounding towards 0: each is then a sum of
    products that are not negative, so that the solution is rounded down.
    """
    n, heads = len(rows), _heads(rows)
    holders: list[set[int]] = [set() for _ in range(n)]
    for e, row in enumerate(rows):
        for unknown in row:
            holders[unknown].add(e)
    short = _exactly if heads is None else _towards_zero
    waiting, found = set(range(n)), list[Sparse]([{}] * n)
    while waiting:
        e = min(waiting, key=lambda e: len(rows[e]))
        waiting.remove(e)
        if not rows[e]:
            raise CertificateError("the facets are not independent rows")
        pivot = min(rows[e], key=lambda u: len(holders[u])) if heads is None else heads[e]
        holders[pivot].remove(e)
        head = rows[e].pop(pivot)
        rows[e] = {unknown: short(entry / head) for unknown, entry in rows[e].items()}
        right[e] = found[pivot] = {i: short(entry / head) for i, entry in right[e].items()}
        for other in holders[pivot]:
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


def _heads(rows: list[Sparse]) -> list[int] | None:
    """Return an unknown for each row, all different, with the only positive entry; None if none.

    With what the heads are worth on the diagonal, the matrix has no positive entry off it, and its
    row sums are slacks >= 0. It is a regular M-matrix if each row has a sum > 0 or a negative entry
    that leads to such a row, by way of others (weakly chained diagonal dominance): its inverse is
    not negative, and nor is what elimination along the diagonal comes by.
    """
    positive = [[unknown for unknown, entry in row.items() if entry > 0] for row in rows]
    heads = [unknowns[0] for unknowns in positive if len(unknowns) == 1]
    if len(set(heads)) < len(rows):
        return None
    leads = {head for head, row in zip(heads, rows, strict=True) if sum(row.values(), ZERO) > 0}
    todo, into = list(leads), dict[int, list[int]]()
    for head, row in zip(heads, rows, strict=True):
        for unknown in row:
            into.setdefault(unknown, []).append(head)
    while todo:
        for head in into[todo.pop()]:
            if head not in leads:
                leads.add(head)
                todo.append(head)
    return heads if len(leads) == len(rows) else None


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
