"""Regions of an interval: notions that tell inputs apart by label, and bounds on their masses.

Cuts divide the interval into regions R_r, half-open from one cut to the next. Each cut is a node of
the region below it and one of the region above, so that a number is rounded to nodes of its own
region only. Let r(i) be the region of node i.

*Theorem 3 (regions).* Context-aware LDP with a budget E_rs for each pair of regions, Q(y|x) <=
e**E_rs Q(y|x') for x in R_r and x' in R_s, r = s included; so high-low and block-structured LDP.

1. If the node channel satisfies Q_i <= e**E_(r(i) r(j)) Q_j for all nodes, Q(.|x) satisfies the
   notion on the interval.
2. If K satisfies it on the interval, the averages K_i = (1/P_i) integral of w_i K dmu satisfy it on
   the nodes.

Proof. Q(.|x) and Q(.|x') are mixtures of rows of nodes of R_r and of R_s, and K_i and K_j are
mixtures of rows K(.|x) of x in R_(r(i)) and K(.|x') of x' in R_(r(j)); a bound on a ratio is linear
in its two rows. Without mass P_i, K_i is K(.|x) for an x of the region as near t_i as one likes: a
node at the upper end of a region is no input itself.

*Theorem 4 (bounded priors).* Let S be a set of laws p of the region, and let the law within each
region be that of mu. The laws of X are mu_p = Sum_r p_r mu(.|R_r), p in S. The law of the node
under mu_p is Sum_r p_r pi_r, where pi_r is the law of the node given the region, and the averages
K_i are the same for all p, as w_i vanishes outside r(i). So Theorem 1 of the package holds for each
mu_p: bounded-prior LIP on the interval is that on the nodes, for the laws of the node under S. S
may be replaced by its extreme points: the law of the output is linear in p. For a box, or a ball in
total variation, these are what the greedy rule of `prior_sets` finds for one of the orders of the
regions (a linear function on S is largest where the rule for the order of its values ends).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

from mechdesign.certify.fixed_point import total
from mechdesign.certify.privacy.check import blocks_of, places_of
from mechdesign.certify.privacy.prior_sets import prior_bounds
from mechdesign.certify.problem import Statement, statement_of
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["MASSES", "check_cuts", "on_nodes", "region_labels", "regions_of"]

MASSES = "bounded-prior-lip"
"""The notion that is about laws of the region."""

MOST_ORDERED = 6
"""Regions of a box or a ball of laws, at most: all their orders are tried."""


def check_cuts(nodes: Sequence[Fraction], cuts: Sequence[Fraction]) -> None:
    """Raise unless nodes rise, but for those at cuts, which come twice.

    Raises
    ------
    CertificateError
        If they do not.
    """
    twice = [low for low, high in pairwise(nodes) if low == high]
    if any(low > high for low, high in pairwise(nodes)) or twice != list(cuts):
        raise CertificateError("the points do not rise, or not just the cuts come twice")
    if len(set(twice)) < len(twice):  # K has no row in an empty region, and Theorem 3.2 needs one
        raise CertificateError("the points have a cut twice: the region between has no number")
    if nodes[0] in twice or nodes[-1] in twice:
        raise CertificateError("a cut is at an end of the points")


def regions_of(nodes: Sequence[Fraction]) -> list[int]:
    """Return the number of the region of each node."""
    found = [0]
    for low, high in pairwise(nodes):
        found.append(found[-1] + (low == high))
    return found


def region_labels(ends: Sequence[str], cuts: Sequence[str]) -> list[str]:
    """Return the regions as text, as a file writes the numbers: ``"[0, 18)"``."""
    low, high = ends
    between = list(pairwise([low, *cuts, high]))
    found = [f"[{start}, {end})" for start, end in between]
    if low == "-inf":
        found[0] = "(" + found[0][1:]
    if high != "inf":
        found[-1] = found[-1][:-1] + "]"
    return found


def on_nodes(
    table: dict[str, Any], labels: list[str], regions: list[int], prior: list[Fraction]
) -> dict[str, Any]:
    """Return the table of a notion about regions as one about nodes, which are counted from 0.

    Parameters
    ----------
    table
        The notion. One that names no regions is returned as it is.
    labels
        The regions.
    regions
        The number of the region of each node.
    prior
        The law of the node.

    Raises
    ------
    CertificateError
        If it is not about these regions.
    """
    notion = table["notion"]
    if notion not in (MASSES, "high-low", "block", "context-aware"):
        return table
    masses = [
        total([p for p, of in zip(prior, regions, strict=True) if of == r])
        for r in range(len(labels))
    ]
    statement = statement_of(
        {
            "domain": {"values": labels},
            "prior": masses,
            "privacy": [table],
            "utility": {"objective": "hamming", "worst_case": False},
            "outputs": labels,
        }
    )
    if notion == "high-low":
        protected = places_of(statement, table["sensitive"])
        return {**table, "sensitive": [i for i, r in enumerate(regions) if r in protected]}
    if notion == "block":
        marks = blocks_of(statement, table)
        kept = dict.fromkeys(marks)
        own = [[i for i, r in enumerate(regions) if marks[r] == mark] for mark in kept]
        return {**table, "blocks": own}
    if notion == "context-aware":
        matrix = table["matrix"]
        if {len(labels), *map(len, matrix)} != {len(matrix)}:
            raise CertificateError("the matrix of a notion has not one row for each region")
        spend(len(regions) ** 2, "bounds on all pairs of nodes")
        return {**table, "matrix": [[matrix[r][s] for s in regions] for r in regions]}
    if not all(masses):
        raise CertificateError("a region has no mass, and so no law within it")
    within = [p / masses[r] for p, r in zip(prior, regions, strict=True)]
    spread = []
    for member in _extreme(statement, table):
        spend(10 * len(regions), "priors of the nodes")
        spread.append([member[r] * share for r, share in zip(regions, within, strict=True)])
    return {"notion": MASSES, "epsilon": table["epsilon"], "priors": spread}


def _extreme(statement: Statement, table: dict[str, Any]) -> list[tuple[Fraction, ...]]:
    """Return laws of the region whose mixtures are all those of a notion."""
    listed, box, ball = prior_bounds(statement, table)
    k = len(statement.labels)
    if box is None and ball is None:
        return list(map(tuple, listed))
    if k > MOST_ORDERED:
        raise CertificateError(f"expected at most {MOST_ORDERED} regions of a box or a ball")
    found: dict[tuple[Fraction, ...], None] = {}
    for order in permutations(range(k)):
        if box is not None:
            weights, left = list(box[0]), 1 - sum(box[0])
            for x in order:
                step = min(box[1][x] - weights[x], left)
                weights[x] += step
                left -= step
        elif ball is not None:
            weights, left = list(ball[0]), ball[1]
            for x in order[:0:-1]:
                step = min(weights[x], left)
                weights[x] -= step
                weights[order[0]] += step
                left -= step
        found[tuple(weights)] = None
    return list(found)
