"""Sets of laws P(s|x) of a sensitive attribute: listed, between bounds, or in balls.

A notion is asked for every law of the set. Finitely many laws t are one attribute S' = (t, S): take
t at random, with a probability nu_t that nobody needs to know, so that P(t, s | x) = nu_t P_t(s|x).
Its lifts are those of S under the laws, P(t, s | y) / P(t, s) = P_t(s|y) / P_t(s), for the output
depends on X alone, and P(x) is the same for all. So a bound on the lift of S under every law is the
same bound for S', and LDP under every law is LDP of S' inside each block of one law.

*Between bounds, or in balls, each row P(.|x) on its own.* The lift of s is at most e**u iff
Sum_x a_x P_x (q_x - e**u lambda) <= 0, a_x = P(s|x), with the output probability lambda, which does
not depend on the law. This is linear in a, and a_x runs over an interval, for every x by itself. So
the laws with a_x at its ends, for all x, suffice; and the other values may be taken together as
"not s", whose lift is a mean of theirs. LDP of two values s, s': with N = Sum_x a_x P_x q_x and
m = Sum_x a_x P_x it says N <= lambda E m / (1 + (E - 1) m), E = e**eps. The left side is linear in
a, the right one concave, so that again the ends of the intervals suffice. For LDP of more values
they do not: the worst law may lie between.

Jiang et al. 2021 (TIFS), Lemma 1, has one law. The reduction to one attribute is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from mechdesign.errors import UnsupportedError
from mechdesign.prior_sets import Weights

__all__ = ["MOST_UNCERTAIN", "Ranges", "ball_ranges", "box_ranges", "extreme_rows", "spread_rows"]

Ranges: TypeAlias = tuple[tuple[tuple[Fraction, Fraction], ...], ...]
"""For each input and value the least and the largest P(s|x)."""

MOST_UNCERTAIN = 10
"""Inputs of which P(s|x) is not known exactly: there are 2 to this many laws for each value."""

ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)


def ball_ranges(centers: Sequence[Weights], radii: Sequence[Fraction]) -> Ranges:
    """Return the ranges of laws whose rows are within a total variation of given ones."""
    rows = list(zip(centers, radii, strict=True))
    lower = [tuple(max(ZERO, p - radius) for p in row) for row, radius in rows]
    upper = [tuple(min(ONE, p + radius) for p in row) for row, radius in rows]
    return box_ranges(lower, upper)  # of a sole value there is nothing to move


def box_ranges(lower: Sequence[Weights], upper: Sequence[Weights]) -> Ranges:
    """Return the ranges of laws between bounds, as their sums of 1 leave them."""
    found = []
    for low, high in zip(lower, upper, strict=True):
        least, most = sum(low, ZERO), sum(high, ZERO)
        found.append(
            tuple(
                (max(a, 1 - (most - b)), min(b, 1 - (least - a)))
                for a, b in zip(low, high, strict=True)
            )
        )
    return tuple(found)


def extreme_rows(ranges: Ranges) -> list[tuple[int, Weights]]:
    """Return P(s|x) for each value s and each choice of ends: s, and a row over the inputs.

    Of two values one is enough, as the other is what is left.

    Raises
    ------
    UnsupportedError
        If too many inputs are uncertain.
    """
    n_values = len(ranges[0])
    found: list[tuple[int, Weights]] = []
    for s in range(1 if n_values == 2 else n_values):
        ends = [tuple(dict.fromkeys(row[s])) for row in ranges]
        uncertain = sum(len(end) > 1 for end in ends)
        if uncertain > MOST_UNCERTAIN:
            expected = f"at most {MOST_UNCERTAIN} inputs with more than one P(s|x)"
            raise UnsupportedError("given_input", expected, f"{uncertain}")
        found += [(s, row) for row in itertools.product(*ends)]
    return found


def spread_rows(
    laws: Sequence[Sequence[Weights]], prior: Sequence[Fraction], *, listed: bool
) -> list[Weights]:
    """Return P(t, s|x), a row for each input, for laws that are taken with equal probabilities.

    Parameters
    ----------
    laws
        For each law P_t(s|x), a row for each input.
    prior
        P(x).
    listed
        Whether these are all laws. If not, one under which one of the two values never occurs
        bounds nothing: in its place a fair coin is taken.
    """
    share, found = Fraction(1, len(laws)), [list[Fraction]() for _ in prior]
    for law in laws:
        masses = [sum(map(_product, prior, column), ZERO) for column in zip(*law, strict=True)]
        blank = not listed and not all(masses)
        for row, given in zip(found, law, strict=True):
            row.extend(share * (HALF if blank else p) for p in given)
    return [tuple(row) for row in found]


def _product(p: Fraction, q: Fraction) -> Fraction:
    return p * q
