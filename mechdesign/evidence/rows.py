"""Multipliers of a problem's rows, and prices of its inputs, as a certificate has them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.evidence.multipliers import shortened
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.generators import Block, Latent, Lift, Listed
from mechdesign.kernel.linearizations import AsGain, Costs, Linearizations
from mechdesign.kernel.names import Compiled
from mechdesign.kernel.objectives import Loss, Reading, Risk
from mechdesign.kernel.oracles import Oracles, Orthant
from mechdesign.kernel.packed import Numbers, Places, Weights
from mechdesign.kernel.relaxations import Average, Estimator, Members, Relaxations
from mechdesign.kernel.statement import Statement
from mechdesign.notions.rows.row import Multipliers
from mechdesign.prior_sets import Weights as Prior
from mechdesign.problem import Problem

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

    Parameters
    ----------
    problem
        What was asked.
    line, oracle
        The linearization, default the objective as it is, and what prices a column under it, by
        default nothing but the rows.
    duals
        Multipliers of rows of the notions.
    n_nodes
        How many nodes of the linearization ``output`` counts; default the outputs.
    spare
        Returns how much the bound may fall by leaving out multipliers, in the unit of the loss.
    weights
        For a worst case, the weights of the inputs in the mean that is bounded.
    priors
        The priors of a set, by notion, whose rows the oracle is about.
    estimator
        For a risk.
    prices
        Of the inputs.
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

    Parameters
    ----------
    value, bound
        The loss of the channel, and what the multipliers prove; -inf where that is not known.
    gap
        What is aimed at, relative to the value.
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
            other = [number[tuple(m.priors[n])] for n in m.other]
            part = replace(m, other=np.array(other, dtype=np.intp))
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
