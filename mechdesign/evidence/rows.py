"""Multipliers of rows, prices of inputs and estimators, as a certificate has them.

A file has no more multipliers, and no more digits, than needed. Any multipliers >= 0 prove a bound.
Let T be what the terms w (e**-a left - right) of the costs lose where some multipliers are left out
or rounded. A bound is a sum over inputs of least costs, of outputs or between decoders, so that it
falls by Sum_x max(0, max_y T[x, y]) at most. The fewest multipliers and binary digits are taken for
which that is little enough.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.generators import Block, Latent, Lift, Listed
from mechdesign.kernel.linearizations import AsGain, Costs, Linearizations
from mechdesign.kernel.names import Compiled
from mechdesign.kernel.objectives import Loss, Reading, Risk
from mechdesign.kernel.oracles import Oracles, Orthant
from mechdesign.kernel.packed import PACKED_FROM, Numbers, Places, Weights
from mechdesign.kernel.relaxations import Average, Estimator, Members, Relaxations
from mechdesign.kernel.statement import Statement
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.prior_sets import Weights as Prior
from mechdesign.problem import Problem

WORTH_SAVING = 1e-16
"""Multipliers below this share of the largest are left out whatever they do."""

THRESHOLDS = 2.0 ** -np.arange(4, 54)
"""Shares of the largest multiplier below which all may be left out."""

DIGITS = (8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 40, 53)
"""Binary digits that multipliers may be rounded to. Up to 24 are those of a float of four bytes."""


def shortened(
    problem: Problem, duals: Sequence[Multipliers], n_columns: int, spare: Callable[[], float]
) -> list[Multipliers]:
    """Return the multipliers of rows of a problem's notions, side by side.

    ``problem``, ``duals``: the multipliers of rows of its notions.
    ``n_columns``: how many outputs, or decoders, ``output`` counts.
    ``spare``: returns how much the bound may fall, in the unit of the loss; not asked about few.
    """
    parts = _by_side(duals)
    if sum(len(part.weight) for part in parts) >= PACKED_FROM:
        room = spare()
        parts = _shortened(problem, parts, n_columns, room) if room > 0 else parts
    return [part.with_used_priors() for part in parts if len(part.weight)]


def block_of(
    of: str, place: int, side: str, entries: Iterable[tuple[int, int, int, float]]
) -> Block:
    """Return multipliers (node, x, other, weight) as the kernel has them."""
    node, x, other, weight = Places(), Places(), Places(), Weights()
    for a, b, c, w in entries:
        node.append(a)
        x.append(b)
        other.append(c)
        weight.append(w)
    return Block(of, place, node, x, weight, other if any(other) else Places(), side)


def rounded(duals: Sequence[Multipliers], digits: int) -> list[Multipliers]:
    """Return multipliers of ratios, rounded to so many binary digits."""
    parts = [part for part in _by_side(duals) if len(part.weight)]
    return [_with(part, _rounded(part.weight, digits)) for part in parts]


def _by_side(duals: Sequence[Multipliers]) -> list[Multipliers]:
    """Join those of each side of a notion, without those that are next to nothing."""
    sides, top = dict[tuple[int, str], list[Multipliers]](), dict[int, float]()
    for m in duals:
        sides.setdefault((m.notion, m.side), []).append(m)
        top[m.notion] = max(top.get(m.notion, 0.0), float(m.weight.max(initial=0.0)))
    joined = map(_joined, sides.values())
    return [m.chosen(m.weight > WORTH_SAVING * top[m.notion]) for m in joined]


def _joined(parts: Sequence[Multipliers]) -> Multipliers:
    """Return multipliers of one side, which refer to each prior once."""
    numbers, numbering = dict[Prior, int](), dict[int, IntArray]()
    others = []
    for m in parts:
        if m.priors and id(m.priors) not in numbering:
            listed = [numbers.setdefault(prior, len(numbers)) for prior in m.priors]
            numbering[id(m.priors)] = np.array(listed, dtype=np.intp)
        others.append(numbering[id(m.priors)][m.other] if m.priors else m.other)
    output, x, weight = (
        np.concatenate([getattr(m, key) for m in parts]) for key in ("output", "x", "weight")
    )
    first, other = parts[0], np.concatenate(others)
    return Multipliers(first.side, output, x, other, weight, tuple(numbers), first.notion)


def _with(part: Multipliers, weight: FloatArray) -> Multipliers:
    """Return the multipliers with other weights, in an order in which numbers repeat."""
    m = replace(part, weight=weight).chosen(weight > 0)
    return m.chosen(np.lexsort((m.other, m.x, m.output)))


def _shortened(
    problem: Problem, parts: list[Multipliers], n_columns: int, spare: float
) -> list[Multipliers]:
    """Leave out and round multipliers, at a loss of up to half of what there is to spare each."""
    conic = [problem.channel_constraints[part.notion] is None for part in parts]
    in_floats: list[Any] = [tuple(tuple(map(float, p)) for p in part.priors) for part in parts]
    top = max(float(part.weight.max(initial=0.0)) for part in parts)

    def loss(weights: Sequence[FloatArray]) -> float:
        lost = np.zeros((len(problem.domain), n_columns))
        for part, after, priors, is_conic in zip(parts, weights, in_floats, conic, strict=True):
            if is_conic:
                change = replace(part, weight=part.weight - after, priors=priors)
                family = problem.cone.families[part.notion]
                family.add_terms(lost, change.chosen(change.weight != 0))
        return float(np.maximum(lost.max(axis=1), 0.0).sum())

    def changed(change: Callable[[FloatArray], FloatArray]) -> list[FloatArray]:
        pairs = zip(parts, conic, strict=True)
        return [change(p.weight) if c else p.weight for p, c in pairs]

    def without(share: float) -> list[FloatArray]:
        return changed(lambda w: np.where(w > share * top, w, 0.0))

    def to_digits(digits: int) -> list[FloatArray]:
        return changed(lambda w: _rounded(w, digits))

    for attempts in ((without(s) for s in THRESHOLDS), (to_digits(d) for d in DIGITS)):
        own = [part.weight for part in parts]
        kept = next((weights for weights in attempts if loss(weights) <= spare / 2), own)
        parts = [_with(part, weight) for part, weight in zip(parts, kept, strict=True)]
    return parts


def _rounded(weight: FloatArray, digits: int) -> FloatArray:
    mantissa, exponent = np.frexp(weight)
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, digits)), exponent - digits))


ABOVE = 1 + 1e-12
"""Times the least tangent that the kernel takes."""


def estimator(
    A: FloatArray, prior: FloatArray, roots: bool, variances: FloatArray | None = None
) -> Estimator:
    """Return the estimator that rows of A are, with tangents at its deviations for a root.

    A root sqrt(s) is linearized at a tangent t: sqrt(s) <= (s / t + t) / 2.

    ``A``: ``(n_inputs, n_inputs)``: M**-1.
    ``roots``: whether the risk is one of deviations, not of variances.
    ``variances``: ``(n_inputs,)``: the diagonal of M**-1, where that of A is another.
    """
    rows, tangents = A, None
    variances = np.diag(A) if variances is None else variances
    if roots:
        deviations = np.sqrt(np.maximum(variances - prior * prior, 0.0))
        least = (np.sqrt(prior) - np.sqrt(prior * (1 - prior))) * np.where(prior < 1, ABOVE, 1.0)
        tangents = Numbers(np.maximum(deviations, least).tolist())
        rows = A / variances[:, None]
    return Estimator(tuple(Numbers(row) for row in rows.tolist()), tangents)


def alike(
    blocks: Iterable[Iterable[int]], prior: Sequence[Fraction], prices: Sequence[float]
) -> tuple[tuple[int, ...], ...]:
    """Return groups of inputs of a block with one prior and one price."""
    found = []
    for block in blocks:
        groups: dict[tuple[Fraction, float], list[int]] = defaultdict(list)
        for x in block:
            groups[prior[x], prices[x]].append(x)
        found += [tuple(group) for group in groups.values()]
    return tuple(found)


Proof: TypeAlias = Callable[[Problem], Certificate | None]
"""Makes the certificate of a bound when it is asked for; None where there is none after all."""

FAR = 100
"""Where values are farther from 0 than so many times their range, prices stay exact."""

SPARED = 0.1
"""The share of the gap that leaving out and rounding multipliers may cost."""


def unproved(_problem: Problem) -> None:
    """Return no certificate."""


def certificate(
    problem: Problem,
    line: Linearizations | None = None,
    oracle: Oracles | None = None,
    *,
    duals: Sequence[Multipliers] = (),
    n_nodes: int | None = None,
    spare: Callable[[], float] = lambda: 0.0,
    weights: Sequence[Fraction] | FloatArray | None = None,
    priors: Mapping[int, Sequence[Prior]] | None = None,
    estimator: Estimator | None = None,
    prices: Numbers | None = None,
) -> Certificate:
    """Return the certificate that multipliers of rows, or prices, are.

    ``line``, ``oracle``: the linearization, default the objective as it is, and what prices a
        column under it, by default nothing but the rows.
    ``n_nodes``: how many nodes of the linearization ``output`` counts; default the outputs.
    ``spare``: returns how much the bound may fall by leaving out multipliers, in the unit of the
        loss.
    ``weights``: for a worst case, the weights of the inputs in the mean that is bounded.
    ``priors``: the priors of a set, by notion, whose rows the oracle is about.
    """
    compiled = problem.compiled
    rows = shortened(problem, duals, n_nodes or len(problem.guesses), spare)
    named = [*((part.notion, part.priors) for part in rows), *(priors or {}).items()]
    members = members_of(compiled, named)
    relaxations: list[Relaxations] = averaged(compiled.statement, weights)
    relaxations += [] if estimator is None else [estimator]
    relaxations += [Members(place, tuple(listed)) for place, listed in members.items()]
    multipliers = tuple(blocks_of(problem, rows, members))
    if line is None:
        line = Costs() if isinstance(compiled.statement.objective, Loss) else AsGain()
    return Certificate(line, oracle or Orthant(), tuple(relaxations), multipliers, prices)


def averaged(
    statement: Statement, weights: Sequence[Fraction] | FloatArray | None
) -> list[Relaxations]:
    """Return the mean that stands for a worst case, if the objective is one.

    A risk has one at any prior, evenly if none is named.
    """
    aim, k = statement.objective, statement.k
    if isinstance(aim, Risk):
        if aim.prior is not None:
            return []
        return [Average(Weights([1.0] * k if weights is None else list(weights)))]
    is_worst = isinstance(aim, Loss | Reading) and aim.weights is None
    if not is_worst or weights is None:
        return []
    return [Average(Weights([float(w) for w in weights]))]


def mass_of(problem: Problem, relaxations: Iterable[Relaxations]) -> list[Fraction]:
    """Return the weights of the inputs in the mean that is bounded."""
    means = [step.normalized() for step in relaxations if isinstance(step, Average)]
    return list(means[0] if means else problem.prior)


def relaxed(statement: Statement, relaxations: Iterable[Relaxations]) -> Statement:
    """Return the statement after the relaxations, one after the other."""
    for step in relaxations:
        statement = step(statement)
    return statement


def spared(value: float, bound: float, gap: float) -> float:
    """Return what multipliers may take off the bound.

    It is a share of the gap that is aimed at, or of that which the search left.

    ``value``, ``bound``: the loss of the channel, and what the multipliers prove; -inf where that
        is not known.
    ``gap``: what is aimed at, relative to the value.
    """
    return SPARED * max(gap * value, value - bound if bound > -math.inf else 0.0)


def negated(potentials: FloatArray) -> Numbers:
    """Return the prices of a loss for potentials of a gain."""
    return Numbers([-v for v in potentials.tolist()])


def rounded_numbers(exact: Sequence[Fraction], far: bool) -> Numbers:
    """Return numbers as floats; exactly where they differ by little beside what they are."""
    return Numbers(exact if far else map(float, exact))


def members_of(
    compiled: Compiled, priors: Iterable[tuple[int, Sequence[Prior]]]
) -> dict[int, list[Prior]]:
    """Return the members of sets of priors that rows are about, by the place of the generator."""
    found: dict[int, dict[Prior, None]] = {}
    for notion, listed in priors:
        cone = compiled.parts[notion].cone
        if not len(cone):
            continue
        place, part = cone.start, compiled.statement.cone[cone.start]
        lift = part.inner if isinstance(part, Latent) else part
        if not isinstance(lift, Lift):
            continue
        if isinstance(lift.priors, Listed) and lift.priors.count == 1:
            continue
        have = found.setdefault(place, {})
        have |= {p: None for p in map(tuple, listed) if p not in have and lift.priors.has(p)}
    return {place: list(members) for place, members in found.items() if members}


def blocks_of(
    problem: Problem,
    parts: Iterable[Multipliers],
    members: Mapping[int, list[Prior]],
) -> list[Block]:
    """Return multipliers as the kernel has them: of generators, and of parts of limits."""
    compiled, found = problem.compiled, list[Block]()
    for m in parts:
        part, at = m, compiled.parts[m.notion]
        of, places = ("cone", at.cone) if len(at.cone) else ("limit", at.limits)
        if m.side and places.start in members:
            number = {p: n for n, p in enumerate(members[places.start])}
            numbers = np.array([number[tuple(p)] for p in m.priors], dtype=np.intp)
            part = replace(m, other=numbers[m.other])
        found.append(block(part, of, places.start))
    return found


def block(m: Multipliers, of: str = "cone", place: int = 0) -> Block:
    """Return multipliers of one generator, or of one part of limits, as the kernel has them."""
    node, x, other = (Places(numbers.tolist()) for numbers in (m.output, m.x, m.other))
    other = other if any(other) else Places()
    return Block(of, place, node, x, Weights(m.weight.tolist()), other, m.side)


def ceiling_of(problem: Problem) -> float:
    """Return what a gain is more than, by the loss that stands for it; 0 for a loss."""
    return float(problem.utility.ceiling) if problem.utility.is_maximized else 0.0
