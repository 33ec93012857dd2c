"""Evidence for a bound on the variance of unbiased readings: probes with prices or multipliers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.rows import FAR, averaged, certificate, mass_of, relaxed, rounded_numbers
from mechdesign.kernel.arithmetic import BITS, scaled
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.linearizations import Readings
from mechdesign.kernel.objectives import Reading
from mechdesign.kernel.oracles import OneBudget
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import least
from mechdesign.notions.rows.row import Multipliers
from mechdesign.problem import Problem
from mechdesign.search.cones.one_budget import OneBudgetCone

SHARE, MOST_PROBES = 0.2, 2000
"""The share of the allowed loss for one gap between probes, and the largest number of probes."""


@dataclass(frozen=True)
class ReadingsProof:
    """Dual variables in units in which the values f range from -1 to 1.

    Attributes
    ----------
    values
        The probed readings, in order, in the original unit.
    slope
        ``(n_inputs,)``: the multipliers of unbiasedness.
    weights
        For a worst case ``(n_inputs,)`` weights of the inputs; else None.
    duals
        Multipliers of rows by probe; empty under one budget.
    potentials
        ``(n_inputs,)``, under one budget.
    spare
        The allowed loss of the bound by dropping multipliers or in the gaps between probes.
    """

    values: tuple[Fraction, ...]
    slope: FloatArray
    weights: FloatArray | None
    duals: Sequence[Multipliers]
    potentials: FloatArray | None
    spare: float

    def __call__(self, problem: Problem) -> Certificate:
        """Return the certificate, in the unit of the objective."""
        statement = problem.compiled.statement
        aim, steps = statement.objective, averaged(statement, self.weights)
        if not isinstance(aim, Reading):
            raise UnsupportedError("objective", "unbiased readings", problem.utility.name)
        middle = (max(aim.values) + min(aim.values)) / 2
        half = (max(aim.values) - min(aim.values)) / 2
        mass, far = mass_of(problem, steps), abs(middle) > FAR * half
        pairs = zip(mass, map(Fraction, self.slope.tolist()), strict=True)
        exact = [2 * middle * p + half * s for p, s in pairs]
        slopes = rounded_numbers(exact, far)
        line = Readings(self.values, slopes)
        if self.potentials is None:
            ends = (self.values[0], self.values[-1])
            tails = [2 / float(abs(end - middle)) for end in ends]
            unit = float(half * half)
            duals = [
                part
                for m in self.duals
                for part in _with_tails(m.scaled(unit), len(self.values), tails)
            ]
            n, spare = len(self.values) + 2, self.spare
            return certificate(
                problem, line, duals=duals, n_nodes=n, weights=self.weights, spare=lambda: spare
            )
        terms = zip(map(Fraction, self.potentials.tolist()), mass, exact, strict=True)
        prices = rounded_numbers(
            [half * half * v + middle * middle * p - middle * m for v, p, m in terms], far
        )
        budget = OneBudgetCone.of(problem.cone)
        oracle = OneBudget(None if budget is None else budget.block_groups)
        price = oracle.linear(relaxed(statement, steps))
        probes = _denser(self.values, mass, slopes, prices, price, self.spare)
        line = replace(line, probes=probes)
        return certificate(problem, line, oracle, weights=self.weights, prices=prices)


def _with_tails(m: Multipliers, n: int, tails: Sequence[float]) -> Iterator[Multipliers]:
    """Yield multipliers at probes, and those of the two ends beyond: so many times as large."""
    yield m
    for number, (at, tail) in enumerate(zip((0, n - 1), tails, strict=True)):
        end = m.chosen(m.output == at)
        yield replace(end.scaled(tail), output=np.full_like(end.output, n + number))


def _denser(
    probes: Sequence[Fraction],
    mass: Sequence[Fraction],
    slopes: Numbers,
    prices: Numbers,
    price: Callable[..., list[int]],
    spare: float,
) -> tuple[Fraction, ...]:
    """Halve the gaps between probes until none lowers the bound much more than its ends do."""
    m, given = [Fraction(v) for v in slopes], prices.scaled(BITS)
    known: dict[Fraction, list[int]] = {}

    def safe(v: Fraction) -> list[int]:
        if v not in known:
            cost = [scaled(v * v * w - v * s) for w, s in zip(mass, m, strict=True)]
            known[v] = price(cost, given, None)
        return known[v]

    found, gaps, enough = list(probes), list(pairwise(probes)), scaled(Fraction(SHARE * spare))
    while gaps and len(found) < MOST_PROBES:
        halves = list[tuple[Fraction, Fraction]]()
        for a, b in gaps:
            bent = [scaled((b - a) ** 2 * w, up=True) for w in mass]
            ends = zip(safe(a), safe(b), bent, given, strict=True)
            if sum(max(0, min(u, x, y) - least(x, y, c)) for x, y, c, u in ends) > enough:
                middle = (a + b) / 2
                found.append(middle)
                halves += [(a, middle), (middle, b)]
        gaps = halves
    return tuple(sorted(found))
