"""Representatives of the inputs, the program on them, and the bound that it proves.

With E the exponents of the notions' bounds on ratios, q_x <= e**E[x, z] q_z, an input x counts for
its representative r with the share s_x = e**-E[r, x], since q_x >= s_x q_r. So the program of the
representatives, with the costs Sum_x s_x P_x D[x, y] of the inputs that each represents, bounds the
loss from below (:mod:`mechdesign.kernel.relaxations.restrict`).

Representatives are chosen greedily, each to increase the sum of the shares most, weighted by the
prior and a small uniform part, since the rows of rare inputs are restricted too. The sum is
submodular, so the increase by an input never grows, and most increases need not be recomputed
(Minoux 1978).

The program of representatives is solved with some outputs only, for its potentials u. A linear
program on one column then finds multipliers of every output y, including the omitted ones,

    minimize (C_y - u) . q   over q in the cone with Sum_i q_i <= 1,

whose multipliers w leave C_y + w (e**-a left - right) below u by at most its optimum. This is near
0 if every output is close to one in the program: on a city of 64 x 64 cells, 300 outputs of 4,096
were enough for 99 percent of the bound. The multipliers are those of a vertex, so at most as many
are positive as there are representatives.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.evidence.rows import spared
from mechdesign.notions.rows.cone import Cone
from mechdesign.notions.rows.row import Multipliers
from mechdesign.search.cones.proofs import RepresentativesProof
from mechdesign.search.limits import Limits
from mechdesign.search.presolve.reductions import ConicProgram, reduced_costs

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


ACCURATE = 1e-2
"""The gap of a program on representatives: the bound is not more accurate anyway."""

FIRST, GROWTH, MOST = 60, 2.6, 600
"""Representatives in the first round, their growth factor per round, and their number in the last
round at most: then their rows and factors fill a gigabyte."""

POWER, LEAST_GROWTH, SHARE = 3.2, 1.15, 0.75
"""The exponent of the time of a round in the number of representatives, the least growth worth
another round, and the largest expected time of a round as a share of the time left: a round that
the limit ends proves less than the previous one."""


@dataclass(frozen=True)
class CoarseBound:
    """A bound with its evidence.

    Attributes
    ----------
    value
        The bound, in floating point.
    proof
        The evidence.
    weights
        ``(n_outputs,)``: the use of an output by the program, or the excess of its multipliers, as
        a share of the bound.
    cells
        The rectangles of outputs, on a lattice.
    """

    value: float
    proof: RepresentativesProof
    weights: FloatArray
    cells: tuple[tuple[int, int, int, int], ...] = ()


def first_outputs(loss: FloatArray, inputs: IntArray) -> IntArray:
    """Return the best output for each of some inputs."""
    return np.unique(loss[inputs].argmin(axis=1))


def coarse_bound(
    program: CoarseProgram, costs: FloatArray, outputs: IntArray, limits: Limits
) -> CoarseBound:
    """Solve the program of representatives with some outputs, and bound it with all.

    ``costs``, ``(n, n_outputs)``, are those of the representatives.
    """
    from mechdesign.search.interior.solve import by_interior  # import HiGHS
    from mechdesign.search.lp.linear_program import by_highs
    from mechdesign.search.lp.lp_pricer import LPPricer

    unit, cone, part = float(costs.max()) or 1.0, program.cone(), limits.part()
    costs, part.gap = costs / unit, max(limits.gap, ACCURATE)
    small = ConicProgram(cone, costs[:, outputs])
    try:
        answer = by_interior(small, part)
    except UnsupportedError:
        answer = by_highs(small, part)
    potentials = reduced_costs(small, answer.duals).min(axis=1)
    pricing, whole = LPPricer(cone, at_most=True), ConicProgram(cone, costs)
    priced = pricing.price(costs - potentials[:, None], limits.expired)
    duals = pricing.duals(priced.multipliers)
    costs = reduced_costs(whole, duals)
    value = float(costs.min(axis=1).sum())
    spare = spared(unit * value, -math.inf, limits.gap)
    stands = tuple(program.stands.tolist())
    proof = RepresentativesProof(stands, program.on_inputs(duals, unit), spare)
    weights = np.maximum(potentials[:, None] - costs, 0.0).sum(axis=0) / max(value, 1e-9)
    weights[outputs] += answer.matrix.mean(axis=0)
    return CoarseBound(unit * value, proof, weights)


def refined(
    bound: Callable[[int], tuple[CoarseBound, bool]],
    most: int,
    value: float,
    limits: Limits,
    held: int = 1,
) -> Iterator[CoarseBound]:
    """Yield increasing bounds, from more and more representatives, until the time is over.

    ``bound`` returns one for a number of representatives, at most ``most``, and whether it is the
    last for it; the first number is kept for ``held`` rounds. ``value`` is for progress reports.
    """
    most, best, rounds = min(MOST, most), -math.inf, 0
    count = min(FIRST, most)
    while True:
        before = limits.elapsed
        try:
            found, is_last = bound(count)
        except SolverError:
            return
        rounds += 1
        ended = limits.report(rounds, value, max(best, found.value))
        if found.value > best:
            best = found.value
            yield found
        if ended or (count >= most and is_last):
            return
        taken = max(limits.elapsed - before, 1e-9)
        growth = min(GROWTH, (SHARE * limits.left / taken) ** (1 / POWER))
        if growth < LEAST_GROWTH:
            limits.ended = f"the time limit of {limits.seconds:g} s is too near for more inputs"
            return
        if rounds >= held:
            count = min(round(growth * count), most)
