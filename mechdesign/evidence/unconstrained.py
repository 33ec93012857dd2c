"""The bound that ignores privacy: every input has its own best output."""

from __future__ import annotations

from fractions import Fraction

from mechdesign.evidence.simplicial import universal
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.linearizations import Costs, Readings
from mechdesign.kernel.names import Compiled
from mechdesign.kernel.objectives import Loss, Reading
from mechdesign.kernel.oracles import Orthant
from mechdesign.kernel.oracles.sources import Facet
from mechdesign.kernel.packed import Numbers, Weights
from mechdesign.kernel.relaxations import Average


def nothing_constrained(compiled: Compiled) -> Certificate:
    """Return the bound that every input has its own best output."""
    statement = compiled.statement
    aim, k = statement.objective, statement.k
    if isinstance(aim, Reading):
        return _read_exactly(aim, k)
    if isinstance(aim, Loss):
        if aim.weights is not None:
            return Certificate(Costs(), Orthant())
        tables = [aim.costs.lower(y) for y in range(aim.costs.n_outputs)]
        least = [min(costs) for costs in zip(*tables, strict=True)]
        return Certificate(Costs(), Orthant(), (at_one(least.index(max(least)), k),))
    return universal(statement, [Facet(None, x) for x in range(k)])


def evenly(k: int) -> Average:
    """Return the mean over all inputs."""
    return Average(Weights([1.0] * k))


def at_one(x: int, k: int) -> Average:
    """Return the loss of one input."""
    return Average(Weights([float(z == x) for z in range(k)]))


def _read_exactly(aim: Reading, k: int) -> Certificate:
    """Return probes at the ends of f, with slopes 2 w f: the variance is at least 0."""
    low, high = min(aim.values), max(aim.values)
    relaxations = () if aim.weights else (evenly(k),)
    weights = aim.weights or (Fraction(1, k),) * k
    slopes = Numbers([2 * w * f for w, f in zip(weights, aim.values, strict=True)])
    probes = (low, high) if low < high else (low, low + 1)
    return Certificate(Readings(probes, slopes), Orthant(), relaxations)
