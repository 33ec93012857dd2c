"""Objectives for a purpose: the best guess by a matrix of gains, scores, tests of two mixtures."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.independent.rationals import (
    ZERO,
    Interval,
    RefusedError,
    Vector,
    dot,
    exactly,
    ln,
    need,
    root,
    times,
)
from tests.independent.reading import distribution, fraction, keys, sequence

GUESS, SCORES = "g-vulnerability", "fisher-information"
DIVERGENCES = {"total-variation", "kullback-leibler", "chi-squared", "squared-hellinger"}
PURPOSES = DIVERGENCES | {GUESS, SCORES}


def read_terms(utility: dict[str, Any], prior: Vector) -> list[Vector]:
    """Return the rows of gains, a vector for each parameter, or both mixtures."""
    name, k = utility["objective"], len(prior)
    if name == GUESS:
        rows = sequence(keys(utility, ["objective", "gain_matrix"])["gain_matrix"])
        need(rows, "a guess")
        return [tuple(fraction(entry) for entry in sequence(row, k)) for row in rows]
    if name == SCORES:
        rows = sequence(keys(utility, ["objective", "scores"])["scores"], k)
        width = len(sequence(rows[0]))
        need(width, "a score")
        scores = [[fraction(s, signed=True) for s in sequence(row, width)] for row in rows]
        return list(zip(*scores, strict=True))
    keys(utility, ["objective", "first", "second"])
    both = [distribution(utility[key], k) for key in ("first", "second")]
    need(all(p or not max(w) for p, *w in zip(prior, *both, strict=True)), "inputs that occur")
    return both


def gain_of(name: str, terms: list[Vector], prior: Vector, q: Vector) -> Interval:
    """Return bounds on what one report adds."""
    weighed = tuple(p * v for p, v in zip(prior, q, strict=True))
    if name == GUESS:
        return exactly(max(dot(row, weighed) for row in terms))
    if name == SCORES:
        law = sum(weighed)
        return exactly(sum(dot(s, weighed) ** 2 for s in terms) / law if law else ZERO)
    a, b = (dot(side, q) for side in terms)
    if name == "total-variation":
        return exactly(max(a, b) - (a + b) / 2)
    if name == "squared-hellinger":
        low, high = root(a * b)
        return (a + b) / 2 - high, (a + b) / 2 - low
    if a == 0:
        return exactly(b if name == "chi-squared" else ZERO)
    if b == 0:
        raise RefusedError("a divergence that is finite")
    return exactly(a * a / b - 2 * a + b) if name == "chi-squared" else times(ln(a / b), a)


def losses_of(terms: list[Vector]) -> tuple[list[list[Interval]], Fraction]:
    """Return the loss of each input and guess, the largest gain less its own; and the largest."""
    most = max(map(max, terms))
    return [[exactly(most - row[x]) for row in terms] for x in range(len(terms[0]))], most


def is_infinite(name: str, terms: list[Vector] | None) -> bool:
    """Return whether the mixtures themselves have an infinite divergence."""
    if name not in ("kullback-leibler", "chi-squared") or terms is None:
        return False
    return any(a and not b for a, b in zip(*terms, strict=True))
