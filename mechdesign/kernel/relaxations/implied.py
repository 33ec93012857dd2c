"""The ratios implied by lifts and chains of ratios, which private columns satisfy.

q_x <= e**upper p . q <= e**(upper + lower) q_z for bounds on the lift at one prior, and q_x <= e**a
q_y <= e**(a + b) q_z along a chain. They are an additional generator; or, ``alone``, LDP at the
largest of their exponents replaces all others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Literal

from mechdesign.kernel.arithmetic import need, over_one_denominator
from mechdesign.kernel.generators import Cone, Constant, Lift, Matrix, Ratio
from mechdesign.kernel.proof import Slot
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Implied(Slot):
    """Bounds on the ratios of all pairs, or LDP ``alone``."""

    alone: bool = True

    def __call__(self, statement: Statement) -> Statement:
        exponents, whole = _closed(statement)
        pairs = [v for x, row in enumerate(exponents) for z, v in enumerate(row) if x != z]
        if self.alone:
            known = [v for v in pairs if v is not None]
            need(pairs and len(known) == len(pairs), "no ratio of all pairs is bounded")
            return replace(statement, cone=(Ratio(Constant(Fraction(max(known), whole))),))
        table = [[_entry(v, whole) for v in row] for row in exponents]
        return replace(statement, cone=(*statement.cone, Ratio(Matrix(tuple(map(tuple, table))))))

    def steps(self, statement: Statement) -> int:
        return statement.k**2 * (2 * statement.k + 30 * len(statement.cone))


def _entry(v: int | None, whole: int) -> Fraction | Literal["inf"]:
    return "inf" if v is None else Fraction(v, whole)


def _exponent(part: Cone, x: int, z: int) -> Fraction | None:
    if isinstance(part, Ratio) and part.prior is None:
        return part.exponents.at(x, z, up=True)
    if isinstance(part, Lift) and part.upper is not None and part.lower is not None:
        return part.upper + part.lower
    return None


def _closed(statement: Statement) -> tuple[list[list[int | None]], int]:
    """Return the least implied exponents, over one denominator; None where there is none."""
    k, least = statement.k, dict[tuple[int, int], Fraction]()
    for part, x, z in product(statement.cone, range(k), range(k)):
        a = _exponent(part, x, z)
        if x != z and a is not None and a < least.get((x, z), a + 1):
            least[x, z] = a
    ints, whole = over_one_denominator(least.values())
    listed: dict[tuple[int, int], int] = dict(zip(least, ints, strict=True))
    found = [[0 if x == z else listed.get((x, z)) for z in range(k)] for x in range(k)]
    for y in range(k):
        after = [(z, v) for z, v in enumerate(found[y]) if v is not None]
        for row in found:
            before = row[y]
            if before is not None:
                for z, v in after:
                    have = row[z]
                    if have is None or before + v < have:
                        row[z] = before + v
    return found, whole
