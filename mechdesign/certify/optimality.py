"""How good can any private channel be? Rigorous lower bounds on the loss, in rationals.

Two kinds. From *dual weights*: weights w >= 0 on rows of the notion make v . q <= 0 for every
private column q, so that the loss is at least its value plus any such v, whose minimum over rows
on simplices is Sum_x min_y (cost[x][y] + v_y[x]). From *theorems*: five arguments, each a few lines
of proof below, that need no data from the solver. Where a real number enters, the bound uses the
rational bound on it that keeps the result below the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from mechdesign.certify.privacy import PriorBounds, lift_limits, prior_bounds, ratio_limits
from mechdesign.certify.statement import Statement, number
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower, exp_upper

__all__ = [
    "POSTERIOR",
    "THEOREMS",
    "decoder",
    "decoder_bound",
    "dual_bound",
    "nothing_constrained",
    "value",
]

ZERO, ONE = Fraction(0), Fraction(1)
SCALE = 1 << 220
"""Duals are added up as integers over this."""

POSTERIOR = "posterior-mean-squared-error"


def value(
    statement: Statement, columns: Sequence[Sequence[int]], used: list[int], bits: int
) -> Fraction:
    """Return the loss of an exact channel, rounded up where the loss is irrational.

    ``used[y]`` is the place of output y among the outputs that were allowed.
    """
    prior, denominator = statement.prior, 1 << bits
    if statement.utility["objective"] == POSTERIOR:
        f, (spread, _) = _values(statement), _moments(statement)
        for q in columns:
            law = sum((p * v for p, v in zip(prior, q, strict=True)), ZERO)
            moment = sum((p * a * v for p, a, v in zip(prior, f, q, strict=True)), ZERO)
            spread -= moment * moment / (law * denominator) if law else ZERO
        return spread
    losses = statement.losses
    per_input = []
    for x in range(len(prior)):
        total = sum((losses[x][used[y]][1] * q[x] for y, q in enumerate(columns)), ZERO)
        per_input.append(total / denominator)
    if statement.utility.get("worst_case"):
        return max(per_input)
    return sum((p * loss for p, loss in zip(prior, per_input, strict=True)), ZERO)


def decoder(statement: Statement, columns: Sequence[Sequence[int]]) -> list[Fraction]:
    """Return E[f(X) | Y = y] for each output; the mean of f(X) where y never occurs."""
    f, (_, mean) = _values(statement), _moments(statement)
    found = []
    for q in columns:
        law = sum((p * v for p, v in zip(statement.prior, q, strict=True)), ZERO)
        moment = sum((p * a * v for p, a, v in zip(statement.prior, f, q, strict=True)), ZERO)
        found.append(moment / law if law else mean)
    return found


def dual_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound that dual weights prove; negative weights are refused.

    ``dual["weights"]``: for a worst case over x, weights on the inputs that sum to 1, since the
    worst is at least any mean. ``dual["rows"]``: weights on rows of the notions, by output.
    """
    losses = statement.losses
    if statement.utility.get("worst_case"):
        mass = [number(w) for w in dual["weights"]]
        if min(mass) < 0 or sum(mass) <= 0 or len(mass) != len(statement.prior):
            raise CertificateError("the dual weights on the inputs are no distribution")
        mass = [w / sum(mass) for w in mass]
    else:
        mass = statement.prior
    reduced = [[_floor(mass[x] * loss[0]) for loss in losses[x]] for x in range(len(losses))]
    for block in dual["rows"]:
        _add_rows(statement, block, reduced)
    return Fraction(sum(min(row) for row in reduced), SCALE)


def decoder_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound on a posterior-mean squared error that weights at some decoders prove.

    The error is Sum_y Sum_x P_x Q[x, y] (f_x - s_y)**2 with s_y the posterior mean, which lies
    between the least and the largest f. With weights at decoders s_0 < ... < s_n around all of f,
    let c_x(s) be the reduced cost of input x, P_x (f_x - s)**2 + v_x(s), where v is interpolated
    between neighbours: v(s) . q <= 0 for private q at every s. As (f_x - s)**2 is its chord less
    (s - s_i)(s_{i+1} - s), c_x is, at s = s_i + t d,

        (1 - t) c_x(s_i) + t c_x(s_{i+1}) - P_x d**2 t (1 - t),

    whose minimum m_x over all t and i is a formula; and the error is at least Sum_x m_x.
    """
    f, prior = _values(statement), statement.prior
    decoders = [number(s) for s in dual["decoders"]]
    rising = all(a < b for a, b in pairwise(decoders))
    if len(decoders) < 2 or not rising or decoders[0] > min(f) or decoders[-1] < max(f):
        raise CertificateError("the decoders do not rise from the least value to the largest")
    reduced = [[_floor(p * (a - s) ** 2) for s in decoders] for p, a in zip(prior, f, strict=True)]
    for block in dual["rows"]:
        _add_rows(statement, block, reduced)
    total = 0
    for p, row in zip(prior, reduced, strict=True):
        bends = [-_floor(-p * (b - a) ** 2) for a, b in pairwise(decoders)]
        total += min(
            _least_on_gap(a, b, bend) for (a, b), bend in zip(pairwise(row), bends, strict=True)
        )
    return Fraction(total, SCALE)


def _least_on_gap(a: int, b: int, bend: int) -> int:
    """Return the least of (1 - t) a + t b - bend t (1 - t) over t in [0, 1], rounded down."""
    if abs(b - a) >= bend:
        return min(a, b)
    return ((2 * (a + b) - bend) * bend - (b - a) ** 2) // (4 * bend)


def _floor(exact: Fraction) -> int:
    return exact.numerator * SCALE // exact.denominator


def _add_rows(statement: Statement, block: dict[str, Any], reduced: list[list[int]]) -> None:
    """Add w * (e**-a left - right) of each row to the reduced costs, rounded down.

    A row says e**-a * (left . q) <= right . q; see `privacy` for which rows there are.
    """
    table = statement.privacy[block["notion"]]
    weights = [number(w) for w in block["weight"]]
    if min(weights, default=ZERO) < 0:
        raise CertificateError("a dual weight is negative")
    places = list(zip(block["output"], block["x"], block["other"], weights, strict=True))
    k, m = len(reduced), len(reduced[0])
    if not all(0 <= x < k and 0 <= y < m and other >= 0 for y, x, other, _ in places):
        raise CertificateError("a dual weight is on a row that does not exist")
    if block["side"] == "ratio":
        limits = ratio_limits(statement, table)
        for y, x, other, w in places:
            limit = limits[x][other] if limits is not None and x != other else None
            if limit is None:
                raise CertificateError(f"a dual weight is on a pair ({x}, {other}) with no row")
            exponent, factor = limit
            reduced[x][y] += _floor(w * exp_lower(-exponent))
            reduced[other][y] += _floor(-w * factor)
        return
    upper, lower = lift_limits(table)
    exponent_or_none = upper if block["side"] == "upper" else lower
    if exponent_or_none is None:
        raise CertificateError(f"a dual weight is on the side {block['side']!r} with no row")
    shrink = exp_lower(-exponent_or_none)
    priors = [[number(p) for p in prior] for prior in block.get("priors", [])]
    priors = priors or [statement.prior]
    bounds = prior_bounds(statement, table)
    for prior in priors:
        _check_member(bounds, prior, k)
    laws: dict[tuple[int, int], Fraction] = {}
    for y, x, which, w in places:
        reduced[x][y] += _floor(w * shrink) if block["side"] == "upper" else _floor(-w)
        laws[y, which] = laws.get((y, which), ZERO) + w
    for (y, which), w in laws.items():
        law = -w if block["side"] == "upper" else w * shrink
        for x, p in enumerate(priors[which]):
            reduced[x][y] += _floor(law * p)


def _check_member(bounds: PriorBounds, prior: list[Fraction], size: int) -> None:
    """Raise unless ``prior`` is one of those that the notion protects against."""
    listed, box, ball = bounds
    inside = len(prior) == size and min(prior) >= 0 and sum(prior) == 1
    if box is not None:
        low, high = box
        inside = inside and all(a <= p <= b for a, p, b in zip(low, prior, high, strict=True))
    elif ball is not None:
        center, radius = ball
        moved = sum((abs(p - c) for p, c in zip(prior, center, strict=True)), ZERO)
        inside = inside and moved <= 2 * radius
    else:
        inside = inside and prior in listed
    if not inside:
        raise CertificateError("a dual weight is on a prior that is not in the notion's set")


def _values(statement: Statement) -> list[Fraction]:
    found = [number(value) for value in statement.utility["values"]]
    if len(found) != len(statement.prior):
        raise CertificateError("the objective in the file has not one value for each input")
    return found


def _moments(statement: Statement) -> tuple[Fraction, Fraction]:
    """Return the second moment and the mean of f(X)."""
    pairs = list(zip(statement.prior, _values(statement), strict=True))
    return sum((p * f * f for p, f in pairs), ZERO), sum((p * f for p, f in pairs), ZERO)


def _expected_losses(statement: Statement) -> list[list[Fraction]]:
    if statement.utility.get("worst_case"):
        raise CertificateError("this theorem speaks of an expected loss, not of the worst case")
    return [[loss[0] for loss in row] for row in statement.losses]


def nothing_constrained(statement: Statement) -> Fraction:
    """No channel beats the best output for every single input."""
    if statement.utility["objective"] == POSTERIOR:
        return ZERO
    best = [min(loss[0] for loss in row) for row in statement.losses]
    if statement.utility.get("worst_case"):
        return max(best)
    return sum((p * loss for p, loss in zip(statement.prior, best, strict=True)), ZERO)


def equal_rows(statement: Statement) -> Fraction:
    """Where a bound e**0 ties all inputs, all rows of Q are equal, and the best is one output.

    q_x <= q_x' in every column, with both rows summing to 1, makes the two rows equal; q_x <= P . q
    (or >=) for all x makes every row equal to the output law.
    """
    if not _all_tied(statement):
        raise CertificateError("the notions do not force all rows of the channel to be equal")
    if statement.utility["objective"] == POSTERIOR:
        square, mean = _moments(statement)
        return square - mean * mean
    losses = _expected_losses(statement)
    return min(
        sum((p * row[y] for p, row in zip(statement.prior, losses, strict=True)), ZERO)
        for y in range(len(losses[0]))
    )


def _all_tied(statement: Statement) -> bool:
    class_of = list(range(len(statement.labels)))
    for table in statement.privacy:
        limits = ratio_limits(statement, table)
        if limits is None:
            if 0 in lift_limits(table):
                return True
            continue
        for x, row in enumerate(limits):
            for other, limit in enumerate(row):
                if limit == (ZERO, ONE):
                    old, new = class_of[x], class_of[other]
                    class_of = [new if c == old else c for c in class_of]
    return len(set(class_of)) == 1


def randomized_response(statement: Statement) -> Fraction:
    """k-ary randomized response is the best for Hamming loss, LDP and the uniform prior.

    In the column of output y, q_y <= e**eps q_x for every x, so Sum_x q_x >= q_y (1 + (k-1)
    e**-eps). Adding up over the outputs: k >= Sum_x Q(x|x) (1 + (k-1) e**-eps).
    """
    k = len(statement.labels)
    budgets = [number(t["epsilon"]) for t in statement.privacy if t["notion"] == "ldp"]
    plain = statement.utility["objective"] == "hamming" and not statement.utility.get("worst_case")
    if not budgets or not plain or set(statement.prior) != {Fraction(1, k)}:
        raise CertificateError("randomized response needs LDP, Hamming loss and a uniform prior")
    rest = (k - 1) * exp_lower(-min(budgets))
    return rest / (1 + rest)


def erasure(statement: Statement) -> Fraction:
    """Whoever bounds lifts from below sees X with probability 1 - t at most, t = e**-eps.

    q_x >= t P . q in every column makes (Q - t 1 lambda') / (1 - t) a channel R with output law
    lambda, so that Q is R after "report X with probability 1 - t, else a fresh draw from P" (Jiang
    et al.'s randomized response). No post-processing beats the Bayes decision on each report.
    """
    lows = []
    for table in statement.privacy:
        if table["notion"] in ("lip", "lift"):
            lower = lift_limits(table)[1]
            if lower is not None:
                lows.append(lower)
    if not lows:
        raise CertificateError("the erasure bound needs a lower bound on the lift")
    low, high = exp_lower(-min(lows)), exp_upper(-min(lows))
    if statement.utility["objective"] == POSTERIOR:
        square, mean = _moments(statement)
        return (square - mean * mean) * (1 - (1 - low) ** 2)
    losses, prior = _expected_losses(statement), statement.prior
    outputs = range(len(losses[0]))
    blind = [sum((p * r[y] for p, r in zip(prior, losses, strict=True)), ZERO) for y in outputs]
    return sum(
        (
            p * min(low * blind[y] + (1 - high) * row[y] for y in outputs)
            for p, row in zip(prior, losses, strict=True)
        ),
        ZERO,
    )


def binary(statement: Statement) -> Fraction:
    """For two inputs every private channel is the universal one followed by post-processing.

    The cone q_0 <= A q_1, q_1 <= B q_0 has the two extreme rays (A, 1) and (1, B); scaled so that
    they add up to (1, 1) they are the columns of one channel U, and every column is a mixture of
    them. A and B are taken no smaller than they are, which only enlarges the cone.
    """
    if len(statement.labels) != 2:
        raise CertificateError("the binary theorem needs two inputs")
    a, b = _binary_limits(statement)
    columns: list[tuple[Fraction, Fraction]]
    if a == 1 or b == 1:  # q_0 <= q_1 in every column: equal rows
        columns = [(ONE, ONE)]
    elif a is None and b is None:
        columns = [(ONE, ZERO), (ZERO, ONE)]
    elif a is None and b is not None:
        columns = [(1 - 1 / b, ZERO), (1 / b, ONE)]
    elif b is None and a is not None:
        columns = [(ONE, 1 / a), (ZERO, 1 - 1 / a)]
    elif a is not None and b is not None:
        first, second = (b - 1) / (a * b - 1), (a - 1) / (a * b - 1)
        columns = [(first * a, first), (second, second * b)]
    prior = statement.prior
    if statement.utility["objective"] == POSTERIOR:
        f, (spread, _) = _values(statement), _moments(statement)
        for u in columns:
            law = sum((p * v for p, v in zip(prior, u, strict=True)), ZERO)
            moment = sum((p * c * v for p, c, v in zip(prior, f, u, strict=True)), ZERO)
            spread -= moment * moment / law if law else ZERO
        return spread
    losses = _expected_losses(statement)
    decide = range(len(losses[0]))
    return sum(
        (
            min(sum((prior[x] * u[x] * losses[x][y] for x in (0, 1)), ZERO) for y in decide)
            for u in columns
        ),
        ZERO,
    )


def _binary_limits(statement: Statement) -> tuple[Fraction | None, Fraction | None]:
    """Return rationals at least the bounds on q_0 / q_1 and q_1 / q_0; None where unbounded."""
    found: tuple[list[Fraction], list[Fraction]] = ([], [])
    for table in statement.privacy:
        limits = ratio_limits(statement, table)
        if limits is not None:
            for x in (0, 1):
                limit = limits[x][1 - x]
                if limit is not None and limit[0] < 4096:
                    found[x].append(limit[1] * exp_upper(limit[0]))
            continue
        for prior in _binary_priors(statement, table):
            upper, lower = lift_limits(table)
            for x in (0, 1):
                own, other = prior[x], prior[1 - x]
                # q_x <= e**u (own q_x + other q_x')  and  own q_x + other q_x' <= e**l q_x'
                if upper is not None and upper < 4096 and exp_upper(upper) * own < 1:
                    u = exp_upper(upper)
                    found[x].append(u * other / (1 - u * own))
                if lower is not None and lower < 4096 and own > 0:
                    found[x].append((exp_upper(lower) - other) / own)
    a, b = (min(limits) if limits else None for limits in found)
    return a, b


def _binary_priors(statement: Statement, table: dict[str, Any]) -> list[list[Fraction]]:
    """Return priors whose convex hull is that of the notion: for two inputs, a segment."""
    listed, box, ball = prior_bounds(statement, table)
    if box is not None:
        low, high = box
        ends = [max(low[0], 1 - high[1]), min(high[0], 1 - low[1])]
    elif ball is not None:
        center, radius = ball
        ends = [max(ZERO, center[0] - radius), min(ONE, center[0] + radius)]
    else:
        return listed
    return [[end, 1 - end] for end in ends]


THEOREMS = {
    "nothing-constrained": nothing_constrained,
    "equal-rows": equal_rows,
    "randomized-response": randomized_response,
    "erasure": erasure,
    "binary-universal": binary,
}
"""Bounds that a certificate may name."""
