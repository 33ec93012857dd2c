"""The exact check of a notion that is a list of the user's own rows: left . q <= e**a (right . q).

All coefficients are >= 0. With e**a rounded down, a row that holds implies the row that is stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.certify.fixed_point import over_one_denominator, product_steps
from mechdesign.certify.problem import LINEAR, Statement, nonnegative, number, plain_label
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower
from mechdesign.resources import entries_of, spend

__all__ = ["LinearRow", "broken_row", "is_linear", "linear_rows", "title_of"]

ZERO = Fraction(0)

Sparse = dict[int, Fraction]


@dataclass(frozen=True)
class LinearRow:
    """One row; coefficients >= 0 by the number of the input."""

    name: str
    left: Sparse
    exponent: Fraction
    right: Sparse

    def net(self, on_left: Fraction, on_right: Fraction) -> Sparse:
        """Return on_left * left - on_right * right, without zeros."""
        found = {x: on_left * v for x, v in self.left.items()}
        for x, v in self.right.items():
            found[x] = found.get(x, ZERO) - on_right * v
        return {x: v for x, v in found.items() if v}

    def integers(self) -> dict[int, int]:
        """Return left - r right times a common denominator, r just below e**a."""
        net = self.net(Fraction(1), exp_lower(self.exponent))
        return dict(zip(net, over_one_denominator(list(net.values()))[0], strict=True))


def is_linear(table: dict[str, Any]) -> bool:
    """Return whether a notion is a list of the user's own rows."""
    return bool(table["notion"] == LINEAR)


def title_of(table: dict[str, Any]) -> str:
    """Return the name of a notion of the user's own, with its title where it has one."""
    title = table.get("title", "")
    return f"{LINEAR} ({title!r:.60})" if title else LINEAR


def linear_rows(
    statement: Statement, table: dict[str, Any], shift: Fraction | None = None
) -> list[LinearRow]:
    """Return the rows of a notion of the user's own.

    Parameters
    ----------
    shift
        If given, the epsilon to take instead of the notion's; if it has none, what to add to all
        exponents.
    """
    spend(10 * entries_of(table["rows"]), "rows of a notion")
    has_epsilon = "epsilon" in table
    budget = nonnegative(table["epsilon"]) if has_epsilon else ZERO
    budget = budget if shift is None else shift
    found = []
    for row in table["rows"]:
        slope = nonnegative(row.get("slope", 0))
        if slope and not has_epsilon:
            raise CertificateError("a row has a slope, and its notion no epsilon")
        exponent = number(row["exponent"]) + (slope if has_epsilon else 1) * budget
        left, right = (_coefficients(statement, row[side]) for side in ("left", "right"))
        found.append(LinearRow(row["name"], left, exponent, right))
    if len({row.name for row in found}) < len(found):
        raise CertificateError("two rows of a notion have one name")
    return found


def _coefficients(statement: Statement, pairs: list[Any]) -> Sparse:
    found: Sparse = {}
    for label, value in pairs:
        x = statement.places.get(plain_label(label))
        if x is None:
            raise CertificateError(f"a row has a coefficient at {label!r:.60}, which is no input")
        if x in found:
            raise CertificateError(f"a row has two coefficients at {label!r:.60}")
        found[x] = nonnegative(value)
    return found


def broken_row(rows: Sequence[LinearRow], columns: Sequence[Sequence[int]]) -> str | None:
    """Return which output breaks which row, None if all columns satisfy all rows; in integers."""
    for row in rows:
        terms = row.integers().items()
        length = product_steps(*(v for _, v in terms))
        spend((2 + 2 * len(terms)) * len(columns) * length, "rows of a notion")
        for y, q in enumerate(columns):
            if sum(v * q[x] for x, v in terms) > 0:
                return f"output {y}: the row {row.name!r:.60} does not hold"
    return None
