"""Notions about a secret S behind the input X: a problem of its own, whose columns follow.

As the output is made from X alone, Pr(y|s) = Sum_x P(x|s) Q(y|x). A file states P(s|x); with the
prior of the input this gives P(s) and P(x|s). So a notion about S is the same notion on the secrets
as inputs, with prior P(s), at the columns w_s = Sum_x P(x|s) q_x. Nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import mul
from typing import Any

from mechdesign.certify.problem import (
    SECRET,
    Statement,
    check_different as check_labels,
    distribution,
    read_domain,
)
from mechdesign.errors import CertificateError

__all__ = ["SIDE", "SensitiveAttribute", "all_equal", "rank", "read_secret"]

SIDE = "secret-"
"""What the sides of weights on rows about a secret begin with."""


@dataclass(frozen=True)
class SensitiveAttribute:
    """What a notion is about.

    Attributes
    ----------
    statement
        The secrets as inputs, with their law as the prior, and the notion alone.
    table
        The notion, as one about inputs.
    rows, whole
        P(x|s) as integers over ``whole``, a row for each secret.
    """

    statement: Statement
    table: dict[str, Any]
    rows: list[list[int]]
    whole: int

    def columns(self, columns: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return w_s times ``whole`` for each secret s, for every column."""
        return [[sum(map(mul, row, q)) for row in self.rows] for q in columns]

    def on_inputs(self, row: Sequence[int]) -> list[int]:
        """Return a row on secrets as one on inputs, times ``whole``."""
        return [sum(map(mul, row, column)) for column in zip(*self.rows, strict=True)]


def read_secret(statement: Statement, table: dict[str, Any]) -> SensitiveAttribute:
    """Return the secret that a notion with the key ``secret`` is about.

    Raises
    ------
    CertificateError
        If it is none, or one of its values has probability 0.
    """
    law, prior = table["secret"], statement.prior
    labels, points, spacing = read_domain({"values": law["values"]})
    check_labels(labels, "secret")
    given = [distribution(row, len(labels)) for row in law["given_input"]]
    if len(given) != len(prior):
        raise CertificateError("the law of the secret has not one row for each input")
    joint = [[row[s] * p for row, p in zip(given, prior, strict=True)] for s in range(len(labels))]
    masses = [sum(row, Fraction(0)) for row in joint]
    if not all(masses):
        raise CertificateError("a secret in the file has probability 0")
    laws = [[p / mass for p in row] for row, mass in zip(joint, masses, strict=True)]
    whole = lcm(*(p.denominator for row in laws for p in row))
    rows = [[p.numerator * (whole // p.denominator) for p in row] for row in laws]
    inner = {key: entry for key, entry in table.items() if key not in ("secret", "of")}
    inner["notion"] = table["of"] if table["notion"] == SECRET else table["notion"]
    own = Statement(labels, points, spacing, masses, [inner], statement.utility, None)
    return SensitiveAttribute(own, inner, rows, whole)


def all_equal(secret: SensitiveAttribute) -> bool:
    """Return whether equal rows of Pr(y|s), for all s, make all rows of Q equal.

    They do if the differences of the rows of P(x|s) span everything that is orthogonal to the
    constants: if their rank is one less than the number of inputs.
    """
    first, *others = secret.rows
    differences = [[a - b for a, b in zip(row, first, strict=True)] for row in others]
    return rank(differences) == len(first) - 1


def rank(rows: Sequence[Sequence[int]]) -> int:
    """Return the rank of integer rows, by Gaussian elimination in rationals."""
    left, found = [[Fraction(entry) for entry in row] for row in rows], 0
    for x in range(len(rows[0]) if rows else 0):
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
