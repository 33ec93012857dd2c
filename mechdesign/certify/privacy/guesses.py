"""Notions that limit what the best guess from an output gains, and terms of their dual bounds.

    g-vulnerability   Sum_y max_w Sum_x g(w, x) P_x Q[x,y]  <=  limit
    attack-error      Sum_y min_z Sum_x d(x, z) P_x Q[x,y]  >=  least

The second is the first with g(z, x) = D - d(x, z) and the limit D - least, where D is twice the
largest distance, as the numbers P_x Q[x,y] sum to 1. Distances that are irrational are rounded down
in a check, so that a channel that passes is private, and up in a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from mechdesign.certify.fixed_point import fraction_steps, over_one_denominator, product_steps
from mechdesign.certify.loss_tables import DistanceLosses, HammingLosses, Losses, TableLosses
from mechdesign.certify.problem import Statement, check_indices, nonnegative, table_of
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["GUESSES", "add_guess_rows", "check_guesses"]

GUESSES = {"g-vulnerability": "guess", "attack-error": "attack"}
"""These notions, each with the side of its multipliers."""


class _Gains(NamedTuple):
    """Gains of guesses at the inputs, integers over a unit, and their limit."""

    rows: list[list[int]]
    unit: int
    limit: Fraction


def check_guesses(
    statement: Statement,
    table: dict[str, Any],
    columns: Sequence[Sequence[int]],
    shift: Fraction | None,
) -> str | None:
    """Return what breaks the limit, or None; ``shift`` is added to it if given."""
    found, (masses, whole) = _gains(statement, table, up=True), statement.masses
    steps = len(masses) * (1 + product_steps(whole) + product_steps(found.unit))
    total = 0
    for q in columns:
        spend((1 + len(found.rows)) * steps, "gains of guesses")
        joint = [p * v for p, v in zip(masses, q, strict=True)]
        total += max(sum(g * j for g, j in zip(row, joint, strict=True)) for row in found.rows)
    ones = sum(q[0] for q in columns)
    limit = found.limit + (shift or 0)
    if Fraction(total) > limit * (whole * found.unit * ones):
        return "the best guess from an output is too good"
    return None


def add_guess_rows(
    statement: Statement, block: dict[str, Any], reduced: list[list[int]], bits: int
) -> int:
    """Add multipliers of guesses to the reduced costs, rounded down; return their cost.

    For multipliers w >= 0 of guesses at outputs,

        Sum_y Sum_guess w[guess,y] g(guess, .) P . q_y  <=  limit max_y Sum_guess w[guess,y],

    as no sum over guesses is above the best one times the sum of their multipliers, gains not being
    negative.
    """
    found = _gains(statement, statement.privacy[block["notion"]], up=False)
    k, m, (masses, whole) = len(reduced), len(reduced[0]), statement.masses
    check_indices(block["output"], m, "a dual weight is on a row")
    check_indices(block["x"], len(found.rows), "a dual weight is on a guess")
    by_output = [Fraction(0)] * m
    places = (block["output"], block["x"], block["weight"])
    bottom = whole * found.unit
    for y, guess, text in zip(*places, strict=True):
        w = nonnegative(text)
        by_output[y] += w
        spend(k * (10 + fraction_steps(bottom.bit_length())), "dual rows")
        top, under = w.numerator << bits, w.denominator * bottom
        for x, (p, g) in enumerate(zip(masses, found.rows[guess], strict=True)):
            reduced[x][y] += top * p * g // under
    most = max(by_output, default=Fraction(0)) * found.limit
    return -((-most.numerator << bits) // most.denominator)


def _gains(statement: Statement, table: dict[str, Any], *, up: bool) -> _Gains:
    """Return gains of guesses, rounded up or down where irrational, and their limit."""
    k = len(statement.labels)
    if table["notion"] == "g-vulnerability":
        limit = nonnegative(table["limit"])
        if "gain_matrix" not in table:
            spend(k * k, "gains of guesses")
            return _Gains([[int(x == w) for x in range(k)] for w in range(k)], 1, limit)
        given = table["gain_matrix"]
        flat, unit = over_one_denominator(
            [g for row in table_of(given, (len(given), k)) for g in row]
        )
        return _Gains([flat[n : n + k] for n in range(0, len(flat), k)], unit, limit)
    losses = _losses(statement, table["distance"])
    spend(30 * losses.n_outputs * k, "distances")
    above = [losses.upper(z) for z in range(losses.n_outputs)]
    most = 2 * max(map(max, above))
    taken = [losses.lower(z) for z in range(losses.n_outputs)] if up else above
    rows = [[most - d for d in row] for row in taken]
    unit = losses.denominator
    return _Gains(rows, unit, Fraction(most, unit) - nonnegative(table["least"]))


def _losses(statement: Statement, distance: Any) -> Losses:
    """Return the distances of guesses from the inputs."""
    if distance == "hamming":
        return HammingLosses(statement.labels, statement.labels)
    if isinstance(distance, str):
        places, unit = statement.lattice
        return DistanceLosses(places, places, unit, distance)
    if not distance or not distance[0]:
        raise CertificateError("a matrix of distances has no guess")
    return TableLosses(table_of(distance, (len(statement.labels), len(distance[0]))))
