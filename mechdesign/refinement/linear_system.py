"""Sparse systems of linear equations in integers, solved exactly by lifting a solution modulo p.

Dixon 1982: the inverse of a square system modulo a prime p yields its p-adic solution, one digit
per product of the matrix with a small vector; the Euclidean algorithm recovers fractions from the
digits. Every equation is checked in integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from mechdesign._typing import Int64Array, IntArray

Equation = tuple[dict[int, int], int]
"""The coefficients by index of the unknown, and the right-hand side."""

PRIME = 33554393
"""Below 2**25, so that sums of 4096 products of two residues fit in 64 bits."""

MOST_UNKNOWNS = 4096

FIRST_DIGITS = 8


def solved(equations: Sequence[Equation], size: int) -> list[Fraction] | None:
    """Return rationals that satisfy all equations; None if none are found.

    Free unknowns modulo the prime are set to 0.

    Examples
    --------
    >>> solved([({0: 2, 1: 1}, 1), ({0: 1, 1: -1}, 0)], 2)
    [Fraction(1, 3), Fraction(1, 3)]
    >>> solved([({0: 2}, 1), ({0: 1}, 0)], 1) is None
    True
    """
    if size > MOST_UNKNOWNS:
        return None
    residues = np.zeros((len(equations), size), dtype=np.int64)
    for row, (terms, _) in enumerate(equations):
        for j, value in terms.items():
            residues[row, j] = value % PRIME
    chosen, unknowns = _reduced(residues.copy())
    both = np.hstack([residues[chosen][:, unknowns], np.eye(len(chosen), dtype=np.int64)])
    _reduced(both)
    inverse = both[:, len(chosen) :]
    place = {j: n for n, j in enumerate(unknowns)}
    square = [
        [(place[j], value) for j, value in equations[row][0].items() if j in place]
        for row in chosen.tolist()
    ]
    left = [equations[row][1] for row in chosen.tolist()]
    # Cramer's rule and Hadamard's inequality bound numerators and denominators
    bits = sum(
        math.isqrt(sum(v * v for _, v in row) + b * b).bit_length() + 1
        for row, b in zip(square, left, strict=True)
    )
    digits, found, power, wanted = 0, [0] * len(square), 1, FIRST_DIGITS
    while True:
        digit = (inverse @ np.array([b % PRIME for b in left], dtype=np.int64) % PRIME).tolist()
        found = [v + power * d for v, d in zip(found, digit, strict=True)]
        left = [
            (b - sum(v * digit[n] for n, v in row)) // PRIME
            for row, b in zip(square, left, strict=True)
        ]
        power *= PRIME
        digits += 1
        enough = power.bit_length() > 2 * bits + 2
        if digits == wanted or enough:
            values = _fractions(found, power)
            answer = [Fraction(0)] * size
            for j, entry in zip(unknowns, values or (), strict=False):
                answer[j] = entry
            if values is not None and _holds(equations, answer):
                return answer
            if enough:
                return None
            wanted *= 2


def _holds(equations: Sequence[Equation], values: Sequence[Fraction]) -> bool:
    whole = math.lcm(*(value.denominator for value in values))
    scaled = [value.numerator * (whole // value.denominator) for value in values]
    return all(sum(v * scaled[j] for j, v in terms.items()) == b * whole for terms, b in equations)


def _reduced(table: Int64Array) -> tuple[IntArray, list[int]]:
    """Reduce a table modulo the prime to row echelon form, in place.

    The rows, by their first numbers, and columns returned are those of a largest square submatrix
    that is invertible; left of an inverse stands the identity then.
    """
    rows, columns = np.arange(len(table)), list[int]()
    for j in range(table.shape[1]):
        top = len(columns)
        below = np.flatnonzero(table[top:, j])
        if not below.size:
            continue
        swap = [top, top + int(below[0])]
        table[swap], rows[swap] = table[swap[::-1]], rows[swap[::-1]]
        table[top, j:] = table[top, j:] * pow(int(table[top, j]), -1, PRIME) % PRIME
        others = np.flatnonzero(table[:, j])
        others = others[others != top]
        table[others, j:] = (table[others, j:] - table[others, j, None] * table[top, j:]) % PRIME
        columns.append(j)
    return rows[: len(columns)], columns


def _fractions(residues: Sequence[int], power: int) -> list[Fraction] | None:
    """Return fractions with small numerators and a small common denominator; None if none exist."""
    most, whole = math.isqrt(power // 2), 1
    found: list[Fraction] = []
    for residue in residues:
        value = residue * whole % power
        value -= power * (value > power // 2)
        if abs(value) > most:
            part = _fraction(residue, power, most)
            if part is None or abs(whole := math.lcm(whole, part.denominator)) > most:
                return None
            found.append(part)
        else:
            found.append(Fraction(value, whole))
    return found


def _fraction(residue: int, power: int, most: int) -> Fraction | None:
    """Return n / d with n = residue d modulo the power, and both at most ``most`` in size."""
    r, s, factor, other = power, residue, 0, 1
    while s > most:
        times = r // s
        r, s, factor, other = s, r - times * s, other, factor - times * other
    return Fraction(s, other) if 0 < abs(other) <= most else None
