"""Numbers and schemes in the text of Acharya et al. 2020 (ICML).

Source: Acharya et al. 2020 (ICML): Theorem 2 and its two special cases; the schemes of Sections 5
and 6, whose l2 risk at the uniform distribution, with the best linear estimate from its reports,
stands beside the certified optimum. (The paper claims for them the right order, not the optimum.)
"""

from __future__ import annotations

import math

from benchmarks.papers.base import Row
from benchmarks.papers.optimum import best
from mechdesign import LDP, BlockLDP, ContextAwareLDP, HighLowLDP, L2Risk, MutualInformation, Prior
from mechdesign.accounting.hypothesis_testing import error_region
from mechdesign.mechanisms import HadamardResponse, Mechanism, around_sensitive, by_block
from mechdesign.notions import Notion

PAIRS = [[0, 1, 2, 3], [4, 5, 6, 7]]
SENSITIVE = [0, 1, 2, 3]


def rows() -> list[Row]:
    """Return the rows."""
    return [*theorem_2(), *region(), *sizes(), *schemes()]


def theorem_2() -> list[Row]:
    """Return the entries of the universal channel, as a certified design finds them."""
    found = []
    uniform = Prior.uniform(2)
    for name, there, back in (("Warner", 1.0, 1.0), ("Mangat", math.inf, 1.0), ("both", 0.5, 2.0)):
        notion = ContextAwareLDP([[0, there], [back, 0]])
        # the design's channel, its columns put in the order of the paper
        channel = best([1, 2], notion, MutualInformation(), uniform).channel
        columns = sorted(channel.matrix.T.tolist(), key=lambda q: q[0] - q[1], reverse=True)
        entries = published_entries(there, back)
        words = f"{name}: ε12 = {there:g}, ε21 = {back:g}"
        for x, y in ((0, 0), (1, 1)):
            quantity = f"Q*({x + 1}, {y + 1}), {words}"
            found.append(Row("ICML, Theorem 2", quantity, entries[x][y], columns[y][x]))
    return found


def published_entries(there: float, back: float) -> list[list[float]]:
    """Return (9): the first row belongs to input 1."""
    a, b = math.exp(-there), math.exp(back)
    whole = b - a
    return [[(b - 1) / whole, (1 - a) / whole], [a * (b - 1) / whole, b * (1 - a) / whole]]


def region() -> list[Row]:
    """Return the corner of Fig. 1."""
    corner = error_region(1.0).corners[1]
    return [
        Row("ICML, Fig. 1", "corner under LDP, 1/(1 + e^ε), ε = 1", 1 / (1 + math.e), corner[0])
    ]


def sizes() -> list[Row]:
    """Return the counts of Section 7."""
    box = [(50 - 25) / 0.2, (130 - 60) / 0.2]
    return [
        Row("ICML, Section 7", "cells of 0.2 × 0.2 degrees in the box", "43,750", math.prod(box)),
    ]


def schemes() -> list[Row]:
    """Return the risk of the three schemes beside the optimum."""
    blocks, high_low = BlockLDP(1, blocks=PAIRS), HighLowLDP(1, sensitive=SENSITIVE)
    cases: list[tuple[str, Mechanism, Notion, int]] = [
        ("LDP, k = 4", HadamardResponse(4, 1), LDP(1), 4),
        ("blocks of 4, k = 8", by_block(HadamardResponse, 8, blocks), blocks, 8),
        (
            "high-low, s = 4, k = 8",
            around_sensitive(HadamardResponse, 8, high_low),
            high_low,
            8,
        ),
    ]
    found = []
    for words, mechanism, notion, k in cases:
        prior = Prior.uniform(k)
        risk = float(L2Risk().value(mechanism.dense(), prior))
        optimum = float(best(range(k), notion, L2Risk(), prior).value)
        why = "Hadamard codes have the right order and not the constant: subset selection is better"
        quantity = f"n times the squared error, Hadamard scheme, {words}, ε = 1"
        found.append(Row("ICML, Sections 5 and 6", quantity, risk, optimum, why))
    return found
