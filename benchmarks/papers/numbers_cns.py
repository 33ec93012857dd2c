"""Numbers in the text of Jiang et al. 2018 (CNS), and its formulas where they fail.

Source: Jiang et al. 2018 (CNS). Nothing here needs data. What belongs to a figure is with it.
"""

from __future__ import annotations

import math

from benchmarks.papers.base import Row
from benchmarks.papers.formulas import (
    claimed_lip,
    erasure,
    flip,
    posterior_error,
    printed_symmetric,
    symmetric,
    symmetric_error,
)
from benchmarks.papers.optimum import ldp_bit, lip_bit
from benchmarks.papers.surveys import least_flip
from mechdesign import LIP, Channel, Prior


def rows() -> list[Row]:
    """Return the rows."""
    return [*theorem_2(), *symmetric_model(), *others()]


def theorem_2() -> list[Row]:
    """Return Theorem 2: the error it claims, and what its channel leaks."""
    place, found = "CNS, Theorem 2", []
    for p, epsilon in ((0.5, 1.0), (0.3, 1.0), (0.1, 1.0), (0.01, 1.0), (0.1, 2.5)):
        prior = Prior([round(1 - p, 2), p])
        leakage = LIP(epsilon).leakage(Channel.from_matrix(erasure(prior.array, epsilon)), prior)
        words = f"P1 = {p}, ε = {epsilon:g}"
        border = f"it is private from ε = ln(1/P_min − 1) = {math.log(1 / p - 1):.3f} on"
        found += [
            Row(place, f"leakage of the channel, {words}", epsilon, leakage, border),
            Row(
                place,
                f"least error of one bit, {words}",
                claimed_lip(p, epsilon),
                lip_bit(prior, epsilon),
                f"the channel that has the claimed error leaks {leakage / epsilon:.2f} ε",
            ),
        ]
    return found


def symmetric_model() -> list[Row]:
    """Return Proposition 4: its flip probability is right, the printed errors are not."""
    place, found = "CNS, Proposition 4", []
    for p in (0.5, 0.3, 0.1):
        q, words = flip(p, 1.0), f"P1 = {p}, ε = 1"
        found += [
            Row(place, f"least flip probability, {words}", q, least_flip(p, 1.0)),
            Row(
                f"{place}, (23)",
                f"error of the symmetric model, {words}",
                printed_symmetric(p, 1.0),
                symmetric_error(p, 1.0),
                "the printed expression is not the error of the channel, nor the variance at ε = 0",
            ),
            Row(
                f"{place}, (22)",
                f"error of flipping with that probability, {words}",
                printed_22(p, q),
                posterior_error(symmetric(q), [1 - p, p], [0, 1]),
                "(22) has P1 in front of the bracket where P1² belongs, as (33) has it",
            ),
        ]
    return found


def printed_22(p: float, q: float) -> float:
    """Return CNS (22) as it is printed."""
    y = q * (1 - p) + (1 - q) * p
    return p * (1 - p) - p * ((2 * q - 1) * (p - 1)) ** 2 / (y * (1 - y))


def others() -> list[Row]:
    """Return the numbers quoted in passing."""
    prior = Prior([0.99, 0.01])
    gap = ldp_bit(prior, 1) / lip_bit(prior, 1) - 1
    claimed = ldp_bit(prior, 1) / claimed_lip(0.01, 1.0) - 1
    epsilon = 1.0
    p = math.exp(epsilon) / (math.exp(epsilon) + 1)
    return [
        Row(
            "CNS, Section V-A.2",
            "by how much LDP has a larger error than LIP, P1 = 0.01, ε = 1",
            claimed,
            gap,
            "the advantage that grows as the prior is more skewed is that of a channel that is not"
            " private; the certified one shrinks to nothing",
        ),
        Row(
            "CNS, (24)",
            "error of the prior-free estimate, ε = 1, with p = e^ε/(e^ε + 1)",
            p * (1 - p) / (1 - 2 * p) ** 2,
            math.exp(epsilon) / math.expm1(epsilon) ** 2,
        ),
        Row(
            "CNS, Section I",
            "LDP ratios are bounded by this, ε = 1",
            epsilon,
            math.exp(epsilon),
            "Example 1 bounds the ratios of probabilities by ε and not by e^ε",
        ),
    ]
