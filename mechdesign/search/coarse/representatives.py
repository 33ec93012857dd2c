"""Representatives of the inputs, and the program on them, which is a relaxation.

With E the exponents of the notions' bounds on ratios, q_x <= e**E[x, z] q_z, an input x counts for
its representative r with the share s_x = e**-E[r, x], since q_x >= s_x q_r. So the program of the
representatives, with the costs Sum_x s_x P_x D[x, y] of the inputs that each represents, bounds the
loss from below (:mod:`mechdesign.kernel.relaxations.restrict`).

Representatives are chosen greedily, each to increase the sum of the shares most, weighted by the
prior and a small uniform part, since the rows of rare inputs are restricted too. The sum is
submodular, so the increase by an input never grows, and most increases need not be recomputed
(Minoux 1978).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.notions.rows.cone import Cone
from mechdesign.notions.rows.row import Multipliers

ALIKE = 0.1
"""The share of the uniform part in the weights of inputs."""

STRETCH = 1.05
"""Pairs of representatives are dropped if a chain of others is longer by at most this factor: on a
city of 64 x 64 cells a tenth of the pairs remained, with a loss of one percent of the bound."""


class CoarseProgram:
    """Representatives of the inputs.

    Parameters
    ----------
    cone
        The cone on all inputs; families without bounds on ratios are ignored.
    E
        ``(size, size)``: its lengths.
    inputs
        The representatives, in increasing order.

    Attributes
    ----------
    stands
        ``(n_inputs,)``: the representative of each input.
    shares
        ``(n_representatives, n_inputs)``: s_x at the representative of x, else 0.
    """

    def __init__(self, cone: Cone, E: FloatArray, inputs: IntArray) -> None:
        lengths, every = E[inputs], np.arange(len(E))
        own = lengths.argmin(axis=0)
        own[inputs] = np.arange(len(inputs))
        self._take(cone, inputs, inputs, own, np.exp(-lengths[own, every]))

    def _take(
        self, cone: Cone, inputs: IntArray, names: IntArray, own: IntArray, shares: FloatArray
    ) -> None:
        """Set representatives, names, the representative of each input, and shares."""
        self._whole, self._inputs, self._names, self.stands = cone, inputs, names, names[own]
        places, shape = (own, np.arange(len(own))), (len(inputs), len(own))
        self.shares = sp.csr_array((shares, places), shape=shape)

    def cone(self) -> Cone:
        """Return the cone of the pairs of a spanner, slightly larger than that of all pairs."""
        families = [rows.restricted(self._inputs) for rows in self._whole.ratios.values()]
        E = np.array([rows.lengths() for rows in families])
        kept, place = spanner_pairs(E.min(axis=0)), E.argmin(axis=0)
        return Cone([rows.on_pairs(kept & (place == n)) for n, rows in enumerate(families)])

    def on_inputs(self, duals: Sequence[Multipliers], unit: float) -> list[Multipliers]:
        """Return multipliers of the cone's rows, times a unit, as those of the notions' rows."""
        names, notions = self._names, list(self._whole.ratios)
        return [
            replace(m, x=names[m.x], other=names[m.other], notion=notions[m.notion]).scaled(unit)
            for m in duals
        ]


def chosen(E: FloatArray, prior: FloatArray, counts: Sequence[int]) -> list[IntArray]:
    """Choose representatives for each of several increasing counts.

    Parameters
    ----------
    E
        ``(size, size)``: the lengths of the cone, which define the shares.
    prior
        ``(n_inputs,)``.
    counts
        The numbers of representatives; each set contains the previous one.

    Examples
    --------
    >>> from mechdesign import Domain, MetricPrivacy
    >>> cone = Cone([MetricPrivacy(1, "absolute").family(Domain.range(5))])
    >>> (two,) = chosen(cone.lengths(), np.array([0.1, 0.4, 0.1, 0.1, 0.3]), [2])
    >>> two.tolist(), CoarseProgram(cone, cone.lengths(), two).stands.tolist()
    ([1, 4], [1, 1, 1, 4, 4])
    """
    shares = np.exp(-E)
    weight = (1 - ALIKE) * prior + ALIKE / len(prior)
    covered, order = np.zeros(len(prior)), list[int]()
    heap = [(-gain, i) for i, gain in enumerate((shares @ weight).tolist())]
    heapq.heapify(heap)
    found = []
    for count in counts:
        while len(order) < min(count, len(prior)):
            _, i = heapq.heappop(heap)
            gain = float(weight @ np.maximum(shares[i] - covered, 0.0))
            if heap and -gain > heap[0][0]:
                heapq.heappush(heap, (-gain, i))
                continue
            order.append(i)
            np.maximum(covered, shares[i], out=covered)
        found.append(np.sort(np.array(order, dtype=np.intp)))
    return found


def spanner_pairs(E: FloatArray, stretch: float = STRETCH) -> BoolArray:
    """Return the pairs of a spanner with a stretch factor, ``(size, size)``.

    Pairs are added in increasing order of length, unless a chain of previous pairs is short enough
    (Althoefer et al. 1993, the greedy spanner).
    """
    size = len(E)
    kept = np.zeros((size, size), dtype=bool)
    paths = np.where(np.eye(size, dtype=bool), 0.0, np.inf)
    x, z = np.nonzero(np.isfinite(E) & ~np.eye(size, dtype=bool))
    for place in np.argsort(E[x, z], kind="stable").tolist():
        a, b = int(x[place]), int(z[place])
        length = float(E[a, b])
        if paths[a, b] > stretch * length:
            kept[a, b] = True
            np.minimum(paths, paths[:, a, None] + (length + paths[b]), out=paths)
    return kept
