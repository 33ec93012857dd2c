"""The objective of a channel in a file, and the decoder of its outputs.

A value is exact, or rounded up if irrational: every objective is minimized here, and a problem that
maximizes has ``statement.sign`` times it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import add, mul
from typing import Any

from mechdesign.kernel.arithmetic import dot, expect, known, need, over_one_denominator
from mechdesign.kernel.gains import Entropy, Gain, Squares
from mechdesign.kernel.objectives import Loss, Reading, Risk
from mechdesign.kernel.risk import estimator, risk
from mechdesign.kernel.statement import Statement

Columns = Sequence[Sequence[int]]


def value(
    statement: Statement,
    columns: Columns,
    whole: int,
    used: Sequence[int] | None = None,
    readings: Sequence[Fraction] | None = None,
    prior: Sequence[Fraction] | None = None,
) -> Fraction:
    """Return the minimized objective of a channel, rounded up.

    ``statement``: the claimed statement.
    ``columns``, ``whole``: the channel: integers with a common row sum.
    ``used``: the index of each output among the allowed ones, for a loss with given outputs.
    ``readings``: the readings whose variance is the objective.
    ``prior``: the prior of the estimator for a worst-case risk; None for the uniform one.
    """
    aim = statement.objective
    if isinstance(aim, Gain):
        gains = sum((aim(q, up=False) for q in columns), Fraction(0))
        return aim.constant - gains / whole
    if isinstance(aim, Loss):
        return _guessed(aim, columns, whole) if aim.free else _loss(aim, columns, whole, used or ())
    if isinstance(aim, Reading):
        return _variance(aim, columns, whole, readings)
    aim = expect(aim, Risk, "the objective is not known")
    return risk(aim, columns, whole, reference_prior(statement, prior))


def reference_prior(
    statement: Statement, prior: Sequence[Fraction] | None = None
) -> tuple[Fraction, ...]:
    """Return the prior of the estimator: that of the risk, if there is one."""
    aim, k = statement.objective, statement.k
    if isinstance(aim, Risk) and aim.prior is not None:
        return aim.prior
    return (Fraction(1, k),) * k if prior is None else tuple(prior)


def value_steps(statement: Statement, n_outputs: int) -> int:
    """Return the work of the value, from sizes."""
    aim, k = statement.objective, statement.k
    if isinstance(aim, Loss) and aim.free:
        return k * aim.costs.n_outputs * (n_outputs if aim.costs.is_dense else 1)
    if isinstance(aim, Risk):
        return k * k * (4 * k + n_outputs) // 2
    vectors = aim.vectors if isinstance(aim, Gain) else ()
    entries, each = 1 + len(vectors), 240 if isinstance(aim, Entropy) else 60
    return 4 * k * n_outputs + entries * (k + each * n_outputs)


def _loss(aim: Loss, columns: Columns, whole: int, used: Sequence[int]) -> Fraction:
    need(len(used) == len(columns), "expected the place of each output among those allowed")
    total = [0] * len(columns[0])
    for place, q in zip(used, columns, strict=True):
        total = list(map(add, total, map(mul, aim.costs.upper(place), q)))
    whole *= aim.costs.denominator
    if aim.weights is None:
        return Fraction(max(total), whole)
    weights, unit = over_one_denominator(aim.weights)
    return Fraction(dot(weights, total), unit * whole)


def _guessed(aim: Loss, columns: Columns, whole: int) -> Fraction:
    weights, unit = over_one_denominator(aim.weights or ())
    tables = (aim.costs.upper(y) for y in range(aim.costs.n_outputs))
    costs = [[(x, c * weights[x]) for x, c in enumerate(table) if c] for table in tables]
    total = sum(min([sum([c * q[x] for x, c in cost]) for cost in costs]) for q in columns)
    return Fraction(total, unit * whole * aim.costs.denominator)


def _variance(
    aim: Reading, columns: Columns, whole: int, readings: Sequence[Fraction] | None
) -> Fraction:
    words = "the channel has not one reading for each output"
    tops, bottom = over_one_denominator(known(readings, words))
    need(len(tops) == len(columns), words)
    rows, squares = list(zip(*columns, strict=True)), [top * top for top in tops]
    means = [Fraction(sum(map(mul, row, tops)), bottom * whole) for row in rows]
    need(means == list(aim.values), "the mean of the readings is not the value")
    seconds = [Fraction(sum(map(mul, row, squares)), bottom * bottom * whole) for row in rows]
    found = [s - f * f for s, f in zip(seconds, aim.values, strict=True)]
    return max(found) if aim.weights is None else Fraction(dot(aim.weights, found))


def decoder(
    statement: Statement,
    reads: str,
    labels: Sequence[Any],
    columns: Columns,
    whole: int,
    readings: Sequence[Fraction] | None = None,
    prior: Sequence[Fraction] | None = None,
) -> list[Any] | None:
    """Return the aggregator's estimate for each output; None if the objective has no decoder.

    ``reads``: ``"mean"``: the posterior mean of f(X). ``"posterior"``: the whole posterior. (Where
        an output never occurs both are of the prior.) ``"likeliest"``: the likeliest input.
        ``"estimator"``: the column whose mean is the estimated distribution. ``"readings"``: those
        of the file.
    ``labels``: the inputs.
    ``statement``, ``columns``, ``whole``, ``readings``, ``prior``: as in :func:`value`.
    """
    aim = statement.objective
    if reads == "readings":
        return None if readings is None else list(readings)
    if reads == "estimator":
        return estimator(columns, whole, reference_prior(statement, prior))
    if reads == "likeliest" and isinstance(aim, Loss):
        return [labels[x.index(max(x))] for x in _joint(aim.weights or (), columns)]
    if not reads or not isinstance(aim, Squares):
        return None
    laws = [(joint, sum(joint)) for joint in _joint(aim.p, columns)]
    if reads == "posterior":
        return [[Fraction(j, total) for j in joint] for joint, total in laws]
    p, (vector,) = aim.p, aim.vectors
    values, unit = over_one_denominator(v / (m or 1) for v, m in zip(vector, p, strict=True))
    return [Fraction(sum(map(mul, values, joint)), unit * total) for joint, total in laws]


def _joint(weights: Sequence[Fraction], columns: Columns) -> Iterator[list[int]]:
    """Yield the joint masses of the inputs and each output; the prior for an output of mass 0."""
    masses, _ = over_one_denominator(weights)
    for q in columns:
        joint = list(map(mul, masses, q))
        yield joint if any(joint) else masses
