"""Notions of a sensitive attribute S, a latent variable behind the input X, as notions of inputs.

The output depends on S through X only, so that Pr(y|s) = Sum_x P(x|s) Q(y|x). A file states P(s|x),
or a set of such laws (`joint_laws`). With the prior of the input, this gives P(s) and P(x|s). So a
notion of S is the same notion with the values of S as inputs, the prior P(s), and the columns
w_s = Sum_x P(x|s) q_x. All is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any

from mechdesign.certify.fixed_point import fraction_steps, over_one_denominator, total
from mechdesign.certify.privacy.joint_laws import asked_of_laws, stated_laws
from mechdesign.certify.problem import (
    SECRET,
    Statement,
    check_different as check_labels,
    read_domain,
)
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["SIDE", "SensitiveAttribute", "rank", "read_sensitive_attribute"]

SIDE = "secret-"
"""The prefix of the side of multipliers of rows on w."""


@dataclass(frozen=True)
class SensitiveAttribute:
    """The problem with the values of a sensitive attribute as inputs.

    Attributes
    ----------
    statement
        The values of S as inputs, P(s) as the prior, and this notion only.
    table
        The notion, as a notion of inputs.
    rows, whole
        P(x|s) as integers over ``whole``, a row for each s.
    """

    statement: Statement
    table: dict[str, Any]
    rows: list[list[int]]
    whole: int

    def columns(self, columns: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return w_s times ``whole`` for each s, for every column."""
        return [[sum(map(mul, row, q)) for row in self.rows] for q in columns]

    def on_inputs(self, row: Sequence[int]) -> list[int]:
        """Return a row on w as a row on q, times ``whole``."""
        return [sum(map(mul, row, column)) for column in zip(*self.rows, strict=True)]


def read_sensitive_attribute(statement: Statement, table: dict[str, Any]) -> SensitiveAttribute:
    """Return the sensitive attribute of a notion that has the key ``secret``.

    Raises
    ------
    CertificateError
        If P(s|x) is no distribution for some x, or a value of S has probability 0.
    """
    stated, prior = table["secret"], statement.prior
    labels, points, spacing = read_domain({"values": stated["values"]})
    check_labels(labels, "secret")
    inner = {key: entry for key, entry in table.items() if key not in ("secret", "of")}
    inner["notion"] = table["of"] if table["notion"] == SECRET else table["notion"]
    laws = stated_laws(stated, len(labels), prior)
    if set(stated) != {"values", "given_input"}:
        width = len(laws[0][0])
        values, count = len(labels), width * len(laws)
        inner = asked_of_laws(inner, stated, values, width, count)
        labels, points, spacing = list(range(count)), None, Fraction(1)
    share = Fraction(1, len(laws))
    given = [[share * p for law in laws for p in law[x]] for x in range(len(prior))]
    spend(30 * len(labels) * len(prior), "the inputs given a secret")
    joint = [[row[s] * p for row, p in zip(given, prior, strict=True)] for s in range(len(labels))]
    masses = [total(row) for row in joint]
    if not all(masses):
        raise CertificateError("a secret in the file has probability 0")
    length = max(mass.denominator.bit_length() for mass in masses)
    spend(2 * len(masses) * len(prior) * fraction_steps(length), "the inputs given a secret")
    flat = [p / mass for row, mass in zip(joint, masses, strict=True) for p in row]
    scaled, whole = over_one_denominator(flat)
    rows = [scaled[n : n + len(prior)] for n in range(0, len(scaled), len(prior))]
    own = Statement(labels, points, spacing, masses, [inner], statement.utility, None)
    return SensitiveAttribute(own, inner, rows, whole)


def rank(rows: Sequence[Sequence[int]]) -> int:
    """Return the rank of integer rows, by Gaussian elimination in rationals."""
    left, found = [[Fraction(entry) for entry in row] for row in rows], 0
    for x in range(len(rows[0]) if rows else 0):
        length = max((entry.denominator.bit_length() for row in left for entry in row), default=0)
        spend(3 * len(left) * len(rows[0]) * fraction_steps(2 * length), "the rank of rows")
        head = next((row for row in left if row[x]), None)
        if head is None:
            continue
        found += 1
        left = [
            [a - row[x] / head[x] * b for a, b in zip(row, head, strict=True)]
            for row in left
            if row is not head
        ]
    return found
