"""Unbiased readings of a number on an interval: their variance, and a bound on that of all.

A kernel K(y|x) with readings v of its outputs is unbiased if Sum_y K(y|x) v_y = x for every x of
the interval. Its loss is the variance S(x) - x**2, S(x) = Sum_y K(y|x) v_y**2, on average over mu
or in the worst case over x.

*Theorem 5 (value).* Let the readings of the node channel be unbiased at the nodes. Then those of
the kernel Q(y|x) = Sum_i w_i(x) Q_i(y) are unbiased on the interval, and S is linear between nodes.
So in a cell [t, t'] the variance at x = t + u h is

    (1-u) V + u V' + u (1-u) h**2,    V = S(t) - t**2,

a parabola whose maximum is a formula; it is at most max(V, V') + h**2 / 4. On average over mu the
variance is that of the nodes at the law P, plus the mean of (x - t)(t' - x).
Proof. Sum_i w_i(x) t_i = x. S is linear as the w_i are, and
(1-u) t**2 + u t'**2 = x**2 + u (1-u) h**2.

*Theorem 6 (bound).* Let K be private and unbiased on the interval, with readings v.

1. Worst case, with notions that do not depend on mu: the rows K(.|t_i) are a private channel on the
   nodes, and unbiased there, so that V* >= V_nodes, the optimum at the nodes for the values t_i. At
   a cut, which is an end of two regions, one of the rows is K(.|x) for an x near t_i; the bound of
   each dual is continuous in the values, so that it holds for t_i.
2. On average: the averages K_i = (1/P_i) integral of w_i K dmu are private (Theorem 1) and unbiased
   for the centers c_i = (1/P_i) integral of w_i x dmu, and Sum_i P_i S_i is the mean of S. With the
   optimum V_c of the nodes at the law P for the values c_i, the loss of K is at least
   V_c + Sum_i P_i c_i**2 - E X**2.
3. Worst case, with a notion that depends on mu: S - x**2 <= V* implies
   S_i - c_i**2 <= V* + (1/P_i) integral of w_i x**2 dmu - c_i**2. In each cell x**2 is at most its
   chord, (t + t') x - t t', whose integral with w_i the first two moments of the cell tell. Hence
   V* >= V_c - max_i of the last two terms, where V_c is the optimum in the worst case.

Together, in the worst case under LDP: V_nodes <= V* <= V_nodes + h**2 / 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from mechdesign.certify.bounds.readings import Readings, read_readings, variance
from mechdesign.certify.continuous.law import Continuous
from mechdesign.certify.fixed_point import product_steps, total
from mechdesign.certify.problem import Statement, statement_of
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = [
    "READ",
    "centers",
    "highest",
    "read_value",
    "shift_of_averages",
    "shift_of_mean",
    "stated_readings",
]

READ = "unbiased-variance"


def node_readings(stated: Continuous) -> Statement:
    """Return the problem of reading the nodes without bias."""
    values, worst = list(stated.nodes), stated.utility["worst_case"]
    utility = {"objective": READ, "values": values, "worst_case": worst}
    domain = {"values": list(range(len(values)))}
    nothing = [{"notion": "ldp", "epsilon": 0}]
    problem = {"domain": domain, "prior": stated.prior, "privacy": nothing, "utility": utility}
    return statement_of({**problem, "outputs": None})


def stated_readings(
    stated: Continuous, channel: dict[str, Any], columns: Sequence[Sequence[int]], bits: int
) -> Readings | None:
    """Return the readings that a file states; None for another objective.

    Raises
    ------
    CertificateError
        If they are not unbiased at the nodes, or missing.
    """
    if stated.utility["objective"] == READ:
        return read_readings(node_readings(stated), channel, columns, bits)
    if "readings" in channel:
        raise CertificateError(f"exact readings belong to the objective {READ} only")
    return None


def read_value(
    stated: Continuous, columns: Sequence[Sequence[int]], bits: int, readings: Readings
) -> Fraction:
    """Return the variance of unbiased readings on the interval (Theorem 5), exact."""
    if not stated.utility["worst_case"]:
        return variance(node_readings(stated), columns, bits, readings) + stated.variance
    length = product_steps(readings.bottom, *readings.tops)
    spend(8 * length * len(columns) * len(stated.nodes), "the variance of the readings")
    squares, whole = [top * top for top in readings.tops], readings.bottom**2 << bits
    second = [
        Fraction(sum(q * s for q, s in zip(row, squares, strict=True)), whole)
        for row in zip(*columns, strict=True)
    ]
    ends = zip(second, second[1:], stated.nodes, stated.nodes[1:], strict=False)
    return max(
        highest(low - t * t, low + high - 2 * t * to, high - to * to)
        for low, high, t, to in ends
        if t < to
    )


def highest(low: Fraction, across: Fraction, high: Fraction) -> Fraction:
    """Return the maximum of low (1-u)**2 + across u (1-u) + high u**2 for u from 0 to 1."""
    bend, rise = low + high - across, across - 2 * low
    ends = max(low, high)
    if bend >= 0 or not 0 < rise < -2 * bend:
        return ends
    return max(ends, low + rise * rise / (-4 * bend))


def centers(stated: Continuous) -> list[Fraction]:
    """Return the mean of x under the weight of each node.

    Raises
    ------
    CertificateError
        If a node has no mass.
    """
    if not all(stated.prior):
        raise CertificateError("a node without mass has no mean")
    return [mean / mass for mean, mass in zip(stated.means, stated.prior, strict=True)]


def shift_of_mean(stated: Continuous) -> Fraction:
    """Return E X**2 less the mean of the squares of the centers."""
    square = total([second for _, _, second in (*stated.cells, *stated.tails)])
    return square - total([p * c * c for p, c in zip(stated.prior, centers(stated), strict=True)])


def shift_of_averages(stated: Continuous) -> Fraction:
    """Return the largest variance of x under the weight of a node, or a little more."""
    squares = [t * t for t in stated.nodes]
    second = [Fraction(0)] * len(squares)
    for c, (left, both, right) in enumerate(stated.products):
        second[c] += left * squares[c] + both * squares[c + 1]
        second[c + 1] += both * squares[c] + right * squares[c + 1]
    rows = zip(second, stated.prior, centers(stated), strict=True)
    return max(square / mass - center * center for square, mass, center in rows)
