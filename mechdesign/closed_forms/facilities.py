"""Facility location on a line and its dual, in a few array operations.

Sites are in a row, clients x have masses P_x and losses D(x, y), and for every client and every d
the sites of loss at most d form an interval. With a cost f_y >= 0 for each open site, the problem
is

    min over sets S of sites of   Sum_{y in S} f_y + Sum_x P_x min over y in S of D(x, y).

**Intervals.** Let client x have the losses d_1 <= d_2 <= ... A set S costs P_x d_1, plus P_x
(d_{t+1} - d_t) for each t for which no site of loss at most d_t is open. So the problem is to hit
intervals of sites or to pay for them, and only the total cost of the intervals with the same ends
matters. An interval is missed if it lies between two neighbors in S, so a shortest path over the
sites finds S.

**Dual.** The matrix of intervals and sites has consecutive ones in its rows. It is totally
unimodular, so the linear program has the same value as the problem: the largest sum of payments 0
<= mu <= cost of the intervals such that no site y gets more than f_y from the intervals that
contain it. In the order of right ends, the greedy solution lets each interval pay as much as is
left (Hoffman, Kolen and Sakarovitch 1985: there is no submatrix with rows 1 1 and 1 0). All
intervals with one right end r are processed together. Let N(l) be the minimum of the amounts left
at the sites l .. r, and C(l) the cost of those intervals that begin at l or before. With longer
intervals first, they pay

    F(l) = min(C(l), min over z <= l of  C(l) - C(z) + N(z))      in total, which site l receives.

A client pays P_x v_x = P_x d_1 plus its share of the payments of its intervals; paying for short
ones first can only give less to any site, so Sum_x P_x max(0, v_x - D(x, y)) <= f_y.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mechdesign._typing import FloatArray, IntArray

SAME = 1e-12
"""Losses that differ by less than this share of the largest count as equal."""

CHUNK = 1 << 22
"""Number of losses sorted at a time."""


def are_in_line(loss: FloatArray) -> bool:
    """Return whether for every client the sites up to any loss form an interval.

    This holds if losses never increase and then decrease, from the first site to the last.

    Parameters
    ----------
    loss
        ``(n_clients, n_sites)`` numbers >= 0, the sites in their order.

    Examples
    --------
    >>> are_in_line(np.array([[2.0, 1.0, 3.0]])), are_in_line(np.array([[1.0, 2.0, 1.0]]))
    (True, False)
    """
    same = SAME * float(loss.max(initial=0.0))
    step = max(1, CHUNK // max(1, loss.shape[1]))
    for first in range(0, len(loss), step):
        rise = np.diff(loss[first : first + step], axis=1)
        if (np.logical_or.accumulate(rise > same, axis=1) & (rise < -same)).any():
            return False
    return True


class _Part(NamedTuple):
    """A subset of the clients, and their intervals.

    Attributes
    ----------
    clients
        Their indices.
    nearest
        The least loss of each.
    place
        ``(n_clients, n_sites - 1)``: the right ends of their intervals, short ones first, times the
        number of sites, and the left ends.
    cost
        The cost of missing each interval.
    """

    clients: slice
    nearest: FloatArray
    place: IntArray
    cost: FloatArray


class Sites:
    """Sites in a row and the clients that they serve.

    Parameters
    ----------
    loss
        ``(n_clients, n_sites)`` numbers >= 0, the sites in their order.
    mass
        ``(n_clients,)`` numbers >= 0.

    Examples
    --------
    >>> places, opening = np.arange(5.0), np.array([3.0, 2.0, 3.0, 2.0, 3.0])
    >>> sites = Sites(np.abs(places[:, None] - places), np.ones(5))
    >>> sites.best(opening).tolist(), float(sites.payments(opening).sum())
    ([1, 3], 7.0)
    """

    def __init__(self, loss: FloatArray, mass: FloatArray) -> None:
        self.loss, self.mass, self.size = loss, mass, loss.shape[1]
        m = self.size
        cost = np.zeros(m * m)
        for part in self._parts():
            cost += np.bincount(part.place.ravel(), part.cost.ravel(), m * m)
        self._cost: FloatArray = cost.reshape(m, m)  # of all intervals, by right and left end

    def _parts(self) -> Iterator[_Part]:
        k, m = self.loss.shape
        same = SAME * float(self.loss.max(initial=0.0))
        step = max(1, CHUNK // m)
        for first in range(0, k, step):
            clients = slice(first, first + step)
            loss = self.loss[clients]
            order = np.argsort(loss, axis=1, kind="stable")
            rising = np.take_along_axis(loss, order, axis=1)
            place = np.maximum.accumulate(order, axis=1)[:, :-1] * m
            place += np.minimum.accumulate(order, axis=1)[:, :-1]
            rise = np.diff(rising, axis=1)
            rise[rise <= same] = 0.0
            yield _Part(clients, rising[:, 0], place, self.mass[clients, None] * rise)

    def best(self, opening: FloatArray) -> IntArray:
        """Return the best set of open sites, without useless ones.

        Parameters
        ----------
        opening
            ``(n_sites,)``: the cost of each open site, at least 0.
        """
        m = self.size
        # missed[a, b]: the cost of all intervals strictly between the sites a - 1 and b
        missed = np.zeros((m + 1, m + 1))
        missed[:m, 1:] = np.cumsum(np.cumsum(self._cost.T[::-1], axis=0)[::-1], axis=1)
        least, before = np.empty(m), np.zeros(m, dtype=np.intp)
        for y in range(m):
            costs = np.append(missed[0, y], least[:y] + missed[1 : y + 1, y])
            before[y] = np.argmin(costs)
            least[y] = costs[before[y]] + opening[y]
        last = int(np.argmin(least + missed[1:, m])) + 1
        found = []
        while last:
            found.append(last - 1)
            last = int(before[last - 1])
        sites = np.array(found[::-1])
        return np.asarray(sites[np.unique(self.loss[:, sites].argmin(axis=1))])

    def payments(self, opening: FloatArray) -> FloatArray:
        """Return P_x v_x for all clients: the optimum of the dual, for costs of open sites."""
        m = self.size
        left, paid = opening.copy(), np.zeros((m, m))
        cost = self._cost.copy()
        # S cannot miss the interval of all sites, for which any number of clients may pay
        whole = float(opening.max(initial=0.0)) + 1.0
        cost[-1, 0] += whole
        for right in range(m):
            due = cost[right, : right + 1]
            if not due.any():
                continue
            least = np.minimum.accumulate(left[right::-1])[::-1]
            total = np.cumsum(due)
            got = total + np.minimum(np.minimum.accumulate(least - total), 0.0)
            left[: right + 1] -= got
            paid[right, : right + 1] = np.diff(got, prepend=0.0)
        share = np.divide(paid, cost, out=np.zeros_like(paid), where=cost > 0).ravel()
        found: FloatArray = self.mass * (whole * share[-m] / self.mass.sum())
        for part in self._parts():
            own = self.mass[part.clients] * part.nearest
            found[part.clients] += own + (part.cost * share[part.place]).sum(axis=1)
        return found
