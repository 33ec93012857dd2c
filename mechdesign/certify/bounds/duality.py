"""The value of a channel, and how good any private one can be, by dual weights; in rationals.

Weights w >= 0 on rows of the notion make v . q <= 0 for every private column q, so that the loss
is at least its value plus any such v, whose minimum over rows on simplices is
Sum_x min_y (cost[x, y] + v_y[x]). Where a real number enters, the bound uses the rational bound on
it that keeps the result below the truth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise, repeat
from math import isfinite, ldexp
from operator import add, mul
from typing import Any, TypeAlias

from mechdesign.certify.bounds.decoders import least_on_gap
from mechdesign.certify.bounds.estimation_risk import estimator, reference_prior, risk_value
from mechdesign.certify.bounds.gains import has_gain, total_gain
from mechdesign.certify.fixed_point import over_one_denominator
from mechdesign.certify.privacy.check import (
    Bound,
    check_member,
    lift_limits,
    prior_bounds,
    ratio_bound,
)
from mechdesign.certify.privacy.linear_rows import LinearRow, is_linear, linear_rows
from mechdesign.certify.privacy.non_conic import EXCESS_SIDES, add_excess, least_total
from mechdesign.certify.privacy.sensitive_attribute import SIDE, SensitiveAttribute, read_secret
from mechdesign.certify.problem import ACCURACY, POSTERIOR, Statement, number, values_of
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower

__all__ = ["decoder", "decoder_bound", "dual_bound", "value"]

ZERO, ONE = Fraction(0), Fraction(1)
BITS = 220
SCALE = 1 << BITS
"""Duals are added up as integers over this."""

NUMBERED = "row"
"""The side of weights on rows that a file lists, known by their numbers."""

Rows: TypeAlias = Iterable[tuple[int, int, int, int]]
"""(output, x, other, weight) of some rows."""


def value(
    statement: Statement,
    columns: Sequence[Sequence[int]],
    used: list[int],
    bits: int,
    dual: dict[str, Any] | None = None,
) -> Fraction:
    """Return the objective at an exact channel, rounded to the worse side where irrational.

    ``used[y]`` is the place of output y among the outputs that were allowed; ``dual`` may name the
    prior that an estimator is made for.
    """
    prior, denominator = statement.prior, 1 << bits
    if has_gain(statement) or statement.is_risk:
        exact = [[Fraction(v, denominator) for v in q] for q in columns]
        if statement.is_risk:
            return risk_value(statement, exact, reference_prior(statement, dual))
        return total_gain(statement, exact, up=False)
    losses, total = statement.losses, [0] * len(prior)
    for place, q in zip(used, columns, strict=True):
        total = list(map(add, total, map(mul, losses.upper(place), q)))
    if statement.utility.get("worst_case"):
        return Fraction(max(total), losses.denominator * denominator)
    masses, whole = statement.masses
    return Fraction(sum(map(mul, masses, total)), whole * losses.denominator * denominator)


def decoder(
    statement: Statement,
    columns: Sequence[Sequence[int]],
    bits: int,
    dual: dict[str, Any] | None = None,
) -> list[Any] | None:
    """Return what the curator reads from each output, None where the objective has no such thing.

    The posterior mean of f(X), or the whole posterior for the histogram, for a squared error (the
    prior's where an output never occurs); the likeliest input for the accuracy; what the estimate
    of the distribution is the mean of.
    """
    objective, prior, found = statement.utility["objective"], statement.prior, []
    if statement.is_risk:
        exact = [[Fraction(v, 1 << bits) for v in q] for q in columns]
        return estimator(exact, reference_prior(statement, dual))
    if objective not in (POSTERIOR, ACCURACY):
        return None
    for q in columns:
        joint = [p * v for p, v in zip(prior, q, strict=True)]
        law = sum(joint, ZERO)
        posterior = [j / law for j in joint] if law else prior
        if objective == ACCURACY:
            found.append(statement.labels[posterior.index(max(posterior))])
        elif statement.is_histogram:
            found.append(posterior)
        else:
            f = values_of(statement)
            found.append(sum((p * v for p, v in zip(posterior, f, strict=True)), ZERO))
    return found


def dual_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound that dual weights prove; negative weights are refused.

    For the accuracy of a guess it is one less the bound on the Hamming loss.

    ``dual["weights"]``: for a worst case over x, weights on the inputs that sum to 1, since the
    worst is at least any mean. ``dual["rows"]``: weights on rows of the notions, by output.
    ``dual["information"]``: a price of information, where a notion bounds it.
    """
    mass = statement.prior
    if statement.utility.get("worst_case"):
        mass = [number(w) for w in dual["weights"]]
        if min(mass) < 0 or sum(mass) <= 0 or len(mass) != len(statement.prior):
            raise CertificateError("the dual weights on the inputs are no distribution")
        mass = [w / sum(mass) for w in mass]
    losses, scaled = statement.losses, [_floor(m) for m in mass]
    costs = [
        [m * loss // losses.denominator for m, loss in zip(scaled, losses.lower(y), strict=True)]
        for y in range(losses.n_outputs)
    ]
    reduced = [list(row) for row in zip(*costs, strict=True)]
    owed = 0
    for block in dual["rows"]:
        if block["side"] in EXCESS_SIDES:
            owed += add_excess(statement, block, reduced, SCALE)
        else:
            _add_rows(statement, block, reduced)
    least = least_total(statement, dual.get("information"), reduced, SCALE) - Fraction(owed, SCALE)
    return 1 - least if statement.utility["objective"] == ACCURACY else least


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
    f, prior = values_of(statement), statement.prior
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
            least_on_gap(a, b, bend) for (a, b), bend in zip(pairwise(row), bends, strict=True)
        )
    return Fraction(total, SCALE)


def _floor(exact: Fraction) -> int:
    return exact.numerator * SCALE // exact.denominator


def _add_rows(statement: Statement, block: dict[str, Any], reduced: list[list[int]]) -> None:
    """Add w * (e**-a left - right) of each row to the reduced costs, rounded down.

    A row says e**-a * (left . q) <= right . q; see `privacy` for which rows there are.
    """
    table = statement.privacy[block["notion"]]
    if block["side"].startswith(SIDE):
        _add_rows_on_secrets(read_secret(statement, table), block, reduced)
        return
    weights = _weights(block["weight"])
    if min(weights, default=0) < 0:
        raise CertificateError("a dual weight is negative")
    listed = linear_rows(statement, table) if is_linear(table) else []
    if (block["side"] == NUMBERED) != is_linear(table):
        raise CertificateError("a dual weight is on a row that does not exist")
    output, inputs, others = block["output"], block["x"], block["other"]
    most = len(listed) if is_linear(table) else len(reduced)
    for places, end in ((output, len(reduced[0])), (inputs, most), (others, None)):
        if not set(map(type, places)) <= {int} or min(places, default=0) < 0:
            raise CertificateError("a dual weight is on a row that does not exist")
        if end is not None and max(places, default=-1) >= end:
            raise CertificateError("a dual weight is on a row that does not exist")
    rows = zip(output, inputs, others, weights, strict=True)
    if block["side"] == NUMBERED:
        _add_listed(listed, rows, reduced)
    elif block["side"] == "ratio":
        _add_ratios(_Ratios(ratio_bound(statement, table), len(reduced)), rows, reduced)
    else:
        _add_lifts(statement, block, rows, reduced)


def _add_rows_on_secrets(
    secret: SensitiveAttribute, block: dict[str, Any], reduced: list[list[int]]
) -> None:
    """Add what rows on w_s = Sum_x P(x|s) q_x come to, rounded down: P(x|s) is not negative."""
    own = {**block, "notion": 0, "side": block["side"].removeprefix(SIDE)}
    of_secrets = [[0] * len(reduced[0]) for _ in secret.rows]
    _add_rows(secret.statement, own, of_secrets)
    for y, terms in enumerate(zip(*of_secrets, strict=True)):
        for row, term in zip(reduced, secret.on_inputs(terms), strict=True):
            row[y] += term // secret.whole


def _weights(given: list[Any]) -> list[int]:
    """Return weights over SCALE, rounded; any that are not negative prove something."""
    if set(map(type, given)) <= {float} and all(map(isfinite, given)):
        return list(map(int, map(ldexp, given, repeat(BITS))))
    return [_floor(number(w)) for w in given]


class _Ratios(dict[tuple[int, int], tuple[int, int, int]]):
    """For a pair (x, x'), e**-a over SCALE, rounded down, and the two parts of the factor."""

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
            self._shrunk[parts] = _floor(exp_lower(-exponent))
        self[pair] = found = (self._shrunk[parts], factor.numerator, factor.denominator)
        return found


def _add_ratios(ratios: _Ratios, rows: Rows, reduced: list[list[int]]) -> None:
    """Add w (e**-a q_x - factor q_x')."""
    for y, x, other, w in rows:
        shrink, top, bottom = ratios[x, other]
        reduced[x][y] += w * shrink >> BITS
        reduced[other][y] -= -(-w * top // bottom) if bottom > 1 else w * top


def _add_listed(listed: list[LinearRow], rows: Rows, reduced: list[list[int]]) -> None:
    """Add w (e**-a left - right) of rows that are known by their numbers, rounded down."""
    terms: dict[int, list[tuple[int, int]]] = {}
    for y, number_of_row, _, w in rows:
        if number_of_row not in terms:
            row = listed[number_of_row]
            net = row.net(exp_lower(-row.exponent), ONE)
            terms[number_of_row] = [(x, _floor(v)) for x, v in net.items()]
        for x, term in terms[number_of_row]:
            reduced[x][y] += w * term >> BITS


def _add_lifts(
    statement: Statement, block: dict[str, Any], rows: Rows, reduced: list[list[int]]
) -> None:
    """Add w (e**-a q_x - P . q), or w (e**-a P . q - q_x)."""
    table, k, is_upper = statement.privacy[block["notion"]], len(reduced), block["side"] == "upper"
    upper, lower = lift_limits(table)
    exponent = upper if is_upper else lower
    if exponent is None:
        raise CertificateError(f"a dual weight is on the side {block['side']!r} with no row")
    shrink = _floor(exp_lower(-exponent))
    priors = [[number(p) for p in prior] for prior in block.get("priors", [])]
    priors = priors or [statement.prior]
    bounds = prior_bounds(statement, table)
    for prior in priors:
        check_member(bounds, prior, k)
    laws: dict[tuple[int, int], int] = {}
    for y, x, which, w in rows:
        reduced[x][y] += w * shrink >> BITS if is_upper else -w
        laws[y, which] = laws.get((y, which), 0) + w
    scaled = [over_one_denominator(prior) for prior in priors]
    for (y, which), w in laws.items():
        law, (masses, whole) = -w if is_upper else w * shrink >> BITS, scaled[which]
        for row, mass in zip(reduced, masses, strict=True):
            row[y] += law * mass // whole
