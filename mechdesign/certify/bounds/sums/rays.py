"""The extreme rays of the cone of private columns, by the double description method, in integers.

The cone is {q >= 0 : G q <= 0}, and every private column is a sum of its extreme rays. Each row
e**-a (left . q) <= right . q is written in integers with e**-a rounded down. This weakens the row,
as left . q >= 0, and so only enlarges the cone: an inequality with a convex and homogeneous left
side that holds on all rays of the larger cone holds on every private column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product
from math import gcd
from typing import Any

from mechdesign.certify.bounds.one_budget import BITS, OneBudget, one_budget
from mechdesign.certify.bounds.outward import bounded_pairs
from mechdesign.certify.fixed_point import over_one_denominator, product_steps, scaled_down
from mechdesign.certify.privacy.check import Limit, lift_limits, ratio_limits
from mechdesign.certify.privacy.linear_rows import is_linear, linear_rows
from mechdesign.certify.privacy.prior_sets import prior_bounds, read_members
from mechdesign.certify.privacy.sensitive_attribute import read_sensitive_attribute
from mechdesign.certify.problem import SECRET, Statement
from mechdesign.exact import exp_lower
from mechdesign.resources import check_size, spend

__all__ = ["all_rays", "extreme_rays", "integer_rows", "single_budget_rays"]

Row = tuple[int, ...]

MOST_SUBSETS = 1 << 16
"""Rays of one budget are listed up to so many."""


def all_rays(statement: Statement, priors: dict[str, Any] | None = None) -> Iterator[Row]:
    """Yield generators of a cone that holds every private column.

    Parameters
    ----------
    statement
        The problem.
    priors
        For notions about a set of priors, by number: members of it whose rows are to be used.

    Raises
    ------
    LimitError
        If there are too many.
    """
    budget = one_budget(statement)
    if budget is not None and sum(1 << len(a) for a in budget.protected) <= MOST_SUBSETS:
        yield from single_budget_rays(budget)
        return
    yield from extreme_rays(integer_rows(statement, priors), len(statement.prior))


def integer_rows(statement: Statement, priors: dict[str, Any] | None = None) -> list[Row]:
    """Return the rows g of all notions, g . q <= 0, as integers and each once.

    Rows that two others imply are left out, and rows that no column breaks: fewer rows,
    and at worst a larger cone.
    """
    k, found = len(statement.prior), dict[Row, None]()
    for n, table in enumerate(statement.privacy):
        if table["notion"] == SECRET:
            attribute = read_sensitive_attribute(statement, table)
            rows = integer_rows(attribute.statement)
            spend(len(rows) * k * len(attribute.rows), "rows of a secret")
            lines = (attribute.on_inputs(row) for row in rows)
            found |= {_primitive(line): None for line in lines if max(line) > 0}
            continue
        if is_linear(table):
            for listed in linear_rows(statement, table):
                spend(10 * k, "rows on columns")
                net = listed.net(_shrink(listed.exponent), Fraction(1))
                whole = _integers([net.get(x, Fraction(0)) for x in range(k)])
                if max(whole) > 0:
                    found[whole] = None
            continue
        limits = ratio_limits(statement, table)
        if limits is not None:
            for x, other, (exponent, factor) in bounded_pairs(limits):
                spend(10 * k, "rows on columns")
                if not _is_implied(limits, x, other):
                    line = [Fraction(0)] * k
                    line[x], line[other] = _shrink(exponent), -factor
                    found[_integers(line)] = None
            continue
        members = prior_bounds(statement, table)[0]
        if priors and str(n) in priors:
            members = read_members(statement, table, priors[str(n)])
        upper, lower = lift_limits(table)
        for prior in members:
            for x in range(k):
                spend(40 * k, "rows on columns")
                if upper is not None:
                    line = [-p for p in prior]
                    line[x] += _shrink(upper)
                    found[_integers(line)] = None
                if lower is not None:
                    shrunk = _shrink(lower)
                    line = [shrunk * p for p in prior]
                    line[x] -= 1
                    found[_integers(line)] = None
    return list(found)


def _is_implied(limits: list[list[Limit | None]], x: int, z: int) -> bool:
    """Return whether q_x <= m q_y and q_y <= m' q_z imply the bound on q_x / q_z, for some y."""
    direct = limits[x][z]
    for y, first in enumerate(limits[x]):
        second = limits[y][z]
        if direct is None or first is None or second is None or y in (x, z):
            continue
        shorter = first[0] > 0 and second[0] > 0 and first[0] + second[0] <= direct[0]
        if shorter and first[1] * second[1] <= direct[1]:
            return True
    return False


def extreme_rays(rows: list[Row], k: int) -> list[Row]:
    """Return the extreme rays of {q >= 0 : g . q <= 0 for all g}, by double description.

    The method starts with the nonnegative orthant, whose rays are the unit vectors, and adds the
    rows one by one. A row keeps the rays with g . q <= 0. Each pair of adjacent rays with g . q < 0
    and g . q > 0 makes a new ray, their combination with g . q = 0. Two rays are adjacent if no
    third ray is tight in all the rows, those of the orthant included, in which both are (Fukuda and
    Prodon 1996, Proposition 7).
    """
    # each ray with the set of rows in which it is tight, as bits; bit x stands for q_x >= 0
    rays = {tuple(int(x == z) for z in range(k)): ((1 << k) - 1) & ~(1 << x) for x in range(k)}
    size = k
    for row in rows:
        length = max(map(int.bit_length, map(max, rays)), default=0)  # rows may leave 0 alone
        spend(len(rays) * (k * product_steps(1 << length) + 5), "the sides of rays")
        sides: dict[Row, int] = {
            ray: sum(g * v for g, v in zip(row, ray, strict=True) if g and v) for ray in rays
        }
        beyond = [(ray, rays[ray]) for ray in rays if sides[ray] > 0]
        if not beyond:  # the rows before imply this one, and describe the cone without it
            continue
        bit = 1 << size
        kept = {
            ray: tight | (bit if not sides[ray] else 0)
            for ray, tight in rays.items()
            if sides[ray] <= 0
        }
        below = [(ray, rays[ray]) for ray in rays if sides[ray] < 0]
        tight_in, everyone = _tight_in(rays, size), (1 << len(rays)) - 1
        # the intersection of so many sets of rays, and the new ray with its greatest common divisor
        search = 1 + len(rays) // 2000
        making = 20 * k + k * (length // 64) ** 2 // 3
        for bad, bad_tight in beyond:
            spend(1 + len(below) // 2, "pairs of rays")
            for good, good_tight in below:
                both = bad_tight & good_tight
                if both.bit_count() < k - 2:  # adjacent rays share a face of dimension 2
                    continue
                spend(20 + 2 * both.bit_count() * search, "adjacent rays")
                if not _are_only_two(both, tight_in, everyone):
                    continue
                spend(making, "new rays")
                s, t = sides[bad], -sides[good]
                new = _primitive([s * g + t * b for g, b in zip(good, bad, strict=True)])
                kept[new] = both | bit
                check_size("rays", len(kept), "the cone")
        rays, size = kept, size + 1
    return list(rays)


def _tight_in(rays: dict[Row, int], size: int) -> list[int]:
    """Return for each row so far the set of rays that are tight in it; a bit for each ray."""
    spend(size + sum(5 + 2 * tight.bit_count() for tight in rays.values()), "tight rows")
    found = [0] * size
    for place, tight in enumerate(rays.values()):
        bit, left = 1 << place, tight
        while left:
            lowest = left & -left
            found[lowest.bit_length() - 1] |= bit
            left ^= lowest
    return found


def _are_only_two(both: int, tight_in: list[int], everyone: int) -> bool:
    """Return whether only two of the rays are tight in all rows of a set."""
    common = everyone
    while both:
        lowest = both & -both
        common &= tight_in[lowest.bit_length() - 1]
        both ^= lowest
    return common.bit_count() == 2


def single_budget_rays(budget: OneBudget, *, alike: bool = False) -> Iterator[Row]:
    """Yield rays of a cone that one budget makes.

    With A the protected inputs of a block, q_x <= e**eps q_z for x in A and every z of the block:
    divided by its least entry on the block, min over z not in A included, such a column is between
    1 and e**eps on A. So it is a mixture of the columns that are e**eps on a subset of A and 1 on
    the rest of the block, and of single inputs outside A.

    Parameters
    ----------
    alike
        Whether one subset of each size is enough.
    """
    k, top, low = budget.size, 1 << BITS, budget.low
    for x in budget.unbounded:
        yield tuple(int(z == x) for z in range(k))
    for block, a in zip(budget.blocks, budget.protected, strict=True):
        choices: Iterable[tuple[int, ...]] = product((low, top), repeat=len(a))
        if alike:
            choices = ((top,) * j + (low,) * (len(a) - j) for j in range(len(a) + 1))
        for chosen in choices:
            ray = [0] * k
            for z in block:
                ray[z] = low
            for x, entry in zip(a, chosen, strict=True):
                ray[x] = entry
            if any(ray):
                yield tuple(ray)


def _shrink(exponent: Fraction) -> Fraction:
    """Return e**-exponent rounded down to few bits."""
    return Fraction(scaled_down(exp_lower(-exponent), BITS), 1 << BITS)


def _integers(line: list[Fraction]) -> Row:
    return _primitive(over_one_denominator(line)[0])


def _primitive(line: list[int]) -> Row:
    shared = gcd(*line) or 1
    return tuple(entry // shared for entry in line)
