"""Randomized response on bins of the inputs, for LDP, and the facility location that finds them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.closed_forms.base import (
    ClosedForm,
    Decided,
    Formula,
    Optimum,
    name_outputs,
)
from mechdesign.domain import Label
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.generators import Constant, Ratio
from mechdesign.kernel.linearizations import Costs
from mechdesign.kernel.objectives import Loss
from mechdesign.kernel.oracles import OneBudget
from mechdesign.kernel.packed import Numbers
from mechdesign.notions import LDP, BlockLDP
from mechdesign.problem import Problem
from mechdesign.utilities import Divergence

SAME = 1e-12
"""Losses that differ by less than this share of the largest count as equal."""

CHUNK = 1 << 22
"""Number of losses sorted at a time."""


def are_in_line(loss: FloatArray) -> bool:
    """Return whether for every client the sites up to any loss form an interval.

    This holds if losses never increase and then decrease, from the first site to the last.

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

    ``place`` are the right ends of their intervals, short ones first, times the number of sites,
    plus the left ends; ``cost`` is the cost of missing each.
    """

    clients: slice
    nearest: FloatArray
    place: IntArray
    cost: FloatArray


class Sites:
    """Sites in a row and the clients that they serve.

    Sites are in a row, clients x have masses P_x and losses D(x, y), and for every client and every
    d the sites of loss at most d form an interval. With a cost f_y >= 0 for each open site, the
    problem is

        min over sets S of sites of   Sum_{y in S} f_y + Sum_x P_x min over y in S of D(x, y).

    **Intervals.** Let client x have the losses d_1 <= d_2 <= ... A set S costs P_x d_1, plus P_x
    (d_{t+1} - d_t) for each t for which no site of loss at most d_t is open. So the problem is to
    hit intervals of sites or to pay for them, and only the total cost of the intervals with the
    same ends matters. An interval is missed if it lies between two neighbors in S, so a shortest
    path over the sites finds S.

    **Dual.** The matrix of intervals and sites has consecutive ones in its rows. It is totally
    unimodular, so the linear program has the same value as the problem: the largest sum of payments
    0 <= mu <= cost of the intervals such that no site y gets more than f_y from the intervals that
    contain it. In the order of right ends, the greedy solution lets each interval pay as much as is
    left (Hoffman, Kolen and Sakarovitch 1985: there is no submatrix with rows 1 1 and 1 0). All
    intervals with one right end r are processed together. Let N(l) be the minimum of the amounts
    left at the sites l .. r, and C(l) the cost of those intervals that begin at l or before. With
    longer intervals first, they pay

        F(l) = min(C(l), min over z <= l of  C(l) - C(z) + N(z))    in total, which l receives.

    A client pays P_x v_x = P_x d_1 plus its share of the payments of its intervals; paying for
    short ones first can only give less to any site, so Sum_x P_x max(0, v_x - D(x, y)) <= f_y.

    Losses are ``(n_clients, n_sites)`` numbers >= 0, the sites in their order.

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
        """Return the best set of open sites, without useless ones."""
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


class BinaryMechanism(ClosedForm):
    """Report which mixture gives the input more weight, with odds e**eps.

    The total variation between the laws a and b of the report is (a - b)(S) for a set S of reports.
    The column w of S, Pr(Y in S | x), is private, and so is 1 - w: with t the least of w and 1 - u
    the least of 1 - w, where u is the largest of w, u <= e**eps t and 1 - t <= e**eps (1 - u). So
    u - t <= (e**eps - 1) / (e**eps + 1), and

        TV  =  (first - second) . w  <=  (u - t) TV(first, second),

    which the two columns of this mechanism attain. Under block-structured LDP the same holds for
    each block, if both laws have the same probability in it.

    Source: Kairouz, Oh and Viswanath 2014, for LDP; ours for blocks.
    """

    name = "binary mechanism"
    source = "Kairouz, Oh and Viswanath 2014"

    def decide(self, problem: Problem) -> Decided:
        """Require a budget in blocks, the total variation, and equal block masses of both laws."""
        utility, budget = problem.utility, _budget(problem)
        is_linear = isinstance(problem.compiled.statement.objective, Loss)
        if budget is None or not (isinstance(utility, Divergence) and is_linear):
            return None
        first, second = utility.weights(problem.domain)
        surplus, blocks = dict[int, Fraction](), dict[int, list[int]]()
        for x, block in enumerate(budget.block or [0] * len(first)):
            surplus[block] = surplus.get(block, Fraction(0)) + first[x] - second[x]
            blocks.setdefault(block, []).append(x)
        if any(surplus.values()):
            return "optimal only where the two laws have the same probability in every block"
        truth = 1 / (1 + math.exp(-budget.exponent))
        more = np.array([a > b for a, b in zip(first, second, strict=True)])
        yes = np.where(more, truth, 1 - truth)
        # -tanh(epsilon / 2) |a - b| / 2 at each input
        share = math.tanh(float(budget.exponent) / 2) / 2
        pairs = zip(first, second, strict=True)
        prices = Numbers([-share * abs(float(a - b)) for a, b in pairs])
        oracle = OneBudget(tuple(map(tuple, blocks.values())) if len(blocks) > 1 else None)
        return Optimum(
            "under LDP one bit separates two laws as well as any report",
            lambda: Formula(np.column_stack([yes, 1 - yes]), name_outputs(problem, 2)),
            lambda: Certificate(Costs(), oracle, (), (), prices),
        )


def _budget(problem: Problem) -> Constant | None:
    """Return the budget that bounds all ratios in blocks, if it is the only requirement."""
    notion = problem.sole_notion(LDP) or problem.sole_notion(BlockLDP)
    if notion is None:
        return None
    (part,) = problem.compiled.statement.cone
    exponents = part.exponents if isinstance(part, Ratio) else None
    return exponents if isinstance(exponents, Constant) else None


MOST_OUTPUTS = 4_000
"""Beyond this, tables with a row and a column for each output exceed a gigabyte."""

MOST_ROUNDS = 100
"""The largest number of rounds of Newton's method; about four are needed."""


class ResponseOnBins(ClosedForm):
    """Report the bin of the input with odds e**eps against each other bin.

        Q[x, y] = e**eps / (e**eps + m - 1) for the best of m outputs for x, else 1 / (...)

    Optimal for an expected loss under LDP if the outputs have an order in which, for every input x
    and every d, those of loss D(x, y) <= d form an interval: for distances on a line, any loss that
    increases on both sides of the best output, and the Hamming loss, for which the m inputs of the
    largest prior are distinguished. The accuracy of the best guess is 1 minus that loss.

    *Proof.* Let E = e**eps, and w_y = Sum_x P_x D(x, y) the loss of the constant output y. Under
    LDP a column q of least entry t satisfies c . q >= t Sum_x (c_x + (E - 1) min(c_x, 0)). So
    prices u prove the bound Sum_x u_x if this is >= 0 for c_x = P_x D(x, y) - u_x and every output
    y. If they sum to L, and u_x = P_x v_x, that is

        Sum_x P_x max(0, v_x - D(x, y))  <=  f_y = (w_y - L) / (E - 1)        for every output y:

    v is feasible for the dual of facility location with the costs f_y, which has the same value
    Z(L) as the best set S of outputs (see :class:`Sites`). The
    response on a set S of m outputs, with each input in the bin of its best output, has the loss

        (Sum_{y in S} w_y + (E - 1) Sum_x P_x min over S of D(x, y)) / (E + m - 1),

    which is at most L exactly if S costs at most L at the costs f. Let L be the least loss of a
    response. Then Z(L) = L, its set S is optimal, and prices that sum to Z(L) prove it optimal.
    Newton's method finds L: each round takes the best set at the previous costs.

    Source: Ghazi et al. 2023 (ICLR, regression with label differential privacy: losses that
    increase on both sides on a line; the bins by dynamic programming), Ghazi et al. 2021
    (RRWithPrior: the Hamming loss). The condition, the proof by prices and their computation are
    ours.
    """

    name = "randomized response on bins"
    source = "Ghazi et al. 2023; for the Hamming loss Ghazi et al. 2021"

    def decide(self, problem: Problem) -> Decided:
        """Require LDP alone, and an expected loss whose outputs are in line."""
        notion, utility = problem.sole_notion(LDP), problem.utility.linear_form
        if notion is None or utility is None or utility.worst_case:
            return None
        shrink = math.exp(-notion.epsilon)
        if not 0 < shrink < 1:
            return None
        outputs = problem.guesses
        if len(outputs) > MOST_OUTPUTS:
            return f"stated only for up to {MOST_OUTPUTS} outputs"
        order = _order(outputs)
        loss = utility.loss(problem.domain, outputs).array[:, order]
        if not are_in_line(loss):
            return "optimal only where the loss of every input falls, then rises along the outputs"

        def formula() -> Formula:
            found = _response(problem, loss, order, notion.epsilon)
            m = len(found.outputs)
            own = found.bin_of[:, None] == np.arange(m)
            matrix = np.where(own, 1.0, shrink) / (1 + (m - 1) * shrink)
            if problem.expected_loss is None:
                return Formula(matrix, name_outputs(problem, m))
            return Formula(matrix, tuple(outputs[y] for y in found.outputs))

        return Optimum(
            "LDP, and along the outputs the loss of every input first falls and then rises",
            formula,
            prices=lambda: _response(problem, loss, order, notion.epsilon).prices,
        )


class _Response(NamedTuple):
    """The best response on bins: its outputs, the bin of each input, and prices of the inputs."""

    outputs: tuple[int, ...]
    bin_of: IntArray
    prices: FloatArray


def _order(outputs: Sequence[Label]) -> IntArray:
    """Return the outputs in the order of their numbers, or as listed."""
    numbers = [label for label in outputs if isinstance(label, int | float)]
    if len(numbers) < len(outputs):
        return np.arange(len(outputs))
    return np.array(sorted(range(len(numbers)), key=numbers.__getitem__), dtype=np.intp)


def _response(problem: Problem, loss: FloatArray, order: IntArray, epsilon: Fraction) -> _Response:
    """Find the least loss by Newton's method, for losses with the outputs in order."""
    sites = Sites(loss, problem.prior.array)
    shrink, rest = math.exp(-epsilon), -math.expm1(-epsilon)
    alone = sites.mass @ sites.loss
    chosen, least = np.array([int(np.argmin(alone))]), float(alone.min())
    for _ in range(MOST_ROUNDS):
        trial = sites.best((alone - least) * (shrink / rest))
        near = float(sites.mass @ sites.loss[:, trial].min(axis=1))
        mean = (shrink * float(alone[trial].sum()) + rest * near) / (1 + (len(trial) - 1) * shrink)
        if mean >= least:
            break
        chosen, least = trial, mean
    prices = sites.payments(np.maximum((alone - least) * (shrink / rest), 0.0))
    bin_of = sites.loss[:, chosen].argmin(axis=1)
    return _Response(tuple(order[chosen].tolist()), bin_of, prices)
