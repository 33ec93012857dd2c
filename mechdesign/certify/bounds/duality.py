"""The value of a channel, and lower bounds on the loss of every private one by weak duality.

A row of a notion says g . q <= 0 for every private column q. With multipliers w >= 0 of rows, and
v_y the sum of w g for output y, v_y . q_y <= 0. So adding v to the costs does not raise the loss of
a private channel, and as each row of Q lies on a simplex,

    loss  >=  Sum_x min_y (cost[x, y] + v_y[x]).

Every product is rounded down, and with it the bound: e**-a from below where it is added, and what
is subtracted from above.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from operator import add, mul
from typing import Any, TypeAlias

from mechdesign.certify.bounds.decoders import least_on_interval
from mechdesign.certify.bounds.estimation_risk import estimator, reference_prior, risk_value
from mechdesign.certify.bounds.outward import lift_exponent
from mechdesign.certify.bounds.readings import Readings, variance
from mechdesign.certify.bounds.sums.gains import error_or_gain, has_gain, total_gain
from mechdesign.certify.fixed_point import (
    dot,
    fraction_steps,
    over_one_denominator,
    ratio,
    scaled_down,
    scaled_up,
)
from mechdesign.certify.privacy.check import Bound, ratio_bound
from mechdesign.certify.privacy.linear_rows import LinearRow, is_linear, linear_rows
from mechdesign.certify.privacy.non_conic import EXCESS_SIDES, add_excess_rows, least_reduced_cost
from mechdesign.certify.privacy.prior_sets import read_members
from mechdesign.certify.privacy.sensitive_attribute import (
    SIDE,
    SensitiveAttribute,
    read_sensitive_attribute,
)
from mechdesign.certify.problem import (
    ACCURACY,
    POSTERIOR,
    Statement,
    check_indices,
    number,
    read_masses,
    scaled_numbers,
)
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower
from mechdesign.resources import counted_apart, spend

__all__ = [
    "BITS",
    "SCALE",
    "add_ratio_rows",
    "add_rows",
    "decoder",
    "decoder_bound",
    "dual_bound",
    "value",
]

ZERO, ONE = Fraction(0), Fraction(1)
BITS = 220
SCALE = 1 << BITS
"""Reduced costs are integers over it: each multiplier changes them by less than a unit."""

AT_ONCE = 1000
"""Rows whose steps are counted together."""

NUMBERED = "row"
"""The side of multipliers of rows that a file lists, named by their numbers."""

Rows: TypeAlias = Iterable[tuple[int, int, int, int]]
"""(output, x, other, multiplier) of some rows."""


def value(
    statement: Statement,
    columns: Sequence[Sequence[int]],
    used: list[int],
    bits: int,
    dual: dict[str, Any] | None = None,
    readings: Readings | None = None,
) -> Fraction:
    """Return the objective at an exact channel, rounded to the worse side where irrational.

    ``used[y]`` is the place of output y among the outputs that were allowed; ``dual`` may name the
    prior that an estimator is made for; ``readings`` are those whose variance is the objective.
    """
    prior, denominator = statement.prior, 1 << bits
    if readings is not None:
        return variance(statement, columns, bits, readings)
    if has_gain(statement):
        return total_gain(statement, columns, up=False, whole=denominator)
    if statement.is_risk:
        exact = [[Fraction(v, denominator) for v in q] for q in columns]
        return risk_value(statement, exact, reference_prior(statement, dual))
    losses, total = statement.losses, [0] * len(prior)
    for place, q in zip(used, columns, strict=True):
        spend(4 * len(prior), "the value")
        total = list(map(add, total, map(mul, losses.upper(place), q)))
    if statement.is_worst_case:
        return ratio(max(total), losses.denominator * denominator)
    masses, whole = statement.masses
    return ratio(sum(map(mul, masses, total)), whole * losses.denominator * denominator)


def decoder(
    statement: Statement,
    columns: Sequence[Sequence[int]],
    bits: int,
    dual: dict[str, Any] | None = None,
    readings: Readings | None = None,
) -> list[Any] | None:
    """Return what the aggregator reads from each output, None if the objective has no decoder.

    The readings, where the file states them; the posterior mean of f(X), or the whole posterior
    for the histogram, for a squared error (the prior's where an output never occurs); the likeliest
    input for the accuracy; what the estimate of the distribution is the mean of.
    """
    if readings is not None:
        return readings.numbers
    with counted_apart():
        return _decoder(statement, columns, bits, dual)


def _decoder(
    statement: Statement,
    columns: Sequence[Sequence[int]],
    bits: int,
    dual: dict[str, Any] | None,
) -> list[Any] | None:
    objective, prior, found = statement.utility["objective"], statement.prior, []
    if statement.is_risk:
        exact = [[Fraction(v, 1 << bits) for v in q] for q in columns]
        return estimator(exact, reference_prior(statement, dual))
    if objective not in (POSTERIOR, ACCURACY):
        return None
    for q in columns:
        spend(len(prior) * (40 + fraction_steps(statement.masses[1].bit_length())), "the decoder")
        joint = [p * v for p, v in zip(prior, q, strict=True)]
        total = sum(joint, ZERO)
        posterior = [j / total for j in joint] if total else prior
        if objective == ACCURACY:
            found.append(statement.labels[posterior.index(max(posterior))])
        elif statement.is_histogram:
            found.append(posterior)
        else:
            found.append(dot(posterior, statement.values))
    return found


def dual_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound that multipliers prove; negative multipliers are refused.

    For the gain of a guess it is the largest gain less the bound on the loss of the guess.

    ``dual["weights"]``: for a worst case over x, weights of the inputs that sum to 1, since the
    worst case is at least any mean. ``dual["rows"]``: multipliers of rows of the notions, by
    output. ``dual["information"]``: a multiplier of the information, if a notion bounds it.
    """
    losses, (masses, whole) = statement.losses, read_masses(statement, dual)
    scaled = [(p << BITS) // whole for p in masses]
    costs = [
        [m * loss // losses.denominator for m, loss in zip(scaled, losses.lower(y), strict=True)]
        for y in range(losses.n_outputs)
    ]
    spend(5 * len(costs) * len(masses), "reduced costs")
    reduced = [list(row) for row in zip(*costs, strict=True)]
    owed = 0
    for block in dual["rows"]:
        if block["side"] in EXCESS_SIDES:
            owed += add_excess_rows(statement, block, reduced, BITS)
        else:
            add_rows(statement, block, reduced)
    least = least_reduced_cost(statement, dual.get("information"), reduced, BITS) - Fraction(
        owed, SCALE
    )
    return statement.ceiling - least if statement.is_maximized else least


def decoder_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound on a posterior-mean squared error that multipliers at some decoders prove.

    The error is Sum_y Sum_x P_x Q[x, y] (f_x - s_y)**2 with s_y the posterior mean, which lies
    between the least and the largest f. With multipliers at decoders s_0 < ... < s_n around all of
    f, let c_x(s) be the reduced cost of input x, P_x (f_x - s)**2 + v_x(s), where v is interpolated
    between neighbors: v(s) . q <= 0 for private q at every s. As (f_x - s)**2 is its chord less
    (s - s_i)(s_{i+1} - s), c_x is, at s = s_i + t d,

        (1 - t) c_x(s_i) + t c_x(s_{i+1}) - P_x d**2 t (1 - t),

    whose minimum m_x over all t and i is a formula; and the error is at least Sum_x m_x.
    """
    f, prior = statement.values, statement.prior
    decoders = [number(s) for s in dual["decoders"]]
    length = statement.masses[1].bit_length() + 2 * statement.whole_values[1].bit_length()
    longest = max((s.denominator.bit_length() for s in decoders), default=0)
    spend(6 * len(f) * len(decoders) * fraction_steps(length + 2 * longest), "costs at decoders")
    rising = all(a < b for a, b in pairwise(decoders))
    if len(decoders) < 2 or not rising or decoders[0] > min(f) or decoders[-1] < max(f):
        raise CertificateError("the decoders do not rise from the least value to the largest")
    reduced = [
        [scaled_down(p * (a - s) ** 2, BITS) for s in decoders]
        for p, a in zip(prior, f, strict=True)
    ]
    for block in dual["rows"]:
        add_rows(statement, block, reduced)
    total = 0
    for p, row in zip(prior, reduced, strict=True):
        curvatures = [scaled_up(p * (b - a) ** 2, BITS) for a, b in pairwise(decoders)]
        ends = zip(pairwise(row), curvatures, strict=True)
        total += min(least_on_interval(a, b, curvature) for (a, b), curvature in ends)
    return error_or_gain(statement, Fraction(total, SCALE))


def add_rows(statement: Statement, block: dict[str, Any], reduced: list[list[int]]) -> None:
    """Add w * (e**-a left - right) of each row to the reduced costs, rounded down.

    A row says e**-a * (left . q) <= right . q; `privacy.check` says which rows a notion has.
    """
    table = statement.privacy[block["notion"]]
    if block["side"].startswith(SIDE):
        _add_rows_on_secrets(read_sensitive_attribute(statement, table), block, reduced)
        return
    if block["side"] == "ratio":
        add_ratio_rows(statement, block, reduced, len(reduced[0]))
        return
    listed = linear_rows(statement, table) if is_linear(table) else []
    rows = _rows(block, len(listed) if is_linear(table) else len(reduced), len(reduced[0]))
    if block["side"] == NUMBERED:
        _add_listed(listed, rows, reduced)
    else:
        _add_lifts(statement, block, rows, reduced)


def _rows(block: dict[str, Any], n_rows: int, n_outputs: int) -> Rows:
    """Return the rows of a block with their multipliers over ``2**BITS``."""
    weights = scaled_numbers(block["weight"], BITS)
    if min(weights, default=0) < 0:
        raise CertificateError("a dual weight is negative")
    output, inputs, others = block["output"], block["x"], block["other"]
    for indices, size in ((output, n_outputs), (inputs, n_rows), (others, None)):
        check_indices(indices, size, "a dual weight is on a row")
    return _counted(zip(output, inputs, others, weights, strict=True))


def _add_rows_on_secrets(
    attribute: SensitiveAttribute, block: dict[str, Any], reduced: list[list[int]]
) -> None:
    """Add the terms of rows on w_s = Sum_x P(x|s) q_x, times P(x|s) >= 0, rounded down."""
    own = {**block, "notion": 0, "side": block["side"].removeprefix(SIDE)}
    of_secrets = [[0] * len(reduced[0]) for _ in attribute.rows]
    add_rows(attribute.statement, own, of_secrets)
    for y, terms in enumerate(zip(*of_secrets, strict=True)):
        spend(2 * len(reduced) * len(terms), "rows of a secret")
        for row, term in zip(reduced, attribute.on_inputs(terms), strict=True):
            row[y] += term // attribute.whole


def _counted(rows: Rows) -> Rows:
    """Count the steps of rows, many at a time."""
    for n, row in enumerate(rows):
        if not n % AT_ONCE:
            spend(AT_ONCE, "dual rows")
        yield row


class _RatioRows(dict[tuple[int, int], tuple[int, int, int]]):
    """The row of each pair (x, x'): e**-a over SCALE, rounded down, and the factor in parts."""

    def __init__(self, bound: Bound | None, size: int) -> None:
        super().__init__()
        self._bound, self._size = bound, size
        self._shrunk: dict[tuple[int, int], int] = {}

    def __missing__(self, pair: tuple[int, int]) -> tuple[int, int, int]:
        x, other = pair
        limit = None
        if self._bound is not None and x != other and other < self._size:
            limit = self._bound(x, other)
        if limit is None:
            raise CertificateError(f"a dual weight is on a pair ({x}, {other}) with no row")
        exponent, factor = limit
        parts = (exponent.numerator, exponent.denominator)  # quicker to look up than a Fraction
        if parts not in self._shrunk:
            self._shrunk[parts] = scaled_down(exp_lower(-exponent), BITS)
        self[pair] = found = (self._shrunk[parts], factor.numerator, factor.denominator)
        return found


def add_ratio_rows(
    statement: Statement,
    block: dict[str, Any],
    reduced: Mapping[int, list[int]] | list[list[int]],
    n_outputs: int,
) -> None:
    """Add w (e**-a q_x - factor q_x') to the reduced costs of each input, over ``2**BITS``."""
    size = len(statement.labels)
    ratios = _RatioRows(ratio_bound(statement, statement.privacy[block["notion"]]), size)
    for y, x, other, w in _rows(block, size, n_outputs):
        shrink, top, bottom = ratios[x, other]
        reduced[x][y] += w * shrink >> BITS
        reduced[other][y] -= -(-w * top // bottom) if bottom > 1 else w * top


def _add_listed(listed: list[LinearRow], rows: Rows, reduced: list[list[int]]) -> None:
    """Add w (e**-a left - right) of rows that are named by their numbers, rounded down."""
    terms: dict[int, list[tuple[int, int]]] = {}
    for y, number_of_row, _, w in rows:
        if number_of_row not in terms:
            row = listed[number_of_row]
            net = row.net(exp_lower(-row.exponent), ONE)
            terms[number_of_row] = [(x, scaled_down(v, BITS)) for x, v in net.items()]
        spend(2 * len(terms[number_of_row]), "dual rows")
        for x, term in terms[number_of_row]:
            reduced[x][y] += w * term >> BITS


def _add_lifts(
    statement: Statement, block: dict[str, Any], rows: Rows, reduced: list[list[int]]
) -> None:
    """Add w (e**-a q_x - P . q), or w (e**-a P . q - q_x)."""
    table, is_upper = statement.privacy[block["notion"]], block["side"] == "upper"
    exponent = lift_exponent(table, block["side"])
    shrink = scaled_down(exp_lower(-exponent), BITS)
    priors = read_members(statement, table, block.get("priors") or [statement.prior])
    # the multipliers of one output and one prior all add a multiple of that prior: add it once
    by_prior: dict[tuple[int, int], int] = {}
    for y, x, which, w in rows:
        reduced[x][y] += w * shrink >> BITS if is_upper else -w
        by_prior[y, which] = by_prior.get((y, which), 0) + w
    scaled = [over_one_denominator(prior) for prior in priors]
    for (y, which), w in by_prior.items():
        spend(4 * len(reduced), "dual rows")
        coefficient, (masses, whole) = -w if is_upper else w * shrink >> BITS, scaled[which]
        for row, mass in zip(reduced, masses, strict=True):
            row[y] += coefficient * mass // whole
