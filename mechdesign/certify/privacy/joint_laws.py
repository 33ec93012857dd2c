"""Sets of joint laws of a sensitive attribute and the input, as one attribute with more values.

A file states P(s|x) by one table, by a list of tables (`laws`), by a table and how far in total
variation each row may be from its own (`given_input` and `radius`), or by bounds (`lower` and
`upper`). A notion with a set holds if it holds under every law of the set.

With t a random law, nu_t its probability, the pair (t, S) is one attribute: P(t, s|x) = nu_t
P_t(s|x). Its lift P(t, s|y) / P(t, s) is that of s under the law t, whatever nu is, as the output
is made from X alone. So lift bounds under all laws of a list are lift bounds of (t, S), and local
differential privacy under all of them is that of (t, S) inside the blocks of one t.

Where a_x = P(s|x) runs over an interval for each x, the lift of s is at most u iff
Sum_x a_x P_x (q_x - u lambda) <= 0, which is linear in a, and lambda is the same for all laws: the
ends of the intervals suffice. The values that are not s have a mean of their lifts together, so
that a row for them asks for nothing more. Local differential privacy of two values is
N <= lambda E m / (1 + (E - 1) m), with N = Sum_x a_x P_x q_x, m = Sum_x a_x P_x and E = e**eps: the
left side is linear in a and the right side concave, so that the ends suffice again.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from mechdesign.certify.fixed_point import fraction_steps, longest, total
from mechdesign.certify.problem import distribution, nonnegative, table_of
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["asked_of_laws", "stated_laws"]

Law: TypeAlias = list[tuple[Fraction, ...]]
"""P(s|x), a row for each input."""

MOST_UNCERTAIN = 10
"""Inputs with an interval of more than one number."""

LIFTS = ("lip", "pml", "lift")
ZERO, ONE = Fraction(0), Fraction(1)
COIN = (Fraction(1, 2), Fraction(1, 2))


def stated_laws(stated: dict[str, Any], n_values: int, prior: Sequence[Fraction]) -> list[Law]:
    """Return the laws that suffice, in a fixed order: those listed, or those at the ends.

    The latter have two values, s and not s. One under which either never occurs bounds nothing; in
    its place stands a coin that does not depend on the input.

    Raises
    ------
    CertificateError
        If a table is no distribution, bounds leave no law, or too many inputs have intervals.
    """
    k = len(prior)
    if "laws" in stated:
        return [_table(law, k, n_values) for law in stated["laws"]]
    if "given_input" in stated and "radius" not in stated:
        return [_table(stated["given_input"], k, n_values)]
    ranges = _ranges(stated, k, n_values)
    occurring = [x for x, p in enumerate(prior) if p]
    found: list[Law] = []
    for s in range(1 if n_values == 2 else n_values):
        ends = [tuple(dict.fromkeys(row[s])) for row in ranges]
        if sum(len(end) > 1 for end in ends) > MOST_UNCERTAIN:
            raise CertificateError("a secret in the file has too many uncertain inputs")
        for chosen in itertools.product(*ends):
            spend(20 * k, "the laws of a secret")
            values = {chosen[x] for x in occurring}
            both_occur = not (values <= {ZERO} or values <= {ONE})
            found.append([(a, 1 - a) if both_occur else COIN for a in chosen])
    return found


def asked_of_laws(
    table: dict[str, Any], stated: dict[str, Any], n_values: int, width: int, total: int
) -> dict[str, Any]:
    """Return what a notion asks of (t, S), whose values are numbered, ``width`` of them by law.

    Raises
    ------
    CertificateError
        If it is not known for the notion which laws suffice.
    """
    notion = table["notion"]
    if notion in LIFTS:
        return table
    if notion == "ldp" and ("laws" in stated or n_values == 2):
        blocks = [list(range(first, first + width)) for first in range(0, total, width)]
        return {**table, "notion": "block", "blocks": blocks}
    raise CertificateError(f"a set of joint laws is not known for the notion {notion!r:.60}")


def _table(given: Any, k: int, n_values: int) -> Law:
    if len(given) != k:
        raise CertificateError("the distribution of the secret has not one row for each input")
    return [tuple(distribution(row, n_values)) for row in given]


def _ranges(stated: dict[str, Any], k: int, n_values: int) -> list[list[tuple[Fraction, Fraction]]]:
    """Return the least and the largest P(s|x) over the set, for each input and value."""
    if "radius" in stated:
        centers = _table(stated["given_input"], k, n_values)
        radii = [nonnegative(radius) for radius in stated["radius"]]
        if len(radii) != k:
            raise CertificateError("the secret has not one radius for each input")
        rows = list(zip(centers, radii, strict=True))
        lower = [[max(ZERO, p - radius) for p in row] for row, radius in rows]
        upper = [[min(ONE, p + radius) for p in row] for row, radius in rows]
    else:
        lower, upper = (table_of(stated[key], (k, n_values)) for key in ("lower", "upper"))
    found = []
    for low, high in zip(lower, upper, strict=True):
        room, free = 1 - total(low), 1 - total(high)
        if not free <= 0 <= room or any(a > b for a, b in zip(low, high, strict=True)):
            raise CertificateError("the bounds on the secret in the file leave no law")
        spend(2 * len(low) * fraction_steps(longest([room, free])), "the laws of a secret")
        found.append([(max(a, b + free), min(b, a + room)) for a, b in zip(low, high, strict=True)])
    return found
