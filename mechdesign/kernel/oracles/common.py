"""Shared by oracles: the natural weights, blocks of inputs, and the bounds of a cone on them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from mechdesign.kernel.arithmetic import need, over_one_denominator, scaled
from mechdesign.kernel.gains import Gain, Vector
from mechdesign.kernel.generators import Constant, distribution
from mechdesign.kernel.objectives import Risk
from mechdesign.kernel.statement import Statement

GRID = 96
"""Bounds of cones are over 2**GRID, rounded outward."""


def natural(statement: Statement) -> Vector:
    """Return the weights of the objective: those of inputs, or the p of a gain."""
    aim, found = statement.objective, None
    if isinstance(aim, Gain):
        found = aim.p
    elif aim is not None:
        found = aim.prior if isinstance(aim, Risk) else aim.weights
    need(found is not None, "an objective without weights")
    return found or ()


def integers(weights: Vector, k: int) -> list[int]:
    """Return weights >= 0 as integers; a positive factor does not matter."""
    need(len(weights) == k, "expected a weight for each input")
    found, _ = over_one_denominator(weights)
    need(min(found) >= 0, "a negative weight")
    return found


def distinct(lists: Sequence[Sequence[int]], k: int) -> None:
    """Raise CertificateError unless the lists contain inputs without duplicates."""
    members = [x for part in lists for x in part]
    need(len(set(members)) == len(members), "blocks or groups overlap")
    need(
        all(lists) and max(members, default=0) < k,
        "a block is empty, or names an input that does not exist",
    )


def parts_of(blocks: tuple[tuple[int, ...], ...] | None, k: int) -> tuple[tuple[int, ...], ...]:
    """Return checked blocks; None is one block of all inputs."""
    found = (tuple(range(k)),) if blocks is None else blocks
    distinct(found, k)
    return found


def ceilings(statement: Statement, block: Sequence[int]) -> list[int | None]:
    """Return the largest bound on q_x / q_z over z of a block, at least 1, for each x.

    Over ``2**GRID`` and rounded up: the cone grows. None if some z gives no bound. Inputs that no
    generator distinguishes have the same bounds, computed once.
    """
    kinds: dict[tuple[object, ...], list[int]] = {}
    names = []
    for x in block:
        name: list[object] = []
        for part in statement.ratios:
            e = part.exponents
            if isinstance(e, Constant):
                name += [e.block and e.block[x], e.protected is None or x in e.guarded]
                name.append(part.prior and part.prior[x])
            else:
                name.append(x)
        names.append(tuple(name))
        kinds.setdefault(names[-1], []).append(x)
    found: dict[tuple[object, ...], int | None] = {}
    for name_x, (x, *more) in kinds.items():
        others = [z for (z, *_) in kinds.values() if z != x] + more[:1]
        known = [statement.ratio(x, z) for z in others]
        bounds = [m for m in known if m is not None]
        whole = scaled(max([Fraction(1), *bounds]), up=True, bits=GRID)
        found[name_x] = whole if len(bounds) == len(known) else None
    return [found[name] for name in names]


def lift_ends(statement: Statement, p: Vector) -> tuple[int, int | None]:
    """Return bounds on q_x / (p . q) of all lifts that hold at p, over ``2**GRID``.

    They are rounded outward: the cone grows. The upper one is None if there is none.
    """
    distribution(p, statement.k)
    low, high = statement.lift(p)
    top = None if high is None else scaled(high, up=True, bits=GRID)
    return scaled(low, bits=GRID), top
