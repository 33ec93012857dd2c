"""A lower bound on the error of estimates from the outputs of private kernels on an interval.

*Best estimate.* The integral of x K(y|x) is Sum_i P_i t_i K_i(y), as the interval ends at nodes, so
the error of the best estimate is that on the nodes minus the mean of v, the variance of the
rounding.

*Unbiased readings.* Let K be private and unbiased on the interval, with readings v.

1. Worst case, with notions that do not depend on mu: the rows K(.|t_i) are a private channel on the
   nodes, and unbiased there, so that V* >= V_nodes, the optimum at the nodes for the values t_i.
2. On average: the averages K_i are private and unbiased for the centers c_i = (1/P_i) integral of
   w_i x dmu, and Sum_i P_i S_i is the mean of S. With the optimum V_c of the nodes at the law P for
   the values c_i, the loss of K is at least V_c + Sum_i P_i c_i**2 - E X**2.
3. Worst case, with a notion that depends on mu: S - x**2 <= V* implies
   S_i - c_i**2 <= V* + (1/P_i) integral of w_i x**2 dmu - c_i**2. In each cell x**2 is at most its
   chord, (t + t') x - t t', whose integral with w_i the first two moments of the cell tell. Hence
   V* >= V_c - max_i of the last two terms, where V_c is the optimum in the worst case.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.names import Utility
from mechdesign.kernel.rounding.nodes import Rounded
from mechdesign.kernel.rounding.program import Program, program


def estimates(rounded: Rounded) -> Program:
    """Return the program for the best estimate."""
    utility = Utility("posterior-mean-squared-error", {"values": rounded.axes[0]})
    return program(rounded, rounded.variance, utility=utility)


def readings(rounded: Rounded, averages: bool, places: Sequence[float] | None) -> Program:
    """Return the program for unbiased readings."""
    (values,), prior, shift = rounded.axes, rounded.prior, Fraction(0)
    squares = [t * t for t in values]
    if averages or not rounded.worst_case:
        need(all(prior), "a node has no mass, so its mean is undefined")
        values = tuple(mean / mass for mean, mass in zip(rounded.means, prior, strict=True))
    if not rounded.worst_case:
        shift = rounded.square - sum(p * c * c for p, c in zip(prior, values, strict=True))
    elif averages:
        rows = zip(rounded.weighed(squares), prior, values, strict=True)
        shift = max(s / mass - center * center for s, mass, center in rows)
    utility = Utility("unbiased-variance", {"worst_case": rounded.worst_case, "values": values})
    return program(rounded, shift, utility=utility, inputs=places)
