"""Lower bounds on an expected loss from some inputs, each of which stands for others.

Let the input r(x) stand for x, and let a notion bound their ratio: q_x >= s_x q_r(x) for every
private column q, with s_x = e**(-epsilon d(x, r(x))) for a metric, 1 where x stands for itself, and
0 where no notion bounds it. Losses are not negative. So the loss of the whole problem is at least

    Sum_y Sum_i C[i, y] q_y(i),    C[i, y] = Sum over x with r(x) = i of P_x s_x D[x, y],

over the representatives i alone, whose rows lie on simplices and obey the rows of the notions that
are about them. With multipliers w >= 0 of such rows, and v the sum of their terms, as in `duality`,

    loss  >=  Sum_i min_y (C[i, y] + v_y[i]).

Any multipliers will do for any output, so that a file has a few columns of multipliers, and names
for each output the columns whose mixture, with weights >= 0, are its multipliers. So its proof may
be of a much smaller program than the problem's: some inputs, and multipliers at some outputs.

Where every input stands for itself and every output has a column, this is the bound by multipliers
of rows. Factors s_x, costs and terms are rounded down, and with them the bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from operator import add, mul
from typing import Any

from mechdesign.certify.bounds.duality import BITS, add_ratio_rows
from mechdesign.certify.bounds.outward import ratio_floor
from mechdesign.certify.fixed_point import scaled_down
from mechdesign.certify.loss_tables import Losses
from mechdesign.certify.privacy.check import ratio_bound
from mechdesign.certify.problem import Statement, check_indices, scaled_numbers
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["representatives_bound"]


def representatives_bound(
    statement: Statement, dual: dict[str, Any], losses: Losses | None = None
) -> Fraction:
    """Return the bound that a map to representatives and their multipliers prove.

    The losses are those of the statement, or such that each of its outputs costs no less than one
    of theirs at every input.

    ``dual["representatives"]``: the input that stands for each input. ``dual["rows"]``: multipliers
    of rows on ratios of representatives, by column. ``dual["mixtures"]``: for each output, its
    columns with the weight of each.

    Raises
    ------
    CertificateError
        If an input stands for another and not for itself, a multiplier is on another row, or a
        weight is negative.
    """
    stands, mixtures = dual["representatives"], dual["mixtures"]
    losses = losses or statement.losses
    k = len(statement.prior)
    check_indices(stands, k, "an input is represented by one")
    if len(stands) != k or any(stands[i] != i for i in stands):
        raise CertificateError("expected for each input one that stands for it and for itself")
    if len(mixtures) != losses.n_outputs:
        raise CertificateError("the certificate has not one mixture of columns for each output")
    inputs = sorted(set(stands))
    columns = _columns(statement, dual["rows"], inputs)
    costs = _Costs(statement, losses, stands, inputs)
    least: list[int] | None = None
    for y, mixture in enumerate(mixtures):
        row = costs.of_output(y)
        shares = scaled_numbers([weight for _, weight in mixture], BITS)
        if min(shares, default=0) < 0:
            raise CertificateError("a weight of a column of multipliers is negative")
        for (column, _), share in zip(mixture, shares, strict=True):
            spend(3 * len(inputs), "mixtures of multipliers")
            terms = columns.get(column)
            if terms is not None:
                row = [a + (share * v >> BITS) for a, v in zip(row, terms, strict=True)]
        least = row if least is None else list(map(min, least, row))
    return Fraction(sum(least or []), 1 << BITS)


class _Costs:
    """The costs C[i, y] of the representatives, over ``2**BITS``, rounded down."""

    def __init__(
        self, statement: Statement, losses: Losses, stands: Sequence[int], inputs: list[int]
    ) -> None:
        masses, whole = statement.masses
        self._losses = losses
        members: dict[int, list[int]] = {i: [] for i in inputs}
        for x, i in enumerate(stands):
            if masses[x]:
                members[i].append(x)
        self._order = [x for i in inputs for x in members[i]]
        ends = accumulate((len(members[i]) for i in inputs), initial=0)
        self._ends = list(ends)
        factors = _factors(statement, stands, self._order)
        self._weights = [masses[x] * s // whole for x, s in zip(self._order, factors, strict=True)]

    def of_output(self, y: int) -> list[int]:
        """Return the cost of an output at every representative."""
        spend(5 * len(self._order) + 4 * len(self._ends), "costs of representatives")
        loss, bottom = self._losses.lower_at(y, self._order), self._losses.denominator
        terms, ends = list(map(mul, self._weights, loss)), self._ends
        return [sum(terms[a:b]) // bottom for a, b in pairwise(ends)]


def _factors(statement: Statement, stands: Sequence[int], order: Sequence[int]) -> list[int]:
    """Return for some x the largest s with q_x >= s q_r(x) by the notions, over ``2**BITS``."""
    bounds = [ratio_bound(statement, table) for table in statement.privacy]
    known = [bound for bound in bounds if bound is not None]
    found = []
    for x in order:
        floors = [ratio_floor(bound(stands[x], x)) for bound in known if stands[x] != x]
        best = max(floors, default=Fraction(stands[x] == x))
        found.append(scaled_down(best, BITS))
    return found


def _columns(
    statement: Statement, blocks: list[dict[str, Any]], inputs: list[int]
) -> dict[int, list[int]]:
    """Return the terms of each column of multipliers at the representatives."""
    place = {x: n for n, x in enumerate(inputs)}
    found: dict[int, list[int]] = {}
    for block in blocks:
        if block["side"] != "ratio":
            raise CertificateError("multipliers of representatives are on rows of other than pairs")
        if not set(block["x"]) | set(block["other"]) <= set(inputs):
            raise CertificateError("a multiplier is on a row of inputs that represent none")
        check_indices(block["output"], None, "a multiplier is in a column")
        numbers = {column: n for n, column in enumerate(dict.fromkeys(block["output"]))}
        size = 4 * len(block["weight"]) + (2 + len(numbers)) * len(inputs)
        spend(size, "columns of multipliers")
        terms = {x: [0] * len(numbers) for x in inputs}
        named = {**block, "output": [numbers[column] for column in block["output"]]}
        add_ratio_rows(statement, named, terms, len(numbers))
        for column, n in numbers.items():
            zeros = [0] * len(inputs)
            own = [terms[x][n] for x in place]
            found[column] = list(map(add, found.get(column, zeros), own))
    return found
