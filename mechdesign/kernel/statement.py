"""A statement: a cone of columns, limits on the whole channel, and an objective to minimize.

A channel is a list of columns q >= 0 with Sum_y q_y = 1. A problem is compiled once, by
:mod:`~mechdesign.kernel.names` or by a user's own notion; repair, leakage, search, checker and file
all use the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from mechdesign.exact import exp_upper
from mechdesign.kernel.generators import Cone, Constant, Lift, Ratio
from mechdesign.kernel.generators.base import Key
from mechdesign.kernel.limits import Limit, Sums
from mechdesign.kernel.objectives import Objective


@dataclass(frozen=True)
class Statement:
    """A claim about channels on ``k`` inputs.

    ``k``: the number of inputs.
    ``cone``: generators: every column lies in all of them.
    ``limits``: the constraints on the whole channel.
    ``objective``: the minimized objective; None for privacy alone.
    ``sign``: -1 if the problem maximizes: its value is ``sign`` times the objective.
    """

    k: int
    cone: tuple[Cone, ...]
    limits: tuple[Limit, ...]
    objective: Objective | None
    sign: int = 1

    @cached_property
    def ratios(self) -> list[Ratio]:
        """The generators that bound ratios."""
        return [part for part in self.cone if isinstance(part, Ratio)]

    def ratio(self, x: int, z: int) -> Fraction | None:
        """Return the least known bound on q_x / q_z of private columns, rounded up, or None."""
        if x == z:
            return Fraction(1)
        known = [
            exp_upper(a) * part.scale(x, z)
            for part in self.ratios
            if (a := part.exponents.at(x, z, up=True)) is not None
        ]
        return min(known, default=None)

    def lift(self, p: tuple[Fraction, ...]) -> tuple[Fraction, Fraction | None]:
        """Return bounds on q_x / (p . q) of all lifts that hold at p, rounded outward."""
        ends = [part.ends() for part in self.cone if isinstance(part, Lift) and part.priors.has(p)]
        highs = (high for _, high in ends if high is not None)
        return max((low for low, _ in ends), default=Fraction(0)), min(highs, default=None)

    def rows(self, bits: int = 80) -> list[tuple[Fraction, ...]]:
        """Return all rows g of the cone, g . q <= 0, as dense vectors, weakened by rounding."""
        found: dict[tuple[Fraction, ...], None] = {}
        for place, key in self.row_keys():
            net = self.cone[place].row(key, self.k, up=True).net(weak=True, bits=bits)
            if any(v > 0 for v in net.values()):
                row = tuple(net.get(x, Fraction(0)) for x in range(self.k))
                found[row] = None
        return list(found)

    def row_keys(self) -> Iterator[tuple[int, Key]]:
        """Return the index of the generator and the key of each row of :meth:`rows`.

        A ratio implied by two others is omitted: fewer rows, and the same cone up to rounding.
        """
        for place, part in enumerate(self.cone):
            for key in part.keys(self.k):
                if not (isinstance(part, Ratio) and _implied(part, self.k, key[1], key[2])):
                    yield place, key


def _implied(part: Ratio, k: int, x: int, z: int) -> bool:
    """Return whether a path over one other input implies the bound on q_x / q_z, strictly."""
    direct, at = part.exponents.at(x, z, up=True), part.exponents.at
    if direct is None or isinstance(part.exponents, Constant):
        return False
    for y in range(k):
        if y not in (x, z):
            a, b = at(x, y, up=True), at(y, z, up=True)
            if a and b and a > 0 and b > 0 and a + b <= direct:
                return True
    return False


def private(statement: Statement, columns: Sequence[Sequence[int]], whole: int) -> str | None:
    """Return a description of a violated requirement of integer columns; None if they are private.

    No tolerance: each bound ``e**a`` is replaced by a rational below it, each sum by an upper
    bound. Columns that pass are private; columns that are private by a margin below one part in
    2**150 may be rejected. That the columns are a channel is checked first.
    """
    if not columns or any(len(q) != statement.k or min(q) < 0 for q in columns):
        return "a column has not one entry >= 0 for each input"
    if any(sum(row) != whole for row in zip(*columns, strict=True)):
        return "a row does not sum to 1"
    for part in statement.cone:
        test = part.test(statement.k)
        for y, q in enumerate(columns):
            if (broken := test(q)) is not None:
                side, x, other = broken
                return f"column {y} breaks the row {side} {x}, {other} of a {part.kind}"
    sums: Sums = {}
    for limit in statement.limits:
        if not limit.holds(columns, whole, sums):
            return f"the channel is above a limit: {limit.kind}"
    return None
